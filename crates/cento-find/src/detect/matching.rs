//! Simple object matching: every chunk, or every file, against the labels; and which originals the
//! labels come from.
//!
//! ```text
//!   pages ─ own ─▶ own
//!   chunks ─ match ─▶ by page, by label, places, matched   provenance ─ origins ─▶ by label, label rows, asked
//!   by label ─ attribute ─▶ by page, label rows ─ label table ─▶ labels
//! ```
//!
//! Labels are mapped, not shuffled: asking them costs less than moving every chunk to where its
//! label is.
//!
//! A label that many originals have would multiply every chunk that is it. So one that more than
//! [`CROWD`] have travels alone, and is asked about when the originals of the page are known (see
//! [`score`](super::score)).

use std::path::PathBuf;
use std::sync::Arc;

use cento_flow::{Bitmap, Context, Registry, StageError, WideGroups, table_row};
use cento_labels::Labels;
use serde::{Deserialize, Serialize};

use super::params::{DetectParams, LabelSet};
use super::rows::{AboutLabel, AboutPage, Asked, CHUNK, COMMON, COUNTS, HIT, MATCH, ORIGIN};
use crate::corpus_pages::{ChunkTask, CorpusPages};
use crate::error::Error;
use crate::provenance::label_rows;
use crate::tables::open_groups;

/// Originals of a label by which a chunk is multiplied.
pub(super) const CROWD: usize = 256;

table_row! {
    /// A label that is on some page.
    #[derive(Debug, Clone, PartialEq)]
    pub struct FoundRow {
        /// Its hash.
        pub hash: [u8; 16],
        /// What it says, if that is known.
        pub text: Option<String>,
        /// How many times it was found.
        pub found: u64,
        /// On how many pages.
        pub pages: u64,
        /// The page that it came from, if that is known: the first original, or where it was
        /// discovered.
        pub origin: Option<String>,
    }
}

/// Where objects come from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MatchTask {
    /// The table of chunks.
    Chunks(ChunkTask),
    /// Pages, for their payloads.
    Pages(usize),
}

/// Some row groups of a table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct GroupTask {
    pub(super) file: PathBuf,
    pub(super) group: usize,
    pub(super) first_row: u64,
}

/// What the table beside the labels says of one.
#[derive(Serialize, Deserialize)]
struct Said {
    text: Option<String>,
    page: String,
}

pub(super) fn register(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    set: &LabelSet,
    params: &DetectParams,
) {
    let (pages, asked) = (Arc::clone(source), params.clone());
    registry.map("own", move |context| {
        let own = context.state::<Bitmap>("own")?;
        pages.for_each_page(context.task()?, |facts| {
            if asked.owns(facts.host, facts.domain) {
                own.set(u64::from(facts.number));
                context.count("own pages", 1);
            }
            Ok::<_, StageError>(())
        })
    });
    let (pages, labels, asked) = (Arc::clone(source), Arc::clone(&set.labels), params.clone());
    registry.map("match", move |context| {
        match_objects(&pages, &labels, &asked, context)
    });
    origins(registry, set);
    attribute(registry, set);
}

/// Counts the objects of one page after the other.
struct Counter<'c, 'f> {
    context: &'c Context<'f>,
    labels: &'c Labels,
    no_stop: bool,
    matched: Arc<Bitmap>,
    by_page: std::cell::RefMut<'c, cento_flow::Emitter<AboutPage>>,
    by_label: std::cell::RefMut<'c, cento_flow::Emitter<AboutLabel>>,
    places: std::cell::RefMut<'c, cento_flow::Emitter<AboutPage>>,
    page: u32,
    counts: [u32; 3],
}

impl Counter<'_, '_> {
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
            self.by_label.push(AboutLabel {
                label,
                kind: MATCH,
                page,
            })?;
            self.places.push(AboutPage {
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
            self.by_page.push(AboutPage {
                page: self.page,
                kind: COUNTS,
                numbers,
            })?;
            for (name, count) in [
                ("chunks", chunks),
                ("stopped", stopped),
                ("matched", matched),
            ] {
                self.context.count(name, u64::from(count));
            }
        }
        Ok(())
    }
}

