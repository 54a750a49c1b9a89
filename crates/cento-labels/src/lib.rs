//! Labels: what is looked for, as one file that opens at once, and the detector that asks it (Ardi
//! & Heidemann 2014 §3.3, §3.6).
//!
//! # Brief overview
//!
//! * A [`Recipe`] says what a label is the hash of: a chunk, cut, normalised and hashed in some
//!   way, or a whole file.
//! * [`LabelsWriter`] makes a file of sorted hashes; [`Labels`] is such a file, mapped into memory.
//!   Opening takes the same time for a hundred labels and for a hundred million, and several
//!   processes share one copy.
//! * [`StopList`] is what counts neither for nor against a page: the idioms that everybody uses.
//!   Its hashes travel in the same file.
//! * A [`Detector`] turns the text of a page into a [`Verdict`]: how many chunks, how many stopped,
//!   which labels.
//!
//! ```text
//!   0        48                 8192
//!   ┌────────┬──────────────────┬──────────────────────┬───────┬───────┬─────────────────────────────┐
//!   │ magic… │ header, in JSON  │ hashes, 16 bytes each│ stops │ index │ filter: shards, then 9 bits │
//!   └────────┴──────────────────┴──────────────────────┴───────┴───────┴─────────────────────────────┘
//! ```
//!
//! Most chunks of most pages are no labels, so the first question goes to the filter: three bytes
//! of memory answer it, and one no in 256 is mistaken for a yes. Only then the sorted hashes are
//! looked at: the index tells where those begin that share their first bits, which are sixteen or
//! so.
//!
//! This crate knows nothing of corpora and tables, so that it can be built into a crawler.
//!
//! # Example
//!
//! ```
//! use cento_labels::{Detector, Labels, LabelsWriter, Recipe};
//!
//! let recipe = Recipe::default();
//! let mut hashes = vec![recipe.chunk_hash("A garment stitched from patches."), recipe.chunk_hash("A poem of other poets' lines.")];
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
//! let verdict = Detector::new(&labels).page("My own words.\n\nA  GARMENT stitched\nfrom patches.");
//! assert_eq!((verdict.chunks, verdict.matched), (2, 1));
//! assert_eq!(verdict.contains(), Some(0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod detector;
mod error;
mod file;
mod filter;
mod header;
mod map;
mod recipe;
mod stops;
mod write;

pub use detector::{Detector, Found, Verdict};
pub use error::{Error, Result};
pub use file::Labels;
pub use header::{Beside, FORMAT_NEWEST, FORMAT_OLDEST, Header, Section};
pub use recipe::{LabelKind, Recipe};
pub use stops::{StopError, StopList};
pub use write::LabelsWriter;
