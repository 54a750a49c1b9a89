//! Operations on files of labels: merge, subtract and review. Labels and the tables beside them are
//! sorted, so everything is streamed.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use cento_file::is_stream;
use cento_labels::{Labels, LabelsHeader, LabelsWriter};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::provenance::{
    LabelRow, ORIGINALS, OriginalRow, TABLE, TableOutput, originals_of, read_labels,
    read_originals, table_of, verify_tables,
};

/// A file of labels with the tables beside it, if any.
struct LabelFile {
    labels: Labels,
    table: Option<PathBuf>,
    originals: Option<PathBuf>,
}

/// A label and its row.
type LabelEntry = ([u8; 16], Option<LabelRow>);

impl LabelFile {
    fn open(path: &Path) -> Result<LabelFile> {
        let labels = Labels::open(path)?;
        labels.verify()?;
        verify_tables(&labels)?;
        let existing = |path: PathBuf| path.is_file().then_some(path);
        Ok(LabelFile {
            table: existing(table_of(path)),
            originals: existing(originals_of(path)),
            labels,
        })
    }

    /// Returns all labels in order.
    fn entries(&self) -> Result<Box<dyn Iterator<Item = Result<LabelEntry>> + '_>> {
        let Some(table) = &self.table else {
            return Ok(Box::new(self.labels.iter().map(|hash| Ok((hash, None)))));
        };
        let mut rows = read_labels(table)?;
        Ok(Box::new(self.labels.iter().map(
            move |hash| match rows.next().transpose()? {
                Some(row) if row.hash == hash => Ok((hash, Some(row))),
                _ => Err(Error::corrupted(table, "it belongs to other labels")),
            },
        )))
    }

    fn originals(&self) -> Result<Vec<OriginalRow>> {
        match &self.originals {
            Some(path) => read_originals(path)?.collect(),
            None => Ok(Vec::new()),
        }
    }
}

/// Writes labels and the tables beside them; all files are renamed at the end.
struct LabelOutput<'a> {
    path: &'a Path,
    writer: LabelsWriter,
    table: Option<TableOutput<LabelRow>>,
    /// The number of labels of each original.
    owned: HashMap<u32, u64>,
}

impl<'a> LabelOutput<'a> {
    fn create(
        path: &'a Path,
        like: &LabelsHeader,
        labels: u64,
        table: bool,
    ) -> Result<LabelOutput<'a>> {
        Ok(LabelOutput {
            writer: LabelsWriter::create(path, like.recipe, labels)?,
            table: match table && !is_stream(path) {
                true => Some(TableOutput::create(&table_of(path))?),
                false => None,
            },
            path,
            owned: HashMap::new(),
        })
    }

    fn push(&mut self, hash: [u8; 16], row: Option<LabelRow>) -> Result<()> {
        self.writer.push(hash)?;
        if let (Some(table), Some(row)) = (&mut self.table, row) {
            for &original in &row.originals {
                *self.owned.entry(original).or_default() += 1;
            }
            table.push(row)?;
        }
        Ok(())
    }

    fn finish(
        mut self,
        stops: &[[u8; 16]],
        made: serde_json::Value,
        originals: Vec<OriginalRow>,
    ) -> Result<LabelsHeader> {
        if is_stream(self.path) {
            return Ok(self.writer.finish(stops, made)?);
        }
        let beside = originals_of(self.path);
        match self.table {
            Some(table) => {
                table.finish()?;
                self.writer.add_sidecar(TABLE)?;
            }
            None => drop(fs::remove_file(table_of(self.path))),
        }
        if originals.is_empty() {
            // Removes the table of a previous file of this name.
            let _ = fs::remove_file(&beside);
        } else {
            let mut table = TableOutput::create(&beside)?;
            for mut row in originals {
                row.labels = self.owned.get(&row.original).copied().unwrap_or(0);
                if row.labels > 0 {
                    table.push(row)?;
                }
            }
            table.finish()?;
            self.writer.add_sidecar(ORIGINALS)?;
        }
        Ok(self.writer.finish(stops, made)?)
    }
}