fn match_objects(
    source: &CorpusPages,
    labels: &Labels,
    params: &DetectParams,
    context: &Context<'_>,
) -> Result<(), StageError> {
    let own = match params.own.is_empty() {
        true => None,
        false => Some(context.state::<Bitmap>("own")?),
    };
    let owned = |page: u32| own.as_ref().is_some_and(|own| own.get(u64::from(page)));
    let mut counter = Counter {
        context,
        labels,
        no_stop: params.no_stop,
        matched: context.state::<Bitmap>("matched")?,
        by_page: context.shuffle::<AboutPage>("by page")?,
        by_label: context.shuffle::<AboutLabel>("by label")?,
        places: context.shuffle::<AboutPage>("places")?,
        page: u32::MAX,
        counts: [0; 3],
    };
    match context.task()? {
        MatchTask::Chunks(task) => source.for_each_placed_chunk(&task, |page, chunk| {
            if owned(page) {
                return Ok(());
            }
            counter.add(
                page,
                &chunk.chunk_hash,
                chunk.ordinal,
                chunk.begin,
                chunk.end,
            )
        })?,
        MatchTask::Pages(task) => source.for_each_page(task, |facts| {
            let hash = facts.payload_sha1.and_then(|hash| hash.first_chunk());
            match hash {
                // A page that a crawler made by going in circles is none.
                Some(hash) if facts.reject != Some("recursion") && !owned(facts.number) => {
                    let bytes = u32::try_from(facts.bytes).unwrap_or(u32::MAX);
                    counter.add(facts.number, hash, 0, 0, bytes)
                }
                _ => Ok::<_, StageError>(()),
            }
        })?,
    }
    counter.flush()
}

fn origins(registry: &mut Registry, set: &LabelSet) {
    let labels = Arc::clone(&set.labels);
    registry.map("origins", move |context| {
        let task: GroupTask = context.task()?;
        let matched = context.state::<Bitmap>("matched")?;
        let mut by_label = context.shuffle::<AboutLabel>("by label")?;
        let mut asked = context.shuffle::<Asked>("asked")?;
        let mut rows = context.wide_shuffle("label rows")?;
        let foreign = || Error::corrupted(&task.file, "it belongs to other labels");
        let mut label = task.first_row;
        for batch in open_groups(&task.file, task.group)? {
            context.check()?;
            for row in label_rows(&batch?).ok_or_else(foreign)? {
                if labels.get(label) != Some(row.hash) {
                    return Err(foreign().into());
                }
                if matched.get(label) {
                    let number = u32::try_from(label)?;
                    let mut origin = |page: u32| {
                        by_label.push(AboutLabel {
                            label: number,
                            kind: ORIGIN,
                            page,
                        })
                    };
                    if row.originals.len() <= CROWD {
                        row.originals.iter().try_for_each(|&page| origin(page))?;
                    } else {
                        origin(COMMON)?;
                        context.count("common labels", 1);
                        for original in row.originals {
                            asked.push(Asked {
                                label: number,
                                original,
                                kind: ORIGIN,
                                page: 0,
                                rank: 0,
                                chunks: 0,
                            })?;
                        }
                    }
                    let said = Said {
                        text: row.text,
                        page: row.page,
                    };
                    rows.push_numbered(label, 0, &serde_json::to_vec(&said)?)?;
                }
                label += 1;
            }
        }
        Ok(())
    });
}

fn attribute(registry: &mut Registry, set: &LabelSet) {
    registry.reduce::<AboutLabel, _>("attribute", |context, groups| {
        let mut by_page = context.shuffle::<AboutPage>("by page")?;
        let mut rows = context.wide_shuffle("label rows")?;
        let mut originals: Vec<u32> = Vec::new();
        while let Some(group) = groups.next_group()? {
            let label = group.key();
            originals.clear();
            let (mut found, mut pages) = (0u64, 0u64);
            // Rows come by page: as many as a page has chunks that are this label become one row
            // for each original.
            let mut run: Option<(u32, u32)> = None;
            let mut flush = |run: Option<(u32, u32)>, originals: &[u32]| {
                let Some((page, chunks)) = run else {
                    return Ok(());
                };
                originals.iter().try_for_each(|&original| {
                    by_page.push(AboutPage {
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
    registry.reduce("label table", move |context, groups| {
        let mut table = context.table::<FoundRow>("labels")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let hash = labels.get(group.number()).unwrap_or_default();
            let mut said: Option<Said> = None;
            for record in group {
                if record.order == 0 {
                    said = Some(serde_json::from_slice(&record.value)?);
                    continue;
                }
                let (found, pages) = serde_json::from_slice(&record.value)?;
                let (text, origin) = match said.take() {
                    Some(said) => (said.text, Some(said.page)),
                    None => (None, None),
                };
                table.push(FoundRow {
                    hash,
                    text,
                    found,
                    pages,
                    origin,
                })?;
            }
        }
        Ok(())
    });
}
