//! The greedy cover: which pages together have all patch grams of a page.
//!
//! ```text
//!   gram   other pages            class      weight
//!   g1     3 8 9      ┐
//!   g2     3 8 9      ┘     →     3 8 9      2          a passage of twenty words is sixteen grams on the same pages:
//!   g3     3                      3          1          what they are on is held once, and counted
//!   g4     8                      8          1
//! ```
//!
//! The next source is the page that has most of what is not yet covered, and of equals the one with
//! the lowest number: that is the paper's program, and it alone decides how many sources there are.
//! What a source adds never grows from one to the next, so those that add too little are all at the
//! end.
//!
//! Which page is *named* as the source is another question. Where several pages have every gram
//! that a source adds, the earliest of them is named ([`super::order`]). This changes neither the
//! number of sources nor what each adds: such a page adds just as much, so the paper's loop, which
//! does not say how ties are broken, could have taken it; and no page is named twice, for a page
//! that had all grams of two sources would have added more than either.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

/// The grams of a page, and who else has them.
pub(super) struct Classes {
    /// Each gram, in the order of how many pages have it.
    grams: Vec<u64>,
    /// The class of each gram.
    classes: Vec<u32>,
    /// Numbers of pages, and where the grams end that are on so many.
    ends: Vec<(u16, usize)>,
    /// Classes by the hash of their pages, each in the first free place from where it belongs. At
    /// most half of it is taken.
    known: Vec<u32>,
    /// What hashes are made with. It is drawn, so that nobody can write pages whose classes all
    /// fall on one place; what is found does not depend on it.
    factor: u64,
    pages: Vec<u32>,
    ranges: Vec<Range<usize>>,
}

/// A place where no class is.
const FREE: u32 = u32::MAX;
/// Places there are at least: a power of two.
const PLACES: usize = 1 << 10;

impl Default for Classes {
    fn default() -> Classes {
        Classes {
            grams: Vec::new(),
            classes: Vec::new(),
            ends: Vec::new(),
            known: vec![FREE; PLACES],
            factor: RandomState::new().hash_one(0) | 1,
            pages: Vec::new(),
            ranges: Vec::new(),
        }
    }
}

/// A source, and how many grams it adds to those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) page: u32,
    pub(super) grams: u64,
}

/// The sources of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cover {
    /// In the order in which they were chosen.
    pub(super) sources: Vec<Given>,
    /// The source that each class was covered by.
    ranks: Vec<Option<u32>>,
}

impl Classes {
    pub(super) fn clear(&mut self) {
        self.grams.clear();
        self.classes.clear();
        self.ends.clear();
        self.known.truncate(PLACES);
        self.known.fill(FREE);
        self.pages.clear();
        self.ranges.clear();
    }

    /// Adds a gram that so many pages have, and that these others give. Pages ascend.
    pub(super) fn add(&mut self, gram: u64, pages: u16, others: &[u32]) {
        let place = self.place(others);
        let class = match self.known.get(place) {
            Some(&class) if class != FREE => class,
            _ => self.add_class(place, others),
        };
        self.grams.push(gram);
        self.classes.push(class);
        match self.ends.last_mut() {
            Some((last, end)) if *last == pages => *end += 1,
            _ => self.ends.push((pages, self.grams.len())),
        }
    }

    /// Gives memory back that a page of unusual length took.
    pub(super) fn shrink(&mut self, grams: usize) {
        if self.grams.capacity() > grams {
            *self = Classes::default();
        }
    }

    fn add_class(&mut self, place: usize, others: &[u32]) -> u32 {
        let class = self.ranges.len() as u32;
        let begin = self.pages.len();
        self.pages.extend(others);
        self.ranges.push(begin..self.pages.len());
        if let Some(slot) = self.known.get_mut(place) {
            *slot = class;
        }
        if self.ranges.len() * 2 > self.known.len() {
            let places = self.known.len() * 2;
            self.known.clear();
            self.known.resize(places, FREE);
            for class in 0..=class {
                let place = self.place(self.others(class as usize));
                if let Some(slot) = self.known.get_mut(place) {
                    *slot = class;
                }
            }
        }
        class
    }

    /// Where the class of these pages is, or belongs.
    fn place(&self, others: &[u32]) -> usize {
        let last = self.known.len() - 1;
        let hash = others.iter().fold(self.factor, |hash, &page| {
            let mixed = (hash ^ u64::from(page)).wrapping_mul(self.factor);
            mixed ^ mixed >> 32
        });
        let mut place = hash as usize & last;
        while let Some(&class) = self.known.get(place)
            && class != FREE
            && self.others(class as usize) != others
        {
            place = (place + 1) & last;
        }
        place
    }

    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> u64 {
        (self.grams.len() * 12 + self.pages.len() * 24 + self.ranges.len() * 48) as u64
    }

    /// The grams on at most `m` pages: each with its class.
    pub(super) fn grams(&self, m: u32) -> impl Iterator<Item = (u64, usize)> {
        let within = self
            .ends
            .partition_point(|&(pages, _)| u32::from(pages) <= m);
        let end = within.checked_sub(1).and_then(|last| self.ends.get(last));
        let end = end.map_or(0, |&(_, end)| end);
        let both = self.grams.iter().zip(&self.classes).take(end);
        both.map(|(&gram, &class)| (gram, class as usize))
    }

