//! Blocks of fingerprints with the lists of their pages.
//!
//! ```text
//!   checksum  first  count  width │ flags  differences  pages │ list list …
//!      4        8      1      1   │  n bits  (n−1)·width  page_bits each │ bytes
//! ```
//!
//! A block has up to 128 fingerprints, ascending: the first one in full, and the differences of the
//! others in as many bits as the largest one needs. Most fingerprints are on one page; its number
//! is in the bit stream. A flag marks those on several pages, whose lists follow in bytes: up to
//! [`SHORT`] pages in `page_bits` bits each, or more as differences of variable length, after the
//! number of their bytes. So a reader can skip a list of any length.

use crate::bits::{BitWriter, bits_at, push_varint, take, take_varint, width};

/// The most fingerprints of a block.
pub(crate) const BLOCK: usize = 128;
/// The most pages of a list with numbers of fixed width.
const SHORT: u64 = 8;

/// The content of a block contradicts itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Returns the checksum of a block: it detects accidents, not attacks.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    xxhash_rust::xxh3::xxh3_64(bytes) as u32
}

/// Collects the fingerprints of a block.
#[derive(Default)]
pub(crate) struct BlockBuilder {
    fingerprints: Vec<u64>,
    /// The pages of all fingerprints in turn, and where the pages of each end.
    pages: Vec<u32>,
    ends: Vec<usize>,
}

impl BlockBuilder {
    /// Adds a page of a fingerprint. Both must ascend.
    pub(crate) fn push(&mut self, fingerprint: u64, page: u32) {
        if self.fingerprints.last() != Some(&fingerprint) {
            self.fingerprints.push(fingerprint);
            self.ends.push(self.pages.len());
        }
        self.pages.push(page);
        if let Some(end) = self.ends.last_mut() {
            *end = self.pages.len();
        }
    }

    /// Whether the block is full, unless the next row has the same fingerprint.
    pub(crate) fn is_full(&self, next: u64) -> bool {
        self.fingerprints.len() == BLOCK && self.fingerprints.last() != Some(&next)
    }

    pub(crate) fn first(&self) -> Option<u64> {
        self.fingerprints.first().copied()
    }

    /// Calls `each` with every fingerprint and the number of its pages.
    pub(crate) fn for_each_count(&self, mut each: impl FnMut(u64, u32)) {
        let mut begin = 0;
        for (&fingerprint, &end) in self.fingerprints.iter().zip(&self.ends) {
            each(fingerprint, (end - begin) as u32);
            begin = end;
        }
    }

    /// Encodes the block, and empties it.
    pub(crate) fn finish(&mut self, page_bits: u32) -> Vec<u8> {
        let first = self.fingerprints.first().copied().unwrap_or_default();
        let differences = || {
            let pairs = self.fingerprints.windows(2);
            pairs.map(|pair| match pair {
                [one, next] => next - one,
                _ => 0,
            })
        };
        let bits = width(differences().max().unwrap_or_default());
        let mut bytes = vec![0; 4];
        bytes.extend(first.to_le_bytes());
        bytes.push(self.fingerprints.len() as u8);
        bytes.push(bits as u8);
        let mut stream = BitWriter::default();
        let mut begin = 0;
        for &end in &self.ends {
            stream.push(u64::from(end - begin > 1), 1, &mut bytes);
            begin = end;
        }
        for difference in differences() {
            stream.push(difference, bits, &mut bytes);
        }
        let mut lists = Vec::new();
        begin = 0;
        for &end in &self.ends {
            match self.pages.get(begin..end).unwrap_or_default() {
                [page] => stream.push(u64::from(*page), page_bits, &mut bytes),
                pages => encode_list(pages, page_bits, &mut lists),
            }
            begin = end;
        }
        stream.finish(&mut bytes);
        bytes.extend(lists);
        let checked = checksum(bytes.get(4..).unwrap_or_default());
        for (to, from) in bytes.iter_mut().zip(checked.to_le_bytes()) {
            *to = from;
        }
        self.fingerprints.clear();
        self.pages.clear();
        self.ends.clear();
        bytes
    }
}

fn encode_list(pages: &[u32], page_bits: u32, bytes: &mut Vec<u8>) {
    push_varint(pages.len() as u64, bytes);
    if pages.len() as u64 <= SHORT {
        let mut stream = BitWriter::default();
        for &page in pages {
            stream.push(u64::from(page), page_bits, bytes);
        }
        stream.finish(bytes);
        return;
    }
    let mut list = Vec::with_capacity(2 * pages.len());
    let mut before = 0;
    for &page in pages {
        push_varint(u64::from(page - before), &mut list);
        before = page;
    }
    push_varint(list.len() as u64, bytes);
    bytes.extend(list);
}

