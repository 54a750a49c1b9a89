//! From texts to patch grams.
//!
//! ```text
//!   texts ─ note ─▶ seen                 (only if not all grams fit in memory)
//!   texts ─ grams ──▶ by gram: (gram, page) ─ patch grams ─┬─▶ postings: (gram, page)
//!             └─────▶ counts:  (page, category, count) ◀───┘   for grams on 2 to m pages
//! ```

use std::sync::Arc;

use cento_fingerprint::grams;
use cento_flow::{Bitmap, Emitter, Registry, SeenFilter, StageError};

use super::flow_names::{shuffle, stage, state};
use super::gram_rows::{CategoryCount, FIRST, GRAMS, GramPage, PATCH, SHARED, SweepTally};
use super::gram_table::GramSet;
use super::order::{DateOrder, Earliest};
use super::params::Level;
use crate::collapsed::GONE;
use crate::corpus_pages::CorpusPages;
use crate::words::{GramRounds, WordHasher};

/// Computes the sets of grams of texts, one text after the other.
#[derive(Default)]
struct GramSets {
    hasher: WordHasher,
    known: GramSet,
    grams: Vec<u64>,
    rounds: GramRounds,
}

/// The longest text, in bytes, whose grams are computed at once. Those of longer texts are computed
/// in rounds of bounded memory.
const AT_ONCE: usize = 1 << 20;

impl GramSets {
    /// Calls `each` with the distinct grams of a text, some at a time. A text of fewer than `k`
    /// words has no grams.
    fn of(
        &mut self,
        text: &str,
        k: usize,
        mut each: impl FnMut(&[u64]) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        if text.len() > AT_ONCE {
            return self.rounds.of(text, k, each);
        }
        let words = self.hasher.words(text);
        self.grams.clear();
        self.known.reset(words.len());
        let (known, set) = (&mut self.known, &mut self.grams);
        grams(words, k, |gram, _| {
            if known.insert(gram) {
                set.push(gram);
            }
        });
        each(&self.grams)
    }
}

/// A cache that sums up the counts of pages before they are emitted. The grams of a page occur
/// close to each other.
struct CountCache {
    pages: Vec<u32>,
    counts: Vec<u32>,
    categories: usize,
}

/// Slots of the cache, one for each page.
const CACHED: usize = 1 << 13;
/// An empty slot.
const FREE: u32 = u32::MAX;

/// Emits a count, in as many rows as it needs.
fn emit(
    page: u32,
    category: u32,
    mut count: u32,
    out: &mut Emitter<CategoryCount>,
) -> cento_flow::Result<()> {
    while count > 0 {
        let now = count.min(CategoryCount::MOST);
        out.push(CategoryCount::new(page, category, now))?;
        count -= now;
    }
    Ok(())
}

impl CountCache {
    fn new(level: &Level) -> CountCache {
        let categories = PATCH as usize + level.ms.len();
        CountCache {
            pages: vec![FREE; CACHED],
            counts: vec![0; CACHED * categories],
            categories,
        }
    }

    #[inline(always)]
    fn add(
        &mut self,
        page: u32,
        category: u32,
        out: &mut Emitter<CategoryCount>,
    ) -> cento_flow::Result<()> {
        let slot = (page.wrapping_mul(0x9e37_79b1) >> 19) as usize;
        if self.pages.get(slot).is_some_and(|&cached| cached != page) {
            self.flush(slot, out)?;
            if let Some(cached) = self.pages.get_mut(slot) {
                *cached = page;
            }
        }
        let at = slot * self.categories + category as usize;
        if let Some(count) = self.counts.get_mut(at) {
            *count += 1;
        }
        Ok(())
    }

    fn flush(&mut self, slot: usize, out: &mut Emitter<CategoryCount>) -> cento_flow::Result<()> {
        let page = self.pages.get(slot).copied().unwrap_or(FREE);
        let counts = self
            .counts
            .get_mut(slot * self.categories..(slot + 1) * self.categories);
        for (category, count) in (0..).zip(counts.unwrap_or_default()) {
            emit(page, category, std::mem::take(count), out)?;
        }
        Ok(())
    }

    fn finish(mut self, out: &mut Emitter<CategoryCount>) -> cento_flow::Result<()> {
        (0..CACHED).try_for_each(|slot| self.flush(slot, out))
    }
}

