//! The rows of one partition in order, however many there are.
//!
//! ```text
//!   fits in memory?   ──yes─▶ gather and sort                                   ─┐
//!        │no                                                                     │
//!   do its keys differ? ─yes─▶ cut into ranges of keys on disk, each as above ◀──┼─▶ batches of sorted rows ─▶ groups
//!        │no                                                                     │
//!   one key has it all ──────▶ sorted runs on disk, merged as they are read     ─┘
//! ```

use std::borrow::Cow;
use std::sync::Arc;

use crate::budget::{Lease, Shares};
use crate::chunk::Contribution;
use crate::error::{Error, Result};
use crate::merge::{Merger, Runs};
use crate::row::{Row, order};
use crate::sink::{Emitter, Keep, TaskSink, Workshop};
use crate::sort::{Partitioner, gather_sorted};
use crate::spill::{Extent, TaskFile};

/// More than this is not sorted at once, though it may fit: a sort that cannot be interrupted
/// within a second would be too long.
const LARGEST_SORT: u64 = 512 << 20;
/// The name of the port that a partition is cut through.
const CUT: &str = "cut";

/// Some rows of a partition, in no order.
pub(crate) enum Piece<'a, R: Row> {
    Memory(Cow<'a, [R]>),
    File(Arc<TaskFile>, Extent),
}

/// The rows of a range of keys, to be sorted.
struct Part<'a, R: Row> {
    pieces: Vec<Piece<'a, R>>,
    /// How the range can be cut; `None` if all rows have one place.
    range: Option<Partitioner>,
    /// Whether cutting has been tried and most rows stayed together.
    crowded: bool,
}

impl<R: Row> Part<'_, R> {
    /// Bytes of its rows in memory and in files.
    fn bytes(&self) -> (u64, u64) {
        self.pieces
            .iter()
            .fold((0, 0), |(memory, files), piece| match piece {
                Piece::Memory(rows) => (memory + size_of_val(rows.as_ref()) as u64, files),
                Piece::File(_, extent) => (memory, files + extent.bytes),
            })
    }
}

/// Gives the rows of a partition in order, batch by batch.
pub(crate) struct SortedStream<'a, R: Row> {
    workshop: &'a Workshop,
    /// What is still to be sorted; the last one is next.
    parts: Vec<Part<'a, R>>,
    merger: Option<Merger<R>>,
    batch: Vec<R>,
    lease: Option<Lease>,
}

