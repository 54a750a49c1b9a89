//! From records to rows: what one worker does with one batch.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{
    FixedSizeBinaryBuilder, ListBuilder, StringBuilder, TimestampMillisecondBuilder, UInt16Builder,
    UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;
use cento_fingerprint::{link_hash, text_hash};
use cento_read::{Content, Decoded, Input, Page, Settings};
use cento_text::content::{self, Selection};
use cento_text::html::{Extractor, LONGEST_PAGE, Options};
use cento_text::url::{LinkResolver, PageUrl};
use cento_text::{chunk, date, language, normal, plain, words};

use crate::error::{Error, Result};
use crate::manifest::{Counts, Tally};
use crate::parameters::{PageLimits, Parameters};
use crate::part::{EncodedBatch, Encoder, RowGroup};
use crate::schema::Table;
use crate::task::Batch;
use crate::work::Work;

/// Buffers that grew beyond this for one huge page are given back after it.
const LARGE: usize = 4 << 20;
/// Room for text that a batch has before it is read: what it weighs, but no more than this.
const MOST_RESERVED: usize = 16 << 20;
/// Bytes of rows after which they are encoded as a row group of their own. What a batch weighs says
/// little about its rows: a page may unpack to 250 times its size, and two bytes of text may be a
/// chunk. It also keeps columns of strings far from the 2 GiB that Arrow can address, as long as
/// one page has no more than [`LONGEST_TEXT`].
const ROWS_BYTES: usize = 32 << 20;
/// Bytes of rows, before they are encoded, that a batch may hold until its turn comes. Hardly any
/// batch has more.
const HELD_BYTES: usize = 4 * ROWS_BYTES;
/// The longest text of a page. Positions in it have 32 bits, and a column of texts has no more than
/// 2 GiB.
const LONGEST_TEXT: usize = LONGEST_PAGE;
/// The longest title, as [`Extractor`] has it, wherever the title is from.
const LONGEST_TITLE: usize = 1_024;
/// The longest of the short facts about a page: its type, its language, its address on the network.
const LONGEST_FACT: usize = 255;
/// Bytes of a row of the table of chunks.
const CHUNK_ROW: usize = 36;
/// Bytes of the numbers and hashes in a row of the table of pages, about.
const PAGE_ROW: usize = 160;

/// The URL of a page on which a worker panics, in tests.
#[cfg(test)]
pub(crate) const PANICKING: &str = "test:panic";

/// A worker's tools; its buffers are kept from page to page.
pub(crate) struct Worker<'run> {
    parameters: &'run Parameters,
    settings: &'run Settings,
    inputs: &'run [Input],
    first_input: u32,
    encoder: &'run Encoder,
    extractor: Extractor,
    selected: String,
    normalised: String,
    link_domains: Vec<String>,
    link_hashes: Vec<u64>,
    /// The chunks of the page at hand.
    chunks: Vec<Chunk>,
}

/// A chunk of the page at hand.
struct Chunk {
    hash: [u8; 16],
    begin: u32,
    end: u32,
}

/// What a page says about itself, and what cento makes of it.
#[derive(Default)]
struct Facts {
    title: Option<String>,
    published: Option<i64>,
    language: Option<String>,
    words: u32,
    /// How deep its elements stand within each other.
    depth: u32,
    /// How long its text or HTML is.
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

