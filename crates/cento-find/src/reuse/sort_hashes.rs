//! Sorts the fingerprints of a page.
//!
//! Selected hashes are spread over a wide range, so that their leading bits give buckets of a few
//! hashes each. This takes a fraction of the time of a sort by comparison, whose branches are
//! unpredictable.

use std::ops::RangeInclusive;

/// Sets of other sizes are sorted by comparison: smaller ones for speed, larger ones for memory.
const SIZES: RangeInclusive<usize> = 64..=1 << 17;
/// Larger buckets are sorted by comparison.
const LARGE: usize = 16;
/// The most bits of a bucket: their ends fit the first-level cache.
const MOST_BITS: u32 = 12;

/// Sorts hashes, with buffers that are reused.
#[derive(Default)]
pub(super) struct HashSorter {
    ends: Vec<u32>,
    scattered: Vec<u64>,
}

impl HashSorter {
    /// Sorts hashes and removes repeated ones.
    pub(super) fn sort_and_dedup(&mut self, hashes: &mut Vec<u64>) {
        let greatest = hashes.iter().copied().max().unwrap_or_default();
        if !SIZES.contains(&hashes.len()) || greatest == 0 {
            hashes.sort_unstable();
        } else {
            self.sort(hashes, greatest);
        }
        hashes.dedup();
    }

    fn sort(&mut self, hashes: &mut [u64], greatest: u64) {
        // Winnowing prefers small hashes. Twice as many buckets keep those of the smallest small.
        let significant = u64::BITS - greatest.leading_zeros();
        let bits = (hashes.len().ilog2() + 1).min(MOST_BITS).min(significant);
        let shift = significant - bits;
        let bucket = |hash: u64| (hash >> shift) as usize;
        self.ends.clear();
        self.ends.resize(1 << bits, 0);
        for &hash in hashes.iter() {
            if let Some(count) = self.ends.get_mut(bucket(hash)) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for count in &mut self.ends {
            sum += std::mem::replace(count, sum);
        }
        self.scattered.clear();
        self.scattered.extend_from_slice(hashes);
        for &hash in &self.scattered {
            if let Some(next) = self.ends.get_mut(bucket(hash)) {
                if let Some(place) = hashes.get_mut(*next as usize) {
                    *place = hash;
                }
                *next += 1;
            }
        }
        let mut begin = 0;
        for &end in &self.ends {
            let end = end as usize;
            if end - begin > LARGE {
                hashes
                    .get_mut(begin..end)
                    .unwrap_or_default()
                    .sort_unstable();
            }
            begin = end;
        }
        insert(hashes);
    }
}

/// Sorts hashes of which each is close to its place.
fn insert(hashes: &mut [u64]) {
    for sorted in 1..hashes.len() {
        let mut place = sorted;
        while let Some([left, right]) = place
            .checked_sub(1)
            .and_then(|left| hashes.get_mut(left..=place))
        {
            if left <= right {
                break;
            }
            std::mem::swap(left, right);
            place -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn hashes_are_sorted_as_by_comparison(
            hashes in prop_oneof![
                prop::collection::vec(any::<u64>(), 0..600),
                prop::collection::vec(any::<u64>().prop_map(|hash| hash >> 32), 0..600),
                prop::collection::vec(any::<u64>().prop_map(|hash| hash >> (hash % 64)), 0..600),
                prop::collection::vec(0u64..3, 0..600),
                prop::collection::vec((0u64..100).prop_map(|hash| u64::MAX - hash), 0..600),
            ]
        ) {
            let mut expected = hashes.clone();
            expected.sort_unstable();
            expected.dedup();
            let mut sorter = HashSorter::default();
            for _ in 0..2 {
                let mut sorted = hashes.clone();
                sorter.sort_and_dedup(&mut sorted);
                prop_assert_eq!(&sorted, &expected);
            }
        }
    }
}
