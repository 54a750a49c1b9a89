//! `cento passages`.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use crate::copies::inputs_written;
use cento_align::{Aligner, Document, Fold, PassageKind};
use cento_figure::csv_cell;
use cento_file::Output;
use cento_find::copies::WrittenInputs;
use cento_find::passages::{
    CLUSTERS_TABLE, ClusterRow, ClustersSummary, Cuts, FoldChoice, ListedPair, PASSAGES_TABLE,
    PairChoice, PassageRow, PassagesParams, PassagesSummary, clusters, run as find_passages,
};
use cento_find::precedence::shown_day;
use cento_find::{CorpusPages, Findings, PageOrigins};
use cento_read::{Format, Settings};
use cento_report::format::{counted, percent};
use cento_scan::Analysis;
use cento_scan::analyses::passages::{Passages, direction, passage_texts, spread};
use cento_scan::select::first;
use clap::{Args, ValueEnum};

use crate::analysis::AnalysisArguments;
use crate::command_error::CommandError;
use crate::command_line::{refuse, refuse_all};
use crate::copies::check_folder;
use crate::corpora::is_corpus;
use crate::corpus_input::{CorpusArguments, OpenedCorpus};
use crate::figures::FigureArguments;
use crate::originals::OriginalArguments;
use crate::output::{
    Lines, clean, number, print, print_data, say, shortened, shortened_end, table,
};
use crate::passage_files::ComparedFile;
use crate::passage_view::{Look, ShownPassage, TEI_END, csv_heading, tei_begin};
use crate::terminal::wrapped;
use crate::top::TopArguments;

/// Show exactly which words texts share
///
/// With two files, shows the passages that both have, side by side, with differing words marked.
/// With a corpus, finds the passages of all pairs of pages that share text, which of the two pages
/// is earlier by date, and whether the later one links to it. Passages may be verbatim, edited
/// (words replaced, inserted, deleted or reordered) or scattered (A is a summary of B). A is the
/// later text.
#[derive(Debug, Args)]
#[command(mut_arg("top", |top| top.conflicts_with_all(["json", "print"])))]
#[command(after_help = "\
Offsets begin at 0, and ends are exclusive. In a plain text file in UTF-8 they are those of the
file, with its byte order mark and line ends; in HTML, compressed files and other encodings, those
of the visible or decoded text. In a corpus they are those of the stored text, see `cento cat`.

--json prints one object per passage: a, b, a_begin, a_end, b_begin, b_end (bytes), a_begin_char,
a_end_char, b_begin_char, b_end_char (Unicode characters), words (in a), b_words (in b), identical
(2 × words that both have / words of both), a_in_b (share of the words of a that b has), b_in_a,
kind (verbatim, edited, scattered).

Tables in CORPUS/findings/passages/RUN, strongest passage first (--out and --json export passages):
  passages  a_id, a, b_id, b, the columns above, earlier (b, same, or unknown if dates do not
            decide), a_date, a_dated_by (published or fetched), b_date, b_dated_by, attributed (a
            links to b or its domain; null on one domain, and if a has no links, as plain text has
            none)
  frequent  the same for pairs that share only text on more than --max-pages pages, see there
and in CORPUS/findings/passage-clusters/RUN with --clusters, most pages first:
  clusters  cluster, pages, sites, words, identical, first_id, first, first_begin, first_end,
            first_date, first_dated_by, first_decided (it is published or fetched before all
            others), last_date, last_dated_by, text
  appearances  cluster, page_id, page, site, begin, end, date, dated_by
Pages with identical text count as one page, the earliest by date.

Examples:
  cento passages essay.txt source.html
  cento passages essay.txt source.txt --json
  cento passages scan.txt edition.txt --fold ocr
  cento passages crawl.cento --out passages.csv
  cento passages crawl.cento --of https://example.org/article
  cento overlap crawl.cento --out pairs.csv && cento passages crawl.cento --pairs pairs.csv
  cento passages crawl.cento --clusters --figures figures/
  cento passages pages.jsonl --strip -o pages-stripped/
  cento passages crawl.cento --print tei > passages.xml")]
