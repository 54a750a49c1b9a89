//! `cento copies`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use arrow_array::RecordBatch;
use cento_file::is_standard_output;
use cento_find::copies::{
    ALL_PAIRS, COPIES_SWEEP_TABLE, CopiesParams, CopiesScheme, CopiesSummary, CopiesSweep, Keep,
    WrittenInputs, filter, write_skip_list,
};
use cento_find::{CorpusPages, Findings, read_table, row_values};
use cento_read::Rewritten;
use cento_report::format::{counted, plural};
use cento_scan::Analysis;
use cento_scan::analyses::copies::{Copies, classes, mirrors};
use cento_scan::analyses::copies_sweep::{CopiesSweeps, sweep_report_table};
use cento_store::Parameters;
use cento_text::chunk::ChunkKind;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::analysis::AnalysisArguments;
use crate::command_error::CommandError;
use crate::command_line::refuse;
use crate::corpora::{check_no_input, is_corpus};
use crate::corpus_input::{CorpusArguments, OpenedCorpus, OtherCorpus, refuse_reading};
use crate::figures::FigureArguments;
use crate::files::{check_writable, write_with};
use crate::originals::ReadColumns;
use crate::output::{
    CellStyle, Lines, clean, findings_table, number, print, print_data, say, size,
};
use crate::terminal::sentences;
use crate::top::TopArguments;

/// Find duplicate and near-duplicate pages, and which to keep
///
/// Exact duplicates have identical bytes or identical text. Near-duplicates are pages whose sets of
/// word k-grams have a resemblance (shared grams over all grams of both) of at least --resemblance.
/// In the order of --keep, a page is removed if it resembles a page that is kept, and kept
/// otherwise. Candidates are found by sketches and verified by all of their grams, so no page is
/// removed by chance. At the default of 0.8, a pair with a resemblance of exactly 0.8 is missed
/// with a probability of 0.2 %, one of 0.85 with less than 0.01 %. Only pages with text count;
/// revisits and rejected pages are counted separately.
#[derive(Debug, Args)]
#[command(mut_arg("top", |top| top.conflicts_with_all(["json", "emit"])))]
#[command(after_help = "\
Findings are tables in CORPUS/findings/copies: pairs (each removed page and the page that is kept
in its place), near_pairs (all verified pairs of near-duplicates), classes, mirrors (hosts),
prefixes. In pairs:

  kind      how the two agree: bytes (identical payload), revisit (a record that refers to it),
            text, near
  repeats   the closest agreement of the page with any earlier page
  cause     recapture (URL of the kept page), url-alias (its host), server-alias (another host with
            the same pages at the same paths, and the same address or domain), replica
  earlier   page, of, same or unknown: by publication date, else by fetch date; unknown if one page
            was published before the other was fetched
  rejected  why the page has no text: revisits and rejected pages that repeat a payload

Inputs other than a corpus are indexed temporarily. Their results are kept only with --out,
--filter, --emit, --skip-list or --findings.

Examples:
  cento copies crawl.cento
  cento copies pages.jsonl --filter -o unique/
  cento copies crawl.cento --resemblance 0.9 --keep longest --out pairs.csv
  cento copies new.cento --against old.cento
  cento copies new.jsonl --against old.jsonl --filter -o new-unique/
  cento copies crawl.cento --emit keep > urls.txt
  cento copies crawl.cento --filter -o crawl-unique/
  cento copies pages.parquet --sweep resemblance=0.5..1.0 --figures figures/
  cento copies crawl.cento --skip-list skip.tsv")]
