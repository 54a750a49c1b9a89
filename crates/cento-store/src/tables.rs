//! The tables of a corpus, each declared once: schema, writer and reader follow from the
//! declaration.
//!
//! ```text
//!                       ┌─▶ schema()      names and types of the columns
//!   table! { PageRow }  ├─▶ PageBuilder   push(PageRow { … })       ─▶ columns
//!                       ├─▶ PageColumns   row(number) ─▶ PageRow    (all columns)
//!                       └─▶ pages::url …  for projection! { … }     (some columns)
//! ```

use arrow_array::types::{UInt16Type, UInt32Type, UInt64Type};

use crate::column::{Digest, Nullable, Number, NumberList, Text, TextList, Timestamp};

/// Declares a table: its row, the builder and the reader of its columns, and a module with a type
/// for each column. Values are written and read by the names of fields, so columns cannot be
/// swapped.
macro_rules! table {
    ($(#[$attribute:meta])* struct $row:ident<$lifetime:lifetime> $($rest:tt)*) => {
        table! { @define [<$lifetime>] [<'_>] $lifetime $(#[$attribute])* struct $row $($rest)* }
    };
    ($(#[$attribute:meta])* struct $row:ident, $($rest:tt)*) => {
        table! { @define [] [] 'static $(#[$attribute])* struct $row, $($rest)* }
    };
    (
        @define [$($generics:tt)*] [$($elided:tt)*] $lifetime:lifetime
        $(#[$attribute:meta])*
        struct $row:ident, $builder:ident, $columns:ident of $table:ident in $module:ident {
            $($(#[$column_attribute:meta])* $column:ident: $kind:ty,)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone)]
        pub struct $row $($generics)* {
            $(
                $(#[$column_attribute])*
                pub $column: <$kind as crate::column::ColumnKind>::Value<$lifetime>,
            )+
        }

        #[doc = concat!("The columns of the table `", stringify!($module), "`, as types for")]
        /// [`projection!`](crate::projection).
        pub mod $module {
            use super::*;

            /// The table.
            pub const TABLE: crate::Table = crate::Table::$table;

            $(
                $(#[$column_attribute])*
                #[derive(Debug)]
                #[expect(non_camel_case_types, reason = "a column type has the name of the column")]
                pub enum $column {}

                impl crate::column::TableColumn for $column {
                    type Kind = $kind;
                    const TABLE: crate::Table = TABLE;
                    const NAME: &'static str = stringify!($column);
                }
            )+
        }

        crate::projection! {
            #[doc = concat!("All columns of a batch of the table `", stringify!($module), "`.")]
            #[derive(Debug)]
            pub struct $columns of $module { $($column),+ }
        }

        impl $columns {
            /// The row with this number.
            pub fn row(&self, row: usize) -> $row $($elided)* {
                $row { $($column: self.$column.value(row),)+ }
            }
        }

        /// Columns while they are written.
        pub(crate) struct $builder {
            $(pub(crate) $column: <$kind as crate::column::ColumnKind>::Builder,)+
        }

        impl $builder {
            /// Creates empty columns with capacity for this many rows.
            pub(crate) fn with_capacity(rows: usize) -> $builder {
                $builder {
                    $($column: <$kind as crate::column::ColumnKind>::builder(rows),)+
                }
            }

            /// Appends a row.
            pub(crate) fn push(&mut self, row: $row $($elided)*) {
                $(<$kind as crate::column::ColumnKind>::append(&mut self.$column, row.$column);)+
            }

            /// Finishes the columns.
            pub(crate) fn finish(
                mut self,
            ) -> Result<arrow_array::RecordBatch, arrow_schema::ArrowError> {
                let columns: Vec<arrow_array::ArrayRef> =
                    vec![$(<$kind as crate::column::ColumnKind>::finish(&mut self.$column)),+];
                arrow_array::RecordBatch::try_new(crate::Table::$table.schema(), columns)
            }

            /// Names and types of the columns.
            pub(crate) fn fields() -> Vec<arrow_schema::Field> {
                vec![$(arrow_schema::Field::new(
                    stringify!($column),
                    <$kind as crate::column::ColumnKind>::data_type(),
                    <$kind as crate::column::ColumnKind>::NULLABLE,
                )),+]
            }
        }
    };
}

table! {
    /// A row of the table of pages: one for each page, rejected or not.
    struct PageRow<'a>, PageBuilder, PageColumns of Pages in pages {
        /// The id of the page: the ordinal of its input, and of its record in the input.
        page_id: Number<UInt64Type>,
        /// The URL.
        url: Text,
        /// The host of the URL.
        host: Nullable<Text>,
        /// The registered domain of the host.
        domain: Nullable<Text>,
        /// The network address of the server.
        ip: Nullable<Text>,
        /// When the page was fetched.
        fetched_at: Nullable<Timestamp>,
        /// When the page was published, according to itself.
        published_at: Nullable<Timestamp>,
        /// The HTTP status.
        status: Nullable<Number<UInt16Type>>,
        /// The media type.
        mime: Nullable<Text>,
        /// The title.
        title: Nullable<Text>,
        /// The language: declared or detected.
        language: Nullable<Text>,
        /// The size of the payload in bytes.
        bytes: Number<UInt64Type>,
        /// The name of the input.
        source: Text,
        /// The offset of the record in the input.
        source_offset: Number<UInt64Type>,
        /// The length of the record in the input.
        source_length: Number<UInt64Type>,
        /// The SHA-1 of the payload.
        payload_sha1: Nullable<Digest<20>>,
        /// The URL of the capture that a revisit record refers to.
        revisit_of_url: Nullable<Text>,
        /// The date of the capture that a revisit record refers to.
        revisit_of_date: Nullable<Timestamp>,
        /// The hash of the text.
        text_hash: Nullable<Digest<16>>,
        /// The size of the text in bytes.
        text_bytes: Number<UInt32Type>,
        /// The number of words in the text.
        words: Number<UInt32Type>,
        /// The number of chunks.
        chunks: Number<UInt32Type>,
        /// The domains that the page links to, sorted, without its own.
        link_domains: TextList,
        /// Hashes of the URLs that the page links to, sorted.
        link_hashes: NumberList<UInt64Type>,
        /// Why the page was rejected; null if it was kept.
        reject: Nullable<Text>,
        /// Details of the rejection.
        reject_detail: Nullable<Text>,
        /// The type of the page, such as `article`, if main content was selected.
        page_type: Nullable<Text>,
        /// The identifier of the page in the table that it is from, as text.
        id: Nullable<Text>,
        /// The row in that table, from 0; null for pages that are not from a table.
        row: Nullable<Number<UInt64Type>>,
    }
}

table! {
    /// A row of the table of texts: one for each kept page.
    struct TextRow<'a>, TextBuilder, TextColumns of Text in text {
        /// The id of the page.
        page_id: Number<UInt64Type>,
        /// The text of the page.
        text: Text,
    }
}

table! {
    /// A row of the table of chunks: one for each chunk of a kept page.
    #[derive(Copy, PartialEq, Eq)]
    struct ChunkRow, ChunkBuilder, ChunkColumns of Chunks in chunks {
        /// The hash of the normalised chunk.
        chunk_hash: Digest<16>,
        /// The id of the page.
        page_id: Number<UInt64Type>,
        /// The position of the chunk on its page.
        ordinal: Number<UInt32Type>,
        /// The first byte of the chunk in the text of the page.
        begin: Number<UInt32Type>,
        /// The byte after the chunk.
        end: Number<UInt32Type>,
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::RecordBatch;
    use arrow_array::cast::AsArray;
    use arrow_array::types::TimestampMillisecondType;

    use super::*;
    use crate::column::Projection;

    fn hosts() -> Vec<String> {
        vec!["other.example".to_owned(), "third.example".to_owned()]
    }

    /// A row in which each value occurs once.
    fn page<'a>(domains: &'a [String]) -> PageRow<'a> {
        PageRow {
            page_id: 1,
            url: "url",
            host: Some("host"),
            domain: Some("domain"),
            ip: Some("ip"),
            fetched_at: Some(2),
            published_at: Some(3),
            status: Some(4),
            mime: Some("mime"),
            title: Some("title"),
            language: Some("language"),
            bytes: 5,
            source: "source",
            source_offset: 6,
            source_length: 7,
            payload_sha1: Some([8; 20]),
            revisit_of_url: Some("revisit_of_url"),
            revisit_of_date: Some(9),
            text_hash: Some([10; 16]),
            text_bytes: 11,
            words: 12,
            chunks: 13,
            link_domains: domains.into(),
            link_hashes: &[14, 15],
            reject: Some("reject"),
            reject_detail: Some("reject_detail"),
            page_type: Some("page_type"),
            id: Some("id"),
            row: Some(16),
        }
    }

    fn number(batch: &RecordBatch, name: &str) -> u64 {
        let column = batch.column_by_name(name).unwrap();
        let long = column.as_primitive_opt::<UInt64Type>();
        let short = column.as_primitive_opt::<UInt32Type>();
        let half = column.as_primitive_opt::<UInt16Type>();
        let time = column.as_primitive_opt::<TimestampMillisecondType>();
        long.map(|column| column.value(0))
            .or_else(|| short.map(|column| column.value(0).into()))
            .or_else(|| half.map(|column| column.value(0).into()))
            .or_else(|| time.map(|column| column.value(0) as u64))
            .unwrap()
    }

    #[test]
    fn each_field_of_a_page_is_stored_in_the_column_of_its_name() {
        let domains = hosts();
        let mut builder = PageBuilder::with_capacity(1);
        builder.push(page(&domains));
        let batch = builder.finish().unwrap();
        for name in [
            "url",
            "host",
            "domain",
            "ip",
            "mime",
            "title",
            "language",
            "source",
            "revisit_of_url",
            "reject",
            "reject_detail",
            "id",
        ] {
            let column = batch.column_by_name(name).unwrap();
            assert_eq!(column.as_string::<i32>().value(0), name);
        }
        for (name, value) in [
            ("page_id", 1),
            ("fetched_at", 2),
            ("published_at", 3),
            ("status", 4),
            ("bytes", 5),
            ("source_offset", 6),
            ("source_length", 7),
            ("revisit_of_date", 9),
            ("text_bytes", 11),
            ("words", 12),
            ("chunks", 13),
            ("row", 16),
        ] {
            assert_eq!(number(&batch, name), value, "{name}");
        }
        for (name, bytes) in [("payload_sha1", vec![8; 20]), ("text_hash", vec![10; 16])] {
            let column = batch.column_by_name(name).unwrap();
            assert_eq!(column.as_fixed_size_binary().value(0), bytes);
        }
        let list = |name: &str| {
            batch
                .column_by_name(name)
                .unwrap()
                .as_list::<i32>()
                .value(0)
        };
        let links = list("link_domains");
        let links: Vec<&str> = links.as_string::<i32>().iter().flatten().collect();
        assert_eq!(links, ["other.example", "third.example"]);
        assert_eq!(
            list("link_hashes").as_primitive::<UInt64Type>().values(),
            &[14, 15]
        );
        assert_eq!(batch.num_columns(), 29);
    }

    #[test]
    fn a_page_is_read_as_it_was_written() {
        let domains = hosts();
        let mut builder = PageBuilder::with_capacity(0);
        builder.push(page(&domains));
        builder.push(PageRow {
            host: None,
            payload_sha1: None,
            link_domains: [].as_slice().into(),
            link_hashes: &[],
            reject: None,
            ..page(&[])
        });
        let columns = PageColumns::from_batch(&builder.finish().unwrap()).unwrap();
        assert_eq!(columns.rows(), 2);
        let shown = |mut row: PageRow<'_>| {
            let domains: Vec<String> = row.link_domains.by_ref().map(str::to_owned).collect();
            row.link_domains = [].as_slice().into();
            (domains, format!("{row:?}"))
        };
        assert_eq!(shown(columns.row(0)).0, domains);
        let cleared = |row: PageRow<'_>| {
            format!(
                "{:?}",
                PageRow {
                    link_domains: [].as_slice().into(),
                    ..row
                }
            )
        };
        assert_eq!(cleared(columns.row(0)), cleared(page(&[])));
        let second = columns.row(1);
        assert_eq!(
            (second.host, second.payload_sha1, second.reject),
            (None, None, None)
        );
        assert!(columns.reject.is_null(1) && !columns.reject.is_null(0));
        assert_eq!(second.link_domains.count(), 0);
        assert!(second.link_hashes.is_empty());
    }

    #[test]
    fn texts_and_chunks_are_read_as_they_were_written() {
        let mut texts = TextBuilder::with_capacity(1);
        texts.push(TextRow {
            page_id: 7,
            text: "A text.",
        });
        let texts = TextColumns::from_batch(&texts.finish().unwrap()).unwrap();
        let row = texts.row(0);
        assert_eq!((row.page_id, row.text), (7, "A text."));

        let chunk = ChunkRow {
            chunk_hash: [9; 16],
            page_id: 7,
            ordinal: 1,
            begin: 2,
            end: 3,
        };
        let mut chunks = ChunkBuilder::with_capacity(1);
        chunks.push(chunk);
        let batch = chunks.finish().unwrap();
        let of = |name: &str| number(&batch, name);
        assert_eq!(
            [of("page_id"), of("ordinal"), of("begin"), of("end")],
            [7, 1, 2, 3]
        );
        assert_eq!(ChunkColumns::from_batch(&batch).unwrap().row(0), chunk);
    }
}
