//! `cento watch`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cento_find::detect::{DetectParams, LabelSet};
use cento_labels::{LabelKind, Recipe};
use cento_read::{Format, Settings, Start, resolve};
use cento_report::format::counted;
use cento_store::stream::{PageStream, StreamItem, StreamStep};
use cento_store::{PageContent, Parameters};
use cento_watch::{
    ExaminedPage, NEIGHBOURHOOD_THRESHOLD, PAGE_THRESHOLD, PageExaminer, SeenGuard, SeenPages,
    WatchThresholds, WatchedLabels, Watcher, seen_pages_for,
};
use clap::Args;
use serde_json::json;

use crate::command_error::{CommandError, INTERRUPTED};
use crate::machine::MachineArguments;
use crate::output::{print_while_read, say};
use crate::reading::{LimitArguments, field_map};
use crate::session::on_cancel;
use crate::watch_summary::WatchSummary;

/// Find labels in pages as they arrive on standard input: a detector for crawlers
///
/// After Ardi & Heidemann 2014, section 3.6. Reads WARC, ARC, JSON Lines, or one page of HTML or
/// text, compressed or not, and prints one JSON object per page as soon as the page is complete. A
/// summary follows on standard error at the end and on Ctrl-C. A match means that the text is in
/// two places, not who copied it.
#[derive(Debug, Args)]
#[command(after_help = "\
A verdict has: url, chunks, stopped (stop chunks), matched (chunks that are labels), contains (the
share of labels among the other chunks; null if there are none), flagged (contains is above the
threshold), originals (if the label file has them: original, chunks, labels), seen (with --seen:
null, or as, url, and for near-duplicates estimate and interval), and neighbourhoods (those of the
page that are above a threshold so far, this page included: site, pages, chunks, matched, mean,
ratio, by_mean, by_ratio). A page whose text cannot be used has url, rejected and detail instead.

With --seen, a page is a copy of an earlier one if it has the same bytes, the same text, or similar
text: an estimated resemblance of at least 0.8, as defined by `cento copies`, from 84 minima.
`interval` contains the true value with a confidence of 95%. Several processes can share the file.

The label file is loaded again when it changes. If it cannot be loaded, the previous labels stay in
use.

Examples:
  crawler --warc - | cento watch --labels spam.labels --seen crawl.seen > verdicts.jsonl
  zcat pages.jsonl.gz | cento watch --labels mine.labels | jq 'select(.flagged)'
  curl -s https://example.org/ | cento watch --labels mine.labels --url https://example.org/")]
pub(crate) struct WatchArguments {
    /// Find these labels, made by `cento discover`
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: PathBuf,
    /// Recognise pages seen before, by this process or others that share FILE; it is created if it
    /// does not exist
    #[arg(long, value_name = "FILE")]
    pub(crate) seen: Option<PathBuf>,

    /// Read inputs in this format instead of detecting it: warc, arc, wacz, html, text, jsonl or
    /// parquet
    ///
    /// WACZ and Parquet cannot be read from a stream.
    #[arg(long, value_name = "FORMAT", help_heading = "Reading")]
    pub(crate) format: Option<Format>,
    /// URL of the page
    ///
    /// If the stream is a single page.
    #[arg(long, value_name = "URL", help_heading = "Reading")]
    pub(crate) url: Option<String>,
    /// Assign a field of a table to a role: text, html, url, date, title, id, language or ip. May
    /// be repeated; `a.b` reads a field of a nested object
    #[arg(long = "field", value_name = "ROLE=NAME", help_heading = "Reading")]
    pub(crate) fields: Vec<String>,
    /// Keep pages with any HTTP status; by default those outside 200–299 are rejected
    #[arg(long, help_heading = "Reading")]
    pub(crate) any_status: bool,

