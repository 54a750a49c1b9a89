//! A segment: the index of some pages, in one file that is mapped into memory.
//!
//! ```text
//!   blocks of fingerprints │ index of blocks │ frequent │ blocks of entries │ index of entries │
//!   copies │ footer │ checksum (32), length (4), version (4), magic number (8)
//! ```
//!
//! The footer is JSON with the position of each section. All numbers are little-endian.

use std::path::{Path, PathBuf};

use cento_file::{Checksum, MappedFile};
use cento_fingerprint::Scheme;
use serde::{Deserialize, Serialize};

use crate::block::{Block, Malformed, PageList};
use crate::entry_block::{ENTRY_BLOCK, EntryBlock, PageEntry};
use crate::error::{Error, Result};

/// The format version that this version of cento writes.
pub const FORMAT_NEWEST: u32 = 1;
/// The oldest format version that this version of cento reads.
pub const FORMAT_OLDEST: u32 = 1;

const MAGIC: [u8; 8] = *b"cento\x00Q\n";
/// Bytes after the footer.
const TRAILER: usize = 32 + 4 + 4 + 8;
/// The longest footer.
const MAX_FOOTER: usize = 4096;
/// Fingerprints on at least this many pages of a segment are listed in the section `frequent`.
pub(crate) const FREQUENT_PAGES: u32 = 64;

/// The position of a section in a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentSection {
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

/// What a segment covers, and where its sections are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentFooter {
    /// How fingerprints are selected.
    pub(crate) scheme: Scheme,
    /// The number of its first page among the kept pages of the corpus.
    pub(crate) first_page: u32,
    /// The number of its pages.
    pub(crate) pages: u32,
    /// The bits of a page number.
    pub(crate) page_bits: u32,
    /// Distinct fingerprints.
    pub(crate) fingerprints: u64,
    /// The sum of the fingerprints of all pages, except those with the same set as an earlier page.
    pub(crate) postings: u64,
    pub(crate) blocks: SegmentSection,
    pub(crate) block_index: SegmentSection,
    pub(crate) frequent: SegmentSection,
    pub(crate) entries: SegmentSection,
    pub(crate) entry_index: SegmentSection,
    pub(crate) copies: SegmentSection,
}

impl SegmentFooter {
    /// Returns the footer and the trailer of a file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        // Numbers and a name: serialising cannot fail.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        let (hash, length) = (blake3::hash(&bytes), bytes.len() as u32);
        bytes.extend(hash.as_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(FORMAT_NEWEST.to_le_bytes());
        bytes.extend(MAGIC);
        bytes
    }

    fn decode(bytes: &[u8], path: &Path) -> Result<SegmentFooter> {
        let corrupted = |detail: &str| Error::corrupted(path, detail);
        let (rest, trailer) = bytes
            .split_last_chunk::<TRAILER>()
            .ok_or_else(|| corrupted("it is too short"))?;
        let (checksum, trailer) = trailer.split_at(32);
        let (length, trailer) = trailer.split_at(4);
        let (version, magic) = trailer.split_at(4);
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
        if magic != MAGIC {
            return Err(corrupted("its end is not that of an index"));
        }
        let version = number(version);
        if version > FORMAT_NEWEST {
            return Err(Error::TooNew {
                path: path.to_owned(),
                found: version,
                newest: FORMAT_NEWEST,
            });
        }
        if version < FORMAT_OLDEST {
            return Err(corrupted("its format version is invalid"));
        }
        let length = number(length) as usize;
        let begin = rest.len().checked_sub(length);
        let Some(json) = begin.and_then(|begin| rest.get(begin..)) else {
            return Err(corrupted("its footer is truncated"));
        };
        if length > MAX_FOOTER || blake3::hash(json).as_bytes() != checksum {
            return Err(corrupted("the checksum of its footer does not match"));
        }
        let footer: SegmentFooter = serde_json::from_slice(json)
            .map_err(|error| corrupted(&format!("its footer is invalid: {error}")))?;
        footer.check((rest.len() - length) as u64, path)?;
        Ok(footer)
    }

