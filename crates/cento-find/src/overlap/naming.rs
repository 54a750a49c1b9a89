//! From pairs of numbers to tables with names.
//!
//! ```text
//!   pairs ─ sum ─▶ of (left)                                        ┐ names and facts come first
//!   facts ─ add up ─▶ of, page       pages ─ names ─▶ of, page      ┘ in every group
//!   of ─ name of ─▶ page (right) ─ name page ─▶ ranked ─ write ─▶ the table, strongest first
//!   common chunks ─ show common ─▶ common ranked ─ write common ─▶ common
//! ```

use std::sync::Arc;

use cento_flow::{Bitmap, Fragment, Registry, StageError, WideGroup, WideGroups, table_row};
use serde::{Deserialize, Serialize};

use super::cut::Cutter;
use super::params::{Params, Unit};
use super::rows::{Common, Contender, Fact, Pair};
use super::stages::{LARGEST, for_each_sum, larger};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::names::{NAMED, PageName, name_of};
use crate::precedence::{Dates, Earlier, earlier};

pub(super) const OF: &str = "of";
pub(super) const PAGE: &str = "page";
pub(super) const RANKED: &str = "ranked";
pub(super) const COMMON_RANKED: &str = "common ranked";
/// The tables.
pub(super) const PAIRS: &str = "pairs";
pub(super) const SERVERS: &str = "servers";
pub(super) const COMMON_TABLE: &str = "common";
pub(super) const LARGEST_TABLE: &str = "largest";
/// Among the records of a page, its name is the first (0), what is known of it comes next, then the
/// rows about it.
const FACT: u64 = 1;
const ROW: u64 = 2;
/// Characters that are shown of a chunk.
const SHOWN: usize = 200;
/// Texts that are looked up together.
const LOOKUP: usize = 256;

table_row! {
    /// Two pages that share chunks.
    pub struct PairRow {
        /// The page that is later by date; of the higher id, if dates do not tell.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// The page that is earlier by date; of the lower id, if dates do not tell.
        pub of_id: u64,
        /// Its address.
        pub of: String,
        /// Distinct chunks that both have.
        pub chunks: u32,
        /// Distinct chunks of the page.
        pub page_chunks: u32,
        /// Distinct chunks of the other.
        pub of_chunks: u32,
        /// How much of the page is in the other: shared chunks of its own.
        pub page_share: f64,
        /// How much of the other is in the page.
        pub of_share: f64,
        /// Pages with the text of the page, itself among them.
        pub page_copies: u32,
        /// Pages with the text of the other.
        pub of_copies: u32,
    }
}

table_row! {
    /// Two servers that share chunks.
    pub struct ServerRow {
        /// The server of which more is in the other.
        pub server: String,
        /// The other.
        pub of: String,
        /// Distinct chunks that both have.
        pub chunks: u32,
        /// Distinct chunks of the server.
        pub server_chunks: u32,
        /// Distinct chunks of the other.
        pub of_chunks: u32,
        /// How much of the server is in the other.
        pub server_share: f64,
        /// How much of the other is in the server.
        pub of_share: f64,
        /// Pages of the server.
        pub server_pages: u32,
        /// Pages of the other.
        pub of_pages: u32,
    }
}

table_row! {
    /// A chunk that is on too many pages to tell anything.
    pub struct CommonRow {
        /// Its hash.
        pub chunk_hash: [u8; 16],
        /// How many pages, or servers, have it.
        pub pages: u32,
        /// The first page that has it; of servers, the first page of the first server that has it.
        pub page_id: u64,
        /// The address of that.
        pub page: String,
        /// How it begins, if the corpus keeps text and the chunk is on that page.
        pub text: Option<String>,
    }
}

table_row! {
    /// The two that share most, of those that share too little.
    pub struct LargestRow {
        /// One of them, by its number in the run.
        pub left: u32,
        /// The other.
        pub right: u32,
        /// What they share.
        pub chunks: u32,
    }
}

/// One side of a pair.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Side {
    name: PageName,
    chunks: u32,
    pages: u32,
}

impl Side {
    fn share(&self, chunks: u32) -> f64 {
        f64::from(chunks) / f64::from(self.chunks.max(chunks).max(1))
    }

    fn server(&self, unit: Unit) -> String {
        let name = match unit {
            Unit::Domain => self.name.domain.clone(),
            Unit::Host | Unit::Pages => self.name.host.clone(),
        };
        name.unwrap_or_default()
    }
}

/// Takes the name and the facts that stand before the rows about a page.
fn side_of(group: &mut WideGroup<'_, '_>) -> std::result::Result<Side, StageError> {
    let name = name_of(group)?;
    let fact = group.next().filter(|record| record.order == FACT);
    let fact = fact.ok_or("a page has no facts")?;
    let (chunks, pages) = serde_json::from_slice(&fact.value)?;
    Ok(Side {
        name,
        chunks,
        pages,
    })
}

