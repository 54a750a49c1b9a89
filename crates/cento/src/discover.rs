//! `cento discover`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use cento_file::is_stream;
use cento_find::discover::{
    DiscoverParams, DiscoverSummary, FREQUENCIES_TABLE, How, LABELS_TABLE, default_threshold,
    discover, objects_of, recipe_of, write_labels,
};
use cento_find::labelling::stop_labels;
use cento_find::provenance::{LabelRow, originals_of, read_originals, without_proposals};
use cento_find::{CorpusPages, Findings};
use cento_labels::{LabelKind, StopList};
use cento_report::format::counted;
use cento_scan::Analysis;
use cento_scan::analyses::discover::Discover;
use cento_store::Parameters;
use clap::Args;

use crate::analysis::AnalysisArguments;
use crate::command_error::CommandError;
use crate::command_line::refuse_all;
use crate::corpora::{is_corpus, open_corpora};
use crate::detect::MIN_LENGTH;
use crate::figures::FigureArguments;
use crate::files::read_text;
use crate::labels::{most_frequent, print_summary};
use crate::originals::{OriginalArguments, Originals, RecipeArguments, private_folder};
use crate::output::{Lines, clean, number, table_of};
use crate::overwriting::check_labels_output;
use crate::sample::SampleArguments;
use crate::top::TopArguments;

/// Find what is copied: labels for `cento detect`
///
/// After Ardi & Heidemann 2014. Blind discovery labels the chunks that occur in CORPUS more often
/// than a threshold and are not stop chunks. Informed discovery (--from) labels all chunks of your
/// originals that are long enough. Index a crawl as one corpus: parts of it do not show what is
/// frequent in the whole.
#[derive(Debug, Args)]
#[command(mut_arg("sample", |sample| sample.conflicts_with_all(["json", "out"]).long_help(
    "Print this many results, drawn at random\n\nThe results are labels, to be classified as in Tables \
     2 and 4 of the paper"
)))]
#[command(mut_arg("top", |top| top.conflicts_with_all(["json", "sample"])))]
#[command(group = clap::ArgGroup::new("where").required(true).multiple(true).args(["corpus", "from"]))]
#[command(after_help = "\
Writes the labels (NAME.labels, for `cento detect` and for crawlers), a table of their texts and
where they come from (NAME.labels.parquet) and, with --from, a table of the originals. The same
tables, and the distribution of frequencies, are findings in CORPUS/findings/discover. With
--stop-proposed, only the tables there still have the proposals.

Stop chunks are idioms: `cento labels stops` prints the list. Other chunks that look like idioms
(short, without words, below 100 bytes and spread over many domains, on many originals) are
proposed for review, with the reason: `cento labels review NAME.labels`. A chunk of 100 bytes or
more is never proposed for being on many domains, since widely copied text is what labels are for.

Lengths are in bytes, so that a Chinese character counts as much as three letters.

Examples:
  cento discover crawl.cento -o crawl.labels
  cento discover pages.jsonl --more-than 20 -o pages.labels
  cento discover crawl.cento --most-frequent 2121 --figures figures/ -o crawl.labels
  cento discover crawl.cento --unit files -o files.labels
  cento discover --from wikipedia/ --base-url https://en.wikipedia.org/ -o wikipedia.labels
  cento discover crawl.cento --from mine.cento -o mine.labels    (chunked like crawl.cento)")]
pub(crate) struct DiscoverArguments {
    /// A corpus, or anything that `cento index` reads; with --from, the corpus that the labels are
    /// made for
    #[arg(value_name = "CORPUS")]
    pub(crate) corpus: Vec<String>,
    /// Where to write the result
    ///
    /// The file of labels.
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: PathBuf,
    /// Label all chunks of these originals: a corpus, or anything that `cento index` reads
    #[arg(long, value_name = "INPUT", num_args = 1.., conflicts_with_all = ["more_than", "most_frequent"])]
    pub(crate) from: Vec<String>,
    /// What to label: chunks or files
    #[arg(long, value_name = "WHAT", default_value_t = LabelKind::Chunks)]
    pub(crate) unit: LabelKind,
    /// Label what occurs more often than this [default: 2.5 per million chunks, at least 5]
    #[arg(long, value_name = "N", conflicts_with = "most_frequent")]
    pub(crate) more_than: Option<u64>,
    /// Label the N most frequent ones
    #[arg(long, value_name = "N")]
    pub(crate) most_frequent: Option<u64>,
    /// Ignore chunks of the originals with fewer bytes than this [default: 100]
    #[arg(long, value_name = "BYTES", requires = "from")]
    pub(crate) min_length: Option<u64>,

