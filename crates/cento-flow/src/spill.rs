//! The output of a task as a file: to spill it, and to resume after it.
//!
//! ```text
//!   magic │ section 0: partition 0 of port a │ 1 of a │ … │ 0 of port b │ … │ index │ section 1 … │ tail (JSON) │ check, length, magic
//! ```
//!
//! A section is what the task held when its share of memory was used up, ordered by port and
//! partition. The index has 32 bytes for each port and partition: where the bytes are, how many,
//! their XXH3, and a check of these three. So a partition is found with two reads, memory for a
//! file does not grow with the number of partitions, and a flipped bit anywhere is noticed by who
//! reads it. The file is written aside and renamed when it is whole.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::chunk::Port;
use crate::error::{Error, Result};
use crate::files::kept_open;
use crate::progress::Progress;

const MAGIC: [u8; 8] = *b"centofl1";
const ENTRY: usize = 32;
const TRAILER: usize = 24;
/// The ending of files that are not whole yet.
pub(crate) const ASIDE: &str = "aside";
/// Files that are open now, in this process.
static OPEN: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug, Serialize, Deserialize)]
struct Tail {
    ports: BTreeMap<String, PortShape>,
    /// Where the index of each section begins.
    sections: Vec<u64>,
    counters: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PortShape {
    pub(crate) width: usize,
    pub(crate) partitions: u32,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    /// How many ports' partitions are before its own in an index.
    first: u64,
}

/// A file while it is written.
pub(crate) struct TaskFileWriter {
    file: BufWriter<File>,
    path: PathBuf,
    at: u64,
    sections: Vec<Section>,
}

/// The index of one section, until the file is closed. It is kept by port, because a later section
/// may have ports that an earlier one has not.
struct Section {
    entries: BTreeMap<String, Vec<[u64; 3]>>,
}

impl TaskFileWriter {
    /// Opens a file beside `path`; [`TaskFileWriter::finish`] gives it its name.
    pub(crate) fn create(path: PathBuf, buffer: usize) -> Result<TaskFileWriter> {
        let aside = path.with_extension(ASIDE);
        let file = File::create(&aside).map_err(|error| Error::io(&aside, error))?;
        Self::start(file, path, buffer)
    }

    /// Writes to a file that has no name, so that nothing stays behind whatever happens.
    pub(crate) fn nameless(folder: &Path, buffer: usize) -> Result<TaskFileWriter> {
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
        let begun = self.at;
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
                    let piece = chunk.piece(partition);
                    hash.update(piece);
                    self.put(piece)?;
                }
                index.push([offset, self.at - offset, hash.digest()]);
                progress.check()?;
            }
            entries.insert(name.to_owned(), index);
        }
        self.sections.push(Section { entries });
        progress.add_spilled(self.at - begun);
        Ok(())
    }

    /// Writes the indexes and the tail.
    fn close<'p>(
        mut self,
        ports: &(impl IntoIterator<Item = (&'p str, &'p Port)> + Clone),
        counters: &BTreeMap<String, u64>,
    ) -> Result<(File, PathBuf, Tail)> {
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
        let tail = Tail {
            ports: shapes,
            sections: offsets,
            counters: counters.clone(),
        };
        let json = serde_json::to_vec(&tail)
            .map_err(|error| Error::damaged(&self.path, error.to_string()))?;
        self.put(&json)?;
        self.put(&xxh3_64(&json).to_le_bytes())?;
        self.put(&(json.len() as u64).to_le_bytes())?;
        self.put(&MAGIC)?;
        let path = self.path;
        let file = self
            .file
            .into_inner()
            .map_err(|error| Error::io(&path, error.into_error()))?;
        Ok((file, path, tail))
    }

    /// Closes the file and gives it its name.
    pub(crate) fn finish<'p>(
        self,
        ports: &(impl IntoIterator<Item = (&'p str, &'p Port)> + Clone),
        counters: &BTreeMap<String, u64>,
    ) -> Result<TaskFile> {
        let (file, path, tail) = self.close(ports, counters)?;
        drop(file);
        let aside = path.with_extension(ASIDE);
        fs::rename(&aside, &path).map_err(|error| Error::io(&path, error))?;
        TaskFile::with_tail(path, None, tail)
    }

    /// Closes a file that has no name.
    pub(crate) fn finish_nameless<'p>(
        self,
        ports: &(impl IntoIterator<Item = (&'p str, &'p Port)> + Clone),
    ) -> Result<TaskFile> {
        let (file, path, tail) = self.close(ports, &BTreeMap::new())?;
        TaskFile::with_tail(path, Some(file), tail)
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

/// A whole file.
pub(crate) struct TaskFile {
    path: PathBuf,
    tail: Tail,
    file: Option<File>,
    /// Whether the file has no name, and so cannot be opened again.
    nameless: bool,
}

/// Where one partition of one section is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    check: u64,
}

