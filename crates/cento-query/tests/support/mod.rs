//! Small corpora for the tests of queries.

#![allow(dead_code, reason = "each test uses some of these functions")]

use std::path::{Path, PathBuf};

use cento_flow::Progress;
use cento_query::{IndexResources, QueryIndex, UpdatedIndex, update};
use cento_store::{Build, Parameters};
use serde_json::json;

/// The smallest budget of one thread.
pub(crate) const LITTLE: u64 = cento_flow::MemoryBudget::MINIMUM_PER_THREAD;

/// The URL of a page.
pub(crate) fn url(number: usize) -> String {
    format!("http://h{}.example/{number}", number % 3)
}

/// Indexes pages as a corpus, or adds them to it. URLs are numbered from `first` on.
pub(crate) fn corpus(folder: &Path, name: &str, first: usize, texts: &[String]) -> PathBuf {
    let input = folder.join(format!("{name}-{first}.jsonl"));
    let lines = texts.iter().enumerate().map(|(at, text)| {
        let line = json!({ "url": url(first + at), "text": text });
        format!("{line}\n")
    });
    std::fs::write(&input, lines.collect::<String>()).unwrap();
    let settings = cento_read::Settings::default();
    let resolved = cento_read::resolve(&[input.display().to_string()], &settings).unwrap();
    let path = folder.join(format!("{name}.cento"));
    Build::new(resolved.inputs, &path)
        .settings(settings)
        .parameters(Parameters::default())
        .add_to_existing(first > 0)
        .threads(1)
        .run()
        .unwrap();
    path
}

pub(crate) fn resources(threads: usize, memory: u64) -> IndexResources {
    IndexResources {
        threads,
        memory,
        temp: None,
        again: false,
        progress: Progress::new(),
    }
}

pub(crate) fn extended(corpus: &Path) -> UpdatedIndex {
    update(corpus, &resources(1, 64 << 20)).unwrap()
}

/// Builds or extends an index, and opens it.
pub(crate) fn open(corpus: &Path) -> QueryIndex {
    extended(corpus);
    QueryIndex::open(corpus).unwrap()
}

/// The bytes of all files of an index, with their names.
pub(crate) fn bytes_of(corpus: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(corpus.join(cento_query::QUERY)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name != ".lock" {
            files.push((name, std::fs::read(entry.path()).unwrap()));
        }
    }
    files.sort();
    files
}
