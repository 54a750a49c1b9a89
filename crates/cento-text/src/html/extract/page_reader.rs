//! The token sink of the extractor: decides what is visible, what is dropped, and what is metadata.

use std::ops::Range;

use super::{LEAST_NAMING_SCRIPTS, Links};
use crate::html::entities::LEAST_BODY;
use crate::html::metadata::Metadata;
use crate::html::microdata::{Microdata, MicrodataDates};
use crate::html::outline::{TextObserver, is_container};
use crate::html::scan;
use crate::html::state::{ScriptKind, embedded_text};
use crate::html::tag::{ContentModel, Tag, TagEdge};
use crate::html::token::{Attributes, EndTag, StartTag, TextToken, TokenSink, tokenize};
use crate::html::write::Writer;

mod dropped;

use dropped::{DroppedSubtree, StartTagEffect, is_dropped};

pub(super) struct PageReader<'a, F> {
    writer: Writer<'a, F>,
    links: &'a mut Links,
    metadata: Metadata,
    /// The subtree being dropped, if any.
    dropped: DroppedSubtree,
    /// Whether `itemprop` and `datePublished`, or `pubdate`, occur on the page, so that any element
    /// may state the date, and nothing more reliable has. A search of the page is far cheaper than
    /// inspecting the attributes of every tag. `PUBDATE`, which hardly any page has, is not worth
    /// another search.
    states_date: bool,
    microdata: Microdata,
    /// How to handle the text of the current element whose content is not markup.
    raw: Raw,
    /// Inside `pre` or `listing`.
    preformatted: bool,
    /// The page, and the places of the scripts in it that are states.
    html: &'a str,
    states: Vec<Range<usize>>,
    /// The length of the text when the last link ended.
    link_end: usize,
    /// Where the text of the last `span` begins, and the length of the text at the end of the last
    /// one that has more than a letter.
    span_begin: usize,
    span_end: usize,
    /// The length of the text where a `span` follows another one directly.
    span_joint: usize,
    in_math: u32,
    /// The number of open elements that [nest](nests), and its maximum. Counted by tags only:
    /// elements that a browser would close along with a table stay open here, which matters only by
    /// the thousand.
    depth: u32,
    deepest: u32,
    /// Whether the content of `noscript` is shown, and what of it was dropped.
    show_noscript: bool,
    dropped_noscript: DroppedNoscript,
    /// Inside a dropped `noscript`.
    in_noscript: bool,
    should_continue: &'a mut dyn FnMut() -> bool,
}

/// The text in `noscript` that was dropped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DroppedNoscript {
    /// Its bytes.
    pub(super) length: usize,
    /// Whether it names JavaScript: a request to turn them on does so in every language.
    pub(super) names_scripts: bool,
}

impl DroppedNoscript {
    fn add(&mut self, text: &str) {
        let text = text.trim_ascii();
        // What a longer text names does not matter.
        let is_short = self.length < LEAST_NAMING_SCRIPTS && text.len() < LEAST_NAMING_SCRIPTS;
        self.length += text.len();
        if is_short && !self.names_scripts {
            self.names_scripts = text.to_ascii_lowercase().contains("javascript");
        }
    }
}

/// The result of reading a page.
pub(super) struct Finished<F> {
    pub(super) metadata: Metadata,
    pub(super) microdata: MicrodataDates,
    pub(super) observer: F,
    pub(super) depth: u32,
    pub(super) dropped_noscript: DroppedNoscript,
}

/// Whether a start tag has no effect beyond its edge. A table lookup, because it is needed for
/// every tag.
#[inline]
fn is_ordinary(tag: Tag) -> bool {
    static ORDINARY: [bool; Tag::COUNT] = {
        let mut ordinary = [true; Tag::COUNT];
        let mut i = 0;
        while i < Tag::COUNT {
            let tag = Tag::ALL[i];
            ordinary[i] = !(is_dropped(tag)
                || !matches!(tag.content_model(), ContentModel::Data)
                || matches!(
                    tag,
                    Tag::A
                        | Tag::Area
                        | Tag::Base
                        | Tag::Blockquote
                        | Tag::Br
                        | Tag::Html
                        | Tag::Link
                        | Tag::Listing
                        | Tag::Math
                        | Tag::Meta
                        | Tag::Pre
                        | Tag::Q
                ));
            i += 1;
        }
        ordinary
    };
    ORDINARY[tag.index()]
}

