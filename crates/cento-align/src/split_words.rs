//! Words that optical character recognition split in two: `exam ple` is `example`.
//!
//! Only the other text can tell: two words become one if the other text has the joined word, and
//! does not have both parts. Decisions are made for a pair of texts, and only if words are folded.

use crate::document::TextWord;

/// The hashes of a word joined with the word before it, if only white space is between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JoinedWord {
    pub(crate) form: u64,
    pub(crate) stem: u64,
}

/// The words of a text.
#[derive(Debug, Clone, Default)]
pub(crate) struct WordList {
    pub(crate) words: Vec<TextWord>,
    /// The hash of each word's stem.
    pub(crate) stems: Vec<u64>,
    /// Each word joined with the one before it. Empty if words are not folded.
    pub(crate) joined: Vec<Option<JoinedWord>>,
}

impl WordList {
    /// The words after joining those that the other text has as one. None if there are none.
    pub(crate) fn joined_for(&self, other: &[TextWord]) -> Option<WordList> {
        join_split(&self.words, &self.joined, other).map(|(words, stems)| WordList {
            stems: stems
                .into_iter()
                .map(|stem| match stem {
                    StemSource::Of(at) => self.stems[at],
                    StemSource::Joined(stem) => stem,
                })
                .collect(),
            words,
            joined: Vec::new(),
        })
    }
}

/// Where the stem of a word comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StemSource {
    /// A word that is as before, by its position.
    Of(usize),
    /// The hash of a joined word's stem.
    Joined(u64),
}

/// Joins the words of which the other text has one instead of two, from left to right.
pub(crate) fn join_split(
    words: &[TextWord],
    joined: &[Option<JoinedWord>],
    other: &[TextWord],
) -> Option<(Vec<TextWord>, Vec<StemSource>)> {
    if joined.is_empty() {
        return None;
    }
    let mut forms: Vec<u64> = other.iter().map(|word| word.form).collect();
    forms.sort_unstable();
    forms.dedup();
    let has = |form: u64| forms.binary_search(&form).is_ok();
    let mut result: Vec<TextWord> = Vec::with_capacity(words.len());
    let mut stems: Vec<StemSource> = Vec::with_capacity(words.len());
    let mut is_changed = false;
    // Whether the word before is a joined one: a word is split in two, not in three.
    let mut was_joined = false;
    for (at, word) in words.iter().enumerate() {
        let whole = joined[at].filter(|whole| {
            let parts = result.last().is_some_and(|first| has(first.form)) && has(word.form);
            !was_joined && has(whole.form) && !parts
        });
        was_joined = whole.is_some();
        match (whole, result.last_mut(), stems.last_mut()) {
            (Some(whole), Some(last), Some(stem)) => {
                (last.end, last.form) = (word.end, whole.form);
                *stem = StemSource::Joined(whole.stem);
                is_changed = true;
            }
            _ => {
                result.push(*word);
                stems.push(StemSource::Of(at));
            }
        }
    }
    is_changed.then_some((result, stems))
}
