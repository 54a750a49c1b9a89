//! Copies and near-copies (Fetterly, Manasse, Najork 2005 §3; Shivakumar & Garcia-Molina 1998 §3).
//!
//! * Exact copies: pages of the same payload or of the same text, told apart. Revisit records and
//!   rejected pages that repeat a payload are counted on their own: every count of pages is about
//!   pages with text.
//! * Near-copies: pages whose gram sets resemble each other by `R` at least. Bands of a sketch of
//!   84 minima bring pairs together, and the resemblance of those that meet is computed from all
//!   their grams, so that no page is removed by chance.
//! * Who is kept: pages are taken in an order, by default that of
//!   [`precedence`](crate::precedence), the earliest first. A page is removed if a kept page
//!   resembles it, and kept otherwise. `meet` explains why comparing pages in rounds gives exactly
//!   this.
//! * Why there are two: the same URL again, two URLs of one host, two names of one server, or a
//!   replica.
//!
//! What is missed by chance: at `R` = 0.8 a pair of resemblance 0.8 shares none of its 28 bands, or
//! looks too unlike by its signature, with a probability of 0.16 %; at 0.82 of 0.04 %, and at 0.85
//! of 0.005 % (a test simulates it). The rest is exact, except for pages that resemble so many
//! others that only the most similar ones are compared with them
//! ([`CopiesSummary::pages_crowded`]).
//!
//! ```text
//!   pages ─ dates ─▶ by date ─ rank ─▶ ranks
//!   pages ─ facts ─┬─▶ by text ── same text ──▶ duplicate, kept of
//!                  └─▶ by payload ─ same payload ─▶ same bytes, kept of
//!   texts ─ sketch (without duplicates) ─▶ … rounds: meet, verify, decide … ─▶ known edges ─ resolve ─▶ kept of
//!   pages ─ settle ─▶ … ─▶ pairs, classes, mirrors, prefixes
//! ```

mod exact;
mod filter;
mod meet;
mod mirrors;
mod near;
mod params;
mod resolve;
mod rows;
mod rules;
mod settle;
mod verify;

use std::sync::Arc;

use cento_flow::{Flow, Registry, Stage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use filter::{Filtered, filter};
pub use mirrors::{MirrorRow, PrefixRow};
pub use params::{CopiesParams, CopiesScheme, Keep, MINIMA, bands_for};
pub use rules::{Rule, rules, write_skip_list};
pub use settle::{ClassRow, NearRow, PairRow};

use crate::corpus_pages::CorpusPages;
use crate::error::Result;
use crate::names::{self, NAMED, with_named};
use crate::numbers::Numbers;
use crate::run::{Findings, Workplace};

/// The name of the analysis.
pub const COPIES: &str = "copies";
/// Pages whose pointers are followed in one task.
const RANGE: u32 = 1 << 20;

/// What was counted. All pages here are pages with text; of records without text, such as revisits,
/// there are counts of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiesSummary {
    /// Pages with text.
    pub pages: u64,
    /// Whether the corpus keeps no text, so that near-copies were not looked for.
    pub without_text: bool,
    /// Pages whose payload an earlier page has.
    pub bytes: u64,
    /// Pages whose text an earlier page has in other bytes.
    pub text: u64,
    /// Pages that are removed as near-copies of a page that is kept, and are of neither kind above.
    pub near: u64,
    /// Removed pages with the same URL as the kept page.
    pub recapture: u64,
    /// Removed pages with another URL on the same host.
    pub url_alias: u64,
    /// Removed pages on another name of the same server.
    pub server_alias: u64,
    /// All other removed pages.
    pub replica: u64,
    /// The bytes of all removed pages.
    pub saved_bytes: u64,
    /// Kept pages in whose favour others are removed.
    pub classes: u64,
    /// Records without text: revisits, and pages that were rejected.
    pub records: u64,
    /// Those that repeat the payload of a page or of an earlier record.
    pub repeated_records: u64,
    /// Those of them that are revisit records.
    pub repeated_revisits: u64,
    /// Pairs of pages whose resemblance was computed.
    pub candidates: u64,
    /// Those that resemble each other.
    pub verified: u64,
    /// Rounds of comparisons.
    pub rounds: u64,
    /// Kept pages that were not compared with all pages that they met, because there were too many.
    pub pages_crowded: u64,
}

impl CopiesSummary {
    /// Pages that are removed.
    pub fn removed(&self) -> u64 {
        self.bytes + self.text + self.near
    }
}

