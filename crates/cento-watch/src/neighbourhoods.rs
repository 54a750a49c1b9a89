//! Running scores of neighbourhoods, in bounded memory.
//!
//! A neighbourhood is all pages under a prefix of their URLs. It has the two scores of Ardi &
//! Heidemann: the mean of its pages' `contains` (step 6), and the share of all its chunks that are
//! labels (§3.3). A page updates every prefix of its URL.
//!
//! # What is exact and what is bounded
//! While all neighbourhoods fit in the memory, every number is exact: the same as if all pages were
//! kept and scored at the end.
//!
//! When they no longer fit, the half with the fewest matched chunks is dropped (of equals, those
//! that were updated least recently), so that the worst are kept. The pages and chunks of a dropped
//! neighbourhood are added to a count-min sketch. If the neighbourhood comes back, its earlier
//! pages are unknown, but the sketch has an upper bound of their number and of their chunks
//! ([`RunningNeighbourhood::missed_pages`], [`RunningNeighbourhood::missed_chunks`]). Scores then
//! count them as pages without labels: both scores are lower bounds, and
//!
//! ```text
//!   reported mean ≤ true mean         reported ratio ≤ true ratio         flagged ⇒ truly above
//! ```
//!
//! So a neighbourhood is never flagged wrongly; one that was dropped may be flagged late or not at
//! all. [`NeighbourhoodTally::dropped`] says how many were dropped.

use std::collections::HashMap;

use cento_fingerprint::{link_hash, run_hash};
use cento_labels::score::{Mean, share};

/// The rows and the width of the count-min sketch.
const ROWS: usize = 4;
const WIDTH: usize = 1 << 14;
/// The memory of a neighbourhood besides its prefix.
const ENTRY: usize = 160;

/// The running scores of neighbourhoods.
pub struct NeighbourhoodTally {
    entries: HashMap<Box<str>, Entry>,
    /// The bytes that entries use, and may use.
    bytes: usize,
    memory: usize,
    /// The number of updates.
    clock: u64,
    dropped: u64,
    /// Pages and chunks of dropped neighbourhoods. Empty until one is dropped.
    missed: Vec<(u64, u64)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    depth: u32,
    pages: u64,
    chunks: u64,
    matched: u64,
    mean: Mean,
    missed_pages: u64,
    missed_chunks: u64,
    updated: u64,
}

/// A neighbourhood with its scores so far.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningNeighbourhood {
    /// Its prefix: host and path.
    pub site: String,
    /// Its number of levels.
    pub depth: u32,
    /// The number of its pages with a score.
    pub pages: u64,
    /// The number of their chunks, without stop chunks.
    pub chunks: u64,
    /// The number of chunks that are labels.
    pub matched: u64,
    /// The mean of the `contains` of its pages, as a [`score`](cento_labels::score). A lower bound
    /// if pages may have been missed.
    pub mean: u64,
    /// The share of labels among its chunks, as a score. A lower bound if chunks may have been
    /// missed.
    pub ratio: u64,
    /// At most this many of its pages were counted and then dropped. They are not in `pages`.
    pub missed_pages: u64,
    /// At most this many chunks were counted and then dropped.
    pub missed_chunks: u64,
}

impl NeighbourhoodTally {
    /// Creates a tally that uses at most about `memory` bytes.
    pub fn new(memory: usize) -> NeighbourhoodTally {
        NeighbourhoodTally {
            entries: HashMap::new(),
            bytes: 0,
            memory,
            clock: 0,
            dropped: 0,
            missed: Vec::new(),
        }
    }

    /// Adds a page to the neighbourhood of a prefix, `matched` of whose `chunks` chunks are labels,
    /// without stop chunks. Returns its scores.
    pub fn add(
        &mut self,
        prefix: &str,
        depth: u32,
        matched: u32,
        chunks: u32,
    ) -> RunningNeighbourhood {
        self.clock += 1;
        if !self.entries.contains_key(prefix) {
            self.admit(prefix, depth);
        }
        let clock = self.clock;
        let entry = self.entries.entry(prefix.into()).or_default();
        entry.pages += 1;
        entry.chunks += u64::from(chunks);
        entry.matched += u64::from(matched);
        entry.mean.add(matched, chunks);
        entry.updated = clock;
        entry.named(prefix)
    }

    /// The number of neighbourhoods that are counted.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How often a neighbourhood was dropped because the memory was full.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The neighbourhoods for which `keep` is true, those with most matched chunks first.
    pub fn worst(
        &self,
        mut keep: impl FnMut(&RunningNeighbourhood) -> bool,
    ) -> Vec<RunningNeighbourhood> {
        let with_matches = self.entries.iter().filter(|(_, entry)| entry.matched > 0);
        let mut found: Vec<RunningNeighbourhood> = with_matches
            .map(|(prefix, entry)| entry.named(prefix))
            .filter(|one| keep(one))
            .collect();
        found.sort_unstable_by(|one, other| {
            let key = |one: &RunningNeighbourhood| (one.matched, one.mean);
            key(other)
                .cmp(&key(one))
                .then_with(|| one.site.cmp(&other.site))
        });
        found
    }

    fn admit(&mut self, prefix: &str, depth: u32) {
        let needed = prefix.len() + ENTRY;
        if self.bytes + needed > self.memory && !self.entries.is_empty() {
            self.drop_half();
        }
        let (missed_pages, missed_chunks) = self.bound(prefix);
        self.bytes += needed;
        self.entries.insert(
            prefix.into(),
            Entry {
                depth,
                missed_pages,
                missed_chunks,
                ..Entry::default()
            },
        );
    }