    /// Additional stop list: a text file in the format of `cento labels stops`
    #[arg(long, value_name = "FILE", help_heading = "Stop chunks")]
    pub(crate) stop: Vec<PathBuf>,
    /// Do not use the built-in stop list
    #[arg(long, help_heading = "Stop chunks")]
    pub(crate) no_stop: bool,
    /// Stop all labels that look like idioms or templates, without a review
    #[arg(long, help_heading = "Stop chunks")]
    pub(crate) stop_proposed: bool,

    #[command(flatten)]
    pub(crate) originals: OriginalArguments,
    #[command(flatten)]
    pub(crate) recipe: RecipeArguments,
    /// Write figures to this folder, as SVG and CSV
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) top: TopArguments,
    #[command(flatten)]
    pub(crate) sampling: SampleArguments,
    #[command(flatten)]
    pub(crate) figure_format: FigureArguments,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

pub(crate) fn run(arguments: &DiscoverArguments) -> Result<ExitCode, CommandError> {
    let is_made = matches!(arguments.corpus.as_slice(), [only] if is_corpus(only));
    if arguments.from.is_empty() && (is_made || arguments.corpus.is_empty()) {
        arguments
            .originals
            .check_unused("without --from and without other inputs")?;
    }
    if is_made {
        refuse_all::<RecipeArguments>("the corpus determines its text and chunks")?;
    }
    let list = stop_list(&arguments.stop, arguments.no_stop)?;
    check_output(&arguments.output)?;
    // Temporary corpora live until the end.
    let (corpus, made) = match arguments.corpus.as_slice() {
        [] => (None, None),
        [only] if is_made => {
            let path = Path::new(only);
            let source = open_corpora(&[path], arguments.analysis.partial)?;
            (Some(Arc::new(source)), None)
        }
        inputs => {
            let made = Originals::open(
                inputs,
                &arguments.originals,
                &arguments.recipe.parameters(),
                &arguments.analysis.resources,
            )?;
            (Some(Arc::clone(&made.source)), Some(made))
        }
    };
    let parameters = match &corpus {
        Some(source) => source
            .corpora()
            .first()
            .map_or_else(Parameters::default, |corpus| corpus.parameters().clone()),
        None => arguments.recipe.parameters(),
    };
    // Lives until the end: a temporary corpus is removed when it is dropped.
    let originals = match arguments.from.is_empty() {
        true => None,
        false => Some(Originals::open(
            &arguments.from,
            &arguments.originals,
            &parameters,
            &arguments.analysis.resources,
        )?),
    };
    let (source, parameters) = match (&originals, corpus) {
        // Originals that are a corpus keep their own chunks if no other corpus is named.
        (Some(originals), None) => {
            let own = originals.source.corpora().first();
            let own = own.map(|corpus| corpus.parameters().clone());
            (Arc::clone(&originals.source), own.unwrap_or(parameters))
        }
        (Some(originals), Some(_)) => (Arc::clone(&originals.source), parameters),
        (None, Some(source)) => (source, parameters),
        (None, None) => {
            return Err(CommandError::usage(
                "no corpus and no originals given".to_owned(),
                "name a corpus, or originals with --from",
            ));
        }
    };
    let how = if originals.is_some() {
        How::Informed(arguments.min_length.unwrap_or(MIN_LENGTH))
    } else if let Some(top) = arguments.most_frequent {
        How::Top(top)
    } else {
        let default = || default_threshold(objects_of(&source, arguments.unit));
        How::Threshold(arguments.more_than.unwrap_or_else(default))
    };
    let params = DiscoverParams::new(how, recipe_of(&parameters, arguments.unit), &list);
    params.check()?;
    // Without a corpus, the findings are temporary and only the labels are kept.
    match arguments.corpus.as_slice() {
        [corpus] if made.is_none() => finish(arguments, &source, &params, Path::new(corpus)),
        _ => {
            let folder = private_folder(arguments.analysis.resources.temp.as_deref())?;
            finish(arguments, &source, &params, folder.path())
        }
    }
}

