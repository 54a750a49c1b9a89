//! Where labels come from: a table beside the file of labels, a row a label, in the same order.
//!
//! ```text
//!   NAME.labels                      the labels
//!   NAME.labels.parquet              text, count, sites, an example of each
//!   NAME.labels.originals.parquet    the originals that they came from, if they came from originals
//! ```
//!
//! Labels are of use without these files: then a match tells that it is one, and not of what.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;
use cento_file::Output;
use cento_flow::{TableRow, table_row};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::error::{Error, Result};
use crate::tables::read_table;

/// Rows that are encoded together, and bytes of them.
const BATCH: usize = 4096;
const BATCH_BYTES: usize = 8 << 20;

table_row! {
    /// A label, and where it comes from.
    #[derive(Debug, Clone, PartialEq)]
    pub struct LabelRow {
        /// Its hash.
        pub hash: [u8; 16],
        /// What it says, up to 256 KiB of it; none for files, and where the corpus keeps no text.
        pub text: Option<String>,
        /// How many bytes that is.
        pub bytes: u64,
        /// How many times it occurs.
        pub count: u64,
        /// On how many pages.
        pub pages: u64,
        /// Of how many domains; null for labels of originals, for which domains are not counted.
        pub sites: Option<u64>,
        /// The first page that has it.
        pub page_id: u64,
        /// The address of that page.
        pub page: String,
        /// The originals that have it, by number.
        pub originals: Vec<u32>,
        /// Why it may be no more than an idiom, if it looks like one.
        pub proposed: Option<String>,
    }
}

table_row! {
    /// An original that labels came from.
    #[derive(Debug, Clone, PartialEq)]
    pub struct OriginalRow {
        /// Its number.
        pub original: u32,
        /// The page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// How many distinct labels it has.
        pub labels: u64,
    }
}

/// What the name of the table of labels has behind that of the labels.
pub(crate) const TABLE: &str = ".parquet";
/// What that of the table of originals has.
pub(crate) const ORIGINALS: &str = ".originals.parquet";

/// The table of labels beside a file of them.
pub fn table_of(labels: &Path) -> PathBuf {
    with_ending(labels, TABLE)
}

/// The table of originals beside a file of labels.
pub fn originals_of(labels: &Path) -> PathBuf {
    with_ending(labels, ORIGINALS)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The labels of a table, in order.
pub fn read_labels(path: &Path) -> Result<impl Iterator<Item = Result<LabelRow>> + use<>> {
    let table = path.to_owned();
    Ok(read_table(path)?.flat_map(move |batch| {
        let rows = batch.and_then(|batch| label_rows(&batch).ok_or_else(|| no_table(&table)));
        each_or_error(rows)
    }))
}

/// The originals of a table, in order.
pub fn read_originals(path: &Path) -> Result<impl Iterator<Item = Result<OriginalRow>> + use<>> {
    let table = path.to_owned();
    Ok(read_table(path)?.flat_map(move |batch| {
        let rows = batch.and_then(|batch| original_rows(&batch).ok_or_else(|| no_table(&table)));
        each_or_error(rows)
    }))
}

fn each_or_error<T>(rows: Result<Vec<T>>) -> Vec<Result<T>> {
    match rows {
        Ok(rows) => rows.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    }
}

fn no_table(path: &Path) -> Error {
    Error::Store(cento_store::Error::Corrupted {
        path: path.to_owned(),
        detail: "it lacks columns that a table beside labels has".to_owned(),
    })
}

pub(crate) fn label_rows(batch: &RecordBatch) -> Option<Vec<LabelRow>> {
    let long = |name| batch.column_by_name(name)?.as_primitive_opt::<UInt64Type>();
    let words = |name| batch.column_by_name(name)?.as_string_opt::<i32>();
    let hashes = batch.column_by_name("hash")?.as_fixed_size_binary_opt()?;
    let (texts, pages_at, proposed) = (words("text")?, words("page")?, words("proposed")?);
    let [bytes, count, pages, sites, page_id] =
        ["bytes", "count", "pages", "sites", "page_id"].map(long);
    let (bytes, count, pages, sites, page_id) = (bytes?, count?, pages?, sites?, page_id?);
    let originals = batch.column_by_name("originals")?.as_list_opt::<i32>()?;
    let word = |column: &arrow_array::StringArray, row: usize| {
        column.is_valid(row).then(|| column.value(row).to_owned())
    };
    (0..batch.num_rows())
        .map(|row| {
            let numbers = originals.value(row);
            Some(LabelRow {
                hash: hashes.value(row).try_into().ok()?,
                text: word(texts, row),
                bytes: bytes.value(row),
                count: count.value(row),
                pages: pages.value(row),
                sites: sites.is_valid(row).then(|| sites.value(row)),
                page_id: page_id.value(row),
                page: pages_at.value(row).to_owned(),
                originals: numbers.as_primitive_opt::<UInt32Type>()?.values().to_vec(),
                proposed: word(proposed, row),
            })
        })
        .collect()
}

pub(crate) fn original_rows(batch: &RecordBatch) -> Option<Vec<OriginalRow>> {
    let long = |name| batch.column_by_name(name)?.as_primitive_opt::<UInt64Type>();
    let number = batch
        .column_by_name("original")?
        .as_primitive_opt::<UInt32Type>()?;
    let (page_id, labels) = (long("page_id")?, long("labels")?);
    let page = batch.column_by_name("page")?.as_string_opt::<i32>()?;
    let rows = (0..batch.num_rows()).map(|row| OriginalRow {
        original: number.value(row),
        page_id: page_id.value(row),
        page: page.value(row).to_owned(),
        labels: labels.value(row),
    });
    Some(rows.collect())
}

/// Writes a table of rows, aside; it takes its name when it is whole.
pub struct TableFile<T: TableRow> {
    path: PathBuf,
    schema: Arc<Schema>,
    writer: Option<ArrowWriter<Output>>,
    columns: T::Columns,
    rows: usize,
    bytes: usize,
}

impl<T: TableRow> TableFile<T> {
    /// Begins a table.
    pub fn create(path: &Path) -> Result<TableFile<T>> {
        let file = Output::create(path).map_err(|error| Error::io(path, error))?;
        let schema = Arc::new(Schema::new(T::fields()));
        let level = ZstdLevel::try_new(1).unwrap_or_default();
        let properties = WriterProperties::builder()
            .set_created_by("cento".to_owned())
            .set_compression(Compression::ZSTD(level))
            .build();
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))
            .map_err(|error| failed(path, error))?;
        Ok(TableFile {
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

    /// Writes what is left, and gives the table its name.
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
    fn rows_read_back_and_a_broken_table_leaves_nothing() {
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
        let mut table = TableFile::create(&path).unwrap();
        for number in 0..5 {
            table.push(row(number)).unwrap();
        }
        table.finish().unwrap();
        let mut broken = TableFile::<LabelRow>::create(&path).unwrap();
        broken.push(row(9)).unwrap();
        drop(broken);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let rows: Vec<LabelRow> = read_labels(&path).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows, (0..5).map(row).collect::<Vec<_>>());
        // A table of another kind is an error, and no panic.
        assert!(read_originals(&path).unwrap().next().unwrap().is_err());
    }
}