/// Whether an element extends to its end tag, so that an unclosed one contains everything that
/// follows, including others with the same tag. Paragraphs, cells and headings do not: they end
/// where the next begins. A table lookup, as above.
#[inline]
fn nests(tag: Tag) -> bool {
    static NESTS: [bool; Tag::COUNT] = {
        let mut nests = [false; Tag::COUNT];
        let mut i = 0;
        while i < Tag::COUNT {
            nests[i] = matches!(
                Tag::ALL[i],
                Tag::Address
                    | Tag::Article
                    | Tag::Aside
                    | Tag::Blockquote
                    | Tag::Center
                    | Tag::Details
                    | Tag::Dialog
                    | Tag::Dir
                    | Tag::Div
                    | Tag::Dl
                    | Tag::Fieldset
                    | Tag::Figure
                    | Tag::Footer
                    | Tag::Header
                    | Tag::Main
                    | Tag::Menu
                    | Tag::Nav
                    | Tag::Ol
                    | Tag::Search
                    | Tag::Section
                    | Tag::Table
                    | Tag::Ul
            );
            i += 1;
        }
        nests
    };
    NESTS[tag.index()]
}

/// Whether one of four samples of `stated` is in `text`, so that the page shows it, or as much of
/// it as it shows to everyone.
fn is_shown(stated: &str, text: &str) -> bool {
    /// Long enough to be characteristic, short enough to lie within one paragraph.
    const SAMPLE: usize = 32;
    let finds = |quarter: usize| {
        let from = (stated.len() / 4 * quarter..).find(|&at| stated.is_char_boundary(at));
        let rest = from.and_then(|from| stated.get(from..)).unwrap_or_default();
        // Whitespace and references differ between the two, so the sample is a run of plain words.
        let sample = rest
            .split(|c: char| !(c.is_alphanumeric() || c == ' '))
            .find(|run| run.len() >= SAMPLE)
            .map(|run| scan::prefix(run, SAMPLE).trim());
        sample.is_some_and(|sample| {
            memchr::memmem::find(text.as_bytes(), sample.as_bytes()).is_some()
        })
    };
    (0..4).any(finds)
}

/// How the text of raw elements is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Raw {
    Dropped,
    Title,
    JsonLd,
    State(ScriptKind),
    Shown,
}

impl<'a, F: TextObserver> PageReader<'a, F> {
    pub(super) fn new(
        writer: Writer<'a, F>,
        links: &'a mut Links,
        html: &'a str,
        should_continue: &'a mut dyn FnMut() -> bool,
    ) -> Self {
        let has = |name: &str| memchr::memmem::find(html.as_bytes(), name.as_bytes()).is_some();
        PageReader {
            writer,
            links,
            metadata: Metadata::default(),
            dropped: DroppedSubtree::default(),
            states_date: (has("datePublished") && has("itemprop")) || has("pubdate"),
            microdata: Microdata::default(),
            raw: Raw::Dropped,
            preformatted: false,
            html,
            states: Vec::new(),
            link_end: usize::MAX,
            span_begin: usize::MAX,
            span_end: usize::MAX,
            span_joint: usize::MAX,
            in_math: 0,
            depth: 0,
            deepest: 0,
            show_noscript: false,
            dropped_noscript: DroppedNoscript::default(),
            in_noscript: false,
            should_continue,
        }
    }

    /// Sets whether the content of `noscript` is shown.
    pub(super) fn show_noscript(&mut self, show: bool) {
        self.show_noscript = show;
    }

    /// Returns the metadata, the observer and the depth of the page.
    pub(super) fn finish(self) -> Finished<F> {
        Finished {
            metadata: self.metadata,
            microdata: self.microdata.finish(),
            observer: self.writer.observer,
            depth: self.deepest,
            dropped_noscript: self.dropped_noscript,
        }
    }

    /// Writes the text that JSON-LD states, or else the scripts of the page, if no part of it is on
    /// the page.
    pub(super) fn append_stated_text(&mut self) {
        if self.dropped.is_active() {
            return;
        }
        // The address of the page is not asked, so that its text depends on nothing but its bytes.
        let Metadata {
            canonical,
            declared,
            described,
            ..
        } = &self.metadata;
        let addresses = [canonical, &declared.open_graph_address];
        let addresses: Vec<&str> = addresses.into_iter().filter_map(Option::as_deref).collect();
        // A page that shows less than a short text is a frame for it.
        let least = LEAST_BODY.min(self.writer.text().len());
        if let Some(body) = described.body(&addresses, least).map(str::to_owned) {
            if !is_shown(&body, self.writer.text()) {
                self.append(&body);
            }
            return;
        }
        let (html, states) = (self.html, std::mem::take(&mut self.states));
        let scripts = states.into_iter().filter_map(|place| html.get(place));
        if let Some(body) = embedded_text(scripts, self.writer.text().len())
            && !is_shown(&body, self.writer.text())
        {
            self.metadata.declared.describe(&body);
            self.append(&body);
        }
    }

