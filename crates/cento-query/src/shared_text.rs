//! Locates the text that a query shares with a page.
//!
//! Fingerprints say that a few words are the same, and not which words around them are. So every
//! shared fingerprint is extended in both directions for as long as the words of the two texts are
//! the same. A passage begins behind the previous one of the query, and is the longest that can be
//! reached from one of the first [`MOST_PLACES`] places of the fingerprint in the page. This bounds
//! the work: it grows with the length of the two texts, however often they repeat themselves.

use cento_fingerprint::{Scheme, packed_word_hash, word_hash};
use cento_text::words::WordScanner;

use crate::answer::SharedPassage;
use crate::error::{Error, Result};

/// The number of places of a fingerprint in a page that are tried.
const MOST_PLACES: usize = 8;

/// A fingerprint in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PlacedFingerprint {
    hash: u64,
    /// The first word.
    word: u32,
    words: u32,
}

/// The words and fingerprints of a text. Memory is 16 bytes per word, and 16 per fingerprint.
pub(crate) struct FingerprintedText {
    hashes: Vec<u64>,
    /// The bytes of each word.
    ranges: Vec<(u32, u32)>,
    /// In order of position.
    fingerprints: Vec<PlacedFingerprint>,
}

impl FingerprintedText {
    /// Finds the words and fingerprints of a text.
    pub(crate) fn new(text: &str, scheme: Scheme) -> Result<FingerprintedText> {
        if u32::try_from(text.len()).is_err() {
            return Err(Error::Usage(
                "a text of 4 GB or more is too long".to_owned(),
            ));
        }
        let (mut hashes, mut ranges) = (Vec::new(), Vec::new());
        WordScanner::new().scan_ranged_keys(text, |range, key| {
            hashes.push(key.either(packed_word_hash, word_hash));
            ranges.push((range.start as u32, range.end as u32));
        });
        let mut fingerprints = Vec::new();
        scheme.for_each(&hashes, |fingerprint| {
            fingerprints.push(PlacedFingerprint {
                hash: fingerprint.hash,
                word: fingerprint.position as u32,
                words: fingerprint.words as u32,
            });
        });
        Ok(FingerprintedText {
            hashes,
            ranges,
            fingerprints,
        })
    }

    /// Returns the distinct fingerprints, sorted.
    pub(crate) fn set(&self) -> Vec<u64> {
        let fingerprints = self.fingerprints.iter();
        let mut set: Vec<u64> = fingerprints.map(|fingerprint| fingerprint.hash).collect();
        set.sort_unstable();
        set.dedup();
        set
    }

    /// Returns the passages that contain one of the fingerprints that `counts` accepts, in order.
    pub(crate) fn passages(
        &self,
        page: &FingerprintedText,
        counts: impl Fn(u64) -> bool,
    ) -> Vec<SharedPassage> {
        let mut places = page.fingerprints.clone();
        places.sort_unstable();
        let mut passages = Vec::new();
        // The first word behind the last passage.
        let mut free = 0;
        for fingerprint in &self.fingerprints {
            let first = fingerprint.word as usize;
            if first + (fingerprint.words as usize) <= free || !counts(fingerprint.hash) {
                continue;
            }
            let begin = places.partition_point(|place| place.hash < fingerprint.hash);
            let same = places.iter().skip(begin).take(MOST_PLACES);
            let same = same.take_while(|place| place.hash == fingerprint.hash);
            let mut longest: Option<(usize, usize, usize)> = None;
            for place in same {
                let run = self.run_around(first, page, place.word as usize, free);
                if longest.is_none_or(|(_, _, words)| run.2 > words) {
                    longest = Some(run);
                }
            }
            let Some((own, other, words)) = longest.filter(|run| run.2 > 0) else {
                continue;
            };
            free = own + words;
            passages.extend(self.passage(own, page, other, words));
        }
        passages
    }

