//! The five fingerprinting methods of Seo & Croft.

use std::fmt;
use std::str::FromStr;

use crate::fingerprint::{Fingerprint, Fingerprints};
use crate::gram::{grams, run_hash};
use crate::parameters::{InvalidParameters, ParameterList, bounded, serialise_as_text};
use crate::segment::segments;
use crate::{dct, winnow};

/// A fingerprinting method and its parameters.
///
/// The first three slide a window over the text and select some of its grams; the last two split
/// the text into disjoint segments. The paper reports the following results for texts of 318 words
/// on average (fingerprints per text, and F₁ over six types of reuse):
///
/// | scheme | fingerprints | F₁ | use |
/// |---|---|---|---|
/// | `kgram` | 316 | 0.757 | if space allows one fingerprint per word |
/// | `mod` | 50 | 0.697 | for even sampling over a corpus; gaps may have any length |
/// | `winnow` | 56 | 0.719 | for near-duplicates, and if a guarantee is needed |
/// | `break` | 44 | 0.723 | for exact copies of passages at the lowest cost |
/// | `dct` | 44 | 0.744 | for passages in which a word may have been replaced |
///
/// Its text form is the name followed by the parameters; the defaults are the paper's:
///
/// ```
/// use cento_fingerprint::Scheme;
///
/// let scheme: Scheme = "winnow:k=5,w=10".parse()?;
/// assert_eq!(scheme, Scheme::Winnow { k: 5, w: 10 });
/// assert_eq!("dct".parse::<Scheme>()?.to_string(), "dct:p=3");
/// # Ok::<(), cento_fingerprint::InvalidParameters>(())
/// ```
///
/// Parameters are limited to 1 to 65,535.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheme {
    /// Every run of `k` words.
    KGram {
        /// Words in a run.
        k: u32,
    },
    /// The runs of `k` words whose hash is 0 modulo `p`: one in `p`.
    Mod {
        /// Words in a run.
        k: u32,
        /// One run in this many is kept.
        p: u32,
    },
    /// The smallest hash in every window of `w` runs of `k` words: two in `w + 1`.
    ///
    /// Texts that share `w + k − 1` consecutive words share a fingerprint. If several hashes are
    /// smallest, a window keeps the one selected by the previous window, otherwise the rightmost.
    Winnow {
        /// Words in a run.
        k: u32,
        /// Runs in a window.
        w: u32,
    },
    /// Segments that end with a word whose hash is 0 modulo `p`.
    Break {
        /// One word in this many ends a segment.
        p: u32,
        /// Whether segments of fewer than `p` words are kept, as in Brin's original method; the
        /// paper's revision ignores them.
        short: bool,
    },
    /// The segments of revised hash-breaking, represented by the low frequencies of the cosine
    /// transform of their word hashes.
    ///
    /// A 32-bit fingerprint that may survive the replacement of a word: see
    /// [`dct_fingerprint`](crate::dct_fingerprint).
    Dct {
        /// One word in this many ends a segment, and shorter segments are ignored.
        p: u32,
    },
}

impl Scheme {
    /// The names of all schemes, in the order of the paper.
    pub const NAMES: [&'static str; 5] = ["kgram", "mod", "winnow", "break", "dct"];

    /// All schemes with the paper's best parameters.
    pub const PAPER: [Scheme; 5] = [
        Scheme::KGram { k: 3 },
        Scheme::Mod { k: 3, p: 6 },
        Scheme::Winnow { k: 3, w: 10 },
        Scheme::Break { p: 3, short: false },
        Scheme::Dct { p: 3 },
    ];

    /// The name without parameters.
    pub fn name(&self) -> &'static str {
        match self {
            Scheme::KGram { .. } => "kgram",
            Scheme::Mod { .. } => "mod",
            Scheme::Winnow { .. } => "winnow",
            Scheme::Break { .. } => "break",
            Scheme::Dct { .. } => "dct",
        }
    }

