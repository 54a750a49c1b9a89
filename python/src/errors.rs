//! Errors as Python exceptions, by fault. The classes are in `cento/_errors.py`.

use cento::CommandError;
use cento_file::Fault;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Returns the exception for an error of a command.
pub(crate) fn of_command(py: Python<'_>, error: &CommandError) -> PyErr {
    raised(py, error.fault(), error.message(), error.hint())
}

/// Returns the exception for an error of a library.
pub(crate) fn of_library(py: Python<'_>, error: impl Into<CommandError>) -> PyErr {
    of_command(py, &error.into())
}

/// Returns the exception for an error of the engine.
pub(crate) fn of_flow(py: Python<'_>, error: cento_flow::Error) -> PyErr {
    of_library(py, cento_find::Error::from(error))
}

/// Returns the exception for a wrong argument.
pub(crate) fn usage(py: Python<'_>, message: &str) -> PyErr {
    raised(py, Fault::Usage, message, None)
}

fn raised(py: Python<'_>, fault: Fault, message: &str, hint: Option<String>) -> PyErr {
    let class = match fault {
        Fault::Usage => "UsageError",
        Fault::Unsuitable => "UnsuitableError",
        Fault::Corrupted => "CorruptedError",
        Fault::OutOfSpace => "OutOfSpaceError",
        Fault::Bug => "BugError",
        Fault::Interrupted => return PyKeyboardInterrupt::new_err(()),
        _ => "Error",
    };
    let exception = py
        .import("cento._errors")
        .and_then(|module| module.getattr(class)?.call1((message, hint)));
    match exception {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Returns the exception for a table that cannot be read.
pub(crate) fn corrupted(py: Python<'_>, message: &str) -> PyErr {
    raised(py, Fault::Corrupted, message, None)
}
