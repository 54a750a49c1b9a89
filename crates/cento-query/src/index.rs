//! An open index, and queries.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use cento_find::reuse::{Category, Containment, ReuseParams};
use cento_fingerprint::Scheme;
use cento_store::Corpus;

use crate::answer::{Answer, CategoryPages, PageMatch, QuerySettings};
use crate::block::PageList;
use crate::build::{hash_of_set, open_segments};
use crate::entry_block::{ENTRY_BLOCK, EntryBlock, PageEntry};
use crate::error::{Error, Result};
use crate::ignored::IgnoredCache;
use crate::page_counter::PageCounter;
use crate::root::{IndexRoot, folder_of};
use crate::segment::Segment;
use crate::shared_text::FingerprintedText;

/// An open index of a corpus, for any number of threads at once.
///
/// It answers for the pages that the corpus had when it was opened. Pages that are added later are
/// not found until the index is extended ([`update`](crate::update)) and opened again.
pub struct QueryIndex {
    corpus: Corpus,
    scheme: Scheme,
    segments: Vec<Segment>,
    pages: u32,
    text_bytes: u64,
    bytes: u64,
    ignored: IgnoredCache,
}

/// A page that matches, before it is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CountedPage {
    page: u32,
    category: Category,
    identical: bool,
    containment: Containment,
}

impl CountedPage {
    /// The order of matches, best first: the query itself on other pages, then by category, by the
    /// larger containment, by shared fingerprints, and by page.
    fn rank(&self) -> (bool, Category, Reverse<u64>, Reverse<u32>, u32) {
        let Containment { shared, page, of } = self.containment;
        // The larger containment is that of the page with fewer fingerprints. Billionths: equal
        // fractions are equal, and others differ unless they are very close.
        let containment = u64::from(shared) * 1_000_000_000 / u64::from(page.min(of).max(1));
        (
            !self.identical,
            self.category,
            Reverse(containment),
            Reverse(shared),
            self.page,
        )
    }
}

