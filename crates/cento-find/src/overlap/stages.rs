//! The stages of an overlap, from chunks to pairs of numbers.
//!
//! ```text
//!   pages ─ texts ─▶ by text ─ collapse ─▶ copies                 pages with the text of an earlier one
//!         └ names of servers ─▶ by server ─ number servers        (the one or the other)
//!   text ── cut ──▶ by chunk ─ spread ─┬▶ by strip ─ count ─▶ pairs ─ sum ─▶ …
//!                                      ├▶ facts    chunks of each page
//!                                      └▶ common   chunks on too many pages
//! ```
//!
//! *Spread* sends the pages of a chunk to every *strip* that has one of them as a left page; strips
//! take pages in turn, so that each has as much to do. There are few of them, for a chunk on many
//! pages is sent to each. A strip that does not fit in the memory of its thread goes to a file
//! (`lists`), which is read once for each part of its left pages: what is counted is always whole.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use cento_flow::{Bitmap, Context, Emitter, Groups, Registry, Row, StageError};
use serde::{Deserialize, Serialize};

use super::cut::{CutTask, Cutter, read_rows};
use super::lists::Lists;
use super::order::Order;
use super::params::{Params, Unit};
use super::rows::{Common, Contender, Fact, HashPage, Pair, Posting, Reserve};
use super::strip::{Effort, Strip};
use crate::corpus_pages::CorpusPages;
use crate::numbers::{Numbers, UNSET};

pub(super) const BY_TEXT: &str = "by text";
pub(super) const BY_SERVER: &str = "by server";
pub(super) const BY_CHUNK: &str = "by chunk";
pub(super) const BY_STRIP: &str = "by strip";
pub(super) const PAIRS: &str = "pairs of numbers";
pub(super) const LARGEST: &str = "largest of each strip";
pub(super) const FACTS: &str = "facts";
pub(super) const COMMON: &str = "common chunks";
pub(super) const COPIES: &str = "copies";
pub(super) const SERVERS: &str = "numbers of servers";
pub(super) const RESERVE: &str = "reserve";
/// The most strips that a thread has to do.
pub(super) const STRIPS_A_THREAD: u64 = 4;
/// Facts that a task adds up before it passes them on.
const FACTS_HELD: usize = 1 << 16;

/// What the stages must know.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) threshold: u32,
    pub(super) max_pages: u32,
    pub(super) strips: u32,
    /// Bytes that a strip may take.
    pub(super) strip_bytes: u64,
    /// Bytes that all of them may take that are counted at once.
    pub(super) reserve: u64,
    /// Page numbers are below this.
    pub(super) width: u32,
}

/// How chunks are attributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Attribution {
    /// To pages that are no copies of earlier ones.
    Originals,
    /// To servers.
    Servers,
    /// To the ranks of pages that are no copies of earlier ones.
    Ranks,
}

