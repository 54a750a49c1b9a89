//! Building a corpus: which thread reads what, who writes it, and what is on disk at any moment.
//!
//! ```text
//!   inputs ─▶ task 0 ─ TaskReader ─▶ batches ─▶ Worker (any thread) ─▶ OrderedOutput ─▶ parts
//!             task 1 ─ …                                                                │
//!                                                                                    manifest
//! ```
//!
//! Each thread has its own task while there are tasks left, so large files are read in parallel and
//! no thread waits for another. After that, a thread helps with a task of another thread: it takes
//! the next batch from the reader of that task and submits the result to its output, which puts
//! batches back in order. The number of batches that exist at once is limited, which bounds memory.

mod budget;
mod cluster;
mod empty;
mod permits;
mod pool;
mod task_output;
mod threads;

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Mutex;

use cento_read::{Input, Settings};

use crate::build_folder::{BuildFolder, StartedRun};
use crate::error::{Error, Result};
use crate::input_changes::{KnownInputs, examples};
use crate::manifest::{Counts, Manifest, Tally};
use crate::parameters::Parameters;
use crate::progress::BuildProgress;
use crate::task::plan;
use crate::text_memory::TextMemory;
use crate::update;

use threads::{lock, on_threads};

pub(crate) use cluster::executor;
pub use cluster::{BuildExecutor, BuildTasks, FinishedTask, LocalBuilds, with_build_executor};

/// How many inputs a thread takes at a time to check whether they have changed.
const IDENTIFIED_AT_ONCE: usize = 64;
/// The memory that a build may use by default.
const DEFAULT_MEMORY: u64 = 1 << 30;

/// The progress of builds without an observer.
static UNOBSERVED: BuildProgress = BuildProgress::new();

/// A build of a corpus: what to read, where to write it, and how.
///
/// ```
/// use cento_store::{Build, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let page = folder.path().join("page.txt");
/// std::fs::write(&page, "A garment stitched from patches.")?;
///
/// let settings = cento_read::Settings::default();
/// let resolved = cento_read::resolve(&[page.display().to_string()], &settings)?;
/// let built = Build::new(resolved.inputs, folder.path().join("example.cento"))
///     .settings(settings)
///     .parameters(Parameters { text: false, ..Parameters::default() })
///     .threads(2)
///     .memory(256 << 20)
///     .run()?;
/// assert_eq!((built.counts.pages, built.counts.words), (1, 5));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Build<'a> {
    pub(crate) corpus: PathBuf,
    pub(crate) inputs: Vec<Input>,
    pub(crate) skipped_files: BTreeMap<String, Tally>,
    pub(crate) settings: Settings,
    pub(crate) parameters: Parameters,
    pub(crate) add: bool,
    pub(crate) again: bool,
    pub(crate) update: bool,
    pub(crate) refresh: bool,
    pub(crate) temporary: bool,
    pub(crate) texts: Option<&'a TextMemory>,
    pub(crate) threads: usize,
    pub(crate) memory: u64,
    pub(crate) progress: &'a BuildProgress,
}

/// What a build did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Built {
    /// What this run read and kept, including the parts that an interrupted run had finished.
    pub counts: Counts,
    /// Files in the folders to be read that are not read, by cause.
    pub skipped_files: BTreeMap<String, Tally>,
    /// The number of pages that an interrupted run had finished.
    pub resumed_pages: u64,
    /// Inputs that were in the corpus before and were not added again, with the first of them.
    pub already_added: Option<Tally>,
    /// The names of the inputs that an update has added to a corpus that existed.
    pub added: Vec<String>,
    /// Whether the corpus existed and was replaced, because inputs had changed.
    pub replaced: bool,
    /// The size of the corpus on disk.
    pub corpus_bytes: u64,
}

