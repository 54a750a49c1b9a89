//! An open corpus: scanning its tables, and finding one page in them.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};
use cento_read::{Settings, TableBatches, TableFile};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
    RowSelector,
};
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::statistics::Statistics;

use crate::build;
use crate::column::{ADDED_COLUMNS, Column, Projection, TableColumn};
use crate::error::{Error, Result};
use crate::input_list::parse_settings;
use crate::manifest::{FileEntry, MANIFEST, Manifest, Part};
use crate::parameters::Parameters;
use crate::part::{file_hash, tail_hash};
use crate::schema::Table;
use crate::tables::{ChunkColumns, ChunkRow, PageColumns, pages, text};
use crate::text_memory::TextMemory;

/// Whether the checksum of a file was compared, by part and table.
type FileChecks = HashMap<(usize, Table), Arc<Mutex<bool>>>;

/// A corpus that is open for reading.
///
/// It consists of the parts that the manifest named when it was opened. Parts that are added later
/// are not visible, and parts never change. The checksum of a file is compared before its rows are
/// scanned; reading one page compares only that of the end of the file.
pub struct Corpus {
    path: PathBuf,
    manifest: Manifest,
    /// Footers that were read before: the expensive step of finding one page.
    footers: Mutex<HashMap<(usize, Table), ArrowReaderMetadata>>,
    verified: Mutex<FileChecks>,
    /// Texts that the process which made it has in memory.
    memory: Option<Arc<TextMemory>>,
}

/// An input of a corpus, as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedInput {
    /// The first half of the ids of its pages.
    pub ordinal: u32,
    /// Its name.
    pub name: String,
    /// Its size; `None` for a stream.
    pub bytes: Option<u64>,
    /// Its version, by which changes are detected, if that was stored.
    pub version: Option<String>,
}

crate::projection! {
    /// What finding a page by its URL reads.
    struct UrlColumns of pages { page_id, url }
}

crate::projection! {
    /// What reading the text of one page reads.
    struct TextColumn of text { text }
}

impl Corpus {
    /// Opens the corpus at `path`. Checks that each file in the manifest exists, has its size and
    /// ends with the right bytes. A corpus whose last run was interrupted is refused, because pages
    /// are missing from it.
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

    /// Like [`Corpus::open`], but accepts a corpus whose last run was interrupted, with the pages
    /// that are in it.
    pub fn open_partial(path: &Path) -> Result<Corpus> {
        let manifest = Manifest::load(path)?;
        // The driver of a cluster has checked the files. Its thousands of workers would read 64 KiB
        // of each of them again.
        if !build::executor().is_worker() {
            for entry in manifest.files() {
                check(path, entry, tail_hash, &entry.tail)?;
            }
        }
        Ok(Corpus {
            path: path.to_owned(),
            manifest,
            footers: Mutex::default(),
            verified: Mutex::default(),
            memory: None,
        })
    }

    /// Opens a corpus that this process has made by
    /// [`Build::texts_only`](crate::Build::texts_only) with this memory.
    pub fn open_temporary(path: &Path, memory: Arc<TextMemory>) -> Result<Corpus> {
        let mut corpus = Self::open(path)?;
        corpus.memory = Some(memory);
        Ok(corpus)
    }

    /// The bytes of the texts that are in memory.
    pub fn bytes_in_memory(&self) -> u64 {
        self.memory.as_ref().map_or(0, |memory| memory.bytes())
    }

    /// The row groups of a table that are in memory; `None` if they are in a file.
    fn groups_in_memory(&self, part: usize, table: Table) -> Option<Arc<[RecordBatch]>> {
        let memory = self.memory.as_ref().filter(|_| table == Table::Text)?;
        let part = self.manifest.parts.get(part)?;
        memory.part((part.task, part.sequence))
    }

