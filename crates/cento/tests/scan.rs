//! `cento scan` and `cento report`.

mod support;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use insta::assert_snapshot;
use support::{Random, Sandbox};

/// A small crawl with results for every analysis.
fn crawl() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.succeed(&[
        "synth",
        "-o",
        "s",
        "--pages",
        "600",
        "--words",
        "150",
        "--languages",
        "en,zh",
    ]);
    sandbox
}

#[expect(clippy::unwrap_used, reason = "a test without a report fails")]
fn report(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(sandbox.path(name)).unwrap()
}

/// Returns a report without the commands that were run, which differ between ways to make the same
/// report.
fn results(sandbox: &Sandbox, name: &str) -> String {
    let page = report(sandbox, name);
    let lines = page.lines().map(|line| match line.split_once("Run by: ") {
        Some((before, after)) => {
            let rest = after.split_once("<br />").map_or("", |(_, rest)| rest);
            format!("{before}{rest}\n")
        }
        None => format!("{line}\n"),
    });
    let is_result = |line: &String| !line.starts_with("<p class=\"muted\">Command: ");
    lines.filter(is_result).collect()
}

/// Returns the records of all runs, which have the seconds that each stage took.
fn records(sandbox: &Sandbox) -> std::io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut records = Vec::new();
    for analysis in fs::read_dir(sandbox.path("s.cento/findings"))? {
        for run in fs::read_dir(analysis?.path())? {
            let record = run?.path().join("run.json");
            let content = fs::read(&record)?;
            records.push((record, content));
        }
    }
    records.sort();
    Ok(records)
}

#[test]
fn labels_of_the_user_are_detected() {
    let sandbox = crawl();
    sandbox.succeed(&[
        "discover",
        "--from",
        "s/originals",
        "--stop-proposed",
        "-o",
        "mine.labels",
    ]);
    let scan = ["scan", "s/crawl", "-o", "s.cento", "--only", "detect"];
    let said = sandbox.succeed(&[&scan[..], &["--labels", "mine.labels"]].concat());
    assert!(
        said.contains("sites with chunks of the originals"),
        "{said}"
    );
    // Without them, labels are discovered in the corpus, and have no originals.
    let said = sandbox.succeed(&scan);
    assert!(
        said.contains("Pages and sites with repeated chunks")
            && !said.contains("sites with chunks of the originals")
    );
    // Invalid labels are reported before a corpus is made.
    sandbox.write("broken.labels", "no labels");
    let scan = [
        "scan",
        "s/crawl",
        "-o",
        "t.cento",
        "--labels",
        "broken.labels",
    ];
    assert_snapshot!(sandbox.run(&scan));
    assert!(!sandbox.path("t.cento").exists());
}

#[test]
fn a_scan_prints_a_summary_and_writes_a_report() {
    let sandbox = crawl();
    let scan = [
        "scan",
        "s/crawl",
        "-o",
        "s.cento",
        "--figures",
        "figures",
        "--reproducible",
    ];
    assert_snapshot!(sandbox.run(&scan));
    let page = report(&sandbox, "s.cento/report.html");
    for heading in [
        "Duplicates and near-duplicates",
        "Replication and crawl savings",
        "Overlapping servers",
        "Quilts",
        "Popular phrases and originality",
        "Frequent chunks",
        "Pages and sites with repeated chunks",
    ] {
        assert!(page.contains(&format!("<h2>{heading}</h2>")), "{heading}");
    }
    // The words of a quilt are marked by source.
    assert!(page.contains("<mark class=\"s1\">") && page.contains("<blockquote"));
    let figures = fs::read_dir(sandbox.path("figures")).map(Iterator::count);
    // Each figure is drawn for broad and for narrow screens, and written as SVG and CSV.
    assert_eq!(figures.unwrap_or(0), page.matches("<svg ").count());

    // The same command uses the cached results, and so does `cento report`.
    let written = records(&sandbox).unwrap();
    assert!(written.len() >= 7);
    let again = sandbox.succeed(&scan);
    assert!(again.contains("Next steps"));
    assert_eq!(records(&sandbox).unwrap(), written);
    assert_eq!(report(&sandbox, "s.cento/report.html"), page);
    let page = results(&sandbox, "s.cento/report.html");
    sandbox.succeed(&["report", "s.cento", "-o", "alone.html", "--reproducible"]);
    assert_eq!(results(&sandbox, "alone.html"), page);
    let of_corpus = ["scan", "s.cento", "--report", "of-corpus.html"];
    sandbox.succeed(&[&of_corpus[..], &["--reproducible"]].concat());
    assert_eq!(results(&sandbox, "of-corpus.html"), page);
}

