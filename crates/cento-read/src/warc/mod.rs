//! WARC of any version, plain or compressed in members of any size.
//!
//! ```text
//!  WARC/1.0            ┐
//!  WARC-Type: response │ header, up to an empty line
//!  Content-Length: 42  │
//!                      ┘
//!  HTTP/1.1 200 OK …     block, with the length in the header
//!  ⏎ ⏎                   two line ends, or none, or more
//! ```
//! A record is accepted if it is followed by another record, the end of its member or the end of
//! the input. It is also accepted if two line ends and something else follow, which is then a
//! damaged record, unless the block contains a record: then its length is too long. Otherwise the
//! length of the record is wrong, and the search for the next record begins within its block.
//!
//! ARC files are read in the same way. What differs between the formats is a [`Dialect`].

mod block;
mod dialect;
pub(crate) mod header;
#[cfg(test)]
pub(crate) mod properties;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::sync::Arc;

pub(crate) use dialect::{Dialect, Follows, Warc};
use header::{RecordHeader, RecordKind};

use crate::bytes::{Filled, Stream, StreamError};
use crate::reader::{RecordReader, following, from_first};
use crate::{Cause, Error, Ignored, IgnoredKind, Item, Limits, Place, Skipped, Start};

/// Reads a WARC file.
pub(crate) type WarcReader = ArchiveReader<Warc>;

/// Reads an archive: a sequence of records, each with a header that contains its length.
pub(crate) struct ArchiveReader<D> {
    dialect: PhantomData<D>,
    stream: Stream,
    input: Arc<str>,
    limits: Limits,
    /// The ordinal of the next record.
    ordinal: u32,
    /// The ordinal of the first record to deliver.
    first: u32,
    /// The last offset at which reading can begin, and the ordinal of the record there.
    anchor: (u64, u32),
    /// Whether to deliver a record without waiting for the next one.
    prompt: bool,
    /// A buffer for blocks of ignored records.
    scratch: Vec<u8>,
}

/// Why a record cannot be read.
enum WarcFailure {
    /// The input cannot be read any further.
    Fatal(Error),
    /// The record is damaged. The stream is at the position where the search for the next record
    /// begins.
    Record(Cause, String),
    /// The block does not have the length in its header. The stream is at the beginning of the
    /// block.
    Block(Cause, String),
    /// The compressed member is damaged.
    Member(Cause, String),
}

impl WarcFailure {
    /// A block that does not have the length in its header, `returned` to the stream or not.
    fn of_block(returned: bool, cause: Cause, detail: String) -> WarcFailure {
        if returned {
            WarcFailure::Block(cause, detail)
        } else {
            WarcFailure::Record(cause, detail)
        }
    }
}

impl<D: Dialect> ArchiveReader<D> {
    /// Reads from the current position of `stream`, which is at `from`.
    pub(crate) fn new(stream: Stream, input: Arc<str>, limits: Limits, from: Start) -> Self {
        let ordinal = from.ordinal.saturating_sub(from.skip);
        ArchiveReader {
            dialect: PhantomData,
            stream,
            input,
            limits,
            ordinal,
            first: from.ordinal,
            anchor: (from.offset, ordinal),
            prompt: false,
            scratch: Vec::new(),
        }
    }

    /// Sets whether to deliver a record without waiting for the next one.
    pub(crate) fn promptly(mut self, prompt: bool) -> Self {
        self.prompt = prompt;
        self
    }

    /// The ordinal of the next record, if there is one.
    pub(crate) fn ordinal(&self) -> u32 {
        self.ordinal
    }

    fn failure(&self, error: StreamError) -> WarcFailure {
        match error {
            StreamError::Io(error) => WarcFailure::Fatal(Error::from_io(&self.input, error)),
            StreamError::Damaged(cause, detail) => WarcFailure::Member(cause, detail),
            StreamError::Truncated => {
                WarcFailure::Member(Cause::Truncated, "the compressed data are truncated".into())
            }
        }
    }

    /// Moves to the next record. Returns whether there is one.
    fn find_record(&mut self) -> Result<bool, StreamError> {
        loop {
            self.stream.skip_line_ends();
            if !self.stream.window().is_empty() {
                return Ok(true);
            }
            match self.stream.fill()? {
                Filled::Bytes => {}
                Filled::MemberEnd if self.stream.next_member()? => {}
                Filled::MemberEnd | Filled::End => return Ok(false),
            }
        }
    }

