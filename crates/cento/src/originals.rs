//! Inputs that may be a corpus or anything that `cento index` reads: options, and opening them.
//!
//! Inputs other than a corpus are indexed into a temporary corpus, which is removed when the
//! command ends.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_file::PrivateFolder;
use cento_find::CorpusPages;
use cento_fingerprint::ChunkHash;
use cento_read::{Format, Input, Resolved, Settings};
use cento_store::{Build, BuildProgress, Parameters, TextMemory};
use cento_text::chunk::ChunkKind;
use cento_text::content::Selection;
use cento_text::normal::Normalisation;
use clap::Args;

use crate::command_error::CommandError;
use crate::corpora::{check_no_input, is_corpus, open_with_texts};
use crate::index::{skipped_files, unread};
use crate::machine::{MachineArguments, ResourceArguments};
use crate::meter::Meter;
use crate::output::say;
use crate::reading::field_map;

/// How inputs other than a corpus are read.
#[derive(Debug, Clone, Args)]
pub(crate) struct OriginalArguments {
    /// URL of the input folder; by default the URL of a file is its path
    #[arg(long, value_name = "URL", help_heading = "Inputs other than a corpus")]
    pub(crate) base_url: Option<String>,
    /// Assign a field of a table to a role: text, html, url, date, title, id, language or ip. May
    /// be repeated; `a.b` reads a field of a nested object
    #[arg(
        long = "field",
        value_name = "ROLE=NAME",
        help_heading = "Inputs other than a corpus"
    )]
    pub(crate) fields: Vec<String>,
    /// Read inputs in this format instead of detecting it: warc, arc, wacz, html, text, jsonl or
    /// parquet
    #[arg(
        long,
        value_name = "FORMAT",
        help_heading = "Inputs other than a corpus"
    )]
    pub(crate) format: Option<Format>,
}

impl OriginalArguments {
    /// Fails if one of these options was typed although no inputs are read; `because` completes
    /// "has no effect".
    pub(crate) fn check_unused(&self, because: &str) -> Result<(), CommandError> {
        let typed = [
            ("--base-url", self.base_url.is_some()),
            ("--field", !self.fields.is_empty()),
            ("--format", self.format.is_some()),
        ];
        match typed.iter().find(|(_, typed)| *typed) {
            Some((name, _)) => Err(CommandError::usage(
                format!("{name} has no effect {because}"),
                "it says how inputs other than a corpus are read",
            )),
            None => Ok(()),
        }
    }
}

/// How labels are made if no corpus determines it.
#[derive(Debug, Args)]
pub(crate) struct RecipeArguments {
    /// Keep only the main content of HTML pages
    #[arg(long, help_heading = "Text and chunks of inputs")]
    pub(crate) main: bool,
    /// Unit of text: paragraph, lines:N (wrapped at 80 columns), sentences:N, words:N or document
    /// [default: paragraph]
    #[arg(long, value_name = "KIND", help_heading = "Text and chunks of inputs")]
    pub(crate) chunk: Option<ChunkKind>,
    /// Normalise chunks before hashing: none, space or space+case [default: space+case]
    #[arg(long, value_name = "HOW", help_heading = "Text and chunks of inputs")]
    pub(crate) normalise: Option<Normalisation>,
    /// Hash function for chunks: blake3 or sha1 [default: blake3]
    #[arg(long, value_name = "HASH", help_heading = "Text and chunks of inputs")]
    pub(crate) hash: Option<ChunkHash>,
}

impl RecipeArguments {
    /// Resolves the parameters.
    pub(crate) fn parameters(&self) -> Parameters {
        let mut parameters = Parameters::default();
        if self.main {
            parameters.content = Selection::Main;
        }
        parameters.chunk = self.chunk.unwrap_or(parameters.chunk);
        parameters.normalisation = self.normalise.unwrap_or(parameters.normalisation);
        parameters.hash = self.hash.unwrap_or(parameters.hash);
        parameters
    }
}

/// Opened inputs, and the folder of the temporary corpus if one was made.
pub(crate) struct Originals {
    pub(crate) source: Arc<CorpusPages>,
    made: Option<(PathBuf, PrivateFolder)>,
    /// Texts of the temporary corpus, if it has nothing else.
    pub(crate) texts: Option<Arc<TextMemory>>,
}

/// What a command reads of inputs that are indexed for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadColumns {
    /// Texts and attributes of pages, but neither chunks nor languages.
    Texts,
    /// The same without the digests of payloads, by which only duplicates are found.
    TextsWithoutDigests,
    /// All tables.
    All,
}

/// Name of the temporary corpus in its folder.
const CORPUS: &str = "inputs.cento";

/// Creates a temporary folder that other users cannot read: its content may be confidential.
pub(crate) fn private_folder(temp: Option<&Path>) -> Result<PrivateFolder, CommandError> {
    let temp = temp.map_or_else(std::env::temp_dir, Path::to_owned);
    PrivateFolder::create(&temp).map_err(|error| {
        CommandError::io(&temp, &error).with_hint("use --temp for another temporary folder")
    })
}

