//! Sessions: where the output of a command goes, how its progress is watched, and how it is
//! cancelled.
//!
//! The command line runs one command in one session, which writes to the standard streams. The
//! Python package runs each call in a session that captures: what a command prints and finds is
//! returned to the caller. A command does not know which. Its thread has a current session, because
//! commands print at many places, and all of them on the thread that runs the command.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cento_find::Findings;

thread_local! {
    static CURRENT: RefCell<Option<Arc<Session>>> = const { RefCell::new(None) };
}

type Cancel = Box<dyn Fn() + Send>;
type Read = Box<dyn Fn() -> StepProgress + Send>;

/// The progress of a step at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepProgress {
    /// How much is done, in a unit that depends on the step.
    pub done: u64,
    /// How much there is to do, in the same unit; 0 if that is not known.
    pub all: u64,
    /// The line that the command line shows.
    pub line: String,
}

/// Where the output of a command goes, and how it is watched and cancelled.
#[derive(Default)]
pub struct Session {
    captures: bool,
    quiet: bool,
    cancelled: AtomicBool,
    next: AtomicU64,
    steps: Mutex<Vec<RunningStep>>,
    captured: Mutex<Captured>,
}

/// What a command printed and found.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    /// What it printed to standard output.
    pub text: Vec<u8>,
    /// The lines that it printed to standard error, other than progress and errors.
    pub notes: Vec<String>,
    /// The findings that it computed or found cached, in this order.
    pub findings: Vec<Findings>,
    /// The table that `--out` and `--json` export, if the command has one.
    pub main_table: Option<PathBuf>,
}

struct RunningStep {
    number: u64,
    cancel: Cancel,
    read: Read,
}

impl Session {
    /// Returns a session that writes to the standard streams and shows progress.
    pub(crate) fn of_process() -> Arc<Session> {
        Arc::default()
    }

    /// Returns a session that captures what a command prints. Progress is shown on standard error,
    /// as on the command line, unless the session is quiet.
    pub fn capturing(quiet: bool) -> Arc<Session> {
        Arc::new(Session {
            captures: true,
            quiet,
            ..Session::default()
        })
    }

    /// Asks the running step to stop at a point where no work is lost, and all later steps as soon
    /// as they start. Returns whether a step was running.
    pub fn cancel(&self) -> bool {
        self.cancelled.store(true, Ordering::SeqCst);
        let steps = lock(&self.steps);
        steps.iter().for_each(|step| (step.cancel)());
        !steps.is_empty()
    }

    /// Returns whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Returns the progress of the running step; `None` between two steps.
    pub fn progress(&self) -> Option<StepProgress> {
        lock(&self.steps).last().map(|step| (step.read)())
    }

    /// Takes what was captured so far.
    pub(crate) fn take(&self) -> Captured {
        std::mem::take(&mut lock(&self.captured))
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub(crate) fn captures(&self) -> bool {
        self.captures
    }

    /// Makes this the current session of the thread while `command` runs.
    pub(crate) fn enter<T>(self: &Arc<Session>, command: impl FnOnce() -> T) -> T {
        /// Restores the previous session, also after a panic.
        struct Previous(Option<Arc<Session>>);
        impl Drop for Previous {
            fn drop(&mut self) {
                CURRENT.replace(self.0.take());
            }
        }
        let _previous = Previous(CURRENT.replace(Some(Arc::clone(self))));
        command()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the session of this thread.
pub(crate) fn current() -> Option<Arc<Session>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Passes what a command prints to a session that captures. Returns whether there is one.
fn capture(into: impl FnOnce(&mut Captured)) -> bool {
    let Some(session) = current().filter(|session| session.captures) else {
        return false;
    };
    into(&mut lock(&session.captured));
    true
}

/// Captures bytes for standard output. Returns whether it did.
pub(crate) fn captured_output(bytes: &[u8]) -> bool {
    capture(|captured| captured.text.extend_from_slice(bytes))
}

/// Captures a line for standard error. Returns whether it did.
pub(crate) fn captured_note(line: &str) -> bool {
    capture(|captured| captured.notes.push(line.to_owned()))
}

/// Records findings. If an analysis uses the same ones twice, they are recorded once.
pub(crate) fn record_findings(findings: &Findings) {
    capture(|captured| {
        let is_known = |known: &Findings| known.path == findings.path;
        if !captured.findings.iter().any(is_known) {
            captured.findings.push(findings.clone());
        }
    });
}

/// Records the main table of a command.
pub(crate) fn record_main_table(path: &Path) {
    capture(|captured| captured.main_table = Some(path.to_owned()));
}

/// A step that can be watched and cancelled, until this is dropped.
#[must_use]
pub(crate) struct StepGuard(Option<(Arc<Session>, u64)>);

/// Registers how a step of the current session is cancelled, and how its progress is read. If the
/// session was cancelled before, the step is cancelled as soon as it starts.
pub(crate) fn begin_step(
    cancel: impl Fn() + Send + 'static,
    read: impl Fn() -> StepProgress + Send + 'static,
) -> StepGuard {
    let Some(session) = current() else {
        return StepGuard(None);
    };
    let number = session.next.fetch_add(1, Ordering::Relaxed);
    let mut steps = lock(&session.steps);
    if session.is_cancelled() {
        cancel();
    }
    steps.push(RunningStep {
        number,
        cancel: Box::new(cancel),
        read: Box::new(read),
    });
    drop(steps);
    StepGuard(Some((session, number)))
}

/// Registers how a step without progress is cancelled, such as a server.
pub(crate) fn on_cancel(cancel: impl Fn() + Send + 'static) -> StepGuard {
    let read = || StepProgress {
        done: 0,
        all: 0,
        line: String::new(),
    };
    begin_step(cancel, read)
}

impl Drop for StepGuard {
    fn drop(&mut self) {
        if let Some((session, number)) = &self.0 {
            lock(&session.steps).retain(|step| step.number != *number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored() -> StepProgress {
        StepProgress {
            done: 0,
            all: 0,
            line: String::new(),
        }
    }

    #[test]
    fn a_cancelled_session_cancels_running_and_later_steps() {
        let session = Session::capturing(true);
        let count = Arc::new(AtomicU64::new(0));
        let add = |count: &Arc<AtomicU64>| {
            let count = Arc::clone(count);
            move || {
                count.fetch_add(1, Ordering::SeqCst);
            }
        };
        session.enter(|| {
            drop(begin_step(add(&count), ignored));
            assert!(!session.cancel(), "no step is running");
            assert_eq!(count.load(Ordering::SeqCst), 0);
            let step = begin_step(add(&count), ignored);
            assert_eq!(count.load(Ordering::SeqCst), 1);
            assert!(session.cancel());
            assert_eq!(count.load(Ordering::SeqCst), 2);
            drop(step);
            assert_eq!(session.progress(), None);
        });
    }

    #[test]
    fn output_is_captured_only_on_the_thread_of_its_session() {
        let session = Session::capturing(true);
        session.enter(|| {
            assert!(captured_output(b"one"));
            assert!(captured_note("two"));
            let elsewhere = std::thread::spawn(|| captured_output(b"three"));
            assert!(!elsewhere.join().unwrap());
        });
        assert!(!captured_output(b"four"));
        let captured = session.take();
        assert_eq!((captured.text, captured.notes.len()), (b"one".to_vec(), 1));
    }
}
