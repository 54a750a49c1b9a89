//! Rewrites the inputs of a corpus without reused passages, for training data.
//!
//! Of every passage the page that comes first in the order of pages keeps it, and the other one
//! loses it: earlier pages before later ones, dated pages before undated ones, and then the order
//! of the corpus. The order is total, so one appearance of a text is never cut. Pages with the text
//! of another page were not compared; what is cut from that one is cut from them, too. (`copies
//! --filter` removes whole duplicates.)
//!
//! ```text
//!   page 5   ………[───────────]……      passages of page 5 with earlier pages: one row each
//!                   [───────────]
//!            ………[═══════════════]      the stretch that is cut
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use cento_align::PassageKind;
use cento_read::Fate;
use cento_store::Corpus;

use super::passage_tables::{FREQUENT_TABLE, PASSAGES_TABLE, PassageRow};
use crate::copies::{Filtered, RecordFates, rewrite_inputs};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::run::Findings;

/// A range that is cut from a page: the page, begin and end in bytes.
type Cut = (u64, u32, u32);

/// The stretches of text that are cut from the pages of a corpus.
pub struct Cuts<'f> {
    findings: &'f Findings,
    kinds: Vec<PassageKind>,
    /// Sorted; those of a page do not touch.
    stretches: Vec<Cut>,
    /// Pages by the page with the same text that was compared.
    copies: BTreeMap<u64, Vec<Copy>>,
    /// Pages without text after the cuts.
    emptied: BTreeSet<u64>,
}

/// A page with the text of another one.
struct Copy {
    page_id: u64,
    url: String,
}

/// Why a stretch is cut, or a part of it.
pub struct CutReason<'r> {
    /// The page that is cut.
    pub page_id: u64,
    /// Its URL.
    pub page: &'r str,
    /// The page with the same text that was compared, if it is another one.
    pub copy_of: Option<u64>,
    /// The stretch that is cut, in bytes.
    pub stretch: (u32, u32),
    /// The passage of the compared page with the page that keeps it.
    pub passage: &'r PassageRow,
}

impl<'f> Cuts<'f> {
    /// Chooses what is cut: passages of these kinds.
    ///
    /// The cuts are in memory, at 16 bytes each.
    pub fn new(
        source: &CorpusPages,
        findings: &'f Findings,
        kinds: &[PassageKind],
        memory: u64,
    ) -> Result<Cuts<'f>> {
        let limit = memory / 2;
        let check = |passages: u64| match passages.saturating_mul(size_of::<Cut>() as u64) {
            needed if needed > limit => Err(Error::Flow(cento_flow::Error::TooLittleMemory {
                limit,
                needed,
                reason: format!(" to cut {passages} passages"),
            })),
            _ => Ok(()),
        };
        let tables = [PASSAGES_TABLE, FREQUENT_TABLE];
        let rows = tables.map(|table| findings.record.report.rows(table.as_str()));
        check(rows.iter().sum())?;
        let mut cuts = Cuts {
            findings,
            kinds: kinds.to_vec(),
            stretches: Vec::new(),
            copies: BTreeMap::new(),
            emptied: BTreeSet::new(),
        };
        let mut stretches = Vec::new();
        cuts.for_each_passage(|row| {
            stretches.push((row.a_id, row.a_begin, row.a_end));
            Ok::<_, Error>(())
        })?;
        cuts.copies = copies(source, &stretches)?;
        let compared = merged(stretches);
        cuts.stretches = compared.clone();
        for (page, copies) in &cuts.copies {
            for copy in copies {
                let of_page = of_page(&compared, *page).iter();
                cuts.stretches
                    .extend(of_page.map(|&(_, begin, end)| (copy.page_id, begin, end)));
            }
            check(cuts.stretches.len() as u64)?;
        }
        cuts.stretches.sort_unstable();
        Ok(cuts)
    }

    /// Calls `each` with the passages that are cut.
    fn for_each_passage<E: From<Error>>(
        &self,
        mut each: impl FnMut(&PassageRow) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        for table in [PASSAGES_TABLE, FREQUENT_TABLE] {
            for row in self.findings.rows(table)? {
                let row = row?;
                if self.kinds.iter().any(|kind| kind.as_str() == row.kind) {
                    each(&row)?;
                }
            }
        }
        Ok(())
    }

    /// Calls `each` for each passage that is cut from a page. Every stretch is covered by its
    /// passages.
    pub fn for_each_reason<E: From<Error>>(
        &self,
        mut each: impl FnMut(CutReason<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.for_each_passage(|passage| {
            let copies = self.copies.get(&passage.a_id).into_iter().flatten();
            let copies = copies.map(|copy| (copy.page_id, &copy.url, Some(passage.a_id)));
            let compared = std::iter::once((passage.a_id, &passage.a, None));
            for (page_id, page, copy_of) in compared.chain(copies) {
                let of_page = of_page(&self.stretches, page_id);
                let at = of_page.partition_point(|cut| cut.2 < passage.a_end);
                let stretch = of_page
                    .get(at)
                    .map_or((passage.a_begin, passage.a_end), |cut| (cut.1, cut.2));
                each(CutReason {
                    page_id,
                    page,
                    copy_of,
                    stretch,
                    passage,
                })?;
            }
            Ok(())
        })
    }

    /// The number of stretches that are cut.
    pub fn stretches(&self) -> u64 {
        self.stretches.len() as u64
    }

    /// The number of pages that are cut.
    pub fn pages(&self) -> u64 {
        let pages = self.stretches.chunk_by(|one, other| one.0 == other.0);
        pages.count() as u64
    }

    /// The number of pages that have no text after the cuts. It is known when they are written.
    pub fn emptied(&self) -> u64 {
        self.emptied.len() as u64
    }

    /// Writes the inputs of the corpus to `folder` without what is cut. Calls `each` after each
    /// input.
    ///
    /// The checks of [`crate::copies::filter`] precede the first write. Texts are read one by one.
    pub fn write(
        &mut self,
        corpus: &Corpus,
        folder: &Path,
        overwrite: bool,
        each: impl FnMut(&Filtered) -> Result<()>,
    ) -> Result<()> {
        let mut fates = Fates {
            corpus,
            cuts: self,
            input: 0,
        };
        rewrite_inputs(corpus, &[], folder, overwrite, &mut fates, each)
    }
}

