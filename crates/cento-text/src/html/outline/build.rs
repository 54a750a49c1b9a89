//! The stack of open elements, with the repairs that pages need most.

use super::{Block, Container, Follow, Outline, is_container};
use crate::html::tag::Tag;
use crate::html::token::Attributes;

/// Elements nested deeper than this are not told from the one at this depth: nobody writes them, but somebody sends them.
const DEPTH: usize = 512;

/// Makes an [`Outline`] in step with the text.
pub(crate) struct OutlineBuilder<'a> {
    outline: &'a mut Outline,
    /// Indices of the open containers; the page itself is always the first.
    stack: Vec<u32>,
    /// How many containers of each tag are on the stack, so that a stray end tag costs no search.
    open: [u16; Tag::COUNT],
    /// Start tags that were past the depth limit and have not been closed.
    overflow: u32,
    tags: u32,
    /// The value of `tags` when characters were last written.
    tags_at_text: u32,
    in_block: bool,
    link: bool,
    /// Where the link bytes not yet added to the block begin.
    link_from: usize,
}

/// Text positions fit because [`Extractor::extract`](crate::html::Extractor::extract) bounds the page.
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
            hint: 0..0,
        });
        OutlineBuilder {
            outline,
            stack: vec![0],
            open: [0; Tag::COUNT],
            overflow: 0,
            tags: 0,
            tags_at_text: 0,
            in_block: false,
            link: false,
            link_from: 0,
        }
    }

    /// The page has ended with a text of `length` bytes.
    pub(crate) fn finish(mut self, length: usize) {
        self.edge(length);
        while let Some(index) = self.stack.pop() {
            self.seal(index);
        }
        self.outline.tags = self.tags;
    }

    fn tag_at(&self, depth: usize) -> Tag {
        self.stack
            .get(depth)
            .and_then(|&index| self.outline.containers.get(index as usize))
            .map_or(Tag::Html, |container| container.tag)
    }

    /// Takes containers off the stack until `depth` are left, but never the page.
    fn pop_to(&mut self, depth: usize) {
        while self.stack.len() > depth.max(1) {
            let Some(index) = self.stack.pop() else { break };
            let tag = self.seal(index);
            if let Some(count) = self.open.get_mut(tag.index()) {
                *count = count.saturating_sub(1);
            }
        }
    }

    /// Writes down where a container's text ended.
    fn seal(&mut self, index: u32) -> Tag {
        let Outline {
            containers, blocks, ..
        } = &mut *self.outline;
        let Some(container) = containers.get_mut(index as usize) else {
            return Tag::Html;
        };
        container.blocks.end = narrow(blocks.len());
        let range = container.blocks.start as usize..container.blocks.end as usize;
        if let Some([first, .., last] | [first @ last]) = blocks.get(range) {
            container.begin = first.begin;
            container.end = last.end;
        }
        container.tag
    }

    /// The depth of the innermost open `wanted`, unless a `wall` stands before it.
    fn find(&self, wanted: impl Fn(Tag) -> bool, wall: impl Fn(Tag) -> bool) -> Option<usize> {
        for depth in (1..self.stack.len()).rev() {
            let tag = self.tag_at(depth);
            if wanted(tag) {
                return Some(depth);
            }
            if wall(tag) {
                return None;
            }
        }
        None
    }

    fn is_open(&self, tag: Tag) -> bool {
        self.open.get(tag.index()).is_some_and(|&count| count > 0)
    }

    /// Closes what a start tag closes without being told: an open `p` before a block, an `li` before the next `li` …
    fn imply_ends(&mut self, tag: Tag) {
        let found = match tag {
            Tag::Li => self
                .is_open(Tag::Li)
                .then(|| self.find(|open| open == Tag::Li, is_list_wall)),
            Tag::Dt | Tag::Dd => (self.is_open(Tag::Dt) || self.is_open(Tag::Dd))
                .then(|| self.find(|open| matches!(open, Tag::Dt | Tag::Dd), is_list_wall)),
            Tag::Td | Tag::Th => (self.is_open(Tag::Td) || self.is_open(Tag::Th))
                .then(|| self.find(is_cell, |open| matches!(open, Tag::Table | Tag::Tr))),
            Tag::Tr => self
                .is_open(Tag::Tr)
                .then(|| self.find(|open| open == Tag::Tr, is_table)),
            Tag::Tbody | Tag::Thead | Tag::Tfoot => {
                (self.is_open(Tag::Tbody) || self.is_open(Tag::Thead) || self.is_open(Tag::Tfoot))
                    .then(|| {
                        self.find(
                            |open| matches!(open, Tag::Tbody | Tag::Thead | Tag::Tfoot),
                            is_table,
                        )
                    })
            }
            Tag::Option | Tag::Optgroup => self
                .is_open(Tag::Option)
                .then(|| self.find(|open| open == Tag::Option, |open| open == Tag::Select)),
            _ => None,
        };
        if let Some(Some(depth)) = found {
            self.pop_to(depth);
        }
        let ends_paragraph = !matches!(
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
        );
        if ends_paragraph
            && self.is_open(Tag::P)
            && let Some(depth) = self.find(|open| open == Tag::P, is_cell_or_table)
        {
            self.pop_to(depth);
        }
        if is_heading(tag) && is_heading(self.tag_at(self.stack.len() - 1)) {
            self.pop_to(self.stack.len() - 1);
        }
    }
}

