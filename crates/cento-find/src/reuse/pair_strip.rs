//! Counts the fingerprints that pages share, one left page at a time.
//!
//! ```text
//!   fingerprint 17: 3 8 9 40          left page 8:  9 40 │ 11 40 90   the pages after 8 there
//!   fingerprint 23: 8 11 40 90                      ▼
//!                                     counters[right]: (9: 1) (40: 2) (11: 1) (90: 1)
//! ```
//!
//! Overlaps are counted coarsely, because a fixed threshold discards most pairs. Here the threshold
//! depends on both pages and is often a single fingerprint, so every pair is counted exactly. A
//! left page uses the counters of all pages of the corpus, and a list of those that are not zero.
//! If there are too many pages for that, the right pages of a left page are sorted instead.

use super::reuse_rows::ListedPage;
use crate::page_lists::{ListTail, PageLists};

/// The bits of each of the three counts of a pair, which are packed into one number.
const COUNT_BITS: u32 = 21;
/// A left page with more lists than this could exceed the bits of a count.
const PACKED_MOST: usize = (1 << COUNT_BITS) - 1;
/// How many lists ahead the first page of a list is loaded. Lists of a left page are scattered over
/// memory, and waiting for them would take half of the time.
const LOAD_AHEAD: usize = 6;

/// The counts of a pair of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SharedCounts {
    pub(super) left: u32,
    pub(super) right: u32,
    /// Fingerprints that both have.
    pub(super) shared: u32,
    /// Those in the frame of either page's host.
    pub(super) frame: u32,
    /// Frequent ones that are not in a frame.
    pub(super) frequent: u32,
}

impl SharedCounts {
    /// Unpacks the counts of a pair.
    #[inline(always)]
    fn unpack(left: u32, right: u32, packed: u64) -> SharedCounts {
        let count = |number: u32| (packed >> (number * COUNT_BITS)) as u32 & PACKED_MOST as u32;
        SharedCounts {
            left,
            right,
            shared: count(0),
            frame: count(1),
            frequent: count(2),
        }
    }
}

/// Returns what a fingerprint adds to the packed counts of a pair. `flags` are those of both pages.
#[inline(always)]
fn packed(flags: u32) -> u64 {
    let frame = u64::from(flags & ListedPage::FRAME);
    let frequent = u64::from(flags == ListedPage::FREQUENT);
    1 | frame << COUNT_BITS | frequent << (2 * COUNT_BITS)
}

/// Lists of pages, some of which are left pages.
pub(super) struct PairStrip {
    strips: u32,
    number: u32,
    /// Only pages below this are left pages, and only others are right pages, if it is set.
    boundary: Option<u32>,
    lists: PageLists<ListedPage>,
    /// For each page, the packed counts of its pair with the left page; all are zero between two
    /// left pages.
    counters: Vec<u64>,
    /// The pages whose counters are not zero, and space for one more.
    touched: Vec<u32>,
    /// Left pages with more lists are counted by sorting.
    packed_most: usize,
    /// The right pages of a left page, while they are sorted.
    rights: Vec<u32>,
}

impl PairStrip {
    /// Bytes of memory per page for counters, in addition to the lists.
    pub(super) const BYTES_PER_PAGE: u64 = 12;

    /// Returns strip `number` of `strips`, with counters for all pages below `counted`. Without
    /// counters, sorting takes at most as much memory as the lists.
    pub(super) fn new(
        number: u32,
        strips: u32,
        counted: Option<u32>,
        boundary: Option<u32>,
    ) -> PairStrip {
        let width = counted.unwrap_or_default() as usize;
        PairStrip {
            strips: strips.max(1),
            number,
            boundary,
            lists: PageLists::default(),
            counters: vec![0; width],
            touched: vec![0; width + 1],
            packed_most: counted.map_or(0, |_| PACKED_MOST),
            rights: Vec::new(),
        }
    }

    /// Whether a listed page is a left page of this strip.
    pub(super) fn has_left(&self, listed: u32) -> bool {
        let page = ListedPage(listed).page();
        page % self.strips == self.number && self.boundary.is_none_or(|boundary| page < boundary)
    }

    /// Adds the list of a fingerprint for one of several parts of the left pages. Pages must
    /// ascend; those before the first left page are not needed.
    pub(super) fn add_part(&mut self, pages: &[u32], part: u32, parts: u32) {
        let (strips, number, boundary) = (self.strips, self.number, self.boundary);
        let left = |listed: &u32| {
            let page = ListedPage(*listed).page();
            page % strips == number
                && page / strips % parts == part
                && boundary.is_none_or(|boundary| page < boundary)
        };
        let Some(first) = pages.iter().position(left) else {
            return;
        };
        let pages = pages.get(first..).unwrap_or_default();
        // Right pages begin behind the left page, or behind the first corpus.
        let first_right = boundary.map_or(0, |boundary| {
            pages.partition_point(|&listed| ListedPage(listed).page() < boundary)
        });
        self.lists.add(pages, first_right, |listed| {
            left(&listed).then_some(ListedPage(listed))
        });
    }

    /// Calls `each` with every list, and removes them.
    pub(super) fn drain<E>(&mut self, each: impl FnMut(&[u32]) -> Result<(), E>) -> Result<(), E> {
        self.lists.drain(each)
    }

