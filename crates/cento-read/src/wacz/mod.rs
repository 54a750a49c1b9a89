//! WACZ: a zip of WARC files, with indexes and lists of pages that are not needed here.
//!
//! ```text
//!  archive/a.warc.gz  archive/b.warc.gz  indexes/…  pages/…
//!  ├─ 0 1 2 3 4 ────┤ ├─ 5 6 7 ───────┤                      ordinals
//! ```
//! The archives are read in the order of their names, as one input with consecutive ordinals. They
//! are usually stored without further compression, so a record has an offset in the zip at which
//! reading can begin. A deflated archive can only be read from its beginning, which is the offset
//! of all its records.

mod inflated;
mod zip;

use std::io;
use std::sync::Arc;

use inflated::{EntryDamage, Inflated};

use crate::bytes::{ByteOrigin, ByteSource, FRONT, Handle, Stream, packing_named, packing_of};
use crate::input::Location;
use crate::reader::{RecordReader, following};
use crate::warc::WarcReader;
use crate::warc::header;
use crate::{Cause, Error, Item, Limits, Packing, Place, Skipped, Start};
use zip::{ZipEntry, ZipError};

/// Reads a WACZ file.
pub(crate) struct WaczReader {
    location: Location,
    input: Arc<str>,
    limits: Limits,
    /// The archives that have not been read yet, in reverse order.
    waiting: Vec<ZipEntry>,
    open: Option<OpenArchive>,
    /// Where to continue: in the first waiting archive, or after the open one.
    next: Start,
    bytes_read: u64,
}

/// The archive being read.
struct OpenArchive {
    entry: ZipEntry,
    /// The ordinal of its first record, if it is deflated.
    first: u32,
    records: WarcReader,
    /// Damage to its bytes, if it is deflated.
    damage: Option<EntryDamage>,
}

/// Whether a zip contains WARC files.
pub(crate) fn is_wacz(file: &Handle) -> io::Result<bool> {
    match zip::entries(file, is_archive) {
        Ok(entries) => Ok(!entries.is_empty()),
        Err(ZipError::Io(error)) => Err(error),
        Err(ZipError::Damaged(_)) => Ok(false),
    }
}

fn is_archive(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.starts_with("archive/") && (lower.ends_with(".warc") || lower.ends_with(".warc.gz"))
}

impl WaczReader {
    pub(crate) fn open(
        location: Location,
        input: Arc<str>,
        limits: Limits,
        from: Start,
    ) -> Result<Self, Error> {
        let failed = |error| Error::from_io(&input, error);
        let file = location.handle().map_err(failed)?;
        let mut waiting = match zip::entries(&file, is_archive) {
            Ok(entries) if entries.is_empty() => {
                Err("it does not contain archive/*.warc.gz".into())
            }
            Ok(entries) => Ok(entries),
            Err(ZipError::Io(error)) => return Err(failed(error)),
            Err(ZipError::Damaged(problem)) => Err(problem),
        }
        .map_err(|problem| Error::BadWacz {
            name: input.to_string(),
            problem,
        })?;
        // There is at least a header between two archives, so an offset belongs to only one of
        // them.
        if from.offset > 0 {
            let holds = |entry: &ZipEntry| (entry.begin..=entry.end).contains(&from.offset);
            let at = waiting.iter().position(holds).unwrap_or(waiting.len());
            waiting.drain(..at);
        }
        waiting.reverse();
        Ok(WaczReader {
            location,
            input,
            limits,
            waiting,
            open: None,
            next: from,
            bytes_read: from.offset,
        })
    }

