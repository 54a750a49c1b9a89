//! Duplicates and near-duplicates (Fetterly, Manasse, Najork 2005 §3; Shivakumar & Garcia-Molina
//! 1998 §3).
//!
//! * Duplicates: pages with identical bytes or identical text, counted separately. Revisit records
//!   and rejected pages that repeat a payload have their own counts: every count of pages covers
//!   pages with text only.
//! * Near-duplicates: pages whose gram sets have a resemblance of at least `R`. Bands of a sketch
//!   of 84 minima select candidate pairs, and the resemblance of each candidate is computed from
//!   all grams of both pages, so no page is removed because of a hash collision.
//! * Which page is kept: pages are processed in a fixed order, by default that of
//!   [`precedence`](crate::precedence), earliest first. A page is removed if it resembles a kept
//!   page; otherwise it is kept. `candidates` explains why comparing pages in rounds yields exactly
//!   this.
//! * The cause of a duplicate: the same URL captured again, two URLs of one host, two names of one
//!   server, or a replica.
//!
//! Misses: with `R` = 0.8, a pair of resemblance 0.8 shares none of its 28 bands, or is rejected by
//! its signature, with probability 0.16 %; at 0.82 the probability is 0.04 %, at 0.85 0.005 % (a
//! test simulates it). Otherwise the result is exact, except for pages with so many candidates that
//! they are compared with the most similar ones only ([`CopiesSummary::pages_crowded`]).
//!
//! ```text
//!   pages ─ dates ─┬─▶ dates of pages ─ distinct dates ─▶ distinct ─ rank ─┐
//!                  └─▶ by date ◀──────────────────────────────────────────┘
//!                         └─ rank pages ─▶ ranks
//!   pages ─ facts ─┬─▶ by text ── same text ──▶ duplicate, kept of
//!                  └─▶ by payload ─ same payload ─▶ same bytes, kept of
//!   texts ─ sketch (without duplicates) ─▶ … rounds: meet, verify, decide …
//!           … ─▶ known edges ─ resolve ─▶ kept of
//!   pages ─ removed pages ─▶ … ─▶ pairs, classes, mirrors, prefixes
//! ```

mod candidates;
mod copy_rows;
mod exact;
mod filter;
mod mirrors;
mod near;
mod pairs;
mod params;
mod resolve;
mod skip_list;
mod stage_names;
mod sweep;
mod verify;

use std::sync::Arc;

use cento_flow::{Flow, Registry, SeenFilter, Stage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use filter::{Filtered, WrittenInputs, filter};
pub(crate) use filter::{RecordFates, rewrite_inputs};
pub use mirrors::{ALL_PAIRS, MIRRORS, MirrorRow, PREFIXES, PrefixRow};
pub use pairs::{CLASSES, ClassRow, CopyPairRow, NEAR_PAIRS, NearRow, PAIRS};
pub use params::{CopiesParams, CopiesScheme, Keep, MINIMA, bands_for};
pub use skip_list::{SkipRule, rules, write_skip_list};
pub use sweep::{COPIES_SWEEP, COPIES_SWEEP_TABLE, CopiesSweep, CopiesSweepRow, copies_sweep};

use crate::corpus_pages::CorpusPages;
use crate::error::Result;
use crate::executor::on_cluster;
use crate::names::{self, NAMED, with_named};
use crate::numbers::Numbers;
use crate::run::{Findings, Workplace};
use stage_names::{counter, shuffle, stage, state};

/// The name of the analysis.
pub const COPIES: &str = "copies";
/// The number of pages whose links one task follows.
const RANGE: u32 = 1 << 20;

/// The counts of a run. Pages are pages with text; records without text, such as revisits, have
/// their own counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiesSummary {
    /// Pages with text.
    pub pages: u64,
    /// Whether near-duplicates were not searched because the corpus has no text.
    pub without_text: bool,
    /// Pages with the same bytes as an earlier page.
    pub bytes: u64,
    /// Pages with the same text as an earlier page, in different bytes.
    pub text: u64,
    /// Other pages removed as near-duplicates of a kept page.
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
    /// Kept pages that have duplicates or near-duplicates.
    pub classes: u64,
    /// Records without text: revisits and rejected pages.
    pub records: u64,
    /// Records that repeat the payload of a page or of an earlier record.
    pub repeated_records: u64,
    /// Repeated records that are revisit records.
    pub repeated_revisits: u64,
    /// Pairs of pages whose resemblance was computed.
    pub candidates: u64,
    /// Candidates whose resemblance is high enough.
    pub verified: u64,
    /// Rounds of comparisons.
    pub rounds: u64,
    /// Kept pages that were not compared with all their candidates, because there were too many.
    pub pages_crowded: u64,
    /// Classes on so many hosts that not every pair of their hosts was compared. Whether two of
    /// these hosts are aliases of one server can then depend on which page of the class is kept.
    #[serde(default)]
    pub wide_classes: u64,
}