    /// Returns the bytes of memory in use by lists, including unused capacity.
    pub(super) fn bytes(&self) -> u64 {
        self.lists.bytes()
    }

    /// Whether offsets of 32 bits suffice for this many more pages.
    pub(super) fn has_space(&self, pages: usize) -> bool {
        self.lists.has_space(pages)
    }

    /// Calls `each` with every pair that shares a fingerprint, ordered by the left page; removes
    /// all lists. Returns the number of pairs in all lists: the rows that a join would produce.
    pub(super) fn count<E>(
        &mut self,
        mut each: impl FnMut(SharedCounts) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut joined = 0;
        self.lists.sort_by_left(|left| left.page());
        let (lists, counters) = (&self.lists, &mut self.counters);
        let (touched, sorted) = (&mut self.touched, &mut self.rights);
        let tails = lists.tails();
        let mut loaded = 0;
        let mut begin = 0;
        for tails in tails.chunk_by(|one, other| one.left.page() == other.left.page()) {
            let Some(left) = tails.first().map(|tail| tail.left.page()) else {
                continue;
            };
            if tails.len() > self.packed_most {
                joined += count_sorted(lists, tails, sorted, &mut each)?;
                begin += tails.len();
                continue;
            }
            let mut count = 0;
            for (at, tail) in (begin..).zip(tails) {
                if let Some(ahead) = lists.tails().get(at + LOAD_AHEAD) {
                    loaded ^= lists.rights(ahead).first().copied().unwrap_or_default();
                }
                let rights = lists.rights(tail);
                joined += rights.len() as u64;
                let flags = tail.left.flags();
                let added = [0, 1, 2, 3].map(|right| packed(flags | right));
                for &listed in rights {
                    let page = ListedPage(listed).page();
                    let (Some(counter), Some(place)) =
                        (counters.get_mut(page as usize), touched.get_mut(count))
                    else {
                        continue;
                    };
                    // Without a branch, which would be unpredictable.
                    *place = page;
                    count += usize::from(*counter == 0);
                    *counter += added[ListedPage(listed).flags() as usize];
                }
            }
            begin += tails.len();
            for &right in touched.iter().take(count) {
                if let Some(counter) = counters.get_mut(right as usize) {
                    let packed = std::mem::take(counter);
                    each(SharedCounts::unpack(left, right, packed))?;
                }
            }
        }
        // Otherwise the compiler would remove the loads.
        std::hint::black_box(loaded);
        self.lists.clear();
        Ok(joined)
    }
}

/// Counts the pairs of a left page without counters: in too many lists for packed counts, or with
/// too many pages.
fn count_sorted<E>(
    lists: &PageLists<ListedPage>,
    tails: &[ListTail<ListedPage>],
    sorted: &mut Vec<u32>,
    each: &mut impl FnMut(SharedCounts) -> Result<(), E>,
) -> Result<u64, E> {
    sorted.clear();
    let Some(left) = tails.first().map(|tail| tail.left.page()) else {
        return Ok(0);
    };
    for tail in tails {
        // The flags of both pages; they are below the bits of the page.
        let flags = tail.left.flags();
        sorted.extend(lists.rights(tail).iter().map(|right| right | flags));
    }
    sorted.sort_unstable();
    let page = |listed: &u32| ListedPage(*listed).page();
    for of_page in sorted.chunk_by(|one, other| page(one) == page(other)) {
        let mut pair = SharedCounts::unpack(left, of_page.first().map_or(0, page), 0);
        for &listed in of_page {
            let flags = ListedPage(listed).flags();
            pair.shared += 1;
            pair.frame += flags & ListedPage::FRAME;
            pair.frequent += u32::from(flags == ListedPage::FREQUENT);
        }
        each(pair)?;
    }
    Ok(sorted.len() as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn strips_and_parts_together_count_every_pair_once(
            lists in prop::collection::vec(
                prop::collection::btree_map(0u32..30, 0u32..4, 0..12), 0..12,
            ),
            strips in 1u32..5,
            parts in 1u32..4,
            boundary in prop::option::of(0u32..30),
            packed_most in 0usize..6,
            counted: bool,
        ) {
            let mut expected: BTreeMap<(u32, u32), [u32; 3]> = BTreeMap::new();
            for list in &lists {
                for (&left, one) in list {
                    for (&right, other) in list.range(left + 1..) {
                        if boundary.is_some_and(|b| left >= b || right < b) {
                            continue;
                        }
                        let frame = (one | other) & 1;
                        let counts = expected.entry((left, right)).or_default();
                        counts[0] += 1;
                        counts[1] += frame;
                        counts[2] += u32::from(frame == 0 && (one | other) == 2);
                    }
                }
            }
            let mut found = BTreeMap::new();
            for number in 0..strips {
                let mut strip = PairStrip::new(number, strips, counted.then_some(30), boundary);
                if counted {
                    strip.packed_most = packed_most;
                }
                for part in 0..parts {
                    for list in &lists {
                        let pages: Vec<u32> = list.iter().map(|(page, flags)| page << 2 | flags).collect();
                        strip.add_part(&pages, part, parts);
                    }
                    strip.count(|pair| {
                        let counts = [pair.shared, pair.frame, pair.frequent];
                        assert_eq!(found.insert((pair.left, pair.right), counts), None);
                        Ok::<_, Infallible>(())
                    }).unwrap();
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
