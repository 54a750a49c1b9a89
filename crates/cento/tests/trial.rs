//! `cento trial` and `cento detect --truth`: on a tiny site, against naive recomputations.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail where they cannot go on"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use insta::assert_snapshot;
use serde_json::{Value, json};
use support::Sandbox;

/// A site of 40 pages: a chunk on all of them, one on every second, and chunks of their own.
fn site() -> Vec<(String, Vec<String>)> {
    (0..40)
        .map(|page| {
            let mut chunks = vec!["This sentence is on every page of the site.".to_owned()];
            if page % 2 == 0 {
                chunks.push("This sentence is on half of the pages.".to_owned());
            }
            for own in 0..page % 5 {
                chunks.push(format!("Sentence {own} of page {page}, and of no other."));
            }
            (format!("http://site.example/{page}"), chunks)
        })
        .collect()
}

fn lines(pages: &[(String, Vec<String>)]) -> String {
    let line = |(url, chunks): &(String, Vec<String>)| {
        format!("{}\n", json!({ "url": url, "text": chunks.join("\n\n") }))
    };
    pages.iter().map(line).collect()
}

fn rows(sandbox: &Sandbox, analysis: &str, table: &str) -> Vec<Value> {
    let run = std::fs::read_dir(sandbox.path(&format!("found/findings/{analysis}")))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let path = run.path().join(format!("{table}.parquet"));
    cento_find::read_table(&path)
        .unwrap()
        .flat_map(|batch| {
            let batch = batch.unwrap();
            let value = |row| {
                let values = cento_find::row_values(&batch, row);
                Value::Object(
                    values
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect(),
                )
            };
            (0..batch.num_rows()).map(value).collect::<Vec<Value>>()
        })
        .collect()
}

#[test]
fn a_mutated_site_is_scored_as_a_naive_count_says() {
    let sandbox = Sandbox::new();
    let site = site();
    sandbox.write("site.jsonl", lines(&site));
    sandbox.succeed(&["index", "site.jsonl", "-o", "s.cento"]);
    assert_snapshot!(sandbox.run(&[
        "trial",
        "mutate",
        "s.cento",
        "--blind",
        "19",
        "--most-changes",
        "4",
        "--step",
        "1",
        "--findings",
        "found/findings",
        "--figures",
        "figures",
    ]));
    let total: usize = site.iter().map(|page| page.1.len()).sum();
    let average = total as f64 / site.len() as f64;
    let blind = |chunk: &String| chunk.starts_with("This sentence");
    let mutations = rows(&sandbox, "trial-mutate", "mutations");
    assert_eq!(mutations.len(), 3 * 5 * 2);
    for row in &mutations {
        let changes = row["mutations"].as_u64().unwrap();
        let multiple = row["multiple"].as_f64().unwrap();
        assert_eq!(changes, (multiple * average).round() as u64);
        let scores: Vec<(usize, usize)> = site
            .iter()
            .map(|(_, chunks)| {
                let matched = match row["labels"] == "blind" {
                    true => chunks.iter().filter(|chunk| blind(chunk)).count(),
                    false => chunks.len(),
                };
                (matched, chunks.len())
            })
            .collect();
        let near = |name: &str, expected: f64| {
            let found = row[name].as_f64().unwrap();
            assert!(
                (found - expected).abs() < 1e-9,
                "{name}: {found} {expected} {row}"
            );
        };
        // Additions do not depend on chance.
        if row["mutation"] == "add" {
            let more = changes as usize;
            let mean = scores
                .iter()
                .map(|&(part, whole)| part as f64 / (whole + more) as f64)
                .sum::<f64>();
            near("mean", mean / site.len() as f64);
            let matched: usize = scores.iter().map(|score| score.0).sum();
            near("ratio", matched as f64 / (total + more * site.len()) as f64);
            let above = scores
                .iter()
                .filter(|&&(part, whole)| part as f64 / (whole + more) as f64 > 0.144);
            near("detected", above.count() as f64);
            near("pages", site.len() as f64);
        }
        // Whatever is deleted, all that is left is a label.
        if row["mutation"] == "delete" && row["labels"] == "expert" {
            let left: usize = scores
                .iter()
                .filter(|score| score.1 > changes as usize)
                .count();
            near("pages", left as f64);
            match left {
                0 => assert_eq!(row["mean"], Value::Null),
                _ => near("mean", 1.0),
            }
        }
        // A chunk stays unchanged with probability (1 − 1/m)ⁿ; ten runs of forty pages.
        if row["mutation"] == "change" && row["labels"] == "expert" {
            let expected: f64 = scores
                .iter()
                .map(|&(_, whole)| (1.0 - 1.0 / whole as f64).powi(changes as i32))
                .sum();
            let found = row["mean"].as_f64().unwrap();
            assert!((found - expected / site.len() as f64).abs() < 0.08, "{row}");
        }
    }
    // The same seed gives the same table, another seed another one.
    let again = |seed: &str, folder: &str| {
        sandbox.succeed(&[
            "trial",
            "mutate",
            "s.cento",
            "--blind",
            "19",
            "--most-changes",
            "4",
            "--step",
            "1",
            "--json",
            "--seed",
            seed,
            "--findings",
            folder,
            "--threads",
            "3",
            "--memory",
            "64M",
        ])
    };
    assert_eq!(again("1", "second"), again("1", "third"));
    assert_ne!(again("1", "second"), again("2", "third"));
    for name in ["added-pages", "changed-neighbourhood", "changed-detected"] {
        assert!(sandbox.path(&format!("figures/{name}.svg")).is_file());
    }
}

