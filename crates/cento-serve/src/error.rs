//! Errors of a site: before it starts, and in answer to one request.

use std::path::{Path, PathBuf};

use axum::http::StatusCode;
use cento_file::Fault;

/// Why a site cannot start or continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Settings that would expose the site to strangers.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: &'static str,
    },
    /// Another server writes the verdicts.
    #[error("another server uses the verdicts in {}", .0.display())]
    Busy(PathBuf),
    /// An error of the corpus or its findings.
    #[error(transparent)]
    Find(#[from] cento_find::Error),
    /// An error of the label file.
    #[error(transparent)]
    Labels(#[from] cento_labels::Error),
    /// An error of the index for questions.
    #[error(transparent)]
    Query(#[from] cento_query::Error),
    /// A failed file operation.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or the address.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The record of a run that cannot be trusted.
    #[error("{} is corrupted: its checksum does not match its content", .0.display())]
    CorruptedRecord(PathBuf),
    /// A file of verdicts that cannot be read.
    #[error("{} is corrupted: {detail}", path.display())]
    Corrupted {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
}

/// The result of preparing a site.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Error {
        Error::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// Returns who is responsible.
    pub fn fault(&self) -> Fault {
        match self {
            Error::Usage { .. } => Fault::Usage,
            Error::Busy(_) => Fault::Unsuitable,
            Error::Find(error) => error.fault(),
            Error::Labels(error) => error.fault(),
            Error::Query(error) => error.fault(),
            Error::Io { source, .. } => Fault::of_io(source),
            Error::CorruptedRecord(_) | Error::Corrupted { .. } => Fault::Corrupted,
        }
    }

    /// Returns what the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Usage { hint, .. } => Some((*hint).to_owned()),
            Error::Busy(_) => {
                Some("stop the other server, or choose another folder with --verdicts".to_owned())
            }
            Error::Find(error) => error.hint(),
            Error::Labels(error) => error.hint(),
            Error::Query(error) => error.hint(),
            Error::Io { source, .. } => match source.kind() {
                std::io::ErrorKind::AddrInUse => {
                    Some("choose another port with --listen".to_owned())
                }
                _ => None,
            },
            Error::CorruptedRecord(_) => {
                Some("run the analysis again: it then computes these results anew".to_owned())
            }
            Error::Corrupted { .. } => {
                Some("choose another folder with --verdicts, and report the damage".to_owned())
            }
        }
    }
}

impl From<cento_store::Error> for Error {
    fn from(error: cento_store::Error) -> Error {
        Error::Find(error.into())
    }
}

/// Why one request has no answer: a status, and a sentence for the reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Refusal {
        Refusal {
            status,
            message: message.into(),
        }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn missing(message: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, message)
    }

    pub(crate) fn busy() -> Refusal {
        Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "The server is busy. Try again in a few seconds.",
        )
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl From<cento_find::Error> for Refusal {
    fn from(error: cento_find::Error) -> Refusal {
        Error::from(error).into()
    }
}

impl From<cento_store::Error> for Refusal {
    fn from(error: cento_store::Error) -> Refusal {
        match error {
            cento_store::Error::NoText(_) => Refusal::missing(
                "The corpus was indexed with --no-text, so that its texts cannot be shown.",
            ),
            error => Error::from(error).into(),
        }
    }
}
