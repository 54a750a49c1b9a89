//! What is written is read, from any packing, through any buffers, and as far as it is whole: this
//! holds for every kind of archive alike.

use std::io::{self, Cursor, Read, Write};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::{ArchiveReader, Dialect, Warc};
use crate::arc::Arc;
use crate::archive::{arc_record, gzip, record};
use crate::bytes::{Beginning, Origin, Source, Stream};
use crate::reader::Records;
use crate::record::Body;
use crate::{Cause, Item, Limits, Packing, Place, Start};

/// What there is to know about a kind of archive in order to write one.
pub(crate) trait Kind: Dialect {
    /// The types of records, as they are called when they hold no page.
    const TYPES: &[&str];
    /// How many bytes of line ends come after a block.
    const LINE_ENDS: usize;
    /// A block without this byte has nothing in it that looks like a record.
    const MARK: u8;

    fn write(kind: &str, url: &str, block: &[u8]) -> Vec<u8>;
}

impl Kind for Warc {
    const TYPES: &[&str] = &["resource", "conversion", "request", "revisit"];
    const LINE_ENDS: usize = 4;
    const MARK: u8 = b'/';

    fn write(kind: &str, url: &str, block: &[u8]) -> Vec<u8> {
        record(kind, url, "text/plain", block)
    }
}

impl Kind for Arc {
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

    /// What it is, wherever it is.
    fn holds(&self) -> (Option<&str>, &[u8], &str) {
        match self {
            Seen::Page(_, url, bytes) => (url.as_deref(), bytes, ""),
            Seen::Ignored(_, kind) => (None, &[], kind),
            Seen::Skipped(_, cause) => (None, &[], cause.name()),
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

fn any_block<D: Kind>() -> impl Strategy<Value = Vec<u8>> {
    let noise = proptest::collection::vec(any::<u8>(), 0..9_000);
    let repeated = (any::<u8>(), 0_usize..40_000).prop_map(|(byte, count)| vec![byte; count]);
    let nested = Just(D::write(D::TYPES[0], "http://inner/", b"inner"));
    let line_ends = "[a-z:/ 0-9]{0,9}[\r\n]{0,5}".prop_map(String::into_bytes);
    let one = prop_oneof![noise, repeated, nested, line_ends];
    proptest::collection::vec(one, 0..3).prop_map(|parts| parts.concat())
}

/// The type and the block of a record.
pub(crate) type Given = (&'static str, Vec<u8>);

pub(crate) fn any_records<D: Kind>() -> impl Strategy<Value = Vec<Given>> {
    let kind = prop::sample::select(D::TYPES);
    proptest::collection::vec((kind, any_block::<D>()), 0..8)
}

fn url(at: usize) -> String {
    format!("http://a/{at}.html")
}

fn written<D: Kind>(records: &[Given]) -> Vec<Vec<u8>> {
    let one = |(at, (kind, block)): (usize, &Given)| D::write(kind, &url(at), block);
    records.iter().enumerate().map(one).collect()
}

fn read_from<D: Dialect>(bytes: &[u8], stored: Stored, arrival: Arrival, from: Start) -> Vec<Seen> {
    let limits = Limits::default();
    read_all(archive_reader::<D>(
        bytes,
        stored.packing(),
        arrival,
        limits,
        from,
    ))
}

pub(crate) fn reads_back<D: Kind>(
    records: &[Given],
    stored: Stored,
    arrival: Arrival,
) -> Result<(), TestCaseError> {
    let written = written::<D>(records);
    // A member that begins like a record is taken for one.
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
            Seen::Page(_, found, bytes) => {
                prop_assert_eq!(found.clone(), Some(url(at)));
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
    Ok(())
}

pub(crate) fn resumes<D: Kind>(
    records: &[Given],
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

pub(crate) fn damage_costs_what_it_touches<D: Kind>(
    records: Vec<Given>,
    stored: Stored,
    arrival: Arrival,
    damage: prop::sample::Index,
    noise: &[u8],
) -> Result<(), TestCaseError> {
    // Nothing in a block may look like a record: a record is all there is to go by in a plain file.
    let records: Vec<Given> = records
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
        // The line end before a plain record is what makes it one.
        let before = usize::from(stored == Stored::Plain);
        let touched = begin < to && end > from.saturating_sub(before);
        let found = seen
            .iter()
            .any(|seen| matches!(seen, Seen::Page(_, Some(found), _) if *found == url(at)));
        prop_assert!(
            touched || found,
            "{at} is lost, damage {begin}..{end}, it lies {from}..{to}"
        );
        from = to;
    }
    Ok(())
}

pub(crate) fn assert_cut_anywhere<D: Kind>(records: &[Vec<u8>]) {
    for stored in [Stored::Plain, Stored::Members, Stored::OneMember] {
        let bytes = stored.store(records);
        let read = |bytes: &[u8]| read_from::<D>(bytes, stored, AT_ONCE, Start::default());
        let whole = read(&bytes);
        assert_eq!(whole.len(), records.len());
        for cut in 0..bytes.len() {
            let (sound, skipped): (Vec<_>, Vec<_>) =
                read(&bytes[..cut]).into_iter().partition(Seen::is_sound);
            assert!(skipped.len() <= 1, "{stored:?} cut at {cut}");
            let end = |seen: &Seen| (seen.place().offset + seen.place().length) as usize;
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

/// What must hold for every kind of archive, as tests of one.
macro_rules! archive_properties {
    ($dialect:ty) => {
        proptest::proptest! {
            #![proptest_config(proptest::prelude::ProptestConfig::with_cases(100))]

            #[test]
            fn what_is_written_is_read_through_any_buffers(
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
            fn damage_costs_only_the_records_it_touches(
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
