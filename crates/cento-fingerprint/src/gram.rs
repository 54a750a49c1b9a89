//! Rolling hashes of `k` consecutive words.
//!
//! The sum of a gram is a polynomial over the ring of 64-bit integers, with the word hashes `w` as
//! coefficients:
//!
//! ```text
//! sum(w₀ … wₖ₋₁) = w₀·Mᵏ⁻¹ + w₁·Mᵏ⁻² + … + wₖ₋₁        (mod 2⁶⁴)
//! hash           = finish(sum ⊕ k·SPREAD)
//! ```
//!
//! so that the next gram takes one subtraction, two multiplications and one addition, regardless of
//! `k`. The multiplier is odd, hence no information is shifted out at the top. A prime modulus such
//! as 2⁶¹ − 1 would be required if an adversary could choose the coefficients freely; ours are
//! already hashes, and the wrapping ring keeps all 64 bits at half the cost. `finish` is a
//! bijection, so it adds no collisions; it spreads the sum over all bits, because analyses sample
//! grams by their low bits and partition them by their high ones. The length is part of the hash,
//! so grams of four words and of five do not collide systematically.

/// The multiplier: odd, with about half its bits set, and 5 modulo 8, so that its powers have a
/// period of 2⁶².
const MULTIPLIER: u64 = 0xd1b5_4a32_d192_ed05;

/// The factor of the length: 2⁶⁴ divided by the golden ratio.
pub(crate) const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes every bit of the sum into every bit of the hash; a bijection.
#[inline]
pub(crate) fn finish(mut sum: u64) -> u64 {
    sum ^= sum >> 32;
    sum = sum.wrapping_mul(0xe9c9_4a8f_6e2d_7b4d);
    sum ^= sum >> 29;
    sum = sum.wrapping_mul(0xa24b_aed4_963e_e407);
    sum ^ (sum >> 32)
}

/// Computes the gram hashes of a stream of word hashes, one for every word from the `k`-th on.
///
/// For words in a slice, [`grams`] is simpler and needs no memory.
///
/// ```
/// use cento_fingerprint::{GramHasher, grams};
///
/// let words = [7, 11, 13, 17];
/// let mut hasher = GramHasher::new(3);
/// let streamed: Vec<u64> = words.iter().filter_map(|&word| hasher.push(word)).collect();
/// let mut sliced = Vec::new();
/// grams(&words, 3, |gram, _| sliced.push(gram));
/// assert_eq!(streamed, sliced);
/// ```
#[derive(Clone, Debug)]
pub struct GramHasher {
    /// A ring buffer of the last `k` word hashes.
    window: Box<[u64]>,
    /// The position of the oldest.
    oldest: usize,
    /// The number of words in the window.
    filled: usize,
    sum: u64,
    /// The factor of a word when it leaves: the multiplier to the power `k`.
    leaving: u64,
    salt: u64,
}

impl GramHasher {
    /// Creates a hasher of grams of `k` words; 0 is treated as 1.
    pub fn new(k: usize) -> Self {
        let k = k.max(1);
        GramHasher {
            window: vec![0; k].into_boxed_slice(),
            oldest: 0,
            filled: 0,
            sum: 0,
            leaving: power(k),
            salt: salt(k),
        }
    }

    /// Adds a word. Returns the hash of the gram that ends with it, once there are `k` words.
    #[inline]
    pub fn push(&mut self, word: u64) -> Option<u64> {
        let slot = self.window.get_mut(self.oldest)?;
        let left = std::mem::replace(slot, word);
        self.oldest += 1;
        if self.oldest == self.window.len() {
            self.oldest = 0;
        }
        // The window is initially zero, and zeros do not contribute to the sum.
        self.sum = roll(self.sum, left, word, self.leaving);
        if self.filled + 1 < self.window.len() {
            self.filled += 1;
            return None;
        }
        Some(finish(self.sum ^ self.salt))
    }

    /// Clears the window, for example between two pages.
    pub fn reset(&mut self) {
        self.window.fill(0);
        self.oldest = 0;
        self.filled = 0;
        self.sum = 0;
    }
}

