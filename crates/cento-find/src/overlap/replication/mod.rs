//! How often pages are replicated, and what a crawler would save: Figure 1, Table 2 and the savings
//! of the paper.
//!
//! Three notions of a replica, each wider than the one before: the same text, 15 chunks of four
//! lines in common, 25 of two lines. A page is its own first replica. A crawler that knows them
//! visits the earlier page first ([`crate::precedence`]), and skips each that is a replica of one
//! it has visited; what it skips is what it saves. A *collection* is what the same servers hold
//! replicas of (`collections`).
//!
//! All chunks count, however many pages have them, and no pair of pages is listed that need not be
//! (`stages`, `resolve`). Some [`PAGE_BYTES`] are held for each page.

mod collections;
mod resolve;
mod stages;

use std::sync::Arc;

use cento_flow::{Flow, Registry, Stage, StageError, table_row};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::order::Order;
use super::params::Params;
use super::{plan, temp};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::run::{Findings, Workplace};
use resolve::Notion;

/// The name of the analysis.
pub const REPLICATION: &str = "replication";
/// The tables.
pub const REPLICAS: &str = "replicas";
/// What a crawler would save.
pub const SAVINGS: &str = "savings";
/// The most replicated collections.
pub const COLLECTIONS: &str = "collections";
/// The name of what is found on the way for each notion.
const GROUPS: &str = "replication-groups";
/// Bytes of memory that the analysis needs for each page.
pub const PAGE_BYTES: u64 = 32;
/// How the paper's bars are cut: pages with at least so many replicas.
const BARS: [u32; 6] = [1, 2, 3, 10, 100, 1000];

table_row! {
    /// How many pages have so many replicas.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct ReplicasRow {
        /// The notion of a replica: `exact`, `lines:4` or `lines:2`.
        pub notion: String,
        /// At least so many, the page itself among them.
        pub from: u32,
        /// At most so many; none for the last bar.
        pub to: Option<u32>,
        /// Pages.
        pub pages: u64,
        /// Of all pages.
        pub share: f64,
    }
}

table_row! {
    /// What a crawler would save that leaves out replicas.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct SavingsRow {
        /// The notion of a replica.
        pub notion: String,
        /// Pages in all.
        pub pages: u64,
        /// Pages that need not be visited.
        pub saved_pages: u64,
        /// Of all pages.
        pub share: f64,
        /// Bytes of all pages.
        pub bytes: u64,
        /// Bytes of the pages that need not be visited.
        pub saved_bytes: u64,
        /// Of all bytes.
        pub share_of_bytes: f64,
    }
}

table_row! {
    /// A collection that several servers have.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct CollectionRow {
        /// Servers that have some of it.
        pub servers: u32,
        /// Its pages, those that are replicas of each other counted once.
        pub pages: u32,
        /// Replicas of them, these not counted.
        pub replicas: u32,
        /// Its folder on the server that has most of it.
        pub collection: String,
        /// One of its pages there.
        pub page: String,
    }
}

/// What was found, in few words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplicationSummary {
    /// Figure 1.
    pub replicas: Vec<ReplicasRow>,
    /// Savings.
    pub savings: Vec<SavingsRow>,
    /// How many collections are on several servers.
    pub collections: u64,
    /// Pages that have very common chunks in so many combinations that they were not compared with
    /// all others: their replicas, and what would be saved, are lower bounds. Of the notion that
    /// has most of them.
    pub beyond: u64,
}

/// Finds how often the pages of a corpus are replicated.
pub fn replication(source: &Arc<CorpusPages>, workplace: &Workplace) -> Result<Findings> {
    let notions = [
        Params::new("lines:4".parse().unwrap_or_default()),
        Params::new("lines:2".parse().unwrap_or_default()),
    ];
    let summary = std::sync::Mutex::new(ReplicationSummary::default());
    workplace.run(
        REPLICATION,
        &notions,
        source,
        || {
            check_memory(source, workplace.memory)?;
            let order = Arc::new(Order::of(source)?);
            let (found, widest) = find(source, &notions, stages::HOT, &order, workplace)?;
            if let Ok(mut summary) = summary.lock() {
                summary.clone_from(&found);
            }
            let mut registry = Registry::new();
            let flow = flow(source, &found);
            register(&mut registry, found);
            collections::register(&mut registry, source, &order, widest);
            Ok((registry, flow))
        },
        |_, report| {
            let mut found = summary
                .lock()
                .map_or_else(|_| Default::default(), |found| found.clone());
            found.collections = report.rows(COLLECTIONS);
            Ok(json!(found))
        },
    )
}

/// Says what is missing before anything is read.
fn check_memory(source: &CorpusPages, memory: u64) -> Result<()> {
    let needed = u64::from(source.kept()) * PAGE_BYTES;
    if needed <= memory {
        return Ok(());
    }
    Err(Error::Flow(cento_flow::Error::TooLittleMemory {
        limit: memory,
        needed,
        reason: format!(
            " for {} pages: replication holds {PAGE_BYTES} bytes for each",
            source.kept()
        ),
    }))
}

