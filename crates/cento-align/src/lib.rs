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
//!  text ─▶ Document ─┬─ shared runs of words ─┬▶ verbatim ─────────────────────────┐
//!                    │                        └▶ in order but for edits ──▶ edited ─┼▶ passages
//!                    └─ similar sentences ┬─ clusters on both sides ─────┐          │
//!                                         └─ compact here, spread there ─┤          │
//!                                            distinct or in order? ◀─────┘          │
//!                                                └──▶ edited, scattered ────────────┘
//! ```
//!
//! Copied text is found whether it was left alone, edited, reordered, translated back and forth, or
//! summarised; the kinds have different evidence, so each is found by its own step:
//!
//! 1. **Verbatim.** Runs of consecutive words that are equal on both sides and long enough in
//!    characters ([`AlignSettings::minimum_chars`]) or in words, joined over small edits. Their
//!    ends are exact to the word. One of fewer than 44 words may turn out to be part of a longer
//!    edited passage, or of a summary.
//! 2. **Edited.** Sentences whose words are alike (cosine of tf-isf vectors and Dice coefficient)
//!    are seeds. Seeds that are near each other on both sides form a cluster, and a cluster whose
//!    two sides are alike as a whole is a passage, whatever the order of words and sentences in it.
//!    Its edges are then moved: sentences without a counterpart are dropped, neighbours with one
//!    are added.
//! 3. **Scattered.** Consecutive sentences on one side that take their words from all over a much
//!    longer stretch of the other: a summary.
//! 4. **Evidence.** In results, recipes and registers, all sentences are alike. An edited passage
//!    is dropped unless its sentences are more like those of the other document than like others of
//!    their own, or in the same order beyond what is common to such texts; a summary is dropped
//!    unless the first holds for it.
//! 5. **In order.** What no other step has found, but has the same words in the same order apart
//!    from small edits, is edited, too, however often its sentences repeat.
//!
//! Steps 2 and 3 follow the ideas of Sanchez-Perez, Sidorov and Gelbukh, "A winning approach to
//! text alignment for text reuse detection at PAN 2014"; all other steps, the rule that tells a
//! summary from an edited passage, and everything that keeps the cost linear are our own.
//!
//! # What is found for certain
//!
//! Take a run of words that both texts have and that cannot be extended, of at least
//! [`AlignSettings::long_verbatim_words`] words and [`AlignSettings::minimum_chars`] characters on
//! both sides. A passage covers it; and if no other passage has any of its words, and no equal
//! words are a small edit away, then the passage is verbatim and has exactly its range. There are
//! two exceptions:
//!
//! - Of two runs that overlap in the first text, the longer one has the words that both have. What
//!   is left of the other counts as a run of its own.
//! - A run of which every sequence of six words is at more than eight places of the second text may
//!   be missed, or cut short.
//!
//! A run that the second text has several times is reported with one of its places. Two sides that
//! have the same words in the same order are verbatim, whichever step found them.
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
mod evidence;
mod in_order;
mod lcs;
mod passage;
mod refine;
mod resolve;
mod runs;
mod scattered;
mod scope;
mod seeds;
mod sentence_index;
mod split_words;
mod stem;
mod verbatim;
mod vocabulary;

use std::ops::Range;

pub use differences::{common_words, differing_words};
pub use document::{Document, Fold, word_hashes};
pub use passage::{Passage, PassageKind};

use cluster::{Sides, clusters};
use evidence::Evidence;
use passage::{Found, resolve_overlaps};
use refine::{Growth, Refiner};
use scope::Scope;
use seeds::Seeds;
use verbatim::VerbatimPassage;
use vocabulary::StemVocabulary;

/// What counts as a passage. The defaults were tuned on one half of the PAN 2013 training pairs
/// (`even` in `examples/pan.rs`); the rule for short edited passages was added after a look at the
/// other half's pairs without reuse.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AlignSettings {
    /// The shortest passage, in characters on each side.
    pub minimum_chars: usize,
    /// The shortest run of equal words that makes a passage verbatim, however short it is in
    /// characters: with the runs around it, the passage must have `minimum_chars`.
    pub verbatim_words: usize,
    /// The shortest run of equal words that makes a passage verbatim if it has `minimum_chars` on
    /// both sides. Two texts that have a run of 12 words share at least two fingerprints of the
    /// scheme `winnow:k=5,w=4`, by which pairs of a corpus are found; 160 characters of running
    /// text are rarely fewer words.
    pub long_verbatim_words: usize,
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
            long_verbatim_words: 12,
            verbatim_gap: 8,
            cosine: 0.30,
            dice: 0.33,
            cosine_beside_verbatim: 0.7,
            gap: 4,
            whole_cosine: 0.36,
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
    sides: Sides,
    refiner: Refiner,
    evidence: Evidence,
    /// Words compared in runs since the aligner was made.
    work: u64,
}

