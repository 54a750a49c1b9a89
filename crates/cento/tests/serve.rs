//! `cento serve`: the real server on a loopback port, asked as a browser, a crawler and an attacker
//! would.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};
use support::Sandbox;

/// A server that is killed when the test ends.
struct TestServer {
    child: Child,
    address: String,
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a server answered.
#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

impl TestServer {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> TestServer {
        let mut all = vec!["serve"];
        all.extend(arguments);
        all.extend(["--listen", "127.0.0.1:0", "--threads", "2"]);
        let mut child = sandbox
            .command(&all)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        if line.is_empty() {
            let mut error = String::new();
            let _ = child.stderr.take().unwrap().read_to_string(&mut error);
            assert!(!line.is_empty(), "the server did not start: {error}");
        }
        let address = line.trim().trim_start_matches("http://");
        TestServer {
            child,
            address: address.trim_end_matches('/').to_owned(),
        }
    }

    /// Sends bytes, and returns everything that comes back.
    fn raw(&self, request: &[u8]) -> Option<Reply> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .ok()?;
        // A server that refuses a request need not read all of it.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let body = match head.to_lowercase().contains("transfer-encoding: chunked") {
            true => unchunked(body),
            false => body.to_owned(),
        };
        Some(Reply {
            status,
            head: head.to_owned(),
            body,
        })
    }

    fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if method == "POST" {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str(&format!("\r\n{body}"));
        self.raw(text.as_bytes()).unwrap()
    }

    fn get(&self, path: &str) -> Reply {
        self.request("GET", path, &[], "")
    }

    fn post_json(&self, path: &str, body: &Value) -> Reply {
        let kind = [("Content-Type", "application/json")];
        self.request("POST", path, &kind, &body.to_string())
    }
}

/// Decodes the chunks of a body.
fn unchunked(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        // Offsets may be off in lossy text; the tests send ASCII.
        text.push_str(rest.get(..size).unwrap_or(rest));
        body = rest.get(size + 2..).unwrap_or_default();
    }
    text
}

const ATTACK: &str = "\"><script>alert('xss')</script><img src=x onerror=alert(1)>";

/// A corpus of a synthetic crawl, pages of an attacker, and Chinese pages, with findings of all
/// analyses. It is made once; tests only read it.
fn corpus() -> &'static Sandbox {
    static CORPUS: OnceLock<Sandbox> = OnceLock::new();
    CORPUS.get_or_init(|| {
        let sandbox = Sandbox::new();
        sandbox.succeed(&["synth", "-o", "s", "--pages", "500", "--languages", "en", "--seed", "1"]);
        let mut lines = String::new();
        let words = |from: usize| -> Vec<String> {
            (0..60).map(|at| format!("quux{}", (from * 37 + at) * 7919 % 10_007)).collect()
        };
        for number in 0..8 {
            let text = words(number * 60).join(" ");
            let url = format!("http://source{number}.example/{number}.html");
            let date = format!("2020-01-0{}", number + 1);
            lines.push_str(&format!("{}\n", json!({"url": url, "text": text, "date": date})));
        }
        for number in 0..3 {
            // Twelve words of each source, and an attack between them.
            let mut text: Vec<String> = Vec::new();
            for source in 0..8 {
                let begin = 10 * number;
                text.extend_from_slice(&words(source * 60)[begin..begin + 14]);
                text.push(ATTACK.to_owned());
                text.push("\u{202e}reversed\u{202c}".to_owned());
            }
            let url = format!("http://quilt{number}.example/{ATTACK}{number}");
            lines.push_str(&format!(
                "{}\n",
                json!({"url": url, "title": ATTACK, "text": text.join(" "), "date": "2022-02-02"})
            ));
        }
        let chinese = "春眠不觉晓,处处闻啼鸟。夜来风雨声,花落知多少。床前明月光,疑是地上霜。举头望明月,低头思故乡。";
        for host in ["a", "b"] {
            let url = format!("http://{host}.xn--fiqs8s/诗");
            lines.push_str(&format!("{}\n", json!({"url": url, "title": "诗", "text": chinese.repeat(3)})));
        }
        // One line of a megabyte.
        let long = json!({"url": "http://long.example/", "text": "x".repeat(1 << 20)});
        lines.push_str(&format!("{long}\n"));
        sandbox.write("extra.jsonl", lines);
        sandbox.succeed(&["index", "s/crawl", "extra.jsonl", "-o", "c.cento"]);
        for command in [
            &["copies", "c.cento"][..],
            &["quilts", "c.cento", "-c", "3", "-t", "0.3"],
            &["reuse", "c.cento"],
            &["passages", "c.cento"],
            &["passages", "c.cento", "--clusters"],
            &["overlap", "c.cento"],
            &["overlap", "c.cento", "--servers"],
            &["phrases", "c.cento"],
            &["discover", "c.cento", "-o", "c.labels"],
            &["detect", "c.cento", "--labels", "c.labels"],
        ] {
            sandbox.succeed(command);
        }
        sandbox
    })
}

