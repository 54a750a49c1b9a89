//! The index of seen pages: from keys to offsets in the file, in bounded memory.

/// The most pages with one key: a band that many templates share does not cost more than this.
const SAME_KEY: usize = 8;
/// The most slots that are searched for a key.
const LONGEST_SEARCH: usize = 1 << 10;
/// The smallest table.
const FIRST_SLOTS: usize = 1 << 12;
/// The share of a table that is used at most: seven tenths.
const FULL: (usize, usize) = (7, 10);

/// A slot of the table: 32 bits of the key, and the number of the page plus one; 0 if it is empty.
#[derive(Clone, Copy, Default)]
struct SeenSlot {
    tag: u32,
    page: u32,
}

/// A hash table with open addressing. Keys are truncated to 32 bits, so that a page that is found
/// may have another key: the caller compares the pages themselves.
pub(super) struct PageIndex {
    slots: Vec<SeenSlot>,
    used: usize,
    most_slots: usize,
    /// The offset of each page, from the first that is not forgotten on.
    offsets: Vec<u64>,
    forgotten: u64,
}

impl PageIndex {
    /// Creates an index that uses at most about `memory` bytes. While the table grows, the old and
    /// the new one exist together.
    pub(super) fn new(memory: usize) -> PageIndex {
        let largest = (memory / (2 * size_of::<SeenSlot>())).max(FIRST_SLOTS);
        PageIndex {
            slots: vec![SeenSlot::default(); FIRST_SLOTS],
            used: 0,
            // A power of two.
            most_slots: 1 << largest.ilog2(),
            offsets: Vec::new(),
            forgotten: 0,
        }
    }

    /// The number of pages that are remembered.
    pub(super) fn pages(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// The number of pages that have been forgotten.
    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// The offsets of the pages with a key, and perhaps of others.
    pub(super) fn find(&self, key: u64) -> impl Iterator<Item = u64> {
        let tag = tag(key);
        self.search(tag)
            .filter(move |(_, slot)| slot.tag == tag)
            .filter_map(|(_, slot)| self.offsets.get(slot.page as usize - 1).copied())
    }

    /// Adds a page with its keys.
    pub(super) fn insert(&mut self, offset: u64, keys: impl Iterator<Item = u64>) {
        // Page numbers have 32 bits; the budget of any machine ends before.
        if self.offsets.len() >= u32::MAX as usize - 1 {
            self.forget();
        }
        self.offsets.push(offset);
        for key in keys {
            if self.used >= self.slots.len() / FULL.1 * FULL.0 {
                match self.slots.len() < self.most_slots {
                    true => self.rebuild(2 * self.slots.len(), 0),
                    false => self.forget(),
                }
            }
            let page = self.offsets.len() as u32;
            self.put(SeenSlot {
                tag: tag(key),
                page,
            });
        }
    }

    /// Forgets the older half of the pages.
    fn forget(&mut self) {
        let half = self.offsets.len().div_ceil(2);
        self.rebuild(self.slots.len(), half as u32);
        self.offsets.drain(..half);
        self.forgotten += half as u64;
    }

    /// Moves to another table the slots of all pages but the first `without`.
    fn rebuild(&mut self, slots: usize, without: u32) {
        let old = std::mem::replace(&mut self.slots, vec![SeenSlot::default(); slots]);
        self.used = 0;
        for slot in old {
            if slot.page > without {
                self.put(SeenSlot {
                    page: slot.page - without,
                    ..slot
                });
            }
        }
    }

    fn put(&mut self, slot: SeenSlot) {
        let mut same = 0;
        let at = self.search_ends(slot.tag, |other| same += usize::from(other.tag == slot.tag));
        if same < SAME_KEY
            && let Some(free) = at.and_then(|at| self.slots.get_mut(at))
        {
            *free = slot;
            self.used += 1;
        }
    }

    /// Where the search for a tag begins.
    fn begin(&self, tag: u32) -> usize {
        let bits = self.slots.len().trailing_zeros();
        (u64::from(tag) << bits >> 32) as usize
    }

    /// The slots in which a tag may be.
    fn search(&self, tag: u32) -> impl Iterator<Item = (usize, SeenSlot)> {
        let (begin, mask) = (self.begin(tag), self.slots.len() - 1);
        (0..LONGEST_SEARCH)
            .map(move |step| (begin + step) & mask)
            .filter_map(|at| self.slots.get(at).map(|&slot| (at, slot)))
            .take_while(|(_, slot)| slot.page > 0)
    }

    /// Visits the slots in which a tag may be, and returns the free slot after them.
    fn search_ends(&self, tag: u32, mut visit: impl FnMut(SeenSlot)) -> Option<usize> {
        let mut steps = 0;
        for (_, slot) in self.search(tag) {
            visit(slot);
            steps += 1;
        }
        (steps < LONGEST_SEARCH).then(|| (self.begin(tag) + steps) & (self.slots.len() - 1))
    }
}

fn tag(key: u64) -> u32 {
    (key >> 32) as u32
}

#[cfg(test)]
mod tests {
    use cento_fingerprint::run_hash;

    use super::*;

    #[test]
    fn all_pages_are_found_until_the_memory_is_full_and_then_the_newer_half() {
        let mut index = PageIndex::new(1 << 20);
        let key = |page: u64, at: u64| run_hash(&[page, at]);
        for page in 0..20_000u64 {
            index.insert(page, (0..16).map(|at| key(page, at)));
            assert!(index.find(key(page, 3)).any(|found| found == page));
            assert_eq!(index.pages() + index.forgotten(), page + 1);
        }
        assert!(index.forgotten() > 0);
        assert!(index.slots.len() * size_of::<SeenSlot>() <= 1 << 19);
        for page in 0..20_000 {
            let found = (0..16).all(|at| index.find(key(page, at)).any(|found| found == page));
            assert_eq!(found, page >= index.forgotten(), "{page}");
        }
    }

    #[test]
    fn a_key_that_every_page_has_costs_little() {
        let mut index = PageIndex::new(1 << 20);
        for page in 0..100_000 {
            index.insert(page, [7 << 32].into_iter());
        }
        let found: Vec<u64> = index.find(7 << 32).collect();
        assert_eq!(found, (0..SAME_KEY as u64).collect::<Vec<_>>());
    }
}
