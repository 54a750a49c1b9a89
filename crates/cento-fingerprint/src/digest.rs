//! The hash functions and their uses.

use std::fmt;
use std::str::FromStr;

use sha1::{Digest, Sha1};

/// The hash function of chunks, truncated to 128 bits.
///
/// Among 2^40 distinct chunks, more than in any crawl, the probability of any collision in 128 bits
/// is below 2^-49; so the hash identifies the text of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChunkHash {
    /// BLAKE3: the default, because it is the fastest cryptographic hash.
    #[default]
    Blake3,
    /// SHA-1, as in Ardi & Heidemann's paper: for labels made elsewhere. Not the default, because
    /// SHA-1 collisions can be constructed.
    Sha1,
}

impl ChunkHash {
    /// All hashes, in the order of help texts.
    pub const ALL: [ChunkHash; 2] = [ChunkHash::Blake3, ChunkHash::Sha1];

    /// The name in options and manifests.
    pub fn name(self) -> &'static str {
        match self {
            ChunkHash::Blake3 => "blake3",
            ChunkHash::Sha1 => "sha1",
        }
    }

    /// The first 128 bits of the hash of `bytes`.
    pub fn hash128(self, bytes: &[u8]) -> [u8; 16] {
        match self {
            ChunkHash::Blake3 => first_half(*blake3::hash(bytes).as_bytes()),
            ChunkHash::Sha1 => first_half(sha1(bytes)),
        }
    }
}

impl fmt::Display for ChunkHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for ChunkHash {
    type Err = UnknownHash;

    fn from_str(name: &str) -> Result<Self, UnknownHash> {
        ChunkHash::ALL
            .into_iter()
            .find(|hash| hash.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownHash {
                name: name.to_owned(),
            })
    }
}

/// The error for an unknown [`ChunkHash`] name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownHash {
    name: String,
}

impl fmt::Display for UnknownHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "unknown hash '{}': expected blake3 or sha1",
            self.name
        )
    }
}

impl std::error::Error for UnknownHash {}

/// Hashes the normal form of a word to 64 bits.
///
/// Most words are short, and their lengths are unpredictable, so a function that branches on the
/// length spends more time on mispredictions than on hashing. Up to 16 bytes are therefore packed
/// into two numbers and multiplied ([`packed_word_hash`]). Longer words use XXH3 with seed 0, and
/// so does a string that ends with NUL, which no word does.
// Not inlined, so that a closure that calls both functions is small enough to be inlined.
#[inline(never)]
pub fn word_hash(normal: &str) -> u64 {
    match pack(normal.as_bytes()) {
        Some(packed) => packed_word_hash(packed),
        None => xxhash_rust::xxh3::xxh3_64(normal.as_bytes()),
    }
}

/// Returns the [`word_hash`] of a normal form of up to 16 bytes, packed into two little-endian
/// numbers and padded with zeros.
///
/// The two halves of a 128-bit product are combined by XOR. A single product already has few
/// collisions, but most of its bits depend on only part of the input; with the second product every
/// bit depends on every input bit.
///
/// A factor of zero would erase the other. Neither factor can be zero, because both constants
/// contain the byte `ff`, which does not occur in UTF-8.
#[inline]
pub fn packed_word_hash([first, second]: [u64; 2]) -> u64 {
    let product = folded(
        first ^ 0x6498_3001_6cff_3ecb,
        second ^ 0xf734_ffa6_0741_8b61,
    );
    folded(product, 0xd5b8_cd8a_1ad1_e147)
}

/// The XOR of the halves of the product of two numbers.
#[inline]
fn folded(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// Packs up to 16 bytes into two numbers, unless the last byte is zero.
///
/// Overlapping reads of the same bytes reduce the number of cases from seventeen to four.
#[inline]
fn pack(bytes: &[u8]) -> Option<[u64; 2]> {
    let length = bytes.len();
    if length > 16 || bytes.last() == Some(&0) {
        return None;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let beyond = u64::from_le_bytes(*last)
            .checked_shr(128 - 8 * length as u32)
            .unwrap_or(0);
        return Some([u64::from_le_bytes(*first), beyond]);
    }
    let number = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u32::from_le_bytes(*first))
            | u64::from(u32::from_le_bytes(*last)) << (8 * length - 32)
    } else {
        bytes
            .iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | u64::from(byte))
    };
    Some([number, 0])
}

