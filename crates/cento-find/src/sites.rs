//! Numbers domains: each page with text gets the number of the first such page of its domain.
//!
//! ```text
//!   pages ─ page domains ─▶ by domain ─ number domains ─▶ domains, sites counted
//! ```

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_flow::{Flow, Registry, Row, Stage, StageError};
use serde_json::json;

use crate::corpus_pages::CorpusPages;
use crate::numbers::Numbers;
use crate::tally::TaskTally;

/// The state with the number of the first page of each page's domain.
pub(crate) const DOMAINS: &str = "domains";
/// The state with the number of domains.
pub(crate) const SITES: &str = "sites counted";
const BY_DOMAIN: &str = "by domain";
const PAGE_DOMAINS: &str = "page domains";
const NUMBER_DOMAINS: &str = "number domains";

/// A page with the hash of its domain.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PageDomain {
    hash: [u64; 2],
    page: u32,
    unused: u32,
}

impl Row for PageDomain {
    type Key = u128;
    type Rest = u32;

    fn key(&self) -> u128 {
        u128::from(self.hash[0]) << 64 | u128::from(self.hash[1])
    }

    fn rest(&self) -> u32 {
        self.page
    }
}

/// Returns a 128-bit hash of a name as two numbers. It is cryptographic, because the owner of a
/// domain must not be able to construct collisions.
pub(crate) fn name_hash(name: &str) -> [u64; 2] {
    let hash = blake3::hash(name.as_bytes());
    let hash = u128::from_be_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default());
    [(hash >> 64) as u64, hash as u64]
}

/// Adds the stages that number domains.
pub(crate) fn with_domains(flow: Flow, source: &CorpusPages) -> Flow {
    flow.shuffle(BY_DOMAIN)
        .state(DOMAINS, Numbers::KIND, json!({ "pages": source.all() }))
        .state(SITES, TaskTally::KIND, json!(null))
        .stage(Stage::map(PAGE_DOMAINS, source.page_tasks()).writes(BY_DOMAIN))
        .stage(
            Stage::reduce(NUMBER_DOMAINS, BY_DOMAIN)
                .writes(DOMAINS)
                .writes(SITES),
        )
}

/// Registers the stages of [`with_domains`].
pub(crate) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    registry.state::<Numbers>(Numbers::KIND);
    registry.state::<TaskTally>(TaskTally::KIND);
    let pages = Arc::clone(source);
    registry.map(PAGE_DOMAINS, move |context| {
        let mut by_domain = context.shuffle::<PageDomain>(BY_DOMAIN)?;
        pages.for_each_page(context.task()?, |facts| {
            // A rejected page has no text, so its domain is not one that could have a label.
            let name = facts.domain.or(facts.host);
            if let Some(name) = name.filter(|_| facts.reject.is_none()) {
                by_domain.push(PageDomain {
                    hash: name_hash(name),
                    page: facts.number,
                    unused: 0,
                })?;
            }
            Ok::<_, StageError>(())
        })
    });
    registry.reduce::<PageDomain, _>(NUMBER_DOMAINS, |context, groups| {
        let numbers = context.state::<Numbers>(DOMAINS)?;
        let sites = context.state::<TaskTally>(SITES)?;
        let mut count = 0;
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next() else {
                continue;
            };
            count += 1;
            numbers.set(first.page, first.page);
            group.for_each(|row| numbers.set(row.page, first.page));
        }
        sites.note(context.task_number(), 0, [count, 0, 0, 0]);
        Ok(())
    });
}
