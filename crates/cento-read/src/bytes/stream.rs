//! Decompressed bytes.

use std::io;

use sha1::{Digest, Sha1};

use super::ahead::Ahead;
use super::byte_source::ByteSource;
use super::growth::GrowthLimit;
use super::gzip::Beginning;
use super::unpack::{PeekBudget, Unpack};
use crate::{Cause, Limits, Packing};

/// The initial size of the window. Most records fit, and it stays in the second-level cache.
const WINDOW: usize = 64 << 10;

/// Why the next bytes cannot be decompressed.
#[derive(Debug)]
pub(crate) enum StreamError {
    /// An error of the operating system.
    Io(io::Error),
    /// The compressed data are corrupted.
    Damaged(Cause, String),
    /// The input ends within a member.
    Truncated,
}

impl From<io::Error> for StreamError {
    fn from(error: io::Error) -> Self {
        StreamError::Io(error)
    }
}

/// The result of filling the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    /// Bytes were added to the window.
    Bytes,
    /// The compressed member has ended. The caller decides whether to continue with the next one.
    MemberEnd,
    /// The input has ended.
    End,
}

/// Decompressed bytes in a window that the caller moves.
///
/// The window does not extend from one compressed member into the next unless the caller calls
/// [`next_member`](Stream::next_member): archives have one record per member, and in a damaged file
/// the border between members is the only reliable mark.
pub(crate) struct Stream {
    source: ByteSource,
    unpack: Option<Box<dyn Unpack>>,
    window: Vec<u8>,
    start: usize,
    /// The offset of the current member in the stored input.
    member: u64,
    /// Whether nothing of the current member has been consumed yet.
    fresh: bool,
    /// The number of bytes that have been read again because of damage.
    reread: u64,
    peeks: PeekBudget,
    growth: GrowthLimit,
}

impl Stream {
    pub(crate) fn new(source: ByteSource, packing: Packing) -> Self {
        Stream::with_help(source, packing, None)
    }

    /// A stream whose gzip members are also decompressed by other threads.
    pub(crate) fn with_help(source: ByteSource, packing: Packing, ahead: Option<Ahead>) -> Self {
        Stream {
            member: source.position(),
            source,
            unpack: super::unpacker(packing, ahead),
            window: Vec::new(),
            start: 0,
            fresh: true,
            reread: 0,
            peeks: PeekBudget::default(),
            growth: GrowthLimit::default(),
        }
    }

    /// Limits the compression ratio of members.
    pub(crate) fn within(mut self, limits: &Limits) -> Self {
        self.growth = GrowthLimit::within(limits);
        self
    }

    /// The bytes in the window.
    pub(crate) fn window(&self) -> &[u8] {
        &self.window[self.start..]
    }

    /// Moves the start of the window forward.
    pub(crate) fn advance(&mut self, count: usize) {
        self.start = (self.start + count).min(self.window.len());
        self.fresh &= count == 0;
    }

    /// Moves the start of the window past line ends, which do not count as content. Returns them.
    pub(crate) fn skip_line_ends(&mut self) -> &[u8] {
        let begin = self.start;
        while let Some(b'\r' | b'\n') = self.window.get(self.start) {
            self.start += 1;
        }
        &self.window[begin..self.start]
    }

    /// Adds bytes to the end of the window.
    pub(crate) fn fill(&mut self) -> Result<Filled, StreamError> {
        self.reserve_space();
        let Some(unpack) = &mut self.unpack else {
            if !self.source.fill()? {
                return Ok(Filled::End);
            }
            let space = self.window.capacity() - self.window.len();
            let count = space.min(self.source.available().len());
            self.window
                .extend_from_slice(&self.source.available()[..count]);
            self.source.consume(count);
            return Ok(Filled::Bytes);
        };
        if unpack.inside() {
            let count = unpack.pull(&mut self.source, &mut self.window)?;
            self.growth.grown(count, self.source.position())?;
            if count > 0 {
                return Ok(Filled::Bytes);
            }
        }
        Ok(Filled::MemberEnd)
    }

    fn reserve_space(&mut self) {
        if self.start == self.window.len() {
            // Releases the memory after a search through a large damaged record.
            if self.window.capacity() > 32 * WINDOW {
                self.window = Vec::new();
            }
            self.window.clear();
            self.start = 0;
        }
        if self.window.len() == self.window.capacity() {
            if self.start > self.window.len() / 2 {
                self.window.drain(..self.start);
                self.start = 0;
            } else {
                self.window.reserve(self.window.len().max(WINDOW));
            }
        }
    }

