//! Popular phrases, and the pages and sites that are made of them (Fetterly, Manasse, Najork 2005
//! §3.3–3.5 and §4).
//!
//! * A page's *phrases* are all runs of five words in it, and its *shingles* 84 of these, sampled
//!   so that pages which share phrases tend to share shingles. Unlike in the paper a page is not
//!   closed to a circle: the last words of a page followed by its first ones are a phrase that
//!   nobody wrote. A page of fewer words has no phrase and no shingle.
//! * A phrase is *popular* if it is a shingle of five pages at least; near-copies count as one
//!   page. Or by all pages that have it ([`PhrasesParams::exact`]): then a shingle is popular if
//!   its phrase is anywhere on five pages.
//! * A *covering set* of a page are other pages that have its popular shingles ([`CoverRow`]),
//!   preferably foreign ones ([`ForeignBy`]). It says from where a page could be put together, not
//!   from where it was.
//! * A *site* has a mean and a deviation of popular shingles a page, and is flagged if it has many
//!   of them on all of its pages.
//! * *Originality* is what is left: for a page, the share of its phrases that no other page has;
//!   for a site, of what no other site has. It is made from all phrases of all pages, whether or
//!   not popularity is sampled: a sample would call every phrase original that other pages have,
//!   but not among their 84.
//!
//! ```text
//!   copies ─▶ gone                       pages ─ homes ─▶ … ─▶ host, domain, ip
//!   texts ─ (note) ─ shingle ─▶ by phrase ─ count ─▶ (holders ─ share) ─▶ by page ─ weigh ─▶ page rows ─▶ pages, sites
//!                                   └▶ examples ─ words ─▶ … ─▶ phrases     └▶ … nominate, offer, cover ─▶ covers
//! ```
//!
//! Nothing here takes time or memory that grows with the square of anything: a phrase is streamed
//! past, however many pages have it, and covers are limited as `cover` tells.

mod count;
mod cover;
mod figures;
mod gather;
mod params;
mod rows;
mod settle;

use std::sync::Arc;

use cento_flow::{Flow, Registry, Stage};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use figures::{PhraseFigures, SiteFigure, figures};
pub use params::{ForeignBy, PhrasesParams, SiteKind};
pub use settle::{CoverRow, PageRow, PhraseRow, SiteRow};

use crate::collapsed::{self, GONE};
use crate::copies::CopiesParams;
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::names::{self, NAMED, with_named};
use crate::numbers::Numbers;
use crate::run::{Findings, Workplace};

/// The name of the analysis.
pub const PHRASES: &str = "phrases";

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhrasesSummary {
    /// Pages that were looked at.
    pub pages: u64,
    /// Pages that were left out as copies of others.
    pub gone: u64,
    /// Popular phrases.
    pub phrases: u64,
    /// Pages with so many popular shingles that they may be covered.
    pub popular_pages: u64,
    /// Pages that were covered.
    pub covered: u64,
    /// Phrases that more other pages have than there may be candidates for a cover.
    pub crowded: u64,
    /// Pages that were covered with such phrases among their popular shingles: with more candidates
    /// the cover might be smaller, or more of it foreign.
    pub cut_covers: u64,
    /// Pages whose server's address is not known.
    pub no_address: u64,
    /// Sites.
    pub sites: u64,
    /// Sites that are flagged.
    pub flagged: u64,
}

/// Looks for popular phrases.
pub fn phrases(
    source: &Arc<CorpusPages>,
    params: &PhrasesParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    if !source.has_text() {
        return Err(Error::Unsuitable(
            "the corpus keeps no text to find phrases in: index it again without --no-text".into(),
        ));
    }
    workplace.run(
        PHRASES,
        params,
        source,
        || {
            let pairs = match params.collapse {
                Some(scheme) => Some(collapse(source, params, scheme, workplace)?),
                None => None,
            };
            let flow = flow(source, params, workplace.memory, pairs.as_ref());
            Ok((registry(source, params), flow))
        },
        |_, report| {
            let counted = |name: &str| report.counted(name);
            let rows = |name: &str| report.rows(name);
            Ok(json!(PhrasesSummary {
                pages: counted("pages"),
                gone: counted(GONE),
                phrases: rows("phrases"),
                popular_pages: counted("pages of popular shingles"),
                covered: counted("covered"),
                crowded: counted("phrases of more pages than candidates"),
                cut_covers: counted("covers of some candidates"),
                no_address: counted("pages of no address"),
                sites: rows("sites"),
                flagged: counted("flagged"),
            }))
        },
    )
}

/// Finds near-copies, or has them found already.
fn collapse(
    source: &Arc<CorpusPages>,
    params: &PhrasesParams,
    scheme: crate::copies::CopiesScheme,
    workplace: &Workplace,
) -> Result<Findings> {
    let params = CopiesParams {
        k: params.k,
        scheme,
        ..CopiesParams::default()
    };
    collapsed::removed(source, &params, workplace)
}

/// What the names in the flow mean.
pub fn registry(source: &Arc<CorpusPages>, params: &PhrasesParams) -> Registry {
    let mut registry = Registry::new();
    registry.state::<Numbers>("numbers");
    collapsed::register(&mut registry, source);
    gather::register(&mut registry, source, params);
    count::register(&mut registry, params);
    cover::register(&mut registry, params);
    settle::register(&mut registry, source, params);
    names::register(&mut registry, source);
    registry
}

