//! The block of a record: what the header is about.

use sha1::{Digest, Sha1};

use super::header::{self, Header, Kind};
use super::{ArchiveReader, Dialect, Failure, Follows};
use crate::bytes::Trouble;
use crate::record::{Body, Told};
use crate::{Cause, Place, Record};

/// No more than this is set aside for a block on the word of its header alone.
const TRUSTED_LENGTH: usize = 4 << 20;

/// Where what was passed cannot be read again, a longer record is not believed: passing over it
/// could cost all that comes after. No record of this size is known, and most archives are smaller
/// as a whole.
const BELIEVED_LENGTH: u64 = 8 << 30;

/// The two line ends after a block. Unpacked together with it, so that the end of the member is
/// found in the same call.
const LINE_ENDS: usize = 4;

impl<D: Dialect> ArchiveReader<D> {
    /// Reads the block of a record that may hold a page.
    pub(super) fn read_page(&mut self, header: Header) -> Result<Record, Failure> {
        let read = if header.length > self.limits.max_page_bytes {
            self.read_large(&header)
        } else {
            let length = usize::try_from(header.length).unwrap_or(usize::MAX);
            let mut block = Vec::with_capacity(length.min(TRUSTED_LENGTH) + LINE_ENDS);
            let is_response = header.kind == Kind::Response;
            self.read_block(&mut block, length, is_response).map(|()| {
                if is_http(&header, &block) {
                    Body::Http(block)
                } else {
                    Body::Bytes(block)
                }
            })
        };
        let mut body = match read {
            Err(Failure::Block(cause, detail)) if header.kind == Kind::Response => {
                match self.read_by_own_length(true)? {
                    Some(block) => Body::Http(block),
                    None => return Err(Failure::Block(cause, detail)),
                }
            }
            read => read?,
        };
        if header.kind == Kind::Revisit
            && let Body::Http(block) | Body::Bytes(block) | Body::TooLarge { head: block, .. } =
                body
        {
            let not_modified = header
                .profile
                .is_some_and(|profile| profile.ends_with("/server-not-modified"));
            body = Body::Revisit {
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
            told: Told {
                mime: header.mime,
                sha1: header.payload_sha1,
                ..Told::default()
            },
            body,
        })
    }

