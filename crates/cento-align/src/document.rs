//! A text prepared for comparison.

use std::borrow::Cow;
use std::ops::Range;

use cento_fingerprint::word_hash;
use cento_text::chunk::{ChunkKind, chunks};
use cento_text::words::WordScanner;

use crate::split_words::{JoinedWord, StemSource, WordList, join_split};
use crate::stem::stem;

/// The fewest words of a sentence; shorter ones are joined to the next.
const LEAST_WORDS: usize = 3;
/// The most words of a sentence; longer ones are divided evenly.
const MOST_WORDS: usize = 40;
/// Words of a run that is looked up.
pub(crate) const GRAM: usize = 6;

/// The longest word that may be split, in bytes. Hostile words are longer.
const LONGEST_SPLIT: usize = 64;

/// How words are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Fold {
    /// By their normal form.
    #[default]
    None,
    /// As optical character recognition confuses them: letters that look alike are one letter, a
    /// word that is hyphenated at the end of a line is one word, and so are two words that the
    /// other text writes as one.
    Ocr,
}

/// One word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextWord {
    pub(crate) begin: u32,
    pub(crate) end: u32,
    /// The hash of its normal form.
    pub(crate) form: u64,
    /// Its stem, as a position in [`Document::stems`].
    pub(crate) stem: u32,
    /// Whether it tells what a sentence is about.
    pub(crate) is_telling: bool,
    /// Whether it is a number that is counted up: of rows, moves, pages or years.
    pub(crate) is_counter: bool,
}

/// A sentence, or part of a very long one: a range of words, and a range of [`Document::terms`].
#[derive(Debug, Clone)]
pub(crate) struct Sentence {
    pub(crate) words: Range<usize>,
    pub(crate) terms: Range<usize>,
}

/// A text prepared for comparison: words, stems, sentences.
#[derive(Debug, Clone)]
pub struct Document<'t> {
    pub(crate) text: Cow<'t, str>,
    /// Whether bytes are characters.
    pub(crate) is_ascii: bool,
    pub(crate) words: Vec<TextWord>,
    pub(crate) sentences: Vec<Sentence>,
    /// The distinct stems of each sentence and how often each occurs there; by sentence, then stem.
    pub(crate) terms: Vec<(u32, u32)>,
    /// The hashes of all stems, ascending.
    pub(crate) stems: Vec<u64>,
    /// In how many sentences each stem occurs.
    pub(crate) sentence_counts: Vec<u32>,
    /// Hashes of all runs of [`GRAM`] words and where each begins, ascending.
    pub(crate) grams: Vec<(u64, u32)>,
    /// Which hashes are among them, approximately.
    pub(crate) gram_filter: GramFilter,
    /// Each word joined with the one before it; empty if words are not folded.
    joined: Vec<Option<JoinedWord>>,
    pub(crate) fold: Fold,
}

impl<'t> Document<'t> {
    /// Prepares a text. Only the first 4 GiB of it are read.
    pub fn new(text: &'t str) -> Document<'t> {
        Document::folded(text, Fold::None)
    }

    /// Prepares a text whose words are compared in this way. It may be a `String`, which the
    /// document then owns.
    pub fn folded(text: impl Into<Cow<'t, str>>, fold: Fold) -> Document<'t> {
        let text = match text.into() {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..readable(text)]),
            Cow::Owned(mut text) => {
                text.truncate(readable(&text));
                Cow::Owned(text)
            }
        };
        let words = read_words(&text, fold);
        Document::of_words(text, words, fold)
    }

