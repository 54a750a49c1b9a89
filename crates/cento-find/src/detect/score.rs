//! From matches to scores: partial targets, the originals behind them, and neighbourhoods.
//!
//! ```text
//!   by page ─ score ─▶ page rows, by original, positions, common labels, scored, moments
//!   originals ─ original names ─▶ by original
//!   common labels ─ common ─▶ common matches ─ attribute common ─▶ positions, by original
//!   positions ─ locate ─▶ page rows
//!   pages ─ prefixes ─▶ scored ─ neighbours ─▶ by prefix ─ aggregate ─▶ matched prefixes, moments
//! ```
//!
//! [`assign`] attributes the labels of a page to originals. A label on more than
//! [`CROWD`](cento_labels::CROWD) originals is attributed to the first of the first [`RANKS`]
//! originals of the page that has it, or to none.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use cento_flow::{Bitmap, Registry, StageError, TableRow, WideGroups};
use cento_labels::{MatchedLabel, RANKS, assign};
use cento_text::url::PageUrl;
use serde::{Deserialize, Serialize};

use super::flow_names::{counter, shuffle, stage, state};
use super::match_rows::{
    ASSIGNED, COMMON, COUNTS, CommonLabel, CommonMatch, MATCH, Neighbour, ORIGIN, PageFact,
    PagePrefix,
};
use super::matching::GroupTask;
use super::moments::{Mean, Moments, ScoreKind, share};
use super::params::DetectParams;
use crate::corpus_pages::CorpusPages;
use crate::error::Error;
use crate::names::{NAMED, ROW};
use crate::provenance::OriginalRow;
use crate::sites::name_hash;
use crate::tables::open_groups;
use crate::tally::TaskTally;

/// The order of the chunks of a page among the records about it.
pub(super) const BLOCKS: u64 = 1 << 40;
/// Chunks in one record.
const BLOCK: usize = 512;
/// The key of the first level in the tally of neighbourhoods.
pub(super) const LEVELS: u64 = 10_000;

/// The counts of a page with labels.
#[derive(Serialize, Deserialize)]
pub(super) struct PageScore {
    pub(super) chunks: u32,
    pub(super) stopped: u32,
    pub(super) matched: u32,
}

/// What a page shares with an original. Several of these add up.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct OriginalShare {
    pub(super) chunks: u32,
    pub(super) labels: u32,
}

/// What a page shares with an original, with the name of the original.
#[derive(Serialize, Deserialize)]
pub(super) struct NamedShare {
    pub(super) original: u32,
    pub(super) name: String,
    pub(super) of_labels: u64,
    pub(super) chunks: u32,
    pub(super) labels: u32,
}

/// The scores of a neighbourhood with labels, before it has a name.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct NeighbourhoodScore {
    pub(super) depth: u32,
    pub(super) pages: u64,
    pub(super) chunks: u64,
    pub(super) matched: u64,
    pub(super) mean: u64,
    pub(super) ratio: u64,
}

pub(super) fn register(registry: &mut Registry, corpus: &Arc<CorpusPages>, params: &DetectParams) {
    score(registry);
    common(registry);
    locate(registry);
    original_names(registry);
    neighbours(registry, corpus, params);
}

