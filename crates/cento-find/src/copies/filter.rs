//! Writing the inputs of a corpus again without the pages that go.

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, RecordBatch, StringArray};
use cento_read::{Fate, Input, RevisitOf, Rewritten, Settings, rewrite};
use cento_store::{Corpus, ListedInput};

use crate::error::{Error, Result};
use crate::run::Findings;
use crate::tables::read_table;

/// An input that was written again.
#[derive(Debug, Clone)]
pub struct Filtered {
    /// Its name.
    pub input: String,
    /// Where it was written to; there is nothing if it was one page, and went.
    pub output: PathBuf,
    /// What became of its records.
    pub rewritten: Rewritten,
}

/// Writes inputs of a corpus to `folder`, without the pages that `findings` say go; all its inputs
/// if none is named. Calls `each` after each.
///
/// Nothing is written unless all can be: inputs must be what they were when the corpus was made,
/// for records are known by their numbers; every input has an output of its own, which is no input;
/// and what is there already is replaced only if `overwrite` says so.
pub fn filter(
    corpus: &Corpus,
    findings: &Findings,
    named: &[String],
    folder: &Path,
    overwrite: bool,
    mut each: impl FnMut(&Filtered) -> Result<()>,
) -> Result<()> {
    let known = corpus.listed_inputs()?;
    let mut settings = Settings::default();
    let reading = corpus.manifest().runs.first().map(|run| &run.reading);
    if let Some(format) = reading.and_then(|reading| reading.get("format")) {
        settings.format = format.parse().ok();
    }
    let chosen = chosen(corpus, &known, named, &settings)?;
    let outputs = outputs(&chosen, folder)?;
    check_outputs(&known, &chosen, &outputs, folder, overwrite)?;
    // Pairs are sorted by page id, and so by input: one input's pages are held at a time.
    let mut pairs = Pairs::open(findings)?;
    for ((ordinal, input), output) in chosen.iter().zip(outputs) {
        let mut gone = pairs.of_input(*ordinal)?;
        let rewritten = rewrite(input, &settings, &output, &mut |record| {
            gone.remove(&record).unwrap_or(Fate::Keep)
        })?;
        // An input that grows or is replaced while it is read has other records.
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

/// The inputs to write, each with its ordinal, in their order.
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
                    Error::Usage(format!("{} is no input of {corpus}", input.name))
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

/// Which input of the corpus a file is: by the whole name, by being the same file, or by the last
/// part of its name if that is of one input alone, for a corpus may have been made in another
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

/// Fails if an input is not what it was when the corpus was made.
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

/// Where each input goes: below `folder`, at the place that it has below the folder that all inputs
/// are in. Real folders are compared, however they were named, so that two files never have one
/// place.
fn outputs(chosen: &[(u32, Input)], folder: &Path) -> Result<Vec<PathBuf>> {
    let places: Vec<PathBuf> = chosen
        .iter()
        .map(|(_, input)| real_place(input.path().unwrap_or(Path::new(&input.name))))
        .collect();
    let base = common_folder(&places);
    let mut seen: BTreeMap<PathBuf, &str> = BTreeMap::new();
    let mut outputs = Vec::new();
    for (place, (_, input)) in places.iter().zip(chosen) {
        let rest = place.strip_prefix(&base).unwrap_or(place);
        // Nothing in it leads out of where it is put.
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

/// A path through real folders. The file itself may be a link: two links to one file are two
/// inputs.
fn real_place(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// The folder that all files lie below.
fn common_folder(places: &[PathBuf]) -> PathBuf {
    let mut common: Option<PathBuf> = None;
    for place in places {
        let folder = place.parent().unwrap_or(Path::new(""));
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

/// Fails if an output is an input of the corpus, chosen or not, by whatever name; if inputs lie in
/// the folder of outputs; or if something is there already.
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
            .find(|input| real_place(input).starts_with(&folder) && input.exists())
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

/// The table of pairs, input by input.
struct Pairs {
    batches: Box<dyn Iterator<Item = Result<RecordBatch>>>,
    batch: Option<RecordBatch>,
    row: usize,
}

impl Pairs {
    fn open(findings: &Findings) -> Result<Pairs> {
        Ok(Pairs {
            batches: Box::new(read_table(&findings.table("pairs"))?),
            batch: None,
            row: 0,
        })
    }

    /// What becomes of the records of an input. Inputs must be asked for in their order.
    fn of_input(&mut self, input: u32) -> Result<HashMap<u32, Fate>> {
        let mut gone = HashMap::new();
        loop {
            let batch = match &self.batch {
                Some(batch) if self.row < batch.num_rows() => batch,
                _ => match self.batches.next().transpose()? {
                    Some(batch) => {
                        self.row = 0;
                        self.batch.insert(batch)
                    }
                    None => return Ok(gone),
                },
            };
            let bad = || Error::Bug("the table of pairs is not one".into());
            let ids = batch
                .column_by_name("page_id")
                .and_then(|column| column.as_primitive_opt::<UInt64Type>());
            let id = ids.ok_or_else(bad)?.value(self.row);
            if (id >> 32) as u32 > input {
                return Ok(gone);
            }
            if (id >> 32) as u32 == input {
                let text = |name: &str| -> Option<&StringArray> {
                    batch.column_by_name(name)?.as_string_opt::<i32>()
                };
                let value = |name: &str| {
                    let column = text(name)?;
                    column.is_valid(self.row).then(|| column.value(self.row))
                };
                let fate = match (value("kind"), value("payload_sha1"), value("of")) {
                    (Some("bytes"), Some(payload), Some(of)) => Fate::Revisit(RevisitOf {
                        url: of.to_owned(),
                        date: value("of_fetched_at").map(str::to_owned),
                        payload_sha1: payload.to_owned(),
                    }),
                    // A revisit record says already what it is.
                    (Some("revisit"), ..) => Fate::Keep,
                    _ => Fate::Drop,
                };
                gone.insert(id as u32, fate);
            }
            self.row += 1;
        }
    }
}
