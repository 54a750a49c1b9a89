//! The pages of one or more corpora, numbered densely for a run.
//!
//! ```text
//!   0 ──────────────── kept pages, in the order of corpora and page ids ──────────────── K ── rejected pages ── N
//! ```
//!
//! A kept page's number tells where its text is, so no table of numbers is held in memory. Rejected
//! pages come after all kept ones: only analyses of whole files ask for them.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampMillisecondType, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use cento_store::{ChunkRow, Corpus, Table};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{Error, Result};

/// Texts that are decoded together: few, for texts can be long.
const TEXT_BATCH: usize = 64;
const PAGE_BATCH: usize = 1024;
/// Texts that a task has at least, so that small corpora are not cut to crumbs.
const TASK_ROWS: u64 = 2_000;
/// Bytes of text that are enough for a task.
const TASK_BYTES: u64 = 16 << 20;
const CHUNK_BATCH: usize = 1 << 13;
/// Chunks that a task has at least.
const TASK_CHUNKS: u64 = 100_000;

/// Corpora that are read as one.
pub struct CorpusPages {
    corpora: Vec<Corpus>,
    parts: Vec<Part>,
    kept: u32,
    all: u32,
}

struct Part {
    corpus: usize,
    part: usize,
    first_kept: u32,
    kept: u32,
    first_rejected: u32,
    /// Rows of each row group of the text.
    groups: Vec<u64>,
}

/// Some texts of one part: the work of one map task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TextTask {
    part: usize,
    first_group: usize,
    groups: usize,
    first: u32,
}

/// Some rows of the table of chunks of one part: the work of one map task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChunkTask {
    part: usize,
    first_group: usize,
    groups: usize,
}

/// What the pages table says of one page.
#[derive(Debug, Clone, Copy)]
pub struct PageFacts<'a> {
    /// Its number in this run.
    pub number: u32,
    /// Which of the corpora it is in.
    pub corpus: usize,
    /// Its id in that corpus.
    pub page_id: u64,
    /// Its address.
    pub url: &'a str,
    /// The host of the address.
    pub host: Option<&'a str>,
    /// The registered domain of the host.
    pub domain: Option<&'a str>,
    /// The address of the server.
    pub ip: Option<&'a str>,
    /// When it was fetched, in milliseconds.
    pub fetched_at: Option<i64>,
    /// When it says that it was published.
    pub published_at: Option<i64>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The bytes of its payload.
    pub bytes: u64,
    /// The digest of its payload.
    pub payload_sha1: Option<&'a [u8]>,
    /// Whether it is a revisit record: one that says that the payload is the same as before,
    /// whether or not it names the earlier capture.
    pub revisit: bool,
    /// The identity of its text.
    pub text_hash: Option<&'a [u8]>,
    /// The words of its text.
    pub words: u32,
    /// Why it takes no part in analyses of text.
    pub reject: Option<&'a str>,
}

const FACTS: [&str; 13] = [
    "page_id",
    "url",
    "host",
    "domain",
    "ip",
    "fetched_at",
    "published_at",
    "status",
    "bytes",
    "payload_sha1",
    "text_hash",
    "words",
    "reject",
];

impl CorpusPages {
    /// Opens corpora. What is compared must have been made alike, so all must keep the same of a
    /// page: its main content, or everything. One whose last index was interrupted is refused: an
    /// analysis of some of its pages would pass for one of all.
    pub fn open(paths: &[&Path]) -> Result<CorpusPages> {
        Self::open_by(paths, Corpus::open)
    }

    /// The same, and takes corpora whose last index was interrupted for the pages that are in them.
    pub fn open_partial(paths: &[&Path]) -> Result<CorpusPages> {
        Self::open_by(paths, Corpus::open_partial)
    }

