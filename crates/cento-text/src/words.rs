//! Words: where they are, and what they are when compared.

use std::ops::Range;

use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory, GeneralCategoryGroup};
use icu_properties::{CodePointMapData, CodePointSetData};

/// One word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// Where it stands in the text, in bytes, on character boundaries.
    pub range: Range<usize>,
    /// Its normal form: what two words are compared by.
    pub normal: &'a str,
}

/// Finds words; keeps the buffers that this needs from one text to the next.
#[derive(Debug, Default)]
pub struct WordScanner {
    normal: String,
}

impl WordScanner {
    /// A scanner with empty buffers.
    pub fn new() -> Self {
        WordScanner::default()
    }

    /// Gives `visit` every word of `text`, in order.
    pub fn scan(&mut self, text: &str, mut visit: impl FnMut(Word<'_>)) {
        for_each_word_range(text, |range| {
            self.normal.clear();
            let clean: String = text[range.clone()]
                .chars()
                .filter(|&character| !is_ignorable(character))
                .collect();
            let normalizer = icu_normalizer::ComposingNormalizerBorrowed::new_nfkc();
            let fold = icu_casemap::CaseMapper::new();
            let normal = normalizer.normalize(&clean).into_owned();
            let normal = fold.fold_string(&normal).into_owned();
            self.normal.extend(
                normalizer
                    .normalize(&normal)
                    .chars()
                    .filter(|&character| is_word(character) && !is_ignorable(character)),
            );
            visit(Word {
                range,
                normal: &self.normal,
            });
        });
    }
}

/// Gives `visit` every word of `text`, in order.
pub fn for_each_word(text: &str, visit: impl FnMut(Word<'_>)) {
    WordScanner::new().scan(text, visit);
}

/// The words of `text` with their normal forms: for callers to whom comfort matters more than speed.
pub fn words(text: &str) -> Vec<(Range<usize>, String)> {
    let mut words = Vec::new();
    for_each_word(text, |word| {
        words.push((word.range, word.normal.to_owned()))
    });
    words
}

/// How many words `text` has.
pub fn count_words(text: &str) -> usize {
    let mut count = 0;
    for_each_word_range(text, |_| count += 1);
    count
}

/// Gives `visit` the range of every word of `text`, in order: as [`for_each_word`], without the normal forms.
pub fn for_each_word_range(text: &str, mut visit: impl FnMut(Range<usize>)) {
    let mut word: Option<Range<usize>> = None;
    for (begin, character) in text.char_indices() {
        let end = begin + character.len_utf8();
        if is_ignorable(character) {
            continue;
        }
        if is_word(character) {
            word = Some(word.map_or(begin, |word| word.start)..end);
        } else if let Some(word) = word.take() {
            visit(word);
        }
    }
    if let Some(word) = word {
        visit(word);
    }
}

fn is_word(character: char) -> bool {
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    GeneralCategoryGroup::Letter
        .union(GeneralCategoryGroup::Mark)
        .union(GeneralCategoryGroup::Number)
        .contains(category)
}

fn is_ignorable(character: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
}
