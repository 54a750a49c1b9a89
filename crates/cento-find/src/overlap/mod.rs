//! Pairs of pages, or of servers, that have at least a given number of chunks in common.
//!
//! After Shivakumar & Garcia-Molina, *Finding near-replicas of documents on the web* (1998). A page
//! is the set of its chunks; pages with identical text count as one page, the earliest by date
//! ([`crate::precedence`]). A server is the union of its pages. The result is exact, whatever the
//! memory: it contains a pair if and only if the pair shares at least the threshold. Chunks on more
//! than [`OverlapParams::max_pages`] pages are ignored, both in pairs and in the sizes of pages,
//! and the summary reports how many pages have them.
//!
//! The paper counts pairs coarsely in one large array. Here pairs are first partitioned by their
//! left page (`stages`), and then counted coarsely page by page in the cache (`strip`).

mod cut;
pub(crate) mod overlap_rows;
pub(crate) mod page_order;
mod pair_tables;
mod params;
mod replication;
mod sorted_order;
pub(crate) mod spilled_lists;
mod stage_names;
pub(crate) mod stages;
mod strip;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_flow::{Flow, Registry, RunReport, Shuffle, Stage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::corpus_pages::{CorpusPages, PageFacts};
use crate::error::{Error, Result};
use crate::names;
use crate::numbers::Numbers;
use crate::run::{Findings, Workplace};
use crate::tables::read_rows;
use overlap_rows::Reserve;
use page_order::PageOrder;
pub use pair_tables::{
    COMMON, CommonRow, LARGEST, LargestRow, OverlapPairRow, PAIRS, SERVERS, ServerRow,
};
pub use params::{MAX_PAGES, OverlapParams, Unit, usual_max_pages, usual_threshold};
pub use replication::{
    COLLECTIONS, CollectionRow, PAGE_BYTES, REPLICAS, REPLICATION, ReplicasRow, ReplicationSummary,
    SAVINGS, SavingsRow, replication,
};
use stage_names::{counter, shuffle, stage, state};
use stages::{Attribution, CountingPlan, bits};

/// The name of the analysis of pages, and of its findings.
pub const ANALYSIS: &str = "overlap";
/// The name of the analysis of servers.
pub const SERVER_ANALYSIS: &str = "overlap-servers";

/// The counts of an overlap.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OverlapSummary {
    /// Pages with text.
    pub pages: u64,
    /// Pages with the same text as an earlier page; they count as one page.
    pub copies: u64,
    /// Servers, if servers were compared.
    pub servers: u64,
    /// Pages without a server.
    pub without_server: u64,
    /// Distinct chunks.
    pub chunks: u64,
    /// Distinct chunks on several pages.
    pub shared_chunks: u64,
    /// The number of pages (or servers) above which a chunk was ignored; zero for no limit.
    pub max_pages: u64,
    /// Chunks that were ignored because they are on too many pages. They count neither as shared
    /// nor in the size of a page.
    pub common: u64,
    /// The sum of the distinct chunks of all pages (or servers).
    pub page_chunks: u64,
    /// How many of these were ignored.
    pub common_page_chunks: u64,
    /// Pages (or servers) with ignored chunks.
    pub common_pages: u64,
    /// Pages (or servers) with at least the threshold of ignored chunks: they might be in a pair if
    /// nothing were ignored.
    pub common_only: u64,
    /// Pairs that share at least the threshold.
    pub pairs: u64,
    /// The pair that shares most, if no pair reaches the threshold.
    pub largest: Option<LargestPair>,
}

/// The pair that shares most, below the threshold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LargestPair {
    /// One of the two: a URL or a server.
    pub page: String,
    /// The other.
    pub of: String,
    /// Chunks that both have.
    pub chunks: u32,
}

