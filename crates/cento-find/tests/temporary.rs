//! A corpus that another command has made for itself, as somebody else may send it.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::sync::Arc;

use cento_file::Fault;
use cento_find::CorpusPages;
use cento_store::{Build, TextMemory};

#[test]
fn a_corpus_without_chunks_is_corrupted_and_no_bug() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("pages.jsonl");
    std::fs::write(&input, "{\"url\": \"test:1\", \"text\": \"One page.\"}\n").unwrap();
    let inputs = [input.to_str().unwrap().to_owned()];
    let inputs = cento_read::resolve(&inputs, &cento_read::Settings::default()).unwrap();
    let corpus = folder.path().join("pages.cento");
    let memory = Arc::new(TextMemory::new(u64::MAX));
    let build = Build::new(inputs.inputs, &corpus);
    build.texts_only(&memory).run().unwrap();
    let pages = CorpusPages::open(&[&corpus]).unwrap();
    let error = pages.chunk_tasks().unwrap_err();
    assert_eq!(error.fault(), Fault::Corrupted, "{error}");
}
