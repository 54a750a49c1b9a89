//! The edges of a passage: sentences that the other side does not have are dropped, and neighbours
//! that it has are added.
//!
//! ```text
//!   a   ···[ s1  s2  s3 ]·s4···      s4 and t4 are alike: both are added
//!             ╲   │   ╲    ╲
//!   b   ·[ t0  t1  t2  t3 ]·t4··     nothing in a is left for the words of t0: it is dropped
//! ```
//!
//! A word of one side is *matched* by a word of the same stem on the other side. Every word matches
//! one other at most, so half of a side that is twice as long as the other is unmatched. Words
//! count by their weight.

use std::ops::Range;

use crate::document::Document;
use crate::passage::Found;
use crate::vocabulary::StemVocabulary;

/// A sentence at the edge is dropped if a smaller share of its weight is matched.
const TRIM: f32 = 0.15;
/// The most sentences that are added at one edge: a passage whose neighbours are all alike was
/// found with them, and text that repeats itself would grow forever.
const MOST_ADDED: usize = 8;

/// What a neighbour must have in common with the other side to be added.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growth {
    /// The share of its weight that is matched.
    single: f32,
    /// The same of the next sentence on both sides, if the two are added together.
    pair: f32,
}

impl Growth {
    /// In edited text.
    pub(crate) const EDITED: Growth = Growth {
        single: 0.35,
        pair: 0.32,
    };
    /// In a pair of documents of which one copied whole paragraphs of the other as they are.
    pub(crate) const BESIDE_EXACT: Growth = Growth {
        single: 0.7,
        pair: 0.7,
    };
}

/// The sentences of two documents, with the weights of their stems.
#[derive(Clone, Copy)]
struct SentencePair<'d> {
    a: &'d Document<'d>,
    b: &'d Document<'d>,
    vocabulary: &'d StemVocabulary,
}

/// One of the two documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    A,
    B,
}

impl<'d> SentencePair<'d> {
    /// The stems of a sentence and how often each occurs there.
    fn terms(self, which: Which, sentence: usize) -> impl Iterator<Item = (usize, u32)> + 'd {
        let (document, numbers) = match which {
            Which::A => (self.a, &self.vocabulary.of_a),
            Which::B => (self.b, &self.vocabulary.of_b),
        };
        let terms = document.terms_of(sentence).iter();
        terms.map(move |&(stem, count)| (numbers[stem as usize] as usize, count))
    }

    /// The number of distinct stems of a sentence.
    fn length(self, which: Which, sentence: usize) -> u64 {
        let document = match which {
            Which::A => self.a,
            Which::B => self.b,
        };
        document.terms_of(sentence).len() as u64
    }

    fn weight(self, which: Which, sentence: usize) -> f32 {
        let terms = self.terms(which, sentence);
        terms
            .map(|(stem, count)| count as f32 * self.vocabulary.weights[stem])
            .sum()
    }
}

/// Moves the edges of passages; keeps its buffers from one passage to the next.
#[derive(Debug, Default)]
pub(crate) struct Refiner {
    /// How often each stem occurs in the passage, on either side.
    counts_a: Vec<u32>,
    counts_b: Vec<u32>,
    /// Terms looked at since it was made.
    pub(crate) work: u64,
}

impl Refiner {
    /// Prepares for a pair of documents.
    pub(crate) fn prepare(&mut self, vocabulary: &StemVocabulary) {
        for counts in [&mut self.counts_a, &mut self.counts_b] {
            counts.clear();
            counts.resize(vocabulary.weights.len(), 0);
        }
    }

    /// Drops sentences at the edges of an edited passage, then adds neighbours that are within
    /// `bounds` in the first document.
    pub(crate) fn refine(
        &mut self,
        (a, b): (&Document<'_>, &Document<'_>),
        vocabulary: &StemVocabulary,
        found: &mut Found,
        bounds: &Range<usize>,
        growth: Growth,
    ) {
        let sentences = SentencePair { a, b, vocabulary };
        self.load(sentences, found);
        self.trim(sentences, found);
        self.grow(sentences, found, bounds, growth);
        self.unload(sentences, found);
    }

    /// Adds neighbours to a passage whose own words are certain.
    pub(crate) fn extend(
        &mut self,
        (a, b): (&Document<'_>, &Document<'_>),
        vocabulary: &StemVocabulary,
        found: &mut Found,
        bounds: &Range<usize>,
        growth: Growth,
    ) {
        let sentences = SentencePair { a, b, vocabulary };
        self.load(sentences, found);
        self.grow(sentences, found, bounds, growth);
        self.unload(sentences, found);
    }

    fn load(&mut self, sentences: SentencePair<'_>, found: &Found) {
        for sentence in found.a.clone() {
            self.add(sentences, Which::A, sentence);
        }
        for sentence in found.b.clone() {
            self.add(sentences, Which::B, sentence);
        }
    }

