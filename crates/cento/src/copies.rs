//! `cento copies`.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use arrow_array::RecordBatch;
use cento_file::{Output, is_standard_output};
use cento_find::copies::{
    CopiesParams, CopiesScheme, CopiesSummary, Keep, filter, write_skip_list,
};
use cento_find::{CorpusPages, Findings, read_table, row_values};
use cento_read::Rewritten;
use cento_scan::Analysis;
use cento_scan::analyses::copies::{Copies, classes, mirrors};
use cento_store::Parameters;
use cento_text::chunk::ChunkKind;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::analysis::{
    AnalysisArguments, cannot_write, check_no_input, check_writable, open_source,
};
use crate::failure::Failure;
use crate::originals::{OriginalArguments, Originals};
use crate::output::{Lines, Shown, clean, number, print, say, size, strongest};
use crate::words::{is_corpus, refuse, refuse_all};

/// Classes and mirrors that are shown.
const TOP: usize = 5;

/// Find copies and near-copies of pages, and which to keep
///
/// Exact copies are pages with the same payload or the same text. Near-copies are pages whose sets
/// of word k-grams resemble each other: what they share of what either has is at least
/// --resemblance. In the order of --keep, a page is removed if a kept page resembles it, and kept
/// otherwise. Candidates are found by sketches, and each is verified by its grams, so no page is
/// removed by chance; at the default of 0.8 a pair of just that resemblance is missed with a
/// probability of 0.2 %, and one of 0.85 of less than 0.01 %. Pages are those with text; revisits
/// and rejected pages are counted separately.
#[derive(Debug, Args)]
#[command(after_help = "\
Findings are tables in CORPUS/findings/copies: pairs (each removed page and the page that is kept
in its place), near_pairs (every verified pair of near-copies), classes, mirrors (hosts), prefixes.
In pairs:

  kind      how the two are alike: bytes (same payload), revisit (a record that refers to it),
            text, near
  repeats   the strongest way in which the page repeats any page before it
  cause     recapture (same URL), url-alias (same host), server-alias (two names of one server),
            replica
  earlier   page, of, same or unknown: by publication date, else by fetch date
  rejected  why the page has no text: revisits and rejected pages that repeat a payload

Inputs that are no corpus are read for this command alone. What it finds in them is kept by --out,
--filter, --emit, --skip-list or --findings, and else only shown.

Examples:
  cento copies crawl.cento
  cento copies pages.jsonl --filter -o unique/
  cento copies crawl.cento --resemblance 0.9 --keep longest --out pairs.csv
  cento copies new.cento --against old.cento
  cento copies crawl.cento --emit keep > urls.txt
  cento copies crawl.cento --filter -o crawl-unique/
  cento copies crawl.cento --skip-list skip.tsv")]