pub(crate) struct PassagesArguments {
    /// Two text or HTML files; or a corpus; or folders, tables and archives, as `cento index` reads
    #[arg(value_name = "A B|CORPUS", required = true)]
    pub(crate) inputs: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: OriginalArguments,
    /// Compare all pairs of pages that share text; the default for a corpus
    ///
    /// Verbatim passages are found wherever they are, edited and scattered ones around the
    /// fingerprints (runs of five words) that both pages have.
    #[arg(long, conflicts_with_all = ["of", "pairs"])]
    pub(crate) all: bool,
    /// Compare only the page with this URL with the others
    #[arg(long, value_name = "URL", conflicts_with = "pairs")]
    pub(crate) of: Option<String>,
    /// Compare the pairs of URLs in this table (.parquet, .jsonl or .csv), in the columns a and b,
    /// page and of, or page and source
    ///
    /// Their texts are compared as a whole, which takes longer and also finds edited passages
    /// without a shared fingerprint.
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<PathBuf>,
    /// How words are compared: none, or ocr to tolerate confusable letters, words hyphenated at the
    /// end of a line, and words split in two
    #[arg(long, value_name = "HOW", default_value = "none")]
    pub(crate) fold: FoldArgument,
    /// Minimum length of a passage, in characters on each side
    #[arg(long, value_name = "N", default_value_t = 160, value_parser = at_least_one)]
    pub(crate) min_chars: u32,
    /// Ignore what is on more pages than this; 0 ignores nothing
    ///
    /// Most of it is boilerplate: its fingerprints do not make pairs, unless --of or --pairs
    /// chooses them. For --clusters and --strip, the earliest page that has such text is compared
    /// with the others. Paragraphs on more pages than this, five or more of them of the site, with
    /// which a page begins or ends, are never compared.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) max_pages: u32,
    /// List passages that were found on at least three pages, with the page that was published or
    /// fetched first, where dates decide, and their spread over time and sites
    #[arg(long, conflicts_with = "print")]
    pub(crate) clusters: bool,
    /// Write the inputs without the passages that another page keeps to the folder of --output,
    /// with a table cuts.csv of what was cut and why
    ///
    /// Of two pages, the earlier one keeps the text. Where dates do not decide, a dated page keeps
    /// it, not an undated one, else the page that comes first in the corpus. Whole duplicates stay
    /// (see `cento copies --filter`), and what is cut from a page is cut from its duplicates. A
    /// page that consists of such text has an empty text afterwards. JSON Lines and text files keep
    /// their format, HTML files become plain paragraphs, WARC records become conversion records of
    /// plain text, and in Parquet tables the column with the text changes; ARC is refused.
    #[arg(long, requires = "output", conflicts_with_all = ["clusters", "of", "pairs"], help_heading = "Output")]
    pub(crate) strip: bool,
    /// Kinds of passages that --strip cuts: verbatim, edited, scattered
    ///
    /// An edited or scattered passage has words that no other page has; they are cut with it.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "verbatim",
        requires = "strip",
        help_heading = "Output"
    )]
    pub(crate) strip_kinds: Vec<KindArgument>,
    /// Where to write the result
    ///
    /// The folder for --strip. It must not contain inputs or be inside an input folder; existing
    /// files are not replaced.
    #[arg(
        short,
        long,
        value_name = "PATH",
        requires = "strip",
        help_heading = "Output"
    )]
    pub(crate) output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long, requires = "strip", help_heading = "Output")]
    pub(crate) overwrite: bool,
    #[command(flatten)]
    pub(crate) top: TopArguments,
    /// Print all passages in this format: json, csv, or tei (TEI P5, for scholarly editions)
    #[arg(
        long,
        value_name = "FORMAT",
        conflicts_with = "json",
        help_heading = "Output"
    )]
    pub(crate) print: Option<PassageFormat>,
    /// Write figures to this folder, as SVG and CSV
    ///
    /// With --clusters, the spread of the passages over time.
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) figure_format: FigureArguments,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

