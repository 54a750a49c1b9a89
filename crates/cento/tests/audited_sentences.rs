//! Sentences and rules that auditors found false of some corpora: each test is such a corpus.

mod support;

use serde_json::{Value, json};
use support::{Sandbox, lines, said, words};

#[test]
fn a_story_in_fifteen_newspapers_is_not_denied_to_be_reuse() {
    let sandbox = Sandbox::new();
    let pages: Vec<Value> = (0..15)
        .map(|at| {
            let own = words(&format!("own{at}x"), 60);
            let text = format!("{} {own}", words("story", 150));
            json!({ "url": format!("http://paper{at}.example/"), "text": text })
        })
        .collect();
    sandbox.write("pages.jsonl", lines(&pages));
    let scan = said(&sandbox, &["scan", "pages.jsonl", "-o", "pages.cento"]);
    assert!(
        scan.contains("15 are in a pair in which both pages share 50.0 % or more (C1, C2, C4)"),
        "{scan}"
    );
    let html = std::fs::read_to_string(sandbox.path("pages.cento").join("report.html")).unwrap();
    assert!(!html.contains("real reuse"), "{html}");
    for sentence in [
        "105 pairs by style: 0 reuse, 105 template.",
        "Text on 10 or more pages counts as template or phrase, even where it was copied.",
    ] {
        assert!(html.contains(sentence), "{html}");
    }
}

#[test]
fn two_captures_of_one_url_are_aliases() {
    let sandbox = Sandbox::new();
    let page = |url: &str, text: String| json!({ "url": url, "text": text });
    let shared = words("shared", 100);
    let pages = [
        page(
            "http://a.example/x",
            format!("{shared} {}", words("old", 20)),
        ),
        page(
            "http://a.example/x",
            format!("{shared} {}", words("new", 20)),
        ),
        page("http://b.example/", words("other", 100)),
    ];
    sandbox.write("pages.jsonl", lines(&pages));
    let rows = sandbox.succeed(&["reuse", "pages.jsonl", "--json"]);
    let row: Value = serde_json::from_str(rows.trim()).unwrap();
    assert_eq!(row["style"], "alias", "{row}");
}

#[test]
fn records_without_addresses_are_no_recaptures() {
    let sandbox = Sandbox::new();
    for name in ["a.jsonl", "b.jsonl"] {
        let pages = [json!({ "id": 0, "text": words("same", 40) })];
        sandbox.write(name, lines(&pages));
    }
    let said = said(&sandbox, &["copies", "a.jsonl", "b.jsonl"]);
    assert!(
        said.contains("recaptures 0 ") && said.contains("replicas 1 "),
        "{said}"
    );
}

#[test]
fn a_prompt_that_all_items_have_is_found_on_no_page() {
    let sandbox = Sandbox::new();
    let prompt = words("prompt", 40);
    let items = |count: usize| -> Vec<Value> {
        let item = |at: usize| format!("{prompt} {}", words(&format!("item{at}x"), 12));
        (0..count)
            .map(|at| json!({ "id": at, "text": item(at) }))
            .collect()
    };
    let page = json!({ "url": "http://a.example/", "text": format!("{prompt} and more") });
    sandbox.write("pages.jsonl", lines(&[page]));
    for count in [9, 64, 65, 100] {
        sandbox.write("items.jsonl", lines(&items(count)));
        let said = said(
            &sandbox,
            &["contamination", "pages.jsonl", "--against", "items.jsonl"],
        );
        let expected =
            format!("0 of {count} items: at least half of their runs of 8 words on one page");
        assert!(said.contains(&expected), "{said}");
    }
    // Questions about one text do not hide it.
    sandbox.write("items.jsonl", lines(&items(8)));
    let said = said(
        &sandbox,
        &["contamination", "pages.jsonl", "--against", "items.jsonl"],
    );
    assert!(said.contains("8 of 8 items"), "{said}");
}

#[test]
fn an_item_with_few_words_of_its_own_is_not_searched() {
    let sandbox = Sandbox::new();
    let prompt = words("prompt", 100);
    let items: Vec<Value> = (0..70)
        .map(|at| {
            let own = words(&format!("item{at}x"), 3);
            json!({ "id": at, "text": format!("{prompt} {own}") })
        })
        .collect();
    let end = format!("{} item0x0 item0x1 item0x2", words("prompt", 100));
    let end: Vec<&str> = end.split(' ').rev().take(10).collect();
    let end: Vec<&str> = end.into_iter().rev().collect();
    sandbox.write("items.jsonl", lines(&items));
    let page = json!({ "url": "http://a.example/", "text": end.join(" ") });
    sandbox.write("pages.jsonl", lines(&[page]));
    let said = said(
        &sandbox,
        &["contamination", "pages.jsonl", "--against", "items.jsonl"],
    );
    assert!(
        said.starts_with("No item was compared by runs of 8 words items 70 found"),
        "{said}"
    );
    assert!(
        said.contains(
            "too common 70 ignored: apart from runs in more than 8 items, they have fewer than 8 runs"
        ),
        "{said}"
    );
}

