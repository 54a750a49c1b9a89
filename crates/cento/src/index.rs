//! `cento index`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use cento_query::{QUERY, UpdatedIndex};
use cento_read::{IgnoredFiles, Input, Resolved, Settings};
use cento_report::format::{counted, percent, plural};
use cento_store::{Build, BuildProgress, Built, Counts, Parameters, Tally};
use clap::Args;
use serde_json::json;

use crate::command_error::{CommandError, STRICT};
use crate::machine::{MachineArguments, Size};
use crate::meter::Meter;
use crate::output::{Lines, clean, number, print_as, say, shortened, size};
use crate::query::extend;
use crate::reading::{LimitArguments, ReadingArguments};
use crate::wrong_path::{check_no_address, check_no_corpus};

/// Make a corpus from archives, folders and tables
///
/// Reads WARC, WET and ARC archives, folders of HTML and text files, JSON Lines and Parquet tables,
/// and writes a folder of Parquet tables: pages, their text, and their chunks. Inputs may be local
/// files, objects on S3, or URLs of web servers; S3 is configured by the usual variables
/// (AWS_ACCESS_KEY_ID, AWS_REGION, AWS_ENDPOINT_URL). Run the same command again to resume after an
/// interruption, or to add the files that are new in a folder. Files that have changed or are
/// missing are an error, unless --refresh replaces the corpus.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cento index crawl/*.warc.gz -o crawl.cento
  cento index docs/ --base-url https://docs.example.org/ -o docs.cento
  cento index news.jsonl --field text=body --field url=link --field date=published -o news.cento
  cento index s3://bucket/crawl/ -o crawl.cento
  cento index @https://data.commoncrawl.org/crawl-data/CC-MAIN-2024-51/wet.paths.gz -o cc.cento
  zcat pages.jsonl.gz | cento index - --format jsonl -o pages.cento
  cento index docs/ -o docs.cento                (again: adds the files that are new in docs/)
  cento index more/*.warc.gz -o crawl.cento --add")]
pub(crate) struct IndexArguments {
    /// Files, folders, glob patterns, URLs (s3://, http://, https://), @FILE or @URL with one of
    /// these per line, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<String>,
    /// Where to write the result
    ///
    /// The corpus to make or to add to.
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: PathBuf,
    /// Add other inputs to an existing corpus. Inputs that it already contains are skipped
    #[arg(long, conflicts_with = "refresh")]
    pub(crate) add: bool,
    /// With --add: add inputs once more that the corpus already contains
    #[arg(long, requires = "add")]
    pub(crate) repeat: bool,
    #[command(flatten)]
    pub(crate) update: UpdateArguments,
    /// Also build the index for `cento query`, which otherwise the first query builds. With --add,
    /// an index that exists is always extended
    #[arg(long, conflicts_with = "no_text")]
    pub(crate) query: bool,

    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
    /// Exit with status 3 if records were damaged or pages could not be decoded
    #[arg(long, help_heading = "Reading")]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
    /// Payload per part of the corpus, which is the most work that an interruption can lose
    /// [default: 512M]
    #[arg(long, value_name = "SIZE", help_heading = "Machine")]
    pub(crate) part_size: Option<Size>,
    /// Print JSON, one object per line
    ///
    /// One object, the summary.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// What happens to a corpus that exists.
#[derive(Debug, Args)]
pub(crate) struct UpdateArguments {
    /// If files have changed or are missing since the corpus was made, index all inputs anew and
    /// replace the corpus
    #[arg(long)]
    pub(crate) refresh: bool,
}

/// A corpus to be made, as typed: by `cento index`, or by `cento scan` before its analyses.
pub(crate) struct IndexRequest<'a> {
    pub(crate) corpus: &'a Path,
    pub(crate) inputs: &'a [String],
    pub(crate) reading: &'a ReadingArguments,
    pub(crate) limits: &'a LimitArguments,
    pub(crate) machine: &'a MachineArguments,
    pub(crate) part_size: Option<Size>,
    pub(crate) add: bool,
    pub(crate) again: bool,
    pub(crate) refresh: bool,
}

/// A corpus to be made: inputs that exist, and valid settings.
pub(crate) struct ResolvedIndex {
    corpus: PathBuf,
    inputs: Vec<Input>,
    skipped_files: BTreeMap<String, Tally>,
    settings: Settings,
    parameters: Parameters,
    add: bool,
    again: bool,
    refresh: bool,
    threads: usize,
    memory: u64,
}

impl IndexRequest<'_> {
    /// Validates the settings and finds the inputs.
    pub(crate) fn resolve(&self) -> Result<ResolvedIndex, CommandError> {
        check_no_corpus(self.inputs)?;
        check_no_address(self.corpus)?;
        let added_to = self.add.then_some(self.corpus);
        let parameters = self
            .reading
            .parameters(self.limits, self.part_size, added_to)?;
        let settings = self.reading.settings(&parameters, self.machine)?;
        let Resolved { inputs, ignored } = cento_read::resolve(self.inputs, &settings)?;
        Ok(ResolvedIndex {
            corpus: self.corpus.to_owned(),
            inputs,
            skipped_files: skipped_files(ignored),
            settings,
            parameters,
            add: self.add,
            again: self.again,
            refresh: self.refresh,
            threads: self.machine.threads(),
            memory: self.machine.memory(),
        })
    }
}

impl ResolvedIndex {
    fn files(&self) -> usize {
        self.inputs.len()
    }

    fn bytes(&self) -> u64 {
        self.inputs.iter().filter_map(|input| input.bytes).sum()
    }

    /// Returns the build that makes the corpus.
    pub(crate) fn build(self, progress: &BuildProgress) -> Build<'_> {
        Build::new(self.inputs, &self.corpus)
            .skipped_files(self.skipped_files)
            .settings(self.settings)
            .parameters(self.parameters)
            .add_to_existing(self.add)
            .again(self.again)
            .update_existing(!self.add)
            .refresh(self.refresh)
            .threads(self.threads)
            .memory(self.memory)
            .progress(progress)
    }
}

pub(crate) fn run(arguments: &IndexArguments) -> Result<ExitCode, CommandError> {
    let index = IndexRequest {
        corpus: &arguments.output,
        inputs: &arguments.inputs,
        reading: &arguments.reading,
        limits: &arguments.limits,
        machine: &arguments.machine,
        part_size: arguments.part_size,
        add: arguments.add,
        again: arguments.repeat,
        refresh: arguments.update.refresh,
    }
    .resolve()?;
    let (files, input_bytes) = (index.files(), index.bytes());
    let progress = Arc::new(BuildProgress::default());
    let begun = Instant::now();
    let meter = Meter::start(&progress);
    let outcome = index.build(&progress).run();
    drop(meter);
    let built = outcome?;
    let seconds = begun.elapsed().as_secs_f64();
    let query = query_index(arguments)?;
    if let Some(sentence) = updated(&built, &arguments.output).filter(|_| !arguments.json) {
        say(&format!("note: {sentence}"));
    }

    // The size of a stream is known only after it was read.
    let input_bytes = input_bytes.max(progress.bytes());
    let summary = IndexSummary {
        arguments,
        built: &built,
        files,
        input_bytes,
        seconds,
        query,
    };
    let text = match arguments.json {
        true => summary.json(),
        false => summary.text(),
    };
    print_as(arguments.json, &text)?;
    let status = if arguments.strict && damaged(&built) > 0 {
        STRICT
    } else {
        0
    };
    Ok(ExitCode::from(status))
}

/// Builds the index for queries if it was asked for, and extends one that exists.
fn query_index(arguments: &IndexArguments) -> Result<Option<(UpdatedIndex, f64)>, CommandError> {
    let corpus = &arguments.output;
    if !arguments.query && !corpus.join(QUERY).is_dir() {
        return Ok(None);
    }
    let begun = Instant::now();
    let updated = extend(corpus, None, &arguments.machine, false)?;
    Ok(Some((updated, begun.elapsed().as_secs_f64())))
}

/// How many new files a sentence names.
const NAMED: usize = 3;

/// Says what a command did to a corpus that existed. None if it made a new one.
pub(crate) fn updated(built: &Built, corpus: &Path) -> Option<String> {
    let corpus = clean(&corpus.display().to_string()).into_owned();
    if built.replaced {
        return Some(format!(
            "{corpus} was replaced: all inputs were indexed anew"
        ));
    }
    let files = counted(built.added.len() as u64, "new file", "new files");
    if let Some(already) = built
        .already_added
        .as_ref()
        .filter(|_| built.added.is_empty())
    {
        return Some(match already.count {
            1 => format!("nothing new: {corpus} has the file"),
            count => format!("nothing new: {corpus} has all {} files", number(count)),
        });
    }
    built.already_added.as_ref()?;
    let names = built.added.iter().take(NAMED);
    let names: Vec<String> = names.map(|name| clean(name).into_owned()).collect();
    let more = match built.added.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {} more", number(more as u64)),
    };
    let was = plural(built.added.len() as u64, "was", "were");
    Some(format!("{files} {was} added: {}{more}", names.join(", ")))
}

/// Adds a line about publication dates that are not understood.
pub(crate) fn unread_dates(lines: &mut Lines, counts: &Counts) {
    let Tally { count, example } = &counts.unread_dates;
    if *count > 0 {
        let example = format!("not understood, e.g. {}", shortened(example, EXAMPLE));
        lines.add_with("unread dates", number(*count), example);
    }
}

/// Returns the files that are not read, by cause.
pub(crate) fn skipped_files(ignored: Vec<IgnoredFiles>) -> BTreeMap<String, Tally> {
    let tally = |kind: IgnoredFiles| {
        let (name, count, example) = (kind.cause.name().to_owned(), kind.count, kind.example);
        (name, Tally { count, example })
    };
    ignored.into_iter().map(tally).collect()
}

/// Says which part of the inputs was not read: damaged records and pages, and skipped files; for
/// commands that show no counts (`all`) also other rejected pages, and dates that are not
/// understood.
pub(crate) fn unread(
    counts: &Counts,
    skipped_files: &BTreeMap<String, Tally>,
    all: bool,
) -> Option<String> {
    let is_unread = |reason: &str| all || counts.kept == 0 || DAMAGE.contains(&reason);
    let rejected = counts.rejected.iter();
    let rejected = rejected.filter(|(reason, _)| is_unread(reason.as_str()));
    let kinds = [
        (
            "damaged record",
            "damaged records",
            counts.damaged.iter().collect::<Vec<_>>(),
        ),
        ("rejected page", "rejected pages", rejected.collect()),
        ("file", "files", skipped_files.iter().collect()),
    ];
    let mut parts = Vec::new();
    for (one, many, tallies) in kinds {
        let count = tallies.iter().map(|(_, tally)| tally.count).sum();
        let Some((cause, tally)) = tallies.first() else {
            continue;
        };
        let causes = tallies.iter();
        let causes: Vec<String> = causes
            .map(|(cause, tally)| format!("{} {cause}", number(tally.count)))
            .collect();
        parts.push(format!(
            "{} ({}, e.g. {})",
            counted(count, one, many),
            match causes.as_slice() {
                [_] => (*cause).clone(),
                several => several.join(", "),
            },
            shortened(&tally.example, EXAMPLE)
        ));
    }
    let dates = &counts.unread_dates;
    if all && dates.count > 0 {
        parts.push(format!(
            "{} (e.g. {})",
            counted(dates.count, "date", "dates"),
            shortened(&dates.example, EXAMPLE)
        ));
    }
    (!parts.is_empty()).then(|| format!("not read: {}", parts.join("; ")))
}

/// Counts damaged records and pages that could not be decoded.
fn damaged(built: &Built) -> u64 {
    let damaged = built.counts.damaged.values();
    let rejected = DAMAGE
        .iter()
        .filter_map(|reason| built.counts.rejected.get(*reason));
    damaged.chain(rejected).map(|tally| tally.count).sum()
}

/// Reasons for rejection that mean that the input is damaged, rather than that it is not text.
const DAMAGE: [&str; 8] = [
    "undecodable",
    "too-large",
    "bad-http",
    "header-too-long",
    "too-deep",
    "too-slow",
    "too-many-chunks",
    "url-too-long",
];

struct IndexSummary<'a> {
    arguments: &'a IndexArguments,
    built: &'a Built,
    files: usize,
    input_bytes: u64,
    seconds: f64,
    /// The index for queries, if it was built, and the seconds that it took.
    query: Option<(UpdatedIndex, f64)>,
}

impl IndexSummary<'_> {
    /// Returns megabytes of payload per second, unless pages of an earlier run are included.
    fn rate(&self) -> Option<f64> {
        let counts = &self.built.counts;
        (self.built.resumed_pages == 0)
            .then(|| counts.payload_bytes as f64 / 1e6 / self.seconds.max(0.001))
    }

    fn text(&self) -> String {
        let counts = &self.built.counts;
        let mut lines = Lines::default();
        let files = counted(self.files as u64, "file", "files");
        lines.add_with("input", size(self.input_bytes), files);
        lines.add("pages kept", number(counts.kept));
        let resumed = self.built.resumed_pages;
        if resumed > 0 {
            lines.add_with("  resumed", number(resumed), "pages of the interrupted run");
        }
        if let Some(already) = &self.built.already_added {
            lines.add_with(
                "already added",
                number(already.count),
                match self.arguments.add {
                    true => format!(
                        "skipped, e.g. {}; --repeat adds them once more",
                        clean(&already.example)
                    ),
                    false => format!("unchanged, e.g. {}", clean(&already.example)),
                },
            );
        }
        tallies(&mut lines, "rejected", &counts.rejected);
        tallies(&mut lines, "damaged records", &counts.damaged);
        tallies(&mut lines, "files skipped", &self.built.skipped_files);
        unread_dates(&mut lines, counts);
        if counts.other_records > 0 {
            lines.add_with(
                "other records",
                number(counts.other_records),
                "requests, metadata, empty lines, etc.",
            );
        }
        lines.add("payload", size(counts.payload_bytes));
        lines.add("text", size(counts.text_bytes));
        lines.add("words", number(counts.words));
        lines.add("chunks", number(counts.chunks));
        lines.add("corpus", size(self.built.corpus_bytes));
        let rate = self
            .rate()
            .map_or(String::new(), |rate| format!("{rate:.0} MB/s of payload"));
        lines.add_with("seconds", format!("{:.1}", self.seconds), rate);
        if let Some((index, seconds)) = &self.query {
            let share = percent(index.bytes as f64 / index.text_bytes.max(1) as f64);
            let remark = format!("{share} of the text, in {seconds:.1} seconds");
            lines.add_with("query index", size(index.bytes), remark);
        }
        let corpus = self.arguments.output.display().to_string();
        format!("{}\n{}", clean(&corpus), lines.render())
    }

    fn json(&self) -> String {
        let object = json!({
            "corpus": self.arguments.output,
            "files": self.files,
            "input_bytes": self.input_bytes,
            "counts": self.built.counts,
            "files_passed_over": self.built.skipped_files,
            "resumed_pages": self.built.resumed_pages,
            "inputs_added": self.built.added,
            "replaced": self.built.replaced,
            "inputs_already_added": self.built.already_added.as_ref().map_or(0, |already| already.count),
            "corpus_bytes": self.built.corpus_bytes,
            "seconds": self.seconds,
            "query_index_bytes": self.query.as_ref().map(|(index, _)| index.bytes),
            "query_index_seconds": self.query.as_ref().map(|(_, seconds)| seconds),
        });
        format!("{object}\n")
    }
}

/// Longest example of a cause, in characters: a URL may have thousands.
const EXAMPLE: usize = 200;

/// Adds a total and the count and an example of each cause, unless there are none.
pub(crate) fn tallies(lines: &mut Lines, name: &str, tallies: &BTreeMap<String, Tally>) {
    if tallies.is_empty() {
        return;
    }
    lines.add(
        name,
        number(tallies.values().map(|tally| tally.count).sum()),
    );
    for (cause, tally) in tallies {
        lines.add_with(
            format!("  {cause}"),
            number(tally.count),
            format!("e.g. {}", shortened(&tally.example, EXAMPLE)),
        );
    }
}
