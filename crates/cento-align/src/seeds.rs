//! Pairs of sentences that are alike.

use std::ops::Range;

use crate::AlignSettings;
use crate::document::{Document, Sentence};
use crate::scope::{Part, Scope};
use crate::sentence_index::SentenceIndex;
use crate::verbatim::VerbatimPassage;
use crate::vocabulary::StemVocabulary;

/// Seeds of one sentence. Only text that repeats itself has more.
const MOST_SEEDS: usize = 16;
/// The cosine that makes two sentences alike for the search for summaries.
const WEAK_COSINE: f32 = 0.2;

/// Two sentences that are alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seed {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) cosine: f32,
}

/// The sentences of two documents that are alike.
#[derive(Debug, Default)]
pub(crate) struct Seeds {
    /// Alike by both measures, and not in a verbatim passage; by sentence of the first document.
    pub(crate) strong: Vec<Seed>,
    /// For each sentence of the first document, the most similar one of the second, if the two are
    /// alike at all. Empty beside verbatim passages, where summaries are not looked for.
    pub(crate) weak: Vec<Seed>,
    /// The sentences of the second document.
    pub(crate) index: SentenceIndex,
}

impl Seeds {
    /// Finds all pairs.
    pub(crate) fn find(
        &mut self,
        a: &Document<'_>,
        b: &Document<'_>,
        vocabulary: &StemVocabulary,
        verbatim: &[VerbatimPassage],
        settings: &AlignSettings,
        scope: Option<&Scope>,
    ) {
        self.strong.clear();
        self.weak.clear();
        let (from, of) = (vocabulary.weighted_a(a), vocabulary.weighted_b(b));
        self.index.read(of, |sentence| {
            scope.is_none_or(|scope| scope.b[sentence] == Part::Compared)
        });
        let masks = Masks {
            a: &a.sentences,
            b: &b.sentences,
            verbatim,
        };
        let has_summaries = settings.scattered && verbatim.is_empty();
        let least = match verbatim.is_empty() {
            true => settings.cosine,
            false => settings.cosine.max(settings.cosine_beside_verbatim),
        };
        let floor = match has_summaries {
            true => least.min(WEAK_COSINE),
            false => least,
        };
        let mut found: Vec<Seed> = Vec::new();
        let is_compared = |sentence| scope.is_none_or(|scope| scope.a[sentence] == Part::Compared);
        let sentences = (0..a.sentences.len()).filter(|&sentence| is_compared(sentence));
        for sentence in sentences.filter(|&sentence| !masks.hide_all(sentence)) {
            let length = a.terms_of(sentence).len();
            found.clear();
            let mut best: Option<Seed> = None;
            self.index.compare(of, (from, sentence), floor, |similar| {
                let seed = Seed {
                    a: sentence as u32,
                    b: similar.sentence,
                    cosine: similar.cosine,
                };
                if seed.cosine > WEAK_COSINE
                    && best.is_none_or(|best| (seed.cosine, best.b) > (best.cosine, seed.b))
                {
                    best = Some(seed);
                }
                let other = b.terms_of(similar.sentence as usize).len();
                if seed.cosine > least && similar.dice(length, other) > settings.dice {
                    found.push(seed);
                }
            });
            self.weak.extend(best.filter(|_| has_summaries));
            found.retain(|seed| !masks.hide(sentence, seed.b as usize));
            found.sort_by(|one, other| {
                other
                    .cosine
                    .total_cmp(&one.cosine)
                    .then(one.b.cmp(&other.b))
            });
            found.truncate(MOST_SEEDS);
            found.sort_by_key(|seed| seed.b);
            self.strong.extend_from_slice(&found);
        }
    }
}

/// How many words around a verbatim passage count as part of it.
const AROUND: usize = 120;

/// What verbatim passages already explain.
struct Masks<'d> {
    a: &'d [Sentence],
    b: &'d [Sentence],
    verbatim: &'d [VerbatimPassage],
}

impl Masks<'_> {
    /// Whether all seeds of a sentence are hidden, because it is inside a verbatim passage.
    fn hide_all(&self, sentence: usize) -> bool {
        is_inside_verbatim(self.verbatim, &self.a[sentence].words)
    }

    /// Whether a seed is inside a verbatim passage, or beside it on both sides.
    fn hide(&self, sentence: usize, other: usize) -> bool {
        let (words, others) = (&self.a[sentence].words, &self.b[other].words);
        is_beside_verbatim(self.verbatim, words, others)
    }
}

/// Whether words of the first document overlap a verbatim passage.
fn is_inside_verbatim(verbatim: &[VerbatimPassage], words: &Range<usize>) -> bool {
    let first = verbatim.partition_point(|passage| passage.a.end <= words.start);
    let passage = verbatim.get(first);
    passage.is_some_and(|passage| crate::overlaps(&passage.a, words))
}

