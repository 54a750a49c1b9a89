//! Unpacked bytes.

use std::io;

use sha1::{Digest, Sha1};

use super::ahead::Ahead;
use super::growth::Growth;
use super::gzip::Beginning;
use super::source::Source;
use super::unpack::{Glances, Unpack};
use crate::{Cause, Limits, Packing};

/// The window's size at first. Most records fit whole, and it stays in the second-level cache.
const WINDOW: usize = 64 << 10;

/// What keeps the next bytes from being unpacked.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The system fails.
    Io(io::Error),
    /// The compressed data are damaged.
    Damaged(Cause, String),
    /// The input ends within a member.
    Truncated,
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Trouble::Io(error)
    }
}

/// What filling the window came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    /// There is more in the window.
    Bytes,
    /// The compressed member is at its end; whether to go on into the next is for the caller to
    /// say.
    MemberEnd,
    /// The input is at its end.
    End,
}

/// Unpacked bytes, seen through a window that the caller moves.
///
/// The window never reaches from one compressed member into the next unless the caller says so with
/// [`next_member`](Stream::next_member): archives keep one record a member, and the border is the
/// one thing in a damaged file that can still be relied upon.
pub(crate) struct Stream {
    source: Source,
    unpack: Option<Box<dyn Unpack>>,
    window: Vec<u8>,
    start: usize,
    /// Where the present member begins, as stored.
    member: u64,
    /// Whether nothing of the present member has been taken yet.
    fresh: bool,
    /// How many bytes have been read again for the sake of damaged ones.
    reread: u64,
    glances: Glances,
    growth: Growth,
}

impl Stream {
    pub(crate) fn new(source: Source, packing: Packing) -> Self {
        Stream::with_help(source, packing, None)
    }

    /// Where gzip members are inflated by others as well.
    pub(crate) fn with_help(source: Source, packing: Packing, ahead: Option<Ahead>) -> Self {
        Stream {
            member: source.position(),
            source,
            unpack: super::unpacker(packing, ahead),
            window: Vec::new(),
            start: 0,
            fresh: true,
            reread: 0,
            glances: Glances::default(),
            growth: Growth::default(),
        }
    }

    /// Holds the compressed members to a limit on how much they may grow.
    pub(crate) fn within(mut self, limits: &Limits) -> Self {
        self.growth = Growth::within(limits);
        self
    }

    /// The bytes at hand.
    pub(crate) fn window(&self) -> &[u8] {
        &self.window[self.start..]
    }

    /// Moves the window's start on.
    pub(crate) fn advance(&mut self, count: usize) {
        self.start = (self.start + count).min(self.window.len());
        self.fresh &= count == 0;
    }

    /// Moves the window's start over line ends, which count as nothing. Answers with them.
    pub(crate) fn skip_line_ends(&mut self) -> &[u8] {
        let begin = self.start;
        while let Some(b'\r' | b'\n') = self.window.get(self.start) {
            self.start += 1;
        }
        &self.window[begin..self.start]
    }

