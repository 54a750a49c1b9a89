//! What is counted in the text of one block.

use crate::html::{Extract, Tag, TextBlock};

/// Words that hint at the purpose of a short text, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Cue {
    Consent,
    Rights,
    Account,
    Commerce,
    Share,
    Reply,
    More,
    Script,
}

impl Cue {
    pub(super) const LABELS: &[&str] = &[
        "consent", "rights", "account", "commerce", "share", "reply", "more", "script",
    ];

    fn of(word: &[u8]) -> Option<Cue> {
        Some(match word {
            b"cookie" | b"cookies" | b"consent" | b"gdpr" | b"privacy" | b"datenschutz"
            | b"policy" | b"terms" | b"preferences" => Cue::Consent,
            b"copyright" | b"reserved" | b"rights" | b"trademark" | b"trademarks"
            | b"impressum" | b"disclaimer" => Cue::Rights,
            b"login" | b"log" | b"sign" | b"subscribe" | b"subscriber" | b"register"
            | b"password" | b"newsletter" | b"email" | b"account" | b"signup" | b"inbox"
            | b"anmelden" => Cue::Account,
            b"cart" | b"checkout" | b"shipping" | b"wishlist" | b"buy" | b"sale" | b"basket"
            | b"stock" | b"delivery" | b"returns" | b"compare" => Cue::Commerce,
            b"share" | b"tweet" | b"facebook" | b"twitter" | b"linkedin" | b"pinterest"
            | b"instagram" | b"whatsapp" | b"follow" | b"teilen" => Cue::Share,
            b"reply" | b"replies" | b"quote" | b"posted" | b"joined" | b"comments" | b"comment"
            | b"likes" | b"views" | b"votes" | b"ago" | b"reputation" | b"badges" => Cue::Reply,
            b"more" | b"view" | b"read" | b"see" | b"show" | b"related" | b"previous" | b"next"
            | b"mehr" => Cue::More,
            b"javascript" | b"browser" | b"enable" | b"loading" | b"please" | b"blocker" => {
                Cue::Script
            }
            _ => return None,
        })
    }
}

/// The longest word that is a cue, and the longest text in which cues are looked for: in running
/// text they mean nothing.
const LONGEST_CUE: usize = 12;
const LONGEST_CUED_TEXT: usize = 1_500;

/// A block of at least this many bytes, with few links, is running text.
const PROSE_BYTES: u32 = 80;

/// The counts of one block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockMeasure {
    pub(super) bytes: u32,
    pub(super) link_bytes: u32,
    pub(super) words: u32,
    /// Ends of sentences.
    pub(super) sentences: u32,
    pub(super) commas: u32,
    pub(super) digits: u32,
    pub(super) capitals: u32,
    /// Signs of currencies.
    pub(super) prices: u32,
    /// See [`Cue`].
    pub(super) cues: u8,
    pub(super) ends_sentence: bool,
    pub(super) is_prose: bool,
    /// A hash of the text.
    pub(super) hash: u64,
}

/// The text of a block.
pub(super) fn text_of<'a>(page: &'a Extract, block: &TextBlock) -> &'a str {
    page.text
        .get(block.begin as usize..block.end as usize)
        .unwrap_or_default()
}

pub(super) fn measure(page: &Extract, block: &TextBlock) -> BlockMeasure {
    let text = text_of(page, block);
    let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut measure = BlockMeasure {
        bytes,
        link_bytes: block.link_bytes.min(bytes),
        ..BlockMeasure::default()
    };
    measure.is_prose = bytes >= PROSE_BYTES && 3 * u64::from(block.link_bytes) < u64::from(bytes);
    let mut before = b' ';
    for &byte in text.as_bytes() {
        let class = CLASSES[usize::from(byte)];
        measure.digits += u32::from(class & DIGIT != 0);
        measure.capitals += u32::from(class & CAPITAL != 0);
        measure.commas += u32::from(class & COMMA != 0);
        measure.prices += u32::from(byte == b'$');
        measure.words += u32::from(class & SPACE == 0 && CLASSES[usize::from(before)] & SPACE != 0);
        measure.sentences +=
            u32::from(class & SPACE != 0 && CLASSES[usize::from(before)] & STOP != 0);
        before = byte;
    }
    measure.hash = hash(text.as_bytes());
    let last = text
        .trim_end_matches(['"', '\'', ')', '”', '’', '»', ']'])
        .chars()
        .last();
    measure.ends_sentence = matches!(
        last,
        Some('.' | '!' | '?' | '…' | ':' | '。' | '！' | '？' | '।')
    );
    if !text.is_ascii() {
        // Marks outside ASCII are rare enough for a search each.
        for character in text.chars() {
            measure.sentences += u32::from(matches!(character, '。' | '！' | '？' | '।'));
            measure.commas += u32::from(matches!(character, '、' | '，' | '؛' | '،'));
            measure.prices += u32::from(matches!(character, '€' | '£' | '¥' | '₹' | '₽'));
        }
    }
    measure.sentences += u32::from(measure.ends_sentence && last != Some(':'));
    if text.len() <= LONGEST_CUED_TEXT {
        measure.cues = cues(text);
    }
    measure
}

/// A hash of a text, eight bytes at a time.
fn hash(text: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| {
        (hash ^ word)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29)
    };
    let (words, rest) = text.as_chunks::<8>();
    let mut hash = text.len() as u64;
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    if let Some(last) = last.get_mut(..rest.len()) {
        last.copy_from_slice(rest);
    }
    mix(mix(hash, u64::from_le_bytes(last)), 1)
}

fn cues(text: &str) -> u8 {
    let mut cues = 0;
    for word in text.as_bytes().split(|byte| !byte.is_ascii_alphabetic()) {
        let mut small = [0; LONGEST_CUE];
        if word.len() > 2
            && let Some(small) = small.get_mut(..word.len())
        {
            small.copy_from_slice(word);
            small.make_ascii_lowercase();
            if let Some(cue) = Cue::of(small) {
                cues |= 1 << cue as u8;
            }
        }
    }
    if text.contains('©') {
        cues |= 1 << Cue::Rights as u8;
    }
    cues
}

const SPACE: u8 = 1;
const DIGIT: u8 = 1 << 1;
const CAPITAL: u8 = 1 << 2;
const COMMA: u8 = 1 << 3;
const STOP: u8 = 1 << 4;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        classes[i] = match byte {
            b' ' | b'\t' | b'\n' => SPACE,
            b'0'..=b'9' => DIGIT,
            b'A'..=b'Z' => CAPITAL,
            b',' | b';' => COMMA,
            b'.' | b'!' | b'?' => STOP,
            _ => 0,
        };
        i += 1;
    }
    classes
};

/// The level of a heading, or 0.
pub(super) fn heading_level(tag: Tag) -> u8 {
    match tag {
        Tag::H1 => 1,
        Tag::H2 => 2,
        Tag::H3 => 3,
        Tag::H4 => 4,
        Tag::H5 => 5,
        Tag::H6 => 6,
        _ => 0,
    }
}
