//! The evidence about a page and about each of its blocks, as rows of small whole numbers.
//!
//! A row is written by one function, which names each number: the names in explanations and in the
//! fit can therefore not differ from the numbers. Shares are in thousandths.

use super::measure::{BlockMeasure, Cue, heading_level, share, text_of};
use super::model::{BatchRow, EvidenceRow};
use super::names::{self, NameClass, SIGNS};
use super::view::{BlockSums, LEAST_SIBLINGS, PageView, SiblingGroup};
use crate::html::{Container, Extract, SchemaKind, Tag};

/// Receives the numbers of a row.
pub(super) trait FeatureSink {
    fn put(&mut self, group: &'static str, name: &str, value: i64);

    /// Like [`put`](FeatureSink::put), with a name that is made only if it is needed.
    fn put_named(&mut self, group: &'static str, name: impl FnOnce() -> String, value: i64);
}

/// A number, limited to 16 bits.
#[inline]
fn limited(value: i64) -> i16 {
    let value = value.clamp(i16::MIN.into(), i16::MAX.into());
    i16::try_from(value).unwrap_or_default()
}

impl FeatureSink for EvidenceRow {
    #[inline]
    fn put(&mut self, _: &'static str, _: &str, value: i64) {
        self.push(limited(value));
    }

    #[inline]
    fn put_named(&mut self, group: &'static str, _: impl FnOnce() -> String, value: i64) {
        self.put(group, "", value);
    }
}

impl FeatureSink for BatchRow<'_> {
    #[inline]
    fn put(&mut self, _: &'static str, _: &str, value: i64) {
        self.push(limited(value));
    }

    #[inline]
    fn put_named(&mut self, group: &'static str, _: impl FnOnce() -> String, value: i64) {
        self.put(group, "", value);
    }
}

/// Keeps the names.
impl FeatureSink for Vec<String> {
    fn put(&mut self, group: &'static str, name: &str, _: i64) {
        self.push(format!("{group} {name}").trim_start().to_owned());
    }

