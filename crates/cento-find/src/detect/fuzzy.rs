//! Edited chunks: chunks that contain enough of the words of a label, in runs of four. They are
//! reported separately, and count for no score.
//!
//! ```text
//!   label table ─ label runs ─▶ by run, runs      texts ─ chunk runs ─▶ by run
//!   by run ─ meet ─▶ shared runs, counted runs    counted runs ─ label words ─▶ words of labels
//!   shared runs ─ contain ─▶ fuzzy labels ◀─ fuzzy origins
//!   fuzzy labels ─ fuzzy names ─▶ fuzzy rows ─ fuzzy table ─▶ fuzzy
//! ```
//!
//! All runs of [`K`] words are compared, so one replaced word removes at most [`K`] runs. A word of
//! a label is *found* in a chunk if it is part of a run that the chunk has, too. A chunk is an
//! edited label by either of two measures of containment:
//!
//! * the share of the words of the *label* that are found is at least [`DetectParams::fuzzy`].
//!   Words were replaced or added, or the label is part of a longer chunk;
//! * the share of the words of the *chunk* that are found is at least [`EXCERPT`], and at least
//!   [`LEAST`] words are found. The chunk is an excerpt: a sentence of the label was deleted,
//!   however much of the label that was.
//!
//! An excerpt needs a minimum length because short phrases are common. Of the sentences of
//! unrelated web pages in PAN 2013 (14,000 labels), 5.1 % of those of four words occur word for
//! word in some label, 1.4 % of those of five, 0.2 % of those of six and 0.1 % of those of eight.
//! With six words the recall for one deleted sentence is 0.976, if a sentence has at least four
//! words and the label at least two sentences (`examples/fuzzy_recall.rs`).
//!
//! A run that more than [`CROWD`] labels have does not identify the label. It is ignored on both
//! sides: words that are only part of such runs count neither as found nor as words of the label.
//! Of a run that a label has several times, the first occurrence counts.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_fingerprint::grams;
use cento_flow::{
    Bitmap, Flow, Registry, Row, Stage, StageError, TableName, TableRow, WideGroups, table_row,
};
use cento_labels::LabelKind;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::flow_names::{counter, stage, state};
use super::matching::GroupTask;
use super::moments::{real, share, typed};
use super::params::{DetectParams, LabelSet};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::names::{NAMED, ROW, name_of};
use crate::numbers::{Numbers, UNSET};
use crate::provenance::{LabelRow, table_of};
use crate::tables::open_groups;
use crate::words::WordHasher;

/// Words of a run. Four words are rarely common by chance, and often left between two edits.
pub(super) const K: usize = 4;
/// The most labels that may have a run in common.
const CROWD: usize = 64;
/// The minimum share of the words of an excerpt that are in a label.
const EXCERPT: f64 = 0.8;
/// The minimum number of these words.
const LEAST: u32 = 6;
/// The shuffle whose pages need names.
pub(super) const ROWS: &str = "fuzzy rows";
/// The edited chunks.
pub const FUZZY_TABLE: TableName<FuzzyRow> = TableName::new("fuzzy");

const BY_RUN: &str = "by run";
const COUNTED_RUNS: &str = "counted runs";
const SHARED_RUNS: &str = "shared runs";
const FUZZY_LABELS: &str = "fuzzy labels";
/// A filter of the runs of labels.
const RUNS: &str = "runs";
/// The number of words of each label that count.
const LABEL_WORDS: &str = "words of labels";
/// The labels that were found edited.
const FOUND: &str = "found labels";

table_row! {
    /// An edited chunk.
    #[derive(Debug, Clone, PartialEq)]
    pub struct FuzzyRow {
        /// The page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// Which chunk of it.
        pub ordinal: u32,
        /// Its first byte in the text.
        pub begin: u32,
        /// The byte after it.
        pub end: u32,
        /// The label with the largest share in it.
        pub hash: [u8; 16],
        /// The number of words of the label that are found in the chunk.
        pub found: u32,
        /// The number of words of the label, without those that are only in runs of too many
        /// labels.
        pub words: u32,
        /// The share of the words of the label that are found.
        pub share: f64,
        /// The number of found words as a share of the words of the chunk.
        pub of_chunk: f64,
        /// The text of the label.
        pub text: Option<String>,
        /// The page that the label came from.
        pub origin: String,
    }
}

