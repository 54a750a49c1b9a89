//! What can go wrong with a file of labels, sorted by whose turn it is to act.

use std::io;
use std::path::{Path, PathBuf};

/// An error from reading or writing labels.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file does not begin as one of labels does.
    #[error("{} is no file of labels", .0.display())]
    NotLabels(PathBuf),
    /// The file was written by a newer program.
    #[error("{} has format version {found}; this program reads up to {newest}", .path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that is read.
        newest: u32,
    },
    /// The file does not hold what it says it holds.
    #[error("{} is damaged: {detail}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        detail: String,
    },
    /// Labels that were made differently are to be used together, or with a corpus that was made
    /// differently.
    #[error("{} was made with {name} {found}, not {wanted}", .path.display())]
    Unlike {
        /// The file.
        path: PathBuf,
        /// What differs.
        name: &'static str,
        /// What the file has.
        found: String,
        /// What it is to be used with.
        wanted: String,
    },
    /// Hashes did not come in order: a mistake of the program.
    #[error("labels must be written in order")]
    Disorder,
    /// More labels than one file can number.
    #[error("more than 4294967295 labels do not fit in one file")]
    TooMany,
    /// A file operation failed.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// The result of anything that touches labels.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What to do about it, as one line for people.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::NotLabels(_) => {
                Some("make one with `cento discover CORPUS -o NAME.labels`".to_owned())
            }
            Error::TooNew { .. } => Some("install a newer cento to read it".to_owned()),
            Error::Damaged { .. } => {
                Some("restore it from a copy, or discover the labels again".to_owned())
            }
            Error::Unlike { name, found, .. } => Some(format!(
                "use {name} {found} on both sides: index again, or discover the labels again"
            )),
            Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("make labels with `cento discover CORPUS -o NAME.labels`".to_owned())
            }
            Error::TooMany => Some("use several files of labels".to_owned()),
            Error::Disorder | Error::Io { .. } => None,
        }
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Error {
        Error::Io {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn damaged(path: &Path, detail: impl Into<String>) -> Error {
        Error::Damaged {
            path: path.to_owned(),
            detail: detail.into(),
        }
    }
}
