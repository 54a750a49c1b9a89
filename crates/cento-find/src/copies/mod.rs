//! Copies and near-copies (Fetterly, Manasse, Najork 2005 §3; Shivakumar & Garcia-Molina 1998 §3).
//!
//! * Exact copies: pages of the same payload or of the same text, told apart, and records that refer to a payload.
//! * Near-copies: pages whose gram sets resemble each other by `R` at least. Bands of a sketch of 84 minima bring a pair at `R`
//!   together with a probability of 98 %; the resemblance of those that meet is computed from all their grams, so that no
//!   page is dropped by chance.
//! * Who stays: the first by a policy. A page goes only for a page that stays and that it itself resembles.
//! * Why there are two: one server with two addresses for a page, two names of one server, or a replica.
//!
//! ```text
//!   pages ─ facts ─┬─▶ by text ── same text ──▶ duplicate, kept of
//!                  └─▶ by payload ─ same payload ─▶ kept of
//!   texts ─ sketch (without duplicates) ─▶ … ─▶ candidates ─ verify ─▶ edges ─ resolve ─▶ kept of
//!   pages ─ settle ─▶ … ─▶ pairs, classes, mirrors, prefixes
//! ```

mod exact;
mod filter;
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

use crate::error::Result;
use crate::names::{self, NAMED, with_named};
use crate::numbers::Numbers;
use crate::run::{Findings, Workplace};
use crate::source::Source;

/// The name of the analysis.
pub const COPIES: &str = "copies";
/// Pages whose pointers are followed in one task.
const RANGE: u32 = 1 << 20;

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiesSummary {
    /// Pages that were compared by their text.
    pub pages: u64,
    /// All pages, those without text too.
    pub all_pages: u64,
    /// Whether the corpus keeps no text, so that near-copies were not looked for.
    pub without_text: bool,
    /// Pages that go, by how they are alike.
    pub bytes: u64,
    /// Records that refer to the payload of another page.
    pub revisit: u64,
    /// The same text in other bytes.
    pub text: u64,
    /// Near-copies.
    pub near: u64,
    /// Pages that go, by why there are two.
    pub url_alias: u64,
    /// Copies on another name of the same server.
    pub server_alias: u64,
    /// All other copies.
    pub replica: u64,
    /// The bytes of all pages that go.
    pub saved_bytes: u64,
    /// Pages that stay and have copies.
    pub classes: u64,
    /// Candidates for near-copies.
    pub candidates: u64,
    /// Those that are.
    pub verified: u64,
    /// Buckets that were too large and were split.
    pub buckets_split: u64,
    /// Split buckets that were still too large: pages there were not compared with all of their representatives.
    pub buckets_full: u64,
    /// The pages that this is true of.
    pub pages_beyond: u64,
}

impl CopiesSummary {
    /// Pages that go.
    pub fn dropped(&self) -> u64 {
        self.bytes + self.revisit + self.text + self.near
    }
}

/// Looks for copies.
pub fn copies(
    source: &Arc<Source>,
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
            Ok((
                registry(source, params),
                flow(source, params, workplace.memory),
            ))
        },
        |_, report| {
            let counted = |name: &str| report.counted(name);
            let rows = |name: &str| report.rows(name);
            let summary = CopiesSummary {
                pages: u64::from(
                    source.kept()
                        - if params.against {
                            source.kept_before(1)
                        } else {
                            0
                        },
                ),
                all_pages: u64::from(source.all()),
                without_text,
                bytes: counted("bytes"),
                revisit: counted("revisit"),
                text: counted("text"),
                near: counted("near"),
                url_alias: counted("url-alias"),
                server_alias: counted("server-alias"),
                replica: counted("replica"),
                saved_bytes: counted("saved bytes"),
                classes: rows("classes"),
                candidates: counted("candidates"),
                verified: counted("verified"),
                buckets_split: counted("buckets split"),
                buckets_full: counted("buckets full"),
                pages_beyond: counted("pages beyond full buckets"),
            };
            Ok(json!(summary))
        },
    )
}

