//! Which pages share enough chunks to be replicas of each other, without all pairs of pages that
//! do.
//!
//! ```text
//!   text ─ cut ─▶ by chunk ─ shared ─▶ by page ─ sign ─┬▶ by signature ─ group ─▶ groups        pages with the same shared chunks
//!                                                      └▶ by shared chunk ─ spread groups ─┬▶ by strip ─ count ─▶ pairs
//!                                                                                          └▶ hot ─ hot pages ─▶ hot sets
//! ```
//!
//! Three steps keep the result exact and the work far below that of all pairs:
//!
//! 1. A chunk on one page connects nothing. Pages whose *shared* chunks are the same set are
//!    replicas of each other if they are enough, and replicas of the same others: they are one
//!    *group*, and its first page stands for all. A template filled in ten thousand times is one
//!    group.
//! 2. A chunk that more than [`HOT`] groups have is *hot* and brings no pairs together. Most pages
//!    have fewer hot chunks than make a replica, so two of them that are replicas share another
//!    chunk too, by which they meet; the pairs that meet are listed with what they share, if hot
//!    chunks could make up for the rest.
//! 3. Groups with the same hot chunks form a *hot set*. What sets have in common is added when
//!    pairs are resolved (`resolve`), where sets with enough hot chunks in common make replicas of
//!    all their pages, counted and never listed.

use std::path::Path;
use std::sync::Arc;

use cento_flow::{Bitmap, Context, Flow, Groups, Registry, Stage, StageError, table_row};
use serde_json::json;

use super::super::cut;
use super::super::order::Order;
use super::super::params::Params;
use super::super::rows::{HashPage, Held, Pair, Posting};
use super::super::stages::{self, Attribution, Plan, Spreader, bits, count_strip, for_each_sum};
use super::super::{PAIRS, counting, opening};
use crate::corpus_pages::CorpusPages;
use crate::error::Result;
use crate::numbers::{Numbers, UNSET};

/// Groups that a chunk may have before it is hot. A chunk of g groups is looked at g²/2 times, so
/// this bounds the time.
pub(super) const HOT: u32 = 1_000;
/// Tables.
pub(super) const COPIES: &str = "same_text";
pub(super) const GROUPS: &str = "groups";
pub(super) const SETS: &str = "sets";
pub(super) const SET_CHUNKS: &str = "set_chunks";
/// Shuffles and states.
const BY_PAGE: &str = "by page";
const BY_SIGNATURE: &str = "by signature";
const BY_SHARED: &str = "by shared chunk";
const HOT_CHUNKS: &str = "hot chunks";
const HOT_LISTS: &str = "lists of hot chunks";
const BY_HOT_SIGNATURE: &str = "by hot signature";
const GROUPED: &str = "grouped";
const HOT_COUNTS: &str = "numbers of hot chunks";
const SET_OF: &str = "hot set of";

table_row! {
    /// A page, and the first of those that it is like; pages by rank.
    pub struct LikeRow {
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
    /// Two groups and the chunks that they share without hot ones.
    pub struct NumberRow {
        /// The first page of the one, by rank.
        pub left: u32,
        /// The first page of the other, a higher rank.
        pub right: u32,
        /// Distinct chunks that both have and that are not hot.
        pub chunks: u32,
    }
}

/// How many chunks make a replica, and what hot chunks a page has.
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

    /// Chunks that a pair with this page must share beside hot ones, and at least one by which it
    /// meets.
    fn least(&self, page: u32) -> u32 {
        self.threshold.saturating_sub(self.hot(page)).max(1)
    }

    /// Whether two pages may be replicas, and are not so already because they have the same hot
    /// chunks and enough of them.
    fn may_be(&self, pair: Pair) -> bool {
        let [left, right] = [pair.left, pair.right];
        let same_set = self.set_of.get(left) == self.set_of.get(right);
        pair.chunks >= self.least(left).max(self.least(right))
            && !(same_set && self.hot(left) >= self.threshold)
    }
}

