//! The pages of a corpus, with the columns that a check needs.

use std::collections::HashMap;

use cento_store::{Corpus, Projection, pages, projection};
use cento_text::date;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::truth::TruthRecord;
use crate::truth_writer::hex;

/// One page of a corpus.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexedPage {
    pub(crate) page_id: u64,
    pub(crate) sha1: [u8; 20],
    pub(crate) text: [u8; 16],
    pub(crate) fetched: Option<i64>,
    published: Option<i64>,
    /// Hashes of network address, language and the URL that is revisited: they are only compared
    /// for equality.
    ip: u64,
    language: u64,
    revisit_of: u64,
    revisit_date: Option<i64>,
    /// The hash of the reason, if it was rejected.
    pub(crate) reject: Option<u64>,
}

/// All pages of a corpus.
pub(crate) struct IndexedPages {
    /// Pages by the hash of their URL, without revisits.
    pages: HashMap<u64, IndexedPage>,
    revisits: HashMap<(u64, Option<i64>), IndexedPage>,
    hosts: HashMap<u64, u64>,
    /// The number of pages that no record has named yet.
    unnamed: u64,
}

projection! {
    /// What a check reads of a page.
    struct IndexedPageColumns of pages {
        page_id, url, host, ip, fetched_at, published_at, language, payload_sha1, revisit_of_url,
        revisit_of_date, text_hash, reject,
    }
}

type PageAgreement = std::result::Result<(), String>;

impl IndexedPages {
    pub(crate) fn read(corpus: &Corpus) -> Result<IndexedPages> {
        let mut facts = IndexedPages {
            pages: HashMap::new(),
            revisits: HashMap::new(),
            hosts: HashMap::new(),
            unnamed: 0,
        };
        for batch in corpus.scan::<IndexedPageColumns>() {
            facts.add(&batch?);
        }
        Ok(facts)
    }

    fn add(&mut self, batch: &IndexedPageColumns) {
        let hash = |text: Option<&str>| text.map_or(0, |text| xxh3_64(text.as_bytes()));
        for row in 0..batch.rows() {
            let reject = batch.reject.value(row);
            let fact = IndexedPage {
                page_id: batch.page_id.value(row),
                sha1: batch.payload_sha1.value(row).unwrap_or_default(),
                text: batch.text_hash.value(row).unwrap_or_default(),
                fetched: batch.fetched_at.value(row),
                published: batch.published_at.value(row),
                ip: hash(batch.ip.value(row)),
                language: hash(batch.language.value(row)),
                revisit_of: hash(batch.revisit_of_url.value(row)),
                revisit_date: batch.revisit_of_date.value(row),
                reject: reject.map(|reason| xxh3_64(reason.as_bytes())),
            };
            if let Some(host) = batch.host.value(row) {
                *self.hosts.entry(xxh3_64(host.as_bytes())).or_insert(0) += 1;
            }
            let url = xxh3_64(batch.url.value(row).as_bytes());
            if fact.reject == Some(xxh3_64(b"revisit")) {
                self.revisits.insert((url, fact.fetched), fact);
            } else {
                self.pages.insert(url, fact);
            }
            // Of two pages with one URL only one is found; the other is reported as unnamed.
            self.unnamed += 1;
        }
    }

    pub(crate) fn kept(&self, url: &str) -> Option<IndexedPage> {
        self.pages.get(&xxh3_64(url.as_bytes())).copied()
    }

    /// The number of pages of a host, rejected or not.
    pub(crate) fn pages_of(&self, host: &str) -> u64 {
        self.hosts
            .get(&xxh3_64(host.as_bytes()))
            .copied()
            .unwrap_or_default()
    }

    /// The number of pages that no record has named.
    pub(crate) fn unlisted(&self) -> u64 {
        self.unnamed
    }

    pub(crate) fn page(&mut self, record: &TruthRecord) -> PageAgreement {
        let TruthRecord::Page {
            url,
            fetched,
            published,
            ip,
            language,
            declared,
            payload_sha1,
            reject,
            kind,
            ..
        } = record
        else {
            return Ok(());
        };
        let key = xxh3_64(url.as_bytes());
        let when = date::parse(fetched);
        let found = if reject.as_deref() == Some("revisit") {
            self.revisits.get(&(key, when))
        } else {
            self.pages.get(&key)
        };
        let Some(fact) = found else {
            return Err(format!("{url} is not in the corpus"));
        };
        self.unnamed = self.unnamed.saturating_sub(1);
        let reason = reject.as_ref().map(|reason| xxh3_64(reason.as_bytes()));
        let wrong = |what: &str| Err(format!("{url}: {what} is not what the truth says"));
        if fact.reject != reason {
            return wrong("the reason for its rejection");
        }
        if fact.fetched != when {
            return wrong("the date it was fetched");
        }
        if fact.ip != xxh3_64(ip.as_bytes()) {
            return wrong("its network address");
        }
        // The payload of a body that cannot be decoded is unknown.
        if *kind != crate::settings::PageKind::Damaged && hex(&fact.sha1) != *payload_sha1 {
            return wrong("its payload");
        }
        if reason.is_some() {
            return Ok(());
        }
        if fact.published != published.as_deref().and_then(date::parse_published) {
            return wrong("its date of publication");
        }
        if *declared && fact.language != xxh3_64(language.as_bytes()) {
            return wrong("its language");
        }
        Ok(())
    }

    pub(crate) fn revisit(&self, record: &TruthRecord) -> PageAgreement {
        let TruthRecord::Revisit {
            url,
            fetched,
            of,
            of_fetched,
        } = record
        else {
            return Ok(());
        };
        let key = (xxh3_64(url.as_bytes()), date::parse(fetched));
        let Some(fact) = self.revisits.get(&key) else {
            return Err(format!("{url} at {fetched} is not in the corpus"));
        };
        let Some(page) = self.kept(of) else {
            return Err(format!("{of} is not in the corpus"));
        };
        if fact.revisit_of != xxh3_64(of.as_bytes())
            || fact.revisit_date != date::parse(of_fetched)
            || fact.sha1 != page.sha1
        {
            return Err(format!("{url} at {fetched} does not repeat {of}"));
        }
        Ok(())
    }

    /// Checks a damaged record: it has no page, or one that was rejected for this reason.
    pub(crate) fn damaged(&self, url: &str, reject: Option<&str>) -> PageAgreement {
        match (self.kept(url), reject) {
            (None, None) => Ok(()),
            (Some(fact), Some(reason)) if fact.reject == Some(xxh3_64(reason.as_bytes())) => Ok(()),
            (Some(_), None) => Err(format!(
                "{url} is in the corpus although its record is damaged"
            )),
            (found, Some(reason)) => {
                let found = if found.is_some() { "is" } else { "is not" };
                Err(format!(
                    "{url} {found} in the corpus and should be rejected as {reason}"
                ))
            }
        }
    }
}
