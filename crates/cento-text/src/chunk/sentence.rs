//! Sentences, by the rules of Unicode Annex #29.
//!
//! The rules end a sentence at every line break. Hard-wrapped text would be split into lines, and
//! two copies with different line breaks would share nothing. So a line break counts as a space
//! here, and sentences end at blank lines, with the paragraph.
//!
//! For ASCII the rules reduce to inspecting the neighbours of each full stop, exclamation mark and
//! question mark. Other text is passed to ICU in pieces. A sentence in the middle of a piece has
//! the same boundaries as in the whole text, because no rule looks back past the end of a sentence,
//! or ahead past the end of the next. So all but the last two sentences of an unfinished piece are
//! final, and the next piece begins after them.

use std::ops::Range;

use icu_segmenter::options::SentenceBreakInvariantOptions;
use icu_segmenter::{SentenceSegmenter, SentenceSegmenterBorrowed};

use super::trim;

/// Bytes passed to ICU at a time.
const PIECE: usize = 1 << 14;

fn segmenter() -> SentenceSegmenterBorrowed<'static> {
    SentenceSegmenter::new(SentenceBreakInvariantOptions::default())
}

/// Calls `visit` with the trimmed range of every sentence of a paragraph of `text`.
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

/// Calls `visit` with the end of each sentence of any text.
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
        // A boundary is final once two more have been found.
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
        // One sentence fills the piece. Doubling the size keeps the total work linear.
        size = if done == 0 { size * 2 } else { piece };
    }
}

/// Calls `visit` with the end of each sentence of ASCII text.
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
        let continues = match at(next) {
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
        if !continues {
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
        fn ascii_sentences_agree_with_icu(
            text in "([a-zA-Z0-9]{0,3}[.!?]{0,3}[\"'()\\[\\]{}]{0,2}[ \\n\\t]{0,2}[,:;\\-*#\\x01]{0,1}){0,12}|[ -~\\n]{0,40}"
        ) {
            let mut found = Vec::new();
            ascii_breaks(text.as_bytes(), |end| found.push(end));
            prop_assert_eq!(found, by_icu(&text));
        }

        #[test]
        fn sentences_are_the_same_in_pieces_as_in_the_whole(
            text in "([a-zA-Z0-9é中]{0,3}[.!?。]{0,2}[\"')]{0,2}[ \\n\u{2029}\u{301}]{0,2}[,1]{0,1}){0,20}", piece in 1usize..40
        ) {
            prop_assert_eq!(in_pieces(&text, piece), by_icu(&text));
        }
    }
}
