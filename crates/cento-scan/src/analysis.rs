//! The interface of an analysis to the command line, a scan and a report.

use std::path::PathBuf;
use std::sync::Arc;

use cento_find::{CorpusPages, Error, Findings, RUN, Result, Workplace};
use cento_report::format::quoted;
use cento_report::{Drawing, Section};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::profile::Profile;

/// One analysis. Everything that the command line and the report need to know about it is here, so
/// that a new analysis is a module and one line in [`analyses()`](crate::analyses()).
///
/// Parameters are JSON, as in `run.json`: callers need not know their types, and results can be
/// reported long after they were computed.
pub trait Analysis: Sync {
    /// The name, for users to select the analysis and for the folder of its results.
    fn name(&self) -> &'static str;

    /// The heading of its section in a report.
    fn title(&self) -> &'static str;

    /// The question that it answers.
    fn question(&self) -> &'static str;

    /// The heading and the question for results with these parameters, if they differ.
    fn heading(&self, _parameters: &Value) -> [String; 2] {
        [self.title().to_owned(), self.question().to_owned()]
    }

    /// Whether a scan runs it by default.
    fn by_default(&self) -> bool {
        true
    }

    /// Returns why a scan does not run it on a corpus of this size unless it is asked to, or
    /// nothing if it does.
    fn too_large(&self, _corpus: &Profile) -> Option<String> {
        None
    }

    /// Its relative run time, for the progress bar of a scan; 10 is typical.
    fn weight(&self) -> u32 {
        10
    }

    /// Returns the parameters for a corpus, or the reason why the corpus is unsuitable.
    fn plan(&self, corpus: &Profile) -> std::result::Result<Value, String>;

    /// Returns the options that name the inputs of a run with these parameters other than the
    /// corpus, quoted for a shell, as findings record them.
    fn inputs(&self, _parameters: &Value) -> Vec<String> {
        Vec::new()
    }

    /// Runs the analysis, or returns cached results.
    fn run(
        &self,
        source: &Arc<CorpusPages>,
        parameters: &Value,
        workplace: &Workplace,
    ) -> Result<Findings>;

    /// Returns the command that computes the same results. `inputs` are the options that name
    /// inputs other than the corpus, as [`cento_find::RunRequest::inputs`] has them; they are empty
    /// if they are not known.
    fn command(&self, corpus: &str, parameters: &Value, inputs: &[String]) -> String;

    /// Draws the figures of the results.
    fn figures(&self, findings: &Findings) -> Result<Vec<Drawing>>;

    /// Summarises the results in sentences and tables.
    fn summarise(&self, input: &SectionInput<'_>) -> Result<Section>;
}

/// The input of [`Analysis::summarise`]: results and their corpus.
#[derive(Clone, Copy)]
pub struct SectionInput<'a> {
    /// The corpus.
    pub source: &'a CorpusPages,
    /// The path of the corpus, for commands.
    pub corpus: &'a str,
    /// The results.
    pub findings: &'a Findings,
    /// What the corpus contains.
    pub profile: &'a Profile,
    /// The maximum number of rows in a table.
    pub top: usize,
}

impl SectionInput<'_> {
    /// Returns the command that computes the results again. All commands of a section begin with
    /// it, so that they have the options of the run.
    pub fn command(&self, analysis: &dyn Analysis) -> String {
        recorded_command(analysis, self.corpus, self.findings)
    }

    /// Returns an address relative to [`Profile::root`].
    pub fn short<'t>(&self, address: &'t str) -> &'t str {
        address.strip_prefix(&self.profile.root).unwrap_or(address)
    }
}

/// Returns the command that computes findings of an analysis again.
pub fn recorded_command(analysis: &dyn Analysis, corpus: &str, findings: &Findings) -> String {
    let record = &findings.record;
    analysis.command(corpus, &record.parameters, &record.request.inputs)
}

/// Parses the parameters of an analysis, as `run.json` has them.
pub(crate) fn parse_parameters<P: DeserializeOwned>(value: &Value) -> Result<P> {
    P::deserialize(value).map_err(|error| Error::Corrupted {
        path: PathBuf::from(RUN),
        detail: format!("{value}: {error}"),
    })
}

/// Builds a command line, without options that have their default value.
pub(crate) struct CommandLine(String);

impl CommandLine {
    pub(crate) fn new(verb: &str, corpus: &str) -> CommandLine {
        CommandLine(format!("cento {verb} {}", quoted(corpus)))
    }

    /// Adds an option unless it has its default value.
    pub(crate) fn option<T: PartialEq + std::fmt::Display>(
        mut self,
        name: &str,
        value: &T,
        default: &T,
    ) -> CommandLine {
        if value != default {
            self.0
                .push_str(&format!(" {name} {}", quoted(&value.to_string())));
        }
        self
    }

    /// Adds options that are quoted for a shell.
    pub(crate) fn inputs(mut self, inputs: &[String]) -> CommandLine {
        for word in inputs {
            self.0.push_str(&format!(" {word}"));
        }
        self
    }

    /// Adds an option without a value if it is set.
    pub(crate) fn flag(mut self, name: &str, set: bool) -> CommandLine {
        if set {
            self.0.push_str(&format!(" {name}"));
        }
        self
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}
