//! Verifies every candidate by all grams of both pages.
//!
//! Candidates are sorted by the page that would be kept and processed in batches. The texts of a
//! batch are read in corpus order, each once, and kept as sorted gram hashes. A batch that does not
//! fit is split.

use std::collections::HashMap;
use std::sync::Arc;

use cento_flow::{Context, Groups, Registry, StageError};

use super::candidates::{CHANGES, PAGES_CROWDED, last_round};
use super::copy_rows::{CandidatePair, NearEdge, Possible};
use super::params::CopiesParams;
use super::stage_names::{counter, shuffle, stage};
use crate::corpus_pages::CorpusPages;
use crate::words::{WordHasher, resemblance};

/// The most candidates in a batch.
const BATCH: usize = 8192;
/// The most grams in memory per thread: 24 MiB.
const GRAMS: usize = 3 << 20;

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>, params: &CopiesParams) {
    let (texts, settings) = (Arc::clone(source), params.clone());
    registry.reduce::<CandidatePair, _>(stage::VERIFY, move |context, groups| {
        let mut verifier = Verifier {
            source: &texts,
            params: &settings,
            hasher: WordHasher::default(),
            sets: HashMap::new(),
            size: BATCH,
        };
        verifier.run(context, groups)
    });
}

struct Verifier<'a> {
    source: &'a CorpusPages,
    params: &'a CopiesParams,
    hasher: WordHasher,
    sets: HashMap<u32, Vec<u64>>,
    /// The number of candidates to try next.
    size: usize,
}

impl Verifier<'_> {
    fn run(
        &mut self,
        context: &Context<'_>,
        groups: &mut Groups<'_, CandidatePair>,
    ) -> Result<(), StageError> {
        let mut batch: Vec<CandidatePair> = Vec::new();
        while let Some(group) = groups.next_group()? {
            for candidate in group {
                if batch.len() >= BATCH {
                    self.verify(context, &batch)?;
                    batch.clear();
                }
                batch.push(candidate);
            }
        }
        self.verify(context, &batch)
    }

    /// Verifies candidates, as many at a time as fit in memory.
    fn verify(
        &mut self,
        context: &Context<'_>,
        mut batch: &[CandidatePair],
    ) -> Result<(), StageError> {
        let mut edges = context.shuffle::<NearEdge>(shuffle::EDGES)?;
        let mut tried = context.shuffle::<Possible>(shuffle::TRIED)?;
        while !batch.is_empty() {
            let (now, later) = batch.split_at(self.size.clamp(1, batch.len()));
            if !self.load(context, now)? {
                self.size = now.len() / 2;
                continue;
            }
            for candidate in now {
                let set = |page: u32| self.sets.get(&page).map_or(&[][..], Vec::as_slice);
                let (page, of) = (set(candidate.page.page), set(candidate.of.page));
                let resemblance = resemblance(page, of);
                let alike = resemblance >= self.params.resemblance;
                tried.push(Possible::known(candidate, alike))?;
                if alike {
                    edges.push(NearEdge::new(
                        candidate.page,
                        candidate.of,
                        resemblance as f32,
                        candidate.round,
                    ))?;
                    context.count(counter::VERIFIED, 1);
                    let left = if last_round(candidate.round as u16) {
                        PAGES_CROWDED
                    } else {
                        CHANGES
                    };
                    context.count(left, 1);
                }
                context.check()?;
            }
            context.count(counter::CANDIDATES, now.len() as u64);
            self.size = (2 * now.len()).min(BATCH);
            batch = later;
        }
        Ok(())
    }

    /// Loads the grams of all pages of some candidates. Returns false if they do not fit; the pages
    /// of a single candidate always do.
    fn load(&mut self, context: &Context<'_>, batch: &[CandidatePair]) -> Result<bool, StageError> {
        let pages = batch
            .iter()
            .flat_map(|candidate| [candidate.of, candidate.page]);
        let mut pages: Vec<u32> = pages.map(|place| place.page).collect();
        pages.sort_unstable();
        pages.dedup();
        self.sets.clear();
        let mut loaded = 0;
        // In small steps, so that few texts are read in vain if they do not fit.
        for now in pages.chunks(256) {
            let (k, hasher, sets) = (self.params.k as usize, &mut self.hasher, &mut self.sets);
            self.source.texts(now, |page, text| {
                context.check()?;
                if loaded < GRAMS || batch.len() == 1 {
                    let mut set = Vec::new();
                    hasher.gram_set(text, k, &mut set);
                    set.shrink_to_fit();
                    loaded += set.len();
                    sets.insert(page, set);
                }
                Ok::<_, StageError>(())
            })?;
            if loaded >= GRAMS && batch.len() > 1 {
                return Ok(false);
            }
        }
        if self.sets.len() < pages.len() {
            return Err("a page of a candidate has no text".into());
        }
        Ok(true)
    }
}
