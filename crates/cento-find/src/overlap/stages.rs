//! The stages of an overlap, from chunks to pairs of numbers.
//!
//! ```text
//!   pages ─ texts ─▶ by text ─ collapse ─▶ copies (pages with the text of an earlier page)
//!      or ─ names of servers ─▶ by server ─ number servers ─▶ numbers of servers
//!   text ── cut ──▶ by chunk ─ spread ─┬▶ by strip ─ count ─▶ pairs ─ sum ─▶ …
//!                                      ├▶ facts    chunks of each page
//!                                      └▶ common   chunks on too many pages
//! ```
//!
//! *Spread* sends the pages of a chunk to every *strip* that has one of them as a left page. Left
//! pages are assigned to strips round-robin, to balance the load. Strips are few, because a chunk
//! on many pages is sent to all of them. A strip that does not fit in the memory of its thread is
//! written to a file (`spilled_lists`) and counted in several passes, each over a part of its left
//! pages, so that the counts of a left page are always complete.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use cento_flow::{Bitmap, Context, Emitter, Groups, Registry, Row, StageError};
use serde::{Deserialize, Serialize};

use super::cut::{ChunkCutter, CutTask};
use super::overlap_rows::{
    CommonChunk, Contender, HashPage, PageCounts, PairCount, Posting, Reserve,
};
use super::page_order::PageOrder;
use super::params::{OverlapParams, Unit};
use super::spilled_lists::SpilledLists;
use super::stage_names::{counter, shuffle, stage, state};
use super::strip::{Effort, Strip};
use crate::corpus_pages::CorpusPages;
use crate::numbers::{Numbers, UNSET};

/// The most strips per thread.
pub(super) const STRIPS_A_THREAD: u64 = 4;
/// The most pages whose counts a task adds up before it flushes them.
const MOST_COUNTED: usize = 1 << 16;

/// The settings of the stages.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct CountingPlan {
    pub(super) threshold: u32,
    pub(super) max_pages: u32,
    pub(super) strips: u32,
    /// The memory of a strip, in bytes.
    pub(super) strip_bytes: u64,
    /// The memory of all strips that are counted at the same time, in bytes.
    pub(super) reserve: u64,
    /// The number of pages; page numbers are below it.
    pub(super) width: u32,
}

/// What a chunk is attributed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Attribution {
    /// Pages that do not repeat the text of an earlier page.
    Originals,
    /// Servers.
    Servers,
    /// The ranks of pages that do not repeat the text of an earlier page.
    Ranks,
}

