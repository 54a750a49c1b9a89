//! The real binary against a local S3 server and a local web server with faults.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

#[path = "../../cento-read/tests/common/server.rs"]
mod server;
mod support;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use server::{Fault, Resource, Server};
use support::{Archive, Random, Sandbox, assert_same, contents, skip};

/// An S3 server: moto from PyPI, which `./check` installs.
struct Moto {
    child: Child,
    port: u16,
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Moto {
    /// Starts the server. Returns `None`, after [`skip`], if it is not installed.
    fn start() -> Option<Moto> {
        let program = std::env::var_os("CENTO_MOTO")
            .map(PathBuf::from)
            .or_else(|| {
                let home = std::env::var_os("HOME")?;
                Some(Path::new(&home).join(".cache/cento/moto-5.2.5/bin/moto_server"))
            });
        let Some(program) = program.filter(|program| program.exists()) else {
            skip("moto is not installed; ./check installs it");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let child = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let moto = Moto { child, port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "moto does not start"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        moto.put("/bucket", "", b"");
        Some(moto)
    }

    /// Stores an object; moto accepts unsigned requests.
    fn put(&self, path: &str, headers: &str, body: &[u8]) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "PUT {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }

    /// Returns the content of an object.
    fn get(&self, path: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n",
            self.port
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let shown = String::from_utf8_lossy(&answer);
        assert!(shown.starts_with("HTTP/1.1 200"), "{path}: {shown}");
        let end = answer.windows(4).position(|part| part == b"\r\n\r\n");
        answer.split_off(end.unwrap() + 4)
    }

    /// Returns `cento` with an environment that points to this server.
    fn command(&self, sandbox: &Sandbox, arguments: &[&str]) -> Command {
        let mut command = sandbox.command(arguments);
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("AWS_")) {
                command.env_remove(name);
            }
        }
        command
            .env(
                "AWS_ENDPOINT_URL",
                format!("http://127.0.0.1:{}", self.port),
            )
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "testing")
            .env("AWS_SECRET_ACCESS_KEY", "testing");
        command
    }

    fn run(&self, sandbox: &Sandbox, arguments: &[&str]) -> String {
        sandbox.transcript(&self.command(sandbox, arguments).output().unwrap())
    }
}

/// Returns the number of kept pages in a summary.
fn kept(said: &str) -> &str {
    said.lines()
        .find_map(|line| line.trim().strip_prefix("pages kept"))
        .map_or("", str::trim)
}

fn archive(pages: u64) -> Vec<u8> {
    let mut random = Random(7);
    let mut archive = Archive::gzip();
    for page in 0..pages {
        archive.page(
            &format!("http://site.example/{page}"),
            &random.page("Page", 20),
        );
    }
    archive.bytes
}

