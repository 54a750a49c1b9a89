//! A text prepared for comparison.

use std::ops::Range;

use cento_fingerprint::word_hash;
use cento_text::chunk::{ChunkKind, chunks};
use cento_text::words::WordScanner;

use crate::stem::stem;

/// The fewest words of a sentence; shorter ones are joined to the next.
const LEAST_WORDS: usize = 3;
/// The most words of a sentence; longer ones are divided evenly.
const MOST_WORDS: usize = 40;
/// Words of a run that is looked up.
pub(crate) const GRAM: usize = 6;

/// How words are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Fold {
    /// By their normal form.
    #[default]
    None,
    /// As optical character recognition confuses them: letters that look alike are one letter, and
    /// a word that is hyphenated at the end of a line is one word.
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
    pub(crate) text: &'t str,
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
}

impl<'t> Document<'t> {
    /// Prepares a text. Only the first 4 GiB of it are read.
    pub fn new(text: &'t str) -> Document<'t> {
        Document::folded(text, Fold::None)
    }

    /// Prepares a text whose words are compared in this way.
    pub fn folded(text: &'t str, fold: Fold) -> Document<'t> {
        let limit = (0..=text.len().min(u32::MAX as usize)).rev();
        let limit = limit.into_iter().find(|&at| text.is_char_boundary(at));
        let text = &text[..limit.unwrap_or(0)];
        let mut stem_hashes = Vec::new();
        let mut words = read_words(text, fold, &mut stem_hashes);
        let mut stems = stem_hashes.clone();
        stems.sort_unstable();
        stems.dedup();
        for (word, hash) in words.iter_mut().zip(&stem_hashes) {
            word.stem = stems.binary_search(hash).unwrap_or_default() as u32;
        }
        let mut document = Document {
            text,
            sentence_counts: vec![0; stems.len()],
            sentences: Vec::new(),
            terms: Vec::new(),
            grams: grams(&words),
            words,
            stems,
        };
        document.read_sentences();
        document
    }

    /// How many words the text has.
    pub fn word_count(&self) -> usize {
        self.words.len()
    }

    fn read_sentences(&mut self) {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let (mut begin, mut end) = (0, 0);
        let words = &self.words;
        chunks(self.text, ChunkKind::Sentences(1), |range| {
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

/// Divides a sentence into parts of about the same length, none longer than the limit.
fn divide(words: Range<usize>, into: &mut Vec<Range<usize>>) {
    let parts = words.len().div_ceil(MOST_WORDS).max(1);
    let size = words.len().div_ceil(parts);
    for begin in words.clone().step_by(size) {
        into.push(begin..(begin + size).min(words.end));
    }
}

/// Calls `each` with the hash of every word of a text, in order.
///
/// ```
/// use cento_align::{Fold, word_hashes};
///
/// let mut hashes = Vec::new();
/// word_hashes("modern modem", Fold::Ocr, |hash| hashes.push(hash));
/// assert_eq!(hashes[0], hashes[1]);
/// ```
pub fn word_hashes(text: &str, fold: Fold, mut each: impl FnMut(u64)) {
    match fold {
        Fold::None => WordScanner::new().scan(text, |word| each(word_hash(word.normal))),
        Fold::Ocr => words_of(text, fold).iter().for_each(|word| each(word.form)),
    }
}

/// The words of a text, without their stems.
pub(crate) fn words_of(text: &str, fold: Fold) -> Vec<TextWord> {
    read_words(text, fold, &mut Vec::new())
}

fn read_words(text: &str, fold: Fold, stem_hashes: &mut Vec<u64>) -> Vec<TextWord> {
    let mut words: Vec<TextWord> = Vec::with_capacity(text.len() / 6);
    // What the last word was, in case it is hyphenated.
    let mut before = String::new();
    let mut folded = String::new();
    WordScanner::new().scan(text, |word| {
        let (begin, end) = (word.range.start as u32, word.range.end as u32);
        let mut entry = TextWord {
            begin,
            end,
            form: 0,
            stem: 0,
        };
        let normal = match fold {
            Fold::None => word.normal,
            Fold::Ocr => {
                if let Some(last) = words
                    .last()
                    .filter(|last| is_hyphenated(&text[last.end as usize..word.range.start]))
                {
                    entry.begin = last.begin;
                    words.pop();
                    stem_hashes.pop();
                } else {
                    before.clear();
                }
                before.push_str(word.normal);
                fold_ocr(&before, &mut folded);
                &folded
            }
        };
        entry.form = word_hash(normal);
        stem_hashes.push(word_hash(stem(normal)));
        words.push(entry);
    });
    words
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
