//! Rewrites the inputs of a corpus without reused passages, for training data.
//!
//! Of every passage the earlier appearance is kept and the later one is cut. The earliest
//! appearance of a text is therefore never cut. Pages with the text of another page were not
//! compared and are not changed: `copies --filter` removes them.

use std::collections::HashMap;
use std::path::Path;

use cento_read::Fate;
use cento_store::Corpus;

use super::passage_tables::{PASSAGES_TABLE, PassageRow};
use crate::copies::{Filtered, rewrite_inputs};
use crate::error::Result;
use crate::run::Findings;

/// A range that is cut from a page: the page, begin and end in bytes.
type Cut = (u64, u32, u32);

/// Writes the inputs of a corpus to `folder` without the passages that an earlier page has. Calls
/// `cut` with every passage that is cut, in the order of the table, and `each` after each input.
///
/// The checks of [`crate::copies::filter`] precede the first write.
pub fn strip(
    corpus: &Corpus,
    findings: &Findings,
    folder: &Path,
    overwrite: bool,
    mut cut: impl FnMut(&PassageRow) -> Result<()>,
    each: impl FnMut(&Filtered) -> Result<()>,
) -> Result<()> {
    let mut cuts: Vec<Cut> = Vec::new();
    for row in findings.rows(PASSAGES_TABLE)? {
        let row = row?;
        cuts.push((row.a_id, row.a_begin, row.a_end));
        cut(&row)?;
    }
    cuts.sort_unstable();
    let mut of_input = |ordinal: u32| {
        let input = |cut: &Cut| (cut.0 >> 32) as u32;
        let first = cuts.partition_point(|cut| input(cut) < ordinal);
        let last = cuts.partition_point(|cut| input(cut) <= ordinal);
        let mut fates = HashMap::new();
        for page in cuts[first..last].chunk_by(|one, other| one.0 == other.0) {
            let text = corpus.text(page[0].0)?.unwrap_or_default();
            fates.insert(page[0].0 as u32, Fate::Replace(without(&text, page)));
        }
        Ok(fates)
    };
    rewrite_inputs(corpus, &[], folder, overwrite, &mut of_input, each)
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