/// A work, and a longer one that contains nearly all of it, both as long as books; dated in years
/// before 1970.
fn works(sandbox: &Sandbox) {
    let mut random = Random(23);
    let paragraphs: Vec<String> = (0..3000).map(|_| random.paragraph(70)).collect();
    let others: Vec<String> = (0..1500).map(|_| random.paragraph(70)).collect();
    let (shared, own) = paragraphs.split_at(2775);
    let short = [shared, own].concat().join("\n\n");
    let long = [&others[..700], shared, &others[700..]]
        .concat()
        .join("\n\n");
    assert!(short.len() > 1_000_000);
    let mut lines = String::new();
    let works = [("short", &short, "0850"), ("long", &long, "1811-05-03")];
    for (name, text, date) in works {
        let row = serde_json::json!({ "url": name, "title": name, "text": text, "date": date });
        lines.push_str(&format!("{row}\n"));
    }
    for other in 0..9 {
        let text: Vec<String> = (0..20).map(|_| random.paragraph(70)).collect();
        let row = serde_json::json!({ "url": format!("other{other}"), "text": text.join("\n\n") });
        lines.push_str(&format!("{row}\n"));
    }
    sandbox.write("works.jsonl", lines);
}

/// Issue 23.
#[test]
fn a_work_that_contains_most_of_another_opens_the_report_with_the_passage_and_the_dates() {
    let sandbox = Sandbox::new();
    works(&sandbox);
    sandbox.succeed(&["scan", "works.jsonl", "-o", "w.cento"]);
    let page = report(&sandbox, "w.cento/report.html");
    let (_, opening) = page
        .split_once("<ol class=\"findings\">")
        .unwrap_or_default();
    let (opening, _) = opening.split_once("</ol>").unwrap_or_default();
    let finding = opening
        .lines()
        .find(|line| line.contains("href=\"#reuse-passage-1\""));
    let finding = finding.unwrap_or_default();
    assert!(finding.contains("2 pages have at least 50.0"), "{opening}");
    assert!(
        finding.contains("of those of short are in long"),
        "{opening}"
    );
    assert!(
        finding.contains("published 0850 or 0850-01-01;")
            && finding.contains("published 1811-05-03"),
        "{opening}"
    );
    // The evidence is on the page.
    assert!(page.contains("<article id=\"reuse-passage-1\">"));
    assert!(page.contains("<article id=\"passages-passage-1\">"));
    assert!(opening.matches("<li ").count() <= 5);
}

/// Issue 23.
#[test]
fn a_report_says_when_and_from_what_it_was_made_and_shows_the_commands_that_were_run() {
    let sandbox = Sandbox::new();
    for page in 0..3 {
        sandbox.write(
            &format!("my notes/{page}.txt"),
            "one two three four five six",
        );
    }
    sandbox.succeed(&["scan", "my notes", "-o", "n.cento", "--only", "copies"]);
    let page = report(&sandbox, "n.cento/report.html");
    assert!(page.contains("Made on 2"), "{page}");
    assert!(page.contains("From 3 pages of 3 inputs: "));
    let command = "cento scan &#39;my notes&#39; -o n.cento --only copies";
    assert!(page.contains(&format!("Command: <code>{command}</code>")));
    sandbox.succeed(&["report", "n.cento", "--reproducible"]);
    let page = report(&sandbox, "n.cento/report.html");
    assert!(!page.contains("Made on ") && page.contains("Made with cento "));
    assert!(page.contains(&format!("Run by: <code>{command}</code>")));
}

