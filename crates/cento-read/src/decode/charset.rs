//! Converts any character set to UTF-8.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::prescan::prescan;
use super::sniff::{Utf32, utf16_without_mark, utf32_mark};
use crate::{Reject, Rejected};

/// The number of bytes used to guess the character set. More do not improve the guess.
const GUESSED_FROM: usize = 64 << 10;

/// What is known about the character set of a page apart from its content.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clues<'a> {
    /// The label in the HTTP header.
    pub(crate) label: Option<&'a str>,
    /// Whether the page is markup, which may declare its character set.
    pub(crate) markup: bool,
    /// The URL of the page, whose country is used for guessing.
    pub(crate) url: Option<&'a str>,
}

/// Decodes `content`. UTF-8, the most common case, is not copied.
pub(crate) fn decode(content: Vec<u8>, clues: Clues<'_>) -> Result<String, Rejected> {
    if let Some(text) = utf32(&content) {
        return accept_as(text, "UTF-32");
    }
    let (content, declared) = match Encoding::for_bom(&content) {
        Some((encoding, length)) if encoding == UTF_8 => {
            (without_front(content, length), Some(UTF_8))
        }
        Some((encoding, length)) => {
            let (text, _) = encoding.decode_without_bom_handling(&content[length..]);
            return accept(text.into_owned(), encoding);
        }
        None => {
            let declared = declared(&content, clues);
            (content, declared)
        }
    };
    let Some(encoding) = declared else {
        let content = match String::from_utf8(content) {
            Ok(text) if !has_escapes(text.as_bytes()) => return Ok(text),
            Ok(text) => text.into_bytes(),
            Err(error) => error.into_bytes(),
        };
        let encoding = guess(&content, clues.url);
        let (text, _) = encoding.decode_without_bom_handling(&content);
        return accept(text.into_owned(), encoding);
    };
    let content = if encoding == UTF_8 {
        match String::from_utf8(content) {
            Ok(text) => return Ok(text),
            Err(error) => error.into_bytes(),
        }
    } else {
        content
    };
    let (text, malformed) = match encoding.decode_without_bom_handling(&content) {
        // ASCII only: the bytes are the text.
        (Cow::Borrowed(_), _) => {
            return String::from_utf8(content).map_err(|_| undecodable(encoding.name(), 0));
        }
        (Cow::Owned(text), malformed) => (text, malformed),
    };
    if malformed && is_mostly_broken(&text) {
        let guessed = guess(&content, clues.url);
        if guessed != encoding {
            let (again, _) = guessed.decode_without_bom_handling(&content);
            if broken(&again) < broken(&text) {
                return accept(again.into_owned(), guessed);
            }
        }
    }
    accept(text, encoding)
}

/// The character set that the server or else the page declares.
fn declared(content: &[u8], clues: Clues<'_>) -> Option<&'static Encoding> {
    let by_server = clues
        .label
        .and_then(|label| Encoding::for_label_no_replacement(label.as_bytes()));
    // Only a page in UTF-16 has zeros in half of its bytes, whatever is declared, and a page
    // without zeros is not in UTF-16.
    if let Some(encoding) = utf16_without_mark(content) {
        return Some(match by_server {
            Some(declared) if declared == UTF_16LE || declared == UTF_16BE => declared,
            _ => encoding,
        });
    }
    let has_zeros = memchr::memchr(0, &content[..content.len().min(GUESSED_FROM)]).is_some();
    let by_server =
        by_server.filter(|encoding| has_zeros || !(*encoding == UTF_16LE || *encoding == UTF_16BE));
    by_server.or_else(|| clues.markup.then(|| prescan(content)).flatten())
}

/// Whether there are escape sequences of ISO-2022-JP, the only encoding that looks like ASCII.
fn has_escapes(content: &[u8]) -> bool {
    memchr::memmem::find(content, b"\x1b$").is_some()
}

fn guess(content: &[u8], url: Option<&str>) -> &'static Encoding {
    if !has_escapes(content) && str::from_utf8(content).is_ok() {
        return UTF_8;
    }
    // Long pages often begin with markup only: begin at the first byte that is not ASCII.
    let begin = content
        .iter()
        .position(|byte| !byte.is_ascii() || *byte == 0x1b);
    let begin = begin.unwrap_or(0).saturating_sub(1024);
    let end = content.len().min(begin + GUESSED_FROM);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&content[begin..end], end == content.len());
    let country = url.and_then(top_level_domain);
    detector.guess(country.as_deref().map(str::as_bytes), Utf8Detection::Allow)
}

/// The top-level domain of `url`, in lower-case ASCII as the detector expects it.
fn top_level_domain(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?.split(':').next()?;
    let label = host.trim_end_matches('.').rsplit_once('.')?.1;
    let fits = label
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let named = label.bytes().any(|byte| byte.is_ascii_alphabetic());
    (fits && named).then(|| label.to_ascii_lowercase())
}

/// The number of replacement characters.
fn broken(text: &str) -> usize {
    memchr::memmem::find_iter(text.as_bytes(), "\u{fffd}").count()
}

/// Whether a text was probably decoded with the wrong character set: more than half of its
/// non-ASCII characters are replacement characters.
fn is_mostly_broken(text: &str) -> bool {
    let beyond = text
        .chars()
        .filter(|character| !character.is_ascii())
        .count();
    broken(text) * 2 > beyond
}

/// Accepts a text unless more than a quarter of it is invalid.
///
/// With the wrong character set, markup and spaces are still decoded correctly, so even an
/// unreadable page rarely has half of its characters invalid. A readable page with a passage in
/// another character set rarely has a tenth. A quarter is well between the two.
fn accept(text: String, encoding: &'static Encoding) -> Result<String, Rejected> {
    accept_as(text, encoding.name())
}

fn accept_as(text: String, encoding: &str) -> Result<String, Rejected> {
    let broken = broken(&text);
    if broken > 0 && broken * 4 > text.chars().count() {
        return Err(undecodable(encoding, broken));
    }
    Ok(text)
}

fn undecodable(encoding: &str, broken: usize) -> Rejected {
    Rejected {
        reason: Reject::Undecodable,
        detail: format!("decoded as {encoding}, {broken} characters are invalid"),
    }
}

/// Decodes UTF-32 with a byte order mark, which browsers do not know: the mark of its little-endian
/// form begins with that of UTF-16.
fn utf32(content: &[u8]) -> Option<String> {
    let read: fn([u8; 4]) -> u32 = match utf32_mark(content)? {
        Utf32::Little => u32::from_le_bytes,
        Utf32::Big => u32::from_be_bytes,
    };
    let (letters, rest) = content.get(4..)?.as_chunks::<4>();
    let letter = |&bytes| char::from_u32(read(bytes)).unwrap_or(char::REPLACEMENT_CHARACTER);
    let mut text: String = letters.iter().map(letter).collect();
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    Some(text)
}

fn without_front(mut content: Vec<u8>, length: usize) -> Vec<u8> {
    content.drain(..length);
    content
}
