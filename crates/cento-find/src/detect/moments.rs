//! Means, deviations, histograms and thresholds of scores, in integers.
//!
//! A score is an integer in units of 2⁻⁶⁰, rounded to the nearest. Sums and squares of scores are
//! exact, so they do not depend on the order of addition, and whether a score is above the mean
//! plus one deviation is decided without rounding:
//!
//! ```text
//!   x > S/n + √(nQ − S²)/n    ⇔    nx > S  and  (nx − S)² > nQ − S²       S = Σx, Q = Σx²
//! ```
//!
//! So if all scores are equal, none is above their mean.

use std::cmp::Ordering;

use cento_flow::{TableName, table_row};
pub(super) use cento_labels::score::{Mean, ONE, real, share, typed};

use crate::tally::{TallyCounts, TaskTally};

/// The number of bins of a histogram.
pub(super) const BINS: u64 = 100;

/// The kinds of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScoreKind {
    /// The share of a page's chunks that are labels.
    Page,
    /// The mean of this share over the pages of a neighbourhood.
    Mean,
    /// The share of all chunks of a neighbourhood.
    Ratio,
}

impl ScoreKind {
    pub(super) const ALL: [ScoreKind; 3] = [ScoreKind::Page, ScoreKind::Mean, ScoreKind::Ratio];

    pub(super) fn name(self) -> &'static str {
        match self {
            ScoreKind::Page => "page",
            ScoreKind::Mean => "mean",
            ScoreKind::Ratio => "ratio",
        }
    }

    fn key(self) -> u64 {
        1000 * match self {
            ScoreKind::Page => 0,
            ScoreKind::Mean => 1,
            ScoreKind::Ratio => 2,
        }
    }
}

/// The distance between the key of a kind and the key of its squares. The bins are in between.
const SQUARES: u64 = 500;

/// The statistics of each kind of score.
pub const THRESHOLDS_TABLE: TableName<ThresholdRow> = TableName::new("thresholds");
/// The histogram of each kind of score.
pub const HISTOGRAM_TABLE: TableName<HistogramRow> = TableName::new("histogram");

table_row! {
    /// The statistics of the scores of one kind.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ThresholdRow {
        /// The score: `page`, `mean` or `ratio`.
        pub score: String,
        /// The number of pages or neighbourhoods with this score.
        pub objects: u64,
        /// Their mean.
        pub mean: f64,
        /// Their standard deviation.
        pub deviation: f64,
        /// The threshold to exceed: the mean plus the deviation, or the one from the parameters.
        pub threshold: f64,
    }
}

table_row! {
    /// A bin of a histogram.
    #[derive(Debug, Clone, PartialEq)]
    pub struct HistogramRow {
        /// The score: `page`, `mean` or `ratio`.
        pub score: String,
        /// The lower end of the bin.
        pub begin: f64,
        /// The upper end, which belongs to the next bin; 1 is in the last bin.
        pub end: f64,
        /// The number of pages or neighbourhoods in the bin.
        pub objects: u64,
    }
}

/// An unsigned integer of 256 bits, enough for the square of a sum of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Wide {
    high: u128,
    low: u128,
}

impl Wide {
    fn product(one: u128, other: u128) -> Wide {
        const HALF: u128 = (1 << 64) - 1;
        let (a, b) = (one >> 64, one & HALF);
        let (c, d) = (other >> 64, other & HALF);
        let (low, mid, cross) = (b * d, a * d, b * c);
        let carry = (low >> 64) + (mid & HALF) + (cross & HALF);
        Wide {
            high: a * c + (mid >> 64) + (cross >> 64) + (carry >> 64),
            low: (carry << 64) | (low & HALF),
        }
    }

    fn plus(self, other: Wide) -> Wide {
        let (low, carry) = self.low.overflowing_add(other.low);
        let high = self.high.wrapping_add(other.high);
        Wide {
            high: high.wrapping_add(u128::from(carry)),
            low,
        }
    }

    fn minus(self, other: Wide) -> Wide {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        let high = self.high.wrapping_sub(other.high);
        Wide {
            high: high.wrapping_sub(u128::from(borrow)),
            low,
        }
    }

    fn times(self, factor: u64) -> Wide {
        let low = Wide::product(self.low, u128::from(factor));
        Wide {
            high: low
                .high
                .wrapping_add(self.high.wrapping_mul(u128::from(factor))),
            low: low.low,
        }
    }

    fn real(self) -> f64 {
        self.high as f64 * 2f64.powi(128) + self.low as f64
    }
}

/// The sums of one task.
pub(super) struct Moments {
    kind: ScoreKind,
    sums: TallyCounts,
    /// The sums of the 32-bit limbs of the squares.
    squares: TallyCounts,
    bins: Vec<u64>,
}

impl Moments {
    pub(super) fn new(kind: ScoreKind) -> Moments {
        Moments {
            kind,
            sums: [0; 4],
            squares: [0; 4],
            bins: vec![0; BINS as usize],
        }
    }

