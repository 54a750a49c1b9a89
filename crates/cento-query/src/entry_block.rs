//! Blocks of pages: ids, URLs, and the size and identity of their sets of fingerprints.
//!
//! ```text
//!   checksum │ set hash (16), fingerprints (4), representative (4) of each page │ ids │ URLs
//! ```
//!
//! A block has up to 64 pages. Ids are differences of variable length; a URL is the number of bytes
//! that it shares with the URL before it, and the rest.

use crate::bits::{push_varint, take, take_varint};
use crate::block::{Malformed, checksum};

/// The most pages of a block.
pub(crate) const ENTRY_BLOCK: usize = 64;
/// The bytes of the fixed part of a page.
const ENTRY: usize = 24;

/// What the index knows of the fingerprints of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageEntry {
    /// The hash of its set of fingerprints; 0 if it has none.
    pub(crate) set: u128,
    /// The number of its distinct fingerprints.
    pub(crate) fingerprints: u32,
    /// The first page of the corpus with the same set: the page itself, unless it is a copy.
    pub(crate) representative: u32,
}

/// Collects the pages of a block.
#[derive(Default)]
pub(crate) struct EntryBlockBuilder {
    entries: Vec<u8>,
    ids: Vec<u8>,
    urls: Vec<u8>,
    pages: usize,
    last_id: u64,
    last_url: String,
}

impl EntryBlockBuilder {
    /// Adds a page. Ids must ascend.
    pub(crate) fn push(&mut self, entry: PageEntry, id: u64, url: &str) {
        self.entries.extend(entry.set.to_le_bytes());
        self.entries.extend(entry.fingerprints.to_le_bytes());
        self.entries.extend(entry.representative.to_le_bytes());
        push_varint(id.wrapping_sub(self.last_id), &mut self.ids);
        let bytes = url.bytes().zip(self.last_url.bytes());
        let shared = bytes.take_while(|(one, other)| one == other).count();
        let rest = url.as_bytes().get(shared..).unwrap_or_default();
        push_varint(shared as u64, &mut self.urls);
        push_varint(rest.len() as u64, &mut self.urls);
        self.urls.extend(rest);
        self.last_id = id;
        url.clone_into(&mut self.last_url);
        self.pages += 1;
    }

    pub(crate) fn is_full(&self) -> bool {
        self.pages == ENTRY_BLOCK
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pages == 0
    }

    /// Encodes the block, and empties it.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        bytes.append(&mut self.entries);
        bytes.append(&mut self.ids);
        bytes.append(&mut self.urls);
        let checked = checksum(bytes.get(4..).unwrap_or_default());
        for (to, from) in bytes.iter_mut().zip(checked.to_le_bytes()) {
            *to = from;
        }
        *self = EntryBlockBuilder::default();
        bytes
    }
}

/// A block of pages that is read in place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryBlock<'a> {
    entries: &'a [u8],
    rest: &'a [u8],
    pages: usize,
}

