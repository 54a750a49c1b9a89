//! Local text reuse: pairs of pages that share text, from whole pages to a passage.
//!
//! After Seo & Croft, *Local text reuse detection* (SIGIR 2008). A page is the set of its
//! fingerprints ([`PageFingerprints`]), selected by one of the five schemes of the paper
//! ([`Scheme`]). The containment of A in B is the share of A's
//! fingerprints found in B, and the two containments of a pair decide its [`Category`]: C1, C2 and
//! C4 are near-duplicates, C3, C5 and C6 are local reuse. A pair that reaches the lowest threshold
//! on one side only is [`Category::OneSided`]. Reuse is not transitive: if A shares text with B,
//! and B with C, then A and C may have nothing in common, so pairs are never merged into groups.
//!
//! The result is exact, whatever the memory and the number of threads:
//!
//! * Pages with the same set of fingerprints are collapsed: the earliest by date represents them in
//!   the table [`PAIRS`], and the table [`IDENTICAL`] lists the others. All of them count as pages
//!   and siblings.
//! * Fingerprints on more than [`ReuseParams::max_pages`] distinct pages are ignored, both in pairs
//!   and in the sizes of pages (the paper's *stop-fingerprints*). The table [`IGNORED`] lists them.
//! * Each pair has a [`ReuseStyle`], by rules that its module states.

mod category;
mod compare;
mod fingerprints;
mod pair_strip;
mod params;
mod reuse_rows;
mod reuse_tables;
mod sort_hashes;
mod stage_names;
mod stages;
mod style;
mod tally;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use cento_fingerprint::Scheme;
use cento_flow::{Flow, Registry, RunReport, Shuffle, Stage};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use category::{Category, Containment, Threshold, Thresholds};
pub use compare::{
    Agreement, CategoryQuality, LabelledPair, LabelledPairs, PairCategories, mean_f1,
};
pub use fingerprints::PageFingerprints;
pub use params::{FREQUENT, ReuseParams};
pub use reuse_tables::{IDENTICAL, IGNORED, IdenticalRow, IgnoredRow, PAIRS, ReusePairRow};
pub use style::{FRAME_PAGES, ReuseStyle, SharedKinds};
pub use tally::CategoryCounts;

use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::name_files::NameFiles;
use crate::numbers::Numbers;
use crate::overlap::overlap_rows::Reserve;
use crate::overlap::page_order::PageOrder;
use crate::overlap::stages::bits;
use crate::run::{Findings, Workplace};
use pair_strip::PairStrip;
use stage_names::{counter, pages_of, shuffle, stage, state};
use stages::ReusePlan;

/// The name of the analysis, and of its findings.
pub const ANALYSIS: &str = "reuse";

/// The counts of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReuseSummary {
    /// Pages with text; with `--against`, those of the first corpus.
    pub pages: u64,
    /// With `--against`, the pages with text of the second corpus.
    pub against: Option<u64>,
    /// Pages with too few words for a fingerprint.
    pub without_fingerprints: u64,
    /// Pages with the same set of fingerprints as an earlier page (of the same corpus).
    pub identical: u64,
    /// The sum of the distinct fingerprints of all pages.
    pub page_fingerprints: u64,
    /// Distinct fingerprints.
    pub fingerprints: u64,
    /// Fingerprints on several distinct pages that are not ignored.
    pub shared_fingerprints: u64,
    /// The size of an index of all pages in bytes, with a fingerprint and a page number per entry.
    pub index_bytes: u64,
    /// The number of distinct pages above which a fingerprint was ignored; 0 for no limit.
    pub max_pages: u64,
    /// Ignored fingerprints.
    pub ignored: u64,
    /// The sum of the ignored fingerprints of distinct pages.
    pub ignored_page_fingerprints: u64,
    /// Distinct pages with ignored fingerprints.
    pub pages_with_ignored: u64,
    /// Distinct pages all of whose fingerprints are ignored.
    pub pages_of_ignored: u64,
    /// The sum, over distinct pages, of the fingerprints that belong to the page frame of the host.
    pub frame_page_fingerprints: u64,
    /// Rows of the table of pairs.
    pub rows: u64,
    /// The counts of each category, in the order of [`Category::ALL`].
    pub categories: Vec<CategoryCounts>,
    /// Pages in C1 to C6.
    pub related_pages: u64,
    /// Pages in C1, C2 or C4.
    pub near_duplicate_pages: u64,
    /// Pages in C3, C5 or C6.
    pub local_reuse_pages: u64,
}

impl ReuseSummary {
    /// Returns the counts of a category.
    pub fn category(&self, category: Category) -> Option<&CategoryCounts> {
        self.categories
            .iter()
            .find(|counts| counts.category == category)
    }

    /// Returns the pairs in C1 to C6 and one-sided ones.
    pub fn pairs(&self) -> u64 {
        self.categories.iter().map(|counts| counts.pairs).sum()
    }

