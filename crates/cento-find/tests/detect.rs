//! `detect` against the definitions of the paper.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cento_find::Findings;
use cento_find::detect::{
    DetectParams, DetectSummary, FUZZY_TABLE, GramsParams, GramsSummary, LabelSet, detect, grams,
    histograms, thresholds,
};
use cento_find::discover::{DiscoverParams, How, discover, write_labels};
use cento_labels::{LabelsWriter, Recipe, StopList};
use cento_store::Parameters;
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{bytes, corpus, corpus_of, corpus_with, open, rows, workplace};

fn chunk(number: u8) -> String {
    format!("This is the chunk of the number {number}, and it is quite long.")
}

/// Labels and a stop list of these chunks, without tables beside them.
fn labels(path: &Path, labelled: &BTreeSet<u8>, stops: &BTreeSet<u8>) -> LabelSet {
    let recipe = Recipe::default();
    let hashes = |set: &BTreeSet<u8>| {
        let mut hashes: Vec<[u8; 16]> = set
            .iter()
            .map(|&number| recipe.chunk_hash(&chunk(number)))
            .collect();
        hashes.sort_unstable();
        hashes
    };
    let mut writer = LabelsWriter::create(path, recipe, labelled.len() as u64).unwrap();
    for hash in hashes(labelled) {
        writer.push(hash).unwrap();
    }
    writer.finish(&hashes(stops), Value::Null).unwrap();
    LabelSet::open(path).unwrap()
}

/// Labels of every chunk of these pages.
fn originals(folder: &Path, pages: &[(String, String)]) -> LabelSet {
    let path = corpus(folder, "originals", pages);
    let params = DiscoverParams::new(How::Informed(20), Recipe::default(), &StopList::built_in());
    let found = discover(
        &open(&[&path]),
        &params,
        &workplace(&folder.join("discovered"), 2, 64 << 20),
    )
    .unwrap();
    let file = folder.join("originals.labels");
    write_labels(&found, &params, &file).unwrap();
    LabelSet::open(&file).unwrap()
}

fn run(corpora: &[&Path], set: &LabelSet, params: &DetectParams, findings: &Path) -> Findings {
    detect(
        &open(corpora),
        set,
        params,
        &workplace(findings, 2, 64 << 20),
    )
    .unwrap()
}

/// The rows of a table without the names of inputs and the rows in them.
fn rows_of_any_input(findings: &Findings, table: &str) -> Vec<Value> {
    let mut rows = rows(findings, table);
    for row in rows.iter_mut().filter_map(Value::as_object_mut) {
        row.remove("page_file");
        row.remove("page_row");
    }
    rows
}

fn page(at: usize, chunks: &[u8]) -> (String, String) {
    let text: Vec<String> = chunks.iter().map(|&number| chunk(number)).collect();
    let (site, folder) = (at % 3, at / 3 % 2);
    (
        format!("http://s{site}.example/f{folder}/{at}.html"),
        text.join("\n\n"),
    )
}

/// The definition: the chunks of every page that are not on the stop list, and the matched ones.
fn naive(pages: &[Vec<u8>], labelled: &BTreeSet<u8>, stops: &BTreeSet<u8>) -> Vec<(u64, u64)> {
    let counted = pages.iter().map(|chunks| {
        let left: Vec<&u8> = chunks
            .iter()
            .filter(|number| !stops.contains(number))
            .collect();
        let matched = left
            .iter()
            .filter(|number| labelled.contains(number))
            .count();
        (left.len() as u64, matched as u64)
    });
    counted.collect()
}

fn deviation(scores: &[f64]) -> (f64, f64) {
    let count = scores.len().max(1) as f64;
    let mean = scores.iter().sum::<f64>() / count;
    let variance = scores
        .iter()
        .map(|score| (score - mean).powi(2))
        .sum::<f64>()
        / count;
    (mean, variance.sqrt())
}

