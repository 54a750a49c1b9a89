//! The frame of a page: what it begins and ends with because many pages do, also of its site.
//!
//! ```text
//!   page 1   [menu][notice]  text of the page       [imprint]     in brackets: chunks that are on
//!   page 2   [menu]          another text   [notice][imprint]     more than max_pages pages, at
//!            ╰── frame                      ╰── frame             least 5 of them of the site
//! ```
//!
//! A passage that two pages share up to the end of their text would otherwise go on in the footer
//! that both have: the words are shared, but nobody copied them. Leading and trailing chunks that
//! are on more than [`PassagesParams::max_pages`] pages are therefore not compared, on sites
//! (registered domains, else hosts) of which [`PAGES_OF_SITE`] pages have them. Pages with
//! identical text count as one, and a text that many sites reprint is on few pages of each, so that
//! a text does not become a frame by being copied. Pages without a host count as one site. A page
//! that would be nothing but a frame has none: the paragraphs of an article are its text, however
//! many pages quote them.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_flow::{Bitmap, Context, Flow, Registry, Row, Stage, StageError};
use serde_json::json;

use super::flow_names::{shuffle, stage, state};
use super::params::PassagesParams;
use crate::corpus_pages::{ChunkTask, CorpusPages};
use crate::error::Result;
use crate::numbers::{Numbers, UNSET};

/// The chunks of a page with the same hash that are looked at; only text that repeats itself has
/// more.
const MOST_REPEATS: usize = 16;
/// The fewest pages of a site that have a chunk of its frames. A site has a text that it reprints
/// on a page, and perhaps on its versions for printing and for telephones.
pub(super) const PAGES_OF_SITE: usize = 5;

/// A chunk of a page.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
struct PlacedChunk {
    high: u64,
    low: u64,
    site: u32,
    page: u32,
    ordinal: u32,
    begin: u32,
    end: u32,
}

impl Row for PlacedChunk {
    type Key = u128;
    type Rest = (u32, u64);

    #[inline(always)]
    fn key(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    #[inline(always)]
    fn rest(&self) -> (u32, u64) {
        let place = u64::from(self.page) << 32 | u64::from(self.ordinal);
        (self.site, place)
    }
}

/// A number for the site of a page. Two sites may have the same: they count as one.
pub(super) fn site_number(site: Option<&str>) -> u32 {
    let hash = blake3::hash(site.unwrap_or_default().as_bytes());
    let number = hash.as_bytes().first_chunk();
    number.map_or(0, |&bytes| u32::from_le_bytes(bytes))
}

/// A chunk of a page that many pages have.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct CommonChunk {
    page: u32,
    ordinal: u32,
    begin: u32,
    end: u32,
}

impl Row for CommonChunk {
    type Key = u32;
    type Rest = u32;

    #[inline(always)]
    fn key(&self) -> u32 {
        self.page
    }

    #[inline(always)]
    fn rest(&self) -> u32 {
        self.ordinal
    }
}

/// Where the frames of pages are.
pub(super) struct Frames {
    heads: Arc<Numbers>,
    tails: Arc<Numbers>,
    tail_ends: Arc<Numbers>,
}

impl Frames {
    /// Reads the states.
    pub(super) fn of(context: &Context<'_>) -> std::result::Result<Frames, StageError> {
        Ok(Frames {
            heads: context.state(state::HEADS)?,
            tails: context.state(state::TAILS)?,
            tail_ends: context.state(state::TAIL_ENDS)?,
        })
    }

    /// The text of a page without its frame.
    pub(super) fn content(&self, page: u32, text: &str) -> Range<usize> {
        let begin = match self.heads.get(page) {
            UNSET => 0,
            end => end as usize,
        };
        let reaches_end = self.tail_ends.get(page) as usize >= text.trim_end().len();
        let end = match self.tails.get(page) {
            UNSET => text.len(),
            tail if reaches_end => tail as usize,
            _ => text.len(),
        };
        // Tables of somebody else may have any offsets. And what is all frame has none.
        match text.get(begin..end) {
            Some(content) if !content.trim().is_empty() => begin..end,
            _ => 0..text.len(),
        }
    }
}