/// Merges labels with the same recipe. A stop of any file is not a label of the result.
///
/// The files do not say whether their corpora have pages in common. Therefore the counts of a label
/// in several files are the largest ones, which are lower bounds for all corpora together. An
/// original in several files is listed once; it is recognised by its URL.
pub fn merge(inputs: &[PathBuf], output: &Path) -> Result<LabelsHeader> {
    let sets = inputs
        .iter()
        .map(|path| LabelFile::open(path))
        .collect::<Result<Vec<LabelFile>>>()?;
    let Some(first) = sets.first() else {
        return Err(Error::Usage("there are no labels to merge".to_owned()));
    };
    let mut stops: Vec<[u8; 16]> = Vec::new();
    for set in &sets {
        let recipe = set.labels.header().recipe;
        let alike = recipe.check_like(&first.labels.header().recipe, set.labels.path());
        alike.map_err(Error::UnlikeLabels)?;
        stops.extend(set.labels.stops());
    }
    stops.sort_unstable();
    stops.dedup();
    let mut originals = MergedOriginals::default();
    let mut numbers = Vec::new();
    for set in &sets {
        numbers.push(originals.add(set.originals()?));
    }
    let all: u64 = sets.iter().map(|set| set.labels.len()).sum();
    let tables = sets.iter().all(|set| set.table.is_some());
    let mut out = LabelOutput::create(output, first.labels.header(), all, tables)?;
    let mut streams = Vec::new();
    for set in &sets {
        streams.push(set.entries()?.peekable());
    }
    loop {
        let mut next: Option<[u8; 16]> = None;
        for stream in &mut streams {
            if let Some(Ok((hash, _))) = stream.peek() {
                next = Some(next.map_or(*hash, |least| least.min(*hash)));
            } else if let Some(Err(error)) = stream.next_if(|entry| entry.is_err()) {
                return Err(error);
            }
        }
        let Some(hash) = next else {
            break;
        };
        let mut joined: Option<LabelRow> = None;
        for ((stream, numbers), set) in streams.iter_mut().zip(&numbers).zip(&sets) {
            let same =
                |entry: &Result<LabelEntry>| matches!(entry, Ok((found, _)) if *found == hash);
            let Some(Ok((_, row))) = stream.next_if(same) else {
                continue;
            };
            let Some(mut row) = row else {
                continue;
            };
            for original in &mut row.originals {
                let Some(&number) = numbers.get(original) else {
                    let path = originals_of(set.labels.path());
                    let detail = format!("original {original} has no name");
                    return Err(Error::corrupted(&path, detail));
                };
                *original = number;
            }
            match &mut joined {
                None => joined = Some(row),
                Some(joined) => {
                    joined.count = joined.count.max(row.count);
                    joined.pages = joined.pages.max(row.pages);
                    joined.sites = joined.sites.max(row.sites);
                    joined.originals.extend(row.originals);
                    joined.originals.sort_unstable();
                    joined.originals.dedup();
                    joined.proposed = joined.proposed.take().or(row.proposed);
                }
            }
        }
        if stops.binary_search(&hash).is_err() {
            out.push(hash, joined)?;
        }
    }
    let made = json!({ "merged": names(inputs), "cento": env!("CARGO_PKG_VERSION") });
    out.finish(&stops, made, originals.rows)
}

/// The originals of several files of labels, each listed once.
#[derive(Default)]
struct MergedOriginals {
    rows: Vec<OriginalRow>,
    /// Where the originals with a URL are in `rows`. Those of one file are different originals,
    /// even if they have the same URL.
    by_page: HashMap<String, Vec<usize>>,
}

impl MergedOriginals {
    /// Adds the originals of a file. Returns their new numbers by their numbers in the file.
    fn add(&mut self, originals: Vec<OriginalRow>) -> HashMap<u32, u32> {
        let mut numbers = HashMap::new();
        let mut found: HashMap<String, usize> = HashMap::new();
        for mut row in originals {
            let before = found.entry(row.page.clone()).or_default();
            let known = self.by_page.entry(row.page.clone()).or_default();
            let at = match known.get(*before) {
                Some(&at) => at,
                None => {
                    known.push(self.rows.len());
                    self.rows.len()
                }
            };
            *before += 1;
            let number = u32::try_from(at).unwrap_or(u32::MAX);
            numbers.insert(row.original, number);
            if at == self.rows.len() {
                row.original = number;
                self.rows.push(row);
            }
        }
        numbers
    }
}

