//! Shares sorted into bins of equal width, in whole numbers.
//!
//! The bin of a share is a question about fractions, and floats answer it wrongly: 0.29 × 100 is
//! 28.999…, so a share of exactly 29 in 100 would be counted below 29 %. Here 29/100 begins bin 29
//! of 100, whichever way it was computed.

use crate::figure::Series;

/// A histogram of shares from 0 to 1. Each bin holds its lower end and not its upper one, except
/// that the last holds 1 as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bins {
    counts: Vec<u64>,
    outside: u64,
}

impl Bins {
    /// So many bins, at least one, all empty.
    pub fn new(bins: usize) -> Bins {
        Bins {
            counts: vec![0; bins.max(1)],
            outside: 0,
        }
    }

    /// The bin that holds `part / whole` if there are so many bins; none if it is not from 0 to 1.
    pub fn of(part: u64, whole: u64, bins: usize) -> Option<usize> {
        if whole == 0 || part > whole || bins == 0 {
            return None;
        }
        let bin = u128::from(part) * bins as u128 / u128::from(whole);
        usize::try_from(bin).ok().map(|bin| bin.min(bins - 1))
    }

    /// The same for a share that is known as a float only. It is compared with the ends of bins as
    /// they are as floats: a division that is rounded once gives the same float for the same
    /// fraction.
    pub fn of_share(share: f64, bins: usize) -> Option<usize> {
        if !(0.0..=1.0).contains(&share) || bins == 0 {
            return None;
        }
        let begin = |bin: usize| bin as f64 / bins as f64;
        let mut bin = ((share * bins as f64) as usize).min(bins - 1);
        while bin > 0 && share < begin(bin) {
            bin -= 1;
        }
        while bin + 1 < bins && share >= begin(bin + 1) {
            bin += 1;
        }
        Some(bin)
    }

    /// Counts a share of `part` in `whole`.
    pub fn add(&mut self, part: u64, whole: u64) {
        self.count(Bins::of(part, whole, self.counts.len()), 1);
    }

    /// Counts a share that is known as a float only.
    pub fn add_share(&mut self, share: f64) {
        self.count(Bins::of_share(share, self.counts.len()), 1);
    }

    /// Counts several things of the same share.
    pub fn add_many(&mut self, part: u64, whole: u64, things: u64) {
        self.count(Bins::of(part, whole, self.counts.len()), things);
    }

    fn count(&mut self, bin: Option<usize>, things: u64) {
        match bin.and_then(|bin| self.counts.get_mut(bin)) {
            Some(count) => *count += things,
            None => self.outside += things,
        }
    }

    /// How many things each bin holds.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many shares were not from 0 to 1, and are in no bin.
    pub fn outside(&self) -> u64 {
        self.outside
    }

    /// Each bin as where it begins, where it ends, and how many things it holds.
    pub fn rows(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        let bins = self.counts.len() as f64;
        let row = move |(bin, count): (usize, &u64)| {
            (bin as f64 / bins, (bin as f64 + 1.0) / bins, *count as f64)
        };
        self.counts.iter().enumerate().map(row)
    }

    /// The bins as a histogram.
    pub fn series(&self, name: impl Into<String>) -> Series {
        Series::histogram(name, self.rows())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn three_tenths_are_in_the_bin_that_begins_there() {
        assert_eq!(Bins::of(3, 10, 100), Some(30));
        assert_eq!(Bins::of_share(0.3, 100), Some(30));
        for percent in 0..100 {
            let bin = usize::try_from(percent).ok();
            assert_eq!(Bins::of(percent, 100, 100), bin);
            assert_eq!(Bins::of_share(percent as f64 / 100.0, 100), bin);
        }
        assert_eq!(Bins::of(7, 7, 100), Some(99));
        assert_eq!(Bins::of_share(1.0, 100), Some(99));
    }

    #[test]
    fn what_is_no_share_is_counted_apart() {
        let mut bins = Bins::new(4);
        bins.add(2, 1);
        bins.add(0, 0);
        bins.add_share(f64::NAN);
        bins.add_share(-0.1);
        bins.add(1, 4);
        bins.add_many(1, 1, 3);
        assert_eq!((bins.counts(), bins.outside()), (&[0, 1, 0, 3][..], 4));
        let rows: Vec<_> = bins.rows().collect();
        assert_eq!(rows.get(1), Some(&(0.25, 0.5, 1.0)));
    }

    proptest! {
        #[test]
        fn floats_and_fractions_agree(whole in 1..2_000_000u64, part in 0..2_000_000u64, bins in 1..1_000usize) {
            let part = part % (whole + 1);
            let bin = Bins::of(part, whole, bins);
            prop_assert_eq!(bin, Bins::of_share(part as f64 / whole as f64, bins));
            // The definition: bin ≤ part/whole × bins < bin + 1, but for the end of the last one.
            let bin = bin.unwrap_or(usize::MAX) as u64;
            prop_assert!(bin * whole <= part * bins as u64);
            prop_assert!(part * (bins as u64) < (bin + 1) * whole || part == whole);
        }
    }
}
