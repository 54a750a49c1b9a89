//! The names of pages in files that are mapped into memory.
//!
//! Result rows identify pages by number. Joining names to millions of rows in shuffles copies every
//! name many times. Here a name is written once, to a temporary file for each part of the corpus,
//! and looked up when a table is written. The files are not anonymous memory: the system keeps as
//! much of them in its cache as it likes.
//!
//! ```text
//!   record of the first page │ … │ record of the last page │ offset of each record │ end
//! ```

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cento_file::{MappedFile, PrivateFolder, replace};

use crate::corpus_pages::{CorpusPages, PageFacts};
use crate::error::{Error, Result};
use crate::precedence::Dates;

/// The length of a missing host.
const NO_HOST: u32 = u32::MAX;
/// A missing date.
const NO_DATE: i64 = i64::MIN;

/// The names of all kept pages. Each file is written when a page of its part is first looked up.
pub(crate) struct NameFiles {
    source: Arc<CorpusPages>,
    temp: PathBuf,
    /// The folder of the files; also taken while a file is written.
    folder: Mutex<Option<PrivateFolder>>,
    parts: Vec<NamedPart>,
}

struct NamedPart {
    first_kept: u32,
    names: OnceLock<MappedFile>,
}

/// The name of a page and its dates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MappedName<'a> {
    pub(crate) page_id: u64,
    pub(crate) url: &'a str,
    pub(crate) host: Option<&'a str>,
    published: i64,
    fetched: i64,
}

impl MappedName<'_> {
    pub(crate) fn dates(&self) -> Dates {
        let date = |date: i64| Some(date).filter(|&date| date != NO_DATE);
        Dates {
            published: date(self.published),
            fetched: date(self.fetched),
        }
    }
}

impl NameFiles {
    /// Prepares names. Files are written to a folder in `temp`.
    pub(crate) fn new(source: &Arc<CorpusPages>, temp: &Path) -> NameFiles {
        let parts = 0..source.page_tasks().len();
        NameFiles {
            source: Arc::clone(source),
            temp: temp.to_owned(),
            folder: Mutex::default(),
            parts: parts
                .map(|part| NamedPart {
                    first_kept: source.kept_before_part(part),
                    names: OnceLock::new(),
                })
                .collect(),
        }
    }

    /// Returns the name of a kept page.
    pub(crate) fn get(&self, page: u32) -> Result<MappedName<'_>> {
        let after = self.parts.partition_point(|part| part.first_kept <= page);
        let unnamed = || Error::Bug(format!("page {page} has no name"));
        let at = after.checked_sub(1).ok_or_else(unnamed)?;
        let part = self.parts.get(at).ok_or_else(unnamed)?;
        let file = match part.names.get() {
            Some(file) => file,
            None => self.write(at, part)?,
        };
        record(file.bytes(), (page - part.first_kept) as usize).ok_or_else(unnamed)
    }

    /// Writes and maps the names of a part, unless another thread has done it.
    fn write<'a>(&self, at: usize, part: &'a NamedPart) -> Result<&'a MappedFile> {
        let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = part.names.get() {
            return Ok(file);
        }
        let folder = match &mut *folder {
            Some(folder) => folder,
            none => {
                let created = PrivateFolder::create(&self.temp);
                none.insert(created.map_err(|error| Error::io(&self.temp, error))?)
            }
        };
        let path = folder.path().join(format!("names-{at}"));
        let failed = |error| Error::io(&path, error);
        let mut file = BufWriter::with_capacity(1 << 16, replace(&path).map_err(failed)?);
        let mut offsets = Vec::new();
        let (mut offset, mut bytes) = (0u64, Vec::new());
        self.source.for_each_page::<Error>(at, |facts| {
            if facts.reject.is_none() {
                offsets.push(offset);
                bytes.clear();
                encode(&facts, &mut bytes);
                offset += bytes.len() as u64;
                file.write_all(&bytes).map_err(failed)?;
            }
            Ok(())
        })?;
        offsets.push(offset);
        let end = offset.to_le_bytes();
        for offset in offsets {
            file.write_all(&offset.to_le_bytes()).map_err(failed)?;
        }
        file.write_all(&end).map_err(failed)?;
        file.flush().map_err(failed)?;
        drop(file);
        let mapped = MappedFile::open(&path).map_err(failed)?;
        Ok(part.names.get_or_init(|| mapped))
    }
}

fn encode(facts: &PageFacts<'_>, bytes: &mut Vec<u8>) {
    let host = facts.host.map_or(NO_HOST, |host| host.len() as u32);
    bytes.extend(facts.page_id.to_le_bytes());
    bytes.extend(facts.published_at.unwrap_or(NO_DATE).to_le_bytes());
    bytes.extend(facts.fetched_at.unwrap_or(NO_DATE).to_le_bytes());
    bytes.extend(host.to_le_bytes());
    bytes.extend(facts.host.unwrap_or_default().as_bytes());
    bytes.extend(facts.url.as_bytes());
}

/// Reads the record at a position of a file.
fn record(file: &[u8], at: usize) -> Option<MappedName<'_>> {
    fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
        let (&array, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(array)
    }
    let (rest, end) = file.split_last_chunk::<8>()?;
    let (records, offsets) =
        rest.split_at_checked(usize::try_from(u64::from_le_bytes(*end)).ok()?)?;
    let (offsets, _) = offsets.as_chunks::<8>();
    let offset = |at: usize| usize::try_from(u64::from_le_bytes(*offsets.get(at)?)).ok();
    let mut bytes = records.get(offset(at)?..offset(at + 1)?)?;
    let page_id = u64::from_le_bytes(take(&mut bytes)?);
    let published = i64::from_le_bytes(take(&mut bytes)?);
    let fetched = i64::from_le_bytes(take(&mut bytes)?);
    let (host, url) = match u32::from_le_bytes(take(&mut bytes)?) {
        NO_HOST => (None, bytes),
        length => {
            let (host, url) = bytes.split_at_checked(length as usize)?;
            (Some(std::str::from_utf8(host).ok()?), url)
        }
    };
    Some(MappedName {
        page_id,
        url: std::str::from_utf8(url).ok()?,
        host,
        published,
        fetched,
    })
}
