//! Scoring results against the truth: precision, recall and F1 of each analysis.
//!
//! # Tables that can be scored
//!
//! The folder of a run contains a `run.json` with `analysis` (its name) and `parameters` (an
//! object, or anything else if the score does not depend on them), and tables in Parquet, JSON
//! Lines or CSV with the following columns. A page is identified by its URL in the column listed,
//! or by its id in a column with the suffix `_id` (`page_id`, `of_id`, `source_id`), which is
//! looked up in the corpus.
//!
//! | analysis | table | columns | parameters |
//! |---|---|---|---|
//! | `copies` | `pairs` | `page`, `of`; optionally `resemblance` | `resemblance` |
//! | `overlap`, `reuse` | `pairs` | `page`, `of` | `chunk`, `threshold` |
//! | `overlap-servers` | `servers` | `server`, `of`: hosts or domains | |
//! | `passages` | `passages` | `a`, `b`, `a_begin`, `a_end`, `b_begin`, `b_end`, or `page`, `source`, `begin`, `end`, `source_begin`, `source_end`; optionally `earlier` | |
//! | `quilts` | `patches` | `page`, `source`; optionally `share`, `attributed` | `min_share` |
//! | `phrases` | `sites` | `site`: a host, domain or network address; optionally `flagged` | |
//! | `discover` | `labels` | `page`: an example; optionally `text` | |
//! | `detect` | `matches` | `page`, `original`: a URL, or a file of the folder of originals | |
//! | `detect` | `sites`, `neighbourhoods` | `site`, `flagged` | |
//! | `bad-sites` | `sites` | `site`, `flagged` | |
//! | `aliases` | `aliases` | `alias`, `of`: URLs, or hosts | |
//!
//! Offsets are in bytes. Passages are scored by bytes. If the corpus is known, `ends` are the
//! planted passages whose two ends were found within five words on both sides, or beyond which the
//! two pages go on with the same words. Planted passages are expected if their source was crawled,
//! the two pages are not duplicates, and they have the analysis's `min_chars`. If there is a column
//! `earlier`, `directions` are the rows of planted passages: its precision is that of the
//! directions that are claimed, its recall the share of rows with a right claim.
//!
//! # The columns of a score
//!
//! | column | meaning |
//! |---|---|
//! | `right` | rows that the truth confirms |
//! | `wrong` | rows that the truth does not confirm |
//! | `templates` | the wrong rows that are about two pages of one template |
//! | `known` | rows about real reuse that the analysis is not meant to find; not counted as wrong |
//! | `expected` | what the analysis should find with its parameters |
//! | `found` | how much of that it found |
//! | `precision` | right / (right + wrong) |
//! | `recall` | found / expected |
//! | `F1` | the harmonic mean of precision and recall |
//!
//! A row that is repeated counts once. A run of `detect` whose labels belong to no originals has no
//! matches to be scored.
//!
//! Known reuse is, for example, spam among the quilts, or the template that pages of one site
//! share. Consequences of the truth are true: two copies of one page are copies of each other, and
//! two pages that copy one original share text. A pair of copies counts as found if a chain of
//! found pairs connects them, because an analysis may name one representative for each class.

mod scorer;
mod table;
#[cfg(test)]
mod tests;
mod truth_index;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use cento_file::{Checksum, Seal, check_seal};
use cento_store::{Corpus, pages, projection};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::truth::TruthReader;
use scorer::Scorer;
use table::{FindingRow, is_table};
use truth_index::{Id, TruthIndex};

/// Empty classes, for the tests of other modules.
#[cfg(test)]
pub(crate) fn empty_classes() -> truth_index::UnionFind {
    truth_index::UnionFind::default()
}

/// Results to score.
pub struct Score<'a> {
    /// Folders of runs, folders that contain these, or tables.
    pub findings: &'a [PathBuf],
    /// The truth file.
    pub truth: &'a Path,
    /// The corpus of page ids; by default the one that contains the results.
    pub corpus: Option<&'a Path>,
    /// The analysis of tables without a `run.json`.
    pub analysis: Option<&'a str>,
    /// The minimum resemblance of near-duplicates; by default the parameter of the run, or 0.8.
    pub resemblance: Option<f64>,
}