impl CopiesSummary {
    /// Returns the number of removed pages.
    pub fn removed(&self) -> u64 {
        self.bytes + self.text + self.near
    }
}

/// Finds the duplicates and near-duplicates of a corpus.
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
                bytes: counted(counter::BYTES),
                text: counted(counter::TEXT),
                near: counted(counter::NEAR),
                recapture: counted(counter::RECAPTURE),
                url_alias: counted(counter::URL_ALIAS),
                server_alias: counted(counter::SERVER_ALIAS),
                replica: counted(counter::REPLICA),
                saved_bytes: counted(counter::SAVED_BYTES),
                classes: counted(counter::CLASSES_OF_PAGES),
                records: u64::from(records),
                repeated_records: counted(counter::REPEATED_RECORDS),
                repeated_revisits: counted(counter::REPEATED_REVISITS),
                candidates: counted(counter::CANDIDATES),
                verified: counted(counter::VERIFIED),
                rounds: u64::from(rounds.unwrap_or(0)),
                pages_crowded: last
                    .filter_map(|stage| stage.counters.get(candidates::PAGES_CROWDED))
                    .sum(),
                wide_classes: counted(counter::WIDE_CLASSES),
            };
            Ok(json!(summary))
        },
    )
}

/// Bytes of memory for each page with text that cannot be spilled: its rank, the page it duplicates
/// and in which way, whether it is removed in the current round, whether it has had enough
/// candidates, and a few bits.
pub const BYTES_PER_PAGE: u64 = 21;

/// Fails before anything is read if the states of all pages do not fit. States may take half of the
/// memory, minus an eighth for the filter of bands.
fn check_memory(source: &CorpusPages, params: &CopiesParams, memory: u64) -> Result<()> {
    if on_cluster() {
        return Ok(());
    }
    let records = u64::from(source.all() - source.kept());
    let per_page = if params.near() { BYTES_PER_PAGE } else { 13 };
    let states = u64::from(source.kept()) * per_page + records * 13;
    let needed = (states / 3).saturating_mul(8);
    if needed > memory {
        return Err(cento_flow::Error::TooLittleMemory {
            limit: memory,
            needed,
            reason: format!(" for {per_page} bytes per page"),
        }
        .into());
    }
    Ok(())
}

/// Returns the registry that implements the stages of [`flow`].
pub fn registry(source: &Arc<CorpusPages>, params: &CopiesParams) -> Registry {
    let mut registry = Registry::new();
    registry.state::<Numbers>(Numbers::KIND);
    exact::register(&mut registry, source, params);
    near::register(&mut registry, source, params);
    candidates::register(&mut registry, params);
    verify::register(&mut registry, source, params);
    resolve::register(&mut registry, source);
    pairs::register(&mut registry, source);
    mirrors::register(&mut registry, source);
    pairs::register_near(&mut registry);
    names::register(&mut registry, source);
    registry
}