    fn open_by(
        paths: &[&Path],
        open: fn(&Path) -> cento_store::Result<Corpus>,
    ) -> Result<CorpusPages> {
        let corpora = paths
            .iter()
            .map(|path| open(path))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        check_alike(&corpora)?;
        let mut parts = Vec::new();
        let (mut kept, mut rejected) = (0u64, 0u64);
        for (corpus, opened) in corpora.iter().enumerate() {
            for (part, entry) in opened.manifest().parts.iter().enumerate() {
                let part = Part {
                    corpus,
                    part,
                    first_kept: number(kept)?,
                    kept: number(entry.counts.kept)?,
                    first_rejected: number(rejected)?,
                    groups: opened.group_rows(part, Table::Text)?,
                };
                kept += entry.counts.kept;
                rejected += entry.counts.pages.saturating_sub(entry.counts.kept);
                parts.push(part);
            }
        }
        let (kept, all) = (number(kept)?, number(kept + rejected)?);
        for part in &mut parts {
            part.first_rejected += kept;
        }
        Ok(CorpusPages {
            corpora,
            parts,
            kept,
            all,
        })
    }

    /// The corpora.
    pub fn corpora(&self) -> &[Corpus] {
        &self.corpora
    }

    /// How many pages have text: their numbers are below this.
    pub fn kept(&self) -> u32 {
        self.kept
    }

    /// How many pages there are, rejected ones too.
    pub fn all(&self) -> u32 {
        self.all
    }

    /// How many of the kept pages are in the corpora before this one.
    pub fn kept_before(&self, corpus: usize) -> u32 {
        let first = self.parts.iter().find(|part| part.corpus >= corpus);
        first.map_or(self.kept, |part| part.first_kept)
    }

    /// How many of the rejected pages are in the corpora before this one.
    pub fn rejected_before(&self, corpus: usize) -> u32 {
        let first = self.parts.iter().find(|part| part.corpus >= corpus);
        first.map_or(self.all, |part| part.first_rejected) - self.kept
    }

    /// Whether every corpus keeps its text.
    pub fn has_text(&self) -> bool {
        self.corpora.iter().all(|corpus| corpus.parameters().text)
    }

    /// What the corpora hold and how they were made, as data: findings are cached under a hash of
    /// it, and a flow over them is resumed only over the same. Corpora that differ in a byte of a
    /// table or in a parameter have different identities; where they lie does not matter.
    pub fn identity(&self) -> Value {
        let corpora = self.corpora.iter().map(|corpus| {
            let parts = &corpus.manifest().parts;
            let mut hasher = blake3::Hasher::new();
            hasher.update(json!(corpus.parameters()).to_string().as_bytes());
            for part in parts {
                for file in [Some(&part.pages), part.text.as_ref(), Some(&part.chunks)] {
                    hasher.update(b"\n");
                    hasher.update(file.map_or("", |file| &file.blake3).as_bytes());
                }
            }
            json!({ "parts": parts.len(), "blake3": hasher.finalize().to_hex().to_string() })
        });
        corpora.collect()
    }

    /// One task for each part: for its pages table.
    pub fn page_tasks(&self) -> Vec<Value> {
        (0..self.parts.len()).map(|part| json!(part)).collect()
    }

