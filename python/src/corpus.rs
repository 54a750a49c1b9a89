//! Corpora and findings, as dicts and tables. Python wraps them in classes.

use std::path::PathBuf;

use cento_find::{Findings, RUN};
use cento_store::{Corpus, FileEntry};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::table::ArrowTable;

/// Opens a corpus: returns its manifest and its counts as JSON, and its tables.
#[pyfunction]
pub(crate) fn open_corpus<'py>(
    py: Python<'py>,
    path: PathBuf,
    partial: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let opened = py.detach(|| match partial {
        true => Corpus::open_partial(&path),
        false => Corpus::open(&path),
    });
    let corpus = opened.map_err(|error| errors::of_library(py, error))?;
    let manifest = corpus.manifest();
    let result = PyDict::new(py);
    let summary = serde_json::json!({
        "format": manifest.format,
        "parameters": manifest.parameters,
        "counts": manifest.counts(),
        "complete": manifest.complete(),
        "bytes": manifest.bytes_on_disk(),
    });
    result.set_item("summary", summary.to_string())?;
    let parts = || manifest.parts.iter();
    let table = |name: &str, entries: Vec<&FileEntry>| {
        let rows = entries.iter().map(|entry| entry.rows).sum();
        let paths = entries.iter().map(|entry| path.join(&entry.file));
        ArrowTable::new(name, paths.collect(), rows)
    };
    let tables = PyDict::new(py);
    tables.set_item(
        "pages",
        table("pages", parts().map(|part| &part.pages).collect()),
    )?;
    if manifest.parameters.text {
        let texts = parts().filter_map(|part| part.text.as_ref()).collect();
        tables.set_item("text", table("text", texts))?;
    }
    tables.set_item(
        "chunks",
        table("chunks", parts().map(|part| &part.chunks).collect()),
    )?;
    result.set_item("tables", tables)?;
    Ok(result)
}

/// Opens the folder of findings, and verifies the checksums of all tables.
#[pyfunction]
pub(crate) fn open_findings<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyDict>> {
    let opened = py.detach(|| {
        let findings = Findings::open(&path)?;
        findings.verify()?;
        Ok::<Findings, cento_find::Error>(findings)
    });
    findings_dict(py, &opened.map_err(|error| errors::of_library(py, error))?)
}

/// Returns findings as a dict: `analysis`, `path`, `cached`, `record` (`run.json`) and `tables`.
pub(crate) fn findings_dict<'py>(
    py: Python<'py>,
    findings: &Findings,
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("analysis", &findings.record.analysis)?;
    let path = std::path::absolute(&findings.path);
    result.set_item("path", path.as_ref().unwrap_or(&findings.path))?;
    result.set_item("cached", findings.known)?;
    // The text of the file, because Python parses all digits of a number, and serde_json does not.
    // Temporary findings have been removed by now.
    let record = std::fs::read_to_string(findings.path.join(RUN));
    let record = record.unwrap_or_else(|_| serde_json::json!(findings.record).to_string());
    result.set_item("record", record)?;
    let tables = PyDict::new(py);
    for table in &findings.record.report.tables {
        let paths = vec![findings.table(&table.name)];
        let value = ArrowTable::new(&table.name, paths, table.rows);
        tables.set_item(&table.name, value)?;
    }
    result.set_item("tables", tables)?;
    Ok(result)
}