impl<'a> EntryBlock<'a> {
    /// Opens a block of this many pages, and compares its checksum.
    pub(crate) fn open(mut bytes: &'a [u8], pages: usize) -> Result<EntryBlock<'a>, Malformed> {
        let stored = u32::from_le_bytes(take(&mut bytes).ok_or(Malformed)?);
        if stored != checksum(bytes) {
            return Err(Malformed);
        }
        let (entries, rest) = bytes.split_at_checked(pages * ENTRY).ok_or(Malformed)?;
        Ok(EntryBlock {
            entries,
            rest,
            pages,
        })
    }

    /// Returns the entry of a page.
    pub(crate) fn entry(&self, at: usize) -> Result<PageEntry, Malformed> {
        let mut bytes = self.entries.get(at * ENTRY..).ok_or(Malformed)?;
        let set = u128::from_le_bytes(take(&mut bytes).ok_or(Malformed)?);
        let fingerprints = u32::from_le_bytes(take(&mut bytes).ok_or(Malformed)?);
        let representative = u32::from_le_bytes(take(&mut bytes).ok_or(Malformed)?);
        Ok(PageEntry {
            set,
            fingerprints,
            representative,
        })
    }

    /// Returns the ids of all pages.
    pub(crate) fn ids(&self) -> Result<Vec<u64>, Malformed> {
        let mut bytes = self.rest;
        let (ids, _) = self.take_ids(&mut bytes)?;
        Ok(ids)
    }

    fn take_ids(&self, bytes: &mut &'a [u8]) -> Result<(Vec<u64>, &'a [u8]), Malformed> {
        let mut ids = Vec::with_capacity(self.pages);
        let mut id = 0u64;
        for _ in 0..self.pages {
            id = id.wrapping_add(take_varint(bytes).ok_or(Malformed)?);
            ids.push(id);
        }
        Ok((ids, bytes))
    }

    /// Returns the id and the URL of a page.
    pub(crate) fn name(&self, at: usize) -> Result<(u64, String), Malformed> {
        let mut bytes = self.rest;
        let (ids, _) = self.take_ids(&mut bytes)?;
        let mut url = Vec::new();
        for _ in 0..=at {
            let shared = take_varint(&mut bytes).ok_or(Malformed)?;
            let length = take_varint(&mut bytes).ok_or(Malformed)?;
            let shared = usize::try_from(shared).map_err(|_| Malformed)?;
            let length = usize::try_from(length).map_err(|_| Malformed)?;
            let (rest, after) = bytes.split_at_checked(length).ok_or(Malformed)?;
            if shared > url.len() {
                return Err(Malformed);
            }
            url.truncate(shared);
            url.extend(rest);
            bytes = after;
        }
        let id = *ids.get(at).ok_or(Malformed)?;
        let url = String::from_utf8(url).map_err(|_| Malformed)?;
        Ok((id, url))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Pages = Vec<(u128, u32, u64, String)>;

    fn pages() -> impl Strategy<Value = Pages> {
        let url = prop_oneof!["http://a\\.example/[a-c]{0,3}", "\\PC{0,8}"];
        let page = (any::<u128>(), any::<u32>(), 0u64..1 << 34, url);
        proptest::collection::vec(page, 1..=ENTRY_BLOCK)
    }

    fn encode(pages: &Pages) -> Vec<u8> {
        let mut builder = EntryBlockBuilder::default();
        let mut id = 0;
        for (set, number, step, url) in pages {
            id += step;
            let entry = PageEntry {
                set: *set,
                fingerprints: *number,
                representative: number / 2,
            };
            builder.push(entry, id, url);
        }
        builder.finish()
    }

    proptest! {
        #[test]
        fn a_block_is_read_as_it_was_written(pages in pages()) {
            let bytes = encode(&pages);
            let block = EntryBlock::open(&bytes, pages.len()).unwrap();
            let mut id = 0;
            for (at, (set, number, step, url)) in pages.iter().enumerate() {
                id += step;
                let entry = PageEntry { set: *set, fingerprints: *number, representative: number / 2 };
                prop_assert_eq!(block.entry(at), Ok(entry));
                prop_assert_eq!(block.name(at), Ok((id, url.clone())));
                prop_assert_eq!(block.ids().unwrap()[at], id);
            }
            prop_assert!(block.name(pages.len()).is_err());
        }

        #[test]
        fn a_changed_or_cut_block_is_refused(pages in pages(), at: prop::sample::Index, bit in 0u8..8) {
            let mut bytes = encode(&pages);
            let at = at.index(bytes.len());
            prop_assert!(EntryBlock::open(&bytes[..at], pages.len()).is_err());
            bytes[at] ^= 1 << bit;
            prop_assert!(EntryBlock::open(&bytes, pages.len()).is_err());
        }

        #[test]
        fn a_forged_block_does_not_panic(mut bytes in proptest::collection::vec(any::<u8>(), 4..400), pages in 0usize..70) {
            let checked = checksum(&bytes[4..]).to_le_bytes();
            bytes[..4].copy_from_slice(&checked);
            if let Ok(block) = EntryBlock::open(&bytes, pages) {
                for at in 0..=pages {
                    let _ = (block.entry(at), block.name(at));
                }
            }
        }
    }
}
