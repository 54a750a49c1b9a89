//! A server on a loopback port, a client, and the corpus that the tests share.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Sandbox;

/// A server that is killed when the test ends.
pub(crate) struct TestServer {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

impl TestServer {
    pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> TestServer {
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
    pub(crate) fn raw(&self, request: &[u8]) -> Option<Reply> {
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

    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
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

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.request("GET", path, &[], "")
    }

    pub(crate) fn post_json(&self, path: &str, body: &Value) -> Reply {
        let kind = [("Content-Type", "application/json")];
        self.request("POST", path, &kind, &body.to_string())
    }
}

/// Decodes the chunks of a body.
pub(crate) fn unchunked(mut body: &str) -> String {
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

pub(crate) const ATTACK: &str = "\"><script>alert('xss')</script><img src=x onerror=alert(1)>";

/// A corpus of a synthetic crawl, pages of an attacker, and Chinese pages, with findings of all
/// analyses. It is made once; tests only read it.
pub(crate) fn corpus() -> &'static Sandbox {
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
pub(crate) fn server(verdicts: &str) -> TestServer {
    TestServer::start(
        corpus(),
        &["c.cento", "--verdicts", verdicts, "--labels", "c.labels"],
    )
}

/// The targets of all links of a page.
pub(crate) fn links(html: &str) -> Vec<String> {
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
