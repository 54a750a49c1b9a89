//! Which part of a page's text is kept: all of it, or what the page is about.
//!
//! A page repeats its site's menus, notices and teasers; to a search for reused text they look like
//! copying from every other page of the site. [`select`] says which ranges of an extracted page's
//! text to keep, [`apply`] makes the text of them. There are three ways to choose, see
//! [`Selection`]:
//!
//! - [`Selection::All`] keeps everything.
//! - [`Selection::Slope`] is the document slope curve of the literature, see [`slope`]: the one
//!   stretch of text with the fewest tags.
//! - [`Selection::Main`] asks the same question of the page's elements instead of its stretches:
//!   which element holds most of the page's running text and least of everything else? What is not
//!   part of the text is then taken out of it: captions, bars of links, comments. It needs no
//!   dictionary and no language; text counts by its bytes, which makes a Chinese character worth
//!   about what it says. On 90 labelled news and blog pages that it was not tuned on, it has an F1
//!   of 0.967, the slope curve 0.878, and all text 0.679; the example `content_score` measures it.
//!
//! A page on which nothing looks like running text (an index, a form, a page of pictures) is kept
//! whole by
//! [`Selection::Main`]: it is better to compare too much than to lose a page without a word. A forum page keeps its posts.
//!
//! ```
//! use cento_text::content::{Selection, apply, select};
//! use cento_text::html::{Extractor, Options};
//!
//! let html = "<nav><a href=/>Home</a> <a href=/shop>Shop</a></nav>
//!     <article><h1>Otters</h1>
//!     <p>Otters sleep on their backs and hold each other by the paw, lest the sea carry one of them away.</p>
//!     <p>They keep a favourite stone in a fold of skin under the arm, and crack shells with it on the chest.</p>
//!     <p>A pelt has more hair to the square centimetre than a person has on the whole head, and it is never wet.</p></article>
//!     <footer><p>All rights reserved. Nothing on this site may be copied, with or without an otter in it.</p></footer>";
//! let mut extractor = Extractor::new();
//! let page = extractor.extract(html, &Options { outline: true });
//!
//! let mut text = String::new();
//! apply(&page.text, &select(page, Selection::Main), &mut text);
//! assert!(text.starts_with("Otters sleep") && text.ends_with("never wet."));
//! ```

use crate::html::Extract;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

mod article;
mod hint;
pub mod slope;

/// How to choose what is kept of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
    /// All selections, in the order of their names' appearance in help texts.
    pub const EVERY: [Selection; 3] = [Selection::All, Selection::Slope, Selection::Main];

    /// Its name, as [`FromStr`] reads it.
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

/// A name that is not one of a [`Selection`].
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

/// The ranges of the page's text that `selection` keeps: ascending, apart from each other, none
/// empty.
///
/// [`Selection::Slope`] and [`Selection::Main`] need the page's outline, see [`Options::outline`];
/// without it, the whole text is kept. The same page gives the same ranges wherever it is read: all
/// arithmetic is in integers.
///
/// [`Options::outline`]: crate::html::Options::outline
#[must_use]
pub fn select(page: &Extract, selection: Selection) -> Vec<Range<usize>> {
    let blocks = match selection {
        Selection::All => None,
        Selection::Slope => slope::window(page).map(|window| vec![window]),
        Selection::Main => article::blocks(&page.outline),
    };
    let ranges = match blocks {
        Some(blocks) => blocks
            .into_iter()
            .filter_map(|blocks| text_of(page, blocks))
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

/// Where the text of a run of blocks begins and ends; whatever parts the blocks from each other is
/// inside.
fn text_of(page: &Extract, blocks: Range<usize>) -> Option<Range<usize>> {
    let blocks = page.outline.blocks.get(blocks)?;
    Some(blocks.first()?.begin as usize..blocks.last()?.end as usize)
}

/// Makes `selected` the text of `ranges`, in their order, with a blank line between one and the
/// next.
///
/// Offsets of what is found later refer to this text. A range that does not lie on character
/// boundaries of `text` is left out.
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
    fn a_selection_reads_its_own_name_and_no_other() {
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
    fn parts_are_set_apart_by_a_blank_line() {
        let mut selected = String::from("what was there before");
        apply("one\ntwo\n\nthree", &[0..3, 4..7, 9..14], &mut selected);
        assert_eq!(selected, "one\n\ntwo\n\nthree");
        apply("", &[], &mut selected);
        assert_eq!(selected, "");
    }

    #[test]
    fn a_range_through_a_character_is_left_out() {
        let mut selected = String::new();
        apply("é1", &[0..1, 2..3, 3..9], &mut selected);
        assert_eq!(selected, "1");
    }
}
