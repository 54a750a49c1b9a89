//! What is copied: labels, found blindly or taken from originals (Ardi & Heidemann 2014 §3.2, §6).
//!
//! * *Blind*: what occurs more often than a threshold in the whole corpus, and is no stop. This is
//!   not distributive: what occurs a thousand times here and a hundred times there is more frequent
//!   than either part knows, so a corpus is counted as a whole.
//! * *Informed*: every object of a corpus of originals that is long enough.
//!
//! What is counted are chunks, or whole files; of files, every page with a payload takes part,
//! rejected for its text or not.
//!
//! ```text
//!   pages ─ homes, alike ─▶ domains
//!   chunks ─ objects ─▶ by hash ─ count ─▶ candidates ─ select ─▶ examples ─ texts ─▶ worded ─ name ─▶ in order ─▶ labels
//! ```
//!
//! It ends in three tables: `labels` (in the order of hashes: [`write_labels`] makes a file of
//! labels of it), `frequencies` (how many objects occur how often: the paper's figures 1, 2 and 11)
//! and `originals`.

mod count;
mod figures;
mod params;
mod propose;
mod settle;

use std::path::Path;
use std::sync::Arc;

use cento_file::{Output, is_stream};
use cento_flow::{Flow, Registry, Stage, table_row};
use cento_labels::{LabelKind, LabelsHeader, LabelsWriter, Recipe};
use cento_store::Parameters;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use figures::frequencies;
pub use params::{DiscoverParams, How, StopsUsed, default_threshold};

use crate::corpus_pages::CorpusPages;
use crate::error::{Error, Result};
use crate::names::{self, NAMED, with_named};
use crate::provenance::{ORIGINALS, TABLE, originals_of, read_labels, table_of};
use crate::run::{Findings, Workplace};
use crate::sites::{self, DOMAINS, SITES, with_domains};
use count::ObjectTask;

/// The name of the analysis.
pub const DISCOVER: &str = "discover";

table_row! {
    /// How many objects occur so often.
    pub struct FrequencyRow {
        /// How often.
        pub count: u64,
        /// How many distinct objects do.
        pub objects: u64,
        /// How many of these are stops.
        pub stopped: u64,
    }
}

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoverSummary {
    /// Pages that were looked at.
    pub pages: u64,
    /// Chunks, or files, with repeats.
    pub objects: u64,
    /// Labels.
    pub labels: u64,
    /// How often labels occur, all together.
    pub occurrences: u64,
    /// Distinct objects that are stops.
    pub stopped: u64,
    /// Labels that look like idioms.
    pub proposed: u64,
    /// Originals that have labels.
    pub originals: u64,
}

/// How a corpus makes what can be labelled.
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

/// How many objects a corpus has, as far as is known before they are counted.
pub fn objects_of(source: &CorpusPages, of: LabelKind) -> u64 {
    match of {
        LabelKind::Files => u64::from(source.all()),
        LabelKind::Chunks => {
            let corpora = source.corpora().iter();
            let parts = corpora.flat_map(|corpus| &corpus.manifest().parts);
            parts.map(|part| part.counts.chunks).sum()
        }
    }
}

/// Looks for labels.
pub fn discover(
    source: &Arc<CorpusPages>,
    params: &DiscoverParams,
    workplace: &Workplace,
) -> Result<Findings> {
    params.check()?;
    let tasks = tasks(source, &params.recipe)?;
    let pages = match params.recipe.of {
        LabelKind::Files => source.all(),
        LabelKind::Chunks => source.kept(),
    };
    workplace.run(
        DISCOVER,
        params,
        source,
        || {
            let flow = flow(source, params, workplace.memory, tasks);
            Ok((registry(source, params), flow))
        },
        |_, report| {
            let counted = |name: &str| report.counted(name);
            let rows = |name: &str| report.rows(name);
            Ok(json!(DiscoverSummary {
                pages: u64::from(pages),
                objects: counted("objects"),
                labels: rows("labels"),
                occurrences: counted("occurrences"),
                stopped: counted("stopped"),
                proposed: counted("proposed"),
                originals: rows("originals"),
            }))
        },
    )
}

/// The tasks that give all objects: from the table of chunks, if it has them as the recipe wants
/// them, else cut from the text.
fn tasks(source: &CorpusPages, recipe: &Recipe) -> Result<Vec<Value>> {
    if recipe.of == LabelKind::Files {
        let tasks = 0..source.page_tasks().len();
        return Ok(tasks.map(|task| json!(ObjectTask::Pages(task))).collect());
    }
    let mut unlike = None;
    for corpus in source.corpora() {
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
            let tasks = source.chunk_tasks()?.into_iter();
            Ok(tasks.map(|task| json!(ObjectTask::Chunks(task))).collect())
        }
        Some(_) if source.has_text() => {
            let tasks = source.text_tasks().into_iter();
            Ok(tasks.map(|task| json!({ "text": task })).collect())
        }
        Some(error) => Err(Error::Labels(error)),
    }
}

