//! What everybody who offers analyses needs to know of one: the command line, a scan, a report, a
//! site, a program.

use std::sync::Arc;

use cento_find::{CorpusPages, Error, Findings, Result, Workplace};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::profile::Profile;
use crate::section::{Drawing, Section};
use crate::words::quoted;

/// One analysis. Everything that is said of it anywhere is said here, so that a new one is a module
/// and one line in [`analyses()`](crate::analyses()).
///
/// Parameters travel as JSON, as `run.json` has them: whoever offers analyses need not know their
/// types, and findings can be told of long after they were made.
pub trait Analysis: Sync {
    /// Its name: of its findings, and for people to choose it by.
    fn name(&self) -> &'static str;

    /// What it is about, as a heading.
    fn title(&self) -> &'static str;

    /// The question that it answers.
    fn question(&self) -> &'static str;

    /// Whether a scan runs it unasked.
    fn usual(&self) -> bool {
        true
    }

    /// How long it takes beside the others, of which a usual one has 10: by this a display tells
    /// how far a scan is.
    fn weight(&self) -> u32 {
        10
    }

    /// The parameters for a corpus; or why it has nothing to look for there.
    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String>;

    /// Runs it, or finds what it found before.
    fn run(
        &self,
        source: &Arc<CorpusPages>,
        parameters: &Value,
        workplace: &Workplace,
    ) -> Result<Findings>;

    /// The command that finds the same.
    fn command(&self, corpus: &str, parameters: &Value) -> String;

    /// The figures of its findings.
    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>>;

    /// What it found, in words and tables.
    fn tell(&self, told: &Told<'_>) -> Result<Section>;
}

/// What is told of: findings, and the corpus that they are of.
#[derive(Clone, Copy)]
pub struct Told<'a> {
    /// The corpus.
    pub source: &'a CorpusPages,
    /// How people call it in a command.
    pub corpus: &'a str,
    /// The findings.
    pub findings: &'a Findings,
    /// What the addresses of all pages begin with, if they are files: see [`Profile::root`].
    pub root: &'a str,
    /// How many rows a table may have.
    pub top: usize,
}

impl Told<'_> {
    /// An address without what all of them begin with.
    pub fn short<'t>(&self, address: &'t str) -> &'t str {
        address.strip_prefix(self.root).unwrap_or(address)
    }
}

/// Parameters of a type, from how they are written down.
pub(crate) fn parameters<P: DeserializeOwned>(value: &Value) -> Result<P> {
    P::deserialize(value).map_err(|error| Error::Bug(format!("{value}: {error}")))
}

/// A command with the options that are not as usual.
pub(crate) struct Command(String);

impl Command {
    pub(crate) fn new(verb: &str, corpus: &str) -> Command {
        Command(format!("cento {verb} {}", quoted(corpus)))
    }

    /// Adds an option if its value is another than the usual one.
    pub(crate) fn option<T: PartialEq + std::fmt::Display>(
        mut self,
        name: &str,
        value: &T,
        usual: &T,
    ) -> Command {
        if value != usual {
            self.0
                .push_str(&format!(" {name} {}", quoted(&value.to_string())));
        }
        self
    }

    /// Adds an option without a value.
    pub(crate) fn flag(mut self, name: &str, given: bool) -> Command {
        if given {
            self.0.push_str(&format!(" {name}"));
        }
        self
    }

    pub(crate) fn end(self) -> String {
        self.0
    }
}
