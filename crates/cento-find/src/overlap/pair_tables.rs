//! The result tables: joins names to pairs of numbers.
//!
//! ```text
//!   pairs ─ sum ─▶ of (left)                                        ┐ names and counts come first
//!   facts ─ add up ─▶ of, page       pages ─ names ─▶ of, page      ┘ in every group
//!   of ─ name of ─▶ page (right) ─ name page ─▶ ranked ─ write ─▶ the table, strongest first
//!   common chunks ─ show common ─▶ common ranked ─ write common ─▶ common
//! ```

use std::sync::Arc;

use cento_flow::{
    Bitmap, Fragment, Registry, StageError, TableName, WideGroup, WideGroups, table_row,
};
use serde::{Deserialize, Serialize};

use super::cut::ChunkCutter;
use super::overlap_rows::{CommonChunk, Contender, PageCounts, PairCount};
use super::params::{OverlapParams, Unit};
use super::stage_names::{counter, shuffle, stage};
use super::stages::{for_each_sum, larger};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::names::{NAMED, PageName, name_of};
use crate::precedence::{Dates, Earlier, earlier};

/// The main table of an overlap of pages: strongest pairs first.
pub const PAIRS: TableName<OverlapPairRow> = TableName::new("pairs");
/// The main table of an overlap of servers: strongest pairs first.
pub const SERVERS: TableName<ServerRow> = TableName::new("servers");
/// The table of ignored chunks: most common first.
pub const COMMON: TableName<CommonRow> = TableName::new("common");
/// The table of the largest pair below the threshold: at most one row.
pub const LARGEST: TableName<LargestRow> = TableName::new("largest");
/// The order of the records of a page: its name (0), its counts, the rows about it.
const COUNTS: u64 = 1;
const ROW: u64 = 2;
/// The number of characters of a chunk in the table of ignored chunks.
const SHOWN: usize = 200;
/// The number of texts that are read together.
const LOOKUP: usize = 256;

table_row! {
    /// Two pages that share chunks.
    pub struct OverlapPairRow {
        /// The page that is later by date; if dates do not decide, the one with the higher id.
        pub page_id: u64,
        /// Its URL.
        pub page: String,
        /// The page that is earlier by date; if dates do not decide, the one with the lower id.
        pub of_id: u64,
        /// Its URL.
        pub of: String,
        /// Distinct chunks that both have.
        pub chunks: u32,
        /// Distinct chunks of the page.
        pub page_chunks: u32,
        /// Distinct chunks of the other page.
        pub of_chunks: u32,
        /// The share of the page's chunks found in the other.
        pub page_share: f64,
        /// The share of the other's chunks found in the page.
        pub of_share: f64,
        /// The number of pages with the text of the page, including itself.
        pub page_copies: u32,
        /// The number of pages with the text of the other, including itself.
        pub of_copies: u32,
    }
}

table_row! {
    /// Two servers that share chunks.
    pub struct ServerRow {
        /// The server of which the larger share is on the other.
        pub server: String,
        /// The other.
        pub of: String,
        /// Distinct chunks that both have.
        pub chunks: u32,
        /// Distinct chunks of the server.
        pub server_chunks: u32,
        /// Distinct chunks of the other server.
        pub of_chunks: u32,
        /// The share of the server's chunks found on the other.
        pub server_share: f64,
        /// The share of the other's chunks found on the server.
        pub of_share: f64,
        /// Pages of the server.
        pub server_pages: u32,
        /// Pages of the other.
        pub of_pages: u32,
    }
}

table_row! {
    /// A chunk that is ignored because it is on too many pages.
    pub struct CommonRow {
        /// Its hash.
        pub chunk_hash: [u8; 16],
        /// The number of pages, or servers, that have it.
        pub pages: u32,
        /// The first page that has it; for servers, the first page of the first server that has it.
        pub page_id: u64,
        /// The URL of that page.
        pub page: String,
        /// The beginning of the chunk, if the corpus has text and the chunk is on that page.
        pub text: Option<String>,
    }
}

