//! MinHash sketches with a fixed number of minima, from which resemblance is estimated.
//!
//! Fetterly et al. apply 84 hash functions to every gram of a text and keep the smallest value of
//! each. The probability that two texts agree in one of these equals their resemblance, and all 84
//! are independent. This costs 84 operations per gram.
//!
//! This module does the same in about one operation per gram, by *fast similarity sketching*
//! (Dahlgaard, Knudsen & Thorup 2017). A sketch has `m` slots, which are filled in rounds. In each
//! round, every gram falls into one slot with a rank, both determined by a hash of the gram and the
//! round; each slot that was empty before the round takes the gram with the smallest rank. The
//! sketch is complete when no slot is empty. A text of more than about 400 grams is complete after
//! one or two rounds. After `m` ÷ 4 rounds, each slot gets a round into which every gram falls, so
//! that even a text of one gram is completed. (The paper has `m` rounds before these; that makes
//! texts of ten grams half as expensive again without improving the estimates.)
//!
//! ```text
//!            slot 0      slot 1      slot 2      slot 3
//! round 0    dog 3  ◄─   ·           cat 5 ◄─    ·          dog, cat: the only grams
//! round 1    cat 2       dog 9 ◄─    ·           ·
//! round 2    ·           ·           dog 1       cat 4 ◄─   done: dog, dog, cat, cat
//! ```
//!
//! A slot contains the gram that comes first, by round and rank, of all grams of the text. Two
//! texts have the same gram in a slot if the first gram of their union is in both. The probability
//! of this is exactly their resemblance, as with independent functions.
//!
//! # Why not a simpler method
//! A single round after which empty slots copy full ones (one-permutation hashing with optimal
//! densification) takes a few instructions less. But slots that copy the same slot are correlated.
//! For resemblance 0.8, `tests/sketches.rs` measures the variance of estimates relative to that of
//! independent functions, and how often a band of 6 agrees relative to 0.8⁶:
//!
//! | grams in either text | copied slots | filled in rounds |
//! |---|---|---|
//! | 10 | 1.37, 1.01 | 0.5, 0.98 |
//! | 20 | 1.16, 1.03 | 0.5, 0.98 |
//! | 100 | 0.88, 0.98 | 0.55, 0.96 |
//! | 600 | – | 0.87, 0.98 |
//!
//! Rounds have a lower variance than independent functions because two slots of one round never
//! have the same gram: they sample without replacement. For the same reason a single band agrees
//! slightly less often, but at least one of 14 equally often.
//!
//! A slot stores the gram rather than its rank: equal grams have equal ranks, and a gram can be
//! traced back to its words, which is how popular phrases are found.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::gram::{SPREAD, circular_grams, finish};
use crate::parameters::{
    IncompatibleParameters, InvalidParameters, ParameterList, bounded, serialise_as_text,
};

/// The parameters of a sketch, written `minima:k=5,m=84`. Values are limited to 1 to 65,535.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SketchParameters {
    /// Words in a gram.
    pub k: u32,
    /// Minima in a sketch.
    pub minima: u32,
}

impl Default for SketchParameters {
    /// Those of Fetterly et al.: 84 minima over runs of five words.
    fn default() -> Self {
        SketchParameters { k: 5, minima: 84 }
    }
}

impl fmt::Display for SketchParameters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&format!("minima:k={},m={}", self.k, self.minima))
    }
}

impl FromStr for SketchParameters {
    type Err = InvalidParameters;

    fn from_str(text: &str) -> Result<Self, InvalidParameters> {
        let mut list = ParameterList::read(text)?;
        if list.name != "minima" {
            return Err(InvalidParameters::new(format!(
                "invalid parameters of a sketch '{text}': expected, for example, minima:k=5,m=84"
            )));
        }
        let (k, minima) = (list.number("k", 5)?, list.number("m", 84)?);
        list.finish("k and m")?;
        Ok(SketchParameters { k, minima })
    }
}

serialise_as_text!(SketchParameters);