    /// Reads a block that is of no further interest.
    pub(super) fn pass_block(&mut self, length: u64) -> Result<(), Failure> {
        if length > self.limits.max_page_bytes {
            return self.pass_large(length, None, Vec::new()).map(|_| ());
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let read = self.read_block(&mut scratch, length, false);
        self.scratch = scratch;
        read
    }

    /// Reads a block of `length` bytes. If the block does not have this length, the stream is moved
    /// back to where the block begins.
    ///
    /// A header may claim too little, and a line end follow by chance. Where it is unclear what
    /// follows the block, a response that claims to be longer itself is read by its own length.
    fn read_block(
        &mut self,
        block: &mut Vec<u8>,
        length: usize,
        is_response: bool,
    ) -> Result<(), Failure> {
        let mut passed = Vec::with_capacity(LINE_ENDS);
        let problem = loop {
            match self.stream.take(block, length) {
                Err(trouble) => return Err(self.failure(trouble)),
                Ok(false) => {
                    let crossed = self.stream.cross(D::BEGINNING);
                    if !crossed.map_err(|trouble| self.failure(trouble))? {
                        let problem = format!("only {} of {length} bytes are there", block.len());
                        break (Cause::Truncated, problem);
                    }
                }
                Ok(true) => match self.at_end_of_record(&mut passed) {
                    Err(trouble) => return Err(self.failure(trouble)),
                    Ok(Follows::Record)
                        if !passed.is_empty() || !D::cuts_into(block, self.stream.window()) =>
                    {
                        return Ok(());
                    }
                    // Either this length is wrong or the next header is damaged, which must not
                    // cost this record.
                    Ok(Follows::Unclear) if !D::holds_record(block) => {
                        if is_response && seems_longer(block) {
                            return self.extend_block(block, passed, length);
                        }
                        return Ok(());
                    }
                    Ok(_) => {
                        let after = header::first_line(self.stream.window());
                        let problem = format!("after {length} bytes comes {after}, not a record");
                        break (Cause::BadLength, problem);
                    }
                },
            }
        };
        // The next record may well begin within what was taken for this one.
        block.append(&mut passed);
        let returned = self.stream.give_back(std::mem::take(block));
        Err(Failure::of_block(returned, problem.0, problem.1))
    }

    /// Replaces a block of `length` bytes by the longer response that it is the beginning of, if
    /// that response is complete. `passed` are the line ends that were read after the block.
    fn extend_block(
        &mut self,
        block: &mut Vec<u8>,
        mut passed: Vec<u8>,
        length: usize,
    ) -> Result<(), Failure> {
        let mut bytes = block.clone();
        bytes.append(&mut passed);
        if self.stream.give_back(bytes) {
            match self.read_by_own_length(false)? {
                Some(longer) => *block = longer,
                None => {
                    block.clear();
                    let taken = self.stream.take(block, length);
                    taken.map_err(|trouble| self.failure(trouble))?;
                    self.stream.skip_line_ends();
                }
            }
        }
        Ok(())
    }

    /// Reads a response by the length that it claims itself, because its header claims a wrong one.
    /// If the response is not complete, the stream is moved back to where it begins.
    ///
    /// Some writers count a header that they then change, or line ends that they do not write; in a
    /// damaged file a length may be any number. A response with a wrong length and one that was cut
    /// off differ in this: all of the body of the former is there, and what follows it is what
    /// follows a record.
    ///
    /// A page may quote a record. `may_hold_record` says whether such a page is accepted if another
    /// record follows it.
    fn read_by_own_length(&mut self, may_hold_record: bool) -> Result<Option<Vec<u8>>, Failure> {
        let mut block = Vec::new();
        let mut passed = Vec::with_capacity(LINE_ENDS);
        let whole = self.read_response(&mut block, &mut passed);
        match whole.map_err(|trouble| self.failure(trouble))? {
            true if may_hold_record || !D::holds_record(&block) => Ok(Some(block)),
            _ => {
                block.append(&mut passed);
                self.stream.give_back(block);
                Ok(None)
            }
        }
    }

    /// Takes a response of which the length stands in itself, and the line ends after it. Answers
    /// whether it is whole.
    fn read_response(
        &mut self,
        block: &mut Vec<u8>,
        passed: &mut Vec<u8>,
    ) -> Result<bool, Trouble> {
        /// What is looked at first: most heads end within it.
        const GLANCE: usize = 4 << 10;
        let mut wanted = GLANCE.min(self.limits.max_header_bytes);
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
        let follows = self.at_end_of_record(passed)?;
        Ok(match follows {
            Follows::Record => !passed.is_empty() || !D::cuts_into(block, self.stream.window()),
            // The next header is damaged, which must not cost this record.
            Follows::Unclear => !D::holds_record(block),
            Follows::Other => false,
        })
    }

    /// Reads the block of a page that is too large to hold: its beginning, and its digest if the
    /// header has none.
    fn read_large(&mut self, header: &Header) -> Result<Body, Failure> {
        let mut head = Vec::new();
        let enough = self
            .limits
            .max_header_bytes
            .min(usize::try_from(header.length).unwrap_or(usize::MAX));
        while !self
            .stream
            .take(&mut head, enough)
            .map_err(|trouble| self.failure(trouble))?
        {
            let crossed = self.stream.cross(D::BEGINNING);
            if !crossed.map_err(|trouble| self.failure(trouble))? {
                let problem = format!("only {} of {} bytes are there", head.len(), header.length);
                let returned = self.stream.give_back(head);
                return Err(Failure::of_block(returned, Cause::Truncated, problem));
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
        let head = self.pass_large(rest, digested, head)?;
        Ok(Body::TooLarge {
            head,
            http,
            bytes: header.length - payload as u64,
            sha1: declared.unwrap_or_else(|| digest.finalize().into()),
        })
    }

    /// Passes over what comes after `head`, which is the beginning of the block, and answers with
    /// that.
    fn pass_large(
        &mut self,
        length: u64,
        mut digest: Option<&mut Sha1>,
        head: Vec<u8>,
    ) -> Result<Vec<u8>, Failure> {
        if length > BELIEVED_LENGTH && !self.stream.returns() {
            let returned = self.stream.give_back(head);
            let problem = format!("{length} bytes, more than is believed of a stream");
            return Err(Failure::of_block(returned, Cause::BadLength, problem));
        }
        let begin = self.stream.border();
        let mut left = length;
        let (cause, problem, passed) = loop {
            match self.stream.skip(left, digest.as_deref_mut()) {
                Err(trouble) => return Err(self.failure(trouble)),
                Ok(0) => match self.at_end_of_record(&mut Vec::new()) {
                    Err(trouble) => return Err(self.failure(trouble)),
                    Ok(Follows::Record) => return Ok(head),
                    Ok(Follows::Unclear) if D::BELIEVED_UNSEEN => return Ok(head),
                    Ok(_) => break (Cause::BadLength, "no record comes after it", length),
                },
                Ok(missing) => {
                    left = missing;
                    let crossed = self.stream.cross(D::BEGINNING);
                    if !crossed.map_err(|trouble| self.failure(trouble))? {
                        let problem = "it is longer than what is there";
                        break (Cause::Truncated, problem, length - left);
                    }
                }
            }
        };
        // Too much went by to have been kept, but a plain file can be read again; a stream, or a
        // compressed member of such size, is searched from here on, and what the record claimed is
        // lost. What was there counts as read again, not what was claimed: or one absurd length
        // would spoil the search in all that follows.
        let mut returned = false;
        if let Some(begin) = begin
            && self.stream.may_reread(passed)
        {
            self.stream
                .seek(begin)
                .map_err(|trouble| self.failure(trouble))?;
            returned = self.stream.give_back(head);
        }
        Err(Failure::of_block(returned, cause, problem.into()))
    }
}

/// Whether `block` is the beginning of a response that is longer than the block.
fn seems_longer(block: &[u8]) -> bool {
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
    let (_, value) = header::Fields::after_first_line(&block[..head])
        .find(|(name, _)| name.eq_ignore_ascii_case(b"Content-Length"))?;
    let length: usize = header::text(&value).parse().ok()?;
    head.checked_add(length)
}

/// Whether a block is an HTTP response: said or seen to be.
fn is_http(header: &Header, block: &[u8]) -> bool {
    let said = header.mime.as_deref().unwrap_or_default();
    let said = said.get(..16).unwrap_or(said);
    match header.kind {
        Kind::Response => {
            said.eq_ignore_ascii_case("application/http") || block.starts_with(b"HTTP/")
        }
        _ => false,
    }
}
