//! Runs analyses and caches their findings.
//!
//! ```text
//!   NAME.cento/findings/copies/3f9a1c2e8b70d415/
//!     pairs.parquet …      the tables
//!     run.json             parameters, corpora, version, counts and times; written last
//! ```
//!
//! The folder of a run is named by a hash of the analysis, its parameters and the corpora. So the
//! same command finds its cached results, and an interrupted one resumes; a folder without
//! `run.json` has no findings.
//!
//! The first line of `run.json` has a checksum of the rest, and its report has those of the tables.
//! They are verified before cached findings are used: an analysis computes corrupted findings anew,
//! and a command that only shows findings fails.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cento_file::{Checksum, Output, Seal, check_seal, is_in_private_folder, seal};
use cento_flow::{
    CHECKPOINT, Flow, MemoryBudget, Progress, Registry, RunReport, Runner, TableName, TableRow,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::executor::{executor, on_cluster};
use crate::page_origins::PageOrigins;
use crate::tables::read_rows;

/// The name of the folder of findings in a corpus.
pub const FINDINGS: &str = "findings";
/// The file that records a run; a folder without it has no findings.
pub const RUN: &str = "run.json";
/// The revision of the analyses: changed when the same parameters yield different findings.
const REVISION: u32 = 14;

/// The resources of an analysis: threads, memory and folders.
#[derive(Clone)]
pub struct Workplace {
    /// The number of threads.
    pub threads: usize,
    /// The memory budget, in bytes.
    pub memory: u64,
    /// The folder of temporary files; the folder of the findings by default.
    pub temp: Option<PathBuf>,
    /// The folder of all findings: [`FINDINGS`] in a corpus, or any other folder.
    pub findings: PathBuf,
    /// Whether to ignore cached findings.
    pub again: bool,
    /// Reports progress to observers, and lets them stop the run.
    pub progress: Arc<Progress>,
    /// Who asks for the findings, to be recorded with them.
    pub request: RunRequest,
}

/// Who asked for findings, and how. It is recorded with them and is no part of what they depend on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRequest {
    /// The command that the user typed, quoted for a shell; empty if there was none.
    #[serde(default)]
    pub command: String,
    /// The options of that command which name other inputs than the corpus, and say how these are
    /// read, quoted for a shell: `--against mine/ --against-field text=body`. The parameters
    /// identify such inputs by their content, from which no command can be made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// Whether the findings are only a step of another analysis. [`known_findings`] does not return
    /// such findings, because the user did not ask for them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub internal: bool,
}

/// The findings of a run.
#[derive(Debug, Clone)]
pub struct Findings {
    /// Their folder.
    pub path: PathBuf,
    /// The record of the run.
    pub record: RunRecord,
    /// Whether they were cached.
    pub known: bool,
}

/// The content of `run.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunRecord {
    /// The name of the analysis.
    pub analysis: String,
    /// The hash of the analysis, its parameters and the corpora, of which the folder name is a
    /// prefix.
    pub question: String,
    /// The revision of the analyses.
    pub revision: u32,
    /// Its parameters.
    pub parameters: Value,
    /// The identities of the corpora.
    pub corpora: Value,
    /// The version of the program.
    pub version: String,
    /// Who asked for them.
    #[serde(flatten)]
    pub request: RunRequest,
    /// The summary of the analysis.
    pub summary: Value,
    /// The rows, bytes and seconds of each stage.
    pub report: RunReport,
}

/// Makes the flow of an analysis, if it is not known what it finds.
type Plan<'a> = Box<dyn FnOnce() -> Result<(Registry, Flow)> + 'a>;
/// Makes the summary of an analysis from its tables and its report.
type Summary<'a> = Box<dyn FnOnce(&Path, &RunReport) -> Result<Value> + 'a>;

impl Workplace {
    /// Returns the same workplace with less memory, because the caller keeps `bytes` in use while
    /// the flow runs. The minimum of the engine remains.
    pub fn with_less_memory(&self, bytes: u64) -> Workplace {
        let minimum = MemoryBudget::MINIMUM_PER_THREAD * self.threads.max(1) as u64;
        let left = self.memory.saturating_sub(bytes);
        Workplace {
            memory: left.max(minimum.min(self.memory)),
            ..self.clone()
        }
    }

