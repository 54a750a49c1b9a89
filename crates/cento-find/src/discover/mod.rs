//! Labels: the chunks or files to search for, discovered blindly or taken from originals (Ardi &
//! Heidemann 2014 §3.2, §6).
//!
//! * *Blind*: every object that occurs more often than a threshold in the whole corpus and is not
//!   on the stop list. This is not distributive: an object may be frequent in the union of two
//!   corpora and in neither of them, so a corpus is counted as a whole.
//! * *Informed*: every object of a corpus of originals that is long enough.
//!
//! Objects are chunks, or whole files. Every page with a payload counts as a file, even if its text
//! was rejected.
//!
//! ```text
//!   pages ─ homes, alike ─▶ domains
//!   chunks ─ objects ─▶ by hash ─ count ─▶ candidates ─ select ─▶ examples ─ texts ─▶ with text
//!   with text ─ name ─▶ in order ─ labels ─▶ labels
//! ```
//!
//! The results are three tables: `labels` (ordered by hash, from which [`write_labels`] writes a
//! file of labels), `frequencies` (the number of objects for each number of occurrences: the
//! paper's figures 1, 2 and 11) and `originals`.

mod figures;
mod flow_names;
mod frequency;
mod label_tables;
mod params;
mod propose;

use std::path::Path;
use std::sync::Arc;

use cento_file::{Output, is_stream};
use cento_flow::{Flow, Registry, SeenFilter, Stage, TableName, table_row};
use cento_labels::{LabelKind, LabelsHeader, LabelsWriter, Recipe};
use cento_store::Parameters;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use figures::frequencies;
pub use params::{DiscoverParams, How, StopsUsed, default_threshold};

use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::names::{self, NAMED, with_named};
use crate::provenance::{LabelRow, ORIGINALS, OriginalRow, TABLE, originals_of, table_of};
use crate::run::{Findings, Workplace};
use crate::sites::{self, DOMAINS, SITES, with_domains};
use flow_names::{counter, shuffle, stage, state};
use frequency::ObjectTask;

/// The name of the analysis.
pub const DISCOVER: &str = "discover";
/// The labels, ordered by hash.
pub const LABELS_TABLE: TableName<LabelRow> = TableName::new("labels");
/// The originals of informed labels.
pub const ORIGINALS_TABLE: TableName<OriginalRow> = TableName::new("originals");
/// The number of objects for each number of occurrences.
pub const FREQUENCIES_TABLE: TableName<FrequencyRow> = TableName::new("frequencies");

table_row! {
    /// The number of objects with the same number of occurrences.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct FrequencyRow {
        /// The number of occurrences.
        pub count: u64,
        /// The number of distinct objects.
        pub objects: u64,
        /// The number of these that are on the stop list.
        pub stopped: u64,
    }
}

/// The summary of `discover`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoverSummary {
    /// Pages that were searched.
    pub pages: u64,
    /// Chunks or files, with repetitions.
    pub objects: u64,
    /// Labels.
    pub labels: u64,
    /// Occurrences of all labels.
    pub occurrences: u64,
    /// Distinct objects on the stop list.
    pub stopped: u64,
    /// Labels that look like boilerplate.
    pub proposed: u64,
    /// Originals that have labels.
    pub originals: u64,
}

/// Returns the recipe of the objects of a corpus.
pub fn recipe_of(parameters: &Parameters, of: LabelKind) -> Recipe {
    match of {
        LabelKind::Files => Recipe::files(),
        LabelKind::Chunks => Recipe {
            of,
            content: parameters.content,
            chunk: parameters.chunk,
            normalisation: parameters.normalisation,
            hash: parameters.hash,
        },
    }
}

/// Returns the number of objects of a corpus, as far as it is known before they are counted.
pub fn objects_of(corpus: &CorpusPages, of: LabelKind) -> u64 {
    match of {
        LabelKind::Files => u64::from(corpus.all()),
        LabelKind::Chunks => {
            let corpora = corpus.corpora().iter();
            let parts = corpora.flat_map(|corpus| &corpus.manifest().parts);
            parts.map(|part| part.counts.chunks).sum()
        }
    }
}