/// The first 128 bits of a hash of numbers.
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
    params: &Params,
    order: &Arc<Order>,
    temp: &Path,
) {
    stages::register_reading(registry, source, params, order);
    stages::register_counting(registry, temp);
    registry.reduce::<HashPage, _>("collapse ranks", |context, groups| {
        let copies = context.state::<Bitmap>(stages::COPIES)?;
        let mut table = context.table::<LikeRow>(COPIES)?;
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next() else { continue };
            for copy in group {
                copies.set(u64::from(copy.page));
                table.push(LikeRow {
                    page: copy.page,
                    first: first.page,
                })?;
            }
        }
        Ok(())
    });
    registry.reduce::<HashPage, _>("shared", shared);
    registry.reduce::<Held, _>("sign", sign);
    registry.reduce::<HashPage, _>("group", |context, groups| {
        let grouped = context.state::<Bitmap>(GROUPED)?;
        let mut table = context.table::<LikeRow>(GROUPS)?;
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next() else { continue };
            for row in group {
                grouped.set(u64::from(row.page));
                table.push(LikeRow {
                    page: row.page,
                    first: first.page,
                })?;
            }
        }
        Ok(())
    });
    registry.reduce::<Posting, _>("spread groups", spread_groups);
    registry.reduce::<Held, _>("hot pages", |context, groups| {
        let hot = context.state::<Numbers>(HOT_COUNTS)?;
        let mut signatures = context.shuffle::<HashPage>(BY_HOT_SIGNATURE)?;
        let mut lists = context.shuffle::<Held>(HOT_LISTS)?;
        let mut chunks: Vec<u64> = Vec::new();
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            chunks.clear();
            chunks.extend(group.map(|row| row.chunk));
            hot.set(page, chunks.len() as u32);
            signatures.push(HashPage::new(signature(&chunks), page))?;
            lists.extend(chunks.iter().map(|&chunk| Held { chunk, page }))?;
        }
        Ok(())
    });
    registry.reduce::<HashPage, _>("hot sets", |context, groups| {
        let set_of = context.state::<Numbers>(SET_OF)?;
        let mut table = context.table::<LikeRow>(SETS)?;
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next() else { continue };
            for row in std::iter::once(first).chain(group) {
                set_of.set(row.page, first.page);
                table.push(LikeRow {
                    page: row.page,
                    first: first.page,
                })?;
            }
        }
        Ok(())
    });
    registry.reduce::<Held, _>("chunks of hot sets", |context, groups| {
        let set_of = context.state::<Numbers>(SET_OF)?;
        let mut table = context.table::<SetChunkRow>(SET_CHUNKS)?;
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
    registry.reduce::<Posting, _>("count groups", move |context, groups| {
        let plan: Plan = context.parameters()?;
        let enough = Enough::new(context, plan.threshold)?;
        count_strip(context, groups, &temp, |left| enough.least(left), None)
    });
    registry.reduce::<Pair, _>("sum groups", |context, groups| {
        let enough = Enough::new(context, context.parameters()?)?;
        let mut table = context.table::<NumberRow>(PAIRS)?;
        for_each_sum(groups, |pair| {
            if enough.may_be(pair) {
                table.push(NumberRow {
                    left: pair.left,
                    right: pair.right,
                    chunks: pair.chunks,
                })?;
            }
            Ok(())
        })
    });
}

/// The chunks that several pages have, numbered. Numbers are spread over all 64 bits, as the ranges
/// of a shuffle need it.
fn shared(
    context: &Context<'_>,
    groups: &mut Groups<'_, HashPage>,
) -> std::result::Result<(), StageError> {
    let mut pages = context.shuffle::<Held>(BY_PAGE)?;
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
                pages.push(Held {
                    chunk,
                    page: first.page,
                })?;
            }
            pages.push(Held {
                chunk,
                page: row.page,
            })?;
        }
    }
    Ok(())
}

