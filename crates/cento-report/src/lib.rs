//! Reports as one HTML file: sections, tables, figures and excerpts.
//!
//! # Brief overview
//!
//! * A [`Section`] is what one analysis reports, as data: sentences, [`ReportTable`]s, [`Excerpt`]s
//!   and suggested commands. A terminal, a web page and a program each show it in their own way.
//! * A [`Chapter`] adds what surrounds a section in a report: a title, a question and figures.
//! * A [`Report`] is a list of chapters with an introduction. [`Report::html`] renders it as one
//!   file; [`Chapter::html`] renders a single chapter, for pages that have a frame already.
//!
//! The crate renders and knows no analysis. It opens no file.
//!
//! # Guarantees
//!
//! * **Text is only text.** Every string may come from an untrusted page. [`escape`] removes
//!   markup, control characters and overrides of the writing direction.
//! * **Self-contained.** A report loads nothing and runs no script, and its content security policy
//!   forbids both.
//! * **Deterministic.** The same data give the same bytes. The only time in a report is that in
//!   [`Report::made`], which a caller may leave out.
//!
//! # Example
//!
//! ```
//! use cento_report::{ReportCell, Chapter, Headline, Report, Section, ReportTable};
//!
//! let section = Section {
//!     headlines: vec![Headline::new("25.0 %", "of the pages are duplicates")],
//!     sentences: vec!["1 of 4 pages (25.0 %) is a duplicate.".to_owned()],
//!     tables: vec![ReportTable {
//!         title: "duplicates".to_owned(),
//!         columns: vec!["page".to_owned(), "bytes".to_owned()],
//!         rows: vec![vec![
//!             ReportCell::Address("https://a.example/?a<b".to_owned()),
//!             ReportCell::Bytes(1200),
//!         ]],
//!         ..ReportTable::default()
//!     }],
//!     ..Section::default()
//! };
//! let chapter = Chapter {
//!     id: "copies".to_owned(),
//!     title: "Duplicates".to_owned(),
//!     section,
//!     ..Chapter::default()
//! };
//!
//! let html = chapter.html("");
//! assert!(html.starts_with("<section id=\"copies\">"));
//! assert!(html.contains("https://a.example/?a&lt;b"));
//! assert!(html.contains("1.2 kB"));
//!
//! let report = Report {
//!     corpus: "crawl.cento".to_owned(),
//!     chapters: vec![chapter],
//!     ..Report::default()
//! };
//! assert!(report.html().contains(&html));
//! ```

mod escape;
mod evidence;
pub mod format;
mod html;
mod report;
mod section;
mod style;
#[cfg(test)]
mod tests;

pub use escape::{escape, link};
pub use evidence::{EvidenceEntry, EvidenceHead, evidence_end};
pub use report::{Chapter, MOST_FINDINGS, Report, SkippedNotice};
pub use section::{
    ComparedPiece, ComparedSide, Comparison, Drawing, Excerpt, ExcerptPiece, ExcerptSource,
    Finding, FindingEvidence, Headline, Quote, ReportCell, ReportTable, Section, Suggestion,
    TableHead,
};
pub use style::STYLE;