/// Discovers the labels of a corpus.
pub fn discover(
    corpus: &Arc<CorpusPages>,
    params: &DiscoverParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    let tasks = tasks(corpus, &params.recipe)?;
    let pages = match params.recipe.of {
        LabelKind::Files => corpus.all(),
        LabelKind::Chunks => corpus.kept(),
    };
    workplace.run(
        DISCOVER,
        params,
        corpus,
        || {
            let flow = flow(corpus, params, workplace.memory, tasks);
            Ok((registry(corpus, params), flow))
        },
        |_, report| {
            let counted = |name: &str| report.counted(name);
            let rows = |name: &str| report.rows(name);
            Ok(json!(DiscoverSummary {
                pages: u64::from(pages),
                objects: counted(counter::OBJECTS),
                labels: rows(LABELS_TABLE.as_str()),
                occurrences: counted(counter::OCCURRENCES),
                stopped: counted(counter::STOPPED),
                proposed: counted(counter::PROPOSED),
                originals: rows(ORIGINALS_TABLE.as_str()),
            }))
        },
    )
}

/// The tasks that read all objects: from the table of chunks if its chunks follow the recipe, else
/// by cutting the text again.
fn tasks(corpus: &CorpusPages, recipe: &Recipe) -> Result<Vec<Value>> {
    if recipe.of == LabelKind::Files {
        let tasks = 0..corpus.page_tasks().len();
        return Ok(tasks.map(|task| json!(ObjectTask::Pages(task))).collect());
    }
    let mut unlike = None;
    for corpus in corpus.corpora() {
        let found = recipe_of(corpus.parameters(), recipe.of);
        if found.content != recipe.content {
            found.check_like(recipe, corpus.path())?;
        }
        if let Err(error) = found.check_like(recipe, corpus.path()) {
            unlike = Some(error);
        }
    }
    match unlike {
        None => {
            let tasks = corpus.chunk_tasks()?.into_iter();
            Ok(tasks.map(|task| json!(ObjectTask::Chunks(task))).collect())
        }
        Some(_) if corpus.has_text() => {
            let tasks = corpus.text_tasks().into_iter();
            Ok(tasks.map(|task| json!({ "text": task })).collect())
        }
        Some(error) => Err(Error::Labels(error)),
    }
}

/// The stages and states of the flow.
pub fn registry(corpus: &Arc<CorpusPages>, params: &DiscoverParams) -> Registry {
    let mut registry = Registry::new();
    sites::register(&mut registry, corpus);
    frequency::register(&mut registry, corpus, params);
    label_tables::register(&mut registry, corpus, params);
    names::register(&mut registry, corpus);
    registry
}

