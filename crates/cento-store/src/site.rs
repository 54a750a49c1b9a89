//! The building site: the folder of a corpus while it is written to.
//!
//! ```text
//! NAME.cento/
//!   manifest.json      what counts
//!   .lock              held by the one process that writes
//!   inputs/            the list of inputs of each run
//!   pages/ text/ chunks/   finished parts
//!   tmp/               parts that are not finished; swept when a run begins and ends
//! ```

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use cento_read::{Input, Role, Settings};

use crate::build::Build;
use crate::error::{Error, Result};
use crate::manifest::{
    FORMAT_NEWEST, FileEntry, MANIFEST, MANIFEST_ASIDE, Manifest, Run, sync_folder,
};
use crate::part::tail_hash;
use crate::schema::Table;

/// Holds the lock of a corpus for as long as it lives.
pub(crate) struct Site {
    path: PathBuf,
    _lock: File,
}

/// A run that may begin.
pub(crate) struct Begun {
    pub(crate) site: Site,
    pub(crate) manifest: Manifest,
    /// Which of the manifest's runs this is.
    pub(crate) run: usize,
}

impl Site {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the corpus, or opens it to resume its last run or to add one.
    pub(crate) fn begin(build: &Build<'_>, tasks: usize) -> Result<Begun> {
        let path = &build.corpus;
        let inputs = render_inputs(&build.inputs);
        let there = path.symlink_metadata().is_ok();
        if there && !path.join(MANIFEST).exists() && !is_empty_or_ours(path)? {
            return Err(Error::InTheWay(path.clone()));
        }
        if !path.join(MANIFEST).exists() {
            if build.add {
                return Err(Error::NothingToAddTo(path.clone()));
            }
            return Self::create(build, tasks, &inputs);
        }
        let site = Self::open(path)?;
        let mut manifest = Manifest::load(path)?;
        let complete = manifest.complete();
        if complete && !build.add {
            return Err(Error::Complete(path.clone()));
        }
        manifest.parameters.check_like(&build.parameters, path)?;
        site.sweep(&manifest)?;
        let run = if complete {
            let run = site.add_run(build, tasks, &inputs, Some(&manifest))?;
            manifest.runs.push(run);
            manifest.save(path)?;
            manifest.runs.len() - 1
        } else {
            check_same_run(path, build, &manifest, &inputs)?
        };
        Ok(Begun {
            site,
            manifest,
            run,
        })
    }

    /// Whether there is a corpus at `path`, and none of its runs is unfinished.
    pub(crate) fn is_complete(path: &Path) -> Result<bool> {
        Ok(path.join(MANIFEST).exists() && Manifest::load(path)?.complete())
    }

    /// Whether the corpus, which is complete, was made from the same inputs in the same way: by one
    /// run or by several.
    pub(crate) fn is_done(build: &Build<'_>) -> Result<bool> {
        let path = &build.corpus;
        let manifest = Manifest::load(path)?;
        manifest.parameters.check_like(&build.parameters, path)?;
        let other = |detail: String| Error::OtherInputs {
            path: path.to_owned(),
            detail,
        };
        let mut known: Vec<String> = Vec::new();
        let reading = render_settings(&build.settings);
        for run in &manifest.runs {
            known.extend(input_lines(path, run)?);
            check_reading(path, run, &reading)?;
        }
        let mut wanted = lines_of(&render_inputs(&build.inputs));
        known.sort_unstable();
        wanted.sort_unstable();
        if known != wanted {
            return Err(other(first_difference(&known, &wanted)));
        }
        Ok(true)
    }

    /// The inputs of all runs over the corpus at `path` that have ended.
    pub(crate) fn known_inputs(path: &Path) -> Result<KnownInputs> {
        let mut known = KnownInputs::default();
        if !path.join(MANIFEST).exists() {
            return Ok(known);
        }
        for run in Manifest::load(path)?.runs.iter().filter(|run| run.complete) {
            known.lines.extend(input_lines(path, run)?);
        }
        Ok(known)
    }

