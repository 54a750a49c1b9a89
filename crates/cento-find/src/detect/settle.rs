//! From numbers to findings: pages, sites and neighbourhoods with names, ranked by their matched
//! chunks as in the paper's §7.
//!
//! ```text
//!   page rows ─ pages ─▶ chunks, matches, ranked pages, by site      ranked pages ─ list pages ─▶ pages
//!   bad ─ prefixes ─▶ ranked prefixes ─ list prefixes ─▶ neighbourhoods
//!             └─▶ by site ─ sites ─▶ ranked sites ─ list sites ─▶ sites, copied
//! ```

use std::sync::Arc;

use cento_flow::{Registry, StageError, WideGroups, table_row};
use cento_text::url::PageUrl;
use serde::{Deserialize, Serialize};

use super::moments::{HistogramRow, Kind, Limit, ThresholdRow, histogram, real, share, threshold};
use super::params::{DetectParams, LabelSet};
use super::score::{BLOCKS, Chunk, Gathered, LEVELS, Scored, TookNamed};
use crate::names::{ROW, name_of};
use crate::sites::name_hash;
use crate::tally::Tally;

table_row! {
    /// A page that has labels.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PageRow {
        /// The page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// Its host.
        pub site: Option<String>,
        /// Its chunks, with repeats.
        pub chunks: u64,
        /// Those that are stops.
        pub stopped: u64,
        /// Those that are labels.
        pub matched: u64,
        /// The share of its chunks that are labels, stops aside.
        pub contains: f64,
        /// How many originals it took from, if originals are known.
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
        /// The byte behind it.
        pub end: u32,
        /// The label.
        pub hash: [u8; 16],
        /// The number of the original that it is taken to come from, if it is known.
        pub original: Option<u32>,
    }
}

table_row! {
    /// A page that took from an original.
    #[derive(Debug, Clone, PartialEq)]
    pub struct MatchRow {
        /// The page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// The original.
        pub original: String,
        /// How many chunks it took.
        pub chunks: u64,
        /// How many distinct labels these are.
        pub labels: u64,
        /// What share of the page's chunks they are, stops aside.
        pub of_page: f64,
        /// What share of the original's labels they are.
        pub of_original: f64,
    }
}

table_row! {
    /// A neighbourhood that has labels. `sites` are those of depth 1.
    #[derive(Debug, Clone, PartialEq)]
    pub struct NeighbourhoodRow {
        /// Its prefix: host and path.
        pub site: String,
        /// How many levels it has.
        pub depth: u32,
        /// Its pages that have a score.
        pub pages: u64,
        /// Their chunks, stops aside.
        pub chunks: u64,
        /// Those that are labels.
        pub matched: u64,
        /// The mean of its pages' `contains`: step 6 of the paper.
        pub mean: f64,
        /// The share of all its chunks: §3.3.
        pub ratio: f64,
        /// How many originals its pages took from, if originals are known; for sites alone.
        pub originals: Option<u64>,
        /// Whether the mean is above its threshold.
        pub by_mean: bool,
        /// Whether the ratio is.
        pub by_ratio: bool,
        /// Whether either is.
        pub flagged: bool,
    }
}

table_row! {
    /// What a site took from an original.
    #[derive(Debug, Clone, PartialEq)]
    pub struct CopiedRow {
        /// The site.
        pub site: String,
        /// The original.
        pub original: String,
        /// How many pages of the site took from it.
        pub pages: u64,
        /// How many chunks they took.
        pub chunks: u64,
        /// The page that took most of it.
        pub page: String,
        /// What share of the original's labels that page has.
        pub of_original: f64,
    }
}

table_row! {
    /// How many neighbourhoods there are at a level: the paper's figure 14.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LevelRow {
        /// The level: 1 for hosts, 2 for their folders, and so on.
        pub depth: u32,
        /// How many neighbourhoods.
        pub neighbourhoods: u64,
    }
}

/// What one page took from one original, on its way to its site.
#[derive(Serialize, Deserialize)]
struct FromSite {
    page: String,
    original: String,
    chunks: u64,
    of_original: u64,
}

/// A neighbourhood with its name and flags.
#[derive(Clone, Serialize, Deserialize)]
struct Named {
    site: String,
    gathered: GatheredRow,
    flags: [bool; 2],
}

#[derive(Clone, Serialize, Deserialize)]
struct GatheredRow {
    depth: u32,
    pages: u64,
    chunks: u64,
    matched: u64,
    mean: u64,
    ratio: u64,
}