/// Hashes a canonical link to 64 bits: XXH3 with seed 0.
#[inline]
pub fn link_hash(key: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(key.as_bytes())
}

/// Identifies a whole text: the first 128 bits of its BLAKE3 hash. The caller normalises the text
/// first.
pub fn text_hash(normalised: &str) -> [u8; 16] {
    ChunkHash::Blake3.hash128(normalised.as_bytes())
}

/// The SHA-1 digest of a payload in base 32, as in `WARC-Payload-Digest: sha1:…` after the colon.
pub fn sha1_base32(bytes: &[u8]) -> String {
    base32(&sha1(bytes))
}

/// Base 32 by RFC 4648, in upper case, without padding.
///
/// Digests in web archives have no padding, because 160 bits fill 32 letters exactly.
pub fn base32(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for group in bytes.chunks(5) {
        let mut bits = 0u64;
        for index in 0..5 {
            bits = bits << 8 | u64::from(group.get(index).copied().unwrap_or(0));
        }
        let letters = (group.len() * 8).div_ceil(5);
        for index in 0..letters {
            let letter = LETTERS[(bits >> (35 - 5 * index)) as usize & 31];
            text.push(char::from(letter));
        }
    }
    text
}

fn sha1(bytes: &[u8]) -> [u8; 20] {
    Sha1::digest(bytes).into()
}

