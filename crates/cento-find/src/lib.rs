//! The analyses of cento: who copied what. Each is one module.
//!
//! # Brief overview
//!
//! * [`CorpusPages`] are the pages of one or more corpora, numbered densely.
//! * An analysis has parameters with documented defaults, and a function that runs its flow over
//!   the pages with the resources of a [`Workplace`]: threads, memory and folders.
//! * The result is [`Findings`]: tables in Parquet, each read through the struct that wrote it, and
//!   a record of parameters and counts.
//!
//! Nothing here prints, plots or parses arguments.
//!
//! # Example
//!
//! Finds the duplicates of three pages:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use cento_find::copies::{CopiesParams, PAIRS, copies};
//! use cento_find::{CorpusPages, FINDINGS, Workplace};
//!
//! # let folder = tempfile::tempdir()?;
//! # let input = folder.path().join("pages.jsonl");
//! # let lines = [
//! #     r#"{"url": "http://a.example/", "text": "To be, or not to be", "date": "1603-01-01"}"#,
//! #     r#"{"url": "http://b.example/", "text": "To be, or not to be", "date": "2003-01-01"}"#,
//! #     r#"{"url": "http://c.example/", "text": "That is the question"}"#,
//! # ];
//! # std::fs::write(&input, lines.join("\n"))?;
//! # let corpus = folder.path().join("pages.cento");
//! let settings = cento_read::Settings::default();
//! let inputs = cento_read::resolve(&[input.display().to_string()], &settings)?.inputs;
//! cento_store::Build::new(inputs, &corpus).run()?;
//!
//! let pages = Arc::new(CorpusPages::open(&[&corpus])?);
//! let workplace = Workplace {
//!     threads: 2,
//!     memory: 256 << 20,
//!     temp: None,
//!     findings: corpus.join(FINDINGS),
//!     again: false,
//!     progress: cento_flow::Progress::new(),
//!     request: Default::default(),
//! };
//! let findings = copies(&pages, &CopiesParams::default(), &workplace)?;
//! for row in findings.rows(PAIRS)? {
//!     let row = row?;
//!     assert_eq!(row.page, "http://b.example/");
//!     assert_eq!(row.of, "http://a.example/");
//!     assert_eq!((row.kind.as_str(), row.earlier.as_str()), ("bytes", "of"));
//! }
//! # assert_eq!(findings.rows(PAIRS)?.count(), 1);
//! # Ok(())
//! # }
//! ```

mod collapsed;
pub mod copies;
mod corpus_pages;
pub mod detect;
pub mod discover;
mod error;
mod executor;
mod gram_sets;
mod gram_table;
pub mod labelling;
mod name_files;
pub mod names;
mod numbers;
pub mod overlap;
mod page_details;
mod page_lists;
mod page_minima;
mod page_origins;
pub mod passages;
pub mod phrases;
pub mod precedence;
pub mod provenance;
pub mod quilts;
pub mod reuse;
mod row_json;
mod run;
mod sites;

mod swept;
mod tables;
mod tally;
pub mod words;

pub use corpus_pages::{ChunkTask, CorpusPages, PageFacts, TextTask};
pub use error::{Error, Result};
pub use executor::{ExecutorRole, FlowExecutor, LocalExecutor, with_executor};
pub use numbers::{Numbers, UNSET};
pub use page_details::{LinkTo, PageDetails};
pub use page_origins::{PageOrigin, PageOrigins};
pub use row_json::{draw, row_values};
pub use run::{
    FINDINGS, Findings, RUN, RunRecord, RunRequest, Workplace, has_stale_findings, known_findings,
    verify_findings,
};
pub use tables::{read_row_range, read_rows, read_table, table_columns};
