//! A corpus on disk: where it is, and whether it can be trusted.
//!
//! # Brief overview
//!
//! * [`Build`] turns inputs into a corpus: it reads records, has them decoded, read, cut and hashed
//!   by as many threads as there are, and writes the rows in immutable parts.
//! * [`Manifest`] says what a corpus is: its format version, its [`Parameters`], its parts with
//!   their checksums. It is replaced atomically, so a crash never damages what was committed.
//! * [`Corpus`] is an open corpus: it scans tables and finds the text of one page by its id.
//!
//! Tables are plain Parquet, one folder each; [`Table`] describes them.
//!
//! # Example
//!
//! ```
//! use cento_store::{Build, Corpus, Parameters, Progress};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let page = folder.path().join("page.html");
//! std::fs::write(&page, "<title>Cento</title><p>A garment stitched from patches.")?;
//!
//! let settings = cento_read::Settings::default();
//! let resolved = cento_read::resolve(&[page.display().to_string()], &settings)?;
//! let path = folder.path().join("example.cento");
//! let built = Build {
//!     corpus: path.clone(),
//!     inputs: resolved.inputs,
//!     passed_over: Default::default(),
//!     settings,
//!     parameters: Parameters::default(),
//!     add: false,
//!     again: false,
//!     passing: false,
//!     threads: 2,
//!     memory: 1 << 30,
//!     progress: &Progress::default(),
//! }
//! .run()?;
//! assert_eq!(built.counts.kept, 1);
//!
//! let corpus = Corpus::open(&path)?;
//! assert_eq!(corpus.text(0)?.as_deref(), Some("A garment stitched from patches."));
//! # Ok(())
//! # }
//! ```

mod build;
mod corpus;
mod error;
mod manifest;
mod parameters;
mod part;
mod progress;
mod rows;
mod schema;
mod site;
mod task;
mod work;

pub use build::{Build, Built};
pub use corpus::{ChunkRow, Corpus, ListedInput};
pub use error::{Error, Result};
pub use manifest::{
    Counts, Cursor, FORMAT_NEWEST, FORMAT_OLDEST, FileEntry, MANIFEST, Manifest, Part, Run, Tally,
};
pub use parameters::{PageLimits, Parameters};
pub use progress::Progress;
pub use schema::Table;