/// Looks for copies.
pub fn copies(
    source: &Arc<CorpusPages>,
    params: &CopiesParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    let without_text = params.near() && !source.has_text();
    workplace.run(
        COPIES,
        params,
        source,
        || {
            check_memory(source, params, workplace.memory)?;
            Ok((
                registry(source, params),
                flow(source, params, workplace.memory),
            ))
        },
        |_, report| {
            let counted = |name: &str| report.counted(name);
            let before = usize::from(params.against);
            let pages = source.kept()
                - if params.against {
                    source.kept_before(before)
                } else {
                    0
                };
            let records = source.all()
                - source.kept()
                - if params.against {
                    source.rejected_before(before)
                } else {
                    0
                };
            let rounds = report.stages.iter().filter_map(|stage| stage.round).max();
            let last = report
                .stages
                .iter()
                .filter(|stage| stage.round == rounds && rounds.is_some());
            let summary = CopiesSummary {
                pages: u64::from(pages),
                without_text,
                bytes: counted("bytes"),
                text: counted("text"),
                near: counted("near"),
                recapture: counted("recapture"),
                url_alias: counted("url-alias"),
                server_alias: counted("server-alias"),
                replica: counted("replica"),
                saved_bytes: counted("saved bytes"),
                classes: counted("classes of pages"),
                records: u64::from(records),
                repeated_records: counted("repeated records"),
                repeated_revisits: counted("repeated revisits"),
                candidates: counted("candidates"),
                verified: counted("verified"),
                rounds: u64::from(rounds.unwrap_or(0)),
                pages_crowded: last
                    .filter_map(|stage| stage.counters.get(meet::PAGES_CROWDED))
                    .sum(),
            };
            Ok(json!(summary))
        },
    )
}

/// Bytes of memory for each page with text that no spilling makes fewer: its rank, the page it is
/// removed for and how they are alike, whether it is removed in this round and has candidates
/// enough, and a few bits.
pub const BYTES_PER_PAGE: u64 = 21;

/// Fails before anything is read if so many pages cannot be held. States may take half of the
/// memory, less an eighth for the filter of bands.
fn check_memory(source: &CorpusPages, params: &CopiesParams, memory: u64) -> Result<()> {
    let records = u64::from(source.all() - source.kept());
    let per_page = if params.near() { BYTES_PER_PAGE } else { 13 };
    let states = u64::from(source.kept()) * per_page + records * 13;
    let needed = (states / 3).saturating_mul(8);
    if needed > memory {
        return Err(cento_flow::Error::TooLittleMemory {
            limit: memory,
            needed,
            reason: format!(" with {per_page} bytes for each page"),
        }
        .into());
    }
    Ok(())
}

/// What the names in the flow mean.
pub fn registry(source: &Arc<CorpusPages>, params: &CopiesParams) -> Registry {
    let mut registry = Registry::new();
    registry.state::<Numbers>("numbers");
    exact::register(&mut registry, source, params);
    near::register(&mut registry, source, params);
    meet::register(&mut registry, params);
    verify::register(&mut registry, source, params);
    resolve::register(&mut registry, source);
    settle::register(&mut registry, source);
    mirrors::register(&mut registry, source);
    settle::register_near(&mut registry);
    names::register(&mut registry, source);
    registry
}

/// The flow over a source.
pub fn flow(source: &CorpusPages, params: &CopiesParams, memory: u64) -> Flow {
    let pages = json!({ "pages": source.all() });
    let number_bits = 32 - source.all().leading_zeros();
    let bits = u64::from(source.kept()).div_ceil(8).max(8);
    let mut flow = with_named(Flow::new(COPIES), source)
        .state("ranks", "numbers", pages.clone())
        .state("kept of", "numbers", pages.clone())
        .state("links", "numbers", pages)
        .state("duplicate", "bitmap", json!({ "bytes": bits }))
        .state("same bytes", "bitmap", json!({ "bytes": bits }))
        .shuffle_with("by date", in_order())
        .shuffle("by text")
        .shuffle("by payload")
        .stage(
            Stage::map("dates", source.page_tasks())
                .with(json!({ "source": source.identity(), "params": params }))
                .writes("ranks")
                .writes("by date"),
        )
        .stage(Stage::reduce("rank", "by date").writes("ranks"))
        .stage(
            Stage::map("facts", source.page_tasks())
                .reads("ranks")
                .writes("by text")
                .writes("by payload"),
        )
        .stage(
            Stage::reduce("same text", "by text")
                .writes("duplicate")
                .writes("kept of")
                .writes("links"),
        )
        .stage(
            Stage::reduce("same payload", "by payload")
                .writes("same bytes")
                .writes("kept of")
                .writes("links"),
        );
    if params.near() && source.has_text() {
        flow = with_near(flow, source, params, memory, number_bits);
    }
    with_findings(flow, source, number_bits)
}

/// One partition: what is decided in one order.
fn in_order() -> cento_flow::Shuffle {
    cento_flow::Shuffle {
        partitions: 1,
        ..cento_flow::Shuffle::default()
    }
}

