//! Excerpts: the text of quilted pages, marked by source.
//!
//! ```text
//!   patches of a page ─▶ spans (begin, end, source) ─ cut so that none overlap ─▶ pieces and gaps
//!   texts of the sources ─▶ quotes: the shared passages with their context
//! ```
//!
//! A page may be as long as a book and have a thousand sources. Only some sources, and a bounded
//! amount of text, are shown.

use std::collections::HashMap;
use std::ops::Range;

use cento_find::precedence::date_relation;
use cento_find::quilts::{PATCHES_TABLE, PatchRow, QuiltRow, QuiltsParams, QuiltsSummary};
use cento_find::{CorpusPages, Findings, Result};
use cento_report::format::{counted, number, percent};
use cento_report::{Excerpt, ExcerptPiece, ExcerptSource, Quote};

use super::quilts::{foreign_fraction, other_pages};
use crate::analysis::{SectionInput, parse_parameters};

/// How much an excerpt shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExcerptLimits {
    /// The number of sources.
    pub sources: usize,
    /// Bytes of the page.
    pub longest: usize,
    /// Bytes of other text around patches; the rest becomes a gap.
    pub around: usize,
    /// Quotes of a source.
    pub quotes: usize,
}

impl Default for ExcerptLimits {
    /// The limits of a report: each source has a colour of its own.
    fn default() -> ExcerptLimits {
        ExcerptLimits {
            sources: 7,
            longest: 4_000,
            around: 160,
            quotes: 2,
        }
    }
}

/// The length of a quote in bytes, and that of its context.
const QUOTE: usize = 400;
const QUOTE_AROUND: usize = 60;

/// What a site knows about a source beyond its patches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceNote {
    /// The dates of the two pages, as the continuation of the description.
    pub dates: String,
    /// The target of a link to the comparison of the two pages.
    pub evidence: Option<String>,
}

/// A passage that a page shares with a source: its positions in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SharedSpan {
    begin: usize,
    end: usize,
    source: usize,
    source_begin: usize,
    source_end: usize,
}

/// Returns excerpts of some quilted pages.
pub(crate) fn excerpts<'a>(
    input: &SectionInput<'_>,
    params: &QuiltsParams,
    summary: &QuiltsSummary,
    pages: impl Iterator<Item = &'a QuiltRow> + Clone,
) -> Result<Vec<Excerpt>> {
    let mut patches: HashMap<u64, Vec<PatchRow>> = pages
        .clone()
        .map(|page| (page.page_id, Vec::new()))
        .collect();
    for patch in input.findings.rows(PATCHES_TABLE)? {
        let patch = patch?;
        if let Some(of_page) = patches.get_mut(&patch.page_id) {
            of_page.push(patch);
        }
    }
    pages
        .map(|page| {
            let patches = patches.remove(&page.page_id).unwrap_or_default();
            let limits = ExcerptLimits::default();
            let about = about(params, summary, page, &patches);
            let note = |_: &PatchRow| SourceNote::default();
            excerpt(input.source, page, about, patches, &limits, &note)
        })
        .collect()
}

/// Returns the text of one quilted page, marked by source. `note` adds what the caller knows about
/// a source.
pub fn quilt_excerpt(
    source: &CorpusPages,
    findings: &Findings,
    page: &QuiltRow,
    patches: Vec<PatchRow>,
    limits: &ExcerptLimits,
    note: &dyn Fn(&PatchRow) -> SourceNote,
) -> Result<Excerpt> {
    let params: QuiltsParams = parse_parameters(&findings.record.parameters)?;
    let about = about(&params, &findings.summary()?, page, &patches);
    excerpt(source, page, about, patches, limits, note)
}

fn text_of(source: &CorpusPages, page_id: u64) -> Result<String> {
    let corpus = source.corpora().first();
    let text = corpus.map(|corpus| corpus.text(page_id)).transpose()?;
    Ok(text.flatten().unwrap_or_default())
}

