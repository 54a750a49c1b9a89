//! Quilted pages (Najork 2012): pages that are stitched together from patches of other pages.
//!
//! A page is (k, m, c, θ)-quilted if at least the share θ of its distinct k-grams are patch grams,
//! and at least c other pages are needed to cover the patch grams. A patch gram is a gram on 2 to m
//! pages. The smallest cover is NP-hard to find; as in the paper the cover is greedy, with ties
//! broken by the lowest page number. Foreignness restricts the pages of the cover, not the patch
//! grams. With φ ([`QuiltsParams::min_share`]) sources that add a smaller share of the patch grams
//! are not counted.
//!
//! A quilted page shares its words with others. Who copied from whom is a separate question, for
//! which there are two kinds of evidence:
//!
//! * Dates ([`crate::precedence`]): of the pages that have the same patch the earliest is named as
//!   the source, each patch says which of the two pages is earlier, and each quilt says how many of
//!   its grams it had first.
//! * Links: a gram is attributed if any foreign page that has it is linked.
//!
//! ```text
//!   pages ─ facts ─▶ order, servers, domains, addresses      links ─ linked ─────┐
//!   texts ─ (note) ─ grams ─▶ by gram ─ patch grams ─▶ postings ─ others ─▶ others ─ cover ─▶ …
//!                      └────▶ counts ◀──┘    counts ─ patchy ──────▲──▲
//!   … ─▶ positions ─ runs ─▶ by page ─ quilts and patches ─▶ quilts, patches
//!   … ─▶ by source ─ sources ──▶
//! ```

mod cover;
mod covering;
mod flow_names;
mod gram_rows;
mod grams;
mod order;
mod params;
mod places;
mod quilt_tables;
mod sample;
mod servers;
mod spilled;
mod sweep;

use std::sync::Arc;

use cento_flow::{Flow, Registry, SeenFilter, Shuffle, Stage};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use params::{Foreign, MOST_PAGES, QuiltsParams};
pub use quilt_tables::{PATCHES_TABLE, PatchRow, QUILTS_TABLE, QuiltRow};
pub use sample::sample;
pub use sweep::{SWEEP, SWEEP_TABLE, Sweep, SweepRow, sweep};

use flow_names::{counter, shuffle, stage, state};
use gram_rows::GramPage;
use params::{Level, SweepPoint};
use quilt_tables::earlier_page;
use servers::{PageProperty, domains_of};

use crate::collapsed;
use crate::copies::CopiesParams;
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::names::{NAMED, with_named};
use crate::numbers::Numbers;
use crate::run::{Findings, Workplace};

/// The name of the analysis.
pub const QUILTS: &str = "quilts";

/// The summary of `quilts`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuiltsSummary {
    /// Pages that were compared.
    pub pages: u64,
    /// Pages that were removed first as duplicates or near-duplicates.
    pub collapsed: u64,
    /// Pages whose server is unknown; they are foreign to all others.
    pub of_no_server: u64,
    /// Distinct grams of pages, summed over all pages.
    pub grams: u64,
    /// Patch grams of pages, summed over all pages.
    pub patch_grams: u64,
    /// Pages with enough patch grams.
    pub patchy: u64,
    /// Triples of a patchy page, one of its patch grams, and another page that has it.
    pub triples: u64,
    /// Quilted pages.
    pub quilts: u64,
    /// Sources of all quilted pages.
    pub patches: u64,
    /// Patches of which every gram is on a foreign page or domain that the quilted page links to.
    pub attributed_patches: u64,
    /// Quilted pages that link to foreign pages with at least half of the patch grams that any
    /// foreign page has.
    pub attributed_quilts: u64,
    /// Pages with links. If there are none, nothing is known about links: the input was text.
    pub linking: u64,
    /// Quilted pages that had more than half of their shared grams before all others, by the dates.
    pub first_quilts: u64,
    /// Patches whose source is earlier than the page, by their dates.
    pub earlier_sources: u64,
    /// Patches whose source is later.
    pub later_sources: u64,
    /// Patches of two pages of the same date.
    pub same_dates: u64,
}

/// Finds the quilted pages of a corpus.
pub fn quilts(
    corpus: &Arc<CorpusPages>,
    params: &QuiltsParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    check_text(corpus)?;
    workplace.run(
        QUILTS,
        params,
        corpus,
        || {
            let copies = removed(corpus, params, workplace)?;
            let flow = flow(corpus, params, workplace.memory, copies.as_ref());
            Ok((registry(corpus, params, workplace), flow))
        },
        |_, report| {
            let counted = |name: &str| report.counted(name);
            let rows = |name: &str| report.rows(name);
            Ok(json!(QuiltsSummary {
                pages: u64::from(corpus.kept()) - counted(collapsed::GONE),
                collapsed: counted(collapsed::GONE),
                of_no_server: counted(counter::UNKNOWN_SERVER),
                grams: counted(counter::GRAMS),
                patch_grams: counted(counter::PATCH_GRAMS),
                patchy: counted(counter::PATCHY),
                triples: counted(counter::TRIPLES),
                quilts: rows(QUILTS_TABLE.as_str()),
                patches: rows(PATCHES_TABLE.as_str()),
                attributed_patches: counted(counter::ATTRIBUTED_PATCHES),
                attributed_quilts: counted(counter::ATTRIBUTED_QUILTS),
                linking: counted(counter::LINKING),
                first_quilts: counted(counter::FIRST_QUILTS),
                earlier_sources: counted(earlier_page::SOURCE),
                later_sources: counted(earlier_page::PAGE),
                same_dates: counted(earlier_page::SAME),
            }))
        },
    )
}

