//! What was found, without overlaps, in bytes and characters.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::differences::compared_words;
use crate::document::{Document, Fold, TextWord};
use crate::overlaps;
use crate::resolve::resolve_verbatim;
use crate::verbatim::VerbatimPassage;

/// How a passage was reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PassageKind {
    /// Word for word, but for small edits.
    Verbatim,
    /// With words replaced, inserted, deleted or reordered.
    Edited,
    /// Here in a few sentences, there all over a longer stretch: a summary.
    Scattered,
}

impl PassageKind {
    /// Its name in tables and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            PassageKind::Verbatim => "verbatim",
            PassageKind::Edited => "edited",
            PassageKind::Scattered => "scattered",
        }
    }
}

/// Text that two documents share. Ends are exclusive.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Passage {
    /// Where it is in the first text, in bytes.
    pub a: Range<usize>,
    /// Where it is in the second, in bytes.
    pub b: Range<usize>,
    /// Where it is in the first text, in Unicode characters.
    pub a_chars: Range<usize>,
    /// Where it is in the second, in Unicode characters.
    pub b_chars: Range<usize>,
    /// How many words it has in the first text.
    pub words: usize,
    /// How many words it has in the second text.
    pub b_words: usize,
    /// The share of identical words: twice the number of words that both sides have, each counted
    /// as often as the side that has it less often, over the words of both sides. It is true of
    /// neither side if one is longer: see [`Self::a_in_b`] and [`Self::b_in_a`].
    pub identical: f64,
    /// The share of the words of the first side that the second has, counted in the same way. With
    /// [`Fold::Ocr`], of the words as they are compared, after joining those that were split.
    pub a_in_b: f64,
    /// The share of the words of the second side that the first has.
    pub b_in_a: f64,
    /// How it was reused.
    pub kind: PassageKind,
}

/// A passage as ranges of sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) a: Range<usize>,
    pub(crate) b: Range<usize>,
    pub(crate) scattered: bool,
}

/// Merges passages that overlap on one side and are near on the other; of those that overlap in the
/// first document alone, the longest is kept.
pub(crate) fn resolve_overlaps(edited: Vec<Found>, scattered: Vec<Found>, near: u32) -> Vec<Found> {
    let mut all = edited;
    all.extend(scattered);
    all.sort_by_key(|found| {
        let size = found.a.len() + found.b.len();
        (std::cmp::Reverse(size), found.a.start, found.b.start)
    });
    // By where they begin in the first document, where they do not overlap.
    let mut kept: BTreeMap<usize, Found> = BTreeMap::new();
    for mut found in all {
        let mut is_hidden = false;
        while let Some(neighbour) = neighbour(&kept, &found, near as usize) {
            let other = &kept[&neighbour];
            if is_near(&other.a, &found.a, &other.b, &found.b, near as usize) {
                let Some(other) = kept.remove(&neighbour) else {
                    break;
                };
                found = Found {
                    a: found.a.start.min(other.a.start)..found.a.end.max(other.a.end),
                    b: found.b.start.min(other.b.start)..found.b.end.max(other.b.end),
                    scattered: found.scattered || other.scattered,
                };
            } else {
                is_hidden = true;
                break;
            }
        }
        if !is_hidden {
            kept.insert(found.a.start, found);
        }
    }
    kept.into_values().collect()
}

/// A kept passage that overlaps one in the first document, or is to be merged with it.
fn neighbour(kept: &BTreeMap<usize, Found>, found: &Found, near: usize) -> Option<usize> {
    let before = kept.range(..found.a.end).next_back();
    let after = kept.range(found.a.end..).next();
    let mergeable = |other: &Found| is_near(&other.a, &found.a, &other.b, &found.b, near);
    let around = before.into_iter().chain(after);
    around
        .filter(|(_, other)| overlaps(&other.a, &found.a) || mergeable(other))
        .map(|(&key, _)| key)
        .next()
}

