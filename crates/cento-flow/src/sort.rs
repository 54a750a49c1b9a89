//! Partitioning and sorting rows in memory.
//!
//! ```text
//!   unsorted rows            a chunk, by partition           one partition, sorted
//!   c a d b a c … ──────────▶ a a a│b b│c c c│d …  ──gather──▶ a₁ a₂ a₂ a₃ …
//!                  count,      a chunk fits the cache          count, scatter by the next bits,
//!                  scatter                                     repeat until buckets are tiny
//! ```
//!
//! Keys are hashes, or numbers with a known number of bits. So the leading bits of the *fraction*
//! of a key ([`Key::fraction`]) give buckets of about equal size, and a bucket of a few rows is
//! sorted by insertion. If most rows have the same key, they are sorted by comparison.

use crate::row::{Key, Row, order};

/// Buckets at most this large are sorted by insertion.
const TINY: usize = 24;
/// Bits of a digit: rows are scattered to at most 256 buckets at once, for which the first-level
/// cache has enough lines.
const DIGIT: u32 = 8;
/// Bits of the first digit of a partition that fits the second-level cache.
const FIRST_DIGIT: u32 = 12;
/// Bytes of such a partition.
const CACHED: usize = 1 << 20;
/// Rows after which a sort checks whether it was cancelled: a few milliseconds of work.
const CHECK_INTERVAL: usize = 1 << 20;

/// Maps keys to partitions. A partition is a range of key fractions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Partitioner {
    /// The first fraction of the range.
    base: u64,
    /// The number of leading zero bits of every fraction of the range, relative to `base`.
    lead: u32,
    /// The number of significant bits of a key.
    bits: u32,
    partitions: u32,
}

impl Partitioner {
    pub(crate) fn new(bits: u32, partitions: u32) -> Partitioner {
        Partitioner {
            base: 0,
            lead: 0,
            bits,
            partitions,
        }
    }

    pub(crate) fn partitions(&self) -> u32 {
        self.partitions
    }

    /// The fraction of the row's key within the range, scaled to 64 bits.
    #[inline(always)]
    fn local<R: Row>(&self, row: &R) -> u64 {
        row.key().fraction(self.bits).wrapping_sub(self.base) << self.lead
    }

    #[inline(always)]
    pub(crate) fn partition<R: Row>(&self, row: &R) -> usize {
        ((u128::from(self.local(row)) * u128::from(self.partitions)) >> 64) as usize
    }

    /// Returns the same range, cut into another number of partitions.
    pub(crate) fn cut_into(self, partitions: u32) -> Partitioner {
        Partitioner { partitions, ..self }
    }

    /// Returns the range of one partition, cut into `partitions`. `None` if it has a single
    /// fraction and cannot be cut.
    pub(crate) fn within(&self, partition: u32, partitions: u32) -> Option<Partitioner> {
        // A local fraction is a multiple of 2^lead, so the first one of a partition is found by
        // rounding up twice.
        let first = |partition: u32| {
            (u128::from(partition) << 64)
                .div_ceil(u128::from(self.partitions))
                .div_ceil(1 << self.lead)
        };
        let (begin, end) = (first(partition), first(partition + 1));
        let width = end.checked_sub(begin).filter(|&width| width > 1)?;
        Some(Partitioner {
            base: self.base.wrapping_add(begin as u64),
            lead: (width - 1).leading_zeros().saturating_sub(64).min(63),
            bits: self.bits,
            partitions,
        })
    }
}

/// Orders the rows of a chunk by partition. Returns them and the end of each partition.
pub(crate) fn by_partition<R: Row>(rows: &[R], partitioner: &Partitioner) -> (Vec<R>, Vec<u32>) {
    let mut ends = vec![0u32; partitioner.partitions as usize];
    for row in rows {
        if let Some(count) = ends.get_mut(partitioner.partition(row)) {
            *count += 1;
        }
    }
    let mut sum = 0;
    for end in &mut ends {
        let count = *end;
        *end = sum;
        sum += count;
    }
    let mut sorted = bytemuck::zeroed_vec(rows.len());
    for row in rows {
        if let Some(next) = ends.get_mut(partitioner.partition(row)) {
            if let Some(slot) = sorted.get_mut(*next as usize) {
                *slot = *row;
            }
            *next += 1;
        }
    }
    (sorted, ends)
}

