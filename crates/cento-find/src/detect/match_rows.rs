//! The rows of the shuffles of `detect`.

use bytemuck::{Pod, Zeroable};
use cento_flow::Row;

/// Stands for the originals of a label that is on too many of them.
pub(super) const COMMON: u32 = u32::MAX - 1;

/// A row about a label: an original that has it, or a page with a chunk that is the label.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LabelFact {
    pub(super) label: u32,
    /// [`ORIGIN`] or [`MATCH`].
    pub(super) kind: u32,
    /// The original, or the page.
    pub(super) page: u32,
}

/// An original that has the label.
pub(super) const ORIGIN: u32 = 0;
/// A chunk that is the label.
pub(super) const MATCH: u32 = 1;

impl Row for LabelFact {
    type Key = u32;
    type Rest = (u32, u32);

    fn key(&self) -> u32 {
        self.label
    }

    fn rest(&self) -> (u32, u32) {
        (self.kind, self.page)
    }
}

/// A row about a page.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct PageFact {
    pub(super) page: u32,
    pub(super) kind: u32,
    pub(super) numbers: [u32; 4],
}

/// In `by page`: the numbers of chunks, of stopped chunks, and of labels.
pub(super) const COUNTS: u32 = 0;
/// In `by page`: a label, an original that has it (or [`COMMON`]), and the number of chunks of the
/// page that are this label.
pub(super) const HIT: u32 = 1;
/// In `positions`: a label, and the original to which the chunks of the page with this label are
/// attributed.
pub(super) const ASSIGNED: u32 = 0;
/// In `positions`: a chunk that is a label: its ordinal, the label, begin and end.
pub(super) const CHUNK: u32 = 1;

impl Row for PageFact {
    type Key = u32;
    type Rest = (u32, [u32; 4]);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> (u32, [u32; 4]) {
        (self.kind, self.numbers)
    }
}

/// A row about a common label: an original that has it, or an original of a page that may have it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct CommonLabel {
    pub(super) label: u32,
    pub(super) original: u32,
    /// [`ORIGIN`] or [`MATCH`].
    pub(super) kind: u32,
    pub(super) page: u32,
    /// The rank of the original among those of the page.
    pub(super) rank: u32,
    /// The number of chunks of the page that are this label.
    pub(super) chunks: u32,
}

impl Row for CommonLabel {
    type Key = u32;
    type Rest = (u32, u32, u32);

    fn key(&self) -> u32 {
        self.label
    }

    fn rest(&self) -> (u32, u32, u32) {
        (self.original, self.kind, self.page)
    }
}

/// An original of the page that has one of its common labels.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct CommonMatch {
    pub(super) page: u32,
    pub(super) label: u32,
    pub(super) rank: u32,
    pub(super) original: u32,
    pub(super) chunks: u32,
}

impl Row for CommonMatch {
    type Key = u32;
    type Rest = (u32, u32);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> (u32, u32) {
        (self.label, self.rank)
    }
}

/// The score of a page, or one of its prefixes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct PagePrefix {
    pub(super) hash: [u64; 2],
    pub(super) page: u32,
    /// 0 for the score, else the level of the prefix.
    pub(super) level: u32,
    pub(super) matched: u32,
    pub(super) left: u32,
}

impl Row for PagePrefix {
    type Key = u32;
    type Rest = u32;

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> u32 {
        self.level
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
