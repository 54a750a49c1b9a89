//! Scaled sketches: the grams with a small hash, a fixed fraction of all grams.
//!
//! Their size grows with the text, and so does their resolution: a page quoted in a book can be
//! found, because a gram that both texts have is in both samples or in neither.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::fingerprint::shared;
use crate::gram::circular_grams;
use crate::parameters::{
    IncompatibleParameters, InvalidParameters, ParameterList, bounded, serialise_as_text,
};

/// The parameters of a scaled sketch, written `scaled:k=5,s=100`. Values are limited to 1 to
/// 65,535.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScaledParameters {
    /// Words in a gram.
    pub k: u32,
    /// One gram in this many is kept.
    pub scale: u32,
}

impl Default for ScaledParameters {
    /// One in a hundred runs of five words.
    fn default() -> Self {
        ScaledParameters { k: 5, scale: 100 }
    }
}

impl ScaledParameters {
    /// The largest hash that is kept.
    fn largest(self) -> u64 {
        u64::MAX / bounded(self.scale) as u64
    }
}

impl fmt::Display for ScaledParameters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&format!("scaled:k={},s={}", self.k, self.scale))
    }
}

impl FromStr for ScaledParameters {
    type Err = InvalidParameters;

    fn from_str(text: &str) -> Result<Self, InvalidParameters> {
        let mut list = ParameterList::read(text)?;
        if list.name != "scaled" {
            return Err(InvalidParameters::new(format!(
                "invalid parameters of a scaled sketch '{text}': expected, for example, scaled:k=5,s=100"
            )));
        }
        let (k, scale) = (list.number("k", 5)?, list.number("s", 100)?);
        list.finish("k and s")?;
        Ok(ScaledParameters { k, scale })
    }
}

serialise_as_text!(ScaledParameters);

/// A sample of the grams of a text, with its parameters.
///
/// The grams are circular, as in a [`Sketch`](crate::Sketch), so that both estimate the same
/// quantity.
///
/// ```
/// use cento_fingerprint::{ScaledParameters, ScaledSketch, word_hash};
///
/// let parameters: ScaledParameters = "scaled:k=5,s=10".parse()?;
/// let book: Vec<u64> = (0..20_000).map(|word: u32| word_hash(&word.to_string())).collect();
/// let sketch = |words: &[u64]| ScaledSketch::of_words(parameters, words);
/// let page = sketch(&book[700..1_300]);
/// let estimate = page.containment(&sketch(&book))?;
/// let (low, high) = estimate.interval(0.99);
/// assert!((low..high).contains(&(596.0 / 600.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The two types of sketch cannot be compared:
///
/// ```compile_fail
/// # use cento_fingerprint::{ScaledSketch, Sketch};
/// fn compare(sketch: &Sketch, scaled: &ScaledSketch) {
///     sketch.resemblance(scaled);
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedScaledSketch")]
pub struct ScaledSketch {
    parameters: ScaledParameters,
    /// Sorted, without repetitions.
    grams: Vec<u64>,
}

/// A deserialised sketch that has not been validated.
#[derive(Deserialize)]
struct UncheckedScaledSketch {
    parameters: ScaledParameters,
    grams: Vec<u64>,
}

impl TryFrom<UncheckedScaledSketch> for ScaledSketch {
    type Error = InvalidParameters;

    fn try_from(read: UncheckedScaledSketch) -> Result<Self, InvalidParameters> {
        let sorted = read.grams.is_sorted_by(|one, next| one < next);
        let largest = read.parameters.largest();
        if !sorted || read.grams.last().is_some_and(|&last| last > largest) {
            return Err(InvalidParameters::new(format!(
                "the grams are not a valid sketch of {}",
                read.parameters
            )));
        }
        Ok(ScaledSketch {
            parameters: read.parameters,
            grams: read.grams,
        })
    }
}

impl ScaledSketch {
    /// Computes the sketch of a text from its word hashes.
    pub fn of_words(parameters: ScaledParameters, words: &[u64]) -> Self {
        let mut grams = Vec::with_capacity(words.len() / bounded(parameters.scale));
        let largest = parameters.largest();
        circular_grams(words, bounded(parameters.k), |gram| {
            if gram <= largest {
                grams.push(gram);
            }
        });
        ScaledSketch::of_sample(parameters, grams)
    }

    /// Computes the sketch of a set of gram hashes, in any order and with any repetitions.
    pub fn of_grams(parameters: ScaledParameters, grams: &[u64]) -> Self {
        let largest = parameters.largest();
        let small = grams.iter().copied().filter(|&gram| gram <= largest);
        ScaledSketch::of_sample(parameters, small.collect())
    }

    fn of_sample(parameters: ScaledParameters, mut grams: Vec<u64>) -> Self {
        grams.sort_unstable();
        grams.dedup();
        ScaledSketch { parameters, grams }
    }

    /// Its parameters.
    pub fn parameters(&self) -> ScaledParameters {
        self.parameters
    }

    /// The sampled grams, sorted, without repetitions.
    pub fn grams(&self) -> &[u64] {
        &self.grams
    }

