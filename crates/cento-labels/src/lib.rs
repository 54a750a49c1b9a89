//! Label files, and the detector that finds labels in pages (Ardi & Heidemann 2014 §3.3, §3.6). A
//! label is the hash of a chunk of text or of a file.
//!
//! # Brief overview
//!
//! * [`Labels`] is a label file, mapped into memory: opening it takes the same time for a hundred
//!   labels as for a hundred million, and several processes share one copy. [`LabelsWriter`] writes
//!   it.
//! * A [`Detector`] turns the text of a page into a [`Verdict`]: the number of chunks, of stop
//!   chunks and of labels.
//! * A [`Recipe`] defines what a label is the hash of: how text is cut into chunks, normalised and
//!   hashed.
//! * [`LabelOriginals`] attributes the labels of a page to the originals that they were made from.
//!   [`score`] has shares as integers, so that no rounding decides a verdict.
//!
//! A [`StopList`] has boilerplate chunks that are ignored on every page. Its hashes are in the
//! label file.
//!
//! ```text
//!   0        48              8192
//!   ┌────────┬───────────────┬───────────────────────┬───────┬───────┬────────────────────────┐
//!   │ magic… │ header (JSON) │ hashes, 16 bytes each │ stops │ index │ filter, 9 bits a label │
//!   └────────┴───────────────┴───────────────────────┴───────┴───────┴────────────────────────┘
//! ```
//!
//! Most chunks are not labels, so that a lookup starts with the filter: it reads three bytes, and
//! has a false positive rate of 1 in 256. Then it searches the sorted hashes. The index has the
//! start of the hashes with the same first bits, of which there are about sixteen.
//!
//! This crate does not depend on corpora or tables, so that it can be built into a crawler.
//!
//! # Example
//!
//! ```
//! use cento_labels::{Detector, Labels, LabelsWriter, Recipe};
//!
//! let recipe = Recipe::default();
//! let chunks = ["A garment stitched from patches.", "A poem of other poets' lines."];
//! let mut hashes = chunks.map(|chunk| recipe.chunk_hash(chunk));
//! hashes.sort();
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("mine.labels");
//! let mut writer = LabelsWriter::create(&path, recipe, hashes.len() as u64)?;
//! for hash in hashes {
//!     writer.push(hash)?;
//! }
//! writer.finish(&[], serde_json::Value::Null)?;
//!
//! let labels = Labels::open(&path)?;
//! let text = "My own words.\n\nA  GARMENT stitched\nfrom patches.";
//! let verdict = Detector::new(&labels).page(text);
//! assert_eq!((verdict.chunks, verdict.matched), (2, 1));
//! assert_eq!(verdict.contains(), Some(0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attribution;
mod detector;
mod error;
mod file;
mod filter;
mod header;
mod recipe;
pub mod score;
mod stops;
mod write;

pub use attribution::{CROWD, LabelOriginals, MatchedLabel, OriginalMatch, RANKS, assign};
pub use detector::{Detector, LabelMatch, Verdict};
pub use error::{Error, Result};
pub use file::Labels;
pub use header::{FORMAT_NEWEST, FORMAT_OLDEST, FileSection, LabelsHeader, Sidecar};
pub use recipe::{LabelKind, Recipe};
pub use stops::{StopError, StopList};
pub use write::LabelsWriter;
