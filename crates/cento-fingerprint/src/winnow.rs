//! Winnowing (Schleimer, Wilkerson & Aiken): selects the smallest hash of every window.

use crate::gram::grams;

/// A gram hash and its position.
type GramAt = (u64, usize);

/// Windows of up to this many grams are searched again when their smallest gram leaves them.
const SHORT_WINDOW: usize = 32;

/// Calls `visit` with the hash and position of every gram that is selected in some window of `w`,
/// once each and in order.
///
/// If several hashes are smallest, a window keeps the one selected by the previous window,
/// otherwise it takes the rightmost. (The authors call this robust winnowing: a repeated word has
/// one fingerprint per window, not one per word.) A text of fewer grams than a window is one
/// window, so that short texts have a fingerprint too.
///
/// See [`select_in_short_windows`] and [`select_in_blocks`] for the algorithms.
#[inline]
pub(crate) fn select(words: &[u64], k: usize, w: usize, visit: impl FnMut(u64, usize)) {
    // Windows never span more grams than there are.
    let w = w.min(words.len().saturating_sub(k - 1));
    if w <= SHORT_WINDOW {
        select_in_short_windows(words, k, w, visit);
    } else {
        select_in_blocks(words, k, w, visit);
    }
}

/// Selects grams in windows of at most [`SHORT_WINDOW`].
///
/// A gram is selected if it is smaller than the selected one, or if the selected one leaves the
/// window and this one is the rightmost smallest of those that remain. The last grams are kept in a
/// ring to search them again, which happens once in `w + 1` grams on average. The input is
/// untrusted and may force a search for each gram, so the window must be short.
#[inline]
fn select_in_short_windows(words: &[u64], k: usize, w: usize, mut visit: impl FnMut(u64, usize)) {
    let mut ring = [0u64; SHORT_WINDOW];
    // Before the first window is full, nothing is smaller than what is selected; when it is full,
    // what is selected has left it.
    let mut selected: GramAt = (0, usize::MAX);
    grams(words, k, |gram, position| {
        ring[position % SHORT_WINDOW] = gram;
        if gram < selected.0 {
            selected = (gram, position);
        } else if position.wrapping_sub(selected.1) >= w {
            selected = (u64::MAX, position);
            for at in position + 1 - w..=position {
                let hash = ring[at % SHORT_WINDOW];
                if hash <= selected.0 {
                    selected = (hash, at);
                }
            }
        } else {
            return;
        }
        visit(selected.0, selected.1);
    });
}

/// Selects grams in windows of any length, at a cost that does not depend on it.
///
/// Grams are divided into blocks of the length of a window, so that a window consists of the end of
/// one block and the beginning of the next. The minimum of each beginning is updated with every
/// gram, those of all ends when a block is full:
///
/// ```text
/// blocks      5 7 2 9 │ 4 8 6 …
/// ends        2 2 2 9 │
/// beginnings          │ 4 4 4
/// window          ▀▀▀▀▀▀▀            min(2, 4) = 2
/// ```
///
/// So the cost does not depend on the order of hashes either.
#[inline]
fn select_in_blocks(words: &[u64], k: usize, w: usize, mut visit: impl FnMut(u64, usize)) {
    let mut block: Vec<GramAt> = Vec::with_capacity(w);
    let mut ends: Vec<GramAt> = Vec::with_capacity(w);
    let mut beginning: GramAt = (0, 0);
    let mut selected: Option<GramAt> = None;
    grams(words, k, |gram, position| {
        if block.len() == w {
            std::mem::swap(&mut ends, &mut block);
            block.clear();
            rightmost_of_ends(&mut ends);
        }
        if block.is_empty() || gram <= beginning.0 {
            beginning = (gram, position);
        }
        block.push((gram, position));
        let smallest = match ends.get(block.len()) {
            Some(&end) if end.0 < beginning.0 => end,
            Some(_) => beginning,
            None if block.len() == w => beginning,
            // The first window is not full yet.
            None => return,
        };
        let stays = selected.is_some_and(|(hash, at)| hash == smallest.0 && at + w > position);
        if !stays {
            selected = Some(smallest);
            visit(smallest.0, smallest.1);
        }
    });
}

