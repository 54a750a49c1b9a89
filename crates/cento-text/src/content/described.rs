//! Which blocks repeat what a page says about itself.
//!
//! A page states its description, and some state their whole text, in metadata
//! ([`Declarations::descriptions`]). A block that shares phrases with it belongs to the content,
//! and so does what is around it.
//!
//! [`Declarations::descriptions`]: crate::html::Declarations::descriptions

use super::keys::KeySet;
use super::word_bits::WordBits;
use crate::bits::eight;
use crate::html::scan;
use std::ops::Range;

/// Phrases of three words of the descriptions of a page.
pub(super) struct DescribedPhrases {
    phrases: KeySet<u64>,
    /// One bit for each phrase, by its hash: most phrases of a page are not in the descriptions,
    /// which is seen here.
    bits: [u64; 32],
}

/// The word and the bit of a phrase in [`DescribedPhrases::bits`].
fn place(phrase: u64) -> (usize, u64) {
    let hash = phrase.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 53;
    ((hash >> 6) as usize & 31, 1 << (hash & 63))
}

impl DescribedPhrases {
    pub(super) fn new(descriptions: &str) -> Self {
        let mut phrases = KeySet::default();
        let mut bits = [0; 32];
        let words = WordBits::of(descriptions);
        let mut begin = 0;
        for line in descriptions.split('\n') {
            let range = begin..begin + line.len();
            begin = range.end + 1;
            each_phrase(descriptions, &words, range, |phrase| {
                let (word, bit) = place(phrase);
                bits[word] |= bit;
                phrases.insert(phrase);
            });
        }
        DescribedPhrases { phrases, bits }
    }

    /// How many phrases of a range of `text` are in the descriptions, given the words of the text.
    pub(super) fn count(&self, text: &str, words: &WordBits, range: Range<usize>) -> u32 {
        let mut found = 0;
        if !self.phrases.is_empty() {
            each_phrase(text, words, range, |phrase| {
                let (word, bit) = place(phrase);
                if self.bits[word] & bit != 0 {
                    found += u32::from(self.phrases.contains(&phrase));
                }
            });
        }
        found
    }
}

/// Calls `visit` with a hash of each three consecutive words, in lower case.
#[inline]
fn each_phrase(text: &str, words: &WordBits, range: Range<usize>, mut visit: impl FnMut(u64)) {
    let (mut second, mut first) = (0_u64, 0_u64);
    let mut count = 0;
    words.each_word(range, |word| {
        let word = hash(text.as_bytes(), word);
        count += 1;
        if count >= 3 {
            visit((second.rotate_left(17) ^ first).rotate_left(17) ^ word);
        }
        (second, first) = (first, word);
    });
}

/// A hash of a word in lower case, eight bytes at a time.
#[inline]
fn hash(text: &[u8], word: Range<usize>) -> u64 {
    let mut hash = 0;
    let mut rest = word;
    while !rest.is_empty() {
        let length = rest.len().min(8);
        let part = scan::load(text, rest.start).unwrap_or_else(|| {
            let mut bytes = [0; 8];
            for (byte, &from) in bytes
                .iter_mut()
                .zip(text.get(rest.start..).unwrap_or_default())
            {
                *byte = from;
            }
            u64::from_le_bytes(bytes)
        });
        let part = lower(part & (u64::MAX >> (64 - 8 * length)));
        hash = (hash ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^= hash >> 32;
        rest.start += length;
    }
    hash
}

/// Eight bytes with ASCII letters in lower case.
#[inline]
fn lower(bytes: u64) -> u64 {
    // The high bit of a byte is set if its low bits are at least `A`, and if they are more than
    // `Z`.
    let low = bytes & eight(0x7f);
    let least = low + eight(0x80 - b'A');
    let more = low + eight(0x7f - b'Z');
    bytes | (least & !more & !bytes & eight(0x80)) >> 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn phrases_are_found_in_any_case_and_punctuation() {
        let described = DescribedPhrases::new("Otters sleep on their backs.\nSecond line here");
        let count = |described: &DescribedPhrases, text: &str| {
            described.count(text, &WordBits::of(text), 0..text.len())
        };
        assert_eq!(count(&described, "otters: sleep ON their, backs"), 3);
        assert_eq!(count(&described, "backs second line"), 0);
        assert_eq!(count(&described, "two words"), 0);
        assert_eq!(count(&DescribedPhrases::new(""), "otters sleep on"), 0);
    }

    proptest! {
        #[test]
        fn a_word_has_the_hash_of_its_lower_case(text in "[@A-Z\\[`a-z{0-9éÉß]{1,40}") {
            let small = text.to_ascii_lowercase();
            let hash = |text: &str| hash(text.as_bytes(), 0..text.len());
            prop_assert_eq!(hash(&text), hash(&small));
            prop_assert_eq!(lower(0xC1), 0xC1);
            let longer = format!("{text}A");
            prop_assert_ne!(hash(&text), hash(&longer));
            prop_assert_eq!(super::hash(longer.as_bytes(), 0..text.len()), hash(&text));
        }
    }
}
