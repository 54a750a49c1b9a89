//! `cento query`.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use cento_file::PrivateFolder;
use cento_find::reuse::{Threshold, Thresholds};
use cento_find::{CorpusPages, PageOrigins};
use cento_flow::Progress;
use cento_query::{
    Answer, IndexResources, MatchRow, PageMatch, QueryIndex, QuerySettings, UpdatedIndex, update,
};
use cento_read::{Format, Settings};
use cento_report::format::{counted, part_of, percent, plural};
use cento_store::{Build, Corpus, Parameters, Projection, pages, projection};
use cento_text::url::PageUrl;
use clap::Args;
use serde_json::{Value, json};

use crate::command_error::CommandError;
use crate::command_line::refuse;
use crate::corpora::is_corpus;
use crate::corpus_input::refuse_reading;
use crate::files::{check_table_file, export_table};
use crate::machine::MachineArguments;
use crate::meter::{AnalysisStep, Meter};
use crate::originals::{OriginalArguments, Originals, ReadColumns, private_folder};
use crate::output::{clean, number, print, print_data, say, size};
use crate::overwriting;
use crate::top::TopArguments;

/// The most characters of an excerpt.
const EXCERPT: usize = 160;
/// How often a query looks whether another process has finished the index.
const INDEX_RETRY: Duration = Duration::from_millis(100);
/// The passages of a match that are shown.
const PASSAGES: usize = 2;

/// Find the pages that share text with one page
///
/// Looks up the fingerprints of a page in an index of the corpus, and lists the pages that share
/// text with it: the share of each found in the other, the category of the pair as in `cento
/// reuse`, and where the shared text is. The index is built by the first query, or by `cento index
/// --query`, and extended to pages that were added since. It is kept in CORPUS/query.
#[derive(Debug, Args)]
#[command(after_help = "\
PAGE is a file that `cento index` reads, such as HTML or text (an archive is a query for each of its
pages); the URL of a page of the corpus, which is not listed as a match of itself; or - for plain
text on standard input. A name that is both a file and a URL of the corpus is read as a file. Files
are read with the settings of the corpus, such as --content.

The result for a page of the corpus is that of `cento reuse CORPUS` for the pairs of this page; for
a file, that of `cento reuse PAGE.cento --against CORPUS`. Pages with the same text are listed one
by one. Byte ranges refer to the text that cento extracts, which `cento cat` prints.

Categories, from the shares of the query and of the page found in each other:
  C1 most–most          C2 most–considerable          C3 most–partial
                        C4 considerable–considerable  C5 considerable–partial
                                                      C6 partial–partial

--json prints one object per query: query, fingerprints, ignored, max_pages, pages (the number of
matches), categories, and the best matches (page_id, url, category, identical, shared,
query_fingerprints, page_fingerprints, query_containment, page_containment, passages). --out writes
a row per match: query, page_id, page, category, shared, query_fingerprints, page_fingerprints,
query_containment, page_containment, words, query_ranges, page_ranges.