/// Whether words of both documents are inside a verbatim passage of the first, or beside one on
/// both sides.
pub(crate) fn is_beside_verbatim(
    verbatim: &[VerbatimPassage],
    words: &Range<usize>,
    others: &Range<usize>,
) -> bool {
    // Passages are in order and do not overlap, so that those around a sentence are neighbours.
    let first = verbatim.partition_point(|passage| passage.a.end + AROUND <= words.start);
    let near = verbatim[first..].iter();
    near.take_while(|passage| passage.a.start < words.end + AROUND)
        .any(|passage| {
            crate::overlaps(&passage.a, words)
                || passage.b.start < others.end + AROUND && others.start < passage.b.end + AROUND
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Compares all pairs of sentences.
    fn naive(
        a: &Document<'_>,
        b: &Document<'_>,
        vocabulary: &StemVocabulary,
        settings: &AlignSettings,
    ) -> (Vec<Seed>, Vec<Seed>) {
        let vector = |document: &Document<'_>, numbers: &[u32], sentence| -> Vec<(u32, f32)> {
            let terms = document.terms_of(sentence).iter();
            let weigh = |&(stem, count): &(u32, u32)| (numbers[stem as usize], count as f32);
            terms.map(weigh).collect()
        };
        let weight = |stem: u32| vocabulary.weights[stem as usize];
        let norm = |terms: &[(u32, f32)]| {
            let squares = terms.iter().map(|&(stem, count)| count * weight(stem));
            squares.map(|weight| weight * weight).sum::<f32>().sqrt()
        };
        let (mut strong, mut weak) = (Vec::new(), Vec::new());
        for one in 0..a.sentences.len() {
            let mine = vector(a, &vocabulary.of_a, one);
            let mut seeds = Vec::new();
            for other in 0..b.sentences.len() {
                let theirs = vector(b, &vocabulary.of_b, other);
                let count_of = |stem| theirs.iter().find(|term| term.0 == stem).map(|term| term.1);
                let shared = mine
                    .iter()
                    .filter_map(|&(stem, count)| Some((stem, count, count_of(stem)?)));
                let shared: Vec<(u32, f32, f32)> = shared.collect();
                let dot: f32 = shared
                    .iter()
                    .map(|&(stem, mine, theirs)| mine * weight(stem) * theirs * weight(stem))
                    .sum();
                let seed = Seed {
                    a: one as u32,
                    b: other as u32,
                    cosine: dot / (norm(&mine) * norm(&theirs)).max(f32::MIN_POSITIVE),
                };
                let dice = 2.0 * shared.len() as f32 / (mine.len() + theirs.len()) as f32;
                seeds.push((seed, dice));
            }
            let best = seeds.iter().map(|(seed, _)| *seed).reduce(|best, seed| {
                match seed.cosine > best.cosine {
                    true => seed,
                    false => best,
                }
            });
            weak.extend(best.filter(|best| best.cosine > WEAK_COSINE));
            seeds.retain(|&(seed, dice)| seed.cosine > settings.cosine && dice > settings.dice);
            seeds.sort_by(|(one, _), (other, _)| other.cosine.total_cmp(&one.cosine));
            seeds.truncate(MOST_SEEDS);
            seeds.sort_by_key(|(seed, _)| seed.b);
            strong.extend(seeds.into_iter().map(|(seed, _)| seed));
        }
        (strong, weak)
    }

    /// Texts of sentences over frequent and rare words.
    fn text() -> impl Strategy<Value = String> {
        let word = prop_oneof!["[a-e]", "[a-z]", "[a-d][a-z]"];
        let sentence = prop::collection::vec(word, 1..9).prop_map(|words| words.join(" "));
        prop::collection::vec(sentence, 1..24).prop_map(|sentences| sentences.join(".\n\n"))
    }

    proptest! {
        #[test]
        fn the_seeds_are_those_of_comparing_all_pairs(
            a in text(),
            b in text(),
            cosine in prop_oneof![Just(0.0f32), Just(0.1), Just(0.3), Just(0.7), Just(0.95)],
            dice in prop_oneof![Just(0.0f32), Just(0.33)],
        ) {
            let (a, b) = (Document::new(&a), Document::new(&b));
            let mut vocabulary = StemVocabulary::default();
            vocabulary.prepare(&a, &b);
            let settings = AlignSettings { cosine, dice, ..AlignSettings::default() };
            let mut seeds = Seeds::default();
            seeds.find(&a, &b, &vocabulary, &[], &settings, None);
            let (strong, weak) = naive(&a, &b, &vocabulary, &settings);
            prop_assert_eq!(&seeds.strong, &strong);
            prop_assert_eq!(&seeds.weak, &weak);
            // Without summaries, more pairs are ruled out.
            let settings = AlignSettings { scattered: false, ..settings };
            seeds.find(&a, &b, &vocabulary, &[], &settings, None);
            prop_assert_eq!(&seeds.strong, &strong);
            prop_assert!(seeds.weak.is_empty());
        }
    }
}
