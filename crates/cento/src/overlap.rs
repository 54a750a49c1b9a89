//! `cento overlap`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use cento_find::overlap::{
    COMMON, OverlapParams, OverlapSummary, PAIRS, REPLICAS, SERVERS, Unit, usual_threshold,
};
use cento_find::{CorpusPages, Findings, read_table, row_values};
use cento_report::format::percent;
use cento_scan::Analysis;
use cento_scan::analyses::overlap::{Pages, Servers, ignored};
use cento_scan::analyses::replication::Replication;
use cento_text::chunk::ChunkKind;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use crate::analysis::AnalysisArguments;
use crate::command_error::CommandError;
use crate::corpus_input::{CorpusArguments, OpenedCorpus};
use crate::figures::FigureArguments;
use crate::output::{Lines, clean, number, print};
use crate::replication::text as replication_text;
use crate::top::TopArguments;

/// Find pages or servers that share chunks
///
/// Finds all pairs of pages that share at least --min-shared chunks, and the share of each page
/// that is found in the other (Shivakumar & Garcia-Molina 1998). A page is the set of its chunks;
/// pages with identical text count as one, the earliest by date. With --servers, finds pairs of
/// servers, each the union of its pages: mirrors share nearly all chunks. Results are exact with
/// any amount of memory; chunks that are ignored because they are on too many pages (--max-pages)
/// are counted and reported.
#[derive(Debug, Args)]
#[command(mut_arg("top", |top| top.conflicts_with("json")))]
#[command(after_help = "\
Chunks are cut from the stored text; a corpus without text uses the chunks it was indexed with.
Lines longer than 80 columns are wrapped between words. Chunks of lines, sentences or words do not
overlap. The default of --min-shared corresponds to about 500 words: 15 for lines:4 and 25 for
lines:2 as in the paper, 5 for paragraph, 25 for sentences:1, 500/N for words:N.

Tables in CORPUS/findings/overlap/RUN, strongest pair first (--out and --json export the first one):
  pairs     page_id, page, of_id, of, chunks (shared), page_chunks, of_chunks, page_share (share of
            the page's chunks that are in the other), of_share, page_copies, of_copies (pages with
            identical text); of is the earlier page by date, or the one with the lower id
  common    chunk_hash, pages, page_id, page, text: chunks on more than --max-pages pages, which
            are ignored
and in CORPUS/findings/overlap-servers/RUN:
  servers   server, of, chunks, server_chunks, of_chunks, server_share, of_share, server_pages,
            of_pages; server is the one with the larger share in the other
and in CORPUS/findings/replication/RUN:
  replicas  notion (exact, lines:4, lines:2), from, to, pages, share: pages by number of replicas
  savings   notion, pages, saved_pages, share, bytes, saved_bytes, share_of_bytes: what a crawl
            saves that visits earlier pages first and skips replicas of visited pages
  collections  servers, pages, replicas, collection (its folder on the server that has most of
            it), page: pages replicated on the same set of servers
--replication ignores no chunks, and needs 32 bytes of memory per page.

Examples:
  cento overlap crawl.cento
  cento overlap crawl.cento --chunk lines:4 --min-shared 15 --out pairs.parquet
  cento overlap crawl.cento --servers
  cento overlap crawl.cento --replication --figures figures/
  cento overlap crawl.cento --servers domain --json | jq -r 'select(.server_share > 0.9) | .server'")]