    pub(super) fn add(&mut self, score: u64) {
        let score = score.min(ONE);
        let square = u128::from(score) * u128::from(score);
        let [count, low, high, _] = &mut self.sums;
        *count += 1;
        *low += score & 0xffff_ffff;
        *high += score >> 32;
        for (at, sum) in self.squares.iter_mut().enumerate() {
            *sum += (square >> (32 * at)) as u64 & 0xffff_ffff;
        }
        if let Some(bin) = self.bins.get_mut(bin_of(score)) {
            *bin += 1;
        }
    }

    /// Adds the sums to the tally of all tasks.
    pub(super) fn note(&self, tally: &TaskTally, task: usize) {
        tally.note(task, self.kind.key(), self.sums);
        tally.note(task, self.kind.key() + SQUARES, self.squares);
        for (bin, &count) in (1..).zip(&self.bins) {
            if count > 0 {
                tally.note(task, self.kind.key() + bin, [count, 0, 0, 0]);
            }
        }
    }
}

/// Returns the bin of a score. The score nearest to k hundredths is in the bin that begins there,
/// whether it was rounded up or down.
fn bin_of(score: u64) -> usize {
    let hundred = u128::from(score) * u128::from(BINS);
    let nearest = ((hundred + u128::from(ONE / 2)) / u128::from(ONE)) as u64;
    let bin = if share(nearest, BINS) == score {
        nearest
    } else {
        (hundred / u128::from(ONE)) as u64
    };
    bin.min(BINS - 1) as usize
}

/// A threshold that a score must exceed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Limit {
    /// A threshold from the parameters.
    Fixed(u64),
    /// The mean of all scores plus their deviation: their number n, their sum, and n²σ².
    Deviation {
        count: u64,
        sum: u128,
        variance: Wide,
    },
}

impl Limit {
    /// Returns the threshold of a kind of score.
    pub(super) fn of(tally: &TaskTally, kind: ScoreKind, fixed: Option<f64>) -> Limit {
        match fixed {
            Some(fixed) => Limit::Fixed(typed(fixed)),
            None => {
                let (count, sum, variance) = moments(tally, kind);
                Limit::Deviation {
                    count,
                    sum,
                    variance,
                }
            }
        }
    }

    /// Whether the threshold is below a score.
    pub(super) fn is_below(&self, score: u64) -> bool {
        match *self {
            Limit::Fixed(fixed) => score > fixed,
            Limit::Deviation {
                count,
                sum,
                variance,
            } => {
                let above = u128::from(count) * u128::from(score);
                let distance = match above.cmp(&sum) {
                    Ordering::Greater => above - sum,
                    _ => return false,
                };
                Wide::product(distance, distance) > variance
            }
        }
    }
}

/// Returns the number of scores n, their sum, and n²σ² = nΣx² − (Σx)².
fn moments(tally: &TaskTally, kind: ScoreKind) -> (u64, u128, Wide) {
    let sums = tally.sums();
    let [count, low, high, _] = sums.get(&kind.key()).copied().unwrap_or_default();
    let limbs = sums
        .get(&(kind.key() + SQUARES))
        .copied()
        .unwrap_or_default();
    let sum = (u128::from(high) << 32) + u128::from(low);
    let mut squares = Wide::default();
    for (at, limb) in limbs.into_iter().enumerate() {
        squares = squares.plus(Wide::product(u128::from(limb), 1 << (32 * at)));
    }
    let variance = squares.times(count).minus(Wide::product(sum, sum));
    (count, sum, variance)
}

/// Returns the mean, deviation and threshold of a kind of score.
pub(super) fn threshold(tally: &TaskTally, kind: ScoreKind, fixed: Option<f64>) -> ThresholdRow {
    let (count, sum, variance) = moments(tally, kind);
    let n = u128::from(count.max(1));
    let mean = ((sum / n) as f64 + (sum % n) as f64 / n as f64) / ONE as f64;
    let deviation = variance.real().sqrt() / n as f64 / ONE as f64;
    ThresholdRow {
        score: kind.name().to_owned(),
        objects: count,
        mean,
        deviation,
        threshold: fixed.unwrap_or(mean + deviation),
    }
}

