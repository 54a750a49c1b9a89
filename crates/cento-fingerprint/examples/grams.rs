//! Prints the 5-grams that two sentences share.
//!
//! `cargo run -p cento-fingerprint --example grams`

use std::collections::HashMap;

use cento_fingerprint::{grams, word_hash};

const ORIGINAL: &str = "we hold these truths to be self evident that all men are created equal";
const COPY: &str = "they say that all men are created equal and they mean it";

fn main() {
    let ours: Vec<&str> = ORIGINAL.split(' ').collect();
    let theirs: Vec<&str> = COPY.split(' ').collect();
    let hashes =
        |words: &[&str]| -> Vec<u64> { words.iter().map(|word| word_hash(word)).collect() };

    let mut positions = HashMap::new();
    grams(&hashes(&ours), 5, |gram, position| {
        positions.insert(gram, position);
    });
    grams(&hashes(&theirs), 5, |gram, position| {
        if let Some(original) = positions.get(&gram) {
            let words = theirs[position..position + 5].join(" ");
            println!("{gram:016x}  word {position} from word {original}: {words}");
        }
    });
}