/// A number that is lower the stronger a pair is: by the larger share, then by chunks.
fn rank(strongest: f64, chunks: u32) -> u64 {
    let weakness = ((1.0 - strongest) * f64::from(1 << 30)) as u64;
    weakness << 32 | u64::from(u32::MAX - chunks)
}

/// Bits of a [`rank`].
pub(super) const RANK_BITS: u32 = 63;

pub(super) fn register_sums(registry: &mut Registry) {
    registry.reduce::<Pair, _>("sum", |context, groups| {
        let threshold: u32 = context.parameters()?;
        let named = context.state::<Bitmap>(NAMED)?;
        let mut rows = context.wide_shuffle(OF)?;
        let mut largest = None;
        for_each_sum(groups, |pair| {
            if pair.chunks < threshold {
                largest = larger(largest, pair);
                return Ok(());
            }
            named.set(u64::from(pair.left));
            named.set(u64::from(pair.right));
            let value = serde_json::to_vec(&(pair.left, pair.right, pair.chunks))?;
            Ok(rows.push_numbered(u64::from(pair.left), ROW, &value)?)
        })?;
        match largest {
            Some(pair) => Ok(context
                .shuffle::<Contender>(LARGEST)?
                .push(Contender(pair))?),
            None => Ok(()),
        }
    });
    registry.reduce::<Contender, _>("largest", |context, groups| {
        let mut table = context.table::<LargestRow>(LARGEST_TABLE)?;
        while let Some(mut group) = groups.next_group()? {
            if let Some(Contender(pair)) = group.next() {
                table.push(LargestRow {
                    left: pair.left,
                    right: pair.right,
                    chunks: pair.chunks,
                })?;
            }
        }
        Ok(())
    });
    registry.reduce::<Fact, _>("add up", |context, groups| {
        let threshold: u32 = context.parameters()?;
        let named = context.state::<Bitmap>(NAMED)?;
        let (mut of, mut page) = (context.wide_shuffle(OF)?, context.wide_shuffle(PAGE)?);
        while let Some(group) = groups.next_group()? {
            let number = u64::from(group.key());
            let sum = group.fold(Fact::default(), |sum, fact| Fact {
                page: fact.page,
                chunks: sum.chunks + fact.chunks,
                pages: sum.pages + fact.pages,
                common: sum.common + fact.common,
            });
            if sum.common > 0 {
                context.count("pages with common chunks", 1);
            }
            if sum.common >= threshold {
                context.count("pages with enough common chunks", 1);
            }
            if !named.get(number) {
                continue;
            }
            let value = serde_json::to_vec(&(sum.chunks, sum.pages))?;
            of.push_numbered(number, FACT, &value)?;
            page.push_numbered(number, FACT, &value)?;
        }
        Ok(())
    });
}

type Numbers = (u32, u32, u32);

pub(super) fn register_naming(registry: &mut Registry, source: &Arc<CorpusPages>, params: &Params) {
    let unit = params.unit;
    registry.reduce::<Fragment, _>("name of", |context, groups| {
        let mut pages = context.wide_shuffle(PAGE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let side = side_of(&mut group)?;
            for record in group {
                let (left, right, chunks): Numbers = serde_json::from_slice(&record.value)?;
                let value = serde_json::to_vec(&(left, right, chunks, &side))?;
                pages.push_numbered(u64::from(right), ROW, &value)?;
            }
        }
        Ok(())
    });
    registry.reduce::<Fragment, _>("name page", |context, groups| {
        let mut ranked = context.wide_shuffle(RANKED)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let page = side_of(&mut group)?;
            for record in group {
                let (left, right, chunks, of): (u32, u32, u32, Side) =
                    serde_json::from_slice(&record.value)?;
                let value = serde_json::to_vec(&(chunks, &page, &of))?;
                let strongest = page.share(chunks).max(of.share(chunks));
                let order = u64::from(left) << 32 | u64::from(right);
                ranked.push_numbered(rank(strongest, chunks), order, &value)?;
            }
        }
        Ok(())
    });
    registry.reduce::<Fragment, _>("write", move |context, groups| {
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let (chunks, page, of): (u32, Side, Side) = serde_json::from_slice(&record.value)?;
                if unit == Unit::Pages {
                    let mut table = context.table::<PairRow>(PAIRS)?;
                    table.push(pair_row(chunks, page, of))?;
                } else {
                    let mut table = context.table::<ServerRow>(SERVERS)?;
                    table.push(server_row(chunks, page, of, unit))?;
                }
            }
        }
        // A table without rows has columns too.
        if unit == Unit::Pages {
            drop(context.table::<PairRow>(PAIRS)?);
        } else {
            drop(context.table::<ServerRow>(SERVERS)?);
        }
        Ok(())
    });
    register_common(registry, source, params);
}