/// What the names in the flow mean.
pub fn registry(source: &Arc<CorpusPages>, params: &DiscoverParams) -> Registry {
    let mut registry = Registry::new();
    sites::register(&mut registry, source);
    count::register(&mut registry, source, params);
    settle::register(&mut registry, source, params);
    names::register(&mut registry, source);
    registry
}

fn flow(source: &CorpusPages, params: &DiscoverParams, memory: u64, tasks: Vec<Value>) -> Flow {
    let bits = 32 - source.all().leading_zeros();
    let mut flow = with_named(Flow::new(DISCOVER), source)
        .state("counted", "tally", json!(null))
        .state("singles", "tally", json!(null))
        .shuffle("by hash")
        .shuffle("candidates")
        .shuffle_of_numbers("examples", bits)
        .shuffle_of_numbers("by original", bits)
        .shuffle_of_numbers("worded", bits)
        .shuffle_of_numbers("owners", bits)
        .shuffle_of_numbers("in order", 64)
        .table("labels")
        .table("frequencies");
    let mut objects = Stage::map("objects", tasks.clone())
        .with(json!({ "source": source.identity(), "params": params }))
        .writes("by hash")
        .writes("singles");
    if !params.informed() {
        flow = with_domains(flow, source);
        objects = objects.reads(DOMAINS);
        // 32 bytes an object: what occurs once stays at home if not all fit in half of the memory.
        let count = objects_of(source, params.recipe.of);
        if count.saturating_mul(32) > memory / 2 {
            let bytes = (4 * count).clamp(1 << 12, (memory / 4).max(1 << 12));
            flow = flow
                .state("seen", "seen-filter", json!({ "bytes": bytes }))
                .stage(Stage::map("note", tasks).writes("seen"));
            objects = objects.reads("seen");
        }
    }
    flow = flow.stage(objects);
    let count = Stage::reduce("count", "by hash").writes("counted");
    let mut name = Stage::reduce("name", "worded").writes("in order");
    if params.informed() {
        flow = flow
            .table("originals")
            .stage(count.writes(NAMED).writes("examples").writes("by original"))
            .stage(
                Stage::reduce("owned", "by original")
                    .writes(NAMED)
                    .writes("owners"),
            )
            .stage(names::stage(source, &["worded", "owners"]))
            .stage(Stage::reduce("originals", "owners").writes("originals"));
    } else {
        name = name.reads(SITES);
        flow = flow
            .stage(count.writes("candidates"))
            .stage(
                Stage::reduce("select", "candidates")
                    .reads("counted")
                    .writes(NAMED)
                    .writes("examples"),
            )
            .stage(names::stage(source, &["worded"]));
    }
    flow.stage(Stage::reduce("texts", "examples").writes("worded"))
        .stage(name)
        .stage(Stage::reduce("labels", "in order").writes("labels"))
        .stage(
            Stage::map("frequencies", vec![json!(0)])
                .reads("counted")
                .reads("singles")
                .writes("frequencies"),
        )
}

/// Writes the labels of a run to a file, with the tables beside it that tell where they come from.
pub fn write_labels(
    findings: &Findings,
    params: &DiscoverParams,
    path: &Path,
) -> Result<LabelsHeader> {
    let counted: DiscoverSummary = findings.summary()?;
    // Findings lie in a corpus, which may be from a stranger: no link in it is followed.
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
    for row in read_labels(&findings.table("labels"))? {
        writer.push(row?.hash)?;
    }
    let copy = |name: &str, to: &Path| {
        let copy = || -> std::io::Result<()> {
            let mut table = std::fs::File::open(findings.table(name))?;
            let mut output = Output::create(to)?;
            std::io::copy(&mut table, &mut output)?;
            output.finish_synced()
        };
        copy().map_err(|error| Error::io(to, error))
    };
    let originals = originals_of(path);
    // There is no place beside standard output.
    if !is_stream(path) {
        copy("labels", &table_of(path))?;
        writer.add_sidecar(TABLE)?;
    }
    if params.informed() && !is_stream(path) {
        copy("originals", &originals)?;
        writer.add_sidecar(ORIGINALS)?;
    } else {
        // Those of labels that had this name before.
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