impl<'a, R: Row> SortedStream<'a, R> {
    pub(crate) fn new(
        workshop: &'a Workshop,
        pieces: Vec<Piece<'a, R>>,
        range: Option<Partitioner>,
    ) -> SortedStream<'a, R> {
        SortedStream {
            workshop,
            parts: vec![Part {
                pieces,
                range,
                crowded: false,
            }],
            merger: None,
            batch: Vec::new(),
            lease: None,
        }
    }

    /// The rows that [`SortedStream::advance`] has made ready.
    #[inline(always)]
    pub(crate) fn batch(&self) -> &[R] {
        &self.batch
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.workshop.progress.check()
    }

    /// Makes the next batch ready; false if there are no more rows.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.workshop.progress.check()?;
        loop {
            if let Some(merger) = &mut self.merger {
                if merger.fill(&mut self.batch)? > 0 {
                    return Ok(true);
                }
                self.merger = None;
            }
            self.batch = Vec::new();
            self.lease = None;
            let Some(part) = self.parts.pop() else {
                return Ok(false);
            };
            let (memory, files) = part.bytes();
            let bytes = memory + files;
            if bytes == 0 {
                continue;
            }
            // What is on disk is loaded and then scattered; what is in memory is scattered from
            // where it is.
            let needed = bytes + files;
            if bytes <= LARGEST_SORT && self.make_room(needed) {
                self.batch = self.sort(part)?;
                return Ok(true);
            }
            match part.range {
                Some(range) if !part.crowded => self.cut(&part, range, bytes)?,
                _ => self.merger = Some(self.merge(&part)?),
            }
        }
    }

    fn make_room(&mut self, bytes: u64) -> bool {
        if bytes <= self.workshop.shares.sort {
            return true;
        }
        self.lease = self
            .workshop
            .budget
            .try_take(bytes - self.workshop.shares.sort);
        self.lease.is_some()
    }

    fn sort(&self, part: Part<'a, R>) -> Result<Vec<R>> {
        let mut loaded: Vec<Cow<'a, [R]>> = Vec::with_capacity(part.pieces.len());
        for piece in part.pieces {
            match piece {
                Piece::Memory(rows) => loaded.push(rows),
                Piece::File(file, extent) => {
                    let mut rows = vec![R::zeroed(); extent.bytes as usize / size_of::<R>()];
                    file.read(&extent, bytemuck::cast_slice_mut(&mut rows))?;
                    loaded.push(rows.into());
                }
            }
        }
        let pieces: Vec<&[R]> = loaded.iter().map(AsRef::as_ref).collect();
        let progress = &self.workshop.progress;
        gather_sorted(&pieces, part.range, &|| !progress.is_stopped()).ok_or(Error::Cancelled)
    }

    /// Calls `each` with all rows of a part, a buffer at a time.
    fn read(
        &self,
        part: &Part<'a, R>,
        buffer: &mut [R],
        each: &mut dyn FnMut(&[R]) -> Result<()>,
    ) -> Result<()> {
        for piece in &part.pieces {
            match piece {
                Piece::Memory(rows) => rows.chunks(buffer.len().max(1)).try_for_each(&mut *each)?,
                Piece::File(file, extent) => file.read_pieces(extent, buffer, &mut *each)?,
            }
        }
        Ok(())
    }

    /// A quarter of the share to sort, as a buffer.
    fn buffer(&self) -> Vec<R> {
        let bytes = (self.workshop.shares.sort / 4).min(1 << 20) as usize;
        vec![R::zeroed(); (bytes / size_of::<R>()).max(1)]
    }

    /// Writes the rows of a range to disk again, ordered by smaller ranges.
    fn cut(&mut self, part: &Part<'a, R>, range: Partitioner, bytes: u64) -> Result<()> {
        let shares = self.workshop.shares;
        let ranges = (bytes * 4 / shares.sort.max(1)).clamp(2, 256) as u32;
        let range = range.cut_into(ranges);
        let workshop = Workshop {
            shares: Shares {
                chunk: (shares.sort / 16) as usize,
                task: shares.sort / 2,
                sort: shares.sort,
            },
            folder: Some(self.workshop.scratch_folder()),
            ..self.workshop.clone()
        };
        let sink = TaskSink::new(&workshop, None);
        let mut emitter = Emitter::new(CUT, sink.clone(), range)?;
        let mut buffer = self.buffer();
        let mut rows = 0;
        self.read(part, &mut buffer, &mut |some| {
            rows += some.len() as u64;
            emitter.extend(some.iter().copied())
        })?;
        emitter.flush()?;
        let output = sink.finish(Default::default(), Keep::Nameless)?;
        let file = output
            .file
            .ok_or_else(|| Error::Unsound("a cut partition has no file".to_owned()))?;
        for partition in (0..ranges).rev() {
            let extents = file.extents(CUT, partition as usize)?;
            let bytes: u64 = extents.iter().map(|extent| extent.bytes).sum();
            self.parts.push(Part {
                pieces: extents
                    .into_iter()
                    .map(|extent| Piece::File(Arc::clone(&file), extent))
                    .collect(),
                range: range.within(partition, 1),
                crowded: bytes / size_of::<R>() as u64 > rows / 2,
            });
        }
        Ok(())
    }

    fn merge(&self, part: &Part<'a, R>) -> Result<Merger<R>> {
        let mut runs = Runs::create(self.workshop)?;
        let capacity = (self.workshop.shares.sort / 2) as usize / size_of::<R>();
        let mut run: Vec<R> = Vec::with_capacity(capacity.max(1));
        let mut buffer = self.buffer();
        let workshop = self.workshop;
        self.read(part, &mut buffer, &mut |mut some| {
            while !some.is_empty() {
                let (now, later) = some.split_at(some.len().min(run.capacity() - run.len()));
                run.extend_from_slice(now);
                some = later;
                if run.len() == run.capacity() {
                    run.sort_unstable_by(order);
                    runs.add(&run, workshop)?;
                    run.clear();
                }
            }
            Ok(())
        })?;
        if !run.is_empty() {
            run.sort_unstable_by(order);
            runs.add(&run, workshop)?;
        }
        drop((run, buffer));
        runs.merge(workshop)
    }
}

/// The pieces of one partition of a shuffle, from the outputs of all tasks that fed it.
pub(crate) fn pieces_of<'a, R: Row>(
    contributions: &'a [Contribution],
    shuffle: &str,
    partition: usize,
) -> Result<Vec<Piece<'a, R>>> {
    let mut pieces = Vec::new();
    for contribution in contributions {
        let port = &contribution.port;
        port.check_like(shuffle, size_of::<R>(), port.partitions)?;
        if let (Some(file), false) = (&contribution.file, contribution.held) {
            for extent in file.extents(shuffle, partition)? {
                pieces.push(Piece::File(Arc::clone(file), extent));
            }
            continue;
        }
        for chunk in &port.chunks {
            let bytes = chunk.piece(partition);
            if !bytes.is_empty() {
                pieces.push(Piece::Memory(rows_of(shuffle, bytes)?));
            }
        }
    }
    Ok(pieces)
}

/// Bytes as rows: where they are, if they lie as rows must lie, else as a copy.
pub(crate) fn rows_of<'a, R: Row>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, [R]>> {
    if !bytes.len().is_multiple_of(size_of::<R>()) {
        return Err(Error::Unlike {
            name: name.to_owned(),
            found: format!("{} bytes", bytes.len()),
            wanted: format!("rows of {} bytes", size_of::<R>()),
        });
    }
    Ok(match bytemuck::try_cast_slice(bytes) {
        Ok(rows) => Cow::Borrowed(rows),
        Err(_) => Cow::Owned(bytemuck::allocation::pod_collect_to_vec(bytes)),
    })
}
