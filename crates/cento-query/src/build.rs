//! Builds and extends an index.
//!
//! ```text
//!   texts ─ fingerprint ─┬▶ by fingerprint ─────────────── list ─▶ postings ─┐
//!   old segments ─ sets ─┴▶ by set ─ collapse ─▶ copies ─────┘               ├─▶ segment
//!                                    └▶ by page, by representative ─▶ tables ┘
//! ```
//!
//! A flow sorts the fingerprints of the new pages in bounded memory, and one pass over its tables
//! writes the segment. Pages with the same set of fingerprints as an earlier page of the corpus,
//! in this segment or an earlier one, are copies: they have an entry and no postings, as in
//! `cento reuse`. So the number of distinct pages of a fingerprint is the sum over all segments.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_file::PrivateFolder;
use cento_find::reuse::{PageFingerprints, ReuseParams};
use cento_find::{CorpusPages, TextTask, read_rows};
use cento_fingerprint::Scheme;
use cento_flow::{
    Bitmap, CHECKPOINT, Flow, Progress, Registry, Row, RunReport, Runner, Stage, StageError,
    TableName, table_row,
};
use cento_store::Manifest;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::entry_block::PageEntry;
use crate::error::{Error, Result};
use crate::root::{IndexRoot, ListedSegment, folder_of, hash_of_parts};
use crate::segment::{FORMAT_NEWEST, Segment};
use crate::segment_writer::SegmentWriter;

/// The most segments of an index. Another addition builds the whole index again, as one segment.
pub(crate) const MOST_SEGMENTS: usize = 8;
/// The blocks of entries of an old segment that a task reads.
const TASK_BLOCKS: usize = 4096;

/// The resources for building an index.
#[derive(Clone)]
pub struct IndexResources {
    /// The number of threads.
    pub threads: usize,
    /// The memory budget, in bytes.
    pub memory: u64,
    /// The folder of temporary files; a folder in the corpus by default.
    pub temp: Option<PathBuf>,
    /// Whether to build the index again, even if it covers all pages.
    pub again: bool,
    /// Reports progress to observers, and lets them stop the run.
    pub progress: Arc<Progress>,
}

/// What [`update`] has done, and the index after it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UpdatedIndex {
    /// The pages that were added to the index; 0 if it covered all pages.
    pub added_pages: u64,
    /// The pages that the index covers.
    pub pages: u64,
    /// The size of the index, in bytes.
    pub bytes: u64,
    /// Bytes of the text of these pages.
    pub text_bytes: u64,
    /// The number of segments.
    pub segments: usize,
    /// The stages of the flow, if it ran.
    pub report: Option<RunReport>,
}

/// Builds the index of a corpus, or extends it to pages that were added to the corpus. Does nothing
/// if the index covers all pages.
///
/// An index of other parameters or of a corpus that was replaced is built again. So is an index
/// with many segments. The result does not depend on threads and memory.
pub fn update(corpus: &Path, resources: &IndexResources) -> Result<UpdatedIndex> {
    let source = Arc::new(CorpusPages::open(&[corpus])?);
    let Some(manifest) = source.corpora().first().map(|corpus| corpus.manifest()) else {
        return Err(Error::NotIndexed(corpus.to_owned()));
    };
    if !source.has_text() {
        let why = "the corpus keeps no text, and fingerprints are computed from text";
        return Err(Error::Unsuitable(why.to_owned()));
    }
    let known = usable_root(corpus, manifest)?.filter(|_| !resources.again);
    let covers_all = |root: &IndexRoot| root.parts() == manifest.parts.len();
    if let Some(root) = known.as_ref().filter(|root| covers_all(root)) {
        return Ok(UpdatedIndex::of(root, 0, None));
    }
    let folder = folder_of(corpus);
    fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, error))?;
    let lock_path = folder.join(".lock");
    let lock = cento_file::lock(&lock_path).map_err(|error| Error::io(&lock_path, error))?;
    let Some(_lock) = lock else {
        return Err(Error::Busy(corpus.to_owned()));
    };
    // Another process may have extended the index before the lock was taken.
    let known = usable_root(corpus, manifest)?.filter(|_| !resources.again);
    if let Some(root) = known.as_ref().filter(|root| covers_all(root)) {
        return Ok(UpdatedIndex::of(root, 0, None));
    }
    let scheme = ReuseParams::default().scheme;
    let mut root = known
        .filter(|root| root.segments.len() < MOST_SEGMENTS)
        .unwrap_or(IndexRoot {
            format: FORMAT_NEWEST,
            scheme,
            segments: Vec::new(),
        });
    let old = open_segments(&folder, &root)?;
    let build = SegmentBuild {
        source: &source,
        manifest,
        folder: &folder,
        scheme,
        first_part: root.parts(),
        old: Arc::new(old),
        resources,
    };
    let (segment, report) = build.run()?;
    let added = u64::from(segment.pages);
    root.segments.push(segment);
    root.save(corpus)?;
    Ok(UpdatedIndex::of(&root, added, Some(report)))
}

