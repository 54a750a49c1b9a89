//! Progress of long steps: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cento_scan::{INDEX_STEP, ScanProgress};
use cento_store::BuildProgress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{number, say, size};
use crate::session::{StepGuard, StepProgress, begin_step, current};

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
        if current().is_some_and(|session| session.is_quiet()) {
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
            let wait = if terminal { DRAW } else { LOG };
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                match &bar {
                    Some(bar) => draw(bar, &step.reading(begun)),
                    None => say(&step.reading(begun).line),
                }
            }
            if let Some(bar) = bar {
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
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent:>3} %  {msg}") {
        bar.set_style(style.progress_chars("━╸ "));
    }
    bar
}

fn draw(bar: &ProgressBar, reading: &StepProgress) {
    bar.set_length(reading.all.max(reading.done).max(1));
    bar.set_position(reading.done);
    bar.set_message(reading.line.clone());
}

/// Reading inputs: `12,345 pages  1.2 GB of 8.0 GB  110 MB/s  1:02 left`.
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
    if total > bytes && rate > 0.0 {
        let left = ((total - bytes) as f64 / rate) as u64;
        line.push_str(&format!("  {} left", minutes(left)));
    }
    line
}

/// An analysis: `sketch  12 of 40  3,456,789 rows  0:14`.
impl MeteredStep for cento_flow::Progress {
    fn cancel(&self) {
        cento_flow::Progress::cancel(self);
    }

    fn reading(&self, begun: Instant) -> StepProgress {
        let mut line = format!(
            "{}  {} of {}  {} rows",
            self.stage(),
            number(self.finished()),
            number(self.tasks()),
            number(self.rows())
        );
        if self.spilled() > 0 {
            line.push_str(&format!("  {} on disk", size(self.spilled())));
        }
        line.push_str(&format!("  {}", minutes(begun.elapsed().as_secs())));
        StepProgress {
            done: self.finished(),
            all: self.tasks(),
            line,
        }
    }
}

/// Resolution of the bar of a scan.
const SCAN_PARTS: u64 = 1000;

/// A scan: `quilts (4 of 5), cover 5  12 of 256  63 % of all  0:14`. The bar covers all steps.
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
            let flow = &self.flow;
            let (finished, tasks) = (number(flow.finished()), number(flow.tasks()));
            format!("{}  {finished} of {tasks}", flow.stage())
        };
        StepProgress {
            done: (moment.share * SCAN_PARTS as f64) as u64,
            all: SCAN_PARTS,
            line: format!(
                "{step}, {detail}  {:.0} % of all  {}",
                100.0 * moment.share,
                minutes(begun.elapsed().as_secs())
            ),
        }
    }
}

/// Formats seconds as `1:02`.
fn minutes(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
