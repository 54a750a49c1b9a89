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

/// The longest run at each word of the first document, from left to right, without overlaps there.
fn runs(a: &Document<'_>, b: &Document<'_>, work: &mut u64) -> Vec<WordRun> {
    let places = places(a, b);
    let mut runs: Vec<WordRun> = Vec::new();
    let mut at = 0;
    while at < places.len() {
        let floor = runs.last().map_or(0, |run| run.a);
        let best = longest(a, b, &places[at], at, floor, work);
        match best {
            Some(best) => {
                // A short run may hide the beginning of a longer one.
                while runs.last().is_some_and(|run| run.a + run.length > best.a) {
                    runs.pop();
                }
                at = best.a + best.length;
                runs.push(best);
            }
            None => at += 1,
        }
    }
    runs
}

/// For each word of the first document that begins a shared gram, the range of grams of the second
/// that are equal to it.
fn places(a: &Document<'_>, b: &Document<'_>) -> Vec<Range<u32>> {
    let mut places = vec![0..0; a.grams.len()];
    let mut from = 0;
    for same in a.grams.chunk_by(|one, other| one.0 == other.0) {
        let hash = same[0].0;
        while b.grams.get(from).is_some_and(|gram| gram.0 < hash) {
            from += 1;
        }
        let mut end = from;
        while end < from + MOST_PLACES && b.grams.get(end).is_some_and(|gram| gram.0 == hash) {
            end += 1;
        }
        for gram in same {
            places[gram.1 as usize] = from as u32..end as u32;
        }
    }
    places
        .iter_mut()
        .for_each(|place| *place = place.start..place.end.max(place.start));
    places
}

/// The longest run through a word of the first document, not from before `floor`.
fn longest(
    a: &Document<'_>,
    b: &Document<'_>,
    places: &Range<u32>,
    at: usize,
    floor: usize,
    work: &mut u64,
) -> Option<WordRun> {
    let grams = &b.grams[places.start as usize..places.end as usize];
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