    fn put_named(&mut self, group: &'static str, name: impl FnOnce() -> String, value: i64) {
        self.put(group, &name(), value);
    }
}

/// The signs of a page's address, from `canonical` or `og:url`.
fn address_words(page: &Extract) -> (&str, [i64; 6]) {
    let address = page
        .canonical
        .as_deref()
        .or(page.declared.open_graph_address.as_deref())
        .unwrap_or_default();
    let after_scheme = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = after_scheme
        .find('/')
        .map_or("", |at| after_scheme.get(at..).unwrap_or_default());
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut found = [0; 6];
    // Subdomains such as docs. and forum. count as well.
    let host = after_scheme.split('/').next().unwrap_or_default();
    for word in host
        .split('.')
        .rev()
        .skip(2)
        .chain(path.split(['/', '-', '_', '.']))
    {
        let place = match word.to_ascii_lowercase().as_str() {
            "product" | "products" | "item" | "itm" | "dp" | "shop" | "buy" | "p" => 0,
            "forum" | "forums" | "thread" | "threads" | "topic" | "t" | "questions"
            | "question" | "comments" | "discussion" | "discussions" | "community"
            | "showthread" | "viewtopic" | "discuss" | "issues" => 1,
            "docs" | "doc" | "documentation" | "guide" | "guides" | "reference" | "manual"
            | "api" | "wiki" | "help" | "learn" | "tutorial" | "tutorials" | "developer"
            | "developers" => 2,
            "blog" | "news" | "article" | "articles" | "story" | "posts" | "post" | "opinion" => 3,
            "category" | "categories" | "collections" | "collection" | "c" | "tag" | "tags"
            | "search" | "list" | "browse" | "archive" | "topics" | "best" | "top" => 4,
            "services" | "service" | "solutions" | "about" | "pricing" | "features" | "company"
            | "consulting" | "platform" => 5,
            _ => continue,
        };
        if let Some(found) = found.get_mut(place) {
            *found += 1;
        }
    }
    (path, found)
}

/// Writes the evidence about the kind of a page.
pub(super) fn page_row(view: &PageView<'_>, sink: &mut impl FeatureSink) {
    let page = view.page;
    let total = view.total();
    sink.put("page", "blocks", total.blocks.into());
    sink.put("page", "bytes", i64::from(total.bytes) / 16);
    sink.put("page", "links", share(total.link_bytes, total.bytes));
    sink.put("page", "prose", share(total.prose, total.bytes));
    sink.put("page", "prose bytes", i64::from(total.prose) / 4);
    sink.put(
        "page",
        "words a block",
        share(total.words, total.blocks) / 10,
    );
    sink.put(
        "page",
        "sentences a block",
        share(total.sentences, total.blocks),
    );
    sink.put("page", "headings", total.headings.into());
    sink.put("page", "controls", total.controls.into());
    sink.put("page", "images", total.images.into());
    sink.put("page", "article share", share(total.kept, total.bytes));
    sink.put("page", "article bytes", i64::from(total.kept) / 4);
    sink.put("page", "prices", total.prices.into());
    sink.put("page", "described", total.described.into());
    let mut by_tag = [0_u32; 6];
    let mut cues = [0_u32; Cue::LABELS.len()];
    let mut headlines = 0;
    for (block, measure) in page.outline.blocks.iter().zip(&view.measures) {
        let place = match block.tag {
            Tag::P => 0,
            Tag::Li => 1,
            Tag::Td | Tag::Th | Tag::Dd | Tag::Dt => 2,
            Tag::Pre => 3,
            Tag::Div | Tag::Section | Tag::Article => 4,
            _ => 5,
        };
        by_tag[place] += measure.bytes;
        headlines += i64::from(block.tag == Tag::H1);
        for (place, count) in cues.iter_mut().enumerate() {
            *count += u32::from(measure.cues >> place & 1);
        }
    }
    for (bytes, name) in by_tag
        .into_iter()
        .zip(["p", "li", "td", "pre", "div", "other"])
    {
        sink.put("page in", name, share(bytes, total.bytes));
    }
    sink.put("page", "headlines", headlines);
    for (count, name) in cues.into_iter().zip(Cue::LABELS) {
        sink.put("page cue", name, share(count, total.blocks));
    }
    groups_row(view, sink);
    let mut counts = [0_i64; SIGNS];
    let schema = view.declared_schema();
    for container in 0..page.outline.containers.len() {
        let mut rest = view.signs(container);
        while rest != 0 {
            if let Some(count) = counts.get_mut(rest.trailing_zeros() as usize) {
                *count += 1;
            }
            rest &= rest - 1;
        }
    }
    for (sign, count) in counts.into_iter().enumerate() {
        sink.put_named("page count", || names::label(sign), count);
    }
    for &kind in SchemaKind::ALL {
        sink.put_named(
            "page schema",
            || format!("{kind:?}"),
            schema.count(kind).into(),
        );
    }
    let open_graph = page.declared.open_graph_type.as_deref().unwrap_or_default();
    for name in ["article", "product", "website"] {
        sink.put(
            "page og:type",
            name,
            i64::from(open_graph.starts_with(name)),
        );
    }
    sink.put("page", "dated", i64::from(page.published.is_some()));
    let (path, words) = address_words(page);
    for (count, name) in words
        .into_iter()
        .zip(["product", "forum", "manual", "article", "list", "service"])
    {
        sink.put("page address", name, count);
    }
    let mut segments = path.split('/').filter(|segment| !segment.is_empty());
    sink.put(
        "page address",
        "segments",
        i64::try_from(segments.clone().count()).unwrap_or(0),
    );
    let last = segments.next_back().unwrap_or_default();
    sink.put(
        "page address",
        "hyphens",
        i64::try_from(last.matches('-').count()).unwrap_or(0),
    );
    sink.put(
        "page address",
        "digits",
        i64::try_from(path.bytes().filter(u8::is_ascii_digit).count()).unwrap_or(0),
    );
}

/// Writes the evidence from the two largest groups of similar siblings.
fn groups_row(view: &PageView<'_>, sink: &mut impl FeatureSink) {
    let total = view.total();
    let repeated = || {
        view.groups
            .iter()
            .filter(|group| group.count >= LEAST_SIBLINGS)
    };
    // Texts of more than a few words; among equals, the first.
    let most_text = repeated()
        .filter(|group| group.bytes / group.count.max(1) >= 40)
        .max_by_key(|group| (group.bytes, std::cmp::Reverse(group.first)))
        .copied()
        .unwrap_or_default();
    let with_images = repeated()
        .filter(|group| group.images >= group.count && group.bytes / group.count.max(1) >= 15)
        .max_by_key(|group| (group.bytes, std::cmp::Reverse(group.first)))
        .copied()
        .unwrap_or_default();
    for (group, name) in [(most_text, "page siblings"), (with_images, "page cards")] {
        put_all(sink, name, GROUP_NAMES, group_numbers(&group, total));
    }
}

/// The names of [`group_numbers`].
const GROUP_NAMES: [&str; 5] = ["count", "share", "bytes each", "links", "prose"];

/// The numbers about a group of similar siblings.
fn group_numbers(group: &SiblingGroup, total: BlockSums) -> [i16; 5] {
    [
        group.count.into(),
        share(group.bytes, total.bytes),
        i64::from(group.bytes / group.count.max(1)),
        share(group.link_bytes, group.bytes),
        share(group.prose, group.bytes),
    ]
    .map(limited)
}

/// The names of [`element_numbers`].
const ELEMENT_NAMES: [&str; 8] = [
    "share",
    "links",
    "prose",
    "blocks",
    "bytes a block",
    "article",
    "described",
    "controls",
];

/// The numbers about an element, given the sums over it.
fn element_numbers(inside: BlockSums, total: BlockSums) -> [i16; 8] {
    [
        share(inside.bytes, total.bytes),
        share(inside.link_bytes, inside.bytes),
        share(inside.prose, inside.bytes),
        inside.blocks.into(),
        i64::from(inside.bytes / inside.blocks.max(1)),
        share(inside.kept, inside.bytes),
        share(inside.described, total.described),
        inside.controls.into(),
    ]
    .map(limited)
}

/// Writes numbers that were computed before.
#[inline]
fn put_all<const N: usize>(
    sink: &mut impl FeatureSink,
    group: &'static str,
    names: [&str; N],
    numbers: [i16; N],
) {
    for (name, number) in names.into_iter().zip(numbers) {
        sink.put(group, name, number.into());
    }
}

/// An open element on the path to a block.
#[derive(Clone, Copy)]
struct PathElement {
    container: u32,
    end: u32,
    /// See [`element_numbers`].
    numbers: [i16; 8],
    /// For each sign, the share of the page inside the innermost element that has it.
    signs: [u16; SIGNS],
    /// The share of the page inside the outermost element that is not shown.
    hidden: u16,
    /// Levels up to an element with half of what the article method keeps.
    to_article: u16,
    /// The innermost group, and the one with most text, see [`group_numbers`].
    inner: [i16; 5],
    outer: [i16; 5],
    /// The text of the latter.
    outer_bytes: u32,
}

/// The share for a sign that no element on the path has.
pub(super) const NO_SIGN: u16 = 2000;

/// Walks over the blocks of a page in order and writes the evidence about each.
pub(super) struct BlockWalk<'v, 'a> {
    view: &'v PageView<'a>,
    path: Vec<PathElement>,
    climb: Vec<u32>,
    headline: Option<usize>,
    last_heading: Option<usize>,
    next_heading: usize,
    first_kept: usize,
    last_kept: usize,
    title: &'a str,
    total: BlockSums,
    /// The numbers of the whole page as an element.
    page_numbers: [i16; 8],
}

impl<'v, 'a> BlockWalk<'v, 'a> {
    pub(super) fn new(view: &'v PageView<'a>) -> Self {
        let blocks = &view.page.outline.blocks;
        let total = view.total();
        BlockWalk {
            view,
            path: Vec::new(),
            climb: Vec::new(),
            headline: blocks.iter().position(|block| block.tag == Tag::H1),
            last_heading: None,
            next_heading: 0,
            first_kept: view
                .kept
                .iter()
                .position(|&kept| kept)
                .unwrap_or(blocks.len()),
            last_kept: view.kept.iter().rposition(|&kept| kept).unwrap_or(0),
            title: view.page.title.as_deref().unwrap_or_default(),
            total,
            page_numbers: element_numbers(total, total),
        }
    }

