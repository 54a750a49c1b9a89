//! Sets of labels: joined, taken from each other, and reviewed. All of it streams: labels are in
//! order, and so are the tables beside them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use cento_file::is_stream;
use cento_labels::{Labels, LabelsHeader, LabelsWriter};
use serde_json::json;

use crate::error::{Error, Result};
use crate::provenance::{
    LabelRow, ORIGINALS, OriginalRow, TABLE, TableFile, originals_of, read_labels, read_originals,
    table_of,
};

/// Labels with their table, if they have one.
struct Set {
    labels: Labels,
    table: Option<PathBuf>,
    originals: Option<PathBuf>,
}

/// A label, and what is beside it.
type Entry = ([u8; 16], Option<LabelRow>);

impl Set {
    fn open(path: &Path) -> Result<Set> {
        let labels = Labels::open(path)?;
        labels.verify()?;
        labels.verify_sidecars()?;
        let existing = |path: PathBuf| path.is_file().then_some(path);
        Ok(Set {
            table: existing(table_of(path)),
            originals: existing(originals_of(path)),
            labels,
        })
    }

    /// All labels in order.
    fn entries(&self) -> Result<Box<dyn Iterator<Item = Result<Entry>> + '_>> {
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

/// Writes labels and what is beside them; everything takes its name at the end.
struct Output<'a> {
    path: &'a Path,
    writer: LabelsWriter,
    table: Option<TableFile<LabelRow>>,
    /// How many labels each original has.
    owned: HashMap<u32, u64>,
}

