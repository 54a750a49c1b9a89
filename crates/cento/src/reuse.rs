//! `cento reuse`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use cento_find::Findings;
use cento_find::reuse::{
    IGNORED, PAIRS, ReuseParams, ReuseStyle, ReuseSummary, Threshold, Thresholds,
};
use cento_fingerprint::Scheme;
use cento_report::format::size;
use cento_scan::Analysis;
use cento_scan::analyses::reuse::{Reuse, category_table, ignored, pair_table};
use cento_store::Parameters;
use clap::Args;
use serde_json::json;

use crate::analysis::AnalysisArguments;
use crate::command_error::CommandError;
use crate::corpora::is_corpus;
use crate::corpus_input::{CorpusArguments, OpenedCorpus, OtherCorpus, refuse_reading};
use crate::figures::FigureArguments;
use crate::originals::ReadColumns;
use crate::output::{CellStyle, Lines, clean, findings_table, number, print, print_data};
use crate::scheme_comparison;
use crate::top::TopArguments;

/// Find pages that share text, from a passage to the whole page
///
/// Finds all pairs of pages that share fingerprints of their text, the share of each page found in
/// the other, and the category of the pair (Seo & Croft 2008): C1, C2 and C4 are near-duplicates,
/// C3, C5 and C6 are local reuse. A pair in which only one page reaches --partial-share, such as a
/// short page inside a very long one, is one-sided. Results are exact with any amount of memory.
#[derive(Debug, Args)]
#[command(mut_arg("top", |top| top.conflicts_with("json")))]
#[command(after_help = "\
Categories, from the shares of the two pages found in each other (--most, --considerable,
--partial-share):
  C1 most–most          C2 most–considerable          C3 most–partial
                        C4 considerable–considerable  C5 considerable–partial
                                                      C6 partial–partial

Schemes, with the defaults of the paper:
  kgram:k=3       every run of k words: most complete, one fingerprint per word
  mod:k=3,p=6     one run in p
  winnow:k=3,w=10 finds every shared run of w+k-1 words
  break:p=3       segments of at least p words: fewest fingerprints
  dct:p=3         such segments, of which a word may differ; different text may coincide

Styles, by the first rule that applies:
  alias     captures of one URL, or the same set of fingerprints on one host, apart from www.
  frame     at least half of the shared fingerprints are in the page frame of a host: on at least 5
            of its pages, and on a fifth of them
  template  C1, C2 or C4; at least half of the other shared fingerprints are on --frequent pages;
            and each page has fingerprints that the other lacks
  phrase    other categories; at least half of the other shared fingerprints are on --frequent pages
  reuse     all other pairs

Pages with the same set of fingerprints count as one page in the table of pairs, the earliest by
date; the table identical lists the others. The counts of pages, siblings and pairs include them.

Tables in CORPUS/findings/reuse/RUN (--out and --json export the first one):
  pairs      page_id, page, of_id, of, category, style, shared, page_fingerprints, of_fingerprints,
             page_containment (share of the page found in the other), of_containment, frame and
             frequent (shared fingerprints of page frames, and other frequent ones), page_copies,
             of_copies (pages with the same fingerprints); of is the earlier page by date, or the
             one with the lower id; with --against, page is in CORPUS and of in CORPUS2
  identical  page_id, page, of_id, of, fingerprints, style
  ignored    fingerprint, pages, page_id, page, text: fingerprints on more than --max-pages pages

A file of --labelled pairs has a JSON object per line: page, of (URLs), category (C1 to C6, or
none).

Examples:
  cento reuse crawl.cento
  cento reuse crawl.cento --scheme dct --style reuse --out pairs.parquet
  cento reuse suspicious.cento --against sources.cento --json
  cento reuse crawl.cento --compare --labelled pairs.jsonl --figures figures/")]
