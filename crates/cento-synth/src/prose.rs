//! Sentences and paragraphs of words drawn from a vocabulary.

use std::ops::Range;

use crate::language::Language;
use crate::random::Random;
use crate::vocabulary::Vocabulary;

/// The minimum and maximum number of words of a sentence.
const SENTENCE: (u64, u64) = (7, 21);

/// The capacity for the words of a sentence.
const LONGEST: usize = SENTENCE.1 as usize;

/// The minimum and maximum number of sentences of a paragraph.
const PARAGRAPH: (u64, u64) = (3, 6);

/// The average number of words of a paragraph.
pub(crate) const PARAGRAPH_WORDS: u64 =
    (SENTENCE.0 + SENTENCE.1) / 2 * (PARAGRAPH.0 + PARAGRAPH.1) / 2;

/// A text, with the ranges of its words and sentences in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prose {
    pub(crate) text: String,
    /// The words as they were drawn. In scripts without spaces, word segmentation may find others.
    pub(crate) words: Vec<Range<u32>>,
    /// The sentences with their full stops, without the separators between them.
    pub(crate) sentences: Vec<Range<u32>>,
}

impl Prose {
    fn end(&self) -> u32 {
        self.text.len() as u32
    }

    /// Appends a sentence of `count` words, at most [`LONGEST`].
    pub(crate) fn sentence(&mut self, language: Language, count: u64, random: &mut Random) {
        let vocabulary = Vocabulary::of(language);
        if !self.text.is_empty() {
            self.text.push_str(language.gap());
        }
        let begin = self.end();
        // All words are drawn and looked up before the first is written. Draws and look-ups mostly
        // wait for memory, and this way they do not wait for each other.
        let mut ranks = [0u16; LONGEST];
        for rank in ranks.iter_mut().take(count as usize) {
            *rank = vocabulary.draw_rank(random);
        }
        let words = ranks.map(|rank| vocabulary.word(usize::from(rank)));
        for (position, word) in (0..count).zip(words) {
            if position > 0 {
                if position + 1 < count && random.once_in(11) {
                    self.text.push_str(language.comma());
                }
                // A comma that is a space, as in Thai, needs no second one.
                if !self.text.ends_with(' ') {
                    self.text.push_str(language.space());
                }
            }
            self.word(word, position == 0 && language.has_capitals());
        }
        self.text.push_str(language.stop());
        self.sentences.push(begin..self.end());
    }

    /// Appends an existing sentence.
    pub(crate) fn push_sentence(&mut self, language: Language, other: &Prose) {
        if !self.text.is_empty() {
            self.text.push_str(language.gap());
        }
        let shift = self.end();
        self.text.push_str(&other.text);
        let shifted = |range: &Range<u32>| range.start + shift..range.end + shift;
        self.words.extend(other.words.iter().map(shifted));
        self.sentences.push(shift..self.end());
    }

    fn word(&mut self, word: &str, capital: bool) {
        let begin = self.end();
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if capital => {
                self.text.extend(first.to_uppercase());
                self.text.push_str(letters.as_str());
            }
            _ => self.text.push_str(word),
        }
        self.words.push(begin..self.end());
    }

    /// The text of a range.
    pub(crate) fn slice(&self, range: &Range<u32>) -> &str {
        self.text
            .get(range.start as usize..range.end as usize)
            .unwrap_or_default()
    }
}

/// A single sentence.
pub(crate) fn sentence(language: Language, random: &mut Random) -> Prose {
    let mut prose = Prose::default();
    let count = random.between(SENTENCE.0, SENTENCE.1);
    prose.sentence(language, count, random);
    prose
}

/// A paragraph.
pub(crate) fn paragraph(language: Language, random: &mut Random) -> Prose {
    let mut prose = Prose::default();
    prose.text.reserve(512);
    prose.words.reserve(PARAGRAPH_WORDS as usize * 2);
    for _ in 0..random.between(PARAGRAPH.0, PARAGRAPH.1) {
        let count = random.between(SENTENCE.0, SENTENCE.1);
        prose.sentence(language, count, random);
    }
    prose
}

