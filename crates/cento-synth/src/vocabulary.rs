//! Vocabularies with the frequencies of Zipf's law.
//!
//! The word of rank *r* (from 0) is drawn with probability *p(r)* ∝ 1 / (*r* + [`OFFSET`]), the
//! form that Mandelbrot gave the law, and every draw is independent of all others. Hence two grams
//! of *k* words, at any two places that have nothing to do with each other, are the same by chance
//! with probability
//!
//! ```text
//!   qᵏ    where q = Σ p(r)²
//! ```
//!
//! With 20,000 words q is about 0.0053, so q⁵ is about 4 · 10⁻¹²: among the 10⁶ pairs of grams that
//! two pages of a thousand words have, one pair of pages in a quarter of a million has a match by
//! chance. [`Vocabulary::chance`] gives the number; a test counts. The formula holds where the
//! words of the vocabulary are the words that cento finds, which is so in scripts with spaces. In
//! Chinese, Japanese and Thai a dictionary cuts the text anew, into fewer and shorter words; there
//! the probability is counted, and stays below 10⁻⁷ for k = 5.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::language::Language;
use crate::random::{Purpose, Random};

/// How many words a language has.
pub(crate) const WORDS: usize = 20_000;

/// What is added to the rank: it flattens the head of the distribution, as in running text.
pub const OFFSET: f64 = 2.7;

/// Every word with this remainder of its rank is a number.
const NUMBER_EVERY: usize = 50;

/// The words of a language, most frequent first.
pub(crate) struct Vocabulary {
    letters: String,
    /// Where each word begins and ends.
    places: Vec<(u32, u32)>,
    /// Walker's alias table: one draw is one look-up, whatever the distribution.
    table: Vec<Column>,
    chance: f64,
}

/// One column of the alias table: its own word below the threshold, another word from there on.
/// Four bytes, because every draw reads a column at random and the table should stay in the cache;
/// a threshold of 16 bits shifts no probability by more than 10⁻⁹.
#[derive(Clone, Copy, Default)]
struct Column {
    threshold: u16,
    other: u16,
}

impl Vocabulary {
    /// The vocabulary of a language: the same in every run, whatever the seed.
    pub(crate) fn of(language: Language) -> &'static Vocabulary {
        static ALL: [OnceLock<Vocabulary>; Language::ALL.len()] =
            [const { OnceLock::new() }; Language::ALL.len()];
        static NONE: OnceLock<Vocabulary> = OnceLock::new();
        ALL.get(language as usize)
            .unwrap_or(&NONE)
            .get_or_init(|| Vocabulary::new(language))
    }

    fn new(language: Language) -> Vocabulary {
        let mut random = Random::new(0, Purpose::Vocabulary, language as u64);
        let mut known = HashSet::new();
        let mut letters = String::new();
        let mut places = Vec::with_capacity(WORDS);
        let mut add = |word: &str| {
            if !word.is_empty() && places.len() < WORDS && known.insert(word.to_owned()) {
                let begin = letters.len() as u32;
                letters.push_str(word);
                places.push((begin, letters.len() as u32));
            }
            places.len()
        };
        for word in language.little_words().split_ascii_whitespace() {
            add(word);
        }
        let parts = language.syllables();
        let split = |parts: &'static str| -> Vec<&'static str> {
            parts
                .split_ascii_whitespace()
                .map(|part| if part == "-" { "" } else { part })
                .collect()
        };
        let (onsets, vowels, codas) =
            (split(parts.onsets), split(parts.vowels), split(parts.codas));
        let mut word = String::new();
        loop {
            word.clear();
            let syllables = random.between(parts.least, parts.most);
            for syllable in 1..=syllables {
                word.push_str(random.pick(&onsets));
                word.push_str(random.pick(&vowels));
                if syllable == syllables {
                    word.push_str(random.pick(&codas));
                }
            }
            let count = add(&word);
            if count >= WORDS {
                break;
            }
            if count % NUMBER_EVERY == 0 {
                add(&random.between(2, 9_999).to_string());
            }
        }
        Vocabulary {
            letters,
            places,
            table: alias_table(&weights()),
            chance: weights().iter().map(|weight| weight * weight).sum(),
        }
    }

    /// The probability that two words drawn are the same one.
    pub(crate) fn chance(&self) -> f64 {
        self.chance
    }

    /// The word of a rank.
    #[inline]
    pub(crate) fn word(&self, rank: usize) -> &str {
        let (begin, end) = self.places.get(rank).copied().unwrap_or_default();
        self.letters
            .get(begin as usize..end as usize)
            .unwrap_or_default()
    }

    /// The rank of a word, frequent ones more often.
    #[inline]
    pub(crate) fn draw_rank(&self, random: &mut Random) -> u16 {
        let bits = random.next();
        let column = (((bits >> 32) * self.table.len() as u64) >> 32) as usize;
        let entry = self.table.get(column).copied().unwrap_or_default();
        // Both outcomes are at hand, so that no branch is guessed wrong half of the time.
        if (bits as u16) < entry.threshold {
            column as u16
        } else {
            entry.other
        }
    }

    /// A word, frequent ones more often.
    pub(crate) fn draw(&self, random: &mut Random) -> &str {
        self.word(usize::from(self.draw_rank(random)))
    }

    /// A word that is not one of the frequent ones: for names and titles.
    pub(crate) fn rare(&self, random: &mut Random) -> &str {
        self.word(200 + random.below(WORDS as u64 - 200) as usize)
    }
}

