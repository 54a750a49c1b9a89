//! Segments scripts written without spaces, using ICU's dictionaries.
//!
//! The dictionary segmenter matches the longest known word at the current position. A break
//! therefore depends on at most one maximal word of following text, and not on any text before the
//! previous break. This allows a run of any length to be segmented in pieces, in bounded memory,
//! with the same breaks as the whole run. ICU's other model, a neural network, has neither property
//! and uses floating-point arithmetic, so word identity could differ between machines.

use std::ops::Range;
use std::sync::LazyLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

use super::table::{self, CharacterKind};

/// Bytes segmented at a time: enough to make piece boundaries rare, small enough to stay in cache.
const PIECE: usize = 4096;

/// A break in an unfinished piece is accepted only if it is at least this many bytes before the end
/// of the piece. The longest word in the dictionaries is far shorter.
const MARGIN: usize = 512;

static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()));

/// Segments runs of dictionary scripts; reuses its buffers.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    /// The current piece, without ignorable characters.
    clean: String,
    /// The text offset of each byte of `clean`; empty if no character was removed.
    origins: Vec<usize>,
}

impl Dictionary {
    /// Segments the run of dictionary characters that begins at `begin` and calls `visit` with the
    /// range and the characters of each word, without ignorable ones. Returns the end of the run.
    pub(super) fn split(
        &mut self,
        text: &str,
        begin: usize,
        mut visit: impl FnMut(Range<usize>, &str),
    ) -> usize {
        let mut begin = begin;
        let mut size = PIECE;
        loop {
            let (end, finished) = self.gather(text, begin, size);
            let trusted = if finished {
                self.clean.len()
            } else {
                self.clean.len().saturating_sub(MARGIN)
            };
            let mut done = 0;
            for boundary in SEGMENTER.segment_str(&self.clean) {
                if boundary == 0 {
                    continue;
                }
                if boundary > trusted {
                    break;
                }
                visit(
                    self.origin(begin, done..boundary),
                    &self.clean[done..boundary],
                );
                done = boundary;
            }
            if finished {
                return end;
            }
            if done == 0 {
                // One word fills the piece. Doubling the size keeps the total work linear for words
                // of any length.
                size *= 2;
            } else {
                begin = self.origin(begin, done..self.clean.len()).start;
                size = PIECE;
            }
        }
    }

    /// Copies up to `size` bytes of the run at `begin` into `clean`, without ignorable characters.
    /// Returns the position where it stopped and whether the run ends there.
    fn gather(&mut self, text: &str, begin: usize, size: usize) -> (usize, bool) {
        self.clean.clear();
        self.origins.clear();
        let mut copied = begin;
        for (offset, character) in text[begin..].char_indices() {
            let at = begin + offset;
            let kind = if character.is_ascii() {
                CharacterKind::Separator
            } else {
                table::entry(character).kind()
            };
            match kind {
                CharacterKind::Dictionary | CharacterKind::Mark => {}
                CharacterKind::Ignorable => {
                    self.copy(text, copied..at);
                    if self.origins.is_empty() {
                        self.origins.extend(begin..at);
                    }
                    copied = at + character.len_utf8();
                }
                CharacterKind::Plain | CharacterKind::Separator => {
                    self.copy(text, copied..at);
                    return (at, true);
                }
            }
            if at - begin >= size {
                self.copy(text, copied..at);
                return (at, false);
            }
        }
        self.copy(text, copied..text.len());
        (text.len(), true)
    }

    fn copy(&mut self, text: &str, range: Range<usize>) {
        let Some(part) = text.get(range.clone()) else {
            return;
        };
        self.clean.push_str(part);
        if !self.origins.is_empty() {
            self.origins.extend(range);
        }
    }

    /// The range of the text that a range of `clean` was copied from.
    fn origin(&self, begin: usize, range: Range<usize>) -> Range<usize> {
        if self.origins.is_empty() {
            return begin + range.start..begin + range.end;
        }
        // The range ends with its last character, not where the next one begins: ignorable
        // characters may lie in between.
        let first = self.origins.get(range.start).copied().unwrap_or(begin);
        let last = self.origins.get(range.end - 1).copied().unwrap_or(first);
        first..last + 1
    }
}
