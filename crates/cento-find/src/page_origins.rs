//! Where pages come from: the identifier, the file and the row of the input table.
//!
//! The user of a table knows pages by their own identifiers and rows, not by ours. Tables of
//! findings therefore have three more columns for each column that identifies a page, if any page
//! of the corpora is a row of a table:
//!
//! ```text
//!   page_id  page    of_id  of    …   page_key  page_file   page_row   of_key  of_file  of_row
//!        12  #12         7  #7        "a-12"    pages.jsonl       12   "a-7"   …             7
//! ```
//!
//! They are added where tables are written, so that no analysis has to carry them through its
//! shuffles. The values are looked up in temporary files that are mapped into memory, two for each
//! part of a corpus: an entry for each page, sorted by page id, and the strings of these entries.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::builder::{StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use bytemuck::{Pod, Zeroable};
use cento_file::{MappedFile, PrivateFolder, replace};
use cento_fingerprint::word_hash;
use cento_flow::{Registry, StageError};
use cento_store::{Corpus, pages, projection};

use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};

/// What the columns of pages are called: `X_id` is the page and `X` its URL.
const PAGES: [&str; 8] = ["page", "of", "source", "a", "b", "first", "kept", "item"];
/// A missing row or identifier.
const NONE: u64 = u64::MAX;

projection! {
    /// What origins are read from.
    struct OriginColumns of pages { page_id, url, source, id, row }
}

/// Where a page comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOrigin<'a> {
    /// Its identifier in the table.
    pub key: Option<&'a str>,
    /// The name of the input.
    pub file: &'a str,
    /// Its row in the input, from 0.
    pub row: u64,
}

/// The entry of a page.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct OriginEntry {
    page_id: u64,
    /// The hash of its URL: ids of pages are unique only in one corpus.
    url: u64,
    row: u64,
    /// Where its identifier begins in the strings, and its length.
    key: u64,
    key_bytes: u64,
    file: u64,
    file_bytes: u64,
}

/// The origins of the pages of corpora. The files of a part are written when one of its pages is
/// first looked up.
pub struct PageOrigins {
    corpora: Vec<CorpusOrigins>,
    temp: PathBuf,
    folder: Mutex<Option<PrivateFolder>>,
}

struct CorpusOrigins {
    /// A list of corpora, and which of them this is.
    corpora: Arc<[Corpus]>,
    position: usize,
    /// Parts with rows of tables, by page id.
    parts: Vec<OriginPart>,
}

struct OriginPart {
    part: usize,
    first_page: u64,
    last_page: u64,
    files: OnceLock<OriginFiles>,
}

struct OriginFiles {
    entries: MappedFile,
    strings: MappedFile,
}

impl PageOrigins {
    /// Prepares origins; `None` if no page is a row of a table. Files are written to a folder in
    /// `temp`.
    pub fn new(sources: &[&CorpusPages], temp: &Path) -> Option<PageOrigins> {
        let mut origins = Vec::new();
        for source in sources {
            for (position, corpus) in source.corpora().iter().enumerate() {
                let parts = corpus.manifest().parts.iter().enumerate();
                let mut parts: Vec<OriginPart> = parts
                    .filter(|(_, entry)| entry.counts.rows > 0)
                    .filter_map(|(part, entry)| {
                        Some(OriginPart {
                            part,
                            first_page: entry.first_page?,
                            last_page: entry.last_page?,
                            files: OnceLock::new(),
                        })
                    })
                    .collect();
                parts.sort_by_key(|part| part.first_page);
                if !parts.is_empty() {
                    origins.push(CorpusOrigins {
                        corpora: source.shared_corpora(),
                        position,
                        parts,
                    });
                }
            }
        }
        (!origins.is_empty()).then(|| PageOrigins {
            corpora: origins,
            temp: temp.to_owned(),
            folder: Mutex::default(),
        })
    }

    /// Adds the columns to all tables that a registry writes.
    pub fn extend_tables(self: &Arc<Self>, registry: &mut Registry) {
        let origins = Arc::clone(self);
        registry.extend_tables(move |batch| origins.extend(batch));
    }