fn first_half<const LENGTH: usize>(digest: [u8; LENGTH]) -> [u8; 16] {
    const { assert!(LENGTH >= 16, "a digest has at least 128 bits") };
    std::array::from_fn(|index| digest[index])
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn hexadecimal(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn chunk_hashes_are_the_standard_functions_truncated_to_128_bits() {
        let blake3 = ChunkHash::Blake3.hash128(b"");
        assert_eq!(hexadecimal(&blake3), "af1349b9f5f9a1a6a0404dea36dcc949");
        let sha1 = ChunkHash::Sha1.hash128(b"abc");
        assert_eq!(hexadecimal(&sha1), "a9993e364706816aba3e25717850c26c");
    }

    #[test]
    fn word_hashes_never_change() {
        assert_eq!(word_hash(""), 0xd5f0_0b55_433e_58de);
        assert_eq!(word_hash("cento"), 0x1604_53fa_53d7_7852);
        assert_eq!(word_hash("größe"), 0x5b5a_db67_8b00_b937);
        assert_eq!(word_hash("文章"), 0xe324_b7b6_ea62_5d2f);
        assert_eq!(word_hash(&"a".repeat(16)), 0x22f6_a4b6_6673_4676);
        assert_eq!(word_hash(&"a".repeat(17)), 0x3912_7b68_16c5_f92a);
        assert_eq!(word_hash(&"a".repeat(300)), 0xc1d1_7581_d8eb_7e21);
        assert_eq!(link_hash("example.com/a"), 0x17aa_90de_ffb9_f02a);
    }

    /// The definition of [`pack`]: pads with zeros.
    fn padded(bytes: &[u8]) -> [u64; 2] {
        let mut all = [0; 16];
        all[..bytes.len()].copy_from_slice(bytes);
        let (halves, _) = all.as_chunks::<8>();
        [u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1])]
    }

    proptest! {
        #[test]
        fn a_word_and_its_packed_form_have_one_hash(word in "[a-z0-9äß文]{0,16}") {
            if word.len() <= 16 {
                prop_assert_eq!(pack(word.as_bytes()), Some(padded(word.as_bytes())));
                prop_assert_eq!(word_hash(&word), packed_word_hash(padded(word.as_bytes())));
            } else {
                prop_assert_eq!(pack(word.as_bytes()), None);
            }
        }
    }

    #[test]
    fn words_of_every_length_and_with_trailing_nul_differ() {
        let mut seen = HashSet::new();
        for letter in ["a", "b", "\0"] {
            for length in 1..40 {
                assert!(seen.insert(word_hash(&letter.repeat(length))));
                assert!(seen.insert(word_hash(&("x".to_owned() + &letter.repeat(length)))));
            }
        }
        assert!(seen.insert(word_hash("")));
    }

    /// Similar words: short and long numbers, and words that differ at either end.
    fn similar() -> Vec<(&'static str, Vec<String>)> {
        const COUNT: u32 = 100_000;
        let of = |name, make: fn(u32) -> String| (name, (0..COUNT).map(make).collect());
        vec![
            of("numbers", |number| number.to_string()),
            of("long numbers", |number| format!("{number:016}")),
            of("a word and a number", |number| format!("page{number}")),
            of("a number and a word", |number| format!("{number}thcentury")),
            of("two numbers", |number| {
                format!("{:08}{:08}", number % 300, number / 300)
            }),
            of("four letters and more", |number| {
                let letters = [
                    number % 26,
                    number / 26 % 26,
                    number / 676 % 26,
                    number / 17_576,
                ];
                letters
                    .map(|letter| char::from(b'a' + letter as u8))
                    .iter()
                    .collect()
            }),
            of("two of Chinese", |number| {
                let characters = [number % 320, number / 320];
                characters
                    .iter()
                    .filter_map(|rest| char::from_u32(0x4e00 + rest))
                    .collect()
            }),
        ]
    }

    #[test]
    fn hashes_of_similar_words_collide_no_more_often_than_by_chance() {
        for (name, words) in similar() {
            let mut hashes: Vec<u64> = words.iter().map(|word| word_hash(word)).collect();
            // Over 23 bits, n²/2²⁴ = 596 pairs collide by chance, with a standard deviation of 24.
            for shift in [0, 13, 27, 41] {
                let mut part: Vec<u64> = hashes
                    .iter()
                    .map(|hash| hash >> shift & ((1 << 23) - 1))
                    .collect();
                part.sort_unstable();
                part.dedup();
                let collisions = hashes.len() - part.len();
                assert!(
                    (475..715).contains(&collisions),
                    "{name}: {collisions} at {shift}"
                );
            }
            hashes.sort_unstable();
            hashes.dedup();
            assert_eq!(hashes.len(), words.len(), "{name}");
        }
    }

    #[test]
    fn every_bit_of_a_word_flips_every_bit_of_its_hash_half_of_the_time() {
        for (name, words) in similar() {
            let sample: Vec<[u64; 2]> = words
                .iter()
                .step_by(100)
                .map(|word| padded(word.as_bytes()))
                .collect();
            for bit in 0..128 {
                let flip = 1u128 << bit;
                let mut flipped = [0u32; 64];
                let mut trials = 0;
                for &[first, second] in &sample {
                    let both = u128::from(second) << 64 | u128::from(first);
                    // Only bytes of the word are flipped; the padding stays zero.
                    if (both >> (bit / 8 * 8)) as u8 == 0 {
                        continue;
                    }
                    let changed = both ^ flip;
                    let difference = packed_word_hash([first, second])
                        ^ packed_word_hash([changed as u64, (changed >> 64) as u64]);
                    trials += 1;
                    for (output, count) in flipped.iter_mut().enumerate() {
                        *count += (difference >> output & 1) as u32;
                    }
                }
                if trials < 500 {
                    continue;
                }
                // The standard deviation of n trials is √n/2; six of them are exceeded once in 10⁹
                // times.
                let bound = 3.0 * f64::from(trials).sqrt();
                for (output, &count) in flipped.iter().enumerate() {
                    let off = (f64::from(count) - f64::from(trials) / 2.0).abs();
                    assert!(
                        off < bound,
                        "{name}: {count} of {trials} at {bit}, {output}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_payload_digest_is_written_as_in_web_archives() {
        // The digest of the empty payload occurs in thousands of public WARC files.
        assert_eq!(sha1_base32(b""), "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    }

    #[test]
    fn base32_agrees_with_the_test_vectors_of_rfc_4648() {
        let vectors = [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ];
        for (plain, encoded) in vectors {
            assert_eq!(base32(plain.as_bytes()), encoded);
        }
    }

    #[test]
    fn hash_names_parse_and_unknown_names_are_refused_with_the_alternatives() {
        for hash in ChunkHash::ALL {
            assert_eq!(hash.to_string().parse(), Ok(hash));
        }
        assert_eq!("SHA1".parse(), Ok(ChunkHash::Sha1));
        let refused = "md5".parse::<ChunkHash>().unwrap_err().to_string();
        assert_eq!(refused, "unknown hash 'md5': expected blake3 or sha1");
    }
}
