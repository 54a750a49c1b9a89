//! DCT fingerprints: 32-bit fingerprints of segments that may survive the replacement of a word.
//!
//! # The seven steps of Seo & Croft
//! 1. The segment is one of revised hash-breaking.
//! 2. The signal is the upper 32 bits of each word hash, as in the paper.
//! 3. It is shifted so that its median is 0,
//! 4. and divided by its largest absolute value.
//! 5. The discrete cosine transform, X(k) = Σ x(n)·cos(π/N·(n + ½)·k), is taken
//! 6. and each coefficient quantised: X(k) ÷ √(N + ½) is rounded to an integer from −4 to +3. The
//!    root gives a step the same meaning in short and long segments, because the coefficients of
//!    random signals grow with it; without the half, segments of three words would often fall
//!    exactly between two integers.
//! 7. The fingerprint combines the four lowest of them in a 32-bit format.
//!
//! # The format
//! The figure of the paper's format is not available; this is our own.
//!
//! ```text
//! 31   28 27                               12 11  9 8   6 5   3 2   0
//! ┌──────┬───────────────────────────────────┬─────┬─────┬─────┬─────┐
//! │  N   │              anchors              │ Q₃  │ Q₂  │ Q₁  │ Q₀  │
//! └──────┴───────────────────────────────────┴─────┴─────┴─────┴─────┘
//! ```
//!
//! - `N`: the number of words modulo 16. Adding or removing a word changes all coefficients anyway.
//! - anchors: 16 bits of a hash of two words: the last one and the one farthest from the median.
//! - `Q₀`–`Q₃`: the quantised coefficients plus 4; 0 for those that a short segment does not have.
//!
//! Why anchors: segments of five words have few coefficients, and a quantisation coarse enough to
//! tolerate a replaced word gives the same result for one in two hundred pairs of unrelated
//! segments. But two of the words cannot be replaced in any case. The last one ends the segment;
//! without it the segment is a different one. The one farthest from the median determines the
//! scale; without it the signal is a different one. Requiring these two to be equal therefore costs
//! almost no robustness.
//!
//! Measured on English prose with p = 3; each replacement is drawn from the words of the same
//! texts. `bench/run print` prints the last row:
//!
//! | format | unchanged by a replacement | unrelated pairs that match |
//! |---|---|---|
//! | N and p coefficients of 4 bits | 11.2 % | 1 in 360 |
//! | the same with the last word | 10.1 % | 1 in 9,400 |
//! | this one | 14.7 % | 1 in 29,000 |
//!
//! The first number is limited because at p = 3 one replacement in three is itself a breakpoint,
//! and one in five replaces the breakpoint. `tests/robustness.rs` asserts these numbers, and that
//! `break` fingerprints almost never survive.
//!
//! A match is a hint that must be confirmed by the matches around it. The fingerprint is the same
//! on every machine: it is computed only from sums, products, quotients and square roots, which
//! IEEE 754 defines exactly; it does not define cosines.

use std::sync::LazyLock;

use crate::gram::run_hash;

/// The number of coefficients of a fingerprint.
const COEFFICIENTS: usize = 4;

/// The number of bits of a coefficient.
const BITS: u32 = 3;

/// Returns the DCT fingerprint of a segment from its word hashes. The empty segment has the
/// fingerprint 0.
///
/// From the most significant bit: the number of words modulo 16 (4 bits), a hash of the last word
/// and of the one farthest from the median (16), and the four lowest coefficients of the cosine
/// transform from the fourth to the first (3 each). A coefficient is divided by the root of the
/// number of words and a half, rounded, clamped to −4 to 3, and increased by 4.
///
/// ```
/// use cento_fingerprint::{dct_fingerprint, word_hash};
///
/// let of = |text: &str| dct_fingerprint(&text.split(' ').map(word_hash).collect::<Vec<u64>>());
/// // After an example in the paper: replacing a word does not change the fingerprint.
/// assert_eq!(of("one woman comedy by person willy"), 0x617d_2b2c);
/// assert_eq!(of("one woman act by person willy"), 0x617d_2b2c);
/// ```
pub fn dct_fingerprint(words: &[u64]) -> u32 {
    fingerprint(words, &mut Vec::new())
}

