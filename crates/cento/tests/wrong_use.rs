//! Wrong uses of the command line: each message says what is wrong, and each hint can be followed.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod support;

use insta::assert_snapshot;
use support::Sandbox;

/// Texts in a folder, pages in a file, a corpus, labels, and an empty folder.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .write("train/a.txt", "A text about bridges and rivers.\n")
        .write("train/b.txt", "Another text, about mountains.\n")
        .write("my texts/a.txt", "A text in a folder with a space.\n")
        .write(
            "pages.jsonl",
            "{\"url\": \"http://a.example/\", \"text\": \"A page of text.\"}\n",
        )
        .write("list.txt", "no pairs\n");
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.succeed(&["index", "train", "-o", "crawl.cento"]);
    sandbox.succeed(&[
        "discover",
        "--from",
        "train",
        "--min-length",
        "0",
        "-o",
        "my.labels",
    ]);
    sandbox
}

const WRONG: &[&[&str]] = &[
    // Data or nothing where a corpus is expected.
    &["report", "train"],
    &["report", "my texts"],
    &["report", "pages.jsonl"],
    &["report", "crwl.cento"],
    &["report", "crawl"],
    &["report", "nothing-like-it.cento"],
    &["report", "empty"],
    &["report", "-"],
    &["report", "my.labels"],
    &["serve", "crawl.cent"],
    // A corpus where inputs are expected.
    &["index", "crawl.cento", "-o", "new.cento"],
    &["scan", "crawl.cento", "pages.jsonl"],
    // Inputs.
    &["index", "trian", "-o", "new.cento"],
    &["index", "no-such-thing-here", "-o", "new.cento"],
    &["index", "empty", "-o", "new.cento"],
    &["index", "pages.jsonl", "-o", "train"],
    &["index", "pages.jsonl", "-o", "pages.jsonl"],
    &["index", "pages.jsonl", "--add", "-o", "new.cento"],
    // Labels.
    &["detect", "crawl.cento", "--labels", "crawl.cento"],
    &["detect", "crawl.cento", "--labels", "pages.jsonl"],
    &["detect", "crawl.cento", "--labels", "train"],
    &["detect", "crawl.cento", "--labels", "my.label"],
    &["detect", "crawl.cento", "--labels", "-"],
    &["labels", "info", "crawl.cento"],
    // A folder where a file is expected, and the other way round.
    &["passages", "crawl.cento", "--pairs", "train"],
    &[
        "detect",
        "crawl.cento",
        "--against",
        "train",
        "--truth",
        "train",
    ],
    &["report", "crawl.cento", "-o", "train"],
    &["overlap", "crawl.cento", "--out", "no-such-folder/x.csv"],
    &["overlap", "crawl.cento", "--out", "table"],
    &["score", "no-such-findings", "--truth", "list.txt"],
    // Numbers.
    &["overlap", "crawl.cento", "--threads", "0"],
    &["overlap", "crawl.cento", "--memory", "3"],
    &["overlap", "crawl.cento", "--memory", "64K"],
    &["quilts", "crawl.cento", "-k", "five"],
    &["copies", "crawl.cento", "--resemblance", "high"],
    &["overlap", "crawl.cento", "--top", "0"],
    // Misspelt commands and options.
    &["quilt", "crawl.cento"],
    &["quilts", "crawl.cento", "--colapse"],
    &["overlap", "crawl.cento", "-o", "pairs.csv"],
    &["overlap", "crawl.cento", "--threshold", "3"],
    &["copies", "--filter", "-o", "unique"],
    &["copies", "crawl.cento", "--filter"],
    &["help", "quilt"],
];

#[test]
fn messages_say_what_is_wrong_and_hints_can_be_followed() {
    let sandbox = sandbox();
    let mut said = String::new();
    for words in WRONG {
        let command = words.join(" ");
        let transcript = sandbox.run(words);
        assert!(
            !transcript.contains("os error") && !transcript.contains("type\n"),
            "{command}: {transcript}"
        );
        said.push_str(&format!("$ cento {command}\n{transcript}\n"));
    }
    assert_snapshot!(said);
}

#[test]
fn a_file_that_may_not_be_read_is_reported_as_such() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = sandbox();
    let path = sandbox.path("train/a.txt");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o0)).unwrap();
    if std::fs::read(&path).is_ok() {
        // The superuser may read everything.
        return;
    }
    let refused = sandbox.run(&["index", "train/a.txt", "-o", "new.cento"]);
    assert!(refused.contains("ermission"), "{refused}");
    assert!(refused.contains("hint: "), "{refused}");
}

#[test]
fn every_command_has_help_under_both_names() {
    let sandbox = Sandbox::new();
    for words in [
        "scan",
        "index",
        "info",
        "cat",
        "copies",
        "overlap",
        "reuse",
        "query",
        "passages",
        "quilts",
        "phrases",
        "discover",
        "detect",
        "watch",
        "trial",
        "trial inject",
        "trial mutate",
        "labels",
        "labels info",
        "labels merge",
        "labels subtract",
        "labels export",
        "labels review",
        "labels stops",
        "report",
        "serve",
        "synth",
        "score",
        "man",
        "completions",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let help = sandbox.succeed(&[&["help"], &words[..]].concat());
        assert_eq!(help, sandbox.succeed(&[&words[..], &["--help"]].concat()));
        assert!(help.contains("Usage: cento"), "{help}");
        assert!(help.contains("--quiet"), "{words:?}");
    }
    assert_eq!(sandbox.succeed(&["help"]), sandbox.succeed(&["--help"]));
}

#[test]
fn a_quiet_command_prints_only_its_result() {
    let sandbox = sandbox();
    let output = sandbox
        .command(&[
            "scan",
            "train",
            "-o",
            "crawl.cento",
            "--only",
            "copies",
            "--quiet",
        ])
        .output()
        .unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(!output.stdout.is_empty());
    // Errors are printed all the same.
    let refused = sandbox.run(&["info", "nothing.cento", "-q"]);
    assert!(refused.contains("error: "), "{refused}");
}

#[test]
fn a_dash_is_standard_input_or_output() {
    let sandbox = sandbox();
    let rows = sandbox.succeed(&["overlap", "crawl.cento", "--min-shared", "1", "--out", "-"]);
    assert_eq!(
        rows,
        sandbox.succeed(&["overlap", "crawl.cento", "--min-shared", "1", "--json"])
    );
    let report = sandbox.succeed(&["report", "crawl.cento", "-o", "-"]);
    assert!(report.starts_with("<!"), "{report}");
    let pairs = b"{\"a\": \"train/a.txt\", \"b\": \"train/b.txt\"}\n";
    let compared = sandbox.run_with_input(&["passages", "crawl.cento", "--pairs", "-"], pairs);
    assert!(compared.starts_with("status: 0"), "{compared}");
    let compared = sandbox.run_with_input(&["passages", "-", "train/a.txt"], b"A text.\n");
    assert!(compared.starts_with("status: 0"), "{compared}");
}
