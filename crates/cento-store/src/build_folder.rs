//! The folder of a corpus while it is being written.
//!
//! ```text
//! NAME.cento/
//!   manifest.json          which of the following files belong to the corpus
//!   .lock                  locked by the one process that writes
//!   inputs/                the list of inputs of each run
//!   pages/ text/ chunks/   finished parts
//!   tmp/                   unfinished parts; removed when a run begins and ends
//! ```

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::build::Build;
use crate::error::{Error, Result};
use crate::input_changes::KnownInputs;
use crate::input_list::{
    check_reading, input_lines, keep_listed, lines_of, render_inputs, render_settings,
};
use crate::manifest::{
    FORMAT_NEWEST, FileEntry, MANIFEST, Manifest, NEW_MANIFEST, Part, Run, sync_folder,
};
use crate::part::tail_hash;
use crate::schema::Table;

/// The folder of a corpus, locked for writing until this is dropped.
pub(crate) struct BuildFolder {
    path: PathBuf,
    access: Access,
}

/// Who may write to a folder.
enum Access {
    /// This process, which holds the lock.
    Locked { _lock: cento_file::Lock },
    /// A worker of the process that holds the lock. It writes unfinished parts only, and their
    /// names end with this.
    Worker { suffix: String },
}

/// A run that was started or resumed.
pub(crate) struct StartedRun {
    pub(crate) folder: BuildFolder,
    pub(crate) manifest: Manifest,
    /// Its position in the runs of the manifest.
    pub(crate) run: usize,
}

impl BuildFolder {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What the names of unfinished parts end with; `None` if this process publishes them.
    pub(crate) fn suffix(&self) -> Option<&str> {
        match &self.access {
            Access::Locked { .. } => None,
            Access::Worker { suffix } => Some(suffix),
        }
    }

    /// The path of a file, such as `pages/part-00000-0000.parquet`, until it is finished.
    pub(crate) fn unfinished(&self, file: &str, suffix: &str) -> PathBuf {
        let name = format!("{}{suffix}", file.replace('/', "-"));
        self.path.join("tmp").join(name)
    }

    /// Moves the files of a part that a worker has written to the folders of their tables.
    pub(crate) fn publish(&self, part: &Part, suffix: &str) -> Result<()> {
        for entry in [Some(&part.pages), part.text.as_ref(), Some(&part.chunks)]
            .into_iter()
            .flatten()
        {
            let from = self.unfinished(&entry.file, suffix);
            let to = self.path.join(&entry.file);
            fs::rename(&from, &to).map_err(|error| Error::io(&from, error))?;
        }
        Ok(())
    }

    /// Joins the run that a driver has started, as one of its workers, and removes inputs from the
    /// build that do not belong to the run. Takes no lock: the driver holds it.
    pub(crate) fn join(build: &mut Build<'_>) -> Result<(BuildFolder, Manifest)> {
        let path = build.corpus.clone();
        let manifest = Manifest::load(&path)?;
        manifest.parameters.check_equal(&build.parameters, &path)?;
        let Some(run) = manifest.runs.last().filter(|run| !run.complete) else {
            return Err(Error::AlreadyComplete(path));
        };
        let listed = input_lines(&path, run)?;
        keep_listed(&mut build.inputs, &listed).map_err(|detail| Error::InputsDiffer {
            path: path.clone(),
            detail,
        })?;
        check_reading(&path, run, &render_settings(&build.settings))?;
        let folder = BuildFolder {
            path,
            access: Access::Worker {
                suffix: format!(".{}", cento_file::random_name()),
            },
        };
        Ok((folder, manifest))
    }

