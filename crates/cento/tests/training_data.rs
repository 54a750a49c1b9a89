//! What a training-data engineer does: their own ids, thresholds, cleaning, contamination.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its sandbox fails"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cento_find::{read_table, row_values};
use insta::assert_snapshot;
use serde_json::{Map, Value, json};
use support::Sandbox;

/// Words that depend on a seed; a share of them is replaced by others.
fn words(seed: u64, count: u64, replaced: u64, salt: u64) -> String {
    let word = |at: u64| {
        let hash = mixed(seed * 1_000 + at);
        match mixed(salt.wrapping_mul(7_919) + at) % 1_000 < replaced {
            true => format!("r{}", mixed(hash + salt) % 100_000),
            false => format!("w{}", hash % 100_000),
        }
    };
    let words: Vec<String> = (0..count).map(word).collect();
    words.join(" ")
}

/// A well-mixed number.
fn mixed(number: u64) -> u64 {
    let mut hash = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

fn rows(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Map<String, Value>> {
    let text = sandbox.succeed(arguments);
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// All Parquet files below a folder.
fn tables(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(tables(&path));
        } else if path.extension().is_some_and(|end| end == "parquet") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Documents that share text: texts, near-duplicates, and passages of others.
fn documents() -> Vec<String> {
    let document = |seed: u64, replaced: u64| {
        let second = words(seed + 200, 60, replaced, 5);
        format!("{}\n\n{second}", words(seed, 60, 0, 0))
    };
    let mut texts: Vec<String> = (0..12).map(|seed| document(seed, 0)).collect();
    texts.push(document(1, 20));
    texts.push(document(2, 0));
    for pair in 0..4 {
        let (one, other) = (words(pair, 60, 0, 0), words(pair + 5, 60, 0, 0));
        texts.push(format!(
            "{one}\n\n{other}\n\n{}",
            words(90 + pair, 30, 0, 0)
        ));
    }
    texts
}

/// Ids as text, as numbers, repeated and missing; and a blank line, which counts as a row.
fn with_ids() -> (Sandbox, Vec<Option<String>>) {
    let sandbox = Sandbox::new();
    let (mut lines, mut keys) = (String::new(), Vec::new());
    for (at, text) in documents().into_iter().enumerate() {
        if at == 3 {
            lines.push('\n');
            keys.push(None);
        }
        let url = format!("http://site{}.example/{at}", at % 5);
        let mut row = json!({ "url": url, "body": text, "label": at });
        let key = match at % 4 {
            0 => Some(json!(format!("doc-{at}"))),
            1 => Some(json!(9_007_199_254_740_993u64 + at as u64)),
            2 => Some(json!("same")),
            _ => None,
        };
        if let Some(key) = &key {
            row["doc"] = key.clone();
        }
        keys.push(key.map(|key| key.as_str().map_or_else(|| key.to_string(), str::to_owned)));
        lines.push_str(&format!("{row}\n"));
    }
    sandbox.write("pages.jsonl", lines);
    (sandbox, keys)
}

const FIELDS: [&str; 4] = ["--field", "text=body", "--field", "id=doc"];

#[test]
fn ids_and_rows_of_the_input_are_in_every_table_that_names_pages() {
    let (sandbox, keys) = with_ids();
    sandbox.succeed(&[&["index", "pages.jsonl", "-o", "p.cento"][..], &FIELDS].concat());
    sandbox.write(
        "items.jsonl",
        format!("{}\n", json!({ "id": 7, "text": words(3, 60, 0, 0) })),
    );
    for arguments in [
        &["copies", "p.cento"][..],
        &["overlap", "p.cento", "--min-shared", "1"],
        &["reuse", "p.cento"],
        &["passages", "p.cento"],
        &["passages", "p.cento", "--clusters"],
        &["quilts", "p.cento", "-c", "2", "--theta", "0.1"],
        &[
            "phrases",
            "p.cento",
            "--min-pages",
            "2",
            "--cover-pages",
            "all",
        ],
        &["discover", "p.cento", "--more-than", "1", "-o", "l.labels"],
        &["detect", "p.cento", "--labels", "l.labels", "--fuzzy"],
        &["detect", "p.cento", "--against", "items.jsonl"],
        &[
            "detect",
            "p.cento",
            "--against",
            "items.jsonl",
            "--grams",
            "8",
        ],
    ] {
        sandbox.succeed(arguments);
    }
    let mut checked = BTreeSet::new();
    for path in tables(&sandbox.path("p.cento/findings")) {
        for batch in read_table(&path).unwrap() {
            let batch = batch.unwrap();
            for row in 0..batch.num_rows() {
                let row: Map<String, Value> = row_values(&batch, row)
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect();
                for name in ["page", "of", "source", "a", "b", "first", "kept", "item"] {
                    let Some(id) = row.get(&format!("{name}_id")).and_then(Value::as_u64) else {
                        continue;
                    };
                    let at = (id & 0xffff_ffff) as usize;
                    // `detect --against` also discovers labels in the items.
                    let of_items = row[&format!("{name}_file")] == "items.jsonl"
                        && path.to_string_lossy().contains("/discover/");
                    let (key, file) = match name {
                        _ if of_items => (Some("7".to_owned()), "items.jsonl"),
                        "item" => (Some("7".to_owned()), "items.jsonl"),
                        _ => (keys[at].clone(), "pages.jsonl"),
                    };
                    let place = path.display();
                    assert_eq!(row[&format!("{name}_row")], json!(at), "{place}");
                    assert_eq!(row[&format!("{name}_key")], json!(key), "{place}");
                    assert_eq!(row[&format!("{name}_file")], json!(file), "{place}");
                    let table = path
                        .parent()
                        .unwrap()
                        .parent()
                        .unwrap()
                        .file_name()
                        .unwrap();
                    let table = table.to_string_lossy();
                    let stem = path.file_stem().unwrap().to_string_lossy();
                    checked.insert(format!("{table}/{stem} {name}"));
                }
            }
        }
    }
    let checked: Vec<String> = checked.into_iter().collect();
    assert_snapshot!(checked.join("\n"));
}

#[test]
fn ids_of_parquet_tables_are_kept_and_findings_join_the_rows() {
    let (sandbox, _) = with_ids();
    sandbox.succeed(&[&["index", "pages.jsonl", "-o", "p.cento"][..], &FIELDS].concat());
    sandbox.succeed(&["copies", "p.cento", "--out", "pairs.parquet"]);
    // A table of findings is a Parquet table like any other: the URLs are its texts.
    let fields = [
        "--field",
        "text=page",
        "--field",
        "id=page_id",
        "--field",
        "url=of",
    ];
    let more = ["--resemblance", "0.1", "-k", "1", "--json"];
    let found = rows(
        &sandbox,
        &[&["copies", "pairs.parquet"][..], &fields, &more].concat(),
    );
    let pairs = rows(&sandbox, &["copies", "p.cento", "--json"]);
    assert!(!found.is_empty());
    for row in found {
        let original = &pairs[row["page_row"].as_u64().unwrap() as usize];
        assert_eq!(row["page_key"], json!(original["page_id"].to_string()));
        assert_eq!(row["page_file"], "pairs.parquet");
    }
}

#[test]
fn tables_of_archives_and_files_have_no_columns_for_rows() {
    let sandbox = Sandbox::new();
    for (at, text) in documents().iter().enumerate() {
        sandbox.write(&format!("texts/{at}.txt"), text);
    }
    let found = rows(&sandbox, &["copies", "texts", "--json"]);
    assert!(!found.is_empty());
    assert!(found.iter().all(|row| !row.contains_key("page_row")));
}

#[test]
fn each_row_of_a_sweep_is_what_copies_removes_at_its_threshold() {
    let sandbox = Sandbox::new();
    let mut lines = String::new();
    for page in 0..90u64 {
        // Families of pages whose resemblance is anywhere between 0 and 1.
        let text = words(page / 6, 80, (page % 6) * 15, page);
        let row = json!({ "url": format!("http://a.example/{page}"), "text": text });
        lines.push_str(&format!("{row}\n"));
    }
    sandbox.write("pages.jsonl", lines);
    sandbox.succeed(&["index", "pages.jsonl", "-o", "p.cento"]);
    let sweep = "resemblance=0.2..1.0:0.1,0.55";
    let swept = rows(&sandbox, &["copies", "p.cento", "--sweep", sweep, "--json"]);
    assert_eq!(swept.len(), 10);
    let mut before = u64::MAX;
    for row in &swept {
        let threshold = row["resemblance"].to_string();
        let removed = row["removed"].as_u64().unwrap();
        let arguments = [
            "copies",
            "p.cento",
            "--resemblance",
            &threshold,
            "--again",
            "--json",
        ];
        assert_eq!(
            rows(&sandbox, &arguments).len() as u64,
            removed,
            "{threshold}"
        );
        assert!(removed <= before.max(removed));
        before = removed;
    }
    let counts: BTreeSet<u64> = swept
        .iter()
        .map(|row| row["removed"].as_u64().unwrap())
        .collect();
    assert!(counts.len() > 4, "{counts:?}");
    let text = sandbox.succeed(&["copies", "pages.jsonl", "--sweep", sweep, "--figures", "f"]);
    assert_snapshot!(text);
    assert!(sandbox.path("f/resemblance.svg").is_file());
}

#[test]
fn every_analysis_reads_inputs_as_the_corpus_of_the_same_inputs() {
    let (sandbox, _) = with_ids();
    for (at, text) in documents().iter().enumerate() {
        sandbox.write(&format!("texts/{at}.txt"), text);
    }
    sandbox.write(
        "items.jsonl",
        format!("{}\n", json!({ "id": 7, "text": words(3, 60, 0, 0) })),
    );
    sandbox.write("draft.txt", words(2, 70, 0, 0));
    sandbox.succeed(&["index", "texts", "-o", "texts.cento"]);
    sandbox.succeed(&[&["index", "pages.jsonl", "-o", "pages.cento"][..], &FIELDS].concat());
    for (input, corpus, fields) in [
        ("texts", "texts.cento", &[][..]),
        ("pages.jsonl", "pages.cento", &FIELDS[..]),
    ] {
        for more in [
            &["copies"][..],
            &["copies", "--sweep", "resemblance=0.5,1"],
            &["overlap", "--min-shared", "1"],
            &["overlap", "--replication"],
            &["reuse"],
            &["passages"],
            &["passages", "--clusters"],
            &["quilts", "-c", "2", "--theta", "0.1"],
            &["phrases", "--min-pages", "2"],
            &["discover", "--more-than", "1", "-o", "l.labels"],
            &[
                "detect",
                "--against",
                "items.jsonl",
                "--against-field",
                "text=text",
            ],
            &[
                "detect",
                "--against",
                "items.jsonl",
                "--against-field",
                "text=text",
                "--grams",
                "8",
            ],
            &[
                "contamination",
                "--against",
                "items.jsonl",
                "--against-field",
                "text=text",
            ],
        ] {
            let (verb, options) = more.split_first().unwrap();
            let direct = [&[*verb, input][..], options, fields, &["--json"]].concat();
            let indexed = [&[*verb, corpus][..], options, &["--json"]].concat();
            assert_eq!(
                sandbox.succeed(&direct),
                sandbox.succeed(&indexed),
                "{direct:?}"
            );
        }
        for more in [
            &["info"][..],
            &["cat", "--id", "0"],
            &[
                "trial",
                "inject",
                "--inject",
                "draft.txt",
                "--copies",
                "2,3",
            ],
            &["trial", "mutate", "--runs", "1"],
        ] {
            let verbs = if more[0] == "trial" { 2 } else { 1 };
            let (verb, options) = more.split_at(verbs);
            let direct = [verb, &[input], options, fields].concat();
            let indexed = [verb, &[corpus], options].concat();
            let without_name = |text: String, name: &str| {
                let stored = ["findings: ", "These results are not kept", "  corpus "];
                text.lines()
                    .filter(|line| !stored.iter().any(|start| line.starts_with(start)))
                    .filter(|line| *line != name)
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                without_name(sandbox.succeed(&direct), input),
                without_name(sandbox.succeed(&indexed), corpus),
                "{direct:?}"
            );
        }
        let direct = [&["query", input, "draft.txt", "--json"][..], fields].concat();
        assert_eq!(
            sandbox.succeed(&direct),
            sandbox.succeed(&["query", corpus, "draft.txt", "--json"])
        );
    }
    // Results of inputs are not kept, and the summary says so.
    let summary = sandbox.succeed(&["reuse", "texts"]);
    assert!(summary.contains("not kept"), "{summary}");
    assert!(!sandbox.path("texts/findings").exists());
}

/// Training data of which three records have items, and a benchmark.
fn training_data() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut lines = String::new();
    for at in 0..8u64 {
        let mut text = words(at, 50, 0, 0);
        if at % 3 == 0 {
            text = format!(
                "{text} {} {}",
                words(500 + at, 20, 0, 0),
                words(at + 50, 20, 0, 0)
            );
        }
        lines.push_str(&format!(
            "{}\n",
            json!({ "n": at, "text": text, "more": { "x": [at] } })
        ));
    }
    sandbox.write("train.jsonl", lines);
    let items = [500, 503, 700].map(|seed| {
        let item = json!({ "id": format!("q{seed}"), "question": words(seed, 20, 0, 0) });
        format!("{item}\n")
    });
    sandbox.write("benchmark.jsonl", items.concat());
    sandbox
}

const AGAINST: [&str; 4] = [
    "--against",
    "benchmark.jsonl",
    "--against-field",
    "text=question",
];

#[test]
fn contamination_is_found_reported_and_removed() {
    let sandbox = training_data();
    let check = [&["contamination", "train.jsonl"][..], &AGAINST].concat();
    assert_snapshot!(sandbox.run(&check));
    let detect = [
        &["detect", "train.jsonl", "--grams", "8", "--json"][..],
        &AGAINST,
    ]
    .concat();
    let alias = [&check[..], &["--json"]].concat();
    assert_eq!(sandbox.succeed(&alias), sandbox.succeed(&detect));
    assert_snapshot!(sandbox.run(&[&check[..], &["--filter", "-o", "clean"]].concat()));
    let before = fs::read_to_string(sandbox.path("train.jsonl")).unwrap();
    let after = fs::read_to_string(sandbox.path("clean/train.jsonl")).unwrap();
    let kept: Vec<&str> = before
        .lines()
        .enumerate()
        .filter(|(at, _)| ![0, 3].contains(at))
        .map(|(_, line)| line)
        .collect();
    assert_eq!(after.lines().collect::<Vec<_>>(), kept);
    assert_snapshot!(fs::read_to_string(sandbox.path("clean/removed.csv")).unwrap());
    // Existing files are kept.
    assert_snapshot!(sandbox.run(&[&check[..], &["--filter", "-o", "clean"]].concat()));

    sandbox.succeed(&["index", "train.jsonl", "-o", "t.cento"]);
    sandbox.succeed(&[&["contamination", "t.cento"][..], &AGAINST].concat());
    sandbox.succeed(&["report", "t.cento"]);
    let report = fs::read_to_string(sandbox.path("t.cento/report.html")).unwrap();
    assert!(report.contains("Items of a benchmark"));
    assert!(report.contains("items of the benchmark are in the corpus"));
    assert!(report.contains("cento contamination t.cento --against benchmark.jsonl"));
    // The words of the item and those of the page.
    let first: Vec<String> = words(500, 20, 0, 0).split(' ').map(str::to_owned).collect();
    assert!(report.matches(&first[5..12].join(" ")).count() >= 2);
}

#[test]
fn detected_pages_are_removed() {
    let sandbox = training_data();
    sandbox.write(
        "spam.txt",
        format!("{}\n\n{}", words(0, 50, 0, 0), words(1, 50, 0, 0)),
    );
    let lines: Vec<String> = (0..6)
        .map(|at| {
            let text = format!("{}\n\n{}", words(at, 50, 0, 0), words(at + 9, 50, 0, 0));
            let url = format!("http://a.example/{at}");
            format!("{}\n", json!({ "text": text, "url": url, "at": at }))
        })
        .collect();
    sandbox.write("pages.jsonl", lines.concat());
    let arguments = [
        "detect",
        "pages.jsonl",
        "--against",
        "spam.txt",
        "--threshold",
        "0.4",
    ];
    assert_snapshot!(sandbox.run(&[&arguments[..], &["--filter", "-o", "clean"]].concat()));
    let after = fs::read_to_string(sandbox.path("clean/pages.jsonl")).unwrap();
    assert_eq!(after, lines[2..].concat());
    // The output must not be read as input by the next run.
    sandbox.write("folder/pages.jsonl", lines.concat());
    let inside = [
        "detect",
        "folder",
        "--against",
        "spam.txt",
        "--filter",
        "-o",
        "folder/clean",
    ];
    assert_snapshot!(sandbox.run(&inside));
}

#[test]
fn passages_are_stripped_from_inputs() {
    let (sandbox, _) = with_ids();
    let arguments = [
        &["passages", "pages.jsonl", "--strip", "-o", "clean"][..],
        &FIELDS,
    ]
    .concat();
    sandbox.succeed(&arguments);
    let before = fs::read_to_string(sandbox.path("pages.jsonl")).unwrap();
    let after = fs::read_to_string(sandbox.path("clean/pages.jsonl")).unwrap();
    assert_eq!(before.lines().count(), after.lines().count());
    let mut cut = 0;
    for (before, after) in before
        .lines()
        .zip(after.lines())
        .filter(|(line, _)| !line.is_empty())
    {
        let (mut before, mut after): (Value, Value) = (
            serde_json::from_str(before).unwrap(),
            serde_json::from_str(after).unwrap(),
        );
        cut += u32::from(before["body"] != after["body"]);
        (before["body"], after["body"]) = (json!(""), json!(""));
        assert_eq!(before, after);
    }
    assert!(cut > 0);
    let cuts = fs::read_to_string(sandbox.path("clean/cuts.csv")).unwrap();
    assert!(
        cuts.lines()
            .next()
            .unwrap()
            .ends_with("page_key,page_file,page_row")
    );
    assert!(cuts.contains("pages.jsonl"));
}

#[test]
fn dedup_writes_what_copies_filter_writes() {
    let (sandbox, _) = with_ids();
    let copies = [
        &["copies", "pages.jsonl", "--filter", "-o", "one"][..],
        &FIELDS,
    ]
    .concat();
    let dedup = [&["dedup", "pages.jsonl", "-o", "two"][..], &FIELDS].concat();
    assert_eq!(sandbox.succeed(&copies), sandbox.succeed(&dedup));
    assert_eq!(
        fs::read(sandbox.path("one/pages.jsonl")).unwrap(),
        fs::read(sandbox.path("two/pages.jsonl")).unwrap()
    );
    assert_snapshot!(sandbox.run(&["dedup", "pages.jsonl"]));
    assert_snapshot!(sandbox.run(&["dedup", "missing.jsonl", "-o", "three"]));
    assert_snapshot!(sandbox.run(&["contamination", "pages.jsonl"]));
    assert_snapshot!(sandbox.run(&["dedup", "--help"]));
    assert_snapshot!(sandbox.run(&["contamination", "--help"]));
}
