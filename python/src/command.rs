//! Running commands from Python.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cento::{Captured, CommandError, Session, StepProgress, run_command};
use cento_find::{Findings, LocalExecutor};
use cento_store::LocalBuilds;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::corpus::findings_dict;
use crate::errors;

/// How often a running command is interrupted to look for signals and to report progress.
const POLL: Duration = Duration::from_millis(50);

/// Runs the words of a command line, the first of which is a verb.
///
/// Returns a dict: `status` (the exit status of the program), `text` (what it prints), `notes`
/// (lines for standard error), `findings` (those that were computed or cached) and `main` (the
/// position of those with the table that `--out` exports, and the name of the table; or None).
///
/// The command runs on a thread of its own without the GIL. This thread wakes up for signals and
/// for `on_progress(done, all, line)`. If either raises an exception, the command is cancelled, and
/// the exception is raised when it has stopped at a point where no work is lost. A second signal
/// does not wait for that.
#[pyfunction]
#[pyo3(signature = (words, quiet = false, on_progress = None))]
pub(crate) fn run<'py>(
    py: Python<'py>,
    words: Vec<OsString>,
    quiet: bool,
    on_progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let session = Session::capturing(quiet || on_progress.is_some());
    let (status, captured) = watch(py, words, &session, on_progress.as_ref())?;
    captured_dict(py, status, captured)
}

/// Returns what a command printed and found as a dict, as [`run`] describes it.
pub(crate) fn captured_dict(
    py: Python<'_>,
    status: u8,
    captured: Captured,
) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("status", status)?;
    result.set_item("text", String::from_utf8_lossy(&captured.text))?;
    result.set_item("notes", captured.notes)?;
    let main = captured
        .main_table
        .and_then(|table| main_of(&table, &captured.findings));
    result.set_item("main", main)?;
    let findings = captured.findings.iter();
    let findings: PyResult<Vec<_>> = findings.map(|one| findings_dict(py, one)).collect();
    result.set_item("findings", findings?)?;
    Ok(result)
}

/// Returns the position of the findings that have a table, and its name.
fn main_of(table: &Path, findings: &[Findings]) -> Option<(usize, String)> {
    let position = findings
        .iter()
        .position(|findings| table.parent() == Some(&findings.path))?;
    let name = table.file_stem()?.to_str()?;
    Some((position, name.to_owned()))
}

/// Runs a command on a thread of its own, and waits for it.
fn watch(
    py: Python<'_>,
    words: Vec<OsString>,
    session: &Arc<Session>,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(u8, Captured)> {
    let (sender, receiver) = channel::<Result<(u8, Captured), CommandError>>();
    let receiver = Mutex::new(receiver);
    let of_thread = Arc::clone(session);
    let words = std::iter::once("cento".into()).chain(words).collect();
    std::thread::Builder::new()
        .name("cento".to_owned())
        .spawn(move || {
            let outcome = run_command(
                words,
                &of_thread,
                Rc::new(LocalExecutor),
                Rc::new(LocalBuilds),
            );
            // Nobody receives it after a second signal.
            let _ = sender.send(outcome);
        })?;
    let mut raised: Option<PyErr> = None;
    let mut shown: Option<StepProgress> = None;
    let outcome = loop {
        let waited = py.detach(|| {
            let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
            receiver.recv_timeout(POLL)
        });
        match waited {
            Ok(outcome) => break outcome,
            Err(RecvTimeoutError::Disconnected) => break Err(CommandError::panicked()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let signalled = py.check_signals();
        match (&raised, signalled) {
            (None, signalled) => {
                let outcome = signalled.and_then(|()| report(session, on_progress, &mut shown));
                if let Err(error) = outcome {
                    session.cancel();
                    raised = Some(error);
                }
            }
            (Some(_), Ok(())) => {}
            (Some(_), Err(second)) => return Err(second),
        }
    };
    match raised {
        Some(error) => Err(error),
        None => outcome.map_err(|error| errors::of_command(py, &error)),
    }
}

/// Calls the function of the caller if the progress has changed.
fn report(
    session: &Session,
    on_progress: Option<&Bound<'_, PyAny>>,
    shown: &mut Option<StepProgress>,
) -> PyResult<()> {
    let Some(on_progress) = on_progress else {
        return Ok(());
    };
    let progress = session.progress();
    if progress == *shown {
        return Ok(());
    }
    if let Some(now) = &progress {
        on_progress.call1((now.done, now.all, &now.line))?;
    }
    *shown = progress;
    Ok(())
}

/// Runs the program `cento` with these words, the first of which is its name, and returns its exit
/// status. Only for a process that does nothing else: it takes over Ctrl-C.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    let status = py.detach(|| cento::main_with(words));
    let number = (0..=u8::MAX).find(|&number| ExitCode::from(number) == status);
    number.unwrap_or(1)
}
