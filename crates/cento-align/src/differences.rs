//! Which words of a passage its other side does not have.

use std::ops::Range;

use crate::document::{Fold, TextWord, read_words};

/// Returns the words of each text that the other does not have, as byte ranges in order. A word
/// that occurs more often in one text than in the other differs there in its last occurrences.
/// These are the words that [`Passage::identical`](crate::Passage::identical) does not count.
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
/// assert_eq!(in_a.iter().map(|word| &a[word.clone()]).collect::<Vec<_>>(), ["The", "bridge", "closed"]);
/// assert_eq!(in_b.iter().map(|word| &b[word.clone()]).collect::<Vec<_>>(), ["The", "bridge", "closed"]);
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
    let (order_a, order_b) = (by_form(&mine), by_form(&theirs));
    let mut compared = ComparedWords::default();
    let (mut i, mut j) = (0, 0);
    loop {
        let one = order_a.get(i).map(|&at| &mine[at]);
        let other = order_b.get(j).map(|&at| &theirs[at]);
        let order = match (one, other) {
            (Some(one), Some(other)) => one.form.cmp(&other.form),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => break,
        };
        match (order, one, other) {
            (std::cmp::Ordering::Less, Some(word), _) => compared.differing[0].push(range(word)),
            (std::cmp::Ordering::Greater, _, Some(word)) => {
                compared.differing[1].push(range(word));
            }
            (_, Some(one), Some(other)) => {
                compared.common[0].push(range(one));
                compared.common[1].push(range(other));
            }
            _ => {}
        }
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
    }
    for side in compared.differing.iter_mut().chain(&mut compared.common) {
        side.sort_by_key(|range| range.start);
    }
    compared
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

/// The positions of words, by form and then by place.
fn by_form(words: &[TextWord]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..words.len()).collect();
    order.sort_by_key(|&at| words[at].form);
    order
}

fn range(word: &TextWord) -> Range<usize> {
    word.begin as usize..word.end as usize
}