/// Merges the ranges of each page that overlap or touch.
fn merged(mut ranges: Vec<Cut>) -> Vec<Cut> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| {
        let touches = next.0 == last.0 && next.1 <= last.2;
        if touches {
            last.2 = last.2.max(next.2);
        }
        touches
    });
    ranges
}

/// The ranges of a page.
fn of_page(ranges: &[Cut], page: u64) -> &[Cut] {
    let first = ranges.partition_point(|range| range.0 < page);
    let last = ranges.partition_point(|range| range.0 <= page);
    &ranges[first..last]
}

/// Finds the pages with the text of a page that is cut.
fn copies(source: &CorpusPages, cuts: &[Cut]) -> Result<BTreeMap<u64, Vec<Copy>>> {
    let mut cut: Vec<u64> = cuts.iter().map(|range| range.0).collect();
    cut.sort_unstable();
    cut.dedup();
    let for_each = |each: &mut dyn FnMut(u64, &[u8], &str)| {
        for task in 0..source.page_tasks().len() {
            source.for_each_page::<Error>(task, |facts| {
                if let (None, Some(text)) = (facts.reject, facts.text_hash) {
                    each(facts.page_id, text, facts.url);
                }
                Ok(())
            })?;
        }
        Ok::<_, Error>(())
    };
    let mut texts: HashMap<Vec<u8>, u64> = HashMap::new();
    for_each(&mut |page, text, _| {
        if cut.binary_search(&page).is_ok() {
            texts.insert(text.to_vec(), page);
        }
    })?;
    let mut copies: BTreeMap<u64, Vec<Copy>> = BTreeMap::new();
    for_each(&mut |page_id, text, url| {
        if let Some(&compared) = texts.get(text).filter(|&&compared| compared != page_id) {
            let url = url.to_owned();
            copies
                .entry(compared)
                .or_default()
                .push(Copy { page_id, url });
        }
    })?;
    Ok(copies)
}

/// What happens to the records of an input.
struct Fates<'c, 'f> {
    corpus: &'c Corpus,
    cuts: &'c mut Cuts<'f>,
    /// The ordinal of the input.
    input: u32,
}

impl RecordFates for Fates<'_, '_> {
    fn open_input(&mut self, ordinal: u32) -> Result<()> {
        self.input = ordinal;
        Ok(())
    }

    fn fate(&mut self, record: u32) -> Result<Fate> {
        let page = u64::from(self.input) << 32 | u64::from(record);
        let cuts = of_page(&self.cuts.stretches, page);
        if cuts.is_empty() {
            return Ok(Fate::Keep);
        }
        let text = self.corpus.text(page)?.unwrap_or_default();
        let kept = without(&text, cuts);
        if kept.is_empty() {
            self.cuts.emptied.insert(page);
        }
        Ok(Fate::Replace(kept))
    }
}

/// Returns a text without some ranges, which are sorted and may overlap.
fn without(text: &str, cuts: &[Cut]) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
    let push = |piece: &str, rest: &mut String| {
        let begins_line = rest.is_empty() || rest.ends_with('\n');
        let piece = match begins_line || rest.ends_with(' ') {
            true => piece.trim_start_matches(' '),
            false => piece,
        };
        rest.push_str(match begins_line {
            true => piece.trim_start_matches('\n'),
            false => piece,
        });
    };
    for &(_, begin, end) in cuts {
        let (begin, end) = (begin as usize, end as usize);
        push(text.get(at..begin.max(at)).unwrap_or_default(), &mut rest);
        at = end.max(at);
    }
    push(text.get(at..).unwrap_or_default(), &mut rest);
    rest.truncate(rest.trim_end().len());
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_one_stretch() {
        let ranges = vec![(2, 0, 5), (1, 10, 20), (1, 0, 4), (1, 4, 9), (1, 12, 15)];
        let stretches = merged(ranges);
        assert_eq!(stretches, [(1, 0, 9), (1, 10, 20), (2, 0, 5)]);
        assert_eq!(of_page(&stretches, 1).len(), 2);
        assert!(of_page(&stretches, 3).is_empty());
    }

    #[test]
    fn cut_ranges_leave_no_double_spaces() {
        let text = "One two. Three four. Five six.\n\nSeven.";
        assert_eq!(without(text, &[(0, 9, 20)]), "One two. Five six.\n\nSeven.");
        assert_eq!(without(text, &[(0, 0, 20), (0, 9, 30)]), "Seven.");
        assert_eq!(
            without(text, &[(0, 32, 38)]),
            "One two. Three four. Five six."
        );
        assert_eq!(without(text, &[(0, 0, 38)]), "");
    }
}
