//! The stems of two documents in one numbering, and their weights.

use crate::document::Document;
use crate::sentence_index::WeightedDocument;

/// The stems of a pair of documents.
#[derive(Debug, Default)]
pub(crate) struct StemVocabulary {
    /// The number of each stem of the first document, by its position there.
    pub(crate) of_a: Vec<u32>,
    /// The same of the second.
    pub(crate) of_b: Vec<u32>,
    /// The inverse sentence frequency of each stem: ln((n + 1) / sentences that have it), over the
    /// sentences of both.
    pub(crate) weights: Vec<f32>,
    stamps: Vec<u32>,
    clock: u32,
    /// The weights of stems of few sentences, by their number; not a number where none was asked
    /// for.
    of_few: Vec<f32>,
}

/// Numbers of sentences whose weight is computed once.
const FEW: usize = 256;

impl StemVocabulary {
    /// Numbers the stems of both documents.
    pub(crate) fn prepare(&mut self, a: &Document<'_>, b: &Document<'_>) {
        let total = (a.sentences.len() + b.sentences.len() + 1) as f32;
        self.of_a.clear();
        self.of_b.clear();
        self.weights.clear();
        self.of_few.clear();
        self.of_few.resize(FEW, f32::NAN);
        let (mut i, mut j) = (0, 0);
        while i < a.stems.len() || j < b.stems.len() {
            let order = match (a.stems.get(i), b.stems.get(j)) {
                (Some(one), Some(other)) => one.cmp(other),
                (Some(_), None) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Greater,
            };
            let number = self.weights.len() as u32;
            let mut sentences = 0;
            if order.is_le() {
                self.of_a.push(number);
                sentences += a.sentence_counts[i];
                i += 1;
            }
            if order.is_ge() {
                self.of_b.push(number);
                sentences += b.sentence_counts[j];
                j += 1;
            }
            let weigh = || (total / sentences.max(1) as f32).ln();
            let weight = match self.of_few.get_mut(sentences as usize) {
                Some(weight) => {
                    if weight.is_nan() {
                        *weight = weigh();
                    }
                    *weight
                }
                None => weigh(),
            };
            self.weights.push(weight);
        }
        self.stamps.clear();
        self.stamps.resize(self.weights.len(), 0);
        self.clock = 0;
    }

    /// The first document, with the numbers and weights of its stems.
    pub(crate) fn weighted_a<'d>(&'d self, a: &'d Document<'d>) -> WeightedDocument<'d> {
        WeightedDocument {
            document: a,
            numbers: &self.of_a,
            weights: &self.weights,
        }
    }

    /// The same of the second document.
    pub(crate) fn weighted_b<'d>(&'d self, b: &'d Document<'d>) -> WeightedDocument<'d> {
        WeightedDocument {
            document: b,
            numbers: &self.of_b,
            weights: &self.weights,
        }
    }

    /// Marks stems, and forgets those marked before.
    pub(crate) fn mark(&mut self, stems: impl Iterator<Item = u32>) {
        self.clock += 1;
        for stem in stems {
            self.stamps[stem as usize] = self.clock;
        }
    }

    /// Whether a stem is marked.
    pub(crate) fn is_marked(&self, stem: u32) -> bool {
        self.stamps[stem as usize] == self.clock
    }
}
