//! Task files: the output of a task on disk, to spill it and to resume after it.
//!
//! ```text
//!   magic │ section 0 │ section 1 │ … │ index 0 │ index 1 │ … │ footer (JSON) │ trailer
//!           └ port a: partition 0, 1, … │ port b: partition 0, 1, …
//! ```
//!
//! A section is what the task had in memory when its share was used up, ordered by port and
//! partition. The index of a section has 32 bytes for each port and partition: the offset, the
//! length and the XXH3 of the rows, and a checksum of these three. So a partition is found with two
//! reads, the memory for a file does not grow with the number of partitions, and the reader detects
//! every flipped bit. The file is written under another name and renamed when it is complete.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Error, Result};
use crate::file_limit::max_open_files;
use crate::flow::MAX_PARTITIONS;
use crate::progress::Progress;
use crate::task_output::Port;

const MAGIC: [u8; 8] = *b"centofl1";
const ENTRY: usize = 32;
const TRAILER: usize = 24;
/// The extension of files that are being written.
pub(crate) const PARTIAL: &str = "partial";
/// Number of task files that this process keeps open.
static OPEN: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug, Serialize, Deserialize)]
struct Footer {
    ports: BTreeMap<String, PortShape>,
    /// Where the index of each section begins.
    sections: Vec<u64>,
    counters: BTreeMap<String, u64>,
}

impl Footer {
    /// Whether the indexes of all sections are in the file before the footer, which begins at
    /// `end`. The files of an interrupted run may come with a corpus from somebody else, and then
    /// a matching checksum proves nothing.
    fn is_valid(&self, end: u64) -> bool {
        let mut ports: Vec<&PortShape> = self.ports.values().collect();
        ports.sort_by_key(|shape| (shape.first, shape.partitions));
        let mut entries = 0;
        for shape in ports {
            if shape.first != entries || shape.width == 0 || shape.partitions > MAX_PARTITIONS {
                return false;
            }
            entries += u64::from(shape.partitions);
        }
        let index = entries * ENTRY as u64;
        self.sections.iter().all(|section| {
            let index_end = section.checked_add(index);
            index_end.is_some_and(|index_end| index_end <= end)
        })
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PortShape {
    pub(crate) width: usize,
    pub(crate) partitions: u32,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    /// Where its partitions begin in an index: the number of partitions of the ports before it.
    first: u64,
}

/// Writes a task file.
pub(crate) struct TaskFileWriter {
    file: BufWriter<File>,
    path: PathBuf,
    at: u64,
    sections: Vec<SectionIndex>,
}

/// The index of one section, by port, because a later section may have more ports. It is written
/// when the file is closed.
struct SectionIndex {
    entries: BTreeMap<String, Vec<[u64; 3]>>,
}

impl TaskFileWriter {
    /// Creates a file next to `path`; [`TaskFileWriter::finish`] renames it to `path`.
    pub(crate) fn create(path: PathBuf, buffer: usize) -> Result<TaskFileWriter> {
        let partial = path.with_extension(PARTIAL);
        let file = File::create(&partial).map_err(|error| Error::io(&partial, error))?;
        Self::start(file, path, buffer)
    }

    /// Creates an unnamed file, which the system removes even if the process is killed.
    pub(crate) fn unnamed(folder: &Path, buffer: usize) -> Result<TaskFileWriter> {
        let file = tempfile::tempfile_in(folder)
            .map_err(|error| Error::io(&folder.join("scratch"), error))?;
        Self::start(file, folder.join("scratch"), buffer)
    }

    fn start(file: File, path: PathBuf, buffer: usize) -> Result<TaskFileWriter> {
        let mut writer = TaskFileWriter {
            file: BufWriter::with_capacity(buffer, file),
            path,
            at: 0,
            sections: Vec::new(),
        };
        writer.put(&MAGIC)?;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.at += bytes.len() as u64;
        self.file
            .write_all(bytes)
            .map_err(|error| Error::io(&self.path, error))
    }

    /// Writes the chunks of all ports as one section.
    pub(crate) fn section<'p>(
        &mut self,
        ports: impl IntoIterator<Item = (&'p str, &'p Port)>,
        progress: &Progress,
    ) -> Result<()> {
        let start = self.at;
        let mut entries = BTreeMap::new();
        for (name, port) in ports
            .into_iter()
            .filter(|(_, port)| !port.chunks.is_empty())
        {
            let mut index = Vec::with_capacity(port.partitions as usize);
            for partition in 0..port.partitions as usize {
                let offset = self.at;
                let mut hash = Xxh3::new();
                for chunk in &port.chunks {
                    let rows = chunk.partition(partition);
                    hash.update(rows);
                    self.put(rows)?;
                }
                index.push([offset, self.at - offset, hash.digest()]);
                progress.check()?;
            }
            entries.insert(name.to_owned(), index);
        }
        self.sections.push(SectionIndex { entries });
        progress.add_spilled(self.at - start);
        Ok(())
    }

    /// Writes the indexes and the footer, and closes the file.
    fn close<'p>(
        mut self,
        ports: &(impl IntoIterator<Item = (&'p str, &'p Port)> + Clone),
        counters: &BTreeMap<String, u64>,
    ) -> Result<(File, PathBuf, Footer)> {
        let mut shapes = BTreeMap::new();
        let mut first = 0;
        for (name, port) in ports.clone() {
            let shape = PortShape {
                width: port.width,
                partitions: port.partitions,
                rows: port.rows,
                bytes: port.bytes,
                first,
            };
            first += u64::from(port.partitions);
            shapes.insert(name.to_owned(), shape);
        }
        let mut offsets = Vec::new();
        for section in std::mem::take(&mut self.sections) {
            offsets.push(self.at);
            for (name, port) in ports.clone() {
                let entries = section.entries.get(name);
                for partition in 0..port.partitions as usize {
                    let entry = entries.and_then(|entries| entries.get(partition));
                    let entry = entry.copied().unwrap_or([0, 0, xxh3_64(&[])]);
                    self.put(&entry_bytes(entry, partition))?;
                }
            }
        }
        let footer = Footer {
            ports: shapes,
            sections: offsets,
            counters: counters.clone(),
        };
        let json = serde_json::to_vec(&footer)
            .map_err(|error| Error::corrupted(&self.path, error.to_string()))?;
        self.put(&json)?;
        self.put(&xxh3_64(&json).to_le_bytes())?;
        self.put(&(json.len() as u64).to_le_bytes())?;
        self.put(&MAGIC)?;
        let path = self.path;
        let file = self
            .file
            .into_inner()
            .map_err(|error| Error::io(&path, error.into_error()))?;
        Ok((file, path, footer))
    }

