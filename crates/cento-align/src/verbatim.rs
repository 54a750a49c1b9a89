//! Runs of equal words, joined over small edits.

use std::ops::Range;

use crate::AlignSettings;
use crate::document::{Document, GRAM};
use crate::passage::identical;

/// Places of one run of words that are tried; text that repeats itself has more, and any will do.
const MOST_PLACES: usize = 8;

/// How many times longer than an edit a stretch may be that was rewritten word by word: its two
/// sides then have about the same length.
const REWRITTEN: usize = 3;

/// Words on both sides that are the same but for small edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VerbatimPassage {
    pub(crate) a: Range<usize>,
    pub(crate) b: Range<usize>,
    /// Whether it has next to no edits.
    pub(crate) is_exact: bool,
    /// Whether edited sentences were added to it.
    pub(crate) is_extended: bool,
}

/// The share of identical words from which a verbatim passage counts as copied as it is.
const EXACT: f64 = 0.97;

/// Equal words.
#[derive(Debug, Clone, Copy)]
struct WordRun {
    a: usize,
    b: usize,
    length: usize,
}

/// A run of this many words is copied text by itself. What has only shorter ones may be part of an
/// edited passage or of a summary.
const DECISIVE: usize = 40;

/// The passages that have a run of at least [`AlignSettings::verbatim_words`], in order and without
/// overlaps on the side of the first document: those with a run of [`DECISIVE`] words, and the
/// others. Adds the number of words that were compared to `work`.
pub(crate) fn passages(
    a: &Document<'_>,
    b: &Document<'_>,
    settings: &AlignSettings,
    work: &mut u64,
) -> (Vec<VerbatimPassage>, Vec<VerbatimPassage>) {
    let (mut passages, mut short) = (Vec::new(), Vec::new());
    let mut group: Vec<WordRun> = Vec::new();
    let mut close = |group: &mut Vec<WordRun>| {
        let longest = group.iter().map(|run| run.length).max();
        if let (Some(first), Some(last)) = (group.first(), group.last())
            && longest >= Some(settings.verbatim_words)
        {
            let words_a = first.a..last.a + last.length;
            let words_b = first.b..last.b + last.length;
            let share = identical(&a.words[words_a.clone()], &b.words[words_b.clone()]);
            let passage = VerbatimPassage {
                a: words_a,
                b: words_b,
                is_exact: share >= EXACT,
                is_extended: false,
            };
            match longest >= Some(DECISIVE.max(settings.verbatim_words)) {
                true => passages.push(passage),
                false => short.push(passage),
            }
        }
        group.clear();
    };
    for run in runs(a, b, work) {
        let joins = group.last().is_none_or(|last| {
            let (after_a, after_b) = (last.a + last.length, last.b + last.length);
            if run.b < after_b {
                return false;
            }
            let (gap_a, gap_b) = (run.a - after_a, run.b - after_b);
            let small = settings.verbatim_gap;
            gap_a <= small && gap_b <= small
                || gap_a.max(gap_b) <= REWRITTEN * small && gap_a.abs_diff(gap_b) <= small
        });
        if !joins {
            close(&mut group);
        }
        group.push(run);
    }
    close(&mut group);
    (passages, short)
}

/// A word of the first document where a gram of both begins, and the equal grams of the second.
#[derive(Debug, Clone, Copy)]
struct SharedGram {
    at: usize,
    first: usize,
    end: usize,
}

/// The longest run at each word of the first document, from left to right, without overlaps there.
fn runs(a: &Document<'_>, b: &Document<'_>, work: &mut u64) -> Vec<WordRun> {
    let mut runs: Vec<WordRun> = Vec::new();
    let mut after = 0;
    for shared in shared_grams(a, b) {
        if shared.at < after {
            continue;
        }
        let floor = runs.last().map_or(0, |run| run.a);
        if let Some(best) = longest(a, b, &shared, floor, work) {
            // A short run may hide the beginning of a longer one.
            while runs.last().is_some_and(|run| run.a + run.length > best.a) {
                runs.pop();
            }
            after = best.a + best.length;
            runs.push(best);
        }
    }
    runs
}