fn flow(corpus: &CorpusPages, params: &DiscoverParams, memory: u64, tasks: Vec<Value>) -> Flow {
    let bits = 32 - corpus.all().leading_zeros();
    let mut flow = with_named(Flow::new(DISCOVER), corpus)
        .state(state::COUNTED, "tally", json!(null))
        .state(state::SINGLES, "tally", json!(null))
        .shuffle(shuffle::BY_HASH)
        .shuffle(shuffle::CANDIDATES)
        .shuffle_of_numbers(shuffle::EXAMPLES, bits)
        .shuffle_of_numbers(shuffle::BY_ORIGINAL, bits)
        .shuffle_of_numbers(shuffle::WITH_TEXT, bits)
        .shuffle_of_numbers(shuffle::ORIGINAL_ROWS, bits)
        .shuffle_of_numbers(shuffle::IN_ORDER, 64)
        .table(LABELS_TABLE)
        .table(FREQUENCIES_TABLE);
    let mut objects = Stage::map(stage::OBJECTS, tasks.clone())
        .with(json!({ "source": corpus.identity(), "params": params }))
        .writes(shuffle::BY_HASH)
        .writes(state::SINGLES);
    if !params.informed() {
        flow = with_domains(flow, corpus);
        objects = objects.reads(DOMAINS);
        // 32 bytes per object. If not all objects fit in half of the memory, those that occur once
        // are not shuffled.
        let count = objects_of(corpus, params.recipe.of);
        if count.saturating_mul(32) > memory / 2 {
            let seen = SeenFilter::parameters(count, 4, memory / 4);
            flow = flow
                .state(state::SEEN, "seen-filter", seen)
                .stage(Stage::map(stage::NOTE, tasks).writes(state::SEEN));
            objects = objects.reads(state::SEEN);
        }
    }
    flow = flow.stage(objects);
    let count = Stage::reduce(stage::COUNT, shuffle::BY_HASH).writes(state::COUNTED);
    let mut name = Stage::reduce(stage::NAME, shuffle::WITH_TEXT).writes(shuffle::IN_ORDER);
    if params.informed() {
        flow = flow
            .table(ORIGINALS_TABLE)
            .stage(
                count
                    .writes(NAMED)
                    .writes(shuffle::EXAMPLES)
                    .writes(shuffle::BY_ORIGINAL),
            )
            .stage(
                Stage::reduce(stage::COUNT_ORIGINALS, shuffle::BY_ORIGINAL)
                    .writes(NAMED)
                    .writes(shuffle::ORIGINAL_ROWS),
            )
            .stage(names::stage(
                corpus,
                &[shuffle::WITH_TEXT, shuffle::ORIGINAL_ROWS],
            ))
            .stage(
                Stage::reduce(stage::ORIGINALS, shuffle::ORIGINAL_ROWS)
                    .writes(ORIGINALS_TABLE.as_str()),
            );
    } else {
        name = name.reads(SITES);
        flow = flow
            .stage(count.writes(shuffle::CANDIDATES))
            .stage(
                Stage::reduce(stage::SELECT, shuffle::CANDIDATES)
                    .reads(state::COUNTED)
                    .writes(NAMED)
                    .writes(shuffle::EXAMPLES),
            )
            .stage(names::stage(corpus, &[shuffle::WITH_TEXT]));
    }
    flow.stage(Stage::reduce(stage::TEXTS, shuffle::EXAMPLES).writes(shuffle::WITH_TEXT))
        .stage(name)
        .stage(Stage::reduce(stage::LABELS, shuffle::IN_ORDER).writes(LABELS_TABLE.as_str()))
        .stage(
            Stage::map(stage::FREQUENCIES, vec![json!(0)])
                .reads(state::COUNTED)
                .reads(state::SINGLES)
                .writes(FREQUENCIES_TABLE.as_str()),
        )
}

/// Writes the labels of a run to a file, with tables of their origins beside it.
pub fn write_labels(
    findings: &Findings,
    params: &DiscoverParams,
    path: &Path,
) -> Result<LabelsHeader> {
    let counted: DiscoverSummary = findings.summary()?;
    // Findings are part of a corpus, which may be from a stranger: symbolic links in it are not
    // followed.
    if path.starts_with(&findings.path) {
        for place in [path.to_owned(), table_of(path), originals_of(path)] {
            if place
                .symlink_metadata()
                .is_ok_and(|found| found.is_symlink())
            {
                std::fs::remove_file(&place).map_err(|error| Error::io(&place, error))?;
            }
        }
    }
    let mut writer = LabelsWriter::create(path, params.recipe, counted.labels)?;
    for row in findings.rows(LABELS_TABLE)? {
        writer.push(row?.hash)?;
    }
    let copy = |table: &str, to: &Path| {
        let copy = || -> std::io::Result<()> {
            let mut table = std::fs::File::open(findings.table(table))?;
            let mut output = Output::create(to)?;
            std::io::copy(&mut table, &mut output)?;
            output.finish_synced()
        };
        copy().map_err(|error| Error::io(to, error))
    };
    let originals = originals_of(path);
    // Standard output has no tables beside it.
    if !is_stream(path) {
        copy(LABELS_TABLE.as_str(), &table_of(path))?;
        writer.add_sidecar(TABLE)?;
    }
    if params.informed() && !is_stream(path) {
        copy(ORIGINALS_TABLE.as_str(), &originals)?;
        writer.add_sidecar(ORIGINALS)?;
    } else {
        // The table of an earlier file of labels of this name.
        let _ = std::fs::remove_file(&originals);
    }
    let made = json!({
        "how": params.how,
        "stop_list": params.stop_list,
        "objects": counted.objects,
        "originals": counted.originals,
        "cento": env!("CARGO_PKG_VERSION"),
    });
    Ok(writer.finish(&params.stops, made)?)
}
