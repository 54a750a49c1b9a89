//! Tests for ARC files only. Tests for all archive formats are in `warc/properties.rs`.

use super::{Arc, ArcReader};
use crate::archive::{arc_description, arc_record as record, gzip};
use crate::reader::RecordReader;
use crate::record::RecordBody;
use crate::warc::properties::{
    AT_ONCE, SeenItem, Stored, archive_properties, archive_reader, assert_cut_anywhere, read_all,
};
use crate::{Cause, Item, Limits, Packing, Start};

fn read(bytes: &[u8], stored: Stored) -> Vec<SeenItem> {
    read_all(archive_reader::<Arc>(
        bytes,
        stored.packing(),
        AT_ONCE,
        Limits::default(),
        Start::default(),
    ))
}

/// The URLs of the pages, and the causes of damage between them.
fn summary(seen: &[SeenItem]) -> Vec<&str> {
    seen.iter()
        .map(|seen| match seen {
            SeenItem::Page(_, url, _) => url.as_deref().unwrap_or("none"),
            SeenItem::Ignored(_, kind) => kind,
            SeenItem::Skipped(_, cause) => cause.name(),
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
fn a_truncated_archive_yields_all_complete_records() {
    let kinds = [
        "warcinfo",
        "not-web",
        "http://a/1",
        "http://a/2 with spaces",
        "ftp://a/3",
    ];
    assert_eq!(summary(&read(&sample().concat(), Stored::Plain)), kinds);
    assert_cut_anywhere::<Arc>(&sample());
}

#[test]
fn any_number_of_line_ends_may_separate_records() {
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
            summary(&seen),
            ["http://a/0", "http://a/1", "http://a/2"],
            "{between:?}"
        );
    }
}

#[test]
fn every_kind_of_damage_has_its_cause_and_affects_no_other_record() {
    let good = |at: u32| record(&format!("http://good/{at}"), "text/plain", b"good\n");
    let bad = |length: &str| {
        format!("http://bad/ 192.0.2.1 20240503120000 text/plain {length}\nbad body\n\n")
    };
    for (what, middle, cause) in [
        ("garbage", "garbage\n".into(), Cause::BadHeader),
        ("no length", bad("abc"), Cause::BadHeader),
        ("a negative length", bad("-1"), Cause::BadHeader),
        ("a length too short", bad("2"), Cause::BadLength),
        ("a length too long", bad("30"), Cause::BadLength),
        (
            "a length that ends after the next header",
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
        assert_eq!(summary(&read(&bytes, Stored::Plain)), expected, "{what}");
        assert_eq!(
            summary(&read(&gzip(&bytes), Stored::OneMember)),
            expected,
            "{what}"
        );
        let members = [good(0), middle.into_bytes(), good(1), good(2)];
        let seen = read(&Stored::Members.store(&members), Stored::Members);
        let seen = summary(&seen);
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
    assert_eq!(
        summary(&seen),
        ["http://good/0", "bad-gzip", "http://good/2"]
    );
    let between = [&members[0], b"garbage".as_slice(), &members[1]].concat();
    let seen = read(&between, Stored::Members);
    assert_eq!(
        summary(&seen),
        ["http://good/0", "bad-gzip", "http://good/1"]
    );
}

#[test]
fn an_empty_archive_has_no_records() {
    assert_eq!(read(b"", Stored::Plain), []);
    assert_eq!(read(b"", Stored::Members), []);
    assert_eq!(read(b"\n\n", Stored::Plain), []);
}

#[test]
fn a_response_is_recognised_by_its_head_and_other_records_have_the_type_in_their_header() {
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
    assert!(matches!(records[0].body, RecordBody::Http(_)));
    assert!(matches!(records[2].body, RecordBody::Bytes(_)));
    assert_eq!(records[2].metadata.mime.as_deref(), Some("text/plain"));
}

#[test]
fn a_page_over_the_limit_is_skipped_and_digested() {
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
        let RecordBody::TooLarge {
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
fn hostile_lengths_do_not_cost_quadratic_time() {
    // Every header claims a megabyte, which overlaps with what the next one claims.
    let bytes = b"http://a/ 192.0.2.1 20240503120000 text/plain 1000000\nx\n".repeat(100_000);
    // All records have the same length, which does not divide the megabyte: no block ends where a
    // record begins.
    let seen = read(&bytes, Stored::Plain);
    assert!(seen.len() < 4_000, "{}", seen.len());
}
