//! The parameters of `phrases`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::copies::CopiesScheme;
use crate::corpus_pages::PageFacts;
use crate::error::{Error, Result};
use crate::names::PageName;

/// The parameters of `phrases`. The defaults are those of the paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhrasesParams {
    /// Words of a phrase; 5.
    pub k: u32,
    /// The minimum number of pages of a popular phrase; 5.
    pub min_pages: u32,
    /// Whether popularity counts all pages that have a phrase, rather than those from which it was
    /// sampled as one of 84.
    pub exact: bool,
    /// How near-duplicates are found, of which one is kept. `None` keeps all of them.
    pub collapse: Option<CopiesScheme>,
    /// What a site is.
    pub site: SiteKind,
    /// The minimum number of pages of a flagged site; 10.
    pub flag_pages: u64,
    /// The minimum mean number of popular shingles of its pages, of 84; 30.
    pub flag_mean: f64,
    /// The deviation of this number is below this; 15.
    pub flag_deviation: f64,
    /// The minimum number of popular shingles of a covered page; 30.
    pub cover_from: u32,
    /// The maximum number of pages that are covered for each number of popular shingles; 50. `None`
    /// covers all.
    pub cover_pages: Option<u32>,
    /// The maximum number of pages per phrase that are candidates for the cover of a page, foreign
    /// pages first; 256.
    pub candidates: u32,
    /// Which pages of a cover are foreign.
    pub foreign: ForeignBy,
}

impl Default for PhrasesParams {
    fn default() -> PhrasesParams {
        PhrasesParams {
            k: 5,
            min_pages: 5,
            exact: false,
            collapse: Some(CopiesScheme::Resemblance),
            site: SiteKind::Host,
            flag_pages: 10,
            flag_mean: 30.0,
            flag_deviation: 15.0,
            cover_from: 30,
            cover_pages: Some(50),
            candidates: 256,
            foreign: ForeignBy::Both,
        }
    }
}

impl PhrasesParams {
    /// Fails if a parameter is out of range.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::Usage(what));
        if !(1..=100).contains(&self.k) {
            return wrong(format!("a phrase has 1 to 100 words, not {}", self.k));
        }
        if self.min_pages < 2 {
            return wrong(format!(
                "a popular phrase is on at least 2 pages, not {}",
                self.min_pages
            ));
        }
        if !(2..=65_536).contains(&self.candidates) {
            return wrong(format!(
                "the number of candidates per phrase is 2 to 65536, not {}",
                self.candidates
            ));
        }
        if self.flag_mean.is_nan() || self.flag_deviation.is_nan() {
            return wrong("a mean or a deviation is not a number".to_owned());
        }
        Ok(())
    }

    /// Whether any page may be covered.
    pub(super) fn covers(&self) -> bool {
        self.cover_pages != Some(0)
    }
}

/// Which pages of a cover are foreign to the covered page. An unknown domain or address differs
/// from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForeignBy {
    /// Pages of another domain and another address. They are chosen first.
    Both,
    /// Pages of another address, as in the paper's foreign contribution. Pages of another domain
    /// and address are chosen first.
    Ip,
    /// Pages of another domain. They are chosen first.
    Domain,
}

impl ForeignBy {
    /// All values with their names in options.
    pub const ALL: [(&'static str, ForeignBy); 3] = [
        ("both", ForeignBy::Both),
        ("ip", ForeignBy::Ip),
        ("domain", ForeignBy::Domain),
    ];
}

impl FromStr for ForeignBy {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<ForeignBy, String> {
        let found = ForeignBy::ALL.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, by)| by).ok_or_else(|| {
            let names = ForeignBy::ALL.map(|(name, _)| name);
            format!("`{text}` is not one of {}", names.join(", "))
        })
    }
}

impl fmt::Display for ForeignBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = ForeignBy::ALL.into_iter().find(|(_, by)| by == self);
        formatter.pad(found.map_or("", |(name, _)| name))
    }
}

/// What a site is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteKind {
    /// All pages of a host.
    Host,
    /// All pages of a registered domain.
    Domain,
    /// All pages of an IP address.
    Ip,
}

impl SiteKind {
    /// All values with their names in options.
    pub const ALL: [(&'static str, SiteKind); 3] = [
        ("host", SiteKind::Host),
        ("domain", SiteKind::Domain),
        ("ip", SiteKind::Ip),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            SiteKind::Host => "host",
            SiteKind::Domain => "domain",
            SiteKind::Ip => "ip",
        }
    }

    /// The site of a page. A host without a registered domain, such as `localhost`, is a domain.
    pub(super) fn of<'a>(self, facts: &PageFacts<'a>) -> Option<&'a str> {
        match self {
            SiteKind::Host => facts.host,
            SiteKind::Domain => facts.domain.or(facts.host),
            SiteKind::Ip => facts.ip,
        }
    }

    /// The site of a named page.
    pub(super) fn of_name(self, name: &PageName) -> Option<&str> {
        match self {
            SiteKind::Host => name.host.as_deref(),
            SiteKind::Domain => name.domain.as_deref().or(name.host.as_deref()),
            SiteKind::Ip => name.ip.as_deref(),
        }
    }
}

impl FromStr for SiteKind {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<SiteKind, String> {
        let found = SiteKind::ALL.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, kind)| kind).ok_or_else(|| {
            let names = SiteKind::ALL.map(|(name, _)| name);
            format!(
                "`{text}` is not a kind of site: use one of {}",
                names.join(", ")
            )
        })
    }
}

impl fmt::Display for SiteKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_to_the_values_that_print_them() {
        for (name, kind) in SiteKind::ALL {
            assert_eq!(name.parse(), Ok(kind));
            assert_eq!(kind.to_string(), name);
        }
        for (name, by) in ForeignBy::ALL {
            assert_eq!(name.parse(), Ok(by));
            assert_eq!(by.to_string(), name);
        }
        assert!("planet".parse::<SiteKind>().is_err() && "planet".parse::<ForeignBy>().is_err());
        assert!(PhrasesParams::default().check().is_ok());
        let out_of_range = PhrasesParams {
            min_pages: 1,
            ..PhrasesParams::default()
        };
        assert!(out_of_range.check().is_err());
    }
}
