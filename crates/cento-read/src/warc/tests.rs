//! What is written is read, from any packing, through any buffers, and as far as it is whole.

use std::io::{self, Cursor, Read, Write};

use proptest::prelude::*;

use super::{ArchiveReader, Dialect, WarcReader};
use crate::archive::{gzip, record, response};
use crate::bytes::{Origin, Source, Stream};
use crate::reader::Records;
use crate::record::Body;
use crate::{Cause, Item, Limits, Packing, Place, Start};

/// How an archive is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stored {
    Plain,
    /// One gzip member a record.
    Members,
    /// All in one gzip member.
    OneMember,
    /// Members of so many bytes, wherever that cuts.
    Pieces(usize),
}

impl Stored {
    pub(crate) fn packing(self) -> Packing {
        match self {
            Stored::Plain => Packing::Plain,
            _ => Packing::Gzip,
        }
    }

    pub(crate) fn store(self, records: &[Vec<u8>]) -> Vec<u8> {
        match self {
            Stored::Plain => records.concat(),
            Stored::Members => records.iter().flat_map(|record| gzip(record)).collect(),
            Stored::OneMember => gzip(&records.concat()),
            Stored::Pieces(size) => records.concat().chunks(size).flat_map(gzip).collect(),
        }
    }
}

/// How bytes arrive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// As a stream, in pieces of at most so many bytes; else as a file.
    pub(crate) pieces: Option<usize>,
    /// The size of the buffer.
    pub(crate) capacity: usize,
}

pub(crate) const AT_ONCE: Arrival = Arrival {
    pieces: None,
    capacity: 1 << 16,
};

/// Hands out a few bytes at a time.
struct Trickle(Cursor<Vec<u8>>, usize);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(self.1);
        self.0.read(&mut buffer[..count])
    }
}

fn reader_with(
    bytes: &[u8],
    packing: Packing,
    arrival: Arrival,
    limits: Limits,
    from: Start,
) -> WarcReader {
    archive_reader(bytes, packing, arrival, limits, from)
}

pub(crate) fn archive_reader<D: Dialect>(
    bytes: &[u8],
    packing: Packing,
    arrival: Arrival,
    limits: Limits,
    from: Start,
) -> ArchiveReader<D> {
    let origin = match arrival.pieces {
        Some(size) => Origin::Stream(Box::new(Trickle(Cursor::new(bytes.to_vec()), size))),
        None => {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(bytes).unwrap();
            io::Seek::rewind(&mut file).unwrap();
            Origin::File(file, bytes.len() as u64)
        }
    };
    let mut stream = Stream::new(Source::with_capacity(origin, arrival.capacity), packing);
    stream.seek(from.offset).unwrap();
    ArchiveReader::new(stream, "test".into(), limits, from)
}

/// What was read, in a form that can be compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    Page(Place, Option<String>, Vec<u8>),
    Ignored(Place, &'static str),
    Skipped(Place, Cause),
}

impl Seen {
    pub(crate) fn place(&self) -> Place {
        match self {
            Seen::Page(place, ..) | Seen::Ignored(place, _) | Seen::Skipped(place, _) => *place,
        }
    }

    pub(crate) fn is_sound(&self) -> bool {
        !matches!(self, Seen::Skipped(..))
    }
}

pub(crate) fn read_all(mut reader: impl Records) -> Vec<Seen> {
    let mut seen = Vec::new();
    while let Some(item) = reader.next().unwrap() {
        assert!(seen.len() < 10_000, "no end");
        seen.push(match item {
            Item::Ignored(ignored) => Seen::Ignored(ignored.place, ignored.kind.name()),
            Item::Skipped(skipped) => Seen::Skipped(skipped.place, skipped.cause),
            Item::Record(record) => {
                let bytes = match record.body {
                    Body::Http(bytes) | Body::Bytes(bytes) | Body::Revisit { block: bytes, .. } => {
                        bytes
                    }
                    Body::TooLarge { bytes, .. } => format!("{bytes} bytes").into_bytes(),
                    Body::Html(_) | Body::Text(_) | Body::Json { .. } => unreachable!(),
                };
                Seen::Page(record.place, record.url, bytes)
            }
        });
    }
    let ordinals: Vec<_> = seen.iter().map(|seen| seen.place().ordinal).collect();
    let first = ordinals.first().copied().unwrap_or(0);
    assert_eq!(
        ordinals,
        (first..first + seen.len() as u32).collect::<Vec<_>>()
    );
    seen
}

