//! Character references: `&amp;`, `&eacute`, `&#8364;`, `&#x20AC;`.
//!
//! Names come from the `entities` crate, which contains the standard's list. A name that ends in a
//! semicolon matches as a whole or not at all. The 106 legacy names may also occur without one, and
//! then the longest match is used: `&notit;` is `¬it;` and `&notin;` is `∉`.

use entities::ENTITIES;

/// The replacement of a reference: one character, or two for some names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replacement {
    /// Of a numeric reference.
    Character(char),
    /// Of a named reference.
    Text(&'static str),
}

/// Where a reference occurs. In an attribute value, legacy names without a semicolon are not
/// replaced before `=` and alphanumerics, so that `?a=1&copy=2` is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceContext {
    /// Between tags.
    Text,
    /// In an attribute value.
    Attribute,
}

/// Parses the reference at the start of `rest`, which begins with `&`. Returns its replacement and
/// length in bytes; `None` for a bare ampersand.
pub(crate) fn read(rest: &[u8], context: ReferenceContext) -> Option<(Replacement, usize)> {
    match *rest.get(1)? {
        b'#' => read_number(rest),
        byte if byte.is_ascii_alphanumeric() => read_name(rest, context),
        _ => None,
    }
}

fn read_number(rest: &[u8]) -> Option<(Replacement, usize)> {
    let (radix, digits) = match rest.get(2)? {
        b'x' | b'X' => (16, 3),
        _ => (10, 2),
    };
    let mut code: u32 = 0;
    let mut at = digits;
    while let Some(digit) = rest
        .get(at)
        .and_then(|&byte| char::from(byte).to_digit(radix))
    {
        // Saturate, so that a number that is too large stays invalid.
        code = code.saturating_mul(radix).saturating_add(digit);
        at += 1;
    }
    if at == digits {
        return None;
    }
    if rest.get(at) == Some(&b';') {
        at += 1;
    }
    Some((Replacement::Character(character(code)), at))
}

/// Numbers 0x80 to 0x9F are interpreted as Windows-1252, as the standard requires; zeros are left
/// unchanged.
const WINDOWS_1252: [u16; 32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0, 0x017D, 0, 0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC,
    0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
];

fn character(code: u32) -> char {
    let code = match code {
        0 => 0xFFFD,
        0x80..=0x9F => match WINDOWS_1252[(code - 0x80) as usize] {
            0 => code,
            mapped => u32::from(mapped),
        },
        code => code,
    };
    // Surrogates and numbers beyond Unicode fail the conversion.
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// "CounterClockwiseContourIntegral;" with its semicolon.
const LONGEST: usize = 32;
/// Lengths of the legacy names: "gt" to "middot", "Aacute", "frac12", "Ccedil" …
const LEGACY: std::ops::RangeInclusive<usize> = 2..=6;

fn read_name(rest: &[u8], context: ReferenceContext) -> Option<(Replacement, usize)> {
    let window = rest
        .get(1..)
        .map(|tail| tail.get(..LONGEST).unwrap_or(tail))?;
    let length = window
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric())
        .unwrap_or(window.len());
    if window.get(length) == Some(&b';') {
        let name = window.get(..=length)?;
        if let Some(text) = look_up(name) {
            return Some((Replacement::Text(text), 1 + name.len()));
        }
    }
    for length in LEGACY.rev().skip_while(|&old| old > length) {
        let name = window.get(..length)?;
        if let Some(text) = look_up(name) {
            let next = rest.get(1 + length);
            let in_address = context == ReferenceContext::Attribute
                && next.is_some_and(|&byte| byte == b'=' || byte.is_ascii_alphanumeric());
            return (!in_address).then_some((Replacement::Text(text), 1 + length));
        }
    }
    None
}

const SLOTS: usize = 8192;

