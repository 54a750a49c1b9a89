//! From numbers to findings: quilts and patches with names and dates.
//!
//! ```text
//!   pages ─ names ─▶ by source ─ sources ─▶ by page ─ settle ─▶ quilts, patches
//! ```

use std::sync::Arc;

use cento_flow::{Registry, WideGroups, table_row};
use serde::{Deserialize, Serialize};

use super::find::{Counted, Gift, QUILT, patch_order, runs_order};
use super::places::Run;
use crate::corpus_pages::CorpusPages;
use crate::names::{PageName, name_of};
use crate::precedence::{DatedBy, Dates, Earlier, earlier};

table_row! {
    /// A quilted page.
    pub struct QuiltRow {
        /// The page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// Its distinct grams.
        pub grams: u64,
        /// Those that are patch grams: on other pages too, and on no more than m in all.
        pub patch_grams: u64,
        /// Their share.
        pub patch_fraction: f64,
        /// How many sources cover them.
        pub sources: u64,
        /// The share of the patch grams that a foreign page has; nothing if all pages could be
        /// sources.
        pub foreign_share: Option<f64>,
        /// Of the patch grams that a foreign page has, the share that a foreign page has that is
        /// linked: itself, or its domain.
        pub attributed_share: f64,
        /// Grams that are on other pages too, all of which are later: the page had them first, by
        /// the dates.
        pub first_grams: u64,
        /// The share of its grams that are on no other page, or on later ones only.
        pub originality: f64,
    }
}

table_row! {
    /// What a quilted page shares with one of its sources.
    pub struct PatchRow {
        /// The quilted page.
        pub page_id: u64,
        /// Its address.
        pub page: String,
        /// The source: of pages that have the same patch the earliest, else the first in the
        /// corpus.
        pub source_id: u64,
        /// Its address.
        pub source: String,
        /// The patch grams that it adds to those of the sources before it.
        pub grams: u64,
        /// Their share of all patch grams of the page.
        pub share: f64,
        /// Those of the grams that are on a foreign page that the quilted page links to, or on a
        /// domain that it links to.
        pub attributed_grams: u64,
        /// Whether these are all of them, as they are if the page links to the source.
        pub attributed: bool,
        /// Which of the two is earlier by its date: page, source, same, or unknown if one has no
        /// date.
        pub earlier: String,
        /// By which date the page is judged: published, or fetched if it does not say when it was
        /// published.
        pub page_dated_by: Option<String>,
        /// By which date the source is judged.
        pub source_dated_by: Option<String>,
        /// Where each run of these grams begins in the text of the page, in bytes.
        pub begins: Vec<u32>,
        /// Where it ends.
        pub ends: Vec<u32>,
        /// Where it begins in the text of the source.
        pub source_begins: Vec<u32>,
        /// Where it ends there.
        pub source_ends: Vec<u32>,
    }
}

/// A patch with the name of its source.
#[derive(Serialize, Deserialize)]
struct Patch {
    grams: u64,
    attributed: u64,
    source: PageName,
}

/// Which of two pages is earlier, as tables spell it.
fn which(page: Dates, source: Dates) -> &'static str {
    match earlier(page, source) {
        Earlier::First => "page",
        Earlier::Second => "source",
        Earlier::Same => "same",
        Earlier::Unknown => "unknown",
    }
}

fn dated_by(dates: Dates) -> Option<String> {
    let (_, by): (i64, DatedBy) = dates.decisive()?;
    Some(by.name().to_owned())
}

pub(super) fn register(registry: &mut Registry, source: &Arc<CorpusPages>, foreign: bool) {
    crate::names::register(registry, source);
    registry.reduce("sources", |context, groups| {
        let mut by_page = context.wide_shuffle("by page")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let source = name_of(&mut group)?;
            for record in group {
                let gift: Gift = serde_json::from_slice(&record.value)?;
                let patch = serde_json::to_vec(&Patch {
                    grams: gift.grams,
                    attributed: gift.attributed,
                    source: source.clone(),
                })?;
                by_page.push_numbered(u64::from(gift.quilt), patch_order(gift.rank), &patch)?;
            }
        }
        Ok(())
    });
    registry.reduce("settle", move |context, groups| {
        let mut quilts = context.table::<QuiltRow>("quilts")?;
        let mut patches = context.table::<PatchRow>("patches")?;
        let mut groups = WideGroups::new(groups);
        while let Some(mut group) = groups.next_group()? {
            let page = name_of(&mut group)?;
            let mut counted: Option<Counted> = None;
            let mut runs: Vec<Run> = Vec::new();
            for record in group {
                if record.order == QUILT {
                    counted = Some(serde_json::from_slice(&record.value)?);
                    continue;
                }
                // The runs of a patch come before it, in several records if it is long.
                if record.order % 2 == runs_order(0) % 2 {
                    runs.extend(Run::all_from(&record.value));
                    continue;
                }
                let Some(counted) = &counted else {
                    return Err("a patch has no quilt".into());
                };
                let patch: Patch = serde_json::from_slice(&record.value)?;
                let (grams, source) = (patch.grams, patch.source);
                let attributed = patch.attributed == grams;
                context.count("attributed patches", u64::from(attributed));
                let dates = (Dates::from(&page), Dates::from(&source));
                let earlier = which(dates.0, dates.1);
                context.count(earlier, 1);
                let mut runs = std::mem::take(&mut runs);
                runs.sort_unstable_by_key(|run| run.begin);
                patches.push(PatchRow {
                    page_id: page.page_id,
                    page: page.url.clone(),
                    source_id: source.page_id,
                    source: source.url,
                    grams,
                    share: share(grams, counted.patch),
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
            // Pages that only gave have a name here, and nothing else.
            let Some(counted) = counted else {
                continue;
            };
            let half = 2 * counted.attributed >= counted.given;
            context.count("attributed quilts", u64::from(half));
            let first = 2 * counted.first > counted.shared;
            context.count("first quilts", u64::from(first));
            quilts.push(QuiltRow {
                page_id: page.page_id,
                page: page.url,
                grams: counted.grams,
                patch_grams: counted.patch,
                patch_fraction: share(counted.patch, counted.grams),
                sources: counted.sources,
                foreign_share: foreign.then(|| share(counted.given, counted.patch)),
                attributed_share: share(counted.attributed, counted.given),
                first_grams: counted.first,
                originality: share(
                    (counted.grams + counted.first).saturating_sub(counted.shared),
                    counted.grams,
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
