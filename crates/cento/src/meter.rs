//! Progress of long steps: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cento_scan::{INDEX_STEP, ScanProgress, has_weights, is_note, stage_share};
use cento_store::BuildProgress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::command_line::typed_verb;
use crate::output::{number, say, size};
use crate::session::{StepGuard, StepProgress, begin_step, current};
use crate::terminal::is_quiet;

/// How often the bar is drawn, and how often a line is printed without a terminal.
const DRAW: Duration = Duration::from_millis(200);
const LOG: Duration = Duration::from_secs(10);

/// A step that reports progress and can be cancelled.
pub(crate) trait MeteredStep: Send + Sync + 'static {
    /// Asks the step to stop.
    fn cancel(&self);
    /// Returns the current progress; `begun` is when the step started.
    fn reading(&self, begun: Instant) -> StepProgress;
}

/// Shows the progress of a step, and cancels it on Ctrl-C, until it is dropped.
pub(crate) struct Meter {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _step: StepGuard,
}

impl Meter {
    /// Starts to show a step.
    pub(crate) fn start<S: MeteredStep>(step: &Arc<S>) -> Meter {
        let begun = Instant::now();
        let (cancelled, read) = (Arc::clone(step), Arc::clone(step));
        let registered = begin_step(move || cancelled.cancel(), move || read.reading(begun));
        if is_quiet() || current().is_some_and(|session| session.is_quiet()) {
            return Meter {
                stop: None,
                thread: None,
                _step: registered,
            };
        }
        let (stop, stopped) = channel::<()>();
        let step = Arc::clone(step);
        // If no thread can be started, no progress is shown, and the step runs all the same.
        let thread = std::thread::Builder::new().spawn(move || {
            let terminal = std::io::stderr().is_terminal();
            let bar = terminal.then(new_bar);
            show(bar.as_ref());
            let wait = if terminal { DRAW } else { LOG };
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                match &bar {
                    Some(bar) => draw(bar, &step.reading(begun)),
                    None => say(&step.reading(begun).line),
                }
            }
            if let Some(bar) = bar {
                show(None);
                bar.finish_and_clear();
            }
        });
        Meter {
            stop: Some(stop),
            thread: thread.ok(),
            _step: registered,
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A display that failed does not affect the outcome of the step.
            let _ = thread.join();
        }
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    // If the template does not parse, the default style remains.
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg}") {
        bar.set_style(style.progress_chars("━╸ "));
    }
    bar
}

/// The bar that is shown.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn show(bar: Option<&ProgressBar>) {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *shown = bar.cloned();
}

