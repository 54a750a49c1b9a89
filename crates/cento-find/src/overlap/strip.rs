//! Counts the chunks that pages share, by coarse counting, one left page at a time.
//!
//! ```text
//!   chunk 17: 3 8 9 40          left page 8:  9 40 │ 11 40 90 │ …  the pages after 8 in its chunks
//!   chunk 23: 8 11 40 90                       │
//!                                              ├─ 1. counters[h(right)] += 1   few and cached
//!                                              ├─ 2. bitmap of heavy counters
//!                                              ├─ 3. candidates: rights whose bits are set
//!                                              └─ 4. exact count of the candidates
//! ```
//!
//! The paper uses one array of counters for all pairs, and every step is a cache miss. Here the
//! pairs are those of one left page, so twice as many counters as right pages suffice. A light
//! counter cannot hide a frequent pair, so the result is exact however few counters there are. With
//! few pages, each has a separate counter and steps 2 to 4 are unnecessary.
//!
//! The number of hash functions is decided by a pilot sample, as the paper suggests: one, unless
//! too many candidates of the first pages were false.

use super::overlap_rows::PairCount;
use crate::page_lists::PageLists;

/// Up to this many pages, each has a separate counter: 256 KiB, which fit in the L2 cache.
const DENSE: usize = 1 << 16;
/// The number of right pages that are counted before the number of hash functions is decided.
const PILOT: u64 = 1 << 16;
/// A second hash function pays if more than one in this many candidates is false.
const TOLERABLE: u64 = 16;

/// Chunks with their pages, some of which are left pages.
pub(super) struct Strip {
    strips: u32,
    number: u32,
    lists: PageLists<u32>,
    counts: RightCounts,
}

/// The work that was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Effort {
    /// Pairs of pages in one chunk: the rows that a join would have produced.
    pub(super) joined: u64,
    /// Rows of candidate pairs.
    pub(super) candidates: u64,
    /// Rows of candidate pairs that share too little.
    pub(super) false_candidates: u64,
}

impl Strip {
    /// Returns strip `number` of `strips`, for pages below `width`.
    pub(super) fn new(number: u32, strips: u32, width: u32) -> Strip {
        Strip {
            strips: strips.max(1),
            number,
            lists: PageLists::default(),
            counts: RightCounts::new(width),
        }
    }

    /// Whether a page is a left page of this strip.
    pub(super) fn has_left(&self, page: u32) -> bool {
        page % self.strips == self.number
    }

    /// Adds the pages of a chunk, which must ascend.
    pub(super) fn add(&mut self, pages: &[u32]) {
        self.add_part(pages, 0, 1);
    }

    /// Adds the pages of a chunk for one of several parts of the left pages. Pages before the first
    /// left page are not needed.
    pub(super) fn add_part(&mut self, pages: &[u32], part: u32, parts: u32) {
        let (strips, number) = (self.strips, self.number);
        let left = |&page: &u32| page % strips == number && page / strips % parts == part;
        let Some(first) = pages.iter().position(left) else {
            return;
        };
        let pages = pages.get(first..).unwrap_or_default();
        self.lists.add(pages, 0, |page| left(&page).then_some(page));
    }

    /// Calls `each` with the pages of every chunk, and removes them.
    pub(super) fn drain<E>(&mut self, each: impl FnMut(&[u32]) -> Result<(), E>) -> Result<(), E> {
        self.lists.drain(each)
    }

    /// Returns the bytes of memory in use, including unused capacity.
    pub(super) fn bytes(&self) -> u64 {
        self.lists.bytes()
    }

    /// Whether offsets of 32 bits suffice for this many more pages.
    pub(super) fn has_space(&self, pages: usize) -> bool {
        self.lists.has_space(pages)
    }

    /// Calls `each` with every pair that shares at least `least` of its left page, and removes all
    /// chunks. `largest` becomes the pair that shares most below that, if it shares more than
    /// before.
    pub(super) fn count<E>(
        &mut self,
        least: impl Fn(u32) -> u32,
        largest: &mut Option<PairCount>,
        mut each: impl FnMut(PairCount) -> Result<(), E>,
    ) -> Result<Effort, E> {
        let mut effort = Effort::default();
        self.lists.sort_by_left(|&left| left);
        let lists = &self.lists;
        for tails in lists.tails().chunk_by(|one, other| one.left == other.left) {
            let Some(left) = tails.first().map(|tail| tail.left) else {
                continue;
            };
            let least = least(left);
            // Below the threshold only a pair larger than all before matters.
            let most = largest.map_or(0, |pair: PairCount| pair.chunks);
            let least_count = least.min(most.saturating_add(1));
            // No page shares more chunks with another than it has.
            if tails.len() < least_count as usize {
                continue;
            }
            let rights = tails.iter().map(|tail| lists.rights(tail));
            let found = self.counts.of(rights, least_count, &mut effort);
            for &(right, chunks) in found {
                let pair = PairCount {
                    left,
                    right,
                    chunks,
                };
                if chunks >= least {
                    each(pair)?;
                } else if largest.is_none_or(|most| most.chunks < chunks) {
                    *largest = Some(pair);
                }
            }
        }
        self.lists.clear();
        Ok(effort)
    }
}