pub(super) fn register_reading(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    params: &Params,
    order: &Arc<Order>,
) {
    registry.state::<Numbers>("numbers");
    let (unit, kind) = (params.unit, params.chunk);
    let (pages, ranks) = (Arc::clone(source), Arc::clone(order));
    // Pages of one text come together in the order of their ranks, so that the earliest of them
    // stands for all.
    registry.map("texts", move |context| {
        let mut rows = context.shuffle::<HashPage>(BY_TEXT)?;
        pages.for_each_page::<StageError>(context.task()?, |facts| {
            let hash = facts.text_hash.filter(|_| facts.reject.is_none());
            match hash.and_then(|hash| hash.try_into().ok()) {
                Some(hash) => Ok(rows.push(HashPage::new(hash, ranks.rank(facts.number)))?),
                None => Ok(()),
            }
        })
    });
    let ranks = Arc::clone(order);
    registry.reduce::<HashPage, _>("collapse", move |context, groups| {
        let copies = context.state::<Bitmap>(COPIES)?;
        let mut facts = context.shuffle::<Fact>(FACTS)?;
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next() else { continue };
            let mut pages = 1;
            for copy in group {
                copies.set(u64::from(ranks.page(copy.page)));
                pages += 1;
            }
            context.count("copies", u64::from(pages) - 1);
            facts.push(Fact {
                page: ranks.page(first.page),
                pages,
                ..Fact::default()
            })?;
        }
        Ok(())
    });
    let pages = Arc::clone(source);
    registry.map("names of servers", move |context| {
        let mut rows = context.shuffle::<HashPage>(BY_SERVER)?;
        pages.for_each_page::<StageError>(context.task()?, |facts| {
            if facts.reject.is_some() {
                return Ok(());
            }
            let name = match unit {
                Unit::Domain => facts.domain,
                Unit::Host | Unit::Pages => facts.host,
            };
            let Some(name) = name else {
                context.count("pages without a server", 1);
                return Ok(());
            };
            let hash = cento_fingerprint::ChunkHash::Blake3.hash128(name.as_bytes());
            Ok(rows.push(HashPage::new(hash, facts.number))?)
        })
    });
    registry.reduce::<HashPage, _>("number servers", |context, groups| {
        let servers = context.state::<Numbers>(SERVERS)?;
        let mut facts = context.shuffle::<Fact>(FACTS)?;
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next() else { continue };
            servers.set(first.page, first.page);
            let mut pages = 1;
            for row in group {
                servers.set(row.page, first.page);
                pages += 1;
            }
            context.count("servers", 1);
            facts.push(Fact {
                page: first.page,
                pages,
                ..Fact::default()
            })?;
        }
        Ok(())
    });
    let (source, ranks) = (Arc::clone(source), Arc::clone(order));
    registry.map("cut", move |context| {
        let mut rows = context.shuffle::<HashPage>(BY_CHUNK)?;
        let attribution: Attribution = context.parameters()?;
        let whose: Box<dyn Fn(u32) -> Option<u32>> = match attribution {
            Attribution::Originals => {
                let copies = context.state::<Bitmap>(COPIES)?;
                Box::new(move |page| (!copies.get(u64::from(page))).then_some(page))
            }
            Attribution::Servers => {
                let servers = context.state::<Numbers>(SERVERS)?;
                Box::new(move |page| Some(servers.get(page)).filter(|&first| first != UNSET))
            }
            Attribution::Ranks => {
                let (copies, ranks) = (context.state::<Bitmap>(COPIES)?, Arc::clone(&ranks));
                Box::new(move |page| {
                    let rank = ranks.rank(page);
                    (!copies.get(u64::from(rank))).then_some(rank)
                })
            }
        };
        match context.task()? {
            CutTask::Text(task) => {
                let mut cutter = Cutter::new(&source, kind);
                let mut cut = Vec::new();
                source.for_each_text::<StageError>(&task, |page, text| {
                    if let Some(page) = whose(page) {
                        cutter.cut(text, |hash, _| cut.push(HashPage::new(hash, page)));
                        rows.extend(cut.drain(..))?;
                    }
                    Ok(())
                })
            }
            CutTask::Chunks(task) => {
                source.for_each_chunk::<StageError>(&task, |page, hash| {
                    match (whose(page), hash.try_into()) {
                        (Some(page), Ok(hash)) => Ok(rows.push(HashPage::new(hash, page))?),
                        _ => Ok(()),
                    }
                })
            }
            CutTask::Rows { .. } => Err("rows are read without a corpus".into()),
        }
    });
}

/// Registers reading a file of rows, in place of a corpus.
pub(super) fn register_rows(registry: &mut Registry) {
    registry.map("rows", |context| {
        let mut rows = context.shuffle::<HashPage>(BY_CHUNK)?;
        let CutTask::Rows { file, row_group } = context.task()? else {
            return Err("no task of rows".into());
        };
        read_rows::<StageError>(file.as_ref(), row_group, |chunks, pages| {
            let zipped = chunks.iter().zip(pages);
            Ok(rows.extend(zipped.map(|(&chunk, &page)| HashPage::short(chunk, page)))?)
        })
    });
}

pub(super) fn register_counting(registry: &mut Registry, temp: &Path) {
    registry.state::<Reserve>(Reserve::KIND);
    registry.reduce::<HashPage, _>("spread", spread);
    let temp = temp.to_owned();
    registry.reduce::<Posting, _>("count", move |context, groups| {
        count(context, groups, &temp)
    });
}

/// Chunks of each page, added up before they are passed on.
struct Sizes<'c, 'a> {
    context: &'c Context<'a>,
    held: HashMap<u32, Fact>,
}

impl Sizes<'_, '_> {
    fn add(&mut self, page: u32, add: impl FnOnce(&mut Fact)) -> cento_flow::Result<()> {
        add(self.held.entry(page).or_insert(Fact {
            page,
            ..Fact::default()
        }));
        if self.held.len() > FACTS_HELD {
            self.pass_on()?;
        }
        Ok(())
    }

