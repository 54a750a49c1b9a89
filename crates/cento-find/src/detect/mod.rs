//! Searches a corpus for labels: files, chunks, pages and neighbourhoods (Ardi & Heidemann 2014
//! §3.3, §6.3, §7).
//!
//! * *Simple object matching*: every chunk, or file, that is a label.
//! * *Partial matching*: the score of a page is the share of its chunks that are labels.
//!   Repetitions count. Chunks on the stop list are ignored in the numerator and in the
//!   denominator, and a page without other chunks has no score.
//! * *Bad neighbourhoods*: all pages under a prefix of their URLs, at every level, scored by the
//!   mean of their pages (step 6) and by the share of all their chunks (§3.3).
//!
//! Pages and neighbourhoods above a threshold are flagged. The default threshold is the mean of all
//! scores plus their standard deviation.
//!
//! With explicit thresholds, and for corpora without a common site:
//!
//! ```text
//!   detect(L, C₁ ∪ C₂) = detect(L, C₁) ∪ detect(L, C₂)
//! ```

mod clean;
mod copied_passages;
mod detect_tables;
mod flow_names;
mod fuzzy;
mod grams;
mod match_rows;
mod matching;
mod measures;
mod moments;
mod params;
mod score;
mod shared_chunks;

use std::path::Path;
use std::sync::Arc;

use cento_flow::{Flow, Registry, Stage};
use cento_labels::LabelKind;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use clean::{DetectedPage, detected_pages, remove_detected};
pub use copied_passages::{
    COPIED_PASSAGES, COPIED_PASSAGES_TABLE, CopiedPassageRow, CopiedPassagesSummary,
    copied_passages,
};
pub use detect_tables::{
    CHUNKS_TABLE, COPIED_TABLE, ChunkMatchRow, CopiedRow, DetectedPageRow, LEVELS_TABLE, LevelRow,
    MATCHES_TABLE, MatchRow, NEIGHBOURHOODS_TABLE, NeighbourhoodRow, PAGES_TABLE, SITES_TABLE,
};
pub use fuzzy::{FUZZY_TABLE, FuzzyRow};
pub use grams::{
    GRAMS, GramsParams, GramsSummary, ITEMS_TABLE, ItemRow, PLACES_TABLE, PlaceRow, grams,
    most_items,
};
pub use matching::{FoundRow, LABELS_TABLE};
pub use measures::{histograms, levels, thresholds};
pub use moments::{HISTOGRAM_TABLE, HistogramRow, THRESHOLDS_TABLE, ThresholdRow};
pub use params::{DetectParams, LabelSet, LabelsUsed};
pub use shared_chunks::SharingSets;

use crate::corpus_pages::CorpusPages;
use crate::discover::recipe_of;
use crate::error::{Error, Result};
use crate::names::{self, NAMED, with_named};
use crate::numbers::Numbers;
use crate::provenance::{originals_of, table_of};
use crate::run::{Findings, Workplace};
use crate::tables::group_rows;
use crate::tally::TaskTally;
use flow_names::{counter, shuffle, stage, state};
use matching::{GroupTask, MatchTask};

/// The name of the analysis.
pub const DETECT: &str = "detect";

/// The summary of `detect`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DetectSummary {
    /// Pages that were searched, without those of the owner.
    pub pages: u64,
    /// Pages of the owner.
    pub own_pages: u64,
    /// Pages that have a score.
    pub scored: u64,
    /// Chunks or files.
    pub chunks: u64,
    /// Those on the stop list.
    pub stopped: u64,
    /// Those that are labels.
    pub matched: u64,
    /// Labels that were found.
    pub labels: u64,
    /// Pages with labels.
    pub matched_pages: u64,
    /// Pages that are partial targets.
    pub targets: u64,
    /// Sites.
    pub sites: u64,
    /// Sites with labels.
    pub matched_sites: u64,
    /// Flagged sites.
    pub flagged_sites: u64,
    /// Neighbourhoods of any depth.
    pub neighbourhoods: u64,
    /// Flagged neighbourhoods.
    pub flagged: u64,
    /// Labels that were found and are on too many originals to identify one.
    pub common_labels: u64,
    /// Chunks that are common labels.
    pub common_chunks: u64,
    /// Such chunks that are attributed to an original because other chunks of their page are.
    pub attributed_common_chunks: u64,
    /// Chunks that are edited labels.
    pub fuzzy: u64,
    /// Pages with edited labels.
    pub fuzzy_pages: u64,
    /// Labels that were compared with edited chunks: those with a run of words that is not on too
    /// many labels.
    pub compared_labels: u64,
    /// Runs of words on too many labels, which were ignored.
    pub crowded_runs: u64,
    /// Labels of which only the beginning is stored and was compared.
    pub cut_labels: u64,
}

