//! Sentences, by the rules of Unicode's annex 29.
//!
//! Those rules end a sentence at every line break. Text that is hard-wrapped would fall apart into
//! lines so, and two copies of it that are wrapped unlike would share nothing; so a line break
//! counts as a space here, and sentences end at blank lines, where the paragraph does.
//!
//! In ASCII the rules come down to a look at what surrounds each full stop, exclamation and
//! question mark; other text is left to ICU, in pieces. A sentence in the middle of a piece begins
//! and ends where it would in the whole, because no rule looks back past the end of a sentence, or
//! ahead past the end of the next. So all but the last two sentences of an unfinished piece count,
//! and the next piece begins after them.

use std::ops::Range;

use icu_segmenter::options::SentenceBreakInvariantOptions;
use icu_segmenter::{SentenceSegmenter, SentenceSegmenterBorrowed};

use super::trim;

/// How many bytes ICU is given at a time.
const PIECE: usize = 1 << 14;

fn segmenter() -> SentenceSegmenterBorrowed<'static> {
    SentenceSegmenter::new(SentenceBreakInvariantOptions::default())
}

/// Gives `visit` the trimmed range of every sentence of a paragraph of `text`.
pub(super) fn sentences(text: &str, paragraph: Range<usize>, mut visit: impl FnMut(Range<usize>)) {
    let words = &text[paragraph.clone()];
    let mut begin = 0;
    let mut until = |end: usize| {
        let sentence = trim(text, paragraph.start + begin..paragraph.start + end);
        if !sentence.is_empty() {
            visit(sentence);
        }
        begin = end;
    };
    if words.is_ascii() {
        ascii_breaks(words.as_bytes(), &mut until);
    } else {
        breaks(words, PIECE, &mut until);
    }
}

/// Gives `visit` where each sentence ends, in any text.
fn breaks(text: &str, piece: usize, mut visit: impl FnMut(usize)) {
    let mut begin = 0;
    let mut size = piece;
    let mut joined = String::new();
    while begin < text.len() {
        let mut end = text.len().min(begin + size);
        while !text.is_char_boundary(end) {
            end += 1;
        }
        joined.clear();
        for part in text[begin..end].split(['\n', '\r']) {
            joined.push_str(part);
            joined.push(' ');
        }
        joined.pop();
        let finished = end == text.len();
        // Ends wait for two more to be found before they count.
        let (mut second, mut first) = (None, None);
        let mut done = 0;
        for found in segmenter().segment_str(&joined).skip(1) {
            if finished {
                visit(begin + found);
                continue;
            }
            if let Some(safe) = first {
                visit(begin + safe);
                done = safe;
            }
            first = second.replace(found);
        }
        if finished {
            return;
        }
        begin += done;
        // A sentence that fills the piece: doubling keeps the whole work linear, however long it
        // is.
        size = if done == 0 { size * 2 } else { piece };
    }
}

/// Gives `visit` where each sentence ends, in ASCII text.
fn ascii_breaks(text: &[u8], mut visit: impl FnMut(usize)) {
    let at = |position: usize| text.get(position).copied();
    let mut from = 0;
    while let Some(found) = memchr::memchr3(b'.', b'!', b'?', text.get(from..).unwrap_or_default())
    {
        let mark = from + found;
        from = mark + 1;
        let full_stop = at(mark) == Some(b'.');
        let inside_word = match at(mark + 1) {
            Some(b'0'..=b'9') => true,
            Some(b'A'..=b'Z') => mark > 0 && text[mark - 1].is_ascii_alphabetic(),
            _ => false,
        };
        if full_stop && inside_word {
            continue;
        }
        let mut next = mark + 1;
        while at(next).is_some_and(is_close) {
            next += 1;
        }
        while at(next).is_some_and(is_space) {
            next += 1;
        }
        let goes_on = match at(next) {
            None => true,
            Some(b',' | b'-' | b':' | b';' | b'.' | b'!' | b'?') => true,
            Some(_) if full_stop => {
                let ahead = text[next..]
                    .iter()
                    .find(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'!' | b'?'));
                ahead.is_some_and(u8::is_ascii_lowercase)
            }
            Some(_) => false,
        };
        if !goes_on {
            visit(next);
            from = next;
        }
    }
    if !text.is_empty() {
        visit(text.len());
    }
}

fn is_close(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'(' | b')' | b'[' | b']' | b'{' | b'}')
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_icu(text: &str) -> Vec<usize> {
        segmenter()
            .segment_str(&text.replace(['\n', '\r'], " "))
            .skip(1)
            .collect()
    }

    fn in_pieces(text: &str, piece: usize) -> Vec<usize> {
        let mut found = Vec::new();
        breaks(text, piece, |end| found.push(end));
        found
    }

    proptest! {
        #[test]
        fn ascii_sentences_end_where_icu_ends_them(
            text in "([a-zA-Z0-9]{0,3}[.!?]{0,3}[\"'()\\[\\]{}]{0,2}[ \\n\\t]{0,2}[,:;\\-*#\\x01]{0,1}){0,12}|[ -~\\n]{0,40}"
        ) {
            let mut found = Vec::new();
            ascii_breaks(text.as_bytes(), |end| found.push(end));
            prop_assert_eq!(found, by_icu(&text));
        }

        #[test]
        fn sentences_end_in_pieces_where_they_end_in_the_whole(
            text in "([a-zA-Z0-9é中]{0,3}[.!?。]{0,2}[\"')]{0,2}[ \\n\u{2029}\u{301}]{0,2}[,1]{0,1}){0,20}", piece in 1usize..40
        ) {
            prop_assert_eq!(in_pieces(&text, piece), by_icu(&text));
        }
    }
}
