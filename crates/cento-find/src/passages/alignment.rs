//! Aligns pairs of pages.
//!
//! Pairs are sorted so that consecutive ones have few pages ([`SharedPlace`]), and processed in
//! batches. The texts of a batch are read in the order of the corpus, each once, and prepared for
//! comparison, without their frames, unless they are there from an earlier batch
//! ([`PreparedPages`]). A batch that does not fit is split.
//!
//! Most pairs share a notice, a phrase or a quotation and nothing else. Sentences are therefore
//! compared around the fingerprints that both pages have; listed pairs are compared as a whole.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use cento_align::{Aligner, Fold};
use cento_flow::{Bitmap, Context, Groups, Registry, StageError};
use serde::{Deserialize, Serialize};

use super::flow_names::{counter, shuffle, stage, state};
use super::frames::Frames;
use super::params::{PairChoice, PassagesParams};
use super::passage_rows::SharedPlace;
use super::prepared::{PreparedPage, PreparedPages};
use crate::corpus_pages::CorpusPages;
use crate::names::{NAMED, ROW};
use crate::overlap::page_order::PageOrder;

/// The most pairs in a batch.
const BATCH: usize = 4096;
/// The most places in a batch, but for those of its last pair.
const PLACES: usize = 1 << 18;
/// Fingerprints that are this near, in bytes on both sides, are one place.
const NEAR: u32 = 64;
/// The most bytes between two fingerprints of a run. Those of running text are four words apart at
/// most.
const STEP: u32 = 160;
/// The most bytes by which a step is longer on one side: white space, or a word that was replaced.
const UNEVEN: u32 = 16;

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
    /// The words of both sides.
    pub(super) words: [u32; 2],
    pub(super) identical: f64,
    /// The share of the words of each side that the other has.
    pub(super) shares: [f64; 2],
    pub(super) kind: String,
    /// Whether its pages share only fingerprints that are on many pages.
    pub(super) is_frequent: bool,
}