/// Like [`dct_fingerprint`], but reuses a buffer.
pub(crate) fn fingerprint(words: &[u64], signal: &mut Vec<f64>) -> u32 {
    let Some(&last) = words.last() else {
        return 0;
    };
    let median = median(words, signal);
    let (mut farthest, mut largest) = (last, 0.0);
    signal.clear();
    for &word in words {
        let value = upper(word) - median;
        signal.push(value);
        if value.abs() > largest {
            (farthest, largest) = (word, value.abs());
        }
    }
    // If all words are equal, the signal is zero and cannot be scaled.
    let scale = if largest > 0.0 { 1.0 / largest } else { 0.0 };
    let scale = scale / (words.len() as f64 + 0.5).sqrt();

    let anchors = (run_hash(&[last, farthest]) >> 48) as u32;
    let mut bits = (words.len() as u32 & 15) << 28 | anchors << 12;
    let kept = COSINES.get(words.len());
    for coefficient in 0..COEFFICIENTS.min(words.len()) {
        let sum: f64 = match kept.and_then(|kept| kept.get(coefficient * words.len()..)) {
            Some(cosines) => signal
                .iter()
                .zip(cosines)
                .map(|(value, cosine)| value * cosine)
                .sum(),
            None => {
                let all = signal.iter().enumerate();
                all.map(|(index, value)| value * basis(index, coefficient, words.len()))
                    .sum()
            }
        };
        bits |= quantise(sum * scale) << (BITS * coefficient as u32);
    }
    bits
}

/// The upper half of a word hash, which is exactly representable as a floating-point number.
fn upper(word: u64) -> f64 {
    (word >> 32) as f64
}

/// The median of the upper halves; for an even number, the mean of the two in the middle.
fn median(words: &[u64], buffer: &mut Vec<f64>) -> f64 {
    buffer.clear();
    buffer.extend(words.iter().map(|&word| upper(word)));
    let middle = buffer.len() / 2;
    let (below, &mut right, _) = buffer.select_nth_unstable_by(middle, f64::total_cmp);
    if words.len() % 2 == 1 {
        return right;
    }
    let left = below.iter().copied().fold(0.0, f64::max);
    (left + right) / 2.0
}

/// Rounds to the nearest level, counted from the lowest.
fn quantise(value: f64) -> u32 {
    let levels = f64::from(1 << BITS);
    (value + 0.5 + levels / 2.0)
        .floor()
        .clamp(0.0, levels - 1.0) as u32
}

/// The cosines for segments of up to 49 words, by coefficient. Computing them is nearly all of the
/// work, and longer segments are rare.
static COSINES: LazyLock<Vec<Vec<f64>>> = LazyLock::new(|| {
    let of_length = |length: usize| {
        let all = (0..COEFFICIENTS)
            .flat_map(|coefficient| (0..length).map(move |index| (coefficient, index)));
        all.map(|(coefficient, index)| basis(index, coefficient, length))
            .collect()
    };
    (0..50).map(of_length).collect()
});

/// The factor of a word in a coefficient: cos(π/N·(n + ½)·k).
fn basis(index: usize, coefficient: usize, length: usize) -> f64 {
    cosine((2 * index + 1) * coefficient, 2 * length)
}

