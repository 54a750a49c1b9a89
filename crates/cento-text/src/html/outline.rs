//! The outline of a page: its blocks of text, their elements, the tags between them, and the share
//! of links.
//!
//! Main-content selection is based on it. It is built along with the text if [`Options::outline`]
//! is set.
//!
//! [`Options::outline`]: super::Options::outline

use super::tag::{Tag, TagEdge};
use super::token::Attributes;
use std::ops::Range;

mod build;
mod stack;

pub(crate) use build::OutlineBuilder;

/// The blocks of a page's text and the tree of elements that contain them.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// The elements that have a [`TagEdge`] of [`TagEdge::Cell`] or stronger, in the order of their
    /// start tags: a parent comes before its children. The first is the page itself.
    pub containers: Vec<Container>,
    /// The blocks of text, in order, without overlap.
    pub blocks: Vec<TextBlock>,
    /// The number of tags on the page, without dropped subtrees: the last value of the document
    /// slope curve.
    pub tags: u32,
    hints: String,
}

/// An element that contains blocks.
#[derive(Clone, Debug)]
pub struct Container {
    /// Index of the container around this one; the page itself, at index 0, is its own parent.
    pub parent: u32,
    /// The tag; [`Tag::Html`] for the page.
    pub tag: Tag,
    /// The start of its text, in bytes; equal to `end` if it has no text.
    pub begin: u32,
    /// The end of its text.
    pub end: u32,
    /// The blocks inside it, at any depth: a range of indices into [`Outline::blocks`].
    pub blocks: Range<u32>,
    /// Whether the element itself says that it is not shown: `hidden`, or a `style` with
    /// `display:none` or `visibility:hidden`. Style sheets are not read. `aria-hidden` does not
    /// count: an open dialogue sets it on the rest of the page.
    pub hidden: bool,
    hint: Range<u32>,
}

/// A run of text between two edges of block elements, or between two blank lines made with `<br>`.
///
/// Only whitespace lies between blocks. A block inside `<pre>` may contain blank lines; no other
/// does.
#[derive(Clone, Debug)]
pub struct TextBlock {
    /// Its start in the text, in bytes.
    pub begin: u32,
    /// Its end.
    pub end: u32,
    /// Index of the innermost container around it.
    pub container: u32,
    /// That container's tag: `p`, `h1`, `li`, `td`, `div` …
    pub tag: Tag,
    /// The number of its bytes inside `<a href>`.
    pub link_bytes: u32,
    /// The number of tags before its first character: the value of the document slope curve.
    pub tags_before: u32,
    /// The number of tags between its first and last character.
    pub tags_inside: u32,
    /// The number of form controls (`input`, `select`, `textarea`, `button`) before it.
    pub controls_before: u32,
    /// The number of images before it.
    pub images_before: u32,
}

impl Outline {
    /// The values of `class`, `id`, `role`, `itemprop` and `itemtype` of a container, in this
    /// order, if present, separated by spaces; case is kept.
    #[must_use]
    pub fn hint(&self, container: &Container) -> &str {
        self.hints
            .get(container.hint.start as usize..container.hint.end as usize)
            .unwrap_or_default()
    }

    pub(crate) fn clear(&mut self) {
        self.containers.clear();
        self.blocks.clear();
        self.hints.clear();
        self.tags = 0;
    }
}

/// Observes how a text is built. `()` observes nothing, at no cost.
pub(crate) trait TextObserver {
    /// Whether the attributes of all block elements are needed.
    const ACTIVE: bool;

    /// A start tag outside dropped subtrees.
    fn start_tag(&mut self, tag: Tag);
    /// An end tag outside dropped subtrees.
    fn end_tag(&mut self);
    /// A start tag of a block element, after its edge.
    fn open(&mut self, tag: Tag, attributes: Attributes<'_>);
    /// An end tag of a block element, after its edge.
    fn close(&mut self, tag: Tag);
    /// The page has ended: what follows is in none of its elements.
    fn close_all(&mut self);
    /// The text, now `length` bytes long, has reached an edge: the current block ends.
    fn edge(&mut self, length: usize);
    /// The first character after an edge is written at `length`.
    fn begin(&mut self, length: usize);
    /// Characters were written.
    fn written(&mut self);
    /// A link begins: the text is `length` bytes long, and the link's first character will be
    /// written at `position`.
    fn link_begins(&mut self, length: usize, position: usize);
    /// A link ends.
    fn link_ends(&mut self, length: usize);
}

impl TextObserver for () {
    const ACTIVE: bool = false;

    #[inline]
    fn start_tag(&mut self, _: Tag) {}
    #[inline]
    fn end_tag(&mut self) {}
    #[inline]
    fn open(&mut self, _: Tag, _: Attributes<'_>) {}
    #[inline]
    fn close(&mut self, _: Tag) {}
    #[inline]
    fn close_all(&mut self) {}
    #[inline]
    fn edge(&mut self, _: usize) {}
    #[inline]
    fn begin(&mut self, _: usize) {}
    #[inline]
    fn written(&mut self) {}
    #[inline]
    fn link_begins(&mut self, _: usize, _: usize) {}
    #[inline]
    fn link_ends(&mut self, _: usize) {}
}

/// Whether `tag` is part of the tree of containers.
#[inline]
pub(crate) fn is_container(tag: Tag) -> bool {
    tag.edge() >= TagEdge::Cell && !tag.is_void()
}
