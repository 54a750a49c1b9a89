//! Reads the tables of findings.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use arrow_array::RecordBatch;
use cento_flow::TableRow;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use crate::error::{Error, Result};

/// Reads a table in batches.
pub fn read_table(path: &Path) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .map_err(|error| unreadable(path, error))?;
    let path = path.to_owned();
    Ok(reader.map(move |batch| batch.map_err(|error| unreadable(&path, error.into()))))
}

/// Reads the rows of a table as the struct that wrote them.
pub fn read_rows<T: TableRow>(path: &Path) -> Result<impl Iterator<Item = Result<T>> + use<T>> {
    let path = path.to_owned();
    let batches = read_table(&path)?.map(move |batch| {
        T::read(&batch?).map_err(|error| Error::corrupted(&path, error.to_string()))
    });
    Ok(batches.flat_map(|rows| {
        let (rows, error) = match rows {
            Ok(rows) => (rows, None),
            Err(error) => (Vec::new(), Some(Err(error))),
        };
        rows.into_iter().map(Ok).chain(error)
    }))
}

/// Reads some consecutive rows of a table. Row groups and blocks without these rows are not read.
pub fn read_row_range<T: TableRow>(path: &Path, rows: Range<u64>) -> Result<Vec<T>> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let count = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(|reader| {
            reader
                .with_offset(count(rows.start))
                .with_limit(count(rows.end.saturating_sub(rows.start)))
                .build()
        })
        .map_err(|error| unreadable(path, error))?;
    let mut found = Vec::new();
    for batch in reader {
        let batch = batch.map_err(|error| unreadable(path, error.into()))?;
        let rows = T::read(&batch).map_err(|error| Error::corrupted(path, error.to_string()))?;
        found.extend(rows);
    }
    Ok(found)
}

/// Returns the names of the columns of a table.
pub fn table_columns(path: &Path) -> Result<Vec<String>> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| unreadable(path, error))?;
    let fields = reader.schema().fields().iter();
    Ok(fields.map(|field| field.name().clone()).collect())
}

/// Returns the number of rows of each row group of a table.
pub(crate) fn group_rows(path: &Path) -> Result<Vec<u64>> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| unreadable(path, error))?;
    let groups = reader.metadata().row_groups().iter();
    Ok(groups
        .map(|group| u64::try_from(group.num_rows()).unwrap_or(0))
        .collect())
}

/// Reads one row group of a table in batches.
pub(crate) fn open_groups(
    path: &Path,
    group: usize,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .map(|reader| reader.with_row_groups(vec![group]))
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .map_err(|error| unreadable(path, error))?;
    let path = path.to_owned();
    Ok(reader.map(move |batch| batch.map_err(|error| unreadable(&path, error.into()))))
}

fn unreadable(path: &Path, error: ParquetError) -> Error {
    Error::Store(cento_store::Error::Parquet {
        path: path.to_owned(),
        source: error,
    })
}