/// Upper bound of how much a compressed input grows: more than texts do.
const UNPACKED: u64 = 10;
/// The share of the memory budget that texts may occupy: a quarter.
const TEXT_SHARE: u64 = 4;
/// Size of text that fits in the page cache of any machine.
const SMALL: u64 = 1 << 30;

/// Returns whether the texts of inputs are small enough to be stored uncompressed. This depends on
/// the inputs alone and not on `--memory`: compression changes the checksums of the tables, and
/// cached results must be found again on any machine.
fn are_small(inputs: &[Input]) -> bool {
    let sizes: Option<Vec<u64>> = inputs.iter().map(|input| input.bytes).collect();
    let plain = inputs.iter().all(|input| {
        let ending = input.name.rsplit('.').next().unwrap_or_default();
        matches!(
            ending,
            "jsonl" | "ndjson" | "json" | "txt" | "html" | "htm" | "md" | "warc"
        )
    });
    let sum: u64 = sizes.map_or(u64::MAX, |sizes| {
        sizes.iter().fold(0, |sum, size| size.saturating_add(sum))
    });
    sum.saturating_mul(if plain { 1 } else { UNPACKED }) <= SMALL
}

impl Originals {
    /// Fails if an output file is one of the inputs.
    pub(crate) fn check_outputs<'o>(
        &self,
        outputs: impl IntoIterator<Item = &'o PathBuf>,
    ) -> Result<(), CommandError> {
        for output in outputs {
            check_no_input(output, &self.source)?;
        }
        Ok(())
    }

    /// Returns the temporary corpus, if one was made.
    pub(crate) fn made(&self) -> Option<&Path> {
        self.made.as_ref().map(|(corpus, _)| corpus.as_path())
    }

    /// Opens a corpus, or indexes inputs into a temporary one.
    pub(crate) fn open(
        inputs: &[String],
        arguments: &OriginalArguments,
        parameters: &Parameters,
        resources: &ResourceArguments,
    ) -> Result<Originals, CommandError> {
        let columns = ReadColumns::All;
        Originals::open_columns(inputs, arguments, parameters, resources, columns)
    }

    /// Opens a corpus, or indexes what a command reads of inputs into a temporary one.
    pub(crate) fn open_columns(
        inputs: &[String],
        arguments: &OriginalArguments,
        parameters: &Parameters,
        resources: &ResourceArguments,
        columns: ReadColumns,
    ) -> Result<Originals, CommandError> {
        let (temp, machine) = (resources.temp.as_deref(), &resources.machine);
        Originals::open_in(inputs, arguments, parameters, temp, machine, columns)
    }

    /// Opens a corpus, or indexes inputs into a temporary one in a folder of `temp`.
    pub(crate) fn open_in(
        inputs: &[String],
        arguments: &OriginalArguments,
        parameters: &Parameters,
        temp: Option<&Path>,
        machine: &MachineArguments,
        columns: ReadColumns,
    ) -> Result<Originals, CommandError> {
        if let [only] = inputs
            && is_corpus(only)
        {
            return Ok(Originals {
                source: Arc::new(CorpusPages::open(&[Path::new(only)])?),
                made: None,
                texts: None,
            });
        }
        if let Some(corpus) = inputs.iter().find(|input| is_corpus(input)) {
            return Err(CommandError::usage(
                format!("{corpus} is a corpus and cannot be combined with other inputs"),
                "name one corpus, or only inputs that are not corpora",
            ));
        }
        let settings = Settings {
            base_url: arguments.base_url.clone(),
            fields: field_map(&arguments.fields)?,
            format: arguments.format,
            skip_row_digests: columns == ReadColumns::TextsWithoutDigests,
            ..Settings::default()
        };
        let Resolved {
            mut inputs,
            ignored,
        } = cento_read::resolve(inputs, &settings)?;
        // Identify them before they are read: `copies --filter` reads them again.
        inputs.iter_mut().for_each(Input::identify);
        let folder = private_folder(temp)?;
        let corpus = folder.path().join(CORPUS);
        let progress = Arc::new(BuildProgress::default());
        let meter = Meter::start(&progress);
        let temporary = are_small(&inputs);
        let is_volatile = temporary && columns != ReadColumns::All;
        let for_texts = match is_volatile {
            true => machine.memory() / TEXT_SHARE,
            false => 0,
        };
        let texts = is_volatile.then(|| Arc::new(TextMemory::new(for_texts)));
        let mut build = Build::new(inputs, &corpus)
            .settings(settings)
            .parameters(Parameters {
                text: true,
                ..parameters.clone()
            })
            .temporary(temporary)
            .threads(machine.threads())
            .memory(machine.memory() - for_texts)
            .progress(&progress);
        if let Some(texts) = &texts {
            build = build.texts_only(texts);
        }
        let built = build.run();
        drop(meter);
        if let Some(sentence) = unread(&built?.counts, &skipped_files(ignored), true) {
            say(&format!("note: {sentence}"));
        }
        Ok(Originals {
            source: Arc::new(open_with_texts(&[(&corpus, texts.as_ref())], false)?),
            made: Some((corpus, folder)),
            texts,
        })
    }
}
