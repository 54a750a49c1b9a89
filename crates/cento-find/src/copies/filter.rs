//! Writing the inputs of a corpus again without the pages that go.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, RecordBatch, StringArray};
use cento_read::{Fate, Input, RevisitOf, Rewritten, Settings, rewrite};
use cento_store::Corpus;

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

/// Writes inputs of a corpus to `folder`, without the pages that `findings` say go; all its inputs if none is named. Calls `each` after
/// each.
pub fn filter(
    corpus: &Corpus,
    findings: &Findings,
    named: &[String],
    folder: &Path,
    mut each: impl FnMut(&Filtered) -> Result<()>,
) -> Result<()> {
    let known = corpus.inputs()?;
    let mut settings = Settings::default();
    let reading = corpus.manifest().runs.first().map(|run| &run.reading);
    if let Some(format) = reading.and_then(|reading| reading.get("format")) {
        settings.format = format.parse().ok();
    }
    let specs: Vec<String> = match named {
        [] => known.iter().map(|(_, name)| name.clone()).collect(),
        named => named.to_vec(),
    };
    let inputs = cento_read::resolve(&specs, &settings)?.inputs;
    let mut by_ordinal = HashMap::new();
    for input in inputs {
        let ordinal = ordinal_of(&known, &input.name).ok_or_else(|| {
            Error::Parameter(format!(
                "{} is no input of {}",
                input.name,
                corpus.path().display()
            ))
        })?;
        by_ordinal.insert(ordinal, input);
    }
    let base = common_folder(by_ordinal.values().map(|input| input.name.as_str()));
    let mut ordinals: Vec<u32> = by_ordinal.keys().copied().collect();
    ordinals.sort_unstable();
    // Pairs are sorted by page id, and so by input: one input's pages are held at a time.
    let mut pairs = Pairs::open(findings)?;
    for ordinal in ordinals {
        let Some(input) = by_ordinal.get(&ordinal) else {
            continue;
        };
        let mut gone = pairs.of_input(ordinal)?;
        let output = folder.join(below(&input.name, &base));
        refuse_itself(input, &output)?;
        let rewritten = rewrite(input, &settings, &output, &mut |record| {
            gone.remove(&record).unwrap_or(Fate::Keep)
        })?;
        each(&Filtered {
            input: input.name.clone(),
            output,
            rewritten,
        })?;
    }
    Ok(())
}

/// By the whole name, else by its last part if that is of one input alone: a corpus may have been made in another folder.
fn ordinal_of(known: &[(u32, String)], name: &str) -> Option<u32> {
    let exact = known.iter().find(|(_, other)| other == name);
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    let mut alike = known.iter().filter(|(_, other)| last(other) == last(name));
    let alike = alike.next().filter(|_| alike.next().is_none());
    exact.or(alike).map(|(ordinal, _)| *ordinal)
}

/// The folder that all names lie below.
fn common_folder<'a>(names: impl Iterator<Item = &'a str>) -> PathBuf {
    let mut common: Option<PathBuf> = None;
    for name in names {
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
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

/// A name below a folder, with nothing in it that leads out of where it is put.
fn below(name: &str, folder: &Path) -> PathBuf {
    let rest = Path::new(name)
        .strip_prefix(folder)
        .unwrap_or(Path::new(name));
    rest.components()
        .filter(|part| matches!(part, std::path::Component::Normal(_)))
        .collect()
}

fn refuse_itself(input: &Input, output: &Path) -> Result<()> {
    let same = std::fs::canonicalize(&input.name)
        .ok()
        .zip(std::fs::canonicalize(output).ok())
        .is_some_and(|(input, output)| input == output);
    if same {
        return Err(Error::OverItself(input.name.clone()));
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
            let bad = || Error::Parameter("the table of pairs is not one".into());
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
