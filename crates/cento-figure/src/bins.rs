//! Histograms of shares, in bins of equal width.
//!
//! Bins are computed in whole numbers, because floats are wrong at the edges: 0.29 × 100 is
//! 28.999…, so a share of exactly 29 in 100 would be counted below 29 %. Here 29/100 always begins
//! bin 29 of 100.

use crate::figure::Series;

/// A histogram of shares from 0 to 1. Each bin includes its lower end and excludes its upper end,
/// except that the last includes 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bins {
    counts: Vec<u64>,
}

impl Bins {
    /// Creates empty bins, at least one.
    pub fn new(bins: usize) -> Bins {
        Bins {
            counts: vec![0; bins.max(1)],
        }
    }

    /// Returns the bin of `part / whole`, or nothing if that is not from 0 to 1.
    pub fn of(part: u64, whole: u64, bins: usize) -> Option<usize> {
        if whole == 0 || part > whole || bins == 0 {
            return None;
        }
        let bin = u128::from(part) * bins as u128 / u128::from(whole);
        usize::try_from(bin).ok().map(|bin| bin.min(bins - 1))
    }

    /// Counts a share, `part / whole`. One that is not from 0 to 1 is ignored.
    pub fn add(&mut self, part: u64, whole: u64) {
        self.add_many(part, whole, 1);
    }

    /// Counts a share several times.
    pub fn add_many(&mut self, part: u64, whole: u64, times: u64) {
        let bin = Bins::of(part, whole, self.counts.len());
        if let Some(count) = bin.and_then(|bin| self.counts.get_mut(bin)) {
            *count += times;
        }
    }

    /// Returns the count of each bin.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the begin, the end and the count of each bin.
    pub fn rows(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        let bins = self.counts.len() as f64;
        let row = move |(bin, count): (usize, &u64)| {
            (bin as f64 / bins, (bin as f64 + 1.0) / bins, *count as f64)
        };
        self.counts.iter().enumerate().map(row)
    }

    /// Returns the bins as a series.
    pub fn series(&self, name: impl Into<String>) -> Series {
        Series::histogram(name, self.rows())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_share_is_in_the_bin_that_begins_at_it() {
        assert_eq!(Bins::of(3, 10, 100), Some(30));
        for percent in 0..100 {
            assert_eq!(Bins::of(percent, 100, 100), usize::try_from(percent).ok());
        }
        assert_eq!(Bins::of(7, 7, 100), Some(99));
    }

    #[test]
    fn invalid_shares_are_ignored() {
        let mut bins = Bins::new(4);
        bins.add(2, 1);
        bins.add(0, 0);
        bins.add(1, 4);
        bins.add_many(1, 1, 3);
        assert_eq!(bins.counts(), [0, 1, 0, 3]);
        let rows: Vec<_> = bins.rows().collect();
        assert_eq!(rows.get(1), Some(&(0.25, 0.5, 1.0)));
    }

    proptest! {
        #[test]
        fn bins_follow_their_definition(
            whole in 1..2_000_000u64,
            part in 0..2_000_000u64,
            bins in 1..1_000usize,
        ) {
            let part = part % (whole + 1);
            let bin = Bins::of(part, whole, bins);
            // The definition: bin ≤ part/whole × bins < bin + 1, but for the end of the last one.
            let bin = bin.unwrap_or(usize::MAX) as u64;
            prop_assert!(bin * whole <= part * bins as u64);
            prop_assert!(part * (bins as u64) < (bin + 1) * whole || part == whole);
        }
    }
}
