//! `cento discover`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use cento_find::discover::{
    DiscoverParams, DiscoverSummary, How, default_threshold, discover, objects_of, recipe_of,
    write_labels,
};
use cento_find::{CorpusPages, Findings};
use cento_labels::{LabelKind, StopList};
use cento_scan::Analysis;
use cento_scan::analyses::discover::Discover;
use cento_store::Parameters;
use clap::Args;

use crate::analysis::{AnalysisArguments, FigureArguments, open_source};
use crate::detect::MIN_LENGTH;
use crate::failure::Failure;
use crate::labels::{most_frequent, tell};
use crate::originals::{OriginalArguments, Originals, RecipeArguments, private_folder};
use crate::output::{Lines, clean, number, print, table};

/// Find what is copied: labels for `cento detect`
///
/// After Ardi & Heidemann 2014. Blind: what occurs in CORPUS more often than a threshold, and is no
/// stop chunk. Informed, with --from: every chunk of your originals that is long enough. A corpus
/// is counted as a whole: parts of it do not know what is frequent in all of it.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("where").required(true).multiple(true).args(["corpus", "from"]))]
#[command(after_help = "\
Writes the labels (NAME.labels, for `cento detect` and for crawlers), a table of what each of them
says and where it comes from (NAME.labels.parquet) and, with --from, one of the originals. The same
tables, and how many objects occur how often, are findings in CORPUS/findings/discover.

Stop chunks are idioms: `cento labels stops` prints the list. What else looks like one (short,
without words, below 100 bytes and on many domains evenly, on many originals) is proposed, with the
reason: `cento labels review NAME.labels`. A chunk of 100 bytes or more is no idiom for being on
many domains: that is what is looked for.

Lengths are in bytes, so that a Chinese character counts as much as three letters.

Examples:
  cento discover crawl.cento -o crawl.labels
  cento discover crawl.cento --top 2121 --figures figures/ -o crawl.labels
  cento discover crawl.cento --of files -o files.labels
  cento discover --from wikipedia/ --base-url https://en.wikipedia.org/ -o wikipedia.labels
  cento discover crawl.cento --from mine.cento -o mine.labels    (made as crawl.cento is)")]
pub(crate) struct DiscoverArguments {
    /// The corpus; with --from, the one that labels are made for
    #[arg(value_name = "CORPUS")]
    pub(crate) corpus: Option<PathBuf>,
    /// The file of labels to write
    #[arg(short, long, value_name = "NAME.labels")]
    pub(crate) output: PathBuf,
    /// Take every chunk of these originals: a corpus, or anything that `cento index` reads
    #[arg(long, value_name = "INPUT", num_args = 1.., conflicts_with_all = ["threshold", "top"])]
    pub(crate) from: Vec<String>,
    /// What is labelled: chunks or files
    #[arg(long, value_name = "WHAT", default_value_t = LabelKind::Chunks)]
    pub(crate) of: LabelKind,
    /// Label what occurs more often than this [default: 2.5 of a million chunks, and 5 at least]
    #[arg(long, value_name = "N", conflicts_with = "top")]
    pub(crate) threshold: Option<u64>,
    /// Label what occurs most often, so many of them
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<u64>,
    /// With --from: label chunks of at least this many bytes [default: 100]
    #[arg(long, value_name = "BYTES", requires = "from")]
    pub(crate) min_length: Option<u64>,

    /// Stop what is on this list too: text, as `cento labels stops` prints it
    #[arg(long, value_name = "FILE", help_heading = "Stop chunks")]
    pub(crate) stop: Vec<PathBuf>,
    /// Do without the list that comes with cento
    #[arg(long, help_heading = "Stop chunks")]
    pub(crate) no_stop: bool,
    /// Stop all that is proposed, without a review
    #[arg(long, help_heading = "Stop chunks")]
    pub(crate) stop_proposed: bool,

    #[command(flatten)]
    pub(crate) originals: OriginalArguments,
    #[command(flatten)]
    pub(crate) recipe: RecipeArguments,
    /// Write the paper's figure of frequencies to a folder, as SVG and as CSV
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) figures: Option<PathBuf>,
    /// Print so many of the labels, drawn at random, to be classified as in the paper's Tables 2
    /// and 4
    #[arg(long, value_name = "N", conflicts_with_all = ["json", "out"], help_heading = "Output")]
    pub(crate) sample: Option<usize>,
    /// With --sample: draw others
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "sample",
        help_heading = "Output"
    )]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) figure_format: FigureArguments,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

