//! Who overlaps with whom: pairs of pages, or of servers, that share at least so many chunks.
//!
//! After Shivakumar & Garcia-Molina, *Finding near-replicas of documents on the web* (1998). A page
//! is the set of its chunks; pages with the same text count as one, the earliest by date
//! ([`crate::precedence`]). A server is the union of its pages. The result is exact: a pair is in
//! it if and only if it shares the threshold or more, whatever the memory; chunks on more than
//! [`Params::max_pages`] pages are ignored, for a pair and for the size of a page, and the summary
//! says on how many pages.
//!
//! The paper counts pairs coarsely in one large array. Here pairs are first brought together by
//! their left page (`stages`), and then counted coarsely page by page in the cache (`strip`).

#[doc(hidden)]
pub mod bench;
mod cut;
mod lists;
mod naming;
mod numbers;
mod order;
mod params;
mod replication;
mod rows;
mod stages;
mod strip;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use cento_flow::{Flow, Registry, RunReport, Shuffle, Stage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::corpus_pages::{CorpusPages, PageFacts};
use crate::error::{Error, Result};
use crate::names;
use crate::run::{Findings, Workplace};
use crate::tables::read_table;
use naming::{COMMON_RANKED, COMMON_TABLE, LARGEST_TABLE, OF, PAGE, RANK_BITS, RANKED};
pub use naming::{CommonRow, LargestRow, PairRow, ServerRow};
use order::Order;
pub use params::{MAX_PAGES, Params, Unit, usual_max_pages, usual_threshold};
pub use replication::{
    COLLECTIONS, CollectionRow, PAGE_BYTES, REPLICAS, REPLICATION, ReplicasRow, ReplicationSummary,
    SAVINGS, SavingsRow, replication,
};
use rows::Reserve;
use stages::{Attribution, Plan, bits};

/// The name of the analysis of pages, and of its findings.
pub const ANALYSIS: &str = "overlap";
/// The name of the analysis of servers.
pub const SERVER_ANALYSIS: &str = "overlap-servers";
/// The main table of an overlap of pages.
pub const PAIRS: &str = naming::PAIRS;
/// The main table of an overlap of servers.
pub const SERVERS: &str = naming::SERVERS;
/// The table of chunks that were left out.
pub const COMMON: &str = COMMON_TABLE;

/// What an overlap counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Pages with text.
    pub pages: u64,
    /// Pages among them with the text of an earlier one; they take part as one.
    pub copies: u64,
    /// Servers, if these were compared.
    pub servers: u64,
    /// Pages that are on no server.
    pub without_server: u64,
    /// Distinct chunks.
    pub chunks: u64,
    /// Chunks among them that several pages have.
    pub shared_chunks: u64,
    /// The number of pages (or servers) beyond which a chunk was ignored; zero if none was.
    pub max_pages: u64,
    /// Chunks that were ignored, because too many pages have them. They count neither as shared nor
    /// among the chunks of a page.
    pub common: u64,
    /// The chunks of all pages (or servers) together, each once a page.
    pub page_chunks: u64,
    /// Those among them that were ignored.
    pub common_page_chunks: u64,
    /// Pages (or servers) that have some of the ignored chunks.
    pub common_pages: u64,
    /// Those among them that have the threshold or more of them: with these, they may share enough
    /// to be a pair.
    pub common_only: u64,
    /// Pairs that share enough.
    pub pairs: u64,
    /// The pair that shares most, if none shares enough.
    pub largest: Option<Largest>,
}

/// Two that share less than was asked for, and more than any others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Largest {
    /// One of them: an address, or a server.
    pub page: String,
    /// The other.
    pub of: String,
    /// Chunks that they share.
    pub chunks: u32,
}

/// Finds the overlaps of a corpus.
pub fn run(source: &Arc<CorpusPages>, params: &Params, workplace: &Workplace) -> Result<Findings> {
    let servers = params.unit != Unit::Pages;
    let analysis = if servers { SERVER_ANALYSIS } else { ANALYSIS };
    check(params)?;
    workplace.run(
        analysis,
        params,
        source,
        || {
            let mut registry = Registry::new();
            let order = match params.unit {
                Unit::Pages => Order::of(source)?,
                Unit::Host | Unit::Domain => Order::default(),
            };
            stages::register_reading(&mut registry, source, params, &Arc::new(order));
            stages::register_counting(&mut registry, &temp(workplace)?);
            naming::register_sums(&mut registry);
            naming::register_naming(&mut registry, source, params);
            names::register(&mut registry, source);
            let plan = plan(source, params, workplace);
            Ok((registry, flow(source, params, plan)?))
        },
        |folder, report| summary(source, params, folder, report),
    )
}

