//! Wraps long lines.
//!
//! Text from HTML has one line for each block, of any length. A reader sees it wrapped, and the
//! papers count such lines. So a line wider than [`COLUMNS`] is wrapped greedily, as a terminal or
//! a mail program does.
//!
//! * Lines are broken at white space. A run without white space that is wider than a row (Chinese,
//!   Thai, a long URL) is broken before its words, as [`crate::words`] finds them; a word wider
//!   than a row is cut at the last column.
//! * Most characters take one column. Wide East Asian characters take two; combining marks and
//!   invisible characters take none and stay with the preceding character.
//! * A run of white space between words takes one column.

use std::ops::Range;

use icu_properties::CodePointMapData;
use icu_properties::props::{EastAsianWidth, GeneralCategory};

/// The width of a row in columns.
pub(super) const COLUMNS: usize = 80;

/// The width of a character in columns.
fn columns(character: char) -> usize {
    if character.is_ascii() {
        return usize::from(!character.is_ascii_control());
    }
    match CodePointMapData::<GeneralCategory>::new().get(character) {
        GeneralCategory::NonspacingMark
        | GeneralCategory::EnclosingMark
        | GeneralCategory::Format
        | GeneralCategory::Control => return 0,
        _ => {}
    }
    match CodePointMapData::<EastAsianWidth>::new().get(character) {
        EastAsianWidth::Wide | EastAsianWidth::Fullwidth => 2,
        _ => 1,
    }
}

/// The width of a text without white space.
fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.bytes().filter(|byte| !byte.is_ascii_control()).count();
    }
    text.chars().map(columns).sum()
}

/// Calls `visit` with the rows of the line at `line` in `text`, which must be trimmed and not
/// empty.
pub(super) fn wrap(text: &str, line: Range<usize>, mut visit: impl FnMut(Range<usize>)) {
    // No character takes more columns than it has bytes.
    if line.len() <= COLUMNS {
        visit(line);
        return;
    }
    let mut row = WrappedRow {
        range: line.start..line.start,
        columns: 0,
        visit: &mut visit,
    };
    let within = text.get(line.clone()).unwrap_or_default();
    for run in within.split_whitespace() {
        let begin = line.start + (run.as_ptr().addr() - within.as_ptr().addr());
        let columns = width(run);
        if columns <= COLUMNS {
            row.add(begin..begin + run.len(), columns, true);
        } else {
            row.add_wide(text, begin..begin + run.len());
        }
    }
    row.finish();
}

/// The current row.
struct WrappedRow<'visit, Visit> {
    range: Range<usize>,
    columns: usize,
    visit: &'visit mut Visit,
}

impl<Visit: FnMut(Range<usize>)> WrappedRow<'_, Visit> {
    /// Adds a piece that fits into a row, with or without a space before it.
    fn add(&mut self, piece: Range<usize>, columns: usize, spaced: bool) {
        let space = usize::from(spaced && !self.range.is_empty());
        if self.columns + space + columns > COLUMNS {
            self.finish();
        }
        if self.range.is_empty() {
            self.range = piece;
            self.columns = columns;
        } else {
            self.range.end = piece.end;
            self.columns += space + columns;
        }
    }

    /// Adds a run without white space that is wider than a row, word by word.
    fn add_wide(&mut self, text: &str, run: Range<usize>) {
        let within = text.get(run.clone()).unwrap_or_default();
        let mut begin = run.start;
        let mut spaced = true;
        let mut piece = |row: &mut Self, range: Range<usize>| {
            if !range.is_empty() {
                row.add_piece(text, range, spaced);
                spaced = false;
            }
        };
        crate::words::for_each_word_range(within, |word| {
            let next = run.start + word.start;
            piece(self, begin..next);
            begin = next;
        });
        piece(self, begin..run.end);
    }

    /// Adds a word and the characters up to the next word; cuts it if it is wider than a row.
    fn add_piece(&mut self, text: &str, piece: Range<usize>, mut spaced: bool) {
        let within = text.get(piece.clone()).unwrap_or_default();
        let (mut begin, mut taken) = (piece.start, 0);
        for (at, character) in within.char_indices() {
            let columns = columns(character);
            if taken + columns > COLUMNS {
                self.add(begin..piece.start + at, taken, spaced);
                (begin, taken, spaced) = (piece.start + at, 0, false);
            }
            taken += columns;
        }
        self.add(begin..piece.end, taken, spaced);
    }

    fn finish(&mut self) {
        if !self.range.is_empty() {
            (self.visit)(self.range.clone());
        }
        self.range = self.range.end..self.range.end;
        self.columns = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(text: &str) -> Vec<&str> {
        let line = super::super::trim(text, 0..text.len());
        let mut rows = Vec::new();
        if !line.is_empty() {
            wrap(text, line, |range| rows.push(&text[range]));
        }
        rows
    }

    /// The definition for text with spaces: words are added to a row while they fit.
    fn naive(text: &str) -> Vec<String> {
        let mut rows: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            match rows.last_mut() {
                Some(row) if row.chars().count() + 1 + word.chars().count() <= COLUMNS => {
                    row.push(' ');
                    row.push_str(word);
                }
                _ => rows.push(word.to_owned()),
            }
        }
        rows
    }

    proptest! {
        #[test]
        fn wrapping_agrees_with_the_definition(words in prop::collection::vec("[a-zé]{1,30}", 0..60), spaces in " {1,3}|\t|\u{a0}") {
            let text = words.join(&spaces);
            let found: Vec<String> = rows(&text).iter().map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
            prop_assert_eq!(found, naive(&text));
        }

        #[test]
        fn rows_fit_and_omit_only_space(text in "([a-zé漢字かな\u{e01}\u{e34}\u{301}/.]{0,90}[ \t]{0,2}){0,9}") {
            let found = rows(&text);
            for row in &found {
                let words: Vec<&str> = row.split_whitespace().collect();
                let spaces = words.len().saturating_sub(1);
                prop_assert!(words.iter().map(|word| width(word)).sum::<usize>() + spaces <= COLUMNS);
                prop_assert_eq!(row.trim(), *row);
            }
            let kept: String = found.concat().split_whitespace().collect();
            prop_assert_eq!(kept, text.split_whitespace().collect::<String>());
        }
    }

    #[test]
    fn wide_characters_take_two_columns_and_marks_none() {
        assert_eq!(columns('漢'), 2);
        assert_eq!(columns('Ａ'), 2);
        assert_eq!(columns('é'), 1);
        assert_eq!(columns('\u{301}'), 0);
        assert_eq!(columns('\u{200b}'), 0);
        let text = "漢字".repeat(50);
        assert_eq!(
            rows(&text).iter().map(|row| row.chars().count()).max(),
            Some(40)
        );
        let marked = "e\u{301}".repeat(100);
        assert_eq!(
            rows(&marked).first().map(|row| row.chars().count()),
            Some(160)
        );
    }

    #[test]
    fn a_long_url_is_broken_before_words_and_a_long_word_at_the_last_column() {
        let url = format!("https://example.org/{}", "folder/".repeat(20));
        let found = rows(&url);
        assert!(
            found.iter().skip(1).all(|row| row.starts_with("folder/")),
            "{found:?}"
        );
        let word = "x".repeat(200);
        let lengths: Vec<usize> = rows(&word).iter().map(|row| row.len()).collect();
        assert_eq!(lengths, [80, 80, 40]);
    }
}
