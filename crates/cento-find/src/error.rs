//! The errors of an analysis, sorted by who has to act on them.

use std::io;
use std::path::{Path, PathBuf};

use cento_file::{Fault, bug_hint};

/// An error of an analysis.
///
/// [`Error::fault`] says who has to act on it, [`Error::hint`] what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Opening or reading a corpus failed.
    #[error(transparent)]
    Store(#[from] cento_store::Error),
    /// Reading an input of a corpus failed.
    #[error(transparent)]
    Read(#[from] cento_read::Error),
    /// Running a flow failed.
    #[error(transparent)]
    Flow(#[from] cento_flow::Error),
    /// Reading or writing a file of labels failed.
    #[error(transparent)]
    Labels(#[from] cento_labels::Error),
    /// A parameter is out of range, or parameters contradict each other.
    #[error("{0}")]
    Usage(String),
    /// No page to compare has this URL.
    #[error("the corpus has no page with text and the URL {0}")]
    UnknownUrl(String),
    /// The parameters are valid, but this corpus has nothing to analyse, or lacks what the analysis
    /// reads.
    #[error("{0}")]
    Unsuitable(String),
    /// A file does not contain what its writer stored in it.
    #[error("{} is corrupted: {detail}", .path.display())]
    Corrupted {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// An input would be overwritten by its own filtered copy.
    #[error("{0} would overwrite itself")]
    OverItself(String),
    /// An input has changed since the corpus was made.
    #[error("{0} has changed since it was indexed")]
    Changed(String),
    /// Two inputs would be written to one file.
    #[error("{} and {} would both be written to {}", .inputs[0], .inputs[1], .output.display())]
    OneOutput {
        /// The file.
        output: PathBuf,
        /// The inputs.
        inputs: [String; 2],
    },
    /// An output file exists already.
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    /// The corpus has more pages than one analysis can number.
    #[error("{0} pages are more than one analysis can number")]
    TooManyPages(u64),
    /// A file operation failed.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An invariant of this crate does not hold.
    #[error("internal error: {0}")]
    Bug(String),
}

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns who has to act on the error.
    pub fn fault(&self) -> Fault {
        match self {
            Error::Store(error) => error.fault(),
            Error::Read(error) => error.fault(),
            Error::Flow(error) => flow_fault(error),
            Error::Labels(error) => error.fault(),
            Error::Usage(_)
            | Error::UnknownUrl(_)
            | Error::OverItself(_)
            | Error::OneOutput { .. }
            | Error::Exists(_) => Fault::Usage,
            Error::Unsuitable(_) | Error::Changed(_) | Error::TooManyPages(_) => Fault::Unsuitable,
            Error::Corrupted { .. } => Fault::Corrupted,
            Error::Io { source, .. } => Fault::of_io(source),
            Error::Bug(_) => Fault::Bug,
        }
    }

    /// Returns what to do about the error, as one line for users.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Store(error) => error.hint(),
            Error::Read(error) => error.hint(),
            Error::Flow(cento_flow::Error::Stage { source, .. }) => {
                source.downcast_ref::<Error>().and_then(Error::hint)
            }
            Error::Flow(error) => error.hint(),
            Error::Labels(error) => error.hint(),
            Error::Usage(_) => Some("--help describes the options and their defaults".to_owned()),
            Error::UnknownUrl(_) => Some(
                "use the URL as in the table of pages: with its scheme, or a path with its folders"
                    .to_owned(),
            ),
            Error::Unsuitable(_) => None,
            Error::Corrupted { .. } => Some(
                "run the command that wrote it again: corrupted results are computed anew"
                    .to_owned(),
            ),
            Error::OverItself(_) => Some(
                "choose an --output folder that neither contains inputs nor lies in their folder"
                    .to_owned(),
            ),
            Error::Changed(_) => Some(
                "index it again: pages are identified by record numbers, which may have shifted"
                    .to_owned(),
            ),
            Error::OneOutput { .. } => Some("filter these inputs one at a time".to_owned()),
            Error::Exists(_) => Some(
                "choose an empty folder with --output, or replace existing files with --overwrite"
                    .to_owned(),
            ),
            Error::TooManyPages(_) => Some("index it as several corpora".to_owned()),
            Error::Io { source, .. } => match (Fault::of_io(source), source.kind()) {
                (Fault::OutOfSpace, _) => {
                    Some("free some space and run the same command again".into())
                }
                (_, io::ErrorKind::ReadOnlyFilesystem) => {
                    Some("--findings writes the results to another folder".into())
                }
                _ => None,
            },
            Error::Bug(_) => Some(bug_hint()),
        }
    }

    pub(crate) fn corrupted(path: &Path, detail: impl Into<String>) -> Error {
        Error::Corrupted {
            path: path.to_owned(),
            detail: detail.into(),
        }
    }

    /// Returns the error for a file that cannot be read or written.
    pub fn io(path: &Path, source: io::Error) -> Error {
        Error::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// Returns the fault of an error of the engine. A stage that failed with an error of this crate has
/// the fault of that error.
fn flow_fault(error: &cento_flow::Error) -> Fault {
    match error {
        cento_flow::Error::Stage { source, .. } => {
            let own = source.downcast_ref::<Error>();
            own.map_or(Fault::Bug, Error::fault)
        }
        error => error.fault(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_has_the_fault_and_the_hint_of_the_error_it_failed_with() {
        let inside = |error: Error| {
            Error::Flow(cento_flow::Error::Stage {
                stage: "texts".into(),
                task: 3,
                source: Box::new(error),
            })
        };
        let corrupted = inside(Error::corrupted(
            Path::new("pages.parquet"),
            "it is missing",
        ));
        assert_eq!(corrupted.fault(), Fault::Corrupted);
        assert!(corrupted.hint().is_some_and(|hint| hint.contains("again")));
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(
            inside(Error::io(Path::new("x"), full)).fault(),
            Fault::OutOfSpace
        );
        assert_eq!(inside(Error::Bug("no page 7".into())).fault(), Fault::Bug);
        let unsuitable = Error::Unsuitable("the corpus has no text".into());
        assert_eq!(unsuitable.fault(), Fault::Unsuitable);
    }
}
