//! From matches to scores: partial targets, the originals behind them, and neighbourhoods.
//!
//! ```text
//!   by page ─ score ─▶ page rows, by original, places, asked, scored, moments      originals ─ original names ─▶ by original
//!   asked ─ common ─▶ answers ─ attribute common ─▶ places, by original            places ─ place ─▶ page rows
//!   pages ─ prefixes ─▶ scored ─ neighbours ─▶ by prefix ─ gather ─▶ bad, moments
//! ```
//!
//! A label may be on several originals, and which of them a page took it from, the label does not
//! tell. So originals are taken as a cover is: first the one that has most of the page's matched
//! chunks, then the one that has most of the rest. A label that is on more than
//! [`CROWD`](super::matching::CROWD) originals has no say in this: afterwards it is attributed to
//! the first of the page's originals that has it, of the first [`RANKS`] of them, and to none if
//! none of them has it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cento_flow::{Bitmap, Registry, StageError, WideGroups};
use cento_text::url::PageUrl;
use serde::{Deserialize, Serialize};

use super::matching::GroupTask;
use super::moments::{Kind, Mean, Moments, share};
use super::params::DetectParams;
use super::rows::{
    ASSIGNED, AboutPage, Answer, Asked, COMMON, COUNTS, MATCH, Neighbour, ORIGIN, PagePrefix,
};
use crate::corpus_pages::CorpusPages;
use crate::error::Error;
use crate::names::{NAMED, ROW};
use crate::provenance::original_rows;
use crate::sites::name_hash;
use crate::tables::open_groups;
use crate::tally::Tally;

/// Originals of a page that are asked for its common labels.
const RANKS: usize = 64;
/// Where the chunks of a page begin in the order of what is said about it.
pub(super) const BLOCKS: u64 = 1 << 40;
/// Chunks that travel together.
const BLOCK: usize = 512;
/// Behind this in the tally of neighbourhoods stand the levels.
pub(super) const LEVELS: u64 = 10_000;

/// A page that has labels.
#[derive(Serialize, Deserialize)]
pub(super) struct Scored {
    pub(super) chunks: u32,
    pub(super) stopped: u32,
    pub(super) matched: u32,
}

/// What a page took from an original. Several of these add up.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Took {
    pub(super) chunks: u32,
    pub(super) labels: u32,
}

/// The same, with the name of the original.
#[derive(Serialize, Deserialize)]
pub(super) struct TookNamed {
    pub(super) original: u32,
    pub(super) name: String,
    pub(super) of_labels: u64,
    pub(super) chunks: u32,
    pub(super) labels: u32,
}

/// A neighbourhood that has labels, on its way to its name.
#[derive(Serialize, Deserialize)]
pub(super) struct Gathered {
    pub(super) depth: u32,
    pub(super) pages: u64,
    pub(super) chunks: u64,
    pub(super) matched: u64,
    pub(super) mean: u64,
    pub(super) ratio: u64,
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>, params: &DetectParams) {
    score(registry);
    common(registry);
    place(registry);
    original_names(registry);
    neighbours(registry, source, params);
}

/// A label of a page, how many chunks of the page are it, and where its originals stand in a list.
#[derive(Debug, Clone, Copy)]
struct Matched {
    label: u32,
    chunks: u32,
    from: usize,
    to: usize,
}

/// Gives every matched label to one original. The original that has most of the chunks comes first;
/// of several, the lowest number.
fn assign(labels: &[Matched], originals: &[u32]) -> Vec<Option<u32>> {
    let of = |label: &Matched| originals.get(label.from..label.to).unwrap_or_default();
    let mut given = vec![None; labels.len()];
    // The usual case: nothing to choose.
    if let Some(&only) = originals.first()
        && originals.iter().all(|&other| other == only)
    {
        given.fill(Some(only));
        return given;
    }
    let mut holders: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for (at, label) in labels.iter().enumerate() {
        for &original in of(label) {
            holders.entry(original).or_default().push(at);
            *counts.entry(original).or_default() += u64::from(label.chunks);
        }
    }
    // By how many chunks an original had when it was last looked at, which is never too few.
    let mut queue: BTreeSet<(Reverse<u64>, u32)> = counts
        .iter()
        .map(|(&original, &count)| (Reverse(count), original))
        .collect();
    while let Some((Reverse(expected), original)) = queue.pop_first() {
        let now = counts.get(&original).copied().unwrap_or(0);
        if now == 0 {
            continue;
        }
        if now < expected {
            queue.insert((Reverse(now), original));
            continue;
        }
        for at in holders.remove(&original).unwrap_or_default() {
            let (Some(label), Some(slot)) = (labels.get(at), given.get_mut(at)) else {
                continue;
            };
            if slot.is_some() {
                continue;
            }
            *slot = Some(original);
            for other in of(label) {
                if let Some(count) = counts.get_mut(other) {
                    *count -= u64::from(label.chunks);
                }
            }
        }
    }
    given
}

