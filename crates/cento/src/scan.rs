//! `cento scan`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cento_find::detect::{LabelSet, check_like};
use cento_find::{CorpusPages, FINDINGS, Workplace};
use cento_scan::analyses::detect::Detect;
use cento_scan::{
    Analysis, Done, INDEX, INDEX_WEIGHT, LeftOut, Plan, Profile, Report, Unknown, Watch, analyses,
};
use cento_store::Corpus;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use crate::analysis::{FigureArguments, check_no_input, open_source};
use crate::arguments::{LimitArguments, MachineArguments, ReadingArguments};
use crate::failure::Failure;
use crate::index::Index;
use crate::interrupt::on_interrupt;
use crate::meter::Meter;
use crate::output::{Shown, clean, print, say, strongest};
use crate::report::{open, report_file};
use crate::words::{first_given, refuse};

/// Letters of words in the tables on a terminal.
const LONGEST: usize = 72;
/// Rows of these tables; the report has more.
const ROWS: usize = 5;

/// Find all reuse in files or in a corpus, and write a report
///
/// The one command: makes a corpus of the inputs, or takes one that is there; runs all analyses
/// that have something to look for in it; tells what was found, and writes it as a page. A scan
/// that was broken off goes on where it stopped when the same command is given again, and what was
/// found before is not looked for again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cento scan ~/.cargo/registry/src -o crates.cento      sources, READMEs and licences that cargo has unpacked
  cento scan crawl/*.warc.gz -o crawl.cento --memory 4G
  cento scan docs/ --base-url https://docs.example.org/ --open
  cento scan crawl.cento --only copies,quilts
  cento scan crawl.cento --labels wikipedia.labels
  cento synth -o s --pages 2000 && cento scan s/crawl -o s.cento")]
pub(crate) struct ScanArguments {
    /// A corpus, or what `cento index` takes: files, folders, patterns, URLs, @FILE, -
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<String>,
    /// The corpus to make [default: the name of the first input, with .cento]
    #[arg(short, long, value_name = "NAME.cento")]
    output: Option<PathBuf>,
    /// Run these analyses and no others, with a comma between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = names())]
    only: Vec<String>,
    /// Look for these labels, made by `cento discover`, and not for what the corpus itself
    /// multiplies
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Where the report goes [default: report.html in the corpus]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,
    /// Write each figure as a file too, as SVG and as CSV
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    figures: Option<PathBuf>,
    #[command(flatten)]
    figure_format: FigureArguments,
    /// How many rows the tables of the report have
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    top: usize,
    /// Open the report in a browser
    #[arg(long, help_heading = "Output")]
    open: bool,
    /// Show how long each step took, and what each stage of it did
    #[arg(long, help_heading = "Output")]
    explain: bool,
    /// Work anew, even if the same was found before
    #[arg(long, help_heading = "Output")]
    again: bool,
    /// Scan a corpus whose last index was interrupted: the pages that are in it so far
    #[arg(long, help_heading = "Output")]
    partial: bool,
    /// Where temporary files go [default: beside the findings]
    #[arg(long, value_name = "FOLDER", help_heading = "Machine")]
    temp: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadingArguments,
    #[command(flatten)]
    limits: LimitArguments,
    #[command(flatten)]
    machine: MachineArguments,
}

/// How a corpus came to be.
struct Made {
    corpus: PathBuf,
    /// How long it took to make, if it was made.
    time: Option<Duration>,
}

pub(crate) fn run(arguments: &ScanArguments) -> Result<ExitCode, Failure> {
    if !arguments.only.is_empty() && !arguments.only.iter().any(|name| name == Detect.name()) {
        refuse(
            &["labels"],
            "labels are for detect, and --only leaves it out",
        )?;
    }
    let watch = Watch::new();
    let cancelled = Arc::clone(&watch);
    let stop = on_interrupt(move || cancelled.cancel());
    let meter = Meter::over_scan(Arc::clone(&watch));
    let outcome = scan(arguments, &watch);
    drop(meter);
    drop(stop);
    let (made, source, profile, plan, done) = outcome?;
    let corpus = made.corpus.display().to_string();
    if arguments.explain {
        explain(&made, &done);
    }
    let left_out: Vec<LeftOut> = plan.left_out;
    let report = Report::new(&source, &corpus, profile, &done, left_out, arguments.top)?;
    let file = report_file(&report, arguments.report.as_deref(), &made.corpus)?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write_named(folder, report.drawings())?;
    }
    print(&summary(&report, &file))?;
    if arguments.open {
        open(&file);
    }
    Ok(ExitCode::SUCCESS)
}

type Scanned = (Made, Arc<CorpusPages>, Profile, Plan, Vec<Done>);

fn scan(arguments: &ScanArguments, watch: &Arc<Watch>) -> Result<Scanned, Failure> {
    // How much there is to do is known when the corpus is; until then all usual analyses are
    // expected.
    let usual = analyses()
        .iter()
        .filter(|analysis| match arguments.only.is_empty() {
            true => analysis.usual(),
            false => arguments.only.iter().any(|name| name == analysis.name()),
        });
    let weights = usual.map(|analysis| analysis.weight());
    watch.expect(std::iter::once(INDEX_WEIGHT).chain(weights));
    watch.begin(INDEX, INDEX_WEIGHT);
    // Labels that cannot be used are found out before the work, not after it.
    let labels = arguments
        .labels
        .as_deref()
        .map(LabelSet::open)
        .transpose()?;
    let made = make(arguments, watch)?;
    let source = Arc::new(open_source(&[&made.corpus], arguments.partial)?);
    if let Some(report) = &arguments.report {
        check_no_input(report, &source)?;
    }
    if let Some(labels) = &labels {
        check_like(&source, labels)?;
    }
    let mut profile = Profile::of(&source)?;
    profile.labels = arguments.labels.clone();
    let mut plan =
        Plan::new(&profile, &arguments.only).map_err(|unknown| unknown_name(&unknown))?;
    let weights = plan.chosen.iter().map(|(analysis, _)| analysis.weight());
    watch.expect(std::iter::once(INDEX_WEIGHT).chain(weights));
    let workplace = Workplace {
        threads: arguments.machine.threads(),
        memory: arguments.machine.memory(),
        temp: arguments.temp.clone(),
        findings: made.corpus.join(FINDINGS),
        again: arguments.again,
        progress: Arc::clone(&watch.flow),
    };
    let done = plan.run(&source, &workplace, watch)?;
    Ok((made, source, profile, plan, done))
}

/// Makes the corpus, goes on with making it, or finds it made.
fn make(arguments: &ScanArguments, watch: &Watch) -> Result<Made, Failure> {
    if let Some(corpus) = arguments.inputs.iter().find(|input| is_corpus(input)) {
        return take(arguments, corpus);
    }
    let corpus = match &arguments.output {
        Some(output) => output.clone(),
        None => name_for(&arguments.inputs),
    };
    let index = Index {
        corpus: &corpus,
        inputs: &arguments.inputs,
        reading: &arguments.reading,
        limits: &arguments.limits,
        machine: &arguments.machine,
        part_size: None,
        add: false,
        again: false,
    };
    let begun = Instant::now();
    let mut build = index.build(index.find()?, &watch.index);
    if build.is_done()? {
        return Ok(Made { corpus, time: None });
    }
    build.run()?;
    Ok(Made {
        corpus,
        time: Some(begun.elapsed()),
    })
}

fn is_corpus(input: &str) -> bool {
    let path = Path::new(input);
    path.is_dir() && path.extension().is_some_and(|ending| ending == "cento")
}

/// Takes a corpus that is there. What would say how to make one makes no sense then, and is not
/// passed over in silence.
fn take(arguments: &ScanArguments, corpus: &str) -> Result<Made, Failure> {
    let refused = if arguments.inputs.len() > 1 {
        Some("other inputs".to_owned())
    } else if arguments.output.is_some() {
        Some("-o".to_owned())
    } else {
        first_given::<ReadingArguments>().or_else(first_given::<LimitArguments>)
    };
    if let Some(refused) = refused {
        return Err(Failure::usage(
            format!("{corpus} is a corpus already, and {refused} would say how to make one"),
            "scan the corpus alone, or the inputs under a new name with -o",
        ));
    }
    match arguments.partial {
        true => Corpus::open_partial(Path::new(corpus))?,
        false => Corpus::open(Path::new(corpus))?,
    };
    Ok(Made {
        corpus: PathBuf::from(corpus),
        time: None,
    })
}

/// The name of the first input, without its folders and endings: it is made where the command is
/// given.
fn name_for(inputs: &[String]) -> PathBuf {
    let first = inputs.first().map_or("", String::as_str);
    let place = match first {
        "-" => PathBuf::new(),
        // A folder given as `.` or `..` has a name too.
        path => std::fs::canonicalize(path)
            .unwrap_or_else(|_| PathBuf::from(path.trim_start_matches('@'))),
    };
    let name = place.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or("");
    let plain: String = stem.chars().filter(|c| !"*?[]/\\".contains(*c)).collect();
    PathBuf::from(match plain.as_str() {
        "" => "scan.cento".to_owned(),
        name => format!("{name}.cento"),
    })
}

/// The analyses that can be chosen, each with the question that it answers.
fn names() -> PossibleValuesParser {
    let values = analyses().iter();
    PossibleValuesParser::new(
        values.map(|analysis| PossibleValue::new(analysis.name()).help(analysis.question())),
    )
}

fn unknown_name(unknown: &Unknown) -> Failure {
    Failure::usage(
        format!("`{}` is no analysis", unknown.0),
        "`cento scan --help` lists them",
    )
}

/// How long each step took, and what its share was.
fn explain(made: &Made, done: &[Done]) {
    let steps = made.time.map(|time| (INDEX, time)).into_iter();
    let steps = steps.chain(done.iter().map(|done| (done.analysis.name(), done.time)));
    let steps: Vec<(&str, Duration)> = steps.collect();
    let all: f64 = steps.iter().map(|(_, time)| time.as_secs_f64()).sum();
    say("step             seconds  share");
    for (name, time) in steps {
        let seconds = time.as_secs_f64();
        let share = 100.0 * seconds / all.max(1e-9);
        say(&format!("{name:<15}  {seconds:>7.1}  {share:>4.0} %"));
    }
    for done in done.iter().filter(|done| !done.findings.known) {
        let report = done.findings.record.report.to_string();
        say(&format!(
            "\n{}\n{}",
            done.analysis.name(),
            report.trim_end()
        ));
    }
}

/// What a person reads at the end, and could read aloud.
fn summary(report: &Report, file: &Path) -> String {
    let shown = Shown {
        root: &report.profile.root,
        longest: Some(LONGEST),
    };
    let mut text = format!("{}\n", clean(&report.corpus));
    for sentence in report.about() {
        text.push_str(&wrapped(&sentence));
    }
    for chapter in &report.chapters {
        text.push_str(&format!("\n{}\n", chapter.analysis.title()));
        for sentence in &chapter.section.sentences {
            text.push_str(&wrapped(sentence));
        }
        for table in &chapter.section.tables {
            let mut table = table.clone();
            let rows = table.rows.len().min(ROWS);
            table.more += (table.rows.len() - rows) as u64;
            table.rows.truncate(rows);
            text.push_str(&strongest(&table, &shown));
        }
    }
    if !report.left_out.is_empty() {
        text.push_str("\nLeft out\n");
        for left in &report.left_out {
            text.push_str(&wrapped(&format!(
                "{}: {}.",
                left.analysis.title(),
                left.reason
            )));
        }
    }
    let next = report
        .chapters
        .iter()
        .any(|chapter| !chapter.section.next.is_empty());
    if next {
        text.push_str("\nWhat to run next\n");
    }
    for chapter in &report.chapters {
        if let Some(next) = chapter.section.next.first() {
            text.push_str(&format!(
                "  {}\n      to {}\n",
                clean(&next.command),
                next.why
            ));
        }
    }
    let place = file.display().to_string();
    text.push_str(&format!(
        "\nThe report, with figures and more of each: {}\n",
        clean(&place)
    ));
    text
}

/// A sentence in lines of a hundred letters, two from the left; an address is never cut.
fn wrapped(sentence: &str) -> String {
    let mut text = String::new();
    let mut length = 0;
    for word in clean(sentence).split(' ').filter(|word| !word.is_empty()) {
        let letters = word.chars().count();
        if length > 0 && length + 1 + letters > 98 {
            text.push('\n');
            length = 0;
        }
        text.push_str(if length == 0 { "  " } else { " " });
        length += letters + 1;
        text.push_str(word);
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_is_called_after_its_first_input() {
        let name = |input: &str| name_for(&[input.to_owned()]).display().to_string();
        assert_eq!(name("crawl/a.warc.gz"), "a.cento");
        assert_eq!(name("no-such-folder/docs/"), "docs.cento");
        assert_eq!(name("crawl/*.warc.gz"), "scan.cento");
        assert_eq!(name("-"), "scan.cento");
        assert_eq!(name("/"), "scan.cento");
        assert_eq!(name("https://a.example/x/pages.jsonl"), "pages.cento");
        assert_eq!(name("@lists/inputs.txt"), "inputs.cento");
    }
}
