//! What is written is read, from any packing, through any buffers, and as far as it is whole.

use proptest::prelude::*;

use super::{Arc, ArcReader, begins_member};
use crate::archive::{arc_description, arc_record as record, gzip};
use crate::reader::Records;
use crate::record::Body;
use crate::warc::tests::{
    AT_ONCE, Arrival, Seen, Stored, any_arrival, any_stored, archive_reader, read_all,
};
use crate::{Cause, Item, Limits, Packing, Start};

fn read_from(bytes: &[u8], stored: Stored, arrival: Arrival, from: Start) -> Vec<Seen> {
    let limits = Limits::default();
    read_all(archive_reader::<Arc>(
        bytes,
        stored.packing(),
        arrival,
        limits,
        from,
    ))
}

fn read(bytes: &[u8], stored: Stored) -> Vec<Seen> {
    read_from(bytes, stored, AT_ONCE, Start::default())
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

fn any_block() -> impl Strategy<Value = Vec<u8>> {
    let noise = proptest::collection::vec(any::<u8>(), 0..9_000);
    let repeated = (any::<u8>(), 0_usize..40_000).prop_map(|(byte, count)| vec![byte; count]);
    let nested = Just(record("http://inner/", "text/plain", b"inner"));
    let lines = "[a-z:/ 0-9]{0,9}[\r\n]{0,5}".prop_map(String::into_bytes);
    let one = prop_oneof![noise, repeated, nested, lines];
    proptest::collection::vec(one, 0..3).prop_map(|parts| parts.concat())
}

fn any_blocks() -> impl Strategy<Value = Vec<Vec<u8>>> {
    proptest::collection::vec(any_block(), 0..8)
}

fn url(at: usize) -> String {
    format!("http://a/{at} of b")
}

fn written(blocks: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let one = |(at, block): (usize, &Vec<u8>)| record(&url(at), "text/plain", block);
    blocks.iter().enumerate().map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_written_is_read_through_any_buffers(
        blocks in any_blocks(),
        stored in any_stored(),
        arrival in any_arrival(),
    ) {
        let records = written(&blocks);
        // A member that begins like a record is taken for one.
        if let Stored::Pieces(size) = stored {
            prop_assume!(records.concat().chunks(size).skip(1).all(|piece| !begins_member(&piece[..piece.len().min(512)])));
        }
        let bytes = stored.store(&records);
        let seen = read_from(&bytes, stored, arrival, Start::default());
        prop_assert_eq!(seen.len(), blocks.len());
        for (at, (block, seen)) in blocks.iter().zip(&seen).enumerate() {
            match seen {
                Seen::Page(_, found, bytes) => {
                    prop_assert_eq!(found.clone(), Some(url(at)));
                    prop_assert!(bytes == block);
                }
                other => prop_assert!(false, "{other:?}"),
            }
        }
        if let Stored::Plain | Stored::Members = stored {
            let mut offset = 0;
            for seen in &seen {
                prop_assert_eq!(seen.place().offset, offset);
                offset += seen.place().length;
                prop_assert_eq!(seen.place().next.offset, offset);
            }
            prop_assert_eq!(offset, bytes.len() as u64);
        }
    }

    #[test]
    fn reading_resumes_after_any_record(
        blocks in any_blocks(),
        stored in any_stored(),
        arrival in any_arrival(),
        damage in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let mut bytes = stored.store(&written(&blocks));
        if let Some((at, byte)) = damage && !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let seen = read_from(&bytes, stored, arrival, Start::default());
        for (at, one) in seen.iter().enumerate() {
            let next = one.place().next;
            prop_assert_eq!(next.ordinal, at as u32 + 1);
            prop_assert_eq!(&read_from(&bytes, stored, arrival, next)[..], &seen[at + 1..]);
        }
    }

    #[test]
    fn damage_costs_only_the_records_it_touches(
        blocks in any_blocks(),
        plain in any::<bool>(),
        arrival in any_arrival(),
        damage in any::<prop::sample::Index>(),
        noise in proptest::collection::vec(any::<u8>(), 1..300),
    ) {
        // Nothing in a block may look like a record: a record is all there is to go by in a plain file.
        let blocks: Vec<Vec<u8>> = blocks
            .into_iter()
            .map(|block| block.into_iter().filter(|&byte| byte != b':').collect())
            .collect();
        let stored = if plain { Stored::Plain } else { Stored::Members };
        let records = written(&blocks);
        let mut bytes = stored.store(&records);
        let begin = damage.index(bytes.len() + 1);
        let end = (begin + noise.len()).min(bytes.len());
        bytes[begin..end].copy_from_slice(&noise[..end - begin]);
        let seen = read_from(&bytes, stored, arrival, Start::default());
        let found = told(&seen);
        let mut from = 0;
        for (at, record) in records.iter().enumerate() {
            let to = from + stored.store(std::slice::from_ref(record)).len();
            // The line end before a plain record is what makes it one.
            let touched = begin < to && end > from.saturating_sub(usize::from(plain));
            prop_assert!(
                touched || found.contains(&url(at).as_str()),
                "{at} is lost, damage {begin}..{end}, it lies {from}..{to}"
            );
            from = to;
        }
    }
}

#[test]
fn wherever_an_archive_is_cut_all_whole_records_before_are_read() {
    for stored in [Stored::Plain, Stored::Members, Stored::OneMember] {
        let records = sample();
        let bytes = stored.store(&records);
        let whole = read(&bytes, stored);
        let all = told(&whole);
        assert_eq!(
            all,
            [
                "warcinfo",
                "not-web",
                "http://a/1",
                "http://a/2 with spaces",
                "ftp://a/3"
            ]
        );
        for cut in 0..bytes.len() {
            let seen = read(&bytes[..cut], stored);
            let (sound, skipped): (Vec<_>, Vec<_>) = seen.into_iter().partition(Seen::is_sound);
            assert!(skipped.len() <= 1, "{stored:?} cut at {cut}");
            let end = |seen: &Seen| (seen.place().offset + seen.place().length) as usize;
            // The line end after a block may be missing.
            let missing = usize::from(stored == Stored::Plain);
            let expected = whole
                .iter()
                .filter(|seen| end(seen) <= cut + missing)
                .count();
            if stored != Stored::OneMember {
                assert_eq!(sound.len(), expected, "{stored:?} cut at {cut}");
            }
            assert_eq!(told(&sound), all[..sound.len()]);
        }
    }
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
    // They are all the same length, and none divides the megabyte: no block ends where a record begins.
    let seen = read(&bytes, Stored::Plain);
    assert!(seen.len() < 4_000, "{}", seen.len());
}
