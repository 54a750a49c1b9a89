//! Copies the inputs of a corpus without the removed pages.

use std::collections::{BTreeMap, HashMap};
use std::iter::Peekable;
use std::path::{Component, Path, PathBuf};

use cento_read::{Fate, FieldAssignment, Input, RevisitOf, Rewritten, Role, Settings, rewrite};
use cento_store::{Corpus, ListedInput};

use super::pairs::{CopyPairRow, PAIRS, kind};
use crate::error::{Error, Result};
use crate::run::Findings;

/// An input that was filtered.
#[derive(Debug, Clone)]
pub struct Filtered {
    /// Its name.
    pub input: String,
    /// The output file. It does not exist if the input was a single page that was removed.
    pub output: PathBuf,
    /// The numbers of records that were kept and removed.
    pub rewritten: Rewritten,
}

/// How many inputs were written.
#[derive(Debug, Clone, Copy, Default)]
pub struct WrittenInputs {
    /// Inputs that were written.
    pub written: u64,
    /// Inputs that were not, because nothing of them is left.
    pub left_out: u64,
}

impl WrittenInputs {
    /// Counts an input.
    pub fn add(&mut self, filtered: &Filtered) {
        match filtered.output.exists() {
            true => self.written += 1,
            false => self.left_out += 1,
        }
    }
}

/// Writes the named inputs of a corpus, or all if none is named, to `folder` without the pages that
/// `findings` removes. Calls `each` after each input.
///
/// All checks precede the first write: inputs must not have changed since the corpus was made,
/// because records are identified by their numbers; no two inputs have the same output, and no
/// output is an input; existing files are replaced only if `overwrite` is set.
pub fn filter(
    corpus: &Corpus,
    findings: &Findings,
    named: &[String],
    folder: &Path,
    overwrite: bool,
    each: impl FnMut(&Filtered) -> Result<()>,
) -> Result<()> {
    // Pairs are sorted by page id and hence by input, so one input's pages are in memory at a time.
    let mut removed = RemovedRecords::open(findings)?;
    rewrite_inputs(corpus, named, folder, overwrite, &mut removed, each)
}

/// What happens to the records of the inputs of a corpus.
pub(crate) trait RecordFates {
    /// Prepares for an input. Ordinals ascend from call to call.
    fn open_input(&mut self, ordinal: u32) -> Result<()>;

    /// What happens to a record of the input. Ordinals ascend, and each is asked for twice at most.
    fn fate(&mut self, record: u32) -> Result<Fate>;
}

/// Writes the named inputs of a corpus, or all if none is named, to `folder`.
pub(crate) fn rewrite_inputs(
    corpus: &Corpus,
    named: &[String],
    folder: &Path,
    overwrite: bool,
    fates: &mut dyn RecordFates,
    mut each: impl FnMut(&Filtered) -> Result<()>,
) -> Result<()> {
    let known = corpus.listed_inputs()?;
    let mut settings = Settings::default();
    let reading = corpus.manifest().runs.first().map(|run| &run.reading);
    if let Some(format) = reading.and_then(|reading| reading.get("format")) {
        settings.format = format.parse().ok();
    }
    for role in Role::ALL {
        if let Some(name) = reading.and_then(|reading| reading.get(&format!("field {role}"))) {
            let name = name.clone();
            settings.fields.assign(FieldAssignment { role, name });
        }
    }
    let chosen = chosen(corpus, &known, named, &settings)?;
    let outputs = outputs(&chosen, folder)?;
    check_outputs(&known, &chosen, &outputs, folder, overwrite)?;
    for ((ordinal, input), output) in chosen.iter().zip(outputs) {
        fates.open_input(*ordinal)?;
        let mut failure = None;
        let rewritten = rewrite(input, &settings, &output, &mut |record| {
            let fate = fates.fate(record).map_err(|error| failure = Some(error));
            fate.unwrap_or(Fate::Keep)
        })?;
        if let Some(error) = failure {
            let _ = std::fs::remove_file(&output);
            return Err(error);
        }
        // The numbers of records are wrong if the input grew or was replaced while it was read.
        let listed = known.iter().find(|listed| listed.ordinal == *ordinal);
        if let (Err(error), true) = (check_unchanged(input.clone(), listed), output.exists()) {
            let _ = std::fs::remove_file(&output);
            return Err(error);
        }
        each(&Filtered {
            input: input.name.clone(),
            output,
            rewritten,
        })?;
    }
    Ok(())
}

