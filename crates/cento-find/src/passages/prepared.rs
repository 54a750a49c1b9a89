//! Pages that are prepared for comparison, and kept for the next pairs.
//!
//! A page of many pairs is needed in many batches of pairs, by all threads. Preparing a page takes
//! as long as comparing it with several others, so pages are kept as long as their share of the
//! memory allows.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use cento_align::{Document, Fold};
use cento_flow::{StageError, State};
use serde_json::Value;

/// The bytes of memory that a byte of text takes while it is compared.
pub(super) const GROWTH: u64 = 12;

/// The text of a page without its frame.
pub(super) struct PreparedPage {
    pub(super) document: Document<'static>,
    /// Where it begins in the text of the page, in bytes and in characters.
    pub(super) begin: usize,
    pub(super) begin_char: usize,
    /// The length of the whole text in bytes.
    pub(super) bytes: usize,
}

impl PreparedPage {
    pub(super) fn new(text: &str, content: Range<usize>, fold: Fold) -> PreparedPage {
        PreparedPage {
            begin: content.start,
            begin_char: text[..content.start].chars().count(),
            document: Document::folded(text[content].to_owned(), fold),
            bytes: text.len(),
        }
    }

    /// A byte of the text of the page in the document. None if it is in the frame.
    pub(super) fn place(&self, byte: u32) -> Option<u32> {
        let begin = u32::try_from(self.begin).ok()?;
        let place = byte.checked_sub(begin)?;
        ((place as usize) < self.document.text_bytes()).then_some(place)
    }
}

/// Prepared pages, by page number. It also reserves the memory of the pages that are being
/// compared. Parameters: `{"bytes": n, "kept": n}`, the memory of all of them, and the bytes of
/// text of those that are kept for later.
pub(super) struct PreparedPages {
    kept: usize,
    generations: Mutex<Generations>,
}

/// Pages that were used recently, and those that were used before. When the young ones have half of
/// the memory, the old ones are dropped and the young ones are the old ones.
#[derive(Default)]
struct Generations {
    young: HashMap<u32, Arc<PreparedPage>>,
    old: HashMap<u32, Arc<PreparedPage>>,
    /// Bytes of text of the young pages.
    bytes: usize,
}

impl PreparedPages {
    pub(super) const KIND: &str = "prepared-pages";

    pub(super) fn get(&self, page: u32) -> Option<Arc<PreparedPage>> {
        let generations = &mut *self.lock();
        if let Some(found) = generations.young.get(&page) {
            return Some(Arc::clone(found));
        }
        let found = generations.old.remove(&page)?;
        generations.add(page, Arc::clone(&found), self.kept);
        Some(found)
    }

    /// Keeps a page for later, if it is small enough.
    pub(super) fn insert(&self, page: u32, prepared: &Arc<PreparedPage>) {
        if prepared.bytes <= self.kept / 4 {
            self.lock().add(page, Arc::clone(prepared), self.kept);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Generations> {
        self.generations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generations {
    fn add(&mut self, page: u32, prepared: Arc<PreparedPage>, kept: usize) {
        if self.bytes + prepared.bytes > kept / 2 {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        let bytes = prepared.bytes;
        if self.young.insert(page, prepared).is_none() {
            self.bytes += bytes;
        }
    }
}

impl State for PreparedPages {
    fn create(parameters: &Value) -> Result<PreparedPages, StageError> {
        Ok(PreparedPages {
            kept: number(parameters, "kept") as usize,
            generations: Mutex::default(),
        })
    }

    fn weight(parameters: &Value) -> u64 {
        number(parameters, "bytes")
    }

    // Results do not depend on what is kept, so nothing is sent or stored.
    fn absorb(&self, _: &mut dyn Read) -> Result<(), StageError> {
        Ok(())
    }

    fn write(&self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

fn number(parameters: &Value, name: &str) -> u64 {
    let value = parameters.get(name).and_then(Value::as_u64);
    value.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(bytes: usize) -> Arc<PreparedPage> {
        let text = "a ".repeat(bytes / 2);
        Arc::new(PreparedPage::new(&text, 0..text.len(), Fold::None))
    }

    #[test]
    fn pages_that_are_used_are_kept_and_others_are_dropped_at_the_limit() {
        let pages = PreparedPages::create(&json!({ "bytes": 0, "kept": 1000 })).unwrap();
        for number in 0..100 {
            pages.insert(number, &page(100));
            assert!(pages.get(0).is_some(), "{number}");
            let held: usize = {
                let generations = pages.lock();
                let all = generations.young.values().chain(generations.old.values());
                all.map(|page| page.bytes).sum()
            };
            assert!(held <= 1000, "{held}");
        }
        assert!(pages.get(99).is_some());
        assert!(pages.get(50).is_none());
        // A page that would take most of the memory is not kept.
        pages.insert(200, &page(400));
        assert!(pages.get(200).is_none());
    }

    #[test]
    fn a_page_begins_after_its_frame() {
        let text = "Menü | Über uns. The text of the page.";
        let begin = text.find("The").unwrap();
        let page = PreparedPage::new(text, begin..text.len(), Fold::None);
        assert_eq!((page.begin, page.begin_char), (19, 17));
        assert_eq!(page.document.word_count(), 5);
    }
}
