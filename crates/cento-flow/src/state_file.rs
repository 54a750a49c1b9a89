//! Saving broadcast states to files and loading them.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::spill::PARTIAL;
use crate::state::AnyState;

/// Writes a state to a file, with a checksum at the end. The file is renamed to `path` when it is
/// complete.
pub(crate) fn save_state(state: &dyn AnyState, path: &Path) -> Result<()> {
    let partial = path.with_extension(PARTIAL);
    let write = || -> std::io::Result<()> {
        let mut output = Checksummed {
            inner: BufWriter::new(File::create(&partial)?),
            hash: Xxh3::new(),
        };
        state.write(&mut output)?;
        let check = output.hash.digest();
        output.inner.write_all(&check.to_le_bytes())?;
        output.inner.flush()?;
        fs::rename(&partial, path)
    };
    write().map_err(|error| Error::io(path, error))
}

/// Merges the content of a file into a state. A corrupted file is removed, so that the next run
/// builds the state again.
pub(crate) fn load_state(state: &dyn AnyState, path: &Path) -> Result<()> {
    absorb_file(state, path).inspect_err(|error| {
        if matches!(error, Error::Corrupted { .. }) {
            let _ = fs::remove_file(path);
        }
    })
}

fn absorb_file(state: &dyn AnyState, path: &Path) -> Result<()> {
    let failed = |error| Error::io(path, error);
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let body = length
        .checked_sub(8)
        .ok_or_else(|| Error::corrupted(path, "it is truncated"))?;
    let mut input = Checksummed {
        inner: BufReader::new(file).take(body),
        hash: Xxh3::new(),
    };
    state
        .absorb(&mut input)
        .map_err(|error| Error::corrupted(path, error.to_string()))?;
    let mut check = [0; 8];
    let found = input.hash.digest();
    let mut file = input.inner.into_inner();
    file.read_exact(&mut check).map_err(failed)?;
    if found.to_le_bytes() != check {
        return Err(Error::corrupted(path, "its checksum does not match"));
    }
    Ok(())
}

/// A reader or writer that hashes the bytes that pass through it.
struct Checksummed<T> {
    inner: T,
    hash: Xxh3,
}

impl<T: Write> Write for Checksummed<T> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for Checksummed<T> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.hash.update(bytes.get(..read).unwrap_or_default());
        Ok(read)
    }
}