/// Writes to standard error while no bar is there, so that the bar does not run into the text.
pub(crate) fn above_bar(write: impl FnOnce()) {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match shown {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

fn draw(bar: &ProgressBar, reading: &StepProgress) {
    bar.set_length(reading.all.max(reading.done).max(1));
    bar.set_position(reading.done);
    bar.set_message(reading.line.clone());
}

/// Reading inputs: ` 15 %  12,345 pages  1.2 GB of 8.0 GB  110 MB/s  1:02 left`.
impl MeteredStep for BuildProgress {
    fn cancel(&self) {
        BuildProgress::cancel(self);
    }

    fn reading(&self, begun: Instant) -> StepProgress {
        StepProgress {
            done: self.bytes(),
            all: self.total_bytes(),
            line: read_line(self, begun),
        }
    }
}

fn read_line(progress: &BuildProgress, begun: Instant) -> String {
    let seconds = begun.elapsed().as_secs_f64().max(0.001);
    let bytes = progress.bytes();
    let rate = bytes as f64 / seconds;
    let mut line = format!("{} pages  {}", number(progress.pages()), size(bytes));
    let total = progress.total_bytes();
    if total == 0 && bytes == 0 {
        let rate = progress.pages() as f64 / seconds;
        return format!(
            "{} pages  {}/s",
            number(progress.pages()),
            number(rate as u64)
        );
    }
    if total > 0 {
        line.push_str(&format!(" of {}", size(total)));
    }
    line.push_str(&format!("  {}/s", size(rate as u64)));
    match total {
        0 => line,
        total => with_share(bytes as f64 / total as f64, &line, begun.elapsed()),
    }
}

/// An analysis, as one step: ` 63 %  sketch  3,456,789 rows  0:14  0:09 left`.
pub(crate) struct AnalysisStep {
    progress: Arc<cento_flow::Progress>,
    /// The name of the analysis, if its stages have weights.
    analysis: Option<String>,
    /// Whether the analysis has a stage that only some runs have.
    noted: AtomicBool,
    /// The largest share so far, in parts of [`PARTS`].
    largest: AtomicU64,
}

impl AnalysisStep {
    /// Returns the step of an analysis whose name is that of the command.
    pub(crate) fn new(progress: &Arc<cento_flow::Progress>) -> Arc<AnalysisStep> {
        Arc::new(AnalysisStep {
            progress: Arc::clone(progress),
            analysis: typed_verb().filter(|verb| has_weights(verb)),
            noted: AtomicBool::new(false),
            largest: AtomicU64::new(0),
        })
    }
}

impl MeteredStep for AnalysisStep {
    fn cancel(&self) {
        self.progress.cancel();
    }

    fn reading(&self, begun: Instant) -> StepProgress {
        let flow = &self.progress;
        let stage = flow.stage();
        let finished = flow.finished() as f64 / flow.tasks().max(1) as f64;
        let share = match &self.analysis {
            Some(analysis) => {
                let note = is_note(&stage);
                let noted = self.noted.fetch_or(note, Ordering::Relaxed) || note;
                stage_share(analysis, &stage, finished, noted).unwrap_or(0.0)
            }
            None => flow.share(),
        };
        let parts = (share * PARTS as f64) as u64;
        let parts = parts.max(self.largest.fetch_max(parts, Ordering::Relaxed));
        let mut line = format!("{stage}  {} rows", number(flow.rows()));
        if flow.spilled() > 0 {
            line.push_str(&format!("  {} on disk", size(flow.spilled())));
        }
        StepProgress {
            done: parts,
            all: PARTS,
            line: with_share(parts as f64 / PARTS as f64, &line, begun.elapsed()),
        }
    }
}

/// Resolution of a bar that covers several stages.
const PARTS: u64 = 1000;

/// A scan: ` 63 %  quilts (4 of 5), cover 5  0:14  0:09 left`. The bar covers all steps.
impl MeteredStep for ScanProgress {
    fn cancel(&self) {
        ScanProgress::cancel(self);
    }

    fn reading(&self, begun: Instant) -> StepProgress {
        let moment = self.status();
        let step = format!("{} ({} of {})", moment.name, moment.number, moment.of);
        let detail = if moment.name == INDEX_STEP {
            let index = &self.index;
            let mut detail = format!("{} pages  {}", number(index.pages()), size(index.bytes()));
            if index.total_bytes() > 0 {
                detail.push_str(&format!(" of {}", size(index.total_bytes())));
            }
            detail
        } else {
            self.flow.stage()
        };
        StepProgress {
            done: (moment.share * PARTS as f64) as u64,
            all: PARTS,
            line: with_share(moment.share, &format!("{step}, {detail}"), begun.elapsed()),
        }
    }
}

/// The time left is shown after this much time and this much of the work: before, it is a guess.
const SURE: (Duration, f64) = (Duration::from_secs(2), 0.02);

/// Puts the percentage before a line, and the time that has passed and that is left after it.
fn with_share(share: f64, line: &str, elapsed: Duration) -> String {
    let share = share.clamp(0.0, 1.0);
    let mut text = format!(
        "{:>3.0} %  {line}  {}",
        (100.0 * share).floor(),
        minutes(elapsed.as_secs())
    );
    if elapsed >= SURE.0 && share >= SURE.1 && share < 1.0 {
        let left = elapsed.as_secs_f64() * (1.0 - share) / share;
        text.push_str(&format!("  {} left", minutes(left.ceil() as u64)));
    }
    text
}

/// Formats seconds as `1:02` or `2:05:09`.
fn minutes(seconds: u64) -> String {
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_one_percentage_and_the_time_left() {
        let seconds = Duration::from_secs;
        assert_eq!(
            with_share(0.25, "sketch", seconds(30)),
            " 25 %  sketch  0:30  1:30 left"
        );
        // Too early for a guess, and nothing is left.
        assert_eq!(with_share(0.5, "sketch", seconds(1)), " 50 %  sketch  0:01");
        assert_eq!(
            with_share(0.001, "sketch", seconds(60)),
            "  0 %  sketch  1:00"
        );
        assert_eq!(
            with_share(1.0, "sketch", seconds(60)),
            "100 %  sketch  1:00"
        );
        // Only finished work is 100 %.
        assert!(with_share(0.9999, "sketch", seconds(60)).starts_with(" 99 %"));
        assert_eq!(minutes(7509), "2:05:09");
    }
}