/// The parameters of a run, as recorded.
#[derive(Serialize)]
struct RecordedSettings<'a> {
    #[serde(flatten)]
    params: &'a DetectParams,
    labels: &'a LabelsUsed,
}

/// Fails if labels and corpus have different recipes.
pub fn check_like(corpus: &CorpusPages, set: &LabelSet) -> Result<()> {
    let recipe = set.used().recipe;
    for corpus in corpus.corpora() {
        let found = recipe_of(corpus.parameters(), recipe.of);
        recipe.check_like(&found, set.labels.path())?;
    }
    Ok(())
}

/// Fails if the states do not fit in half of the memory: two bits per page, one bit per label, and
/// for edited chunks four bytes per label and a filter. Everything else is shuffled, and spills.
fn check_memory(
    corpus: &CorpusPages,
    set: &LabelSet,
    params: &DetectParams,
    memory: u64,
) -> Result<()> {
    let (pages, labels) = (u64::from(corpus.all()), set.used().count);
    let mut needed = pages / 4 + labels / 8;
    if params.fuzzy.is_some() {
        needed += labels * 4 + labels / 8 + memory / 8;
    }
    match needed > memory / 2 {
        false => Ok(()),
        true => Err(Error::Flow(cento_flow::Error::TooLittleMemory {
            limit: memory,
            needed: 2 * needed,
            reason: format!(" for {pages} pages and {labels} labels"),
        })),
    }
}

/// Searches a corpus for labels.
pub fn detect(
    corpus: &Arc<CorpusPages>,
    set: &LabelSet,
    params: &DetectParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    check_like(corpus, set)?;
    if set.used().count > u64::from(u32::MAX) {
        let count = set.used().count;
        return Err(Error::Unsuitable(format!(
            "{count} labels are too many for one search"
        )));
    }
    if params.fuzzy.is_some() {
        fuzzy::check(corpus, set)?;
    }
    check_memory(corpus, set, params, workplace.memory)?;
    let settings = RecordedSettings {
        params,
        labels: set.used(),
    };
    workplace.run(
        DETECT,
        &settings,
        corpus,
        || {
            Ok((
                registry(corpus, set, params),
                flow(corpus, set, params, workplace.memory)?,
            ))
        },
        |_, report| {
            let counted = |name: &str| report.counted(name);
            let rows = |name: &str| report.rows(name);
            Ok(json!(DetectSummary {
                pages: counted(counter::PAGES),
                own_pages: counted(counter::OWN_PAGES),
                scored: counted(counter::SCORED),
                chunks: counted(counter::CHUNKS),
                stopped: counted(counter::STOPPED),
                matched: counted(counter::MATCHED),
                labels: rows(LABELS_TABLE.as_str()),
                matched_pages: rows(PAGES_TABLE.as_str()),
                targets: counted(counter::TARGETS),
                sites: counted(counter::SITES),
                matched_sites: rows(SITES_TABLE.as_str()),
                flagged_sites: counted(counter::FLAGGED_SITES),
                neighbourhoods: counted(counter::NEIGHBOURHOODS),
                flagged: counted(counter::FLAGGED),
                common_labels: counted(counter::COMMON_LABELS),
                common_chunks: counted(counter::COMMON_CHUNKS),
                attributed_common_chunks: counted(counter::ATTRIBUTED_COMMON),
                fuzzy: rows(FUZZY_TABLE.as_str()),
                fuzzy_pages: counted(counter::FUZZY_PAGES),
                compared_labels: counted(counter::COMPARED_LABELS),
                crowded_runs: counted(counter::CROWDED_RUNS),
                cut_labels: counted(counter::CUT_LABELS),
            }))
        },
    )
}

/// The stages and states of the flow.
pub fn registry(corpus: &Arc<CorpusPages>, set: &LabelSet, params: &DetectParams) -> Registry {
    let mut registry = Registry::new();
    registry.state::<Numbers>("numbers");
    registry.state::<TaskTally>("tally");
    matching::register(&mut registry, corpus, set, params);
    score::register(&mut registry, corpus, params);
    detect_tables::register(&mut registry, set, params);
    if params.fuzzy.is_some() {
        fuzzy::register(&mut registry, corpus, set, params);
    }
    names::register(&mut registry, corpus);
    registry
}

