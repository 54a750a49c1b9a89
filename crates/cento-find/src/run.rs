//! One run of an analysis: where it works, where its findings go, and what it was.
//!
//! ```text
//!   NAME.cento/findings/copies/3f9a1c2e8b70d415/
//!     copies.parquet …     the tables
//!     run.json             what was asked, of what, by which version, and how it went; written last
//! ```
//!
//! The name of a run is a hash of what was asked of what. So the same command finds its own
//! findings again, and one that was interrupted resumes; a folder without `run.json` holds no
//! findings.
//!
//! `run.json` has a checksum of itself in its first line and those of the tables in its report.
//! Findings that are used again are read and compared with them first: damaged ones are computed
//! anew by who asks the same question, and are an error for who only shows them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_file::{Checksum, Output, Seal, check_seal, seal};
use cento_flow::{
    CHECKPOINT, Flow, MemoryBudget, Progress, Registry, RunReport, Runner, TableName, TableRow,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::tables::read_rows;

/// The folder of findings in a corpus.
pub const FINDINGS: &str = "findings";
/// What makes a folder the findings of a run.
pub const RUN: &str = "run.json";
/// Changes when the same parameters give other findings.
const REVISION: u32 = 5;

/// How and where an analysis runs.
#[derive(Clone)]
pub struct Workplace {
    /// Threads that work.
    pub threads: usize,
    /// Bytes of memory that may be used.
    pub memory: u64,
    /// Where temporary files go; beside the findings if not said.
    pub temp: Option<PathBuf>,
    /// Where findings go: [`FINDINGS`] in a corpus, or any other folder.
    pub findings: PathBuf,
    /// Whether to work anew where findings are already there.
    pub again: bool,
    /// What those who watch see, and how they stop the run.
    pub progress: Arc<Progress>,
}

/// The findings of a run.
#[derive(Debug, Clone)]
pub struct Findings {
    /// Their folder.
    pub path: PathBuf,
    /// What they are.
    pub record: RunRecord,
    /// Whether they were there before.
    pub known: bool,
}

/// What `run.json` says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunRecord {
    /// The analysis.
    pub analysis: String,
    /// A hash of what was asked of what: the name of the run, in full.
    pub question: String,
    /// The revision of the analyses that answered it.
    pub revision: u32,
    /// Its parameters.
    pub parameters: Value,
    /// The corpora, as they were.
    pub corpora: Value,
    /// The version of the program.
    pub version: String,
    /// What the analysis counted, in its own words.
    pub summary: Value,
    /// How it went: rows, bytes and seconds of each stage.
    pub report: RunReport,
}

impl Workplace {
    /// Returns the same workplace with less memory, because the caller keeps `bytes` in use while
    /// the flow runs. The minimum of the engine remains.
    pub(crate) fn with_less_memory(&self, bytes: u64) -> Workplace {
        let minimum = MemoryBudget::MINIMUM_PER_THREAD * self.threads.max(1) as u64;
        let left = self.memory.saturating_sub(bytes);
        Workplace {
            memory: left.max(minimum.min(self.memory)),
            ..self.clone()
        }
    }

    /// Runs a flow over a source, and has `summary` say what was found; or finds what an earlier
    /// run has found.
    pub fn run<P: Serialize>(
        &self,
        analysis: &str,
        parameters: &P,
        source: &CorpusPages,
        plan: impl FnOnce() -> Result<(Registry, Flow)>,
        summary: impl FnOnce(&Path, &RunReport) -> Result<Value>,
    ) -> Result<Findings> {
        let parameters =
            serde_json::to_value(parameters).map_err(|error| Error::Bug(error.to_string()))?;
        let corpora = source.identity();
        let question = question(analysis, &parameters, &corpora);
        let path = self.findings.join(analysis).join(run_name(&question));
        if !self.again
            && let Some(findings) = read_findings(&path)?
            && findings.record.question == question
            && findings.verify().is_ok()
        {
            return Ok(findings);
        }
        let (registry, flow) = plan()?;
        fs::create_dir_all(&path).map_err(|error| Error::io(&path, error))?;
        let _ = fs::remove_file(path.join(RUN));
        let report = Runner {
            registry: &registry,
            threads: self.threads,
            memory: self.memory,
            temp: self.temp.clone().unwrap_or_else(|| path.clone()),
            tables: path.clone(),
            progress: Arc::clone(&self.progress),
            checkpoint: CHECKPOINT,
        }
        .run(&flow)?;
        let record = RunRecord {
            analysis: analysis.to_owned(),
            question,
            revision: REVISION,
            parameters,
            corpora,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            summary: summary(&path, &report)?,
            report,
        };
        write_record(&path, &record)?;
        Ok(Findings {
            path,
            record,
            known: false,
        })
    }
}