pub(crate) fn run(arguments: &DiscoverArguments) -> Result<ExitCode, Failure> {
    if arguments.from.is_empty() {
        arguments.originals.check_unused("without --from")?;
    }
    let list = stop_list(&arguments.stop, arguments.no_stop)?;
    check_output(&arguments.output)?;
    let corpus = match &arguments.corpus {
        Some(path) => Some(open_source(&[path], arguments.analysis.partial)?),
        None => None,
    };
    let parameters = match &corpus {
        Some(source) => source
            .corpora()
            .first()
            .map_or_else(Parameters::default, |corpus| corpus.parameters().clone()),
        None => arguments.recipe.parameters(),
    };
    // Kept until the end: a folder of temporary files goes with it.
    let originals = match arguments.from.is_empty() {
        true => None,
        false => Some(Originals::open(
            &arguments.from,
            &arguments.originals,
            &parameters,
            arguments.analysis.temp.as_deref(),
            &arguments.analysis.machine,
        )?),
    };
    if let Some(originals) = &originals {
        originals.check_outputs(arguments.analysis.out.iter().chain([&arguments.output]))?;
    }
    let (source, parameters) = match (&originals, corpus) {
        // Originals that are a corpus already were cut as they were, if nobody says otherwise.
        (Some(originals), None) => {
            let own = originals.source.corpora().first();
            let own = own.map(|corpus| corpus.parameters().clone());
            (Arc::clone(&originals.source), own.unwrap_or(parameters))
        }
        (Some(originals), Some(_)) => (Arc::clone(&originals.source), parameters),
        (None, Some(source)) => (Arc::new(source), parameters),
        (None, None) => {
            let hint = "name a corpus, or originals with --from";
            return Err(Failure::usage(
                "there is nothing to discover in".to_owned(),
                hint,
            ));
        }
    };
    let how = if originals.is_some() {
        How::Informed(arguments.min_length.unwrap_or(MIN_LENGTH))
    } else if let Some(top) = arguments.top {
        How::Top(top)
    } else {
        let default = || default_threshold(objects_of(&source, arguments.of));
        How::Threshold(arguments.threshold.unwrap_or_else(default))
    };
    let params = DiscoverParams::new(how, recipe_of(&parameters, arguments.of), &list);
    params.check()?;
    // Without a corpus there is no place for findings but the labels themselves.
    match &arguments.corpus {
        Some(corpus) => finish(arguments, &source, &params, corpus),
        None => {
            let folder = private_folder(arguments.analysis.temp.as_deref())?;
            finish(arguments, &source, &params, folder.path())
        }
    }
}

