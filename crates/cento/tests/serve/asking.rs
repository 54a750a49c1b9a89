//! Questions about pages: which labels they match, and with which pages they share text.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Reply, TestServer, corpus, server};
use crate::support::Sandbox;

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

/// Repeats a request until the index is built.
fn when_built(request: impl Fn() -> Reply) -> Reply {
    let mut reply = request();
    for _ in 0..600 {
        if reply.status != 503 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        reply = request();
    }
    reply
}

const SENTENCE: &str = "Der Bär läuft über die große Brücke und hört drüben im Süden fünf Glöckchen läuten, \
    während müde Störche schöne Küken füttern";

#[test]
fn the_server_builds_the_index_and_answers_about_files_of_any_encoding() {
    let sandbox = Sandbox::new();
    let page = json!({"url": "http://a.example/", "text": SENTENCE});
    let other = json!({"url": "http://b.example/", "text": "Nothing that others have, only these few words."});
    sandbox.write("a.jsonl", format!("{page}\n{other}\n"));
    sandbox.succeed(&["index", "a.jsonl", "-o", "a.cento"]);
    let server = TestServer::start(&sandbox, &["a.cento"]);
    let form = server.get("/ask");
    assert!(form.body.contains("Build the index"), "{}", form.body);
    assert!(
        !sandbox.path("a.cento/query").exists(),
        "looking writes nothing"
    );
    // Several readers at once start one build.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(server.request("POST", "/ask/index", &[], "").status, 303));
        }
    });
    let answer = when_built(|| server.post_json("/api/query", &json!({"text": SENTENCE})));
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json()["pages"], 1, "{}", answer.body);
    let form = server.get("/ask");
    assert!(form.body.contains("type=\"file\""), "{}", form.body);
    assert_eq!(form.header("refresh"), None);
    let html = format!(
        "<html><head><meta charset=\"iso-8859-1\"></head><body><p>{SENTENCE}</p></body></html>"
    );
    let latin = |text: &str| -> Vec<u8> { text.chars().map(|letter| letter as u8).collect() };
    let utf16: Vec<u8> = format!("\u{feff}{SENTENCE}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (name, content) in [
        ("utf8.txt", SENTENCE.as_bytes().to_vec()),
        ("latin.txt", latin(SENTENCE)),
        ("utf16.txt", utf16),
        ("latin.html", latin(&html)),
        ("without-extension", latin(&html)),
    ] {
        let reply = upload(&server, name, &content);
        assert_eq!(reply.status, 200, "{name}: {}", reply.body);
        assert!(
            reply.body.contains("http://a.example/"),
            "{name}: {}",
            reply.body
        );
        assert!(!reply.body.contains("http://b.example/"), "{name}");
    }
    let image = upload(
        &server,
        "image.png",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01",
    );
    assert_eq!(image.status, 400, "{}", image.body);
}

/// Uploads a file as a browser does.
fn upload(server: &TestServer, name: &str, content: &[u8]) -> Reply {
    let mut body = format!(
        "--limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(content);
    body.extend_from_slice(b"\r\n--limit--\r\n");
    let mut request = format!(
        "POST /ask HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=limit\r\nContent-Length: {}\r\n\r\n",
        server.address,
        body.len()
    )
    .into_bytes();
    request.extend_from_slice(&body);
    server.raw(&request).unwrap()
}

#[test]
fn a_question_is_answered_with_the_reason_why_the_index_cannot_be_built() {
    let sandbox = Sandbox::new();
    let page = json!({"url": "http://a.example/", "text": SENTENCE});
    sandbox.write("a.jsonl", format!("{page}\n"));
    sandbox.succeed(&["index", "a.jsonl", "-o", "a.cento"]);
    let server = TestServer::start(&sandbox, &["a.cento"]);
    // The folder of the index cannot be created, as in a corpus that is read-only.
    sandbox.write("a.cento/query", "");
    let ask = || server.post_json("/api/query", &json!({"text": SENTENCE}));
    let answer = when_built(ask);
    assert_eq!(answer.status, 500, "{}", answer.body);
    for answer in [answer, ask()] {
        assert!(
            answer.body.contains("The index could not be built: "),
            "{}",
            answer.body
        );
    }
    let form = server.get("/ask");
    assert!(form.body.contains("Build the index"), "{}", form.body);
    // The button tries again.
    std::fs::remove_file(sandbox.path("a.cento/query")).unwrap();
    assert_eq!(ask().status, 500);
    assert_eq!(server.request("POST", "/ask/index", &[], "").status, 303);
    assert_eq!(when_built(ask).status, 200);
}