    /// Flag pages and neighbourhoods above this share [default: 0.144 for pages and 0.163 for
    /// neighbourhoods, the fixed thresholds of the paper]
    #[arg(long, value_name = "SHARE", help_heading = "Thresholds")]
    pub(crate) threshold: Option<f64>,
    /// Flag pages above this share
    #[arg(long, value_name = "SHARE", help_heading = "Thresholds")]
    pub(crate) page_threshold: Option<f64>,
    /// Flag neighbourhoods whose mean is above this
    #[arg(long, value_name = "SHARE", help_heading = "Thresholds")]
    pub(crate) mean_threshold: Option<f64>,
    /// Flag neighbourhoods whose ratio is above this
    #[arg(long, value_name = "SHARE", help_heading = "Thresholds")]
    pub(crate) ratio_threshold: Option<f64>,
    /// Number of levels of neighbourhoods: 1 is only hosts [default: all]
    #[arg(long, value_name = "N", help_heading = "Thresholds")]
    pub(crate) depth: Option<u32>,

    #[command(flatten)]
    pub(crate) limits: LimitArguments,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
}

/// How often the label file is checked for changes.
const CHECKED: Duration = Duration::from_millis(20);
/// The most bytes of verdicts that are printed together, if pages arrive faster than that.
const PRINTED: usize = 64 << 10;

impl WatchArguments {
    fn thresholds(&self) -> Result<WatchThresholds, CommandError> {
        let params = DetectParams {
            page_threshold: self.page_threshold.or(self.threshold),
            mean_threshold: self.mean_threshold.or(self.threshold),
            ratio_threshold: self.ratio_threshold.or(self.threshold),
            depth: self.depth,
            ..DetectParams::default()
        };
        params.check()?;
        Ok(WatchThresholds {
            page: params.page_threshold.unwrap_or(PAGE_THRESHOLD),
            mean: params.mean_threshold.unwrap_or(NEIGHBOURHOOD_THRESHOLD),
            ratio: params.ratio_threshold.unwrap_or(NEIGHBOURHOOD_THRESHOLD),
        })
    }

    /// Returns how pages are read and cut: as the labels were.
    fn resolve(&self, recipe: &Recipe) -> Result<(Settings, Parameters), CommandError> {
        if let Some(format @ (Format::Parquet | Format::Wacz)) = self.format {
            return Err(CommandError::usage(
                format!("{} cannot be read from a stream", format.name()),
                "use warc, arc, html, text or jsonl",
            ));
        }
        let single = matches!(self.format, None | Some(Format::Html | Format::Text));
        if self.url.is_some() && !single {
            return Err(CommandError::usage(
                "--url has no effect on a stream of several pages".to_owned(),
                "it is the URL of a single page of HTML or text",
            ));
        }
        let lines = matches!(self.format, None | Some(Format::JsonLines));
        if !self.fields.is_empty() && !lines {
            return Err(CommandError::usage(
                "--field has no effect on a stream that is not JSON Lines".to_owned(),
                "it assigns a field of JSON Lines to a role",
            ));
        }
        let mut parameters = Parameters {
            content: recipe.content,
            chunk: recipe.chunk,
            normalisation: recipe.normalisation,
            any_status: self.any_status,
            ..Parameters::default()
        };
        if recipe.of == LabelKind::Chunks {
            parameters.hash = recipe.hash;
        }
        self.limits.apply(&mut parameters.limits);
        let settings = Settings {
            base_url: self.url.clone(),
            fields: field_map(&self.fields)?,
            format: self.format,
            keep_status: self.any_status,
            limits: (&parameters.limits).into(),
            prompt: true,
            ..Settings::default()
        };
        Ok((settings, parameters))
    }
}

/// A verdict on a page that could not be examined.
struct RejectedPage {
    url: String,
    reason: &'static str,
    detail: String,
    /// Whether it has neither an address nor a byte.
    is_nothing: bool,
}

