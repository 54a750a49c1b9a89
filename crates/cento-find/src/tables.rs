//! Reads the tables of findings.

use std::ops::Range;
use std::path::Path;

use arrow_array::RecordBatch;
use cento_flow::TableRow;
use cento_read::{TableBatches, TableFile};
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use crate::error::{Error, Result};

/// Reads a table in batches.
pub fn read_table(path: &Path) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    batches_of(path, open(path)?)
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
    let count = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
    let reader = open(path)?
        .with_offset(count(rows.start))
        .with_limit(count(rows.end.saturating_sub(rows.start)));
    let mut found = Vec::new();
    for batch in batches_of(path, reader)? {
        let rows = T::read(&batch?).map_err(|error| Error::corrupted(path, error.to_string()))?;
        found.extend(rows);
    }
    Ok(found)
}

/// Returns the names of the columns of a table.
pub fn table_columns(path: &Path) -> Result<Vec<String>> {
    let reader = open(path)?;
    let fields = reader.schema().fields().iter();
    Ok(fields.map(|field| field.name().clone()).collect())
}

/// Returns the number of rows of each row group of a table.
pub(crate) fn group_rows(path: &Path) -> Result<Vec<u64>> {
    let reader = open(path)?;
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
    batches_of(path, open(path)?.with_row_groups(vec![group]))
}

/// Opens a table.
pub(crate) fn open(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<TableFile>> {
    let file = TableFile::open(path).map_err(|error| Error::io(path, error))?;
    let metadata = file.metadata(ArrowReaderOptions::new());
    let metadata = metadata.map_err(|error| unreadable(path, error))?;
    Ok(file.reader(metadata))
}

/// Returns the batches of a reader of a table.
pub(crate) fn batches_of(
    path: &Path,
    reader: ParquetRecordBatchReaderBuilder<TableFile>,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    let batches = TableBatches::of(reader).map_err(|error| unreadable(path, error))?;
    let path = path.to_owned();
    Ok(batches.map(move |batch| batch.map_err(|error| unreadable(&path, error))))
}

fn unreadable(path: &Path, error: ParquetError) -> Error {
    Error::Store(cento_store::Error::Parquet {
        path: path.to_owned(),
        source: error,
    })
}