table_row! {
    /// The pair that shares most, below the threshold.
    pub struct LargestRow {
        /// The page or server with the lower number in the run.
        pub left: u32,
        /// The one with the higher number.
        pub right: u32,
        /// Distinct chunks that both have.
        pub chunks: u32,
    }
}

/// One side of a pair.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PairSide {
    name: PageName,
    chunks: u32,
    pages: u32,
}

impl PairSide {
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

/// Reads the name and the counts that precede the rows about a page.
fn side_of(group: &mut WideGroup<'_, '_>) -> std::result::Result<PairSide, StageError> {
    let name = name_of(group)?;
    let counts = group.next().filter(|record| record.order == COUNTS);
    let counts = counts.ok_or_else(|| Error::Bug("a page has no counts".to_owned()))?;
    let (chunks, pages) = serde_json::from_slice(&counts.value)?;
    Ok(PairSide {
        name,
        chunks,
        pages,
    })
}

/// Returns a number that is lower for stronger pairs: by the larger share, then by chunks.
fn rank(strongest: f64, chunks: u32) -> u64 {
    let weakness = ((1.0 - strongest) * f64::from(1 << 30)) as u64;
    weakness << 32 | u64::from(u32::MAX - chunks)
}

/// The number of bits of a [`rank`].
pub(super) const RANK_BITS: u32 = 63;

pub(super) fn register_sums(registry: &mut Registry) {
    registry.reduce::<PairCount, _>(stage::SUM, |context, groups| {
        let threshold: u32 = context.parameters()?;
        let named = context.state::<Bitmap>(NAMED)?;
        let mut rows = context.wide_shuffle(shuffle::OF)?;
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
                .shuffle::<Contender>(shuffle::LARGEST)?
                .push(Contender(pair))?),
            None => Ok(()),
        }
    });
    registry.reduce::<Contender, _>(stage::LARGEST, |context, groups| {
        let mut table = context.table(LARGEST)?;
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
    registry.reduce::<PageCounts, _>(stage::ADD_UP, |context, groups| {
        let threshold: u32 = context.parameters()?;
        let named = context.state::<Bitmap>(NAMED)?;
        let (mut of, mut page) = (
            context.wide_shuffle(shuffle::OF)?,
            context.wide_shuffle(shuffle::PAGE)?,
        );
        while let Some(group) = groups.next_group()? {
            let number = u64::from(group.key());
            let sum = group.fold(PageCounts::default(), |sum, fact| PageCounts {
                page: fact.page,
                chunks: sum.chunks + fact.chunks,
                pages: sum.pages + fact.pages,
                common: sum.common + fact.common,
            });
            if sum.common > 0 {
                context.count(counter::PAGES_WITH_COMMON_CHUNKS, 1);
            }
            if sum.common >= threshold {
                context.count(counter::PAGES_WITH_ENOUGH_COMMON_CHUNKS, 1);
            }
            if !named.get(number) {
                continue;
            }
            let value = serde_json::to_vec(&(sum.chunks, sum.pages))?;
            of.push_numbered(number, COUNTS, &value)?;
            page.push_numbered(number, COUNTS, &value)?;
        }
        Ok(())
    });
}

pub(super) fn register_naming(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    params: &OverlapParams,
) {
    let unit = params.unit;
    registry.reduce::<Fragment, _>(stage::NAME_OF, |context, groups| {
        let mut pages = context.wide_shuffle(shuffle::PAGE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let side = side_of(&mut group)?;
            for record in group {
                let (left, right, chunks): (u32, u32, u32) = serde_json::from_slice(&record.value)?;
                let value = serde_json::to_vec(&(left, right, chunks, &side))?;
                pages.push_numbered(u64::from(right), ROW, &value)?;
            }
        }
        Ok(())
    });
    registry.reduce::<Fragment, _>(stage::NAME_PAGE, |context, groups| {
        let mut ranked = context.wide_shuffle(shuffle::RANKED)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let page = side_of(&mut group)?;
            for record in group {
                let (left, right, chunks, of): (u32, u32, u32, PairSide) =
                    serde_json::from_slice(&record.value)?;
                let value = serde_json::to_vec(&(chunks, &page, &of))?;
                let strongest = page.share(chunks).max(of.share(chunks));
                let order = u64::from(left) << 32 | u64::from(right);
                ranked.push_numbered(rank(strongest, chunks), order, &value)?;
            }
        }
        Ok(())
    });
    registry.reduce::<Fragment, _>(stage::WRITE, move |context, groups| {
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let (chunks, page, of): (u32, PairSide, PairSide) =
                    serde_json::from_slice(&record.value)?;
                if unit == Unit::Pages {
                    let mut table = context.table(PAIRS)?;
                    table.push(pair_row(chunks, page, of))?;
                } else {
                    let mut table = context.table(SERVERS)?;
                    table.push(server_row(chunks, page, of, unit))?;
                }
            }
        }
        // Creates the table even if it has no rows.
        if unit == Unit::Pages {
            drop(context.table(PAIRS)?);
        } else {
            drop(context.table(SERVERS)?);
        }
        Ok(())
    });
    register_common(registry, source, params);
}

