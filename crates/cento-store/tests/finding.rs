//! Reading a page by its id returns what a scan returns, in corpora of any shape.

use std::path::Path;

use cento_store::{Build, Built, Corpus, PageColumns, Parameters, Projection, Result, TextColumns};
use proptest::prelude::*;

fn build(folder: &Path, output: &Path, parameters: Parameters, threads: usize) -> Result<Built> {
    let settings = cento_read::Settings::default();
    let resolved = cento_read::resolve(&[folder.display().to_string()], &settings)?;
    Build::new(resolved.inputs, output)
        .settings(settings)
        .parameters(parameters)
        .threads(threads)
        .run()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_text_and_chunk_is_found_by_its_page_id(
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
        for batch in corpus.scan::<TextColumns>() {
            let batch = batch.unwrap();
            for row in (0..batch.rows()).map(|row| batch.row(row)) {
                texts.push((row.page_id, row.text.to_owned()));
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
            let page = PageColumns::from_batch(&corpus.page(id).unwrap().unwrap()).unwrap();
            let count = page.row(0).chunks;
            prop_assert_eq!(chunks.len(), count as usize);
            // Chunks are in order, with only white space between them.
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
fn two_processes_cannot_write_to_one_corpus() {
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
