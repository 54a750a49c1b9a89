//! What is asked of `copies`.

use std::fmt;
use std::str::FromStr;

use cento_fingerprint::Bands;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Minima of a sketch, as in the paper.
pub const MINIMA: u32 = 84;
/// A pair at the wanted resemblance is a candidate with this probability at least.
const CERTAINTY: f64 = 0.98;

/// The parameters of `copies`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopiesParams {
    /// Pages that resemble each other by so much are near-copies; 0.8. With 1 only exact copies are
    /// looked for.
    pub resemblance: f64,
    /// Words of a gram; 5.
    pub k: u32,
    /// How near-copies are found.
    pub scheme: CopiesScheme,
    /// Which page of a class stays.
    pub keep: Keep,
    /// Whether the second corpus is compared with the first, rather than both with each other.
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

/// How near-copies are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopiesScheme {
    /// Candidates by bands of a sketch, each verified by the true resemblance of its grams.
    Resemblance,
    /// The rule of Fetterly et al.: two of six megashingles agree; not verified; classes are the
    /// transitive closure.
    Megashingle,
}

/// Which page of several stays: the first by this order, and of equals the one with the lowest id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// In the order of the corpus.
    First,
    /// The one with the most words.
    Longest,
    /// The earliest by [`Precedence`](crate::precedence::Precedence): by publication date, else by
    /// fetch date; pages without dates last; of the same date, a URL without tracking parameters
    /// first.
    Earliest,
    /// The one with the shortest address.
    ShortestUrl,
}

impl Keep {
    /// All of them, by the names that people use.
    pub const ALL: [(&'static str, Keep); 4] = [
        ("first", Keep::First),
        ("longest", Keep::Longest),
        ("earliest", Keep::Earliest),
        ("shortest-url", Keep::ShortestUrl),
    ];
}

impl CopiesScheme {
    /// All of them, by the names that people use.
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
                    format!("`{text}` is no {}: there are {}", $what, names.join(", "))
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

named!(Keep, "order of pages");
named!(CopiesScheme, "way to find near-copies");

impl CopiesParams {
    /// Fails if the numbers make no sense.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::Usage(what));
        if !(0.1..=1.0).contains(&self.resemblance) {
            return wrong(format!(
                "a resemblance of {} is not between 0.1 and 1",
                self.resemblance
            ));
        }
        if !(1..=100).contains(&self.k) {
            return wrong(format!(
                "grams of {} words are not between 1 and 100",
                self.k
            ));
        }
        Ok(())
    }

    /// Whether near-copies are looked for at all.
    pub fn near(&self) -> bool {
        self.scheme == CopiesScheme::Megashingle || self.resemblance < 1.0
    }

    /// The bands by which candidates meet.
    pub fn bands(&self) -> Bands {
        match self.scheme {
            CopiesScheme::Megashingle => Bands::MEGASHINGLES,
            CopiesScheme::Resemblance => bands_for(self.resemblance),
        }
    }
}

/// The largest bands, hence the fewest chance meetings, that let a pair of this resemblance meet
/// with a probability of 98 %.
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
            // The next larger ones would not do.
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
    fn names_read_back() {
        for (name, keep) in Keep::ALL {
            assert_eq!(name.parse(), Ok(keep));
            assert_eq!(keep.to_string(), name);
        }
        assert!("tallest".parse::<Keep>().is_err());
        assert_eq!("megashingle".parse(), Ok(CopiesScheme::Megashingle));
    }
}
