//! The pages of one or more corpora, numbered densely for a run.
//!
//! ```text
//!   0 ─────── kept pages, in the order of corpora and page ids ─────── K ── rejected pages ── N
//! ```
//!
//! The text of a kept page is found by its number, so no table of numbers is in memory. Rejected
//! pages come after all kept ones; only analyses of whole files use them.

use std::path::Path;
use std::sync::Arc;

use cento_store::{
    ChunkColumns, ChunkRow, Corpus, Projection, Table, chunks, pages, projection, text,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{Error, Result};

/// The number of texts that are decoded together: few, because texts can be long.
const TEXT_BATCH: usize = 64;
const PAGE_BATCH: usize = 1024;
/// The number of texts after which a task may end, so that small corpora are not split too finely.
const TASK_ROWS: u64 = 2_000;
/// The bytes of text after which a task may end.
const TASK_BYTES: u64 = 8 << 20;
const CHUNK_BATCH: usize = 1 << 13;
/// The number of chunks after which a task may end.
const TASK_CHUNKS: u64 = 100_000;

/// The pages of one or more corpora, which are read as one.
pub struct CorpusPages {
    corpora: Arc<[Corpus]>,
    parts: Vec<NumberedPart>,
    kept: u32,
    all: u32,
}

struct NumberedPart {
    corpus: usize,
    part: usize,
    first_kept: u32,
    kept: u32,
    first_rejected: u32,
    /// The number of rows of each row group of the text.
    groups: Vec<u64>,
}

/// A map task over some texts of one part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TextTask {
    part: usize,
    first_group: usize,
    groups: usize,
    first: u32,
}

/// A map task over some rows of the table of chunks of one part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChunkTask {
    part: usize,
    first_group: usize,
    groups: usize,
}

/// A row of the pages table.
#[derive(Debug, Clone, Copy)]
pub struct PageFacts<'a> {
    /// Its number in this run.
    pub number: u32,
    /// Which of the corpora it is in.
    pub corpus: usize,
    /// Its id in that corpus.
    pub page_id: u64,
    /// Its URL.
    pub url: &'a str,
    /// The host of the URL.
    pub host: Option<&'a str>,
    /// The registered domain of the host.
    pub domain: Option<&'a str>,
    /// The IP address of the server.
    pub ip: Option<&'a str>,
    /// When it was fetched, in milliseconds.
    pub fetched_at: Option<i64>,
    /// When it was published, according to the page.
    pub published_at: Option<i64>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The bytes of its payload.
    pub bytes: u64,
    /// The SHA-1 of its payload.
    pub payload_sha1: Option<&'a [u8]>,
    /// Whether it is a revisit record: one stating that the payload has not changed, whether or not
    /// it names the earlier capture.
    pub revisit: bool,
    /// The hash of its text.
    pub text_hash: Option<&'a [u8]>,
    /// The number of words of its text.
    pub words: u32,
    /// Why it was rejected; null for kept pages.
    pub reject: Option<&'a str>,
}

/// The bytes of a row of the table of pages, about.
const INPUT_OF_PAGE: u64 = 128;

impl CorpusPages {
    /// Opens corpora. All must have the same content selection, main content or everything, because
    /// their texts are compared. A corpus whose last index was interrupted is refused: an analysis
    /// of some of its pages could be mistaken for one of all.
    pub fn open(paths: &[&Path]) -> Result<CorpusPages> {
        Self::open_by(paths, Corpus::open)
    }

    /// Opens corpora, and accepts those whose last index was interrupted with the pages they have.
    pub fn open_partial(paths: &[&Path]) -> Result<CorpusPages> {
        Self::open_by(paths, Corpus::open_partial)
    }

    fn open_by(
        paths: &[&Path],
        open: fn(&Path) -> cento_store::Result<Corpus>,
    ) -> Result<CorpusPages> {
        let corpora = paths.iter().map(|path| open(path));
        Self::of(corpora.collect::<std::result::Result<Vec<_>, _>>()?)
    }