impl Aligner {
    /// An aligner with these settings.
    pub fn new(settings: AlignSettings) -> Aligner {
        Aligner {
            settings,
            vocabulary: StemVocabulary::default(),
            seeds: Seeds::default(),
            sides: Sides::default(),
            refiner: Refiner::default(),
            evidence: Evidence::default(),
            work: 0,
        }
    }

    /// The passages that two texts share, in the order of the first.
    pub fn align_texts(&mut self, a: &str, b: &str) -> Vec<Passage> {
        self.align(&Document::new(a), &Document::new(b))
    }

    /// The passages that two documents share, in the order of the first. On the side of the first
    /// they do not overlap.
    pub fn align(&mut self, a: &Document<'_>, b: &Document<'_>) -> Vec<Passage> {
        self.compare(a, b, None)
    }

    /// The passages that two documents share around some places, such as those of fingerprints that
    /// both have, and all verbatim passages wherever they are. A place is the byte where a shared
    /// run of words begins in the first document, and the same in the second.
    ///
    /// It costs much less than [`align`](Aligner::align) if few sentences are near a place and
    /// outside of verbatim passages.
    pub fn align_near(
        &mut self,
        a: &Document<'_>,
        b: &Document<'_>,
        places: &[(u32, u32)],
    ) -> Vec<Passage> {
        self.compare(a, b, Some(places))
    }

    fn compare(
        &mut self,
        a: &Document<'_>,
        b: &Document<'_>,
        places: Option<&[(u32, u32)]>,
    ) -> Vec<Passage> {
        let (joined_a, joined_b) = (a.joined_for(b), b.joined_for(a));
        let (a, b) = (
            joined_a.as_ref().unwrap_or(a),
            joined_b.as_ref().unwrap_or(b),
        );
        let settings = &self.settings.clone();
        let runs = runs::runs(a, b, &mut self.work);
        let (mut verbatim, mut short) = verbatim::passages(a, b, &runs, settings);
        let growth = match verbatim.iter().any(|passage| passage.is_exact) {
            true => Growth::BESIDE_EXACT,
            false => Growth::EDITED,
        };
        let is_extended = verbatim.iter().any(|passage| !passage.is_exact);
        if is_extended {
            self.prepare(a, b);
            self.extend(a, b, &mut verbatim, &mut short, growth);
        }
        let mut scope = places.map(|places| Scope::new(a, b, places, &verbatim));
        let edited = match &mut scope {
            Some(None) => Vec::new(),
            scope => {
                if !is_extended {
                    self.prepare(a, b);
                }
                let scope = scope.as_mut().and_then(Option::as_mut);
                let mut edited = self.similar(a, b, &verbatim, scope);
                for found in edited.iter_mut().filter(|found| !found.scattered) {
                    let bounds = between(a, &verbatim, found);
                    let refiner = &mut self.refiner;
                    refiner.refine((a, b), &self.vocabulary, found, &bounds, growth);
                }
                let mut edited = resolve_overlaps(edited, Vec::new(), settings.gap);
                self.evidence.filter(a, b, &self.vocabulary, &mut edited);
                edited
            }
        };
        verbatim.append(&mut short);
        verbatim.sort_by_key(|passage| passage.a.start);
        let taken = edited.iter().map(|found| a.words_of(&found.a));
        let taken = taken.chain(verbatim.iter().map(|passage| passage.a.clone()));
        let in_order = in_order::passages(a, b, &runs, taken.collect(), &mut self.work);
        passage::finish(a, b, verbatim, &edited, in_order, settings.minimum_chars)
    }

    /// Prepares for sentences of a pair.
    fn prepare(&mut self, a: &Document<'_>, b: &Document<'_>) {
        self.vocabulary.prepare(a, b);
        self.refiner.prepare(&self.vocabulary);
    }

