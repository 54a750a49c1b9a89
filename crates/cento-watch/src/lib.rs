//! Detection inside a crawler (Ardi & Heidemann 2014 §3.6): verdicts on pages as they arrive,
//! running scores of neighbourhoods in bounded memory, and pages seen before.
//!
//! # Brief overview
//!
//! ```text
//!   any thread                                    one thread, in the order of the pages
//!   text ─ PageExaminer ─▶ ExaminedPage  ──────▶  Watcher ─▶ PageReport
//!             ▲                                     │  ▲
//!          WatchedLabels            NeighbourhoodTally  SeenPages (a file that crawls share)
//! ```
//!
//! * A [`PageExaminer`] looks the chunks of a page up in the labels, attributes them to originals,
//!   and computes what identifies the page.
//! * A [`Watcher`] updates the neighbourhoods of the page ([`NeighbourhoodTally`]) and turns it
//!   into a [`PageReport`].
//! * [`SeenPages`] recognises exact copies and near-duplicates of earlier pages, of this process
//!   and of others. It is the only part that writes a file.
//!
//! The crate reads no input and starts no threads: that is the crawler's business. `cento watch` is
//! a crawler that reads its pages from standard input; `examples/crawler.rs` is a small one.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use cento_labels::{Labels, LabelsWriter, Recipe};
//! use cento_watch::{PageExaminer, SeenPages, WatchThresholds, WatchedLabels, Watcher};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("mine.labels");
//! let recipe = Recipe::default();
//! let mut writer = LabelsWriter::create(&path, recipe, 1)?;
//! writer.push(recipe.chunk_hash("A garment stitched from patches."))?;
//! writer.finish(&[], serde_json::Value::Null)?;
//! let labels = WatchedLabels { labels: Arc::new(Labels::open(&path)?), originals: None };
//!
//! let mut examiner = PageExaminer::new(true);
//! let mut watcher = Watcher::new(WatchThresholds::default(), u32::MAX, 1 << 20);
//! let mut seen = SeenPages::open(&folder.path().join("crawl.seen"), "all", 1 << 20)?;
//! let text = "My own words.\n\nA garment stitched from patches.";
//! for (url, is_copy) in [("http://a.example/x", false), ("http://b.example/y", true)] {
//!     let page = examiner.text(&labels, url, text, None);
//!     let report = watcher.observe(page, Some(&mut seen.lock()?))?;
//!     assert_eq!((report.chunks, report.matched, report.flagged), (2, 1, true));
//!     assert_eq!(report.seen.flatten().is_some(), is_copy);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod neighbourhoods;
mod seen;
mod watcher;

pub use error::{Error, Result};
pub use neighbourhoods::{NeighbourhoodTally, RunningNeighbourhood};
pub use seen::{NEAR, PagePrint, PagePrinter, SeenAs, SeenCounts, SeenGuard, SeenPage, SeenPages};
pub use watcher::{
    ExaminedPage, NEIGHBOURHOOD_THRESHOLD, PAGE_THRESHOLD, PageExaminer, PageReport,
    ReportedNeighbourhood, ReportedOriginal, ReportedSeen, WatchThresholds, WatchedLabels, Watcher,
    seen_pages_for,
};
