//! What the site knows: the corpus, its findings in memory, and the work in progress.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use cento_file::{Seal, check_seal};
use cento_find::passages::{APPEARANCES_TABLE, CLUSTER_ANALYSIS};
use cento_find::quilts::{PATCHES_TABLE, QUILTS, QUILTS_TABLE};
use cento_find::{CorpusPages, Findings, RUN, detect, known_findings};
use cento_flow::{TableName, TableRow};
use cento_labels::Labels;
use cento_report::format::{counted, size};
use cento_scan::{Profile, ReportOptions, build_report, known_results};
use cento_store::Corpus;
use tokio::sync::Semaphore;

use crate::error::{Error, Refusal, Result};
use crate::guard::Gatekeeper;
use crate::judge::VerdictLog;
use crate::lists::{ListState, Lists};
use crate::metrics::{Metrics, RequestLog};
use crate::question_index::QuestionIndex;
use crate::settings::{ClientLimits, ServeSettings};

/// How long a request waits for others before it is told that the server is busy.
const WAIT: Duration = Duration::from_secs(5);
/// Rows of the tables of the overview.
const TOP: usize = 10;

/// Where the rows of each page or cluster are in a table.
pub(crate) struct RowIndex<T> {
    findings: Findings,
    table: TableName<T>,
    /// Keys with the first row and the end of each run of rows, sorted by key.
    runs: Vec<(u64, u64, u64)>,
}

impl<T: TableRow> RowIndex<T> {
    /// Indexes the newest findings of an analysis, if there are any.
    fn of(
        source: &CorpusPages,
        folder: &Path,
        analysis: &str,
        table: TableName<T>,
        key: impl Fn(&T) -> u64,
    ) -> Result<Option<RowIndex<T>>> {
        let found = known_findings(folder, analysis, source)?;
        let Some(findings) = found.into_iter().next() else {
            return Ok(None);
        };
        // Some parameters leave tables out.
        if !findings.table(table.as_str()).exists() {
            return Ok(None);
        }
        let mut runs: Vec<(u64, u64, u64)> = Vec::new();
        for (at, row) in (0u64..).zip(findings.rows(table)?) {
            let key = key(&row?);
            match runs.last_mut() {
                Some((last, _, end)) if *last == key => *end = at + 1,
                _ => runs.push((key, at, at + 1)),
            }
        }
        runs.sort_unstable();
        runs.shrink_to_fit();
        Ok(Some(RowIndex {
            findings,
            table,
            runs,
        }))
    }

    /// The findings that the rows are from.
    pub(crate) fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Reads the first `most` rows of a key.
    pub(crate) fn rows(&self, key: u64, most: u64) -> cento_find::Result<Vec<T>> {
        let path = self.findings.table(self.table.as_str());
        let mut rows = Vec::new();
        for &(_, begin, end) in self.runs_of(key) {
            let left = most.saturating_sub(rows.len() as u64);
            if left == 0 {
                break;
            }
            let run = begin..end.min(begin.saturating_add(left));
            rows.extend(cento_find::read_row_range::<T>(&path, run)?);
        }
        Ok(rows)
    }

    fn runs_of(&self, key: u64) -> &[(u64, u64, u64)] {
        let begin = self.runs.partition_point(|run| run.0 < key);
        let end = self.runs.partition_point(|run| run.0 <= key);
        self.runs.get(begin..end).unwrap_or_default()
    }

    /// Bytes of memory.
    fn memory(&self) -> u64 {
        (self.runs.capacity() * size_of::<(u64, u64, u64)>()) as u64
    }

    /// The number of rows of a key.
    pub(crate) fn count(&self, key: u64) -> u64 {
        let runs = self.runs_of(key).iter();
        runs.map(|(_, begin, end)| end - begin).sum()
    }
}

/// Everything that handlers share.
pub(crate) struct SiteState {
    /// The corpus, as the user named it.
    pub(crate) corpus: String,
    /// The folder of all pages, if they are files. Addresses are shown relative to it.
    pub(crate) root: String,
    pub(crate) source: Arc<CorpusPages>,
    pub(crate) lists: Lists,
    /// The report, rendered.
    pub(crate) overview: String,
    pub(crate) quilts: Option<RowIndex<cento_find::quilts::QuiltRow>>,
    pub(crate) patches: Option<RowIndex<cento_find::quilts::PatchRow>>,
    pub(crate) appearances: Option<RowIndex<cento_find::passages::AppearanceRow>>,
    pub(crate) matches: Option<RowIndex<detect::ChunkMatchRow>>,
    pub(crate) labels: Option<Labels>,
    /// The index for questions.
    pub(crate) index: Arc<QuestionIndex>,
    pub(crate) verdicts: VerdictLog,
    pub(crate) gate: Gatekeeper,
    pub(crate) metrics: Metrics,
    pub(crate) log: Option<RequestLog>,
    /// The limits for slow clients.
    pub(crate) limits: ClientLimits,
    /// Permits for requests that read files or align texts.
    heavy: Arc<Semaphore>,
    /// The memory that the lists may use.
    budget: u64,
}