    /// Returns the same workplace for a step of another analysis: new findings are not those that
    /// the user asked for last.
    pub fn for_step(&self) -> Workplace {
        let request = RunRequest {
            internal: true,
            ..self.request.clone()
        };
        Workplace {
            request,
            ..self.clone()
        }
    }

    /// Returns how many threads share the memory. On a cluster each task has a process, which may
    /// use as much.
    pub(crate) fn sharing_threads(&self) -> u64 {
        match on_cluster() {
            true => 1,
            false => self.threads.max(1) as u64,
        }
    }

    /// Returns cached findings, or runs the flow of `plan` and stores its findings with `summary`.
    pub fn run<P: Serialize>(
        &self,
        analysis: &str,
        parameters: &P,
        source: &CorpusPages,
        plan: impl FnOnce() -> Result<(Registry, Flow)>,
        summary: impl FnOnce(&Path, &RunReport) -> Result<Value>,
    ) -> Result<Findings> {
        self.run_naming(analysis, parameters, &[source], plan, summary)
    }

    /// Runs an analysis of the first of `sources` whose tables also name pages of the others. The
    /// parameters must identify these.
    pub(crate) fn run_naming<P: Serialize>(
        &self,
        analysis: &str,
        parameters: &P,
        sources: &[&CorpusPages],
        plan: impl FnOnce() -> Result<(Registry, Flow)>,
        summary: impl FnOnce(&Path, &RunReport) -> Result<Value>,
    ) -> Result<Findings> {
        let parameters =
            serde_json::to_value(parameters).map_err(|error| Error::Bug(error.to_string()))?;
        self.run_plan(
            analysis,
            parameters,
            sources,
            Box::new(plan),
            Box::new(summary),
        )
    }

    /// The same for parameters as JSON; compiled once for all analyses.
    fn run_plan(
        &self,
        analysis: &str,
        parameters: Value,
        sources: &[&CorpusPages],
        plan: Plan<'_>,
        summary: Summary<'_>,
    ) -> Result<Findings> {
        let corpora = sources
            .first()
            .map_or(Value::Null, |source| source.identity());
        let question = question(analysis, &parameters, &corpora);
        let path = self.findings.join(analysis).join(run_name(&question));
        if !self.again
            && let Some(findings) = read_findings(&path)?
            && findings.record.question == question
            && findings.verify().is_ok()
        {
            executor().found(&findings);
            return Ok(findings);
        }
        let (mut registry, flow) = plan()?;
        let input = sources.iter().map(|source| source.input_bytes());
        let flow = flow.for_input(input.fold(0, u64::saturating_add));
        fs::create_dir_all(&path).map_err(|error| Error::io(&path, error))?;
        let temp = match &self.temp {
            Some(temp) if !is_in_private_folder(&path) => temp.clone(),
            // No run resumes temporary findings. What an interrupted one has left is removed with
            // them.
            _ => path.clone(),
        };
        if let Some(origins) = PageOrigins::new(sources, &temp) {
            Arc::new(origins).extend_tables(&mut registry);
        }
        let _ = fs::remove_file(path.join(RUN));
        let runner = Runner {
            registry: &registry,
            threads: self.threads,
            memory: self.memory,
            temp,
            tables: path.clone(),
            progress: Arc::clone(&self.progress),
            checkpoint: CHECKPOINT,
        };
        let report = executor().execute(&runner, &flow)?;
        let record = RunRecord {
            analysis: analysis.to_owned(),
            question,
            revision: REVISION,
            parameters,
            corpora,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            request: self.request.clone(),
            summary: summary(&path, &report)?,
            report,
        };
        write_record(&path, &record)?;
        let findings = Findings {
            path,
            record,
            known: false,
        };
        executor().found(&findings);
        Ok(findings)
    }
}

impl Findings {
    /// Opens the findings in a folder, as an analysis wrote them.
    pub fn open(path: &Path) -> Result<Findings> {
        read_findings(path)?.ok_or_else(|| {
            let detail = "it is missing, corrupted, or of another version of cento";
            Error::corrupted(&path.join(RUN), detail)
        })
    }