    /// Writes a text that no element has.
    fn append(&mut self, text: &str) {
        self.preformatted = false;
        self.writer.edge(TagEdge::Paragraph);
        self.writer.observer.close_all();
        for line in text.lines() {
            // The text is markup on some pages; a stray tag in plain text does no harm.
            tokenize(line, self);
            self.writer.edge(TagEdge::Paragraph);
        }
    }

    fn anchor(&mut self, attributes: Attributes<'_>) {
        // Adjacent links are separate labels, as in a menu that is spaced by CSS, so their words
        // are separated.
        if self.writer.is_flushed() && self.link_end == self.writer.length() {
            self.writer.edge(TagEdge::Space);
        }
        match attributes.get("href") {
            Some(href) => {
                self.links.push(&href);
                self.writer
                    .observer
                    .link_begins(self.writer.length(), self.writer.position());
            }
            None => self.writer.observer.link_ends(self.writer.length()),
        }
    }
}

impl<F: TextObserver> PageReader<'_, F> {
    /// Remembers where a `span` ends, unless it has a single letter: a decorated initial is part of
    /// its word, and so are letters that a page moves one by one.
    #[inline]
    fn end_span(&mut self) {
        let text = self.writer.text().as_bytes();
        match text.get(self.span_begin..).unwrap_or_default() {
            [] => {}
            [only] if only.is_ascii_alphabetic() => {}
            _ => self.span_end = text.len(),
        }
    }

    /// Separates the words of two adjacent `span` elements. Pages show them apart by means of their
    /// style sheets: `<span>1972</span><span>2h 55m</span>`.
    fn separate_spans(&mut self, next: &str) {
        self.span_joint = usize::MAX;
        let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        if self.writer.is_flushed()
            && is_word(self.writer.text().as_bytes().last())
            && is_word(next.as_bytes().first())
        {
            self.writer.edge(TagEdge::Space);
        }
    }
}

