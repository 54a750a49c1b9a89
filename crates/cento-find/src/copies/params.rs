//! The parameters of `copies`.

use std::fmt;
use std::str::FromStr;

use cento_fingerprint::Bands;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The number of minima of a sketch, as in the paper.
pub const MINIMA: u32 = 84;
/// The least probability that a pair of the given resemblance becomes a candidate.
const CERTAINTY: f64 = 0.98;

/// The parameters of `copies`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopiesParams {
    /// The least resemblance of near-duplicates; 0.8. With 1 only exact duplicates are found.
    pub resemblance: f64,
    /// Words of a gram; 5.
    pub k: u32,
    /// How near-duplicates are found.
    pub scheme: CopiesScheme,
    /// Which page of a class is kept.
    pub keep: Keep,
    /// Whether pages of the second corpus are compared with those of the first only.
    pub against: bool,
}

impl Default for CopiesParams {
    fn default() -> CopiesParams {
        CopiesParams {
            resemblance: 0.8,
            k: 5,
            scheme: CopiesScheme::Resemblance,
            keep: Keep::Earliest,
            against: false,
        }
    }
}

/// How near-duplicates are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopiesScheme {
    /// Bands of a sketch select candidates, and the true resemblance of their grams is computed.
    Resemblance,
    /// The rule of Fetterly et al.: two of six megashingles agree. Not verified; classes are the
    /// transitive closure.
    Megashingle,
}

/// Which of several similar pages is kept: the first in this order; of equals, the one with the
/// lowest id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// The first in the corpus.
    First,
    /// The one with the most words.
    Longest,
    /// The earliest by [`Precedence`](crate::precedence::Precedence): by publication date, else by
    /// fetch date; pages without dates last; of the same date, a URL without tracking parameters
    /// first.
    Earliest,
    /// The one with the shortest URL.
    ShortestUrl,
}

impl Keep {
    /// All values, with their names on the command line.
    pub const ALL: [(&'static str, Keep); 4] = [
        ("first", Keep::First),
        ("longest", Keep::Longest),
        ("earliest", Keep::Earliest),
        ("shortest-url", Keep::ShortestUrl),
    ];
}

impl CopiesScheme {
    /// All values, with their names on the command line.
    pub const ALL: [(&'static str, CopiesScheme); 2] = [
        ("resemblance", CopiesScheme::Resemblance),
        ("megashingle", CopiesScheme::Megashingle),
    ];
}

macro_rules! named {
    ($type:ty, $what:literal) => {
        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> std::result::Result<Self, String> {
                let found = Self::ALL.into_iter().find(|(name, _)| *name == text);
                found.map(|(_, value)| value).ok_or_else(|| {
                    let names = Self::ALL.map(|(name, _)| name);
                    format!(
                        "`{text}` is not a {}: use one of {}",
                        $what,
                        names.join(", ")
                    )
                })
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                let found = Self::ALL.into_iter().find(|(_, value)| value == self);
                formatter.pad(found.map_or("", |(name, _)| name))
            }
        }
    };
}

named!(Keep, "rule for the page to keep");
named!(CopiesScheme, "scheme for near-duplicates");

impl CopiesParams {
    /// Fails if a parameter is out of range.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::Usage(what));
        if !(0.1..=1.0).contains(&self.resemblance) {
            return wrong(format!(
                "the resemblance {} is not between 0.1 and 1",
                self.resemblance
            ));
        }
        if !(1..=100).contains(&self.k) {
            return wrong(format!("k = {} is not between 1 and 100", self.k));
        }
        Ok(())
    }

    /// Whether near-duplicates are searched.
    pub fn near(&self) -> bool {
        self.scheme == CopiesScheme::Megashingle || self.resemblance < 1.0
    }

    /// Returns the bands that select candidates.
    pub fn bands(&self) -> Bands {
        match self.scheme {
            CopiesScheme::Megashingle => Bands::MEGASHINGLES,
            CopiesScheme::Resemblance => bands_for(self.resemblance),
        }
    }
}

/// Returns the largest bands, and hence the fewest false candidates, for which a pair of this
/// resemblance becomes a candidate with a probability of 98 %.
pub fn bands_for(resemblance: f64) -> Bands {
    (1..=MINIMA)
        .rev()
        .map(|size| Bands {
            count: MINIMA / size,
            size,
        })
        .find(|bands| bands.probability(resemblance, 1) >= CERTAINTY)
        .unwrap_or(Bands {
            count: MINIMA,
            size: 1,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_derived_for_any_resemblance() {
        assert_eq!(bands_for(0.8), Bands::CANDIDATES);
        assert_eq!(bands_for(0.8).to_string(), "14x6");
        for percent in 10..=100 {
            let resemblance = f64::from(percent) / 100.0;
            let bands = bands_for(resemblance);
            assert!(bands.count * bands.size <= MINIMA);
            assert!(
                bands.probability(resemblance, 1) >= 0.98,
                "{resemblance}: {bands}"
            );
            // The next larger bands would not suffice.
            let size = bands.size + 1;
            let larger = Bands {
                count: MINIMA / size,
                size,
            };
            assert!(
                size > MINIMA || larger.probability(resemblance, 1) < 0.98 || MINIMA / size == 0
            );
        }
    }

    #[test]
    fn names_parse_back_to_their_values() {
        for (name, keep) in Keep::ALL {
            assert_eq!(name.parse(), Ok(keep));
            assert_eq!(keep.to_string(), name);
        }
        assert!("tallest".parse::<Keep>().is_err());
        assert_eq!("megashingle".parse(), Ok(CopiesScheme::Megashingle));
    }
}
