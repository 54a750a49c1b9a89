//! Popular phrases, and the pages and sites that consist of them (Fetterly, Manasse, Najork 2005
//! §3.3–3.5 and §4).
//!
//! * The *phrases* of a page are all runs of five words, and its *shingles* are a sample of 84 of
//!   them, drawn so that pages with common phrases tend to have common shingles. Unlike in the
//!   paper the text is not circular: nobody wrote the phrases that join the end of a page to its
//!   beginning. A page of fewer than five words has no phrases and no shingles.
//! * A phrase is *popular* if it is a shingle of at least five pages; near-duplicates count as one
//!   page. With [`PhrasesParams::exact`] it is popular if it occurs anywhere on at least five
//!   pages.
//! * A *covering set* of a page consists of other pages that have its popular shingles
//!   ([`CoverRow`]), preferably foreign ones ([`ForeignBy`]). It shows that the page could be
//!   assembled from these pages, not that it was.
//! * A *site* is flagged if the mean number of popular shingles of its pages is high and the
//!   deviation is low.
//! * *Originality* is, for a page, the share of its phrases that no other page has; for a site, the
//!   share that no other site has. It is computed from all phrases of all pages, even if popularity
//!   is sampled: in a sample, most phrases that other pages have would look original.
//!
//! ```text
//!   copies ─▶ gone                       pages ─ homes ─▶ … ─▶ host, domain, ip
//!   texts ─ (note) ─ shingle ─▶ by phrase ─ count ─▶ (holders ─ share) ─▶ by page
//!   by page ─ sum ─▶ page rows ─▶ pages, sites       by page ─▶ … nominate, offer, cover ─▶ covers
//!   by phrase ─ count ─▶ examples ─ words ─▶ … ─▶ phrases
//! ```
//!
//! Neither time nor memory grows with the square of any number: the pages of a phrase are streamed,
//! however many there are, and covers are limited as described in `cover`.

mod cover;
mod figures;
mod flow_names;
mod gather;
mod params;
mod phrase_rows;
mod phrase_tables;
mod popularity;

use std::sync::Arc;

use cento_flow::{Flow, Registry, SeenFilter, Stage};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use figures::{PhraseFigures, SiteFigure, figures};
pub use params::{ForeignBy, PhrasesParams, SiteKind};
pub use phrase_tables::{
    COVERS_TABLE, CoverRow, PAGES_TABLE, PHRASES_TABLE, PhrasePageRow, PhraseRow, PhraseSiteRow,
    SITES_TABLE,
};

use flow_names::{counter, shuffle, stage, state};

use crate::collapsed::{self, GONE};
use crate::copies::CopiesParams;
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::names::{self, NAMED, with_named};
use crate::numbers::Numbers;
use crate::run::{Findings, Workplace};

/// The name of the analysis.
pub const PHRASES: &str = "phrases";

/// The summary of `phrases`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhrasesSummary {
    /// Pages that were compared.
    pub pages: u64,
    /// Pages that were removed first as duplicates or near-duplicates.
    pub gone: u64,
    /// Popular phrases.
    pub phrases: u64,
    /// Pages with enough popular shingles to be covered.
    pub popular_pages: u64,
    /// Pages that were covered.
    pub covered: u64,
    /// Phrases on more other pages than the limit of candidates for a cover.
    pub crowded: u64,
    /// Covered pages with such phrases among their popular shingles: with more candidates the cover
    /// might be smaller, or a larger part of it foreign.
    pub cut_covers: u64,
    /// Pages whose IP address is unknown.
    pub no_address: u64,
    /// Sites.
    pub sites: u64,
    /// Sites that are flagged.
    pub flagged: u64,
}

/// Finds the popular phrases of a corpus.
pub fn phrases(
    corpus: &Arc<CorpusPages>,
    params: &PhrasesParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    if !corpus.has_text() {
        return Err(Error::Unsuitable(
            "the corpus was indexed without text, which phrases are found in: index it again without \
             --no-text".into(),
        ));
    }
    workplace.run(
        PHRASES,
        params,
        corpus,
        || {
            let pairs = match params.collapse {
                Some(scheme) => Some(collapse(corpus, params, scheme, workplace)?),
                None => None,
            };
            let flow = flow(corpus, params, workplace.memory, pairs.as_ref());
            Ok((registry(corpus, params), flow))
        },
        |_, report| {
            let counted = |name: &str| report.counted(name);
            let rows = |name: &str| report.rows(name);
            Ok(json!(PhrasesSummary {
                pages: counted(counter::PAGES),
                gone: counted(GONE),
                phrases: rows(PHRASES_TABLE.as_str()),
                popular_pages: counted(counter::POPULAR_PAGES),
                covered: counted(counter::COVERED),
                crowded: counted(counter::CROWDED),
                cut_covers: counted(counter::CUT_COVERS),
                no_address: counted(counter::NO_ADDRESS),
                sites: rows(SITES_TABLE.as_str()),
                flagged: counted(counter::FLAGGED),
            }))
        },
    )
}