    fn create(build: &Build<'_>, tasks: usize, inputs: &[u8]) -> Result<Begun> {
        let path = &build.corpus;
        fs::create_dir_all(path).map_err(|error| Error::io(path, error))?;
        let create = || -> Result<Begun> {
            let site = Self::open(path)?;
            let run = site.add_run(build, tasks, inputs, None)?;
            let manifest = Manifest {
                format: FORMAT_NEWEST,
                parameters: build.parameters.clone(),
                runs: vec![run],
                parts: Vec::new(),
            };
            manifest.save(path)?;
            Ok(Begun {
                site,
                manifest,
                run: 0,
            })
        };
        create().inspect_err(|error| {
            if !matches!(error, Error::Busy(_)) {
                remove_remains(path);
            }
        })
    }

    /// Takes the lock and makes sure that the folders are there.
    fn open(path: &Path) -> Result<Site> {
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
            // What is in these folders is swept: a link in a corpus from a stranger could lead to
            // anything.
            if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                return Err(Error::damaged(
                    &folder,
                    "it is a link, and should be a folder",
                ));
            }
        }
        Ok(Site {
            path: path.to_owned(),
            _lock: lock,
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
        let place = self.path.join(&name);
        let write = || -> std::io::Result<String> {
            let mut file = cento_file::replace(&place)?;
            file.write_all(inputs)?;
            file.sync_all()?;
            tail_hash(&place)
        };
        let tail = write().map_err(|error| Error::io(&place, error))?;
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
            passed_over: build.passed_over.clone(),
            complete: false,
        })
    }

    /// Removes what no manifest names: the leavings of a run that was killed.
    fn sweep(&self, manifest: &Manifest) -> Result<()> {
        self.clear_unfinished()?;
        let aside = self.path.join(MANIFEST_ASIDE);
        if aside.exists() {
            remove_file(&aside)?;
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
    pub(crate) fn clear_unfinished(&self) -> Result<()> {
        for entry in list(&self.path.join("tmp"))? {
            remove_file(&entry.path())?;
        }
        Ok(())
    }

    /// Makes the renames of a part's files last, before the manifest names them.
    pub(crate) fn sync_tables(&self) -> Result<()> {
        Table::ALL
            .into_iter()
            .try_for_each(|table| sync_folder(&self.path.join(table.name())))
    }

    /// Takes back a run that came to nothing.
    pub(crate) fn forget_run(&self, manifest: &mut Manifest, run: usize) -> Result<()> {
        let first_task = manifest.runs[run].first_task;
        manifest.runs.truncate(run);
        manifest.parts.retain(|part| part.task < first_task);
        manifest.save(&self.path)?;
        self.sweep(manifest)
    }

    /// Takes back a corpus that came to nothing.
    pub(crate) fn remove(self) {
        remove_remains(&self.path);
    }
}

/// The number of the unfinished run, if it is the one that is asked for.
fn check_same_run(
    path: &Path,
    build: &Build<'_>,
    manifest: &Manifest,
    inputs: &[u8],
) -> Result<usize> {
    let number = manifest.runs.len().saturating_sub(1);
    let other = |detail: String| Error::OtherInputs {
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
            "its last run is unfinished and was begun {was}"
        )));
    }
    let known = input_lines(path, run)?;
    let wanted = lines_of(inputs);
    if known != wanted {
        return Err(other(first_difference(&known, &wanted)));
    }
    check_reading(path, run, &render_settings(&build.settings))?;
    Ok(number)
}

/// Refuses inputs that are read in another way than those of `run` were.
fn check_reading(path: &Path, run: &Run, reading: &BTreeMap<String, String>) -> Result<()> {
    if *reading == run.reading {
        return Ok(());
    }
    let shown = |reading: &BTreeMap<String, String>, name: &str| match reading.get(name) {
        Some(value) => format!("{name} {value}"),
        None => format!("no {name}"),
    };
    let names = run.reading.keys().chain(reading.keys());
    let differing = names
        .filter(|name| run.reading.get(*name) != reading.get(*name))
        .map(|name| {
            format!(
                "{}, now {}",
                shown(&run.reading, name),
                shown(reading, name)
            )
        })
        .next();
    Err(Error::OtherInputs {
        path: path.to_owned(),
        detail: format!("they were read with {}", differing.unwrap_or_default()),
    })
}

/// What is in a corpus already.
#[derive(Default)]
pub(crate) struct KnownInputs {
    lines: HashSet<String>,
}