    /// Returns the sum of the siblings in the categories that `included` accepts.
    pub fn siblings(&self, included: impl Fn(Category) -> bool) -> u64 {
        let counts = self.categories.iter();
        counts
            .filter(|counts| included(counts.category))
            .map(|counts| counts.siblings)
            .sum()
    }
}

/// Bytes of memory per page that the analysis keeps while it runs: six numbers, nine bits and the
/// order of pages.
pub const PAGE_BYTES: u64 = 6 * 4 + 2 + PageOrder::BYTES_PER_PAGE;

/// Finds the reuse in a corpus, or between the first corpus and the second.
pub fn run(
    source: &Arc<CorpusPages>,
    params: &ReuseParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check(source)?;
    PageOrder::check_memory(source, workplace.memory)?;
    let workplace = &workplace.with_less_memory(PageOrder::held_bytes(source));
    workplace.run(
        ANALYSIS,
        params,
        source,
        || {
            let mut registry = Registry::new();
            let order = Arc::new(PageOrder::shared(source, workplace)?);
            stages::register_reading(&mut registry, source, params, &order);
            stages::register_counting(&mut registry, &temp(workplace)?);
            stages::register_tally(&mut registry, source);
            let names = Arc::new(NameFiles::new(source, &temp(workplace)?));
            reuse_tables::register(&mut registry, source, params, &names);
            Ok((registry, flow(source, params, workplace)))
        },
        |_, report| Ok(json!(summary(source, params, report))),
    )
}

/// Creates the folder of temporary files, and returns it.
fn temp(workplace: &Workplace) -> Result<PathBuf> {
    let folder = workplace.temp.as_ref().unwrap_or(&workplace.findings);
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    Ok(folder.clone())
}

