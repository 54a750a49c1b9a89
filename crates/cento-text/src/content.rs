//! Main-content selection: which part of a page's text is kept.
//!
//! Menus, notices and teasers are repeated on every page of a site, where a search for reused text
//! would report them as copies. [`select`] returns the ranges of an extracted page's text to keep,
//! and [`apply`] joins them. There are three methods, see [`Selection`]:
//!
//! - [`Selection::All`] keeps everything.
//! - [`Selection::Slope`] is the document slope curve from the literature, see [`slope`]: the
//!   stretch of text with the fewest tags.
//! - [`Selection::Main`] scores each block with a fitted model, and the [`PageType`] decides how
//!   many blocks are content: one article, all posts of a thread, all cards of a listing. On 251
//!   pages of seven types that a model did not see, its mean F1 is 0.789; docs/BENCHMARKS.md has
//!   all results. [`explain`] says why each block is kept or removed.
//!
//! ```
//! use cento_text::content::{Selection, apply, select};
//! use cento_text::html::{Extractor, Options};
//!
//! let html = "<nav><a href=/>Home</a> <a href=/shop>Shop</a></nav>
//!     <article><h1>Otters</h1>
//!     <p>Otters sleep on their backs and hold each other by the paw, lest the sea carry one of
//!     them away.</p>
//!     <p>They keep a favourite stone in a fold of skin under the arm, and crack shells with it
//!     on the chest.</p>
//!     <p>A pelt has more hair to the square centimetre than a person has on the whole head, and
//!     it is never wet.</p></article>
//!     <footer><p>All rights reserved. Nothing on this site may be copied, with or without an
//!     otter in it.</p></footer>";
//! let mut extractor = Extractor::new();
//! let page = extractor.extract(html, &Options { outline: true });
//!
//! let mut text = String::new();
//! apply(&page.text, &select(page, Selection::Main), &mut text);
//! assert!(text.starts_with("Otters sleep") && text.ends_with("never wet."));
//! ```

use crate::html::Extract;
use decide::{BlockDecision, decide};
use page_type::RecognisedType;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use view::PageView;

mod article;
mod decide;
mod described;
pub mod evidence;
mod explain;
mod features;
mod hint;
mod keys;
mod measure;
mod model;
mod names;
mod page_type;
mod phrase;
pub mod slope;
mod view;
mod vocabulary;
mod word_bits;

pub use decide::ContentRule;
pub use explain::{ExplainedBlock, Explanation, explain};
pub use page_type::{PageType, UnknownPageType};

/// A method of main-content selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Selection {
    /// `all`: the whole text.
    #[default]
    All,
    /// `slope`: the lowest-slope window of the document slope curve, as published.
    Slope,
    /// `main`: the main content, by an improved method.
    Main,
}

impl Selection {
    /// All selections, in the order of help texts.
    pub const EVERY: [Selection; 3] = [Selection::All, Selection::Slope, Selection::Main];

    /// Its name, which [`FromStr`] parses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Selection::All => "all",
            Selection::Slope => "slope",
            Selection::Main => "main",
        }
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// The error for an unknown [`Selection`] name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSelection(String);

impl fmt::Display for UnknownSelection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "unknown content selection '{}': expected all, slope or main",
            self.0
        )
    }
}

impl std::error::Error for UnknownSelection {}

impl FromStr for Selection {
    type Err = UnknownSelection;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Selection::EVERY
            .into_iter()
            .find(|selection| selection.name() == name)
            .ok_or_else(|| UnknownSelection(name.to_owned()))
    }
}

/// What is known about the content of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectedContent {
    /// The ranges of the page's text to keep: non-empty, ascending and disjoint.
    pub ranges: Vec<Range<usize>>,
    /// The type of the page; `None` without an outline or text.
    pub page_type: Option<PageType>,
}

/// Returns the ranges of the page's text that `selection` keeps: non-empty, ascending and disjoint.
///
/// [`Selection::Slope`] and [`Selection::Main`] need the page's outline, see [`Options::outline`];
/// without it, the whole text is kept. The result is the same on every machine: all arithmetic uses
/// integers.
///
/// [`Options::outline`]: crate::html::Options::outline
#[must_use]
pub fn select(page: &Extract, selection: Selection) -> Vec<Range<usize>> {
    match selection {
        Selection::Main => analyse(page, selection).ranges,
        Selection::Slope => ranges_of(page, slope::window(page).map(|window| vec![window])),
        Selection::All => ranges_of(page, None),
    }
}

/// Like [`select`], and recognises the type of the page.
#[must_use]
pub fn analyse(page: &Extract, selection: Selection) -> SelectedContent {
    let view = PageView::new(page);
    let recognised = RecognisedType::of(&view);
    let page_type = recognised.map(|recognised| recognised.page_type);
    let ranges = match selection {
        Selection::Main => {
            let kept = recognised.map(|recognised| kept_runs(&decide(&view, &recognised)));
            ranges_of(page, kept)
        }
        _ => select(page, selection),
    };
    SelectedContent { ranges, page_type }
}

/// The runs of kept blocks.
fn kept_runs(decisions: &[BlockDecision]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (index, _) in decisions
        .iter()
        .enumerate()
        .filter(|(_, decision)| decision.is_kept())
    {
        match runs.last_mut() {
            Some(run) if run.end == index => run.end = index + 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs
}

/// The text of runs of blocks; all text if there are none.
fn ranges_of(page: &Extract, runs: Option<Vec<Range<usize>>>) -> Vec<Range<usize>> {
    let ranges = match runs {
        Some(runs) => runs
            .into_iter()
            .filter_map(|run| text_of(page, run))
            .collect(),
        None => {
            let whole = 0..page.text.len();
            vec![whole]
        }
    };
    debug_assert!(
        ranges.is_sorted_by(|one, next| one.end <= next.start),
        "{ranges:?}"
    );
    ranges
        .into_iter()
        .filter(|range| !range.is_empty())
        .collect()
}

/// The text range of a run of blocks, including the separators between them.
fn text_of(page: &Extract, blocks: Range<usize>) -> Option<Range<usize>> {
    let blocks = page.outline.blocks.get(blocks)?;
    Some(blocks.first()?.begin as usize..blocks.last()?.end as usize)
}

/// Replaces `selected` with the text of `ranges`, in order, separated by blank lines.
///
/// Later offsets refer to this text. A range that is not on character boundaries of `text` is
/// skipped.
pub fn apply(text: &str, ranges: &[Range<usize>], selected: &mut String) {
    selected.clear();
    for part in ranges.iter().filter_map(|range| text.get(range.clone())) {
        if !selected.is_empty() && !part.is_empty() {
            selected.push_str("\n\n");
        }
        selected.push_str(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_parses_its_name_only() {
        for selection in Selection::EVERY {
            assert_eq!(selection.to_string().parse(), Ok(selection));
        }
        let error = "Main"
            .parse::<Selection>()
            .expect_err("names are lower case");
        assert_eq!(
            error.to_string(),
            "unknown content selection 'Main': expected all, slope or main"
        );
    }

    #[test]
    fn parts_are_separated_by_a_blank_line() {
        let mut selected = String::from("what was there before");
        apply("one\ntwo\n\nthree", &[0..3, 4..7, 9..14], &mut selected);
        assert_eq!(selected, "one\n\ntwo\n\nthree");
        apply("", &[], &mut selected);
        assert_eq!(selected, "");
    }

    #[test]
    fn a_range_that_splits_a_character_is_skipped() {
        let mut selected = String::new();
        apply("é1", &[0..1, 2..3, 3..9], &mut selected);
        assert_eq!(selected, "1");
    }
}
