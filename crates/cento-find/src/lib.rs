//! Who copied what: the analyses, one module each.
//!
//! # Brief overview
//!
//! * A [`CorpusPages`] is one corpus or several, their pages numbered densely.
//! * An analysis has parameters with documented defaults, and a function that runs its flow over a
//!   source in a [`Workplace`]: so many threads, so much memory, this folder.
//! * It ends in [`Findings`]: tables in Parquet, and a record of what was asked and counted.
//!
//! Nothing here prints, plots or parses arguments.

mod collapsed;
pub mod copies;
mod corpus_pages;
pub mod detect;
pub mod discover;
mod error;
pub mod labelling;
pub mod names;
mod numbers;
pub mod overlap;
pub mod phrases;
pub mod precedence;
pub mod provenance;
pub mod quilts;
pub mod reuse;
mod rows;
mod run;
mod sites;

mod tables;
mod tally;
pub mod words;

pub use corpus_pages::{ChunkTask, CorpusPages, PageFacts, TextTask};
pub use error::{Error, Result};
pub use numbers::{Numbers, UNSET};
pub use rows::{draw, row_values};
pub use run::{FINDINGS, Findings, RUN, RunRecord, Workplace, known_findings, verify_findings};
pub use tables::{read_rows, read_table, table_columns};
