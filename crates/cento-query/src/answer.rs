//! What a query asks for, and its answer.

use std::ops::Range;

use cento_find::reuse::{Category, Thresholds};
use serde::{Serialize, Serializer};

use crate::error::Error;

/// The settings of a query. The defaults are those of `cento reuse`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuerySettings {
    /// The ranges of containment.
    pub thresholds: Thresholds,
    /// The minimum number of shared fingerprints of a match.
    pub min_shared: u32,
    /// Fingerprints on more distinct pages than this are ignored; 0 for no limit. If not set, the
    /// default of `cento reuse` for the corpus and the query.
    pub max_pages: Option<u32>,
    /// The number of matches to return, best first; 0 for all.
    pub top: usize,
    /// Whether to locate the shared text of the returned matches, which reads their texts.
    pub passages: bool,
}

impl Default for QuerySettings {
    fn default() -> QuerySettings {
        QuerySettings {
            thresholds: Thresholds::default(),
            min_shared: 1,
            max_pages: None,
            top: 10,
            passages: true,
        }
    }
}

impl QuerySettings {
    /// Fails if the settings contradict each other, as those of `cento reuse` do.
    pub fn check(&self) -> crate::Result<()> {
        let invalid = |why: &str| Err(Error::Usage(why.to_owned()));
        if !self.thresholds.are_valid() {
            return invalid(
                "thresholds must be above 0 and must not ascend: most, considerable, partial",
            );
        }
        if self.min_shared == 0 {
            return invalid("a page without shared fingerprints is no match: the least is 1");
        }
        if self.max_pages == Some(1) {
            return invalid(
                "a limit of 1 page would ignore every shared fingerprint: the least is 2",
            );
        }
        Ok(())
    }
}

/// The pages that share text with a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// Distinct fingerprints of the query. A text of too few words has none.
    pub fingerprints: u32,
    /// Those that are on more than `max_pages` distinct pages, the query included. They are ignored
    /// in all counts of matches.
    pub ignored: u32,
    /// The limit; 0 for no limit.
    pub max_pages: u32,
    /// All matching pages, of which `matches` has the best.
    pub pages: u64,
    /// The number of matching pages of each category.
    pub categories: Vec<CategoryPages>,
    /// The best matches: by category, then by the larger containment.
    pub matches: Vec<PageMatch>,
}

/// The number of matching pages of a category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CategoryPages {
    /// The category.
    #[serde(serialize_with = "by_name")]
    pub category: Category,
    /// The number of pages.
    pub pages: u64,
}

/// A page that shares text with the query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PageMatch {
    /// The id of the page.
    pub page_id: u64,
    /// Its URL.
    pub url: String,
    /// The category of the pair.
    #[serde(serialize_with = "by_name")]
    pub category: Category,
    /// Whether the page has the same set of fingerprints as the query.
    pub identical: bool,
    /// Distinct fingerprints that both have.
    pub shared: u32,
    /// Distinct fingerprints of the query, without ignored ones.
    pub query_fingerprints: u32,
    /// Distinct fingerprints of the page, without ignored ones.
    pub page_fingerprints: u32,
    /// The share of the query's fingerprints found in the page.
    pub query_containment: f64,
    /// The share of the page's fingerprints found in the query.
    pub page_containment: f64,
    /// Shared text, in the order of the query.
    pub passages: Vec<SharedPassage>,
}

/// Text that a query and a page share: the same words on both sides, apart from case and
/// punctuation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SharedPassage {
    /// The bytes of the query.
    pub query: Range<usize>,
    /// The bytes of the text of the page.
    pub page: Range<usize>,
    /// The number of words.
    pub words: u32,
}

/// Writes the name of a category as tables show it: `C1` to `C6`, or `one-sided`.
fn by_name<S: Serializer>(category: &Category, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(category.name())
}