/// Returns the flow over the pages of a corpus.
pub fn flow(source: &CorpusPages, params: &CopiesParams, memory: u64) -> Flow {
    let pages = json!({ "pages": source.all() });
    let number_bits = 32 - source.all().leading_zeros();
    let bits = u64::from(source.kept()).div_ceil(8).max(8);
    let mut flow = with_named(Flow::new(COPIES), source)
        .state(state::RANKS, Numbers::KIND, pages.clone())
        .state(state::KEPT_OF, Numbers::KIND, pages.clone())
        .state(state::LINKS, Numbers::KIND, pages)
        .state(state::DUPLICATE, "bitmap", json!({ "bytes": bits }))
        .state(state::SAME_BYTES, "bitmap", json!({ "bytes": bits }))
        .shuffle(shuffle::DATES)
        .shuffle_with(shuffle::DISTINCT_DATES, in_order())
        .shuffle(shuffle::BY_DATE)
        .shuffle(shuffle::BY_TEXT)
        .shuffle(shuffle::BY_PAYLOAD)
        .stage(
            Stage::map(stage::DATES, source.page_tasks())
                .with(json!({ "source": source.identity(), "params": params }))
                .writes(state::RANKS)
                .writes(shuffle::DATES)
                .writes(shuffle::BY_DATE),
        )
        .stage(Stage::reduce(stage::DISTINCT_DATES, shuffle::DATES).writes(shuffle::DISTINCT_DATES))
        .stage(Stage::reduce(stage::RANK, shuffle::DISTINCT_DATES).writes(shuffle::BY_DATE))
        .stage(Stage::reduce(stage::RANK_PAGES, shuffle::BY_DATE).writes(state::RANKS))
        .stage(
            Stage::map(stage::FACTS, source.page_tasks())
                .reads(state::RANKS)
                .writes(shuffle::BY_TEXT)
                .writes(shuffle::BY_PAYLOAD),
        )
        .stage(
            Stage::reduce(stage::SAME_TEXT, shuffle::BY_TEXT)
                .writes(state::DUPLICATE)
                .writes(state::KEPT_OF)
                .writes(state::LINKS),
        )
        .stage(
            Stage::reduce(stage::SAME_PAYLOAD, shuffle::BY_PAYLOAD)
                .writes(state::SAME_BYTES)
                .writes(state::KEPT_OF)
                .writes(state::LINKS),
        );
    if params.near() && source.has_text() {
        flow = with_near(flow, source, params, memory, number_bits);
    }
    with_findings(flow, source, number_bits)
}

