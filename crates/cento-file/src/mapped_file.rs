//! Memory-mapped files: the only module with `unsafe` code.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

/// A file that is mapped into memory, whose pages are read when they are used.
///
/// For files that are written once, as [`Output`](crate::Output) does, and never modified.
#[derive(Debug)]
pub struct MappedFile {
    /// `None` for an empty file, which some systems cannot map.
    map: Option<Mmap>,
}

impl MappedFile {
    #[expect(
        unsafe_code,
        reason = "a file of a gigabyte must open instantly and be shared by processes"
    )]
    /// Maps a file. Anything but a regular file is refused as [`io::ErrorKind::InvalidInput`].
    pub fn open(path: &Path) -> io::Result<MappedFile> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        if metadata.len() == 0 {
            return Ok(MappedFile { map: None });
        }
        // Safety: the bytes of a mapping change if a process writes to the file. cento never does:
        // such files are written under another name and renamed, so that a mapped file keeps its
        // content even if it is replaced. If another program writes to it, we read other bytes;
        // all reads are of plain bytes with checked bounds, so that any bytes are valid. If another
        // program truncates it, the process is killed, as with every program that maps files.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(MappedFile { map: Some(map) })
    }

    /// Returns the content of the file.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
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
        }
        assert!(MappedFile::open(folder.path()).is_err());
        assert!(MappedFile::open(&folder.path().join("none")).is_err());
    }
}
