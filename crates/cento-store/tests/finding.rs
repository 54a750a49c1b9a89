//! What is found by id is what a scan finds, in corpora of any shape.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use cento_store::{Build, Built, Corpus, Parameters, Progress, Result, Table};
use proptest::prelude::*;

fn build(folder: &Path, output: &Path, parameters: Parameters, threads: usize) -> Result<Built> {
    let settings = cento_read::Settings::default();
    let resolved = cento_read::resolve(&[folder.display().to_string()], &settings)?;
    Build {
        corpus: output.to_owned(),
        inputs: resolved.inputs,
        passed_over: Default::default(),
        settings,
        parameters,
        add: false,
        again: false,
        passing: false,
        threads,
        memory: 1 << 30,
        progress: &Progress::default(),
    }
    .run()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_text_and_every_chunk_is_found_by_its_page(
        files in prop::collection::vec(prop::collection::vec("([a-zé漢]{1,9}[ \n]{1,2}){0,40}|!", 1..30), 1..4),
        part_bytes in 1u64..4000,
        threads in 1usize..4,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("input");
        std::fs::create_dir(&input).unwrap();
        for (number, texts) in files.iter().enumerate() {
            let lines: String = texts.iter().map(|text| serde_json::json!({ "text": text }).to_string() + "\n").collect();
            std::fs::write(input.join(format!("{number}.jsonl")), lines).unwrap();
        }
        let path = folder.path().join("x.cento");
        let parameters = Parameters { part_bytes, ..Parameters::default() };
        build(&input, &path, parameters, threads).unwrap();
        let corpus = Corpus::open(&path).unwrap();
        prop_assert!(Corpus::verify(&path).unwrap().is_empty());

        let mut texts = Vec::new();
        for batch in corpus.scan(Table::Text, &["page_id", "text"]) {
            let batch = batch.unwrap();
            let ids = batch.column(0).as_primitive::<UInt64Type>();
            for (row, text) in batch.column(1).as_string::<i32>().iter().enumerate() {
                texts.push((ids.value(row), text.unwrap().to_owned()));
            }
        }
        prop_assert!(texts.is_sorted());
        let kept: Vec<(u64, &String)> = files.iter().enumerate().flat_map(|(file, texts)| {
            texts.iter().enumerate().map(move |(line, text)| (((file as u64) << 32) | line as u64, text))
        }).collect();
        for (id, original) in kept {
            let found = corpus.text(id).unwrap();
            let scanned = texts.binary_search_by_key(&id, |(id, _)| *id).ok().map(|at| texts[at].1.clone());
            prop_assert_eq!(&found, &scanned);
            let has_words = original.chars().any(char::is_alphanumeric);
            prop_assert_eq!(found.is_some(), has_words);
            let Some(text) = found else { continue };
            let chunks = corpus.chunks(id).unwrap();
            let row = corpus.page(id).unwrap().unwrap();
            let count = row.column_by_name("chunks").unwrap().as_primitive::<UInt32Type>().value(0);
            prop_assert_eq!(chunks.len(), count as usize);
            // Chunks are in order, and what lies between them is white space.
            let mut end = 0;
            for (ordinal, chunk) in chunks.iter().enumerate() {
                prop_assert_eq!(chunk.ordinal as usize, ordinal);
                prop_assert!(text[end..chunk.begin as usize].trim().is_empty());
                prop_assert!(!text[chunk.begin as usize..chunk.end as usize].is_empty());
                end = chunk.end as usize;
            }
            prop_assert!(text[end..].trim().is_empty());
        }
        prop_assert_eq!(corpus.text(u64::MAX).unwrap(), None);
    }
}

#[test]
fn two_processes_do_not_write_to_one_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.txt");
    std::fs::write(&input, "Some text.").unwrap();
    let path = folder.path().join("x.cento");
    std::fs::create_dir(&path).unwrap();
    let lock = std::fs::File::create(path.join(".lock")).unwrap();
    lock.lock().unwrap();
    let error = build(&input, &path, Parameters::default(), 1).unwrap_err();
    assert!(matches!(error, cento_store::Error::Busy(_)), "{error}");
    drop(lock);
    build(&input, &path, Parameters::default(), 1).unwrap();
}
