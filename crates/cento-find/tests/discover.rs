//! `discover` against the definitions of the paper.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cento_find::Findings;
use cento_find::discover::{
    DiscoverParams, DiscoverSummary, FrequencyRow, How, discover, frequencies, write_labels,
};
use cento_find::provenance::{LabelRow, read_labels, read_originals, table_of};
use cento_labels::{Labels, Recipe, StopList};
use proptest::prelude::*;
use serde_json::json;
use support::{bytes, corpus, corpus_of, open, workplace};

fn run(
    corpora: &[&Path],
    params: &DiscoverParams,
    findings: &Path,
    threads: usize,
    memory: u64,
) -> Findings {
    discover(
        &open(corpora),
        params,
        &workplace(findings, threads, memory),
    )
    .unwrap()
}

fn labels_of(findings: &Findings) -> Vec<LabelRow> {
    read_labels(&findings.table("labels"))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn chunk(number: u8) -> String {
    format!("This is the chunk of the number {number}, and it is quite long.")
}

fn page(at: usize, chunks: &[u8]) -> (String, String) {
    let text: Vec<String> = chunks.iter().map(|&number| chunk(number)).collect();
    (
        format!("http://h{}.d{}.example/{at}", at % 4, at % 3),
        text.join("\n\n"),
    )
}

fn with(how: How, stops: &[u8]) -> DiscoverParams {
    let list: String = stops.iter().map(|&number| chunk(number) + "\n").collect();
    DiscoverParams::new(how, Recipe::default(), &StopList::parse(&list).unwrap())
}

/// The definition: count, pages, domains and first page of every chunk.
fn naive(pages: &[Vec<u8>]) -> BTreeMap<u8, (u64, u64, u64, usize)> {
    let mut seen: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (at, chunks) in pages.iter().enumerate() {
        chunks
            .iter()
            .for_each(|&number| seen.entry(number).or_default().push(at));
    }
    let counted = seen.into_iter().map(|(number, places)| {
        let distinct: BTreeSet<usize> = places.iter().copied().collect();
        let sites: BTreeSet<usize> = distinct.iter().map(|at| at % 3).collect();
        (
            number,
            (
                places.len() as u64,
                distinct.len() as u64,
                sites.len() as u64,
                places[0],
            ),
        )
    });
    counted.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn blind_labels_follow_the_definition_of_the_paper(
        pages in proptest::collection::vec(proptest::collection::vec(0u8..14, 1..10), 1..25),
        stops in proptest::collection::vec(0u8..14, 0..3),
        threshold in 1u64..6,
        top in 1u64..8,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let rows: Vec<_> = pages.iter().enumerate().map(|(at, chunks)| page(at, chunks)).collect();
        let path = corpus(folder.path(), "pages", &rows);
        let counted = naive(&pages);
        let recipe = Recipe::default();

        let params = with(How::Threshold(threshold), &stops);
        let found = run(&[&path], &params, &folder.path().join("a"), 2, 64 << 20);
        let mut expected: Vec<LabelRow> = counted
            .iter()
            .filter(|(number, counts)| counts.0 > threshold && !stops.contains(number))
            .map(|(&number, &(count, on, sites, first))| LabelRow {
                hash: recipe.chunk_hash(&chunk(number)),
                text: Some(chunk(number)),
                bytes: chunk(number).len() as u64,
                count,
                pages: on,
                sites: Some(sites),
                page_id: first as u64,
                page: rows[first].0.clone(),
                originals: Vec::new(),
                proposed: None,
            })
            .collect();
        expected.sort_by_key(|row| row.hash);
        prop_assert_eq!(labels_of(&found), expected);

        // The frequencies include the stop list.
        let mut histogram: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
        for (number, counts) in &counted {
            let entry = histogram.entry(counts.0).or_default();
            entry[0] += 1;
            entry[1] += u64::from(stops.contains(number));
        }
        let histogram: Vec<FrequencyRow> = histogram
            .into_iter()
            .map(|(count, [objects, stopped])| FrequencyRow { count, objects, stopped })
            .collect();
        prop_assert_eq!(frequencies(&found).unwrap(), histogram);

        // The most frequent chunks; ties go to the lowest hashes.
        let params = with(How::Top(top), &stops);
        let found = run(&[&path], &params, &folder.path().join("b"), 2, 64 << 20);
        let mut ranked: Vec<(std::cmp::Reverse<u64>, [u8; 16])> = counted
            .iter()
            .filter(|(number, counts)| counts.0 > 1 && !stops.contains(number))
            .map(|(&number, counts)| (std::cmp::Reverse(counts.0), recipe.chunk_hash(&chunk(number))))
            .collect();
        ranked.sort();
        ranked.truncate(top as usize);
        let wanted: BTreeSet<[u8; 16]> = ranked.into_iter().map(|(_, hash)| hash).collect();
        let found: BTreeSet<[u8; 16]> = labels_of(&found).into_iter().map(|row| row.hash).collect();
        prop_assert_eq!(found, wanted);
    }
}

#[test]
fn discovery_is_not_distributive() {
    // The example of the paper, a hundredth of its size: 10 in one corpus and 1 in the other, with
    // a threshold of 10.
    let folder = tempfile::tempdir().unwrap();
    let pages = |count: usize| -> Vec<_> { (0..count).map(|at| page(at, &[1])).collect() };
    let (one, other) = (
        corpus(folder.path(), "one", &pages(10)),
        corpus(folder.path(), "other", &pages(1)),
    );
    let params = with(How::Threshold(10), &[]);
    let labels = |corpora: &[&Path], name: &str| {
        labels_of(&run(
            corpora,
            &params,
            &folder.path().join(name),
            2,
            64 << 20,
        ))
        .len()
    };
    assert_eq!((labels(&[&one], "a"), labels(&[&other], "b")), (0, 0));
    assert_eq!(labels(&[&one, &other], "c"), 1);
}

#[test]
fn pages_without_a_domain_do_not_count_as_domains() {
    let folder = tempfile::tempdir().unwrap();
    // Two of three domains have the chunk, and two pages without a domain.
    let pages = [
        ("http://a.example/1".to_owned(), chunk(1)),
        ("http://b.example/1".to_owned(), chunk(1)),
        ("http://c.example/1".to_owned(), chunk(2)),
        ("folder/one.txt".to_owned(), chunk(1)),
        ("folder/two.txt".to_owned(), chunk(1)),
    ];
    let made = corpus(folder.path(), "x", &pages);
    let params = with(How::Threshold(2), &[]);
    let found = run(&[&made], &params, &folder.path().join("f"), 1, 64 << 20);
    let counted: Vec<(u64, u64, u64)> = labels_of(&found)
        .iter()
        .map(|label| (label.count, label.pages, label.sites))
        .collect();
    assert_eq!(counted, [(4, 4, 2)]);
}

#[test]
fn every_label_of_originals_has_the_list_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let short = "Short, but not on the list.";
    let pages = [
        (
            "http://a.example/1".to_owned(),
            format!("{}\n\n{}\n\n{short}", chunk(1), chunk(2)),
        ),
        (
            "http://a.example/2".to_owned(),
            format!("{}\n\nHome\n\n{}\n\n{}", chunk(2), chunk(3), chunk(3)),
        ),
    ];
    let path = corpus(folder.path(), "originals", &pages);
    let params = DiscoverParams::new(How::Informed(40), Recipe::default(), &StopList::built_in());
    let found = run(&[&path], &params, &folder.path().join("a"), 2, 64 << 20);
    let by_text: BTreeMap<String, LabelRow> = labels_of(&found)
        .into_iter()
        .map(|row| (row.text.clone().unwrap(), row))
        .collect();
    assert_eq!(by_text.len(), 3);
    assert_eq!(by_text[&chunk(2)].originals, [0, 1]);
    assert_eq!((by_text[&chunk(3)].count, by_text[&chunk(3)].pages), (2, 1));
    let originals: Vec<(String, u64)> = read_originals(&found.table("originals"))
        .unwrap()
        .map(|row| row.map(|row| (row.page, row.labels)).unwrap())
        .collect();
    assert_eq!(
        originals,
        [(pages[0].0.clone(), 2), (pages[1].0.clone(), 2)]
    );
    let counted: DiscoverSummary = found.summary().unwrap();
    assert_eq!(
        (counted.labels, counted.objects, counted.originals),
        (3, 7, 2)
    );

    let file = folder.path().join("mine.labels");
    write_labels(&found, &params, &file).unwrap();
    let labels = Labels::open(&file).unwrap();
    labels.verify().unwrap();
    let table: Vec<[u8; 16]> = read_labels(&table_of(&file))
        .unwrap()
        .map(|row| row.unwrap().hash)
        .collect();
    assert_eq!(labels.iter().collect::<Vec<_>>(), table);
    assert!(labels.is_stop(&Recipe::default().chunk_hash("home")));
    // With other chunks than those of the corpus, the text is cut again.
    let words = Recipe {
        chunk: "words:3".parse().unwrap(),
        ..Recipe::default()
    };
    let params = DiscoverParams::new(How::Informed(0), words, &StopList::default());
    let found = run(&[&path], &params, &folder.path().join("b"), 2, 64 << 20);
    assert!(
        labels_of(&found)
            .iter()
            .any(|row| row.text.as_deref() == Some("This is the"))
    );
}

