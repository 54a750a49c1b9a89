//! Errors of flows and runs.

use std::io;
use std::path::{Path, PathBuf};

/// Any error of a stage function. The engine adds the stage and the task.
pub type StageError = Box<dyn std::error::Error + Send + Sync>;

/// An error from checking or running a flow.
///
/// [`Error::hint`] says what the user can do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The flow is inconsistent, or does not fit the registry: an unknown name, a shuffle that no
    /// stage writes. A bug in the program that made the flow.
    #[error("invalid flow: {0}")]
    InvalidFlow(String),
    /// A stage uses a shuffle, table or state with another type than other stages do. A bug in the
    /// stage function.
    #[error("`{name}` has {found}, not {expected}")]
    TypeMismatch {
        /// The shuffle, table or state.
        name: String,
        /// The type that it has.
        found: String,
        /// The type that the stage uses.
        expected: String,
    },
    /// The memory budget is too small for the number of threads, for a state, or for a stage
    /// function.
    #[error("a memory budget of {limit} bytes is too small: {needed} bytes are needed{reason}")]
    TooLittleMemory {
        /// The budget in bytes.
        limit: u64,
        /// The smallest sufficient budget.
        needed: u64,
        /// What the memory is needed for, as the end of the sentence.
        reason: String,
    },
    /// Another process runs the same flow in the same temporary folder.
    #[error("{} is in use: another process runs the same analysis", .0.display())]
    InUse(PathBuf),
    /// A temporary file is corrupted.
    #[error("{} is corrupted: {detail}", .path.display())]
    Corrupted {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The disk of the temporary files or the tables is full.
    #[error("no space left in {} for temporary files and tables", .0.display())]
    DiskFull(PathBuf),
    /// An iteration did not converge.
    #[error("`{counter}` is still {left} after {rounds} rounds")]
    NotConverged {
        /// The counter that should become zero.
        counter: String,
        /// Its value in the last round.
        left: u64,
        /// The number of rounds.
        rounds: u32,
    },
    /// The run was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// A stage function failed.
    #[error("{stage}, task {task}: {source}")]
    Stage {
        /// The stage.
        stage: String,
        /// The number of the task or partition.
        task: usize,
        /// The error of the function.
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
        /// The error of the operating system.
        source: io::Error,
    },
    /// The Parquet or Arrow library failed.
    #[error("{}: {detail}", .path.display())]
    Table {
        /// The table.
        path: PathBuf,
        /// The error of the library.
        detail: String,
    },
}

/// A [`Result`](std::result::Result) with the [`Error`] of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns advice for the user as one line, if there is any.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::TooLittleMemory { .. } => {
                "increase --memory, or use fewer --threads".to_owned()
            }
            Error::InUse(_) => {
                "wait for the other process to end, or choose another folder with --temp".to_owned()
            }
            Error::Corrupted { .. } => {
                "run the same command again to repeat the affected task; if this happens often, check the disk"
                    .to_owned()
            }
            Error::DiskFull(_) => {
                "free some space or choose another folder with --temp, then run the same command again to resume"
                    .to_owned()
            }
            Error::Cancelled => {
                "finished work is kept: run the same command again to resume".to_owned()
            }
            Error::Panicked(_) => {
                concat!(
                    "this is a bug in cento: please report it with the command and this message at ",
                    env!("CARGO_PKG_REPOSITORY"),
                    "/issues"
                )
                .to_owned()
            }
            Error::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    "choose a folder that you can write to with --temp".to_owned()
                }
                _ => return None,
            },
            Error::InvalidFlow(_)
            | Error::TypeMismatch { .. }
            | Error::NotConverged { .. }
            | Error::Stage { .. }
            | Error::Table { .. } => return None,
        })
    }

    /// Returns the error of a failed file operation. A full disk has a variant with a hint.
    pub(crate) fn io(path: &Path, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Error::DiskFull(path.parent().unwrap_or(path).to_owned())
            }
            _ => Error::Io {
                path: path.to_owned(),
                source,
            },
        }
    }

    pub(crate) fn corrupted(path: &Path, detail: impl Into<String>) -> Error {
        Error::Corrupted {
            path: path.to_owned(),
            detail: detail.into(),
        }
    }

    /// Returns an error of the Parquet library. A full disk below it is [`Error::DiskFull`].
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

    /// Returns the error of a stage function. Errors of the engine pass through unchanged.
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