    /// Closes the file and renames it.
    pub(crate) fn finish<'p>(
        self,
        ports: &(impl IntoIterator<Item = (&'p str, &'p Port)> + Clone),
        counters: &BTreeMap<String, u64>,
    ) -> Result<TaskFile> {
        let (file, path, footer) = self.close(ports, counters)?;
        drop(file);
        let partial = path.with_extension(PARTIAL);
        fs::rename(&partial, &path).map_err(|error| Error::io(&path, error))?;
        TaskFile::with_footer(path, None, footer)
    }

    /// Closes an unnamed file.
    pub(crate) fn finish_unnamed<'p>(
        self,
        ports: &(impl IntoIterator<Item = (&'p str, &'p Port)> + Clone),
    ) -> Result<TaskFile> {
        let (file, path, footer) = self.close(ports, &BTreeMap::new())?;
        TaskFile::with_footer(path, Some(file), footer)
    }
}

fn entry_bytes(entry: [u64; 3], partition: usize) -> [u8; ENTRY] {
    let mut bytes = [0; ENTRY];
    for (slot, value) in bytes.chunks_exact_mut(8).zip(entry) {
        slot.copy_from_slice(&value.to_le_bytes());
    }
    let check = xxh3_64(&bytes) ^ partition as u64;
    if let Some(slot) = bytes.get_mut(ENTRY - 8..) {
        slot.copy_from_slice(&check.to_le_bytes());
    }
    bytes
}

/// A complete task file.
pub(crate) struct TaskFile {
    path: PathBuf,
    footer: Footer,
    file: Option<File>,
    /// Whether the file has no name, so that it cannot be opened again.
    unnamed: bool,
}

/// The range of bytes in a task file that has one partition of one section.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileRange {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    check: u64,
}

impl TaskFile {
    fn with_footer(path: PathBuf, file: Option<File>, footer: Footer) -> Result<TaskFile> {
        let unnamed = file.is_some();
        let mut opened = TaskFile {
            path,
            footer,
            file,
            unnamed,
        };
        if opened.file.is_none() && OPEN.load(Ordering::Relaxed) < max_open_files() {
            // If the system refuses, the file is opened for each read.
            opened.file = opened.reopen().ok();
        }
        if opened.file.is_some() {
            OPEN.fetch_add(1, Ordering::Relaxed);
        }
        Ok(opened)
    }

    fn reopen(&self) -> Result<File> {
        File::open(&self.path).map_err(|error| Error::io(&self.path, error))
    }

    /// Opens a file of an interrupted run. A corrupted file is removed, so that its task is run
    /// again.
    pub(crate) fn open(path: PathBuf) -> Result<TaskFile> {
        let footer = Self::read_footer(&path).inspect_err(|error| {
            if matches!(error, Error::Corrupted { .. }) {
                let _ = fs::remove_file(&path);
            }
        })?;
        Self::with_footer(path, None, footer)
    }

