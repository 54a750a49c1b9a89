//! From records to rows: what a worker does with one batch.

use std::borrow::Cow;

use cento_fingerprint::{link_hash, text_hash};
use cento_read::{Content, Decoded, Input, Page, Settings};
use cento_text::content::{self, PageType, Selection};
use cento_text::html::{Extractor, LONGEST_PAGE, Options};
use cento_text::url::{LinkResolver, PageUrl};
use cento_text::{chunk, date, language, normal, plain, words};

use crate::error::{Error, Result};
use crate::manifest::{Counts, Tally};
use crate::parameters::{PageLimits, Parameters};
use crate::part::{EncodedBatch, Encoder, RowGroup};
use crate::row_buffers::{ChunkSpan, RowBuffers};
use crate::schema::Table;
use crate::tables::PageRow;
use crate::task::Batch;
use crate::time_limit::TimeLimit;

/// Buffers that grew beyond this for one huge page are freed after it.
const LARGE: usize = 4 << 20;
/// Bytes of rows after which they are encoded as a row group. The weight of a batch says little
/// about its rows: a page may unpack to 250 times its size, and two bytes of text may be a chunk.
/// It also keeps columns of strings far from the 2 GiB that Arrow can address, as long as one page
/// has no more than [`LONGEST_TEXT`].
const ROW_GROUP_BYTES: usize = 32 << 20;
/// Bytes of rows, before they are encoded, that a batch may keep in memory until its turn. Hardly
/// any batch has more.
const MAX_PENDING_BYTES: usize = 4 * ROW_GROUP_BYTES;
/// The longest text of a page. Positions in it have 32 bits, and a column of texts has at most 2
/// GiB.
const LONGEST_TEXT: usize = LONGEST_PAGE;
/// The longest title, from any source; the limit of [`Extractor`].
const LONGEST_TITLE: usize = 1_024;
/// The longest of the short attributes of a page: media type, language, network address.
const LONGEST_ATTRIBUTE: usize = 255;

/// The URL of a page on which a worker panics, in tests.
#[cfg(test)]
pub(crate) const PANICKING_URL: &str = "test:panic";

/// A reason to reject a page, with details.
type Rejection = (&'static str, String);

/// Processes batches on one thread. Its buffers are reused from page to page.
pub(crate) struct Worker<'run> {
    parameters: &'run Parameters,
    settings: &'run Settings,
    inputs: &'run [Input],
    first_input: u32,
    encoder: &'run Encoder,
    extractor: Extractor,
    /// The text of the current page.
    selected: String,
    normalised: String,
    link_domains: Vec<String>,
    link_hashes: Vec<u64>,
    /// The chunks of the current page.
    chunks: Vec<ChunkSpan>,
}

/// Where a row of the table of pages is from.
struct RowOrigin<'a> {
    page_id: u64,
    file: &'a str,
    offset: u64,
    length: u64,
}

/// Attributes of a page, declared or detected.
#[derive(Default)]
struct PageAttributes {
    title: Option<String>,
    published: Option<i64>,
    language: Option<String>,
    page_type: Option<PageType>,
    words: u32,
    /// The nesting depth of its elements.
    depth: u32,
    /// The size of its text or HTML.
    bytes: usize,
}