fn score(registry: &mut Registry) {
    registry.reduce::<PageFact, _>(stage::SCORE, |context, groups| {
        let tally = context.state::<TaskTally>(state::PAGE_MOMENTS)?;
        let named = context.state::<Bitmap>(NAMED)?;
        let known = context.state::<Bitmap>(state::KNOWN_ORIGINALS)?;
        let mut rows = context.wide_shuffle(shuffle::PAGE_ROWS)?;
        let mut by_original = context.wide_shuffle(shuffle::BY_ORIGINAL)?;
        let mut positions = context.shuffle::<PageFact>(shuffle::POSITIONS)?;
        let mut common_labels = context.shuffle::<CommonLabel>(shuffle::COMMON_LABELS)?;
        let mut scores = context.shuffle::<PagePrefix>(shuffle::SCORED)?;
        let mut moments = Moments::new(ScoreKind::Page);
        let (mut labels, mut originals) = (Vec::<MatchedLabel>::new(), Vec::<u32>::new());
        let mut common: Vec<(u32, u32)> = Vec::new();
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            let mut counts = [0u32; 3];
            labels.clear();
            originals.clear();
            common.clear();
            for row in group {
                let [a, b, c, _] = row.numbers;
                if row.kind == COUNTS {
                    for (sum, count) in counts.iter_mut().zip([a, b, c]) {
                        *sum += count;
                    }
                    continue;
                }
                let (label, original, chunks) = (a, b, c);
                if original == COMMON {
                    common.push((label, chunks));
                    continue;
                }
                let from = originals.len();
                originals.push(original);
                match labels.last_mut() {
                    Some(last) if last.label == label => last.to += 1,
                    _ => labels.push(MatchedLabel {
                        label,
                        chunks,
                        from,
                        to: from + 1,
                    }),
                }
            }
            let [chunks, stopped, matched] = counts;
            context.count(counter::PAGES, 1);
            // A page whose chunks are all on the stop list has no score.
            let left = chunks.saturating_sub(stopped);
            if left > 0 {
                context.count(counter::SCORED, 1);
                moments.add(share(u64::from(matched), u64::from(left)));
                scores.push(PagePrefix {
                    hash: [0; 2],
                    page,
                    level: 0,
                    matched,
                    left,
                })?;
            }
            if matched == 0 {
                continue;
            }
            named.set(u64::from(page));
            let mut shares: BTreeMap<u32, OriginalShare> = BTreeMap::new();
            for (label, original) in labels.iter().zip(assign(&labels, &originals)) {
                let Some(original) = original else {
                    continue;
                };
                let shared = shares.entry(original).or_default();
                shared.chunks += label.chunks;
                shared.labels += 1;
                positions.push(PageFact {
                    page,
                    kind: ASSIGNED,
                    numbers: [label.label, original, 0, 0],
                })?;
            }
            for (&original, shared) in &shares {
                known.set(u64::from(original));
                let order = ROW + u64::from(page);
                by_original.push_numbered(
                    u64::from(original),
                    order,
                    &serde_json::to_vec(shared)?,
                )?;
            }
            if !common.is_empty() {
                let mut first: Vec<(Reverse<u32>, u32)> = shares
                    .iter()
                    .map(|(&original, shared)| (Reverse(shared.chunks), original))
                    .collect();
                first.sort_unstable();
                for &(label, chunks) in &common {
                    context.count(counter::COMMON_CHUNKS, u64::from(chunks));
                    for (rank, &(_, original)) in (0..).zip(first.iter().take(RANKS)) {
                        common_labels.push(CommonLabel {
                            label,
                            original,
                            kind: MATCH,
                            page,
                            rank,
                            chunks,
                        })?;
                    }
                }
            }
            let row = serde_json::to_vec(&PageScore {
                chunks,
                stopped,
                matched,
            })?;
            rows.push_numbered(u64::from(page), ROW, &row)?;
        }
        moments.note(&tally, context.task_number());
        Ok(())
    });
}

/// Attributes common labels to the originals of their pages.
fn common(registry: &mut Registry) {
    registry.reduce::<CommonLabel, _>(stage::COMMON, |context, groups| {
        let mut matches = context.shuffle::<CommonMatch>(shuffle::COMMON_MATCHES)?;
        while let Some(group) = groups.next_group()? {
            let mut has = None;
            for row in group {
                if row.kind == ORIGIN {
                    has = Some(row.original);
                } else if has == Some(row.original) {
                    matches.push(CommonMatch {
                        page: row.page,
                        label: row.label,
                        rank: row.rank,
                        original: row.original,
                        chunks: row.chunks,
                    })?;
                }
            }
        }
        Ok(())
    });
    registry.reduce::<CommonMatch, _>(stage::ATTRIBUTE_COMMON, |context, groups| {
        let mut by_original = context.wide_shuffle(shuffle::BY_ORIGINAL)?;
        let mut positions = context.shuffle::<PageFact>(shuffle::POSITIONS)?;
        while let Some(group) = groups.next_group()? {
            let mut last = None;
            for row in group {
                // The first original of the page that has it.
                if last.replace(row.label) == Some(row.label) {
                    continue;
                }
                context.count(counter::ATTRIBUTED_COMMON, u64::from(row.chunks));
                positions.push(PageFact {
                    page: row.page,
                    kind: ASSIGNED,
                    numbers: [row.label, row.original, 0, 0],
                })?;
                let shared = serde_json::to_vec(&OriginalShare {
                    chunks: row.chunks,
                    labels: 1,
                })?;
                let order = ROW + u64::from(row.page);
                by_original.push_numbered(u64::from(row.original), order, &shared)?;
            }
        }
        Ok(())
    });
}