/// The pages of a fingerprint, numbered within the segment.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PageList<'a> {
    /// One page.
    One(u32),
    /// Numbers of fixed width.
    Short {
        pages: u32,
        page_bits: u32,
        bytes: &'a [u8],
    },
    /// Differences of variable length.
    Long { pages: u32, bytes: &'a [u8] },
}

impl PageList<'_> {
    /// Returns the number of pages.
    pub(crate) fn len(&self) -> u32 {
        match *self {
            PageList::One(_) => 1,
            PageList::Short { pages, .. } | PageList::Long { pages, .. } => pages,
        }
    }

    /// Calls `each` with every page, in ascending order.
    pub(crate) fn for_each(&self, mut each: impl FnMut(u32)) -> Result<(), Malformed> {
        match *self {
            PageList::One(page) => each(page),
            PageList::Short {
                pages,
                page_bits,
                bytes,
            } => {
                for at in 0..pages as usize {
                    let bit = at * page_bits as usize;
                    each(bits_at(bytes, bit, page_bits).ok_or(Malformed)? as u32);
                }
            }
            PageList::Long { pages, mut bytes } => {
                let mut page = 0u64;
                for _ in 0..pages {
                    let step = take_varint(&mut bytes).ok_or(Malformed)?;
                    page = page.checked_add(step).ok_or(Malformed)?;
                    each(u32::try_from(page).map_err(|_| Malformed)?);
                }
            }
        }
        Ok(())
    }
}

/// A block that is read in place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'a> {
    first: u64,
    fingerprints: usize,
    width: u32,
    page_bits: u32,
    /// Flags, differences and single pages.
    stream: &'a [u8],
}

impl<'a> Block<'a> {
    /// Opens a block, and compares its checksum.
    pub(crate) fn open(mut bytes: &'a [u8], page_bits: u32) -> Result<Block<'a>, Malformed> {
        let stored = u32::from_le_bytes(take(&mut bytes).ok_or(Malformed)?);
        if stored != checksum(bytes) {
            return Err(Malformed);
        }
        let first = u64::from_le_bytes(take(&mut bytes).ok_or(Malformed)?);
        let [fingerprints, width] = take(&mut bytes).ok_or(Malformed)?;
        if fingerprints == 0 || usize::from(fingerprints) > BLOCK || width > 64 || page_bits > 32 {
            return Err(Malformed);
        }
        Ok(Block {
            first,
            fingerprints: fingerprints.into(),
            width: width.into(),
            page_bits,
            stream: bytes,
        })
    }

    /// The first fingerprint.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// Returns the pages of a fingerprint, if the block has it.
    pub(crate) fn find(&self, wanted: u64) -> Result<Option<PageList<'a>>, Malformed> {
        let mut fingerprint = self.first;
        for at in 0..self.fingerprints {
            if at > 0 {
                fingerprint = self.next(fingerprint, at)?;
            }
            if fingerprint == wanted {
                return self.list(at).map(Some);
            }
            if fingerprint > wanted {
                break;
            }
        }
        Ok(None)
    }

    /// Calls `each` with every fingerprint and the number of its pages.
    pub(crate) fn for_each_count(&self, mut each: impl FnMut(u64, u32)) -> Result<(), Malformed> {
        let mut fingerprint = self.first;
        let mut lists = self.lists()?;
        for at in 0..self.fingerprints {
            if at > 0 {
                fingerprint = self.next(fingerprint, at)?;
            }
            let pages = match self.has_list(at)? {
                true => take_list(&mut lists, self.page_bits)?.len(),
                false => 1,
            };
            each(fingerprint, pages);
        }
        Ok(())
    }

    /// Returns the fingerprint after the one before the position.
    #[inline]
    fn next(&self, before: u64, at: usize) -> Result<u64, Malformed> {
        let bit = self.fingerprints + (at - 1) * self.width as usize;
        let difference = bits_at(self.stream, bit, self.width).ok_or(Malformed)?;
        before.checked_add(difference).ok_or(Malformed)
    }

    /// Whether a fingerprint is on several pages.
    #[inline]
    fn has_list(&self, at: usize) -> Result<bool, Malformed> {
        Ok(bits_at(self.stream, at, 1).ok_or(Malformed)? == 1)
    }

    /// Returns the number of fingerprints before the position that are on several pages.
    fn lists_before(&self, at: usize) -> Result<usize, Malformed> {
        let low = bits_at(self.stream, 0, at.min(64) as u32).ok_or(Malformed)?;
        let high = match at {
            ..=64 => 0,
            at => bits_at(self.stream, 64, at as u32 - 64).ok_or(Malformed)?,
        };
        Ok((low.count_ones() + high.count_ones()) as usize)
    }

    fn single_pages_bit(&self) -> usize {
        self.fingerprints + (self.fingerprints - 1) * self.width as usize
    }

