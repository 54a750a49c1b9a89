//! Writes a segment from sorted rows, in bounded memory.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use cento_file::{Output, replace};
use cento_fingerprint::Scheme;

use crate::bits::width;
use crate::block::BlockBuilder;
use crate::entry_block::{EntryBlockBuilder, PageEntry};
use crate::segment::{FREQUENT_PAGES, SegmentFooter, SegmentSection};

/// The size and the hash of a written segment.
pub(crate) struct WrittenSegment {
    pub(crate) bytes: u64,
    pub(crate) blake3: String,
}

/// A segment that is being written: first all fingerprints, then all entries, then all copies.
///
/// The indexes of the blocks are collected in files, because they grow with the corpus.
pub(crate) struct SegmentWriter {
    output: BufWriter<Output>,
    hasher: blake3::Hasher,
    at: u64,
    footer: SegmentFooter,
    block: BlockBuilder,
    block_index: SpooledSection,
    frequent: SpooledSection,
    entry_block: EntryBlockBuilder,
    entry_index: SpooledSection,
}

impl SegmentWriter {
    /// Begins a segment at `path`. Files are collected in the folder `temp`.
    pub(crate) fn create(
        path: &Path,
        temp: &Path,
        scheme: Scheme,
        first_page: u32,
        pages: u32,
    ) -> io::Result<SegmentWriter> {
        let none = SegmentSection::default();
        Ok(SegmentWriter {
            output: BufWriter::with_capacity(1 << 20, Output::within(path)?),
            hasher: blake3::Hasher::new(),
            at: 0,
            footer: SegmentFooter {
                scheme,
                first_page,
                pages,
                page_bits: width(u64::from(pages.saturating_sub(1))).max(1),
                fingerprints: 0,
                postings: 0,
                blocks: none,
                block_index: none,
                frequent: none,
                entries: none,
                entry_index: none,
                copies: none,
            },
            block: BlockBuilder::default(),
            block_index: SpooledSection::create(&temp.join("block-index"))?,
            frequent: SpooledSection::create(&temp.join("frequent"))?,
            entry_block: EntryBlockBuilder::default(),
            entry_index: SpooledSection::create(&temp.join("entry-index"))?,
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.at += bytes.len() as u64;
        self.output.write_all(bytes)
    }

    /// Adds a page of a fingerprint, numbered within the segment. Rows must ascend.
    pub(crate) fn push_posting(&mut self, fingerprint: u64, page: u32) -> io::Result<()> {
        if self.block.is_full(fingerprint) {
            self.end_block()?;
        }
        self.block.push(fingerprint, page);
        self.footer.postings += 1;
        Ok(())
    }

    fn end_block(&mut self) -> io::Result<()> {
        let Some(first) = self.block.first() else {
            return Ok(());
        };
        self.block_index.push(&first.to_le_bytes())?;
        self.block_index.push(&self.at.to_le_bytes())?;
        let mut failed = Ok(());
        let (frequent, fingerprints) = (&mut self.frequent, &mut self.footer.fingerprints);
        self.block.for_each_count(|fingerprint, pages| {
            *fingerprints += 1;
            if pages >= FREQUENT_PAGES && failed.is_ok() {
                failed = frequent
                    .push(&fingerprint.to_le_bytes())
                    .and_then(|()| frequent.push(&pages.to_le_bytes()));
            }
        });
        failed?;
        let bytes = self.block.finish(self.footer.page_bits);
        self.write(&bytes)
    }

    /// Ends the sections of fingerprints.
    pub(crate) fn end_postings(&mut self) -> io::Result<()> {
        self.end_block()?;
        self.footer.blocks = SegmentSection {
            offset: 0,
            length: self.at,
        };
        self.block_index.push(&u64::MAX.to_le_bytes())?;
        self.block_index.push(&self.at.to_le_bytes())?;
        self.footer.block_index = self.append(|writer| &mut writer.block_index)?;
        self.footer.frequent = self.append(|writer| &mut writer.frequent)?;
        self.footer.entries.offset = self.at;
        Ok(())
    }

    /// Adds a page, in order of page numbers.
    pub(crate) fn push_entry(&mut self, entry: PageEntry, id: u64, url: &str) -> io::Result<()> {
        if self.entry_block.is_full() {
            self.end_entry_block()?;
        }
        self.entry_block.push(entry, id, url);
        Ok(())
    }

    fn end_entry_block(&mut self) -> io::Result<()> {
        let offset = self.at - self.footer.entries.offset;
        self.entry_index.push(&offset.to_le_bytes())?;
        let bytes = self.entry_block.finish();
        self.write(&bytes)
    }

    /// Ends the sections of entries.
    pub(crate) fn end_entries(&mut self) -> io::Result<()> {
        if !self.entry_block.is_empty() {
            self.end_entry_block()?;
        }
        let length = self.at - self.footer.entries.offset;
        self.footer.entries.length = length;
        self.entry_index.push(&length.to_le_bytes())?;
        self.footer.entry_index = self.append(|writer| &mut writer.entry_index)?;
        self.footer.copies.offset = self.at;
        Ok(())
    }

    /// Adds a page with the same set of fingerprints as an earlier one. Rows must ascend.
    pub(crate) fn push_copy(&mut self, representative: u32, copy: u32) -> io::Result<()> {
        self.write(&representative.to_le_bytes())?;
        self.write(&copy.to_le_bytes())
    }

    /// Writes the footer, and gives the file its name.
    pub(crate) fn finish(mut self) -> io::Result<WrittenSegment> {
        self.footer.copies.length = self.at - self.footer.copies.offset;
        let footer = self.footer.encode();
        self.write(&footer)?;
        let output = self
            .output
            .into_inner()
            .map_err(|error| error.into_error())?;
        output.finish_synced()?;
        Ok(WrittenSegment {
            bytes: self.at,
            blake3: self.hasher.finalize().to_hex().to_string(),
        })
    }

    /// Appends a section that was collected in a file.
    fn append(
        &mut self,
        section: impl FnOnce(&mut SegmentWriter) -> &mut SpooledSection,
    ) -> io::Result<SegmentSection> {
        let offset = self.at;
        let mut reader = section(self).rewind()?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = io::Read::read(&mut reader, &mut buffer)?;
            if read == 0 {
                break;
            }
            let bytes = buffer.get(..read).unwrap_or_default().to_vec();
            self.write(&bytes)?;
        }
        Ok(SegmentSection {
            offset,
            length: self.at - offset,
        })
    }
}

/// A section that is collected in a file of its own.
struct SpooledSection {
    file: BufWriter<File>,
}

impl SpooledSection {
    fn create(path: &Path) -> io::Result<SpooledSection> {
        let file = replace(path)?;
        // The file is only needed while it is open.
        std::fs::remove_file(path)?;
        Ok(SpooledSection {
            file: BufWriter::new(file),
        })
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn rewind(&mut self) -> io::Result<BufReader<File>> {
        self.file.flush()?;
        let mut file = self.file.get_ref().try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        Ok(BufReader::new(file))
    }
}