/// The near-duplicates of a corpus, from cached findings if there are any.
fn collapse(
    corpus: &Arc<CorpusPages>,
    params: &PhrasesParams,
    scheme: crate::copies::CopiesScheme,
    workplace: &Workplace,
) -> Result<Findings> {
    let params = CopiesParams {
        k: params.k,
        scheme,
        ..CopiesParams::default()
    };
    collapsed::removed(corpus, &params, workplace)
}

/// The stages and states of the flow.
pub fn registry(corpus: &Arc<CorpusPages>, params: &PhrasesParams) -> Registry {
    let mut registry = Registry::new();
    registry.state::<Numbers>("numbers");
    collapsed::register(&mut registry, corpus);
    gather::register(&mut registry, corpus, params);
    popularity::register(&mut registry, params);
    cover::register(&mut registry, params);
    phrase_tables::register(&mut registry, corpus, params);
    names::register(&mut registry, corpus);
    registry
}

/// The flow over a corpus, without the pages that `copies` removes.
pub fn flow(
    corpus: &CorpusPages,
    params: &PhrasesParams,
    memory: u64,
    copies: Option<&Findings>,
) -> Flow {
    let bits = 32 - corpus.all().leading_zeros();
    let bitmap = json!({ "bytes": u64::from(corpus.kept()).div_ceil(8).max(8) });
    let mut kinds = vec![SiteKind::Domain, SiteKind::Ip, params.site];
    kinds.sort_unstable();
    kinds.dedup();
    let flow = with_named(Flow::new(PHRASES), corpus);
    let mut flow = collapsed::with_gone(flow, corpus, copies, &json!(params));
    let mut homes = Stage::map(stage::HOMES, corpus.page_tasks())
        .with(json!(kinds))
        .reads(GONE);
    for &kind in &kinds {
        let pages = json!({ "pages": corpus.kept() });
        flow = flow
            .shuffle(gather::home_shuffle(kind))
            .state(kind.name(), "numbers", pages);
        homes = homes.writes(gather::home_shuffle(kind));
    }
    flow = flow.stage(homes);
    for &kind in &kinds {
        flow = flow.stage(
            Stage::reduce(stage::ALIKE, gather::home_shuffle(kind))
                .named(&format!("alike {kind}"))
                .with(json!(kind))
                .writes(kind.name()),
        );
    }
    flow = with_phrases(flow, corpus, params, memory, bits);
    if params.covers() {
        flow = flow.state(state::COVERED, "bitmap", bitmap);
        flow = with_covers(flow, bits);
    }
    with_findings(flow, corpus, params, bits)
}