/// One line of a score.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScoreLine {
    /// The analysis.
    pub analysis: String,
    /// The name of the run; empty for a table without one.
    pub run: String,
    /// The parameters of the run.
    pub parameters: BTreeMap<String, Value>,
    /// What was counted.
    pub what: &'static str,
    /// Rows that the truth confirms; bytes for passages.
    pub right: u64,
    /// Rows that the truth does not confirm.
    pub wrong: u64,
    /// Wrong rows about two pages of one template.
    pub templates: u64,
    /// Rows about reuse that the analysis is not meant to find.
    pub known: u64,
    /// How much should be found.
    pub expected: u64,
    /// How much of that was found.
    pub found: u64,
}

impl ScoreLine {
    /// right / (right + wrong); `None` if nothing was found.
    pub fn precision(&self) -> Option<f64> {
        ratio(self.right, self.right.saturating_add(self.wrong))
    }

    /// found / expected; `None` if nothing should be found.
    pub fn recall(&self) -> Option<f64> {
        ratio(self.found, self.expected)
    }

    /// The harmonic mean of precision and recall.
    pub fn f1(&self) -> Option<f64> {
        let (precision, recall) = (self.precision().unwrap_or(0.0), self.recall()?);
        Some(if precision + recall == 0.0 {
            0.0
        } else {
            2.0 * precision * recall / (precision + recall)
        })
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// All lines of a score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// One line for each analysis and what is counted.
    pub lines: Vec<ScoreLine>,
    /// What could not be scored, and why.
    pub notes: Vec<String>,
}

/// The contents of `run.json`.
#[derive(Debug, Default, Deserialize)]
struct RunFile {
    analysis: String,
    #[serde(default)]
    parameters: Value,
    #[serde(default)]
    report: RunTables,
    #[serde(default)]
    summary: Value,
}

/// The tables of a run.
#[derive(Debug, Default, Deserialize)]
struct RunTables {
    #[serde(default)]
    tables: Vec<ReportedTable>,
}

#[derive(Debug, Default, Deserialize)]
struct ReportedTable {
    name: String,
    #[serde(default)]
    blake3: String,
    rows: Option<u64>,
}

impl RunFile {
    /// The parameters by name; empty if they are not an object.
    fn parameters(&self) -> BTreeMap<String, Value> {
        let object = self.parameters.as_object();
        let entries = object.into_iter().flatten();
        entries
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// Whether labels were found and belong to no originals, as those that are labelled because
    /// they occur often: every other label that was found is attributed to an original.
    fn has_no_originals(&self) -> bool {
        let mut tables = self.report.tables.iter();
        let is_empty = tables.any(|table| table.name == "matches" && table.rows == Some(0));
        let count = |name: &str| self.summary.get(name).and_then(Value::as_u64).unwrap_or(0);
        is_empty && count("labels") > count("common_labels")
    }

    /// Fails if a table is not the one that the run wrote. Runs of other programs have no
    /// checksums.
    fn check(&self, path: &Path) -> Result<()> {
        let name = path.file_stem().and_then(|name| name.to_str());
        let tables = self.report.tables.iter();
        let written = path.extension().is_some_and(|ending| ending == "parquet");
        let table = tables
            .filter(|table| written && !table.blake3.is_empty())
            .find(|table| Some(table.name.as_str()) == name);
        let Some(table) = table else {
            return Ok(());
        };
        let found = Checksum::of(path).map_err(|error| Error::io(path, error))?;
        if found.blake3 != table.blake3 {
            return Err(bad(
                path,
                "it is corrupted: its checksum does not match its content",
            ));
        }
        Ok(())
    }
}

/// A table of a run.
pub(crate) struct FoundTable {
    analysis: String,
    run: String,
    table: String,
    path: PathBuf,
    parameters: BTreeMap<String, Value>,
}

impl FoundTable {
    /// The table, and the one next to it that belongs to the same result: `pairs` of copies lists
    /// removed pages with the page that is kept, and `near_pairs` similar pages of which neither is
    /// removed for the other.
    pub(crate) fn tables(&self) -> Vec<PathBuf> {
        let mut tables = vec![self.path.clone()];
        let beside = self.path.with_file_name("near_pairs.parquet");
        if self.analysis == "copies"
            && self.table == "pairs"
            && beside != self.path
            && beside.exists()
        {
            tables.push(beside);
        }
        tables
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.parameters.get(name).and_then(Value::as_f64)
    }

