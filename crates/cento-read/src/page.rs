//! Pages: the result of decoding records.

use std::fmt;

/// A decoded page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where the page is from: a URL, the path of a file, or else `input#ordinal`.
    pub url: String,
    /// The IP address that the page was fetched from.
    pub ip: Option<String>,
    /// When the page was fetched, as written in the archive.
    pub fetched: Option<String>,
    /// When the page was published, from a field of its table.
    pub published: Option<String>,
    /// The title, from a field of its table.
    pub title: Option<String>,
    /// The language, from a field of its table or a header of its response.
    pub language: Option<String>,
    /// The identifier that its table gives it, as text.
    pub id: Option<String>,
    /// Its row in a table, from 0: the line in JSON Lines, blank lines included, or the row in
    /// Parquet. None for pages that are not from a table.
    pub row: Option<u64>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The media type: as declared, unless the content contradicts it.
    pub mime: Option<String>,
    /// The length of the payload. The payload of an HTTP response is its body with the content
    /// coding, without the transfer coding.
    pub payload_bytes: u64,
    /// The SHA-1 of the payload. It equals the archive's `WARC-Payload-Digest` if that is correct.
    /// The payload of a revisit is not stored again, so its digest is the one in the archive, if
    /// any.
    pub payload_sha1: Option<[u8; 20]>,
    /// For a revisit: the URL of the original page, if the archive has it.
    pub revisit_of_url: Option<String>,
    /// For a revisit: when the original page was fetched, as written in the archive.
    pub revisit_of_date: Option<String>,
    /// The text or markup.
    pub content: Content,
}

/// The content of a page, always UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// HTML or XML source.
    Html(String),
    /// Plain text.
    Text(String),
    /// Nothing, because the page was rejected.
    None,
}

/// The page in a record. Every sound record becomes a page, so that all payloads are counted; a
/// page whose text cannot be used has a reason for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The page.
    pub page: Page,
    /// Why the text of the page cannot be used.
    pub reject: Option<Rejected>,
}

/// Why the text of one page cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The reason, for counting.
    pub reason: Reject,
    /// Details about this page, for users.
    pub detail: String,
}

/// The reasons why the text of a page cannot be used.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reject {
    /// An HTTP response with a status other than 2xx.
    Status,
    /// The record should be an HTTP response but does not begin like one.
    BadHttp,
    /// The head of the response exceeds the limit on bytes or lines.
    HeaderTooLong,
    /// Larger than the limits allow.
    TooLarge,
    /// An image, a program, a font: content without text.
    NotText,
    /// The content coding or the character set cannot be decoded.
    Undecodable,
    /// The page contains only white space.
    Empty,
    /// The page was the same as when it was fetched before, and was not stored again.
    Revisit,
}

impl Reject {
    /// Every reason.
    pub const ALL: [Reject; 8] = [
        Reject::Status,
        Reject::BadHttp,
        Reject::HeaderTooLong,
        Reject::TooLarge,
        Reject::NotText,
        Reject::Undecodable,
        Reject::Empty,
        Reject::Revisit,
    ];

    /// A short name that is stable across versions.
    pub fn name(self) -> &'static str {
        match self {
            Reject::Status => "status",
            Reject::BadHttp => "bad-http",
            Reject::HeaderTooLong => "header-too-long",
            Reject::TooLarge => "too-large",
            Reject::NotText => "not-text",
            Reject::Undecodable => "undecodable",
            Reject::Empty => "empty",
            Reject::Revisit => "revisit",
        }
    }

    /// A description for users.
    pub fn sentence(self) -> &'static str {
        match self {
            Reject::Status => "the server did not respond with success",
            Reject::BadHttp => "the response does not begin with an HTTP status line",
            Reject::HeaderTooLong => "the head of the response exceeds the limits",
            Reject::TooLarge => "the page is larger than the limits allow",
            Reject::NotText => "the content is not text",
            Reject::Undecodable => "the content cannot be decoded",
            Reject::Empty => "the page is empty",
            Reject::Revisit => "the page had not changed and was not stored again",
        }
    }
}

impl fmt::Display for Reject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