    /// Makes the path that of `block`. Each element is entered once, because containers are in
    /// document order and the depth of the outline is limited.
    fn enter(&mut self, block: usize, container: u32) {
        let at = u32::try_from(block).unwrap_or(u32::MAX);
        while self.path.len() > 1 && self.path.last().is_some_and(|top| top.end <= at) {
            self.path.pop();
        }
        let containers = &self.view.page.outline.containers;
        self.climb.clear();
        // All that is still open contains the block, so its ancestors lead to the top.
        let top = self.path.last().map(|top| top.container);
        let mut climber = container;
        while Some(climber) != top {
            self.climb.push(climber);
            match containers.get(climber as usize) {
                Some(inner) if inner.parent < climber => climber = inner.parent,
                _ => break,
            }
        }
        while let Some(index) = self.climb.pop() {
            if let Some(container) = containers.get(index as usize) {
                self.push(index, container);
            }
        }
    }

    fn push(&mut self, index: u32, container: &Container) {
        let view = self.view;
        let inside = view.inside(container);
        let part = share(inside.bytes, self.total.bytes);
        let around = self.path.last().copied();
        let mut element = around.unwrap_or(PathElement {
            container: index,
            end: container.blocks.end,
            numbers: [0; 8],
            signs: [NO_SIGN; SIGNS],
            hidden: NO_SIGN,
            to_article: 0,
            inner: [0; 5],
            outer: [0; 5],
            outer_bytes: 0,
        });
        element.container = index;
        element.end = container.blocks.end;
        element.numbers = element_numbers(inside, self.total);
        if container.hidden && element.hidden == NO_SIGN {
            element.hidden = u16::try_from(part).unwrap_or(NO_SIGN);
        }
        element.to_article = if 2 * inside.kept >= self.total.kept {
            0
        } else {
            element.to_article.saturating_add(1)
        };
        let mut rest = view.signs(index as usize);
        while rest != 0 {
            if let Some(sign) = element.signs.get_mut(rest.trailing_zeros() as usize) {
                *sign = u16::try_from(part).unwrap_or(NO_SIGN);
            }
            rest &= rest - 1;
        }
        if let Some(group) = view.repetition(index as usize) {
            element.inner = group_numbers(&group, self.total);
            if group.bytes >= element.outer_bytes {
                element.outer = element.inner;
                element.outer_bytes = group.bytes;
            }
        }
        self.path.push(element);
    }

