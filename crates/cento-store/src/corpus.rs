//! An open corpus: scanning its tables, and finding one page in them.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::statistics::Statistics;

use crate::error::{Error, Result};
use crate::manifest::{FileEntry, Manifest, Part};
use crate::parameters::Parameters;
use crate::part::{file_hash, tail_hash};
use crate::schema::Table;

/// A corpus that was opened for reading.
///
/// What is open is what the manifest named when it was opened: parts that are added meanwhile do
/// not show, and parts never change.
pub struct Corpus {
    path: PathBuf,
    manifest: Manifest,
    /// Footers that were read before: the costly part of finding one page.
    footers: Mutex<HashMap<(usize, Table), ArrowReaderMetadata>>,
}

/// An input of a corpus, as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedInput {
    /// What the ids of its pages begin with.
    pub ordinal: u32,
    /// Its name.
    pub name: String,
    /// How long it was; nothing for a stream.
    pub bytes: Option<u64>,
    /// What tells that it has changed, if that was written down.
    pub version: Option<String>,
}

/// A chunk of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkRow {
    /// Its hash.
    pub hash: [u8; 16],
    /// Its place on the page.
    pub ordinal: u32,
    /// Its first byte in the page's text.
    pub begin: u32,
    /// The byte behind it.
    pub end: u32,
}

impl Corpus {
    /// Opens the corpus at `path`: reads the manifest, and checks that each file it names is there,
    /// has its size and ends as it should. One whose last run was interrupted is refused: pages are
    /// missing from it.
    pub fn open(path: &Path) -> Result<Corpus> {
        let corpus = Self::open_partial(path)?;
        if !corpus.manifest.complete() {
            return Err(Error::Unfinished {
                path: path.to_owned(),
                pages: corpus.manifest.counts().pages,
            });
        }
        Ok(corpus)
    }

    /// The same, and takes a corpus whose last run was interrupted for the pages that are in it.
    pub fn open_partial(path: &Path) -> Result<Corpus> {
        let manifest = Manifest::load(path)?;
        for entry in manifest.files() {
            check(path, entry, tail_hash, &entry.tail)?;
        }
        Ok(Corpus {
            path: path.to_owned(),
            manifest,
            footers: Mutex::default(),
        })
    }

