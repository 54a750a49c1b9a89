//! Where the patches are.
//!
//! Rows of the hot stages know grams by their hashes alone. Where they are is looked up in the
//! texts of few pages: in that of a quilt as soon as its cover is known, and then in those of its
//! sources, each read once, in the order of the corpus.
//!
//! ```text
//!   cover ─ in the text of the quilt ─▶ sought: (source, quilt, position, gram) ─ runs, in the text of the source ─▶ by page: runs
//! ```

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_fingerprint::{GramHasher, packed_word_hash, word_hash};
use cento_flow::{Context, Registry, StageError};
use cento_text::words::WordScanner;

use super::find::{Held, runs_order};
use super::params::Level;
use super::rows::Sought;
use super::table::GramTable;
use crate::corpus_pages::CorpusPages;

/// Texts that are read together.
const TEXTS: usize = 256;
/// What is sought in texts that are read together: so much that it stays near what any page may
/// need.
const BATCH: usize = 1 << 16;
/// What is sought in the text of one quilt at a time, about 40 MiB. For more of it the text is read
/// again.
const ROUND: usize = 1 << 20;
/// What is sought in the text of one source for one quilt at a time, about 40 MiB.
const PART: usize = 1 << 19;
/// Places of one gram in a source that a run can begin at.
const OCCURRENCES: usize = 8;

/// A stretch of a page that a source has too, in bytes of both texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Run {
    pub(super) begin: u32,
    pub(super) end: u32,
    pub(super) source_begin: u32,
    pub(super) source_end: u32,
}

impl Run {
    /// Runs as they travel.
    pub(super) fn all_from(bytes: &[u8]) -> Vec<Run> {
        bytemuck::pod_collect_to_vec(bytes)
    }
}

/// Scans texts for their grams, one after the other, and keeps nothing of them.
struct GramScanner {
    scanner: WordScanner,
    hasher: GramHasher,
    /// Where the last words begin, as a ring.
    begins: Vec<u32>,
}

/// A gram of a text: the number of its first word, and its bytes.
#[derive(Clone, Copy)]
struct Place {
    position: u32,
    begin: u32,
    end: u32,
}

impl GramScanner {
    fn new(k: u32) -> GramScanner {
        let k = k.max(1) as usize;
        GramScanner {
            scanner: WordScanner::new(),
            hasher: GramHasher::new(k),
            begins: vec![0; k],
        }
    }

    /// Calls `each` with every gram of a text, in order. After an error the rest is not looked at.
    fn scan(
        &mut self,
        text: &str,
        mut each: impl FnMut(u64, Place) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        self.hasher.reset();
        let (hasher, begins) = (&mut self.hasher, &mut self.begins);
        let (mut words, mut result) = (0, Ok(()));
        self.scanner.scan_ranged_keys(text, |range, key| {
            if result.is_err() {
                return;
            }
            let slot = words % begins.len();
            if let Some(begin) = begins.get_mut(slot) {
                *begin = range.start as u32;
            }
            words += 1;
            if let Some(gram) = hasher.push(key.either(packed_word_hash, word_hash)) {
                // The ring is full, so the oldest word is in the next slot.
                let place = Place {
                    position: (words - begins.len()) as u32,
                    begin: begins.get(words % begins.len()).copied().unwrap_or(0),
                    end: range.end as u32,
                };
                result = each(gram, place);
            }
        });
        result
    }
}

/// A patch gram of a quilt, and the source that gives it.
#[derive(Clone, Copy)]
pub(super) struct GivenGram {
    pub(super) gram: u64,
    pub(super) rank: u32,
    pub(super) source: u32,
}

/// Finds the patch grams of quilts in their texts.
pub(super) struct Seeker<'a> {
    source: &'a CorpusPages,
    /// Quilts, and where what is sought in them begins.
    quilts: Vec<(u32, usize)>,
    given: Vec<GivenGram>,
    table: GramTable,
    text: GramScanner,
}