fn pair_row(chunks: u32, page: Side, of: Side) -> PairRow {
    let dates = (Dates::from(&page.name), Dates::from(&of.name));
    let (page, of) = match earlier(dates.0, dates.1) {
        Earlier::First => (of, page),
        Earlier::Second | Earlier::Same | Earlier::Unknown => (page, of),
    };
    PairRow {
        page_share: page.share(chunks),
        of_share: of.share(chunks),
        page_id: page.name.page_id,
        page: page.name.url,
        of_id: of.name.page_id,
        of: of.name.url,
        chunks,
        page_chunks: page.chunks,
        of_chunks: of.chunks,
        page_copies: page.pages,
        of_copies: of.pages,
    }
}

fn server_row(chunks: u32, page: Side, of: Side, unit: Unit) -> ServerRow {
    // Who is contained in whom is what mirrors are told by.
    let (server, of) = if page.share(chunks) >= of.share(chunks) {
        (page, of)
    } else {
        (of, page)
    };
    ServerRow {
        server_share: server.share(chunks),
        of_share: of.share(chunks),
        server: server.server(unit),
        of: of.server(unit),
        chunks,
        server_chunks: server.chunks,
        of_chunks: of.chunks,
        server_pages: server.pages,
        of_pages: of.pages,
    }
}

/// A common chunk on its way into the table.
#[derive(Serialize, Deserialize)]
struct Shown {
    chunk: [u8; 16],
    pages: u32,
    page_id: u64,
    page: String,
    text: Option<String>,
}

fn register_common(registry: &mut Registry, source: &Arc<CorpusPages>, params: &Params) {
    registry.reduce::<Common, _>("note common", |context, groups| {
        let named = context.state::<Bitmap>(NAMED)?;
        let mut rows = context.shuffle::<Common>("common noted")?;
        while let Some(group) = groups.next_group()? {
            named.set(u64::from(group.key()));
            rows.extend(group)?;
        }
        Ok(())
    });
    let (source, kind) = (Arc::clone(source), params.chunk);
    registry.reduce::<Common, _>("show common", move |context, groups| {
        let mut names = context.wide_shuffle("common named")?;
        let mut waiting: Vec<Common> = Vec::new();
        loop {
            let group = groups.next_group()?;
            let ended = group.is_none();
            waiting.extend(group.into_iter().flatten());
            if !ended && waiting.len() < LOOKUP {
                continue;
            }
            let texts = texts_of(&source, kind, &waiting)?;
            for (common, text) in waiting.drain(..).zip(texts) {
                let value = serde_json::to_vec(&(common.chunk, common.pages, text))?;
                names.push_numbered(u64::from(common.page), ROW, &value)?;
            }
            if ended {
                return Ok(());
            }
        }
    });
    registry.reduce::<Fragment, _>("name common", |context, groups| {
        let mut ranked = context.wide_shuffle(COMMON_RANKED)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            for record in group {
                let (chunk, pages, text): ([u8; 16], u32, Option<String>) =
                    serde_json::from_slice(&record.value)?;
                let shown = Shown {
                    chunk,
                    pages,
                    page_id: name.page_id,
                    page: name.url.clone(),
                    text,
                };
                let rank = u64::from(u32::MAX - pages);
                let order = u128::from_be_bytes(chunk) >> 64;
                ranked.push_numbered(rank, order as u64, &serde_json::to_vec(&shown)?)?;
            }
        }
        Ok(())
    });
    registry.reduce::<Fragment, _>("write common", |context, groups| {
        let mut table = context.table::<CommonRow>(COMMON_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let shown: Shown = serde_json::from_slice(&record.value)?;
                table.push(CommonRow {
                    chunk_hash: shown.chunk,
                    pages: shown.pages,
                    page_id: shown.page_id,
                    page: shown.page,
                    text: shown.text,
                })?;
            }
        }
        Ok(())
    });
}

/// How chunks begin, by the text of the pages that they are named after; these ascend.
fn texts_of(
    source: &CorpusPages,
    kind: cento_text::chunk::ChunkKind,
    chunks: &[Common],
) -> Result<Vec<Option<String>>> {
    let mut texts = vec![None; chunks.len()];
    if !source.has_text() {
        return Ok(texts);
    }
    let mut pages: Vec<u32> = chunks.iter().map(|common| common.page).collect();
    pages.dedup();
    let mut cutter = Cutter::new(source, kind);
    source.texts::<Error>(&pages, |page, text| {
        cutter.cut(text, |hash, chunk| {
            for (common, found) in chunks.iter().zip(&mut texts) {
                if common.page == page && common.chunk == hash && found.is_none() {
                    *found = Some(chunk.chars().take(SHOWN).collect());
                }
            }
        });
        Ok(())
    })?;
    Ok(texts)
}