/// Calls `visit` with the hash of every run of `k` words and the position of its first word, in
/// order.
///
/// A text of fewer than `k` words has no grams; `k = 0` is treated as 1.
#[inline]
pub fn grams(words: &[u64], k: usize, mut visit: impl FnMut(u64, usize)) {
    let k = k.max(1);
    if words.len() < k {
        return;
    }
    let (leaving, salt) = (power(k), salt(k));
    let mut sum = 0u64;
    for &word in &words[..k] {
        sum = roll(sum, 0, word, leaving);
    }
    visit(finish(sum ^ salt), 0);
    for (index, (&entering, &left)) in words[k..].iter().zip(words).enumerate() {
        sum = roll(sum, left, entering, leaving);
        visit(finish(sum ^ salt), index + 1);
    }
}

/// Returns the hash of all of `words` as one gram, as [`grams`] computes it.
///
/// ```
/// use cento_fingerprint::{grams, run_hash};
///
/// grams(&[7, 11, 13], 3, |gram, _| assert_eq!(gram, run_hash(&[7, 11, 13])));
/// ```
#[inline]
pub fn run_hash(words: &[u64]) -> u64 {
    let sum = words.iter().fold(0, |sum, &word| roll(sum, 0, word, 0));
    finish(sum ^ salt(words.len()))
}

/// Calls `visit` with the hash of every run of `k` words, in order, treating the text as a circle:
/// its last word is followed by its first.
///
/// A text of `n` words has exactly `n` grams for any `k`, and a single word has the gram of `k`
/// copies of it. Fetterly et al. sketch texts this way, so that short texts are represented as
/// fully as long ones. `k = 0` is treated as 1.
#[inline]
pub fn circular_grams(words: &[u64], k: usize, mut visit: impl FnMut(u64)) {
    let k = k.max(1);
    grams(words, k, |gram, _| visit(gram));
    // The remaining grams wrap around the end: as many as there are words, but at most k − 1.
    let across = words.len().min(k - 1);
    let tail = words.get(words.len() - across..).unwrap_or_default();
    let mut hasher = GramHasher::new(k);
    for &word in tail.iter().chain(words.iter().cycle().take(k - 1)) {
        if let Some(gram) = hasher.push(word) {
            visit(gram);
        }
    }
}

/// One step: all words of the sum are multiplied, the oldest is removed, a new one is added.
#[inline]
fn roll(sum: u64, left: u64, entering: u64, leaving: u64) -> u64 {
    // The two products are independent, and entering − left·Mᵏ does not depend on the sum, so the
    // dependency chain from gram to gram is one multiplication and one addition.
    sum.wrapping_mul(MULTIPLIER)
        .wrapping_add(entering.wrapping_sub(left.wrapping_mul(leaving)))
}

fn power(k: usize) -> u64 {
    let (mut result, mut square, mut exponent) = (1u64, MULTIPLIER, k);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        exponent >>= 1;
    }
    result
}

