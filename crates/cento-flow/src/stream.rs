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
use std::rc::Rc;
use std::sync::Arc;

use crate::budget::{Lease, Shares};
use crate::error::{Error, Result};
use crate::merge::{Merger, SortedRuns};
use crate::registry::RowSource;
use crate::row::{Row, RowShape, order};
use crate::sink::{Emitter, Placement, RunResources, TaskSink};
use crate::sort::{Partitioner, gather_sorted};
use crate::spill::{FileRange, TaskFile};

/// The maximum number of bytes that are sorted at once, even if more fit in memory: a larger sort
/// could not be cancelled within a second.
const LARGEST_SORT: u64 = 512 << 20;
/// The name of the port for a partition that is cut into ranges.
const CUT: &str = "cut";

/// Some rows of a partition, in no particular order.
pub(crate) enum RowPiece<'a> {
    Memory(&'a [u8]),
    File(Arc<TaskFile>, FileRange),
}

/// The unsorted rows of a range of keys.
struct KeyRange<'a> {
    pieces: Vec<RowPiece<'a>>,
    /// How the range can be cut; `None` if it cannot be cut further.
    range: Option<Partitioner>,
    /// Whether the range was cut out of another and still has most of its rows.
    crowded: bool,
}

impl KeyRange<'_> {
    /// Returns the bytes of the rows in memory and in files.
    fn bytes(&self) -> (u64, u64) {
        self.pieces
            .iter()
            .fold((0, 0), |(memory, files), piece| match piece {
                RowPiece::Memory(rows) => (memory + rows.len() as u64, files),
                RowPiece::File(_, range) => (memory, files + range.bytes),
            })
    }

    /// Calls `each` with all rows, a buffer at a time.
    fn read(&self, buffer: &mut [u8], each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for piece in &self.pieces {
            match piece {
                RowPiece::Memory(rows) => {
                    for some in rows.chunks(buffer.len().max(1)) {
                        // The buffer is aligned for the type of the rows.
                        let copy = buffer.get_mut(..some.len()).unwrap_or_default();
                        copy.copy_from_slice(some);
                        each(copy)?;
                    }
                }
                RowPiece::File(file, range) => file.read_pieces(range, buffer, &mut *each)?,
            }
        }
        Ok(())
    }
}

/// What to do with the next rows.
enum Next<'a> {
    Sort(KeyRange<'a>),
    Cut(KeyRange<'a>, Partitioner),
    Merge(KeyRange<'a>),
    End,
}

/// The rows of a partition that are not sorted yet. It is the same for all types of rows.
struct Unsorted<'a> {
    resources: &'a RunResources,
    /// In descending order.
    ranges: Vec<KeyRange<'a>>,
    /// The memory of the range that is being read.
    lease: Option<Lease>,
}

impl<'a> Unsorted<'a> {
    /// Takes the next range, and decides how it is sorted.
    fn next(&mut self) -> Next<'a> {
        self.lease = None;
        while let Some(key_range) = self.ranges.pop() {
            let (memory, files) = key_range.bytes();
            let bytes = memory + files;
            if bytes == 0 {
                continue;
            }
            // Rows in files are loaded and then scattered to a second buffer; rows in memory are
            // scattered directly.
            let needed = bytes + files;
            if bytes <= LARGEST_SORT && self.lease_memory(needed) {
                return Next::Sort(key_range);
            }
            return match key_range.range {
                Some(range) if !key_range.crowded => Next::Cut(key_range, range),
                _ => Next::Merge(key_range),
            };
        }
        Next::End
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

    /// Bytes of a buffer for reading: a quarter of the share for sorting, at most 1 MiB.
    fn buffer(&self) -> usize {
        (self.resources.shares.sort / 4).min(1 << 20) as usize
    }

    /// Returns how to cut a range, and where to write its parts.
    fn begin_cut(
        &self,
        key_range: &KeyRange<'a>,
        range: Partitioner,
    ) -> (Partitioner, Rc<TaskSink>) {
        let shares = self.resources.shares;
        let (memory, files) = key_range.bytes();
        let count = ((memory + files) * 4 / shares.sort.max(1)).clamp(2, 256) as u32;
        let resources = RunResources {
            shares: Shares {
                chunk: (shares.sort / 16) as usize,
                task: shares.sort / 2,
                sort: shares.sort,
            },
            folder: self.resources.scratch_folder(),
            ..self.resources.clone()
        };
        (range.cut_into(count), TaskSink::new(&resources, None))
    }

    /// Adds the parts of a range that was cut.
    fn end_cut(&mut self, sink: &TaskSink, range: Partitioner) -> Result<()> {
        let output = sink.finish(Default::default(), Placement::UnnamedFile)?;
        let file = output
            .file
            .ok_or_else(|| Error::InvalidFlow("a partition that was cut has no file".to_owned()))?;
        let total: u64 = output.ports.values().map(|port| port.bytes).sum();
        for partition in (0..range.partitions()).rev() {
            let ranges = file.ranges(CUT, partition as usize)?;
            let bytes: u64 = ranges.iter().map(|range| range.bytes).sum();
            self.ranges.push(KeyRange {
                pieces: ranges
                    .into_iter()
                    .map(|range| RowPiece::File(Arc::clone(&file), range))
                    .collect(),
                range: range.within(partition, 1),
                crowded: bytes > total / 2,
            });
        }
        Ok(())
    }
}

/// Sorts the rows of a partition, and returns them in batches.
pub(crate) struct SortedStream<'a, R: Row> {
    unsorted: Unsorted<'a>,
    merger: Option<Merger>,
    batch: Vec<R>,
    /// Rows that were dropped before they were sorted ([`Row::ONLY_REPEATED`]).
    dropped: u64,
}

