//! Writing one part: three Parquet files that appear together or not at all.
//!
//! ```text
//!   worker 1   batch 0 ─ encode ─┐
//!   worker 2   batch 1 ─ encode ─┼─▶ PartWriter ─▶ tmp/ ─ sync, rename ─▶ pages/ text/ chunks/
//!   worker 1   batch 2 ─ encode ─┘                                        then the manifest
//! ```
//!
//! A batch is one row group of each table. Workers encode and compress their batches in parallel;
//! the writer takes them in order and only appends bytes.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;

use crate::build::Build;
use crate::build_folder::BuildFolder;
use crate::error::{Error, Result};
use crate::manifest::{Counts, Cursor, FileEntry, Part};
use crate::schema::Table;
use crate::text_memory::TextMemory;

/// How many bytes at the end of a file are checked whenever the file is opened.
const TAIL: u64 = 64 << 10;

/// Encodes record batches as row groups. All workers share it.
pub(crate) struct Encoder {
    factories: [ArrowRowGroupWriterFactory; 3],
}

/// The row group of one table, encoded and compressed.
pub(crate) struct RowGroup {
    rows: u64,
    columns: Vec<ArrowColumnChunk>,
}

/// The rows of one batch of records, encoded.
pub(crate) struct EncodedBatch {
    /// The row groups of each table, in the order of [`Table::ALL`]: usually one; none if there are
    /// no rows or the table is not kept; several if there are many rows.
    pub(crate) tables: [Vec<RowGroup>; 3],
    /// Texts that are not encoded, because there is memory for them.
    pub(crate) texts: Vec<RecordBatch>,
    pub(crate) counts: Counts,
    pub(crate) first_page: Option<u64>,
    pub(crate) last_page: Option<u64>,
    /// How much it counts towards the size limit of the part.
    pub(crate) weight: u64,
    /// Where the next batch starts; `None` after the last batch of the task.
    pub(crate) next: Option<Cursor>,
}

impl Encoder {
    pub(crate) fn new(temporary: bool) -> Result<Encoder> {
        let factory = |table: Table| -> Result<ArrowRowGroupWriterFactory> {
            // The factory takes schema and properties from a writer; nothing is written to it.
            let properties = table.properties(temporary);
            ArrowWriter::try_new(io::sink(), table.schema(), Some(properties))
                .and_then(ArrowWriter::into_serialized_writer)
                .map(|(_, factory)| factory)
                .map_err(|error| encoding_error(table, &error))
        };
        Ok(Encoder {
            factories: [
                factory(Table::Pages)?,
                factory(Table::Text)?,
                factory(Table::Chunks)?,
            ],
        })
    }

    pub(crate) fn encode(&self, table: Table, batch: &RecordBatch) -> Result<Option<RowGroup>> {
        if batch.num_rows() == 0 {
            return Ok(None);
        }
        self.try_encode(table, batch)
            .map(Some)
            .map_err(|error| encoding_error(table, &error))
    }

    fn try_encode(
        &self,
        table: Table,
        batch: &RecordBatch,
    ) -> std::result::Result<RowGroup, ParquetError> {
        let mut writers = self.factories[table as usize]
            .create_column_writers(0)?
            .into_iter();
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            for leaf in compute_leaves(field, array)? {
                let mut writer = writers.next().ok_or_else(|| {
                    ParquetError::General(format!("{} has no column for {field}", table.name()))
                })?;
                writer.write(&leaf)?;
                columns.push(writer.close()?);
            }
        }
        Ok(RowGroup {
            rows: batch.num_rows() as u64,
            columns,
        })
    }
}

/// Encoding works in memory on rows that this program made, so it does not fail for an outer cause.
fn encoding_error(table: Table, error: &ParquetError) -> Error {
    Error::Internal(format!(
        "rows of {} cannot be encoded: {error}",
        table.name()
    ))
}