fn finish(
    arguments: &DiscoverArguments,
    source: &Arc<CorpusPages>,
    params: &DiscoverParams,
    place: &Path,
) -> Result<ExitCode, Failure> {
    let findings = arguments
        .analysis
        .run(place, |workplace| discover(source, params, workplace))?;
    write_labels(&findings, params, &arguments.output)?;
    let mut stopped = None;
    if arguments.stop_proposed {
        let output = &arguments.output;
        let accept = |row: &cento_find::provenance::LabelRow| row.proposed.is_some();
        stopped = Some(cento_find::labelling::stop_labels(output, output, accept)?.1);
    }
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write(folder, &Discover.figures(&findings)?)?;
    }
    if let Some(size) = arguments.sample {
        let seed = arguments.seed.unwrap_or(0);
        return sampled(&findings, "labels", "hash", size, seed, |_| true);
    }
    if !arguments.analysis.give(&findings.table("labels"))? {
        tell(
            &arguments.output,
            &summary(arguments, params, &findings, stopped)?,
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints rows of a table, drawn at random: the same ones for the same seed, in whatever order the
/// table is.
pub(crate) fn sampled(
    findings: &Findings,
    table: &str,
    key: &str,
    size: usize,
    seed: u64,
    wanted: impl Fn(&cento_scan::rows::Row) -> bool,
) -> Result<ExitCode, Failure> {
    for row in cento_scan::rows::sample(findings, table, key, size, seed, wanted)? {
        print(&format!("{}\n", row.json()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A file that cannot be written is found out before the work, not after it.
pub(crate) fn check_output(path: &Path) -> Result<(), Failure> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() {
        let hint = "name a file to write the labels to, such as mine.labels";
        return Err(Failure::usage(
            format!("{} is a folder", path.display()),
            hint,
        ));
    }
    match folder {
        Some(folder) if !folder.is_dir() => Err(Failure::usage(
            format!("{} is not there", folder.display()),
            "choose a folder that is there",
        )),
        _ => Ok(()),
    }
}

/// The list that comes with cento, unless it is not wanted, and those of the user.
pub(crate) fn stop_list(files: &[PathBuf], no_stop: bool) -> Result<StopList, Failure> {
    let mut list = match no_stop {
        true => StopList::default(),
        false => StopList::built_in(),
    };
    for path in files {
        let wrong = |what: String| {
            let hint = "`cento labels stops` prints a list to begin with";
            Failure::usage(format!("{}: {what}", path.display()), hint)
        };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        list.extend(StopList::parse(&text).map_err(|error| wrong(error.to_string()))?);
    }
    Ok(list)
}

fn summary(
    arguments: &DiscoverArguments,
    params: &DiscoverParams,
    findings: &Findings,
    stopped: Option<u64>,
) -> Result<String, Failure> {
    let counted: DiscoverSummary = findings.summary()?;
    let output = clean(&arguments.output.display().to_string()).into_owned();
    let of = params.recipe.of;
    let mut text = format!("{} labels of {of} in {output}\n", number(counted.labels));
    let mut lines = Lines::default();
    lines.add("pages", number(counted.pages));
    lines.add(of.name(), number(counted.objects));
    let rule = match params.how {
        How::Threshold(threshold) => format!("each occurs more than {} times", number(threshold)),
        How::Top(top) => format!("the top {}", number(top)),
        How::Informed(least) => format!("of {} bytes at least", number(least)),
    };
    lines.add_with("labels", number(counted.labels), rule);
    if !params.informed() {
        lines.add_with(
            "  occurrences",
            number(counted.occurrences),
            share(counted.occurrences, counted.objects, of.name()),
        );
    } else {
        lines.add("originals with labels", number(counted.originals));
    }
    lines.add_with(
        "stopped",
        number(counted.stopped),
        match params.stop_list.count {
            0 => "there is no stop list".to_owned(),
            count => format!("distinct {of} that are on a list of {}", number(count)),
        },
    );
    lines.add("proposed to be stopped", number(counted.proposed));
    text.push_str(&lines.render());
    let rows = most_frequent(&findings.table("labels"), 10, |_| true)?;
    if !rows.is_empty() && !params.informed() {
        let heading = ["most frequent labels", "times", "pages", "domains"];
        text.push_str(&table(&heading, &rows));
    }
    text.push_str(&advice(params, &counted, &output, stopped));
    Ok(text)
}

fn share(part: u64, whole: u64, what: &str) -> String {
    format!(
        "{:.1}% of all {what}",
        100.0 * part as f64 / whole.max(1) as f64
    )
}

/// What to do next, or why there is nothing.
fn advice(
    params: &DiscoverParams,
    counted: &DiscoverSummary,
    output: &str,
    stopped: Option<u64>,
) -> String {
    let of = params.recipe.of;
    if counted.objects == 0 {
        return format!("There are no {of}: `cento info` tells why pages were rejected.\n");
    }
    if counted.labels == 0 {
        return match params.how {
            How::Threshold(threshold) => format!(
                "Nothing that is no stop occurs more than {} times: try a lower --threshold, or --top 100.\n",
                number(threshold)
            ),
            How::Top(_) => format!("All {of} that are no stops occur once.\n"),
            How::Informed(least) => format!(
                "No chunk of the originals has {} bytes: try a lower --min-length.\n",
                number(least)
            ),
        };
    }
    let mut text = String::new();
    if let Some(stopped) = stopped {
        text.push_str(&format!(
            "{} proposed labels became stops.\n",
            number(stopped)
        ));
    } else if counted.proposed > 0 {
        text.push_str(&format!(
            "Review what is proposed: cento labels review {output}\n"
        ));
    }
    text.push_str(&format!(
        "Look for them: cento detect CORPUS --labels {output}\n"
    ));
    text
}
