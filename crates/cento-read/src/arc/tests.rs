//! What is written is read, and what is damaged is told: of ARC alone.

use super::{Arc, ArcReader};
use crate::archive::{arc_description, arc_record as record, gzip};
use crate::reader::Records;
use crate::record::Body;
use crate::warc::properties::{
    AT_ONCE, Seen, Stored, archive_properties, archive_reader, assert_cut_anywhere, read_all,
};
use crate::{Cause, Item, Limits, Packing, Start};

fn read(bytes: &[u8], stored: Stored) -> Vec<Seen> {
    read_all(archive_reader::<Arc>(
        bytes,
        stored.packing(),
        AT_ONCE,
        Limits::default(),
        Start::default(),
    ))
}

/// The addresses of the pages, and the causes of damage between them.
fn told(seen: &[Seen]) -> Vec<&str> {
    seen.iter()
        .map(|seen| match seen {
            Seen::Page(_, url, _) => url.as_deref().unwrap_or("none"),
            Seen::Ignored(_, kind) => kind,
            Seen::Skipped(_, cause) => cause.name(),
        })
        .collect()
}

fn sample() -> Vec<Vec<u8>> {
    vec![
        arc_description(),
        record(
            "dns:a",
            "text/dns",
            b"20240503120000\na. 589 IN A 192.0.2.1\n",
        ),
        record("http://a/1", "text/html", b"HTTP/1.1 200 OK\r\n\r\n<p>one"),
        record("http://a/2 with spaces", "text/html", b""),
        record("ftp://a/3", "text/plain", b"drei\n\nnoch\n"),
    ]
}

archive_properties!(Arc);

#[test]
fn wherever_an_archive_is_cut_all_whole_records_before_are_read() {
    let kinds = [
        "warcinfo",
        "not-web",
        "http://a/1",
        "http://a/2 with spaces",
        "ftp://a/3",
    ];
    assert_eq!(told(&read(&sample().concat(), Stored::Plain)), kinds);
    assert_cut_anywhere::<Arc>(&sample());
}

#[test]
fn one_line_end_none_or_several_come_between_records() {
    for between in ["", "\n", "\r\n", "\n\n\n"] {
        let one = |at: u32| {
            let body = format!("body {at}");
            format!(
                "http://a/{at} 0.0.0.0 20240503120000 text/plain {}\n{body}{between}",
                body.len()
            )
        };
        let bytes = format!("{}{}{}", one(0), one(1), one(2)).into_bytes();
        let seen = read(&bytes, Stored::Plain);
        assert_eq!(
            told(&seen),
            ["http://a/0", "http://a/1", "http://a/2"],
            "{between:?}"
        );
    }
}

#[test]
fn every_kind_of_damage_is_told_by_its_cause_and_costs_no_neighbour() {
    let good = |at: u32| record(&format!("http://good/{at}"), "text/plain", b"good\n");
    let bad = |length: &str| {
        format!("http://bad/ 192.0.2.1 20240503120000 text/plain {length}\nbad body\n\n")
    };
    for (what, middle, cause) in [
        ("garbage", "garbage\n".into(), Cause::BadHeader),
        ("no length", bad("abc"), Cause::BadHeader),
        ("a length below nought", bad("-1"), Cause::BadHeader),
        ("a length too short", bad("2"), Cause::BadLength),
        ("a length too long", bad("30"), Cause::BadLength),
        (
            "a length up to the end of the next header",
            bad("61"),
            Cause::BadLength,
        ),
        (
            "a length far too long",
            bad("99999999999"),
            Cause::Truncated,
        ),
        (
            "a header without an end",
            format!("http://{}\n", "a".repeat(300 << 10)),
            Cause::HeaderTooLong,
        ),
    ] {
        let bytes = [good(0), middle.clone().into_bytes(), good(1), good(2)].concat();
        let expected = [
            "http://good/0",
            cause.name(),
            "http://good/1",
            "http://good/2",
        ];
        assert_eq!(told(&read(&bytes, Stored::Plain)), expected, "{what}");
        assert_eq!(
            told(&read(&gzip(&bytes), Stored::OneMember)),
            expected,
            "{what}"
        );
        let members = [good(0), middle.into_bytes(), good(1), good(2)];
        let seen = read(&Stored::Members.store(&members), Stored::Members);
        let seen = told(&seen);
        assert_eq!(
            (seen[0], &seen[2..]),
            (expected[0], &expected[2..]),
            "{what}"
        );
    }
    let members: Vec<_> = [0, 1, 2].map(|at| gzip(&good(at))).into();
    let mut broken = members.clone();
    let at = broken[1].len() - 6;
    broken[1][at] ^= 1;
    let seen = read(&broken.concat(), Stored::Members);
    assert_eq!(told(&seen), ["http://good/0", "bad-gzip", "http://good/2"]);
    let between = [&members[0], b"garbage".as_slice(), &members[1]].concat();
    let seen = read(&between, Stored::Members);
    assert_eq!(told(&seen), ["http://good/0", "bad-gzip", "http://good/1"]);
}

