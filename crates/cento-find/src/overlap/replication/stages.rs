//! Finds the pages that share enough chunks to be replicas, without listing all pairs.
//!
//! ```text
//!   text ─ cut ─▶ by chunk ─ shared ─▶ by page ─ sign ─┬▶ by signature ─ group ─▶ groups
//!                                                      └▶ by shared chunk ─ spread groups ─ …
//!   … ─┬▶ by strip ─ count groups ─ sum groups ─▶ pairs
//!      └▶ hot chunks ─ hot pages ─ hot sets ─▶ sets, set chunks
//! ```
//!
//! Three steps keep the result exact and the work far below that of all pairs:
//!
//! 1. A chunk on one page connects nothing. Pages with the same set of *shared* chunks are replicas
//!    of each other, if the set is large enough, and replicas of the same other pages: they form a
//!    *group*, which its first page represents. A template filled in ten thousand times is one
//!    group.
//! 2. A chunk of more than [`HOT`] groups is *hot* and generates no pairs. Most pages have fewer
//!    hot chunks than the threshold, so two of them that are replicas share another chunk, which
//!    generates the pair. A pair is listed with its count if hot chunks could make up the
//!    difference.
//! 3. Groups with the same hot chunks form a *hot set*. `resolve` adds the hot chunks that two sets
//!    have in common to the pairs; sets with enough common hot chunks make all their pages
//!    replicas, which are counted and never listed.

use std::path::Path;
use std::sync::Arc;

use cento_flow::{
    Bitmap, Context, Flow, Groups, Registry, Shuffle, Stage, StageError, TableName, table_row,
};
use serde_json::json;

use super::super::cut;
use super::super::overlap_rows::{HashPage, PageChunk, PairCount, Posting};
use super::super::page_order::PageOrder;
use super::super::params::OverlapParams;
use super::super::stage_names::{shuffle, stage, state};
use super::super::stages::{
    self, Attribution, CountingPlan, Spreader, bits, count_strip, for_each_sum,
};
use super::super::{counting, opening};
use super::HOT_CHUNKS;
use crate::corpus_pages::CorpusPages;
use crate::error::Result;
use crate::numbers::{Numbers, UNSET};

/// The number of groups above which a chunk is hot. A chunk of g groups generates g²/2 pairs, so
/// this bounds the time.
pub(super) const HOT: u32 = 1_000;
/// Pages with the text of an earlier page.
pub(super) const SAME_TEXT: TableName<LeaderRow> = TableName::new("same_text");
/// Pages of groups, except the first of each.
pub(super) const GROUPS: TableName<LeaderRow> = TableName::new("groups");
/// Pages of hot sets.
pub(super) const SETS: TableName<LeaderRow> = TableName::new("sets");
/// The chunks of hot sets.
pub(super) const SET_CHUNKS: TableName<SetChunkRow> = TableName::new("set_chunks");
/// Pairs of groups, in the order of their left pages.
pub(super) const GROUP_PAIRS: TableName<GroupPairRow> = TableName::new("pairs");
/// Shuffles and states.
const BY_PAGE: &str = "by page";
const BY_SIGNATURE: &str = "by signature";
const BY_SHARED: &str = "by shared chunk";
const HOT_LISTS: &str = "lists of hot chunks";
const BY_HOT_SIGNATURE: &str = "by hot signature";
const GROUPED: &str = "grouped";
const HOT_COUNTS: &str = "numbers of hot chunks";
const SET_OF: &str = "hot set of";

table_row! {
    /// A page and the page that represents it, both by rank.
    pub struct LeaderRow {
        /// The page.
        pub page: u32,
        /// The first page with the same text, shared chunks, or hot chunks.
        pub first: u32,
    }
}

table_row! {
    /// A chunk of a hot set.
    pub struct SetChunkRow {
        /// The set, by its first page.
        pub set: u32,
        /// The chunk, by number.
        pub chunk: u64,
    }
}

table_row! {
    /// Two groups and the number of chunks that both have, without hot ones.
    pub struct GroupPairRow {
        /// The first page of one group, by rank.
        pub left: u32,
        /// The first page of the other, of a higher rank.
        pub right: u32,
        /// Distinct chunks that both have, without hot ones.
        pub chunks: u32,
    }
}

