//! WARC, of any version, plain or packed in members of any size.
//!
//! ```text
//!  WARC/1.0            ┐
//!  WARC-Type: response │ header, up to an empty line
//!  Content-Length: 42  │
//!                      ┘
//!  HTTP/1.1 200 OK …     block, as long as the header says
//!  ⏎ ⏎                   two line ends, or none, or more
//! ```
//! A record is only believed when it is followed by another record, the end of its member, or the
//! end of the input; or by two line ends and something else, which is then a damaged record, unless
//! there is a record in it, which a length that is too long would explain. Otherwise its length is
//! wrong, and the search for the next record begins within it.
//!
//! All of this but the look of a header holds for older archives as well: what differs is a
//! [`Dialect`].

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
use header::{Header, Kind};

use crate::bytes::{Filled, Stream, Trouble};
use crate::reader::{Records, following, from_first};
use crate::{Cause, Error, Ignored, IgnoredKind, Item, Limits, Place, Skipped, Start};

/// Reads a WARC file.
pub(crate) type WarcReader = ArchiveReader<Warc>;

/// Reads an archive: records one after the other, each with a header that tells its length.
pub(crate) struct ArchiveReader<D> {
    dialect: PhantomData<D>,
    stream: Stream,
    input: Arc<str>,
    limits: Limits,
    /// The ordinal of the next record.
    ordinal: u32,
    /// The ordinal of the first record to deliver.
    first: u32,
    /// The last place at which reading could begin afresh, and the ordinal of the record there.
    anchor: (u64, u32),
    /// Blocks of records that hold no page, read only to get past them.
    scratch: Vec<u8>,
}

/// Why a record cannot be had.
enum Failure {
    /// The input as a whole cannot be read on.
    Fatal(Error),
    /// The record is damaged, and the stream has been moved to where the search for the next one is
    /// to begin.
    Record(Cause, String),
    /// The block is not as long as its header claims, and the stream has been moved back to where
    /// it begins.
    Block(Cause, String),
    /// The compressed member is damaged.
    Member(Cause, String),
}

impl Failure {
    /// A block that is not as long as its header claims, `returned` to the stream or not.
    fn of_block(returned: bool, cause: Cause, detail: String) -> Failure {
        if returned {
            Failure::Block(cause, detail)
        } else {
            Failure::Record(cause, detail)
        }
    }
}