/// Describes a quilted page.
fn about(
    params: &QuiltsParams,
    summary: &QuiltsSummary,
    page: &QuiltRow,
    patches: &[PatchRow],
) -> String {
    let k = params.k;
    let mut text = format!(
        "{} of its {k}-grams are also on {}, each on at most {} pages; {}. It has {}. {} of its \
         {k}-grams are on no other page{}.",
        percent(foreign_fraction(page, params)),
        other_pages(params, summary),
        params.m,
        match summary.linking {
            0 => "whether it links to such a page is unknown, because no page has links".to_owned(),
            _ => format!(
                "for {} of these it links to such a page or its domain",
                percent(page.attributed_share)
            ),
        },
        counted(page.sources, "source", "sources"),
        percent(page.originality),
        match page.first_grams {
            0 => "",
            _ => " or, by date, only on later ones",
        }
    );
    // The caller may have read only some of the patches.
    let dates = (patches.len() as u64 == page.sources).then(|| SourceDates::of(patches));
    if let Some(sentence) = dates.and_then(|dates| dates.sentence()) {
        text.push(' ');
        text.push_str(&sentence);
    }
    if dates.is_some_and(|dates| dates.are_later()) {
        text.push_str(" Others may have quoted it.");
    }
    text
}

/// How many sources of a page are earlier and later than it, as far as their dates say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SourceDates {
    all: u64,
    earlier: u64,
    later: u64,
}

impl SourceDates {
    pub(super) fn of(patches: &[PatchRow]) -> SourceDates {
        let mut dates = SourceDates::default();
        patches.iter().for_each(|patch| dates.add(patch));
        dates
    }

    pub(super) fn add(&mut self, patch: &PatchRow) {
        self.all += 1;
        self.earlier += u64::from(patch.earlier == "source");
        self.later += u64::from(patch.earlier == "page");
    }

    /// Whether every source is later than the page.
    pub(super) fn are_later(&self) -> bool {
        self.all > 0 && self.later == self.all
    }

    /// Says which sources are earlier than the page; nothing if no dates decide.
    pub(super) fn sentence(&self) -> Option<String> {
        if self.are_later() {
            let of_all = match self.all {
                1 => "its source is later".to_owned(),
                all => format!("all {} sources are later", number(all)),
            };
            return Some(format!("By their dates, {of_all} than the page."));
        }
        if self.earlier + self.later == 0 {
            return None;
        }
        let unknown = self.all - self.earlier - self.later;
        let unknown = match unknown {
            0 => String::new(),
            some => format!(", {} equal or unknown", number(some)),
        };
        Some(format!(
            "Dates of {}: {} earlier than the page, {} later{unknown}.",
            counted(self.all, "source", "sources"),
            number(self.earlier),
            number(self.later),
        ))
    }
}

fn excerpt(
    source: &CorpusPages,
    page: &QuiltRow,
    about: String,
    mut patches: Vec<PatchRow>,
    limits: &ExcerptLimits,
    note: &dyn Fn(&PatchRow) -> SourceNote,
) -> Result<Excerpt> {
    // Stable: of equal sources, those that the cover chose first.
    patches.sort_by_key(|patch| std::cmp::Reverse(patch.grams));
    let more = patches.len().saturating_sub(limits.sources) as u64;
    patches.truncate(limits.sources);
    let text = text_of(source, page.page_id)?;
    let mut spans: Vec<SharedSpan> = Vec::new();
    let mut sources = Vec::new();
    for (index, patch) in patches.into_iter().enumerate() {
        let of_source = spans_of(&patch, index);
        let note = note(&patch);
        sources.push(excerpt_source(source, patch, &of_source, limits, note)?);
        spans.extend(of_source);
    }
    Ok(Excerpt {
        page: page.page.clone(),
        about,
        pieces: pieces(&text, spans, limits),
        sources,
        more,
    })
}

fn spans_of(patch: &PatchRow, source: usize) -> Vec<SharedSpan> {
    let page = patch.begins.iter().zip(&patch.ends);
    let of_source = patch.source_begins.iter().zip(&patch.source_ends);
    page.zip(of_source)
        .map(
            |((&begin, &end), (&source_begin, &source_end))| SharedSpan {
                begin: begin as usize,
                end: end as usize,
                source,
                source_begin: source_begin as usize,
                source_end: source_end as usize,
            },
        )
        .collect()
}

