//! A file as memory: the one place with `unsafe` code.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use crate::error::{Error, Result};

/// The bytes of a file, read by the operating system as they are looked at.
pub(crate) struct Map {
    /// None for an empty file, which some systems do not map.
    map: Option<Mmap>,
}

impl Map {
    #[expect(
        unsafe_code,
        reason = "labels of a gigabyte must open at once and be shared by processes: only a mapping does both"
    )]
    pub(crate) fn open(path: &Path) -> Result<Map> {
        let failed = |error| Error::io(path, error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(Error::NotLabels(path.to_owned()));
        }
        if metadata.len() == 0 {
            return Ok(Map { map: None });
        }
        // Safety: the bytes of a mapping change if someone writes to the file. cento never does:
        // files of labels are written aside and renamed, so one that is mapped keeps its content
        // even if its name is given to another. Whoever else writes into it can make us read other
        // bytes, and every read here is of plain bytes and checked for its bounds, so that any
        // bytes will do; whoever shortens it stops the process, as with every program that maps
        // files.
        let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
        Ok(Map { map: Some(map) })
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_any_length_are_mapped_and_folders_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for content in [&b""[..], b"x", &[7; 70_000]] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(Map::open(&path).unwrap().bytes(), content);
        }
        assert!(Map::open(folder.path()).is_err());
        assert!(Map::open(&folder.path().join("none")).is_err());
    }
}
