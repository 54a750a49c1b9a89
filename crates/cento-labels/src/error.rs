//! Errors of label files.

use std::io;
use std::path::{Path, PathBuf};

use cento_file::{Fault, bug_hint};

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
    /// A sidecar file is not the one that was written with the labels.
    #[error("{} is corrupted: its checksum in {} does not match", .path.display(), .labels.display())]
    SidecarMismatch {
        /// The sidecar file.
        path: PathBuf,
        /// The labels.
        labels: PathBuf,
    },
    /// A sidecar file does not exist.
    #[error("{} is missing, which was written with {}", .path.display(), .labels.display())]
    SidecarMissing {
        /// The sidecar file.
        path: PathBuf,
        /// The labels.
        labels: PathBuf,
    },
    /// Labels cannot be used with labels or a corpus of another recipe.
    #[error("{}", recipe_mismatch(.path, .name, .found, .expected))]
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

/// Says how the recipe of a file differs.
fn recipe_mismatch(path: &Path, name: &str, found: &str, expected: &str) -> String {
    let path = path.display();
    match name {
        "of" => format!("{path} has labels of {found}, not of {expected}"),
        _ => format!("{path} was made with {name} {found}, not {expected}"),
    }
}

/// A [`Result`](std::result::Result) with the [`Error`] of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns who has to act on the error.
    pub fn fault(&self) -> Fault {
        match self {
            Error::NotLabels(_) | Error::TooNew { .. } | Error::RecipeMismatch { .. } => {
                Fault::Usage
            }
            Error::Corrupted { .. }
            | Error::SidecarMismatch { .. }
            | Error::SidecarMissing { .. } => Fault::Corrupted,
            Error::TooMany => Fault::Unsuitable,
            Error::Io { source, .. } => Fault::of_io(source),
            Error::NotSorted => Fault::Bug,
        }
    }

    /// Returns advice for the user as one line, if there is any.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::NotLabels(_) => {
                Some("make one with `cento discover CORPUS -o NAME.labels`".to_owned())
            }
            Error::TooNew { .. } => Some("install a newer cento to read it".to_owned()),
            Error::Corrupted { .. }
            | Error::SidecarMismatch { .. }
            | Error::SidecarMissing { .. } => {
                Some("restore it from a backup, or run `cento discover` again".to_owned())
            }
            Error::RecipeMismatch { name: "of", .. } => Some(
                "labels of files and labels of chunks cannot be used together: `cento discover --unit` makes either"
                    .to_owned(),
            ),
            Error::RecipeMismatch { name, found, .. } => Some(format!(
                "use {name} {found} for both: index the corpus again, or run `cento discover` again"
            )),
            Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("make labels with `cento discover CORPUS -o NAME.labels`".to_owned())
            }
            Error::TooMany => Some("use several label files".to_owned()),
            Error::NotSorted => Some(bug_hint()),
            Error::Io { .. } => None,
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
