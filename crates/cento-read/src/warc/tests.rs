//! Tests for WARC files only. Tests for all archive formats are in
//! [`properties`](super::properties).

use super::properties::{
    AT_ONCE, Arrival, SeenItem, Stored, archive_properties, archive_reader, assert_cut_anywhere,
    read_all,
};
use super::{Warc, WarcReader};
use crate::archive::{gzip, record, response};
use crate::reader::RecordReader;
use crate::record::RecordBody;
use crate::{Cause, Item, Limits, Packing, Start};

fn reader_with(
    bytes: &[u8],
    packing: Packing,
    arrival: Arrival,
    limits: Limits,
    from: Start,
) -> WarcReader {
    archive_reader(bytes, packing, arrival, limits, from)
}

fn read(bytes: &[u8], packing: Packing) -> Vec<SeenItem> {
    read_all(reader_with(
        bytes,
        packing,
        AT_ONCE,
        Limits::default(),
        Start::default(),
    ))
}

/// Three pages and a request.
fn sample() -> Vec<Vec<u8>> {
    vec![
        record(
            "warcinfo",
            "",
            "application/warc-fields",
            b"software: none\r\n",
        ),
        response("http://a/1", &["HTTP/1.1 200 OK"], b"<p>one"),
        record(
            "request",
            "http://a/2",
            "application/http",
            b"GET / HTTP/1.1\r\n\r\n",
        ),
        record(
            "conversion",
            "http://a/3",
            "text/plain",
            b"drei\r\n\r\nnoch",
        ),
        record("resource", "http://a/4", "text/html", b""),
    ]
}

archive_properties!(Warc);

#[test]
fn a_truncated_archive_yields_all_complete_records() {
    assert_cut_anywhere::<Warc>(&sample());
}