pub(crate) struct ReuseArguments {
    #[command(flatten)]
    corpus: CorpusArguments,
    /// Compare the pages with those of this corpus
    ///
    /// Compares the pages of CORPUS only with those of this corpus or input.
    #[arg(long, value_name = "CORPUS2")]
    against: Option<String>,
    /// How fingerprints are selected: kgram, mod, winnow, break or dct, with parameters (see below)
    #[arg(
        long,
        value_name = "SCHEME",
        default_value = "winnow",
        conflicts_with = "compare"
    )]
    scheme: Scheme,
    /// Least share of a page of which most is reused
    #[arg(long, value_name = "SHARE", default_value = "0.8")]
    most: Threshold,
    /// Least share of a page of which a considerable part is reused
    #[arg(long, value_name = "SHARE", default_value = "0.5")]
    considerable: Threshold,
    /// Least share of a page of which a part is reused
    #[arg(long, value_name = "SHARE", default_value = "0.1")]
    partial_share: Threshold,
    /// Minimum number of shared chunks or fingerprints
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    min_shared: u32,
    /// Ignore what is on more pages than this; 0 ignores nothing [default: 1,000; more in a small
    /// corpus]
    ///
    /// A fingerprint on p distinct pages makes p²/2 pairs.
    #[arg(long, value_name = "N")]
    max_pages: Option<u32>,
    /// From this many pages on, shared text is a template or a common phrase
    #[arg(long, value_name = "N", default_value_t = cento_find::reuse::FREQUENT, value_parser = clap::value_parser!(u32).range(3..))]
    frequent: u32,
    /// Remove page frames: fingerprints on at least 5 pages and a fifth of the pages of a host. The
    /// summary shows the pairs with and without. `cento index --content slope` or `main` removes
    /// more, by the elements of the page
    #[arg(long)]
    frame: bool,
    /// Keep only pairs of these styles, separated by commas: reuse, template, phrase, frame, alias
    #[arg(
        long,
        value_name = "STYLE",
        value_delimiter = ',',
        conflicts_with = "compare"
    )]
    style: Vec<ReuseStyle>,
    /// Run all five schemes with the parameters of the paper, and compare them with kgram
    #[arg(long, conflicts_with_all = ["against", "out", "top", "explain"])]
    compare: bool,
    /// With --compare: also measure precision, recall and F1 on pairs of known category
    #[arg(
        long,
        value_name = "FILE",
        requires = "compare",
        conflicts_with_all = ["against", "scheme", "style", "out", "top", "explain"]
    )]
    labelled: Option<PathBuf>,
    #[command(flatten)]
    top: TopArguments,
    /// Write figures to this folder, as SVG and CSV
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    figures: Option<PathBuf>,
    #[command(flatten)]
    figure_format: FigureArguments,
    #[command(flatten)]
    analysis: AnalysisArguments,
}

impl ReuseArguments {
    /// Resolves the parameters.
    fn resolve(&self) -> ReuseParams {
        let mut styles = self.style.clone();
        styles.sort_unstable();
        styles.dedup();
        ReuseParams {
            thresholds: Thresholds {
                most: self.most,
                considerable: self.considerable,
                partial: self.partial_share,
            },
            min_shared: self.min_shared,
            max_pages: self.max_pages,
            frequent: self.frequent,
            frame: self.frame,
            against: self.against.is_some(),
            styles,
            ..ReuseParams::new(self.scheme)
        }
    }
}

