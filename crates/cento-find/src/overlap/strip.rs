//! Counting what pages share, by coarse counting, one left page at a time.
//!
//! ```text
//!   chunk 17: 3 8 9 40          left page 8:  9 40 │ 11 40 90 │ …     what stands behind 8 in each of its chunks
//!   chunk 23: 8 11 40 90                       │
//!                                              ├─ 1. counters[h(right)] += 1      a few, so they stay in the cache
//!                                              ├─ 2. bitmap of heavy counters
//!                                              ├─ 3. candidates: rights whose bits are set
//!                                              └─ 4. exact count of the candidates
//! ```
//!
//! The paper has one array of counters for all pairs, and every step is a miss of the cache. Here
//! the pairs are those of one left page, so there need be no more counters than twice the rights
//! that are counted: a light counter still cannot hide a frequent pair, and the result is exact
//! however few there are. Where there are few pages, each has a counter of its own and steps 2 to 4
//! have nothing to do.
//!
//! How many hash functions share the counters is decided by a pilot sample, as the paper suggests:
//! one, unless among the first pages too many candidates were none.

use super::rows::Pair;

/// With so many pages each has a counter of its own: 256 KiB, which the second-level cache holds.
const DENSE: usize = 1 << 16;
/// Rights that are counted with one hash function before the number of functions is decided.
const PILOT: u64 = 1 << 16;
/// What a pilot may let through in vain before a second function pays: one in this many.
const TOLERABLE: u64 = 16;

/// What stands behind a left page in one chunk.
#[derive(Clone, Copy)]
struct Tail {
    left: u32,
    begin: u32,
    end: u32,
}

/// Chunks with their pages, of which some are left pages.
pub(super) struct Strip {
    strips: u32,
    number: u32,
    pages: Vec<u32>,
    /// Where the pages of each chunk end.
    ends: Vec<u32>,
    tails: Vec<Tail>,
    counts: Counts,
}

/// The pair that shares most of those that share too little.
pub(super) type Largest = Option<Pair>;

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Effort {
    /// Pairs of a chunk: what a join would have produced.
    pub(super) joined: u64,
    /// Those among them that were candidates.
    pub(super) candidates: u64,
    /// Candidates that turned out to share too little.
    pub(super) in_vain: u64,
}

impl Strip {
    /// The strip of this number among so many, of pages below `width`.
    pub(super) fn new(number: u32, strips: u32, width: u32) -> Strip {
        Strip {
            strips: strips.max(1),
            number,
            pages: Vec::new(),
            ends: Vec::new(),
            tails: Vec::new(),
            counts: Counts::new(width),
        }
    }

    /// Whether it counts what stands behind a page.
    pub(super) fn has_left(&self, page: u32) -> bool {
        page % self.strips == self.number
    }

    /// Takes the pages of a chunk, in order.
    pub(super) fn add(&mut self, pages: &[u32]) {
        self.add_part(pages, 0, 1);
    }

    /// The same for one of several parts of the left pages. What stands before the first of them is
    /// not needed.
    pub(super) fn add_part(&mut self, pages: &[u32], part: u32, parts: u32) {
        let (strips, number) = (self.strips, self.number);
        let left = |&page: &u32| page % strips == number && page / strips % parts == part;
        let Some(first) = pages.iter().position(left) else {
            return;
        };
        let pages = pages.get(first..).unwrap_or_default();
        let begin = self.pages.len() as u32;
        let end = begin + pages.len() as u32;
        for (place, page) in (begin + 1..end).zip(pages) {
            if left(page) {
                self.tails.push(Tail {
                    left: *page,
                    begin: place,
                    end,
                });
            }
        }
        self.pages.extend_from_slice(pages);
        self.ends.push(end);
    }

