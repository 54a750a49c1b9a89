//! How the columns of each table are stored: encodings, compression and statistics.
//!
//! Everything is plain Parquet that DuckDB, pandas, polars and Spark read.

use std::sync::{Arc, LazyLock};

use arrow_schema::{Schema, SchemaRef};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use parquet::schema::types::ColumnPath;

use crate::column::TableColumn;
use crate::tables::{ChunkBuilder, PageBuilder, TextBuilder, chunks, pages, text};

/// A table of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// One row for each page, rejected or not: [`PageRow`](crate::PageRow).
    Pages,
    /// One row for each kept page, with its text: [`TextRow`](crate::TextRow).
    Text,
    /// One row for each chunk of a kept page: [`ChunkRow`](crate::ChunkRow).
    Chunks,
}

/// Bytes of text that are compressed together. Reading the text of one page decompresses one such
/// block, so it is small; zstd gains little from larger blocks of text.
const TEXT_BLOCK: usize = 64 << 10;

impl Table {
    /// All tables, in the order in which they are written.
    pub const ALL: [Table; 3] = [Table::Pages, Table::Text, Table::Chunks];

    /// The name of its folder in a corpus.
    pub fn name(self) -> &'static str {
        match self {
            Table::Pages => "pages",
            Table::Text => "text",
            Table::Chunks => "chunks",
        }
    }

    /// The names and types of its columns.
    pub fn schema(self) -> SchemaRef {
        match self {
            Table::Pages => PAGES.clone(),
            Table::Text => TEXT.clone(),
            Table::Chunks => CHUNKS.clone(),
        }
    }

    /// How its columns are stored. Texts of a temporary corpus are not compressed.
    pub(crate) fn properties(self, temporary: bool) -> WriterProperties {
        // The version is left out of `created_by`: a rebuilt program must write the same bytes.
        let builder = WriterProperties::builder()
            .set_created_by("cento".to_owned())
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_compression(zstd())
            .set_statistics_enabled(EnabledStatistics::None)
            .set_max_row_group_row_count(None);
        match self {
            Table::Pages => {
                let builder = ascending::<pages::page_id>(builder);
                let builder = incompressible::<pages::payload_sha1>(builder);
                let builder = incompressible::<pages::text_hash>(builder);
                builder
                    .set_column_dictionary_enabled(path::<pages::url>(), false)
                    .set_column_encoding(path::<pages::url>(), Encoding::DELTA_BYTE_ARRAY)
                    .build()
            }
            Table::Text => {
                let compression = match temporary {
                    true => Compression::UNCOMPRESSED,
                    false => zstd(),
                };
                ascending::<text::page_id>(builder)
                    .set_column_dictionary_enabled(path::<text::text>(), false)
                    .set_column_data_page_size_limit(path::<text::text>(), TEXT_BLOCK)
                    .set_column_compression(path::<text::text>(), compression)
                    .build()
            }
            Table::Chunks => {
                let builder = ascending::<chunks::page_id>(builder);
                let builder = incompressible::<chunks::chunk_hash>(builder);
                let builder = differences::<chunks::ordinal>(builder);
                let builder = differences::<chunks::begin>(builder);
                differences::<chunks::end>(builder).build()
            }
        }
    }
}

fn zstd() -> Compression {
    // Level 1: on the text of web pages, level 3 saves 4 % of the bytes at half the speed.
    Compression::ZSTD(ZstdLevel::try_new(1).unwrap_or_default())
}

fn path<C: TableColumn>() -> ColumnPath {
    ColumnPath::from(C::NAME)
}

/// A column of hashes, which neither compress nor repeat.
fn incompressible<C: TableColumn>(builder: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
    builder
        .set_column_compression(path::<C>(), Compression::UNCOMPRESSED)
        .set_column_dictionary_enabled(path::<C>(), false)
}

/// A column of ascending numbers: stored as differences, with bounds that let a reader skip.
fn ascending<C: TableColumn>(builder: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
    differences::<C>(builder).set_column_statistics_enabled(path::<C>(), EnabledStatistics::Chunk)
}

/// A column of numbers whose differences are small.
fn differences<C: TableColumn>(builder: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
    builder
        .set_column_dictionary_enabled(path::<C>(), false)
        .set_column_encoding(path::<C>(), Encoding::DELTA_BINARY_PACKED)
}

static PAGES: LazyLock<SchemaRef> = LazyLock::new(|| Arc::new(Schema::new(PageBuilder::fields())));
static TEXT: LazyLock<SchemaRef> = LazyLock::new(|| Arc::new(Schema::new(TextBuilder::fields())));
static CHUNKS: LazyLock<SchemaRef> =
    LazyLock::new(|| Arc::new(Schema::new(ChunkBuilder::fields())));