impl KnownInputs {
    /// Whether an input is among them: by its name, its size, and what tells that it has changed. A
    /// stream is never known: nothing tells what comes out of it.
    pub(crate) fn has(&self, input: &Input) -> bool {
        let told = |version: Option<&str>| {
            let line = render_input(&input.name, input.bytes, version);
            self.lines.contains(&line)
        };
        // A corpus from before versions of files were written down has names and sizes only.
        input.bytes.is_some() && (told(input.version.as_deref()) || told(None))
    }
}

/// The lines of the list of inputs of a run.
fn input_lines(path: &Path, run: &Run) -> Result<Vec<String>> {
    let place = path.join(&run.inputs.file);
    let list = fs::read(&place).map_err(|error| Error::io(&place, error))?;
    Ok(lines_of(&list))
}

fn lines_of(list: &[u8]) -> Vec<String> {
    let list = String::from_utf8_lossy(list);
    list.lines().map(str::to_owned).collect()
}

/// One line an input: what a resumed run compares.
fn render_inputs(inputs: &[Input]) -> Vec<u8> {
    let mut lines = Vec::new();
    for input in inputs {
        let line = render_input(&input.name, input.bytes, input.version.as_deref());
        lines.extend_from_slice(line.as_bytes());
        lines.push(b'\n');
    }
    lines
}

fn render_input(name: &str, bytes: Option<u64>, version: Option<&str>) -> String {
    let mut line = serde_json::json!({ "name": name, "bytes": bytes });
    if let Some(version) = version {
        line["version"] = version.into();
    }
    line.to_string()
}

/// How the inputs are read, as far as the user can choose it.
fn render_settings(settings: &Settings) -> BTreeMap<String, String> {
    let limits = &settings.limits;
    let mut reading = BTreeMap::from([
        (
            "max_page_bytes".to_owned(),
            limits.max_page_bytes.to_string(),
        ),
        (
            "max_header_bytes".to_owned(),
            limits.max_header_bytes.to_string(),
        ),
        (
            "max_line_bytes".to_owned(),
            limits.max_line_bytes.to_string(),
        ),
        ("max_ratio".to_owned(), limits.max_ratio.to_string()),
    ]);
    if let Some(base_url) = &settings.base_url {
        reading.insert("base_url".to_owned(), base_url.clone());
    }
    if let Some(format) = settings.format {
        reading.insert("format".to_owned(), format.name().to_owned());
    }
    for role in Role::ALL {
        if let Some(name) = settings.fields.assigned(role) {
            reading.insert(format!("field {role}"), name.to_owned());
        }
    }
    reading
}

fn first_difference(known: &[String], wanted: &[String]) -> String {
    let name = |line: Option<&String>| match line {
        None => "nothing more".to_owned(),
        Some(line) => line.clone(),
    };
    let mut known = known.iter();
    let mut wanted = wanted.iter();
    loop {
        let (old, new) = (known.next(), wanted.next());
        if old != new || old.is_none() {
            return format!("it had {}, now there is {}", name(old), name(new));
        }
    }
}

fn list(folder: &Path) -> Result<Vec<fs::DirEntry>> {
    fs::read_dir(folder)
        .and_then(|entries| entries.collect())
        .map_err(|error| Error::io(folder, error))
}

fn remove_file(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|error| Error::io(path, error))
}

/// Whether a folder without a manifest may become a corpus: it is empty, or a run was killed in it
/// before the first manifest was written.
fn is_empty_or_ours(path: &Path) -> Result<bool> {
    if !path.is_dir() {
        return Ok(false);
    }
    let ours = [
        MANIFEST_ASIDE,
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
            .all(|entry| ours.iter().any(|name| entry.file_name() == *name)))
}

/// Removes the files that a corpus is made of and then its folder, if nothing else is in it. Best
/// effort: it runs when something has failed already, and that failure is what the user should hear
/// of.
fn remove_remains(path: &Path) {
    for folder in ["inputs", "tmp"]
        .into_iter()
        .chain(Table::ALL.map(Table::name))
    {
        let _ = fs::remove_dir_all(path.join(folder));
    }
    for file in [MANIFEST, MANIFEST_ASIDE, ".lock"] {
        let _ = fs::remove_file(path.join(file));
    }
    let _ = fs::remove_dir(path);
}