pub(super) fn register(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    params: &PassagesParams,
) {
    registry.state::<Numbers>(Numbers::KIND);
    let pages = Arc::clone(source);
    registry.map(stage::CHUNKS, move |context| {
        let copies = context.state::<Bitmap>(state::COPIES)?;
        let sites = context.state::<Numbers>(state::SITES)?;
        let mut rows = context.shuffle::<PlacedChunk>(shuffle::BY_CHUNK)?;
        let task: ChunkTask = context.task()?;
        pages.for_each_placed_chunk::<StageError>(&task, |page, chunk| {
            if copies.get(u64::from(page)) {
                return Ok(());
            }
            let hash = u128::from_be_bytes(chunk.chunk_hash);
            Ok(rows.push(PlacedChunk {
                high: (hash >> 64) as u64,
                low: hash as u64,
                site: sites.get(page),
                page,
                ordinal: chunk.ordinal,
                begin: chunk.begin,
                end: chunk.end,
            })?)
        })
    });
    let most = params.max_pages as usize;
    registry.reduce::<PlacedChunk, _>(stage::COMMON, move |context, groups| {
        let mut common = context.shuffle::<CommonChunk>(shuffle::COMMON_BY_PAGE)?;
        // The chunks of one hash until it is known that it is on enough pages.
        let mut waiting: Vec<CommonChunk> = Vec::new();
        // Those of a site until it is known that they are on enough of its pages.
        let mut of_site: Vec<CommonChunk> = Vec::new();
        while let Some(group) = groups.next_group()? {
            waiting.clear();
            let (mut pages, mut repeats, mut last) = (0usize, 0, None);
            let (mut site, mut site_pages) = (None, 0usize);
            for row in group {
                if site != Some(row.site) {
                    (site, site_pages) = (Some(row.site), 0);
                    of_site.clear();
                }
                let row = CommonChunk {
                    page: row.page,
                    ordinal: row.ordinal,
                    begin: row.begin,
                    end: row.end,
                };
                let is_new = last != Some(row.page);
                pages += usize::from(is_new);
                site_pages += usize::from(is_new);
                repeats = if is_new { 1 } else { repeats + 1 };
                last = Some(row.page);
                if repeats > MOST_REPEATS {
                    continue;
                }
                of_site.push(row);
                if site_pages >= PAGES_OF_SITE {
                    waiting.append(&mut of_site);
                }
                if pages > most {
                    common.extend(waiting.drain(..))?;
                }
            }
        }
        Ok(())
    });
    registry.reduce::<CommonChunk, _>(stage::FRAME, |context, groups| {
        let heads = context.state::<Numbers>(state::HEADS)?;
        let tails = context.state::<Numbers>(state::TAILS)?;
        let tail_ends = context.state::<Numbers>(state::TAIL_ENDS)?;
        while let Some(group) = groups.next_group()? {
            let page = group.key();
            let (mut head, mut tail): (Option<CommonChunk>, Option<(u32, CommonChunk)>) =
                (None, None);
            for chunk in group {
                if chunk.ordinal == head.map_or(0, |last| last.ordinal + 1) {
                    head = Some(chunk);
                }
                let begin = match tail {
                    Some((begin, last)) if last.ordinal + 1 == chunk.ordinal => begin,
                    _ => chunk.begin,
                };
                tail = Some((begin, chunk));
            }
            if let Some(head) = head {
                heads.set(page, head.end);
            }
            if let Some((begin, last)) = tail {
                tails.set(page, begin);
                tail_ends.set(page, last.end);
            }
        }
        Ok(())
    });
}

/// Adds the stages that find frames.
pub(super) fn with_frames(flow: Flow, source: &CorpusPages, page_bits: u32) -> Result<Flow> {
    let tasks = source.chunk_tasks()?.into_iter();
    let numbers = json!({ "pages": source.all() });
    let states = [state::HEADS, state::TAILS, state::TAIL_ENDS];
    let flow = states.into_iter().fold(flow, |flow, name| {
        flow.state(name, Numbers::KIND, numbers.clone())
    });
    let frame = Stage::reduce(stage::FRAME, shuffle::COMMON_BY_PAGE);
    Ok(flow
        .shuffle(shuffle::BY_CHUNK)
        .shuffle_of_numbers(shuffle::COMMON_BY_PAGE, page_bits)
        .stage(
            Stage::map(stage::CHUNKS, tasks.map(|task| json!(task)).collect())
                .reads(state::COPIES)
                .reads(state::SITES)
                .writes(shuffle::BY_CHUNK),
        )
        .stage(Stage::reduce(stage::COMMON, shuffle::BY_CHUNK).writes(shuffle::COMMON_BY_PAGE))
        .stage(states.into_iter().fold(frame, Stage::writes)))
}
