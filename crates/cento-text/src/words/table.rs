//! What each character is to a word: a table of all of Unicode, made page by page as texts ask for
//! it.
//!
//! The definitions come from ICU's properties, but asking those for every character of a text would
//! cost more than everything else together. Most texts live on a handful of pages of 64 characters;
//! a page is computed when the first of its characters is met, in some microseconds, and kept for
//! the life of the process. A page of UTF-8's two-byte characters is exactly one lead byte, so that
//! a text in Russian needs four.

use std::collections::HashSet;
use std::sync::{LazyLock, OnceLock};

use icu_casemap::{CaseMapper, CaseMapperBorrowed};
use icu_normalizer::properties::{
    CanonicalCombiningClassMap, CanonicalDecomposition, CanonicalDecompositionBorrowed, Decomposed,
};
use icu_normalizer::{
    ComposingNormalizer, ComposingNormalizerBorrowed, DecomposingNormalizer,
    DecomposingNormalizerBorrowed,
};
use icu_properties::props::{
    DefaultIgnorableCodePoint, GeneralCategory, GeneralCategoryGroup, Script,
};
use icu_properties::script::ScriptWithExtensions;
use icu_properties::{CodePointMapData, CodePointSetData};

/// The scripts that are written without spaces and that there is a dictionary for.
const DICTIONARY_SCRIPTS: [Script; 7] = [
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Thai,
    Script::Lao,
    Script::Khmer,
    Script::Myanmar,
];

/// What a character does where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It separates words.
    Separator,
    /// It belongs to a word, with all word characters around it.
    Plain,
    /// It is a mark without a script of its own: it goes with the character before it.
    Mark,
    /// It belongs to a run of a script without spaces, which the dictionary splits.
    Dictionary,
    /// It is invisible: words go on as if it were not there.
    Ignorable,
}

/// How a character of a word becomes part of the normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// It becomes one character, whatever stands beside it.
    One(char),
    /// It becomes several characters, whatever stands beside it: [`expansion`] has them.
    Several,
    /// It stays as it is unless another mark precedes it: then their order may change.
    LoneMark,
    /// It may compose with its neighbours: only ICU knows what becomes of its word.
    Rare,
}

/// The kind and the form of one character.
///
/// Packed into 32 bits: the character of [`Form::One`] in the lower 21, then the form, then the
/// kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry(u32);

impl Entry {
    /// What every letter and digit of ASCII is; its form is not here.
    pub(super) const ASCII: Entry = Entry((Kind::Plain as u32) << 24);

    fn new(kind: Kind, form: Form) -> Self {
        let (form, character) = match form {
            Form::One(character) => (0, u32::from(character)),
            Form::Several => (1, 0),
            Form::LoneMark => (2, 0),
            Form::Rare => (3, 0),
        };
        Entry((kind as u32) << 24 | form << 22 | character)
    }

    #[inline]
    pub(super) fn kind(self) -> Kind {
        match self.0 >> 24 {
            0 => Kind::Separator,
            1 => Kind::Plain,
            2 => Kind::Mark,
            3 => Kind::Dictionary,
            _ => Kind::Ignorable,
        }
    }

    #[inline]
    pub(super) fn form(self) -> Form {
        match self.0 >> 22 & 3 {
            0 => Form::One(char::from_u32(self.0 & 0x1f_ffff).unwrap_or_default()),
            1 => Form::Several,
            2 => Form::LoneMark,
            _ => Form::Rare,
        }
    }
}

struct Page {
    entries: [Entry; 64],
    /// The normal forms of the characters that become several, in their order.
    expansions: Vec<Expansion>,
}

struct Expansion {
    of: char,
    text: Box<str>,
    ends_in_mark: bool,
}

static PAGES: [OnceLock<Box<Page>>; (char::MAX as usize + 1) / 64] =
    [const { OnceLock::new() }; (char::MAX as usize + 1) / 64];

