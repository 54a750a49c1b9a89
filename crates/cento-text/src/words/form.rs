//! Builds the normal form of a word, character by character.

use super::table::{self, CharacterEntry, CharacterForm};

/// Builds the normal forms of successive words in one buffer.
#[derive(Debug, Default)]
pub(super) struct NormalForm {
    text: String,
    /// Whether the word contains a character that requires ICU's normaliser.
    rare: bool,
    /// Whether the last character was a mark that could be reordered with a following mark.
    after_mark: bool,
}

impl NormalForm {
    /// Starts a new word.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.rare = false;
        self.after_mark = false;
    }

    /// Appends an ASCII letter or digit.
    #[inline]
    pub(super) fn push_ascii(&mut self, byte: u8) {
        self.after_mark = false;
        self.text.push(char::from(byte.to_ascii_lowercase()));
    }

    /// Appends a word character.
    #[inline]
    pub(super) fn push(&mut self, character: char, entry: CharacterEntry) {
        match entry.form() {
            CharacterForm::One(one) => {
                self.after_mark = false;
                self.text.push(one);
            }
            CharacterForm::Several => {
                let (text, ends_in_mark) = table::expansion(character);
                self.after_mark = ends_in_mark;
                self.text.push_str(text);
            }
            CharacterForm::LoneMark => {
                self.rare |= self.after_mark;
                self.after_mark = true;
                self.text.push(character);
            }
            CharacterForm::Rare => self.rare = true,
        }
    }

    /// Returns the normal form of the word, whose original text is `raw`.
    #[inline]
    pub(super) fn finish(&mut self, raw: &str) -> &str {
        if self.rare {
            self.normalise(raw);
        }
        &self.text
    }

    #[cold]
    fn normalise(&mut self, raw: &str) {
        self.text.clear();
        if raw.chars().any(table::is_ignorable) {
            let clean: String = raw
                .chars()
                .filter(|&character| !table::is_ignorable(character))
                .collect();
            table::normal_form(&clean, &mut self.text);
        } else {
            table::normal_form(raw, &mut self.text);
        }
    }

    /// Returns the normal form of `raw`, which is a single word without ignorable characters.
    pub(super) fn of(&mut self, raw: &str) -> &str {
        self.clear();
        for character in raw.chars() {
            self.push(character, table::entry(character));
        }
        self.finish(raw)
    }
}