    /// Returns the origin of a page. The URL is compared if it is given, which tells pages of two
    /// corpora apart; of equal ones, the last corpus counts if `last` is set.
    pub fn get(
        &self,
        page_id: u64,
        url: Option<&str>,
        last: bool,
    ) -> Result<Option<PageOrigin<'_>>> {
        let url = url.map(word_hash);
        let mut found = None;
        for corpus in &self.corpora {
            let at = corpus
                .parts
                .partition_point(|part| part.last_page < page_id);
            let Some(part) = corpus.parts.get(at) else {
                continue;
            };
            if part.first_page > page_id {
                continue;
            }
            let files = match part.files.get() {
                Some(files) => files,
                None => self.write(corpus, part)?,
            };
            let Some(entry) = entry_of(files.entries.bytes(), page_id) else {
                continue;
            };
            if entry.row == NONE || url.is_some_and(|url| url != entry.url) {
                continue;
            }
            found = Some((entry, files.strings.bytes()));
            if !last {
                break;
            }
        }
        Ok(found.and_then(|(entry, strings)| {
            Some(PageOrigin {
                key: string_at(strings, entry.key, entry.key_bytes),
                file: string_at(strings, entry.file, entry.file_bytes)?,
                row: entry.row,
            })
        }))
    }

    /// Adds the columns to a batch.
    fn extend(&self, batch: RecordBatch) -> std::result::Result<RecordBatch, StageError> {
        let mut fields: Vec<Arc<Field>> = batch.schema_ref().fields().iter().cloned().collect();
        let mut columns = batch.columns().to_vec();
        for name in PAGES {
            let ids = batch.column_by_name(&format!("{name}_id"));
            let Some(ids) = ids.and_then(|ids| ids.as_primitive_opt::<UInt64Type>()) else {
                continue;
            };
            let urls = batch.column_by_name(name);
            let urls = urls.and_then(|urls| urls.as_string_opt::<i32>());
            // The pages of a corpus are compared with those of corpora before it.
            let last = matches!(name, "page" | "item");
            let mut keys = StringBuilder::new();
            let mut files = StringBuilder::new();
            let mut rows = UInt64Builder::new();
            for at in 0..batch.num_rows() {
                let origin = match ids.is_null(at) {
                    true => None,
                    false => self.get(ids.value(at), urls.map(|urls| urls.value(at)), last)?,
                };
                keys.append_option(origin.and_then(|origin| origin.key));
                files.append_option(origin.map(|origin| origin.file));
                rows.append_option(origin.map(|origin| origin.row));
            }
            let added: [(&str, ArrayRef); 3] = [
                ("key", Arc::new(keys.finish())),
                ("file", Arc::new(files.finish())),
                ("row", Arc::new(rows.finish())),
            ];
            for (what, column) in added {
                let kind = match what {
                    "row" => DataType::UInt64,
                    _ => DataType::Utf8,
                };
                fields.push(Arc::new(Field::new(format!("{name}_{what}"), kind, true)));
                columns.push(column);
            }
        }
        Ok(RecordBatch::try_new(
            Arc::new(Schema::new(fields)),
            columns,
        )?)
    }

    /// Writes and maps the origins of a part, unless another thread has done it.
    fn write<'a>(&self, of: &CorpusOrigins, part: &'a OriginPart) -> Result<&'a OriginFiles> {
        let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = part.files.get() {
            return Ok(files);
        }
        let folder = match &mut *folder {
            Some(folder) => folder,
            none => {
                let created = PrivateFolder::create(&self.temp);
                none.insert(created.map_err(|error| Error::io(&self.temp, error))?)
            }
        };
        let corpus = of.corpora.get(of.position);
        let corpus = corpus.ok_or_else(|| Error::Bug("a corpus is missing".to_owned()))?;
        // The files are mapped before the next ones get the same names.
        let (path, strings_path) = (folder.path().join("entries"), folder.path().join("strings"));
        let create = |path: &Path| {
            let file = replace(path).map_err(|error| Error::io(path, error))?;
            Ok::<_, Error>(BufWriter::with_capacity(1 << 16, file))
        };
        let failed = |error| Error::io(&path, error);
        let (mut file, mut strings) = (create(&path)?, create(&strings_path)?);
        let mut offset = 0u64;
        let mut write = |text: &str| -> Result<u64> {
            strings.write_all(text.as_bytes()).map_err(failed)?;
            offset += text.len() as u64;
            Ok(offset - text.len() as u64)
        };
        // Pages of one input follow each other, so its name is mostly written once.
        let mut source = (String::new(), NONE);
        for batch in corpus.scan_part::<OriginColumns>(part.part) {
            let batch = batch?;
            for row in 0..batch.page_id.values().len() {
                let name = batch.source.value(row);
                if source.1 == NONE || source.0 != name {
                    source = (name.to_owned(), write(name)?);
                }
                let id = batch.id.value(row);
                let entry = OriginEntry {
                    page_id: batch.page_id.value(row),
                    url: word_hash(batch.url.value(row)),
                    row: batch.row.value(row).unwrap_or(NONE),
                    key: id.map_or(Ok(NONE), &mut write)?,
                    key_bytes: id.map_or(0, |id| id.len() as u64),
                    file: source.1,
                    file_bytes: source.0.len() as u64,
                };
                file.write_all(bytemuck::bytes_of(&entry)).map_err(failed)?;
            }
        }
        file.flush().map_err(failed)?;
        strings.flush().map_err(failed)?;
        drop((file, strings));
        let mapped = OriginFiles {
            entries: MappedFile::open(&path).map_err(failed)?,
            strings: MappedFile::open(&strings_path).map_err(failed)?,
        };
        Ok(part.files.get_or_init(|| mapped))
    }
}

/// Returns the entry of a page in a file.
fn entry_of(file: &[u8], page_id: u64) -> Option<OriginEntry> {
    let (entries, _) = file.as_chunks::<{ size_of::<OriginEntry>() }>();
    let read = |entry: &[u8; size_of::<OriginEntry>()]| -> OriginEntry {
        bytemuck::pod_read_unaligned(entry)
    };
    let at = entries.partition_point(|entry| read(entry).page_id < page_id);
    let entry = read(entries.get(at)?);
    (entry.page_id == page_id).then_some(entry)
}

fn string_at(strings: &[u8], begin: u64, bytes: u64) -> Option<&str> {
    let begin = usize::try_from(begin).ok()?;
    let end = begin.checked_add(usize::try_from(bytes).ok()?)?;
    std::str::from_utf8(strings.get(begin..end)?).ok()
}
