//! Pages crafted against the algorithms: four times the text is about four times the work of every
//! analysis, and memory stays within its budget.
//!
//! Work is what the analyses record in `run.json`: the rows that all stages have read and written.
//! It does not depend on the machine.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its sandbox fails"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use serde_json::{Value, json};
use support::{Sandbox, contents};

const MIB: u64 = 1 << 20;
const PAGES: usize = 12;
/// The text of a small page, and how much longer a large one is.
const SMALL: usize = 20_000;
const LONGER: usize = 4;

/// A word that no other number has.
fn word(number: usize) -> String {
    format!(
        "{:x}",
        (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24
    )
}

/// Words from `first` on, of about this many bytes.
fn words(first: usize, bytes: usize, separator: &str) -> String {
    let each = 10 + separator.len();
    (first..first + bytes / each)
        .map(|number| word(number) + separator)
        .collect()
}

/// Returns a page of a kind as a field of JSON Lines and its content.
fn page(kind: &str, number: usize, bytes: usize) -> (&'static str, String) {
    let repeated = |text: &str| text.repeat(bytes / text.len());
    let text = match kind {
        "one word" => repeated("spam "),
        "periodic" => repeated("to be or not to be that is the question "),
        "one line" => repeated("x"),
        "one gram everywhere" => {
            let gram = " a phrase of exactly six words ";
            words(number * bytes, bytes / 4, gram)
        }
        "near-duplicates" => {
            let mut text = words(0, bytes, " ");
            text.push_str(&words(1_000_000 * (number + 1), 200, " "));
            text
        }
        "hot chunks" => repeated("The same paragraph, again and again.\n\n"),
        "tiny chunks" => words(number * bytes, bytes, "\n\n"),
        "shuffled sentences" => {
            let sentence = |at: usize| words(50 * (at * (number + 1) % 97), 500, " ") + ". ";
            (0..bytes / 500).map(sentence).collect()
        }
        "distinct words" => words(number * bytes, bytes, " "),
        _ => return ("html", markup(kind, bytes)),
    };
    ("text", text)
}

fn markup(kind: &str, bytes: usize) -> String {
    let text = words(0, 2_000, " ");
    match kind {
        "links" => (0..bytes / 40)
            .map(|at| format!("<a href=http://host{at}.example/>{}</a> ", word(at)))
            .collect(),
        "nesting" => "<div>".repeat(bytes / 5) + &text,
        "attributes" => {
            let attribute = |at: usize| format!(" a{at}=\"{}\"", word(at));
            let attributes: String = (0..bytes / 30).map(attribute).collect();
            format!(
                "<p{attributes}>{text}<p title=\"{}\">{text}",
                "x".repeat(bytes)
            )
        }
        "unclosed" => "<p><b><table><tr><td><!-- <a href='".repeat(bytes / 34) + &text,
        _ => "&nGt;&amp;&#x110000;&notit".repeat(bytes / 26) + &text,
    }
}

const KINDS: [&str; 14] = [
    "one word",
    "periodic",
    "one line",
    "one gram everywhere",
    "near-duplicates",
    "hot chunks",
    "tiny chunks",
    "shuffled sentences",
    "distinct words",
    "links",
    "nesting",
    "attributes",
    "unclosed",
    "entities",
];

/// The kinds that `./check` runs; `./check --full` runs all.
const OFTEN: [&str; 4] = [
    "one word",
    "one gram everywhere",
    "near-duplicates",
    "links",
];

const ANALYSES: [&str; 11] = [
    "copies",
    "detect",
    "discover",
    "index",
    "overlap",
    "overlap-servers",
    "passages",
    "phrases",
    "query",
    "quilts",
    "reuse",
];

const LIMITS: [&str; 4] = ["--memory", "32M", "--threads", "2"];

/// Near-duplicates that are made against the search for them.
fn near_duplicate(kind: &str, number: usize) -> String {
    const BYTES: usize = 4_000;
    match kind {
        // Each resembles its neighbours, and those theirs, so that there is no clear group.
        "chain" => words(10 * number, BYTES, " "),
        // All share half of their text: no two are duplicates, all are candidates.
        "halves" => {
            words(0, BYTES / 2, " ") + "\n\n" + &words(1_000 * (number + 1), BYTES / 2, " ")
        }
        // One text in which every page has other words replaced, at the edge of the threshold.
        _ => {
            let text = words(0, BYTES, " ");
            let changed = |(at, word): (usize, &str)| match (at * 7 + number * 13) % 50 {
                0 => format!("r{number}x{at} "),
                _ => format!("{word} "),
            };
            text.split(' ').enumerate().map(changed).collect()
        }
    }
}

/// The rows that the analyses of a corpus have read and written, by analysis.
fn rows_of(sandbox: &Sandbox) -> BTreeMap<String, u64> {
    let mut work = BTreeMap::new();
    for (name, bytes) in contents(&sandbox.path("c.cento")) {
        let Some(analysis) = name.strip_prefix("findings/") else {
            continue;
        };
        if name.ends_with("/run.json") {
            let record: Value = serde_json::from_slice(&bytes).unwrap();
            let analysis = analysis.split('/').next().unwrap_or_default();
            let rows: &mut u64 = work.entry(analysis.to_owned()).or_default();
            for stage in record["report"]["stages"].as_array().unwrap() {
                let number = |name: &str| stage[name].as_u64().unwrap_or(0);
                *rows += number("rows_in") + number("rows_out");
            }
        }
    }
    work
}

#[test]
fn the_work_on_near_duplicates_grows_with_their_number_and_not_faster() {
    for kind in ["chain", "halves", "replaced words"] {
        let [few, many] = [60, 60 * LONGER].map(|pages| {
            let sandbox = Sandbox::new();
            let lines = (0..pages).map(|number| {
                let url = format!("http://host{}.example/{number}", number % 29);
                let text = near_duplicate(kind, number);
                format!("{}\n", json!({ "url": url, "text": text }))
            });
            sandbox.write("pages.jsonl", lines.collect::<String>());
            sandbox.succeed(&["index", "pages.jsonl", "-o", "c.cento"]);
            sandbox.succeed(&["copies", "c.cento"]);
            sandbox.succeed(&["quilts", "c.cento"]);
            sandbox.succeed(&["discover", "c.cento", "--more-than", "1", "-o", "c.labels"]);
            rows_of(&sandbox)
        });
        for analysis in ["copies", "quilts", "discover"] {
            let (before, after) = (few[analysis], many[analysis]);
            assert!(
                after <= 2 * LONGER as u64 * before + 10_000,
                "{kind}, {analysis}: {before} rows become {after}"
            );
        }
    }
}

/// Runs every command on pages of a kind. Returns the work of each analysis and the bytes of its
/// tables.
fn run(kind: &str, bytes: usize) -> BTreeMap<String, (u64, u64)> {
    let sandbox = Sandbox::new();
    let lines = (0..PAGES).map(|number| {
        let (field, content) = page(kind, number, bytes);
        let url = format!("http://host{number}.example/{number}");
        format!("{}\n", json!({ "url": url, field: content }))
    });
    sandbox.write("pages.jsonl", lines.collect::<String>());
    let (_, query) = page(kind, 0, bytes);
    sandbox.write("query.txt", query);
    // The documented bound.
    let most = (32 + 128) * MIB + 6 * 4 * bytes as u64;
    for command in [
        &["index", "pages.jsonl", "-o", "c.cento"][..],
        &["scan", "c.cento"],
        &["overlap", "c.cento", "--json"],
        &["overlap", "c.cento", "--replication", "--json"],
        &["discover", "c.cento", "--more-than", "1", "-o", "c.labels"],
        &[
            "detect", "c.cento", "--labels", "c.labels", "--fuzzy", "--json",
        ],
        &["query", "c.cento", "query.txt", "--json"],
    ] {
        let peak = sandbox.peak_memory(&[command, &LIMITS].concat());
        assert!(peak < most, "{kind}, {command:?}: {} MiB", peak / MIB);
    }
    let mut work: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (name, bytes) in contents(&sandbox.path("c.cento")) {
        let mut parts = name.split('/');
        let analysis = match (parts.next(), parts.next()) {
            (Some("findings"), Some(analysis)) => analysis.to_owned(),
            (Some("query"), _) => "query".to_owned(),
            _ => "index".to_owned(),
        };
        let (rows, size) = work.entry(analysis).or_default();
        *size += bytes.len() as u64;
        if name.ends_with("/run.json") {
            let record: Value = serde_json::from_slice(&bytes).unwrap();
            for stage in record["report"]["stages"].as_array().unwrap() {
                let number = |name: &str| stage[name].as_u64().unwrap_or(0);
                *rows += number("rows_in") + number("rows_out");
            }
        }
    }
    work
}

#[test]
fn the_work_of_every_analysis_grows_with_the_text_and_not_faster() {
    let all = std::env::var_os("CENTO_LONG_TESTS").is_some();
    for kind in KINDS.into_iter().filter(|kind| all || OFTEN.contains(kind)) {
        let (small, large) = (run(kind, SMALL), run(kind, SMALL * LONGER));
        // Pages that are nested too deeply are rejected, and those that end in a comment have no
        // text, so that there is nothing to compare.
        let compared = !["nesting", "unclosed"].contains(&kind);
        for analysis in ANALYSES.iter().filter(|_| compared) {
            let known = large.contains_key(*analysis);
            assert!(known, "{kind}: {analysis} did not run: {large:?}");
        }
        for (analysis, (rows, bytes)) in &large {
            let (before, bytes_before) = small.get(analysis).copied().unwrap_or_default();
            // Twice the proportion, and some rows and bytes that do not depend on the text.
            let allowed = 2 * LONGER as u64;
            assert!(
                *rows <= allowed * before + 10_000 && *bytes <= allowed * bytes_before + 200_000,
                "{kind}, {analysis}: {before} rows and {bytes_before} bytes become {rows} and {bytes}"
            );
        }
    }
}

/// A Parquet table of these texts, all in one page.
fn table(texts: &[&str], dictionary: bool) -> Vec<u8> {
    let texts: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    let batch = RecordBatch::try_from_iter([("text", texts)]).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(dictionary)
        .set_dictionary_page_size_limit(64 << 20)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn a_compressed_bomb_is_rejected_within_the_memory_of_a_page() {
    use std::io::Write;
    let sandbox = Sandbox::new();
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..256 {
        bomb.write_all(&vec![b'a'; 1 << 20]).unwrap();
    }
    // A table with one page that expands to 240 MiB, and one of a long text that a dictionary
    // shares among many rows.
    sandbox.write(
        "tables/large.parquet",
        table(&["spam ".repeat(48 << 20).as_str()], false),
    );
    let long = "spam ".repeat(600_000);
    sandbox.write("tables/shared.parquet", table(&[long.as_str(); 64], true));
    // Packed twice: the outer member is small, too.
    let once = bomb.finish().unwrap();
    let mut twice = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    twice.write_all(&once).unwrap();
    sandbox.write("pages/bomb.html.gz", &once);
    sandbox.write("pages/twice.html.gz", twice.finish().unwrap());
    sandbox.write("pages/fine.txt", "A page that is kept.");
    let index = ["index", "pages", "-o", "c.cento", "--max-page", "4M"];
    let peak = sandbox.peak_memory(&[&index[..], &LIMITS].concat());
    assert!(peak < (32 + 128 + 24) * MIB, "{} MiB", peak / MIB);
    let index = ["index", "tables", "-o", "t.cento", "--max-page", "4M"];
    let peak = sandbox.peak_memory(&[&index[..], &LIMITS].concat());
    assert!(peak < (32 + 128 + 24) * MIB, "{} MiB", peak / MIB);
    let text = fs::read_to_string(sandbox.path("c.cento/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let kept: u64 = manifest["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["counts"]["kept"].as_u64().unwrap())
        .sum();
    assert!((1..=2).contains(&kept), "{manifest:#}");
}