    /// Calls `each` with the pages of every chunk that was taken, and forgets these.
    pub(super) fn drain<E>(
        &mut self,
        mut each: impl FnMut(&[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut begin = 0;
        for &end in &self.ends {
            each(self.pages.get(begin..end as usize).unwrap_or_default())?;
            begin = end as usize;
        }
        (self.pages, self.ends, self.tails) = Default::default();
        Ok(())
    }

    /// Bytes that it holds. A vector may be twice as large as what is in it.
    pub(super) fn weight(&self) -> u64 {
        4 * self.pages.capacity() as u64
            + 4 * self.ends.capacity() as u64
            + 12 * self.tails.capacity() as u64
    }

    /// Whether more pages of so many could be taken at all.
    pub(super) fn has_place(&self, pages: usize) -> bool {
        self.pages.len() + pages < u32::MAX as usize
    }

    /// Gives every pair that shares as many chunks of those that were added as `least` asks of its
    /// left page, and forgets these.
    pub(super) fn count<E>(
        &mut self,
        least: impl Fn(u32) -> u32,
        largest: &mut Largest,
        mut each: impl FnMut(Pair) -> Result<(), E>,
    ) -> Result<Effort, E> {
        let mut effort = Effort::default();
        self.tails
            .sort_unstable_by_key(|tail| (tail.left, tail.begin));
        for tails in self.tails.chunk_by(|one, other| one.left == other.left) {
            let Some(left) = tails.first().map(|tail| tail.left) else {
                continue;
            };
            let least = least(left);
            // Below the threshold only what is larger than all before is of interest.
            let most = largest.map_or(0, |pair: Pair| pair.chunks);
            let wanted = least.min(most.saturating_add(1));
            // Nobody can share more chunks with a page than it has.
            if tails.len() < wanted as usize {
                continue;
            }
            let rights = tails
                .iter()
                .map(|tail| self.pages.get(tail.begin as usize..tail.end as usize))
                .map(Option::unwrap_or_default);
            let found = self.counts.of(rights, wanted, &mut effort);
            for &(right, chunks) in found {
                let pair = Pair {
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
        self.pages.clear();
        self.ends.clear();
        self.tails.clear();
        Ok(effort)
    }
}

/// Counters for the rights of one left page after the other.
struct Counts {
    width: u32,
    /// One for each page; all zero between two left pages.
    dense: Vec<u32>,
    coarse: Vec<u16>,
    heavy: Vec<u64>,
    candidates: Vec<u32>,
    found: Vec<(u32, u32)>,
    functions: usize,
    pilot: Effort,
}

impl Counts {
    fn new(width: u32) -> Counts {
        Counts {
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

    /// The rights that occur at least `wanted` times in lists that have each of them once, and how
    /// often; in order.
    fn of<'p>(
        &mut self,
        lists: impl Iterator<Item = &'p [u32]> + Clone,
        wanted: u32,
        effort: &mut Effort,
    ) -> &[(u32, u32)] {
        self.found.clear();
        let joined = lists.clone().map(|list| list.len() as u64).sum::<u64>();
        effort.joined += joined;
        // So many rights would need more memory to be counted coarsely than one counter for each
        // page takes.
        if self.width as usize <= DENSE || joined > u64::from(self.width) / 4 {
            self.dense.resize(self.width as usize, 0);
            self.one_by_one(lists, wanted);
        } else {
            self.coarsely(lists, wanted, joined as usize, effort);
        }
        self.found.sort_unstable();
        &self.found
    }

    fn one_by_one<'p>(&mut self, lists: impl Iterator<Item = &'p [u32]> + Clone, wanted: u32) {
        let mut most = 0;
        for &right in lists.clone().flatten() {
            if let Some(count) = self.dense.get_mut(right as usize) {
                *count += 1;
                most = most.max(*count);
            }
        }
        if most < wanted {
            for &right in lists.flatten() {
                if let Some(count) = self.dense.get_mut(right as usize) {
                    *count = 0;
                }
            }
            return;
        }
        for &right in lists.flatten() {
            if let Some(count) = self.dense.get_mut(right as usize) {
                if *count >= wanted {
                    self.found.push((right, *count));
                }
                *count = 0;
            }
        }
    }

    fn coarsely<'p>(
        &mut self,
        lists: impl Iterator<Item = &'p [u32]> + Clone,
        wanted: u32,
        joined: usize,
        effort: &mut Effort,
    ) {
        // The functions share twice as many counters as there are rights, so most counters have one
        // right or none.
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
        // A counter that has reached its end may stand for any number.
        let wanted_of_counter = wanted.min(u32::from(u16::MAX)) as u16;
        if most < wanted_of_counter {
            return;
        }
        self.heavy.clear();
        self.heavy.extend(self.coarse.chunks(64).map(|counters| {
            let bits = counters.iter().enumerate();
            bits.fold(0, |word, (bit, &count)| {
                word | u64::from(count >= wanted_of_counter) << bit
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
        let mut in_vain = 0;
        for run in self.candidates.chunk_by(|one, other| one == other) {
            match run.first() {
                Some(&right) if run.len() >= wanted as usize => {
                    self.found.push((right, run.len() as u32));
                }
                _ => in_vain += run.len() as u64,
            }
        }
        effort.candidates += self.candidates.len() as u64;
        effort.in_vain += in_vain;
        if self.pilot.joined < PILOT {
            self.pilot.joined += joined as u64;
            self.pilot.in_vain += in_vain;
            if self.pilot.joined >= PILOT && self.pilot.in_vain * TOLERABLE > self.pilot.joined {
                self.functions = 2;
            }
        }
    }
}

/// The counter of a right: the leading bits of its product with an odd number, another one for each
/// function.
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

    /// The definition.
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
            largest = largest.max(own.map(|pair: Pair| pair.chunks));
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
            // With a counter for each page, and with counters that pages share.
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
    fn a_pilot_that_lets_much_through_in_vain_brings_a_second_function() {
        // Each right occurs twice, and three are wanted: where two rights meet in a counter, it is
        // heavy.
        let scattered = |number: u64| (number * number * 7919 % 1_000_003) as u32;
        let rights: Vec<u32> = (0..600).map(scattered).collect();
        let mut counts = Counts::new(u32::MAX);
        let mut in_vain = Vec::new();
        while counts.functions == 1 {
            let mut effort = Effort::default();
            let lists = [rights.as_slice(), rights.as_slice()];
            assert!(counts.of(lists.into_iter(), 3, &mut effort).is_empty());
            in_vain.push(effort.in_vain);
            assert!(in_vain.len() < 100, "{in_vain:?}");
        }
        let mut effort = Effort::default();
        let lists = [rights.as_slice(), rights.as_slice()];
        counts.of(lists.into_iter(), 3, &mut effort);
        assert!(
            Some(&effort.in_vain) < in_vain.last(),
            "{effort:?} {in_vain:?}"
        );
    }
}
