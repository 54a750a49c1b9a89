//! The rows of the shuffles of `overlap`, and the state that reserves memory.

use std::io::{self, Read, Write};

use bytemuck::{Pod, Zeroable};
use cento_flow::{Row, StageError, State};
use serde_json::Value;

/// A 128-bit hash and a page that has it: of a chunk, a text or the name of a server.
///
/// 64 bits would not suffice: among 2⁴⁰ chunks they collide with certainty, 128 bits with a
/// probability below 2⁻⁴⁹; and the author of a page can construct 64-bit collisions on a laptop.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(crate) struct HashPage {
    high: u64,
    low: u64,
    pub(crate) page: u32,
}

impl HashPage {
    #[inline(always)]
    pub(crate) fn new(hash: [u8; 16], page: u32) -> HashPage {
        let hash = u128::from_be_bytes(hash);
        HashPage {
            high: (hash >> 64) as u64,
            low: hash as u64,
            page,
        }
    }
}

impl Row for HashPage {
    type Key = u128;
    type Rest = u32;

    #[inline(always)]
    fn key(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    #[inline(always)]
    fn rest(&self) -> u32 {
        self.page
    }
}

/// A page of a chunk that is on several pages, sent to a strip. The key is the strip, then the
/// chunk.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(crate) struct Posting {
    pub(crate) key: u64,
    pub(crate) page: u32,
}

impl Row for Posting {
    type Key = u64;
    type Rest = u32;

    #[inline(always)]
    fn key(&self) -> u64 {
        self.key
    }

    #[inline(always)]
    fn rest(&self) -> u32 {
        self.page
    }
}

/// A chunk of a page, by number.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(crate) struct PageChunk {
    pub(crate) chunk: u64,
    pub(crate) page: u32,
}

impl Row for PageChunk {
    type Key = u32;
    type Rest = u64;

    #[inline(always)]
    fn key(&self) -> u32 {
        self.page
    }

    #[inline(always)]
    fn rest(&self) -> u64 {
        self.chunk
    }
}

/// Two pages and a count of chunks that both have; the counts of a pair are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PairCount {
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) chunks: u32,
}

impl Row for PairCount {
    type Key = u64;
    type Rest = u32;

    fn key(&self) -> u64 {
        u64::from(self.left) << 32 | u64::from(self.right)
    }

    fn rest(&self) -> u32 {
        self.chunks
    }
}

/// A candidate for the largest pair. All candidates have the same key.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Contender(pub(super) PairCount);

impl Row for Contender {
    type Key = u32;
    type Rest = (u32, u64);

    fn key(&self) -> u32 {
        0
    }

    fn rest(&self) -> (u32, u64) {
        (u32::MAX - self.0.chunks, self.0.key())
    }
}

/// Counts of a page or a server; the rows of a page are added up.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PageCounts {
    pub(crate) page: u32,
    /// Distinct chunks that are not ignored.
    pub(crate) chunks: u32,
    /// Pages with the same text, or on the same server.
    pub(crate) pages: u32,
    /// Chunks that are ignored because they are on too many pages.
    pub(crate) common: u32,
}

impl Row for PageCounts {
    type Key = u32;
    type Rest = (u32, u32, u32);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> (u32, u32, u32) {
        (self.chunks, self.pages, self.common)
    }
}

/// A chunk that is ignored, with the first page that has it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct CommonChunk {
    pub(crate) chunk: [u8; 16],
    pub(crate) page: u32,
    pub(crate) pages: u32,
}

impl Row for CommonChunk {
    type Key = u32;
    type Rest = ([u8; 16], u32);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> ([u8; 16], u32) {
        (self.chunk, self.pages)
    }
}

/// Reserves memory of the budget for strips. Parameters: `{"bytes": n}`.
pub(crate) struct Reserve;

impl Reserve {
    pub(crate) const KIND: &str = "reserve";
}

impl State for Reserve {
    fn create(_: &Value) -> Result<Reserve, StageError> {
        Ok(Reserve)
    }

    fn weight(parameters: &Value) -> u64 {
        parameters
            .get("bytes")
            .and_then(Value::as_u64)
            .unwrap_or_default()
    }

    fn absorb(&self, _: &mut dyn Read) -> Result<(), StageError> {
        Ok(())
    }

    fn write(&self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