/// A run of words of a label or of a chunk.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RunOfWords {
    hash: u64,
    kind: u32,
    /// The label, or the page.
    of: u32,
    /// For a label the number of the first word of the run, for a chunk its ordinal.
    at: u32,
    /// The first byte of the chunk, and the byte after it.
    begin: u32,
    end: u32,
    /// The number of words of the chunk.
    words: u32,
}

const LABEL: u32 = 0;
const CHUNK: u32 = 1;

impl Row for RunOfWords {
    type Key = u64;
    type Rest = (u32, u32, u32);

    fn key(&self) -> u64 {
        self.hash
    }

    fn rest(&self) -> (u32, u32, u32) {
        (self.kind, self.of, self.at)
    }
}

/// A run that a chunk shares with a label.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SharedLabelRun {
    page: u32,
    ordinal: u32,
    label: u32,
    /// The number of the first word of the run in the label.
    at: u32,
    begin: u32,
    end: u32,
    /// The number of words of the chunk.
    words: u32,
}

impl Row for SharedLabelRun {
    type Key = u32;
    type Rest = (u32, u32, u32);

    fn key(&self) -> u32 {
        self.page
    }

    fn rest(&self) -> (u32, u32, u32) {
        (self.ordinal, self.label, self.at)
    }
}

/// A run of a label that counts.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct LabelRun {
    label: u32,
    at: u32,
}

impl Row for LabelRun {
    type Key = u32;
    type Rest = u32;

    fn key(&self) -> u32 {
        self.label
    }

    fn rest(&self) -> u32 {
        self.at
    }
}

/// Counts the words in runs, which are added in the order of their first words.
#[derive(Debug, Clone, Copy, Default)]
struct CoveredWords {
    words: u32,
    end: u32,
}

impl CoveredWords {
    fn add(&mut self, at: u32) {
        let end = at.saturating_add(K as u32);
        self.words += end - at.max(self.end).min(end);
        self.end = self.end.max(end);
    }
}

/// A chunk and the label with the largest share in it.
#[derive(Serialize, Deserialize)]
struct EditedChunk {
    page: u32,
    ordinal: u32,
    begin: u32,
    end: u32,
    found: u32,
    words: u32,
    chunk_words: u32,
    /// The text, the page and the number of the label.
    label: Option<(Option<String>, String, u64)>,
}

/// Fails if the labels or the corpus have no text to compare.
pub(super) fn check(corpus: &CorpusPages, set: &LabelSet) -> Result<()> {
    if set.used().recipe.of == LabelKind::Files {
        let what = "files are matched whole: --fuzzy is for labels of chunks";
        return Err(Error::Usage(what.to_owned()));
    }
    let unsuitable = |what: &str| Err(Error::Unsuitable(what.to_owned()));
    if !corpus.has_text() {
        return unsuitable("the corpus was indexed without text, which --fuzzy compares");
    }
    if !set.table {
        return unsuitable(
            "the table beside the labels is missing, and with it the texts that --fuzzy compares",
        );
    }
    Ok(())
}

