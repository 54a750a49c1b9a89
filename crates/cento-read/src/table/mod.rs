//! Parquet: one page per row.
//!
//! Only the needed columns are read, a few megabytes of rows at a time. Strings are read as views
//! into the decoded pages: a long text that a dictionary shares among a million rows is held once,
//! not a million times.

mod checked_file;
mod column;
mod replace;
mod shape;
mod table_file;
mod thrift;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::RecordBatch;
use checked_file::{CheckedFile, PageGrowth};
use column::{InputColumn, TableCell};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, FooterTail, ParquetMetaData, ParquetMetaDataReader,
};
use parquet::file::reader::ChunkReader;
pub(crate) use replace::replace_texts;
pub use table_file::{TableBatches, TableFile};

use crate::bytes::Handle;
use crate::reader::{RecordReader, following};
use crate::record::{RecordBody, RecordMetadata};
use crate::{Cause, Error, Item, Limits, Place, Record, Role, Settings, Skipped, Start};
use sha1::{Digest, Sha1};

/// The number of bytes of values to decode at a time.
const BATCH_BYTES: u64 = 4 << 20;

/// The maximum number of rows to decode at a time.
const BATCH_ROWS: u64 = 1024;

/// The last bytes of a file: the length of the footer and the magic number.
const FOOTER: u64 = 8;

/// Reads a Parquet file.
pub(crate) struct TableReader {
    file: Handle,
    bytes: u64,
    input: Arc<str>,
    metadata: ArrowReaderMetadata,
    projection: ProjectionMask,
    columns: Vec<InputColumn>,
    max_page_bytes: u64,
    growth: PageGrowth,
    /// The row group being read, and the first row after it.
    group: usize,
    group_end: u64,
    reader: Option<ParquetRecordBatchReader>,
    batch: Option<RecordBatch>,
    /// The current row in the batch, and in the table.
    at: usize,
    row: u64,
}

impl TableReader {
    /// Opens `file` at the row `from`.
    pub(crate) fn open(
        file: Handle,
        input: Arc<str>,
        settings: &Settings,
        from: Start,
    ) -> Result<Self, Error> {
        let bad = |problem: String| Error::BadTable {
            name: input.to_string(),
            problem,
        };
        let metadata = guarded(|| load(&file)).map_err(|problem| match file.failure() {
            Some(error) => Error::from_io(&input, error),
            None => bad(problem),
        })?;
        let columns = column::choose(metadata.schema(), &settings.fields, &input)?;
        let projection = ProjectionMask::columns(
            metadata.parquet_schema(),
            columns.iter().map(|column| column.name.as_str()),
        );
        Ok(TableReader {
            bytes: file.length(),
            file,
            input,
            metadata,
            projection,
            columns,
            max_page_bytes: settings.limits.max_page_bytes,
            growth: PageGrowth::within(&settings.limits),
            group: 0,
            group_end: 0,
            reader: None,
            batch: None,
            at: 0,
            row: u64::from(from.ordinal),
        })
    }

    /// The number of rows of a row group. A wrong number is detected while reading.
    fn rows_of(&self, group: usize) -> u64 {
        let rows = self.metadata.metadata().row_group(group).num_rows();
        u64::try_from(rows).unwrap_or(0)
    }

    /// Opens the row group that contains the current row. Returns whether there is one.
    fn next_group(&mut self) -> Result<bool, String> {
        let groups = self.metadata.metadata().num_row_groups();
        while self.group_end <= self.row {
            if self.group == groups {
                return Ok(false);
            }
            self.group_end = self.group_end.saturating_add(self.rows_of(self.group));
            self.group += 1;
        }
        let group = self.group - 1;
        let begin = self.group_end - self.rows_of(group);
        let mut size = 0u64;
        for (leaf, column) in self
            .metadata
            .metadata()
            .row_group(group)
            .columns()
            .iter()
            .enumerate()
        {
            if self.projection.leaf_included(leaf) {
                let unpacked = u64::try_from(column.uncompressed_size()).unwrap_or(0);
                size = size.saturating_add(unpacked);
            }
        }
        let each = size / self.rows_of(group).max(1);
        let rows = (BATCH_BYTES / each.max(1)).clamp(1, BATCH_ROWS);
        let included = |leaf| self.projection.leaf_included(leaf);
        check_group(&self.file, self.metadata.metadata(), group, included)?;
        let read = std::slice::from_ref(self.metadata.metadata().row_group(group));
        let file = CheckedFile::new(self.file.clone(), self.growth, read);
        let reader = guarded(|| {
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_row_groups(vec![group])
                .with_offset((self.row - begin) as usize)
                .with_projection(self.projection.clone())
                .with_batch_size(rows as usize)
                .build()
        })?;
        self.reader = Some(reader);
        Ok(true)
    }

