//! What pages and originals share, from the sets of their chunks.
//!
//! `detect` attributes each chunk of a page to one original: that is where the page may have it
//! from. A sentence about one page and one original must be true of these two, whatever other
//! originals have, and so must the number of pages and originals with text in common.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use cento_labels::Labels;
use serde::{Deserialize, Serialize};

use super::detect_tables::{DetectedPageRow, PAGES_TABLE};
use super::matching::LABELS_TABLE;
use super::moments::{real, share};
use super::params::LabelSet;
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::provenance::{read_labels, table_of};
use crate::run::Findings;

/// The pages and originals that have a chunk in common, attributed or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharingSets {
    /// Pages with a chunk of an original.
    pub pages: u64,
    /// The hosts of these pages; those without a host count as one.
    pub sites: u64,
    /// Originals with a chunk that is on a page.
    pub originals: u64,
}

impl SharingSets {
    /// Counts them in the findings of `detect` with the labels of all originals.
    pub(super) fn of(set: &LabelSet, detected: &Findings) -> Result<SharingSets> {
        let mut sites: BTreeSet<Option<String>> = BTreeSet::new();
        let mut pages = 0;
        for row in detected.rows(PAGES_TABLE)? {
            let DetectedPageRow { site, .. } = row?;
            pages += 1;
            if !sites.contains(&site) {
                sites.insert(site);
            }
        }
        // Both tables are in the order of the labels.
        let mut found = detected.rows(LABELS_TABLE)?;
        let mut next = found.next().transpose()?;
        let mut originals: HashSet<u32> = HashSet::new();
        for row in read_labels(&table_of(set.labels().path()))? {
            let row = row?;
            let Some(label) = &next else {
                break;
            };
            if label.hash == row.hash {
                originals.extend(row.originals);
                next = found.next().transpose()?;
            }
        }
        Ok(SharingSets {
            pages,
            sites: sites.len() as u64,
            originals: originals.len() as u64,
        })
    }
}

/// What a page and an original have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SharedChunks {
    /// Chunks of the page, with repetitions, that are labels of the original.
    pub(super) chunks: u64,
    /// Their share of the chunks of the page, without stop chunks.
    pub(super) of_page: f64,
    /// The share of the labels of the original that are on the page.
    pub(super) of_original: f64,
}

/// Reads the chunks of pages and compares them.
pub(super) struct ChunkSets {
    pub(super) labels: Arc<Labels>,
    /// Whether stop chunks count like others.
    pub(super) no_stop: bool,
}

impl ChunkSets {
    /// Returns the chunks of a page, without stop chunks.
    pub(super) fn chunks(&self, pages: &CorpusPages, page_id: u64) -> Result<Vec<[u8; 16]>> {
        let Some(corpus) = pages.corpora().first() else {
            return Ok(Vec::new());
        };
        let chunks = corpus.chunks(page_id).map_err(Error::from)?;
        let hashes = chunks.into_iter().map(|chunk| chunk.chunk_hash);
        let counts = |hash: &[u8; 16]| self.no_stop || !self.labels.is_stop(hash);
        Ok(hashes.filter(counts).collect())
    }

    /// Compares the chunks of a page with those of an original.
    pub(super) fn compare(&self, page: &[[u8; 16]], original: &[[u8; 16]]) -> SharedChunks {
        let is_label = |hash: &&[u8; 16]| self.labels.find(hash).is_some();
        let labels: HashSet<&[u8; 16]> = original.iter().filter(is_label).collect();
        let chunks = page.iter().filter(|hash| labels.contains(hash));
        let chunks = chunks.count() as u64;
        let on_page: HashSet<&[u8; 16]> = page.iter().collect();
        let found = labels.iter().filter(|label| on_page.contains(**label));
        let found = found.count() as u64;
        SharedChunks {
            chunks,
            of_page: real(share(chunks, page.len() as u64)),
            of_original: real(share(found, labels.len() as u64)),
        }
    }
}
