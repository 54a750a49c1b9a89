//! Means, deviations and histograms of scores, from whole numbers: sums that no order of adding changes.

use cento_flow::table_row;

use crate::tally::{Counts, Tally};

/// A score of 1. Its square fits 64 bits.
pub(super) const ONE: u64 = 1 << 31;
/// Bins of a histogram.
pub(super) const BINS: u64 = 100;

/// Which score it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The share of a page's chunks that are labels.
    Page,
    /// The mean of that over the pages of a neighbourhood.
    Mean,
    /// The share of all chunks of a neighbourhood.
    Ratio,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::Page, Kind::Mean, Kind::Ratio];

    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Page => "page",
            Kind::Mean => "mean",
            Kind::Ratio => "ratio",
        }
    }

    fn key(self) -> u64 {
        1000 * match self {
            Kind::Page => 0,
            Kind::Mean => 1,
            Kind::Ratio => 2,
        }
    }
}

table_row! {
    /// What the scores of one kind are, all together.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ThresholdRow {
        /// The score: `page`, `mean` or `ratio`.
        pub score: String,
        /// How many have it.
        pub objects: u64,
        /// Their mean.
        pub mean: f64,
        /// Their standard deviation.
        pub deviation: f64,
        /// What must be exceeded: the mean plus the deviation, unless it was given.
        pub threshold: f64,
    }
}

table_row! {
    /// How many have a score in a range.
    #[derive(Debug, Clone, PartialEq)]
    pub struct HistogramRow {
        /// The score: `page`, `mean` or `ratio`.
        pub score: String,
        /// Where the range begins.
        pub begin: f64,
        /// Where it ends; 1 is in the last one.
        pub end: f64,
        /// How many.
        pub objects: u64,
    }
}

/// A share as a whole number.
pub(super) fn share(part: u64, whole: u64) -> u64 {
    let whole = u128::from(whole.max(1));
    // Rounded to the nearest, so that a half is a half.
    ((u128::from(part) * u128::from(ONE) + whole / 2) / whole) as u64
}

/// A score as people read it, to nine digits.
pub(super) fn real(score: u64) -> f64 {
    (score as f64 / ONE as f64 * 1e9).round() / 1e9
}

/// The sums of one task.
pub(super) struct Moments {
    kind: Kind,
    counts: Counts,
    bins: Vec<u64>,
}

impl Moments {
    pub(super) fn new(kind: Kind) -> Moments {
        Moments {
            kind,
            counts: [0; 4],
            bins: vec![0; BINS as usize],
        }
    }

    pub(super) fn add(&mut self, score: u64) {
        let score = score.min(ONE);
        let square = score * score;
        let [count, sum, high, low] = &mut self.counts;
        *count += 1;
        *sum += score;
        *high += square >> 32;
        *low += square & 0xffff_ffff;
        let bin = (u128::from(score) * u128::from(BINS) / u128::from(ONE)) as u64;
        if let Some(bin) = self.bins.get_mut(bin.min(BINS - 1) as usize) {
            *bin += 1;
        }
    }

    /// Says what the task has counted.
    pub(super) fn note(&self, tally: &Tally, task: usize) {
        tally.note(task, self.kind.key(), self.counts);
        for (bin, &count) in (1..).zip(&self.bins) {
            if count > 0 {
                tally.note(task, self.kind.key() + bin, [count, 0, 0, 0]);
            }
        }
    }
}

/// Mean, deviation and threshold of a kind of score.
pub(super) fn threshold(tally: &Tally, kind: Kind, given: Option<f64>) -> ThresholdRow {
    let sums = tally.sums();
    let [count, sum, high, low] = sums.get(&kind.key()).copied().unwrap_or_default();
    let squares = (u128::from(high) << 32) + u128::from(low);
    let (n, s) = (u128::from(count), u128::from(sum));
    // n²σ² = nΣs² − (Σs)², exactly.
    let variance = (n * squares).saturating_sub(s * s);
    let whole = count.max(1) as f64 * ONE as f64;
    let mean = sum as f64 / whole;
    let deviation = (variance as f64).sqrt() / whole;
    ThresholdRow {
        score: kind.name().to_owned(),
        objects: count,
        mean,
        deviation,
        threshold: given.unwrap_or(mean + deviation),
    }
}

/// The histogram of a kind of score.
pub(super) fn histogram(tally: &Tally, kind: Kind) -> Vec<HistogramRow> {
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

    proptest! {
        #[test]
        fn sums_agree_with_the_textbook(scores in proptest::collection::vec((0u64..50, 1u64..50), 1..60)) {
            let scores: Vec<f64> = scores.iter().map(|&(part, more)| part as f64 / (part + more) as f64).collect();
            let tally = Tally::default();
            for (task, some) in scores.chunks(7).enumerate() {
                let mut moments = Moments::new(Kind::Mean);
                some.iter().for_each(|&score| moments.add((score * ONE as f64).round() as u64));
                moments.note(&tally, task);
                moments.note(&tally, task);
            }
            let count = scores.len() as f64;
            let mean = scores.iter().sum::<f64>() / count;
            let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count;
            let found = threshold(&tally, Kind::Mean, None);
            prop_assert_eq!(found.objects as usize, scores.len());
            prop_assert!((found.mean - mean).abs() < 1e-8);
            prop_assert!((found.deviation - variance.sqrt()).abs() < 1e-8);
            prop_assert_eq!(histogram(&tally, Kind::Mean).iter().map(|row| row.objects).sum::<u64>(), found.objects);
            prop_assert_eq!(threshold(&tally, Kind::Page, Some(0.5)).threshold, 0.5);
        }
    }

    #[test]
    fn the_threshold_of_the_paper_is_mean_plus_deviation() {
        // §6.3: a mean of 0.04 and a deviation of 0.123 flag what is above 0.163. Here 1 neighbourhood of 25 is bad through and
        // through: a mean of 0.04, and a deviation of √(0.04 · 0.96).
        let tally = Tally::default();
        let mut moments = Moments::new(Kind::Ratio);
        moments.add(ONE);
        (0..24).for_each(|_| moments.add(0));
        moments.note(&tally, 0);
        let found = threshold(&tally, Kind::Ratio, None);
        assert!((found.mean - 0.04).abs() < 1e-12);
        assert!((found.deviation - 0.0384f64.sqrt()).abs() < 1e-12);
        assert_eq!(found.threshold, found.mean + found.deviation);
        let bins = histogram(&tally, Kind::Ratio);
        assert_eq!((bins[0].objects, bins[99].objects), (24, 1));
    }

    #[test]
    fn shares_are_rounded_to_the_nearest() {
        assert_eq!(share(1, 2), ONE / 2);
        assert_eq!(share(3, 3), ONE);
        assert_eq!(share(0, 0), 0);
        assert_eq!(real(share(1, 3)), 0.333333333);
    }
}