impl<'a> Output<'a> {
    fn create(path: &'a Path, like: &LabelsHeader, labels: u64, table: bool) -> Result<Output<'a>> {
        Ok(Output {
            writer: LabelsWriter::create(path, like.recipe, labels)?,
            table: match table && !is_stream(path) {
                true => Some(TableFile::create(&table_of(path))?),
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
            // Those of labels that had this name before.
            let _ = fs::remove_file(&beside);
        } else {
            let mut table = TableFile::create(&beside)?;
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

/// Joins labels that were made alike. What is a stop in one of them is no label. A label that
/// several have was found as often as in all of them together, and on as many sites as in the one
/// that has most.
pub fn merge(inputs: &[PathBuf], output: &Path) -> Result<LabelsHeader> {
    let sets = inputs
        .iter()
        .map(|path| Set::open(path))
        .collect::<Result<Vec<Set>>>()?;
    let Some(first) = sets.first() else {
        return Err(Error::Usage("there are no labels to join".to_owned()));
    };
    let mut stops: Vec<[u8; 16]> = Vec::new();
    for set in &sets {
        let recipe = set.labels.header().recipe;
        recipe.check_like(&first.labels.header().recipe, set.labels.path())?;
        stops.extend(set.labels.stops());
    }
    stops.sort_unstable();
    stops.dedup();
    // Originals of one set are numbered after those of the set before.
    let mut originals = Vec::new();
    let mut offsets = Vec::new();
    for set in &sets {
        let offset = originals
            .last()
            .map_or(0, |last: &OriginalRow| last.original + 1);
        offsets.push(offset);
        for mut row in set.originals()? {
            row.original = row.original.saturating_add(offset);
            originals.push(row);
        }
    }
    let all: u64 = sets.iter().map(|set| set.labels.len()).sum();
    let tables = sets.iter().all(|set| set.table.is_some());
    let mut out = Output::create(output, first.labels.header(), all, tables)?;
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
        for (stream, offset) in streams.iter_mut().zip(&offsets) {
            let same = |entry: &Result<Entry>| matches!(entry, Ok((found, _)) if *found == hash);
            let Some(Ok((_, row))) = stream.next_if(same) else {
                continue;
            };
            let Some(mut row) = row else {
                continue;
            };
            for original in &mut row.originals {
                *original = original.saturating_add(*offset);
            }
            match &mut joined {
                None => joined = Some(row),
                Some(joined) => {
                    joined.count += row.count;
                    joined.pages += row.pages;
                    joined.sites = joined.sites.max(row.sites);
                    joined.originals.extend(row.originals);
                    joined.proposed = joined.proposed.take().or(row.proposed);
                }
            }
        }
        if stops.binary_search(&hash).is_err() {
            out.push(hash, joined)?;
        }
    }
    let made = json!({ "merged": names(inputs), "cento": env!("CARGO_PKG_VERSION") });
    out.finish(&stops, made, originals)
}

/// Labels without those that others have.
pub fn subtract(from: &Path, others: &[PathBuf], output: &Path) -> Result<LabelsHeader> {
    let set = Set::open(from)?;
    let others_open = others
        .iter()
        .map(|path| Ok(Set::open(path)?.labels))
        .collect::<Result<Vec<Labels>>>()?;
    for other in &others_open {
        let recipe = other.header().recipe;
        recipe.check_like(&set.labels.header().recipe, other.path())?;
    }
    let made = json!({ "of": names(&[from.to_owned()]), "without": names(others), "cento": env!("CARGO_PKG_VERSION") });
    let keep = |hash: &[u8; 16], _: Option<&LabelRow>| {
        others_open.iter().all(|other| other.find(hash).is_none())
    };
    filter(&set, output, keep, &[], made)
}

/// Labels of which some become stops: those that `accept` says yes to. Answers how many these were.
pub fn stop_labels(
    path: &Path,
    output: &Path,
    accept: impl Fn(&LabelRow) -> bool,
) -> Result<(LabelsHeader, u64)> {
    let set = Set::open(path)?;
    let mut stops = Vec::new();
    for row in proposals_of(&set)? {
        let row = row?;
        if accept(&row) {
            stops.push(row.hash);
        }
    }
    stops.sort_unstable();
    let accepted = stops.len() as u64;
    let made = json!({ "reviewed": names(&[path.to_owned()]), "before": set.labels.header().made, "cento": env!("CARGO_PKG_VERSION") });
    let keep = |hash: &[u8; 16], _: Option<&LabelRow>| stops.binary_search(hash).is_err();
    Ok((filter(&set, output, keep, &stops, made)?, accepted))
}

/// All labels of a file with what is known of them.
pub fn label_table(path: &Path) -> Result<impl Iterator<Item = Result<LabelRow>> + use<>> {
    proposals_of(&Set::open(path)?)
}

fn proposals_of(set: &Set) -> Result<impl Iterator<Item = Result<LabelRow>> + use<>> {
    match &set.table {
        Some(table) => read_labels(table),
        None => Err(Error::Unsuitable(format!(
            "{} is missing, which tells what the labels say",
            table_of(set.labels.path()).display()
        ))),
    }
}

fn filter(
    set: &Set,
    output: &Path,
    keep: impl Fn(&[u8; 16], Option<&LabelRow>) -> bool,
    more_stops: &[[u8; 16]],
    made: serde_json::Value,
) -> Result<LabelsHeader> {
    let header = set.labels.header();
    let mut out = Output::create(output, header, header.labels, set.table.is_some())?;
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

fn names(paths: &[PathBuf]) -> Vec<String> {
    let names = paths.iter().filter_map(|path| path.file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .take(20)
        .collect()
}

#[cfg(test)]
mod tests {
    use cento_labels::Recipe;
    use proptest::prelude::*;
    use serde_json::Value;
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
        let mut table = TableFile::create(&table_of(path)).unwrap();
        for row in rows {
            writer.push(row.hash).unwrap();
            table.push(row).unwrap();
        }
        table.finish().unwrap();
        let mut table = TableFile::create(&originals_of(path)).unwrap();
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
        fn sets_of_labels_are_sets(
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
                prop_assert_eq!(row.count, 2 * times);
                prop_assert_eq!(row.originals.len() as u64, times);
            }

            subtract(&a, std::slice::from_ref(&b), &c).unwrap();
            prop_assert_eq!(found(&c), one.difference(&other).copied().collect::<BTreeSet<u8>>());
            let owned: u64 = read_originals(&originals_of(&c)).map_or(0, |rows| rows.map(|row| row.unwrap().labels).sum());
            prop_assert_eq!(owned as usize, one.difference(&other).count());

            // In place, as a review is.
            let (header, accepted) = stop_labels(&a, &a, |row| row.proposed.is_some()).unwrap();
            let odd: BTreeSet<u8> = one.iter().copied().filter(|number| number % 2 == 1).collect();
            prop_assert_eq!(accepted as usize, one.len() - odd.len());
            prop_assert_eq!(header.stops as usize, stops.len() + one.len() - odd.len());
            prop_assert_eq!(found(&a), odd);
        }
    }

    #[test]
    fn labels_made_otherwise_do_not_mix() {
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
                    .contains("was made with of files, not chunks")
            );
        }
        // Without a table, nothing can be reviewed, and the error says what is missing.
        assert!(label_table(&b).is_err());
        assert!(!c.exists());
    }
}
