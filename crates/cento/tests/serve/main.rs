//! `cento serve`: the real server on a loopback port, asked as a browser, a crawler and an attacker
//! would.

#![cfg(feature = "serve")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod asking;
mod harness;
mod judging;
mod safety;
mod slow_clients;
#[path = "../support/mod.rs"]
mod support;
mod views;

use std::process::Command;

use harness::{TestServer, corpus, server};
use serde_json::Value;
use support::Sandbox;

#[test]
fn content_that_the_reader_has_is_not_sent_again() {
    let server = server("tags.verdicts");
    for path in [
        "/",
        "/lists",
        "/lists/quilts",
        "/api/lists/quilts",
        "/api/lists",
        "/assets/site.css",
        "/api/openapi.json",
    ] {
        let first = server.get(path);
        let tag = first.header("etag").unwrap().to_owned();
        let again = server.request("GET", path, &[("If-None-Match", &tag)], "");
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{path}");
        let other = server.request("GET", path, &[("If-None-Match", "\"other\"")], "");
        assert_eq!(other.status, 200, "{path}");
    }
}

#[test]
fn a_server_stops_when_it_is_asked_to_and_logs_what_it_did() {
    for signal in ["-INT", "-TERM"] {
        let mut server = TestServer::start(
            corpus(),
            &[
                "c.cento",
                "--verdicts",
                "stop.verdicts",
                "--log",
                "requests.log",
            ],
        );
        assert_eq!(server.get("/lists?secret=1").status, 200);
        let metrics = server.get("/metrics");
        assert!(
            metrics
                .body
                .contains("cento_requests_total{route=\"/lists\",status=\"200\"} 1"),
            "{}",
            metrics.body
        );
        let sent = Command::new("kill")
            .args([signal, &server.child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        let status = server.child.wait().unwrap();
        assert!(status.success(), "{signal}: {status}");
    }
    let log = std::fs::read_to_string(corpus().path("requests.log")).unwrap();
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(
        (first["path"].as_str(), first["status"].as_u64()),
        (Some("/lists"), Some(200))
    );
    assert!(!log.contains("secret"));
}

#[test]
fn a_corpus_without_findings_says_which_commands_make_them() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.jsonl",
        "{\"url\": \"http://a.example/\", \"text\": \"One page.\"}\n",
    );
    sandbox.succeed(&["index", "a.jsonl", "-o", "a b.cento"]);
    let server = TestServer::start(&sandbox, &["a b.cento"]);
    assert_eq!(server.get("/").status, 200);
    let lists = server.get("/lists");
    assert!(
        lists.body.contains("cento quilts &#39;a b.cento&#39;"),
        "{}",
        lists.body
    );
    assert!(
        server
            .get("/lists/quilts")
            .body
            .contains("There are no findings for this list.")
    );
    assert_eq!(server.get("/api/lists/quilts").status, 404);
    assert_eq!(server.get("/quilts/0").status, 404);
    assert_eq!(server.get("/pages/0").status, 200);
    assert_eq!(server.get("/judge").status, 200);
    assert!(
        !sandbox.path("a b.verdicts").exists(),
        "looking writes nothing"
    );
    drop(server);
    sandbox.write("empty.jsonl", "");
    sandbox
        .command(&["index", "empty.jsonl", "-o", "empty.cento"])
        .output()
        .unwrap();
    if sandbox.path("empty.cento/manifest.json").exists() {
        let server = TestServer::start(&sandbox, &["empty.cento"]);
        assert_eq!(server.get("/").status, 200);
        assert_eq!(server.get("/pages/0").status, 404);
    }
    let missing = sandbox.run(&["serve", "nothing.cento"]);
    assert!(
        missing.starts_with("status: 2") || missing.starts_with("status: 1"),
        "{missing}"
    );
    let wrong = sandbox.run(&["serve", "a b.cento", "--listen", "nowhere"]);
    assert!(wrong.contains("is not an address with a port"), "{wrong}");
}

#[test]
fn a_corrupted_record_of_findings_is_an_error_and_not_a_site_without_them() {
    let sandbox = Sandbox::new();
    let page = "The same page on two hosts, and nothing else at all.";
    let line =
        |host: &str| format!("{{\"url\": \"http://{host}.example/\", \"text\": \"{page}\"}}\n");
    sandbox.write("a.jsonl", line("a") + &line("b"));
    sandbox.succeed(&["index", "a.jsonl", "-o", "c.cento"]);
    sandbox.succeed(&["copies", "c.cento"]);
    let files = support::contents(&sandbox.path("c.cento"));
    let (record, bytes) = files
        .into_iter()
        .find(|(name, _)| name.ends_with("run.json"))
        .unwrap();
    for at in [3, bytes.len() / 2] {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        sandbox.write(&format!("c.cento/{record}"), &flipped);
        let refused = sandbox.run(&["serve", "c.cento", "--listen", "127.0.0.1:0"]);
        assert!(
            refused.contains("run.json is corrupted") && refused.contains("run the analysis again"),
            "{refused}"
        );
    }
    sandbox.succeed(&["copies", "c.cento"]);
    let server = TestServer::start(&sandbox, &["c.cento"]);
    assert!(server.get("/api/pages/0").body.contains("Duplicates"));
}

#[test]
fn a_list_that_does_not_fit_into_memory_is_named() {
    let server = TestServer::start(
        corpus(),
        &["c.cento", "--memory", "64K", "--verdicts", "small.verdicts"],
    );
    let lists = server.get("/lists");
    assert!(
        lists.body.contains("does not fit into memory"),
        "{}",
        lists.body
    );
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn help_is_what_the_reference_says() {
    insta::assert_snapshot!(Sandbox::new().run(&["serve", "--help"]));
}