impl TaskFile {
    fn with_tail(path: PathBuf, file: Option<File>, tail: Tail) -> Result<TaskFile> {
        let nameless = file.is_some();
        let mut whole = TaskFile {
            path,
            tail,
            file,
            nameless,
        };
        if whole.file.is_none() && OPEN.load(Ordering::Relaxed) < kept_open() {
            // Where the system has no more files to give, it is opened for each read.
            whole.file = whole.open_anew().ok();
        }
        if whole.file.is_some() {
            OPEN.fetch_add(1, Ordering::Relaxed);
        }
        Ok(whole)
    }

    fn open_anew(&self) -> Result<File> {
        File::open(&self.path).map_err(|error| Error::io(&self.path, error))
    }

    /// Opens a file that an earlier run has left. What is not whole is damaged, and removed, so
    /// that its task is done again.
    pub(crate) fn open(path: PathBuf) -> Result<TaskFile> {
        let tail = Self::read_tail(&path).inspect_err(|error| {
            if matches!(error, Error::Damaged { .. }) {
                let _ = fs::remove_file(&path);
            }
        })?;
        Self::with_tail(path, None, tail)
    }

    fn read_tail(path: &Path) -> Result<Tail> {
        let file = File::open(path).map_err(|error| Error::io(path, error))?;
        let length = file
            .metadata()
            .map_err(|error| Error::io(path, error))?
            .len();
        let short = || Error::damaged(path, "it is cut short");
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
            return Err(Error::damaged(path, "its tail has another checksum"));
        }
        serde_json::from_slice(&json).map_err(|error| Error::damaged(path, error.to_string()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn counters(&self) -> &BTreeMap<String, u64> {
        &self.tail.counters
    }

    pub(crate) fn ports(&self) -> &BTreeMap<String, PortShape> {
        &self.tail.ports
    }

    /// Where the bytes of a partition are, section by section; empty ones are left out.
    pub(crate) fn extents(&self, port: &str, partition: usize) -> Result<Vec<Extent>> {
        let Some(shape) = self.tail.ports.get(port) else {
            return Ok(Vec::new());
        };
        let mut extents = Vec::with_capacity(self.tail.sections.len());
        for &section in &self.tail.sections {
            let at = section + (shape.first + partition as u64) * ENTRY as u64;
            let mut bytes = [0; ENTRY];
            self.read_at(&mut bytes, at)?;
            let mut numbers = [0; 3];
            for (number, slot) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
                *number = u64::from_le_bytes(slot.try_into().unwrap_or_default());
            }
            if bytes != entry_bytes(numbers, partition) {
                return Err(self.damaged(&format!(
                    "the index of partition {partition} of `{port}` has another checksum"
                )));
            }
            let [offset, bytes, check] = numbers;
            if bytes > 0 {
                extents.push(Extent {
                    offset,
                    bytes,
                    check,
                });
            }
        }
        Ok(extents)
    }

    /// Reads an extent as a whole and compares its checksum.
    pub(crate) fn read(&self, extent: &Extent, bytes: &mut [u8]) -> Result<()> {
        self.read_at(bytes, extent.offset)?;
        self.verify(extent, xxh3_64(bytes))
    }

    /// Reads an extent piece by piece.
    pub(crate) fn read_pieces<T: bytemuck::Pod>(
        &self,
        extent: &Extent,
        buffer: &mut [T],
        mut each: impl FnMut(&[T]) -> Result<()>,
    ) -> Result<()> {
        let mut hash = Xxh3::new();
        let mut at = extent.offset;
        let end = extent.offset + extent.bytes;
        while at < end {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(buffer);
            let size = (end - at).min(bytes.len() as u64) as usize;
            let bytes = bytes.get_mut(..size).unwrap_or_default();
            self.read_at(bytes, at)?;
            hash.update(bytes);
            at += size as u64;
            each(buffer.get(..size / size_of::<T>()).unwrap_or_default())?;
        }
        self.verify(extent, hash.digest())
    }

    fn verify(&self, extent: &Extent, found: u64) -> Result<()> {
        if found != extent.check {
            return Err(self.damaged(&format!(
                "the {} bytes at {} have another checksum",
                extent.bytes, extent.offset
            )));
        }
        Ok(())
    }

    /// A damaged file is removed at once: then the next run does its task again and no more than
    /// that.
    fn damaged(&self, detail: &str) -> Error {
        if !self.nameless {
            let _ = fs::remove_file(&self.path);
        }
        Error::damaged(&self.path, detail)
    }

    fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        let failed = |error| Error::io(&self.path, error);
        let outcome = match &self.file {
            Some(file) => file.read_exact_at(bytes, at),
            None => self.open_anew()?.read_exact_at(bytes, at),
        };
        match outcome {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(self.damaged("it is cut short"))
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