#[test]
fn an_injected_site_is_discovered_as_if_it_had_been_written_out() {
    let sandbox = Sandbox::new();
    let site = site();
    let mut corpus: Vec<(String, Vec<String>)> = (0..30)
        .map(|page| {
            let own = format!("A page of the corpus, number {page}.");
            let shared = format!("A sentence that {} pages share.", page % 3);
            (format!("http://corpus.example/{page}"), vec![own, shared])
        })
        .collect();
    corpus.push((
        "http://corpus.example/quote".to_owned(),
        vec![site[0].1[0].clone()],
    ));
    sandbox
        .write("site.jsonl", lines(&site))
        .write("corpus.jsonl", lines(&corpus));
    sandbox.succeed(&["index", "corpus.jsonl", "-o", "c.cento"]);
    assert_snapshot!(sandbox.run(&[
        "trial",
        "inject",
        "c.cento",
        "--inject",
        "site.jsonl",
        "--copies",
        "1,3",
        "--more-than",
        "9",
        "--files-more-than",
        "2",
        "--findings",
        "found/findings",
        "--figures",
        "figures",
    ]));
    let discovered = rows(&sandbox, "trial-inject", "discovered");
    let roc = rows(&sandbox, "trial-inject", "roc");
    for copies in [1, 3] {
        // The corpus with all copies, written out and discovered. Every copy is another site, and
        // adds a paragraph of its own to the head of each page.
        let mut all = corpus.clone();
        for copy in 0..copies {
            for (url, chunks) in &site {
                let mut chunks = chunks.clone();
                chunks.insert(0, format!("An advertisement on copy {copy} of {url}."));
                all.push((url.replace("site", &format!("copy{copy}")), chunks));
            }
        }
        sandbox.write("all.jsonl", lines(&all));
        sandbox.succeed(&["index", "all.jsonl", "-o", &format!("all{copies}.cento")]);
        let labels = format!("all{copies}.labels");
        sandbox.succeed(&[
            "discover",
            &format!("all{copies}.cento"),
            "--more-than",
            "9",
            "-o",
            &labels,
        ]);
        let exported = sandbox.succeed(&["labels", "export", &labels]);
        let of_site: BTreeSet<&String> = site.iter().flat_map(|page| &page.1).collect();
        let texts: Vec<String> = exported
            .lines()
            .map(|line| {
                serde_json::from_str::<Value>(line).unwrap()["text"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        let found = texts.iter().filter(|text| of_site.contains(text)).count();
        let row = discovered
            .iter()
            .find(|row| row["of"] == "chunks" && row["copies"] == copies)
            .unwrap();
        assert_eq!(
            (&row["discovered"], &row["objects"]),
            (&json!(found), &json!(of_site.len()))
        );
        // The curve has the counts of a naive recount at every threshold.
        let mut counts: BTreeMap<&String, u64> = BTreeMap::new();
        for chunk in all
            .iter()
            .flat_map(|page| &page.1)
            .filter(|chunk| !chunk.starts_with("An adv"))
        {
            *counts.entry(chunk).or_default() += 1;
        }
        for row in roc
            .iter()
            .filter(|row| row["of"] == "chunks" && row["copies"] == copies)
        {
            let threshold = row["threshold"].as_u64().unwrap();
            let above = |of: bool| {
                counts
                    .iter()
                    .filter(|(chunk, count)| **count > threshold && of_site.contains(*chunk) == of)
                    .count()
            };
            assert_eq!(
                (&row["true_positives"], &row["false_positives"]),
                (&json!(above(true)), &json!(above(false))),
                "{row}"
            );
        }
    }
    assert!(sandbox.path("figures/discovery-roc.svg").is_file());
}

#[test]
fn detected_pages_are_compared_with_a_truth() {
    let sandbox = Sandbox::new();
    let original = "A paragraph of the original that is long enough to become a label, since it has more than a hundred bytes.";
    let page = |at: usize, chunks: Vec<String>| (format!("http://a.example/{at}"), chunks);
    let own = |at: usize| format!("Own words of page {at}.");
    let mut pages: Vec<(String, Vec<String>)> = (0..6).map(|at| page(at, vec![own(at)])).collect();
    pages.push(page(6, vec![original.to_owned()]));
    pages.push(page(7, vec![original.to_owned(), own(7)]));
    pages.push(page(
        8,
        vec![original.to_owned(), own(8), own(80), own(800)],
    ));
    sandbox
        .write("crawl.jsonl", lines(&pages))
        .write(
            "mine.jsonl",
            lines(&[("http://mine.example/".to_owned(), vec![original.to_owned()])]),
        )
        .write(
            "truth.txt",
            "http://a.example/6\nhttp://a.example/7\nhttp://a.example/0\nhttp://a.example/gone\n",
        );
    sandbox.succeed(&["index", "crawl.jsonl", "-o", "c.cento"]);
    sandbox.succeed(&[
        "discover",
        "c.cento",
        "--from",
        "mine.jsonl",
        "-o",
        "mine.labels",
    ]);
    assert_snapshot!(sandbox.run(&[
        "detect",
        "c.cento",
        "--labels",
        "mine.labels",
        "--truth",
        "truth.txt",
        "--findings",
        "found/findings",
        "--figures",
        "figures",
    ]));
    let found: Vec<(f64, u64, u64)> = rows(&sandbox, "detect-roc", "roc")
        .iter()
        .map(|row| {
            let number = |name: &str| row[name].as_u64().unwrap();
            (
                row["threshold"].as_f64().unwrap(),
                number("true_positives"),
                number("false_positives"),
            )
        })
        .collect();
    assert_eq!(found, [(1.0, 0, 0), (0.5, 1, 0), (0.25, 2, 0), (0.0, 2, 1)]);
    assert!(sandbox.path("figures/roc.svg").is_file());
}

#[test]
fn errors_are_one_line_and_a_hint() {
    let sandbox = Sandbox::new();
    sandbox.write("site.jsonl", lines(&site()));
    sandbox.write("empty.jsonl", "{\"text\": \"\"}\n");
    sandbox.succeed(&["index", "site.jsonl", "-o", "s.cento"]);
    for arguments in [
        &["trial"][..],
        &["trial", "mutate", "none.cento"],
        &["trial", "mutate", "s.cento", "--runs", "0"],
        &["trial", "mutate", "s.cento", "--step", "0"],
        &["trial", "mutate", "s.cento", "--page-threshold", "1"],
        &["trial", "inject", "s.cento"],
        &[
            "trial",
            "inject",
            "s.cento",
            "--inject",
            "s.cento",
            "--more-than",
            "0",
        ],
        &[
            "trial",
            "inject",
            "s.cento",
            "--inject",
            "s.cento",
            "--base-url",
            "http://a.example/",
        ],
        &[
            "detect",
            "s.cento",
            "--against",
            "site.jsonl",
            "--truth",
            "none.txt",
        ],
    ] {
        assert_snapshot!(sandbox.run(arguments));
    }
}

#[test]
fn help_is_unchanged() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["trial", "--help"]));
    assert_snapshot!(sandbox.run(&["trial", "inject", "--help"]));
    assert_snapshot!(sandbox.run(&["trial", "mutate", "--help"]));
}
