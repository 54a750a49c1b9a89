//! Where it is copied: files, chunks, pages and neighbourhoods against labels (Ardi & Heidemann
//! 2014 §3.3, §6.3, §7).
//!
//! * *Simple object matching*: every chunk, or file, that is a label.
//! * *Partial matching*: a page *contains* labels by the share of its chunks that are labels.
//!   Repeats count, stops count neither above nor below the line, and a page with no chunks left
//!   has no score.
//! * *Bad neighbourhoods*: all pages under a prefix of their addresses, at every level, by the mean
//!   of their pages (step 6) and by the share of all their chunks (§3.3).
//!
//! What is above its threshold is flagged: one that was given, or the mean of all scores plus their
//! deviation.
//!
//! ```text
//!   detect(L, C₁ ∪ C₂) = detect(L, C₁) ∪ detect(L, C₂)      for C₁ and C₂ without a site in common, with thresholds given
//! ```

mod fuzzy;
mod grams;
mod matching;
mod moments;
mod params;
mod read;
mod rows;
mod score;
mod settle;

use std::path::Path;
use std::sync::Arc;

use cento_flow::{Flow, Registry, Stage};
use cento_labels::LabelKind;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use fuzzy::FuzzyRow;
pub use grams::{GRAMS, GramsParams, GramsSummary, ItemRow, PlaceRow, grams};
pub use matching::FoundRow;
pub use moments::{HistogramRow, ThresholdRow};
pub use params::{DetectParams, LabelSet, LabelsUsed};
pub use read::{histograms, levels, thresholds};
pub use settle::{ChunkMatchRow, CopiedRow, LevelRow, MatchRow, NeighbourhoodRow, PageRow};

use crate::corpus_pages::CorpusPages;
use crate::discover::recipe_of;
use crate::error::{Error, Result};
use crate::names::{self, NAMED, with_named};
use crate::numbers::Numbers;
use crate::provenance::{originals_of, table_of};
use crate::run::{Findings, Workplace};
use crate::tables::group_rows;
use crate::tally::Tally;
use matching::{GroupTask, MatchTask};

/// The name of the analysis.
pub const DETECT: &str = "detect";

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DetectSummary {
    /// Pages that were looked at, the owner's aside.
    pub pages: u64,
    /// The owner's pages.
    pub own_pages: u64,
    /// Pages that have a score.
    pub scored: u64,
    /// Chunks, or files.
    pub chunks: u64,
    /// Those that are stops.
    pub stopped: u64,
    /// Those that are labels.
    pub matched: u64,
    /// Labels that were found.
    pub labels: u64,
    /// Pages that have labels.
    pub matched_pages: u64,
    /// Pages that are partial targets.
    pub targets: u64,
    /// Sites.
    pub sites: u64,
    /// Sites that have labels.
    pub matched_sites: u64,
    /// Sites that are flagged.
    pub flagged_sites: u64,
    /// Neighbourhoods of any depth.
    pub neighbourhoods: u64,
    /// Those that are flagged.
    pub flagged: u64,
    /// Labels that more originals have than can be told apart by them, and that were found.
    pub common_labels: u64,
    /// Chunks that are such labels.
    pub common_chunks: u64,
    /// Those of them that are attributed to an original, because other chunks of their page are.
    pub attributed_common_chunks: u64,
    /// Chunks that are edited labels.
    pub fuzzy: u64,
    /// Pages that have such.
    pub fuzzy_pages: u64,
    /// Labels that were compared with edited chunks: those that have a run of words that not too
    /// many labels have.
    pub compared_labels: u64,
    /// Runs of words that too many labels have to be compared by.
    pub crowded_runs: u64,
    /// Labels of which only the beginning is known and was compared.
    pub cut_labels: u64,
}

/// What is written down of a run.
#[derive(Serialize)]
struct Asked<'a> {
    #[serde(flatten)]
    params: &'a DetectParams,
    labels: &'a LabelsUsed,
}

/// Fails if labels were not made as the corpus was.
pub fn check_like(source: &CorpusPages, set: &LabelSet) -> Result<()> {
    let recipe = set.used().recipe;
    for corpus in source.corpora() {
        let found = recipe_of(corpus.parameters(), recipe.of);
        recipe.check_like(&found, set.labels.path())?;
    }
    Ok(())
}

