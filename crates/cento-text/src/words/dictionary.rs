//! Words in scripts that are written without spaces, as a dictionary splits them.
//!
//! ICU's dictionary takes, from where it stands, the longest word that it knows. So where it breaks
//! depends on what follows by no more than the longest word, and on what went before not at all,
//! once it has broken there. This is what lets a run of any length be split piece by piece, in
//! bounded memory, with the very breaks that the whole would have. ICU's other model, a neural
//! network, has neither property, and computes in floating point besides: not something to rest the
//! identity of a word on.

use std::ops::Range;
use std::sync::LazyLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

use super::table::{self, Kind};

/// How many bytes are split at a time: enough to make beginnings and ends rare, little enough to
/// stay in cache.
const PIECE: usize = 4096;

/// How far from the end of an unfinished piece a break must be to be believed, in bytes. The
/// longest word of the dictionaries is far shorter.
const MARGIN: usize = 512;

static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()));

/// Splits runs; keeps the buffers that this needs.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    /// The piece at hand, without ignorable characters.
    clean: String,
    /// Where in the text each byte of `clean` came from; empty if nothing was left out.
    origins: Vec<usize>,
}

impl Dictionary {
    /// Splits the run of dictionary characters that begins at `begin` and gives `visit` the range
    /// and the characters of each word, without ignorable ones. Returns where the run ends.
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
                // One word fills the piece. Doubling keeps the whole work linear, however long the
                // word is.
                size *= 2;
            } else {
                begin = self.origin(begin, done..self.clean.len()).start;
                size = PIECE;
            }
        }
    }

    /// Copies up to `size` bytes of the run at `begin`, without ignorable characters, into `clean`.
    /// Returns where it stopped and whether that is the end of the run.
    fn gather(&mut self, text: &str, begin: usize, size: usize) -> (usize, bool) {
        self.clean.clear();
        self.origins.clear();
        let mut copied = begin;
        for (offset, character) in text[begin..].char_indices() {
            let at = begin + offset;
            let kind = if character.is_ascii() {
                Kind::Separator
            } else {
                table::entry(character).kind()
            };
            match kind {
                Kind::Dictionary | Kind::Mark => {}
                Kind::Ignorable => {
                    self.copy(text, copied..at);
                    if self.origins.is_empty() {
                        self.origins.extend(begin..at);
                    }
                    copied = at + character.len_utf8();
                }
                Kind::Plain | Kind::Separator => {
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

    /// Where in the text a range of `clean` came from.
    fn origin(&self, begin: usize, range: Range<usize>) -> Range<usize> {
        if self.origins.is_empty() {
            return begin + range.start..begin + range.end;
        }
        // The end is where the last character ends, not where the next begins: something may have
        // been left out between them.
        let first = self.origins.get(range.start).copied().unwrap_or(begin);
        let last = self.origins.get(range.end - 1).copied().unwrap_or(first);
        first..last + 1
    }
}