pub(crate) fn run(arguments: &WatchArguments) -> Result<ExitCode, CommandError> {
    let thresholds = arguments.thresholds()?;
    if std::io::stdin().is_terminal() {
        return Err(CommandError::usage(
            "standard input is a terminal".to_owned(),
            "pipe pages into the command, for example: zcat crawl.warc.gz | cento watch --labels …",
        ));
    }
    let mut labels = LabelsFile::open(&arguments.labels)?;
    let recipe = labels.current.labels.header().recipe;
    let (settings, parameters) = arguments.resolve(&recipe)?;
    let memory = usize::try_from(arguments.machine.memory()).unwrap_or(usize::MAX);
    let mut seen = match &arguments.seen {
        Some(path) => Some(seen_pages_for(&labels.current.labels, path, memory / 2)?),
        None => None,
    };
    let depth = arguments.depth.unwrap_or(u32::MAX);
    let mut watcher = Watcher::new(thresholds, depth, memory / 8);
    let mut summary = WatchSummary::default();

    let resolved = resolve(&["-".to_owned()], &settings)?;
    let Some(input) = resolved.inputs.first() else {
        return Err(CommandError::panicked());
    };
    let reader = input.open(&settings, Start::default())?;
    let with_prints = arguments.seen.is_some();
    let mut stream = PageStream::start(
        reader,
        &settings,
        &parameters,
        arguments.machine.threads(),
        move || labels.now(),
        move || {
            let mut examiner = PageExaminer::new(with_prints);
            move |labels: &WatchedLabels, page: &PageContent<'_>| {
                examine(&mut examiner, labels, page)
            }
        },
    );
    let stop = stream.stop_handle();
    let _cancel = on_cancel(move || stop.stop());

    let outcome = loop {
        match watch_some(&mut stream, &mut watcher, seen.as_mut(), &mut summary) {
            Ok(WatchStep::Continue) => {}
            // Nobody reads the verdicts any more, and nobody needs a summary.
            Ok(WatchStep::Closed) => return Ok(ExitCode::SUCCESS),
            Ok(WatchStep::Ended) => break Ok(ExitCode::SUCCESS),
            Ok(WatchStep::Interrupted) => break Ok(ExitCode::from(INTERRUPTED)),
            Err(error) => break Err(error),
        }
    };
    let counts = seen.as_ref().map(SeenPages::counts);
    say(summary
        .text(&watcher, thresholds, counts, recipe.of.name())
        .trim_end());
    outcome
}

/// Whether to continue.
enum WatchStep {
    Continue,
    Ended,
    Interrupted,
    Closed,
}

/// Waits for a page and reports it, together with those behind it that are ready.
fn watch_some(
    stream: &mut PageStream<Result<ExaminedPage, RejectedPage>>,
    watcher: &mut Watcher,
    seen: Option<&mut SeenPages>,
    summary: &mut WatchSummary,
) -> Result<WatchStep, CommandError> {
    let mut step = stream.next()?;
    let mut guard: Option<SeenGuard<'_>> = seen.map(SeenPages::lock).transpose()?;
    let mut out = Vec::new();
    let mut failed = None;
    let flow = loop {
        match step {
            StreamStep::End => break WatchStep::Ended,
            StreamStep::Stopped => break WatchStep::Interrupted,
            StreamStep::Item(StreamItem::Ignored(_)) => {}
            StreamStep::Item(StreamItem::Skipped(skipped)) => summary.add_skipped(&skipped),
            // A stream without any byte is not a page.
            StreamStep::Item(StreamItem::Page(Err(page))) if page.is_nothing => {}
            StreamStep::Item(StreamItem::Page(Err(page))) => {
                summary.add_rejected(page.reason, &page.url);
                let RejectedPage {
                    url,
                    reason,
                    detail,
                    ..
                } = page;
                let line = json!({ "url": url, "rejected": reason, "detail": detail });
                out.extend(format!("{line}\n").into_bytes());
            }
            StreamStep::Item(StreamItem::Page(Ok(page))) => {
                match watcher.observe(page, guard.as_mut()) {
                    Ok(report) => {
                        summary.add(&report);
                        serde_json::to_writer(&mut out, &report).map_err(std::io::Error::from)?;
                        out.push(b'\n');
                    }
                    Err(error) => {
                        failed = Some(error);
                        break WatchStep::Ended;
                    }
                }
            }
        }
        if out.len() >= PRINTED || !stream.is_ready() {
            break WatchStep::Continue;
        }
        step = stream.next()?;
    };
    // The lock is released before printing, which may have to wait for the reader.
    drop(guard);
    if !out.is_empty() && !print_while_read(&out)? {
        return Ok(WatchStep::Closed);
    }
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(flow),
    }
}

