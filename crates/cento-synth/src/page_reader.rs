//! Pages as `cento index` reads them: text, offsets, words, grams and chunks, from the same
//! functions that the index calls.

use std::collections::HashSet;

use cento_fingerprint::{ChunkHash, grams, packed_word_hash, word_hash};
use cento_text::chunk::{ChunkKind, chunks};
use cento_text::html::{Extractor, Options};
use cento_text::normal::{Normalisation, normalise};
use cento_text::words::WordScanner;

use crate::error::{Error, Result};
use crate::html;
use crate::pages::SynthPage;

/// Reads pages. Its buffers are reused.
#[derive(Default)]
pub(crate) struct PageReader {
    extractor: Extractor,
    scanner: WordScanner,
    words: Vec<u64>,
    normalised: String,
}

/// The text of a page, with the offsets of its blocks.
pub(crate) struct PageReading {
    pub(crate) text: String,
    /// The offset of each block in the text, in bytes.
    pub(crate) blocks: Vec<usize>,
}

/// The grams and chunks of a text, as sets.
pub(crate) struct TextSets {
    pub(crate) grams: HashSet<u64, IdentityHasherBuilder>,
    pub(crate) chunks: HashSet<[u8; 16]>,
}

/// A hasher that returns its input: gram hashes are already well mixed.
#[derive(Clone, Copy, Default)]
pub(crate) struct IdentityHasherBuilder;

impl std::hash::BuildHasher for IdentityHasherBuilder {
    type Hasher = IdentityHasher;

    fn build_hasher(&self) -> IdentityHasher {
        IdentityHasher(0)
    }
}

pub(crate) struct IdentityHasher(u64);

impl std::hash::Hasher for IdentityHasher {
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

impl PageReader {
    /// The text of a page in an index with default settings.
    pub(crate) fn text(&mut self, html: &str) -> String {
        self.extractor
            .extract(html, &Options::default())
            .text
            .clone()
    }

    /// Renders and reads a page, and finds its blocks in the text.
    pub(crate) fn page(&mut self, page: &SynthPage) -> Result<PageReading> {
        let html = html::render(page);
        self.rendered(page, &html)
    }

    /// Like [`PageReader::page`], for a page that is already rendered.
    pub(crate) fn rendered(&mut self, page: &SynthPage, html: &str) -> Result<PageReading> {
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
        Ok(PageReading { text, blocks })
    }

    /// The distinct grams of `k` words of a text.
    pub(crate) fn grams(&mut self, text: &str, k: u32) -> HashSet<u64, IdentityHasherBuilder> {
        let words = &mut self.words;
        words.clear();
        self.scanner.scan_keys(text, |key| {
            words.push(key.either(packed_word_hash, word_hash));
        });
        let mut set = HashSet::with_capacity_and_hasher(words.len(), IdentityHasherBuilder);
        grams(words, k as usize, |gram, _| {
            set.insert(gram);
        });
        set
    }

    /// The grams and chunks of a text. Chunks are normalised paragraphs, hashed as an index does by
    /// default.
    pub(crate) fn sets(&mut self, text: &str, k: u32) -> TextSets {
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
        TextSets {
            grams: self.grams(text, k),
            chunks: found,
        }
    }
}

/// The position of `needle` at or after `from`. Searching for a whole paragraph would preprocess
/// all of it; its first bytes are enough.
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

/// The overlap of two sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GramOverlap {
    /// |A ∩ B| / |A ∪ B|.
    pub(crate) resemblance: f64,
    /// |A ∩ B| / |A|.
    pub(crate) of_first: f64,
    /// |A ∩ B| / |B|.
    pub(crate) of_second: f64,
}

/// Compares two sets of grams.
pub(crate) fn compare(
    first: &HashSet<u64, IdentityHasherBuilder>,
    second: &HashSet<u64, IdentityHasherBuilder>,
) -> GramOverlap {
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
    GramOverlap {
        resemblance: ratio(common, first.len() + second.len() - common),
        of_first: ratio(common, first.len()),
        of_second: ratio(common, second.len()),
    }
}
