//! Requests of attackers and strangers.

use std::io::Write;
use std::net::TcpStream;

use serde_json::json;

use crate::harness::{TestServer, corpus, server};

#[test]
fn requests_of_other_sites_other_names_and_attackers_are_refused() {
    let server = server("attacks.verdicts");
    assert_eq!(
        server
            .request("GET", "/", &[("Host", "evil.example")], "")
            .status,
        421
    );
    assert_eq!(
        server
            .request("GET", "/", &[("Origin", "http://evil.example")], "")
            .status,
        403
    );
    assert_eq!(
        server
            .request("GET", "/lists", &[("Sec-Fetch-Site", "cross-site")], "")
            .status,
        403
    );
    let form = [
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("Origin", "null"),
    ];
    assert_eq!(
        server
            .request("POST", "/judge", &form, "list=quilts&size=1&seed=1")
            .status,
        403
    );
    // A form of another site cannot have the media type of JSON.
    let plain = [("Content-Type", "text/plain")];
    let body = json!({"list": "quilts", "size": 1, "seed": 1}).to_string();
    assert_eq!(
        server
            .request("POST", "/api/sessions", &plain, &body)
            .status,
        415
    );
    for path in [
        "/assets/../Cargo.toml",
        "/assets/%2e%2e%2fCargo.toml",
        "/assets/..%2f..%2fetc%2fpasswd",
        "/../../etc/passwd",
        "/lists/..%2f..",
        "/pages/..%2f1",
        "/pages/x",
        "/pages/99999999999999999999999",
        "/quilts/-1",
        "/judge/99",
        "/.git/config",
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, 404, "{path}");
        assert!(!reply.body.contains("root:"), "{path}");
    }
    assert_eq!(server.request("DELETE", "/lists", &[], "").status, 405);
    assert_eq!(server.get("/pair?a=1&b=1").status, 400);
    assert_eq!(server.get("/pair?a=1").status, 400);
    let huge = "x".repeat(70 << 10);
    assert_eq!(
        server
            .post_json(
                "/api/sessions",
                &json!({"list": huge, "size": 1, "seed": 1})
            )
            .status,
        413
    );
    let many = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nX: {}\r\n\r\n",
        server.address,
        "y".repeat(100 << 10)
    );
    let status = server.raw(many.as_bytes()).map(|reply| reply.status);
    assert!(matches!(status, Some(431 | 400) | None), "{status:?}");
    for garbage in [
        &b"\x16\x03\x01\x02\x00"[..],
        b"GET",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"\r\n\r\n\r\n",
    ] {
        let status = server
            .raw(&[garbage, b"\r\n\r\n"].concat())
            .map(|reply| reply.status);
        assert!(!matches!(status, Some(200)), "{status:?}");
    }
    assert_eq!(server.get("/health").status, 200);
}

#[test]
fn idle_connections_do_not_starve_others() {
    let server = server("idle.verdicts");
    let idle: Vec<TcpStream> = (0..300)
        .map(|_| TcpStream::connect(&server.address).unwrap())
        .collect();
    for stream in &idle {
        let mut stream = stream;
        stream.write_all(b"GET / HTT").unwrap();
    }
    assert_eq!(server.get("/lists/quilts").status, 200);
    drop(idle);
}

#[test]
fn another_address_needs_a_token_and_every_request_has_it() {
    let sandbox = corpus();
    let refused = sandbox.run(&["serve", "c.cento", "--listen", "0.0.0.0:0"]);
    assert!(refused.starts_with("status: 2"), "{refused}");
    assert!(
        refused.contains("is not a loopback address, and there is no token"),
        "{refused}"
    );
    let short = sandbox.run(&[
        "serve",
        "c.cento",
        "--listen",
        "127.0.0.1:0",
        "--token",
        "short",
    ]);
    assert!(short.starts_with("status: 2"), "{short}");
    sandbox.write("token.txt", "0123456789abcdef\n");
    let server = TestServer::start(
        sandbox,
        &[
            "c.cento",
            "--token",
            "@token.txt",
            "--verdicts",
            "token.verdicts",
        ],
    );
    for path in [
        "/",
        "/lists/quilts",
        "/api/lists",
        "/metrics",
        "/judge/export.csv",
        "/nothing",
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, 401, "{path}");
        assert!(!reply.body.contains("c.cento"), "{path}");
    }
    assert_eq!(server.get("/health").status, 200);
    let bearer = [("Authorization", "Bearer 0123456789abcdef")];
    assert_eq!(server.request("GET", "/api/lists", &bearer, "").status, 200);
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    assert_eq!(
        server
            .request("POST", "/login", &form, "token=wrong")
            .status,
        401
    );
    let entered = server.request("POST", "/login", &form, "token=0123456789abcdef");
    assert_eq!(entered.status, 303);
    let cookie = entered.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    assert!(
        !cookie.contains("0123456789abcdef"),
        "the token itself is not stored"
    );
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(
        server
            .request("GET", "/lists", &[("Cookie", cookie)], "")
            .status,
        200
    );
}