fn with_phrases(
    flow: Flow,
    corpus: &CorpusPages,
    params: &PhrasesParams,
    memory: u64,
    bits: u32,
) -> Flow {
    // Four bytes per phrase, but at most a quarter of the memory.
    let parts = corpus
        .corpora()
        .iter()
        .flat_map(|corpus| &corpus.manifest().parts);
    let words: u64 = parts.map(|part| part.counts.words).sum();
    let seen = SeenFilter::parameters(words, 4, memory / 4);
    let mut flow = flow.state(state::SEEN, "seen-filter", seen).stage(
        Stage::map(stage::NOTE, corpus.text_tasks())
            .reads(GONE)
            .writes(state::SEEN),
    );
    let shingle = Stage::map(stage::SHINGLE, corpus.text_tasks())
        .reads(GONE)
        .reads(state::SEEN)
        .reads(params.site.name())
        .writes(shuffle::BY_PHRASE)
        .writes(shuffle::BY_PAGE);
    let mut count = Stage::reduce(stage::COUNT, shuffle::BY_PHRASE)
        .writes(NAMED)
        .writes(shuffle::BY_PAGE)
        .writes(shuffle::HOLDERS)
        .writes(shuffle::EXAMPLES);
    let mut share = Stage::reduce(stage::SHARE, shuffle::HOLDERS).writes(shuffle::BY_PAGE);
    let mut sum = Stage::reduce(stage::SUM, shuffle::BY_PAGE).writes(shuffle::PAGE_ROWS);
    if params.covers() {
        flow = flow
            .shuffle(shuffle::OFFERERS)
            .shuffle_of_numbers(shuffle::COVERABLE, 7);
        count = count.writes(shuffle::OFFERERS);
        share = share.writes(shuffle::OFFERERS);
        sum = sum.writes(shuffle::COVERABLE);
    }
    flow.shuffle(shuffle::BY_PHRASE)
        .shuffle_of_numbers(shuffle::BY_PAGE, bits)
        .shuffle(shuffle::HOLDERS)
        .shuffle_of_numbers(shuffle::EXAMPLES, bits)
        .shuffle_of_numbers(shuffle::PAGE_ROWS, bits)
        .stage(shingle)
        .stage(count)
        .stage(share)
        .stage(sum)
}

fn with_covers(flow: Flow, bits: u32) -> Flow {
    flow.shuffle(shuffle::NOMINEES)
        .shuffle_of_numbers(shuffle::OFFERS, bits)
        .shuffle_of_numbers(shuffle::BY_SOURCE, bits)
        .stage(Stage::reduce(stage::CHOOSE, shuffle::COVERABLE).writes(state::COVERED))
        .stage(
            Stage::reduce(stage::NOMINATE, shuffle::OFFERERS)
                .reads(state::COVERED)
                .reads(SiteKind::Domain.name())
                .reads(SiteKind::Ip.name())
                .writes(shuffle::NOMINEES),
        )
        .stage(
            Stage::reduce(stage::OFFER, shuffle::NOMINEES)
                .reads(SiteKind::Domain.name())
                .reads(SiteKind::Ip.name())
                .writes(shuffle::OFFERS),
        )
        .stage(
            Stage::reduce(stage::COVER, shuffle::OFFERS)
                .reads(SiteKind::Domain.name())
                .reads(SiteKind::Ip.name())
                .writes(NAMED)
                .writes(shuffle::BY_SOURCE),
        )
}

fn with_findings(flow: Flow, corpus: &CorpusPages, params: &PhrasesParams, bits: u32) -> Flow {
    let mut flow = flow
        .shuffle_of_numbers(shuffle::WORDED, bits)
        .shuffle_of_numbers(shuffle::BY_POPULARITY, bits)
        .shuffle(shuffle::BY_SITE)
        .shuffle_of_numbers(shuffle::BY_SIZE, bits)
        .table(PHRASES_TABLE)
        .table(PAGES_TABLE)
        .table(COVERS_TABLE)
        .table(SITES_TABLE);
    if params.covers() {
        flow = flow
            .stage(names::stage(corpus, &[shuffle::WORDED, shuffle::BY_SOURCE]))
            .stage(Stage::reduce(stage::SOURCES, shuffle::BY_SOURCE).writes(shuffle::PAGE_ROWS));
    } else {
        flow = flow.stage(names::stage(corpus, &[shuffle::WORDED]));
    }
    flow.stage(Stage::reduce(stage::WORDS, shuffle::EXAMPLES).writes(shuffle::WORDED))
        .stage(Stage::reduce(stage::RANK, shuffle::WORDED).writes(shuffle::BY_POPULARITY))
        .stage(Stage::reduce(stage::PHRASES, shuffle::BY_POPULARITY).writes(PHRASES_TABLE.as_str()))
        .stage(
            Stage::map(stage::PAGE_NAMES, corpus.page_tasks())
                .reads(GONE)
                .writes(shuffle::PAGE_ROWS),
        )
        .stage(
            Stage::reduce(stage::PAGES, shuffle::PAGE_ROWS)
                .writes(PAGES_TABLE.as_str())
                .writes(COVERS_TABLE.as_str())
                .writes(shuffle::BY_SITE),
        )
        .stage(Stage::reduce(stage::SITES, shuffle::BY_SITE).writes(shuffle::BY_SIZE))
        .stage(Stage::reduce(stage::SITE_TABLE, shuffle::BY_SIZE).writes(SITES_TABLE.as_str()))
}