/// Finds the overlaps of a corpus.
///
/// Pages are compared in the order of their dates, which takes 20 bytes of memory per page while it
/// is computed and 8 while the flow runs. On a cluster it is in a file.
pub fn run(
    source: &Arc<CorpusPages>,
    params: &OverlapParams,
    workplace: &Workplace,
) -> Result<Findings> {
    let servers = params.unit != Unit::Pages;
    let analysis = if servers { SERVER_ANALYSIS } else { ANALYSIS };
    check(params)?;
    let order_bytes = if servers {
        0
    } else {
        PageOrder::check_memory(source, workplace.memory)?;
        PageOrder::held_bytes(source)
    };
    let workplace = &workplace.with_less_memory(order_bytes);
    workplace.run(
        analysis,
        params,
        source,
        || {
            let mut registry = Registry::new();
            let order = match params.unit {
                Unit::Pages => PageOrder::shared(source, workplace)?,
                Unit::Host | Unit::Domain => PageOrder::default(),
            };
            stages::register_reading(&mut registry, source, params, &Arc::new(order));
            stages::register_counting(&mut registry, &temp(workplace)?);
            pair_tables::register_sums(&mut registry);
            pair_tables::register_naming(&mut registry, source, params);
            names::register(&mut registry, source);
            let plan = plan(source, params, workplace);
            Ok((registry, flow(source, params, plan)?))
        },
        |folder, report| summary(source, params, folder, report),
    )
}

/// Creates the folder of temporary files, and returns it.
fn temp(workplace: &Workplace) -> Result<PathBuf> {
    let folder = workplace.temp.as_ref().unwrap_or(&workplace.findings);
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    Ok(folder.clone())
}

fn check(params: &OverlapParams) -> Result<()> {
    if params.threshold == 0 {
        let why = "a threshold of 0 chunks would select every pair: the least is 1";
        return Err(Error::Usage(why.to_owned()));
    }
    if params.max_pages == Some(1) {
        let why = "a limit of 1 page would ignore every shared chunk: the least is 2";
        return Err(Error::Usage(why.to_owned()));
    }
    Ok(())
}