#[test]
fn every_kind_of_damage_has_its_cause() {
    let good = || record("resource", "http://good/", "text/plain", b"good");
    let cases: Vec<(&str, Vec<u8>, Packing, Cause)> = vec![
        (
            "garbage between records",
            [good(), b"garbage\r\n".to_vec(), good()].concat(),
            Packing::Plain,
            Cause::BadHeader,
        ),
        (
            "a header without a length",
            [b"WARC/1.0\r\nWARC-Type: response\r\n\r\nbody\r\n\r\n".to_vec(), good()].concat(),
            Packing::Plain,
            Cause::BadHeader,
        ),
        (
            "a length too short",
            [
                b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 2\r\n\r\nbody\r\n\r\n".to_vec(),
                good(),
            ]
            .concat(),
            Packing::Plain,
            Cause::BadLength,
        ),
        (
            "a length too long",
            [
                b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 60\r\n\r\nbody\r\n\r\n".to_vec(),
                good(),
            ]
            .concat(),
            Packing::Plain,
            Cause::BadLength,
        ),
        (
            "a length far too long",
            [
                b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999999999\r\n\r\nbody\r\n\r\n".to_vec(),
                good(),
            ]
            .concat(),
            Packing::Plain,
            Cause::Truncated,
        ),
        (
            "a length too long for its member",
            [
                gzip(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 60\r\n\r\nbody\r\n\r\n"),
                gzip(&good()),
            ]
            .concat(),
            Packing::Gzip,
            Cause::Truncated,
        ),
        (
            "a header that does not end",
            [b"WARC/1.0\r\n".to_vec(), vec![b'a'; 300 << 10], b"\r\n".to_vec(), good()].concat(),
            Packing::Plain,
            Cause::HeaderTooLong,
        ),
        (
            "a wrong checksum",
            {
                let mut bad = gzip(&good());
                let at = bad.len() - 6;
                bad[at] ^= 1;
                [bad, gzip(&good())].concat()
            },
            Packing::Gzip,
            Cause::BadGzip,
        ),
        (
            "garbage between members",
            [gzip(&good()), b"garbage".to_vec(), gzip(&good())].concat(),
            Packing::Gzip,
            Cause::BadGzip,
        ),
        ("zeros", vec![0; 10_000], Packing::Plain, Cause::BadHeader),
        ("zeros for members", vec![0; 10_000], Packing::Gzip, Cause::BadGzip),
    ];
    for (what, bytes, packing, cause) in cases {
        let seen = read(&bytes, packing);
        let causes: Vec<_> = seen
            .iter()
            .filter_map(|seen| match seen {
                SeenItem::Skipped(_, cause) => Some(*cause),
                _ => None,
            })
            .collect();
        assert_eq!(causes, [cause], "{what}");
        let good_ones =
            bytes.windows(4).any(|window| window == b"good") || packing == Packing::Gzip;
        let found = seen.iter().filter(|seen| seen.is_sound()).count();
        assert!(
            found > 0 || !good_ones || what.starts_with("zeros"),
            "{what}"
        );
    }
}

#[test]
fn zeros_after_the_last_member_are_ignored() {
    let bytes = [
        gzip(&record("resource", "http://a/", "text/plain", b"a")),
        vec![0; 5_000],
    ]
    .concat();
    let seen = read(&bytes, Packing::Gzip);
    assert_eq!(seen.len(), 1);
    assert!(seen[0].is_sound());
}

#[test]
fn an_empty_archive_has_no_records() {
    assert_eq!(read(b"", Packing::Plain), []);
    assert_eq!(read(b"", Packing::Gzip), []);
    assert_eq!(read(b"\r\n\r\n", Packing::Plain), []);
}

#[test]
fn a_page_over_the_limit_is_skipped_and_digested() {
    let limits = Limits {
        max_page_bytes: 1_000,
        max_header_bytes: 400,
        ..Limits::default()
    };
    for (stored, pieces) in [
        (Stored::Plain, None),
        (Stored::Plain, Some(100)),
        (Stored::Members, None),
        (Stored::Pieces(777), Some(50)),
    ] {
        let records = [
            response("http://a/", &["HTTP/1.1 200 OK"], &[b'x'; 5_000]),
            record("metadata", "http://a/", "text/plain", &[b'y'; 3_000]),
            record("resource", "http://b/", "text/plain", b"small"),
        ];
        let arrival = Arrival {
            pieces,
            capacity: 4_096,
        };
        let bytes = stored.store(&records);
        let mut reader = reader_with(
            &bytes,
            stored.packing(),
            arrival,
            limits.clone(),
            Start::default(),
        );
        let Some(Item::Record(large)) = reader.next().unwrap() else {
            panic!("no record")
        };
        let RecordBody::TooLarge {
            head,
            http,
            bytes,
            sha1,
        } = large.body
        else {
            panic!("not too large")
        };
        assert!(http && head.len() <= 400);
        assert_eq!(bytes, 5_000);
        use sha1::{Digest, Sha1};
        assert_eq!(sha1[..], Sha1::digest([b'x'; 5_000])[..]);
        assert!(matches!(reader.next().unwrap(), Some(Item::Ignored(_))));
        assert!(matches!(reader.next().unwrap(), Some(Item::Record(_))));
        assert!(reader.next().unwrap().is_none());
    }
}

#[test]
fn dns_lookups_and_files_of_the_crawler_are_not_pages() {
    let bytes = [
        record("response", "dns:example.org", "text/dns", b"20240101\n"),
        record(
            "resource",
            "metadata://gnu.org/wget/log",
            "text/plain",
            b"log",
        ),
        record(
            "response",
            "http://a/",
            "application/http",
            b"HTTP/1.1 200 OK\r\n\r\n",
        ),
    ]
    .concat();
    let seen = read(&bytes, Packing::Plain);
    assert!(matches!(
        seen[..],
        [
            SeenItem::Ignored(_, "not-web"),
            SeenItem::Ignored(_, "not-web"),
            SeenItem::Page(..)
        ]
    ));
}

#[test]
fn hostile_lengths_do_not_cost_quadratic_time() {
    // Every header claims a megabyte, which overlaps with what the next one claims.
    let line = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 1000000\r\n\r\nx\r\n";
    let bytes = line.repeat(100_000);
    let mut reader = reader_with(
        &bytes,
        Packing::Plain,
        AT_ONCE,
        Limits::default(),
        Start::default(),
    );
    let mut skipped = 0;
    while let Some(item) = reader.next().unwrap() {
        assert!(matches!(item, Item::Skipped(_)));
        skipped += 1;
    }
    // Blocks are read again until 256 megabytes plus twice the file have been read.
    assert!(skipped < 2_000, "{skipped}");
}

#[test]
fn a_prompt_reader_has_the_same_records_however_the_bytes_arrive() {
    let mut bytes = Vec::new();
    for (at, record) in sample().into_iter().enumerate() {
        bytes.extend(record);
        if at % 2 == 0 {
            bytes.extend(b"\r\n\r\n\n");
        }
        if at == 2 {
            bytes.extend(b"garbage\r\n");
        }
    }
    let pages = |items: Vec<SeenItem>| -> Vec<(Option<String>, Vec<u8>)> {
        let pages = items.into_iter().filter_map(|item| match item {
            SeenItem::Page(_, url, bytes) => Some((url, bytes)),
            _ => None,
        });
        pages.collect()
    };
    let expected = pages(read(&bytes, Packing::Plain));
    assert_eq!(expected.len(), 3);
    for pieces in 1..200 {
        let arrival = Arrival {
            pieces: Some(pieces),
            capacity: 8_192,
        };
        let (limits, start) = (Limits::default(), Start::default());
        let reader = reader_with(&bytes, Packing::Plain, arrival, limits, start);
        assert_eq!(pages(read_all(reader.promptly(true))), expected, "{pieces}");
    }
}
