//! What a task of a flow has written, and how it is packed for the cluster.

use cento_flow::{SentState, TaskRows};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;
use std::ops::Range;

use crate::errors;

/// The output of a task of a flow. Rows that exceed its memory are in a temporary file.
#[pyclass(frozen, module = "cento._cento")]
pub(crate) struct TaskOutput {
    rows: TaskRows,
}

impl TaskOutput {
    pub(crate) fn new(rows: TaskRows) -> TaskOutput {
        TaskOutput { rows }
    }
}

#[pymethods]
impl TaskOutput {
    /// The counters of the task.
    #[getter]
    fn counters(&self) -> BTreeMap<String, u64> {
        self.rows.counters().clone()
    }

    /// The number of rows for each shuffle and table.
    #[getter]
    fn rows(&self) -> BTreeMap<String, u64> {
        self.rows.rows()
    }

    /// The bytes of memory that it occupies.
    #[getter]
    fn memory(&self) -> u64 {
        self.rows.memory()
    }

    /// The states of the task.
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let states = PyDict::new(py);
        for (name, state) in self.rows.states() {
            states.set_item(name, state_bytes(py, state)?)?;
        }
        Ok(states)
    }
}

/// Serialises a state.
pub(crate) fn state_bytes<'py>(
    py: Python<'py>,
    state: &SentState,
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, state.size() as usize, |buffer| {
        let written = state.write(buffer);
        written.map_err(|error| errors::of_flow(py, error))
    })
}

/// Packs some partitions of a shuffle from several outputs into one buffer: the number of
/// partitions, their sizes, and their rows. Numbers have eight bytes and are little-endian. Returns
/// the buffer and the sizes.
#[pyfunction]
pub(crate) fn pack<'py>(
    py: Python<'py>,
    outputs: Vec<PyRef<'py, TaskOutput>>,
    name: &str,
    begin: usize,
    end: usize,
) -> PyResult<(Bound<'py, PyBytes>, Vec<u64>)> {
    let outputs: Vec<&TaskRows> = outputs.iter().map(|output| &output.rows).collect();
    let failed = |error| errors::of_flow(py, error);
    let mut sizes = Vec::with_capacity(end.saturating_sub(begin));
    for partition in begin..end {
        let size = |rows: &&TaskRows| rows.size(name, partition);
        let of_outputs: Result<Vec<u64>, _> = outputs.iter().map(size).collect();
        sizes.push(of_outputs.map_err(failed)?.iter().sum::<u64>());
    }
    let head = 8 * (sizes.len() + 1);
    let all = head + sizes.iter().sum::<u64>() as usize;
    let buffer = PyBytes::new_with(py, all, |buffer| {
        fill(&outputs, name, begin..end, &sizes, buffer).map_err(failed)
    })?;
    Ok((buffer, sizes))
}

fn fill(
    outputs: &[&TaskRows],
    name: &str,
    partitions: Range<usize>,
    sizes: &[u64],
    buffer: &mut [u8],
) -> Result<(), cento_flow::Error> {
    let (head, mut rest) = buffer.split_at_mut(8 * (sizes.len() + 1));
    let numbers = std::iter::once(sizes.len() as u64).chain(sizes.iter().copied());
    for (slot, number) in head.chunks_exact_mut(8).zip(numbers) {
        slot.copy_from_slice(&number.to_le_bytes());
    }
    for partition in partitions {
        for rows in outputs {
            let size = rows.size(name, partition)? as usize;
            let (now, later) = rest.split_at_mut(size);
            rows.read(name, partition, now)?;
            rest = later;
        }
    }
    Ok(())
}