pub(crate) struct OverlapArguments {
    #[command(flatten)]
    corpus: CorpusArguments,
    /// Compare servers instead of pages: by host, or by registered domain
    #[arg(long, value_name = "BY", num_args = 0..=1, require_equals = true, default_missing_value = "host")]
    servers: Option<ServerKind>,
    /// Unit of text: paragraph, lines:N (wrapped at 80 columns), sentences:N, words:N or document
    /// [default: that of the corpus]
    #[arg(long, value_name = "KIND")]
    chunk: Option<ChunkKind>,
    /// Minimum number of shared chunks or fingerprints [default: about 500 words, see below]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    min_shared: Option<u32>,
    /// Ignore what is on more pages than this; 0 ignores nothing [default: 1,000; more in a small
    /// corpus]
    ///
    /// A chunk on p pages, or servers with --servers, makes p²/2 pairs.
    #[arg(long, value_name = "N")]
    max_pages: Option<u32>,
    /// Report how often pages are replicated, and what a crawl without replicas would save: by
    /// identical text, by 15 shared chunks of four lines, and by 25 shared chunks of two lines
    #[arg(long, conflicts_with_all = ["servers", "chunk", "min_shared", "max_pages"])]
    replication: bool,
    #[command(flatten)]
    top: TopArguments,
    /// Write figures to this folder, as SVG and CSV
    #[arg(
        long,
        value_name = "FOLDER",
        requires = "replication",
        conflicts_with_all = ["servers", "chunk", "min_shared", "max_pages"],
        help_heading = "Output"
    )]
    figures: Option<PathBuf>,
    #[command(flatten)]
    figure_format: FigureArguments,
    #[command(flatten)]
    analysis: AnalysisArguments,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ServerKind {
    Host,
    Domain,
}

impl OverlapArguments {
    /// Resolves the parameters; the defaults depend on the corpus.
    fn resolve(&self, source: &CorpusPages) -> OverlapParams {
        let stored = source.corpora().first();
        let stored = stored.map(|corpus| corpus.parameters().chunk);
        let chunk = self.chunk.or(stored).unwrap_or_default();
        OverlapParams {
            unit: match self.servers {
                None => Unit::Pages,
                Some(ServerKind::Host) => Unit::Host,
                Some(ServerKind::Domain) => Unit::Domain,
            },
            threshold: self.min_shared.unwrap_or_else(|| usual_threshold(chunk)),
            max_pages: self.max_pages,
            ..OverlapParams::new(chunk)
        }
    }
}

