//! Writing the text: whitespace is held back until a visible character follows it.
//!
//! That one rule gives all the promises about whitespace at once. What is held back is only the
//! strongest edge since the last visible character, so there is never more than one blank line; at
//! the beginning it is dropped, at the end it is never written, and neither are spaces before a
//! line break.

use super::outline::Follow;
use super::reference::{self, Meaning, Place};
use super::scan::{self, SPACE, TEXT_SPECIAL};
use super::tag::Edge;
use crate::plain::parts_words;

pub(crate) struct Writer<'a, F> {
    text: &'a mut String,
    /// The separator that the next visible character will be written after.
    pending: Edge,
    /// Spaces and tabs of preformatted text that follow that separator; empty unless `pending` is
    /// set.
    blank: String,
    pub(crate) follow: F,
}

impl<'a, F: Follow> Writer<'a, F> {
    pub(crate) fn new(text: &'a mut String, follow: F) -> Self {
        Writer {
            text,
            // The beginning is an edge too.
            pending: Edge::Paragraph,
            blank: String::new(),
            follow,
        }
    }

    /// How many bytes have been written.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.text.len()
    }

    /// Where the next visible character will go.
    pub(crate) fn position(&self) -> usize {
        if self.text.is_empty() {
            return 0;
        }
        let separator = match self.pending {
            Edge::None => 0,
            Edge::Space => usize::from(self.blank.is_empty()),
            Edge::Cell | Edge::Line => 1,
            Edge::Paragraph => 2,
        };
        self.text.len() + separator + self.blank.len()
    }

    /// Nothing but what has been written is to be seen since the last edge.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.pending == Edge::None
    }

    /// The beginning or the end of an element.
    #[inline]
    pub(crate) fn edge(&mut self, edge: Edge) {
        if edge >= Edge::Cell {
            self.follow.edge(self.text.len());
            self.blank.clear();
        }
        self.pending = self.pending.max(edge);
    }

    /// A line break that the author asked for. The second in a row makes an empty line, as on the
    /// screen.
    pub(crate) fn line_break(&mut self) {
        self.blank.clear();
        if self.pending >= Edge::Line {
            self.edge(Edge::Paragraph);
        } else {
            self.pending = Edge::Line;
        }
    }

    /// Writes what was held back.
    #[inline]
    fn settle(&mut self) {
        if self.pending != Edge::None {
            self.settle_slowly();
        }
    }

    fn settle_slowly(&mut self) {
        let after_edge = self.pending >= Edge::Cell;
        if !self.text.is_empty() {
            match self.pending {
                Edge::None => {}
                // Preformatted spaces stand for themselves.
                Edge::Space if self.blank.is_empty() => self.text.push(' '),
                Edge::Space => {}
                Edge::Cell => self.text.push('\t'),
                Edge::Line => self.text.push('\n'),
                Edge::Paragraph => self.text.push_str("\n\n"),
            }
            self.text.push_str(&self.blank);
        }
        self.blank.clear();
        self.pending = Edge::None;
        if after_edge {
            self.follow.begin(self.text.len());
        }
    }

    /// Text in which whitespace collapses, with character references.
    pub(crate) fn flowing(&mut self, raw: &str) {
        let bytes = raw.as_bytes();
        let mut at = 0;
        while let Some(&first) = bytes.get(at) {
            if scan::is(first, SPACE) {
                self.pending = self.pending.max(Edge::Space);
                match scan::skip_class(bytes, at + 1, SPACE) {
                    Some(next) => at = next,
                    None => return,
                }
            }
            let end = plain_end(bytes, at);
            if end > at {
                self.settle();
                self.text.push_str(raw.get(at..end).unwrap_or_default());
                self.follow.written();
                if end == bytes.len() {
                    return;
                }
                at = end;
            }
            if bytes.get(at) != Some(&b' ') {
                at = self.special(raw, at, false);
            }
        }
    }

    /// Text whose spaces and line breaks are kept, with character references where `references`
    /// says so.
    pub(crate) fn preformatted(&mut self, raw: &str, references: bool) {
        let bytes = raw.as_bytes();
        let mut at = 0;
        while let Some(&first) = bytes.get(at) {
            // Whitespace may be copied only after something visible of the same run: before that it
            // may have to be held back.
            if !scan::is(first, TEXT_SPECIAL) {
                let end = preformatted_end(bytes, at);
                self.settle();
                self.text.push_str(raw.get(at..end).unwrap_or_default());
                self.follow.written();
                at = end;
            }
            at = match bytes.get(at) {
                Some(b'\r') if bytes.get(at + 1) == Some(&b'\n') => at + 1,
                Some(b'&') if !references => {
                    self.visible('&');
                    at + 1
                }
                Some(_) => self.special(raw, at, true),
                None => return,
            };
        }
    }

    /// Deals with the character at `at` if it cannot be copied as it is, and answers where to read
    /// on.
    fn special(&mut self, raw: &str, at: usize, preformatted: bool) -> usize {
        let Some(rest) = raw.get(at..) else {
            return raw.len();
        };
        let Some(character) = rest.chars().next() else {
            return at;
        };
        if character != '&' {
            if rest
                .as_bytes()
                .first()
                .is_some_and(|&byte| scan::is(byte, TEXT_SPECIAL))
            {
                self.character(character, preformatted);
                return at + character.len_utf8();
            }
            return at;
        }
        match reference::read(rest.as_bytes(), Place::Text) {
            Some((Meaning::Character(character), length)) => {
                self.character(character, preformatted);
                at + length
            }
            Some((Meaning::Text(text), length)) => {
                for character in text.chars() {
                    self.character(character, preformatted);
                }
                at + length
            }
            None => {
                self.visible('&');
                at + 1
            }
        }
    }

    fn character(&mut self, character: char, preformatted: bool) {
        match character {
            '\n' | '\r' if preformatted => {
                self.blank.clear();
                self.pending = if self.pending >= Edge::Line {
                    Edge::Paragraph
                } else {
                    Edge::Line
                };
            }
            ' ' | '\t' | '\u{A0}' if preformatted => {
                self.pending = self.pending.max(Edge::Space);
                self.blank.push(if character == '\t' { '\t' } else { ' ' });
            }
            ' ' | '\t' | '\n' | '\x0C' | '\r' | '\u{A0}' => {
                self.pending = self.pending.max(Edge::Space);
            }
            character if parts_words(character) => self.character(' ', preformatted),
            character if character.is_control() => {}
            character => self.visible(character),
        }
    }

    #[inline]
    fn visible(&mut self, character: char) {
        self.settle();
        self.text.push(character);
        self.follow.written();
    }
}

/// Where the run of characters ends that can be copied as it is: it may contain single spaces
/// between words.
#[inline]
fn plain_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        at = scan::find_special(bytes, at);
        let is_single_space = bytes.get(at) == Some(&b' ')
            && bytes
                .get(at + 1)
                .is_some_and(|&next| !scan::is(next, TEXT_SPECIAL));
        if !is_single_space {
            return at;
        }
        at += 2;
    }
}

/// The same in preformatted text, where all spaces and tabs may stand that do not end a line, and
/// up to two line feeds.
#[inline]
fn preformatted_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        at = scan::find_special(bytes, at);
        let mut next = at;
        while next < at + 2 && bytes.get(next) == Some(&b'\n') {
            next += 1;
        }
        while matches!(bytes.get(next), Some(b' ' | b'\t')) {
            next += 1;
        }
        let goes_on = next > at
            && bytes
                .get(next)
                .is_some_and(|&byte| !scan::is(byte, TEXT_SPECIAL));
        if !goes_on {
            return at;
        }
        at = next;
    }
}

#[cfg(test)]
mod tests;
