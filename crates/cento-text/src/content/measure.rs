//! What is counted in the text of one block.

use super::vocabulary::{Vocabulary, pack};
use super::word_bits::WordBits;
use crate::html::{Extract, Tag, TextBlock};
use std::ops::Range;

macro_rules! cues {
    ($($variant:ident $label:literal: $($word:literal)|+,)*) => {
        /// Words that hint at the purpose of a short text, one bit each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Cue { $($variant,)* }

        impl Cue {
            pub(super) const LABELS: &[&str] = &[$($label,)*];
        }

        const CUES: &[(&[u8], Cue)] = &[$($(($word, Cue::$variant),)+)*];
    };
}

cues! {
    Consent "consent": b"cookie" | b"cookies" | b"consent" | b"gdpr" | b"privacy" | b"datenschutz"
        | b"policy" | b"terms" | b"preferences",
    Rights "rights": b"copyright" | b"reserved" | b"rights" | b"trademark" | b"trademarks"
        | b"impressum" | b"disclaimer" | b"vorbehalten" | b"droits" | b"webmaster" | b"derechos"
        | b"diritti",
    Account "account": b"login" | b"log" | b"sign" | b"subscribe" | b"subscriber" | b"register"
        | b"password" | b"newsletter" | b"email" | b"account" | b"signup" | b"inbox" | b"anmelden"
        | b"abonnieren" | b"connexion" | b"registrieren",
    Commerce "commerce": b"cart" | b"checkout" | b"shipping" | b"wishlist" | b"buy" | b"sale"
        | b"basket" | b"stock" | b"delivery" | b"returns" | b"compare" | b"warenkorb"
        | b"versand" | b"lieferzeit" | b"livraison" | b"panier",
    Share "share": b"share" | b"tweet" | b"facebook" | b"twitter" | b"linkedin" | b"pinterest"
        | b"instagram" | b"whatsapp" | b"follow" | b"teilen" | b"partager" | b"drucken"
        | b"imprimer" | b"compartir" | b"condividi" | b"versenden",
    Reply "reply": b"reply" | b"replies" | b"quote" | b"posted" | b"joined" | b"comments"
        | b"comment" | b"likes" | b"views" | b"votes" | b"ago" | b"reputation" | b"badges"
        | b"kommentar" | b"kommentare" | b"commentaire" | b"commentaires" | b"comentario"
        | b"comentarios" | b"commenti" | b"reacties" | b"antworten" | b"responder" | b"rispondi"
        | b"trackback" | b"trackbacks" | b"registriert",
    More "more": b"more" | b"view" | b"read" | b"see" | b"show" | b"related" | b"previous"
        | b"next" | b"mehr" | b"weiterlesen" | b"lire" | b"suite" | b"leer" | b"leggi",
    Script "script": b"javascript" | b"browser" | b"enable" | b"loading" | b"please" | b"blocker",
}

/// The longest text in which cues are looked for: in running text they mean nothing.
const LONGEST_CUED_TEXT: usize = 1_500;

/// A block of at least this many bytes, with few links, is running text.
const PROSE_BYTES: u32 = 80;

/// The counts of one block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockMeasure {
    pub(super) bytes: u32,
    pub(super) link_bytes: u32,
    /// The share of links.
    pub(super) links: u16,
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

/// `part` in thousandths of `whole`; 0 if there is nothing.
#[inline]
pub(super) fn share(part: u32, whole: u32) -> i64 {
    if whole == 0 {
        0
    } else {
        i64::from(part) * 1000 / i64::from(whole)
    }
}

/// Where the text of a block is.
pub(super) fn range_of(block: &TextBlock) -> Range<usize> {
    block.begin as usize..block.end as usize
}

/// The text of a block.
pub(super) fn text_of<'a>(page: &'a Extract, block: &TextBlock) -> &'a str {
    page.text.get(range_of(block)).unwrap_or_default()
}

