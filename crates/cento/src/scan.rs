//! `cento scan`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cento_find::detect::{LabelSet, check_like};
use cento_find::{CorpusPages, FINDINGS, Workplace};
use cento_report::Report;
use cento_scan::analyses::detect::Detect;
use cento_scan::{
    Analysis, FinishedAnalysis, INDEX_STEP, INDEX_WEIGHT, Profile, ScanPlan, ScanProgress,
    UnknownAnalysis, add_known_results, analyses, build_report,
};
use cento_store::Corpus;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use serde_json::json;

use crate::command_error::CommandError;
use crate::command_line::{first_typed, refuse, typed_request};
use crate::corpora::{is_corpus, open_corpora};
use crate::figures::FigureArguments;
use crate::index::{IndexRequest, UpdateArguments, unread, updated};
use crate::machine::ResourceArguments;
use crate::meter::Meter;
use crate::output::{CellStyle, clean, findings_table, print_as, say};
use crate::reading::{LimitArguments, ReadingArguments};
use crate::report::{ReproducibleArguments, open, report_file};
use crate::terminal::{StandardStream, fitted, rows, wrapped};
use crate::top::TopArguments;

/// Most characters of a text in a table of the summary.
const LONGEST: usize = 72;
/// Most rows of these tables; the report has more.
const ROWS: usize = 5;

