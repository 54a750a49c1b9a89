//! Memory-mapped files: the only module with `unsafe` code.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use crate::error::{Error, Result};

/// A file that is mapped into memory, whose pages are read when they are used; or a copy of it.
pub(crate) enum MappedFile {
    /// A mapping.
    Mapped(Mmap),
    /// A copy. Also used for an empty file, which some systems cannot map.
    Copied(Vec<u8>),
}

impl MappedFile {
    /// Reads the whole file into memory, where nobody can change it.
    pub(crate) fn copy(path: &Path) -> Result<MappedFile> {
        let failed = |error| Error::io(path, error);
        if !std::fs::metadata(path).map_err(failed)?.is_file() {
            return Err(Error::NotLabels(path.to_owned()));
        }
        Ok(MappedFile::Copied(std::fs::read(path).map_err(failed)?))
    }

    #[expect(
        unsafe_code,
        reason = "a label file of a gigabyte must open instantly and be shared by processes"
    )]
    pub(crate) fn open(path: &Path) -> Result<MappedFile> {
        let failed = |error| Error::io(path, error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(Error::NotLabels(path.to_owned()));
        }
        if metadata.len() == 0 {
            return Ok(MappedFile::Copied(Vec::new()));
        }
        // Safety: the bytes of a mapping change if a process writes to the file. cento never does:
        // label files are written under another name and renamed, so that a mapped file keeps its
        // content even if it is replaced. If another program writes to it, we read other bytes;
        // all reads are of plain bytes with checked bounds, so that any bytes are valid. If another
        // program truncates it, the process is killed, as with every program that maps files.
        let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
        Ok(MappedFile::Mapped(map))
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            MappedFile::Mapped(map) => map,
            MappedFile::Copied(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_any_length_can_be_mapped_and_folders_cannot() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for content in [&b""[..], b"x", &[7; 70_000]] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(MappedFile::open(&path).unwrap().bytes(), content);
            assert_eq!(MappedFile::copy(&path).unwrap().bytes(), content);
        }
        assert!(MappedFile::open(folder.path()).is_err());
        assert!(MappedFile::copy(folder.path()).is_err());
        assert!(MappedFile::open(&folder.path().join("none")).is_err());
    }
}
