//! Finds the words of a text and their normal forms.
//!
//! # What a word is
//!
//! A **word** is a maximal run of Unicode letters, marks and numbers. Default-ignorable characters
//! (soft hyphens, zero-width characters and so on) are ignored: a word continues across them but
//! neither begins nor ends with one. Each word has a byte range on character boundaries. Ranges are
//! in order and do not overlap.
//!
//! Within such a run, scripts written without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer and
//! Myanmar) are segmented by ICU's dictionary and separated from characters of other scripts:
//! `3月5日` is four words.
//!
//! The **normal form** is the form in which words are compared: NFKC and full case folding (`ﬁ`,
//! `FI` and `fi` are one word, and so are both encodings of `é`), without ignorable characters and
//! without non-word characters that NFKC introduces, such as the slash in `½`.
//!
//! Case folding is language-independent: a Turkish dotless `ı` differs from `i`, and `İ` becomes
//! `i` followed by a combining dot. Diacritics are kept, including those of Arabic, and so is the
//! Arabic tatweel.
//!
//! # Which function to use
//!
//! [`for_each_word`] passes words to a closure, which is several times as fast as an iterator over
//! owned strings: words of Latin text are neither copied nor allocated. [`WordScanner`] reuses its
//! buffers across texts, and [`WordScanner::scan_keys`] is faster still for callers that only hash
//! the normal forms. [`words`] returns a vector, for tests and short texts. [`count_words`] and
//! [`for_each_word_range`] skip normalisation.

mod dictionary;
mod form;
mod scan;
mod table;

#[cfg(test)]
mod tests;

use std::ops::Range;

use scan::{Scan, WordDetail, WordSink};

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// Its byte range in the text, on character boundaries.
    pub range: Range<usize>,
    /// Its normal form.
    pub normal: &'a str,
}

/// The normal form of a word, in the representation that is fastest to produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKey<'a> {
    /// An ASCII normal form of up to 16 bytes, packed into two little-endian numbers and padded
    /// with zeros.
    Packed([u64; 2]),
    /// Any normal form.
    Normal(&'a str),
}

impl<'a> WordKey<'a> {
    /// Applies the function for this representation: `key.either(packed_word_hash, word_hash)`.
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

/// A word finder that reuses its buffers across texts.
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
    /// Creates a scanner with empty buffers.
    pub fn new() -> Self {
        WordScanner::default()
    }

    /// Calls `visit` with every word of `text`, in order.
    #[inline]
    pub fn scan(&mut self, text: &str, visit: impl FnMut(Word<'_>)) {
        self.scan.run(text, &mut WordVisitor(visit));
    }

    /// Calls `visit` with the normal form of every word of `text`, in order. Short ASCII words are
    /// passed as numbers, which avoids a branch on their length. Intended for hashing; which words
    /// are packed may change.
    #[inline]
    pub fn scan_keys(&mut self, text: &str, mut visit: impl FnMut(WordKey<'_>)) {
        self.scan_ranged_keys(text, |_, key| visit(key));
    }

    /// Like [`WordScanner::scan_keys`], but also passes the byte range of each word.
    #[inline]
    pub fn scan_ranged_keys(&mut self, text: &str, visit: impl FnMut(Range<usize>, WordKey<'_>)) {
        self.scan.run(text, &mut KeyVisitor(visit));
    }

    /// Calls `visit` with the byte range of every word of `text`, in order.
    #[inline]
    pub fn scan_ranges(&mut self, text: &str, visit: impl FnMut(Range<usize>)) {
        self.scan.run(text, &mut RangeVisitor(visit));
    }

    /// Returns the number of words in `text`.
    pub fn count(&mut self, text: &str) -> usize {
        let mut count = WordCount(0);
        self.scan.run(text, &mut count);
        count.0
    }
}

/// Calls `visit` with every word of `text`, in order.
#[inline]
pub fn for_each_word(text: &str, visit: impl FnMut(Word<'_>)) {
    WordScanner::new().scan(text, visit);
}

/// Calls `visit` with the byte range of every word of `text`, in order. Faster than
/// [`for_each_word`] because no normal forms are made.
#[inline]
pub fn for_each_word_range(text: &str, visit: impl FnMut(Range<usize>)) {
    WordScanner::new().scan_ranges(text, visit);
}

/// Returns the number of words in `text`. The fastest of these functions.
pub fn count_words(text: &str) -> usize {
    WordScanner::new().count(text)
}

/// Returns the words of `text`, each with its byte range and normal form.
pub fn words(text: &str) -> Vec<(Range<usize>, String)> {
    let mut words = Vec::new();
    for_each_word(text, |word| {
        words.push((word.range, word.normal.to_owned()));
    });
    words
}

struct WordVisitor<Visit>(Visit);

impl<Visit: FnMut(Word<'_>)> WordSink for WordVisitor<Visit> {
    const DETAIL: WordDetail = WordDetail::Normals;

    #[inline]
    fn word(&mut self, range: Range<usize>, normal: &str) {
        (self.0)(Word { range, normal });
    }
}

struct KeyVisitor<Visit>(Visit);

impl<Visit: FnMut(Range<usize>, WordKey<'_>)> WordSink for KeyVisitor<Visit> {
    const DETAIL: WordDetail = WordDetail::Packed;

    #[inline]
    fn word(&mut self, range: Range<usize>, normal: &str) {
        (self.0)(range, WordKey::Normal(normal));
    }

    #[inline]
    fn packed(&mut self, range: Range<usize>, normal: [u64; 2]) {
        (self.0)(range, WordKey::Packed(normal));
    }
}

struct RangeVisitor<Visit>(Visit);

impl<Visit: FnMut(Range<usize>)> WordSink for RangeVisitor<Visit> {
    const DETAIL: WordDetail = WordDetail::Ranges;

    #[inline]
    fn word(&mut self, range: Range<usize>, _normal: &str) {
        (self.0)(range);
    }
}

struct WordCount(usize);

impl WordSink for WordCount {
    const DETAIL: WordDetail = WordDetail::Count;

    #[inline]
    fn word(&mut self, _range: Range<usize>, _normal: &str) {
        self.0 += 1;
    }

    #[inline]
    fn count(&mut self, words: u32) {
        self.0 += words as usize;
    }
}
