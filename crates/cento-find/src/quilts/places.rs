//! Where the patches are.
//!
//! Rows of the hot stages know grams by their hashes alone. What was found of few pages is looked up in their texts at the end: each text
//! is read once, in the order of the corpus, both for what it took and for what it gave.
//!
//! ```text
//!   wanted: (page, quilt, rank, gram) ─ places ─▶ (quilt, rank, side, position, begin, end) ─ runs ─▶ by page: runs
//! ```

use std::sync::Arc;

use cento_flow::{Context, Registry, StageError};
use cento_print::{grams, word_hash};
use cento_text::words::WordScanner;
use serde::{Deserialize, Serialize};

use super::find::{Held, runs_order};
use super::params::Level;
use super::rows::{Place, Wanted};
use super::table::GramTable;
use crate::source::Source;

/// Texts that are read together.
const TEXTS: usize = 256;
/// What is wanted of texts that are read together: so much that it stays below what any page may need.
const BATCH: usize = 1 << 15;
/// Places of one gram in a source that a run can begin at.
const OCCURRENCES: u8 = 8;

/// A stretch of a page that a source has too, in bytes of both texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) begin: u32,
    pub(super) end: u32,
    pub(super) source_begin: u32,
    pub(super) source_end: u32,
}

pub(super) fn register(registry: &mut Registry, source: &Arc<Source>) {
    let texts = Arc::clone(source);
    registry.reduce::<Wanted, _>("places", move |context, groups| {
        let level: Level = context.parameters()?;
        let mut finder = Finder::new(&texts, level.k as usize);
        let mut held = Held::default();
        while let Some(group) = groups.next_group()? {
            finder.pages.push((group.key(), finder.wanted.len()));
            for row in group {
                finder.wanted.push(row);
                held.hold(context, (finder.wanted.len() * size_of::<Wanted>()) as u64);
            }
            if finder.pages.len() >= TEXTS || finder.wanted.len() >= BATCH {
                finder.find(context)?;
                held.let_go();
            }
        }
        finder.find(context)
    });
    registry.reduce::<Place, _>("runs", |context, groups| {
        let mut by_page = context.wide_shuffle("by page")?;
        let (mut page, mut source) = (Vec::new(), Vec::new());
        let mut held = Held::default();
        while let Some(group) = groups.next_group()? {
            let quilt = group.key();
            let mut rank = 0;
            let mut put_out = |rank: u32, page: &mut Vec<Place>, source: &mut Vec<Place>| {
                if !page.is_empty() {
                    let runs = serde_json::to_vec(&runs(page, source))?;
                    by_page.push_numbered(u64::from(quilt), runs_order(rank), &runs)?;
                }
                page.clear();
                source.clear();
                Ok::<_, StageError>(())
            };
            for row in group {
                if row.rank != rank {
                    put_out(rank, &mut page, &mut source)?;
                    rank = row.rank;
                }
                match row.side {
                    0 => page.push(row),
                    _ => source.push(row),
                }
                let places = page.len() + source.len();
                held.hold(context, (places * size_of::<Place>()) as u64);
            }
            put_out(rank, &mut page, &mut source)?;
            held.let_go();
        }
        Ok(())
    });
}

/// Finds grams in texts.
struct Finder<'a> {
    source: &'a Source,
    k: usize,
    /// Pages, and where what is wanted of them begins.
    pages: Vec<(u32, usize)>,
    wanted: Vec<Wanted>,
    scanner: WordScanner,
    words: Vec<u64>,
    ranges: Vec<(u32, u32)>,
    table: GramTable,
    /// How often each gram of the page was met.
    met: Vec<u8>,
}

