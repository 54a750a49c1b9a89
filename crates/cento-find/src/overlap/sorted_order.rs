//! Sorts the pages of a corpus by precedence on disk, for corpora whose pages do not fit in memory.
//!
//! ```text
//!   pages ─ sort as many as fit ─▶ runs ─ merge ─┬─▶ the page of each rank
//!                                                └─▶ (page, rank), by ranges of pages
//!                         each range in memory ─▶ the rank of each page ◀─┘
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use cento_file::Output;

use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::overlap::spilled_lists::unnamed_file;
use crate::precedence::Precedence;

/// Bytes of a page in a run: its date, its number, and whether its URL has tracking parameters.
const PAGE: usize = 8 + 4 + 1;
/// Bytes of a page with its rank.
const RANKED: usize = 4 + 4;
/// The smallest buffer of a file.
const LEAST_BUFFER: usize = 1 << 12;
/// The most files that are open at the same time.
const MOST_FILES: usize = 512;

/// Writes the order of the kept pages of a corpus to a file, in about this much memory.
pub(super) fn sort_to_file(source: &CorpusPages, path: &Path, memory: u64) -> Result<()> {
    let failed = |error| Error::io(path, error);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut runs = Runs::new(folder, memory, u64::from(source.kept())).map_err(failed)?;
    for task in 0..source.page_tasks().len() {
        source.for_each_page::<Error>(task, |facts| match facts.reject {
            None => runs.push(Precedence::of(&facts)).map_err(failed),
            Some(_) => Ok(()),
        })?;
    }
    runs.finish(path).map_err(failed)
}

/// Sorted runs of pages in a file.
struct Runs {
    /// Pages that are not yet in a run.
    pages: Vec<Precedence>,
    /// The most pages of a run.
    most: usize,
    /// Whether all pages so far were in order.
    in_order: bool,
    last: Option<Precedence>,
    file: BufWriter<File>,
    /// The number of pages of each run.
    lengths: Vec<u64>,
    memory: u64,
}

impl Runs {
    /// Starts with no page.
    fn new(folder: &Path, memory: u64, count: u64) -> io::Result<Runs> {
        let fitting = memory / 2 / size_of::<Precedence>() as u64;
        // Each run needs a buffer, so that there cannot be arbitrarily many.
        let most = fitting.max(count / MOST_FILES as u64 + 1);
        Ok(Runs {
            pages: Vec::new(),
            most: usize::try_from(most).unwrap_or(usize::MAX),
            in_order: true,
            last: None,
            file: BufWriter::new(unnamed_file(folder)?),
            lengths: Vec::new(),
            memory,
        })
    }

    fn push(&mut self, page: Precedence) -> io::Result<()> {
        self.in_order &= self.last.is_none_or(|last| last <= page);
        self.last = Some(page);
        self.pages.push(page);
        match self.pages.len() >= self.most {
            true => self.end_run(),
            false => Ok(()),
        }
    }

    fn end_run(&mut self) -> io::Result<()> {
        self.pages.sort_unstable();
        self.lengths.push(self.pages.len() as u64);
        for page in self.pages.drain(..) {
            self.file.write_all(&page.date.to_le_bytes())?;
            self.file.write_all(&page.number.to_le_bytes())?;
            self.file.write_all(&[u8::from(page.tracked)])?;
        }
        Ok(())
    }

    /// Merges the runs to a file: the page of each rank, then the rank of each page. It is empty if
    /// the pages are in order.
    fn finish(mut self, path: &Path) -> io::Result<()> {
        let mut output = BufWriter::new(Output::within(path)?);
        if !self.in_order {
            self.end_run()?;
            self.pages = Vec::new();
            self.merge(path, &mut output)?;
        }
        let output = output
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        output.finish()
    }

