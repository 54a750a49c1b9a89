//! From a page to its text, what it says about itself, and its links.

use super::metadata::{Metadata, collapse};
use super::outline::{Follow, Outline, OutlineBuilder};
use super::scan;
use super::token::tokenize;
use super::write::Writer;
use crate::words;

mod page;

use page::{Finished, Page};

/// What to extract beyond the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Also make an [`Outline`], for main-content selection.
    pub outline: bool,
}

/// What was found on a page.
#[derive(Clone, Debug, Default)]
pub struct Extract {
    /// The visible text.
    ///
    /// Paragraphs are parted by one blank line, lines by a line feed, table cells by a tab, words
    /// by one space; inside `pre` and `textarea` spaces and tabs stay as they are. The text neither
    /// begins nor ends in such whitespace, and no line ends in it.
    pub text: String,
    /// The first `<title>`, or else `og:title`, with whitespace collapsed.
    pub title: Option<String>,
    /// The date of publication as the page spells it: from `article:published_time`, else
    /// `itemprop=datePublished`, else JSON-LD, else the metadata names that libraries and news
    /// systems use, else `<time pubdate>`.
    pub published: Option<String>,
    /// The primary language subtag in lower case, such as `de`: from `<html lang>`, else
    /// `xml:lang`, else the `content-language` meta tag, else `og:locale`.
    pub language: Option<String>,
    /// The first `<base href>`, against which links resolve.
    pub base: Option<String>,
    /// The address in `<link rel=canonical>`.
    pub canonical: Option<String>,
    /// How deep the deepest element stands in others. Counted are those that go on until their end
    /// tag, such as `div` and `table`: a row of paragraphs that are never closed is not deep.
    pub depth: u32,
    /// The blocks of the text and the elements around them; empty unless [`Options::outline`] asked
    /// for it.
    pub outline: Outline,
    links: Links,
}

impl Extract {
    /// The `href` of each `<a>` and `<area>`, in order, decoded and trimmed but not resolved. Left
    /// out are those that lead nowhere else (`#…`, `javascript:`, `mailto:`, `data:`, `tel:`,
    /// `about:`), those longer than [`LONGEST_LINK`], and all after the first [`MOST_LINKS`].
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.links.iter()
    }

    fn clear(&mut self) {
        self.text.clear();
        self.depth = 0;
        self.outline.clear();
        self.links.clear();
    }
}

/// No page has more links than this as far as [`Extract::links`] is concerned: a page of links
/// alone must not take more memory than its text would.
pub const MOST_LINKS: usize = 65_536;

/// Links of more bytes than this are left out of [`Extract::links`].
pub const LONGEST_LINK: usize = 8_192;

/// Addresses, one after the other in one string.
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
        // 65,536 links of 8 KiB are the most, so the sum fits.
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

/// Turns pages into [`Extract`]s, one after the other, in the same memory.
#[derive(Debug, Default)]
pub struct Extractor {
    extract: Extract,
}

/// Only this much of a page is read, so that positions fit 32 bits even where references make the
/// text a little longer.
pub const LONGEST_PAGE: usize = 1 << 30;

impl Extractor {
    /// An extractor without memory yet.
    #[must_use]
    pub fn new() -> Self {
        Extractor::default()
    }

    /// Reads a page. Any input will do: there is no page that cannot be read, only pages without
    /// text.
    ///
    /// What is in `noscript` is left out where the page has any other words.
    ///
    /// Of a page longer than [`LONGEST_PAGE`] the beginning is read. Time is linear in the length
    /// of the page, memory at most a small multiple of it.
    pub fn extract(&mut self, html: &str, options: &Options) -> &Extract {
        self.extract_while(html, options, &mut || true)
    }

    /// The same, as long as `goes_on` says so: it is asked now and then, and if it says no, what
    /// was read until then is all there is.
    pub fn extract_while(
        &mut self,
        html: &str,
        options: &Options,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> &Extract {
        let html = scan::prefix(html, LONGEST_PAGE);
        let dropped_noscript = self.extract_once(html, options, false, goes_on);
        // A page that shows nothing but what it has for browsers without scripts is read as those
        // read it.
        if dropped_noscript && words::count_words(&self.extract.text) == 0 && goes_on() {
            self.extract_once(html, options, true, goes_on);
        }
        &self.extract
    }

    /// Reads a page with or without what is in `noscript`, and answers whether some of that was
    /// dropped.
    fn extract_once(
        &mut self,
        html: &str,
        options: &Options,
        noscript: bool,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> bool {
        self.extract.clear();
        let mut outline = std::mem::take(&mut self.extract.outline);
        let dropped_noscript = if options.outline {
            let follow = OutlineBuilder::new(&mut outline);
            let (follow, dropped) = self.read(html, follow, noscript, goes_on);
            follow.finish(self.extract.text.len());
            dropped
        } else {
            self.read(html, (), noscript, goes_on).1
        };
        self.extract.outline = outline;
        dropped_noscript
    }

    fn read<F: Follow>(
        &mut self,
        html: &str,
        follow: F,
        noscript: bool,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> (F, bool) {
        let Extract { text, links, .. } = &mut self.extract;
        let mut page = Page::new(Writer::new(text, follow), links, html, goes_on);
        page.show_noscript(noscript);
        tokenize(html, &mut page);
        let Finished {
            metadata,
            follow,
            depth,
            dropped_noscript,
        } = page.finish();
        self.extract.depth = depth;
        self.take(metadata);
        (follow, dropped_noscript)
    }

    fn take(&mut self, metadata: Metadata) {
        let Metadata {
            title,
            open_graph_title,
            published,
            language,
            base,
            canonical,
        } = metadata;
        self.extract.title = title.as_deref().and_then(collapse).or(open_graph_title);
        self.extract.published = published.map(|(_, date)| date);
        self.extract.language = language.map(|(_, language)| language);
        self.extract.base = base;
        self.extract.canonical = canonical;
    }
}
