//! What the site knows: the corpus, its findings in memory, and the work in progress.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use cento_find::passages::{APPEARANCES_TABLE, CLUSTER_ANALYSIS};
use cento_find::quilts::{PATCHES_TABLE, QUILTS, QUILTS_TABLE};
use cento_find::{CorpusPages, Findings, detect, known_findings};
use cento_flow::{TableName, TableRow};
use cento_labels::Labels;
use cento_report::format::{counted, size};
use cento_scan::{Profile, build_report, known_results};
use cento_store::Corpus;
use tokio::sync::Semaphore;

use crate::error::{Error, Refusal, Result};
use crate::guard::Gatekeeper;
use crate::judge::VerdictLog;
use crate::lists::{ListState, Lists};
use crate::metrics::{Metrics, RequestLog};
use crate::settings::ServeSettings;

/// How long a request waits for others before it is told that the server is busy.
const WAIT: Duration = Duration::from_secs(5);
/// Rows of the tables of the overview.
const TOP: usize = 10;

/// Where the rows of each page or cluster are in a table.
pub(crate) struct RowIndex<T> {
    findings: Findings,
    table: TableName<T>,
    runs: HashMap<u64, Vec<Range<u64>>>,
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
        let mut runs: HashMap<u64, Vec<Range<u64>>> = HashMap::new();
        let mut last = None;
        for (at, row) in (0u64..).zip(findings.rows(table)?) {
            let key = key(&row?);
            let of_key = runs.entry(key).or_default();
            match of_key.last_mut() {
                Some(run) if last == Some(key) => run.end = at + 1,
                _ => of_key.push(at..at + 1),
            }
            last = Some(key);
        }
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
        for run in self.runs.get(&key).into_iter().flatten() {
            let left = most.saturating_sub(rows.len() as u64);
            if left == 0 {
                break;
            }
            let run = run.start..run.end.min(run.start.saturating_add(left));
            rows.extend(cento_find::read_row_range::<T>(&path, run)?);
        }
        Ok(rows)
    }

    /// The number of rows of a key.
    pub(crate) fn count(&self, key: u64) -> u64 {
        let runs = self.runs.get(&key).into_iter().flatten();
        runs.map(|run| run.end - run.start).sum()
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
    pub(crate) verdicts: VerdictLog,
    pub(crate) gate: Gatekeeper,
    pub(crate) metrics: Metrics,
    pub(crate) log: Option<RequestLog>,
    /// Permits for requests that read files or align texts.
    heavy: Semaphore,
    memory: u64,
}

impl SiteState {
    /// Opens the corpus, and loads its findings.
    pub(crate) fn load(settings: ServeSettings) -> Result<SiteState> {
        let paths = [settings.corpus.as_path()];
        let source = Arc::new(match settings.partial {
            true => CorpusPages::open_partial(&paths)?,
            false => CorpusPages::open(&paths)?,
        });
        let folder = settings.findings.as_path();
        let corpus = settings.corpus.display().to_string();
        let profile = Profile::of(&source)?;
        let (finished, skipped) = known_results(&source, &profile, folder, &corpus)?;
        let report = build_report(&source, &corpus, &profile, &finished, &skipped, TOP)?;
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
            verdicts: VerdictLog::open(&settings.verdicts)?,
            gate: Gatekeeper::new(settings.listen.ip(), &settings.hosts, token),
            metrics: Metrics::default(),
            heavy: Semaphore::new(settings.threads.max(1)),
            memory: settings.memory,
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
                    size(self.memory)
                )),
                ListState::NoFindings => {}
            }
        }
        sentences.insert(
            0,
            format!(
                "{} with {} in {} of memory",
                counted(loaded, "list", "lists"),
                counted(rows, "row", "rows"),
                size(self.lists.memory())
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
        let permit = tokio::time::timeout(WAIT, self.heavy.acquire()).await;
        let Ok(Ok(_permit)) = permit else {
            return Err(Refusal::busy());
        };
        let state = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&state)).await;
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
