//! The fast word scanner.
//!
//! Text is first split at ASCII separators: white space, punctuation and control characters. The
//! pieces in between are *runs* of ASCII letters and digits and of non-ASCII characters. A run of
//! ASCII letters and digits is one word. Only runs with non-ASCII characters are processed
//! character by character.
//!
//! ```text
//! text    In der Größe, 3月5日.
//! runs    ██ ███ ██████ ███████        ASCII letters and digits, and all non-ASCII bytes
//! other           ▲▲     ▲▲▲ ▲▲▲        non-ASCII bytes
//! words   ██ ███ ██████ ██▀█▀          an ASCII run is a word; the others are walked
//! ```
//!
//! Runs are found 64 bytes at a time, as bits in a machine word, so a word costs a few instructions
//! and no mispredicted branch. Normal forms are slices of a lower-cased window of the text; or, for
//! callers that hash them, two numbers read directly from the text.

use std::ops::Range;

use super::dictionary::Dictionary;
use super::form::NormalForm;
use super::table::{self, CharacterKind};
use crate::bits::{eight, gather, padded};

/// Bytes lower-cased at a time; a window stays in the first-level cache until its words are used.
const WINDOW: usize = 2048;

/// What a sink needs to know about each word; nothing else is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WordDetail {
    /// Only the number of words; words may be reported in bulk.
    Count,
    /// Byte ranges; the normal forms passed to the sink are empty.
    Ranges,
    /// Normal forms; those of short ASCII words are packed.
    Packed,
    /// Normal forms.
    Normals,
}

/// Receives the words of a text.
pub(super) trait WordSink {
    const DETAIL: WordDetail;
    /// Whether normal forms are needed.
    const NORMAL: bool = matches!(Self::DETAIL, WordDetail::Packed | WordDetail::Normals);

    /// Receives a word.
    fn word(&mut self, range: Range<usize>, normal: &str);

    /// Receives a word with an ASCII normal form of up to 16 bytes, packed into two little-endian
    /// numbers and padded with zeros.
    fn packed(&mut self, _range: Range<usize>, _normal: [u64; 2]) {}

    /// Receives `words` words of which only the number matters.
    fn count(&mut self, _words: u32) {}
}

/// The scanner's reusable buffers.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The window with ASCII letters in lower case.
    lower: String,
    normal: NormalForm,
    dictionary: Dictionary,
}

impl Scan {
    /// Passes every word of `text` to `sink`, in order.
    pub(super) fn run(&mut self, text: &str, sink: &mut impl WordSink) {
        let mut at = 0;
        while at < text.len() {
            at = self.window(text, at, sink);
        }
    }

    /// Passes the words of the window at `begin` to `sink` and returns the start of the next
    /// window. `begin` must not lie inside a run.
    fn window<S: WordSink>(&mut self, text: &str, begin: usize, sink: &mut S) -> usize {
        let mut size = text.len() - begin;
        if S::DETAIL == WordDetail::Normals {
            size = size.min(WINDOW);
            // Extend the window to the next character boundary.
            let mut end = begin + size;
            while !text.is_char_boundary(end) {
                end += 1;
            }
            self.lower.clear();
            self.lower.push_str(&text[begin..end]);
            self.lower.make_ascii_lowercase();
        }
        // The open run: its start, and whether it contains a non-ASCII byte.
        let (mut open, mut start, mut mixed) = (false, 0, false);
        for (number, block) in text.as_bytes()[begin..begin + size].chunks(64).enumerate() {
            let offset = number * 64;
            let Bits { ascii, mut other } = Bits::of(block);
            let inside = ascii | other;
            // Each bit describes the preceding byte.
            let before = inside << 1 | u64::from(open);
            let mut starts = inside & !before;
            let mut ends = before & !inside;
            if S::DETAIL == WordDetail::Count && other == 0 && !mixed {
                sink.count(ends.count_ones());
                open = inside >> 63 == 1;
                if starts != 0 {
                    start = offset + 63 - starts.leading_zeros() as usize;
                }
                continue;
            }
            // Runs are enumerated by their ends, one loop iteration each. If no further run begins
            // in this block, the value of `start` is irrelevant. There is no branch on whether a
            // run is open, because it would be unpredictable.
            start = if open {
                start
            } else {
                offset + starts.trailing_zeros() as usize
            };
            starts &= starts.wrapping_sub(u64::from(!open));
            while ends != 0 {
                let end = ends.trailing_zeros();
                ends &= ends - 1;
                // Unprocessed non-ASCII bytes before the end belong to this run.
                let later = other >> end << end;
                mixed |= other != later;
                other = later;
                self.take(text, begin, start..offset + end as usize, mixed, sink);
                mixed = false;
                start = offset + starts.trailing_zeros() as usize;
                starts &= starts.wrapping_sub(1);
            }
            open = inside >> 63 == 1;
            mixed |= other != 0;
        }
        let end = begin + size;
        if !open {
            return end;
        }
        if end == text.len() {
            self.take(text, begin, start..size, mixed, sink);
            return end;
        }
        if mixed || start == 0 {
            return self.walk(text, begin + start, sink);
        }
        begin + start
    }

