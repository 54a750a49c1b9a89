//! The registry of analyses, the scan that runs all suitable ones, and the contents of the report.
//!
//! # Brief overview
//!
//! * An [`Analysis`] describes one analysis to the command line and the report: its question, its
//!   parameters for a corpus, how to run it, and how to summarise its results. [`analyses()`] lists
//!   all of them. To add one, write a module and add a line there.
//! * A [`Profile`] says what a corpus contains. Each analysis decides by it whether it is suitable.
//! * A [`ScanPlan`] selects the analyses for a corpus and runs them; [`build_report`] turns their
//!   results into a [`Report`](cento_report::Report).
//!
//! The crate knows the analyses (`cento-find`), the figures (`cento-figure`) and the report
//! (`cento-report`). It computes no results, draws nothing and renders no HTML itself.
//!
//! # Example
//!
//! ```
//! use cento_scan::{Profile, ScanPlan};
//!
//! // Four pages from files: enough for duplicates, too few for quilts.
//! let profile = Profile { pages: 4, all_pages: 4, text: true, ..Profile::default() };
//! let plan = ScanPlan::new(&profile, &[])?;
//! assert!(plan.selected.iter().any(|(analysis, _)| analysis.name() == "copies"));
//! let quilts = plan.skipped.iter().find(|skipped| skipped.analysis.name() == "quilts");
//! let reason = quilts.map(|skipped| skipped.reason.as_str());
//! assert_eq!(reason, Some("it needs at least 5 pages, and the corpus has 4"));
//! # Ok::<(), cento_scan::UnknownAnalysis>(())
//! ```

mod aligned;
pub mod analyses;
mod analysis;
mod evidence;
mod profile;
mod report;
mod scan;
pub mod select;
mod stage_weights;

pub use analyses::{analyses, analysis};
pub use analysis::{Analysis, SectionInput, recorded_command};
pub use evidence::{
    EvidenceMethod, SiteEvidence, evidence_file_names, evidence_head, evidence_sites,
    for_each_evidence,
};
pub use profile::Profile;
pub use report::{ReportOptions, build_report};
pub use scan::{
    FinishedAnalysis, INDEX_STEP, INDEX_WEIGHT, ScanPlan, ScanProgress, ScanStatus,
    SkippedAnalysis, UnknownAnalysis, add_known_results, known_results,
};
pub use stage_weights::{has_weights, is_note, stage_share};
