//! Sketches of a fixed number of minima, from which resemblance is estimated.
//!
//! Fetterly et al. apply 84 hash functions to every gram of a text and keep the smallest value of
//! each. Two texts agree on one of these with a probability that is their resemblance, and all 84
//! are independent. It costs 84 operations a gram.
//!
//! This is the same for about one operation a gram, by *fast similarity sketching* (Dahlgaard,
//! Knudsen & Thorup 2017). A sketch has `m` slots, filled in rounds. In a round, each gram falls
//! into one slot, by a hash of gram and round, with a rank; each slot that was empty before the
//! round takes the gram of the smallest rank. Once no slot is empty it is done. A text of more than
//! some 400 grams is done in the first round or the second. After `m` ÷ 4 rounds, each slot has a
//! round of its own, into which every gram falls, so that a text of one gram is done too. (The
//! paper has `m` rounds before these; that costs texts of ten grams half as much again, and makes
//! nothing better.)
//!
//! ```text
//!            slot 0      slot 1      slot 2      slot 3
//! round 0    dog 3  ◄─   ·           cat 5 ◄─    ·          dog, cat: the only grams
//! round 1    cat 2       dog 9 ◄─    ·           ·
//! round 2    ·           ·           dog 1       cat 4 ◄─   done: dog, dog, cat, cat
//! ```
//!
//! A slot has the gram that comes first, by round and rank, of all grams of the text. So of two
//! texts it has the same gram if the first of the union is in both, which happens with a
//! probability of exactly their resemblance, as with independent functions.
//!
//! # Why not something simpler
//! One round alone, after which empty slots copy full ones (one-permutation hashing with optimal
//! densification), is a few instructions shorter. But slots that copy the same one agree together
//! or not at all. `tests/sketches.rs` measures, for resemblance 0.8, the variance of estimates over
//! that of independent functions, and how often a band of 6 agrees over 0.8⁶:
//!
//! | grams in either text | copied slots | filled in rounds |
//! |---|---|---|
//! | 10 | 1.37, 1.01 | 0.5, 0.98 |
//! | 20 | 1.16, 1.03 | 0.5, 0.98 |
//! | 100 | 0.88, 0.98 | 0.55, 0.96 |
//! | 600 | – | 0.87, 0.98 |
//!
//! Rounds do better than independent functions, because two slots of a round never have the same
//! gram: as drawing without putting back does better than drawing with. For the same reason bands
//! agree a little less often, and any of 14 as often.
//!
//! A slot keeps the gram itself rather than its rank: equal grams in a slot have equal ranks, and a
//! gram can be traced back to its words, which is what popular phrases are found by.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::gram::{SPREAD, circular_grams, finish};
use crate::parameters::{Given, InvalidParameters, Unlike, bounded, serialise_as_text};

/// What a sketch is made of. As text: `minima:k=5,m=84`. Both are taken as at least 1 and at most
/// 65,535.
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
        let mut given = Given::read(text)?;
        if given.name != "minima" {
            return Err(InvalidParameters::new(format!(
                "'{text}' are no parameters of a sketch: they are written minima:k=5,m=84"
            )));
        }
        let (k, minima) = (given.number("k", 5)?, given.number("m", 84)?);
        given.finish("k and m")?;
        Ok(SketchParameters { k, minima })
    }
}

serialise_as_text!(SketchParameters);

/// The minima of one text, with what they were made with.
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
/// # Ok::<(), cento_fingerprint::Unlike>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Sketch {
    parameters: SketchParameters,
    minima: Box<[u64]>,
}

/// A sketch as it was read, which may be of a wrong length.
#[derive(Deserialize)]
struct Unchecked {
    parameters: SketchParameters,
    minima: Box<[u64]>,
}

impl TryFrom<Unchecked> for Sketch {
    type Error = InvalidParameters;

    fn try_from(read: Unchecked) -> Result<Self, InvalidParameters> {
        Sketch::from_minima(read.parameters, read.minima)
    }
}

impl Sketch {
    /// A sketch of minima that were made by a [`Sketcher`] with these parameters.
    pub fn from_minima(
        parameters: SketchParameters,
        minima: Box<[u64]>,
    ) -> Result<Self, InvalidParameters> {
        if minima.len() != slots(parameters) {
            return Err(InvalidParameters::new(format!(
                "a sketch of {parameters} has not {} minima",
                minima.len()
            )));
        }
        Ok(Sketch { parameters, minima })
    }

    /// What it was made with.
    pub fn parameters(&self) -> SketchParameters {
        self.parameters
    }

    /// The gram hash of each slot.
    pub fn minima(&self) -> &[u64] {
        &self.minima
    }

    /// How much both texts resemble each other: what share of the grams that either has do both
    /// have?
    pub fn resemblance(&self, other: &Sketch) -> Result<Estimate, Unlike> {
        Unlike::check(&self.parameters, &other.parameters)?;
        Ok(Estimate {
            matches: self.equal_slots(other) as u64,
            trials: self.minima.len() as u64,
        })
    }