/// Adds the stages that precede the names of pages.
pub(super) fn with_stages(
    flow: Flow,
    corpus: &CorpusPages,
    set: &LabelSet,
    own: bool,
    memory: u64,
) -> Result<Flow> {
    let chunks = Stage::map("chunk runs", corpus.text_tasks())
        .reads(RUNS)
        .writes(BY_RUN);
    let labels = set.used().count;
    let label_bits = (64 - labels.leading_zeros()).max(1);
    // About two bytes for each run of a label, but at most an eighth of the memory.
    let bytes = (labels * 128).clamp(1 << 12, (memory / 8).max(1 << 12));
    let table = super::group_tasks(&table_of(set.labels.path()))?;
    let bits = 32 - corpus.all().leading_zeros();
    Ok(flow
        .state(RUNS, "bitmap", json!({ "bytes": bytes }))
        .state(LABEL_WORDS, "numbers", json!({ "pages": labels }))
        .state(
            FOUND,
            "bitmap",
            json!({ "bytes": labels.div_ceil(8).max(8) }),
        )
        .shuffle(BY_RUN)
        .shuffle_of_numbers(COUNTED_RUNS, label_bits)
        .shuffle_of_numbers(SHARED_RUNS, bits)
        .shuffle_of_numbers(FUZZY_LABELS, label_bits)
        .shuffle_of_numbers(ROWS, bits)
        .table(FUZZY_TABLE)
        .stage(
            Stage::map("label runs", table.clone())
                .writes(RUNS)
                .writes(BY_RUN),
        )
        .stage(match own {
            true => chunks.reads(state::OWN),
            false => chunks,
        })
        .stage(
            Stage::reduce("meet", BY_RUN)
                .writes(SHARED_RUNS)
                .writes(COUNTED_RUNS),
        )
        .stage(Stage::reduce("label words", COUNTED_RUNS).writes(LABEL_WORDS))
        .stage(
            Stage::reduce("contain", SHARED_RUNS)
                .reads(LABEL_WORDS)
                .writes(NAMED)
                .writes(FOUND)
                .writes(FUZZY_LABELS),
        )
        .stage(
            Stage::map("fuzzy origins", table)
                .reads(FOUND)
                .writes(FUZZY_LABELS),
        )
        .stage(Stage::reduce("fuzzy names", FUZZY_LABELS).writes(ROWS)))
}

pub(super) fn register(
    registry: &mut Registry,
    corpus: &Arc<CorpusPages>,
    set: &LabelSet,
    params: &DetectParams,
) {
    registry.map("label runs", |context| {
        let task: GroupTask = context.task()?;
        let seen = context.state::<Bitmap>(RUNS)?;
        let mut by_run = context.shuffle::<RunOfWords>(BY_RUN)?;
        let mut hasher = WordHasher::default();
        let mut label = u32::try_from(task.first_row)?;
        for batch in open_groups(&task.file, task.group)? {
            context.check()?;
            let rows = LabelRow::read(&batch?)
                .map_err(|error| Error::corrupted(&task.file, error.to_string()))?;
            for row in rows {
                let text = row.text.as_deref().unwrap_or_default();
                context.count(
                    counter::CUT_LABELS,
                    u64::from((text.len() as u64) < row.bytes),
                );
                let mut outcome = Ok(());
                let words = hasher.words(text);
                grams(words, K, |hash, at| {
                    if outcome.is_ok() {
                        seen.set(hash);
                        outcome = by_run.push(RunOfWords {
                            hash,
                            kind: LABEL,
                            of: label,
                            at: at as u32,
                            begin: 0,
                            end: 0,
                            words: 0,
                        });
                    }
                });
                outcome?;
                label += 1;
            }
        }
        Ok(())
    });
    let (texts, labels, settings) = (Arc::clone(corpus), Arc::clone(&set.labels), params.clone());
    registry.map("chunk runs", move |context| {
        let seen = context.state::<Bitmap>(RUNS)?;
        let own = match settings.own.is_empty() {
            true => None,
            false => Some(context.state::<Bitmap>(state::OWN)?),
        };
        let mut by_run = context.shuffle::<RunOfWords>(BY_RUN)?;
        let (mut hasher, mut buffer) = (WordHasher::default(), String::new());
        let recipe = labels.header().recipe;
        texts.for_each_text(&context.task()?, |page, text| {
            context.check()?;
            if own.as_ref().is_some_and(|own| own.get(u64::from(page))) {
                return Ok(());
            }
            let mut outcome = Ok(());
            let mut ordinal = 0;
            recipe.cut(text, &mut buffer, |range, hash| {
                ordinal += 1;
                let exact = labels.find(&hash).is_some();
                if exact || (!settings.no_stop && labels.is_stop(&hash)) || outcome.is_err() {
                    return;
                }
                let chunk = text.get(range.clone()).unwrap_or_default();
                let words = hasher.words(chunk);
                grams(words, K, |hash, _| {
                    if outcome.is_ok() && seen.get(hash) {
                        outcome = by_run.push(RunOfWords {
                            hash,
                            kind: CHUNK,
                            of: page,
                            at: ordinal - 1,
                            begin: range.start as u32,
                            end: range.end as u32,
                            words: words.len() as u32,
                        });
                    }
                });
            });
            Ok::<_, StageError>(outcome?)
        })
    });
    compare(registry, params);
    name(registry, set);
}

