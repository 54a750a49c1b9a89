//! Which blocks repeat what a page says about itself.
//!
//! A page states its description, and some state their whole text, in metadata
//! ([`Declarations::descriptions`]). A block that shares phrases with it belongs to the content,
//! and so does what is around it.
//!
//! [`Declarations::descriptions`]: crate::html::Declarations::descriptions

use std::collections::HashSet;

/// Phrases of three words of the descriptions of a page.
pub(super) struct DescribedPhrases {
    phrases: HashSet<u64>,
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
        let mut phrases = HashSet::new();
        let mut bits = [0; 32];
        for line in descriptions.lines() {
            each_phrase(line, |phrase| {
                let (word, bit) = place(phrase);
                bits[word] |= bit;
                phrases.insert(phrase);
            });
        }
        DescribedPhrases { phrases, bits }
    }

    /// How many phrases of `text` are in the descriptions.
    pub(super) fn count(&self, text: &str) -> u32 {
        let mut found = 0;
        if !self.phrases.is_empty() {
            each_phrase(text, |phrase| {
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
fn each_phrase(text: &str, mut visit: impl FnMut(u64)) {
    let (mut second, mut first) = (0_u64, 0_u64);
    let mut words = 0;
    let mut word = 0_u64;
    for byte in text.bytes().chain([b' ']) {
        if byte.is_ascii_alphanumeric() || byte >= 0x80 {
            // Letters differ in five bits, so that words of up to twelve are told apart.
            word = word.rotate_left(5) ^ u64::from(byte.to_ascii_lowercase());
        } else if word != 0 {
            words += 1;
            word = word.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            if words >= 3 {
                visit((second.rotate_left(17) ^ first).rotate_left(17) ^ word);
            }
            (second, first) = (first, word);
            word = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_in_any_case_and_punctuation() {
        let described = DescribedPhrases::new("Otters sleep on their backs.\nSecond line here");
        assert_eq!(described.count("otters: sleep ON their, backs"), 3);
        assert_eq!(described.count("backs second line"), 0);
        assert_eq!(described.count("two words"), 0);
        assert_eq!(DescribedPhrases::new("").count("otters sleep on"), 0);
    }
}
