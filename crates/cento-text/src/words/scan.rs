//! Finding words at the speed of memory.
//!
//! Text is cut at the ASCII characters that separate words: white space, punctuation, controls.
//! What is left between them are *runs* of ASCII letters and digits and of anything that is not
//! ASCII. In a run of ASCII letters and digits alone there is nothing to decide: it is one word.
//! Only runs with other characters are looked at character by character.
//!
//! ```text
//! text    In der Größe, 3月5日.
//! runs    ██ ███ ██████ ███████        ASCII letters, digits, and all that is not ASCII
//! other           ▲▲     ▲▲▲ ▲▲▲        bytes that are not ASCII
//! words   ██ ███ ██████ ██▀█▀          a run of ASCII is a word; the others are walked
//! ```
//!
//! Runs are found 64 bytes at a time, as bits in a machine word, so that the cost of a word is a
//! few instructions and not one mispredicted branch. Normal forms are slices of a window that is
//! put into lower case at once; or, for those who hash them, two numbers, which are read out of the
//! text itself.

use std::ops::Range;

use super::dictionary::Dictionary;
use super::form::NormalForm;
use super::table::{self, Kind};

/// How much text is put into lower case at a time; it stays in the first-level cache until its
/// words are used.
const WINDOW: usize = 2048;

/// What a sink looks at: nothing else is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// How many words there are; it may get them by number.
    Count,
    /// Where they are; the normal forms that it gets are empty.
    Ranges,
    /// Normal forms, those of short words of ASCII packed.
    Packed,
    /// Normal forms.
    Normals,
}

/// Who takes the words.
pub(super) trait Sink {
    const WANTED: Wanted;
    /// Whether normal forms have to be made.
    const NORMAL: bool = matches!(Self::WANTED, Wanted::Packed | Wanted::Normals);

    /// Takes a word.
    fn word(&mut self, range: Range<usize>, normal: &str);

    /// Takes a word of which the normal form is ASCII and up to 16 bytes long: two numbers of eight
    /// bytes each, the first byte lowest, and zeros after the last.
    fn packed(&mut self, _range: Range<usize>, _normal: [u64; 2]) {}

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

    /// Gives `sink` the words of the window that begins at `begin`, which is not within a run, and
    /// returns where the next one has to begin.
    fn window<S: Sink>(&mut self, text: &str, begin: usize, sink: &mut S) -> usize {
        let mut size = text.len() - begin;
        if S::WANTED == Wanted::Normals {
            size = size.min(WINDOW);
            // A window that ends within a character is copied to that character's end.
            let mut end = begin + size;
            while !text.is_char_boundary(end) {
                end += 1;
            }
            self.lower.clear();
            self.lower.push_str(&text[begin..end]);
            self.lower.make_ascii_lowercase();
        }
        // The run that is not over yet: where it began, and whether it has had a byte that is not
        // ASCII.
        let (mut open, mut start, mut mixed) = (false, 0, false);
        for (number, block) in text.as_bytes()[begin..begin + size].chunks(64).enumerate() {
            let offset = number * 64;
            let Bits { ascii, mut other } = Bits::of(block);
            let inside = ascii | other;
            // Each byte's bit says what the byte before it is.
            let before = inside << 1 | u64::from(open);
            let mut starts = inside & !before;
            let mut ends = before & !inside;
            if S::WANTED == Wanted::Count && other == 0 && !mixed {
                sink.count(ends.count_ones());
                open = inside >> 63 == 1;
                if starts != 0 {
                    start = offset + 63 - starts.leading_zeros() as usize;
                }
                continue;
            }
            // Runs come by their ends, so that each costs one turn of the loop. Where no run begins
            // any more, what `start` is does not matter. No branch asks whether a run is open: that
            // is as good as random.
            start = if open {
                start
            } else {
                offset + starts.trailing_zeros() as usize
            };
            starts &= starts.wrapping_sub(u64::from(!open));
            while ends != 0 {
                let end = ends.trailing_zeros();
                ends &= ends - 1;
                // What is not ASCII before the end and was not yet looked at is of this run.
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

    /// Gives `sink` the words of a run, which lies in the window at `begin`.
    // A call for each word was measured to cost a third of finding it.
    #[inline(always)]
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
            return;
        }
        match S::WANTED {
            Wanted::Normals => sink.word(range, &self.lower[run]),
            Wanted::Packed => match pack(text.as_bytes(), &range) {
                Some(packed) => sink.packed(range, packed),
                None => {
                    self.walk(text, range.start, sink);
                }
            },
            Wanted::Ranges | Wanted::Count => sink.word(range, ""),
        }
    }

    /// Gives `sink` the words of the run that begins at `begin`, character by character, and
    /// returns where it ends.
    #[inline(never)]
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

/// The normal form of the letters and digits of ASCII in `range`, if there are up to 16 of them;
/// none as well where fewer than 16 bytes of text are left from their beginning.
///
/// Sixteen bytes are read whatever the length is, and those beyond it cut off: how long a word is,
/// no processor can foresee.
#[inline]
fn pack(text: &[u8], range: &Range<usize>) -> Option<[u64; 2]> {
    /// The bytes to keep, by length.
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
    // Digits have the bit that makes a letter small.
    Some([
        (u64::from_le_bytes(*one) | eight(0x20)) & first,
        (u64::from_le_bytes(*two) | eight(0x20)) & second,
    ])
}

/// Which of 64 bytes are ASCII letters or digits, and which are not ASCII; the first byte is the
/// lowest bit.
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
        let mut bits = Bits {
            ascii: gather(block, |byte| {
                ((byte | 0x20).wrapping_sub(b'a') < 26) | (byte.wrapping_sub(b'0') < 10)
            }),
            other: 0,
        };
        // Most blocks of most texts in Latin letters are ASCII throughout.
        if !block.is_ascii() {
            bits.other = gather(block, |byte| byte >= 0x80);
        }
        bits
    }
}

/// The same byte eight times.
const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// One bit for each of 64 bytes.
///
/// The first loop is one that compilers turn into a few instructions on sixteen bytes at once, as
/// long as it does nothing else.
#[inline]
fn gather(block: &[u8; 64], is: impl Fn(u8) -> bool) -> u64 {
    let mut flags = [0u8; 64];
    for (flag, &byte) in flags.iter_mut().zip(block) {
        *flag = if is(byte) { 0xff } else { 0 };
    }
    let (rows, _) = flags.as_chunks::<8>();
    let mut square = 0;
    for (number, row) in rows.iter().enumerate() {
        square |= u64::from_le_bytes(*row) & eight(1 << number);
    }
    transpose(square)
}

/// Mirrors a square of eight times eight bits: bit `i` of byte `j` becomes bit `j` of byte `i`.
#[inline]
fn transpose(mut square: u64) -> u64 {
    for (distance, mask) in [
        (7, 0x00aa_00aa_00aa_00aa),
        (14, 0x0000_cccc_0000_cccc),
        (28, 0x0000_0000_f0f0_f0f0),
    ] {
        let differing = (square ^ square >> distance) & mask;
        square ^= differing ^ differing << distance;
    }
    square
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_of_bits_is_mirrored() {
        for row in 0..8 {
            for column in 0..8 {
                let (one, mirrored) = (1 << (8 * row + column), 1 << (8 * column + row));
                assert_eq!(transpose(one), mirrored);
                assert_eq!(transpose(!one), !mirrored);
            }
        }
    }

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
        // Fewer than 16 bytes are left from there on.
        assert_eq!(pack(&text[..15], &(0..3)), None);
        assert_eq!(pack(&text[..16], &(0..3)), Some([the, 0]));
    }

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