    /// The edited and scattered passages beside verbatim ones, in the order of the first document,
    /// before their edges are moved.
    fn similar(
        &mut self,
        a: &Document<'_>,
        b: &Document<'_>,
        verbatim: &[VerbatimPassage],
        mut scope: Option<&mut Scope>,
    ) -> Vec<Found> {
        let settings = &self.settings.clone();
        let has_summaries = settings.scattered && verbatim.is_empty();
        loop {
            let within = scope.as_deref();
            let (seeds, vocabulary) = (&mut self.seeds, &mut self.vocabulary);
            seeds.find(a, b, vocabulary, verbatim, settings, within);
            let mut edited = Vec::new();
            let sides = &mut self.sides;
            clusters(
                a,
                b,
                vocabulary,
                &seeds.strong,
                settings,
                sides,
                &mut edited,
            );
            let mut scattered = match has_summaries {
                true => scattered::passages(a, b, vocabulary, &seeds.weak, &edited),
                false => Vec::new(),
            };
            if let Some(scope) = within {
                edited.retain(|found| scope.has_place(found, settings.gap));
                scattered.retain(|found| scope.has_place(found, settings.gap));
            }
            let found = edited.iter().chain(&scattered);
            if scope
                .as_deref_mut()
                .is_some_and(|scope| scope.widen(found, settings.gap))
            {
                continue;
            }
            edited.retain(|found| {
                !scattered
                    .iter()
                    .any(|other: &Found| overlaps(&found.a, &other.a))
            });
            let edited = resolve_overlaps(edited, scattered, settings.gap);
            return match has_summaries {
                true => scattered::join(a, b, &mut self.vocabulary, edited),
                false => edited,
            };
        }
    }

    /// Extends verbatim passages with edits by the sentences beside them that are alike: who edits
    /// a text does not stop at the words that happen to be left alone. Short passages on the way
    /// become part of a passage; one that is from elsewhere in the second document stops it.
    fn extend(
        &mut self,
        a: &Document<'_>,
        b: &Document<'_>,
        verbatim: &mut [VerbatimPassage],
        short: &mut Vec<VerbatimPassage>,
        growth: Growth,
    ) {
        let mut is_part = vec![false; short.len()];
        for at in 0..verbatim.len() {
            if verbatim[at].is_exact {
                continue;
            }
            let before = at.checked_sub(1).map(|before| &verbatim[before]);
            let begin = before.map_or(0, |before| a.sentences_of(&before.a).end);
            let after = verbatim.get(at + 1);
            let end = after.map_or(a.sentences.len(), |after| a.sentences_of(&after.a).start);
            let mut found = Found {
                a: a.sentences_of(&verbatim[at].a),
                b: b.sentences_of(&verbatim[at].b),
                scattered: false,
            };
            let old = found.clone();
            let refiner = &mut self.refiner;
            refiner.extend((a, b), &self.vocabulary, &mut found, &(begin..end), growth);
            if found == old {
                continue;
            }
            let mut whole = verbatim[at].clone();
            widen(&mut whole.a, a, &old.a, &found.a);
            widen(&mut whole.b, b, &old.b, &found.b);
            whole.is_extended = true;
            let first = short.partition_point(|part| part.a.end <= whole.a.start);
            let end = short.partition_point(|part| part.a.start < whole.a.end);
            let parts = &short[first..end];
            if parts.iter().all(|part| overlaps(&part.b, &whole.b)) {
                for part in parts {
                    whole.a = resolve::union(&whole.a, &part.a);
                    whole.b = resolve::union(&whole.b, &part.b);
                }
                is_part[first..end].fill(true);
                verbatim[at] = whole;
            }
        }
        let mut is_part = is_part.into_iter();
        short.retain(|_| !is_part.next().unwrap_or(false));
    }
}

/// Moves the edges of a range of words to those of its sentences where these were moved.
fn widen(
    words: &mut Range<usize>,
    document: &Document<'_>,
    old: &Range<usize>,
    new: &Range<usize>,
) {
    let whole = document.words_of(new);
    if new.start < old.start {
        words.start = whole.start;
    }
    if new.end > old.end {
        words.end = whole.end;
    }
}

/// The sentences of the first document around a passage that no verbatim passage reaches.
fn between(a: &Document<'_>, verbatim: &[VerbatimPassage], found: &Found) -> Range<usize> {
    let words = a.words_of(&found.a);
    let after = verbatim.partition_point(|passage| passage.a.end <= words.start);
    let before = after.checked_sub(1).and_then(|at| verbatim.get(at));
    let begin = before.map_or(0, |passage| a.sentences_of(&passage.a).end);
    let end = verbatim.get(after);
    begin..end.map_or(a.sentences.len(), |passage| {
        a.sentences_of(&passage.a).start
    })
}

/// Whether two ranges have anything in common.
fn overlaps<T: Ord>(one: &Range<T>, other: &Range<T>) -> bool {
    one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests;