/// Writes the labels of a file that are in none of the others.
pub fn subtract(from: &Path, others: &[PathBuf], output: &Path) -> Result<LabelsHeader> {
    let set = LabelFile::open(from)?;
    let others_open = others
        .iter()
        .map(|path| Ok(LabelFile::open(path)?.labels))
        .collect::<Result<Vec<Labels>>>()?;
    for other in &others_open {
        let recipe = other.header().recipe;
        let alike = recipe.check_like(&set.labels.header().recipe, other.path());
        alike.map_err(Error::UnlikeLabels)?;
    }
    let made = json!({ "of": names(&[from.to_owned()]), "without": names(others), "cento": env!("CARGO_PKG_VERSION") });
    let keep = |hash: &[u8; 16], _: Option<&LabelRow>| {
        others_open.iter().all(|other| other.find(hash).is_none())
    };
    filter(&set, output, keep, &[], made)
}

/// Turns the labels for which `accept` returns true into stops. Returns their number.
pub fn stop_labels(
    path: &Path,
    output: &Path,
    accept: impl Fn(&LabelRow) -> bool,
) -> Result<(LabelsHeader, u64)> {
    let set = LabelFile::open(path)?;
    let mut stops = Vec::new();
    for row in proposals_of(&set)? {
        let row = row?;
        if accept(&row) {
            stops.push(row.hash);
        }
    }
    stops.sort_unstable();
    let accepted = stops.len() as u64;
    let made = reviewed(&set.labels.header().made, path, accepted);
    let keep = |hash: &[u8; 16], _: Option<&LabelRow>| stops.binary_search(hash).is_err();
    Ok((filter(&set, output, keep, &stops, made)?, accepted))
}

/// Returns the note on how labels were made after a review that stopped a number of them: how they
/// were made before all reviews, and which files were reviewed.
fn reviewed(made: &Value, path: &Path, stopped: u64) -> Value {
    if stopped == 0 {
        return made.clone();
    }
    let (before, mut files) = match (made.get("before"), made.get("reviewed")) {
        (Some(before), Some(Value::Array(files))) => (before.clone(), files.clone()),
        _ => (made.clone(), Vec::new()),
    };
    for name in names(&[path.to_owned()]) {
        let name = Value::String(name);
        if !files.contains(&name) && files.len() < NAMES {
            files.push(name);
        }
    }
    json!({ "reviewed": files, "before": before, "cento": env!("CARGO_PKG_VERSION") })
}

/// Reads all labels of a file with their provenance.
pub fn label_table(path: &Path) -> Result<impl Iterator<Item = Result<LabelRow>> + use<>> {
    proposals_of(&LabelFile::open(path)?)
}

fn proposals_of(set: &LabelFile) -> Result<impl Iterator<Item = Result<LabelRow>> + use<>> {
    match &set.table {
        Some(table) => read_labels(table),
        None => Err(Error::Unsuitable(format!(
            "{} is missing, which has the texts of the labels",
            table_of(set.labels.path()).display()
        ))),
    }
}

fn filter(
    set: &LabelFile,
    output: &Path,
    keep: impl Fn(&[u8; 16], Option<&LabelRow>) -> bool,
    more_stops: &[[u8; 16]],
    made: serde_json::Value,
) -> Result<LabelsHeader> {
    let header = set.labels.header();
    let mut out = LabelOutput::create(output, header, header.labels, set.table.is_some())?;
    for entry in set.entries()? {
        let (hash, row) = entry?;
        if keep(&hash, row.as_ref()) {
            out.push(hash, row)?;
        }
    }
    let mut stops = set.labels.stops().to_vec();
    stops.extend(more_stops);
    out.finish(&stops, made, set.originals()?)
}

/// The most files that the note on how labels were made names.
const NAMES: usize = 20;