/// Returns the index of a corpus, if it has one that can be extended. A corrupted index, and one of
/// another scheme or of other pages, is built again.
fn usable_root(corpus: &Path, manifest: &Manifest) -> Result<Option<IndexRoot>> {
    let root = match IndexRoot::load(corpus) {
        Err(Error::Corrupted { .. }) => None,
        loaded => loaded?,
    };
    let scheme = ReuseParams::default().scheme;
    let folder = folder_of(corpus);
    Ok(root.filter(|root| {
        root.scheme == scheme && root.is_of(manifest) && open_segments(&folder, root).is_ok()
    }))
}

/// Opens the segments of an index, and checks that they cover consecutive pages.
pub(crate) fn open_segments(folder: &Path, root: &IndexRoot) -> Result<Vec<Segment>> {
    let mut segments = Vec::with_capacity(root.segments.len());
    let mut next = 0;
    for listed in &root.segments {
        let path = folder.join(&listed.file);
        let segment = Segment::open(&path)?;
        let footer = segment.footer();
        if (footer.first_page, footer.pages, footer.scheme) != (next, listed.pages, root.scheme) {
            return Err(Error::corrupted(&path, "it is a segment of another index"));
        }
        next += footer.pages;
        segments.push(segment);
    }
    Ok(segments)
}

/// Describes the index of a corpus, which may not cover pages that were added; `None` if there is
/// none.
pub fn summary(corpus: &Path) -> Result<Option<UpdatedIndex>> {
    let root = IndexRoot::load(corpus)?;
    Ok(root.map(|root| UpdatedIndex::of(&root, 0, None)))
}

impl UpdatedIndex {
    fn of(root: &IndexRoot, added_pages: u64, report: Option<RunReport>) -> UpdatedIndex {
        let segments = root.segments.iter();
        let pages = segments.clone().map(|segment| u64::from(segment.pages));
        UpdatedIndex {
            added_pages,
            pages: pages.sum(),
            bytes: segments.clone().map(|segment| segment.bytes).sum(),
            text_bytes: segments.map(|segment| segment.text_bytes).sum(),
            segments: root.segments.len(),
            report,
        }
    }
}

/// A fingerprint of a page. The key is the fingerprint itself, so that tables are sorted by it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed(4))]
struct IndexedFingerprint {
    fingerprint: u64,
    page: u32,
}

impl Row for IndexedFingerprint {
    type Key = u64;
    type Rest = u32;

    #[inline(always)]
    fn key(&self) -> u64 {
        self.fingerprint
    }

    #[inline(always)]
    fn rest(&self) -> u32 {
        self.page
    }
}

/// The set of fingerprints of a page.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PageSet {
    high: u64,
    low: u64,
    page: u32,
    fingerprints: u32,
}

impl Row for PageSet {
    type Key = u128;
    type Rest = u32;

    #[inline(always)]
    fn key(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    #[inline(always)]
    fn rest(&self) -> u32 {
        self.page
    }
}

/// A page with its set and the first page that has the same set.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct CollapsedPage {
    set: PageSet,
    representative: u32,
    unused: u32,
}

impl Row for CollapsedPage {
    type Key = u32;
    type Rest = u32;

    fn key(&self) -> u32 {
        self.set.page
    }

    fn rest(&self) -> u32 {
        self.representative
    }
}

/// A page with the same set as an earlier one.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct CopiedPage {
    representative: u32,
    copy: u32,
}

impl Row for CopiedPage {
    type Key = u32;
    type Rest = u32;

    fn key(&self) -> u32 {
        self.representative
    }

    fn rest(&self) -> u32 {
        self.copy
    }
}