/// Fails if the corpus has no text.
fn check_text(corpus: &CorpusPages) -> Result<()> {
    if corpus.has_text() {
        return Ok(());
    }
    Err(Error::Unsuitable(
        "the corpus was indexed without text, which quilts compare".to_owned(),
    ))
}

/// The findings of `copies`, if duplicates are removed first.
fn removed(
    corpus: &Arc<CorpusPages>,
    params: &QuiltsParams,
    workplace: &Workplace,
) -> Result<Option<Findings>> {
    if !params.collapse {
        return Ok(None);
    }
    collapsed::removed(corpus, &CopiesParams::default(), workplace).map(Some)
}

/// The stages and states of the flow.
fn registry(corpus: &Arc<CorpusPages>, params: &QuiltsParams, workplace: &Workplace) -> Registry {
    let temp = workplace.temp.as_ref().unwrap_or(&workplace.findings);
    let mut registry = Registry::new();
    registry.state::<Numbers>("numbers");
    collapsed::register(&mut registry, corpus);
    servers::register(&mut registry, corpus, params.foreign);
    grams::register(&mut registry, corpus);
    covering::register(&mut registry, corpus, temp);
    places::register(&mut registry, corpus);
    quilt_tables::register(&mut registry, corpus, params.foreign != Foreign::None);
    registry
}

impl Level {
    fn new(
        corpus: &CorpusPages,
        params: &QuiltsParams,
        k: u32,
        ms: Vec<u32>,
        points: Vec<SweepPoint>,
        memory: u64,
        findings: bool,
    ) -> Level {
        Level {
            k,
            ms,
            points,
            min_share: params.min_share,
            foreign: params.foreign,
            // If all grams fit in memory, a second pass over the texts costs more than sorting the
            // grams that the filter would remove.
            filtered: words(corpus) * size_of::<GramPage>() as u64 > memory / 2,
            findings,
            source: corpus.identity(),
        }
    }
}

/// The words of all pages, each of which begins at most one gram.
fn words(corpus: &CorpusPages) -> u64 {
    let corpora = corpus.corpora().iter();
    let parts = corpora.flat_map(|corpus| &corpus.manifest().parts);
    parts.map(|part| part.counts.words).sum()
}

fn number_bits(corpus: &CorpusPages) -> u32 {
    32 - corpus.kept().leading_zeros()
}

fn bitmap_bytes(corpus: &CorpusPages) -> u64 {
    u64::from(corpus.kept()).div_ceil(8).max(8)
}

/// Adds the stages that read the servers, dates and addresses of pages.
fn common_stages(
    flow: Flow,
    corpus: &CorpusPages,
    params: &QuiltsParams,
    copies: Option<&Findings>,
    findings: bool,
) -> Flow {
    let pages = json!({ "pages": corpus.kept() });
    let mut flow = collapsed::with_gone(flow, corpus, copies, &json!(params));
    let mut commons = Vec::new();
    if params.foreign != Foreign::None {
        commons.push(PageProperty::Server);
    }
    if findings {
        commons.extend([domains_of(params.foreign), PageProperty::Address]);
        commons.dedup();
        flow = flow.shuffle(shuffle::LINK_ENDS);
    }
    if commons.is_empty() {
        return flow;
    }
    let mut facts = Stage::map(stage::FACTS, corpus.page_tasks())
        .with(json!({ "source": corpus.identity(), "params": params }));
    if findings {
        flow = flow.state(state::ORDER, state::ORDER, pages.clone());
        facts = facts.writes(state::ORDER);
    }
    for common in &commons {
        flow = flow
            .shuffle(common.shuffle())
            .state(common.state(), "numbers", pages.clone());
        facts = facts.writes(common.shuffle());
    }
    flow = flow.stage(facts);
    for common in commons {
        let alike = Stage::reduce(stage::ALIKE, common.shuffle())
            .named(common.state())
            .with(json!(common))
            .writes(common.state());
        let is_end = common == PageProperty::Address || common == domains_of(params.foreign);
        flow = flow.stage(match findings && is_end {
            true => alike.writes(shuffle::LINK_ENDS),
            false => alike,
        });
    }
    flow
}

/// Partitions of grams: half as many as usual. Each lists the pages of a class again, and counts
/// for nearly every page.
const GRAM_PARTITIONS: u32 = 128;