/// Describes a source, with the longest passages that the page shares with it.
fn excerpt_source(
    source: &CorpusPages,
    patch: PatchRow,
    spans: &[SharedSpan],
    limits: &ExcerptLimits,
    note: SourceNote,
) -> Result<ExcerptSource> {
    let mut about = format!(
        "{} of the patch grams ({})",
        percent(patch.share),
        number(patch.grams)
    );
    let dated_by = |by: &Option<String>| by.clone().unwrap_or_default();
    let (page_by, source_by) = (
        dated_by(&patch.page_dated_by),
        dated_by(&patch.source_dated_by),
    );
    let relation = |is_earlier| date_relation(&source_by, &page_by, is_earlier, "the page");
    match patch.earlier.as_str() {
        "page" => about.push_str(&format!(", {}", relation(false))),
        "source" => about.push_str(&format!(", {}", relation(true))),
        "same" => about.push_str(", dated the same as the page"),
        _ => {}
    }
    if patch.attributed {
        about.push_str(", attributed by links");
    }
    about.push_str(&note.dates);
    let text = text_of(source, patch.source_id)?;
    let mut longest: Vec<&SharedSpan> = spans.iter().collect();
    longest.sort_by_key(|span| {
        let length = span.source_end.saturating_sub(span.source_begin);
        (std::cmp::Reverse(length), span.source_begin)
    });
    longest.truncate(limits.quotes);
    longest.sort_by_key(|span| span.source_begin);
    let quotes = longest
        .iter()
        .filter_map(|span| quote(&text, span.source_begin, span.source_end));
    Ok(ExcerptSource {
        address: patch.source,
        about,
        evidence: note.evidence,
        quotes: quotes.collect(),
    })
}

fn quote(text: &str, begin: usize, end: usize) -> Option<Quote> {
    let passage = text.get(begin..end)?;
    let shown = floor(text, end.min(begin + QUOTE)).max(begin);
    let cut = shown < end;
    let from = floor(text, begin.saturating_sub(QUOTE_AROUND));
    let to = floor(text, end.saturating_add(QUOTE_AROUND));
    Some(Quote {
        before: match from {
            0 => text.get(..begin).unwrap_or_default().to_owned(),
            _ => format!("…{}", text.get(from..begin).unwrap_or_default()),
        },
        passage: match cut {
            true => format!("{} …", text.get(begin..shown).unwrap_or_default()),
            false => passage.to_owned(),
        },
        after: match cut {
            true => String::new(),
            false if to < text.len() => format!("{}…", text.get(end..to).unwrap_or_default()),
            false => text.get(end..to).unwrap_or_default().to_owned(),
        },
    })
}

