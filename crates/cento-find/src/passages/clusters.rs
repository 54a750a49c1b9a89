//! Passages that travel: the same text on many pages as one entry.
//!
//! ```text
//!   page 1  ……[───────]…………     two passages are of one cluster if they are about the same text of
//!   page 2  …[───────]……………     one page: they overlap by at least half of the longer one
//!   page 3  …………[──────]……
//! ```
//!
//! Clusters are connected components of passages, also of those in [`FREQUENT_TABLE`]: without
//! them, a text on very many pages would be on some of them only, and its first page could be
//! missing. The passages are in memory while they are joined, at up to 256 bytes each with their
//! pages.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use cento_flow::{Context, Flow, Registry, Stage, StageError, TableName, table_row};
use cento_text::url::PageUrl;
use cento_text::words::WordScanner;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::flow_names::{counter, stage};
use super::params::PassagesParams;
use super::passage_tables::{FREQUENT_TABLE, PASSAGES_TABLE, PassageRow};
use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::precedence::{DatedBy, Dates, Earlier, earlier};
use crate::run::{Findings, Workplace};
use crate::tables::read_rows;

/// The name of the analysis of clusters, and of its findings.
pub const CLUSTER_ANALYSIS: &str = "passage-clusters";
/// The table of clusters: those on most pages first.
pub const CLUSTERS_TABLE: TableName<ClusterRow> = TableName::new("clusters");
/// The table of the pages of each cluster, in the order of clusters and then of dates.
pub const APPEARANCES_TABLE: TableName<AppearanceRow> = TableName::new("appearances");

/// The fewest pages of a cluster: a passage on two pages is a pair.
const LEAST_PAGES: usize = 3;
/// The characters of a cluster's text that the table shows.
const SHOWN: usize = 200;
/// The bytes of memory per passage, with the names and dates of its pages.
const BYTES: u64 = 256;
/// The most passages of a page that one of them is compared with. Only a page with very many
/// overlapping passages has more.
const MOST_ACTIVE: usize = 256;

table_row! {
    /// A passage that is on several pages.
    #[derive(Debug)]
    pub struct ClusterRow {
        /// Its number, from 1.
        pub cluster: u32,
        /// The number of pages that have it. Pages with identical text count as one.
        pub pages: u32,
        /// The number of registered domains of these pages.
        pub sites: u32,
        /// How many words it has on the page with the earliest date.
        pub words: u32,
        /// The mean share of identical words of its passages.
        pub identical: f64,
        /// The page with the earliest date; undated pages come last. [`Self::first_decided`] says
        /// whether it is known to be the first.
        pub first_id: u64,
        /// The URL of that page.
        pub first: String,
        /// Where it begins there, in bytes.
        pub first_begin: u32,
        /// Where it ends there.
        pub first_end: u32,
        /// The date of that page.
        pub first_date: Option<String>,
        /// Which date that is: published or fetched.
        pub first_dated_by: Option<String>,
        /// Whether that page was published before all others, or fetched before all others, or
        /// fetched before the others were published (see [`crate::precedence`]).
        pub first_decided: bool,
        /// The latest date of its pages.
        pub last_date: Option<String>,
        /// Which date that is.
        pub last_dated_by: Option<String>,
        /// How it begins on the page with the earliest date.
        pub text: String,
    }
}

table_row! {
    /// A page that has the passage of a cluster.
    pub struct AppearanceRow {
        /// The number of the cluster.
        pub cluster: u32,
        /// The page.
        pub page_id: u64,
        /// Its URL.
        pub page: String,
        /// Its registered domain.
        pub site: Option<String>,
        /// Where the passage begins there, in bytes.
        pub begin: u32,
        /// Where it ends there.
        pub end: u32,
        /// The date of the page: when it was published, else when it was fetched.
        pub date: Option<String>,
        /// Which of these the date is: published or fetched.
        pub dated_by: Option<String>,
    }
}

/// The counts of an analysis of clusters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClustersSummary {
    /// Passages of two pages.
    pub passages: u64,
    /// Clusters.
    pub clusters: u64,
    /// Pages of all clusters.
    pub appearances: u64,
}

