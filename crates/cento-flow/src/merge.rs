//! External merge sort, for rows that neither fit in memory nor can be cut by key.
//!
//! It is seldom needed, so it is compiled once for all types of rows: rows are bytes, compared
//! through a function pointer.

use std::cmp::Ordering;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::row::RowShape;
use crate::sink::RunResources;

/// Bytes of the header of a block: its checksum and its number of rows.
const HEADER: usize = 16;
/// The size of a block in bytes, if memory allows. With smaller blocks most time is spent waiting
/// for the disk.
const BLOCK: u64 = 16 << 10;

/// Sorted runs in one unnamed file.
pub(crate) struct SortedRuns {
    file: File,
    path: PathBuf,
    at: u64,
    runs: Vec<SortedRun>,
    shape: RowShape,
    /// Bytes of a block, a multiple of the width of a row.
    block: usize,
}

#[derive(Clone, Copy)]
struct SortedRun {
    at: u64,
    bytes: u64,
}

impl SortedRuns {
    pub(crate) fn create(shape: RowShape, resources: &RunResources) -> Result<SortedRuns> {
        let folder = resources.scratch_folder();
        let path = folder.join("scratch");
        let file = tempfile::tempfile_in(&folder).map_err(|error| Error::io(&path, error))?;
        let rows = (resources.shares.sort / 16).min(BLOCK) as usize / shape.width;
        Ok(SortedRuns {
            file,
            path,
            at: 0,
            runs: Vec::new(),
            shape,
            block: rows.max(1) * shape.width,
        })
    }

    /// Adds sorted rows as a run.
    pub(crate) fn add(&mut self, rows: &[u8], resources: &RunResources) -> Result<()> {
        let start = self.at;
        for block in rows.chunks(self.block) {
            resources.progress.check()?;
            self.put(block)?;
        }
        resources.progress.add_spilled(self.at - start);
        self.runs.push(SortedRun {
            at: start,
            bytes: rows.len() as u64,
        });
        Ok(())
    }

    fn put(&mut self, block: &[u8]) -> Result<()> {
        let mut header = [0; HEADER];
        let (check, rows) = header.split_at_mut(8);
        check.copy_from_slice(&xxh3_64(block).to_le_bytes());
        rows.copy_from_slice(&((block.len() / self.shape.width) as u64).to_le_bytes());
        let failed = |error| Error::io(&self.path, error);
        self.file.write_all(&header).map_err(failed)?;
        self.file.write_all(block).map_err(failed)?;
        self.at += (HEADER + block.len()) as u64;
        Ok(())
    }

    /// Merges runs into longer ones until all of them can be read at once, and returns a stream of
    /// the merged rows.
    pub(crate) fn merge(mut self, resources: &RunResources) -> Result<Merger> {
        let ways = (resources.shares.sort / 2 / self.block.max(1) as u64).clamp(2, 512) as usize;
        while self.runs.len() > ways {
            let mut longer = SortedRuns::create(self.shape, resources)?;
            let mut block = vec![0; self.block];
            for some in self.runs.chunks(ways) {
                let start = longer.at;
                let mut merged = RunReaders::open(&self, some)?;
                let mut bytes = 0;
                loop {
                    let filled = merged.fill(&self, &mut block)?;
                    let rows = block.get(..filled).unwrap_or_default();
                    if rows.is_empty() {
                        break;
                    }
                    resources.progress.check()?;
                    bytes += filled as u64;
                    longer.put(rows)?;
                }
                resources.progress.add_spilled(longer.at - start);
                longer.runs.push(SortedRun { at: start, bytes });
            }
            self = longer;
        }
        let readers = RunReaders::open(&self, &self.runs)?;
        Ok(Merger {
            runs: self,
            readers,
        })
    }

    /// Reads a block, and returns its length in the file.
    fn read_block(&self, at: u64, block: &mut Vec<u8>) -> Result<u64> {
        let short = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Error::corrupted(&self.path, "it is truncated"),
            _ => Error::io(&self.path, error),
        };
        let mut header = [0; HEADER];
        self.file.read_exact_at(&mut header, at).map_err(short)?;
        let (check, rows) = header.split_at(8);
        let rows = u64::from_le_bytes(rows.try_into().unwrap_or_default());
        let bytes = rows.saturating_mul(self.shape.width as u64);
        if bytes > self.block as u64 {
            return Err(Error::corrupted(&self.path, "a block is too long"));
        }
        block.clear();
        block.resize(bytes as usize, 0);
        self.file
            .read_exact_at(block, at + HEADER as u64)
            .map_err(short)?;
        if xxh3_64(block).to_le_bytes() != check {
            return Err(Error::corrupted(
                &self.path,
                "the checksum of a block does not match",
            ));
        }
        Ok(HEADER as u64 + bytes)
    }
}

