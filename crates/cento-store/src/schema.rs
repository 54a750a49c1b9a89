//! The tables: which columns they have and how each column is stored.
//!
//! Everything is plain Parquet that DuckDB, pandas, polars and Spark read. Choices that cost or
//! save something stand here, next to the reason.

use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use parquet::schema::types::ColumnPath;

/// A table of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// One row a page, rejected ones too.
    Pages,
    /// One row a kept page: its text.
    Text,
    /// One row a chunk of a kept page.
    Chunks,
}

/// Bytes of text that are compressed together. One page of a corpus is read by decompressing one
/// such block, so it is small; zstd on text gains little from more.
const TEXT_BLOCK: usize = 64 << 10;

impl Table {
    /// All tables, in the order they are written.
    pub const ALL: [Table; 3] = [Table::Pages, Table::Text, Table::Chunks];

    /// The name of its folder in the corpus.
    pub fn name(self) -> &'static str {
        match self {
            Table::Pages => "pages",
            Table::Text => "text",
            Table::Chunks => "chunks",
        }
    }

    /// Its columns.
    pub fn schema(self) -> SchemaRef {
        match self {
            Table::Pages => PAGES.clone(),
            Table::Text => TEXT.clone(),
            Table::Chunks => CHUNKS.clone(),
        }
    }

    /// How its columns are stored; those of a passing corpus without the work of compressing texts.
    pub(crate) fn properties(self, passing: bool) -> WriterProperties {
        // The version is left out of `created_by`: a rebuilt program must write the same bytes.
        let builder = WriterProperties::builder()
            .set_created_by("cento".to_owned())
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_compression(zstd())
            .set_statistics_enabled(EnabledStatistics::None)
            .set_max_row_group_row_count(None);
        let builder = ascending(builder, "page_id");
        match self {
            Table::Pages => builder
                .set_column_compression(column("payload_sha1"), Compression::UNCOMPRESSED)
                .set_column_compression(column("text_hash"), Compression::UNCOMPRESSED)
                .set_column_dictionary_enabled(column("payload_sha1"), false)
                .set_column_dictionary_enabled(column("text_hash"), false)
                .set_column_dictionary_enabled(column("url"), false)
                .set_column_encoding(column("url"), Encoding::DELTA_BYTE_ARRAY)
                .build(),
            Table::Text => builder
                .set_column_dictionary_enabled(column("text"), false)
                .set_column_data_page_size_limit(column("text"), TEXT_BLOCK)
                .set_column_compression(
                    column("text"),
                    if passing {
                        Compression::UNCOMPRESSED
                    } else {
                        zstd()
                    },
                )
                .build(),
            // Hashes do not compress; page, ordinal and offsets do, as differences.
            Table::Chunks => {
                let builder = builder
                    .set_column_compression(column("chunk_hash"), Compression::UNCOMPRESSED)
                    .set_column_dictionary_enabled(column("chunk_hash"), false);
                ["ordinal", "begin", "end"]
                    .into_iter()
                    .fold(builder, differences)
                    .build()
            }
        }
    }
}

fn zstd() -> Compression {
    // Level 1: on text of web pages, level 3 saves 4 % of the bytes for half the speed.
    Compression::ZSTD(ZstdLevel::try_new(1).unwrap_or_default())
}

fn column(name: &str) -> ColumnPath {
    ColumnPath::from(name)
}

/// A column of ascending numbers: stored as differences, with the bounds that let a reader skip.
fn ascending(builder: WriterPropertiesBuilder, name: &str) -> WriterPropertiesBuilder {
    differences(builder, name).set_column_statistics_enabled(column(name), EnabledStatistics::Chunk)
}

fn differences(builder: WriterPropertiesBuilder, name: &str) -> WriterPropertiesBuilder {
    builder
        .set_column_dictionary_enabled(column(name), false)
        .set_column_encoding(column(name), Encoding::DELTA_BINARY_PACKED)
}

static PAGES: LazyLock<SchemaRef> = LazyLock::new(|| {
    let time = || DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    Arc::new(Schema::new(vec![
        Field::new("page_id", DataType::UInt64, false),
        Field::new("url", DataType::Utf8, false),
        Field::new("host", DataType::Utf8, true),
        Field::new("domain", DataType::Utf8, true),
        Field::new("ip", DataType::Utf8, true),
        Field::new("fetched_at", time(), true),
        Field::new("published_at", time(), true),
        Field::new("status", DataType::UInt16, true),
        Field::new("mime", DataType::Utf8, true),
        Field::new("title", DataType::Utf8, true),
        Field::new("language", DataType::Utf8, true),
        Field::new("bytes", DataType::UInt64, false),
        Field::new("source", DataType::Utf8, false),
        Field::new("source_offset", DataType::UInt64, false),
        Field::new("source_length", DataType::UInt64, false),
        Field::new("payload_sha1", DataType::FixedSizeBinary(20), true),
        Field::new("revisit_of_url", DataType::Utf8, true),
        Field::new("revisit_of_date", time(), true),
        Field::new("text_hash", DataType::FixedSizeBinary(16), true),
        Field::new("text_bytes", DataType::UInt32, false),
        Field::new("words", DataType::UInt32, false),
        Field::new("chunks", DataType::UInt32, false),
        Field::new("link_domains", list_of(DataType::Utf8), false),
        Field::new("link_hashes", list_of(DataType::UInt64), false),
        Field::new("reject", DataType::Utf8, true),
        Field::new("reject_detail", DataType::Utf8, true),
    ]))
});

static TEXT: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("page_id", DataType::UInt64, false),
        Field::new("text", DataType::Utf8, false),
    ]))
});

static CHUNKS: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("chunk_hash", DataType::FixedSizeBinary(16), false),
        Field::new("page_id", DataType::UInt64, false),
        Field::new("ordinal", DataType::UInt32, false),
        Field::new("begin", DataType::UInt32, false),
        Field::new("end", DataType::UInt32, false),
    ]))
});

fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", item, true)))
}
