//! The corpus that a command analyses: one made by `cento index`, or inputs that are indexed first.
//!
//! Inputs are indexed into a temporary corpus, which is removed when the command ends. Results are
//! then kept only where the user names a place for them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_find::{CorpusPages, Findings};
use cento_store::{Corpus, Parameters};
use clap::Args;

use crate::analysis::AnalysisArguments;
use crate::command_error::CommandError;
use crate::command_line::{refuse, refuse_all};
use crate::corpora::{is_corpus, open_with_texts};
use crate::machine::ResourceArguments;
use crate::originals::{OriginalArguments, Originals, ReadColumns};
use crate::output::{Lines, clean};

/// The corpus of an analysis, and how inputs other than a corpus are read.
#[derive(Debug, Args)]
pub(crate) struct CorpusArguments {
    /// A corpus, or anything that `cento index` reads
    #[arg(value_name = "CORPUS", required = true)]
    pub(crate) inputs: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: OriginalArguments,
}

/// A corpus that was opened, and the temporary corpora that live as long as it.
pub(crate) struct OpenedCorpus {
    /// Its path: of the corpus, or of the temporary one.
    pub(crate) path: PathBuf,
    /// What the user calls it.
    pub(crate) name: String,
    pub(crate) source: Arc<CorpusPages>,
    /// Whether findings are kept: in the corpus, or in the folder of `--findings`.
    kept: bool,
    /// Whether the main table is written to a file (`--out`).
    exported: bool,
    /// Temporary corpora are removed when these are dropped.
    _made: Vec<Originals>,
}

/// A corpus that a command shows.
pub(crate) struct LocatedCorpus {
    pub(crate) path: PathBuf,
    /// What the user calls it.
    pub(crate) name: String,
    /// The temporary corpus, which is removed when this is dropped.
    made: Option<Originals>,
}

impl LocatedCorpus {
    /// Returns whether it was made for this command.
    pub(crate) fn is_temporary(&self) -> bool {
        self.made.is_some()
    }
}

/// Another corpus that a corpus is compared with.
#[derive(Clone, Copy)]
pub(crate) struct OtherCorpus<'a> {
    /// Its path, or that of an input.
    pub(crate) path: &'a str,
    /// Whether its pages come before those of the corpus.
    pub(crate) first: bool,
}

impl CorpusArguments {
    /// Returns whether the corpus is one made by `cento index`.
    pub(crate) fn is_corpus(&self) -> bool {
        matches!(self.inputs.as_slice(), [only] if is_corpus(only))
    }

    /// Opens the corpus, or indexes the inputs with default parameters.
    pub(crate) fn open(&self, analysis: &AnalysisArguments) -> Result<OpenedCorpus, CommandError> {
        self.open_columns(ReadColumns::All, analysis)
    }

    /// Opens the corpus for an analysis that reads only these columns, or indexes these.
    pub(crate) fn open_columns(
        &self,
        columns: ReadColumns,
        analysis: &AnalysisArguments,
    ) -> Result<OpenedCorpus, CommandError> {
        if self.is_corpus() {
            refuse_reading()?;
        }
        self.open_with(None, &Parameters::default(), columns, analysis)
    }

    /// Returns the corpus, or one that is made of the inputs.
    pub(crate) fn locate(
        &self,
        resources: &ResourceArguments,
    ) -> Result<LocatedCorpus, CommandError> {
        if let [only] = self.inputs.as_slice()
            && is_corpus(only)
        {
            refuse_all::<OriginalArguments>("the inputs of a corpus are already read")?;
            refuse_all::<ResourceArguments>("they are for indexing inputs other than a corpus")?;
            return Ok(LocatedCorpus {
                path: PathBuf::from(only),
                name: only.clone(),
                made: None,
            });
        }
        let made = Originals::open(
            &self.inputs,
            &self.reading,
            &Parameters::default(),
            resources,
        )?;
        Ok(LocatedCorpus {
            path: made.made().map(Path::to_owned).unwrap_or_default(),
            name: name_of(&self.inputs),
            made: Some(made),
        })
    }