/// Fails if what is held of pages and labels does not fit in half of the memory: two bits of a
/// page, a bit of a label, and with edited chunks four bytes of a label and a filter. All else is
/// shuffled, and spills.
fn check_memory(
    source: &CorpusPages,
    set: &LabelSet,
    params: &DetectParams,
    memory: u64,
) -> Result<()> {
    let (pages, labels) = (u64::from(source.all()), set.used().count);
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

/// Looks for labels in a corpus.
pub fn detect(
    source: &Arc<CorpusPages>,
    set: &LabelSet,
    params: &DetectParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    check_like(source, set)?;
    if set.used().count > u64::from(u32::MAX) {
        let count = set.used().count;
        return Err(Error::Unsuitable(format!(
            "{count} labels are more than can be looked for at once"
        )));
    }
    if params.fuzzy.is_some() {
        fuzzy::check(source, set)?;
    }
    check_memory(source, set, params, workplace.memory)?;
    let asked = Asked {
        params,
        labels: set.used(),
    };
    workplace.run(
        DETECT,
        &asked,
        source,
        || {
            Ok((
                registry(source, set, params),
                flow(source, set, params, workplace.memory)?,
            ))
        },
        |_, report| {
            let counted = |name: &str| report.counted(name);
            let rows = |name: &str| report.rows(name);
            Ok(json!(DetectSummary {
                pages: counted("pages"),
                own_pages: counted("own pages"),
                scored: counted("scored"),
                chunks: counted("chunks"),
                stopped: counted("stopped"),
                matched: counted("matched"),
                labels: rows("labels"),
                matched_pages: rows("pages"),
                targets: counted("targets"),
                sites: counted("sites"),
                matched_sites: rows("sites"),
                flagged_sites: counted("flagged sites"),
                neighbourhoods: counted("neighbourhoods"),
                flagged: counted("flagged"),
                common_labels: counted("common labels"),
                common_chunks: counted("common chunks"),
                attributed_common_chunks: counted("attributed common chunks"),
                fuzzy: rows("fuzzy"),
                fuzzy_pages: counted("fuzzy pages"),
                compared_labels: counted("compared labels"),
                crowded_runs: counted("crowded runs"),
                cut_labels: counted("cut labels"),
            }))
        },
    )
}

/// What the names in the flow mean.
pub fn registry(source: &Arc<CorpusPages>, set: &LabelSet, params: &DetectParams) -> Registry {
    let mut registry = Registry::new();
    registry.state::<Numbers>("numbers");
    registry.state::<Tally>("tally");
    matching::register(&mut registry, source, set, params);
    score::register(&mut registry, source, params);
    settle::register(&mut registry, set, params);
    if params.fuzzy.is_some() {
        fuzzy::register(&mut registry, source, set, params);
    }
    names::register(&mut registry, source);
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

fn flow(source: &CorpusPages, set: &LabelSet, params: &DetectParams, memory: u64) -> Result<Flow> {
    let bits = 32 - source.all().leading_zeros();
    let labels = set.used().count;
    let label_bits = (64 - labels.leading_zeros()).max(1);
    let bitmap = |count: u64| json!({ "bytes": count.div_ceil(8).max(8) });
    let tasks = match set.used().recipe.of {
        LabelKind::Files => {
            let tasks = 0..source.page_tasks().len();
            tasks.map(|task| json!(MatchTask::Pages(task))).collect()
        }
        LabelKind::Chunks => {
            let tasks = source.chunk_tasks()?.into_iter();
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
    let mut flow = with_named(Flow::new(DETECT), source)
        .state("matched", "bitmap", bitmap(labels))
        // By remainder: an original that is not wanted may be named as well, and is then left out.
        .state("known originals", "bitmap", bitmap(count.max(1 << 13)))
        .state("page moments", "tally", json!(null))
        .state("moments", "tally", json!(null))
        .shuffle_of_numbers("by page", bits)
        .shuffle_of_numbers("by label", label_bits)
        .shuffle_of_numbers("places", bits)
        .shuffle_of_numbers("asked", label_bits)
        .shuffle_of_numbers("answers", bits)
        .shuffle_of_numbers("scored", bits)
        .shuffle_of_numbers("label rows", label_bits)
        .shuffle_of_numbers("by original", 32)
        .shuffle_of_numbers("page rows", bits)
        .shuffle("by prefix")
        .shuffle_of_numbers("bad", bits)
        .shuffle("by site");
    for ranked in ["ranked pages", "ranked prefixes", "ranked sites"] {
        flow = flow.shuffle_of_numbers(ranked, 32);
    }
    for table in [
        "labels",
        "pages",
        "chunks",
        "matches",
        "neighbourhoods",
        "sites",
        "copied",
        "thresholds",
        "histogram",
        "levels",
    ] {
        flow = flow.table(table);
    }
    let mut matching = Stage::map("match", tasks)
        .with(json!({ "source": source.identity(), "params": params, "labels": set.used() }))
        .writes("matched")
        .writes("by page")
        .writes("by label")
        .writes("places");
    if !params.own.is_empty() {
        flow = flow
            .state("own", "bitmap", bitmap(u64::from(source.all())))
            .stage(
                Stage::map("own", source.page_tasks())
                    .with(json!(params.own))
                    .writes("own"),
            );
        matching = matching.reads("own");
    }
    flow = flow
        .stage(matching)
        .stage(
            Stage::map("origins", table)
                .reads("matched")
                .writes("by label")
                .writes("asked")
                .writes("label rows"),
        )
        .stage(
            Stage::reduce("attribute", "by label")
                .writes("by page")
                .writes("label rows"),
        )
        .stage(Stage::reduce("label table", "label rows").writes("labels"))
        .stage(
            Stage::reduce("score", "by page")
                .writes(NAMED)
                .writes("known originals")
                .writes("page moments")
                .writes("page rows")
                .writes("by original")
                .writes("places")
                .writes("asked")
                .writes("scored"),
        )
        .stage(Stage::reduce("common", "asked").writes("answers"))
        .stage(
            Stage::reduce("attribute common", "answers")
                .writes("by original")
                .writes("places"),
        )
        .stage(Stage::reduce("place", "places").writes("page rows"))
        .stage(
            Stage::map("original names", originals)
                .reads("known originals")
                .writes("by original"),
        )
        .stage(Stage::reduce("taken", "by original").writes("page rows"))
        .stage(
            Stage::map("prefixes of pages", source.page_tasks())
                .with(json!(params.depth))
                .writes("scored"),
        )
        .stage(Stage::reduce("neighbours", "scored").writes("by prefix"))
        .stage(
            Stage::reduce("gather", "by prefix")
                .writes(NAMED)
                .writes("moments")
                .writes("bad"),
        );
    let mut named = vec!["page rows", "bad"];
    if params.fuzzy.is_some() {
        flow = fuzzy::with_stages(flow, source, set, !params.own.is_empty(), memory)?;
        named.push(fuzzy::ROWS);
    }
    flow = flow
        .stage(names::stage(source, &named))
        .stage(
            Stage::reduce("pages", "page rows")
                .named("page table")
                .reads("page moments")
                .writes("ranked pages")
                .writes("by site")
                .writes("chunks")
                .writes("matches"),
        )
        .stage(Stage::reduce("list pages", "ranked pages").writes("pages"))
        .stage(
            Stage::reduce("prefixes", "bad")
                .reads("moments")
                .writes("ranked prefixes")
                .writes("by site"),
        )
        .stage(Stage::reduce("list prefixes", "ranked prefixes").writes("neighbourhoods"))
        .stage(
            Stage::reduce("sites", "by site")
                .named("site sums")
                .writes("ranked sites"),
        )
        .stage(
            Stage::reduce("list sites", "ranked sites")
                .writes("sites")
                .writes("copied"),
        )
        .stage(
            Stage::map("thresholds", vec![json!(0)])
                .reads("page moments")
                .reads("moments")
                .writes("thresholds")
                .writes("histogram")
                .writes("levels"),
        );
    if params.fuzzy.is_some() {
        flow = flow.stage(Stage::reduce("fuzzy table", fuzzy::ROWS).writes("fuzzy"));
    }
    Ok(flow)
}
