//! Extracts the text, metadata and links of a page.

use super::entities::PageAddresses;
use super::metadata::{Metadata, PublicationDates, collapse};
use super::microdata::MicrodataDates;
use super::outline::{Outline, OutlineBuilder, TextObserver};
use super::scan;
use super::schema::Declarations;
use super::token::tokenize;
use super::write::Writer;
use crate::words;

mod page_reader;

use page_reader::{DroppedNoscript, Finished, PageReader};

/// What to extract beyond the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Also make an [`Outline`], for main-content selection.
    pub outline: bool,
}

/// The text, metadata and links of a page.
#[derive(Clone, Debug, Default)]
pub struct Extract {
    /// The visible text.
    ///
    /// Paragraphs are separated by one blank line, lines by a line feed, table cells by a tab,
    /// words by one space; inside `pre` and `textarea`, spaces and tabs are kept. Words in adjacent
    /// links and in adjacent `span` elements are separate. Neither the text nor any line ends in
    /// whitespace, and the text does not begin with it.
    pub text: String,
    /// The first `<title>`, or else `og:title`, with whitespace collapsed.
    pub title: Option<String>,
    /// The publication date as written on the page: from `article:published_time`, else
    /// `itemprop=datePublished`, else JSON-LD, else the metadata names of libraries and news
    /// systems, else `<time pubdate>`. Dates of other things that a page describes, such as a
    /// reviewed book, a comment or an entry of a list, do not count, and neither do dates in parts
    /// about something else, such as `aside`, `nav`, `blockquote` and elements whose names say so.
    /// If a page has several articles, all must have the same date; one without a date is ignored
    /// only if the other has all of the page's `h1`. A JSON-LD article whose address is another
    /// page than the declared one does not count. [`Extract::published_of`] may know it where this
    /// field does not.
    pub published: Option<String>,
    /// The primary language subtag in lower case, such as `de`: from `<html lang>`, else
    /// `xml:lang`, else the `content-language` meta tag, else `og:locale`.
    pub language: Option<String>,
    /// The first `<base href>`, against which links resolve.
    pub base: Option<String>,
    /// The address in `<link rel=canonical>`.
    pub canonical: Option<String>,
    /// What the page declares about its kind.
    pub declared: Declarations,
    /// The maximum nesting depth. Only elements that extend to their end tag count, such as `div`
    /// and `table`: a sequence of unclosed paragraphs is not deep.
    pub depth: u32,
    /// The blocks of the text and the elements around them; empty unless [`Options::outline`] is
    /// set.
    pub outline: Outline,
    dates: PublicationDates,
    links: Links,
}

impl Extract {
    /// The `href` of each `<a>` and `<area>`, the `cite` of each `<blockquote>` and `<q>` and the
    /// `src` of each `<iframe>`, in order, decoded and trimmed but not resolved.
    /// Skipped are links without a target on the web (`#…`, `javascript:`, `mailto:`, `data:`,
    /// `tel:`, `about:`), links longer than [`LONGEST_LINK`], and all after the first
    /// [`MOST_LINKS`].
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.links.iter()
    }

    /// The publication date of the page if its address is `url`: of several articles that a page
    /// describes, the one with this address is the page's own.
    #[must_use]
    pub fn published_of(&self, url: &str) -> Option<&str> {
        self.dates.of(&self.addresses(Some(url)))
    }

    fn addresses<'a>(&'a self, url: Option<&'a str>) -> PageAddresses<'a> {
        let declared = [&self.canonical, &self.declared.open_graph_address];
        PageAddresses::new(url, declared.into_iter().filter_map(Option::as_deref))
    }

    fn clear(&mut self) {
        self.text.clear();
        self.depth = 0;
        self.outline.clear();
        self.links.clear();
    }
}

/// The maximum number of links in [`Extract::links`], so that a page of links does not take
/// more memory than its text.
pub const MOST_LINKS: usize = 65_536;

/// Links of more bytes than this are skipped in [`Extract::links`].
pub const LONGEST_LINK: usize = 8_192;

/// Link addresses, concatenated in one string.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    arena: String,
    ends: Vec<u32>,
}

impl Links {
    fn clear(&mut self) {
        self.arena.clear();
        self.ends.clear();
    }

    fn push(&mut self, href: &str) {
        let href = href.trim_matches(|c: char| c.is_ascii_whitespace());
        if href.is_empty()
            || href.len() > LONGEST_LINK
            || self.ends.len() >= MOST_LINKS
            || leads_nowhere(href)
        {
            return;
        }
        self.arena.push_str(href);
        // At most 65,536 links of 8 KiB, so the sum fits.
        self.ends
            .push(u32::try_from(self.arena.len()).unwrap_or(u32::MAX));
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let mut begin = 0;
        self.ends.iter().map(move |&end| {
            let link = self.arena.get(begin..end as usize).unwrap_or_default();
            begin = end as usize;
            link
        })
    }
}

