//! The result tables of `detect`: pages, sites and neighbourhoods with names, ranked by their
//! matched chunks as in the paper's §7.
//!
//! ```text
//!   page rows ─ pages ─▶ chunks, matches, ranked pages, by site
//!   ranked pages ─ page table ─▶ pages
//!   matched prefixes ─ neighbourhoods ─▶ ranked prefixes, by site
//!   ranked prefixes ─ neighbourhood table ─▶ neighbourhoods
//!   by site ─ sites ─▶ ranked sites ─ site table ─▶ sites, copied
//! ```

use std::sync::Arc;

use cento_flow::{Registry, StageError, TableName, WideGroups, table_row};
use cento_text::url::PageUrl;
use serde::{Deserialize, Serialize};

use super::flow_names::{counter, shuffle, stage, state};
use super::moments::{
    HISTOGRAM_TABLE, Limit, ScoreKind, THRESHOLDS_TABLE, histogram, real, share, threshold,
};
use super::params::{DetectParams, LabelSet};
use super::score::{BLOCKS, LEVELS, MatchedChunk, NamedShare, NeighbourhoodScore, PageScore};
use crate::names::{ROW, name_of};
use crate::sites::name_hash;
use crate::tally::Tally;

/// The pages with labels.
pub const PAGES_TABLE: TableName<DetectedPageRow> = TableName::new("pages");
/// The chunks that are labels.
pub const CHUNKS_TABLE: TableName<ChunkMatchRow> = TableName::new("chunks");
/// The originals of the pages with labels.
pub const MATCHES_TABLE: TableName<MatchRow> = TableName::new("matches");
/// The neighbourhoods with labels.
pub const NEIGHBOURHOODS_TABLE: TableName<NeighbourhoodRow> = TableName::new("neighbourhoods");
/// The sites with labels: the neighbourhoods of depth 1.
pub const SITES_TABLE: TableName<NeighbourhoodRow> = TableName::new("sites");
/// The originals of the sites with labels.
pub const COPIED_TABLE: TableName<CopiedRow> = TableName::new("copied");
/// The number of neighbourhoods at each level.
pub const LEVELS_TABLE: TableName<LevelRow> = TableName::new("levels");

table_row! {
    /// A page with labels.
    #[derive(Debug, Clone, PartialEq)]
    pub struct DetectedPageRow {
        /// The page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// Its host.
        pub site: Option<String>,
        /// Its chunks, with repetitions.
        pub chunks: u64,
        /// Those on the stop list.
        pub stopped: u64,
        /// Those that are labels.
        pub matched: u64,
        /// The share of its chunks that are labels, without those on the stop list.
        pub contains: f64,
        /// The number of originals of its labels, if originals are known.
        pub originals: Option<u32>,
        /// Whether it is a partial target: `contains` is above the threshold.
        pub target: bool,
    }
}

table_row! {
    /// A chunk that is a label.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ChunkMatchRow {
        /// The page.
        pub page_id: u64,
        /// Which chunk of it.
        pub ordinal: u32,
        /// Its first byte in the text.
        pub begin: u32,
        /// The byte after it.
        pub end: u32,
        /// The label.
        pub hash: [u8; 16],
        /// The number of the original to which it is attributed, if any.
        pub original: Option<u32>,
    }
}

table_row! {
    /// A page and an original of its labels.
    #[derive(Debug, Clone, PartialEq)]
    pub struct MatchRow {
        /// The page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// The original.
        pub original: String,
        /// The number of its chunks that are attributed to the original.
        pub chunks: u64,
        /// The number of distinct labels among them.
        pub labels: u64,
        /// Their share of the chunks of the page, without those on the stop list.
        pub of_page: f64,
        /// Their share of the labels of the original.
        pub of_original: f64,
    }
}

table_row! {
    /// A neighbourhood with labels.
    #[derive(Debug, Clone, PartialEq)]
    pub struct NeighbourhoodRow {
        /// Its prefix: host and path.
        pub site: String,
        /// Its number of levels.
        pub depth: u32,
        /// The number of its pages with a score.
        pub pages: u64,
        /// The number of their chunks, without those on the stop list.
        pub chunks: u64,
        /// The number of chunks that are labels.
        pub matched: u64,
        /// The mean of the `contains` of its pages: step 6 of the paper.
        pub mean: f64,
        /// The share of labels among all its chunks: §3.3.
        pub ratio: f64,
        /// The number of originals of its labels, if originals are known; for sites only.
        pub originals: Option<u64>,
        /// Whether the mean is above its threshold.
        pub by_mean: bool,
        /// Whether the ratio is above its threshold.
        pub by_ratio: bool,
        /// Whether the mean or the ratio is above its threshold.
        pub flagged: bool,
    }
}

