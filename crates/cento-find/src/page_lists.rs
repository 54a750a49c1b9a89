//! Lists of pages in one buffer, and the part of each list that follows a left page. Strips of
//! overlap and reuse store the pages of their chunks and fingerprints in it.

/// The pages after a left page in one list.
#[derive(Clone, Copy)]
pub(crate) struct ListTail<L> {
    pub(crate) left: L,
    begin: u32,
    end: u32,
}

/// Lists of pages. `L` identifies a left page.
pub(crate) struct PageLists<L> {
    pages: Vec<u32>,
    /// The end of each list.
    ends: Vec<u32>,
    tails: Vec<ListTail<L>>,
}

impl<L> Default for PageLists<L> {
    fn default() -> Self {
        PageLists {
            pages: Vec::new(),
            ends: Vec::new(),
            tails: Vec::new(),
        }
    }
}

impl<L> PageLists<L> {
    /// Adds a list. `left` returns the left page at a position, if there is one; its right pages
    /// follow it, but do not begin before position `first_right`.
    pub(crate) fn add(
        &mut self,
        pages: &[u32],
        first_right: usize,
        mut left: impl FnMut(u32) -> Option<L>,
    ) {
        let begin = self.pages.len() as u32;
        let end = begin + pages.len() as u32;
        let first_right = begin + first_right as u32;
        for (after, &page) in (begin + 1..end).zip(pages) {
            if first_right < end
                && let Some(left) = left(page)
            {
                self.tails.push(ListTail {
                    left,
                    begin: after.max(first_right),
                    end,
                });
            }
        }
        self.pages.extend_from_slice(pages);
        self.ends.push(end);
    }

    /// Calls `each` with every list, and removes them.
    pub(crate) fn drain<E>(
        &mut self,
        mut each: impl FnMut(&[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut begin = 0;
        for &end in &self.ends {
            each(self.pages.get(begin..end as usize).unwrap_or_default())?;
            begin = end as usize;
        }
        *self = PageLists::default();
        Ok(())
    }

    /// Returns the bytes of memory in use, including unused capacity.
    pub(crate) fn bytes(&self) -> u64 {
        4 * self.pages.capacity() as u64
            + 4 * self.ends.capacity() as u64
            + (size_of::<ListTail<L>>() * self.tails.capacity()) as u64
    }

    /// Whether offsets of 32 bits suffice for this many more pages.
    pub(crate) fn has_space(&self, pages: usize) -> bool {
        self.pages.len() + pages < u32::MAX as usize
    }

    /// Sorts the tails by left page.
    pub(crate) fn sort_by_left(&mut self, key: impl Fn(&L) -> u32) {
        self.tails
            .sort_unstable_by_key(|tail| (key(&tail.left), tail.begin));
    }

    /// The part of each list that follows a left page.
    pub(crate) fn tails(&self) -> &[ListTail<L>] {
        &self.tails
    }

    /// The pages of a tail.
    pub(crate) fn rights(&self, tail: &ListTail<L>) -> &[u32] {
        let range = tail.begin as usize..tail.end as usize;
        self.pages.get(range).unwrap_or_default()
    }

    /// Removes all lists and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.pages.clear();
        self.ends.clear();
        self.tails.clear();
    }
}
