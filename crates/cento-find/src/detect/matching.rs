//! Simple object matching: every chunk, or every file, is looked up in the labels, and the
//! originals of the matched labels are joined to the pages.
//!
//! ```text
//!   pages ─ own ─▶ own
//!   chunks ─ match ─▶ by page, by label, positions, matched
//!   label table ─ origins ─▶ by label, label rows, common labels
//!   by label ─ attribute ─▶ by page, label rows ─ label table ─▶ labels
//! ```
//!
//! Labels are a mapped file: looking up a chunk costs less than shuffling it to its label.
//!
//! A chunk is joined with every original of its label. If these are more than [`CROWD`], the label
//! is common: it is attributed later, when the originals of the page are known (see
//! [`score`](super::score)).

use std::path::PathBuf;
use std::sync::Arc;

use cento_flow::{
    Bitmap, Context, Registry, StageError, TableName, TableRow, WideGroups, table_row,
};
use cento_labels::{CROWD, Labels};
use serde::{Deserialize, Serialize};

use super::flow_names::{counter, shuffle, stage, state};
use super::match_rows::{
    CHUNK, COMMON, COUNTS, CommonLabel, HIT, LabelFact, MATCH, ORIGIN, PageFact,
};
use super::params::{DetectParams, LabelSet};
use crate::corpus_pages::{ChunkTask, CorpusPages};
use crate::error::Error;
use crate::provenance::LabelRow;
use crate::tables::open_groups;

/// The labels that were found.
pub const LABELS_TABLE: TableName<FoundRow> = TableName::new("labels");

table_row! {
    /// A label that was found.
    #[derive(Debug, Clone, PartialEq)]
    pub struct FoundRow {
        /// Its hash.
        pub hash: [u8; 16],
        /// Its text, if it is known.
        pub text: Option<String>,
        /// The number of chunks or files that are this label.
        pub found: u64,
        /// The number of pages that have it.
        pub pages: u64,
        /// The page that it came from, if it is known: the first original, or the page where it was
        /// discovered.
        pub origin: Option<String>,
    }
}

/// Objects to match.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MatchTask {
    /// The table of chunks.
    Chunks(ChunkTask),
    /// Pages, for their payloads.
    Pages(usize),
}

/// A row group of a table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct GroupTask {
    pub(super) file: PathBuf,
    pub(super) group: usize,
    pub(super) first_row: u64,
}

/// The text and the first page of a label.
#[derive(Serialize, Deserialize)]
struct LabelOrigin {
    text: Option<String>,
    page: String,
}

pub(super) fn register(
    registry: &mut Registry,
    corpus: &Arc<CorpusPages>,
    set: &LabelSet,
    params: &DetectParams,
) {
    let (pages, settings) = (Arc::clone(corpus), params.clone());
    registry.map(stage::OWN, move |context| {
        let own = context.state::<Bitmap>(state::OWN)?;
        pages.for_each_page(context.task()?, |facts| {
            if settings.owns(facts.host, facts.domain) {
                own.set(u64::from(facts.number));
                context.count(counter::OWN_PAGES, 1);
            }
            Ok::<_, StageError>(())
        })
    });
    let (pages, labels, settings) = (Arc::clone(corpus), Arc::clone(&set.labels), params.clone());
    registry.map(stage::MATCH, move |context| {
        match_objects(&pages, &labels, &settings, context)
    });
    origins(registry, set);
    attribute(registry, set);
}

/// Counts the objects of pages, one page after the other.
struct ObjectCounter<'c, 'f> {
    context: &'c Context<'f>,
    labels: &'c Labels,
    no_stop: bool,
    matched: Arc<Bitmap>,
    by_page: std::cell::RefMut<'c, cento_flow::Emitter<PageFact>>,
    by_label: std::cell::RefMut<'c, cento_flow::Emitter<LabelFact>>,
    positions: std::cell::RefMut<'c, cento_flow::Emitter<PageFact>>,
    page: u32,
    counts: [u32; 3],
}

