//! The fingerprints of a text.

use serde::{Deserialize, Serialize};

use crate::parameters::IncompatibleParameters;
use crate::scheme::Scheme;

/// The hash of some consecutive words of a text, and their position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The hash that is compared.
    pub hash: u64,
    /// The index of the first word.
    pub position: usize,
    /// The number of words.
    pub words: usize,
}

/// The fingerprints of a text and the scheme that selected them.
///
/// Comparing fingerprints of different schemes is an error rather than a meaningless number:
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
///     "cannot compare fingerprints of kgram:k=3 with fingerprints of kgram:k=4"
/// );
/// # Ok::<(), cento_fingerprint::IncompatibleParameters>(())
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

    /// The scheme that selected them.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The fingerprints, in order of position.
    pub fn list(&self) -> &[Fingerprint] {
        &self.list
    }

    /// Counts the distinct fingerprints of this text, of the other, and of both.
    pub fn overlap(
        &self,
        other: &Fingerprints,
    ) -> Result<FingerprintOverlap, IncompatibleParameters> {
        IncompatibleParameters::check(&self.scheme, &other.scheme)?;
        let (ours, theirs) = (self.distinct(), other.distinct());
        Ok(FingerprintOverlap {
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

/// The number of common elements of two sorted lists without repetitions.
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

/// The overlap of two texts, in distinct fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FingerprintOverlap {
    /// The number of fingerprints in both texts.
    pub shared: usize,
    /// The number of fingerprints of the first text.
    pub ours: usize,
    /// The number of fingerprints of the second text.
    pub theirs: usize,
}

impl FingerprintOverlap {
    /// The containment of the first text in the second, `C(A, B)` in the paper: `|F(A) ∩ F(B)| ÷
    /// |F(A)|`.
    /// |F(A)|`.
    ///
    /// `None` if the first text has no fingerprints.
    pub fn containment(&self) -> Option<f64> {
        ratio(self.shared, self.ours)
    }

    /// The containment of the second text in the first, `C(B, A)`.
    pub fn containment_of_other(&self) -> Option<f64> {
        ratio(self.shared, self.theirs)
    }

    /// The resemblance of the texts: `|F(A) ∩ F(B)| ÷ |F(A) ∪ F(B)|`.
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
        fn overlaps_agree_with_sets(
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
        let overlap = FingerprintOverlap {
            shared: 4,
            ours: 5,
            theirs: 40,
        };
        assert_eq!(overlap.containment(), Some(0.8));
        assert_eq!(overlap.containment_of_other(), Some(0.1));
        let nothing = FingerprintOverlap {
            shared: 0,
            ours: 0,
            theirs: 3,
        };
        assert_eq!(nothing.containment(), None);
    }

    #[test]
    fn fingerprints_round_trip_through_json_with_their_scheme() {
        let prints = Scheme::Mod { k: 2, p: 2 }.fingerprints(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let json = serde_json::to_string(&prints).unwrap();
        assert!(json.starts_with("{\"scheme\":\"mod:k=2,p=2\","), "{json}");
        assert_eq!(serde_json::from_str::<Fingerprints>(&json).unwrap(), prints);
    }
}