/// Returns the inputs to write, with their ordinals, in order.
fn chosen(
    corpus: &Corpus,
    known: &[ListedInput],
    named: &[String],
    settings: &Settings,
) -> Result<Vec<(u32, Input)>> {
    let inputs = match named {
        [] => known
            .iter()
            .map(|listed| Ok((listed, Input::file(&listed.name, settings)?)))
            .collect::<Result<Vec<_>>>()?,
        named => {
            let found = cento_read::resolve(named, settings)?.inputs.into_iter();
            let listed = found.map(|input| {
                let listed = listed_as(known, &input).ok_or_else(|| {
                    let corpus = corpus.path().display();
                    Error::Usage(format!("{} is not an input of {corpus}", input.name))
                })?;
                Ok((listed, input))
            });
            listed.collect::<Result<Vec<_>>>()?
        }
    };
    let mut chosen: BTreeMap<u32, Input> = BTreeMap::new();
    for (listed, input) in inputs {
        check_unchanged(input.clone(), Some(listed))?;
        let name = input.name.clone();
        if let Some(other) = chosen.insert(listed.ordinal, input) {
            return Err(Error::Usage(format!(
                "{name} and {} could both be the input {} of the corpus",
                other.name, listed.name
            )));
        }
    }
    Ok(chosen.into_iter().collect())
}

/// Returns the input of the corpus that a file is: the one with the same name; else the same file;
/// else the only one with the same file name, because the corpus may have been made in another
/// folder.
fn listed_as<'k>(known: &'k [ListedInput], input: &Input) -> Option<&'k ListedInput> {
    if let Some(exact) = known.iter().find(|listed| listed.name == input.name) {
        return Some(exact);
    }
    let inode = input.path().and_then(cento_file::inode);
    let same = known
        .iter()
        .find(|listed| inode.is_some() && cento_file::inode(Path::new(&listed.name)) == inode);
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    let mut alike = known
        .iter()
        .filter(|listed| last(&listed.name) == last(&input.name));
    let alike = alike.next().filter(|_| alike.next().is_none());
    same.or(alike)
}

/// Fails if an input has changed since the corpus was made.
fn check_unchanged(mut input: Input, listed: Option<&ListedInput>) -> Result<()> {
    let Some(listed) = listed else {
        return Ok(());
    };
    let bytes = input.path().and_then(|path| path.metadata().ok());
    let bytes = bytes.map(|metadata| metadata.len());
    input.version = None;
    input.identify();
    let other_length = listed.bytes.is_some() && bytes != listed.bytes;
    let other_version = listed.version.is_some() && input.version != listed.version;
    if other_length || other_version {
        return Err(Error::Changed(input.name));
    }
    Ok(())
}

/// Returns the output of each input: below `folder`, at its path relative to the common folder of
/// all inputs. Paths are canonicalised, so that two files never have the same output.
fn outputs(chosen: &[(u32, Input)], folder: &Path) -> Result<Vec<PathBuf>> {
    let paths: Vec<PathBuf> = chosen
        .iter()
        .map(|(_, input)| real_path(input.path().unwrap_or(Path::new(&input.name))))
        .collect();
    let base = common_folder(&paths);
    let mut seen: BTreeMap<PathBuf, &str> = BTreeMap::new();
    let mut outputs = Vec::new();
    for (path, (_, input)) in paths.iter().zip(chosen) {
        let rest = path.strip_prefix(&base).unwrap_or(path);
        // Without `..` the output cannot leave the folder.
        let rest: PathBuf = rest
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .collect();
        let output = folder.join(rest);
        if let Some(other) = seen.insert(output.clone(), &input.name) {
            return Err(Error::OneOutput {
                output,
                inputs: [other.to_owned(), input.name.clone()],
            });
        }
        outputs.push(output);
    }
    Ok(outputs)
}