impl<'a> Finder<'a> {
    fn new(source: &'a Source, k: usize) -> Finder<'a> {
        Finder {
            source,
            k,
            pages: Vec::new(),
            wanted: Vec::new(),
            scanner: WordScanner::new(),
            words: Vec::new(),
            ranges: Vec::new(),
            table: GramTable::default(),
            met: Vec::new(),
        }
    }

    /// Puts out the places of all that is wanted.
    fn find(&mut self, context: &Context<'_>) -> Result<(), StageError> {
        let numbers: Vec<u32> = self.pages.iter().map(|&(page, _)| page).collect();
        let pages = std::mem::take(&mut self.pages);
        let wanted = std::mem::take(&mut self.wanted);
        let mut at = 0;
        let source = self.source;
        source.texts(&numbers, |page, text| {
            context.check()?;
            // Numbers ascend on both sides.
            while pages.get(at).is_some_and(|&(number, _)| number < page) {
                at += 1;
            }
            let begin = pages.get(at).map_or(wanted.len(), |&(_, begin)| begin);
            let end = pages.get(at + 1).map_or(wanted.len(), |&(_, end)| end);
            self.find_in(context, text, wanted.get(begin..end).unwrap_or_default())
        })
    }

    fn find_in(
        &mut self,
        context: &Context<'_>,
        text: &str,
        wanted: &[Wanted],
    ) -> Result<(), StageError> {
        let mut places = context.shuffle::<Place>("places")?;
        let (words, ranges) = (&mut self.words, &mut self.ranges);
        words.clear();
        ranges.clear();
        self.scanner.scan(text, |word| {
            words.push(word_hash(word.normal));
            ranges.push((word.range.start as u32, word.range.end as u32));
        });
        self.table.reset(wanted.len());
        self.met.clear();
        self.met.resize(wanted.len(), 0);
        // What is wanted comes by gram, so those who want one follow the first.
        for (first, row) in wanted.iter().enumerate() {
            self.table.insert(row.gram, first as u32);
        }
        let (table, met, k) = (&self.table, &mut self.met, self.k);
        let mut outcome = Ok(());
        grams(words, k, |gram, position| {
            let Some(first) = table.get(gram).filter(|_| outcome.is_ok()) else {
                return;
            };
            let times = met.get_mut(first as usize).map_or(0, |times| {
                let before = *times;
                *times = times.saturating_add(1);
                before
            });
            let begin = ranges.get(position).map_or(0, |range| range.0);
            let end = ranges
                .get(position + k.max(1) - 1)
                .map_or(begin, |range| range.1);
            let wanting = wanted.get(first as usize..).unwrap_or_default().iter();
            for row in wanting.take_while(|row| row.gram == gram) {
                let side = u32::from(row.quilt != row.page);
                if side == 1 && times >= OCCURRENCES {
                    continue;
                }
                let place = Place {
                    quilt: row.quilt,
                    rank: row.rank,
                    side,
                    position: position as u32,
                    gram,
                    begin,
                    end,
                };
                if let Err(error) = places.push(place) {
                    outcome = Err(error);
                    return;
                }
            }
        });
        Ok(outcome?)
    }
}

/// The runs of a patch. A run goes on as long as the next gram of the page is the next gram of the source.
fn runs(page: &[Place], source: &mut [Place]) -> Vec<Run> {
    source.sort_unstable_by_key(|place| (place.gram, place.position));
    let source = &*source;
    let find = |gram: u64, position: u32| {
        let found =
            source.binary_search_by_key(&(gram, position), |place| (place.gram, place.position));
        found.ok().and_then(|at| source.get(at))
    };
    let mut runs: Vec<Run> = Vec::new();
    let mut last: Option<(u32, u32)> = None;
    for (at, place) in page.iter().enumerate() {
        let (position, gram) = (place.position, place.gram);
        let goes_on = last
            .filter(|&(here, _)| here + 1 == position)
            .and_then(|(_, there)| find(gram, there + 1));
        if let (Some(there), Some(run)) = (goes_on, runs.last_mut()) {
            (run.end, run.source_end) = (place.end, there.end);
            last = Some((position, there.position));
            continue;
        }
        let begin = source.partition_point(|other| other.gram < gram);
        let same = source.get(begin..).unwrap_or_default().iter();
        let mut same = same.take_while(|other| other.gram == gram);
        // Where the source has the gram several times, that place is meant from which it can go on.
        let next = page
            .get(at + 1)
            .filter(|next| next.position == position + 1);
        let chosen = next
            .and_then(|next| {
                let next = next.gram;
                same.clone()
                    .find(|other| find(next, other.position + 1).is_some())
            })
            .or_else(|| same.next());
        last = chosen.map(|there| (position, there.position));
        if let Some(there) = chosen {
            runs.push(Run {
                begin: place.begin,
                end: place.end,
                source_begin: there.begin,
                source_end: there.end,
            });
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places of one-letter words that stand two bytes apart, in grams of two.
    fn places(text: &str, side: u32) -> Vec<Place> {
        let letters: Vec<u64> = text.bytes().map(u64::from).collect();
        (0u32..)
            .zip(letters.windows(2))
            .map(|(position, pair)| Place {
                quilt: 0,
                rank: 0,
                side,
                position,
                gram: pair[0] << 8 | pair[1],
                begin: 2 * position,
                end: 2 * position + 3,
            })
            .collect()
    }

    fn found(page: &str, source: &str) -> Vec<[u32; 4]> {
        let mut source = places(source, 1);
        let page: Vec<Place> = places(page, 0)
            .into_iter()
            .filter(|place| {
                let gram = place.gram;
                source.iter().any(|other| {
                    let theirs = other.gram;
                    theirs == gram
                })
            })
            .collect();
        runs(&page, &mut source)
            .iter()
            .map(|run| [run.begin, run.end, run.source_begin, run.source_end])
            .collect()
    }

    #[test]
    fn a_run_is_as_long_as_both_go_on() {
        assert_eq!(found("abcd", "abcd"), [[0, 7, 0, 7]]);
        assert_eq!(found("xabcy", "uvabcw"), [[2, 7, 4, 9]]);
        // Both halves are in the source, the other way round.
        assert_eq!(found("abccde", "cdeabc"), [[0, 5, 6, 11], [6, 11, 0, 5]]);
        assert_eq!(found("wxyz", "abcd"), Vec::<[u32; 4]>::new());
    }

    #[test]
    fn of_several_places_that_one_is_meant_which_goes_on() {
        assert_eq!(found("abc", "abxabc"), [[0, 5, 6, 11]]);
        // A passage that is there twice is there twice.
        assert_eq!(found("abcxabc", "abc"), [[0, 5, 0, 5], [8, 13, 0, 5]]);
    }
}
