//! Fingerprints of one text, with what they were made with.

use serde::{Deserialize, Serialize};

use crate::parameters::Unlike;
use crate::scheme::Scheme;

/// A number that stands for some words of a text, and where these words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The number that is compared.
    pub hash: u64,
    /// Which word of the text is the first that it stands for; the text's first is 0.
    pub position: usize,
    /// How many words it stands for.
    pub words: usize,
}

/// The fingerprints of one text and the scheme that made them.
///
/// Both travel together, and comparing unlike ones is an error rather than a number that means
/// nothing:
///
/// ```
/// use cento_fingerprint::{Scheme, word_hash};
///
/// let words: Vec<u64> = "one woman show by person willy".split(' ').map(word_hash).collect();
/// let grams = Scheme::KGram { k: 3 }.fingerprints(&words);
/// let longer = Scheme::KGram { k: 4 }.fingerprints(&words);
/// assert_eq!(grams.overlap(&grams)?.containment(), Some(1.0));
/// assert_eq!(
///     grams.overlap(&longer).unwrap_err().to_string(),
///     "fingerprints of kgram:k=3 cannot be compared with those of kgram:k=4"
/// );
/// # Ok::<(), cento_fingerprint::Unlike>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprints {
    scheme: Scheme,
    list: Vec<Fingerprint>,
}

impl Fingerprints {
    pub(crate) fn new(scheme: Scheme, list: Vec<Fingerprint>) -> Self {
        Fingerprints { scheme, list }
    }

    /// What they were made with.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// All of them, in the order of their positions.
    pub fn list(&self) -> &[Fingerprint] {
        &self.list
    }

    /// How many distinct fingerprints this text has, how many the other, and how many are in both.
    pub fn overlap(&self, other: &Fingerprints) -> Result<Overlap, Unlike> {
        Unlike::check(&self.scheme, &other.scheme)?;
        let (ours, theirs) = (self.distinct(), other.distinct());
        Ok(Overlap {
            shared: shared(&ours, &theirs),
            ours: ours.len(),
            theirs: theirs.len(),
        })
    }

    fn distinct(&self) -> Vec<u64> {
        let mut hashes: Vec<u64> = self.list.iter().map(|print| print.hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }
}

/// How many numbers two sorted lists without repeats have in common.
pub(crate) fn shared(ours: &[u64], theirs: &[u64]) -> usize {
    let (mut left, mut right, mut count) = (ours.iter().peekable(), theirs.iter().peekable(), 0);
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        match one.cmp(other) {
            std::cmp::Ordering::Less => drop(left.next()),
            std::cmp::Ordering::Greater => drop(right.next()),
            std::cmp::Ordering::Equal => {
                count += 1;
                left.next();
                right.next();
            }
        }
    }
    count
}

/// What two texts share, in distinct fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Fingerprints that both have.
    pub shared: usize,
    /// Fingerprints of the first text.
    pub ours: usize,
    /// Fingerprints of the second text.
    pub theirs: usize,
}

impl Overlap {
    /// The containment of the first text in the second, `C(A, B)` of the paper: `|F(A) ∩ F(B)| ÷
    /// |F(A)|`.
    ///
    /// A text without fingerprints is contained in nothing and in everything: there is no number to
    /// give.
    pub fn containment(&self) -> Option<f64> {
        ratio(self.shared, self.ours)
    }

    /// The containment of the second text in the first, `C(B, A)`.
    pub fn containment_of_other(&self) -> Option<f64> {
        ratio(self.shared, self.theirs)
    }

    /// The resemblance of both: `|F(A) ∩ F(B)| ÷ |F(A) ∪ F(B)|`.
    pub fn resemblance(&self) -> Option<f64> {
        ratio(self.shared, self.ours + self.theirs - self.shared)
    }
}

fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn overlaps_equal_those_of_sets(
            ours in prop::collection::vec(0u64..6, 0..40), theirs in prop::collection::vec(0u64..6, 0..40)
        ) {
            let scheme = Scheme::KGram { k: 2 };
            let (left, right) = (scheme.fingerprints(&ours), scheme.fingerprints(&theirs));
            let set = |prints: &Fingerprints| -> HashSet<u64> { prints.list().iter().map(|print| print.hash).collect() };
            let (one, other) = (set(&left), set(&right));
            let overlap = left.overlap(&right).unwrap();
            prop_assert_eq!(overlap.shared, one.intersection(&other).count());
            prop_assert_eq!((overlap.ours, overlap.theirs), (one.len(), other.len()));
            if let Some(resemblance) = overlap.resemblance() {
                let expected = overlap.shared as f64 / one.union(&other).count() as f64;
                prop_assert!((resemblance - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn containment_is_not_symmetric() {
        let overlap = Overlap {
            shared: 4,
            ours: 5,
            theirs: 40,
        };
        assert_eq!(overlap.containment(), Some(0.8));
        assert_eq!(overlap.containment_of_other(), Some(0.1));
        let nothing = Overlap {
            shared: 0,
            ours: 0,
            theirs: 3,
        };
        assert_eq!(nothing.containment(), None);
    }

    #[test]
    fn fingerprints_survive_json_with_their_scheme() {
        let prints = Scheme::Mod { k: 2, p: 2 }.fingerprints(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let json = serde_json::to_string(&prints).unwrap();
        assert!(json.starts_with("{\"scheme\":\"mod:k=2,p=2\","), "{json}");
        assert_eq!(serde_json::from_str::<Fingerprints>(&json).unwrap(), prints);
    }
}
