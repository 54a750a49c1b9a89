//! The greedy cover: which pages together have all patch grams of a page.
//!
//! ```text
//!   gram   other pages            class      weight
//!   g1     3 8 9      ┐
//!   g2     3 8 9      ┘     →     3 8 9      2     A passage of twenty words is sixteen grams on
//!   g3     3                      3          1     the same pages: their list is stored once.
//!   g4     8                      8          1
//! ```
//!
//! The next source is the page that has most of the grams that are not yet covered; ties go to the
//! lowest page number. This is the paper's program, and it alone decides how many sources there
//! are. The number of grams that a source adds never grows from one source to the next, so the
//! sources that add too little are the last ones.
//!
//! Which page is *named* as the source is a separate question. Where several pages have every gram
//! that a source adds, the earliest of them is named ([`super::order`]). This changes neither the
//! number of sources nor what each adds: such a page adds just as much, so the paper's loop, which
//! does not say how ties are broken, could have chosen it; and no page is named twice, because a
//! page that had all grams of two sources would have added more than either.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

/// The patch grams of a page, ordered by the smallest m for which they are patch grams.
#[derive(Default)]
pub(super) struct GramList {
    grams: Vec<u64>,
    /// Values of m, and the end of the grams for which each is the smallest.
    ends: Vec<(u16, usize)>,
}

impl GramList {
    /// Appends a gram that is a patch gram from this m on.
    pub(super) fn push(&mut self, gram: u64, least_m: u16) {
        self.grams.push(gram);
        match self.ends.last_mut() {
            Some((last, end)) if *last == least_m => *end += 1,
            _ => self.ends.push((least_m, self.grams.len())),
        }
    }

    /// The patch grams for `m`.
    pub(super) fn within(&self, m: u32) -> &[u64] {
        let within = self
            .ends
            .partition_point(|&(least, _)| u32::from(least) <= m);
        let end = within.checked_sub(1).and_then(|last| self.ends.get(last));
        let end = end.map_or(0, |&(_, end)| end);
        self.grams.get(..end).unwrap_or_default()
    }

    /// Every gram with the smallest m for which it is a patch gram.
    fn with_least_m(&self) -> impl Iterator<Item = (u64, u16)> {
        let mut begin = 0;
        self.ends.iter().flat_map(move |&(least_m, end)| {
            let grams = self.grams.get(begin..end).unwrap_or_default();
            begin = end;
            grams.iter().map(move |&gram| (gram, least_m))
        })
    }

    fn clear(&mut self) {
        self.grams.clear();
        self.ends.clear();
    }
}

/// The patch grams of a page, and the other pages that have them.
pub(super) struct GramClasses {
    list: GramList,
    /// The class of each gram.
    classes: Vec<u32>,
    /// A hash table of the classes by their pages, with linear probing. At most half full. The high
    /// half of a slot is a hash of the pages, the low half the class.
    known: Vec<u64>,
    /// The factor of the hash function. It is drawn at random, so that nobody can write pages whose
    /// classes all collide. The result does not depend on it.
    factor: u64,
    pages: Vec<u32>,
    ranges: Vec<Range<usize>>,
}

/// An empty slot of the hash table.
const FREE: u64 = u64::MAX;
/// The smallest size of the hash table, a power of two.
const SLOTS: usize = 1 << 10;

impl Default for GramClasses {
    fn default() -> GramClasses {
        GramClasses {
            list: GramList::default(),
            classes: Vec::new(),
            known: vec![FREE; SLOTS],
            factor: RandomState::new().hash_one(0) | 1,
            pages: Vec::new(),
            ranges: Vec::new(),
        }
    }
}

/// A source, and how many grams it adds to those of the sources before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CoverSource {
    pub(super) page: u32,
    pub(super) grams: u64,
}

/// The sources of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cover {
    /// In the order in which they were chosen.
    pub(super) sources: Vec<CoverSource>,
    /// The source that covers each class, or [`UNCOVERED`].
    pub(super) ranks: Vec<u32>,
}

/// The rank of what no source covers.
pub(super) const UNCOVERED: u32 = u32::MAX;

/// How many grams a page would add, and its number. The greedy loop takes the largest: most grams,
/// then the lowest number.
pub(super) type Gain = (u64, Reverse<u32>);