    /// Opens the corpus and another one. Inputs are indexed with these parameters; text is selected
    /// as in the one that is a corpus, because their texts are compared.
    pub(crate) fn open_with(
        &self,
        other: Option<OtherCorpus<'_>>,
        parameters: &Parameters,
        columns: ReadColumns,
        analysis: &AnalysisArguments,
    ) -> Result<OpenedCorpus, CommandError> {
        if !self.is_corpus() && analysis.findings.is_none() {
            let because = "results for inputs are cached only with --findings";
            refuse(&["again"], because)?;
        }
        let mut made = Vec::new();
        let mut open = |inputs: &[String], beside: Option<&str>| {
            if let [only] = inputs
                && is_corpus(only)
            {
                return Ok::<_, CommandError>((PathBuf::from(only), None));
            }
            let mut parameters = parameters.clone();
            if let Some(beside) = beside.filter(|beside| is_corpus(beside)) {
                let beside = Corpus::open_partial(Path::new(beside))?;
                parameters.content = beside.parameters().content;
            }
            let resources = &analysis.resources;
            let read =
                Originals::open_columns(inputs, &self.reading, &parameters, resources, columns)?;
            let path = read.made().map(Path::to_owned).unwrap_or_default();
            let texts = read.texts.clone();
            made.push(read);
            Ok((path, texts))
        };
        let first_input = self.inputs.first().map(String::as_str);
        let (path, texts) = open(&self.inputs, other.map(|other| other.path))?;
        let mut corpora = vec![(path.clone(), texts)];
        if let Some(other) = other {
            let second = open(&[other.path.to_owned()], first_input)?;
            corpora.insert(usize::from(!other.first), second);
        }
        let corpora = corpora
            .iter()
            .map(|(path, texts)| (path.as_path(), texts.as_ref()));
        let corpora: Vec<_> = corpora.collect();
        Ok(OpenedCorpus {
            source: Arc::new(open_with_texts(&corpora, analysis.partial)?),
            name: name_of(&self.inputs),
            path,
            kept: self.is_corpus() || analysis.findings.is_some(),
            exported: analysis.out.is_some(),
            _made: made,
        })
    }
}

/// Fails if an option for reading inputs was typed although there are none.
pub(crate) fn refuse_reading() -> Result<(), CommandError> {
    refuse_all::<OriginalArguments>("the inputs of a corpus are already read")
}

/// Returns what inputs are called in a summary.
fn name_of(inputs: &[String]) -> String {
    match inputs {
        [] => String::new(),
        [only] => only.clone(),
        [first, second] => format!("{first} and {second}"),
        [first, others @ ..] => format!("{first} and {} more inputs", others.len()),
    }
}

impl OpenedCorpus {
    /// Returns whether findings are kept.
    pub(crate) fn keeps_findings(&self) -> bool {
        self.kept
    }

    /// Returns the folder for temporary files.
    pub(crate) fn temp_folder(&self, resources: &ResourceArguments) -> PathBuf {
        resources.temp.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// Returns the line of a summary that says where the findings are, or that they are not kept.
    pub(crate) fn findings_line(&self, findings: &Findings) -> String {
        match self.kept {
            true => {
                let name = match findings.known {
                    true => "cached results",
                    false => "findings",
                };
                let place = findings.path.display().to_string();
                format!("{name}: {}\n", clean(&place))
            }
            false if self.exported => String::new(),
            false => format!("{NOT_KEPT}\n"),
        }
    }

    /// Adds where the findings are to the lines of a summary.
    pub(crate) fn add_findings(&self, lines: &mut Lines, findings: &Findings) {
        match self.kept {
            true => {
                let place = findings.path.display().to_string();
                lines.add_with("findings", "", clean(&place));
            }
            false if self.exported => {}
            false => lines.add_with(
                "findings",
                "",
                "not kept: use --out, or index the inputs first",
            ),
        }
    }
}

/// Says that results of inputs are lost, and what to do.
const NOT_KEPT: &str =
    "These results are not kept: use --out to write them, or index the inputs first.";
