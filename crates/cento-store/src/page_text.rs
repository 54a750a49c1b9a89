//! From decoded pages to text and chunks, for an index and for a stream.

use std::borrow::Cow;
use std::time::Duration;

use cento_read::{Content, Decoded, Page};
use cento_text::content::{self, PageType, Selection};
use cento_text::html::{Extract, Extractor, LONGEST_PAGE, Options};
use cento_text::url::PageUrl;
use cento_text::{chunk, normal, plain, words};

use crate::parameters::{PageLimits, Parameters};
use crate::row_buffers::ChunkSpan;
use crate::time_limit::TimeLimit;

/// Buffers that grew beyond this for one huge page are freed after it.
const LARGE: usize = 4 << 20;
/// The longest text of a page. Positions in it have 32 bits, and a column of texts has at most 2
/// GiB.
const LONGEST_TEXT: usize = LONGEST_PAGE;
/// The longest title, from any source; the limit of [`Extractor`].
const LONGEST_TITLE: usize = 1_024;
/// The longest of the short attributes of a page: media type, language, network address.
const LONGEST_ATTRIBUTE: usize = 255;

/// A reason to reject a page, with details.
pub(crate) type Rejection = (&'static str, String);

/// Turns pages into text and chunks. Its buffers are reused from page to page.
pub(crate) struct PageTexts {
    parameters: Parameters,
    extractor: Extractor,
    /// The text of the current page.
    pub(crate) text: String,
    /// The chunks of the current page.
    pub(crate) chunks: Vec<ChunkSpan>,
    /// Whether chunks are needed. If not, texts are cut only to find those with too many.
    pub(crate) keep_chunks: bool,
    normalised: String,
    /// The nesting depth of its elements.
    depth: u32,
    /// The size of its text or HTML.
    bytes: usize,
    /// Its type, if main content was selected.
    pub(crate) page_type: Option<PageType>,
}

/// A page of a stream with its text: what an index would store of it.
pub struct PageContent<'a> {
    /// The page, without its markup.
    pub page: &'a Page,
    /// Its address.
    pub url: &'a PageUrl,
    /// Its text; empty if it was rejected.
    pub text: &'a str,
    /// Why it was rejected, if it was: the reason for counting, and details.
    pub reject: Option<(&'static str, &'a str)>,
    chunks: &'a [ChunkSpan],
}

impl PageContent<'_> {
    /// The hashes of its chunks, in order.
    pub fn chunk_hashes(&self) -> impl ExactSizeIterator<Item = &[u8; 16]> {
        self.chunks.iter().map(|chunk| &chunk.hash)
    }
}

impl PageTexts {
    pub(crate) fn new(parameters: &Parameters) -> PageTexts {
        PageTexts {
            parameters: parameters.clone(),
            extractor: Extractor::new(),
            text: String::new(),
            chunks: Vec::new(),
            keep_chunks: true,
            normalised: String::new(),
            depth: 0,
            bytes: 0,
            page_type: None,
        }
    }

    fn max_work(&self) -> Duration {
        Duration::from_millis(self.parameters.limits.max_milliseconds)
    }

