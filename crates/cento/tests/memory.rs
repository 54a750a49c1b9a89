//! The peak memory of commands on the worst pages.
#![cfg(target_os = "linux")]

mod support;

use support::Sandbox;

const MIB: u64 = 1 << 20;

/// The documented bound: the budget, 128 MiB, and six times the largest page.
#[test]
fn indexing_the_worst_pages_stays_within_the_documented_memory() {
    let size: usize = match std::env::var_os("CENTO_LONG_TESTS") {
        Some(_) => 60 << 20,
        None => 4 << 20,
    };
    let repeated = |piece: &str| piece.repeat(size / piece.len());
    let html = |piece: &str| format!("<html><title>x</title><body>{}", repeated(piece));
    let worst = [
        ("paragraphs.txt", repeated("a\n\n")),
        ("lines.txt", repeated("a\n")),
        ("words.txt", repeated("a ")),
        ("one.txt", repeated("a")),
        ("chinese.txt", repeated("汉字")),
        ("paragraphs.html", html("<p>a")),
        ("links.html", html("<a href=http://a.example/b>c</a> ")),
        ("entities.html", html("&nGt;")),
        ("noscript.html", html("<noscript>a ")),
        ("controls.txt", repeated("a\u{97}")),
    ];
    let bound = (64 + 128) * MIB + 6 * size as u64;
    for (name, page) in worst {
        let sandbox = Sandbox::new();
        for copy in 0..2 {
            sandbox.write(&format!("pages/{copy}-{name}"), &page);
        }
        let chunkings = match name {
            "words.txt" => &["paragraph", "words:1"][..],
            _ => &["paragraph"][..],
        };
        for chunk in chunkings {
            let corpus = format!("{chunk}.cento").replace(':', "-");
            let index = [
                "index",
                "pages",
                "--memory",
                "64M",
                "--threads",
                "2",
                "--chunk",
                chunk,
                "-o",
                &corpus,
            ];
            let peak = sandbox.peak_memory(&index);
            assert!(
                peak <= bound,
                "{name} in {chunk}: {} MiB, above the bound of {} MiB",
                peak / MIB,
                bound / MIB
            );
        }
    }
}

#[test]
fn pages_with_too_many_chunks_or_too_long_a_url_are_rejected() {
    let sandbox = Sandbox::new();
    let url = format!("http://a.example/{}", "x".repeat(5_000));
    let line = |url: &str, text: &str| serde_json::json!({"url": url, "text": text}).to_string();
    let pages = [
        line("http://a.example/1", "one\n\ntwo\n\nthree\n\nfour"),
        line("http://a.example/2", "one\n\ntwo\n\nthree"),
        line(&url, "a page"),
    ];
    sandbox.write("a.jsonl", pages.join("\n"));
    let index = |more: &[&str]| {
        let common = ["index", "a.jsonl", "--json", "-o"];
        let summary = sandbox.succeed(&[&common[..], more].concat());
        serde_json::from_str::<serde_json::Value>(&summary).unwrap()["counts"].clone()
    };
    let counts = index(&["a.cento", "--max-chunks", "3"]);
    assert_eq!(counts["kept"], 1);
    assert_eq!(counts["chunks"], 3);
    assert_eq!(counts["rejected"]["too-many-chunks"]["count"], 1);
    assert_eq!(counts["rejected"]["url-too-long"]["count"], 1);
    let example = counts["rejected"]["url-too-long"]["example"]
        .as_str()
        .unwrap();
    assert!(example.contains("the limit is 4096"), "{example}");
    assert!(example.len() < 4_300, "{}", example.len());
    // Both limits can be set, and are parameters of the corpus.
    let counts = index(&["b.cento", "--max-url", "8K"]);
    assert_eq!(counts["kept"], 3);
    let other = sandbox.run(&[
        "index",
        "a.jsonl",
        "--add",
        "--repeat",
        "-o",
        "b.cento",
        "--max-chunks",
        "9",
    ]);
    assert!(
        other.contains("was made with most chunks 1000000, not 9"),
        "{other}"
    );
}

/// Covers copies, overlap, replication, reuse and the index for queries; other tests cover quilts,
/// phrases and labels.
#[test]
fn comparing_the_worst_pages_stays_within_the_documented_memory() {
    let size: usize = match std::env::var_os("CENTO_LONG_TESTS") {
        Some(_) => 60 << 20,
        None => 4 << 20,
    };
    let numbered = |separator: &str| {
        let mut page = String::with_capacity(size + 16);
        let mut number = 0u32;
        while page.len() < size {
            page.push_str(&format!(
                "{:x}{separator}",
                number.wrapping_mul(2_654_435_761)
            ));
            number += 1;
        }
        page
    };
    let bound = (64 + 128) * MIB + 6 * size as u64;
    for (name, page) in [
        ("words.txt", numbered(" ")),
        ("lines.txt", numbered("\n")),
        ("one.txt", "a ".repeat(size / 2)),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(&format!("pages/1-{name}"), &page);
        sandbox.write(&format!("pages/2-{name}"), format!("{page} and more"));
        sandbox.write("small.txt", "a few words of a small page");
        sandbox.succeed(&["index", "pages", "--memory", "64M", "-o", "c.cento"]);
        for question in [
            &["copies", "c.cento"][..],
            &["overlap", "c.cento"],
            &["overlap", "c.cento", "--chunk", "words:3"],
            &["overlap", "c.cento", "--replication"],
            &["reuse", "c.cento"],
            &["reuse", "c.cento", "--scheme", "kgram"],
            &["query", "c.cento", "small.txt"],
        ] {
            let mut arguments = question.to_vec();
            arguments.extend(["--memory", "64M", "--threads", "2"]);
            let peak = sandbox.peak_memory(&arguments);
            assert!(
                peak <= bound,
                "{name}, {question:?}: {} of {} MiB",
                peak / MIB,
                bound / MIB
            );
        }
    }
}