/// Issue 23.
#[test]
fn a_report_keeps_the_results_of_earlier_analyses_until_the_corpus_changes() {
    let sandbox = Sandbox::new();
    for name in ["a/1.txt", "a/2.txt", "b/3.txt"] {
        sandbox.write(name, "one two three four five six");
    }
    sandbox.succeed(&["scan", "a", "-o", "a.cento", "--only", "copies"]);
    sandbox.succeed(&["scan", "a.cento", "--only", "reuse"]);
    let page = report(&sandbox, "a.cento/report.html");
    let heading = "<h2>Duplicates and near-duplicates</h2>";
    assert!(page.contains(heading) && page.contains("<h2>Local text reuse</h2>"));
    sandbox.succeed(&["index", "b", "-o", "a.cento", "--add"]);
    sandbox.succeed(&["scan", "a.cento", "--only", "reuse"]);
    let page = report(&sandbox, "a.cento/report.html");
    assert!(!page.contains(heading) && page.contains("<h2>Local text reuse</h2>"));
    let dropped = "Duplicates and near-duplicates: the earlier results are not shown";
    assert!(page.contains(dropped), "{page}");
}

#[test]
fn a_report_without_findings_names_what_was_searched_for() {
    let sandbox = Sandbox::new();
    let mut random = Random(5);
    for page in 0..6 {
        sandbox.write(&format!("notes/{page}.txt"), random.paragraph(80));
    }
    sandbox.succeed(&["scan", "notes"]);
    let page = report(&sandbox, "notes.cento/report.html");
    assert!(
        page.contains("There are no duplicates or near-duplicates, "),
        "{page}"
    );
    assert!(page.contains("no quilted pages"), "{page}");
    assert!(!page.contains("<ol class=\"findings\">"));
}

#[test]
fn the_report_agrees_with_the_tables() {
    let sandbox = crawl();
    sandbox.succeed(&["scan", "s/crawl", "-o", "s.cento"]);
    let page = report(&sandbox, "s.cento/report.html");
    let lines = |arguments: &[&str]| sandbox.succeed(arguments).lines().count();
    // The table contains revisits too, which are not counted as pages.
    let copies = sandbox.succeed(&["copies", "s.cento", "--json"]);
    let copies = copies.matches("\"rejected\":null").count();
    assert!(
        page.contains(&format!("<p dir=\"auto\">{copies} of ")),
        "{copies} copies"
    );
    let quilts = lines(&["quilts", "s.cento", "--collapse", "--json"]);
    assert!(page.contains(&format!("<li><b>{quilts}</b><span>quilts</span></li>")));
    let servers = lines(&["overlap", "s.cento", "--servers", "--json"]);
    assert!(page.contains(&format!("{servers} pairs of hosts share")));
}

#[test]
fn unsuitable_analyses_are_skipped_with_a_reason() {
    let sandbox = Sandbox::new();
    let mut random = Random(3);
    for page in 0..3 {
        sandbox.write(&format!("notes/{page}.txt"), random.paragraph(80));
    }
    assert_snapshot!(sandbox.run(&["scan", "notes"]));
    assert_snapshot!(sandbox.run(&["scan", "notes", "--no-text", "-o", "bare.cento"]));
    assert_snapshot!(sandbox.run(&["scan", "notes.cento", "--only", "overlap"]));
}

