//! Winnowing: the smallest hash of every window, by Schleimer, Wilkerson & Aiken.

use crate::gram::grams;

/// A hash and its position.
type Place = (u64, usize);

/// Gives `visit` the hash and the position of every gram that is selected in some window of `w`,
/// once each and in order.
///
/// Of several smallest, a window keeps the one that the window before it selected, or takes the
/// rightmost. (This is what its authors call robust: a text of one word repeated has one
/// fingerprint a window, not one a word.) A text of fewer grams than a window is one window, so
/// that short texts have a fingerprint too.
///
/// Grams are cut into blocks as long as a window, so that a window is the end of one block and the
/// beginning of the next. The smallest of every beginning is known as the grams come, that of every
/// end once a block is full:
///
/// ```text
/// blocks      5 7 2 9 │ 4 8 6 …
/// ends        2 2 2 9 │
/// beginnings          │ 4 4 4
/// window          ▀▀▀▀▀▀▀            min(2, 4) = 2
/// ```
///
/// So no order of hashes costs more than another, however long the window: the usual search for a
/// new smallest where the old one leaves the window is quick on average, but texts are written by
/// strangers.
#[inline]
pub(crate) fn select(words: &[u64], k: usize, w: usize, mut visit: impl FnMut(u64, usize)) {
    // Windows never span more grams than there are.
    let w = w.min(words.len().saturating_sub(k - 1));
    let mut block: Vec<Place> = Vec::with_capacity(w);
    let mut ends: Vec<Place> = Vec::with_capacity(w);
    let mut beginning: Place = (0, 0);
    let mut selected: Option<Place> = None;
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

/// Makes each place the rightmost smallest from there to the end.
fn rightmost_of_ends(block: &mut [Place]) {
    let mut smallest: Option<Place> = None;
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

    /// Few distinct words, so that hashes are equal within a window.
    fn repetitive() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(0u64..4, 0..80)
    }

    proptest! {
        #[test]
        fn winnowing_equals_its_definition(
            random in prop::collection::vec(any::<u64>(), 0..80), repeated in repetitive(), k in 1usize..6, w in 1usize..14
        ) {
            prop_assert_eq!(selected(&random, k, w), naive(&random, k, w));
            prop_assert_eq!(selected(&repeated, k, w), naive(&repeated, k, w));
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
        fn no_window_is_left_without_a_fingerprint(words in prop::collection::vec(any::<u64>(), 20..200), w in 1usize..14) {
            let positions: Vec<usize> = selected(&words, 3, w).into_iter().map(|(_, position)| position).collect();
            for begin in 0..words.len() - 2 - w.min(words.len() - 2) {
                prop_assert!(positions.iter().any(|position| (begin..begin + w).contains(position)));
            }
        }
    }

    #[test]
    fn two_in_a_window_and_one_are_selected_of_random_text() {
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
    fn a_word_repeated_has_one_fingerprint_a_window() {
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
