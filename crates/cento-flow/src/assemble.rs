//! Writing the rows of many tasks to one Parquet file.
//!
//! ```text
//!   task 0 ▒▒▒▒▒▒  task 1 ▒▒  task 2 ▒▒▒▒▒▒▒▒▒▒   batches depend on partitions and memory
//!   ├── row group ──┼── row group ──┼── row g…     row groups depend on the rows alone
//!   encoded by any thread, appended in order
//! ```

use std::collections::BTreeMap;
use std::io::{BufWriter, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};
use bytes::{Buf, Bytes};
use cento_file::{Checksum, Output};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::registry::ExtendTable;
use crate::spill::TaskFile;
use crate::table::{decode, decode_first};
use crate::task_output::Contribution;
use crate::threads::on_threads;

/// Rows of a row group. Small enough that a few decoded row groups need little memory, large enough
/// to be read fast.
const ROW_GROUP: usize = 1 << 17;
/// Bytes of strings in a row group. Long URLs make row groups with fewer rows, because several row
/// groups are in memory at once, and a column of strings is limited to 2 GiB.
const GROUP_BYTES: usize = 16 << 20;

/// A table that was written.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct TableReport {
    /// Its name in the flow.
    pub name: String,
    /// The number of its rows.
    pub rows: u64,
    /// The size of its file in bytes.
    pub bytes: u64,
    /// The BLAKE3 hash of its file, in hex.
    pub blake3: String,
}

/// Returns the rows of the next task, and None after the last one.
pub(crate) type NextRows<'a> = &'a mut (dyn FnMut() -> Result<Option<Bytes>> + Send);