pub(crate) struct CopiesArguments {
    #[command(flatten)]
    pub(crate) corpus: CorpusArguments,
    /// Compare the pages with those of this corpus
    ///
    /// Finds only pages of CORPUS that duplicate pages of this corpus or input.
    #[arg(long, value_name = "CORPUS2")]
    pub(crate) against: Option<String>,
    /// Minimum resemblance of near-duplicates, 0.1 to 1; 1 finds only exact duplicates
    #[arg(long, value_name = "R", default_value_t = 0.8)]
    pub(crate) resemblance: f64,
    /// Words per gram
    #[arg(short, long, value_name = "K", default_value_t = 5)]
    pub(crate) k: u32,
    /// How near-duplicates are found: resemblance, or megashingle as in Fetterly et al. 2005
    ///
    /// By the rule of the paper, two of six bands of 14 minima agree. It is not verified, and it is
    /// transitive.
    #[arg(long, value_name = "RULE", default_value_t = CopiesScheme::Resemblance)]
    pub(crate) rule: CopiesScheme,
    /// Which of several duplicates to keep: earliest (by publication date, else fetch date; undated
    /// pages last; then a URL without tracking parameters; then corpus order), first (in corpus
    /// order), longest or shortest-url
    #[arg(long, value_name = "WHICH", default_value_t = Keep::Earliest)]
    pub(crate) keep: Keep,
    /// Count the findings for other values of one parameter
    ///
    /// How many pages are removed for each value of --resemblance: resemblance=0.5..1.0 (in steps
    /// of 0.05), resemblance=0.5..1.0:0.1 or resemblance=0.7,0.8,0.9. Takes as long as one run for
    /// each value. --out and --json then export the counts.
    #[arg(long, value_name = "NAME=VALUES", conflicts_with_all = ["resemblance", "rule", "emit", "filter", "output", "skip_list"])]
    pub(crate) sweep: Option<CopiesSweep>,
    /// Print the URLs of the pages that are kept or removed, or of all pages with the decision
    #[arg(
        long,
        value_name = "WHAT",
        conflicts_with = "json",
        help_heading = "Output"
    )]
    pub(crate) emit: Option<Emit>,
    /// Write the inputs without the pages that were found to the folder of --output. Without INPUT,
    /// all inputs
    ///
    /// Removed pages are missing in the output: JSON Lines, Parquet, archives (in WARC, a page with
    /// identical bytes becomes a revisit record) and single files.
    #[arg(long, value_name = "INPUT", num_args = 0.., requires = "output", help_heading = "Output")]
    pub(crate) filter: Option<Vec<String>>,
    /// Where to write the result
    ///
    /// The folder for --filter. It must not contain inputs or be inside an input folder; existing
    /// files are not replaced.
    #[arg(
        short,
        long,
        value_name = "PATH",
        requires = "filter",
        help_heading = "Output"
    )]
    pub(crate) output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long, requires = "filter", help_heading = "Output")]
    pub(crate) overwrite: bool,
    /// Write a list of what a crawler should skip: prefixes under which at least 90 % of the pages
    /// duplicate the page at the same path under another prefix, the exceptions to be fetched
    /// anyway, and single URLs. At least one page of every class is fetched
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) skip_list: Option<PathBuf>,
    /// Write figures to this folder, as SVG and CSV
    ///
    /// With --sweep: how many pages each value removes.
    #[arg(
        long,
        value_name = "FOLDER",
        requires = "sweep",
        help_heading = "Output"
    )]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) figure_format: FigureArguments,
    #[command(flatten)]
    pub(crate) top: TopArguments,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

/// Which pages `--emit` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// Pages that are kept
    Keep,
    /// Pages that are removed
    Drop,
    /// All pages, with the decision
    All,
}

impl CopiesArguments {
    /// Validates the options and returns the parameters of the analysis.
    fn resolve(&self) -> Result<CopiesParams, CommandError> {
        let params = CopiesParams {
            resemblance: self.resemblance,
            k: self.k,
            scheme: self.rule,
            keep: self.keep,
            against: self.against.is_some(),
        };
        params.check()?;
        check_options(self)?;
        if let Some(output) = &self.output {
            check_folder(&self.corpus.inputs, output)?;
            if let Some(named) = &self.filter {
                check_folder(named, output)?;
            }
        }
        Ok(params)
    }
}

