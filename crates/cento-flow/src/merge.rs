//! External merge sort, for rows that neither fit in memory nor can be cut by key.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::row::{Row, order};
use crate::sink::RunResources;

/// Bytes of the header of a block: its checksum and its number of rows.
const HEADER: usize = 16;
/// The size of a block in bytes, if memory allows. With smaller blocks most time is spent waiting
/// for the disk.
const BLOCK: u64 = 16 << 10;

/// Sorted runs in one unnamed file.
pub(crate) struct SortedRuns<R> {
    file: File,
    path: PathBuf,
    at: u64,
    runs: Vec<SortedRun>,
    block: usize,
    row: std::marker::PhantomData<R>,
}

#[derive(Clone, Copy)]
struct SortedRun {
    at: u64,
    rows: u64,
}

impl<R: Row> SortedRuns<R> {
    pub(crate) fn create(resources: &RunResources) -> Result<SortedRuns<R>> {
        let folder = resources.scratch_folder();
        let path = folder.join("scratch");
        let file = tempfile::tempfile_in(&folder).map_err(|error| Error::io(&path, error))?;
        let block = (resources.shares.sort / 16).min(BLOCK) as usize / size_of::<R>();
        Ok(SortedRuns {
            file,
            path,
            at: 0,
            runs: Vec::new(),
            block: block.max(1),
            row: std::marker::PhantomData,
        })
    }

    /// Adds sorted rows as a run.
    pub(crate) fn add(&mut self, rows: &[R], resources: &RunResources) -> Result<()> {
        let start = self.at;
        for block in rows.chunks(self.block) {
            resources.progress.check()?;
            self.put(block)?;
        }
        resources.progress.add_spilled(self.at - start);
        self.runs.push(SortedRun {
            at: start,
            rows: rows.len() as u64,
        });
        Ok(())
    }

    fn put(&mut self, block: &[R]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(block);
        let mut header = [0; HEADER];
        let (check, rows) = header.split_at_mut(8);
        check.copy_from_slice(&xxh3_64(bytes).to_le_bytes());
        rows.copy_from_slice(&(block.len() as u64).to_le_bytes());
        let failed = |error| Error::io(&self.path, error);
        self.file.write_all(&header).map_err(failed)?;
        self.file.write_all(bytes).map_err(failed)?;
        self.at += (HEADER + bytes.len()) as u64;
        Ok(())
    }

    /// Merges runs into longer ones until all of them can be read at once, and returns a stream of
    /// the merged rows.
    pub(crate) fn merge(mut self, resources: &RunResources) -> Result<Merger<R>> {
        let block_bytes = (self.block * size_of::<R>()) as u64;
        let ways = (resources.shares.sort / 2 / block_bytes.max(1)).clamp(2, 512) as usize;
        while self.runs.len() > ways {
            let mut longer = SortedRuns::<R>::create(resources)?;
            for some in self.runs.chunks(ways) {
                let start = longer.at;
                let mut merged = RunReaders::open(&self, some)?;
                let mut block = Vec::with_capacity(self.block);
                let mut rows = 0;
                while merged.fill(&self, &mut block, self.block)? > 0 {
                    resources.progress.check()?;
                    rows += block.len() as u64;
                    longer.put(&block)?;
                }
                resources.progress.add_spilled(longer.at - start);
                longer.runs.push(SortedRun { at: start, rows });
            }
            self = longer;
        }
        let readers = RunReaders::open(&self, &self.runs)?;
        Ok(Merger {
            runs: self,
            readers,
        })
    }

    fn read_block(&self, at: u64, block: &mut Vec<R>) -> Result<u64> {
        let short = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Error::corrupted(&self.path, "it is truncated"),
            _ => Error::io(&self.path, error),
        };
        let mut header = [0; HEADER];
        self.file.read_exact_at(&mut header, at).map_err(short)?;
        let (check, rows) = header.split_at(8);
        let rows = u64::from_le_bytes(rows.try_into().unwrap_or_default());
        if rows > self.block as u64 {
            return Err(Error::corrupted(&self.path, "a block is too long"));
        }
        block.clear();
        block.resize(rows as usize, R::zeroed());
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(block);
        self.file
            .read_exact_at(bytes, at + HEADER as u64)
            .map_err(short)?;
        if xxh3_64(bytes).to_le_bytes() != check {
            return Err(Error::corrupted(
                &self.path,
                "the checksum of a block does not match",
            ));
        }
        Ok((HEADER + bytes.len()) as u64)
    }
}

/// Streams the merged rows of all runs of a file.
pub(crate) struct Merger<R> {
    runs: SortedRuns<R>,
    readers: RunReaders<R>,
}

impl<R: Row> Merger<R> {
    /// Replaces the contents of `batch` with the next rows. It is empty after the last row.
    pub(crate) fn fill(&mut self, batch: &mut Vec<R>) -> Result<usize> {
        let rows = self.runs.block;
        self.readers.fill(&self.runs, batch, rows)
    }
}

struct RunReaders<R> {
    readers: Vec<RunReader<R>>,
    heap: BinaryHeap<HeapEntry<R>>,
}

struct RunReader<R> {
    at: u64,
    left: u64,
    block: Vec<R>,
    position: usize,
}

/// The next row of a reader. The order is reversed, so that the smallest row is on top.
struct HeapEntry<R> {
    row: R,
    reader: usize,
}

impl<R: Row> Ord for HeapEntry<R> {
    fn cmp(&self, other: &Self) -> Ordering {
        order(&other.row, &self.row).then(other.reader.cmp(&self.reader))
    }
}

impl<R: Row> PartialOrd for HeapEntry<R> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<R: Row> PartialEq for HeapEntry<R> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<R: Row> Eq for HeapEntry<R> {}

impl<R: Row> RunReaders<R> {
    fn open(file: &SortedRuns<R>, runs: &[SortedRun]) -> Result<RunReaders<R>> {
        let mut readers = RunReaders {
            readers: Vec::with_capacity(runs.len()),
            heap: BinaryHeap::with_capacity(runs.len()),
        };
        for run in runs {
            let mut reader = RunReader {
                at: run.at,
                left: run.rows,
                block: Vec::new(),
                position: 0,
            };
            if let Some(row) = reader.next(file)? {
                let reader = readers.readers.len();
                readers.heap.push(HeapEntry { row, reader });
            }
            readers.readers.push(reader);
        }
        Ok(readers)
    }

    fn fill(&mut self, file: &SortedRuns<R>, batch: &mut Vec<R>, rows: usize) -> Result<usize> {
        batch.clear();
        while batch.len() < rows
            && let Some(mut head) = self.heap.peek_mut()
        {
            batch.push(head.row);
            let next = match self.readers.get_mut(head.reader) {
                Some(reader) => reader.next(file)?,
                None => None,
            };
            match next {
                Some(row) => head.row = row,
                None => drop(std::collections::binary_heap::PeekMut::pop(head)),
            }
        }
        Ok(batch.len())
    }
}

impl<R: Row> RunReader<R> {
    fn next(&mut self, file: &SortedRuns<R>) -> Result<Option<R>> {
        if self.position == self.block.len() {
            if self.left == 0 {
                return Ok(None);
            }
            self.at += file.read_block(self.at, &mut self.block)?;
            self.left = self.left.saturating_sub(self.block.len() as u64);
            self.position = 0;
        }
        let row = self.block.get(self.position).copied();
        self.position += 1;
        Ok(row)
    }
}