/// Counters for the right pages of one left page after the other.
struct RightCounts {
    width: u32,
    /// One counter per page; all are zero between two left pages.
    dense: Vec<u32>,
    coarse: Vec<u16>,
    heavy: Vec<u64>,
    candidates: Vec<u32>,
    found: Vec<(u32, u32)>,
    functions: usize,
    pilot: Effort,
}

impl RightCounts {
    fn new(width: u32) -> RightCounts {
        RightCounts {
            width,
            dense: Vec::new(),
            coarse: Vec::new(),
            heavy: Vec::new(),
            candidates: Vec::new(),
            found: Vec::new(),
            functions: 1,
            pilot: Effort::default(),
        }
    }

    /// Returns the right pages that occur in at least `least` lists, with their counts, in order.
    /// No list has a page twice.
    fn of<'p>(
        &mut self,
        lists: impl Iterator<Item = &'p [u32]> + Clone,
        least: u32,
        effort: &mut Effort,
    ) -> &[(u32, u32)] {
        self.found.clear();
        let joined = lists.clone().map(|list| list.len() as u64).sum::<u64>();
        effort.joined += joined;
        // With this many right pages, coarse counting would need more memory than one counter per
        // page.
        if self.width as usize <= DENSE || joined > u64::from(self.width) / 4 {
            self.dense.resize(self.width as usize, 0);
            self.one_by_one(lists, least);
        } else {
            self.coarsely(lists, least, joined as usize, effort);
        }
        self.found.sort_unstable();
        &self.found
    }

    fn one_by_one<'p>(&mut self, lists: impl Iterator<Item = &'p [u32]> + Clone, least: u32) {
        let mut most = 0;
        for &right in lists.clone().flatten() {
            if let Some(count) = self.dense.get_mut(right as usize) {
                *count += 1;
                most = most.max(*count);
            }
        }
        if most < least {
            for &right in lists.flatten() {
                if let Some(count) = self.dense.get_mut(right as usize) {
                    *count = 0;
                }
            }
            return;
        }
        for &right in lists.flatten() {
            if let Some(count) = self.dense.get_mut(right as usize) {
                if *count >= least {
                    self.found.push((right, *count));
                }
                *count = 0;
            }
        }
    }

    fn coarsely<'p>(
        &mut self,
        lists: impl Iterator<Item = &'p [u32]> + Clone,
        least: u32,
        joined: usize,
        effort: &mut Effort,
    ) {
        // The functions share twice as many counters as there are right pages, so most counters
        // have at most one.
        let each = (2 * joined / self.functions).next_power_of_two().max(64);
        let shift = 64 - each.ilog2();
        self.coarse.clear();
        self.coarse.resize(each * self.functions, 0);
        let mut most = 0;
        for (function, counters) in self.coarse.chunks_mut(each).enumerate() {
            for &right in lists.clone().flatten() {
                if let Some(count) = counters.get_mut(bucket(right, function, shift)) {
                    *count = count.saturating_add(1);
                    most = most.max(*count);
                }
            }
        }
        // A saturated counter may stand for any number.
        let least_of_counter = least.min(u32::from(u16::MAX)) as u16;
        if most < least_of_counter {
            return;
        }
        self.heavy.clear();
        self.heavy.extend(self.coarse.chunks(64).map(|counters| {
            let bits = counters.iter().enumerate();
            bits.fold(0, |word, (bit, &count)| {
                word | u64::from(count >= least_of_counter) << bit
            })
        }));
        self.candidates.clear();
        for &right in lists.flatten() {
            let heavy = (0..self.functions).all(|function| {
                let bucket = function * each + bucket(right, function, shift);
                let word = self.heavy.get(bucket / 64).copied().unwrap_or_default();
                word >> (bucket % 64) & 1 == 1
            });
            if heavy {
                self.candidates.push(right);
            }
        }
        self.candidates.sort_unstable();
        let mut false_candidates = 0;
        for run in self.candidates.chunk_by(|one, other| one == other) {
            match run.first() {
                Some(&right) if run.len() >= least as usize => {
                    self.found.push((right, run.len() as u32));
                }
                _ => false_candidates += run.len() as u64,
            }
        }
        effort.candidates += self.candidates.len() as u64;
        effort.false_candidates += false_candidates;
        if self.pilot.joined < PILOT {
            self.pilot.joined += joined as u64;
            self.pilot.false_candidates += false_candidates;
            if self.pilot.joined >= PILOT
                && self.pilot.false_candidates * TOLERABLE > self.pilot.joined
            {
                self.functions = 2;
            }
        }
    }
}

