//! Which of two pages came first, and what the evidence is.
//!
//! The date of a page is its publication date where it states one, else the date it was fetched.
//! Every analysis that names a source, keeps one of several duplicates, or states who copied whom
//! uses this module, so that they do not contradict each other:
//!
//! * [`earlier`] compares two pages by their dates alone. It returns [`Earlier::Unknown`] if a date
//!   is missing, and then no sentence may state who copied whom.
//! * [`Precedence`] is a total order for choosing a representative: dated pages by date, then
//!   undated ones; of equal dates, a URL without tracking parameters before one with; then the
//!   lower page number.
//!
//! ```
//! use cento_find::precedence::{Dates, Earlier, earlier};
//!
//! // Published in 1811.
//! let book = Dates { published: Some(-5_000_000_000_000), fetched: Some(1_700_000_000_000) };
//! let scrape = Dates { published: None, fetched: Some(1_600_000_000_000) };
//! assert_eq!(earlier(book, scrape), Earlier::First);
//! assert_eq!(earlier(book, Dates::default()), Earlier::Unknown);
//! ```

use crate::corpus_pages::PageFacts;
use crate::names::PageName;

/// The dates of a page, in milliseconds since 1970; negative ones are before that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dates {
    /// When it was published, according to the page.
    pub published: Option<i64>,
    /// When it was fetched.
    pub fetched: Option<i64>,
}

/// Which of its dates decides the precedence of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DatedBy {
    /// The publication date.
    Published,
    /// The fetch date.
    Fetched,
}

impl DatedBy {
    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            DatedBy::Published => "published",
            DatedBy::Fetched => "fetched",
        }
    }
}

impl Dates {
    /// Returns the date that decides: of publication, else of fetching.
    pub fn decisive(self) -> Option<(i64, DatedBy)> {
        let published = self.published.map(|date| (date, DatedBy::Published));
        published.or(self.fetched.map(|date| (date, DatedBy::Fetched)))
    }
}

impl From<&PageFacts<'_>> for Dates {
    fn from(facts: &PageFacts<'_>) -> Dates {
        Dates {
            published: facts.published_at,
            fetched: facts.fetched_at,
        }
    }
}

impl From<&PageName> for Dates {
    fn from(name: &PageName) -> Dates {
        Dates {
            published: name.published_at,
            fetched: name.fetched_at,
        }
    }
}

/// Which of two pages is earlier by their dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// The first of the two.
    First,
    /// The second.
    Second,
    /// Both have the same date.
    Same,
    /// At least one has no date.
    Unknown,
}

/// Returns which of two pages is earlier by their dates.
pub fn earlier(first: Dates, second: Dates) -> Earlier {
    match (first.decisive(), second.decisive()) {
        (Some((one, _)), Some((other, _))) => match one.cmp(&other) {
            std::cmp::Ordering::Less => Earlier::First,
            std::cmp::Ordering::Equal => Earlier::Same,
            std::cmp::Ordering::Greater => Earlier::Second,
        },
        _ => Earlier::Unknown,
    }
}

/// The sort key for choosing a representative of several pages: the smallest is kept, and named as
/// the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence {
    /// The decisive date, shifted to be unsigned; the largest number for a page without one.
    pub date: u64,
    /// Whether the URL has tracking parameters.
    pub tracked: bool,
    /// The page's number in the run.
    pub number: u32,
}

impl Precedence {
    /// Returns the precedence of a page.
    pub fn of(facts: &PageFacts<'_>) -> Precedence {
        let date = Dates::from(facts).decisive();
        Precedence {
            date: date.map_or(u64::MAX, |(millis, _)| millis.cast_unsigned() ^ (1 << 63)),
            tracked: has_tracking_parameters(facts.url),
            number: facts.number,
        }
    }
}

/// Query parameters that record where a visitor came from and do not change the page.
const TRACKING: [&str; 14] = [
    "_ga", "dclid", "fbclid", "gclid", "gclsrc", "igshid", "mc_cid", "mc_eid", "mkt_tok",
    "msclkid", "ref", "ref_src", "twclid", "yclid",
];

/// Whether a URL has a query parameter that only tracks visitors: `utm_…`, `fbclid`, `gclid` and
/// the like.
pub fn has_tracking_parameters(url: &str) -> bool {
    let url = url.split_once('#').map_or(url, |(before, _)| before);
    let Some((_, query)) = url.split_once('?') else {
        return false;
    };
    query.split(['&', ';']).any(|parameter| {
        let name = parameter
            .split_once('=')
            .map_or(parameter, |(name, _)| name)
            .to_ascii_lowercase();
        name.starts_with("utm_") || TRACKING.contains(&name.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_before_1970_compare_and_publication_comes_before_fetching() {
        let published = |date| Dates {
            published: Some(date),
            fetched: Some(5),
        };
        assert_eq!(earlier(published(-20), published(-10)), Earlier::First);
        assert_eq!(earlier(published(-10), published(-20)), Earlier::Second);
        assert_eq!(earlier(published(-10), published(-10)), Earlier::Same);
        let fetched = Dates {
            published: None,
            fetched: Some(-15),
        };
        assert_eq!(earlier(published(-10), fetched), Earlier::Second);
        assert_eq!(earlier(fetched, Dates::default()), Earlier::Unknown);
    }

    #[test]
    fn tracking_parameters_are_known_by_name() {
        for url in [
            "https://a.org/x?utm_source=feed",
            "https://a.org/x?id=1&UTM_Campaign=c#top",
            "https://a.org/x?fbclid=abc",
            "https://a.org/x?ref",
        ] {
            assert!(has_tracking_parameters(url), "{url}");
        }
        for url in [
            "https://a.org/x",
            "https://a.org/x?id=1",
            "https://a.org/utm_source=1",
            "https://a.org/x#?utm_source=1",
            "https://a.org/x?preference=1",
        ] {
            assert!(!has_tracking_parameters(url), "{url}");
        }
    }
}
