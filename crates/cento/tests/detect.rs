//! `cento discover`, `detect` and `labels`: on a few pages, and on a synthetic crawl scored against
//! its truth.

mod support;

use std::collections::BTreeMap;

use insta::assert_snapshot;
use serde_json::{Value, json};
use support::Sandbox;

const FOX: &str = "The quick brown fox jumps over the lazy dog while the five boxing wizards jump quickly, and nobody has ever seen them do it.";
const SECOND: &str = "A second paragraph of the original, which is long enough to be labelled as well, with words that nobody else would use.";
const CHINESE: &str = "这是一个很长的中文段落，用来测试中文文本的标签发现和检测功能是否正常工作，希望它能够正确地处理没有空格的文字，并且不会出错。";

/// Two originals, one of them in Chinese, and a corpus with a site that copies both.
fn copied_originals() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .write(
            "mine/one.html",
            format!("<p>Home</p><p>{FOX}</p><p>{SECOND}</p>"),
        )
        .write("mine/two.html", format!("<p>{CHINESE}</p><p>{SECOND}</p>"));
    let edited = FOX.replace("lazy", "tired");
    let mut pages = vec![
        (
            "http://thief.example/a/1".to_owned(),
            vec![
                "Home",
                FOX,
                SECOND,
                "Some words of the thief's own, to fill the page.",
            ],
        ),
        (
            "http://thief.example/a/2".to_owned(),
            vec!["Home", CHINESE, SECOND],
        ),
        (
            "http://thief.example/b/3".to_owned(),
            vec!["Home", "Nothing here was taken from anybody else at all."],
        ),
        ("http://mine.example/1".to_owned(), vec![FOX, SECOND]),
        (
            "http://editor.example/".to_owned(),
            vec![
                "An honest page with a quotation that is not quite right.",
                &edited,
            ],
        ),
    ];
    for at in 0..6 {
        pages.push((
            format!("http://honest{at}.example/x"),
            vec!["Read more", "Honest words on an honest page."],
        ));
    }
    let lines: String = pages
        .iter()
        .map(|(url, chunks)| format!("{}\n", json!({ "url": url, "text": chunks.join("\n\n") })))
        .collect();
    sandbox.write("crawl.jsonl", lines);
    sandbox.succeed(&["index", "crawl.jsonl", "-o", "c.cento"]);
    sandbox
}

#[test]
fn labels_of_originals_find_the_copying_site() {
    let sandbox = copied_originals();
    assert_snapshot!(sandbox.run(&["discover", "c.cento", "--from", "mine", "-o", "mine.labels"]));
    assert_snapshot!(sandbox.run(&["labels", "info", "mine.labels", "--verify"]));
    assert_snapshot!(sandbox.run(&[
        "detect",
        "c.cento",
        "--labels",
        "mine.labels",
        "--own",
        "https://Mine.example/",
        "--fuzzy",
        "--figures",
        "figures"
    ]));
    for name in ["badness", "badness-cumulative", "contained"] {
        for ending in ["svg", "csv"] {
            let path = sandbox.path(&format!("figures/{name}.{ending}"));
            assert!(
                path.metadata().is_ok_and(|file| file.len() > 10),
                "{name}.{ending}"
            );
        }
    }
    // Both steps in one command.
    let passages = sandbox.succeed(&[
        "detect",
        "c.cento",
        "--against",
        "mine",
        "--own",
        "mine.example",
        "--json",
    ]);
    let passages: Vec<Value> = passages
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_default())
        .collect();
    assert_eq!(passages.len(), 2, "{passages:?}");
    for passage in &passages {
        assert_eq!(passage["site"], json!("thief.example"));
        assert_eq!(passage["earlier"], json!("unknown"));
        assert_eq!(passage["links"], json!("no-address"));
    }
    let first = &passages[0];
    assert_eq!(first["page"], json!("http://thief.example/a/1"));
    let words = |name: &str| first[name].as_str().unwrap_or_default().to_owned();
    assert!(words("text").contains(FOX) && words("original_text").contains(FOX));
    // No temporary folder remains.
    let mut left = std::fs::read_dir(std::env::temp_dir())
        .into_iter()
        .flatten()
        .flatten();
    let mark = format!("cento-originals-{}", std::process::id());
    assert!(!left.any(|entry| entry.file_name().to_string_lossy().starts_with(&mark)));
}

