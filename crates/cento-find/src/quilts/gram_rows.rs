//! The rows of the shuffles of `quilts`.

use bytemuck::{Pod, Zeroable};
use cento_flow::Row;

/// A gram of a page. Twelve bytes, because there is one for every word.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct GramPage {
    pub(super) gram: u64,
    pub(super) page: u32,
}

impl Row for GramPage {
    type Key = u64;
    type Rest = u32;
    // A gram of one page is no patch gram.
    const ONLY_REPEATED: bool = true;

    fn key(&self) -> u64 {
        self.gram
    }

    fn rest(&self) -> u32 {
        self.page
    }
}

/// How many grams of a page are in a category. Eight bytes, because there are nearly as many as
/// shared grams of pages.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct CategoryCount {
    pub(super) page: u32,
    /// One of the categories below in the highest twelve bits, and the count.
    packed: u32,
}

/// All distinct grams of the page.
pub(super) const GRAMS: u32 = 0;
/// Grams that are also on other pages, on too many to be patch grams.
pub(super) const SHARED: u32 = 1;
/// Grams that are also on other pages, all of them later.
pub(super) const FIRST: u32 = 2;
/// The first category of patch grams. There is one for each m: the smallest for which they are
/// patch grams.
pub(super) const PATCH: u32 = 3;

impl CategoryCount {
    const BITS: u32 = 20;
    /// The largest count that fits in a row.
    pub(super) const MOST: u32 = (1 << CategoryCount::BITS) - 1;

    pub(super) fn new(page: u32, category: u32, count: u32) -> CategoryCount {
        let packed = category << CategoryCount::BITS | count.min(CategoryCount::MOST);
        CategoryCount { page, packed }
    }

    pub(super) fn category(&self) -> usize {
        (self.packed >> CategoryCount::BITS) as usize
    }

    pub(super) fn count(&self) -> u64 {
        u64::from(self.packed & CategoryCount::MOST)
    }
}

impl Row for CategoryCount {
    type Key = u32;
    type Rest = u32;

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> u32 {
        self.packed
    }
}

/// The other pages that have a gram of a page, three per row. Most patch grams are on few pages,
/// and a row for each of them would move twice the bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct Others {
    pub(super) page: u32,
    /// The smallest m for which it is a patch gram; 0 for a row about the page itself: its counts,
    /// or a link.
    pub(super) least_m: u16,
    pub(super) part: u16,
    pub(super) gram: u64,
    pub(super) others: [u32; 3],
}

/// An empty place in [`Others`].
pub(super) const NOBODY: u32 = u32::MAX;

impl Row for Others {
    type Key = u32;
    type Rest = (u16, u64, u16);

    fn key(&self) -> u32 {
        self.page
    }

    // The patch grams for a smaller m precede those that a larger m adds. If there is one m, as in
    // all runs but sweeps, rows arrive in this order, and sorting them only reads them.
    fn rest(&self) -> (u16, u64, u16) {
        (self.least_m, self.gram, self.part)
    }
}

/// A page of a server, which is identified by a hash of its name.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ServerPage {
    pub(super) server: [u64; 2],
    pub(super) page: u32,
    pub(super) unused: u32,
}

impl Row for ServerPage {
    type Key = u128;
    type Rest = u32;

    fn key(&self) -> u128 {
        u128::from(self.server[0]) << 64 | u128::from(self.server[1])
    }

    fn rest(&self) -> u32 {
        self.page
    }
}

/// An end of a link: a page with the hash of its domain or address, or a page that links there.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LinkEnd {
    hash: [u64; 2],
    /// 0 for the target, which comes first; else the part of the row that the link becomes.
    part: u32,
    pub(super) page: u32,
}

/// The part of a row for a link to an address. The address is identified by its first page.
pub(super) const LINKED_ADDRESS: u16 = u16::MAX - 1;
/// The part of a row for a link to a domain.
pub(super) const LINKED_DOMAIN: u16 = u16::MAX;

impl LinkEnd {
    pub(super) fn target(hash: [u64; 2], page: u32) -> LinkEnd {
        let part = 0;
        LinkEnd { hash, part, page }
    }

    pub(super) fn link(hash: [u64; 2], part: u16, page: u32) -> LinkEnd {
        let part = u32::from(part);
        LinkEnd { hash, part, page }
    }

    pub(super) fn is_target(&self) -> bool {
        self.part == 0
    }

    pub(super) fn part(&self) -> u16 {
        self.part as u16
    }
}

impl Row for LinkEnd {
    type Key = u128;
    type Rest = (u32, u32);

    fn key(&self) -> u128 {
        u128::from(self.hash[0]) << 64 | u128::from(self.hash[1])
    }

    fn rest(&self) -> (u32, u32) {
        (self.part, self.page)
    }
}

/// A position of a patch gram in a quilt, to be found in its source.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct PatchPosition {
    pub(super) source: u32,
    pub(super) quilt: u32,
    /// Which of the quilt's sources it is.
    pub(super) rank: u32,
    /// The number of its first word in the quilt.
    pub(super) position: u32,
    pub(super) gram: u64,
    /// Its bytes in the quilt.
    pub(super) begin: u32,
    pub(super) end: u32,
}

impl Row for PatchPosition {
    type Key = u32;
    type Rest = (u32, u32);

    fn key(&self) -> u32 {
        self.source
    }

    fn rest(&self) -> (u32, u32) {
        (self.quilt, self.position)
    }
}

/// The quilts and sources that a task counted for one definition.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SweepTally {
    pub(super) quilts: u64,
    pub(super) sources: u64,
    pub(super) point: u32,
    pub(super) unused: u32,
}

impl Row for SweepTally {
    type Key = u32;
    type Rest = (u64, u64);

    fn key(&self) -> u32 {
        self.point
    }

    fn rest(&self) -> (u64, u64) {
        (self.quilts, self.sources)
    }
}