/// A server on the shared corpus, with verdicts of its own.
fn server(verdicts: &str) -> TestServer {
    TestServer::start(
        corpus(),
        &["c.cento", "--verdicts", verdicts, "--labels", "c.labels"],
    )
}

/// The targets of all links of a page.
fn links(html: &str) -> Vec<String> {
    let targets = html.split("href=\"").skip(1);
    targets
        .map(|rest| rest.split('"').next().unwrap_or_default())
        .map(|target| {
            target
                .replace("&amp;", "&")
                .replace("&#39;", "'")
                .replace("&quot;", "\"")
        })
        .collect()
}

#[test]
fn every_link_of_the_site_leads_to_a_page_and_nothing_of_a_page_is_markup() {
    let server = server("crawl.verdicts");
    let mut open: VecDeque<String> = ["/", "/lists"].map(str::to_owned).into();
    let mut seen: BTreeSet<String> = open.iter().cloned().collect();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(path) = open.pop_front() {
        let kind = path.split(['?', '/']).nth(1).unwrap_or_default().to_owned();
        // Enough of each kind of page; all of them would take minutes.
        let of_kind = kinds.entry(kind).or_default();
        *of_kind += 1;
        if *of_kind > 40 {
            continue;
        }
        let reply = server.get(&path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        let kind = reply.header("content-type").unwrap_or_default().to_owned();
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        if kind.starts_with("text/html") {
            assert!(!reply.body.contains("<script>alert"), "{path}");
            assert!(!reply.body.contains("<img"), "{path}");
            assert!(!reply.body.contains('\u{202e}'), "{path}");
        }
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        let targets = match kind.starts_with("text/html") {
            true => links(&reply.body),
            false => Vec::new(),
        };
        for target in targets {
            let inside = target.starts_with('/');
            assert!(
                inside || target.starts_with('#') || target.starts_with("http"),
                "{path}: {target}"
            );
            if inside && seen.insert(target.clone()) {
                open.push_back(target);
            }
        }
    }
    for kind in [
        "lists",
        "quilts",
        "classes",
        "pair",
        "passages",
        "neighbourhoods",
        "pages",
        "judge",
        "assets",
        "api",
    ] {
        assert!(
            kinds.contains_key(kind),
            "{kind} is linked from nowhere: {kinds:?}"
        );
    }
}

#[test]
fn views_of_hostile_pages_show_their_text() {
    let server = server("hostile.verdicts");
    let quilts = server.get("/api/lists/quilts?host=quilt0.example").json();
    assert_eq!(quilts["matching"], 1, "{quilts}");
    let evidence = quilts["rows"][0]["evidence"].as_str().unwrap();
    let page = server.get(evidence);
    assert_eq!(page.status, 200);
    assert!(page.body.contains("&lt;script&gt;alert(&#39;xss&#39;)"));
    assert!(page.body.contains("<mark class=\"s1\" data-source=\"1\">"));
    assert!(page.body.contains("published 2020-01-0"), "{}", page.body);
    let long = server.get("/lists/popular?host=long.example");
    assert_eq!(long.status, 200);
    // The Chinese pages are duplicates of each other, and are compared.
    let pairs = server.get("/api/lists/duplicates?host=a.xn--fiqs8s").json();
    assert_eq!(pairs["matching"], 1, "{pairs}");
    let pair = server.get(pairs["rows"][0]["evidence"].as_str().unwrap());
    assert!(pair.body.contains("春眠不觉晓"), "{}", pair.body);
    assert!(
        pair.body
            .contains("Their dates do not say which is earlier")
    );
}

#[test]
fn a_list_is_sorted_filtered_and_paged_without_losing_a_row() {
    let server = server("lists.verdicts");
    let first = server.get("/api/lists/passages?size=7").json();
    let all = first["matching"].as_u64().unwrap();
    assert!(all > 20, "{first}");
    let streamed = server.get("/api/lists/passages/rows");
    let streamed: Vec<Value> = streamed
        .body
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(streamed.len() as u64, all);
    for query in [
        "",
        "&sort=words&order=descending",
        "&sort=a",
        "&sort=a_date&order=descending",
    ] {
        let mut paged = Vec::new();
        let mut next = Some(format!("/api/lists/passages?size=7{query}"));
        while let Some(path) = next {
            let page = server.get(&path).json();
            paged.extend(page["rows"].as_array().unwrap().clone());
            next = page["next"].as_str().map(str::to_owned);
        }
        let keys = |rows: &[Value]| -> BTreeSet<String> {
            rows.iter()
                .map(|row| row["key"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(paged.len() as u64, all, "{query}");
        assert_eq!(keys(&paged), keys(&streamed), "{query}");
    }
    let sorted = server
        .get("/api/lists/passages?sort=words&order=descending&size=500")
        .json();
    let words: Vec<u64> = sorted["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["words"].as_u64().unwrap())
        .collect();
    assert!(words.is_sorted_by(|one, other| one >= other));
    // Filters agree with a filter of the streamed rows.
    let verbatim = server
        .get("/api/lists/passages?category=verbatim&min=0.9")
        .json();
    let expected = streamed
        .iter()
        .filter(|row| row["kind"] == "verbatim" && row["identical"].as_f64().unwrap() >= 0.9)
        .count();
    assert_eq!(verbatim["matching"], expected);
    let dated = server
        .get("/api/lists/passages?from=2022-02-02&to=2022-02-02")
        .json();
    let expected = streamed
        .iter()
        .filter(|row| {
            row["a_date"]
                .as_str()
                .is_some_and(|date| date.starts_with("2022-02-02"))
        })
        .count();
    assert_eq!(dated["matching"], expected);
    assert!(
        server
            .get("/lists/passages?category=verbatim")
            .body
            .contains(" pass the filters.")
    );
    for wrong in [
        "sort=x",
        "page=0",
        "min=a",
        "from=x",
        "unknown=1",
        "order=descending",
    ] {
        let reply = server.get(&format!("/api/lists/passages?{wrong}"));
        assert_eq!(reply.status, 400, "{wrong}");
        assert!(reply.json()["error"].is_string());
    }
    assert_eq!(server.get("/api/lists/passages?run=other").status, 409);
    assert_eq!(server.get("/api/lists/nothing").status, 404);
    let beyond = server.get("/lists/passages?page=99999");
    assert!(beyond.status == 200 && beyond.body.contains("There are only"));
}

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

#[test]
fn several_judges_judge_at_once_and_the_statistics_add_up() {
    let server = server("judges.verdicts");
    let started = server.post_json(
        "/api/sessions",
        &json!({"list": "duplicates", "size": 20, "seed": 7}),
    );
    assert_eq!(started.status, 201, "{}", started.body);
    let again = server.post_json(
        "/api/sessions",
        &json!({"list": "duplicates", "size": 20, "seed": 7}),
    );
    let items = |number: u64| {
        server.get(&format!("/api/sessions/{number}")).json()["sample"]["items"].clone()
    };
    let number = |reply: &Reply| reply.json()["session"].as_u64().unwrap();
    assert_eq!(
        items(number(&started)),
        items(number(&again)),
        "a seed draws the same sample"
    );
    let session = number(&started);
    std::thread::scope(|scope| {
        for (judge, spam) in [("Ann", 15), ("Bo", 12), ("汉字", 20)] {
            let server = &server;
            scope.spawn(move || {
                for item in 0..20 {
                    let verdict = if item < spam { "spam" } else { "not-spam" };
                    let body =
                        json!({"judge": judge, "item": item, "verdict": verdict, "note": "=1+1"});
                    let reply =
                        server.post_json(&format!("/api/sessions/{session}/verdicts"), &body);
                    assert_eq!(reply.status, 201, "{}", reply.body);
                }
            });
        }
    });
    let statistics = server.get("/api/verdicts").json();
    let of = |judge: &str| {
        let rows = statistics["precision"].as_array().unwrap();
        rows.iter()
            .find(|row| row["judge"] == judge)
            .unwrap()
            .clone()
    };
    assert_eq!(of("Ann")["precision"], 0.75);
    // Wilson's interval for 15 of 20.
    assert!((of("Ann")["interval"][0].as_f64().unwrap() - 0.531_299).abs() < 1e-5);
    assert!((of("Ann")["interval"][1].as_f64().unwrap() - 0.888_138).abs() < 1e-5);
    let pair = statistics["agreement"]
        .as_array()
        .unwrap()
        .iter()
        .find(|pair| pair["judges"] == json!(["Ann", "Bo"]))
        .unwrap()
        .clone();
    assert_eq!(
        (pair["items"].as_u64(), pair["same"].as_u64()),
        (Some(20), Some(17))
    );
    // (0.85 - 0.55) / (1 - 0.55), by hand.
    assert!((pair["kappa"].as_f64().unwrap() - 0.3 / 0.45).abs() < 1e-9);
    let undone = server.post_json(
        &format!("/api/sessions/{session}/undo"),
        &json!({"judge": "Ann"}),
    );
    assert_eq!(undone.json()["item"], 19);
    let csv = server.get("/judge/export.csv");
    assert_eq!(csv.body.lines().count(), 1 + 59);
    assert!(csv.body.contains("'=1+1"), "no cell is a formula");
    let lines = server.get("/judge/export.jsonl");
    assert!(
        lines
            .body
            .lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok())
    );
    let page = server.get("/judge");
    // 15 of 19, after one was undone.
    assert!(page.body.contains("78.9 %"), "{}", page.body);
    for wrong in [
        json!({"judge": "", "item": 0, "verdict": "spam"}),
        json!({"judge": "Ann", "item": 0, "verdict": "ham"}),
        json!({"judge": "Ann", "item": 0, "verdict": "spam", "extra": 1}),
        json!({"judge": "Ann", "item": -1, "verdict": "spam"}),
    ] {
        assert_eq!(
            server
                .post_json(&format!("/api/sessions/{session}/verdicts"), &wrong)
                .status,
            400,
            "{wrong}"
        );
    }
    assert_eq!(
        server
            .post_json(
                &format!("/api/sessions/{session}/verdicts"),
                &json!({"judge": "Ann", "item": 99, "verdict": "spam"})
            )
            .status,
        404
    );
}

#[test]
fn a_server_killed_while_people_judge_loses_nothing_that_was_confirmed() {
    let mut confirmed: Vec<(u64, &str)> = Vec::new();
    for round in 0..6u64 {
        let mut server = server("killed.verdicts");
        if round == 0 {
            let started = server.post_json(
                "/api/sessions",
                &json!({"list": "passages", "size": 200, "seed": 3}),
            );
            assert_eq!(started.status, 201);
        }
        let session = server.get("/api/sessions/0").json();
        let stored: BTreeSet<(u64, String)> = session["verdicts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|verdict| {
                (
                    verdict["item"].as_u64().unwrap(),
                    verdict["verdict"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        for (item, verdict) in &confirmed {
            assert!(
                stored.contains(&(*item, (*verdict).to_owned())),
                "round {round}: item {item} is lost"
            );
        }
        if round == 5 {
            break;
        }
        let address = server.address.clone();
        let process = server.child.id();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60 + 35 * round));
            let _ = Command::new("kill")
                .args(["-9", &process.to_string()])
                .status();
        });
        for item in round * 20..round * 20 + 20 {
            let verdict = if item % 3 == 0 { "spam" } else { "unsure" };
            let body = json!({"judge": "Ann", "item": item, "verdict": verdict}).to_string();
            let request = format!(
                "POST /api/sessions/0/verdicts HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            match server.raw(request.as_bytes()) {
                Some(reply) if reply.status == 201 => confirmed.push((item, verdict)),
                Some(reply) => assert_eq!(reply.status, 201, "{}", reply.body),
                None => break,
            }
        }
        killer.join().unwrap();
        let _ = server.child.wait();
    }
    assert!(!confirmed.is_empty());
}

#[test]
fn confirmed_verdicts_become_labels_and_stop_chunks() {
    let server = server("confirm.verdicts");
    let started = server.post_json(
        "/api/sessions",
        &json!({"list": "labels", "size": 4, "seed": 1}),
    );
    assert_eq!(started.status, 201, "{}", started.body);
    for (item, verdict) in [(0, "spam"), (1, "not-spam"), (2, "spam"), (3, "unsure")] {
        let body = json!({"judge": "Ann", "item": item, "verdict": verdict});
        assert_eq!(
            server.post_json("/api/sessions/0/verdicts", &body).status,
            201
        );
    }
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let written = server.request("POST", "/judge/0/labels", &form, "judge=Ann");
    assert_eq!(written.status, 200, "{}", written.body);
    assert!(
        written.body.contains("2 labels") && written.body.contains("1 stop chunk "),
        "{}",
        written.body
    );
    let info = corpus().succeed(&["labels", "info", "confirm.verdicts/session-0.labels"]);
    assert!(info.contains('2'), "{info}");
    corpus().succeed(&[
        "detect",
        "c.cento",
        "--labels",
        "confirm.verdicts/session-0.labels",
    ]);
}

#[test]
fn pages_are_compared_with_labels_one_by_one_and_as_a_stream() {
    let server = server("detect.verdicts");
    let labels = server.get("/api/lists/labels?size=500").json();
    let label = labels["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|row| {
            let text = row["text"].as_str()?;
            (text.len() < 300 && !text.contains('\n')).then(|| text.to_owned())
        })
        .unwrap();
    let page = format!("{label}\n\nAn own paragraph that nobody else has.");
    let verdict = server
        .post_json(
            "/api/detect",
            &json!({"url": "http://x.example/", "text": page}),
        )
        .json();
    assert_eq!(
        (verdict["chunks"].as_u64(), verdict["matched"].as_u64()),
        (Some(2), Some(1)),
        "{verdict}"
    );
    assert_eq!(
        (verdict["contains"].as_f64(), verdict["url"].as_str()),
        (Some(0.5), Some("http://x.example/"))
    );
    let html = format!(
        "<p>{}</p><p>Own.</p><script>{label}</script>",
        label.replace('&', "&amp;").replace('<', "&lt;")
    );
    let verdict = server
        .post_json("/api/detect", &json!({"html": html}))
        .json();
    assert_eq!(verdict["matched"], 1, "{verdict}");
    let plain = server.request(
        "POST",
        "/api/detect",
        &[("Content-Type", "text/plain")],
        &label,
    );
    assert_eq!(plain.json()["contains"], 1.0);
    let mut lines = String::new();
    for number in 0..500 {
        lines.push_str(&format!("{}\n", json!({"url": number, "text": page})));
    }
    lines.push_str("not json\n\n{\"text\": \"own\"}");
    let streamed = server.request(
        "POST",
        "/api/detect",
        &[("Content-Type", "application/x-ndjson")],
        &lines,
    );
    let verdicts: Vec<Value> = streamed
        .body
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(verdicts.len(), 502);
    assert!(
        verdicts[..500]
            .iter()
            .enumerate()
            .all(|(at, verdict)| verdict["url"] == at && verdict["matched"] == 1)
    );
    assert!(verdicts[500]["error"].is_string());
    assert_eq!(verdicts[501]["matched"], 0);
    assert_eq!(
        server
            .post_json("/api/detect", &json!({"text": "a", "html": "b"}))
            .status,
        400
    );
    assert_eq!(server.request("POST", "/api/detect", &[], "x").status, 415);
    let without = TestServer::start(corpus(), &["c.cento", "--verdicts", "none.verdicts"]);
    assert_eq!(
        without
            .post_json("/api/detect", &json!({"text": "a"}))
            .status,
        501
    );
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
