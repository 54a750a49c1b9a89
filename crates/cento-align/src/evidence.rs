//! Whether two stretches are alike because one was made from the other, or because all sentences of
//! their kind are alike.
//!
//! Football results, recipes, registers and weather reports have half of their words in common with
//! any other text of their kind. But they have as much in common with the rest of their own text.
//! So each sentence is compared with both:
//!
//! ```text
//!   a   ···[ s1  s2  s3 ]···s4···    s2 and t2 are more alike than s2 and s4, its best in a, and
//!              ╱      ╲      │       than t2 and t5, its best in b: they are *distinct*
//!   b   ·t5·[ t2      t3 ]···t4··    s4 is as much like s2 as like t4: any sentence would do
//! ```
//!
//! An edited copy of such a text differs from its like in order: more of its words follow each
//! other as in the other text than if the other text begins in its middle.

use std::ops::Range;

use crate::document::{Document, TextWord};
use crate::lcs::Lcs;
use crate::passage::Found;
use crate::sentence_index::{SentenceIndex, WeightedDocument};
use crate::vocabulary::StemVocabulary;

/// What the distinctness of an edited passage and its order must sum up to, and that of one of at
/// least [`MANY`] sentences: chance averages out, so that a long copy is clear. Of 1,250 passages
/// between random texts of 17 formulaic genres, three have as much; of those that are right on one
/// half of PAN's pairs, 98.5 %.
const LEAST: f64 = 0.14;
const LEAST_OF_MANY: f64 = 0.2;
const MANY: usize = 10;
/// The distinctness of the sentences of a summary.
const LEAST_OF_SUMMARY: f64 = 0.2;
/// Cosines below this count as equal.
const FLOOR: f32 = 0.1;
/// The most sentences of each side that are compared, and the most words.
const MOST_SENTENCES: usize = 64;
const MOST_WORDS: usize = 2048;
/// A sentence is repeated if so many equal words are around it: the text has a paragraph twice, and
/// which one is like the other text tells nothing.
const REPEATED: usize = 28;

/// Judges passages; keeps its buffers from pair to pair.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    of_a: SentenceIndex,
    of_b: SentenceIndex,
    lcs: Lcs,
}

impl Evidence {
    /// What it has cost since it was made.
    #[cfg(test)]
    pub(crate) fn work(&self) -> u64 {
        self.of_a.visited + self.of_b.visited + self.lcs.work
    }

    /// Drops the passages that any two texts of their kind would have.
    pub(crate) fn filter(
        &mut self,
        a: &Document<'_>,
        b: &Document<'_>,
        vocabulary: &StemVocabulary,
        found: &mut Vec<Found>,
    ) {
        if found.is_empty() {
            return;
        }
        let (in_a, in_b) = (vocabulary.weighted_a(a), vocabulary.weighted_b(b));
        self.of_a.read(in_a, |_| true);
        self.of_b.read(in_b, |_| true);
        found.retain(|found| {
            let (own, other) = (&mut self.of_a, &mut self.of_b);
            let one = distinctness((in_a, &found.a, own), (in_b, &found.b, other));
            if found.scattered {
                return one >= LEAST_OF_SUMMARY;
            }
            let two = distinctness((in_b, &found.b, other), (in_a, &found.a, own));
            let distinct = (one + two) / 2.0;
            let words_a = counted(&a.words[a.words_of(&found.a)]);
            let words_b = counted(&b.words[b.words_of(&found.b)]);
            let least = match found.a.len().min(found.b.len()) {
                ..MANY => LEAST,
                _ => LEAST_OF_MANY,
            };
            distinct >= least || distinct + self.order(&words_a, words_b) >= least
        });
    }

    /// The share of words that are in the same order, beyond what there is if the second stretch
    /// begins in its middle.
    fn order(&mut self, a: &[u64], mut b: Vec<u64>) -> f64 {
        let all = (a.len() + b.len()).max(1) as f64 / 2.0;
        let in_order = self.lcs.length(a, &b);
        let half = b.len() / 2;
        b.rotate_left(half);
        in_order.saturating_sub(self.lcs.length(a, &b)) as f64 / all
    }
}

/// The words whose order counts: numbers of rows and moves are in the same order in all texts.
fn counted(words: &[TextWord]) -> Vec<u64> {
    let words = words.iter().filter(|word| !word.is_counter);
    words.map(|word| word.form).take(MOST_WORDS).collect()
}

/// How much more the sentences of a stretch are like those of another document's than like any
/// other of their own, from -1 to 1: for each, the difference of the two largest cosines over their
/// sum. Longer sentences count for more.
fn distinctness(
    (own, stretch, of_own): (WeightedDocument<'_>, &Range<usize>, &mut SentenceIndex),
    (other, counterpart, of_other): (WeightedDocument<'_>, &Range<usize>, &mut SentenceIndex),
) -> f64 {
    let (mut sum, mut weight) = (0.0, 0.0);
    let step = stretch.len().div_ceil(MOST_SENTENCES).max(1);
    for sentence in stretch.clone().step_by(step) {
        let mut like_other = FLOOR;
        of_other.compare(other, (own, sentence), FLOOR, |similar| {
            if counterpart.contains(&(similar.sentence as usize)) {
                like_other = like_other.max(similar.cosine);
            }
        });
        let mut like_own = FLOOR;
        of_own.compare(own, (own, sentence), FLOOR, |similar| {
            let is_more = similar.cosine > like_own && similar.sentence as usize != sentence;
            if is_more && !is_repeated(own.document, sentence, similar.sentence as usize) {
                like_own = similar.cosine;
            }
        });
        let terms = own.document.terms_of(sentence).iter();
        let words = terms.map(|term| f64::from(term.1)).sum::<f64>();
        sum += words * f64::from((like_other - like_own) / (like_other + like_own));
        weight += words;
    }
    sum / f64::max(weight, 1.0)
}

/// Whether two sentences of one document are part of a stretch that it has twice.
fn is_repeated(document: &Document<'_>, one: usize, other: usize) -> bool {
    let words = &document.words;
    let sentence = &document.sentences[one].words;
    let (one, other) = (sentence.start, document.sentences[other].words.start);
    let equal = |(one, other): &(&TextWord, &TextWord)| one.form == other.form;
    let ahead = words[one..].iter().zip(&words[other..]).take(REPEATED);
    let ahead = ahead.take_while(equal).count();
    if ahead < sentence.len().min(REPEATED) {
        return false;
    }
    let behind = words[..one].iter().rev().zip(words[..other].iter().rev());
    ahead + behind.take(REPEATED).take_while(equal).count() >= REPEATED
}
