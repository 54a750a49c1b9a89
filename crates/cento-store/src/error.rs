//! Errors of a corpus, and who has to act on them.

use std::io;
use std::path::{Path, PathBuf};

use cento_file::Fault;

use crate::input_changes::InputChanges;

/// An error from building, opening or reading a corpus.
///
/// [`Error::fault`] says who has to act, [`Error::hint`] what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path is not a corpus: it has no manifest.
    #[error("{} is not a cento corpus: it has no manifest.json", .0.display())]
    NotACorpus(PathBuf),
    /// The output path exists and is not a corpus.
    #[error("{} exists and is not a cento corpus", .0.display())]
    PathTaken(PathBuf),
    /// The output path is a complete corpus, and nothing is to be added to it.
    #[error("{} is already a complete corpus", .0.display())]
    AlreadyComplete(PathBuf),
    /// The corpus to be extended does not exist.
    #[error("{} does not exist, so nothing can be added to it", .0.display())]
    NoCorpusToAddTo(PathBuf),
    /// The corpus was made from other inputs, or its inputs were read in another way.
    #[error("{} was made from other inputs: {detail}", .path.display())]
    InputsDiffer {
        /// The corpus.
        path: PathBuf,
        /// The first difference.
        detail: String,
    },
    /// Inputs of the corpus have changed since they were indexed, or are not among the inputs any
    /// more.
    #[error("{}", .changes.sentence(.path))]
    InputsChanged {
        /// The corpus.
        path: PathBuf,
        /// What has changed.
        changes: Box<InputChanges>,
    },
    /// Inputs to be added are in the corpus with other content.
    #[error(
        "{names} {} in {} with other content",
        if *.count == 1 { "is" } else { "are" },
        .path.display()
    )]
    AddsChangedInputs {
        /// The corpus.
        path: PathBuf,
        /// Some of the inputs.
        names: String,
        /// The number of them.
        count: u64,
    },
    /// The corpus was made with other parameters than requested.
    #[error("{} was made with {name} {found}, not {requested}", .path.display())]
    ParametersDiffer {
        /// The corpus.
        path: PathBuf,
        /// The parameter that differs.
        name: &'static str,
        /// Its value in the corpus.
        found: String,
        /// The value that was requested.
        requested: String,
    },
    /// The last run over the corpus was interrupted, so pages are missing.
    #[error("{} is unfinished: its last index was interrupted after {pages} pages", .path.display())]
    Unfinished {
        /// The corpus.
        path: PathBuf,
        /// The number of pages in it.
        pages: u64,
    },
    /// The corpus has a format version that this program does not know.
    #[error("{} has format version {found}; this program reads up to {newest}", .path.display())]
    TooNew {
        /// The corpus.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that this program reads.
        newest: u32,
    },
    /// The corpus was made without text, and the request needs it.
    #[error("{} has no text: it was made with --no-text", .0.display())]
    NoText(PathBuf),
    /// The inputs contain no page.
    #[error("no pages in the input{}", .0)]
    NoPages(String),
    /// A file is not what the manifest says.
    #[error("{} is corrupted: {detail}", .path.display())]
    Corrupted {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A Parquet file cannot be read.
    #[error("{}: {source}", .path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The error of the Parquet library.
        source: parquet::errors::ParquetError,
    },
    /// Another process is writing to the corpus.
    #[error("{} is being written by another process", .0.display())]
    Busy(PathBuf),
    /// A file operation failed.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The inputs cannot be read.
    #[error(transparent)]
    Read(#[from] cento_read::Error),
    /// The user stopped the run.
    #[error("interrupted")]
    Cancelled,
    /// A thread of the build panicked.
    #[error("internal error: a thread of the index panicked: {0}")]
    Panicked(String),
    /// Something that cannot happen did.
    #[error("internal error: {0}")]
    Internal(String),
}

