//! The parameters of `quilts`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};

/// The largest m: the pages of a patch gram are counted in 16 bits.
pub const MOST_PAGES: u32 = 65_535;

/// The parameters of `quilts`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuiltsParams {
    /// Words of a gram; 5.
    pub k: u32,
    /// A gram on more pages than this is common and not a patch gram; 50.
    pub m: u32,
    /// The minimum number of sources of a quilt; 4.
    pub c: u32,
    /// The minimum share of patch grams among the grams of a quilt; 0.5.
    pub theta: f64,
    /// Which pages can be sources.
    pub foreign: Foreign,
    /// Sources that add a smaller share of the patch grams are not counted; 0. The φ of the paper's
    /// last section.
    pub min_share: f64,
    /// Whether duplicates and near-duplicates are removed first.
    pub collapse: bool,
}

impl Default for QuiltsParams {
    fn default() -> QuiltsParams {
        QuiltsParams {
            k: 5,
            m: 50,
            c: 4,
            theta: 0.5,
            foreign: Foreign::Domain,
            min_share: 0.0,
            collapse: false,
        }
    }
}

/// What the paper calls a *server*: a page and its sources are on different ones. A page whose
/// server is unknown is foreign to all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Foreign {
    /// The registered domain, or the host if it has none.
    Domain,
    /// The host.
    Host,
    /// The IP address.
    Ip,
    /// Every other page can be a source.
    None,
}

impl Foreign {
    /// All values with their names in options.
    pub const ALL: [(&'static str, Foreign); 4] = [
        ("domain", Foreign::Domain),
        ("host", Foreign::Host),
        ("ip", Foreign::Ip),
        ("none", Foreign::None),
    ];
}

impl FromStr for Foreign {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Foreign, String> {
        let found = Foreign::ALL.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| value).ok_or_else(|| {
            let names = Foreign::ALL.map(|(name, _)| name);
            format!(
                "`{text}` does not identify servers: use one of {}",
                names.join(", ")
            )
        })
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Foreign::ALL.into_iter().find(|(_, value)| value == self);
        formatter.pad(found.map_or("", |(name, _)| name))
    }
}

impl QuiltsParams {
    /// Fails if a parameter is out of range.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::Usage(what));
        if !(1..=100).contains(&self.k) {
            return wrong(format!("k = {} is not between 1 and 100", self.k));
        }
        if !(2..=MOST_PAGES).contains(&self.m) {
            return wrong(format!("m = {} is not between 2 and {MOST_PAGES}", self.m));
        }
        if self.c == 0 {
            return wrong("c = 0: a quilt has at least one source".to_owned());
        }
        if !(self.theta > 0.0 && self.theta <= 1.0) {
            return wrong(format!(
                "theta = {} is not above 0 and at most 1",
                self.theta
            ));
        }
        if !(0.0..=1.0).contains(&self.min_share) {
            return wrong(format!(
                "a minimum share of {} is not between 0 and 1",
                self.min_share
            ));
        }
        Ok(())
    }
}

/// The parameters of one `k`: a single pass over the texts serves every (m, c, θ).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Level {
    pub(super) k: u32,
    /// The values of m, ascending.
    pub(super) ms: Vec<u32>,
    pub(super) points: Vec<SweepPoint>,
    pub(super) min_share: f64,
    pub(super) foreign: Foreign,
    /// Whether a filter keeps grams that occur once out of the shuffle.
    pub(super) filtered: bool,
    /// Whether quilts are listed, or only counted.
    pub(super) findings: bool,
    /// The identity of the corpus: a flow must not be resumed over a different corpus.
    pub(super) source: Value,
}

/// One definition of a quilt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct SweepPoint {
    /// Its number among all points.
    pub(super) number: u32,
    /// The index of its m.
    pub(super) m: usize,
    pub(super) c: u32,
    pub(super) theta: f64,
}

impl Level {
    /// The name of a stage, state or shuffle of this level.
    pub(super) fn name(&self, part: &str) -> String {
        format!("{part} {}", self.k)
    }

    /// The largest number of pages of a patch gram.
    pub(super) fn most(&self) -> usize {
        self.ms.last().map_or(0, |&m| m as usize)
    }

    /// The smallest m for which a gram on this many pages is a patch gram; 0 if there is none.
    pub(super) fn least_m(&self, pages: usize) -> u32 {
        let at = self.ms.partition_point(|&m| (m as usize) < pages);
        self.ms.get(at).copied().unwrap_or(0)
    }
}

/// Whether a page has enough patch grams: the same division as in the paper's program.
pub(super) fn is_patchy(patch: u64, grams: u64, theta: f64) -> bool {
    grams > 0 && patch as f64 / grams as f64 >= theta
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_to_the_values_that_print_them() {
        for (name, foreign) in Foreign::ALL {
            assert_eq!(name.parse(), Ok(foreign));
            assert_eq!(foreign.to_string(), name);
        }
        assert!("planet".parse::<Foreign>().is_err());
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let good = QuiltsParams::default();
        assert!(good.check().is_ok());
        for bad in [
            QuiltsParams {
                k: 0,
                ..good.clone()
            },
            QuiltsParams {
                m: 1,
                ..good.clone()
            },
            QuiltsParams {
                m: MOST_PAGES + 1,
                ..good.clone()
            },
            QuiltsParams {
                c: 0,
                ..good.clone()
            },
            QuiltsParams {
                theta: 0.0,
                ..good.clone()
            },
            QuiltsParams {
                theta: f64::NAN,
                ..good.clone()
            },
            QuiltsParams {
                min_share: 1.5,
                ..good
            },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
