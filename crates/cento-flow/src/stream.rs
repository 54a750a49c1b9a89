//! The sorted rows of one partition of any size.
//!
//! ```text
//!   fits in memory? ─────yes─▶ gather and sort ───────────────────────────────┐
//!        │no                                                                  ├─▶ batches
//!   do its keys differ? ─yes─▶ cut into ranges of keys on disk, each as above ┤
//!        │no                                                                  │
//!   one key has most rows ───▶ sorted runs on disk, merged while reading ─────┘
//! ```

use std::borrow::Cow;
use std::sync::Arc;

use crate::budget::{Lease, Shares};
use crate::error::{Error, Result};
use crate::merge::{Merger, SortedRuns};
use crate::row::{Row, order};
use crate::sink::{Emitter, Placement, RunResources, TaskSink};
use crate::sort::{Partitioner, gather_sorted};
use crate::spill::{FileRange, TaskFile};
use crate::task_output::Contribution;

/// The maximum number of bytes that are sorted at once, even if more fit in memory: a larger sort
/// could not be cancelled within a second.
const LARGEST_SORT: u64 = 512 << 20;
/// The name of the port for a partition that is cut into ranges.
const CUT: &str = "cut";

/// Some rows of a partition, in no particular order.
pub(crate) enum RowPiece<'a, R: Row> {
    Memory(Cow<'a, [R]>),
    File(Arc<TaskFile>, FileRange),
}

/// The unsorted rows of a range of keys.
struct KeyRange<'a, R: Row> {
    pieces: Vec<RowPiece<'a, R>>,
    /// How the range can be cut; `None` if it cannot be cut further.
    range: Option<Partitioner>,
    /// Whether the range was cut out of another and still has most of its rows.
    crowded: bool,
}

impl<R: Row> KeyRange<'_, R> {
    /// Returns the bytes of the rows in memory and in files.
    fn bytes(&self) -> (u64, u64) {
        self.pieces
            .iter()
            .fold((0, 0), |(memory, files), piece| match piece {
                RowPiece::Memory(rows) => (memory + size_of_val(rows.as_ref()) as u64, files),
                RowPiece::File(_, range) => (memory, files + range.bytes),
            })
    }
}

/// Sorts the rows of a partition, and returns them in batches.
pub(crate) struct SortedStream<'a, R: Row> {
    resources: &'a RunResources,
    /// The ranges that are not sorted yet, in descending order.
    ranges: Vec<KeyRange<'a, R>>,
    merger: Option<Merger<R>>,
    batch: Vec<R>,
    lease: Option<Lease>,
}

