//! Errors of the file of seen pages.

use std::io;
use std::path::{Path, PathBuf};

use cento_file::Fault;

/// An error from the file of seen pages.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is not a file of seen pages.
    #[error("{} is not a file of seen pages", .0.display())]
    NotSeenPages(PathBuf),
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
    /// Pages of the file were compared by other rules.
    #[error("{} was made with {found}, not {expected}", .path.display())]
    OtherParameters {
        /// The file.
        path: PathBuf,
        /// The parameters of the file.
        found: String,
        /// The parameters of this process.
        expected: String,
    },
    /// Another program made the file shorter while it was in use.
    #[error("{} was truncated by another program while it was in use", .0.display())]
    Truncated(PathBuf),
    /// A file operation failed.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The result of anything that uses the file of seen pages.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn io(path: &Path, source: io::Error) -> Error {
        Error::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// Who has to act on the error.
    pub fn fault(&self) -> Fault {
        match self {
            Error::NotSeenPages(_) | Error::TooNew { .. } | Error::OtherParameters { .. } => {
                Fault::Usage
            }
            Error::Truncated(_) => Fault::Corrupted,
            Error::Io { source, .. } => Fault::of_io(source),
        }
    }

    /// What to do about the error, in one line.
    pub fn hint(&self) -> Option<String> {
        Some(
            match self {
                Error::NotSeenPages(_) => {
                    "it was not changed; use the name of a new file, or one that `cento watch` made"
                }
                Error::TooNew { .. } => "update cento",
                Error::OtherParameters { .. } => {
                    "use one file for each kind of label file, or labels of the same content"
                }
                Error::Truncated(_) => "the pages that it has lost are not recognised; start again",
                Error::Io { .. } => return None,
            }
            .to_owned(),
        )
    }
}
