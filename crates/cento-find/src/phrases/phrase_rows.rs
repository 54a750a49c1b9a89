//! The rows of the shuffles of `phrases`.

use bytemuck::{Pod, Zeroable};
use cento_fingerprint::run_hash;
use cento_flow::Row;

/// A page with a hash of its host, domain or address.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct PageHome {
    hash: [u64; 2],
    pub(super) page: u32,
    unused: u32,
}

impl PageHome {
    pub(super) fn new(name: &str, page: u32) -> PageHome {
        // Collision-resistant: names of hosts are chosen by others.
        let hash = blake3::hash(name.as_bytes());
        let hash = hash.as_bytes().first_chunk().copied().unwrap_or_default();
        let hash = u128::from_be_bytes(hash);
        PageHome {
            hash: [(hash >> 64) as u64, hash as u64],
            page,
            unused: 0,
        }
    }
}

impl Row for PageHome {
    type Key = u128;
    type Rest = u32;

    fn key(&self) -> u128 {
        u128::from(self.hash[0]) << 64 | u128::from(self.hash[1])
    }

    fn rest(&self) -> u32 {
        self.page
    }
}

/// A phrase of a page. The pages of a phrase are ordered by site.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct Shingle {
    pub(super) gram: u64,
    pub(super) site: u32,
    pub(super) page: u32,
    /// How many of the 84 shingles of the page it is; 0 if it was not sampled.
    pub(super) slots: u32,
}

impl Row for Shingle {
    type Key = u64;
    type Rest = (u32, u32);

    fn key(&self) -> u64 {
        self.gram
    }

    fn rest(&self) -> (u32, u32) {
        (self.site, self.page)
    }
}

/// A page that has a phrase. The first row of a phrase is a head with facts about the phrase.
///
/// Pages come in a random order that is the same for all phrases. So the first pages of a phrase
/// are a sample, and a page that is among the first of one phrase is likely to be among the first
/// of the next.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Holder {
    gram: u64,
    order: u64,
    pub(super) page: u32,
    facts: u32,
}

/// On enough pages to be popular.
pub(super) const POPULAR: u32 = 1 << 16;
/// On more than one site.
pub(super) const ABROAD: u32 = 1 << 17;
/// Sampled from at least one page.
pub(super) const SAMPLED: u32 = 1 << 18;
/// On more pages than there are candidates.
pub(super) const CUT: u32 = 1 << 19;

/// The order of the pages that are covered, after all candidates.
const TARGETS: u64 = u64::MAX;

impl Holder {
    /// The facts about a phrase.
    pub(super) fn head(gram: u64, facts: u32) -> Holder {
        Holder {
            gram,
            order: 0,
            page: 0,
            facts,
        }
    }

    /// A page that has the phrase.
    pub(super) fn new(gram: u64, page: u32, facts: u32) -> Holder {
        Holder {
            gram,
            order: shuffled(page),
            page,
            facts,
        }
    }

    /// A candidate for covering the phrase, with its place among the candidates.
    pub(super) fn candidate(gram: u64, place: usize, page: u32) -> Holder {
        Holder {
            gram,
            order: 1 + place as u64,
            page,
            facts: 0,
        }
    }

    /// The same page as one to be covered, after all candidates.
    pub(super) fn target(self) -> Holder {
        Holder {
            order: TARGETS,
            ..self
        }
    }

    pub(super) fn is_target(self) -> bool {
        self.order == TARGETS
    }

    /// The same page with other facts.
    pub(super) fn with(self, facts: u32) -> Holder {
        Holder { facts, ..self }
    }

    /// The facts of a head.
    pub(super) fn facts(self) -> u32 {
        self.facts
    }

    pub(super) fn is_head(self) -> bool {
        self.order == 0
    }

    pub(super) fn has(self, fact: u32) -> bool {
        self.facts & fact != 0
    }

    /// How many of the shingles of the page the phrase is.
    pub(super) fn slots(self) -> u32 {
        self.facts & 0xffff
    }
}

impl Row for Holder {
    type Key = u64;
    type Rest = (u64, u32);

    fn key(&self) -> u64 {
        self.gram
    }

    fn rest(&self) -> (u64, u32) {
        (self.order, self.page)
    }
}

/// The place of a page in the random order of pages.
pub(super) fn shuffled(page: u32) -> u64 {
    run_hash(&[u64::from(page)]).max(1)
}

/// What phrases add to the counts of a page.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Contribution {
    pub(super) page: u32,
    pub(super) facts: u32,
    pub(super) amount: u32,
}

/// The contribution is the total number of phrases of the page.
pub(super) const TOTAL: u32 = 1 << 20;

impl Row for Contribution {
    type Key = u32;
    type Rest = (u32, u32);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> (u32, u32) {
        (self.facts, self.amount)
    }
}

/// A popular phrase, sent to a page that has it to look up its words.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct Example {
    pub(super) page: u32,
    pub(super) gram: u64,
    pub(super) pages: u32,
    pub(super) sites: u32,
    /// How many pages it was sampled from.
    pub(super) sampled: u32,
}

impl Row for Example {
    type Key = u32;
    type Rest = u64;

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> u64 {
        self.gram
    }
}

/// A page that may be covered, keyed by its number of popular shingles.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Coverable {
    pub(super) order: u64,
    pub(super) popular: u32,
    pub(super) page: u32,
}

impl Row for Coverable {
    type Key = u32;
    type Rest = (u64, u32);

    fn key(&self) -> u32 {
        self.popular
    }

    fn rest(&self) -> (u64, u32) {
        (self.order, self.page)
    }
}

/// A candidate for covering a phrase of a page.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct Offer {
    pub(super) gram: u64,
    pub(super) page: u32,
    pub(super) source: u32,
    /// How many shingles of the page the phrase is, whether it is popular, and whether there are
    /// more candidates.
    pub(super) facts: u32,
}

impl Row for Offer {
    type Key = u32;
    type Rest = (u32, u64);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> (u32, u64) {
        (self.source, self.gram)
    }
}
