//! What was not compared or not read is said, and of several captures of a page the earliest
//! counts: each test is a corpus on which a sentence or count was false.

mod support;

use serde_json::{Value, json};
use support::Sandbox;

/// Returns `count` words that no other `seed` has.
fn words(seed: usize, count: usize) -> String {
    let words: Vec<String> = (0..count).map(|at| format!("w{seed}x{at}")).collect();
    words.join(" ")
}

fn lines(pages: &[Value]) -> String {
    pages.iter().map(|page| format!("{page}\n")).collect()
}

#[test]
fn text_on_too_many_pages_is_not_said_to_be_on_no_two() {
    let sandbox = Sandbox::new();
    let shared = words(0, 60);
    let page = |at: usize| {
        let text = format!("{shared}\n\n{}", words(at + 1, 80));
        json!({ "url": format!("http://s{at}.example/"), "text": text })
    };
    let pages: Vec<Value> = (0..110).map(page).collect();
    sandbox.write("pages.jsonl", lines(&pages));
    let said = sandbox.succeed(&["scan", "pages.jsonl", "-o", "c.cento", "--only", "passages"]);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!said.contains("No two pages share a passage"), "{said}");
    assert!(
        said.contains("What these pairs share (109 passages) counts in the groups"),
        "{said}"
    );
    let report = std::fs::read_to_string(sandbox.path("c.cento").join("report.html")).unwrap();
    assert!(!report.contains("that two pages share, and"), "{report}");
    assert!(!report.contains("There are no passages"), "{report}");
}

#[test]
fn the_earliest_of_several_captures_is_compared() {
    let sandbox = Sandbox::new();
    let essay = words(0, 60);
    let page = |url: &str, date: &str, other: usize| json!({ "url": url, "date": date, "text": format!("{essay}\n\n{}", words(other, 40)) });
    let author = "http://author.example/essay";
    let pages = [
        page(author, "2019-05-05", 1),
        page("http://copy.example/", "2020-05-05", 2),
        page(author, "2021-05-05", 3),
    ];
    sandbox.write("pages.jsonl", lines(&pages));
    sandbox.write(
        "pairs.csv",
        format!("page,of\nhttp://copy.example/,{author}\n"),
    );
    for chosen in [["--pairs", "pairs.csv"], ["--of", author]] {
        let said = sandbox.succeed(&["passages", "pages.jsonl", chosen[0], chosen[1]]);
        assert!(
            said.contains("published 2019-05-05; the first: published 2020-05-05"),
            "{said}"
        );
        assert!(said.contains("captured several times"), "{said}");
    }
}

#[test]
fn near_duplicates_that_were_not_searched_for_are_not_said_to_be_absent() {
    let sandbox = Sandbox::new();
    let shared = words(0, 300);
    let page = |at: usize| json!({ "url": format!("http://s{at}.example/"), "text": format!("{shared} {}", words(at + 1, 9)) });
    sandbox.write("pages.jsonl", lines(&[page(0), page(1)]));
    sandbox.succeed(&["index", "pages.jsonl", "-o", "c.cento"]);
    sandbox.succeed(&["copies", "c.cento", "--resemblance", "1"]);
    sandbox.succeed(&["report", "c.cento"]);
    let report = std::fs::read_to_string(sandbox.path("c.cento").join("report.html")).unwrap();
    assert!(!report.contains("no duplicates or near-duplicates"));
    assert!(report.contains("Near-duplicates were not searched for"));
}

#[test]
fn a_skip_list_has_each_url_once() {
    let sandbox = Sandbox::new();
    let page = |scheme: &str| json!({ "url": format!("{scheme}://x.example/"), "text": words(0, 50), "date": "2020-01-01" });
    let pages = [page("http"), page("https"), page("https"), page("https")];
    sandbox.write("pages.jsonl", lines(&pages));
    sandbox.succeed(&["copies", "pages.jsonl", "--skip-list", "skip.tsv"]);
    let list = std::fs::read_to_string(sandbox.path("skip.tsv")).unwrap();
    let urls = list.lines().filter(|line| line.starts_with("url\t"));
    assert_eq!(urls.count(), 1, "{list}");
}

#[test]
fn a_command_says_what_of_its_inputs_was_not_read() {
    let sandbox = Sandbox::new();
    let page = json!({ "url": "http://x.example/", "text": words(0, 50) });
    sandbox.write("pages.jsonl", format!("{page}\n{{broken\n{page}\n"));
    let run = sandbox.run(&["copies", "pages.jsonl"]);
    assert!(
        run.contains("note: not read: 1 damaged record (bad-json"),
        "{run}"
    );
}

#[test]
fn only_what_was_asked_for_is_printed() {
    let sandbox = Sandbox::new();
    let page =
        |at: usize| json!({ "url": format!("http://s{at}.example/"), "text": words(at, 50) });
    sandbox.write("pages.jsonl", lines(&[page(0), page(1)]));
    sandbox.succeed(&["scan", "pages.jsonl", "-o", "c.cento"]);
    let said = sandbox.succeed(&["scan", "c.cento", "--only", "copies"]);
    assert!(said.contains("Duplicates and near-duplicates"), "{said}");
    assert!(!said.contains("Passages"), "{said}");
    let said = sandbox.succeed(&["scan", "c.cento", "--only", "copied-passages"]);
    assert!(said.contains("it needs originals"), "{said}");
}
