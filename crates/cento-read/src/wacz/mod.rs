//! WACZ: a zip of WARC files, with indexes and lists of pages beside them that are of no use here.
//!
//! ```text
//!  archive/a.warc.gz  archive/b.warc.gz  indexes/…  pages/…
//!  ├─ 0 1 2 3 4 ────┤ ├─ 5 6 7 ───────┤                      ordinals
//! ```
//! The archives are read in the order of their names, as one input whose ordinals run on from one
//! to the next. They are normally stored as they are, so that a record has its place in the zip and
//! reading can begin there. One that was deflated once more can only be read from its front, and
//! the place of its records is where it begins.

mod inflated;
mod zip;

use std::io;
use std::sync::Arc;

use inflated::{Damage, Inflated};

use crate::bytes::{FRONT, Handle, Origin, Source, Stream, packing_named, packing_of};
use crate::input::Location;
use crate::reader::{Records, following};
use crate::warc::WarcReader;
use crate::warc::header;
use crate::{Cause, Error, Item, Limits, Packing, Place, Skipped, Start};
use zip::{Entry, Problem};

/// Reads a WACZ file.
pub(crate) struct WaczReader {
    location: Location,
    input: Arc<str>,
    limits: Limits,
    /// What is still to be read, the last first.
    waiting: Vec<Entry>,
    open: Option<Open>,
    /// Where to go on: in the first of the entries that wait, or after what is open.
    next: Start,
    bytes_read: u64,
}

/// The archive that is being read.
struct Open {
    entry: Entry,
    /// The ordinal of its first record, if it is deflated.
    first: u32,
    records: WarcReader,
    /// What was wrong with its bytes, if they are deflated.
    damage: Option<Damage>,
}

/// Whether a zip has archives in it, as far as it can be read.
pub(crate) fn is_wacz(file: &Handle) -> io::Result<bool> {
    match zip::entries(file, is_archive) {
        Ok(entries) => Ok(!entries.is_empty()),
        Err(Problem::Io(error)) => Err(error),
        Err(Problem::Damaged(_)) => Ok(false),
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
            Ok(entries) if entries.is_empty() => Err("it has no archive/*.warc.gz in it".into()),
            Ok(entries) => Ok(entries),
            Err(Problem::Io(error)) => return Err(failed(error)),
            Err(Problem::Damaged(problem)) => Err(problem),
        }
        .map_err(|problem| Error::BadWacz {
            name: input.to_string(),
            problem,
        })?;
        // Between the end of one archive and the next there is at least a header, so that a place
        // names one of them.
        if from.offset > 0 {
            let holds = |entry: &Entry| (entry.begin..=entry.end).contains(&from.offset);
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

    /// Begins with `entry`, at the place to go on at if that is in it.
    fn begin(&self, entry: Entry) -> io::Result<Open> {
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
            let source = Source::new(Origin::Stream(Box::new(unpacked)));
            (source, Start { offset: 0, ..from }, Some(damage))
        } else {
            let mut source = Source::new(self.location.range(entry.end)?);
            source.seek(entry.begin)?;
            (source, from, None)
        };
        source.ensure(FRONT)?;
        let front = source.available();
        let named = packing_named(&entry.name).filter(|_| !header::begins(front));
        let packing = packing_of(front).or(named).unwrap_or(Packing::Plain);
        source.seek(from.offset)?;
        Ok(Open {
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

impl Open {
    /// The place in the zip of what has a place in a deflated archive.
    fn placed(&self, place: &mut Place) {
        if self.entry.deflated {
            *place = place_after(&self.entry, place.ordinal, self.first);
        }
    }

    /// Word of damage to the bytes of the archive itself, after its last record. That is a record
    /// as well, so that what comes after it has the same ordinals whether this is told or not.
    fn damage(&self) -> Option<Item> {
        let (cause, detail) = self.damage.as_ref()?.take()?;
        Some(Item::Skipped(Skipped {
            place: place_after(&self.entry, self.records.ordinal(), self.first),
            cause,
            detail: format!("{}: {detail}", self.entry.name.escape_debug()),
        }))
    }
}

/// The place of something that can only be reached from the front of an entry, whose first record
/// has the ordinal `first`.
fn place_after(entry: &Entry, ordinal: u32, first: u32) -> Place {
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

impl Records for WaczReader {
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
                // The next archive begins at its own front.
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
                let told = self.next.offset == entry.begin && self.next.skip > 0;
                self.next.offset = 0;
                self.next.skip = 0;
                if told {
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