fn flow(source: &CorpusPages, params: &ReuseParams, workplace: &Workplace) -> Flow {
    let threads = workplace.threads.max(1) as u64;
    let width = source.kept();
    // A quarter of the budget for the lists of all strips; in addition counters for each page, or,
    // if these would take more than the lists, the sorted right pages of a left page.
    let lists = workplace.memory / 4;
    let sharing = workplace.sharing_threads();
    let counters = PairStrip::BYTES_PER_PAGE * u64::from(width) * sharing;
    let has_counters = counters <= lists;
    let strip_bytes = lists / sharing;
    // A row takes at most 16 bytes, and half of a strip may be unused capacity. More strips than
    // threads balance the load.
    let needed = (params.expected_rows(source) * 32).div_ceil(strip_bytes.max(1));
    let strips = needed.clamp(2 * threads, stages::STRIPS_A_THREAD * threads) as u32;
    let plan = json!(ReusePlan {
        params: params.clone(),
        max_pages: params.page_limit(source),
        strips,
        strip_bytes,
        width,
        has_counters,
        boundary: stages::boundary(source, params),
    });
    let by_strip = Shuffle {
        fixed: true,
        key_bits: None,
        partitions: strips,
    };
    let pages = bits(source.all());
    let mut flow = Flow::new(ANALYSIS)
        .shuffle(shuffle::BY_HOST_NAME)
        .shuffle(shuffle::BY_ADDRESS)
        .shuffle(shuffle::BY_FINGERPRINT)
        .shuffle(shuffle::BY_SET)
        .shuffle_of_numbers(shuffle::BY_HOST, pages)
        .shuffle_with(shuffle::BY_STRIP, by_strip)
        .shuffle_of_numbers(shuffle::REMOVED, pages)
        .shuffle_of_numbers(shuffle::IGNORED, pages)
        .shuffle_of_numbers(shuffle::IGNORED_RANKED, 32)
        .shuffle_of_numbers(shuffle::RANKED, reuse_rows::RANK_BITS)
        .table(PAIRS)
        .table(IDENTICAL)
        .table(IGNORED)
        .state(
            state::RESERVE,
            Reserve::KIND,
            json!({ "bytes": lists + counters.min(lists) }),
        );
    let bytes = json!({ "bytes": u64::from(source.all()).div_ceil(8).max(8) });
    flow = flow.state(state::COPIES, "bitmap", bytes.clone());
    for category in Category::ALL {
        flow = flow.state(&pages_of(category), "bitmap", bytes.clone());
    }
    for name in state::NUMBERS {
        flow = flow.state(name, Numbers::KIND, json!({ "pages": width }));
    }
    // States are allocated when they are first used, and later the memory may be full of rows,
    // which are not evicted for states.
    let mut hosts = Stage::map(stage::HOSTS, source.page_tasks())
        .with(source.identity())
        .writes(shuffle::BY_HOST_NAME)
        .writes(shuffle::BY_ADDRESS)
        .reserves(state::COPIES)
        .reserves(state::RESERVE);
    for name in state::NUMBERS {
        hosts = hosts.reserves(name);
    }
    let with_categories = |mut stage: Stage, adds: fn(Stage, &str) -> Stage| {
        for category in Category::ALL {
            stage = adds(stage, &pages_of(category));
        }
        stage
    };
    let hosts = with_categories(hosts, |stage, name| stage.reserves(name));
    let count = Stage::reduce(stage::COUNT, shuffle::BY_STRIP)
        .with(plan.clone())
        .reads(state::RESERVE)
        .reads(state::HOSTS)
        .reads(state::ADDRESSES)
        .reads(state::SIZES)
        .reads(state::IGNORED)
        .reads(state::FRAMES)
        .reads(state::COPY_COUNTS)
        .writes(shuffle::RANKED);
    let count = with_categories(count, |stage, name| stage.writes(name));
    let tally = Stage::map(stage::TALLY, source.page_tasks())
        .with(json!(stages::boundary(source, params)))
        .reads(state::COPY_COUNTS);
    let tally = with_categories(tally, |stage, name| stage.reads(name));
    flow.stage(hosts)
        .stage(Stage::reduce(stage::NUMBER_HOSTS, shuffle::BY_HOST_NAME).writes(state::HOSTS))
        .stage(Stage::reduce(stage::NUMBER_ADDRESSES, shuffle::BY_ADDRESS).writes(state::ADDRESSES))
        .stage(
            Stage::map(stage::FINGERPRINT, source.text_tasks())
                .writes(state::SIZES)
                .writes(shuffle::BY_FINGERPRINT)
                .writes(shuffle::BY_SET),
        )
        .stage(
            Stage::reduce(stage::COLLAPSE, shuffle::BY_SET)
                .with(plan.clone())
                .reads(state::SIZES)
                .reads(state::HOSTS)
                .writes(state::COPIES)
                .writes(state::COPY_COUNTS)
                .writes(&pages_of(Category::C1))
                .writes(shuffle::BY_HOST)
                .writes(shuffle::RANKED),
        )
        .stage(Stage::reduce(stage::COUNT_HOSTS, shuffle::BY_HOST).writes(state::HOST_PAGES))
        .stage(
            Stage::reduce(stage::SPREAD, shuffle::BY_FINGERPRINT)
                .with(plan)
                .reads(state::COPIES)
                .reads(state::HOSTS)
                .reads(state::HOST_PAGES)
                .writes(shuffle::BY_STRIP)
                .writes(shuffle::REMOVED)
                .writes(shuffle::IGNORED),
        )
        .stage(
            Stage::reduce(stage::SIZES, shuffle::REMOVED)
                .reads(state::SIZES)
                .writes(state::IGNORED)
                .writes(state::FRAMES),
        )
        .stage(count)
        .stage(Stage::reduce(stage::SHOW_IGNORED, shuffle::IGNORED).writes(shuffle::IGNORED_RANKED))
        .stage(tally)
        .stage(
            Stage::reduce(stage::WRITE, shuffle::RANKED)
                .writes(PAIRS.as_str())
                .writes(IDENTICAL.as_str()),
        )
        .stage(
            Stage::reduce(stage::WRITE_IGNORED, shuffle::IGNORED_RANKED).writes(IGNORED.as_str()),
        )
}

fn summary(source: &CorpusPages, params: &ReuseParams, report: &RunReport) -> ReuseSummary {
    let counted = |name: &str| report.counted(name);
    let boundary = stages::boundary(source, params);
    let page_fingerprints = counted(counter::FINGERPRINTS_OF_PAGES);
    // A page number has 4 bytes; a fingerprint has 8, or 4 for `dct`.
    let entry = match params.scheme {
        Scheme::Dct { .. } => 8,
        _ => 12,
    };
    ReuseSummary {
        pages: u64::from(boundary.unwrap_or(source.kept())),
        against: boundary.map(|boundary| u64::from(source.kept() - boundary)),
        without_fingerprints: counted(counter::WITHOUT_FINGERPRINTS),
        identical: counted(counter::COPIES),
        page_fingerprints,
        fingerprints: counted(counter::DISTINCT),
        shared_fingerprints: counted(counter::SHARED),
        index_bytes: page_fingerprints * entry,
        max_pages: u64::from(params.page_limit(source)),
        ignored: report.rows(IGNORED.as_str()),
        ignored_page_fingerprints: counted(counter::IGNORED_OF_PAGES),
        pages_with_ignored: counted(counter::PAGES_WITH_IGNORED),
        pages_of_ignored: counted(counter::PAGES_OF_IGNORED),
        frame_page_fingerprints: counted(counter::FRAMES_OF_PAGES),
        rows: report.rows(PAIRS.as_str()),
        categories: tally::category_counts(report, params.frame),
        related_pages: counted(counter::PAGES_RELATED),
        near_duplicate_pages: counted(counter::PAGES_NEAR),
        local_reuse_pages: counted(counter::PAGES_LOCAL),
    }
}