impl<'a> Seeker<'a> {
    pub(super) fn new(source: &'a CorpusPages, k: u32) -> Seeker<'a> {
        Seeker {
            source,
            quilts: Vec::new(),
            given: Vec::new(),
            table: GramTable::default(),
            text: GramScanner::new(k),
        }
    }

    /// Takes a quilt on. Quilts ascend.
    pub(super) fn add(
        &mut self,
        context: &Context<'_>,
        quilt: u32,
        given: impl Iterator<Item = GivenGram>,
    ) -> Result<(), StageError> {
        self.quilts.push((quilt, self.given.len()));
        for given in given {
            // A long page is looked through several times, for some of its grams each time.
            if self.given.len() >= ROUND {
                self.seek(context)?;
                self.quilts.push((quilt, 0));
            }
            self.given.push(given);
        }
        Ok(())
    }

    /// Bytes of what is to be sought.
    pub(super) fn bytes(&self) -> u64 {
        (self.given.len() * size_of::<GivenGram>()) as u64
    }

    /// Whether it is time to look.
    pub(super) fn is_full(&self) -> bool {
        self.quilts.len() >= TEXTS || self.given.len() >= BATCH
    }

    /// Looks into the texts, and asks the sources for all that is found there.
    pub(super) fn seek(&mut self, context: &Context<'_>) -> Result<(), StageError> {
        let mut sought = context.shuffle::<Sought>("sought")?;
        let numbers: Vec<u32> = self.quilts.iter().map(|&(quilt, _)| quilt).collect();
        let ends = self.quilts.iter().skip(1).map(|&(_, begin)| begin);
        let mut given = self
            .quilts
            .iter()
            .zip(ends.chain([self.given.len()]))
            .map(|(&(_, begin), end)| self.given.get(begin..end).unwrap_or_default());
        let (text, table) = (&mut self.text, &mut self.table);
        self.source.texts(&numbers, |quilt, words| {
            context.check()?;
            let given = given.next().unwrap_or_default();
            table.reset(given.len());
            for (number, given) in (0..).zip(given) {
                table.insert(given.gram, number);
            }
            text.scan(words, |gram, place| {
                let number = table.get(gram);
                if let Some(found) = number.and_then(|number| given.get(number as usize)) {
                    sought.push(Sought {
                        source: found.source,
                        quilt,
                        rank: found.rank,
                        position: place.position,
                        gram,
                        begin: place.begin,
                        end: place.end,
                    })?;
                }
                Ok(())
            })
        })?;
        self.quilts.clear();
        self.given.clear();
        Ok(())
    }
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    let texts = Arc::clone(source);
    registry.reduce::<Sought, _>("runs", move |context, groups| {
        let level: Level = context.parameters()?;
        let mut finder = Finder::new(&texts, level.k);
        let mut held = Held::default();
        while let Some(group) = groups.next_group()? {
            let source = group.key();
            finder.pages.push((source, finder.sought.len()));
            let (mut quilt, mut rows) = (None, 0);
            for row in group {
                // What very many quilts seek in one page is found in turns: a number of whole
                // patches at a time, or a part of a very long one. Where such a part ends depends
                // on the patch alone, or else the runs would depend on how the work was shared out.
                let other = quilt.is_some_and(|quilt| quilt != row.quilt);
                rows = if other { 0 } else { rows };
                if other && finder.sought.len() >= BATCH || rows >= PART {
                    finder.find(context, other)?;
                    finder.pages.push((source, 0));
                    rows = 0;
                }
                (quilt, rows) = (Some(row.quilt), rows + 1);
                finder.sought.push(row);
                held.hold(context, (finder.sought.len() * size_of::<Sought>()) as u64);
            }
            if finder.pages.len() >= TEXTS || finder.sought.len() >= BATCH {
                finder.find(context, true)?;
                held.let_go();
            }
        }
        finder.find(context, true)
    });
}

/// Finds in the texts of sources what quilts have of them.
struct Finder<'a> {
    source: &'a CorpusPages,
    /// Sources, and where what is sought in them begins.
    pages: Vec<(u32, usize)>,
    sought: Vec<Sought>,
    text: GramScanner,
    places: Places,
    /// The last gram of a patch that was not whole, here and in the source, and its run.
    open: Option<(u32, u32, Run)>,
    runs: Vec<Run>,
}

