//! The rows of the shuffles of `passages`.

use bytemuck::{Pod, Zeroable};
use cento_flow::Row;

/// A fingerprint of a page, given by its rank in the order of dates.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct FingerprintPage {
    pub(super) fingerprint: u64,
    pub(super) rank: u32,
}

impl Row for FingerprintPage {
    type Key = u64;
    type Rest = u32;

    #[inline(always)]
    fn key(&self) -> u64 {
        self.fingerprint
    }

    #[inline(always)]
    fn rest(&self) -> u32 {
        self.rank
    }
}

/// A pair of pages that share a fingerprint, given by their ranks.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RankPair {
    /// The later page.
    pub(super) a: u32,
    /// The earlier page.
    pub(super) b: u32,
}

impl RankPair {
    /// Returns the pair of two ranks: the higher one is the later page.
    pub(super) fn new(one: u32, other: u32) -> RankPair {
        RankPair {
            a: one.max(other),
            b: one.min(other),
        }
    }
}

impl Row for RankPair {
    type Key = u64;
    type Rest = u32;

    #[inline(always)]
    fn key(&self) -> u64 {
        u64::from(self.a) << 32 | u64::from(self.b)
    }

    #[inline(always)]
    fn rest(&self) -> u32 {
        0
    }
}
