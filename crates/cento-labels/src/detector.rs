//! Finding labels in the text of a page.

use std::ops::Range;

use crate::file::Labels;
use crate::score::share;

/// The counts of one page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The number of chunks of the page. A chunk that occurs twice counts twice.
    pub chunks: u32,
    /// The number of stop chunks.
    pub stopped: u32,
    /// The number of chunks that are labels.
    pub matched: u32,
}

impl Verdict {
    /// The share of the chunks that are labels, without stop chunks: `contains` in the paper.
    /// `None` if the page has only stop chunks.
    pub fn contains(&self) -> Option<f64> {
        let left = self.chunks.saturating_sub(self.stopped);
        (left > 0).then(|| f64::from(self.matched) / f64::from(left))
    }

    /// [`contains`](Verdict::contains) as an integer, to be compared with thresholds: see
    /// [`score`](crate::score).
    pub fn score(&self) -> Option<u64> {
        let left = self.chunks.saturating_sub(self.stopped);
        (left > 0).then(|| share(self.matched.into(), left.into()))
    }
}

/// A chunk that is a label.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LabelMatch {
    /// The range of the chunk in the text, in bytes.
    pub range: Range<usize>,
    /// The number of the label.
    pub label: u64,
}

/// Finds labels in pages.
pub struct Detector<'a> {
    labels: &'a Labels,
    buffer: String,
    cut: Vec<(Range<usize>, [u8; 16])>,
}

impl<'a> Detector<'a> {
    /// Creates a detector that ignores the stop chunks of the label file.
    pub fn new(labels: &'a Labels) -> Detector<'a> {
        Detector {
            labels,
            buffer: String::new(),
            cut: Vec::new(),
        }
    }

    /// Returns the verdict on a page.
    pub fn page(&mut self, text: &str) -> Verdict {
        self.page_with(text, |_| {})
    }

    /// Returns the verdict on a page whose chunks have been cut and hashed already, and calls
    /// `each` with the number of every label among them.
    pub fn chunks<'h>(
        labels: &Labels,
        hashes: impl Iterator<Item = &'h [u8; 16]>,
        mut each: impl FnMut(u64),
    ) -> Verdict {
        let mut verdict = Verdict::default();
        for hash in hashes {
            verdict.chunks += 1;
            if labels.is_stop(hash) {
                verdict.stopped += 1;
            } else if let Some(label) = labels.find(hash) {
                verdict.matched += 1;
                each(label);
            }
        }
        verdict
    }

    /// Returns the verdict on a page, and calls `each` with every chunk that is a label.
    pub fn page_with(&mut self, text: &str, mut each: impl FnMut(LabelMatch)) -> Verdict {
        // All hashes first, then all lookups, so that the processor overlaps their cache misses.
        self.cut.clear();
        let cut = &mut self.cut;
        let recipe = self.labels.header().recipe;
        recipe.cut(text, &mut self.buffer, |range, hash| {
            cut.push((range, hash));
        });
        let mut verdict = Verdict::default();
        for (range, hash) in &self.cut {
            verdict.chunks += 1;
            if self.labels.is_stop(hash) {
                verdict.stopped += 1;
            } else if let Some(label) = self.labels.find(hash) {
                verdict.matched += 1;
                each(LabelMatch {
                    range: range.clone(),
                    label,
                });
            }
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::{LabelsWriter, Recipe};

    proptest! {
        /// The definition of the paper, over words of one letter.
        #[test]
        fn a_verdict_is_what_the_paper_defines(
            page in proptest::collection::vec(0u8..12, 0..30),
            labelled in proptest::collection::btree_set(0u8..12, 0..6),
            stopped in proptest::collection::btree_set(0u8..12, 0..3),
        ) {
            let word = |number: u8| format!("chunk {}", char::from(b'a' + number));
            let recipe = Recipe::default();
            let hashes = |set: &BTreeSet<u8>| {
                let mut hashes: Vec<[u8; 16]> = set.iter().map(|&number| recipe.chunk_hash(&word(number))).collect();
                hashes.sort_unstable();
                hashes
            };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.labels");
            let mut writer = LabelsWriter::create(&path, recipe, labelled.len() as u64).unwrap();
            for hash in hashes(&labelled) {
                writer.push(hash).unwrap();
            }
            writer.finish(&hashes(&stopped), Value::Null).unwrap();
            let labels = Labels::open(&path).unwrap();
            let text: Vec<String> = page.iter().map(|&number| word(number)).collect();
            let text = text.join("\n\n");

            let mut found = Vec::new();
            let verdict = Detector::new(&labels).page_with(&text, |one| found.push(one));
            let left: Vec<u8> = page.iter().copied().filter(|number| !stopped.contains(number)).collect();
            let matched = left.iter().filter(|number| labelled.contains(number)).count();
            prop_assert_eq!(verdict.chunks as usize, page.len());
            prop_assert_eq!(verdict.matched as usize, matched);
            let contains = (!left.is_empty()).then(|| matched as f64 / left.len() as f64);
            prop_assert_eq!(verdict.contains(), contains);
            prop_assert_eq!(found.len(), matched);
            prop_assert_eq!(verdict.score().map(crate::score::real), contains);
            let mut cut = Vec::new();
            recipe.cut(&text, &mut String::new(), |_, hash| cut.push(hash));
            let mut numbers = Vec::new();
            prop_assert_eq!(Detector::chunks(&labels, cut.iter(), |label| numbers.push(label)), verdict);
            prop_assert_eq!(numbers, found.iter().map(|one| one.label).collect::<Vec<_>>());
            for one in found {
                let chunk = text.get(one.range.clone()).unwrap();
                prop_assert_eq!(labels.get(one.label), Some(recipe.chunk_hash(chunk)));
            }
            prop_assert_eq!(verdict.stopped as usize, page.len() - left.len());
        }
    }
}