/// The flow over a source, without the pages that findings of copies say go.
pub fn flow(
    source: &CorpusPages,
    params: &PhrasesParams,
    memory: u64,
    copies: Option<&Findings>,
) -> Flow {
    let bits = 32 - source.all().leading_zeros();
    let bitmap = json!({ "bytes": u64::from(source.kept()).div_ceil(8).max(8) });
    let mut kinds = vec![SiteKind::Domain, SiteKind::Ip, params.site];
    kinds.sort_unstable();
    kinds.dedup();
    let flow = with_named(Flow::new(PHRASES), source);
    let mut flow = collapsed::with_gone(flow, source, copies, &json!(params));
    let mut homes = Stage::map("homes", source.page_tasks())
        .with(json!(kinds))
        .reads(GONE);
    for &kind in &kinds {
        let pages = json!({ "pages": source.kept() });
        flow = flow
            .shuffle(gather::meeting(kind))
            .state(kind.name(), "numbers", pages);
        homes = homes.writes(gather::meeting(kind));
    }
    flow = flow.stage(homes);
    for &kind in &kinds {
        flow = flow.stage(
            Stage::reduce("alike", gather::meeting(kind))
                .named(&format!("alike {kind}"))
                .with(json!(kind))
                .writes(kind.name()),
        );
    }
    flow = with_phrases(flow, source, params, memory, bits);
    if params.covers() {
        flow = flow.state("covered", "bitmap", bitmap);
        flow = with_covers(flow, bits);
    }
    with_findings(flow, source, params, bits)
}

fn with_phrases(
    flow: Flow,
    source: &CorpusPages,
    params: &PhrasesParams,
    memory: u64,
    bits: u32,
) -> Flow {
    // Four bytes a phrase, and no more than a quarter of the memory.
    let parts = source
        .corpora()
        .iter()
        .flat_map(|corpus| &corpus.manifest().parts);
    let words: u64 = parts.map(|part| part.counts.words).sum();
    let bytes = (4 * words).clamp(1 << 12, (memory / 4).max(1 << 12));
    let mut flow = flow
        .state("seen", "seen-filter", json!({ "bytes": bytes }))
        .stage(
            Stage::map("note", source.text_tasks())
                .reads(GONE)
                .writes("seen"),
        );
    let shingle = Stage::map("shingle", source.text_tasks())
        .reads(GONE)
        .reads("seen")
        .reads(params.site.name())
        .writes("by phrase")
        .writes("by page");
    let mut count = Stage::reduce("count", "by phrase")
        .writes(NAMED)
        .writes("by page")
        .writes("holders")
        .writes("examples");
    let mut share = Stage::reduce("share", "holders").writes("by page");
    let mut weigh = Stage::reduce("weigh", "by page").writes("page rows");
    if params.covers() {
        flow = flow.shuffle("offerers").shuffle_of_numbers("coverable", 7);
        count = count.writes("offerers");
        share = share.writes("offerers");
        weigh = weigh.writes("coverable");
    }
    flow.shuffle("by phrase")
        .shuffle_of_numbers("by page", bits)
        .shuffle("holders")
        .shuffle_of_numbers("examples", bits)
        .shuffle_of_numbers("page rows", bits)
        .stage(shingle)
        .stage(count)
        .stage(share)
        .stage(weigh)
}

fn with_covers(flow: Flow, bits: u32) -> Flow {
    flow.shuffle("nominees")
        .shuffle_of_numbers("offers", bits)
        .shuffle_of_numbers("by source", bits)
        .stage(Stage::reduce("choose", "coverable").writes("covered"))
        .stage(
            Stage::reduce("nominate", "offerers")
                .reads("covered")
                .reads(SiteKind::Domain.name())
                .reads(SiteKind::Ip.name())
                .writes("nominees"),
        )
        .stage(
            Stage::reduce("offer", "nominees")
                .reads(SiteKind::Domain.name())
                .reads(SiteKind::Ip.name())
                .writes("offers"),
        )
        .stage(
            Stage::reduce("cover", "offers")
                .reads(SiteKind::Domain.name())
                .reads(SiteKind::Ip.name())
                .writes(NAMED)
                .writes("by source"),
        )
}

fn with_findings(flow: Flow, source: &CorpusPages, params: &PhrasesParams, bits: u32) -> Flow {
    let mut flow = flow
        .shuffle_of_numbers("worded", bits)
        .shuffle_of_numbers("by popularity", bits)
        .shuffle("by site")
        .shuffle_of_numbers("by size", bits)
        .table("phrases")
        .table("pages")
        .table("covers")
        .table("sites");
    if params.covers() {
        flow = flow
            .stage(names::stage(source, &["worded", "by source"]))
            .stage(Stage::reduce("sources", "by source").writes("page rows"));
    } else {
        flow = flow.stage(names::stage(source, &["worded"]));
    }
    flow.stage(Stage::reduce("words", "examples").writes("worded"))
        .stage(Stage::reduce("rank", "worded").writes("by popularity"))
        .stage(Stage::reduce("phrases", "by popularity").writes("phrases"))
        .stage(
            Stage::map("page names", source.page_tasks())
                .reads(GONE)
                .writes("page rows"),
        )
        .stage(
            Stage::reduce("pages", "page rows")
                .writes("pages")
                .writes("covers")
                .writes("by site"),
        )
        .stage(Stage::reduce("sites", "by site").writes("by size"))
        .stage(Stage::reduce("list", "by size").writes("sites"))
}