/// A title: a few words without a full stop.
pub(crate) fn title(language: Language, random: &mut Random) -> String {
    let vocabulary = Vocabulary::of(language);
    let mut prose = Prose::default();
    for position in 0..random.between(4, 8) {
        if position > 0 {
            prose.text.push_str(language.space());
        }
        let word = if position % 2 == 0 {
            vocabulary.rare(random)
        } else {
            vocabulary.draw(random)
        };
        prose.word(word, position == 0 && language.has_capitals());
    }
    prose.text
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use cento_fingerprint::{grams, word_hash};
    use cento_text::words::for_each_word;

    use super::*;
    use crate::chance_of_a_gram;
    use crate::random::Purpose;

    /// The words of many paragraphs as cento segments them, one list for each paragraph.
    fn paragraphs(language: Language, words: usize) -> Vec<Vec<u64>> {
        let mut random = Random::new(11, Purpose::Own, language as u64);
        let mut made = Vec::new();
        let mut count = 0;
        while count < words {
            let mut hashes = Vec::new();
            for_each_word(&paragraph(language, &mut random).text, |word| {
                hashes.push(word_hash(word.normal));
            });
            count += hashes.len();
            made.push(hashes);
        }
        made
    }

    /// The number of equal pairs of grams, and of all pairs.
    fn matches(paragraphs: &[Vec<u64>], k: usize) -> (f64, f64) {
        let mut counts: HashMap<u64, u64> = HashMap::new();
        let mut all = 0u64;
        for words in paragraphs {
            grams(words, k, |gram, _| {
                *counts.entry(gram).or_insert(0) += 1;
                all += 1;
            });
        }
        let pairs = |count: u64| count as f64 * (count as f64 - 1.0) / 2.0;
        (counts.values().map(|&count| pairs(count)).sum(), pairs(all))
    }

    #[test]
    fn grams_match_by_chance_with_the_probability_of_the_formula() {
        for language in Language::ALL
            .into_iter()
            .filter(|language| language.space() == " ")
        {
            let paragraphs = paragraphs(language, 60_000);
            for k in 1..=3 {
                let (found, pairs) = matches(&paragraphs, k);
                let expected = pairs * chance_of_a_gram(language, k as u32);
                // The number of draws of the few most frequent words varies, and most matches are
                // between these: with 60,000 words the standard deviation is 1.7 % for each word of
                // a gram. Four of these are allowed.
                let tolerance = 0.07 * k as f64 * expected + 6.0 * expected.sqrt();
                assert!(
                    (found - expected).abs() < tolerance,
                    "{language} {k}: {found} of {expected}"
                );
            }
            // 2·10⁹ pairs with probability 4·10⁻¹² each: one seed in a hundred would have a match.
            assert!(matches(&paragraphs, 5).0 <= 1.0, "{language}");
        }
    }

    #[test]
    fn grams_rarely_match_by_chance_in_scripts_without_spaces() {
        for language in Language::ALL
            .into_iter()
            .filter(|language| language.space().is_empty())
        {
            let paragraphs = paragraphs(language, 60_000);
            let (found, pairs) = matches(&paragraphs, 5);
            assert!(found / pairs < 1e-7, "{language}: {found} of {pairs}");
        }
    }

    #[test]
    fn ranges_of_words_and_sentences_are_correct() {
        for language in Language::ALL {
            let prose = paragraph(language, &mut Random::new(1, Purpose::Own, 2));
            assert!(prose.sentences.len() >= 3);
            for sentence in &prose.sentences {
                assert!(prose.slice(sentence).ends_with(language.stop()));
            }
            if language.space() == " " {
                let mut found = Vec::new();
                for_each_word(&prose.text, |word| {
                    found.push(word.range.start as u32..word.range.end as u32);
                });
                assert_eq!(found, prose.words, "{language}");
            }
            // Arabic and Devanagari are scripts of several languages, and made-up words do not
            // distinguish these.
            let detected = cento_text::language::detect(&prose.text.repeat(3));
            let undecided =
                detected.is_none() && matches!(language, Language::Arabic | Language::Hindi);
            assert!(
                undecided || detected == Some(language.code()),
                "{language} {detected:?}: {}",
                prose.text
            );
        }
    }
}
