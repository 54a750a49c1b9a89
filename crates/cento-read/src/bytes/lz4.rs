//! LZ4.
//!
//! ```text
//!  magic │ descriptor │ length, block │ length, block │ … │ 0 │ checksum
//! ```
//! Frames are parsed here, and only blocks are decompressed by the library: its frame reader owns
//! its input and does not return where a frame ends.

use lz4_flex::block::decompress_into_with_dict;
use memchr::memmem;
use xxhash_rust::xxh32::{Xxh32, xxh32};

use super::byte_source::ByteSource;
use super::gzip::Beginning;
use super::stream::StreamError;
use super::unpack::{Unpack, damaged, pass_skippable, shows};

/// The magic number of frames.
pub(crate) const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// How far a block may refer back to previous blocks.
const REACH: usize = 64 << 10;

/// The bit of the block length that marks an uncompressed block.
const UNCOMPRESSED: u32 = 1 << 31;

/// The longest descriptor, including the magic number.
const LONGEST_HEADER: usize = 4 + 2 + 8 + 4 + 1;

/// The descriptor of a frame.
#[derive(Clone, Copy, Default)]
struct Descriptor {
    linked: bool,
    block_checksums: bool,
    content_checksum: bool,
    content_bytes: Option<u64>,
    largest_block: usize,
    /// The length of the descriptor, including the magic number.
    length: usize,
}

fn descriptor(bytes: &[u8]) -> Result<Descriptor, StreamError> {
    let known = bytes.len().min(MAGIC.len());
    if bytes[..known] != MAGIC[..known] {
        return Err(damaged("expected an LZ4 frame"));
    }
    let &[flags, sizes] = bytes
        .get(4..)
        .and_then(<[u8]>::first_chunk::<2>)
        .ok_or(StreamError::Truncated)?;
    if flags >> 6 != 1 || flags & 2 != 0 || sizes & 0x8f != 0 {
        return Err(damaged("the descriptor of the LZ4 frame is invalid"));
    }
    if flags & 1 != 0 {
        return Err(damaged("the LZ4 frame needs a dictionary"));
    }
    let largest_block = match sizes >> 4 {
        4 => 64 << 10,
        5 => 256 << 10,
        6 => 1 << 20,
        7 => 4 << 20,
        _ => return Err(damaged("the block size of the LZ4 frame is invalid")),
    };
    let mut end = 6;
    let mut content_bytes = None;
    if flags & 8 != 0 {
        let size = bytes[end..]
            .first_chunk::<8>()
            .ok_or(StreamError::Truncated)?;
        content_bytes = Some(u64::from_le_bytes(*size));
        end += 8;
    }
    let &sum = bytes.get(end).ok_or(StreamError::Truncated)?;
    if (xxh32(&bytes[4..end], 0) >> 8) as u8 != sum {
        return Err(damaged("the checksum of the LZ4 descriptor is wrong"));
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

/// Decompresses the frames of a source.
pub(crate) struct Unlz4 {
    inside: bool,
    frame: Descriptor,
    /// The current block as stored.
    stored: Vec<u8>,
    /// The current block decompressed. The buffer has the size of the largest block so far.
    block: Vec<u8>,
    begin: usize,
    end: usize,
    /// The bytes before the current block that it may refer to.
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

    /// Decompresses the next block. Returns false at the end of the frame.
    fn next_block(&mut self, source: &mut ByteSource) -> Result<bool, StreamError> {
        let length = number(source)?;
        if length == 0 {
            return self.finish(source).map(|()| false);
        }
        let is_uncompressed = length & UNCOMPRESSED != 0;
        let length = (length & !UNCOMPRESSED) as usize;
        if length > self.frame.largest_block {
            return Err(damaged("an LZ4 block is larger than its frame allows"));
        }
        self.stored.clear();
        while self.stored.len() < length {
            if !source.fill()? {
                return Err(StreamError::Truncated);
            }
            let available = source.available();
            let step = available.len().min(length - self.stored.len());
            self.stored.extend_from_slice(&available[..step]);
            source.consume(step);
        }
        if self.frame.block_checksums && number(source)? != xxh32(&self.stored, 0) {
            return Err(damaged("the checksum of an LZ4 block is wrong"));
        }
        self.remember();
        if self.block.len() < self.frame.largest_block {
            self.block = vec![0; self.frame.largest_block];
        }
        self.begin = 0;
        self.end = if is_uncompressed {
            self.block[..length].copy_from_slice(&self.stored);
            length
        } else {
            let space = &mut self.block[..self.frame.largest_block];
            decompress_into_with_dict(&self.stored, space, &self.history)
                .map_err(|error| damaged(format!("LZ4: {error}")))?
        };
        let unpacked = &self.block[..self.end];
        self.amount += unpacked.len() as u64;
        if self.frame.content_checksum {
            self.checksum.update(unpacked);
        }
        Ok(true)
    }

    /// Keeps the end of the finished block, which the next block may refer to.
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

    fn finish(&mut self, source: &mut ByteSource) -> Result<(), StreamError> {
        self.inside = false;
        if self.frame.content_checksum && number(source)? != self.checksum.digest() {
            return Err(damaged("the checksum of the LZ4 frame is wrong"));
        }
        match self.frame.content_bytes {
            Some(bytes) if bytes != self.amount => {
                Err(damaged("the length of the LZ4 frame is wrong"))
            }
            _ => Ok(()),
        }
    }
}

/// Reads a number from `source`.
fn number(source: &mut ByteSource) -> Result<u32, StreamError> {
    source.ensure(4)?;
    let bytes = *source
        .available()
        .first_chunk::<4>()
        .ok_or(StreamError::Truncated)?;
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

    fn preface(&mut self, source: &mut ByteSource) -> Result<(), StreamError> {
        pass_skippable(source)
    }

    fn begin(&mut self, source: &mut ByteSource) -> Result<(), StreamError> {
        source.ensure(LONGEST_HEADER)?;
        self.frame = descriptor(source.available())?;
        source.consume(self.frame.length);
        self.checksum.reset(0);
        self.history.clear();
        (self.begin, self.end, self.amount) = (0, 0, 0);
        self.inside = true;
        Ok(())
    }

    fn pull(
        &mut self,
        source: &mut ByteSource,
        output: &mut Vec<u8>,
    ) -> Result<usize, StreamError> {
        // A block may be empty.
        while self.begin == self.end {
            if !self.next_block(source)? {
                return Ok(0);
            }
        }
        let space = output.capacity() - output.len();
        let count = space.min(self.end - self.begin);
        output.extend_from_slice(&self.block[self.begin..self.begin + count]);
        self.begin += count;
        Ok(count)
    }

    /// The first block of a frame cannot refer back, so it begins with literals.
    fn begins_with(&mut self, bytes: &[u8], expected: Beginning) -> Option<bool> {
        self.inside = false;
        let frame = descriptor(bytes).ok()?;
        let rest = &bytes[frame.length..];
        let (length, block) = rest.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length);
        if length & UNCOMPRESSED != 0 {
            let length = (length & !UNCOMPRESSED) as usize;
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