    fn item(&mut self) -> Result<Option<Item>, Error> {
        let found = self.find_record();
        let offset = self.stream.offset();
        if let Some(border) = self.stream.border() {
            self.anchor = (border, self.ordinal);
        }
        let read = match found {
            Ok(false) => return Ok(None),
            Ok(true) => self.read_record(),
            Err(error) => Err(self.failure(error)),
        };
        match read {
            Ok(item) => Ok(Some(self.placed(offset, item)?)),
            Err(failure) => self.damaged(offset, failure).map(Some),
        }
    }

    /// Sets the place of an item. The stream is behind the item.
    fn placed(&mut self, offset: u64, mut item: Item) -> Result<Item, Error> {
        let ordinal = self.ordinal;
        self.ordinal = following(ordinal, &self.input)?;
        let border = self.stream.border();
        let next = match border {
            Some(offset) => Start {
                ordinal: self.ordinal,
                offset,
                skip: 0,
            },
            None => Start {
                ordinal: self.ordinal,
                offset: self.anchor.0,
                skip: self.ordinal - self.anchor.1,
            },
        };
        let length = match border {
            // Only a record that began at a border occupies all bytes between the two borders.
            Some(end) if self.anchor == (offset, ordinal) => end.saturating_sub(offset),
            _ => 0,
        };
        *item.place_mut() = Place {
            ordinal,
            offset,
            length,
            next,
        };
        Ok(item)
    }

    /// Moves past the damage and returns an item for it.
    fn damaged(&mut self, offset: u64, failure: WarcFailure) -> Result<Item, Error> {
        let (cause, detail) = match failure {
            WarcFailure::Fatal(error) => return Err(error),
            WarcFailure::Record(cause, detail) | WarcFailure::Block(cause, detail) => {
                if let Err(error) = self.find_beginning() {
                    self.find_member(error)?;
                }
                (cause, detail)
            }
            WarcFailure::Member(cause, detail) => {
                self.find_member(StreamError::Truncated)?;
                (cause, detail)
            }
        };
        let skipped = Skipped {
            place: Place::default(),
            cause,
            detail,
        };
        self.placed(offset, Item::Skipped(skipped))
    }

    fn find_member(&mut self, error: StreamError) -> Result<(), Error> {
        let found = match error {
            StreamError::Io(error) => Err(StreamError::Io(error)),
            StreamError::Damaged(..) | StreamError::Truncated => {
                self.stream.find_member(D::BEGINNING)
            }
        };
        match found {
            Err(StreamError::Io(error)) => Err(Error::from_io(&self.input, error)),
            _ => Ok(()),
        }
    }

    /// Moves to the next line that begins a record, or to the end of the member.
    fn find_beginning(&mut self) -> Result<(), StreamError> {
        let mut at_line_start = true;
        loop {
            let window = self.stream.window();
            let passed = match D::find(window, at_line_start) {
                Ok(at) => {
                    self.stream.advance(at);
                    return Ok(());
                }
                Err(passed) => passed,
            };
            if passed > 0 {
                at_line_start = window[passed - 1] == b'\n';
            }
            self.stream.advance(passed);
            if self.stream.fill()? != Filled::Bytes {
                self.stream.advance(self.stream.window().len());
                return Ok(());
            }
        }
    }

    fn read_record(&mut self) -> Result<Item, WarcFailure> {
        let header = self.read_header()?;
        let ignored = match header.kind {
            RecordKind::Response
            | RecordKind::Resource
            | RecordKind::Conversion
            | RecordKind::Revisit => is_not_page(&header).then_some(IgnoredKind::NotWeb),
            RecordKind::Request => Some(IgnoredKind::Request),
            RecordKind::Metadata => Some(IgnoredKind::Metadata),
            RecordKind::WarcInfo => Some(IgnoredKind::WarcInfo),
            RecordKind::Continuation => Some(IgnoredKind::Continuation),
            RecordKind::Other => Some(IgnoredKind::Other),
        };
        match ignored {
            None => self.read_page(header).map(Item::Record),
            Some(kind) => {
                self.skip_block(header.length)?;
                Ok(Item::Ignored(Ignored {
                    place: Place::default(),
                    kind,
                }))
            }
        }
    }