/// One task for each row group of a table.
fn group_tasks(file: &Path) -> Result<Vec<Value>> {
    let mut first_row = 0;
    let mut tasks = Vec::new();
    for (group, rows) in group_rows(file)?.into_iter().enumerate() {
        tasks.push(json!(GroupTask {
            file: file.to_owned(),
            group,
            first_row,
        }));
        first_row += rows;
    }
    Ok(tasks)
}

fn flow(corpus: &CorpusPages, set: &LabelSet, params: &DetectParams, memory: u64) -> Result<Flow> {
    let bits = 32 - corpus.all().leading_zeros();
    let labels = set.used().count;
    let label_bits = (64 - labels.leading_zeros()).max(1);
    let bitmap = |count: u64| json!({ "bytes": count.div_ceil(8).max(8) });
    let tasks = match set.used().recipe.of {
        LabelKind::Files => {
            let tasks = 0..corpus.page_tasks().len();
            tasks.map(|task| json!(MatchTask::Pages(task))).collect()
        }
        LabelKind::Chunks => {
            let tasks = corpus.chunk_tasks()?.into_iter();
            tasks.map(|task| json!(MatchTask::Chunks(task))).collect()
        }
    };
    let table = match set.table {
        true => group_tasks(&table_of(set.labels.path()))?,
        false => Vec::new(),
    };
    let originals = match set.has_originals() {
        true => group_tasks(&originals_of(set.labels.path()))?,
        false => Vec::new(),
    };
    let count: u64 = match set.has_originals() {
        true => group_rows(&originals_of(set.labels.path()))?.iter().sum(),
        false => 0,
    };
    let mut flow = with_named(Flow::new(DETECT), corpus)
        .state(state::MATCHED, "bitmap", bitmap(labels))
        // Indexed modulo its size: a few more originals may be named, and are then ignored.
        .state(state::KNOWN_ORIGINALS, "bitmap", bitmap(count.max(1 << 13)))
        .state(state::PAGE_MOMENTS, "tally", json!(null))
        .state(state::MOMENTS, "tally", json!(null))
        .shuffle_of_numbers(shuffle::BY_PAGE, bits)
        .shuffle_of_numbers(shuffle::BY_LABEL, label_bits)
        .shuffle_of_numbers(shuffle::POSITIONS, bits)
        .shuffle_of_numbers(shuffle::COMMON_LABELS, label_bits)
        .shuffle_of_numbers(shuffle::COMMON_MATCHES, bits)
        .shuffle_of_numbers(shuffle::SCORED, bits)
        .shuffle_of_numbers(shuffle::LABEL_ROWS, label_bits)
        .shuffle_of_numbers(shuffle::BY_ORIGINAL, 32)
        .shuffle_of_numbers(shuffle::PAGE_ROWS, bits)
        .shuffle(shuffle::BY_PREFIX)
        .shuffle_of_numbers(shuffle::MATCHED_PREFIXES, bits)
        .shuffle(shuffle::BY_SITE);
    for ranked in [
        shuffle::RANKED_PAGES,
        shuffle::RANKED_PREFIXES,
        shuffle::RANKED_SITES,
    ] {
        flow = flow.shuffle_of_numbers(ranked, 32);
    }
    flow = flow
        .table(LABELS_TABLE)
        .table(PAGES_TABLE)
        .table(CHUNKS_TABLE)
        .table(MATCHES_TABLE)
        .table(NEIGHBOURHOODS_TABLE)
        .table(SITES_TABLE)
        .table(COPIED_TABLE)
        .table(THRESHOLDS_TABLE)
        .table(HISTOGRAM_TABLE)
        .table(LEVELS_TABLE);
    let mut matching = Stage::map(stage::MATCH, tasks)
        .with(json!({ "source": corpus.identity(), "params": params, "labels": set.used() }))
        .writes(state::MATCHED)
        .writes(shuffle::BY_PAGE)
        .writes(shuffle::BY_LABEL)
        .writes(shuffle::POSITIONS);
    if !params.own.is_empty() {
        flow = flow
            .state(state::OWN, "bitmap", bitmap(u64::from(corpus.all())))
            .stage(
                Stage::map(stage::OWN, corpus.page_tasks())
                    .with(json!(params.own))
                    .writes(state::OWN),
            );
        matching = matching.reads(state::OWN);
    }
    flow = flow
        .stage(matching)
        .stage(
            Stage::map(stage::ORIGINS, table)
                .reads(state::MATCHED)
                .writes(shuffle::BY_LABEL)
                .writes(shuffle::COMMON_LABELS)
                .writes(shuffle::LABEL_ROWS),
        )
        .stage(
            Stage::reduce(stage::ATTRIBUTE, shuffle::BY_LABEL)
                .writes(shuffle::BY_PAGE)
                .writes(shuffle::LABEL_ROWS),
        )
        .stage(Stage::reduce(stage::LABEL_TABLE, shuffle::LABEL_ROWS).writes(LABELS_TABLE.as_str()))
        .stage(
            Stage::reduce(stage::SCORE, shuffle::BY_PAGE)
                .writes(NAMED)
                .writes(state::KNOWN_ORIGINALS)
                .writes(state::PAGE_MOMENTS)
                .writes(shuffle::PAGE_ROWS)
                .writes(shuffle::BY_ORIGINAL)
                .writes(shuffle::POSITIONS)
                .writes(shuffle::COMMON_LABELS)
                .writes(shuffle::SCORED),
        )
        .stage(Stage::reduce(stage::COMMON, shuffle::COMMON_LABELS).writes(shuffle::COMMON_MATCHES))
        .stage(
            Stage::reduce(stage::ATTRIBUTE_COMMON, shuffle::COMMON_MATCHES)
                .writes(shuffle::BY_ORIGINAL)
                .writes(shuffle::POSITIONS),
        )
        .stage(Stage::reduce(stage::LOCATE, shuffle::POSITIONS).writes(shuffle::PAGE_ROWS))
        .stage(
            Stage::map(stage::ORIGINAL_NAMES, originals)
                .reads(state::KNOWN_ORIGINALS)
                .writes(shuffle::BY_ORIGINAL),
        )
        .stage(Stage::reduce(stage::COPIED, shuffle::BY_ORIGINAL).writes(shuffle::PAGE_ROWS))
        .stage(
            Stage::map(stage::PREFIXES, corpus.page_tasks())
                .with(json!(params.depth))
                .writes(shuffle::SCORED),
        )
        .stage(Stage::reduce(stage::NEIGHBOURS, shuffle::SCORED).writes(shuffle::BY_PREFIX))
        .stage(
            Stage::reduce(stage::AGGREGATE, shuffle::BY_PREFIX)
                .writes(NAMED)
                .writes(state::MOMENTS)
                .writes(shuffle::MATCHED_PREFIXES),
        );
    let mut named = vec![shuffle::PAGE_ROWS, shuffle::MATCHED_PREFIXES];
    if params.fuzzy.is_some() {
        flow = fuzzy::with_stages(flow, corpus, set, !params.own.is_empty(), memory)?;
        named.push(fuzzy::ROWS);
    }
    flow = flow
        .stage(names::stage(corpus, &named))
        .stage(
            Stage::reduce(stage::PAGES, shuffle::PAGE_ROWS)
                .reads(state::PAGE_MOMENTS)
                .writes(shuffle::RANKED_PAGES)
                .writes(shuffle::BY_SITE)
                .writes(CHUNKS_TABLE.as_str())
                .writes(MATCHES_TABLE.as_str()),
        )
        .stage(Stage::reduce(stage::PAGE_TABLE, shuffle::RANKED_PAGES).writes(PAGES_TABLE.as_str()))
        .stage(
            Stage::reduce(stage::NEIGHBOURHOODS, shuffle::MATCHED_PREFIXES)
                .reads(state::MOMENTS)
                .writes(shuffle::RANKED_PREFIXES)
                .writes(shuffle::BY_SITE),
        )
        .stage(
            Stage::reduce(stage::NEIGHBOURHOOD_TABLE, shuffle::RANKED_PREFIXES)
                .writes(NEIGHBOURHOODS_TABLE.as_str()),
        )
        .stage(Stage::reduce(stage::SITES, shuffle::BY_SITE).writes(shuffle::RANKED_SITES))
        .stage(
            Stage::reduce(stage::SITE_TABLE, shuffle::RANKED_SITES)
                .writes(SITES_TABLE.as_str())
                .writes(COPIED_TABLE.as_str()),
        )
        .stage(
            Stage::map(stage::THRESHOLDS, vec![json!(0)])
                .reads(state::PAGE_MOMENTS)
                .reads(state::MOMENTS)
                .writes(THRESHOLDS_TABLE.as_str())
                .writes(HISTOGRAM_TABLE.as_str())
                .writes(LEVELS_TABLE.as_str()),
        );
    if params.fuzzy.is_some() {
        flow =
            flow.stage(Stage::reduce(stage::FUZZY_TABLE, fuzzy::ROWS).writes(FUZZY_TABLE.as_str()));
    }
    Ok(flow)
}