Examples:
  cento query crawl.cento article.html
  cento query pages.jsonl draft.txt
  cento query crawl.cento http://www.example.org/article.html --top 50
  pbpaste | cento query crawl.cento - --json
  cento query crawl.cento suspicious/*.txt --top all --out matches.csv")]
pub(crate) struct QueryArguments {
    /// A corpus, or a file or folder that `cento index` reads. The query index of a corpus is kept
    #[arg(value_name = "CORPUS")]
    corpus: String,
    /// Files, URLs of pages of the corpus, or - for text on standard input
    #[arg(value_name = "PAGE", required = true)]
    pages: Vec<String>,
    /// Least share of a page of which most is reused
    #[arg(long, value_name = "SHARE", default_value = "0.8")]
    most: Threshold,
    /// Least share of a page of which a considerable part is reused
    #[arg(long, value_name = "SHARE", default_value = "0.5")]
    considerable: Threshold,
    /// Least share of a page of which a part is reused
    ///
    /// Matches reach it on one side at least.
    #[arg(long, value_name = "SHARE", default_value = "0.1")]
    partial_share: Threshold,
    /// Minimum number of shared chunks or fingerprints
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    min_shared: u32,
    /// Ignore what is on more pages than this; 0 ignores nothing [default: 1,000; more in a small
    /// corpus]
    #[arg(long, value_name = "N")]
    max_pages: Option<u32>,
    #[command(flatten)]
    top: TopArguments,
    /// Write the main table to a file or an object s3://BUCKET/KEY, in the format of its extension:
    /// .parquet, .jsonl or .csv; - prints JSON Lines
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Print JSON, one object per line
    ///
    /// An object for each query, with its best matches.
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Do the work again instead of using cached results
    ///
    /// Builds the index again.
    #[arg(long, help_heading = "Output")]
    again: bool,
    /// Folder for temporary files [default: CORPUS/query to build the index, and the system's]
    #[arg(long, value_name = "FOLDER", help_heading = "Machine")]
    temp: Option<PathBuf>,
    #[command(flatten)]
    reading: OriginalArguments,
    #[command(flatten)]
    machine: MachineArguments,
}

impl QueryArguments {
    /// Resolves the settings.
    fn resolve(&self) -> Result<QuerySettings, CommandError> {
        let settings = QuerySettings {
            thresholds: Thresholds {
                most: self.most,
                considerable: self.considerable,
                partial: self.partial_share,
            },
            min_shared: self.min_shared,
            max_pages: self.max_pages,
            top: self.top.top.0.unwrap_or(0),
            passages: true,
        };
        settings.check()?;
        Ok(settings)
    }
}

/// Where a query comes from.
enum QuerySource {
    /// A page of the corpus, by its id.
    Page(u64),
    /// A text.
    Text,
}

/// A query with its name and its text.
struct NamedQuery {
    name: String,
    text: String,
    source: QuerySource,
}

pub(crate) fn run(arguments: &QueryArguments) -> Result<ExitCode, CommandError> {
    let settings = arguments.resolve()?;
    // The input is read once, so a second `-` would be empty.
    if arguments.pages.iter().filter(|page| *page == "-").count() > 1 {
        return Err(CommandError::usage(
            "standard input is named twice".to_owned(),
            "name - once",
        ));
    }
    // Lives until the end: a temporary corpus is removed when it is dropped.
    let (place, made) = match is_corpus(&arguments.corpus) {
        true => {
            refuse_reading()?;
            (PathBuf::from(&arguments.corpus), None)
        }
        false => {
            refuse(&["again"], "the query index of inputs is built each time")?;
            let made = Originals::open_in(
                std::slice::from_ref(&arguments.corpus),
                &arguments.reading,
                &Parameters::default(),
                arguments.temp.as_deref(),
                &arguments.machine,
                ReadColumns::All,
            )?;
            (
                made.made().map(Path::to_owned).unwrap_or_default(),
                Some(made),
            )
        }
    };
    let corpus = Corpus::open(&place)?;
    if let Some(out) = &arguments.out {
        check_table_file(out)?;
    }
    let temp = arguments.temp.as_deref();
    let with_rows = corpus.manifest().counts().rows > 0;
    let origins = match with_rows && (arguments.json || arguments.out.is_some()) {
        true => {
            let source = CorpusPages::open(&[&place])?;
            let folder = temp.map_or_else(std::env::temp_dir, Path::to_owned);
            PageOrigins::new(&[&source], &folder).map(Arc::new)
        }
        false => None,
    };
    let mut queries = VecDeque::new();
    for page in &arguments.pages {
        queries.extend(read(page, &corpus, arguments)?);
    }
    let machine = &arguments.machine;
    let updated = extend(&place, temp, machine, arguments.again)?;
    let index = QueryIndex::open(&place)?;
    if updated.added_pages > 0 && made.is_none() {
        say(&format!("note: {}", built(&updated)));
    }
    let mut rows = Vec::new();
    let several = queries.len() > 1;
    let mut first = true;
    while let Some(query) = queries.pop_front() {
        let answer = match query.source {
            QuerySource::Page(id) => index.query_page(id, &settings)?,
            QuerySource::Text => index.query(&query.text, &settings)?,
        };
        if arguments.out.is_some() {
            rows.extend(MatchRow::of(&query.name, &answer));
        }
        if arguments.json {
            print_data(&json_line(&query.name, &answer, origins.as_deref())?)?;
        } else {
            if several && !first {
                print("\n")?;
            }
            print(&text(&query, &answer, &index))?;
        }
        first = false;
    }
    if let Some(out) = &arguments.out {
        let folder = private_folder(temp)?;
        let table = MatchRow::write(rows, folder.path(), origins.as_ref())?;
        export_table(&table, Some(out), false)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds or extends the index of a corpus, shows progress, and stops on Ctrl-C. If another process
/// writes the index, waits for it; the lock is released however that process ends.
pub(crate) fn extend(
    corpus: &Path,
    temp: Option<&Path>,
    machine: &MachineArguments,
    again: bool,
) -> Result<UpdatedIndex, CommandError> {
    let progress = Progress::new();
    let meter = Meter::start(&AnalysisStep::new(&progress));
    let resources = IndexResources {
        threads: machine.threads(),
        memory: machine.memory(),
        temp: temp.map(Path::to_owned),
        again,
        progress,
    };
    let mut waited = false;
    let updated = loop {
        match update(corpus, &resources) {
            Err(cento_query::Error::Busy(_)) if !resources.progress.is_cancelled() => {
                if !waited {
                    let corpus = corpus.display().to_string();
                    say(&format!(
                        "note: another process is writing the index of {}; waiting for it",
                        clean(&corpus)
                    ));
                }
                waited = true;
                std::thread::sleep(INDEX_RETRY);
            }
            // Ctrl-C while waiting.
            Err(cento_query::Error::Busy(_)) => break Err(cento_flow::Error::Cancelled.into()),
            updated => break updated,
        }
    };
    drop(meter);
    Ok(updated?)
}

/// Describes an index that was built or extended.
pub(crate) fn built(updated: &UpdatedIndex) -> String {
    let added = counted(updated.added_pages, "page", "pages");
    let share = updated.bytes as f64 / updated.text_bytes.max(1) as f64;
    // The index of a short text is larger than the text, and its share says nothing.
    let share = match share {
        ..=1.0 => format!(", {} of the text", percent(share)),
        _ => String::new(),
    };
    let what = match updated.added_pages == updated.pages {
        true => format!("built the query index of {added}"),
        false => format!("extended the query index by {added}"),
    };
    format!("{what}; it has {}{share}", size(updated.bytes),)
}

/// Reads the queries of one argument.
fn read(
    page: &str,
    corpus: &Corpus,
    arguments: &QueryArguments,
) -> Result<Vec<NamedQuery>, CommandError> {
    let is_file = page == "-" || (!page.contains("://") && Path::new(page).exists());
    if is_file {
        return read_file(page, corpus, arguments);
    }
    let mut found = corpus.pages_at(page)?;
    if found.is_empty() {
        found = corpus.pages_at(PageUrl::new(page).canonical())?;
    }
    let mut kept = Vec::new();
    for &id in &found {
        if let Some(text) = corpus.text(id)? {
            kept.push((id, text));
        }
    }
    let captures = kept.len();
    let Some((id, text)) = kept.into_iter().next() else {
        let hint = "use the path of a file, the URL as in the pages table, or - for standard input";
        let corpus = &arguments.corpus;
        return Err(match found.is_empty() {
            true => {
                let what = "is neither a file nor the URL of a page of";
                CommandError::usage(format!("{page} {what} {corpus}"), hint)
            }
            false => {
                CommandError::missing(format!("{page} has no text in {corpus}"), hint.to_owned())
            }
        });
    };
    if captures > 1 {
        say(&format!(
            "note: the query is the first of {captures} captures of {}",
            clean(page)
        ));
    }
    Ok(vec![NamedQuery {
        name: page.to_owned(),
        text,
        source: QuerySource::Page(id),
    }])
}

projection! {
    /// What is read of the pages of a file.
    struct QueryColumns of pages { page_id, url, reject }
}

/// Reads a file with the parameters of the corpus, as `cento index` does.
fn read_file(
    page: &str,
    corpus: &Corpus,
    arguments: &QueryArguments,
) -> Result<Vec<NamedQuery>, CommandError> {
    // The path of a file is not the URL of a page, so it says nothing about a crawler's recursion.
    let parameters = Parameters {
        text: true,
        recursion_components: u32::MAX,
        recursion_repeats: u32::MAX,
        recursion_cycles: u32::MAX,
        ..corpus.parameters().clone()
    };
    let settings = Settings {
        format: (page == "-").then_some(Format::Text),
        keep_status: true,
        limits: (&parameters.limits).into(),
        ..Settings::default()
    };
    let inputs = cento_read::resolve(&[page.to_owned()], &settings)?.inputs;
    overwriting::check_inputs(&inputs)?;
    let folder: PrivateFolder = private_folder(arguments.temp.as_deref())?;
    let path = folder.path().join("query.cento");
    Build::new(inputs, &path)
        .settings(settings)
        .parameters(parameters)
        .temporary(true)
        .threads(1)
        .memory(arguments.machine.memory())
        .run()?;
    let read = Corpus::open(&path)?;
    let mut queries = Vec::new();
    for batch in read.scan::<QueryColumns>() {
        let batch = batch?;
        for row in 0..batch.rows() {
            let url = batch.url.value(row);
            // The URL of a file is its path, which the user typed in a shorter form.
            let name = match page == "-" || batch.rows() == 1 {
                true => page,
                false => url,
            };
            match (
                batch.reject.value(row),
                read.text(batch.page_id.value(row))?,
            ) {
                (None, Some(text)) => queries.push(NamedQuery {
                    name: name.to_owned(),
                    text,
                    source: QuerySource::Text,
                }),
                (reject, _) => say(&format!(
                    "note: {} is not a query: {}",
                    clean(name),
                    reject.unwrap_or("it has no text")
                )),
            }
        }
    }
    if queries.is_empty() {
        return Err(CommandError::missing(
            format!("{page} has no text to search for"),
            "name a file with HTML or text".to_owned(),
        ));
    }
    Ok(queries)
}

fn json_line(
    name: &str,
    answer: &Answer,
    origins: Option<&PageOrigins>,
) -> Result<String, CommandError> {
    let mut object = json!(answer);
    let matches = object.get_mut("matches").and_then(Value::as_array_mut);
    for found in matches.into_iter().flatten() {
        let id = found.get("page_id").and_then(Value::as_u64);
        let (Some(origins), Some(id), Value::Object(fields)) = (origins, id, found) else {
            continue;
        };
        if let Some(origin) = origins.get(id, None, true)? {
            fields.insert("page_key".to_owned(), json!(origin.key));
            fields.insert("page_file".to_owned(), json!(origin.file));
            fields.insert("page_row".to_owned(), json!(origin.row));
        }
    }
    if let Value::Object(fields) = &mut object {
        fields.insert("query".to_owned(), json!(name));
    }
    Ok(format!("{object}\n"))
}

/// Renders an answer.
fn text(query: &NamedQuery, answer: &Answer, index: &QueryIndex) -> String {
    let mut text = clean(&query.name).into_owned();
    if matches!(query.source, QuerySource::Page(_)) {
        text.push_str("  (a page of the corpus)");
    }
    text.push('\n');
    let fingerprints = counted(answer.fingerprints.into(), "fingerprint", "fingerprints");
    text.push_str(&format!("  {fingerprints}  {}\n", index.scheme()));
    if answer.ignored > 0 {
        let included = match query.source {
            QuerySource::Page(_) => "",
            QuerySource::Text => ", the query included",
        };
        text.push_str(&format!(
            "  {} of them ignored: on more than {}{included}\n",
            number(answer.ignored.into()),
            counted(answer.max_pages.into(), "page", "pages")
        ));
    }
    if answer.fingerprints == 0 {
        text.push_str("  too few words for a fingerprint, so nothing can be found\n");
        return text;
    }
    // A page is not compared with itself.
    let pages = match query.source {
        QuerySource::Page(_) => {
            let others = u64::from(index.pages()).saturating_sub(1);
            counted(others, "other page", "other pages")
        }
        QuerySource::Text => counted(u64::from(index.pages()), "page", "pages"),
    };
    if answer.pages == 0 {
        text.push_str(&format!("  none of {pages} shares enough text with it\n"));
        return text;
    }
    let categories = answer.categories.iter();
    let categories: Vec<String> = categories
        .map(|counts| format!("{} {}", counts.category, number(counts.pages)))
        .collect();
    text.push_str(&format!(
        "  {} of {pages} {}: {}\n",
        number(answer.pages),
        plural(answer.pages, "matches", "match"),
        categories.join(", ")
    ));
    for page in &answer.matches {
        text.push_str(&match_text(query, page));
    }
    let more = answer.pages.saturating_sub(answer.matches.len() as u64);
    if more > 0 {
        text.push_str(&format!(
            "\n  and {} more; --top sets the number of matches\n",
            number(more)
        ));
    }
    text
}

/// Renders a match, with excerpts of its longest passages.
fn match_text(query: &NamedQuery, page: &PageMatch) -> String {
    let mut text = format!("\n  {}  {}\n", page.category, clean(&page.url));
    text.push_str(&format!(
        "    {} of the query's fingerprints are in the page, {} of the page's in the query ({} shared{})\n",
        share(page.shared, page.query_fingerprints),
        share(page.shared, page.page_fingerprints),
        number(page.shared.into()),
        if page.identical { ", the same set" } else { "" }
    ));
    let mut longest: Vec<_> = page.passages.iter().collect();
    longest.sort_by_key(|passage| (std::cmp::Reverse(passage.words), passage.query.start));
    for passage in longest.iter().take(PASSAGES) {
        let shared = query.text.get(passage.query.clone()).unwrap_or_default();
        text.push_str(&format!(
            "    {} at byte {} of the page: {}\n",
            counted(passage.words.into(), "word", "words"),
            number(passage.page.start as u64),
            excerpt(shared)
        ));
    }
    let others = longest.get(PASSAGES..).unwrap_or_default();
    if !others.is_empty() {
        let words: u64 = others.iter().map(|passage| u64::from(passage.words)).sum();
        text.push_str(&format!(
            "    and {} in {}\n",
            counted(words, "word", "words"),
            counted(others.len() as u64, "other passage", "other passages")
        ));
    }
    text
}

/// Formats the share of shared fingerprints. Only all of them are 100 %, and none is 0 %.
fn share(shared: u32, all: u32) -> String {
    part_of(shared.into(), all.into())
}

/// Quotes the beginning of a text on one line.
fn excerpt(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let line = clean(&line);
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("“{}…”", line.get(..end).unwrap_or_default()),
        None => format!("“{line}”"),
    }
}