/// Pages that share enough chunks to have replicas at all, by their signatures and by their chunks.
fn sign(
    context: &Context<'_>,
    groups: &mut Groups<'_, Held>,
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
    let plan: Plan = context.parameters()?;
    let grouped = context.state::<Bitmap>(GROUPED)?;
    let mut strips = context.shuffle::<Posting>(stages::BY_STRIP)?;
    let mut hot = context.shuffle::<Held>(HOT_CHUNKS)?;
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
                hot.push(Held {
                    chunk,
                    page: row.page,
                })?;
            }
        }
        if pages.len() > limit {
            hot_chunks += 1;
            hot.extend(pages.iter().map(|&page| Held { chunk, page }))?;
        } else if pages.len() > 1 {
            spreader.spread(&pages, &mut strips)?;
        }
    }
    context.count("hot chunks", hot_chunks);
    Ok(())
}

/// The flow for one notion of a replica. `plan` says how many chunks make one, and when a chunk is
/// hot.
pub(super) fn flow(source: &CorpusPages, params: &Params, plan: Plan) -> Result<Flow> {
    let pages = bits(plan.width);
    let bitmap = json!({ "bytes": u64::from(source.all()).div_ceil(8).max(8) });
    let numbers = json!({ "pages": source.kept() });
    let flow = counting(Flow::new("replicas"), plan)
        .shuffle(stages::BY_TEXT)
        .shuffle_of_numbers(BY_PAGE, pages)
        .shuffle(BY_SIGNATURE)
        .shuffle(BY_SHARED)
        .shuffle_of_numbers(HOT_CHUNKS, pages)
        .shuffle_of_numbers(HOT_LISTS, pages)
        .shuffle(BY_HOT_SIGNATURE)
        .state(stages::COPIES, "bitmap", bitmap.clone())
        .state(GROUPED, "bitmap", bitmap)
        .state(HOT_COUNTS, "numbers", numbers.clone())
        .state(SET_OF, "numbers", numbers)
        .table(COPIES)
        .table(GROUPS)
        .table(SETS)
        .table(SET_CHUNKS)
        .table(PAIRS);
    Ok(flow
        .stage(
            opening(Stage::map("texts", source.page_tasks()))
                .with(source.identity())
                .writes(stages::COPIES)
                .writes(GROUPED)
                .writes(HOT_COUNTS)
                .writes(SET_OF)
                .writes(stages::BY_TEXT),
        )
        .stage(
            Stage::reduce("collapse ranks", stages::BY_TEXT)
                .writes(stages::COPIES)
                .writes(COPIES),
        )
        .stage(
            Stage::map("cut", cut::tasks(source, params.chunk)?)
                .with(json!(Attribution::Ranks))
                .reads(stages::COPIES)
                .writes(stages::BY_CHUNK),
        )
        .stage(Stage::reduce("shared", stages::BY_CHUNK).writes(BY_PAGE))
        .stage(
            Stage::reduce("sign", BY_PAGE)
                .with(json!(plan.threshold))
                .writes(BY_SIGNATURE)
                .writes(BY_SHARED),
        )
        .stage(
            Stage::reduce("group", BY_SIGNATURE)
                .writes(GROUPED)
                .writes(GROUPS),
        )
        .stage(
            Stage::reduce("spread groups", BY_SHARED)
                .with(json!(plan))
                .reads(GROUPED)
                .writes(stages::BY_STRIP)
                .writes(HOT_CHUNKS),
        )
        .stage(
            Stage::reduce("hot pages", HOT_CHUNKS)
                .writes(HOT_COUNTS)
                .writes(BY_HOT_SIGNATURE)
                .writes(HOT_LISTS),
        )
        .stage(
            Stage::reduce("hot sets", BY_HOT_SIGNATURE)
                .writes(SET_OF)
                .writes(SETS),
        )
        .stage(
            Stage::reduce("chunks of hot sets", HOT_LISTS)
                .reads(SET_OF)
                .writes(SET_CHUNKS),
        )
        .stage(
            Stage::reduce("count groups", stages::BY_STRIP)
                .with(json!(plan))
                .reads(stages::RESERVE)
                .reads(HOT_COUNTS)
                .reads(SET_OF)
                .writes(stages::PAIRS),
        )
        .stage(
            Stage::reduce("sum groups", stages::PAIRS)
                .with(json!(plan.threshold))
                .reads(HOT_COUNTS)
                .reads(SET_OF)
                .writes(PAIRS),
        ))
}
