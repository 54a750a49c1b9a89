//! Finding words at the speed of memory.
//!
//! Text is cut at the ASCII characters that separate words: white space, punctuation, controls. What is left between them
//! are *runs* of ASCII letters and digits and of anything that is not ASCII. In a run of ASCII letters and digits alone
//! there is nothing to decide: it is one word. Only runs with other characters are looked at character by character.
//!
//! ```text
//! text    In der Größe, 3月5日.
//! runs    ██ ███ ██████ ███████        ASCII letters, digits, and all that is not ASCII
//! other           ▲▲     ▲▲▲ ▲▲▲        bytes that are not ASCII
//! words   ██ ███ ██████ ██▀█▀          a run of ASCII is a word; the others are walked
//! ```
//!
//! Runs are found 64 bytes at a time, as bits in a machine word, so that the cost of a word is a few instructions and not
//! one mispredicted branch; and a whole window is put into lower case at once, so that words are slices of it.

use std::ops::Range;

use super::dictionary::Dictionary;
use super::form::NormalForm;
use super::table::{self, Kind};

/// How much text is put into lower case at a time; it stays in the first-level cache until its words are used.
const WINDOW: usize = 2048;

/// Who takes the words.
pub(super) trait Sink {
    /// Whether the sink looks at normal forms: if not, none is made, and it gets empty ones.
    const NORMAL: bool;
    /// Whether the sink looks at ranges: if not, it may get words by number.
    const RANGES: bool = true;

    /// Takes a word.
    fn word(&mut self, range: Range<usize>, normal: &str);

    /// Takes so many words of which nothing matters but that they are there.
    fn count(&mut self, _words: u32) {}
}

/// The buffers of a scan.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The window in lower case (ASCII only).
    lower: String,
    normal: NormalForm,
    dictionary: Dictionary,
}

impl Scan {
    /// Gives `sink` every word of `text`, in order.
    pub(super) fn run(&mut self, text: &str, sink: &mut impl Sink) {
        let mut at = 0;
        while at < text.len() {
            at = self.window(text, at, sink);
        }
    }

    /// Gives `sink` the words of the window that begins at `begin`, which is not within a run, and returns where the
    /// next one has to begin.
    fn window<S: Sink>(&mut self, text: &str, begin: usize, sink: &mut S) -> usize {
        let size = WINDOW.min(text.len() - begin);
        if S::NORMAL {
            // A window that ends within a character is copied to that character's end.
            let mut end = begin + size;
            while !text.is_char_boundary(end) {
                end += 1;
            }
            self.lower.clear();
            self.lower.push_str(&text[begin..end]);
            self.lower.make_ascii_lowercase();
        }
        // The run that is not over yet: where it began, and whether it has had a byte that is not ASCII.
        let (mut open, mut start, mut mixed) = (false, 0, false);
        for (number, block) in text.as_bytes()[begin..begin + size].chunks(64).enumerate() {
            let offset = number * 64;
            let Bits { ascii, other } = Bits::of(block);
            let inside = ascii | other;
            // A set bit where a run begins, and where one has just ended.
            let mut changes = inside ^ (inside << 1 | u64::from(open));
            if !S::RANGES && other == 0 && !mixed {
                sink.count((changes & !inside).count_ones());
                open = inside >> 63 == 1;
                if open && changes != 0 {
                    start = offset + 63 - changes.leading_zeros() as usize;
                }
                continue;
            }
            // From where on bytes of this block belong to the run that is not over yet.
            let mut from = 0;
            while changes != 0 {
                let position = changes.trailing_zeros();
                changes &= changes - 1;
                if !open {
                    (open, start, mixed) = (true, offset + position as usize, false);
                    from = position;
                    continue;
                }
                open = false;
                mixed |= (other & ((1 << position) - 1)) >> from != 0;
                self.take(text, begin, start..offset + position as usize, mixed, sink);
                mixed = false;
            }
            mixed |= open && other >> from != 0;
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

    /// Gives `sink` the words of a run, which lies in the window at `begin`.
    #[inline]
    fn take<S: Sink>(
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
            debug_assert_eq!(end, range.end, "a run ends where its bits say");
        } else if S::NORMAL {
            sink.word(range, &self.lower[run]);
        } else {
            sink.word(range, "");
        }
    }

    /// Gives `sink` the words of the run that begins at `begin`, character by character, and returns where it ends.
    fn walk<S: Sink>(&mut self, text: &str, begin: usize, sink: &mut S) -> usize {
        let mut at = begin;
        // The word at hand; empty between words.
        let mut word = at..at;
        let mut characters = text[at..].chars();
        while let Some(character) = characters.next() {
            let next = text.len() - characters.as_str().len();
            let entry = if character.is_ascii() {
                if !character.is_ascii_alphanumeric() {
                    break;
                }
                table::Entry::ASCII
            } else {
                table::entry(character)
            };
            match entry.kind() {
                Kind::Plain | Kind::Mark => {
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
                Kind::Ignorable => {}
                Kind::Separator => self.finish(text, &mut word, sink),
                Kind::Dictionary => {
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

    /// Gives `sink` the word at hand, if there is one, and empties it.
    #[inline]
    fn finish<S: Sink>(&mut self, text: &str, word: &mut Range<usize>, sink: &mut S) {
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

    /// Gives `sink` the words of the dictionary characters at `begin` and returns where they end.
    fn split<S: Sink>(&mut self, text: &str, begin: usize, sink: &mut S) -> usize {
        let Scan {
            normal, dictionary, ..
        } = self;
        dictionary.split(text, begin, |range, characters| {
            let normal = if S::NORMAL { normal.of(characters) } else { "" };
            sink.word(range, normal);
        })
    }
}

/// Which of 64 bytes are ASCII letters or digits, and which are not ASCII; the first byte is the lowest bit.
struct Bits {
    ascii: u64,
    other: u64,
}

impl Bits {
    #[inline]
    fn of(block: &[u8]) -> Self {
        let mut padded = [0; 64];
        let block = match block.first_chunk::<64>() {
            Some(block) => block,
            None => {
                padded[..block.len()].copy_from_slice(block);
                &padded
            }
        };
        let mut bits = Bits { ascii: 0, other: 0 };
        let (words, _) = block.as_chunks::<8>();
        let mut all = 0;
        for (number, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            bits.ascii |= gather(letters_and_digits(word)) << (8 * number);
            all |= word;
        }
        // Most blocks of most texts in Latin letters are ASCII throughout.
        if all & TOPS != 0 {
            for (number, word) in words.iter().enumerate() {
                let word = u64::from_le_bytes(*word);
                bits.other |= gather(word & TOPS) << (8 * number);
            }
        }
        bits
    }
}

/// The top bit of each of eight bytes.
const TOPS: u64 = 0x8080_8080_8080_8080;

/// The same byte eight times.
const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Sets the top bit of each byte that is an ASCII letter or digit.
#[inline]
fn letters_and_digits(word: u64) -> u64 {
    // Bytes of seven bits: sums of two of them stay within their byte, and reach its top bit from 128 on.
    let seven = word & !TOPS;
    let lower = seven | eight(0x20);
    let letter = (lower + eight(0x80 - b'a')) & !(lower + eight(0x7f - b'z'));
    let digit = (seven + eight(0x80 - b'0')) & !(seven + eight(0x7f - b'9'));
    (letter | digit) & !word & TOPS
}

/// Collects the top bits of eight bytes in one, the first byte's lowest.
#[inline]
fn gather(tops: u64) -> u64 {
    (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_of_a_block_say_what_each_byte_is() {
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
