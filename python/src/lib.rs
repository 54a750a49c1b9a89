//! The extension module `cento._cento`: what the Python package `cento` calls.
//!
//! - [`command`] runs a command of the command line and returns what it found. All analyses are
//!   called this way, so their names, defaults, errors and results are those of the program.
//! - [`table`] hands tables to Python through the Arrow C data interface, without copying them.
//! - [`flow_server`] hands out the flows and the index of a command, for `cento.ray`, and
//!   [`task_output`] packs what their tasks return.
//! - [`texts`] and [`detector`] have the functions for single texts.
//! - [`definition`] describes the command line, from which `python/tools/generate_verbs.py` writes
//!   the methods of the package.
//! - [`errors`] turns errors into Python exceptions, by fault.
//!
//! Everything that is easier to write in Python is in `python/cento`.

#![expect(
    clippy::needless_pass_by_value,
    reason = "the arguments of functions that Python calls are converted to owned values"
)]

mod command;
mod corpus;
mod definition;
mod detector;
mod errors;
mod flow_server;
mod object_bytes;
mod table;
mod task_output;
mod texts;

use pyo3::prelude::*;

/// The compiled part of the package `cento`.
#[pymodule]
fn _cento(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(command::run, module)?)?;
    module.add_function(wrap_pyfunction!(command::main, module)?)?;
    module.add_function(wrap_pyfunction!(corpus::open_corpus, module)?)?;
    module.add_function(wrap_pyfunction!(corpus::open_findings, module)?)?;
    module.add_function(wrap_pyfunction!(definition::definition, module)?)?;
    module.add_function(wrap_pyfunction!(texts::words, module)?)?;
    module.add_function(wrap_pyfunction!(texts::text_of_html, module)?)?;
    module.add_function(wrap_pyfunction!(texts::fingerprints, module)?)?;
    module.add_function(wrap_pyfunction!(texts::passages, module)?)?;
    module.add_class::<texts::PySketch>()?;
    module.add_class::<detector::PyDetector>()?;
    module.add_class::<table::ArrowTable>()?;
    module.add_class::<flow_server::FlowServer>()?;
    module.add_class::<task_output::TaskOutput>()?;
    module.add_function(wrap_pyfunction!(task_output::pack, module)?)?;
    Ok(())
}