fn near(one: &Value, other: f64) -> bool {
    (one.as_f64().unwrap() - other).abs() < 1e-6
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn scores_follow_the_definitions_of_the_paper(
        pages in proptest::collection::vec(proptest::collection::vec(0u8..10, 1..8), 1..20),
        labelled in proptest::collection::btree_set(0u8..10, 0..6),
        stops in proptest::collection::btree_set(0u8..10, 0..3),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let set = labels(&folder.path().join("a.labels"), &labelled, &stops);
        let texts: Vec<_> = pages.iter().enumerate().map(|(at, chunks)| page(at, chunks)).collect();
        let path = corpus(folder.path(), "pages", &texts);
        let found = run(&[&path], &set, &DetectParams::default(), &folder.path().join("a"));
        let counted = naive(&pages, &labelled, &stops);

        let score = |(left, matched): (u64, u64)| matched as f64 / left as f64;
        let scores: Vec<f64> = counted.iter().filter(|(left, _)| *left > 0).map(|&counts| score(counts)).collect();
        let limits = thresholds(&found).unwrap();
        let (mean, sigma) = deviation(&scores);
        prop_assert_eq!(limits[0].objects as usize, scores.len());
        prop_assert!((limits[0].mean - mean).abs() < 1e-6 && (limits[0].deviation - sigma).abs() < 1e-6);

        let by_page: BTreeMap<String, Value> = rows(&found, "pages").into_iter().map(|row| (row["page"].as_str().unwrap().to_owned(), row)).collect();
        for (at, &(left, matched)) in counted.iter().enumerate() {
            let row = by_page.get(&texts[at].0);
            prop_assert_eq!(row.is_some(), matched > 0);
            if let Some(row) = row {
                prop_assert_eq!(row["matched"].as_u64(), Some(matched));
                prop_assert_eq!(row["chunks"].as_u64().unwrap() - row["stopped"].as_u64().unwrap(), left);
                prop_assert!(near(&row["contains"], score((left, matched))));
                let target = score((left, matched)) > limits[0].threshold + 1e-9;
                let close = (score((left, matched)) - limits[0].threshold).abs() < 1e-6;
                prop_assert!(close || row["target"].as_bool() == Some(target));
            }
        }

        // Neighbourhoods: every prefix of every page with a score.
        let mut places: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
        for (at, &counts) in counted.iter().enumerate().filter(|(_, counts)| counts.0 > 0) {
            let (site, folder) = (at % 3, at / 3 % 2);
            for prefix in [format!("s{site}.example/"), format!("s{site}.example/f{folder}/")] {
                places.entry(prefix).or_default().push(counts);
            }
        }
        let found_places = rows(&found, "neighbourhoods");
        prop_assert_eq!(found_places.len(), places.values().filter(|all| all.iter().any(|counts| counts.1 > 0)).count());
        let mut means = Vec::new();
        for (prefix, all) in &places {
            let mean = all.iter().map(|&counts| score(counts)).sum::<f64>() / all.len() as f64;
            let (left, matched) = all.iter().fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1));
            means.push(mean);
            if let Some(row) = found_places.iter().find(|row| row["site"] == json!(prefix)) {
                prop_assert!(near(&row["mean"], mean) && near(&row["ratio"], score((left, matched))));
                prop_assert_eq!(row["pages"].as_u64(), Some(all.len() as u64));
                prop_assert_eq!((row["chunks"].as_u64(), row["matched"].as_u64()), (Some(left), Some(matched)));
            } else {
                prop_assert_eq!(matched, 0);
            }
        }
        let (mean, sigma) = deviation(&means);
        prop_assert!((limits[1].mean - mean).abs() < 1e-6 && (limits[1].deviation - sigma).abs() < 1e-6);
        prop_assert_eq!(limits[1].objects as usize, places.len());
        let bars: u64 = histograms(&found).unwrap().iter().filter(|row| row.score == "mean").map(|row| row.objects).sum();
        prop_assert_eq!(bars as usize, places.len());
        // Ranked by matched chunks.
        prop_assert!(found_places.windows(2).all(|two| two[0]["matched"].as_u64() >= two[1]["matched"].as_u64()));
        let sites = rows(&found, "sites");
        prop_assert_eq!(sites.len(), found_places.iter().filter(|row| row["depth"] == json!(1)).count());
    }

    #[test]
    fn detection_is_distributive(
        pages in proptest::collection::vec(proptest::collection::vec(0u8..10, 1..8), 2..20),
        labelled in proptest::collection::btree_set(0u8..10, 0..6),
        cut in 0usize..3,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let set = labels(&folder.path().join("a.labels"), &labelled, &BTreeSet::new());
        let texts: Vec<_> = pages.iter().enumerate().map(|(at, chunks)| page(at, chunks)).collect();
        let (one, other): (Vec<_>, Vec<_>) = texts.iter().cloned().enumerate().partition(|(at, _)| at % 3 <= cut.min(1));
        let part = |name: &str, pages: Vec<(usize, (String, String))>| {
            let pages: Vec<_> = pages.into_iter().map(|(_, page)| page).collect();
            (!pages.is_empty()).then(|| corpus(folder.path(), name, &pages))
        };
        let (one, other) = (part("one", one), part("other", other));
        let whole = corpus(folder.path(), "whole", &texts);
        let params = DetectParams { page_threshold: Some(0.3), mean_threshold: Some(0.3), ratio_threshold: Some(0.3), ..DetectParams::default() };
        for table in ["pages", "sites", "neighbourhoods"] {
            let of = |path: &Path, name: &str| -> Vec<String> {
                let found = run(&[path], &set, &params, &folder.path().join(name));
                // The id of a page depends on its record in its corpus.
                rows_of_any_input(&found, table).into_iter().map(|mut row| { row["page_id"] = json!(0); row.to_string() }).collect()
            };
            let mut parts: Vec<String> = one.iter().flat_map(|path| of(path, "f1")).collect();
            parts.extend(other.iter().flat_map(|path| of(path, "f2")));
            let mut all = of(&whole, "f3");
            parts.sort();
            all.sort();
            prop_assert_eq!(parts, all);
        }
    }
}