table_row! {
    /// A site and an original of its labels.
    #[derive(Debug, Clone, PartialEq)]
    pub struct CopiedRow {
        /// The site.
        pub site: String,
        /// The original.
        pub original: String,
        /// The number of pages of the site with labels of the original.
        pub pages: u64,
        /// The number of their chunks that are attributed to the original.
        pub chunks: u64,
        /// The page with most of its labels.
        pub page: String,
        /// The share of the labels of the original that are on this page.
        pub of_original: f64,
    }
}

table_row! {
    /// The number of neighbourhoods at a level: the paper's figure 14.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LevelRow {
        /// The level: 1 for hosts, 2 for their folders, and so on.
        pub depth: u32,
        /// The number of neighbourhoods.
        pub neighbourhoods: u64,
    }
}

/// What a page of a site shares with an original.
#[derive(Serialize, Deserialize)]
struct SitePageShare {
    page: String,
    original: String,
    chunks: u64,
    of_original: u64,
}

/// A neighbourhood with its name and flags.
#[derive(Clone, Serialize, Deserialize)]
struct NamedNeighbourhood {
    site: String,
    score: NeighbourhoodScore,
    flags: [bool; 2],
}

impl NamedNeighbourhood {
    fn row(self, originals: Option<u64>) -> NeighbourhoodRow {
        let [by_mean, by_ratio] = self.flags;
        NeighbourhoodRow {
            site: self.site,
            depth: self.score.depth,
            pages: self.score.pages,
            chunks: self.score.chunks,
            matched: self.score.matched,
            mean: real(self.score.mean),
            ratio: real(self.score.ratio),
            originals,
            by_mean,
            by_ratio,
            flagged: by_mean || by_ratio,
        }
    }
}

/// The rank of a page or neighbourhood: those with more matched chunks come first. Ties are in an
/// order that depends on their names only.
fn rank(matched: u64) -> u64 {
    u64::from(u32::MAX).saturating_sub(matched)
}

pub(super) fn register(registry: &mut Registry, set: &LabelSet, params: &DetectParams) {
    pages(registry, set, params);
    neighbourhoods(registry, params);
    sites(registry, set);
    let params = params.clone();
    registry.map(stage::THRESHOLDS, move |context| {
        let pages = context.state::<Tally>(state::PAGE_MOMENTS)?;
        let neighbourhoods = context.state::<Tally>(state::MOMENTS)?;
        let mut table = context.table(THRESHOLDS_TABLE)?;
        let mut bins = context.table(HISTOGRAM_TABLE)?;
        let mut levels = context.table(LEVELS_TABLE)?;
        for (key, counts) in neighbourhoods.sums().range(LEVELS..) {
            levels.push(LevelRow {
                depth: u32::try_from(key - LEVELS)?,
                neighbourhoods: counts[0],
            })?;
        }
        for kind in ScoreKind::ALL {
            let tally = match kind {
                ScoreKind::Page => &pages,
                _ => &neighbourhoods,
            };
            table.push(threshold(tally, kind, fixed_threshold(&params, kind)))?;
            for bin in histogram(tally, kind) {
                bins.push(bin)?;
            }
        }
        Ok(())
    });
}

fn fixed_threshold(params: &DetectParams, kind: ScoreKind) -> Option<f64> {
    match kind {
        ScoreKind::Page => params.page_threshold,
        ScoreKind::Mean => params.mean_threshold,
        ScoreKind::Ratio => params.ratio_threshold,
    }
}

