//! `cento reuse`.

mod support;

use support::Sandbox;

use insta::assert_snapshot;

fn words(topic: &str, count: usize) -> String {
    let words: Vec<String> = (0..count).map(|at| format!("{topic}{at}")).collect();
    words.join(" ")
}

/// An article, its copy with a comment, a page that quotes it, a digest that contains it, a second
/// URL of the article, and an unrelated page.
fn corpus() -> Sandbox {
    let sandbox = Sandbox::new();
    let page = |url: &str, text: &str| format!("{{\"url\": \"{url}\", \"text\": \"{text}\"}}\n");
    let article = words("article", 100);
    let pages = [
        page("http://news.example/article", &article),
        page("http://www.news.example/article?print=1", &article),
        page(
            "http://blog.example.org/copy",
            &format!("{article} {}", words("comment", 15)),
        ),
        page(
            "http://quote.example.net/",
            &format!("{} {}", words("article", 40), words("own", 100)),
        ),
        page(
            "http://digest.example.com/",
            &format!("{article} {}", words("digest", 2000)),
        ),
        page("http://other.example.com/", &words("other", 80)),
    ];
    sandbox.write("pages.jsonl", pages.concat());
    sandbox.succeed(&["index", "pages.jsonl", "-o", "x.cento"]);
    sandbox
}

/// Runs a command and replaces what differs between runs: the name of the run, and seconds.
fn shown(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let transcript = sandbox.run(arguments);
    let lines = transcript.lines().map(|line| match line.rsplit_once('/') {
        Some((place, _)) if line.starts_with("  findings") => format!("{place}/[RUN]\n"),
        _ if line.starts_with("  seconds") => "  seconds [SECONDS]\n".to_owned(),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn pairs_are_shown_by_category_with_both_containments() {
    let sandbox = corpus();
    assert_snapshot!(shown(&sandbox, &["reuse", "x.cento", "--scheme", "kgram"]));
    // The cached results, as JSON Lines.
    assert_snapshot!(shown(
        &sandbox,
        &["reuse", "x.cento", "--scheme", "kgram", "--json"]
    ));
    assert_snapshot!(shown(
        &sandbox,
        &["reuse", "x.cento", "--style", "template,frame"]
    ));
    assert_snapshot!(shown(
        &sandbox,
        &["reuse", "x.cento", "--max-pages", "2", "--frame"]
    ));
}

#[test]
fn two_corpora_are_compared_with_each_other_only() {
    let sandbox = corpus();
    let text = words("article", 60);
    sandbox.write("essay.txt", &text);
    sandbox.succeed(&["index", "essay.txt", "-o", "essay.cento"]);
    let arguments = [
        "reuse",
        "essay.cento",
        "--against",
        "x.cento",
        "--scheme",
        "kgram",
    ];
    assert_snapshot!(shown(&sandbox, &arguments));
}

#[test]
fn a_scan_and_its_report_know_the_analysis() {
    let sandbox = corpus();
    let report = sandbox.succeed(&["scan", "x.cento", "--only", "reuse"]);
    assert!(report.contains("Local text reuse"), "{report}");
    assert!(report.contains("cento reuse x.cento"), "{report}");
}

#[test]
fn schemes_are_compared_on_pairs_of_known_category() {
    let sandbox = Sandbox::new();
    let pages = [
        "--pages",
        "200",
        "--languages",
        "en",
        "--words",
        "200",
        "--reuse-pairs",
        "4",
    ];
    sandbox.succeed(&[&["synth", "-o", "s"][..], &pages].concat());
    sandbox.succeed(&["index", "s/reuse/pages.jsonl", "-o", "s.cento"]);
    let arguments = [
        "reuse",
        "s.cento",
        "--compare",
        "--labelled",
        "s/reuse/pairs.jsonl",
    ];
    let lines = sandbox.succeed(&[&arguments[..], &["--json", "--figures", "f"]].concat());
    let results: Vec<serde_json::Value> = lines
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let schemes: Vec<&str> = results
        .iter()
        .filter_map(|row| row["scheme"].as_str())
        .collect();
    assert_eq!(
        schemes,
        [
            "kgram:k=3",
            "mod:k=3,p=6",
            "winnow:k=3,w=10",
            "break:p=3",
            "dct:p=3"
        ]
    );
    for row in &results {
        let quality = row["quality"].as_array().unwrap();
        let sum = |name: &str| {
            quality
                .iter()
                .filter_map(|row| row[name].as_u64())
                .sum::<u64>()
        };
        assert_eq!(sum("labelled"), 24, "{row}");
        assert!(sum("correct") >= 12, "{row}");
    }
    for name in [
        "schemes-agreement",
        "schemes-all",
        "schemes-near-duplicates",
        "schemes-local-reuse",
    ] {
        assert!(sandbox.path(&format!("f/{name}.svg")).is_file(), "{name}");
    }
}

#[test]
fn wrong_usage_is_one_line_and_a_hint() {
    let sandbox = corpus();
    for arguments in [
        &["--scheme", "simhash"][..],
        &["--most", "0.4"],
        &["--partial-share", "10%"],
        &["--style", "quote"],
        &["--labelled", "pairs.jsonl"],
        &["--compare", "--style", "reuse"],
    ] {
        assert_snapshot!(shown(
            &sandbox,
            &[&["reuse", "x.cento"], arguments].concat()
        ));
    }
}

#[test]
fn help_is_what_the_reference_says() {
    assert_snapshot!(Sandbox::new().run(&["reuse", "--help"]));
}
