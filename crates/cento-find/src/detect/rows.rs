//! The rows that travel between the stages of `detect`.

use bytemuck::{Pod, Zeroable};
use cento_flow::Row;

/// No original is known.
pub(super) const NOWHERE: u32 = u32::MAX;

/// What is said about a label: an original that has it, or a chunk that is it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct AboutLabel {
    pub(super) label: u32,
    /// 0 for an original, 1 for a chunk.
    pub(super) kind: u32,
    /// The original, or the page.
    pub(super) page: u32,
    pub(super) ordinal: u32,
    pub(super) begin: u32,
    pub(super) end: u32,
}

/// An original that has the label.
pub(super) const ORIGIN: u32 = 0;
/// A chunk that is the label.
pub(super) const MATCH: u32 = 1;

impl Row for AboutLabel {
    type Key = u32;
    type Rest = (u32, u32, u32);

    fn key(&self) -> u32 {
        self.label
    }

    fn rest(&self) -> (u32, u32, u32) {
        (self.kind, self.page, self.ordinal)
    }
}

/// What is said about a page: how many chunks it has, or one of them that is a label.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct AboutPage {
    pub(super) page: u32,
    pub(super) kind: u32,
    pub(super) numbers: [u32; 5],
}

/// Chunks, those that are stopped, those that are labels.
pub(super) const COUNTS: u32 = 0;
/// A chunk that is a label: its ordinal, label, an original, begin and end.
pub(super) const HIT: u32 = 1;

impl Row for AboutPage {
    type Key = u32;
    type Rest = (u32, [u32; 5]);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> (u32, [u32; 5]) {
        (self.kind, self.numbers)
    }
}

/// A page in a neighbourhood.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Neighbour {
    pub(super) hash: [u64; 2],
    pub(super) page: u32,
    pub(super) depth: u32,
    pub(super) matched: u32,
    pub(super) left: u32,
}

impl Row for Neighbour {
    type Key = u128;
    type Rest = u32;

    fn key(&self) -> u128 {
        u128::from(self.hash[0]) << 64 | u128::from(self.hash[1])
    }

    fn rest(&self) -> u32 {
        self.page
    }
}
