//! The five ways of Seo & Croft to make fingerprints of a text, as one value.

use std::fmt;
use std::str::FromStr;

use crate::fingerprint::{Fingerprint, Fingerprints};
use crate::gram::{grams, run_hash};
use crate::parameters::{Given, InvalidParameters, bounded, serialise_as_text};
use crate::segment::segments;
use crate::{dct, winnow};

/// Which parts of a text are fingerprinted, and how.
///
/// The first three slide a window over the text and select some of its grams; the last two cut the
/// text into segments that do not overlap. In the paper, of texts of 318 words on average, they
/// kept so many fingerprints and found reuse so well (F₁ over six kinds of it):
///
/// | scheme | fingerprints | F₁ | use it |
/// |---|---|---|---|
/// | `kgram` | 316 | 0.757 | where there is room for a fingerprint a word |
/// | `mod` | 50 | 0.697 | to sample evenly over a corpus; leaves gaps of any length |
/// | `winnow` | 56 | 0.719 | for near-duplicates, and where a guarantee is wanted |
/// | `break` | 44 | 0.723 | for exact copies of passages at the least cost |
/// | `dct` | 44 | 0.744 | for passages in which a word may have been replaced |
///
/// As text it is the name, with the parameters that follow it; those left out are the paper's:
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
/// Parameters that are built by hand are taken as at least 1 and at most 65,535.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
        /// One run in so many is kept.
        p: u32,
    },
    /// The smallest hash in every window of `w` runs of `k` words: two in `w + 1`.
    ///
    /// Texts that share `w + k − 1` words in a row share a fingerprint. The window that has several
    /// smallest keeps the one of the window before it, else takes the rightmost.
    Winnow {
        /// Words in a run.
        k: u32,
        /// Runs in a window.
        w: u32,
    },
    /// Segments that end with a word whose hash is 0 modulo `p`.
    Break {
        /// One word in so many ends a segment.
        p: u32,
        /// Whether segments of fewer than `p` words are kept, as in Brin's original; the paper's
        /// revision ignores them.
        short: bool,
    },
    /// The segments of revised hash-breaking by the low frequencies of the cosine transform of
    /// their word hashes.
    ///
    /// 32 bits, of which some survive the replacement of a word: see
    /// [`dct_fingerprint`](crate::dct_fingerprint).
    Dct {
        /// One word in so many ends a segment, and shorter segments are ignored.
        p: u32,
    },
}

impl Scheme {
    /// The names of all schemes, in the order of the paper.
    pub const NAMES: [&'static str; 5] = ["kgram", "mod", "winnow", "break", "dct"];

    /// Every scheme with the parameters that the paper found best.
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

    /// Gives `visit` the fingerprints of a text of which these are the word hashes, in the order of
    /// their positions.
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

    /// The fingerprints of a text of which these are the word hashes, with the scheme that made
    /// them.
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
        let mut given = Given::read(text)?;
        let (scheme, known) = match given.name {
            "kgram" => {
                let k = given.number("k", 3)?;
                (Scheme::KGram { k }, "k")
            }
            "mod" => {
                let (k, p) = (given.number("k", 3)?, given.number("p", 6)?);
                (Scheme::Mod { k, p }, "k and p")
            }
            "winnow" => {
                let (k, w) = (given.number("k", 3)?, given.number("w", 10)?);
                (Scheme::Winnow { k, w }, "k and w")
            }
            "break" => {
                let p = given.number("p", 3)?;
                let short = match given.take("short") {
                    None | Some("drop") => false,
                    Some("keep") => true,
                    Some(other) => {
                        return Err(InvalidParameters::new(format!(
                            "short of break is keep or drop, not '{other}'"
                        )));
                    }
                };
                (Scheme::Break { p, short }, "p and short")
            }
            "dct" => {
                let p = given.number("p", 3)?;
                (Scheme::Dct { p }, "p")
            }
            other => {
                return Err(InvalidParameters::new(format!(
                    "no scheme is called '{other}': there are kgram, mod, winnow, break and dct"
                )));
            }
        };
        given.finish(known)?;
        Ok(scheme)
    }
}

serialise_as_text!(Scheme);

#[cfg(test)]
mod tests;
