//! Words of texts and their hashes: a word has one hash, regardless of how it was found.

use cento_fingerprint::{packed_word_hash, word_hash};
use cento_text::words::{WordScanner, words};
use proptest::prelude::*;

fn as_found(text: &str) -> Vec<u64> {
    let mut hashes = Vec::new();
    WordScanner::new().scan_keys(text, |key| {
        hashes.push(key.either(packed_word_hash, word_hash));
    });
    hashes
}

fn as_defined(text: &str) -> Vec<u64> {
    let found = words(text);
    found.iter().map(|(_, normal)| word_hash(normal)).collect()
}

proptest! {
    #[test]
    fn every_word_of_a_text_has_the_hash_of_its_normal_form(text in "([A-Za-z0-9]{1,20}|[a-zÄéß\u{ad}文ﬁ]{1,9}|\\PC|[ ,.]){0,60}") {
        prop_assert_eq!(as_found(&text), as_defined(&text));
    }
}

#[test]
fn a_word_has_one_hash_in_any_spelling_and_position() {
    for word in ["fin", "strasse", "0123456789abcdef", "0123456789abcdefg"] {
        let capitals = word.to_uppercase();
        // With a soft hyphen the word is processed character by character.
        let hyphenated = format!("{}\u{ad}{}", &word[..2], &word[2..]);
        for spaces in 0..80 {
            let before = " ".repeat(spaces);
            let text = format!("{before}{word} {capitals}, {hyphenated} {word}");
            assert_eq!(as_found(&text), [word_hash(word); 4], "{text:?}");
        }
    }
    assert_eq!(as_found("ﬁn Straße"), as_found("fin strasse"));
}