impl<'a, R: Row> SortedStream<'a, R> {
    pub(crate) fn new(
        resources: &'a RunResources,
        pieces: Vec<RowPiece<'a>>,
        range: Option<Partitioner>,
    ) -> SortedStream<'a, R> {
        let all = KeyRange {
            pieces,
            range,
            crowded: false,
        };
        SortedStream {
            unsorted: Unsorted {
                resources,
                ranges: vec![all],
                lease: None,
            },
            merger: None,
            batch: Vec::new(),
            dropped: 0,
        }
    }

    /// The number of rows that were dropped before they were sorted.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The current batch, as loaded by [`SortedStream::advance`].
    #[inline(always)]
    pub(crate) fn batch(&self) -> &[R] {
        &self.batch
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.unsorted.resources.progress.check()
    }

    /// Loads the next batch. Returns false if there are no more rows.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.check()?;
        loop {
            if let Some(merger) = &mut self.merger {
                self.batch.resize(merger.rows(), R::zeroed());
                let rows = merger.fill(bytemuck::cast_slice_mut(&mut self.batch))?;
                self.batch.truncate(rows);
                if rows > 0 {
                    return Ok(true);
                }
                self.merger = None;
            }
            self.batch = Vec::new();
            match self.unsorted.next() {
                Next::Sort(key_range) => {
                    self.batch = self.sort(key_range)?;
                    if !self.batch.is_empty() {
                        return Ok(true);
                    }
                }
                Next::Cut(key_range, range) => self.cut(&key_range, range)?,
                Next::Merge(key_range) => self.merger = Some(self.merge(&key_range)?),
                Next::End => return Ok(false),
            }
        }
    }

    fn sort(&mut self, key_range: KeyRange<'a>) -> Result<Vec<R>> {
        let mut loaded: Vec<Cow<'a, [R]>> = Vec::with_capacity(key_range.pieces.len());
        for piece in key_range.pieces {
            match piece {
                RowPiece::Memory(bytes) => loaded.push(as_rows(bytes)),
                RowPiece::File(file, range) => {
                    let mut rows = vec![R::zeroed(); range.bytes as usize / size_of::<R>()];
                    file.read(&range, bytemuck::cast_slice_mut(&mut rows))?;
                    loaded.push(rows.into());
                }
            }
        }
        let pieces: Vec<&[R]> = loaded.iter().map(AsRef::as_ref).collect();
        let rows: usize = pieces.iter().map(|piece| piece.len()).sum();
        let resources = self.unsorted.resources;
        let progress = &resources.progress;
        // As loaded from files, as filtered, and as sorted; and the filter.
        let has_room = (rows * size_of::<R>()) as u64 <= resources.shares.sort / 4;
        let sorted = gather_sorted(&pieces, key_range.range, has_room, &|| {
            !progress.is_stopped()
        });
        let sorted = sorted.ok_or(Error::Cancelled)?;
        self.dropped += (rows - sorted.len()) as u64;
        Ok(sorted)
    }

    /// Returns a buffer for reading.
    fn buffer(&self) -> Vec<R> {
        vec![R::zeroed(); (self.unsorted.buffer() / size_of::<R>()).max(1)]
    }

    /// Cuts a range into smaller ranges, which are written to disk.
    fn cut(&mut self, key_range: &KeyRange<'a>, range: Partitioner) -> Result<()> {
        let (range, sink) = self.unsorted.begin_cut(key_range, range);
        let mut emitter = Emitter::<R>::new(CUT, Rc::clone(&sink), range)?;
        let mut buffer = self.buffer();
        key_range.read(bytemuck::cast_slice_mut(&mut buffer), &mut |bytes| {
            emitter.extend(as_rows(bytes).iter().copied())
        })?;
        emitter.flush()?;
        self.unsorted.end_cut(&sink, range)
    }

    /// Writes the rows of a range to disk as sorted runs, and merges them.
    fn merge(&self, key_range: &KeyRange<'a>) -> Result<Merger> {
        let resources = self.unsorted.resources;
        let mut runs = SortedRuns::create(RowShape::of::<R>(), resources)?;
        let capacity = (resources.shares.sort / 2) as usize / size_of::<R>();
        let mut run: Vec<R> = Vec::with_capacity(capacity.max(1));
        let mut buffer = self.buffer();
        key_range.read(bytemuck::cast_slice_mut(&mut buffer), &mut |bytes| {
            for row in as_rows(bytes).iter() {
                run.push(*row);
                if run.len() == run.capacity() {
                    run.sort_unstable_by(order);
                    runs.add(bytemuck::cast_slice(&run), resources)?;
                    run.clear();
                }
            }
            Ok(())
        })?;
        if !run.is_empty() {
            run.sort_unstable_by(order);
            runs.add(bytemuck::cast_slice(&run), resources)?;
        }
        drop((run, buffer));
        runs.merge(resources)
    }
}

