//! A synthetic crawl whose reuse is known, and findings scored against it.
//!
//! # Brief overview
//!
//! - [`Synthesis`] writes archives and `truth.jsonl` from [`Settings`]. Every page is a pure
//!   function of the settings and of its number: one that copies makes its source anew. So memory
//!   does not grow with the crawl, threads need no word between them, and the same settings give
//!   the same bytes.
//! - [`Record`] is one thing that is true of such a crawl: a copy with its resemblance, a passage
//!   with its offsets on both sides, a quilt with its sources. The module [`truth`] lists them all.
//!   Offsets and resemblance come from reading the pages as `cento index` does, by the same calls.
//! - [`Check`] proves every record against a corpus that was indexed from the archives.
//! - [`Score`] gives precision, recall and F1 of findings. The module [`score`] says what tables of
//!   findings look like and what counts.
//!
//! # What the text is like
//!
//! Words are made up, of real letters, in eleven languages and nine scripts; their frequencies
//! follow Zipf's law, and each is drawn independently. So it is known how often `k` words in a row
//! are the same by chance: [`chance_of_a_gram`]. Sentences, paragraphs, headings, navigation,
//! notices and links are put around them as sites do.
//!
//! # Example
//!
//! ```
//! use cento_store::Progress;
//! use cento_synth::truth::TruthReader;
//! use cento_synth::{Kind, Mix, Record, Settings, Synthesis};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let mut settings = Settings::new(1, 60);
//! settings.mix = Mix::plain();
//! settings.mix.set(Kind::Near, 0.1);
//! settings.edit_rates = vec![0.01];
//! let made = Synthesis {
//!     folder: folder.path().join("crawl"),
//!     settings,
//!     threads: 2,
//!     force: false,
//!     progress: &Progress::default(),
//! }
//! .run()?;
//! assert_eq!(made.files, 1);
//!
//! let (truth, _) = TruthReader::open(&folder.path().join("crawl/truth.jsonl"))?;
//! let mut copies = 0;
//! for record in truth {
//!     if let Record::Copy { resemblance, .. } = record? {
//!         assert!(resemblance > 0.4 && resemblance < 1.0);
//!         copies += 1;
//!     }
//! }
//! assert!(copies >= 6);
//! # Ok(())
//! # }
//! ```

mod check;
mod edit;
mod error;
mod html;
mod language;
mod layout;
mod pages;
mod prose;
mod random;
mod reading;
pub mod score;
mod settings;
mod site;
mod tell;
#[cfg(test)]
mod tests;
pub mod truth;
mod vocabulary;
mod warc;
mod write;

pub use check::{Check, Checked, truth_of};
pub use error::{Error, Result};
pub use language::{Language, UnknownLanguage};
pub use pages::How;
pub use score::{Line, Score, Scored};
pub use settings::{Kind, Mix, Settings};
pub use truth::Record;
pub use vocabulary::{OFFSET, chance_of_a_gram};
pub use warc::Damage;
pub use write::{Made, Synthesis, TRUTH};