impl ObjectCounter<'_, '_> {
    fn add(
        &mut self,
        page: u32,
        hash: &[u8; 16],
        ordinal: u32,
        begin: u32,
        end: u32,
    ) -> Result<(), StageError> {
        if page != self.page {
            self.flush()?;
            self.page = page;
        }
        let [chunks, stopped, matched] = &mut self.counts;
        *chunks += 1;
        if !self.no_stop && self.labels.is_stop(hash) {
            *stopped += 1;
        } else if let Some(label) = self.labels.find(hash) {
            *matched += 1;
            self.matched.set(label);
            let label = u32::try_from(label)?;
            self.by_label.push(LabelFact {
                label,
                kind: MATCH,
                page,
            })?;
            self.positions.push(PageFact {
                page,
                kind: CHUNK,
                numbers: [ordinal, label, begin, end],
            })?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StageError> {
        let [chunks, stopped, matched] = std::mem::take(&mut self.counts);
        if chunks > 0 {
            let numbers = [chunks, stopped, matched, 0];
            self.by_page.push(PageFact {
                page: self.page,
                kind: COUNTS,
                numbers,
            })?;
            for (name, count) in [
                (counter::CHUNKS, chunks),
                (counter::STOPPED, stopped),
                (counter::MATCHED, matched),
            ] {
                self.context.count(name, u64::from(count));
            }
        }
        Ok(())
    }
}

fn match_objects(
    corpus: &CorpusPages,
    labels: &Labels,
    params: &DetectParams,
    context: &Context<'_>,
) -> Result<(), StageError> {
    let own = match params.own.is_empty() {
        true => None,
        false => Some(context.state::<Bitmap>(state::OWN)?),
    };
    let owned = |page: u32| own.as_ref().is_some_and(|own| own.get(u64::from(page)));
    let mut objects = ObjectCounter {
        context,
        labels,
        no_stop: params.no_stop,
        matched: context.state::<Bitmap>(state::MATCHED)?,
        by_page: context.shuffle::<PageFact>(shuffle::BY_PAGE)?,
        by_label: context.shuffle::<LabelFact>(shuffle::BY_LABEL)?,
        positions: context.shuffle::<PageFact>(shuffle::POSITIONS)?,
        page: u32::MAX,
        counts: [0; 3],
    };
    match context.task()? {
        MatchTask::Chunks(task) => corpus.for_each_placed_chunk(&task, |page, chunk| {
            if owned(page) {
                return Ok(());
            }
            objects.add(
                page,
                &chunk.chunk_hash,
                chunk.ordinal,
                chunk.begin,
                chunk.end,
            )
        })?,
        MatchTask::Pages(task) => corpus.for_each_page(task, |facts| {
            let hash = facts.payload_sha1.and_then(|hash| hash.first_chunk());
            match hash {
                // Pages of a crawler in a loop are skipped.
                Some(hash) if facts.reject != Some("recursion") && !owned(facts.number) => {
                    let bytes = u32::try_from(facts.bytes).unwrap_or(u32::MAX);
                    objects.add(facts.number, hash, 0, 0, bytes)
                }
                _ => Ok::<_, StageError>(()),
            }
        })?,
    }
    objects.flush()
}

fn origins(registry: &mut Registry, set: &LabelSet) {
    let labels = Arc::clone(&set.labels);
    registry.map(stage::ORIGINS, move |context| {
        let task: GroupTask = context.task()?;
        let matched = context.state::<Bitmap>(state::MATCHED)?;
        let mut by_label = context.shuffle::<LabelFact>(shuffle::BY_LABEL)?;
        let mut common = context.shuffle::<CommonLabel>(shuffle::COMMON_LABELS)?;
        let mut rows = context.wide_shuffle(shuffle::LABEL_ROWS)?;
        let unlike = || Error::corrupted(&task.file, "it belongs to other labels");
        let mut label = task.first_row;
        for batch in open_groups(&task.file, task.group)? {
            context.check()?;
            let batch = LabelRow::read(&batch?)
                .map_err(|error| Error::corrupted(&task.file, error.to_string()))?;
            for row in batch {
                if labels.get(label) != Some(row.hash) {
                    return Err(unlike().into());
                }
                if matched.get(label) {
                    let number = u32::try_from(label)?;
                    let mut push_origin = |page: u32| {
                        by_label.push(LabelFact {
                            label: number,
                            kind: ORIGIN,
                            page,
                        })
                    };
                    if row.originals.len() <= CROWD {
                        row.originals
                            .iter()
                            .try_for_each(|&page| push_origin(page))?;
                    } else {
                        push_origin(COMMON)?;
                        context.count(counter::COMMON_LABELS, 1);
                        for original in row.originals {
                            common.push(CommonLabel {
                                label: number,
                                original,
                                kind: ORIGIN,
                                page: 0,
                                rank: 0,
                                chunks: 0,
                            })?;
                        }
                    }
                    let origin = LabelOrigin {
                        text: row.text,
                        page: row.page,
                    };
                    rows.push_numbered(label, 0, &serde_json::to_vec(&origin)?)?;
                }
                label += 1;
            }
        }
        Ok(())
    });
}

fn attribute(registry: &mut Registry, set: &LabelSet) {
    registry.reduce::<LabelFact, _>(stage::ATTRIBUTE, |context, groups| {
        let mut by_page = context.shuffle::<PageFact>(shuffle::BY_PAGE)?;
        let mut rows = context.wide_shuffle(shuffle::LABEL_ROWS)?;
        let mut originals: Vec<u32> = Vec::new();
        while let Some(group) = groups.next_group()? {
            let label = group.key();
            originals.clear();
            let (mut found, mut pages) = (0u64, 0u64);
            // Rows are ordered by page. Those of one page become one row for each original.
            let mut run: Option<(u32, u32)> = None;
            let mut flush = |run: Option<(u32, u32)>, originals: &[u32]| {
                let Some((page, chunks)) = run else {
                    return Ok(());
                };
                originals.iter().try_for_each(|&original| {
                    by_page.push(PageFact {
                        page,
                        kind: HIT,
                        numbers: [label, original, chunks, 0],
                    })
                })
            };
            for row in group {
                if row.kind == ORIGIN {
                    originals.push(row.page);
                    continue;
                }
                found += 1;
                match &mut run {
                    Some((page, chunks)) if *page == row.page => *chunks += 1,
                    _ => {
                        flush(run.take(), &originals)?;
                        pages += 1;
                        run = Some((row.page, 1));
                    }
                }
            }
            flush(run.take(), &originals)?;
            if found > 0 {
                let counted = serde_json::to_vec(&(found, pages))?;
                rows.push_numbered(u64::from(label), 1, &counted)?;
            }
        }
        Ok(())
    });
    let labels = Arc::clone(&set.labels);
    registry.reduce(stage::LABEL_TABLE, move |context, groups| {
        let mut table = context.table(LABELS_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let hash = labels.get(group.number()).unwrap_or_default();
            let mut origin: Option<LabelOrigin> = None;
            for record in group {
                if record.order == 0 {
                    origin = Some(serde_json::from_slice(&record.value)?);
                    continue;
                }
                let (found, pages) = serde_json::from_slice(&record.value)?;
                let (text, page) = match origin.take() {
                    Some(origin) => (origin.text, Some(origin.page)),
                    None => (None, None),
                };
                table.push(FoundRow {
                    hash,
                    text,
                    found,
                    pages,
                    origin: page,
                })?;
            }
        }
        Ok(())
    });
}