fn at_least_one(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) => Err("the least is 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("not a whole number from 1 to {}", u32::MAX)),
    }
}

/// How words are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FoldArgument {
    /// By their normal form
    None,
    /// Tolerant of errors of optical character recognition
    Ocr,
}

impl From<FoldArgument> for FoldChoice {
    fn from(fold: FoldArgument) -> FoldChoice {
        match fold {
            FoldArgument::None => FoldChoice::None,
            FoldArgument::Ocr => FoldChoice::Ocr,
        }
    }
}

/// Kinds of passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArgument {
    /// Word for word, with small edits at most
    Verbatim,
    /// Words replaced, inserted, deleted or reordered
    Edited,
    /// A summary
    Scattered,
}

impl From<KindArgument> for PassageKind {
    fn from(kind: KindArgument) -> PassageKind {
        match kind {
            KindArgument::Verbatim => PassageKind::Verbatim,
            KindArgument::Edited => PassageKind::Edited,
            KindArgument::Scattered => PassageKind::Scattered,
        }
    }
}

/// Formats of passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PassageFormat {
    /// JSON Lines
    Json,
    /// CSV
    Csv,
    /// TEI P5
    Tei,
}

impl PassagesArguments {
    fn fold(&self) -> Fold {
        FoldChoice::from(self.fold).into()
    }

    /// Resolves the parameters of an analysis of a corpus, and the listed pairs.
    fn resolve(&self) -> Result<(PassagesParams, Vec<ListedPair>), CommandError> {
        let (pairs, listed) = match (&self.of, &self.pairs) {
            (Some(url), _) => (PairChoice::Of(url.clone()), Vec::new()),
            (None, Some(file)) => {
                let (digest, listed) = crate::pair_list::read(file)?;
                (PairChoice::Listed(digest), listed)
            }
            (None, None) => (PairChoice::All, Vec::new()),
        };
        let max_pages = match self.max_pages {
            0 => u32::MAX,
            1 => {
                return Err(CommandError::usage(
                    "--max-pages 1 ignores all text that two pages share".to_owned(),
                    "use a number from 2 on, or 0 to ignore nothing",
                ));
            }
            pages => pages,
        };
        let params = PassagesParams {
            pairs,
            fold: self.fold.into(),
            min_chars: self.min_chars,
            max_pages,
            ..PassagesParams::default()
        };
        Ok((params, listed))
    }
}

pub(crate) fn run(arguments: &PassagesArguments) -> Result<ExitCode, CommandError> {
    let corpus = CorpusArguments {
        inputs: arguments.inputs.clone(),
        reading: arguments.reading.clone(),
    };
    match arguments.inputs.as_slice() {
        [only] if is_corpus(only) => of_corpus(arguments, &corpus),
        inputs if inputs.iter().any(is_corpus) => Err(CommandError::usage(
            "a corpus cannot be combined with a second input".to_owned(),
            "name two text or HTML files, or one corpus, or other inputs",
        )),
        [only] if !has_many_pages(only)? => Err(CommandError::usage(
            format!("{only} is a single page, and a second file is missing"),
            "name two text or HTML files, a folder, a table, an archive, or a corpus",
        )),
        [a, b] if !has_many_pages(a)? && !has_many_pages(b)? => of_files(arguments, a, b),
        _ => of_corpus(arguments, &corpus),
    }
}

/// Returns whether an input can have several pages: a folder, a list, a table or an archive.
fn has_many_pages(input: &str) -> Result<bool, CommandError> {
    if Path::new(input).is_dir() {
        return Ok(true);
    }
    let found = cento_read::resolve(&[input.to_owned()], &Settings::default())?.inputs;
    Ok(match found.as_slice() {
        [only] => !matches!(only.format, Some(Format::Html | Format::Text) | None),
        _ => true,
    })
}