pub(crate) struct CopiesArguments {
    /// The corpus; or anything that `cento index` reads
    #[arg(value_name = "CORPUS", required = true)]
    pub(crate) inputs: Vec<String>,
    /// Find the pages of CORPUS that are copies of pages of this corpus, and no others
    #[arg(long, value_name = "CORPUS2")]
    pub(crate) against: Option<PathBuf>,
    /// The least resemblance of near-copies, 0.1 to 1; with 1 only exact copies are found
    #[arg(long, value_name = "R", default_value_t = 0.8)]
    pub(crate) resemblance: f64,
    /// Words of a gram
    #[arg(short, long, value_name = "K", default_value_t = 5)]
    pub(crate) k: u32,
    /// How near-copies are found: resemblance, or megashingle, the rule of Fetterly et al. 2005
    /// (two of six bands of 14 minima agree; not verified; transitive)
    #[arg(long, value_name = "SCHEME", default_value_t = CopiesScheme::Resemblance)]
    pub(crate) scheme: CopiesScheme,
    /// Which page of several is kept: earliest (by publication date, else fetch date; undated pages
    /// last; then a URL without tracking parameters; then the order of the corpus), first (in the
    /// order of the corpus), longest or shortest-url
    #[arg(long, value_name = "WHICH", default_value_t = Keep::Earliest)]
    pub(crate) keep: Keep,
    /// Print the addresses of the pages that are kept or dropped, or of all with what becomes of
    /// each
    #[arg(
        long,
        value_name = "WHAT",
        conflicts_with = "json",
        help_heading = "Output"
    )]
    pub(crate) emit: Option<Emit>,
    /// Write the inputs of the corpus again without the dropped pages, into the folder of --output:
    /// JSON Lines, Parquet, archives (a copy of the same bytes becomes a revisit record in WARC)
    /// and single files. Without INPUT, all inputs
    #[arg(long, value_name = "INPUT", num_args = 0.., requires = "output", help_heading = "Output")]
    pub(crate) filter: Option<Vec<String>>,
    /// The folder for --filter. It must hold no inputs and lie in none; a file that is there
    /// already is not replaced
    #[arg(
        short,
        long,
        value_name = "FOLDER",
        requires = "filter",
        help_heading = "Output"
    )]
    pub(crate) output: Option<PathBuf>,
    /// With --filter: replace what is in the folder already
    #[arg(long, requires = "filter", help_heading = "Output")]
    pub(crate) overwrite: bool,
    /// Write what a crawler should skip: prefixes under which at least 90 % of the pages are copies
    /// of the page at the same path under another prefix, the exceptions that it should fetch all
    /// the same, and single addresses. A page of every class is fetched
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) skip_list: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: OriginalArguments,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

/// Which pages are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// Those that are kept
    Keep,
    /// Those that are dropped
    Drop,
    /// All, with what becomes of each
    All,
}