/// cos(π · `numerator` ÷ `denominator`) to 15 digits, identical on every machine.
fn cosine(numerator: usize, denominator: usize) -> f64 {
    let whole = 2 * denominator;
    let around = numerator % whole;
    // Reduce to the first half turn, then to the first quarter.
    let half = around.min(whole - around);
    let beyond = 2 * half > denominator;
    let quarter = if beyond { denominator - half } else { half };
    let angle = std::f64::consts::PI * (quarter as f64 / denominator as f64);
    let square = angle * angle;
    // Taylor series; beyond (π/2)²⁰ ÷ 20! the terms are negligible.
    let mut cosine = 0.0;
    for step in (1..=10).rev() {
        let factor = f64::from((2 * step - 1) * (2 * step));
        cosine = (1.0 - cosine) * square / factor;
    }
    let cosine = 1.0 - cosine;
    if beyond { -cosine } else { cosine }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::word_hash;

    /// The seven steps of the paper, with the library's cosine and all coefficients.
    fn naive(words: &[u64]) -> u32 {
        let count = words.len();
        let hashes: Vec<f64> = words.iter().map(|word| (word >> 32) as f64).collect();
        let mut sorted = hashes.clone();
        sorted.sort_by(f64::total_cmp);
        let median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2.0;
        let moved: Vec<f64> = hashes.iter().map(|hash| hash - median).collect();
        let largest = moved
            .iter()
            .fold(0.0f64, |largest, value| largest.max(value.abs()));
        let farthest = moved
            .iter()
            .position(|value| value.abs() == largest)
            .unwrap();
        let farthest = if largest > 0.0 {
            words[farthest]
        } else {
            words[count - 1]
        };
        let normal: Vec<f64> = moved
            .iter()
            .map(|value| if largest > 0.0 { value / largest } else { 0.0 })
            .collect();
        let transformed: Vec<f64> = (0..count)
            .map(|k| {
                let angle =
                    |n: usize| std::f64::consts::PI / count as f64 * (n as f64 + 0.5) * k as f64;
                (0..count).map(|n| normal[n] * angle(n).cos()).sum()
            })
            .collect();
        let quantised: Vec<u32> = transformed
            .iter()
            .map(|value| {
                ((value / (count as f64 + 0.5).sqrt() + 0.5)
                    .floor()
                    .clamp(-4.0, 3.0)
                    + 4.0) as u32
            })
            .collect();
        let mut fingerprint = (count % 16) as u32;
        fingerprint = fingerprint << 16 | (run_hash(&[words[count - 1], farthest]) >> 48) as u32;
        for k in (0..4).rev() {
            fingerprint = fingerprint << 3 | quantised.get(k).copied().unwrap_or(0);
        }
        fingerprint
    }

    proptest! {
        #[test]
        fn fingerprints_agree_with_the_seven_steps(words in prop::collection::vec(any::<u64>(), 1..70)) {
            prop_assert_eq!(dct_fingerprint(&words), naive(&words));
        }

        #[test]
        fn cosines_agree_with_the_standard_library(numerator in 0usize..1_000_000, denominator in 1usize..10_000) {
            let expected = (std::f64::consts::PI * (numerator % (2 * denominator)) as f64 / denominator as f64).cos();
            prop_assert!((cosine(numerator, denominator) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn fingerprints_never_change() {
        let of =
            |text: &str| dct_fingerprint(&text.split(' ').map(word_hash).collect::<Vec<u64>>());
        assert_eq!(
            [
                of("one woman comedy by person willy"),
                of("one woman show by person willy"),
                of("one woman act by person willy"),
                of("company scheduled another money"),
                of("company slated another money"),
            ],
            [
                0x617d_2b2c,
                0x638c_292c,
                0x617d_2b2c,
                0x490a_071c,
                0x490a_091c
            ]
        );
    }

    /// The first four bytes of the MD5 (RFC 1321) of a text of up to 55 bytes.
    fn md5_front(text: &str) -> u32 {
        const TURNS: [[u32; 4]; 4] = [
            [7, 12, 17, 22],
            [5, 9, 14, 20],
            [4, 11, 16, 23],
            [6, 10, 15, 21],
        ];
        let mut block = [0u8; 64];
        block[..text.len()].copy_from_slice(text.as_bytes());
        block[text.len()] = 0x80;
        block[56..].copy_from_slice(&(8 * text.len() as u64).to_le_bytes());
        let (words, _) = block.as_chunks::<4>();
        let words: Vec<u32> = words
            .iter()
            .map(|bytes| u32::from_le_bytes(*bytes))
            .collect();
        let start = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476u32];
        let [mut a, mut b, mut c, mut d] = start;
        for step in 0..64usize {
            let (mixed, word) = match step / 16 {
                0 => (b & c | !b & d, step),
                1 => (b & d | c & !d, 5 * step + 1),
                2 => (b ^ c ^ d, 3 * step + 5),
                _ => (c ^ (b | !d), 7 * step),
            };
            let sine = (((step + 1) as f64).sin().abs() * 2f64.powi(32)) as u32;
            let sum = a
                .wrapping_add(mixed)
                .wrapping_add(sine)
                .wrapping_add(words[word % 16]);
            let turned = sum.rotate_left(TURNS[step / 16][step % 4]);
            (a, d, c, b) = (d, c, b, b.wrapping_add(turned));
        }
        start[0].wrapping_add(a)
    }

    /// Seo & Croft (2008), section 4.2.2: in each of their two examples, replacing a word does not
    /// change the fingerprint. The paper does not specify its word hash, and the figure of the
    /// format is not available; with MD5 both examples behave here as in the paper.
    #[test]
    fn the_two_examples_of_the_paper_hold_with_md5() {
        assert_eq!(md5_front("").to_le_bytes(), [0xd4, 0x1d, 0x8c, 0xd9]);
        assert_eq!(md5_front("abc").to_le_bytes(), [0x90, 0x01, 0x50, 0x98]);
        let of = |text: &str| {
            let words = text.split(' ').map(|word| u64::from(md5_front(word)) << 32);
            dct_fingerprint(&words.collect::<Vec<u64>>())
        };
        assert_eq!(of("one woman comedy by person Willy"), 0x6058_f724);
        assert_eq!(of("one woman show by person Willy"), 0x6058_f724);
        assert_eq!(of("company scheduled another money"), 0x4bca_eb2c);
        assert_eq!(of("company slated another money"), 0x4bca_eb2c);
    }

    #[test]
    fn degenerate_segments_have_fingerprints() {
        assert_eq!(dct_fingerprint(&[]), 0);
        for words in [
            vec![7],
            vec![7; 5],
            vec![0, u64::MAX],
            vec![u64::MAX; 100_000],
        ] {
            assert_eq!(dct_fingerprint(&words) >> 28, words.len() as u32 & 15);
        }
    }

    #[test]
    fn a_long_segment_takes_linear_time() {
        let words: Vec<u64> = (0..1_000_000u32)
            .map(|word| word_hash(&word.to_string()))
            .collect();
        let begin = std::time::Instant::now();
        assert_ne!(dct_fingerprint(&words), 0);
        assert!(begin.elapsed().as_secs() < 20);
    }
}
