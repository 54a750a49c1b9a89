//! Writing labels: in order, aside, and renamed when they are whole.

use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use cento_file::{Checksum, Output};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::filter::{FilterWriter, bucket, shard_bits};
use crate::header::{Beside, Header, MOST_INDEX_BITS, ROOM, Section};
use crate::recipe::Recipe;

/// Writes a file of labels. It takes its name when [`finish`](LabelsWriter::finish) has written all
/// of it; until then, what was there before stays.
pub struct LabelsWriter {
    path: PathBuf,
    file: BufWriter<Output>,
    recipe: Recipe,
    shard_bits: u32,
    hasher: blake3::Hasher,
    labels: u64,
    last: Option<[u8; 16]>,
    filter: FilterWriter,
    index: Index,
    beside: Vec<Beside>,
}

impl LabelsWriter {
    /// Begins a file for about so many labels.
    pub fn create(path: &Path, recipe: Recipe, labels: u64) -> Result<LabelsWriter> {
        let failed = |error| Error::io(path, error);
        let file = Output::create(path).map_err(failed)?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        file.write_all(&[0; ROOM]).map_err(failed)?;
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
            index: Index::new(labels),
            beside: Vec::new(),
        })
    }

    /// Adds a label. They must come in order; a label that comes twice is one.
    pub fn push(&mut self, hash: [u8; 16]) -> Result<()> {
        match self.last {
            Some(last) if last == hash => return Ok(()),
            Some(last) if last > hash => return Err(Error::Disorder),
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

    /// Notes a file beside the labels, which must be whole: its name is that of the labels with an
    /// ending behind it.
    pub fn note_beside(&mut self, ending: &str) -> Result<()> {
        let path = with_ending(&self.path, ending);
        let found = Checksum::of(&path).map_err(|error| Error::io(&path, error))?;
        self.beside.push(Beside {
            ending: ending.to_owned(),
            bytes: found.bytes,
            blake3: found.blake3,
        });
        Ok(())
    }

    /// Writes the stops, the filter and the header, and gives the file its name.
    pub fn finish(mut self, stops: &[[u8; 16]], made: Value) -> Result<Header> {
        let mut stops = stops.to_vec();
        stops.sort_unstable();
        stops.dedup();
        let filter = std::mem::replace(&mut self.filter, FilterWriter::new(0)).finish();
        let mut index = std::mem::replace(&mut self.index, Index::new(0));
        index.reach(1 << index.bits, self.labels)?;
        let index_bytes: Vec<u8> = index
            .begins
            .iter()
            .flat_map(|at| at.to_le_bytes())
            .collect();
        let stop_bytes: Vec<u8> = stops.iter().flatten().copied().collect();
        let mut end = ROOM as u64;
        let mut section = |length: u64, hash: blake3::Hash| {
            let offset = end;
            end += length;
            Section {
                offset,
                length,
                blake3: hash.to_hex().to_string(),
            }
        };
        let header = Header {
            recipe: self.recipe,
            labels: self.labels,
            stops: stops.len() as u64,
            shard_bits: self.shard_bits,
            index_bits: index.bits,
            hashes: section(16 * self.labels, self.hasher.finalize()),
            stop_hashes: section(stop_bytes.len() as u64, blake3::hash(&stop_bytes)),
            index: section(index_bytes.len() as u64, blake3::hash(&index_bytes)),
            filter: section(filter.len() as u64, blake3::hash(&filter)),
            beside: std::mem::take(&mut self.beside),
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

/// The name of a file beside labels.
pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Where the labels begin that share their first bits.
struct Index {
    bits: u32,
    begins: Vec<u32>,
}

impl Index {
    /// An index for so many labels: one entry for every 16 of them, about, which lie in four lines
    /// of a cache.
    fn new(labels: u64) -> Index {
        let bits = (labels / 16).max(1).ilog2().min(MOST_INDEX_BITS);
        Index {
            bits,
            begins: Vec::new(),
        }
    }

    /// Says that all values up to this one begin here, unless they began before.
    fn reach(&mut self, value: u64, labels: u64) -> Result<()> {
        let begin = u32::try_from(labels).map_err(|_| Error::TooMany)?;
        while self.begins.len() as u64 <= value {
            self.begins.push(begin);
        }
        Ok(())
    }
}
