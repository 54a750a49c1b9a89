//! What the corpus says about one page.

use cento_find::passages::links_to;
use cento_find::precedence::{Dates, Earlier, earlier, shown_day};
use cento_report::format::shortened;
use cento_scan::analyses::passages::dated_pair;
use cento_store::{Corpus, PageColumns, Projection};
use serde_json::{Value, json};

use crate::error::Refusal;

/// Characters of a heading.
const LONGEST_HEADING: usize = 160;

/// One page, without its text.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageDetails {
    pub(crate) page_id: u64,
    pub(crate) url: String,
    pub(crate) domain: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) dates: Dates,
    pub(crate) status: Option<u16>,
    pub(crate) mime: Option<String>,
    pub(crate) bytes: u64,
    pub(crate) words: u32,
    pub(crate) chunks: u32,
    pub(crate) source: String,
    pub(crate) reject: Option<String>,
    link_domains: Vec<String>,
    link_hashes: Vec<u64>,
}

impl PageDetails {
    /// Reads a page.
    pub(crate) fn of(corpus: &Corpus, page_id: u64) -> Result<PageDetails, Refusal> {
        let missing = || Refusal::missing(format!("The corpus has no page {page_id}."));
        let batch = corpus.page(page_id)?.ok_or_else(missing)?;
        let columns = PageColumns::from_batch(&batch).ok_or_else(missing)?;
        let row = columns.row(0);
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Ok(PageDetails {
            page_id,
            url: row.url.to_owned(),
            domain: owned(row.domain),
            title: owned(row.title),
            language: owned(row.language),
            dates: Dates {
                published: row.published_at,
                fetched: row.fetched_at,
            },
            status: row.status,
            mime: owned(row.mime),
            bytes: row.bytes,
            words: row.words,
            chunks: row.chunks,
            source: row.source.to_owned(),
            reject: owned(row.reject),
            link_domains: row.link_domains.map(str::to_owned).collect(),
            link_hashes: row.link_hashes.to_vec(),
        })
    }

    /// The title, else the address; not more than fits a heading.
    pub(crate) fn heading(&self) -> String {
        let title = self
            .title
            .as_deref()
            .filter(|title| !title.trim().is_empty());
        shortened(title.unwrap_or(&self.url), LONGEST_HEADING)
    }

    /// The date by which pages are ordered, in words: `published 2024-05-31`.
    pub(crate) fn dated(&self) -> Option<String> {
        let (millis, by) = self.dates.decisive()?;
        let date = cento_text::date::render(millis);
        Some(format!("{} {}", by.name(), shown_day(&date, by.name())))
    }

    /// Whether the page links to another page or to its domain. None if both are on one domain.
    fn links_to(&self, other: &PageDetails) -> Option<bool> {
        if self.domain.is_some() && self.domain == other.domain {
            return None;
        }
        let domain = other.domain.as_ref();
        let to_domain = domain.is_some_and(|domain| self.link_domains.contains(domain));
        Some(to_domain || links_to(&self.link_hashes, &other.url))
    }

    /// Says which of two pages is earlier and by which dates, and whether one links to the other.
    pub(crate) fn relation(&self, other: &PageDetails) -> String {
        let earlier = match earlier(self.dates, other.dates) {
            Earlier::First => "a",
            Earlier::Second => "b",
            Earlier::Same => "same",
            Earlier::Unknown => "unknown",
        };
        let parts = |page: &PageDetails| {
            let decisive = page.dates.decisive();
            (
                decisive.map(|(millis, _)| cento_text::date::render(millis)),
                decisive.map(|(_, by)| by.name().to_owned()),
            )
        };
        let (one, two) = (parts(self), parts(other));
        let dates = [(&one.0, &one.1), (&two.0, &two.1)];
        let mut text = dated_pair(earlier, dates, self.links_to(other));
        if other.links_to(self) == Some(true) {
            text.push_str(" The second links to the first or to its domain.");
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let date = |millis: Option<i64>| millis.map(cento_text::date::render);
        json!({
            "page_id": self.page_id,
            "url": self.url,
            "domain": self.domain,
            "title": self.title,
            "language": self.language,
            "published_at": date(self.dates.published),
            "fetched_at": date(self.dates.fetched),
            "status": self.status,
            "mime": self.mime,
            "bytes": self.bytes,
            "words": self.words,
            "chunks": self.chunks,
            "source": self.source,
            "reject": self.reject,
        })
    }
}