/// Streams the merged rows of all runs of a file.
pub(crate) struct Merger {
    runs: SortedRuns,
    readers: RunReaders,
}

impl Merger {
    /// The number of rows that are read at once.
    pub(crate) fn rows(&self) -> usize {
        self.runs.block / self.runs.shape.width
    }

    /// Writes the next rows to `batch`, and returns how many they are: 0 after the last row.
    pub(crate) fn fill(&mut self, batch: &mut [u8]) -> Result<usize> {
        let filled = self.readers.fill(&self.runs, batch)?;
        Ok(filled / self.runs.shape.width)
    }
}

/// Readers of some runs, and those with rows left as a heap: the one with the smallest row first.
struct RunReaders {
    readers: Vec<RunReader>,
    heap: Vec<usize>,
}

struct RunReader {
    at: u64,
    /// Bytes of rows after the current block.
    left: u64,
    block: Vec<u8>,
    position: usize,
}

impl RunReaders {
    fn open(file: &SortedRuns, runs: &[SortedRun]) -> Result<RunReaders> {
        let mut readers = RunReaders {
            readers: Vec::with_capacity(runs.len()),
            heap: Vec::with_capacity(runs.len()),
        };
        for (number, run) in runs.iter().enumerate() {
            let mut reader = RunReader {
                at: run.at,
                left: run.bytes,
                block: Vec::new(),
                position: 0,
            };
            if reader.load(file)? {
                readers.heap.push(number);
            }
            readers.readers.push(reader);
        }
        for place in (0..readers.heap.len()).rev() {
            readers.sift_down(&file.shape, place);
        }
        Ok(readers)
    }

    /// Writes as many rows as fit, and returns the number of bytes written.
    fn fill(&mut self, file: &SortedRuns, batch: &mut [u8]) -> Result<usize> {
        let width = file.shape.width;
        let mut filled = 0;
        for slot in batch.chunks_exact_mut(width) {
            let Some(&first) = self.heap.first() else {
                break;
            };
            let Some(reader) = self.readers.get_mut(first) else {
                break;
            };
            slot.copy_from_slice(reader.row(width));
            filled += width;
            reader.position += width;
            if !reader.load(file)? {
                self.heap.swap_remove(0);
            }
            self.sift_down(&file.shape, 0);
        }
        Ok(filled)
    }

    /// Moves a reader down until no child has a smaller row.
    fn sift_down(&mut self, shape: &RowShape, mut place: usize) {
        loop {
            let mut smallest = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.heap.len() && self.compare(shape, child, smallest).is_lt() {
                    smallest = child;
                }
            }
            if smallest == place {
                return;
            }
            self.heap.swap(place, smallest);
            place = smallest;
        }
    }

    /// Compares the rows of two readers of the heap; equal rows are read in the order of the runs.
    fn compare(&self, shape: &RowShape, left: usize, right: usize) -> Ordering {
        let row = |place: usize| {
            let number = self.heap.get(place).copied().unwrap_or_default();
            let reader = self.readers.get(number);
            (
                reader.map_or(&[][..], |reader| reader.row(shape.width)),
                number,
            )
        };
        let ((left, left_run), (right, right_run)) = (row(left), row(right));
        (shape.order)(left, right).then(left_run.cmp(&right_run))
    }
}

impl RunReader {
    /// The current row.
    fn row(&self, width: usize) -> &[u8] {
        self.block
            .get(self.position..self.position + width)
            .unwrap_or_default()
    }

    /// Reads the next block if the current one is used up. Returns false if there is none.
    fn load(&mut self, file: &SortedRuns) -> Result<bool> {
        if self.position < self.block.len() {
            return Ok(true);
        }
        if self.left == 0 {
            return Ok(false);
        }
        self.at += file.read_block(self.at, &mut self.block)?;
        self.left = self.left.saturating_sub(self.block.len() as u64);
        self.position = 0;
        Ok(!self.block.is_empty())
    }
}
