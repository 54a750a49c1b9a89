//! The result tables of `quilts`, with the names and dates of pages.
//!
//! ```text
//!   pages ─ names ─▶ by source ─ sources ─▶ by page ─ quilts and patches ─▶ quilts, patches
//! ```

use std::sync::Arc;

use cento_flow::{Registry, TableName, WideGroups, table_row};
use serde::{Deserialize, Serialize};

use super::covering::{QUILT, QuiltCounts, UnnamedPatch, patch_order, runs_order};
use super::flow_names::{counter, shuffle, stage};
use super::places::PatchRun;
use crate::corpus_pages::CorpusPages;
use crate::names::{PageName, name_of};
use crate::precedence::{DatedBy, Dates, Earlier, earlier};

/// The quilted pages.
pub const QUILTS_TABLE: TableName<QuiltRow> = TableName::new("quilts");
/// The sources of the quilted pages.
pub const PATCHES_TABLE: TableName<PatchRow> = TableName::new("patches");

table_row! {
    /// A quilted page.
    #[derive(Debug, Clone, PartialEq)]
    pub struct QuiltRow {
        /// The page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// Its distinct grams.
        pub grams: u64,
        /// Patch grams among them: on at least one other page, and on at most m pages in all.
        pub patch_grams: u64,
        /// The share of patch grams.
        pub patch_fraction: f64,
        /// How many sources cover the patch grams.
        pub sources: u64,
        /// The share of the patch grams that a foreign page has; null if any page can be a source.
        pub foreign_share: Option<f64>,
        /// Of the patch grams that a foreign page has, the share that a linked foreign page has:
        /// the quilt links to it, or to its domain.
        pub attributed_share: f64,
        /// Grams that are also on other pages, all of which are later by their dates.
        pub first_grams: u64,
        /// The share of its grams that are on no other page, or only on later ones.
        pub originality: f64,
    }
}

table_row! {
    /// What a quilted page shares with one of its sources.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PatchRow {
        /// The quilted page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// The source: the earliest of the pages that have the same patch, else the first in the
        /// corpus.
        pub source_id: u64,
        /// Its address.
        pub source: String,
        /// How many patch grams it adds to those of the sources before it.
        pub grams: u64,
        /// Their share of all patch grams of the page.
        pub share: f64,
        /// How many of them are on a foreign page or domain that the quilted page links to.
        pub attributed_grams: u64,
        /// Whether all of them are, as is the case if the page links to the source.
        pub attributed: bool,
        /// Which of the two is earlier by its date: page, source, same, or unknown if one has no
        /// date.
        pub earlier: String,
        /// Which date of the page was compared: published, or fetched if the publication date is
        /// unknown.
        pub page_dated_by: Option<String>,
        /// Which date of the source was compared.
        pub source_dated_by: Option<String>,
        /// Where each run of these grams begins in the text of the page, in bytes.
        pub begins: Vec<u32>,
        /// Where each run ends.
        pub ends: Vec<u32>,
        /// Where each run begins in the text of the source.
        pub source_begins: Vec<u32>,
        /// Where each run ends there.
        pub source_ends: Vec<u32>,
    }
}

/// A patch with the name of its source.
#[derive(Serialize, Deserialize)]
struct NamedPatch {
    grams: u64,
    attributed: u64,
    source: PageName,
}

/// The values of [`PatchRow::earlier`], which are also counters.
pub(super) mod earlier_page {
    pub(crate) const PAGE: &str = "page";
    pub(crate) const SOURCE: &str = "source";
    pub(crate) const SAME: &str = "same";
    pub(crate) const UNKNOWN: &str = "unknown";
}

fn earlier_of(page: Dates, source: Dates) -> &'static str {
    match earlier(page, source) {
        Earlier::First => earlier_page::PAGE,
        Earlier::Second => earlier_page::SOURCE,
        Earlier::Same => earlier_page::SAME,
        Earlier::Unknown => earlier_page::UNKNOWN,
    }
}