#[test]
fn a_recursion_trap_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let pages: Vec<(String, String)> = (0..6)
        .map(|at| page(at, &[at as u8, 7, at as u8 + 1]))
        .collect();
    // A crawler in a loop fetched one page repeatedly, under longer and longer addresses.
    let trap = (1..40).map(|times| {
        let (_, text) = &pages[1];
        (
            format!("http://s1.example/{}", "a/b/".repeat(3 + times)),
            text.clone(),
        )
    });
    let with_trap: Vec<(String, String)> = pages.iter().cloned().chain(trap).collect();
    let set = labels(
        &folder.path().join("x.labels"),
        &BTreeSet::from([1, 2, 7]),
        &BTreeSet::from([3]),
    );
    let [plain, trapped] = [("plain", &pages), ("trapped", &with_trap)].map(|(name, pages)| {
        let corpus = corpus(folder.path(), name, pages);
        let findings = folder.path().join(format!("{name}-findings"));
        let found = run(&[&corpus], &set, &DetectParams::default(), &findings);
        let tables = ["pages", "neighbourhoods", "sites", "thresholds", "chunks"];
        let summary: DetectSummary = found.summary().unwrap();
        (
            tables.map(|table| rows_of_any_input(&found, table)),
            summary,
        )
    });
    assert!(plain.1.matched > 0);
    assert_eq!(plain, trapped);
}

