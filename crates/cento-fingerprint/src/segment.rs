//! Hash-breaking: segments whose ends are determined by the hash of a word.

use std::ops::Range;

/// Calls `visit` with the range of every segment of at least `least` words, in order.
///
/// A word whose hash is 0 modulo `p` ends a segment and belongs to it; so does the last word of the
/// text. Whether a word ends a segment depends only on that word, so a copied passage is split at
/// the same words wherever it occurs. A segment has `p` words on average, but many are shorter,
/// down to a single `the`. Such segments carry no information about the origin of a text, and
/// ignoring them is the revision of Seo & Croft.
///
/// ```text
/// words      1  6  2  4  5  3  9  7          p = 3: 6, 3 and 9 are 0 modulo 3
/// segments   ████  ██████████  █  █
/// of ≥ 3           ██████████
/// ```
#[inline]
pub(crate) fn segments(words: &[u64], p: u64, least: usize, mut visit: impl FnMut(Range<usize>)) {
    let p = p.max(1);
    let mut begin = 0;
    for (index, word) in words.iter().enumerate() {
        if word.is_multiple_of(p) || index + 1 == words.len() {
            if index + 1 - begin >= least {
                visit(begin..index + 1);
            }
            begin = index + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn collect(words: &[u64], p: u64, least: usize) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        segments(words, p, least, |range| found.push(range));
        found
    }

    #[test]
    fn the_example_in_the_documentation_is_correct() {
        let words = [1, 6, 2, 4, 5, 3, 9, 7];
        assert_eq!(collect(&words, 3, 1), [0..2, 2..6, 6..7, 7..8]);
        assert_eq!(collect(&words, 3, 3), vec![2usize..6; 1]);
    }

    proptest! {
        #[test]
        fn segments_agree_with_the_definition(words in prop::collection::vec(0u64..20, 0..60), p in 0u64..9, least in 1usize..6) {
            let p = p.max(1);
            // Every range without an inner breakpoint, between two breakpoints or ends of the text.
            let mut expected = Vec::new();
            let ends = |index: usize| words[index] % p == 0;
            for begin in 0..words.len() {
                for end in begin + 1..=words.len() {
                    let begins = begin == 0 || ends(begin - 1);
                    let divided = (begin..end - 1).any(ends);
                    if begins && !divided && (end == words.len() || ends(end - 1)) && end - begin >= least {
                        expected.push(begin..end);
                    }
                }
            }
            prop_assert_eq!(collect(&words, p, least), expected);
        }

        #[test]
        fn segments_cover_the_text(words in prop::collection::vec(any::<u64>(), 0..60), p in 1u64..9) {
            let joined: Vec<usize> = collect(&words, p, 1).into_iter().flatten().collect();
            prop_assert_eq!(joined, (0..words.len()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn segments_have_p_words_on_average() {
        let words: Vec<u64> = (0..300_000u32)
            .map(|number| crate::word_hash(&number.to_string()))
            .collect();
        for p in [2, 3, 6, 20] {
            let mean = words.len() as f64 / collect(&words, p, 1).len() as f64;
            assert!((mean / p as f64 - 1.0).abs() < 0.02, "{mean} at {p}");
        }
    }
}