#[test]
fn files_are_counted_even_if_their_text_was_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let text = "The same bytes on several pages, which is what a file is.";
    let rows: Vec<_> = (0..4)
        .map(|at| json!({ "url": format!("http://d{at}.example/"), "text": text }))
        .chain([json!({ "url": "http://x.example/", "text": "" }), json!({ "url": "http://y.example/", "text": "" })])
        .chain((0..9).map(|at| json!({ "url": format!("http://t.example/a/a/a/a/a/{at}"), "text": "Round and round it goes in circles without an end to it." })))
        .collect();
    let path = corpus_of(folder.path(), "files", &rows);
    let params = |list: &StopList| DiscoverParams::new(How::Threshold(1), Recipe::files(), list);
    let found = labels_of(&run(
        &[&path],
        &params(&StopList::default()),
        &folder.path().join("a"),
        1,
        64 << 20,
    ));
    let counts: Vec<(u64, u64)> = found.iter().map(|row| (row.bytes, row.count)).collect();
    // Pages of a crawler in a loop are not counted; empty files are, though they have no text.
    assert_eq!(
        BTreeSet::from_iter(counts),
        BTreeSet::from([(text.len() as u64, 4), (0, 2)])
    );
    assert!(found.iter().all(|row| row.text.is_none()));
    let stopped = labels_of(&run(
        &[&path],
        &params(&StopList::built_in()),
        &folder.path().join("b"),
        1,
        64 << 20,
    ));
    assert_eq!(stopped.len(), 1);
}

#[test]
fn findings_do_not_depend_on_threads_or_memory() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<_> = (0..400usize)
        .map(|at| {
            let mut chunks: Vec<u8> = (0..20)
                .map(|step| ((at * at + step * 7) % 200) as u8)
                .collect();
            chunks.push((at % 250) as u8);
            page(at, &chunks)
        })
        .collect();
    let path = corpus(folder.path(), "pages", &rows);
    for how in [How::Threshold(5), How::Top(50), How::Informed(20)] {
        let params = with(how, &[3, 5]);
        let one = run(
            &[&path],
            &params,
            &folder.path().join(format!("one{how:?}")),
            1,
            1 << 30,
        );
        // So little memory that chunks that occur once are filtered before the shuffle.
        let other = run(
            &[&path],
            &params,
            &folder.path().join(format!("other{how:?}")),
            4,
            17 << 20,
        );
        assert_eq!(bytes(&one), bytes(&other));
    }
}
