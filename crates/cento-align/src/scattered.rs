//! Summaries: consecutive sentences whose words come from all over a longer stretch.
//!
//! ```text
//!   a   ……[s1 s2 s3 s4]……                 the most similar sentence of each is somewhere in b
//!           │  ╲  ╲  ╲
//!   b   [···s1····s3····s2·····s4···]     the stretch from the first of them to the last
//! ```

use std::ops::Range;

use crate::document::Document;
use crate::overlaps;
use crate::passage::Found;
use crate::seeds::Seed;
use crate::vocabulary::StemVocabulary;

/// The fewest sentences of a summary.
const LEAST_SENTENCES: usize = 3;
/// At least this many of them, and at least half of them, must be clearly similar to a sentence of
/// the source.
const LEAST_SIMILAR: usize = 2;
/// The cosine of sentences that are clearly similar.
const SIMILAR: f32 = 0.3;
/// How many times as long as the summary the source must be, and may be. In a longer one, anything
/// is found: the words of any sentence about the same subject.
const RATIO: Range<usize> = 3..12;
/// The share of the summary's weight that the source must have: where an edited passage was found
/// in the summary, and where none was.
const COVERED: f32 = 0.61;
const COVERED_ALONE: f32 = 0.75;
/// If a compact edited passage explains this share of what the whole source explains, then it is
/// the source.
const EXPLAINED: f32 = 0.65;

/// The summaries, in order.
pub(crate) fn passages(
    a: &Document<'_>,
    b: &Document<'_>,
    vocabulary: &mut StemVocabulary,
    weak: &[Seed],
    edited: &[Found],
) -> Vec<Found> {
    // One sentence in between may be unlike everything.
    let groups = weak.chunk_by(|one, other| other.a - one.a <= 2);
    groups
        .filter_map(|group| summary(a, b, vocabulary, group, edited))
        .collect()
}

fn summary(
    a: &Document<'_>,
    b: &Document<'_>,
    vocabulary: &mut StemVocabulary,
    group: &[Seed],
    edited: &[Found],
) -> Option<Found> {
    let similar = group.iter().filter(|seed| seed.cosine > SIMILAR).count();
    let is_similar = similar >= LEAST_SIMILAR && similar * 2 >= group.len();
    if group.len() < LEAST_SENTENCES || !is_similar {
        return None;
    }
    let own = group.first()?.a as usize..group.last()?.a as usize + 1;
    let first = group.iter().map(|seed| seed.b).min()? as usize;
    let last = group.iter().map(|seed| seed.b).max()? as usize + 1;
    // Seeds are a sample of the source, so it extends beyond them by about their distance.
    let spacing = (last - first).div_ceil(group.len());
    let source = first.saturating_sub(spacing)..(last + spacing).min(b.sentences.len());
    let words = |document: &Document<'_>, range| document.words_of(range).len();
    let length = words(a, &own);
    if !(RATIO.start * length..=RATIO.end * length).contains(&words(b, &source)) {
        return None;
    }
    let (has, all) = covered(a, b, vocabulary, &own, &(first..last));
    let within: Vec<&Found> = edited
        .iter()
        .filter(|found| overlaps(&found.a, &own))
        .collect();
    let needed = match within.is_empty() {
        true => COVERED_ALONE,
        false => COVERED,
    };
    if has < all * needed {
        return None;
    }
    for found in within {
        let is_compact = words(b, &found.b) <= RATIO.start * words(a, &found.a);
        if is_compact && covered(a, b, vocabulary, &own, &found.b).0 >= EXPLAINED * has {
            return None;
        }
    }
    Some(Found {
        a: own,
        b: source,
        scattered: true,
    })
}

/// The most sentences between two passages that are part of one summary.
const BETWEEN: usize = 2;
/// The most words of a summary that is joined from passages: longer passages are copied one by one.
const LONGEST_JOINED: usize = 150;
/// How many times as long as such a summary the source may be. Whole sentences are better evidence
/// than words.
const LONGEST_SOURCE: usize = 20;
/// The share of its weight that the source must have.
const JOINED_COVERED: f32 = 0.7;

/// Joins edited passages that follow each other in the first document and are far apart in the
/// second: the sentences of a summary that took whole sentences from its source. `found` is in the
/// order of the first document.
pub(crate) fn join(
    a: &Document<'_>,
    b: &Document<'_>,
    vocabulary: &mut StemVocabulary,
    found: Vec<Found>,
) -> Vec<Found> {
    let mut joined: Vec<Found> = Vec::with_capacity(found.len());
    for found in found {
        let whole = joined.last().map(|last| Found {
            a: last.a.start..found.a.end,
            b: last.b.start.min(found.b.start)..last.b.end.max(found.b.end),
            scattered: true,
        });
        let mut is_summary = |whole: &Found| {
            let (length, source) = (a.words_of(&whole.a).len(), b.words_of(&whole.b).len());
            if length > LONGEST_JOINED
                || !(RATIO.start * length..=LONGEST_SOURCE * length).contains(&source)
            {
                return false;
            }
            let (has, all) = covered(a, b, vocabulary, &whole.a, &whole.b);
            has >= all * JOINED_COVERED
        };
        match (joined.last_mut(), whole.filter(&mut is_summary)) {
            (Some(last), Some(whole)) if found.a.start - last.a.end <= BETWEEN => *last = whole,
            _ => joined.push(found),
        }
    }
    joined
}

/// The weight of the words of some sentences that others have, and of all their words.
fn covered(
    a: &Document<'_>,
    b: &Document<'_>,
    vocabulary: &mut StemVocabulary,
    own: &Range<usize>,
    source: &Range<usize>,
) -> (f32, f32) {
    let numbers = std::mem::take(&mut vocabulary.of_b);
    let terms = source.clone().flat_map(|sentence| b.terms_of(sentence));
    vocabulary.mark(terms.map(|&(stem, _)| numbers[stem as usize]));
    vocabulary.of_b = numbers;
    let (mut has, mut all) = (0.0, 0.0);
    for &(stem, count) in own.clone().flat_map(|sentence| a.terms_of(sentence)) {
        let stem = vocabulary.of_a[stem as usize];
        let weight = count as f32 * vocabulary.weights[stem as usize];
        all += weight;
        if vocabulary.is_marked(stem) {
            has += weight;
        }
    }
    (has, all)
}