/// The probabilities of the words, which sum to 1.
fn weights() -> Vec<f64> {
    let weight = |rank: usize| 1.0 / (rank as f64 + OFFSET);
    let sum: f64 = (0..WORDS).map(weight).sum();
    (0..WORDS).map(|rank| weight(rank) / sum).collect()
}

/// Walker's table by Vose's method: columns with too little are filled up from those with too much.
fn alias_table(weights: &[f64]) -> Vec<Column> {
    let count = weights.len();
    let mut left: Vec<f64> = weights.iter().map(|weight| weight * count as f64).collect();
    let mut table = vec![
        Column {
            threshold: u16::MAX,
            other: 0
        };
        count
    ];
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..count).partition(|&index| left.get(index).is_some_and(|&left| left < 1.0));
    while let (Some(less), Some(&more)) = (small.pop(), large.last()) {
        let missing = left.get(less).copied().unwrap_or(1.0);
        if let Some(column) = table.get_mut(less) {
            *column = Column {
                threshold: (missing * 65_536.0) as u16,
                other: more as u16,
            };
        }
        if let Some(left) = left.get_mut(more) {
            *left -= 1.0 - missing;
            if *left < 1.0 {
                large.pop();
                small.push(more);
            }
        }
    }
    // What is left over is 1 but for rounding: such columns are their own.
    for index in small.into_iter().chain(large) {
        if let Some(column) = table.get_mut(index) {
            *column = Column {
                threshold: u16::MAX,
                other: index as u16,
            };
        }
    }
    table
}

/// The probability that two grams of `k` words that have nothing to do with each other are the same
/// by chance.
///
/// The word of rank *r* is drawn with probability *p(r)* ∝ 1 / (*r* + [`OFFSET`]), independently of
/// all others, so it is *qᵏ* with *q* = Σ *p(r)*² ≈ 0.0053: about 4 · 10⁻¹² for five words, 2 ·
/// 10⁻²³ for ten. In Chinese, Japanese and Thai, where a dictionary and not the generator says what
/// a word is, it is larger, but below 10⁻⁷ for five words. Tests count both.
pub fn chance_of_a_gram(language: Language, k: u32) -> f64 {
    Vocabulary::of(language).chance().powi(k as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_its_words_and_no_word_twice() {
        for language in Language::ALL {
            let vocabulary = Vocabulary::of(language);
            assert_eq!(vocabulary.places.len(), WORDS, "{language}");
            let mut normal = HashSet::new();
            for rank in 0..WORDS {
                assert!(!vocabulary.word(rank).is_empty());
                assert!(
                    normal.insert(vocabulary.word(rank).to_lowercase()),
                    "{language} {rank}"
                );
            }
        }
    }

    #[test]
    fn the_chance_of_a_gram_is_what_the_documents_say() {
        for language in Language::ALL {
            assert!((0.0050..0.0056).contains(&chance_of_a_gram(language, 1)));
            assert!((3e-12..6e-12).contains(&chance_of_a_gram(language, 5)));
        }
    }

    #[test]
    fn words_are_drawn_as_often_as_zipf_says() {
        let vocabulary = Vocabulary::of(Language::English);
        let mut random = Random::new(5, Purpose::Own, 0);
        let mut counts = std::collections::HashMap::new();
        const DRAWS: usize = 400_000;
        for _ in 0..DRAWS {
            *counts.entry(vocabulary.draw(&mut random)).or_insert(0u32) += 1;
        }
        for (rank, weight) in weights().iter().enumerate().take(60) {
            let expected = weight * DRAWS as f64;
            let found = f64::from(counts[vocabulary.word(rank)]);
            assert!(
                (found - expected).abs() < 5.0 * expected.sqrt(),
                "{rank}: {found} of {expected}"
            );
        }
    }
}