#[test]
fn benchmark_items_are_found_within_longer_paragraphs() {
    let sandbox = copied_originals();
    let item = |id: &str, text: &str| format!("{}\n", json!({ "url": id, "question": text }));
    let items = item(
        "q1",
        "jumps over the lazy dog while the five boxing wizards jump quickly",
    ) + &item(
        "q2",
        "A question that nobody has ever asked anywhere, and that has no answer at all",
    ) + &item("q3", "Too short");
    sandbox.write("items.jsonl", items);
    assert_snapshot!(sandbox.run(&[
        "detect",
        "c.cento",
        "--against",
        "items.jsonl",
        "--field",
        "text=question",
        "--grams",
        "5"
    ]));
}

#[test]
fn frequent_chunks_become_labels_and_idioms_are_proposed_as_stops() {
    let sandbox = copied_originals();
    assert_snapshot!(sandbox.run(&[
        "discover",
        "c.cento",
        "--more-than",
        "2",
        "--figures",
        "figures",
        "-o",
        "blind.labels"
    ]));
    assert_snapshot!(sandbox.run(&["labels", "review", "blind.labels"]));
    let figure =
        std::fs::read_to_string(sandbox.path("figures/frequencies.csv")).unwrap_or_default();
    assert_snapshot!(figure);
    // Without the stop list, boilerplate becomes a label; an edited list stops it again.
    assert_snapshot!(sandbox.run(&[
        "discover",
        "c.cento",
        "--more-than",
        "2",
        "--no-stop",
        "-o",
        "all.labels"
    ]));
    assert_snapshot!(sandbox.run(&["labels", "review", "all.labels", "--list", "proposed.txt"]));
    assert_snapshot!(std::fs::read_to_string(sandbox.path("proposed.txt")).unwrap_or_default());
    assert_snapshot!(sandbox.run(&["labels", "review", "all.labels", "--apply", "proposed.txt"]));
    assert_snapshot!(sandbox.run(&[
        "labels",
        "subtract",
        "all.labels",
        "blind.labels",
        "-o",
        "less.labels"
    ]));
    assert_snapshot!(sandbox.run(&[
        "labels",
        "merge",
        "less.labels",
        "blind.labels",
        "-o",
        "again.labels"
    ]));
    assert_snapshot!(sandbox.run(&["labels", "export", "blind.labels"]));
    let stops = sandbox.succeed(&["labels", "stops"]);
    assert!(
        stops.starts_with("version 1\n") && stops.contains("返回顶部"),
        "{stops}"
    );
}

#[test]
fn errors_are_one_line_and_a_hint() {
    let sandbox = copied_originals();
    sandbox.succeed(&["discover", "--from", "mine", "-o", "mine.labels"]);
    sandbox.succeed(&[
        "index",
        "crawl.jsonl",
        "--chunk",
        "lines:2",
        "-o",
        "lines.cento",
    ]);
    std::fs::create_dir(sandbox.path("empty")).unwrap_or_default();
    for arguments in [
        &["discover", "-o", "x.labels"][..],
        &["discover", "--from", "empty", "-o", "x.labels"],
        &["discover", "c.cento", "-o", "nowhere/x.labels"],
        &[
            "discover",
            "c.cento",
            "--most-frequent",
            "0",
            "-o",
            "x.labels",
        ],
        &[
            "discover",
            "c.cento",
            "--stop",
            "crawl.nothing",
            "-o",
            "x.labels",
        ],
        &["detect", "c.cento"],
        &["detect", "c.cento", "--labels", "crawl.jsonl"],
        &["detect", "c.cento", "--labels", "none.labels"],
        &[
            "detect",
            "c.cento",
            "--labels",
            "mine.labels",
            "--threshold",
            "2",
        ],
        &["detect", "lines.cento", "--labels", "mine.labels"],
        &["labels", "review", "mine.labels", "--accept", "zz"],
    ] {
        assert_snapshot!(sandbox.run(arguments));
    }
    // A corrupted label is reported.
    let path = sandbox.path("mine.labels");
    let mut bytes = std::fs::read(&path).unwrap_or_default();
    if let Some(byte) = bytes.get_mut(8200) {
        *byte ^= 1;
    }
    std::fs::write(&path, bytes).unwrap_or_default();
    assert_snapshot!(sandbox.run(&["detect", "c.cento", "--labels", "mine.labels"]));
}

