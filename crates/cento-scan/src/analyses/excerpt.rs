//! The words of quilted pages, each with where it is from.
//!
//! ```text
//!   patches of a page ─▶ spans (begin, end, source) ─ cut to an order without overlaps ─▶ pieces, and gaps where nothing was taken
//!   texts of the sources ─▶ quotes: what stands there, and around it
//! ```
//!
//! A page may be as long as a book and have a thousand sources: a few sources are shown, and of the
//! text as much as a reader reads.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use cento_find::quilts::QuiltsParams;
use cento_find::{Result, read_table};

use super::quilts::foreign_fraction;
use crate::analysis::Told;
use crate::rows::Row;
use crate::section::{Excerpt, Origin, Piece, Quote};
use crate::words::{counted, number, percent};

/// Sources that are shown, each with a colour.
const SOURCES: usize = 7;
/// Bytes of an excerpt that are shown at most.
const LONGEST: usize = 4_000;
/// Own words that are shown around patches; more of them become a gap.
const AROUND: usize = 160;
/// Quotes of a source, and how long one may be.
const QUOTES: usize = 2;
const QUOTE: usize = 400;
const QUOTE_AROUND: usize = 60;

/// Words that a page has from a source: where they begin and end in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    begin: usize,
    end: usize,
    source: usize,
    source_begin: usize,
    source_end: usize,
}

/// The words of some quilted pages.
pub(crate) fn excerpts(
    told: &Told<'_>,
    asked: &QuiltsParams,
    whose: &str,
    pages: &[Row],
) -> Result<Vec<Excerpt>> {
    let mut patches: HashMap<u64, Vec<Row>> = pages
        .iter()
        .map(|page| (page.count("page_id"), Vec::new()))
        .collect();
    for batch in read_table(&told.findings.table("patches"))? {
        let batch = batch?;
        let ids = batch.column_by_name("page_id");
        let Some(ids) = ids.and_then(|ids| ids.as_primitive_opt::<UInt64Type>()) else {
            continue;
        };
        for (row, id) in ids.values().iter().enumerate() {
            if let Some(held) = patches.get_mut(id) {
                held.push(Row::of(&batch, row));
            }
        }
    }
    pages
        .iter()
        .map(|page| {
            let patches = patches.remove(&page.count("page_id")).unwrap_or_default();
            excerpt(told, asked, whose, page, patches)
        })
        .collect()
}

fn text_of(told: &Told<'_>, page_id: u64) -> Result<String> {
    let corpus = told.source.corpora().first();
    let text = corpus.map(|corpus| corpus.text(page_id)).transpose()?;
    Ok(text.flatten().unwrap_or_default())
}

fn excerpt(
    told: &Told<'_>,
    asked: &QuiltsParams,
    whose: &str,
    page: &Row,
    mut patches: Vec<Row>,
) -> Result<Excerpt> {
    // Stable: of equals, those that the cover took first.
    patches.sort_by_key(|patch| std::cmp::Reverse(patch.count("grams")));
    let more = patches.len().saturating_sub(SOURCES) as u64;
    patches.truncate(SOURCES);
    let text = text_of(told, page.count("page_id"))?;
    let mut spans: Vec<Span> = Vec::new();
    let mut sources = Vec::new();
    for (source, patch) in patches.iter().enumerate() {
        let own = spans_of(patch, source);
        sources.push(origin(told, patch, &own)?);
        spans.extend(own);
    }
    Ok(Excerpt {
        page: page.word("page").to_owned(),
        about: format!(
            "{} of its {}-grams are also on {whose}, each on {} pages at most; for {} of these it links to such a page or its domain. It has {}. {} of its {}-grams are on no other page{}.",
            percent(foreign_fraction(page, asked)),
            asked.k,
            asked.m,
            percent(page.real("attributed_share")),
            counted(page.count("sources"), "source", "sources"),
            percent(page.real("originality")),
            asked.k,
            match page.count("first_grams") {
                0 => "",
                _ => ", or by their dates on later ones only",
            }
        ),
        pieces: pieces(&text, spans),
        sources,
        more,
    })
}

fn spans_of(patch: &Row, source: usize) -> Vec<Span> {
    let list = |name: &str| {
        let list = patch.counts(name).into_iter();
        list.map(|offset| offset as usize)
    };
    list("begins")
        .zip(list("ends"))
        .zip(list("source_begins").zip(list("source_ends")))
        .map(|((begin, end), (source_begin, source_end))| Span {
            begin,
            end,
            source,
            source_begin,
            source_end,
        })
        .collect()
}

/// A source, and the longest of what the page has from it.
fn origin(told: &Told<'_>, patch: &Row, spans: &[Span]) -> Result<Origin> {
    let mut about = format!(
        "{} of the patch grams ({})",
        percent(patch.real("share")),
        number(patch.count("grams"))
    );
    match patch.word("earlier") {
        "page" => about.push_str(", dated later than the page"),
        "source" => about.push_str(", dated earlier than the page"),
        "same" => about.push_str(", of the same date"),
        _ => {}
    }
    if patch.holds("attributed") {
        about.push_str(", attributed by links");
    }
    let text = text_of(told, patch.count("source_id"))?;
    let mut longest: Vec<&Span> = spans.iter().collect();
    longest.sort_by_key(|span| {
        let length = span.source_end.saturating_sub(span.source_begin);
        (std::cmp::Reverse(length), span.source_begin)
    });
    longest.truncate(QUOTES);
    longest.sort_by_key(|span| span.source_begin);
    let quotes = longest
        .iter()
        .filter_map(|span| quote(&text, span.source_begin, span.source_end));
    Ok(Origin {
        source: patch.word("source").to_owned(),
        about,
        quotes: quotes.collect(),
    })
}