impl<'a, R: Row> SortedStream<'a, R> {
    pub(crate) fn new(
        resources: &'a RunResources,
        pieces: Vec<RowPiece<'a, R>>,
        range: Option<Partitioner>,
    ) -> SortedStream<'a, R> {
        SortedStream {
            resources,
            ranges: vec![KeyRange {
                pieces,
                range,
                crowded: false,
            }],
            merger: None,
            batch: Vec::new(),
            lease: None,
        }
    }

    /// The current batch, as loaded by [`SortedStream::advance`].
    #[inline(always)]
    pub(crate) fn batch(&self) -> &[R] {
        &self.batch
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.resources.progress.check()
    }

    /// Loads the next batch. Returns false if there are no more rows.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.resources.progress.check()?;
        loop {
            if let Some(merger) = &mut self.merger {
                if merger.fill(&mut self.batch)? > 0 {
                    return Ok(true);
                }
                self.merger = None;
            }
            self.batch = Vec::new();
            self.lease = None;
            let Some(key_range) = self.ranges.pop() else {
                return Ok(false);
            };
            let (memory, files) = key_range.bytes();
            let bytes = memory + files;
            if bytes == 0 {
                continue;
            }
            // Rows in files are loaded and then scattered to a second buffer; rows in memory are
            // scattered directly.
            let needed = bytes + files;
            if bytes <= LARGEST_SORT && self.lease_memory(needed) {
                self.batch = self.sort(key_range)?;
                return Ok(true);
            }
            match key_range.range {
                Some(range) if !key_range.crowded => self.cut(&key_range, range, bytes)?,
                _ => self.merger = Some(self.merge(&key_range)?),
            }
        }
    }

    fn lease_memory(&mut self, bytes: u64) -> bool {
        if bytes <= self.resources.shares.sort {
            return true;
        }
        self.lease = self
            .resources
            .budget
            .try_take(bytes - self.resources.shares.sort);
        self.lease.is_some()
    }

    fn sort(&self, key_range: KeyRange<'a, R>) -> Result<Vec<R>> {
        let mut loaded: Vec<Cow<'a, [R]>> = Vec::with_capacity(key_range.pieces.len());
        for piece in key_range.pieces {
            match piece {
                RowPiece::Memory(rows) => loaded.push(rows),
                RowPiece::File(file, range) => {
                    let mut rows = vec![R::zeroed(); range.bytes as usize / size_of::<R>()];
                    file.read(&range, bytemuck::cast_slice_mut(&mut rows))?;
                    loaded.push(rows.into());
                }
            }
        }
        let pieces: Vec<&[R]> = loaded.iter().map(AsRef::as_ref).collect();
        let progress = &self.resources.progress;
        gather_sorted(&pieces, key_range.range, &|| !progress.is_stopped()).ok_or(Error::Cancelled)
    }

    /// Calls `each` with all rows of a range, a buffer at a time.
    fn read(
        &self,
        key_range: &KeyRange<'a, R>,
        buffer: &mut [R],
        each: &mut dyn FnMut(&[R]) -> Result<()>,
    ) -> Result<()> {
        for piece in &key_range.pieces {
            match piece {
                RowPiece::Memory(rows) => {
                    rows.chunks(buffer.len().max(1)).try_for_each(&mut *each)?;
                }
                RowPiece::File(file, range) => file.read_pieces(range, buffer, &mut *each)?,
            }
        }
        Ok(())
    }

    /// Returns a buffer of a quarter of the share for sorting, at most 1 MiB.
    fn buffer(&self) -> Vec<R> {
        let bytes = (self.resources.shares.sort / 4).min(1 << 20) as usize;
        vec![R::zeroed(); (bytes / size_of::<R>()).max(1)]
    }

    /// Cuts a range into smaller ranges, which are written to disk.
    fn cut(&mut self, key_range: &KeyRange<'a, R>, range: Partitioner, bytes: u64) -> Result<()> {
        let shares = self.resources.shares;
        let count = (bytes * 4 / shares.sort.max(1)).clamp(2, 256) as u32;
        let range = range.cut_into(count);
        let resources = RunResources {
            shares: Shares {
                chunk: (shares.sort / 16) as usize,
                task: shares.sort / 2,
                sort: shares.sort,
            },
            folder: self.resources.scratch_folder(),
            ..self.resources.clone()
        };
        let sink = TaskSink::new(&resources, None);
        let mut emitter = Emitter::new(CUT, sink.clone(), range)?;
        let mut buffer = self.buffer();
        let mut rows = 0;
        self.read(key_range, &mut buffer, &mut |some| {
            rows += some.len() as u64;
            emitter.extend(some.iter().copied())
        })?;
        emitter.flush()?;
        let output = sink.finish(Default::default(), Placement::UnnamedFile)?;
        let file = output
            .file
            .ok_or_else(|| Error::InvalidFlow("a partition that was cut has no file".to_owned()))?;
        for partition in (0..count).rev() {
            let ranges = file.ranges(CUT, partition as usize)?;
            let bytes: u64 = ranges.iter().map(|range| range.bytes).sum();
            self.ranges.push(KeyRange {
                pieces: ranges
                    .into_iter()
                    .map(|range| RowPiece::File(Arc::clone(&file), range))
                    .collect(),
                range: range.within(partition, 1),
                crowded: bytes / size_of::<R>() as u64 > rows / 2,
            });
        }
        Ok(())
    }

    /// Writes the rows of a range to disk as sorted runs, and merges them.
    fn merge(&self, key_range: &KeyRange<'a, R>) -> Result<Merger<R>> {
        let mut runs = SortedRuns::create(self.resources)?;
        let capacity = (self.resources.shares.sort / 2) as usize / size_of::<R>();
        let mut run: Vec<R> = Vec::with_capacity(capacity.max(1));
        let mut buffer = self.buffer();
        let resources = self.resources;
        self.read(key_range, &mut buffer, &mut |mut some| {
            while !some.is_empty() {
                let (now, later) = some.split_at(some.len().min(run.capacity() - run.len()));
                run.extend_from_slice(now);
                some = later;
                if run.len() == run.capacity() {
                    run.sort_unstable_by(order);
                    runs.add(&run, resources)?;
                    run.clear();
                }
            }
            Ok(())
        })?;
        if !run.is_empty() {
            run.sort_unstable_by(order);
            runs.add(&run, resources)?;
        }
        drop((run, buffer));
        runs.merge(resources)
    }
}

/// Returns the pieces of one partition of a shuffle from the outputs of all tasks.
pub(crate) fn pieces_of<'a, R: Row>(
    contributions: &'a [Contribution],
    shuffle: &str,
    partition: usize,
) -> Result<Vec<RowPiece<'a, R>>> {
    let mut pieces = Vec::new();
    for contribution in contributions {
        let port = &contribution.port;
        let shape = port.check_shape(shuffle, size_of::<R>(), port.partitions);
        if let (Some(file), false) = (&contribution.file, contribution.in_memory) {
            shape.map_err(|error| file.corrupted(&error.to_string()))?;
            for range in file.ranges(shuffle, partition)? {
                pieces.push(RowPiece::File(Arc::clone(file), range));
            }
            continue;
        }
        shape?;
        for chunk in &port.chunks {
            let bytes = chunk.partition(partition);
            if !bytes.is_empty() {
                pieces.push(RowPiece::Memory(rows_of(shuffle, bytes)?));
            }
        }
    }
    Ok(pieces)
}

/// Returns bytes as rows, without a copy if they are aligned.
pub(crate) fn rows_of<'a, R: Row>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, [R]>> {
    if !bytes.len().is_multiple_of(size_of::<R>()) {
        return Err(Error::TypeMismatch {
            name: name.to_owned(),
            found: format!("{} bytes", bytes.len()),
            expected: format!("rows of {} bytes", size_of::<R>()),
        });
    }
    Ok(match bytemuck::try_cast_slice(bytes) {
        Ok(rows) => Cow::Borrowed(rows),
        Err(_) => Cow::Owned(bytemuck::allocation::pod_collect_to_vec(bytes)),
    })
}
