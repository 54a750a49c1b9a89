//! The tables beside a file of labels: what the labels are and where they come from.
//!
//! ```text
//!   NAME.labels                      the labels
//!   NAME.labels.parquet              one row per label, in order: text, counts, an example
//!   NAME.labels.originals.parquet    the originals of the labels, if they were made from originals
//! ```
//!
//! Labels can be used without these tables; matches then have neither texts nor originals. A table
//! of labels without its table of originals cannot be used.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use cento_file::Output;
use cento_flow::{TableRow, table_row};
use cento_labels::Labels;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::discover::LABELS_TABLE;
use crate::error::{Error, Result};
use crate::run::Findings;
use crate::tables::{batches_of, open, read_rows, table_columns};

/// The most rows, and bytes, that are encoded together.
const BATCH: usize = 4096;
const BATCH_BYTES: usize = 8 << 20;

table_row! {
    /// A label and its provenance.
    #[derive(Debug, Clone, PartialEq)]
    pub struct LabelRow {
        /// Its hash.
        pub hash: [u8; 16],
        /// Its text, up to 256 KiB; null for files, and if the corpus has no text.
        pub text: Option<String>,
        /// The bytes of its text.
        pub bytes: u64,
        /// The number of occurrences.
        pub count: u64,
        /// The number of pages it occurs on.
        pub pages: u64,
        /// The number of domains of these pages; null for labels of originals, for which domains
        /// are not counted.
        pub sites: Option<u64>,
        /// The first page that has it.
        pub page_id: u64,
        /// The URL of that page.
        pub page: String,
        /// The originals that have it, by number.
        pub originals: Vec<u32>,
        /// Why it is proposed as a stop, if it looks like boilerplate.
        pub proposed: Option<String>,
    }
}

table_row! {
    /// An original that labels were made from.
    #[derive(Debug, Clone, PartialEq)]
    pub struct OriginalRow {
        /// Its number.
        pub original: u32,
        /// The page.
        pub page_id: u64,
        /// Its URL.
        pub page: String,
        /// The number of its distinct labels.
        pub labels: u64,
    }
}

/// The suffix of the table of labels.
pub(crate) const TABLE: &str = ".parquet";
/// The suffix of the table of originals.
pub(crate) const ORIGINALS: &str = ".originals.parquet";

/// Returns the path of the table beside a file of labels.
pub fn table_of(labels: &Path) -> PathBuf {
    with_ending(labels, TABLE)
}

