//! Quilted pages (Najork 2012): pages stitched from patches of others, all of them, with all of
//! their sources.
//!
//! A page *d* is (k, m, c, θ)-quilted if at least the share θ of its distinct k-grams are patch
//! grams, which are those on 2 to m pages, and if it takes at least c other pages to cover these.
//! The fewest pages would be NP-hard to find; as in the paper the cover is greedy, with ties broken
//! by the lowest page number. Foreignness limits who can be in the cover, and not what is a patch
//! gram. With φ ([`QuiltsParams::min_share`]) sources that add less than this share of the patch
//! grams are not counted.
//!
//! That a page is quilted says that others have its words, not who took them from whom. For that
//! there are dates ([`crate::precedence`]): of pages that have the same patch the earliest is named
//! as its source, each patch says which of the two pages is earlier, and each quilt how many of its
//! grams it had first. And there are links: a gram is attributed if any foreign page that has it is
//! linked.
//!
//! ```text
//!   pages ─ facts ─▶ order, servers, domains, addresses      links ─ linked ─────┐
//!   texts ─ (note) ─ grams ─▶ by gram ─ patch grams ─▶ postings ─ others ─▶ others ─ cover ─▶ …
//!                      └────▶ counts ◀──┘    counts ─ patchy ──────▲──▲
//!   … ─▶ sought ─ runs ─▶ by page ─ settle ─▶ quilts, patches
//!   … ─▶ by source ─ sources ──────▶
//! ```

mod cover;
mod find;
mod grams;
mod order;
mod params;
mod places;
mod rows;
mod sample;
mod servers;
mod settle;
mod sweep;
mod table;

use std::sync::Arc;

use cento_flow::{Flow, Registry, Stage};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use params::{Foreign, MOST_PAGES, QuiltsParams};
pub use sample::sample;
pub use settle::{PatchRow, QuiltRow};
pub use sweep::{SWEEP, Sweep, SweepRow, sweep};

use params::{Level, Point};
use rows::GramPage;
use servers::{Common, domains_of};

use crate::collapsed;
use crate::copies::CopiesParams;
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::names::{NAMED, with_named};
use crate::numbers::Numbers;
use crate::run::{Findings, Workplace};

/// The name of the analysis.
pub const QUILTS: &str = "quilts";

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuiltsSummary {
    /// Pages that were compared.
    pub pages: u64,
    /// Pages that were left out as copies.
    pub collapsed: u64,
    /// Pages of which it is not known on which server they are: foreign to all others.
    pub of_no_server: u64,
    /// Distinct grams of pages, added up over all pages.
    pub grams: u64,
    /// Those of them that are patch grams.
    pub patch_grams: u64,
    /// Pages with enough patch grams.
    pub patchy: u64,
    /// For each patch gram of each patchy page, the other pages that it could be from.
    pub triples: u64,
    /// Quilted pages.
    pub quilts: u64,
    /// Sources of all of them.
    pub patches: u64,
    /// Patches of which every gram is on a foreign page or domain that the quilted page links to.
    pub attributed_patches: u64,
    /// Quilted pages that link to foreign pages with half or more of the patch grams that any
    /// foreign page has.
    pub attributed_quilts: u64,
    /// Quilted pages that had more than half of their shared grams before all others, by the dates.
    pub first_quilts: u64,
    /// Patches whose source is earlier than the page, by their dates.
    pub earlier_sources: u64,
    /// Patches whose source is later.
    pub later_sources: u64,
    /// Patches of two pages of the same date.
    pub same_dates: u64,
}

