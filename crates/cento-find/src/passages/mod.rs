//! The passages that pages share: which words, from where, and in which direction.
//!
//! Pairs of pages are aligned with [`cento_align`]. They are all pairs that share rare
//! fingerprints, those of one page, or a list ([`PairChoice`]). Pages with identical text count as
//! one page, the earliest by date. In a pair, *a* is the later page by [`crate::precedence`] and
//! *b* the earlier one. What pages begin and end with because many pages do (`frames.rs`) is not
//! compared. Listed pairs are compared as a whole, others around the fingerprints that both pages
//! have (`alignment.rs`).
//!
//! ```text
//!   pages ─ collapse ─▶ copies      chunks ─▶ frames
//!   text ─ fingerprints ─▶ pair ─▶ align ─▶ passages of page numbers ─ names, links ─▶ passages
//!                                                                          passages ─▶ clusters
//! ```
//!
//! The texts of a batch of pairs are in memory at a time, so memory is bounded; the result does not
//! depend on it. [`clusters`] joins the passages that are the same text on many pages.

mod alignment;
mod clusters;
mod flow_names;
mod frames;
mod pairs;
mod params;
mod passage_rows;
mod passage_tables;
mod prepared;
mod strip;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use cento_flow::{Flow, Registry, Stage};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::names;
use crate::numbers::Numbers;
use crate::overlap::page_order::PageOrder;
use crate::run::{Findings, Workplace};
use alignment::AlignmentPlan;
pub use clusters::{
    APPEARANCES_TABLE, AppearanceRow, CLUSTER_ANALYSIS, CLUSTERS_TABLE, ClusterRow,
    ClustersSummary, clusters,
};
use flow_names::{counter, shuffle, stage, state};
use pairs::Chosen;
pub use pairs::ListedPair;
pub use params::{FoldChoice, PairChoice, PassagesParams};
use passage_rows::SharedPlace;
pub use passage_tables::{FREQUENT_TABLE, PASSAGES_TABLE, PassageRow, links_to};
use prepared::{GROWTH, PreparedPages};
pub use strip::{CutReason, Cuts};

/// The name of the analysis, and of its findings.
pub const ANALYSIS: &str = "passages";

/// The counts of an analysis of passages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PassagesSummary {
    /// Pages with text.
    pub pages: u64,
    /// Pages with the same text as an earlier page; they count as one page.
    pub copies: u64,
    /// Fingerprints on too many pages to compare all of their pairs.
    pub common: u64,
    /// Pages with a frame, which is not compared.
    #[serde(default)]
    pub framed: u64,
    /// Pairs that were aligned.
    pub candidates: u64,
    /// Pairs that were aligned because they share a run of fingerprints that are on too many pages,
    /// and no others.
    #[serde(default)]
    pub frequent_candidates: u64,
    /// Pairs that share a passage.
    pub pairs: u64,
    /// Listed pairs with a page that the corpus does not have.
    pub unknown: u64,
    /// Listed pairs of a page with itself, and repetitions of other listed pairs.
    #[serde(default)]
    pub superfluous: u64,
    /// URLs of the chosen pages that were captured several times: the earliest capture is compared.
    #[serde(default)]
    pub repeated: u64,
    /// Passages.
    pub passages: u64,
    /// Passages of [`FREQUENT_TABLE`].
    #[serde(default)]
    pub frequent: u64,
    /// Passages word for word, with small edits at most.
    pub verbatim: u64,
    /// Edited passages.
    pub edited: u64,
    /// Summaries.
    pub scattered: u64,
}

/// Finds the passages that pages share. `listed` are the pairs that [`PairChoice::Listed`]
/// compares.
///
/// Pages are compared in the order of their dates, which takes 20 bytes of memory per page while it
/// is computed and 8 while the flow runs. On a cluster it is in a file.
pub fn run(
    source: &Arc<CorpusPages>,
    params: &PassagesParams,
    listed: &[ListedPair],
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    if !source.has_text() {
        return Err(Error::Unsuitable(
            "the corpus was indexed without text, which passages are found in: index it again \
             without --no-text"
                .into(),
        ));
    }
    PageOrder::check_memory(source, workplace.memory)?;
    let pairs = listed.len() as u64;
    let (needed, limit) = (pairs * ListedPair::BYTES, workplace.memory / 2);
    if needed > limit {
        return Err(Error::Flow(cento_flow::Error::TooLittleMemory {
            limit,
            needed,
            reason: format!(" to look up {pairs} listed pairs"),
        }));
    }
    let workplace = &workplace.with_less_memory(PageOrder::held_bytes(source));
    workplace.run(
        ANALYSIS,
        params,
        source,
        || {
            let order = Arc::new(PageOrder::shared(source, workplace)?);
            let chosen = match &params.pairs {
                PairChoice::All => Chosen::All,
                PairChoice::Of(url) => pairs::page_of_url(source, &order, url)?,
                PairChoice::Listed(_) => pairs::pages_of_pairs(source, &order, listed)?,
            };
            let flow = flow(source, params, workplace)?;
            let mut registry = Registry::new();
            registry.state::<PreparedPages>(PreparedPages::KIND);
            pairs::register(&mut registry, source, params, &order, &Arc::new(chosen));
            alignment::register(&mut registry, source, params, &order);
            frames::register(&mut registry, source, params);
            passage_tables::register(&mut registry, source);
            names::register(&mut registry, source);
            Ok((registry, flow))
        },
        |folder, report| {
            let kinds = kinds(folder)?;
            Ok(json!(PassagesSummary {
                pages: u64::from(source.kept()),
                copies: report.counted(counter::COPIES),
                common: report.counted(counter::COMMON),
                framed: report.counted(counter::FRAMED),
                candidates: report.counted(counter::CANDIDATES),
                frequent_candidates: report.counted(counter::FREQUENT),
                pairs: report.counted(counter::PAIRS),
                unknown: report.counted(counter::UNKNOWN),
                superfluous: report.counted(counter::SUPERFLUOUS),
                repeated: report.counted(counter::REPEATED),
                passages: report.rows(PASSAGES_TABLE.as_str()),
                frequent: report.rows(FREQUENT_TABLE.as_str()),
                verbatim: kinds[0],
                edited: kinds[1],
                scattered: kinds[2],
            }))
        },
    )
}

