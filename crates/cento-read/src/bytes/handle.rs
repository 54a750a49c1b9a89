//! Files and remote objects that can be read at any offset.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use crate::remote::RangeReader;

/// A file or a remote object that can be read at any offset. Clones share one position, as those of
/// a `File` do.
#[derive(Clone)]
pub(crate) struct Handle(Arc<FileLocation>);

enum FileLocation {
    Local(File, u64),
    Remote(Box<RangeReader>, AtomicU64),
}

impl Handle {
    pub(crate) fn local(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Handle(Arc::new(FileLocation::Local(file, length))))
    }

    pub(crate) fn remote(ranged: RangeReader) -> Self {
        Handle(Arc::new(FileLocation::Remote(
            Box::new(ranged),
            AtomicU64::new(0),
        )))
    }

    pub(crate) fn length(&self) -> u64 {
        match &*self.0 {
            FileLocation::Local(_, length) => *length,
            FileLocation::Remote(ranged, _) => ranged.length(),
        }
    }

    /// The last network error, which this call clears. Libraries convert errors to text, and a
    /// temporary network error must not be reported as a corrupted file.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        match &*self.0 {
            FileLocation::Local(..) => None,
            FileLocation::Remote(ranged, _) => ranged.failure(),
        }
    }
}

impl Read for &Handle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &*self.0 {
            FileLocation::Local(file, _) => (&mut &*file).read(buffer),
            FileLocation::Remote(ranged, place) => {
                let count = ranged.read_at(place.load(Ordering::Relaxed), buffer)?;
                place.fetch_add(count as u64, Ordering::Relaxed);
                Ok(count)
            }
        }
    }
}

impl Seek for &Handle {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &*self.0 {
            FileLocation::Local(file, _) => (&mut &*file).seek(to),
            FileLocation::Remote(ranged, place) => {
                let here = match to {
                    SeekFrom::Start(offset) => Some(offset),
                    SeekFrom::End(offset) => ranged.length().checked_add_signed(offset),
                    SeekFrom::Current(offset) => {
                        place.load(Ordering::Relaxed).checked_add_signed(offset)
                    }
                };
                let here = here.ok_or(io::ErrorKind::InvalidInput)?;
                place.store(here, Ordering::Relaxed);
                Ok(here)
            }
        }
    }
}

impl Length for Handle {
    fn len(&self) -> u64 {
        self.length()
    }
}

/// Reads forward from an offset, with its own position.
pub(crate) enum HandleReader {
    Local(BufReader<File>),
    Remote(Handle, u64),
}

impl Read for HandleReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            HandleReader::Local(file) => file.read(buffer),
            HandleReader::Remote(handle, at) => match &*handle.0 {
                FileLocation::Local(..) => Ok(0),
                FileLocation::Remote(ranged, _) => {
                    let count = ranged.read_at(*at, buffer)?;
                    *at += count as u64;
                    Ok(count)
                }
            },
        }
    }
}

impl ChunkReader for Handle {
    type T = HandleReader;

    fn get_read(&self, start: u64) -> ParquetResult<HandleReader> {
        match &*self.0 {
            FileLocation::Local(file, _) => Ok(HandleReader::Local(file.get_read(start)?)),
            FileLocation::Remote(..) => Ok(HandleReader::Remote(self.clone(), start)),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<::bytes::Bytes> {
        // The offsets in a table are not trusted: they are compared with the length of the file.
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.length()) {
            return Err(ParquetError::EOF(
                "it extends beyond the end of the file".into(),
            ));
        }
        if let FileLocation::Local(file, _) = &*self.0 {
            return file.get_bytes(start, length);
        }
        let mut bytes = Vec::with_capacity(length);
        let read = HandleReader::Remote(self.clone(), start)
            .take(length as u64)
            .read_to_end(&mut bytes)?;
        if read < length {
            return Err(ParquetError::EOF("the file is truncated".into()));
        }
        Ok(bytes.into())
    }
}
