//! What a file of labels says about itself.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::recipe::Recipe;

/// The format version that this program writes.
pub const FORMAT_NEWEST: u32 = 1;
/// The oldest format version that this program still reads.
pub const FORMAT_OLDEST: u32 = 1;

const MAGIC: [u8; 8] = *b"cento\x00L\n";
/// Magic, version, length of the header, and its checksum.
const FRONT: usize = 48;
/// Where the first section begins.
pub(crate) const ROOM: usize = 8192;
/// The most bits that an index has.
pub(crate) const MOST_INDEX_BITS: u32 = 28;
/// The longest note on how labels were made: what is longer is cut off the header.
const NOTE: usize = 4096;

/// A stretch of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Where it begins.
    pub offset: u64,
    /// How many bytes it has.
    pub length: u64,
    /// Its checksum.
    pub blake3: String,
}

/// A file beside the labels that belongs to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// What its name has behind that of the labels.
    pub ending: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// Its checksum.
    pub blake3: String,
}

/// What a file of labels says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// What a label is the hash of.
    pub recipe: Recipe,
    /// How many labels there are.
    pub labels: u64,
    /// How many stop chunks, or stop files, there are.
    pub stops: u64,
    /// Into how many shards the filter is cut, as a power of two.
    pub shard_bits: u32,
    /// How many bits of a hash the index looks at.
    pub index_bits: u32,
    /// The labels, sorted.
    pub hashes: Section,
    /// The stops, sorted.
    pub stop_hashes: Section,
    /// Where the labels of each value of these bits begin.
    pub index: Section,
    /// The filter in front of the labels.
    pub filter: Section,
    /// The files beside it, as they were when it was written. Labels that an older program wrote
    /// tell of none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
    /// How they were made, in words of whoever made them.
    #[serde(default)]
    pub made: Value,
}

impl Header {
    /// The first bytes of a file with this header.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut header = self.clone();
        if header.made.to_string().len() > NOTE {
            header.made = Value::String("too long to be told".to_owned());
        }
        // Of numbers, fixed words and a short note: it has always room, and always a form in JSON.
        let json = serde_json::to_vec(&header).unwrap_or_default();
        let mut bytes = Vec::with_capacity(ROOM);
        bytes.extend(MAGIC);
        bytes.extend(FORMAT_NEWEST.to_le_bytes());
        bytes.extend((json.len() as u32).to_le_bytes());
        bytes.extend(blake3::hash(&json).as_bytes());
        bytes.extend(json);
        bytes.resize(ROOM, 0);
        bytes
    }

    /// Reads the header of a file, and checks that everything it tells of is there.
    pub(crate) fn decode(bytes: &[u8], path: &Path) -> Result<Header> {
        let damaged = |detail: &str| Error::damaged(path, detail);
        let rest = bytes
            .strip_prefix(&MAGIC)
            .ok_or_else(|| Error::NotLabels(path.to_owned()))?;
        let (version, rest) = take_u32(rest).ok_or_else(|| damaged("it ends in its header"))?;
        if version > FORMAT_NEWEST {
            return Err(Error::TooNew {
                path: path.to_owned(),
                found: version,
                newest: FORMAT_NEWEST,
            });
        }
        if version < FORMAT_OLDEST {
            return Err(damaged("it has a version that never was"));
        }
        let (length, rest) = take_u32(rest).ok_or_else(|| damaged("it ends in its header"))?;
        let length = length as usize;
        if length > ROOM - FRONT || bytes.len() < ROOM {
            return Err(damaged("it ends in its header"));
        }
        let (checksum, rest) = rest.split_at_checked(32).unwrap_or_default();
        let json = rest.get(..length).unwrap_or_default();
        if blake3::hash(json).as_bytes() != checksum {
            return Err(damaged("its header is not what was written"));
        }
        let header: Header = serde_json::from_slice(json)
            .map_err(|error| Error::damaged(path, format!("its header: {error}")))?;
        header.check(bytes.len() as u64, path)?;
        Ok(header)
    }

    /// Whether the sections follow each other, have the sizes that the counts ask for, and fill the
    /// file.
    fn check(&self, file: u64, path: &Path) -> Result<()> {
        let mut end = ROOM as u64;
        for section in [&self.hashes, &self.stop_hashes, &self.index, &self.filter] {
            if section.offset != end {
                return Err(Error::damaged(path, "its sections do not fit together"));
            }
            end = end.saturating_add(section.length);
        }
        if end != file {
            let detail = format!("it has {file} bytes, and should have {end}");
            return Err(Error::damaged(path, detail));
        }
        let sized = self.labels.checked_mul(16) == Some(self.hashes.length)
            && self.stops.checked_mul(16) == Some(self.stop_hashes.length)
            && self.index_bits <= MOST_INDEX_BITS
            && self.index.length == ((1u64 << self.index_bits) + 1) * 4;
        if !sized || self.shard_bits > 20 {
            return Err(Error::damaged(
                path,
                "its counts are not those of its hashes",
            ));
        }
        Ok(())
    }
}

fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}
