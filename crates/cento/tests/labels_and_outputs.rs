//! Outputs that would overwrite inputs, and files of labels: what auditors found.

mod support;

use cento_find::provenance::{read_labels, read_originals};
use serde_json::{Value, json};
use support::{Sandbox, said, words};

/// Pages that all have the same two paragraphs, the first of which is short.
fn pages(host: &str, count: usize) -> String {
    let page = |at: usize| {
        let text = format!(
            "Home\n\n{}\n\n{}",
            words("shared", 30),
            words(&format!("own{at}x"), 30)
        );
        json!({ "url": format!("http://{host}{at}.example/"), "text": text })
    };
    (0..count).map(|at| format!("{}\n", page(at))).collect()
}

/// A sandbox with pages, the corpus of them, and labels.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("p.jsonl", pages("a", 8));
    sandbox.succeed(&["index", "p.jsonl", "-o", "p.cento"]);
    sandbox.succeed(&["discover", "p.cento", "--no-stop", "-o", "l.labels"]);
    sandbox.succeed(&["discover", "--from", "p.jsonl", "-o", "o.labels"]);
    sandbox
}

/// All files of the sandbox with their content, apart from results.
#[expect(
    clippy::unwrap_used,
    reason = "a test that cannot read its sandbox fails"
)]
fn content(sandbox: &Sandbox) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![sandbox.path("")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.ends_with("findings") || path.ends_with("tmp") => {}
                true => folders.push(path),
                false => files.push((path.display().to_string(), std::fs::read(&path).unwrap())),
            }
        }
    }
    files.sort();
    files
}

#[test]
fn no_command_overwrites_what_it_reads() {
    let sandbox = sandbox();
    sandbox.write("folder/page.html", "<p>A page of a folder.</p>");
    sandbox.write("list.txt", "p.jsonl\n");
    sandbox.write("notes", "notes of mine");
    sandbox.write("n.parquet", "a table of mine");
    sandbox.write("stop.txt", "[chunks]\nHome\n");
    std::os::unix::fs::symlink("p.jsonl", sandbox.path("link.jsonl")).unwrap();
    std::fs::hard_link(sandbox.path("p.jsonl"), sandbox.path("hard.jsonl")).unwrap();
    let before = content(&sandbox);
    for command in [
        "discover p.jsonl -o p.jsonl",
        "discover p.jsonl -o link.jsonl",
        "discover p.jsonl -o ./p.jsonl",
        "discover hard.jsonl --out p.jsonl -o x.labels",
        // The files that a corpus was made of, and its own.
        "discover p.cento -o p.jsonl",
        "discover p.cento -o p.cento/manifest.json",
        "discover p.cento --out p.cento/pages/part-00000-0000.parquet -o x.labels",
        "discover p.jsonl -o p.cento/findings/x.labels",
        "copies p.cento --out p.jsonl",
        "copies p.cento --skip-list p.jsonl",
        "report p.cento -o p.jsonl",
        "scan p.cento --report p.jsonl",
        "query p.cento p.jsonl --out p.jsonl",
        "reuse p.cento --labelled p.jsonl --compare --out p.jsonl",
        "detect p.cento --against o.labels --write-labels p.jsonl",
        "detect p.cento --against folder --write-labels folder/page.html",
        "overlap folder --out folder/page.html",
        "overlap @list.txt --out list.txt",
        // Labels and the tables beside them.
        "detect p.cento --labels l.labels --out l.labels.parquet",
        "detect p.cento --labels l.labels --stop stop.txt --out stop.txt",
        "labels merge l.labels -o l.labels",
        "labels merge l.labels -o l.labels.parquet",
        "labels subtract l.labels o.labels -o o.labels",
        "labels export l.labels --out l.labels.parquet",
        "labels review l.labels --list l.labels",
        "labels review l.labels --list l.labels.parquet",
        "labels review l.labels --apply stop.txt -o stop.txt",
        "discover p.cento -o x.labels --out x.labels.parquet",
        // Files that are no labels, no tables of labels and no list of proposals.
        "labels merge l.labels -o p.jsonl",
        "labels merge l.labels -o n",
        "labels review l.labels --accept short -o notes",
        "labels review l.labels --list notes",
        "labels review l.labels --list stop.txt",
        "discover p.cento -o notes",
        "detect p.cento --against folder --write-labels notes",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let said = sandbox.run(&words);
        assert!(said.starts_with("status: 2\n"), "{command}: {said}");
        assert!(content(&sandbox) == before, "{command}: {said}");
    }
}

