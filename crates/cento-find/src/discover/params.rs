//! The parameters of `discover`.

use cento_labels::{LabelKind, Recipe, StopList};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The paper's threshold of 10⁵ for 40.5 thousand million chunks.
const RATIO: f64 = 2.5e-6;
/// The smallest default threshold.
const FLOOR: u64 = 5;

/// Returns the default threshold: the paper's share of all objects, but at least 5.
pub fn default_threshold(objects: u64) -> u64 {
    ((objects as f64 * RATIO) as u64).max(FLOOR)
}

/// Which objects become labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Objects that occur more often than this.
    Threshold(u64),
    /// This number of the most frequent objects. Ties go to the lowest hashes.
    Top(u64),
    /// Every object of at least this many bytes, in a corpus of originals.
    Informed(u64),
}

/// The parameters of `discover`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiscoverParams {
    /// Which objects become labels.
    pub how: How,
    /// What a label is the hash of.
    pub recipe: Recipe,
    /// The sorted hashes of the stop list. Only their number and a hash of all of them are
    /// recorded.
    #[serde(skip)]
    pub stops: Vec<[u8; 16]>,
    /// The identity of the stop list.
    pub stop_list: StopsUsed,
}

/// The identity of a stop list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopsUsed {
    /// The version of the list; 0 if it has none.
    pub version: u32,
    /// The number of hashes.
    pub count: u64,
    /// A hash of all hashes.
    pub blake3: String,
}

impl DiscoverParams {
    /// Returns parameters with a stop list.
    pub fn new(how: How, recipe: Recipe, list: &StopList) -> DiscoverParams {
        let stops = list.hashes(&recipe);
        let mut hasher = blake3::Hasher::new();
        for stop in &stops {
            hasher.update(stop);
        }
        DiscoverParams {
            how,
            recipe,
            stop_list: StopsUsed {
                version: list.version,
                count: stops.len() as u64,
                blake3: hasher.finalize().to_hex().to_string(),
            },
            stops,
        }
    }

    /// Fails if a parameter is out of range.
    pub fn check(&self) -> Result<()> {
        match self.how {
            How::Threshold(0) => Err(Error::Usage(
                "every object occurs more often than 0 times: the smallest threshold is 1"
                    .to_owned(),
            )),
            How::Top(0) => Err(Error::Usage(
                "--most-frequent 0 selects no labels".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// Whether labels are taken from originals.
    pub fn informed(&self) -> bool {
        matches!(self.how, How::Informed(_))
    }

    /// Whether labels are whole files.
    pub fn of_files(&self) -> bool {
        self.recipe.of == LabelKind::Files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_threshold_is_that_of_the_paper_for_its_corpus() {
        assert_eq!(default_threshold(40_500_000_000), 101_250);
        assert_eq!(default_threshold(1_000_000), 5);
        assert_eq!(default_threshold(0), 5);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let with = |how| DiscoverParams::new(how, Recipe::default(), &StopList::built_in());
        for how in [How::Threshold(0), How::Top(0)] {
            assert!(with(how).check().is_err());
        }
        for how in [How::Threshold(1), How::Top(2121), How::Informed(0)] {
            assert!(with(how).check().is_ok());
        }
    }
}
