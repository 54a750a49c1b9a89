//! Edited chunks: those in which enough of a label's words stand, in the same runs. They are
//! reported apart, and count for no score.
//!
//! ```text
//!   provenance ─ label prints ─▶ by print, prints      texts ─ chunk prints ─▶ by print
//!   by print ─ meet ─▶ pairs, by label        by label ─ label words ─▶ words of labels
//!   pairs ─ resemble ─▶ fuzzy labels ◀─ fuzzy origins      fuzzy labels ─ fuzzy names ─▶ fuzzy rows ─▶ fuzzy
//! ```
//!
//! What is compared are runs of [`K`] words, all of them: one replaced word takes as many runs away
//! as it is part of, and no more. A word of a label is *found* in a chunk if it stands in a run
//! that the chunk has too; how much of a label is in a chunk is the share of its words that are
//! found. This is containment and not resemblance: a chunk that says more than the label says the
//! label as well. A chunk that is a part of a label, because somebody has left out a sentence, is
//! found too, if [`EXCERPT`] of its own words stand in such runs, and [`LEAST`] words at least.
//!
//! A run that more than [`CROWD`] labels have says nothing about which of them was edited, and is
//! ignored: words that stand in such runs alone are neither found nor looked for. Of a run that a
//! label has twice the first place counts.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_fingerprint::grams;
use cento_flow::{Bitmap, Flow, Registry, Row, Stage, StageError, WideGroups, table_row};
use cento_labels::LabelKind;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::matching::GroupTask;
use super::moments::{real, share, typed};
use super::params::{DetectParams, LabelSet};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::names::{NAMED, ROW, name_of};
use crate::numbers::{Numbers, UNSET};
use crate::provenance::{label_rows, table_of};
use crate::tables::open_groups;
use crate::words::WordHasher;

/// Words of a run. Four are rare enough to be no chance, and short enough to stand between two
/// edits.
pub(super) const K: usize = 4;
/// Labels that may have a run in common.
const CROWD: usize = 64;
/// The share of a chunk's words that makes it a part of a label, and how many words that are at
/// least: more than a turn of phrase.
const EXCERPT: f64 = 0.8;
const LEAST: u32 = 8;
/// The shuffle whose pages need names.
pub(super) const ROWS: &str = "fuzzy rows";

table_row! {
    /// A chunk that is an edited label.
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
        /// The byte behind it.
        pub end: u32,
        /// The label of which most is in it.
        pub hash: [u8; 16],
        /// How many words of the label are in runs that the chunk has too.
        pub found: u32,
        /// Of how many: those in runs that not too many labels have.
        pub words: u32,
        /// What share that is.
        pub share: f64,
        /// What share of the words of the chunk they are, all of these counted.
        pub of_chunk: f64,
        /// What the label says.
        pub text: Option<String>,
        /// The page that the label came from.
        pub origin: String,
    }
}

/// A run of words of a label or of a chunk.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Print {
    hash: u64,
    kind: u32,
    /// The label, or the page.
    of: u32,
    /// Of a label: which word the run begins with. Of a chunk: its ordinal.
    at: u32,
    /// Where the chunk begins and ends.
    begin: u32,
    end: u32,
    /// How many words the chunk has.
    words: u32,
}

const LABEL: u32 = 0;
const CHUNK: u32 = 1;

impl Row for Print {
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
struct Pair {
    page: u32,
    ordinal: u32,
    label: u32,
    /// Which word of the label the run begins with.
    at: u32,
    begin: u32,
    end: u32,
    /// How many words the chunk has.
    words: u32,
}

impl Row for Pair {
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
struct Counted {
    label: u32,
    at: u32,
}

impl Row for Counted {
    type Key = u32;
    type Rest = u32;

    fn key(&self) -> u32 {
        self.label
    }

