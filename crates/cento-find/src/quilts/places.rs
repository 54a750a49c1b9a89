//! The positions of patches in the texts.
//!
//! The rows of the hot stages contain only hashes of grams. Their positions are looked up in the
//! texts of few pages: in that of a quilt as soon as its cover is known, and then in those of its
//! sources, each read once, in the order of the corpus.
//!
//! ```text
//!   cover ─ scan the quilt ─▶ positions: (source, quilt, position, gram)
//!   positions ─ runs: scan the source ─▶ by page: runs
//! ```

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_fingerprint::{GramHasher, grams, packed_word_hash, word_hash};
use cento_flow::{Context, Registry, StageError};
use cento_text::words::WordScanner;

use super::covering::{PageMemory, runs_order};
use super::flow_names::{shuffle, stage};
use super::gram_rows::{PatchPosition, PatchPositions};
use super::params::Level;
use crate::corpus_pages::CorpusPages;
use crate::gram_table::{GramFilter, GramTable};

/// Texts that are read in one batch.
const TEXTS: usize = 256;
/// Grams that are looked up in one batch of texts. Their memory stays near what any page may use.
const BATCH: usize = 1 << 16;
/// Grams that are looked up in the text of one quilt at a time, about 40 MiB. For more grams the
/// text is read again.
const ROUND: usize = 1 << 20;
/// Grams that are looked up in the text of one source for one quilt at a time, about 40 MiB.
const PART: usize = 1 << 19;
/// Occurrences of one gram in a source at which a run can begin.
const OCCURRENCES: usize = 8;

/// A passage that a page shares with a source, in bytes of both texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct PatchRun {
    pub(super) begin: u32,
    pub(super) end: u32,
    pub(super) source_begin: u32,
    pub(super) source_end: u32,
}

impl PatchRun {
    /// Reads runs from a record.
    pub(super) fn all_from(bytes: &[u8]) -> Vec<PatchRun> {
        bytemuck::pod_collect_to_vec(bytes)
    }
}

/// The longest text, in bytes, whose words are stored while it is scanned: at most 8 MiB of them.
const AT_ONCE: usize = 1 << 20;

/// Scans texts for grams, one text after the other.
struct GramScanner {
    k: usize,
    scanner: WordScanner,
    /// The hashes of the words of a text, and where each begins and ends.
    words: Vec<u64>,
    ranges: Vec<(u32, u32)>,
    /// For texts that are longer.
    hasher: GramHasher,
    /// Where the last k words begin, as a ring buffer.
    begins: Vec<u32>,
}

/// An occurrence of a gram in a text: the number of its first word, and its bytes.
#[derive(Clone, Copy)]
struct Occurrence {
    position: u32,
    begin: u32,
    end: u32,
}

impl GramScanner {
    fn new(k: u32) -> GramScanner {
        let k = k.max(1) as usize;
        GramScanner {
            k,
            scanner: WordScanner::new(),
            words: Vec::new(),
            ranges: Vec::new(),
            hasher: GramHasher::new(k),
            begins: vec![0; k],
        }
    }

    /// Finds the grams of a table in a text. Calls `each` with the number of each gram in the table
    /// and where it occurs, in order, until it fails.
    fn scan(
        &mut self,
        text: &str,
        table: &GramTable,
        filter: &GramFilter,
        mut each: impl FnMut(u32, Occurrence) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        if text.len() > AT_ONCE {
            return self.scan_long(text, |gram, place| match table.get(gram) {
                Some(number) => each(number, place),
                None => Ok(()),
            });
        }
        let (words, ranges) = (&mut self.words, &mut self.ranges);
        words.clear();
        ranges.clear();
        self.scanner.scan_ranged_keys(text, |range, key| {
            words.push(key.either(packed_word_hash, word_hash));
            ranges.push((range.start as u32, range.end as u32));
        });
        let (last, mut result) = (self.k - 1, Ok(()));
        grams(words, self.k, |gram, position| {
            if !filter.may_have(gram) || result.is_err() {
                return;
            }
            if let Some(number) = table.get(gram)
                && let Some(&(begin, _)) = ranges.get(position)
                && let Some(&(_, end)) = ranges.get(position + last)
            {
                let position = position as u32;
                let place = Occurrence {
                    position,
                    begin,
                    end,
                };
                result = each(number, place);
            }
        });
        result
    }