fn score(registry: &mut Registry) {
    registry.reduce::<AboutPage, _>("score", |context, groups| {
        let tally = context.state::<Tally>("page moments")?;
        let named = context.state::<Bitmap>(NAMED)?;
        let known = context.state::<Bitmap>("known originals")?;
        let mut rows = context.wide_shuffle("page rows")?;
        let mut by_original = context.wide_shuffle("by original")?;
        let mut places = context.shuffle::<AboutPage>("places")?;
        let mut asked = context.shuffle::<Asked>("asked")?;
        let mut scores = context.shuffle::<PagePrefix>("scored")?;
        let mut moments = Moments::new(Kind::Page);
        let (mut labels, mut originals) = (Vec::<Matched>::new(), Vec::<u32>::new());
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
                    _ => labels.push(Matched {
                        label,
                        chunks,
                        from,
                        to: from + 1,
                    }),
                }
            }
            let [chunks, stopped, matched] = counts;
            context.count("pages", 1);
            // A page with no chunks left has no score.
            let left = chunks.saturating_sub(stopped);
            if left > 0 {
                context.count("scored", 1);
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
            let mut taken: BTreeMap<u32, Took> = BTreeMap::new();
            for (label, original) in labels.iter().zip(assign(&labels, &originals)) {
                let Some(original) = original else {
                    continue;
                };
                let took = taken.entry(original).or_default();
                took.chunks += label.chunks;
                took.labels += 1;
                places.push(AboutPage {
                    page,
                    kind: ASSIGNED,
                    numbers: [label.label, original, 0, 0],
                })?;
            }
            for (&original, took) in &taken {
                known.set(u64::from(original));
                let order = ROW + u64::from(page);
                by_original.push_numbered(
                    u64::from(original),
                    order,
                    &serde_json::to_vec(took)?,
                )?;
            }
            if !common.is_empty() {
                let mut first: Vec<(Reverse<u32>, u32)> = taken
                    .iter()
                    .map(|(&original, took)| (Reverse(took.chunks), original))
                    .collect();
                first.sort_unstable();
                for &(label, chunks) in &common {
                    context.count("common chunks", u64::from(chunks));
                    for (rank, &(_, original)) in (0..).zip(first.iter().take(RANKS)) {
                        asked.push(Asked {
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
            let row = serde_json::to_vec(&Scored {
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

/// Which of a page's originals has its common labels.
fn common(registry: &mut Registry) {
    registry.reduce::<Asked, _>("common", |context, groups| {
        let mut answers = context.shuffle::<Answer>("answers")?;
        while let Some(group) = groups.next_group()? {
            let mut has = None;
            for row in group {
                if row.kind == ORIGIN {
                    has = Some(row.original);
                } else if has == Some(row.original) {
                    answers.push(Answer {
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
    registry.reduce::<Answer, _>("attribute common", |context, groups| {
        let mut by_original = context.wide_shuffle("by original")?;
        let mut places = context.shuffle::<AboutPage>("places")?;
        while let Some(group) = groups.next_group()? {
            let mut last = None;
            for row in group {
                // The first of the page's originals that has it.
                if last.replace(row.label) == Some(row.label) {
                    continue;
                }
                context.count("attributed common chunks", u64::from(row.chunks));
                places.push(AboutPage {
                    page: row.page,
                    kind: ASSIGNED,
                    numbers: [row.label, row.original, 0, 0],
                })?;
                let took = serde_json::to_vec(&Took {
                    chunks: row.chunks,
                    labels: 1,
                })?;
                let order = ROW + u64::from(row.page);
                by_original.push_numbered(u64::from(row.original), order, &took)?;
            }
        }
        Ok(())
    });
}

/// A chunk that is a label, in a block: its ordinal, begin, end, label, and the original plus one,
/// or 0.
pub(super) type Chunk = [u32; 5];

/// Puts the chunks of a page and their originals together, some at a time: a page may have
/// millions.
fn place(registry: &mut Registry) {
    registry.reduce::<AboutPage, _>("place", |context, groups| {
        let mut rows = context.wide_shuffle("page rows")?;
        let mut assigned: Vec<(u32, u32)> = Vec::new();
        let mut block: Vec<Chunk> = Vec::with_capacity(BLOCK);
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
    registry.map("original names", |context| {
        let task: GroupTask = context.task()?;
        let known = context.state::<Bitmap>("known originals")?;
        let mut by_original = context.wide_shuffle("by original")?;
        for batch in open_groups(&task.file, task.group)? {
            let rows = original_rows(&batch?)
                .ok_or_else(|| Error::corrupted(&task.file, "it is not a table of originals"))?;
            for row in rows {
                if known.get(u64::from(row.original)) {
                    let name = serde_json::to_vec(&(&row.page, row.labels))?;
                    by_original.push_numbered(u64::from(row.original), 0, &name)?;
                }
            }
        }
        Ok(())
    });
    registry.reduce("taken", |context, groups| {
        let mut rows = context.wide_shuffle("page rows")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            let original = u32::try_from(group.number())?;
            let mut name: Option<(String, u64)> = None;
            // What is said of one page stands together.
            let mut sum: Option<(u64, Took)> = None;
            let mut flush = |sum: Option<(u64, Took)>, name: &Option<(String, u64)>| {
                let Some((page, took)) = sum else {
                    return Ok(());
                };
                let Some((name, of_labels)) = name else {
                    return Err(StageError::from(format!("original {original} has no name")));
                };
                let row = serde_json::to_vec(&TookNamed {
                    original,
                    name: name.clone(),
                    of_labels: *of_labels,
                    chunks: took.chunks,
                    labels: took.labels,
                })?;
                // The original that gave most comes first.
                let order = ROW + 1 + u64::from(u32::MAX - took.chunks);
                rows.push_numbered(page, order, &row)?;
                Ok(())
            };
            for record in group {
                if record.order == 0 {
                    name = Some(serde_json::from_slice(&record.value)?);
                    continue;
                }
                let took: Took = serde_json::from_slice(&record.value)?;
                let page = record.order - ROW;
                match &mut sum {
                    Some((of, sum)) if *of == page => {
                        sum.chunks += took.chunks;
                        sum.labels += took.labels;
                    }
                    _ => {
                        flush(sum.take(), &name)?;
                        sum = Some((page, took));
                    }
                }
            }
            flush(sum.take(), &name)?;
        }
        Ok(())
    });
}

fn neighbours(registry: &mut Registry, source: &Arc<CorpusPages>, params: &DetectParams) {
    let (pages, depth) = (Arc::clone(source), params.depth.unwrap_or(u32::MAX));
    registry.map("prefixes of pages", move |context| {
        let mut scored = context.shuffle::<PagePrefix>("scored")?;
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
    registry.reduce::<PagePrefix, _>("neighbours", |context, groups| {
        let mut by_prefix = context.shuffle::<Neighbour>("by prefix")?;
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
    registry.reduce::<Neighbour, _>("gather", |context, groups| {
        let tally = context.state::<Tally>("moments")?;
        let named = context.state::<Bitmap>(NAMED)?;
        let mut bad = context.wide_shuffle("bad")?;
        let (mut means, mut ratios) = (Moments::new(Kind::Mean), Moments::new(Kind::Ratio));
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
            context.count("neighbourhoods", 1);
            context.count("sites", u64::from(depth == 1));
            if matched > 0 {
                named.set(u64::from(page));
                let row = serde_json::to_vec(&Gathered {
                    depth,
                    pages,
                    chunks,
                    matched,
                    mean,
                    ratio,
                })?;
                bad.push_numbered(u64::from(page), ROW, &row)?;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: again and again the original with most of what is left.
    fn naive(labels: &[(u32, Vec<u32>)]) -> Vec<Option<u32>> {
        let mut given = vec![None; labels.len()];
        loop {
            let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
            for ((chunks, originals), given) in labels.iter().zip(&given) {
                if given.is_none() {
                    originals
                        .iter()
                        .for_each(|&original| *counts.entry(original).or_default() += chunks);
                }
            }
            let best = counts
                .iter()
                .max_by_key(|&(&original, &count)| (count, Reverse(original)));
            let Some((&best, _)) = best else {
                return given;
            };
            for ((_, originals), given) in labels.iter().zip(&mut given) {
                if given.is_none() && originals.contains(&best) {
                    *given = Some(best);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn originals_are_taken_as_a_cover_is(
            labels in proptest::collection::vec((1u32..4, proptest::collection::btree_set(0u32..8, 1..5)), 0..20)
        ) {
            let labels: Vec<(u32, Vec<u32>)> = labels.into_iter().map(|(chunks, set)| (chunks, set.into_iter().collect())).collect();
            let mut originals = Vec::new();
            let mut matched = Vec::new();
            for (label, (chunks, list)) in (0..).zip(&labels) {
                let from = originals.len();
                originals.extend(list);
                matched.push(Matched { label, chunks: *chunks, from, to: originals.len() });
            }
            prop_assert_eq!(assign(&matched, &originals), naive(&labels));
        }
    }
}