/// The threshold, and the hot chunks of pages.
struct Enough {
    threshold: u32,
    hot: Arc<Numbers>,
    set_of: Arc<Numbers>,
}

impl Enough {
    fn new(context: &Context<'_>, threshold: u32) -> cento_flow::Result<Enough> {
        Ok(Enough {
            threshold,
            hot: context.state(HOT_COUNTS)?,
            set_of: context.state(SET_OF)?,
        })
    }

    fn hot(&self, page: u32) -> u32 {
        match self.hot.get(page) {
            UNSET => 0,
            count => count,
        }
    }

    /// Returns the least number of chunks that a pair with this page must share in addition to hot
    /// ones: at least one, which generates the pair.
    fn least(&self, page: u32) -> u32 {
        self.threshold.saturating_sub(self.hot(page)).max(1)
    }

    /// Whether two pages may be replicas, and are not known to be because they have the same hot
    /// chunks and enough of them.
    fn may_be(&self, pair: PairCount) -> bool {
        let [left, right] = [pair.left, pair.right];
        let same_set = self.set_of.get(left) == self.set_of.get(right);
        pair.chunks >= self.least(left).max(self.least(right))
            && !(same_set && self.hot(left) >= self.threshold)
    }
}

/// Returns a 128-bit hash of numbers.
fn signature(numbers: &[u64]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for number in numbers {
        hasher.update(&number.to_le_bytes());
    }
    let mut signature = [0; 16];
    hasher.finalize_xof().fill(&mut signature);
    signature
}

pub(super) fn register(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    params: &OverlapParams,
    order: &Arc<PageOrder>,
    temp: &Path,
) {
    stages::register_reading(registry, source, params, order);
    stages::register_counting(registry, temp);
    registry.reduce::<HashPage, _>(stage::COLLAPSE_RANKS, |context, groups| {
        let copies = context.state::<Bitmap>(state::COPIES)?;
        let mut table = context.table(SAME_TEXT)?;
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next() else { continue };
            for copy in group {
                copies.set(u64::from(copy.page));
                table.push(LeaderRow {
                    page: copy.page,
                    first: first.page,
                })?;
            }
        }
        Ok(())
    });
    registry.reduce::<HashPage, _>(stage::SHARED, shared);
    registry.reduce::<PageChunk, _>(stage::SIGN, sign);
    registry.reduce::<HashPage, _>(stage::GROUP, |context, groups| {
        let grouped = context.state::<Bitmap>(GROUPED)?;
        let mut table = context.table(GROUPS)?;
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next() else { continue };
            for row in group {
                grouped.set(u64::from(row.page));
                table.push(LeaderRow {
                    page: row.page,
                    first: first.page,
                })?;
            }
        }
        Ok(())
    });
    registry.reduce::<Posting, _>(stage::SPREAD_GROUPS, spread_groups);
    registry.reduce::<PageChunk, _>(stage::HOT_PAGES, |context, groups| {
        let hot = context.state::<Numbers>(HOT_COUNTS)?;
        let mut signatures = context.shuffle::<HashPage>(BY_HOT_SIGNATURE)?;
        let mut lists = context.shuffle::<PageChunk>(HOT_LISTS)?;
        let mut chunks: Vec<u64> = Vec::new();
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            chunks.clear();
            chunks.extend(group.map(|row| row.chunk));
            hot.set(page, chunks.len() as u32);
            signatures.push(HashPage::new(signature(&chunks), page))?;
            lists.extend(chunks.iter().map(|&chunk| PageChunk { chunk, page }))?;
        }
        Ok(())
    });
    registry.reduce::<HashPage, _>(stage::HOT_SETS, |context, groups| {
        let set_of = context.state::<Numbers>(SET_OF)?;
        let mut table = context.table(SETS)?;
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next() else { continue };
            for row in std::iter::once(first).chain(group) {
                set_of.set(row.page, first.page);
                table.push(LeaderRow {
                    page: row.page,
                    first: first.page,
                })?;
            }
        }
        Ok(())
    });
    registry.reduce::<PageChunk, _>(stage::CHUNKS_OF_HOT_SETS, |context, groups| {
        let set_of = context.state::<Numbers>(SET_OF)?;
        let mut table = context.table(SET_CHUNKS)?;
        while let Some(group) = groups.next_group()? {
            let set = group.key();
            if set_of.get(set) != set {
                continue;
            }
            for row in group {
                table.push(SetChunkRow {
                    set,
                    chunk: row.chunk,
                })?;
            }
        }
        Ok(())
    });
    let temp = temp.to_owned();
    registry.reduce::<Posting, _>(stage::COUNT_GROUPS, move |context, groups| {
        let plan: CountingPlan = context.parameters()?;
        let enough = Enough::new(context, plan.threshold)?;
        count_strip(context, groups, &temp, |left| enough.least(left), None)
    });
    registry.reduce::<PairCount, _>(stage::SUM_GROUPS, |context, groups| {
        let enough = Enough::new(context, context.parameters()?)?;
        let mut table = context.table(GROUP_PAIRS)?;
        for_each_sum(groups, |pair| {
            if enough.may_be(pair) {
                table.push(GroupPairRow {
                    left: pair.left,
                    right: pair.right,
                    chunks: pair.chunks,
                })?;
            }
            Ok(())
        })
    });
}

