//! One run of an analysis: where it works, where its findings go, and what it was.
//!
//! ```text
//!   NAME.cento/findings/copies/3f9a1c2e8b70d415/
//!     copies.parquet …     the tables
//!     run.json             what was asked, of what, by which version, and how it went; written last
//! ```
//!
//! The name of a run is a hash of what was asked of what. So the same command finds its own findings again, and one that was
//! broken off goes on; a folder without `run.json` holds no findings.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_flow::{CHECKPOINT, Flow, Progress, Registry, RunReport, Runner};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::source::Source;

/// The folder of findings in a corpus.
pub const FINDINGS: &str = "findings";
/// What makes a folder the findings of a run.
pub const RUN: &str = "run.json";
/// Changes when the same parameters give other findings.
const REVISION: u32 = 4;

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
    /// Runs a flow over a source, and has `summary` say what was found; or finds what an earlier run has found.
    pub fn run<P: Serialize>(
        &self,
        analysis: &str,
        parameters: &P,
        source: &Source,
        plan: impl FnOnce() -> Result<(Registry, Flow)>,
        summary: impl FnOnce(&Path, &RunReport) -> Result<Value>,
    ) -> Result<Findings> {
        let parameters = serde_json::to_value(parameters)
            .map_err(|error| Error::Parameter(error.to_string()))?;
        let corpora = source.identity();
        let name = run_name(analysis, &parameters, &corpora);
        let path = self.findings.join(analysis).join(name);
        if let Some(record) = read_record(&path)?
            && !self.again
        {
            return Ok(Findings {
                path,
                record,
                known: true,
            });
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
    /// A table of the findings.
    pub fn table(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.parquet"))
    }

    /// What the analysis counted.
    pub fn summary<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(&self.record.summary)
            .map_err(|error| Error::Parameter(format!("{}: {error}", self.path.display())))
    }
}

/// The name of a run: a hash of what was asked of what.
fn run_name(analysis: &str, parameters: &Value, corpora: &Value) -> String {
    let asked = json!([REVISION, analysis, parameters, corpora]).to_string();
    let hash = blake3::hash(asked.as_bytes()).to_hex();
    hash.chars().take(16).collect()
}

/// All findings of an analysis of a source that lie in a folder of findings, the newest first. Those of other corpora, of a corpus
/// before it grew, and of a program that found otherwise are not among them.
pub fn known_findings(folder: &Path, analysis: &str, source: &Source) -> Result<Vec<Findings>> {
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
        let Some(record) = read_record(&path)? else {
            continue;
        };
        let name = run_name(analysis, &record.parameters, &corpora);
        if record.corpora != corpora || path.file_name() != Some(name.as_ref()) {
            continue;
        }
        let written = fs::metadata(path.join(RUN)).and_then(|file| file.modified());
        let written = written.map_err(|error| Error::io(&path, error))?;
        found.push((written, path, record));
    }
    found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let findings = found.into_iter().map(|(_, path, record)| Findings {
        path,
        record,
        known: true,
    });
    Ok(findings.collect())
}

fn read_record(path: &Path) -> Result<Option<RunRecord>> {
    let file = path.join(RUN);
    match fs::read(&file) {
        // A record that this version cannot read is one that it does not have.
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(None),
        Err(error) => Err(Error::io(&file, error)),
    }
}

fn write_record(path: &Path, record: &RunRecord) -> Result<()> {
    let file = path.join(RUN);
    let aside = path.join("run.json.new");
    let write = || -> std::io::Result<()> {
        let mut out = File::create(&aside)?;
        serde_json::to_writer_pretty(&mut out, record)?;
        out.write_all(b"\n")?;
        out.sync_all()?;
        fs::rename(&aside, &file)
    };
    write().map_err(|error| Error::io(&file, error))
}