    /// Compares the checksum of every file, and returns an error for each one that does not match.
    pub fn verify(path: &Path) -> Result<Vec<Error>> {
        let manifest = Manifest::load(path)?;
        let corrupted = manifest
            .files()
            .filter_map(|entry| check(path, entry, file_hash, &entry.blake3).err())
            .collect();
        Ok(corrupted)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The names of the inputs, with their ordinals: the first half of page ids.
    pub fn inputs(&self) -> Result<Vec<(u32, String)>> {
        let inputs = self.listed_inputs()?.into_iter();
        Ok(inputs.map(|input| (input.ordinal, input.name)).collect())
    }

    /// The settings that an input was read with, to read it again. They do not include those that
    /// do not change what is read, such as the number of retries.
    pub fn reading_settings(&self, ordinal: u32) -> Result<Settings> {
        let path = self.path.join(MANIFEST);
        let runs = self.manifest.runs.iter();
        match runs.rev().find(|run| run.first_input <= ordinal) {
            Some(run) => parse_settings(&path, &run.reading, self.parameters()),
            None => Err(Error::corrupted(
                &path,
                format!("no run has input {ordinal}"),
            )),
        }
    }

    /// The inputs, as they were when they were read.
    pub fn listed_inputs(&self) -> Result<Vec<ListedInput>> {
        #[derive(serde::Deserialize)]
        struct InputLine {
            name: String,
            bytes: Option<u64>,
            version: Option<String>,
        }
        let mut inputs = Vec::new();
        for run in &self.manifest.runs {
            let path = self.path.join(&run.inputs.file);
            let text = std::fs::read_to_string(&path).map_err(|error| Error::io(&path, error))?;
            for (ordinal, line) in (run.first_input..).zip(text.lines()) {
                let line: InputLine = serde_json::from_str(line)
                    .map_err(|error| Error::corrupted(&path, error.to_string()))?;
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

    /// The parameters it was made with.
    pub fn parameters(&self) -> &Parameters {
        &self.manifest.parameters
    }

    /// Reads columns of one table, in the order of page ids, one batch at a time.
    pub fn scan<P: Projection>(&self) -> impl Iterator<Item = Result<P>> {
        (0..self.manifest.parts.len()).flat_map(|part| self.scan_part(part))
    }

    /// Like [`Corpus::scan`], for one part.
    pub fn scan_part<P: Projection>(
        &self,
        part: usize,
    ) -> impl Iterator<Item = Result<P>> + use<P> {
        let rows = self.groups_in_memory(part, P::TABLE);
        let rows = rows.into_iter().flat_map(|groups| groups.to_vec());
        let batches = self
            .reader(part, P::TABLE, P::COLUMNS)
            .and_then(|reader| self.batches(part, rows.collect(), reader));
        let (batches, failure) = match batches {
            Ok(batches) => (Some(batches), None),
            Err(error) => (None, Some(Err(error))),
        };
        failure.into_iter().chain(batches.into_iter().flatten())
    }

    /// The number of rows of each row group of a table of one part; empty if the corpus does not
    /// have the table.
    pub fn group_rows(&self, part: usize, table: Table) -> Result<Vec<u64>> {
        if let Some(groups) = self.groups_in_memory(part, table) {
            return Ok(groups.iter().map(|rows| rows.num_rows() as u64).collect());
        }
        let reader = self.reader(part, table, &[])?;
        Ok(reader.map_or_else(Vec::new, |reader| {
            let groups = reader.metadata().row_groups().iter();
            groups
                .map(|group| u64::try_from(group.num_rows()).unwrap_or(0))
                .collect()
        }))
    }

    /// Reads columns of some row groups of one part, `batch` rows at a time.
    pub fn scan_groups<P: Projection>(
        &self,
        part: usize,
        groups: Range<usize>,
        batch: usize,
    ) -> Result<impl Iterator<Item = Result<P>> + use<P>> {
        let rows = self.groups_in_memory(part, P::TABLE);
        let rows = rows.and_then(|all| all.get(groups.clone()).map(<[_]>::to_vec));
        let reader = self.reader(part, P::TABLE, P::COLUMNS)?;
        let reader = reader.map(|reader| {
            reader
                .with_batch_size(batch)
                .with_row_groups(groups.collect())
        });
        self.batches(part, rows.unwrap_or_default(), reader)
    }

    /// Reads columns of the rows of one part that have these numbers, which must ascend. The rows
    /// between them are skipped.
    pub fn pick<P: Projection>(
        &self,
        part: usize,
        rows: &[u64],
        batch: usize,
    ) -> Result<impl Iterator<Item = Result<P>> + use<P>> {
        if let Some(groups) = self.groups_in_memory(part, P::TABLE) {
            return self.batches(part, picked(&groups, rows), None);
        }
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
        let reader = self.reader(part, P::TABLE, P::COLUMNS)?.map(|reader| {
            reader
                .with_batch_size(batch)
                .with_row_selection(RowSelection::from(selectors))
        });
        self.batches(part, Vec::new(), reader)
    }

    /// Compares the checksum of a file before its rows are scanned for the first time: a flipped
    /// bit within a compressed block may go unnoticed otherwise, and become a result. Threads that
    /// need the same file wait; each hashes another file.
    fn verify_file(&self, part: usize, table: Table) -> Result<()> {
        let Some(entry) = self.entry(part, table) else {
            return Ok(());
        };
        // Many workers of a cluster read a part, each some row groups of it. And a temporary corpus
        // was written by this process a moment ago.
        if build::executor().is_worker() || self.memory.is_some() {
            return Ok(());
        }
        let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        let known = Arc::clone(verified.entry((part, table)).or_default());
        drop(verified);
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if !*known {
            check(&self.path, entry, file_hash, &entry.blake3)?;
            *known = true;
        }
        Ok(())
    }

    /// Batches in memory, and those of a reader, if there is one.
    fn batches<P: Projection>(
        &self,
        part: usize,
        in_memory: Vec<RecordBatch>,
        reader: Option<ParquetRecordBatchReaderBuilder<TableFile>>,
    ) -> Result<impl Iterator<Item = Result<P>> + use<P>> {
        self.verify_file(part, P::TABLE)?;
        let path = self.file(part, P::TABLE).unwrap_or_default();
        let reader = reader
            .map(TableBatches::of)
            .transpose()
            .map_err(|error| Error::parquet(&path, error))?;
        let in_memory = in_memory.into_iter().map(Ok);
        let batches = in_memory.chain(reader.into_iter().flatten());
        Ok(batches.map(move |batch| {
            let batch = batch.map_err(|error| Error::parquet(&path, error))?;
            columns_of(&path, &batch)
        }))
    }

    /// The row of one page, with all columns in the order of the table.
    pub fn page(&self, page_id: u64) -> Result<Option<RecordBatch>> {
        let rows = self.rows_of(page_id, Table::Pages, PageColumns::COLUMNS)?;
        Ok(rows.batches.into_iter().next())
    }

    /// The ids of all pages with this URL: a corpus may contain several captures of it.
    pub fn pages_at(&self, url: &str) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        for batch in self.scan::<UrlColumns>() {
            let batch = batch?;
            let rows = (0..batch.rows()).filter(|&row| batch.url.value(row) == url);
            found.extend(rows.map(|row| batch.page_id.value(row)));
        }
        Ok(found)
    }

    /// The text of one page; `None` if the page does not exist or was rejected.
    pub fn text(&self, page_id: u64) -> Result<Option<String>> {
        if !self.manifest.parameters.text {
            return Err(Error::NoText(self.path.clone()));
        }
        let mut rows = self.page_rows::<TextColumn>(page_id)?.into_iter();
        Ok(rows.next().map(|columns| columns.text.value(0).to_owned()))
    }

    /// The chunks of one page, in order.
    pub fn chunks(&self, page_id: u64) -> Result<Vec<ChunkRow>> {
        let batches = self.page_rows::<ChunkColumns>(page_id)?;
        let rows = batches
            .iter()
            .flat_map(|columns| (0..columns.rows()).map(|row| columns.row(row)));
        Ok(rows.collect())
    }

    /// Reads columns of the rows of one page.
    fn page_rows<P: Projection>(&self, page_id: u64) -> Result<Vec<P>> {
        let PageRows { path, batches } = self.rows_of(page_id, P::TABLE, P::COLUMNS)?;
        batches
            .iter()
            .map(|batch| columns_of(&path, batch))
            .collect()
    }

    /// Finds the rows of one page in a table. Reads the footer of one file (once), the ids of one
    /// row group and the blocks that contain the rows.
    fn rows_of(&self, page_id: u64, table: Table, columns: &[&str]) -> Result<PageRows> {
        let parts = &self.manifest.parts;
        let contains_page = |part: &Part| {
            part.first_page.is_some_and(|first| first <= page_id)
                && part.last_page.is_some_and(|last| page_id <= last)
        };
        // Parts are sorted, but those without pages have no ids to search by; there are few parts,
        // so a linear search is enough.
        let Some(part) = parts.iter().position(contains_page) else {
            return Ok(PageRows::default());
        };
        let path = self.file(part, table).unwrap_or_default();
        let failed = |error: parquet::errors::ParquetError| Error::parquet(&path, error);
        if let Some(groups) = self.groups_in_memory(part, table) {
            let found = groups.iter().find_map(|group| {
                let ids = Column::of::<text::page_id>(group)?;
                let row = ids.values().binary_search(&page_id).ok()?;
                Some(group.slice(row, 1))
            });
            let batches = found.into_iter().collect();
            return Ok(PageRows { path, batches });
        }
        // All tables have this column under this name.
        let page_id_column = pages::page_id::NAME;
        let Some(ids) = self.reader(part, table, &[page_id_column])? else {
            return Ok(PageRows::default());
        };
        let column = Table::schema(table).index_of(page_id_column).unwrap_or(0);
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
            return Ok(PageRows::default());
        };
        let mut begin = 0;
        let mut rows = 0;
        let ids = ids.with_row_groups(vec![group]);
        for batch in TableBatches::of(ids).map_err(failed)? {
            let batch = batch.map_err(failed)?;
            let ids = Column::of::<pages::page_id>(&batch).ok_or_else(|| wrong_columns(&path))?;
            let ids = ids.values();
            let before = ids.partition_point(|&id| id < page_id);
            begin += before;
            rows += ids.partition_point(|&id| id <= page_id) - before;
            if ids.last().is_some_and(|&last| last > page_id) {
                break;
            }
        }
        if rows == 0 {
            return Ok(PageRows::default());
        }
        let selection =
            RowSelection::from(vec![RowSelector::skip(begin), RowSelector::select(rows)]);
        let Some(reader) = self.reader(part, table, columns)? else {
            return Ok(PageRows::default());
        };
        let reader = reader
            .with_row_groups(vec![group])
            .with_row_selection(selection);
        let batches: Result<Vec<RecordBatch>> = TableBatches::of(reader)
            .map_err(failed)?
            .map(|batch| batch.map_err(failed))
            .collect();
        Ok(PageRows {
            batches: batches?,
            path,
        })
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

    /// A reader of `columns`, in the order of the schema; `None` if the corpus does not have the
    /// table.
    fn reader(
        &self,
        part: usize,
        table: Table,
        columns: &[&str],
    ) -> Result<Option<ParquetRecordBatchReaderBuilder<TableFile>>> {
        let Some(path) = self.file(part, table) else {
            let is_absent = table == Table::Text && self.manifest.texts_only;
            return match is_absent && self.groups_in_memory(part, table).is_none() {
                true => Err(Error::corrupted(&self.path, "its texts were in memory")),
                false => Ok(None),
            };
        };
        let file = TableFile::open(&path).map_err(|error| Error::io(&path, error))?;
        let mut footers = self.footers.lock().unwrap_or_else(PoisonError::into_inner);
        let footer = match footers.get(&(part, table)) {
            Some(footer) => footer.clone(),
            None => {
                // The offsets of blocks make it cheap to read one row; bounds of blocks are not
                // stored.
                let options = ArrowReaderOptions::new()
                    .with_offset_index_policy(PageIndexPolicy::Optional)
                    .with_column_index_policy(PageIndexPolicy::Skip);
                let footer = file
                    .metadata(options)
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
        Ok(Some(file.reader(footer).with_projection(mask)))
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

/// The rows of one page in a table, and the file they are in.
#[derive(Default)]
struct PageRows {
    path: PathBuf,
    batches: Vec<RecordBatch>,
}

/// Rows of row groups, by their numbers, which must ascend.
fn picked(groups: &[RecordBatch], rows: &[u64]) -> Vec<RecordBatch> {
    let mut picked = Vec::with_capacity(rows.len());
    let (mut groups, mut first) = (groups.iter().peekable(), 0);
    for &row in rows {
        while let Some(passed) = groups.next_if(|group| row >= first + group.num_rows() as u64) {
            first += passed.num_rows() as u64;
        }
        if let Some(group) = groups.peek() {
            picked.push(group.slice((row - first) as usize, 1));
        }
    }
    picked
}

/// The columns of a batch of the file at `path`.
fn columns_of<P: Projection>(path: &Path, batch: &RecordBatch) -> Result<P> {
    P::from_batch(batch).ok_or_else(|| wrong_columns(path))
}

fn wrong_columns(path: &Path) -> Error {
    Error::corrupted(path, "its columns are not those of its table")
}

/// Compares the columns and the number of rows of a table with what they should be. All readers go
/// through here, so none of them meets a column of another type, even in a file with a matching
/// checksum.
fn check_table(
    path: &Path,
    footer: &ArrowReaderMetadata,
    table: Table,
    entry: Option<&FileEntry>,
) -> Result<()> {
    let (found, expected) = (footer.schema(), table.schema());
    let columns = |schema: &Schema| -> Vec<(String, DataType)> {
        let fields = schema.fields().iter();
        fields
            .map(|field| (field.name().clone(), field.data_type().clone()))
            .collect()
    };
    // Earlier versions of the format lack columns that were added since.
    let found = columns(found);
    let mut expected = columns(&expected);
    expected.retain(|(name, _)| {
        !ADDED_COLUMNS.contains(&(table, name)) || found.iter().any(|(known, _)| known == name)
    });
    if found != expected {
        let detail = format!("its columns are not those of the table of {}", table.name());
        return Err(Error::corrupted(path, detail));
    }
    let mut groups = footer.metadata().row_groups().iter();
    let rows = groups.try_fold(0u64, |sum, group| {
        let rows = u64::try_from(group.num_rows()).ok()?;
        sum.checked_add(rows)
    });
    if rows.is_none() || rows != entry.map(|entry| entry.rows) {
        return Err(Error::corrupted(
            path,
            "its number of rows is not the one in the manifest",
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
            return Err(Error::corrupted(&path, "it is missing"));
        }
        Err(error) => return Err(Error::io(&path, error)),
    };
    if bytes != entry.bytes {
        let detail = format!("it has {bytes} bytes and should have {}", entry.bytes);
        return Err(Error::corrupted(&path, detail));
    }
    let found = hash(&path).map_err(|error| Error::io(&path, error))?;
    if found != expected {
        return Err(Error::corrupted(
            &path,
            "its checksum does not match its content",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use cento_read::Settings;

    use super::*;
    use crate::build::Build;
    use crate::tables::TextColumns;

    fn corpus_in(folder: &Path) -> PathBuf {
        let file = folder.join("a.txt");
        std::fs::write(&file, "One paragraph.\n\nAnother one.").unwrap();
        let settings = Settings::default();
        let specs = [file.to_str().unwrap().to_owned()];
        let corpus = folder.join("a.cento");
        let inputs = cento_read::resolve(&specs, &settings).unwrap().inputs;
        Build::new(inputs, &corpus).threads(1).run().unwrap();
        corpus
    }

    #[test]
    fn a_flipped_bit_in_the_middle_of_a_large_part_is_detected_before_it_is_scanned() {
        let folder = tempfile::tempdir().unwrap();
        let words: String = (0u64..60_000)
            .map(|word| format!("{:x} ", word.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect();
        let file = folder.path().join("a.txt");
        std::fs::write(&file, words).unwrap();
        let settings = Settings::default();
        let specs = [file.to_str().unwrap().to_owned()];
        let path = folder.path().join("a.cento");
        let inputs = cento_read::resolve(&specs, &settings).unwrap().inputs;
        Build::new(inputs, &path).threads(1).run().unwrap();
        let manifest = Manifest::load(&path).unwrap();
        let text = path.join(&manifest.parts[0].text.as_ref().unwrap().file);
        let mut bytes = std::fs::read(&text).unwrap();
        assert!(bytes.len() > 300_000, "{}", bytes.len());
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&text, bytes).unwrap();
        // The end of the file is unchanged.
        let corpus = Corpus::open(&path).unwrap();
        for _ in 0..2 {
            let error = corpus.scan::<TextColumns>().next().unwrap().err().unwrap();
            assert!(matches!(error, Error::Corrupted { .. }), "{error}");
            assert!(error.to_string().contains("text/part-"), "{error}");
        }
        assert!(corpus.scan::<PageColumns>().all(|batch| batch.is_ok()));
    }

    #[test]
    fn tables_with_other_columns_or_rows_are_refused_even_if_their_checksums_match() {
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
            // One table in place of another, with matching checksums in the manifest.
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
                assert!(
                    matches!(error, Error::Corrupted { .. }),
                    "{table:?}: {error}"
                );
            };
            fn scan<P: Projection>(corpus: &Corpus) -> Result<()> {
                corpus.scan::<P>().try_for_each(|batch| batch.map(|_| ()))
            }
            match table {
                Table::Pages => {
                    refused(scan::<PageColumns>(&corpus));
                    refused(corpus.page(0).map(|_| ()));
                }
                Table::Text => {
                    refused(scan::<TextColumns>(&corpus));
                    refused(corpus.text(0).map(|_| ()));
                }
                Table::Chunks => {
                    refused(scan::<ChunkColumns>(&corpus));
                    refused(corpus.chunks(0).map(|_| ()));
                }
            }
        }
    }
}
