//! The rows of a row group while they are collected.

use arrow_array::RecordBatch;
use arrow_array::builder::StringBuilder;
use arrow_schema::ArrowError;

use crate::schema::Table;
use crate::tables::{ChunkBuilder, ChunkRow, PageBuilder, PageRow, TextBuilder, TextRow};

/// The most bytes that are reserved for texts before any is there.
const MAX_RESERVED: usize = 16 << 20;
/// Bytes that are reserved per URL.
const URL_BYTES: usize = 64;
/// Bytes of a row of the table of chunks.
const CHUNK_BYTES: usize = 36;
/// Approximate bytes of the numbers and hashes in a row of the table of pages.
const PAGE_BYTES: usize = 160;

/// A chunk of a page: its hash, and where it is in the text.
pub(crate) struct ChunkSpan {
    pub(crate) hash: [u8; 16],
    pub(crate) begin: u32,
    pub(crate) end: u32,
}

/// Rows of the three tables, column by column.
pub(crate) struct RowBuffers {
    bytes: usize,
    pages: PageBuilder,
    texts: TextBuilder,
    chunks: ChunkBuilder,
}

impl RowBuffers {
    /// Creates buffers with capacity for `pages` with about `text_bytes` of text.
    pub(crate) fn new(pages: usize, text_bytes: usize) -> RowBuffers {
        RowBuffers {
            bytes: 0,
            pages: PageBuilder {
                url: StringBuilder::with_capacity(pages, pages * URL_BYTES),
                ..PageBuilder::with_capacity(pages)
            },
            texts: TextBuilder {
                text: StringBuilder::with_capacity(pages, text_bytes.min(MAX_RESERVED)),
                ..TextBuilder::with_capacity(pages)
            },
            chunks: ChunkBuilder::with_capacity(0),
        }
    }

    /// The approximate size of the rows.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn push_page(&mut self, row: PageRow<'_>) {
        self.bytes += PAGE_BYTES + row.url.len() + size_of_val(row.link_hashes);
        self.bytes += row.link_domains.clone().map(str::len).sum::<usize>();
        self.pages.push(row);
    }

    pub(crate) fn push_text(&mut self, page_id: u64, text: &str) {
        self.bytes += text.len();
        self.texts.push(TextRow { page_id, text });
    }

    pub(crate) fn push_chunks(&mut self, page_id: u64, chunks: &[ChunkSpan]) {
        for (ordinal, chunk) in (0..).zip(chunks) {
            self.chunks.push(ChunkRow {
                chunk_hash: chunk.hash,
                page_id,
                ordinal,
                begin: chunk.begin,
                end: chunk.end,
            });
        }
        self.bytes += chunks.len() * CHUNK_BYTES;
    }

    /// Finishes the rows of each table.
    pub(crate) fn finish(self) -> Result<[(Table, RecordBatch); 3], ArrowError> {
        Ok([
            (Table::Pages, self.pages.finish()?),
            (Table::Text, self.texts.finish()?),
            (Table::Chunks, self.chunks.finish()?),
        ])
    }
}
