//! A corpus that another command has made for itself, as somebody else may send it.

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
    // Texts in memory are gone with the command; those that did not fit are in files.
    for limit in [u64::MAX, 0] {
        let corpus = folder.path().join(format!("{limit}.cento"));
        let memory = Arc::new(TextMemory::new(limit));
        let build = Build::new(inputs.inputs.clone(), &corpus);
        build.texts_only(&memory).run().unwrap();
        let opened = CorpusPages::open(&[&corpus]);
        assert_eq!(opened.is_ok(), limit == 0);
        let error = opened.and_then(|pages| pages.chunk_tasks()).unwrap_err();
        assert_eq!(error.fault(), Fault::Corrupted, "{error}");
    }
}
