//! Normalisation of chunks before they are compared: white space and case.

use std::fmt;
use std::str::FromStr;

/// How a chunk is normalised before it is hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Normalisation {
    /// No change: chunks are equal only if all bytes are.
    None,
    /// Every run of Unicode white space becomes one space; leading and trailing space is removed.
    Space,
    /// Like [`Space`](Normalisation::Space), plus full Unicode case folding: `STRASSE`, `Straße`
    /// and `strasse` are equal.
    #[default]
    SpaceCase,
}

impl Normalisation {
    /// All normalisations, in the order of help texts.
    pub const ALL: [Normalisation; 3] = [
        Normalisation::None,
        Normalisation::Space,
        Normalisation::SpaceCase,
    ];

    /// The name in options and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Normalisation::None => "none",
            Normalisation::Space => "space",
            Normalisation::SpaceCase => "space+case",
        }
    }
}

impl fmt::Display for Normalisation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Normalisation {
    type Err = UnknownNormalisation;

    fn from_str(name: &str) -> Result<Self, UnknownNormalisation> {
        Normalisation::ALL
            .into_iter()
            .find(|normalisation| normalisation.name() == name)
            .ok_or_else(|| UnknownNormalisation {
                name: name.to_owned(),
            })
    }
}

/// The error for an unknown [`Normalisation`] name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownNormalisation {
    name: String,
}

impl fmt::Display for UnknownNormalisation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "unknown normalisation '{}': expected none, space or space+case",
            self.name
        )
    }
}

impl std::error::Error for UnknownNormalisation {}

/// Replaces `out` with the normalised `text`.
///
/// ```
/// use cento_text::normal::{Normalisation, normalise};
///
/// let mut out = String::new();
/// normalise("  Die\u{a0}Große\n Straße ", Normalisation::SpaceCase, &mut out);
/// assert_eq!(out, "die grosse strasse");
/// ```
pub fn normalise(text: &str, normalisation: Normalisation, out: &mut String) {
    out.clear();
    match normalisation {
        Normalisation::None => out.push_str(text),
        Normalisation::Space => collapse(text, out, |character, out| out.push(character)),
        Normalisation::SpaceCase => {
            collapse(text, out, fold::push);
            // ASCII is folded in one pass at the end, which is vectorised.
            out.make_ascii_lowercase();
        }
    }
}

/// Appends `text` to the empty `out` with white space collapsed; non-ASCII characters other than
/// white space are passed to `push`.
fn collapse(text: &str, out: &mut String, push: impl Fn(char, &mut String)) {
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (clean, after) = rest.split_at(clean_length(rest.as_bytes()));
        out.push_str(clean);
        rest = after;
        let Some(character) = rest.chars().next() else {
            break;
        };
        if character.is_whitespace() {
            rest = rest.trim_start();
            if !out.ends_with(' ') {
                out.push(' ');
            }
        } else {
            push(character, out);
            rest = &rest[character.len_utf8()..];
        }
    }
    // Either kind of piece may end with a space, but there are never two.
    if out.ends_with(' ') {
        out.pop();
    }
}

/// The length of the prefix that can be copied unchanged: ASCII without white space other than
/// single spaces.
fn clean_length(bytes: &[u8]) -> usize {
    const TOPS: u64 = 0x8080_8080_8080_8080;
    const fn eight(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    let (words, rest) = bytes.as_chunks::<8>();
    let mut after_space = 0;
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // Sums of two seven-bit bytes stay within their byte and set its top bit from 128 on.
        let seven = word & !TOPS;
        let spaces = !((seven ^ eight(b' ')) + eight(0x7f)) & !word & TOPS;
        let breaks = (seven + eight(0x80 - b'\t')) & !(seven + eight(0x7f - b'\r'));
        let dirty = (word | breaks) & TOPS | spaces & (spaces << 8 | after_space);
        if dirty != 0 {
            return number * 8 + dirty.trailing_zeros() as usize / 8;
        }
        after_space = spaces >> 56;
    }
    let mut after_space = after_space != 0;
    for (position, &byte) in rest.iter().enumerate() {
        let space = byte == b' ';
        if !byte.is_ascii() || matches!(byte, b'\t'..=b'\r') || (space && after_space) {
            return words.len() * 8 + position;
        }
        after_space = space;
    }
    bytes.len()
}