/// Joins the passages of [`super::run`] to clusters.
pub fn clusters(
    source: &Arc<CorpusPages>,
    params: &PassagesParams,
    passages: &Findings,
    workplace: &Workplace,
) -> Result<Findings> {
    let tables = [PASSAGES_TABLE, FREQUENT_TABLE];
    let rows = tables
        .iter()
        .map(|name| passages.record.report.rows(name.as_str()));
    let rows: u64 = rows.sum();
    let (needed, limit) = (rows.saturating_mul(BYTES), workplace.memory / 2);
    if needed > limit {
        return Err(Error::Flow(cento_flow::Error::TooLittleMemory {
            limit,
            needed,
            reason: format!(" to join {rows} passages, at {BYTES} bytes each"),
        }));
    }
    workplace.run(
        CLUSTER_ANALYSIS,
        params,
        source,
        || {
            let mut registry = Registry::new();
            let pages = Arc::clone(source);
            registry.map(stage::CLUSTER, move |context| cluster(context, &pages));
            let task = json!(tables.map(|name| passages.table(name.as_str())));
            let flow = Flow::new(CLUSTER_ANALYSIS)
                .table(CLUSTERS_TABLE)
                .table(APPEARANCES_TABLE)
                .stage(
                    Stage::map(stage::CLUSTER, vec![task])
                        .with(json!({ "source": source.identity(), "params": params }))
                        .writes(CLUSTERS_TABLE.as_str())
                        .writes(APPEARANCES_TABLE.as_str()),
                );
            Ok((registry, flow))
        },
        |_, report| {
            Ok(json!(ClustersSummary {
                passages: rows,
                clusters: report.rows(CLUSTERS_TABLE.as_str()),
                appearances: report.counted(counter::CLUSTERED),
            }))
        },
    )
}

/// One side of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    page: u32,
    begin: u32,
    end: u32,
    passage: u32,
}

/// A page that has passages.
struct ClusterPage {
    id: u64,
    url: String,
    date: Option<String>,
    dated_by: Option<String>,
}

impl ClusterPage {
    fn dates(&self) -> Dates {
        let millis = self.date.as_deref().and_then(cento_text::date::parse);
        let is_published = self.dated_by.as_deref() == Some(DatedBy::Published.name());
        Dates {
            published: millis.filter(|_| is_published),
            fetched: millis.filter(|_| !is_published),
        }
    }
}

/// Sets of passages that are joined.
struct Sets(Vec<u32>);

impl Sets {
    fn root(&mut self, mut at: u32) -> u32 {
        while self.0[at as usize] != at {
            let above = self.0[at as usize];
            self.0[at as usize] = self.0[above as usize];
            at = above;
        }
        at
    }

    /// Joins two sets under the lower root, so that the result does not depend on the order.
    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other) as usize] = one.min(other);
    }
}

/// Joins passages whose sides overlap on a page. `sides` are sorted.
fn join_overlapping(sides: &[Side], sets: &mut Sets) {
    let mut active: Vec<Side> = Vec::new();
    for &side in sides {
        active.retain(|other| other.page == side.page && other.end > side.begin);
        for other in active.iter().rev().take(MOST_ACTIVE) {
            let both = other.end.min(side.end) - side.begin;
            let longer = (other.end - other.begin).max(side.end - side.begin);
            if both >= longer.div_ceil(2) {
                sets.join(side.passage, other.passage);
            }
        }
        active.push(side);
    }
}

fn cluster(context: &Context<'_>, source: &CorpusPages) -> std::result::Result<(), StageError> {
    let tables: [PathBuf; 2] = context.task()?;
    let mut numbers: HashMap<u64, u32> = HashMap::new();
    let mut pages: Vec<ClusterPage> = Vec::new();
    let mut sides: Vec<Side> = Vec::new();
    let mut identical: Vec<f32> = Vec::new();
    let [listed, frequent] = &tables;
    for row in read_rows::<PassageRow>(listed)?.chain(read_rows::<PassageRow>(frequent)?) {
        let row = row?;
        let passage = identical.len() as u32;
        identical.push(row.identical as f32);
        let mut number = |id, url: String, date, dated_by| {
            *numbers.entry(id).or_insert_with(|| {
                pages.push(ClusterPage {
                    id,
                    url,
                    date,
                    dated_by,
                });
                pages.len() as u32 - 1
            })
        };
        let a = number(row.a_id, row.a, row.a_date, row.a_dated_by);
        let b = number(row.b_id, row.b, row.b_date, row.b_dated_by);
        for (page, begin, end) in [(a, row.a_begin, row.a_end), (b, row.b_begin, row.b_end)] {
            sides.push(Side {
                page,
                begin,
                end,
                passage,
            });
        }
    }
    context.check()?;
    sides.sort_unstable();
    let mut sets = Sets((0..identical.len() as u32).collect());
    join_overlapping(&sides, &mut sets);
    for side in &mut sides {
        side.passage = sets.root(side.passage);
    }
    let mut means: HashMap<u32, (f64, u32)> = HashMap::new();
    for (passage, &share) in (0..).zip(&identical) {
        let (sum, count) = means.entry(sets.root(passage)).or_default();
        *sum += f64::from(share);
        *count += 1;
    }
    let mean = |root: u32| {
        let (sum, count) = means.get(&root).copied().unwrap_or_default();
        sum / f64::from(count.max(1))
    };
    sides.sort_unstable_by_key(|side| (side.passage, side.page, side.begin, side.end));
    let mut found: Vec<Vec<Side>> = sides
        .chunk_by(|one, other| one.passage == other.passage)
        .map(appearances)
        .filter(|cluster| cluster.len() >= LEAST_PAGES)
        .collect();
    for cluster in &mut found {
        cluster.sort_by_key(|side| {
            let page = &pages[side.page as usize];
            (page.date.is_none(), page.date.clone(), page.id)
        });
    }
    found.sort_by_key(|cluster| (std::cmp::Reverse(cluster.len()), cluster[0]));
    write(context, source, &pages, &found, mean)
}

