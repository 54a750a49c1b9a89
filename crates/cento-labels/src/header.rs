//! The header of a label file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::recipe::Recipe;

/// The format version that this version of cento writes.
pub const FORMAT_NEWEST: u32 = 1;
/// The oldest format version that this version of cento reads.
pub const FORMAT_OLDEST: u32 = 1;

const MAGIC: [u8; 8] = *b"cento\x00L\n";
/// Bytes of the magic number, the version, the length of the header and its checksum.
const PREAMBLE: usize = 48;
/// The size of the padded header, after which the first section begins.
pub(crate) const HEADER_BYTES: usize = 8192;
/// The maximum number of bits of the index.
pub(crate) const MAX_INDEX_BITS: u32 = 28;
/// The maximum length of the note on how labels were made.
const MAX_NOTE: usize = 4096;

/// A section of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileSection {
    /// The offset of its first byte.
    pub offset: u64,
    /// The number of its bytes.
    pub length: u64,
    /// Its BLAKE3 hash, in hex.
    pub blake3: String,
}

/// A file that belongs to the label file and has its name with a suffix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Sidecar {
    /// The suffix of its name.
    pub ending: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its BLAKE3 hash, in hex.
    pub blake3: String,
}

/// The header of a label file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LabelsHeader {
    /// What a label is the hash of.
    pub recipe: Recipe,
    /// The number of labels.
    pub labels: u64,
    /// The number of stop chunks or stop files.
    pub stops: u64,
    /// The binary logarithm of the number of shards of the filter.
    pub shard_bits: u32,
    /// The number of bits of a hash that the index uses.
    pub index_bits: u32,
    /// The labels, sorted.
    pub hashes: FileSection,
    /// The hashes of the stop chunks, sorted.
    pub stop_hashes: FileSection,
    /// The index: the first label for each value of these bits.
    pub index: FileSection,
    /// The filter of all labels.
    pub filter: FileSection,
    /// The sidecar files. Files of older versions have none.
    #[serde(rename = "beside", default, skip_serializing_if = "Vec::is_empty")]
    pub sidecars: Vec<Sidecar>,
    /// A note on how the labels were made.
    #[serde(default)]
    pub made: Value,
}

impl LabelsHeader {
    /// Returns the first bytes of a file with this header.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut header = self.clone();
        if header.made.to_string().len() > MAX_NOTE {
            header.made = Value::String("too long".to_owned());
        }
        // Numbers, names and a short note: this always fits, and serialising cannot fail.
        let json = serde_json::to_vec(&header).unwrap_or_default();
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(FORMAT_NEWEST.to_le_bytes());
        bytes.extend((json.len() as u32).to_le_bytes());
        bytes.extend(blake3::hash(&json).as_bytes());
        bytes.extend(json);
        bytes.resize(HEADER_BYTES, 0);
        bytes
    }

    /// Decodes the header of a file, and checks it.
    pub(crate) fn decode(bytes: &[u8], path: &Path) -> Result<LabelsHeader> {
        let corrupted = |detail: &str| Error::corrupted(path, detail);
        let rest = bytes
            .strip_prefix(&MAGIC)
            .ok_or_else(|| Error::NotLabels(path.to_owned()))?;
        let (version, rest) = take_u32(rest).ok_or_else(|| corrupted("its header is truncated"))?;
        if version > FORMAT_NEWEST {
            return Err(Error::TooNew {
                path: path.to_owned(),
                found: version,
                newest: FORMAT_NEWEST,
            });
        }
        if version < FORMAT_OLDEST {
            return Err(corrupted("its format version is invalid"));
        }
        let (length, rest) = take_u32(rest).ok_or_else(|| corrupted("its header is truncated"))?;
        let length = length as usize;
        if length > HEADER_BYTES - PREAMBLE || bytes.len() < HEADER_BYTES {
            return Err(corrupted("its header is truncated"));
        }
        let (checksum, rest) = rest.split_at_checked(32).unwrap_or_default();
        let json = rest.get(..length).unwrap_or_default();
        if blake3::hash(json).as_bytes() != checksum {
            return Err(corrupted("the checksum of its header does not match"));
        }
        let header: LabelsHeader = serde_json::from_slice(json)
            .map_err(|error| Error::corrupted(path, format!("its header is invalid: {error}")))?;
        header.check(bytes.len() as u64, path)?;
        Ok(header)
    }

    /// Checks that the sections are contiguous, match the counts, and fill the file.
    fn check(&self, file: u64, path: &Path) -> Result<()> {
        let mut end = HEADER_BYTES as u64;
        for section in [&self.hashes, &self.stop_hashes, &self.index, &self.filter] {
            if section.offset != end {
                return Err(Error::corrupted(path, "its sections are not contiguous"));
            }
            end = end.saturating_add(section.length);
        }
        if end != file {
            let detail = format!("it has {file} bytes instead of {end}");
            return Err(Error::corrupted(path, detail));
        }
        let sized = self.labels.checked_mul(16) == Some(self.hashes.length)
            && self.stops.checked_mul(16) == Some(self.stop_hashes.length)
            && self.index_bits <= MAX_INDEX_BITS
            && self.index.length == ((1u64 << self.index_bits) + 1) * 4;
        if !sized || self.shard_bits > 20 {
            return Err(Error::corrupted(
                path,
                "its counts do not match the size of its sections",
            ));
        }
        Ok(())
    }
}

fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}