/// Gathers the pieces of one partition and sorts them. Returns `None` if `proceed`, which is called
/// now and then, returns false.
pub(crate) fn gather_sorted<R: Row>(
    pieces: &[&[R]],
    range: Option<Partitioner>,
    proceed: &dyn Fn() -> bool,
) -> Option<Vec<R>> {
    let total = pieces.iter().map(|piece| piece.len()).sum::<usize>();
    let mut sorted = bytemuck::zeroed_vec(total);
    let Some(range) = range else {
        let mut left = sorted.as_mut_slice();
        for piece in pieces {
            let (head, tail) = left.split_at_mut(piece.len());
            head.copy_from_slice(piece);
            left = tail;
        }
        sorted.sort_unstable_by(order);
        return proceed().then_some(sorted);
    };
    let digit = if total * size_of::<R>() <= CACHED {
        // A few rows in each bucket, so that most buckets are sorted at once.
        (total.max(16).ilog2() - 2).clamp(1, FIRST_DIGIT)
    } else {
        digit_for(total)
    };
    let shift = 64 - digit;
    let mut ends = vec![0usize; 1 << digit];
    for row in pieces.iter().copied().flatten() {
        if let Some(count) = ends.get_mut((range.local(row) >> shift) as usize) {
            *count += 1;
        }
    }
    counts_to_starts(&mut ends);
    for row in pieces.iter().copied().flatten() {
        if let Some(next) = ends.get_mut((range.local(row) >> shift) as usize) {
            if let Some(slot) = sorted.get_mut(*next) {
                *slot = *row;
            }
            *next += 1;
        }
    }
    let mut sorter = Sorter {
        range,
        scratch: Vec::new(),
        until_check: CHECK_INTERVAL,
        proceed,
    };
    let mut begin = 0;
    for end in ends {
        sorter.sort(sorted.get_mut(begin..end)?, digit)?;
        begin = end;
    }
    Some(sorted)
}

/// Turns counts into start offsets.
fn counts_to_starts(counts: &mut [usize]) {
    let mut sum = 0;
    for count in counts {
        sum += std::mem::replace(count, sum);
    }
}

/// Returns the number of bits that leaves a few rows in each bucket.
fn digit_for(rows: usize) -> u32 {
    (rows.max(16).ilog2() - 3).clamp(1, DIGIT)
}

struct Sorter<'a, R> {
    range: Partitioner,
    scratch: Vec<R>,
    until_check: usize,
    proceed: &'a dyn Fn() -> bool,
}

impl<R: Row> Sorter<'_, R> {
    /// Sorts rows that agree in the first `known` bits of their local fractions.
    fn sort(&mut self, rows: &mut [R], known: u32) -> Option<()> {
        if rows.len() <= TINY {
            insert(rows);
            return Some(());
        }
        self.until_check = self.until_check.saturating_sub(rows.len());
        if self.until_check == 0 {
            self.until_check = CHECK_INTERVAL;
            if !(self.proceed)() {
                return None;
            }
        }
        let digit = digit_for(rows.len()).min(64 - known);
        if digit == 0 {
            rows.sort_unstable_by(order);
            return Some(());
        }
        let shift = 64 - known - digit;
        let mask = (1u64 << digit) - 1;
        let range = self.range;
        let bucket = |row: &R| ((range.local(row) >> shift) & mask) as usize;
        let mut ends = [0usize; 1 << DIGIT];
        for row in rows.iter() {
            if let Some(count) = ends.get_mut(bucket(row)) {
                *count += 1;
            }
        }
        let only = rows.first().map_or(0, bucket);
        if ends.get(only) == Some(&rows.len()) {
            return self.sort_one_bucket(rows, known + digit);
        }
        counts_to_starts(&mut ends);
        if self.scratch.len() < rows.len() {
            self.scratch.resize(rows.len(), R::zeroed());
        }
        let scratch = self.scratch.get_mut(..rows.len())?;
        scratch.copy_from_slice(rows);
        for row in scratch.iter() {
            if let Some(next) = ends.get_mut(bucket(row)) {
                if let Some(slot) = rows.get_mut(*next) {
                    *slot = *row;
                }
                *next += 1;
            }
        }
        let mut begin = 0;
        for end in ends.into_iter().take(1 << digit) {
            if end - begin > 1 {
                self.sort(rows.get_mut(begin..end)?, known + digit)?;
            }
            begin = end;
        }
        Some(())
    }

    /// Sorts rows that agree in a digit. Often they have the same key, such as a gram that is on
    /// every page. Then further digits do not help.
    fn sort_one_bucket(&mut self, rows: &mut [R], known: u32) -> Option<()> {
        let first = rows.first()?.key();
        if rows.iter().all(|row| row.key() == first) {
            rows.sort_unstable_by(order);
            return Some(());
        }
        self.sort(rows, known)
    }
}

