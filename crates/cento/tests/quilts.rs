//! `cento quilts` on a synthetic crawl, scored against its truth, and its output.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use serde_json::Value;
use support::Sandbox;

/// Returns the JSON Lines that a command prints.
fn lines(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    let output = sandbox.command(arguments).output().unwrap();
    assert!(output.status.success(), "{}", sandbox.transcript(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The corpus of a crawl in one language, with quilts, aggregators, passages and duplicates.
fn crawl() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.succeed(&[
        "synth",
        "-o",
        "s",
        "--pages",
        "3000",
        "--seed",
        "7",
        "--words",
        "300",
        "--languages",
        "en,de,zh",
    ]);
    sandbox.succeed(&["index", "s/crawl", "-o", "s.cento"]);
    sandbox
}

#[test]
fn all_quilts_of_a_synthetic_crawl_are_found_with_exactly_their_sources() {
    let sandbox = crawl();
    sandbox.succeed(&["quilts", "s.cento", "--min-source", "0.02"]);
    let score = [
        "score",
        "s.cento/findings/quilts",
        "--truth",
        "s/truth.jsonl",
        "--json",
    ];
    let scored = lines(&sandbox, &score);
    let line = |what: &str| scored.iter().find(|line| line["what"] == what).unwrap();
    for what in ["pages", "sources", "attributed"] {
        let line = line(what);
        assert_eq!(
            (line["precision"].as_f64(), line["recall"].as_f64()),
            (Some(1.0), Some(1.0)),
            "{line}"
        );
        assert!(line["expected"].as_u64().unwrap() > 20, "{line}");
    }
}

#[test]
fn samples_are_printed_and_sweeps_are_drawn() {
    let sandbox = crawl();
    let command = ["quilts", "s.cento", "--min-source", "0.02"];
    let all = lines(&sandbox, &[&command[..], &["--json"]].concat());
    let sample = ["--sample", "5", "--seed", "3", "--json"];
    let sampled = lines(&sandbox, &[&command[..], &sample].concat());
    assert_eq!(sampled.len(), 5);
    for quilt in &sampled {
        assert!(all.iter().any(|other| other["page_id"] == quilt["page_id"]));
        let patches = quilt["patches"].as_array().unwrap();
        assert_eq!(quilt["sources"], patches.len());
        assert!(
            patches
                .iter()
                .all(|patch| !patch["begins"].as_array().unwrap().is_empty())
        );
    }
    let text = sandbox.run(&[&command[..], &["--sample", "1"]].concat());
    assert!(text.contains("of the grams are patch grams"), "{text}");
    let sweep = [
        "--sweep",
        "c=2..6",
        "--sweep",
        "theta=0.4..0.6",
        "--figures",
        "figures",
    ];
    let text = sandbox.run(&[&command[..], &sweep].concat());
    assert!(text.contains("sweep of"), "{text}");
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("  c "))
        .collect();
    assert_eq!(rows.len(), 5, "{text}");
    // The pivot is what was found.
    let pivot = rows.iter().find(|row| row.contains(" 4 ")).unwrap();
    assert!(pivot.contains(&all.len().to_string()), "{text}");
    for name in ["c.svg", "c.csv", "theta.svg"] {
        assert!(sandbox.path("figures").join(name).exists());
    }
}

#[test]
fn invalid_parameters_are_refused_with_a_hint() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "one two three four five six seven");
    sandbox.succeed(&["index", "a.txt", "-o", "a.cento"]);
    let refused = |arguments: &[&str]| sandbox.run(&[&["quilts", "a.cento"], arguments].concat());
    assert!(refused(&["-m", "1"]).contains("hint:"));
    assert!(refused(&["--theta", "2"]).contains("not above 0 and at most 1"));
    assert!(refused(&["--sweep", "x=1"]).contains("not a parameter of quilts"));
    assert!(refused(&["--foreign", "planet"]).contains("domain, host, ip, none"));
    let empty = refused(&[]);
    assert!(
        empty.contains("0 of 1 page is quilted (k=5, m=50, c=4, theta=0.5)"),
        "{empty}"
    );
    assert!(empty.contains("No gram is on 2 to 50 pages."), "{empty}");
}
