//! From what the user typed to inputs.

use std::path::PathBuf;

use crate::{Error, Format, Packing, Reader, Settings, Start};

/// One file, or standard input.
#[derive(Clone, Debug)]
pub struct Input {
    /// As shown and stored: the path as given, with `/` between its parts; `-` for standard input.
    pub name: String,
    /// How long it is as stored. Nothing for a stream.
    pub bytes: Option<u64>,
    /// What it holds. Nothing for a stream, whose first bytes tell when it is opened.
    pub format: Option<Format>,
    pub(crate) location: Location,
    pub(crate) url: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    File(PathBuf),
    Pipe(PathBuf),
    Stdin,
}

/// What the user's words turn out to name.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// The inputs, sorted by name, each once.
    pub inputs: Vec<Input>,
    /// The files that are none, by cause.
    pub ignored: Vec<IgnoredFiles>,
}

/// Files of one kind that were come across and will not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredFiles {
    /// A short name of what they are, that stays the same across versions.
    pub cause: &'static str,
    /// How many there are.
    pub count: u64,
    /// The name of the first.
    pub example: String,
}

/// Finds the inputs that `specs` name: files, folders (walked, hidden files left out), patterns, `-` for standard
/// input, and `@list` for a file with one of these a line.
pub fn resolve(specs: &[String], _settings: &Settings) -> Result<Resolved, Error> {
    match specs.first() {
        None => Err(Error::NoInput),
        Some(name) => Err(Error::NotFound { name: name.clone() }),
    }
}

impl Input {
    /// Begins to read, at `from`.
    pub fn open(&self, _settings: &Settings, _from: Start) -> Result<Reader, Error> {
        Err(Error::NotFound {
            name: self.name.clone(),
        })
    }
}
