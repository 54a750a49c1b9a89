//! For every limit, input that exceeds it. This affects only the record that does.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failure must end the test"
)]

mod common;

use std::time::{Duration, Instant};

use cento_read::{Cause, Reject, Settings};
use common::archive::{gzip, record, response};
use common::packs::{PACKINGS, bzip2, zstd};
use common::zip::{deflated, stored, zip};
use common::{Folder, Outcome, pages_of};

const HEAD: [&str; 2] = ["HTTP/1.1 200 OK", "Content-Type: text/html"];

fn page(url: &str) -> Vec<u8> {
    response(url, &HEAD, b"<p>cento")
}

/// The causes of skipped records, the reasons for rejected pages, and the number of kept pages.
fn reasons(name: &str, bytes: &[u8], settings: &Settings) -> (Vec<Cause>, Vec<Reject>, usize) {
    let folder = Folder::new();
    let path = folder.write(name, bytes);
    let (mut causes, mut rejects, mut kept) = (Vec::new(), Vec::new(), 0);
    for outcome in pages_of(&[path], settings).unwrap() {
        match outcome {
            Outcome::Skipped(skipped) => causes.push(skipped.cause),
            Outcome::Page(decoded) => match decoded.reject {
                Some(rejected) => rejects.push(rejected.reason),
                None => kept += 1,
            },
            Outcome::Ignored(_) => {}
        }
    }
    (causes, rejects, kept)
}

#[test]
fn record_headers_are_limited_in_bytes_and_lines() {
    let settings = Settings::default();
    let with_fields = |fields: String| {
        let sound = String::from_utf8(page("http://a/2")).unwrap();
        sound
            .replacen("\r\n", &format!("\r\n{fields}"), 1)
            .into_bytes()
    };
    for (fields, skipped) in [
        ("X: y\r\n".repeat(900), false),
        ("X: y\r\n".repeat(1_100), true),
        (format!("X: {}\r\n", "y".repeat(200 << 10)), false),
        (format!("X: {}\r\n", "y".repeat(300 << 10)), true),
        (format!("X: {}\r\n", " y\r\n".repeat(100_000)), true),
    ] {
        let record = with_fields(fields);
        let plain = [page("http://a/1"), record.clone(), page("http://a/3")].concat();
        let members = [
            gzip(&page("http://a/1")),
            gzip(&record),
            gzip(&page("http://a/3")),
        ]
        .concat();
        for (name, bytes) in [("a.warc", plain), ("a.warc.gz", members)] {
            let expected = if skipped {
                (vec![Cause::HeaderTooLong], vec![], 2)
            } else {
                (vec![], vec![], 3)
            };
            assert_eq!(reasons(name, &bytes, &settings), expected);
        }
    }
}

#[test]
fn response_heads_are_limited_in_bytes_and_lines() {
    let long = format!("X: {}", "y".repeat(300 << 10));
    let mut many = vec!["HTTP/1.1 200 OK"];
    many.resize(1_100, "X: y");
    for head in [vec!["HTTP/1.1 200 OK", &long], many] {
        let bytes = [
            page("http://a/1"),
            response("http://a/2", &head, b"<p>x"),
            page("http://a/3"),
        ]
        .concat();
        let (causes, rejects, kept) = reasons("a.warc", &bytes, &Settings::default());
        assert_eq!(
            (causes, rejects, kept),
            (vec![], vec![Reject::HeaderTooLong], 2)
        );
        let mut generous = Settings::default();
        generous.limits.max_header_bytes = 1 << 20;
        generous.limits.max_header_lines = 10_000;
        assert_eq!(reasons("a.warc", &bytes, &generous).2, 3);
    }
}

#[test]
fn json_objects_are_limited_in_nesting() {
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let sound = "{\"text\": \"cento\"}\n";
    for (line, cause) in [
        (
            format!("{{\"text\": \"a\", \"other\": {}}}\n", deep(10_000)),
            None,
        ),
        (
            format!("{{\"text\": \"a\", \"other\": {}}}\n", deep(30_000)),
            Some(Cause::TooDeep),
        ),
        (
            format!("{{\"text\": {}}}\n", deep(1_000)),
            Some(Cause::MissingField),
        ),
        (format!("{}\n", "[".repeat(1 << 20)), Some(Cause::TooDeep)),
        (
            format!("{}\n", "{\"a\":".repeat(1 << 18)),
            Some(Cause::TooDeep),
        ),
        (format!("{{\"text\": \"{}\"}}\n", "[".repeat(1 << 20)), None),
        ("{\"text\": \"a\"\n".into(), Some(Cause::BadJson)),
    ] {
        let lines = format!("{sound}{line}{sound}");
        let (causes, _, kept) = reasons("a.jsonl", lines.as_bytes(), &Settings::default());
        let shown = &line[..line.len().min(40)];
        assert_eq!(causes, Vec::from_iter(cause), "{shown}");
        assert_eq!(kept, 3 - usize::from(cause.is_some()), "{shown}");
    }
}

