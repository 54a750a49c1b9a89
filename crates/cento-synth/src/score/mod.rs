//! Findings against truth: precision, recall and F1 of each analysis.
//!
//! # What findings look like
//!
//! The folder of a run holds a `run.json` with `analysis` (its name) and `parameters` (an object,
//! or anything else for analyses whose parameters no scorer asks for), and tables in Parquet, JSON
//! Lines or CSV, whose columns are these. A page is named by its URL in the column of the name
//! given, or by its id in one with `_id` behind the name (`page_id`, `of_id`, `source_id`), which
//! is looked up in the corpus.
//!
//! | analysis | table | columns | parameters |
//! |---|---|---|---|
//! | `copies` | `pairs` | `page`, `of`; `resemblance` if there is one | `resemblance` |
//! | `overlap`, `reuse` | `pairs` | `page`, `of` | `chunk`, `threshold` |
//! | `overlap-servers` | `servers` | `server`, `of`: hosts or domains | |
//! | `passages` | `passages` | `page`, `source`, `begin`, `end`, `source_begin`, `source_end` in bytes | |
//! | `quilts` | `patches` | `page`, `source`; `share` and `attributed` if there are | `min_share` |
//! | `phrases` | `sites` | `site`: a host, domain or address; `flagged` if not all are | |
//! | `discover` | `labels` | `page`: an example; `text` if there is one | |
//! | `detect` | `matches`, `sites`, `neighbourhoods` | `page`, `original` (a URL, or a file of the folder); `site`, `flagged` | |
//! | `bad-sites` | `sites` | `site`, `flagged` | |
//! | `aliases` | `aliases` | `alias`, `of`: URLs, or hosts | |
//!
//! # What counts
//!
//! A row is *right*, *wrong* or *known*: reuse that is there, and that the analysis does not look
//! for, such as spam pages among the quilts or the furniture that pages of one site share.
//! Precision is right / (right + wrong). What follows from the truth is true: two copies of one
//! page are copies of each other, and two pages that took from one original share it. Recall is
//! over what the analysis should find with its parameters; a pair of copies is found if a chain of
//! found pairs joins them, since an analysis may name a representative for each class. `templates`
//! counts those of the wrong rows that are about two pages of one template.

mod judge;
mod known;
mod table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use cento_file::{Checksum, Seal, check_seal};
use cento_store::{Corpus, Table};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::truth::TruthReader;
use judge::Judge;
use known::{Id, Known};
use table::{Row, is_table};

/// Classes for the tests of other modules.
#[cfg(test)]
pub(crate) fn tests_classes() -> known::Classes {
    known::Classes::default()
}

/// Findings to score.
pub struct Score<'a> {
    /// Folders of runs, folders above them, or tables.
    pub findings: &'a [PathBuf],
    /// The truth.
    pub truth: &'a Path,
    /// The corpus that ids are of; if none is given, the one that the findings are in.
    pub corpus: Option<&'a Path>,
    /// Of which analysis tables are that do not say so.
    pub analysis: Option<&'a str>,
    /// The least resemblance of near-copies; if none is given, what the run says, else 0.8.
    pub resemblance: Option<f64>,
}

/// One line of the outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Line {
    /// The analysis.
    pub analysis: String,
    /// The name of the run; empty if a table has none.
    pub run: String,
    /// The parameters of the run.
    pub parameters: BTreeMap<String, Value>,
    /// What was counted.
    pub what: &'static str,
    /// Right ones among those found; for passages these are bytes.
    pub right: u64,
    /// Wrong ones.
    pub wrong: u64,
    /// Wrong ones that are about two pages of one template.
    pub templates: u64,
    /// Reuse that is known and not looked for.
    pub known: u64,
    /// What should be found.
    pub expected: u64,
    /// What of it was found.
    pub found: u64,
}

impl Line {
    /// The share of right ones among what was found; none if nothing was.
    pub fn precision(&self) -> Option<f64> {
        ratio(self.right, self.right.saturating_add(self.wrong))
    }

    /// The share of what should be found that was; none if there is nothing to find.
    pub fn recall(&self) -> Option<f64> {
        ratio(self.found, self.expected)
    }

    /// The harmonic mean of both.
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

/// The outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {
    /// A line for each analysis and what it counts.
    pub lines: Vec<Line>,
    /// What could not be scored, and why.
    pub notes: Vec<String>,
}

/// What a run says about itself.
#[derive(Debug, Default, Deserialize)]
struct Run {
    analysis: String,
    #[serde(default)]
    parameters: Value,
    #[serde(default)]
    report: Report,
}

/// What a run says about its tables.
#[derive(Debug, Default, Deserialize)]
struct Report {
    #[serde(default)]
    tables: Vec<ReportedTable>,
}

#[derive(Debug, Default, Deserialize)]
struct ReportedTable {
    name: String,
    #[serde(default)]
    blake3: String,
}

impl Run {
    /// The parameters by name; none if they are not an object.
    fn parameters(&self) -> BTreeMap<String, Value> {
        let object = self.parameters.as_object();
        let entries = object.into_iter().flatten();
        entries
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// Fails if a table is not the one that the run wrote. Other programs' runs have no checksums.
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
                "it is damaged: its checksum does not fit its content",
            ));
        }
        Ok(())
    }
}

/// A table of a run.
pub(crate) struct Finding {
    analysis: String,
    run: String,
    table: String,
    path: PathBuf,
    parameters: BTreeMap<String, Value>,
}