pub(crate) fn run(arguments: &OverlapArguments) -> Result<ExitCode, CommandError> {
    let corpus = arguments.corpus.open(&arguments.analysis)?;
    let source = Arc::clone(&corpus.source);
    if arguments.replication {
        return run_replication(arguments, &corpus);
    }
    let params = arguments.resolve(&source);
    let (analysis, table): (&dyn Analysis, _) = match params.unit {
        Unit::Pages => (&Pages, PAIRS.as_str()),
        Unit::Host | Unit::Domain => (&Servers, SERVERS.as_str()),
    };
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        analysis.run(&source, &json!(params), workplace)
    })?;
    if !arguments.analysis.export(&findings.table(table))? {
        print(&text(
            arguments,
            &corpus,
            &params,
            &findings,
            &findings.table(table),
        )?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn run_replication(
    arguments: &OverlapArguments,
    corpus: &OpenedCorpus,
) -> Result<ExitCode, CommandError> {
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        Replication.run(&corpus.source, &Value::Null, workplace)
    })?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write(folder, &Replication.figures(&findings)?)?;
    }
    if !arguments
        .analysis
        .export(&findings.table(REPLICAS.as_str()))?
    {
        print(&replication_text(corpus, &findings, arguments.top.rows())?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Renders the summary.
fn text(
    arguments: &OverlapArguments,
    corpus: &OpenedCorpus,
    params: &OverlapParams,
    findings: &Findings,
    table: &Path,
) -> Result<String, CommandError> {
    let summary: OverlapSummary = findings.summary()?;
    let (one, many) = match params.unit {
        Unit::Pages => ("page", "pages"),
        Unit::Host => ("host", "hosts"),
        Unit::Domain => ("domain", "domains"),
    };
    let mut lines = Lines::default();
    lines.add("pages", number(summary.pages));
    if params.unit == Unit::Pages {
        lines.add_with(
            "duplicates",
            number(summary.copies),
            "identical text, counted as one page",
        );
    } else {
        lines.add(many, number(summary.servers));
        if summary.without_server > 0 {
            let remark = format!("ignored: they have no {one}");
            lines.add_with("pages", number(summary.without_server), remark);
        }
    }
    lines.add_with("chunks", number(summary.chunks), params.chunk.to_string());
    let shared = format!("shared by several {many}");
    lines.add_with("", number(summary.shared_chunks), shared);
    if summary.common > 0 {
        let remark = format!(
            "ignored: on more than {} {many}, see the table {}",
            number(summary.max_pages),
            COMMON.as_str()
        );
        lines.add_with("", number(summary.common), remark);
    }
    let remark = format!("share at least {}", chunks(params.threshold));
    lines.add_with(format!("pairs of {many}"), number(summary.pairs), remark);
    corpus.add_findings(&mut lines, findings);
    let mut text = format!("{}\n{}", clean(&corpus.name), lines.render());
    for sentence in ignored(&summary, params, one, many) {
        text.push_str(&format!("\n  {sentence}"));
    }
    if summary.common > 0 {
        text.push('\n');
    }
    if summary.pairs == 0 {
        text.push_str(&why_none(&summary, params, one, many));
    } else {
        text.push_str(&strongest(table, arguments.top.rows(), one)?);
        let more = summary.pairs.saturating_sub(arguments.top.rows() as u64);
        if more > 0 {
            text.push_str(&format!("  and {} more\n", number(more)));
        }
    }
    Ok(text)
}

fn chunks(count: u32) -> String {
    match count {
        1 => "1 chunk".to_owned(),
        _ => format!("{} chunks", number(u64::from(count))),
    }
}

/// Explains an empty result.
fn why_none(summary: &OverlapSummary, params: &OverlapParams, one: &str, many: &str) -> String {
    let units = if params.unit == Unit::Pages {
        summary.pages.saturating_sub(summary.copies)
    } else {
        summary.servers
    };
    // Pages with the same text count as one.
    let is_copied = params.unit == Unit::Pages && summary.copies > 0;
    let many = match is_copied {
        true => "pages with different texts",
        false => many,
    };
    let why = match &summary.largest {
        Some(largest) => format!(
            "No two {many} share {}. The largest overlap is {}: {} and {}",
            chunks(params.threshold),
            chunks(largest.chunks),
            clean(&largest.page),
            clean(&largest.of)
        ),
        None if units == 0 => format!("No {one} has text."),
        None if units == 1 && is_copied => "All pages have the same text.".to_owned(),
        None if units == 1 => format!("There is only one {one}."),
        None if summary.common > 0 => {
            format!("No two {many} share a chunk, apart from ignored ones.")
        }
        None => format!("No two {many} share a chunk."),
    };
    format!("\n{why}\n")
}

/// Renders the first rows of the table, with a line for each side because URLs are long.
fn strongest(table: &Path, top: usize, one: &str) -> Result<String, CommandError> {
    let (name, share) = if one == "page" {
        ("page", "page_share")
    } else {
        ("server", "server_share")
    };
    let mut text = format!("\n  {:>8}  {:>9}  {one}\n", "share", "chunks");
    let mut shown = 0;
    for batch in read_table(table)? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            if shown == top {
                return Ok(text);
            }
            shown += 1;
            let values: Map<String, Value> = row_values(&batch, row)
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
            let word = |column: &str| values.get(column).and_then(Value::as_str).unwrap_or("");
            let whole = |column: &str| values.get(column).and_then(Value::as_u64).unwrap_or(0);
            let ratio = |column: &str| values.get(column).and_then(Value::as_f64).unwrap_or(0.0);
            let total = format!("{name}_chunks");
            for (column, share, total) in [
                (name, share, total.as_str()),
                ("of", "of_share", "of_chunks"),
            ] {
                let percent = percent(ratio(share));
                let total = number(whole(total));
                text.push_str(&format!(
                    "  {percent:>8}  {total:>9}  {}\n",
                    clean(word(column))
                ));
            }
            text.push_str(&format!(
                "  {:>8}  {:>9}  shared\n",
                "",
                number(whole("chunks"))
            ));
        }
    }
    Ok(text)
}
