//! `cento synth` and `cento score`: everything that the real binary prints.

mod support;

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::{Value, json};
use support::{Sandbox, assert_same, contents};

/// Removes the size that depends on the compression library from a transcript.
fn steady(transcript: &str) -> String {
    let lines = transcript
        .lines()
        .filter(|line| !line.starts_with("  on disk "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The corpus of a small crawl with all kinds of pages in all languages.
fn crawl() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.succeed(&[
        "synth",
        "-o",
        "s",
        "--pages",
        "1100",
        "--words",
        "200",
        "--damaged",
        "0.01",
    ]);
    sandbox.succeed(&["index", "s/crawl", "-o", "s.cento"]);
    sandbox
}

#[expect(clippy::unwrap_used, reason = "a test without its truth fails")]
fn truth(sandbox: &Sandbox) -> Vec<Value> {
    let text = fs::read_to_string(sandbox.path("s/truth.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_index_of_a_synthetic_crawl_agrees_with_the_truth() {
    let sandbox = crawl();
    assert_snapshot!(sandbox.run(&["synth", "--check", "s.cento"]));
    // All kinds and all languages.
    let truth = truth(&sandbox);
    let values = |field: &str| {
        let all = truth.iter().filter(|record| record["type"] == "page");
        all.map(|record| record[field].as_str().unwrap().to_owned())
            .collect::<std::collections::BTreeSet<String>>()
    };
    assert_eq!(values("kind").len(), 16);
    assert_eq!(values("language").len(), 11);
}

#[test]
fn a_corpus_that_does_not_agree_with_the_truth_is_reported() {
    let sandbox = Sandbox::new();
    sandbox.succeed(&[
        "synth",
        "-o",
        "s",
        "--pages",
        "200",
        "--words",
        "150",
        "--languages",
        "en",
    ]);
    sandbox.succeed(&["index", "s/crawl", "-o", "s.cento"]);
    // A wrong offset, a wrong share, and a missing page.
    let text = fs::read_to_string(sandbox.path("s/truth.jsonl")).unwrap();
    let mut wrong = String::new();
    let mut done = [false; 3];
    for line in text.lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        match record["type"].as_str().unwrap() {
            "passage" if !done[0] => {
                done[0] = true;
                record["at"]["begin"] = (record["at"]["begin"].as_u64().unwrap() + 1).into();
            }
            "quilt" if !done[1] => {
                done[1] = true;
                record["patch_share"] = 0.123.into();
            }
            "page" if !done[2] && record["reject"].is_null() => {
                done[2] = true;
                record["url"] = "http://nowhere.example/".into();
            }
            _ => {}
        }
        wrong.push_str(&format!("{record}\n"));
    }
    sandbox.write("wrong.jsonl", wrong);
    let transcript = sandbox.run(&["synth", "--check", "s.cento", "--truth", "wrong.jsonl"]);
    assert!(transcript.starts_with("status: 1\n"), "{transcript}");
    for expected in [
        "does not have the text at",
        "the truth says 0.123",
        "http://nowhere.example/ is not in the corpus",
        "1 pages of the corpus are not in the truth",
        "the corpus does not agree with the truth",
    ] {
        assert!(transcript.contains(expected), "{transcript}");
    }
    sandbox.succeed(&["index", "s/crawl", "-o", "main.cento", "--main"]);
    assert_snapshot!(sandbox.run(&["synth", "--check", "main.cento"]));
}

#[test]
fn the_bytes_are_the_same_on_any_number_of_threads() {
    let sandbox = Sandbox::new();
    let mix = [
        "--pages",
        "400",
        "--words",
        "150",
        "--files",
        "5",
        "--languages",
        "en,zh",
    ];
    for (folder, threads) in [("one", "1"), ("three", "3"), ("many", "16")] {
        let mut arguments = vec!["synth", "-o", folder, "--threads", threads];
        arguments.extend(mix);
        sandbox.succeed(&arguments);
    }
    assert_same(&sandbox.path("one"), &sandbox.path("three"));
    assert_same(&sandbox.path("one"), &sandbox.path("many"));
    let mut other = vec!["synth", "-o", "other", "--seed", "2"];
    other.extend(mix);
    sandbox.succeed(&other);
    assert_ne!(
        contents(&sandbox.path("one/crawl")),
        contents(&sandbox.path("other/crawl"))
    );
}

#[test]
fn a_killed_run_leaves_no_partial_archives_and_resumes() {
    let sandbox = Sandbox::new();
    let arguments = |folder| {
        [
            "synth",
            "-o",
            folder,
            "--pages",
            "1000",
            "--words",
            "200",
            "--files",
            "20",
            "--languages",
            "en",
            "--threads",
            "1",
        ]
    };
    let mut child = sandbox
        .command(&arguments("killed"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !sandbox.path("killed/crawl/synth-00003.warc.gz").exists()
        && begun.elapsed() < Duration::from_secs(60)
    {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!sandbox.path("killed/truth.jsonl").exists());
    let whole: Vec<String> = contents(&sandbox.path("killed/crawl"))
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let mut other = arguments("killed");
    other[4] = "1001";
    assert_snapshot!(sandbox.run(&other));
    let again = sandbox.run(&arguments("killed"));
    assert!(again.contains("from the interrupted run"), "{again}");
    sandbox.succeed(&arguments("whole"));
    assert_same(&sandbox.path("killed"), &sandbox.path("whole"));
    for name in whole {
        assert!(name.ends_with(".warc.gz"), "{name}");
    }
}

#[test]
fn a_folder_with_other_files_is_not_overwritten() {
    let sandbox = Sandbox::new();
    let arguments = [
        "synth",
        "-o",
        "s",
        "--pages",
        "200",
        "--words",
        "150",
        "--languages",
        "de",
    ];
    sandbox.write("s/precious.txt", "keep me");
    assert_snapshot!(sandbox.run(&arguments));
    fs::remove_file(sandbox.path("s/precious.txt")).unwrap();
    assert_snapshot!(steady(&sandbox.run(&arguments)));
    sandbox.write("s/notes.txt", "mine");
    assert_snapshot!(sandbox.run(&arguments));
    let before = contents(&sandbox.path("s"));
    let mut forced = arguments.to_vec();
    forced.push("--force");
    sandbox.succeed(&forced);
    assert!(contents(&sandbox.path("s")) == before);
}

#[test]
fn plain_crawls_have_only_the_requested_content() {
    let sandbox = Sandbox::new();
    let arguments = [
        "synth",
        "-o",
        "s",
        "--pages",
        "60",
        "--plain",
        "--news",
        "0.9",
        "--languages",
        "fr",
    ];
    assert_snapshot!(steady(&sandbox.run(&arguments)));
}

#[test]
fn errors_are_one_line_and_a_hint() {
    let sandbox = Sandbox::new();
    let mut all = String::new();
    for arguments in [
        &["--pages", "0"][..],
        &["--pages", "50"],
        &["--news", "0.9"],
        &["--near", "1.5"],
        &["--quilts", "0.3"],
        &["--languages", "en,tlh"],
        &["--languages", "en:many"],
        &["--edit-rates", "0.9"],
        &["--files", "20000"],
        &["--words", "3"],
        &["--originals", "0"],
    ] {
        let mut command = vec!["synth", "-o", "s"];
        command.extend(arguments);
        all.push_str(&format!(
            "{}\n{}",
            arguments.join(" "),
            sandbox.run(&command)
        ));
    }
    assert!(!sandbox.path("s").exists());
    for command in [
        &["synth"][..],
        &["synth", "--check", "nothing.cento"],
        &["score", "nothing", "--truth", "truth.jsonl"],
    ] {
        all.push_str(&format!("{}\n{}", command.join(" "), sandbox.run(command)));
    }
    assert_snapshot!(all);
}

#[test]
fn perfect_findings_score_one_and_half_of_them_one_half() {
    let sandbox = crawl();
    let truth = truth(&sandbox);
    let of_type = |kind: &'static str| truth.iter().filter(move |record| record["type"] == kind);
    let table = |analysis: &str, table: &str, rows: Vec<Value>| {
        for (run, share) in [("perfect", 1), ("half", 2)] {
            let folder = format!("s.cento/findings/{analysis}/{run}");
            sandbox.write(
                &format!("{folder}/run.json"),
                json!({"analysis": analysis, "parameters": {}}).to_string(),
            );
            let rows: String = rows
                .iter()
                .step_by(share)
                .map(|row| format!("{row}\n"))
                .collect();
            sandbox.write(&format!("{folder}/{table}.jsonl"), rows);
        }
    };
    let copies = of_type("copy").filter(|record| record["resemblance"].as_f64() >= Some(0.8));
    table(
        "copies",
        "pairs",
        copies
            .map(|record| json!({"page": record["copy"], "of": record["of"]}))
            .collect(),
    );
    let passages = of_type("passage").map(|record| {
        json!({"page": record["page"], "source": record["source"],
               "begin": record["at"]["begin"], "end": record["at"]["end"],
               "source_begin": record["source_at"]["begin"], "source_end": record["source_at"]["end"]})
    });
    table("passages", "passages", passages.collect());
    let patches = of_type("quilt").flat_map(|record| {
        let sources = record["sources"].as_array().unwrap();
        sources.iter().map(|source| {
            json!({"page": record["page"], "source": source["url"], "share": source["share"], "attributed": record["attributed"]})
        })
    });
    table("quilts", "patches", patches.collect());
    let matches = of_type("copied")
        .map(|record| json!({"page": record["page"], "original": record["original"]}));
    table("detect", "matches", matches.collect());
    let aliases =
        of_type("alias").map(|record| json!({"alias": record["alias"], "of": record["of"]}));
    table("aliases", "aliases", aliases.collect());
    let bad = of_type("bad-site").map(|record| json!({"site": record["prefix"].as_str().unwrap_or(record["ips"][0].as_str().unwrap())}));
    table("bad-sites", "sites", bad.collect());
    let findings: Vec<String> = [
        "aliases",
        "bad-sites",
        "copies",
        "detect",
        "passages",
        "quilts",
    ]
    .iter()
    .map(|analysis| format!("s.cento/findings/{analysis}/perfect"))
    .collect();
    let mut command = vec!["score", "--truth", "s/truth.jsonl"];
    command.extend(findings.iter().map(String::as_str));
    assert_snapshot!(sandbox.run(&command));
    assert_snapshot!(sandbox.run(&[
        "score",
        "--truth",
        "s/truth.jsonl",
        "s.cento/findings/quilts/half",
        "--json"
    ]));
}

#[test]
fn findings_can_name_pages_by_id() {
    let sandbox = Sandbox::new();
    sandbox.succeed(&[
        "synth",
        "-o",
        "s",
        "--pages",
        "200",
        "--words",
        "150",
        "--languages",
        "en",
    ]);
    sandbox.succeed(&["index", "s/crawl", "-o", "s.cento"]);
    let id = |url: &Value| {
        let page = sandbox
            .command(&["cat", "s.cento", "--json", "--url", url.as_str().unwrap()])
            .output()
            .unwrap();
        serde_json::from_slice::<Value>(&page.stdout).unwrap()["page_id"].clone()
    };
    let truth = truth(&sandbox);
    let copy = truth
        .iter()
        .find(|record| record["type"] == "copy" && record["how"] == "bytes")
        .unwrap();
    let row = json!({"page_id": id(&copy["copy"]), "of_id": id(&copy["of"])});
    sandbox.write(
        "s.cento/findings/copies/1/run.json",
        r#"{"analysis": "copies"}"#,
    );
    sandbox.write("s.cento/findings/copies/1/pairs.jsonl", row.to_string());
    let scored = sandbox.run(&["score", "s.cento/findings", "--truth", "s/truth.jsonl"]);
    assert!(scored.contains("copies exact      1      0"), "{scored}");
    sandbox.write("pairs.jsonl", row.to_string());
    assert_snapshot!(sandbox.run(&[
        "score",
        "pairs.jsonl",
        "--as",
        "copies",
        "--truth",
        "s/truth.jsonl"
    ]));
}

#[test]
fn help_is_unchanged() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["synth", "--help"]));
    assert_snapshot!(sandbox.run(&["score", "--help"]));
}

#[test]
fn all_findings_of_a_scan_are_scored_and_runs_are_distinguished() {
    let sandbox = Sandbox::new();
    let synth = [
        "synth",
        "-o",
        "s",
        "--pages",
        "400",
        "--languages",
        "en",
        "--seed",
        "3",
    ];
    sandbox.succeed(&synth);
    // The parameters of sweeps are a list, and replication has none.
    sandbox.succeed(&["scan", "s/crawl", "-o", "s.cento"]);
    sandbox.succeed(&["overlap", "s.cento", "--servers", "--min-shared", "1"]);
    let score = ["score", "s.cento/findings", "--truth", "s/truth.jsonl"];
    let scored = sandbox.succeed(&score);
    assert!(
        scored.contains("overlap-servers servers (threshold=1)"),
        "{scored}"
    );
    assert!(scored.contains("copies exact  "), "{scored}");
    sandbox.succeed(&["copies", "s.cento", "--resemblance", "0.95"]);
    let scored = sandbox.succeed(&score);
    assert!(
        scored.contains("copies near (resemblance=0.95)"),
        "{scored}"
    );
    assert!(scored.contains("copies near (resemblance=0.8)"), "{scored}");
    for line in sandbox.succeed(&[&score[..], &["--json"]].concat()).lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["run"].as_str().unwrap().len(), 16, "{line}");
        // Servers that share one chunk may share only a notice; those that share many are mirrors.
        if line["analysis"] == "overlap-servers" {
            let one = line["parameters"]["threshold"] == 1;
            let measure = if one { "recall" } else { "precision" };
            assert!(
                line[measure].as_f64().is_none_or(|share| share > 0.9),
                "{line}"
            );
        }
    }
    // Options without effect are refused, and corrupted findings are not scored.
    let (as_copies, none) = (["--as", "copies"], ["--resemblance", "0.5"]);
    assert!(
        sandbox
            .run(&[&score[..], &as_copies].concat())
            .contains("no effect")
    );
    let quilts = [
        "score",
        "s.cento/findings/quilts",
        "--truth",
        "s/truth.jsonl",
    ];
    assert!(
        sandbox
            .run(&[&quilts[..], &none].concat())
            .contains("no effect")
    );
    let runs = fs::read_dir(sandbox.path("s.cento/findings/copies")).unwrap();
    for run in runs {
        let table = run.unwrap().path().join("pairs.parquet");
        let mut bytes = fs::read(&table).unwrap();
        bytes[100] ^= 1;
        fs::write(&table, bytes).unwrap();
    }
    assert!(
        sandbox.run(&score).contains("pairs.parquet"),
        "corruption is reported"
    );
}