/// Where the rows of a table come from.
pub(crate) enum TableSource<'a> {
    /// Tasks of this process.
    Tasks(&'a [Contribution]),
    /// A cluster, which moves the rows of one task after the other here, and those of the present
    /// one that were not decoded yet. They may be much larger than the memory of this process.
    Pulled(NextRows<'a>, Bytes),
}

/// Cuts the rows of a table into row groups.
struct RowGroupCutter<'n, 'a> {
    name: &'n str,
    rows: TableSource<'a>,
    extend: Option<&'n ExtendTable>,
    /// The task that is read, and the number of its chunks or ranges that were read.
    next: usize,
    piece: usize,
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    waiting_bytes: usize,
    cut: u64,
    schema: Option<SchemaRef>,
}

/// Decodes batches from a file. It may be forged: then it is corrupted, and its task is run again,
/// also if the library panics over it.
fn decode_file(file: &TaskFile, bytes: &[u8]) -> Result<Vec<RecordBatch>> {
    let decoded = catch_unwind(AssertUnwindSafe(|| decode(bytes)));
    match decoded {
        Ok(Ok(batches)) => Ok(batches),
        Ok(Err(error)) => Err(file.corrupted(&error.to_string())),
        Err(_) => Err(file.corrupted("its rows cannot be decoded")),
    }
}

impl RowGroupCutter<'_, '_> {
    /// Loads the batches of the next chunk or range. `None` after the last one.
    fn load(&mut self) -> Result<Option<Vec<RecordBatch>>> {
        let failed = |error| Error::table(self.name.as_ref(), &error);
        loop {
            let batches = match &mut self.rows {
                TableSource::Pulled(next, rest) => {
                    if rest.is_empty() {
                        match next()? {
                            Some(rows) => *rest = rows,
                            None => return Ok(None),
                        }
                    }
                    let (batches, read) = decode_first(rest).map_err(failed)?;
                    rest.advance(read);
                    Some(batches)
                }
                TableSource::Tasks(tasks) => {
                    let Some(task) = tasks.get(self.next) else {
                        return Ok(None);
                    };
                    if let (Some(file), false) = (&task.file, task.in_memory) {
                        let ranges = file.ranges(self.name, 0)?;
                        match ranges.get(self.piece) {
                            Some(range) => {
                                let mut bytes = vec![0; range.bytes as usize];
                                file.read(range, &mut bytes)?;
                                Some(decode_file(file, &bytes)?)
                            }
                            None => None,
                        }
                    } else {
                        let chunk = task.port.chunks.get(self.piece);
                        let batches = chunk.map(|chunk| decode(chunk.partition(0)));
                        batches.transpose().map_err(failed)?
                    }
                }
            };
            match batches {
                Some(batches) => {
                    self.piece += 1;
                    return Ok(Some(batches));
                }
                None => (self.next, self.piece) = (self.next + 1, 0),
            }
        }
    }

    /// Adds the columns that all tables of the run have.
    fn extended(&self, batch: RecordBatch) -> Result<RecordBatch> {
        match self.extend {
            None => Ok(batch),
            Some(extend) => {
                extend(batch).map_err(|error| Error::from_stage(self.name, self.next, error))
            }
        }
    }

    /// Returns the next row group and its number.
    fn cut(&mut self) -> Result<Option<(u64, RecordBatch)>> {
        // Load one byte more than fits: rows without strings after a full row group belong to it,
        // whether or not they are in the same batch.
        while self.waiting_rows < ROW_GROUP && self.waiting_bytes <= GROUP_BYTES {
            let Some(batches) = self.load()? else {
                break;
            };
            for batch in batches {
                let batch = self.extended(batch)?;
                self.schema.get_or_insert_with(|| batch.schema());
                if batch.num_rows() > 0 {
                    self.waiting_rows += batch.num_rows();
                    self.waiting_bytes += string_bytes(&batch, batch.num_rows());
                    self.waiting.push(batch);
                }
            }
        }
        let Some(first) = self.waiting.first() else {
            return Ok(None);
        };
        let schema = first.schema();
        let mut taken = Vec::new();
        let (mut rows_left, mut bytes_left) = (ROW_GROUP, GROUP_BYTES);
        let mut full = false;
        for batch in std::mem::take(&mut self.waiting) {
            let rows = batch.num_rows();
            let mut now = if full {
                0
            } else {
                rows_within(&batch, rows_left, bytes_left)
            };
            // A row that is too long is a row group of one row, whether or not its batch ends here.
            let too_long = now == 0 && taken.is_empty();
            if too_long {
                now = 1;
            }
            full |= too_long || now < rows;
            let bytes = string_bytes(&batch, now);
            if now > 0 {
                taken.push(batch.slice(0, now));
            }
            if now < rows {
                self.waiting.push(batch.slice(now, rows - now));
            }
            rows_left -= now;
            bytes_left = bytes_left.saturating_sub(bytes);
            self.waiting_rows -= now;
            self.waiting_bytes -= bytes;
        }
        // One array per column: where Parquet pages end must not depend on the batches.
        let group = arrow_select::concat::concat_batches(&schema, &taken)
            .map_err(|error| Error::table(self.name.as_ref(), &error))?;
        self.cut += 1;
        Ok(Some((self.cut - 1, group)))
    }
}

/// Returns the bytes of all strings in the first rows of a batch.
fn string_bytes(batch: &RecordBatch, rows: usize) -> usize {
    let columns = batch.columns().iter();
    columns
        .filter_map(|column| column.as_string_opt::<i32>())
        .map(|column| {
            let offsets = column.value_offsets();
            let ends = offsets.first().zip(offsets.get(rows));
            ends.map_or(0, |(begin, end)| (end - begin) as usize)
        })
        .sum()
}

/// Returns how many of the first `rows` rows of a batch have strings of at most `bytes` bytes.
fn rows_within(batch: &RecordBatch, rows: usize, bytes: usize) -> usize {
    let (mut least, mut most) = (0, rows.min(batch.num_rows()));
    while least < most {
        let middle = (least + most).div_ceil(2);
        if string_bytes(batch, middle) <= bytes {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    least
}

struct Encoded {
    rows: u64,
    columns: Vec<ArrowColumnChunk>,
}

/// Appends encoded row groups to the file in order.
struct Appender {
    writer: SerializedFileWriter<BufWriter<Output>>,
    next: u64,
    early: BTreeMap<u64, Encoded>,
    rows: u64,
    /// Whether a thread has failed, so that others must not wait for its row group.
    failed: bool,
}

/// Writes the table `name` to `folder`. The file gets its name when it is complete.
pub(crate) fn write_table(
    folder: &Path,
    name: &str,
    rows: TableSource<'_>,
    extend: Option<&ExtendTable>,
    threads: usize,
    progress: &Progress,
) -> Result<TableReport> {
    let path = folder.join(format!("{name}.parquet"));
    let failed = |error| Error::io(&path, error);
    let output = Output::within(&path).map_err(failed)?;
    let (mut output, count) = write_rows(output, &path, name, (rows, extend), threads, progress)?;
    output.seek(SeekFrom::Start(0)).map_err(failed)?;
    let Checksum { bytes, blake3, .. } = Checksum::read(&mut output).map_err(failed)?;
    output.finish_synced().map_err(failed)?;
    Ok(TableReport {
        name: name.to_owned(),
        rows: count,
        bytes,
        blake3,
    })
}

fn write_rows(
    output: Output,
    path: &Path,
    name: &str,
    (rows, extend): (TableSource<'_>, Option<&ExtendTable>),
    threads: usize,
    progress: &Progress,
) -> Result<(Output, u64)> {
    let failed = |error: ParquetError| Error::parquet(path, error);
    let mut cutter = RowGroupCutter {
        name,
        rows,
        extend,
        next: 0,
        piece: 0,
        waiting: Vec::new(),
        waiting_rows: 0,
        waiting_bytes: 0,
        cut: 0,
        schema: None,
    };
    let first = cutter.cut()?;
    // A table without rows still has columns, because every task sends its schema.
    let schema = cutter
        .schema
        .clone()
        .unwrap_or_else(|| SchemaRef::new(Schema::empty()));
    let (writer, factory) = ArrowWriter::try_new(
        BufWriter::with_capacity(256 << 10, output),
        schema.clone(),
        Some(properties(&schema)),
    )
    .and_then(ArrowWriter::into_serialized_writer)
    .map_err(failed)?;
    let appender = Mutex::new(Appender {
        writer,
        next: 0,
        early: BTreeMap::new(),
        rows: 0,
        failed: false,
    });
    let appended = Condvar::new();
    let cutter = Mutex::new((cutter, first));
    let work = || -> Result<()> {
        loop {
            progress.check()?;
            let group = {
                let (cutter, first) = &mut *cutter.lock().unwrap_or_else(PoisonError::into_inner);
                match first.take() {
                    Some(first) => Some(first),
                    None => cutter.cut()?,
                }
            };
            let Some((number, group)) = group else {
                return Ok(());
            };
            let encoded = encode(&factory, &group).map_err(failed)?;
            drop(group);
            let mut appender = appender.lock().unwrap_or_else(PoisonError::into_inner);
            appender.early.insert(number, encoded);
            while let Some(encoded) = {
                let next = appender.next;
                appender.early.remove(&next)
            } {
                appender.append(encoded).map_err(failed)?;
            }
            appended.notify_all();
            // A thread that is far ahead waits, which limits the number of row groups in memory.
            while appender.early.len() > 2 * threads && !appender.failed && progress.check().is_ok()
            {
                let waited = appended.wait_timeout(appender, std::time::Duration::from_millis(50));
                appender = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            if appender.failed {
                return Ok(());
            }
        }
    };
    let stop = || {
        let mut appender = appender.lock().unwrap_or_else(PoisonError::into_inner);
        appender.failed = true;
        appended.notify_all();
    };
    on_threads(threads, stop, work)?;
    let appender = appender
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let file = appender.writer.into_inner().map_err(failed)?;
    let output = file
        .into_inner()
        .map_err(|error| Error::io(path, error.into_error()))?;
    Ok((output, appender.rows))
}

impl Appender {
    fn append(&mut self, encoded: Encoded) -> std::result::Result<(), ParquetError> {
        let mut writer = self.writer.next_row_group()?;
        for column in encoded.columns {
            column.append_to_row_group(&mut writer)?;
        }
        writer.close()?;
        self.rows += encoded.rows;
        self.next += 1;
        Ok(())
    }
}

fn encode(
    factory: &ArrowRowGroupWriterFactory,
    batch: &RecordBatch,
) -> std::result::Result<Encoded, ParquetError> {
    let mut writers = factory.create_column_writers(0)?.into_iter();
    let mut columns = Vec::with_capacity(batch.num_columns());
    let pairs: Vec<(&arrow_schema::FieldRef, &ArrayRef)> = batch
        .schema_ref()
        .fields()
        .iter()
        .zip(batch.columns())
        .collect();
    for (field, array) in pairs {
        for leaf in compute_leaves(field, array)? {
            let mut writer = writers.next().ok_or_else(|| {
                ParquetError::General(format!("there is no writer for the column {field}"))
            })?;
            writer.write(&leaf)?;
            columns.push(writer.close()?);
        }
    }
    Ok(Encoded {
        rows: batch.num_rows() as u64,
        columns,
    })
}

/// Returns the writer properties of a schema. Columns of 64-bit numbers and hashes have mostly
/// distinct values, so that a dictionary would not help.
fn properties(schema: &Schema) -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by("cento".to_owned())
        .set_max_row_group_row_count(None);
    for field in schema.fields() {
        if matches!(
            field.data_type(),
            DataType::UInt64 | DataType::Int64 | DataType::FixedSizeBinary(_)
        ) {
            builder = builder
                .set_column_dictionary_enabled(ColumnPath::from(field.name().as_str()), false);
        }
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spill::TaskFileWriter;
    use crate::task_output::Port;
    use arrow_array::{StringArray, UInt64Array};
    use arrow_schema::Field;
    use std::sync::Arc;

    /// Returns the rows of each row group for strings of these lengths in batches of `batch` rows.
    fn groups(lengths: &[usize], batch: usize) -> Vec<usize> {
        let schema = Arc::new(Schema::new(vec![
            Field::new("number", DataType::UInt64, false),
            Field::new("text", DataType::Utf8, true),
        ]));
        let blobs: Vec<Vec<u8>> = lengths
            .chunks(batch)
            .map(|lengths| {
                let numbers = UInt64Array::from_iter_values(lengths.iter().map(|&n| n as u64));
                let texts = StringArray::from_iter_values(lengths.iter().map(|&n| "x".repeat(n)));
                let columns: Vec<ArrayRef> = vec![Arc::new(numbers), Arc::new(texts)];
                let rows = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
                let mut writer =
                    arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &schema).unwrap();
                writer.write(&rows).unwrap();
                writer.into_inner().unwrap()
            })
            .collect();
        let mut blobs = blobs.into_iter();
        let mut next = || Ok(blobs.next().map(Bytes::from));
        let mut cutter = RowGroupCutter {
            name: "test",
            rows: TableSource::Pulled(&mut next, Bytes::new()),
            extend: None,
            next: 0,
            piece: 0,
            waiting: Vec::new(),
            waiting_rows: 0,
            waiting_bytes: 0,
            cut: 0,
            schema: None,
        };
        let mut groups = Vec::new();
        while let Some((_, group)) = cutter.cut().unwrap() {
            groups.push(group.num_rows());
        }
        groups
    }

    #[test]
    fn long_strings_make_row_groups_with_fewer_rows_and_batches_do_not_matter() {
        // Strings of 1 MiB, and one that is longer than a row group.
        let mut lengths = vec![1 << 20; 40];
        lengths[20] = GROUP_BYTES + 1;
        let expected = [16, 4, 1, 16, 3];
        for batch in [1, 7, 40] {
            assert_eq!(groups(&lengths, batch), expected, "{batch}");
        }
        // Empty strings after a full row group and after a row that is too long.
        let mut lengths = vec![1 << 20; 16];
        lengths.extend([0, 0, GROUP_BYTES + 1, 0, 0]);
        for batch in [1, 16, 19, 21] {
            assert_eq!(groups(&lengths, batch), [18, 1, 2], "{batch}");
        }
        let short = vec![3; ROW_GROUP + 5];
        for batch in [1000, 1 << 18] {
            assert_eq!(groups(&short, batch), [ROW_GROUP, 5]);
        }
    }

    #[test]
    fn rows_that_cannot_be_decoded_are_corrupted_and_their_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0000-000000.rows");
        let writer = TaskFileWriter::create(path.clone(), 1024).unwrap();
        let ports: [(&str, &Port); 0] = [];
        let file = writer.finish(&ports, &BTreeMap::new()).unwrap();
        let error = decode_file(&file, b"not a stream of batches").unwrap_err();
        assert!(matches!(error, Error::Corrupted { .. }), "{error}");
        assert!(!path.exists());
    }
}