#[test]
fn every_match_is_attributed_to_its_original() {
    let folder = tempfile::tempdir().unwrap();
    let text = |numbers: &[u8]| {
        numbers
            .iter()
            .map(|&number| chunk(number))
            .collect::<Vec<_>>()
            .join("\n\n")
    };
    let set = originals(
        folder.path(),
        &[
            ("http://mine.example/1".to_owned(), text(&[1, 2, 3, 9])),
            ("http://mine.example/2".to_owned(), text(&[4, 5, 9])),
            ("http://mine.example/3".to_owned(), text(&[6, 9])),
        ],
    );
    let pages = [
        // All of the second, and the chunk that all originals have, which is attributed to the
        // second, too.
        ("http://thief.example/a".to_owned(), text(&[4, 5, 9, 100])),
        ("http://thief.example/b".to_owned(), text(&[101, 1, 1, 6])),
        ("http://honest.example/c".to_owned(), text(&[102, 103])),
        ("http://www.mine.example/2".to_owned(), text(&[4, 5, 9])),
    ];
    let path = corpus(folder.path(), "pages", &pages);
    let params = DetectParams {
        own: vec!["mine.example".to_owned()],
        ..DetectParams::default()
    };
    let found = run(&[&path], &set, &params, &folder.path().join("a"));
    let matches: BTreeMap<(String, String), (u64, f64)> = rows(&found, "matches")
        .into_iter()
        .map(|row| {
            let word = |name: &str| row[name].as_str().unwrap().to_owned();
            (
                (word("page"), word("original")),
                (
                    row["chunks"].as_u64().unwrap(),
                    row["of_original"].as_f64().unwrap(),
                ),
            )
        })
        .collect();
    let key = |page: &str, original: &str| {
        (
            format!("http://thief.example/{page}"),
            format!("http://mine.example/{original}"),
        )
    };
    assert_eq!(matches.len(), 3);
    assert_eq!(matches[&key("a", "2")], (3, 1.0));
    assert_eq!(matches[&key("b", "1")], (2, 0.25));
    assert_eq!(matches[&key("b", "3")], (1, 0.5));
    let sites = rows(&found, "sites");
    assert_eq!(sites.len(), 1);
    assert_eq!(
        (
            &sites[0]["site"],
            &sites[0]["originals"],
            &sites[0]["matched"]
        ),
        (&json!("thief.example/"), &json!(3), &json!(6))
    );
    assert_eq!(rows(&found, "copied").len(), 3);
    assert_eq!(rows(&found, "chunks").len(), 6);
    let labels = rows(&found, "labels");
    let nine = labels
        .iter()
        .find(|row| row["text"] == json!(chunk(9)))
        .unwrap();
    assert_eq!(
        (&nine["found"], &nine["origin"]),
        (&json!(1), &json!("http://mine.example/1"))
    );
    let counted: DetectSummary = found.summary().unwrap();
    assert_eq!(
        (counted.pages, counted.own_pages, counted.matched),
        (3, 1, 6)
    );
    // A crawler with the labels reports the same for each page.
    let mut detector = cento_labels::Detector::new(set.labels());
    for (url, text) in &pages[..3] {
        let verdict = detector.page(text);
        let row = rows(&found, "pages")
            .into_iter()
            .find(|row| row["page"] == json!(url));
        let matched = row.map_or(0, |row| row["matched"].as_u64().unwrap());
        assert_eq!(u64::from(verdict.matched), matched, "{url}");
    }
    // Without an owner, the owner's pages are searched, too.
    let all = run(
        &[&path],
        &set,
        &DetectParams::default(),
        &folder.path().join("b"),
    );
    assert_eq!(rows(&all, "sites").len(), 2);
}

#[test]
fn depth_limits_the_levels_and_unlike_labels_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let set = labels(
        &folder.path().join("a.labels"),
        &BTreeSet::from([1]),
        &BTreeSet::new(),
    );
    let pages = [
        ("http://a.example/x/y/z/1".to_owned(), chunk(1)),
        ("http://b.example/".to_owned(), chunk(2)),
    ];
    let path = corpus(folder.path(), "pages", &pages);
    let levels = |depth: Option<u32>, name: &str| {
        let params = DetectParams {
            depth,
            ..DetectParams::default()
        };
        rows(
            &run(&[&path], &set, &params, &folder.path().join(name)),
            "neighbourhoods",
        )
        .len()
    };
    assert_eq!(
        (
            levels(None, "a"),
            levels(Some(1), "b"),
            levels(Some(2), "c")
        ),
        (4, 1, 2)
    );
    let lines = [json!({ "url": "http://a.example/", "text": chunk(1) })];
    let other = corpus_with(
        folder.path(),
        "lines",
        &lines,
        Parameters {
            chunk: "lines:2".parse().unwrap(),
            ..Parameters::default()
        },
    );
    let error = detect(
        &open(&[&other]),
        &set,
        &DetectParams::default(),
        &workplace(&folder.path().join("d"), 1, 64 << 20),
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("was made with chunk paragraph, not lines:2"),
        "{error}"
    );
    assert!(error.hint().is_some());
}

