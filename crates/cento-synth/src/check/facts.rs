//! What a corpus says about its pages, as little as a check needs.

use std::collections::HashMap;

use cento_store::{Corpus, Projection, pages, projection};
use cento_text::date;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::tell::hex;
use crate::truth::Record;

/// One page of a corpus.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fact {
    pub(crate) page_id: u64,
    pub(crate) sha1: [u8; 20],
    pub(crate) text: [u8; 16],
    pub(crate) fetched: Option<i64>,
    published: Option<i64>,
    /// Hashes of address, language and what it is a revisit of: only equality is asked for.
    ip: u64,
    language: u64,
    revisit_of: u64,
    revisit_date: Option<i64>,
    /// The hash of the reason, if it was rejected.
    pub(crate) reject: Option<u64>,
}

/// All pages of a corpus.
pub(crate) struct Facts {
    /// By hash of the URL; revisits apart.
    pages: HashMap<u64, Fact>,
    revisits: HashMap<(u64, Option<i64>), Fact>,
    hosts: HashMap<u64, u64>,
    /// Pages that no record has named yet.
    unnamed: u64,
}

projection! {
    /// What a check reads of a page.
    struct FactColumns of pages {
        page_id, url, host, ip, fetched_at, published_at, language, payload_sha1, revisit_of_url,
        revisit_of_date, text_hash, reject,
    }
}

type Outcome = std::result::Result<(), String>;

impl Facts {
    pub(crate) fn read(corpus: &Corpus) -> Result<Facts> {
        let mut facts = Facts {
            pages: HashMap::new(),
            revisits: HashMap::new(),
            hosts: HashMap::new(),
            unnamed: 0,
        };
        for batch in corpus.scan::<FactColumns>() {
            facts.add(&batch?);
        }
        Ok(facts)
    }

    fn add(&mut self, batch: &FactColumns) {
        let hash = |text: Option<&str>| text.map_or(0, |text| xxh3_64(text.as_bytes()));
        for row in 0..batch.rows() {
            let reject = batch.reject.value(row);
            let fact = Fact {
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
            // Of two pages under one address only one is found: the other stays unnamed, and that
            // is told.
            self.unnamed += 1;
        }
    }

    pub(crate) fn kept(&self, url: &str) -> Option<Fact> {
        self.pages.get(&xxh3_64(url.as_bytes())).copied()
    }

    /// How many pages a host has, rejected ones too.
    pub(crate) fn pages_of(&self, host: &str) -> u64 {
        self.hosts
            .get(&xxh3_64(host.as_bytes()))
            .copied()
            .unwrap_or_default()
    }

    /// How many pages no record has named.
    pub(crate) fn strangers(&self) -> u64 {
        self.unnamed
    }

    pub(crate) fn page(&mut self, record: &Record) -> Outcome {
        let Record::Page {
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
        let wrong = |what: &str| Err(format!("{url}: {what} is not what truth says"));
        if fact.reject != reason {
            return wrong("the reason of its rejection");
        }
        if fact.fetched != when {
            return wrong("the time of its fetching");
        }
        if fact.ip != xxh3_64(ip.as_bytes()) {
            return wrong("its address");
        }
        // What is in a body that does not decode nobody knows.
        if *kind != crate::settings::Kind::Damaged && hex(&fact.sha1) != *payload_sha1 {
            return wrong("its payload");
        }
        if reason.is_some() {
            return Ok(());
        }
        if fact.published != published.as_deref().and_then(date::parse) {
            return wrong("the time of its publication");
        }
        if *declared && fact.language != xxh3_64(language.as_bytes()) {
            return wrong("its language");
        }
        Ok(())
    }

    pub(crate) fn revisit(&self, record: &Record) -> Outcome {
        let Record::Revisit {
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

    /// A damaged record: no page, or one that was rejected for this reason.
    pub(crate) fn damaged(&self, url: &str, reject: Option<&str>) -> Outcome {
        match (self.kept(url), reject) {
            (None, None) => Ok(()),
            (Some(fact), Some(reason)) if fact.reject == Some(xxh3_64(reason.as_bytes())) => Ok(()),
            (Some(_), None) => Err(format!(
                "{url} is in the corpus although its record is damaged"
            )),
            (found, Some(reason)) => {
                let found = if found.is_some() { "is" } else { "is not" };
                Err(format!(
                    "{url} {found} in the corpus, and should be rejected as {reason}"
                ))
            }
        }
    }
}