fn finish(
    arguments: &DiscoverArguments,
    source: &Arc<CorpusPages>,
    params: &DiscoverParams,
    place: &Path,
) -> Result<ExitCode, CommandError> {
    let findings = arguments
        .analysis
        .run(place, |workplace| discover(source, params, workplace))?;
    // Proposals are stopped in a file of labels. A stream gets the result.
    let folder = match arguments.stop_proposed && is_stream(&arguments.output) {
        true => Some(private_folder(
            arguments.analysis.resources.temp.as_deref(),
        )?),
        false => None,
    };
    let labels = match &folder {
        Some(folder) => folder.path().join("stopped.labels"),
        None => arguments.output.clone(),
    };
    write_labels(&findings, params, &labels)?;
    let written = WrittenLabels::of(&findings, &labels, arguments.stop_proposed)?;
    if folder.is_some() {
        stop_labels(&labels, &arguments.output, |_| false)?;
    }
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write(folder, &Discover.figures(&findings)?)?;
    }
    let sampling = &arguments.sampling;
    let hash = |row: &LabelRow| row.hash.map(|byte| format!("{byte:02x}")).concat();
    let nothing =
        "there are no labels to draw a sample from; without --sample, the summary says why";
    let is_label = |row: &LabelRow| written.stopped.is_none() || row.proposed.is_none();
    if sampling.print(&findings, LABELS_TABLE, hash, is_label, nothing)? {
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.analysis.export(&written.table)? {
        print_summary(
            &arguments.output,
            &summary(arguments, params, &findings, &written)?,
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The labels of the file that was written: those of the findings, unless proposals became stops.
struct WrittenLabels {
    /// Their table.
    table: PathBuf,
    labels: u64,
    /// How often they occur.
    occurrences: u64,
    /// How many originals have them.
    originals: u64,
    /// With `--stop-proposed`, how many labels became stops.
    stopped: Option<u64>,
}

impl WrittenLabels {
    /// Stops the proposals in a file of labels, if that was asked for, and counts what is left.
    fn of(
        findings: &Findings,
        labels: &Path,
        stop_proposed: bool,
    ) -> Result<WrittenLabels, CommandError> {
        let counts: DiscoverSummary = findings.summary()?;
        if !stop_proposed {
            return Ok(WrittenLabels {
                table: findings.table("labels"),
                labels: counts.labels,
                occurrences: counts.occurrences,
                originals: counts.originals,
                stopped: None,
            });
        }
        let (header, stopped) = stop_labels(labels, labels, |row| row.proposed.is_some())?;
        let (table, occurrences) = without_proposals(findings)?;
        let beside = originals_of(labels);
        let originals = match beside.is_file() {
            true => read_originals(&beside)?.count() as u64,
            false => 0,
        };
        Ok(WrittenLabels {
            table,
            labels: header.labels,
            occurrences,
            originals,
            stopped: Some(stopped),
        })
    }
}

/// Fails if a file of labels cannot be written: before the work rather than after it.
pub(crate) fn check_output(path: &Path) -> Result<(), CommandError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() {
        let hint = "name a file for the labels, such as mine.labels";
        return Err(CommandError::usage(
            format!("{} is a folder", path.display()),
            hint,
        ));
    }
    match folder {
        Some(folder) if !folder.is_dir() => Err(CommandError::usage(
            format!("{} does not exist", folder.display()),
            "create the folder, or choose another one",
        )),
        _ => check_labels_output(path),
    }
}

/// Returns the built-in stop list, unless `no_stop`, joined with those of the user.
pub(crate) fn stop_list(files: &[PathBuf], no_stop: bool) -> Result<StopList, CommandError> {
    let mut list = match no_stop {
        true => StopList::default(),
        false => StopList::built_in(),
    };
    for path in files {
        let wrong = |what: String| {
            let hint = "`cento labels stops` prints the built-in list as an example";
            CommandError::usage(format!("{}: {what}", path.display()), hint)
        };
        let text = read_text(path).map_err(|error| wrong(error.to_string()))?;
        list.extend(StopList::parse(&text).map_err(|error| wrong(error.to_string()))?);
    }
    Ok(list)
}

fn summary(
    arguments: &DiscoverArguments,
    params: &DiscoverParams,
    findings: &Findings,
    written: &WrittenLabels,
) -> Result<String, CommandError> {
    let counts: DiscoverSummary = findings.summary()?;
    let output = clean(&arguments.output.display().to_string()).into_owned();
    let of = params.recipe.of;
    let mut text = format!(
        "{} of {of} {}\n",
        counted(written.labels, "label", "labels"),
        match is_stream(&arguments.output) {
            true => "on standard output".to_owned(),
            false => format!("in {output}"),
        }
    );
    let mut lines = Lines::default();
    lines.add("pages", number(counts.pages));
    lines.add(of.name(), number(counts.objects));
    let rule = match params.how {
        How::Threshold(threshold) => format!(
            "each occurs more than {}",
            counted(threshold, "time", "times")
        ),
        How::Top(top) => {
            let rule = most_frequent_rule(findings, top, counts.labels)?;
            match written.stopped {
                Some(1..) if counts.labels >= top => format!("{rule}; without proposed stops"),
                _ => rule,
            }
        }
        How::Informed(least) => format!("at least {} bytes", number(least)),
    };
    lines.add_with("labels", number(written.labels), rule);
    if !params.informed() {
        lines.add_with(
            "  occurrences",
            number(written.occurrences),
            share(written.occurrences, counts.objects, of.name()),
        );
    } else {
        lines.add("originals with labels", number(written.originals));
    }
    lines.add_with(
        "stopped",
        number(counts.stopped),
        match params.stop_list.count {
            0 => "no stop list".to_owned(),
            count => format!("distinct {of} on the stop list of {}", number(count)),
        },
    );
    match written.stopped {
        Some(stopped) => {
            let remark = match stopped {
                0 => "no label looks like boilerplate",
                1 => "a label that looks like boilerplate became a stop",
                _ => "labels that look like boilerplate became stops",
            };
            lines.add_with("proposed stops", number(stopped), remark);
        }
        None => lines.add("proposed stops", number(counts.proposed)),
    }
    text.push_str(&lines.render());
    let rows = most_frequent(&written.table, arguments.top.rows(), |_| true)?;
    if !rows.is_empty() && !params.informed() {
        let heading = ["most frequent labels", "times", "pages", "domains"];
        text.push_str(&table_of(&heading, &rows, written.labels));
    }
    // Standard output has no name that another command could read.
    if written.labels == 0 || !is_stream(&arguments.output) {
        text.push_str(&advice(params, &counts, &output, written));
    }
    Ok(text)
}

/// Says which labels are the `top` most frequent, of which there are `labels`.
fn most_frequent_rule(findings: &Findings, top: u64, labels: u64) -> Result<String, CommandError> {
    if labels < top {
        return Ok("all that occur more than once, apart from stops".to_owned());
    }
    let mut rows = findings
        .rows(FREQUENCIES_TABLE)?
        .collect::<Result<Vec<_>, _>>()?;
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    let (mut sum, mut rule) = (0, format!("the {} most frequent", number(top)));
    for row in rows {
        sum += row.objects.saturating_sub(row.stopped);
        if sum >= top {
            if sum > top {
                rule.push_str(&format!(
                    "; {} as often as the last of these, {}",
                    counted(sum - top, "other occurs", "others occur"),
                    counted(row.count, "time", "times"),
                ));
            }
            break;
        }
    }
    Ok(rule)
}

fn share(part: u64, whole: u64, what: &str) -> String {
    format!(
        "{:.1} % of all {what}",
        100.0 * part as f64 / whole.max(1) as f64
    )
}

/// Explains an empty result, or what to do next.
fn advice(
    params: &DiscoverParams,
    counts: &DiscoverSummary,
    output: &str,
    written: &WrittenLabels,
) -> String {
    let of = params.recipe.of;
    if counts.objects == 0 {
        return format!("There are no {of}: `cento info` shows why pages were rejected.\n");
    }
    if counts.labels == 0 {
        return match params.how {
            How::Threshold(threshold) => format!(
                "Apart from stops, nothing occurs more than {}: try a lower --more-than, or --most-frequent 100.\n",
                counted(threshold, "time", "times")
            ),
            How::Top(_) => format!("Apart from stops, all {of} occur once.\n"),
            How::Informed(least) => format!(
                "No chunk of the originals has at least {} bytes: try a lower --min-length.\n",
                number(least)
            ),
        };
    }
    if written.labels == 0 {
        return "All labels look like boilerplate and became stops: without --stop-proposed, `cento labels review` shows why.\n"
            .to_owned();
    }
    let mut text = String::new();
    if written.stopped.is_none() && counts.proposed > 0 {
        text.push_str(&format!(
            "Review the proposals: cento labels review {output}\n"
        ));
    }
    text.push_str(&format!(
        "Find the labels in a corpus: cento detect CORPUS --labels {output}\n"
    ));
    text
}