#[test]
fn an_empty_archive_has_no_records() {
    assert_eq!(read(b"", Stored::Plain), []);
    assert_eq!(read(b"", Stored::Members), []);
    assert_eq!(read(b"\n\n", Stored::Plain), []);
}

#[test]
fn a_response_is_known_by_its_head_and_anything_else_has_the_type_of_its_header() {
    let bytes = sample().concat();
    let mut reader: ArcReader = archive_reader(
        &bytes,
        Packing::Plain,
        AT_ONCE,
        Limits::default(),
        Start::default(),
    );
    let mut records = Vec::new();
    while let Some(item) = reader.next().unwrap() {
        if let Item::Record(record) = item {
            assert_eq!(record.fetched.as_deref(), Some("20240503120000"));
            assert_eq!(record.ip.as_deref(), Some("192.0.2.1"));
            records.push(record);
        }
    }
    assert!(matches!(records[0].body, Body::Http(_)));
    assert!(matches!(records[2].body, Body::Bytes(_)));
    assert_eq!(records[2].told.mime.as_deref(), Some("text/plain"));
}

#[test]
fn a_page_that_is_too_large_is_passed_over_and_digested() {
    let limits = Limits {
        max_page_bytes: 1_000,
        max_header_bytes: 400,
        ..Limits::default()
    };
    let large = [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &[b'x'; 5_000]].concat();
    let records = [
        record("http://a/", "text/html", &large),
        record("http://b/", "text/plain", b"small"),
    ];
    for stored in [Stored::Plain, Stored::Members, Stored::Pieces(777)] {
        let bytes = stored.store(&records);
        let mut reader: ArcReader = archive_reader(
            &bytes,
            stored.packing(),
            AT_ONCE,
            limits.clone(),
            Start::default(),
        );
        let Some(Item::Record(first)) = reader.next().unwrap() else {
            panic!("no record")
        };
        let Body::TooLarge {
            bytes, sha1, http, ..
        } = first.body
        else {
            panic!("not too large")
        };
        use sha1::{Digest, Sha1};
        assert!(http);
        assert_eq!(bytes, 5_000);
        assert_eq!(sha1[..], Sha1::digest([b'x'; 5_000])[..]);
        assert!(matches!(reader.next().unwrap(), Some(Item::Record(_))));
        assert!(reader.next().unwrap().is_none());
    }
}

#[test]
fn a_file_made_to_waste_time_does_not() {
    // Every header claims a block of a megabyte, which the next one claims again; all of them lie.
    let bytes = b"http://a/ 192.0.2.1 20240503120000 text/plain 1000000\nx\n".repeat(100_000);
    // They are all the same length, and none divides the megabyte: no block ends where a record
    // begins.
    let seen = read(&bytes, Stored::Plain);
    assert!(seen.len() < 4_000, "{}", seen.len());
}
