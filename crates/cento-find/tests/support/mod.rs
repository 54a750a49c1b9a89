//! Small corpora for the tests of analyses.

#![allow(dead_code, reason = "each test uses some of these functions")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_find::{CorpusPages, Findings, Workplace, read_table, row_values};
use cento_flow::Progress;
use cento_store::{Build, Parameters};
use serde_json::{Value, json};

/// A page: its URL and its text.
pub(crate) type Page = (String, String);

/// Indexes pages as a corpus.
pub(crate) fn corpus(folder: &Path, name: &str, pages: &[Page]) -> PathBuf {
    let rows: Vec<Value> = pages
        .iter()
        .map(|(url, text)| json!({ "url": url, "text": text }))
        .collect();
    corpus_of(folder, name, &rows)
}

/// Indexes lines of JSON as a corpus.
pub(crate) fn corpus_of(folder: &Path, name: &str, rows: &[Value]) -> PathBuf {
    corpus_with(folder, name, rows, Parameters::default())
}

/// Indexes lines of JSON with these parameters.
pub(crate) fn corpus_with(
    folder: &Path,
    name: &str,
    rows: &[Value],
    parameters: Parameters,
) -> PathBuf {
    let input = folder.join(format!("{name}.jsonl"));
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    std::fs::write(&input, lines).unwrap();
    corpus_from(folder, name, &input, parameters)
}

/// Indexes a file as a corpus.
pub(crate) fn corpus_from(
    folder: &Path,
    name: &str,
    input: &Path,
    parameters: Parameters,
) -> PathBuf {
    let settings = cento_read::Settings::default();
    let resolved = cento_read::resolve(&[input.display().to_string()], &settings).unwrap();
    let path = folder.join(format!("{name}.cento"));
    Build::new(resolved.inputs, &path)
        .settings(settings)
        .parameters(parameters)
        .threads(2)
        .run()
        .unwrap();
    path
}

/// Opens corpora.
pub(crate) fn open(paths: &[&Path]) -> Arc<CorpusPages> {
    Arc::new(CorpusPages::open(paths).unwrap())
}

/// Returns a workplace with these resources.
pub(crate) fn workplace(findings: &Path, threads: usize, memory: u64) -> Workplace {
    Workplace {
        threads,
        memory,
        temp: None,
        findings: findings.to_owned(),
        again: false,
        progress: Progress::new(),
        request: Default::default(),
    }
}

/// Returns the rows of a table as JSON.
pub(crate) fn rows(findings: &Findings, table: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    for batch in read_table(&findings.table(table)).unwrap() {
        let batch = batch.unwrap();
        for row in 0..batch.num_rows() {
            let values = row_values(&batch, row).map(|(name, value)| (name.to_owned(), value));
            rows.push(Value::Object(values.collect()));
        }
    }
    rows
}

/// Returns the bytes of all tables of a run.
pub(crate) fn bytes(findings: &Findings) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(&findings.path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "parquet"))
        .map(|path| (path.display().to_string(), std::fs::read(&path).unwrap()))
        .map(|(path, bytes)| (path.rsplit('/').next().unwrap().to_owned(), bytes))
        .collect();
    files.sort();
    files
}

/// Returns a text of numbered words that has none in common with the texts of other seeds.
pub(crate) fn prose(seed: u64, words: usize) -> Vec<String> {
    (0..words).map(|word| format!("w{seed}x{word}")).collect()
}