#[test]
fn files_are_matched_whole() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        "A file that is here and there, byte for byte.",
        "",
        "Another one.",
    ];
    let rows_of = |name: &str, which: &[usize]| {
        let lines: Vec<Value> = which.iter().enumerate().map(|(at, &text)| json!({ "url": format!("http://{name}{}.example/{at}", at / 2), "text": texts[text] })).collect();
        corpus_of(folder.path(), name, &lines)
    };
    let mine = rows_of("mine", &[0, 1]);
    let params = DiscoverParams::new(How::Informed(0), Recipe::files(), &StopList::built_in());
    let found = discover(
        &open(&[&mine]),
        &params,
        &workplace(&folder.path().join("d"), 1, 64 << 20),
    )
    .unwrap();
    let file = folder.path().join("files.labels");
    write_labels(&found, &params, &file).unwrap();
    let set = LabelSet::open(&file).unwrap();
    assert_eq!(set.used().count, 1);
    let theirs = rows_of("theirs", &[2, 0, 1, 0]);
    let found = run(
        &[&theirs],
        &set,
        &DetectParams::default(),
        &folder.path().join("a"),
    );
    let counted: DetectSummary = found.summary().unwrap();
    // The empty file is on the stop list: it is ignored.
    assert_eq!(
        (
            counted.pages,
            counted.scored,
            counted.stopped,
            counted.matched
        ),
        (4, 3, 1, 2)
    );
    let sites: Vec<(String, f64)> = rows(&found, "sites")
        .iter()
        .map(|row| {
            (
                row["site"].as_str().unwrap().to_owned(),
                row["mean"].as_f64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        BTreeMap::from_iter(sites),
        BTreeMap::from([
            ("theirs0.example/".to_owned(), 0.5),
            ("theirs1.example/".to_owned(), 1.0)
        ])
    );
}

#[test]
fn edited_chunks_are_reported_separately() {
    let folder = tempfile::tempdir().unwrap();
    let words =
        |seed: usize| -> Vec<String> { (0..40).map(|at| format!("word{seed}x{at}")).collect() };
    let set = originals(
        folder.path(),
        &[(
            "http://mine.example/1".to_owned(),
            format!("{}\n\n{}", words(1).join(" "), words(2).join(" ")),
        )],
    );
    let mut edited = words(1);
    edited[20] = "changed".to_owned();
    let pages = [
        (
            "http://a.example/1".to_owned(),
            format!("{}\n\n{}", edited.join(" "), words(7).join(" ")),
        ),
        ("http://a.example/2".to_owned(), words(2).join(" ")),
    ];
    let path = corpus(folder.path(), "pages", &pages);
    let params = DetectParams {
        fuzzy: Some(0.5),
        ..DetectParams::default()
    };
    let found = run(&[&path], &set, &params, &folder.path().join("a"));
    let fuzzy = rows(&found, "fuzzy");
    assert_eq!(fuzzy.len(), 1);
    assert_eq!(
        (&fuzzy[0]["page"], &fuzzy[0]["ordinal"], &fuzzy[0]["origin"]),
        (
            &json!("http://a.example/1"),
            &json!(0),
            &json!("http://mine.example/1")
        )
    );
    // One word of forty was replaced.
    assert_eq!(
        (&fuzzy[0]["found"], &fuzzy[0]["words"], &fuzzy[0]["share"]),
        (&json!(39), &json!(40), &json!(0.975))
    );
    assert_eq!(fuzzy[0]["text"], json!(words(1).join(" ")));
    // It counts for no score.
    let counted: DetectSummary = found.summary().unwrap();
    assert_eq!(
        (counted.matched, counted.fuzzy, counted.fuzzy_pages),
        (1, 1, 1)
    );
    let strict = DetectParams {
        fuzzy: Some(1.0),
        ..DetectParams::default()
    };
    assert!(
        rows(
            &run(&[&path], &set, &strict, &folder.path().join("b")),
            "fuzzy"
        )
        .is_empty()
    );
}

/// A label of two sentences, of which the longer one was deleted: little of the label is left, but
/// all of the chunk is from it. Issue 15, item 12.
#[test]
fn an_excerpt_of_six_words_is_found_however_long_its_label() {
    let folder = tempfile::tempdir().unwrap();
    let sentence = |from: usize, to: usize| -> String {
        let words: Vec<String> = (from..to).map(|word| format!("w{word}")).collect();
        words.join(" ") + "."
    };
    let label = format!("{} {}", sentence(0, 60), sentence(60, 70));
    let set = originals(
        folder.path(),
        &[("http://mine.example/1".to_owned(), label)],
    );
    let excerpt = |words: usize| {
        (
            format!("http://a.example/{words}"),
            sentence(60, 60 + words),
        )
    };
    // Four of six words are fewer than four fifths.
    let mixed = format!("{} other end.", sentence(60, 64));
    let pages = [
        excerpt(5),
        excerpt(6),
        excerpt(10),
        ("http://a.example/mixed".to_owned(), mixed),
    ];
    let path = corpus(folder.path(), "pages", &pages);
    let params = DetectParams {
        fuzzy: Some(0.4),
        ..DetectParams::default()
    };
    let found = run(&[&path], &set, &params, &folder.path().join("a"));
    let found: Vec<(String, u32, f64)> = found
        .rows(FUZZY_TABLE)
        .unwrap()
        .map(Result::unwrap)
        .map(|row| (row.page, row.found, row.of_chunk))
        .collect();
    let expected = [6, 10].map(|words| (format!("http://a.example/{words}"), words, 1.0));
    assert_eq!(found, expected);
}

#[test]
fn an_item_in_the_middle_of_a_paragraph_is_located() {
    let folder = tempfile::tempdir().unwrap();
    let item = "Which of the five boxing wizards can jump more quickly than the other four";
    let items = corpus(
        folder.path(),
        "items",
        &[
            ("q1".to_owned(), item.to_owned()),
            (
                "q2".to_owned(),
                "What else could be asked here that nobody has ever asked before in such words"
                    .to_owned(),
            ),
            ("q3".to_owned(), "Too short".to_owned()),
        ],
    );
    let before = "A long paragraph begins with other words, and then it goes on: ";
    let pages = [
        (
            "http://a.example/1".to_owned(),
            format!("{before}{item}, and it ends with still other words."),
        ),
        (
            "http://a.example/2".to_owned(),
            "the five boxing wizards can jump more quickly, it is said".to_owned(),
        ),
    ];
    let path = corpus(folder.path(), "pages", &pages);
    let params = GramsParams {
        k: 5,
        min_share: 0.3,
    };
    let run = |threads, memory, name: &str| {
        grams(
            &open(&[&path]),
            &open(&[&items]),
            &[],
            &params,
            &workplace(&folder.path().join(name), threads, memory),
        )
        .unwrap()
    };
    let found = run(2, 64 << 20, "a");
    let table = rows(&found, "items");
    assert_eq!(table.len(), 3);
    assert_eq!(
        (
            &table[0]["item"],
            &table[0]["grams"],
            &table[0]["found"],
            &table[0]["share"],
            &table[0]["pages"]
        ),
        (&json!("q1"), &json!(10), &json!(10), &json!(1.0), &json!(2))
    );
    assert_eq!(
        (&table[1]["found"], &table[2]["grams"]),
        (&json!(0), &json!(0))
    );
    let places = rows(&found, "places");
    assert_eq!(places.len(), 2);
    let at = |row: &Value, name: &str| row[name].as_u64().unwrap() as usize;
    assert_eq!(
        &pages[0].1[at(&places[0], "begin")..at(&places[0], "end")],
        item
    );
    assert_eq!(
        (&places[0]["share"], &places[1]["share"]),
        (&json!(1.0), &json!(0.4))
    );
    assert_eq!(
        &pages[1].1[at(&places[1], "begin")..at(&places[1], "end")],
        "the five boxing wizards can jump more quickly"
    );
    let counted: GramsSummary = found.summary().unwrap();
    assert_eq!((counted.items, counted.short, counted.common), (3, 1, 0));
    assert_eq!((counted.found, counted.listed, counted.crowded), (1, 1, 0));
    assert_eq!(bytes(&found), bytes(&run(1, 40 << 20, "b")));
}

#[test]
fn findings_do_not_depend_on_threads_or_memory() {
    let folder = tempfile::tempdir().unwrap();
    let text = |at: usize| {
        (0..12)
            .map(|step| chunk(((at * at + step * 7) % 200) as u8))
            .collect::<Vec<_>>()
            .join("\n\n")
    };
    let mine: Vec<_> = (0..30)
        .map(|at| (format!("http://mine.example/{at}"), text(at)))
        .collect();
    let set = originals(folder.path(), &mine);
    let pages: Vec<_> = (0..300usize)
        .map(|at| {
            (
                format!("http://h{}.example/{}/{at}", at % 13, at % 5),
                text(at * 3 + 1),
            )
        })
        .collect();
    let path = corpus(folder.path(), "pages", &pages);
    let params = DetectParams {
        fuzzy: Some(0.6),
        own: vec!["h3.example".to_owned()],
        ..DetectParams::default()
    };
    let one = detect(
        &open(&[&path]),
        &set,
        &params,
        &workplace(&folder.path().join("one"), 1, 1 << 30),
    )
    .unwrap();
    let other = detect(
        &open(&[&path]),
        &set,
        &params,
        &workplace(&folder.path().join("other"), 4, 40 << 20),
    )
    .unwrap();
    assert_eq!(bytes(&one), bytes(&other));
    assert_eq!(bytes(&one).len(), 11);
}