impl Finding {
    /// The table, and the one beside it that belongs to the same answer: `pairs` of copies have for
    /// whom each page goes, and `near_pairs` those that resemble each other though neither goes for
    /// the other.
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

/// Every analysis that can be scored, with the tables that are read.
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
    pub fn run(&self) -> Result<Scored> {
        let mut scored = Scored::default();
        let mut findings = Vec::new();
        for path in self.findings {
            self.collect(path, 4, &mut findings, &mut scored.notes)?;
        }
        if findings.is_empty() && scored.notes.is_empty() {
            let path = self.findings.first().cloned().unwrap_or_default();
            return Err(bad(&path, "there is no run and no table in it"));
        }
        let path = self.findings.first().cloned().unwrap_or_default();
        if self.analysis.is_some() && findings.iter().all(|finding| !finding.run.is_empty()) {
            let detail = "its run.json says of which analysis it is, so --as has no effect";
            return Err(bad(&path, detail));
        }
        if self.resemblance.is_some() && findings.iter().all(|finding| finding.analysis != "copies")
        {
            let detail = "there are no copies in it, so --resemblance has no effect";
            return Err(bad(&path, detail));
        }
        let (truth, _) = TruthReader::open(self.truth)?;
        let mut pages = Pages {
            known: Known::read(truth)?,
            corpus: None,
            by_id: HashMap::new(),
        };
        for finding in &findings {
            pages.open(self.corpus, &finding.path)?;
            let mut judge = Judge::new(finding, &mut pages, self.resemblance);
            scored.lines.extend(judge.run()?);
        }
        Ok(scored)
    }

    /// The tables at a path: it is one, or a run, or runs are below it.
    fn collect(
        &self,
        path: &Path,
        depth: u32,
        findings: &mut Vec<Finding>,
        notes: &mut Vec<String>,
    ) -> Result<()> {
        let failed = |error| Error::io(path, error);
        if path.is_file() {
            if !is_table(path) {
                return Err(bad(path, "it is no table"));
            }
            let folder = path.parent().unwrap_or(Path::new(""));
            let run = self.run_of(folder)?;
            let analysis = match (&run, self.analysis) {
                (Some(run), _) => run.analysis.clone(),
                (None, Some(analysis)) => analysis.to_owned(),
                (None, None) => return Err(bad(path, "nothing says of which analysis it is")),
            };
            let Some((_, tables)) = TABLES.iter().find(|(name, _)| *name == analysis) else {
                return Err(bad(path, &format!("there is no scorer for `{analysis}`")));
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
            findings.push(Finding {
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
                    "{}: there is no scorer for `{}`; there are: {}",
                    path.display(),
                    run.analysis,
                    names()
                ));
                return Ok(());
            };
            let before = findings.len();
            for entry in entries.iter().filter(|entry| is_table(entry)) {
                let stem = entry
                    .file_stem()
                    .and_then(|stem| stem.to_str())
                    .unwrap_or_default();
                if tables.contains(&stem) {
                    run.check(entry)?;
                    findings.push(Finding {
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
                    "{}: a run of `{}` without a table {}",
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

    fn run_of(&self, folder: &Path) -> Result<Option<Run>> {
        let path = folder.join("run.json");
        match std::fs::read(&path) {
            Ok(text) if check_seal(&text) == Seal::Invalid => Err(bad(
                &path,
                "it is damaged: its checksum does not fit its content",
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
            "give the folder of a run with its run.json, or a table with --as ANALYSIS: {}",
            names()
        ),
    }
}

/// Pages by name or by id.
pub(crate) struct Pages {
    pub(crate) known: Known,
    corpus: Option<Corpus>,
    by_id: HashMap<u64, Id>,
}

impl Pages {
    /// Opens the corpus that findings are of, once: the one given, or the one they are in.
    fn open(&mut self, given: Option<&Path>, findings: &Path) -> Result<()> {
        if self.corpus.is_some() {
            return Ok(());
        }
        let above = findings
            .ancestors()
            .find(|folder| folder.join(cento_store::MANIFEST).is_file());
        let Some(path) = given.or(above) else {
            return Ok(());
        };
        let corpus = Corpus::open(path)?;
        for batch in corpus.scan(Table::Pages, &["page_id", "url"]) {
            let batch = batch?;
            let (Some(ids), Some(urls)) = (
                batch.column(0).as_primitive_opt::<UInt64Type>(),
                batch.column(1).as_string_opt::<i32>(),
            ) else {
                continue;
            };
            for (id, url) in ids.values().iter().zip(urls.iter()) {
                let page = self.known.id(url.unwrap_or_default());
                self.by_id.insert(*id, page);
            }
        }
        self.corpus = Some(corpus);
        Ok(())
    }

    /// The page that a row names in this column.
    fn page(&mut self, row: &Row, column: &str, path: &Path) -> Result<Id> {
        if let Some(url) = row.text(column) {
            return Ok(self.known.id(url));
        }
        let by_id = format!("{column}_id");
        match row.whole(&by_id) {
            Some(id) => self.by_id.get(&id).copied().ok_or_else(|| {
                let detail = format!("no page has the id {id} of its column {by_id}");
                match self.corpus {
                    Some(_) => bad(path, &detail),
                    None => Error::BadFindings {
                        path: path.to_owned(),
                        detail: "it names pages by id, and there is no corpus to look them up in"
                            .to_owned(),
                        hint: "say which corpus they are of with --corpus".to_owned(),
                    },
                }
            }),
            None => Err(bad(
                path,
                &format!("a row has neither {column} nor {by_id}"),
            )),
        }
    }

    /// A stretch of the text of a page, by the id that the row has; none if there is no corpus.
    fn text(&self, row: &Row, column: &str) -> Result<Option<String>> {
        match (&self.corpus, row.whole(&format!("{column}_id"))) {
            (Some(corpus), Some(id)) => Ok(corpus.text(id)?),
            _ => Ok(None),
        }
    }
}