/// The three files of a part while they are written.
pub(crate) struct PartWriter<'run> {
    build: &'run Build<'run>,
    folder: &'run BuildFolder,
    encoder: &'run Encoder,
    task: u32,
    sequence: u32,
    files: Vec<(Table, PartFile)>,
    /// Where texts go as long as there is memory for them; then there is no file of texts.
    memory: Option<&'run TextMemory>,
    texts: Vec<RecordBatch>,
    counts: Counts,
    first_page: Option<u64>,
    last_page: Option<u64>,
    weight: u64,
}

impl<'run> PartWriter<'run> {
    /// Creates the files of part `sequence` of `task` in the folder for unfinished parts.
    pub(crate) fn create(
        build: &'run Build<'run>,
        folder: &'run BuildFolder,
        encoder: &'run Encoder,
        task: u32,
        sequence: u32,
    ) -> Result<PartWriter<'run>> {
        let mut writer = PartWriter {
            build,
            folder,
            encoder,
            task,
            sequence,
            files: Vec::new(),
            memory: build.texts,
            texts: Vec::new(),
            counts: Counts::default(),
            first_page: None,
            last_page: None,
            weight: 0,
        };
        for table in Table::ALL {
            if table != Table::Text || (build.parameters.text && build.texts.is_none()) {
                writer.create_file(table)?;
            }
        }
        Ok(writer)
    }

    fn create_file(&mut self, table: Table) -> Result<()> {
        let name = self.file_name(table);
        let suffix = self.folder.suffix().unwrap_or_default();
        let path = self.folder.unfinished(&name, suffix);
        let is_hashed = self.build.texts.is_none() || table == Table::Pages;
        let file = PartFile::create(path, table, self.build.temporary, is_hashed)?;
        self.files.push((table, file));
        Ok(())
    }

    /// The name of the file of a table within the corpus.
    fn file_name(&self, table: Table) -> String {
        let (task, sequence) = (self.task, self.sequence);
        format!("{}/part-{task:05}-{sequence:04}.parquet", table.name())
    }

    /// Appends the next batch in order.
    pub(crate) fn append(&mut self, batch: EncodedBatch) -> Result<()> {
        let mut tables = batch.tables;
        let texts = &mut tables[Table::Text as usize];
        if !texts.is_empty() && self.memory.is_some() {
            self.leave_memory()?;
        }
        match self.memory {
            Some(_) => self.texts.extend(batch.texts),
            None => {
                for rows in batch.texts {
                    texts.extend(self.encode_text(&rows)?);
                }
            }
        }
        for (table, file) in &mut self.files {
            for rows in std::mem::take(&mut tables[*table as usize]) {
                file.append(rows)?;
            }
        }
        self.counts.add(&batch.counts);
        self.first_page = self.first_page.or(batch.first_page);
        self.last_page = batch.last_page.or(self.last_page);
        self.weight += batch.weight;
        Ok(())
    }

    /// Writes the texts that are in memory to a file, because others did not fit.
    fn leave_memory(&mut self) -> Result<()> {
        self.memory = None;
        self.create_file(Table::Text)?;
        for texts in std::mem::take(&mut self.texts) {
            let rows = self.encode_text(&texts)?;
            if let (Some(rows), Some((_, file))) = (rows, self.files.last_mut()) {
                file.append(rows)?;
            }
        }
        Ok(())
    }

    /// Encodes texts that were to stay in memory.
    fn encode_text(&self, texts: &RecordBatch) -> Result<Option<RowGroup>> {
        let rows = self.encoder.encode(Table::Text, texts);
        self.build.texts.inspect(|memory| memory.release(texts));
        rows
    }

    /// The bytes of payload in the part so far.
    pub(crate) fn weight(&self) -> u64 {
        self.weight
    }

    /// Closes and syncs the files and moves them to the folders of their tables, unless another
    /// process does that. They belong to the corpus once the manifest names them.
    pub(crate) fn finish(mut self, next: Option<Cursor>) -> Result<Part> {
        let mut pages = None;
        let mut text = None;
        let mut chunks = None;
        for (table, file) in std::mem::take(&mut self.files) {
            let name = self.file_name(table);
            let stays = self.folder.suffix().is_some();
            let entry = file.finish(self.folder.path(), name, stays)?;
            match table {
                Table::Pages => pages = Some(entry),
                Table::Text => text = Some(entry),
                Table::Chunks => chunks = Some(entry),
            }
        }
        if let Some(memory) = self.memory {
            memory.insert((self.task, self.sequence), self.texts);
        }
        let missing = || Error::Internal("a part was written without its tables".to_owned());
        Ok(Part {
            task: self.task,
            sequence: self.sequence,
            first_page: self.first_page,
            last_page: self.last_page,
            pages: pages.ok_or_else(missing)?,
            text,
            chunks: chunks.ok_or_else(missing)?,
            counts: self.counts,
            next,
        })
    }
}