    /// Numbers the pages of corpora that are open.
    pub fn of(corpora: Vec<Corpus>) -> Result<CorpusPages> {
        check_content(&corpora)?;
        let mut parts = Vec::new();
        let (mut kept, mut rejected) = (0u64, 0u64);
        for (corpus, opened) in corpora.iter().enumerate() {
            for (part, entry) in opened.manifest().parts.iter().enumerate() {
                let part = NumberedPart {
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
            corpora: corpora.into(),
            parts,
            kept,
            all,
        })
    }

    /// Returns the corpora.
    pub fn corpora(&self) -> &[Corpus] {
        &self.corpora
    }

    /// Returns the corpora, to be kept longer than this.
    pub(crate) fn shared_corpora(&self) -> Arc<[Corpus]> {
        Arc::clone(&self.corpora)
    }

    /// Returns the number of kept pages; their numbers are below it.
    pub fn kept(&self) -> u32 {
        self.kept
    }

    /// Returns the number of all pages, including rejected ones.
    pub fn all(&self) -> u32 {
        self.all
    }

    /// Returns the number of kept pages in the corpora before this one.
    pub fn kept_before(&self, corpus: usize) -> u32 {
        let first = self.parts.iter().find(|part| part.corpus >= corpus);
        first.map_or(self.kept, |part| part.first_kept)
    }

    /// Returns the number of rejected pages in the corpora before this one.
    pub fn rejected_before(&self, corpus: usize) -> u32 {
        let first = self.parts.iter().find(|part| part.corpus >= corpus);
        first.map_or(self.all, |part| part.first_rejected) - self.kept
    }

    /// Returns how many bytes an analysis reads, about: texts, addresses and links. It depends on
    /// the pages alone.
    pub fn input_bytes(&self) -> u64 {
        let parts = self
            .corpora
            .iter()
            .flat_map(|corpus| &corpus.manifest().parts);
        let counts = parts.map(|part| {
            let pages = part.counts.pages.saturating_mul(INPUT_OF_PAGE);
            let content = part.counts.payload_bytes.max(part.counts.text_bytes);
            pages.saturating_add(content)
        });
        counts.fold(0, u64::saturating_add)
    }

    /// The bytes of texts that are in memory. They are part of the memory budget.
    pub fn bytes_in_memory(&self) -> u64 {
        self.corpora.iter().map(Corpus::bytes_in_memory).sum()
    }

    /// Whether every corpus has text.
    pub fn has_text(&self) -> bool {
        self.corpora.iter().all(|corpus| corpus.parameters().text)
    }

    /// Returns the identity of the corpora: findings are cached under a hash of it, and a flow is
    /// resumed only over corpora with the same identity. It covers the parameters and every byte of
    /// the tables, but not the paths. Of a temporary corpus it covers the table of pages, which
    /// contains a hash of every text.
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

    /// Returns one task for the pages table of each part.
    pub fn page_tasks(&self) -> Vec<Value> {
        (0..self.parts.len()).map(|part| json!(part)).collect()
    }

    /// Returns tasks that cover all texts.
    pub fn text_tasks(&self) -> Vec<Value> {
        self.text_tasks_from(0)
    }

    /// Returns the number of kept pages before a part; parts are numbered over all corpora.
    pub fn kept_before_part(&self, part: usize) -> u32 {
        self.parts
            .get(part)
            .map_or(self.kept, |part| part.first_kept)
    }

    /// Returns tasks that cover the texts of a part and of all parts after it.
    pub fn text_tasks_from(&self, first_part: usize) -> Vec<Value> {
        let mut tasks = Vec::new();
        for (index, part) in self.parts.iter().enumerate().skip(first_part) {
            // Tasks of long texts have fewer rows, to balance the load.
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

    /// Calls `each` with the page number and the text of every page of a task, in order.
    pub fn for_each_text<E: From<Error>>(
        &self,
        task: &TextTask,
        mut each: impl FnMut(u32, &str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.walk_texts(task, &mut each)
    }

    fn walk_texts<E: From<Error>>(
        &self,
        task: &TextTask,
        each: &mut dyn FnMut(u32, &str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let part = self.part(task.part)?;
        let groups = task.first_group..task.first_group + task.groups;
        let batches = self
            .corpus(part)
            .scan_groups::<TextOfPages>(part.part, groups, TEXT_BATCH)
            .map_err(Error::from)?;
        let mut number = task.first;
        for batch in batches {
            let batch = batch.map_err(Error::from)?;
            for text in batch.text.iter() {
                each(number, text)?;
                number += 1;
            }
        }
        Ok(())
    }

    /// Returns tasks that cover all stored chunks.
    pub fn chunk_tasks(&self) -> Result<Vec<ChunkTask>> {
        let mut tasks = Vec::new();
        // No analysis that reads chunks has such a corpus, unless somebody else has made it.
        let without = |corpus: &&Corpus| corpus.manifest().texts_only;
        if let Some(corpus) = self.corpora.iter().find(without) {
            return Err(Error::corrupted(corpus.path(), "its chunks are not stored"));
        }
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

    /// Calls `each` with the page number and the hash of every chunk of a task, in order.
    pub fn for_each_chunk<E: From<Error>>(
        &self,
        task: &ChunkTask,
        mut each: impl FnMut(u32, &[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.chunk_rows::<ChunkHashes, E>(
            task,
            |batch| batch.page_id.values(),
            |number, batch, row| each(number, batch.chunk_hash.bytes(row)),
        )
    }

    /// Calls `each` with the page number and the row of every chunk of a task, in order.
    pub fn for_each_placed_chunk<E: From<Error>>(
        &self,
        task: &ChunkTask,
        mut each: impl FnMut(u32, ChunkRow) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.chunk_rows::<ChunkColumns, E>(
            task,
            |batch| batch.page_id.values(),
            |number, batch, row| each(number, batch.row(row)),
        )
    }

    /// Calls `each` with the page number, the batch and the row of every chunk of a task.
    /// `page_ids` returns the page ids of a batch.
    fn chunk_rows<P: Projection, E: From<Error>>(
        &self,
        task: &ChunkTask,
        page_ids: impl Fn(&P) -> &[u64],
        mut each: impl FnMut(u32, &P, usize) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let part = self.part(task.part)?;
        let corpus = self.corpus(part);
        let groups = task.first_group..task.first_group + task.groups;
        let batches = corpus
            .scan_groups::<P>(part.part, groups, CHUNK_BATCH)
            .map_err(Error::from)?;
        // Both tables are in the order of page ids; of the pages, the kept ones have numbers.
        let mut kept = corpus
            .scan_part::<PageIds>(part.part)
            .flat_map(|batch| match batch {
                Err(error) => vec![Err(error)],
                Ok(batch) => {
                    let rows = (0..batch.rows()).filter(|&row| batch.reject.is_null(row));
                    rows.map(|row| Ok(batch.page_id.value(row))).collect()
                }
            });
        let (mut number, mut current) = (part.first_kept, None);
        for batch in batches {
            let batch = batch.map_err(Error::from)?;
            for (row, &id) in page_ids(&batch).iter().enumerate() {
                while current.is_none_or(|current| current < id) {
                    number += u32::from(current.is_some());
                    let next = kept.next().ok_or_else(|| inconsistent(corpus))?;
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
    /// and are skipped.
    pub fn texts<E: From<Error>>(
        &self,
        numbers: &[u32],
        mut each: impl FnMut(u32, &str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.walk_some_texts(numbers, &mut each)
    }

    fn walk_some_texts<E: From<Error>>(
        &self,
        numbers: &[u32],
        each: &mut dyn FnMut(u32, &str) -> std::result::Result<(), E>,
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
                .pick::<TextOfPages>(part.part, &rows, TEXT_BATCH)
                .map_err(Error::from)?;
            let mut numbers = now.iter();
            for batch in batches {
                let batch = batch.map_err(Error::from)?;
                for (text, &number) in batch.text.iter().zip(numbers.by_ref()) {
                    each(number, text)?;
                }
            }
        }
        Ok(())
    }

    /// Calls `each` with every page of a task, in the order of page ids.
    pub fn for_each_page<E: From<Error>>(
        &self,
        task: usize,
        mut each: impl FnMut(PageFacts<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.walk_pages(task, &mut each)
    }

    fn walk_pages<E: From<Error>>(
        &self,
        task: usize,
        each: &mut dyn FnMut(PageFacts<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let part = self.part(task)?;
        let corpus = self.corpus(part);
        let groups = corpus
            .group_rows(part.part, Table::Pages)
            .map_err(Error::from)?
            .len();
        let batches = corpus
            .scan_groups::<FactColumns>(part.part, 0..groups, PAGE_BATCH)
            .map_err(Error::from)?;
        let (mut kept, mut rejected) = (part.first_kept, part.first_rejected);
        for batch in batches {
            let batch = batch.map_err(Error::from)?;
            for row in 0..batch.rows() {
                let counter = if batch.reject.is_null(row) {
                    &mut kept
                } else {
                    &mut rejected
                };
                each(batch.facts(*counter, part.corpus, row))?;
                *counter += 1;
            }
        }
        Ok(())
    }

    /// Calls `each` with the links of every kept page of a task: the hashes of their targets, and
    /// the domains. They are separate from [`PageFacts`] because they are long.
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
        let batches = corpus
            .scan_groups::<LinkColumns>(part.part, 0..groups, PAGE_BATCH)
            .map_err(Error::from)?;
        let mut number = part.first_kept;
        for batch in batches {
            let batch = batch.map_err(Error::from)?;
            for row in 0..batch.rows() {
                if !batch.reject.is_null(row) {
                    continue;
                }
                let domains: Vec<&str> = batch.link_domains.value(row).collect();
                each(number, batch.link_hashes.value(row), &domains)?;
                number += 1;
            }
        }
        Ok(())
    }

    fn part(&self, part: usize) -> Result<&NumberedPart> {
        self.parts
            .get(part)
            .ok_or_else(|| Error::Bug(format!("the corpora have no part {part}")))
    }

    fn corpus(&self, part: &NumberedPart) -> &Corpus {
        &self.corpora[part.corpus]
    }
}

/// Fails if corpora have different content selections. Their chunks may differ, because analyses
/// cut texts themselves.
fn check_content(corpora: &[Corpus]) -> Result<()> {
    let Some(first) = corpora.first() else {
        return Ok(());
    };
    let expected = first.parameters().content;
    for corpus in corpora {
        let found = corpus.parameters().content;
        if found != expected {
            return Err(cento_store::Error::ParametersDiffer {
                path: corpus.path().to_owned(),
                name: "content",
                found: found.to_string(),
                requested: expected.to_string(),
            }
            .into());
        }
    }
    Ok(())
}

fn inconsistent(corpus: &Corpus) -> Error {
    cento_store::Error::Corrupted {
        path: corpus.path().to_owned(),
        detail: "its tables are inconsistent".to_owned(),
    }
    .into()
}

fn number(count: u64) -> Result<u32> {
    u32::try_from(count)
        .ok()
        .filter(|&count| count < u32::MAX)
        .ok_or(Error::TooManyPages(count))
}

projection! {
    /// The texts of pages.
    struct TextOfPages of text { text }
}

projection! {
    /// The hashes of chunks.
    struct ChunkHashes of chunks { chunk_hash, page_id }
}

projection! {
    /// Which pages were kept.
    struct PageIds of pages { page_id, reject }
}

projection! {
    /// The links of pages.
    struct LinkColumns of pages { link_domains, link_hashes, reject }
}

projection! {
    /// What [`PageFacts`] are read from.
    struct FactColumns of pages {
        page_id, url, host, domain, ip, fetched_at, published_at, status, bytes, payload_sha1,
        text_hash, words, reject,
    }
}

impl FactColumns {
    fn facts(&self, number: u32, corpus: usize, row: usize) -> PageFacts<'_> {
        let reject = self.reject.value(row);
        PageFacts {
            number,
            corpus,
            page_id: self.page_id.value(row),
            url: self.url.value(row),
            host: self.host.value(row),
            domain: self.domain.value(row),
            ip: self.ip.value(row),
            fetched_at: self.fetched_at.value(row),
            published_at: self.published_at.value(row),
            status: self.status.value(row),
            bytes: self.bytes.value(row),
            payload_sha1: self.payload_sha1.bytes(row),
            revisit: reject == Some(cento_read::Reject::Revisit.name()),
            text_hash: self.text_hash.bytes(row),
            words: self.words.value(row),
            reject,
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