fn pair_row(chunks: u32, page: PairSide, of: PairSide) -> OverlapPairRow {
    let dates = (Dates::from(&page.name), Dates::from(&of.name));
    let (page, of) = match earlier(dates.0, dates.1) {
        Earlier::First => (of, page),
        Earlier::Second | Earlier::Same | Earlier::Unknown => (page, of),
    };
    OverlapPairRow {
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

fn server_row(chunks: u32, page: PairSide, of: PairSide, unit: Unit) -> ServerRow {
    // A mirror is recognised by the share of the smaller server found on the other.
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

/// A row of the table of ignored chunks, before it is sorted.
#[derive(Serialize, Deserialize)]
struct CommonExcerpt {
    chunk: [u8; 16],
    pages: u32,
    page_id: u64,
    page: String,
    text: Option<String>,
}

fn register_common(registry: &mut Registry, source: &Arc<CorpusPages>, params: &OverlapParams) {
    registry.reduce::<CommonChunk, _>(stage::NOTE_COMMON, |context, groups| {
        let named = context.state::<Bitmap>(NAMED)?;
        let mut rows = context.shuffle::<CommonChunk>(shuffle::COMMON_NOTED)?;
        while let Some(group) = groups.next_group()? {
            named.set(u64::from(group.key()));
            rows.extend(group)?;
        }
        Ok(())
    });
    let (source, kind) = (Arc::clone(source), params.chunk);
    registry.reduce::<CommonChunk, _>(stage::SHOW_COMMON, move |context, groups| {
        let mut names = context.wide_shuffle(shuffle::COMMON_NAMED)?;
        let mut waiting: Vec<CommonChunk> = Vec::new();
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
    registry.reduce::<Fragment, _>(stage::NAME_COMMON, |context, groups| {
        let mut ranked = context.wide_shuffle(shuffle::COMMON_RANKED)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            for record in group {
                let (chunk, pages, text): ([u8; 16], u32, Option<String>) =
                    serde_json::from_slice(&record.value)?;
                let shown = CommonExcerpt {
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
    registry.reduce::<Fragment, _>(stage::WRITE_COMMON, |context, groups| {
        let mut table = context.table(COMMON)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let shown: CommonExcerpt = serde_json::from_slice(&record.value)?;
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

/// Reads the beginnings of chunks from the texts of their first pages, which must ascend.
fn texts_of(
    source: &CorpusPages,
    kind: cento_text::chunk::ChunkKind,
    chunks: &[CommonChunk],
) -> Result<Vec<Option<String>>> {
    let mut texts = vec![None; chunks.len()];
    if !source.has_text() {
        return Ok(texts);
    }
    let mut pages: Vec<u32> = chunks.iter().map(|common| common.page).collect();
    pages.dedup();
    let mut cutter = ChunkCutter::new(source, kind);
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