#[inline]
fn page(character: char) -> &'static Page {
    let number = character as usize / 64;
    PAGES[number].get_or_init(|| make_page(number))
}

/// What `character` is to a word.
#[inline]
pub(super) fn entry(character: char) -> Entry {
    page(character).entries[character as usize % 64]
}

/// What a character of [`Form::Several`] becomes, and whether that ends with a mark that can be
/// reordered.
pub(super) fn expansion(character: char) -> (&'static str, bool) {
    page(character)
        .expansions
        .iter()
        .find(|expansion| expansion.of == character)
        .map_or(("", false), |expansion| {
            (&expansion.text, expansion.ends_in_mark)
        })
}

#[cold]
fn make_page(number: usize) -> Box<Page> {
    let mut page = Page {
        entries: [Entry::new(Kind::Separator, Form::Rare); 64],
        expansions: Vec::new(),
    };
    for (offset, entry) in page.entries.iter_mut().enumerate() {
        // Surrogates are no characters and are never looked up.
        let Some(character) = char::from_u32((number * 64 + offset) as u32) else {
            continue;
        };
        let kind = kind(character);
        let form = match kind {
            Kind::Separator | Kind::Ignorable => Form::Rare,
            Kind::Plain | Kind::Mark | Kind::Dictionary => form(character, &mut page.expansions),
        };
        *entry = Entry::new(kind, form);
    }
    Box::new(page)
}

fn kind(character: char) -> Kind {
    if is_ignorable(character) {
        return Kind::Ignorable;
    }
    if !is_word(character) {
        return Kind::Separator;
    }
    let scripts = ScriptWithExtensions::new();
    let script = scripts.get_script_val(character);
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    let shared = matches!(script, Script::Common | Script::Inherited);
    if DICTIONARY_SCRIPTS.contains(&script) {
        Kind::Dictionary
    } else if GeneralCategoryGroup::Mark.contains(category) {
        Kind::Mark
    } else if shared && is_of_dictionary_scripts_alone(character) {
        // Such as the long vowel mark, which belongs to Hiragana and Katakana alike.
        Kind::Dictionary
    } else {
        Kind::Plain
    }
}

/// Whether all scripts that share the character are written without spaces. One that they share
/// with others, as the Ukrainian apostrophe U+02BC is shared by Cyrillic, Latin and Thai, is a
/// letter like any other.
fn is_of_dictionary_scripts_alone(character: char) -> bool {
    let shared_by = ScriptWithExtensions::new().get_script_extensions_val(character);
    let mut scripts = shared_by.iter().peekable();
    scripts.peek().is_some() && scripts.all(|script| DICTIONARY_SCRIPTS.contains(&script))
}

/// Whether words are made of such characters: letters, marks, numbers.
pub(super) fn is_word(character: char) -> bool {
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    GeneralCategoryGroup::Letter
        .union(GeneralCategoryGroup::Mark)
        .union(GeneralCategoryGroup::Number)
        .contains(category)
}

/// Whether words go on as if the character were not there: soft hyphens, zero-width and other
/// default-ignorable ones.
pub(super) fn is_ignorable(character: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
}

const COMPOSE: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfkc();
const DECOMPOSE: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizer::new_nfkd();
const FOLD: CaseMapperBorrowed<'static> = CaseMapper::new();

/// The normal form of a word without ignorable characters, by the definition: NFKC, full case
/// folding, NFKC again because folding may leave something to compose, and of that the characters
/// that words are made of.
pub(super) fn normal_form(word: &str, out: &mut String) {
    let composed = COMPOSE.normalize(word);
    let folded = FOLD.fold_string(&composed);
    let normal = COMPOSE.normalize(&folded);
    out.extend(
        normal
            .chars()
            .filter(|&character| is_word(character) && !is_ignorable(character)),
    );
}