fn table() -> Vec<u8> {
    let column =
        |values: Vec<String>| -> ArrayRef { std::sync::Arc::new(StringArray::from(values)) };
    let batch = RecordBatch::try_from_iter([
        (
            "text",
            column((0..50).map(|row| format!("Text of row {row}.")).collect()),
        ),
        (
            "url",
            column(
                (0..50)
                    .map(|row| format!("http://t.example/{row}"))
                    .collect(),
            ),
        ),
    ])
    .unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Returns the table of pages without the column `source`, and the values of that column.
fn pages(corpus: &Path) -> (Vec<RecordBatch>, BTreeSet<String>) {
    let mut batches = Vec::new();
    let mut sources = BTreeSet::new();
    for (name, _) in contents(&corpus.join("pages")) {
        let file = File::open(corpus.join("pages").join(name)).unwrap();
        for batch in ParquetRecordBatchReaderBuilder::try_new(file)
            .unwrap()
            .build()
            .unwrap()
        {
            let mut batch = batch.unwrap();
            let source = batch.schema().index_of("source").unwrap();
            let column = batch.remove_column(source);
            let shown = arrow_array::cast::AsArray::as_string_opt::<i32>(&column).map(|column| {
                column
                    .iter()
                    .flatten()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            });
            sources.extend(shown.unwrap_or_else(|| vec![format!("{column:?}")]));
            batches.push(batch);
        }
    }
    (batches, sources)
}

#[test]
fn a_prefix_on_s3_is_indexed_like_a_folder() {
    let Some(moto) = Moto::start() else { return };
    let sandbox = Sandbox::new();
    let mut random = Random(5);
    let mut files = vec![
        ("site/crawl.warc.gz".to_owned(), archive(40)),
        ("site/table.parquet".to_owned(), table()),
        (
            "site/lines.jsonl".to_owned(),
            b"{\"text\": \"One line.\", \"url\": \"http://l.example/1\"}\n{\"text\": \"Another line.\", \"url\": \"http://l.example/2\"}\n"
                .to_vec(),
        ),
        (
            "site/notes".to_owned(),
            b"A text without an extension.".to_vec(),
        ),
        ("site/style.css".to_owned(), b"p { color: red }".to_vec()),
        ("site/noise.bin".to_owned(), vec![0; 300]),
        (
            "site/.hidden.html".to_owned(),
            b"<p>Hidden.".to_vec(),
        ),
    ];
    // More objects than one response of S3 lists.
    for number in 0..1010 {
        files.push((
            format!("site/pages/{number}.html"),
            random.page("Page", 1).into_bytes(),
        ));
    }
    for (name, bytes) in &files {
        sandbox.write(name, bytes);
        moto.put(&format!("/bucket/{name}"), "", bytes);
    }
    let base = [
        "--base-url",
        "https://site.example/",
        "--threads",
        "2",
        "-o",
    ];
    let index = |input: &'static str, output: &'static str| {
        moto.run(
            &sandbox,
            &[&["index", input][..], &base, &[output]].concat(),
        )
    };
    let near = index("site", "near.cento");
    let far = index("s3://bucket/site/", "far.cento");
    assert_eq!(kept(&near), "1,103", "{near}");
    let evened = |said: &str| {
        said.replace("s3://bucket/", "")
            .replace("near.cento", "far.cento")
    };
    assert_eq!(evened(&far), evened(&near));
    for folder in ["text", "chunks"] {
        assert_same(
            &sandbox.path("near.cento").join(folder),
            &sandbox.path("far.cento").join(folder),
        );
    }
    let (near, _) = pages(&sandbox.path("near.cento"));
    let (far, sources) = pages(&sandbox.path("far.cento"));
    assert!(near == far);
    assert!(
        sources.contains("s3://bucket/site/crawl.warc.gz"),
        "{:?}",
        sources.first()
    );
    assert!(
        sources
            .iter()
            .all(|source| source.starts_with("s3://bucket/site/"))
    );

    // A pattern, a list in the bucket, and a prefix without a slash.
    moto.put("/bucket/lists/warc.paths", "", b"site/crawl.warc.gz\n");
    for (input, output) in [
        ("s3://bucket/site/*.warc.gz", "pattern.cento"),
        ("@s3://bucket/lists/warc.paths", "list.cento"),
    ] {
        let said = moto.run(&sandbox, &["index", input, "-o", output]);
        assert_eq!(kept(&said), "40", "{said}");
    }
    let said = moto.run(
        &sandbox,
        &["index", "s3://bucket/lists", "-o", "slash.cento"],
    );
    assert_eq!(kept(&said), "1", "{said}");
}

#[test]
fn public_objects_need_no_credentials_and_private_ones_say_so() {
    let Some(moto) = Moto::start() else { return };
    let sandbox = Sandbox::new();
    moto.put(
        "/bucket/public.html",
        "x-amz-acl: public-read\r\n",
        b"<p>For everyone.",
    );
    moto.put("/bucket/private.html", "", b"<p>For some.");
    let anonymous = |input: &str, output: &str| {
        let mut command = moto.command(&sandbox, &["index", input, "-o", output]);
        command
            .env_remove("AWS_ACCESS_KEY_ID")
            .env_remove("AWS_SECRET_ACCESS_KEY");
        sandbox.transcript(&command.output().unwrap())
    };
    let said = anonymous("s3://bucket/public.html", "a.cento");
    assert!(said.starts_with("status: 0"), "{said}");
    let said = anonymous("s3://bucket/private.html", "b.cento");
    assert!(
        said.contains("error: s3://bucket/private.html: access denied (403 Forbidden)"),
        "{said}"
    );
    assert!(said.contains("hint: set AWS_ACCESS_KEY_ID"), "{said}");
    let said = moto.run(
        &sandbox,
        &["index", "s3://bucket/private.html", "-o", "c.cento"],
    );
    assert!(said.starts_with("status: 0"), "{said}");
    let said = moto.run(
        &sandbox,
        &[
            "index",
            "s3://bucket/private.html",
            "--anonymous",
            "-o",
            "d.cento",
        ],
    );
    assert!(said.contains("access denied"), "{said}");
    let said = moto.run(
        &sandbox,
        &["index", "s3://bucket/no such.html", "-o", "e.cento"],
    );
    let expected = "error: s3://bucket/no such.html: no such object (404 Not Found), NoSuchKey";
    assert!(said.contains(expected), "{said}");
    let said = moto.run(&sandbox, &["index", "s3://nobucket/x/", "-o", "f.cento"]);
    assert!(
        said.contains("error: s3://nobucket/x/: no such bucket"),
        "{said}"
    );
}

#[test]
fn a_table_is_written_to_a_bucket() {
    let Some(moto) = Moto::start() else { return };
    let sandbox = Sandbox::new();
    moto.put("/bucket/crawl.warc.gz", "", &archive(40));
    let copies = |input: &str, out: &str| {
        moto.run(
            &sandbox,
            &["copies", input, "--findings", "found", "--out", out],
        )
    };
    for ending in ["parquet", "jsonl", "csv"] {
        let (far, near) = (
            format!("s3://bucket/out/a b.{ending}"),
            format!("a.{ending}"),
        );
        let said = copies("s3://bucket/crawl.warc.gz", &far);
        assert!(said.starts_with("status: 0"), "{said}");
        copies("s3://bucket/crawl.warc.gz", &near);
        let near = std::fs::read(sandbox.path(&near)).unwrap();
        assert!(moto.get(&format!("/bucket/out/a%20b.{ending}")) == near);
    }
    // What cannot be written is said before the work.
    for (out, status, error) in [
        (
            "s3://nobucket/a.csv",
            2,
            "s3://nobucket/a.csv: no such bucket",
        ),
        ("s3://bucket/", 2, "unknown table format: s3://bucket/"),
        (
            "s3://bucket/a.txt",
            2,
            "unknown table format: s3://bucket/a.txt",
        ),
        (
            "http://127.0.0.1/a.csv",
            2,
            "http://127.0.0.1/a.csv: web servers can only be read",
        ),
    ] {
        let said = copies("s3://bucket/crawl.warc.gz", out);
        let begin = format!("status: {status}");
        assert!(said.starts_with(&begin) && said.contains(error), "{said}");
    }
    moto.put(
        "/bucket/pages.jsonl",
        "x-amz-acl: public-read\r\n",
        b"{\"text\": \"One line.\", \"url\": \"http://l.example/1\"}\n",
    );
    let said = copies("s3://bucket/pages.jsonl", "s3://bucket/pages.jsonl");
    let error = "the output would overwrite the input s3://bucket/pages.jsonl";
    assert!(said.contains(error), "{said}");
    assert!(moto.get("/bucket/pages.jsonl").starts_with(b"{\"text"));
}

fn index_url<'a>(url: &'a str, output: &'a str) -> Vec<&'a str> {
    vec![
        "index",
        url,
        "--part-size",
        "64K",
        "--threads",
        "2",
        "--retries",
        "1",
        "--stall-timeout",
        "2",
        "-o",
        output,
    ]
}

#[test]
fn a_run_interrupted_by_the_network_resumes() {
    let sandbox = Sandbox::new();
    let bytes = archive(300);
    let server = Server::start([("/a.warc.gz", Resource::new(bytes.clone()))]);
    let url = server.url("/a.warc.gz");
    sandbox.succeed(&index_url(&url, "whole.cento"));
    let faults = [Fault::None, Fault::Cut(bytes.len() / 2)];
    let outage = vec![Fault::Status(503); 9];
    server.put(
        "/a.warc.gz",
        Resource::new(bytes.clone()).with_faults(faults.into_iter().chain(outage)),
    );
    let said = sandbox.run(&index_url(&url, "interrupted.cento"));
    assert!(said.starts_with("status: 1"), "{said}");
    let expected =
        format!("error: {url}: the server responded 503 Service Unavailable (tried 2 times)");
    assert!(said.contains(&expected), "{said}");
    assert!(said.contains("the same command resumes"), "{said}");
    assert!(sandbox.path("interrupted.cento/manifest.json").exists());

    // An object that has changed in the meantime is rejected.
    let mut other = Resource::new(bytes.clone());
    other.tag = Some("\"two\"".into());
    server.put("/a.warc.gz", other);
    let said = sandbox.run(&index_url(&url, "interrupted.cento"));
    assert!(said.contains("1 input has changed"), "{said}");

    server.put("/a.warc.gz", Resource::new(bytes));
    let said = sandbox.run(&index_url(&url, "interrupted.cento"));
    assert!(said.contains("resumed"), "{said}");
    assert_same(
        &sandbox.path("whole.cento"),
        &sandbox.path("interrupted.cento"),
    );
}

#[test]
fn a_missing_input_is_reported_before_anything_is_read() {
    let sandbox = Sandbox::new();
    let server = Server::start([("/a.warc.gz", Resource::new(archive(3)))]);
    let (present, missing) = (
        server.url("/a.warc.gz"),
        server.url("/b.warc.gz?token=secret"),
    );
    let said = sandbox.run(&["index", &present, &missing, "-o", "x.cento"]);
    assert!(said.starts_with("status: 2"), "{said}");
    assert!(
        said.contains("/b.warc.gz: no such object (404 Not Found)\nhint: "),
        "{said}"
    );
    assert!(!said.contains("secret"), "{said}");
    assert!(!sandbox.path("x.cento").exists());

    // An object that disappears later is counted as unreadable, like a file.
    let gone = Resource::new(archive(3)).with_faults([Fault::None, Fault::Status(404)]);
    server.put("/c.warc.gz", gone);
    let said = sandbox.run(&[
        "index",
        &present,
        &server.url("/c.warc.gz"),
        "-o",
        "y.cento",
    ]);
    assert!(said.starts_with("status: 0"), "{said}");
    assert!(said.contains("unreadable"), "{said}");
}

#[test]
fn a_list_is_resolved_against_its_base_url() {
    let sandbox = Sandbox::new();
    let server = Server::start([("/crawl-data/a.warc.gz", Resource::new(archive(3)))]);
    sandbox.write("warc.paths", "crawl-data/a.warc.gz\n");
    let base = server.url("/");
    let index = [
        "index",
        "@warc.paths",
        "--list-base",
        &base,
        "--max-rate",
        "50M",
        "-o",
        "x.cento",
    ];
    let said = sandbox.run(&index);
    assert_eq!(kept(&said), "3", "{said}");
    let said = sandbox.run(&[
        "index",
        "@warc.paths",
        "--list-base",
        "here",
        "-o",
        "y.cento",
    ]);
    assert!(said.starts_with("status: 2"), "{said}");
}