fn compare(registry: &mut Registry, params: &DetectParams) {
    registry.reduce::<RunOfWords, _>("meet", |context, groups| {
        let mut shared = context.shuffle::<SharedLabelRun>(SHARED_RUNS)?;
        let mut counted = context.shuffle::<LabelRun>(COUNTED_RUNS)?;
        // The labels that have the run, and its first occurrence in each.
        let mut labels: Vec<(u32, u32)> = Vec::new();
        while let Some(group) = groups.next_group()? {
            labels.clear();
            let (mut last_label, mut last_chunk) = (None, None);
            let mut crowded = false;
            for row in group {
                if row.kind == LABEL {
                    if last_label.replace(row.of) != Some(row.of) {
                        crowded |= labels.len() == CROWD;
                        if !crowded {
                            labels.push((row.of, row.at));
                        }
                    }
                    continue;
                }
                if crowded || labels.is_empty() {
                    break;
                }
                // A run that a chunk has several times counts once.
                if last_chunk.replace((row.of, row.at)) == Some((row.of, row.at)) {
                    continue;
                }
                for &(label, at) in &labels {
                    shared.push(SharedLabelRun {
                        page: row.of,
                        ordinal: row.at,
                        label,
                        at,
                        begin: row.begin,
                        end: row.end,
                        words: row.words,
                    })?;
                }
            }
            context.count(counter::CROWDED_RUNS, u64::from(crowded));
            if !crowded {
                for &(label, at) in &labels {
                    counted.push(LabelRun { label, at })?;
                }
            }
        }
        Ok(())
    });
    registry.reduce::<LabelRun, _>("label words", |context, groups| {
        let words = context.state::<Numbers>(LABEL_WORDS)?;
        while let Some(group) = groups.next_group()? {
            let label = group.key();
            let mut covered = CoveredWords::default();
            group.for_each(|run| covered.add(run.at));
            words.set(label, covered.words);
            context.count(counter::COMPARED_LABELS, 1);
        }
        Ok(())
    });
    let least = typed(params.fuzzy.unwrap_or(1.0));
    // A stricter threshold for labels applies to excerpts, too.
    let excerpt = typed(EXCERPT).max(least);
    registry.reduce::<SharedLabelRun, _>("contain", move |context, groups| {
        let pages = context.state::<Bitmap>(NAMED)?;
        let found_labels = context.state::<Bitmap>(FOUND)?;
        let words = context.state::<Numbers>(LABEL_WORDS)?;
        let mut labels = context.wide_shuffle(FUZZY_LABELS)?;
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            let mut any = false;
            // The label with the largest share in the chunk; ties go to the label with more words,
            // then to the lowest number.
            let mut best: Option<(u64, u32, SharedLabelRun)> = None;
            let mut run: Option<(SharedLabelRun, CoveredWords)> = None;
            let consider =
                |run: Option<(SharedLabelRun, CoveredWords)>,
                 best: &mut Option<(u64, u32, SharedLabelRun)>| {
                    let Some((pair, covered)) = run else {
                        return;
                    };
                    let all = match words.get(pair.label) {
                        UNSET => return,
                        all => all,
                    };
                    let score = share(u64::from(covered.words), u64::from(all));
                    let of_chunk =
                        share(u64::from(covered.words.min(pair.words)), pair.words.into());
                    let enough = score >= least || (of_chunk >= excerpt && covered.words >= LEAST);
                    let better = best
                        .as_ref()
                        .is_none_or(|best| (score, covered.words) > (best.0, best.1));
                    if enough && better {
                        *best = Some((score, covered.words, pair));
                    }
                };
            let mut flush = |best: Option<(u64, u32, SharedLabelRun)>| {
                let Some((_, found, pair)) = best else {
                    return Ok(());
                };
                any = true;
                found_labels.set(u64::from(pair.label));
                let row = serde_json::to_vec(&EditedChunk {
                    page,
                    ordinal: pair.ordinal,
                    begin: pair.begin,
                    end: pair.end,
                    found,
                    words: words.get(pair.label),
                    chunk_words: pair.words,
                    label: None,
                })?;
                labels.push_numbered(u64::from(pair.label), ROW, &row)?;
                Ok::<_, StageError>(())
            };
            for pair in group {
                match &mut run {
                    Some((last, covered))
                        if (last.ordinal, last.label) == (pair.ordinal, pair.label) =>
                    {
                        covered.add(pair.at);
                    }
                    _ => {
                        let next_chunk = run
                            .as_ref()
                            .is_some_and(|(last, _)| last.ordinal != pair.ordinal);
                        consider(run.take(), &mut best);
                        if next_chunk {
                            flush(best.take())?;
                        }
                        let mut covered = CoveredWords::default();
                        covered.add(pair.at);
                        run = Some((pair, covered));
                    }
                }
            }
            consider(run.take(), &mut best);
            flush(best.take())?;
            if any {
                pages.set(u64::from(page));
                context.count(counter::FUZZY_PAGES, 1);
            }
        }
        Ok(())
    });
}

