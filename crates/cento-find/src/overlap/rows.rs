//! The rows that flow, and the states that are shared.

use std::io::{self, Read, Write};

use bytemuck::{Pod, Zeroable};
use cento_flow::{Row, StageError, State};
use serde_json::Value;

/// A hash of 128 bits and a page that has it: a chunk, a text, the name of a server.
///
/// Not fewer bits: among 2⁴⁰ chunks two meet in 64 bits for certain and in 128 with a chance below
/// 2⁻⁴⁹, and whoever writes pages can make two chunks meet in 64 bits on a laptop.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct HashPage {
    high: u64,
    low: u64,
    pub(super) page: u32,
}

impl HashPage {
    #[inline(always)]
    pub(super) fn new(hash: [u8; 16], page: u32) -> HashPage {
        let hash = u128::from_be_bytes(hash);
        HashPage {
            high: (hash >> 64) as u64,
            low: hash as u64,
            page,
        }
    }

    /// Of a hash of 64 bits, where that is all there is.
    #[inline(always)]
    pub(super) fn short(hash: u64, page: u32) -> HashPage {
        HashPage {
            high: hash,
            low: 0,
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

/// A page of a chunk that several pages have, on its way to a strip. The key is the strip, then the
/// chunk.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct Posting {
    pub(super) key: u64,
    pub(super) page: u32,
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

/// A chunk that a page has, by number.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct Held {
    pub(super) chunk: u64,
    pub(super) page: u32,
}

impl Row for Held {
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

/// Two pages and how many chunks they share, or some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Pair {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) chunks: u32,
}

impl Row for Pair {
    type Key = u64;
    type Rest = u32;

    fn key(&self) -> u64 {
        u64::from(self.left) << 32 | u64::from(self.right)
    }

    fn rest(&self) -> u32 {
        self.chunks
    }
}

/// A pair that may be the largest: all of them meet under one key.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Contender(pub(super) Pair);

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

/// What adds up to what is known of a page or a server.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Fact {
    pub(super) page: u32,
    /// Distinct chunks, without those that are left out.
    pub(super) chunks: u32,
    /// Pages that have the same text, or that are on the same server.
    pub(super) pages: u32,
    /// Chunks that are ignored because too many pages have them.
    pub(super) common: u32,
}

impl Row for Fact {
    type Key = u32;
    type Rest = (u32, u32, u32);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> (u32, u32, u32) {
        (self.chunks, self.pages, self.common)
    }
}

/// A chunk that is left out, by a page that has it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Common {
    pub(super) chunk: [u8; 16],
    pub(super) page: u32,
    pub(super) pages: u32,
}

impl Row for Common {
    type Key = u32;
    type Rest = ([u8; 16], u32);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> ([u8; 16], u32) {
        (self.chunk, self.pages)
    }
}

/// Memory that is set apart for strips, so that nobody else takes it. Parameters: `{"bytes": n}`.
pub(super) struct Reserve;

impl Reserve {
    pub(super) const KIND: &str = "reserve";
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
