//! Scores: shares as integers.
//!
//! A score is an integer in units of 2⁻⁶⁰, rounded to the nearest. Scores are compared with each
//! other and with thresholds without further rounding, so that a page at exactly the threshold is
//! never above it, and every program that uses this crate reaches the same verdict.

/// A score of 1. Scores are finer than `f64`, so that converting them gives the nearest share.
pub const ONE: u64 = 1 << BITS;
const BITS: u32 = 60;
/// Additional bits of the shares that are summed up for a mean.
const FINER: u32 = 30;

/// Returns a share as a score, rounded to the nearest, so that a half is exactly a half.
pub fn share(part: u64, whole: u64) -> u64 {
    let whole = u128::from(whole.max(1));
    ((u128::from(part) * u128::from(ONE) + whole / 2) / whole) as u64
}

/// Returns a share from an option as a score: the decimal number and not its binary neighbour, so
/// that 3 of 10 are not above 0.3.
pub fn typed(share: f64) -> u64 {
    // Further digits are below the resolution of a score.
    const DIGITS: usize = 20;
    // The shortest decimal that parses to this number is the one in the option.
    let text = share.clamp(0.0, 1.0).to_string();
    let (whole, part) = text.split_once('.').unwrap_or((text.as_str(), ""));
    let (mut number, mut scale) = (u128::from(whole == "1"), 1u128);
    for digit in part.bytes().take(DIGITS) {
        number = number * 10 + u128::from(digit.saturating_sub(b'0'));
        scale *= 10;
    }
    // Twenty digits and 60 bits are 127 bits.
    ((number * u128::from(ONE) + scale / 2) / scale) as u64
}

/// Returns a score as a real number.
pub fn real(score: u64) -> f64 {
    score as f64 / ONE as f64
}

/// The mean of many shares, to the resolution of a score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mean {
    sum: u128,
    count: u64,
}

impl Mean {
    /// Adds a share.
    pub fn add(&mut self, part: u32, whole: u32) {
        // Rounded down to 2⁻⁹⁰: 2³² shares fit, and their error is below one unit of a score.
        self.sum += (u128::from(part) << (BITS + FINER)) / u128::from(whole.max(1));
        self.count += 1;
    }

    /// Returns the mean as a score.
    pub fn score(self) -> u64 {
        self.score_among(self.count)
    }

    /// Returns the sum of the shares divided by `count`, as a score: the mean if there are further
    /// shares of zero.
    pub fn score_among(self, count: u64) -> u64 {
        let mean = self.sum / u128::from(count.max(1));
        ((mean + (1 << (FINER - 1))) >> FINER) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_to_the_nearest() {
        assert_eq!(share(1, 2), ONE / 2);
        assert_eq!(share(3, 3), ONE);
        assert_eq!(share(0, 0), 0);
        assert_eq!(real(share(2, 3)), 2.0 / 3.0);
        assert_eq!(typed(0.3), share(3, 10));
        let mut thirds = Mean::default();
        thirds.add(1, 3);
        thirds.add(2, 3);
        assert_eq!(thirds.score(), ONE / 2);
    }

    #[test]
    fn shares_of_zero_lower_a_mean() {
        let mut mean = Mean::default();
        mean.add(1, 2);
        assert_eq!(mean.score_among(4), share(1, 8));
        assert_eq!(mean.score_among(0), share(1, 2));
    }
}