    /// Decodes the batch that contains the current row. Returns whether there is one.
    fn next_batch(&mut self) -> Result<bool, String> {
        loop {
            if let Some(batch) = &self.batch
                && self.at < batch.num_rows()
            {
                return Ok(true);
            }
            self.batch = None;
            self.at = 0;
            match &mut self.reader {
                None => {
                    if !self.next_group()? {
                        return Ok(false);
                    }
                }
                Some(reader) => {
                    let batch = guarded(|| reader.next().transpose())?;
                    let present = batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
                    if batch.is_none() {
                        self.reader = None;
                        if self.row < self.group_end {
                            return Err(format!("{} rows are missing", self.group_end - self.row));
                        }
                    } else if present > self.group_end.saturating_sub(self.row) {
                        return Err("there are too many rows".into());
                    }
                    self.batch = batch
                        .map(|batch| column::normalised(&batch, &self.columns))
                        .transpose()?;
                }
            }
        }
    }

    fn place(&self, next: u64) -> Result<Place, Error> {
        let ordinal = |row: u64| {
            u32::try_from(row).map_err(|_| Error::TooManyRecords {
                name: self.input.to_string(),
            })
        };
        Ok(Place {
            ordinal: ordinal(self.row)?,
            offset: self.row,
            length: 0,
            next: Start {
                ordinal: ordinal(next)?,
                offset: next,
                skip: 0,
            },
        })
    }

    fn record(&self, batch: &RecordBatch, place: Place) -> Item {
        let cell = |role: Role| {
            self.columns
                .iter()
                .enumerate()
                .filter(|(_, column)| column.role == role)
                .find_map(|(at, column)| column.cell(batch, at, self.at))
        };
        let text = |role: Role| cell(role).map(TableCell::into_text);
        let (role, body) = match (cell(Role::Text), cell(Role::Html)) {
            (Some(cell), _) => (Role::Text, cell),
            (None, Some(cell)) => (Role::Html, cell),
            (None, None) => {
                let names = self
                    .columns
                    .iter()
                    .filter(|column| matches!(column.role, Role::Text | Role::Html));
                let names: Vec<_> = names.map(|column| column.name.as_str()).collect();
                return Item::Skipped(Skipped {
                    place,
                    cause: Cause::MissingField,
                    detail: format!("{} is null", names.join(" and ")),
                });
            }
        };
        let mime = match role {
            Role::Html => "text/html",
            _ => "text/plain",
        };
        let bytes = body.bytes();
        let body = if bytes.len() as u64 > self.max_page_bytes {
            RecordBody::TooLarge {
                head: Vec::new(),
                http: false,
                bytes: bytes.len() as u64,
                sha1: Sha1::digest(bytes).into(),
            }
        } else {
            match (body, role) {
                (TableCell::Text(text), Role::Html) => RecordBody::Html(text.into_owned()),
                (TableCell::Text(text), _) => RecordBody::Text(text.into_owned()),
                (TableCell::Bytes(bytes), _) => RecordBody::Bytes(bytes.to_vec()),
            }
        };
        let id = text(Role::Id).filter(|id| !id.is_empty());
        Item::Record(Record {
            place,
            url: text(Role::Url).or_else(|| id.clone()),
            ip: text(Role::Ip),
            fetched: None,
            input: self.input.clone(),
            metadata: RecordMetadata {
                published: text(Role::Date),
                title: text(Role::Title),
                language: text(Role::Language),
                mime: Some(mime.to_owned()),
                sha1: None,
                id,
                row: Some(place.offset),
            },
            body,
        })
    }
}

impl RecordReader for TableReader {
    fn next(&mut self) -> Result<Option<Item>, Error> {
        match self.next_batch() {
            Ok(false) => Ok(None),
            Ok(true) => {
                let place = self.place(self.row + 1)?;
                following(place.ordinal, &self.input)?;
                let item = self.batch.as_ref().map(|batch| self.record(batch, place));
                self.at += 1;
                self.row += 1;
                Ok(item)
            }
            // The rows after a damaged page cannot be located, so the rest of its row group is
            // lost.
            Err(detail) => {
                if let Some(error) = self.file.failure() {
                    return Err(Error::from_io(&self.input, error));
                }
                let next = self.group_end.max(self.row + 1);
                let place = self.place(next)?;
                self.reader = None;
                self.batch = None;
                self.at = 0;
                self.row = next;
                Ok(Some(Item::Skipped(Skipped {
                    place,
                    cause: Cause::BadTable,
                    detail: format!("{detail} ({} rows lost)", next - place.offset),
                })))
            }
        }
    }

