//! Blocks of records.

use sha1::{Digest, Sha1};

use super::header::{self, RecordHeader, RecordKind};
use super::{ArchiveReader, Dialect, Follows, WarcFailure};
use crate::bytes::StreamError;
use crate::record::{RecordBody, RecordMetadata};
use crate::{Cause, Place, Record};

/// The most memory that is reserved for a block before its bytes are read.
const TRUSTED_LENGTH: usize = 4 << 20;

/// The longest record that is accepted in an input that cannot be read again: skipping a record
/// with a wrong length could skip everything after it. No record of this size is known, and most
/// archives are smaller as a whole.
const ACCEPTED_LENGTH: u64 = 8 << 30;

/// The two line ends after a block. They are decompressed together with the block, so that the end
/// of the member is found in the same call.
const LINE_ENDS: usize = 4;

impl<D: Dialect> ArchiveReader<D> {
    /// Reads the block of a record that may contain a page.
    pub(super) fn read_page(&mut self, header: RecordHeader) -> Result<Record, WarcFailure> {
        let read = if header.length > self.limits.max_page_bytes {
            self.read_large(&header)
        } else {
            let length = usize::try_from(header.length).unwrap_or(usize::MAX);
            let mut block = Vec::with_capacity(length.min(TRUSTED_LENGTH) + LINE_ENDS);
            let is_response = header.kind == RecordKind::Response;
            self.read_block(&mut block, length, is_response).map(|()| {
                if is_http(&header, &block) {
                    RecordBody::Http(block)
                } else {
                    RecordBody::Bytes(block)
                }
            })
        };
        let mut body = match read {
            Err(WarcFailure::Block(cause, detail)) if header.kind == RecordKind::Response => {
                match self.read_by_own_length(true)? {
                    Some(block) => RecordBody::Http(block),
                    None => return Err(WarcFailure::Block(cause, detail)),
                }
            }
            read => read?,
        };
        if header.kind == RecordKind::Revisit
            && let RecordBody::Http(block)
            | RecordBody::Bytes(block)
            | RecordBody::TooLarge { head: block, .. } = body
        {
            let not_modified = header
                .profile
                .is_some_and(|profile| profile.ends_with("/server-not-modified"));
            body = RecordBody::Revisit {
                block,
                not_modified,
                url: header.refers_to_url,
                date: header.refers_to_date,
            };
        }
        Ok(Record {
            place: Place::default(),
            url: header.url,
            ip: header.ip,
            fetched: header.date,
            input: self.input.clone(),
            metadata: RecordMetadata {
                mime: header.mime,
                sha1: header.payload_sha1,
                ..RecordMetadata::default()
            },
            body,
        })
    }

