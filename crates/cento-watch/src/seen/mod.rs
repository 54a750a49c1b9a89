//! Pages seen before: exact copies and near-duplicates, across crawls that share one file.
//!
//! [`SeenPages`] remembers every page that it is asked about. A page is seen if an earlier one has
//!
//! * the same bytes (the SHA-1 of the payload), or
//! * the same text (the first 128 bits of BLAKE3), or
//! * a similar text: a resemblance of at least [`NEAR`]. Resemblance is that of `cento copies`, the
//!   share of all runs of five words of either text that are in both; but where `copies` compares
//!   all runs, this *estimates* it from 84 minima, and says so ([`SeenPage::estimate`]). As in
//!   `copies`, pages are compared with the earlier pages that are not near-duplicates themselves,
//!   and candidates are found by 14 bands of 6 minima: a pair of resemblance 0.8 is found with
//!   probability 0.986, a pair of 0.9 with 0.9999.
//!
//! ```text
//!   one file, append-only                              one index per process, in memory
//!   ┌────────┬────────┬────────┬─ ─ ─                  ┌───────────────────────────────┐
//!   │ header │ record │ record │ …      ── read ──▶    │ key → page → offset of record │
//!   └────────┴────────┴────────┴─ ─ ─                  └───────────────────────────────┘
//! ```
//!
//! **Several processes** may use one file. [`SeenPages::lock`] takes an exclusive lock and reads
//! what others have appended since; a page is looked up and appended under this lock, so that of
//! two processes that see the same page, exactly one is told that it is new.
//!
//! **A killed process** loses nothing: a record is written to the file before the caller knows the
//! answer. It is not synced to the disk, so that a power failure may lose the last seconds. A
//! record that was written in part is cut off by the next process; damage elsewhere is skipped and
//! counted ([`SeenCounts::damaged`]).
//!
//! **Memory** is bounded by the budget. A page needs 16 entries of 8 bytes and its offset: 180 to
//! 390 bytes, depending on how full the table is. When the budget is used up, the older half of the
//! pages is forgotten and counted ([`SeenCounts::forgotten`]); it remains in the file. On disk, a
//! page takes about 400 bytes plus its URL.

mod index;
mod log;

use std::path::Path;

use cento_fingerprint::{
    Estimate, SketchParameters, Sketcher, grams, packed_word_hash, run_hash, text_hash, word_hash,
};
use cento_text::words::WordScanner;

use crate::error::Result;
use index::PageIndex;
use log::{SeenLog, SeenRecord};

/// The least estimated resemblance of near-duplicates.
pub const NEAR: f64 = 0.8;
/// Words of a run.
const K: u32 = 5;
/// The number of minima of a sketch.
const MINIMA: usize = 84;
/// Minima in a band.
const BAND: usize = 6;
/// The most candidates that a page is compared with.
const CANDIDATES: usize = 64;

/// What identifies a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagePrint {
    /// The SHA-1 of its bytes, if they are known.
    pub payload: Option<[u8; 20]>,
    /// The hash of its text.
    pub text: [u8; 16],
    /// Its minima, or nothing for a text without words.
    minima: Option<Box<[u32; MINIMA]>>,
}

/// Computes what identifies pages; reuses its buffers.
pub struct PagePrinter {
    scanner: WordScanner,
    sketcher: Sketcher,
    words: Vec<u64>,
    grams: Vec<u64>,
}

impl Default for PagePrinter {
    fn default() -> PagePrinter {
        let minima = MINIMA as u32;
        PagePrinter {
            scanner: WordScanner::default(),
            sketcher: Sketcher::new(SketchParameters { k: K, minima }),
            words: Vec::new(),
            grams: Vec::new(),
        }
    }
}

impl PagePrinter {
    /// Buffers that grew beyond this for one huge page are freed after it.
    const LARGE: usize = 1 << 19;