    /// Returns the bytes of all lists.
    fn lists(&self) -> Result<&'a [u8], Malformed> {
        let single = self.fingerprints - self.lists_before(self.fingerprints)?;
        let bits = self.single_pages_bit() + single * self.page_bits as usize;
        self.stream.get(bits.div_ceil(8)..).ok_or(Malformed)
    }

    fn list(&self, at: usize) -> Result<PageList<'a>, Malformed> {
        let before = self.lists_before(at)?;
        if !self.has_list(at)? {
            let bit = self.single_pages_bit() + (at - before) * self.page_bits as usize;
            let page = bits_at(self.stream, bit, self.page_bits).ok_or(Malformed)?;
            return Ok(PageList::One(page as u32));
        }
        let mut lists = self.lists()?;
        for _ in 0..before {
            take_list(&mut lists, self.page_bits)?;
        }
        take_list(&mut lists, self.page_bits)
    }
}

/// Takes a list from the front of bytes.
fn take_list<'a>(bytes: &mut &'a [u8], page_bits: u32) -> Result<PageList<'a>, Malformed> {
    let pages = take_varint(bytes).ok_or(Malformed)?;
    let length = match pages <= SHORT {
        true => (pages * u64::from(page_bits)).div_ceil(8),
        false => take_varint(bytes).ok_or(Malformed)?,
    };
    let length = usize::try_from(length).map_err(|_| Malformed)?;
    let (list, rest) = bytes.split_at_checked(length).ok_or(Malformed)?;
    *bytes = rest;
    let short = pages <= SHORT;
    let pages = u32::try_from(pages).map_err(|_| Malformed)?;
    Ok(match short {
        true => PageList::Short {
            pages,
            page_bits,
            bytes: list,
        },
        false => PageList::Long { pages, bytes: list },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// Fingerprints with their pages.
    fn postings() -> impl Strategy<Value = BTreeMap<u64, BTreeSet<u32>>> {
        let fingerprint = prop_oneof![any::<u64>(), 0u64..200, Just(u64::MAX)];
        let pages = proptest::collection::btree_set(0u32..1000, 1..40);
        let one = proptest::collection::btree_set(0u32..1000, 1..2);
        let pages = prop_oneof![3 => one, 1 => pages];
        proptest::collection::btree_map(fingerprint, pages, 1..=BLOCK)
    }

    fn encode(postings: &BTreeMap<u64, BTreeSet<u32>>) -> Vec<u8> {
        let mut builder = BlockBuilder::default();
        for (&fingerprint, pages) in postings {
            assert!(!builder.is_full(fingerprint));
            for &page in pages {
                builder.push(fingerprint, page);
            }
        }
        builder.finish(10)
    }

    proptest! {
        #[test]
        fn a_block_is_read_as_it_was_written(postings in postings(), other: u64) {
            let bytes = encode(&postings);
            let block = Block::open(&bytes, 10).unwrap();
            for (&fingerprint, pages) in &postings {
                let list = block.find(fingerprint).unwrap().unwrap();
                let mut found = Vec::new();
                list.for_each(|page| found.push(page)).unwrap();
                prop_assert_eq!(list.len() as usize, pages.len());
                prop_assert_eq!(found, pages.iter().copied().collect::<Vec<_>>());
            }
            prop_assert_eq!(block.find(other).unwrap().is_some(), postings.contains_key(&other));
            let mut counts = Vec::new();
            block.for_each_count(|fingerprint, pages| counts.push((fingerprint, pages))).unwrap();
            let expected: Vec<_> = postings.iter().map(|(&one, pages)| (one, pages.len() as u32)).collect();
            prop_assert_eq!(counts, expected);
        }

        #[test]
        fn a_changed_or_cut_block_is_refused(postings in postings(), at: prop::sample::Index, bit in 0u8..8) {
            let mut bytes = encode(&postings);
            let at = at.index(bytes.len());
            prop_assert!(Block::open(&bytes[..at], 10).is_err());
            bytes[at] ^= 1 << bit;
            prop_assert!(Block::open(&bytes, 10).is_err());
        }

        #[test]
        fn a_forged_block_does_not_panic(
            mut bytes in proptest::collection::vec(any::<u8>(), 14..400),
            count in 0u8..=129,
            wanted: u64,
            page_bits in 0u32..=32,
        ) {
            bytes[12] = count;
            let checked = checksum(&bytes[4..]).to_le_bytes();
            bytes[..4].copy_from_slice(&checked);
            if let Ok(block) = Block::open(&bytes, page_bits) {
                let _ = block.for_each_count(|fingerprint, _| {
                    if let Ok(Some(list)) = block.find(fingerprint) {
                        let _ = list.for_each(|_| ());
                    }
                });
                let _ = block.find(wanted);
            }
        }
    }
}