/// Measures a block of a page, given the words of the text.
pub(super) fn measure(page: &Extract, words: &WordBits, block: &TextBlock) -> BlockMeasure {
    let text = text_of(page, block);
    let range = range_of(block);
    let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut measure = BlockMeasure {
        bytes,
        link_bytes: block.link_bytes.min(bytes),
        ..BlockMeasure::default()
    };
    measure.links = u16::try_from(share(measure.link_bytes, bytes)).unwrap_or(u16::MAX);
    measure.is_prose = bytes >= PROSE_BYTES && 3 * u64::from(block.link_bytes) < u64::from(bytes);
    measure.count_characters(text.as_bytes());
    measure.hash = hash(text.as_bytes());
    let last = text
        .trim_end_matches(['"', '\'', ')', '”', '’', '»', ']'])
        .chars()
        .last();
    measure.ends_sentence = matches!(
        last,
        Some('.' | '!' | '?' | '…' | ':' | '。' | '！' | '？' | '।')
    );
    measure.sentences += u32::from(measure.ends_sentence && last != Some(':'));
    let is_short = text.len() <= LONGEST_CUED_TEXT;
    words.each_other(range.clone(), |index| {
        let character = page.text.get(index..).and_then(|rest| rest.chars().next());
        match character {
            Some('。' | '！' | '？' | '।') => measure.sentences += 1,
            Some('、' | '，' | '؛' | '،') => measure.commas += 1,
            Some('€' | '£' | '¥' | '₹' | '₽') => measure.prices += 1,
            Some('©') if is_short => measure.cues |= 1 << Cue::Rights as u8,
            _ => {}
        }
    });
    if is_short {
        let text = page.text.as_bytes();
        words.each_letters(range, |word| {
            if may_be_cue(text, &word)
                && let Some(cue) = pack(text, word).and_then(|word| CUE_WORDS.get(word))
            {
                measure.cues |= 1 << cue as u8;
            }
        });
    }
    measure
}

/// A hash of a text, eight bytes at a time.
pub(super) fn hash(text: &[u8]) -> u64 {
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

static CUE_WORDS: Vocabulary<Cue, { CUES.len() }, 512> = Vocabulary::new(CUES);

/// The lengths of the cues by their first letter, one bit each.
static CUE_LENGTHS: [u32; 32] = {
    let mut lengths = [0; 32];
    let mut i = 0;
    while i < CUES.len() {
        let word = CUES[i].0;
        lengths[(word[0] & 31) as usize] |= 1 << word.len();
        i += 1;
    }
    lengths
};

/// Whether there is a cue with the first letter and the length of a word, in any case.
#[inline]
fn may_be_cue(text: &[u8], word: &Range<usize>) -> bool {
    let first = text.get(word.start).copied().unwrap_or_default();
    word.len() < 32 && CUE_LENGTHS[usize::from(first & 31)] >> word.len() & 1 == 1
}

/// Bytes are counted in as many lanes as a vector register has.
const LANES: usize = 16;

/// Counts of bytes by lane. A lane counts up to 255.
#[derive(Default)]
struct ByteCounts {
    digits: [u8; LANES],
    capitals: [u8; LANES],
    commas: [u8; LANES],
    prices: [u8; LANES],
    words: [u8; LANES],
    sentences: [u8; LANES],
}

impl ByteCounts {
    /// Counts bytes, given the byte before each.
    #[inline]
    fn add(&mut self, bytes: [u8; LANES], before: [u8; LANES]) {
        for lane in 0..LANES {
            let (byte, before) = (bytes[lane], before[lane]);
            self.digits[lane] += u8::from(byte.wrapping_sub(b'0') < 10);
            self.capitals[lane] += u8::from(byte.wrapping_sub(b'A') < 26);
            self.commas[lane] += u8::from((byte == b',') | (byte == b';'));
            self.prices[lane] += u8::from(byte == b'$');
            self.words[lane] += u8::from(!is_space(byte) & is_space(before));
            self.sentences[lane] += u8::from(is_space(byte) & is_stop(before));
        }
    }
}

#[inline]
fn is_space(byte: u8) -> bool {
    (byte == b' ') | (byte == b'\n') | (byte == b'\t')
}

#[inline]
fn is_stop(byte: u8) -> bool {
    (byte == b'.') | (byte == b'!') | (byte == b'?')
}

impl BlockMeasure {
    fn count_characters(&mut self, text: &[u8]) {
        let mut last = b' ';
        for part in text.chunks(LANES * 255) {
            let mut counts = ByteCounts::default();
            let (whole, rest) = part.as_chunks::<LANES>();
            let mut count = |bytes: [u8; LANES]| {
                let mut before = [last; LANES];
                before[1..].copy_from_slice(&bytes[..LANES - 1]);
                last = bytes[LANES - 1];
                counts.add(bytes, before);
            };
            whole.iter().copied().for_each(&mut count);
            // Spaces after the text are no words.
            let mut padded = [b' '; LANES];
            if let Some(start) = padded.get_mut(..rest.len())
                && !rest.is_empty()
            {
                start.copy_from_slice(rest);
                count(padded);
            }
            // But a space after a full stop would end a sentence, which the text does not.
            let ends = rest.last().copied().is_some_and(is_stop);
            let sum = |lanes: [u8; LANES]| lanes.into_iter().map(u32::from).sum::<u32>();
            self.digits += sum(counts.digits);
            self.capitals += sum(counts.capitals);
            self.commas += sum(counts.commas);
            self.prices += sum(counts.prices);
            self.words += sum(counts.words);
            self.sentences += sum(counts.sentences) - u32::from(ends);
        }
    }
}

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
