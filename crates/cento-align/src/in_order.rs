//! Words that are equal in order but for small edits, where no run of equal words is long.
//!
//! ```text
//!   a   the clerk [Anna] paid two marks to the house. On that day the clerk [Bela] paid two …
//!        │    │          │    │    │   │   │    │     │   │    │   │    │          │    │
//!   b   the clerk [Max ] paid two marks to the house. On that day the clerk [Nora] paid two …
//! ```
//!
//! Sentences that have the same frame are alike in all pairs, so that sentences cannot tell where
//! such a passage begins and ends. Its words can: from a run of equal words, both texts are
//! followed in both directions over edits of a few words, as long as there are many more equal
//! words.

use std::ops::Range;

use crate::document::Document;
use crate::passage::{PassageKind, Words};
use crate::runs::WordRun;
use crate::verbatim::DECISIVE;

/// The most words that an edit replaces, inserts or deletes …
const EDIT: usize = 4;
/// … how many words after it must be equal …
const AFTER: usize = 3;
/// … and how many equal words make up for each of its words. The equal words of a passage, less
/// those that make up for its edits, are its *balance*.
const PENALTY: usize = 4;
/// How far the balance may fall before nothing better is looked for.
const DROP: usize = 20;
/// The least balance of a passage: that of a run which is copied text by itself. Of 1,700
/// pairs of random texts of 17 formulaic genres, at most three have as much.
const LEAST: usize = DECISIVE;
/// Words that are compared for each word of the two documents.
const MOST_WORK: u64 = 16;

/// The passages around runs, which are in the order of the first document, outside of `taken`
/// ranges of its words. Passages do not overlap there.
pub(crate) fn passages(
    a: &Document<'_>,
    b: &Document<'_>,
    runs: &[WordRun],
    mut taken: Vec<Range<usize>>,
    work: &mut u64,
) -> Vec<Words> {
    taken.sort_unstable_by_key(|range| range.start);
    let most = *work + MOST_WORK * (a.words.len() + b.words.len()) as u64;
    let mut found: Vec<Words> = Vec::new();
    let (mut reached, mut next) = (0, 0);
    for run in runs {
        let end = run.a + run.length;
        while taken.get(next).is_some_and(|range| range.end <= run.a) {
            reached = reached.max(taken[next].end);
            next += 1;
        }
        let limit = taken.get(next).map_or(a.words.len(), |range| range.start);
        if run.a < reached || limit < end || *work > most {
            continue;
        }
        let form = |document: &Document<'_>, at: usize| document.words[at].form;
        let ahead = follow(
            |at| (end + at < limit).then(|| form(a, end + at)),
            |at| {
                let at = run.b + run.length + at;
                (at < b.words.len()).then(|| form(b, at))
            },
            work,
        );
        let behind = follow(
            |at| (reached + at < run.a).then(|| form(a, run.a - 1 - at)),
            |at| (at < run.b).then(|| form(b, run.b - 1 - at)),
            work,
        );
        let words_a = run.a - behind.a..end + ahead.a;
        let words_b = run.b - behind.b..run.b + run.length + ahead.b;
        if behind.balance + run.length + ahead.balance >= LEAST {
            reached = words_a.end;
            found.push(Words {
                a: words_a,
                b: words_b,
                kind: PassageKind::Edited,
            });
        }
    }
    found
}

/// How far two texts have equal words.
#[derive(Debug, Clone, Copy, Default)]
struct Followed {
    a: usize,
    b: usize,
    balance: usize,
}

/// Follows two texts over edits; `a` and `b` return their words by the distance from where it
/// begins.
fn follow(
    a: impl Fn(usize) -> Option<u64>,
    b: impl Fn(usize) -> Option<u64>,
    work: &mut u64,
) -> Followed {
    let (mut at, mut best) = (Followed::default(), Followed::default());
    let is_equal = |i: usize, j: usize| a(i).is_some_and(|word| b(j) == Some(word));
    // What the edits since the best place have cost beyond the balance.
    let mut debt = 0;
    loop {
        while is_equal(at.a, at.b) {
            at.a += 1;
            at.b += 1;
            *work += 1;
            match debt {
                0 => at.balance += 1,
                _ => debt -= 1,
            }
        }
        if debt == 0 && at.balance > best.balance {
            best = at;
        }
        let edits = (1..=EDIT).flat_map(|size| {
            let uneven = (0..size)
                .rev()
                .flat_map(move |other| [(size, other), (other, size)]);
            std::iter::once((size, size)).chain(uneven)
        });
        let mut edits = edits.inspect(|_| *work += 1);
        let edit = edits.find(|&(in_a, in_b)| {
            (0..AFTER).all(|ahead| is_equal(at.a + in_a + ahead, at.b + in_b + ahead))
        });
        let Some((in_a, in_b)) = edit else {
            return best;
        };
        at.a += in_a;
        at.b += in_b;
        debt += PENALTY * in_a.max(in_b);
        if debt > DROP {
            return best;
        }
    }
}