/// Returns the histogram of a kind of score.
pub(super) fn histogram(tally: &TaskTally, kind: ScoreKind) -> Vec<HistogramRow> {
    let sums = tally.sums();
    let bins = (0..BINS).map(|bin| {
        let objects = sums.get(&(kind.key() + 1 + bin)).map_or(0, |sum| sum[0]);
        HistogramRow {
            score: kind.name().to_owned(),
            begin: bin as f64 / BINS as f64,
            end: (bin + 1) as f64 / BINS as f64,
            objects,
        }
    });
    bins.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tallied(scores: &[(u64, u64)]) -> TaskTally {
        let tally = TaskTally::default();
        for (task, some) in scores.chunks(7).enumerate() {
            let mut moments = Moments::new(ScoreKind::Mean);
            some.iter()
                .for_each(|&(part, whole)| moments.add(share(part, whole)));
            moments.note(&tally, task);
            moments.note(&tally, task);
        }
        tally
    }

    proptest! {
        #[test]
        fn sums_agree_with_the_textbook(scores in proptest::collection::vec((0u64..50, 1u64..50), 1..60)) {
            let scores: Vec<(u64, u64)> = scores.iter().map(|&(part, more)| (part, part + more)).collect();
            let tally = tallied(&scores);
            let reals: Vec<f64> = scores.iter().map(|&(part, whole)| part as f64 / whole as f64).collect();
            let count = reals.len() as f64;
            let mean = reals.iter().sum::<f64>() / count;
            let variance = reals.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count;
            let found = threshold(&tally, ScoreKind::Mean, None);
            prop_assert_eq!(found.objects as usize, scores.len());
            prop_assert!((found.mean - mean).abs() < 1e-12);
            prop_assert!((found.deviation - variance.sqrt()).abs() < 1e-7);
            prop_assert_eq!(histogram(&tally, ScoreKind::Mean).iter().map(|row| row.objects).sum::<u64>(), found.objects);
            prop_assert_eq!(threshold(&tally, ScoreKind::Page, Some(0.5)).threshold, 0.5);
            // The same verdict as with real numbers, where their precision suffices.
            let limit = Limit::of(&tally, ScoreKind::Mean, None);
            for (&(part, whole), &score) in scores.iter().zip(&reals) {
                let above = score - (mean + variance.sqrt());
                prop_assert!(above.abs() < 1e-7 || limit.is_below(share(part, whole)) == (above > 0.0));
            }
        }

        /// If all scores are equal, or there are two values of equal frequency, none is above the
        /// mean plus one deviation.
        #[test]
        fn rounding_decides_no_verdict(one in (0u64..40, 1u64..40), other in (0u64..40, 1u64..40), times in 1usize..30) {
            let one = (one.0, one.0 + one.1);
            let other = (other.0, other.0 + other.1);
            let mut scores = vec![one; times];
            let all_equal = Limit::of(&tallied(&scores), ScoreKind::Mean, None);
            prop_assert!(!all_equal.is_below(share(one.0, one.1)));
            scores.extend(vec![other; times]);
            let halves = Limit::of(&tallied(&scores), ScoreKind::Mean, None);
            prop_assert!(!halves.is_below(share(one.0, one.1)) && !halves.is_below(share(other.0, other.1)));
        }

        #[test]
        fn a_share_from_an_option_is_the_decimal_number(part in 0u64..1000, times in 1u64..50) {
            let limit = Limit::Fixed(typed(part as f64 / 1000.0));
            prop_assert!(!limit.is_below(share(part * times, 1000 * times)));
            prop_assert!(limit.is_below(share(part * times + 1, 1000 * times)));
        }

        #[test]
        fn wide_numbers_multiply(one: u64, other: u64, more: u128) {
            prop_assert_eq!(Wide::product(one.into(), other.into()), Wide { high: 0, low: u128::from(one) * u128::from(other) });
            // (2¹²⁸ − 1)·a = a·2¹²⁸ − a.
            let product = Wide::product(u128::MAX, more);
            prop_assert_eq!(product.plus(Wide { high: 0, low: more }), Wide { high: more, low: 0 });
            prop_assert_eq!(Wide { high: more, low: 0 }.minus(Wide { high: 0, low: more }), product);
            prop_assert_eq!(Wide { high: 1, low: more }.times(other), Wide::product(more, other.into()).plus(Wide { high: other.into(), low: 0 }));
        }
    }

    #[test]
    fn the_threshold_of_the_paper_is_mean_plus_deviation() {
        // §6.3: a mean of 0.04 and a deviation of 0.123 flag what is above 0.163. Here the score of
        // one neighbourhood of 25 is 1: a mean of 0.04, and a deviation of √(0.04 · 0.96).
        let tally = TaskTally::default();
        let mut moments = Moments::new(ScoreKind::Ratio);
        moments.add(ONE);
        (0..24).for_each(|_| moments.add(0));
        moments.note(&tally, 0);
        let found = threshold(&tally, ScoreKind::Ratio, None);
        assert!((found.mean - 0.04).abs() < 1e-12);
        assert!((found.deviation - 0.0384f64.sqrt()).abs() < 1e-12);
        assert_eq!(found.threshold, found.mean + found.deviation);
        let limit = Limit::of(&tally, ScoreKind::Ratio, None);
        assert!(limit.is_below(ONE) && !limit.is_below(0));
        let bins = histogram(&tally, ScoreKind::Ratio);
        assert_eq!((bins[0].objects, bins[99].objects), (24, 1));
    }

    #[test]
    fn every_hundredth_begins_a_bin() {
        for hundredth in 0..100 {
            assert_eq!(bin_of(share(hundredth, 100)), hundredth as usize);
            assert_eq!(bin_of(share(3 * hundredth, 300)), hundredth as usize);
            assert_eq!(bin_of(share(hundredth, 100) + 2), hundredth as usize);
            if hundredth > 0 {
                assert_eq!(bin_of(share(hundredth, 100) - 2), hundredth as usize - 1);
            }
        }
        assert_eq!(bin_of(ONE), 99);
        let mut mean = Mean::default();
        mean.add(1, 10);
        mean.add(1, 2);
        assert_eq!(bin_of(mean.score()), 30);
    }
}