fn names(paths: &[PathBuf]) -> Vec<String> {
    let names = paths.iter().filter_map(|path| path.file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .take(NAMES)
        .collect()
}

#[cfg(test)]
mod tests {
    use cento_labels::Recipe;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    use super::*;

    fn hash(number: u8) -> [u8; 16] {
        Recipe::default().chunk_hash(&number.to_string())
    }

    fn row(number: u8, original: u32) -> LabelRow {
        LabelRow {
            hash: hash(number),
            text: Some(number.to_string()),
            bytes: 1,
            count: 2,
            pages: 1,
            sites: Some(1),
            page_id: 0,
            page: "page".to_owned(),
            originals: vec![original],
            proposed: number
                .is_multiple_of(2)
                .then(|| "short: it has 1 byte".to_owned()),
        }
    }

    fn write(path: &Path, numbers: &BTreeSet<u8>, stops: &BTreeSet<u8>) {
        let mut rows: Vec<LabelRow> = numbers
            .iter()
            .map(|&number| row(number, u32::from(number) % 3))
            .collect();
        rows.sort_by_key(|row| row.hash);
        let mut writer = LabelsWriter::create(path, Recipe::default(), rows.len() as u64).unwrap();
        let mut table = TableOutput::create(&table_of(path)).unwrap();
        for row in rows {
            writer.push(row.hash).unwrap();
            table.push(row).unwrap();
        }
        table.finish().unwrap();
        let mut table = TableOutput::create(&originals_of(path)).unwrap();
        for original in 0..3 {
            table
                .push(OriginalRow {
                    original,
                    page_id: 0,
                    page: format!("o{original}"),
                    labels: 1,
                })
                .unwrap();
        }
        table.finish().unwrap();
        let stops: Vec<[u8; 16]> = stops.iter().map(|&number| hash(number)).collect();
        writer.finish(&stops, Value::Null).unwrap();
    }

    fn found(path: &Path) -> BTreeSet<u8> {
        let labels = Labels::open(path).unwrap();
        labels.verify().unwrap();
        let rows: Vec<LabelRow> = label_table(path).unwrap().map(Result::unwrap).collect();
        assert_eq!(
            labels.iter().collect::<Vec<_>>(),
            rows.iter().map(|row| row.hash).collect::<Vec<_>>()
        );
        rows.iter()
            .map(|row| row.text.as_ref().unwrap().parse().unwrap())
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn operations_on_labels_are_those_on_sets(
            one in proptest::collection::btree_set(0u8..30, 0..20),
            other in proptest::collection::btree_set(0u8..30, 0..20),
            stops in proptest::collection::btree_set(30u8..40, 0..3),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let [a, b, c] = ["a", "b", "c"].map(|name| folder.path().join(format!("{name}.labels")));
            write(&a, &one, &stops);
            write(&b, &other, &BTreeSet::from([29]));
            merge(&[a.clone(), b.clone()], &c).unwrap();
            let joined: BTreeSet<u8> = one.union(&other).copied().filter(|&number| number != 29).collect();
            prop_assert_eq!(found(&c), joined);
            prop_assert_eq!(Labels::open(&c).unwrap().stops().len(), stops.len() + 1);
            for row in label_table(&c).unwrap() {
                let row = row.unwrap();
                let number: u8 = row.text.as_ref().unwrap().parse().unwrap();
                let times = u64::from(one.contains(&number)) + u64::from(other.contains(&number));
                // Both files have the same originals, and perhaps the same pages.
                prop_assert!(times > 0);
                prop_assert_eq!((row.count, row.pages, row.sites), (2, 1, Some(1)));
                prop_assert_eq!(row.originals, vec![u32::from(number) % 3]);
            }

            subtract(&a, std::slice::from_ref(&b), &c).unwrap();
            prop_assert_eq!(found(&c), one.difference(&other).copied().collect::<BTreeSet<u8>>());
            let owned: u64 = read_originals(&originals_of(&c)).map_or(0, |rows| rows.map(|row| row.unwrap().labels).sum());
            prop_assert_eq!(owned as usize, one.difference(&other).count());

            // In place, as reviews do.
            let (header, accepted) = stop_labels(&a, &a, |row| row.proposed.is_some()).unwrap();
            let odd: BTreeSet<u8> = one.iter().copied().filter(|number| number % 2 == 1).collect();
            prop_assert_eq!(accepted as usize, one.len() - odd.len());
            prop_assert_eq!(header.stops as usize, stops.len() + one.len() - odd.len());
            prop_assert_eq!(found(&a), odd);
        }
    }

    #[test]
    fn labels_of_different_recipes_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| folder.path().join(format!("{name}.labels")));
        write(&a, &BTreeSet::from([1]), &BTreeSet::new());
        let other = LabelsWriter::create(&b, Recipe::files(), 0).unwrap();
        other.finish(&[], Value::Null).unwrap();
        for outcome in [
            merge(&[a.clone(), b.clone()], &c),
            subtract(&a, std::slice::from_ref(&b), &c),
        ] {
            assert!(
                outcome
                    .unwrap_err()
                    .to_string()
                    .contains("has labels of files, not of chunks")
            );
        }
        // Without a table there is nothing to review.
        assert!(label_table(&b).is_err());
        assert!(!c.exists());
    }
}
