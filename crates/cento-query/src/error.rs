//! The errors of indexes and queries, sorted by who has to act on them.

use std::io;
use std::path::{Path, PathBuf};

use cento_file::Fault;

/// An error from building, opening or querying an index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading a corpus, or running the flow that builds an index, failed.
    #[error(transparent)]
    Find(#[from] cento_find::Error),
    /// The corpus has no index for queries.
    #[error("{} has no index for queries", .0.display())]
    NotIndexed(PathBuf),
    /// The corpus has changed since its index was built.
    #[error("the index of {} does not cover all of its pages", .0.display())]
    Outdated(PathBuf),
    /// Another process is writing the index.
    #[error("another process is writing the index of {}", .0.display())]
    Busy(PathBuf),
    /// The index was written by a newer version of cento.
    #[error("{} has format version {found}; this version of cento reads up to {newest}", .path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format version.
        found: u32,
        /// The newest supported format version.
        newest: u32,
    },
    /// A file of the index is corrupted.
    #[error("{} is corrupted: {detail}", .path.display())]
    Corrupted {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A setting is out of range.
    #[error("{0}")]
    Usage(String),
    /// The corpus does not have what was asked for.
    #[error("{0}")]
    Unsuitable(String),
    /// A file operation failed.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns who has to act on the error.
    pub fn fault(&self) -> Fault {
        match self {
            Error::Find(error) => error.fault(),
            Error::NotIndexed(_) | Error::TooNew { .. } | Error::Usage(_) => Fault::Usage,
            Error::Outdated(_) | Error::Unsuitable(_) => Fault::Unsuitable,
            Error::Busy(_) => Fault::Environment,
            Error::Corrupted { .. } => Fault::Corrupted,
            Error::Io { source, .. } => Fault::of_io(source),
        }
    }

    /// Returns what to do about the error, as one line for users.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Find(error) => error.hint(),
            Error::NotIndexed(path) | Error::Outdated(path) => Some(format!(
                "`cento query {} PAGE` builds or extends it",
                path.display()
            )),
            Error::Busy(_) => Some("wait until it has finished, and try again".to_owned()),
            Error::TooNew { .. } => Some("install a newer cento to read it".to_owned()),
            Error::Corrupted { path, .. } => {
                let folder = path.parent().unwrap_or(path);
                Some(format!(
                    "remove the folder {}; the next query builds the index again",
                    folder.display()
                ))
            }
            Error::Usage(_) => Some("--help describes the options and their defaults".to_owned()),
            Error::Unsuitable(_) => None,
            Error::Io { source, .. } => match Fault::of_io(source) {
                Fault::OutOfSpace => Some("free some space and run the same command again".into()),
                _ if matches!(
                    source.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
                {
                    Some(
                        "the index for queries is part of the corpus: copy the corpus to a folder \
                         that you can write to, or build the index where you can, with `cento query` \
                         or `cento index --query`"
                            .into(),
                    )
                }
                _ => None,
            },
        }
    }

    pub(crate) fn corrupted(path: &Path, detail: impl Into<String>) -> Error {
        Error::Corrupted {
            path: path.to_owned(),
            detail: detail.into(),
        }
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Error {
        Error::Io {
            path: path.to_owned(),
            source,
        }
    }
}

impl From<cento_store::Error> for Error {
    fn from(error: cento_store::Error) -> Error {
        Error::Find(error.into())
    }
}

impl From<cento_flow::Error> for Error {
    fn from(error: cento_flow::Error) -> Error {
        Error::Find(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_for_a_read_only_corpus_says_what_to_do() {
        for kind in [
            io::ErrorKind::ReadOnlyFilesystem,
            io::ErrorKind::PermissionDenied,
        ] {
            let error = Error::io(Path::new("c.cento/query"), kind.into());
            let hint = error.hint().unwrap_or_default();
            assert!(hint.contains("copy the corpus to a folder that you can write to"));
        }
        let other = Error::io(Path::new("c.cento/query"), io::ErrorKind::TimedOut.into());
        assert_eq!(other.hint(), None);
    }
}