    /// The share of the page inside the innermost element with a sign around the current block;
    /// `None` if no element around it has the sign.
    pub(super) fn sign_share(&self, class: NameClass) -> Option<u16> {
        let part = *self.path.last()?.signs.get(class as usize)?;
        (part < NO_SIGN).then_some(part)
    }

    /// The share of the page inside the outermost element around the current block that is not
    /// shown; `None` if all are shown.
    pub(super) fn hidden_share(&self) -> Option<u16> {
        let part = self.path.last()?.hidden;
        (part < NO_SIGN).then_some(part)
    }

    /// Writes the row of a block. Blocks must be visited in order.
    ///
    /// It is inlined with all that it calls, so that each number has a known place in the row.
    #[inline(always)]
    pub(super) fn block_row(&mut self, index: usize, sink: &mut impl FeatureSink) {
        let view = self.view;
        let (Some(block), Some(&measure)) = (
            view.page.outline.blocks.get(index),
            view.measures.get(index),
        ) else {
            return;
        };
        self.enter(index, block.container);
        let level = heading_level(block.tag);
        if level > 0 {
            self.last_heading = Some(index);
        }
        self.text_row(index, measure, sink);
        self.position_row(index, sink);
        self.neighbour_row(index, sink);
        self.path_row(sink);
        sink.put(
            "article",
            "keeps it",
            i64::from(view.kept.get(index) == Some(&true)),
        );
    }