    pub(crate) fn word(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).and_then(Value::as_str)
    }
}

/// All analyses that can be scored, with their tables.
const TABLES: [(&str, &[&str]); 11] = [
    ("copies", &["pairs"]),
    ("overlap", &["pairs"]),
    ("overlap-servers", &["servers"]),
    ("reuse", &["pairs"]),
    ("passages", &["passages"]),
    ("quilts", &["patches"]),
    ("phrases", &["sites"]),
    ("discover", &["labels"]),
    ("detect", &["matches", "sites", "neighbourhoods"]),
    ("bad-sites", &["sites"]),
    ("aliases", &["aliases"]),
];

fn names() -> String {
    TABLES.map(|(name, _)| name).join(", ")
}

impl Score<'_> {
    /// Scores all findings.
    pub fn run(&self) -> Result<Scores> {
        self.check()?;
        let mut scores = Scores::default();
        let mut findings = Vec::new();
        for path in self.findings {
            self.collect(path, 4, &mut findings, &mut scores.notes)?;
        }
        if findings.is_empty() && scores.notes.is_empty() {
            let path = self.findings.first().cloned().unwrap_or_default();
            return Err(bad(&path, "it contains no run and no table"));
        }
        if self.analysis.is_some() && findings.iter().all(|finding| !finding.run.is_empty()) {
            let message = "--as has no effect: a run.json names the analysis";
            return Err(Error::wrong(message.to_owned(), "omit it"));
        }
        if self.resemblance.is_some() && findings.iter().all(|finding| finding.analysis != "copies")
        {
            let message = "--resemblance has no effect: there are no results of copies";
            return Err(Error::wrong(message.to_owned(), "omit it"));
        }
        let (truth, _) = TruthReader::open(self.truth)?;
        let mut pages = PageLookup {
            known: TruthIndex::read(truth)?,
            corpus: None,
            by_id: HashMap::new(),
        };
        for finding in &findings {
            pages.open(self.corpus, &finding.path)?;
            let mut scorer = Scorer::new(finding, &mut pages, self.resemblance);
            scores.lines.extend(scorer.run()?);
        }
        Ok(scores)
    }

    /// Fails if an option has an invalid value.
    fn check(&self) -> Result<()> {
        let is_known = |name: &str| TABLES.iter().any(|(known, _)| *known == name);
        if let Some(analysis) = self.analysis.filter(|name| !is_known(name)) {
            return Err(Error::wrong(
                format!("results of `{analysis}` cannot be scored"),
                &format!("--as is one of {}", names()),
            ));
        }
        match self.resemblance {
            Some(resemblance) if !(0.1..=1.0).contains(&resemblance) => Err(Error::wrong(
                format!("the resemblance {resemblance} is not between 0.1 and 1"),
                "use the minimum resemblance of `cento copies`",
            )),
            _ => Ok(()),
        }
    }

    /// Collects the tables at a path, which is a table, a run or a folder that contains runs.
    fn collect(
        &self,
        path: &Path,
        depth: u32,
        findings: &mut Vec<FoundTable>,
        notes: &mut Vec<String>,
    ) -> Result<()> {
        let failed = |error| Error::io(path, error);
        if path.is_file() {
            if !is_table(path) {
                return Err(bad(path, "it is not a table"));
            }
            let folder = path.parent().unwrap_or(Path::new(""));
            let run = self.run_of(folder)?;
            let analysis = match (&run, self.analysis) {
                (Some(run), _) => run.analysis.clone(),
                (None, Some(analysis)) => analysis.to_owned(),
                (None, None) => {
                    return Err(Error::wrong(
                        format!("{} has no run.json that names its analysis", path.display()),
                        &format!("name the analysis with --as: {}", names()),
                    ));
                }
            };
            let Some((_, tables)) = TABLES.iter().find(|(name, _)| *name == analysis) else {
                return Err(bad(
                    path,
                    &format!("results of `{analysis}` cannot be scored"),
                ));
            };
            let stem = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .unwrap_or_default();
            let table = tables
                .iter()
                .find(|table| **table == stem)
                .or(tables.first())
                .copied();
            let (mut name, mut parameters) = (String::new(), BTreeMap::new());
            if let Some(run) = &run {
                run.check(path)?;
                name = last_name(folder);
                parameters = run.parameters();
            }
            findings.push(FoundTable {
                analysis,
                run: name,
                table: table.unwrap_or_default().to_owned(),
                path: path.to_owned(),
                parameters,
            });
            return Ok(());
        }
        let mut entries: Vec<PathBuf> = std::fs::read_dir(path)
            .map_err(failed)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<std::io::Result<_>>()
            .map_err(failed)?;
        entries.sort();
        if let Some(run) = self.run_of(path)? {
            let Some((_, tables)) = TABLES.iter().find(|(name, _)| *name == run.analysis) else {
                notes.push(format!(
                    "{}: results of `{}` cannot be scored; supported are: {}",
                    path.display(),
                    run.analysis,
                    names()
                ));
                return Ok(());
            };
            let before = findings.len();
            let no_originals = run.analysis == "detect" && run.has_no_originals();
            if no_originals {
                notes.push(format!(
                    "{}: the labels belong to no originals, so only sites and neighbourhoods are scored",
                    path.display()
                ));
            }
            for entry in entries.iter().filter(|entry| is_table(entry)) {
                let stem = entry
                    .file_stem()
                    .and_then(|stem| stem.to_str())
                    .unwrap_or_default();
                if tables.contains(&stem) && !(no_originals && stem == "matches") {
                    run.check(entry)?;
                    findings.push(FoundTable {
                        analysis: run.analysis.clone(),
                        run: last_name(path),
                        table: stem.to_owned(),
                        path: entry.clone(),
                        parameters: run.parameters(),
                    });
                }
            }
            if findings.len() == before {
                notes.push(format!(
                    "{}: a run of `{}` without the table {}",
                    path.display(),
                    run.analysis,
                    tables.join(" or ")
                ));
            }
            return Ok(());
        }
        if depth > 0 {
            for entry in entries.iter().filter(|entry| entry.is_dir()) {
                self.collect(entry, depth - 1, findings, notes)?;
            }
        }
        Ok(())
    }

