//! Whether a file still is what it was.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The size of a file and the hash of all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checksum {
    /// Its size.
    pub bytes: u64,
    /// BLAKE3 over all of it, in hex.
    pub blake3: String,
}

impl Checksum {
    /// Reads all of a file.
    pub fn of(path: &Path) -> io::Result<Checksum> {
        Checksum::read(File::open(path)?)
    }

    /// Reads what is left of anything.
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