    /// Skips the block of an ignored record.
    pub(super) fn skip_block(&mut self, length: u64) -> Result<(), WarcFailure> {
        if length > self.limits.max_page_bytes {
            return self.skip_large(length, None, Vec::new()).map(|_| ());
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let read = self.read_block(&mut scratch, length, false);
        self.scratch = scratch;
        read
    }

    /// Reads a block of `length` bytes. If the block does not have this length, the stream is moved
    /// back to the beginning of the block.
    ///
    /// The length may be too short and happen to end before a line end. So if it is unclear what
    /// follows the block, a response that claims a larger length itself is read by its own length.
    fn read_block(
        &mut self,
        block: &mut Vec<u8>,
        length: usize,
        is_response: bool,
    ) -> Result<(), WarcFailure> {
        let mut passed = Vec::with_capacity(LINE_ENDS);
        let problem = loop {
            match self.stream.take(block, length) {
                Err(error) => return Err(self.failure(error)),
                Ok(false) => {
                    let crossed = self.stream.cross(D::BEGINNING);
                    if !crossed.map_err(|error| self.failure(error))? {
                        let problem = format!("the record has {} of {length} bytes", block.len());
                        break (Cause::Truncated, problem);
                    }
                }
                Ok(true) => match self.at_end_of_record(Some(block), &mut passed) {
                    Err(error) => return Err(self.failure(error)),
                    Ok(Follows::Record)
                        if !passed.is_empty() || !D::cuts_into(block, self.stream.window()) =>
                    {
                        return Ok(());
                    }
                    // Either this length is wrong, or the next header is damaged, which must not
                    // affect this record.
                    Ok(Follows::Unclear) if !D::holds_record(block) => {
                        if is_response && seems_longer(block) {
                            return self.extend_block(block, passed, length);
                        }
                        return Ok(());
                    }
                    Ok(_) => {
                        let after = header::first_line(self.stream.window());
                        let problem =
                            format!("no record follows after {length} bytes, but {after}");
                        break (Cause::BadLength, problem);
                    }
                },
            }
        };
        // The next record may begin within this block.
        block.append(&mut passed);
        let returned = self.stream.give_back(std::mem::take(block));
        Err(WarcFailure::of_block(returned, problem.0, problem.1))
    }

    /// Replaces a block of `length` bytes with the longer response that it is the beginning of, if
    /// that response is complete. `passed` are the line ends that were read after the block.
    fn extend_block(
        &mut self,
        block: &mut Vec<u8>,
        mut passed: Vec<u8>,
        length: usize,
    ) -> Result<(), WarcFailure> {
        let mut bytes = block.clone();
        bytes.append(&mut passed);
        if self.stream.give_back(bytes) {
            match self.read_by_own_length(false)? {
                Some(longer) => *block = longer,
                None => {
                    block.clear();
                    let taken = self.stream.take(block, length);
                    taken.map_err(|error| self.failure(error))?;
                    self.stream.skip_line_ends();
                }
            }
        }
        Ok(())
    }

    /// Reads a response by its own `Content-Length`, because the length in the record header is
    /// wrong. If the response is not complete, the stream is moved back to its beginning.
    ///
    /// Some writers count a header that they then change, or line ends that they do not write; in a
    /// damaged file the length may be any number. A response with a wrong length is still complete,
    /// and what follows it can follow a record. This distinguishes it from a response that was cut
    /// off.
    ///
    /// A page may quote a record. `may_hold_record` says whether such a page is accepted if another
    /// record follows it.
    fn read_by_own_length(
        &mut self,
        may_hold_record: bool,
    ) -> Result<Option<Vec<u8>>, WarcFailure> {
        let mut block = Vec::new();
        let mut passed = Vec::with_capacity(LINE_ENDS);
        let whole = self.read_response(&mut block, &mut passed);
        match whole.map_err(|error| self.failure(error))? {
            true if may_hold_record || !D::holds_record(&block) => Ok(Some(block)),
            _ => {
                block.append(&mut passed);
                self.stream.give_back(block);
                Ok(None)
            }
        }
    }

    /// Reads a response by its own `Content-Length`, and the line ends after it. Returns whether it
    /// is complete.
    fn read_response(
        &mut self,
        block: &mut Vec<u8>,
        passed: &mut Vec<u8>,
    ) -> Result<bool, StreamError> {
        /// The number of bytes to read first: most heads are shorter.
        const FIRST_READ: usize = 4 << 10;
        let mut wanted = FIRST_READ.min(self.limits.max_header_bytes);
        let end = loop {
            let more = self.stream.take(block, wanted)?;
            if !block.starts_with(b"HTTP/") {
                return Ok(false);
            }
            if header::end(block).is_some() {
                break own_end(block);
            }
            if !more || wanted >= self.limits.max_header_bytes {
                return Ok(false);
            }
            wanted = wanted.saturating_mul(2).min(self.limits.max_header_bytes);
        };
        let Some(end) = end.filter(|&end| end as u64 <= self.limits.max_page_bytes) else {
            return Ok(false);
        };
        if end < block.len() {
            let after = block.split_off(end);
            self.stream.put_back(after);
        } else if !self.stream.take(block, end)? {
            return Ok(false);
        }
        let follows = self.at_end_of_record(None, passed)?;
        Ok(match follows {
            Follows::Record => !passed.is_empty() || !D::cuts_into(block, self.stream.window()),
            // The next header is damaged, which must not affect this record.
            Follows::Unclear => !D::holds_record(block),
            Follows::Other => false,
        })
    }

    /// Reads the block of a page over the size limit: keeps its beginning, and computes its digest
    /// if the header has none.
    fn read_large(&mut self, header: &RecordHeader) -> Result<RecordBody, WarcFailure> {
        let mut head = Vec::new();
        let enough = self
            .limits
            .max_header_bytes
            .min(usize::try_from(header.length).unwrap_or(usize::MAX));
        while !self
            .stream
            .take(&mut head, enough)
            .map_err(|error| self.failure(error))?
        {
            let crossed = self.stream.cross(D::BEGINNING);
            if !crossed.map_err(|error| self.failure(error))? {
                let problem = format!("the record has {} of {} bytes", head.len(), header.length);
                let returned = self.stream.give_back(head);
                return Err(WarcFailure::of_block(returned, Cause::Truncated, problem));
            }
        }
        let http = is_http(header, &head);
        let payload = if http {
            header::end(&head).unwrap_or(0)
        } else {
            0
        };
        let mut digest = Sha1::new();
        digest.update(&head[payload..]);
        let rest = header.length - head.len() as u64;
        let declared = header.payload_sha1;
        let digested = declared.is_none().then_some(&mut digest);
        let head = self.skip_large(rest, digested, head)?;
        Ok(RecordBody::TooLarge {
            head,
            http,
            bytes: header.length - payload as u64,
            sha1: declared.unwrap_or_else(|| digest.finalize().into()),
        })
    }

    /// Skips the rest of a block, `length` bytes after its beginning `head`. Returns `head`.
    fn skip_large(
        &mut self,
        length: u64,
        mut digest: Option<&mut Sha1>,
        head: Vec<u8>,
    ) -> Result<Vec<u8>, WarcFailure> {
        if length > ACCEPTED_LENGTH && !self.stream.returns() {
            let returned = self.stream.give_back(head);
            let problem = format!("{length} bytes, the limit for a stream is {ACCEPTED_LENGTH}");
            return Err(WarcFailure::of_block(returned, Cause::BadLength, problem));
        }
        let begin = self.stream.border();
        let mut left = length;
        let (cause, problem, passed) = loop {
            match self.stream.skip(left, digest.as_deref_mut()) {
                Err(error) => return Err(self.failure(error)),
                Ok(0) => match self.at_end_of_record(None, &mut Vec::new()) {
                    Err(error) => return Err(self.failure(error)),
                    Ok(Follows::Record) => return Ok(head),
                    Ok(Follows::Unclear) if D::ACCEPTED_UNSEARCHED => return Ok(head),
                    Ok(_) => break (Cause::BadLength, "no record follows", length),
                },
                Ok(missing) => {
                    left = missing;
                    let crossed = self.stream.cross(D::BEGINNING);
                    if !crossed.map_err(|error| self.failure(error))? {
                        let problem = "the input ends within the record";
                        break (Cause::Truncated, problem, length - left);
                    }
                }
            }
        };
        // The block is too large to have been kept, but a plain file can be read again. In a stream
        // or a compressed member of this size, the search begins here, and everything that the
        // record claimed is lost. The bytes that exist count as read again, not those that were
        // claimed: otherwise one absurd length would use up the limit for the rest of the input.
        let mut returned = false;
        if let Some(begin) = begin
            && self.stream.may_reread(passed)
        {
            self.stream
                .seek(begin)
                .map_err(|error| self.failure(error))?;
            returned = self.stream.give_back(head);
        }
        Err(WarcFailure::of_block(returned, cause, problem.into()))
    }
}

/// Whether `block` is the beginning of a response that is longer than the block.
pub(super) fn seems_longer(block: &[u8]) -> bool {
    block.starts_with(b"HTTP/")
        && match header::end(block) {
            Some(_) => own_end(block).is_some_and(|end| end > block.len()),
            None => true,
        }
}

/// Where a response ends by its own `Content-Length`. None if `block` is not a response, does not
/// contain all of its head, or the head has no such field.
fn own_end(block: &[u8]) -> Option<usize> {
    if !block.starts_with(b"HTTP/") {
        return None;
    }
    let head = header::end(block)?;
    let (_, value) = header::HeaderFields::after_first_line(&block[..head])
        .find(|(name, _)| name.eq_ignore_ascii_case(b"Content-Length"))?;
    let length: usize = header::text(&value).parse().ok()?;
    head.checked_add(length)
}

/// Whether a block is an HTTP response, by its declared type or its content.
fn is_http(header: &RecordHeader, block: &[u8]) -> bool {
    let declared = header.mime.as_deref().unwrap_or_default();
    let declared = declared.get(..16).unwrap_or(declared);
    match header.kind {
        RecordKind::Response => {
            declared.eq_ignore_ascii_case("application/http") || block.starts_with(b"HTTP/")
        }
        _ => false,
    }
}
