//! Which sentences of a document are similar to a sentence, by an index of their stems.

use crate::document::Document;

/// Sentences that a stem may be in to be looked up. What is more frequent tells little, and would
/// cost a product of frequencies.
const MOST_POSTINGS: usize = 256;

/// The sentences of a document, by stem.
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
pub(crate) struct SentenceIndex {
    /// Where the postings of each stem begin.
    starts: Vec<u32>,
    next: Vec<u32>,
    postings: Vec<(u32, u32)>,
    /// The products of a sentence with those of the document, and how many stems they share.
    dots: Vec<f32>,
    common: Vec<u32>,
    touched: Vec<u32>,
    /// The weights of the stems of a sentence that are looked up; 0 for all other stems.
    mine: Vec<f32>,
    rare: Vec<RareStem>,
    norms: Vec<f32>,
    /// Postings visited and terms compared since it was made: what the cost of a pair is made of.
    pub(crate) visited: u64,
}

/// The sentences of one of two documents, with the numbers and weights of its stems.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedDocument<'d> {
    pub(crate) document: &'d Document<'d>,
    /// The number of each stem in the vocabulary of both documents.
    pub(crate) numbers: &'d [u32],
    /// The weight of each stem, by its number.
    pub(crate) weights: &'d [f32],
}

/// A sentence that was compared with another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Similar {
    pub(crate) sentence: u32,
    pub(crate) cosine: f32,
    /// The number of stems that both have.
    pub(crate) common: u32,
}

impl Similar {
    /// Twice the number of stems that both have, over the stems of both.
    pub(crate) fn dice(&self, one: usize, other: usize) -> f32 {
        2.0 * self.common as f32 / (one + other) as f32
    }
}

/// A stem of a sentence that few sentences of the document have.
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

impl SentenceIndex {
    /// Reads the sentences of a document that are included.
    pub(crate) fn read(&mut self, of: WeightedDocument<'_>, is_included: impl Fn(usize) -> bool) {
        let WeightedDocument {
            document,
            numbers,
            weights,
        } = of;
        let sentences = (0..document.sentences.len()).filter(|&sentence| is_included(sentence));
        self.starts.clear();
        self.starts.resize(weights.len() + 1, 0);
        let mut terms = 0;
        for sentence in sentences.clone() {
            terms += document.terms_of(sentence).len();
            for &(stem, _) in document.terms_of(sentence) {
                self.starts[numbers[stem as usize] as usize + 1] += 1;
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
        self.norms.resize(document.sentences.len(), 0.0);
        for sentence in sentences {
            let mut norm = 0.0;
            for &(stem, count) in document.terms_of(sentence) {
                let stem = numbers[stem as usize] as usize;
                self.postings[next[stem] as usize] = (sentence as u32, count);
                next[stem] += 1;
                let weight = count as f32 * weights[stem];
                norm += weight * weight;
            }
            self.norms[sentence] = norm.sqrt();
        }
        self.dots.clear();
        self.dots.resize(document.sentences.len(), 0.0);
        self.common.clear();
        self.common.resize(document.sentences.len(), 0);
        self.mine.clear();
        self.mine.resize(weights.len(), 0.0);
    }

    /// Calls `each` with the sentences of the document that was read, `of`, whose cosine with a
    /// sentence of another one, or the same, may be larger than `floor`, in no order.
    pub(crate) fn compare(
        &mut self,
        of: WeightedDocument<'_>,
        (document, sentence): (WeightedDocument<'_>, usize),
        floor: f32,
        mut each: impl FnMut(Similar),
    ) {
        let terms = document.document.terms_of(sentence);
        let (numbers, weights) = (document.numbers, document.weights);
        self.rare.clear();
        let mut square = 0.0;
        for &(stem, count) in terms {
            let stem = numbers[stem as usize] as usize;
            let mine = count as f32 * weights[stem];
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
        self.look_up(weights, norm, floor);
        // If many sentences are alike, visiting all postings costs less than comparing them.
        if self.touched.len() * terms.len() > 2 * all {
            self.add_up(terms, numbers, weights);
        } else {
            self.multiply(of);
        }
        self.rare.iter().for_each(|rare| self.mine[rare.stem] = 0.0);
        for &other in &self.touched {
            let place = other as usize;
            let both = (norm * self.norms[place]).max(f32::MIN_POSITIVE);
            each(Similar {
                sentence: other,
                cosine: self.dots[place] / both,
                common: self.common[place],
            });
            (self.dots[place], self.common[place]) = (0.0, 0);
        }
    }

    /// Finds the sentences that may have a larger cosine than `floor`.
    fn look_up(&mut self, weights: &[f32], norm: f32, floor: f32) {
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
            let weight = mine * weights[stem];
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
    fn multiply(&mut self, of: WeightedDocument<'_>) {
        for &other in &self.touched {
            let place = other as usize;
            let terms = of.document.terms_of(place);
            self.visited += terms.len() as u64;
            let (mut dot, mut common) = (0.0, 0);
            for &(stem, theirs) in terms {
                let stem = of.numbers[stem as usize] as usize;
                let mine = self.mine[stem];
                dot += mine * theirs as f32 * of.weights[stem];
                common += u32::from(mine > 0.0);
            }
            (self.dots[place], self.common[place]) = (dot, common);
        }
    }

    /// Compares the sentence with all that share a stem with it, stem by stem.
    fn add_up(&mut self, terms: &[(u32, u32)], numbers: &[u32], weights: &[f32]) {
        self.touched.clear();
        for &(stem, _) in terms {
            let stem = numbers[stem as usize] as usize;
            let (mine, weight) = (self.mine[stem], weights[stem]);
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
