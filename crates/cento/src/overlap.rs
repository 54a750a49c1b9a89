//! `cento overlap`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use cento_find::overlap::{
    COMMON, PAIRS, Params, REPLICAS, SERVERS, Summary, Unit, usual_threshold,
};
use cento_find::{CorpusPages, Findings, read_table, row_values};
use cento_scan::Analysis;
use cento_scan::analyses::overlap::{Pages, Servers, ignored};
use cento_scan::analyses::replication::Replication;
use cento_text::chunk::ChunkKind;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use crate::analysis::{AnalysisArguments, FigureArguments, open_source};
use crate::failure::Failure;
use crate::output::{Lines, clean, number, print};
use crate::replication::text as replication_text;

/// Find pages or servers that share chunks
///
/// Finds every pair of pages that has at least so many chunks in common, and says how much of each
/// is in the other (Shivakumar & Garcia-Molina 1998). A page is the set of its chunks; pages with
/// the same text count as one, the earliest by date. With --servers, every pair of servers, each of
/// them the union of its pages: of a mirror nearly all is in the other. The result is exact,
/// whatever the memory; chunks that are ignored because they are on too many pages (--max-pages)
/// are counted and reported.
#[derive(Debug, Args)]
#[command(after_help = "\
Chunks are cut from the text anew; a corpus without text has those it was indexed with. Lines are
those that a reader sees: longer ones are wrapped at 80 columns, between words. Chunks of lines,
sentences or words do not overlap. The usual threshold is what makes some 500 words: 15 of
lines:4 and 25 of lines:2 as in the paper, 5 of paragraph, 25 of sentences:1, 500/N of words:N.

Tables in CORPUS/findings/overlap/RUN, strongest pair first (--out and --json give the first one):
  pairs     page_id, page, of_id, of, chunks (shared), page_chunks, of_chunks, page_share (shared
            chunks of all of the page), of_share, page_copies, of_copies (pages of the same text);
            of is the earlier by date, or the one of the lower id if dates do not tell
  common    chunk_hash, pages, page_id, page, text: chunks on more than --max-pages pages. They
            count neither as shared nor among the chunks of a page
and in CORPUS/findings/overlap-servers/RUN:
  servers   server, of, chunks, server_chunks, of_chunks, server_share, of_share, server_pages,
            of_pages; server is the one of which more is in the other
and in CORPUS/findings/replication/RUN:
  replicas  notion (exact, lines:4, lines:2), from, to, pages, share: pages with so many replicas
  savings   notion, pages, saved_pages, share, bytes, saved_bytes, share_of_bytes: what a crawl saves
            that visits earlier pages first and skips replicas of visited ones
  collections  servers, pages, replicas, collection (its folder on the server that has most of
            it), page: what the same servers hold together
All chunks count for --replication, however many pages have them; it holds 32 bytes for each page
in memory.

Examples:
  cento overlap crawl.cento
  cento overlap crawl.cento --chunk lines:4 --threshold 15 --out pairs.parquet
  cento overlap crawl.cento --servers
  cento overlap crawl.cento --replication --figures figures/
  cento overlap crawl.cento --servers domain --json | jq -r 'select(.server_share > 0.9) | .server'")]
pub(crate) struct OverlapArguments {
    /// The corpus
    #[arg(value_name = "CORPUS")]
    corpus: PathBuf,
    /// Compare servers instead of pages: by host, or by registered domain
    #[arg(long, value_name = "BY", num_args = 0..=1, require_equals = true, default_missing_value = "host")]
    servers: Option<ServerKind>,
    /// What a chunk is: paragraph, lines:N, sentences:N, words:N or document [default: as the
    /// corpus was indexed]
    #[arg(long, value_name = "KIND")]
    chunk: Option<ChunkKind>,
    /// How many chunks a pair must share at least [default: as many as make some 500 words, see
    /// below]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..))]
    threshold: Option<u32>,
    /// Ignore chunks that are on more pages, or servers, than this: a chunk on p of them makes p²/2
    /// pairs. 0 ignores none [default: 1,000; more in a small corpus, where nothing need be
    /// ignored]
    #[arg(long, value_name = "N")]
    max_pages: Option<u32>,
    /// Report how often pages are replicated and what a crawl without replicas would save: by the
    /// same text, by 15 chunks of four lines, by 25 of two
    #[arg(long, conflicts_with_all = ["servers", "chunk", "threshold", "max_pages"])]
    replication: bool,
    /// How many pairs to show
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        conflicts_with = "json",
        help_heading = "Output"
    )]
    top: usize,
    /// Draw the replication as figures: SVG, and CSV with the numbers
    #[arg(
        long,
        value_name = "FOLDER",
        requires = "replication",
        conflicts_with_all = ["servers", "chunk", "threshold", "max_pages"],
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
    fn params(&self, source: &CorpusPages) -> Params {
        let stored = source.corpora().first();
        let stored = stored.map(|corpus| corpus.parameters().chunk);
        let chunk = self.chunk.or(stored).unwrap_or_default();
        Params {
            unit: match self.servers {
                None => Unit::Pages,
                Some(ServerKind::Host) => Unit::Host,
                Some(ServerKind::Domain) => Unit::Domain,
            },
            threshold: self.threshold.unwrap_or_else(|| usual_threshold(chunk)),
            max_pages: self.max_pages,
            ..Params::new(chunk)
        }
    }
}

