//! What is there to say about this corpus? The registry of analyses, the scan over all that fit,
//! and the report.
//!
//! # Brief overview
//!
//! * An [`Analysis`] is what everybody needs to know of one: its question, what it needs of a
//!   corpus, its parameters there, how it runs, and what is told of its findings. [`analyses()`]
//!   lists all of them; a new one is a module and a line there.
//! * A [`Profile`] is what a corpus has. By it each analysis decides whether it has something to
//!   look for.
//! * A [`Section`] is what an analysis says, as data: sentences, tables, excerpts, commands. A
//!   terminal, a page and a program show it each in its way.
//!
//! It knows the analyses (`cento-find`) and the figures (`cento-figure`), and adds nothing to
//! either: it finds nothing that is not in a table, and draws nothing itself.

pub mod analyses;
mod analysis;
mod profile;
mod report;
pub mod rows;
mod scan;
mod section;
pub mod words;

pub use analyses::{analyses, analysis};
pub use analysis::{Analysis, Told};
pub use profile::Profile;
pub use report::{Chapter, Report};
pub use scan::{Done, INDEX, INDEX_WEIGHT, LeftOut, Moment, Plan, Unknown, Watch, known};
pub use section::{Cell, Drawing, Excerpt, Headline, Next, Origin, Piece, Quote, Section, Table};