/// A hash table of positions in [`ENTITIES`] plus one, with linear probing; zero is free.
static INDEX: [u16; SLOTS] = {
    let mut index = [0; SLOTS];
    let mut i = 0;
    while i < ENTITIES.len() {
        let (_, name) = ENTITIES[i].entity.as_bytes().split_at(1);
        let mut slot = hash(name);
        while index[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        index[slot] = i as u16 + 1;
        i += 1;
    }
    index
};

const fn hash(name: &[u8]) -> usize {
    let mut hash: u32 = 0x811C_9DC5;
    let mut i = 0;
    while i < name.len() {
        hash = (hash ^ name[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    (hash >> 16 ^ hash) as usize % SLOTS
}

/// Looks up `name`, without ampersand, with or without semicolon.
fn look_up(name: &[u8]) -> Option<&'static str> {
    // Nine of ten references on the web are one of these.
    match name {
        b"amp;" => return Some("&"),
        b"lt;" => return Some("<"),
        b"gt;" => return Some(">"),
        b"quot;" => return Some("\""),
        b"nbsp;" => return Some("\u{A0}"),
        _ => {}
    }
    let mut slot = hash(name);
    loop {
        let entity = &ENTITIES[usize::from(INDEX[slot].checked_sub(1)?)];
        if entity.entity.as_bytes().get(1..) == Some(name) {
            return Some(entity.characters);
        }
        slot = (slot + 1) % SLOTS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(reference: &str) -> Option<(String, usize)> {
        read(reference.as_bytes(), ReferenceContext::Text).map(|(meaning, length)| match meaning {
            Replacement::Character(character) => (character.to_string(), length),
            Replacement::Text(text) => (text.to_owned(), length),
        })
    }

    fn means(reference: &str, expected: &str, length: usize) {
        assert_eq!(
            text(reference),
            Some((expected.to_owned(), length)),
            "{reference}"
        );
    }

    #[test]
    fn every_standard_name_is_found() {
        for entity in &ENTITIES {
            means(entity.entity, entity.characters, entity.entity.len());
            // Text after the semicolon does not change the result.
            if entity.entity.ends_with(';') {
                means(
                    &format!("{};x", entity.entity),
                    entity.characters,
                    entity.entity.len(),
                );
            }
        }
    }

    #[test]
    fn the_longest_matching_name_is_used() {
        means("&notit;", "¬", 4);
        means("&notin;", "∉", 7);
        means("&notinx", "¬", 4);
        means("&ampamp;", "&", 4);
        means("&amp", "&", 4);
        assert_eq!(text("&am"), None);
        assert_eq!(text("&xyzzy;"), None);
        assert_eq!(text("&"), None);
        assert_eq!(text("& amp;"), None);
        assert_eq!(text("&\u{e9};"), None);
    }

    #[test]
    fn ampersands_in_addresses_are_kept() {
        let read = |reference: &str| read(reference.as_bytes(), ReferenceContext::Attribute);
        assert_eq!(read("&copy=2"), None);
        assert_eq!(read("&copyx"), None);
        assert_eq!(read("&copy"), Some((Replacement::Text("©"), 5)));
        assert_eq!(read("&copy;=2"), Some((Replacement::Text("©"), 6)));
        assert_eq!(read("&copy&"), Some((Replacement::Text("©"), 5)));
    }

    #[test]
    fn numbers_are_corrected_as_in_browsers() {
        means("&#65;", "A", 5);
        means("&#65x", "A", 4);
        means("&#x41;", "A", 6);
        means("&#X4a", "J", 5);
        means("&#128;", "€", 6);
        means("&#x81;", "\u{81}", 6);
        means("&#0;", "\u{FFFD}", 4);
        means("&#xD800;", "\u{FFFD}", 8);
        means("&#x110000;", "\u{FFFD}", 10);
        means("&#99999999999999999999;", "\u{FFFD}", 23);
        assert_eq!(text("&#;"), None);
        assert_eq!(text("&#x;"), None);
        assert_eq!(text("&#xg"), None);
        assert_eq!(text("&#"), None);
    }
}
