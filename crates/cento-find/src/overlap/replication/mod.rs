//! How often pages are replicated, and what a crawler would save: Figure 1, Table 2 and the savings
//! of the paper.
//!
//! There are three notions of a replica, each wider than the one before: identical text, 15 chunks
//! of four lines in common, 25 chunks of two lines in common. A page is its own first replica. A
//! crawler that knows the replicas visits pages in the order of precedence ([`crate::precedence`])
//! and skips every replica of a visited page; the skipped pages are the savings. A *collection* is
//! a set of pages that the same servers replicate (`collections`).
//!
//! All chunks count, however many pages have them, and pairs of pages are listed only where
//! necessary (`stages`, `resolve`).
//!
//! # Memory
//!
//! All of it is part of the budget. Flows run in what the arrays below leave, and spill; the arrays
//! cannot be spilled:
//!
//! ```text
//!                                   bytes per page
//!   the order of pages               8   always (20 while it is computed)
//!   the first page of each text      4   while the flow of a notion runs, and is resolved
//!   states of the flow of a notion   8¼  while it runs
//!   leader, replicas, visited       12   while a notion is resolved, and for collections
//!   weight, set of hot chunks        8   while a notion is resolved
//! ```
//!
//! So [`PAGE_BYTES`] per page and the minimum of the engine suffice, and the analysis fails before
//! it reads anything if the budget is smaller. The sets of very common chunks take 24 bytes per
//! chunk of a set and 40 per set in addition. Their size is known after the flow of a notion; if it
//! exceeds the budget, the analysis fails with the number of bytes needed, and the results of the
//! flow are cached for the next run.

mod collections;
mod resolve;
mod stages;

use std::sync::Arc;

use cento_flow::{Flow, MemoryBudget, Registry, Stage, StageError, TableName, table_row};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::page_order::PageOrder;
use super::params::OverlapParams;
use super::{chunk_rows, plan_for, temp};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::run::{Findings, Workplace};
use resolve::Notion;

/// The name of the analysis.
pub const REPLICATION: &str = "replication";
/// The table of Figure 1: pages by their number of replicas.
pub const REPLICAS: TableName<ReplicasRow> = TableName::new("replicas");
/// The table of what a crawler would save.
pub const SAVINGS: TableName<SavingsRow> = TableName::new("savings");
/// The table of replicated collections: on the most servers first.
pub const COLLECTIONS: TableName<CollectionRow> = TableName::new("collections");
/// The name of the intermediate results of each notion.
const GROUPS: &str = "replication-groups";
/// The bytes of memory per page that the analysis needs.
pub const PAGE_BYTES: u64 = 32;
/// The least number of replicas of each bar of the paper's figure.
const BARS: [u32; 6] = [1, 2, 3, 10, 100, 1000];
const WRITE: &str = "write summary";
const HOT_CHUNKS: &str = "hot chunks";

table_row! {
    /// The number of pages with a number of replicas in a range.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct ReplicasRow {
        /// The notion of a replica: `exact`, `lines:4` or `lines:2`.
        pub notion: String,
        /// The least number of replicas, including the page itself.
        pub from: u32,
        /// The greatest number of replicas; null for the last bar.
        pub to: Option<u32>,
        /// The number of pages.
        pub pages: u64,
        /// Their share of all pages.
        pub share: f64,
    }
}

table_row! {
    /// What a crawler would save if it skipped replicas.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct SavingsRow {
        /// The notion of a replica.
        pub notion: String,
        /// All pages.
        pub pages: u64,
        /// Pages that would be skipped.
        pub saved_pages: u64,
        /// Their share of all pages.
        pub share: f64,
        /// Bytes of all pages.
        pub bytes: u64,
        /// Bytes of the pages that would be skipped.
        pub saved_bytes: u64,
        /// Their share of all bytes.
        pub share_of_bytes: f64,
    }
}

table_row! {
    /// A collection that is on several servers.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct CollectionRow {
        /// Servers that have pages of it.
        pub servers: u32,
        /// Its pages, with replicas of each other counted once.
        pub pages: u32,
        /// The replicas of these pages.
        pub replicas: u32,
        /// Its folder on the server that has the most pages.
        pub collection: String,
        /// One of its pages there.
        pub page: String,
    }
}

/// The summary of the analysis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplicationSummary {
    /// Figure 1.
    pub replicas: Vec<ReplicasRow>,
    /// The savings of a crawler, by notion.
    pub savings: Vec<SavingsRow>,
    /// The number of collections on several servers.
    pub collections: u64,
    /// Pages whose very common chunks occur in so many combinations that they were not compared
    /// with all others: their replicas and the savings are lower bounds. The maximum over all
    /// notions.
    pub beyond: u64,
}

/// Finds how often the pages of a corpus are replicated.
pub fn replication(source: &Arc<CorpusPages>, workplace: &Workplace) -> Result<Findings> {
    let notions = [
        OverlapParams::new("lines:4".parse().unwrap_or_default()),
        OverlapParams::new("lines:2".parse().unwrap_or_default()),
    ];
    let summary = std::sync::Mutex::new(ReplicationSummary::default());
    // Collections are made while the order and the widest notion are in memory.
    let kept = u64::from(source.kept());
    let collecting =
        workplace.with_less_memory(kept * (PageOrder::BYTES_PER_PAGE + Notion::BYTES_PER_PAGE));
    collecting.run(
        REPLICATION,
        &notions,
        source,
        || {
            check_memory(source, workplace)?;
            let budget = MemoryBudget::new(workplace.memory, workplace.threads)?;
            let sorting = budget.take(kept * PageOrder::BYTES_TO_SORT, "the order of pages")?;
            let order = Arc::new(PageOrder::shared(source, workplace)?);
            drop(sorting);
            let _order = budget.take(kept * PageOrder::BYTES_PER_PAGE, "the order of pages")?;
            let (found, widest) = find(source, &notions, stages::HOT, &order, &budget, workplace)?;
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
            found.collections = report.rows(COLLECTIONS.as_str());
            Ok(json!(found))
        },
    )
}

