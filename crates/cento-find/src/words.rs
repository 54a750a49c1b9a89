//! Hashes of the words and grams of texts.

use cento_fingerprint::{GramHasher, grams, packed_word_hash, word_hash};
use cento_text::words::WordScanner;

/// Hashes the words and grams of one text after the other, reusing its memory.
#[derive(Default)]
pub struct WordHasher {
    scanner: WordScanner,
    words: Vec<u64>,
}

impl WordHasher {
    /// Returns the hashes of all words of a text, in order.
    pub fn words(&mut self, text: &str) -> &[u64] {
        self.words.clear();
        let words = &mut self.words;
        self.scanner.scan_keys(text, |key| {
            words.push(key.either(packed_word_hash, word_hash));
        });
        &self.words
    }

    /// Collects the distinct grams of `k` words of a text, sorted. A text of fewer words is one
    /// gram, so that short texts can be compared.
    pub fn gram_set(&mut self, text: &str, k: usize, set: &mut Vec<u64>) {
        let words = self.words(text);
        set.clear();
        if words.len() < k && !words.is_empty() {
            set.push(cento_fingerprint::run_hash(words));
        } else {
            set.reserve(words.len());
            grams(words, k, |gram, _| set.push(gram));
        }
        set.sort_unstable();
        set.dedup();
    }
}

/// Computes the distinct grams of texts of any length in bounded memory. A long text is scanned
/// several times, and each round keeps one class of grams.
#[derive(Default)]
pub struct GramRounds {
    scanner: WordScanner,
    grams: Vec<u64>,
}

impl GramRounds {
    /// The approximate number of grams in a round: 16 MiB.
    const KEPT: usize = 1 << 21;

    /// Returns the number of rounds of a text. The words of a long text are counted first: a word
    /// with its separator takes at least two bytes, but six on average.
    fn rounds(&mut self, text: &str) -> u64 {
        let mut words = text.len() / 2;
        if words > GramRounds::KEPT {
            words = 0;
            self.scanner.scan_keys(text, |_| words += 1);
        }
        words.div_ceil(GramRounds::KEPT).max(1) as u64
    }

    /// Calls `each` with the distinct grams of each round, sorted. A text of fewer than `k` words
    /// has no grams.
    pub fn of<E>(
        &mut self,
        text: &str,
        k: usize,
        mut each: impl FnMut(&[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let rounds = self.rounds(text);
        let mut hasher = GramHasher::new(k);
        for round in 0..rounds {
            hasher.reset();
            self.grams.clear();
            let grams = &mut self.grams;
            self.scanner.scan_keys(text, |key| {
                let gram = hasher.push(key.either(packed_word_hash, word_hash));
                grams.extend(gram.filter(|gram| (gram >> 32) % rounds == round));
            });
            self.grams.sort_unstable();
            self.grams.dedup();
            if !self.grams.is_empty() {
                each(&self.grams)?;
            }
        }
        Ok(())
    }
}

/// Returns how many numbers two ascending lists have in common.
pub fn shared(one: &[u64], other: &[u64]) -> usize {
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    let mut count = 0;
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        match a.cmp(b) {
            std::cmp::Ordering::Less => drop(left.next()),
            std::cmp::Ordering::Greater => drop(right.next()),
            std::cmp::Ordering::Equal => {
                count += 1;
                left.next();
                right.next();
            }
        }
    }
    count
}

/// Returns the resemblance (Jaccard index) of two ascending lists without repeats: 1 if both are
/// empty.
pub fn resemblance(one: &[u64], other: &[u64]) -> f64 {
    let both = shared(one, other);
    let either = one.len() + other.len() - both;
    if either == 0 {
        1.0
    } else {
        both as f64 / either as f64
    }
}