/// The result of anything that touches a corpus.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Who has to act on the error.
    pub fn fault(&self) -> Fault {
        match self {
            Error::NotACorpus(_)
            | Error::PathTaken(_)
            | Error::AlreadyComplete(_)
            | Error::NoCorpusToAddTo(_)
            | Error::InputsDiffer { .. }
            | Error::InputsChanged { .. }
            | Error::AddsChangedInputs { .. }
            | Error::ParametersDiffer { .. }
            | Error::Unfinished { .. } => Fault::Usage,
            Error::TooNew { .. } | Error::NoText(_) | Error::NoPages(_) => Fault::Unsuitable,
            Error::Corrupted { .. } | Error::Parquet { .. } => Fault::Corrupted,
            Error::Busy(_) => Fault::Environment,
            Error::Io { source, .. } => Fault::of_io(source),
            Error::Read(error) => error.fault(),
            Error::Cancelled => Fault::Interrupted,
            Error::Panicked(_) | Error::Internal(_) => Fault::Bug,
        }
    }

    /// What to do about the error, in one line.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::NotACorpus(path) => {
                format!("make one with `cento index INPUT… -o {}`", path.display())
            }
            Error::PathTaken(_) => "choose another name with -o, or remove it".to_owned(),
            Error::AlreadyComplete(_) => {
                "use --add to add pages to it, or choose another name with -o".to_owned()
            }
            Error::NoCorpusToAddTo(_) => "omit --add to make a new corpus".to_owned(),
            Error::InputsDiffer { .. } => {
                "use the same inputs and options, or choose another corpus with -o".to_owned()
            }
            Error::InputsChanged { changes, .. } => changes.hint(),
            Error::AddsChangedInputs { .. } => {
                "--repeat adds the new content beside the old; --refresh in place of --add, with all \
                 inputs, replaces the corpus"
                    .to_owned()
            }
            Error::ParametersDiffer { name, found, .. } => {
                format!("use {name} {found} here as well, or index into another corpus")
            }
            Error::Unfinished { .. } => {
                "run the same `cento index` again to finish it, or use --partial to analyse the \
                 pages that are there"
                    .to_owned()
            }
            Error::TooNew { .. } => "install a newer cento to read it".to_owned(),
            Error::NoText(_) => "index again without --no-text".to_owned(),
            Error::NoPages(_) => {
                "check the paths and --format; for tables, name the columns with --field text=NAME"
                    .to_owned()
            }
            Error::Corrupted { .. } => {
                "restore it from a backup, or index again; `cento info --verify` names every \
                 corrupted file"
                    .to_owned()
            }
            Error::Busy(_) => "wait for the other process to end".to_owned(),
            Error::Io { source, .. } => match Fault::of_io(source) {
                Fault::OutOfSpace => {
                    "free some space and run the same command again: it resumes after the last \
                     finished part"
                        .to_owned()
                }
                _ if matches!(
                    source.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
                {
                    "choose a place that you may write to with -o".to_owned()
                }
                _ => return None,
            },
            Error::Read(error) => return error.hint(),
            Error::Cancelled => {
                "finished parts are kept: run the same command again to resume".to_owned()
            }
            Error::Panicked(_) | Error::Internal(_) => cento_file::bug_hint(),
            Error::Parquet { .. } => return None,
        })
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Error {
        Error::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// An error of the Parquet library at `path`. An I/O error beneath it stays an I/O error, so
    /// that a full disk gets its hint.
    pub(crate) fn parquet(path: &Path, source: parquet::errors::ParquetError) -> Error {
        use parquet::errors::ParquetError;
        match source {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(io) => Error::io(path, *io),
                Err(inner) => Error::Parquet {
                    path: path.to_owned(),
                    source: ParquetError::External(inner),
                },
            },
            source => Error::Parquet {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_classified_by_who_has_to_act() {
        let path = PathBuf::from("a.cento");
        let io = |kind: io::ErrorKind| Error::io(Path::new("a.cento"), kind.into());
        for (error, fault) in [
            (Error::NotACorpus(path.clone()), Fault::Usage),
            (Error::NoText(path.clone()), Fault::Unsuitable),
            (Error::corrupted(&path, "it is missing"), Fault::Corrupted),
            (io(io::ErrorKind::StorageFull), Fault::OutOfSpace),
            (io(io::ErrorKind::PermissionDenied), Fault::Environment),
            (Error::Cancelled, Fault::Interrupted),
            (Error::Panicked("why".to_owned()), Fault::Bug),
        ] {
            assert_eq!(error.fault(), fault, "{error}");
            assert!(error.hint().is_some(), "{error}");
        }
    }
}
