//! What is asked of `discover`.

use cento_labels::{LabelKind, Recipe, StopList};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The paper's threshold of 10⁵ for 40.5 thousand million chunks.
const RATIO: f64 = 2.5e-6;
/// What occurs no more often than this is not frequent, however small the corpus.
const FLOOR: u64 = 5;

/// The threshold that nobody gave: the paper's share of all objects, and 5 at least.
pub fn default_threshold(objects: u64) -> u64 {
    ((objects as f64 * RATIO) as u64).max(FLOOR)
}

/// What becomes a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// What occurs more often than this.
    Threshold(u64),
    /// What occurs most often, so many of them. Of those that occur equally often, the lowest
    /// hashes.
    Top(u64),
    /// Everything of so many bytes at least: the corpus is one of originals.
    Informed(u64),
}

/// The parameters of `discover`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiscoverParams {
    /// What becomes a label.
    pub how: How,
    /// What a label is the hash of.
    pub recipe: Recipe,
    /// What is no label, as hashes, sorted. Only how many there are and what they are together is
    /// written down.
    #[serde(skip)]
    pub stops: Vec<[u8; 16]>,
    /// Which stops these are.
    pub stop_list: StopsUsed,
}

/// Which stop chunks, or stop files, were used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopsUsed {
    /// The version of the list; 0 if it has none.
    pub version: u32,
    /// How many there are.
    pub count: u64,
    /// A hash of all of them.
    pub blake3: String,
}

impl DiscoverParams {
    /// Parameters with a list of stops.
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

    /// Fails if the numbers make no sense.
    pub fn check(&self) -> Result<()> {
        match self.how {
            How::Threshold(0) => Err(Error::Usage(
                "everything occurs more often than 0 times: a threshold of 1 keeps what occurs twice"
                    .to_owned(),
            )),
            How::Top(0) => Err(Error::Usage("the top 0 labels are none".to_owned())),
            _ => Ok(()),
        }
    }

    /// Whether labels are of originals.
    pub fn informed(&self) -> bool {
        matches!(self.how, How::Informed(_))
    }

    /// Whether whole files are labelled.
    pub fn of_files(&self) -> bool {
        self.recipe.of == LabelKind::Files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_labels_what_occurs_more_than_a_hundred_thousand_times() {
        assert_eq!(default_threshold(40_500_000_000), 101_250);
        assert_eq!(default_threshold(1_000_000), 5);
        assert_eq!(default_threshold(0), 5);
    }

    #[test]
    fn numbers_without_sense_are_refused() {
        let with = |how| DiscoverParams::new(how, Recipe::default(), &StopList::built_in());
        for how in [How::Threshold(0), How::Top(0)] {
            assert!(with(how).check().is_err());
        }
        for how in [How::Threshold(1), How::Top(2121), How::Informed(0)] {
            assert!(with(how).check().is_ok());
        }
    }
}