fn name(registry: &mut Registry, set: &LabelSet) {
    registry.map("fuzzy origins", |context| {
        let task: GroupTask = context.task()?;
        let found_labels = context.state::<Bitmap>(FOUND)?;
        let mut labels = context.wide_shuffle(FUZZY_LABELS)?;
        let mut label = task.first_row;
        for batch in open_groups(&task.file, task.group)? {
            let rows = LabelRow::read(&batch?)
                .map_err(|error| Error::corrupted(&task.file, error.to_string()))?;
            for row in rows {
                if found_labels.get(label) {
                    labels.push_numbered(label, 0, &serde_json::to_vec(&(row.text, row.page))?)?;
                }
                label += 1;
            }
        }
        Ok(())
    });
    registry.reduce("fuzzy names", |context, groups| {
        let mut rows = context.wide_shuffle(ROWS)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let label = group.number();
            let mut origin: Option<(Option<String>, String)> = None;
            for record in group {
                if record.order == 0 {
                    origin = Some(serde_json::from_slice(&record.value)?);
                    continue;
                }
                let mut edited: EditedChunk = serde_json::from_slice(&record.value)?;
                edited.label = origin.clone().map(|(text, page)| (text, page, label));
                let order = ROW + u64::from(edited.ordinal);
                rows.push_numbered(u64::from(edited.page), order, &serde_json::to_vec(&edited)?)?;
            }
        }
        Ok(())
    });
    let labels = Arc::clone(&set.labels);
    registry.reduce(stage::FUZZY_TABLE, move |context, groups| {
        let mut table = context.table(FUZZY_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            for record in group {
                let edited: EditedChunk = serde_json::from_slice(&record.value)?;
                let (text, origin, label) = edited.label.ok_or("a label has no origin")?;
                table.push(FuzzyRow {
                    page_id: name.page_id,
                    page: name.url.clone(),
                    ordinal: edited.ordinal,
                    begin: edited.begin,
                    end: edited.end,
                    hash: labels.get(label).unwrap_or_default(),
                    found: edited.found,
                    words: edited.words,
                    share: real(share(u64::from(edited.found), u64::from(edited.words))),
                    of_chunk: real(share(
                        u64::from(edited.found.min(edited.chunk_words)),
                        u64::from(edited.chunk_words),
                    )),
                    text,
                    origin,
                })?;
            }
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_word_counts_once(begins in proptest::collection::btree_set(0u32..60, 0..30)) {
            let mut covered = CoveredWords::default();
            begins.iter().for_each(|&at| covered.add(at));
            let words: BTreeSet<u32> = begins.iter().flat_map(|&at| at..at + K as u32).collect();
            prop_assert_eq!(covered.words as usize, words.len());
        }
    }
}