pub(super) fn register(
    registry: &mut Registry,
    source: &Arc<CorpusPages>,
    params: &PassagesParams,
    order: &Arc<PageOrder>,
) {
    let (source, params, order) = (Arc::clone(source), params.clone(), Arc::clone(order));
    registry.reduce::<SharedPlace, _>(stage::ALIGN, move |context, groups| {
        let plan: AlignmentPlan = context.parameters()?;
        let mut batches = Batches {
            source: &source,
            order: &order,
            fold: params.fold.into(),
            aligner: Aligner::new(params.settings()),
            bytes: plan.batch_bytes as usize,
            size: BATCH,
            least: match params.pairs {
                PairChoice::Listed(_) => None,
                _ => Some(params.min_shared as usize),
            },
            run: params.min_chars.div_ceil(4),
        };
        batches.run(context, groups)
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
    /// The fewest fingerprints that a pair shares. None if pairs are listed.
    least: Option<usize>,
    /// The bytes from the first to the last of a run of frequent fingerprints: shorter ones are
    /// phrases.
    run: u32,
}

/// A pair of pages, given by their numbers, and where its places are in the list of the batch.
#[derive(Debug, Clone)]
struct Pair {
    /// The later page.
    a: u32,
    /// The earlier page.
    b: u32,
    places: Range<usize>,
    /// Whether they share only fingerprints that are on many pages.
    is_frequent: bool,
}

/// Whether places of two pages have a run that is this long. They are in the order of one page.
fn has_run(places: &[(u32, u32)], least: u32) -> bool {
    let mut length = 0;
    places.windows(2).any(|pair| {
        let step = |one: u32, other: u32| other.checked_sub(one).filter(|&step| step <= STEP);
        let [(a, b), (next_a, next_b)] = [pair[0], pair[1]];
        length = match (step(a, next_a), step(b, next_b)) {
            (Some(in_a), Some(in_b)) if in_a.abs_diff(in_b) <= UNEVEN => length + in_a.min(in_b),
            _ => 0,
        };
        length >= least
    })
}

impl Batches<'_> {
    fn run(
        &mut self,
        context: &Context<'_>,
        groups: &mut Groups<'_, SharedPlace>,
    ) -> Result<(), StageError> {
        let mut batch: Vec<Pair> = Vec::new();
        let mut places: Vec<(u32, u32)> = Vec::new();
        let mut rare: Vec<(u32, u32)> = Vec::new();
        let mut frequent: Vec<(u32, u32)> = Vec::new();
        while let Some(group) = groups.next_group()? {
            if batch.len() >= BATCH || places.len() >= PLACES {
                self.align(context, &batch, &places)?;
                batch.clear();
                places.clear();
            }
            let (higher, lower) = SharedPlace::pages(group.key());
            let is_later = self.order.rank(higher) > self.order.rank(lower);
            rare.clear();
            frequent.clear();
            for row in group {
                match row.is_frequent() {
                    true => frequent.push(row.places()),
                    false => rare.push(row.places()),
                }
            }
            let is_rare = rare.len() >= self.least.unwrap_or(1);
            let is_frequent = has_run(&frequent, self.run);
            if !is_rare && !is_frequent {
                continue;
            }
            if is_frequent {
                rare.append(&mut frequent);
                rare.sort_unstable();
            }
            let first = places.len();
            for &(in_higher, in_lower) in &rare {
                let place = match is_later {
                    true => (in_higher, in_lower),
                    false => (in_lower, in_higher),
                };
                let is_near = places[first..].last().is_some_and(|last| {
                    place.0.abs_diff(last.0) < NEAR && place.1.abs_diff(last.1) < NEAR
                });
                if !is_near {
                    places.push(place);
                }
            }
            batch.push(Pair {
                a: if is_later { higher } else { lower },
                b: if is_later { lower } else { higher },
                places: first..places.len(),
                is_frequent: !is_rare,
            });
        }
        self.align(context, &batch, &places)
    }

    /// Aligns pairs, as many at a time as fit in memory.
    fn align(
        &mut self,
        context: &Context<'_>,
        mut batch: &[Pair],
        places: &[(u32, u32)],
    ) -> Result<(), StageError> {
        let named = context.state::<Bitmap>(NAMED)?;
        let mut rows = context.wide_shuffle(shuffle::BY_B)?;
        let frames = Frames::of(context)?;
        let kept = context.state::<PreparedPages>(state::PREPARED)?;
        let mut within = Vec::new();
        while !batch.is_empty() {
            let (now, later) = batch.split_at(self.size.clamp(1, batch.len()));
            let Some(pages) = self.load(context, now, &kept, &frames)? else {
                self.size = now.len() * 3 / 4;
                continue;
            };
            for pair in now {
                context.check()?;
                let (a, b) = (pair.a, pair.b);
                let (Some(later), Some(earlier)) = (pages.get(&a), pages.get(&b)) else {
                    return Err("a page of a pair has no text".into());
                };
                let (one, other) = (&later.document, &earlier.document);
                let passages = match self.least {
                    None => self.aligner.align(one, other),
                    Some(_) => {
                        within.clear();
                        let places = places.get(pair.places.clone()).unwrap_or_default();
                        within.extend(places.iter().filter_map(|&(in_a, in_b)| {
                            Some((later.place(in_a)?, earlier.place(in_b)?))
                        }));
                        self.aligner.align_near(one, other, &within)
                    }
                };
                if passages.is_empty() {
                    continue;
                }
                context.count(counter::PAIRS, u64::from(!pair.is_frequent));
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
                        words: [passage.words as u32, passage.b_words as u32],
                        identical: passage.identical,
                        shares: [passage.a_in_b, passage.b_in_a],
                        kind: passage.kind.as_str().to_owned(),
                        is_frequent: pair.is_frequent,
                    };
                    rows.push_numbered(u64::from(b), ROW, &serde_json::to_vec(&found)?)?;
                }
            }
            let frequent = now.iter().filter(|pair| pair.is_frequent).count() as u64;
            context.count(counter::CANDIDATES, now.len() as u64 - frequent);
            context.count(counter::FREQUENT, frequent);
            self.size = (now.len() + now.len().div_ceil(4)).min(BATCH);
            batch = later;
        }
        Ok(())
    }

    /// Loads and prepares all pages of some pairs. None if they do not fit; the pages of a single
    /// pair always do.
    fn load(
        &self,
        context: &Context<'_>,
        batch: &[Pair],
        kept: &PreparedPages,
        frames: &Frames,
    ) -> Result<Option<HashMap<u32, Arc<PreparedPage>>>, StageError> {
        let mut numbers: Vec<u32> = batch.iter().flat_map(|pair| [pair.a, pair.b]).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut pages = HashMap::with_capacity(numbers.len());
        let mut loaded = 0;
        numbers.retain(|&number| {
            let page = kept.get(number);
            loaded += page.as_ref().map_or(0, |page| page.bytes);
            let is_missing = page.is_none();
            pages.extend(page.map(|page| (number, page)));
            is_missing
        });
        // In small steps, so that few texts are read in vain if they do not fit.
        for now in numbers.chunks(256) {
            self.source.texts(now, |number, text| {
                context.check()?;
                loaded += text.len();
                if loaded <= self.bytes || batch.len() == 1 {
                    let content = frames.content(number, text);
                    let page = Arc::new(PreparedPage::new(text, content, self.fold));
                    kept.insert(number, &page);
                    pages.insert(number, page);
                }
                Ok::<_, StageError>(())
            })?;
            if loaded > self.bytes && batch.len() > 1 {
                return Ok(None);
            }
        }
        let fits = loaded <= self.bytes || batch.len() == 1;
        Ok(fits.then_some(pages))
    }
}

fn shifted(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

fn quarters(a: Range<usize>, b: Range<usize>) -> [u32; 4] {
    [a.start, a.end, b.start, b.end].map(|place| u32::try_from(place).unwrap_or(u32::MAX))
}
