//! LZ4, frame by frame.
//!
//! ```text
//!  magic │ descriptor │ length, block │ length, block │ … │ 0 │ checksum
//! ```
//! The frames are taken apart here and only the blocks by the library, for the reason that gzip's
//! are: its reader owns what it reads from, and does not say where a frame ends.

use lz4_flex::block::decompress_into_with_dict;
use memchr::memmem;
use xxhash_rust::xxh32::{Xxh32, xxh32};

use super::gzip::Beginning;
use super::source::Source;
use super::stream::Trouble;
use super::unpack::{Unpack, damaged, pass_skippable, shows};

/// The first bytes of every frame.
pub(crate) const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// How far back a block may reach into the ones before it.
const REACH: usize = 64 << 10;

/// Of a block's length, the part that says that it is stored as it is.
const AS_IT_IS: u32 = 1 << 31;

/// The longest descriptor, with its magic number.
const LONGEST_HEADER: usize = 4 + 2 + 8 + 4 + 1;

/// What the descriptor of a frame says.
#[derive(Clone, Copy, Default)]
struct Descriptor {
    linked: bool,
    block_checksums: bool,
    content_checksum: bool,
    content_bytes: Option<u64>,
    largest_block: usize,
    /// How long it is itself, with the magic number.
    length: usize,
}

fn descriptor(bytes: &[u8]) -> Result<Descriptor, Trouble> {
    let known = bytes.len().min(MAGIC.len());
    if bytes[..known] != MAGIC[..known] {
        return Err(damaged("no LZ4 frame begins here"));
    }
    let &[flags, sizes] = bytes
        .get(4..)
        .and_then(<[u8]>::first_chunk::<2>)
        .ok_or(Trouble::Truncated)?;
    if flags >> 6 != 1 || flags & 2 != 0 || sizes & 0x8f != 0 {
        return Err(damaged("the descriptor of the LZ4 frame is not known"));
    }
    if flags & 1 != 0 {
        return Err(damaged("the LZ4 frame needs a dictionary"));
    }
    let largest_block = match sizes >> 4 {
        4 => 64 << 10,
        5 => 256 << 10,
        6 => 1 << 20,
        7 => 4 << 20,
        _ => return Err(damaged("the LZ4 frame has blocks of no known size")),
    };
    let mut end = 6;
    let mut content_bytes = None;
    if flags & 8 != 0 {
        let size = bytes[end..].first_chunk::<8>().ok_or(Trouble::Truncated)?;
        content_bytes = Some(u64::from_le_bytes(*size));
        end += 8;
    }
    let &sum = bytes.get(end).ok_or(Trouble::Truncated)?;
    if (xxh32(&bytes[4..end], 0) >> 8) as u8 != sum {
        return Err(damaged("the checksum of the LZ4 descriptor differs"));
    }
    Ok(Descriptor {
        linked: flags & 0x20 == 0,
        block_checksums: flags & 0x10 != 0,
        content_checksum: flags & 4 != 0,
        content_bytes,
        largest_block,
        length: end + 1,
    })
}

/// Unpacks the frames of a source.
pub(crate) struct Unlz4 {
    inside: bool,
    frame: Descriptor,
    /// The present block as stored.
    stored: Vec<u8>,
    /// The present block unpacked, from the front of this on; always as long as the largest block
    /// so far may be.
    block: Vec<u8>,
    begin: usize,
    end: usize,
    /// What came before the present block, as far as it reaches.
    history: Vec<u8>,
    checksum: Xxh32,
    amount: u64,
}

impl Unlz4 {
    pub(crate) fn new() -> Self {
        Unlz4 {
            inside: false,
            frame: Descriptor::default(),
            stored: Vec::new(),
            block: Vec::new(),
            begin: 0,
            end: 0,
            history: Vec::new(),
            checksum: Xxh32::new(0),
            amount: 0,
        }
    }

