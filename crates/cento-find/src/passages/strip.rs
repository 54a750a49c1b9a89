//! Rewrites the inputs of a corpus without reused passages, for training data.
//!
//! Of every passage the earlier appearance is kept and the later one is cut. The earliest
//! appearance of a text is therefore never cut. Pages with the text of another page were not
//! compared and are not changed: `copies --filter` removes them.

use std::path::Path;

use cento_read::Fate;
use cento_store::Corpus;

use super::passage_tables::PASSAGES_TABLE;
use crate::copies::{Filtered, RecordFates, rewrite_inputs};
use crate::error::{Error, Result};
use crate::run::Findings;

/// A range that is cut from a page: the page, begin and end in bytes.
type Cut = (u64, u32, u32);

/// Writes the inputs of a corpus to `folder` without the passages that an earlier page has. Calls
/// `each` after each input. The rows of [`PASSAGES_TABLE`] say what was cut.
///
/// The checks of [`crate::copies::filter`] precede the first write. The cuts are in memory, at 16
/// bytes each; texts are read one by one.
pub fn strip(
    corpus: &Corpus,
    findings: &Findings,
    folder: &Path,
    overwrite: bool,
    memory: u64,
    each: impl FnMut(&Filtered) -> Result<()>,
) -> Result<()> {
    let rows = findings.record.report.rows(PASSAGES_TABLE.as_str());
    let (needed, limit) = (rows.saturating_mul(size_of::<Cut>() as u64), memory / 2);
    if needed > limit {
        return Err(Error::Flow(cento_flow::Error::TooLittleMemory {
            limit,
            needed,
            reason: format!(" to cut {rows} passages"),
        }));
    }
    let mut cuts: Vec<Cut> = Vec::with_capacity(rows as usize);
    for row in findings.rows(PASSAGES_TABLE)? {
        let row = row?;
        cuts.push((row.a_id, row.a_begin, row.a_end));
    }
    cuts.sort_unstable();
    let mut cuts = Cuts {
        corpus,
        cuts,
        input: 0,
    };
    rewrite_inputs(corpus, &[], folder, overwrite, &mut cuts, each)
}

/// What is cut from the pages of a corpus.
struct Cuts<'c> {
    corpus: &'c Corpus,
    /// Sorted by page and place.
    cuts: Vec<Cut>,
    /// The ordinal of the input.
    input: u32,
}

impl RecordFates for Cuts<'_> {
    fn open_input(&mut self, ordinal: u32) -> Result<()> {
        self.input = ordinal;
        Ok(())
    }

    fn fate(&mut self, record: u32) -> Result<Fate> {
        let page = u64::from(self.input) << 32 | u64::from(record);
        let first = self.cuts.partition_point(|cut| cut.0 < page);
        let last = self.cuts.partition_point(|cut| cut.0 <= page);
        if first == last {
            return Ok(Fate::Keep);
        }
        let text = self.corpus.text(page)?.unwrap_or_default();
        Ok(Fate::Replace(without(&text, &self.cuts[first..last])))
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
