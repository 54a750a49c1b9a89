//! From records to rows: what a worker does with one batch.

use arrow_array::RecordBatch;
use cento_fingerprint::{link_hash, text_hash};
use cento_read::{Decoded, Input, Page, Settings};
use cento_text::content::PageType;
use cento_text::url::{LinkResolver, PageUrl, without_tracking_parameters};
use cento_text::{date, language, words};

use crate::build::Build;
use crate::error::{Error, Result};
use crate::manifest::{Counts, Tally};
use crate::page_text::PageTexts;
use crate::parameters::Parameters;
use crate::part::{EncodedBatch, Encoder, RowGroup};
use crate::row_buffers::RowBuffers;
use crate::schema::Table;
use crate::tables::PageRow;
use crate::task::Batch;
use crate::text_memory::{TextMemory, shrunk};
use crate::time_limit::TimeLimit;

/// Bytes of rows after which they are encoded as a row group. The weight of a batch says little
/// about its rows: a page may unpack to 250 times its size, and two bytes of text may be a chunk.
/// It also keeps columns of strings far from the 2 GiB that Arrow can address, as long as one page
/// has a text of at most 2 GiB, which [`PageTexts`] ensures.
const ROW_GROUP_BYTES: usize = 32 << 20;
/// Bytes of rows, before they are encoded, that a batch may keep in memory until its turn. Hardly
/// any batch has more.
const MAX_PENDING_BYTES: usize = 4 * ROW_GROUP_BYTES;

/// The URL of a page on which a worker panics, in tests.
#[cfg(test)]
pub(crate) const PANICKING_URL: &str = "test:panic";

/// Processes batches on one thread. Its buffers are reused from page to page.
pub(crate) struct Worker<'run> {
    parameters: &'run Parameters,
    settings: &'run Settings,
    inputs: &'run [Input],
    /// Where texts go, if nothing else of a page is needed.
    memory: Option<&'run TextMemory>,
    first_input: u32,
    encoder: &'run Encoder,
    /// The text and the chunks of the current page.
    texts: PageTexts,
    link_domains: Vec<String>,
    link_hashes: Vec<u64>,
}

/// The tables of a batch while it is processed.
#[derive(Default)]
struct EncodedTables {
    tables: [Vec<RowGroup>; 3],
    /// Texts that stay in memory.
    texts: Vec<RecordBatch>,
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
    /// A stated publication date that is not understood or cannot be one.
    unread_date: Option<String>,
    language: Option<String>,
    words: u32,
}

/// The longest part of a date that is not understood that is reported, in characters.
const SHOWN_DATE: usize = 40;

impl PageAttributes {
    /// Sets the publication date that is stated.
    fn set_published(&mut self, stated: Option<&str>, parse: impl Fn(&str) -> Option<i64>) {
        let stated = stated.filter(|stated| !date::is_missing(stated));
        self.published = stated.and_then(parse);
        if let (None, Some(stated)) = (self.published, stated) {
            self.unread_date = Some(stated.trim().chars().take(SHOWN_DATE).collect());
        } else if self.published.is_some() {
            self.unread_date = None;
        }
    }
}

