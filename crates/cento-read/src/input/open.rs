//! Opens inputs.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use super::guess::{self, Guess};
use super::{IgnoredCause, Input, Location};
use crate::arc::{self, ArcReader};
use crate::bytes::{
    Ahead, ByteOrigin, ByteSource, FRONT, Handle, LONGEST_MAGIC, Stream, StreamError,
    may_be_packed, packing_named, packing_of,
};
use crate::decode::sniff;
use crate::json::LineReader;
use crate::reader::RecordReader;
use crate::remote::{RangeReader, RemoteBody};
use crate::single::SingleReader;
use crate::table::TableReader;
use crate::wacz::WaczReader;
use crate::warc::WarcReader;
use crate::warc::header;
use crate::{Error, Format, Packing, Reader, Settings, Start};

impl Location {
    /// Whether it can be read at any offset.
    fn is_random(&self) -> bool {
        matches!(self, Location::File(_) | Location::Remote(_))
    }

    /// Opens it for reading at any offset.
    pub(crate) fn handle(&self) -> io::Result<Handle> {
        match self {
            Location::File(path) | Location::Pipe(path) => Handle::local(File::open(path)?),
            Location::Remote(object) => {
                Ok(Handle::remote(RangeReader::new(object.clone(), Vec::new())))
            }
            Location::Stdin => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Opens it for reading up to `end`, at any offset before it.
    pub(crate) fn range(&self, end: u64) -> io::Result<ByteOrigin> {
        match self {
            Location::File(path) | Location::Pipe(path) => {
                Ok(ByteOrigin::Range(File::open(path)?, end))
            }
            Location::Remote(object) => Ok(ByteOrigin::Remote(Box::new(RemoteBody::new(
                object.clone(),
                0,
                Some(end),
            )))),
            Location::Stdin => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Opens it for reading once from `begin` to `end`.
    pub(crate) fn part(&self, begin: u64, end: u64) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Location::File(path) | Location::Pipe(path) => {
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(begin))?;
                Ok(Box::new(file.take(end.saturating_sub(begin))))
            }
            Location::Remote(object) => {
                Ok(Box::new(RemoteBody::new(object.clone(), begin, Some(end))))
            }
            Location::Stdin => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl Input {
    /// Opens the input at `from`. If the format does not allow reading to begin there, earlier
    /// records are read and dropped. A stream can be opened only once.
    pub fn open(&self, settings: &Settings, from: Start) -> Result<Reader, Error> {
        let failed = |error| Error::from_io(&self.name, error);
        let name: Arc<str> = self.name.as_str().into();
        match self.format {
            Some(Format::Parquet) if self.location.is_random() => {
                let file = self.location.handle().map_err(failed)?;
                let records = TableReader::open(file, name, settings, from)?;
                return Ok(Reader::new(records));
            }
            Some(Format::Wacz) if self.location.is_random() => {
                let limits = settings.limits.clone();
                let records = WaczReader::open(self.location.clone(), name, limits, from)?;
                return Ok(Reader::new(records));
            }
            _ => {}
        }
        let origin = match &self.location {
            Location::Stdin => ByteOrigin::Stream(Box::new(std::io::stdin())),
            Location::Pipe(path) => ByteOrigin::Stream(Box::new(File::open(path).map_err(failed)?)),
            Location::File(path) => {
                let file = File::open(path).map_err(failed)?;
                let length = file.metadata().map_err(failed)?.len();
                ByteOrigin::File(file, length)
            }
            Location::Remote(object) => {
                ByteOrigin::Remote(Box::new(RemoteBody::new(object.clone(), 0, None)))
            }
        };
        let mut source = ByteSource::new(origin);
        let format = self.detect_format(&mut source)?;
        let packing = self.packing(source.available());
        let ahead = match &self.location {
            Location::File(path) if packing == Packing::Gzip => {
                Ahead::new(path, source.length().unwrap_or(0), settings.helpers)
            }
            _ => None,
        };
        let mut stream = Stream::with_help(source, packing, ahead).within(&settings.limits);
        let seek = |stream: &mut Stream| match stream.seek(from.offset) {
            Err(StreamError::Io(error)) => Err(failed(error)),
            _ => Ok(()),
        };
        let records: Box<dyn RecordReader + Send> = match format {
            Format::Parquet | Format::Wacz => {
                return Err(Error::NeedsFile {
                    name: self.name.clone(),
                    format,
                });
            }
            Format::Warc => {
                seek(&mut stream)?;
                let limits = settings.limits.clone();
                let reader = WarcReader::new(stream, name, limits, from);
                Box::new(reader.promptly(settings.prompt))
            }
            Format::Arc => {
                seek(&mut stream)?;
                Box::new(ArcReader::new(stream, name, settings.limits.clone(), from))
            }
            Format::JsonLines => {
                seek(&mut stream)?;
                let limit = settings.limits.max_line_bytes;
                let fields = &settings.fields;
                Box::new(LineReader::new(stream, packing, name, fields, limit, from))
            }
            Format::Html | Format::Text => Box::new(SingleReader::new(
                stream,
                name,
                self.url.clone(),
                self.bytes,
                format,
                settings.limits.clone(),
                from,
            )),
        };
        Ok(Reader { records })
    }

    /// Reads enough of the input to detect its compression and, if that is not known, its format.
    ///
    /// A file is read up to the number of bytes that any format needs. The writer of a stream may
    /// wait for an answer to its first page, so a stream is read no further than necessary:
    /// `detect(front) = detect(whole)` for every front that is decisive.
    fn detect_format(&self, source: &mut ByteSource) -> Result<Format, Error> {
        let failed = |error| Error::from_io(&self.name, error);
        let waits = !source.reads_without_waiting();
        if let Some(format) = self.format {
            let mut needed = if waits { 1 } else { sniff::SNIFFED_BYTES };
            source.ensure(needed).map_err(failed)?;
            if waits && may_be_packed(source.available()) {
                needed = LONGEST_MAGIC;
                source.ensure(needed).map_err(failed)?;
            }
            return Ok(format);
        }
        if waits {
            source.ensure(1).map_err(failed)?;
            while source.available().len() < sniff::SNIFFED_BYTES {
                if let Some(format) = guess::by_begun_stream(source.available()) {
                    return Ok(format);
                }
                if !source.more().map_err(failed)? {
                    break;
                }
            }
        }
        source.ensure(sniff::SNIFFED_BYTES).map_err(failed)?;
        let mut front_bytes = sniff::SNIFFED_BYTES;
        if packing_of(source.available()).is_some() {
            front_bytes = FRONT;
            while source.available().len() < front_bytes {
                if waits && let Some(format) = guess::by_begun_stream(source.available()) {
                    return Ok(format);
                }
                if !source.more().map_err(failed)? {
                    break;
                }
            }
        }
        let front = source.available();
        self.format_of_stream(front, front.len() < front_bytes)
    }

    fn format_of_stream(&self, front: &[u8], whole: bool) -> Result<Format, Error> {
        match guess::by_front(front, whole) {
            Guess::Format(format) => Ok(format),
            // The directory of a zip is at its end. The most likely useful content is a WACZ.
            Guess::Unsupported(guess::ARCHIVE_OF_FILES) => Ok(Format::Wacz),
            Guess::Unsupported(kind) => Err(Error::Unsupported {
                name: self.name.clone(),
                kind: kind.into(),
            }),
            _ => Err(Error::NothingToRead {
                name: self.name.clone(),
                problem: IgnoredCause::Binary.sentence().into(),
            }),
        }
    }

    /// The compression format by the first bytes of the input. If they show nothing, as in a file
    /// that is damaged from the beginning, the name decides.
    fn packing(&self, front: &[u8]) -> Packing {
        let begin = front.trim_ascii_start();
        let shows = header::begins(begin) || begin.starts_with(arc::BEGINNING);
        let is_archive = matches!(self.format, Some(Format::Warc | Format::Arc));
        let named = packing_named(&self.name).filter(|_| is_archive && !shows);
        packing_of(front).or(named).unwrap_or(Packing::Plain)
    }
}
