//! Trials of discovery and detection on a user's own corpus: the experiments of Ardi & Heidemann
//! 2014 §3.2 and §5.
//!
//! # Brief overview
//!
//! * [`inject()`]: copies of a site are added to a corpus. How many of its files and chunks does
//!   blind discovery find, and what else does it find (figures 1 to 3, and the curve of true and
//!   false positives of §3.2)?
//! * [`mutate()`]: chunks are added to, deleted from and changed on every page of a site. How much
//!   of this does detection survive (figures 4 to 10)?
//! * [`page_roc`]: true and false positive rates of detected pages over all thresholds, if it is
//!   known which pages are copies.
//!
//! Labels are made by [`cento_find::discover`], chunks are those of the corpus, and every chunk
//! that a trial makes is hashed and looked up like any other. Scores and thresholds are those of
//! [`cento_labels::score`]. Trials draw random numbers from a seed: the same parameters give the
//! same tables.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use cento_find::{CorpusPages, Workplace};
//! use cento_trial::{MUTATIONS_TABLE, MutateParams, mutate};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let input = folder.path().join("site.jsonl");
//! let text = "One.\\n\\nTwo.";
//! let page = |at| format!("{{\"url\": \"http://a.example/{at}\", \"text\": \"{text}\"}}\n");
//! std::fs::write(&input, (0..30).map(page).collect::<String>())?;
//! let corpus = folder.path().join("site.cento");
//! let settings = cento_read::Settings::default();
//! let inputs = cento_read::resolve(&[input.display().to_string()], &settings)?.inputs;
//! cento_store::Build::new(inputs, &corpus).run()?;
//!
//! let source = Arc::new(CorpusPages::open(&[&corpus])?);
//! let workplace = Workplace {
//!     threads: 2,
//!     memory: 256 << 20,
//!     temp: None,
//!     findings: corpus.join("findings"),
//!     again: false,
//!     progress: cento_flow::Progress::new(),
//!     request: Default::default(),
//! };
//! let params = MutateParams { runs: 2, most: 1.0, step: 1.0, ..MutateParams::default() };
//! let findings = mutate(&source, &params, &workplace)?;
//! let rows: Vec<_> = findings.rows(MUTATIONS_TABLE)?.collect::<Result<_, _>>()?;
//! // Two chunks were added to two: half of the chunks are labels.
//! assert_eq!((rows[2].mutation.as_str(), rows[2].mutations, rows[2].mean), ("add", 2, Some(0.5)));
//! # Ok(())
//! # }
//! ```

mod figures;
mod inject;
mod mutate;
mod mutation_tables;
mod random;
mod roc;

pub use figures::{injection_figures, mutation_figures, roc_figure};
pub use inject::{
    BACKGROUND_TABLE, BackgroundRow, DISCOVERED_TABLE, DiscoveredRow, DiscoveryRocRow, INJECT,
    INJECTED_TABLE, InjectParams, InjectSummary, InjectedRow, ROC_TABLE, inject,
};
pub use mutate::{MUTATE, mutate};
pub use mutation_tables::{
    MUTATIONS_TABLE, MutateParams, MutateSummary, Mutation, MutationRow, TOLERATED_TABLE,
    ToleratedRow,
};
pub use roc::{PAGE_ROC, PAGE_ROC_TABLE, PageRocRow, RocSummary, page_roc};
