//! Classifies references: whether one is plain, and which special characters it contains.

/// The shape of a plain reference.
pub(super) struct ReferenceShape {
    /// Its length without the fragment.
    pub(super) length: usize,
    /// The length of its scheme, if it has one.
    pub(super) scheme: Option<usize>,
    /// The classes of its characters, and possibly [`DOT_SEGMENT`].
    pub(super) seen: u8,
}

impl ReferenceShape {
    /// Returns the shape of `reference`; `None` if it is not plain.
    #[inline]
    pub(super) fn of(reference: &str) -> Option<Self> {
        let bytes = reference.as_bytes();
        let mut shape = ReferenceShape {
            length: bytes.len(),
            scheme: None,
            seen: 0,
        };
        let mut before = SLASH;
        for (position, &byte) in bytes.iter().enumerate() {
            let class = CLASSES[usize::from(byte)];
            match class {
                PLAIN => {}
                DOT if before == SLASH => shape.seen |= DOT_SEGMENT,
                HASH => {
                    shape.length = position;
                    break;
                }
                COLON if shape.seen & (COLON | SLASH | MARK) == 0 => {
                    // The text before the first colon must be a scheme; anything else is not plain.
                    if !is_scheme(&bytes[..position]) {
                        return None;
                    }
                    shape.scheme = Some(position);
                    if !matches!(position, 4 | 5) || !bytes[..4].eq_ignore_ascii_case(b"http") {
                        // The target is not on the web, so the rest does not matter.
                        shape.length = position + 1;
                        break;
                    }
                }
                OTHER => return None,
                _ => {}
            }
            shape.seen |= class;
            before = class;
        }
        Some(shape)
    }
}

fn is_scheme(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

// Character classes, as bits.

/// An ordinary character.
const PLAIN: u8 = 0;
const DOT: u8 = 1;
const SLASH: u8 = 2;
/// The question mark before the query.
pub(super) const MARK: u8 = 4;
pub(super) const COLON: u8 = 8;
pub(super) const PERCENT: u8 = 16;
const HASH: u8 = 32;
/// A character to which some other rule may apply.
const OTHER: u8 = 64;
/// Not a class: a dot at the beginning or after a slash, so there may be a segment `.` or `..`.
pub(super) const DOT_SEGMENT: u8 = 128;

const CLASSES: [u8; 256] = {
    let mut classes = [OTHER; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => PLAIN,
            b'-' | b'_' | b'~' | b'!' | b'$' | b'&' | b'(' | b')' | b'*' | b'+' | b',' | b';'
            | b'=' | b'@' => PLAIN,
            b'.' => DOT,
            b'/' => SLASH,
            b'?' => MARK,
            b':' => COLON,
            b'%' => PERCENT,
            b'#' => HASH,
            _ => OTHER,
        };
        byte += 1;
    }
    classes
};