/// The grams of the first document that the second has too, in order.
fn shared_grams(a: &Document<'_>, b: &Document<'_>) -> Vec<SharedGram> {
    let mut shared = Vec::new();
    let (mut first_a, mut first) = (0, 0);
    let (fewer, other) = match a.grams.len() <= b.grams.len() {
        true => (a, b),
        false => (b, a),
    };
    let mut last = None;
    for &(hash, _) in &fewer.grams {
        if !other.gram_filter.may_have(hash) || last == Some(hash) {
            continue;
        }
        last = Some(hash);
        first_a = skip_below(&a.grams, first_a, hash);
        first = skip_below(&b.grams, first, hash);
        let equal = b.grams[first..].iter().take(MOST_PLACES);
        let end = first + equal.take_while(|gram| gram.0 == hash).count();
        if end == first {
            continue;
        }
        let same = a.grams[first_a..].iter();
        let same = same.take_while(|gram| gram.0 == hash);
        shared.extend(same.map(|gram| SharedGram {
            at: gram.1 as usize,
            first,
            end,
        }));
    }
    shared.sort_unstable_by_key(|shared| shared.at);
    shared
}

/// The position of the first gram from `from` on that is not below a hash. It is near.
fn skip_below(grams: &[(u64, u32)], from: usize, hash: u64) -> usize {
    let (mut begin, mut step) = (from, 1);
    while grams.get(begin + step).is_some_and(|gram| gram.0 < hash) {
        begin += step;
        step *= 2;
    }
    let end = (begin + step).min(grams.len());
    begin + grams[begin..end].partition_point(|gram| gram.0 < hash)
}

/// The longest run through a word of the first document, not from before `floor`.
fn longest(
    a: &Document<'_>,
    b: &Document<'_>,
    shared: &SharedGram,
    floor: usize,
    work: &mut u64,
) -> Option<WordRun> {
    let at = shared.at;
    let grams = &b.grams[shared.first..shared.end];
    let candidates = grams.iter().filter_map(|&(_, other)| {
        let other = other as usize;
        let equal = |(one, other): &(&_, &_)| same_word(one, other);
        let ahead = a.words[at..].iter().zip(&b.words[other..]);
        let ahead = ahead.take_while(equal).count();
        let behind = a.words[floor..at].iter().rev();
        let behind = behind.zip(b.words[..other].iter().rev());
        let behind = behind.take_while(equal).count();
        *work += (ahead + behind) as u64;
        // Hashes of grams may be equal where the words are not.
        (ahead >= GRAM).then_some(WordRun {
            a: at - behind,
            b: other - behind,
            length: ahead + behind,
        })
    });
    candidates.max_by_key(|run| (run.length, std::cmp::Reverse(run.b)))
}

fn same_word(one: &crate::document::TextWord, other: &crate::document::TextWord) -> bool {
    one.form == other.form
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shared_grams_are_those_of_comparing_all_pairs(
            a in "[a-c]( [a-c]){0,60}",
            b in "[a-c]( [a-c]){0,300}",
            other in "[a-z]( [a-z]){0,600}",
        ) {
            // Texts of very different lengths, in both directions.
            let texts = [a.clone(), b.clone(), format!("{b} {other} {a}")];
            for (one, other) in texts.iter().flat_map(|one| texts.iter().map(move |other| (one, other))) {
                let (a, b) = (Document::new(one), Document::new(other));
                let begins = 0..a.grams.len();
                let naive: Vec<(usize, Vec<usize>)> = begins
                    .filter_map(|at| {
                        let run = |document: &Document<'_>, at: usize| -> Vec<u64> {
                            let words = &document.words[at..at + GRAM];
                            words.iter().map(|word| word.form).collect()
                        };
                        let mine = run(&a, at);
                        let places = (0..b.grams.len()).filter(|&at| run(&b, at) == mine);
                        let places: Vec<usize> = places.take(MOST_PLACES).collect();
                        (!places.is_empty()).then_some((at, places))
                    })
                    .collect();
                let found: Vec<(usize, Vec<usize>)> = shared_grams(&a, &b)
                    .iter()
                    .map(|shared| {
                        let grams = b.grams[shared.first..shared.end].iter();
                        (shared.at, grams.map(|gram| gram.1 as usize).collect())
                    })
                    .collect();
                prop_assert_eq!(found, naive);
            }
        }
    }
}