impl<'run> Worker<'run> {
    pub(crate) fn new(
        parameters: &'run Parameters,
        settings: &'run Settings,
        inputs: &'run [Input],
        first_input: u32,
        encoder: &'run Encoder,
    ) -> Worker<'run> {
        Worker {
            parameters,
            settings,
            inputs,
            first_input,
            encoder,
            extractor: Extractor::new(),
            selected: String::new(),
            normalised: String::new(),
            link_domains: Vec::new(),
            link_hashes: Vec::new(),
            chunks: Vec::new(),
        }
    }

    /// Decodes, extracts, chunks, hashes and encodes a batch. A batch whose rows are too large to
    /// be kept in memory until its turn is passed to `submit_piece` in pieces, in order, before the
    /// rest is returned.
    pub(crate) fn process(
        &mut self,
        batch: Batch,
        mut submit_piece: impl FnMut(EncodedBatch) -> Result<()>,
    ) -> Result<EncodedBatch> {
        let mut rows = RowBuffers::new(batch.records.len(), batch.weight as usize);
        let mut tables: [Vec<RowGroup>; 3] = Default::default();
        let mut counts = batch.counts;
        let mut first_page = None;
        let mut last_page = None;
        let mut pending = 0;
        for (position, record) in batch.records {
            let ordinal = u64::from(self.first_input) + position as u64;
            let page_id = ordinal << 32 | u64::from(record.place.ordinal);
            let origin = RowOrigin {
                page_id,
                file: &self.inputs[position].name,
                offset: record.place.offset,
                length: record.place.length,
            };
            let time = TimeLimit::begin(self.settings.limits.max_work);
            match cento_read::decode(record, self.settings) {
                Ok(decoded) => {
                    self.page(&origin, decoded, &time, &mut rows, &mut counts);
                    self.free_large_buffers();
                    first_page = first_page.or(Some(page_id));
                    last_page = Some(page_id);
                    if rows.bytes() >= ROW_GROUP_BYTES {
                        let full = std::mem::replace(&mut rows, RowBuffers::new(0, 0));
                        pending += full.bytes();
                        self.encode(full, &mut tables)?;
                    }
                    if pending >= MAX_PENDING_BYTES {
                        pending = 0;
                        submit_piece(EncodedBatch {
                            tables: std::mem::take(&mut tables),
                            counts: std::mem::take(&mut counts),
                            first_page: first_page.take(),
                            last_page: last_page.take(),
                            weight: 0,
                            next: None,
                        })?;
                    }
                }
                Err(skipped) => counts.add_damaged(origin.file, &skipped),
            }
        }
        self.encode(rows, &mut tables)?;
        Ok(EncodedBatch {
            tables,
            counts,
            first_page,
            last_page,
            weight: batch.weight,
            next: batch.next,
        })
    }

    /// Encodes rows as one more row group of each table that has any.
    fn encode(&self, rows: RowBuffers, tables: &mut [Vec<RowGroup>; 3]) -> Result<()> {
        let batches = rows
            .finish()
            .map_err(|error| Error::Internal(format!("rows do not fit their table: {error}")))?;
        for (table, batch) in batches {
            if table == Table::Text && !self.parameters.text {
                continue;
            }
            tables[table as usize].extend(self.encoder.encode(table, &batch)?);
        }
        Ok(())
    }

    fn free_large_buffers(&mut self) {
        if self.selected.capacity() > LARGE || self.normalised.capacity() > LARGE {
            self.extractor = Extractor::new();
            self.selected = String::new();
            self.normalised = String::new();
        }
        if self.chunks.capacity() > LARGE / size_of::<ChunkSpan>() {
            self.chunks = Vec::new();
        }
    }

    /// Processes one page and appends its rows.
    fn page(
        &mut self,
        origin: &RowOrigin<'_>,
        decoded: Decoded,
        time: &TimeLimit,
        rows: &mut RowBuffers,
        counts: &mut Counts,
    ) {
        let Decoded { mut page, reject } = decoded;
        #[cfg(test)]
        assert_ne!(page.url, PANICKING_URL, "a test makes a worker panic");
        counts.pages += 1;
        counts.payload_bytes = counts.payload_bytes.saturating_add(page.payload_bytes);
        self.link_domains.clear();
        self.link_hashes.clear();
        self.selected.clear();
        self.chunks.clear();

        let mut reject = reject.map(|reject| (reject.reason.name(), reject.detail));
        let url_bytes = shorten(&mut page, &self.parameters.limits);
        if reject.is_none()
            && let Some(bytes) = url_bytes
        {
            let limit = self.parameters.limits.max_url_bytes;
            let detail = format!("a URL of {bytes} bytes, the limit is {limit}");
            reject = Some(("url-too-long", detail));
        }
        let url = PageUrl::new(&page.url);
        if reject.is_none()
            && let Some(recursion) = url.recursion_error(&self.parameters.recursion())
        {
            reject = Some(("recursion", recursion.to_string()));
        }
        let mut attributes = PageAttributes::default();
        if reject.is_none() {
            attributes = self.extract(&page, &url, time);
            reject = self.exceeded_limit(&attributes, time);
            if reject.is_none() && attributes.words == 0 {
                reject = Some(("empty", "no words in it".to_owned()));
            }
            if reject.is_none() {
                reject = self.cut();
            }
            if reject.is_some() {
                self.selected.clear();
                self.chunks.clear();
            }
        }
        match &reject {
            Some((reason, detail)) => {
                Tally::add(&mut counts.rejected, reason, || {
                    format!("{}: {detail}", page.url)
                });
            }
            None => {
                counts.kept += 1;
                counts.text_bytes += self.selected.len() as u64;
                counts.words += u64::from(attributes.words);
                counts.chunks += self.chunks.len() as u64;
                rows.push_chunks(origin.page_id, &self.chunks);
                if self.parameters.text {
                    rows.push_text(origin.page_id, &self.selected);
                }
            }
        }
        rows.push_page(PageRow {
            page_id: origin.page_id,
            url: &page.url,
            host: url.host(),
            domain: url.domain(self.parameters.private_suffixes),
            ip: page.ip.as_deref(),
            fetched_at: page.fetched.as_deref().and_then(date::parse),
            published_at: attributes.published,
            status: page.status,
            mime: page.mime.as_deref(),
            title: attributes.title.as_deref(),
            language: attributes.language.as_deref(),
            bytes: page.payload_bytes,
            source: origin.file,
            source_offset: origin.offset,
            source_length: origin.length,
            payload_sha1: page.payload_sha1,
            revisit_of_url: page.revisit_of_url.as_deref(),
            revisit_of_date: page.revisit_of_date.as_deref().and_then(date::parse),
            text_hash: reject.is_none().then(|| text_hash(&self.selected)),
            text_bytes: self.selected.len() as u32,
            words: attributes.words,
            chunks: self.chunks.len() as u32,
            link_domains: self.link_domains.as_slice().into(),
            link_hashes: &self.link_hashes,
            reject: reject.as_ref().map(|(reason, _)| *reason),
            reject_detail: reject.as_ref().map(|(_, detail)| detail.as_str()),
            page_type: attributes.page_type.map(PageType::name),
        });
    }

    /// Rejects a page that exceeds a limit on processing.
    fn exceeded_limit(&self, attributes: &PageAttributes, time: &TimeLimit) -> Option<Rejection> {
        let limit = self.settings.limits.max_nesting;
        if attributes.depth > limit {
            let depth = attributes.depth;
            let detail = format!("{depth} elements within each other, the limit is {limit}");
            return Some(("too-deep", detail));
        }
        if attributes.bytes > LONGEST_TEXT {
            let bytes = attributes.bytes;
            let detail = format!("{bytes} bytes of text or HTML, the most is {LONGEST_TEXT}");
            return Some(("too-large", detail));
        }
        time.is_over().then(|| {
            let limit = self.settings.limits.max_work.as_secs_f64();
            ("too-slow", format!("more than {limit} seconds of work"))
        })
    }

    /// Puts the text of a page in `selected` and its links in the link buffers.
    fn extract(&mut self, page: &Page, url: &PageUrl, time: &TimeLimit) -> PageAttributes {
        let mut attributes = PageAttributes {
            title: page.title.clone(),
            published: page.published.as_deref().and_then(date::parse),
            language: page.language.clone(),
            ..PageAttributes::default()
        };
        attributes.bytes = match &page.content {
            Content::None => 0,
            Content::Text(text) | Content::Html(text) => text.len(),
        };
        if attributes.bytes > LONGEST_TEXT {
            return attributes;
        }
        match &page.content {
            Content::None => {}
            Content::Text(text) => match plain::plain_text(text) {
                Cow::Borrowed(text) => self.selected.push_str(text),
                Cow::Owned(text) => self.selected = text,
            },
            Content::Html(html) => {
                let outline = self.parameters.content != Selection::All;
                let options = Options { outline };
                let mut has_time = || !time.is_over();
                let extract = self.extractor.extract_while(html, &options, &mut has_time);
                attributes.depth = extract.depth;
                if time.is_over() {
                    return attributes;
                }
                if outline {
                    let found = content::analyse(extract, self.parameters.content);
                    content::apply(&extract.text, &found.ranges, &mut self.selected);
                    attributes.page_type = found.page_type;
                } else {
                    self.selected.push_str(&extract.text);
                }
                attributes.title = attributes.title.or_else(|| extract.title.clone());
                attributes.published = attributes
                    .published
                    .or_else(|| extract.published.as_deref().and_then(date::parse));
                attributes.language = attributes.language.or_else(|| extract.language.clone());
                let own = url.domain(self.parameters.private_suffixes);
                let base = extract.base.as_deref();
                let mut resolver =
                    LinkResolver::new(&page.url, base, self.parameters.private_suffixes);
                for href in extract.links() {
                    let Some(link) = resolver.resolve(href) else {
                        continue;
                    };
                    self.link_hashes.push(link_hash(link.key));
                    // Consecutive links often lead to the same domain, so this removes most
                    // repetitions.
                    if own != Some(link.domain)
                        && self.link_domains.last().map(String::as_str) != Some(link.domain)
                    {
                        self.link_domains.push(link.domain.to_owned());
                    }
                }
                self.link_hashes.sort_unstable();
                self.link_hashes.dedup();
                self.link_domains.sort_unstable();
                self.link_domains.dedup();
            }
        }
        if time.is_over() {
            return attributes;
        }
        attributes.words = u32::try_from(words::count_words(&self.selected)).unwrap_or(u32::MAX);
        attributes.language = attributes
            .language
            .or_else(|| language::detect(&self.selected).map(str::to_owned));
        attributes
    }

    /// Cuts the text of the page into chunks. Rejects a page with too many of them.
    fn cut(&mut self) -> Option<Rejection> {
        let Parameters {
            chunk: kind,
            normalisation,
            hash,
            ..
        } = *self.parameters;
        let limit = self.parameters.limits.max_chunks;
        let (normalised, chunks) = (&mut self.normalised, &mut self.chunks);
        let mut exceeded = false;
        chunk::chunks(&self.selected, kind, |range| {
            normalised.clear();
            normal::normalise(&self.selected[range.clone()], normalisation, normalised);
            if normalised.is_empty() {
                return;
            }
            if chunks.len() as u64 >= limit {
                exceeded = true;
                return;
            }
            chunks.push(ChunkSpan {
                hash: hash.hash128(normalised.as_bytes()),
                begin: range.start as u32,
                end: range.end as u32,
            });
        });
        exceeded.then(|| {
            let detail = format!("more than {limit} chunks, which is the limit");
            ("too-many-chunks", detail)
        })
    }
}

/// Truncates attributes that are longer than any page needs. Returns the length of the URL if that
/// was truncated.
///
/// The table has these attributes for every page, rejected or not, and analyses keep them in
/// memory: a page without text must not cost more than one with text.
fn shorten(page: &mut Page, limits: &PageLimits) -> Option<usize> {
    let most = usize::try_from(limits.max_url_bytes).unwrap_or(usize::MAX);
    let cut = |text: &mut String, most: usize| {
        let long = text.len() > most;
        if long {
            let fits = |&end: &usize| text.is_char_boundary(end);
            text.truncate((0..=most).rev().find(fits).unwrap_or(0));
        }
        long
    };
    let attributes = [
        (&mut page.title, LONGEST_TITLE),
        (&mut page.language, LONGEST_ATTRIBUTE),
        (&mut page.ip, LONGEST_ATTRIBUTE),
        (&mut page.mime, LONGEST_ATTRIBUTE),
        (&mut page.revisit_of_url, most),
    ];
    for (attribute, most) in attributes {
        attribute.as_mut().map(|text| cut(text, most));
    }
    let bytes = page.url.len();
    cut(&mut page.url, most).then_some(bytes)
}
