//! Where the patches are.
//!
//! Rows of the hot stages know grams by their hashes alone. Where they are is looked up in the texts of few pages: in that of a quilt as soon
//! as its cover is known, and then in those of its sources, each read once, in the order of the corpus.
//!
//! ```text
//!   cover ─ in the text of the quilt ─▶ sought: (source, quilt, position, gram) ─ runs, in the text of the source ─▶ by page: runs
//! ```

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_flow::{Context, Registry, StageError};
use cento_print::{grams, packed_word_hash, word_hash};
use cento_text::words::WordScanner;

use super::find::{Held, runs_order};
use super::params::Level;
use super::rows::Sought;
use super::table::GramTable;
use crate::source::Source;

/// Texts that are read together.
const TEXTS: usize = 256;
/// What is sought in texts that are read together: so much that it stays near what any page may need.
const BATCH: usize = 1 << 16;
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

/// The grams of a text in their order, and where each is.
struct GramText {
    k: usize,
    scanner: WordScanner,
    hashes: Vec<u64>,
    ranges: Vec<(u32, u32)>,
    grams: Vec<u64>,
}

impl GramText {
    fn new(k: u32) -> GramText {
        GramText {
            k: k.max(1) as usize,
            scanner: WordScanner::new(),
            hashes: Vec::new(),
            ranges: Vec::new(),
            grams: Vec::new(),
        }
    }

    fn read(&mut self, text: &str) {
        let (hashes, ranges, all) = (&mut self.hashes, &mut self.ranges, &mut self.grams);
        hashes.clear();
        ranges.clear();
        all.clear();
        self.scanner.scan_ranged_keys(text, |range, key| {
            hashes.push(key.either(packed_word_hash, word_hash));
            ranges.push((range.start as u32, range.end as u32));
        });
        grams(hashes, self.k, |gram, _| all.push(gram));
    }

    /// The bytes of the gram that begins with this word.
    fn bytes(&self, position: usize) -> (u32, u32) {
        let begin = self.ranges.get(position).map_or(0, |word| word.0);
        let last = self.ranges.get(position + self.k - 1);
        (begin, last.map_or(begin, |word| word.1))
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
    source: &'a Source,
    /// Quilts, and where what is sought in them begins.
    quilts: Vec<(u32, usize)>,
    given: Vec<GivenGram>,
    table: GramTable,
    text: GramText,
}

impl<'a> Seeker<'a> {
    pub(super) fn new(source: &'a Source, k: u32) -> Seeker<'a> {
        Seeker {
            source,
            quilts: Vec::new(),
            given: Vec::new(),
            table: GramTable::default(),
            text: GramText::new(k),
        }
    }

    /// Takes a quilt on. Quilts ascend.
    pub(super) fn add(&mut self, quilt: u32, given: impl Iterator<Item = GivenGram>) {
        self.quilts.push((quilt, self.given.len()));
        self.given.extend(given);
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
            text.read(words);
            for (position, &gram) in text.grams.iter().enumerate() {
                let found = table
                    .get(gram)
                    .and_then(|number| given.get(number as usize));
                let Some(found) = found else {
                    continue;
                };
                let (begin, end) = text.bytes(position);
                sought.push(Sought {
                    source: found.source,
                    quilt,
                    rank: found.rank,
                    position: position as u32,
                    gram,
                    begin,
                    end,
                })?;
            }
            Ok::<_, StageError>(())
        })?;
        self.quilts.clear();
        self.given.clear();
        Ok(())
    }
}

pub(super) fn register(registry: &mut Registry, source: &Arc<Source>) {
    let texts = Arc::clone(source);
    registry.reduce::<Sought, _>("runs", move |context, groups| {
        let level: Level = context.parameters()?;
        let mut finder = Finder::new(&texts, level.k);
        let mut held = Held::default();
        while let Some(group) = groups.next_group()? {
            let source = group.key();
            finder.pages.push((source, finder.sought.len()));
            let mut quilt = None;
            for row in group {
                // What very many quilts seek in one page is found in turns, a number of whole patches at a time.
                if finder.sought.len() >= BATCH && quilt.is_some_and(|quilt| quilt != row.quilt) {
                    finder.find(context)?;
                    finder.pages.push((source, 0));
                }
                quilt = Some(row.quilt);
                finder.sought.push(row);
                held.hold(context, (finder.sought.len() * size_of::<Sought>()) as u64);
            }
            if finder.pages.len() >= TEXTS || finder.sought.len() >= BATCH {
                finder.find(context)?;
                held.let_go();
            }
        }
        finder.find(context)
    });
}

/// Finds in the texts of sources what quilts have of them.
struct Finder<'a> {
    source: &'a Source,
    /// Sources, and where what is sought in them begins.
    pages: Vec<(u32, usize)>,
    sought: Vec<Sought>,
    text: GramText,
    places: Places,
    runs: Vec<Run>,
}

