//! Which words of a passage differ from its other side.
//!
//! ```text
//!   a   The [dear ] old house had a clear window
//!        │          │   │    │  │  │     │        words in brackets differ: `clear` is in b twice,
//!   b   The [clear] old house had a clear window  but only the second one is in its place
//! ```

use std::collections::HashMap;
use std::ops::Range;

use crate::document::{Fold, TextWord, read_words};
use crate::lcs::Lcs;

/// Returns the words of each text that differ from the other, as byte ranges in order.
///
/// Words are the same if they follow each other as in the other text: of as many words as possible,
/// and of texts of thousands of words at least of many. So are stretches of at least three words
/// that the other text has elsewhere, because they were moved. All other words differ, also if the
/// other text has them in another place. [`Passage::identical`](crate::Passage::identical) counts
/// words in any order.
///
/// ```
/// use cento_align::{Fold, differing_words};
///
/// let (a, b) = ("The old bridge is closed.", "The bridge was closed, the bridge!");
/// let [only_a, only_b] = differing_words(a, b, Fold::None);
/// assert_eq!(only_a.iter().map(|word| &a[word.clone()]).collect::<Vec<_>>(), ["old", "is"]);
/// let only_b: Vec<&str> = only_b.iter().map(|word| &b[word.clone()]).collect();
/// assert_eq!(only_b, ["was", "the", "bridge"]);
/// ```
pub fn differing_words(a: &str, b: &str, fold: Fold) -> [Vec<Range<usize>>; 2] {
    compare(a, b, fold).differing
}

/// Returns the words of each text that the other has, too, as byte ranges in order: those that
/// [`differing_words`] does not return, and as many on both sides.
///
/// ```
/// use cento_align::{Fold, common_words};
///
/// let (a, b) = ("The old bridge is closed.", "The bridge was closed, the bridge!");
/// let [in_a, in_b] = common_words(a, b, Fold::None);
/// let in_a: Vec<&str> = in_a.into_iter().map(|word| &a[word]).collect();
/// let in_b: Vec<&str> = in_b.into_iter().map(|word| &b[word]).collect();
/// assert_eq!(in_a, ["The", "bridge", "closed"]);
/// assert_eq!(in_a, in_b);
/// ```
pub fn common_words(a: &str, b: &str, fold: Fold) -> [Vec<Range<usize>>; 2] {
    compare(a, b, fold).common
}

/// The words of two texts that the other does not have, and those that it has, as byte ranges.
#[derive(Default)]
struct ComparedWords {
    differing: [Vec<Range<usize>>; 2],
    common: [Vec<Range<usize>>; 2],
}

fn compare(a: &str, b: &str, fold: Fold) -> ComparedWords {
    let [mine, theirs] = compared_words(a, b, fold);
    let forms = |words: &[TextWord]| words.iter().map(|word| word.form).collect::<Vec<u64>>();
    let (forms_a, forms_b) = (forms(&mine), forms(&theirs));
    let (mut same_a, mut same_b) = (vec![false; mine.len()], vec![false; theirs.len()]);
    for (i, j) in in_order(&forms_a, &forms_b) {
        (same_a[i], same_b[j]) = (true, true);
    }
    mark_moved((&forms_a, &mut same_a), (&forms_b, &mut same_b));
    let of = |words: &[TextWord], same: &[bool], wanted: bool| {
        let found = words.iter().zip(same);
        let found = found.filter(|(_, is_same)| **is_same == wanted);
        found.map(|(word, _)| range(word)).collect()
    };
    let both = |wanted| [of(&mine, &same_a, wanted), of(&theirs, &same_b, wanted)];
    ComparedWords {
        differing: both(false),
        common: both(true),
    }
}

/// The most blocks of 64 words of the shorter of two stretches, times words of the longer one, that
/// are compared word by word: 4,096 words with 4,096. They take 2 MiB.
const MOST_COMPARED: usize = 4096 * 4096 / 64;
/// How often stretches are divided at words that both have once, before they are divided in the
/// middle.
const MOST_DIVISIONS: u32 = 4;