    /// Computes what identifies a page.
    pub fn print(&mut self, text: &str, payload: Option<[u8; 20]>) -> PagePrint {
        self.words.clear();
        let words = &mut self.words;
        self.scanner.scan_keys(text, |key| {
            words.push(key.either(packed_word_hash, word_hash));
        });
        self.grams.clear();
        // As `cento copies` does: a text of fewer than k words is one run.
        if self.words.len() < K as usize && !self.words.is_empty() {
            self.grams.push(run_hash(&self.words));
        } else {
            let list = &mut self.grams;
            grams(&self.words, K as usize, |gram, _| list.push(gram));
        }
        let minima = self.sketcher.minima(&self.grams).map(|minima| {
            let mut short = Box::new([0; MINIMA]);
            for (slot, &minimum) in short.iter_mut().zip(minima) {
                *slot = minimum as u32;
            }
            short
        });
        if self.words.capacity() > PagePrinter::LARGE {
            (self.words, self.grams) = (Vec::new(), Vec::new());
        }
        PagePrint {
            payload,
            text: text_hash(text),
            minima,
        }
    }
}

/// How a page resembles an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SeenAs {
    /// The same bytes.
    Bytes,
    /// The same text in other bytes.
    Text,
    /// A similar text, by estimate.
    Near,
}

impl SeenAs {
    /// The name in verdicts.
    pub fn name(self) -> &'static str {
        match self {
            SeenAs::Bytes => "bytes",
            SeenAs::Text => "text",
            SeenAs::Near => "near",
        }
    }
}

/// The earlier page that a page is a copy of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeenPage {
    /// How they resemble each other.
    pub kind: SeenAs,
    /// The URL of the earlier page.
    pub url: String,
    /// The estimated resemblance, for near-duplicates.
    pub estimate: Option<Estimate>,
}

/// The counts of a store of seen pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeenCounts {
    /// Distinct pages that are remembered, of all processes.
    pub remembered: u64,
    /// Pages that are no longer remembered because the memory is full.
    pub forgotten: u64,
    /// Damaged places in the file, which were skipped.
    pub damaged: u64,
}

/// The pages seen so far.
pub struct SeenPages {
    log: SeenLog,
    index: PageIndex,
}

impl SeenPages {
    /// Opens a file of seen pages, or creates it, and reads it. `text` says how text is extracted
    /// from pages, for example `all`; processes that share a file must agree on it.
    pub fn open(path: &Path, text: &str, memory: usize) -> Result<SeenPages> {
        let parameters = format!("runs of {K} words, {MINIMA} minima, content {text}");
        let mut seen = SeenPages {
            log: SeenLog::open(path, &parameters)?,
            index: PageIndex::new(memory),
        };
        drop(seen.lock()?);
        Ok(seen)
    }

    /// Creates a store without a file.
    pub fn in_memory(memory: usize) -> SeenPages {
        SeenPages {
            log: SeenLog::in_memory(),
            index: PageIndex::new(memory),
        }
    }