fn pages(registry: &mut Registry, set: &LabelSet, params: &DetectParams) {
    let (labels, threshold) = (Arc::clone(&set.labels), params.page_threshold);
    let with_originals = set.has_originals();
    registry.reduce(stage::PAGES, move |context, groups| {
        let tally = context.state::<Tally>(state::PAGE_MOMENTS)?;
        let limit = Limit::of(&tally, ScoreKind::Page, threshold);
        let mut ranked = context.wide_shuffle(shuffle::RANKED_PAGES)?;
        let mut by_site = context.wide_shuffle(shuffle::BY_SITE)?;
        let mut chunks = context.table(CHUNKS_TABLE)?;
        let mut matches = context.table(MATCHES_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let number = group.number();
            // The first page of a neighbourhood has a name here, and need not have labels.
            let name = name_of(&mut group)?;
            let Some(record) = group.next() else {
                continue;
            };
            let scored: PageScore = serde_json::from_slice(&record.value)?;
            let rest = u64::from(scored.chunks.saturating_sub(scored.stopped));
            let url = PageUrl::new(&name.url);
            let site = url.prefixes().next().map(str::to_owned);
            let mut originals = 0;
            for record in group {
                if record.order >= BLOCKS {
                    for block in record.value.chunks_exact(size_of::<MatchedChunk>()) {
                        let [ordinal, begin, end, label, original] =
                            bytemuck::pod_read_unaligned::<MatchedChunk>(block);
                        chunks.push(ChunkMatchRow {
                            page_id: name.page_id,
                            ordinal,
                            begin,
                            end,
                            hash: labels.get(u64::from(label)).unwrap_or_default(),
                            original: original.checked_sub(1),
                        })?;
                    }
                    continue;
                }
                let shared: NamedShare = serde_json::from_slice(&record.value)?;
                originals += 1;
                let of_original = share(u64::from(shared.labels), shared.of_labels);
                if let Some(site) = &site {
                    let row = serde_json::to_vec(&SitePageShare {
                        page: name.url.clone(),
                        original: shared.name.clone(),
                        chunks: u64::from(shared.chunks),
                        of_original,
                    })?;
                    by_site.push(site.as_bytes(), ROW + u64::from(shared.original), &row)?;
                }
                matches.push(MatchRow {
                    page_id: name.page_id,
                    page: name.url.clone(),
                    original: shared.name,
                    chunks: u64::from(shared.chunks),
                    labels: u64::from(shared.labels),
                    of_page: real(share(u64::from(shared.chunks), rest)),
                    of_original: real(of_original),
                })?;
            }
            let contains = share(u64::from(scored.matched), rest);
            let target = limit.is_below(contains);
            context.count(counter::TARGETS, u64::from(target));
            let row = serde_json::to_vec(&(
                (name.page_id, &name.url, &name.host),
                (scored.chunks, scored.stopped, scored.matched),
                (contains, with_originals.then_some(originals), target),
            ))?;
            ranked.push_numbered(rank(u64::from(scored.matched)), number, &row)?;
        }
        Ok(())
    });
    registry.reduce(stage::PAGE_TABLE, |context, groups| {
        type RankedPage = (
            (u64, String, Option<String>),
            (u32, u32, u32),
            (u64, Option<u32>, bool),
        );
        let mut table = context.table(PAGES_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let (
                    (page_id, page, site),
                    (chunks, stopped, matched),
                    (contains, originals, target),
                ): RankedPage = serde_json::from_slice(&record.value)?;
                table.push(DetectedPageRow {
                    page_id,
                    page,
                    site,
                    chunks: u64::from(chunks),
                    stopped: u64::from(stopped),
                    matched: u64::from(matched),
                    contains: real(contains),
                    originals,
                    target,
                })?;
            }
        }
        Ok(())
    });
}