pub(crate) fn run(arguments: &CopiesArguments) -> Result<ExitCode, Failure> {
    let params = CopiesParams {
        resemblance: arguments.resemblance,
        k: arguments.k,
        scheme: arguments.scheme,
        keep: arguments.keep,
        against: arguments.against.is_some(),
    };
    params.check()?;
    check_options(arguments)?;
    // Found out before the work, not after it.
    if let Some(output) = &arguments.output {
        check_folder(&arguments.inputs, output)?;
        if let Some(named) = &arguments.filter {
            check_folder(named, output)?;
        }
    }
    // Kept until the end: a corpus that was made for this command goes with it.
    let read = match arguments.inputs.as_slice() {
        [only] if is_corpus(only) => None,
        inputs => Some(read_inputs(arguments, inputs)?),
    };
    let corpus = match (
        read.as_ref().and_then(Originals::made),
        &arguments.inputs[..],
    ) {
        (Some(made), _) => made.to_owned(),
        (None, inputs) => PathBuf::from(inputs.first().map_or("", String::as_str)),
    };
    // What others are compared with comes first, and is kept.
    let paths: Vec<&Path> = arguments
        .against
        .iter()
        .chain([&corpus])
        .map(PathBuf::as_path)
        .collect();
    let source = Arc::new(open_source(&paths, arguments.analysis.partial)?);
    if let Some(list) = &arguments.skip_list {
        check_writable(list)?;
        check_no_input(list, &source)?;
    }
    let findings = arguments.analysis.run(&corpus, |workplace| {
        Copies.run(&source, &json!(params), workplace)
    })?;
    if let Some(path) = &arguments.skip_list {
        let failed = |error: std::io::Error| cannot_write(path, &error);
        let mut file = BufWriter::new(Output::create(path).map_err(failed)?);
        let (prefixes, urls) = write_skip_list(&findings, &source, &mut file)?;
        let file = file
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        file.finish().map_err(failed)?;
        say(&format!(
            "{}: {} prefixes and {} single addresses to skip",
            clean(&path.display().to_string()),
            number(prefixes),
            number(urls)
        ));
    }
    if let (Some(inputs), Some(output)) = (&arguments.filter, &arguments.output) {
        write_filtered(arguments, &source, &findings, inputs, output)?;
    }
    let printed = arguments.analysis.give(&findings.table("pairs"))?;
    match arguments.emit {
        Some(emit) => list(&source, &findings, emit)?,
        None if printed => {}
        // The list is there already.
        None if arguments
            .skip_list
            .as_deref()
            .is_some_and(is_standard_output) => {}
        None => {
            let kept = read.is_none() || arguments.analysis.findings.is_some();
            print(&summary(arguments, &findings, kept)?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails if an option was typed that has no effect beside the others.
fn check_options(arguments: &CopiesArguments) -> Result<(), Failure> {
    if arguments.scheme == CopiesScheme::Megashingle {
        let because = "megashingles of the paper's scheme agree or not, whatever the resemblance";
        refuse(&["resemblance"], because)?;
    } else if arguments.resemblance >= 1.0 {
        let because = "with --resemblance 1 only exact copies are found, and no grams are made";
        refuse(&["k", "scheme"], because)?;
    }
    match arguments.inputs.as_slice() {
        [only] if is_corpus(only) => {
            let because = "the corpus says how its inputs were read";
            refuse_all::<OriginalArguments>(because)?;
        }
        _ if arguments.analysis.findings.is_none() => {
            let because = "what is found in inputs is kept only where --findings says";
            refuse(&["again"], because)?;
        }
        _ => {}
    }
    Ok(())
}

/// Fails if the folder of outputs lies in a folder of inputs: the next run would read them.
fn check_folder(inputs: &[String], output: &Path) -> Result<(), Failure> {
    // The folder need not be there: then what is above it tells.
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

/// Makes a corpus for this command alone. Nobody asks it for chunks, so a page is one.
fn read_inputs(arguments: &CopiesArguments, inputs: &[String]) -> Result<Originals, Failure> {
    if let Some(corpus) = inputs.iter().find(|input| is_corpus(input)) {
        return Err(Failure::usage(
            format!("{corpus} is a corpus, and there are other inputs beside it"),
            "name one corpus, with --against for a second one, or inputs alone",
        ));
    }
    let parameters = Parameters {
        chunk: ChunkKind::Document,
        ..Parameters::default()
    };
    Originals::open(
        inputs,
        &arguments.reading,
        &parameters,
        arguments.analysis.temp.as_deref(),
        &arguments.analysis.machine,
    )
}

/// Writes inputs without the pages that go, and tells of each.
fn write_filtered(
    arguments: &CopiesArguments,
    source: &CorpusPages,
    findings: &Findings,
    inputs: &[String],
    output: &Path,
) -> Result<(), Failure> {
    let Some(corpus) = source.corpora().last() else {
        return Ok(());
    };
    let (mut files, mut total) = (0, Rewritten::default());
    let overwrite = arguments.overwrite;
    filter(corpus, findings, inputs, output, overwrite, |filtered| {
        files += 1;
        total.dropped += filtered.rewritten.dropped;
        total.revisits += filtered.rewritten.revisits;
        total.lost += filtered.rewritten.lost;
        Ok(())
    })?;
    let mut line = format!(
        "{}: {} inputs without {} records",
        output.display(),
        number(files),
        number(total.dropped)
    );
    if total.revisits > 0 {
        line.push_str(&format!(", {} revisit records", number(total.revisits)));
    }
    if total.lost > 0 {
        line.push_str(&format!(
            ", {} damaged records not copied",
            number(total.lost)
        ));
    }
    say(&clean(&line));
    Ok(())
}

/// Prints the addresses of pages, in the order of the corpus.
fn list(source: &CorpusPages, findings: &Findings, emit: Emit) -> Result<(), Failure> {
    let mut dropped = Rows::open(findings)?;
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
                print(&lines)?;
                lines.clear();
            }
            Ok::<_, Failure>(())
        })?;
    }
    print(&lines)?;
    Ok(())
}

/// The rows of the table of pairs, which are in the order of page ids.
struct Rows<I> {
    batches: I,
    batch: Option<RecordBatch>,
    row: usize,
}

impl Rows<()> {
    fn open(
        findings: &Findings,
    ) -> Result<Rows<impl Iterator<Item = cento_find::Result<RecordBatch>>>, Failure> {
        Ok(Rows {
            batches: read_table(&findings.table("pairs"))?,
            batch: None,
            row: 0,
        })
    }
}

impl<I: Iterator<Item = cento_find::Result<RecordBatch>>> Rows<I> {
    /// How and for whom a page is dropped, if it is. Ids must ascend.
    fn take(&mut self, page_id: u64) -> Result<Option<(String, String)>, Failure> {
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
) -> Result<String, Failure> {
    let counted: CopiesSummary = findings.summary()?;
    let removed = counted.removed();
    let mut text = format!(
        "{} of {} pages with text are copies{}\n",
        number(removed),
        number(counted.pages),
        match &arguments.against {
            Some(other) => format!(" of pages in {}", clean(&other.display().to_string())),
            None => String::new(),
        }
    );
    let mut lines = Lines::default();
    lines.add_with(
        "same bytes",
        number(counted.bytes),
        "as an earlier page in the order of --keep",
    );
    lines.add_with("same text", number(counted.text), "in other bytes");
    if counted.without_text {
        lines.add_with("near-copies", "–", "the corpus keeps no text to compare");
    } else if arguments.scheme == CopiesScheme::Megashingle {
        lines.add_with(
            "near-copies",
            number(counted.near),
            "by megashingles, not verified",
        );
    } else if arguments.resemblance < 1.0 {
        lines.add_with(
            "near-copies",
            number(counted.near),
            format!(
                "resemblance of {}-grams at least {}; candidates compared: {}",
                arguments.k,
                arguments.resemblance,
                number(counted.candidates)
            ),
        );
    }
    lines.add_with("bytes saved", size(counted.saved_bytes), "");
    text.push_str(&lines.render());
    if removed > 0 {
        let mut lines = Lines::default();
        lines.add_with("recaptures", number(counted.recapture), "same URL");
        lines.add_with("url aliases", number(counted.url_alias), "same host");
        lines.add_with(
            "server aliases",
            number(counted.server_alias),
            "two names of one server",
        );
        lines.add_with("replicas", number(counted.replica), "elsewhere");
        text.push_str("why there are two:\n");
        text.push_str(&lines.render());
        text.push_str(&largest(findings)?);
    }
    if counted.repeated_records > 0 {
        text.push_str(&format!(
            "{} of {} records without text repeat the payload of another page or record; {} of these are revisits\n",
            number(counted.repeated_records),
            number(counted.records),
            number(counted.repeated_revisits)
        ));
    }
    if counted.pages_crowded > 0 {
        text.push_str(&format!(
            "{} kept pages resemble so many others that they were compared with the most similar ones only\n",
            number(counted.pages_crowded)
        ));
    }
    if kept {
        let place = findings.path.display().to_string();
        let before = if findings.known { "found before, " } else { "" };
        text.push_str(&format!("{before}in {}\n", clean(&place)));
    } else if arguments.filter.is_none()
        && arguments.skip_list.is_none()
        && arguments.analysis.out.is_none()
    {
        text.push_str("Nothing of this is kept: --out and --filter write it, `cento index` makes a corpus that keeps it.\n");
    }
    if findings.known {
        text.push_str("--again computes it anew\n");
    }
    Ok(text)
}

/// The largest classes and mirrors.
fn largest(findings: &Findings) -> Result<String, Failure> {
    let classes = classes(findings, TOP)?;
    let mirrors = mirrors(findings, TOP)?;
    Ok([classes, mirrors]
        .iter()
        .map(|table| strongest(table, &Shown::default()))
        .collect())
}
