//! What decoding a record gives.

use std::fmt;

/// A page, as it was stored and as it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where it was found: a URL, the path of a file, or, failing both, `input#ordinal`.
    pub url: String,
    /// The address it was fetched from.
    pub ip: Option<String>,
    /// When it was fetched, as the archive writes it.
    pub fetched: Option<String>,
    /// When it was published, as a field of its table says.
    pub published: Option<String>,
    /// Its title, as a field of its table says.
    pub title: Option<String>,
    /// Its language, as a field of its table or a header of its response says.
    pub language: Option<String>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The type of its content: as declared, unless the content shows otherwise.
    pub mime: Option<String>,
    /// How long the payload is: of an HTTP response the body, with its content coding, without its
    /// transfer coding.
    pub payload_bytes: u64,
    /// The SHA-1 of the payload; equals the archive's `WARC-Payload-Digest` where that is right. Of
    /// a revisit, whose payload is not stored again, it is what the archive says, if it says
    /// anything.
    pub payload_sha1: Option<[u8; 20]>,
    /// Of a revisit: the URL of the page that it repeats, as far as the archive says.
    pub revisit_of_url: Option<String>,
    /// Of a revisit: when the page that it repeats was fetched, as the archive writes it.
    pub revisit_of_date: Option<String>,
    /// What it says.
    pub content: Content,
}

/// The content of a page, always UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// HTML or XML source.
    Html(String),
    /// Plain text.
    Text(String),
    /// None: the page is rejected.
    None,
}

/// The page in a record. Every sound record becomes one, so that each payload is accounted for; one
/// whose text is of no use carries the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The page.
    pub page: Page,
    /// Why its text is of no use.
    pub reject: Option<Rejected>,
}

/// Why the text of a page is of no use, and what about this page made it so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The reason, to count by.
    pub reason: Reject,
    /// What it was about just this page, for people.
    pub detail: String,
}

/// The reasons for which the text of a page is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reject {
    /// An HTTP response that is no success, while only successes were asked for.
    Status,
    /// It should be an HTTP response and does not begin like one.
    BadHttp,
    /// The head of its response exceeds the limit on its bytes or on its lines.
    HeaderTooLong,
    /// Larger than the limits allow.
    TooLarge,
    /// An image, a program, a font: nothing to read.
    NotText,
    /// In a coding or a character set that cannot be undone.
    Undecodable,
    /// Nothing but white space.
    Empty,
    /// The same as a page that was fetched before, and not stored again.
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

    /// A short name that stays the same across versions.
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

    /// A sentence for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Reject::Status => "the server did not answer with a success",
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