fn neighbourhoods(registry: &mut Registry, params: &DetectParams) {
    let params = params.clone();
    registry.reduce(stage::NEIGHBOURHOODS, move |context, groups| {
        let tally = context.state::<Tally>(state::MOMENTS)?;
        let limit = |kind| Limit::of(&tally, kind, fixed_threshold(&params, kind));
        let (mean, ratio) = (limit(ScoreKind::Mean), limit(ScoreKind::Ratio));
        let mut ranked = context.wide_shuffle(shuffle::RANKED_PREFIXES)?;
        let mut by_site = context.wide_shuffle(shuffle::BY_SITE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            let url = PageUrl::new(&name.url);
            for record in group {
                let found: NeighbourhoodScore = serde_json::from_slice(&record.value)?;
                let level = found.depth.saturating_sub(1) as usize;
                let site = url
                    .prefixes()
                    .nth(level)
                    .ok_or("the URL of a page has no such prefix")?;
                let flags = [mean.is_below(found.mean), ratio.is_below(found.ratio)];
                let flagged = flags.contains(&true);
                context.count(counter::FLAGGED, u64::from(flagged));
                let flagged_site = flagged && found.depth == 1;
                context.count(counter::FLAGGED_SITES, u64::from(flagged_site));
                let (rank, depth) = (rank(found.matched), found.depth);
                let row = serde_json::to_vec(&NamedNeighbourhood {
                    site: site.to_owned(),
                    score: found,
                    flags,
                })?;
                ranked.push_numbered(rank, name_hash(site)[0], &row)?;
                if depth == 1 {
                    by_site.push(site.as_bytes(), 0, &row)?;
                }
            }
        }
        Ok(())
    });
    registry.reduce(stage::NEIGHBOURHOOD_TABLE, |context, groups| {
        let mut table = context.table(NEIGHBOURHOODS_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let named: NamedNeighbourhood = serde_json::from_slice(&record.value)?;
                table.push(named.row(None))?;
            }
        }
        Ok(())
    });
}

/// What a site shares with an original.
#[derive(Serialize, Deserialize)]
struct SiteShare {
    site: String,
    original: String,
    pages: u64,
    chunks: u64,
    most: u64,
    page: String,
}

/// The order of the records of a site among the sites of one rank: first the site, then its
/// originals. If the names of two sites agree in these bits, their rows may be interleaved; nothing
/// else depends on it.
fn order_of(site: &str, at: u64) -> u64 {
    const BITS: u32 = 24;
    (name_hash(site)[0] >> BITS << BITS) | at.min((1 << BITS) - 1)
}

fn sites(registry: &mut Registry, set: &LabelSet) {
    let with_originals = set.has_originals();
    registry.reduce(stage::SITES, |context, groups| {
        let mut ranked = context.wide_shuffle(shuffle::RANKED_SITES)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next().filter(|record| record.order == 0) else {
                continue;
            };
            let named: NamedNeighbourhood = serde_json::from_slice(&first.value)?;
            let rank = rank(named.score.matched);
            let mut originals = 0u64;
            // The records of an original are adjacent.
            let mut sum: Option<(u64, SiteShare)> = None;
            let mut flush = |sum: Option<(u64, SiteShare)>| {
                if let Some((_, copied)) = sum {
                    originals += 1;
                    let row = serde_json::to_vec(&(
                        Option::<(NamedNeighbourhood, u64)>::None,
                        Some(&copied),
                    ))?;
                    ranked.push_numbered(rank, order_of(&copied.site, originals), &row)?;
                }
                Ok::<_, StageError>(())
            };
            for record in group {
                let from: SitePageShare = serde_json::from_slice(&record.value)?;
                match &mut sum {
                    Some((order, sum)) if *order == record.order => {
                        sum.pages += 1;
                        sum.chunks += from.chunks;
                        if (from.of_original, &sum.page) > (sum.most, &from.page) {
                            (sum.most, sum.page) = (from.of_original, from.page);
                        }
                    }
                    _ => {
                        flush(sum.take())?;
                        sum = Some((
                            record.order,
                            SiteShare {
                                site: named.site.clone(),
                                original: from.original,
                                pages: 1,
                                chunks: from.chunks,
                                most: from.of_original,
                                page: from.page,
                            },
                        ));
                    }
                }
            }
            flush(sum.take())?;
            let order = order_of(&named.site, 0);
            let row = serde_json::to_vec(&(Some((named, originals)), Option::<SiteShare>::None))?;
            ranked.push_numbered(rank, order, &row)?;
        }
        Ok(())
    });
    registry.reduce(stage::SITE_TABLE, move |context, groups| {
        let mut table = context.table(SITES_TABLE)?;
        let mut all = context.table(COPIED_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let (site, copied): (Option<(NamedNeighbourhood, u64)>, Option<SiteShare>) =
                    serde_json::from_slice(&record.value)?;
                if let Some((named, originals)) = site {
                    table.push(named.row(with_originals.then_some(originals)))?;
                }
                if let Some(copied) = copied {
                    all.push(CopiedRow {
                        site: copied.site,
                        original: copied.original,
                        pages: copied.pages,
                        chunks: copied.chunks,
                        page: copied.page,
                        of_original: real(copied.most),
                    })?;
                }
            }
        }
        Ok(())
    });
}
