//! Property tests for all archive formats: what was written is read back, with any compression,
//! through any buffers, and up to any damage.

use std::io::{self, Cursor, Read, Write};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::{ArchiveReader, Dialect, Warc};
use crate::arc::Arc;
use crate::archive::{arc_record, gzip, record};
use crate::bytes::{Beginning, ByteOrigin, ByteSource, Stream};
use crate::reader::RecordReader;
use crate::record::RecordBody;
use crate::{Cause, Item, Limits, Packing, Place, Start};

/// An archive format that tests can write.
pub(crate) trait WritableDialect: Dialect {
    /// The types of records.
    const TYPES: &[&str];
    /// The number of bytes of line ends after a block.
    const LINE_ENDS: usize;
    /// A byte that every header contains: a block without it contains no record.
    const MARK: u8;

    fn write(kind: &str, url: &str, block: &[u8]) -> Vec<u8>;
}

impl WritableDialect for Warc {
    const TYPES: &[&str] = &["resource", "conversion", "request", "revisit"];
    const LINE_ENDS: usize = 4;
    const MARK: u8 = b'/';

    fn write(kind: &str, url: &str, block: &[u8]) -> Vec<u8> {
        record(kind, url, "text/plain", block)
    }
}

impl WritableDialect for Arc {
    const TYPES: &[&str] = &["page"];
    const LINE_ENDS: usize = 1;
    const MARK: u8 = b':';

    fn write(_kind: &str, url: &str, block: &[u8]) -> Vec<u8> {
        arc_record(url, "text/plain", block)
    }
}

/// How an archive is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stored {
    Plain,
    /// One gzip member per record.
    Members,
    /// All records in one gzip member.
    OneMember,
    /// Members of this many bytes each, whatever the records are.
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
    /// As a stream, in pieces of at most this many bytes; otherwise as a file.
    pub(crate) pieces: Option<usize>,
    /// The size of the buffer.
    pub(crate) capacity: usize,
}

pub(crate) const AT_ONCE: Arrival = Arrival {
    pieces: None,
    capacity: 1 << 16,
};

/// Returns a few bytes at a time.
struct Trickle(Cursor<Vec<u8>>, usize);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(self.1);
        self.0.read(&mut buffer[..count])
    }
}

pub(crate) fn archive_reader<D: Dialect>(
    bytes: &[u8],
    packing: Packing,
    arrival: Arrival,
    limits: Limits,
    from: Start,
) -> ArchiveReader<D> {
    let origin = match arrival.pieces {
        Some(size) => ByteOrigin::Stream(Box::new(Trickle(Cursor::new(bytes.to_vec()), size))),
        None => {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(bytes).unwrap();
            io::Seek::rewind(&mut file).unwrap();
            ByteOrigin::File(file, bytes.len() as u64)
        }
    };
    let mut stream = Stream::new(ByteSource::with_capacity(origin, arrival.capacity), packing);
    stream.seek(from.offset).unwrap();
    ArchiveReader::new(stream, "test".into(), limits, from)
}

/// An item in a form that can be compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SeenItem {
    Page(Place, Option<String>, Vec<u8>),
    Ignored(Place, &'static str),
    Skipped(Place, Cause),
}

impl SeenItem {
    pub(crate) fn place(&self) -> Place {
        match self {
            SeenItem::Page(place, ..)
            | SeenItem::Ignored(place, _)
            | SeenItem::Skipped(place, _) => *place,
        }
    }

    /// The item without its place.
    fn holds(&self) -> (Option<&str>, &[u8], &str) {
        match self {
            SeenItem::Page(_, url, bytes) => (url.as_deref(), bytes, ""),
            SeenItem::Ignored(_, kind) => (None, &[], kind),
            SeenItem::Skipped(_, cause) => (None, &[], cause.name()),
        }
    }

    pub(crate) fn is_sound(&self) -> bool {
        !matches!(self, SeenItem::Skipped(..))
    }
}

