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
/// The most bits of the first digit of rows that were filtered before.
const REPEATED_DIGIT: u32 = 15;
/// Bytes of such a partition.
const CACHED: usize = 1 << 20;
/// The logarithm of the rows among which repeated keys are searched at once. The rows and the
/// filter fit the first-level cache.
const FILTERED: u32 = 9;
/// Slots of the filter of repeated keys per row, at least.
const SLOTS: usize = 8;
/// The most rows among which repeated keys are searched before any is moved. The filter fits the
/// second-level cache.
const FILTERED_FIRST: usize = 1 << 19;
/// Slots of that filter per row, at least.
const FIRST_SLOTS: usize = 4;
/// The logarithm of the most slots: 1 MiB. Only a key that most rows have makes so large a bucket.
const MOST_SLOTS: u32 = 22;
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

/// Copies the pieces of a partition, one after the other.
fn gather<R: Row>(pieces: &[&[R]], total: usize) -> Vec<R> {
    let mut gathered = Vec::with_capacity(total);
    for piece in pieces {
        gathered.extend_from_slice(piece);
    }
    gathered
}

/// Gathers the pieces of one partition and sorts them. `has_room` says whether there is memory for
/// a second copy of the rows. Returns `None` if `proceed`, which is called now and then, returns
/// false.
pub(crate) fn gather_sorted<R: Row>(
    pieces: &[&[R]],
    range: Option<Partitioner>,
    has_room: bool,
    proceed: &dyn Fn() -> bool,
) -> Option<Vec<R>> {
    let total = pieces.iter().map(|piece| piece.len()).sum::<usize>();
    // A stage that passes on some of the rows that it reads leaves them in order.
    if pieces.iter().copied().flatten().is_sorted_by(in_order) {
        return Some(gather(pieces, total));
    }
    let Some(range) = range else {
        let mut sorted = gather(pieces, total);
        sorted.sort_unstable_by(order);
        return proceed().then_some(sorted);
    };
    let filtered: Vec<R>;
    let (mut pieces, mut total) = (pieces, total);
    let some;
    // Rows that are dropped before any is moved are not moved. Among more rows, the filter would
    // be slower than that.
    let filters_first = R::ONLY_REPEATED && has_room && total <= FILTERED_FIRST;
    if filters_first {
        filtered = repeated(pieces, total, range);
        (some, total) = ([filtered.as_slice()], filtered.len());
        pieces = &some;
    }
    let digit = if filters_first {
        (total.max(16).ilog2() - 1).min(REPEATED_DIGIT)
    } else if R::ONLY_REPEATED {
        (total.max(16).ilog2().saturating_sub(FILTERED)).clamp(1, DIGIT)
    } else if total * size_of::<R>() <= CACHED {
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
    let mut sorted = bytemuck::zeroed_vec(total);
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
        filter: RepeatFilter::default(),
        until_check: CHECK_INTERVAL,
        proceed,
    };
    let (mut begin, mut kept) = (0, 0);
    for end in ends {
        // Rows of this bucket move to the place of those that were dropped before it.
        let bucket = sorted.get_mut(kept..end)?;
        let rows = match R::ONLY_REPEATED && !filters_first {
            true => sorter.retain_repeated(bucket, begin - kept, digit),
            false => end - begin,
        };
        sorter.sort(bucket.get_mut(..rows)?, digit)?;
        begin = end;
        kept += rows;
    }
    sorted.truncate(kept);
    Some(sorted)
}

/// Returns the rows whose keys may be repeated, and some others.
fn repeated<R: Row>(pieces: &[&[R]], total: usize, range: Partitioner) -> Vec<R> {
    let slots = (total * FIRST_SLOTS).max(64).next_power_of_two();
    let mut filter = RepeatFilter::default();
    filter.reset(slots.trailing_zeros());
    for row in pieces.iter().copied().flatten() {
        filter.note(range.local(row));
    }
    let mut kept = Vec::with_capacity(total / 2);
    for piece in pieces {
        // Every row is written, because a branch would be unpredictable.
        let begin = kept.len();
        kept.extend_from_slice(piece);
        let mut end = begin;
        for row in *piece {
            if let Some(slot) = kept.get_mut(end) {
                *slot = *row;
            }
            end += usize::from(filter.is_repeated(range.local(row)));
        }
        kept.truncate(end);
    }
    kept
}

/// For each slot one bit that a key occurred, and one that a key occurred again.
#[derive(Default)]
struct RepeatFilter {
    words: Vec<u64>,
    shift: u32,
}

impl RepeatFilter {
    /// Clears the filter. It has 2 to the power of `bits` slots, at least 32.
    fn reset(&mut self, bits: u32) {
        self.shift = 64 - bits;
        self.words.clear();
        self.words.resize(1 << bits >> 5, 0);
    }