/// Returns a path with its folder canonicalised. The file itself may be a link: two links to one
/// file are two inputs.
fn real_path(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Returns the deepest folder that contains all files.
fn common_folder(paths: &[PathBuf]) -> PathBuf {
    let mut common: Option<PathBuf> = None;
    for path in paths {
        let folder = path.parent().unwrap_or(Path::new(""));
        common = Some(match common {
            None => folder.to_owned(),
            Some(common) => common
                .ancestors()
                .find(|ancestor| folder.starts_with(ancestor))
                .unwrap_or(Path::new(""))
                .to_owned(),
        });
    }
    common.unwrap_or_default()
}

/// Fails if an output is an input of the corpus, chosen or not, under any name; if the output
/// folder contains inputs; or if an output exists and `overwrite` is not set.
fn check_outputs(
    known: &[ListedInput],
    chosen: &[(u32, Input)],
    outputs: &[PathBuf],
    folder: &Path,
    overwrite: bool,
) -> Result<()> {
    let listed = known.iter().map(|listed| PathBuf::from(&listed.name));
    let opened = chosen
        .iter()
        .filter_map(|(_, input)| input.path().map(Path::to_owned));
    let inputs: Vec<PathBuf> = listed.chain(opened).collect();
    if let Ok(folder) = folder.canonicalize()
        && let Some(input) = inputs
            .iter()
            .find(|input| real_path(input).starts_with(&folder) && input.exists())
    {
        return Err(Error::OverItself(input.display().to_string()));
    }
    let inodes: HashMap<(u64, u64), &PathBuf> = inputs
        .iter()
        .filter_map(|input| Some((cento_file::inode(input)?, input)))
        .collect();
    for output in outputs {
        if let Some(input) = cento_file::inode(output).and_then(|inode| inodes.get(&inode)) {
            return Err(Error::OverItself(input.display().to_string()));
        }
        if !overwrite && output.symlink_metadata().is_ok() {
            return Err(Error::Exists(output.clone()));
        }
    }
    Ok(())
}

/// The table of pairs, read input by input.
struct RemovedRecords {
    rows: Peekable<Box<dyn Iterator<Item = Result<CopyPairRow>>>>,
    /// Those of the input.
    fates: HashMap<u32, Fate>,
}

impl RemovedRecords {
    fn open(findings: &Findings) -> Result<RemovedRecords> {
        let rows: Box<dyn Iterator<Item = _>> = Box::new(findings.rows(PAIRS)?);
        Ok(RemovedRecords {
            rows: rows.peekable(),
            fates: HashMap::new(),
        })
    }
}

impl RecordFates for RemovedRecords {
    fn open_input(&mut self, input: u32) -> Result<()> {
        self.fates.clear();
        let up_to = |row: &Result<CopyPairRow>| match row {
            Ok(row) => (row.page_id >> 32) as u32 <= input,
            Err(_) => true,
        };
        while let Some(row) = self.rows.next_if(up_to) {
            let row = row?;
            if (row.page_id >> 32) as u32 == input {
                self.fates.insert(row.page_id as u32, fate(row));
            }
        }
        Ok(())
    }

    fn fate(&mut self, record: u32) -> Result<Fate> {
        Ok(self.fates.get(&record).cloned().unwrap_or(Fate::Keep))
    }
}

fn fate(row: CopyPairRow) -> Fate {
    match (row.kind.as_str(), row.payload_sha1) {
        (kind::BYTES, Some(payload_sha1)) => Fate::Revisit(RevisitOf {
            url: row.of,
            date: row.of_fetched_at,
            payload_sha1,
        }),
        // A revisit record refers to the payload already.
        (kind::REVISIT, _) => Fate::Keep,
        _ => Fate::Drop,
    }
}