/// Adds the stages from texts to covers for one k.
fn level_stages(flow: Flow, corpus: &CorpusPages, level: &Level, memory: u64) -> Flow {
    let name = |what: &str| level.name(what);
    let with = |stage: Stage| {
        let named = name(&stage.name);
        stage.named(&named).with(json!(level))
    };
    let bits = number_bits(corpus);
    let mut flow = flow
        .state(
            &name(state::PATCHY),
            "bitmap",
            json!({ "bytes": bitmap_bytes(corpus) }),
        )
        .shuffle_with(
            &name(shuffle::BY_GRAM),
            Shuffle {
                partitions: GRAM_PARTITIONS,
                ..Shuffle::default()
            },
        )
        .shuffle(&name(shuffle::POSTINGS))
        .shuffle_of_numbers(&name(shuffle::COUNTS), bits)
        .shuffle_of_numbers(&name(shuffle::OTHERS), bits);
    let mut grams = with(Stage::map(stage::GRAMS, corpus.text_tasks()))
        .reads(collapsed::GONE)
        .writes(&name(shuffle::BY_GRAM))
        .writes(&name(shuffle::COUNTS));
    if level.filtered {
        let seen = SeenFilter::parameters(words(corpus), 4, memory / 4);
        flow = flow.state(&name(state::SEEN), "seen-filter", seen).stage(
            with(Stage::map(stage::NOTE, corpus.text_tasks()))
                .reads(collapsed::GONE)
                .writes(&name(state::SEEN)),
        );
        grams = grams.reads(&name(state::SEEN));
    }
    let mut patch_grams = with(Stage::reduce(stage::PATCH_GRAMS, &name(shuffle::BY_GRAM)))
        .writes(&name(shuffle::COUNTS))
        .writes(&name(shuffle::POSTINGS));
    let mut others = with(Stage::reduce(stage::OTHERS, &name(shuffle::POSTINGS)))
        .reads(&name(state::PATCHY))
        .writes(&name(shuffle::OTHERS));
    let mut cover = with(Stage::reduce(stage::COVER, &name(shuffle::OTHERS)));
    if level.foreign != Foreign::None {
        others = others.reads(state::SERVERS);
    }
    if level.findings {
        patch_grams = patch_grams.reads(state::ORDER);
        cover = cover
            .reads(state::ORDER)
            .reads(domains_of(level.foreign).state())
            .reads(PageProperty::Address.state())
            .writes(NAMED)
            .writes(shuffle::BY_PAGE)
            .writes(shuffle::BY_SOURCE)
            .writes(shuffle::POSITIONS);
    } else {
        grams = grams.writes(shuffle::TALLY);
        cover = cover.writes(shuffle::TALLY);
    }
    let mut flow = flow.stage(grams).stage(patch_grams).stage(
        with(Stage::reduce(stage::PATCHY, &name(shuffle::COUNTS)))
            .writes(&name(state::PATCHY))
            .writes(&name(shuffle::OTHERS)),
    );
    if level.findings {
        flow = flow
            .stage(
                with(Stage::map(stage::LINKS, corpus.page_tasks()))
                    .reads(&name(state::PATCHY))
                    .writes(shuffle::LINK_ENDS),
            )
            .stage(
                with(Stage::reduce(stage::LINKED, shuffle::LINK_ENDS))
                    .writes(&name(shuffle::OTHERS)),
            );
    }
    flow.stage(others).stage(cover)
}

/// The flow over a corpus.
fn flow(
    corpus: &CorpusPages,
    params: &QuiltsParams,
    memory: u64,
    copies: Option<&Findings>,
) -> Flow {
    let bits = number_bits(corpus);
    let points = vec![SweepPoint {
        number: 0,
        m: 0,
        c: params.c,
        theta: params.theta,
    }];
    let level = Level::new(
        corpus,
        params,
        params.k,
        vec![params.m],
        points,
        memory,
        true,
    );
    let flow = with_named(Flow::new(QUILTS), corpus)
        .shuffle_of_numbers(shuffle::BY_PAGE, bits)
        .shuffle_of_numbers(shuffle::BY_SOURCE, bits)
        .shuffle_of_numbers(shuffle::POSITIONS, bits)
        .table(QUILTS_TABLE)
        .table(PATCHES_TABLE);
    let flow = common_stages(flow, corpus, params, copies, true);
    level_stages(flow, corpus, &level, memory)
        .stage(
            Stage::reduce(stage::RUNS, shuffle::POSITIONS)
                .with(json!(level))
                .writes(shuffle::BY_PAGE),
        )
        .stage(crate::names::stage(
            corpus,
            &[shuffle::BY_PAGE, shuffle::BY_SOURCE],
        ))
        .stage(Stage::reduce(stage::SOURCES, shuffle::BY_SOURCE).writes(shuffle::BY_PAGE))
        .stage(
            Stage::reduce(stage::QUILTS, shuffle::BY_PAGE)
                .writes(QUILTS_TABLE.as_str())
                .writes(PATCHES_TABLE.as_str()),
        )
}
