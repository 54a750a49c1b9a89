//! Files that contain a single page.

use std::sync::Arc;

use sha1::{Digest, Sha1};

use crate::bytes::{Stream, StreamError, unpacked_name};
use crate::reader::RecordReader;
use crate::record::{RecordBody, RecordMetadata};
use crate::{Cause, Error, Format, Item, Limits, Place, Record, Skipped, Start};

/// Reads a file that contains a single page.
pub(crate) struct SingleReader {
    stream: Stream,
    input: Arc<str>,
    url: String,
    bytes: Option<u64>,
    format: Format,
    limits: Limits,
    done: bool,
}

impl SingleReader {
    pub(crate) fn new(
        stream: Stream,
        input: Arc<str>,
        url: String,
        bytes: Option<u64>,
        format: Format,
        limits: Limits,
        from: Start,
    ) -> Self {
        SingleReader {
            stream,
            input,
            url,
            bytes,
            format,
            limits,
            done: from.ordinal > 0,
        }
    }

    fn read(&mut self) -> Result<RecordBody, StreamError> {
        let limit = usize::try_from(self.limits.max_page_bytes).unwrap_or(usize::MAX - 1);
        let expected = self.bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let mut content = Vec::with_capacity(expected.unwrap_or(0).min(limit) + 1);
        while !self.stream.take(&mut content, limit + 1)? {
            if !self.stream.next_member()? {
                return Ok(RecordBody::Bytes(content));
            }
        }
        let mut digest = Sha1::new();
        digest.update(&content);
        let mut bytes = content.len() as u64;
        loop {
            let missing = self.stream.skip(u64::MAX, Some(&mut digest))?;
            bytes += u64::MAX - missing;
            if !self.stream.next_member()? {
                break;
            }
        }
        Ok(RecordBody::TooLarge {
            head: Vec::new(),
            http: false,
            bytes,
            sha1: digest.finalize().into(),
        })
    }

    /// The media type by file name. Decoding checks it against the content.
    fn mime(&self) -> &'static str {
        let name = self.input.to_ascii_lowercase();
        let name = unpacked_name(&name);
        match self.format {
            Format::Text if name.ends_with(".md") || name.ends_with(".markdown") => "text/markdown",
            Format::Html if name.ends_with(".xml") => "application/xml",
            Format::Html if name.ends_with(".xhtml") || name.ends_with(".xht") => {
                "application/xhtml+xml"
            }
            Format::Html => "text/html",
            _ => "text/plain",
        }
    }
}

impl RecordReader for SingleReader {
    fn next(&mut self) -> Result<Option<Item>, Error> {
        if self.done {
            return Ok(None);
        }
        self.done = true;
        let read = self.read();
        let length = self.stream.bytes_read();
        let place = Place {
            ordinal: 0,
            offset: 0,
            length,
            next: Start {
                ordinal: 1,
                offset: length,
                skip: 0,
            },
        };
        let skipped = |cause, detail| {
            Item::Skipped(Skipped {
                place,
                cause,
                detail,
            })
        };
        Ok(Some(match read {
            Err(StreamError::Io(error)) => return Err(Error::from_io(&self.input, error)),
            Err(StreamError::Damaged(cause, detail)) => skipped(cause, detail),
            Err(StreamError::Truncated) => {
                skipped(Cause::Truncated, "the compressed data are truncated".into())
            }
            Ok(body) => Item::Record(Record {
                place,
                url: Some(self.url.clone()),
                ip: None,
                fetched: None,
                input: self.input.clone(),
                metadata: RecordMetadata {
                    mime: Some(self.mime().into()),
                    ..RecordMetadata::default()
                },
                body,
            }),
        }))
    }

    fn bytes_read(&self) -> u64 {
        self.stream.bytes_read()
    }
}
