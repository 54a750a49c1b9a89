//! Which pages are of one domain: a number for each page, that of the first page of its domain.
//!
//! ```text
//!   pages ─ homes ─▶ by domain ─ alike ─▶ domains (a number a page), sites (how many there are)
//! ```

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use cento_flow::{Flow, Registry, Row, Stage, StageError};
use serde_json::json;

use crate::corpus_pages::CorpusPages;
use crate::numbers::Numbers;
use crate::tally::Tally;

/// The state of numbers.
pub(crate) const DOMAINS: &str = "domains";
/// The state that tells how many domains there are.
pub(crate) const SITES: &str = "sites counted";
const MEETING: &str = "by domain";

/// A page by the identity of its domain.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Home {
    hash: [u64; 2],
    page: u32,
    unused: u32,
}

impl Row for Home {
    type Key = u128;
    type Rest = u32;

    fn key(&self) -> u128 {
        u128::from(self.hash[0]) << 64 | u128::from(self.hash[1])
    }

    fn rest(&self) -> u32 {
        self.page
    }
}

/// 128 bits of a name, as two numbers. Whoever chooses names must not be able to make two of them
/// one.
pub(crate) fn name_hash(name: &str) -> [u64; 2] {
    let hash = blake3::hash(name.as_bytes());
    let hash = u128::from_be_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default());
    [(hash >> 64) as u64, hash as u64]
}

/// Adds the stages to a flow.
pub(crate) fn with_domains(flow: Flow, source: &CorpusPages) -> Flow {
    flow.shuffle(MEETING)
        .state(DOMAINS, "numbers", json!({ "pages": source.all() }))
        .state(SITES, "tally", json!(null))
        .stage(Stage::map("homes", source.page_tasks()).writes(MEETING))
        .stage(
            Stage::reduce("alike", MEETING)
                .writes(DOMAINS)
                .writes(SITES),
        )
}

/// Registers what the stages name.
pub(crate) fn register(registry: &mut Registry, source: &Arc<CorpusPages>) {
    registry.state::<Numbers>("numbers");
    registry.state::<Tally>("tally");
    let pages = Arc::clone(source);
    registry.map("homes", move |context| {
        let mut meeting = context.shuffle::<Home>(MEETING)?;
        pages.for_each_page(context.task()?, |facts| {
            if let Some(name) = facts.domain.or(facts.host) {
                meeting.push(Home {
                    hash: name_hash(name),
                    page: facts.number,
                    unused: 0,
                })?;
            }
            Ok::<_, StageError>(())
        })
    });
    registry.reduce::<Home, _>("alike", |context, groups| {
        let numbers = context.state::<Numbers>(DOMAINS)?;
        let sites = context.state::<Tally>(SITES)?;
        let mut count = 0;
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next() else {
                continue;
            };
            count += 1;
            numbers.set(first.page, first.page);
            group.for_each(|home| numbers.set(home.page, first.page));
        }
        sites.note(context.task_number(), 0, [count, 0, 0, 0]);
        Ok(())
    });
}
