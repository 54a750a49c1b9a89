//! Estimates with confidence intervals.

use serde::{Deserialize, Serialize};

/// A share that was estimated by counting matches among trials.
///
/// ```
/// use cento_fingerprint::Estimate;
///
/// let estimate = Estimate { matches: 63, trials: 84 };
/// assert_eq!(estimate.value(), Some(0.75));
/// let (low, high) = estimate.interval(0.95);
/// assert!((0.64..0.65).contains(&low) && (0.83..0.84).contains(&high));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// The number of matches.
    pub matches: u64,
    /// The number of trials.
    pub trials: u64,
}

impl Estimate {
    /// The share; `None` without trials.
    pub fn value(&self) -> Option<f64> {
        (self.trials > 0).then(|| self.matches as f64 / self.trials as f64)
    }

    /// The interval that contains the true share with at least this confidence, such as 0.95.
    ///
    /// The exact interval of Clopper & Pearson: unlike value ± deviation it stays within 0 and 1,
    /// is not empty if all trials match, and has at least the stated coverage for any number of
    /// trials. Without trials it is 0 to 1. The confidence is clamped to 0 to 1 − 10⁻⁹.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        let confidence = if confidence.is_nan() { 1.0 } else { confidence };
        let outside = (1.0 - confidence.clamp(0.0, 1.0 - 1e-9)) / 2.0;
        let matches = self.matches.min(self.trials) as f64;
        let others = self.trials as f64 - matches;
        let low = if matches > 0.0 {
            quantile(outside, matches, others + 1.0)
        } else {
            0.0
        };
        let high = if others > 0.0 {
            1.0 - quantile(outside, others, matches + 1.0)
        } else {
            1.0
        };
        (low, high)
    }
}

/// The quantile of the beta distribution.
fn quantile(probability: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if cumulated(middle, a, b) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The cumulative beta distribution: the regularised incomplete beta function.
fn cumulated(x: f64, a: f64, b: f64) -> f64 {
    // The continued fraction converges fast below the mean; above it, use the complement.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - cumulated(1.0 - x, b, a);
    }
    let factor =
        (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    factor * fraction(x, a, b) / a
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    // Replaces zero in a divisor.
    const TINY: f64 = 1e-300;
    let nonzero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut above = 1.0;
    let mut below = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut result = below;
    // About √trials steps suffice; the limit is for extreme numbers of trials.
    for step in 1..10_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            below = 1.0 / nonzero(1.0 + coefficient * below);
            above = nonzero(1.0 + coefficient / above);
            change = above * below;
            result *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    result
}

/// The logarithm of the gamma function of a positive number, by Stirling's series.
fn log_gamma(x: f64) -> f64 {
    let (mut x, mut log) = (x, 0.0);
    // The series needs a large argument: Γ(x) = Γ(x + 1) ÷ x.
    while x < 12.0 {
        log -= x.ln();
        x += 1.0;
    }
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    log + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_is_the_factorial() {
        let mut factorial = 1.0f64;
        for number in 1..60 {
            let log = log_gamma(f64::from(number));
            assert!(
                (log - factorial.ln()).abs() < 1e-9 * factorial.ln().max(1.0),
                "{number}"
            );
            factorial *= f64::from(number);
        }
    }

    #[test]
    fn intervals_agree_with_newcombe() {
        // "Two-sided confidence intervals for the single proportion" (1998), table I, method 5.
        for (matches, trials, low, high) in [
            (81, 263, 0.2527, 0.3676),
            (15, 148, 0.0579, 0.1617),
            (0, 20, 0.0, 0.1684),
            (1, 29, 0.0009, 0.1776),
        ] {
            let (found_low, found_high) = Estimate { matches, trials }.interval(0.95);
            assert!((found_low - low).abs() < 1.5e-4, "{found_low} for {low}");
            assert!(
                (found_high - high).abs() < 1.5e-4,
                "{found_high} for {high}"
            );
        }
    }

    #[test]
    fn many_trials_and_invalid_numbers_are_accepted() {
        let million = Estimate {
            matches: 300_000,
            trials: 1_000_000,
        };
        let (low, high) = million.interval(0.95);
        assert!((low - 0.2991).abs() < 1e-4 && (high - 0.3009).abs() < 1e-4);
        for confidence in [f64::NAN, -1.0, 0.0, 1.0, f64::INFINITY] {
            for estimate in [
                million,
                Estimate {
                    matches: 9,
                    trials: 3,
                },
                Estimate {
                    matches: u64::MAX,
                    trials: u64::MAX,
                },
            ] {
                let (low, high) = estimate.interval(confidence);
                assert!(0.0 <= low && low <= high && high <= 1.0, "{low} to {high}");
            }
        }
    }

    #[test]
    fn intervals_have_their_coverage() {
        for trials in [1u64, 2, 5, 20, 84] {
            for confidence in [0.8, 0.95, 0.99] {
                for percent in 0..=100 {
                    let truth = f64::from(percent) / 100.0;
                    let mut covered = 0.0;
                    let mut probability = vec![0.0; trials as usize + 1];
                    probability[0] = 1.0;
                    for trial in 0..trials as usize {
                        for matches in (0..=trial).rev() {
                            probability[matches + 1] += probability[matches] * truth;
                            probability[matches] *= 1.0 - truth;
                        }
                    }
                    for (matches, probability) in probability.iter().enumerate() {
                        let (low, high) = Estimate {
                            matches: matches as u64,
                            trials,
                        }
                        .interval(confidence);
                        if (low..=high).contains(&truth) {
                            covered += probability;
                        }
                    }
                    assert!(
                        covered > confidence - 0.012,
                        "{covered} of {confidence} at {truth} in {trials}"
                    );
                }
            }
        }
    }

    #[test]
    fn without_trials_there_is_no_value() {
        let nothing = Estimate {
            matches: 0,
            trials: 0,
        };
        assert_eq!(nothing.value(), None);
        assert_eq!(nothing.interval(0.95), (0.0, 1.0));
    }
}