/// Whether two passages are near on both sides, and overlap or touch on at least one.
fn is_near(
    a: &Range<usize>,
    other_a: &Range<usize>,
    b: &Range<usize>,
    other_b: &Range<usize>,
    near: usize,
) -> bool {
    let gap = |one: &Range<usize>, other: &Range<usize>| {
        one.start.max(other.start) as i64 - one.end.min(other.end) as i64
    };
    let (gap_a, gap_b) = (gap(a, other_a), gap(b, other_b));
    let near = near as i64;
    gap_a <= near && gap_b <= near && (gap_a < 0 || gap_b < 0 || gap_a <= 0 && gap_b <= 0)
}

/// A passage as ranges of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) a: Range<usize>,
    pub(crate) b: Range<usize>,
    pub(crate) kind: PassageKind,
}

/// The passages that are long enough, in the order of the first document. `verbatim` is in this
/// order, too; those that are `in_order` overlap no other.
pub(crate) fn finish(
    a: &Document<'_>,
    b: &Document<'_>,
    verbatim: Vec<VerbatimPassage>,
    found: &[Found],
    in_order: Vec<Words>,
    minimum_chars: usize,
) -> Vec<Passage> {
    let others = found.iter().map(|found| Words {
        a: a.words_of(&found.a),
        b: b.words_of(&found.b),
        kind: match found.scattered {
            true => PassageKind::Scattered,
            false => PassageKind::Edited,
        },
    });
    let (verbatim, others) = resolve_verbatim(a, b, verbatim, others.collect());
    let others = others.into_iter().chain(in_order);
    let exact = verbatim.into_iter().map(|passage| Words {
        a: passage.a,
        b: passage.b,
        kind: match passage.is_extended {
            true => PassageKind::Edited,
            false => PassageKind::Verbatim,
        },
    });
    let mut all: Vec<Words> = exact.chain(others).collect();
    all.sort_by_key(|words| (words.a.start, words.b.start));
    let mut passages: Vec<Passage> = all
        .into_iter()
        .filter_map(|words| {
            let shares = shares(a, b, &words);
            if is_none(&words, shares.identical) {
                return None;
            }
            let (words_a, words_b) = (words.a, words.b);
            let is_equal = a.words[words_a.clone()]
                .iter()
                .map(|word| word.form)
                .eq(b.words[words_b.clone()].iter().map(|word| word.form));
            let empty = 0..0;
            Some(Passage {
                a: a.bytes_of(&words_a),
                b: b.bytes_of(&words_b),
                a_chars: empty.clone(),
                b_chars: empty,
                words: words_a.len(),
                b_words: words_b.len(),
                identical: shares.identical,
                a_in_b: shares.a_in_b,
                b_in_a: shares.b_in_a,
                kind: match is_equal {
                    true => PassageKind::Verbatim,
                    false => words.kind,
                },
            })
        })
        .collect();
    let chars_a = char_ranges(a, passages.iter().map(|passage| passage.a.clone()));
    let chars_b = char_ranges(b, passages.iter().map(|passage| passage.b.clone()));
    for ((passage, a), b) in passages.iter_mut().zip(chars_a).zip(chars_b) {
        (passage.a_chars, passage.b_chars) = (a, b);
    }
    passages.retain(|passage| {
        passage.a_chars.len() >= minimum_chars && passage.b_chars.len() >= minimum_chars
    });
    passages
}

/// An edited passage of fewer words than this …
const SHORT: usize = 40;
/// … is dropped unless it has this share of identical words: a sentence about the same subject uses
/// the same terms.
const SHORT_IDENTICAL: f64 = 0.5;

/// A passage is dropped unless the shorter side has this share of its words in common with the
/// other: sentences can be alike by a few rare words that are in lists, headings or tables.
const COMMON: f64 = 1.0 / 3.0;

/// Whether a passage with this share of identical words has too few of them to be one.
pub(crate) fn is_none(words: &Words, identical: f64) -> bool {
    let (a, b) = (words.a.len(), words.b.len());
    let is_unlike = identical * (a + b) as f64 / 2.0 < COMMON * a.min(b) as f64;
    let is_chance = words.kind == PassageKind::Edited && a < SHORT && identical < SHORT_IDENTICAL;
    is_unlike || is_chance
}

/// The shares of words that two stretches have in common: of both together, and of each.
pub(crate) struct Shares {
    pub(crate) identical: f64,
    a_in_b: f64,
    b_in_a: f64,
}

