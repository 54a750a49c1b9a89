//! The rows that travel between the stages of `phrases`.

use bytemuck::{Pod, Zeroable};
use cento_fingerprint::run_hash;
use cento_flow::Row;

/// A page by the identity of its host, domain or address.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Home {
    hash: [u64; 2],
    pub(super) page: u32,
    unused: u32,
}

impl Home {
    pub(super) fn new(name: &str, page: u32) -> Home {
        // Whoever chooses the names of hosts must not be able to make two of them one.
        let hash = blake3::hash(name.as_bytes());
        let hash = hash.as_bytes().first_chunk().copied().unwrap_or_default();
        let hash = u128::from_be_bytes(hash);
        Home {
            hash: [(hash >> 64) as u64, hash as u64],
            page,
            unused: 0,
        }
    }
}

impl Row for Home {
    type Key = u128;
    type Rest = u32;

    fn key(&self) -> u128 {
        u128::from(self.hash[0]) << 64 | u128::from(self.hash[1])
    }

    fn rest(&self) -> u32 {
        self.page
    }
}

/// A phrase of a page. Those of one phrase come by site.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct Shingle {
    pub(super) gram: u64,
    pub(super) site: u32,
    pub(super) page: u32,
    /// How many of the page's 84 shingles it is; 0 if it was not sampled.
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

/// A page that holds a phrase, behind what is known of the phrase as a whole.
///
/// Pages come in an order that is random and the same for all phrases. So the first few of every
/// phrase are a sample, and a page that is among the first of one phrase is likely to be among the
/// first of the next.
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
/// Sampled from one page at least.
pub(super) const SAMPLED: u32 = 1 << 18;
/// More pages could give the phrase than were candidates.
pub(super) const CUT: u32 = 1 << 19;

/// The order of pages that a phrase is given to: behind all candidates.
const TAKERS: u64 = u64::MAX;

impl Holder {
    /// What is known of a phrase.
    pub(super) fn head(gram: u64, facts: u32) -> Holder {
        Holder {
            gram,
            order: 0,
            page: 0,
            facts,
        }
    }

    /// A page that holds it.
    pub(super) fn new(gram: u64, page: u32, facts: u32) -> Holder {
        Holder {
            gram,
            order: shuffled(page),
            page,
            facts,
        }
    }

    /// A page that may give the phrase to others: which of the candidates it is.
    pub(super) fn candidate(gram: u64, place: usize, page: u32) -> Holder {
        Holder {
            gram,
            order: 1 + place as u64,
            page,
            facts: 0,
        }
    }

    /// The same page as one to give the phrase to, behind all candidates.
    pub(super) fn taker(self) -> Holder {
        Holder {
            order: TAKERS,
            ..self
        }
    }

    pub(super) fn is_taker(self) -> bool {
        self.order == TAKERS
    }

    /// The same page with other facts.
    pub(super) fn with(self, facts: u32) -> Holder {
        Holder { facts, ..self }
    }

    /// What the head of a phrase says.
    pub(super) fn facts(self) -> u32 {
        self.facts
    }

    pub(super) fn is_head(self) -> bool {
        self.order == 0
    }

    pub(super) fn has(self, fact: u32) -> bool {
        self.facts & fact != 0
    }

    /// How many of the page's shingles the phrase is.
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

/// Where a page stands in the random order of pages.
pub(super) fn shuffled(page: u32) -> u64 {
    run_hash(&[u64::from(page)]).max(1)
}

/// What a phrase adds to the account of a page.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Held {
    pub(super) page: u32,
    pub(super) facts: u32,
    pub(super) amount: u32,
}

/// The account is opened: how many phrases the page has.
pub(super) const TOTAL: u32 = 1 << 20;

impl Row for Held {
    type Key = u32;
    type Rest = (u32, u32);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> (u32, u32) {
        (self.facts, self.amount)
    }
}

/// A popular phrase, on its way to the page that its words are taken from.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct Example {
    pub(super) page: u32,
    pub(super) gram: u64,
    pub(super) pages: u32,
    pub(super) sites: u32,
    /// Pages that it was sampled from.
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

/// A page that may be covered, by its popular shingles.
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

/// A page that offers another one a phrase.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct Offer {
    pub(super) gram: u64,
    pub(super) page: u32,
    pub(super) source: u32,
    /// How many shingles of the page the phrase is, whether it is popular, and whether more pages
    /// could give it.
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