/// Looks for quilted pages.
pub fn quilts(
    source: &Arc<CorpusPages>,
    params: &QuiltsParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    check_text(source)?;
    workplace.run(
        QUILTS,
        params,
        source,
        || {
            let copies = removed(source, params, workplace)?;
            let flow = flow(source, params, workplace.memory, copies.as_ref());
            Ok((registry(source, params), flow))
        },
        |_, report| {
            let counted = |name: &str| report.counted(name);
            let rows = |name: &str| report.rows(name);
            Ok(json!(QuiltsSummary {
                pages: u64::from(source.kept()) - counted(collapsed::GONE),
                collapsed: counted(collapsed::GONE),
                of_no_server: counted("pages of no known server"),
                grams: counted("grams of pages"),
                patch_grams: counted("patch grams of pages"),
                patchy: counted("patchy pages"),
                triples: counted("page, gram, other page"),
                quilts: rows("quilts"),
                patches: rows("patches"),
                attributed_patches: counted("attributed patches"),
                attributed_quilts: counted("attributed quilts"),
                first_quilts: counted("first quilts"),
                earlier_sources: counted("source"),
                later_sources: counted("page"),
                same_dates: counted("same"),
            }))
        },
    )
}

/// Fails if there is nothing to read.
fn check_text(source: &CorpusPages) -> Result<()> {
    if source.has_text() {
        return Ok(());
    }
    Err(Error::Unsuitable(
        "the corpus keeps no text, and quilts are found by their words".to_owned(),
    ))
}

/// The copies that are left out, if they are.
fn removed(
    source: &Arc<CorpusPages>,
    params: &QuiltsParams,
    workplace: &Workplace,
) -> Result<Option<Findings>> {
    if !params.collapse {
        return Ok(None);
    }
    collapsed::removed(source, &CopiesParams::default(), workplace).map(Some)
}

/// What the names in the flow mean.
fn registry(source: &Arc<CorpusPages>, params: &QuiltsParams) -> Registry {
    let mut registry = Registry::new();
    registry.state::<Numbers>("numbers");
    collapsed::register(&mut registry, source);
    servers::register(&mut registry, source, params.foreign);
    grams::register(&mut registry, source);
    find::register(&mut registry, source);
    places::register(&mut registry, source);
    settle::register(&mut registry, source, params.foreign != Foreign::None);
    registry
}

impl Level {
    fn new(
        source: &CorpusPages,
        params: &QuiltsParams,
        k: u32,
        ms: Vec<u32>,
        points: Vec<Point>,
        memory: u64,
        findings: bool,
    ) -> Level {
        Level {
            k,
            ms,
            points,
            min_share: params.min_share,
            foreign: params.foreign,
            // What fits need not be read twice: the second reading costs more than sorting what it
            // would save.
            filtered: words(source) * size_of::<GramPage>() as u64 > memory / 2,
            findings,
            source: source.identity(),
        }
    }
}

/// Words of all pages, of which each begins at most one gram.
fn words(source: &CorpusPages) -> u64 {
    let corpora = source.corpora().iter();
    let parts = corpora.flat_map(|corpus| &corpus.manifest().parts);
    parts.map(|part| part.counts.words).sum()
}

fn number_bits(source: &CorpusPages) -> u32 {
    32 - source.kept().leading_zeros()
}

fn bitmap_bytes(source: &CorpusPages) -> u64 {
    u64::from(source.kept()).div_ceil(8).max(8)
}

/// Adds what is known of pages.
fn common_stages(
    flow: Flow,
    source: &CorpusPages,
    params: &QuiltsParams,
    copies: Option<&Findings>,
    findings: bool,
) -> Flow {
    let pages = json!({ "pages": source.kept() });
    let mut flow = collapsed::with_gone(flow, source, copies, &json!(params));
    let mut commons = Vec::new();
    if params.foreign != Foreign::None {
        commons.push(Common::Server);
    }
    if findings {
        commons.extend([domains_of(params.foreign), Common::Address]);
        commons.dedup();
        flow = flow.shuffle("link ends");
    }
    if commons.is_empty() {
        return flow;
    }
    let mut facts = Stage::map("facts", source.page_tasks())
        .with(json!({ "source": source.identity(), "params": params }));
    if findings {
        flow = flow.state("order", "order", pages.clone());
        facts = facts.writes("order");
    }
    for common in &commons {
        flow = flow
            .shuffle(common.shuffle())
            .state(common.state(), "numbers", pages.clone());
        facts = facts.writes(common.shuffle());
    }
    flow = flow.stage(facts);
    for common in commons {
        let alike = Stage::reduce("alike", common.shuffle())
            .named(common.state())
            .with(json!(common))
            .writes(common.state());
        let is_end = common == Common::Address || common == domains_of(params.foreign);
        flow = flow.stage(match findings && is_end {
            true => alike.writes("link ends"),
            false => alike,
        });
    }
    flow
}

