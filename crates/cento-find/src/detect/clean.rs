//! Writes the inputs of a corpus without the detected pages, as `copies --filter` does.
//!
//! | findings | a page is removed if |
//! |---|---|
//! | `detect` | it is a target: the share of its chunks that are labels is above the threshold |
//! | `contamination` | it has at least the minimum share of an item |

use std::path::Path;

use cento_read::Fate;
use cento_store::Corpus;

use super::detect_tables::PAGES_TABLE;
use super::grams::{GRAMS, PLACES_TABLE};
use crate::copies::{Filtered, RecordFates, rewrite_inputs};
use crate::error::{Error, Result};
use crate::run::Findings;

/// A page that is removed, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct DetectedPage {
    /// The page.
    pub page_id: u64,
    /// Its URL.
    pub page: String,
    /// The share of its chunks that are labels, or of an item that is on it.
    pub share: f64,
    /// For contamination: the item with the largest share on the page.
    pub item: Option<String>,
}

/// Calls `each` with the detected pages. Those of `detect` are in the order of their table; a page
/// with several items comes several times.
pub fn detected_pages(
    findings: &Findings,
    mut each: impl FnMut(DetectedPage) -> Result<()>,
) -> Result<()> {
    if findings.record.analysis == GRAMS {
        for row in findings.rows(PLACES_TABLE)? {
            let row = row?;
            each(DetectedPage {
                page_id: row.page_id,
                page: row.page,
                share: row.share,
                item: Some(row.item),
            })?;
        }
        return Ok(());
    }
    for row in findings.rows(PAGES_TABLE)? {
        let row = row?;
        if row.target {
            each(DetectedPage {
                page_id: row.page_id,
                page: row.page,
                share: row.contains,
                item: None,
            })?;
        }
    }
    Ok(())
}

/// Writes the named inputs of a corpus, or all if none is named, to `folder` without the detected
/// pages. Calls `each` after each input.
///
/// The checks of [`crate::copies::filter`] precede the first write. The ids of the pages are in
/// memory, at 8 bytes each.
pub fn remove_detected(
    corpus: &Corpus,
    findings: &Findings,
    named: &[String],
    folder: &Path,
    overwrite: bool,
    memory: u64,
    each: impl FnMut(&Filtered) -> Result<()>,
) -> Result<()> {
    let limit = memory / 2;
    let mut pages: Vec<u64> = Vec::new();
    detected_pages(findings, |detected| {
        if pages.len() == pages.capacity() {
            // A page may have many items.
            pages.sort_unstable();
            pages.dedup();
        }
        let needed = 16 * (pages.len() as u64 + 1);
        if needed > limit {
            return Err(Error::Flow(cento_flow::Error::TooLittleMemory {
                limit,
                needed,
                reason: " for the ids of the detected pages".to_owned(),
            }));
        }
        pages.push(detected.page_id);
        Ok(())
    })?;
    pages.sort_unstable();
    pages.dedup();
    let mut pages = DetectedPages { pages, input: 0 };
    rewrite_inputs(corpus, named, folder, overwrite, &mut pages, each)
}

/// The ids of the detected pages, sorted.
struct DetectedPages {
    pages: Vec<u64>,
    /// The ordinal of the input.
    input: u32,
}

impl RecordFates for DetectedPages {
    fn open_input(&mut self, ordinal: u32) -> Result<()> {
        self.input = ordinal;
        Ok(())
    }

    fn fate(&mut self, record: u32) -> Result<Fate> {
        let page = u64::from(self.input) << 32 | u64::from(record);
        Ok(match self.pages.binary_search(&page) {
            Ok(_) => Fate::Drop,
            Err(_) => Fate::Keep,
        })
    }
}
