//! The peak memory of `detect` on hostile pages, and options without effect.

mod support;

use serde_json::json;
use support::Sandbox;

/// The budget, 128 MiB for the program, and twelve times the text of the page, which is decoded and
/// chunked in memory.
fn allowed(budget: u64, page: usize) -> u64 {
    budget + (128 << 20) + 12 * page as u64
}

#[test]
#[cfg(target_os = "linux")]
fn a_page_of_many_paragraphs_stays_within_budget() {
    let sandbox = Sandbox::new();
    // Half of the paragraphs are distinct, and each of them is a label.
    let paragraphs = (0..300_000u32).map(|at| format!("p{}\n\n", at / 2));
    let page: String = paragraphs.collect();
    let line = |url: &str, text: &str| format!("{}\n", json!({ "url": url, "text": text }));
    let lines =
        line("http://a.example/hostile", &page) + &line("http://b.example/", "One.\n\nTwo.");
    sandbox.write("crawl.jsonl", lines);
    sandbox.write("mine.jsonl", line("http://mine.example/", &page));
    let memory = ["--memory", "64M", "--threads", "2"];
    sandbox.succeed(&[&["index", "crawl.jsonl", "-o", "c.cento"][..], &memory].concat());
    let against = [
        "detect",
        "c.cento",
        "--against",
        "mine.jsonl",
        "--min-length",
        "0",
    ];
    for more in [&[][..], &["--fuzzy"]] {
        let used = sandbox.peak_memory(&[&against[..], more, &memory].concat());
        assert!(
            used < allowed(64 << 20, page.len()),
            "{more:?}: {} MB for a page of {} MB",
            used >> 20,
            page.len() >> 20
        );
    }
    let discover = ["discover", "c.cento", "--more-than", "1", "-o", "l.labels"];
    let used = sandbox.peak_memory(&[&discover[..], &memory].concat());
    assert!(used < allowed(64 << 20, page.len()), "{} MB", used >> 20);
}

#[test]
#[cfg(target_os = "linux")]
fn matching_grams_in_a_page_of_a_million_words_stays_within_budget() {
    let sandbox = Sandbox::new();
    let words: String = (0..1_500_000u32)
        .map(|at| format!("{} ", at % 99_991))
        .collect();
    let line = |url: &str, text: &str| format!("{}\n", json!({ "url": url, "text": text }));
    sandbox.write("crawl.jsonl", line("http://a.example/hostile", &words));
    let item: String = words.chars().take(3000).collect();
    sandbox.write("items.jsonl", line("q1", &item));
    let memory = ["--memory", "64M", "--threads", "2"];
    sandbox.succeed(&[&["index", "crawl.jsonl", "-o", "c.cento"][..], &memory].concat());
    let grams = [
        "detect",
        "c.cento",
        "--against",
        "items.jsonl",
        "--grams",
        "5",
    ];
    let used = sandbox.peak_memory(&[&grams[..], &memory].concat());
    assert!(used < allowed(64 << 20, words.len()), "{} MB", used >> 20);
}

#[test]
fn options_without_effect_are_refused() {
    let sandbox = Sandbox::new();
    let text = "A paragraph that is long enough to be looked for, with words that nobody else would use in this order, and some more of them.";
    let line = format!("{}\n", json!({ "url": "http://a.example/", "text": text }));
    sandbox
        .write("a.jsonl", &line)
        .write("list.txt", "[chunks]\nHome\n");
    sandbox.succeed(&["index", "a.jsonl", "-o", "c.cento"]);
    sandbox.succeed(&["discover", "--from", "a.jsonl", "-o", "a.labels"]);
    let labels = ["detect", "c.cento", "--labels", "a.labels"];
    let against = ["detect", "c.cento", "--against", "a.jsonl"];
    let blind = ["discover", "c.cento", "-o", "x.labels"];
    let review = ["labels", "review", "a.labels"];
    for (command, option) in [
        (&labels[..], &["--stop", "nosuchfile"][..]),
        (&labels, &["--stop", "list.txt"]),
        (&labels, &["--stop-proposed"]),
        (&labels, &["-o", "x.labels"]),
        (&labels, &["--min-length", "5"]),
        (&labels, &["--min-share", "0.5"]),
        (&labels, &["--base-url", "http://b.example/"]),
        (&labels, &["--field", "text=x"]),
        (&labels, &["--grams", "5"]),
        (&labels, &["--seed", "5"]),
        (&labels, &["--sample", "5", "--json"]),
        (&against, &["--min-share", "0.5"]),
        (&against, &["--grams", "5", "--min-length", "5"]),
        (&against, &["--grams", "5", "--sample", "5"]),
        (&blind, &["--min-length", "5"]),
        (&blind, &["--base-url", "http://b.example/"]),
        (&blind, &["--field", "text=x"]),
        (&blind, &["--seed", "5"]),
        (&review, &["-o", "x.labels"]),
        (&review, &["--list", "y.txt", "-o", "x.labels"]),
        (&review, &["--list", "y.txt", "--top", "5"]),
    ] {
        let said = sandbox.run(&[command, option].concat());
        assert!(
            said.starts_with("status: 2"),
            "{command:?} {option:?}: {said}"
        );
    }
    for name in ["x.labels", "y.txt"] {
        assert!(!sandbox.path(name).exists(), "{name}");
    }
    // Options with an effect are accepted.
    sandbox.succeed(&[&labels[..], &["--sample", "5", "--seed", "3"]].concat());
    sandbox.succeed(&[&against[..], &["--min-length", "5", "--stop", "list.txt"]].concat());
    sandbox.succeed(&[&blind[..], &["--sample", "5"]].concat());
}

/// §5.2 of Ardi & Heidemann: a blog whose posts are on one site in six.
#[test]
fn a_scan_reports_a_blog_that_is_copied_to_every_sixth_site() {
    let sandbox = Sandbox::new();
    let chunk = |number: usize| {
        let words: Vec<String> = (0..20).map(|at| format!("w{number}x{at}")).collect();
        words.join(" ")
    };
    let mut lines = String::new();
    for site in 0..72usize {
        for page in 0..4usize {
            let first = match site % 6 {
                0 => 1_000_000 + 10 * page,
                _ => 1000 * site + 10 * page,
            };
            let text: Vec<String> = (first..first + 4).map(chunk).collect();
            let url = format!("http://s{site}.example/{page}");
            lines += &format!("{}\n", json!({ "url": url, "text": text.join("\n\n") }));
        }
    }
    sandbox.write("crawl.jsonl", lines);
    let said = sandbox.succeed(&[
        "scan",
        "crawl.jsonl",
        "-o",
        "c.cento",
        "--only",
        "discover,detect",
    ]);
    assert!(!said.contains("labels is on any page"), "{said}");
    assert!(
        said.contains("48 of 288 pages (16.7 %) have repeated chunks"),
        "{said}"
    );
    assert!(said.contains("including 12 whole sites"), "{said}");
    // It reports what stands out without accusing anyone.
    assert!(!said.contains("bad"), "{said}");
}