    /// Creates the corpus, or opens it to resume its last run or to add one.
    pub(crate) fn begin(build: &Build<'_>, tasks: usize) -> Result<StartedRun> {
        let path = &build.corpus;
        let inputs = render_inputs(&build.inputs);
        let exists = path.symlink_metadata().is_ok();
        if exists && !path.join(MANIFEST).exists() && !may_become_corpus(path)? {
            return Err(Error::PathTaken(path.clone()));
        }
        if !path.join(MANIFEST).exists() {
            if build.add {
                return Err(Error::NoCorpusToAddTo(path.clone()));
            }
            return Self::create(build, tasks, &inputs);
        }
        let folder = Self::open(path)?;
        let mut manifest = Manifest::load(path)?;
        let complete = manifest.complete();
        if complete && !build.add {
            return Err(Error::AlreadyComplete(path.clone()));
        }
        manifest.parameters.check_equal(&build.parameters, path)?;
        folder.remove_unknown_files(&manifest)?;
        // New parts may have columns that the version of the older ones does not have.
        manifest.format = FORMAT_NEWEST;
        let run = if complete {
            let run = folder.add_run(build, tasks, &inputs, Some(&manifest))?;
            manifest.runs.push(run);
            manifest.save(path)?;
            manifest.runs.len() - 1
        } else {
            check_same_run(path, build, &manifest, &inputs)?
        };
        Ok(StartedRun {
            folder,
            manifest,
            run,
        })
    }

    fn create(build: &Build<'_>, tasks: usize, inputs: &[u8]) -> Result<StartedRun> {
        let path = &build.corpus;
        fs::create_dir_all(path).map_err(|error| Error::io(path, error))?;
        let create = || -> Result<StartedRun> {
            let folder = Self::open(path)?;
            let run = folder.add_run(build, tasks, inputs, None)?;
            let manifest = Manifest {
                format: FORMAT_NEWEST,
                parameters: build.parameters.clone(),
                runs: vec![run],
                parts: Vec::new(),
                texts_only: build.texts.is_some(),
            };
            manifest.save(path)?;
            Ok(StartedRun {
                folder,
                manifest,
                run: 0,
            })
        };
        create().inspect_err(|error| {
            if !matches!(error, Error::Busy(_)) {
                remove_corpus(path);
            }
        })
    }

    /// Locks the corpus and creates missing folders.
    pub(crate) fn open(path: &Path) -> Result<BuildFolder> {
        let lock_path = path.join(".lock");
        let lock = cento_file::lock(&lock_path).map_err(|error| Error::io(&lock_path, error))?;
        let Some(lock) = lock else {
            return Err(Error::Busy(path.to_owned()));
        };
        for folder in ["inputs", "tmp"]
            .into_iter()
            .chain(Table::ALL.map(Table::name))
        {
            let folder = path.join(folder);
            fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, error))?;
            // Unknown files in these folders are removed. A link in a corpus from an untrusted
            // source could lead anywhere.
            if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                return Err(Error::corrupted(
                    &folder,
                    "it is a link and should be a folder",
                ));
            }
        }
        Ok(BuildFolder {
            path: path.to_owned(),
            access: Access::Locked { _lock: lock },
        })
    }

    fn add_run(
        &self,
        build: &Build<'_>,
        tasks: usize,
        inputs: &[u8],
        before: Option<&Manifest>,
    ) -> Result<Run> {
        let last = before.and_then(|manifest| manifest.runs.last());
        let number = before.map_or(0, |manifest| manifest.runs.len());
        let name = format!("inputs/run-{number:05}.jsonl");
        let path = self.path.join(&name);
        let write = || -> std::io::Result<String> {
            let mut file = cento_file::replace(&path)?;
            file.write_all(inputs)?;
            file.sync_all()?;
            tail_hash(&path)
        };
        let tail = write().map_err(|error| Error::io(&path, error))?;
        sync_folder(&self.path.join("inputs"))?;
        Ok(Run {
            inputs: FileEntry {
                file: name,
                rows: build.inputs.len() as u64,
                bytes: inputs.len() as u64,
                blake3: blake3::hash(inputs).to_hex().to_string(),
                tail,
            },
            first_input: last.map_or(0, |run| run.first_input + run.inputs.rows as u32),
            first_task: last.map_or(0, |run| run.first_task + run.tasks),
            tasks: tasks as u32,
            reading: render_settings(&build.settings),
            skipped_files: build.skipped_files.clone(),
            complete: false,
        })
    }

    /// Removes files that the manifest does not name: they were left by a run that was killed.
    fn remove_unknown_files(&self, manifest: &Manifest) -> Result<()> {
        self.remove_unfinished_parts()?;
        let new = self.path.join(NEW_MANIFEST);
        if new.exists() {
            remove_file(&new)?;
        }
        let named: HashSet<&str> = manifest.files().map(|entry| entry.file.as_str()).collect();
        for table in Table::ALL {
            let folder = self.path.join(table.name());
            for entry in list(&folder)? {
                let name = format!("{}/{}", table.name(), entry.file_name().to_string_lossy());
                if !named.contains(name.as_str()) {
                    remove_file(&entry.path())?;
                }
            }
        }
        Ok(())
    }

    /// Removes unfinished parts.
    pub(crate) fn remove_unfinished_parts(&self) -> Result<()> {
        for entry in list(&self.path.join("tmp"))? {
            remove_file(&entry.path())?;
        }
        Ok(())
    }

    /// Syncs the folders of the tables, so that the files of a part are durable before the manifest
    /// names them.
    pub(crate) fn sync_tables(&self) -> Result<()> {
        Table::ALL
            .into_iter()
            .try_for_each(|table| sync_folder(&self.path.join(table.name())))
    }

    /// Removes a run without pages.
    pub(crate) fn remove_run(&self, manifest: &mut Manifest, run: usize) -> Result<()> {
        let first_task = manifest.runs[run].first_task;
        manifest.runs.truncate(run);
        manifest.parts.retain(|part| part.task < first_task);
        manifest.save(&self.path)?;
        self.remove_unknown_files(manifest)
    }

    /// Removes a corpus without pages.
    pub(crate) fn remove(self) {
        remove_corpus(&self.path);
    }
}