impl Findings {
    /// Reads every byte of every table and compares it with its checksum.
    pub fn verify(&self) -> Result<()> {
        for table in &self.record.report.tables {
            let path = self.table(&table.name);
            let found = match Checksum::of(&path) {
                Ok(found) => found,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    return Err(Error::corrupted(&path, "it is missing"));
                }
                Err(error) => return Err(Error::io(&path, error)),
            };
            if (found.bytes, &found.blake3) != (table.bytes, &table.blake3) {
                return Err(Error::corrupted(
                    &path,
                    "its checksum does not fit its content",
                ));
            }
        }
        Ok(())
    }

    /// The rows of a table, as the struct that wrote them.
    pub fn rows<T: TableRow>(
        &self,
        table: TableName<T>,
    ) -> Result<impl Iterator<Item = Result<T>> + use<T>> {
        read_rows(&self.table(table.as_str()))
    }

    /// A table of the findings.
    pub fn table(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.parquet"))
    }

    /// What the analysis counted.
    pub fn summary<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(&self.record.summary)
            .map_err(|error| Error::Bug(format!("{}: {error}", self.path.display())))
    }
}

/// A hash of what was asked of what. Two questions that differ in anything that the answer may
/// depend on have different ones: in the analysis, in a parameter, or in a byte of a table of a
/// corpus.
fn question(analysis: &str, parameters: &Value, corpora: &Value) -> String {
    let asked = json!([REVISION, analysis, parameters, corpora]).to_string();
    blake3::hash(asked.as_bytes()).to_hex().to_string()
}

/// The name of the folder of a run.
fn run_name(question: &str) -> String {
    question.chars().take(16).collect()
}

/// All findings of an analysis of a source that lie in a folder of findings, the newest first.
/// Those of other corpora, of a corpus before it grew, and of a program that found otherwise are
/// not among them.
pub fn known_findings(
    folder: &Path,
    analysis: &str,
    source: &CorpusPages,
) -> Result<Vec<Findings>> {
    let folder = folder.join(analysis);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io(&folder, error)),
    };
    let corpora = source.identity();
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| Error::io(&folder, error))?.path();
        let Some(findings) = read_findings(&path)? else {
            continue;
        };
        let record = &findings.record;
        let name = run_name(&record.question);
        let like =
            record.analysis == analysis && record.revision == REVISION && record.corpora == corpora;
        if !like || path.file_name() != Some(name.as_ref()) {
            continue;
        }
        let written = fs::metadata(path.join(RUN)).and_then(|file| file.modified());
        let written = written.map_err(|error| Error::io(&path, error))?;
        found.push((written, findings));
    }
    found.sort_by(|one, other| {
        let by_time = other.0.cmp(&one.0);
        by_time.then_with(|| one.1.path.cmp(&other.1.path))
    });
    Ok(found.into_iter().map(|(_, findings)| findings).collect())
}

/// Reads every byte of all findings in a folder, and names what is damaged; and how many runs there
/// are.
pub fn verify_findings(folder: &Path) -> Result<(u64, Vec<Error>)> {
    let (mut runs, mut damaged) = (0, Vec::new());
    for analysis in folders_in(folder)? {
        for path in folders_in(&analysis)? {
            let file = path.join(RUN);
            let bytes = match fs::read(&file) {
                Ok(bytes) => bytes,
                // A run that was interrupted.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io(&file, error)),
            };
            runs += 1;
            if check_seal(&bytes) != Seal::Valid {
                let detail = "its checksum does not fit its content, or an older cento made it";
                damaged.push(Error::corrupted(&file, detail));
                continue;
            }
            match read_findings(&path)? {
                Some(findings) => damaged.extend(findings.verify().err()),
                None => damaged.push(Error::corrupted(&file, "another version of cento made it")),
            }
        }
    }
    Ok((runs, damaged))
}

/// The folders in a folder, by name; none if it is not there.
fn folders_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error| Error::io(folder, error);
    let mut folders = Vec::new();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(folders),
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// The findings in a folder. None if there are none, if their record is damaged, or if this version
/// cannot read it: then they are computed anew.
fn read_findings(path: &Path) -> Result<Option<Findings>> {
    let file = path.join(RUN);
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Ok(None),
        Err(error) => return Err(Error::io(&file, error)),
    };
    if check_seal(&bytes) != Seal::Valid {
        return Ok(None);
    }
    Ok(serde_json::from_slice(&bytes).ok().map(|record| Findings {
        path: path.to_owned(),
        record,
        known: true,
    }))
}

fn write_record(path: &Path, record: &RunRecord) -> Result<()> {
    let file = path.join(RUN);
    let write = || -> std::io::Result<()> {
        let mut output = Output::within(&file)?;
        output.write_all(&seal(&serde_json::to_string_pretty(record)?))?;
        output.finish_synced()
    };
    write().map_err(|error| Error::io(&file, error))
}
