//! The role of each character in a word: a table of Unicode, computed lazily in blocks.
//!
//! The definitions come from ICU's properties, but looking those up for every character of a text
//! would dominate the cost of finding words. Most texts use only a few blocks of 64 characters. A
//! block is computed, within microseconds, when the first of its characters is seen, and is kept
//! for the life of the process. A block of two-byte UTF-8 characters corresponds to one lead byte,
//! so Russian text needs four.

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

/// Scripts written without spaces for which ICU has a dictionary.
const DICTIONARY_SCRIPTS: [Script; 7] = [
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Thai,
    Script::Lao,
    Script::Khmer,
    Script::Myanmar,
];

/// The role of a character in segmentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharacterKind {
    /// Separates words.
    Separator,
    /// Joins with the word characters around it.
    Plain,
    /// A combining mark of no dictionary script: it belongs to the preceding character.
    Mark,
    /// Belongs to a script without spaces; the dictionary segments runs of these.
    Dictionary,
    /// Invisible: ignored, so words continue across it.
    Ignorable,
}

/// How a word character is normalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharacterForm {
    /// Becomes one character, regardless of its neighbours.
    One(char),
    /// Becomes several characters, regardless of its neighbours: see [`expansion`].
    Several,
    /// Unchanged unless it follows another mark, in which case they may be reordered.
    LoneMark,
    /// May compose with its neighbours: the word needs ICU's normaliser.
    Rare,
}

/// The kind and the form of a character.
///
/// Packed into 32 bits: the character of [`CharacterForm::One`] in the lower 21, then the form,
/// then the kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct CharacterEntry(u32);

impl CharacterEntry {
    /// The entry of every ASCII letter and digit; its form is not stored here.
    pub(super) const ASCII: CharacterEntry = CharacterEntry((CharacterKind::Plain as u32) << 24);

    fn new(kind: CharacterKind, form: CharacterForm) -> Self {
        let (form, character) = match form {
            CharacterForm::One(character) => (0, u32::from(character)),
            CharacterForm::Several => (1, 0),
            CharacterForm::LoneMark => (2, 0),
            CharacterForm::Rare => (3, 0),
        };
        CharacterEntry((kind as u32) << 24 | form << 22 | character)
    }

    #[inline]
    pub(super) fn kind(self) -> CharacterKind {
        match self.0 >> 24 {
            0 => CharacterKind::Separator,
            1 => CharacterKind::Plain,
            2 => CharacterKind::Mark,
            3 => CharacterKind::Dictionary,
            _ => CharacterKind::Ignorable,
        }
    }

    #[inline]
    pub(super) fn form(self) -> CharacterForm {
        match self.0 >> 22 & 3 {
            0 => CharacterForm::One(char::from_u32(self.0 & 0x1f_ffff).unwrap_or_default()),
            1 => CharacterForm::Several,
            2 => CharacterForm::LoneMark,
            _ => CharacterForm::Rare,
        }
    }
}

struct CharacterBlock {
    entries: [CharacterEntry; 64],
    /// The normal forms of the characters of [`CharacterForm::Several`], in order.
    expansions: Vec<Expansion>,
}

struct Expansion {
    of: char,
    text: Box<str>,
    ends_in_mark: bool,
}

static BLOCKS: [OnceLock<Box<CharacterBlock>>; (char::MAX as usize + 1) / 64] =
    [const { OnceLock::new() }; (char::MAX as usize + 1) / 64];

#[inline]
fn block(character: char) -> &'static CharacterBlock {
    let number = character as usize / 64;
    BLOCKS[number].get_or_init(|| make_block(number))
}

/// Looks up a character.
#[inline]
pub(super) fn entry(character: char) -> CharacterEntry {
    block(character).entries[character as usize % 64]
}

/// The normal form of a character of [`CharacterForm::Several`], and whether it ends with a mark
/// that can be reordered.
pub(super) fn expansion(character: char) -> (&'static str, bool) {
    block(character)
        .expansions
        .iter()
        .find(|expansion| expansion.of == character)
        .map_or(("", false), |expansion| {
            (&expansion.text, expansion.ends_in_mark)
        })
}

#[cold]
fn make_block(number: usize) -> Box<CharacterBlock> {
    let mut block = CharacterBlock {
        entries: [CharacterEntry::new(CharacterKind::Separator, CharacterForm::Rare); 64],
        expansions: Vec::new(),
    };
    for (offset, entry) in block.entries.iter_mut().enumerate() {
        // Surrogates are not characters and are never looked up.
        let Some(character) = char::from_u32((number * 64 + offset) as u32) else {
            continue;
        };
        let kind = kind(character);
        let form = match kind {
            CharacterKind::Separator | CharacterKind::Ignorable => CharacterForm::Rare,
            CharacterKind::Plain | CharacterKind::Mark | CharacterKind::Dictionary => {
                form(character, &mut block.expansions)
            }
        };
        *entry = CharacterEntry::new(kind, form);
    }
    Box::new(block)
}