/// The folder of temporary files, which is there.
fn temp(workplace: &Workplace) -> Result<PathBuf> {
    let folder = workplace.temp.as_ref().unwrap_or(&workplace.findings);
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    Ok(folder.clone())
}

fn check(params: &Params) -> Result<()> {
    if params.threshold == 0 {
        let none = "a threshold of 0 chunks would be shared by all: the least is 1";
        return Err(Error::Usage(none.to_owned()));
    }
    if params.max_pages == Some(1) {
        let none = "every shared chunk is on two pages: at most 1 would leave out all";
        return Err(Error::Usage(none.to_owned()));
    }
    Ok(())
}

/// About how many chunks all pages have together.
fn chunk_rows(source: &CorpusPages, params: &Params) -> u64 {
    source
        .corpora()
        .iter()
        .map(|corpus| {
            let counts = corpus.manifest().counts();
            if corpus.parameters().chunk == params.chunk {
                counts.chunks
            } else {
                counts.text_bytes / params::usual_bytes(params.chunk)
            }
        })
        .sum()
}

/// Beyond how many pages a chunk is ignored.
fn max_pages(source: &CorpusPages, params: &Params) -> u32 {
    let usual = || usual_max_pages(params.threshold, chunk_rows(source, params));
    params.max_pages.unwrap_or_else(usual)
}

fn plan(source: &CorpusPages, params: &Params, workplace: &Workplace) -> Plan {
    let params = &Params {
        max_pages: Some(max_pages(source, params)),
        ..params.clone()
    };
    plan_for(chunk_rows(source, params), source.kept(), params, workplace)
}

fn plan_for(rows: u64, width: u32, params: &Params, workplace: &Workplace) -> Plan {
    let threads = workplace.threads.max(1) as u64;
    // A quarter of the budget for all strips together.
    let reserve = workplace.memory / 4;
    let strip_bytes = reserve / threads;
    // A row takes 28 bytes at most, and half of a strip may be empty; more strips than threads even
    // out what they have to do.
    let needed = (rows * 56).div_ceil(strip_bytes.max(1));
    let strips = needed.clamp(2 * threads, stages::STRIPS_A_THREAD * threads);
    Plan {
        threshold: params.threshold,
        max_pages: params.max_pages.unwrap_or(MAX_PAGES),
        strips: strips as u32,
        strip_bytes,
        reserve,
        width,
    }
}

/// The stages from chunks to pairs of numbers.
fn counting(flow: Flow, plan: Plan) -> Flow {
    let strips = Shuffle {
        key_bits: None,
        partitions: plan.strips,
    };
    let pages = bits(plan.width);
    flow.shuffle(stages::BY_CHUNK)
        .shuffle_with(stages::BY_STRIP, strips)
        .shuffle_of_numbers(stages::PAIRS, 32 + pages)
        .shuffle_of_numbers(stages::LARGEST, 1)
        .shuffle_of_numbers(stages::FACTS, pages)
        .shuffle_of_numbers(stages::COMMON, pages)
        .state(
            stages::RESERVE,
            Reserve::KIND,
            json!({ "bytes": plan.reserve }),
        )
}

/// The first stage makes all states: later the memory for them may be full of rows, which do not go
/// to make room.
fn opening(stage: Stage) -> Stage {
    stage.writes(stages::RESERVE)
}

fn counting_stages(flow: Flow, plan: Plan) -> Flow {
    flow.stage(
        Stage::reduce("spread", stages::BY_CHUNK)
            .with(json!(plan))
            .writes(stages::BY_STRIP)
            .writes(stages::FACTS)
            .writes(stages::COMMON),
    )
    .stage(
        Stage::reduce("count", stages::BY_STRIP)
            .with(json!(plan))
            .reads(stages::RESERVE)
            .writes(stages::PAIRS)
            .writes(stages::LARGEST),
    )
}

