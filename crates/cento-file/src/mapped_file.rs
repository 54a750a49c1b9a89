//! Memory-mapped files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memmap2::Mmap;

/// A file that is mapped into memory, whose pages are read when they are used; or a copy of it.
///
/// A mapping is for files that are written once, as [`Output`](crate::Output) does, and never
/// modified.
#[derive(Debug)]
pub struct MappedFile(FileContent);

#[derive(Debug)]
enum FileContent {
    Mapped(Mmap),
    /// A copy. Also used for an empty file, which some systems cannot map.
    Copied(Vec<u8>),
}

impl MappedFile {
    /// Reads the whole file into memory, where nobody can change it. Anything but a regular file is
    /// refused as [`io::ErrorKind::InvalidInput`].
    pub fn copy(path: &Path) -> io::Result<MappedFile> {
        let (mut file, length) = open_regular(path)?;
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        file.read_to_end(&mut bytes)?;
        Ok(MappedFile(FileContent::Copied(bytes)))
    }

    /// Maps a file. Anything but a regular file is refused as [`io::ErrorKind::InvalidInput`].
    #[expect(
        unsafe_code,
        reason = "a file of a gigabyte must open instantly and be shared by processes"
    )]
    pub fn open(path: &Path) -> io::Result<MappedFile> {
        let (file, length) = open_regular(path)?;
        if length == 0 {
            return Ok(MappedFile(FileContent::Copied(Vec::new())));
        }
        // Safety: the bytes of a mapping change if a process writes to the file. cento never does:
        // such files are written under another name and renamed, so that a mapped file keeps its
        // content even if it is replaced. If another program writes to it, we read other bytes;
        // all reads are of plain bytes with checked bounds, so that any bytes are valid. If another
        // program truncates it, the process is killed, as with every program that maps files.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(MappedFile(FileContent::Mapped(map)))
    }

    /// Returns the content of the file.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            FileContent::Mapped(map) => map,
            FileContent::Copied(bytes) => bytes,
        }
    }
}

/// Opens a regular file, and returns its length.
fn open_regular(path: &Path) -> io::Result<(File, u64)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    match metadata.is_file() {
        true => Ok((file, metadata.len())),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        )),
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