    /// Passes the words of a run in the window at `begin` to `sink`.
    // Measured: a function call per word adds a third to the time.
    #[inline(always)]
    fn take<S: WordSink>(
        &mut self,
        text: &str,
        begin: usize,
        run: Range<usize>,
        mixed: bool,
        sink: &mut S,
    ) {
        let range = begin + run.start..begin + run.end;
        if mixed {
            let end = self.walk(text, range.start, sink);
            debug_assert_eq!(end, range.end, "walking a run must end where its bits end");
            return;
        }
        match S::DETAIL {
            WordDetail::Normals => sink.word(range, &self.lower[run]),
            WordDetail::Packed => match pack(text.as_bytes(), &range) {
                Some(packed) => sink.packed(range, packed),
                None => {
                    self.walk(text, range.start, sink);
                }
            },
            WordDetail::Ranges | WordDetail::Count => sink.word(range, ""),
        }
    }

    /// Passes the words of the run at `begin` to `sink`, character by character, and returns the
    /// end of the run.
    #[inline(never)]
    fn walk<S: WordSink>(&mut self, text: &str, begin: usize, sink: &mut S) -> usize {
        let mut at = begin;
        // The current word; empty between words.
        let mut word = at..at;
        let mut characters = text[at..].chars();
        while let Some(character) = characters.next() {
            let next = text.len() - characters.as_str().len();
            let entry = if character.is_ascii() {
                if !character.is_ascii_alphanumeric() {
                    break;
                }
                table::CharacterEntry::ASCII
            } else {
                table::entry(character)
            };
            match entry.kind() {
                CharacterKind::Plain | CharacterKind::Mark => {
                    if word.is_empty() {
                        word.start = at;
                        self.normal.clear();
                    }
                    word.end = next;
                    if S::NORMAL && character.is_ascii() {
                        self.normal.push_ascii(character as u8);
                    } else if S::NORMAL {
                        self.normal.push(character, entry);
                    }
                }
                CharacterKind::Ignorable => {}
                CharacterKind::Separator => self.finish(text, &mut word, sink),
                CharacterKind::Dictionary => {
                    self.finish(text, &mut word, sink);
                    at = self.split(text, at, sink);
                    word = at..at;
                    characters = text[at..].chars();
                    continue;
                }
            }
            at = next;
            if word.is_empty() {
                word = at..at;
            }
        }
        self.finish(text, &mut word, sink);
        at
    }

    /// Passes the current word to `sink`, if it is not empty, and clears it.
    #[inline]
    fn finish<S: WordSink>(&mut self, text: &str, word: &mut Range<usize>, sink: &mut S) {
        if word.start == word.end {
            return;
        }
        let range = std::mem::replace(word, word.end..word.end);
        let normal = if S::NORMAL {
            self.normal.finish(&text[range.clone()])
        } else {
            ""
        };
        sink.word(range, normal);
    }