/// Find all reuse in files or in a corpus, and write a report
///
/// Indexes the inputs, or opens an existing corpus; runs all analyses that suit it; prints a
/// summary, and writes an HTML report. Run the same command again to resume after an interruption,
/// or to add the files that are new in a folder; cached results are used again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cento scan ~/.cargo/registry/src -o crates.cento      (sources that cargo has unpacked)
  cento scan crawl/*.warc.gz -o crawl.cento --memory 4G
  cento scan docs/ --base-url https://docs.example.org/ --open
  cento scan crawl.cento --only copies,quilts
  cento scan crawl.cento --labels wikipedia.labels
  cento synth -o s --pages 2000 && cento scan s/crawl -o s.cento")]
pub(crate) struct ScanArguments {
    /// A corpus, or anything that `cento index` reads: files, folders, patterns, URLs, @FILE, -
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<String>,
    /// Where to write the result [default: the name of the first input with .cento]
    ///
    /// The corpus to make.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    update: UpdateArguments,
    /// Run only these analyses, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = names())]
    only: Vec<String>,
    /// Find these labels, made by `cento discover`
    ///
    /// By default, labels are discovered in the corpus.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// File of the report [default: report.html in the corpus]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,
    /// Write figures to this folder, as SVG and CSV
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    figures: Option<PathBuf>,
    #[command(flatten)]
    figure_format: FigureArguments,
    #[command(flatten)]
    top: TopArguments,
    /// Print JSON, one object per line
    ///
    /// An object for each analysis, with its findings and its summary.
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Open the result in a browser
    #[arg(long, help_heading = "Output")]
    open: bool,
    #[command(flatten)]
    reproducible: ReproducibleArguments,
    /// Print the seconds, rows and bytes of each stage
    #[arg(long, help_heading = "Output")]
    explain: bool,
    /// Do the work again instead of using cached results
    #[arg(long, help_heading = "Output")]
    again: bool,
    /// Use a corpus whose last index was interrupted: the pages indexed so far
    #[arg(long, help_heading = "Output")]
    partial: bool,
    #[command(flatten)]
    resources: ResourceArguments,
    #[command(flatten)]
    reading: ReadingArguments,
    #[command(flatten)]
    limits: LimitArguments,
}

/// The corpus of a scan.
struct ScannedCorpus {
    corpus: PathBuf,
    /// How long indexing took, unless the corpus existed.
    time: Option<Duration>,
}

pub(crate) fn run(arguments: &ScanArguments) -> Result<ExitCode, CommandError> {
    if !arguments.only.is_empty() && !arguments.only.iter().any(|name| name == Detect.name()) {
        refuse(&["labels"], "labels are for detect, which --only excludes")?;
    }
    let watch = ScanProgress::new();
    let meter = Meter::start(&watch);
    let outcome = scan(arguments, &watch);
    drop(meter);
    let (made, source, profile, mut plan, mut done) = outcome?;
    let corpus = made.corpus.display().to_string();
    if arguments.explain {
        explain(&made, &done);
    }
    // Results of earlier commands about the same pages stay in the report.
    let folder = made.corpus.join(FINDINGS);
    add_known_results(
        &mut done,
        &mut plan.skipped,
        &source,
        &profile,
        &folder,
        &corpus,
    )?;
    let options = arguments.reproducible.options(arguments.top.rows());
    let mut report = build_report(&source, &corpus, &profile, &done, &plan.skipped, &options)?;
    let file = report_file(&report, arguments.report.as_deref(), &made.corpus)?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write_named(folder, report.drawings())?;
    }
    // The report also has the results of earlier commands; what is printed is what was asked for.
    let is_asked =
        |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    done.retain(|done| is_asked(done.analysis.name()));
    report.chapters.retain(|chapter| is_asked(&chapter.id));
    let text = match arguments.json {
        true => json_lines(&done)?,
        false => summary(&report, &file),
    };
    print_as(arguments.json, &text)?;
    if arguments.open {
        open(&file);
    }
    Ok(ExitCode::SUCCESS)
}

type Scanned = (
    ScannedCorpus,
    Arc<CorpusPages>,
    Profile,
    ScanPlan,
    Vec<FinishedAnalysis>,
);

fn scan(arguments: &ScanArguments, watch: &Arc<ScanProgress>) -> Result<Scanned, CommandError> {
    // Which analyses suit the corpus is known only after indexing; until then the progress bar
    // assumes all default analyses.
    let usual = analyses()
        .iter()
        .filter(|analysis| match arguments.only.is_empty() {
            true => analysis.by_default(),
            false => arguments.only.iter().any(|name| name == analysis.name()),
        });
    let weights = usual.map(|analysis| analysis.weight());
    let is_indexed = arguments.inputs.iter().any(is_corpus);
    let index_weight = if is_indexed { 0 } else { INDEX_WEIGHT };
    watch.expect(std::iter::once(index_weight).chain(weights));
    watch.begin(INDEX_STEP, index_weight);
    // Labels are checked before the work rather than after it.
    let labels = arguments
        .labels
        .as_deref()
        .map(LabelSet::open)
        .transpose()?;
    let made = make(arguments, watch)?;
    let source = Arc::new(open_corpora(&[&made.corpus], arguments.partial)?);
    if let Some(labels) = &labels {
        check_like(&source, labels)?;
    }
    let mut profile = Profile::of(&source)?;
    profile.labels = arguments.labels.clone();
    let mut plan =
        ScanPlan::new(&profile, &arguments.only).map_err(|unknown| unknown_name(&unknown))?;
    let weights = plan.selected.iter().map(|(analysis, _)| analysis.weight());
    watch.expect(std::iter::once(index_weight).chain(weights));
    let workplace = Workplace {
        threads: arguments.resources.machine.threads(),
        memory: arguments.resources.machine.memory(),
        temp: arguments.resources.temp.clone(),
        findings: made.corpus.join(FINDINGS),
        again: arguments.again,
        progress: Arc::clone(&watch.flow),
        request: typed_request(),
    };
    let done = plan.run(&source, &workplace, watch)?;
    Ok((made, source, profile, plan, done))
}

/// Indexes the inputs, resumes indexing, or opens an existing corpus.
fn make(arguments: &ScanArguments, watch: &ScanProgress) -> Result<ScannedCorpus, CommandError> {
    if let Some(corpus) = arguments.inputs.iter().find(|input| is_corpus(input)) {
        return existing(arguments, corpus);
    }
    let corpus = match &arguments.output {
        Some(output) => output.clone(),
        None => name_for(&arguments.inputs),
    };
    let index = IndexRequest {
        corpus: &corpus,
        inputs: &arguments.inputs,
        reading: &arguments.reading,
        limits: &arguments.limits,
        machine: &arguments.resources.machine,
        part_size: None,
        add: false,
        again: false,
        refresh: arguments.update.refresh,
    };
    let begun = Instant::now();
    let built = index.resolve()?.build(&watch.index).run()?;
    if let Some(sentence) = updated(&built, &corpus) {
        say(&format!("note: {sentence}"));
    }
    if let Some(sentence) = unread(&built.counts, &built.skipped_files, false) {
        say(&format!("note: {sentence}"));
    }
    Ok(ScannedCorpus {
        corpus,
        time: (built.counts.pages > 0).then(|| begun.elapsed()),
    })
}

/// Opens an existing corpus. Options for making one are refused rather than ignored.
fn existing(arguments: &ScanArguments, corpus: &str) -> Result<ScannedCorpus, CommandError> {
    let refused = if arguments.inputs.len() > 1 {
        Some("other inputs".to_owned())
    } else if arguments.output.is_some() {
        Some("-o".to_owned())
    } else if arguments.update.refresh {
        Some("--refresh".to_owned())
    } else {
        first_typed::<ReadingArguments>().or_else(first_typed::<LimitArguments>)
    };
    if let Some(refused) = refused {
        return Err(CommandError::usage(
            format!("{corpus} is a corpus: {refused} cannot be used with it"),
            "scan the corpus alone, or index the inputs into a new corpus with -o",
        ));
    }
    match arguments.partial {
        true => Corpus::open_partial(Path::new(corpus))?,
        false => Corpus::open(Path::new(corpus))?,
    };
    Ok(ScannedCorpus {
        corpus: PathBuf::from(corpus),
        time: None,
    })
}

/// Returns the default name of the corpus: the first input without folders and extensions, in the
/// current folder.
fn name_for(inputs: &[String]) -> PathBuf {
    let first = inputs.first().map_or("", String::as_str);
    let place = match first {
        "-" => PathBuf::new(),
        // Resolve `.` and `..` to the name of the folder.
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

/// The names of the analyses, each with the question that it answers.
fn names() -> PossibleValuesParser {
    let values = analyses().iter();
    PossibleValuesParser::new(
        values.map(|analysis| PossibleValue::new(analysis.name()).help(analysis.question())),
    )
}

fn unknown_name(unknown: &UnknownAnalysis) -> CommandError {
    CommandError::usage(
        format!("unknown analysis `{}`", unknown.0),
        "`cento scan --help` lists them",
    )
}

/// Prints the time of each step and its share of the total.
fn explain(made: &ScannedCorpus, done: &[FinishedAnalysis]) {
    let steps = made.time.map(|time| (INDEX_STEP, time)).into_iter();
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

/// Renders an object for each analysis.
fn json_lines(done: &[FinishedAnalysis]) -> Result<String, CommandError> {
    let mut lines = String::new();
    for done in done {
        let summary: serde_json::Value = done.findings.summary()?;
        let object = json!({
            "analysis": done.analysis.name(),
            "findings": done.findings.path,
            "cached": done.findings.known,
            "summary": summary,
        });
        lines.push_str(&format!("{object}\n"));
    }
    Ok(lines)
}

/// Most lines of the summary: one screen. The report has the rest.
const LINES: usize = 40;
/// Most commands under "Next steps".
const STEPS: usize = 3;

/// A section of the summary, and the parts of it that are shown if there is space.
struct SummarySection {
    title: String,
    shown: String,
    waiting: std::collections::VecDeque<String>,
}

/// Renders the summary: one screen. Every chapter has its first sentence. The next sentences, then
/// the tables, follow in turn while there is space.
fn summary(report: &Report, file: &Path) -> String {
    let style = CellStyle {
        root: &report.root,
        longest: Some(LONGEST),
    };
    let mut begin = format!("{}\n", clean(&report.corpus));
    for sentence in &report.introduction {
        begin.push_str(&wrapped(&clean(sentence)));
    }
    let mut sections: Vec<SummarySection> = Vec::new();
    for chapter in &report.chapters {
        let section = &chapter.section;
        let sentences = section.sentences.iter();
        let mut waiting: std::collections::VecDeque<String> = sentences
            .map(|sentence| wrapped(&clean(sentence)))
            .collect();
        let shown = waiting.pop_front().unwrap_or_default();
        for table in &section.tables {
            let mut table = table.clone();
            let rows = table.rows.len().min(ROWS);
            table.more += (table.rows.len() - rows) as u64;
            table.rows.truncate(rows);
            waiting.push_back(findings_table(&table, &style));
        }
        sections.push(SummarySection {
            title: format!("\n{}\n", StandardStream::Output.bold(&chapter.title)),
            shown,
            waiting,
        });
    }
    let lines = |text: &str| match StandardStream::Output.columns() {
        Some(columns) => fitted(text, columns).lines().count(),
        None => text.lines().count(),
    };
    let most = rows().map_or(LINES, |rows| rows.saturating_sub(2).clamp(24, LINES));
    let sum = |sections: &[SummarySection]| -> usize {
        let lines = sections
            .iter()
            .map(|section| lines(&section.title) + lines(&section.shown));
        lines.sum()
    };
    let needed = lines(&begin) + sum(&sections);
    // The first sentence of a chapter is more important than what to run next, and that than an
    // empty line between chapters.
    let mut steps = STEPS;
    let mut end = last_lines(report, file, steps);
    while steps > 1 && needed + lines(&end) > most {
        steps -= 1;
        end = last_lines(report, file, steps);
    }
    if needed + lines(&end) > most {
        for section in &mut sections {
            section.title = section.title.trim_start().to_owned();
        }
    }
    // With very many chapters, a title and its sentence share a line.
    if lines(&begin) + sum(&sections) + lines(&end) > most {
        for (section, chapter) in sections.iter_mut().zip(&report.chapters) {
            let first = chapter.section.sentences.first();
            let first = first.map_or("", String::as_str);
            section.title = String::new();
            section.shown = wrapped(&clean(&format!("{}: {first}", chapter.title)));
        }
    }
    let mut free = most.saturating_sub(lines(&begin) + sum(&sections) + lines(&end));
    // Chapters whose next part does not fit do not keep others from growing.
    let mut grows = true;
    while grows {
        grows = false;
        for section in &mut sections {
            let Some(next) = section.waiting.front() else {
                continue;
            };
            let needed = lines(next);
            if needed > free {
                section.waiting.clear();
                continue;
            }
            free -= needed;
            section.shown.push_str(next);
            section.waiting.pop_front();
            grows = true;
        }
    }
    let middle = sections
        .into_iter()
        .map(|section| format!("{}{}", section.title, section.shown));
    format!("{begin}{}{end}", middle.collect::<String>())
}

/// Renders which analyses were skipped, what to run next, and where the report is.
fn last_lines(report: &Report, file: &Path, steps: usize) -> String {
    let mut text = String::new();
    if !report.skipped.is_empty() {
        let reasons: BTreeSet<&str> = report
            .skipped
            .iter()
            .map(|skipped| skipped.reason.as_str())
            .collect();
        text.push_str(&format!(
            "\n{}\n",
            StandardStream::Output.bold("Skipped analyses")
        ));
        for reason in reasons {
            let alike = report.skipped.iter();
            let alike = alike.filter(|skipped| skipped.reason == reason);
            let titles: Vec<&str> = alike.map(|skipped| skipped.title.as_str()).collect();
            let reason = match reason.strip_prefix("it needs") {
                Some(needs) if titles.len() > 1 => format!("they need{needs}"),
                _ => reason.to_owned(),
            };
            text.push_str(&wrapped(&clean(&format!(
                "{}: {reason}.",
                titles.join(", ")
            ))));
        }
    }
    let suggestions = report
        .chapters
        .iter()
        .filter_map(|chapter| chapter.section.suggestions.first());
    let suggestions: Vec<_> = suggestions.take(steps).collect();
    if !suggestions.is_empty() {
        text.push_str(&format!(
            "\n{}\n",
            StandardStream::Output.bold("Next steps")
        ));
    }
    for next in suggestions {
        text.push_str(&format!(
            "  {}\n      to {}\n",
            clean(&next.command),
            next.purpose
        ));
    }
    let place = file.display().to_string();
    text.push_str(&format!(
        "\nReport with figures and more results: {}\n",
        clean(&place)
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_is_named_after_its_first_input() {
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
