//! What is asked of `quilts`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};

/// Grams of more pages than this cannot be patches: lists of pages are counted in 16 bits.
pub const MOST_PAGES: u32 = 65_535;

/// The parameters of `quilts`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuiltsParams {
    /// Words of a gram; 5.
    pub k: u32,
    /// A gram on more pages than this is common, and no patch; 50.
    pub m: u32,
    /// A quilt has at least so many sources; 4.
    pub c: u32,
    /// At least this share of a quilt's grams are patch grams; 0.5.
    pub theta: f64,
    /// Which pages can be sources.
    pub foreign: Foreign,
    /// Sources that add a smaller share of the patch grams do not count; 0. The φ of the paper's
    /// last section.
    pub min_share: f64,
    /// Whether copies and near-copies are left out first.
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

/// What a source must not share with the page: the paper's *server*. A page of which it is not
/// known is foreign to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Foreign {
    /// The registered domain; the host where there is none.
    Domain,
    /// The host.
    Host,
    /// The address of the server.
    Ip,
    /// Nothing: all other pages can be sources.
    None,
}

impl Foreign {
    /// All of them, by the names that people use.
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
                "`{text}` tells no servers apart: there are {}",
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
    /// Fails if the numbers make no sense.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::Usage(what));
        if !(1..=100).contains(&self.k) {
            return wrong(format!(
                "grams of {} words are not between 1 and 100",
                self.k
            ));
        }
        if !(2..=MOST_PAGES).contains(&self.m) {
            return wrong(format!("m = {} is not between 2 and {MOST_PAGES}", self.m));
        }
        if self.c == 0 {
            return wrong("a quilt has at least one source: c must not be 0".to_owned());
        }
        if !(self.theta > 0.0 && self.theta <= 1.0) {
            return wrong(format!(
                "a patch fraction of {} is not above 0 and at most 1",
                self.theta
            ));
        }
        if !(0.0..=1.0).contains(&self.min_share) {
            return wrong(format!(
                "a share of {} is not between 0 and 1",
                self.min_share
            ));
        }
        Ok(())
    }
}

/// All that is asked for one `k`: one pass over the texts answers every (m, c, θ).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Level {
    pub(super) k: u32,
    /// The values of m, ascending.
    pub(super) ms: Vec<u32>,
    pub(super) points: Vec<Point>,
    pub(super) min_share: f64,
    pub(super) foreign: Foreign,
    /// Whether grams that occur once are kept out of the shuffle by a filter.
    pub(super) filtered: bool,
    /// Whether quilts are wanted one by one, or only counted.
    pub(super) findings: bool,
    /// What is read, so that a run over other pages is another one.
    pub(super) source: Value,
}

/// One definition of a quilt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Point {
    /// Which of all points it is.
    pub(super) number: u32,
    /// Where in the values of m.
    pub(super) m: usize,
    pub(super) c: u32,
    pub(super) theta: f64,
}

impl Level {
    /// The name of a state or a shuffle of this level.
    pub(super) fn name(&self, what: &str) -> String {
        format!("{what} {}", self.k)
    }

    /// The largest number of pages of a patch gram.
    pub(super) fn most(&self) -> usize {
        self.ms.last().map_or(0, |&m| m as usize)
    }
}

/// Whether so many patch grams are enough: the same division as in the paper's program.
pub(super) fn is_patchy(patch: u64, grams: u64, theta: f64) -> bool {
    grams > 0 && patch as f64 / grams as f64 >= theta
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for (name, foreign) in Foreign::ALL {
            assert_eq!(name.parse(), Ok(foreign));
            assert_eq!(foreign.to_string(), name);
        }
        assert!("planet".parse::<Foreign>().is_err());
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
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