    /// Unpacks the next block. Answers whether there was one: else the frame is at its end.
    fn next_block(&mut self, source: &mut Source) -> Result<bool, Trouble> {
        let length = number(source)?;
        if length == 0 {
            return self.finish(source).map(|()| false);
        }
        let as_it_is = length & AS_IT_IS != 0;
        let length = (length & !AS_IT_IS) as usize;
        if length > self.frame.largest_block {
            return Err(damaged("an LZ4 block is larger than its frame allows"));
        }
        self.stored.clear();
        while self.stored.len() < length {
            if !source.fill()? {
                return Err(Trouble::Truncated);
            }
            let available = source.available();
            let step = available.len().min(length - self.stored.len());
            self.stored.extend_from_slice(&available[..step]);
            source.consume(step);
        }
        if self.frame.block_checksums && number(source)? != xxh32(&self.stored, 0) {
            return Err(damaged("the checksum of an LZ4 block differs"));
        }
        self.remember();
        if self.block.len() < self.frame.largest_block {
            self.block = vec![0; self.frame.largest_block];
        }
        self.begin = 0;
        self.end = if as_it_is {
            self.block[..length].copy_from_slice(&self.stored);
            length
        } else {
            let room = &mut self.block[..self.frame.largest_block];
            decompress_into_with_dict(&self.stored, room, &self.history)
                .map_err(|error| damaged(format!("LZ4: {error}")))?
        };
        let unpacked = &self.block[..self.end];
        self.amount += unpacked.len() as u64;
        if self.frame.content_checksum {
            self.checksum.update(unpacked);
        }
        Ok(true)
    }

    /// Keeps the end of the block that is done with, where the next may reach into it.
    fn remember(&mut self) {
        if !self.frame.linked {
            return;
        }
        let done = &self.block[..self.end];
        let kept = &done[done.len().saturating_sub(REACH)..];
        let surplus = (self.history.len() + kept.len()).saturating_sub(REACH);
        self.history.drain(..surplus.min(self.history.len()));
        self.history.extend_from_slice(kept);
    }

    fn finish(&mut self, source: &mut Source) -> Result<(), Trouble> {
        self.inside = false;
        if self.frame.content_checksum && number(source)? != self.checksum.digest() {
            return Err(damaged("the checksum of the LZ4 frame differs"));
        }
        match self.frame.content_bytes {
            Some(bytes) if bytes != self.amount => {
                Err(damaged("the length of the LZ4 frame differs"))
            }
            _ => Ok(()),
        }
    }
}

/// The number that is the next thing in `source`.
fn number(source: &mut Source) -> Result<u32, Trouble> {
    source.ensure(4)?;
    let bytes = *source
        .available()
        .first_chunk::<4>()
        .ok_or(Trouble::Truncated)?;
    source.consume(4);
    Ok(u32::from_le_bytes(bytes))
}

impl Unpack for Unlz4 {
    fn inside(&self) -> bool {
        self.inside
    }

    fn leave(&mut self) {
        self.inside = false;
    }

    fn preface(&mut self, source: &mut Source) -> Result<(), Trouble> {
        pass_skippable(source)
    }

    fn begin(&mut self, source: &mut Source) -> Result<(), Trouble> {
        source.ensure(LONGEST_HEADER)?;
        self.frame = descriptor(source.available())?;
        source.consume(self.frame.length);
        self.checksum.reset(0);
        self.history.clear();
        (self.begin, self.end, self.amount) = (0, 0, 0);
        self.inside = true;
        Ok(())
    }

    fn pull(&mut self, source: &mut Source, output: &mut Vec<u8>) -> Result<usize, Trouble> {
        // A block may unpack to nothing.
        while self.begin == self.end {
            if !self.next_block(source)? {
                return Ok(0);
            }
        }
        let room = output.capacity() - output.len();
        let count = room.min(self.end - self.begin);
        output.extend_from_slice(&self.block[self.begin..self.begin + count]);
        self.begin += count;
        Ok(count)
    }

    /// The first block of a frame has nothing to reach back to: it begins with what is stored as it
    /// is.
    fn begins_with(&mut self, bytes: &[u8], expected: Beginning) -> Option<bool> {
        self.inside = false;
        let frame = descriptor(bytes).ok()?;
        let rest = &bytes[frame.length..];
        let (length, block) = rest.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length);
        if length & AS_IT_IS != 0 {
            let length = (length & !AS_IT_IS) as usize;
            return Some(shows(&block[..block.len().min(length)], expected));
        }
        let block = &block[..block.len().min(length as usize)];
        let (&token, mut block) = block.split_first()?;
        let mut literals = usize::from(token >> 4);
        if literals == 15 {
            let more = block.iter().take_while(|&&byte| byte == 255).count();
            literals += 255 * more;
            block = block.get(more + 1..).unwrap_or_default();
        }
        Some(shows(&block[..block.len().min(literals)], expected))
    }

    fn front(&self) -> usize {
        4 << 10
    }

    fn find(&self, bytes: &[u8]) -> (Option<usize>, usize) {
        (memmem::find(bytes, &MAGIC), MAGIC.len())
    }
}