/// The pages of a cluster, each with the stretch that its passages cover together. `sides` are
/// sorted by page.
fn appearances(sides: &[Side]) -> Vec<Side> {
    let pages = sides.chunk_by(|one, other| one.page == other.page);
    pages
        .map(|of_page| Side {
            begin: of_page.iter().map(|side| side.begin).min().unwrap_or(0),
            end: of_page.iter().map(|side| side.end).max().unwrap_or(0),
            ..of_page[0]
        })
        .collect()
}

fn write(
    context: &Context<'_>,
    source: &CorpusPages,
    pages: &[ClusterPage],
    found: &[Vec<Side>],
    mean: impl Fn(u32) -> f64,
) -> std::result::Result<(), StageError> {
    let mut clusters = context.table(CLUSTERS_TABLE)?;
    let mut appearances = context.table(APPEARANCES_TABLE)?;
    let corpus = source.corpora().first();
    let private = corpus.is_some_and(|corpus| corpus.parameters().private_suffixes);
    for (number, cluster) in (1..).zip(found) {
        context.check()?;
        let (first, page) = (cluster[0], &pages[cluster[0].page as usize]);
        let text = corpus.map(|corpus| corpus.text(page.id)).transpose();
        let text = text.map_err(Error::from)?.flatten().unwrap_or_default();
        let text = text
            .get(first.begin as usize..first.end as usize)
            .unwrap_or_default();
        let mut words = 0;
        WordScanner::new().scan(text, |_| words += 1);
        let mut sites = Vec::new();
        for side in cluster {
            let page = &pages[side.page as usize];
            let site = PageUrl::new(&page.url).domain(private).map(str::to_owned);
            sites.push(site.clone());
            appearances.push(AppearanceRow {
                cluster: number,
                page_id: page.id,
                page: page.url.clone(),
                site,
                begin: side.begin,
                end: side.end,
                date: page.date.clone(),
                dated_by: page.dated_by.clone(),
            })?;
        }
        sites.sort_unstable();
        sites.dedup();
        let mut others = cluster
            .iter()
            .skip(1)
            .map(|side| &pages[side.page as usize]);
        let dates = page.dates();
        let is_first = |other: &ClusterPage| earlier(dates, other.dates()) == Earlier::First;
        let mut dated = cluster.iter().rev().map(|side| &pages[side.page as usize]);
        let last = dated.find(|page| page.date.is_some());
        clusters.push(ClusterRow {
            cluster: number,
            pages: cluster.len() as u32,
            sites: sites.iter().flatten().count() as u32,
            words,
            identical: mean(first.passage),
            first_id: page.id,
            first: page.url.clone(),
            first_begin: first.begin,
            first_end: first.end,
            first_date: page.date.clone(),
            first_dated_by: page.dated_by.clone(),
            first_decided: others.all(is_first),
            last_date: last.and_then(|page| page.date.clone()),
            last_dated_by: last.and_then(|page| page.dated_by.clone()),
            text: text.chars().take(SHOWN).collect(),
        })?;
        context.count(counter::CLUSTERED, cluster.len() as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(page: u32, begin: u32, end: u32, passage: u32) -> Side {
        Side {
            page,
            begin,
            end,
            passage,
        }
    }

    #[test]
    fn passages_about_the_same_text_are_joined() {
        let mut sides = vec![
            side(1, 0, 100, 0),
            side(2, 50, 150, 0),
            side(2, 60, 150, 1), // nearly the same text of page 2
            side(3, 0, 90, 1),
            side(2, 100, 120, 2), // only a part of it
            side(4, 0, 20, 2),
            side(2, 149, 260, 3), // beside it
        ];
        sides.sort_unstable();
        let mut sets = Sets((0..4).collect());
        join_overlapping(&sides, &mut sets);
        let roots: Vec<u32> = (0..4).map(|passage| sets.root(passage)).collect();
        assert_eq!(roots, [0, 0, 2, 3]);
    }
}
