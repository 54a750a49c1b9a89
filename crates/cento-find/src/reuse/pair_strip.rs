//! Counts the fingerprints that pages share, one left page at a time.
//!
//! ```text
//!   fingerprint 17: 3 8 9 40          left page 8:  9 40 │ 11 40 90   the pages after 8 there
//!   fingerprint 23: 8 11 40 90                      ▼
//!                                     slots[right] ─▶ counts: (9: 1) (40: 2) (11: 1) (90: 1)
//! ```
//!
//! Overlaps are counted coarsely, because a fixed threshold discards most pairs. Here the threshold
//! depends on both pages and is often a single fingerprint, so every pair is counted exactly. A
//! left page uses one slot per page of the corpus and a compact list of counts.

use super::reuse_rows::ListedPage;
use crate::page_lists::PageLists;

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

/// Lists of pages, some of which are left pages.
pub(super) struct PairStrip {
    strips: u32,
    number: u32,
    /// Only pages below this are left pages, and only others are right pages, if it is set.
    boundary: Option<u32>,
    lists: PageLists<ListedPage>,
    /// For each page, the position of its counts plus 1; all are zero between two left pages.
    slots: Vec<u32>,
    counts: Vec<SharedCounts>,
}

impl PairStrip {
    /// Returns strip `number` of `strips`, for pages below `width`.
    pub(super) fn new(number: u32, strips: u32, width: u32, boundary: Option<u32>) -> PairStrip {
        PairStrip {
            strips: strips.max(1),
            number,
            boundary,
            lists: PageLists::default(),
            slots: vec![0; width as usize],
            counts: Vec::new(),
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
        let (lists, slots, counts) = (&self.lists, &mut self.slots, &mut self.counts);
        let tails = lists.tails();
        for tails in tails.chunk_by(|one, other| one.left.page() == other.left.page()) {
            counts.clear();
            for tail in tails {
                let rights = lists.rights(tail);
                joined += rights.len() as u64;
                for &listed in rights {
                    let right = ListedPage(listed);
                    let flags = tail.left.flags() | right.flags();
                    let Some(slot) = slots.get_mut(right.page() as usize) else {
                        continue;
                    };
                    if *slot == 0 {
                        counts.push(SharedCounts {
                            left: tail.left.page(),
                            right: right.page(),
                            shared: 0,
                            frame: 0,
                            frequent: 0,
                        });
                        *slot = counts.len() as u32;
                    }
                    if let Some(count) = counts.get_mut(*slot as usize - 1) {
                        count.shared += 1;
                        count.frame += flags & ListedPage::FRAME;
                        count.frequent += u32::from(flags == ListedPage::FREQUENT);
                    }
                }
            }
            for count in counts.iter() {
                if let Some(slot) = slots.get_mut(count.right as usize) {
                    *slot = 0;
                }
            }
            for &count in counts.iter() {
                each(count)?;
            }
        }
        self.lists.clear();
        Ok(joined)
    }
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
                let mut strip = PairStrip::new(number, strips, 30, boundary);
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
