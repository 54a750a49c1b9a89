//! The rows of the shuffles.

use bytemuck::{Pod, Zeroable};
use cento_flow::Row;

/// Page numbers are below this, so that two flags fit beside them in 32 bits.
pub(super) const MOST_PAGES: u32 = 1 << 30;

/// A fingerprint of a page.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct PageFingerprint {
    pub(super) hash: u64,
    pub(super) page: u32,
}

impl Row for PageFingerprint {
    type Key = u64;
    type Rest = u32;

    /// Shuffles are partitioned by the leading bits of keys. Those of fingerprints are not evenly
    /// distributed: winnowing selects small hashes, and `dct` has 32 bits. The product with an odd
    /// number is, and it is different for different fingerprints.
    #[inline(always)]
    fn key(&self) -> u64 {
        self.hash.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    #[inline(always)]
    fn rest(&self) -> u32 {
        self.page
    }
}

/// A page in the list of a fingerprint, with flags about the fingerprint. Sorts by page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ListedPage(pub(super) u32);

impl ListedPage {
    /// The fingerprint belongs to the frame of the page's host.
    pub(super) const FRAME: u32 = 1;
    /// The fingerprint is frequent.
    pub(super) const FREQUENT: u32 = 2;

    #[inline(always)]
    pub(super) fn new(page: u32, frame: bool, frequent: bool) -> ListedPage {
        let frame = u32::from(frame) * Self::FRAME;
        let frequent = u32::from(frequent) * Self::FREQUENT;
        ListedPage(page << 2 | frequent | frame)
    }

    #[inline(always)]
    pub(super) fn page(self) -> u32 {
        self.0 >> 2
    }

    #[inline(always)]
    pub(super) fn flags(self) -> u32 {
        self.0 & 3
    }
}

/// A number of ignored fingerprints and of fingerprints of the page frame. The counts of a page are
/// added up.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RemovedCounts {
    pub(super) page: u32,
    pub(super) ignored: u32,
    pub(super) frame: u32,
}

impl Row for RemovedCounts {
    type Key = u32;
    type Rest = (u32, u32);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> (u32, u32) {
        (self.ignored, self.frame)
    }
}

/// A page of a host, by the number of the host.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct HostPage {
    pub(super) host: u32,
    pub(super) page: u32,
}

impl Row for HostPage {
    type Key = u32;
    type Rest = u32;

    fn key(&self) -> u32 {
        self.host
    }

    fn rest(&self) -> u32 {
        self.page
    }
}

/// A fingerprint that is on too many pages, and the first of them.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct IgnoredFingerprint {
    pub(super) hash: u64,
    pub(super) page: u32,
    pub(super) pages: u32,
}

impl Row for IgnoredFingerprint {
    type Key = u32;
    type Rest = (u64, u32);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> (u64, u32) {
        (self.hash, self.pages)
    }
}
