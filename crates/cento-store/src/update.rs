//! Brings a corpus up to date with its inputs: resumes an unfinished run, adds new inputs, and on
//! request replaces a corpus whose inputs have changed.
//!
//! ```text
//! inputs of the corpus   a  b  c           a  b  c            a  b  c
//! inputs now             a  b  c  d  e     a  b' c            a  b
//!                        d and e are       error; a refresh replaces
//!                        added             the corpus
//! ```

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::build::{Build, Built, tally};
use crate::build_folder::{BuildFolder, remove_corpus};
use crate::error::{Error, Result};
use crate::input_changes::KnownInputs;
use crate::input_list::{check_reading, input_lines, render_input, render_settings};
use crate::manifest::{Counts, MANIFEST, Manifest, Tally};

/// Brings the corpus of a build up to date. The versions of the inputs are known.
pub(crate) fn run(mut build: Build<'_>) -> Result<Built> {
    build.update = false;
    let path = build.corpus.clone();
    if !path.join(MANIFEST).exists() {
        // A refresh that was killed between its two renames has left the new corpus beside.
        let beside = beside(&path, "refresh")?;
        if path.symlink_metadata().is_err() && beside.join(MANIFEST).exists() {
            return replace(build);
        }
        return build.run_identified();
    }
    let manifest = Manifest::load(&path)?;
    manifest.parameters.check_equal(&build.parameters, &path)?;
    let reading = render_settings(&build.settings);
    for run in &manifest.runs {
        check_reading(&path, run, &reading)?;
    }
    let known = KnownInputs::of_runs(&path, &manifest, true)?;
    let mut changes = known.compare(&build.inputs);
    let complete = manifest.complete();
    if !complete {
        // Resuming reads a stream again, and skips the part of it that was read.
        changes.streams.clear();
    }
    if changes.is_stale() && build.refresh {
        return replace(build);
    }
    let added = std::mem::take(&mut changes.new);
    if let Some(error) = changes.error(&path) {
        return Err(error);
    }
    let mut built = Built {
        counts: Counts::default(),
        skipped_files: build.skipped_files.clone(),
        resumed_pages: 0,
        already_added: None,
        added,
        replaced: false,
        corpus_bytes: 0,
    };
    if !complete {
        let resumed = resume(&build, &manifest)?;
        built.counts = resumed.counts;
        built.resumed_pages = resumed.resumed_pages;
    }
    build.inputs.retain(|input| {
        if !known.lists(input) {
            return true;
        }
        tally(&mut built.already_added, input);
        false
    });
    if !build.inputs.is_empty() {
        build.add = true;
        build.again = true;
        match build.run_identified() {
            Ok(added) => built.counts.add(&added.counts),
            // Files without pages do not prevent an analysis of the others.
            Err(Error::NoPages(_)) => {}
            Err(error) => return Err(error),
        }
    }
    built.corpus_bytes = Manifest::load(&path)?.bytes_on_disk();
    Ok(built)
}

/// Resumes the unfinished run of a corpus with the inputs that it had.
fn resume(build: &Build<'_>, manifest: &Manifest) -> Result<Built> {
    let mut resumed = build.clone();
    resumed.add = manifest.runs.len() > 1;
    resumed.again = true;
    if let Some(run) = manifest.runs.last() {
        let lines: HashSet<String> = input_lines(&build.corpus, run)?.into_iter().collect();
        resumed.inputs.retain(|input| {
            let line = render_input(&input.name, input.bytes, input.version.as_deref());
            lines.contains(&line)
        });
    }
    resumed.run_identified()
}

/// Indexes all inputs into a new corpus beside the old one, which it then replaces.
fn replace(build: Build<'_>) -> Result<Built> {
    let path = build.corpus.clone();
    let (fresh, old) = (beside(&path, "refresh")?, beside(&path, "old")?);
    let existed = path.join(MANIFEST).exists();
    // Nobody may add to the old corpus meanwhile.
    let lock = existed.then(|| BuildFolder::open(&path)).transpose()?;
    let mut build = build;
    build.corpus.clone_from(&fresh);
    build.add = false;
    let mut built = match finish(build.clone()) {
        // The inputs have changed again since an interrupted refresh.
        Err(
            Error::InputsChanged { .. }
            | Error::InputsDiffer { .. }
            | Error::ParametersDiffer { .. }
            | Error::PathTaken(_),
        ) => {
            remove_corpus(&fresh);
            finish(build)?
        }
        built => built?,
    };
    if existed {
        remove_folder(&old)?;
        rename(&path, &old)?;
    }
    rename(&fresh, &path)?;
    drop(lock);
    if old.exists() {
        keep_others(&old, &path)?;
        remove_folder(&old)?;
    }
    built.replaced = true;
    Ok(built)
}

/// Completes the new corpus of a refresh, which may have been interrupted.
fn finish(build: Build<'_>) -> Result<Built> {
    let path = build.corpus.clone();
    if !path.join(MANIFEST).exists() {
        return build.run_identified();
    }
    let mut build = build;
    build.refresh = false;
    let skipped_files = build.skipped_files.clone();
    let mut built = run(build)?;
    let manifest = Manifest::load(&path)?;
    built.counts = manifest.counts();
    built.skipped_files = skipped_files;
    built.added.clear();
    built.already_added = None::<Tally>;
    Ok(built)
}

/// Moves what is not part of the old corpus itself to the new one: findings, judgements, reports.
/// Results of other pages are never used, because they are identified by the checksums of the
/// parts.
fn keep_others(old: &Path, new: &Path) -> Result<()> {
    let entries = fs::read_dir(old).map_err(|error| Error::io(old, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| Error::io(old, error))?;
        let target = new.join(entry.file_name());
        if target.symlink_metadata().is_err() {
            rename(&entry.path(), &target)?;
        }
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| Error::io(to, error))
}

fn remove_folder(path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Ok(_) => fs::remove_dir_all(path).map_err(|error| Error::io(path, error)),
        Err(_) => Ok(()),
    }
}

/// A hidden folder beside a corpus, which no command reads as input.
pub(crate) fn beside(path: &Path, purpose: &str) -> Result<PathBuf> {
    let named = std::path::absolute(path).map_err(|error| Error::io(path, error))?;
    let Some(name) = named.file_name() else {
        return Err(Error::PathTaken(path.to_owned()));
    };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{purpose}"));
    Ok(named.with_file_name(hidden))
}
