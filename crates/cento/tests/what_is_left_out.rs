//! What is not read or not written is said: pages that are rejected, dates that are not understood,
//! and inputs of which nothing is left.

mod support;

use serde_json::{Value, json};
use support::{Sandbox, lines, words};

/// What a command printed on both streams, with single spaces.
fn transcript(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let said = sandbox.run(arguments);
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn dates_that_are_not_understood_are_counted_with_an_example() {
    let sandbox = Sandbox::new();
    let page = |at: usize, date: &str| {
        let url = format!("https://a{at}.example/");
        json!({ "url": url, "text": words("otter", 60), "date": date })
    };
    let dates = [
        "12. Mai 1998",
        "2020-06-07",
        "c. 1600",
        "03/04/2024",
        "",
        "null",
    ];
    let pages: Vec<Value> = (0..).zip(dates).map(|(at, date)| page(at, date)).collect();
    sandbox.write("pages.jsonl", lines(&pages));
    let index = transcript(&sandbox, &["index", "pages.jsonl", "-o", "pages.cento"]);
    let unread = r#"unread dates 2 not understood, e.g. https://a2.example/: "c. 1600""#;
    assert!(index.contains(unread), "{index}");
    assert!(transcript(&sandbox, &["info", "pages.cento"]).contains(unread));
    let html = json!({ "url": "https://b.example/", "html": "<meta name=date content='am Tag 3'><p>Otters" });
    sandbox.write("more.jsonl", lines(&[html]));
    let more = transcript(&sandbox, &["index", "more.jsonl", "-o", "more.cento"]);
    assert!(
        more.contains(r#"unread dates 1 not understood, e.g. https://b.example/: "am Tag 3""#),
        "{more}"
    );
    let copies = transcript(&sandbox, &["copies", "pages.jsonl"]);
    let note = r#"note: not read: 2 dates (e.g. https://a2.example/: "c. 1600")"#;
    assert!(copies.contains(note), "{copies}");
    let scan = transcript(&sandbox, &["scan", "pages.cento"]);
    let sentence = "2 dates of publication were not understood; these pages count as undated.";
    assert!(scan.contains(sentence), "{scan}");
    // The page of 1998 is older than that of 2020.
    let kept = transcript(&sandbox, &["copies", "pages.cento", "--emit", "keep"]);
    assert!(kept.contains("https://a0.example/"), "{kept}");
}

#[test]
fn rejected_pages_of_originals_are_counted() {
    let sandbox = Sandbox::new();
    let page = json!({ "url": "https://a.example/", "text": words("otter", 60) });
    let empty = json!({ "url": "https://b.example/", "text": "" });
    sandbox.write("pages.jsonl", lines(std::slice::from_ref(&page)));
    sandbox.write("originals.jsonl", lines(&[page, empty]));
    for command in [
        &[
            "contamination",
            "pages.jsonl",
            "--against",
            "originals.jsonl",
        ][..],
        &["detect", "pages.jsonl", "--against", "originals.jsonl"],
        &["discover", "--from", "originals.jsonl", "-o", "own.labels"],
    ] {
        let said = transcript(&sandbox, command);
        let note =
            "note: not read: 1 rejected page (empty, e.g. https://b.example/: only white space)";
        assert!(said.contains(note), "{said}");
    }
}

#[test]
fn inputs_of_which_nothing_is_left_are_not_called_written() {
    let sandbox = Sandbox::new();
    for name in ["a.txt", "b.txt"] {
        sandbox.write(&format!("texts/{name}"), words("otter", 60));
    }
    sandbox.write("texts/c.txt", words("beaver", 60));
    let dedup = transcript(&sandbox, &["dedup", "texts", "-o", "unique"]);
    let sentence =
        "unique: 2 inputs written, 1 left out because nothing of it is left, 1 record removed";
    assert!(dedup.contains(sentence), "{dedup}");
}

#[test]
fn listed_pairs_that_are_not_compared_are_counted() {
    let sandbox = Sandbox::new();
    for name in ["a", "b", "c"] {
        sandbox.write(&format!("texts/{name}.txt"), words("otter", 60));
    }
    sandbox.write("texts/empty.txt", "");
    sandbox.succeed(&["index", "texts", "-o", "texts.cento"]);
    let pair = |a: &str, b: &str| format!("texts/{a}.txt,texts/{b}.txt\n");
    let pairs = [
        ("a", "b"),
        ("b", "a"),
        ("a", "b"),
        ("c", "c"),
        ("a", "empty"),
        ("a", "none"),
    ];
    let pairs: String = pairs.into_iter().map(|(a, b)| pair(a, b)).collect();
    sandbox.write("pairs.csv", format!("a,b\n{pairs}"));
    let said = transcript(
        &sandbox,
        &["passages", "texts.cento", "--pairs", "pairs.csv"],
    );
    for line in [
        "listed pairs 2 name a page that the corpus does not have, or one without text",
        "listed pairs 3 name one page twice or repeat another pair",
        "pairs compared 1",
    ] {
        assert!(said.contains(line), "{said}");
    }
}