/// Returns the last boundary between characters at or before a position.
fn floor(text: &str, place: usize) -> usize {
    let mut place = place.min(text.len());
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

/// Cuts a text into shared and other pieces. Where two spans overlap, as grams do at their ends,
/// the text belongs to the one that begins first.
fn pieces(text: &str, mut spans: Vec<SharedSpan>, limits: &ExcerptLimits) -> Vec<ExcerptPiece> {
    spans.sort_unstable();
    let mut pieces = Vec::new();
    let (mut at, mut shown) = (0, 0);
    for span in spans {
        let begin = span.begin.max(at);
        let (Some(_), true) = (text.get(begin..span.end), span.end > begin) else {
            continue;
        };
        if shown >= limits.longest {
            break;
        }
        shown += push_own(text, at..begin, at > 0, true, limits, &mut pieces);
        let end = floor(
            text,
            span.end.min(begin + limits.longest.saturating_sub(shown)),
        );
        let words = text.get(begin..end).unwrap_or_default();
        if !words.is_empty() {
            pieces.push(ExcerptPiece::Shared(span.source, words.to_owned()));
        }
        shown += end - begin;
        at = end.max(at);
    }
    push_own(text, at..text.len(), at > 0, false, limits, &mut pieces);
    pieces
}

/// Adds text between shared passages: what is close to them, and a gap for the rest. Returns how
/// many bytes are shown.
fn push_own(
    text: &str,
    Range {
        start: from,
        end: to,
    }: Range<usize>,
    after_patch: bool,
    before_patch: bool,
    limits: &ExcerptLimits,
    pieces: &mut Vec<ExcerptPiece>,
) -> usize {
    let behind = if after_patch {
        floor(text, from.saturating_add(limits.around))
    } else {
        from
    };
    let ahead = if before_patch {
        floor(text, to.saturating_sub(limits.around))
    } else {
        to
    };
    let behind = behind.min(to);
    let mut push = |piece: &str| {
        if !piece.is_empty() {
            pieces.push(ExcerptPiece::Own(piece.to_owned()));
        }
        piece.len()
    };
    if behind >= ahead || ahead <= from {
        return push(text.get(from..to).unwrap_or_default());
    }
    let first = push(text.get(from..behind).unwrap_or_default());
    let left_out = text.get(behind..ahead).unwrap_or_default();
    pieces.push(ExcerptPiece::Gap(left_out.chars().count() as u64));
    let last = text.get(ahead..to).unwrap_or_default();
    if !last.is_empty() {
        pieces.push(ExcerptPiece::Own(last.to_owned()));
    }
    first + last.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn span(begin: usize, end: usize, source: usize) -> SharedSpan {
        SharedSpan {
            begin,
            end,
            source,
            source_begin: begin,
            source_end: end,
        }
    }

    #[test]
    fn text_is_cut_by_source() {
        let cut = pieces(
            "one two three four five",
            vec![span(4, 13, 1), span(8, 18, 0)],
            &ExcerptLimits::default(),
        );
        assert_eq!(
            cut,
            [
                ExcerptPiece::Own("one ".into()),
                ExcerptPiece::Shared(1, "two three".into()),
                ExcerptPiece::Shared(0, " four".into()),
                ExcerptPiece::Own(" five".into()),
            ]
        );
    }

    #[test]
    fn long_text_between_passages_becomes_a_gap() {
        let text = format!("{}patch{}", "a".repeat(1000), "b".repeat(1000));
        let cut = pieces(&text, vec![span(1000, 1005, 0)], &ExcerptLimits::default());
        assert_eq!(
            cut,
            [
                ExcerptPiece::Gap(840),
                ExcerptPiece::Own("a".repeat(160)),
                ExcerptPiece::Shared(0, "patch".into()),
                ExcerptPiece::Own("b".repeat(160)),
                ExcerptPiece::Gap(840),
            ]
        );
    }

    proptest! {
        #[test]
        fn pieces_contain_every_character_once_and_are_bounded(
            text in "[aü汉🦀 ]{0,3000}",
            spans in proptest::collection::vec((0usize..9000, 0usize..900, 0usize..7), 0..40),
        ) {
            let characters = text.chars().count() as u64;
            let spans = spans.into_iter().map(|(begin, length, source)| {
                span(floor(&text, begin), floor(&text, begin + length), source)
            });
            let cut = pieces(&text, spans.collect(), &ExcerptLimits::default());
            let of = |piece: &ExcerptPiece| match piece {
                ExcerptPiece::Own(words) | ExcerptPiece::Shared(_, words) => words.chars().count() as u64,
                ExcerptPiece::Gap(characters) => *characters,
            };
            prop_assert_eq!(cut.iter().map(of).sum::<u64>(), characters);
            let shown: usize = cut.iter().map(|piece| match piece {
                ExcerptPiece::Own(words) | ExcerptPiece::Shared(_, words) => words.len(),
                ExcerptPiece::Gap(_) => 0,
            }).sum();
            prop_assert!(shown <= 4_000 + 3 * 160, "{}", shown);
        }

        #[test]
        fn any_offsets_are_quoted_or_skipped(
            text in "[aü汉 ]{0,300}", begin in 0usize..900, end in 0usize..900,
        ) {
            if let Some(quote) = quote(&text, begin, end) {
                prop_assert!(text.contains(quote.before.trim_start_matches('…')));
            }
        }
    }
}