impl Named {
    fn row(self, originals: Option<u64>) -> NeighbourhoodRow {
        let [by_mean, by_ratio] = self.flags;
        NeighbourhoodRow {
            site: self.site,
            depth: self.gathered.depth,
            pages: self.gathered.pages,
            chunks: self.gathered.chunks,
            matched: self.gathered.matched,
            mean: real(self.gathered.mean),
            ratio: real(self.gathered.ratio),
            originals,
            by_mean,
            by_ratio,
            flagged: by_mean || by_ratio,
        }
    }
}

/// What has more matched chunks comes first; what has as many, in an order that follows from its
/// name.
fn rank(matched: u64) -> u64 {
    u64::from(u32::MAX).saturating_sub(matched)
}

pub(super) fn register(registry: &mut Registry, set: &LabelSet, params: &DetectParams) {
    pages(registry, set, params);
    prefixes(registry, params);
    sites(registry, set);
    let asked = params.clone();
    registry.map("thresholds", move |context| {
        let pages = context.state::<Tally>("page moments")?;
        let places = context.state::<Tally>("moments")?;
        let mut table = context.table::<ThresholdRow>("thresholds")?;
        let mut bins = context.table::<HistogramRow>("histogram")?;
        let mut levels = context.table::<LevelRow>("levels")?;
        for (key, counts) in places.sums().range(LEVELS..) {
            levels.push(LevelRow {
                depth: u32::try_from(key - LEVELS)?,
                neighbourhoods: counts[0],
            })?;
        }
        for kind in Kind::ALL {
            let tally = if kind == Kind::Page { &pages } else { &places };
            table.push(threshold(tally, kind, given(&asked, kind)))?;
            for bin in histogram(tally, kind) {
                bins.push(bin)?;
            }
        }
        Ok(())
    });
}

fn given(params: &DetectParams, kind: Kind) -> Option<f64> {
    match kind {
        Kind::Page => params.page_threshold,
        Kind::Mean => params.mean_threshold,
        Kind::Ratio => params.ratio_threshold,
    }
}

