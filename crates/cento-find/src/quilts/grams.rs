//! From texts to patch grams.
//!
//! ```text
//!   texts ─ note ─▶ seen                 (only if not all grams fit in memory)
//!   texts ─ grams ──▶ by gram: (gram, page) ─ patch grams ─┬─▶ postings: (gram, page), for grams on 2 to m pages
//!             └─────▶ counts:  (page, sort, count) ◀───────┘
//! ```

use std::sync::Arc;

use cento_fingerprint::grams;
use cento_flow::{Bitmap, Emitter, Registry, SeenFilter, StageError};

use super::order::{Earliest, PageOrder};
use super::params::Level;
use super::rows::{Count, FIRST, GRAMS, GramPage, PATCH, SHARED, Tally};
use super::table::GramTable;
use crate::collapsed::GONE;
use crate::corpus_pages::CorpusPages;
use crate::words::{GramRounds, WordHasher};

/// Makes sets of grams, one text after the other.
#[derive(Default)]
struct GramSets {
    hasher: WordHasher,
    table: GramTable,
    grams: Vec<u64>,
    rounds: GramRounds,
}

/// Bytes of a text whose grams are made at once; those of a longer one are made in rounds of
/// bounded memory.
const AT_ONCE: usize = 1 << 20;

impl GramSets {
    /// Calls `each` with the distinct grams of a text, some at a time. A text of fewer than `k`
    /// words has none.
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
        self.table.reset(words.len());
        let (table, set) = (&mut self.table, &mut self.grams);
        grams(words, k, |gram, _| {
            if table.insert(gram, 0) {
                set.push(gram);
            }
        });
        each(&self.grams)
    }
}

/// Counts of pages, added up while they are at hand: grams of one page come up again and again.
struct Adder {
    pages: Vec<u32>,
    counts: Vec<u32>,
    sorts: usize,
}

/// Pages that counts are added up for at once.
const ADDED: usize = 1 << 13;
/// No page.
const FREE: u32 = u32::MAX;

/// Puts a count out, in as many rows as it needs.
fn put_out(
    page: u32,
    sort: u32,
    mut count: u32,
    out: &mut Emitter<Count>,
) -> cento_flow::Result<()> {
    while count > 0 {
        let now = count.min(Count::MOST);
        out.push(Count::new(page, sort, now))?;
        count -= now;
    }
    Ok(())
}

impl Adder {
    fn new(level: &Level) -> Adder {
        let sorts = PATCH as usize + level.ms.len();
        Adder {
            pages: vec![FREE; ADDED],
            counts: vec![0; ADDED * sorts],
            sorts,
        }
    }

    #[inline(always)]
    fn add(&mut self, page: u32, sort: u32, out: &mut Emitter<Count>) -> cento_flow::Result<()> {
        let place = (page.wrapping_mul(0x9e37_79b1) >> 19) as usize;
        if self.pages.get(place).is_some_and(|&held| held != page) {
            self.put_out(place, out)?;
            if let Some(held) = self.pages.get_mut(place) {
                *held = page;
            }
        }
        if let Some(count) = self.counts.get_mut(place * self.sorts + sort as usize) {
            *count += 1;
        }
        Ok(())
    }

    fn put_out(&mut self, place: usize, out: &mut Emitter<Count>) -> cento_flow::Result<()> {
        let page = self.pages.get(place).copied().unwrap_or(FREE);
        let counts = self
            .counts
            .get_mut(place * self.sorts..(place + 1) * self.sorts);
        for (sort, count) in (0..).zip(counts.unwrap_or_default()) {
            put_out(page, sort, std::mem::take(count), out)?;
        }
        Ok(())
    }

    fn finish(mut self, out: &mut Emitter<Count>) -> cento_flow::Result<()> {
        (0..ADDED).try_for_each(|place| self.put_out(place, out))
    }
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    let texts = Arc::clone(source);
    registry.map("note", move |context| {
        let level: Level = context.parameters()?;
        let seen = context.state::<SeenFilter>(&level.name("seen"))?;
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
    let texts = Arc::clone(source);
    registry.map("grams", move |context| {
        let level: Level = context.parameters()?;
        let seen = match level.filtered {
            true => Some(context.state::<SeenFilter>(&level.name("seen"))?),
            false => None,
        };
        let gone = context.state::<Bitmap>(GONE)?;
        let mut by_gram = context.shuffle::<GramPage>(&level.name("by gram"))?;
        let mut counts = context.shuffle::<Count>(&level.name("counts"))?;
        if !level.findings {
            // A definition that nothing fits is told about too.
            let mut tally = context.shuffle::<Tally>("tally")?;
            for point in &level.points {
                tally.push(Tally {
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
                put_out(page, GRAMS, set.len() as u32, &mut counts)?;
                for &gram in set {
                    if seen.as_ref().is_none_or(|seen| seen.seen_again(gram)) {
                        by_gram.push(GramPage { gram, page })?;
                    }
                }
                Ok(context.check()?)
            })
        })
    });
    registry.reduce::<GramPage, _>("patch grams", |context, groups| {
        let level: Level = context.parameters()?;
        let order = match level.findings {
            true => Some(context.state::<PageOrder>("order")?),
            false => None,
        };
        let mut counts = context.shuffle::<Count>(&level.name("counts"))?;
        let mut postings = context.shuffle::<GramPage>(&level.name("postings"))?;
        let mut adder = Adder::new(&level);
        let most = level.most();
        let mut pages: Vec<u32> = Vec::with_capacity(most);
        while let Some(group) = groups.next_group()? {
            let gram = group.key();
            pages.clear();
            let mut earliest = Earliest::new();
            let mut see = |page: u32| {
                if let Some(order) = &order {
                    earliest.see(page, order.get(page));
                }
            };
            let mut common = false;
            for row in group {
                if pages.len() < most {
                    pages.push(row.page);
                } else {
                    // On too many pages to be a patch gram for any m; that it is shared counts
                    // nonetheless.
                    common = true;
                    see(row.page);
                    adder.add(row.page, SHARED, &mut counts)?;
                }
            }
            if pages.len() < 2 {
                continue;
            }
            let sort = PATCH + level.ms.partition_point(|&m| (m as usize) < pages.len()) as u32;
            for &page in &pages {
                see(page);
                if common {
                    adder.add(page, SHARED, &mut counts)?;
                } else {
                    adder.add(page, sort, &mut counts)?;
                    postings.push(GramPage { gram, page })?;
                }
            }
            if let Some(page) = earliest.first() {
                adder.add(page, FIRST, &mut counts)?;
            }
        }
        adder.finish(&mut counts)?;
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grams_are_distinct_and_a_short_text_has_none() {
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
        // Long enough for several rounds, and all of its grams are among seven.
        assert_eq!(count(&"a b c d e f g ".repeat(1 << 17), 5), 7);
    }
}
