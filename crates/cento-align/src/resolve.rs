//! Which of two passages is reported where a verbatim one is in what is edited or scattered.
//!
//! ```text
//!   edited     [ e e e e V V V V V V e e e e ]    the rest is alike, too: one edited passage
//!   verbatim             [ V V V V V V ]          the rest is other text: the verbatim passage
//! ```

use std::ops::Range;

use crate::document::{Document, TextWord};
use crate::overlaps;
use crate::passage::{PassageKind, Words, identical, is_none, share};
use crate::verbatim::VerbatimPassage;

/// An edited passage must have this share of identical words outside of the verbatim passages in it
/// …
const REST_IDENTICAL: f64 = 0.4;
/// … or the shorter side, if it has so many words, must have this share of its words in common with
/// the other. A short stretch of text has a third of its words in common with any longer one.
const REST_COMMON: f64 = 0.65;
const LEAST_REST: usize = 8;

/// A scattered passage is made of verbatim ones, and is no summary, unless this share of its words
/// is outside of them.
const SUMMARISED: f64 = 0.25;

/// Resolves overlaps of verbatim passages with edited and scattered ones in the first document.
/// Both are in its order and do not overlap among themselves.
///
/// A verbatim passage is dropped only if it is short and the other one, perhaps widened by it, has
/// all of it on both sides, and more that is alike. Otherwise the other one is dropped, or cut if
/// the verbatim passage is from elsewhere in the second document.
pub(crate) fn resolve_verbatim(
    a: &Document<'_>,
    b: &Document<'_>,
    mut verbatim: Vec<VerbatimPassage>,
    others: Vec<Words>,
) -> (Vec<VerbatimPassage>, Vec<Words>) {
    let within = |words: &Range<usize>| {
        let first = verbatim.partition_point(|passage| passage.a.end <= words.start);
        first..verbatim.partition_point(|passage| passage.a.start < words.end)
    };
    let mut owners = vec![0; verbatim.len()];
    for other in &others {
        for owners in &mut owners[within(&other.a)] {
            *owners += 1;
        }
    }
    let mut is_part = vec![false; verbatim.len()];
    let mut kept = Vec::with_capacity(others.len());
    for other in others {
        let inside = within(&other.a);
        if inside.is_empty() {
            kept.push(other);
            continue;
        }
        let parts = &verbatim[inside.clone()];
        let is_own = |at: usize| {
            let passage = &verbatim[at];
            passage.is_short && owners[at] == 1 && overlaps(&passage.b, &other.b)
        };
        if inside.clone().all(is_own) {
            let whole = parts.iter().fold(other, |whole, part| Words {
                a: union(&whole.a, &part.a),
                b: union(&whole.b, &part.b),
                kind: whole.kind,
            });
            if is_more(a, b, &whole, parts) && !is_none(&whole, share(a, b, &whole)) {
                is_part[inside].fill(true);
                kept.push(whole);
            }
        } else if other.kind == PassageKind::Edited {
            let free = rest(&other.a, parts.iter().map(|part| &part.a)).into_iter();
            let longest = free.max_by_key(|free| (free.len(), std::cmp::Reverse(free.start)));
            let cut = longest.map(|free| Words { a: free, ..other });
            kept.extend(cut.filter(|cut| is_rest_alike(a, b, cut, parts)));
        }
    }
    let mut is_part = is_part.into_iter();
    verbatim.retain(|_| !is_part.next().unwrap_or(false));
    (verbatim, kept)
}

/// Whether a passage is more than the verbatim passages that are part of it.
fn is_more(a: &Document<'_>, b: &Document<'_>, whole: &Words, parts: &[VerbatimPassage]) -> bool {
    let words: usize = parts.iter().map(|part| part.a.len()).sum();
    match whole.kind {
        PassageKind::Scattered => {
            let free = whole.a.len().saturating_sub(words);
            free as f64 >= SUMMARISED * whole.a.len() as f64
        }
        _ => is_rest_alike(a, b, whole, parts),
    }
}

/// Whether what is outside of verbatim passages is alike on both sides.
fn is_rest_alike(
    a: &Document<'_>,
    b: &Document<'_>,
    whole: &Words,
    parts: &[VerbatimPassage],
) -> bool {
    let words = |document: &Document<'_>, free: Vec<Range<usize>>| -> Vec<TextWord> {
        let words = free.into_iter().flat_map(|free| &document.words[free]);
        words.copied().collect()
    };
    let mut in_b: Vec<&Range<usize>> = parts.iter().map(|part| &part.b).collect();
    in_b.sort_unstable_by_key(|part| part.start);
    let rest_a = words(a, rest(&whole.a, parts.iter().map(|part| &part.a)));
    let rest_b = words(b, rest(&whole.b, in_b.into_iter()));
    let share = identical(&rest_a, &rest_b);
    let (all, least) = (rest_a.len() + rest_b.len(), rest_a.len().min(rest_b.len()));
    let common = share * all as f64 / 2.0;
    share >= REST_IDENTICAL || least >= LEAST_REST && common >= REST_COMMON * least as f64
}

/// What is left of a range without parts, which are in order.
fn rest<'p>(
    whole: &Range<usize>,
    parts: impl Iterator<Item = &'p Range<usize>>,
) -> Vec<Range<usize>> {
    let mut free = Vec::new();
    let mut begin = whole.start;
    for part in parts {
        if begin < part.start.min(whole.end) {
            free.push(begin..part.start.min(whole.end));
        }
        begin = begin.max(part.end);
    }
    if begin < whole.end {
        free.push(begin..whole.end);
    }
    free
}

/// The smallest range that has two others.
pub(crate) fn union(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    one.start.min(other.start)..one.end.max(other.end)
}
