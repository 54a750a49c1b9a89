//! The effect of single replaced words on the fingerprints of segments, in English prose.

use std::collections::HashMap;

use cento_fingerprint::{Scheme, word_hash};
use cento_text::words::for_each_word;

/// The Declaration of Independence and the Gettysburg Address.
const TEXT: &str = include_str!("data/declaration.txt");

fn words() -> Vec<u64> {
    let mut words = Vec::new();
    for_each_word(TEXT, |word| words.push(word_hash(word.normal)));
    words
}

/// A deterministic pseudorandom number generator.
struct PseudoRandom(u64);

impl PseudoRandom {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0) * bound as u128) >> 64) as usize
    }
}

/// The share of segments that keep their fingerprint and position after one of their words was
/// replaced by another word of the text.
fn kept(scheme: Scheme, words: &[u64]) -> f64 {
    let mut numbers = PseudoRandom(1);
    let (mut kept, mut trials) = (0u32, 0u32);
    for print in scheme.fingerprints(words).list() {
        for offset in 0..print.words {
            for _ in 0..20 {
                // The segment and some text after it, in case it now ends later. The text before it
                // ends with a breakpoint and is not changed.
                let end = (print.position + print.words + 30).min(words.len());
                let mut changed = words[print.position..end].to_vec();
                let replacement = words[numbers.below(words.len())];
                if replacement == changed[offset] {
                    continue;
                }
                changed[offset] = replacement;
                let after = scheme.fingerprints(&changed);
                let first = after.list().first().filter(|first| first.position == 0);
                trials += 1;
                kept += u32::from(first.is_some_and(|first| first.hash == print.hash));
            }
        }
    }
    assert!(trials > 1_000);
    f64::from(kept) / f64::from(trials)
}

/// The share of matches among pairs of segments that differ in more than one word.
fn false_matches(scheme: Scheme, words: &[u64]) -> f64 {
    let mut segments: HashMap<&[u64], u64> = HashMap::new();
    let prints = scheme.fingerprints(words);
    for print in prints.list() {
        segments.insert(
            &words[print.position..print.position + print.words],
            print.hash,
        );
    }
    let mut buckets: HashMap<u64, Vec<&[u64]>> = HashMap::new();
    for (segment, hash) in &segments {
        buckets.entry(*hash).or_default().push(segment);
    }
    let mut matches = 0u64;
    for bucket in buckets.values() {
        for (index, one) in bucket.iter().enumerate() {
            for other in &bucket[..index] {
                let differences = one
                    .iter()
                    .zip(other.iter())
                    .filter(|(left, right)| left != right)
                    .count();
                matches += u64::from(one.len() != other.len() || differences > 1);
            }
        }
    }
    let count = segments.len() as f64;
    matches as f64 / (count * (count - 1.0) / 2.0)
}

#[test]
fn one_in_ten_dct_fingerprints_survives_a_replaced_word_and_no_segment_hash_does() {
    let words = words();
    assert!(words.len() > 1_500);
    for p in [3, 6, 12] {
        let kept_by_dct = kept(Scheme::Dct { p }, &words);
        let kept_by_break = kept(Scheme::Break { p, short: false }, &words);
        println!(
            "p={p}: dct keeps {:.1} %, break {:.1} %",
            100.0 * kept_by_dct,
            100.0 * kept_by_break
        );
        assert!(kept_by_dct >= 0.10, "{kept_by_dct} at {p}");
        assert!(kept_by_break < 0.001, "{kept_by_break} at {p}");
    }
}

#[test]
fn unrelated_segments_rarely_have_the_same_dct_fingerprint() {
    // Random text with the word frequencies of English. It has far more pairs than the text itself,
    // and a vocabulary far smaller than that of a corpus, so that chance matches are more likely.
    let words = words();
    let mut numbers = PseudoRandom(2);
    let long: Vec<u64> = (0..120_000)
        .map(|_| words[numbers.below(words.len())])
        .collect();
    for (p, bound) in [(3, 2e-4), (6, 1e-4), (12, 1e-4)] {
        let rate = false_matches(Scheme::Dct { p }, &long);
        println!("p={p}: one false match in {:.0} pairs", 1.0 / rate);
        assert!(rate < bound, "{rate} at {p}");
    }
    let rate = false_matches(Scheme::Dct { p: 3 }, &words);
    assert!(rate < 5e-4, "{rate}");
}
