//! What a corpus knows of its inputs: additions that are repeated, inputs that were edited, runs
//! that were interrupted.
#![expect(clippy::unwrap_used, reason = "what goes wrong is to end the test")]

mod support;

use std::time::Duration;

use support::{Random, Sandbox};

/// Pages as JSON Lines, some of them the same for each seed.
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
fn an_addition_that_is_repeated_adds_nothing_and_says_so() {
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
    assert!(
        repeated.contains("already added 1 in the corpus"),
        "{repeated}"
    );
    assert!(repeated.contains("b.jsonl; --again adds"), "{repeated}");
    assert_eq!(manifest(), before);

    // What is new is added all the same, whatever else is named.
    let mixed = sandbox.run(&[
        "index", "a.jsonl", "b.jsonl", "c.jsonl", "--add", "-o", "x.cento",
    ]);
    assert!(spaced(&mixed).contains("already added 2 in"), "{mixed}");
    assert_eq!(pages(&sandbox, "x.cento"), 15);

    // A file of the same name and size with other words in it is another input.
    let edited = lines(2, 5).replacen('a', "b", 1);
    sandbox.write("b.jsonl", edited);
    sandbox.succeed(&["index", "b.jsonl", "--add", "-o", "x.cento"]);
    assert_eq!(pages(&sandbox, "x.cento"), 20);

    sandbox.succeed(&["index", "c.jsonl", "--add", "--again", "-o", "x.cento"]);
    assert_eq!(pages(&sandbox, "x.cento"), 25);
    let alone = sandbox.run(&["index", "c.jsonl", "--again", "-o", "y.cento"]);
    assert!(alone.starts_with("status: 2"), "{alone}");
}

#[test]
fn a_scan_of_a_corpus_with_additions_tells_the_truth_about_them() {
    let sandbox = Sandbox::new();
    sandbox
        .write("a.jsonl", lines(1, 5))
        .write("b.jsonl", lines(2, 5));
    sandbox.succeed(&["index", "a.jsonl", "-o", "x.cento"]);
    sandbox.succeed(&["index", "b.jsonl", "--add", "-o", "x.cento"]);
    sandbox.succeed(&["index", "b.jsonl", "--add", "-o", "x.cento"]);
    // All that is in it is named: there is nothing to index.
    sandbox.succeed(&[
        "scan", "b.jsonl", "a.jsonl", "-o", "x.cento", "--only", "copies",
    ]);
    let fewer = sandbox.run(&["scan", "a.jsonl", "-o", "x.cento", "--only", "copies"]);
    assert!(fewer.starts_with("status: 1"), "{fewer}");
    assert!(fewer.contains("b.jsonl"), "{fewer}");
    assert!(!fewer.contains("unfinished"), "{fewer}");
}

/// Indexes a file and kills that once a part is committed. Answers whether the corpus is unfinished
/// then.
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
fn an_unfinished_corpus_is_analysed_only_if_asked_to() {
    let sandbox = Sandbox::new();
    if !interrupted(&sandbox) || pages(&sandbox, "x.cento") == 0 {
        return;
    }
    for command in ["copies", "quilts", "phrases", "overlap", "scan", "report"] {
        let refused = sandbox.run(&[command, "x.cento"]);
        assert!(refused.starts_with("status: 1"), "{command}: {refused}");
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
            partial.contains("is unfinished: the results are about the"),
            "{partial}"
        );
        assert!(partial.contains(" that it has so far"), "{pages} {partial}");
    }
}

#[test]
fn a_resumed_index_does_not_mix_an_edited_file_with_what_it_was() {
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
    assert!(refused.starts_with("status: 1"), "{refused}");
    assert!(refused.contains("was made from other inputs"), "{refused}");
}
