//! Pairs of sentences that are alike.

use std::ops::Range;

use crate::AlignSettings;
use crate::document::{Document, Sentence};
use crate::scope::{Part, Scope};
use crate::verbatim::VerbatimPassage;
use crate::vocabulary::StemVocabulary;

/// Sentences that a stem may be in to be looked up. What is more frequent tells little, and would
/// cost a product of frequencies.
const MOST_POSTINGS: usize = 256;
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
///
/// Few pairs of sentences are alike, so most of them are ruled out before they are compared. The
/// cosine of two sentences that share only some stems is at most the length of the first vector
/// over these stems, divided by its whole length. The stems with the most postings are therefore
/// left out as long as a pair that shares nothing else cannot reach the least cosine:
///
/// ```text
///   stems of a sentence, by postings    river was over │ bridge pillar crack
///                                             left out │ looked up ─▶ candidates ─▶ compared
/// ```
///
/// Candidates are compared by all of their stems, so that the result is the same as without this.
#[derive(Debug, Default)]
pub(crate) struct Seeds {
    /// Alike by both measures, and not in a verbatim passage; by sentence of the first document.
    pub(crate) strong: Vec<Seed>,
    /// For each sentence of the first document, the most similar one of the second, if the two are
    /// alike at all. Empty beside verbatim passages, where summaries are not looked for.
    pub(crate) weak: Vec<Seed>,
    /// Where the postings of each stem begin.
    starts: Vec<u32>,
    next: Vec<u32>,
    postings: Vec<(u32, u32)>,
    /// The products of a sentence of the first document with those of the second, and how many
    /// stems they share.
    dots: Vec<f32>,
    common: Vec<u32>,
    touched: Vec<u32>,
    /// The weights of the stems of a sentence of the first document that are looked up; 0 for all
    /// other stems.
    mine: Vec<f32>,
    rare: Vec<RareStem>,
    /// Postings visited and terms compared since the aligner was made: what the cost of a pair is
    /// made of.
    pub(crate) visited: u64,
    norms: Vec<f32>,
}

/// A stem of a sentence of the first document that few sentences of the second have.
#[derive(Debug, Clone, Copy)]
struct RareStem {
    stem: usize,
    postings: usize,
    /// Its weight in the sentence.
    mine: f32,
}

