//! All formats are read from a server in the same way as from a file.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failure must end the test"
)]

mod common;
#[path = "common/server.rs"]
mod server;

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use cento_read::{Error, IgnoredCause, RemoteErrorKind, Settings, Start, resolve};
use common::archive::{arc_description, arc_record, gzip, response};
use common::zip::{deflated, stored, zip};
use common::{Folder, Outcome, assert_resumes, pages_of, read_from};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use server::{Fault, Resource, Server};

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.remote.first_delay = Duration::from_millis(1);
    settings.remote.longest_delay = Duration::from_millis(4);
    settings.remote.stall_timeout = Duration::from_millis(500);
    settings
}

fn page(number: usize) -> Vec<u8> {
    let text = format!(
        "<p>Page {number}. {}",
        "All work and no play. ".repeat(number % 7 * 50)
    );
    let head = ["HTTP/1.1 200 OK", "Content-Type: text/html"];
    response(
        &format!("http://a.example/{number}"),
        &head,
        text.as_bytes(),
    )
}

fn archive(pages: usize, packed: bool) -> Vec<u8> {
    (0..pages)
        .flat_map(|number| {
            if packed {
                gzip(&page(number))
            } else {
                page(number)
            }
        })
        .collect()
}

fn table(rows: usize) -> Vec<u8> {
    let text: Vec<_> = (0..rows)
        .map(|row| format!("Row {row}. {}", "Words. ".repeat(row % 90)))
        .collect();
    let urls: Vec<_> = (0..rows)
        .map(|row| format!("http://t.example/{row}"))
        .collect();
    let columns: [(&str, ArrayRef); 2] = [
        ("text", Arc::new(StringArray::from(text))),
        ("url", Arc::new(StringArray::from(urls))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(rows / 4 + 1))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// A file in each format, with the number of its records.
fn samples() -> Vec<(&'static str, Vec<u8>, usize)> {
    let mut arc = arc_description();
    for number in 0..5 {
        let block = format!("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nText {number}.");
        arc.extend(arc_record(
            &format!("http://a.example/{number}"),
            "text/plain",
            block.as_bytes(),
        ));
    }
    let wacz = zip(
        &[
            stored("archive/0.warc.gz", &archive(7, true)),
            deflated("archive/1.warc.gz", &archive(5, true)),
        ],
        false,
    );
    let lines: String = (0..9)
        .map(|number| format!("{{\"text\": \"Line {number}.\"}}\n"))
        .collect();
    vec![
        ("/a.warc.gz", archive(20, true), 20),
        ("/a.warc", archive(20, false), 20),
        ("/a.arc", arc, 6),
        ("/a.jsonl", lines.clone().into_bytes(), 9),
        ("/a.jsonl.gz", gzip(lines.as_bytes()), 9),
        ("/a.parquet", table(60), 60),
        ("/a.wacz", wacz, 12),
        ("/a.html", b"<p>A page.".to_vec(), 1),
        ("/a.txt.gz", gzip(b"A text."), 1),
        ("/nameless", archive(3, true), 3),
    ]
}

#[test]
fn every_format_is_read_from_a_server_as_from_a_file() {
    let folder = Folder::new();
    let settings = settings();
    for (path, bytes, count) in samples() {
        let local = pages_of(&[folder.write(&path[1..], &bytes)], &settings).unwrap();
        assert_eq!(local.len(), count, "{path}");
        let server = Server::start([(path, Resource::new(bytes.clone()))]);
        let url = server.url(path);
        assert_resumes(&url, &settings, count);
        let faults = [
            Fault::None,
            Fault::Cut(100),
            Fault::Status(503),
            Fault::Hang,
            Fault::Stall(10),
        ];
        server.put(path, Resource::new(bytes).with_faults(faults));
        let remote = pages_of(&[url], &settings).unwrap();
        assert_eq!(remote.len(), count, "{path}");
        for (local, remote) in local.iter().zip(&remote) {
            match (local, remote) {
                (Outcome::Page(local), Outcome::Page(remote)) => {
                    assert_eq!(local.page.content, remote.page.content, "{path}");
                    assert_eq!(local.page.payload_sha1, remote.page.payload_sha1, "{path}");
                }
                (local, remote) => assert_eq!(local, remote, "{path}"),
            }
        }
    }
}

#[test]
fn resuming_requests_only_the_rest() {
    let bytes = archive(400, true);
    let server = Server::start([("/a.warc.gz", Resource::new(bytes))]);
    let settings = settings();
    let input = resolve(&[server.url("/a.warc.gz")], &settings)
        .unwrap()
        .inputs
        .remove(0);
    let all = read_from(&input, &settings, Start::default()).unwrap();
    let (place, _) = &all[300];
    let before = server.requests().len();
    let rest = read_from(&input, &settings, place.next).unwrap();
    assert!(rest == all[301..]);
    let ranges: Vec<_> = server.requests()[before..]
        .iter()
        .filter_map(|request| request.headers.get("range").cloned())
        .collect();
    // The offset may be so close to the beginning that no new request is needed.
    let near = ranges.is_empty() && place.next.offset < 1 << 20;
    assert!(
        near || ranges == [format!("bytes={}-", place.next.offset)],
        "{ranges:?}"
    );
}

#[test]
fn formats_that_are_read_in_order_do_not_need_ranges() {
    let settings = settings();
    for (path, bytes, count) in samples() {
        let mut resource = Resource::new(bytes);
        resource.ranges = false;
        let server = Server::start([(path, resource.clone())]);
        assert_eq!(
            pages_of(&[server.url(path)], &settings).unwrap().len(),
            count,
            "{path}"
        );
        // The length is not known either.
        resource.chunked = true;
        server.put(path, resource);
        let outcome = pages_of(&[server.url(path)], &settings);
        match path {
            "/a.parquet" | "/a.wacz" => assert!(outcome.is_err(), "{path}"),
            _ => assert_eq!(outcome.unwrap().len(), count, "{path}"),
        }
    }
}

#[test]
fn a_large_table_from_a_server_without_ranges_is_an_error_with_a_hint() {
    let mut bytes = table(100);
    let footer = bytes.split_off(4);
    bytes.resize(6 << 20, 0);
    bytes.extend(footer);
    let mut resource = Resource::new(bytes);
    resource.ranges = false;
    let server = Server::start([("/a.parquet", resource)]);
    let error = pages_of(&[server.url("/a.parquet")], &settings()).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Remote {
                kind: RemoteErrorKind::NoRanges,
                ..
            }
        ),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("download"), "{error:?}");
}