    /// Passes the words of the dictionary characters at `begin` to `sink` and returns the end of
    /// their run.
    fn split<S: WordSink>(&mut self, text: &str, begin: usize, sink: &mut S) -> usize {
        let Scan {
            normal, dictionary, ..
        } = self;
        dictionary.split(text, begin, |range, characters| {
            let normal = if S::NORMAL { normal.of(characters) } else { "" };
            sink.word(range, normal);
        })
    }
}

/// Packs the normal form of the ASCII letters and digits in `range`. Returns `None` for more than
/// 16 bytes, and if fewer than 16 bytes of text follow the start of the word.
///
/// Sixteen bytes are always read and the excess is masked, because a branch on the length of a word
/// is unpredictable.
#[inline]
fn pack(text: &[u8], range: &Range<usize>) -> Option<[u64; 2]> {
    /// The mask for each length.
    const MASKS: [[u64; 2]; 17] = {
        let mut masks = [[0, 0]; 17];
        let mut length = 1;
        while length <= 16 {
            masks[length] = if length <= 8 {
                [u64::MAX >> (64 - 8 * length), 0]
            } else {
                [u64::MAX, u64::MAX >> (128 - 8 * length)]
            };
            length += 1;
        }
        masks
    };
    let [first, second] = MASKS.get(range.len())?;
    let (halves, _) = text.get(range.start..)?.as_chunks::<8>();
    let [one, two, ..] = halves else { return None };
    // This bit lower-cases letters; digits already have it set.
    Some([
        (u64::from_le_bytes(*one) | eight(0x20)) & first,
        (u64::from_le_bytes(*two) | eight(0x20)) & second,
    ])
}

/// Bit masks of 64 bytes: ASCII letters and digits, and non-ASCII bytes. The first byte is the
/// lowest bit.
struct Bits {
    ascii: u64,
    other: u64,
}

impl Bits {
    #[inline]
    fn of(block: &[u8]) -> Self {
        let block = &padded(block);
        let mut bits = Bits {
            ascii: gather(block, |byte| {
                ((byte | 0x20).wrapping_sub(b'a') < 26) | (byte.wrapping_sub(b'0') < 10)
            }),
            other: 0,
        };
        // Most blocks of Latin text are pure ASCII.
        if !block.is_ascii() {
            bits.other = gather(block, |byte| byte >= 0x80);
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_up_to_16_bytes_are_packed_and_longer_ones_are_not() {
        let text = b"The 0123456789ABCDEFGHIJ, and what follows".as_slice();
        let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let the = number(b"the\0\0\0\0\0");
        assert_eq!(pack(text, &(0..3)), Some([the, 0]));
        assert_eq!(pack(text, &(4..12)), Some([number(b"01234567"), 0]));
        let sixteen = [number(b"01234567"), number(b"89abcdef")];
        assert_eq!(pack(text, &(4..20)), Some(sixteen));
        assert_eq!(pack(text, &(4..21)), None);
        // Fewer than 16 bytes of text are left.
        assert_eq!(pack(&text[..15], &(0..3)), None);
        assert_eq!(pack(&text[..16], &(0..3)), Some([the, 0]));
    }

    #[test]
    fn the_bits_of_a_block_classify_each_byte() {
        let bytes: Vec<u8> = (0..=255).collect();
        for begin in 0..256 {
            for length in [1, 7, 8, 63, 64] {
                let block: Vec<u8> = bytes
                    .iter()
                    .cycle()
                    .skip(begin)
                    .take(length)
                    .copied()
                    .collect();
                let bits = Bits::of(&block);
                for (position, byte) in block.iter().enumerate() {
                    assert_eq!(
                        bits.ascii >> position & 1 == 1,
                        byte.is_ascii_alphanumeric()
                    );
                    assert_eq!(bits.other >> position & 1 == 1, !byte.is_ascii());
                }
                assert!(length == 64 || (bits.ascii | bits.other) >> length == 0);
            }
        }
    }
}