    /// How much of this text the other contains: what share of its grams does the other have?
    ///
    /// The slots of the union whose gram is one of this text's are a sample of them; those that
    /// agree are in both. The shorter this text beside the other, the fewer these slots and the
    /// wider the interval: for a sentence in a book, use a [`ScaledSketch`](crate::ScaledSketch).
    pub fn containment(&self, other: &Sketch) -> Result<Estimate, Unlike> {
        Unlike::check(&self.parameters, &other.parameters)?;
        let trials = self.pairs(other).filter(|&(slot, ours, theirs)| {
            ours == theirs || self.place(ours, slot) < self.place(theirs, slot)
        });
        Ok(Estimate {
            matches: self.equal_slots(other) as u64,
            trials: trials.count() as u64,
        })
    }

    /// The sketch of a text that has the grams of both: equal to what a [`Sketcher`] makes of them.
    pub fn union(&self, other: &Sketch) -> Result<Sketch, Unlike> {
        Unlike::check(&self.parameters, &other.parameters)?;
        let minima = self
            .pairs(other)
            .map(|(slot, ours, theirs)| {
                let first = ours == theirs || self.place(ours, slot) < self.place(theirs, slot);
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

    /// In which round a gram falls into a slot, and with which rank.
    fn place(&self, gram: u64, slot: usize) -> (usize, u64) {
        let count = self.minima.len();
        let shared = (0..shared_rounds(count)).find_map(|round| {
            let (fallen, rank) = fall(in_round(gram, round), count);
            (fallen == slot).then_some((round, rank))
        });
        let own = own_round(slot, count);
        shared.unwrap_or_else(|| (own, in_round(gram, own)))
    }
}

/// Makes sketches; keeps the buffers that this needs from one text to the next.
#[derive(Clone, Debug)]
pub struct Sketcher {
    parameters: SketchParameters,
    inverse: Inverse,
    /// The smallest rank of each slot: [`EMPTY`] where no gram fell yet, 0 where an earlier round
    /// has decided.
    ranks: Box<[u64]>,
    minima: Box<[u64]>,
    /// The slots that filled in this round.
    fresh: Vec<usize>,
    /// The grams of that text, where more rounds than one are needed.
    grams: Vec<u64>,
    /// Its distinct grams, where it has many.
    distinct: Vec<u64>,
}

/// The rank of a slot into which no gram has fallen.
const EMPTY: u64 = u64::MAX;

impl Sketcher {
    /// A sketcher with empty buffers.
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

    /// The sketch of a text of which these are the word hashes: over the grams of a circle, so that
    /// its last word is followed by its first. A text without words has none.
    pub fn sketch(&mut self, words: &[u64]) -> Option<Sketch> {
        if words.is_empty() {
            return None;
        }
        let k = bounded(self.parameters.k);
        self.ranks.fill(EMPTY);
        circular_grams(words, k, |gram| lower(&mut self.ranks, gram));
        let empty = self.first_minima();
        if empty > 0 {
            // Few texts need their grams again, and these are short: making them twice is less than
            // keeping them all.
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

    /// The sketch of a set of gram hashes, in any order and with any repeats; of none there is
    /// none.
    pub fn sketch_grams(&mut self, grams: &[u64]) -> Option<Sketch> {
        let parameters = self.parameters;
        let minima = self.minima(grams)?.into();
        Some(Sketch { parameters, minima })
    }

    /// The minima of a set of gram hashes, without allocating anything for them.
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

    /// Reads the minima off the ranks of the first round and returns how many slots are still
    /// empty.
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
        // So many distinct grams leave a slot empty once in a thousand texts. A text that has them
        // and still does repeats itself, and without its repeats costs no more than other short
        // ones.
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
                // A branch, unlike in the first round: most slots are full, and doing without one
                // was measured to be slower.
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

/// Lets a gram fall in the first round.
#[inline]
fn lower(ranks: &mut [u64], gram: u64) {
    let (slot, rank) = fall(gram, ranks.len());
    // Written whether it is smaller or not: which it is, no processor can foresee.
    if let Some(smallest) = ranks.get_mut(slot) {
        *smallest = rank.min(*smallest);
    }
}

/// How many slots a sketch has.
fn slots(parameters: SketchParameters) -> usize {
    bounded(parameters.minima)
}

/// In how many rounds a gram falls into one of all slots.
fn shared_rounds(count: usize) -> usize {
    count.div_ceil(4)
}

/// The round in which all grams fall into this slot.
fn own_round(slot: usize, count: usize) -> usize {
    shared_rounds(count) + slot
}

/// The hash of a gram in a round: in the first the gram's own, in the others its product with an
/// odd number.
///
/// Grams are mixed already. What a product then lacks, that its low bits come of low bits alone,
/// does not matter: slot and rank are taken from the top.
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

/// Into which of `count` slots a hash falls, and with which rank: the whole part and the fraction
/// of hash · count ÷ 2⁶⁴.
#[inline]
fn fall(hash: u64, count: usize) -> (usize, u64) {
    let product = u128::from(hash) * count as u128;
    ((product >> 64) as usize, product as u64)
}

/// Finds the hash that fell into a slot with a rank, so that the first round need not write grams
/// down.
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
        // Newton's iteration: each step doubles the correct bits, of which an odd number has three
        // to begin with.
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