pub(crate) fn run(arguments: &ReuseArguments) -> Result<ExitCode, CommandError> {
    let against = arguments.against.as_deref();
    if arguments.corpus.is_corpus() && against.is_none_or(is_corpus) {
        refuse_reading()?;
    }
    let other = against.map(|path| OtherCorpus { path, first: false });
    let corpus = arguments.corpus.open_with(
        other,
        &Parameters::default(),
        ReadColumns::All,
        &arguments.analysis,
    )?;
    let source = Arc::clone(&corpus.source);
    let params = arguments.resolve();
    if arguments.compare {
        return compare(arguments, &corpus, &params);
    }
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        Reuse.run(&source, &json!(params), workplace)
    })?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write(folder, &Reuse.figures(&findings)?)?;
    }
    if !arguments.analysis.export(&findings.table(PAIRS.as_str()))? {
        print(&text(arguments, &corpus, &params, &findings)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(
    arguments: &ReuseArguments,
    corpus: &OpenedCorpus,
    params: &ReuseParams,
) -> Result<ExitCode, CommandError> {
    let source = &corpus.source;
    let memory = arguments.analysis.resources.machine.memory();
    let labelled = arguments.labelled.as_deref();
    let comparison = scheme_comparison::compare(source, params, labelled, memory, |params| {
        arguments.analysis.run_step(&corpus.path, |workplace| {
            Reuse.run(source, &json!(params), workplace)
        })
    })?;
    if let Some(folder) = &arguments.figures {
        let figures = scheme_comparison::figures(&comparison);
        arguments.figure_format.write(folder, &figures)?;
    }
    if arguments.analysis.json {
        print_data(&scheme_comparison::json_lines(&comparison))?;
    } else {
        print(&scheme_comparison::text(&corpus.name, &comparison))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Renders the summary.
fn text(
    arguments: &ReuseArguments,
    corpus: &OpenedCorpus,
    params: &ReuseParams,
    findings: &Findings,
) -> Result<String, CommandError> {
    let summary: ReuseSummary = findings.summary()?;
    let mut lines = Lines::default();
    lines.add("pages", number(summary.pages));
    if let (Some(pages), Some(path)) = (summary.against, &arguments.against) {
        let remark = clean(path).into_owned();
        lines.add_with("against", number(pages), remark);
    }
    if summary.identical > 0 {
        let remark = "same fingerprints as an earlier page, counted as one in the table of pairs";
        lines.add_with("identical", number(summary.identical), remark);
    }
    if summary.without_fingerprints > 0 {
        let remark = "too few words for a fingerprint";
        lines.add_with("short pages", number(summary.without_fingerprints), remark);
    }
    let pages = summary.pages + summary.against.unwrap_or_default();
    let mean = summary.page_fingerprints as f64 / pages.max(1) as f64;
    let remark = format!("{}, {mean:.1} a page", params.scheme);
    lines.add_with("fingerprints", number(summary.fingerprints), remark);
    lines.add_with(
        "",
        number(summary.shared_fingerprints),
        "on several distinct pages",
    );
    if summary.ignored > 0 {
        let remark = format!(
            "ignored: on more than {} distinct pages, see the table {}",
            number(summary.max_pages),
            IGNORED.as_str()
        );
        lines.add_with("", number(summary.ignored), remark);
    }
    if params.frame {
        let removed = number(summary.frame_page_fingerprints);
        lines.add_with("", removed, "removed from pages: page frames");
    }
    lines.add("index", size(summary.index_bytes));
    lines.add("seconds", format!("{:.1}", findings.record.report.seconds));
    corpus.add_findings(&mut lines, findings);
    let mut text = format!("{}\n{}\n", clean(&corpus.name), lines.render());
    let style = CellStyle::default();
    text.push_str(&findings_table(&category_table(&summary), &style));
    for sentence in ignored(&summary) {
        text.push_str(&format!("\n  {sentence}"));
    }
    if summary.ignored > 0 {
        text.push('\n');
    }
    if summary.rows > 0 {
        let rows = findings.rows(PAIRS)?.take(arguments.top.rows());
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        text.push('\n');
        text.push_str(&findings_table(&pair_table(&rows, &summary), &style));
    } else if summary.pairs() == 0 {
        text.push_str(match summary.ignored {
            0 => "\nNo two pages share enough text.\n",
            _ => "\nNo two pages share enough text, apart from ignored fingerprints.\n",
        });
    }
    Ok(text)
}
