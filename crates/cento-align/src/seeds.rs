//! Pairs of sentences that are alike.

use crate::AlignSettings;
use crate::document::Document;
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
#[derive(Debug, Default)]
pub(crate) struct Seeds {
    /// Alike by both measures, and not in a verbatim passage; by sentence of the first document.
    pub(crate) strong: Vec<Seed>,
    /// For each sentence of the first document, the most similar one of the second, if the two are
    /// alike at all.
    pub(crate) weak: Vec<Seed>,
    /// Where the postings of each stem begin.
    starts: Vec<u32>,
    postings: Vec<(u32, u32)>,
    dots: Vec<f32>,
    common: Vec<u32>,
    touched: Vec<u32>,
    /// Postings visited since the aligner was made: what the cost of a pair is made of.
    pub(crate) visited: u64,
    norms: Vec<f32>,
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
    ) {
        self.strong.clear();
        self.weak.clear();
        self.index(b, vocabulary);
        let masks = Masks::new(a, b, verbatim);
        let least = match verbatim.is_empty() {
            true => settings.cosine,
            false => settings.cosine.max(settings.cosine_beside_verbatim),
        };
        let mut found: Vec<Seed> = Vec::new();
        for sentence in 0..a.sentences.len() {
            let terms = a.terms_of(sentence);
            let norm = self.touch(terms, vocabulary);
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
            self.weak.extend(best);
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

    /// The sentences of the second document by stem, and the lengths of their vectors.
    fn index(&mut self, b: &Document<'_>, vocabulary: &StemVocabulary) {
        self.starts.clear();
        self.starts.resize(vocabulary.weights.len() + 1, 0);
        for &(stem, _) in &b.terms {
            self.starts[vocabulary.of_b[stem as usize] as usize + 1] += 1;
        }
        for stem in 1..self.starts.len() {
            self.starts[stem] += self.starts[stem - 1];
        }
        self.postings.clear();
        self.postings.resize(b.terms.len(), (0, 0));
        let mut next = self.starts.clone();
        self.norms.clear();
        for sentence in 0..b.sentences.len() {
            let mut norm = 0.0;
            for &(stem, count) in b.terms_of(sentence) {
                let stem = vocabulary.of_b[stem as usize] as usize;
                self.postings[next[stem] as usize] = (sentence as u32, count);
                next[stem] += 1;
                let weight = count as f32 * vocabulary.weights[stem];
                norm += weight * weight;
            }
            self.norms.push(norm.sqrt());
        }
        self.dots.clear();
        self.dots.resize(b.sentences.len(), 0.0);
        self.common.clear();
        self.common.resize(b.sentences.len(), 0);
    }

    /// Adds up what a sentence has in common with each sentence of the second document; returns the
    /// length of its vector.
    fn touch(&mut self, terms: &[(u32, u32)], vocabulary: &StemVocabulary) -> f32 {
        self.touched.clear();
        let mut norm = 0.0;
        for &(stem, count) in terms {
            let stem = vocabulary.of_a[stem as usize] as usize;
            let weight = vocabulary.weights[stem];
            let mine = count as f32 * weight;
            norm += mine * mine;
            let postings = self.starts[stem] as usize..self.starts[stem + 1] as usize;
            if postings.len() > MOST_POSTINGS {
                continue;
            }
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
        norm.sqrt()
    }
}

/// How many words around a verbatim passage count as part of it.
const AROUND: usize = 120;

/// What verbatim passages already explain.
struct Masks<'v> {
    a: Vec<std::ops::Range<usize>>,
    b: Vec<std::ops::Range<usize>>,
    verbatim: &'v [VerbatimPassage],
}

impl Masks<'_> {
    fn new<'v>(a: &Document<'_>, b: &Document<'_>, verbatim: &'v [VerbatimPassage]) -> Masks<'v> {
        let words = |document: &Document<'_>| {
            let sentences = document.sentences.iter();
            sentences.map(|sentence| sentence.words.clone()).collect()
        };
        match verbatim {
            [] => Masks {
                a: Vec::new(),
                b: Vec::new(),
                verbatim,
            },
            _ => Masks {
                a: words(a),
                b: words(b),
                verbatim,
            },
        }
    }

    /// Whether a seed is inside a verbatim passage, or beside it on both sides.
    fn hide(&self, sentence: usize, other: usize) -> bool {
        let (Some(words), Some(others)) = (self.a.get(sentence), self.b.get(other)) else {
            return false;
        };
        // Passages are in order and do not overlap, so that those around a sentence are neighbours.
        let first = self
            .verbatim
            .partition_point(|passage| passage.a.end + AROUND <= words.start);
        let near = self.verbatim[first..].iter();
        near.take_while(|passage| passage.a.start < words.end + AROUND)
            .any(|passage| {
                crate::overlaps(&passage.a, words)
                    || passage.b.start < others.end + AROUND
                        && others.start < passage.b.end + AROUND
            })
    }
}