fn dated_by(dates: Dates) -> Option<String> {
    let (_, by): (i64, DatedBy) = dates.decisive()?;
    Some(by.name().to_owned())
}

pub(super) fn register(registry: &mut Registry, corpus: &Arc<CorpusPages>, foreign: bool) {
    crate::names::register(registry, corpus);
    registry.reduce(stage::SOURCES, |context, groups| {
        let mut by_page = context.wide_shuffle(shuffle::BY_PAGE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let source = name_of(&mut group)?;
            for record in group {
                let unnamed: UnnamedPatch = serde_json::from_slice(&record.value)?;
                let patch = serde_json::to_vec(&NamedPatch {
                    grams: unnamed.grams,
                    attributed: unnamed.attributed,
                    source: source.clone(),
                })?;
                let order = patch_order(unnamed.rank);
                by_page.push_numbered(u64::from(unnamed.quilt), order, &patch)?;
            }
        }
        Ok(())
    });
    registry.reduce(stage::QUILTS, move |context, groups| {
        let mut quilts = context.table(QUILTS_TABLE)?;
        let mut patches = context.table(PATCHES_TABLE)?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let page = name_of(&mut group)?;
            let mut counts: Option<QuiltCounts> = None;
            let mut runs: Vec<PatchRun> = Vec::new();
            for record in group {
                if record.order == QUILT {
                    counts = Some(serde_json::from_slice(&record.value)?);
                    continue;
                }
                // The runs of a patch come before it, in several records if it is long.
                if record.order % 2 == runs_order(0) % 2 {
                    runs.extend(PatchRun::all_from(&record.value));
                    continue;
                }
                let Some(counts) = &counts else {
                    return Err("a patch has no quilt".into());
                };
                let patch: NamedPatch = serde_json::from_slice(&record.value)?;
                let (grams, source) = (patch.grams, patch.source);
                let attributed = patch.attributed == grams;
                context.count(counter::ATTRIBUTED_PATCHES, u64::from(attributed));
                let dates = (Dates::from(&page), Dates::from(&source));
                let earlier = earlier_of(dates.0, dates.1);
                context.count(earlier, 1);
                let mut runs = std::mem::take(&mut runs);
                runs.sort_unstable_by_key(|run| run.begin);
                patches.push(PatchRow {
                    page_id: page.page_id,
                    page: page.url.clone(),
                    source_id: source.page_id,
                    source: source.url,
                    grams,
                    share: share(grams, counts.patch),
                    attributed_grams: patch.attributed,
                    attributed,
                    earlier: earlier.to_owned(),
                    page_dated_by: dated_by(dates.0),
                    source_dated_by: dated_by(dates.1),
                    begins: runs.iter().map(|run| run.begin).collect(),
                    ends: runs.iter().map(|run| run.end).collect(),
                    source_begins: runs.iter().map(|run| run.source_begin).collect(),
                    source_ends: runs.iter().map(|run| run.source_end).collect(),
                })?;
            }
            // A page that is only a source has a name here, and nothing else.
            let Some(counts) = counts else {
                continue;
            };
            let half = 2 * counts.attributed >= counts.foreign;
            context.count(counter::ATTRIBUTED_QUILTS, u64::from(half));
            let first = 2 * counts.first > counts.shared;
            context.count(counter::FIRST_QUILTS, u64::from(first));
            quilts.push(QuiltRow {
                page_id: page.page_id,
                page: page.url,
                grams: counts.grams,
                patch_grams: counts.patch,
                patch_fraction: share(counts.patch, counts.grams),
                sources: counts.sources,
                foreign_share: foreign.then(|| share(counts.foreign, counts.patch)),
                attributed_share: share(counts.attributed, counts.foreign),
                first_grams: counts.first,
                originality: share(
                    (counts.grams + counts.first).saturating_sub(counts.shared),
                    counts.grams,
                ),
            })?;
        }
        Ok(())
    });
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}
