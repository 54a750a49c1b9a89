//! Writing label files.

use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use cento_file::{Checksum, Output};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::filter::{FilterWriter, bucket, shard_bits};
use crate::header::{FileSection, HEADER_BYTES, LabelsHeader, MAX_INDEX_BITS, Sidecar};
use crate::recipe::Recipe;

/// Writes a label file. An existing file is replaced when [`finish`](LabelsWriter::finish) is
/// called.
pub struct LabelsWriter {
    path: PathBuf,
    file: BufWriter<Output>,
    recipe: Recipe,
    shard_bits: u32,
    hasher: blake3::Hasher,
    labels: u64,
    last: Option<[u8; 16]>,
    filter: FilterWriter,
    index: HashIndex,
    sidecars: Vec<Sidecar>,
}

impl LabelsWriter {
    /// Creates a file for approximately this number of labels.
    pub fn create(path: &Path, recipe: Recipe, labels: u64) -> Result<LabelsWriter> {
        let failed = |error| Error::io(path, error);
        let file = Output::create(path).map_err(failed)?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        file.write_all(&[0; HEADER_BYTES]).map_err(failed)?;
        let shard_bits = shard_bits(labels);
        Ok(LabelsWriter {
            path: path.to_owned(),
            file,
            recipe,
            shard_bits,
            hasher: blake3::Hasher::new(),
            labels: 0,
            last: None,
            filter: FilterWriter::new(shard_bits),
            index: HashIndex::new(labels),
            sidecars: Vec::new(),
        })
    }

    /// Adds a label. Labels must be sorted; duplicates are ignored.
    pub fn push(&mut self, hash: [u8; 16]) -> Result<()> {
        match self.last {
            Some(last) if last == hash => return Ok(()),
            Some(last) if last > hash => return Err(Error::NotSorted),
            _ => {}
        }
        self.last = Some(hash);
        self.index
            .reach(bucket(&hash, self.index.bits), self.labels)?;
        self.labels += 1;
        self.hasher.update(&hash);
        self.filter.push(&hash);
        let written = self.file.write_all(&hash);
        written.map_err(|error| Error::io(&self.path, error))
    }

    /// Adds the checksum of a sidecar file, which must be complete. Its name is that of the label
    /// file with a suffix.
    pub fn add_sidecar(&mut self, ending: &str) -> Result<()> {
        let path = with_suffix(&self.path, ending);
        let found = Checksum::of(&path).map_err(|error| Error::io(&path, error))?;
        self.sidecars.push(Sidecar {
            ending: ending.to_owned(),
            bytes: found.bytes,
            blake3: found.blake3,
        });
        Ok(())
    }

    /// Writes the stop chunks, the index, the filter and the header, and renames the file. `made`
    /// is a note on how the labels were made.
    pub fn finish(mut self, stops: &[[u8; 16]], made: Value) -> Result<LabelsHeader> {
        let mut stops = stops.to_vec();
        stops.sort_unstable();
        stops.dedup();
        let filter = std::mem::replace(&mut self.filter, FilterWriter::new(0)).finish();
        let mut index = std::mem::replace(&mut self.index, HashIndex::new(0));
        index.reach(1 << index.bits, self.labels)?;
        let index_bytes: Vec<u8> = index
            .begins
            .iter()
            .flat_map(|at| at.to_le_bytes())
            .collect();
        let stop_bytes: Vec<u8> = stops.iter().flatten().copied().collect();
        let mut end = HEADER_BYTES as u64;
        let mut section = |length: u64, hash: blake3::Hash| {
            let offset = end;
            end += length;
            FileSection {
                offset,
                length,
                blake3: hash.to_hex().to_string(),
            }
        };
        let header = LabelsHeader {
            recipe: self.recipe,
            labels: self.labels,
            stops: stops.len() as u64,
            shard_bits: self.shard_bits,
            index_bits: index.bits,
            hashes: section(16 * self.labels, self.hasher.finalize()),
            stop_hashes: section(stop_bytes.len() as u64, blake3::hash(&stop_bytes)),
            index: section(index_bytes.len() as u64, blake3::hash(&index_bytes)),
            filter: section(filter.len() as u64, blake3::hash(&filter)),
            sidecars: std::mem::take(&mut self.sidecars),
            made,
        };
        let file = &mut self.file;
        let mut write = || -> std::io::Result<()> {
            file.write_all(&stop_bytes)?;
            file.write_all(&index_bytes)?;
            file.write_all(&filter)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&header.encode())?;
            file.flush()
        };
        let path = self.path;
        write().map_err(|error| Error::io(&path, error))?;
        let output = self
            .file
            .into_inner()
            .map_err(|error| Error::io(&path, error.into_error()))?;
        output
            .finish_synced()
            .map_err(|error| Error::io(&path, error))?;
        Ok(header)
    }
}

/// Returns the path of a sidecar file.
pub(crate) fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The first label for each value of the first bits of a hash.
struct HashIndex {
    bits: u32,
    begins: Vec<u32>,
}

impl HashIndex {
    /// Creates an index for a number of labels, with one entry for about 16 of them, which are in
    /// four cache lines.
    fn new(labels: u64) -> HashIndex {
        let bits = (labels / 16).max(1).ilog2().min(MAX_INDEX_BITS);
        HashIndex {
            bits,
            begins: Vec::new(),
        }
    }

    /// Sets the first label for all values up to this one that have none yet.
    fn reach(&mut self, value: u64, labels: u64) -> Result<()> {
        let begin = u32::try_from(labels).map_err(|_| Error::TooMany)?;
        while self.begins.len() as u64 <= value {
            self.begins.push(begin);
        }
        Ok(())
    }
}