fn of_files(arguments: &PassagesArguments, a: &str, b: &str) -> Result<ExitCode, CommandError> {
    let because = "two files are compared without a corpus";
    refuse(
        &[
            "all",
            "of",
            "pairs",
            "max_pages",
            "clusters",
            "strip",
            "figures",
            "out",
        ],
        because,
    )?;
    refuse(&["explain", "findings", "again", "partial"], because)?;
    refuse_all::<OriginalArguments>(because)?;
    refuse_all::<crate::machine::ResourceArguments>("two files are compared on one thread")?;
    let (a, b) = (ComparedFile::read(a)?, ComparedFile::read(b)?);
    for note in [&a.note, &b.note].into_iter().flatten() {
        say(&clean(note));
    }
    let mut settings = cento_align::AlignSettings::default();
    settings.minimum_chars = arguments.min_chars as usize;
    let fold = arguments.fold();
    let passages = Aligner::new(settings).align(
        &Document::folded(&a.text, fold),
        &Document::folded(&b.text, fold),
    );
    let shown: Vec<ShownPassage> = passages
        .into_iter()
        .map(|passage| ShownPassage {
            a: a.name.clone(),
            b: b.name.clone(),
            bytes: [
                passage.a.start,
                passage.a.end,
                passage.b.start,
                passage.b.end,
            ],
            chars: [
                passage.a_chars.start,
                passage.a_chars.end,
                passage.b_chars.start,
                passage.b_chars.end,
            ],
            words: [passage.words, passage.b_words],
            identical: passage.identical,
            shares: [passage.a_in_b, passage.b_in_a],
            kind: passage.kind.as_str().to_owned(),
            texts: [a.text[passage.a].to_owned(), b.text[passage.b].to_owned()],
            remark: None,
            dates: [None, None],
        })
        .collect();
    let format = match arguments.analysis.json {
        true => Some(PassageFormat::Json),
        false => arguments.print,
    };
    if let Some(format) = format {
        let title = format!("Passages of {} and {}", a.name, b.name);
        print_all(format, &title, fold, shown.into_iter().map(Ok))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{}: {}\n{}: {}\n",
        clean(&a.name),
        counted(Document::new(&a.text).word_count() as u64, "word", "words"),
        clean(&b.name),
        counted(Document::new(&b.text).word_count() as u64, "word", "words"),
    );
    if shown.is_empty() {
        text.push_str(&none_found(arguments));
    }
    let look = Look::of_output();
    for (at, passage) in shown.iter().take(arguments.top.rows()).enumerate() {
        text.push('\n');
        text.push_str(&passage.side_by_side(at + 1, fold, look));
    }
    text.push_str(&more(shown.len() as u64, arguments.top.rows()));
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Says that nothing was found, and what to try.
fn none_found(arguments: &PassagesArguments) -> String {
    let hint = match arguments.min_chars {
        ..=SHORT_CHARS => "",
        _ => " Use --min-chars to find shorter ones.",
    };
    format!(
        "\nNo passage of at least {} was found.{hint}\n",
        counted(arguments.min_chars.into(), "character", "characters")
    )
}

/// A minimum length that is not worth a hint: fewer words are a phrase.
const SHORT_CHARS: u32 = 40;

/// Says how many passages are not shown.
fn more(all: u64, top: usize) -> String {
    match all.saturating_sub(top as u64) {
        0 => String::new(),
        more => format!("\n  and {} more\n", number(more)),
    }
}

/// Prints passages in a format for programs.
fn print_all(
    format: PassageFormat,
    title: &str,
    fold: Fold,
    passages: impl Iterator<Item = Result<ShownPassage, CommandError>>,
) -> Result<(), CommandError> {
    match format {
        PassageFormat::Json => {}
        PassageFormat::Csv => print_data(&csv_heading())?,
        PassageFormat::Tei => print_data(&tei_begin(title))?,
    }
    for (at, passage) in passages.enumerate() {
        let passage = passage?;
        print_data(&match format {
            PassageFormat::Json => passage.json(),
            PassageFormat::Csv => passage.csv(),
            PassageFormat::Tei => passage.tei(at + 1, fold),
        })?;
    }
    if format == PassageFormat::Tei {
        print_data(TEI_END)?;
    }
    Ok(())
}

fn of_corpus(
    arguments: &PassagesArguments,
    corpus: &CorpusArguments,
) -> Result<ExitCode, CommandError> {
    let (params, listed) = arguments.resolve()?;
    if let Some(output) = &arguments.output {
        check_folder(&corpus.inputs, output)?;
    }
    let corpus = &corpus.open(&arguments.analysis)?;
    let source = Arc::clone(&corpus.source);
    let mut joined = None;
    let findings = arguments.analysis.run(&corpus.path, |workplace| {
        let findings = find_passages(&source, &params, &listed, workplace)?;
        if arguments.clusters {
            let mut found = clusters(&source, &params, &findings, workplace)?;
            found.mark_used(&workplace.request);
            joined = Some(found);
        }
        Ok(findings)
    })?;
    if let Some(folder) = &arguments.figures {
        let drawings = match &joined {
            Some(joined) => vec![spread(joined)?],
            None => Passages.figures(&findings)?,
        };
        arguments.figure_format.write(folder, &drawings)?;
    }
    if let Some(joined) = joined {
        let table = joined.table(CLUSTERS_TABLE.as_str());
        if !arguments.analysis.export(&table)? {
            print(&cluster_text(arguments, corpus, &findings, &joined)?)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let (true, Some(output)) = (arguments.strip, &arguments.output) {
        write_stripped(arguments, corpus, &findings, output)?;
    }
    if arguments
        .analysis
        .export(&findings.table(PASSAGES_TABLE.as_str()))?
    {
        return Ok(ExitCode::SUCCESS);
    }
    match arguments.print {
        Some(format) => {
            let rows = findings.rows(PASSAGES_TABLE)?;
            let with_text = format == PassageFormat::Tei;
            let shown = rows.map(|row| shown(&source, row?, with_text));
            let title = format!("Passages of {}", corpus.name);
            print_all(format, &title, arguments.fold(), shown)?;
        }
        None => print(&corpus_text(arguments, corpus, &source, &findings)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the inputs without reused passages, with a table of what was cut.
fn write_stripped(
    arguments: &PassagesArguments,
    opened: &OpenedCorpus,
    findings: &Findings,
    output: &Path,
) -> Result<(), CommandError> {
    let Some(corpus) = opened.source.corpora().first() else {
        return Ok(());
    };
    let table = output.join("cuts.csv");
    if !arguments.overwrite && table.symlink_metadata().is_ok() {
        return Err(cento_find::Error::Exists(table).into());
    }
    let kinds = arguments.strip_kinds.iter();
    let kinds: Vec<PassageKind> = kinds.map(|&kind| kind.into()).collect();
    let memory = arguments.analysis.resources.machine.memory();
    let mut cuts = Cuts::new(&opened.source, findings, &kinds, memory)?;
    let mut files = WrittenInputs::default();
    cuts.write(corpus, output, arguments.overwrite, |file| {
        files.add(file);
        Ok(())
    })?;
    let temp = opened.temp_folder(&arguments.analysis.resources);
    let origins = PageOrigins::new(&[&opened.source], &temp);
    let undecided = write_cuts(&cuts, origins.as_ref(), &table)?;
    let mut text = format!(
        "{}: {}, {} cut from {}, see cuts.csv",
        output.display(),
        inputs_written(files),
        counted(cuts.stretches(), "stretch of text", "stretches of text"),
        counted(cuts.pages(), "page", "pages")
    );
    if cuts.emptied() > 0 {
        let pages = match cuts.emptied() {
            1 => "1 page has".to_owned(),
            pages => format!("{} pages have", number(pages)),
        };
        text.push_str(&format!("; {pages} no text left"));
    }
    say(&clean(&text));
    if undecided.0 > 0 {
        say(&format!(
            "dates do not decide which page is earlier for {} of {} in cuts.csv: a dated page kept \
             the text, not an undated one, else the page that comes first in the corpus",
            number(undecided.0),
            counted(undecided.1, "passage", "passages")
        ));
    }
    Ok(())
}

/// Writes the table of what was cut; returns the number of its rows where dates do not decide, and
/// of all.
fn write_cuts(
    cuts: &Cuts<'_>,
    origins: Option<&PageOrigins>,
    path: &Path,
) -> Result<(u64, u64), CommandError> {
    let failed = |error: std::io::Error| CommandError::io(path, &error);
    let mut file = BufWriter::new(Output::create(path).map_err(failed)?);
    let heading = "page_id,page,begin,end,cut_begin,cut_end,copy_of,kept_id,kept,kind,words,\
         identical,earlier,page_key,page_file,page_row\r\n";
    file.write_all(heading.as_bytes()).map_err(failed)?;
    let (mut undecided, mut all) = (0, 0);
    cuts.for_each_reason(|reason| {
        let row = reason.passage;
        all += 1;
        undecided += u64::from(row.earlier != "b");
        let origin = match origins {
            Some(origins) => origins.get(reason.page_id, None, true)?,
            None => None,
        };
        let cell = |text: Option<&str>| text.map(csv_cell).unwrap_or_default();
        let copy_of = reason.copy_of.map(|page| page.to_string());
        write!(
            file,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
            reason.page_id,
            csv_cell(reason.page),
            row.a_begin,
            row.a_end,
            reason.stretch.0,
            reason.stretch.1,
            copy_of.unwrap_or_default(),
            row.b_id,
            csv_cell(&row.b),
            row.kind,
            row.words,
            row.identical,
            row.earlier,
            cell(origin.and_then(|origin| origin.key)),
            cell(origin.map(|origin| origin.file)),
            origin.map_or_else(String::new, |origin| origin.row.to_string()),
        )
        .map_err(failed)
    })?;
    let file = file
        .into_inner()
        .map_err(|error| failed(error.into_error()))?;
    file.finish().map_err(failed)?;
    Ok((undecided, all))
}

/// A row of the table with the texts of the passage.
fn shown(
    source: &CorpusPages,
    row: PassageRow,
    with_text: bool,
) -> Result<ShownPassage, CommandError> {
    let texts = match with_text {
        true => passage_texts(source, &row)?,
        false => [String::new(), String::new()],
    };
    let places = |places: [u32; 4]| places.map(|place| place as usize);
    Ok(ShownPassage {
        remark: Some(direction(&row)),
        a: row.a,
        b: row.b,
        bytes: places([row.a_begin, row.a_end, row.b_begin, row.b_end]),
        chars: places([
            row.a_begin_char,
            row.a_end_char,
            row.b_begin_char,
            row.b_end_char,
        ]),
        words: [row.words as usize, row.b_words as usize],
        identical: row.identical,
        shares: [row.a_in_b, row.b_in_a],
        kind: row.kind,
        texts,
        dates: [row.a_date, row.b_date],
    })
}

/// Renders the summary and the strongest passages.
fn corpus_text(
    arguments: &PassagesArguments,
    corpus: &OpenedCorpus,
    source: &CorpusPages,
    findings: &Findings,
) -> Result<String, CommandError> {
    let summary: PassagesSummary = findings.summary()?;
    let mut lines = compared(&summary, arguments);
    lines.add("pairs with passages", number(summary.pairs));
    lines.add_with(
        "passages",
        number(summary.passages),
        format!(
            "{} verbatim, {} edited, {} scattered",
            number(summary.verbatim),
            number(summary.edited),
            number(summary.scattered)
        ),
    );
    corpus.add_findings(&mut lines, findings);
    let mut text = format!("{}\n{}", clean(&corpus.name), lines.render());
    let look = Look::of_output();
    for (at, row) in first(findings.rows(PASSAGES_TABLE)?, arguments.top.rows())?
        .into_iter()
        .enumerate()
    {
        text.push('\n');
        let shown = shown(source, row, true)?;
        text.push_str(&shown.side_by_side(at + 1, arguments.fold(), look));
    }
    if summary.passages == 0 && arguments.top.rows() > 0 {
        text.push_str(&none_found(arguments));
    }
    text.push_str(&more(summary.passages, arguments.top.rows()));
    Ok(text)
}

/// The lines of a summary that say what was compared, and what was not.
fn compared(summary: &PassagesSummary, arguments: &PassagesArguments) -> Lines {
    let mut lines = Lines::default();
    lines.add("pages", number(summary.pages));
    if summary.copies > 0 {
        let remark = "identical text, counted as one page";
        lines.add_with("duplicates", number(summary.copies), remark);
    }
    if summary.unknown > 0 {
        let remark = "name a page that the corpus does not have, or one without text";
        lines.add_with("listed pairs", number(summary.unknown), remark);
    }
    if summary.superfluous > 0 {
        let remark = "name one page twice or repeat another pair";
        lines.add_with("listed pairs", number(summary.superfluous), remark);
    }
    if summary.repeated > 0 {
        let remark = "captured several times: the earliest capture is compared";
        lines.add_with("URLs", number(summary.repeated), remark);
    }
    let candidates = number(summary.candidates);
    match arguments.pairs {
        Some(_) => lines.add("pairs compared", candidates),
        None => {
            let remark = "around the fingerprints that they share";
            lines.add_with("pairs compared", candidates, remark);
        }
    }
    if summary.common > 0 {
        let remark = format!(
            "on more than {} pages: they made no pairs for this list",
            number(arguments.max_pages.into())
        );
        lines.add_with("fingerprints", number(summary.common), remark);
        let remark = "with the earliest page that has such fingerprints, in --clusters and --strip";
        lines.add_with("other passages", number(summary.frequent), remark);
    }
    if summary.framed > 0 {
        let remark = format!(
            "begin or end with what more than {} pages have, 5 of the site: it is not compared",
            number(arguments.max_pages.into())
        );
        lines.add_with("pages", number(summary.framed), remark);
    }
    lines
}

/// What a cluster does not say.
const CHAINS: &str = "A cluster joins passages that overlap on a page, also through other pages: not \
    every page has all of its words.";

/// Renders the passages that are on most pages.
fn cluster_text(
    arguments: &PassagesArguments,
    corpus: &OpenedCorpus,
    passages: &Findings,
    joined: &Findings,
) -> Result<String, CommandError> {
    let summary: ClustersSummary = joined.summary()?;
    let mut lines = compared(&passages.summary()?, arguments);
    lines.add("passages of two pages", number(summary.passages));
    let remark = "passages found on at least 3 pages";
    lines.add_with("clusters", number(summary.clusters), remark);
    corpus.add_findings(&mut lines, joined);
    let mut text = format!("{}\n{}", clean(&corpus.name), lines.render());
    let rows: Vec<ClusterRow> = first(joined.rows(CLUSTERS_TABLE)?, arguments.top.rows())?;
    if !rows.is_empty() {
        let day = |date: &Option<String>, by: &Option<String>| match (date, by) {
            (Some(date), Some(by)) => format!("{by} {}", shown_day(date, by)),
            _ => "–".to_owned(),
        };
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                vec![
                    shortened(&row.text, 40),
                    number(row.pages.into()),
                    number(row.sites.into()),
                    number(row.words.into()),
                    percent(row.identical),
                    day(&row.first_date, &row.first_dated_by),
                    day(&row.last_date, &row.last_dated_by),
                    match row.first_decided {
                        true => shortened_end(&row.first, 60),
                        false => "unknown".to_owned(),
                    },
                ]
            })
            .collect();
        let heading = [
            "passage",
            "pages",
            "sites",
            "words",
            "identical",
            "earliest date",
            "latest date",
            "page of that earliest date",
        ];
        text.push('\n');
        text.push_str(&table(&heading, &cells));
        text.push_str(&wrapped(CHAINS));
    }
    text.push_str(&more(summary.clusters, arguments.top.rows()));
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_defaults_of_the_options_are_those_of_the_parameters() {
        let default = PassagesParams::default();
        assert_eq!((default.min_chars, default.max_pages), (160, 100));
        assert_eq!(json!(default)["fold"], json!("none"));
    }
}
