//! Vocabularies with the frequencies of Zipf's law.
//!
//! The word of rank *r* (from 0) is drawn with probability *p(r)* ∝ 1 / (*r* + [`OFFSET`]), the
//! form that Mandelbrot gave the law, and every draw is independent of all others. Hence two
//! unrelated grams of *k* words are equal by chance with probability
//!
//! ```text
//!   qᵏ    where q = Σ p(r)²
//! ```
//!
//! With 20,000 words q is about 0.0053, so q⁵ is about 4 · 10⁻¹²: among the 10⁶ pairs of grams that
//! two pages of a thousand words have, one pair of pages in a quarter of a million has a match by
//! chance. [`Vocabulary::chance`] returns *q*; a test compares it with counts. The formula holds
//! where the words of the vocabulary are those that cento segments, that is, in scripts with
//! spaces. In Chinese, Japanese and Thai a dictionary segments the text differently, into fewer and
//! shorter words; there the probability was measured, and is below 10⁻⁷ for k = 5.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::language::Language;
use crate::random::{Purpose, Random};

/// The number of words of a language.
pub(crate) const WORDS: usize = 20_000;

/// The constant that is added to the rank. It flattens the head of the distribution, as in running
/// text.
pub const OFFSET: f64 = 2.7;

/// Words whose rank has this remainder are numbers.
const NUMBER_EVERY: usize = 50;

/// The words of a language, most frequent first.
pub(crate) struct Vocabulary {
    letters: String,
    /// The offset of each word.
    places: Vec<(u32, u32)>,
    /// Walker's alias table: one draw is one look-up, for any distribution.
    table: Vec<AliasColumn>,
    chance: f64,
}

/// One column of the alias table: its own word below the threshold, another word above it.
/// Four bytes, because every draw reads a column at random and the table should stay in the cache;
/// a threshold of 16 bits shifts no probability by more than 10⁻⁹.
#[derive(Clone, Copy, Default)]
struct AliasColumn {
    threshold: u16,
    other: u16,
}

impl Vocabulary {
    /// The vocabulary of a language. It does not depend on the seed.
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
        for word in language.function_words().split_ascii_whitespace() {
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

    /// The probability that two drawn words are equal.
    pub(crate) fn chance(&self) -> f64 {
        self.chance
    }

    /// The word with this rank.
    #[inline]
    pub(crate) fn word(&self, rank: usize) -> &str {
        let (begin, end) = self.places.get(rank).copied().unwrap_or_default();
        self.letters
            .get(begin as usize..end as usize)
            .unwrap_or_default()
    }

    /// Draws the rank of a word.
    #[inline]
    pub(crate) fn draw_rank(&self, random: &mut Random) -> u16 {
        let bits = random.next();
        let column = (((bits >> 32) * self.table.len() as u64) >> 32) as usize;
        let entry = self.table.get(column).copied().unwrap_or_default();
        // Both outcomes are computed, so that there is no branch to mispredict.
        if (bits as u16) < entry.threshold {
            column as u16
        } else {
            entry.other
        }
    }

    /// Draws a word.
    pub(crate) fn draw(&self, random: &mut Random) -> &str {
        self.word(usize::from(self.draw_rank(random)))
    }

    /// Draws an infrequent word, for names and titles.
    pub(crate) fn rare(&self, random: &mut Random) -> &str {
        self.word(200 + random.below(WORDS as u64 - 200) as usize)
    }
}

/// The probabilities of the words. They sum to 1.
fn weights() -> Vec<f64> {
    let weight = |rank: usize| 1.0 / (rank as f64 + OFFSET);
    let sum: f64 = (0..WORDS).map(weight).sum();
    (0..WORDS).map(|rank| weight(rank) / sum).collect()
}

/// Builds Walker's table by Vose's method: columns below average are filled from those above it.
fn alias_table(weights: &[f64]) -> Vec<AliasColumn> {
    let count = weights.len();
    let mut left: Vec<f64> = weights.iter().map(|weight| weight * count as f64).collect();
    let mut table = vec![
        AliasColumn {
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
            *column = AliasColumn {
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
    // The remaining columns are 1 except for rounding errors.
    for index in small.into_iter().chain(large) {
        if let Some(column) = table.get_mut(index) {
            *column = AliasColumn {
                threshold: u16::MAX,
                other: index as u16,
            };
        }
    }
    table
}

/// The probability that two unrelated grams of `k` words are equal by chance.
///
/// The word of rank *r* is drawn with probability *p(r)* ∝ 1 / (*r* + [`OFFSET`]), independently of
/// all others, so it is *qᵏ* with *q* = Σ *p(r)*² ≈ 0.0053: about 4 · 10⁻¹² for five words, 2 ·
/// 10⁻²³ for ten. In Chinese, Japanese and Thai, where a dictionary defines words, it is larger,
/// but below 10⁻⁷ for five words. Tests measure both.
pub fn chance_of_a_gram(language: Language, k: u32) -> f64 {
    Vocabulary::of(language).chance().powi(k as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_each_language_are_distinct() {
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
    fn the_probability_of_a_gram_is_the_documented_one() {
        for language in Language::ALL {
            assert!((0.0050..0.0056).contains(&chance_of_a_gram(language, 1)));
            assert!((3e-12..6e-12).contains(&chance_of_a_gram(language, 5)));
        }
    }

    #[test]
    fn words_are_drawn_by_zipfs_law() {
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