/// Registers the stages that read a corpus.
pub(super) fn register_reading(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    params: &OverlapParams,
    order: &Arc<PageOrder>,
) {
    registry.state::<Numbers>(Numbers::KIND);
    let (unit, kind) = (params.unit, params.chunk);
    let (pages, ranks) = (Arc::clone(source), Arc::clone(order));
    // The pages of one text are grouped in the order of their ranks, and the earliest represents
    // all of them.
    registry.map(stage::TEXTS, move |context| {
        let mut rows = context.shuffle::<HashPage>(shuffle::BY_TEXT)?;
        pages.for_each_page::<StageError>(context.task()?, |facts| {
            let hash = facts.text_hash.filter(|_| facts.reject.is_none());
            match hash.and_then(|hash| hash.try_into().ok()) {
                Some(hash) => Ok(rows.push(HashPage::new(hash, ranks.rank(facts.number)))?),
                None => Ok(()),
            }
        })
    });
    let ranks = Arc::clone(order);
    registry.reduce::<HashPage, _>(stage::COLLAPSE, move |context, groups| {
        let copies = context.state::<Bitmap>(state::COPIES)?;
        let mut counts = context.shuffle::<PageCounts>(shuffle::PAGE_COUNTS)?;
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next() else { continue };
            let mut pages = 1;
            for copy in group {
                copies.set(u64::from(ranks.page(copy.page)));
                pages += 1;
            }
            context.count(counter::COPIES, u64::from(pages) - 1);
            counts.push(PageCounts {
                page: ranks.page(first.page),
                pages,
                ..PageCounts::default()
            })?;
        }
        Ok(())
    });
    let pages = Arc::clone(source);
    registry.map(stage::NAMES_OF_SERVERS, move |context| {
        let mut rows = context.shuffle::<HashPage>(shuffle::BY_SERVER)?;
        pages.for_each_page::<StageError>(context.task()?, |facts| {
            if facts.reject.is_some() {
                return Ok(());
            }
            let name = match unit {
                Unit::Domain => facts.domain,
                Unit::Host | Unit::Pages => facts.host,
            };
            let Some(name) = name else {
                context.count(counter::PAGES_WITHOUT_A_SERVER, 1);
                return Ok(());
            };
            let hash = cento_fingerprint::ChunkHash::Blake3.hash128(name.as_bytes());
            Ok(rows.push(HashPage::new(hash, facts.number))?)
        })
    });
    registry.reduce::<HashPage, _>(stage::NUMBER_SERVERS, |context, groups| {
        let servers = context.state::<Numbers>(state::SERVERS)?;
        let mut counts = context.shuffle::<PageCounts>(shuffle::PAGE_COUNTS)?;
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next() else { continue };
            servers.set(first.page, first.page);
            let mut pages = 1;
            for row in group {
                servers.set(row.page, first.page);
                pages += 1;
            }
            context.count(counter::SERVERS, 1);
            counts.push(PageCounts {
                page: first.page,
                pages,
                ..PageCounts::default()
            })?;
        }
        Ok(())
    });
    let (source, ranks) = (Arc::clone(source), Arc::clone(order));
    registry.map(stage::CUT, move |context| {
        let mut rows = context.shuffle::<HashPage>(shuffle::BY_CHUNK)?;
        let attribution: Attribution = context.parameters()?;
        let owner: Box<dyn Fn(u32) -> Option<u32>> = match attribution {
            Attribution::Originals => {
                let copies = context.state::<Bitmap>(state::COPIES)?;
                Box::new(move |page| (!copies.get(u64::from(page))).then_some(page))
            }
            Attribution::Servers => {
                let servers = context.state::<Numbers>(state::SERVERS)?;
                Box::new(move |page| Some(servers.get(page)).filter(|&first| first != UNSET))
            }
            Attribution::Ranks => {
                let (copies, ranks) = (context.state::<Bitmap>(state::COPIES)?, Arc::clone(&ranks));
                Box::new(move |page| {
                    let rank = ranks.rank(page);
                    (!copies.get(u64::from(rank))).then_some(rank)
                })
            }
        };
        match context.task()? {
            CutTask::Text(task) => {
                let mut cutter = ChunkCutter::new(&source, kind);
                let mut cut = Vec::new();
                source.for_each_text::<StageError>(&task, |page, text| {
                    if let Some(page) = owner(page) {
                        cutter.cut(text, |hash, _| cut.push(HashPage::new(hash, page)));
                        rows.extend(cut.drain(..))?;
                    }
                    Ok(())
                })
            }
            CutTask::Chunks(task) => {
                source.for_each_chunk::<StageError>(&task, |page, hash| {
                    match (owner(page), hash.try_into()) {
                        (Some(page), Ok(hash)) => Ok(rows.push(HashPage::new(hash, page))?),
                        _ => Ok(()),
                    }
                })
            }
        }
    });
}

/// Registers the stages from chunks to pairs of numbers.
pub(super) fn register_counting(registry: &mut Registry, temp: &Path) {
    registry.state::<Reserve>(Reserve::KIND);
    registry.reduce::<HashPage, _>(stage::SPREAD, spread);
    let temp = temp.to_owned();
    registry.reduce::<Posting, _>(stage::COUNT, move |context, groups| {
        count(context, groups, &temp)
    });
}

/// Adds up the counts of pages before they are flushed.
struct Sizes<'c, 'a> {
    context: &'c Context<'a>,
    counts: HashMap<u32, PageCounts>,
}