pub(super) fn register(registry: &mut Registry, corpus: &Arc<CorpusPages>) {
    let texts = Arc::clone(corpus);
    registry.map(stage::NOTE, move |context| {
        let level: Level = context.parameters()?;
        let seen = context.state::<SeenFilter>(&level.name(state::SEEN))?;
        let gone = context.state::<Bitmap>(GONE)?;
        let mut sets = GramSets::default();
        texts.for_each_text(&context.task()?, |page, text| {
            context.check()?;
            if gone.get(u64::from(page)) {
                return Ok::<_, StageError>(());
            }
            sets.of(text, level.k as usize, |set| {
                set.iter().for_each(|&gram| seen.note(gram));
                Ok(context.check()?)
            })
        })
    });
    let texts = Arc::clone(corpus);
    registry.map(stage::GRAMS, move |context| {
        let level: Level = context.parameters()?;
        let seen = match level.filtered {
            true => Some(context.state::<SeenFilter>(&level.name(state::SEEN))?),
            false => None,
        };
        let gone = context.state::<Bitmap>(GONE)?;
        let mut by_gram = context.shuffle::<GramPage>(&level.name(shuffle::BY_GRAM))?;
        let mut counts = context.shuffle::<CategoryCount>(&level.name(shuffle::COUNTS))?;
        if !level.findings {
            // A definition without quilts gets a row, too.
            let mut tally = context.shuffle::<SweepTally>(shuffle::TALLY)?;
            for point in &level.points {
                tally.push(SweepTally {
                    quilts: 0,
                    sources: 0,
                    point: point.number,
                    unused: 0,
                })?;
            }
        }
        let mut sets = GramSets::default();
        texts.for_each_text(&context.task()?, |page, text| {
            if gone.get(u64::from(page)) {
                return Ok::<_, StageError>(());
            }
            sets.of(text, level.k as usize, |set| {
                emit(page, GRAMS, set.len() as u32, &mut counts)?;
                for &gram in set {
                    if seen.as_ref().is_none_or(|seen| seen.seen_again(gram)) {
                        by_gram.push(GramPage { gram, page })?;
                    }
                }
                Ok(context.check()?)
            })
        })
    });
    registry.reduce::<GramPage, _>(stage::PATCH_GRAMS, |context, groups| {
        let level: Level = context.parameters()?;
        let order = match level.findings {
            true => Some(context.state::<DateOrder>(state::ORDER)?),
            false => None,
        };
        let mut counts = context.shuffle::<CategoryCount>(&level.name(shuffle::COUNTS))?;
        let mut postings = context.shuffle::<GramPage>(&level.name(shuffle::POSTINGS))?;
        let mut cache = CountCache::new(&level);
        let most = level.most();
        let mut pages: Vec<u32> = Vec::with_capacity(most);
        while let Some(group) = groups.next_group()? {
            let gram = group.key();
            pages.clear();
            let mut earliest = Earliest::new();
            let mut see = |page: u32| {
                if let Some(order) = &order
                    && !earliest.is_undecidable()
                {
                    earliest.see(page, order.get(page));
                }
            };
            let mut common = false;
            for row in group {
                if pages.len() < most {
                    pages.push(row.page);
                } else {
                    // On too many pages to be a patch gram for any m; it still counts as shared.
                    common = true;
                    see(row.page);
                    cache.add(row.page, SHARED, &mut counts)?;
                }
            }
            if pages.len() < 2 {
                continue;
            }
            let category = PATCH + level.ms.partition_point(|&m| (m as usize) < pages.len()) as u32;
            for &page in &pages {
                see(page);
                if common {
                    cache.add(page, SHARED, &mut counts)?;
                } else {
                    cache.add(page, category, &mut counts)?;
                    postings.push(GramPage { gram, page })?;
                }
            }
            if let Some(page) = earliest.first() {
                cache.add(page, FIRST, &mut counts)?;
            }
        }
        cache.finish(&mut counts)?;
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grams_are_distinct_and_a_short_text_has_no_grams() {
        let mut sets = GramSets::default();
        let mut count = |text: &str, k| {
            let mut count = 0;
            sets.of(text, k, |set| {
                count += set.len();
                Ok(())
            })
            .unwrap();
            count
        };
        assert_eq!(count("a b a b a b", 2), 2);
        assert_eq!(count("a b c", 5), 0);
        assert_eq!(count("", 1), 0);
        assert_eq!(count("A b, c d! E", 5), 1);
        // Long enough for several rounds, with seven distinct grams.
        assert_eq!(count(&"a b c d e f g ".repeat(1 << 17), 5), 7);
    }
}