fn pages(registry: &mut Registry, set: &LabelSet, params: &DetectParams) {
    let (labels, asked) = (Arc::clone(&set.labels), params.clone());
    let with_originals = set.has_originals();
    registry.reduce("pages", move |context, groups| {
        let tally = context.state::<Tally>("page moments")?;
        let limit = Limit::of(&tally, Kind::Page, asked.page_threshold);
        let mut ranked = context.wide_shuffle("ranked pages")?;
        let mut by_site = context.wide_shuffle("by site")?;
        let mut chunks = context.table::<ChunkMatchRow>("chunks")?;
        let mut matches = context.table::<MatchRow>("matches")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let number = group.number();
            // Pages that stand for a neighbourhood are named as well, and need not have labels
            // themselves.
            let name = name_of(&mut group)?;
            let Some(record) = group.next() else {
                continue;
            };
            let scored: Scored = serde_json::from_slice(&record.value)?;
            let rest = u64::from(scored.chunks.saturating_sub(scored.stopped));
            let url = PageUrl::new(&name.url);
            let site = url.prefixes().next().map(str::to_owned);
            let mut originals = 0;
            for record in group {
                if record.order >= BLOCKS {
                    for block in record.value.chunks_exact(size_of::<Chunk>()) {
                        let [ordinal, begin, end, label, original] =
                            bytemuck::pod_read_unaligned::<Chunk>(block);
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
                let took: TookNamed = serde_json::from_slice(&record.value)?;
                originals += 1;
                let of_original = share(u64::from(took.labels), took.of_labels);
                if let Some(site) = &site {
                    let row = serde_json::to_vec(&FromSite {
                        page: name.url.clone(),
                        original: took.name.clone(),
                        chunks: u64::from(took.chunks),
                        of_original,
                    })?;
                    by_site.push(site.as_bytes(), ROW + u64::from(took.original), &row)?;
                }
                matches.push(MatchRow {
                    page_id: name.page_id,
                    page: name.url.clone(),
                    original: took.name,
                    chunks: u64::from(took.chunks),
                    labels: u64::from(took.labels),
                    of_page: real(share(u64::from(took.chunks), rest)),
                    of_original: real(of_original),
                })?;
            }
            let contains = share(u64::from(scored.matched), rest);
            let target = limit.is_below(contains);
            context.count("targets", u64::from(target));
            let row = serde_json::to_vec(&(
                (name.page_id, &name.url, &name.host),
                (scored.chunks, scored.stopped, scored.matched),
                (contains, with_originals.then_some(originals), target),
            ))?;
            ranked.push_numbered(rank(u64::from(scored.matched)), number, &row)?;
        }
        Ok(())
    });
    registry.reduce("list pages", |context, groups| {
        type Ranked = (
            (u64, String, Option<String>),
            (u32, u32, u32),
            (u64, Option<u32>, bool),
        );
        let mut table = context.table::<PageRow>("pages")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let (
                    (page_id, page, site),
                    (chunks, stopped, matched),
                    (contains, originals, target),
                ): Ranked = serde_json::from_slice(&record.value)?;
                table.push(PageRow {
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

fn prefixes(registry: &mut Registry, params: &DetectParams) {
    let asked = params.clone();
    registry.reduce("prefixes", move |context, groups| {
        let tally = context.state::<Tally>("moments")?;
        let limit = |kind| Limit::of(&tally, kind, given(&asked, kind));
        let (mean, ratio) = (limit(Kind::Mean), limit(Kind::Ratio));
        let mut ranked = context.wide_shuffle("ranked prefixes")?;
        let mut by_site = context.wide_shuffle("by site")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let name = name_of(&mut group)?;
            let url = PageUrl::new(&name.url);
            for record in group {
                let found: Gathered = serde_json::from_slice(&record.value)?;
                let level = found.depth.saturating_sub(1) as usize;
                let site = url
                    .prefixes()
                    .nth(level)
                    .ok_or("a prefix is not that of its page")?;
                let flags = [mean.is_below(found.mean), ratio.is_below(found.ratio)];
                let flagged = flags.contains(&true);
                context.count("flagged", u64::from(flagged));
                context.count("flagged sites", u64::from(flagged && found.depth == 1));
                let named = Named {
                    site: site.to_owned(),
                    flags,
                    gathered: GatheredRow {
                        depth: found.depth,
                        pages: found.pages,
                        chunks: found.chunks,
                        matched: found.matched,
                        mean: found.mean,
                        ratio: found.ratio,
                    },
                };
                let row = serde_json::to_vec(&named)?;
                ranked.push_numbered(rank(found.matched), name_hash(site)[0], &row)?;
                if found.depth == 1 {
                    by_site.push(site.as_bytes(), 0, &row)?;
                }
            }
        }
        Ok(())
    });
    registry.reduce("list prefixes", |context, groups| {
        let mut table = context.table::<NeighbourhoodRow>("neighbourhoods")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let named: Named = serde_json::from_slice(&record.value)?;
                table.push(named.row(None))?;
            }
        }
        Ok(())
    });
}

/// What a site took from one original.
#[derive(Serialize, Deserialize)]
struct Copied {
    site: String,
    original: String,
    pages: u64,
    chunks: u64,
    most: u64,
    page: String,
}

/// The order of what is said about a site among sites of one rank: first the site, then what it
/// took, by original. Sites whose names agree in these bits may be mixed up in the order of rows,
/// and in nothing else.
fn order_of(site: &str, at: u64) -> u64 {
    const BITS: u32 = 24;
    (name_hash(site)[0] >> BITS << BITS) | at.min((1 << BITS) - 1)
}

fn sites(registry: &mut Registry, set: &LabelSet) {
    let with_originals = set.has_originals();
    registry.reduce("sites", |context, groups| {
        let mut ranked = context.wide_shuffle("ranked sites")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let Some(first) = group.next().filter(|record| record.order == 0) else {
                continue;
            };
            let named: Named = serde_json::from_slice(&first.value)?;
            let rank = rank(named.gathered.matched);
            let mut originals = 0u64;
            // What is said of one original stands together.
            let mut sum: Option<(u64, Copied)> = None;
            let mut flush = |sum: Option<(u64, Copied)>| {
                if let Some((_, copied)) = sum {
                    originals += 1;
                    let row = serde_json::to_vec(&(Option::<(Named, u64)>::None, Some(&copied)))?;
                    ranked.push_numbered(rank, order_of(&copied.site, originals), &row)?;
                }
                Ok::<_, StageError>(())
            };
            for record in group {
                let from: FromSite = serde_json::from_slice(&record.value)?;
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
                            Copied {
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
            let row = serde_json::to_vec(&(Some((named, originals)), Option::<Copied>::None))?;
            ranked.push_numbered(rank, order, &row)?;
        }
        Ok(())
    });
    registry.reduce("list sites", move |context, groups| {
        let mut table = context.table::<NeighbourhoodRow>("sites")?;
        let mut all = context.table::<CopiedRow>("copied")?;
        let mut groups = WideGroups::new(groups);
        while let Some(group) = groups.next_group()? {
            for record in group {
                let (site, copied): (Option<(Named, u64)>, Option<Copied>) =
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
