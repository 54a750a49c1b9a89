//! Checksums of files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The size and the hash of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checksum {
    /// The size in bytes.
    pub bytes: u64,
    /// The BLAKE3 hash, in hex.
    pub blake3: String,
}

impl Checksum {
    /// Computes the checksum of a file.
    pub fn of(path: &Path) -> io::Result<Checksum> {
        Checksum::read(File::open(path)?)
    }

    /// Computes the checksum of the rest of a reader.
    pub fn read(mut input: impl Read) -> io::Result<Checksum> {
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; 1 << 20];
        let mut bytes = 0;
        loop {
            match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    hasher.update(buffer.get(..read).unwrap_or_default());
                    bytes += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Checksum {
            bytes,
            blake3: hasher.finalize().to_hex().to_string(),
        })
    }
}