impl<'a> Finder<'a> {
    fn new(source: &'a Source, k: u32) -> Finder<'a> {
        Finder {
            source,
            pages: Vec::new(),
            sought: Vec::new(),
            text: GramText::new(k),
            places: Places::default(),
            runs: Vec::new(),
        }
    }

    /// Puts out the runs of all that is sought.
    fn find(&mut self, context: &Context<'_>) -> Result<(), StageError> {
        let mut by_page = context.wide_shuffle("by page")?;
        let numbers: Vec<u32> = self.pages.iter().map(|&(page, _)| page).collect();
        let ends = self.pages.iter().skip(1).map(|&(_, begin)| begin);
        let mut sought = self
            .pages
            .iter()
            .zip(ends.chain([self.sought.len()]))
            .map(|(&(_, begin), end)| self.sought.get(begin..end).unwrap_or_default());
        let (text, places, runs) = (&mut self.text, &mut self.places, &mut self.runs);
        self.source.texts(&numbers, |_, words| {
            context.check()?;
            let sought = sought.next().unwrap_or_default();
            text.read(words);
            places.take(sought, &text.grams);
            for patch in sought.chunk_by(|one, next| one.quilt == next.quilt) {
                let Some(Sought { quilt, rank, .. }) = patch.first() else {
                    continue;
                };
                runs.clear();
                places.runs(patch, text, runs);
                let order = runs_order(*rank);
                by_page.push_numbered(u64::from(*quilt), order, bytemuck::cast_slice(runs))?;
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
    /// How often each gram was met, and then where its places end.
    ends: Vec<u32>,
    /// Places of the grams, those of one together.
    positions: Vec<u32>,
    met: Vec<(u32, u32)>,
}

impl Places {
    fn take(&mut self, sought: &[Sought], source: &[u64]) {
        self.table.reset(sought.len());
        let mut grams = 0;
        for row in sought {
            grams += u32::from(self.table.insert(row.gram, grams));
        }
        self.ends.clear();
        self.ends.resize(grams as usize, 0);
        self.met.clear();
        for (position, &gram) in (0..).zip(source) {
            let Some(number) = self.table.get(gram) else {
                continue;
            };
            if let Some(times) = self.ends.get_mut(number as usize)
                && (*times as usize) < OCCURRENCES
            {
                *times += 1;
                self.met.push((number, position));
            }
        }
        let mut sum = 0;
        for times in &mut self.ends {
            (*times, sum) = (sum, sum + *times);
        }
        self.positions.clear();
        self.positions.resize(self.met.len(), 0);
        for &(number, position) in &self.met {
            if let Some(end) = self.ends.get_mut(number as usize) {
                if let Some(slot) = self.positions.get_mut(*end as usize) {
                    *slot = position;
                }
                *end += 1;
            }
        }
    }

    /// The first places of a gram in the source, in order.
    fn of(&self, gram: u64) -> &[u32] {
        let Some(number) = self.table.get(gram) else {
            return &[];
        };
        let end = |number: usize| self.ends.get(number).map_or(0, |&end| end as usize);
        let begin = (number as usize).checked_sub(1).map_or(0, end);
        let places = self.positions.get(begin..end(number as usize));
        places.unwrap_or_default()
    }

    /// The runs of a patch. A run goes on as long as the next gram of the page is the next gram of the source.
    fn runs(&self, patch: &[Sought], source: &GramText, runs: &mut Vec<Run>) {
        let has = |position: usize, gram: u64| source.grams.get(position) == Some(&gram);
        let mut last: Option<(u32, usize)> = None;
        for (at, row) in patch.iter().enumerate() {
            let (position, gram, begin, end) = (row.position, row.gram, row.begin, row.end);
            if let (Some((here, there)), Some(run)) = (last, runs.last_mut())
                && here + 1 == position
                && has(there + 1, gram)
            {
                (run.end, run.source_end) = (end, source.bytes(there + 1).1);
                last = Some((position, there + 1));
                continue;
            }
            let same = self.of(gram).iter().map(|&place| place as usize);
            // Where the source has the gram several times, that place is meant from which it can go on.
            let next = patch.get(at + 1).copied();
            let next = next.filter(|next| next.position == position + 1);
            let chosen = next
                .and_then(|next| same.clone().find(|&there| has(there + 1, next.gram)))
                .or_else(|| same.clone().next());
            last = chosen.map(|there| (position, there));
            if let Some(there) = chosen {
                let (source_begin, source_end) = source.bytes(there);
                runs.push(Run {
                    begin,
                    end,
                    source_begin,
                    source_end,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of one-letter words that stand two bytes apart, in grams of two.
    fn text(letters: &str) -> GramText {
        let mut text = GramText::new(2);
        let words: Vec<String> = letters.chars().map(String::from).collect();
        text.read(&words.join(" "));
        text
    }

    fn found(page: &str, source: &str) -> Vec<[u32; 4]> {
        let (page, source) = (text(page), text(source));
        let patch: Vec<Sought> = (0u32..)
            .zip(&page.grams)
            .filter(|(_, gram)| source.grams.contains(gram))
            .map(|(position, &gram)| Sought {
                source: 1,
                quilt: 0,
                rank: 0,
                position,
                gram,
                begin: page.bytes(position as usize).0,
                end: page.bytes(position as usize).1,
            })
            .collect();
        let mut places = Places::default();
        places.take(&patch, &source.grams);
        let mut runs = Vec::new();
        places.runs(&patch, &source, &mut runs);
        assert_eq!(Run::all_from(bytemuck::cast_slice(&runs)), runs);
        runs.iter()
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