#[test]
fn a_network_error_is_not_reported_as_a_corrupted_file() {
    let settings = settings();
    for (path, bytes, _) in samples() {
        let server = Server::start([(path, Resource::new(bytes.clone()))]);
        let input = resolve(&[server.url(path)], &settings)
            .unwrap()
            .inputs
            .remove(0);
        server.put(
            path,
            Resource::new(bytes).with_faults(vec![Fault::Status(500); 40]),
        );
        let error = read_from(&input, &settings, Start::default()).unwrap_err();
        assert!(error.is_outage(), "{path}: {error}");
        assert!(
            error.to_string().contains("(tried 9 times)"),
            "{path}: {error}"
        );
    }
}

#[test]
fn a_list_on_a_server_is_relative_to_that_server() {
    let list = "# a list\n\ncrawl/a.warc.gz\n/crawl/b.warc.gz\n";
    let server = Server::start([
        (
            "/crawl/x/warc.paths.gz",
            Resource::new(gzip(list.as_bytes())),
        ),
        ("/crawl/a.warc.gz", Resource::new(archive(2, true))),
        ("/crawl/b.warc.gz", Resource::new(archive(3, true))),
        ("/sly", Resource::new("/etc/hostname\n")),
        ("/loop", Resource::new("@loop\n")),
    ]);
    let mut settings = settings();
    let names = |typed: &str, settings: &Settings| -> Result<Vec<String>, Error> {
        let resolved = resolve(&[typed.to_owned()], settings)?;
        Ok(resolved
            .inputs
            .into_iter()
            .map(|input| input.name)
            .collect())
    };
    let expected = [
        server.url("/crawl/a.warc.gz"),
        server.url("/crawl/b.warc.gz"),
    ];
    let typed = format!("@{}", server.url("/crawl/x/warc.paths.gz"));
    assert_eq!(names(&typed, &settings).unwrap(), expected);

    // A local copy of the list, compressed or not.
    let folder = Folder::new();
    for (name, bytes) in [("plain", list.into()), ("packed.gz", gzip(list.as_bytes()))] {
        let typed = format!("@{}", folder.write(name, &bytes));
        settings.remote.list_base = None;
        assert!(matches!(
            names(&typed, &settings),
            Err(Error::NotFound { .. })
        ));
        settings.remote.list_base = Some(server.url(""));
        assert_eq!(names(&typed, &settings).unwrap(), expected);
    }
    settings.remote.list_base = None;

    // A remote list cannot name local files.
    let error = names(&format!("@{}", server.url("/sly")), &settings).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}: no such object (404 Not Found)",
            server.url("/etc/hostname")
        )
    );
    let error = names(&format!("@{}", server.url("/loop")), &settings).unwrap_err();
    assert!(matches!(error, Error::ListLoop { .. }), "{error}");
}

#[test]
fn an_object_has_a_name_a_version_and_a_length_and_is_read_once() {
    let server = Server::start([
        ("/a.html", Resource::new("<p>Hello.")),
        ("/a.html?b=c", Resource::new("<p>Hello.")),
        ("/style.css", Resource::new([0u8; 64])),
    ]);
    let url = server.url("/a.html");
    let with_password = url.replace("http://", "http://me:secret@");
    let specs = [
        url.clone(),
        format!("{url}#x"),
        server.url("/a.html?b=c"),
        server.url("/style.css"),
    ];
    let resolved = resolve(&specs, &settings()).unwrap();
    let names: Vec<_> = resolved
        .inputs
        .iter()
        .map(|input| input.name.clone())
        .collect();
    assert_eq!(names, [url.clone(), server.url("/a.html?b=c")]);
    assert_eq!(resolved.inputs[0].bytes, Some(9));
    assert_eq!(resolved.inputs[0].version.as_deref(), Some("\"one\""));
    assert_eq!(resolved.ignored[0].cause, IgnoredCause::Binary);
    let pages = pages_of(&[with_password], &settings()).unwrap();
    assert_eq!(pages[0].page().url, url);
}

#[test]
fn an_invalid_url_is_an_error_with_a_hint() {
    for (typed, message) in [
        ("s3:///key", "the name of the bucket is missing"),
        ("http://", "empty host"),
        ("ftp://a/b", "no such file or folder"),
    ] {
        let error = resolve(&[typed.to_owned()], &settings()).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.hint().unwrap().contains("s3://"), "{error}");
    }
}