/// Fails if the record of a run is corrupted. Analyses compute such a run again; a site would show
/// pages as if nothing had been found.
fn check_records(folder: &Path) -> Result<()> {
    let folders = |folder: &Path| -> Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io(folder, error)),
        };
        let mut folders = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| Error::io(folder, error))?.path();
            if path.is_dir() {
                folders.push(path);
            }
        }
        folders.sort();
        Ok(folders)
    };
    for analysis in folders(folder)? {
        for run in folders(&analysis)? {
            let path = run.join(RUN);
            match fs::read(&path) {
                Ok(bytes) if check_seal(&bytes) == Seal::Valid => {}
                Ok(_) => return Err(Error::CorruptedRecord(path)),
                // An interrupted run.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io(&path, error)),
            }
        }
    }
    Ok(())
}

impl SiteState {
    /// Opens the corpus, and loads its findings.
    pub(crate) fn load(settings: &ServeSettings) -> Result<SiteState> {
        let paths = [settings.corpus.as_path()];
        let source = Arc::new(match settings.partial {
            true => CorpusPages::open_partial(&paths)?,
            false => CorpusPages::open(&paths)?,
        });
        let folder = settings.findings.as_path();
        check_records(folder)?;
        let corpus = settings.corpus.display().to_string();
        let profile = Profile::of(&source)?;
        let (finished, skipped) = known_results(&source, &profile, folder, &corpus)?;
        let options = ReportOptions {
            top: TOP,
            ..ReportOptions::default()
        };
        let report = build_report(&source, &corpus, &profile, &finished, &skipped, &options)?;
        let lists = Lists::load(&source, folder, settings.memory)?;
        let labels = settings.labels.as_deref().map(Labels::open).transpose()?;
        let token = settings.token.as_deref();
        let log = settings.log.as_deref().map(RequestLog::open).transpose()?;
        Ok(SiteState {
            overview: report.body_html(),
            root: profile.root,
            quilts: RowIndex::of(&source, folder, QUILTS, QUILTS_TABLE, |row| row.page_id)?,
            patches: RowIndex::of(&source, folder, QUILTS, PATCHES_TABLE, |row| row.page_id)?,
            appearances: RowIndex::of(
                &source,
                folder,
                CLUSTER_ANALYSIS,
                APPEARANCES_TABLE,
                |row| row.cluster.into(),
            )?,
            matches: RowIndex::of(
                &source,
                folder,
                detect::DETECT,
                detect::CHUNKS_TABLE,
                |row| row.page_id,
            )?,
            index: Arc::new(QuestionIndex::open(settings)?),
            verdicts: VerdictLog::open(&settings.verdicts)?,
            gate: Gatekeeper::new(settings.listen.ip(), &settings.hosts, token),
            metrics: Metrics::default(),
            heavy: Arc::new(Semaphore::new(settings.threads.max(1))),
            budget: settings.memory,
            limits: settings.limits,
            corpus,
            source,
            lists,
            labels,
            log,
        })
    }

    /// The corpus.
    pub(crate) fn store(&self) -> std::result::Result<&Corpus, Refusal> {
        let missing = || Refusal::missing("The corpus is empty.");
        self.source.corpora().first().ok_or_else(missing)
    }

    /// Bytes of memory of the lists, and of the indexes to the rows that views read.
    pub(crate) fn memory(&self) -> u64 {
        let indexes = [
            self.quilts.as_ref().map_or(0, RowIndex::memory),
            self.patches.as_ref().map_or(0, RowIndex::memory),
            self.appearances.as_ref().map_or(0, RowIndex::memory),
            self.matches.as_ref().map_or(0, RowIndex::memory),
        ];
        self.lists.memory() + indexes.iter().sum::<u64>()
    }

    /// What the site shows, as sentences.
    pub(crate) fn summary(&self) -> Vec<String> {
        let mut loaded = 0;
        let mut rows = 0;
        let mut sentences = Vec::new();
        for (spec, state) in self.lists.iter() {
            match state {
                ListState::Loaded(list) => {
                    loaded += 1;
                    rows += list.columns.rows() as u64;
                }
                ListState::TooLarge { rows } => sentences.push(format!(
                    "{}: {} do not fit into {} of memory; raise --memory to serve them",
                    spec.title,
                    counted(*rows, "row", "rows"),
                    size(self.budget)
                )),
                ListState::NoFindings => {}
            }
        }
        sentences.insert(
            0,
            format!(
                "{} with {} in at most {} of memory",
                counted(loaded, "list", "lists"),
                counted(rows, "row", "rows"),
                size(self.memory())
            ),
        );
        sentences
    }

    /// Runs work that reads files or aligns texts on a thread of its own, a bounded number at a
    /// time.
    pub(crate) async fn heavy<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&SiteState) -> std::result::Result<T, Refusal> + Send + 'static,
    ) -> std::result::Result<T, Refusal> {
        let permit = Arc::clone(&self.heavy).acquire_owned();
        let Ok(Ok(permit)) = tokio::time::timeout(WAIT, permit).await else {
            return Err(Refusal::busy());
        };
        let state = Arc::clone(self);
        // The permit belongs to the work, which goes on if its reader goes away.
        let work = move || {
            let outcome = work(&state);
            drop(permit);
            outcome
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|_| {
            Err(Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "This is a bug in cento. The log of the server has the details.",
            ))
        })
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Refusal {
        Error::io(Path::new("verdicts"), error).into()
    }
}