#[test]
fn outputs_of_a_command_are_replaced_by_the_same_command() {
    let sandbox = sandbox();
    sandbox.write("other/keep", "");
    for command in [
        "discover p.cento --out t.parquet -o x.labels",
        "discover p.cento -o p.cento/x.labels",
        "detect p.cento --against p.jsonl --write-labels w.labels --out t.csv",
        "labels merge l.labels o.labels -o m.labels",
        "labels review l.labels --accept short -o r.labels",
        "labels review l.labels --accept short",
        "labels review o.labels -o o.labels --accept all",
        "labels review l.labels --list list.txt",
        "labels export l.labels --out e.jsonl",
        "report p.cento -o r.html",
        "report p.cento",
        "discover p.cento -o /dev/null",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        sandbox.succeed(&words);
        sandbox.succeed(&words);
    }
    // An empty file, as `mktemp` makes it, and labels that are damaged.
    sandbox.write("empty", "");
    sandbox.succeed(&["discover", "p.cento", "-o", "empty"]);
    let mut labels = std::fs::read(sandbox.path("x.labels")).unwrap();
    labels[100] ^= 1;
    sandbox.write("x.labels", labels);
    sandbox.succeed(&["discover", "p.cento", "-o", "x.labels"]);
}

#[test]
fn sources_of_a_corpus_are_recognised_from_another_folder() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path("below")).unwrap();
    let before = content(&sandbox);
    let mut command = sandbox.command(&["copies", "../p.cento", "--out", "../p.jsonl"]);
    let output = command.current_dir(sandbox.path("below")).output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(2),
        "{}",
        sandbox.transcript(&output)
    );
    assert!(content(&sandbox) == before);
}

#[test]
fn a_missing_table_beside_labels_is_named() {
    let sandbox = sandbox();
    std::fs::remove_file(sandbox.path("o.labels.originals.parquet")).unwrap();
    let sentence = "error: o.labels.originals.parquet is missing, which was written with o.labels";
    for command in [
        "detect p.cento --labels o.labels",
        "labels merge o.labels l.labels -o m.labels",
        "labels info o.labels --verify",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let said = sandbox.run(&words);
        assert!(said.starts_with("status: 4\n"), "{command}: {said}");
        assert!(said.contains(sentence), "{command}: {said}");
    }
    // Labels can be used without both, but that is not what was written.
    std::fs::remove_file(sandbox.path("o.labels.parquet")).unwrap();
    sandbox.succeed(&["detect", "p.cento", "--labels", "o.labels"]);
    let said = sandbox.run(&["labels", "info", "o.labels", "--verify"]);
    assert!(said.starts_with("status: 4\n"), "{said}");
    assert!(said.contains("o.labels.parquet is missing"), "{said}");
}

#[test]
fn a_table_of_other_labels_is_not_called_corrupted() {
    let sandbox = sandbox();
    std::fs::copy(sandbox.path("l.labels"), sandbox.path("o.labels")).unwrap();
    std::fs::remove_file(sandbox.path("o.labels.originals.parquet")).unwrap();
    let said = sandbox.run(&["detect", "p.cento", "--labels", "o.labels"]);
    assert!(said.starts_with("status: 4\n"), "{said}");
    let sentence = "error: o.labels.parquet belongs to other labels than o.labels";
    assert!(said.contains(sentence), "{said}");
    // Damage is damage.
    let mut table = std::fs::read(sandbox.path("l.labels.parquet")).unwrap();
    table[40] ^= 1;
    sandbox.write("l.labels.parquet", table);
    let said = sandbox.run(&["detect", "p.cento", "--labels", "l.labels"]);
    assert!(said.contains("l.labels.parquet is corrupted"), "{said}");
}