/// Returns bytes as rows, without a copy if they are aligned.
fn as_rows<R: Row>(bytes: &[u8]) -> Cow<'_, [R]> {
    match bytemuck::try_cast_slice(bytes) {
        Ok(rows) => Cow::Borrowed(rows),
        Err(_) => Cow::Owned(bytemuck::allocation::pod_collect_to_vec(bytes)),
    }
}

/// Returns the rows of `width` bytes of one partition of a shuffle.
pub(crate) fn pieces_of<'a>(
    source: RowSource<'a>,
    shuffle: &str,
    width: usize,
    partition: usize,
) -> Result<Vec<RowPiece<'a>>> {
    let mut pieces = Vec::new();
    match source {
        RowSource::Tasks(contributions) => {
            for contribution in contributions {
                let port = &contribution.port;
                let shape = port.check_shape(shuffle, width, port.partitions);
                if let (Some(file), false) = (&contribution.file, contribution.in_memory) {
                    shape.map_err(|error| file.corrupted(&error.to_string()))?;
                    for range in file.ranges(shuffle, partition)? {
                        pieces.push(RowPiece::File(Arc::clone(file), range));
                    }
                    continue;
                }
                shape?;
                let chunks = port.chunks.iter().map(|chunk| chunk.partition(partition));
                for bytes in chunks.filter(|bytes| !bytes.is_empty()) {
                    pieces.push(RowPiece::Memory(whole_rows(shuffle, width, bytes)?));
                }
            }
        }
        RowSource::Buffers(buffers) => {
            for bytes in buffers {
                pieces.push(RowPiece::Memory(whole_rows(shuffle, width, bytes)?));
            }
        }
    }
    Ok(pieces)
}

/// Fails if the bytes are not a whole number of rows.
fn whole_rows<'a>(name: &str, width: usize, bytes: &'a [u8]) -> Result<&'a [u8]> {
    if bytes.len().is_multiple_of(width) {
        return Ok(bytes);
    }
    Err(Error::TypeMismatch {
        name: name.to_owned(),
        found: format!("{} bytes", bytes.len()),
        expected: format!("rows of {width} bytes"),
    })
}
