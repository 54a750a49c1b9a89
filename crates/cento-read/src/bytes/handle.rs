//! A file that can be read at any place, here or on another machine.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use crate::remote::Ranged;

/// A file that can be read at any place. Like that of a `File`, its place is one, however many
/// refer to it.
#[derive(Clone)]
pub(crate) struct Handle(Arc<Kind>);

enum Kind {
    Local(File, u64),
    Remote(Box<Ranged>, AtomicU64),
}

impl Handle {
    pub(crate) fn local(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Handle(Arc::new(Kind::Local(file, length))))
    }

    pub(crate) fn remote(ranged: Ranged) -> Self {
        Handle(Arc::new(Kind::Remote(Box::new(ranged), AtomicU64::new(0))))
    }

    pub(crate) fn length(&self) -> u64 {
        match &*self.0 {
            Kind::Local(_, length) => *length,
            Kind::Remote(ranged, _) => ranged.length(),
        }
    }

    /// What went wrong with the network since this was last asked: libraries tell errors in their
    /// own words, and one that will pass must not be taken for a damaged file.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        match &*self.0 {
            Kind::Local(..) => None,
            Kind::Remote(ranged, _) => ranged.failure(),
        }
    }
}

impl Read for &Handle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &*self.0 {
            Kind::Local(file, _) => (&mut &*file).read(buffer),
            Kind::Remote(ranged, place) => {
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
            Kind::Local(file, _) => (&mut &*file).seek(to),
            Kind::Remote(ranged, place) => {
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

/// Reads on from a place of its own.
pub(crate) enum Part {
    Local(BufReader<File>),
    Remote(Handle, u64),
}

impl Read for Part {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Part::Local(file) => file.read(buffer),
            Part::Remote(handle, at) => match &*handle.0 {
                Kind::Local(..) => Ok(0),
                Kind::Remote(ranged, _) => {
                    let count = ranged.read_at(*at, buffer)?;
                    *at += count as u64;
                    Ok(count)
                }
            },
        }
    }
}

impl ChunkReader for Handle {
    type T = Part;

    fn get_read(&self, start: u64) -> ParquetResult<Part> {
        match &*self.0 {
            Kind::Local(file, _) => Ok(Part::Local(file.get_read(start)?)),
            Kind::Remote(..) => Ok(Part::Remote(self.clone(), start)),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<::bytes::Bytes> {
        if let Kind::Local(file, _) = &*self.0 {
            return file.get_bytes(start, length);
        }
        // What a table says about itself is not believed before the object is known to be as long.
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.length()) {
            return Err(ParquetError::EOF("it reaches beyond the end".into()));
        }
        let mut bytes = Vec::with_capacity(length);
        let read = Part::Remote(self.clone(), start)
            .take(length as u64)
            .read_to_end(&mut bytes)?;
        if read < length {
            return Err(ParquetError::EOF("it ends too early".into()));
        }
        Ok(bytes.into())
    }
}