    /// Makes these the newest findings of the analysis, which reports and the site show: they are
    /// those that the user asked for last, even if they were cached, or computed as a step of
    /// another analysis. A folder that cannot be written to stays as it is.
    pub fn mark_used(&mut self, request: &RunRequest) {
        let recorded = &mut self.record.request;
        if recorded.internal || recorded.inputs != request.inputs {
            *recorded = RunRequest {
                internal: false,
                ..request.clone()
            };
            // The new file is the newest.
            let _ = write_record(&self.path, &self.record);
            return;
        }
        let file = fs::File::options().append(true).open(self.path.join(RUN));
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Verifies the checksums of all tables.
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
                    "its checksum does not match its content",
                ));
            }
        }
        Ok(())
    }

    /// Returns the rows of a table, as the struct that wrote them.
    pub fn rows<T: TableRow>(
        &self,
        table: TableName<T>,
    ) -> Result<impl Iterator<Item = Result<T>> + use<T>> {
        read_rows(&self.table(table.as_str()))
    }

    /// Returns the path of a table.
    pub fn table(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.parquet"))
    }

    /// Returns the summary of the analysis.
    pub fn summary<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(&self.record.summary)
            .map_err(|error| Error::Bug(format!("{}: {error}", self.path.display())))
    }
}

/// Returns the hash of everything that findings depend on: the analysis, its parameters, and every
/// byte of the tables of the corpora.
fn question(analysis: &str, parameters: &Value, corpora: &Value) -> String {
    let question = json!([REVISION, analysis, parameters, corpora]).to_string();
    blake3::hash(question.as_bytes()).to_hex().to_string()
}

/// Returns the name of the folder of a run.
fn run_name(question: &str) -> String {
    question.chars().take(16).collect()
}

/// Returns the cached findings of an analysis of these pages, newest first. Findings of other
/// corpora, of a corpus before pages were added, and of other revisions are skipped, and so are
/// those that nobody asked for ([`RunRequest::internal`]).
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
        let is_current =
            record.analysis == analysis && record.revision == REVISION && record.corpora == corpora;
        if !is_current || record.request.internal || path.file_name() != Some(name.as_ref()) {
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

/// Returns whether an analysis has findings of other pages than these in a folder: of this corpus
/// before pages were added, or of another version of cento. Labels of originals do not count: they
/// are about other pages on purpose.
pub fn has_stale_findings(folder: &Path, analysis: &str, source: &CorpusPages) -> Result<bool> {
    let corpora = source.identity();
    for path in folders_in(&folder.join(analysis))? {
        if !path.join(RUN).is_file() {
            continue;
        }
        let is_stale = read_findings(&path)?.is_none_or(|findings| {
            let record = &findings.record;
            let of_originals = record.parameters.pointer("/how/informed").is_some();
            !of_originals
                && !record.request.internal
                && (record.corpora != corpora || record.revision != REVISION)
        });
        if is_stale {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Verifies all findings in a folder. Returns the number of runs, and an error for each corrupted
/// one.
pub fn verify_findings(folder: &Path) -> Result<(u64, Vec<Error>)> {
    let (mut runs, mut corrupted) = (0, Vec::new());
    for analysis in folders_in(folder)? {
        for path in folders_in(&analysis)? {
            let file = path.join(RUN);
            let bytes = match fs::read(&file) {
                Ok(bytes) => bytes,
                // An interrupted run.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io(&file, error)),
            };
            runs += 1;
            if check_seal(&bytes) != Seal::Valid {
                let detail = "its checksum does not match its content, or an older cento wrote it";
                corrupted.push(Error::corrupted(&file, detail));
                continue;
            }
            match read_findings(&path)? {
                Some(findings) => corrupted.extend(findings.verify().err()),
                None => {
                    corrupted.push(Error::corrupted(&file, "another version of cento wrote it"));
                }
            }
        }
    }
    Ok((runs, corrupted))
}

/// Returns the folders in a folder, by name; none if it does not exist.
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

/// Reads the findings in a folder. None if there are none, or if the record is corrupted or of
/// another version: they are then computed anew.
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