impl<D: Dialect> ArchiveReader<D> {
    /// Reads on from where `stream` is, which is at `from`.
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
            scratch: Vec::new(),
        }
    }

    /// The ordinal of the next record, if there is one.
    pub(crate) fn ordinal(&self) -> u32 {
        self.ordinal
    }

    fn failure(&self, trouble: Trouble) -> Failure {
        match trouble {
            Trouble::Io(error) => Failure::Fatal(Error::from_io(&self.input, error)),
            Trouble::Damaged(cause, detail) => Failure::Member(cause, detail),
            Trouble::Truncated => {
                Failure::Member(Cause::Truncated, "the compressed data stop".into())
            }
        }
    }

    /// Moves to the next record. Answers whether there is one.
    fn find_record(&mut self) -> Result<bool, Trouble> {
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
            Err(trouble) => Err(self.failure(trouble)),
        };
        match read {
            Ok(item) => Ok(Some(self.placed(offset, item)?)),
            Err(failure) => self.damaged(offset, failure).map(Some),
        }
    }

    /// Gives what was read its place, now that the stream is behind it.
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
            // Only a record that began at a border fills the bytes from there to this one.
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

    /// Tells of damage, once the search has got past it.
    fn damaged(&mut self, offset: u64, failure: Failure) -> Result<Item, Error> {
        let (cause, detail) = match failure {
            Failure::Fatal(error) => return Err(error),
            Failure::Record(cause, detail) | Failure::Block(cause, detail) => {
                if let Err(trouble) = self.find_beginning() {
                    self.find_member(trouble)?;
                }
                (cause, detail)
            }
            Failure::Member(cause, detail) => {
                self.find_member(Trouble::Truncated)?;
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

    fn find_member(&mut self, trouble: Trouble) -> Result<(), Error> {
        let found = match trouble {
            Trouble::Io(error) => Err(Trouble::Io(error)),
            Trouble::Damaged(..) | Trouble::Truncated => self.stream.find_member(D::BEGINNING),
        };
        match found {
            Err(Trouble::Io(error)) => Err(Error::from_io(&self.input, error)),
            _ => Ok(()),
        }
    }

    /// Moves to the next line that begins a record, or to the end of the member.
    fn find_beginning(&mut self) -> Result<(), Trouble> {
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

    fn read_record(&mut self) -> Result<Item, Failure> {
        let header = self.read_header()?;
        let ignored = match header.kind {
            Kind::Response | Kind::Resource | Kind::Conversion | Kind::Revisit => {
                is_no_page(&header).then_some(IgnoredKind::NotWeb)
            }
            Kind::Request => Some(IgnoredKind::Request),
            Kind::Metadata => Some(IgnoredKind::Metadata),
            Kind::WarcInfo => Some(IgnoredKind::WarcInfo),
            Kind::Continuation => Some(IgnoredKind::Continuation),
            Kind::Other => Some(IgnoredKind::Other),
        };
        match ignored {
            None => self.read_page(header).map(Item::Record),
            Some(kind) => {
                self.pass_block(header.length)?;
                Ok(Item::Ignored(Ignored {
                    place: Place::default(),
                    kind,
                }))
            }
        }
    }

    fn read_header(&mut self) -> Result<Header, Failure> {
        let end = loop {
            let window = self.stream.window();
            if !D::may_begin(window) {
                let detail = format!(
                    "{} is where a record should begin",
                    header::first_line(window)
                );
                return Err(Failure::Record(Cause::BadHeader, detail));
            }
            match D::header_end(window) {
                Some(end) if end <= self.limits.max_header_bytes => break end,
                None if window.len() <= self.limits.max_header_bytes => {}
                _ => {
                    let length = window.len();
                    let again = self.stream.may_reread(length as u64);
                    self.stream.advance(if again { D::PASSED } else { length });
                    let detail = format!("more than {} bytes", self.limits.max_header_bytes);
                    return Err(Failure::Record(Cause::HeaderTooLong, detail));
                }
            }
            match self.stream.fill() {
                Ok(Filled::Bytes) => {}
                Ok(filled) => {
                    let crossed = filled == Filled::MemberEnd
                        && self
                            .stream
                            .cross(D::BEGINNING)
                            .map_err(|trouble| self.failure(trouble))?;
                    if !crossed {
                        self.stream.advance(D::PASSED);
                        let detail = "the header has no end".into();
                        return Err(Failure::Record(Cause::Truncated, detail));
                    }
                }
                Err(trouble) => return Err(self.failure(trouble)),
            }
        };
        let header = &self.stream.window()[..end];
        let lines = memchr::memchr_iter(b'\n', header).count();
        let limit = self.limits.max_header_lines;
        if lines > limit {
            self.stream.advance(end);
            let detail = format!("{lines} lines, the limit is {limit}");
            return Err(Failure::Record(Cause::HeaderTooLong, detail));
        }
        if let Some(at) = D::header_within(header) {
            self.stream.advance(at);
            let detail = "another header begins within it".into();
            return Err(Failure::Record(Cause::BadHeader, detail));
        }
        let parsed = D::parse(header);
        self.stream.advance(end);
        parsed.map_err(|problem| Failure::Record(Cause::BadHeader, problem))
    }

    /// Whether the stream, which is behind a block, is where a record may end: before line ends,
    /// before another record, at the end of its member, or at that of the input.
    ///
    /// If it is not, the line ends that were passed are in `passed`, to be given back.
    fn at_end_of_record(&mut self, passed: &mut Vec<u8>) -> Result<Follows, Trouble> {
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
            if self.stream.fill()? != Filled::Bytes {
                return Ok(D::follows_at_end(line_ends, self.stream.window()));
            }
        }
    }
}

/// Responses that come with a crawl and are no pages: names looked up, and files that crawlers
/// write about themselves.
fn is_no_page(header: &Header) -> bool {
    let url = header.url.as_deref().unwrap_or_default();
    let scheme = url.split(':').next().unwrap_or_default();
    ["dns", "whois", "metadata", "filedesc"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
        || header.mime.as_deref() == Some("text/dns")
}

impl<D: Dialect> Records for ArchiveReader<D> {
    fn next(&mut self) -> Result<Option<Item>, Error> {
        from_first(self.first, || self.item())
    }

    fn bytes_read(&self) -> u64 {
        self.stream.bytes_read()
    }
}