#[test]
fn an_empty_result_is_explained() {
    let sandbox = copied_originals();
    sandbox.write("other/a.txt", "Words that are on no page of the crawl, in a paragraph that is long enough to be looked for in all of its pages.");
    assert_snapshot!(sandbox.run(&["detect", "c.cento", "--against", "other"]));
    assert_snapshot!(sandbox.run(&[
        "discover",
        "c.cento",
        "--unit",
        "files",
        "-o",
        "files.labels"
    ]));
}

/// Returns the lines of `cento score`, by what they count.
fn score(sandbox: &Sandbox, findings: &str) -> BTreeMap<String, Value> {
    let said = sandbox.succeed(&[
        "score",
        findings,
        "--truth",
        "s/truth.jsonl",
        "--corpus",
        "s.cento",
        "--json",
    ]);
    let lines = said
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .map(|line| (line["what"].as_str().unwrap_or_default().to_owned(), line))
        .collect()
}

#[test]
fn all_copied_originals_of_a_synthetic_crawl_are_found() {
    let sandbox = Sandbox::new();
    sandbox.succeed(&[
        "synth",
        "-o",
        "s",
        "--pages",
        "1500",
        "--words",
        "200",
        "--languages",
        "en,de,zh",
    ]);
    sandbox.succeed(&["index", "s/crawl", "-o", "s.cento"]);
    sandbox.succeed(&[
        "discover",
        "s.cento",
        "--from",
        "s/originals",
        "--stop-proposed",
        "-o",
        "o.labels",
    ]);
    sandbox.succeed(&[
        "detect",
        "s.cento",
        "--labels",
        "o.labels",
        "--findings",
        "f",
    ]);
    let scored = score(&sandbox, "f/detect");
    for what in ["pages", "originals", "sites", "neighbourhoods"] {
        let line = &scored[what];
        assert_eq!(
            (&line["precision"], &line["recall"]),
            (&json!(1.0), &json!(1.0)),
            "{line}"
        );
        assert!(line["expected"].as_u64() > Some(0), "{line}");
    }
    // The score counts all copies of the originals.
    let truth = std::fs::read_to_string(sandbox.path("s/truth.jsonl")).unwrap();
    let records: Vec<Value> = truth
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let planted = records
        .iter()
        .filter(|record| record["type"] == "copied" && !record["file"].is_null())
        .count();
    assert_eq!(scored["pages"]["expected"], json!(planted));
    // Pages of crawler traps are rejected, and are in no table.
    let traps: Vec<String> = records
        .iter()
        .filter(|record| record["type"] == json!("trap"))
        .filter_map(|record| record["host"].as_str().map(str::to_owned))
        .collect();
    assert!(!traps.is_empty());
    let labels = sandbox.succeed(&[
        "discover",
        "s.cento",
        "--more-than",
        "1",
        "-o",
        "all.labels",
        "--json",
    ]);
    let files = sandbox.succeed(&[
        "discover",
        "s.cento",
        "--unit",
        "files",
        "--more-than",
        "1",
        "-o",
        "files.labels",
        "--json",
    ]);
    let sites = sandbox.succeed(&["detect", "s.cento", "--labels", "all.labels", "--json"]);
    assert!(files.lines().count() > 5 && sites.lines().count() > 5);
    for host in &traps {
        let found = [&labels, &files, &sites]
            .iter()
            .filter(|said| said.contains(host.as_str()))
            .count();
        assert_eq!(found, 0, "{host}");
    }
}

#[test]
fn help_is_unchanged() {
    let sandbox = Sandbox::new();
    for verb in ["discover", "detect"] {
        assert_snapshot!(sandbox.run(&[verb, "--help"]));
    }
    assert_snapshot!(sandbox.run(&["labels", "--help"]));
    assert_snapshot!(sandbox.run(&["labels", "review", "--help"]));
}

