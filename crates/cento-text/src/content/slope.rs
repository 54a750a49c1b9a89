//! The document slope curve, as published.
//!
//! Finn et al. (2001) and Seo and Croft (2008, equation 9) read a page as a sequence of tokens,
//! each a tag or a word, and define
//!
//! ```text
//! DSC[0] = 0        DSC[k] = DSC[k-1] + 1 if token k is a tag, else DSC[k-1]
//!
//!  DSC                                      ___/   ← footer: tags, steep
//!                    ______________________/
//!        ___________/   ← the text: few tags, nearly level
//!      _/
//!  ___/   ← navigation: tags, steep
//!  ─────────────────────────────────────────────── k
//! ```
//!
//! The content is the area with the lowest slope. Following Finn et al., it is the window that
//! maximises the sum of *tags before it, words in it, and tags after it*. This is a sum over
//! tokens, so the best window is a maximum-sum segment and is found in one pass.
//!
//! A window consists of whole blocks here, because a window that starts in mid-sentence at a link
//! is not useful. This is the baseline for [`Selection::Main`](super::Selection::Main).

use crate::html::Extract;
use std::ops::Range;

/// A block of text on the slope curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlopePoint {
    /// The value of the curve at the start of the block: the number of tags before it. It never
    /// decreases from one block to the next.
    pub before: u64,
    /// The number of words in the block.
    pub words: u64,
    /// The number of tags inside the block.
    pub inside: u64,
}

/// Returns the lowest-slope window: the range of `points` that maximises *tags before + words
/// inside + tags after*, on a page with `tags` tags.
///
/// On ties, the window that ends first is chosen, and among those the one that begins first.
/// Returns `None` if there are no points.
///
/// ```
/// use cento_text::content::slope::{SlopePoint, best_window};
///
/// let menu = SlopePoint { before: 5, words: 2, inside: 6 };
/// let text = SlopePoint { before: 20, words: 300, inside: 10 };
/// let more = SlopePoint { before: 32, words: 80, inside: 0 };
/// let foot = SlopePoint { before: 60, words: 9, inside: 4 };
/// assert_eq!(best_window(&[menu, text, more, foot], 80), Some(1..3));
/// ```
#[must_use]
pub fn best_window(points: &[SlopePoint], tags: u64) -> Option<Range<usize>> {
    // The sum is a difference: before(i) - words(..i) for the start, words(..=j) + after(j) for the
    // end. Each end is combined with the best start so far.
    let mut best: Option<(i128, Range<usize>)> = None;
    let mut start: Option<(i128, usize)> = None;
    let mut words = 0;
    for (index, point) in points.iter().enumerate() {
        let value = i128::from(point.before) - words;
        if start.is_none_or(|(highest, _)| value > highest) {
            start = Some((value, index));
        }
        words += i128::from(point.words);
        let after = i128::from(tags) - i128::from(point.before) - i128::from(point.inside);
        if let Some((value, begin)) = start {
            let sum = value + words + after;
            if best.as_ref().is_none_or(|(highest, _)| sum > *highest) {
                best = Some((sum, begin..index + 1));
            }
        }
    }
    best.map(|(_, window)| window)
}

/// Returns the blocks of a page's lowest-slope window; `None` without an outline or text.
pub(super) fn window(page: &Extract) -> Option<Range<usize>> {
    let points: Vec<SlopePoint> = page
        .outline
        .blocks
        .iter()
        .map(|block| SlopePoint {
            before: block.tags_before.into(),
            words: page
                .text
                .get(block.begin as usize..block.end as usize)
                .map_or(0, count_words),
            inside: block.tags_inside.into(),
        })
        .collect();
    best_window(&points, page.outline.tags.into())
}

/// Counts words for the slope curve: runs between spaces, and each ideograph or kana separately, so
/// that a Chinese paragraph is not one word.
fn count_words(text: &str) -> u64 {
    let mut words = 0;
    let mut after_space = true;
    for character in text.chars() {
        let is_space = character.is_whitespace();
        let stands_alone = matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
        words += u64::from(stands_alone || after_space && !is_space);
        after_space = is_space || stands_alone;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition from the papers: tries every window.
    fn naive_window(points: &[SlopePoint], tags: u64) -> Option<Range<usize>> {
        let mut best: Option<(i128, Range<usize>)> = None;
        for end in 1..=points.len() {
            for begin in 0..end {
                let inside: u64 = points[begin..end].iter().map(|point| point.words).sum();
                let last = points[end - 1];
                let sum = i128::from(points[begin].before) + i128::from(inside) + i128::from(tags)
                    - i128::from(last.before)
                    - i128::from(last.inside);
                if best.as_ref().is_none_or(|(highest, _)| sum > *highest) {
                    best = Some((sum, begin..end));
                }
            }
        }
        best.map(|(_, window)| window)
    }

    proptest! {
        #[test]
        fn one_pass_finds_the_same_window_as_exhaustive_search(
            steps in prop::collection::vec((0u64..30, 0u64..40, 0u64..6), 0..40),
            after in 0u64..30,
        ) {
            let mut before = 0;
            let points: Vec<SlopePoint> = steps
                .into_iter()
                .map(|(tags, words, inside)| {
                    before += tags;
                    let point = SlopePoint { before, words, inside };
                    before += inside;
                    point
                })
                .collect();
            let tags = before + after;
            prop_assert_eq!(best_window(&points, tags), naive_window(&points, tags));
        }
    }

    #[test]
    fn a_page_without_blocks_has_no_window() {
        assert_eq!(best_window(&[], 7), None);
    }

    #[test]
    fn words_are_counted_in_every_script() {
        assert_eq!(count_words("two words"), 2);
        assert_eq!(count_words(" \n"), 0);
        assert_eq!(count_words("水獭睡觉"), 4);
        assert_eq!(count_words("USB ケーブル2本"), 1 + 4 + 1 + 1);
    }
}