/// The places of words that both sides have in the same order: as many as possible, unless the
/// sides are long. These are first divided at words that both have once and in the same order, or,
/// if there are none, in the middle of both.
fn in_order(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let mut lcs = Lcs::default();
    let mut pairs = Vec::new();
    let mut open = vec![(0..a.len(), 0..b.len(), 0)];
    // The last one is the first in order.
    while let Some((mut in_a, mut in_b, divisions)) = open.pop() {
        while !in_a.is_empty() && !in_b.is_empty() && a[in_a.start] == b[in_b.start] {
            pairs.push((in_a.start, in_b.start));
            (in_a.start, in_b.start) = (in_a.start + 1, in_b.start + 1);
        }
        let (rest_a, rest_b) = (&a[in_a.clone()], &b[in_b.clone()]);
        let place = |(i, j): (usize, usize)| (in_a.start + i, in_b.start + j);
        let last = rest_a.iter().rev().zip(rest_b.iter().rev());
        let last = last.take_while(|(one, other)| one == other).count();
        if last > 0 {
            open.push((
                in_a.end - last..in_a.end,
                in_b.end - last..in_b.end,
                divisions,
            ));
            open.push((
                in_a.start..in_a.end - last,
                in_b.start..in_b.end - last,
                divisions,
            ));
        } else if rest_a.is_empty() || rest_b.is_empty() {
            continue;
        } else if blocks(rest_a.len(), rest_b.len()) <= MOST_COMPARED {
            match rest_a.len() <= rest_b.len() {
                true => pairs.extend(lcs.pairs(rest_a, rest_b).into_iter().map(place)),
                false => {
                    let found = lcs.pairs(rest_b, rest_a).into_iter();
                    pairs.extend(found.map(|(j, i)| place((i, j))));
                }
            }
        } else {
            let mut ends = match divisions {
                ..MOST_DIVISIONS => unique_in_order(rest_a, rest_b),
                _ => Vec::new(),
            };
            if ends.is_empty() {
                ends.push((rest_a.len() / 2, rest_b.len() / 2));
            }
            let mut parts = Vec::with_capacity(ends.len() + 1);
            let (mut from_a, mut from_b) = (in_a.start, in_b.start);
            for (i, j) in ends {
                let (end_a, end_b) = (in_a.start + i, in_b.start + j);
                parts.push((from_a..end_a, from_b..end_b, divisions + 1));
                (from_a, from_b) = (end_a, end_b);
            }
            parts.push((from_a..in_a.end, from_b..in_b.end, divisions + 1));
            open.extend(parts.into_iter().rev());
        }
    }
    pairs
}

/// The blocks that are compared for stretches of so many words.
fn blocks(one: usize, other: usize) -> usize {
    one.min(other).div_ceil(64) * one.max(other)
}

/// The places of words that both sides have exactly once, as many of them as are in the same order.
fn unique_in_order(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let once = |words: &[u64]| {
        let mut places: HashMap<u64, Option<usize>> = HashMap::new();
        for (at, &word) in words.iter().enumerate() {
            let place = places.entry(word);
            place.and_modify(|place| *place = None).or_insert(Some(at));
        }
        places
    };
    let (in_a, in_b) = (once(a), once(b));
    // Patience sorting: the least last place of increasing sequences of each length.
    let mut piles: Vec<(usize, usize)> = Vec::new();
    let mut before: Vec<Option<(usize, usize)>> = vec![None; a.len()];
    for (i, word) in a.iter().enumerate() {
        let (Some(Some(_)), Some(Some(j))) = (in_a.get(word), in_b.get(word)) else {
            continue;
        };
        let pile = piles.partition_point(|last| last.1 < *j);
        before[i] = pile.checked_sub(1).map(|pile| piles[pile]);
        match piles.get_mut(pile) {
            Some(last) => *last = (i, *j),
            None => piles.push((i, *j)),
        }
    }
    let mut sequence = Vec::with_capacity(piles.len());
    let mut next = piles.last().copied();
    while let Some(place) = next {
        sequence.push(place);
        next = before[place.0];
    }
    sequence.reverse();
    sequence
}

/// The fewest words of a stretch that was moved, and the most places that are tried for one.
const MOVED: usize = 3;
const MOST_PLACES: usize = 8;

/// Marks as the same the words of stretches that both sides have in different places. Each word
/// counts once.
fn mark_moved((a, same_a): (&[u64], &mut [bool]), (b, same_b): (&[u64], &mut [bool])) {
    let mut places: HashMap<&[u64], Vec<usize>> = HashMap::new();
    for (at, words) in b.windows(MOVED).enumerate() {
        if same_b[at..at + MOVED].iter().all(|is_same| !is_same) {
            let places = places.entry(words).or_default();
            if places.len() < MOST_PLACES {
                places.push(at);
            }
        }
    }
    let mut at = 0;
    while at + MOVED <= a.len() {
        let tried = places.get(&a[at..at + MOVED]);
        let lengths = tried.into_iter().flatten().map(|&place| {
            let words = a[at..].iter().zip(&b[place..]);
            let free = same_a[at..].iter().zip(&same_b[place..]);
            let equal = words
                .zip(free)
                .take_while(|((one, other), (mine, theirs))| one == other && !**mine && !**theirs);
            (equal.count(), place)
        });
        match lengths.max_by_key(|&(length, place)| (length, std::cmp::Reverse(place))) {
            Some((length, place)) if length >= MOVED => {
                same_a[at..at + length].fill(true);
                same_b[place..place + length].fill(true);
                at += length;
            }
            _ => at += 1,
        }
    }
}

