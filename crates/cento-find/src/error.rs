//! What can go wrong with an analysis, sorted by whose turn it is to act.

use std::io;
use std::path::{Path, PathBuf};

/// An error from an analysis.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The corpus.
    #[error(transparent)]
    Store(#[from] cento_store::Error),
    /// The inputs of a corpus.
    #[error(transparent)]
    Read(#[from] cento_read::Error),
    /// The engine.
    #[error(transparent)]
    Flow(#[from] cento_flow::Error),
    /// A file of labels.
    #[error(transparent)]
    Labels(#[from] cento_labels::Error),
    /// A parameter that makes no sense.
    #[error("{0}")]
    Parameter(String),
    /// An input that would be written over itself.
    #[error("{0} would be written over itself")]
    OverItself(String),
    /// An input that is not what it was when the corpus was made.
    #[error("{0} has changed since it was indexed")]
    Changed(String),
    /// Two inputs that would be written to one file.
    #[error("{} and {} would both be written to {}", .inputs[0], .inputs[1], .output.display())]
    OneOutput {
        /// The file.
        output: PathBuf,
        /// The inputs.
        inputs: [String; 2],
    },
    /// An output that is there already.
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
    /// More pages than can be numbered in one run.
    #[error("{0} pages are more than one analysis can number")]
    TooManyPages(u64),
    /// Findings that were asked for and are not there.
    #[error("{} has no findings of {analysis}", .corpus.display())]
    NoFindings {
        /// The corpus.
        corpus: PathBuf,
        /// Which analysis.
        analysis: String,
    },
    /// Findings that are not what was written.
    #[error("{} is damaged: {detail}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A file operation failed.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// The result of anything that an analysis does.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What to do about it, as one line for people.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Store(error) => error.hint(),
            Error::Read(error) => error.hint(),
            Error::Flow(error) => error.hint(),
            Error::Labels(error) => error.hint(),
            Error::Parameter(_) => Some("--help tells what values there are".to_owned()),
            Error::OverItself(_) => Some(
                "choose a folder with --output that holds no inputs and lies in none".to_owned(),
            ),
            Error::Changed(_) => Some(
                "index it again: records are known by their numbers, and these may be others now"
                    .to_owned(),
            ),
            Error::OneOutput { .. } => {
                Some("give --filter the inputs to write, one at a time".to_owned())
            }
            Error::Exists(_) => Some(
                "choose an empty folder with --output, or replace what is there with --overwrite"
                    .to_owned(),
            ),
            Error::TooManyPages(_) => Some("index it as several corpora".to_owned()),
            Error::NoFindings { corpus, analysis } => Some(format!(
                "make them with `cento {analysis} {}`",
                corpus.display()
            )),
            Error::Damaged { .. } => Some(
                "give the command that made these findings again: damaged ones are computed anew"
                    .to_owned(),
            ),
            Error::Io { .. } => None,
        }
    }

    pub(crate) fn damaged(path: &Path, detail: &str) -> Error {
        Error::Damaged {
            path: path.to_owned(),
            detail: detail.to_owned(),
        }
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Error {
        Error::Io {
            path: path.to_owned(),
            source,
        }
    }
}