#[test]
fn errors_are_one_line_and_a_hint() {
    let sandbox = Sandbox::new();
    sandbox.write("a/1.txt", "one").write("b/1.txt", "two");
    sandbox.write("a/2.txt", "one");
    sandbox.write("empty/.keep", "");
    sandbox.succeed(&["index", "a", "-o", "a.cento"]);
    assert_snapshot!(sandbox.run(&["scan"]));
    assert_snapshot!(sandbox.run(&["scan", "a.cento", "--only", "quilt"]));
    assert_snapshot!(sandbox.run(&["scan", "empty"]));
    assert_snapshot!(sandbox.run(&["scan", "missing.cento"]));
    assert_snapshot!(sandbox.run(&["scan", "b", "-o", "a.cento"]));
    assert_snapshot!(sandbox.run(&["scan", "a.cento", "--base-url", "http://a.example/"]));
    assert_snapshot!(sandbox.run(&["scan", "a.cento", "b"]));
    assert_snapshot!(sandbox.run(&["report", "a.cento"]));
    assert_snapshot!(sandbox.run(&["report", "a"]));
    sandbox.succeed(&["scan", "a.cento"]);
    assert_snapshot!(sandbox.run(&["report", "a.cento", "-o", "nowhere/x.html"]));
}

#[test]
fn help_is_unchanged() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["report", "--help"]));
    let help = sandbox.succeed(&["scan", "--help"]);
    assert!(help.contains("--only <NAMES>") && help.contains("--base-url"));
    // Each analysis is listed with the question that it answers.
    assert!(help.contains("- quilts-sweep:") && help.contains("- phrases:"));
}

#[test]
fn a_scan_interrupted_at_any_moment_resumes_to_the_same_report() {
    let sandbox = crawl();
    let scan = ["scan", "s/crawl", "-o", "s.cento", "--reproducible"];
    let begun = Instant::now();
    sandbox.succeed(&scan);
    let whole = begun.elapsed();
    let page = report(&sandbox, "s.cento/report.html");
    let rounds = match std::env::var_os("CENTO_LONG_TESTS") {
        Some(_) => 40,
        None => 6,
    };
    fs::remove_dir_all(sandbox.path("s.cento")).unwrap();
    for round in 1..=rounds {
        let mut child = sandbox
            .command(&scan)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole * round / (rounds + 1));
        // Ctrl-C and kill -9 in turn.
        let signal = if round % 2 == 0 { "-INT" } else { "-KILL" };
        let id = child.id().to_string();
        let _ = std::process::Command::new("kill")
            .args([signal, &id])
            .status();
        let status = child.wait().unwrap();
        assert!(
            status.code().is_none_or(|code| code == 130 || code == 0),
            "round {round}: {status}"
        );
        if round % 3 == 0 {
            sandbox.succeed(&scan);
            assert!(
                report(&sandbox, "s.cento/report.html") == page,
                "round {round}"
            );
            fs::remove_dir_all(sandbox.path("s.cento")).unwrap();
        }
    }
}

#[test]
fn findings_of_a_corpus_are_not_used_after_it_has_grown() {
    let sandbox = Sandbox::new();
    for name in ["a/1.txt", "a/2.txt", "b/3.txt"] {
        sandbox.write(name, "one two three four five six");
    }
    sandbox.succeed(&["scan", "a", "-o", "a.cento"]);
    sandbox.succeed(&["report", "a.cento"]);
    sandbox.succeed(&["index", "b", "-o", "a.cento", "--add"]);
    let refused = sandbox.run(&["report", "a.cento"]);
    assert!(refused.contains("has no findings"), "{refused}");
    let scanned = sandbox.succeed(&["scan", "a.cento"]);
    assert!(
        scanned.contains("2 of 3 pages with text (66.7 %) are duplicates"),
        "{scanned}"
    );
    // The report shows the newest findings of each analysis.
    sandbox.succeed(&["copies", "a.cento", "--keep", "longest"]);
    sandbox.succeed(&["report", "a.cento"]);
    let page = report(&sandbox, "a.cento/report.html");
    assert!(page.contains("cento copies a.cento --keep longest"));
}
