//! From texts to patch grams.
//!
//! ```text
//!   texts ─ note ─▶ seen                 (only if not all grams fit in memory)
//!   texts ─ grams ──▶ by gram: (gram, page) ─ patch grams ─┬─▶ postings: (class, pages, grams)
//!             └─────▶ counts:  (page, category, count) ◀───┘   for grams on 2 to m pages
//! ```
//!
//! Grams on the same pages are a class. A page that was copied whole is one class, and a passage of
//! twenty words is sixteen grams in one; so most classes have many grams, and what follows moves
//! and reads the list of their pages once. A task sees some of the grams of a class: postings are
//! grouped by the hash of the list.

use std::sync::Arc;

use cento_fingerprint::{GramHasher, grams, packed_word_hash, word_hash};
use cento_flow::{Bitmap, Emitter, Registry, SeenFilter, StageError};
use cento_text::words::WordScanner;

use super::cover::GramClasses;
use super::flow_names::{shuffle, stage, state};
use super::gram_rows::{
    CategoryCount, ClassPart, FIRST, GRAMS, GramPage, PATCH, REPEATED, SHARED, SweepTally,
};
use super::order::{DateOrder, Earliest};
use super::params::Level;
use crate::collapsed::GONE;
use crate::corpus_pages::CorpusPages;
use crate::gram_sets::{AT_ONCE, GramSets};
use crate::gram_table::RecentGrams;
use crate::words::WordHasher;

/// Computes the grams of texts, one text after the other.
#[derive(Default)]
struct PageGrams {
    hasher: WordHasher,
    scanner: WordScanner,
    recent: RecentGrams,
    grams: Vec<u64>,
}

/// The grams of a longer text that are passed on together.
const BATCH: usize = 1 << 16;

impl PageGrams {
    /// Calls `each` with the grams of a text, some at a time. Most that occur again are left out,
    /// not all: to find the others is cheaper after sorting. A text of fewer than `k` words has no
    /// grams.
    fn of(
        &mut self,
        text: &str,
        k: usize,
        mut each: impl FnMut(&[u64]) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        if text.len() > AT_ONCE {
            return self.of_long(text, k, &mut each);
        }
        let words = self.hasher.words(text);
        self.recent.reset(words.len());
        if self.grams.len() < words.len() {
            self.grams.resize(words.len(), 0);
        }
        let (recent, list, mut count) = (&mut self.recent, &mut self.grams, 0);
        grams(words, k, |gram, _| {
            // Every gram is written, because a branch would be unpredictable.
            if let Some(slot) = list.get_mut(count) {
                *slot = gram;
            }
            count += usize::from(recent.insert(gram));
        });
        each(self.grams.get(..count).unwrap_or_default())
    }

    /// Like [`PageGrams::of`], in little memory.
    fn of_long(
        &mut self,
        text: &str,
        k: usize,
        each: &mut dyn FnMut(&[u64]) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        let mut hasher = GramHasher::new(k);
        self.recent.reset(text.len());
        self.grams.clear();
        let (recent, list, mut result) = (&mut self.recent, &mut self.grams, Ok(()));
        self.scanner.scan_keys(text, |key| {
            let gram = hasher.push(key.either(packed_word_hash, word_hash));
            list.extend(gram.filter(|&gram| recent.insert(gram)));
            if list.len() >= BATCH {
                if result.is_ok() {
                    result = each(list);
                }
                list.clear();
            }
        });
        result?;
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
/// Grams whose classes are formed together, and pages in the lists of the classes: a megabyte.
const MOST_GRAMS: usize = 1 << 16;
const MOST_LISTED: usize = 1 << 17;
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
        amount: u32,
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
            *count += amount;
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
                seen.note_all(set);
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
        let (mut sets, mut grams) = (GramSets::default(), PageGrams::default());
        texts.for_each_text(&context.task()?, |page, text| {
            if gone.get(u64::from(page)) {
                return Ok::<_, StageError>(());
            }
            let k = level.k as usize;
            let Some(seen) = &seen else {
                return grams.of(text, k, |some| {
                    emit(page, GRAMS, some.len() as u32, &mut counts)?;
                    for &gram in some {
                        by_gram.push(GramPage { gram, page })?;
                    }
                    Ok(context.check()?)
                });
            };
            // As they were noted: each once, so that a gram of this page alone is dropped, and
            // counted once.
            sets.of(text, k, |set| {
                emit(page, GRAMS, set.len() as u32, &mut counts)?;
                for gram in seen.repeated(set) {
                    by_gram.push(GramPage { gram, page })?;
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
        let mut postings = context.shuffle::<ClassPart>(&level.name(shuffle::POSTINGS))?;
        let mut cache = CountCache::new(&level);
        let most = level.most();
        let mut pages: Vec<u32> = Vec::with_capacity(most);
        let mut classes = GramClasses::default();
        let mut flush = |classes: &mut GramClasses, cache: &mut CountCache, counts: &mut _| {
            classes.for_each_class(|pages, grams| -> Result<(), StageError> {
                let count = grams.len() as u32;
                let category = level.ms.partition_point(|&m| (m as usize) < pages.len());
                let mut earliest = Earliest::new();
                for &page in pages {
                    cache.add(page, PATCH + category as u32, count, counts)?;
                    if let Some(order) = &order
                        && !earliest.is_undecidable()
                    {
                        earliest.see(page, order.get(page));
                    }
                }
                if let Some(page) = earliest.first() {
                    cache.add(page, FIRST, count, counts)?;
                }
                Ok(postings.extend(ClassPart::rows(pages, grams))?)
            })?;
            classes.clear();
            Ok::<_, StageError>(())
        };
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
            let (mut last, mut common) = (None, false);
            for row in group {
                if last.replace(row.page) == Some(row.page) {
                    cache.add(row.page, REPEATED, 1, &mut counts)?;
                } else if pages.len() < most {
                    pages.push(row.page);
                } else {
                    // On too many pages to be a patch gram for any m; it still counts as shared.
                    common = true;
                    see(row.page);
                    cache.add(row.page, SHARED, 1, &mut counts)?;
                }
            }
            if common {
                for &page in &pages {
                    see(page);
                    cache.add(page, SHARED, 1, &mut counts)?;
                }
                if let Some(page) = earliest.first() {
                    cache.add(page, FIRST, 1, &mut counts)?;
                }
            } else if pages.len() > 1 {
                classes.add(gram, 0, &pages);
                let (grams, pages) = classes.size();
                if grams >= MOST_GRAMS || pages >= MOST_LISTED {
                    flush(&mut classes, &mut cache, &mut counts)?;
                }
            }
        }
        flush(&mut classes, &mut cache, &mut counts)?;
        cache.finish(&mut counts)?;
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_grams_are_distinct_and_a_short_text_has_no_grams() {
        let mut grams = PageGrams::default();
        let mut count = |text: &str, k| {
            let mut count = 0;
            grams
                .of(text, k, |some| {
                    count += some.len();
                    Ok(())
                })
                .unwrap();
            count
        };
        assert_eq!(count(&"a b ".repeat(300), 2), 2);
        // Both grams have the same slot in a small table.
        assert_eq!(count("a b a b a b", 2), 5);
        assert_eq!(count("a b c", 5), 0);
        assert_eq!(count("", 1), 0);
        assert_eq!(count("A b, c d! E", 5), 1);
        // Too long for its words to be stored, with seven distinct grams.
        assert_eq!(count(&"a b c d e f g ".repeat(1 << 17), 5), 7);
    }
}
