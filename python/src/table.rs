//! Tables through the Arrow PyCapsule interface.
//!
//! A table is one or more Parquet files with the same columns. Each consumer reads them again, one
//! batch at a time, and gets the batches that the reader made: they are not copied. Nothing here is
//! unsafe: `arrow-array` implements the C structures, and a capsule owns its structure until the
//! consumer moves it out.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use cento_find::row_values;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::{Map, Value};

use crate::errors;

/// A table in Parquet files.
#[pyclass(frozen, module = "cento._cento")]
#[derive(Debug, Clone)]
pub(crate) struct ArrowTable {
    /// Its name.
    #[pyo3(get)]
    name: String,
    /// Its files, in order.
    #[pyo3(get)]
    paths: Vec<PathBuf>,
    /// What identifies the files that were opened; none for a file that could not be examined.
    stamps: Vec<Option<FileStamp>>,
    /// How many rows it has.
    #[pyo3(get)]
    rows: u64,
}

/// What changes if a file is replaced: device, inode, size, and time of modification.
type FileStamp = (u64, u64, u64, i64, i64);

fn stamp(about: &Metadata) -> FileStamp {
    let time = (about.mtime(), about.mtime_nsec());
    (about.dev(), about.ino(), about.len(), time.0, time.1)
}

impl ArrowTable {
    /// A table in these files. Their paths become absolute: the process may change its folder.
    pub(crate) fn new(name: &str, paths: Vec<PathBuf>, rows: u64) -> ArrowTable {
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let paths: Vec<PathBuf> = paths.into_iter().map(absolute).collect();
        let about = paths.iter().map(|path| path.metadata().ok());
        ArrowTable {
            name: name.to_owned(),
            stamps: about.map(|about| about.as_ref().map(stamp)).collect(),
            paths,
            rows,
        }
    }

    /// Opens all files, one after the other, and returns their batches.
    fn batches(&self) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + use<> {
        let files = self.paths.clone().into_iter().zip(self.stamps.clone());
        files.flat_map(|(path, stamp)| {
            let (batches, failure) = match open(&path, stamp) {
                Ok((_, reader)) => (Some(reader), None),
                Err(error) => (None, Some(Err(error))),
            };
            failure.into_iter().chain(batches.into_iter().flatten())
        })
    }

    fn schema(&self) -> Result<SchemaRef, ArrowError> {
        match self.paths.first().zip(self.stamps.first()) {
            Some((path, stamp)) => Ok(open(path, *stamp)?.0),
            None => Ok(SchemaRef::new(Schema::empty())),
        }
    }
}

/// Opens a file, which must be the one that it was when the table was opened.
fn open(
    path: &Path,
    expected: Option<FileStamp>,
) -> Result<(SchemaRef, ParquetRecordBatchReader), ArrowError> {
    let named = |error: &dyn std::fmt::Display| {
        ArrowError::ParquetError(format!("{}: {error}", path.display()))
    };
    let file = File::open(path).map_err(|error| named(&error))?;
    let about = file.metadata().map_err(|error| named(&error))?;
    if expected.is_some_and(|expected| expected != stamp(&about)) {
        return Err(named(&"it was replaced since the table was opened"));
    }
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| named(&error))?;
    let schema = SchemaRef::clone(builder.schema());
    let reader = builder.build().map_err(|error| named(&error))?;
    Ok((schema, reader))
}

#[pymethods]
impl ArrowTable {
    /// The names of the columns.
    #[getter]
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let schema = self.schema().map_err(|error| failed(py, &error))?;
        let fields = schema.fields().iter();
        Ok(fields.map(|field| field.name().clone()).collect())
    }

    /// The first rows, as JSON Lines.
    fn json_lines(&self, py: Python<'_>, limit: usize) -> PyResult<Vec<String>> {
        let read = || -> Result<Vec<String>, ArrowError> {
            let mut lines = Vec::new();
            for batch in self.batches() {
                let batch = batch?;
                for row in 0..batch.num_rows().min(limit - lines.len()) {
                    let values = row_values(&batch, row);
                    let object: Map<String, Value> = values
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect();
                    lines.push(Value::Object(object).to_string());
                }
                if lines.len() == limit {
                    break;
                }
            }
            Ok(lines)
        };
        py.detach(read).map_err(|error| failed(py, &error))
    }

    /// The Arrow stream of all rows. A requested schema is ignored, as the interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let schema = self.schema().map_err(|error| failed(py, &error))?;
        let reader = RecordBatchIterator::new(self.batches(), schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The Arrow schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = self.schema().map_err(|error| failed(py, &error))?;
        let schema = FFI_ArrowSchema::try_from(schema.as_ref());
        let schema = schema.map_err(|error| failed(py, &error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

/// A table that was checked when it was opened and cannot be read is damaged, or was removed.
fn failed(py: Python<'_>, error: &ArrowError) -> PyErr {
    match error {
        // Without the name of the variant.
        ArrowError::ParquetError(message) => errors::corrupted(py, message),
        other => errors::corrupted(py, &other.to_string()),
    }
}