    /// Opens `entry`, at the offset `self.next` if that is in it.
    fn begin(&self, entry: ZipEntry) -> io::Result<OpenArchive> {
        let inside = (entry.begin..=entry.end).contains(&self.next.offset);
        let from = Start {
            offset: if inside {
                self.next.offset
            } else {
                entry.begin
            },
            skip: if inside { self.next.skip } else { 0 },
            ..self.next
        };
        let (mut source, from, damage) = if entry.deflated {
            let packed = self.location.part(entry.begin, entry.end)?;
            let (unpacked, damage) = Inflated::new(packed, entry.crc, &self.limits);
            let source = ByteSource::new(ByteOrigin::Stream(Box::new(unpacked)));
            (source, Start { offset: 0, ..from }, Some(damage))
        } else {
            let mut source = ByteSource::new(self.location.range(entry.end)?);
            source.seek(entry.begin)?;
            (source, from, None)
        };
        source.ensure(FRONT)?;
        let front = source.available();
        let named = packing_named(&entry.name).filter(|_| !header::begins(front));
        let packing = packing_of(front).or(named).unwrap_or(Packing::Plain);
        source.seek(from.offset)?;
        Ok(OpenArchive {
            entry,
            first: from.ordinal.saturating_sub(from.skip),
            damage,
            records: WarcReader::new(
                Stream::new(source, packing).within(&self.limits),
                self.input.clone(),
                self.limits.clone(),
                from,
            ),
        })
    }
}

impl OpenArchive {
    /// Replaces a place in a deflated archive by a place in the zip.
    fn placed(&self, place: &mut Place) {
        if self.entry.deflated {
            *place = place_after(&self.entry, place.ordinal, self.first);
        }
    }

    /// An item for damage to the bytes of the archive, after its last record. It has an ordinal of
    /// its own, so that the following ordinals do not depend on whether it was reported.
    fn damage(&self) -> Option<Item> {
        let (cause, detail) = self.damage.as_ref()?.take()?;
        Some(Item::Skipped(Skipped {
            place: place_after(&self.entry, self.records.ordinal(), self.first),
            cause,
            detail: format!("{}: {detail}", self.entry.name.escape_debug()),
        }))
    }
}

/// The place of an item that can only be reached from the beginning of an entry, whose first record
/// has the ordinal `first`.
fn place_after(entry: &ZipEntry, ordinal: u32, first: u32) -> Place {
    let next = ordinal.saturating_add(1);
    Place {
        ordinal,
        offset: entry.begin,
        length: 0,
        next: Start {
            ordinal: next,
            offset: entry.begin,
            skip: next.saturating_sub(first),
        },
    }
}

impl RecordReader for WaczReader {
    fn next(&mut self) -> Result<Option<Item>, Error> {
        loop {
            if let Some(open) = &mut self.open {
                if let Some(mut item) = open.records.next()? {
                    if !open.entry.deflated {
                        self.bytes_read = open.records.bytes_read();
                    }
                    open.placed(item.place_mut());
                    self.next.ordinal = item.place().next.ordinal;
                    return Ok(Some(item));
                }
                self.bytes_read = open.entry.end;
                let damage = open.damage();
                self.open = None;
                // The next archive is read from its beginning.
                self.next.offset = 0;
                self.next.skip = 0;
                if let Some(item) = damage
                    && item.place().ordinal >= self.next.ordinal
                {
                    self.next.ordinal = item.place().next.ordinal;
                    return Ok(Some(item));
                }
            }
            let Some(entry) = self.waiting.pop() else {
                return Ok(None);
            };
            if let Some(problem) = &entry.problem {
                let reported = self.next.offset == entry.begin && self.next.skip > 0;
                self.next.offset = 0;
                self.next.skip = 0;
                if reported {
                    continue;
                }
                let ordinal = self.next.ordinal;
                self.next.ordinal = following(ordinal, &self.input)?;
                return Ok(Some(Item::Skipped(Skipped {
                    place: place_after(&entry, ordinal, ordinal),
                    cause: Cause::BadEntry,
                    detail: format!("{}: {problem}", entry.name.escape_debug()),
                })));
            }
            let open = self
                .begin(entry)
                .map_err(|error| Error::from_io(&self.input, error))?;
            self.open = Some(open);
        }
    }

    fn bytes_read(&self) -> u64 {
        self.bytes_read
    }
}