    /// Estimates the containment: the share of this text's grams that the other text has.
    ///
    /// The sampling does not depend on the texts, so the estimate is unbiased for texts of any
    /// length. If no gram of this text was sampled, the estimate has no trials.
    pub fn containment(&self, other: &ScaledSketch) -> Result<Estimate, IncompatibleParameters> {
        IncompatibleParameters::check(&self.parameters, &other.parameters)?;
        Ok(Estimate {
            matches: shared(&self.grams, &other.grams) as u64,
            trials: self.grams.len() as u64,
        })
    }

    /// Estimates the resemblance: the share of the grams of either text that are in both.
    pub fn resemblance(&self, other: &ScaledSketch) -> Result<Estimate, IncompatibleParameters> {
        IncompatibleParameters::check(&self.parameters, &other.parameters)?;
        let shared = shared(&self.grams, &other.grams);
        Ok(Estimate {
            matches: shared as u64,
            trials: (self.grams.len() + other.grams.len() - shared) as u64,
        })
    }

    /// The approximate number of distinct grams of the text.
    pub fn distinct_grams(&self) -> u64 {
        self.grams.len() as u64 * bounded(self.parameters.scale) as u64
    }

    /// Returns the sketch of the same text that keeps one gram in `scale`, identical to one made
    /// with that scale. This makes sketches of different scales comparable. Returns `None` if
    /// `scale` is finer than that of this sketch.
    pub fn coarser(&self, scale: u32) -> Option<ScaledSketch> {
        let parameters = ScaledParameters {
            scale,
            ..self.parameters
        };
        (parameters.largest() <= self.parameters.largest())
            .then(|| ScaledSketch::of_grams(parameters, &self.grams))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::gram::finish;

    proptest! {
        #[test]
        fn a_scaled_sketch_is_the_set_of_small_grams(
            words in prop::collection::vec(0u64..30, 0..300), k in 1u32..6, scale in 1u32..9
        ) {
            let parameters = ScaledParameters { k, scale };
            let mut all = BTreeSet::new();
            circular_grams(&words, k as usize, |gram| { all.insert(gram); });
            let small: Vec<u64> = all.into_iter().filter(|gram| u128::from(*gram) * u128::from(scale) <= u128::from(u64::MAX)).collect();
            let sketch = ScaledSketch::of_words(parameters, &words);
            prop_assert_eq!(sketch.grams(), &small[..]);
            let coarser = sketch.coarser(scale + 3).unwrap();
            prop_assert_eq!(coarser, ScaledSketch::of_words(ScaledParameters { k, scale: scale + 3 }, &words));
            prop_assert!(scale == 1 || sketch.coarser(scale - 1).is_none());
        }
    }

    #[test]
    fn estimates_are_unbiased_and_intervals_have_their_coverage() {
        let parameters = ScaledParameters { k: 1, scale: 20 };
        // 100 to 10,000 grams, 30 % of them contained in a text that is longer.
        for size in [100u64, 1_000, 10_000] {
            let (mut sum, mut counted, mut covered) = (0.0, 0, 0);
            for trial in 0..400u64 {
                let base = trial << 32;
                let gram = |number: u64| finish(base + number + 1);
                let ours: Vec<u64> = (0..size).map(gram).collect();
                let theirs: Vec<u64> = (size * 7 / 10..size * 5).map(gram).collect();
                let one = ScaledSketch::of_grams(parameters, &ours);
                let other = ScaledSketch::of_grams(parameters, &theirs);
                let estimate = one.containment(&other).unwrap();
                let Some(value) = estimate.value() else {
                    continue;
                };
                counted += 1;
                sum += value;
                let (low, high) = estimate.interval(0.95);
                covered += u32::from((low..=high).contains(&0.3));
            }
            let mean = sum / f64::from(counted);
            // Four standard deviations of the mean.
            let error = 4.0 * (0.21 / (size as f64 / 20.0) / f64::from(counted)).sqrt();
            assert!((mean - 0.3).abs() < error, "{mean} at {size}");
            assert!(
                f64::from(covered) / f64::from(counted) > 0.93,
                "{covered} of {counted}"
            );
        }
    }

    #[test]
    fn incompatible_and_corrupted_sketches_are_refused() {
        let words: Vec<u64> = (0..2_000).map(finish).collect();
        let sketch = ScaledSketch::of_words(ScaledParameters::default(), &words);
        let finer = ScaledSketch::of_words(ScaledParameters { k: 5, scale: 50 }, &words);
        assert!(sketch.containment(&finer).is_err());
        assert!(sketch.resemblance(&finer.coarser(100).unwrap()).is_ok());
        let json = serde_json::to_string(&sketch).unwrap();
        assert!(json.contains("\"scaled:k=5,s=100\""));
        assert_eq!(serde_json::from_str::<ScaledSketch>(&json).unwrap(), sketch);
        for grams in ["[2,1]", "[1,1]", "[18446744073709551615]"] {
            let damaged = format!("{{\"parameters\":\"scaled:k=5,s=100\",\"grams\":{grams}}}");
            assert!(serde_json::from_str::<ScaledSketch>(&damaged).is_err());
        }
    }
}