    fn read_footer(path: &Path) -> Result<Footer> {
        let file = File::open(path).map_err(|error| Error::io(path, error))?;
        let length = file
            .metadata()
            .map_err(|error| Error::io(path, error))?
            .len();
        let short = || Error::corrupted(path, "it is truncated");
        let mut trailer = [0; TRAILER];
        let trailer_at = length.checked_sub(TRAILER as u64).ok_or_else(short)?;
        file.read_exact_at(&mut trailer, trailer_at)
            .map_err(|error| Error::io(path, error))?;
        let (check, rest) = trailer.split_at(8);
        let (size, magic) = rest.split_at(8);
        let size = u64::from_le_bytes(size.try_into().map_err(|_| short())?);
        if magic != MAGIC || size > trailer_at {
            return Err(short());
        }
        let mut json = vec![0; size as usize];
        file.read_exact_at(&mut json, trailer_at - size)
            .map_err(|error| Error::io(path, error))?;
        if xxh3_64(&json).to_le_bytes() != check {
            return Err(Error::corrupted(
                path,
                "the checksum of its footer does not match",
            ));
        }
        let footer: Footer = serde_json::from_slice(&json)
            .map_err(|error| Error::corrupted(path, error.to_string()))?;
        match footer.is_valid(trailer_at - size) {
            true => Ok(footer),
            false => Err(Error::corrupted(path, "its footer contradicts itself")),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn counters(&self) -> &BTreeMap<String, u64> {
        &self.footer.counters
    }

    pub(crate) fn ports(&self) -> &BTreeMap<String, PortShape> {
        &self.footer.ports
    }

    /// The ranges of a partition, one for each section in which it is not empty.
    pub(crate) fn ranges(&self, port: &str, partition: usize) -> Result<Vec<FileRange>> {
        let Some(shape) = self.footer.ports.get(port) else {
            return Ok(Vec::new());
        };
        if partition >= shape.partitions as usize {
            return Err(self.corrupted(&format!("`{port}` has no partition {partition}")));
        }
        let mut ranges = Vec::with_capacity(self.footer.sections.len());
        for &section in &self.footer.sections {
            let at = section + (shape.first + partition as u64) * ENTRY as u64;
            let mut bytes = [0; ENTRY];
            self.read_at(&mut bytes, at)?;
            let mut numbers = [0; 3];
            for (number, slot) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
                *number = u64::from_le_bytes(slot.try_into().unwrap_or_default());
            }
            if bytes != entry_bytes(numbers, partition) {
                return Err(self.corrupted(&format!(
                    "the checksum of the index of partition {partition} of `{port}` does not match"
                )));
            }
            let [offset, bytes, check] = numbers;
            // Rows are before the first index.
            let first = self.footer.sections.iter().min().copied().unwrap_or(0);
            let end = offset.checked_add(bytes);
            if end.is_none_or(|end| end > first) || !bytes.is_multiple_of(shape.width as u64) {
                return Err(self.corrupted(&format!(
                    "the index of partition {partition} of `{port}` contradicts itself"
                )));
            }
            if bytes > 0 {
                ranges.push(FileRange {
                    offset,
                    bytes,
                    check,
                });
            }
        }
        Ok(ranges)
    }

    /// Reads a range into memory and verifies its checksum.
    pub(crate) fn read(&self, range: &FileRange, bytes: &mut [u8]) -> Result<()> {
        self.read_at(bytes, range.offset)?;
        self.verify(range, xxh3_64(bytes))
    }

    /// Calls `each` with the bytes of a range, a buffer at a time, and verifies the checksum.
    pub(crate) fn read_pieces(
        &self,
        range: &FileRange,
        buffer: &mut [u8],
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut hash = Xxh3::new();
        let mut at = range.offset;
        let end = range.offset + range.bytes;
        while at < end {
            let size = (end - at).min(buffer.len() as u64) as usize;
            let bytes = buffer.get_mut(..size).unwrap_or_default();
            self.read_at(bytes, at)?;
            hash.update(bytes);
            at += size as u64;
            each(bytes)?;
        }
        self.verify(range, hash.digest())
    }

    fn verify(&self, range: &FileRange, found: u64) -> Result<()> {
        if found != range.check {
            return Err(self.corrupted(&format!(
                "the checksum of {} bytes at offset {} does not match",
                range.bytes, range.offset
            )));
        }
        Ok(())
    }

    /// Removes the corrupted file, so that the next run repeats its task and nothing else.
    pub(crate) fn corrupted(&self, detail: &str) -> Error {
        if !self.unnamed {
            let _ = fs::remove_file(&self.path);
        }
        Error::corrupted(&self.path, detail)
    }

    fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        let failed = |error| Error::io(&self.path, error);
        let outcome = match &self.file {
            Some(file) => file.read_exact_at(bytes, at),
            None => self.reopen()?.read_exact_at(bytes, at),
        };
        match outcome {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(self.corrupted("it is truncated"))
            }
            outcome => outcome.map_err(failed),
        }
    }
}

impl Drop for TaskFile {
    fn drop(&mut self) {
        if self.file.is_some() {
            OPEN.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
