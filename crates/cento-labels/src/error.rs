//! Errors of label files.

use std::io;
use std::path::{Path, PathBuf};

/// An error from reading or writing labels.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is not a label file.
    #[error("{} is not a label file", .0.display())]
    NotLabels(PathBuf),
    /// The file was written by a newer version of cento.
    #[error("{} has format version {found}; this version of cento reads up to {newest}", .path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format version.
        found: u32,
        /// The newest supported format version.
        newest: u32,
    },
    /// The file is corrupted.
    #[error("{} is corrupted: {detail}", .path.display())]
    Corrupted {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// Labels cannot be used with labels or a corpus of another recipe.
    #[error("{} was made with {name} {found}, not {expected}", .path.display())]
    RecipeMismatch {
        /// The file.
        path: PathBuf,
        /// The parameter that differs.
        name: &'static str,
        /// Its value in the file.
        found: String,
        /// The value that it should have.
        expected: String,
    },
    /// Labels were written out of order: a bug in the caller.
    #[error("labels must be written in ascending order")]
    NotSorted,
    /// There are more labels than fit in one file.
    #[error("a label file has at most 4294967295 labels")]
    TooMany,
    /// A file operation failed.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// A [`Result`](std::result::Result) with the [`Error`] of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns advice for the user as one line, if there is any.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::NotLabels(_) => {
                Some("make one with `cento discover CORPUS -o NAME.labels`".to_owned())
            }
            Error::TooNew { .. } => Some("install a newer cento to read it".to_owned()),
            Error::Corrupted { .. } => {
                Some("restore it from a backup, or run `cento discover` again".to_owned())
            }
            Error::RecipeMismatch { name, found, .. } => Some(format!(
                "use {name} {found} for both: index the corpus again, or run `cento discover` again"
            )),
            Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("make labels with `cento discover CORPUS -o NAME.labels`".to_owned())
            }
            Error::TooMany => Some("use several label files".to_owned()),
            Error::NotSorted | Error::Io { .. } => None,
        }
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Error {
        Error::Io {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn corrupted(path: &Path, detail: impl Into<String>) -> Error {
        Error::Corrupted {
            path: path.to_owned(),
            detail: detail.into(),
        }
    }
}
