//! What can go wrong, sorted by whose turn it is to act.

use std::io;
use std::path::{Path, PathBuf};

/// An error from making, checking or scoring.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Settings that contradict each other or themselves.
    #[error("{message}")]
    Settings {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
    /// The folder has something else in it.
    #[error("{} is not empty, and no synthetic crawl is in it", .0.display())]
    InTheWay(PathBuf),
    /// The folder holds a crawl that is done.
    #[error("{} already holds a complete synthetic crawl", .0.display())]
    Complete(PathBuf),
    /// The folder holds a crawl that was begun with other settings.
    #[error("{} was begun with other settings", .0.display())]
    OtherSettings(PathBuf),
    /// No truth where it was looked for.
    #[error("no truth found: {0}")]
    NoTruth(String),
    /// A line of a truth file is not what it should be.
    #[error("{} line {line}: {detail}", .path.display())]
    BadTruth {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        detail: String,
    },
    /// The truth is of a version that this program does not know.
    #[error("{} has version {found}; this program reads up to {newest}", .path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version this program reads.
        newest: u32,
    },
    /// Findings that cannot be scored.
    #[error("{} cannot be scored: {detail}", .path.display())]
    BadFindings {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
        /// What to do.
        hint: String,
    },
    /// The user stopped the run.
    #[error("interrupted")]
    Cancelled,
    /// A page does not read as it was written: ours to mend.
    #[error("{url} does not read as it was written: {detail}")]
    Misread {
        /// The page.
        url: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A corpus.
    #[error(transparent)]
    Store(#[from] cento_store::Error),
    /// A file operation failed.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// The result of anything here.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn wrong(message: String, hint: &str) -> Error {
        Error::Settings {
            message,
            hint: hint.to_owned(),
        }
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Error {
        Error::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// What to do about it, as one line for people.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Settings { hint, .. } | Error::BadFindings { hint, .. } => hint.clone(),
            Error::InTheWay(_) => "choose an empty or a new folder with -o".to_owned(),
            Error::Complete(_) => {
                "use --force to make it anew, or choose another folder with -o".to_owned()
            }
            Error::OtherSettings(_) => {
                "give the same settings to go on with it, or --force to make it anew".to_owned()
            }
            Error::NoTruth(_) => "say where it is with --truth FILE".to_owned(),
            Error::BadTruth { .. } => "make it again with `cento synth`".to_owned(),
            Error::TooNew { .. } => "install a newer cento to read it".to_owned(),
            Error::Store(error) => return error.hint(),
            Error::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "check the spelling of the path".to_owned(),
                io::ErrorKind::PermissionDenied => "check who may read and write there".to_owned(),
                io::ErrorKind::StorageFull => {
                    "make room, then give the same command to go on".to_owned()
                }
                _ => return None,
            },
            Error::Cancelled | Error::Misread { .. } => return None,
        })
    }
}
