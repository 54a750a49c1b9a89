//! The file that names the segments of an index.
//!
//! ```text
//!   NAME.cento/query/
//!     index.json                    format version, scheme, segments with their checksums
//!     segment-9f27c1….bin           the index of some parts of the corpus
//!     .lock                         locked by the process that writes
//! ```
//!
//! A segment that `index.json` does not name does not exist. The file is replaced atomically, after
//! the segments that it names are complete.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use cento_file::{Output, Seal, check_seal, seal};
use cento_fingerprint::Scheme;
use cento_store::Manifest;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::segment::{FORMAT_NEWEST, FORMAT_OLDEST};

/// The name of the folder of the index in a corpus.
pub const QUERY: &str = "query";
/// The file that names the segments.
const ROOT: &str = "index.json";

/// A segment of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListedSegment {
    /// The name of the file.
    pub(crate) file: String,
    /// Its size.
    pub(crate) bytes: u64,
    /// Its BLAKE3 hash, in hex.
    pub(crate) blake3: String,
    /// The number of parts of the corpus that this segment and those before it cover.
    pub(crate) parts: usize,
    /// The hash of these parts.
    pub(crate) corpus: String,
    /// The number of its pages.
    pub(crate) pages: u32,
    /// Bytes of their text.
    pub(crate) text_bytes: u64,
}

/// The content of `index.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexRoot {
    pub(crate) format: u32,
    pub(crate) scheme: Scheme,
    pub(crate) segments: Vec<ListedSegment>,
}

/// Returns the folder of the index of a corpus.
pub(crate) fn folder_of(corpus: &Path) -> PathBuf {
    corpus.join(QUERY)
}

impl IndexRoot {
    /// Reads the root of an index; `None` if the corpus has no index.
    pub(crate) fn load(corpus: &Path) -> Result<Option<IndexRoot>> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let path = folder_of(corpus).join(ROOT);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&path, error)),
        };
        let invalid = |error: serde_json::Error| Error::corrupted(&path, error.to_string());
        // The version first: a newer program may compute another checksum.
        let head: Head = serde_json::from_slice(&bytes).map_err(invalid)?;
        if head.format > FORMAT_NEWEST {
            return Err(Error::TooNew {
                path,
                found: head.format,
                newest: FORMAT_NEWEST,
            });
        }
        if check_seal(&bytes) != Seal::Valid {
            let detail = "its checksum does not match its content";
            return Err(Error::corrupted(&path, detail));
        }
        let root: IndexRoot = serde_json::from_slice(&bytes).map_err(invalid)?;
        let mut parts = 0;
        for segment in &root.segments {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
            let named = is_segment(&segment.file) && segment.file.bytes().all(plain);
            if !named || segment.parts < parts {
                return Err(Error::corrupted(&path, "its segments are invalid"));
            }
            parts = segment.parts;
        }
        if root.format < FORMAT_OLDEST {
            return Err(Error::corrupted(&path, "its format version is invalid"));
        }
        Ok(Some(root))
    }

    /// Replaces the root of an index, and removes segments that it does not name.
    pub(crate) fn save(&self, corpus: &Path) -> Result<()> {
        let folder = folder_of(corpus);
        let path = folder.join(ROOT);
        let write = || -> std::io::Result<()> {
            let mut output = Output::within(&path)?;
            output.write_all(&seal(&serde_json::to_string_pretty(self)?))?;
            output.finish_synced()
        };
        write().map_err(|error| Error::io(&path, error))?;
        for entry in fs::read_dir(&folder).map_err(|error| Error::io(&folder, error))? {
            let entry = entry.map_err(|error| Error::io(&folder, error))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let known = self.segments.iter().any(|segment| segment.file == *name);
            if is_segment(&name) && !known {
                // Processes that have mapped the segment keep its content.
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// Returns the number of parts that the index covers.
    pub(crate) fn parts(&self) -> usize {
        self.segments.last().map_or(0, |segment| segment.parts)
    }

    /// Whether the index covers the first parts of a corpus as they are now.
    pub(crate) fn is_of(&self, manifest: &Manifest) -> bool {
        let mut segments = self.segments.iter();
        segments
            .all(|segment| hash_of_parts(manifest, segment.parts).as_ref() == Some(&segment.corpus))
    }
}

fn is_segment(name: &str) -> bool {
    name.starts_with("segment-") && name.ends_with(".bin")
}

/// Returns the hash of the parameters and of the first parts of a corpus; `None` if it has fewer.
pub(crate) fn hash_of_parts(manifest: &Manifest, parts: usize) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    // Parameters are maps, strings and integers, so this does not fail.
    hasher.update(&serde_json::to_vec(&manifest.parameters).unwrap_or_default());
    for part in manifest.parts.get(..parts)? {
        for file in [Some(&part.pages), part.text.as_ref()] {
            hasher.update(b"\n");
            hasher.update(file.map_or("", |file| &file.blake3).as_bytes());
        }
    }
    Some(hasher.finalize().to_hex().to_string())
}