fn quote(text: &str, begin: usize, end: usize) -> Option<Quote> {
    let words = text.get(begin..end)?;
    let shown = floor(text, end.min(begin + QUOTE)).max(begin);
    let cut = shown < end;
    let from = floor(text, begin.saturating_sub(QUOTE_AROUND));
    let to = floor(text, end.saturating_add(QUOTE_AROUND));
    Some(Quote {
        before: match from {
            0 => text.get(..begin).unwrap_or_default().to_owned(),
            _ => format!("…{}", text.get(from..begin).unwrap_or_default()),
        },
        words: match cut {
            true => format!("{} …", text.get(begin..shown).unwrap_or_default()),
            false => words.to_owned(),
        },
        after: match cut {
            true => String::new(),
            false if to < text.len() => format!("{}…", text.get(end..to).unwrap_or_default()),
            false => text.get(end..to).unwrap_or_default().to_owned(),
        },
    })
}

/// The last place at or before this one that is between two letters.
fn floor(text: &str, place: usize) -> usize {
    let mut place = place.min(text.len());
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

/// Cuts a text into words from sources and words of its own. Where two spans overlap, as grams do
/// at their ends, the words belong to the one that begins first.
fn pieces(text: &str, mut spans: Vec<Span>) -> Vec<Piece> {
    spans.sort_unstable();
    let mut pieces = Vec::new();
    let (mut at, mut shown) = (0, 0);
    for span in spans {
        let begin = span.begin.max(at);
        let (Some(_), true) = (text.get(begin..span.end), span.end > begin) else {
            continue;
        };
        if shown >= LONGEST {
            break;
        }
        shown += own(text, at, begin, at > 0, true, &mut pieces);
        let end = floor(text, span.end.min(begin + LONGEST.saturating_sub(shown)));
        let words = text.get(begin..end).unwrap_or_default();
        if !words.is_empty() {
            pieces.push(Piece::From(span.source, words.to_owned()));
        }
        shown += end - begin;
        at = end.max(at);
    }
    own(text, at, text.len(), at > 0, false, &mut pieces);
    pieces
}

/// Adds words of the page itself: what is near to patches, and a gap for the rest.
fn own(
    text: &str,
    from: usize,
    to: usize,
    after_patch: bool,
    before_patch: bool,
    pieces: &mut Vec<Piece>,
) -> usize {
    let behind = if after_patch {
        floor(text, from + AROUND)
    } else {
        from
    };
    let ahead = if before_patch {
        floor(text, to.saturating_sub(AROUND))
    } else {
        to
    };
    let behind = behind.min(to);
    let mut push = |piece: &str| {
        if !piece.is_empty() {
            pieces.push(Piece::Own(piece.to_owned()));
        }
        piece.len()
    };
    if behind >= ahead || ahead <= from {
        return push(text.get(from..to).unwrap_or_default());
    }
    let first = push(text.get(from..behind).unwrap_or_default());
    let left_out = text.get(behind..ahead).unwrap_or_default();
    pieces.push(Piece::Gap(left_out.chars().count() as u64));
    let last = text.get(ahead..to).unwrap_or_default();
    if !last.is_empty() {
        pieces.push(Piece::Own(last.to_owned()));
    }
    first + last.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn span(begin: usize, end: usize, source: usize) -> Span {
        Span {
            begin,
            end,
            source,
            source_begin: begin,
            source_end: end,
        }
    }

    #[test]
    fn words_are_told_apart_by_where_they_are_from() {
        let told = pieces(
            "one two three four five",
            vec![span(4, 13, 1), span(8, 18, 0)],
        );
        assert_eq!(
            told,
            [
                Piece::Own("one ".into()),
                Piece::From(1, "two three".into()),
                Piece::From(0, " four".into()),
                Piece::Own(" five".into()),
            ]
        );
    }

    #[test]
    fn what_nobody_else_has_becomes_a_gap() {
        let text = format!("{}patch{}", "a".repeat(1000), "b".repeat(1000));
        let told = pieces(&text, vec![span(1000, 1005, 0)]);
        assert_eq!(
            told,
            [
                Piece::Gap(840),
                Piece::Own("a".repeat(160)),
                Piece::From(0, "patch".into()),
                Piece::Own("b".repeat(160)),
                Piece::Gap(840),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_spans_give_all_letters_once_and_not_too_many(
            text in "[aü汉🦀 ]{0,3000}",
            spans in proptest::collection::vec((0usize..9000, 0usize..900, 0usize..7), 0..40),
        ) {
            let letters = text.chars().count() as u64;
            let spans = spans.into_iter().map(|(begin, length, source)| {
                span(floor(&text, begin), floor(&text, begin + length), source)
            });
            let told = pieces(&text, spans.collect());
            let of = |piece: &Piece| match piece {
                Piece::Own(words) | Piece::From(_, words) => words.chars().count() as u64,
                Piece::Gap(letters) => *letters,
            };
            prop_assert_eq!(told.iter().map(of).sum::<u64>(), letters);
            let shown: usize = told.iter().map(|piece| match piece {
                Piece::Own(words) | Piece::From(_, words) => words.len(),
                Piece::Gap(_) => 0,
            }).sum();
            prop_assert!(shown <= LONGEST + 3 * AROUND, "{}", shown);
        }

        #[test]
        fn any_offsets_are_quoted_or_not_but_never_fail(
            text in "[aü汉 ]{0,300}", begin in 0usize..900, end in 0usize..900,
        ) {
            if let Some(quote) = quote(&text, begin, end) {
                prop_assert!(text.contains(quote.before.trim_start_matches('…')));
            }
        }
    }
}
