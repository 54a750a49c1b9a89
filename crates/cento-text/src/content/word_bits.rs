//! Where the words of a text are.

use crate::bits::{gather, padded};
use std::ops::Range;

/// Classes of the bytes of a text, one bit each. They are found once for the whole text of a page,
/// 64 bytes at a time, because most of its blocks are shorter.
pub(super) struct WordBits {
    /// ASCII letters.
    letters: Vec<u64>,
    /// ASCII letters and digits, and all bytes of other characters.
    words: Vec<u64>,
    /// Bytes of other characters than ASCII.
    others: Vec<u64>,
}

impl WordBits {
    pub(super) fn of(text: &str) -> Self {
        let size = text.len().div_ceil(64);
        let mut bits = WordBits {
            letters: Vec::with_capacity(size),
            words: Vec::with_capacity(size),
            others: Vec::with_capacity(size),
        };
        for bytes in text.as_bytes().chunks(64) {
            let block = padded(bytes);
            let is_letter = |byte: u8| (byte | 0x20).wrapping_sub(b'a') < 26;
            bits.letters.push(gather(&block, is_letter));
            let others = if block.is_ascii() {
                0
            } else {
                gather(&block, |byte| byte >= 0x80)
            };
            bits.others.push(others);
            let of_words = |byte| is_letter(byte) | (byte.wrapping_sub(b'0') < 10);
            bits.words.push(others | gather(&block, of_words));
        }
        bits
    }

    /// Calls `visit` with each run of ASCII letters within `range`, in order.
    #[inline]
    pub(super) fn each_letters(&self, range: Range<usize>, visit: impl FnMut(Range<usize>)) {
        each_run(&self.letters, range, visit);
    }

    /// Calls `visit` with each run of ASCII letters and digits and other characters within `range`,
    /// in order.
    #[inline]
    pub(super) fn each_word(&self, range: Range<usize>, visit: impl FnMut(Range<usize>)) {
        each_run(&self.words, range, visit);
    }

    /// Calls `visit` with each byte within `range` that is not ASCII, in order.
    #[inline]
    pub(super) fn each_other(&self, range: Range<usize>, mut visit: impl FnMut(usize)) {
        each_part(&self.others, range, |begin, mut bits| {
            while bits != 0 {
                visit(begin + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        });
    }
}

/// Calls `visit` with the bits of each machine word that has bits of `range`, and with the place of
/// its first bit. Bits outside of the range are not set.
#[inline]
fn each_part(bits: &[u64], range: Range<usize>, mut visit: impl FnMut(usize, u64)) {
    if range.is_empty() {
        return;
    }
    let (first, last) = (range.start / 64, (range.end - 1) / 64);
    for (place, &part) in (first..=last).zip(bits.get(first..).unwrap_or_default()) {
        let mut part = part;
        if place == first {
            part &= u64::MAX << (range.start % 64);
        }
        if place == last {
            part &= u64::MAX >> (63 - (range.end - 1) % 64);
        }
        visit(64 * place, part);
    }
}

#[inline]
fn each_run(bits: &[u64], range: Range<usize>, mut visit: impl FnMut(Range<usize>)) {
    let end = range.end;
    // The start of the run that is open at the end of a part.
    let mut open = None;
    each_part(bits, range, |begin, part| {
        let mut rest = part;
        if let Some(start) = open {
            let length = rest.trailing_ones();
            if length == 64 {
                return;
            }
            visit(start..begin + length as usize);
            rest = rest >> length << length;
            open = None;
        }
        while rest != 0 {
            let first = rest.trailing_zeros();
            let after = first + (rest >> first).trailing_ones();
            if after == 64 {
                open = Some(begin + first as usize);
                return;
            }
            visit(begin + first as usize..begin + after as usize);
            rest = rest >> after << after;
        }
    });
    if let Some(start) = open {
        visit(start..end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The runs of bytes in `text` that are in a class.
    fn runs(text: &str, range: &Range<usize>, is: impl Fn(u8) -> bool) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for index in range.clone().filter(|&index| is(text.as_bytes()[index])) {
            match runs.last_mut() {
                Some(run) if run.end == index => run.end = index + 1,
                _ => runs.push(index..index + 1),
            }
        }
        runs
    }

    proptest! {
        #[test]
        fn words_are_runs_of_bytes(
            text in "([a-zA-Z]{0,90}|[ 0-9é。.]{0,9}){0,9}",
            from in 0usize..200,
            size in 0usize..200,
        ) {
            let range = from.min(text.len())..(from + size).min(text.len());
            let bits = WordBits::of(&text);
            let mut found = Vec::new();
            bits.each_letters(range.clone(), |run| found.push(run));
            prop_assert_eq!(&found, &runs(&text, &range, |byte| byte.is_ascii_alphabetic()));
            found.clear();
            bits.each_word(range.clone(), |run| found.push(run));
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
            prop_assert_eq!(&found, &runs(&text, &range, is_word));
            let mut others = Vec::new();
            bits.each_other(range.clone(), |index| others.push(index));
            let expected: Vec<usize> = range.filter(|&index| text.as_bytes()[index] >= 0x80).collect();
            prop_assert_eq!(others, expected);
        }
    }
}
