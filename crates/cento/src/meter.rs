//! Showing that long work goes on: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cento_scan::{INDEX, Watch};
use cento_store::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{number, say, size};

/// How often a bar is drawn, and how often a line is logged where there is no terminal.
const DRAW: Duration = Duration::from_millis(200);
const LOG: Duration = Duration::from_secs(10);

/// Watches a run until it is dropped.
pub(crate) struct Meter {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Meter {
    /// Starts to watch the reading of inputs.
    pub(crate) fn start(progress: Arc<Progress>) -> Meter {
        Meter::show(move |begun| Reading {
            done: progress.bytes(),
            all: progress.total_bytes(),
            line: line(&progress, begun),
        })
    }

    /// Starts to watch a flow.
    pub(crate) fn over_flow(progress: Arc<cento_flow::Progress>) -> Meter {
        Meter::show(move |begun| Reading {
            done: progress.finished(),
            all: progress.tasks(),
            line: flow_line(&progress, begun),
        })
    }

    /// Starts to watch a scan, from its first byte to its last table.
    pub(crate) fn over_scan(watch: Arc<Watch>) -> Meter {
        Meter::show(move |begun| scan_reading(&watch, begun))
    }

    fn show(read: impl Fn(Instant) -> Reading + Send + 'static) -> Meter {
        let (stop, stopped) = channel::<()>();
        // Where no thread can be started, nothing is shown, and the work goes on.
        let thread = std::thread::Builder::new().spawn(move || {
            let terminal = std::io::stderr().is_terminal();
            let bar = terminal.then(new_bar);
            let begun = Instant::now();
            let wait = if terminal { DRAW } else { LOG };
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                match &bar {
                    Some(bar) => draw(bar, &read(begun)),
                    None => say(&read(begun).line),
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        Meter {
            stop: Some(stop),
            thread: thread.ok(),
        }
    }
}

/// What is shown at one moment.
struct Reading {
    done: u64,
    all: u64,
    line: String,
}

impl Drop for Meter {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A display that failed has no say in how the run ends.
            let _ = thread.join();
        }
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    // A template that does not parse leaves the plain bar, which is no worse than none.
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent:>3} %  {msg}") {
        bar.set_style(style.progress_chars("━╸ "));
    }
    bar
}

fn draw(bar: &ProgressBar, reading: &Reading) {
    bar.set_length(reading.all.max(reading.done).max(1));
    bar.set_position(reading.done);
    bar.set_message(reading.line.clone());
}

/// Parts that the share of a scan is shown in.
const SCAN_PARTS: u64 = 1000;

/// `quilts (4 of 5), cover 5  12 of 256  0:14`; the bar is of all of it.
fn scan_reading(watch: &Watch, begun: Instant) -> Reading {
    let moment = watch.moment();
    let seconds = begun.elapsed().as_secs();
    let step = format!("{} ({} of {})", moment.name, moment.number, moment.of);
    let detail = if moment.name == INDEX {
        let index = &watch.index;
        let mut detail = format!("{} pages  {}", number(index.pages()), size(index.bytes()));
        if index.total_bytes() > 0 {
            detail.push_str(&format!(" of {}", size(index.total_bytes())));
        }
        detail
    } else {
        let flow = &watch.flow;
        let (finished, tasks) = (number(flow.finished()), number(flow.tasks()));
        format!("{}  {finished} of {tasks}", flow.stage())
    };
    Reading {
        done: (moment.share * SCAN_PARTS as f64) as u64,
        all: SCAN_PARTS,
        line: format!(
            "{step}, {detail}  {:.0} % of all  {}:{:02}",
            100.0 * moment.share,
            seconds / 60,
            seconds % 60
        ),
    }
}

/// `sketch  12 of 40  3,456,789 rows  0:14`.
fn flow_line(progress: &cento_flow::Progress, begun: Instant) -> String {
    let seconds = begun.elapsed().as_secs();
    let mut line = format!(
        "{}  {} of {}  {} rows",
        progress.stage(),
        number(progress.finished()),
        number(progress.tasks()),
        number(progress.rows())
    );
    if progress.spilled() > 0 {
        line.push_str(&format!("  {} on disk", size(progress.spilled())));
    }
    line.push_str(&format!("  {}:{:02}", seconds / 60, seconds % 60));
    line
}

/// `12,345 pages  1.2 GB of 8.0 GB  110 MB/s  1:02 left`.
fn line(progress: &Progress, begun: Instant) -> String {
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
        line.push_str(&format!("  {}:{:02} left", left / 60, left % 60));
    }
    line
}
