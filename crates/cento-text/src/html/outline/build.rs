//! Builds the outline, with the most common repairs of malformed nesting.

use super::stack::OpenElements;
use super::{Container, Outline, TextBlock, TextObserver, is_container};
use crate::html::tag::Tag;
use crate::html::token::{Attributes, decode_value};

/// Builds an [`Outline`] along with the text.
pub(crate) struct OutlineBuilder<'a> {
    outline: &'a mut Outline,
    stack: OpenElements,
    /// Unclosed start tags beyond the depth limit.
    overflow: u32,
    tags: u32,
    controls: u32,
    images: u32,
    /// The value of `tags` when characters were last written.
    tags_at_text: u32,
    in_block: bool,
    link: bool,
    /// The start of the link bytes not yet added to the block.
    link_from: usize,
}

/// Positions fit because [`Extractor::extract`](crate::html::Extractor::extract) limits the length
/// of a page.
fn narrow(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

impl<'a> OutlineBuilder<'a> {
    pub(crate) fn new(outline: &'a mut Outline) -> Self {
        outline.clear();
        outline.containers.push(Container {
            parent: 0,
            tag: Tag::Html,
            begin: 0,
            end: 0,
            blocks: 0..0,
            hidden: false,
            hint: 0..0,
        });
        OutlineBuilder {
            outline,
            stack: OpenElements::new(),
            overflow: 0,
            tags: 0,
            controls: 0,
            images: 0,
            tags_at_text: 0,
            in_block: false,
            link: false,
            link_from: 0,
        }
    }

    /// Finishes the outline of a text of `length` bytes.
    pub(crate) fn finish(mut self, length: usize) {
        self.edge(length);
        self.pop_to(1);
        self.seal(0);
        self.outline.tags = self.tags;
    }

    /// Closes containers until `depth` are left.
    fn pop_to(&mut self, depth: usize) {
        while let Some(container) = self.stack.pop_above(depth) {
            self.seal(container);
        }
    }

    /// Records the end of a container's text.
    fn seal(&mut self, index: u32) {
        let Outline {
            containers, blocks, ..
        } = &mut *self.outline;
        let Some(container) = containers.get_mut(index as usize) else {
            return;
        };
        container.blocks.end = narrow(blocks.len());
        let range = container.blocks.start as usize..container.blocks.end as usize;
        if let Some([first, .., last] | [first @ last]) = blocks.get(range) {
            container.begin = first.begin;
            container.end = last.end;
        }
    }

    /// Closes the elements that a start tag implicitly closes: an open `p` before a block, an `li`
    /// before the next `li` …
    fn imply_ends(&mut self, tag: Tag) {
        let before = match tag {
            // An item closes its predecessor even if wrappers around its content are still open.
            Tag::Li => self.stack.find_through(&[Tag::Li], WRAPPERS),
            Tag::Dt | Tag::Dd => self.stack.find_through(&[Tag::Dt, Tag::Dd], WRAPPERS),
            Tag::Td | Tag::Th => self.stack.find(CELLS, &[Tag::Table, Tag::Tr]),
            Tag::Tr => self.stack.find(&[Tag::Tr], &[Tag::Table]),
            Tag::Tbody | Tag::Thead | Tag::Tfoot => self
                .stack
                .find(&[Tag::Tbody, Tag::Thead, Tag::Tfoot], &[Tag::Table]),
            Tag::Option | Tag::Optgroup => self.stack.find(&[Tag::Option], &[Tag::Select]),
            _ => None,
        };
        if let Some(depth) = before {
            self.pop_to(depth);
        }
        if ends_paragraph(tag)
            && let Some(depth) = self.stack.find(&[Tag::P], BARRIERS)
        {
            self.pop_to(depth);
        }
        if HEADINGS.contains(&tag)
            && let Some(depth) = self.stack.find_through(HEADINGS, &[])
        {
            self.pop_to(depth);
        }
    }
}

const HEADINGS: &[Tag] = &[Tag::H1, Tag::H2, Tag::H3, Tag::H4, Tag::H5, Tag::H6];
const CELLS: &[Tag] = &[Tag::Td, Tag::Th];
/// End tags inside a table do not close elements beyond these.
const BARRIERS: &[Tag] = &[Tag::Td, Tag::Th, Tag::Table];
const WRAPPERS: &[Tag] = &[Tag::Div, Tag::P, Tag::Address];

/// What the attributes of an element say about it.
#[derive(Default)]
struct Described<'a> {
    /// The first `class`, `id`, `role`, `itemprop` and `itemtype`, not decoded.
    names: [Option<&'a str>; 5],
    /// Whether it says that it is not shown.
    is_hidden: bool,
}

impl<'a> Described<'a> {
    /// Reads all attributes in one pass.
    fn of(attributes: Attributes<'a>) -> Self {
        let mut described = Described::default();
        for (name, value) in attributes.iter() {
            let is = |expected: &str| name.eq_ignore_ascii_case(expected);
            let place = match name.len() {
                2 if is("id") => 1,
                4 if is("role") => 2,
                5 if is("class") => 0,
                5 if is("style") => {
                    described.is_hidden |= hides(value);
                    continue;
                }
                // `hidden=until-found` is text that the user can search for.
                6 if is("hidden") => {
                    described.is_hidden |= !value.eq_ignore_ascii_case("until-found");
                    continue;
                }
                8 if is("itemprop") => 3,
                8 if is("itemtype") => 4,
                _ => continue,
            };
            described.names[place].get_or_insert(value);
        }
        described
    }
}

/// Whether a `style` contains `display:none` or `visibility:hidden`, with or without spaces.
fn hides(style: &str) -> bool {
    style.split(';').any(|declaration| {
        let Some((property, value)) = declaration.split_once(':') else {
            return false;
        };
        let value = value.split('!').next().unwrap_or_default().trim();
        let is = |name: &str, hidden: &str| {
            property.trim().eq_ignore_ascii_case(name) && value.eq_ignore_ascii_case(hidden)
        };
        is("display", "none") || is("visibility", "hidden")
    })
}

fn ends_paragraph(tag: Tag) -> bool {
    !matches!(
        tag,
        Tag::Td
            | Tag::Th
            | Tag::Tr
            | Tag::Tbody
            | Tag::Thead
            | Tag::Tfoot
            | Tag::Caption
            | Tag::Select
            | Tag::Option
            | Tag::Optgroup
            | Tag::Textarea
            | Tag::Legend
    )
}

impl TextObserver for OutlineBuilder<'_> {
    const ACTIVE: bool = true;

    #[inline]
    fn start_tag(&mut self, tag: Tag) {
        self.tags = self.tags.saturating_add(1);
        match tag {
            Tag::Img => self.images = self.images.saturating_add(1),
            Tag::Input | Tag::Select | Tag::Textarea | Tag::Button => {
                self.controls = self.controls.saturating_add(1);
            }
            _ => {}
        }
    }

    #[inline]
    fn end_tag(&mut self) {
        self.tags = self.tags.saturating_add(1);
    }

    fn open(&mut self, tag: Tag, attributes: Attributes<'_>) {
        // Void block elements are edges, not containers; a second body is ignored.
        if !is_container(tag) || (tag == Tag::Body && self.stack.is_open(Tag::Body)) {
            return;
        }
        self.imply_ends(tag);
        // An unclosed link does not extend into another cell.
        self.link &= !CELLS.contains(&tag);
        if self.stack.is_full() {
            self.overflow = self.overflow.saturating_add(1);
            return;
        }
        let begin = narrow(self.outline.hints.len());
        let described = Described::of(attributes);
        for value in described.names.into_iter().flatten() {
            if narrow(self.outline.hints.len()) > begin {
                self.outline.hints.push(' ');
            }
            self.outline.hints.push_str(&decode_value(value));
        }
        let index = narrow(self.outline.containers.len());
        let block = narrow(self.outline.blocks.len());
        let text = self.outline.blocks.last().map_or(0, |block| block.end);
        self.outline.containers.push(Container {
            parent: self.stack.top().0,
            tag,
            begin: text,
            end: text,
            blocks: block..block,
            hidden: described.is_hidden,
            hint: begin..narrow(self.outline.hints.len()),
        });
        self.stack.push(index, tag);
    }

    fn close(&mut self, tag: Tag) {
        // As in a browser, elements stay open after the end of the body: what follows it, on pages
        // that contain other pages, is where it would be without that end tag.
        if !is_container(tag) || tag == Tag::Body || !self.stack.is_open(tag) {
            return;
        }
        if self.overflow > 0 {
            self.overflow -= 1;
            return;
        }
        self.link &= !CELLS.contains(&tag);
        // An end tag inside a table cell does not close elements outside the table, but those of
        // the table's own parts do.
        let found = match tag {
            Tag::Td | Tag::Th | Tag::Tr | Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Table => {
                self.stack.find(&[tag], &[Tag::Table])
            }
            _ => self.stack.find(&[tag], BARRIERS),
        };
        if let Some(depth) = found {
            self.pop_to(depth);
        }
    }

    fn close_all(&mut self) {
        self.pop_to(1);
    }

    fn edge(&mut self, length: usize) {
        if !self.in_block {
            return;
        }
        self.in_block = false;
        let link_bytes = if self.link {
            length.saturating_sub(self.link_from)
        } else {
            0
        };
        if let Some(block) = self.outline.blocks.last_mut() {
            block.end = narrow(length);
            block.link_bytes += narrow(link_bytes);
            block.tags_inside = self.tags_at_text.saturating_sub(block.tags_before);
        }
    }

    fn begin(&mut self, length: usize) {
        if self.in_block {
            return;
        }
        self.in_block = true;
        self.link_from = length;
        let (container, tag) = self.stack.top();
        self.outline.blocks.push(TextBlock {
            begin: narrow(length),
            end: narrow(length),
            container,
            tag,
            link_bytes: 0,
            tags_before: self.tags,
            tags_inside: 0,
            controls_before: self.controls,
            images_before: self.images,
        });
    }

    #[inline]
    fn written(&mut self) {
        self.tags_at_text = self.tags;
    }

    fn link_begins(&mut self, length: usize, position: usize) {
        self.link_ends(length);
        self.link = true;
        self.link_from = position;
    }

    fn link_ends(&mut self, length: usize) {
        if self.link
            && self.in_block
            && let Some(block) = self.outline.blocks.last_mut()
        {
            block.link_bytes += narrow(length.saturating_sub(self.link_from));
        }
        self.link = false;
    }
}
