//! What can go wrong with a corpus, sorted by whose turn it is to act.

use std::io;
use std::path::{Path, PathBuf};

/// An error from building, opening or reading a corpus.
///
/// [`Error::hint`] says what the user can do about it; variants without a hint are ours to mend.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path holds no corpus: no manifest is in it.
    #[error("{} is not a cento corpus: it has no manifest.json", .0.display())]
    NotACorpus(PathBuf),
    /// An output path is taken by something that is not a corpus.
    #[error("{} exists and is not a cento corpus", .0.display())]
    InTheWay(PathBuf),
    /// `index` without `--add` on a corpus that is complete.
    #[error("{} already holds a complete corpus", .0.display())]
    Complete(PathBuf),
    /// `index --add` on something that is not there.
    #[error("{} is not there to add to", .0.display())]
    NothingToAddTo(PathBuf),
    /// The run that is to be resumed had other inputs.
    #[error("{} was begun with other inputs: {detail}", .path.display())]
    OtherInputs {
        /// The corpus.
        path: PathBuf,
        /// The first difference.
        detail: String,
    },
    /// Two tables, or a table and a request, were made with unlike parameters.
    #[error("{} was made with {name} {found}, not {wanted}", .path.display())]
    Unlike {
        /// The corpus.
        path: PathBuf,
        /// The parameter that differs.
        name: &'static str,
        /// What the corpus has.
        found: String,
        /// What was asked for.
        wanted: String,
    },
    /// The manifest has a format version that this program does not know.
    #[error("{} has format version {found}; this program reads up to {newest}", .path.display())]
    TooNew {
        /// The corpus.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version this program reads.
        newest: u32,
    },
    /// A file does not hold what the manifest says it holds.
    #[error("{} is damaged: {detail}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        detail: String,
    },
    /// Another process is writing to the corpus.
    #[error("{} is being written by another process", .0.display())]
    Busy(PathBuf),
    /// The corpus was made without text and the request needs it.
    #[error("{} holds no text: it was made with --no-text", .0.display())]
    NoText(PathBuf),
    /// The inputs were read, and there was no page in them.
    #[error("no pages in the input{}", .0)]
    NoPages(String),
    /// A run over the corpus was interrupted, so that pages are missing.
    #[error("{} is unfinished: its last index was interrupted after {pages} pages", .path.display())]
    Unfinished {
        /// The corpus.
        path: PathBuf,
        /// The pages that are in it.
        pages: u64,
    },
    /// A thread of the build ended in a panic: a defect of this program.
    #[error("a thread of the index panicked: {0}")]
    Panicked(String),
    /// The user stopped the run.
    #[error("interrupted")]
    Cancelled,
    /// The inputs themselves.
    #[error(transparent)]
    Read(#[from] cento_read::Error),
    /// A file operation failed.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The Parquet library refused what we gave it or what the disk gave it.
    #[error("{}: {source}", .path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the library said.
        source: parquet::errors::ParquetError,
    },
}

/// The result of anything that touches a corpus.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What to do about it, as one line for people.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::NotACorpus(path) => {
                format!("make one with `cento index INPUT… -o {}`", path.display())
            }
            Error::InTheWay(_) => "choose another name with -o, or remove it".to_owned(),
            Error::Complete(_) => {
                "use --add to add pages to it, or choose another name with -o".to_owned()
            }
            Error::NothingToAddTo(_) => "leave --add out to make a new corpus".to_owned(),
            Error::OtherInputs { .. } => {
                "resume with the same inputs, or start anew under another name and use --add for more"
                    .to_owned()
            }
            Error::Unlike { name, found, .. } => {
                format!("use {name} {found} here as well, or index again under another name")
            }
            Error::TooNew { .. } => "install a newer cento to read it".to_owned(),
            Error::Damaged { .. } => {
                "restore it from a copy, or index again; `cento info --verify` names every damaged file"
                    .to_owned()
            }
            Error::Busy(_) => "wait for the other process to end".to_owned(),
            Error::NoText(_) => "index again without --no-text".to_owned(),
            Error::NoPages(_) => {
                "check the paths and --format; for tables, name the columns with --field text=NAME"
                    .to_owned()
            }
            Error::Unfinished { .. } => {
                "run the same `cento index` again to finish it, or use --partial to analyse the pages that are there"
                    .to_owned()
            }
            Error::Panicked(_) => {
                "this is a defect of cento: please report it; what was finished is kept".to_owned()
            }
            Error::Cancelled => {
                "what was finished is kept: run the same command again to go on".to_owned()
            }
            Error::Read(error) => return error.hint(),
            Error::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "make room and run the same command again: it goes on from the last finished part"
                        .to_owned()
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    "choose a place that you may write to with -o".to_owned()
                }
                _ => return None,
            },
            Error::Parquet { .. } => return None,
        })
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Error {
        Error::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// A Parquet error at `path`; a full disk beneath it stays a full disk, so that it gets its
    /// hint.
    pub(crate) fn parquet(path: &Path, source: parquet::errors::ParquetError) -> Error {
        use parquet::errors::ParquetError;
        match source {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(io) => Error::io(path, *io),
                Err(inner) => Error::Parquet {
                    path: path.to_owned(),
                    source: ParquetError::External(inner),
                },
            },
            source => Error::Parquet {
                path: path.to_owned(),
                source,
            },
        }
    }

    pub(crate) fn damaged(path: &Path, detail: impl Into<String>) -> Error {
        Error::Damaged {
            path: path.to_owned(),
            detail: detail.into(),
        }
    }
}
