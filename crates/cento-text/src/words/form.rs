//! The normal form of a word, built up character by character.

use super::table::{self, Entry, Form};

/// Builds the normal form of one word after the other in one buffer.
#[derive(Debug, Default)]
pub(super) struct NormalForm {
    text: String,
    /// Whether the word has a character that only ICU can treat.
    rare: bool,
    /// Whether the last character was a mark that the next mark could change places with.
    after_mark: bool,
}

impl NormalForm {
    /// Begins a new word.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.rare = false;
        self.after_mark = false;
    }

    /// Takes the next character, which is a letter or a digit of ASCII.
    #[inline]
    pub(super) fn push_ascii(&mut self, byte: u8) {
        self.after_mark = false;
        self.text.push(char::from(byte.to_ascii_lowercase()));
    }

    /// Takes the next character, which words are made of.
    #[inline]
    pub(super) fn push(&mut self, character: char, entry: Entry) {
        match entry.form() {
            Form::One(one) => {
                self.after_mark = false;
                self.text.push(one);
            }
            Form::Several => {
                let (text, ends_in_mark) = table::expansion(character);
                self.after_mark = ends_in_mark;
                self.text.push_str(text);
            }
            Form::LoneMark => {
                self.rare |= self.after_mark;
                self.after_mark = true;
                self.text.push(character);
            }
            Form::Rare => self.rare = true,
        }
    }

    /// The normal form of the word that all of `raw` is.
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

    /// The normal form of `raw`, all of which is one word without ignorable characters.
    pub(super) fn of(&mut self, raw: &str) -> &str {
        self.clear();
        for character in raw.chars() {
            self.push(character, table::entry(character));
        }
        self.finish(raw)
    }
}
