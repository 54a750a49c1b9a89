//! `cento trial`.

use std::path::PathBuf;
use std::process::ExitCode;

use cento_find::Findings;
use cento_report::format::counted;
use cento_store::Parameters;
use cento_trial::{
    DISCOVERED_TABLE, InjectParams, InjectSummary, MutateParams, MutateSummary, TOLERATED_TABLE,
    ToleratedRow, inject, injection_figures, mutate, mutation_figures,
};
use clap::{Args, Subcommand};

use crate::analysis::AnalysisArguments;
use crate::command_error::CommandError;
use crate::corpora::is_corpus;
use crate::corpus_input::{CorpusArguments, OpenedCorpus};
use crate::figures::FigureArguments;
use crate::originals::{Originals, ReadColumns};
use crate::output::{number, print, table};

/// Try out how much copying is found, and how much change it survives
///
/// The experiments of Ardi & Heidemann 2014, section 5, on your own corpus.
#[derive(Debug, Args)]
pub(crate) struct TrialArguments {
    #[command(subcommand)]
    pub(crate) what: TrialVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrialVerb {
    Inject(Box<InjectArguments>),
    Mutate(Box<MutateArguments>),
}

/// How often must a site be copied before blind discovery finds it?
///
/// Computes how often every file and every chunk occurs in CORPUS with copies of a site added to
/// it, and what `cento discover` would label: of the site (true positives) and of everything else
/// (false positives). Counts are exact: an object that occurs s times on the site and c times in
/// the corpus occurs c + d·s times after d copies.
#[derive(Debug, Args)]
#[command(after_help = "\
Findings are tables in CORPUS/findings/trial-inject: discovered (the main one: the share of the site
that is discovered, by number of copies), injected and background (how many objects occur how often)
and roc (true and false positives over thresholds).

Example:
  cento trial inject crawl.cento --inject blog.jsonl --copies 100,250,1000,5000 --figures figures/")]
pub(crate) struct InjectArguments {
    #[command(flatten)]
    pub(crate) corpus: CorpusArguments,
    /// The site to inject: a corpus, or anything that `cento index` reads
    #[arg(long, value_name = "INPUT", num_args = 1.., required = true)]
    pub(crate) inject: Vec<String>,
    /// Numbers of copies [default: 1,2,5,10,20,50,100,250,500,1000,2500,5000]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) copies: Vec<u64>,
    /// Label what occurs more often than this [default: as in `cento discover`]
    ///
    /// The number is for chunks.
    #[arg(long, value_name = "N")]
    pub(crate) more_than: Option<u64>,
    /// Like --more-than, for files [default: as in `cento discover`]
    #[arg(long, value_name = "N")]
    pub(crate) files_more_than: Option<u64>,
    /// Write figures to this folder, as SVG and CSV
    ///
    /// Figures 1 to 3 of the paper, and the curve of true and false positives.
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) figure_format: FigureArguments,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

/// How much change of its pages does the detection of a site survive?
///
/// CORPUS is a site. Chunks are added to, deleted from and changed on every page at random, and the
/// pages are scored with two sets of labels: all chunks of the site (expert), and those that occur
/// often (blind). Amounts of change are relative to the mean number of chunks per page.
#[derive(Debug, Args)]
#[command(after_help = "\
Findings are tables in CORPUS/findings/trial-mutate: mutations (the main one: scores and detected
pages at each step) and tolerated (where the average score reaches the threshold).

Example:
  cento synth -o paper --pages 100 --blog 4626 && cento index paper/blog.jsonl -o blog.cento
  cento trial mutate blog.cento --figures figures/")]
pub(crate) struct MutateArguments {
    #[command(flatten)]
    pub(crate) corpus: CorpusArguments,
    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) runs: u32,
    /// Seed of the random generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Most changes of a page, as a multiple of the mean number of chunks per page
    #[arg(long, value_name = "MULTIPLE", default_value_t = 8.0)]
    pub(crate) most_changes: f64,
    /// Distance between steps, as a multiple
    #[arg(long, value_name = "MULTIPLE", default_value_t = 0.2)]
    pub(crate) step: f64,
    /// Blind labels are chunks that occur more often than this on the site
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) blind: u64,
    /// Flag pages above this share
    #[arg(long, value_name = "SHARE", default_value_t = 0.144)]
    pub(crate) page_threshold: f64,
    /// Threshold of the neighbourhood
    #[arg(long, value_name = "SHARE", default_value_t = 0.163)]
    pub(crate) neighbourhood_threshold: f64,
    /// Write figures to this folder, as SVG and CSV
    ///
    /// Figures 4 to 10 of the paper.
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) figure_format: FigureArguments,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

pub(crate) fn run(arguments: &TrialArguments) -> Result<ExitCode, CommandError> {
    match &arguments.what {
        TrialVerb::Inject(arguments) => run_inject(arguments),
        TrialVerb::Mutate(arguments) => run_mutate(arguments),
    }
}