impl<'run> Worker<'run> {
    pub(crate) fn new(
        build: &'run Build<'run>,
        first_input: u32,
        encoder: &'run Encoder,
    ) -> Worker<'run> {
        let mut texts = PageTexts::new(&build.parameters);
        texts.keep_chunks = build.texts.is_none();
        Worker {
            parameters: &build.parameters,
            settings: &build.settings,
            inputs: &build.inputs,
            memory: build.texts,
            first_input,
            encoder,
            texts,
            link_domains: Vec::new(),
            link_hashes: Vec::new(),
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
        let mut tables = EncodedTables::default();
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
                    self.texts.free_large_buffers();
                    first_page = first_page.or(Some(page_id));
                    last_page = Some(page_id);
                    if rows.bytes() >= ROW_GROUP_BYTES {
                        let full = std::mem::replace(&mut rows, RowBuffers::new(0, 0));
                        pending += full.bytes();
                        self.encode(full, &mut tables)?;
                    }
                    if pending >= MAX_PENDING_BYTES {
                        pending = 0;
                        let EncodedTables { tables, texts } = std::mem::take(&mut tables);
                        submit_piece(EncodedBatch {
                            tables,
                            texts,
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
        let EncodedTables { tables, texts } = tables;
        Ok(EncodedBatch {
            tables,
            texts,
            counts,
            first_page,
            last_page,
            weight: batch.weight,
            next: batch.next,
        })
    }

    /// Encodes rows as one more row group of each table that has any.
    fn encode(&self, rows: RowBuffers, encoded: &mut EncodedTables) -> Result<()> {
        let wrong = |error| Error::Internal(format!("rows do not fit their table: {error}"));
        for (table, mut batch) in rows.finish().map_err(wrong)? {
            if table == Table::Text && !self.parameters.text {
                continue;
            }
            let has_texts = table == Table::Text && batch.num_rows() > 0;
            let memory = self.memory.filter(|_| has_texts);
            if memory.is_some() {
                batch = shrunk(batch).map_err(wrong)?;
            }
            match memory.is_some_and(|memory| memory.reserve(&batch)) {
                true => encoded.texts.push(batch),
                false => encoded.tables[table as usize].extend(self.encoder.encode(table, &batch)?),
            }
        }
        Ok(())
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
        counts.rows += u64::from(page.row.is_some());
        counts.payload_bytes = counts.payload_bytes.saturating_add(page.payload_bytes);
        self.link_domains.clear();
        self.link_hashes.clear();
        self.texts.clear();

        let mut reject = reject.map(|reject| (reject.reason.name(), reject.detail));
        let address = self.texts.begin(&mut page);
        reject = reject.or(address);
        let url = PageUrl::new(&page.url);
        reject = reject.or_else(|| self.texts.recursion(&url));
        let mut attributes = PageAttributes::default();
        if reject.is_none() {
            attributes = self.extract(&page, &url, time);
            reject = self.texts.finish(attributes.words > 0, time);
        }
        match &reject {
            Some((reason, detail)) => {
                Tally::add(&mut counts.rejected, reason, || {
                    format!("{}: {detail}", page.url)
                });
            }
            None => {
                counts.kept += 1;
                if let Some(stated) = &attributes.unread_date {
                    counts
                        .unread_dates
                        .add_one(|| format!("{}: {stated:?}", page.url));
                }
                counts.text_bytes += self.texts.text.len() as u64;
                counts.words += u64::from(attributes.words);
                counts.chunks += self.texts.chunks.len() as u64;
                rows.push_chunks(origin.page_id, &self.texts.chunks);
                if self.parameters.text {
                    rows.push_text(origin.page_id, &self.texts.text);
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
            text_hash: reject.is_none().then(|| text_hash(&self.texts.text)),
            text_bytes: self.texts.text.len() as u32,
            words: attributes.words,
            chunks: self.texts.chunks.len() as u32,
            link_domains: self.link_domains.as_slice().into(),
            link_hashes: &self.link_hashes,
            reject: reject.as_ref().map(|(reason, _)| *reason),
            reject_detail: reject.as_ref().map(|(_, detail)| detail.as_str()),
            page_type: self.texts.page_type.map(PageType::name),
            id: page.id.as_deref(),
            row: page.row,
        });
    }

    /// Puts the text of a page in `selected` and its links in the link buffers.
    fn extract(&mut self, page: &Page, url: &PageUrl, time: &TimeLimit) -> PageAttributes {
        let mut attributes = PageAttributes {
            title: page.title.clone(),
            language: page.language.clone(),
            ..PageAttributes::default()
        };
        attributes.set_published(page.published.as_deref(), date::parse_published);
        if let Some(extract) = self.texts.select(page, time) {
            attributes.title = attributes.title.or_else(|| extract.title.clone());
            if attributes.published.is_none() {
                attributes.set_published(extract.published_of(&page.url), date::parse_of_page);
            }
            attributes.language = attributes.language.or_else(|| extract.language.clone());
            let own = url.domain(self.parameters.private_suffixes);
            let base = extract.base.as_deref();
            let mut resolver = LinkResolver::new(&page.url, base, self.parameters.private_suffixes);
            for href in extract.links().chain(extract.canonical.as_deref()) {
                let Some(link) = resolver.resolve(href) else {
                    continue;
                };
                self.link_hashes
                    .push(link_hash(&without_tracking_parameters(link.key)));
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
        if time.is_over() {
            return attributes;
        }
        attributes.words = u32::try_from(words::count_words(&self.texts.text)).unwrap_or(u32::MAX);
        if self.memory.is_none() && attributes.language.is_none() {
            attributes.language = language::detect(&self.texts.text).map(str::to_owned);
        }
        attributes
    }
}
