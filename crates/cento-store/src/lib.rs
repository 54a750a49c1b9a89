//! A corpus on disk: how it is built, described, checked and read.
//!
//! # Brief overview
//!
//! * [`Build`] turns inputs into a corpus. It reads records, and decodes, extracts, chunks and
//!   hashes them on several threads; rows are written in immutable parts.
//! * [`Manifest`] describes a corpus: its format version, its [`Parameters`], its parts with their
//!   checksums. It is replaced atomically, so a crash never damages what was committed.
//! * A [`PageStream`](stream::PageStream) yields the pages of a stream in order, processed on
//!   several threads, without a corpus.
//! * [`Corpus`] is an open corpus: it scans tables and finds the text of one page by its id.
//!
//! Tables are plain Parquet files, in one folder for each [`Table`]. [`PageRow`], [`TextRow`] and
//! [`ChunkRow`] define their columns; [`projection!`] declares the columns that a reader needs.
//!
//! # Example
//!
//! ```
//! use cento_store::{Build, Corpus, Projection, pages, projection};
//!
//! projection! {
//!     /// What the example reads of a page.
//!     struct Titles of pages { url, title }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let page = folder.path().join("page.html");
//! std::fs::write(&page, "<title>Cento</title><p>A garment stitched from patches.")?;
//!
//! let settings = cento_read::Settings::default();
//! let resolved = cento_read::resolve(&[page.display().to_string()], &settings)?;
//! let path = folder.path().join("example.cento");
//! let built = Build::new(resolved.inputs, &path).threads(2).run()?;
//! assert_eq!(built.counts.kept, 1);
//!
//! let corpus = Corpus::open(&path)?;
//! assert_eq!(corpus.text(0)?.as_deref(), Some("A garment stitched from patches."));
//! for batch in corpus.scan::<Titles>() {
//!     let batch = batch?;
//!     assert_eq!(batch.rows(), 1);
//!     assert!(batch.url.value(0).ends_with("page.html"));
//!     assert_eq!(batch.title.value(0), Some("Cento"));
//! }
//! # Ok(())
//! # }
//! ```

mod build;
mod build_folder;
pub mod column;
mod corpus;
mod error;
mod input_changes;
mod input_list;
mod manifest;
mod page_text;
mod page_writer;
mod parameters;
mod part;
mod progress;
mod row_buffers;
mod schema;
pub mod stream;
mod tables;
mod task;
mod text_memory;
mod time_limit;
mod update;

pub use arrow_array::RecordBatch;
pub use build::{
    Build, BuildExecutor, BuildTasks, Built, FinishedTask, LocalBuilds, with_build_executor,
};
pub use column::Projection;
pub use corpus::{Corpus, ListedInput};
pub use error::{Error, Result};
pub use input_changes::InputChanges;
pub use manifest::{
    Counts, Cursor, FORMAT_NEWEST, FORMAT_OLDEST, FileEntry, MANIFEST, Manifest, Part, Run, Tally,
};
pub use page_text::PageContent;
pub use parameters::{PageLimits, Parameters};
pub use progress::BuildProgress;
pub use schema::Table;
pub use tables::{
    ChunkColumns, ChunkRow, PageColumns, PageRow, TextColumns, TextRow, chunks, pages, text,
};
pub use text_memory::TextMemory;