    /// Drops the half of the neighbourhoods with the fewest matched chunks.
    fn drop_half(&mut self) {
        let mut order: Vec<(u64, u64)> = self
            .entries
            .values()
            .map(|entry| (entry.matched, entry.updated))
            .collect();
        let middle = order.len() / 2;
        // No two entries were updated at the same time.
        let &mut last = order.select_nth_unstable(middle).1;
        if self.missed.is_empty() {
            self.missed = vec![(0, 0); ROWS * WIDTH];
        }
        let (missed, bytes, dropped) = (&mut self.missed, &mut self.bytes, &mut self.dropped);
        self.entries.retain(|prefix, entry| {
            let keep = (entry.matched, entry.updated) > last;
            if !keep {
                for slot in slots(prefix) {
                    if let Some((pages, chunks)) = missed.get_mut(slot) {
                        *pages += entry.pages;
                        *chunks += entry.chunks;
                    }
                }
                *bytes -= prefix.len() + ENTRY;
                *dropped += 1;
            }
            keep
        });
    }

    /// Upper bounds of the pages and chunks that were counted for a prefix and dropped.
    fn bound(&self, prefix: &str) -> (u64, u64) {
        if self.missed.is_empty() {
            return (0, 0);
        }
        let found = slots(prefix).filter_map(|slot| self.missed.get(slot).copied());
        let least = |one: (u64, u64), other: (u64, u64)| (one.0.min(other.0), one.1.min(other.1));
        found.reduce(least).unwrap_or_default()
    }
}

/// The slot of a prefix in each row of the sketch.
fn slots(prefix: &str) -> impl Iterator<Item = usize> {
    let hash = link_hash(prefix);
    (0..ROWS).map(move |row| row * WIDTH + run_hash(&[hash, row as u64]) as usize % WIDTH)
}

impl Entry {
    fn named(&self, prefix: &str) -> RunningNeighbourhood {
        RunningNeighbourhood {
            site: prefix.to_owned(),
            depth: self.depth,
            pages: self.pages,
            chunks: self.chunks,
            matched: self.matched,
            mean: self.mean.score_among(self.pages + self.missed_pages),
            ratio: share(self.matched, self.chunks + self.missed_chunks),
            missed_pages: self.missed_pages,
            missed_chunks: self.missed_chunks,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cento_labels::score::real;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// With enough memory the scores are those of the definition. With little, they are lower
        /// bounds, and missed pages and chunks are upper bounds.
        #[test]
        fn scores_equal_a_naive_recomputation_and_are_lower_bounds_in_little_memory(
            pages in proptest::collection::vec((0u8..40, 0u32..6, 1u32..6), 1..300),
            few in 1usize..12,
        ) {
            let mut naive: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
            let mut exact = NeighbourhoodTally::new(1 << 20);
            let mut small = NeighbourhoodTally::new(few * (ENTRY + 2));
            for (site, part, more) in pages {
                let (site, matched, chunks) = (format!("{site:02}"), part, part + more);
                let seen = naive.entry(site.clone()).or_default();
                seen.push((matched, chunks));
                let count = seen.len() as u64;
                let mean = seen.iter().map(|&(part, whole)| f64::from(part) / f64::from(whole)).sum::<f64>() / count as f64;
                let all: (u64, u64) = seen.iter().fold((0, 0), |sum, &(part, whole)| (sum.0 + u64::from(part), sum.1 + u64::from(whole)));
                let ratio = all.0 as f64 / all.1 as f64;

                let found = exact.add(&site, 1, matched, chunks);
                prop_assert_eq!((found.pages, found.matched, found.chunks), (count, all.0, all.1));
                prop_assert_eq!((found.missed_pages, found.missed_chunks), (0, 0));
                prop_assert!((real(found.mean) - mean).abs() < 1e-12);
                prop_assert!((real(found.ratio) - ratio).abs() < 1e-12);

                let bounded = small.add(&site, 1, matched, chunks);
                prop_assert!(small.len() <= few.max(1));
                prop_assert!(bounded.pages <= count && bounded.pages + bounded.missed_pages >= count);
                prop_assert!(bounded.chunks <= all.1 && bounded.chunks + bounded.missed_chunks >= all.1);
                prop_assert!(bounded.mean <= found.mean && bounded.ratio <= found.ratio);
                if small.dropped() == 0 {
                    prop_assert_eq!(bounded, found);
                }
            }
            let worst = exact.worst(|_| true);
            prop_assert!(worst.is_sorted_by(|one, other| one.matched >= other.matched));
            let matched = naive.values().filter(|pages| pages.iter().any(|page| page.0 > 0)).count();
            prop_assert_eq!(worst.len(), matched);
        }
    }

    #[test]
    fn the_worst_neighbourhood_survives_a_flood_of_others() {
        let mut tally = NeighbourhoodTally::new(1000 * (ENTRY + 20));
        for page in 0..50 {
            tally.add("thief.example/", 1, 3, 4);
            for other in 0..500 {
                tally.add(&format!("site{page}-{other}.example/"), 1, 0, 9);
            }
        }
        assert!(tally.dropped() > 0 && tally.len() <= 1000);
        let worst = tally.worst(|_| true);
        assert_eq!(worst.len(), 1);
        assert_eq!((worst[0].pages, worst[0].matched), (50, 150));
        assert_eq!((worst[0].ratio, worst[0].missed_pages), (share(3, 4), 0));
    }
}
