//! Writes the text of a page. Whitespace is deferred until a visible character follows it.
//!
//! This rule ensures all guarantees about whitespace. Only the strongest edge since the last
//! visible character is pending, so there is never more than one blank line. Pending whitespace is
//! discarded at the beginning, at the end and before a line break.

use super::outline::TextObserver;
use super::reference::{self, ReferenceContext, Replacement};
use super::scan::{self, SPACE, TEXT_SPECIAL};
use super::tag::TagEdge;
use crate::plain::separates_words;

pub(crate) struct Writer<'a, F> {
    text: &'a mut String,
    /// The separator to write before the next visible character.
    pending: TagEdge,
    /// Spaces and tabs of preformatted text after that separator; empty unless `pending` is set.
    blank: String,
    pub(crate) observer: F,
}

impl<'a, F: TextObserver> Writer<'a, F> {
    pub(crate) fn new(text: &'a mut String, observer: F) -> Self {
        Writer {
            text,
            // The beginning of the text is an edge.
            pending: TagEdge::Paragraph,
            blank: String::new(),
            observer,
        }
    }

    /// What was written so far.
    pub(crate) fn text(&self) -> &str {
        self.text
    }

    /// The number of bytes written.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.text.len()
    }

    /// The position of the next visible character.
    pub(crate) fn position(&self) -> usize {
        if self.text.is_empty() {
            return 0;
        }
        let separator = match self.pending {
            TagEdge::None => 0,
            TagEdge::Space => usize::from(self.blank.is_empty()),
            TagEdge::Cell | TagEdge::Line => 1,
            TagEdge::Paragraph => 2,
        };
        self.text.len() + separator + self.blank.len()
    }

    /// Whether no separator is pending.
    #[inline]
    pub(crate) fn is_flushed(&self) -> bool {
        self.pending == TagEdge::None
    }

    /// Handles the beginning or end of an element.
    #[inline]
    pub(crate) fn edge(&mut self, edge: TagEdge) {
        if edge >= TagEdge::Cell {
            self.observer.edge(self.text.len());
            self.blank.clear();
        }
        self.pending = self.pending.max(edge);
    }

    /// Handles an explicit line break. The second in a row makes a blank line, as in a browser.
    pub(crate) fn line_break(&mut self) {
        self.blank.clear();
        if self.pending >= TagEdge::Line {
            self.edge(TagEdge::Paragraph);
        } else {
            self.pending = TagEdge::Line;
        }
    }

    /// Writes the pending separator.
    #[inline]
    fn flush(&mut self) {
        if self.pending != TagEdge::None {
            self.write_pending();
        }
    }

    fn write_pending(&mut self) {
        let after_edge = self.pending >= TagEdge::Cell;
        if !self.text.is_empty() {
            match self.pending {
                TagEdge::None => {}
                // Preformatted spaces replace the separator.
                TagEdge::Space if self.blank.is_empty() => self.text.push(' '),
                TagEdge::Space => {}
                TagEdge::Cell => self.text.push('\t'),
                TagEdge::Line => self.text.push('\n'),
                TagEdge::Paragraph => self.text.push_str("\n\n"),
            }
            self.text.push_str(&self.blank);
        }
        self.blank.clear();
        self.pending = TagEdge::None;
        if after_edge {
            self.observer.begin(self.text.len());
        }
    }

    /// Writes text with collapsing whitespace and character references.
    pub(crate) fn flowing(&mut self, raw: &str) {
        let bytes = raw.as_bytes();
        let mut at = 0;
        while let Some(&first) = bytes.get(at) {
            if scan::is(first, SPACE) {
                self.pending = self.pending.max(TagEdge::Space);
                match scan::skip_class(bytes, at + 1, SPACE) {
                    Some(next) => at = next,
                    None => return,
                }
            }
            let end = plain_end(bytes, at);
            if end > at {
                self.flush();
                self.text.push_str(raw.get(at..end).unwrap_or_default());
                self.observer.written();
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

    /// Writes text with its spaces and line breaks, decoding character references if `references`
    /// is set.
    pub(crate) fn preformatted(&mut self, raw: &str, references: bool) {
        let bytes = raw.as_bytes();
        let mut at = 0;
        while let Some(&first) = bytes.get(at) {
            // Whitespace is copied only after a visible character of the same run: before that it
            // may have to be deferred.
            if !scan::is(first, TEXT_SPECIAL) {
                let end = preformatted_end(bytes, at);
                self.flush();
                self.text.push_str(raw.get(at..end).unwrap_or_default());
                self.observer.written();
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

    /// Handles the character at `at` if it cannot be copied unchanged, and returns the position to
    /// continue at.
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
        match reference::read(rest.as_bytes(), ReferenceContext::Text) {
            Some((Replacement::Character(character), length)) => {
                self.character(character, preformatted);
                at + length
            }
            Some((Replacement::Text(text), length)) => {
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
                self.pending = if self.pending >= TagEdge::Line {
                    TagEdge::Paragraph
                } else {
                    TagEdge::Line
                };
            }
            ' ' | '\t' | '\u{A0}' if preformatted => {
                self.pending = self.pending.max(TagEdge::Space);
                self.blank.push(if character == '\t' { '\t' } else { ' ' });
            }
            ' ' | '\t' | '\n' | '\x0C' | '\r' | '\u{A0}' => {
                self.pending = self.pending.max(TagEdge::Space);
            }
            character if separates_words(character) => self.character(' ', preformatted),
            character if character.is_control() => {}
            character => self.visible(character),
        }
    }

    #[inline]
    fn visible(&mut self, character: char) {
        self.flush();
        self.text.push(character);
        self.observer.written();
    }
}

/// The end of the run of characters that can be copied unchanged; it may contain single spaces
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

/// The same for preformatted text, which may contain spaces and tabs that do not end a line, and up
/// to two line feeds.
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
        let continues = next > at
            && bytes
                .get(next)
                .is_some_and(|&byte| !scan::is(byte, TEXT_SPECIAL));
        if !continues {
            return at;
        }
        at = next;
    }
}

#[cfg(test)]
mod tests;