impl<'a> Build<'a> {
    /// A build that reads `inputs`, in the order in which [`cento_read::resolve`] returns them, and
    /// writes to `corpus`; with default settings, on all processors.
    pub fn new(inputs: Vec<Input>, corpus: impl Into<PathBuf>) -> Build<'a> {
        Build {
            corpus: corpus.into(),
            inputs,
            skipped_files: BTreeMap::new(),
            settings: Settings::default(),
            parameters: Parameters::default(),
            add: false,
            again: false,
            update: false,
            refresh: false,
            temporary: false,
            texts: None,
            threads: std::thread::available_parallelism().map_or(1, NonZero::get),
            memory: DEFAULT_MEMORY,
            progress: &UNOBSERVED,
        }
    }

    /// Sets how inputs are read. Its limits are ignored: those of the parameters apply.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets how pages become text and chunks.
    pub fn parameters(mut self, parameters: Parameters) -> Self {
        self.parameters = parameters;
        self
    }

    /// Records files that were found and are not read, by cause, for the report.
    pub fn skipped_files(mut self, files: BTreeMap<String, Tally>) -> Self {
        self.skipped_files = files;
        self
    }

    /// Sets whether the inputs are added to an existing corpus.
    pub fn add_to_existing(mut self, add: bool) -> Self {
        self.add = add;
        self
    }

    /// Sets whether inputs that are already in the corpus are added once more.
    pub fn again(mut self, again: bool) -> Self {
        self.again = again;
        self
    }

    /// Sets whether a corpus that exists is brought up to date with the inputs: an unfinished run
    /// is resumed, and new inputs are added. Inputs that have changed or are missing are an error.
    pub fn update_existing(mut self, update: bool) -> Self {
        self.update = update;
        self
    }

    /// Sets whether an update indexes all inputs anew and replaces the corpus if inputs have
    /// changed or are missing. The old corpus exists until the new one is complete.
    pub fn refresh(mut self, refresh: bool) -> Self {
        self.refresh = refresh;
        self
    }

    /// Sets whether the corpus is deleted when the current command ends. Texts are not compressed
    /// then, and files are not synced to disk. Checksums are still computed, because cached results
    /// are identified by them.
    pub fn temporary(mut self, temporary: bool) -> Self {
        self.temporary = temporary;
        self
    }

    /// Makes a temporary corpus for a command that reads only texts and attributes of pages: texts
    /// are kept in `memory` until it is full, chunks are not stored, and languages are not
    /// detected. Only the table of pages has a checksum; it contains a hash of every text. To be
    /// opened by [`Corpus::open_temporary`](crate::Corpus::open_temporary).
    pub fn texts_only(mut self, memory: &'a TextMemory) -> Self {
        (self.temporary, self.texts) = (true, Some(memory));
        self
    }

    /// Sets the number of threads.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets how many bytes of memory all threads together may use.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the counters that are raised while the build runs, and by which it can be cancelled.
    pub fn progress(mut self, progress: &'a BuildProgress) -> Self {
        self.progress = progress;
        self
    }

    /// Builds, resumes or extends the corpus.
    ///
    /// `build(inputs, threads = 1) ≡ build(inputs, threads = n)`, byte for byte. A build that is
    /// killed at any moment and run again ends with the same bytes as one that was not interrupted.
    /// If the system does not start as many threads as requested, the others do all the work.
    pub fn run(mut self) -> Result<Built> {
        self.settings.limits = (&self.parameters.limits).into();
        let executor = cluster::executor();
        // Nothing of a temporary corpus is shared.
        if executor.is_worker() && !self.temporary {
            return cluster::serve(self, executor.as_ref());
        }
        self.identify()?;
        match self.update {
            true => update::run(self),
            false => self.run_identified(),
        }
    }

    /// Builds, resumes or extends the corpus from inputs whose versions are known.
    pub(crate) fn run_identified(mut self) -> Result<Built> {
        let already_added = self.skip_known_inputs()?;
        if self.inputs.is_empty() && already_added.is_some() {
            let manifest = Manifest::load(&self.corpus)?;
            // Even if there is nothing to add: the command would fail with one more input.
            manifest
                .parameters
                .check_equal(&self.parameters, &self.corpus)?;
            return Ok(Built {
                counts: Counts::default(),
                skipped_files: self.skipped_files,
                resumed_pages: 0,
                already_added,
                added: Vec::new(),
                replaced: false,
                corpus_bytes: manifest.bytes_on_disk(),
            });
        }
        let tasks = plan(&self.inputs, self.parameters.part_bytes / 2);
        self.settings.helpers = budget::helpers(self.threads, tasks.len(), self.memory);
        let StartedRun {
            folder,
            manifest,
            run,
        } = BuildFolder::begin(&self, tasks.len())?;
        let resumed_pages = manifest.counts_of_run(run).pages;
        self.progress
            .set_total_bytes(self.inputs.iter().filter_map(|input| input.bytes).sum());

        let tasks = BuildTasks::new(&self, &folder, manifest, run, &tasks);
        let outcome = match self.temporary {
            true => tasks.run_here(),
            false => executor().execute(&tasks),
        };
        let outcome = outcome.and_then(|()| tasks.complete());
        folder.remove_unfinished_parts()?;
        let mut committed = Manifest::load(folder.path())?;
        let counts = committed.counts_of_run(run);
        // A run without pages leaves nothing behind.
        if counts.pages == 0 {
            match run {
                0 => folder.remove(),
                _ => folder.remove_run(&mut committed, run)?,
            }
        }
        outcome?;
        if counts.pages == 0 {
            let inputs = self.inputs.len();
            return Err(Error::NoPages(empty::reason(
                &counts,
                inputs,
                &self.skipped_files,
            )));
        }
        let corpus_bytes = committed.bytes_on_disk();
        Ok(Built {
            counts,
            skipped_files: self.skipped_files,
            resumed_pages,
            already_added,
            added: Vec::new(),
            replaced: false,
            corpus_bytes,
        })
    }

    /// Stores with each input by what a change of it is detected. Small files are read for that, so
    /// all threads take part.
    fn identify(&mut self) -> Result<()> {
        // A temporary corpus is neither resumed nor added to.
        if self.temporary {
            return Ok(());
        }
        let threads = self
            .threads
            .clamp(1, self.inputs.len().div_ceil(IDENTIFIED_AT_ONCE).max(1));
        let shares = Mutex::new(self.inputs.chunks_mut(IDENTIFIED_AT_ONCE));
        on_threads(threads, || {
            loop {
                let Some(inputs) = lock(&shares).next() else {
                    return Ok(());
                };
                inputs.iter_mut().for_each(Input::identify);
            }
        })
    }

    /// Removes inputs that an earlier run has added, and returns how many these are.
    fn skip_known_inputs(&mut self) -> Result<Option<Tally>> {
        if !self.add || self.again {
            return Ok(None);
        }
        let known = KnownInputs::of_complete_runs(&self.corpus)?;
        let changed = known.compare(&self.inputs).changed;
        if !changed.is_empty() {
            return Err(Error::AddsChangedInputs {
                path: self.corpus.clone(),
                names: examples(&changed),
                count: changed.len() as u64,
            });
        }
        let mut already_added: Option<Tally> = None;
        self.inputs.retain(|input| {
            if !known.has(input) {
                return true;
            }
            tally(&mut already_added, input);
            false
        });
        Ok(already_added)
    }
}

/// Counts an input.
pub(crate) fn tally(tally: &mut Option<Tally>, input: &Input) {
    let tally = tally.get_or_insert_with(|| Tally {
        count: 0,
        example: input.name.clone(),
    });
    tally.count += 1;
}

#[cfg(test)]
mod tests;