    fn rest(&self) -> u32 {
        self.at
    }
}

/// How many words stand in runs, which come in the order of where they begin.
#[derive(Debug, Clone, Copy, Default)]
struct Covered {
    words: u32,
    end: u32,
}

impl Covered {
    fn add(&mut self, at: u32) {
        let end = at.saturating_add(K as u32);
        self.words += end - at.max(self.end).min(end);
        self.end = self.end.max(end);
    }
}

/// A chunk and the label of which most is in it.
#[derive(Serialize, Deserialize)]
struct Edited {
    page: u32,
    ordinal: u32,
    begin: u32,
    end: u32,
    found: u32,
    words: u32,
    chunk_words: u32,
    said: Option<(Option<String>, String, u64)>,
}

/// Fails if there is nothing to compare edited chunks with.
pub(super) fn check(source: &CorpusPages, set: &LabelSet) -> Result<()> {
    if set.used().recipe.of == LabelKind::Files {
        let what = "files are matched whole: --fuzzy is for labels of chunks";
        return Err(Error::Usage(what.to_owned()));
    }
    let unsuitable = |what: &str| Err(Error::Unsuitable(what.to_owned()));
    if !source.has_text() {
        return unsuitable("the corpus has no text: --fuzzy has nothing to compare");
    }
    if !set.table {
        return unsuitable(
            "the table beside the labels is missing, and with it the texts that --fuzzy compares",
        );
    }
    Ok(())
}

/// Adds the stages up to where pages need names.
pub(super) fn with_stages(
    flow: Flow,
    source: &CorpusPages,
    set: &LabelSet,
    own: bool,
    memory: u64,
) -> Result<Flow> {
    let chunks = Stage::map("chunk prints", source.text_tasks())
        .reads("prints")
        .writes("by print");
    let labels = set.used().count;
    let label_bits = (64 - labels.leading_zeros()).max(1);
    // Two bytes for each of the runs that a label has, about, and no more than an eighth of the
    // memory.
    let bytes = (labels * 128).clamp(1 << 12, (memory / 8).max(1 << 12));
    let table = super::group_tasks(&table_of(set.labels.path()))?;
    let bits = 32 - source.all().leading_zeros();
    Ok(flow
        .state("prints", "bitmap", json!({ "bytes": bytes }))
        .state("words of labels", "numbers", json!({ "pages": labels }))
        .state(
            "resembled",
            "bitmap",
            json!({ "bytes": labels.div_ceil(8).max(8) }),
        )
        .shuffle("by print")
        .shuffle_of_numbers("counted runs", label_bits)
        .shuffle_of_numbers("pairs", bits)
        .shuffle_of_numbers("fuzzy labels", label_bits)
        .shuffle_of_numbers(ROWS, bits)
        .table("fuzzy")
        .stage(
            Stage::map("label prints", table.clone())
                .writes("prints")
                .writes("by print"),
        )
        .stage(match own {
            true => chunks.reads("own"),
            false => chunks,
        })
        .stage(
            Stage::reduce("meet", "by print")
                .writes("pairs")
                .writes("counted runs"),
        )
        .stage(Stage::reduce("label words", "counted runs").writes("words of labels"))
        .stage(
            Stage::reduce("resemble", "pairs")
                .reads("words of labels")
                .writes(NAMED)
                .writes("resembled")
                .writes("fuzzy labels"),
        )
        .stage(
            Stage::map("fuzzy origins", table)
                .reads("resembled")
                .writes("fuzzy labels"),
        )
        .stage(Stage::reduce("fuzzy names", "fuzzy labels").writes(ROWS)))
}

pub(super) fn register(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    set: &LabelSet,
    params: &DetectParams,
) {
    registry.map("label prints", |context| {
        let task: GroupTask = context.task()?;
        let seen = context.state::<Bitmap>("prints")?;
        let mut by_print = context.shuffle::<Print>("by print")?;
        let mut hasher = WordHasher::default();
        let mut label = u32::try_from(task.first_row)?;
        for batch in open_groups(&task.file, task.group)? {
            context.check()?;
            for row in label_rows(&batch?).ok_or("the table beside the labels is none")? {
                let text = row.text.as_deref().unwrap_or_default();
                context.count("cut labels", u64::from((text.len() as u64) < row.bytes));
                let mut outcome = Ok(());
                let words = hasher.words(text);
                context.count("short labels", u64::from(words.len() < K));
                grams(words, K, |hash, at| {
                    if outcome.is_ok() {
                        seen.set(hash);
                        outcome = by_print.push(Print {
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
    let (texts, labels, asked) = (Arc::clone(source), Arc::clone(&set.labels), params.clone());
    registry.map("chunk prints", move |context| {
        let seen = context.state::<Bitmap>("prints")?;
        let own = match asked.own.is_empty() {
            true => None,
            false => Some(context.state::<Bitmap>("own")?),
        };
        let mut by_print = context.shuffle::<Print>("by print")?;
        let (mut hasher, mut room) = (WordHasher::default(), String::new());
        let recipe = labels.header().recipe;
        texts.for_each_text(&context.task()?, |page, text| {
            context.check()?;
            if own.as_ref().is_some_and(|own| own.get(u64::from(page))) {
                return Ok(());
            }
            let mut outcome = Ok(());
            let mut ordinal = 0;
            recipe.cut(text, &mut room, |range, hash| {
                ordinal += 1;
                let exact = labels.find(&hash).is_some();
                if exact || (!asked.no_stop && labels.is_stop(&hash)) || outcome.is_err() {
                    return;
                }
                let chunk = text.get(range.clone()).unwrap_or_default();
                let words = hasher.words(chunk);
                grams(words, K, |hash, _| {
                    if outcome.is_ok() && seen.get(hash) {
                        outcome = by_print.push(Print {
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
    pairs(registry, params);
    named(registry, set);
}

fn pairs(registry: &mut Registry, params: &DetectParams) {
    registry.reduce::<Print, _>("meet", |context, groups| {
        let mut pairs = context.shuffle::<Pair>("pairs")?;
        let mut counted = context.shuffle::<Counted>("counted runs")?;
        // Labels that have the run, and its first place in each.
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
                // A run that a chunk has twice is there.
                if last_chunk.replace((row.of, row.at)) == Some((row.of, row.at)) {
                    continue;
                }
                for &(label, at) in &labels {
                    pairs.push(Pair {
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
            context.count("crowded runs", u64::from(crowded));
            if !crowded {
                for &(label, at) in &labels {
                    counted.push(Counted { label, at })?;
                }
            }
        }
        Ok(())
    });
    registry.reduce::<Counted, _>("label words", |context, groups| {
        let words = context.state::<Numbers>("words of labels")?;
        while let Some(group) = groups.next_group()? {
            let label = group.key();
            let mut covered = Covered::default();
            group.for_each(|run| covered.add(run.at));
            words.set(label, covered.words);
            context.count("compared labels", 1);
        }
        Ok(())
    });
    let least = typed(params.fuzzy.unwrap_or(1.0));
    // Who asks for more of a label than this asks for more of a chunk too.
    let excerpt = typed(EXCERPT).max(least);
    registry.reduce::<Pair, _>("resemble", move |context, groups| {
        let pages = context.state::<Bitmap>(NAMED)?;
        let resembled = context.state::<Bitmap>("resembled")?;
        let words = context.state::<Numbers>("words of labels")?;
        let mut labels = context.wide_shuffle("fuzzy labels")?;
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            let mut any = false;
            // Of each chunk, the label of which most is in it; of several, the longest, then the
            // lowest.
            let mut best: Option<(u64, u32, Pair)> = None;
            let mut run: Option<(Pair, Covered)> = None;
            let weigh = |run: Option<(Pair, Covered)>, best: &mut Option<(u64, u32, Pair)>| {
                let Some((pair, covered)) = run else {
                    return;
                };
                let all = match words.get(pair.label) {
                    UNSET => return,
                    all => all,
                };
                let score = share(u64::from(covered.words), u64::from(all));
                let of_chunk = share(u64::from(covered.words.min(pair.words)), pair.words.into());
                let enough = score >= least || (of_chunk >= excerpt && covered.words >= LEAST);
                let better = best
                    .as_ref()
                    .is_none_or(|best| (score, covered.words) > (best.0, best.1));
                if enough && better {
                    *best = Some((score, covered.words, pair));
                }
            };
            let mut flush = |best: Option<(u64, u32, Pair)>| {
                let Some((_, found, pair)) = best else {
                    return Ok(());
                };
                any = true;
                resembled.set(u64::from(pair.label));
                let row = serde_json::to_vec(&Edited {
                    page,
                    ordinal: pair.ordinal,
                    begin: pair.begin,
                    end: pair.end,
                    found,
                    words: words.get(pair.label),
                    chunk_words: pair.words,
                    said: None,
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
                        weigh(run.take(), &mut best);
                        if next_chunk {
                            flush(best.take())?;
                        }
                        let mut covered = Covered::default();
                        covered.add(pair.at);
                        run = Some((pair, covered));
                    }
                }
            }
            weigh(run.take(), &mut best);
            flush(best.take())?;
            if any {
                pages.set(u64::from(page));
                context.count("fuzzy pages", 1);
            }
        }
        Ok(())
    });
}

fn named(registry: &mut Registry, set: &LabelSet) {
    registry.map("fuzzy origins", |context| {
        let task: GroupTask = context.task()?;
        let resembled = context.state::<Bitmap>("resembled")?;
        let mut labels = context.wide_shuffle("fuzzy labels")?;
        let mut label = task.first_row;
        for batch in open_groups(&task.file, task.group)? {
            for row in label_rows(&batch?).ok_or("the table beside the labels is none")? {
                if resembled.get(label) {
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
            let mut said: Option<(Option<String>, String)> = None;
            for record in group {
                if record.order == 0 {
                    said = Some(serde_json::from_slice(&record.value)?);
                    continue;
                }
                let mut edited: Edited = serde_json::from_slice(&record.value)?;
                edited.said = said.clone().map(|(text, page)| (text, page, label));
                let order = ROW + u64::from(edited.ordinal);
                rows.push_numbered(u64::from(edited.page), order, &serde_json::to_vec(&edited)?)?;
            }
        }
        Ok(())
    });
    let labels = Arc::clone(&set.labels);
    registry.reduce("fuzzy table", move |context, groups| {
        let mut table = context.table::<FuzzyRow>("fuzzy")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            for record in group {
                let edited: Edited = serde_json::from_slice(&record.value)?;
                let (text, origin, label) = edited.said.ok_or("a label says nothing")?;
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
        fn words_are_covered_once(begins in proptest::collection::btree_set(0u32..60, 0..30)) {
            let mut covered = Covered::default();
            begins.iter().for_each(|&at| covered.add(at));
            let words: BTreeSet<u32> = begins.iter().flat_map(|&at| at..at + K as u32).collect();
            prop_assert_eq!(covered.words as usize, words.len());
        }
    }
}