/// Finds the form of a character of a word.
///
/// A string is its own NFKC if every character is, and none reorders with or composes onto the one
/// before it. So a character may be replaced on its own if neither what it decomposes to nor what
/// it becomes begins with one that does such a thing to the left, and if what it becomes ends with
/// a mark, then only before what is no mark.
fn form(character: char, expansions: &mut Vec<Expansion>) -> Form {
    let alone = character.encode_utf8(&mut [0; 4]).to_owned();
    let mut normal = String::new();
    normal_form(&alone, &mut normal);
    if class(character) != 0 {
        let stays = normal == alone && DECOMPOSE.is_normalized(&alone);
        return if stays && !composes_backwards(character) {
            Form::LoneMark
        } else {
            Form::Rare
        };
    }
    let reaches_left = |text: &str| {
        text.chars()
            .next()
            .is_none_or(|first| class(first) != 0 || composes_backwards(first))
    };
    if reaches_left(&DECOMPOSE.normalize(&alone)) || reaches_left(&normal) {
        return Form::Rare;
    }
    let mut characters = normal.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) => Form::One(only),
        _ => {
            expansions.push(Expansion {
                of: character,
                ends_in_mark: normal
                    .chars()
                    .next_back()
                    .is_some_and(|last| class(last) != 0),
                text: normal.into_boxed_str(),
            });
            Form::Several
        }
    }
}

/// The canonical combining class: 0 for all but marks that can be reordered.
fn class(character: char) -> u8 {
    CanonicalCombiningClassMap::new().get_u8(character)
}

/// Whether canonical composition can join the character to one before it: whether anything
/// decomposes to a pair that ends with it.
fn composes_backwards(character: char) -> bool {
    /// Nothing beyond the second plane decomposes to a pair.
    const LAST: char = '\u{1ffff}';
    static SECONDS: LazyLock<HashSet<char>> = LazyLock::new(|| {
        const CANONICAL: CanonicalDecompositionBorrowed<'static> = CanonicalDecomposition::new();
        ('\0'..=LAST)
            .filter_map(|composed| match CANONICAL.decompose(composed) {
                Decomposed::Expansion(_, second) => Some(second),
                _ => None,
            })
            .collect()
    });
    SECONDS.contains(&character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_a_word_has_a_normal_form_of_word_characters() {
        for character in ('\0'..=char::MAX).filter(|&character| is_word(character)) {
            if is_ignorable(character) {
                continue;
            }
            let mut normal = String::new();
            normal_form(character.encode_utf8(&mut [0; 4]), &mut normal);
            assert!(!normal.is_empty(), "{character:?} has none");
            assert!(
                normal.chars().all(is_word),
                "{character:?} becomes {normal:?}"
            );
        }
    }

    #[test]
    fn the_table_says_what_the_definition_says() {
        for character in '\0'..='\u{3ffff}' {
            let entry = entry(character);
            let in_word = is_word(character) && !is_ignorable(character);
            match entry.kind() {
                Kind::Separator => assert!(!in_word && !is_ignorable(character)),
                Kind::Ignorable => assert!(is_ignorable(character)),
                Kind::Plain | Kind::Mark | Kind::Dictionary => assert!(in_word),
            }
            if !in_word {
                continue;
            }
            let mut normal = String::new();
            normal_form(character.encode_utf8(&mut [0; 4]), &mut normal);
            match entry.form() {
                Form::One(one) => assert_eq!(normal, one.to_string()),
                Form::Several => assert_eq!(normal, expansion(character).0),
                Form::LoneMark => assert_eq!(normal, character.to_string()),
                Form::Rare => {}
            }
        }
    }

    #[test]
    fn everyday_letters_are_not_rare() {
        let letters = "äÄößéñçøłŁğİıΩσςАяЁїאبहा中文あアーｱ한";
        for character in letters.chars() {
            assert_ne!(entry(character).form(), Form::Rare, "{character}");
        }
    }
}