impl GramClasses {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.classes.clear();
        // As many as the last page needed, or half of what there was.
        let needed = (self.ranges.len() * 2).next_power_of_two();
        let slots = needed.max(self.known.len() / 2).max(SLOTS);
        self.known.truncate(slots);
        self.known.fill(FREE);
        self.pages.clear();
        self.ranges.clear();
    }

    /// Adds a gram that is a patch gram from this m on, and the pages that can be its sources. The
    /// m never decreases from gram to gram, and `others` ascend.
    pub(super) fn add(&mut self, gram: u64, least_m: u16, others: &[u32]) {
        let class = self.class_of(others);
        self.push(gram, least_m, class);
    }

    /// The class of a list of pages, which ascend.
    pub(super) fn class_of(&mut self, others: &[u32]) -> u32 {
        let hash = self.hash(others);
        let slot = self.slot(hash, others);
        match self.known.get(slot) {
            Some(&known) if known != FREE => known as u32,
            _ => self.add_class(slot, hash, others),
        }
    }

    /// Adds a gram to a class. The m never decreases from gram to gram.
    pub(super) fn push(&mut self, gram: u64, least_m: u16, class: u32) {
        self.list.push(gram, least_m);
        self.classes.push(class);
    }

    /// The number of grams, and of pages in the lists of all classes.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.classes.len(), self.pages.len())
    }

    /// Calls `each` with the pages and the grams of every class.
    pub(super) fn for_each_class<E>(
        &self,
        mut each: impl FnMut(&[u32], &[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut ends = vec![0usize; self.ranges.len()];
        for &class in &self.classes {
            if let Some(count) = ends.get_mut(class as usize) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut sorted = vec![0u64; self.classes.len()];
        for (&gram, &class) in self.list.grams.iter().zip(&self.classes) {
            if let Some(end) = ends.get_mut(class as usize) {
                if let Some(slot) = sorted.get_mut(*end) {
                    *slot = gram;
                }
                *end += 1;
            }
        }
        let mut begin = 0;
        for (class, end) in ends.into_iter().enumerate() {
            let grams = sorted.get(begin..end).unwrap_or_default();
            each(self.others(class), grams)?;
            begin = end;
        }
        Ok(())
    }

    /// Frees the memory if it has space for more than `grams` grams.
    pub(super) fn shrink(&mut self, grams: usize) {
        if self.classes.capacity() > grams {
            *self = GramClasses::default();
        }
    }

    fn add_class(&mut self, slot: usize, hash: u32, others: &[u32]) -> u32 {
        let class = self.ranges.len() as u32;
        let begin = self.pages.len();
        self.pages.extend(others);
        self.ranges.push(begin..self.pages.len());
        if let Some(known) = self.known.get_mut(slot) {
            *known = u64::from(hash) << 32 | u64::from(class);
        }
        if self.ranges.len() * 2 > self.known.len() {
            let slots = self.known.len() * 2;
            let known = std::mem::replace(&mut self.known, vec![FREE; slots]);
            for known in known.into_iter().filter(|&known| known != FREE) {
                let mut slot = self.first_slot((known >> 32) as u32);
                while self.known.get(slot).is_some_and(|&other| other != FREE) {
                    slot = (slot + 1) & (slots - 1);
                }
                if let Some(place) = self.known.get_mut(slot) {
                    *place = known;
                }
            }
        }
        class
    }

    #[inline(always)]
    fn hash(&self, others: &[u32]) -> u32 {
        let hash = others.iter().fold(self.factor, |hash, &page| {
            let mixed = (hash ^ u64::from(page)).wrapping_mul(self.factor);
            mixed ^ mixed >> 32
        });
        hash as u32
    }

    /// The slot at which the search for a class begins.
    #[inline(always)]
    fn first_slot(&self, hash: u32) -> usize {
        hash as usize & (self.known.len() - 1)
    }

    /// The slot of the class of these pages, or the free slot where it belongs.
    #[inline(always)]
    fn slot(&self, hash: u32, others: &[u32]) -> usize {
        let mut slot = self.first_slot(hash);
        while let Some(&known) = self.known.get(slot)
            && known != FREE
            && ((known >> 32) as u32 != hash || self.others(known as u32 as usize) != others)
        {
            slot = (slot + 1) & (self.known.len() - 1);
        }
        slot
    }

    /// An estimate of the memory in bytes, including that of [`GramClasses::cover`], in a corpus of
    /// this many pages.
    pub(super) fn bytes(&self, pages: u32) -> u64 {
        let entries = self.pages.len() as u64;
        let candidates = entries.min(u64::from(pages));
        self.classes.len() as u64 * 12
            + entries * 16
            + self.ranges.len() as u64 * 72
            + candidates * (size_of::<Candidate>() + size_of::<(u64, Reverse<usize>)>()) as u64
    }

    /// The patch grams for `m`, each with its class.
    pub(super) fn grams(&self, m: u32) -> impl Iterator<Item = (u64, usize)> {
        let grams = self.list.within(m).iter().zip(&self.classes);
        grams.map(|(&gram, &class)| (gram, class as usize))
    }

    /// Every gram with the smallest m for which it is a patch gram, and the pages that can be its
    /// source.
    pub(super) fn all(&self) -> impl Iterator<Item = (u64, u16, &[u32])> {
        let grams = self.list.with_least_m().zip(&self.classes);
        grams.map(|((gram, least_m), &class)| (gram, least_m, self.others(class as usize)))
    }

    /// For each class, whether `holds` is true for any of its pages.
    pub(super) fn any(&self, holds: impl Fn(u32) -> bool) -> Vec<bool> {
        let classes = 0..self.ranges.len();
        classes
            .map(|class| self.others(class).iter().any(|&page| holds(page)))
            .collect()
    }

    fn others(&self, class: usize) -> &[u32] {
        let range = self.ranges.get(class).cloned().unwrap_or(0..0);
        self.pages.get(range).unwrap_or_default()
    }

    /// Covers the patch grams for `m` by sources that each add enough of them. Of pages that
    /// have the same patch the one with the lowest `order` is named; ties go to the lowest number.
    pub(super) fn cover(
        &self,
        m: u32,
        enough: impl Fn(u64) -> bool,
        order: impl Fn(u32) -> u64,
    ) -> Cover {
        self.cover_above(None, m, enough, order)
    }

    /// Like [`GramClasses::cover`], but stops at the first source that gains no more than `floor`.
    ///
    /// This is one round of a cover whose grams do not fit in memory: as long as every page above
    /// the floor has all of its grams here, the sources above the floor are those of the whole.
    pub(super) fn cover_above(
        &self,
        floor: Option<Gain>,
        m: u32,
        enough: impl Fn(u64) -> bool,
        order: impl Fn(u32) -> u64,
    ) -> Cover {
        let mut weights = vec![0u64; self.ranges.len()];
        for (_, class) in self.grams(m) {
            if let Some(weight) = weights.get_mut(class) {
                *weight += 1;
            }
        }
        // The classes of each page, page by page.
        let mut has: Vec<u64> = Vec::new();
        for (class, _) in weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > 0)
        {
            let others = self.others(class).iter();
            has.extend(others.map(|&page| u64::from(page) << 32 | class as u64));
        }
        has.sort_unstable();
        let mut candidates: Vec<Candidate> = Vec::new();
        // The candidate of each entry of `self.pages`. The pages of a class ascend there, as here.
        let mut owners = vec![0u32; self.pages.len()];
        let mut next: Vec<usize> = self.ranges.iter().map(|range| range.start).collect();
        for (at, &packed) in has.iter().enumerate() {
            let (page, class) = ((packed >> 32) as u32, packed as u32 as usize);
            let weight = weights.get(class).copied().unwrap_or(0);
            match candidates.last_mut() {
                Some(last) if last.page == page => {
                    last.left += weight;
                    last.classes.end = at + 1;
                }
                _ => candidates.push(Candidate {
                    page,
                    left: weight,
                    classes: at..at + 1,
                    lost: (0, 0),
                }),
            }
            if let Some(next) = next.get_mut(class) {
                if let Some(owner) = owners.get_mut(*next) {
                    *owner = candidates.len() as u32 - 1;
                }
                *next += 1;
            }
        }
        let mut queue: BinaryHeap<(u64, Reverse<usize>)> = candidates
            .iter()
            .enumerate()
            .map(|(number, candidate)| (candidate.left, Reverse(number)))
            .collect();
        let mut cover = Cover {
            sources: Vec::new(),
            ranks: vec![UNCOVERED; weights.len()],
        };
        while let Some((most, Reverse(number))) = queue.pop() {
            let Some(candidate) = candidates.get(number) else {
                continue;
            };
            // The gain of a candidate only shrinks, so a candidate whose gain is still the one in
            // the queue has the largest.
            if candidate.left != most {
                if candidate.left > 0 {
                    queue.push((candidate.left, Reverse(number)));
                }
                continue;
            }
            if most == 0 || !enough(most) {
                break;
            }
            if floor.is_some_and(|floor| (most, Reverse(candidate.page)) <= floor) {
                break;
            }
            let rank = cover.sources.len() as u32;
            let classes = candidate.classes.clone();
            let mut named = (order(candidate.page), candidate.page);
            for &packed in has.get(classes).unwrap_or_default() {
                let class = packed as u32 as usize;
                let Some(slot) = cover.ranks.get_mut(class) else {
                    continue;
                };
                if *slot != UNCOVERED {
                    continue;
                }
                *slot = rank;
                let weight = weights.get(class).copied().unwrap_or(0);
                let range = self.ranges.get(class).cloned().unwrap_or(0..0);
                for &owner in owners.get(range).unwrap_or_default() {
                    let Some(other) = candidates.get_mut(owner as usize) else {
                        continue;
                    };
                    other.left -= weight;
                    if other.lost.0 != rank {
                        other.lost = (rank, 0);
                    }
                    other.lost.1 += weight;
                    // It has every gram that this source adds.
                    if other.lost.1 == most {
                        named = named.min((order(other.page), other.page));
                    }
                }
            }
            cover.sources.push(CoverSource {
                page: named.1,
                grams: most,
            });
        }
        cover
    }
}

/// A page that may become a source.
struct Candidate {
    page: u32,
    /// How many uncovered grams it has.
    left: u64,
    classes: Range<usize>,
    /// The last source that covered grams of this page, and how many.
    lost: (u32, u64),
}

impl Cover {
    /// The source that covers the grams of a class.
    pub(super) fn rank(&self, class: usize) -> Option<u32> {
        let rank = self.ranks.get(class).copied();
        rank.filter(|&rank| rank != UNCOVERED)
    }
}

#[cfg(test)]
mod tests {
    use super::super::spilled::SpilledGrams;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The paper's loop, word for word, which names the earliest of the pages that have the same
    /// patch.
    fn naive(grams: &[(u64, Vec<u32>)], order: impl Fn(u32) -> u64) -> Vec<CoverSource> {
        let mut candidates: BTreeSet<(u32, u64)> = grams
            .iter()
            .flat_map(|(gram, others)| others.iter().map(|&other| (other, *gram)))
            .collect();
        let mut sources = Vec::new();
        while !candidates.is_empty() {
            let count = |page: u32| candidates.iter().filter(|pair| pair.0 == page).count();
            let page = candidates
                .iter()
                .map(|pair| pair.0)
                .min_by_key(|&page| (Reverse(count(page)), page))
                .unwrap();
            let covered: BTreeSet<u64> = candidates
                .iter()
                .filter(|pair| pair.0 == page)
                .map(|pair| pair.1)
                .collect();
            let has_all = |page: u32| {
                covered
                    .iter()
                    .all(|gram| candidates.contains(&(page, *gram)))
            };
            let same = (0..10).filter(|&page| has_all(page));
            sources.push(CoverSource {
                page: same.min_by_key(|&page| (order(page), page)).unwrap(),
                grams: covered.len() as u64,
            });
            candidates.retain(|pair| !covered.contains(&pair.1));
        }
        sources
    }

    /// The fewest pages that have all grams, by trying all sets of pages.
    fn fewest(grams: &[(u64, Vec<u32>)]) -> usize {
        let masks: Vec<u32> = grams
            .iter()
            .map(|(_, others)| others.iter().fold(0, |mask, page| mask | 1 << page))
            .collect();
        (0u32..1 << 10)
            .filter(|chosen| masks.iter().all(|mask| mask & chosen != 0))
            .map(u32::count_ones)
            .min()
            .unwrap_or(0) as usize
    }

    fn harmonic(n: u64) -> f64 {
        (1..=n).map(|i| 1.0 / i as f64).sum()
    }

    /// Grams by how many pages have them, which is one more than there are others.
    fn grams_strategy() -> impl Strategy<Value = Vec<(u64, Vec<u32>)>> {
        let others = prop::collection::btree_set(0u32..10, 1..5);
        prop::collection::vec(others, 0..40).prop_map(|lists| {
            let mut lists: Vec<Vec<u32>> = lists
                .into_iter()
                .map(|list| list.into_iter().collect())
                .collect();
            lists.sort_by_key(Vec::len);
            (0u64..).zip(lists).collect()
        })
    }

    fn classes(grams: &[(u64, Vec<u32>)]) -> GramClasses {
        let mut classes = GramClasses::default();
        for (gram, others) in grams {
            classes.add(*gram, others.len() as u16 + 1, others);
        }
        classes
    }

    proptest! {
        #[test]
        fn the_cover_equals_that_of_the_papers_loop(
            grams in grams_strategy(),
            m in 2u32..7,
            dates in prop::collection::vec(0u64..5, 10),
        ) {
            let within: Vec<(u64, Vec<u32>)> =
                grams.iter().filter(|(_, others)| (others.len() as u32) < m).cloned().collect();
            let classes = classes(&grams);
            // Without dates it is the paper's program.
            prop_assert_eq!(&classes.cover(m, |_| true, |_| 0).sources, &naive(&within, |_| 0));
            let order = |page: u32| dates[page as usize];
            let cover = classes.cover(m, |_| true, order);
            prop_assert_eq!(&cover.sources, &naive(&within, order));
            let named: BTreeSet<u32> = cover.sources.iter().map(|source| source.page).collect();
            prop_assert_eq!(named.len(), cover.sources.len());
            // Every gram is covered by a source that has it, and each source covers as many as it
            // says.
            let mut covered = vec![0; cover.sources.len()];
            for ((_, class), (_, others)) in classes.grams(m).zip(&within) {
                let rank = cover.rank(class).unwrap() as usize;
                prop_assert!(others.contains(&cover.sources[rank].page));
                covered[rank] += 1;
            }
            prop_assert_eq!(covered, cover.sources.iter().map(|source| source.grams).collect::<Vec<_>>());
        }

        #[test]
        fn a_spilled_cover_equals_one_in_memory(
            grams in grams_strategy(),
            m in 2u32..7,
            memory in prop_oneof![Just(0u64), Just(300), Just(900), Just(1 << 20)],
            least in 0u64..4,
            dates in prop::collection::vec(0u64..5, 10),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let classes = classes(&grams);
            let spilled = SpilledGrams::of(&classes, folder.path(), 10, memory).unwrap();
            let order = |page: u32| dates[page as usize];
            let here = classes.cover(m, |grams| grams >= least, order);
            let there = spilled.cover(m, |grams| grams >= least, order).unwrap();
            prop_assert_eq!(&there.sources, &here.sources);
            let ranks = |grams: Vec<(u64, usize)>, cover: &Cover| -> Vec<(u64, Option<u32>)> {
                grams.iter().map(|&(gram, class)| (gram, cover.rank(class))).collect()
            };
            let (in_memory, on_disk) = (classes.grams(m).collect(), spilled.grams(m).collect());
            prop_assert_eq!(ranks(on_disk, &there), ranks(in_memory, &here));
            let odd = |page: u32| page % 2 == 1;
            let (any_here, any_there) = (classes.any(odd), spilled.any(odd).unwrap());
            for ((_, class), at) in classes.grams(u32::MAX).zip(0..) {
                prop_assert_eq!(any_here[class], any_there[at]);
            }
        }

        #[test]
        fn sources_that_add_too_little_are_the_last_ones(grams in grams_strategy(), least in 0u64..8) {
            let classes = classes(&grams);
            let all = classes.cover(100, |_| true, |_| 0).sources;
            let enough: Vec<CoverSource> = all.into_iter().filter(|source| source.grams >= least).collect();
            prop_assert_eq!(classes.cover(100, |grams| grams >= least, |_| 0).sources, enough);
        }

        #[test]
        fn theorem_3_holds_for_the_fewest_sources(grams in grams_strategy(), m in 2usize..6, more in 0usize..4) {
            let within = |m: usize| -> Vec<(u64, Vec<u32>)> {
                grams.iter().filter(|(_, others)| others.len() < m).cloned().collect()
            };
            prop_assert!(fewest(&within(m + more)) >= fewest(&within(m)));
        }

        #[test]
        fn a_greedy_cover_is_at_most_the_harmonic_number_times_larger(grams in grams_strategy()) {
            let (greedy, fewest) = (classes(&grams).cover(100, |_| true, |_| 0).sources, fewest(&grams));
            prop_assert!(greedy.len() >= fewest);
            let largest = greedy.first().map_or(0, |source| source.grams);
            prop_assert!(greedy.len() as f64 <= harmonic(largest) * fewest as f64 + 1e-9);
        }
    }
}