/// Adds the stages from texts to covers for one k.
fn level_stages(flow: Flow, source: &CorpusPages, level: &Level, memory: u64) -> Flow {
    let name = |what: &str| level.name(what);
    let with = |stage: Stage| {
        let named = name(&stage.name);
        stage.named(&named).with(json!(level))
    };
    let bits = number_bits(source);
    let mut flow = flow
        .state(
            &name("patchy"),
            "bitmap",
            json!({ "bytes": bitmap_bytes(source) }),
        )
        .shuffle(&name("by gram"))
        .shuffle(&name("postings"))
        .shuffle_of_numbers(&name("counts"), bits)
        .shuffle_of_numbers(&name("others"), bits);
    let mut grams = with(Stage::map("grams", source.text_tasks()))
        .reads(collapsed::GONE)
        .writes(&name("by gram"))
        .writes(&name("counts"));
    if level.filtered {
        // Four bytes for each gram, but no more than a quarter of the memory.
        let bytes = (words(source) * 4).clamp(1 << 12, (memory / 4).max(1 << 12));
        flow = flow
            .state(&name("seen"), "seen-filter", json!({ "bytes": bytes }))
            .stage(
                with(Stage::map("note", source.text_tasks()))
                    .reads(collapsed::GONE)
                    .writes(&name("seen")),
            );
        grams = grams.reads(&name("seen"));
    }
    let mut patch_grams = with(Stage::reduce("patch grams", &name("by gram")))
        .writes(&name("counts"))
        .writes(&name("postings"));
    let mut others = with(Stage::reduce("others", &name("postings")))
        .reads(&name("patchy"))
        .writes(&name("others"));
    let mut cover = with(Stage::reduce("cover", &name("others")));
    if level.foreign != Foreign::None {
        others = others.reads("servers");
    }
    if level.findings {
        patch_grams = patch_grams.reads("order");
        cover = cover
            .reads("order")
            .reads(domains_of(level.foreign).state())
            .reads(Common::Address.state())
            .writes(NAMED)
            .writes("by page")
            .writes("by source")
            .writes("sought");
    } else {
        grams = grams.writes("tally");
        cover = cover.writes("tally");
    }
    let mut flow = flow.stage(grams).stage(patch_grams).stage(
        with(Stage::reduce("patchy", &name("counts")))
            .writes(&name("patchy"))
            .writes(&name("others")),
    );
    if level.findings {
        flow = flow
            .stage(
                with(Stage::map("links", source.page_tasks()))
                    .reads(&name("patchy"))
                    .writes("link ends"),
            )
            .stage(with(Stage::reduce("linked", "link ends")).writes(&name("others")));
    }
    flow.stage(others).stage(cover)
}

/// The flow over a source.
fn flow(
    source: &CorpusPages,
    params: &QuiltsParams,
    memory: u64,
    copies: Option<&Findings>,
) -> Flow {
    let bits = number_bits(source);
    let points = vec![Point {
        number: 0,
        m: 0,
        c: params.c,
        theta: params.theta,
    }];
    let level = Level::new(
        source,
        params,
        params.k,
        vec![params.m],
        points,
        memory,
        true,
    );
    let flow = with_named(Flow::new(QUILTS), source)
        .shuffle_of_numbers("by page", bits)
        .shuffle_of_numbers("by source", bits)
        .shuffle_of_numbers("sought", bits)
        .table("quilts")
        .table("patches");
    let flow = common_stages(flow, source, params, copies, true);
    level_stages(flow, source, &level, memory)
        .stage(
            Stage::reduce("runs", "sought")
                .with(json!(level))
                .writes("by page"),
        )
        .stage(crate::names::stage(source, &["by page", "by source"]))
        .stage(Stage::reduce("sources", "by source").writes("by page"))
        .stage(
            Stage::reduce("settle", "by page")
                .writes("quilts")
                .writes("patches"),
        )
}
