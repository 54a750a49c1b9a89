//! Items that a reader yields: records to decode, skipped records and ignored records.

use std::fmt;
use std::sync::Arc;

use crate::Cause;
use crate::json::FieldPlan;

/// Where to begin reading an input: at its beginning (the default), or after a record that an
/// earlier run has processed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The ordinal of the first record to deliver.
    pub ordinal: u32,
    /// The offset in the stored input at which reading can begin. 0 if the input can only be read
    /// from its beginning.
    pub offset: u64,
    /// The number of records between `offset` and the first record to deliver.
    pub skip: u32,
}

/// The position of a record in its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The number of the record among all records of the input, from 0, damaged and ignored records
    /// included.
    pub ordinal: u32,
    /// The offset in the stored input of the record or of the compressed member that contains it.
    /// In a Parquet table, the row.
    pub offset: u64,
    /// The stored length of the record or of its compressed member. 0 if it is unknown (in a table,
    /// or in a member with several records).
    pub length: u64,
    /// Where to resume after the record.
    pub next: Start,
}

/// An item of an input.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all items are records, and an item is passed on as soon as it is read"
)]
#[derive(Debug)]
pub enum Item {
    /// A record that may contain a page, for [`decode`](crate::decode).
    Record(Record),
    /// A damaged record or a damaged part of the input.
    Skipped(Skipped),
    /// A sound record without a page.
    Ignored(Ignored),
}

impl Item {
    /// The position of the item.
    pub fn place(&self) -> &Place {
        match self {
            Item::Record(record) => &record.place,
            Item::Skipped(skipped) => &skipped.place,
            Item::Ignored(ignored) => &ignored.place,
        }
    }

    pub(crate) fn place_mut(&mut self) -> &mut Place {
        match self {
            Item::Record(record) => &mut record.place,
            Item::Skipped(skipped) => &mut skipped.place,
            Item::Ignored(ignored) => &mut ignored.place,
        }
    }
}

/// A damaged record that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The position of the record.
    pub place: Place,
    /// The kind of damage, for counting.
    pub cause: Cause,
    /// Details about this record, for users.
    pub detail: String,
}

/// A sound record without a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The position of the record.
    pub place: Place,
    /// The kind of record.
    pub kind: IgnoredKind,
}

/// The kinds of records without a page.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IgnoredKind {
    /// A request of the crawler.
    Request,
    /// Metadata about another record.
    Metadata,
    /// Metadata about the archive.
    WarcInfo,
    /// A continuation of a segmented record.
    Continuation,
    /// A response that is not a web page, such as a DNS lookup or a certificate.
    NotWeb,
    /// A record type that is not in any version of the standard.
    Other,
    /// An empty line.
    Blank,
}

impl IgnoredKind {
    /// A short name that is stable across versions.
    pub fn name(self) -> &'static str {
        match self {
            IgnoredKind::Request => "request",
            IgnoredKind::Metadata => "metadata",
            IgnoredKind::WarcInfo => "warcinfo",
            IgnoredKind::Continuation => "continuation",
            IgnoredKind::NotWeb => "not-web",
            IgnoredKind::Other => "other",
            IgnoredKind::Blank => "blank",
        }
    }
}

/// A record as stored, returned by a [`Reader`](crate::Reader) and taken by
/// [`decode`](crate::decode).
pub struct Record {
    /// The position of the record.
    pub place: Place,
    /// The URL in the archive or the table.
    pub url: Option<String>,
    /// The IP address that the record was fetched from.
    pub ip: Option<String>,
    /// When the record was fetched, as written in the archive.
    pub fetched: Option<String>,
    pub(crate) input: Arc<str>,
    pub(crate) metadata: RecordMetadata,
    pub(crate) body: RecordBody,
}

/// Metadata of a record.
#[derive(Debug, Default)]
pub(crate) struct RecordMetadata {
    pub(crate) published: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) mime: Option<String>,
    pub(crate) sha1: Option<[u8; 20]>,
    pub(crate) id: Option<String>,
    pub(crate) row: Option<u64>,
}

/// The content of a record.
pub(crate) enum RecordBody {
    /// An HTTP response with its head.
    Http(Vec<u8>),
    /// A page without an HTTP head. Its type is `RecordMetadata::mime`, if known.
    Bytes(Vec<u8>),
    /// HTML from a field of a table.
    Html(String),
    /// Text from a field of a table.
    Text(String),
    /// A JSON object, and the plan for picking its fields.
    Json { line: Vec<u8>, plan: Arc<FieldPlan> },
    /// A page over the size limit.
    TooLarge {
        /// The beginning of the page. For an HTTP response, it contains the head.
        head: Vec<u8>,
        http: bool,
        bytes: u64,
        sha1: [u8; 20],
    },
    /// A revisit record: the page was fetched again and had not changed.
    Revisit {
        /// The block of the record: the HTTP head of the second response, if the archive has it.
        block: Vec<u8>,
        /// Whether the server reported this, rather than the crawler that compared the two.
        not_modified: bool,
        /// The URL of the first response.
        url: Option<String>,
        /// When the first response was fetched, as written in the archive.
        date: Option<String>,
    },
}

impl Record {
    /// The length of the body in bytes. It does not depend on buffer capacities, so batches cut by
    /// it are the same in every run.
    pub fn bytes(&self) -> u64 {
        let bytes = match &self.body {
            RecordBody::Http(bytes)
            | RecordBody::Bytes(bytes)
            | RecordBody::Json { line: bytes, .. } => bytes.len(),
            RecordBody::Html(text) | RecordBody::Text(text) => text.len(),
            RecordBody::TooLarge { head: bytes, .. } | RecordBody::Revisit { block: bytes, .. } => {
                bytes.len()
            }
        };
        bytes as u64
    }

    /// The approximate memory of the record, for limits on the memory in use.
    pub fn memory(&self) -> usize {
        size_of::<Record>()
            + match &self.body {
                RecordBody::Http(bytes) | RecordBody::Bytes(bytes) => bytes.capacity(),
                RecordBody::Json { line, .. } => line.capacity(),
                RecordBody::Html(text) | RecordBody::Text(text) => text.capacity(),
                RecordBody::TooLarge { head: bytes, .. }
                | RecordBody::Revisit { block: bytes, .. } => bytes.capacity(),
            }
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Record")
            .field("place", &self.place)
            .field("url", &self.url)
            .field("memory", &self.memory())
            .finish_non_exhaustive()
    }
}