/// Returns the path of the table of originals beside a file of labels.
pub fn originals_of(labels: &Path) -> PathBuf {
    with_ending(labels, ORIGINALS)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Verifies the tables beside labels. Labels can be used without both tables, or without that of
/// labels; but the table of labels names its originals by the numbers in the other one.
pub fn verify_tables(labels: &Labels) -> Result<()> {
    if table_of(labels.path()).is_file() {
        labels.check_sidecars_exist(&[ORIGINALS])?;
    }
    let path = match labels.verify_sidecars() {
        Err(cento_labels::Error::SidecarMismatch { path, .. }) => path,
        outcome => return Ok(outcome?),
    };
    // The footer of a table is at its end: a table of another size that has one is complete, so it
    // was written with other labels. Damage that keeps the size can be anywhere.
    let mut sidecars = labels.header().sidecars.iter();
    let bytes = path.metadata().map_or(0, |file| file.len());
    let is_written_size = sidecars.any(|sidecar| {
        with_ending(labels.path(), &sidecar.ending) == path && sidecar.bytes == bytes
    });
    let is_whole = is_table_of::<LabelRow>(&path) || is_table_of::<OriginalRow>(&path);
    let labels = labels.path().to_owned();
    Err(match !is_written_size && is_whole {
        true => Error::OtherLabels { path, labels },
        false => cento_labels::Error::SidecarMismatch { path, labels }.into(),
    })
}

/// Fails if a table that was written with the labels is missing or is not the one that was written.
pub fn verify_all_tables(labels: &Labels) -> Result<()> {
    labels.check_sidecars_exist(&[TABLE, ORIGINALS])?;
    verify_tables(labels)
}

/// Returns whether a file is a table with the columns of these rows. More columns may follow: those
/// that identify pages of tables.
pub fn is_table_of<T: TableRow>(path: &Path) -> bool {
    let fields = T::fields();
    table_columns(path).is_ok_and(|columns| {
        let mut columns = columns.iter();
        fields
            .iter()
            .all(|field| columns.next() == Some(field.name()))
    })
}

/// Copies the labels of findings that are not proposed as stops to a table beside theirs, with all
/// columns. Returns its path, and how often these labels occur.
pub fn without_proposals(findings: &Findings) -> Result<(PathBuf, u64)> {
    let path = findings.table("labels-without-proposals");
    let table = open(&findings.table(LABELS_TABLE.as_str()))?;
    // Findings may come from a stranger: links in them are not followed.
    let file = Output::within(&path).map_err(|error| Error::io(&path, error))?;
    let wrong = |error| failed(&path, error);
    let mut writer = ArrowWriter::try_new(file, Arc::clone(table.schema()), Some(properties()))
        .map_err(wrong)?;
    let mut occurrences: u64 = 0;
    for batch in batches_of(&path, table)? {
        let batch = batch?;
        let rows = LabelRow::read(&batch);
        let rows = rows.map_err(|error| Error::corrupted(&path, error.to_string()))?;
        for (at, row) in rows.iter().enumerate() {
            if row.proposed.is_none() {
                occurrences = occurrences.saturating_add(row.count);
                writer.write(&batch.slice(at, 1)).map_err(wrong)?;
            }
        }
    }
    let file = writer.into_inner().map_err(wrong)?;
    file.finish().map_err(|error| Error::io(&path, error))?;
    Ok((path, occurrences))
}

/// Reads the labels of a table, in order.
pub fn read_labels(path: &Path) -> Result<impl Iterator<Item = Result<LabelRow>> + use<>> {
    read_rows(path)
}

/// Reads the originals of a table, in order.
pub fn read_originals(path: &Path) -> Result<impl Iterator<Item = Result<OriginalRow>> + use<>> {
    read_rows(path)
}

/// Writes a table to a temporary file, which is renamed when it is complete.
pub struct TableOutput<T: TableRow> {
    path: PathBuf,
    schema: Arc<Schema>,
    writer: Option<ArrowWriter<Output>>,
    columns: T::Columns,
    rows: usize,
    bytes: usize,
}

impl<T: TableRow> TableOutput<T> {
    /// Creates a table.
    pub fn create(path: &Path) -> Result<TableOutput<T>> {
        let file = Output::create(path).map_err(|error| Error::io(path, error))?;
        let schema = Arc::new(Schema::new(T::fields()));
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties()))
            .map_err(|error| failed(path, error))?;
        Ok(TableOutput {
            path: path.to_owned(),
            schema,
            writer: Some(writer),
            columns: T::columns(),
            rows: 0,
            bytes: 0,
        })
    }

    /// Adds a row.
    pub fn push(&mut self, row: T) -> Result<()> {
        self.bytes += row.append(&mut self.columns);
        self.rows += 1;
        if self.rows >= BATCH || self.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        (self.rows, self.bytes) = (0, 0);
        let columns = T::finish(&mut self.columns);
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(Into::into)
            .and_then(|batch| writer.write(&batch))
            .map_err(|error| failed(&self.path, error))
    }

    /// Writes the remaining rows and renames the table.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        if let Some(writer) = self.writer.take() {
            let file = writer
                .into_inner()
                .map_err(|error| failed(&self.path, error))?;
            file.finish_synced()
                .map_err(|error| Error::io(&self.path, error))?;
        }
        Ok(())
    }
}

fn properties() -> WriterProperties {
    let level = ZstdLevel::try_new(1).unwrap_or_default();
    WriterProperties::builder()
        .set_created_by("cento".to_owned())
        .set_compression(Compression::ZSTD(level))
        .build()
}

fn failed(path: &Path, source: parquet::errors::ParquetError) -> Error {
    Error::Store(cento_store::Error::Parquet {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_read_back_and_an_unfinished_table_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.labels.parquet");
        let row = |number: u8| LabelRow {
            hash: [number; 16],
            text: (number > 1).then(|| "text".to_owned()),
            bytes: 4,
            count: 2,
            pages: 2,
            sites: Some(1),
            page_id: 7,
            page: "http://a.example/".to_owned(),
            originals: vec![3; usize::from(number)],
            proposed: None,
        };
        let mut table = TableOutput::create(&path).unwrap();
        for number in 0..5 {
            table.push(row(number)).unwrap();
        }
        table.finish().unwrap();
        let mut broken = TableOutput::<LabelRow>::create(&path).unwrap();
        broken.push(row(9)).unwrap();
        drop(broken);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let rows: Vec<LabelRow> = read_labels(&path).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows, (0..5).map(row).collect::<Vec<_>>());
        // A different table is an error.
        assert!(read_originals(&path).unwrap().next().unwrap().is_err());
    }
}
