//! What a corpus says about one page.

use cento_store::{Corpus, PageColumns, Projection};

use crate::error::{Error, Result};
use crate::passages::links_to;
use crate::precedence::Dates;

/// One page, without its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageDetails {
    /// Its id.
    pub page_id: u64,
    /// Its URL.
    pub url: String,
    /// The host of the URL.
    pub host: Option<String>,
    /// The registered domain of the host.
    pub domain: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// When it was published and fetched.
    pub dates: Dates,
    /// The bytes of its payload.
    pub bytes: u64,
    /// The SHA-1 of its payload, as `WARC-Payload-Digest` has it.
    pub payload_sha1: Option<[u8; 20]>,
    /// The name of its input.
    pub source: String,
    /// Whether it was read as markup, so that its links are known.
    has_markup: bool,
    link_domains: Vec<String>,
    link_hashes: Vec<u64>,
}

/// What a page links to, of another page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkTo {
    /// The page itself.
    Page,
    /// A page of its domain.
    Domain,
    /// Neither.
    Nothing,
    /// Only the text of the page was read, as of a WET record or of a table with texts.
    Unknown,
    /// Both pages are on one domain, where links say nothing.
    SameDomain,
    /// The other page has no web address, so that nobody can link to it.
    NoAddress,
}

impl LinkTo {
    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            LinkTo::Page => "page",
            LinkTo::Domain => "domain",
            LinkTo::Nothing => "none",
            LinkTo::Unknown => "unknown",
            LinkTo::SameDomain => "same-domain",
            LinkTo::NoAddress => "no-address",
        }
    }
}

impl PageDetails {
    /// Reads a page; `None` if the corpus does not have it.
    pub fn of(corpus: &Corpus, page_id: u64) -> Result<Option<PageDetails>> {
        let Some(batch) = corpus.page(page_id).map_err(Error::from)? else {
            return Ok(None);
        };
        let Some(columns) = PageColumns::from_batch(&batch) else {
            return Ok(None);
        };
        let row = columns.row(0);
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Ok(Some(PageDetails {
            page_id,
            url: row.url.to_owned(),
            host: owned(row.host),
            domain: owned(row.domain),
            title: owned(row.title).filter(|title| !title.trim().is_empty()),
            dates: Dates {
                published: row.published_at,
                fetched: row.fetched_at,
            },
            bytes: row.bytes,
            payload_sha1: row.payload_sha1,
            source: row.source.to_owned(),
            has_markup: row.mime.is_some_and(is_markup),
            link_domains: row.link_domains.map(str::to_owned).collect(),
            link_hashes: row.link_hashes.to_vec(),
        }))
    }

    /// Returns what the page links to, of another page.
    pub fn links_to(&self, other: &PageDetails) -> LinkTo {
        if other.host.is_none() {
            return LinkTo::NoAddress;
        }
        if links_to(&self.link_hashes, &other.url) {
            return LinkTo::Page;
        }
        match &other.domain {
            domain @ Some(_) if *domain == self.domain => LinkTo::SameDomain,
            Some(domain) if self.link_domains.contains(domain) => LinkTo::Domain,
            _ if !self.has_markup && self.link_hashes.is_empty() => LinkTo::Unknown,
            _ => LinkTo::Nothing,
        }
    }
}

/// Whether links are read in pages of a media type.
fn is_markup(mime: &str) -> bool {
    mime.contains("htm") || mime.contains("xml") || mime == "application/x-httpd-php"
}