/// Returns the approximate sum of the chunks of all pages.
fn chunk_rows(source: &CorpusPages, params: &OverlapParams) -> u64 {
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

/// Returns the number of pages above which a chunk is ignored.
fn max_pages(source: &CorpusPages, params: &OverlapParams) -> u32 {
    let usual = || usual_max_pages(params.threshold, chunk_rows(source, params));
    params.max_pages.unwrap_or_else(usual)
}

fn plan(source: &CorpusPages, params: &OverlapParams, workplace: &Workplace) -> CountingPlan {
    let params = &OverlapParams {
        max_pages: Some(max_pages(source, params)),
        ..params.clone()
    };
    let rows = chunk_rows(source, params);
    // A quarter of the budget for all strips together.
    plan_for(rows, source.kept(), params, workplace, workplace.memory / 4)
}

/// Returns a plan for about `rows` chunks of pages below `width`, with `reserve` bytes of memory
/// for all strips.
fn plan_for(
    rows: u64,
    width: u32,
    params: &OverlapParams,
    workplace: &Workplace,
    reserve: u64,
) -> CountingPlan {
    let threads = workplace.threads.max(1) as u64;
    let strip_bytes = reserve / workplace.sharing_threads();
    // A row takes at most 28 bytes, and half of a strip may be unused capacity. More strips than
    // threads balance the load.
    let needed = (rows * 56).div_ceil(strip_bytes.max(1));
    let strips = needed.clamp(2 * threads, stages::STRIPS_A_THREAD * threads);
    CountingPlan {
        threshold: params.threshold,
        max_pages: params.max_pages.unwrap_or(MAX_PAGES),
        strips: strips as u32,
        strip_bytes,
        reserve,
        width,
    }
}

/// Adds the shuffles and states between chunks and pairs of numbers.
fn counting(flow: Flow, plan: CountingPlan) -> Flow {
    let strips = Shuffle {
        fixed: true,
        key_bits: None,
        partitions: plan.strips,
    };
    let pages = bits(plan.width);
    flow.shuffle(shuffle::BY_CHUNK)
        .shuffle_with(shuffle::BY_STRIP, strips)
        .shuffle_of_numbers(shuffle::PAIR_COUNTS, 32 + pages)
        .shuffle_of_numbers(shuffle::LARGEST, 1)
        .shuffle_of_numbers(shuffle::PAGE_COUNTS, pages)
        .shuffle_of_numbers(shuffle::COMMON, pages)
        .state(
            state::RESERVE,
            Reserve::KIND,
            json!({ "bytes": plan.reserve }),
        )
}

/// Reserves the states of counting at the first stage: states are allocated when they are first
/// used, and later the memory may be full of rows, which are not evicted for states.
fn opening(stage: Stage) -> Stage {
    stage.reserves(state::RESERVE)
}

/// Adds the stages between chunks and pairs of numbers.
fn counting_stages(flow: Flow, plan: CountingPlan) -> Flow {
    flow.stage(
        Stage::reduce(stage::SPREAD, shuffle::BY_CHUNK)
            .with(json!(plan))
            .writes(shuffle::BY_STRIP)
            .writes(shuffle::PAGE_COUNTS)
            .writes(shuffle::COMMON),
    )
    .stage(
        Stage::reduce(stage::COUNT, shuffle::BY_STRIP)
            .with(json!(plan))
            .reads(state::RESERVE)
            .writes(shuffle::PAIR_COUNTS)
            .writes(shuffle::LARGEST),
    )
}

/// Adds the stages that find pages with the text of an earlier page.
fn with_originals(flow: Flow, source: &CorpusPages) -> Flow {
    let bytes = u64::from(source.all()).div_ceil(8).max(8);
    flow.shuffle(shuffle::BY_TEXT)
        .state(state::COPIES, "bitmap", json!({ "bytes": bytes }))
        .stage(
            opening(Stage::map(stage::TEXTS, source.page_tasks()))
                .with(source.identity())
                .reserves(names::NAMED)
                .reserves(state::COPIES)
                .writes(shuffle::BY_TEXT),
        )
        .stage(
            Stage::reduce(stage::COLLAPSE, shuffle::BY_TEXT)
                .writes(state::COPIES)
                .writes(shuffle::PAGE_COUNTS),
        )
}

fn flow(source: &CorpusPages, params: &OverlapParams, plan: CountingPlan) -> Result<Flow> {
    let pages = bits(source.all());
    let mut flow = counting(Flow::new(ANALYSIS), plan)
        .shuffle_of_numbers(shuffle::OF, pages)
        .shuffle_of_numbers(shuffle::PAGE, pages)
        .shuffle_of_numbers(shuffle::RANKED, pair_tables::RANK_BITS)
        .shuffle_of_numbers(shuffle::COMMON_NOTED, pages)
        .shuffle_of_numbers(shuffle::COMMON_NAMED, pages)
        .shuffle_of_numbers(shuffle::COMMON_RANKED, 32)
        .table(LARGEST)
        .table(COMMON);
    flow = names::with_named(flow, source);
    let cut = Stage::map(stage::CUT, cut::tasks(source, params.chunk)?).writes(shuffle::BY_CHUNK);
    let (table, cut) = if params.unit == Unit::Pages {
        flow = with_originals(flow, source);
        let cut = cut.reads(state::COPIES);
        (PAIRS.as_str(), cut.with(json!(Attribution::Originals)))
    } else {
        flow = flow
            .shuffle(shuffle::BY_SERVER)
            .state(
                state::SERVERS,
                Numbers::KIND,
                json!({ "pages": source.kept() }),
            )
            .stage(
                opening(Stage::map(stage::NAMES_OF_SERVERS, source.page_tasks()))
                    .with(source.identity())
                    .reserves(names::NAMED)
                    .reserves(state::SERVERS)
                    .writes(shuffle::BY_SERVER),
            )
            .stage(
                Stage::reduce(stage::NUMBER_SERVERS, shuffle::BY_SERVER)
                    .writes(state::SERVERS)
                    .writes(shuffle::PAGE_COUNTS),
            );
        let cut = cut.reads(state::SERVERS);
        (SERVERS.as_str(), cut.with(json!(Attribution::Servers)))
    };
    let flow = counting_stages(flow.table(table).stage(cut), plan)
        .stage(
            Stage::reduce(stage::SUM, shuffle::PAIR_COUNTS)
                .with(json!(plan.threshold))
                .writes(names::NAMED)
                .writes(shuffle::OF)
                .writes(shuffle::LARGEST),
        )
        .stage(Stage::reduce(stage::LARGEST, shuffle::LARGEST).writes(LARGEST.as_str()))
        .stage(
            Stage::reduce(stage::NOTE_COMMON, shuffle::COMMON)
                .writes(names::NAMED)
                .writes(shuffle::COMMON_NOTED),
        )
        .stage(
            Stage::reduce(stage::SHOW_COMMON, shuffle::COMMON_NOTED).writes(shuffle::COMMON_NAMED),
        )
        .stage(
            Stage::reduce(stage::ADD_UP, shuffle::PAGE_COUNTS)
                .with(json!(plan.threshold))
                .reads(names::NAMED)
                .writes(shuffle::OF)
                .writes(shuffle::PAGE),
        )
        .stage(names::stage(
            source,
            &[shuffle::OF, shuffle::PAGE, shuffle::COMMON_NAMED],
        ));
    Ok(flow
        .stage(Stage::reduce(stage::NAME_OF, shuffle::OF).writes(shuffle::PAGE))
        .stage(Stage::reduce(stage::NAME_PAGE, shuffle::PAGE).writes(shuffle::RANKED))
        .stage(Stage::reduce(stage::WRITE, shuffle::RANKED).writes(table))
        .stage(
            Stage::reduce(stage::NAME_COMMON, shuffle::COMMON_NAMED).writes(shuffle::COMMON_RANKED),
        )
        .stage(Stage::reduce(stage::WRITE_COMMON, shuffle::COMMON_RANKED).writes(COMMON.as_str())))
}

fn summary(
    source: &CorpusPages,
    params: &OverlapParams,
    folder: &Path,
    report: &RunReport,
) -> Result<Value> {
    let counted = |name: &str| report.counted(name);
    let rows = |name: &str| report.rows(name);
    let pairs = rows(PAIRS.as_str()) + rows(SERVERS.as_str());
    let summary = OverlapSummary {
        pages: u64::from(source.kept()),
        copies: counted(counter::COPIES),
        servers: counted(counter::SERVERS),
        without_server: counted(counter::PAGES_WITHOUT_A_SERVER),
        chunks: counted(counter::DISTINCT_CHUNKS),
        shared_chunks: counted(counter::CHUNKS_OF_SEVERAL_PAGES),
        max_pages: u64::from(max_pages(source, params)),
        common: rows(COMMON.as_str()),
        page_chunks: counted(counter::CHUNKS_OF_PAGES),
        common_page_chunks: counted(counter::COMMON_CHUNKS_OF_PAGES),
        common_pages: counted(counter::PAGES_WITH_COMMON_CHUNKS),
        common_only: counted(counter::PAGES_WITH_ENOUGH_COMMON_CHUNKS),
        pairs,
        largest: if pairs == 0 {
            largest(source, params, folder)?
        } else {
            None
        },
    };
    Ok(json!(summary))
}

fn largest(
    source: &CorpusPages,
    params: &OverlapParams,
    folder: &Path,
) -> Result<Option<LargestPair>> {
    let path = folder.join(format!("{}.parquet", LARGEST.as_str()));
    let Some(row) = read_rows::<LargestRow>(&path)?.next().transpose()? else {
        return Ok(None);
    };
    let (of, page, chunks) = (row.left, row.right, row.chunks);
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
    Ok(Some(LargestPair { page, of, chunks }))
}
