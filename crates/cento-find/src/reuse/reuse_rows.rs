//! The rows of the shuffles.

use bytemuck::{Pod, Zeroable};
use cento_flow::Row;

use super::category::Category;
use super::style::ReuseStyle;

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
        ListedPage((page << 2) | (u32::from(frequent) * Self::FREQUENT) | frame)
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

/// Consecutive pages of the list of a fingerprint, sent to a strip. The key is the strip, then the
/// list. Several pages in a row take less space than one row each, and there are fewer to sort.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
pub(super) struct ListPart {
    key: u64,
    /// Listed pages, which ascend. Unused places at the end are zero.
    pages: [u32; ListPart::PAGES],
}

impl ListPart {
    /// The most pages of a part.
    const PAGES: usize = 6;

    /// Splits a list, which must ascend, into parts.
    #[inline]
    pub(super) fn split(key: u64, list: &[u32]) -> impl Iterator<Item = ListPart> {
        list.chunks(ListPart::PAGES).map(move |chunk| {
            let mut pages = [0; ListPart::PAGES];
            for (place, &page) in pages.iter_mut().zip(chunk) {
                *place = page;
            }
            ListPart { key, pages }
        })
    }

    /// Adds the pages of the part to a list.
    #[inline]
    pub(super) fn append_to(self, list: &mut Vec<u32>) {
        let pages = self.pages;
        // Every page but the first is greater than zero.
        let unused = pages.iter().skip(1).filter(|&&page| page == 0).count();
        list.extend_from_slice(pages.get(..ListPart::PAGES - unused).unwrap_or_default());
    }
}

impl Row for ListPart {
    type Key = u64;
    type Rest = u32;

    #[inline(always)]
    fn key(&self) -> u64 {
        self.key
    }

    #[inline(always)]
    fn rest(&self) -> u32 {
        self.pages[0]
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

/// A pair of page numbers with its counts, on its way to the tables.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RankedPair {
    /// The order of the tables: see [`RankedPair::ranked`].
    rank: u32,
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) shared: u32,
    pub(super) left_size: u32,
    pub(super) right_size: u32,
    pub(super) left_copies: u32,
    pub(super) right_copies: u32,
    pub(super) frame: u32,
    pub(super) frequent: u32,
    /// The position in [`Category::ALL`], or [`IDENTICAL_SETS`].
    category: u16,
    /// The position in [`ReuseStyle::ALL`].
    style: u16,
}

/// Stands for the table `identical` in place of a category.
const IDENTICAL_SETS: u16 = Category::ALL.len() as u16;
/// The number of bits of a rank.
pub(super) const RANK_BITS: u32 = 29;

impl RankedPair {
    /// Returns a pair of a category and a style. `counts` has all other fields.
    pub(super) fn ranked(category: Category, style: ReuseStyle, counts: PairCounts) -> RankedPair {
        const WEAKNESS_BITS: u32 = 26;
        let smaller = u64::from(counts.left_size.min(counts.right_size).max(1));
        let lacking = smaller.saturating_sub(u64::from(counts.shared));
        // By category, then by the larger containment.
        let weakness = (lacking << WEAKNESS_BITS) / smaller;
        let rank = (category.index() as u64) << WEAKNESS_BITS | weakness;
        RankedPair::new(rank as u32, category.index() as u16, style, counts)
    }

    /// Returns a page with the fingerprints of an earlier one.
    pub(super) fn identical(first: u32, copy: u32, size: u32) -> RankedPair {
        let counts = PairCounts {
            left: first,
            right: copy,
            shared: size,
            left_size: size,
            right_size: size,
            ..PairCounts::default()
        };
        // Sorted by the first page, behind all pairs.
        let rank = 7 << 26 | first >> 4;
        RankedPair::new(rank, IDENTICAL_SETS, ReuseStyle::Reuse, counts)
    }

    fn new(rank: u32, category: u16, style: ReuseStyle, counts: PairCounts) -> RankedPair {
        RankedPair {
            rank,
            left: counts.left,
            right: counts.right,
            shared: counts.shared,
            left_size: counts.left_size,
            right_size: counts.right_size,
            left_copies: counts.left_copies,
            right_copies: counts.right_copies,
            frame: counts.frame,
            frequent: counts.frequent,
            category,
            style: style.index() as u16,
        }
    }

    /// The category; `None` for pages with the same set.
    pub(super) fn category(&self) -> Option<Category> {
        Category::ALL.get(usize::from(self.category)).copied()
    }

    pub(super) fn style(&self) -> ReuseStyle {
        let style = ReuseStyle::ALL.get(usize::from(self.style)).copied();
        style.unwrap_or(ReuseStyle::Reuse)
    }
}

/// The numbers of a [`RankedPair`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PairCounts {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) shared: u32,
    pub(super) left_size: u32,
    pub(super) right_size: u32,
    pub(super) left_copies: u32,
    pub(super) right_copies: u32,
    pub(super) frame: u32,
    pub(super) frequent: u32,
}

impl Row for RankedPair {
    type Key = u32;
    type Rest = (u32, u32);

    #[inline(always)]
    fn key(&self) -> u32 {
        self.rank
    }

    #[inline(always)]
    fn rest(&self) -> (u32, u32) {
        (self.left, self.right)
    }
}