fn is_heading(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6
    )
}

fn is_cell(tag: Tag) -> bool {
    matches!(tag, Tag::Td | Tag::Th)
}

fn is_table(tag: Tag) -> bool {
    tag == Tag::Table
}

fn is_cell_or_table(tag: Tag) -> bool {
    is_cell(tag) || is_table(tag)
}

/// What a list item does not look beyond for the item before it: everything but the wrappers that people put around items.
fn is_list_wall(tag: Tag) -> bool {
    !matches!(tag, Tag::Div | Tag::P | Tag::Address)
}

impl Follow for OutlineBuilder<'_> {
    const ACTIVE: bool = true;

    #[inline]
    fn tag(&mut self) {
        self.tags = self.tags.saturating_add(1);
    }

    fn open(&mut self, tag: Tag, attributes: Attributes<'_>) {
        // Void block elements are edges, not containers; a second body is none.
        if !is_container(tag) || (tag == Tag::Body && self.is_open(Tag::Body)) {
            return;
        }
        self.imply_ends(tag);
        // A link that was never closed does not reach into another cell.
        self.link &= !is_cell(tag);
        if self.stack.len() >= DEPTH {
            self.overflow = self.overflow.saturating_add(1);
            return;
        }
        let begin = narrow(self.outline.hints.len());
        for name in ["class", "id", "role", "itemprop", "itemtype"] {
            if let Some(value) = attributes.get(name) {
                if narrow(self.outline.hints.len()) > begin {
                    self.outline.hints.push(' ');
                }
                self.outline.hints.push_str(&value);
            }
        }
        let index = narrow(self.outline.containers.len());
        let block = narrow(self.outline.blocks.len());
        let text = self.outline.blocks.last().map_or(0, |block| block.end);
        self.outline.containers.push(Container {
            parent: self.stack.last().copied().unwrap_or(0),
            tag,
            begin: text,
            end: text,
            blocks: block..block,
            hint: begin..narrow(self.outline.hints.len()),
        });
        self.stack.push(index);
        if let Some(count) = self.open.get_mut(tag.index()) {
            *count += 1;
        }
    }

    fn close(&mut self, tag: Tag) {
        if !is_container(tag) || !self.is_open(tag) {
            return;
        }
        if self.overflow > 0 {
            self.overflow -= 1;
            return;
        }
        self.link &= !is_cell(tag);
        // An end tag inside a table cell does not reach outside the table, but those of the table's own parts do.
        let own = matches!(
            tag,
            Tag::Td
                | Tag::Th
                | Tag::Tr
                | Tag::Tbody
                | Tag::Thead
                | Tag::Tfoot
                | Tag::Table
                | Tag::Body
        );
        let found = if own {
            self.find(
                |open| open == tag,
                |open| open == Tag::Table && tag != Tag::Body,
            )
        } else {
            self.find(|open| open == tag, is_cell_or_table)
        };
        if let Some(depth) = found {
            self.pop_to(depth);
        }
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
        let container = self.stack.last().copied().unwrap_or(0);
        self.outline.blocks.push(Block {
            begin: narrow(length),
            end: narrow(length),
            container,
            tag: self.tag_at(self.stack.len() - 1),
            link_bytes: 0,
            tags_before: self.tags,
            tags_inside: 0,
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
