//! What a corpus records of its inputs: repeated additions, edited inputs, interrupted runs.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod support;

use std::time::Duration;

use support::{Random, Sandbox};

/// Pages as JSON Lines, the same for each seed.
fn lines(seed: u64, pages: usize) -> String {
    let mut random = Random(seed);
    (0..pages)
        .map(|page| {
            let text = random.page("Page", 30).replace('"', "'").replace('\n', " ");
            format!("{{\"url\": \"http://site{seed}.example/{page}\", \"html\": \"{text}\"}}\n")
        })
        .collect()
}

fn pages(sandbox: &Sandbox, corpus: &str) -> u64 {
    let info = sandbox.succeed(&["info", corpus, "--json"]);
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    info["counts"]["pages"].as_u64().unwrap()
}

#[test]
fn repeating_an_addition_adds_nothing() {
    let sandbox = Sandbox::new();
    for (name, seed) in [("a", 1), ("b", 2), ("c", 3)] {
        sandbox.write(&format!("{name}.jsonl"), lines(seed, 5));
    }
    sandbox.succeed(&["index", "a.jsonl", "-o", "x.cento"]);
    sandbox.succeed(&["index", "b.jsonl", "--add", "-o", "x.cento"]);
    let manifest = || std::fs::read(sandbox.path("x.cento/manifest.json")).unwrap();
    let before = manifest();
    let repeated = sandbox.run(&["index", "b.jsonl", "--add", "-o", "x.cento"]);
    assert!(repeated.starts_with("status: 0"), "{repeated}");
    let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let repeated = spaced(&repeated);
    assert!(repeated.contains("already added 1 skipped"), "{repeated}");
    assert!(repeated.contains("b.jsonl; --repeat adds"), "{repeated}");
    assert_eq!(manifest(), before);

    // Other parameters are refused, whether or not there is anything to add.
    let other = sandbox.run(&[
        "index", "b.jsonl", "--add", "-o", "x.cento", "--chunk", "lines:2",
    ]);
    assert!(other.starts_with("status: 2"), "{other}");
    assert_eq!(manifest(), before);

    // New inputs are added, known ones are skipped.
    let mixed = sandbox.run(&[
        "index", "a.jsonl", "b.jsonl", "c.jsonl", "--add", "-o", "x.cento",
    ]);
    assert!(
        spaced(&mixed).contains("already added 2 skipped"),
        "{mixed}"
    );
    assert_eq!(pages(&sandbox, "x.cento"), 15);

    // A file with the same name and size but other content is not added beside the old one unasked.
    let edited = lines(2, 5).replacen('a', "b", 1);
    sandbox.write("b.jsonl", edited);
    let changed = sandbox.run(&["index", "b.jsonl", "--add", "-o", "x.cento"]);
    assert!(changed.starts_with("status: 2"), "{changed}");
    assert!(
        changed.contains("b.jsonl is in x.cento with other content"),
        "{changed}"
    );
    assert_eq!(pages(&sandbox, "x.cento"), 15);
    sandbox.succeed(&["index", "b.jsonl", "--add", "--repeat", "-o", "x.cento"]);
    assert_eq!(pages(&sandbox, "x.cento"), 20);

    sandbox.succeed(&["index", "c.jsonl", "--add", "--repeat", "-o", "x.cento"]);
    assert_eq!(pages(&sandbox, "x.cento"), 25);
    let alone = sandbox.run(&["index", "c.jsonl", "--repeat", "-o", "y.cento"]);
    assert!(alone.starts_with("status: 2"), "{alone}");
}

#[test]
fn a_scan_accepts_all_inputs_of_a_corpus_with_additions() {
    let sandbox = Sandbox::new();
    sandbox
        .write("a.jsonl", lines(1, 5))
        .write("b.jsonl", lines(2, 5));
    sandbox.succeed(&["index", "a.jsonl", "-o", "x.cento"]);
    sandbox.succeed(&["index", "b.jsonl", "--add", "-o", "x.cento"]);
    sandbox.succeed(&["index", "b.jsonl", "--add", "-o", "x.cento"]);
    // All inputs of the corpus are named: there is nothing to index.
    sandbox.succeed(&[
        "scan", "b.jsonl", "a.jsonl", "-o", "x.cento", "--only", "copies",
    ]);
    let fewer = sandbox.run(&["scan", "a.jsonl", "-o", "x.cento", "--only", "copies"]);
    assert!(fewer.starts_with("status: 2"), "{fewer}");
    assert!(fewer.contains("b.jsonl"), "{fewer}");
    assert!(!fewer.contains("unfinished"), "{fewer}");
}

/// Indexes a file, kills the process once a part is committed, and returns whether the corpus is
/// unfinished.
fn interrupted(sandbox: &Sandbox) -> bool {
    sandbox.write("a.jsonl", lines(1, 1500));
    let index = [
        "index",
        "a.jsonl",
        "--part-size",
        "100K",
        "--threads",
        "1",
        "-o",
        "x.cento",
    ];
    let mut child = sandbox.command(&index).spawn().unwrap();
    let first = sandbox.path("x.cento/pages/part-00000-0000.parquet");
    while !first.exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    child.wait().unwrap();
    sandbox.run(&["info", "x.cento"]).contains("unfinished")
}

#[test]
fn an_unfinished_corpus_is_analysed_only_with_partial() {
    let sandbox = Sandbox::new();
    if !interrupted(&sandbox) || pages(&sandbox, "x.cento") == 0 {
        return;
    }
    for command in ["copies", "quilts", "phrases", "overlap", "scan", "report"] {
        let refused = sandbox.run(&[command, "x.cento"]);
        assert!(refused.starts_with("status: 2"), "{command}: {refused}");
        assert!(
            refused.contains("x.cento is unfinished"),
            "{command}: {refused}"
        );
        assert!(refused.contains("--partial"), "{command}: {refused}");
    }
    let pages = pages(&sandbox, "x.cento");
    for command in ["copies", "scan"] {
        let partial = sandbox.run(&[command, "x.cento", "--partial"]);
        assert!(partial.starts_with("status: 0"), "{command}: {partial}");
        assert!(
            partial.contains("is unfinished; the results cover the"),
            "{partial}"
        );
        assert!(partial.contains(" indexed so far"), "{pages} {partial}");
    }
}

#[test]
fn an_index_is_not_resumed_over_an_edited_file() {
    let sandbox = Sandbox::new();
    if !interrupted(&sandbox) {
        return;
    }
    let before = std::fs::read_to_string(sandbox.path("a.jsonl")).unwrap();
    let edited = before.replace("Page", "Pgae");
    assert_eq!(before.len(), edited.len());
    sandbox.write("a.jsonl", edited);
    let index = ["index", "a.jsonl", "--part-size", "100K", "-o", "x.cento"];
    let refused = sandbox.run(&index);
    assert!(refused.starts_with("status: 2"), "{refused}");
    assert!(
        refused.contains("1 input has changed (a.jsonl)"),
        "{refused}"
    );
    assert!(refused.contains("--refresh"), "{refused}");
}