/// Full case folding, from a table that is computed lazily in blocks.
mod fold {
    use std::sync::OnceLock;

    use icu_casemap::{CaseMapper, CaseMapperBorrowed};

    const FOLD: CaseMapperBorrowed<'static> = CaseMapper::new();

    /// No character beyond the second plane has case.
    const BLOCKS: usize = 0x20000 / 64;

    /// Marks a character that folds to several.
    const SEVERAL: char = '\0';

    static FOLDS: [OnceLock<Box<[char; 64]>>; BLOCKS] = [const { OnceLock::new() }; BLOCKS];

    /// Appends the folded `character`.
    #[inline]
    pub(super) fn push(character: char, out: &mut String) {
        let number = character as usize / 64;
        let Some(block) = FOLDS.get(number) else {
            out.push(character);
            return;
        };
        match block.get_or_init(|| make_block(number))[character as usize % 64] {
            SEVERAL => out.push_str(&FOLD.fold_string(character.encode_utf8(&mut [0; 4]))),
            folded => out.push(folded),
        }
    }

    #[cold]
    fn make_block(number: usize) -> Box<[char; 64]> {
        Box::new(std::array::from_fn(|offset| {
            let character = char::from_u32((number * 64 + offset) as u32).unwrap_or(SEVERAL);
            let mut buffer = [0; 4];
            let folded = FOLD.fold_string(character.encode_utf8(&mut buffer));
            let mut characters = folded.chars();
            match (characters.next(), characters.next()) {
                (Some(only), None) => only,
                _ => SEVERAL,
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normalised(text: &str, normalisation: Normalisation) -> String {
        // The previous content of the buffer must not matter.
        let mut out = String::from("before ");
        normalise(text, normalisation, &mut out);
        out
    }

    /// The definition.
    fn naive(text: &str, normalisation: Normalisation) -> String {
        let spaced = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match normalisation {
            Normalisation::None => text.to_owned(),
            Normalisation::Space => spaced,
            Normalisation::SpaceCase => icu_casemap::CaseMapper::new()
                .fold_string(&spaced)
                .into_owned(),
        }
    }

    proptest! {
        #[test]
        fn normalisation_agrees_with_the_definition(
            text in "([ \t\r\n\u{a0}\u{3000}]{0,3}([a-zA-Z.\u{1c}\0]{0,12}|\\PC{0,3}|[äÄßẞİΣςЖ]{0,4})){0,12}[ \n]{0,2}"
        ) {
            for normalisation in Normalisation::ALL {
                prop_assert_eq!(normalised(&text, normalisation), naive(&text, normalisation));
            }
        }

        #[test]
        fn normalisation_is_idempotent(text in any::<String>()) {
            for normalisation in Normalisation::ALL {
                let once = normalised(&text, normalisation);
                prop_assert_eq!(normalised(&once, normalisation), once);
            }
        }
    }

    #[test]
    fn every_character_is_folded_as_by_icu() {
        for character in '\0'..=char::MAX {
            let text = character.to_string();
            let expected = naive(&text, Normalisation::SpaceCase);
            assert_eq!(
                normalised(&text, Normalisation::SpaceCase),
                expected,
                "{character:?}"
            );
        }
    }

    #[test]
    fn white_space_is_collapsed_everywhere() {
        let text = " \u{feff}One\r\n\ttwo\u{2003}\u{a0}three  four\u{3000}";
        assert_eq!(
            normalised(text, Normalisation::Space),
            "\u{feff}One two three four"
        );
        assert_eq!(
            normalised(text, Normalisation::SpaceCase),
            "\u{feff}one two three four"
        );
        assert_eq!(normalised(" \n\t ", Normalisation::Space), "");
        assert_eq!(normalised(text, Normalisation::None), text);
    }

    #[test]
    fn names_parse_and_unknown_names_are_refused_with_the_alternatives() {
        for normalisation in Normalisation::ALL {
            assert_eq!(normalisation.to_string().parse(), Ok(normalisation));
        }
        assert_eq!(Normalisation::default().name(), "space+case");
        let refused = "case".parse::<Normalisation>().unwrap_err().to_string();
        assert_eq!(
            refused,
            "unknown normalisation 'case': expected none, space or space+case"
        );
    }
}