/// The minima of a text, with their parameters.
///
/// ```
/// use cento_fingerprint::{Sketcher, SketchParameters, word_hash};
///
/// let mut sketcher = Sketcher::new(SketchParameters::default());
/// let mut sketch = |text: &str| {
///     let words: Vec<u64> = text.split(' ').map(word_hash).collect();
///     sketcher.sketch(&words).expect("a text with words has grams")
/// };
/// let ours = sketch("it was the best of times it was the worst of times");
/// let theirs = sketch("it was the best of times it was the age of wisdom");
/// let resemblance = ours.resemblance(&theirs)?;
/// let (low, high) = resemblance.interval(0.99);
/// assert!((low..high).contains(&(6.0 / 17.0))); // 6 grams are in both texts, 17 in either
/// # Ok::<(), cento_fingerprint::IncompatibleParameters>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedSketch")]
pub struct Sketch {
    parameters: SketchParameters,
    minima: Box<[u64]>,
}

/// A deserialised sketch that may have a wrong length.
#[derive(Deserialize)]
struct UncheckedSketch {
    parameters: SketchParameters,
    minima: Box<[u64]>,
}

impl TryFrom<UncheckedSketch> for Sketch {
    type Error = InvalidParameters;

    fn try_from(read: UncheckedSketch) -> Result<Self, InvalidParameters> {
        Sketch::from_minima(read.parameters, read.minima)
    }
}

impl Sketch {
    /// Creates a sketch from minima that a [`Sketcher`] made with these parameters.
    pub fn from_minima(
        parameters: SketchParameters,
        minima: Box<[u64]>,
    ) -> Result<Self, InvalidParameters> {
        if minima.len() != slots(parameters) {
            return Err(InvalidParameters::new(format!(
                "expected {} minima for a sketch of {parameters}, found {}",
                slots(parameters),
                minima.len()
            )));
        }
        Ok(Sketch { parameters, minima })
    }

    /// Its parameters.
    pub fn parameters(&self) -> SketchParameters {
        self.parameters
    }

    /// The gram hash of each slot.
    pub fn minima(&self) -> &[u64] {
        &self.minima
    }

    /// Estimates the resemblance: the share of the grams of either text that are in both.
    pub fn resemblance(&self, other: &Sketch) -> Result<Estimate, IncompatibleParameters> {
        IncompatibleParameters::check(&self.parameters, &other.parameters)?;
        Ok(Estimate {
            matches: self.equal_slots(other) as u64,
            trials: self.minima.len() as u64,
        })
    }

    /// Estimates the containment: the share of this text's grams that the other text has.
    ///
    /// The slots of the union whose gram is in this text are a sample of its grams; the slots that
    /// agree are in both. The shorter this text is relative to the other, the fewer these slots and
    /// the wider the interval: for a sentence in a book, use a
    /// [`ScaledSketch`](crate::ScaledSketch).
    pub fn containment(&self, other: &Sketch) -> Result<Estimate, IncompatibleParameters> {
        IncompatibleParameters::check(&self.parameters, &other.parameters)?;
        let trials = self.pairs(other).filter(|&(slot, ours, theirs)| {
            ours == theirs || self.round_and_rank(ours, slot) < self.round_and_rank(theirs, slot)
        });
        Ok(Estimate {
            matches: self.equal_slots(other) as u64,
            trials: trials.count() as u64,
        })
    }

    /// Returns the sketch of the union of both sets of grams, identical to the one that a
    /// [`Sketcher`] would make.
    pub fn union(&self, other: &Sketch) -> Result<Sketch, IncompatibleParameters> {
        IncompatibleParameters::check(&self.parameters, &other.parameters)?;
        let minima = self
            .pairs(other)
            .map(|(slot, ours, theirs)| {
                let first = ours == theirs
                    || self.round_and_rank(ours, slot) < self.round_and_rank(theirs, slot);
                if first { ours } else { theirs }
            })
            .collect();
        Ok(Sketch {
            parameters: self.parameters,
            minima,
        })
    }

    fn pairs<'a>(&'a self, other: &'a Sketch) -> impl Iterator<Item = (usize, u64, u64)> {
        let both = self.minima.iter().zip(&other.minima).enumerate();
        both.map(|(slot, (&ours, &theirs))| (slot, ours, theirs))
    }

    fn equal_slots(&self, other: &Sketch) -> usize {
        let both = self.minima.iter().zip(&other.minima);
        both.filter(|(ours, theirs)| ours == theirs).count()
    }

    /// The round in which a gram falls into a slot, and its rank.
    fn round_and_rank(&self, gram: u64, slot: usize) -> (usize, u64) {
        let count = self.minima.len();
        let shared = (0..shared_rounds(count)).find_map(|round| {
            let (fallen, rank) = fall(in_round(gram, round), count);
            (fallen == slot).then_some((round, rank))
        });
        let own = own_round(slot, count);
        shared.unwrap_or_else(|| (own, in_round(gram, own)))
    }
}