/// Counts the passages of each kind.
fn kinds(folder: &Path) -> Result<[u64; 3]> {
    let mut counts = [0; 3];
    let table = folder.join(format!("{}.parquet", PASSAGES_TABLE.as_str()));
    for row in crate::tables::read_rows::<PassageRow>(&table)? {
        match row?.kind.as_str() {
            "verbatim" => counts[0] += 1,
            "edited" => counts[1] += 1,
            _ => counts[2] += 1,
        }
    }
    Ok(counts)
}

fn flow(source: &CorpusPages, params: &PassagesParams, workplace: &Workplace) -> Result<Flow> {
    let bits = |pages: u32| (32 - pages.leading_zeros()).max(1);
    let pages = bits(source.all());
    // An eighth of the memory for the pages that all threads are comparing and what is computed
    // from them, and up to a quarter for pages that are kept for later. Small budgets have to leave
    // room for what does not grow with the budget.
    let threads = workplace.sharing_threads();
    let eighth = workplace.memory / 8;
    let batch_bytes = (eighth / GROWTH / threads).clamp(64 << 10, 16 << 20);
    let kept = eighth.max((2 * eighth).saturating_sub(8 << 20)) / GROWTH;
    let prepared = json!({ "bytes": (batch_bytes * threads + kept) * GROWTH, "kept": kept });
    let bitmap = json!({ "bytes": u64::from(source.all()).div_ceil(8).max(8) });
    let flow = names::with_named(Flow::new(ANALYSIS), source)
        .state(state::PREPARED, PreparedPages::KIND, prepared)
        .state(state::COPIES, "bitmap", bitmap)
        .state(
            state::SITES,
            Numbers::KIND,
            json!({ "pages": source.all() }),
        )
        .shuffle(shuffle::BY_TEXT)
        .shuffle_of_numbers(shuffle::BY_PAIR, SharedPlace::key_bits(pages))
        .shuffle_of_numbers(shuffle::BY_B, pages)
        .shuffle_of_numbers(shuffle::BY_A, pages)
        .shuffle_of_numbers(shuffle::RANKED, 32)
        .table(PASSAGES_TABLE)
        .table(FREQUENT_TABLE);
    let flow = flow
        .stage(
            Stage::map(stage::TEXTS, source.page_tasks())
                .with(json!({ "source": source.identity(), "params": params }))
                .reserves(state::PREPARED)
                .reserves(names::NAMED)
                .reserves(state::COPIES)
                .writes(state::SITES)
                .writes(shuffle::BY_TEXT),
        )
        .stage(Stage::reduce(stage::COLLAPSE, shuffle::BY_TEXT).writes(state::COPIES));
    let flow = frames::with_frames(flow, source, pages)?;
    let flow = match &params.pairs {
        PairChoice::Listed(digest) => {
            flow.stage(Stage::map(stage::LIST, vec![json!(digest)]).writes(shuffle::BY_PAIR))
        }
        _ => flow
            .shuffle(shuffle::BY_FINGERPRINT)
            .stage(
                Stage::map(stage::FINGERPRINTS, source.text_tasks())
                    .reads(state::COPIES)
                    .reads(state::HEADS)
                    .reads(state::TAILS)
                    .reads(state::TAIL_ENDS)
                    .writes(shuffle::BY_FINGERPRINT),
            )
            .stage(Stage::reduce(stage::PAIR, shuffle::BY_FINGERPRINT).writes(shuffle::BY_PAIR)),
    };
    let flow = flow.stage(
        Stage::reduce(stage::ALIGN, shuffle::BY_PAIR)
            .with(json!(AlignmentPlan { batch_bytes }))
            .reads(state::PREPARED)
            .reads(state::HEADS)
            .reads(state::TAILS)
            .reads(state::TAIL_ENDS)
            .writes(names::NAMED)
            .writes(shuffle::BY_B),
    );
    Ok(flow
        .stage(names::stage(source, &[shuffle::BY_B, shuffle::BY_A]))
        .stage(
            Stage::map(stage::LINKS, source.page_tasks())
                .reads(names::NAMED)
                .writes(shuffle::BY_A),
        )
        .stage(Stage::reduce(stage::NAME_B, shuffle::BY_B).writes(shuffle::BY_A))
        .stage(Stage::reduce(stage::NAME_A, shuffle::BY_A).writes(shuffle::RANKED))
        .stage(
            Stage::reduce(stage::WRITE, shuffle::RANKED)
                .writes(PASSAGES_TABLE.as_str())
                .writes(FREQUENT_TABLE.as_str()),
        ))
}