    /// Tasks that cover all texts.
    pub fn text_tasks(&self) -> Vec<Value> {
        let mut tasks = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            // Long texts make tasks of fewer rows, so that all cores have work until the end.
            let text_bytes = self.corpus(part).manifest().parts.get(part.part);
            let text_bytes = text_bytes.map_or(0, |part| part.counts.text_bytes);
            let mean_bytes = text_bytes / u64::from(part.kept.max(1));
            let enough = (TASK_BYTES / mean_bytes.max(1)).clamp(1, TASK_ROWS);
            let (mut first_group, mut first, mut rows) = (0, part.first_kept, 0);
            for (group, &group_rows) in part.groups.iter().enumerate() {
                rows += group_rows;
                if rows >= enough || group + 1 == part.groups.len() {
                    tasks.push(json!(TextTask {
                        part: index,
                        first_group,
                        groups: group + 1 - first_group,
                        first,
                    }));
                    first_group = group + 1;
                    first += rows as u32;
                    rows = 0;
                }
            }
        }
        tasks
    }

    /// Calls `each` with every text of a task and its page's number, in order.
    pub fn for_each_text<E: From<Error>>(
        &self,
        task: &TextTask,
        mut each: impl FnMut(u32, &str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let part = self.part(task.part)?;
        let groups = task.first_group..task.first_group + task.groups;
        let batches = self
            .corpus(part)
            .scan_groups(part.part, Table::Text, &["text"], groups, TEXT_BATCH)
            .map_err(Error::from)?;
        let mut number = task.first;
        for batch in batches {
            let batch = batch.map_err(Error::from)?;
            let texts = batch.column(0).as_string::<i32>();
            for row in 0..texts.len() {
                each(number, texts.value(row))?;
                number += 1;
            }
        }
        Ok(())
    }

    /// Tasks that cover all chunks as the corpora store them.
    pub fn chunk_tasks(&self) -> Result<Vec<ChunkTask>> {
        let mut tasks = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            let groups = self.corpus(part).group_rows(part.part, Table::Chunks)?;
            let (mut first_group, mut rows) = (0, 0);
            for (group, &group_rows) in groups.iter().enumerate() {
                rows += group_rows;
                if rows >= TASK_CHUNKS || group + 1 == groups.len() {
                    tasks.push(ChunkTask {
                        part: index,
                        first_group,
                        groups: group + 1 - first_group,
                    });
                    (first_group, rows) = (group + 1, 0);
                }
            }
        }
        Ok(tasks)
    }

    /// Calls `each` with the hash of every stored chunk of a task and its page's number, in order.
    pub fn for_each_chunk<E: From<Error>>(
        &self,
        task: &ChunkTask,
        mut each: impl FnMut(u32, &[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.chunk_rows(task, &["chunk_hash", "page_id"], |number, batch, row| {
            each(number, batch.column(0).as_fixed_size_binary().value(row))
        })
    }

    /// The same, with the place of each chunk on its page.
    pub fn for_each_placed_chunk<E: From<Error>>(
        &self,
        task: &ChunkTask,
        mut each: impl FnMut(u32, ChunkRow) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let columns = ["chunk_hash", "page_id", "ordinal", "begin", "end"];
        self.chunk_rows(task, &columns, |number, batch, row| {
            let place = |column| batch.column(column).as_primitive::<UInt32Type>().value(row);
            let hash = batch.column(0).as_fixed_size_binary().value(row);
            let chunk = ChunkRow {
                hash: hash.try_into().unwrap_or_default(),
                ordinal: place(2),
                begin: place(3),
                end: place(4),
            };
            each(number, chunk)
        })
    }

    /// Calls `each` with every row of a task and its page's number. The columns begin with those of
    /// the hash and of the page.
    fn chunk_rows<E: From<Error>>(
        &self,
        task: &ChunkTask,
        columns: &[&str],
        mut each: impl FnMut(u32, &RecordBatch, usize) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let part = self.part(task.part)?;
        let corpus = self.corpus(part);
        let groups = task.first_group..task.first_group + task.groups;
        let batches = corpus
            .scan_groups(part.part, Table::Chunks, columns, groups, CHUNK_BATCH)
            .map_err(Error::from)?;
        // Both tables are in the order of page ids; of the pages, the kept ones have numbers.
        let mut kept = corpus
            .scan_part(part.part, Table::Pages, &["page_id", "reject"])
            .flat_map(|batch| match batch {
                Err(error) => vec![Err(error)],
                Ok(batch) => {
                    let rejects = batch.column(1);
                    let ids = batch.column(0).as_primitive::<UInt64Type>();
                    let rows = (0..ids.len()).filter(|&row| rejects.is_null(row));
                    rows.map(|row| Ok(ids.value(row))).collect()
                }
            });
        let (mut number, mut current) = (part.first_kept, None);
        for batch in batches {
            let batch = batch.map_err(Error::from)?;
            let ids = batch.column(1).as_primitive::<UInt64Type>().values();
            for (row, &id) in ids.iter().enumerate() {
                while current.is_none_or(|current| current < id) {
                    number += u32::from(current.is_some());
                    let next = kept.next().ok_or_else(|| damaged(corpus))?;
                    current = Some(next.map_err(Error::from)?);
                }
                if current == Some(id) {
                    each(number, &batch, row)?;
                }
            }
        }
        Ok(())
    }

    /// Calls `each` with the texts of some pages. Numbers must ascend; rejected pages have no text
    /// and are passed over.
    pub fn texts<E: From<Error>>(
        &self,
        numbers: &[u32],
        mut each: impl FnMut(u32, &str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut rest = numbers;
        for part in &self.parts {
            let end = part.first_kept + part.kept;
            let (now, later) = rest.split_at(rest.partition_point(|&number| number < end));
            rest = later;
            if now.is_empty() {
                continue;
            }
            let rows: Vec<u64> = now
                .iter()
                .map(|&number| u64::from(number - part.first_kept))
                .collect();
            let batches = self
                .corpus(part)
                .pick(part.part, Table::Text, &["text"], &rows, TEXT_BATCH)
                .map_err(Error::from)?;
            let mut numbers = now.iter();
            for batch in batches {
                let batch = batch.map_err(Error::from)?;
                let texts = batch.column(0).as_string::<i32>();
                for (row, &number) in (0..texts.len()).zip(numbers.by_ref()) {
                    each(number, texts.value(row))?;
                }
            }
        }
        Ok(())
    }

    /// Calls `each` with the facts of every page of a task, in the order of page ids.
    pub fn for_each_page<E: From<Error>>(
        &self,
        task: usize,
        mut each: impl FnMut(PageFacts<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let part = self.part(task)?;
        let corpus = self.corpus(part);
        let groups = corpus
            .group_rows(part.part, Table::Pages)
            .map_err(Error::from)?
            .len();
        let batches = corpus
            .scan_groups(part.part, Table::Pages, &FACTS, 0..groups, PAGE_BATCH)
            .map_err(Error::from)?;
        let (mut kept, mut rejected) = (part.first_kept, part.first_rejected);
        for batch in batches {
            let batch = batch.map_err(Error::from)?;
            let columns = Columns::of(&batch).ok_or_else(|| damaged(corpus))?;
            for row in 0..batch.num_rows() {
                let counter = if columns.reject.is_null(row) {
                    &mut kept
                } else {
                    &mut rejected
                };
                each(columns.facts(*counter, part.corpus, row))?;
                *counter += 1;
            }
        }
        Ok(())
    }

    /// Calls `each` with the links of every kept page of a task: hashes of what they lead to, and
    /// domains. They are long, so only who needs them reads them.
    pub fn for_each_links<E: From<Error>>(
        &self,
        task: usize,
        mut each: impl FnMut(u32, &[u64], &[&str]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let part = self.part(task)?;
        let corpus = self.corpus(part);
        let groups = corpus
            .group_rows(part.part, Table::Pages)
            .map_err(Error::from)?
            .len();
        let columns = ["link_domains", "link_hashes", "reject"];
        let batches = corpus
            .scan_groups(part.part, Table::Pages, &columns, 0..groups, PAGE_BATCH)
            .map_err(Error::from)?;
        let mut number = part.first_kept;
        for batch in batches {
            let batch = batch.map_err(Error::from)?;
            let list = |name| batch.column_by_name(name)?.as_list_opt::<i32>();
            let reject = batch.column_by_name("reject");
            let (Some(domains), Some(hashes), Some(reject)) =
                (list("link_domains"), list("link_hashes"), reject)
            else {
                return Err(damaged(corpus).into());
            };
            for row in 0..batch.num_rows() {
                if !reject.is_null(row) {
                    continue;
                }
                let (domains, hashes) = (domains.value(row), hashes.value(row));
                let domains = domains.as_string_opt::<i32>();
                let hashes = hashes.as_primitive_opt::<UInt64Type>();
                let (Some(domains), Some(hashes)) = (domains, hashes) else {
                    return Err(damaged(corpus).into());
                };
                let domains: Vec<&str> = domains.iter().flatten().collect();
                each(number, hashes.values(), &domains)?;
                number += 1;
            }
        }
        Ok(())
    }

    fn part(&self, part: usize) -> Result<&Part> {
        self.parts
            .get(part)
            .ok_or_else(|| Error::Bug(format!("there is no part {part}")))
    }

    fn corpus(&self, part: &Part) -> &Corpus {
        &self.corpora[part.corpus]
    }
}

/// Fails if the texts of corpora were chosen differently. How they were cut into chunks is no
/// matter: each analysis cuts its own.
fn check_alike(corpora: &[Corpus]) -> Result<()> {
    let Some(first) = corpora.first() else {
        return Ok(());
    };
    let wanted = first.parameters().content;
    for corpus in corpora {
        let found = corpus.parameters().content;
        if found != wanted {
            return Err(cento_store::Error::Unlike {
                path: corpus.path().to_owned(),
                name: "content",
                found: found.to_string(),
                wanted: wanted.to_string(),
            }
            .into());
        }
    }
    Ok(())
}

fn damaged(corpus: &Corpus) -> Error {
    cento_store::Error::Damaged {
        path: corpus.path().to_owned(),
        detail: "its tables do not fit together".to_owned(),
    }
    .into()
}

fn number(count: u64) -> Result<u32> {
    u32::try_from(count)
        .ok()
        .filter(|&count| count < u32::MAX)
        .ok_or(Error::TooManyPages(count))
}

/// The columns of a batch of pages, by type.
struct Columns<'a> {
    page_id: &'a arrow_array::UInt64Array,
    url: &'a arrow_array::StringArray,
    host: &'a arrow_array::StringArray,
    domain: &'a arrow_array::StringArray,
    ip: &'a arrow_array::StringArray,
    fetched_at: &'a arrow_array::TimestampMillisecondArray,
    published_at: &'a arrow_array::TimestampMillisecondArray,
    status: &'a arrow_array::UInt16Array,
    bytes: &'a arrow_array::UInt64Array,
    payload_sha1: &'a arrow_array::FixedSizeBinaryArray,
    text_hash: &'a arrow_array::FixedSizeBinaryArray,
    words: &'a arrow_array::UInt32Array,
    reject: &'a arrow_array::StringArray,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch) -> Option<Columns<'a>> {
        let text = |name| batch.column_by_name(name)?.as_string_opt::<i32>();
        let time = |name| {
            batch
                .column_by_name(name)?
                .as_primitive_opt::<TimestampMillisecondType>()
        };
        let binary = |name| batch.column_by_name(name)?.as_fixed_size_binary_opt();
        let long = |name| batch.column_by_name(name)?.as_primitive_opt::<UInt64Type>();
        Some(Columns {
            page_id: long("page_id")?,
            url: text("url")?,
            host: text("host")?,
            domain: text("domain")?,
            ip: text("ip")?,
            fetched_at: time("fetched_at")?,
            published_at: time("published_at")?,
            status: batch
                .column_by_name("status")?
                .as_primitive_opt::<UInt16Type>()?,
            bytes: long("bytes")?,
            payload_sha1: binary("payload_sha1")?,
            text_hash: binary("text_hash")?,
            words: batch
                .column_by_name("words")?
                .as_primitive_opt::<UInt32Type>()?,
            reject: text("reject")?,
        })
    }

    fn facts(&self, number: u32, corpus: usize, row: usize) -> PageFacts<'a> {
        fn text(column: &arrow_array::StringArray, row: usize) -> Option<&str> {
            column.is_valid(row).then(|| column.value(row))
        }
        fn binary(column: &arrow_array::FixedSizeBinaryArray, row: usize) -> Option<&[u8]> {
            column.is_valid(row).then(|| column.value(row))
        }
        let time = |column: &arrow_array::TimestampMillisecondArray| {
            column.is_valid(row).then(|| column.value(row))
        };
        PageFacts {
            number,
            corpus,
            page_id: self.page_id.value(row),
            url: self.url.value(row),
            host: text(self.host, row),
            domain: text(self.domain, row),
            ip: text(self.ip, row),
            fetched_at: time(self.fetched_at),
            published_at: time(self.published_at),
            status: self.status.is_valid(row).then(|| self.status.value(row)),
            bytes: self.bytes.value(row),
            payload_sha1: binary(self.payload_sha1, row),
            revisit: text(self.reject, row) == Some(cento_read::Reject::Revisit.name()),
            text_hash: binary(self.text_hash, row),
            words: self.words.value(row),
            reject: text(self.reject, row),
        }
    }
}

impl std::fmt::Debug for CorpusPages {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("CorpusPages")
            .field("corpora", &self.corpora)
            .field("kept", &self.kept)
            .field("all", &self.all)
            .finish_non_exhaustive()
    }
}