/// Replaces each entry with the rightmost smallest from there to the end.
fn rightmost_of_ends(block: &mut [GramAt]) {
    let mut smallest: Option<GramAt> = None;
    for place in block.iter_mut().rev() {
        match smallest {
            Some(smallest) if smallest.0 <= place.0 => *place = smallest,
            _ => smallest = Some(*place),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, window by window.
    fn naive(words: &[u64], k: usize, w: usize) -> Vec<(u64, usize)> {
        let mut hashes = Vec::new();
        grams(words, k, |gram, _| hashes.push(gram));
        let w = w.min(hashes.len()).max(1);
        let mut found: Vec<(u64, usize)> = Vec::new();
        for (begin, window) in hashes.windows(w).enumerate() {
            let smallest = *window.iter().min().unwrap();
            let kept = found
                .last()
                .is_some_and(|&(hash, position)| position >= begin && hash == smallest);
            if !kept {
                let rightmost = window.iter().rposition(|&hash| hash == smallest).unwrap();
                found.push((smallest, begin + rightmost));
            }
        }
        found
    }

    fn selected(words: &[u64], k: usize, w: usize) -> Vec<(u64, usize)> {
        let mut found = Vec::new();
        select(words, k, w, |hash, position| found.push((hash, position)));
        found
    }

    /// Few distinct words, so that windows contain equal hashes.
    fn repetitive() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(0u64..4, 0..80)
    }

    proptest! {
        #[test]
        fn winnowing_agrees_with_the_definition(
            random in prop::collection::vec(any::<u64>(), 0..80), repeated in repetitive(), k in 1usize..6, w in 1usize..14
        ) {
            prop_assert_eq!(selected(&random, k, w), naive(&random, k, w));
            prop_assert_eq!(selected(&repeated, k, w), naive(&repeated, k, w));
        }

        #[test]
        fn both_algorithms_select_the_same_grams(
            random in prop::collection::vec(any::<u64>(), 1..200), repeated in repetitive(), w in 1usize..=SHORT_WINDOW
        ) {
            for words in [random, repeated] {
                let w = w.min(words.len());
                let (mut short, mut blocks) = (Vec::new(), Vec::new());
                select_in_short_windows(&words, 1, w, |hash, position| short.push((hash, position)));
                select_in_blocks(&words, 1, w, |hash, position| blocks.push((hash, position)));
                prop_assert_eq!(short, blocks);
            }
        }

        #[test]
        fn texts_that_share_a_window_of_words_share_a_fingerprint(
            before in repetitive(), after in repetitive(), other_before in repetitive(), other_after in repetitive(),
            k in 1usize..6, w in 1usize..14, seed in prop::collection::vec(0u64..50, 20)
        ) {
            let shared = &seed[..w + k - 1];
            let ours = [&before[..], shared, &after[..]].concat();
            let theirs = [&other_before[..], shared, &other_after[..]].concat();
            let within = |begin: usize, found: Vec<(u64, usize)>| -> Vec<u64> {
                found
                    .into_iter()
                    .filter(|&(_, position)| (begin..begin + w).contains(&position))
                    .map(|(hash, _)| hash)
                    .collect()
            };
            let left = within(before.len(), selected(&ours, k, w));
            let right = within(other_before.len(), selected(&theirs, k, w));
            prop_assert!(left.iter().any(|hash| right.contains(hash)));
        }

        #[test]
        fn every_window_has_a_fingerprint(words in prop::collection::vec(any::<u64>(), 20..200), w in 1usize..14) {
            let positions: Vec<usize> = selected(&words, 3, w).into_iter().map(|(_, position)| position).collect();
            for begin in 0..words.len() - 2 - w.min(words.len() - 2) {
                prop_assert!(positions.iter().any(|position| (begin..begin + w).contains(position)));
            }
        }
    }

    #[test]
    fn the_density_on_random_text_is_two_in_a_window_plus_one() {
        let words: Vec<u64> = (0..400_000u32)
            .map(|number| crate::word_hash(&number.to_string()))
            .collect();
        for w in [1, 2, 5, 10, 40, 100] {
            let count = selected(&words, 3, w).len() as f64;
            let expected = 2.0 / (w as f64 + 1.0) * (words.len() - 2) as f64;
            assert!((count / expected - 1.0).abs() < 0.02, "{count} at {w}");
        }
    }

    #[test]
    fn a_repeated_word_has_one_fingerprint_per_window() {
        let words = [7; 102];
        assert_eq!(selected(&words, 3, 10).len(), 10);
    }

    #[test]
    fn a_text_shorter_than_a_window_is_one_window() {
        assert_eq!(selected(&[1, 2, 3, 4], 3, 10).len(), 1);
        assert_eq!(selected(&[1, 2], 3, 10).len(), 0);
        assert_eq!(selected(&[], 1, 1).len(), 0);
    }

    #[test]
    fn no_order_of_hashes_makes_a_long_window_slow() {
        let mut words: Vec<u64> = (0..300_000u32)
            .map(|number| crate::word_hash(&number.to_string()))
            .collect();
        let rank = |word: &u64| {
            let mut hash = 0;
            grams(std::slice::from_ref(word), 1, |gram, _| hash = gram);
            hash
        };
        words.sort_by_key(rank);
        let begin = std::time::Instant::now();
        let rising = selected(&words, 1, 50_000).len();
        words.reverse();
        let falling = selected(&words, 1, 50_000).len();
        assert_eq!((rising, falling), (250_001, 250_001));
        assert!(begin.elapsed().as_secs() < 20);
    }
}
