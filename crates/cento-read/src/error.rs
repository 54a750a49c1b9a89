//! What stops reading, and what the user can do about it.

use std::io;

use cento_file::Fault;

use crate::remote::{Failure, lasting};
use crate::{Format, RemoteTrouble, Role};

/// What stops reading an input, or keeps it from being found. A damaged record is no error but a
/// [`Skipped`](crate::Skipped).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path names nothing.
    #[error("{name}: there is no such file or folder")]
    NotFound {
        /// The path, as typed.
        name: String,
    },
    /// A path may not be read.
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
    /// A pattern cannot be understood.
    #[error("{pattern}: not a pattern: {problem}")]
    BadPattern {
        /// The pattern, as typed.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A list names another list that names the first.
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
    /// Nothing was named at all.
    #[error("no input was given")]
    NoInput,
    /// A folder, or all inputs together, hold nothing that can be read.
    #[error("{name}: {problem}")]
    NothingToRead {
        /// The folder, or the first input.
        name: String,
        /// What was there instead.
        problem: String,
    },
    /// An input is in a format that is known but not read.
    #[error("{name}: {kind} is not a format that cento reads")]
    Unsupported {
        /// The input.
        name: String,
        /// The format that it is in.
        kind: String,
    },
    /// A `--format` that does not exist.
    #[error("`{name}` is not the name of a format")]
    UnknownFormatName {
        /// What was typed.
        name: String,
    },
    /// A `--base-url` that is none.
    #[error("`{typed}` is not an absolute URL")]
    BadBaseUrl {
        /// What was typed.
        typed: String,
    },
    /// A `--field` that cannot be understood.
    #[error("--field {typed}: {problem}")]
    BadField {
        /// What was typed.
        typed: String,
        /// What is wrong with it.
        problem: String,
    },
    /// No record of a table or of a JSON Lines input has the field that the user named.
    #[error("{name}: there is no field `{field}` ({role})")]
    NoSuchField {
        /// The input.
        name: String,
        /// What it was to hold.
        role: Role,
        /// The field.
        field: String,
        /// The fields that there are.
        found: Vec<String>,
    },
    /// The user named no field for the text, and none has a usual name.
    #[error("{name}: no field looks like it holds a text")]
    NoTextField {
        /// The input.
        name: String,
        /// The fields that there are.
        found: Vec<String>,
    },
    /// A column has a type that cannot hold what it is to hold.
    #[error("{name}: column `{column}` of type {kind} cannot be a {role}")]
    WrongColumnType {
        /// The input.
        name: String,
        /// The column.
        column: String,
        /// Its type.
        kind: String,
        /// What it was to hold.
        role: Role,
    },
    /// A format that can only be read from a file comes as a stream.
    #[error("{name}: {format} cannot be read from a stream")]
    NeedsFile {
        /// The input.
        name: String,
        /// The format.
        format: Format,
    },
    /// A table cannot be opened.
    #[error("{name}: not a readable Parquet table: {problem}")]
    BadTable {
        /// The input.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A zip of web archives cannot be opened.
    #[error("{name}: not a readable WACZ file: {problem}")]
    BadWacz {
        /// The input.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An input has more records than can be told apart.
    #[error("{name}: more than {} records in one input", u32::MAX)]
    TooManyRecords {
        /// The input.
        name: String,
    },
    /// An input on another machine cannot be had.
    #[error("{name}: {detail}{}", tried(.tries))]
    Remote {
        /// The input, as shown.
        name: String,
        /// What is the matter.
        trouble: RemoteTrouble,
        /// The same in words.
        detail: String,
        /// How often it was tried.
        tries: u32,
    },
    /// The threads that read from other machines cannot be started.
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
        /// What the system says.
        source: io::Error,
    },
}

impl Error {
    /// The error that the system gave for `name`, by what the user can do about it.
    pub(crate) fn from_io(name: &str, source: io::Error) -> Self {
        if let Some(failure) = lasting(&source) {
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

    /// Whether the network, or a server, is out of order rather than the input. All inputs suffer
    /// from that alike, and later it will have passed: it is better to stop and go on then than to
    /// do without what cannot be had now.
    pub fn is_outage(&self) -> bool {
        matches!(
            self,
            Error::Remote {
                trouble: RemoteTrouble::Unreachable,
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
            Error::Remote { trouble, .. } => trouble.fault(),
            Error::Permission { .. } | Error::Network { .. } => Fault::Environment,
            Error::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Fault::OutOfSpace,
                io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => Fault::Corrupted,
                _ => Fault::Environment,
            },
        }
    }

    /// What the user can do about it, in one line.
    pub fn hint(&self) -> Option<String> {
        let names = |found: &[String]| match found {
            [] => "it has no fields at all".to_owned(),
            found => format!("it has: {}", listed(found)),
        };
        Some(match self {
            Error::NotFound { name } => match name.split_once("://") {
                Some(_) => "what is read are files, folders, patterns, @lists, - and s3://, http:// and https:// URLs".into(),
                None => "check the spelling; paths are taken from the current folder".into(),
            },
            Error::Permission { .. } => {
                "make it readable, or run as a user who may read it".into()
            }
            Error::NoMatch { .. } | Error::BadPattern { .. } => {
                "in a pattern * stands for any characters, ** for any folders, ? for one character".into()
            }
            Error::ListLoop { .. } => "take the list out of itself".into(),
            Error::BadList { .. } => {
                "a list is a UTF-8 text file, compressed or not, with one input a line".into()
            }
            Error::NoInput => "name a file, a folder, a pattern, @list, or - for standard input".into(),
            Error::NothingToRead { .. } => format!(
                "cento reads {}; --format says which when neither name nor content tells",
                listed(&Format::ALL.map(|format| format.name().to_owned()))
            ),
            Error::Unsupported { .. } => "unpack or convert it first".into(),
            Error::UnknownFormatName { .. } => format!(
                "the formats are {}",
                listed(&Format::ALL.map(|format| format.name().to_owned()))
            ),
            Error::BadBaseUrl { .. } => "write it with its scheme, like https://example.org/docs/".into(),
            Error::BadField { .. } => format!(
                "write it like --field text=body; a field can hold {}",
                listed(&Role::ALL.map(|role| role.name().to_owned()))
            ),
            Error::NoSuchField { role, found, .. } => {
                format!("name another with --field {role}=NAME; {}", names(found))
            }
            Error::NoTextField { found, .. } => {
                format!("name it with --field text=NAME or --field html=NAME; {}", names(found))
            }
            Error::WrongColumnType { .. } => {
                "texts come from strings or bytes; dates from strings, dates, timestamps or integers".into()
            }
            Error::NeedsFile { .. } => "save it to a file and name that".into(),
            Error::BadTable { .. } | Error::BadWacz { .. } => "check that the file is complete; copy it again if not".into(),
            Error::TooManyRecords { .. } => "split it into several files".into(),
            Error::Remote { name, trouble, detail, .. } => trouble.hint(name, detail),
            Error::Network { .. } => {
                "it needs a few threads: raise the limit on processes (ulimit -u) or on memory (ulimit -v)".into()
            }
            Error::Io { .. } => return None,
        })
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Error::Remote {
            name: failure.name,
            trouble: failure.trouble,
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

/// `a, b, c`, cut short when there are very many.
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
        let remote = |trouble| Error::Remote {
            name: name(),
            trouble,
            detail: "b".into(),
            tries: 1,
        };
        let io = |kind: io::ErrorKind| Error::from_io("a", kind.into());
        for (error, fault) in [
            (Error::NoInput, Fault::Usage),
            (io(io::ErrorKind::NotFound), Fault::Usage),
            (Error::Unsupported { name: name(), kind: "LZMA".into() }, Fault::Unsuitable),
            (Error::BadTable { name: name(), problem: "b".into() }, Fault::Corrupted),
            (io(io::ErrorKind::InvalidData), Fault::Corrupted),
            (io(io::ErrorKind::StorageFull), Fault::OutOfSpace),
            (io(io::ErrorKind::PermissionDenied), Fault::Environment),
            (io(io::ErrorKind::ConnectionReset), Fault::Environment),
            (remote(RemoteTrouble::Unreachable), Fault::Environment),
            (remote(RemoteTrouble::Missing), Fault::Usage),
            (remote(RemoteTrouble::Changed), Fault::Unsuitable),
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