pub(crate) fn read_all(mut reader: impl RecordReader) -> Vec<SeenItem> {
    let mut seen = Vec::new();
    while let Some(item) = reader.next().unwrap() {
        assert!(seen.len() < 10_000, "no end");
        seen.push(match item {
            Item::Ignored(ignored) => SeenItem::Ignored(ignored.place, ignored.kind.name()),
            Item::Skipped(skipped) => SeenItem::Skipped(skipped.place, skipped.cause),
            Item::Record(record) => {
                let bytes = match record.body {
                    RecordBody::Http(bytes)
                    | RecordBody::Bytes(bytes)
                    | RecordBody::Revisit { block: bytes, .. } => bytes,
                    RecordBody::TooLarge { bytes, .. } => format!("{bytes} bytes").into_bytes(),
                    RecordBody::Html(_) | RecordBody::Text(_) | RecordBody::Json { .. } => {
                        unreachable!()
                    }
                };
                SeenItem::Page(record.place, record.url, bytes)
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

fn any_block<D: WritableDialect>() -> impl Strategy<Value = Vec<u8>> {
    let noise = proptest::collection::vec(any::<u8>(), 0..9_000);
    let repeated = (any::<u8>(), 0_usize..40_000).prop_map(|(byte, count)| vec![byte; count]);
    let nested = Just(D::write(D::TYPES[0], "http://inner/", b"inner"));
    let line_ends = "[a-z:/ 0-9]{0,9}[\r\n]{0,5}".prop_map(String::into_bytes);
    let one = prop_oneof![noise, repeated, nested, line_ends];
    proptest::collection::vec(one, 0..3).prop_map(|parts| parts.concat())
}

/// The type and the block of a record.
pub(crate) type TestRecord = (&'static str, Vec<u8>);

pub(crate) fn any_records<D: WritableDialect>() -> impl Strategy<Value = Vec<TestRecord>> {
    let kind = prop::sample::select(D::TYPES);
    proptest::collection::vec((kind, any_block::<D>()), 0..8)
}

fn url(at: usize) -> String {
    format!("http://a/{at}.html")
}

fn written<D: WritableDialect>(records: &[TestRecord]) -> Vec<Vec<u8>> {
    let one = |(at, (kind, block)): (usize, &TestRecord)| D::write(kind, &url(at), block);
    records.iter().enumerate().map(one).collect()
}

fn read_from<D: Dialect>(
    bytes: &[u8],
    stored: Stored,
    arrival: Arrival,
    from: Start,
) -> Vec<SeenItem> {
    let limits = Limits::default();
    read_all(archive_reader::<D>(
        bytes,
        stored.packing(),
        arrival,
        limits,
        from,
    ))
}

pub(crate) fn reads_back<D: WritableDialect>(
    records: &[TestRecord],
    stored: Stored,
    arrival: Arrival,
) -> Result<(), TestCaseError> {
    let written = written::<D>(records);
    // A member that begins like a record is read as one.
    if let Stored::Pieces(size) = stored {
        let Beginning { reach, fits } = D::BEGINNING;
        let begins = |piece: &[u8]| fits(&piece[..piece.len().min(reach)]);
        prop_assume!(!written.concat().chunks(size).skip(1).any(begins));
    }
    let bytes = stored.store(&written);
    let seen = read_from::<D>(&bytes, stored, arrival, Start::default());
    prop_assert_eq!(seen.len(), records.len());
    for (at, ((kind, block), seen)) in records.iter().zip(&seen).enumerate() {
        match seen {
            SeenItem::Page(_, found, bytes) => {
                prop_assert_eq!(found.clone(), Some(url(at)));
                prop_assert!(bytes == block);
            }
            SeenItem::Ignored(_, ignored) => prop_assert_eq!(ignored, kind),
            SeenItem::Skipped(..) => prop_assert!(false, "skipped {at}"),
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
    Ok(())
}

pub(crate) fn resumes<D: WritableDialect>(
    records: &[TestRecord],
    stored: Stored,
    arrival: Arrival,
    damage: Option<(prop::sample::Index, u8)>,
) -> Result<(), TestCaseError> {
    let mut bytes = stored.store(&written::<D>(records));
    if let Some((at, byte)) = damage
        && !bytes.is_empty()
    {
        let at = at.index(bytes.len());
        bytes[at] = byte;
    }
    let seen = read_from::<D>(&bytes, stored, arrival, Start::default());
    for (at, one) in seen.iter().enumerate() {
        let next = one.place().next;
        prop_assert_eq!(next.ordinal, at as u32 + 1);
        prop_assert_eq!(
            &read_from::<D>(&bytes, stored, arrival, next)[..],
            &seen[at + 1..]
        );
    }
    Ok(())
}

pub(crate) fn damage_costs_what_it_touches<D: WritableDialect>(
    records: Vec<TestRecord>,
    stored: Stored,
    arrival: Arrival,
    damage: prop::sample::Index,
    noise: &[u8],
) -> Result<(), TestCaseError> {
    // Blocks must not contain anything that looks like a record: in a plain file, headers are all
    // that marks records.
    let records: Vec<TestRecord> = records
        .into_iter()
        .map(|(_, block)| {
            let block = block.into_iter().filter(|&byte| byte != D::MARK);
            (D::TYPES[0], block.collect())
        })
        .collect();
    let written = written::<D>(&records);
    let mut bytes = stored.store(&written);
    let begin = damage.index(bytes.len() + 1);
    let end = (begin + noise.len()).min(bytes.len());
    bytes[begin..end].copy_from_slice(&noise[..end - begin]);
    let seen = read_from::<D>(&bytes, stored, arrival, Start::default());
    let mut from = 0;
    for (at, record) in written.iter().enumerate() {
        let to = from + stored.store(std::slice::from_ref(record)).len();
        // The line end before a record in a plain file marks its beginning.
        let before = usize::from(stored == Stored::Plain);
        let touched = begin < to && end > from.saturating_sub(before);
        let found = seen
            .iter()
            .any(|seen| matches!(seen, SeenItem::Page(_, Some(found), _) if *found == url(at)));
        prop_assert!(
            touched || found,
            "{at} is lost, damage {begin}..{end}, record {from}..{to}"
        );
        from = to;
    }
    Ok(())
}

pub(crate) fn assert_cut_anywhere<D: WritableDialect>(records: &[Vec<u8>]) {
    for stored in [Stored::Plain, Stored::Members, Stored::OneMember] {
        let bytes = stored.store(records);
        let read = |bytes: &[u8]| read_from::<D>(bytes, stored, AT_ONCE, Start::default());
        let whole = read(&bytes);
        assert_eq!(whole.len(), records.len());
        for cut in 0..bytes.len() {
            let (sound, skipped): (Vec<_>, Vec<_>) = read(&bytes[..cut])
                .into_iter()
                .partition(SeenItem::is_sound);
            assert!(skipped.len() <= 1, "{stored:?} cut at {cut}");
            let end = |seen: &SeenItem| (seen.place().offset + seen.place().length) as usize;
            // The line ends after a block may be missing.
            let missing = match stored {
                Stored::Plain => D::LINE_ENDS,
                _ => 0,
            };
            let expected = whole.iter().filter(|seen| end(seen) <= cut + missing);
            if stored != Stored::OneMember {
                assert_eq!(sound.len(), expected.count(), "{stored:?} cut at {cut}");
            }
            for (sound, whole) in sound.iter().zip(&whole) {
                assert_eq!(sound.holds(), whole.holds(), "{stored:?} cut at {cut}");
            }
        }
    }
}

/// Defines the property tests for one archive format.
macro_rules! archive_properties {
    ($dialect:ty) => {
        proptest::proptest! {
            #![proptest_config(proptest::prelude::ProptestConfig::with_cases(100))]

            #[test]
            fn what_is_written_is_read_back_through_any_buffers(
                records in crate::warc::properties::any_records::<$dialect>(),
                stored in crate::warc::properties::any_stored(),
                arrival in crate::warc::properties::any_arrival(),
            ) {
                crate::warc::properties::reads_back::<$dialect>(&records, stored, arrival)?;
            }

            #[test]
            fn reading_resumes_after_any_record(
                records in crate::warc::properties::any_records::<$dialect>(),
                stored in crate::warc::properties::any_stored(),
                arrival in crate::warc::properties::any_arrival(),
                damage in proptest::option::of(proptest::prelude::any::<(proptest::sample::Index, u8)>()),
            ) {
                crate::warc::properties::resumes::<$dialect>(&records, stored, arrival, damage)?;
            }

            #[test]
            fn damage_affects_only_the_records_it_touches(
                records in crate::warc::properties::any_records::<$dialect>(),
                stored in proptest::sample::select(&[Stored::Plain, Stored::Members][..]),
                arrival in crate::warc::properties::any_arrival(),
                damage in proptest::prelude::any::<proptest::sample::Index>(),
                noise in proptest::collection::vec(proptest::prelude::any::<u8>(), 1..300),
            ) {
                crate::warc::properties::damage_costs_what_it_touches::<$dialect>(
                    records, stored, arrival, damage, &noise,
                )?;
            }
        }
    };
}

pub(crate) use archive_properties;