    /// Reads every byte of every file and names those that are not what they were.
    pub fn verify(path: &Path) -> Result<Vec<Error>> {
        let manifest = Manifest::load(path)?;
        let damaged = manifest
            .files()
            .filter_map(|entry| check(path, entry, file_hash, &entry.blake3).err())
            .collect();
        Ok(damaged)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The names of the inputs that it was made from, with their ordinals: what page ids begin
    /// with.
    pub fn inputs(&self) -> Result<Vec<(u32, String)>> {
        let inputs = self.listed_inputs()?.into_iter();
        Ok(inputs.map(|input| (input.ordinal, input.name)).collect())
    }

    /// The inputs that it was made from, as they were then.
    pub fn listed_inputs(&self) -> Result<Vec<ListedInput>> {
        #[derive(serde::Deserialize)]
        struct Line {
            name: String,
            bytes: Option<u64>,
            version: Option<String>,
        }
        let mut inputs = Vec::new();
        for run in &self.manifest.runs {
            let path = self.path.join(&run.inputs.file);
            let text = std::fs::read_to_string(&path).map_err(|error| Error::io(&path, error))?;
            for (ordinal, line) in (run.first_input..).zip(text.lines()) {
                let line: Line = serde_json::from_str(line)
                    .map_err(|error| Error::damaged(&path, error.to_string()))?;
                inputs.push(ListedInput {
                    ordinal,
                    name: line.name,
                    bytes: line.bytes,
                    version: line.version,
                });
            }
        }
        Ok(inputs)
    }

    /// How it was made.
    pub fn parameters(&self) -> &Parameters {
        &self.manifest.parameters
    }

    /// The rows of `columns` of one table in the order of page ids, a batch at a time.
    pub fn scan<'a>(
        &'a self,
        table: Table,
        columns: &'a [&'a str],
    ) -> impl Iterator<Item = Result<RecordBatch>> + 'a {
        (0..self.manifest.parts.len()).flat_map(move |part| self.scan_part(part, table, columns))
    }

    /// The same for one part.
    pub fn scan_part(
        &self,
        part: usize,
        table: Table,
        columns: &[&str],
    ) -> impl Iterator<Item = Result<RecordBatch>> + use<> {
        let path = self.file(part, table);
        let reader = self
            .reader(part, table, columns)
            .and_then(|reader| match reader {
                None => Ok(None),
                Some(reader) => reader
                    .build()
                    .map(Some)
                    .map_err(|error| Error::parquet(&self.path, error)),
            });
        let (reader, failure) = match reader {
            Ok(reader) => (reader, None),
            Err(error) => (None, Some(Err(error))),
        };
        failure
            .into_iter()
            .chain(reader.into_iter().flatten().map(move |batch| {
                batch.map_err(|error| {
                    Error::parquet(path.as_deref().unwrap_or(Path::new("")), error.into())
                })
            }))
    }

    /// How many rows each row group of a table of one part has; none if the corpus does not keep
    /// the table.
    pub fn group_rows(&self, part: usize, table: Table) -> Result<Vec<u64>> {
        let reader = self.reader(part, table, &[])?;
        Ok(reader.map_or_else(Vec::new, |reader| {
            let groups = reader.metadata().row_groups().iter();
            groups
                .map(|group| u64::try_from(group.num_rows()).unwrap_or(0))
                .collect()
        }))
    }

    /// The rows of some row groups of one part, `batch` rows at a time.
    pub fn scan_groups(
        &self,
        part: usize,
        table: Table,
        columns: &[&str],
        groups: Range<usize>,
        batch: usize,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        let reader = self.reader(part, table, columns)?;
        let reader = reader.map(|reader| {
            reader
                .with_batch_size(batch)
                .with_row_groups(groups.collect())
        });
        self.batches(part, table, reader)
    }

    /// The rows of one part that have these numbers, which must ascend. What lies between them is
    /// passed over, not read.
    pub fn pick(
        &self,
        part: usize,
        table: Table,
        columns: &[&str],
        rows: &[u64],
        batch: usize,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        let mut selectors = Vec::with_capacity(2 * rows.len());
        let mut next = 0;
        for &row in rows {
            if row < next {
                continue;
            }
            if row > next {
                selectors.push(RowSelector::skip((row - next) as usize));
            }
            selectors.push(RowSelector::select(1));
            next = row + 1;
        }
        let reader = self.reader(part, table, columns)?.map(|reader| {
            reader
                .with_batch_size(batch)
                .with_row_selection(RowSelection::from(selectors))
        });
        self.batches(part, table, reader)
    }

    /// The batches of a reader, if there is one.
    fn batches(
        &self,
        part: usize,
        table: Table,
        reader: Option<ParquetRecordBatchReaderBuilder<File>>,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        let path = self.file(part, table).unwrap_or_default();
        let reader = reader
            .map(ParquetRecordBatchReaderBuilder::build)
            .transpose()
            .map_err(|error| Error::parquet(&path, error))?;
        let batches = reader.into_iter().flatten();
        Ok(batches.map(move |batch| batch.map_err(|error| Error::parquet(&path, error.into()))))
    }

    /// The row of one page, all columns.
    pub fn page(&self, page_id: u64) -> Result<Option<RecordBatch>> {
        let columns: Vec<String> = Table::Pages
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        Ok(self
            .rows_of(page_id, Table::Pages, &columns)?
            .into_iter()
            .next())
    }

    /// The ids of all pages with this URL: a corpus may hold several captures of one.
    pub fn pages_at(&self, url: &str) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        for batch in self.scan(Table::Pages, &["page_id", "url"]) {
            let batch = batch?;
            let urls = batch.column(1).as_string::<i32>();
            let ids = batch.column(0).as_primitive::<UInt64Type>();
            for row in (0..urls.len()).filter(|&row| urls.value(row) == url) {
                found.push(ids.value(row));
            }
        }
        Ok(found)
    }

    /// The text of one page; none if there is no such page or it was rejected.
    pub fn text(&self, page_id: u64) -> Result<Option<String>> {
        if !self.manifest.parameters.text {
            return Err(Error::NoText(self.path.clone()));
        }
        let rows = self.rows_of(page_id, Table::Text, &["text"])?;
        Ok(rows
            .first()
            .map(|batch| batch.column(0).as_string::<i32>().value(0).to_owned()))
    }

    /// The chunks of one page, in order.
    pub fn chunks(&self, page_id: u64) -> Result<Vec<ChunkRow>> {
        let mut chunks = Vec::new();
        for batch in self.rows_of(
            page_id,
            Table::Chunks,
            &["chunk_hash", "ordinal", "begin", "end"],
        )? {
            let hashes = batch.column(0).as_fixed_size_binary();
            let [ordinal, begin, end] =
                [1, 2, 3].map(|column| batch.column(column).as_primitive::<UInt32Type>());
            for row in 0..batch.num_rows() {
                chunks.push(ChunkRow {
                    hash: hashes.value(row).try_into().unwrap_or_default(),
                    ordinal: ordinal.value(row),
                    begin: begin.value(row),
                    end: end.value(row),
                });
            }
        }
        Ok(chunks)
    }

    /// The rows of one page in a table. Reads the footer of one file (once), the ids of one row
    /// group and the blocks that hold the rows.
    fn rows_of(&self, page_id: u64, table: Table, columns: &[&str]) -> Result<Vec<RecordBatch>> {
        let parts = &self.manifest.parts;
        let holds = |part: &Part| {
            part.first_page.is_some_and(|first| first <= page_id)
                && part.last_page.is_some_and(|last| page_id <= last)
        };
        // Parts ascend, but one without pages has no place in that order; there are few, so: in
        // turn.
        let Some(part) = parts.iter().position(holds) else {
            return Ok(Vec::new());
        };
        let path = self.file(part, table).unwrap_or_default();
        let failed = |error: parquet::errors::ParquetError| Error::parquet(&path, error);
        let Some(ids) = self.reader(part, table, &["page_id"])? else {
            return Ok(Vec::new());
        };
        let column = Table::schema(table).index_of("page_id").unwrap_or(0);
        let group = ids.metadata().row_groups().iter().position(|group| {
            match group.column(column).statistics() {
                Some(Statistics::Int64(bounds)) => {
                    let bound = |bound: Option<&i64>| bound.map(|&bound| bound as u64);
                    bound(bounds.min_opt()).is_some_and(|least| least <= page_id)
                        && bound(bounds.max_opt()).is_some_and(|most| page_id <= most)
                }
                _ => false,
            }
        });
        let Some(group) = group else {
            return Ok(Vec::new());
        };
        let mut begin = 0;
        let mut rows = 0;
        for batch in ids.with_row_groups(vec![group]).build().map_err(failed)? {
            let batch = batch.map_err(|error| failed(error.into()))?;
            let ids = batch.column(0).as_primitive::<UInt64Type>().values();
            let before = ids.partition_point(|&id| id < page_id);
            begin += before;
            rows += ids.partition_point(|&id| id <= page_id) - before;
            if ids.last().is_some_and(|&last| last > page_id) {
                break;
            }
        }
        if rows == 0 {
            return Ok(Vec::new());
        }
        let selection =
            RowSelection::from(vec![RowSelector::skip(begin), RowSelector::select(rows)]);
        let Some(reader) = self.reader(part, table, columns)? else {
            return Ok(Vec::new());
        };
        let reader: ParquetRecordBatchReader = reader
            .with_row_groups(vec![group])
            .with_row_selection(selection)
            .build()
            .map_err(failed)?;
        reader
            .map(|batch| batch.map_err(|error| failed(error.into())))
            .collect()
    }

    fn entry(&self, part: usize, table: Table) -> Option<&FileEntry> {
        let part = self.manifest.parts.get(part)?;
        match table {
            Table::Pages => Some(&part.pages),
            Table::Text => part.text.as_ref(),
            Table::Chunks => Some(&part.chunks),
        }
    }

    fn file(&self, part: usize, table: Table) -> Option<PathBuf> {
        let entry = self.entry(part, table);
        entry.map(|entry| self.path.join(&entry.file))
    }

    /// A reader of `columns`, in the order of the schema; none if the corpus does not keep the
    /// table.
    fn reader(
        &self,
        part: usize,
        table: Table,
        columns: &[&str],
    ) -> Result<Option<ParquetRecordBatchReaderBuilder<File>>> {
        let Some(path) = self.file(part, table) else {
            return Ok(None);
        };
        let file = File::open(&path).map_err(|error| Error::io(&path, error))?;
        let mut footers = self.footers.lock().unwrap_or_else(PoisonError::into_inner);
        let footer = match footers.get(&(part, table)) {
            Some(footer) => footer.clone(),
            None => {
                // The index of blocks is what makes reading one row cheap; bounds of blocks are not
                // kept.
                let options = ArrowReaderOptions::new()
                    .with_offset_index_policy(PageIndexPolicy::Optional)
                    .with_column_index_policy(PageIndexPolicy::Skip);
                let footer = ArrowReaderMetadata::load(&file, options)
                    .map_err(|error| Error::parquet(&path, error))?;
                check_table(&path, &footer, table, self.entry(part, table))?;
                footers.insert((part, table), footer.clone());
                footer
            }
        };
        drop(footers);
        let mask = ProjectionMask::columns(
            footer.metadata().file_metadata().schema_descr(),
            columns.iter().copied(),
        );
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, footer);
        Ok(Some(reader.with_projection(mask)))
    }
}

