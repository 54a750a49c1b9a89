//! Tables of cento, which may come from somebody else.
//!
//! Corpora, findings and the tables beside labels are Parquet files. Whoever forges one also makes
//! its checksum, so that readers of these tables need the same protection as those of inputs.

use std::fs::File;
use std::io;
use std::path::Path;

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::checked_file::{CheckedFile, PageGrowth, PageHeaderReader};
use super::{checked_footer, guarded, lies_within};
use crate::bytes::Handle;

/// A Parquet file that may be forged. Its metadata is checked before the library parses it, so that
/// a small file cannot claim much time or memory, and panics of the library are errors.
#[derive(Clone)]
pub struct TableFile(CheckedFile);

impl TableFile {
    /// Opens a file.
    pub fn open(path: &Path) -> io::Result<TableFile> {
        let file = Handle::local(File::open(path)?)?;
        Ok(TableFile(CheckedFile::new(file, PageGrowth::ANY, &[])))
    }

    /// Reads the footer.
    pub fn metadata(&self, options: ArrowReaderOptions) -> Result<ArrowReaderMetadata> {
        let file = self.0.handle();
        let metadata = careful(|| {
            checked_footer(file)?;
            // Not through `self`, which takes whatever is read for a page.
            ArrowReaderMetadata::load(file, options)
        })?;
        let groups = metadata.metadata().row_groups().iter();
        let mut columns = groups.flat_map(|group| group.columns());
        if columns.all(|column| lies_within(column, file.length())) {
            return Ok(metadata);
        }
        let problem = "a column extends beyond the file";
        Err(ParquetError::General(problem.to_owned()))
    }

    /// Returns a reader of the rows, to be built by [`TableBatches::of`].
    pub fn reader(
        self,
        metadata: ArrowReaderMetadata,
    ) -> ParquetRecordBatchReaderBuilder<TableFile> {
        let groups = metadata.metadata().row_groups();
        let file = CheckedFile::new(self.0.handle().clone(), PageGrowth::ANY, groups);
        ParquetRecordBatchReaderBuilder::new_with_metadata(TableFile(file), metadata)
    }
}

impl Length for TableFile {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for TableFile {
    type T = TablePageReader;

    fn get_read(&self, start: u64) -> Result<TablePageReader> {
        self.0.get_read(start).map(TablePageReader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// Reads a page of a table.
pub struct TablePageReader(PageHeaderReader);

impl io::Read for TablePageReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

/// The rows of a [`TableFile`], in batches.
pub struct TableBatches(Option<ParquetRecordBatchReader>);

impl TableBatches {
    /// The batches of a reader.
    pub fn of(reader: ParquetRecordBatchReaderBuilder<TableFile>) -> Result<TableBatches> {
        careful(|| reader.build()).map(|reader| TableBatches(Some(reader)))
    }
}

impl Iterator for TableBatches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        let reader = self.0.as_mut()?;
        let batch = careful(|| Ok(reader.next().transpose()?)).transpose();
        // A reader that panicked is in no defined state.
        if batch.as_ref().is_none_or(|batch| batch.is_err()) {
            self.0 = None;
        }
        batch
    }
}

/// Runs the library, and returns its panics as errors.
fn careful<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // Errors keep their type: one of the system stays one.
    guarded(|| Ok::<_, String>(work()))
        .unwrap_or_else(|problem| Err(ParquetError::General(problem)))
}