fn examine(
    examiner: &mut PageExaminer,
    labels: &WatchedLabels,
    page: &PageContent<'_>,
) -> Result<ExaminedPage, RejectedPage> {
    let url = page.page.url.as_str();
    let payload = page.page.payload_sha1;
    // Files are compared by their bytes, whether they contain text or not. Pages of a crawler in a
    // loop are rejected, as in `detect`.
    if labels.labels.header().recipe.of == LabelKind::Files
        && let Some(hash) = payload.as_ref().and_then(|hash| hash.first_chunk())
        && page.reject.is_none_or(|(reason, _)| reason != "recursion")
    {
        return Ok(examiner.chunks(labels, url, page.text, [hash].into_iter(), payload));
    }
    match page.reject {
        Some((reason, detail)) => Err(RejectedPage {
            url: url.to_owned(),
            reason,
            detail: detail.to_owned(),
            is_nothing: url == "-" && page.page.payload_bytes == 0,
        }),
        None => Ok(examiner.chunks(labels, url, page.text, page.chunk_hashes(), payload)),
    }
}

/// A label file that is loaded again when it changes.
struct LabelsFile {
    path: PathBuf,
    current: WatchedLabels,
    /// What identifies the files that were loaded last, successfully or not.
    stamp: Vec<FileStamp>,
    checked: Instant,
}

/// What changes if a file does: device, inode, size, and time of modification. `None` if it does
/// not exist.
type FileStamp = Option<(u64, u64, u64, i64, i64)>;

impl LabelsFile {
    fn open(path: &Path) -> Result<LabelsFile, CommandError> {
        let stamp = stamp(path);
        Ok(LabelsFile {
            path: path.to_owned(),
            current: load(path)?,
            stamp,
            checked: Instant::now(),
        })
    }

    /// Returns the labels for the next page.
    fn now(&mut self) -> WatchedLabels {
        if self.checked.elapsed() >= CHECKED {
            self.checked = Instant::now();
            let stamp = stamp(&self.path);
            if stamp != self.stamp {
                self.stamp = stamp;
                self.reload();
            }
        }
        self.current.clone()
    }

    fn reload(&mut self) {
        let name = self.path.display();
        let recipe = self.current.labels.header().recipe;
        match load_checked(&self.path, &recipe) {
            Ok(labels) => {
                let count = counted(labels.labels.len(), "label", "labels");
                say(&format!(
                    "note: {name} has changed and was loaded again: {count}"
                ));
                self.current = labels;
            }
            Err(error) => say(&format!(
                "note: {name} has changed and cannot be used ({error}); the previous labels stay in use"
            )),
        }
    }
}

fn load(path: &Path) -> cento_find::Result<WatchedLabels> {
    let set = LabelSet::load(path)?;
    Ok(WatchedLabels {
        labels: set.shared_labels(),
        originals: set.read_originals()?.map(Into::into),
    })
}

/// Loads labels, which must have this recipe: the stream is cut into chunks by it.
fn load_checked(path: &Path, recipe: &Recipe) -> cento_find::Result<WatchedLabels> {
    let labels = load(path)?;
    labels.labels.header().recipe.check_like(recipe, path)?;
    Ok(labels)
}

fn stamp(path: &Path) -> Vec<FileStamp> {
    use std::os::unix::fs::MetadataExt;
    let tables = [
        cento_find::provenance::table_of(path),
        cento_find::provenance::originals_of(path),
    ];
    let files = std::iter::once(path).chain(tables.iter().map(PathBuf::as_path));
    files
        .map(|file| {
            let found = file.metadata().ok()?;
            Some((
                found.dev(),
                found.ino(),
                found.size(),
                found.mtime(),
                found.mtime_nsec(),
            ))
        })
        .collect()
}