impl Shares {
    fn of(a: &[TextWord], b: &[TextWord]) -> Shares {
        let both = common(a, b) as f64;
        Shares {
            identical: 2.0 * both / (a.len() + b.len()).max(1) as f64,
            a_in_b: both / a.len().max(1) as f64,
            b_in_a: both / b.len().max(1) as f64,
        }
    }
}

/// The share of identical words of a passage.
pub(crate) fn share(a: &Document<'_>, b: &Document<'_>, words: &Words) -> f64 {
    shares(a, b, words).identical
}

/// The shares of words of a passage that both sides have.
pub(crate) fn shares(a: &Document<'_>, b: &Document<'_>, words: &Words) -> Shares {
    match a.fold {
        Fold::None => Shares::of(&a.words[words.a.clone()], &b.words[words.b.clone()]),
        fold => {
            let [mine, theirs] = compared_words(
                &a.text[a.bytes_of(&words.a)],
                &b.text[b.bytes_of(&words.b)],
                fold,
            );
            Shares::of(&mine, &theirs)
        }
    }
}

/// Ranges of bytes as ranges of characters, in one pass over the text.
fn char_ranges(
    document: &Document<'_>,
    ranges: impl Iterator<Item = Range<usize>>,
) -> Vec<Range<usize>> {
    let ranges: Vec<Range<usize>> = ranges.collect();
    if document.is_ascii {
        return ranges;
    }
    let text = &document.text;
    let mut ends: Vec<usize> = ranges
        .iter()
        .flat_map(|range| [range.start, range.end])
        .collect();
    ends.sort_unstable();
    ends.dedup();
    let mut places = Vec::with_capacity(ends.len());
    let (mut byte, mut chars) = (0, 0);
    for &end in &ends {
        chars += text[byte..end].chars().count();
        byte = end;
        places.push(chars);
    }
    let place = |byte: usize| ends.binary_search(&byte).map_or(0, |at| places[at]);
    let ranges = ranges.iter();
    ranges
        .map(|range| place(range.start)..place(range.end))
        .collect()
}

/// The share of identical words of two stretches of words.
pub(crate) fn identical(a: &[TextWord], b: &[TextWord]) -> f64 {
    Shares::of(a, b).identical
}

/// The number of words that both have, each counted as often as the one that has it less often.
fn common(a: &[TextWord], b: &[TextWord]) -> usize {
    let is_same = |(one, other): &(&TextWord, &TextWord)| one.form == other.form;
    // What both begin and end with need not be sorted.
    let first = a.iter().zip(b).take_while(is_same).count();
    let (a, b) = (&a[first..], &b[first..]);
    let last = a.iter().rev().zip(b.iter().rev()).take_while(is_same);
    let last = last.count();
    let forms = |words: &[TextWord]| {
        let words = words[..words.len() - last].iter();
        let mut forms: Vec<u64> = words.map(|word| word.form).collect();
        forms.sort_unstable();
        forms
    };
    let (mine, theirs) = (forms(a), forms(b));
    let (mut i, mut j, mut both) = (0, 0, first + last);
    while let (Some(one), Some(other)) = (mine.get(i), theirs.get(j)) {
        let order = one.cmp(other);
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
        both += usize::from(order.is_eq());
    }
    both
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::read_words;

    proptest! {
        #[test]
        fn identical_words_are_counted_as_often_as_both_sides_have_them(
            a in "[a-d]( [a-d]){0,12}",
            b in "[a-d]( [a-d]){0,12}",
        ) {
            let words = |text: &str| read_words(text, Fold::None).words;
            let count = |text: &str, word: &str| text.split(' ').filter(|&other| other == word).count();
            let both: usize = ["a", "b", "c", "d"]
                .iter()
                .map(|word| count(&a, word).min(count(&b, word)))
                .sum();
            let (a, b) = (words(&a), words(&b));
            let expected = 2.0 * both as f64 / (a.len() + b.len()) as f64;
            prop_assert_eq!(identical(&a, &b), expected);
            let shares = Shares::of(&a, &b);
            prop_assert_eq!(shares.a_in_b, both as f64 / a.len() as f64);
            prop_assert_eq!(shares.b_in_a, both as f64 / b.len() as f64);
        }
    }
}