    /// Calls `each` with every gram of a text, in order, until it fails. Takes no memory.
    fn scan_long(
        &mut self,
        text: &str,
        mut each: impl FnMut(u64, Occurrence) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        self.hasher.reset();
        let (hasher, begins) = (&mut self.hasher, &mut self.begins);
        let (mut grams, mut slot, mut result) = (0, 0, Ok(()));
        self.scanner.scan_ranged_keys(text, |range, key| {
            if result.is_err() {
                return;
            }
            if let Some(begin) = begins.get_mut(slot) {
                *begin = range.start as u32;
            }
            slot = if slot + 1 == begins.len() {
                0
            } else {
                slot + 1
            };
            if let Some(gram) = hasher.push(key.either(packed_word_hash, word_hash)) {
                // The ring is full, so the oldest word is in the next slot.
                let place = Occurrence {
                    position: grams,
                    begin: begins.get(slot).copied().unwrap_or(0),
                    end: range.end as u32,
                };
                grams += 1;
                result = each(gram, place);
            }
        });
        result
    }
}

/// A patch gram of a quilt, and the source that covers it.
#[derive(Clone, Copy)]
pub(super) struct CoveredGram {
    pub(super) gram: u64,
    pub(super) rank: u32,
    pub(super) source: u32,
}

/// Finds the patch grams of quilts in their texts.
pub(super) struct PatchLocator<'a> {
    corpus: &'a CorpusPages,
    /// Quilts, and where their grams begin.
    quilts: Vec<(u32, usize)>,
    covered: Vec<CoveredGram>,
    table: GramTable,
    filter: GramFilter,
    text: GramScanner,
}

impl<'a> PatchLocator<'a> {
    pub(super) fn new(corpus: &'a CorpusPages, k: u32) -> PatchLocator<'a> {
        PatchLocator {
            corpus,
            quilts: Vec::new(),
            covered: Vec::new(),
            table: GramTable::default(),
            filter: GramFilter::default(),
            text: GramScanner::new(k),
        }
    }

    /// Adds a quilt. Quilts ascend.
    pub(super) fn add(
        &mut self,
        context: &Context<'_>,
        quilt: u32,
        covered: impl Iterator<Item = CoveredGram>,
    ) -> Result<(), StageError> {
        self.quilts.push((quilt, self.covered.len()));
        for gram in covered {
            // A long page is scanned several times, for some of its grams each time.
            if self.covered.len() >= ROUND {
                self.locate(context)?;
                self.quilts.push((quilt, 0));
            }
            self.covered.push(gram);
        }
        Ok(())
    }

    /// Bytes of the grams to look up.
    pub(super) fn bytes(&self) -> u64 {
        (self.covered.len() * size_of::<CoveredGram>()) as u64
    }

    /// Whether there is enough for a batch.
    pub(super) fn is_full(&self) -> bool {
        self.quilts.len() >= TEXTS || self.covered.len() >= BATCH
    }

    /// Scans the texts, and sends each position to the source of its gram.
    pub(super) fn locate(&mut self, context: &Context<'_>) -> Result<(), StageError> {
        let mut positions = context.shuffle::<PatchPositions>(shuffle::POSITIONS)?;
        let numbers: Vec<u32> = self.quilts.iter().map(|&(quilt, _)| quilt).collect();
        let ends = self.quilts.iter().skip(1).map(|&(_, begin)| begin);
        let mut covered = self
            .quilts
            .iter()
            .zip(ends.chain([self.covered.len()]))
            .map(|(&(_, begin), end)| self.covered.get(begin..end).unwrap_or_default());
        let (text, table, filter) = (&mut self.text, &mut self.table, &mut self.filter);
        self.corpus.texts(&numbers, |quilt, words| {
            context.check()?;
            let covered = covered.next().unwrap_or_default();
            table.reset(covered.len());
            filter.reset(covered.len());
            for (number, covered) in (0..).zip(covered) {
                table.insert(covered.gram, number);
                filter.add(covered.gram);
            }
            let mut row = PatchPositions::zeroed();
            text.scan(words, table, filter, |number, place| {
                let found = covered.get(number as usize);
                let complete = found.and_then(|found| {
                    row.add(&PatchPosition {
                        source: found.source,
                        quilt,
                        rank: found.rank,
                        position: place.position,
                        gram: found.gram,
                        begin: place.begin,
                        end: place.end,
                    })
                });
                if let Some(complete) = complete {
                    positions.push(complete)?;
                }
                Ok(())
            })?;
            if !row.is_empty() {
                positions.push(row)?;
            }
            Ok::<_, StageError>(())
        })?;
        self.quilts.clear();
        self.covered.clear();
        Ok(())
    }
}

pub(super) fn register(registry: &mut Registry, corpus: &Arc<CorpusPages>) {
    let texts = Arc::clone(corpus);
    registry.reduce::<PatchPositions, _>(stage::RUNS, move |context, groups| {
        let level: Level = context.parameters()?;
        let mut finder = RunFinder::new(&texts, level.k);
        let mut memory = PageMemory::default();
        while let Some(group) = groups.next_group()? {
            let source = group.key();
            finder.pages.push((source, finder.positions.len()));
            let (mut quilt, mut rows) = (None, 0);
            for row in group.flat_map(PatchPositions::positions) {
                // A page that is the source of very many quilts is processed in turns: a number of
                // whole patches at a time, or a part of a very long one. Where such a part ends
                // depends on the patch alone, else the runs would depend on the number of threads.
                let other = quilt.is_some_and(|quilt| quilt != row.quilt);
                rows = if other { 0 } else { rows };
                if other && finder.positions.len() >= BATCH || rows >= PART {
                    finder.find(context, other)?;
                    finder.pages.push((source, 0));
                    rows = 0;
                }
                (quilt, rows) = (Some(row.quilt), rows + 1);
                finder.positions.push(row);
                // Bounded by `PART` even if the budget has nothing left.
                let bytes = finder.positions.len() * size_of::<PatchPosition>();
                memory.reserve(context, bytes as u64);
            }
            if finder.pages.len() >= TEXTS || finder.positions.len() >= BATCH {
                finder.find(context, true)?;
                memory.release();
            }
        }
        finder.find(context, true)
    });
}

/// Finds the patches of quilts in the texts of their sources.
struct RunFinder<'a> {
    corpus: &'a CorpusPages,
    /// Sources, and where their positions begin.
    pages: Vec<(u32, usize)>,
    positions: Vec<PatchPosition>,
    text: GramScanner,
    places: SourceGrams,
    /// The last gram of a patch that was cut, here and in the source, and its run.
    open: Option<(u32, u32, PatchRun)>,
    runs: Vec<PatchRun>,
}