#[test]
fn identical_pages_do_share_chunks() {
    let sandbox = Sandbox::new();
    let page = |url: &str| json!({ "url": url, "text": words("same", 60) });
    let pages = [page("http://a.example/"), page("http://b.example/")];
    sandbox.write("pages.jsonl", lines(&pages));
    let overlap = said(&sandbox, &["overlap", "pages.jsonl"]);
    assert!(
        overlap.contains("All pages have the same text."),
        "{overlap}"
    );
    let scan = said(
        &sandbox,
        &[
            "scan",
            "pages.jsonl",
            "-o",
            "pages.cento",
            "--only",
            "overlap",
        ],
    );
    assert!(
        scan.contains("No two pages with different texts share a chunk"),
        "{scan}"
    );
}

#[test]
fn a_scan_says_that_fingerprints_were_ignored_before_it_says_that_there_are_none() {
    let sandbox = Sandbox::new();
    let pages: Vec<Value> = (0..8)
        .map(|at| {
            let own = words(&format!("own{at}x"), 60);
            let text = format!("{} {own}", words("shared", 60));
            json!({ "url": format!("http://site{at}.example/"), "text": text })
        })
        .collect();
    sandbox.write("pages.jsonl", lines(&pages));
    sandbox.succeed(&["index", "pages.jsonl", "-o", "pages.cento"]);
    let reuse = said(&sandbox, &["reuse", "pages.cento", "--max-pages", "5"]);
    assert!(
        reuse.contains("No two pages share enough text, apart from ignored fingerprints."),
        "{reuse}"
    );
    sandbox.succeed(&["report", "pages.cento"]);
    let html = std::fs::read_to_string(sandbox.path("pages.cento").join("report.html")).unwrap();
    assert!(
        html.contains(
            "in another page, apart from those on more than 5 distinct pages, which are ignored."
        ),
        "{html}"
    );
}

#[test]
fn a_moment_at_midnight_in_utc_is_not_a_whole_day() {
    let sandbox = Sandbox::new();
    let page =
        |url: &str, date: &str| json!({ "url": url, "text": words("same", 60), "date": date });
    // Both state the 30th of April, so neither is earlier.
    let pages = [
        page("http://a.example/", "2020-04-30T20:00:00-04:00"),
        page("http://b.example/", "2020-04-30"),
    ];
    sandbox.write("pages.jsonl", lines(&pages));
    let row = sandbox.succeed(&["copies", "pages.jsonl", "--json"]);
    let row: Value = serde_json::from_str(row.trim()).unwrap();
    assert_ne!(row["earlier"], "page", "{row}");
    assert_ne!(row["earlier"], "of", "{row}");
}

#[test]
fn the_report_shows_the_findings_that_were_asked_for_last() {
    let sandbox = Sandbox::new();
    let page = |url: &str, text: String| json!({ "url": url, "text": text });
    let pages = [
        page(
            "http://a.example/",
            format!("{} {}", words("same", 90), words("a", 10)),
        ),
        page(
            "http://b.example/",
            format!("{} {}", words("same", 90), words("b", 10)),
        ),
    ];
    sandbox.write("pages.jsonl", lines(&pages));
    sandbox.succeed(&["index", "pages.jsonl", "-o", "pages.cento"]);
    for resemblance in ["0.5", "1", "0.5"] {
        sandbox.succeed(&["copies", "pages.cento", "--resemblance", resemblance]);
    }
    sandbox.succeed(&["report", "pages.cento"]);
    let html = std::fs::read_to_string(sandbox.path("pages.cento").join("report.html")).unwrap();
    assert!(html.contains("1 near-duplicate"), "{html}");
}

#[test]
fn every_cause_of_what_was_not_read_is_counted() {
    let sandbox = Sandbox::new();
    let content = format!(
        "{}\n{{\n{{\n{{\"id\": 1}}\n",
        json!({ "id": 0, "text": words("word", 20) })
    );
    sandbox.write("pages.jsonl", content);
    let output = sandbox.run(&["copies", "pages.jsonl"]);
    assert!(
        output.contains("3 damaged records (2 bad-json, 1 missing-field, e.g. "),
        "{output}"
    );
}