fn flow(source: &CorpusPages, params: &Params, plan: Plan) -> Result<Flow> {
    let pages = bits(source.all());
    let mut flow = counting(Flow::new("overlap"), plan)
        .shuffle_of_numbers(OF, pages)
        .shuffle_of_numbers(PAGE, pages)
        .shuffle_of_numbers(RANKED, RANK_BITS)
        .shuffle_of_numbers("common noted", pages)
        .shuffle_of_numbers("common named", pages)
        .shuffle_of_numbers(COMMON_RANKED, 32)
        .table(LARGEST_TABLE)
        .table(COMMON_TABLE);
    flow = names::with_named(flow, source);
    let cut = Stage::map("cut", cut::tasks(source, params.chunk)?).writes(stages::BY_CHUNK);
    let (table, cut) = if params.unit == Unit::Pages {
        flow = numbers::with_originals(flow, source);
        let cut = cut.reads(stages::COPIES);
        (naming::PAIRS, cut.with(json!(Attribution::Originals)))
    } else {
        flow = flow
            .shuffle(stages::BY_SERVER)
            .state(
                stages::SERVERS,
                "numbers",
                json!({ "pages": source.kept() }),
            )
            .stage(
                opening(Stage::map("names of servers", source.page_tasks()))
                    .with(source.identity())
                    .writes(names::NAMED)
                    .writes(stages::SERVERS)
                    .writes(stages::BY_SERVER),
            )
            .stage(
                Stage::reduce("number servers", stages::BY_SERVER)
                    .writes(stages::SERVERS)
                    .writes(stages::FACTS),
            );
        let cut = cut.reads(stages::SERVERS);
        (naming::SERVERS, cut.with(json!(Attribution::Servers)))
    };
    let flow = counting_stages(flow.table(table).stage(cut), plan)
        .stage(
            Stage::reduce("sum", stages::PAIRS)
                .with(json!(plan.threshold))
                .writes(names::NAMED)
                .writes(OF)
                .writes(stages::LARGEST),
        )
        .stage(Stage::reduce("largest", stages::LARGEST).writes(LARGEST_TABLE))
        .stage(
            Stage::reduce("note common", stages::COMMON)
                .writes(names::NAMED)
                .writes("common noted"),
        )
        .stage(Stage::reduce("show common", "common noted").writes("common named"))
        .stage(
            Stage::reduce("add up", stages::FACTS)
                .with(json!(plan.threshold))
                .reads(names::NAMED)
                .writes(OF)
                .writes(PAGE),
        )
        .stage(names::stage(source, &[OF, PAGE, "common named"]));
    Ok(flow
        .stage(Stage::reduce("name of", OF).writes(PAGE))
        .stage(Stage::reduce("name page", PAGE).writes(RANKED))
        .stage(Stage::reduce("write", RANKED).writes(table))
        .stage(Stage::reduce("name common", "common named").writes(COMMON_RANKED))
        .stage(Stage::reduce("write common", COMMON_RANKED).writes(COMMON_TABLE)))
}

fn summary(
    source: &CorpusPages,
    params: &Params,
    folder: &Path,
    report: &RunReport,
) -> Result<Value> {
    let counted = |name: &str| report.counted(name);
    let rows = |name: &str| report.rows(name);
    let pairs = rows(PAIRS) + rows(SERVERS);
    let summary = Summary {
        pages: u64::from(source.kept()),
        copies: counted("copies"),
        servers: counted("servers"),
        without_server: counted("pages without a server"),
        chunks: counted("distinct chunks"),
        shared_chunks: counted("chunks of several pages"),
        max_pages: u64::from(max_pages(source, params)),
        common: rows(COMMON_TABLE),
        page_chunks: counted("chunks of pages"),
        common_page_chunks: counted("common chunks of pages"),
        common_pages: counted("pages with common chunks"),
        common_only: counted("pages with enough common chunks"),
        pairs,
        largest: if pairs == 0 {
            largest(source, params, folder)?
        } else {
            None
        },
    };
    Ok(json!(summary))
}

fn largest(source: &CorpusPages, params: &Params, folder: &Path) -> Result<Option<Largest>> {
    let path = folder.join(format!("{LARGEST_TABLE}.parquet"));
    let mut best = None;
    for batch in read_table(&path)? {
        let batch = batch?;
        let [left, right, chunks] =
            [0, 1, 2].map(|column| batch.column(column).as_primitive::<UInt32Type>().values());
        let rows = left.iter().zip(right).zip(chunks);
        best = best.or(rows
            .map(|((&left, &right), &chunks)| (left, right, chunks))
            .next());
    }
    let Some((of, page, chunks)) = best else {
        return Ok(None);
    };
    let name = |facts: PageFacts<'_>| {
        let name = match params.unit {
            Unit::Pages => Some(facts.url),
            Unit::Host => facts.host,
            Unit::Domain => facts.domain,
        };
        name.unwrap_or_default().to_owned()
    };
    let mut names = [String::new(), String::new()];
    for task in 0..source.page_tasks().len() {
        source.for_each_page::<Error>(task, |facts| {
            for (number, slot) in [page, of].into_iter().zip(&mut names) {
                if facts.number == number {
                    *slot = name(facts);
                }
            }
            Ok(())
        })?;
    }
    let [page, of] = names;
    Ok(Some(Largest { page, of, chunks }))
}