/// The share of the least cosine that the stems which are left out may reach. With less, more
/// stems are looked up; with more, more candidates are compared.
const LEFT_OUT: f32 = 0.5;
/// Covers the rounding of sums in bounds.
const ROUNDING: f32 = 1.001;

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
        self.index(b, vocabulary, scope);
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
            let terms = a.terms_of(sentence);
            let norm = self.compare(terms, b, vocabulary, floor);
            found.clear();
            let mut best: Option<Seed> = None;
            for &other in &self.touched {
                let place = other as usize;
                let both = (norm * self.norms[place]).max(f32::MIN_POSITIVE);
                let seed = Seed {
                    a: sentence as u32,
                    b: other,
                    cosine: self.dots[place] / both,
                };
                let lengths = terms.len() + b.terms_of(place).len();
                let dice = 2.0 * self.common[place] as f32 / lengths as f32;
                (self.dots[place], self.common[place]) = (0.0, 0);
                if seed.cosine > WEAK_COSINE
                    && best.is_none_or(|best| (seed.cosine, best.b) > (best.cosine, seed.b))
                {
                    best = Some(seed);
                }
                if seed.cosine > least && dice > settings.dice {
                    found.push(seed);
                }
            }
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

    /// The sentences of the second document that are compared, by stem, and the lengths of their
    /// vectors.
    fn index(&mut self, b: &Document<'_>, vocabulary: &StemVocabulary, scope: Option<&Scope>) {
        let is_compared =
            |sentence: &usize| scope.is_none_or(|scope| scope.b[*sentence] == Part::Compared);
        let sentences = (0..b.sentences.len()).filter(is_compared);
        self.starts.clear();
        self.starts.resize(vocabulary.weights.len() + 1, 0);
        let mut terms = 0;
        for sentence in sentences.clone() {
            terms += b.terms_of(sentence).len();
            for &(stem, _) in b.terms_of(sentence) {
                self.starts[vocabulary.of_b[stem as usize] as usize + 1] += 1;
            }
        }
        for stem in 1..self.starts.len() {
            self.starts[stem] += self.starts[stem - 1];
        }
        self.postings.clear();
        self.postings.resize(terms, (0, 0));
        self.next.clone_from(&self.starts);
        let next = &mut self.next;
        self.norms.clear();
        self.norms.resize(b.sentences.len(), 0.0);
        for sentence in sentences {
            let mut norm = 0.0;
            for &(stem, count) in b.terms_of(sentence) {
                let stem = vocabulary.of_b[stem as usize] as usize;
                self.postings[next[stem] as usize] = (sentence as u32, count);
                next[stem] += 1;
                let weight = count as f32 * vocabulary.weights[stem];
                norm += weight * weight;
            }
            self.norms[sentence] = norm.sqrt();
        }
        self.dots.clear();
        self.dots.resize(b.sentences.len(), 0.0);
        self.common.clear();
        self.common.resize(b.sentences.len(), 0);
        self.mine.clear();
        self.mine.resize(vocabulary.weights.len(), 0.0);
    }

    /// Computes what a sentence has in common with each sentence of the second document that may
    /// have a larger cosine than `floor`; returns the length of its vector.
    fn compare(
        &mut self,
        terms: &[(u32, u32)],
        b: &Document<'_>,
        vocabulary: &StemVocabulary,
        floor: f32,
    ) -> f32 {
        self.rare.clear();
        let mut square = 0.0;
        for &(stem, count) in terms {
            let stem = vocabulary.of_a[stem as usize] as usize;
            let mine = count as f32 * vocabulary.weights[stem];
            square += mine * mine;
            let postings = (self.starts[stem + 1] - self.starts[stem]) as usize;
            if (1..=MOST_POSTINGS).contains(&postings) {
                let rare = RareStem {
                    stem,
                    postings,
                    mine,
                };
                self.rare.push(rare);
                self.mine[stem] = mine;
            }
        }
        let norm = square.sqrt();
        let all: usize = self.rare.iter().map(|rare| rare.postings).sum();
        self.look_up(vocabulary, norm, floor);
        // If many sentences are alike, visiting all postings costs less than comparing them.
        if self.touched.len() * terms.len() > 2 * all {
            self.add_up(terms, vocabulary);
        } else {
            self.multiply(b, vocabulary);
        }
        self.rare.iter().for_each(|rare| self.mine[rare.stem] = 0.0);
        norm
    }

    /// Finds the sentences of the second document that may have a larger cosine than `floor`.
    fn look_up(&mut self, vocabulary: &StemVocabulary, norm: f32, floor: f32) {
        self.touched.clear();
        self.rare.sort_unstable_by_key(|rare| {
            let postings = std::cmp::Reverse(rare.postings);
            (postings, rare.stem)
        });
        let limit = (LEFT_OUT * floor.max(0.0) * norm).powi(2);
        let mut left_out = 0.0;
        for at in 0..self.rare.len() {
            let RareStem { stem, mine, .. } = self.rare[at];
            if left_out + mine * mine <= limit {
                left_out += mine * mine;
                continue;
            }
            let postings = self.starts[stem] as usize..self.starts[stem + 1] as usize;
            self.visited += postings.len() as u64;
            let weight = mine * vocabulary.weights[stem];
            for &(other, theirs) in &self.postings[postings] {
                let dot = &mut self.dots[other as usize];
                if *dot == 0.0 {
                    self.touched.push(other);
                }
                *dot += weight * theirs as f32;
            }
        }
        let left_out = left_out.sqrt();
        let (dots, norms) = (&mut self.dots, &self.norms);
        self.touched.retain(|&other| {
            let place = other as usize;
            let most = std::mem::take(&mut dots[place]) + left_out * norms[place];
            most * ROUNDING > floor * norm * norms[place]
        });
    }

    /// Compares the sentence with those that were found, term by term.
    fn multiply(&mut self, b: &Document<'_>, vocabulary: &StemVocabulary) {
        for &other in &self.touched {
            let place = other as usize;
            let terms = b.terms_of(place);
            self.visited += terms.len() as u64;
            let (mut dot, mut common) = (0.0, 0);
            for &(stem, theirs) in terms {
                let stem = vocabulary.of_b[stem as usize] as usize;
                let mine = self.mine[stem];
                dot += mine * theirs as f32 * vocabulary.weights[stem];
                common += u32::from(mine > 0.0);
            }
            (self.dots[place], self.common[place]) = (dot, common);
        }
    }

    /// Compares the sentence with all that share a stem with it, stem by stem.
    fn add_up(&mut self, terms: &[(u32, u32)], vocabulary: &StemVocabulary) {
        self.touched.clear();
        for &(stem, _) in terms {
            let stem = vocabulary.of_a[stem as usize] as usize;
            let (mine, weight) = (self.mine[stem], vocabulary.weights[stem]);
            if mine == 0.0 {
                continue;
            }
            let postings = self.starts[stem] as usize..self.starts[stem + 1] as usize;
            self.visited += postings.len() as u64;
            for &(other, theirs) in &self.postings[postings] {
                let place = other as usize;
                if self.common[place] == 0 {
                    self.touched.push(other);
                }
                self.dots[place] += mine * theirs as f32 * weight;
                self.common[place] += 1;
            }
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