table_row! {
    struct PostingRow { fingerprint: u64, page: u32 }
}

table_row! {
    struct EntryRow { page: u32, high: u64, low: u64, fingerprints: u32, representative: u32 }
}

table_row! {
    struct CopyRow { representative: u32, copy: u32 }
}

const POSTINGS: TableName<PostingRow> = TableName::new("postings");
const ENTRIES: TableName<EntryRow> = TableName::new("entries");
const COPIES: TableName<CopyRow> = TableName::new("copies");

mod names {
    pub(super) const OLD_SETS: &str = "old sets";
    pub(super) const FINGERPRINT: &str = "fingerprint";
    pub(super) const COLLAPSE: &str = "collapse";
    pub(super) const LIST_POSTINGS: &str = "list postings";
    pub(super) const LIST_ENTRIES: &str = "list entries";
    pub(super) const LIST_COPIES: &str = "list copies";
    pub(super) const BY_SET: &str = "by set";
    pub(super) const BY_FINGERPRINT: &str = "by fingerprint";
    pub(super) const BY_PAGE: &str = "by page";
    pub(super) const BY_REPRESENTATIVE: &str = "by representative";
    pub(super) const IS_COPY: &str = "is copy";
}

/// The blocks of an old segment that a task reads.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct OldBlocks {
    segment: usize,
    first: usize,
    end: usize,
}

/// A segment that is being built, from a part of the corpus on.
struct SegmentBuild<'a> {
    source: &'a Arc<CorpusPages>,
    manifest: &'a Manifest,
    folder: &'a Path,
    scheme: Scheme,
    first_part: usize,
    old: Arc<Vec<Segment>>,
    resources: &'a IndexResources,
}