    /// Begins the next compressed member. Returns whether there is one.
    pub(crate) fn next_member(&mut self) -> Result<bool, StreamError> {
        let Some(unpack) = &mut self.unpack else {
            return Ok(false);
        };
        self.source.mark();
        if !self.source.fill()? {
            return Ok(false);
        }
        self.member = self.source.position();
        // Tapes and block devices leave zeros after the last member, which gzip ignores as well.
        while self.member > 0 && self.source.fill()? {
            match self.source.available().iter().position(|&byte| byte != 0) {
                Some(0) if self.source.position() == self.member => break,
                Some(_) if unpack.cause() == Cause::BadGzip => {
                    let detail = "expected a gzip member".into();
                    return Err(StreamError::Damaged(Cause::BadGzip, detail));
                }
                Some(_) => break,
                None => self.source.consume(self.source.available().len()),
            }
        }
        unpack.preface(&mut self.source)?;
        if !self.source.fill()? {
            return Ok(false);
        }
        self.source.mark();
        self.member = self.source.position();
        self.fresh = self.start == self.window.len();
        self.growth.begin(self.member);
        if self.fresh {
            self.window.clear();
            self.start = 0;
            if unpack.whole(&mut self.source, &mut self.window)? {
                let unpacked = self.window.len();
                if self.growth.grown(unpacked, self.source.position()).is_ok() {
                    return Ok(true);
                }
                // Decompressed piece by piece, the part within the limit is read, and the error has
                // the position.
                self.window.clear();
                self.source.seek(self.member)?;
                self.growth.begin(self.member);
            }
        }
        unpack.begin(&mut self.source)?;
        Ok(true)
    }

    /// At the end of a member, within a record: begins the next member, unless that begins another
    /// record as `beginning` describes. Returns whether the next member was begun.
    pub(crate) fn cross(&mut self, beginning: Beginning) -> Result<bool, StreamError> {
        let Some(unpack) = &mut self.unpack else {
            return Ok(false);
        };
        let peeks = &mut self.peeks;
        if peeks.begins(&mut self.source, unpack.as_mut(), beginning)? {
            return Ok(false);
        }
        self.next_member()
    }

    /// Whether the window is empty and the writer of the input may be waiting for an answer before
    /// it writes more. False for compressed input: the checksum of a member is part of it.
    pub(crate) fn would_wait(&self) -> bool {
        self.unpack.is_none()
            && self.window().is_empty()
            && self.source.available().is_empty()
            && !self.source.reads_without_waiting()
    }

    /// Whether any number of consumed bytes can be read again.
    pub(crate) fn returns(&self) -> bool {
        self.unpack.is_none() && self.source.seeks()
    }

    /// The offset of the window in the stored input. In compressed input, the offset of the member.
    pub(crate) fn offset(&self) -> u64 {
        match &self.unpack {
            None => self.source.position() - self.window().len() as u64,
            Some(_) => self.member,
        }
    }

    /// The offset at which reading can begin, if the window starts at one.
    pub(crate) fn border(&self) -> Option<u64> {
        match &self.unpack {
            None => Some(self.offset()),
            Some(unpack) if unpack.inside() || !self.window().is_empty() => {
                self.fresh.then_some(self.member)
            }
            Some(_) => Some(self.source.position()),
        }
    }

