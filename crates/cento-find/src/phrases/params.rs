//! What is asked of `phrases`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::copies::CopiesScheme;
use crate::corpus_pages::PageFacts;
use crate::error::{Error, Result};
use crate::names::PageName;

/// The parameters of `phrases`. Defaults are those of the paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhrasesParams {
    /// Words of a phrase; 5.
    pub k: u32,
    /// A phrase is popular on so many pages; 5.
    pub min_pages: u32,
    /// Whether a phrase is popular by all pages that have it, rather than by those that it was
    /// sampled from as one of 84.
    pub exact: bool,
    /// How near-copies are found, of which one stays; `None` leaves all of them in.
    pub collapse: Option<CopiesScheme>,
    /// What a site is.
    pub site: SiteKind,
    /// A site is flagged if it has so many pages; 10.
    pub flag_pages: u64,
    /// And so many popular shingles a page, of 84, on average; 30.
    pub flag_mean: f64,
    /// And if their deviation is less than this; 15.
    pub flag_deviation: f64,
    /// Pages with so many popular shingles may be covered; 30.
    pub cover_from: u32,
    /// How many pages are covered for each number of popular shingles; 50. `None` covers all of
    /// them.
    pub cover_pages: Option<u32>,
    /// The most pages of one phrase that are candidates for the cover of a page, foreign ones
    /// first; 256.
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
    /// Fails if the numbers make no sense.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::Usage(what));
        if !(1..=100).contains(&self.k) {
            return wrong(format!(
                "phrases of {} words are not between 1 and 100",
                self.k
            ));
        }
        if self.min_pages < 2 {
            return wrong(format!(
                "a phrase on {} pages is not popular: at least 2",
                self.min_pages
            ));
        }
        if !(2..=65_536).contains(&self.candidates) {
            return wrong(format!(
                "{} candidates for each phrase are not between 2 and 65536",
                self.candidates
            ));
        }
        if self.flag_mean.is_nan() || self.flag_deviation.is_nan() {
            return wrong("a mean or a deviation is no number".to_owned());
        }
        Ok(())
    }

    /// Whether any page may be covered.
    pub(super) fn covers(&self) -> bool {
        self.cover_pages != Some(0)
    }
}

/// Which pages of a cover are foreign to the page that is covered. A domain or an address that is
/// not known is not the same as any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForeignBy {
    /// Those of another domain and of another address; they are also the ones that are taken first.
    Both,
    /// Those of another address, as the paper counts its foreign contribution. Pages of another
    /// domain and address are taken first.
    Ip,
    /// Those of another domain; they are also the ones that are taken first.
    Domain,
}

impl ForeignBy {
    /// All of them, by the names that people use.
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
    /// All pages from one address of a server.
    Ip,
}

impl SiteKind {
    /// All of them, by the names that people use.
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

    /// The site of a page. A host of no registered domain, such as `localhost`, is its own.
    pub(super) fn of<'a>(self, facts: &PageFacts<'a>) -> Option<&'a str> {
        match self {
            SiteKind::Host => facts.host,
            SiteKind::Domain => facts.domain.or(facts.host),
            SiteKind::Ip => facts.ip,
        }
    }

    /// The same for a page that is known by its name.
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
                "`{text}` is no kind of site: there are {}",
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
    fn names_read_back_and_nonsense_is_refused() {
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
        let lonely = PhrasesParams {
            min_pages: 1,
            ..PhrasesParams::default()
        };
        assert!(lonely.check().is_err());
    }
}