impl<F: TextObserver> TokenSink for PageReader<'_, F> {
    #[inline]
    fn text(&mut self, text: TextToken<'_>) {
        match text.model {
            ContentModel::Data if self.dropped.is_active() => {
                if self.in_noscript {
                    self.dropped_noscript.add(text.raw);
                }
            }
            ContentModel::Data if self.preformatted => self.writer.preformatted(text.raw, true),
            ContentModel::Data => {
                if self.span_joint == self.writer.length() {
                    self.separate_spans(text.raw);
                }
                self.writer.flowing(text.raw);
            }
            // A CDATA section.
            ContentModel::PlainText if self.in_foreign_content() => {
                if !self.dropped.is_active() {
                    self.writer.preformatted(text.raw, false);
                }
            }
            model => match self.raw {
                Raw::Dropped => {}
                Raw::Shown => self
                    .writer
                    .preformatted(text.raw, model == ContentModel::RcData),
                Raw::Title => {
                    self.metadata.title = Some(text.decode().into_owned());
                }
                Raw::JsonLd => self.metadata.json_ld(text.raw),
                Raw::State(kind) if kind.is_state(text.raw) => {
                    // A token of the page is a slice of it. Of another text that is appended to
                    // the page, states are not read.
                    let begin = text.raw.as_ptr().addr();
                    let begin = begin.wrapping_sub(self.html.as_ptr().addr());
                    self.states
                        .push(begin..begin.saturating_add(text.raw.len()));
                }
                Raw::State(_) => {}
            },
        }
    }

    #[inline]
    fn wants_attributes(&mut self, tag: Tag) -> bool {
        if self.dropped.is_active() {
            return false;
        }
        match tag {
            Tag::A
            | Tag::Area
            | Tag::Base
            | Tag::Blockquote
            | Tag::Html
            | Tag::Iframe
            | Tag::Link
            | Tag::Meta
            | Tag::Q
            | Tag::Script
            | Tag::Template => true,
            _ => self.states_date || (F::ACTIVE && is_container(tag)),
        }
    }

    #[inline]
    fn start_tag(&mut self, start: StartTag<'_>) -> ContentModel {
        let StartTag {
            tag, attributes, ..
        } = start;
        if self.dropped.is_active() {
            match self.dropped.start_tag(&start) {
                StartTagEffect::EndsSubtree => {}
                StartTagEffect::Foreign => return ContentModel::Data,
                StartTagEffect::Html => {
                    self.raw = Raw::Dropped;
                    return tag.content_model();
                }
            }
        }
        self.writer.observer.start_tag(tag);
        let edge = tag.edge();
        if edge != TagEdge::None {
            self.writer.edge(edge);
            self.writer.observer.open(tag, attributes);
            if nests(tag) {
                self.depth += 1;
                self.deepest = self.deepest.max(self.depth);
            }
        }
        // A dropped element has no end tag here, so it can be no item.
        if self.states_date && !is_dropped(tag) {
            self.microdata.start_tag(tag, attributes, self.depth);
        }
        // Few tags need more than this. One test for all others is easier to predict than the jump
        // of the match below.
        if tag == Tag::A {
            self.anchor(attributes);
            return ContentModel::Data;
        }
        if tag == Tag::Span {
            if self.span_end == self.writer.length() {
                self.span_joint = self.span_end;
            }
            self.span_begin = self.writer.position();
            return ContentModel::Data;
        }
        if is_ordinary(tag) {
            return ContentModel::Data;
        }
        match tag {
            Tag::Area => {
                if let Some(href) = attributes.get("href") {
                    self.links.push(&href);
                }
            }
            Tag::Blockquote | Tag::Q => {
                if let Some(cite) = attributes.get("cite") {
                    self.links.push(&cite);
                }
            }
            Tag::Br => self.writer.line_break(),
            Tag::Pre | Tag::Listing => self.preformatted = true,
            Tag::Html | Tag::Base | Tag::Link | Tag::Meta => {
                self.metadata.start_tag(tag, attributes);
                self.states_date &= !self.metadata.has_reliable_date();
            }
            Tag::Script => {
                self.raw = match ScriptKind::of(&attributes) {
                    ScriptKind::JsonLd => Raw::JsonLd,
                    ScriptKind::Other => Raw::Dropped,
                    kind => Raw::State(kind),
                };
            }
            Tag::Title => {
                self.raw = if self.metadata.title.is_none() {
                    Raw::Title
                } else {
                    Raw::Dropped
                };
            }
            Tag::Textarea | Tag::Xmp | Tag::Plaintext => self.raw = Raw::Shown,
            Tag::Iframe => {
                if let Some(src) = attributes.get("src") {
                    self.links.push(&src);
                }
                self.raw = Raw::Dropped;
            }
            Tag::Style | Tag::Noembed | Tag::Noframes => self.raw = Raw::Dropped,
            Tag::Math if !start.self_closing => self.in_math += 1,
            Tag::Noscript if self.show_noscript => {}
            // Browsers show it without scripts.
            Tag::Template if attributes.get("shadowrootmode").is_some() => {}
            _ => {
                self.in_noscript = tag == Tag::Noscript;
                self.dropped.begin(&start);
            }
        }
        tag.content_model()
    }

    #[inline]
    fn end_tag(&mut self, end: EndTag<'_>) {
        let tag = end.tag;
        if self.dropped.is_active() && self.dropped.end_tag(tag) {
            return;
        }
        self.writer.observer.end_tag();
        let edge = tag.edge();
        if edge != TagEdge::None {
            self.writer.edge(edge);
            self.writer.observer.close(tag);
            if nests(tag) {
                self.depth = self.depth.saturating_sub(1);
            }
        }
        if self.states_date {
            self.microdata.end_tag(tag, self.depth);
        }
        match tag {
            Tag::A => {
                self.link_end = self.writer.length();
                self.writer.observer.link_ends(self.link_end);
            }
            Tag::Span => self.end_span(),
            Tag::Pre | Tag::Listing | Tag::Td | Tag::Th | Tag::Body => self.preformatted = false,
            // A browser reads `</br>` as `<br>`.
            Tag::Br => self.writer.line_break(),
            Tag::Math => self.in_math = self.in_math.saturating_sub(1),
            _ => {}
        }
    }

    fn should_continue(&mut self) -> bool {
        (self.should_continue)()
    }

    fn in_foreign_content(&self) -> bool {
        self.dropped.is_foreign() || self.in_math > 0
    }
}