    /// Checks that the sections are contiguous, match the counts, and end at the footer.
    fn check(&self, end_of_sections: u64, path: &Path) -> Result<()> {
        let mut end = 0u64;
        for section in [
            self.blocks,
            self.block_index,
            self.frequent,
            self.entries,
            self.entry_index,
            self.copies,
        ] {
            if section.offset != end {
                return Err(Error::corrupted(path, "its sections are not contiguous"));
            }
            end = end.saturating_add(section.length);
        }
        let entry_blocks = u64::from(self.pages).div_ceil(ENTRY_BLOCK as u64);
        let sized = end == end_of_sections
            && self.block_index.length.is_multiple_of(16)
            && self.frequent.length.is_multiple_of(12)
            && self.copies.length.is_multiple_of(8)
            && self.entry_index.length == (entry_blocks + 1) * 8
            && self.page_bits <= 32
            && self.first_page.checked_add(self.pages).is_some();
        if !sized {
            let detail = "its counts do not match the size of its sections";
            return Err(Error::corrupted(path, detail));
        }
        Ok(())
    }
}

/// An open segment, of which only the parts that are used are in memory.
///
/// Every block that is read has a checksum. All positions are bounds-checked, so that a file that
/// was forged gives wrong answers at worst.
#[derive(Debug)]
pub(crate) struct Segment {
    path: PathBuf,
    footer: SegmentFooter,
    map: MappedFile,
}