/// The summary without collections, and the widest notion.
fn find(
    source: &Arc<CorpusPages>,
    notions: &[Params],
    hot: u32,
    order: &Arc<Order>,
    workplace: &Workplace,
) -> Result<(ReplicationSummary, Notion)> {
    let mut summary = ReplicationSummary::default();
    let mut widest = Notion::default();
    let mut firsts = None;
    for params in notions {
        let findings = groups(source, params, hot, order, workplace)?;
        let known = match firsts.take() {
            Some(known) => known,
            None => {
                let known = resolve::first_of_text(&findings, source.kept())?;
                summary.add(&resolve::exact(&known), source, order)?;
                known
            }
        };
        drop(std::mem::take(&mut widest));
        let name = params.chunk.to_string();
        widest = resolve::near(&name, &findings, &known, params.threshold)?;
        summary.add(&widest, source, order)?;
        firsts = Some(known);
    }
    Ok((summary, widest))
}

/// What the resolving of one notion needs.
fn groups(
    source: &Arc<CorpusPages>,
    params: &Params,
    hot: u32,
    order: &Arc<Order>,
    workplace: &Workplace,
) -> Result<Findings> {
    let workplace = Workplace {
        memory: workplace.memory - order.bytes().min(workplace.memory / 2),
        ..workplace.clone()
    };
    workplace.run(
        GROUPS,
        &(params, hot),
        source,
        || {
            let mut registry = Registry::new();
            stages::register(&mut registry, source, params, order, &temp(&workplace)?);
            let mut plan = plan(source, params, &workplace);
            plan.max_pages = hot;
            Ok((registry, stages::flow(source, params, plan)?))
        },
        |_, report| Ok(json!({ "hot_chunks": report.counted("hot chunks") })),
    )
}

impl ReplicationSummary {
    fn add(&mut self, notion: &Notion, source: &CorpusPages, order: &Order) -> Result<()> {
        self.replicas.extend(bars(notion));
        self.savings.push(savings(notion, source, order)?);
        self.beyond = self.beyond.max(notion.beyond);
        Ok(())
    }
}

fn savings(notion: &Notion, source: &CorpusPages, order: &Order) -> Result<SavingsRow> {
    let (mut saved_pages, mut bytes, mut saved_bytes) = (0, 0, 0);
    for task in 0..source.page_tasks().len() {
        source.for_each_page::<Error>(task, |facts| {
            if facts.reject.is_none() {
                let rank = order.rank(facts.number);
                bytes += facts.bytes;
                if notion.visited(rank) != rank {
                    saved_pages += 1;
                    saved_bytes += facts.bytes;
                }
            }
            Ok(())
        })?;
    }
    let pages = u64::from(notion.pages());
    Ok(SavingsRow {
        notion: notion.name.clone(),
        pages,
        saved_pages,
        share: saved_pages as f64 / pages.max(1) as f64,
        bytes,
        saved_bytes,
        share_of_bytes: saved_bytes as f64 / bytes.max(1) as f64,
    })
}

fn bars(notion: &Notion) -> Vec<ReplicasRow> {
    let mut counts = [0u64; BARS.len()];
    for page in 0..notion.pages() {
        let replicas = notion.replicas(page);
        let bar = BARS.partition_point(|&from| from <= replicas);
        if let Some(count) = counts.get_mut(bar.saturating_sub(1)) {
            *count += 1;
        }
    }
    let bars = BARS.iter().zip(counts).enumerate();
    bars.map(|(at, (&from, pages))| ReplicasRow {
        notion: notion.name.clone(),
        from,
        to: BARS.get(at + 1).map(|next| next - 1),
        pages,
        share: pages as f64 / f64::from(notion.pages().max(1)),
    })
    .collect()
}

fn register(registry: &mut Registry, summary: ReplicationSummary) {
    registry.map("write", move |context| {
        let mut table = context.table::<ReplicasRow>(REPLICAS)?;
        let mut rows = summary.replicas.iter().cloned();
        rows.try_for_each(|row| table.push(row))?;
        let mut table = context.table::<SavingsRow>(SAVINGS)?;
        let mut rows = summary.savings.iter().cloned();
        rows.try_for_each(|row| table.push(row))?;
        Ok::<_, StageError>(())
    });
}

/// The flow that writes what is known and gathers collections. What is known belongs to the flow,
/// so that no other is resumed.
fn flow(source: &CorpusPages, summary: &ReplicationSummary) -> Flow {
    let known = blake3::hash(json!(summary).to_string().as_bytes());
    let flow = Flow::new(REPLICATION).table(REPLICAS).table(SAVINGS).stage(
        Stage::map(
            "write",
            vec![json!([source.identity(), known.to_hex().to_string()])],
        )
        .writes(REPLICAS)
        .writes(SAVINGS),
    );
    collections::with_collections(flow, source)
}

#[cfg(test)]
mod tests;
