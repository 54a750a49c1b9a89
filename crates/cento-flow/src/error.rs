//! What can go wrong with a run, sorted by whose turn it is to act.

use std::io;
use std::path::{Path, PathBuf};

/// What a stage function may fail with: anything. The engine adds which stage and which task it
/// was.
pub type StageError = Box<dyn std::error::Error + Send + Sync>;

/// An error from planning or running a flow.
///
/// [`Error::hint`] says what the user can do about it; variants without a hint are ours to mend.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The flow does not fit together, or not with the registry: a name that nobody knows, a
    /// shuffle that nobody fills.
    #[error("the flow is not sound: {0}")]
    Unsound(String),
    /// A stage asked for rows, a table or a state of another kind than the one that is there.
    #[error("`{name}` holds {found}, not {wanted}")]
    Unlike {
        /// The shuffle, table or state.
        name: String,
        /// What is there.
        found: String,
        /// What was asked for.
        wanted: String,
    },
    /// The budget is below what the engine needs for so many threads, or states have used it up.
    #[error("a memory budget of {limit} bytes is too small: {needed} bytes are needed{reason}")]
    TooLittleMemory {
        /// The budget.
        limit: u64,
        /// What would do.
        needed: u64,
        /// What for, if it is not the engine's own minimum.
        reason: String,
    },
    /// Another process works in the same folder of temporary files, on the same flow.
    #[error("{} is in use: another process runs the same flow", .0.display())]
    Busy(PathBuf),
    /// A temporary file does not hold what was written to it.
    #[error("{} is damaged: {detail}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        detail: String,
    },
    /// There is no room left where temporary files or tables are written.
    #[error("no room is left in {} for temporary files and tables", .0.display())]
    Full(PathBuf),
    /// An iteration did not come to rest.
    #[error("`{counter}` is still {left} after {rounds} rounds")]
    Restless {
        /// The counter that should have become zero.
        counter: String,
        /// What it was in the last round.
        left: u64,
        /// How many rounds there were.
        rounds: u32,
    },
    /// The user stopped the run.
    #[error("interrupted")]
    Cancelled,
    /// A stage function failed.
    #[error("{stage}, task {task}: {source}")]
    Stage {
        /// The stage.
        stage: String,
        /// Which of its tasks, or which partition.
        task: usize,
        /// What it said.
        source: StageError,
    },
    /// A thread panicked: a bug in cento.
    #[error("internal error: {0}")]
    Panicked(String),
    /// A file operation failed.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The Parquet or Arrow library refused what we gave it.
    #[error("{}: {detail}", .path.display())]
    Table {
        /// The table.
        path: PathBuf,
        /// What the library said.
        detail: String,
    },
}

/// The result of anything that the engine does.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What to do about it, as one line for people.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::TooLittleMemory { .. } => {
                "give more with --memory, or use fewer threads with --threads".to_owned()
            }
            Error::Busy(_) => {
                "wait for the other process to end, or choose another folder with --temp".to_owned()
            }
            Error::Damaged { .. } => {
                "run the same command again: the task that wrote it is done again; if it happens often, check the disk"
                    .to_owned()
            }
            Error::Full(_) => {
                "make room, or choose another folder with --temp, and run the same command again: it goes on at the last finished task"
                    .to_owned()
            }
            Error::Cancelled => {
                "what was finished is kept: run the same command again to go on".to_owned()
            }
            Error::Panicked(_) => {
                "this is a bug in cento: please report it with the command and this message"
                    .to_owned()
            }
            Error::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    "choose a place that you may write to with --temp".to_owned()
                }
                _ => return None,
            },
            Error::Unsound(_)
            | Error::Unlike { .. }
            | Error::Restless { .. }
            | Error::Stage { .. }
            | Error::Table { .. } => return None,
        })
    }

    /// A file operation that failed; a full disk is told apart, because there the user can do
    /// something.
    pub(crate) fn io(path: &Path, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Error::Full(path.parent().unwrap_or(path).to_owned())
            }
            _ => Error::Io {
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

    /// An error of the Parquet library at `path`; a full disk beneath it stays a full disk.
    pub(crate) fn parquet(path: &Path, source: parquet::errors::ParquetError) -> Error {
        use parquet::errors::ParquetError;
        match source {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(io) => Error::io(path, *io),
                Err(inner) => Error::table(path, &inner),
            },
            source => Error::table(path, &source),
        }
    }

    pub(crate) fn table(path: &Path, detail: &dyn ToString) -> Error {
        Error::Table {
            path: path.to_owned(),
            detail: detail.to_string(),
        }
    }

    /// What a stage function failed with: the engine's own errors pass through it unchanged.
    pub(crate) fn from_stage(stage: &str, task: usize, source: StageError) -> Error {
        match source.downcast::<Error>() {
            Ok(error) => *error,
            Err(source) => Error::Stage {
                stage: stage.to_owned(),
                task,
                source,
            },
        }
    }
}
