//! Reading the tables of findings.

use std::fs::File;
use std::path::Path;

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::error::{Error, Result};

/// The rows of a table, a batch at a time.
pub fn read_table(path: &Path) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    let failed = |source: parquet::errors::ParquetError| {
        Error::Store(cento_store::Error::Parquet {
            path: path.to_owned(),
            source,
        })
    };
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .map_err(failed)?;
    let path = path.to_owned();
    Ok(reader.map(move |batch| {
        batch.map_err(|error| {
            Error::Store(cento_store::Error::Parquet {
                path: path.clone(),
                source: error.into(),
            })
        })
    }))
}
