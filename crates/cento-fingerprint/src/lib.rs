//! Fingerprints and sketches of texts.
//!
//! # Brief overview
//!
//! Texts are compared by numbers, not by strings. This crate computes those numbers from word
//! hashes. All of them are stable: the same input yields the same number in every version and on
//! every machine, because corpora built years apart are compared with each other. Golden values in
//! the tests guarantee this.
//!
//! ```text
//!                      ┌─► Scheme ─► Fingerprints    which passages are shared, and where
//! words ─► word_hash ──┼─► Sketcher ─► Sketch        how similar two texts are
//!                      └─► ScaledSketch              how much of a short text is in a long one
//! ```
//!
//! - [`word_hash`] hashes the normal form of a word to 64 bits; [`grams`] computes a rolling hash
//!   of each run of `k` words, in constant time per word; [`circular_grams`] treats the text as a
//!   circle.
//! - [`Scheme`] selects which parts of a text are fingerprinted, by one of five methods: every
//!   gram, one in `p`, the smallest of each window, segments, or segments whose fingerprint may
//!   survive the replacement of a word. [`Fingerprints`] are the result, each with its position.
//! - [`Sketch`] represents all grams of a text by a fixed number of minima, 84 by default.
//!   [`Bands`] turn a sketch into keys that similar texts are likely to share. [`ScaledSketch`]
//!   instead keeps one gram in a hundred and grows with the text.
//! - [`Estimate`] is the result of comparing sketches: a share and its confidence interval.
//! - [`ChunkHash`] is the hash function of chunks, BLAKE3 or SHA-1, truncated to 128 bits;
//!   [`link_hash`] is for canonical links, [`text_hash`] identifies a whole text, and
//!   [`sha1_base32`] a payload, in the notation of WARC files.
//!
//! Parameters are part of the data. Every value records the parameters it was made with, displays
//! them as text (`winnow:k=5,w=10`, `minima:k=5,m=84`), and returns an error when compared with a
//! value of other parameters. Types that can never be compared, such as a sketch and a scaled
//! sketch, do not compile.
//!
//! The crate does no I/O, starts no threads, and does not depend on where the words came from.
//!
//! # Example
//!
//! Part of a sentence was copied into another text:
//!
//! ```
//! use cento_fingerprint::{Scheme, SketchParameters, Sketcher, word_hash};
//!
//! let hashes = |text: &str| text.split(' ').map(word_hash).collect::<Vec<u64>>();
//! let original = hashes("we hold these truths to be self evident that all men are created equal");
//! let copy = hashes("they say that all men are created equal and mean it");
//!
//! // Where? Texts that share w + k − 1 = 6 consecutive words share a fingerprint.
//! let scheme: Scheme = "winnow:k=3,w=4".parse()?;
//! let (ours, theirs) = (scheme.fingerprints(&original), scheme.fingerprints(&copy));
//! let shared = theirs
//!     .list()
//!     .iter()
//!     .find(|print| ours.list().iter().any(|other| other.hash == print.hash))
//!     .expect("six consecutive words are shared");
//! assert!((2..8).contains(&shared.position) && shared.words == 3);
//!
//! // How much? Of the 21 distinct 3-grams of the two texts, four are in both.
//! let parameters = SketchParameters { k: 3, ..SketchParameters::default() };
//! let mut sketcher = Sketcher::new(parameters);
//! let (ours, theirs) = (sketcher.sketch(&original), sketcher.sketch(&copy));
//! let (ours, theirs) = ours.zip(theirs).expect("texts with words have sketches");
//! let (low, high) = ours.resemblance(&theirs)?.interval(0.99);
//! assert!((low..=high).contains(&(4.0 / 21.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
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
pub use digest::{
    ChunkHash, UnknownHash, base32, link_hash, packed_word_hash, sha1_base32, text_hash, word_hash,
};
pub use estimate::Estimate;
pub use fingerprint::{Fingerprint, FingerprintOverlap, Fingerprints};
pub use gram::{GramHasher, circular_grams, grams, run_hash};
pub use parameters::{IncompatibleParameters, InvalidParameters};
pub use scaled::{ScaledParameters, ScaledSketch};
pub use scheme::Scheme;
pub use sketch::{Sketch, SketchParameters, Sketcher};
