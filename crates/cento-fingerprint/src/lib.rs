//! Fingerprints of words: what makes two texts comparable.
//!
//! # Brief overview
//!
//! A corpus is compared by numbers, not by strings. This crate makes those numbers, and every one
//! of them is stable: the same input gives the same number in every version, on every machine,
//! because corpora that were made years apart are compared with each other. Golden values in the
//! tests hold them to it.
//!
//! ```text
//!                      ┌─► Scheme ─► Fingerprints    which passages are shared, and where they stand
//! words ─► word_hash ──┼─► Sketcher ─► Sketch        how much two texts resemble each other; bands find candidates
//!                      └─► ScaledSketch              how much of a short text is in a long one
//! ```
//!
//! - [`word_hash`] makes 64 bits of a word in its normal form; [`grams`] rolls over them and gives
//!   one hash for each run of `k` words, in constant time for each; [`circular_grams`] takes the
//!   text as a circle.
//! - [`Scheme`] is one of five ways to choose what of a text is fingerprinted: every gram, one in
//!   `p`, the smallest of each window, segments, or segments so that a replaced word may go
//!   unnoticed. [`Fingerprints`] are what it chose, each with its place.
//! - [`Sketch`] stands for all grams of a text in 84 numbers, or how many you like. [`Bands`] make
//!   keys of them, under which texts that resemble each other meet. [`ScaledSketch`] keeps one gram
//!   in a hundred instead, and grows with the text.
//! - [`Estimate`] is what comparing sketches gives: a share, and an interval that holds the truth
//!   as often as you ask for.
//! - [`ChunkHash`] names the function that a chunk is hashed with, BLAKE3 or SHA-1, of which the
//!   first 128 bits are kept; [`link_hash`] is for canonical links, [`text_hash`] the identity of a
//!   whole text, and [`sha1_base32`] that of a payload, as WARC files write it.
//!
//! Parameters are part of the data. Every one of these values knows what it was made with, is
//! written as text that people read (`winnow:k=5,w=10`, `minima:k=5,m=84`), and refuses to be
//! compared with one that was made otherwise; what can never be compared, such as a sketch and a
//! scaled sketch, does not compile.
//!
//! The crate is pure: it opens no file, starts no thread, and knows nothing of where its words came
//! from.
//!
//! # Example
//!
//! A sentence was copied into another text, and something was put in front of it.
//!
//! ```
//! use cento_fingerprint::{Scheme, SketchParameters, Sketcher, word_hash};
//!
//! let hashes = |text: &str| text.split(' ').map(word_hash).collect::<Vec<u64>>();
//! let original = hashes("we hold these truths to be self evident that all men are created equal");
//! let copy = hashes("they say that all men are created equal and mean it");
//!
//! // Where? Texts that share w + k − 1 = 6 words in a row share a fingerprint.
//! let scheme: Scheme = "winnow:k=3,w=4".parse()?;
//! let (ours, theirs) = (scheme.fingerprints(&original), scheme.fingerprints(&copy));
//! let shared = theirs
//!     .list()
//!     .iter()
//!     .find(|print| ours.list().iter().any(|other| other.hash == print.hash))
//!     .expect("six words in a row are shared");
//! assert!((2..8).contains(&shared.position) && shared.words == 3);
//!
//! // How much? Of 21 grams of three words that either text has, four are in both.
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
pub use fingerprint::{Fingerprint, Fingerprints, Overlap};
pub use gram::{GramHasher, circular_grams, grams, run_hash};
pub use parameters::{InvalidParameters, Unlike};
pub use scaled::{ScaledParameters, ScaledSketch};
pub use scheme::Scheme;
pub use sketch::{Sketch, SketchParameters, Sketcher};