/// Returns the bytes of memory that the analysis needs, apart from the sets of very common chunks.
fn needed_memory(source: &CorpusPages, threads: usize) -> u64 {
    let engine = MemoryBudget::MINIMUM_PER_THREAD * threads.max(1) as u64;
    u64::from(source.kept()) * PAGE_BYTES + engine
}

/// Fails if the memory does not suffice, before anything is read.
fn check_memory(source: &CorpusPages, workplace: &Workplace) -> Result<()> {
    let needed = needed_memory(source, workplace.threads);
    if needed <= workplace.memory {
        return Ok(());
    }
    Err(Error::Flow(cento_flow::Error::TooLittleMemory {
        limit: workplace.memory,
        needed,
        reason: format!(
            " for {} pages: replication needs {PAGE_BYTES} bytes for each",
            source.kept()
        ),
    }))
}

/// Returns the summary without collections, and the widest notion.
fn find(
    source: &Arc<CorpusPages>,
    notions: &[OverlapParams],
    hot: u32,
    order: &Arc<PageOrder>,
    budget: &Arc<MemoryBudget>,
    workplace: &Workplace,
) -> Result<(ReplicationSummary, Notion)> {
    let kept = u64::from(source.kept());
    let mut summary = ReplicationSummary::default();
    let mut widest = Notion::default();
    let mut firsts = None;
    for params in notions {
        // Frees the memory of the previous notion while the flow of this one runs.
        drop(std::mem::take(&mut widest));
        let flow_memory = workplace.with_less_memory(budget.used());
        let findings = groups(source, params, hot, order, &flow_memory)?;
        let (known, lease) = match firsts.take() {
            Some(known) => known,
            None => {
                let lease = budget.take(4 * kept, "the first page of each text")?;
                let known = resolve::first_of_text(&findings, source.kept())?;
                let _exact = budget.take(kept * Notion::BYTES_PER_PAGE, "exact replicas")?;
                summary.add(&resolve::exact(&known), source, order)?;
                (known, lease)
            }
        };
        let _resolving = budget.take(kept * resolve::BYTES_PER_PAGE, "the replicas of pages")?;
        let name = params.chunk.to_string();
        widest = resolve::near(&name, &findings, &known, params.threshold, budget)?;
        summary.add(&widest, source, order)?;
        firsts = Some((known, lease));
    }
    Ok((summary, widest))
}

/// Runs the flow of one notion, or reads its cached results.
fn groups(
    source: &Arc<CorpusPages>,
    params: &OverlapParams,
    hot: u32,
    order: &Arc<PageOrder>,
    workplace: &Workplace,
) -> Result<Findings> {
    workplace.run(
        GROUPS,
        &(params, hot),
        source,
        || {
            let mut registry = Registry::new();
            stages::register(&mut registry, source, params, order, &temp(workplace)?);
            // States may take half of the memory: strips get a quarter, or what other states leave.
            let left = (workplace.memory / 2).saturating_sub(stages::state_bytes(source));
            let reserve = left.min(workplace.memory / 4);
            let rows = chunk_rows(source, params);
            let mut plan = plan_for(rows, source.kept(), params, workplace, reserve);
            plan.max_pages = hot;
            Ok((registry, stages::flow(source, params, plan)?))
        },
        |_, report| Ok(json!({ "hot_chunks": report.counted(HOT_CHUNKS) })),
    )
}

impl ReplicationSummary {
    fn add(&mut self, notion: &Notion, source: &CorpusPages, order: &PageOrder) -> Result<()> {
        self.replicas.extend(bars(notion));
        self.savings.push(savings(notion, source, order)?);
        self.beyond = self.beyond.max(notion.beyond);
        Ok(())
    }
}

fn savings(notion: &Notion, source: &CorpusPages, order: &PageOrder) -> Result<SavingsRow> {
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
    registry.map(WRITE, move |context| {
        let mut table = context.table(REPLICAS)?;
        let mut rows = summary.replicas.iter().cloned();
        rows.try_for_each(|row| table.push(row))?;
        let mut table = context.table(SAVINGS)?;
        let mut rows = summary.savings.iter().cloned();
        rows.try_for_each(|row| table.push(row))?;
        Ok::<_, StageError>(())
    });
}

/// Returns the flow that writes the summary and finds collections. A hash of the summary is part of
/// the flow, so that a flow with a different summary is not resumed.
fn flow(source: &CorpusPages, summary: &ReplicationSummary) -> Flow {
    let known = blake3::hash(json!(summary).to_string().as_bytes());
    let flow = Flow::new(REPLICATION).table(REPLICAS).table(SAVINGS).stage(
        Stage::map(
            WRITE,
            vec![json!([source.identity(), known.to_hex().to_string()])],
        )
        .writes(REPLICAS.as_str())
        .writes(SAVINGS.as_str()),
    );
    collections::with_collections(flow, source)
}

#[cfg(test)]
mod tests;