    fn run_of(&self, folder: &Path) -> Result<Option<RunFile>> {
        let path = folder.join("run.json");
        match std::fs::read(&path) {
            Ok(text) if check_seal(&text) == Seal::Invalid => Err(bad(
                &path,
                "it is corrupted: its checksum does not match its content",
            )),
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .map_err(|error| bad(&path, &error.to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(&path, error)),
        }
    }
}

fn last_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn bad(path: &Path, detail: &str) -> Error {
    Error::BadFindings {
        path: path.to_owned(),
        detail: detail.to_owned(),
        hint: format!(
            "name the folder of a run with its run.json, or a table with --as ANALYSIS: {}",
            names()
        ),
    }
}

projection! {
    /// The ids and addresses of pages.
    struct PageAddresses of pages { page_id, url }
}

/// Looks up pages by URL or by id.
pub(crate) struct PageLookup {
    pub(crate) known: TruthIndex,
    corpus: Option<Corpus>,
    by_id: HashMap<u64, Id>,
}

impl PageLookup {
    /// Opens the corpus of the results once: the one named, or the one that contains them.
    fn open(&mut self, named: Option<&Path>, findings: &Path) -> Result<()> {
        if self.corpus.is_some() {
            return Ok(());
        }
        let above = findings
            .ancestors()
            .find(|folder| folder.join(cento_store::MANIFEST).is_file());
        let Some(path) = named.or(above) else {
            return Ok(());
        };
        let corpus = Corpus::open(path)?;
        for batch in corpus.scan::<PageAddresses>() {
            let batch = batch?;
            for (id, url) in batch.page_id.iter().zip(batch.url.iter()) {
                let page = self.known.id(url);
                self.by_id.insert(id, page);
            }
        }
        self.corpus = Some(corpus);
        Ok(())
    }

    /// The page in this column of a row.
    fn page(&mut self, row: &FindingRow, column: &str, path: &Path) -> Result<Id> {
        if let Some(url) = row.text(column) {
            return Ok(self.known.id(url));
        }
        let by_id = format!("{column}_id");
        match row.whole(&by_id) {
            Some(id) => self.by_id.get(&id).copied().ok_or_else(|| {
                let detail = format!("there is no page with the id {id} of its column {by_id}");
                match self.corpus {
                    Some(_) => bad(path, &detail),
                    None => Error::BadFindings {
                        path: path.to_owned(),
                        detail: "it identifies pages by id, but no corpus is known".to_owned(),
                        hint: "name the corpus with --corpus".to_owned(),
                    },
                }
            }),
            None => Err(bad(
                path,
                &format!("a row has neither {column} nor {by_id}"),
            )),
        }
    }

    /// The text of the page with the id in this column; `None` if no corpus is known.
    fn text(&self, row: &FindingRow, column: &str) -> Result<Option<String>> {
        match (&self.corpus, row.whole(&format!("{column}_id"))) {
            (Some(corpus), Some(id)) => Ok(corpus.text(id)?),
            _ => Ok(None),
        }
    }
}