    /// Whether a text of at least eight bytes begins like a part of the title.
    fn may_be_in_title(&self, text: &str) -> bool {
        let begin = text.as_bytes().first_chunk::<8>();
        let mut parts = self.title.as_bytes().windows(8);
        begin.is_some_and(|begin| parts.any(|part| part == begin))
    }

    #[inline(always)]
    fn text_row(&self, index: usize, measure: BlockMeasure, sink: &mut impl FeatureSink) {
        let view = self.view;
        let Some(block) = view.page.outline.blocks.get(index) else {
            return;
        };
        sink.put("", "bytes", measure.bytes.into());
        sink.put("", "links", measure.links.into());
        sink.put("", "bytes a word", share(measure.bytes, measure.words) / 10);
        sink.put("", "sentences", measure.sentences.into());
        sink.put("", "commas", measure.commas.into());
        sink.put("", "digits", share(measure.digits, measure.bytes));
        sink.put("", "capitals", share(measure.capitals, measure.bytes));
        sink.put("", "prices", measure.prices.into());
        sink.put("", "ends a sentence", i64::from(measure.ends_sentence));
        sink.put("", "tags inside", block.tags_inside.into());
        let described = view.between(index, index + 1).described;
        sink.put("described", "phrases", described.into());
        sink.put(
            "described",
            "share",
            share(described, measure.words.saturating_sub(2)),
        );
        for (place, name) in Cue::LABELS.iter().enumerate() {
            sink.put("says", name, i64::from(measure.cues >> place & 1));
        }
        let (copies, copy) = view.copies.get(index).copied().unwrap_or((1, 0));
        sink.put("", "copies", copies.into());
        sink.put("", "earlier copies", copy.into());
        sink.put("", "heading level", heading_level(block.tag).into());
        for (tag, name) in [
            (Tag::P, "<p>"),
            (Tag::Li, "<li>"),
            (Tag::Pre, "<pre>"),
            (Tag::Div, "<div>"),
        ] {
            sink.put("is", name, i64::from(block.tag == tag));
        }
        sink.put(
            "is",
            "a table cell",
            i64::from(matches!(block.tag, Tag::Td | Tag::Th | Tag::Dd | Tag::Dt)),
        );
        sink.put(
            "is",
            "a form control",
            i64::from(matches!(
                block.tag,
                Tag::Option | Tag::Select | Tag::Textarea
            )),
        );
        let text = text_of(view.page, block);
        let in_title = text.len() <= 300 && self.may_be_in_title(text) && self.title.contains(text);
        sink.put("", "in the title", i64::from(in_title));
    }