struct PartFile {
    path: PathBuf,
    writer: SerializedFileWriter<HashedFile>,
    rows: u64,
}

impl PartFile {
    fn create(path: PathBuf, table: Table, temporary: bool, is_hashed: bool) -> Result<PartFile> {
        let file = cento_file::replace(&path).map_err(|error| Error::io(&path, error))?;
        let file = HashedFile {
            file: BufWriter::with_capacity(256 << 10, file),
            hasher: is_hashed.then(blake3::Hasher::new),
            bytes: 0,
            temporary,
        };
        let properties = table.properties(temporary);
        let (writer, _) = ArrowWriter::try_new(file, table.schema(), Some(properties))
            .and_then(ArrowWriter::into_serialized_writer)
            .map_err(|error| Error::parquet(&path, error))?;
        Ok(PartFile {
            path,
            writer,
            rows: 0,
        })
    }

    fn append(&mut self, group: RowGroup) -> Result<()> {
        let append = || -> std::result::Result<(), ParquetError> {
            let mut writer = self.writer.next_row_group()?;
            for column in group.columns {
                column.append_to_row_group(&mut writer)?;
            }
            writer.close()?;
            Ok(())
        };
        append().map_err(|error| Error::parquet(&self.path, error))?;
        self.rows += group.rows;
        Ok(())
    }

    fn finish(self, corpus: &Path, name: String, stays: bool) -> Result<FileEntry> {
        let file = self
            .writer
            .into_inner()
            .map_err(|error| Error::parquet(&self.path, error))?;
        let (bytes, hash) = file
            .finish()
            .map_err(|error| Error::io(&self.path, error))?;
        let tail = tail_hash(&self.path).map_err(|error| Error::io(&self.path, error))?;
        if !stays {
            let path = corpus.join(&name);
            fs::rename(&self.path, &path).map_err(|error| Error::io(&path, error))?;
        }
        Ok(FileEntry {
            file: name,
            rows: self.rows,
            bytes,
            blake3: hash,
            tail,
        })
    }
}

/// A file that computes the hash of what is written to it.
struct HashedFile {
    file: BufWriter<File>,
    /// None if nobody will compare the hash.
    hasher: Option<blake3::Hasher>,
    bytes: u64,
    /// Whether it need not survive a power failure.
    temporary: bool,
}

impl HashedFile {
    fn finish(self) -> io::Result<(u64, String)> {
        let file = self
            .file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        if !self.temporary {
            file.sync_all()?;
        }
        let hash = self.hasher.map(|hasher| hasher.finalize().to_hex());
        let hash = hash.map_or_else(String::new, |hash| hash.to_string());
        Ok((self.bytes, hash))
    }
}

impl Write for HashedFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.file.write(buffer)?;
        // Of temporary files too: cached results are identified by the checksums of a corpus.
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&buffer[..written]);
        }
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The hash of the last [`TAIL`] bytes of a file. In a Parquet file that is the footer, without
/// which the rest cannot be read.
pub(crate) fn tail_hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL)))?;
    let mut tail = Vec::with_capacity(TAIL as usize);
    file.take(TAIL).read_to_end(&mut tail)?;
    Ok(blake3::hash(&tail).to_hex().to_string())
}

/// The hash of a whole file.
pub(crate) fn file_hash(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hasher.finalize().to_hex().to_string());
        }
        hasher.update(&buffer[..read]);
    }
}