fn read(bytes: &[u8], packing: Packing) -> Vec<Seen> {
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

pub(crate) fn any_stored() -> impl Strategy<Value = Stored> {
    prop_oneof![
        Just(Stored::Plain),
        Just(Stored::Members),
        Just(Stored::OneMember),
        (50_usize..30_000).prop_map(Stored::Pieces),
    ]
}

pub(crate) fn any_arrival() -> impl Strategy<Value = Arrival> {
    (proptest::option::of(1_usize..9_000), 4_096_usize..20_000)
        .prop_map(|(pieces, capacity)| Arrival { pieces, capacity })
}

fn any_block() -> impl Strategy<Value = Vec<u8>> {
    let noise = proptest::collection::vec(any::<u8>(), 0..9_000);
    let repeated = (any::<u8>(), 0_usize..40_000).prop_map(|(byte, count)| vec![byte; count]);
    let nested = Just(record("response", "http://inner/", "text/plain", b"inner"));
    let line_ends = "[\r\n]{0,5}".prop_map(String::into_bytes);
    let one = prop_oneof![noise, repeated, nested, line_ends];
    proptest::collection::vec(one, 0..3).prop_map(|parts| parts.concat())
}

fn any_records() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
    let kind = prop_oneof![
        Just("resource"),
        Just("conversion"),
        Just("request"),
        Just("revisit")
    ];
    proptest::collection::vec((kind, any_block()), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_written_is_read_through_any_buffers(
        records in any_records(),
        stored in any_stored(),
        arrival in any_arrival(),
    ) {
        let written: Vec<_> = records
            .iter()
            .enumerate()
            .map(|(at, (kind, block))| record(kind, &format!("http://a/{at}"), "text/plain", block))
            .collect();
        // A member that begins like a record is taken for one.
        if let Stored::Pieces(size) = stored {
            prop_assume!(written.concat().chunks(size).skip(1).all(|piece| !piece.starts_with(b"WARC/")));
        }
        let bytes = stored.store(&written);
        let reader = reader_with(&bytes, stored.packing(), arrival, Limits::default(), Start::default());
        let seen = read_all(reader);
        prop_assert_eq!(seen.len(), records.len());
        for (at, ((kind, block), seen)) in records.iter().zip(&seen).enumerate() {
            match seen {
                Seen::Page(_, url, bytes) => {
                    prop_assert_eq!(url.clone(), Some(format!("http://a/{at}")));
                    prop_assert!(bytes == block);
                }
                Seen::Ignored(_, ignored) => prop_assert_eq!(ignored, kind),
                Seen::Skipped(..) => prop_assert!(false, "skipped {at}"),
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
        records in any_records(),
        stored in any_stored(),
        arrival in any_arrival(),
        damage in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let written: Vec<_> = records
            .iter()
            .map(|(kind, block)| record(kind, "http://a/", "text/plain", block))
            .collect();
        let mut bytes = stored.store(&written);
        if let Some((at, byte)) = damage && !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let read_from = |from| {
            read_all(reader_with(&bytes, stored.packing(), arrival, Limits::default(), from))
        };
        let seen = read_from(Start::default());
        for (at, one) in seen.iter().enumerate() {
            let next = one.place().next;
            prop_assert_eq!(next.ordinal, at as u32 + 1);
            prop_assert_eq!(&read_from(next)[..], &seen[at + 1..]);
        }
    }

    #[test]
    fn damage_costs_only_the_records_it_touches(
        records in any_records(),
        plain in any::<bool>(),
        arrival in any_arrival(),
        damage in any::<prop::sample::Index>(),
        noise in proptest::collection::vec(any::<u8>(), 1..300),
    ) {
        let written: Vec<_> = records
            .iter()
            .enumerate()
            // Nothing in a block may look like a record: a record is all there is to go by in a plain file.
            .map(|(at, (_, block))| {
                let block: Vec<_> = block.iter().copied().filter(|&byte| byte != b'/').collect();
                record("resource", &format!("http://a/{at}"), "text/plain", &block)
            })
            .collect();
        let stored = if plain { Stored::Plain } else { Stored::Members };
        let ends: Vec<_> = written
            .iter()
            .scan(0, |end, record| {
                *end += stored.store(std::slice::from_ref(record)).len();
                Some(*end)
            })
            .collect();
        let mut bytes = stored.store(&written);
        let begin = damage.index(bytes.len() + 1);
        let end = (begin + noise.len()).min(bytes.len());
        bytes[begin..end].copy_from_slice(&noise[..end - begin]);
        let reader = reader_with(&bytes, stored.packing(), arrival, Limits::default(), Start::default());
        let seen = read_all(reader);
        for (at, &to) in ends.iter().enumerate() {
            let from = at.checked_sub(1).map_or(0, |before| ends[before]);
            // The line end before a plain record is what makes it one.
            let touched = begin < to && end > from.saturating_sub(usize::from(plain));
            let url = format!("http://a/{at}");
            let found = seen.iter().any(|seen| matches!(seen, Seen::Page(_, Some(found), _) if *found == url));
            prop_assert!(touched || found, "{at} is lost, damage {begin}..{end}, it lies {from}..{to}");
        }
    }
}

#[test]
fn wherever_an_archive_is_cut_all_whole_records_before_are_read() {
    for stored in [Stored::Plain, Stored::Members, Stored::OneMember] {
        let records = sample();
        let bytes = stored.store(&records);
        let whole = read(&bytes, stored.packing());
        assert_eq!(whole.len(), records.len());
        for cut in 0..bytes.len() {
            let seen = read(&bytes[..cut], stored.packing());
            let (sound, skipped): (Vec<_>, Vec<_>) = seen.into_iter().partition(Seen::is_sound);
            assert!(skipped.len() <= 1, "{stored:?} cut at {cut}");
            let is_whole = |seen: &&Seen| match stored {
                // The line ends after a block may be missing.
                Stored::Plain => (seen.place().offset + seen.place().length) as usize <= cut + 4,
                Stored::Members => (seen.place().offset + seen.place().length) as usize <= cut,
                _ => false,
            };
            let expected = whole.iter().filter(is_whole).count();
            if stored != Stored::OneMember {
                assert_eq!(sound.len(), expected, "{stored:?} cut at {cut}");
            }
            for (sound, whole) in sound.iter().zip(&whole) {
                match (sound, whole) {
                    (Seen::Page(_, url, bytes), Seen::Page(_, other, others)) => {
                        assert_eq!((url, bytes), (other, others));
                    }
                    (Seen::Ignored(_, kind), Seen::Ignored(_, other)) => assert_eq!(kind, other),
                    _ => panic!("{sound:?} for {whole:?}"),
                }
            }
        }
    }
}

#[test]
fn every_kind_of_damage_is_told_by_its_cause() {
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
                Seen::Skipped(_, cause) => Some(*cause),
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
fn zeros_after_the_last_member_are_nothing() {
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
fn a_page_that_is_too_large_is_passed_over_and_digested() {
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
        let Body::TooLarge {
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
fn names_looked_up_and_crawlers_own_files_are_no_pages() {
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
            Seen::Ignored(_, "not-web"),
            Seen::Ignored(_, "not-web"),
            Seen::Page(..)
        ]
    ));
}

#[test]
fn a_file_made_to_waste_time_does_not() {
    // Every header claims a block of a megabyte, which the next one claims again; all of them lie.
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
    // Each was read again until 256 megabytes and twice the file were, and not one more.
    assert!(skipped < 2_000, "{skipped}");
}
