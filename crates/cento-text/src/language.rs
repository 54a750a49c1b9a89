//! Language detection for pages that do not declare their language.
//!
//! Three methods are tried in order of cost, on a sample of a few hundred letters from three
//! positions in the text:
//!
//! 1. The *script*. Greek, Thai, Korean and about twenty others are used by one major language.
//! 2. *Function words*. In running text about every third word is an article, preposition or
//!    pronoun; counting them distinguishes the major languages of the Latin and Cyrillic scripts in
//!    a few microseconds.
//! 3. *Trigrams*. The `whatlang` crate decides the rest, if its result is reliable.
//!
//! An ambiguous result is `None`.

mod function_words;
mod script;

use script::{Script, ScriptTally};

/// Bytes of the sample from each of the three positions.
const PART: usize = 240;

/// The minimum number of letters.
const LEAST_LETTERS: usize = 30;

/// Returns the language of `text` if it is clear: its ISO 639-1 code, or its ISO 639-3 code if it
/// has none.
///
/// ```
/// use cento_text::language::detect;
///
/// let english = "The quick brown fox jumps over the lazy dog, and it is not the first time.";
/// assert_eq!(detect(english), Some("en"));
/// assert_eq!(detect("Η γλώσσα είναι το σπίτι του ανθρώπου."), Some("el"));
/// assert_eq!(detect("42"), None);
/// ```
pub fn detect(text: &str) -> Option<&'static str> {
    let sample = LetterSample::of(text);
    if sample.letters.len() < LEAST_LETTERS {
        return None;
    }
    let script = sample.tally.main_script();
    if let Some(language) = script.language() {
        return Some(language);
    }
    // Words of other scripts would mislead: Arabic manuals are full of English names.
    let mut letters = sample.letters;
    if !sample.tally.is_all(script) {
        letters.retain(|letter| letter == ' ' || Script::of(letter) == script);
    }
    if matches!(script, Script::Latin | Script::Cyrillic)
        && let Some(language) = function_words::language(&letters)
    {
        return Some(language);
    }
    let guess = whatlang::detect(&letters)?;
    guess.is_reliable().then(|| code(guess.lang()))
}

/// The letters of a text in lower case, with one space between words, and their scripts.
struct LetterSample {
    letters: String,
    tally: ScriptTally,
}

impl LetterSample {
    /// Samples words at one, two and three quarters of the text: the beginning and end of a page
    /// are often boilerplate.
    fn of(text: &str) -> Self {
        let mut sample = LetterSample {
            letters: String::with_capacity(3 * PART + 12),
            tally: ScriptTally::default(),
        };
        if text.len() <= 4 * PART {
            sample.take(text, 3 * PART);
            return sample;
        }
        for quarter in 1..=3 {
            let mut begin = text.len() / 4 * quarter - PART / 2;
            while !text.is_char_boundary(begin) {
                begin += 1;
            }
            sample.take(&text[begin..], PART);
        }
        sample
    }

    fn take(&mut self, text: &str, size: usize) {
        self.letters.push(' ');
        let end = self.letters.len() + size;
        // Limit the search in text without letters.
        for character in text.chars().take(8 * size) {
            if character.is_ascii_alphabetic() {
                self.tally.add(Script::Latin);
                self.letters.push(character.to_ascii_lowercase());
            } else if !character.is_ascii() && is_letter(character) {
                self.tally.add(Script::of(character));
                self.letters.extend(character.to_lowercase());
            } else if self.letters.len() >= end {
                break;
            } else if !self.letters.ends_with(' ') && character != '\'' && character != '’' {
                self.letters.push(' ');
            }
            if self.letters.len() >= end + 40 {
                break;
            }
        }
    }
}

/// Whether the character is a letter, or a mark that is part of its script's words.
fn is_letter(character: char) -> bool {
    character.is_alphabetic() || Script::of(character) != Script::Other
}

fn code(language: whatlang::Lang) -> &'static str {
    use whatlang::Lang;
    match language {
        Lang::Afr => "af",
        Lang::Aka => "ak",
        Lang::Amh => "am",
        Lang::Ara => "ar",
        Lang::Aze => "az",
        Lang::Bel => "be",
        Lang::Ben => "bn",
        Lang::Bul => "bg",
        Lang::Cat => "ca",
        Lang::Ces => "cs",
        Lang::Cmn => "zh",
        Lang::Cym => "cy",
        Lang::Dan => "da",
        Lang::Deu => "de",
        Lang::Ell => "el",
        Lang::Eng => "en",
        Lang::Epo => "eo",
        Lang::Est => "et",
        Lang::Fin => "fi",
        Lang::Fra => "fr",
        Lang::Guj => "gu",
        Lang::Heb => "he",
        Lang::Hin => "hi",
        Lang::Hrv => "hr",
        Lang::Hun => "hu",
        Lang::Hye => "hy",
        Lang::Ind => "id",
        Lang::Ita => "it",
        Lang::Jav => "jv",
        Lang::Jpn => "ja",
        Lang::Kan => "kn",
        Lang::Kat => "ka",
        Lang::Khm => "km",
        Lang::Kor => "ko",
        Lang::Lat => "la",
        Lang::Lav => "lv",
        Lang::Lit => "lt",
        Lang::Mal => "ml",
        Lang::Mar => "mr",
        Lang::Mkd => "mk",
        Lang::Mya => "my",
        Lang::Nep => "ne",
        Lang::Nld => "nl",
        Lang::Nob => "nb",
        Lang::Ori => "or",
        Lang::Pan => "pa",
        Lang::Pes => "fa",
        Lang::Pol => "pl",
        Lang::Por => "pt",
        Lang::Ron => "ro",
        Lang::Rus => "ru",
        Lang::Sin => "si",
        Lang::Slk => "sk",
        Lang::Slv => "sl",
        Lang::Sna => "sn",
        Lang::Spa => "es",
        Lang::Srp => "sr",
        Lang::Swe => "sv",
        Lang::Tam => "ta",
        Lang::Tel => "te",
        Lang::Tgl => "tl",
        Lang::Tha => "th",
        Lang::Tuk => "tk",
        Lang::Tur => "tr",
        Lang::Ukr => "uk",
        Lang::Urd => "ur",
        Lang::Uzb => "uz",
        Lang::Vie => "vi",
        Lang::Yid => "yi",
        Lang::Zul => "zu",
    }
}

#[cfg(test)]
mod tests;