    /// The number of bytes of the stored input read so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        match &self.unpack {
            None => self.offset(),
            Some(_) => self.source.position(),
        }
    }

    /// Appends to `output` until it has `want` bytes or the member ends. Returns whether it has
    /// them.
    pub(crate) fn take(&mut self, output: &mut Vec<u8>, want: usize) -> Result<bool, StreamError> {
        let count = self.window().len().min(want.saturating_sub(output.len()));
        output.extend_from_slice(&self.window()[..count]);
        self.advance(count);
        while output.len() < want {
            match &mut self.unpack {
                None => {
                    if !self.source.fill()? {
                        return Ok(false);
                    }
                    let available = self.source.available();
                    let count = available.len().min(want - output.len());
                    output.extend_from_slice(&available[..count]);
                    self.source.consume(count);
                }
                Some(unpack) => {
                    if !unpack.inside() {
                        return Ok(false);
                    }
                    if output.len() == output.capacity() {
                        output.reserve(WINDOW.min(want - output.len()));
                    }
                    let count = unpack.pull(&mut self.source, output)?;
                    self.growth.grown(count, self.source.position())?;
                }
            }
            self.fresh = false;
        }
        if output.len() > want {
            // The capacity was larger than `want`: the surplus goes into the window, which is
            // empty.
            self.window.clear();
            self.start = 0;
            self.window.extend_from_slice(&output[want..]);
            output.truncate(want);
        }
        Ok(true)
    }

    /// Skips `count` bytes, or to the end of the member, and adds them to `digest` if there is one.
    /// Returns how many are missing.
    pub(crate) fn skip(
        &mut self,
        count: u64,
        mut digest: Option<&mut Sha1>,
    ) -> Result<u64, StreamError> {
        let mut left = count;
        loop {
            let step = left.min(self.window().len() as u64);
            if let Some(digest) = &mut digest {
                digest.update(&self.window()[..step as usize]);
            }
            self.advance(step as usize);
            left -= step;
            if left == 0 {
                return Ok(0);
            }
            if self.unpack.is_none() && digest.is_none() && self.source.seeks() {
                let end = self.source.length().unwrap_or(u64::MAX);
                let here = self.source.position();
                let step = left.min(end.saturating_sub(here));
                self.source.seek(here + step)?;
                return Ok(left - step);
            }
            if self.fill()? != Filled::Bytes {
                return Ok(left);
            }
        }
    }

    /// Whether `bytes` bytes may be read again to search them for a sound record.
    ///
    /// In a file that was damaged by accident, all damaged bytes may be. In a hostile file, each
    /// header claims bytes that the next header claims again. There the search continues at the
    /// current position, so the work is proportional to the size of the file.
    pub(crate) fn may_reread(&mut self, bytes: u64) -> bool {
        const ALWAYS: u64 = 256 << 20;
        let may = self.reread < ALWAYS.saturating_add(self.bytes_read().saturating_mul(2));
        if may {
            self.reread = self.reread.saturating_add(bytes);
        }
        may
    }

    /// Puts bytes back in front of the window, because they belong to the next record.
    pub(crate) fn put_back(&mut self, mut bytes: Vec<u8>) {
        bytes.extend_from_slice(self.window());
        self.window = bytes;
        self.start = 0;
    }

    /// Puts bytes back in front of the window, if they may be read again. Returns whether they were
    /// put back.
    pub(crate) fn give_back(&mut self, bytes: Vec<u8>) -> bool {
        if !self.may_reread(bytes.len() as u64) {
            return false;
        }
        self.put_back(bytes);
        true
    }

    /// After damage: searches for the next member that begins a record as `expected` describes,
    /// from the beginning of the damaged member on. Returns whether there is one;
    /// [`next_member`](Stream::next_member) then begins it.
    pub(crate) fn find_member(&mut self, expected: Beginning) -> Result<bool, StreamError> {
        let here = self.source.position();
        let again = self.may_reread(here.saturating_sub(self.member));
        let Some(unpack) = &mut self.unpack else {
            return Ok(false);
        };
        unpack.leave();
        self.window.clear();
        self.start = 0;
        if again || here <= self.member {
            self.source.seek(self.member + 1)?;
        }
        loop {
            let (found, mark) = unpack.find(self.source.available());
            match found {
                Some(at) => {
                    self.source.consume(at);
                    self.source.mark();
                    let peeks = &mut self.peeks;
                    if peeks.begins(&mut self.source, unpack.as_mut(), expected)? {
                        return Ok(true);
                    }
                    self.source.consume(1);
                }
                None => {
                    let count = self.source.available().len().saturating_sub(mark - 1);
                    self.source.consume(count);
                    self.source.mark();
                    if !self.source.more()? {
                        self.source.consume(mark);
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Moves to `offset`, where a member or a record begins.
    pub(crate) fn seek(&mut self, offset: u64) -> Result<(), StreamError> {
        self.window.clear();
        self.start = 0;
        if let Some(unpack) = &mut self.unpack
            && offset > 0
            && self.source.position() == 0
        {
            // A dictionary for all members precedes the first one. If it is damaged, reading from
            // the beginning has said so.
            if let Err(StreamError::Io(error)) = unpack.preface(&mut self.source) {
                return Err(StreamError::Io(error));
            }
        }
        self.source.seek(offset)?;
        self.member = offset;
        Ok(())
    }
}