#[test]
fn lines_are_limited_in_length() {
    let mut settings = Settings::default();
    settings.limits.max_line_bytes = 1_000;
    let long = format!("{{\"text\": \"{}\"}}\n", "a ".repeat(1_000));
    let lines = format!("{{\"text\": \"a\"}}\n{long}{{\"text\": \"b\"}}\n");
    for (name, bytes) in [
        ("a.jsonl", lines.clone().into_bytes()),
        ("a.jsonl.gz", gzip(lines.as_bytes())),
    ] {
        let outcome = reasons(name, &bytes, &settings);
        assert_eq!(outcome, (vec![Cause::LineTooLong], vec![], 2));
    }
}

#[test]
fn a_member_that_expands_too_much_is_skipped_and_the_next_is_read() {
    let mut settings = Settings::default();
    settings.limits.max_page_bytes = 1 << 20;
    let bomb = vec![b'a'; 64 << 20];
    let line = [&b"{\"text\": \""[..], &bomb].concat();
    let record = record("response", "http://a/2", "text/html", &bomb);
    for (ending, pack) in [
        ("gz", gzip as fn(&[u8]) -> Vec<u8>),
        ("zst", zstd),
        ("bz2", bzip2),
    ] {
        let bytes = [
            pack(&page("http://a/1")),
            pack(&record),
            pack(&page("http://a/3")),
        ]
        .concat();
        assert_eq!(
            reasons(&format!("a.warc.{ending}"), &bytes, &settings),
            (vec![Cause::UnpacksTooLarge], vec![], 2),
            "{ending}"
        );
        let sound = b"{\"text\": \"cento\"}\n";
        let bytes = [pack(sound), pack(&line), pack(sound)].concat();
        assert_eq!(
            reasons(&format!("a.jsonl.{ending}"), &bytes, &settings),
            (vec![Cause::UnpacksTooLarge], vec![], 2),
            "{ending}"
        );
        let outcome = reasons(&format!("a.html.{ending}"), &pack(&bomb), &settings);
        assert_eq!(
            outcome,
            (vec![Cause::UnpacksTooLarge], vec![], 0),
            "{ending}"
        );
    }
    let third = page("http://a/3");
    let files = [
        deflated("archive/a.warc", &record),
        stored("archive/b.warc", &third),
    ];
    let (causes, rejects, kept) = reasons("a.wacz", &zip(&files, false), &settings);
    assert_eq!(causes.last(), Some(&Cause::UnpacksTooLarge));
    assert_eq!((rejects, kept), (vec![], 1));
    // The limit can be raised.
    settings.limits.max_ratio = u64::MAX;
    let bytes = [
        gzip(&page("http://a/1")),
        gzip(&record),
        gzip(&page("http://a/3")),
    ]
    .concat();
    let outcome = reasons("a.warc.gz", &bytes, &settings);
    assert_eq!(outcome, (vec![], vec![Reject::TooLarge], 2));
}

/// Beginnings of members that each claim a whole block and are followed by something else.
#[test]
fn an_input_full_of_false_beginnings_is_searched_quickly() {
    for (ending, pack) in PACKINGS
        .into_iter()
        .chain([("gz", gzip as fn(&[u8]) -> Vec<u8>)])
    {
        let text: String = (0..9_000)
            .map(|word| format!("{} ", word * 7_919 % 10_007))
            .collect();
        let mark = &pack(text.as_bytes())[..40];
        let false_beginnings = mark.repeat(100_000);
        let sound = pack(&page("http://a/3"));
        let bytes = [pack(&page("http://a/1")), false_beginnings].concat();
        let begun = Instant::now();
        let (causes, _, kept) = reasons(&format!("a.warc.{ending}"), &bytes, &Settings::default());
        assert!(!causes.is_empty() && kept == 1, "{ending}");
        // A record in many short members: the beginning of each is checked.
        let record = page("http://a/2");
        let crumbs: Vec<u8> = record.chunks(1).flat_map(pack).collect();
        let bytes = [crumbs, sound].concat();
        assert_eq!(
            reasons(&format!("a.warc.{ending}"), &bytes, &Settings::default()),
            (vec![], vec![], 2),
            "{ending}"
        );
        assert!(begun.elapsed() < Duration::from_secs(60), "{ending}");
    }
}