    fn pass_on(&mut self) -> cento_flow::Result<()> {
        let mut facts = self.context.shuffle::<Fact>(FACTS)?;
        facts.extend(self.held.drain().map(|(_, fact)| fact))
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
    /// For one task: chunks are numbered within the range of keys of a strip, first by the task
    /// that found them.
    pub(super) fn new(strips: u32, task: usize) -> Spreader {
        let strips = strips.max(1);
        Spreader {
            strips,
            width: (1u128 << 64) / u128::from(strips) + 1,
            chunk: (task as u64) << 40,
            sent: vec![false; strips as usize],
        }
    }

    /// Sends the pages of one chunk, which ascend.
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
    let plan: Plan = context.parameters()?;
    let mut strips = context.shuffle::<Posting>(BY_STRIP)?;
    let mut common = context.shuffle::<Common>(COMMON)?;
    let mut sizes = Sizes {
        context,
        held: HashMap::new(),
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
        // Pages beyond the limit are counted and not held.
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
                sizes.add(row.page, |fact| fact.common += 1)?;
            }
        }
        distinct += 1;
        in_all += u64::from(count);
        if pages.len() > limit {
            for &page in &pages {
                sizes.add(page, |fact| fact.common += 1)?;
            }
            ignored += u64::from(count);
            common.push(Common {
                chunk: hash.to_be_bytes(),
                page: pages.first().copied().unwrap_or_default(),
                pages: count,
            })?;
            continue;
        }
        for &page in &pages {
            sizes.add(page, |fact| fact.chunks += 1)?;
        }
        if pages.len() > 1 {
            repeated += 1;
            spreader.spread(&pages, &mut strips)?;
        }
    }
    sizes.pass_on()?;
    context.count("distinct chunks", distinct);
    context.count("chunks of several pages", repeated);
    context.count("chunks of pages", in_all);
    context.count("common chunks of pages", ignored);
    Ok(())
}

fn count(
    context: &Context<'_>,
    groups: &mut Groups<'_, Posting>,
    temp: &Path,
) -> Result<(), StageError> {
    let plan: Plan = context.parameters()?;
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
            .shuffle::<Contender>(LARGEST)?
            .push(Contender(pair))?;
    }
    Ok(())
}

/// Counts one strip. Pairs go out that share what `least` says of their left page. A strip that
/// does not fit in its memory goes to a file in `temp`, which is read once for each part of the
/// left pages.
pub(super) fn count_strip(
    context: &Context<'_>,
    groups: &mut Groups<'_, Posting>,
    temp: &Path,
    least: impl Fn(u32) -> u32,
    largest: Option<&mut Option<Pair>>,
) -> Result<(), StageError> {
    let plan: Plan = context.parameters()?;
    let mut pairs = context.shuffle::<Pair>(PAIRS)?;
    let mut strip = Strip::new(context.task_number() as u32, plan.strips, plan.width);
    let mut lists: Option<Lists> = None;
    let mut pages: Vec<u32> = Vec::new();
    let mut total = Effort::default();
    let mut unasked = None;
    let largest = largest.unwrap_or(&mut unasked);
    // Half of the memory is for vectors while they grow.
    let room = plan.strip_bytes / 2;
    while let Some(group) = groups.next_group()? {
        pages.clear();
        pages.extend(group.map(|row| row.page));
        if lists.is_none() && (strip.weight() > room || !strip.has_place(pages.len())) {
            let mut spilled = Lists::create(temp)?;
            let whole = Strip::new(context.task_number() as u32, plan.strips, 0);
            strip.drain(|list| spilled.push(list, |page| whole.has_left(page)))?;
            lists = Some(spilled);
        }
        match &mut lists {
            Some(lists) => lists.push(&pages, |page| strip.has_left(page))?,
            None => strip.add(&pages),
        }
    }
    let parts = lists.as_ref().map_or(1, |lists| lists.parts(room));
    for part in 0..parts {
        context.check()?;
        if let Some(lists) = &mut lists {
            lists.for_each(|pages| strip.add_part(pages, part, parts))?;
        }
        let effort = strip.count(&least, largest, |pair| pairs.push(pair))?;
        total.joined += effort.joined;
        total.candidates += effort.candidates;
        total.in_vain += effort.in_vain;
    }
    if parts > 1 {
        context.count("parts of strips", u64::from(parts));
    }
    context.count("pairs joined", total.joined);
    context.count("candidates", total.candidates);
    context.count("candidates in vain", total.in_vain);
    Ok(())
}

/// Calls `each` with every pair and what was counted of it.
pub(super) fn for_each_sum(
    groups: &mut Groups<'_, Pair>,
    mut each: impl FnMut(Pair) -> Result<(), StageError>,
) -> Result<(), StageError> {
    while let Some(group) = groups.next_group()? {
        let key = group.key();
        let chunks = group.fold(0u32, |sum, pair| sum.saturating_add(pair.chunks));
        each(Pair {
            left: (key >> 32) as u32,
            right: key as u32,
            chunks,
        })?;
    }
    Ok(())
}

/// How many bits the numbers of pages have.
pub(super) fn bits(pages: u32) -> u32 {
    (32 - pages.leading_zeros()).max(1)
}

/// The larger of two pairs; of two that share as many chunks, the one of lower numbers.
pub(super) fn larger(one: Option<Pair>, other: Pair) -> Option<Pair> {
    match one {
        Some(one) if (one.chunks, other.key()) >= (other.chunks, one.key()) => Some(one),
        _ => Some(other),
    }
}
