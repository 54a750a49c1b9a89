//! Every candidate is verified: by the grams of both pages, all of them.
//!
//! Candidates come sorted by the page that would stay. They are taken in batches; the texts of a
//! batch are read in the order of the corpus, each once, and held as sorted gram hashes. A batch
//! that does not fit is cut.

use std::collections::HashMap;
use std::sync::Arc;

use cento_flow::{Context, Groups, Registry, StageError};

use super::meet::{CHANGES, PAGES_CROWDED, last_round};
use super::params::CopiesParams;
use super::rows::{Candidate, Edge, Possible};
use crate::corpus_pages::CorpusPages;
use crate::words::{WordHasher, resemblance};

/// Candidates of a batch.
const BATCH: usize = 8192;
/// Grams that are held at once, for each thread: 24 MiB.
const GRAMS: usize = 3 << 20;

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>, params: &CopiesParams) {
    let (texts, asked) = (Arc::clone(source), params.clone());
    registry.reduce::<Candidate, _>("verify", move |context, groups| {
        let mut verifier = Verifier {
            source: &texts,
            params: &asked,
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
    /// Candidates that fitted at once so far.
    size: usize,
}

impl Verifier<'_> {
    fn run(
        &mut self,
        context: &Context<'_>,
        groups: &mut Groups<'_, Candidate>,
    ) -> Result<(), StageError> {
        let mut batch: Vec<Candidate> = Vec::new();
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

    /// Verifies candidates, as many at a time as fit.
    fn verify(&mut self, context: &Context<'_>, mut batch: &[Candidate]) -> Result<(), StageError> {
        let mut edges = context.shuffle::<Edge>("edges")?;
        let mut tried = context.shuffle::<Possible>("tried")?;
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
                    edges.push(Edge::new(candidate.page, candidate.of, resemblance as f32))?;
                    context.count("verified", 1);
                    let left = if last_round(candidate.round as u16) {
                        PAGES_CROWDED
                    } else {
                        CHANGES
                    };
                    context.count(left, 1);
                }
                context.check()?;
            }
            context.count("candidates", now.len() as u64);
            self.size = (2 * now.len()).min(BATCH);
            batch = later;
        }
        Ok(())
    }

    /// Loads the grams of all pages of some candidates; gives up if there are too many. The pages
    /// of one candidate always fit.
    fn load(&mut self, context: &Context<'_>, batch: &[Candidate]) -> Result<bool, StageError> {
        let pages = batch
            .iter()
            .flat_map(|candidate| [candidate.of, candidate.page]);
        let mut pages: Vec<u32> = pages.map(|place| place.page).collect();
        pages.sort_unstable();
        pages.dedup();
        self.sets.clear();
        let mut held = 0;
        // A few at a time, so that not all texts are read of those that will not fit.
        for now in pages.chunks(256) {
            let (k, hasher, sets) = (self.params.k as usize, &mut self.hasher, &mut self.sets);
            self.source.texts(now, |page, text| {
                context.check()?;
                if held < GRAMS || batch.len() == 1 {
                    let mut set = Vec::new();
                    hasher.gram_set(text, k, &mut set);
                    set.shrink_to_fit();
                    held += set.len();
                    sets.insert(page, set);
                }
                Ok::<_, StageError>(())
            })?;
            if held >= GRAMS && batch.len() > 1 {
                return Ok(false);
            }
        }
        if self.sets.len() < pages.len() {
            return Err("a page of a candidate has no text".into());
        }
        Ok(true)
    }
}
