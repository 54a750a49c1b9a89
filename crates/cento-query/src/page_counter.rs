//! Counts how often pages occur.

/// Counts occurrences of pages: a list while there are few, then a number for every page. So memory
/// is at most 4 bytes per page of the corpus, and a query with few occurrences touches little.
pub(crate) struct PageCounter {
    pages: u32,
    listed: Vec<u32>,
    counts: Vec<u32>,
}

impl PageCounter {
    /// Creates a counter of pages below `pages`.
    pub(crate) fn new(pages: u32) -> PageCounter {
        PageCounter {
            pages,
            listed: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Counts an occurrence of a page. Pages that do not exist are not counted.
    #[inline]
    pub(crate) fn add(&mut self, page: u32) {
        if page >= self.pages {
            return;
        }
        match self.counts.get_mut(page as usize) {
            Some(count) => *count += 1,
            None => {
                self.listed.push(page);
                if self.listed.len() >= self.pages as usize {
                    self.count_all();
                }
            }
        }
    }

    fn count_all(&mut self) {
        self.counts.resize(self.pages as usize, 0);
        for page in std::mem::take(&mut self.listed) {
            if let Some(count) = self.counts.get_mut(page as usize) {
                *count += 1;
            }
        }
    }

    /// Calls `each` with every page that occurred and how often, in ascending order.
    pub(crate) fn finish<E>(
        mut self,
        mut each: impl FnMut(u32, u32) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.counts.is_empty() {
            self.listed.sort_unstable();
            for run in self.listed.chunk_by(|one, other| one == other) {
                if let Some(&page) = run.first() {
                    each(page, run.len() as u32)?;
                }
            }
            return Ok(());
        }
        for (page, &count) in (0..).zip(&self.counts) {
            if count > 0 {
                each(page, count)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn occurrences_are_counted_however_many_there_are(pages in proptest::collection::vec(0u32..12, 0..60)) {
            let mut counter = PageCounter::new(10);
            let mut expected = BTreeMap::new();
            for &page in &pages {
                counter.add(page);
                if page < 10 {
                    *expected.entry(page).or_insert(0u32) += 1;
                }
            }
            let mut found = Vec::new();
            counter.finish(|page, count| { found.push((page, count)); Ok::<(), ()>(()) }).unwrap();
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
