//! Runs of equal words, joined over small edits.

use std::ops::Range;

use crate::AlignSettings;
use crate::document::Document;
use crate::passage::identical;
use crate::runs::WordRun;

/// How many times longer than an edit a stretch may be that was rewritten word by word: its two
/// sides then have about the same length.
const REWRITTEN: usize = 3;

/// Words on both sides that are the same but for small edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VerbatimPassage {
    pub(crate) a: Range<usize>,
    pub(crate) b: Range<usize>,
    /// Whether it has next to no edits.
    pub(crate) is_exact: bool,
    /// Whether edited sentences were added to it.
    pub(crate) is_extended: bool,
    /// Whether it has no run of [`DECISIVE`] words: it may be part of an edited passage or of a
    /// summary.
    pub(crate) is_short: bool,
}

/// The share of identical words from which a verbatim passage counts as copied as it is.
const EXACT: f64 = 0.97;

/// The least share of identical words of runs that are joined.
const LEAST_SHARE: f64 = 0.5;

/// A run of this many words is copied text by itself. What has only shorter ones may be part of an
/// edited passage or of a summary. Summaries quote whole sentences of 40 words; the limit was
/// chosen on all PAN pairs, where 44 to 48 are the same.
pub(crate) const DECISIVE: usize = 44;

/// The passages of these runs that have one which is long enough, in order and without overlaps on
/// the side of the first document: those with a run of [`DECISIVE`] words, and the others.
pub(crate) fn passages(
    a: &Document<'_>,
    b: &Document<'_>,
    runs: &[WordRun],
    settings: &AlignSettings,
) -> (Vec<VerbatimPassage>, Vec<VerbatimPassage>) {
    let (mut passages, mut short) = (Vec::new(), Vec::new());
    let mut add = |group: &[WordRun]| {
        let ([first, ..], [.., last]) = (group, group) else {
            return true;
        };
        let longest = group.iter().map(|run| run.length).max();
        let words_a = first.a..last.a + last.length;
        let words_b = first.b..last.b + last.length;
        let share = identical(&a.words[words_a.clone()], &b.words[words_b.clone()]);
        let passage = VerbatimPassage {
            a: words_a,
            b: words_b,
            is_exact: share >= EXACT,
            is_extended: false,
            is_short: longest < Some(DECISIVE.max(settings.verbatim_words)),
        };
        if share < LEAST_SHARE {
            return false;
        }
        match passage.is_short {
            true => short.push(passage),
            false => passages.push(passage),
        }
        true
    };
    let mut group: Vec<WordRun> = Vec::new();
    let mut close = |group: &mut Vec<WordRun>| {
        let is_long = |run: &&WordRun| is_long(a, b, run, settings);
        if group.iter().any(|run| is_long(&run)) && !add(group) {
            // What was rewritten is more than what was not, so each run counts by itself.
            for run in group.iter().filter(is_long) {
                add(std::slice::from_ref(run));
            }
        }
        group.clear();
    };
    for &run in runs {
        let joins = group.last().is_none_or(|last| {
            let (after_a, after_b) = (last.a + last.length, last.b + last.length);
            if run.b < after_b {
                return false;
            }
            let (gap_a, gap_b) = (run.a - after_a, run.b - after_b);
            let small = settings.verbatim_gap;
            gap_a <= small && gap_b <= small
                || gap_a.max(gap_b) <= REWRITTEN * small && gap_a.abs_diff(gap_b) <= small
        });
        if !joins {
            close(&mut group);
        }
        group.push(run);
    }
    close(&mut group);
    (passages, short)
}

/// Whether a run makes a passage verbatim: by its words, or by its characters on both sides.
fn is_long(a: &Document<'_>, b: &Document<'_>, run: &WordRun, settings: &AlignSettings) -> bool {
    let has_chars = |document: &Document<'_>, begin| {
        let bytes = document.bytes_of(&(begin..begin + run.length));
        let least = settings.minimum_chars;
        bytes.len() >= least && (document.is_ascii || document.text[bytes].chars().count() >= least)
    };
    run.length >= settings.verbatim_words
        || run.length >= settings.long_verbatim_words && has_chars(a, run.a) && has_chars(b, run.b)
}
