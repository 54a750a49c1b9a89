//! Errors that stop reading, with a hint for the user.

use std::io;

use cento_file::Fault;

use crate::remote::{TransferFailure, transfer_failure};
use crate::{Format, RemoteErrorKind, Role};

/// Why an input cannot be found or read. A damaged record is not an error but a
/// [`Skipped`](crate::Skipped) item.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path does not exist.
    #[error("{name}: no such file or folder")]
    NotFound {
        /// The path, as typed.
        name: String,
    },
    /// The user may not read a path.
    #[error("{name}: permission denied")]
    Permission {
        /// The path.
        name: String,
    },
    /// A pattern matches nothing.
    #[error("{pattern}: no file matches this pattern")]
    NoMatch {
        /// The pattern, as typed.
        pattern: String,
    },
    /// A pattern is invalid.
    #[error("{pattern}: invalid pattern: {problem}")]
    BadPattern {
        /// The pattern, as typed.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A list names itself, directly or through other lists.
    #[error("@{name}: the list contains itself")]
    ListLoop {
        /// The list.
        name: String,
    },
    /// A list of inputs is too long, not text, or names too many other lists.
    #[error("@{name}: {problem}")]
    BadList {
        /// The list.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// No input was specified.
    #[error("no input was specified")]
    NoInput,
    /// A folder, or all inputs together, contain nothing that can be read.
    #[error("{name}: {problem}")]
    NothingToRead {
        /// The folder, or the first input.
        name: String,
        /// What was found instead.
        problem: String,
    },
    /// An input is in a known format that is not supported.
    #[error("{name}: {kind} is not supported")]
    Unsupported {
        /// The input.
        name: String,
        /// The format of the input.
        kind: String,
    },
    /// A `--format` that does not exist.
    #[error("unknown format `{name}`")]
    UnknownFormatName {
        /// What was typed.
        name: String,
    },
    /// A `--base-url` that is not an absolute URL.
    #[error("`{typed}` is not an absolute URL")]
    BadBaseUrl {
        /// What was typed.
        typed: String,
    },
    /// An invalid `--field`.
    #[error("--field {typed}: {problem}")]
    BadField {
        /// What was typed.
        typed: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The field that the user named does not occur in a table or a JSON Lines input.
    #[error("{name}: no field is called `{field}` ({role})")]
    NoSuchField {
        /// The input.
        name: String,
        /// What the field should contain.
        role: Role,
        /// The name of the field.
        field: String,
        /// The fields that exist.
        found: Vec<String>,
    },
    /// The user named no field for the text, and no field has one of the usual names.
    #[error("{name}: no field has a usual name for text")]
    NoTextField {
        /// The input.
        name: String,
        /// The fields that exist.
        found: Vec<String>,
    },
    /// The type of a column does not fit its role.
    #[error("{name}: column `{column}` of type {kind} cannot be used as {role}")]
    WrongColumnType {
        /// The input.
        name: String,
        /// The column.
        column: String,
        /// Its type.
        kind: String,
        /// What the column should contain.
        role: Role,
    },
    /// A stream is in a format that can only be read from a file.
    #[error("{name}: {format} cannot be read from a stream")]
    NeedsFile {
        /// The input.
        name: String,
        /// The format.
        format: Format,
    },
    /// A table cannot be opened.
    #[error("{name}: not a readable Parquet file: {problem}")]
    BadTable {
        /// The input.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A WACZ file cannot be opened.
    #[error("{name}: not a readable WACZ file: {problem}")]
    BadWacz {
        /// The input.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An input has more records than ordinals.
    #[error("{name}: more than {} records in one input", u32::MAX)]
    TooManyRecords {
        /// The input.
        name: String,
    },
    /// A remote input cannot be read.
    #[error("{name}: {detail}{}", tried(.tries))]
    Remote {
        /// The input, without credentials.
        name: String,
        /// The kind of error.
        kind: RemoteErrorKind,
        /// The problem in words.
        detail: String,
        /// The number of attempts.
        tries: u32,
    },
    /// The threads that read remote inputs cannot be started.
    #[error("cannot start reading from the network: {source}")]
    Network {
        /// The error of the operating system.
        source: io::Error,
    },
    /// The operating system cannot read the input.
    #[error("{name}: {source}")]
    Io {
        /// The input.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Error {
    /// Converts an error of the operating system about `name`.
    pub(crate) fn from_io(name: &str, source: io::Error) -> Self {
        if let Some(failure) = transfer_failure(&source) {
            return Error::from(failure.clone());
        }
        match source.kind() {
            io::ErrorKind::NotFound => Error::NotFound { name: name.into() },
            io::ErrorKind::PermissionDenied => Error::Permission { name: name.into() },
            _ => Error::Io {
                name: name.into(),
                source,
            },
        }
    }

    /// Whether the network or a server is down. This affects all remote inputs and is temporary, so
    /// it is better to stop and resume later than to skip inputs.
    pub fn is_outage(&self) -> bool {
        matches!(
            self,
            Error::Remote {
                kind: RemoteErrorKind::Unreachable,
                ..
            }
        )
    }

    /// Who has to act on the error.
    pub fn fault(&self) -> Fault {
        match self {
            Error::NotFound { .. }
            | Error::NoMatch { .. }
            | Error::BadPattern { .. }
            | Error::ListLoop { .. }
            | Error::BadList { .. }
            | Error::NoInput
            | Error::UnknownFormatName { .. }
            | Error::BadBaseUrl { .. }
            | Error::BadField { .. }
            | Error::NoSuchField { .. }
            | Error::NoTextField { .. }
            | Error::WrongColumnType { .. }
            | Error::NeedsFile { .. } => Fault::Usage,
            Error::NothingToRead { .. }
            | Error::Unsupported { .. }
            | Error::TooManyRecords { .. } => Fault::Unsuitable,
            Error::BadTable { .. } | Error::BadWacz { .. } => Fault::Corrupted,
            Error::Remote { kind, .. } => kind.fault(),
            Error::Permission { .. } | Error::Network { .. } => Fault::Environment,
            Error::Io { source, .. } => match source.kind() {
                io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => Fault::Corrupted,
                _ => Fault::of_io(source),
            },
        }
    }

    /// What the user can do, in one line.
    pub fn hint(&self) -> Option<String> {
        let names = |found: &[String]| match found {
            [] => "it has no fields".to_owned(),
            found => format!("it has: {}", listed(found)),
        };
        Some(match self {
            Error::NotFound { name } => match name.split_once("://") {
                Some(_) => "an input is a file, a folder, a pattern, an @list, - or an s3://, http:// or https:// URL".into(),
                None => "check the spelling; paths are relative to the current folder".into(),
            },
            Error::Permission { .. } => {
                "change its permissions, or run as a user who may read it".into()
            }
            Error::NoMatch { .. } | Error::BadPattern { .. } => {
                "in a pattern, * matches any characters, ** any folders, ? one character".into()
            }
            Error::ListLoop { .. } => "remove the line that names the list itself".into(),
            Error::BadList { .. } => {
                "a list is a UTF-8 text file, compressed or not, with one input a line".into()
            }
            Error::NoInput => "name a file, a folder, a pattern, an @list, or - for standard input".into(),
            Error::NothingToRead { .. } => format!(
                "supported formats: {}; set --format if neither name nor content shows the format",
                listed(&Format::ALL.map(|format| format.name().to_owned()))
            ),
            Error::Unsupported { .. } => "extract or convert it first".into(),
            Error::UnknownFormatName { .. } => format!(
                "supported formats: {}",
                listed(&Format::ALL.map(|format| format.name().to_owned()))
            ),
            Error::BadBaseUrl { .. } => "write it with its scheme, like https://example.org/docs/".into(),
            Error::BadField { .. } => format!(
                "write --field ROLE=NAME, for example text=body; roles: {}",
                listed(&Role::ALL.map(|role| role.name().to_owned()))
            ),
            Error::NoSuchField { role, found, .. } => {
                format!("name another with --field {role}=NAME; {}", names(found))
            }
            Error::NoTextField { found, .. } => {
                format!("name it with --field text=NAME or --field html=NAME; {}", names(found))
            }
            Error::WrongColumnType { .. } => {
                "text must be a string or bytes; a date must be a string, a date, a timestamp or an integer".into()
            }
            Error::NeedsFile { .. } => "save it to a file and name the file".into(),
            Error::BadTable { .. } | Error::BadWacz { .. } => "check that the file is complete, and copy it again if it is not".into(),
            Error::TooManyRecords { .. } => "split it into several files".into(),
            Error::Remote { name, kind, detail, .. } => kind.hint(name, detail),
            Error::Network { .. } => {
                "it needs a few threads: raise the limit on processes (ulimit -u) or on memory (ulimit -v)".into()
            }
            Error::Io { .. } => return None,
        })
    }
}

impl From<TransferFailure> for Error {
    fn from(failure: TransferFailure) -> Self {
        Error::Remote {
            name: failure.name,
            kind: failure.kind,
            detail: failure.detail,
            tries: failure.tries,
        }
    }
}

fn tried(tries: &u32) -> String {
    match tries {
        0 | 1 => String::new(),
        tries => format!(" (tried {tries} times)"),
    }
}

/// `a, b, c`, shortened if there are many.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 40;
    let mut list = names
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        list.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_whose_fault_it_is() {
        let name = || "a".to_owned();
        let remote = |kind| Error::Remote {
            name: name(),
            kind,
            detail: "b".into(),
            tries: 1,
        };
        let io = |kind: io::ErrorKind| Error::from_io("a", kind.into());
        for (error, fault) in [
            (Error::NoInput, Fault::Usage),
            (io(io::ErrorKind::NotFound), Fault::Usage),
            (
                Error::Unsupported {
                    name: name(),
                    kind: "LZMA".into(),
                },
                Fault::Unsuitable,
            ),
            (
                Error::BadTable {
                    name: name(),
                    problem: "b".into(),
                },
                Fault::Corrupted,
            ),
            (io(io::ErrorKind::InvalidData), Fault::Corrupted),
            (io(io::ErrorKind::StorageFull), Fault::OutOfSpace),
            (io(io::ErrorKind::PermissionDenied), Fault::Environment),
            (io(io::ErrorKind::ConnectionReset), Fault::Environment),
            (remote(RemoteErrorKind::Unreachable), Fault::Environment),
            (remote(RemoteErrorKind::Missing), Fault::Usage),
            (remote(RemoteErrorKind::Changed), Fault::Unsuitable),
        ] {
            assert_eq!(error.fault(), fault, "{error}");
        }
    }

    #[test]
    fn threads_that_cannot_be_started_come_with_a_hint() {
        let error = Error::Network {
            source: io::ErrorKind::WouldBlock.into(),
        };
        assert_eq!(error.fault(), Fault::Environment);
        assert!(error.hint().is_some_and(|hint| hint.contains("ulimit -u")));
    }
}
