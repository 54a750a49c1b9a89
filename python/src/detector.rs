//! Labels in single texts.

use std::path::PathBuf;
use std::sync::Arc;

use cento_labels::{Detector, LabelKind, Labels};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::texts::{CharOffsets, Extent};

/// Finds labels in texts.
#[pyclass(frozen, name = "Detector", module = "cento._cento")]
pub(crate) struct PyDetector {
    labels: Arc<Labels>,
}

#[pymethods]
impl PyDetector {
    #[new]
    fn new(py: Python<'_>, labels: PathBuf, mapped: bool) -> PyResult<PyDetector> {
        let opened = py.detach(|| match mapped {
            true => Labels::open(&labels),
            false => Labels::load(&labels),
        });
        let labels = opened.map_err(|error| errors::of_library(py, error))?;
        if labels.header().recipe.of != LabelKind::Chunks {
            let message = format!(
                "{}: the labels are hashes of files, and cannot be found in texts",
                labels.path().display()
            );
            return Err(errors::usage(py, &message));
        }
        Ok(PyDetector {
            labels: Arc::new(labels),
        })
    }

    /// The number of labels.
    fn __len__(&self) -> usize {
        usize::try_from(self.labels.len()).unwrap_or(usize::MAX)
    }

    /// What the labels are hashes of, as JSON.
    #[getter]
    fn recipe(&self) -> String {
        serde_json::json!(self.labels.header().recipe).to_string()
    }

    /// Returns the counts of a text, and the places and hashes of the labels in it.
    fn check<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
        let (verdict, found) = py.detach(|| {
            let mut found: Vec<(Extent, String)> = Vec::new();
            let mut offsets = CharOffsets::new(text);
            let verdict = Detector::new(&self.labels).page_with(text, |one| {
                let hash = self.labels.get(one.label).unwrap_or_default();
                let hash = hash.map(|byte| format!("{byte:02x}")).concat();
                found.push((offsets.range(&one.range), hash));
            });
            (verdict, found)
        });
        let result = PyDict::new(py);
        result.set_item("chunks", verdict.chunks)?;
        result.set_item("stopped", verdict.stopped)?;
        result.set_item("matched", verdict.matched)?;
        result.set_item("contains", verdict.contains())?;
        result.set_item("found", found)?;
        Ok(result)
    }
}