fn leads_nowhere(href: &str) -> bool {
    if href.starts_with('#') {
        return true;
    }
    ["javascript:", "mailto:", "data:", "tel:", "about:"]
        .iter()
        .any(|scheme| {
            href.as_bytes()
                .get(..scheme.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
        })
}

/// Extracts pages, one after another, reusing its buffers.
#[derive(Debug, Default)]
pub struct Extractor {
    extract: Extract,
}

/// The maximum number of bytes of a page that are read, so that positions fit into 32 bits
/// even where references make the text slightly longer than the page.
pub const LONGEST_PAGE: usize = 1 << 30;

/// Less text in `noscript` does not replace a page that has words: it is a request to turn scripts
/// on.
const LEAST_NOSCRIPT: usize = 100;
/// The same for text that names JavaScript.
const LEAST_NAMING_SCRIPTS: usize = 300;

impl Extractor {
    /// Creates an extractor with empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Extractor::default()
    }

    /// Extracts a page. Any input is accepted; a page may simply have no text.
    ///
    /// The content of `noscript` is skipped unless it has at least as much text as the rest of the
    /// page, and is too long for a request to turn scripts on. Text that only JSON-LD states
    /// (`articleBody`, the `description` of a product, the `text` of a post) follows the visible
    /// text, and so does the text in the state that a page embeds for its scripts, if it is longer
    /// than what the page shows.
    ///
    /// Only the first [`LONGEST_PAGE`] bytes are read. Time is linear in the length of the
    /// page, and memory is at most a small multiple of it.
    pub fn extract(&mut self, html: &str, options: &Options) -> &Extract {
        self.extract_while(html, options, &mut || true)
    }

    /// Like [`Extractor::extract`], but calls `should_continue` periodically and stops when it
    /// returns false. The result is then what was read so far.
    pub fn extract_while(
        &mut self,
        html: &str,
        options: &Options,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> &Extract {
        let html = scan::prefix(html, LONGEST_PAGE);
        let dropped = self.extract_once(html, options, false, should_continue);
        // A page whose words are in `noscript` is read as by a browser without scripts.
        let shown = self.extract.text.len();
        let least = match dropped.names_scripts {
            true => LEAST_NAMING_SCRIPTS,
            false => LEAST_NOSCRIPT,
        };
        let is_in_noscript = dropped.length > 0
            && (dropped.length >= shown.max(least) || words::count_words(&self.extract.text) == 0);
        if is_in_noscript && should_continue() {
            self.extract_once(html, options, true, should_continue);
        }
        &self.extract
    }

    /// Extracts a page with or without the content of `noscript`, and returns what of it was
    /// dropped.
    fn extract_once(
        &mut self,
        html: &str,
        options: &Options,
        noscript: bool,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> DroppedNoscript {
        self.extract.clear();
        let mut outline = std::mem::take(&mut self.extract.outline);
        let dropped_noscript = if options.outline {
            let observer = OutlineBuilder::new(&mut outline);
            let (observer, dropped) = self.read(html, observer, noscript, should_continue);
            observer.finish(self.extract.text.len());
            dropped
        } else {
            self.read(html, (), noscript, should_continue).1
        };
        self.extract.outline = outline;
        dropped_noscript
    }

    fn read<F: TextObserver>(
        &mut self,
        html: &str,
        observer: F,
        noscript: bool,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> (F, DroppedNoscript) {
        let Extract { text, links, .. } = &mut self.extract;
        let mut reader = PageReader::new(Writer::new(text, observer), links, html, should_continue);
        reader.show_noscript(noscript);
        tokenize(html, &mut reader);
        reader.append_stated_text();
        let Finished {
            metadata,
            microdata,
            observer,
            depth,
            dropped_noscript,
        } = reader.finish();
        self.extract.depth = depth;
        self.take(metadata, microdata);
        (observer, dropped_noscript)
    }

    fn take(&mut self, metadata: Metadata, dates: MicrodataDates) {
        let Metadata {
            title,
            open_graph_title,
            published,
            language,
            base,
            canonical,
            declared,
            described,
        } = metadata;
        self.extract.title = title.as_deref().and_then(collapse).or(open_graph_title);
        self.extract.language = language.map(|(_, language)| language);
        self.extract.base = base;
        self.extract.canonical = canonical;
        self.extract.declared = declared;
        self.extract.dates = PublicationDates {
            stated: published,
            microdata: dates.microdata,
            json_ld: described,
            times: dates.times,
        };
        let published = self.extract.dates.of(&self.extract.addresses(None));
        self.extract.published = published.map(str::to_owned);
    }
}