impl PartialOrd for CountedPage {
    fn partial_cmp(&self, other: &CountedPage) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CountedPage {
    fn cmp(&self, other: &CountedPage) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

/// A query: the text, and the page of the corpus that it is, if it is one.
struct PreparedQuery {
    text: FingerprintedText,
    /// Distinct fingerprints, sorted.
    set: Vec<u64>,
    bytes: u64,
    page: Option<u32>,
}

impl QueryIndex {
    /// Opens the index of a corpus. Fails with [`Error::NotIndexed`] if there is none, and with
    /// [`Error::Outdated`] if it does not cover all pages: [`update`](crate::update) builds and
    /// extends it.
    pub fn open(path: &Path) -> Result<QueryIndex> {
        let corpus = Corpus::open(path)?;
        let root = IndexRoot::load(path)?.ok_or_else(|| Error::NotIndexed(path.to_owned()))?;
        let manifest = corpus.manifest();
        if root.parts() != manifest.parts.len() || !root.is_of(manifest) {
            return Err(Error::Outdated(path.to_owned()));
        }
        let segments = open_segments(&folder_of(path), &root)?;
        let pages = segments.iter().map(|segment| segment.footer().pages).sum();
        Ok(QueryIndex {
            scheme: root.scheme,
            pages,
            text_bytes: manifest.counts().text_bytes,
            bytes: root.segments.iter().map(|segment| segment.bytes).sum(),
            segments,
            corpus,
            ignored: IgnoredCache::default(),
        })
    }

    /// Compares the checksums of all files of an index, and returns an error for each one that does
    /// not match. A corpus without an index has none.
    pub fn verify(path: &Path) -> Result<Vec<Error>> {
        let root = match IndexRoot::load(path) {
            Ok(Some(root)) => root,
            Ok(None) => return Ok(Vec::new()),
            Err(error @ (Error::Corrupted { .. } | Error::TooNew { .. })) => {
                return Ok(vec![error]);
            }
            Err(error) => return Err(error),
        };
        let folder = folder_of(path);
        let segments = root.segments.iter().filter_map(|listed| {
            Segment::verify(&folder.join(&listed.file), listed.bytes, &listed.blake3).err()
        });
        Ok(segments.collect())
    }

    /// The folder of the corpus.
    pub fn path(&self) -> &Path {
        self.corpus.path()
    }

    /// The corpus.
    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// How fingerprints are selected.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The number of pages.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// The size of the index, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the text of all pages.
    pub fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// Finds the pages that share text with a text.
    ///
    /// The result is that of `cento reuse QUERY --against CORPUS` for a corpus `QUERY` of this one
    /// page.
    pub fn query(&self, text: &str, settings: &QuerySettings) -> Result<Answer> {
        self.answer(&self.prepare(text, None)?, settings)
    }

    /// Finds the other pages that share text with a page of the corpus. Pages with the same text
    /// are among them.
    ///
    /// The result is that of `cento reuse CORPUS` for the pairs of this page.
    pub fn query_page(&self, page_id: u64, settings: &QuerySettings) -> Result<Answer> {
        let missing = || {
            let why = format!("{} has no text of page {page_id}", self.path().display());
            Error::Unsuitable(why)
        };
        let text = self.corpus.text(page_id)?.ok_or_else(missing)?;
        let number = self.number_of(page_id)?.ok_or_else(missing)?;
        self.answer(&self.prepare(&text, Some(number))?, settings)
    }

    fn prepare(&self, text: &str, page: Option<u32>) -> Result<PreparedQuery> {
        let fingerprinted = FingerprintedText::new(text, self.scheme)?;
        Ok(PreparedQuery {
            set: fingerprinted.set(),
            text: fingerprinted,
            bytes: text.len() as u64,
            page,
        })
    }

    /// Returns the limit on the pages of a fingerprint; 0 for no limit.
    fn limit(&self, query: &PreparedQuery, settings: &QuerySettings) -> u32 {
        // A query that is not in the corpus would be a corpus of its own.
        let own = if query.page.is_some() { 0 } else { query.bytes };
        let params = ReuseParams {
            max_pages: settings.max_pages,
            ..ReuseParams::new(self.scheme)
        };
        params.page_limit_for(self.text_bytes + own)
    }

    fn answer(&self, query: &PreparedQuery, settings: &QuerySettings) -> Result<Answer> {
        settings.check()?;
        let max_pages = self.limit(query, settings);
        let limit = if max_pages == 0 { u32::MAX } else { max_pages };
        let ignored_of_pages = self.ignored.get(&self.segments, limit)?;
        let mut shared = PageCounter::new(self.pages);
        // Fingerprints that only the query itself lifts above the limit.
        let mut lifted = PageCounter::new(self.pages);
        let mut ignored = Vec::new();
        let own = u64::from(query.page.is_none());
        for &fingerprint in &query.set {
            let lists = self.lists(fingerprint)?;
            let pages: u64 = lists.iter().map(|(_, list)| u64::from(list.len())).sum();
            let counter = match pages + own > u64::from(limit) {
                false => &mut shared,
                true => {
                    ignored.push(fingerprint);
                    if pages > u64::from(limit) {
                        continue;
                    }
                    &mut lifted
                }
            };
            for (segment, list) in lists {
                let first = segment.footer().first_page;
                let added = list.for_each(|page| counter.add(first.saturating_add(page)));
                added.map_err(|_| segment.malformed())?;
            }
        }
        let mut of_lifted = std::collections::HashMap::new();
        lifted.finish(|page, count| -> Result<()> {
            of_lifted.insert(page, count);
            Ok(())
        })?;
        let counted = query.set.len() - ignored.len();
        let representative = match query.page {
            Some(page) => Some(self.entry(page)?.representative),
            None => None,
        };
        let set_hash = hash_of_set(&query.set);
        let mut best = BestMatches::new(self, query.page, settings.top);
        if let Some(page) = representative.filter(|_| !query.set.is_empty()) {
            let all = query.set.len() as u32;
            best.add(CountedPage {
                page,
                category: Category::C1,
                identical: true,
                containment: Containment {
                    shared: all,
                    page: all,
                    of: all,
                },
            });
        }
        let mut entries = EntryReader::new(self);
        shared.finish(|page, shared| -> Result<()> {
            if Some(page) == representative || shared < settings.min_shared {
                return Ok(());
            }
            let entry = entries.entry(page)?;
            let ignored = ignored_of_pages.get(page as usize).copied();
            let lifted = of_lifted.get(&page).copied().unwrap_or_default();
            let ignored = ignored.unwrap_or_default() + lifted;
            let containment = Containment {
                shared,
                page: counted as u32,
                of: entry.fingerprints.saturating_sub(ignored),
            };
            if let Some(category) = Category::of(containment, settings.thresholds) {
                best.add(CountedPage {
                    page,
                    category,
                    identical: entry.set == set_hash,
                    containment,
                });
            }
            Ok(())
        })?;
        let (categories, matches) = best.finish();
        let mut named = Vec::with_capacity(matches.len());
        for counted in matches {
            named.push(self.name(query, counted, &ignored, settings.passages)?);
        }
        Ok(Answer {
            fingerprints: query.set.len() as u32,
            ignored: ignored.len() as u32,
            max_pages,
            pages: categories.iter().map(|counts| counts.pages).sum(),
            categories,
            matches: named,
        })
    }

    /// Returns the lists of a fingerprint in all segments.
    fn lists(&self, fingerprint: u64) -> Result<Vec<(&Segment, PageList<'_>)>> {
        let mut lists = Vec::new();
        for segment in &self.segments {
            if let Some(list) = segment.find(fingerprint)? {
                lists.push((segment, list));
            }
        }
        Ok(lists)
    }

    /// Reads the name of a match and locates the shared text. `ignored` fingerprints are sorted.
    fn name(
        &self,
        query: &PreparedQuery,
        counted: CountedPage,
        ignored: &[u64],
        passages: bool,
    ) -> Result<PageMatch> {
        let segment = self.segment_of(counted.page)?;
        let (page_id, url) = segment.name(counted.page - segment.footer().first_page)?;
        let passages = match passages {
            false => Vec::new(),
            true => {
                let text = self.corpus.text(page_id)?.unwrap_or_default();
                let text = FingerprintedText::new(&text, self.scheme)?;
                // Nothing is ignored between pages with the same set.
                let counts = |hash: u64| {
                    (counted.identical && query.page.is_some())
                        || ignored.binary_search(&hash).is_err()
                };
                query.text.passages(&text, counts)
            }
        };
        let containment = counted.containment;
        Ok(PageMatch {
            page_id,
            url,
            category: counted.category,
            identical: counted.identical,
            shared: containment.shared,
            query_fingerprints: containment.page,
            page_fingerprints: containment.of,
            query_containment: containment.of_page(),
            page_containment: containment.of_other(),
            passages,
        })
    }

    /// Returns the number of the page with an id.
    fn number_of(&self, page_id: u64) -> Result<Option<u32>> {
        for segment in &self.segments {
            if let Some(page) = segment.number_of(page_id)? {
                return Ok(Some(segment.footer().first_page + page));
            }
        }
        Ok(None)
    }

    fn entry(&self, page: u32) -> Result<PageEntry> {
        let segment = self.segment_of(page)?;
        segment.entry(page - segment.footer().first_page)
    }

    /// Returns the segment of a page.
    fn segment_of(&self, page: u32) -> Result<&Segment> {
        let after = self
            .segments
            .partition_point(|segment| segment.footer().first_page <= page);
        let segment = after.checked_sub(1).and_then(|at| self.segments.get(at));
        segment.ok_or_else(|| Error::corrupted(&folder_of(self.path()), "it has no such page"))
    }
}

impl std::fmt::Debug for QueryIndex {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("QueryIndex")
            .field("corpus", &self.path())
            .field("scheme", &self.scheme)
            .field("pages", &self.pages)
            .finish_non_exhaustive()
    }
}

/// Reads the entries of ascending pages, and keeps the block of the last one open.
struct EntryReader<'a> {
    index: &'a QueryIndex,
    block: Option<(u32, usize, EntryBlock<'a>)>,
}

impl<'a> EntryReader<'a> {
    fn new(index: &'a QueryIndex) -> EntryReader<'a> {
        EntryReader { index, block: None }
    }

    fn entry(&mut self, page: u32) -> Result<PageEntry> {
        let segment = self.index.segment_of(page)?;
        let first = segment.footer().first_page;
        let at = (page - first) as usize;
        let block = match self.block {
            Some((of, block, open)) if (of, block) == (first, at / ENTRY_BLOCK) => open,
            _ => {
                let open = segment.entry_block(at / ENTRY_BLOCK)?;
                self.block = Some((first, at / ENTRY_BLOCK, open));
                open
            }
        };
        let entry = block.entry(at % ENTRY_BLOCK);
        entry.map_err(|_| segment.malformed())
    }
}

/// The best matches, and the number of all.
struct BestMatches<'a> {
    index: &'a QueryIndex,
    /// The page that is queried, which is not a match of itself.
    own: Option<u32>,
    /// The number of matches to keep.
    top: usize,
    /// The worst one first.
    heap: BinaryHeap<CountedPage>,
    pages: [u64; Category::ALL.len()],
}

impl BestMatches<'_> {
    fn new(index: &QueryIndex, own: Option<u32>, top: usize) -> BestMatches<'_> {
        BestMatches {
            index,
            own,
            top: if top == 0 { usize::MAX } else { top },
            heap: BinaryHeap::new(),
            pages: [0; Category::ALL.len()],
        }
    }

    /// Adds a page and its copies, which have the same set of fingerprints.
    fn add(&mut self, counted: CountedPage) {
        let segments = self.index.segments.iter();
        let copies = segments.flat_map(|segment| segment.copies_of(counted.page));
        for page in std::iter::once(counted.page).chain(copies) {
            if Some(page) == self.own || page >= self.index.pages {
                continue;
            }
            if let Some(pages) = self.pages.get_mut(counted.category as usize) {
                *pages += 1;
            }
            let counted = CountedPage { page, ..counted };
            if self.heap.len() < self.top {
                self.heap.push(counted);
            } else if let Some(mut worst) = self.heap.peek_mut()
                && counted < *worst
            {
                *worst = counted;
            }
        }
    }

    fn finish(self) -> (Vec<CategoryPages>, Vec<CountedPage>) {
        let pages = Category::ALL.into_iter().zip(self.pages);
        let pages = pages.filter(|(_, pages)| *pages > 0);
        let pages = pages.map(|(category, pages)| CategoryPages { category, pages });
        (pages.collect(), self.heap.into_sorted_vec())
    }
}
