//! A corpus, or any input that `index` reads, made into one for as long as a command runs:
//! originals to look for, or what is looked at.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_file::PrivateFolder;
use cento_find::CorpusPages;
use cento_fingerprint::ChunkHash;
use cento_read::{Input, Resolved, Settings};
use cento_store::{Build, MANIFEST, Parameters, Progress};
use cento_text::chunk::ChunkKind;
use cento_text::content::Selection;
use cento_text::normal::Normalisation;
use clap::Args;

use crate::analysis::check_not_input;
use crate::arguments::MachineArguments;
use crate::failure::Failure;
use crate::interrupt::on_interrupt;
use crate::meter::Meter;

/// How inputs that are no corpus are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Inputs that are no corpus")]
pub(crate) struct OriginalArguments {
    /// The URL that a folder stands for
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Which field of a table holds what, as for `cento index`
    #[arg(long = "field", value_name = "ROLE=NAME")]
    pub(crate) fields: Vec<String>,
}

impl OriginalArguments {
    /// Fails if something was said of inputs that are not read; `without` is the option that makes
    /// it so.
    pub(crate) fn check_unused(&self, without: &str) -> Result<(), Failure> {
        let given = [
            ("--base-url", self.base_url.is_some()),
            ("--field", !self.fields.is_empty()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Failure::usage(
                format!("{name} has no effect {without}"),
                "it says how inputs are read that are no corpus",
            )),
            None => Ok(()),
        }
    }
}

/// How labels are made where no corpus says it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Text and chunks, where no corpus says it")]
pub(crate) struct RecipeArguments {
    /// Keep the main content of HTML pages only
    #[arg(long, conflicts_with = "corpus")]
    pub(crate) main: bool,
    /// What a chunk is: paragraph, lines:N (wrapped at 80 columns), sentences:N, words:N or
    /// document [default: paragraph]
    #[arg(long, value_name = "KIND", conflicts_with = "corpus")]
    pub(crate) chunk: Option<ChunkKind>,
    /// What is evened out before a chunk is hashed: none, space or space+case [default: space+case]
    #[arg(long, value_name = "HOW", conflicts_with = "corpus")]
    pub(crate) normalise: Option<Normalisation>,
    /// What a chunk is hashed with: blake3 or sha1 [default: blake3]
    #[arg(long, value_name = "HASH", conflicts_with = "corpus")]
    pub(crate) hash: Option<ChunkHash>,
}

impl RecipeArguments {
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

/// Inputs that were opened, and the folder with the corpus that was made of them, if one was.
pub(crate) struct Originals {
    pub(crate) source: Arc<CorpusPages>,
    made: Option<(PathBuf, PrivateFolder)>,
}

/// The corpus in a private folder.
const CORPUS: &str = "inputs.cento";

/// A folder for what this command alone needs. Others cannot read it: what is in it may be
/// confidential.
pub(crate) fn private_folder(temp: Option<&Path>) -> Result<PrivateFolder, Failure> {
    let temp = temp.map_or_else(std::env::temp_dir, Path::to_owned);
    PrivateFolder::create(&temp).map_err(|error| {
        Failure::missing(
            format!("{}: {error}", temp.display()),
            "name another folder for temporary files with --temp".to_owned(),
        )
    })
}

/// How many times its size a packed input may grow to: beyond what texts do.
const UNPACKED: u64 = 10;
/// Text that any machine has room for in the memory that it uses for files.
const SMALL: u64 = 1 << 30;

/// Whether the texts of inputs need not be compressed. This follows from the inputs alone and not
/// from `--memory`: compressed or not, the tables have other checksums, and the same question must
/// find its own findings again whatever the machine.
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
    /// Fails if a file that is to be written is one of the inputs.
    pub(crate) fn check_outputs<'o>(
        &self,
        outputs: impl IntoIterator<Item = &'o PathBuf>,
    ) -> Result<(), Failure> {
        for output in outputs {
            for corpus in self.source.corpora() {
                check_not_input(output, corpus)?;
            }
        }
        Ok(())
    }

    /// The corpus that was made, if one was.
    pub(crate) fn made(&self) -> Option<&Path> {
        self.made.as_ref().map(|(corpus, _)| corpus.as_path())
    }

    /// Opens a corpus, or reads inputs into one that is gone when this is.
    pub(crate) fn open(
        inputs: &[String],
        arguments: &OriginalArguments,
        parameters: &Parameters,
        temp: Option<&Path>,
        machine: &MachineArguments,
    ) -> Result<Originals, Failure> {
        if let [only] = inputs
            && Path::new(only).join(MANIFEST).is_file()
        {
            return Ok(Originals {
                source: Arc::new(CorpusPages::open(&[Path::new(only)])?),
                made: None,
            });
        }
        if let Some(corpus) = inputs
            .iter()
            .find(|input| Path::new(input).join(MANIFEST).is_file())
        {
            return Err(Failure::usage(
                format!("{corpus} is a corpus, and there are other inputs beside it"),
                "name one corpus, or inputs that are none",
            ));
        }
        let mut settings = Settings {
            base_url: arguments.base_url.clone(),
            ..Settings::default()
        };
        for field in &arguments.fields {
            settings.fields.assign(field.parse()?);
        }
        let Resolved { mut inputs, .. } = cento_read::resolve(inputs, &settings)?;
        // Before they are read: `copies --filter` reads them once more.
        inputs.iter_mut().for_each(Input::identify);
        let folder = private_folder(temp)?;
        let corpus = folder.path().join(CORPUS);
        let progress = Arc::new(Progress::default());
        let cancelled = Arc::clone(&progress);
        let _stop = on_interrupt(move || cancelled.cancel());
        let meter = Meter::start(Arc::clone(&progress));
        let passing = are_small(&inputs);
        let built = Build {
            corpus: corpus.clone(),
            inputs,
            passed_over: Default::default(),
            settings,
            parameters: Parameters {
                text: true,
                ..parameters.clone()
            },
            add: false,
            again: false,
            passing,
            threads: machine.threads(),
            memory: machine.memory(),
            progress: &progress,
        }
        .run();
        drop(meter);
        built?;
        Ok(Originals {
            source: Arc::new(CorpusPages::open(&[&corpus])?),
            made: Some((corpus, folder)),
        })
    }
}
