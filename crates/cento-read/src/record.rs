//! What a reader yields: records not yet decoded, and word of those that are none.

use std::fmt;
use std::sync::Arc;

use crate::Cause;
use crate::json::Plan;

/// Where to begin reading an input: at its start (the default), or after a record that an earlier
/// run has dealt with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The ordinal of the first record to deliver.
    pub ordinal: u32,
    /// The place in the input, as stored, at which reading can begin. 0 where only reading from the
    /// front will do.
    pub offset: u64,
    /// How many records from `offset` on are to be passed over before that first one.
    pub skip: u32,
}

/// Where in its input a record lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Counts every physical record of the input, of whatever kind, damaged or not, from 0.
    pub ordinal: u32,
    /// The first byte in the input as stored: of the record itself, or of the compressed member
    /// that holds it. In a Parquet table, the row.
    pub offset: u64,
    /// How many bytes from there on hold the record: for a compressed member, its compressed
    /// length. 0 where the format cannot say (a table; a member with several records).
    pub length: u64,
    /// Where to resume after it.
    pub next: Start,
}

/// What a reader found next.
#[expect(
    clippy::large_enum_variant,
    reason = "records are nearly all there is, and one is handed on as soon as it is read"
)]
#[derive(Debug)]
pub enum Item {
    /// A record that may hold a page: [`decode`](crate::decode) it.
    Record(Record),
    /// A damaged record, or a damaged stretch of the input.
    Skipped(Skipped),
    /// A sound record that holds no page.
    Ignored(Ignored),
}

impl Item {
    /// Where it lies.
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

/// A damaged record, with what is wrong about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Where it lies.
    pub place: Place,
    /// The kind of damage, to count by.
    pub cause: Cause,
    /// What is wrong with just this one, for people.
    pub detail: String,
}

/// A sound record that holds no page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Where it lies.
    pub place: Place,
    /// What it is.
    pub kind: IgnoredKind,
}

/// The kinds of records that hold no page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IgnoredKind {
    /// What the crawler asked.
    Request,
    /// What is told about another record.
    Metadata,
    /// What is told about the archive.
    WarcInfo,
    /// A page stored in pieces.
    Continuation,
    /// A response that is no web page: a name looked up, a certificate.
    NotWeb,
    /// A type that no version of the standard knows.
    Other,
    /// An empty line.
    Blank,
}

impl IgnoredKind {
    /// A short name that stays the same across versions.
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

/// One record as it was stored, on its way from a [`Reader`](crate::Reader) to
/// [`decode`](crate::decode).
pub struct Record {
    /// Where it lies.
    pub place: Place,
    /// The URL that the archive or the table gives it.
    pub url: Option<String>,
    /// The address it was fetched from.
    pub ip: Option<String>,
    /// When it was fetched, as the archive writes it.
    pub fetched: Option<String>,
    pub(crate) input: Arc<str>,
    pub(crate) told: Told,
    pub(crate) body: Body,
}

/// What is told about a record beside its body.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) published: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) mime: Option<String>,
    pub(crate) sha1: Option<[u8; 20]>,
}

/// The bytes of a record, and what they are.
pub(crate) enum Body {
    /// An HTTP response with its head.
    Http(Vec<u8>),
    /// A page without any head; its type is `Told::mime`, if known.
    Bytes(Vec<u8>),
    /// A field of a table.
    Html(String),
    /// A field of a table.
    Text(String),
    /// A JSON object, and which of its fields hold what.
    Json { line: Vec<u8>, plan: Arc<Plan> },
    /// A page too large to hold.
    TooLarge {
        /// Its beginning: for an HTTP response, enough to hold the head.
        head: Vec<u8>,
        http: bool,
        bytes: u64,
        sha1: [u8; 20],
    },
    /// Word that a page was fetched again and was the same as before.
    Revisit {
        /// The HTTP head of the second response, if the archive kept it. Nothing else is of
        /// interest.
        block: Vec<u8>,
        /// Whether the server said so, rather than the crawler which compared the two.
        not_modified: bool,
        /// The URL of the first response.
        url: Option<String>,
        /// When that was fetched, as the archive writes it.
        date: Option<String>,
    },
}

impl Record {
    /// How long the body is: the same whatever buffer it came in, so that what is cut by it is cut
    /// at the same places in every run.
    pub fn bytes(&self) -> u64 {
        let bytes = match &self.body {
            Body::Http(bytes) | Body::Bytes(bytes) | Body::Json { line: bytes, .. } => bytes.len(),
            Body::Html(text) | Body::Text(text) => text.len(),
            Body::TooLarge { head: bytes, .. } | Body::Revisit { block: bytes, .. } => bytes.len(),
        };
        bytes as u64
    }

    /// How much memory the record holds, near enough to bound what is under way at one time.
    pub fn memory(&self) -> usize {
        size_of::<Record>()
            + match &self.body {
                Body::Http(bytes) | Body::Bytes(bytes) => bytes.capacity(),
                Body::Json { line, .. } => line.capacity(),
                Body::Html(text) | Body::Text(text) => text.capacity(),
                Body::TooLarge { head: bytes, .. } | Body::Revisit { block: bytes, .. } => {
                    bytes.capacity()
                }
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
