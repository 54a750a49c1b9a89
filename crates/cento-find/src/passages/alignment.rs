//! Aligns pairs of pages.
//!
//! Pairs are sorted by their later page and processed in batches. The texts of a batch are read in
//! the order of the corpus, each once, and prepared for comparison, without their frames. A batch
//! that does not fit is split.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use cento_align::{Aligner, Document, Fold};
use cento_flow::{Bitmap, Context, Groups, Registry, StageError};
use serde::{Deserialize, Serialize};

use super::flow_names::{counter, shuffle, stage};
use super::frames::Frames;
use super::params::{PairChoice, PassagesParams};
use super::passage_rows::RankPair;
use crate::corpus_pages::CorpusPages;
use crate::names::{NAMED, ROW};
use crate::overlap::page_order::PageOrder;

/// The most pairs in a batch.
const BATCH: usize = 4096;
/// The bytes of memory that a byte of text takes while it is compared.
pub(super) const GROWTH: u64 = 12;

/// The settings of the stage.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct AlignmentPlan {
    /// The bytes of text of a batch.
    pub(super) batch_bytes: u64,
}

/// A passage of two pages, given by their numbers. The order of its fields is that of the table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct FoundPassage {
    pub(super) a: u32,
    pub(super) b: u32,
    /// Begin and end on both sides, in bytes.
    pub(super) bytes: [u32; 4],
    /// Begin and end on both sides, in Unicode characters.
    pub(super) chars: [u32; 4],
    pub(super) words: u32,
    pub(super) identical: f64,
    pub(super) kind: String,
}

pub(super) fn register(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    params: &PassagesParams,
    order: &Arc<PageOrder>,
) {
    let (source, params, order) = (Arc::clone(source), params.clone(), Arc::clone(order));
    registry.reduce::<RankPair, _>(stage::ALIGN, move |context, groups| {
        let plan: AlignmentPlan = context.parameters()?;
        let mut batches = Batches {
            source: &source,
            order: &order,
            fold: params.fold.into(),
            aligner: Aligner::new(params.settings()),
            bytes: plan.batch_bytes as usize,
            size: BATCH,
        };
        let least = match params.pairs {
            PairChoice::Listed(_) => 1,
            _ => params.min_shared as usize,
        };
        batches.run(context, groups, least)
    });
}

struct Batches<'a> {
    source: &'a CorpusPages,
    order: &'a PageOrder,
    fold: Fold,
    aligner: Aligner,
    /// The most bytes of text in memory.
    bytes: usize,
    /// The number of pairs to try next.
    size: usize,
}

impl Batches<'_> {
    fn run(
        &mut self,
        context: &Context<'_>,
        groups: &mut Groups<'_, RankPair>,
        least: usize,
    ) -> Result<(), StageError> {
        let mut batch: Vec<RankPair> = Vec::new();
        while let Some(group) = groups.next_group()? {
            let key = group.key();
            if group.count() < least {
                continue;
            }
            if batch.len() >= BATCH {
                self.align(context, &batch)?;
                batch.clear();
            }
            batch.push(RankPair {
                a: (key >> 32) as u32,
                b: key as u32,
            });
        }
        self.align(context, &batch)
    }

    /// Aligns pairs, as many at a time as fit in memory.
    fn align(&mut self, context: &Context<'_>, mut batch: &[RankPair]) -> Result<(), StageError> {
        let named = context.state::<Bitmap>(NAMED)?;
        let mut rows = context.wide_shuffle(shuffle::BY_B)?;
        let frames = Frames::of(context)?;
        while !batch.is_empty() {
            let (now, later) = batch.split_at(self.size.clamp(1, batch.len()));
            let Some(texts) = self.load(context, now)? else {
                self.size = now.len() / 2;
                continue;
            };
            let documents: HashMap<u32, Content<'_>> = texts
                .iter()
                .map(|(&page, text)| {
                    (
                        page,
                        Content::new(text, frames.content(page, text), self.fold),
                    )
                })
                .collect();
            for pair in now {
                context.check()?;
                let (a, b) = (self.order.page(pair.a), self.order.page(pair.b));
                let (Some(later), Some(earlier)) = (documents.get(&a), documents.get(&b)) else {
                    return Err("a page of a pair has no text".into());
                };
                let passages = self.aligner.align(&later.document, &earlier.document);
                if passages.is_empty() {
                    continue;
                }
                context.count(counter::PAIRS, 1);
                named.set(u64::from(a));
                named.set(u64::from(b));
                for passage in passages {
                    let found = FoundPassage {
                        a,
                        b,
                        bytes: quarters(
                            shifted(&passage.a, later.begin),
                            shifted(&passage.b, earlier.begin),
                        ),
                        chars: quarters(
                            shifted(&passage.a_chars, later.begin_char),
                            shifted(&passage.b_chars, earlier.begin_char),
                        ),
                        words: passage.words as u32,
                        identical: passage.identical,
                        kind: passage.kind.as_str().to_owned(),
                    };
                    rows.push_numbered(u64::from(b), ROW, &serde_json::to_vec(&found)?)?;
                }
            }
            context.count(counter::CANDIDATES, now.len() as u64);
            self.size = (2 * now.len()).min(BATCH);
            batch = later;
        }
        Ok(())
    }

    /// Loads the texts of all pages of some pairs. None if they do not fit; the pages of a single
    /// pair always do.
    fn load(
        &self,
        context: &Context<'_>,
        batch: &[RankPair],
    ) -> Result<Option<HashMap<u32, String>>, StageError> {
        let ranks = batch.iter().flat_map(|pair| [pair.a, pair.b]);
        let mut pages: Vec<u32> = ranks.map(|rank| self.order.page(rank)).collect();
        pages.sort_unstable();
        pages.dedup();
        let mut texts = HashMap::with_capacity(pages.len());
        let mut loaded = 0;
        // In small steps, so that few texts are read in vain if they do not fit.
        for now in pages.chunks(256) {
            self.source.texts(now, |page, text| {
                context.check()?;
                loaded += text.len();
                if loaded <= self.bytes || batch.len() == 1 {
                    texts.insert(page, text.to_owned());
                }
                Ok::<_, StageError>(())
            })?;
            if loaded > self.bytes && batch.len() > 1 {
                return Ok(None);
            }
        }
        Ok(Some(texts))
    }
}

/// The text of a page without its frame.
struct Content<'t> {
    document: Document<'t>,
    /// Where it begins in the text of the page, in bytes and in characters.
    begin: usize,
    begin_char: usize,
}

impl<'t> Content<'t> {
    fn new(text: &'t str, content: Range<usize>, fold: Fold) -> Content<'t> {
        Content {
            begin: content.start,
            begin_char: text[..content.start].chars().count(),
            document: Document::folded(&text[content], fold),
        }
    }
}

fn shifted(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

fn quarters(a: Range<usize>, b: Range<usize>) -> [u32; 4] {
    [a.start, a.end, b.start, b.end].map(|place| u32::try_from(place).unwrap_or(u32::MAX))
}
