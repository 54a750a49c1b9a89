//! `cento labels`.

use std::collections::BinaryHeap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cento_file::{is_standard_output, is_stream};
use cento_find::labelling::{label_table, merge, stop_labels, subtract};
use cento_find::provenance::{
    LabelRow, originals_of, read_labels, table_of, verify_all_tables, verify_tables,
};
use cento_labels::{Labels, LabelsHeader, StopList};
use cento_report::format::{counted, plural};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::command_error::CommandError;
use crate::command_line::refuse;
use crate::discover::{check_output, stop_list};
use crate::files::{cannot_write, export_table, write_file};
use crate::output::{Lines, clean, number, print, print_data, say, size};
use crate::top::TopArguments;

/// Show, merge and review files of labels
#[derive(Debug, Args)]
pub(crate) struct LabelsArguments {
    #[command(subcommand)]
    pub(crate) what: LabelsVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabelsVerb {
    /// Show what labels contain and how they were made
    Info {
        /// The labels
        #[arg(value_name = "LABELS")]
        labels: PathBuf,
        /// Verify the checksums
        #[arg(long)]
        verify: bool,
        /// Print JSON, one object per line
        #[arg(long)]
        json: bool,
    },
    /// Merge labels made with the same parameters
    ///
    /// A stop of one of them is removed from the labels of all.
    Merge {
        /// The labels
        #[arg(value_name = "LABELS", required = true)]
        labels: Vec<PathBuf>,
        /// Where to write the result
        ///
        /// A file of labels.
        #[arg(short, long, value_name = "PATH")]
        output: PathBuf,
    },
    /// Remove the labels that other files contain
    Subtract {
        /// The labels
        #[arg(value_name = "LABELS")]
        labels: PathBuf,
        /// The labels to remove
        #[arg(value_name = "OTHERS", required = true)]
        others: Vec<PathBuf>,
        /// Where to write the result
        ///
        /// A file of labels.
        #[arg(short, long, value_name = "PATH")]
        output: PathBuf,
    },
    /// Export the texts of labels and where they come from
    ///
    /// Prints one JSON object per line, or writes a file in the format of its extension: .parquet,
    /// .jsonl or .csv.
    Export {
        /// The labels
        #[arg(value_name = "LABELS")]
        labels: PathBuf,
        /// Write the main table to a file or an object s3://BUCKET/KEY, in the format of its
        /// extension: .parquet, .jsonl or .csv; - prints JSON Lines
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    Review(ReviewArguments),
    /// Print the built-in stop list, to edit and use with --stop
    Stops,
}

/// Review labels that look like idioms, and stop them
///
/// Shows the proposed labels and the reasons: short, wordless, below 100 bytes and spread over many
/// domains, on many originals. Accepted proposals are removed from the labels and become stops,
/// which are ignored in the scores of pages.
#[derive(Debug, Args)]
#[command(mut_arg("top", |top| top.conflicts_with_all(["accept", "apply", "list"])))]
#[command(after_help = "\
Examples:
  cento labels review crawl.labels
  cento labels review crawl.labels --accept short --accept wordless
  cento labels review crawl.labels --accept 3f9a1c2e -o crawl.labels
  cento labels review crawl.labels --list proposed.txt     (edit the list,
  cento labels review crawl.labels --apply proposed.txt    then stop what is on it)")]
pub(crate) struct ReviewArguments {
    /// The labels
    #[arg(value_name = "LABELS")]
    pub(crate) labels: PathBuf,
    /// Stop these: all, a reason (short, wordless, spread, template), or labels by hash prefix
    #[arg(long, value_name = "WHAT")]
    pub(crate) accept: Vec<String>,
    /// With --accept: but not these labels, by hash prefix
    #[arg(long, value_name = "HASH", requires = "accept", conflicts_with_all = ["list", "apply", "top"])]
    pub(crate) except: Vec<String>,
    /// Write the proposals to a stop list for editing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["accept", "apply"])]
    pub(crate) list: Option<PathBuf>,
    /// Stop the labels on this list
    #[arg(long, value_name = "FILE", conflicts_with = "accept")]
    pub(crate) apply: Option<PathBuf>,
    /// Where to write the result [default: the labels themselves]
    ///
    /// With --accept or --apply: a file of labels.
    #[arg(short, long, value_name = "PATH", conflicts_with_all = ["list", "top"])]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) top: TopArguments,
    /// Print JSON, one object per line
    ///
    /// An object for each proposal.
    #[arg(long, conflicts_with_all = ["accept", "apply", "list", "top"], help_heading = "Output")]
    pub(crate) json: bool,
}

pub(crate) fn run(arguments: &LabelsArguments) -> Result<ExitCode, CommandError> {
    match &arguments.what {
        LabelsVerb::Info {
            labels,
            verify,
            json,
        } => info(labels, *verify, *json)?,
        LabelsVerb::Merge { labels, output } => {
            check_output(output)?;
            print_summary(output, &made(&merge(labels, output)?, output))?;
        }
        LabelsVerb::Subtract {
            labels,
            others,
            output,
        } => {
            check_output(output)?;
            print_summary(output, &made(&subtract(labels, others, output)?, output))?;
        }
        LabelsVerb::Export { labels, out } => export(labels, out.as_deref())?,
        LabelsVerb::Review(arguments) => review(arguments)?,
        LabelsVerb::Stops => print_data(StopList::built_in_text())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints a summary: on standard error if the output itself went to standard output.
pub(crate) fn print_summary(output: &Path, text: &str) -> Result<(), CommandError> {
    match is_standard_output(output) {
        true => say(text.trim_end()),
        false => print(text)?,
    }
    Ok(())
}

fn made(header: &LabelsHeader, output: &Path) -> String {
    format!(
        "{} and {} in {}\n",
        counted(header.labels, "label", "labels"),
        counted(header.stops, "stop", "stops"),
        clean(&output.display().to_string())
    )
}

fn info(path: &Path, verify: bool, as_json: bool) -> Result<(), CommandError> {
    let labels = Labels::open(path)?;
    if verify {
        labels.verify()?;
        verify_all_tables(&labels)?;
    }
    let header = labels.header();
    let bytes = header.filter.offset + header.filter.length;
    if as_json {
        let object = json!({
            "labels": header.labels, "stops": header.stops, "bytes": bytes, "recipe": header.recipe, "made": header.made,
            "provenance": table_of(path).is_file(), "originals": originals_of(path).is_file(),
        });
        return Ok(print_data(&format!("{object}\n"))?);
    }
    let mut lines = Lines::default();
    lines.add("labels", number(header.labels));
    lines.add("stops", number(header.stops));
    lines.add("size", size(bytes));
    for (name, value) in header.recipe.list() {
        lines.add(name, value);
    }
    let beside = |path: PathBuf| if path.is_file() { "yes" } else { "no" };
    lines.add("provenance", beside(table_of(path)));
    lines.add("originals", beside(originals_of(path)));
    if verify {
        lines.add("checksums", "match");
    }
    let mut text = format!("{}\n{}", clean(&path.display().to_string()), lines.render());
    if let Value::Object(made) = &header.made {
        let mut lines = Lines::default();
        for (key, value) in made {
            let value = in_words(value);
            lines.add_with(clean(&key.replace('_', " ")), "", clean(&value));
        }
        text.push_str(&format!("made with\n{}", lines.render()));
    }
    Ok(print(&text)?)
}

/// Returns a JSON value as people write it: `count 910, version 1`.
fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(count) => count.as_u64().map_or_else(|| count.to_string(), number),
        Value::Bool(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::Null => "none".to_owned(),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(in_words).collect();
            values.join(", ")
        }
        Value::Object(entries) => {
            let entries = entries.iter();
            let entries: Vec<String> = entries
                .map(|(key, value)| format!("{} {}", key.replace('_', " "), in_words(value)))
                .collect();
            entries.join(", ")
        }
    }
}

fn export(path: &Path, out: Option<&Path>) -> Result<(), CommandError> {
    let labels = Labels::open(path)?;
    verify_tables(&labels)?;
    let table = table_of(path);
    if table.is_file() {
        return export_table(&table, out, out.is_none());
    }
    if out.is_some() {
        return Err(CommandError::missing(
            format!(
                "{} not found: it has the texts of the labels",
                table.display()
            ),
            "omit --out to print only the hashes".to_owned(),
        ));
    }
    let mut text = String::new();
    for hash in labels.iter() {
        text.push_str(&hexadecimal(&hash));
        text.push('\n');
        if text.len() > 1 << 16 {
            print_data(&text)?;
            text.clear();
        }
    }
    Ok(print_data(&text)?)
}

pub(crate) fn hexadecimal(hash: &[u8; 16]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn review(arguments: &ReviewArguments) -> Result<(), CommandError> {
    if arguments.accept.is_empty() && arguments.apply.is_none() {
        refuse(
            &["output"],
            "labels are written only with --accept or --apply",
        )?;
    }
    let output = arguments.output.as_ref().unwrap_or(&arguments.labels);
    check_output(output)?;
    if let Some(list) = &arguments.apply {
        let stops = stop_list(std::slice::from_ref(list), true)?;
        let recipe = Labels::open(&arguments.labels)?.header().recipe;
        let hashes = stops.hashes(&recipe);
        let accept = |row: &LabelRow| hashes.binary_search(&row.hash).is_ok();
        return stopped(&arguments.labels, output, accept);
    }
    if let Some(list) = &arguments.list {
        return write_list(&arguments.labels, list);
    }
    if !arguments.accept.is_empty() {
        for word in &arguments.accept {
            let reason =
                ["all", "short", "wordless", "spread", "template"].contains(&word.as_str());
            if !reason && (word.len() < 4 || !word.chars().all(|c| c.is_ascii_hexdigit())) {
                return Err(CommandError::usage(
                    format!("`{word}` is neither a reason nor a hash prefix"),
                    "reasons are all, short, wordless, spread and template; a hash prefix has at least 4 digits",
                ));
            }
        }
        let accept = |row: &LabelRow| accepted(row, &arguments.accept, &arguments.except);
        return stopped(&arguments.labels, output, accept);
    }
    show(arguments)
}

fn accepted(row: &LabelRow, accept: &[String], keep: &[String]) -> bool {
    let hash = hexadecimal(&row.hash);
    let named = |words: &[String]| {
        let mut words = words.iter();
        words.any(|word| word.len() >= 4 && hash.starts_with(&word.to_ascii_lowercase()))
    };
    let reason = row.proposed.as_deref().is_some_and(|reason| {
        let mut words = accept.iter();
        words.any(|word| word == "all" || reason.split(':').next() == Some(word))
    });
    (reason || named(accept)) && !named(keep)
}

fn stopped(
    labels: &Path,
    output: &Path,
    accept: impl Fn(&LabelRow) -> bool,
) -> Result<(), CommandError> {
    let (header, count) = stop_labels(labels, output, accept)?;
    let text = format!(
        "{} became {}\n{}",
        counted(count, "label", "labels"),
        plural(count, "a stop", "stops"),
        made(&header, output)
    );
    print_summary(output, &text)
}

/// The first words of a list of proposals, by which it is recognised.
const LIST: &str = "# Proposed stops.";

/// Fails if a list would replace a file that is not a list of proposals. An empty file may be
/// replaced.
fn check_list(list: &Path) -> Result<(), CommandError> {
    if is_stream(list) || !list.is_file() {
        return Ok(());
    }
    let mut begin = Vec::new();
    let file = File::open(list).map_err(|error| cannot_write(list, &error))?;
    let mut file = file.take(LIST.len() as u64);
    let read = file.read_to_end(&mut begin);
    read.map_err(|error| cannot_write(list, &error))?;
    match begin.is_empty() || begin == LIST.as_bytes() {
        true => Ok(()),
        false => Err(CommandError::usage(
            format!("{} exists and is not a list of proposals", list.display()),
            "remove it, or choose another name for the list",
        )),
    }
}

fn write_list(labels: &Path, list: &Path) -> Result<(), CommandError> {
    check_list(list)?;
    let mut text = format!(
        "{LIST} Remove the lines of labels to keep; `cento labels review --apply` stops the rest.\n\
         [chunks]\n"
    );
    let mut count = 0;
    for row in label_table(labels)? {
        let row = row?;
        if let (Some(reason), Some(words)) = (&row.proposed, &row.text) {
            count += 1;
            text.push_str(&format!(
                "# {reason}; {}\n{}\n",
                counted(row.count, "time", "times"),
                StopList::line(words)
            ));
        }
    }
    write_file(list, text.as_bytes())?;
    let text = format!(
        "{} in {}\n",
        counted(count, "proposal", "proposals"),
        clean(&list.display().to_string())
    );
    Ok(print(&text)?)
}

fn show(arguments: &ReviewArguments) -> Result<(), CommandError> {
    let top = arguments.top.rows();
    let mut proposed = 0;
    for row in label_table(&arguments.labels)? {
        let row = row?;
        proposed += u64::from(row.proposed.is_some());
        if let (Some(reason), true) = (&row.proposed, arguments.json) {
            let object = json!({
                "hash": hexadecimal(&row.hash), "reason": reason, "count": row.count, "pages": row.pages,
                "sites": row.sites, "page": row.page, "text": row.text,
            });
            print_data(&format!("{object}\n"))?;
        }
    }
    if arguments.json {
        return Ok(());
    }
    if proposed == 0 {
        return Ok(print("No label is proposed as a stop.\n")?);
    }
    let mut text = format!(
        "{} proposed as {}\n",
        counted(proposed, "label is", "labels are"),
        plural(proposed, "a stop", "stops")
    );
    let table = table_of(&arguments.labels);
    for row in largest(&table, top, |row| row.proposed.is_some())? {
        let hash: String = hexadecimal(&row.hash).chars().take(8).collect();
        text.push_str(&format!(
            "  {hash}  {:>9} {}  {}\n            {}\n",
            number(row.count),
            plural(row.count, "time ", "times"),
            clean(row.proposed.as_deref().unwrap_or_default()),
            shown(&row, 90),
        ));
    }
    if proposed > top as u64 {
        let more = number(proposed - top as u64);
        text.push_str(&format!("  and {more} more; --top shows more\n"));
    }
    text.push_str(
        "Stop them with --accept, or write a list with --list, edit it, and use --apply.\n",
    );
    Ok(print(&text)?)
}

/// Returns the text of a label, else the page that it is on, shortened.
fn shown(row: &LabelRow, longest: usize) -> String {
    let text = clean(row.text.as_deref().unwrap_or(&row.page)).into_owned();
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// A label, ordered by frequency.
struct Ranked(LabelRow);

impl Ranked {
    fn key(&self) -> (u64, std::cmp::Reverse<[u8; 16]>) {
        (self.0.count, std::cmp::Reverse(self.0.hash))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Ranked) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    // The least frequent label is at the top of the heap, to be removed first.
    fn cmp(&self, other: &Ranked) -> std::cmp::Ordering {
        other.key().cmp(&self.key())
    }
}

fn largest(
    table: &Path,
    most: usize,
    wanted: impl Fn(&LabelRow) -> bool,
) -> Result<Vec<LabelRow>, CommandError> {
    let mut heap = BinaryHeap::new();
    for row in read_labels(table)? {
        let row = row?;
        if wanted(&row) {
            heap.push(Ranked(row));
            if heap.len() > most {
                heap.pop();
            }
        }
    }
    Ok(heap
        .into_sorted_vec()
        .into_iter()
        .map(|row| row.0)
        .collect())
}

/// Returns the most frequent labels as rows of a table: text, times, pages, domains.
pub(crate) fn most_frequent(
    table: &Path,
    most: usize,
    wanted: impl Fn(&LabelRow) -> bool,
) -> Result<Vec<Vec<String>>, CommandError> {
    let rows = largest(table, most, wanted)?;
    let cells = rows.iter().map(|row| {
        vec![
            shown(row, 70),
            number(row.count),
            number(row.pages),
            row.sites.map_or_else(|| "–".to_owned(), number),
        ]
    });
    Ok(cells.collect())
}