impl Segment {
    /// Opens a segment.
    pub(crate) fn open(path: &Path) -> Result<Segment> {
        let map = MappedFile::open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::corrupted(path, "it is missing"),
            _ => Error::io(path, error),
        })?;
        Ok(Segment {
            path: path.to_owned(),
            footer: SegmentFooter::decode(map.bytes(), path)?,
            map,
        })
    }

    /// Compares the checksum of the file.
    pub(crate) fn verify(path: &Path, bytes: u64, blake3: &str) -> Result<()> {
        let found = match Checksum::of(path) {
            Ok(found) => found,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::corrupted(path, "it is missing"));
            }
            Err(error) => return Err(Error::io(path, error)),
        };
        if (found.bytes, found.blake3.as_str()) != (bytes, blake3) {
            let detail = "its checksum does not match its content";
            return Err(Error::corrupted(path, detail));
        }
        Segment::open(path).map(|_| ())
    }

    pub(crate) fn footer(&self) -> &SegmentFooter {
        &self.footer
    }

    /// Returns the pages of a fingerprint, numbered within the segment.
    pub(crate) fn find(&self, fingerprint: u64) -> Result<Option<PageList<'_>>> {
        let index = self.block_index();
        let after = index.partition_point(|entry| first_number(entry) <= fingerprint);
        let Some(at) = after.checked_sub(1).filter(|&at| at + 1 < index.len()) else {
            return Ok(None);
        };
        let block = self.block(at)?;
        block.find(fingerprint).map_err(|_| self.malformed())
    }

    /// Returns the number of blocks of fingerprints.
    pub(crate) fn blocks(&self) -> usize {
        self.block_index().len().saturating_sub(1)
    }

    /// Opens a block of fingerprints.
    pub(crate) fn block(&self, at: usize) -> Result<Block<'_>> {
        let index = self.block_index();
        let open = || -> std::result::Result<Block<'_>, Malformed> {
            let (entry, next) = index.get(at).zip(index.get(at + 1)).ok_or(Malformed)?;
            let bytes = range(
                self.section(self.footer.blocks),
                last_number(entry),
                last_number(next),
            )?;
            let block = Block::open(bytes, self.footer.page_bits)?;
            // An index that points to another block is corrupted.
            match block.first() == first_number(entry) {
                true => Ok(block),
                false => Err(Malformed),
            }
        };
        open().map_err(|_| self.malformed())
    }

    /// Returns the fingerprints on at least [`FREQUENT_PAGES`] pages of the segment, with the
    /// number of their pages.
    pub(crate) fn frequent(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let (entries, _) = self.section(self.footer.frequent).as_chunks::<12>();
        entries.iter().map(|entry| {
            let (fingerprint, pages) = entry.split_at(8);
            let fingerprint = fingerprint.try_into().map_or(0, u64::from_le_bytes);
            (fingerprint, pages.try_into().map_or(0, u32::from_le_bytes))
        })
    }

    /// Returns the number of blocks of entries.
    pub(crate) fn entry_blocks(&self) -> usize {
        (self.footer.pages as usize).div_ceil(ENTRY_BLOCK)
    }

    /// Opens a block of entries.
    pub(crate) fn entry_block(&self, at: usize) -> Result<EntryBlock<'_>> {
        let (offsets, _) = self.section(self.footer.entry_index).as_chunks::<8>();
        let open = || -> std::result::Result<EntryBlock<'_>, Malformed> {
            let (&begin, &end) = offsets.get(at).zip(offsets.get(at + 1)).ok_or(Malformed)?;
            let (begin, end) = (u64::from_le_bytes(begin), u64::from_le_bytes(end));
            let bytes = range(self.section(self.footer.entries), begin, end)?;
            let before = at * ENTRY_BLOCK;
            let pages = (self.footer.pages as usize).saturating_sub(before);
            EntryBlock::open(bytes, pages.min(ENTRY_BLOCK))
        };
        open().map_err(|_| self.malformed())
    }

    /// Returns the id and the URL of a page, numbered within the segment.
    pub(crate) fn name(&self, page: u32) -> Result<(u64, String)> {
        let block = self.entry_block(page as usize / ENTRY_BLOCK)?;
        let name = block.name(page as usize % ENTRY_BLOCK);
        name.map_err(|_| self.malformed())
    }

    /// Returns the entry of a page, numbered within the segment.
    pub(crate) fn entry(&self, page: u32) -> Result<PageEntry> {
        let block = self.entry_block(page as usize / ENTRY_BLOCK)?;
        let entry = block.entry(page as usize % ENTRY_BLOCK);
        entry.map_err(|_| self.malformed())
    }

    /// Returns the pages of a block of entries, numbered within the corpus.
    pub(crate) fn entries_of(&self, block: usize) -> Result<Vec<(u32, PageEntry)>> {
        let entries = self.entry_block(block)?;
        let before = block * ENTRY_BLOCK;
        let pages = (self.footer.pages as usize).saturating_sub(before);
        let pages = 0..pages.min(ENTRY_BLOCK);
        pages
            .map(|at| {
                let entry = entries.entry(at).map_err(|_| self.malformed())?;
                Ok((self.footer.first_page + (before + at) as u32, entry))
            })
            .collect()
    }

    /// Returns the number of the page with an id within the segment.
    pub(crate) fn number_of(&self, page_id: u64) -> Result<Option<u32>> {
        // The last block that does not begin behind the page.
        let (mut low, mut high) = (0, self.entry_blocks());
        while low < high {
            let middle = (low + high) / 2;
            let ids = self.ids(middle)?;
            match ids.first().is_some_and(|&first| first <= page_id) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let Some(block) = low.checked_sub(1) else {
            return Ok(None);
        };
        let at = self.ids(block)?.iter().position(|&id| id == page_id);
        Ok(at.map(|at| (block * ENTRY_BLOCK + at) as u32))
    }

    fn ids(&self, block: usize) -> Result<Vec<u64>> {
        let ids = self.entry_block(block)?.ids();
        ids.map_err(|_| self.malformed())
    }

    /// Returns the copies of a page in this segment: the pages with the same set of fingerprints.
    /// All numbers are those of the corpus.
    pub(crate) fn copies_of(&self, page: u32) -> impl Iterator<Item = u32> + '_ {
        let (pairs, _) = self.section(self.footer.copies).as_chunks::<8>();
        let split = |pair: &[u8; 8]| {
            let (representative, copy) = pair.split_at(4);
            let number = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
            (number(representative), number(copy))
        };
        let begin = pairs.partition_point(|pair| split(pair).0 < page);
        let rest = pairs.get(begin..).unwrap_or_default();
        let end = rest.partition_point(|pair| split(pair).0 == page);
        let own = rest.get(..end).unwrap_or_default().iter();
        own.map(move |pair| split(pair).1)
    }

    /// An error about the content of a block.
    pub(crate) fn malformed(&self) -> Error {
        Error::corrupted(&self.path, "a checksum does not match its content")
    }

    fn block_index(&self) -> &[[u8; 16]] {
        self.section(self.footer.block_index).as_chunks::<16>().0
    }

    fn section(&self, section: SegmentSection) -> &[u8] {
        range(
            self.map.bytes(),
            section.offset,
            section.offset.saturating_add(section.length),
        )
        .unwrap_or_default()
    }
}

/// Returns the bytes between two offsets.
fn range(bytes: &[u8], begin: u64, end: u64) -> std::result::Result<&[u8], Malformed> {
    let begin = usize::try_from(begin).map_err(|_| Malformed)?;
    let end = usize::try_from(end).map_err(|_| Malformed)?;
    bytes.get(begin..end).ok_or(Malformed)
}

/// Returns the first number of an entry of the index of blocks: a fingerprint.
#[inline]
fn first_number(entry: &[u8; 16]) -> u64 {
    let (first, _) = entry.split_at(8);
    first.try_into().map_or(0, u64::from_le_bytes)
}

/// Returns the last number of an entry of the index of blocks: an offset.
#[inline]
fn last_number(entry: &[u8; 16]) -> u64 {
    let (_, last) = entry.split_at(8);
    last.try_into().map_or(0, u64::from_le_bytes)
}
