//! The stack of open elements.

use crate::html::tag::Tag;

/// Elements nested deeper than this are merged with the one at this depth. Only hostile pages nest
/// so deeply.
pub(super) const DEPTH: usize = 512;

/// The open containers, from the page itself, which is never removed, to the innermost.
///
/// Each entry links to the one of the same tag below it, so that the innermost of any tag is found
/// without a search. A page of stray end tags is processed as fast as any other.
pub(super) struct OpenElements {
    entries: Vec<OpenElement>,
    /// The depth of the innermost element of each tag; 0, the position of the page, means none.
    latest: [u16; Tag::COUNT],
}

struct OpenElement {
    container: u32,
    tag: Tag,
    below: u16,
}

impl OpenElements {
    pub(super) fn new() -> Self {
        let page = OpenElement {
            container: 0,
            tag: Tag::Html,
            below: 0,
        };
        OpenElements {
            entries: vec![page],
            latest: [0; Tag::COUNT],
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= DEPTH
    }

    /// The innermost container and its tag.
    pub(super) fn top(&self) -> (u32, Tag) {
        self.entries
            .last()
            .map_or((0, Tag::Html), |entry| (entry.container, entry.tag))
    }

    /// Pushes a container, unless the stack is full.
    pub(super) fn push(&mut self, container: u32, tag: Tag) {
        if let (false, Ok(depth)) = (self.is_full(), u16::try_from(self.entries.len())) {
            let latest = &mut self.latest[tag.index()];
            self.entries.push(OpenElement {
                container,
                tag,
                below: *latest,
            });
            *latest = depth;
        }
    }

    /// Pops the innermost container if there are more than `depth`; never the page.
    pub(super) fn pop_above(&mut self, depth: usize) -> Option<u32> {
        if self.entries.len() <= depth.max(1) {
            return None;
        }
        let entry = self.entries.pop()?;
        self.latest[entry.tag.index()] = entry.below;
        Some(entry.container)
    }

    /// The depth of the innermost container of one of `tags`, or 0.
    fn innermost(&self, tags: &[Tag]) -> usize {
        let latest = tags.iter().map(|tag| self.latest[tag.index()]).max();
        usize::from(latest.unwrap_or(0))
    }

    pub(super) fn is_open(&self, tag: Tag) -> bool {
        self.latest[tag.index()] > 0
    }

    /// The depth of the innermost container of one of `tags`, unless one of `barriers` is open
    /// inside of it.
    pub(super) fn find(&self, tags: &[Tag], barriers: &[Tag]) -> Option<usize> {
        let depth = self.innermost(tags);
        (depth > 0 && self.innermost(barriers) <= depth).then_some(depth)
    }

    /// Like [`find`](OpenElements::find), but only `wrappers` may be open inside of it.
    pub(super) fn find_through(&self, tags: &[Tag], wrappers: &[Tag]) -> Option<usize> {
        let depth = self.innermost(tags);
        let between = self.entries.get(depth + 1..)?;
        let is_near = between
            .iter()
            .rev()
            .all(|entry| wrappers.contains(&entry.tag));
        (depth > 0 && is_near).then_some(depth)
    }
}