    fn bytes_read(&self) -> u64 {
        let rows = self.metadata.metadata().file_metadata().num_rows();
        let part = self.row as f64 / (rows.max(1) as f64);
        (self.bytes as f64 * part.min(1.0)) as u64
    }
}

/// Reads the footer, with all strings as views.
fn load(file: &Handle) -> Result<ArrowReaderMetadata, ParquetError> {
    // The Arrow types of the writer are not needed, and would have to be converted: dictionaries,
    // wide offsets.
    let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = ArrowReaderMetadata::try_new(footer(file)?, plain.clone())?;
    let schema = Arc::new(column::with_views(metadata.schema()));
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), plain.with_schema(schema))
}

/// Reads the footer.
fn footer(file: &Handle) -> Result<Arc<ParquetMetaData>, ParquetError> {
    let footer = checked_footer(file)?;
    Ok(Arc::new(ParquetMetaDataReader::decode_metadata(&footer)?))
}

/// Returns the bytes of the footer, which the library may parse.
fn checked_footer(file: &Handle) -> Result<::bytes::Bytes, ParquetError> {
    let beyond = || ParquetError::EOF("the footer is truncated".into());
    let tail = file.length().checked_sub(FOOTER).ok_or_else(beyond)?;
    let end = FooterTail::try_from(&file.get_bytes(tail, FOOTER as usize)?[..])?;
    if end.is_encrypted_footer() {
        return Err(ParquetError::General("the file is encrypted".into()));
    }
    let length = end.metadata_length();
    let begin = tail.checked_sub(length as u64).ok_or_else(beyond)?;
    let footer = file.get_bytes(begin, length)?;
    thrift::walk_footer(&footer)?;
    Ok(footer)
}

/// A table with all columns and their types, for copying.
pub(crate) struct WholeTable {
    file: Handle,
    metadata: ArrowReaderMetadata,
    growth: PageGrowth,
}

impl WholeTable {
    pub(crate) fn open(file: Handle, limits: &Limits) -> Result<WholeTable, String> {
        let metadata = guarded(|| {
            footer(&file)
                .and_then(|footer| ArrowReaderMetadata::try_new(footer, ArrowReaderOptions::new()))
        })?;
        Ok(WholeTable {
            file,
            metadata,
            growth: PageGrowth::within(limits),
        })
    }

    /// The metadata of the table.
    pub(crate) fn metadata(&self) -> &ArrowReaderMetadata {
        &self.metadata
    }

    /// Calls `each` with batches of all rows.
    pub(crate) fn for_each(
        &self,
        mut each: impl FnMut(&RecordBatch) -> Result<(), String>,
    ) -> Result<(), String> {
        let metadata = self.metadata.metadata();
        for group in 0..metadata.num_row_groups() {
            check_group(&self.file, metadata, group, |_| true)?;
            let read = std::slice::from_ref(metadata.row_group(group));
            let file = CheckedFile::new(self.file.clone(), self.growth, read);
            let mut reader = guarded(|| {
                ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                    .with_row_groups(vec![group])
                    .with_batch_size(BATCH_ROWS as usize)
                    .build()
            })?;
            while let Some(batch) = guarded(|| reader.next().transpose())? {
                each(&batch)?;
            }
        }
        Ok(())
    }
}

/// Checks that the columns of a row group are within the file, which the library does not check.
fn check_group(
    file: &Handle,
    metadata: &ParquetMetaData,
    group: usize,
    included: impl Fn(usize) -> bool,
) -> Result<(), String> {
    let columns = metadata.row_group(group).columns().iter().enumerate();
    for (_, column) in columns.filter(|(leaf, _)| included(*leaf)) {
        if !lies_within(column, file.length()) {
            return Err("a column extends beyond the file".into());
        }
    }
    Ok(())
}

/// Whether the bytes of a column are within a file of this length.
fn lies_within(column: &ColumnChunkMetaData, length: u64) -> bool {
    let begin = column
        .dictionary_page_offset()
        .unwrap_or(column.data_page_offset());
    let end = begin.checked_add(column.compressed_size());
    begin >= 0
        && column.compressed_size() >= 0
        && end.is_some_and(|end| u64::try_from(end).is_ok_and(|end| end <= length))
}

/// Runs library code on a file that may be hostile. The library is careful but large, and a panic
/// over one file must not end a run over thousands.
fn guarded<T, E: std::fmt::Display>(work: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("the file is corrupted".into()),
    }
}