fn run_inject(arguments: &InjectArguments) -> Result<ExitCode, CommandError> {
    let mut params = InjectParams {
        threshold: arguments.more_than,
        file_threshold: arguments.files_more_than,
        ..InjectParams::default()
    };
    if !arguments.copies.is_empty() {
        params.copies.clone_from(&arguments.copies);
    }
    params.check()?;
    if let [only] = arguments.inject.as_slice()
        && is_corpus(only)
        && arguments.corpus.is_corpus()
    {
        let because = "if both are corpora";
        arguments.corpus.reading.check_unused(because)?;
    }
    let corpus = arguments.corpus.open_with(
        None,
        &Parameters::default(),
        ReadColumns::All,
        &arguments.analysis,
    )?;
    let source = &corpus.source;
    let parameters = source
        .corpora()
        .first()
        .map(|corpus| corpus.parameters().clone());
    let site = Originals::open(
        &arguments.inject,
        &arguments.corpus.reading,
        &parameters.unwrap_or_default(),
        &arguments.analysis.resources,
    )?;
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        inject(source, &site.source, &params, workplace)
    })?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write(folder, &injection_figures(&findings)?)?;
    }
    if !arguments.analysis.export(&findings.table("discovered"))? {
        print(&injection_summary(&corpus, &findings)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn injection_summary(corpus: &OpenedCorpus, findings: &Findings) -> Result<String, CommandError> {
    let summary: InjectSummary = findings.summary()?;
    let mut cells = Vec::new();
    for row in findings.rows(DISCOVERED_TABLE)? {
        let row = row?;
        cells.push(vec![
            format!("{}, {}", row.of, counted(row.copies, "copy", "copies")),
            number(row.objects),
            number(row.threshold),
            number(row.discovered),
            format!("{:.1} %", 100.0 * row.share),
            format!("{:.1} %", 100.0 * row.of_occurrences),
        ]);
    }
    Ok(format!(
        "A site of {}, copied into a corpus of {}\n{}{}",
        counted(summary.site_pages, "page", "pages"),
        counted(summary.pages, "page", "pages"),
        table(
            &[
                "discovered",
                "distinct",
                "threshold",
                "discovered",
                "of distinct",
                "of all"
            ],
            &cells
        ),
        corpus.findings_line(findings)
    ))
}

fn run_mutate(arguments: &MutateArguments) -> Result<ExitCode, CommandError> {
    let params = MutateParams {
        seed: arguments.seed,
        runs: arguments.runs,
        most: arguments.most_changes,
        step: arguments.step,
        blind: arguments.blind,
        page_threshold: arguments.page_threshold,
        neighbourhood_threshold: arguments.neighbourhood_threshold,
    };
    params.check()?;
    let corpus = arguments.corpus.open(&arguments.analysis)?;
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        mutate(&corpus.source, &params, workplace)
    })?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write(folder, &mutation_figures(&findings, &params)?)?;
    }
    if !arguments.analysis.export(&findings.table("mutations"))? {
        print(&mutation_summary(&corpus, &findings, &params)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn mutation_summary(
    corpus: &OpenedCorpus,
    findings: &Findings,
    params: &MutateParams,
) -> Result<String, CommandError> {
    let summary: MutateSummary = findings.summary()?;
    let mut rows: Vec<ToleratedRow> = Vec::new();
    for row in findings.rows(TOLERATED_TABLE)? {
        rows.push(row?);
    }
    let shown = |mutation: &str, labels: &str, score: &str| {
        let row = rows.iter().find(|row| {
            (
                row.mutation.as_str(),
                row.labels.as_str(),
                row.score.as_str(),
            ) == (mutation, labels, score)
        });
        match row {
            // However much is deleted, what is left is copied.
            Some(row) if row.always && mutation == "delete" => "always".to_owned(),
            Some(row) if row.always => format!("more than {} ×", params.most),
            Some(row) => row
                .multiple
                .map_or("never above".to_owned(), |at| format!("{at:.1} ×")),
            None => String::new(),
        }
    };
    let mut cells = Vec::new();
    for mutation in ["add", "delete", "change"] {
        for labels in ["expert", "blind"] {
            cells.push(vec![
                format!("{mutation}, {labels} labels"),
                shown(mutation, labels, "page"),
                shown(mutation, labels, "mean"),
                shown(mutation, labels, "ratio"),
            ]);
        }
    }
    let mean = summary.chunks as f64 / summary.pages.max(1) as f64;
    Ok(format!(
        "{} with {mean:.1} chunks on average; {} expert and {} blind labels; {}\n\
         Changes per page, relative to the average number of chunks, until the average score falls to \
         its threshold ({} for pages, {} for the neighbourhood):\n{}{}",
        counted(summary.pages, "page", "pages"),
        number(summary.expert),
        number(summary.blind),
        counted(u64::from(params.runs), "run", "runs"),
        params.page_threshold,
        params.neighbourhood_threshold,
        table(&["changes", "pages", "mean", "ratio"], &cells),
        corpus.findings_line(findings)
    ))
}