/// Computes sketches; reuses its buffers across texts.
#[derive(Clone, Debug)]
pub struct Sketcher {
    parameters: SketchParameters,
    inverse: Inverse,
    /// The smallest rank of each slot: [`EMPTY`] if no gram has fallen into it yet, 0 if it was
    /// filled in an earlier round.
    ranks: Box<[u64]>,
    minima: Box<[u64]>,
    /// The slots filled in this round.
    fresh: Vec<usize>,
    /// The grams of the text, if more than one round is needed.
    grams: Vec<u64>,
    /// Its distinct grams, if it has many.
    distinct: Vec<u64>,
}

/// The rank of a slot into which no gram has fallen.
const EMPTY: u64 = u64::MAX;

impl Sketcher {
    /// Creates a sketcher with empty buffers.
    pub fn new(parameters: SketchParameters) -> Self {
        let count = slots(parameters);
        Sketcher {
            parameters,
            inverse: Inverse::of(count),
            ranks: vec![EMPTY; count].into_boxed_slice(),
            minima: vec![0; count].into_boxed_slice(),
            fresh: Vec::new(),
            grams: Vec::new(),
            distinct: Vec::new(),
        }
    }

    /// Computes the sketch of a text from its word hashes, over circular grams: the last word is
    /// followed by the first. Returns `None` for a text without words.
    pub fn sketch(&mut self, words: &[u64]) -> Option<Sketch> {
        if words.is_empty() {
            return None;
        }
        let k = bounded(self.parameters.k);
        self.ranks.fill(EMPTY);
        circular_grams(words, k, |gram| lower(&mut self.ranks, gram));
        let empty = self.first_minima();
        if empty > 0 {
            // Only short texts need their grams again; computing them twice is cheaper than storing
            // the grams of every text.
            let mut grams = std::mem::take(&mut self.grams);
            grams.clear();
            circular_grams(words, k, |gram| grams.push(gram));
            self.later_rounds(&grams, empty);
            self.grams = grams;
        }
        Some(Sketch {
            parameters: self.parameters,
            minima: self.minima.clone(),
        })
    }

    /// Computes the sketch of a set of gram hashes, in any order and with any repetitions; `None`
    /// if it is empty.
    pub fn sketch_grams(&mut self, grams: &[u64]) -> Option<Sketch> {
        let parameters = self.parameters;
        let minima = self.minima(grams)?.into();
        Some(Sketch { parameters, minima })
    }

    /// Computes the minima of a set of gram hashes without allocating.
    pub fn minima(&mut self, grams: &[u64]) -> Option<&[u64]> {
        if grams.is_empty() {
            return None;
        }
        self.ranks.fill(EMPTY);
        for &gram in grams {
            lower(&mut self.ranks, gram);
        }
        let empty = self.first_minima();
        if empty > 0 {
            self.later_rounds(grams, empty);
        }
        Some(&self.minima)
    }

    /// Derives the minima from the ranks of the first round and returns the number of empty slots.
    fn first_minima(&mut self) -> usize {
        let mut empty = 0;
        let both = self.ranks.iter().zip(&mut self.minima);
        for (slot, (&rank, minimum)) in both.enumerate() {
            empty += usize::from(rank == EMPTY);
            *minimum = self.inverse.gram(slot, rank);
        }
        empty
    }

