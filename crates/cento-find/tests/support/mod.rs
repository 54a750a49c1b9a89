//! Small corpora for the tests of analyses.

#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_find::{CorpusPages, Findings, Workplace, read_table};
use cento_flow::Progress;
use cento_store::{Build, Parameters};
use serde_json::{Value, json};

/// A page: its address and its text.
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

/// The same with other parameters.
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

/// A place to work in.
pub(crate) fn workplace(findings: &Path, threads: usize, memory: u64) -> Workplace {
    Workplace {
        threads,
        memory,
        temp: None,
        findings: findings.to_owned(),
        again: false,
        progress: Progress::new(),
    }
}

/// The rows of a table as JSON.
pub(crate) fn rows(findings: &Findings, table: &str) -> Vec<Value> {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
    use arrow_array::{Array, RecordBatch};
    fn value(batch: &RecordBatch, column: usize, row: usize) -> Value {
        let column = batch.column(column);
        if column.is_null(row) {
            return Value::Null;
        }
        if let Some(texts) = column.as_string_opt::<i32>() {
            return texts.value(row).into();
        }
        if let Some(numbers) = column.as_primitive_opt::<UInt64Type>() {
            return numbers.value(row).into();
        }
        if let Some(numbers) = column.as_primitive_opt::<UInt32Type>() {
            return numbers.value(row).into();
        }
        if let Some(numbers) = column.as_primitive_opt::<Float64Type>() {
            return numbers.value(row).into();
        }
        if let Some(hashes) = column.as_fixed_size_binary_opt() {
            let hash = hashes.value(row).iter();
            return hash
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
                .into();
        }
        if let Some(lists) = column.as_list_opt::<i32>() {
            let numbers = lists.value(row);
            return numbers
                .as_primitive::<UInt32Type>()
                .values()
                .to_vec()
                .into();
        }
        column.as_boolean().value(row).into()
    }
    let mut rows = Vec::new();
    for batch in read_table(&findings.table(table)).unwrap() {
        let batch = batch.unwrap();
        for row in 0..batch.num_rows() {
            let names = batch.schema_ref().fields().iter().enumerate();
            let object = names.map(|(at, field)| (field.name().clone(), value(&batch, at, row)));
            rows.push(Value::Object(object.collect()));
        }
    }
    rows
}

/// The bytes of all tables of a run.
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

/// A text of numbered words, `words` of them, that shares none with other seeds.
pub(crate) fn prose(seed: u64, words: usize) -> Vec<String> {
    (0..words).map(|word| format!("w{seed}x{word}")).collect()
}
