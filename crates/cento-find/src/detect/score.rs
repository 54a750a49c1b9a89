//! From matches to scores: partial targets, the originals behind them, and neighbourhoods.
//!
//! ```text
//!   by page ─ score ─▶ page rows, by original, moments, left, hits       originals ─ original names ─▶ by original
//!   pages, left, hits ─ neighbours ─▶ by prefix ─ gather ─▶ bad, moments
//! ```
//!
//! A label may be on several originals, and which of them a page took it from, the label does not tell. So originals are taken as
//! a cover is: first the one that has most of the page's matched chunks, then the one that has most of the rest.

use std::collections::BTreeMap;
use std::sync::Arc;

use cento_flow::{Bitmap, Registry, StageError, WideGroups};
use cento_text::url::PageUrl;
use serde::{Deserialize, Serialize};

use super::matching::GroupTask;
use super::moments::{Kind, Moments, ONE, share};
use super::params::DetectParams;
use super::rows::{AboutPage, COUNTS, NOWHERE, Neighbour};
use crate::error::Error;
use crate::names::{NAMED, ROW};
use crate::numbers::{Numbers, UNSET};
use crate::provenance::original_rows;
use crate::sites::name_hash;
use crate::source::Source;
use crate::tables::open_groups;
use crate::tally::Tally;

/// A chunk that is a label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hit {
    pub(super) ordinal: u32,
    pub(super) begin: u32,
    pub(super) end: u32,
    pub(super) label: u32,
    /// The original that it is taken to come from.
    pub(super) original: u32,
}

/// A page that has labels.
#[derive(Serialize, Deserialize)]
pub(super) struct Scored {
    pub(super) chunks: u32,
    pub(super) stopped: u32,
    pub(super) matched: u32,
    pub(super) hits: Vec<Hit>,
}

