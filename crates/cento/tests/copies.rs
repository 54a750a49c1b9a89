//! `cento copies`.

mod support;

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};
use support::{Archive, Sandbox};

/// A corpus with duplicates, a near-duplicate and a mirror.
fn pages() -> Sandbox {
    let sandbox = Sandbox::new();
    let text = |seed: usize, changed: usize| -> String {
        let words = (0..200).map(|word| {
            if word == changed {
                "changed".to_owned()
            } else {
                format!("w{seed}x{word}")
            }
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let mut lines = String::new();
    let mut page = |url: &str, text: String| {
        lines.push_str(&format!(
            "{}\n",
            json!({ "url": url, "text": text, "extra": [1, 2] })
        ));
    };
    page("http://a.example/one", text(1, 999));
    page("http://a.example/one?again", text(1, 999));
    page("http://a.example/two", text(2, 999));
    page("http://b.example/two", text(2, 100));
    page("http://c.example/三", "我喜欢读书。".repeat(40));
    page("http://a.example/four", text(4, 999));
    for number in 0..6 {
        page(
            &format!("http://mirror.example/a/{number}"),
            text(10 + number, 999),
        );
        page(
            &format!("http://origin.example/{number}"),
            text(10 + number, 999),
        );
    }
    sandbox.write("pages.jsonl", lines);
    sandbox.succeed(&["index", "pages.jsonl", "-o", "p.cento"]);
    sandbox
}

#[test]
fn duplicates_are_reported_with_kind_and_cause() {
    let sandbox = pages();
    assert_snapshot!(sandbox.run(&["copies", "p.cento"]));
    assert_snapshot!(sandbox.run(&["copies", "p.cento", "--emit", "all"]));
    let json = sandbox.succeed(&["copies", "p.cento", "--json"]);
    let rows: Vec<Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 8);
    assert!(
        rows.iter()
            .all(|row| row["resemblance"].as_f64().unwrap() >= 0.8)
    );
    assert_snapshot!(sandbox.run(&[
        "copies",
        "p.cento",
        "--skip-list",
        "skip.tsv",
        "--emit",
        "drop"
    ]));
    assert_snapshot!(fs::read_to_string(sandbox.path("skip.tsv")).unwrap());
}

#[test]
fn inputs_are_filtered() {
    let sandbox = pages();
    assert_snapshot!(sandbox.run(&[
        "copies", "p.cento", "--filter", "--output", "unique", "--emit", "keep"
    ]));
    let before = fs::read_to_string(sandbox.path("pages.jsonl")).unwrap();
    let after = fs::read_to_string(sandbox.path("unique/pages.jsonl")).unwrap();
    assert_eq!(after.lines().count(), before.lines().count() - 8);
    assert!(after.lines().all(|line| before.contains(line)));
    sandbox.succeed(&["index", "unique/pages.jsonl", "-o", "u.cento"]);
    assert_snapshot!(sandbox.run(&["copies", "u.cento"]));
    assert_snapshot!(sandbox.run(&[
        "copies",
        "p.cento",
        "--against",
        "u.cento",
        "--emit",
        "drop"
    ]));
}

#[test]
fn inputs_can_be_compared_without_a_corpus() {
    let sandbox = pages();
    fs::create_dir(sandbox.path("temp")).unwrap();
    let direct = |more: &[&str]| {
        let arguments = ["copies", "pages.jsonl", "--temp", "temp"];
        sandbox.succeed(&[&arguments[..], more].concat())
    };
    assert_snapshot!(direct(&[]));
    // The results are the same as those of a corpus.
    direct(&["--findings", "f", "--filter", "-o", "unique"]);
    sandbox.succeed(&["copies", "p.cento", "--filter", "-o", "also-unique"]);
    assert_eq!(
        fs::read(sandbox.path("unique/pages.jsonl")).unwrap(),
        fs::read(sandbox.path("also-unique/pages.jsonl")).unwrap()
    );
    let emitted = sandbox.succeed(&["copies", "p.cento", "--emit", "all"]);
    assert_eq!(direct(&["--emit", "all"]), emitted);
    assert_eq!(fs::read_dir(sandbox.path("temp")).unwrap().count(), 0);
    assert!(sandbox.path("f/copies").is_dir());
}

#[test]
fn errors_are_one_line_and_a_hint() {
    let sandbox = pages();
    for arguments in [
        &["copies", "nowhere.cento"][..],
        &["copies", "nowhere.jsonl"],
        &["copies", "p.cento", "pages.jsonl"],
        &["copies", "p.cento", "--resemblance", "1.5"],
        &["copies", "p.cento", "--out", "pairs.xls"],
        &["copies", "p.cento", "--keep", "tallest"],
        &["copies", "p.cento", "--filter", "other.jsonl", "-o", "x"],
        &["copies", "p.cento", "--filter", "-o", "."],
    ] {
        assert_snapshot!(sandbox.run(arguments));
    }
}

#[test]
fn all_duplicates_of_a_synthetic_crawl_are_found() {
    let sandbox = Sandbox::new();
    sandbox.succeed(&["synth", "-o", "s", "--pages", "2000", "--words", "300"]);
    sandbox.succeed(&["index", "s/crawl", "-o", "s.cento"]);
    sandbox.succeed(&["copies", "s.cento", "--memory", "64M"]);
    let scores = sandbox.succeed(&[
        "score",
        "s.cento/findings",
        "--truth",
        "s/truth.jsonl",
        "--json",
    ]);
    for line in scores.lines() {
        let score: Value = serde_json::from_str(line).unwrap();
        assert_eq!(score["precision"].as_f64(), Some(1.0), "{line}");
        let least = if score["what"] == "near" { 0.97 } else { 1.0 };
        assert!(score["recall"].as_f64().unwrap() >= least, "{line}");
    }
    assert!(!scores.is_empty());
}

#[test]
fn help_is_unchanged() {
    assert_snapshot!(Sandbox::new().run(&["copies", "--help"]));
}

/// Regression: the fate of a record that shares its compressed member with others was forgotten
/// when the archive had to be divided, so that the first duplicate was kept.
#[test]
fn duplicates_in_one_compressed_member_are_removed() {
    let sandbox = Sandbox::new();
    let mut archive = Archive::default();
    for at in 0..4 {
        let text = "The same words on every page, which are nevertheless more than a few.";
        archive.page(
            &format!("http://site{at}.example/"),
            &format!("<p>{text}</p><!--{at}-->"),
        );
    }
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &archive.bytes).unwrap();
    sandbox.write("in/one.warc.gz", encoder.finish().unwrap());
    sandbox.succeed(&["index", "in", "-o", "x.cento"]);
    sandbox.succeed(&["copies", "x.cento", "--filter", "-o", "out"]);
    sandbox.succeed(&["index", "out", "-o", "y.cento"]);
    let rows = sandbox.succeed(&["copies", "y.cento", "--json"]);
    assert_eq!(rows, "", "one page is left");
}
