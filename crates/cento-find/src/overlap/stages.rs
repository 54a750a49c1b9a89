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
//! *Spread* sends the pages of a chunk to every *strip* that has one of them as a left page; strips take pages in turn, so that each has as
//! much to do. There are as many strips as let each fit in the memory of a thread: one or two for a small corpus, so that
//! nothing is sent twice. A strip that does not fit after all is counted in batches, whose counts are added up in *sum*.

use std::collections::HashMap;
use std::sync::Arc;

use cento_flow::{Bitmap, Context, Groups, Registry, Row, StageError};
use serde::{Deserialize, Serialize};

use super::cut::{CutTask, Cutter, read_rows};
use super::params::{Params, Unit};
use super::rows::{Common, Contender, Fact, HashPage, Pair, Posting, Reserve};
use super::strip::{Effort, Strip};
use crate::numbers::{Numbers, UNSET};
use crate::source::Source;

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
/// The most strips there can be.
pub(super) const MOST_STRIPS: u32 = 256;
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
    /// As the rows say.
    Given,
}

pub(super) fn register_reading(registry: &mut Registry, source: &Arc<Source>, params: &Params) {
    registry.state::<Numbers>("numbers");
    let (unit, kind) = (params.unit, params.chunk);
    let pages = Arc::clone(source);
    registry.map("texts", move |context| {
        let mut rows = context.shuffle::<HashPage>(BY_TEXT)?;
        pages.for_each_page::<StageError>(context.task()?, |facts| {
            let hash = facts.text_hash.filter(|_| facts.reject.is_none());
            match hash.and_then(|hash| hash.try_into().ok()) {
                Some(hash) => Ok(rows.push(HashPage::new(hash, facts.number))?),
                None => Ok(()),
            }
        })
    });
    registry.reduce::<HashPage, _>("collapse", |context, groups| {
        let copies = context.state::<Bitmap>(COPIES)?;
        let mut facts = context.shuffle::<Fact>(FACTS)?;
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next() else { continue };
            let mut pages = 1;
            for copy in group {
                copies.set(u64::from(copy.page));
                pages += 1;
            }
            context.count("copies", u64::from(pages) - 1);
            facts.push(Fact {
                page: first.page,
                chunks: 0,
                pages,
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
            let hash = cento_print::ChunkHash::Blake3.hash128(name.as_bytes());
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
                chunks: 0,
                pages,
            })?;
        }
        Ok(())
    });
    let source = Arc::clone(source);
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
            Attribution::Given => Box::new(Some),
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

pub(super) fn register_counting(registry: &mut Registry) {
    registry.state::<Reserve>(Reserve::KIND);
    registry.reduce::<HashPage, _>("spread", spread);
    registry.reduce::<Posting, _>("count", count);
}

/// Chunks of each page, added up before they are passed on.
struct Sizes<'c, 'a> {
    context: &'c Context<'a>,
    held: HashMap<u32, u32>,
}

impl Sizes<'_, '_> {
    fn add(&mut self, pages: &[u32]) -> cento_flow::Result<()> {
        for &page in pages {
            *self.held.entry(page).or_default() += 1;
        }
        if self.held.len() > FACTS_HELD {
            self.pass_on()?;
        }
        Ok(())
    }

    fn pass_on(&mut self) -> cento_flow::Result<()> {
        let mut facts = self.context.shuffle::<Fact>(FACTS)?;
        facts.extend(self.held.drain().map(|(page, chunks)| Fact {
            page,
            chunks,
            pages: 0,
        }))
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
    // Partitions are ranges of keys; chunks are numbered within a range, first by the task that found them.
    let width = (1u128 << 64) / u128::from(plan.strips.max(1)) + 1;
    let mut chunk = (context.task_number() as u64) << 40;
    let mut pages: Vec<u32> = Vec::new();
    let mut sent = vec![false; plan.strips as usize];
    let (mut distinct, mut repeated) = (0u64, 0u64);
    while let Some(group) = groups.next_group()? {
        let hash = group.key();
        pages.clear();
        for row in group {
            if pages.last() != Some(&row.page) {
                pages.push(row.page);
            }
        }
        distinct += 1;
        let limit = plan.max_pages as usize;
        if limit > 0 && pages.len() > limit {
            common.push(Common {
                chunk: hash.to_be_bytes(),
                page: pages.first().copied().unwrap_or_default(),
                pages: pages.len() as u32,
            })?;
            continue;
        }
        sizes.add(&pages)?;
        if pages.len() < 2 {
            continue;
        }
        repeated += 1;
        chunk += 1;
        let lefts = pages.len() - 1;
        for (at, left) in pages.iter().take(lefts).enumerate() {
            let strip = left % plan.strips;
            match sent.get_mut(strip as usize) {
                Some(sent) if !*sent => *sent = true,
                _ => continue,
            }
            let key = (u128::from(strip) * width) as u64 + chunk;
            let behind = pages.iter().skip(at);
            strips.extend(behind.map(|&page| Posting { key, page }))?;
        }
        for left in pages.iter().take(lefts) {
            if let Some(sent) = sent.get_mut((left % plan.strips) as usize) {
                *sent = false;
            }
        }
    }
    sizes.pass_on()?;
    context.count("distinct chunks", distinct);
    context.count("chunks of several pages", repeated);
    Ok(())
}

fn count(context: &Context<'_>, groups: &mut Groups<'_, Posting>) -> Result<(), StageError> {
    let plan: Plan = context.parameters()?;
    let mut pairs = context.shuffle::<Pair>(PAIRS)?;
    let mut strip = Strip::new(context.task_number() as u32, plan.strips, plan.width);
    let mut batches = 0;
    let mut pages: Vec<u32> = Vec::new();
    let mut total = Effort::default();
    let mut add_up = |effort: Effort| {
        total.joined += effort.joined;
        total.candidates += effort.candidates;
        total.in_vain += effort.in_vain;
    };
    while let Some(group) = groups.next_group()? {
        pages.clear();
        pages.extend(group.map(|row| row.page));
        if strip.weight() > plan.strip_bytes || !strip.has_place(pages.len()) {
            batches += 1;
            add_up(strip.count(1, &mut None, |pair| pairs.push(pair))?);
        }
        strip.add(&pages);
    }
    let mut largest = None;
    if batches == 0 {
        add_up(strip.count(plan.threshold, &mut largest, |pair| pairs.push(pair))?);
    } else {
        add_up(strip.count(1, &mut None, |pair| pairs.push(pair))?);
        context.count("batches", batches + 1);
    }
    if let Some(pair) = largest {
        context
            .shuffle::<Contender>(LARGEST)?
            .push(Contender(pair))?;
    }
    context.count("pairs joined", total.joined);
    context.count("candidates", total.candidates);
    context.count("candidates in vain", total.in_vain);
    Ok(())
}

/// Calls `each` with every pair and what all batches have counted of it.
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