    /// Returns the longest run of equal words around a word of each text: where it begins in both,
    /// and its length. It does not begin before the word `free` of this text.
    fn run_around(
        &self,
        own: usize,
        page: &FingerprintedText,
        other: usize,
        free: usize,
    ) -> (usize, usize, usize) {
        let left_own = self.hashes.get(free.min(own)..own).unwrap_or_default();
        let left_other = page.hashes.get(..other).unwrap_or_default();
        let pairs = left_own.iter().rev().zip(left_other.iter().rev());
        let left = pairs.take_while(|(one, other)| one == other).count();
        let right_own = self.hashes.get(own..).unwrap_or_default();
        let right_other = page.hashes.get(other..).unwrap_or_default();
        let pairs = right_own.iter().zip(right_other);
        let right = pairs.take_while(|(one, other)| one == other).count();
        (own - left, other - left, left + right)
    }

    fn passage(
        &self,
        own: usize,
        page: &FingerprintedText,
        other: usize,
        words: usize,
    ) -> Option<SharedPassage> {
        let bytes = |text: &FingerprintedText, first: usize| {
            let begin = text.ranges.get(first)?.0 as usize;
            let end = text.ranges.get(first + words - 1)?.1 as usize;
            Some(begin..end)
        };
        Some(SharedPassage {
            query: bytes(self, own)?,
            page: bytes(page, other)?,
            words: words as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scheme() -> Scheme {
        Scheme::Winnow { k: 3, w: 4 }
    }

    fn words(text: &str) -> Vec<String> {
        let words = cento_text::words::words(text).into_iter();
        words.map(|(_, normal)| normal).collect()
    }

    proptest! {
        #[test]
        fn passages_have_the_same_words_and_cover_every_shared_fingerprint(
            query in "([a-c] ?){0,60}",
            page in "([a-c],? ?){0,60}",
        ) {
            let one = FingerprintedText::new(&query, scheme()).unwrap();
            let other = FingerprintedText::new(&page, scheme()).unwrap();
            let set = other.set();
            let passages = one.passages(&other, |_| true);
            let mut end = 0;
            for passage in &passages {
                let (own, theirs) = (&query[passage.query.clone()], &page[passage.page.clone()]);
                prop_assert_eq!(words(own), words(theirs));
                prop_assert_eq!(words(own).len(), passage.words as usize);
                prop_assert!(passage.query.start >= end);
                end = passage.query.end;
            }
            for fingerprint in &one.fingerprints {
                if set.binary_search(&fingerprint.hash).is_err() {
                    continue;
                }
                let begin = one.ranges[fingerprint.word as usize].0 as usize;
                let last = one.ranges[(fingerprint.word + fingerprint.words) as usize - 1].1 as usize;
                // Its words are in one passage or, where a passage ends within it, in two.
                let covered = |at: usize| passages.iter().any(|passage| passage.query.contains(&at));
                prop_assert!(covered(begin) && covered(last - 1), "{:?}", passages);
            }
            prop_assert!(one.passages(&other, |_| false).is_empty());
        }
    }

    #[test]
    fn a_passage_is_as_long_as_the_words_agree() {
        let query = "before it: To be, or not to be, that is the question. After it.";
        let page = "He said \"to be or not to be that is the question\" and left";
        let scheme = Scheme::Winnow { k: 3, w: 10 };
        let one = FingerprintedText::new(query, scheme).unwrap();
        let other = FingerprintedText::new(page, scheme).unwrap();
        let passages = one.passages(&other, |_| true);
        assert_eq!(passages.len(), 1);
        assert_eq!(
            &query[passages[0].query.clone()],
            "To be, or not to be, that is the question"
        );
        assert_eq!(
            &page[passages[0].page.clone()],
            "to be or not to be that is the question"
        );
    }

    #[test]
    fn a_text_that_repeats_itself_is_located_in_linear_time() {
        let text = "na ".repeat(200_000);
        let one = FingerprintedText::new(&text, scheme()).unwrap();
        let passages = one.passages(&one, |_| true);
        assert_eq!(passages.len(), 1);
        assert_eq!(passages[0].words, 200_000);
    }
}