/// Returns the settings of a shuffle with one partition, for decisions that depend on the order of
/// all rows.
fn in_order() -> cento_flow::Shuffle {
    cento_flow::Shuffle {
        fixed: true,
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
    // Two bytes per band keep false positives rare; the filter takes at most an eighth of the
    // memory.
    let buckets = match params.scheme {
        CopiesScheme::Resemblance => 2 * params.bands().count,
        CopiesScheme::Megashingle => 15,
    };
    let bands = u64::from(source.kept()) * u64::from(buckets);
    let seen = SeenFilter::parameters(bands, 2, memory / 8);
    let flow = flow
        .state(state::BANDS_SEEN, "seen-filter", seen)
        .shuffle_of_numbers(shuffle::BY_PAGE, bits)
        .shuffle(shuffle::BY_BAND)
        .shuffle_with(shuffle::EDGES, in_order())
        .stage(
            Stage::map(stage::SKETCH, source.text_tasks())
                .reads(state::DUPLICATE)
                .reads(state::RANKS)
                .writes(state::BANDS_SEEN)
                .writes(shuffle::BY_PAGE),
        );
    let spread = Stage::reduce(stage::SPREAD, shuffle::BY_PAGE)
        .reads(state::BANDS_SEEN)
        .writes(shuffle::BY_BAND);
    match params.scheme {
        CopiesScheme::Megashingle => flow
            .stage(spread)
            .stage(Stage::reduce(stage::AGREE, shuffle::BY_BAND).writes(shuffle::EDGES))
            .stage(
                Stage::reduce(stage::CLOSURE, shuffle::EDGES)
                    .reads(state::RANKS)
                    .writes(state::KEPT_OF)
                    .writes(state::LINKS),
            ),
        CopiesScheme::Resemblance => flow
            .state(
                state::REMOVED,
                Numbers::KIND,
                json!({ "pages": source.kept() }),
            )
            .state(
                state::SATED,
                Numbers::KIND,
                json!({ "pages": source.kept() }),
            )
            .shuffle_of_numbers(shuffle::POSSIBLE, bits)
            .shuffle_of_numbers(shuffle::TRIED, bits)
            .shuffle_of_numbers(shuffle::CANDIDATES, bits)
            .shuffle(shuffle::WAITING)
            .shuffle_with(shuffle::KNOWN_EDGES, in_order())
            .stage(spread.writes(state::REMOVED).writes(state::SATED))
            .repeat(
                vec![
                    Stage::reduce(stage::MEET, shuffle::BY_BAND)
                        .reads(state::REMOVED)
                        .reads(state::SATED)
                        .writes(shuffle::POSSIBLE)
                        .writes(shuffle::WAITING),
                    Stage::reduce(stage::RECALL, shuffle::TRIED).writes(shuffle::POSSIBLE),
                    Stage::reduce(stage::CHOOSE, shuffle::POSSIBLE)
                        .reads(state::REMOVED)
                        .writes(state::SATED)
                        .writes(shuffle::CANDIDATES)
                        .writes(shuffle::TRIED),
                    Stage::reduce(stage::VERIFY, shuffle::CANDIDATES)
                        .writes(shuffle::EDGES)
                        .writes(shuffle::TRIED),
                    Stage::reduce(stage::CARRY, shuffle::KNOWN_EDGES).writes(shuffle::EDGES),
                    Stage::reduce(stage::DECIDE, shuffle::EDGES)
                        .writes(state::REMOVED)
                        .writes(shuffle::KNOWN_EDGES),
                    Stage::reduce(stage::REQUEUE, shuffle::WAITING).writes(shuffle::BY_BAND),
                ],
                candidates::CHANGES,
                u32::from(candidates::ROUNDS) + 1,
            )
            .shuffle_of_numbers(shuffle::NEAR_OF, bits)
            .shuffle_of_numbers(shuffle::NEAR, bits)
            .table(NEAR_PAIRS)
            .stage(
                Stage::reduce(stage::RESOLVE, shuffle::KNOWN_EDGES)
                    .writes(state::KEPT_OF)
                    .writes(state::LINKS)
                    .writes(NAMED)
                    .writes(shuffle::NEAR_OF),
            )
            .stage(names::stage(source, &[shuffle::NEAR_OF, shuffle::NEAR]))
            .stage(Stage::reduce(stage::NEAR_OF, shuffle::NEAR_OF).writes(shuffle::NEAR))
            .stage(Stage::reduce(stage::NEAR_PAGES, shuffle::NEAR).writes(NEAR_PAIRS.as_str())),
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
        .shuffle_of_numbers(shuffle::BY_KEPT, bits)
        .shuffle(shuffle::HOSTS)
        .shuffle(shuffle::OF_HOSTS)
        .shuffle(shuffle::BY_VERDICT)
        .shuffle_of_numbers(shuffle::BY_ID, 64 - last_id.leading_zeros())
        .table(PAIRS)
        .table(CLASSES)
        .stage(
            Stage::map(stage::TARGETS, ranges)
                .reads(state::KEPT_OF)
                .reads(state::LINKS)
                .writes(NAMED),
        )
        .stage(
            Stage::map(stage::REMOVED_PAGES, source.page_tasks())
                .reads(state::KEPT_OF)
                .reads(state::LINKS)
                .reads(state::DUPLICATE)
                .reads(state::SAME_BYTES)
                .reads(NAMED)
                .writes(shuffle::BY_KEPT)
                .writes(shuffle::HOSTS)
                .writes(shuffle::OF_HOSTS),
        )
        .stage(
            Stage::reduce(stage::CLASSES, shuffle::BY_KEPT)
                .writes(CLASSES.as_str())
                .writes(shuffle::BY_VERDICT)
                .writes(shuffle::BY_ID),
        );
    mirrors::with_evidence(flow, source, bits)
        .stage(Stage::reduce(stage::CAUSES, shuffle::BY_VERDICT).writes(shuffle::BY_ID))
        .stage(Stage::reduce(stage::PAIRS, shuffle::BY_ID).writes(PAIRS.as_str()))
}
