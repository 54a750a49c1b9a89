//! A temporary corpus has the same texts wherever they are: in memory, in files, or in both.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_store::{
    Build, Corpus, PageColumns, PageLimits, Parameters, Projection, Table, TextColumns, TextMemory,
};

/// A file of pages with texts of different lengths.
fn input(folder: &Path) -> PathBuf {
    let mut lines = String::new();
    for page in 0..300u64 {
        let words = (0..page * 7 % 90).map(|word| format!("word{}", word * page % 97));
        let text = words.collect::<Vec<_>>().join(" ");
        lines += &format!("{{\"url\": \"test:{page}\", \"text\": \"{text}\"}}\n");
    }
    let path = folder.join("pages.jsonl");
    std::fs::write(&path, lines).unwrap();
    path
}

fn build<'a>(input: &Path, corpus: &Path, parameters: &Parameters) -> Build<'a> {
    let settings = cento_read::Settings::default();
    let inputs = [input.to_str().unwrap().to_owned()];
    let inputs = cento_read::resolve(&inputs, &settings).unwrap().inputs;
    Build::new(inputs, corpus)
        .parameters(parameters.clone())
        .threads(2)
}

/// The page ids and texts of all pages.
fn texts(corpus: &Corpus) -> Vec<(u64, String)> {
    let mut texts = Vec::new();
    for batch in corpus.scan::<TextColumns>() {
        let batch = batch.unwrap();
        let rows = (0..batch.rows()).map(|row| batch.row(row));
        texts.extend(rows.map(|row| (row.page_id, row.text.to_owned())));
    }
    texts
}

/// The reasons for which pages were rejected, and the hashes of texts.
fn facts(corpus: &Corpus) -> Vec<(Option<String>, Option<[u8; 16]>)> {
    let mut facts = Vec::new();
    for batch in corpus.scan::<PageColumns>() {
        let batch = batch.unwrap();
        let rows = (0..batch.rows()).map(|row| batch.row(row));
        facts.extend(rows.map(|row| (row.reject.map(str::to_owned), row.text_hash)));
    }
    facts
}

#[test]
fn texts_in_memory_equal_those_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let input = input(folder.path());
    // Several parts of several batches.
    let parameters = Parameters {
        part_bytes: 32 << 10,
        ..Parameters::default()
    };
    let stored = folder.path().join("stored.cento");
    build(&input, &stored, &parameters).run().unwrap();
    let stored = Corpus::open(&stored).unwrap();
    let expected = texts(&stored);
    assert!(stored.manifest().parts.len() > 2 && expected.len() > 200);
    let mut checksums = Vec::new();
    for limit in [0, 40_000, u64::MAX] {
        let path = folder.path().join(format!("{limit}.cento"));
        let memory = Arc::new(TextMemory::new(limit));
        let built = build(&input, &path, &parameters).texts_only(&memory).run();
        assert_eq!(built.unwrap().counts.kept, expected.len() as u64);
        let corpus = Corpus::open_temporary(&path, Arc::clone(&memory)).unwrap();
        assert!(corpus.bytes_in_memory() <= limit);
        assert_eq!(corpus.bytes_in_memory() > 0, limit > 0);
        assert_eq!(texts(&corpus), expected);
        assert_eq!(facts(&corpus), facts(&stored));
        for (id, text) in expected.iter().step_by(37) {
            assert_eq!(corpus.text(*id).unwrap().as_ref(), Some(text));
        }
        assert_eq!(corpus.text(u64::MAX).unwrap(), None);
        let mut first = 0;
        for part in 0..corpus.manifest().parts.len() {
            let groups = corpus.group_rows(part, Table::Text).unwrap();
            assert_eq!(groups, stored.group_rows(part, Table::Text).unwrap());
            let rows: u64 = groups.iter().sum();
            let some: Vec<u64> = (0..rows).filter(|row| row % 5 < 2).collect();
            let picked = corpus.pick::<TextColumns>(part, &some, 16).unwrap();
            let mut found = Vec::new();
            for batch in picked {
                let batch = batch.unwrap();
                found.extend((0..batch.rows()).map(|row| batch.row(row).text.to_owned()));
            }
            let texts = some.iter().map(|row| &expected[first + *row as usize].1);
            assert!(found.iter().eq(texts));
            let last = groups.len() - 1;
            let scanned = corpus.scan_groups::<TextColumns>(part, last..last + 1, 16);
            let scanned = scanned.unwrap().map(|batch| batch.unwrap().rows() as u64);
            assert_eq!(scanned.sum::<u64>(), groups[last]);
            first += rows as usize;
        }
        let pages = corpus.manifest().parts.iter();
        checksums.push(
            pages
                .map(|part| part.pages.blake3.clone())
                .collect::<Vec<_>>(),
        );
        // Another process would not have the texts.
        if limit == u64::MAX {
            let without = Corpus::open(&path).unwrap();
            assert!(without.scan::<TextColumns>().any(|batch| batch.is_err()));
        }
    }
    assert!(checksums.iter().all(|parts| *parts == checksums[0]));
}

#[test]
fn a_page_with_too_many_chunks_is_rejected_even_if_chunks_are_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("pages.jsonl");
    let line = |text: &str| format!("{{\"text\": \"{text}\"}}\n");
    let lines = line("a") + &line("one paragraph") + &line("a\\n\\nb\\n\\nc\\n\\nd");
    std::fs::write(&input, lines).unwrap();
    let parameters = Parameters {
        limits: PageLimits {
            max_chunks: 3,
            ..PageLimits::default()
        },
        ..Parameters::default()
    };
    let path = folder.path().join("stored.cento");
    build(&input, &path, &parameters).run().unwrap();
    let expected = facts(&Corpus::open(&path).unwrap());
    assert_eq!(
        expected
            .iter()
            .filter(|(reject, _)| reject.is_some())
            .count(),
        1
    );
    let path = folder.path().join("temporary.cento");
    let memory = Arc::new(TextMemory::new(1 << 20));
    let built = build(&input, &path, &parameters).texts_only(&memory).run();
    assert_eq!(built.unwrap().counts.chunks, 0);
    let corpus = Corpus::open_temporary(&path, memory).unwrap();
    assert_eq!(facts(&corpus), expected);
}