impl<'a> Finder<'a> {
    fn new(source: &'a CorpusPages, k: u32) -> Finder<'a> {
        Finder {
            source,
            pages: Vec::new(),
            sought: Vec::new(),
            text: GramScanner::new(k),
            places: Places::default(),
            open: None,
            runs: Vec::new(),
        }
    }

    /// Puts out the runs of all that is sought. The last patch is `whole`, or more of it follows.
    fn find(&mut self, context: &Context<'_>, whole: bool) -> Result<(), StageError> {
        let mut by_page = context.wide_shuffle("by page")?;
        let numbers: Vec<u32> = self.pages.iter().map(|&(page, _)| page).collect();
        let ends = self.pages.iter().skip(1).map(|&(_, begin)| begin);
        let mut sought = self
            .pages
            .iter()
            .zip(ends.chain([self.sought.len()]))
            .map(|(&(_, begin), end)| self.sought.get(begin..end).unwrap_or_default());
        let (text, places, runs) = (&mut self.text, &mut self.places, &mut self.runs);
        let (open, last) = (&mut self.open, self.sought.last().map(|row| row.quilt));
        let last_page = numbers.last().copied();
        self.source.texts(&numbers, |page, words| {
            context.check()?;
            let sought = sought.next().unwrap_or_default();
            places.take(sought, words, text)?;
            for patch in sought.chunk_by(|one, next| one.quilt == next.quilt) {
                let Some(Sought { quilt, rank, .. }) = patch.first() else {
                    continue;
                };
                runs.clear();
                let end = places.runs(patch, open.take(), runs);
                let (quilt, rank) = (*quilt, *rank);
                if !whole && last_page == Some(page) && last == Some(quilt) {
                    *open = end
                        .zip(runs.pop())
                        .map(|((here, there), run)| (here, there, run));
                }
                if !runs.is_empty() {
                    let (order, runs) = (runs_order(rank), bytemuck::cast_slice(runs));
                    by_page.push_numbered(u64::from(quilt), order, runs)?;
                }
            }
            Ok::<_, StageError>(())
        })?;
        self.pages.clear();
        self.sought.clear();
        Ok(())
    }
}

/// Where a source has what is sought in it.
#[derive(Default)]
struct Places {
    table: GramTable,
    /// Every place in the source of a gram that is sought, in order, with the number of the gram.
    met: Vec<(u32, Place)>,
    /// How often each gram was met, up to [`OCCURRENCES`], and then where its places end.
    ends: Vec<u32>,
    /// Which of `met` are the first places of the grams, those of one together.
    firsts: Vec<u32>,
}

impl Places {
    fn take(
        &mut self,
        sought: &[Sought],
        words: &str,
        text: &mut GramScanner,
    ) -> Result<(), StageError> {
        self.table.reset(sought.len());
        let mut grams = 0;
        for row in sought {
            grams += u32::from(self.table.insert(row.gram, grams));
        }
        self.ends.clear();
        self.ends.resize(grams as usize, 0);
        self.met = Vec::new();
        let (table, met, ends) = (&self.table, &mut self.met, &mut self.ends);
        text.scan(words, |gram, place| {
            let number = table.get(gram);
            if let Some(number) = number {
                met.push((number, place));
                if let Some(times) = ends.get_mut(number as usize) {
                    *times = (*times + 1).min(OCCURRENCES as u32);
                }
            }
            Ok(())
        })?;
        let mut sum = 0;
        for times in &mut self.ends {
            (*times, sum) = (sum, sum + *times);
        }
        self.firsts.clear();
        self.firsts.resize(sum as usize, 0);
        let begins = self.ends.clone();
        for (at, &(number, _)) in (0..).zip(&self.met) {
            let begin = begins.get(number as usize).copied().unwrap_or(0);
            if let Some(end) = self.ends.get_mut(number as usize)
                && (*end - begin) < OCCURRENCES as u32
                && let Some(slot) = self.firsts.get_mut(*end as usize)
            {
                *slot = at;
                *end += 1;
            }
        }
        Ok(())
    }

    /// The first places of a gram in the source, in order: which of `met` they are.
    fn of(&self, gram: u64) -> &[u32] {
        let Some(number) = self.table.get(gram) else {
            return &[];
        };
        let end = |number: usize| self.ends.get(number).map_or(0, |&end| end as usize);
        let begin = (number as usize).checked_sub(1).map_or(0, end);
        let places = self.firsts.get(begin..end(number as usize));
        places.unwrap_or_default()
    }

    /// The place right behind this one, if that gram stands there.
    fn next(&self, at: usize, gram: u64) -> Option<(usize, Place)> {
        let (_, place) = self.met.get(at)?;
        let (number, next) = self.met.get(at + 1)?;
        let follows = place.position + 1 == next.position && self.table.get(gram) == Some(*number);
        follows.then_some((at + 1, *next))
    }

    /// The same for a place that is known by its position.
    fn behind(&self, position: u32, gram: u64) -> Option<(usize, Place)> {
        let found = self
            .met
            .binary_search_by_key(&(position + 1), |(_, place)| place.position);
        let at = found.ok()?;
        let (number, place) = self.met.get(at)?;
        (self.table.get(gram) == Some(*number)).then_some((at, *place))
    }