fn with_near(
    flow: Flow,
    source: &CorpusPages,
    params: &CopiesParams,
    memory: u64,
    bits: u32,
) -> Flow {
    // Two bytes a band, so that few bands are taken for shared ones by chance; but no more than an
    // eighth of the memory.
    let buckets = match params.scheme {
        CopiesScheme::Resemblance => 2 * params.bands().count,
        CopiesScheme::Megashingle => 15,
    };
    let seen = (u64::from(source.kept()) * u64::from(buckets) * 2)
        .clamp(1 << 12, (memory / 8).max(1 << 12));
    let flow = flow
        .state("bands seen", "seen-filter", json!({ "bytes": seen }))
        .shuffle_of_numbers("by page", bits)
        .shuffle("by band")
        .shuffle_with("edges", in_order())
        .stage(
            Stage::map("sketch", source.text_tasks())
                .reads("duplicate")
                .reads("ranks")
                .writes("bands seen")
                .writes("by page"),
        );
    let spread = Stage::reduce("spread", "by page")
        .reads("bands seen")
        .writes("by band");
    match params.scheme {
        CopiesScheme::Megashingle => flow
            .stage(spread)
            .stage(Stage::reduce("agree", "by band").writes("edges"))
            .stage(
                Stage::reduce("close", "edges")
                    .reads("ranks")
                    .writes("kept of")
                    .writes("links"),
            ),
        CopiesScheme::Resemblance => flow
            .state("removed", "numbers", json!({ "pages": source.kept() }))
            .state("sated", "numbers", json!({ "pages": source.kept() }))
            .shuffle_of_numbers("possible", bits)
            .shuffle_of_numbers("tried", bits)
            .shuffle_of_numbers("candidates", bits)
            .shuffle("waiting")
            .shuffle_with("known edges", in_order())
            .stage(spread.writes("removed").writes("sated"))
            .repeat(
                vec![
                    Stage::reduce("meet", "by band")
                        .reads("removed")
                        .reads("sated")
                        .writes("possible")
                        .writes("waiting"),
                    Stage::reduce("recall", "tried").writes("possible"),
                    Stage::reduce("choose", "possible")
                        .reads("removed")
                        .writes("sated")
                        .writes("candidates")
                        .writes("tried"),
                    Stage::reduce("verify", "candidates")
                        .writes("edges")
                        .writes("tried"),
                    Stage::reduce("carry", "known edges").writes("edges"),
                    Stage::reduce("decide", "edges")
                        .writes("removed")
                        .writes("known edges"),
                    Stage::reduce("again", "waiting").writes("by band"),
                ],
                meet::CHANGES,
                u32::from(meet::ROUNDS) + 1,
            )
            .shuffle_of_numbers("near of", bits)
            .shuffle_of_numbers("near", bits)
            .table("near_pairs")
            .stage(
                Stage::reduce("resolve", "known edges")
                    .writes("kept of")
                    .writes("links")
                    .writes(NAMED)
                    .writes("near of"),
            )
            .stage(names::stage(source, &["near of", "near"]))
            .stage(Stage::reduce("near of", "near of").writes("near"))
            .stage(Stage::reduce("near pages", "near").writes("near_pairs")),
    }
}

fn with_findings(flow: Flow, source: &CorpusPages, bits: u32) -> Flow {
    let ranges: Vec<Value> = (0..source.all().div_ceil(RANGE))
        .map(|range| {
            let begin = range * RANGE;
            json!([begin, source.all().min(begin.saturating_add(RANGE))])
        })
        .collect();
    let last_id = source
        .corpora()
        .iter()
        .flat_map(|corpus| &corpus.manifest().parts)
        .filter_map(|part| part.last_page)
        .max()
        .unwrap_or(0);
    let flow = flow
        .shuffle_of_numbers("by kept", bits)
        .shuffle("hosts")
        .shuffle("of hosts")
        .shuffle("by verdict")
        .shuffle_of_numbers("by id", 64 - last_id.leading_zeros())
        .table("pairs")
        .table("classes")
        .stage(
            Stage::map("targets", ranges)
                .reads("kept of")
                .reads("links")
                .writes(NAMED),
        )
        .stage(
            Stage::map("settle", source.page_tasks())
                .reads("kept of")
                .reads("links")
                .reads("duplicate")
                .reads("same bytes")
                .reads(NAMED)
                .writes("by kept")
                .writes("hosts")
                .writes("of hosts"),
        )
        .stage(
            Stage::reduce("classes", "by kept")
                .writes("classes")
                .writes("by verdict")
                .writes("by id"),
        );
    mirrors::with_evidence(flow, source, bits)
        .stage(Stage::reduce("causes", "by verdict").writes("by id"))
        .stage(Stage::reduce("pairs", "by id").writes("pairs"))
}