    fn unload(&mut self, sentences: SentencePair<'_>, found: &Found) {
        for sentence in found.a.clone() {
            self.subtract(sentences, Which::A, sentence);
        }
        for sentence in found.b.clone() {
            self.subtract(sentences, Which::B, sentence);
        }
    }

    fn add(&mut self, sentences: SentencePair<'_>, which: Which, sentence: usize) {
        self.work += sentences.length(which, sentence);
        let (own, _) = self.counts(which);
        let terms = sentences.terms(which, sentence);
        terms.for_each(|(stem, count)| own[stem] += count);
    }

    fn subtract(&mut self, sentences: SentencePair<'_>, which: Which, sentence: usize) {
        self.work += sentences.length(which, sentence);
        let (own, _) = self.counts(which);
        let terms = sentences.terms(which, sentence);
        terms.for_each(|(stem, count)| own[stem] -= count);
    }

    /// The counts of a side, and of the other.
    fn counts(&mut self, which: Which) -> (&mut [u32], &[u32]) {
        match which {
            Which::A => (&mut self.counts_a, &self.counts_b),
            Which::B => (&mut self.counts_b, &self.counts_a),
        }
    }

    /// The weight that a sentence would add to what is matched.
    fn gain(&mut self, sentences: SentencePair<'_>, which: Which, sentence: usize) -> f32 {
        self.work += sentences.length(which, sentence);
        let (own, other) = self.counts(which);
        let terms = sentences.terms(which, sentence);
        terms
            .map(|(stem, count)| {
                let unmatched = other[stem].saturating_sub(own[stem]);
                sentences.vocabulary.weights[stem] * unmatched.min(count) as f32
            })
            .sum()
    }

    /// Drops the sentence at an edge that is matched least, until all are matched well enough. Each
    /// side keeps a sentence.
    fn trim(&mut self, sentences: SentencePair<'_>, found: &mut Found) {
        loop {
            let mut worst: Option<(f32, Which, bool)> = None;
            for which in [Which::A, Which::B] {
                let range = range_of(found, which);
                for is_first in [true, false] {
                    let sentence = edge(range, is_first);
                    if range.len() < 2 {
                        continue;
                    }
                    self.subtract(sentences, which, sentence);
                    let gain = self.gain(sentences, which, sentence);
                    self.add(sentences, which, sentence);
                    let weight = sentences.weight(which, sentence);
                    let share = gain / weight.max(f32::MIN_POSITIVE);
                    if share < TRIM && worst.is_none_or(|(least, ..)| share < least) {
                        worst = Some((share, which, is_first));
                    }
                }
            }
            let Some((_, which, is_first)) = worst else {
                return;
            };
            self.subtract(sentences, which, edge(range_of(found, which), is_first));
            let range = match which {
                Which::A => &mut found.a,
                Which::B => &mut found.b,
            };
            match is_first {
                true => range.start += 1,
                false => range.end -= 1,
            }
        }
    }

    /// Adds neighbours until none is alike: one of either side, or one of both.
    fn grow(
        &mut self,
        sentences: SentencePair<'_>,
        found: &mut Found,
        bounds: &Range<usize>,
        growth: Growth,
    ) {
        let whole = 0..sentences.b.sentences.len();
        for is_first in [true, false] {
            for _ in 0..MOST_ADDED {
                let next_a = neighbour(&found.a, is_first, bounds);
                let next_b = neighbour(&found.b, is_first, &whole);
                let is_alike = |refiner: &mut Refiner, which, next: &Option<usize>| {
                    next.is_some_and(|sentence| {
                        refiner.gain(sentences, which, sentence)
                            > growth.single * sentences.weight(which, sentence)
                    })
                };
                if let Some(sentence) = next_a.filter(|_| is_alike(self, Which::A, &next_a)) {
                    self.add(sentences, Which::A, sentence);
                    include(&mut found.a, sentence);
                } else if let Some(sentence) = next_b.filter(|_| is_alike(self, Which::B, &next_b))
                {
                    self.add(sentences, Which::B, sentence);
                    include(&mut found.b, sentence);
                } else if let (Some(one), Some(other)) = (next_a, next_b) {
                    let mut gain = self.gain(sentences, Which::A, one);
                    self.add(sentences, Which::A, one);
                    gain += self.gain(sentences, Which::B, other);
                    let weight =
                        sentences.weight(Which::A, one) + sentences.weight(Which::B, other);
                    if 2.0 * gain <= growth.pair * weight {
                        self.subtract(sentences, Which::A, one);
                        break;
                    }
                    self.add(sentences, Which::B, other);
                    include(&mut found.a, one);
                    include(&mut found.b, other);
                } else {
                    break;
                }
            }
        }
    }
}

