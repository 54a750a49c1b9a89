//! The stack of open elements.

use crate::html::tag::Tag;

/// Elements nested deeper than this are not told from the one at this depth: nobody writes them,
/// but somebody sends them.
pub(super) const DEPTH: usize = 512;

/// The open containers, from the page itself, which is never taken off, to the innermost.
///
/// Each entry knows the one of the same tag below it, so that the innermost of any tag is found
/// without a search: a page that is all stray end tags is read as fast as any other.
pub(super) struct Stack {
    entries: Vec<Entry>,
    /// The depth of the innermost of each tag; 0, where the page is, stands for none.
    latest: [u16; Tag::COUNT],
}

struct Entry {
    container: u32,
    tag: Tag,
    below: u16,
}

impl Stack {
    pub(super) fn new() -> Self {
        let page = Entry {
            container: 0,
            tag: Tag::Html,
            below: 0,
        };
        Stack {
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

    /// Puts a container on top, if there is room.
    pub(super) fn push(&mut self, container: u32, tag: Tag) {
        if let (false, Ok(depth)) = (self.is_full(), u16::try_from(self.entries.len())) {
            let latest = &mut self.latest[tag.index()];
            self.entries.push(Entry {
                container,
                tag,
                below: *latest,
            });
            *latest = depth;
        }
    }

    /// Takes the innermost container off, if there are more than `depth`, and never the page.
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

    /// The depth of the innermost container of one of `wanted`, unless one of `walls` is open
    /// inside of it.
    pub(super) fn find(&self, wanted: &[Tag], walls: &[Tag]) -> Option<usize> {
        let depth = self.innermost(wanted);
        (depth > 0 && self.innermost(walls) <= depth).then_some(depth)
    }

    /// As [`find`](Stack::find), but with nothing between except `wrappers`.
    pub(super) fn find_through(&self, wanted: &[Tag], wrappers: &[Tag]) -> Option<usize> {
        let depth = self.innermost(wanted);
        let between = self.entries.get(depth + 1..)?;
        let is_near = between
            .iter()
            .rev()
            .all(|entry| wrappers.contains(&entry.tag));
        (depth > 0 && is_near).then_some(depth)
    }
}