pub(crate) fn run(arguments: &CopiesArguments) -> Result<ExitCode, CommandError> {
    let params = arguments.resolve()?;
    let against = arguments.against.as_deref();
    // The corpus to compare with comes first: its pages are always kept.
    let other = against.map(|path| OtherCorpus { path, first: true });
    // Chunks are not used, so a page is one chunk.
    let parameters = Parameters {
        chunk: ChunkKind::Document,
        ..Parameters::default()
    };
    let corpus =
        arguments
            .corpus
            .open_with(other, &parameters, ReadColumns::Texts, &arguments.analysis)?;
    let source = Arc::clone(&corpus.source);
    if let Some(sweep) = &arguments.sweep {
        return run_sweep(arguments, &corpus, &params, sweep);
    }
    if let Some(list) = &arguments.skip_list {
        check_writable(list)?;
        check_no_input(list, &source)?;
    }
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        let workplace = workplace.with_less_memory(source.bytes_in_memory());
        Copies.run(&source, &json!(params), &workplace)
    })?;
    if let Some(path) = &arguments.skip_list {
        let (prefixes, urls) =
            write_with(path, |file| Ok(write_skip_list(&findings, &source, file)?))?;
        say(&format!(
            "{}: {} and {} to skip",
            clean(&path.display().to_string()),
            counted(prefixes, "prefix", "prefixes"),
            counted(urls, "single URL", "single URLs")
        ));
    }
    if let (Some(inputs), Some(output)) = (&arguments.filter, &arguments.output) {
        write_filtered(arguments, &source, &findings, inputs, output)?;
    }
    let printed = arguments.analysis.export(&findings.table("pairs"))?;
    match arguments.emit {
        Some(emit) => list(&source, &findings, emit)?,
        None if printed => {}
        // The skip list was printed.
        None if arguments
            .skip_list
            .as_deref()
            .is_some_and(is_standard_output) => {}
        None => print(&summary(arguments, &findings, corpus.keeps_findings())?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails if an option has no effect in combination with the others.
fn check_options(arguments: &CopiesArguments) -> Result<(), CommandError> {
    if arguments.rule == CopiesScheme::Megashingle {
        let because = "the megashingle scheme has no resemblance threshold";
        refuse(&["resemblance"], because)?;
    } else if arguments.resemblance >= 1.0 {
        let because = "--resemblance 1 finds only exact duplicates, without grams";
        refuse(&["k", "rule"], because)?;
    }
    if arguments.corpus.is_corpus() && arguments.against.as_deref().is_none_or(is_corpus) {
        refuse_reading()?;
    }
    Ok(())
}

/// Runs a sweep and prints how many pages each threshold removes.
fn run_sweep(
    arguments: &CopiesArguments,
    corpus: &OpenedCorpus,
    pivot: &CopiesParams,
    sweep: &CopiesSweep,
) -> Result<ExitCode, CommandError> {
    let settings = json!({ "pivot": pivot, "sweep": sweep });
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        let workplace = workplace.with_less_memory(corpus.source.bytes_in_memory());
        CopiesSweeps.run(&corpus.source, &settings, &workplace)
    })?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write(folder, &CopiesSweeps.figures(&findings)?)?;
    }
    if !arguments
        .analysis
        .export(&findings.table(COPIES_SWEEP_TABLE.as_str()))?
    {
        let rows = findings.rows(COPIES_SWEEP_TABLE)?;
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let table = findings_table(&sweep_report_table(&rows), &CellStyle::default());
        let pages = counted(
            rows.first().map_or(0, |row| row.pages),
            "page with text",
            "pages with text",
        );
        let line = corpus.findings_line(&findings);
        print(&format!("{}: {pages}\n{table}{line}", clean(&corpus.name)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails if the output folder is inside an input folder: the next run would read the outputs.
pub(crate) fn check_folder(inputs: &[String], output: &Path) -> Result<(), CommandError> {
    // If the folder does not exist yet, check the nearest existing folder above it.
    let above = output.ancestors().find_map(|folder| {
        let folder = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        folder.canonicalize().ok()
    });
    let Some(above) = above else {
        return Ok(());
    };
    for input in inputs {
        let folder = Path::new(input).canonicalize().ok();
        if folder.is_some_and(|folder| folder.is_dir() && above.starts_with(&folder)) {
            return Err(cento_find::Error::OverItself(input.clone()).into());
        }
    }
    Ok(())
}

/// Says how many inputs were written.
pub(crate) fn inputs_written(inputs: WrittenInputs) -> String {
    let mut said = format!("{} written", counted(inputs.written, "input", "inputs"));
    if inputs.left_out > 0 {
        said.push_str(&match inputs.left_out {
            1 => ", 1 left out because nothing of it is left".to_owned(),
            many => format!(
                ", {} left out because nothing of them is left",
                number(many)
            ),
        });
    }
    said
}

/// Writes inputs without the removed pages, and prints a summary.
fn write_filtered(
    arguments: &CopiesArguments,
    source: &CorpusPages,
    findings: &Findings,
    inputs: &[String],
    output: &Path,
) -> Result<(), CommandError> {
    let Some(corpus) = source.corpora().last() else {
        return Ok(());
    };
    let (mut files, mut total) = (WrittenInputs::default(), Rewritten::default());
    let overwrite = arguments.overwrite;
    filter(corpus, findings, inputs, output, overwrite, |filtered| {
        files.add(filtered);
        total.dropped += filtered.rewritten.dropped;
        total.revisits += filtered.rewritten.revisits;
        total.lost += filtered.rewritten.lost;
        Ok(())
    })?;
    let mut line = format!(
        "{}: {}, {} removed",
        output.display(),
        inputs_written(files),
        counted(total.dropped, "record", "records")
    );
    if total.revisits > 0 {
        let revisits = counted(total.revisits, "revisit record", "revisit records");
        line.push_str(&format!(", {revisits}"));
    }
    if total.lost > 0 {
        line.push_str(&format!(
            ", {} not copied",
            counted(total.lost, "damaged record", "damaged records")
        ));
    }
    say(&clean(&line));
    Ok(())
}

/// Prints the URLs of pages in corpus order.
fn list(source: &CorpusPages, findings: &Findings, emit: Emit) -> Result<(), CommandError> {
    let mut dropped = DroppedPages::open(findings)?;
    let last = source.corpora().len() - 1;
    let mut lines = String::new();
    for task in 0..source.page_tasks().len() {
        source.for_each_page(task, |facts| {
            if facts.corpus != last {
                return Ok(());
            }
            // Records without text are neither kept nor removed.
            let pair = dropped
                .take(facts.page_id)?
                .filter(|_| facts.reject.is_none());
            let url = clean(facts.url);
            match (emit, pair) {
                (Emit::Keep, None) if facts.reject.is_none() => lines.push_str(&format!("{url}\n")),
                (Emit::Drop, Some(_)) => lines.push_str(&format!("{url}\n")),
                (Emit::All, Some((kind, of))) => {
                    lines.push_str(&format!("drop\t{url}\t{kind}\t{}\n", clean(&of)));
                }
                (Emit::All, None) if facts.reject.is_none() => {
                    lines.push_str(&format!("keep\t{url}\n"));
                }
                _ => {}
            }
            if lines.len() > 1 << 16 {
                print_data(&lines)?;
                lines.clear();
            }
            Ok::<_, CommandError>(())
        })?;
    }
    print_data(&lines)?;
    Ok(())
}

/// The rows of the table of pairs, which are in the order of page ids.
struct DroppedPages<I> {
    batches: I,
    batch: Option<RecordBatch>,
    row: usize,
}

impl DroppedPages<()> {
    fn open(
        findings: &Findings,
    ) -> Result<DroppedPages<impl Iterator<Item = cento_find::Result<RecordBatch>>>, CommandError>
    {
        Ok(DroppedPages {
            batches: read_table(&findings.table("pairs"))?,
            batch: None,
            row: 0,
        })
    }
}

impl<I: Iterator<Item = cento_find::Result<RecordBatch>>> DroppedPages<I> {
    /// Returns the kind of a removed page and the page kept in its place. Ids must ascend.
    fn take(&mut self, page_id: u64) -> Result<Option<(String, String)>, CommandError> {
        loop {
            let Some(batch) = &self.batch else {
                match self.batches.next().transpose()? {
                    Some(batch) => (self.batch, self.row) = (Some(batch), 0),
                    None => return Ok(None),
                }
                continue;
            };
            if self.row >= batch.num_rows() {
                self.batch = None;
                continue;
            }
            let (mut id, mut kind, mut of) = (0, String::new(), String::new());
            for (name, value) in row_values(batch, self.row) {
                match name {
                    "page_id" => id = value.as_u64().unwrap_or(0),
                    "kind" => kind = value.as_str().unwrap_or_default().to_owned(),
                    "of" => of = value.as_str().unwrap_or_default().to_owned(),
                    _ => {}
                }
            }
            if id > page_id {
                return Ok(None);
            }
            self.row += 1;
            if id == page_id {
                return Ok(Some((kind, of)));
            }
        }
    }
}

fn summary(
    arguments: &CopiesArguments,
    findings: &Findings,
    kept: bool,
) -> Result<String, CommandError> {
    let counts: CopiesSummary = findings.summary()?;
    let removed = counts.removed();
    let mut text = format!(
        "{} of {} with text {}{}\n",
        number(removed),
        counted(counts.pages, "page", "pages"),
        match (counts.pages, removed) {
            (1, _) | (_, 1) => "is a duplicate",
            _ => "are duplicates",
        },
        match &arguments.against {
            Some(other) => format!(" of pages in {}", clean(other)),
            None => String::new(),
        }
    );
    let mut lines = Lines::default();
    lines.add_with(
        "identical bytes",
        number(counts.bytes),
        match arguments.against {
            Some(_) => "with one of these pages",
            None => "with a page that comes first in the order of --keep",
        },
    );
    lines.add_with("identical text", number(counts.text), "in different bytes");
    if counts.without_text {
        lines.add_with("near-duplicates", "–", "the corpus has no text to compare");
    } else if arguments.rule == CopiesScheme::Megashingle {
        lines.add_with(
            "near-duplicates",
            number(counts.near),
            "by megashingles, not verified",
        );
    } else if arguments.resemblance < 1.0 {
        lines.add_with(
            "near-duplicates",
            number(counts.near),
            format!(
                "resemblance of {}-grams at least {}; {} compared",
                arguments.k,
                arguments.resemblance,
                counted(counts.candidates, "candidate", "candidates")
            ),
        );
    }
    lines.add_with("bytes saved", size(counts.saved_bytes), "");
    text.push_str(&lines.render());
    if removed > 0 {
        let mut lines = Lines::default();
        lines.add_with(
            "recaptures",
            number(counts.recapture),
            "URL of the kept page",
        );
        lines.add_with(
            "url aliases",
            number(counts.url_alias),
            "host of the kept page",
        );
        lines.add_with(
            "server aliases",
            number(counts.server_alias),
            "hosts with the same paths, and one address or domain",
        );
        lines.add_with("replicas", number(counts.replica), "elsewhere");
        text.push_str("by cause:\n");
        text.push_str(&lines.render());
        text.push_str(&largest(findings, arguments.top.rows())?);
    }
    if counts.repeated_records > 0 {
        text.push_str(&sentences(&format!(
            "{} of {} without text {} the payload of another page or record; {} of these {}\n",
            number(counts.repeated_records),
            counted(counts.records, "record", "records"),
            plural(counts.repeated_records, "repeats", "repeat"),
            number(counts.repeated_revisits),
            plural(counts.repeated_revisits, "is a revisit", "are revisits"),
        )));
    }
    if counts.pages_crowded > 0 {
        text.push_str(&sentences(&format!(
            "{} too many candidates: only the most similar ones were compared\n",
            counted(counts.pages_crowded, "kept page has", "kept pages have")
        )));
    }
    if counts.wide_classes > 0 {
        text.push_str(&sentences(&format!(
            "{} on more than {ALL_PAIRS} hosts: not all pairs of these hosts were compared, so whether they are server-aliases can depend on --keep\n",
            counted(counts.wide_classes, "class is", "classes are")
        )));
    }
    if kept {
        let place = findings.path.display().to_string();
        let cached = if findings.known {
            "cached results"
        } else {
            "findings"
        };
        text.push_str(&format!("{cached}: {}\n", clean(&place)));
    } else if arguments.filter.is_none()
        && arguments.skip_list.is_none()
        && arguments.analysis.out.is_none()
    {
        text.push_str("These results are not kept: use --out or --filter to write them, or index the inputs first.\n");
    }
    if findings.known {
        text.push_str("--again runs the analysis again\n");
    }
    Ok(text)
}

/// Tables of the largest classes and mirrors.
fn largest(findings: &Findings, top: usize) -> Result<String, CommandError> {
    let classes = classes(findings, top)?;
    let mirrors = mirrors(findings, top)?;
    Ok([classes, mirrors]
        .iter()
        .map(|table| findings_table(table, &CellStyle::default()))
        .collect())
}