    /// Brings more bytes into the window, after those that are there.
    pub(crate) fn fill(&mut self) -> Result<Filled, Trouble> {
        self.make_room();
        let Some(unpack) = &mut self.unpack else {
            if !self.source.fill()? {
                return Ok(Filled::End);
            }
            let room = self.window.capacity() - self.window.len();
            let count = room.min(self.source.available().len());
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

    fn make_room(&mut self) {
        if self.start == self.window.len() {
            // After a search through a large damaged record, its memory is not kept.
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

    /// Goes on into the next compressed member. Answers whether there is one.
    pub(crate) fn next_member(&mut self) -> Result<bool, Trouble> {
        let Some(unpack) = &mut self.unpack else {
            return Ok(false);
        };
        self.source.mark();
        if !self.source.fill()? {
            return Ok(false);
        }
        self.member = self.source.position();
        // Zeros after the last member are what tapes and block devices leave behind; gzip ignores
        // them as well.
        while self.member > 0 && self.source.fill()? {
            match self.source.available().iter().position(|&byte| byte != 0) {
                Some(0) if self.source.position() == self.member => break,
                Some(_) if unpack.cause() == Cause::BadGzip => {
                    let detail = "no compressed member begins here".into();
                    return Err(Trouble::Damaged(Cause::BadGzip, detail));
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
                // It is told where it grew too large, and what came before that is read.
                self.window.clear();
                self.source.seek(self.member)?;
                self.growth.begin(self.member);
            }
        }
        unpack.begin(&mut self.source)?;
        Ok(true)
    }

    /// At the end of a member, in the middle of something: goes on into the next member, unless
    /// that begins with `beginning` and so begins something of its own. Answers whether it went on.
    pub(crate) fn cross(&mut self, beginning: Beginning) -> Result<bool, Trouble> {
        let Some(unpack) = &mut self.unpack else {
            return Ok(false);
        };
        let glances = &mut self.glances;
        if glances.begins(&mut self.source, unpack.as_mut(), beginning)? {
            return Ok(false);
        }
        self.next_member()
    }

    /// Whether what has been passed can be read again, however much it is.
    pub(crate) fn returns(&self) -> bool {
        self.unpack.is_none() && self.source.seeks()
    }

    /// Where what is in the window lies in the input: to the byte if it is not compressed, else its
    /// member.
    pub(crate) fn offset(&self) -> u64 {
        match &self.unpack {
            None => self.source.position() - self.window().len() as u64,
            Some(_) => self.member,
        }
    }

    /// Where reading could begin afresh, if the window starts at such a place.
    pub(crate) fn border(&self) -> Option<u64> {
        match &self.unpack {
            None => Some(self.offset()),
            Some(unpack) if unpack.inside() || !self.window().is_empty() => {
                self.fresh.then_some(self.member)
            }
            Some(_) => Some(self.source.position()),
        }
    }

    /// How far the input has been read.
    pub(crate) fn bytes_read(&self) -> u64 {
        match &self.unpack {
            None => self.offset(),
            Some(_) => self.source.position(),
        }
    }

    /// Appends to `output` until it has `want` bytes, or as many as the member has. Answers whether
    /// it has them.
    pub(crate) fn take(&mut self, output: &mut Vec<u8>, want: usize) -> Result<bool, Trouble> {
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
            // The capacity was larger than asked for: the surplus belongs to what comes next. The
            // window is empty here.
            self.window.clear();
            self.start = 0;
            self.window.extend_from_slice(&output[want..]);
            output.truncate(want);
        }
        Ok(true)
    }

    /// Passes over `count` bytes, or as many as the member has, and digests them on the way if
    /// asked to. Answers how many are missing.
    pub(crate) fn skip(
        &mut self,
        count: u64,
        mut digest: Option<&mut Sha1>,
    ) -> Result<u64, Trouble> {
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

    /// Whether `bytes` may be read again to look for something sound in them.
    ///
    /// In a file that is damaged by chance, all that is damaged can be. In one that is made to
    /// waste time, each header claims what the next one claims again; there, the search goes on
    /// from where it is, and the work stays in proportion to the file.
    pub(crate) fn may_reread(&mut self, bytes: u64) -> bool {
        const ALWAYS: u64 = 256 << 20;
        let may = self.reread < ALWAYS.saturating_add(self.bytes_read().saturating_mul(2));
        if may {
            self.reread = self.reread.saturating_add(bytes);
        }
        may
    }

    /// Puts back bytes of which it was not known that they belong to what comes next.
    pub(crate) fn put_back(&mut self, mut bytes: Vec<u8>) {
        bytes.extend_from_slice(self.window());
        self.window = bytes;
        self.start = 0;
    }

    /// Puts bytes that were taken back in front of the window, if they may be read again. Answers
    /// whether they are there.
    pub(crate) fn give_back(&mut self, bytes: Vec<u8>) -> bool {
        if !self.may_reread(bytes.len() as u64) {
            return false;
        }
        self.put_back(bytes);
        true
    }

    /// After damage: looks for the next place, after the beginning of the damaged member, at which
    /// a member begins that unpacks to something beginning with `expected`. Answers whether there
    /// is one; [`next_member`](Stream::next_member) then begins it.
    pub(crate) fn find_member(&mut self, expected: Beginning) -> Result<bool, Trouble> {
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
                    let glances = &mut self.glances;
                    if glances.begins(&mut self.source, unpack.as_mut(), expected)? {
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

    /// Begins to read at `offset`, where a member or a record begins.
    pub(crate) fn seek(&mut self, offset: u64) -> Result<(), Trouble> {
        self.window.clear();
        self.start = 0;
        if let Some(unpack) = &mut self.unpack
            && offset > 0
            && self.source.position() == 0
        {
            // What the members share stands before the first.
            unpack.preface(&mut self.source)?;
        }
        self.source.seek(offset)?;
        self.member = offset;
        Ok(())
    }
}