    fn read_header(&mut self) -> Result<RecordHeader, WarcFailure> {
        let end = loop {
            let window = self.stream.window();
            if !D::may_begin(window) {
                let detail = format!("expected a record, found {}", header::first_line(window));
                return Err(WarcFailure::Record(Cause::BadHeader, detail));
            }
            match D::header_end(window) {
                Some(end) if end <= self.limits.max_header_bytes => break end,
                None if window.len() <= self.limits.max_header_bytes => {}
                _ => {
                    let length = window.len();
                    let again = self.stream.may_reread(length as u64);
                    self.stream.advance(if again { D::PASSED } else { length });
                    let detail = format!("the limit is {} bytes", self.limits.max_header_bytes);
                    return Err(WarcFailure::Record(Cause::HeaderTooLong, detail));
                }
            }
            match self.stream.fill() {
                Ok(Filled::Bytes) => {}
                Ok(filled) => {
                    let crossed = filled == Filled::MemberEnd
                        && self
                            .stream
                            .cross(D::BEGINNING)
                            .map_err(|error| self.failure(error))?;
                    if !crossed {
                        self.stream.advance(D::PASSED);
                        let detail = "the header has no end".into();
                        return Err(WarcFailure::Record(Cause::Truncated, detail));
                    }
                }
                Err(error) => return Err(self.failure(error)),
            }
        };
        let header = &self.stream.window()[..end];
        let lines = memchr::memchr_iter(b'\n', header).count();
        let limit = self.limits.max_header_lines;
        if lines > limit {
            self.stream.advance(end);
            let detail = format!("{lines} lines, the limit is {limit}");
            return Err(WarcFailure::Record(Cause::HeaderTooLong, detail));
        }
        if let Some(at) = D::header_within(header) {
            self.stream.advance(at);
            let detail = "another header begins within it".into();
            return Err(WarcFailure::Record(Cause::BadHeader, detail));
        }
        let parsed = D::parse(header);
        self.stream.advance(end);
        parsed.map_err(|problem| WarcFailure::Record(Cause::BadHeader, problem))
    }

    /// Determines what follows a block; the stream is behind the block. The line ends that were
    /// skipped are appended to `passed`, so that they can be returned to the stream.
    ///
    /// A crawler may wait for the verdict on a record before it writes the next one. If two line
    /// ends have arrived and nothing else, and whatever follows would be accepted after `block`,
    /// this does not wait for it.
    fn at_end_of_record(
        &mut self,
        block: Option<&[u8]>,
        passed: &mut Vec<u8>,
    ) -> Result<Follows, StreamError> {
        let mut line_ends = 0;
        loop {
            let skipped = self.stream.skip_line_ends();
            if line_ends < 2 {
                line_ends += memchr::memchr_iter(b'\n', skipped).count();
                passed.extend_from_slice(skipped);
            }
            if let Some(follows) = D::follows(line_ends, self.stream.window()) {
                return Ok(follows);
            }
            if self.prompt
                && line_ends >= 2
                && self.stream.would_wait()
                && D::ACCEPTED_UNSEARCHED
                && block.is_some_and(|block| !D::holds_record(block) && !block::seems_longer(block))
            {
                return Ok(Follows::Unclear);
            }
            if self.stream.fill()? != Filled::Bytes {
                return Ok(D::follows_at_end(line_ends, self.stream.window()));
            }
        }
    }
}

/// Whether a response is not a page: DNS lookups, and files that crawlers write about themselves.
fn is_not_page(header: &RecordHeader) -> bool {
    let url = header.url.as_deref().unwrap_or_default();
    let scheme = url.split(':').next().unwrap_or_default();
    ["dns", "whois", "metadata", "filedesc"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
        || header.mime.as_deref() == Some("text/dns")
}

impl<D: Dialect> RecordReader for ArchiveReader<D> {
    fn next(&mut self) -> Result<Option<Item>, Error> {
        from_first(self.first, || self.item())
    }

    fn bytes_read(&self) -> u64 {
        self.stream.bytes_read()
    }
}