impl std::fmt::Debug for Corpus {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Corpus")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Compares the columns and the rows of a table with what they should be. All readers go through
/// here, so that none of them meets a column of another type, whoever made the file and its
/// checksum.
fn check_table(
    path: &Path,
    footer: &ArrowReaderMetadata,
    table: Table,
    entry: Option<&FileEntry>,
) -> Result<()> {
    let (found, wanted) = (footer.schema(), table.schema());
    let columns = |schema: &Schema| -> Vec<(String, DataType)> {
        let fields = schema.fields().iter();
        fields
            .map(|field| (field.name().clone(), field.data_type().clone()))
            .collect()
    };
    if columns(found) != columns(&wanted) {
        let detail = format!("its columns are not those of the table of {}", table.name());
        return Err(Error::damaged(path, detail));
    }
    let mut groups = footer.metadata().row_groups().iter();
    let rows = groups.try_fold(0u64, |sum, group| {
        let rows = u64::try_from(group.num_rows()).ok()?;
        sum.checked_add(rows)
    });
    if rows.is_none() || rows != entry.map(|entry| entry.rows) {
        return Err(Error::damaged(
            path,
            "it has not the rows that the manifest says",
        ));
    }
    Ok(())
}

/// Compares a file with its entry in the manifest.
fn check(
    corpus: &Path,
    entry: &FileEntry,
    hash: impl Fn(&Path) -> std::io::Result<String>,
    expected: &str,
) -> Result<()> {
    let path = corpus.join(&entry.file);
    let bytes = match path.metadata() {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::damaged(&path, "it is missing"));
        }
        Err(error) => return Err(Error::io(&path, error)),
    };
    if bytes != entry.bytes {
        let detail = format!("it has {bytes} bytes, and should have {}", entry.bytes);
        return Err(Error::damaged(&path, detail));
    }
    let found = hash(&path).map_err(|error| Error::io(&path, error))?;
    if found != expected {
        return Err(Error::damaged(
            &path,
            "its checksum does not fit its content",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use cento_read::Settings;

    use super::*;
    use crate::build::Build;
    use crate::progress::Progress;

    fn corpus_in(folder: &Path) -> PathBuf {
        let file = folder.join("a.txt");
        std::fs::write(&file, "One paragraph.\n\nAnother one.").unwrap();
        let settings = Settings::default();
        let specs = [file.to_str().unwrap().to_owned()];
        let corpus = folder.join("a.cento");
        let build = Build {
            corpus: corpus.clone(),
            inputs: cento_read::resolve(&specs, &settings).unwrap().inputs,
            passed_over: Default::default(),
            settings,
            parameters: Parameters::default(),
            add: false,
            again: false,
            passing: false,
            threads: 1,
            memory: 64 << 20,
            progress: &Progress::default(),
        };
        build.run().unwrap();
        corpus
    }

    #[test]
    fn tables_with_other_columns_or_rows_are_refused_whatever_their_checksums() {
        for (other, table) in [
            (Table::Pages, Table::Chunks),
            (Table::Text, Table::Chunks),
            (Table::Chunks, Table::Text),
            (Table::Text, Table::Pages),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = corpus_in(folder.path());
            let mut manifest = Manifest::load(&path).unwrap();
            let part = &mut manifest.parts[0];
            let file = |part: &Part, table: Table| match table {
                Table::Pages => part.pages.clone(),
                Table::Text => part.text.clone().unwrap(),
                Table::Chunks => part.chunks.clone(),
            };
            // One table in the place of another, with all that the manifest says about its bytes.
            let (from, to) = (file(part, other), file(part, table));
            std::fs::copy(path.join(&from.file), path.join(&to.file)).unwrap();
            let entry = FileEntry {
                file: to.file.clone(),
                rows: to.rows,
                ..from
            };
            match table {
                Table::Pages => part.pages = entry,
                Table::Text => part.text = Some(entry),
                Table::Chunks => part.chunks = entry,
            }
            manifest.save(&path).unwrap();
            assert!(Corpus::verify(&path).unwrap().is_empty());
            let corpus = Corpus::open(&path).unwrap();
            let refused = |outcome: Result<()>| {
                let error = outcome.unwrap_err();
                assert!(matches!(error, Error::Damaged { .. }), "{table:?}: {error}");
            };
            refused(
                corpus
                    .scan(table, &["page_id"])
                    .try_for_each(|batch| batch.map(|_| ())),
            );
            match table {
                Table::Pages => refused(corpus.page(0).map(|_| ())),
                Table::Text => refused(corpus.text(0).map(|_| ())),
                Table::Chunks => refused(corpus.chunks(0).map(|_| ())),
            }
        }
    }
}
