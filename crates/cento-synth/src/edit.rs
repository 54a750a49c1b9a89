//! Copying text with edits, and recording which parts are unchanged.
//!
//! ```text
//!   source   Nobis est locus antiquus, et silva magna.
//!            ─────────           ─────────────
//!   copy     Nobis est urbs antiquus, silva magna.      one word replaced, one deleted
//!   runs     0..10 ← 0..10, 14..25 ← 15..26, …          byte for byte the same
//! ```

use crate::language::Language;
use crate::prose::Prose;
use crate::random::Random;
use crate::vocabulary::Vocabulary;

/// A range of a copy that is byte for byte a range of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedRun {
    /// Its offset in the copy, in bytes.
    pub(crate) begin: u32,
    /// Its offset in the source.
    pub(crate) source: u32,
    /// Its length.
    pub(crate) length: u32,
}

/// A copy, and the ranges in which it equals its source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CopiedText {
    pub(crate) text: String,
    pub(crate) runs: Vec<SharedRun>,
}

impl CopiedText {
    /// An unchanged copy of a source.
    pub(crate) fn verbatim(source: &Prose) -> CopiedText {
        let mut copy = CopiedText::default();
        copy.take(source, 0, source.text.len() as u32);
        copy
    }

    /// Appends a range of the source. A range that continues the last one extends it.
    pub(crate) fn take(&mut self, source: &Prose, begin: u32, end: u32) {
        let taken = source.slice(&(begin..end));
        if taken.is_empty() {
            return;
        }
        let at = self.text.len() as u32;
        self.text.push_str(taken);
        match self.runs.last_mut() {
            Some(run) if run.begin + run.length == at && run.source + run.length == begin => {
                run.length += end - begin;
            }
            _ => self.runs.push(SharedRun {
                begin: at,
                source: begin,
                length: end - begin,
            }),
        }
    }

    /// Removes spaces at the end.
    fn trim_end(&mut self) {
        let length = self.text.trim_end_matches(' ').len();
        self.text.truncate(length);
        let length = length as u32;
        self.runs.retain(|run| run.begin < length);
        if let Some(run) = self.runs.last_mut() {
            run.length = run.length.min(length - run.begin);
        }
    }

    /// Appends text that is not from the source.
    pub(crate) fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

/// What happens to one word of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordEdit {
    Keep,
    Replace,
    Delete,
    Insert,
}

/// Draws an edit for each word with probability `rate`; the three kinds are equally likely.
pub(crate) fn decide(words: usize, rate: f64, random: &mut Random) -> Vec<WordEdit> {
    (0..words)
        .map(|_| {
            if random.unit() >= rate {
                return WordEdit::Keep;
            }
            match random.below(3) {
                0 => WordEdit::Replace,
                1 => WordEdit::Delete,
                _ => WordEdit::Insert,
            }
        })
        .collect()
}

/// Applies edits to a source. New words are drawn from the vocabulary of the language.
///
/// A deleted word is removed with the space after it; an inserted word is placed after the word of
/// its edit.
pub(crate) fn apply(
    source: &Prose,
    edits: &[WordEdit],
    language: Language,
    random: &mut Random,
) -> CopiedText {
    let vocabulary = Vocabulary::of(language);
    let space = language.space();
    let mut copy = CopiedText::default();
    let mut done = 0;
    for (word, edit) in source.words.iter().zip(edits) {
        match edit {
            WordEdit::Keep => {}
            WordEdit::Replace => {
                copy.take(source, done, word.start);
                copy.add(vocabulary.draw(random));
                done = word.end;
            }
            WordEdit::Delete => {
                copy.take(source, done, word.start);
                done = word.end;
                let rest = source.text.get(done as usize..).unwrap_or_default();
                // Two spaces in a row, or one at the edge of a paragraph, would be collapsed when
                // the page is read.
                let bare = copy.text.is_empty() || copy.text.ends_with(' ');
                if rest.starts_with(' ') && (space == " " || bare) {
                    done += 1;
                }
            }
            WordEdit::Insert => {
                copy.take(source, done, word.end);
                copy.add(space);
                copy.add(vocabulary.draw(random));
                done = word.end;
            }
        }
    }
    copy.take(source, done, source.text.len() as u32);
    copy.trim_end();
    copy
}

/// The sentences of a source in this order, with the separators of the language.
pub(crate) fn reorder(source: &Prose, order: &[usize], language: Language) -> CopiedText {
    let mut copy = CopiedText::default();
    for &sentence in order {
        let Some(range) = source.sentences.get(sentence) else {
            continue;
        };
        if !copy.text.is_empty() {
            copy.add(language.gap());
        }
        copy.take(source, range.start, range.end);
    }
    copy
}