    fn merge(mut self, path: &Path, output: &mut impl Write) -> io::Result<()> {
        self.file.flush()?;
        let count = self.lengths.iter().sum::<u64>();
        let buffer = |files: usize| {
            let share = usize::try_from(self.memory / 4).unwrap_or(usize::MAX) / files.max(1);
            share.clamp(LEAST_BUFFER, 1 << 20)
        };
        let file = self.file.get_ref();
        let size = buffer(self.lengths.len());
        let mut begin = 0;
        let mut readers = Vec::new();
        for &length in &self.lengths {
            readers.push(RunReader {
                file,
                at: begin,
                left: length,
                buffer: vec![0; size / PAGE * PAGE],
                used: size / PAGE * PAGE,
            });
            begin += length * PAGE as u64;
        }
        let mut heads = BinaryHeap::new();
        for (number, reader) in readers.iter_mut().enumerate() {
            heads.extend(reader.next()?.map(|page| Reverse((page, number))));
        }
        // Ranges of pages whose ranks fit in a quarter of the memory.
        let width = (self.memory / 16).max(count / MOST_FILES as u64 + 1);
        let folder = path.parent().unwrap_or(Path::new("."));
        let ranges = count.div_ceil(width) as usize;
        let size = buffer(ranges);
        let mut by_range = (0..ranges)
            .map(|_| Ok(BufWriter::with_capacity(size, unnamed_file(folder)?)))
            .collect::<io::Result<Vec<_>>>()?;
        let mut rank = 0u32;
        while let Some(Reverse((page, number))) = heads.pop() {
            if let Some(reader) = readers.get_mut(number) {
                heads.extend(reader.next()?.map(|page| Reverse((page, number))));
            }
            output.write_all(&page.number.to_le_bytes())?;
            if let Some(range) = by_range.get_mut((u64::from(page.number) / width) as usize) {
                range.write_all(&page.number.to_le_bytes())?;
                range.write_all(&rank.to_le_bytes())?;
            }
            rank += 1;
        }
        for (range, file) in (0u64..).zip(by_range) {
            let first = range * width;
            let mut ranks = vec![0u32; width.min(count - first) as usize];
            let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.seek(SeekFrom::Start(0))?;
            let mut rows = BufReader::with_capacity(size, file);
            let mut row = [0; RANKED];
            while read_row(&mut rows, &mut row)? {
                let (page, rank) = (number_at(&row, 0), number_at(&row, 4));
                if let Some(slot) = ranks.get_mut((u64::from(page) - first) as usize) {
                    *slot = rank;
                }
            }
            for rank in ranks {
                output.write_all(&rank.to_le_bytes())?;
            }
        }
        Ok(())
    }
}

/// Reads one run of a file that all runs share.
struct RunReader<'f> {
    file: &'f File,
    /// The byte of the file after those in the buffer.
    at: u64,
    /// Pages that were not read.
    left: u64,
    buffer: Vec<u8>,
    /// The bytes of the buffer that were read.
    used: usize,
}

impl RunReader<'_> {
    fn next(&mut self) -> io::Result<Option<Precedence>> {
        if self.left == 0 {
            return Ok(None);
        }
        if self.used >= self.buffer.len() {
            let most = usize::try_from(self.left).unwrap_or(usize::MAX);
            self.buffer
                .truncate(most.saturating_mul(PAGE).min(self.buffer.len()));
            let mut file = self.file;
            file.seek(SeekFrom::Start(self.at))?;
            file.read_exact(&mut self.buffer)?;
            self.at += self.buffer.len() as u64;
            self.used = 0;
        }
        let row = self.buffer.get(self.used..self.used + PAGE);
        let row = row.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.used += PAGE;
        self.left -= 1;
        let date = row
            .first_chunk()
            .map_or(0, |date| u64::from_le_bytes(*date));
        Ok(Some(Precedence {
            date,
            tracked: row.last() == Some(&1),
            number: number_at(row, 8),
        }))
    }
}

/// Reads the next row; false at the end of the file.
fn read_row(file: &mut impl Read, row: &mut [u8; RANKED]) -> io::Result<bool> {
    match file.read_exact(row) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn number_at(row: &[u8], at: usize) -> u32 {
    let bytes = row.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What [`Runs`] writes: the page of each rank, then the rank of each page.
    fn expected(pages: &[Precedence]) -> Vec<u8> {
        if pages.is_sorted() {
            return Vec::new();
        }
        let mut sorted = pages.to_vec();
        sorted.sort();
        let mut ranks = vec![0; pages.len()];
        for (rank, page) in (0u32..).zip(&sorted) {
            ranks[page.number as usize] = rank;
        }
        let numbers = sorted.iter().map(|page| page.number).chain(ranks);
        numbers.flat_map(u32::to_le_bytes).collect()
    }

    proptest! {
        #[test]
        fn an_order_on_disk_is_that_in_memory(
            dates in prop::collection::vec((0u64..40, any::<bool>()), 0..400),
            memory in 0u64..4096,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("order");
            let pages: Vec<Precedence> = (0u32..)
                .zip(&dates)
                .map(|(number, &(date, tracked))| Precedence { date, tracked, number })
                .collect();
            let mut runs = Runs::new(folder.path(), memory, pages.len() as u64).unwrap();
            for &page in &pages {
                runs.push(page).unwrap();
            }
            runs.finish(&path).unwrap();
            prop_assert_eq!(std::fs::read(&path).unwrap(), expected(&pages));
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}