    /// The document with words joined that the other one has as one word. None if there are none.
    pub(crate) fn joined_for(&self, other: &Document<'_>) -> Option<Document<'_>> {
        let (words, stems) = join_split(&self.words, &self.joined, &other.words)?;
        let stem_hash = |source| match source {
            StemSource::Of(at) => self.stems[self.words[at].stem as usize],
            StemSource::Joined(stem) => stem,
        };
        let list = WordList {
            words,
            stems: stems.into_iter().map(stem_hash).collect(),
            joined: Vec::new(),
        };
        let text = Cow::Borrowed(self.text.as_ref());
        Some(Document::of_words(text, list, self.fold))
    }

    fn of_words(text: Cow<'t, str>, list: WordList, fold: Fold) -> Document<'t> {
        let mut words = list.words;
        let mut stems = list.stems.clone();
        stems.sort_unstable();
        stems.dedup();
        for (word, hash) in words.iter_mut().zip(&list.stems) {
            word.stem = stems.binary_search(hash).unwrap_or_default() as u32;
        }
        mark_telling(&text, &mut words);
        let grams = grams(&words);
        let mut document = Document {
            is_ascii: text.is_ascii(),
            text,
            sentence_counts: vec![0; stems.len()],
            sentences: Vec::new(),
            terms: Vec::new(),
            gram_filter: GramFilter::new(&grams),
            grams,
            words,
            stems,
            joined: list.joined,
            fold,
        };
        document.read_sentences();
        document
    }

    /// How many bytes the text has.
    pub fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// How many words the text has.
    pub fn word_count(&self) -> usize {
        self.words.len()
    }

    fn read_sentences(&mut self) {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let (mut begin, mut end) = (0, 0);
        let words = &self.words;
        chunks(&self.text, ChunkKind::Sentences(1), |range| {
            let within = words[end..].partition_point(|word| (word.begin as usize) < range.end);
            end += within;
            if end - begin >= LEAST_WORDS {
                divide(begin..end, &mut ranges);
                begin = end;
            }
        });
        match ranges.last_mut() {
            Some(last) => last.end = words.len(),
            None if !words.is_empty() => divide(0..words.len(), &mut ranges),
            None => {}
        }
        for words in ranges {
            let first = self.terms.len();
            let mut stems: Vec<u32> = self.words[words.clone()]
                .iter()
                .filter(|word| word.is_telling)
                .map(|word| word.stem)
                .collect();
            stems.sort_unstable();
            for same in stems.chunk_by(|one, other| one == other) {
                self.terms.push((same[0], same.len() as u32));
                self.sentence_counts[same[0] as usize] += 1;
            }
            self.sentences.push(Sentence {
                words,
                terms: first..self.terms.len(),
            });
        }
    }

    /// The stems of a sentence.
    pub(crate) fn terms_of(&self, sentence: usize) -> &[(u32, u32)] {
        &self.terms[self.sentences[sentence].terms.clone()]
    }

    /// The words of some sentences.
    pub(crate) fn words_of(&self, sentences: &Range<usize>) -> Range<usize> {
        let begin = self.sentences[sentences.start].words.start;
        begin..self.sentences[sentences.end - 1].words.end
    }

    /// The sentences that have some words.
    pub(crate) fn sentences_of(&self, words: &Range<usize>) -> Range<usize> {
        let sentences = &self.sentences;
        let begin = sentences.partition_point(|sentence| sentence.words.end <= words.start);
        begin..sentences.partition_point(|sentence| sentence.words.start < words.end)
    }

    /// Where some words are, with the punctuation that closes them.
    pub(crate) fn bytes_of(&self, words: &Range<usize>) -> Range<usize> {
        let begin = self.words[words.start].begin as usize;
        let end = self.words[words.end - 1].end as usize;
        let closing = self.text[end..]
            .find(|letter: char| letter.is_whitespace() || letter.is_alphanumeric())
            .unwrap_or(self.text.len() - end);
        begin..end + closing
    }
}

/// Numbers before and after a number of at least three digits among which its neighbours are
/// looked for. Shorter ones must follow each other.
const COUNTED: usize = 8;

/// Marks the words that tell what a sentence is about. Numbers of sections, columns and pages do
/// not: they are equal in texts that have nothing else in common. So are short numbers, and longer
/// ones that are counted up: with the last and the next number around them, the last two, or the
/// next two.
fn mark_telling(text: &str, words: &mut [TextWord]) {
    let mut short: Vec<(usize, i64)> = Vec::new();
    let mut long: Vec<(usize, i64)> = Vec::new();
    for (at, word) in words.iter_mut().enumerate() {
        let letters = &text[word.begin as usize..word.end as usize];
        word.is_telling = letters.len() > 2 || letters.chars().any(char::is_alphabetic);
        if letters.len() < 10 && letters.bytes().all(|byte| byte.is_ascii_digit()) {
            let numbers = if word.is_telling {
                &mut long
            } else {
                &mut short
            };
            numbers.extend(letters.parse().ok().map(|number| (at, number)));
        }
    }
    for (numbers, reach) in [(short, 1), (long, COUNTED)] {
        for at in 0..numbers.len() {
            let (word, value) = numbers[at];
            let has = |step: i64, reach: usize| {
                let around = match step < 0 {
                    true => &numbers[at.saturating_sub(reach)..at],
                    false => &numbers[at + 1..(at + 1 + reach).min(numbers.len())],
                };
                around.iter().any(|number| number.1 == value + step)
            };
            let is_counted = match (has(-1, reach), has(1, reach)) {
                (true, true) => true,
                (true, false) => has(-2, 2 * reach),
                (false, true) => has(2, 2 * reach),
                (false, false) => false,
            };
            if is_counted {
                (words[word].is_telling, words[word].is_counter) = (false, true);
            }
        }
    }
}

/// The length of the beginning of a text whose places have 32 bits.
fn readable(text: &str) -> usize {
    let mut ends = (0..=text.len().min(u32::MAX as usize)).rev();
    ends.find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Divides a sentence into parts of about the same length, none longer than the limit.
fn divide(words: Range<usize>, into: &mut Vec<Range<usize>>) {
    let parts = words.len().div_ceil(MOST_WORDS).max(1);
    let size = words.len().div_ceil(parts);
    for begin in words.clone().step_by(size) {
        into.push(begin..(begin + size).min(words.end));
    }
}

/// Calls `each` with the hash of every word of a text and the byte where it begins, in order.
///
/// ```
/// use cento_align::{Fold, word_hashes};
///
/// let mut hashes = Vec::new();
/// word_hashes("modern modem", Fold::Ocr, |hash, begin| hashes.push((hash, begin)));
/// assert_eq!(hashes[0].0, hashes[1].0);
/// assert_eq!(hashes[1].1, 7);
/// ```
pub fn word_hashes(text: &str, fold: Fold, mut each: impl FnMut(u64, usize)) {
    match fold {
        Fold::None => WordScanner::new().scan(text, |word| {
            each(word_hash(word.normal), word.range.start);
        }),
        Fold::Ocr => {
            let list = read_words(text, fold);
            let words = list.words.iter();
            words.for_each(|word| each(word.form, word.begin as usize));
        }
    }
}

/// Reads the words of a text.
pub(crate) fn read_words(text: &str, fold: Fold) -> WordList {
    let mut list = WordList {
        words: Vec::with_capacity(text.len() / 6),
        ..WordList::default()
    };
    // The last word and the one before it, in case they are hyphenated or split.
    let (mut last, mut before) = (String::new(), String::new());
    let (mut folded, mut whole) = (String::new(), String::new());
    WordScanner::new().scan(text, |word| {
        let mut entry = TextWord {
            begin: word.range.start as u32,
            end: word.range.end as u32,
            form: 0,
            stem: 0,
            is_telling: true,
            is_counter: false,
        };
        let normal = match fold {
            Fold::None => word.normal,
            Fold::Ocr => {
                let previous = list.words.last().copied();
                let between = previous.map(|last| &text[last.end as usize..word.range.start]);
                if let Some(previous) = previous.filter(|_| between.is_some_and(is_hyphenated)) {
                    entry.begin = previous.begin;
                    list.words.pop();
                    list.stems.pop();
                    list.joined.pop();
                } else {
                    std::mem::swap(&mut before, &mut last);
                    last.clear();
                }
                last.push_str(word.normal);
                let previous = list.words.last();
                let is_split = previous.is_some_and(|previous| {
                    let between = &text[previous.end as usize..entry.begin as usize];
                    between.chars().all(char::is_whitespace)
                        && before.len() + last.len() <= LONGEST_SPLIT
                });
                list.joined.push(is_split.then(|| {
                    whole.clear();
                    whole.extend([before.as_str(), last.as_str()]);
                    fold_ocr(&whole, &mut folded);
                    JoinedWord {
                        form: word_hash(&folded),
                        stem: word_hash(stem(&folded)),
                    }
                }));
                fold_ocr(&last, &mut folded);
                &folded
            }
        };
        entry.form = word_hash(normal);
        list.stems.push(word_hash(stem(normal)));
        list.words.push(entry);
    });
    list
}

/// Whether what is between two words is a hyphen at the end of a line.
fn is_hyphenated(between: &str) -> bool {
    let mut rest = between.chars();
    matches!(rest.next(), Some('-' | '\u{ad}' | '\u{2010}' | '¬'))
        && between.contains('\n')
        && rest.all(char::is_whitespace)
}

/// Replaces letters and pairs of letters that look alike by one of them.
fn fold_ocr(word: &str, folded: &mut String) {
    folded.clear();
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        folded.push(match (letter, next) {
            ('r', Some('n')) | ('n', Some('n')) | ('i', Some('n')) => {
                letters.next();
                'm'
            }
            ('v', Some('v')) => {
                letters.next();
                'w'
            }
            ('c', Some('l')) => {
                letters.next();
                'd'
            }
            ('1' | 'l' | 'j' | '|' | 't' | 'f' | 'ſ', _) => 'i',
            ('0' | 'c' | 'e', _) => 'o',
            ('b', _) => 'h',
            ('5', _) => 's',
            ('v' | 'y', _) => 'u',
            ('q' | '9', _) => 'g',
            (letter, _) => letter,
        });
    }
}

/// Cells of the filter of grams for each gram.
const CELLS: usize = 32;

/// A bit for each range of hashes: whether a gram is in it. Two texts have few grams in common, and
/// most of the others are ruled out by one bit. Grams are in the order of their hashes, so the bits
/// are read one after the other.
#[derive(Debug, Clone)]
pub(crate) struct GramFilter {
    bits: Vec<u64>,
    /// Bits of a hash within a cell.
    shift: u32,
}

impl GramFilter {
    fn new(grams: &[(u64, u32)]) -> GramFilter {
        let cells = (grams.len() * CELLS).next_power_of_two().max(64);
        let shift = 64 - cells.trailing_zeros();
        let mut bits = vec![0u64; cells / 64];
        for &(hash, _) in grams {
            let cell = hash >> shift;
            bits[(cell / 64) as usize] |= 1 << (cell % 64);
        }
        GramFilter { bits, shift }
    }

    /// False if no gram has this hash.
    #[inline]
    pub(crate) fn may_have(&self, hash: u64) -> bool {
        let cell = hash >> self.shift;
        self.bits[(cell / 64) as usize] >> (cell % 64) & 1 == 1
    }
}

/// The hashes of all runs of [`GRAM`] words, ascending.
fn grams(words: &[TextWord]) -> Vec<(u64, u32)> {
    let runs = words.windows(GRAM).enumerate();
    let mut grams: Vec<(u64, u32)> = runs.map(|(at, run)| (gram_hash(run), at as u32)).collect();
    grams.sort_unstable();
    grams
}

fn gram_hash(run: &[TextWord]) -> u64 {
    run.iter().fold(0x9e37_79b9_7f4a_7c15, |hash, word| {
        (hash.rotate_left(23) ^ word.form).wrapping_mul(0xff51_afd7_ed55_8ccd)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_sentences_are_joined_and_long_ones_divided() {
        let text = format!("Yes. No. Perhaps so. {}.", "Word ".repeat(100).trim());
        let document = Document::new(&text);
        let lengths: Vec<usize> = document
            .sentences
            .iter()
            .map(|sentence| sentence.words.len())
            .collect();
        assert_eq!(lengths, [4, 34, 34, 32]);
    }

    #[test]
    fn ocr_folding_joins_hyphenated_words_and_confusable_letters() {
        let clean = Document::folded("modern letters of the corner", Fold::Ocr);
        let noisy = Document::folded("modem let-\nters of tbe comer", Fold::Ocr);
        let forms = |document: &Document<'_>| -> Vec<u64> {
            document.words.iter().map(|word| word.form).collect()
        };
        assert_eq!(forms(&clean), forms(&noisy));
    }

    #[test]
    fn a_text_without_words_has_no_sentences() {
        for text in ["", " \n", "…"] {
            assert_eq!(Document::new(text).sentences.len(), 0);
        }
    }
}