/// The words of two texts as they are compared: those that one of them splits are joined.
pub(crate) fn compared_words(a: &str, b: &str, fold: Fold) -> [Vec<TextWord>; 2] {
    let (mine, theirs) = (read_words(a, fold), read_words(b, fold));
    let joined = (
        mine.joined_for(&theirs.words),
        theirs.joined_for(&mine.words),
    );
    [
        joined.0.unwrap_or(mine).words,
        joined.1.unwrap_or(theirs).words,
    ]
}

fn range(word: &TextWord) -> Range<usize> {
    word.begin as usize..word.end as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(a: &str, b: &str) -> [String; 2] {
        let [only_a, only_b] = differing_words(a, b, Fold::None);
        let mark = |text: &str, words: Vec<Range<usize>>| {
            let words: Vec<&str> = words.into_iter().map(|word| &text[word]).collect();
            words.join(" ")
        };
        [mark(a, only_a), mark(b, only_b)]
    }

    /// The length of a longest common subsequence, by definition.
    fn naive(a: &[u64], b: &[u64]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for one in a {
            let mut diagonal = 0;
            for (at, other) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = match one == other {
                    true => diagonal + 1,
                    false => above.max(row[at]),
                };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    #[test]
    fn the_changed_word_is_marked_and_not_an_equal_one_elsewhere() {
        let rest = "old house had a clear window and the clear light came in";
        let (a, b) = (format!("The dear {rest}."), format!("The clear {rest}."));
        assert_eq!(marked(&a, &b), ["dear", "clear"]);
        assert_eq!(marked(&b, &a), ["clear", "dear"]);
        // Two words that changed places.
        let (a, b) = (
            "The red car passed the blue bus.",
            "The blue car passed the red bus.",
        );
        assert_eq!(marked(a, b), ["red blue", "blue red"]);
    }

    #[test]
    fn a_stretch_that_was_moved_is_not_marked() {
        let (one, other) = (
            "Nobody knows who paid for the lighthouse and its lamps",
            "in winter all boats lie upside down on the grass",
        );
        let (a, b) = (format!("{one}, {other}."), format!("{other}, {one}!"));
        assert_eq!(marked(&a, &b), ["", ""]);
    }

    #[test]
    fn long_texts_are_divided_and_their_changed_words_are_marked() {
        let words = |changed: &str| -> String {
            let word = |at: usize| match at % 1000 {
                500 => format!("{changed}{at} "),
                _ => format!("w{} ", at * 7919 % 9001),
            };
            (0..20_000).map(word).collect()
        };
        let [only_a, only_b] = differing_words(&words("x"), &words("y"), Fold::None);
        assert_eq!((only_a.len(), only_b.len()), (20, 20));
        // A few words and very many.
        let many = words("x").repeat(20);
        let [only_a, only_b] = differing_words("w7919 new w6837", &many, Fold::None);
        assert_eq!((only_a.len(), only_b.len()), (1, 400_000 - 2));
        // Nothing but frequent words: the middle is as good as any place.
        let few = |seed: usize| -> Vec<u64> {
            let word = |at: usize| ((at * 7919 + seed) * at % 97) as u64;
            (0..9_000).map(word).collect()
        };
        let (a, b) = (few(1), few(2));
        let pairs = in_order(&a, &b);
        assert!(pairs.len() > 1_000);
        assert!(pairs.iter().all(|&(i, j)| a[i] == b[j]));
        assert!(
            pairs
                .windows(2)
                .all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1)
        );
    }

    proptest! {
        #[test]
        fn as_many_words_are_in_order_as_a_longest_common_subsequence_has(
            a in prop::collection::vec(0u64..9, 0..120),
            b in prop::collection::vec(0u64..9, 0..120),
        ) {
            let pairs = in_order(&a, &b);
            prop_assert_eq!(pairs.len(), naive(&a, &b));
            prop_assert!(pairs.iter().all(|&(i, j)| a[i] == b[j]));
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        }

        #[test]
        fn exactly_the_words_that_were_replaced_are_marked_where_they_are_new(
            text in prop::collection::vec("[a-e]{1,2}", 1..80),
            replaced in prop::collection::vec(0usize..80, 0..20),
        ) {
            let mut other = text.clone();
            for &at in replaced.iter().filter(|&&at| at < text.len()) {
                other[at] = format!("new{at}");
            }
            let new: Vec<&str> = other.iter().filter(|word| word.starts_with("new")).map(|word| word.as_str()).collect();
            let (a, b) = (text.join(" "), other.join(" "));
            let [only_a, only_b] = differing_words(&a, &b, Fold::None);
            let only_b: Vec<&str> = only_b.into_iter().map(|word| &b[word]).collect();
            prop_assert_eq!(&only_b, &new);
            prop_assert_eq!(only_a.len(), new.len());
        }
    }
}