/// A chunk that is a label: its ordinal, begin, end, label, and the original plus one, or 0.
pub(super) type MatchedChunk = [u32; 5];

/// Joins the chunks of pages with their originals, in blocks: a page may have millions of chunks.
fn locate(registry: &mut Registry) {
    registry.reduce::<PageFact, _>(stage::LOCATE, |context, groups| {
        let mut rows = context.wide_shuffle(shuffle::PAGE_ROWS)?;
        let mut assigned: Vec<(u32, u32)> = Vec::new();
        let mut block: Vec<MatchedChunk> = Vec::with_capacity(BLOCK);
        while let Some(group) = groups.next_group()? {
            let page = u64::from(group.key());
            assigned.clear();
            let mut order = BLOCKS;
            for row in group {
                let [a, b, c, d] = row.numbers;
                if row.kind == ASSIGNED {
                    assigned.push((a, b));
                    continue;
                }
                let original = assigned.binary_search_by_key(&b, |&(label, _)| label).ok();
                let original = original.and_then(|at| assigned.get(at));
                block.push([
                    a,
                    c,
                    d,
                    b,
                    original.map_or(0, |&(_, original)| original + 1),
                ]);
                if block.len() == BLOCK {
                    rows.push_numbered(page, order, bytemuck::cast_slice(&block))?;
                    block.clear();
                    order += 1;
                }
            }
            if !block.is_empty() {
                rows.push_numbered(page, order, bytemuck::cast_slice(&block))?;
                block.clear();
            }
        }
        Ok(())
    });
}

fn original_names(registry: &mut Registry) {
    registry.map(stage::ORIGINAL_NAMES, |context| {
        let task: GroupTask = context.task()?;
        let known = context.state::<Bitmap>(state::KNOWN_ORIGINALS)?;
        let mut by_original = context.wide_shuffle(shuffle::BY_ORIGINAL)?;
        for batch in open_groups(&task.file, task.group)? {
            let rows = OriginalRow::read(&batch?)
                .map_err(|error| Error::corrupted(&task.file, error.to_string()))?;
            for row in rows {
                if known.get(u64::from(row.original)) {
                    let name = serde_json::to_vec(&(&row.page, row.labels))?;
                    by_original.push_numbered(u64::from(row.original), 0, &name)?;
                }
            }
        }
        Ok(())
    });
    registry.reduce(stage::COPIED, |context, groups| {
        let mut rows = context.wide_shuffle(shuffle::PAGE_ROWS)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let original = u32::try_from(group.number())?;
            let mut name: Option<(String, u64)> = None;
            // The records of a page are adjacent.
            let mut sum: Option<(u64, OriginalShare)> = None;
            let mut flush = |sum: Option<(u64, OriginalShare)>, name: &Option<(String, u64)>| {
                let Some((page, shared)) = sum else {
                    return Ok(());
                };
                let Some((name, of_labels)) = name else {
                    return Err(StageError::from(format!("original {original} has no name")));
                };
                let row = serde_json::to_vec(&NamedShare {
                    original,
                    name: name.clone(),
                    of_labels: *of_labels,
                    chunks: shared.chunks,
                    labels: shared.labels,
                })?;
                // The original with most chunks comes first.
                let order = ROW + 1 + u64::from(u32::MAX - shared.chunks);
                rows.push_numbered(page, order, &row)?;
                Ok(())
            };
            for record in group {
                if record.order == 0 {
                    name = Some(serde_json::from_slice(&record.value)?);
                    continue;
                }
                let shared: OriginalShare = serde_json::from_slice(&record.value)?;
                let page = record.order - ROW;
                match &mut sum {
                    Some((of, sum)) if *of == page => {
                        sum.chunks += shared.chunks;
                        sum.labels += shared.labels;
                    }
                    _ => {
                        flush(sum.take(), &name)?;
                        sum = Some((page, shared));
                    }
                }
            }
            flush(sum.take(), &name)?;
        }
        Ok(())
    });
}

