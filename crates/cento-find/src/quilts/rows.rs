//! The rows that travel between the stages of `quilts`.

use bytemuck::{Pod, Zeroable};
use cento_flow::Row;

/// A page has a gram. Twelve bytes, for there is one for every word.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct GramPage {
    pub(super) gram: u64,
    pub(super) page: u32,
}

impl Row for GramPage {
    type Key = u64;
    type Rest = u32;

    fn key(&self) -> u64 {
        self.gram
    }

    fn rest(&self) -> u32 {
        self.page
    }
}

/// So many of a page's grams are of some sort. Eight bytes, for there are nearly as many as shared
/// grams of pages.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Count {
    pub(super) page: u32,
    /// One of the sorts below in the highest twelve bits, and the count.
    what: u32,
}

/// All distinct grams of the page.
pub(super) const GRAMS: u32 = 0;
/// Those that are on other pages too, and on too many to be patch grams.
pub(super) const SHARED: u32 = 1;
/// Those that are on other pages too, all of them later.
pub(super) const FIRST: u32 = 2;
/// Patch grams by the smallest m that they are patch grams for: the first such sort.
pub(super) const PATCH: u32 = 3;

impl Count {
    const BITS: u32 = 20;
    /// The most that fits in a row.
    pub(super) const MOST: u32 = (1 << Count::BITS) - 1;

    pub(super) fn new(page: u32, sort: u32, count: u32) -> Count {
        let what = sort << Count::BITS | count.min(Count::MOST);
        Count { page, what }
    }

    pub(super) fn sort(&self) -> usize {
        (self.what >> Count::BITS) as usize
    }

    pub(super) fn count(&self) -> u64 {
        u64::from(self.what & Count::MOST)
    }
}

impl Row for Count {
    type Key = u32;
    type Rest = u32;

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> u32 {
        self.what
    }
}

/// The other pages that have a gram of a page, three at a time: most patch grams are on few pages,
/// and a triple of its own for each would move twice the bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct Others {
    pub(super) page: u32,
    /// How many pages have the gram; 0 for a row about the page itself: its counts, or what it
    /// links to.
    pub(super) pages: u16,
    pub(super) part: u16,
    pub(super) gram: u64,
    pub(super) others: [u32; 3],
}

/// Where there is no other page.
pub(super) const NOBODY: u32 = u32::MAX;

impl Row for Others {
    type Key = u32;
    type Rest = (u16, u64, u16);

    fn key(&self) -> u32 {
        self.page
    }

    // By the number of pages first: the patch grams for a smaller m come before those that a larger
    // one adds.
    fn rest(&self) -> (u16, u64, u16) {
        (self.pages, self.gram, self.part)
    }
}

/// A page of a server, which is known by a hash of its name.
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

/// An end of a link: a page that is known by its domain or address, or a page that links there.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LinkEnd {
    hash: [u64; 2],
    /// 0 for what is linked to, which comes first, else what it is linked by.
    part: u32,
    pub(super) page: u32,
}

/// The part of a row that says to which address a page links; the address is known by its first
/// page.
pub(super) const LINKED_ADDRESS: u16 = u16::MAX - 1;
/// The part of a row that says to which domain a page links.
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

/// A quilt has a gram here that this source gives; where is it in the source?
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct Sought {
    pub(super) source: u32,
    pub(super) quilt: u32,
    /// Which of the quilt's sources it is.
    pub(super) rank: u32,
    /// The number of its first word in the quilt.
    pub(super) position: u32,
    pub(super) gram: u64,
    /// Its bytes there.
    pub(super) begin: u32,
    pub(super) end: u32,
}

impl Row for Sought {
    type Key = u32;
    type Rest = (u32, u32);

    fn key(&self) -> u32 {
        self.source
    }

    fn rest(&self) -> (u32, u32) {
        (self.quilt, self.position)
    }
}

/// Quilts and sources that a task has counted for one definition.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Tally {
    pub(super) quilts: u64,
    pub(super) sources: u64,
    pub(super) point: u32,
    pub(super) unused: u32,
}

impl Row for Tally {
    type Key = u32;
    type Rest = (u64, u64);

    fn key(&self) -> u32 {
        self.point
    }

    fn rest(&self) -> (u64, u64) {
        (self.quilts, self.sources)
    }
}
