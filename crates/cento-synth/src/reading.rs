//! Pages as `cento index` reads them: text, places, words, grams and chunks, by the same calls that
//! the index makes.

use std::collections::HashSet;

use cento_fingerprint::{ChunkHash, grams, packed_word_hash, word_hash};
use cento_text::chunk::{ChunkKind, chunks};
use cento_text::html::{Extractor, Options};
use cento_text::normal::{Normalisation, normalise};
use cento_text::words::WordScanner;

use crate::error::{Error, Result};
use crate::html;
use crate::pages::Page;

/// Reads pages; its buffers are kept from page to page.
#[derive(Default)]
pub(crate) struct Reader {
    extractor: Extractor,
    scanner: WordScanner,
    words: Vec<u64>,
    normalised: String,
}

/// A page and what it says.
pub(crate) struct Reading {
    pub(crate) text: String,
    /// Where each block of the page begins in the text, in bytes.
    pub(crate) blocks: Vec<usize>,
}

/// The grams and chunks of a text, as sets.
pub(crate) struct Sets {
    pub(crate) grams: HashSet<u64, Plain>,
    pub(crate) chunks: HashSet<[u8; 16]>,
}

/// Gram hashes are mixed already.
#[derive(Clone, Copy, Default)]
pub(crate) struct Plain;

impl std::hash::BuildHasher for Plain {
    type Hasher = PlainHasher;

    fn build_hasher(&self) -> PlainHasher {
        PlainHasher(0)
    }
}

pub(crate) struct PlainHasher(u64);

impl std::hash::Hasher for PlainHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

impl Reader {
    /// The text that an index with default settings keeps of a page.
    pub(crate) fn text(&mut self, html: &str) -> String {
        self.extractor
            .extract(html, &Options::default())
            .text
            .clone()
    }

    /// Renders and reads a page, and finds its blocks in the text.
    pub(crate) fn page(&mut self, page: &Page) -> Result<Reading> {
        let html = html::render(page);
        self.rendered(page, &html)
    }

    /// The same for a page that was rendered already.
    pub(crate) fn rendered(&mut self, page: &Page, html: &str) -> Result<Reading> {
        let text = self.text(html);
        let mut blocks = Vec::with_capacity(page.body.blocks.len());
        let mut done = 0;
        for block in &page.body.blocks {
            let Some(found) = find(text.as_bytes(), done, block.prose.text.as_bytes()) else {
                return Err(Error::Misread {
                    url: page.url.clone(),
                    detail: format!("`{}` is not in its text", block.prose.text),
                });
            };
            blocks.push(found);
            done = found + block.prose.text.len();
        }
        Ok(Reading { text, blocks })
    }

    /// The distinct grams of `k` words of a text.
    pub(crate) fn grams(&mut self, text: &str, k: u32) -> HashSet<u64, Plain> {
        let words = &mut self.words;
        words.clear();
        self.scanner.scan_keys(text, |key| {
            words.push(key.either(packed_word_hash, word_hash));
        });
        let mut set = HashSet::with_capacity_and_hasher(words.len(), Plain);
        grams(words, k as usize, |gram, _| {
            set.insert(gram);
        });
        set
    }

    /// Grams and chunks: paragraphs, evened out and hashed as is the default of an index.
    pub(crate) fn sets(&mut self, text: &str, k: u32) -> Sets {
        let mut found = HashSet::new();
        let normalised = &mut self.normalised;
        chunks(text, ChunkKind::Paragraph, |range| {
            normalised.clear();
            normalise(
                text.get(range).unwrap_or_default(),
                Normalisation::SpaceCase,
                normalised,
            );
            if !normalised.is_empty() {
                found.insert(ChunkHash::Blake3.hash128(normalised.as_bytes()));
            }
        });
        Sets {
            grams: self.grams(text, k),
            chunks: found,
        }
    }
}

/// Where the needle is, at or after `from`. A search for all of a paragraph would first study the
/// paragraph; its first bytes do.
fn find(text: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    let beginning = needle.get(..needle.len().min(24))?;
    let mut at = from;
    loop {
        at += memchr::memmem::find(text.get(at..)?, beginning)?;
        if text.get(at..)?.starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
}

/// How much two sets have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Common {
    /// |A ∩ B| / |A ∪ B|.
    pub(crate) resemblance: f64,
    /// |A ∩ B| / |A|.
    pub(crate) of_first: f64,
    /// |A ∩ B| / |B|.
    pub(crate) of_second: f64,
}

/// Compares two sets of grams.
pub(crate) fn compare(first: &HashSet<u64, Plain>, second: &HashSet<u64, Plain>) -> Common {
    let (small, large) = if first.len() <= second.len() {
        (first, second)
    } else {
        (second, first)
    };
    let common = small.iter().filter(|gram| large.contains(gram)).count();
    let ratio = |part: usize, whole: usize| {
        if whole == 0 {
            0.0
        } else {
            part as f64 / whole as f64
        }
    };
    Common {
        resemblance: ratio(common, first.len() + second.len() - common),
        of_first: ratio(common, first.len()),
        of_second: ratio(common, second.len()),
    }
}