    /// Locks the file for several pages. Other processes wait until the guard is dropped.
    pub fn lock(&mut self) -> Result<SeenGuard<'_>> {
        self.log.lock()?;
        let guard = SeenGuard(self);
        guard.0.read_new()?;
        Ok(guard)
    }

    /// The counts so far.
    pub fn counts(&self) -> SeenCounts {
        SeenCounts {
            remembered: self.index.pages(),
            forgotten: self.index.forgotten(),
            damaged: self.log.damaged,
        }
    }

    /// Reads the records that other processes have appended.
    fn read_new(&mut self) -> Result<()> {
        let index = &mut self.index;
        self.log
            .read_new(|offset, record| insert(index, offset, &record))
    }

    fn find(&self, print: &PagePrint) -> Result<Option<SeenPage>> {
        if let Some(payload) = &print.payload {
            for offset in self.index.find(payload_key(payload)) {
                if let Some(record) = self.log.record(offset)?
                    && record.payload == Some(*payload)
                {
                    return Ok(Some(seen_as(SeenAs::Bytes, record, None)));
                }
            }
        }
        for offset in self.index.find(text_key(&print.text)) {
            if let Some(record) = self.log.record(offset)?
                && record.text == print.text
            {
                return Ok(Some(seen_as(SeenAs::Text, record, None)));
            }
        }
        let Some(minima) = &print.minima else {
            return Ok(None);
        };
        let mut candidates: Vec<u64> = Vec::new();
        for key in band_keys(minima) {
            for offset in self.index.find(key) {
                if candidates.len() < CANDIDATES && !candidates.contains(&offset) {
                    candidates.push(offset);
                }
            }
        }
        // The most similar page; of equals, the earliest.
        candidates.sort_unstable();
        let mut best: Option<(u64, SeenRecord)> = None;
        for offset in candidates {
            let Some(record) = self.log.record(offset)? else {
                continue;
            };
            let Some(other) = &record.minima else {
                continue;
            };
            let pairs = minima.iter().zip(other.iter());
            let matches = pairs.filter(|(one, other)| one == other).count() as u64;
            if matches as f64 >= NEAR * MINIMA as f64
                && best.as_ref().is_none_or(|(most, _)| matches > *most)
            {
                best = Some((matches, record));
            }
        }
        Ok(best.map(|(matches, record)| {
            let trials = MINIMA as u64;
            seen_as(SeenAs::Near, record, Some(Estimate { matches, trials }))
        }))
    }

    fn check(&mut self, url: &str, print: &PagePrint) -> Result<Option<SeenPage>> {
        let found = self.find(print)?;
        let kind = found.as_ref().map(|seen| seen.kind);
        if kind == Some(SeenAs::Bytes) {
            return Ok(found);
        }
        // Without its bytes, a copy of a known text adds nothing.
        if kind != Some(SeenAs::Text) || print.payload.is_some() {
            let record = SeenRecord {
                payload: print.payload,
                text: print.text,
                minima: match kind {
                    None => print.minima.clone(),
                    Some(_) => None,
                },
                known_text: kind == Some(SeenAs::Text),
                url: url.to_owned(),
            };
            let offset = self.log.append(&record)?;
            insert(&mut self.index, offset, &record);
        }
        Ok(found)
    }
}

/// A locked store of seen pages.
#[must_use]
pub struct SeenGuard<'a>(&'a mut SeenPages);

impl SeenGuard<'_> {
    /// Returns the earlier page that a page is a copy of, if there is one, and remembers the page.
    pub fn check(&mut self, url: &str, print: &PagePrint) -> Result<Option<SeenPage>> {
        self.0.check(url, print)
    }
}

impl Drop for SeenGuard<'_> {
    fn drop(&mut self) {
        self.0.log.unlock();
    }
}

fn seen_as(kind: SeenAs, record: SeenRecord, estimate: Option<Estimate>) -> SeenPage {
    SeenPage {
        kind,
        url: record.url,
        estimate,
    }
}

fn insert(index: &mut PageIndex, offset: u64, record: &SeenRecord) {
    let payload = record.payload.as_ref().map(payload_key);
    let text = (!record.known_text).then(|| text_key(&record.text));
    let bands = record.minima.as_deref().into_iter().flat_map(band_keys);
    index.insert(offset, payload.into_iter().chain(text).chain(bands));
}

fn first_word(bytes: &[u8]) -> u64 {
    bytes
        .first_chunk()
        .map_or(0, |first| u64::from_le_bytes(*first))
}

fn payload_key(payload: &[u8; 20]) -> u64 {
    run_hash(&[1, first_word(payload)])
}

fn text_key(text: &[u8; 16]) -> u64 {
    run_hash(&[2, first_word(text)])
}

fn band_keys(minima: &[u32; MINIMA]) -> impl Iterator<Item = u64> {
    minima.chunks_exact(BAND).enumerate().map(|(band, minima)| {
        let mut words = [3 + band as u64; BAND + 1];
        for (slot, &minimum) in words.iter_mut().skip(1).zip(minima) {
            *slot = u64::from(minimum);
        }
        run_hash(&words)
    })
}

#[cfg(test)]
mod tests;