fn range_of(found: &Found, which: Which) -> &Range<usize> {
    match which {
        Which::A => &found.a,
        Which::B => &found.b,
    }
}

fn edge(range: &Range<usize>, is_first: bool) -> usize {
    match is_first {
        true => range.start,
        false => range.end - 1,
    }
}

/// The sentence before or after a range, within bounds.
fn neighbour(range: &Range<usize>, is_first: bool, bounds: &Range<usize>) -> Option<usize> {
    let next = match is_first {
        true => range.start.checked_sub(1)?,
        false => range.end,
    };
    bounds.contains(&next).then_some(next)
}

fn include(range: &mut Range<usize>, sentence: usize) {
    range.start = range.start.min(sentence);
    range.end = range.end.max(sentence + 1);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn prepared(a: &Document<'_>, b: &Document<'_>) -> (StemVocabulary, Refiner) {
        let (mut vocabulary, mut refiner) = (StemVocabulary::default(), Refiner::default());
        vocabulary.prepare(a, b);
        refiner.prepare(&vocabulary);
        (vocabulary, refiner)
    }

    /// The definition: the weight of the words that both sides have, each as often as the side that
    /// has it less often.
    fn matched(sentences: SentencePair<'_>, found: &Found) -> f32 {
        let occurrences = |which, range: &Range<usize>, stem| -> u32 {
            let terms = range.clone().flat_map(|at| sentences.terms(which, at));
            terms.filter(|term| term.0 == stem).map(|term| term.1).sum()
        };
        let stems = 0..sentences.vocabulary.weights.len();
        stems
            .map(|stem| {
                let a = occurrences(Which::A, &found.a, stem);
                let b = occurrences(Which::B, &found.b, stem);
                a.min(b) as f32 * sentences.vocabulary.weights[stem]
            })
            .sum()
    }

    #[test]
    fn edges_move_to_the_sentences_that_both_sides_have() {
        let a = "Cats sleep all day. The old bridge over the river was closed on Monday. Engineers \
            found cracks in two of its pillars. The mayor promised repairs before winter. Sheep \
            eat grass.";
        let b = "Nobody likes rain very much. On Monday the old river bridge was closed. Cracks \
            were found by engineers in two pillars. Repairs before winter were promised by the \
            mayor. Trains run on time.";
        let (a, b) = (Document::new(a), Document::new(b));
        assert_eq!((a.sentences.len(), b.sentences.len()), (5, 5));
        let (vocabulary, mut refiner) = prepared(&a, &b);
        for (from_a, from_b) in [(0..5, 0..5), (2..3, 2..3), (1..4, 0..5), (0..2, 1..2)] {
            let mut found = Found {
                a: from_a,
                b: from_b,
                scattered: false,
            };
            refiner.refine((&a, &b), &vocabulary, &mut found, &(0..5), Growth::EDITED);
            assert_eq!((found.a, found.b), (1..4, 1..4));
        }
        // Not beyond the bounds.
        let mut found = Found {
            a: 2..3,
            b: 2..3,
            scattered: false,
        };
        refiner.refine((&a, &b), &vocabulary, &mut found, &(2..3), Growth::EDITED);
        assert_eq!(found.a, 2..3);
        assert!(
            refiner
                .counts_a
                .iter()
                .chain(&refiner.counts_b)
                .all(|&count| count == 0)
        );
    }

    proptest! {
        #[test]
        fn gains_are_differences_of_what_is_matched(
            a in prop::collection::vec("[a-h] [a-h] [a-h] [a-h] [a-h]", 3..8),
            b in prop::collection::vec("[a-h] [a-h] [a-h] [a-h] [a-h]", 3..8),
        ) {
            let (a, b) = (a.join(".\n\n"), b.join(".\n\n"));
            let (a, b) = (Document::new(&a), Document::new(&b));
            prop_assume!(a.sentences.len() > 2 && b.sentences.len() > 2);
            let (vocabulary, mut refiner) = prepared(&a, &b);
            let sentences = SentencePair { a: &a, b: &b, vocabulary: &vocabulary };
            let before = Found { a: 1..2, b: 0..2, scattered: false };
            refiner.load(sentences, &before);
            for (which, sentence, after) in [
                (Which::A, 0, Found { a: 0..2, ..before.clone() }),
                (Which::A, 2, Found { a: 1..3, ..before.clone() }),
                (Which::B, 2, Found { b: 0..3, ..before.clone() }),
            ] {
                let expected = matched(sentences, &after) - matched(sentences, &before);
                let gain = refiner.gain(sentences, which, sentence);
                prop_assert!((gain - expected).abs() < 1e-3, "{gain} {expected}");
            }
        }
    }
}