    /// Processes a page, and calls `each` with the result.
    pub(crate) fn page<T>(
        &mut self,
        decoded: Decoded,
        each: impl FnOnce(&PageContent<'_>) -> T,
    ) -> T {
        let time = TimeLimit::begin(self.max_work());
        let Decoded { mut page, reject } = decoded;
        self.clear();
        let mut reject = reject.map(|reject| (reject.reason.name(), reject.detail));
        let address = self.begin(&mut page);
        reject = reject.or(address);
        let url = PageUrl::new(&page.url);
        reject = reject.or_else(|| self.recursion(&url));
        if reject.is_none() {
            self.select(&page, &time);
            let has_words = !time.is_over() && words::count_words(&self.text) > 0;
            reject = self.finish(has_words, &time);
        }
        page.content = Content::None;
        let made = each(&PageContent {
            page: &page,
            url: &url,
            text: &self.text,
            reject: reject
                .as_ref()
                .map(|(reason, detail)| (*reason, detail.as_str())),
            chunks: &self.chunks,
        });
        self.free_large_buffers();
        made
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.chunks.clear();
        (self.depth, self.bytes) = (0, 0);
        self.page_type = None;
    }

    pub(crate) fn free_large_buffers(&mut self) {
        if self.text.capacity() > LARGE || self.normalised.capacity() > LARGE {
            self.extractor = Extractor::new();
            self.text = String::new();
            self.normalised = String::new();
        }
        if self.chunks.capacity() > LARGE / size_of::<ChunkSpan>() {
            self.chunks = Vec::new();
        }
    }

    /// Truncates the attributes of a page, and rejects it if its URL is too long.
    pub(crate) fn begin(&self, page: &mut Page) -> Option<Rejection> {
        let limits = &self.parameters.limits;
        shorten(page, limits).map(|bytes| {
            let limit = limits.max_url_bytes;
            let detail = format!("a URL of {bytes} bytes, the limit is {limit}");
            ("url-too-long", detail)
        })
    }

    /// Rejects a page that a crawler reached in a loop.
    pub(crate) fn recursion(&self, url: &PageUrl) -> Option<Rejection> {
        let recursion = url.recursion_error(&self.parameters.recursion())?;
        Some(("recursion", recursion.to_string()))
    }

    /// Puts the text of a page in `text`. Returns what else was extracted from HTML, unless there
    /// was no time for it.
    pub(crate) fn select(&mut self, page: &Page, time: &TimeLimit) -> Option<&Extract> {
        self.bytes = match &page.content {
            Content::None => 0,
            Content::Text(text) | Content::Html(text) => text.len(),
        };
        if self.bytes > LONGEST_TEXT {
            return None;
        }
        match &page.content {
            Content::None => None,
            Content::Text(text) => {
                match plain::plain_text(text) {
                    Cow::Borrowed(text) => self.text.push_str(text),
                    Cow::Owned(text) => self.text = text,
                }
                None
            }
            Content::Html(html) => {
                let outline = self.parameters.content != Selection::All;
                let options = Options { outline };
                let mut has_time = || !time.is_over();
                let extract = self.extractor.extract_while(html, &options, &mut has_time);
                self.depth = extract.depth;
                if time.is_over() {
                    return None;
                }
                if outline {
                    let selected = content::analyse(extract, self.parameters.content);
                    content::apply(&extract.text, &selected.ranges, &mut self.text);
                    self.page_type = selected.page_type;
                } else {
                    self.text.push_str(&extract.text);
                }
                Some(extract)
            }
        }
    }

    /// Cuts the text into chunks, or rejects the page and drops its text.
    pub(crate) fn finish(&mut self, has_words: bool, time: &TimeLimit) -> Option<Rejection> {
        let mut reject = self.exceeded_limit(time);
        if reject.is_none() && !has_words {
            reject = Some(("empty", "no words in it".to_owned()));
        }
        if reject.is_none() {
            reject = self.cut();
        }
        if reject.is_some() {
            self.text.clear();
            self.chunks.clear();
        }
        reject
    }

    /// Rejects a page that exceeds a limit on processing.
    fn exceeded_limit(&self, time: &TimeLimit) -> Option<Rejection> {
        let limit = self.parameters.limits.max_nesting;
        if self.depth > limit {
            let depth = self.depth;
            let detail = format!("{depth} elements within each other, the limit is {limit}");
            return Some(("too-deep", detail));
        }
        if self.bytes > LONGEST_TEXT {
            let bytes = self.bytes;
            let detail = format!("{bytes} bytes of text or HTML, the most is {LONGEST_TEXT}");
            return Some(("too-large", detail));
        }
        time.is_over().then(|| {
            let limit = self.max_work().as_secs_f64();
            ("too-slow", format!("more than {limit} seconds of work"))
        })
    }

    /// Cuts the text of the page into chunks. Rejects a page with too many of them.
    fn cut(&mut self) -> Option<Rejection> {
        let Parameters {
            chunk: kind,
            normalisation,
            hash,
            ..
        } = self.parameters;
        let limit = self.parameters.limits.max_chunks;
        // A chunk has at least one byte.
        if !self.keep_chunks && self.text.len() as u64 <= limit {
            return None;
        }
        let (normalised, chunks) = (&mut self.normalised, &mut self.chunks);
        let mut exceeded = false;
        chunk::chunks(&self.text, kind, |range| {
            normalised.clear();
            normal::normalise(&self.text[range.clone()], normalisation, normalised);
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
        if !self.keep_chunks {
            chunks.clear();
        }
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