/// Returns the position of the unfinished run, if its inputs and settings are those of `build`.
fn check_same_run(
    path: &Path,
    build: &Build<'_>,
    manifest: &Manifest,
    inputs: &[u8],
) -> Result<usize> {
    let number = manifest.runs.len().saturating_sub(1);
    let other = |detail: String| Error::InputsDiffer {
        path: path.to_owned(),
        detail,
    };
    let Some(run) = manifest.runs.last() else {
        return Err(other("it has no runs".to_owned()));
    };
    if build.add != (number > 0) {
        let was = if number > 0 {
            "with --add"
        } else {
            "without --add"
        };
        return Err(other(format!(
            "its last run is unfinished and was started {was}"
        )));
    }
    let known = input_lines(path, run)?;
    let requested = lines_of(inputs);
    if known != requested {
        let known = KnownInputs::of_lines(&path.join(&run.inputs.file), known)?;
        return Err(known
            .compare(&build.inputs)
            .error(path)
            .unwrap_or_else(|| other("its last run is unfinished and had others".to_owned())));
    }
    check_reading(path, run, &render_settings(&build.settings))?;
    Ok(number)
}

fn list(folder: &Path) -> Result<Vec<fs::DirEntry>> {
    fs::read_dir(folder)
        .and_then(|entries| entries.collect())
        .map_err(|error| Error::io(folder, error))
}

fn remove_file(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|error| Error::io(path, error))
}

/// Whether a folder without a manifest may become a corpus: it is empty, or a run was killed before
/// it wrote the first manifest.
fn may_become_corpus(path: &Path) -> Result<bool> {
    if !path.is_dir() {
        return Ok(false);
    }
    let known = [
        NEW_MANIFEST,
        ".lock",
        "inputs",
        "tmp",
        "pages",
        "text",
        "chunks",
    ];
    let entries = list(path)?;
    let lock = entries.is_empty() || path.join(".lock").exists();
    Ok(lock
        && entries
            .iter()
            .all(|entry| known.iter().any(|name| entry.file_name() == *name)))
}

/// Removes the files of a corpus and then its folder, if nothing else is in it. Errors are ignored:
/// this runs after a failure, and that failure is what the user should see.
pub(crate) fn remove_corpus(path: &Path) {
    for folder in ["inputs", "tmp"]
        .into_iter()
        .chain(Table::ALL.map(Table::name))
    {
        let _ = fs::remove_dir_all(path.join(folder));
    }
    for file in [MANIFEST, NEW_MANIFEST, ".lock"] {
        let _ = fs::remove_file(path.join(file));
    }
    let _ = fs::remove_dir(path);
}