fn salt(k: usize) -> u64 {
    SPREAD.wrapping_mul(k as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::word_hash;

    /// The definition in the module documentation, for one gram.
    fn naive(gram: &[u64]) -> u64 {
        let mut sum = 0u64;
        for &word in gram {
            sum = sum.wrapping_mul(MULTIPLIER).wrapping_add(word);
        }
        finish(sum ^ SPREAD.wrapping_mul(gram.len() as u64))
    }

    fn collect(words: &[u64], k: usize) -> Vec<u64> {
        let mut hashes = Vec::new();
        grams(words, k, |gram, position| {
            assert_eq!(position, hashes.len());
            hashes.push(gram);
        });
        hashes
    }

    proptest! {
        #[test]
        fn rolling_equals_the_definition(words in prop::collection::vec(any::<u64>(), 0..60), k in 1usize..12) {
            let expected: Vec<u64> = words.windows(k).map(naive).collect();
            prop_assert_eq!(collect(&words, k), &expected[..]);
            let mut hasher = GramHasher::new(k);
            for _ in 0..2 {
                let streamed: Vec<u64> = words.iter().filter_map(|&word| hasher.push(word)).collect();
                prop_assert_eq!(&streamed, &expected);
                hasher.reset();
            }
        }
    }

    proptest! {
        #[test]
        fn circular_grams_equal_the_definition(words in prop::collection::vec(any::<u64>(), 0..20), k in 0usize..12) {
            let mut found = Vec::new();
            circular_grams(&words, k, |gram| found.push(gram));
            let expected: Vec<u64> = (0..words.len())
                .map(|begin| {
                    let gram: Vec<u64> = (0..k.max(1)).map(|offset| words[(begin + offset) % words.len()]).collect();
                    naive(&gram)
                })
                .collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn gram_hashes_never_change() {
        let words: Vec<u64> = "the quick brown fox jumps over the lazy dog"
            .split(' ')
            .map(word_hash)
            .collect();
        assert_eq!(
            collect(&words, 5),
            [
                15532774720977312257,
                6763402600491635987,
                8740532505699512249,
                13936737071247173509,
                12882423898225218064
            ]
        );
        assert_eq!(collect(&words, 1)[0], 9600850822968872800);
    }

    #[test]
    fn order_and_length_matter() {
        let (one, two) = (word_hash("one"), word_hash("two"));
        let mut seen = HashSet::new();
        // All sequences of up to ten words over a vocabulary of two, including the Thue–Morse
        // pairs, the known weakness of polynomials modulo powers of two.
        for k in 1..=10 {
            for pattern in 0u32..1 << k {
                let gram: Vec<u64> = (0..k)
                    .map(|bit| if pattern >> bit & 1 == 0 { one } else { two })
                    .collect();
                assert!(seen.insert(naive(&gram)));
            }
        }
        // Words with hash zero still count towards the length.
        assert_ne!(naive(&[0]), naive(&[0, 0]));
    }

    #[test]
    fn a_million_grams_collide_no_more_often_than_by_chance() {
        // Words are numbered, so the only randomness is that of the hash. Over 30 bits, n²/2³¹ =
        // 466 pairs collide by chance.
        let words: Vec<u64> = (0..1_000_004)
            .map(|number: u32| word_hash(&(number % 1_000).to_string()))
            .enumerate()
            .map(|(index, word)| {
                if index % 3 == 0 {
                    word_hash(&index.to_string())
                } else {
                    word
                }
            })
            .collect();
        let mut hashes = collect(&words, 5);
        assert_eq!(hashes.len(), 1_000_000);
        for shift in [0, 17, 34] {
            let mut part: Vec<u64> = hashes
                .iter()
                .map(|hash| hash >> shift & ((1 << 30) - 1))
                .collect();
            part.sort_unstable();
            part.dedup();
            let collisions = hashes.len() - part.len();
            assert!((360..560).contains(&collisions), "{collisions} at {shift}");
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 1_000_000);
    }

    #[test]
    fn one_flipped_bit_of_a_word_flips_half_of_the_gram_hash() {
        let words: Vec<u64> = (0..5u32).map(|word| word_hash(&word.to_string())).collect();
        let before = naive(&words);
        let mut output = [0u32; 64];
        let mut total = 0;
        for position in 0..5 {
            for bit in 0..64 {
                let mut changed = words.clone();
                changed[position] ^= 1 << bit;
                let difference = before ^ naive(&changed);
                total += difference.count_ones();
                for (index, count) in output.iter_mut().enumerate() {
                    *count += (difference >> index & 1) as u32;
                }
            }
        }
        let mean = f64::from(total) / 320.0;
        assert!((31.0..33.0).contains(&mean), "{mean} bits on average");
        for count in output {
            assert!((120..200).contains(&count), "{count} of 320");
        }
    }

    #[test]
    fn too_few_words_have_no_gram_and_zero_is_treated_as_one() {
        assert!(collect(&[1, 2], 3).is_empty());
        assert!(collect(&[], 1).is_empty());
        assert_eq!(collect(&[1, 2], 0), collect(&[1, 2], 1));
    }
}
