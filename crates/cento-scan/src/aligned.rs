//! Two pages side by side: their dates and links in words, and the longest passage that they share.

use cento_align::{Aligner, Fold, Passage, differing_words};
use cento_find::precedence::{DatedBy, Dates, Earlier, earlier};
use cento_find::{CorpusPages, LinkTo, PageDetails, Result};
use cento_report::format::{counted, shared_words, size};
use cento_report::{ComparedSide, Comparison};

use crate::analyses::passages::{compared_pieces, dated_pair};

/// Bytes of each text that are compared, more than any book has.
const LONGEST_TEXT: usize = 8 << 20;
/// Bytes of each side of the passage that are shown at most.
const LONGEST: usize = 1_600;

/// Reads a page of the first corpus.
pub(crate) fn details(source: &CorpusPages, page_id: u64) -> Result<PageDetails> {
    let corpus = source.corpora().first();
    let found = corpus.map(|corpus| PageDetails::of(corpus, page_id));
    Ok(found.transpose()?.flatten().unwrap_or_default())
}

/// Says which of two pages is earlier, and by which dates, and whether they link to each other.
pub(crate) fn relation(one: &PageDetails, other: &PageDetails) -> String {
    let earlier = match earlier(one.dates, other.dates) {
        Earlier::First => "a",
        Earlier::Second => "b",
        Earlier::Same => "same",
        Earlier::Unknown => "unknown",
    };
    let parts = |dates: Dates| {
        let decisive = dates.decisive();
        (
            decisive.map(|(millis, _)| cento_text::date::render(millis)),
            decisive.map(|(_, by): (i64, DatedBy)| by.name().to_owned()),
        )
    };
    let (first, second) = (parts(one.dates), parts(other.dates));
    let dates = [(&first.0, &first.1), (&second.0, &second.1)];
    let links = |from: &PageDetails, to: &PageDetails| {
        matches!(from.links_to(to), LinkTo::Page | LinkTo::Domain)
    };
    let mut text = dated_pair(earlier, dates, Some(links(one, other)));
    if links(other, one) {
        text.push_str(" The second links to the first or to its domain.");
    }
    text
}

/// Returns the longest passage that two pages of the first corpus share, side by side, with their
/// dates. None if they share none.
pub(crate) fn longest_passage(
    source: &CorpusPages,
    pages: [&PageDetails; 2],
    about: &str,
) -> Result<Option<Comparison>> {
    let Some(corpus) = source.corpora().first().filter(|_| source.has_text()) else {
        return Ok(None);
    };
    let mut texts = [String::new(), String::new()];
    let mut cut = false;
    for (text, page) in texts.iter_mut().zip(pages) {
        *text = corpus.text(page.page_id)?.unwrap_or_default();
        let mut end = text.len().min(LONGEST_TEXT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        cut |= end < text.len();
        text.truncate(end);
    }
    let [a, b] = &texts;
    let passages = Aligner::new(Default::default()).align_texts(a, b);
    // Of equally long ones, the first.
    let longest = passages
        .iter()
        .rev()
        .max_by_key(|passage: &&Passage| passage.words);
    let Some(passage) = longest else {
        return Ok(None);
    };
    let one = a.get(passage.a.clone()).unwrap_or_default();
    let other = b.get(passage.b.clone()).unwrap_or_default();
    let differing = differing_words(one, other, Fold::None);
    let side = |at: usize, text: &str| ComparedSide {
        address: pages[at].url.clone(),
        pieces: compared_pieces(text, &differing[at], LONGEST),
    };
    let part = match cut {
        true => format!(" in the first {} of each text", size(LONGEST_TEXT as u64)),
        false => String::new(),
    };
    Ok(Some(Comparison {
        about: format!(
            "{about} The longest of {}{part}: {}. {}",
            counted(passages.len() as u64, "shared passage", "shared passages"),
            shared_words(
                [passage.words, passage.b_words].map(|words| words as u64),
                [passage.a_in_b, passage.b_in_a],
                ["the first", "the second"],
            ),
            relation(pages[0], pages[1])
        ),
        sides: [side(0, one), side(1, other)],
    }))
}