/// Some sentences of a source, in their order.
pub(crate) fn part(source: &Prose, sentences: std::ops::Range<usize>) -> CopiedText {
    let mut copy = CopiedText::default();
    if let Some(taken) = source.sentences.get(sentences)
        && let (Some(first), Some(last)) = (taken.first(), taken.last())
    {
        copy.take(source, first.start, last.end);
    }
    copy
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::prose::paragraph;
    use crate::random::Purpose;

    fn edit() -> impl Strategy<Value = WordEdit> {
        prop_oneof![
            6 => Just(WordEdit::Keep),
            1 => Just(WordEdit::Replace),
            1 => Just(WordEdit::Delete),
            1 => Just(WordEdit::Insert),
        ]
    }

    /// The same, character by character: which characters of the source are kept, and what is
    /// between them. The unchanged ranges are then pairs of positions.
    fn naive(
        source: &Prose,
        edits: &[WordEdit],
        language: Language,
        random: &mut Random,
    ) -> (String, Vec<(usize, usize)>) {
        let vocabulary = Vocabulary::of(language);
        let mut text = String::new();
        let mut same = Vec::new();
        let mut swallow = false;
        for (at, letter) in source.text.char_indices() {
            let inside = source
                .words
                .iter()
                .zip(edits)
                .find(|(word, _)| (word.start as usize..word.end as usize).contains(&at));
            match inside {
                Some((word, WordEdit::Replace)) => {
                    if word.start as usize == at {
                        text.push_str(vocabulary.draw(random));
                    }
                }
                Some((_, WordEdit::Delete)) => swallow = true,
                None if swallow
                    && letter == ' '
                    && (language.space() == " " || text.is_empty() || text.ends_with(' ')) =>
                {
                    swallow = false;
                }
                _ => {
                    swallow = false;
                    for byte in 0..letter.len_utf8() {
                        same.push((text.len() + byte, at + byte));
                    }
                    text.push(letter);
                    if let Some((word, WordEdit::Insert)) = inside
                        && word.end as usize == at + letter.len_utf8()
                    {
                        text.push_str(language.space());
                        text.push_str(vocabulary.draw(random));
                    }
                }
            }
        }
        while text.ends_with(' ') {
            text.pop();
            same.pop();
        }
        (text, same)
    }

    fn same_bytes(copy: &CopiedText) -> Vec<(usize, usize)> {
        copy.runs
            .iter()
            .flat_map(|run| {
                (0..run.length)
                    .map(move |byte| ((run.begin + byte) as usize, (run.source + byte) as usize))
            })
            .collect()
    }

    proptest! {
        #[test]
        fn an_edited_copy_and_its_runs_equal_those_of_copying_letter_by_letter(
            seed in any::<u64>(),
            language in 0..Language::ALL.len(),
            edits in prop::collection::vec(edit(), 150),
        ) {
            let language = Language::ALL[language];
            let source = paragraph(language, &mut Random::new(seed, Purpose::Own, 0));
            let copy = apply(&source, &edits, language, &mut Random::new(seed, Purpose::Edit, 0));
            let (text, same) = naive(&source, &edits, language, &mut Random::new(seed, Purpose::Edit, 0));
            prop_assert_eq!(&copy.text, &text);
            prop_assert_eq!(same_bytes(&copy), same);
            for run in &copy.runs {
                let range = |begin: u32| begin as usize..(begin + run.length) as usize;
                prop_assert_eq!(&copy.text[range(run.begin)], &source.text[range(run.source)]);
            }
        }

        #[test]
        fn reordering_loses_no_sentence(seed in any::<u64>(), language in 0..Language::ALL.len()) {
            let language = Language::ALL[language];
            let mut random = Random::new(seed, Purpose::Own, 0);
            let source = paragraph(language, &mut random);
            let mut order: Vec<usize> = (0..source.sentences.len()).collect();
            random.shuffle(&mut order);
            let copy = reorder(&source, &order, language);
            let sentences: Vec<&str> = order.iter().map(|&index| source.slice(&source.sentences[index])).collect();
            prop_assert_eq!(&copy.text, &sentences.join(language.gap()));
            for run in &copy.runs {
                let range = |begin: u32| begin as usize..(begin + run.length) as usize;
                prop_assert_eq!(&copy.text[range(run.begin)], &source.text[range(run.source)]);
            }
        }
    }

    #[test]
    fn the_share_of_edited_words_is_the_edit_rate() {
        let edits = decide(100_000, 0.03, &mut Random::new(1, Purpose::Edit, 0));
        let edited = edits.iter().filter(|&&edit| edit != WordEdit::Keep).count();
        assert!((2_800..3_200).contains(&edited));
    }
}