/// Returns the counter of a right page: the leading bits of its product with an odd number, which
/// differs between functions.
#[inline(always)]
fn bucket(right: u32, function: usize, shift: u32) -> usize {
    let factor = if function == 0 {
        0x9e37_79b9_7f4a_7c15
    } else {
        0xd6e8_feb8_6659_fd93
    };
    (u64::from(right).wrapping_mul(factor) >> shift) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The naive definition.
    fn naive(chunks: &[Vec<u32>], least: u32) -> (Vec<(u32, u32, u32)>, Option<u32>) {
        let mut counts = BTreeMap::new();
        for pages in chunks {
            for (at, &left) in pages.iter().enumerate() {
                for &right in &pages[at + 1..] {
                    *counts.entry((left, right)).or_insert(0u32) += 1;
                }
            }
        }
        let below = counts.values().filter(|&&count| count < least).max();
        let pairs = counts.iter().filter(|&(_, &count)| count >= least);
        (
            pairs
                .map(|(&(left, right), &count)| (left, right, count))
                .collect(),
            below.copied(),
        )
    }

    fn counted(
        chunks: &[Vec<u32>],
        strips: u32,
        width: u32,
        least: u32,
        functions: usize,
    ) -> (Vec<(u32, u32, u32)>, Option<u32>) {
        let mut found = Vec::new();
        let mut largest = None;
        for number in 0..strips {
            let mut strip = Strip::new(number, strips, width);
            strip.counts.functions = functions;
            chunks.iter().for_each(|pages| strip.add(pages));
            let mut own = None;
            strip
                .count(
                    |_| least,
                    &mut own,
                    |pair| {
                        found.push((pair.left, pair.right, pair.chunks));
                        Ok::<_, ()>(())
                    },
                )
                .unwrap();
            largest = largest.max(own.map(|pair: PairCount| pair.chunks));
        }
        found.sort_unstable();
        (found, largest)
    }

    proptest! {
        #[test]
        fn coarse_counting_finds_what_the_definition_says(
            chunks in prop::collection::vec(prop::collection::btree_set(0u32..30, 2..8), 0..60),
            least in 1u32..6,
            strips in 1u32..5,
            functions in 1usize..3,
        ) {
            let chunks: Vec<Vec<u32>> = chunks.into_iter().map(|pages| pages.into_iter().collect()).collect();
            let expected = naive(&chunks, least);
            // With a separate counter per page, and with shared counters.
            prop_assert_eq!(&counted(&chunks, strips, 30, least, functions), &expected);
            prop_assert_eq!(counted(&chunks, strips, u32::MAX, least, functions), expected);
        }
    }

    #[test]
    fn a_pair_can_share_more_chunks_than_a_counter_counts() {
        let chunks = vec![vec![3, 70_000]; 70_000];
        let found = counted(&chunks, 1, 1 << 20, 69_999, 2);
        assert_eq!(found, (vec![(3, 70_000, 70_000)], None));
        assert_eq!(
            counted(&chunks, 1, 1 << 20, 70_001, 1),
            (vec![], Some(70_000))
        );
    }

    #[test]
    fn a_pilot_with_many_false_candidates_enables_a_second_function() {
        // Each right page occurs twice, and the least count is three: a counter is heavy if two
        // pages share it.
        let scattered = |number: u64| (number * number * 7919 % 1_000_003) as u32;
        let rights: Vec<u32> = (0..600).map(scattered).collect();
        let mut counts = RightCounts::new(u32::MAX);
        let mut false_candidates = Vec::new();
        while counts.functions == 1 {
            let mut effort = Effort::default();
            let lists = [rights.as_slice(), rights.as_slice()];
            assert!(counts.of(lists.into_iter(), 3, &mut effort).is_empty());
            false_candidates.push(effort.false_candidates);
            assert!(false_candidates.len() < 100, "{false_candidates:?}");
        }
        let mut effort = Effort::default();
        let lists = [rights.as_slice(), rights.as_slice()];
        counts.of(lists.into_iter(), 3, &mut effort);
        assert!(
            Some(&effort.false_candidates) < false_candidates.last(),
            "{effort:?} {false_candidates:?}"
        );
    }
}