    /// For each class, whether this holds for any of its pages.
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

    /// Covers the grams on at most `m` pages by sources that add at least `least` of them each. Of
    /// pages that have the same patch the one with the lowest `order` is named, and of equals the
    /// one with the lowest number.
    pub(super) fn cover(
        &self,
        m: u32,
        least: impl Fn(u64) -> bool,
        order: impl Fn(u32) -> u64,
    ) -> Cover {
        let mut weights = vec![0u64; self.ranges.len()];
        for (_, class) in self.grams(m) {
            if let Some(weight) = weights.get_mut(class) {
                *weight += 1;
            }
        }
        // Which classes a page has, page by page.
        let mut has: Vec<(u32, u32)> = Vec::new();
        for (class, _) in weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > 0)
        {
            has.extend(self.others(class).iter().map(|&page| (page, class as u32)));
        }
        has.sort_unstable();
        let mut candidates: Vec<Candidate> = Vec::new();
        for (at, &(page, class)) in has.iter().enumerate() {
            let weight = weights.get(class as usize).copied().unwrap_or(0);
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
        }
        let mut queue: BinaryHeap<(u64, Reverse<usize>)> = candidates
            .iter()
            .enumerate()
            .map(|(number, candidate)| (candidate.left, Reverse(number)))
            .collect();
        let mut cover = Cover {
            sources: Vec::new(),
            ranks: vec![None; weights.len()],
        };
        while let Some((most, Reverse(number))) = queue.pop() {
            let Some(candidate) = candidates.get(number) else {
                continue;
            };
            // What a candidate adds only shrinks, so one that still adds what it is listed with
            // adds the most.
            if candidate.left != most {
                if candidate.left > 0 {
                    queue.push((candidate.left, Reverse(number)));
                }
                continue;
            }
            if most == 0 || !least(most) {
                break;
            }
            let rank = cover.sources.len() as u32;
            let classes = candidate.classes.clone();
            let mut named = (order(candidate.page), candidate.page);
            for &(_, class) in has.get(classes).unwrap_or_default() {
                let Some(slot) = cover.ranks.get_mut(class as usize) else {
                    continue;
                };
                if slot.is_some() {
                    continue;
                }
                *slot = Some(rank);
                let weight = weights.get(class as usize).copied().unwrap_or(0);
                for page in self.others(class as usize) {
                    let found = candidates.binary_search_by_key(page, |candidate| candidate.page);
                    if let Some(other) = found.ok().and_then(|at| candidates.get_mut(at)) {
                        other.left -= weight;
                        if other.lost.0 != rank {
                            other.lost = (rank, 0);
                        }
                        other.lost.1 += weight;
                        // It has all that this source adds.
                        if other.lost.1 == most {
                            named = named.min((order(*page), *page));
                        }
                    }
                }
            }
            cover.sources.push(Given {
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
    /// Grams that it would add.
    left: u64,
    classes: Range<usize>,
    /// The source that last took grams from what it would add, and how many.
    lost: (u32, u64),
}

impl Cover {
    /// Which source gives the grams of a class.
    pub(super) fn rank(&self, class: usize) -> Option<u32> {
        self.ranks.get(class).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The paper's loop, word for word; then the earliest page of those that have the same patch is
    /// named.
    fn naive(grams: &[(u64, Vec<u32>)], order: impl Fn(u32) -> u64) -> Vec<Given> {
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
            sources.push(Given {
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

    /// Grams in the order of how many pages they are on, which is one more than others.
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

    fn classes(grams: &[(u64, Vec<u32>)]) -> Classes {
        let mut classes = Classes::default();
        for (gram, others) in grams {
            classes.add(*gram, others.len() as u16 + 1, others);
        }
        classes
    }

    proptest! {
        #[test]
        fn the_cover_is_that_of_the_papers_loop(
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
            // Every gram is given by a source that has it, and each source gives as many as it
            // says.
            let mut given = vec![0; cover.sources.len()];
            for ((_, class), (_, others)) in classes.grams(m).zip(&within) {
                let rank = cover.rank(class).unwrap() as usize;
                prop_assert!(others.contains(&cover.sources[rank].page));
                given[rank] += 1;
            }
            prop_assert_eq!(given, cover.sources.iter().map(|source| source.grams).collect::<Vec<_>>());
        }

        #[test]
        fn sources_that_add_too_little_are_the_last_ones(grams in grams_strategy(), least in 0u64..8) {
            let classes = classes(&grams);
            let all = classes.cover(100, |_| true, |_| 0).sources;
            let enough: Vec<Given> = all.into_iter().filter(|source| source.grams >= least).collect();
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
        fn greed_costs_at_most_the_harmonic_number(grams in grams_strategy()) {
            let (greedy, fewest) = (classes(&grams).cover(100, |_| true, |_| 0).sources, fewest(&grams));
            prop_assert!(greedy.len() >= fewest);
            let largest = greedy.first().map_or(0, |source| source.grams);
            prop_assert!(greedy.len() as f64 <= harmonic(largest) * fewest as f64 + 1e-9);
        }
    }
}