/// Sorts a few rows by insertion, for which nothing is faster.
#[inline(always)]
fn insert<R: Row>(rows: &mut [R]) {
    for sorted in 1..rows.len() {
        let mut place = sorted;
        while let Some([left, right]) = place
            .checked_sub(1)
            .and_then(|left| rows.get_mut(left..=place))
        {
            if !order(right, left).is_lt() {
                break;
            }
            std::mem::swap(left, right);
            place -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Pair;
    use proptest::prelude::*;

    /// Keys that are uniform, clustered, or all the same.
    fn rows() -> impl Strategy<Value = Vec<Pair>> {
        let key = prop_oneof![
            any::<u64>(),
            0u64..20,
            Just(7u64 << 40),
            any::<u64>().prop_map(|key| key >> 30)
        ];
        prop::collection::vec(
            (key, 0u32..50).prop_map(|(key, rest)| Pair { key, rest }),
            0..600,
        )
    }

    proptest! {
        #[test]
        fn partitions_hold_ranges_of_keys_in_order(
            rows in rows(),
            partitions in 1u32..300,
            bits in prop_oneof![Just(64u32), 5u32..64],
        ) {
            let partitioner = Partitioner::new(bits, partitions);
            let (sorted, ends) = by_partition(&rows, &partitioner);
            prop_assert_eq!(sorted.len(), rows.len());
            prop_assert_eq!(ends.last().copied(), Some(rows.len() as u32));
            prop_assert!(sorted.is_sorted_by_key(|row| partitioner.partition(row)));
            let mut by_key = rows;
            by_key.sort_by(order);
            prop_assert!(by_key.is_sorted_by_key(|row| partitioner.partition(row)));
        }

        #[test]
        fn partitions_within_a_partition_are_ranges_too(
            rows in rows(),
            partitions in 1u32..300,
            inner in 2u32..300,
        ) {
            let outer = Partitioner::new(64, partitions);
            let mut by_key = rows;
            by_key.sort_by(order);
            for partition in 0..partitions {
                let mine: Vec<Pair> = by_key.iter().filter(|row| outer.partition(*row) == partition as usize).copied().collect();
                if let Some(within) = outer.within(partition, inner) {
                    let places: Vec<usize> = mine.iter().map(|row| within.partition(row)).collect();
                    prop_assert!(places.is_sorted());
                    for second in 0..inner {
                        if let Some(third) = within.within(second, 3) {
                            let places: Vec<usize> = mine
                                .iter()
                                .filter(|row| within.partition(*row) == second as usize)
                                .map(|row| third.partition(row))
                                .collect();
                            prop_assert!(places.is_sorted());
                        }
                    }
                }
            }
        }

        #[test]
        fn gathered_pieces_are_sorted(rows in rows(), cut in 0usize..600, partitions in 1u32..40) {
            let outer = Partitioner::new(64, partitions);
            for partition in 0..partitions {
                let mine: Vec<Pair> = rows.iter().filter(|row| outer.partition(*row) == partition as usize).copied().collect();
                let (left, right) = mine.split_at(cut.min(mine.len()));
                let mut expected = mine.clone();
                expected.sort_by(order);
                let sorted = gather_sorted(&[left, right], outer.within(partition, 1), &|| true);
                prop_assert_eq!(sorted, Some(expected));
            }
        }
    }

    #[test]
    fn a_cancelled_sort_stops() {
        let rows: Vec<Pair> = (0..CHECK_INTERVAL as u64 * 2)
            .map(|key| Pair {
                key: key.wrapping_mul(0x9e37_79b9_7f4a_7c15),
                rest: 0,
            })
            .collect();
        let range = Partitioner::new(64, 1).within(0, 1);
        assert!(gather_sorted(&[&rows], range, &|| false).is_none());
    }
}
