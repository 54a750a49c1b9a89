//! Words: where they are, and what they are when compared.
//!
//! # What a word is
//!
//! A **word** is a maximal run of letters, marks and numbers, in the sense of Unicode. Soft
//! hyphens, zero-width characters and whatever else Unicode calls default-ignorable are as if they
//! were not there: words go on across them, but neither begin nor end with one. A word stands at a
//! byte range of the text, on character boundaries; ranges are in order and do not overlap, so that
//! words and the gaps between them are the text.
//!
//! Within such a run, characters of scripts that are written without spaces (Han, Hiragana,
//! Katakana, Thai, Lao, Khmer and Myanmar) are split as ICU's dictionary splits them, and apart
//! from what is not of these scripts: `3月5日` is four words.
//!
//! The **normal form** is what two words are compared by: NFKC and full case folding (`ﬁ`, `FI` and
//! `fi` are one word, and so are the two ways to write `é`), without ignorable characters, and
//! without the characters that NFKC brings in but that words are not made of, such as the stroke in
//! `½`.
//!
//! Folding is that of no language in particular: a Turkish dotless `ı` is no `i`, and `İ` becomes
//! `i` with a dot above it. Diacritics stay, in Arabic too, and so does its tatweel.
//!
//! # How to get them
//!
//! [`for_each_word`] gives words to a closure, because that is several times as fast as an iterator
//! that owns what it gives: on Latin text the words come without copying or allocating anything for
//! each. [`WordScanner`] keeps its buffers from text to text, and [`WordScanner::scan_keys`] is
//! faster still for those who hash normal forms and nothing else. [`words`] is for tests and small
//! things. [`count_words`] and [`for_each_word_range`] do without normal forms.

mod dictionary;
mod form;
mod scan;
mod table;

#[cfg(test)]
mod tests;

use std::ops::Range;

use scan::{Scan, Sink, Wanted};

/// One word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// Where it stands in the text, in bytes, on character boundaries.
    pub range: Range<usize>,
    /// Its normal form.
    pub normal: &'a str,
}

/// The normal form of a word, in the shape in which it is found fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKey<'a> {
    /// A normal form of ASCII and of up to 16 bytes: two numbers of eight bytes each, the first
    /// byte lowest, and zeros after the last.
    Packed([u64; 2]),
    /// Any normal form.
    Normal(&'a str),
}

impl<'a> WordKey<'a> {
    /// What that of the two functions gives which takes this shape: `key.either(packed_word_hash,
    /// word_hash)`.
    #[inline]
    pub fn either<T>(
        self,
        packed: impl FnOnce([u64; 2]) -> T,
        normal: impl FnOnce(&'a str) -> T,
    ) -> T {
        match self {
            WordKey::Packed(halves) => packed(halves),
            WordKey::Normal(text) => normal(text),
        }
    }
}

/// Finds words; keeps the buffers that this needs from one text to the next.
///
/// ```
/// use cento_text::words::WordScanner;
///
/// let mut scanner = WordScanner::new();
/// let mut normals = Vec::new();
/// for text in ["Straßen­bahn", "CAFÉ, Cafe\u{301}", "我喜欢读书。"] {
///     scanner.scan(text, |word| normals.push(word.normal.to_owned()));
/// }
/// assert_eq!(normals, ["strassenbahn", "café", "café", "我", "喜欢", "读书"]);
/// ```
#[derive(Debug, Default)]
pub struct WordScanner {
    scan: Scan,
}

impl WordScanner {
    /// A scanner with empty buffers.
    pub fn new() -> Self {
        WordScanner::default()
    }

    /// Gives `visit` every word of `text`, in order.
    #[inline]
    pub fn scan(&mut self, text: &str, visit: impl FnMut(Word<'_>)) {
        self.scan.run(text, &mut Words(visit));
    }

    /// Gives `visit` the normal form of every word of `text`, in order, and that of a short word in
    /// Latin letters as numbers, which takes no branch that depends on its length. This is for
    /// hashing; which words come in which shape may change.
    #[inline]
    pub fn scan_keys(&mut self, text: &str, mut visit: impl FnMut(WordKey<'_>)) {
        self.scan_ranged_keys(text, |_, key| visit(key));
    }

    /// As [`WordScanner::scan_keys`], and gives the range of each word as well.
    #[inline]
    pub fn scan_ranged_keys(&mut self, text: &str, visit: impl FnMut(Range<usize>, WordKey<'_>)) {
        self.scan.run(text, &mut Keys(visit));
    }

    /// Gives `visit` the range of every word of `text`, in order.
    #[inline]
    pub fn scan_ranges(&mut self, text: &str, visit: impl FnMut(Range<usize>)) {
        self.scan.run(text, &mut Ranges(visit));
    }

    /// How many words `text` has.
    pub fn count(&mut self, text: &str) -> usize {
        let mut count = Count(0);
        self.scan.run(text, &mut count);
        count.0
    }
}

/// Gives `visit` every word of `text`, in order.
#[inline]
pub fn for_each_word(text: &str, visit: impl FnMut(Word<'_>)) {
    WordScanner::new().scan(text, visit);
}

/// Gives `visit` the range of every word of `text`, in order: as [`for_each_word`], without the
/// normal forms.
#[inline]
pub fn for_each_word_range(text: &str, visit: impl FnMut(Range<usize>)) {
    WordScanner::new().scan_ranges(text, visit);
}

/// How many words `text` has: the fastest of all.
pub fn count_words(text: &str) -> usize {
    WordScanner::new().count(text)
}

/// The words of `text`, each with its range and its normal form.
pub fn words(text: &str) -> Vec<(Range<usize>, String)> {
    let mut words = Vec::new();
    for_each_word(text, |word| {
        words.push((word.range, word.normal.to_owned()));
    });
    words
}

struct Words<Visit>(Visit);

impl<Visit: FnMut(Word<'_>)> Sink for Words<Visit> {
    const WANTED: Wanted = Wanted::Normals;

    #[inline]
    fn word(&mut self, range: Range<usize>, normal: &str) {
        (self.0)(Word { range, normal });
    }
}

struct Keys<Visit>(Visit);

impl<Visit: FnMut(Range<usize>, WordKey<'_>)> Sink for Keys<Visit> {
    const WANTED: Wanted = Wanted::Packed;

    #[inline]
    fn word(&mut self, range: Range<usize>, normal: &str) {
        (self.0)(range, WordKey::Normal(normal));
    }

    #[inline]
    fn packed(&mut self, range: Range<usize>, normal: [u64; 2]) {
        (self.0)(range, WordKey::Packed(normal));
    }
}

struct Ranges<Visit>(Visit);

impl<Visit: FnMut(Range<usize>)> Sink for Ranges<Visit> {
    const WANTED: Wanted = Wanted::Ranges;

    #[inline]
    fn word(&mut self, range: Range<usize>, _normal: &str) {
        (self.0)(range);
    }
}

struct Count(usize);

impl Sink for Count {
    const WANTED: Wanted = Wanted::Count;

    #[inline]
    fn word(&mut self, _range: Range<usize>, _normal: &str) {
        self.0 += 1;
    }

    #[inline]
    fn count(&mut self, words: u32) {
        self.0 += words as usize;
    }
}