impl SegmentBuild<'_> {
    fn run(&self) -> Result<(ListedSegment, RunReport)> {
        let parts = self.manifest.parts.len();
        let first_page = self.source.kept_before_part(self.first_part);
        let corpus = hash_of_parts(self.manifest, parts).unwrap_or_default();
        let tables = self.folder.join("build");
        let temp = self.resources.temp.clone();
        let temp = temp.unwrap_or_else(|| self.folder.join("tmp"));
        let mut registry = Registry::new();
        self.register(&mut registry, first_page);
        let report = Runner {
            registry: &registry,
            threads: self.resources.threads,
            memory: self.resources.memory,
            temp: temp.clone(),
            tables: tables.clone(),
            progress: Arc::clone(&self.resources.progress),
            checkpoint: CHECKPOINT,
        }
        .run(&self.flow(&corpus).for_input(self.source.input_bytes()))?;
        let name: String = corpus.chars().take(16).collect();
        let file = format!("segment-{name}-{}.bin", self.first_part);
        let spools = PrivateFolder::create(&temp).map_err(|error| Error::io(&temp, error))?;
        let written = self.write(&self.folder.join(&file), spools.path(), &tables, first_page)?;
        drop(spools);
        let _ = fs::remove_dir_all(&tables);
        if self.resources.temp.is_none() {
            // Also what interrupted runs have left: the folder belongs to the holder of the lock.
            let _ = fs::remove_dir_all(&temp);
        }
        let new_parts = self.manifest.parts.iter().skip(self.first_part);
        let segment = ListedSegment {
            file,
            bytes: written.bytes,
            blake3: written.blake3,
            parts,
            corpus,
            pages: self.source.kept() - first_page,
            text_bytes: new_parts.map(|part| part.counts.text_bytes).sum(),
        };
        Ok((segment, report))
    }

    fn flow(&self, corpus: &str) -> Flow {
        let bits = u32::BITS - self.source.kept().leading_zeros();
        let bytes = u64::from(self.source.kept()).div_ceil(8).max(8);
        let old = self.old.iter().enumerate().flat_map(|(segment, old)| {
            let blocks = old.entry_blocks();
            (0..blocks).step_by(TASK_BLOCKS).map(move |first| {
                json!(OldBlocks {
                    segment,
                    first,
                    end: blocks.min(first + TASK_BLOCKS),
                })
            })
        });
        // The parameters identify the data, so that only the same flow is resumed.
        let identity = json!([FORMAT_NEWEST, self.scheme, self.first_part, corpus]);
        Flow::new("query index")
            .shuffle(names::BY_SET)
            .shuffle(names::BY_FINGERPRINT)
            .shuffle_of_numbers(names::BY_PAGE, bits.max(1))
            .shuffle_of_numbers(names::BY_REPRESENTATIVE, bits.max(1))
            .table(POSTINGS)
            .table(ENTRIES)
            .table(COPIES)
            .state(names::IS_COPY, "bitmap", json!({ "bytes": bytes }))
            .stage(
                Stage::map(names::OLD_SETS, old.collect())
                    .with(identity.clone())
                    .writes(names::BY_SET)
                    .writes(names::IS_COPY),
            )
            .stage(
                Stage::map(
                    names::FINGERPRINT,
                    self.source.text_tasks_from(self.first_part),
                )
                .with(identity)
                .writes(names::BY_SET)
                .writes(names::BY_FINGERPRINT),
            )
            .stage(
                Stage::reduce(names::COLLAPSE, names::BY_SET)
                    .writes(names::BY_PAGE)
                    .writes(names::BY_REPRESENTATIVE)
                    .writes(names::IS_COPY),
            )
            .stage(
                Stage::reduce(names::LIST_POSTINGS, names::BY_FINGERPRINT)
                    .reads(names::IS_COPY)
                    .writes(POSTINGS.as_str()),
            )
            .stage(Stage::reduce(names::LIST_ENTRIES, names::BY_PAGE).writes(ENTRIES.as_str()))
            .stage(
                Stage::reduce(names::LIST_COPIES, names::BY_REPRESENTATIVE).writes(COPIES.as_str()),
            )
    }

    fn register(&self, registry: &mut Registry, first_page: u32) {
        let old = Arc::clone(&self.old);
        registry.map(names::OLD_SETS, move |context| {
            let task: OldBlocks = context.task()?;
            let mut sets = context.shuffle::<PageSet>(names::BY_SET)?;
            let segment = old.get(task.segment).ok_or("a segment is missing")?;
            for block in task.first..task.end {
                for (page, entry) in segment.entries_of(block).map_err(stage_error)? {
                    // Copies have the same set as the page that represents them.
                    if entry.fingerprints > 0 && entry.representative == page {
                        sets.push(page_set(entry.set, page, entry.fingerprints))?;
                    }
                }
            }
            Ok(())
        });
        let (source, scheme) = (Arc::clone(self.source), self.scheme);
        registry.map(names::FINGERPRINT, move |context| {
            let mut sets = context.shuffle::<PageSet>(names::BY_SET)?;
            let mut rows = context.shuffle::<IndexedFingerprint>(names::BY_FINGERPRINT)?;
            let mut fingerprints = PageFingerprints::new(scheme);
            let task: TextTask = context.task()?;
            source.for_each_text::<StageError>(&task, |page, text| {
                let set = fingerprints.set_of(text);
                if set.is_empty() {
                    return Ok(());
                }
                sets.push(page_set(hash_of_set(set), page, set.len() as u32))?;
                let own = set.iter();
                Ok(rows.extend(own.map(|&fingerprint| IndexedFingerprint { fingerprint, page }))?)
            })
        });
        registry.reduce::<PageSet, _>(names::COLLAPSE, move |context, groups| {
            let is_copy = context.state::<Bitmap>(names::IS_COPY)?;
            let mut pages = context.shuffle::<CollapsedPage>(names::BY_PAGE)?;
            let mut copies = context.shuffle::<CopiedPage>(names::BY_REPRESENTATIVE)?;
            while let Some(group) = groups.next_group()? {
                let mut first = None;
                for set in group {
                    let representative = *first.get_or_insert(set.page);
                    if set.page < first_page {
                        continue;
                    }
                    pages.push(CollapsedPage {
                        set,
                        representative,
                        unused: 0,
                    })?;
                    if set.page != representative {
                        is_copy.set(u64::from(set.page));
                        copies.push(CopiedPage {
                            representative,
                            copy: set.page,
                        })?;
                    }
                }
            }
            Ok(())
        });
        registry.reduce::<IndexedFingerprint, _>(names::LIST_POSTINGS, move |context, groups| {
            let is_copy = context.state::<Bitmap>(names::IS_COPY)?;
            let mut rows = context.table(POSTINGS)?;
            while let Some(group) = groups.next_group()? {
                for row in group {
                    let (fingerprint, page) = (row.fingerprint, row.page);
                    if !is_copy.get(u64::from(page)) {
                        let page = page - first_page;
                        rows.push(PostingRow { fingerprint, page })?;
                    }
                }
            }
            Ok(())
        });
        registry.reduce::<CollapsedPage, _>(names::LIST_ENTRIES, |context, groups| {
            let mut rows = context.table(ENTRIES)?;
            while let Some(group) = groups.next_group()? {
                for page in group {
                    rows.push(EntryRow {
                        page: page.set.page,
                        high: page.set.high,
                        low: page.set.low,
                        fingerprints: page.set.fingerprints,
                        representative: page.representative,
                    })?;
                }
            }
            Ok(())
        });
        registry.reduce::<CopiedPage, _>(names::LIST_COPIES, |context, groups| {
            let mut rows = context.table(COPIES)?;
            while let Some(group) = groups.next_group()? {
                for CopiedPage {
                    representative,
                    copy,
                } in group
                {
                    rows.push(CopyRow {
                        representative,
                        copy,
                    })?;
                }
            }
            Ok(())
        });
    }

    /// Fails if the run was cancelled.
    fn check(&self) -> Result<()> {
        match self.resources.progress.is_stopped() {
            true => Err(cento_flow::Error::Cancelled.into()),
            false => Ok(()),
        }
    }

    /// Writes the segment from the tables of the flow.
    fn write(
        &self,
        path: &Path,
        temp: &Path,
        tables: &Path,
        first_page: u32,
    ) -> Result<crate::segment_writer::WrittenSegment> {
        let failed = |error| Error::io(path, error);
        let table = |name: &str| tables.join(format!("{name}.parquet"));
        let pages = self.source.kept() - first_page;
        let mut writer =
            SegmentWriter::create(path, temp, self.scheme, first_page, pages).map_err(failed)?;
        for (at, row) in read_rows::<PostingRow>(&table(POSTINGS.as_str()))?.enumerate() {
            let row = row?;
            writer
                .push_posting(row.fingerprint, row.page)
                .map_err(failed)?;
            if at % (1 << 16) == 0 {
                self.check()?;
            }
        }
        writer.end_postings().map_err(failed)?;
        let mut rows = read_rows::<EntryRow>(&table(ENTRIES.as_str()))?.peekable();
        for part in self.first_part..self.manifest.parts.len() {
            self.check()?;
            self.source.for_each_page::<Error>(part, |facts| {
                if facts.reject.is_some() {
                    return Ok(());
                }
                let own = |row: &cento_find::Result<EntryRow>| match row {
                    Ok(row) => row.page == facts.number,
                    Err(_) => true,
                };
                let entry = match rows.next_if(own).transpose()? {
                    Some(row) => PageEntry {
                        set: u128::from(row.high) << 64 | u128::from(row.low),
                        fingerprints: row.fingerprints,
                        representative: row.representative,
                    },
                    // A page with too few words for a fingerprint.
                    None => PageEntry {
                        set: 0,
                        fingerprints: 0,
                        representative: facts.number,
                    },
                };
                writer
                    .push_entry(entry, facts.page_id, facts.url)
                    .map_err(failed)
            })?;
        }
        writer.end_entries().map_err(failed)?;
        for row in read_rows::<CopyRow>(&table(COPIES.as_str()))? {
            let row = row?;
            writer
                .push_copy(row.representative, row.copy)
                .map_err(failed)?;
        }
        writer.finish().map_err(failed)
    }
}

fn page_set(set: u128, page: u32, fingerprints: u32) -> PageSet {
    PageSet {
        high: (set >> 64) as u64,
        low: set as u64,
        page,
        fingerprints,
    }
}

/// Returns a hash that identifies a set of fingerprints, which must be sorted.
pub(crate) fn hash_of_set(set: &[u64]) -> u128 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(bytemuck::cast_slice(set));
    let hash = hasher.finalize();
    let first = hash.as_bytes().first_chunk().copied();
    u128::from_le_bytes(first.unwrap_or_default())
}

/// Wraps an error so that the fault of the flow is its fault.
fn stage_error(error: Error) -> StageError {
    match error {
        Error::Find(error) => error.into(),
        Error::Corrupted { path, detail } => cento_find::Error::Corrupted { path, detail }.into(),
        other => other.into(),
    }
}
