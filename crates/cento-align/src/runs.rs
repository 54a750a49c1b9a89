//! Maximal runs of equal words.
//!
//! ```text
//!   a   ···[ u  v  w  x ][ y  z ]···      u … x and w … z are both in b, in different places:
//!            ╲  ╲  ╲  ╲    ╲  ╲           the longer run has w and x, of the other y z is left
//!   b   ·····[ u  v  w  x ]···w  x [ y  z ]·
//! ```
//!
//! A run is found by any of its *grams*, sequences of [`GRAM`] words. A gram that the second
//! document has at more than [`MOST_PLACES`] places is *frequent*: only the first places are tried,
//! and only where no other gram has found a run. A run that has a gram which is not frequent is
//! thus found as a whole, at every place that it has in the second document.

use std::collections::{BTreeMap, HashMap};

use crate::document::{Document, GRAM, TextWord};

/// Places of a gram that are tried; text that repeats itself has more, and any will do.
const MOST_PLACES: usize = 8;

/// Words that are compared for each word of the two documents before runs that overlap one are no
/// longer looked for. Only text that was made for it needs more.
const MOST_WORK: u64 = 16;

/// Equal words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordRun {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) length: usize,
}

/// A word of the first document where a gram of both begins, and the equal grams of the second.
#[derive(Debug, Clone, Copy)]
struct SharedGram {
    at: usize,
    first: usize,
    end: usize,
    /// Whether the second document has more places of it than are tried.
    is_frequent: bool,
}

/// The runs of both documents, in the order of the first and without overlaps there. Of runs that
/// overlap, the longest has all of its words, the next what is left of it, and so on; if two are
/// of the same length, the one that is first.
pub(crate) fn runs(a: &Document<'_>, b: &Document<'_>, work: &mut u64) -> Vec<WordRun> {
    let mut maximal = maximal_runs(a, b, work);
    maximal.sort_unstable_by_key(|run| (std::cmp::Reverse(run.length), run.a, run.b));
    // By where they begin in the first document.
    let mut taken: BTreeMap<usize, WordRun> = BTreeMap::new();
    let mut around = Vec::new();
    for run in maximal {
        let end = run.a + run.length;
        let before = taken.range(..run.a).next_back();
        let within = taken.range(run.a..end);
        around.clear();
        around.extend(before.into_iter().chain(within).map(|(_, &other)| other));
        *work += around.len() as u64;
        let mut begin = run.a;
        let ends = around.iter().map(|other| (other.a, other.a + other.length));
        for (from, to) in ends.chain([(end, end)]) {
            if from >= begin + GRAM {
                let free = WordRun {
                    a: begin,
                    b: run.b + (begin - run.a),
                    length: from - begin,
                };
                taken.insert(begin, free);
            }
            begin = begin.max(to);
        }
    }
    taken.into_values().collect()
}

/// All runs that cannot be extended, in no order.
fn maximal_runs(a: &Document<'_>, b: &Document<'_>, work: &mut u64) -> Vec<WordRun> {
    let mut found: Vec<WordRun> = Vec::new();
    // Where the last run ends in the first document, by the distance between its two places.
    let mut ends: HashMap<usize, usize> = HashMap::new();
    let most = *work + MOST_WORK * (a.words.len() + b.words.len()) as u64;
    // The last run: where it begins, its distance and its end; and the largest end.
    let (mut floor, mut last, mut after) = (0, (0, 0), 0);
    for shared in shared_grams(a, b) {
        let is_bounded = shared.is_frequent || *work > most;
        if is_bounded && shared.at < after {
            continue;
        }
        let at = shared.at;
        let mut longest: Option<WordRun> = None;
        for &(_, place) in &b.grams[shared.first..shared.end] {
            let place = place as usize;
            let distance = place.wrapping_sub(at);
            if last.0 == distance && at < last.1 {
                continue;
            }
            *work += 1;
            if ends.get(&distance).is_some_and(|&end| at < end) {
                continue;
            }
            let from = if is_bounded { floor } else { 0 };
            let Some(run) = extended(a, b, (at, place), from, work) else {
                continue;
            };
            if is_bounded {
                // Its places are a sample, so that only the longest counts.
                let is_longer = longest.is_none_or(|other| run.length > other.length);
                longest = if is_longer { Some(run) } else { longest };
            } else {
                found.push(run);
                last = (distance, run.a + run.length);
                ends.insert(distance, last.1);
                floor = run.a;
                after = after.max(last.1);
            }
        }
        if let Some(run) = longest {
            found.push(run);
            after = after.max(run.a + run.length);
            // One that may begin earlier is found again by a gram that is not frequent.
            if run.a > floor || floor == 0 {
                last = (run.b.wrapping_sub(run.a), run.a + run.length);
                ends.insert(last.0, last.1);
            }
            floor = run.a;
        }
    }
    found
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
        let is_frequent = b.grams.get(end).is_some_and(|gram| gram.0 == hash);
        let same = a.grams[first_a..].iter();
        let same = same.take_while(|gram| gram.0 == hash);
        shared.extend(same.map(|gram| SharedGram {
            at: gram.1 as usize,
            first,
            end,
            is_frequent,
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

/// The longest run through two equal grams, not from before `floor` in the first document. None if
/// only their hashes are equal.
fn extended(
    a: &Document<'_>,
    b: &Document<'_>,
    (at, place): (usize, usize),
    floor: usize,
    work: &mut u64,
) -> Option<WordRun> {
    let equal = |(one, other): &(&TextWord, &TextWord)| one.form == other.form;
    let ahead = a.words[at..].iter().zip(&b.words[place..]);
    let ahead = ahead.take_while(equal).count();
    let behind = a.words[floor.min(at)..at].iter().rev();
    let behind = behind.zip(b.words[..place].iter().rev());
    let behind = behind.take_while(equal).count();
    *work += (ahead + behind) as u64;
    (ahead >= GRAM).then_some(WordRun {
        a: at - behind,
        b: place - behind,
        length: ahead + behind,
    })
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