impl<'a> RunFinder<'a> {
    fn new(corpus: &'a CorpusPages, k: u32) -> RunFinder<'a> {
        RunFinder {
            corpus,
            pages: Vec::new(),
            positions: Vec::new(),
            text: GramScanner::new(k),
            places: SourceGrams::default(),
            open: None,
            runs: Vec::new(),
        }
    }

    /// Emits the runs of all positions. `whole` is false if more of the last patch follows.
    fn find(&mut self, context: &Context<'_>, whole: bool) -> Result<(), StageError> {
        let mut by_page = context.wide_shuffle(shuffle::BY_PAGE)?;
        let numbers: Vec<u32> = self.pages.iter().map(|&(page, _)| page).collect();
        let ends = self.pages.iter().skip(1).map(|&(_, begin)| begin);
        let mut positions = self
            .pages
            .iter()
            .zip(ends.chain([self.positions.len()]))
            .map(|(&(_, begin), end)| self.positions.get(begin..end).unwrap_or_default());
        let (text, places, runs) = (&mut self.text, &mut self.places, &mut self.runs);
        let (open, last) = (&mut self.open, self.positions.last().map(|row| row.quilt));
        let last_page = numbers.last().copied();
        self.corpus.texts(&numbers, |page, words| {
            context.check()?;
            let positions = positions.next().unwrap_or_default();
            places.find(positions, words, text)?;
            let mut next = 0;
            for patch in positions.chunk_by(|one, next| one.quilt == next.quilt) {
                let first = next;
                next += patch.len();
                let Some(PatchPosition { quilt, rank, .. }) = patch.first() else {
                    continue;
                };
                runs.clear();
                let end = places.runs(patch, first, open.take(), runs);
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
        self.positions.clear();
        Ok(())
    }
}

/// The occurrences in a source of the grams of its patches.
#[derive(Default)]
struct SourceGrams {
    table: GramTable,
    filter: GramFilter,
    /// The number of the gram of each position.
    numbers: Vec<u32>,
    /// Every occurrence in the source, in order, with the number of the gram.
    found: Vec<(u32, Occurrence)>,
    /// How often each gram occurs, up to [`OCCURRENCES`]; then the end of its range in `firsts`.
    ends: Vec<u32>,
    /// The first occurrences of the grams, as indices of `found`, grouped by gram.
    firsts: Vec<u32>,
}

impl SourceGrams {
    /// Finds the grams of the positions in the text of the source.
    fn find(
        &mut self,
        positions: &[PatchPosition],
        words: &str,
        text: &mut GramScanner,
    ) -> Result<(), StageError> {
        self.table.reset(positions.len());
        self.filter.reset(positions.len());
        self.numbers.clear();
        let mut grams = 0;
        for row in positions {
            let number = self.table.insert(row.gram, grams);
            grams += u32::from(number == grams);
            self.numbers.push(number);
            self.filter.add(row.gram);
        }
        self.ends.clear();
        self.ends.resize(grams as usize, 0);
        match self.found.capacity() > BATCH {
            true => self.found = Vec::new(),
            false => self.found.clear(),
        }
        let (found, ends) = (&mut self.found, &mut self.ends);
        text.scan(words, &self.table, &self.filter, |number, place| {
            found.push((number, place));
            if let Some(times) = ends.get_mut(number as usize) {
                *times = (*times + 1).min(OCCURRENCES as u32);
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
        for (at, &(number, _)) in (0..).zip(&self.found) {
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

    /// The first occurrences of the gram with this number in the source, as indices of `found`.
    fn of(&self, number: u32) -> &[u32] {
        let end = |number: usize| self.ends.get(number).map_or(0, |&end| end as usize);
        let begin = (number as usize).checked_sub(1).map_or(0, end);
        let places = self.firsts.get(begin..end(number as usize));
        places.unwrap_or_default()
    }

    /// The occurrence that directly follows this one, if it is the gram with this number.
    fn next(&self, at: usize, number: u32) -> Option<(usize, Occurrence)> {
        let (_, place) = self.found.get(at)?;
        let (found, next) = self.found.get(at + 1)?;
        let follows = place.position + 1 == next.position && number == *found;
        follows.then_some((at + 1, *next))
    }

    /// Like [`SourceGrams::next`], for an occurrence that is given by its position.
    fn after(&self, position: u32, number: u32) -> Option<(usize, Occurrence)> {
        let found = self
            .found
            .binary_search_by_key(&(position + 1), |(_, place)| place.position);
        let at = found.ok()?;
        let (found, place) = self.found.get(at)?;
        (number == *found).then_some((at, *place))
    }

    /// Appends the runs of a patch, whose first position has this index. A run continues as long as
    /// the next gram of the page is the next gram of the source. Returns where the last run ended,
    /// here and in the source, so that the rest of the patch can continue it.
    fn runs(
        &self,
        patch: &[PatchPosition],
        first: usize,
        open: Option<(u32, u32, PatchRun)>,
        runs: &mut Vec<PatchRun>,
    ) -> Option<(u32, u32)> {
        // The last gram of the page, and where in the source it is.
        let mut last: Option<(u32, usize)> = None;
        let mut before = open.map(|(here, there, run)| {
            runs.push(run);
            (here, there)
        });
        let numbers = self.numbers.get(first..).unwrap_or_default();
        for (at, (row, &number)) in patch.iter().zip(numbers).enumerate() {
            let (position, begin, end) = (row.position, row.begin, row.end);
            let next = match (last, before.take()) {
                (Some((here, there)), _) if here + 1 == position => self.next(there, number),
                (_, Some((here, there))) if here + 1 == position => self.after(there, number),
                _ => None,
            };
            if let (Some((there, place)), Some(run)) = (next, runs.last_mut()) {
                (run.end, run.source_end) = (end, place.end);
                last = Some((position, there));
                continue;
            }
            let same = self.of(number).iter().map(|&there| there as usize);
            // If the source has the gram several times, the run begins at the first occurrence that
            // can be continued.
            let next = patch.get(at + 1).zip(numbers.get(at + 1));
            let next = next.filter(|(next, _)| next.position == position + 1);
            let chosen = next
                .and_then(|(_, &next)| {
                    let mut same = same.clone();
                    same.find(|&there| self.next(there, next).is_some())
                })
                .or_else(|| same.clone().next());
            last = chosen.map(|there| (position, there));
            if let Some((_, place)) = chosen.and_then(|there| self.found.get(there)) {
                runs.push(PatchRun {
                    begin,
                    end,
                    source_begin: place.begin,
                    source_end: place.end,
                });
            }
        }
        let (here, there) = last?;
        let (_, place) = self.found.get(there)?;
        Some((here, place.position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The grams of two words of a text of one-letter words.
    fn grams(words: &str) -> Vec<(u64, Occurrence)> {
        let mut grams = Vec::new();
        GramScanner::new(2)
            .scan_long(words, |gram, place| {
                grams.push((gram, place));
                Ok(())
            })
            .unwrap();
        grams
    }

    /// The runs of a page that is processed in parts of this many grams.
    fn found_in_parts(page: &str, source: &str, part: usize) -> Vec<[u32; 4]> {
        let text = |letters: &str| {
            let words: Vec<String> = letters.chars().map(String::from).collect();
            words.join(" ")
        };
        let (page, source) = (text(page), text(source));
        let known: Vec<u64> = grams(&source).into_iter().map(|(gram, _)| gram).collect();
        let patch: Vec<PatchPosition> = grams(&page)
            .into_iter()
            .filter(|(gram, _)| known.contains(gram))
            .map(|(gram, place)| PatchPosition {
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
            let mut places = SourceGrams::default();
            places.find(part, &source, &mut scanner).unwrap();
            runs.clear();
            let end = places.runs(part, 0, open.take(), &mut runs);
            open = end
                .zip(runs.pop())
                .map(|((here, there), run)| (here, there, run));
            all.extend_from_slice(&runs);
        }
        all.extend(open.map(|(_, _, run)| run));
        assert_eq!(PatchRun::all_from(bytemuck::cast_slice(&all)), all);
        all.iter()
            .map(|run| [run.begin, run.end, run.source_begin, run.source_end])
            .collect()
    }

    fn found(page: &str, source: &str) -> Vec<[u32; 4]> {
        found_in_parts(page, source, usize::MAX)
    }

    #[test]
    fn a_text_is_scanned_at_once_as_word_by_word() {
        let words: Vec<String> = (0..500u32)
            .map(|word| (word * word % 89).to_string())
            .collect();
        let text = words.join(" ");
        let all = grams(&text);
        let (mut table, mut filter) = (GramTable::default(), GramFilter::default());
        let wanted: Vec<u64> = all.iter().map(|(gram, _)| *gram).step_by(3).collect();
        table.reset(wanted.len());
        filter.reset(wanted.len());
        for (number, &gram) in (0..).zip(&wanted) {
            table.insert(gram, number);
            filter.add(gram);
        }
        let expected: Vec<(u32, [u32; 3])> = all
            .iter()
            .filter_map(|(gram, place)| {
                let place = [place.position, place.begin, place.end];
                Some((table.get(*gram)?, place))
            })
            .collect();
        let mut found = Vec::new();
        let mut scanner = GramScanner::new(2);
        let mut see = |number: u32, place: Occurrence| {
            found.push((number, [place.position, place.begin, place.end]));
            Ok(())
        };
        scanner.scan(&text, &table, &filter, &mut see).unwrap();
        assert_eq!(found, expected);
        assert!(found.len() >= wanted.len());
    }

    #[test]
    fn a_run_continues_while_both_texts_agree() {
        assert_eq!(found("abcd", "abcd"), [[0, 7, 0, 7]]);
        assert_eq!(found("xabcy", "uvabcw"), [[2, 7, 4, 9]]);
        // Both halves are in the source, the other way round.
        assert_eq!(found("abccde", "cdeabc"), [[0, 5, 6, 11], [6, 11, 0, 5]]);
        assert_eq!(found("wxyz", "abcd"), Vec::<[u32; 4]>::new());
    }

    #[test]
    fn a_run_begins_at_the_occurrence_that_can_be_continued() {
        assert_eq!(found("abc", "abxabc"), [[0, 5, 6, 11]]);
        // A passage that the page has twice makes two runs.
        assert_eq!(found("abcxabc", "abc"), [[0, 5, 0, 5], [8, 13, 0, 5]]);
        // The source has the passage more often than occurrences of a gram are stored.
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