    /// Decodes, reads, cuts, hashes and encodes a batch. What comes to more than can be held until
    /// its turn is given to `early` in pieces, in order, before the rest is returned.
    pub(crate) fn process(
        &mut self,
        batch: Batch,
        mut early: impl FnMut(EncodedBatch) -> Result<()>,
    ) -> Result<EncodedBatch> {
        let mut rows = Rows::new(batch.records.len(), batch.weight as usize);
        let mut tables: [Vec<RowGroup>; 3] = Default::default();
        let mut counts = batch.counts;
        let mut first_page = None;
        let mut last_page = None;
        let mut held = 0;
        for (position, record) in batch.records {
            let ordinal = u64::from(self.first_input) + position as u64;
            let page_id = ordinal << 32 | u64::from(record.place.ordinal);
            let source = Source {
                file: &self.inputs[position].name,
                offset: record.place.offset,
                length: record.place.length,
            };
            let work = Work::begin(self.settings.limits.max_work);
            match cento_read::decode(record, self.settings) {
                Ok(decoded) => {
                    self.page(page_id, &source, decoded, &work, &mut rows, &mut counts);
                    self.give_back();
                    first_page = first_page.or(Some(page_id));
                    last_page = Some(page_id);
                    if rows.filled >= ROWS_BYTES {
                        let full = std::mem::replace(&mut rows, Rows::new(0, 0));
                        held += full.filled;
                        self.encode(full, &mut tables)?;
                    }
                    if held >= HELD_BYTES {
                        held = 0;
                        early(EncodedBatch {
                            tables: std::mem::take(&mut tables),
                            counts: std::mem::take(&mut counts),
                            first_page: first_page.take(),
                            last_page: last_page.take(),
                            weight: 0,
                            next: None,
                        })?;
                    }
                }
                Err(skipped) => counts.damage(source.file, &skipped),
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
    fn encode(&self, rows: Rows, tables: &mut [Vec<RowGroup>; 3]) -> Result<()> {
        let batches = rows
            .finish()
            .map_err(|error| Error::parquet(std::path::Path::new("rows"), error.into()))?;
        for (table, batch) in Table::ALL.into_iter().zip(batches) {
            if table == Table::Text && !self.parameters.text {
                continue;
            }
            tables[table as usize].extend(self.encoder.encode(table, &batch)?);
        }
        Ok(())
    }

    fn give_back(&mut self) {
        if self.selected.capacity() > LARGE || self.normalised.capacity() > LARGE {
            self.extractor = Extractor::new();
            self.selected = String::new();
            self.normalised = String::new();
        }
        if self.chunks.capacity() > LARGE / size_of::<Chunk>() {
            self.chunks = Vec::new();
        }
    }

    fn page(
        &mut self,
        page_id: u64,
        source: &Source<'_>,
        decoded: Decoded,
        work: &Work,
        rows: &mut Rows,
        counts: &mut Counts,
    ) {
        let Decoded { mut page, reject } = decoded;
        #[cfg(test)]
        assert_ne!(page.url, PANICKING, "a worker panics, as a test wants it");
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
        let mut facts = Facts::default();
        if reject.is_none() {
            facts = self.read(&page, &url, work);
            reject = self.exceeded(&facts, work);
            if reject.is_none() && facts.words == 0 {
                reject = Some(("empty", "no words in it".to_owned()));
            }
            if reject.is_none() {
                reject = self.cut();
            }
            if reject.is_some() {
                self.selected.clear();
            }
        }
        let chunks = match &reject {
            Some((reason, detail)) => {
                Tally::add(&mut counts.rejected, reason, || {
                    format!("{}: {detail}", page.url)
                });
                0
            }
            None => {
                counts.kept += 1;
                counts.text_bytes += self.selected.len() as u64;
                counts.words += u64::from(facts.words);
                counts.chunks += self.chunks.len() as u64;
                rows.chunks_of(page_id, &self.chunks);
                if self.parameters.text {
                    rows.text(page_id, &self.selected);
                }
                self.chunks.len() as u32
            }
        };
        rows.filled += PAGE_ROW + page.url.len() + 8 * self.link_hashes.len();
        rows.filled += self.link_domains.iter().map(String::len).sum::<usize>();
        rows.page_id.append_value(page_id);
        rows.url.append_value(&page.url);
        rows.host.append_option(url.host());
        rows.domain
            .append_option(url.domain(self.parameters.private_suffixes));
        rows.ip.append_option(page.ip.as_deref());
        rows.fetched_at
            .append_option(page.fetched.as_deref().and_then(date::parse));
        rows.published_at.append_option(facts.published);
        rows.status.append_option(page.status);
        rows.mime.append_option(page.mime.as_deref());
        rows.title.append_option(facts.title.as_deref());
        rows.language.append_option(facts.language.as_deref());
        rows.bytes.append_value(page.payload_bytes);
        rows.source.append_value(source.file);
        rows.source_offset.append_value(source.offset);
        rows.source_length.append_value(source.length);
        append_bytes(
            &mut rows.payload_sha1,
            page.payload_sha1.as_ref().map(|sha1| &sha1[..]),
        );
        rows.revisit_of_url
            .append_option(page.revisit_of_url.as_deref());
        rows.revisit_of_date
            .append_option(page.revisit_of_date.as_deref().and_then(date::parse));
        let text_hash = reject.is_none().then(|| text_hash(&self.selected));
        append_bytes(
            &mut rows.text_hash,
            text_hash.as_ref().map(|hash| &hash[..]),
        );
        rows.text_bytes.append_value(self.selected.len() as u32);
        rows.words.append_value(facts.words);
        rows.chunks.append_value(chunks);
        for domain in &self.link_domains {
            rows.link_domains.values().append_value(domain);
        }
        rows.link_domains.append(true);
        rows.link_hashes.values().append_slice(&self.link_hashes);
        rows.link_hashes.append(true);
        rows.reject
            .append_option(reject.as_ref().map(|(reason, _)| *reason));
        rows.reject_detail
            .append_option(reject.as_ref().map(|(_, detail)| detail.as_str()));
    }

    /// Which limit on the work with a page was exceeded, if one was.
    fn exceeded(&self, facts: &Facts, work: &Work) -> Option<(&'static str, String)> {
        let limit = self.settings.limits.max_nesting;
        if facts.depth > limit {
            let depth = facts.depth;
            let detail = format!("{depth} elements within each other, the limit is {limit}");
            return Some(("too-deep", detail));
        }
        if facts.bytes > LONGEST_TEXT {
            let bytes = facts.bytes;
            let detail = format!("{bytes} bytes of text or HTML, the most is {LONGEST_TEXT}");
            return Some(("too-large", detail));
        }
        (!work.goes_on()).then(|| {
            let limit = self.settings.limits.max_work.as_secs_f64();
            ("too-slow", format!("more than {limit} seconds of work"))
        })
    }

    /// Leaves the page's text in `selected` and its links in the link buffers.
    fn read(&mut self, page: &Page, url: &PageUrl, work: &Work) -> Facts {
        let mut facts = Facts {
            title: page.title.clone(),
            published: page.published.as_deref().and_then(date::parse),
            language: page.language.clone(),
            ..Facts::default()
        };
        facts.bytes = match &page.content {
            Content::None => 0,
            Content::Text(text) | Content::Html(text) => text.len(),
        };
        if facts.bytes > LONGEST_TEXT {
            return facts;
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
                let mut goes_on = || work.goes_on();
                let extract = self.extractor.extract_while(html, &options, &mut goes_on);
                facts.depth = extract.depth;
                if !work.goes_on() {
                    return facts;
                }
                if outline {
                    let ranges = content::select(extract, self.parameters.content);
                    content::apply(&extract.text, &ranges, &mut self.selected);
                } else {
                    self.selected.push_str(&extract.text);
                }
                facts.title = facts.title.or_else(|| extract.title.clone());
                facts.published = facts
                    .published
                    .or_else(|| extract.published.as_deref().and_then(date::parse));
                facts.language = facts.language.or_else(|| extract.language.clone());
                let own = url.domain(self.parameters.private_suffixes);
                let base = extract.base.as_deref();
                let mut resolver =
                    LinkResolver::new(&page.url, base, self.parameters.private_suffixes);
                for href in extract.links() {
                    let Some(link) = resolver.resolve(href) else {
                        continue;
                    };
                    self.link_hashes.push(link_hash(link.key));
                    // Most links of a page lead to one domain after the other, so this finds most
                    // repeats.
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
        if !work.goes_on() {
            return facts;
        }
        facts.words = u32::try_from(words::count_words(&self.selected)).unwrap_or(u32::MAX);
        facts.language = facts
            .language
            .or_else(|| language::detect(&self.selected).map(str::to_owned));
        facts
    }

    /// Cuts the page's text into chunks. Answers why it cannot be kept if there are too many of
    /// them.
    fn cut(&mut self) -> Option<(&'static str, String)> {
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
            chunks.push(Chunk {
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

/// Cuts off what no page needs of the facts about it. Answers how long its URL was, if that was
/// cut.
///
/// A table has these facts of every page, rejected ones too, and analyses keep them in memory: a
/// page without text must not cost more than one with it.
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
    let facts = [
        (&mut page.title, LONGEST_TITLE),
        (&mut page.language, LONGEST_FACT),
        (&mut page.ip, LONGEST_FACT),
        (&mut page.mime, LONGEST_FACT),
        (&mut page.revisit_of_url, most),
    ];
    for (fact, most) in facts {
        fact.as_mut().map(|text| cut(text, most));
    }
    let bytes = page.url.len();
    cut(&mut page.url, most).then_some(bytes)
}

/// Where a record stands in the input.
struct Source<'a> {
    file: &'a str,
    offset: u64,
    length: u64,
}

/// Appends bytes of the width the builder was made for: every caller passes an array of that width.
fn append_bytes(builder: &mut FixedSizeBinaryBuilder, bytes: Option<&[u8]>) {
    if bytes.is_none_or(|bytes| builder.append_value(bytes).is_err()) {
        builder.append_null();
    }
}

/// The rows of a row group, column by column.
struct Rows {
    /// About how many bytes they are.
    filled: usize,
    page_id: UInt64Builder,
    url: StringBuilder,
    host: StringBuilder,
    domain: StringBuilder,
    ip: StringBuilder,
    fetched_at: TimestampMillisecondBuilder,
    published_at: TimestampMillisecondBuilder,
    status: UInt16Builder,
    mime: StringBuilder,
    title: StringBuilder,
    language: StringBuilder,
    bytes: UInt64Builder,
    source: StringBuilder,
    source_offset: UInt64Builder,
    source_length: UInt64Builder,
    payload_sha1: FixedSizeBinaryBuilder,
    revisit_of_url: StringBuilder,
    revisit_of_date: TimestampMillisecondBuilder,
    text_hash: FixedSizeBinaryBuilder,
    text_bytes: UInt32Builder,
    words: UInt32Builder,
    chunks: UInt32Builder,
    link_domains: ListBuilder<StringBuilder>,
    link_hashes: ListBuilder<UInt64Builder>,
    reject: StringBuilder,
    reject_detail: StringBuilder,
    text_page: UInt64Builder,
    text: StringBuilder,
    chunk_hash: FixedSizeBinaryBuilder,
    chunk_page: UInt64Builder,
    chunk_ordinal: UInt32Builder,
    chunk_begin: UInt32Builder,
    chunk_end: UInt32Builder,
}

impl Rows {
    fn new(pages: usize, text_bytes: usize) -> Rows {
        let text = || StringBuilder::with_capacity(pages, pages * 16);
        Rows {
            filled: 0,
            page_id: UInt64Builder::with_capacity(pages),
            url: StringBuilder::with_capacity(pages, pages * 64),
            host: text(),
            domain: text(),
            ip: text(),
            fetched_at: TimestampMillisecondBuilder::with_capacity(pages).with_timezone("UTC"),
            published_at: TimestampMillisecondBuilder::with_capacity(pages).with_timezone("UTC"),
            status: UInt16Builder::with_capacity(pages),
            mime: text(),
            title: text(),
            language: text(),
            bytes: UInt64Builder::with_capacity(pages),
            source: text(),
            source_offset: UInt64Builder::with_capacity(pages),
            source_length: UInt64Builder::with_capacity(pages),
            payload_sha1: FixedSizeBinaryBuilder::with_capacity(pages, 20),
            revisit_of_url: text(),
            revisit_of_date: TimestampMillisecondBuilder::with_capacity(pages).with_timezone("UTC"),
            text_hash: FixedSizeBinaryBuilder::with_capacity(pages, 16),
            text_bytes: UInt32Builder::with_capacity(pages),
            words: UInt32Builder::with_capacity(pages),
            chunks: UInt32Builder::with_capacity(pages),
            link_domains: ListBuilder::new(StringBuilder::new()),
            link_hashes: ListBuilder::new(UInt64Builder::new()),
            reject: text(),
            reject_detail: text(),
            text_page: UInt64Builder::with_capacity(pages),
            text: StringBuilder::with_capacity(pages, text_bytes.min(MOST_RESERVED)),
            chunk_hash: FixedSizeBinaryBuilder::new(16),
            chunk_page: UInt64Builder::new(),
            chunk_ordinal: UInt32Builder::new(),
            chunk_begin: UInt32Builder::new(),
            chunk_end: UInt32Builder::new(),
        }
    }

    fn chunks_of(&mut self, page_id: u64, chunks: &[Chunk]) {
        for (ordinal, chunk) in (0..).zip(chunks) {
            append_bytes(&mut self.chunk_hash, Some(&chunk.hash));
            self.chunk_page.append_value(page_id);
            self.chunk_ordinal.append_value(ordinal);
            self.chunk_begin.append_value(chunk.begin);
            self.chunk_end.append_value(chunk.end);
        }
        self.filled += chunks.len() * CHUNK_ROW;
    }

    fn text(&mut self, page_id: u64, text: &str) {
        self.filled += text.len();
        self.text_page.append_value(page_id);
        self.text.append_value(text);
    }

    /// The batches of pages, text and chunks.
    fn finish(mut self) -> std::result::Result<[RecordBatch; 3], ArrowError> {
        let pages: Vec<ArrayRef> = vec![
            Arc::new(self.page_id.finish()),
            Arc::new(self.url.finish()),
            Arc::new(self.host.finish()),
            Arc::new(self.domain.finish()),
            Arc::new(self.ip.finish()),
            Arc::new(self.fetched_at.finish()),
            Arc::new(self.published_at.finish()),
            Arc::new(self.status.finish()),
            Arc::new(self.mime.finish()),
            Arc::new(self.title.finish()),
            Arc::new(self.language.finish()),
            Arc::new(self.bytes.finish()),
            Arc::new(self.source.finish()),
            Arc::new(self.source_offset.finish()),
            Arc::new(self.source_length.finish()),
            Arc::new(self.payload_sha1.finish()),
            Arc::new(self.revisit_of_url.finish()),
            Arc::new(self.revisit_of_date.finish()),
            Arc::new(self.text_hash.finish()),
            Arc::new(self.text_bytes.finish()),
            Arc::new(self.words.finish()),
            Arc::new(self.chunks.finish()),
            Arc::new(self.link_domains.finish()),
            Arc::new(self.link_hashes.finish()),
            Arc::new(self.reject.finish()),
            Arc::new(self.reject_detail.finish()),
        ];
        let text: Vec<ArrayRef> = vec![
            Arc::new(self.text_page.finish()),
            Arc::new(self.text.finish()),
        ];
        let chunks: Vec<ArrayRef> = vec![
            Arc::new(self.chunk_hash.finish()),
            Arc::new(self.chunk_page.finish()),
            Arc::new(self.chunk_ordinal.finish()),
            Arc::new(self.chunk_begin.finish()),
            Arc::new(self.chunk_end.finish()),
        ];
        Ok([
            RecordBatch::try_new(Table::Pages.schema(), pages)?,
            RecordBatch::try_new(Table::Text.schema(), text)?,
            RecordBatch::try_new(Table::Chunks.schema(), chunks)?,
        ])
    }
}