    /// Fills the slots that the first round left empty.
    #[cold]
    fn later_rounds(&mut self, grams: &[u64], mut empty: usize) {
        let count = self.ranks.len();
        // With this many distinct grams, a slot remains empty once in a thousand texts. A text that
        // is longer and still has empty slots is repetitive, and costs no more than other short
        // texts once repetitions are removed.
        let mut distinct = std::mem::take(&mut self.distinct);
        let mut grams = grams;
        if grams.len() > 12 * count {
            distinct.clear();
            distinct.extend_from_slice(grams);
            distinct.sort_unstable();
            distinct.dedup();
            grams = &distinct;
        }
        for rank in self.ranks.iter_mut().filter(|rank| **rank != EMPTY) {
            *rank = 0;
        }
        for round in 1..shared_rounds(count) {
            let multiplier = multiplier(round);
            for &gram in grams {
                let (slot, rank) = fall(gram.wrapping_mul(multiplier), count);
                let both = (self.ranks.get_mut(slot), self.minima.get_mut(slot));
                let (Some(smallest), Some(minimum)) = both else {
                    continue;
                };
                // A branch, unlike in the first round: most slots are full, and the branch-free
                // version was measured to be slower.
                if rank < *smallest {
                    if *smallest == EMPTY {
                        self.fresh.push(slot);
                    }
                    (*smallest, *minimum) = (rank, gram);
                }
            }
            empty -= self.fresh.len();
            for slot in self.fresh.drain(..) {
                if let Some(rank) = self.ranks.get_mut(slot) {
                    *rank = 0;
                }
            }
            if empty == 0 {
                break;
            }
        }
        if empty > 0 {
            let both = self.ranks.iter().zip(&mut self.minima);
            for (slot, (&rank, minimum)) in both.enumerate() {
                if rank == EMPTY {
                    let multiplier = multiplier(own_round(slot, count));
                    let smallest = grams
                        .iter()
                        .min_by_key(|gram| gram.wrapping_mul(multiplier));
                    *minimum = smallest.copied().unwrap_or_default();
                }
            }
        }
        self.distinct = distinct;
    }
}

/// Adds a gram in the first round.
#[inline]
fn lower(ranks: &mut [u64], gram: u64) {
    let (slot, rank) = fall(gram, ranks.len());
    // Always written, because a branch on whether it is smaller is unpredictable.
    if let Some(smallest) = ranks.get_mut(slot) {
        *smallest = rank.min(*smallest);
    }
}

/// The number of slots of a sketch.
fn slots(parameters: SketchParameters) -> usize {
    bounded(parameters.minima)
}

/// The number of rounds in which a gram falls into one of all slots.
fn shared_rounds(count: usize) -> usize {
    count.div_ceil(4)
}

/// The round in which every gram falls into this slot.
fn own_round(slot: usize, count: usize) -> usize {
    shared_rounds(count) + slot
}

/// The hash of a gram in a round: the gram itself in the first, its product with an odd number in
/// the others.
///
/// Grams are already well mixed. The low bits of a product depend only on low bits, which does not
/// matter because slot and rank are taken from the top.
#[inline]
fn in_round(gram: u64, round: usize) -> u64 {
    gram.wrapping_mul(multiplier(round))
}

fn multiplier(round: usize) -> u64 {
    if round == 0 {
        return 1;
    }
    finish(SPREAD.wrapping_mul(round as u64)) | 1
}

/// The slot out of `count` that a hash falls into, and its rank: the integer part and the fraction
/// of hash · count ÷ 2⁶⁴.
#[inline]
fn fall(hash: u64, count: usize) -> (usize, u64) {
    let product = u128::from(hash) * count as u128;
    ((product >> 64) as usize, product as u64)
}

/// Recovers a hash from its slot and rank, so that the first round need not store grams.
///
/// The product is hash · odd · 2ˢ. Shifted right by s, its lower 64 bits are hash · odd modulo 2⁶⁴,
/// and an odd number has an inverse there.
#[derive(Clone, Copy, Debug)]
struct Inverse {
    shift: u32,
    of_odd: u64,
}

impl Inverse {
    fn of(count: usize) -> Self {
        let shift = count.trailing_zeros();
        let odd = (count >> shift) as u64;
        // Newton's iteration: each step doubles the number of correct bits, starting from three for
        // an odd number.
        let of_odd = (0..5).fold(odd, |inverse, _| {
            inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)))
        });
        Inverse { shift, of_odd }
    }

    #[inline]
    fn gram(self, slot: usize, rank: u64) -> u64 {
        let product = (slot as u128) << 64 | u128::from(rank);
        ((product >> self.shift) as u64).wrapping_mul(self.of_odd)
    }
}

#[cfg(test)]
mod tests;
