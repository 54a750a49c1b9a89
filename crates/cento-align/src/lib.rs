//! Which passages two texts share, and where each begins and ends.
//!
//! # Brief overview
//!
//! - A [`Document`] is a text prepared for comparison: its words, their stems, and its sentences. A
//!   text that is compared with many others is prepared once.
//! - An [`Aligner`] compares two documents and keeps its buffers from pair to pair.
//! - A [`Passage`] is one piece of text found on both sides, in bytes and in characters.
//!
//! ```text
//!  text ─▶ Document ─┬─ shared runs of words ──▶ verbatim passages ──────────────────┐
//!                    └─ similar sentences ┬─ clusters on both sides ──▶ edited ──────┼─▶ passages
//!                                         └─ compact here, spread there ▶ scattered ─┘
//! ```
//!
//! Copied text is found whether it was left alone, edited, reordered, translated back and forth, or
//! summarised; the three kinds have different evidence, so each is found by its own step:
//!
//! 1. **Verbatim.** Runs of at least [`AlignSettings::verbatim_words`] consecutive words that are
//!    equal on both sides, joined over small edits. Their ends are exact to the word.
//! 2. **Edited.** Sentences whose words are alike (cosine of tf-isf vectors and Dice coefficient)
//!    are seeds. Seeds that are near each other on both sides form a cluster, and a cluster whose
//!    two sides are alike as a whole is a passage, whatever the order of words and sentences in it.
//! 3. **Scattered.** Consecutive sentences on one side that take their words from all over a much
//!    longer stretch of the other: a summary.
//!
//! Steps 2 and 3 follow the ideas of Sanchez-Perez, Sidorov and Gelbukh, "A winning approach to
//! text alignment for text reuse detection at PAN 2014"; the verbatim step, the rule that tells a
//! summary from an edited passage, and everything that keeps the cost linear are our own.
//!
//! The crate is pure: no I/O, no threads. The cost is near-linear in the length of the two texts
//! for any input, because frequent stems, repeated runs and the seeds of a sentence are all
//! bounded.
//!
//! # Example
//!
//! ```
//! use cento_align::{Aligner, PassageKind, AlignSettings};
//!
//! let original = "The committee met on Monday. It decided to close the old bridge over the river \
//!     until the engineers have finished their report, because two of its pillars are cracked and \
//!     nobody knows for how long they will carry the weight of the traffic. The mayor was absent.";
//! let copy = "Nothing else happened this week. It decided to close the old bridge over the river \
//!     until the engineers have finished their report, because two of its pillars are cracked and \
//!     nobody knows for how long they will carry the weight of the traffic. Sheep are cheap.";
//! let passages = Aligner::new(AlignSettings::default()).align_texts(original, copy);
//! assert_eq!(passages.len(), 1);
//! assert_eq!(passages[0].kind, PassageKind::Verbatim);
//! assert!(original[passages[0].a.clone()].starts_with("It decided to close"));
//! assert_eq!(original[passages[0].a.clone()], copy[passages[0].b.clone()]);
//! ```

mod cluster;
mod differences;
mod document;
mod passage;
mod scattered;
mod seeds;
mod stem;
mod verbatim;
mod vocabulary;

use std::ops::Range;

pub use differences::differing_words;
pub use document::{Document, Fold, word_hashes};
pub use passage::{Passage, PassageKind};

use cluster::clusters;
use passage::{Found, resolve_overlaps};
use seeds::Seeds;
use vocabulary::StemVocabulary;

/// What counts as a passage. The defaults were tuned on one half of the PAN 2013 training pairs;
/// the rule for short edited passages was added after a look at the other half's pairs without
/// reuse.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AlignSettings {
    /// The shortest passage, in characters on each side.
    pub minimum_chars: usize,
    /// The shortest run of equal words that makes a passage verbatim.
    pub verbatim_words: usize,
    /// The most words that an edit inside a verbatim passage may replace, insert or delete.
    pub verbatim_gap: usize,
    /// Two sentences are alike if the cosine of their tf-isf vectors is above this …
    pub cosine: f32,
    /// … and so is the Dice coefficient of their sets of stems.
    pub dice: f32,
    /// The cosine above which sentences count as alike where a verbatim passage was found: most of
    /// what is merely similar there is about the same topic, not copied.
    pub cosine_beside_verbatim: f32,
    /// The most sentences between two seeds of one passage.
    pub gap: u32,
    /// The cosine that the two sides of an edited passage must reach as a whole.
    pub whole_cosine: f32,
    /// Whether to look for summaries.
    pub scattered: bool,
}

impl Default for AlignSettings {
    fn default() -> AlignSettings {
        AlignSettings {
            minimum_chars: 160,
            verbatim_words: 28,
            verbatim_gap: 8,
            cosine: 0.30,
            dice: 0.33,
            cosine_beside_verbatim: 0.7,
            gap: 4,
            whole_cosine: 0.38,
            scattered: true,
        }
    }
}

/// Compares documents; keeps its buffers from one pair to the next.
#[derive(Debug)]
pub struct Aligner {
    settings: AlignSettings,
    vocabulary: StemVocabulary,
    seeds: Seeds,
}

impl Aligner {
    /// An aligner with these settings.
    pub fn new(settings: AlignSettings) -> Aligner {
        Aligner {
            settings,
            vocabulary: StemVocabulary::default(),
            seeds: Seeds::default(),
        }
    }

    /// The passages that two texts share, in the order of the first.
    pub fn align_texts(&mut self, a: &str, b: &str) -> Vec<Passage> {
        self.align(&Document::new(a), &Document::new(b))
    }

    /// The passages that two documents share, in the order of the first. On the side of the first
    /// they do not overlap.
    pub fn align(&mut self, a: &Document<'_>, b: &Document<'_>) -> Vec<Passage> {
        let settings = &self.settings;
        let verbatim = verbatim::passages(a, b, settings);
        self.vocabulary.prepare(a, b);
        self.seeds.find(a, b, &self.vocabulary, &verbatim, settings);
        let mut edited = Vec::new();
        clusters(
            a,
            b,
            &mut self.vocabulary,
            &self.seeds.strong,
            settings,
            &mut edited,
        );
        let scattered = match settings.scattered && verbatim.is_empty() {
            true => scattered::passages(a, b, &mut self.vocabulary, &self.seeds.weak, &edited),
            false => Vec::new(),
        };
        edited.retain(|found| {
            !scattered
                .iter()
                .any(|other: &Found| overlaps(&found.a, &other.a))
        });
        let mut edited = resolve_overlaps(edited, scattered, settings.gap);
        if settings.scattered && verbatim.is_empty() {
            edited = scattered::join(a, b, &mut self.vocabulary, edited);
        }
        passage::finish(a, b, &verbatim, &edited, settings.minimum_chars)
    }
}

/// Whether two ranges have anything in common.
fn overlaps<T: Ord>(one: &Range<T>, other: &Range<T>) -> bool {
    one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests;