#[test]
fn with_stop_proposed_all_outputs_have_the_labels_that_were_written() {
    let sandbox = sandbox();
    let begin = [
        "discover",
        "p.cento",
        "--no-stop",
        "--stop-proposed",
        "-o",
        "s.labels",
    ];
    let with = |more: &[&'static str]| [begin.as_slice(), more].concat();
    let heading = said(&sandbox, &begin);
    for part in [
        "1 label of chunks in s.labels",
        "labels 1 each occurs more than 5 times",
        "occurrences 8 33.3 % of all chunks",
        "proposed stops 1 a label that looks like boilerplate became a stop",
    ] {
        assert!(heading.contains(part), "{part}: {heading}");
    }
    assert!(!heading.contains("Home"), "{heading}");
    let rows = |text: String| -> Vec<Value> {
        let rows = text.lines().map(serde_json::from_str::<Value>);
        rows.map(|row| row.unwrap()["hash"].clone()).collect()
    };
    let written = rows(sandbox.succeed(&["labels", "export", "s.labels"]));
    assert_eq!(written.len(), 1);
    assert_eq!(rows(sandbox.succeed(&with(&["--json"]))), written);
    assert_eq!(rows(sandbox.succeed(&with(&["--sample", "9"]))).len(), 1);
    sandbox.succeed(&with(&["--out", "s.jsonl"]));
    assert_eq!(
        rows(std::fs::read_to_string(sandbox.path("s.jsonl")).unwrap()),
        written
    );
    // Labels can be written to a pipe, without the table beside them.
    let mut piped = begin;
    piped[5] = "-";
    let output = sandbox.command(&piped).output().unwrap();
    assert!(output.status.success(), "{}", sandbox.transcript(&output));
    sandbox.write("piped.labels", output.stdout);
    assert!(said(&sandbox, &["labels", "info", "piped.labels", "--verify"]).contains("labels 1 "));
    // Nothing is left.
    let all = [
        "discover",
        "p.cento",
        "--no-stop",
        "--stop-proposed",
        "--from",
        "p.jsonl",
        "--min-length",
        "1",
    ];
    let said = said(&sandbox, &[all.as_slice(), &["-o", "a.labels"]].concat());
    assert!(said.contains("originals with labels 8"), "{said}");
}

#[test]
fn merged_counts_are_lower_bounds_and_originals_are_listed_once() {
    let sandbox = sandbox();
    sandbox.write("z.jsonl", pages("z", 9));
    sandbox.succeed(&[
        "discover",
        "p.cento",
        "--no-stop",
        "--more-than",
        "7",
        "-o",
        "b.labels",
    ]);
    sandbox.succeed(&["discover", "z.jsonl", "--no-stop", "-o", "z.labels"]);
    let counts = |name: &str| -> Vec<(u64, u64, Option<u64>)> {
        let rows = read_labels(&sandbox.path(name)).unwrap();
        rows.map(Result::unwrap)
            .map(|row| (row.count, row.pages, row.sites))
            .collect()
    };
    sandbox.succeed(&["labels", "merge", "l.labels", "b.labels", "-o", "m.labels"]);
    assert_eq!(counts("m.labels.parquet"), [(8, 8, Some(8)); 2]);
    sandbox.succeed(&["labels", "merge", "l.labels", "z.labels", "-o", "m.labels"]);
    assert_eq!(counts("m.labels.parquet"), [(9, 9, Some(9)); 2]);

    sandbox.write("q.jsonl", pages("a", 3));
    sandbox.succeed(&["discover", "--from", "q.jsonl", "-o", "q.labels"]);
    sandbox.succeed(&["labels", "merge", "q.labels", "o.labels", "-o", "m.labels"]);
    let originals = read_originals(&sandbox.path("m.labels.originals.parquet")).unwrap();
    let originals: Vec<(u32, String, u64)> = originals
        .map(Result::unwrap)
        .map(|row| (row.original, row.page, row.labels))
        .collect();
    let expected: Vec<(u32, String, u64)> = (0..8)
        .map(|at| (at, format!("http://a{at}.example/"), 2))
        .collect();
    assert_eq!(originals, expected);
    let mut rows = read_labels(&sandbox.path("m.labels.parquet"))
        .unwrap()
        .map(Result::unwrap);
    assert!(rows.any(|row| row.originals == (0..8).collect::<Vec<u32>>()));
}

#[test]
fn labels_remember_how_they_were_made_and_not_each_review() {
    let sandbox = sandbox();
    let made = |name: &str| {
        let info = sandbox.succeed(&["labels", "info", name, "--json"]);
        serde_json::from_str::<Value>(&info).unwrap()["made"].clone()
    };
    let first = made("l.labels");
    sandbox.succeed(&["labels", "review", "l.labels", "--accept", "wordless"]);
    assert_eq!(made("l.labels"), first);
    sandbox.succeed(&["labels", "review", "l.labels", "--accept", "short"]);
    let reviewed = made("l.labels");
    assert_eq!(
        (&reviewed["before"], &reviewed["reviewed"]),
        (&first, &json!(["l.labels"]))
    );
    sandbox.succeed(&[
        "labels", "review", "l.labels", "--accept", "0000", "--accept", "all",
    ]);
    assert_eq!(made("l.labels"), reviewed);
}

#[test]
fn small_counts_are_said_in_the_singular() {
    let sandbox = sandbox();
    let more = said(
        &sandbox,
        &[
            "discover",
            "p.cento",
            "--no-stop",
            "--more-than",
            "1",
            "-o",
            "x.labels",
        ],
    );
    assert!(more.contains("each occurs more than 1 time "), "{more}");
    let review = said(&sandbox, &["labels", "review", "x.labels"]);
    assert!(
        review.starts_with("1 label is proposed as a stop "),
        "{review}"
    );
    let review = said(
        &sandbox,
        &["labels", "review", "x.labels", "--accept", "all"],
    );
    assert!(review.starts_with("1 label became a stop "), "{review}");

    let merged = {
        sandbox.succeed(&[
            "discover",
            "p.cento",
            "--unit",
            "files",
            "--more-than",
            "1",
            "-o",
            "f.labels",
        ]);
        sandbox.run(&["labels", "merge", "x.labels", "f.labels", "-o", "m.labels"])
    };
    assert!(
        merged.contains("error: f.labels has labels of files, not of chunks\n"),
        "{merged}"
    );
    assert!(
        merged.contains("`cento discover --unit` makes either"),
        "{merged}"
    );
    sandbox.succeed(&[
        "discover", "p.jsonl", "--chunk", "lines:2", "-o", "c.labels",
    ]);
    let merged = sandbox.run(&["labels", "merge", "x.labels", "c.labels", "-o", "m.labels"]);
    assert!(
        merged.contains("hint: make all labels with chunk lines:2: run `cento discover` again"),
        "{merged}"
    );

    sandbox.succeed(&[
        "discover",
        "p.cento",
        "--more-than",
        "3000",
        "-o",
        "none.labels",
    ]);
    let none = said(&sandbox, &["detect", "p.cento", "--labels", "none.labels"]);
    assert!(none.contains("The file of labels has no labels."), "{none}");
    assert!(!none.contains("--min-length"), "{none}");

    sandbox.write("w.txt", "word");
    let pair = said(
        &sandbox,
        &["detect", "w.txt", "--against", "w.txt", "--min-length", "1"],
    );
    assert!(
        pair.contains("shares no long passage: --out FILE.csv lists the pairs,"),
        "{pair}"
    );
    let item = said(
        &sandbox,
        &["detect", "w.txt", "--against", "w.txt", "--grams", "1"],
    );
    assert!(
        item.starts_with("1 of 1 item: at least half of its runs of 1 word on one page"),
        "{item}"
    );
    let item = said(&sandbox, &["contamination", "w.txt", "--against", "w.txt"]);
    assert!(
        item.starts_with("No item was compared by runs of 8 words items 1 found"),
        "{item}"
    );
    let help = sandbox.succeed(&["contamination", "--help"]);
    assert!(
        !help.contains("page threshold") && !help.contains("evidence"),
        "{help}"
    );
}

#[test]
fn watch_counts_records_as_index_does() {
    let sandbox = sandbox();
    let stream = "{\"url\":\"http://a.example/1\",\"text\":\"hello\"}\n{bad\n";
    sandbox.write("b.jsonl", stream);
    let index = sandbox.succeed(&["index", "b.jsonl", "-o", "b.cento"]);
    let watch = sandbox.run_with_input(&["watch", "--labels", "l.labels"], stream.as_bytes());
    for said in [index, watch] {
        assert!(said.contains("record 1"), "{said}");
    }
}

#[test]
fn what_does_not_exist_or_cannot_be_used_is_wrong_usage() {
    let sandbox = sandbox();
    sandbox.write(
        "pairs.csv",
        "page,of\nhttp://a0.example/,http://a1.example/\n",
    );
    sandbox.succeed(&["synth", "-o", "s", "--pages", "150"]);
    sandbox.succeed(&["index", "p.jsonl", "-o", "n.cento", "--no-text"]);
    let score = "score pairs.csv --truth s/truth.jsonl --as";
    for command in [
        "score nowhere --truth s/truth.jsonl".to_owned(),
        "score pairs.csv --truth nowhere --as copies".to_owned(),
        "score pairs.csv --truth s/truth.jsonl".to_owned(),
        format!("{score} nonsense"),
        format!("{score} copies --resemblance 0"),
        format!("{score} copies --resemblance 0.05"),
        format!("{score} copies --resemblance 2"),
        format!("{score} copies --resemblance nan"),
        format!("{score} reuse --resemblance 0.5"),
        "query p.cento nofile.txt".to_owned(),
        "detect n.cento --labels l.labels --fuzzy".to_owned(),
        "detect n.cento --against p.jsonl --evidence e".to_owned(),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let said = sandbox.run(&words);
        assert!(said.starts_with("status: 2\n"), "{command}: {said}");
    }
    sandbox.succeed(
        &[
            score.split(' ').collect::<Vec<_>>(),
            vec!["copies", "--resemblance", "0.1"],
        ]
        .concat(),
    );
}
