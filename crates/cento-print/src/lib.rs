//! Fingerprints of words: what makes two texts comparable.
//!
//! # Brief overview
//!
//! A corpus is compared by numbers, not by strings. This crate makes those numbers, and every one of them is stable: the
//! same input gives the same number in every version, on every machine, because corpora that were made years apart are
//! compared with each other. Golden values in the tests hold them to it.
//!
//! - [`ChunkHash`] names the function that a chunk is hashed with, BLAKE3 or SHA-1, of which the first 128 bits are kept.
//! - [`word_hash`] makes 64 bits of a word in its normal form, [`link_hash`] of a canonical link.
//! - [`grams`] rolls over word hashes and gives one 64-bit hash for each run of `k` words, in constant time for each.
//! - [`text_hash`] is the identity of a whole text, [`sha1_base32`] that of a payload, as WARC files write it.
//!
//! The crate is pure: it opens no file, starts no thread, and knows nothing of where its words came from.
//!
//! # Example
//!
//! Two sentences that share four words in a row share two grams of three words.
//!
//! ```
//! use cento_print::{grams, word_hash};
//!
//! let hashes = |text: &str| text.split(' ').map(word_hash).collect::<Vec<u64>>();
//! let ours = hashes("it was the best of times");
//! let theirs = hashes("surely the best of times came later");
//!
//! let mut known = std::collections::HashSet::new();
//! grams(&ours, 3, |gram, _| {
//!     known.insert(gram);
//! });
//! let mut shared = Vec::new();
//! grams(&theirs, 3, |gram, position| {
//!     if known.contains(&gram) {
//!         shared.push(position);
//!     }
//! });
//! assert_eq!(shared, [1, 2]); // "the best of", "best of times"
//! ```

mod bands;
mod dct;
mod digest;
mod estimate;
mod fingerprint;
mod gram;
mod parameters;
mod scaled;
mod scheme;
mod segment;
mod sketch;
mod winnow;

pub use bands::Bands;
pub use dct::dct_fingerprint;
pub use digest::{ChunkHash, UnknownHash, base32, link_hash, sha1_base32, text_hash, word_hash};
pub use estimate::Estimate;
pub use fingerprint::{Fingerprint, Fingerprints, Overlap};
pub use gram::{GramHasher, circular_grams, grams, run_hash};
pub use parameters::{InvalidParameters, Unlike};
pub use scaled::{ScaledParameters, ScaledSketch};
pub use scheme::Scheme;
pub use sketch::{Sketch, SketchParameters, Sketcher};
