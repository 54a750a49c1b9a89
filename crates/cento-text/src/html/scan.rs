//! Byte searches: a table of byte classes, and searches optimised for short runs.

/// Whitespace in HTML: tab, line feed, form feed, carriage return and space.
pub(crate) const SPACE: u8 = 1;
/// Ends a tag name: whitespace, `/`, `>`.
pub(crate) const TAG_NAME_END: u8 = 1 << 1;
/// Ends an attribute name: whitespace, `/`, `>`, `=`.
pub(crate) const ATTRIBUTE_NAME_END: u8 = 1 << 2;
/// Ends an attribute value without quotes: whitespace, `>`.
pub(crate) const UNQUOTED_END: u8 = 1 << 3;
/// Cannot be copied to the text unchanged: whitespace, control characters, `&`, and the first byte
/// of the no-break space.
pub(crate) const TEXT_SPECIAL: u8 = 1 << 4;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        let mut class = 0;
        if matches!(byte, b'\t' | b'\n' | 0x0C | b'\r' | b' ') {
            class |= SPACE | TAG_NAME_END | ATTRIBUTE_NAME_END | UNQUOTED_END;
        }
        if matches!(byte, b'/' | b'>') {
            class |= TAG_NAME_END | ATTRIBUTE_NAME_END;
        }
        if byte == b'>' {
            class |= UNQUOTED_END;
        }
        if byte == b'=' {
            class |= ATTRIBUTE_NAME_END;
        }
        if byte <= b' ' || matches!(byte, b'&' | 0x7F | 0xC2) {
            class |= TEXT_SPECIAL;
        }
        classes[i] = class;
        i += 1;
    }
    classes
};

/// Whether `byte` is in `class`.
#[inline]
pub(crate) fn is(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// The first position from `from` on whose byte is in `class`.
#[inline]
pub(crate) fn find_class(bytes: &[u8], from: usize, class: u8) -> Option<usize> {
    let rest = bytes.get(from..)?;
    Some(from + rest.iter().position(|&byte| is(byte, class))?)
}

/// The first position from `from` on whose byte is not in `class`.
#[inline]
pub(crate) fn skip_class(bytes: &[u8], from: usize, class: u8) -> Option<usize> {
    let rest = bytes.get(from..)?;
    Some(from + rest.iter().position(|&byte| !is(byte, class))?)
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Sets the high bit of each byte of `word` that is less than `limit`. Only the lowest set bit is
/// reliable, because a borrow may set bits above it.
#[inline]
pub(crate) fn bytes_below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(LOW * u64::from(limit)) & !word & HIGH
}

/// Sets the high bit of each byte of `word` that equals `byte`; again only the lowest is reliable.
#[inline]
pub(crate) fn bytes_equal(word: u64, byte: u8) -> u64 {
    bytes_below(word ^ (LOW * u64::from(byte)), 1)
}

/// Loads eight bytes from `from` on as a little-endian number.
#[inline]
pub(crate) fn load(bytes: &[u8], from: usize) -> Option<u64> {
    let chunk = bytes.get(from..)?.first_chunk()?;
    Some(u64::from_le_bytes(*chunk))
}

/// The first `needle` from `from` on.
///
/// Half of the runs between two tags, and most attribute values, are shorter than 16 bytes. For
/// those, a call to [`memchr`], which dispatches to an implementation first, costs more than the
/// search. So the first 16 bytes are searched here with a single branch, since the position of the
/// needle is unpredictable.
#[inline]
pub(crate) fn find_byte(bytes: &[u8], from: usize, needle: u8) -> Option<usize> {
    let mut at = from;
    if let (Some(first), Some(second)) = (load(bytes, from), load(bytes, from + 8)) {
        let found = (bytes_equal(first, needle), bytes_equal(second, needle));
        if found.0 | found.1 != 0 {
            let (skip, found) = if found.0 != 0 {
                (0, found.0)
            } else {
                (8, found.1)
            };
            return Some(from + skip + (found.trailing_zeros() / 8) as usize);
        }
        at += 16;
    }
    Some(at + memchr::memchr(needle, bytes.get(at..)?)?)
}

/// The first byte of class [`ATTRIBUTE_NAME_END`] from `from` on.
#[inline]
pub(crate) fn find_attribute_name_end(bytes: &[u8], from: usize) -> Option<usize> {
    if let Some(word) = load(bytes, from) {
        let found = bytes_below(word, b' ' + 1)
            | bytes_equal(word, b'/')
            | bytes_equal(word, b'=')
            | bytes_equal(word, b'>');
        if found != 0 {
            let at = from + (found.trailing_zeros() / 8) as usize;
            // Control characters, which the first test also finds, belong to the name.
            if bytes
                .get(at)
                .is_some_and(|&byte| is(byte, ATTRIBUTE_NAME_END))
            {
                return Some(at);
            }
        }
    }
    find_class(bytes, from, ATTRIBUTE_NAME_END)
}

/// The first byte from `from` on that decoding changes: `&`, carriage return or NUL.
#[inline]
pub(crate) fn find_decoded(bytes: &[u8], from: usize) -> Option<usize> {
    Some(from + memchr::memchr3(b'&', b'\r', 0, bytes.get(from..)?)?)
}

/// The first byte of class [`TEXT_SPECIAL`] from `from` on, or the end.
#[inline]
pub(crate) fn find_special(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(word) = load(bytes, at) {
        let found = bytes_below(word, b' ' + 1)
            | bytes_equal(word, b'&')
            | bytes_equal(word, 0x7F)
            | bytes_equal(word, 0xC2);
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|&byte| !is(byte, TEXT_SPECIAL)) {
        at += 1;
    }
    at
}

/// The longest prefix of `text` that has at most `most` bytes.
pub(crate) fn prefix(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn byte_search_agrees_with_a_simple_loop(
            bytes in proptest::collection::vec(prop_oneof![Just(b'<'), Just(b';'), Just(b'='), Just(0xBC), any::<u8>()], 0..60),
            from in 0usize..64,
        ) {
            let naive = (from..bytes.len()).find(|&i| bytes[i] == b'<');
            prop_assert_eq!(find_byte(&bytes, from, b'<'), naive);
        }

        #[test]
        fn class_search_agrees_with_a_simple_loop(
            bytes in proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'&'), Just(b'='), Just(b' '), 0u8..0x21, any::<u8>()], 0..40),
            from in 0usize..42,
        ) {
            let naive = |class| (from..bytes.len()).find(|&i| is(bytes[i], class));
            prop_assert_eq!(find_attribute_name_end(&bytes, from), naive(ATTRIBUTE_NAME_END));
            prop_assert_eq!(find_special(&bytes, from), naive(TEXT_SPECIAL).unwrap_or(bytes.len().max(from)));
        }

        #[test]
        fn a_prefix_ends_at_the_last_possible_character_boundary(text in ".{0,12}", most in 0usize..40) {
            let prefix = prefix(&text, most);
            prop_assert!(text.starts_with(prefix) && prefix.len() <= most);
            prop_assert!(text[prefix.len()..].chars().next().is_none_or(|next| prefix.len() + next.len_utf8() > most));
        }

        #[test]
        fn the_lowest_flag_of_a_word_is_exact(word in any::<[u8; 8]>(), limit in 1u8..0x80) {
            let flags = bytes_below(u64::from_le_bytes(word), limit);
            let naive = word.iter().position(|&byte| byte < limit);
            prop_assert_eq!((flags != 0).then(|| (flags.trailing_zeros() / 8) as usize), naive);
        }
    }
}
