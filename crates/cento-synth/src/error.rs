//! Errors of synthetic crawls, and who has to act on them.

use std::io;
use std::path::{Path, PathBuf};

use cento_file::Fault;

/// An error from writing a crawl, checking a corpus or scoring results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Invalid settings.
    #[error("{message}")]
    Settings {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
    /// The folder contains something else.
    #[error("{} is not empty and not a synthetic crawl", .0.display())]
    NotEmpty(PathBuf),
    /// The folder contains a complete crawl.
    #[error("{} is already a complete synthetic crawl", .0.display())]
    AlreadyComplete(PathBuf),
    /// The folder contains an unfinished crawl with other settings.
    #[error("{} was started with other settings", .0.display())]
    SettingsDiffer(PathBuf),
    /// There is no truth file.
    #[error("no truth file found: {0}")]
    NoTruth(String),
    /// A line of a truth file is invalid.
    #[error("{} line {line}: {detail}", .path.display())]
    BadTruth {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        detail: String,
    },
    /// The truth file has a version that this program does not know.
    #[error("{} has version {found}; this program reads up to {newest}", .path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that this program reads.
        newest: u32,
    },
    /// Results that cannot be scored.
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
    /// A generated page is not read as it was written.
    #[error("internal error: {url} is not read as it was written: {detail}")]
    Misread {
        /// The page.
        url: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The corpus cannot be read.
    #[error(transparent)]
    Store(#[from] cento_store::Error),
    /// A file operation failed.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The result of the functions of this crate.
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

    /// Who has to act on the error.
    pub fn fault(&self) -> Fault {
        match self {
            Error::Settings { .. }
            | Error::NotEmpty(_)
            | Error::AlreadyComplete(_)
            | Error::SettingsDiffer(_)
            | Error::NoTruth(_) => Fault::Usage,
            Error::BadFindings { .. } | Error::TooNew { .. } => Fault::Unsuitable,
            Error::BadTruth { .. } => Fault::Corrupted,
            Error::Cancelled => Fault::Interrupted,
            Error::Misread { .. } => Fault::Bug,
            Error::Store(error) => error.fault(),
            // Findings or a truth that do not exist.
            Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => Fault::Usage,
            Error::Io { source, .. } => Fault::of_io(source),
        }
    }

    /// What to do about the error, in one line.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Settings { hint, .. } | Error::BadFindings { hint, .. } => hint.clone(),
            Error::NotEmpty(_) => "choose an empty or a new folder with -o".to_owned(),
            Error::AlreadyComplete(_) => {
                "use --force to replace it, or choose another folder with -o".to_owned()
            }
            Error::SettingsDiffer(_) => {
                "use the same settings to resume it, or --force to replace it".to_owned()
            }
            Error::NoTruth(_) => "name the file with --truth FILE".to_owned(),
            Error::BadTruth { .. } => "write it again with `cento synth`".to_owned(),
            Error::TooNew { .. } => "install a newer cento to read it".to_owned(),
            Error::Store(error) => return error.hint(),
            Error::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "check the spelling of the path".to_owned(),
                io::ErrorKind::PermissionDenied => "check the permissions of the path".to_owned(),
                io::ErrorKind::StorageFull => {
                    "free some space and run the same command again: it resumes".to_owned()
                }
                _ => return None,
            },
            Error::Misread { .. } => cento_file::bug_hint(),
            Error::Cancelled => return None,
        })
    }
}