/// What the names in the flow mean.
pub fn registry(source: &Arc<Source>, params: &CopiesParams) -> Registry {
    let mut registry = Registry::new();
    registry.state::<Numbers>("numbers");
    exact::register(&mut registry, source, params);
    near::register(&mut registry, source, params);
    verify::register(&mut registry, source, params);
    resolve::register(&mut registry, source);
    settle::register(&mut registry, source);
    mirrors::register(&mut registry, source);
    settle::register_near(&mut registry);
    names::register(&mut registry, source);
    registry
}

/// The flow over a source.
pub fn flow(source: &Source, params: &CopiesParams, memory: u64) -> Flow {
    let pages = json!({ "pages": source.all() });
    let number_bits = 32 - source.all().leading_zeros();
    let bits = u64::from(source.kept()).div_ceil(8).max(8);
    let mut flow = with_named(Flow::new(COPIES), source)
        .state("ranks", "numbers", pages.clone())
        .state("kept of", "numbers", pages.clone())
        .state("links", "numbers", pages)
        .state("duplicate", "bitmap", json!({ "bytes": bits }))
        .shuffle("by text")
        .shuffle("by payload")
        .stage(
            Stage::map("facts", source.page_tasks())
                .with(json!({ "source": source.identity(), "params": params }))
                .writes("ranks")
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
                .writes("kept of")
                .writes("links"),
        );
    if params.near() && source.has_text() {
        flow = with_near(flow, source, params, memory, number_bits);
    }
    with_findings(flow, source, number_bits)
}

fn with_near(flow: Flow, source: &Source, params: &CopiesParams, memory: u64, bits: u32) -> Flow {
    // Two bytes a band, so that few bands are taken for shared ones by chance; but no more than an eighth of the memory.
    let buckets = match params.scheme {
        CopiesScheme::Resemblance => 2 * params.bands().count,
        CopiesScheme::Megashingle => 15,
    };
    let seen = (u64::from(source.kept()) * u64::from(buckets) * 2)
        .clamp(1 << 12, (memory / 8).max(1 << 12));
    // One partition: who stays is decided in one order.
    let in_order = cento_flow::Shuffle {
        partitions: 1,
        ..cento_flow::Shuffle::default()
    };
    let flow = flow
        .state("bands seen", "seen-filter", json!({ "bytes": seen }))
        .shuffle_of_numbers("by page", bits)
        .shuffle("by band")
        .shuffle_with("edges", in_order)
        .stage(
            Stage::map("sketch", source.text_tasks())
                .reads("duplicate")
                .reads("ranks")
                .writes("bands seen")
                .writes("by page"),
        )
        .stage(
            Stage::reduce("spread", "by page")
                .reads("bands seen")
                .writes("by band"),
        );
    match params.scheme {
        CopiesScheme::Megashingle => flow
            .stage(Stage::reduce("agree", "by band").writes("edges"))
            .stage(
                Stage::reduce("close", "edges")
                    .reads("ranks")
                    .writes("kept of")
                    .writes("links"),
            ),
        CopiesScheme::Resemblance => flow
            .shuffle("by finer band")
            .shuffle_of_numbers("candidates", bits)
            .stage(
                Stage::reduce("meet", "by band")
                    .writes("candidates")
                    .writes("by finer band"),
            )
            .stage(Stage::reduce("meet again", "by finer band").writes("candidates"))
            .stage(Stage::reduce("verify", "candidates").writes("edges"))
            .shuffle_of_numbers("near of", bits)
            .shuffle_of_numbers("near", bits)
            .table("near_pairs")
            .stage(
                Stage::reduce("resolve", "edges")
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

fn with_findings(flow: Flow, source: &Source, bits: u32) -> Flow {
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