    /// Calls `visit` with the fingerprints of a text, in order of position. `words` are its word
    /// hashes.
    #[inline]
    pub fn for_each(&self, words: &[u64], mut visit: impl FnMut(Fingerprint)) {
        let mut run = |hash, position, words| {
            visit(Fingerprint {
                hash,
                position,
                words,
            });
        };
        match *self {
            Scheme::KGram { k } => {
                let k = bounded(k);
                grams(words, k, |gram, position| run(gram, position, k));
            }
            Scheme::Mod { k, p } => {
                let (k, p) = (bounded(k), bounded(p) as u64);
                grams(words, k, |gram, position| {
                    if gram.is_multiple_of(p) {
                        run(gram, position, k);
                    }
                });
            }
            Scheme::Winnow { k, w } => {
                let k = bounded(k);
                winnow::select(words, k, bounded(w), |gram, position| {
                    run(gram, position, k);
                });
            }
            Scheme::Break { p, short } => {
                let least = if short { 1 } else { bounded(p) };
                segments(words, bounded(p) as u64, least, |range| {
                    let segment = words.get(range.clone()).unwrap_or_default();
                    run(run_hash(segment), range.start, range.len());
                });
            }
            Scheme::Dct { p } => {
                let mut signal = Vec::new();
                segments(words, bounded(p) as u64, bounded(p), |range| {
                    let segment = words.get(range.clone()).unwrap_or_default();
                    let hash = dct::fingerprint(segment, &mut signal);
                    run(u64::from(hash), range.start, range.len());
                });
            }
        }
    }

    /// Returns the fingerprints of a text. `words` are its word hashes.
    pub fn fingerprints(&self, words: &[u64]) -> Fingerprints {
        let mut list = Vec::new();
        self.for_each(words, |fingerprint| list.push(fingerprint));
        Fingerprints::new(*self, list)
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        let text = match self {
            Scheme::KGram { k } => format!("{name}:k={k}"),
            Scheme::Mod { k, p } => format!("{name}:k={k},p={p}"),
            Scheme::Winnow { k, w } => format!("{name}:k={k},w={w}"),
            Scheme::Break { p, short: false } | Scheme::Dct { p } => format!("{name}:p={p}"),
            Scheme::Break { p, short: true } => format!("{name}:p={p},short=keep"),
        };
        formatter.pad(&text)
    }
}

impl FromStr for Scheme {
    type Err = InvalidParameters;

    fn from_str(text: &str) -> Result<Self, InvalidParameters> {
        let mut list = ParameterList::read(text)?;
        let (scheme, known) = match list.name {
            "kgram" => {
                let k = list.number("k", 3)?;
                (Scheme::KGram { k }, "k")
            }
            "mod" => {
                let (k, p) = (list.number("k", 3)?, list.number("p", 6)?);
                (Scheme::Mod { k, p }, "k and p")
            }
            "winnow" => {
                let (k, w) = (list.number("k", 3)?, list.number("w", 10)?);
                (Scheme::Winnow { k, w }, "k and w")
            }
            "break" => {
                let p = list.number("p", 3)?;
                let short = match list.take("short") {
                    None | Some("drop") => false,
                    Some("keep") => true,
                    Some(other) => {
                        return Err(InvalidParameters::new(format!(
                            "invalid value '{other}' for short of break: expected keep or drop"
                        )));
                    }
                };
                (Scheme::Break { p, short }, "p and short")
            }
            "dct" => {
                let p = list.number("p", 3)?;
                (Scheme::Dct { p }, "p")
            }
            other => {
                return Err(InvalidParameters::new(format!(
                    "unknown scheme '{other}': expected kgram, mod, winnow, break or dct"
                )));
            }
        };
        list.finish(known)?;
        Ok(scheme)
    }
}

serialise_as_text!(Scheme);

#[cfg(test)]
mod tests;