/// What a page took from an original.
#[derive(Serialize, Deserialize)]
pub(super) struct Took {
    pub(super) page: u32,
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

pub(super) fn register(registry: &mut Registry, source: &Arc<Source>, params: &DetectParams) {
    score(registry);
    original_names(registry);
    neighbours(registry, source, params);
}

/// Gives every matched chunk to one original: `from` has, for each chunk, the originals that have it. The original that has most of
/// the chunks comes first; of several, the lowest number.
fn assign(from: &BTreeMap<u32, Vec<u32>>) -> BTreeMap<u32, u32> {
    let mut left: BTreeMap<u32, &Vec<u32>> = from.iter().map(|(&at, list)| (at, list)).collect();
    let mut holders: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&chunk, originals) in from {
        for &original in originals {
            holders.entry(original).or_default().push(chunk);
        }
    }
    let mut counts: BTreeMap<u32, usize> = holders
        .iter()
        .map(|(&original, chunks)| (original, chunks.len()))
        .collect();
    // By how many chunks an original had when it was last looked at, which is never too few.
    let mut queue: std::collections::BTreeSet<(std::cmp::Reverse<usize>, u32)> = counts
        .iter()
        .map(|(&original, &count)| (std::cmp::Reverse(count), original))
        .collect();
    let mut given = BTreeMap::new();
    while let Some((std::cmp::Reverse(expected), original)) = queue.pop_first() {
        let now = counts.get(&original).copied().unwrap_or(0);
        if now == 0 {
            continue;
        }
        if now < expected {
            queue.insert((std::cmp::Reverse(now), original));
            continue;
        }
        for &chunk in holders
            .get(&original)
            .map(Vec::as_slice)
            .unwrap_or_default()
        {
            if let Some(others) = left.remove(&chunk) {
                given.insert(chunk, original);
                for other in others {
                    if let Some(count) = counts.get_mut(other) {
                        *count -= 1;
                    }
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
        let left = context.state::<Numbers>("left")?;
        let hits = context.state::<Numbers>("hits")?;
        let known = context.state::<Bitmap>("known originals")?;
        let mut rows = context.wide_shuffle("page rows")?;
        let mut by_original = context.wide_shuffle("by original")?;
        let mut moments = Moments::new(Kind::Page);
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            let mut counts = [0u32; 3];
            let mut places: BTreeMap<u32, Hit> = BTreeMap::new();
            let mut from: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for row in group {
                let [a, b, c, d, e] = row.numbers;
                if row.kind == COUNTS {
                    for (sum, count) in counts.iter_mut().zip([a, b, c]) {
                        *sum += count;
                    }
                    continue;
                }
                places.insert(
                    a,
                    Hit {
                        ordinal: a,
                        label: b,
                        original: NOWHERE,
                        begin: d,
                        end: e,
                    },
                );
                if c != NOWHERE {
                    from.entry(a).or_default().push(c);
                }
            }
            let [chunks, stopped, matched] = counts;
            context.count("pages", 1);
            // A page with no chunks left has no score.
            let rest = chunks.saturating_sub(stopped);
            if rest > 0 {
                context.count("scored", 1);
                moments.add(share(u64::from(matched), u64::from(rest)));
                left.set(page, rest);
                hits.set(page, matched);
            }
            if matched == 0 {
                continue;
            }
            for (chunk, original) in assign(&from) {
                if let Some(hit) = places.get_mut(&chunk) {
                    hit.original = original;
                }
            }
            named.set(u64::from(page));
            let mut taken: BTreeMap<u32, (u32, std::collections::BTreeSet<u32>)> = BTreeMap::new();
            for hit in places.values().filter(|hit| hit.original != NOWHERE) {
                let entry = taken.entry(hit.original).or_default();
                entry.0 += 1;
                entry.1.insert(hit.label);
            }
            for (original, (chunks, labels)) in taken {
                known.set(u64::from(original));
                let took = serde_json::to_vec(&Took {
                    page,
                    chunks,
                    labels: labels.len() as u32,
                })?;
                by_original.push_numbered(u64::from(original), ROW, &took)?;
            }
            let row = serde_json::to_vec(&Scored {
                chunks,
                stopped,
                matched,
                hits: places.into_values().collect(),
            })?;
            rows.push_numbered(u64::from(page), ROW, &row)?;
        }
        moments.note(&tally, context.task_number());
        Ok(())
    });
}

fn original_names(registry: &mut Registry) {
    registry.map("original names", |context| {
        let task: GroupTask = context.task()?;
        let known = context.state::<Bitmap>("known originals")?;
        let mut by_original = context.wide_shuffle("by original")?;
        for batch in open_groups(&task.file, task.group)? {
            let rows = original_rows(&batch?).ok_or_else(|| {
                Error::Parameter(format!("{} is no table of originals", task.file.display()))
            })?;
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
            for record in group {
                if record.order == 0 {
                    name = Some(serde_json::from_slice(&record.value)?);
                    continue;
                }
                let Some((name, of_labels)) = &name else {
                    return Err(format!("original {original} has no name").into());
                };
                let took: Took = serde_json::from_slice(&record.value)?;
                let row = serde_json::to_vec(&TookNamed {
                    original,
                    name: name.clone(),
                    of_labels: *of_labels,
                    chunks: took.chunks,
                    labels: took.labels,
                })?;
                // The original that gave most comes first.
                let order = ROW + 1 + u64::from(u32::MAX - took.chunks);
                rows.push_numbered(u64::from(took.page), order, &row)?;
            }
        }
        Ok(())
    });
}

fn neighbours(registry: &mut Registry, source: &Arc<Source>, params: &DetectParams) {
    let (pages, depth) = (Arc::clone(source), params.depth.unwrap_or(u32::MAX));
    registry.map("neighbours", move |context| {
        let left = context.state::<Numbers>("left")?;
        let hits = context.state::<Numbers>("hits")?;
        let mut by_prefix = context.shuffle::<Neighbour>("by prefix")?;
        pages.for_each_page(context.task()?, |facts| {
            let rest = left.get(facts.number);
            if rest == UNSET {
                return Ok(());
            }
            let url = PageUrl::new(facts.url);
            for (level, prefix) in (1..=depth).zip(url.prefixes()) {
                by_prefix.push(Neighbour {
                    hash: name_hash(prefix),
                    page: facts.number,
                    depth: level,
                    matched: hits.get(facts.number),
                    left: rest,
                })?;
            }
            Ok::<_, StageError>(())
        })
    });
    registry.reduce::<Neighbour, _>("gather", |context, groups| {
        let tally = context.state::<Tally>("moments")?;
        let named = context.state::<Bitmap>(NAMED)?;
        let mut bad = context.wide_shuffle("bad")?;
        let (mut means, mut ratios) = (Moments::new(Kind::Mean), Moments::new(Kind::Ratio));
        while let Some(group) = groups.next_group()? {
            let (mut first, mut sum) = (None, 0u128);
            let (mut pages, mut chunks, mut matched) = (0u64, 0u64, 0u64);
            for row in group {
                first = first.or(Some((row.page, row.depth)));
                pages += 1;
                chunks += u64::from(row.left);
                matched += u64::from(row.matched);
                sum += u128::from(share(u64::from(row.matched), u64::from(row.left)));
            }
            let Some((page, depth)) = first else {
                continue;
            };
            let mean = (sum / u128::from(pages.max(1))) as u64;
            let ratio = share(matched, chunks);
            means.add(mean.min(ONE));
            ratios.add(ratio);
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
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: again and again the original with most of what is left.
    fn naive(from: &BTreeMap<u32, Vec<u32>>) -> BTreeMap<u32, u32> {
        let mut left: BTreeMap<u32, Vec<u32>> = from.clone();
        let mut given = BTreeMap::new();
        loop {
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            left.values()
                .flatten()
                .for_each(|&original| *counts.entry(original).or_default() += 1);
            let best = counts
                .iter()
                .max_by_key(|&(&original, &count)| (count, std::cmp::Reverse(original)));
            let Some((&best, _)) = best else {
                return given;
            };
            left.retain(|&chunk, originals| {
                let taken = originals.contains(&best);
                if taken {
                    given.insert(chunk, best);
                }
                !taken
            });
        }
    }

    proptest! {
        #[test]
        fn originals_are_taken_as_a_cover_is(
            from in proptest::collection::btree_map(0u32..30, proptest::collection::btree_set(0u32..8, 1..5), 0..20)
        ) {
            let from: BTreeMap<u32, Vec<u32>> = from.into_iter().map(|(chunk, set)| (chunk, set.into_iter().collect())).collect();
            prop_assert_eq!(assign(&from), naive(&from));
        }
    }
}
