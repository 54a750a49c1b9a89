//! The parameters of `reuse`.

use cento_fingerprint::Scheme;
use serde::{Deserialize, Serialize};

use super::category::Thresholds;
use super::style::ReuseStyle;
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::overlap::usual_max_pages;

/// From this many pages on, a fingerprint is *frequent*, unless set otherwise.
///
/// The paper finds that pages of real reuse have few siblings (1.3 to 1.7 in C1 to C3 of Table 4),
/// and that pages related by templates and common phrases have dozens.
pub const FREQUENT: u32 = 10;

/// The parameters of `reuse`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReuseParams {
    /// How fingerprints are selected.
    pub scheme: Scheme,
    /// The ranges of containment.
    pub thresholds: Thresholds,
    /// The minimum number of shared fingerprints of a pair.
    pub min_shared: u32,
    /// Fingerprints on more distinct pages than this are ignored; 0 for no limit. If not set,
    /// [`usual_max_pages`] for the corpus.
    pub max_pages: Option<u32>,
    /// The number of distinct pages from which on a fingerprint is frequent, which decides between
    /// real reuse and templates or common phrases.
    pub frequent: u32,
    /// Whether fingerprints of page frames are removed from the pages of their host.
    pub frame: bool,
    /// Whether the pages of the first corpus are compared only with those of the second.
    pub against: bool,
    /// The styles of the rows of the tables; empty for all. The summary counts all styles.
    pub styles: Vec<ReuseStyle>,
}

impl Default for ReuseParams {
    /// Winnowing: shared fingerprints are shared words, and no long shared passage is missed. The
    /// paper prefers `dct` for local reuse, whose fingerprints may coincide by chance.
    fn default() -> ReuseParams {
        ReuseParams::new(Scheme::Winnow { k: 3, w: 10 })
    }
}

impl ReuseParams {
    /// Returns the paper's parameters for a scheme.
    pub fn new(scheme: Scheme) -> ReuseParams {
        ReuseParams {
            scheme,
            thresholds: Thresholds::default(),
            min_shared: 1,
            max_pages: None,
            frequent: FREQUENT,
            frame: false,
            against: false,
            styles: Vec::new(),
        }
    }

    pub(super) fn check(&self, source: &CorpusPages) -> Result<()> {
        let invalid = |why: &str| Err(Error::Usage(why.to_owned()));
        if !self.thresholds.are_valid() {
            return invalid(
                "thresholds must be above 0 and must not ascend: most, considerable, partial",
            );
        }
        if self.min_shared == 0 {
            return invalid("a pair without shared fingerprints is not reuse: the least is 1");
        }
        if self.max_pages == Some(1) {
            return invalid(
                "a limit of 1 page would ignore every shared fingerprint: the least is 2",
            );
        }
        if self.frequent < 3 {
            return invalid(
                "every shared fingerprint is on two pages: frequent ones are on 3 or more",
            );
        }
        if self.against && source.corpora().len() != 2 {
            return invalid("comparing one corpus with another takes two corpora");
        }
        if !source.has_text() {
            let why = "the corpus keeps no text, and fingerprints are computed from text";
            return Err(Error::Unsuitable(why.to_owned()));
        }
        if source.kept() >= super::reuse_rows::MOST_PAGES {
            return Err(Error::TooManyPages(u64::from(source.kept())));
        }
        Ok(())
    }

    /// Whether the tables contain pairs of a style.
    pub(super) fn selects(&self, style: ReuseStyle) -> bool {
        self.styles.is_empty() || self.styles.contains(&style)
    }

    /// Returns the number of pages above which a fingerprint is ignored; 0 for no limit.
    pub fn page_limit(&self, source: &CorpusPages) -> u32 {
        self.page_limit_for(text_bytes(source))
    }

    /// Like [`ReuseParams::page_limit`], for pages with this many bytes of text.
    pub fn page_limit_for(&self, text_bytes: u64) -> u32 {
        let usual = || usual_max_pages(1, self.expected_rows_of(text_bytes));
        self.max_pages.unwrap_or_else(usual)
    }

    /// Returns the approximate sum of the fingerprints of all pages.
    pub(super) fn expected_rows(&self, source: &CorpusPages) -> u64 {
        self.expected_rows_of(text_bytes(source))
    }

    fn expected_rows_of(&self, text_bytes: u64) -> u64 {
        let words = text_bytes / 6;
        match self.scheme {
            Scheme::Mod { p, .. } => words / u64::from(p.max(1)),
            Scheme::Winnow { w, .. } => 2 * words / (u64::from(w) + 1),
            Scheme::Break { p, .. } | Scheme::Dct { p } => words / (2 * u64::from(p.max(1))),
            // `kgram`, and schemes to come.
            _ => words,
        }
    }
}

/// Returns the bytes of the text of all pages.
fn text_bytes(source: &CorpusPages) -> u64 {
    let corpora = source.corpora().iter();
    corpora
        .map(|corpus| corpus.manifest().counts().text_bytes)
        .sum()
}