fn neighbours(registry: &mut Registry, corpus: &Arc<CorpusPages>, params: &DetectParams) {
    let (pages, depth) = (Arc::clone(corpus), params.depth.unwrap_or(u32::MAX));
    registry.map(stage::PREFIXES, move |context| {
        let mut scored = context.shuffle::<PagePrefix>(shuffle::SCORED)?;
        pages.for_each_page(context.task()?, |facts| {
            let url = PageUrl::new(facts.url);
            for (level, prefix) in (1..=depth).zip(url.prefixes()) {
                scored.push(PagePrefix {
                    hash: name_hash(prefix),
                    page: facts.number,
                    level,
                    matched: 0,
                    left: 0,
                })?;
            }
            Ok::<_, StageError>(())
        })
    });
    registry.reduce::<PagePrefix, _>(stage::NEIGHBOURS, |context, groups| {
        let mut by_prefix = context.shuffle::<Neighbour>(shuffle::BY_PREFIX)?;
        while let Some(group) = groups.next_group()? {
            let mut score = None;
            for row in group {
                match (row.level, score) {
                    (0, _) => score = Some((row.matched, row.left)),
                    (_, None) => break,
                    (depth, Some((matched, left))) => by_prefix.push(Neighbour {
                        hash: row.hash,
                        page: row.page,
                        depth,
                        matched,
                        left,
                    })?,
                }
            }
        }
        Ok(())
    });
    registry.reduce::<Neighbour, _>(stage::AGGREGATE, |context, groups| {
        let tally = context.state::<TaskTally>(state::MOMENTS)?;
        let named = context.state::<Bitmap>(NAMED)?;
        let mut matched_prefixes = context.wide_shuffle(shuffle::MATCHED_PREFIXES)?;
        let (mut means, mut ratios) = (
            Moments::new(ScoreKind::Mean),
            Moments::new(ScoreKind::Ratio),
        );
        let mut levels: BTreeMap<u64, u64> = BTreeMap::new();
        while let Some(group) = groups.next_group()? {
            let (mut first, mut mean) = (None, Mean::default());
            let (mut pages, mut chunks, mut matched) = (0u64, 0u64, 0u64);
            for row in group {
                first = first.or(Some((row.page, row.depth)));
                pages += 1;
                chunks += u64::from(row.left);
                matched += u64::from(row.matched);
                mean.add(row.matched, row.left);
            }
            let Some((page, depth)) = first else {
                continue;
            };
            let (mean, ratio) = (mean.score(), share(matched, chunks));
            means.add(mean);
            ratios.add(ratio);
            *levels.entry(u64::from(depth)).or_default() += 1;
            context.count(counter::NEIGHBOURHOODS, 1);
            context.count(counter::SITES, u64::from(depth == 1));
            if matched > 0 {
                named.set(u64::from(page));
                let row = serde_json::to_vec(&NeighbourhoodScore {
                    depth,
                    pages,
                    chunks,
                    matched,
                    mean,
                    ratio,
                })?;
                matched_prefixes.push_numbered(u64::from(page), ROW, &row)?;
            }
        }
        means.note(&tally, context.task_number());
        ratios.note(&tally, context.task_number());
        for (level, count) in levels {
            tally.note(context.task_number(), LEVELS + level, [count, 0, 0, 0]);
        }
        Ok(())
    });
}