fn kind(character: char) -> CharacterKind {
    if is_ignorable(character) {
        return CharacterKind::Ignorable;
    }
    if !is_word(character) {
        return CharacterKind::Separator;
    }
    let scripts = ScriptWithExtensions::new();
    let script = scripts.get_script_val(character);
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    let shared = matches!(script, Script::Common | Script::Inherited);
    if DICTIONARY_SCRIPTS.contains(&script) {
        CharacterKind::Dictionary
    } else if GeneralCategoryGroup::Mark.contains(category) {
        CharacterKind::Mark
    } else if shared && is_only_in_dictionary_scripts(character) {
        // For example the long vowel mark, which is shared by Hiragana and Katakana.
        CharacterKind::Dictionary
    } else {
        CharacterKind::Plain
    }
}

/// Whether all scripts in the character's script extensions are written without spaces. A character
/// shared with other scripts, such as the Ukrainian apostrophe U+02BC (Cyrillic, Latin and Thai),
/// is an ordinary letter.
fn is_only_in_dictionary_scripts(character: char) -> bool {
    let shared_by = ScriptWithExtensions::new().get_script_extensions_val(character);
    let mut scripts = shared_by.iter().peekable();
    scripts.peek().is_some() && scripts.all(|script| DICTIONARY_SCRIPTS.contains(&script))
}

/// Whether the character is a letter, mark or number.
pub(super) fn is_word(character: char) -> bool {
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    GeneralCategoryGroup::Letter
        .union(GeneralCategoryGroup::Mark)
        .union(GeneralCategoryGroup::Number)
        .contains(category)
}

/// Whether the character is default-ignorable: soft hyphens, zero-width characters and so on.
pub(super) fn is_ignorable(character: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
}

const COMPOSE: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfkc();
const DECOMPOSE: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizer::new_nfkd();
const FOLD: CaseMapperBorrowed<'static> = CaseMapper::new();

/// Appends the normal form of a word without ignorable characters, by definition: NFKC, full case
/// folding, NFKC again because folding can create new compositions, then only the word characters
/// of the result.
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

/// Determines how a word character is normalised.
///
/// A string is in NFKC if each character is, and none reorders with or composes onto its
/// predecessor. A character can therefore be replaced independently if neither its decomposition
/// nor its normal form begins with a character that does so. If its normal form ends with a mark,
/// this holds only if no mark follows.
fn form(character: char, expansions: &mut Vec<Expansion>) -> CharacterForm {
    let alone = character.encode_utf8(&mut [0; 4]).to_owned();
    let mut normal = String::new();
    normal_form(&alone, &mut normal);
    if class(character) != 0 {
        let stays = normal == alone && DECOMPOSE.is_normalized(&alone);
        return if stays && !composes_backwards(character) {
            CharacterForm::LoneMark
        } else {
            CharacterForm::Rare
        };
    }
    let reaches_left = |text: &str| {
        text.chars()
            .next()
            .is_none_or(|first| class(first) != 0 || composes_backwards(first))
    };
    if reaches_left(&DECOMPOSE.normalize(&alone)) || reaches_left(&normal) {
        return CharacterForm::Rare;
    }
    let mut characters = normal.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) => CharacterForm::One(only),
        _ => {
            expansions.push(Expansion {
                of: character,
                ends_in_mark: normal
                    .chars()
                    .next_back()
                    .is_some_and(|last| class(last) != 0),
                text: normal.into_boxed_str(),
            });
            CharacterForm::Several
        }
    }
}

/// The canonical combining class: nonzero only for marks that can be reordered.
fn class(character: char) -> u8 {
    CanonicalCombiningClassMap::new().get_u8(character)
}

/// Whether canonical composition can join the character to its predecessor, that is, whether some
/// character decomposes to a pair that ends with it.
fn composes_backwards(character: char) -> bool {
    /// No character beyond this decomposes to a pair.
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
    fn every_word_character_has_a_normal_form_of_word_characters() {
        for character in ('\0'..=char::MAX).filter(|&character| is_word(character)) {
            if is_ignorable(character) {
                continue;
            }
            let mut normal = String::new();
            normal_form(character.encode_utf8(&mut [0; 4]), &mut normal);
            assert!(!normal.is_empty(), "{character:?} has no normal form");
            assert!(
                normal.chars().all(is_word),
                "{character:?} becomes {normal:?}"
            );
        }
    }

    #[test]
    fn the_table_agrees_with_the_definition() {
        for character in '\0'..='\u{3ffff}' {
            let entry = entry(character);
            let in_word = is_word(character) && !is_ignorable(character);
            match entry.kind() {
                CharacterKind::Separator => assert!(!in_word && !is_ignorable(character)),
                CharacterKind::Ignorable => assert!(is_ignorable(character)),
                CharacterKind::Plain | CharacterKind::Mark | CharacterKind::Dictionary => {
                    assert!(in_word);
                }
            }
            if !in_word {
                continue;
            }
            let mut normal = String::new();
            normal_form(character.encode_utf8(&mut [0; 4]), &mut normal);
            match entry.form() {
                CharacterForm::One(one) => assert_eq!(normal, one.to_string()),
                CharacterForm::Several => assert_eq!(normal, expansion(character).0),
                CharacterForm::LoneMark => assert_eq!(normal, character.to_string()),
                CharacterForm::Rare => {}
            }
        }
    }

    #[test]
    fn common_letters_do_not_need_icu() {
        let letters = "äÄößéñçøłŁğİıΩσςАяЁїאبहा中文あアーｱ한";
        for character in letters.chars() {
            assert_ne!(entry(character).form(), CharacterForm::Rare, "{character}");
        }
    }
}