    #[inline(always)]
    fn position_row(&mut self, index: usize, sink: &mut impl FeatureSink) {
        let view = self.view;
        let place = |index: usize| i64::try_from(index).unwrap_or(i64::MAX);
        let before = view.before(index);
        sink.put(
            "position",
            "in blocks",
            share(before.blocks, self.total.blocks),
        );
        sink.put(
            "position",
            "in bytes",
            share(before.bytes, self.total.bytes),
        );
        sink.put(
            "position",
            "from the end",
            i64::from(self.total.blocks - before.blocks.min(self.total.blocks)),
        );
        sink.put("position", "from the start", place(index));
        let after_headline = self
            .headline
            .map_or(-2000, |headline| place(index) - place(headline));
        sink.put("position", "after the headline", after_headline);
        let headline_bytes = self.headline.map_or(-2000, |headline| {
            if index >= headline {
                i64::from(view.between(headline, index).bytes) / 4
            } else {
                -1
            }
        });
        sink.put("position", "bytes after the headline", headline_bytes);
        let heading = self.last_heading;
        sink.put(
            "position",
            "after a heading",
            heading.map_or(500, |heading| place(index - heading).min(500)),
        );
        let level = heading
            .and_then(|heading| view.page.outline.blocks.get(heading))
            .map_or(0, |block| heading_level(block.tag));
        sink.put("position", "level of the heading", level.into());
        if self.next_heading <= index {
            self.next_heading = (index + 1..view.measures.len())
                .find(|&next| {
                    view.page
                        .outline
                        .blocks
                        .get(next)
                        .is_some_and(|block| heading_level(block.tag) > 0)
                })
                .unwrap_or(view.measures.len());
        }
        let section = view.between(heading.unwrap_or(0), self.next_heading);
        sink.put("section", "bytes", section.bytes.into());
        sink.put("section", "links", share(section.link_bytes, section.bytes));
        sink.put("section", "prose", share(section.prose, section.bytes));
        sink.put("section", "blocks", section.blocks.into());
        sink.put(
            "article",
            "within",
            i64::from((self.first_kept..=self.last_kept).contains(&index)),
        );
        sink.put(
            "article",
            "before",
            place(self.first_kept.saturating_sub(index)),
        );
        sink.put(
            "article",
            "after",
            place(index.saturating_sub(self.last_kept)),
        );
    }

    #[inline(always)]
    fn neighbour_row(&self, index: usize, sink: &mut impl FeatureSink) {
        let view = self.view;
        for (offset, name) in [(1_usize, "previous"), (2, "second previous")] {
            let neighbour = index.checked_sub(offset);
            self.neighbour(neighbour, name, sink);
        }
        for (offset, name) in [(1_usize, "next"), (2, "second next")] {
            self.neighbour(Some(index + offset), name, sink);
        }
        for (reach, name) in [(3_usize, "within 3"), (10, "within 10")] {
            let near = view.between(index.saturating_sub(reach), index + reach + 1);
            sink.put(name, "bytes", near.bytes.into());
            sink.put(name, "links", share(near.link_bytes, near.bytes));
            sink.put(name, "prose", share(near.prose, near.bytes));
            sink.put(name, "sentences", near.sentences.into());
            sink.put(name, "article", share(near.kept, near.bytes));
            sink.put(name, "described", near.described.into());
        }
    }

    #[inline(always)]
    fn neighbour(&self, index: Option<usize>, name: &'static str, sink: &mut impl FeatureSink) {
        let outline = &self.view.page.outline;
        let measure = index
            .and_then(|index| self.view.measures.get(index))
            .copied()
            .unwrap_or_default();
        let level = index
            .and_then(|index| outline.blocks.get(index))
            .map_or(0, |block| heading_level(block.tag));
        sink.put(name, "bytes", measure.bytes.into());
        sink.put(name, "links", measure.links.into());
        sink.put(name, "heading level", level.into());
    }

    #[inline(always)]
    fn path_row(&self, sink: &mut impl FeatureSink) {
        let Some(top) = self.path.last() else {
            return;
        };
        sink.put("path", "depth", i64::try_from(self.path.len()).unwrap_or(0));
        sink.put("path", "hidden", top.hidden.into());
        sink.put("path", "levels to the article", top.to_article.into());
        for (sign, &part) in top.signs.iter().enumerate() {
            sink.put_named("in", || names::label(sign), part.into());
        }
        for (up, name) in [
            (1_usize, "around"),
            (2, "around 2"),
            (3, "around 3"),
            (5, "around 5"),
        ] {
            let place = self.path.len().checked_sub(up);
            let numbers = place
                .and_then(|place| self.path.get(place))
                .map_or(self.page_numbers, |element| element.numbers);
            put_all(sink, name, ELEMENT_NAMES, numbers);
        }
        put_all(sink, "siblings", GROUP_NAMES, top.inner);
        put_all(sink, "largest siblings", GROUP_NAMES, top.outer);
    }
}