/// Numbers the chunks that are on several pages. The numbers are spread over all 64 bits, because
/// shuffles partition by range.
fn shared(
    context: &Context<'_>,
    groups: &mut Groups<'_, HashPage>,
) -> std::result::Result<(), StageError> {
    let mut pages = context.shuffle::<PageChunk>(BY_PAGE)?;
    let mut number = (context.task_number() as u64) << 40;
    while let Some(mut group) = groups.next_group()? {
        number += 1;
        let chunk = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let Some(first) = group.next() else { continue };
        let mut last = first.page;
        let mut alone = true;
        for row in group {
            if row.page == last {
                continue;
            }
            last = row.page;
            if alone {
                alone = false;
                pages.push(PageChunk {
                    chunk,
                    page: first.page,
                })?;
            }
            pages.push(PageChunk {
                chunk,
                page: row.page,
            })?;
        }
    }
    Ok(())
}

/// Writes the pages that have enough shared chunks to have replicas, by signature and by chunk.
fn sign(
    context: &Context<'_>,
    groups: &mut Groups<'_, PageChunk>,
) -> std::result::Result<(), StageError> {
    let threshold: u32 = context.parameters()?;
    let mut signatures = context.shuffle::<HashPage>(BY_SIGNATURE)?;
    let mut chunks_of = context.shuffle::<Posting>(BY_SHARED)?;
    let mut chunks: Vec<u64> = Vec::new();
    while let Some(group) = groups.next_group()? {
        let page = group.key();
        chunks.clear();
        chunks.extend(group.map(|row| row.chunk));
        if chunks.len() < threshold as usize {
            continue;
        }
        signatures.push(HashPage::new(signature(&chunks), page))?;
        chunks_of.extend(chunks.iter().map(|&key| Posting { key, page }))?;
    }
    Ok(())
}

fn spread_groups(
    context: &Context<'_>,
    groups: &mut Groups<'_, Posting>,
) -> std::result::Result<(), StageError> {
    let plan: CountingPlan = context.parameters()?;
    let grouped = context.state::<Bitmap>(GROUPED)?;
    let mut strips = context.shuffle::<Posting>(shuffle::BY_STRIP)?;
    let mut hot = context.shuffle::<PageChunk>(HOT_CHUNKS)?;
    let mut spreader = Spreader::new(plan.strips, context.task_number());
    let limit = plan.max_pages as usize;
    let mut pages: Vec<u32> = Vec::new();
    let mut hot_chunks = 0;
    while let Some(group) = groups.next_group()? {
        let chunk = group.key();
        pages.clear();
        for row in group {
            if grouped.get(u64::from(row.page)) {
                continue;
            }
            if pages.len() <= limit {
                pages.push(row.page);
            } else {
                hot.push(PageChunk {
                    chunk,
                    page: row.page,
                })?;
            }
        }
        if pages.len() > limit {
            hot_chunks += 1;
            hot.extend(pages.iter().map(|&page| PageChunk { chunk, page }))?;
        } else if pages.len() > 1 {
            spreader.spread(&pages, &mut strips)?;
        }
    }
    context.count(HOT_CHUNKS, hot_chunks);
    Ok(())
}

/// Returns the bytes of the states of the flow, apart from the reserve of strips.
pub(super) fn state_bytes(source: &CorpusPages) -> u64 {
    let bitmap = u64::from(source.all()).div_ceil(8).max(8);
    2 * bitmap + 2 * 4 * u64::from(source.kept())
}

