//! The files of an index: their bytes, their extension, and corrupted ones.

#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::fs;
use std::path::PathBuf;

use cento_query::{Error, QUERY, QueryIndex, QuerySettings, update};
use proptest::prelude::*;
use support::{LITTLE, bytes_of, corpus, extended, open, resources, url};

/// Pages that share a passage with their neighbours, and words of their own.
fn texts(pages: usize) -> Vec<String> {
    let passage = |number: usize| -> String {
        let words = (0..12).map(|word| format!("p{number}w{word} "));
        words.collect()
    };
    let own = |number: usize| -> String {
        let words = (0..30).map(|word| format!("o{number}w{word} "));
        words.collect()
    };
    let page = |number| format!("{}{}{}", passage(number), own(number), passage(number + 1));
    (0..pages).map(page).collect()
}

fn urls(index: &QueryIndex, text: &str) -> Vec<String> {
    let settings = QuerySettings {
        top: 0,
        ..QuerySettings::default()
    };
    let answer = index.query(text, &settings).unwrap();
    let mut urls: Vec<String> = answer.matches.into_iter().map(|page| page.url).collect();
    urls.sort();
    urls
}

#[test]
fn neither_threads_nor_memory_change_a_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = corpus(folder.path(), "pages", 0, &texts(300));
    update(&path, &resources(1, LITTLE)).unwrap();
    let expected = bytes_of(&path);
    for (threads, memory) in [(1, 1 << 30), (3, 3 * LITTLE), (2, 64 << 20)] {
        fs::remove_dir_all(path.join(QUERY)).unwrap();
        update(&path, &resources(threads, memory)).unwrap();
        assert_eq!(
            bytes_of(&path),
            expected,
            "{threads} threads, {memory} bytes"
        );
    }
    // Building it again gives the same bytes too.
    let again = cento_query::IndexResources {
        again: true,
        ..resources(2, 64 << 20)
    };
    assert_eq!(update(&path, &again).unwrap().added_pages, 300);
    assert_eq!(bytes_of(&path), expected);
}

#[test]
fn an_index_is_extended_by_segments_and_merged_when_there_are_many() {
    let folder = tempfile::tempdir().unwrap();
    let all = texts(30);
    let path = corpus(folder.path(), "pages", 0, &all[..3]);
    assert_eq!(extended(&path).segments, 1);
    assert_eq!(extended(&path).added_pages, 0);
    let mut most = 1;
    for run in 1..10 {
        corpus(folder.path(), "pages", 3 * run, &all[3 * run..3 * run + 3]);
        assert!(matches!(QueryIndex::open(&path), Err(Error::Outdated(_))));
        let updated = extended(&path);
        most = most.max(updated.segments);
        assert_eq!(updated.pages as usize, 3 * run + 3);
        let index = QueryIndex::open(&path).unwrap();
        // The neighbours share a passage with a page.
        let found = urls(&index, &all[3 * run]);
        let mut expected: Vec<String> = [3 * run - 1, 3 * run, 3 * run + 1].map(url).into();
        expected.sort();
        assert_eq!(found, expected);
    }
    assert_eq!(most, 8);
    // The ninth segment was the first of a new index.
    assert_eq!(extended(&path).segments, 2);
    assert!(QueryIndex::verify(&path).unwrap().is_empty());
}

#[test]
fn an_index_of_another_corpus_is_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let one = corpus(folder.path(), "one", 0, &texts(5));
    let other = corpus(folder.path(), "other", 0, &texts(9)[4..]);
    extended(&one);
    fs::create_dir(other.join(QUERY)).unwrap();
    for (name, bytes) in bytes_of(&one) {
        fs::write(other.join(QUERY).join(name), bytes).unwrap();
    }
    assert!(matches!(QueryIndex::open(&other), Err(Error::Outdated(_))));
    assert_eq!(extended(&other).added_pages, 5);
    assert_eq!(urls(&open(&other), &texts(9)[5]).len(), 3);
    assert!(matches!(
        QueryIndex::open(&corpus(folder.path(), "new", 0, &texts(1))),
        Err(Error::NotIndexed(_))
    ));
}

#[test]
fn a_corpus_without_pages_or_with_short_ones_has_no_matches() {
    let folder = tempfile::tempdir().unwrap();
    let path = corpus(folder.path(), "none", 0, &[String::new()]);
    let index = open(&path);
    assert_eq!(
        urls(&index, "to be or not to be that is the question"),
        [""; 0]
    );
    let path = corpus(
        folder.path(),
        "short",
        0,
        &["a b".into(), "".into(), "c".into()],
    );
    let index = open(&path);
    let answer = index.query("a b", &QuerySettings::default()).unwrap();
    assert_eq!((answer.fingerprints, answer.pages), (0, 0));
    assert!(QueryIndex::verify(&path).unwrap().is_empty());
}

#[test]
fn a_text_on_many_pages_is_one_list_and_all_copies_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let same =
        "我喜欢读书。他每天早上在图书馆里读很多有意思的旧书和新书，然后回家吃饭睡觉。".repeat(3);
    let mut pages = vec![same.clone(); 200];
    pages.push("something else that nobody has written on any other page of the corpus".into());
    let path = corpus(folder.path(), "pages", 0, &pages);
    let index = open(&path);
    let answer = index.query(&same, &QuerySettings::default()).unwrap();
    assert_eq!((answer.pages, answer.matches.len()), (200, 10));
    assert!(answer.matches.iter().all(|page| page.identical));
    assert_eq!(answer.matches[0].url, url(0));
    // The page itself is not listed, its copies are.
    let answer = index.query_page(7, &QuerySettings::default()).unwrap();
    assert_eq!(answer.pages, 199);
    assert!(answer.matches.iter().all(|page| page.page_id != 7));
}

/// An index with several segments, and its files.
fn sample() -> (tempfile::TempDir, PathBuf, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let all = texts(150);
    let path = corpus(folder.path(), "pages", 0, &all[..100]);
    extended(&path);
    corpus(folder.path(), "pages", 100, &all[100..]);
    extended(&path);
    let files = bytes_of(&path).into_iter();
    let files = files.map(|(name, _)| path.join(QUERY).join(name)).collect();
    (folder, path, files)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_changed_or_cut_file_is_found_by_verification_and_never_panics(
        file: prop::sample::Index,
        at: prop::sample::Index,
        change in 1u8..=255,
        cut: bool,
    ) {
        thread_local! {
            static SAMPLE: (tempfile::TempDir, PathBuf, Vec<PathBuf>) = sample();
        }
        SAMPLE.with(|(_, path, files)| -> Result<(), TestCaseError> {
            let file = file.get(files);
            let whole = fs::read(file).unwrap();
            let at = at.index(whole.len());
            let mut bytes = whole.clone();
            match cut {
                true => bytes.truncate(at),
                false => bytes[at] ^= change,
            }
            fs::write(file, &bytes).unwrap();
            let verified = QueryIndex::verify(path);
            let query = &texts(150)[99];
            let answer = QueryIndex::open(path).and_then(|index| {
                let all = QuerySettings { top: 0, ..QuerySettings::default() };
                let low = QuerySettings { max_pages: Some(2), ..QuerySettings::default() };
                let page = index.query_page(3, &low).map(|_| ());
                index.query(query, &all).and_then(|answer| page.map(|()| answer))
            });
            fs::write(file, &whole).unwrap();
            prop_assert!(verified.is_err() || !verified.unwrap().is_empty());
            if let Err(error) = answer {
                prop_assert!(!error.to_string().is_empty() && error.hint().is_some());
            }
            Ok(())
        })?;
    }
}