    /// The word and the bit of the slot of a fraction: its highest bits.
    #[inline(always)]
    fn place(&self, fraction: u64) -> (usize, u64) {
        let slot = fraction >> self.shift;
        ((slot / 32) as usize, slot % 32 * 2)
    }

    #[inline(always)]
    fn note(&mut self, fraction: u64) {
        let (word, bit) = self.place(fraction);
        if let Some(word) = self.words.get_mut(word) {
            *word |= 1 << bit | (*word >> bit & 1) << (bit + 1);
        }
    }

    #[inline(always)]
    fn is_repeated(&self, fraction: u64) -> bool {
        let (word, bit) = self.place(fraction);
        self.words
            .get(word)
            .is_some_and(|word| word >> bit >> 1 & 1 == 1)
    }
}

/// Whether the order of two rows is right.
#[inline(always)]
fn in_order<R: Row>(left: &&R, right: &&R) -> bool {
    order(*left, *right).is_le()
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
    filter: RepeatFilter,
    until_check: usize,
    proceed: &'a dyn Fn() -> bool,
}

impl<R: Row> Sorter<'_, R> {
    /// Moves the rows from `first` on whose keys may be repeated to the front, and returns how many
    /// there are. All of them agree in the first `known` bits of their local fractions.
    fn retain_repeated(&mut self, rows: &mut [R], first: usize, known: u32) -> usize {
        let count = (rows.len() - first).max(8);
        let bits = (count * SLOTS).next_power_of_two().trailing_zeros();
        let bits = bits.min(MOST_SLOTS);
        let range = self.range;
        let fraction = |row: &R| range.local(row) << known;
        self.filter.reset(bits);
        for row in rows.iter().skip(first) {
            self.filter.note(fraction(row));
        }
        let mut kept = 0;
        for at in first..rows.len() {
            let Some(&row) = rows.get(at) else { break };
            // Every row is written, because a branch would be unpredictable.
            if let Some(slot) = rows.get_mut(kept) {
                *slot = row;
                kept += usize::from(self.filter.is_repeated(fraction(&row)));
            }
        }
        kept
    }

    /// Sorts rows that agree in the first `known` bits of their local fractions.
    fn sort(&mut self, rows: &mut [R], known: u32) -> Option<()> {
        if rows.len() <= TINY {
            insert(rows);
            return Some(());
        }
        if rows.iter().is_sorted_by(in_order) {
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
                let sorted = gather_sorted(&[left, right], outer.within(partition, 1), true, &|| true);
                prop_assert_eq!(sorted, Some(expected));
            }
        }
    }

    /// A row whose reduce ignores groups of one row.
    #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(transparent)]
    struct Repeated(Pair);

    impl Row for Repeated {
        type Key = u64;
        type Rest = u32;
        const ONLY_REPEATED: bool = true;

        fn key(&self) -> u64 {
            self.0.key
        }

        fn rest(&self) -> u32 {
            self.0.rest
        }
    }

    proptest! {
        #[test]
        fn every_repeated_key_remains(rows in rows(), cut in 0usize..600) {
            let mut rows: Vec<Repeated> = rows.into_iter().map(Repeated).collect();
            let (left, right) = rows.split_at(cut.min(rows.len()));
            let range = Partitioner::new(64, 1).within(0, 1);
            let both = [true, false].map(|has_room| {
                gather_sorted(&[left, right], range, has_room, &|| true).unwrap()
            });
            rows.sort_by(order);
            let repeated = |groups: &[Repeated]| -> Vec<Repeated> {
                let groups = groups.chunk_by(|one, next| one.key() == next.key());
                groups.filter(|group| group.len() > 1).flatten().copied().collect()
            };
            for sorted in both {
                prop_assert!(sorted.iter().is_sorted_by(in_order));
                prop_assert_eq!(repeated(&sorted), repeated(&rows));
            }
        }
    }

    #[test]
    fn most_keys_that_occur_once_are_dropped_before_sorting() {
        let rows: Vec<Repeated> = (0..10_000u64)
            .map(|key| Pair {
                key: key.wrapping_mul(0x9e37_79b9_7f4a_7c15),
                rest: 0,
            })
            .map(Repeated)
            .collect();
        let range = Partitioner::new(64, 1).within(0, 1);
        for has_room in [true, false] {
            let sorted = gather_sorted(&[&rows], range, has_room, &|| true).unwrap();
            assert!(sorted.len() < rows.len() / 3, "{}", sorted.len());
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
        assert!(gather_sorted(&[&rows], range, true, &|| false).is_none());
    }
}