/// Issue 23.
#[test]
fn evidence_has_a_page_for_each_site_with_dates_hashes_and_neutral_words() {
    let sandbox = Sandbox::new();
    let attack = "<script>document.title='run'</script>";
    let rows = [
        // Published later than the original, without a link.
        (
            "http://copy.example/1",
            "2021-05-06",
            format!("{FOX}\n\n{SECOND}"),
        ),
        // Nobody knows when it was published; its host is hostile.
        (
            "http://..%2f%2e.example/x",
            "",
            format!("{attack}\n\n{FOX}"),
        ),
        (
            "http://other.example/",
            "2021-05-06",
            "Nothing of it is here at all.".to_owned(),
        ),
    ];
    let lines: String = rows
        .iter()
        .map(|(url, date, text)| {
            let row = json!({ "url": url, "title": attack, "date": date, "text": text });
            format!("{row}\n")
        })
        .collect();
    sandbox.write("crawl.jsonl", lines);
    let original = json!({
        "url": "http://mine.example/fox", "date": "2020-01-02", "text": format!("{FOX}\n\n{SECOND}"),
    });
    sandbox.write("mine.jsonl", format!("{original}\n"));
    sandbox.succeed(&["index", "crawl.jsonl", "-o", "c.cento"]);
    let detect = [
        "detect",
        "c.cento",
        "--against",
        "mine.jsonl",
        "--evidence",
        "letters",
    ];
    let reproducible = [&detect[..], &["--reproducible"]].concat();
    sandbox.succeed(&reproducible);
    let read = |name: &str| std::fs::read_to_string(sandbox.path(name)).unwrap_or_default();
    let page = read("letters/copy.example.html");
    for expected in [
        "published later than the reference text (page: published 2021-05-06; the reference text: \
         published 2020-01-02)",
        "Only the text of the page was read, so its links are not known.",
        "SHA-1 of the payload",
        "sha1:",
        "Written by cento ",
        "cento detect c.cento --against mine.jsonl --evidence letters --reproducible",
        "&lt;script&gt;",
        "loads nothing from the network",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
    assert!(!page.contains("<script") && !page.contains("Written on "));
    for accusation in ["copied from", "stole", "plagiar", "thief"] {
        assert!(!page.to_lowercase().contains(accusation), "{accusation}");
    }
    let names: Vec<String> = std::fs::read_dir(sandbox.path("letters"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    let index = read("letters/index.html");
    for name in names.iter().filter(|name| *name != "index.html") {
        assert!(
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
        );
        assert!(index.contains(&format!("href=\"{name}\"")), "{name}");
        // The dates of the other page do not decide.
        if name != "copy.example.html" {
            let page = read(&format!("letters/{name}"));
            assert!(
                page.contains("Their dates do not say which is earlier"),
                "{page}"
            );
        }
    }
    // An existing folder is kept unless it is to be replaced, and a foreign one always.
    let refused = sandbox.run(&reproducible);
    assert!(
        refused.contains("letters exists") && refused.contains("--overwrite"),
        "{refused}"
    );
    sandbox.succeed(&[&reproducible[..], &["--overwrite"]].concat());
    assert_eq!(
        read("letters/copy.example.html").replace(" --overwrite", ""),
        page
    );
    sandbox.write("letters/precious.txt", "words");
    let refused = sandbox.run(&[&reproducible[..], &["--overwrite"]].concat());
    assert!(
        refused.contains("is not a folder of --evidence"),
        "{refused}"
    );
    // Nothing is left beside it.
    let beside = std::fs::read_dir(sandbox.path("."))
        .into_iter()
        .flatten()
        .flatten();
    let left = beside.filter(|entry| entry.file_name().to_string_lossy().starts_with("cento-"));
    assert_eq!(left.count(), 0);
    // With the time.
    std::fs::remove_dir_all(sandbox.path("letters")).unwrap_or_default();
    sandbox.succeed(&detect);
    assert!(read("letters/copy.example.html").contains("Written on 2"));
    // The report shows the same pages.
    sandbox.succeed(&["report", "c.cento"]);
    let report = read("c.cento/report.html");
    assert!(report.contains("<h2>Text shared with your originals</h2>"));
    assert!(report.contains("href=\"#copied-passages-passage-1\""));
}