impl Sizes<'_, '_> {
    fn add(&mut self, page: u32, add: impl FnOnce(&mut PageCounts)) -> cento_flow::Result<()> {
        add(self.counts.entry(page).or_insert(PageCounts {
            page,
            ..PageCounts::default()
        }));
        if self.counts.len() > MOST_COUNTED {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> cento_flow::Result<()> {
        let mut counts = self.context.shuffle::<PageCounts>(shuffle::PAGE_COUNTS)?;
        counts.extend(self.counts.drain().map(|(_, counts)| counts))
    }
}

/// Sends the pages of a chunk to every strip that has one of them as a left page.
pub(super) struct Spreader {
    strips: u32,
    width: u128,
    chunk: u64,
    sent: Vec<bool>,
}

impl Spreader {
    /// Returns the spreader of one task. The keys of a strip are a range, in which chunks are
    /// numbered by task first.
    pub(super) fn new(strips: u32, task: usize) -> Spreader {
        let strips = strips.max(1);
        Spreader {
            strips,
            width: (1u128 << 64) / u128::from(strips) + 1,
            chunk: (task as u64) << 40,
            sent: vec![false; strips as usize],
        }
    }

    /// Sends the pages of one chunk, which must ascend.
    pub(super) fn spread(
        &mut self,
        pages: &[u32],
        out: &mut Emitter<Posting>,
    ) -> cento_flow::Result<()> {
        self.chunk += 1;
        let lefts = pages.len().saturating_sub(1);
        for (at, left) in pages.iter().take(lefts).enumerate() {
            let strip = left % self.strips;
            match self.sent.get_mut(strip as usize) {
                Some(sent) if !*sent => *sent = true,
                _ => continue,
            }
            let key = (u128::from(strip) * self.width) as u64 + self.chunk;
            let behind = pages.iter().skip(at);
            out.extend(behind.map(|&page| Posting { key, page }))?;
        }
        for left in pages.iter().take(lefts) {
            if let Some(sent) = self.sent.get_mut((left % self.strips) as usize) {
                *sent = false;
            }
        }
        Ok(())
    }
}

fn spread(context: &Context<'_>, groups: &mut Groups<'_, HashPage>) -> Result<(), StageError> {
    let plan: CountingPlan = context.parameters()?;
    let mut strips = context.shuffle::<Posting>(shuffle::BY_STRIP)?;
    let mut common = context.shuffle::<CommonChunk>(shuffle::COMMON)?;
    let mut sizes = Sizes {
        context,
        counts: HashMap::new(),
    };
    let mut spreader = Spreader::new(plan.strips, context.task_number());
    let limit = match plan.max_pages {
        0 => usize::MAX,
        most => most as usize,
    };
    let mut pages: Vec<u32> = Vec::new();
    let (mut distinct, mut repeated, mut in_all, mut ignored) = (0u64, 0u64, 0u64, 0u64);
    while let Some(group) = groups.next_group()? {
        let hash = group.key();
        pages.clear();
        // Pages beyond the limit are counted only, so that memory stays bounded.
        let (mut last, mut count) = (None, 0);
        for row in group {
            if last == Some(row.page) {
                continue;
            }
            last = Some(row.page);
            count += 1;
            if pages.len() <= limit {
                pages.push(row.page);
            } else {
                sizes.add(row.page, |counts| counts.common += 1)?;
            }
        }
        distinct += 1;
        in_all += u64::from(count);
        if pages.len() > limit {
            for &page in &pages {
                sizes.add(page, |counts| counts.common += 1)?;
            }
            ignored += u64::from(count);
            common.push(CommonChunk {
                chunk: hash.to_be_bytes(),
                page: pages.first().copied().unwrap_or_default(),
                pages: count,
            })?;
            continue;
        }
        for &page in &pages {
            sizes.add(page, |counts| counts.chunks += 1)?;
        }
        if pages.len() > 1 {
            repeated += 1;
            spreader.spread(&pages, &mut strips)?;
        }
    }
    sizes.flush()?;
    context.count(counter::DISTINCT_CHUNKS, distinct);
    context.count(counter::CHUNKS_OF_SEVERAL_PAGES, repeated);
    context.count(counter::CHUNKS_OF_PAGES, in_all);
    context.count(counter::COMMON_CHUNKS_OF_PAGES, ignored);
    Ok(())
}

fn count(
    context: &Context<'_>,
    groups: &mut Groups<'_, Posting>,
    temp: &Path,
) -> Result<(), StageError> {
    let plan: CountingPlan = context.parameters()?;
    let mut largest = None;
    count_strip(
        context,
        groups,
        temp,
        |_| plan.threshold,
        Some(&mut largest),
    )?;
    if let Some(pair) = largest {
        context
            .shuffle::<Contender>(shuffle::LARGEST)?
            .push(Contender(pair))?;
    }
    Ok(())
}

/// Counts one strip and writes the pairs that share at least `least` of their left page. A strip
/// that does not fit in its memory is written to a file in `temp`, which is read once for each part
/// of the left pages.
pub(super) fn count_strip(
    context: &Context<'_>,
    groups: &mut Groups<'_, Posting>,
    temp: &Path,
    least: impl Fn(u32) -> u32,
    largest: Option<&mut Option<PairCount>>,
) -> Result<(), StageError> {
    let plan: CountingPlan = context.parameters()?;
    let mut pairs = context.shuffle::<PairCount>(shuffle::PAIR_COUNTS)?;
    let mut strip = Strip::new(context.task_number() as u32, plan.strips, plan.width);
    let mut lists: Option<SpilledLists> = None;
    let mut pages: Vec<u32> = Vec::new();
    let mut total = Effort::default();
    let mut unused = None;
    let largest = largest.unwrap_or(&mut unused);
    // Half of the memory is for the growth of vectors.
    let space = plan.strip_bytes / 2;
    while let Some(group) = groups.next_group()? {
        pages.clear();
        pages.extend(group.map(|row| row.page));
        if lists.is_none() && (strip.bytes() > space || !strip.has_space(pages.len())) {
            let mut spilled = SpilledLists::create(temp)?;
            let whole = Strip::new(context.task_number() as u32, plan.strips, 0);
            strip.drain(|list| spilled.push(list, |page| whole.has_left(page)))?;
            lists = Some(spilled);
        }
        match &mut lists {
            Some(lists) => lists.push(&pages, |page| strip.has_left(page))?,
            None => strip.add(&pages),
        }
    }
    let parts = lists.as_ref().map_or(1, |lists| lists.parts(space));
    for part in 0..parts {
        context.check()?;
        if let Some(lists) = &mut lists {
            lists.for_each(|pages| strip.add_part(pages, part, parts))?;
        }
        let effort = strip.count(&least, largest, |pair| pairs.push(pair))?;
        total.joined += effort.joined;
        total.candidates += effort.candidates;
        total.false_candidates += effort.false_candidates;
    }
    if parts > 1 {
        context.count("parts of strips", u64::from(parts));
    }
    context.count("pairs joined", total.joined);
    context.count("candidates", total.candidates);
    context.count("false candidates", total.false_candidates);
    Ok(())
}

/// Calls `each` with every pair and its total count.
pub(super) fn for_each_sum(
    groups: &mut Groups<'_, PairCount>,
    mut each: impl FnMut(PairCount) -> Result<(), StageError>,
) -> Result<(), StageError> {
    while let Some(group) = groups.next_group()? {
        let key = group.key();
        let chunks = group.fold(0u32, |sum, pair| sum.saturating_add(pair.chunks));
        each(PairCount {
            left: (key >> 32) as u32,
            right: key as u32,
            chunks,
        })?;
    }
    Ok(())
}

/// Returns the number of bits of page numbers.
pub(crate) fn bits(pages: u32) -> u32 {
    (32 - pages.leading_zeros()).max(1)
}

/// Returns the pair with more chunks; of equal ones, that with the lower page numbers.
pub(super) fn larger(one: Option<PairCount>, other: PairCount) -> Option<PairCount> {
    match one {
        Some(one) if (one.chunks, other.key()) >= (other.chunks, one.key()) => Some(one),
        _ => Some(other),
    }
}