pub(crate) fn run(arguments: &OverlapArguments) -> Result<ExitCode, Failure> {
    let source = Arc::new(open_source(
        &[&arguments.corpus],
        arguments.analysis.partial,
    )?);
    if arguments.replication {
        return run_replication(arguments, &source);
    }
    let params = arguments.params(&source);
    let (analysis, table): (&dyn Analysis, _) = match params.unit {
        Unit::Pages => (&Pages, PAIRS),
        Unit::Host | Unit::Domain => (&Servers, SERVERS),
    };
    let findings = arguments.analysis.run(&arguments.corpus, |workplace| {
        analysis.run(&source, &json!(params), workplace)
    })?;
    if !arguments.analysis.give(&findings.table(table))? {
        print(&text(
            arguments,
            &params,
            &findings,
            &findings.table(table),
        )?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn run_replication(
    arguments: &OverlapArguments,
    source: &Arc<CorpusPages>,
) -> Result<ExitCode, Failure> {
    let findings = arguments.analysis.run(&arguments.corpus, |workplace| {
        Replication.run(source, &Value::Null, workplace)
    })?;
    if let Some(folder) = &arguments.figures {
        arguments
            .figure_format
            .write(folder, &Replication.figures(&findings)?)?;
    }
    if !arguments.analysis.give(&findings.table(REPLICAS))? {
        print(&replication_text(
            &arguments.corpus,
            &findings,
            arguments.top,
        )?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What people read.
fn text(
    arguments: &OverlapArguments,
    params: &Params,
    findings: &Findings,
    table: &Path,
) -> Result<String, Failure> {
    let summary: Summary = findings.summary()?;
    let (one, many) = match params.unit {
        Unit::Pages => ("page", "pages"),
        Unit::Host => ("host", "hosts"),
        Unit::Domain => ("domain", "domains"),
    };
    let mut lines = Lines::default();
    lines.add("pages", number(summary.pages));
    if params.unit == Unit::Pages {
        lines.add_with(
            "copies",
            number(summary.copies),
            "with the text of another page, counted as one with the earliest",
        );
    } else {
        lines.add(many, number(summary.servers));
        if summary.without_server > 0 {
            let remark = format!("without a {one}, ignored");
            lines.add_with("pages", number(summary.without_server), remark);
        }
    }
    lines.add_with("chunks", number(summary.chunks), params.chunk.to_string());
    let several = format!("on several {many}");
    lines.add_with("", number(summary.shared_chunks), several);
    if summary.common > 0 {
        let remark = format!(
            "on more than {} {many}, ignored: see the table {COMMON}",
            number(summary.max_pages)
        );
        lines.add_with("", number(summary.common), remark);
    }
    let remark = format!("share at least {}", chunks(params.threshold));
    lines.add_with(format!("pairs of {many}"), number(summary.pairs), remark);
    lines.add_with("findings", "", clean(&findings.path.display().to_string()));
    let mut text = format!(
        "{}\n{}",
        clean(&arguments.corpus.display().to_string()),
        lines.render()
    );
    for sentence in ignored(&summary, params, one, many) {
        text.push_str(&format!("\n  {sentence}"));
    }
    if summary.common > 0 {
        text.push('\n');
    }
    if summary.pairs == 0 {
        text.push_str(&why_none(&summary, params, one, many));
    } else {
        text.push_str(&strongest(table, arguments.top, one)?);
        let more = summary.pairs.saturating_sub(arguments.top as u64);
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

/// An empty result says why it is empty.
fn why_none(summary: &Summary, params: &Params, one: &str, many: &str) -> String {
    let units = if params.unit == Unit::Pages {
        summary.pages.saturating_sub(summary.copies)
    } else {
        summary.servers
    };
    let why = match &summary.largest {
        Some(largest) => format!(
            "no pair shares {}; the most that any two share is {}: {} and {}",
            chunks(params.threshold),
            chunks(largest.chunks),
            clean(&largest.page),
            clean(&largest.of)
        ),
        None if units == 0 => format!("there is no {one} with text"),
        None if units == 1 => format!("there is only one {one}, and it takes two to overlap"),
        None if summary.common > 0 => format!("no two {many} share a chunk that is not ignored"),
        None => format!("no two {many} share a chunk"),
    };
    format!("\n{why}\n")
}

/// The first rows of the table. A pair takes two lines, for addresses are long.
fn strongest(table: &Path, top: usize, one: &str) -> Result<String, Failure> {
    let (name, share) = if one == "page" {
        ("page", "page_share")
    } else {
        ("server", "server_share")
    };
    let mut text = format!("\n  {:>7}  {:>9}  of {one}\n", "share", "of chunks");
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
                let percent = format!("{:.1} %", 100.0 * ratio(share));
                let total = number(whole(total));
                text.push_str(&format!(
                    "  {percent:>7}  {total:>9}  {}\n",
                    clean(word(column))
                ));
            }
            text.push_str(&format!(
                "  {:>7}  {:>9}  shared\n",
                "",
                number(whole("chunks"))
            ));
        }
    }
    Ok(text)
}
