//! Synthetic crawls with known reuse, and scores of results against them.
//!
//! # Brief overview
//!
//! - [`Synthesis`] writes archives and `truth.jsonl` from [`SynthSettings`]. Every page is a pure
//!   function of the settings and its number; a page that copies another regenerates it. Memory
//!   does not grow with the crawl, threads do not communicate, and the same settings result in the
//!   same bytes.
//! - [`TruthRecord`] is one fact about such a crawl: a copy with its resemblance, a passage with
//!   its offsets on both sides, a quilt with its sources. The module [`truth`] lists them all.
//!   Offsets and resemblance come from reading the pages with the same functions as `cento index`.
//! - [`Check`] compares every record with a corpus that was indexed from the archives.
//! - [`Score`] computes precision, recall and F1 of results. The module [`score`] documents the
//!   tables that can be scored and the rules.
//!
//! # The generated text
//!
//! Words are made up, in eleven languages and nine scripts. Their frequencies follow Zipf's law,
//! and each is drawn independently, so the probability that `k` consecutive words are equal by
//! chance is known: [`chance_of_a_gram`]. They are arranged in sentences, paragraphs and headings,
//! with navigation, notices and links as on real sites.
//!
//! # Example
//!
//! ```
//! use cento_store::BuildProgress;
//! use cento_synth::truth::TruthReader;
//! use cento_synth::{Mix, PageKind, SynthSettings, Synthesis, TruthRecord};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let mut settings = SynthSettings::new(1, 60);
//! settings.mix = Mix::plain();
//! settings.mix.set(PageKind::Near, 0.1);
//! settings.edit_rates = vec![0.01];
//! let summary = Synthesis {
//!     folder: folder.path().join("crawl"),
//!     settings,
//!     threads: 2,
//!     force: false,
//!     progress: &BuildProgress::default(),
//! }
//! .run()?;
//! assert_eq!(summary.files, 1);
//!
//! let (truth, _) = TruthReader::open(&folder.path().join("crawl/truth.jsonl"))?;
//! let mut copies = 0;
//! for record in truth {
//!     if let TruthRecord::Copy { resemblance, .. } = record? {
//!         assert!(resemblance > 0.4 && resemblance < 1.0);
//!         copies += 1;
//!     }
//! }
//! assert!(copies >= 6);
//! # Ok(())
//! # }
//! ```

mod blog;
mod check;
mod edit;
mod error;
mod html;
mod language;
mod layout;
mod page_reader;
mod pages;
mod prose;
mod random;
mod reuse_pairs;
pub mod score;
mod settings;
mod site;
mod synthesis;
#[cfg(test)]
mod tests;
pub mod truth;
mod truth_writer;
mod vocabulary;
mod warc;

pub use blog::{BLOG, BLOG_PAGES, BlogSummary, write_blog};
pub use check::{Check, CheckSummary, truth_of};
pub use error::{Error, Result};
pub use language::{Language, UnknownLanguage};
pub use pages::CopyMethod;
pub use reuse_pairs::{REUSE, REUSE_PAGES, REUSE_PAIRS, ReusePair, write_reuse_pairs};
pub use score::{Score, ScoreLine, Scores};
pub use settings::{Mix, PageKind, SynthSettings};
pub use synthesis::{Synthesis, SynthesisSummary, TRUTH};
pub use truth::TruthRecord;
pub use vocabulary::{OFFSET, chance_of_a_gram};
pub use warc::RecordDamage;
