//! A file with the pages of chunks, for strips that do not fit in memory. It is read once for each
//! part of the left pages.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use cento_file::random_name;

const BUFFER: usize = 1 << 18;

/// Creates a file in a folder. It is unlinked before it is written, so that it disappears however
/// the process ends.
pub(crate) fn unnamed_file(folder: &Path) -> io::Result<File> {
    // Processes on several machines may share the folder, so that their numbers do not suffice.
    let path = folder.join(format!("cento-{}.tmp", random_name()));
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Lists of pages on disk.
pub(crate) struct SpilledLists {
    file: BufWriter<File>,
    /// The sum, over all lists and left pages, of the pages that follow the left page.
    joined: u64,
    /// The number of left pages in all lists.
    tails: u64,
}

impl SpilledLists {
    /// Creates an empty file in a folder.
    pub(crate) fn create(folder: &Path) -> io::Result<SpilledLists> {
        Ok(SpilledLists {
            file: BufWriter::with_capacity(BUFFER, unnamed_file(folder)?),
            joined: 0,
            tails: 0,
        })
    }

    /// Adds a list. `left` returns whether a page is a left page.
    pub(crate) fn push(&mut self, pages: &[u32], left: impl Fn(u32) -> bool) -> io::Result<()> {
        self.file.write_all(&(pages.len() as u32).to_le_bytes())?;
        for (behind, &page) in (0..pages.len() as u64).rev().zip(pages) {
            self.file.write_all(&page.to_le_bytes())?;
            if behind > 0 && left(page) {
                self.joined += behind;
                self.tails += 1;
            }
        }
        Ok(())
    }

    /// Returns into how many parts left pages must be split so that the lists of each part fit in
    /// `bytes`. The capacity of a vector may be twice its length.
    pub(crate) fn parts(&self, bytes: u64) -> u32 {
        let needed = 8 * self.joined + 32 * self.tails;
        u32::try_from(needed / bytes.max(1)).unwrap_or(u32::MAX - 1) + 1
    }

    /// Calls `each` with every list, in order.
    pub(crate) fn for_each(&mut self, mut each: impl FnMut(&[u32])) -> io::Result<()> {
        self.file.flush()?;
        let mut file = self.file.get_ref();
        file.rewind()?;
        let mut reader = BufReader::with_capacity(BUFFER, file);
        let mut bytes = Vec::new();
        let mut pages = Vec::new();
        loop {
            let mut length = [0; 4];
            match reader.read_exact(&mut length) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(error),
            }
            bytes.resize(4 * u32::from_le_bytes(length) as usize, 0);
            reader.read_exact(&mut bytes)?;
            pages.clear();
            let numbers = bytes.as_chunks::<4>().0.iter();
            pages.extend(numbers.map(|&bytes| u32::from_le_bytes(bytes)));
            each(&pages);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_can_be_read_repeatedly_and_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut lists = SpilledLists::create(folder.path()).unwrap();
        for list in [&[1u32, 5, 9][..], &[2, 3]] {
            lists.push(list, |page| page % 2 == 1).unwrap();
        }
        assert_eq!((lists.joined, lists.tails), (3, 2));
        assert_eq!(lists.parts(88), 2);
        for _ in 0..2 {
            let mut found = Vec::new();
            lists.for_each(|list| found.push(list.to_vec())).unwrap();
            assert_eq!(found, [vec![1, 5, 9], vec![2, 3]]);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
