//! The hash functions themselves: which one serves what, and how much of it is kept.

use std::fmt;
use std::str::FromStr;

use sha1::{Digest, Sha1};

/// The function that chunks are hashed with. Of either, the first 128 bits are kept.
///
/// With 2^40 distinct chunks, more than any crawl holds, the chance that any two of them collide in 128 bits is below
/// 2^-49; so a chunk's hash stands for its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChunkHash {
    /// BLAKE3: the default, because it is the fastest of its kind.
    #[default]
    Blake3,
    /// SHA-1, as in Ardi & Heidemann's paper: for labels that were made elsewhere. Text that was made to collide in
    /// SHA-1 exists, so it is not the default.
    Sha1,
}

impl ChunkHash {
    /// Every hash there is, in the order in which help texts list them.
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

/// A name that no [`ChunkHash`] has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownHash {
    name: String,
}

impl fmt::Display for UnknownHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "no hash is called '{}': there are blake3 and sha1",
            self.name
        )
    }
}

impl std::error::Error for UnknownHash {}

/// 64 bits of a word in its normal form: XXH3 with seed 0.
#[inline]
pub fn word_hash(normal: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(normal.as_bytes())
}

/// 64 bits of a link in its canonical form, the same function as [`word_hash`].
///
/// A name of its own keeps the two apart in the reader's mind: they are never compared with each other.
#[inline]
pub fn link_hash(key: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(key.as_bytes())
}

/// The identity of a whole text: the first 128 bits of its BLAKE3 hash. The caller normalises first.
pub fn text_hash(normalised: &str) -> [u8; 16] {
    ChunkHash::Blake3.hash128(normalised.as_bytes())
}

/// The SHA-1 digest of a payload in base 32, as `WARC-Payload-Digest: sha1:…` has it after the colon.
pub fn sha1_base32(bytes: &[u8]) -> String {
    base32(&sha1(bytes))
}

/// Base 32 by RFC 4648, in capitals, without padding.
///
/// Web archives pad no digest, because 160 bits fill 32 letters exactly.
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
    const { assert!(LENGTH >= 16, "a digest holds at least 128 bits") };
    std::array::from_fn(|index| digest[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hexadecimal(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn chunk_hashes_are_the_published_functions_cut_to_128_bits() {
        let blake3 = ChunkHash::Blake3.hash128(b"");
        assert_eq!(hexadecimal(&blake3), "af1349b9f5f9a1a6a0404dea36dcc949");
        let sha1 = ChunkHash::Sha1.hash128(b"abc");
        assert_eq!(hexadecimal(&sha1), "a9993e364706816aba3e25717850c26c");
    }

    #[test]
    fn word_hashes_never_change() {
        assert_eq!(word_hash(""), 0x2d06_8005_38d3_94c2);
        assert_eq!(word_hash("cento"), 0xfed7_fee2_0736_1dc8);
        assert_eq!(word_hash("größe"), 0xa6d7_bbea_01d4_872c);
        assert_eq!(word_hash("文章"), 0xba8a_1e42_db75_4f99);
        assert_eq!(word_hash(&"a".repeat(300)), 0xc1d1_7581_d8eb_7e21);
        assert_eq!(link_hash("example.com/a"), 0x17aa_90de_ffb9_f02a);
    }

    #[test]
    fn a_payload_digest_is_written_as_web_archives_write_it() {
        // The digest of the empty payload stands in thousands of public WARC files.
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
    fn names_of_hashes_read_back_and_others_are_refused_with_the_choice() {
        for hash in ChunkHash::ALL {
            assert_eq!(hash.to_string().parse(), Ok(hash));
        }
        assert_eq!("SHA1".parse(), Ok(ChunkHash::Sha1));
        let refused = "md5".parse::<ChunkHash>().unwrap_err().to_string();
        assert_eq!(
            refused,
            "no hash is called 'md5': there are blake3 and sha1"
        );
    }
}