    /// The runs of a patch. A run goes on as long as the next gram of the page is the next gram of
    /// the source. Answers where it ended, here and in the source, so that the rest of the patch
    /// can go on there.
    fn runs(
        &self,
        patch: &[Sought],
        open: Option<(u32, u32, Run)>,
        runs: &mut Vec<Run>,
    ) -> Option<(u32, u32)> {
        // The last gram of the page, and where in the source it is.
        let mut last: Option<(u32, usize)> = None;
        let mut before = open.map(|(here, there, run)| {
            runs.push(run);
            (here, there)
        });
        for (at, row) in patch.iter().enumerate() {
            let (position, gram, begin, end) = (row.position, row.gram, row.begin, row.end);
            let next = match (last, before.take()) {
                (Some((here, there)), _) if here + 1 == position => self.next(there, gram),
                (_, Some((here, there))) if here + 1 == position => self.behind(there, gram),
                _ => None,
            };
            if let (Some((there, place)), Some(run)) = (next, runs.last_mut()) {
                (run.end, run.source_end) = (end, place.end);
                last = Some((position, there));
                continue;
            }
            let same = self.of(gram).iter().map(|&there| there as usize);
            // Where the source has the gram several times, that place is meant from which it can go
            // on.
            let next = patch.get(at + 1).copied();
            let next = next.filter(|next| next.position == position + 1);
            let chosen = next
                .and_then(|next| {
                    let mut same = same.clone();
                    same.find(|&there| self.next(there, next.gram).is_some())
                })
                .or_else(|| same.clone().next());
            last = chosen.map(|there| (position, there));
            if let Some((_, place)) = chosen.and_then(|there| self.met.get(there)) {
                runs.push(Run {
                    begin,
                    end,
                    source_begin: place.begin,
                    source_end: place.end,
                });
            }
        }
        let (here, there) = last?;
        let (_, place) = self.met.get(there)?;
        Some((here, place.position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The grams of two words of a text of one-letter words that stand two bytes apart.
    fn grams(words: &str) -> Vec<(u64, Place)> {
        let mut grams = Vec::new();
        GramScanner::new(2)
            .scan(words, |gram, place| {
                grams.push((gram, place));
                Ok(())
            })
            .unwrap();
        grams
    }

    /// The runs of a page, which is looked at in parts of so many grams.
    fn found_in_parts(page: &str, source: &str, part: usize) -> Vec<[u32; 4]> {
        let text = |letters: &str| {
            let words: Vec<String> = letters.chars().map(String::from).collect();
            words.join(" ")
        };
        let (page, source) = (text(page), text(source));
        let known: Vec<u64> = grams(&source).into_iter().map(|(gram, _)| gram).collect();
        let patch: Vec<Sought> = grams(&page)
            .into_iter()
            .filter(|(gram, _)| known.contains(gram))
            .map(|(gram, place)| Sought {
                source: 1,
                quilt: 0,
                rank: 0,
                position: place.position,
                gram,
                begin: place.begin,
                end: place.end,
            })
            .collect();
        let mut scanner = GramScanner::new(2);
        let (mut all, mut runs, mut open) = (Vec::new(), Vec::new(), None);
        for part in patch.chunks(part) {
            let mut places = Places::default();
            places.take(part, &source, &mut scanner).unwrap();
            runs.clear();
            let end = places.runs(part, open.take(), &mut runs);
            open = end
                .zip(runs.pop())
                .map(|((here, there), run)| (here, there, run));
            all.extend_from_slice(&runs);
        }
        all.extend(open.map(|(_, _, run)| run));
        assert_eq!(Run::all_from(bytemuck::cast_slice(&all)), all);
        all.iter()
            .map(|run| [run.begin, run.end, run.source_begin, run.source_end])
            .collect()
    }

    fn found(page: &str, source: &str) -> Vec<[u32; 4]> {
        found_in_parts(page, source, usize::MAX)
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
        // The source has the passage more often than places are kept for a gram.
        let often = "xab".repeat(20) + "abc";
        assert_eq!(found("abab", &often).len(), 2);
    }

    #[test]
    fn a_long_patch_has_the_same_runs_part_by_part() {
        let source = "abcdefghijklmnop";
        for part in 1..8 {
            assert_eq!(found_in_parts("xcdefghijy", source, part), [[2, 17, 4, 19]]);
            let runs = found_in_parts("cdeficdefg", source, part);
            assert_eq!(runs, [[0, 7, 4, 11], [10, 19, 4, 13]], "{part}");
        }
    }
}