/// Returns the flow of one notion of a replica. `plan` has its threshold, and the number of pages
/// above which a chunk is hot.
pub(super) fn flow(
    source: &CorpusPages,
    params: &OverlapParams,
    plan: CountingPlan,
) -> Result<Flow> {
    let pages = bits(plan.width);
    let bitmap = json!({ "bytes": u64::from(source.all()).div_ceil(8).max(8) });
    let numbers = json!({ "pages": source.kept() });
    // Chunks are numbered by partition.
    let by_chunk = Shuffle {
        fixed: true,
        ..Shuffle::default()
    };
    let flow = counting(Flow::new("replicas"), plan)
        .shuffle_with(shuffle::BY_CHUNK, by_chunk)
        .shuffle(shuffle::BY_TEXT)
        .shuffle_of_numbers(BY_PAGE, pages)
        .shuffle(BY_SIGNATURE)
        .shuffle(BY_SHARED)
        .shuffle_of_numbers(HOT_CHUNKS, pages)
        .shuffle_of_numbers(HOT_LISTS, pages)
        .shuffle(BY_HOT_SIGNATURE)
        .state(state::COPIES, "bitmap", bitmap.clone())
        .state(GROUPED, "bitmap", bitmap)
        .state(HOT_COUNTS, Numbers::KIND, numbers.clone())
        .state(SET_OF, Numbers::KIND, numbers)
        .table(SAME_TEXT)
        .table(GROUPS)
        .table(SETS)
        .table(SET_CHUNKS)
        .table(GROUP_PAIRS);
    Ok(flow
        .stage(
            opening(Stage::map(stage::TEXTS, source.page_tasks()))
                .with(source.identity())
                .reserves(state::COPIES)
                .reserves(GROUPED)
                .reserves(HOT_COUNTS)
                .reserves(SET_OF)
                .writes(shuffle::BY_TEXT),
        )
        .stage(
            Stage::reduce(stage::COLLAPSE_RANKS, shuffle::BY_TEXT)
                .writes(state::COPIES)
                .writes(SAME_TEXT.as_str()),
        )
        .stage(
            Stage::map(stage::CUT, cut::tasks(source, params.chunk)?)
                .with(json!(Attribution::Ranks))
                .reads(state::COPIES)
                .writes(shuffle::BY_CHUNK),
        )
        .stage(Stage::reduce(stage::SHARED, shuffle::BY_CHUNK).writes(BY_PAGE))
        .stage(
            Stage::reduce(stage::SIGN, BY_PAGE)
                .with(json!(plan.threshold))
                .writes(BY_SIGNATURE)
                .writes(BY_SHARED),
        )
        .stage(
            Stage::reduce(stage::GROUP, BY_SIGNATURE)
                .writes(GROUPED)
                .writes(GROUPS.as_str()),
        )
        .stage(
            Stage::reduce(stage::SPREAD_GROUPS, BY_SHARED)
                .with(json!(plan))
                .reads(GROUPED)
                .writes(shuffle::BY_STRIP)
                .writes(HOT_CHUNKS),
        )
        .stage(
            Stage::reduce(stage::HOT_PAGES, HOT_CHUNKS)
                .writes(HOT_COUNTS)
                .writes(BY_HOT_SIGNATURE)
                .writes(HOT_LISTS),
        )
        .stage(
            Stage::reduce(stage::HOT_SETS, BY_HOT_SIGNATURE)
                .writes(SET_OF)
                .writes(SETS.as_str()),
        )
        .stage(
            Stage::reduce(stage::CHUNKS_OF_HOT_SETS, HOT_LISTS)
                .reads(SET_OF)
                .writes(SET_CHUNKS.as_str()),
        )
        .stage(
            Stage::reduce(stage::COUNT_GROUPS, shuffle::BY_STRIP)
                .with(json!(plan))
                .reads(state::RESERVE)
                .reads(HOT_COUNTS)
                .reads(SET_OF)
                .writes(shuffle::PAIR_COUNTS),
        )
        .stage(
            Stage::reduce(stage::SUM_GROUPS, shuffle::PAIR_COUNTS)
                .with(json!(plan.threshold))
                .reads(HOT_COUNTS)
                .reads(SET_OF)
                .writes(GROUP_PAIRS.as_str()),
        ))
}
