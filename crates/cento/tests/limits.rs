//! Limits of a page: each has an option, and pages over it are counted by reason.

mod support;

use support::{Archive, Sandbox};

/// Indexes a file together with a valid page, and returns the summary.
fn outcome(page: impl AsRef<[u8]>, name: &str, options: &[&str]) -> String {
    let sandbox = Sandbox::new();
    sandbox
        .write(&format!("in/{name}"), page)
        .write("in/valid.html", "<p>A garment stitched from patches.");
    let mut arguments = vec!["index", "in", "-o", "out.cento"];
    arguments.extend_from_slice(options);
    sandbox.run(&arguments)
}

#[test]
fn a_page_with_too_deep_nesting_is_rejected() {
    let page = format!("{}deep", "<div>".repeat(100_000));
    let example = "e.g. in/deep.html: 100000 elements within each other, the limit is 20000";
    for options in [&[][..], &["--main"]] {
        let printed = outcome(&page, "deep.html", options);
        assert!(
            printed.contains("too-deep") && printed.contains(example),
            "{printed}"
        );
    }
    let printed = outcome(&page, "deep.html", &["--max-nesting", "100000"]);
    assert!(!printed.contains("too-deep"), "{printed}");
    // Closed elements, and those that need no end tag, are not nested.
    for piece in [
        "<p>a",
        "<li>a",
        "<tr><td>a",
        "<div>a</div>",
        "<h1>a",
        "<b>a",
        "<br>",
    ] {
        let printed = outcome(piece.repeat(30_000), "flat.html", &[]);
        assert!(!printed.contains("too-deep"), "{piece}: {printed}");
    }
}

#[test]
fn a_page_that_takes_too_long_is_rejected() {
    let page = "<div><p>one two three</div>".repeat(300_000);
    for options in [
        &["--max-seconds", "0.01"][..],
        &["--max-seconds", "0.01", "--main"],
    ] {
        let printed = outcome(&page, "slow.html", options);
        let example = "e.g. in/slow.html: more than 0.01 seconds of work";
        assert!(
            printed.contains("too-slow") && printed.contains(example),
            "{printed}"
        );
        let (_, kept) = printed.split_once("pages kept").unwrap();
        assert!(kept.trim_start().starts_with("1\n"), "{printed}");
    }
    let text = "one two three. ".repeat(600_000);
    let printed = outcome(text, "slow.txt", &["--max-seconds", "0.001"]);
    assert!(printed.contains("too-slow"), "{printed}");
    let printed = outcome(&page, "slow.html", &[]);
    assert!(!printed.contains("too-slow"), "{printed}");
}

#[test]
fn every_limit_can_be_set() {
    let mut archive = Archive::gzip();
    archive.page("http://a.example/", &"<p>word ".repeat(1_000));
    let archive = archive.bytes;
    let line = format!(
        "{{\"text\": \"{}\", \"x\": [[[1]]]}}\n",
        "word ".repeat(500)
    );
    let cases: [(&str, &[u8], [&str; 2], &str); 6] = [
        ("a.warc.gz", &archive, ["--max-page", "2K"], "too-large"),
        (
            "a.warc.gz",
            &archive,
            ["--max-header", "40"],
            "header-too-long",
        ),
        (
            "a.warc.gz",
            &archive,
            ["--max-header-lines", "2"],
            "header-too-long",
        ),
        (
            "a.jsonl",
            line.as_bytes(),
            ["--max-line", "1K"],
            "line-too-long",
        ),
        (
            "a.jsonl",
            line.as_bytes(),
            ["--max-nesting", "3"],
            "too-deep",
        ),
        (
            "a.html",
            b"<div><div><div>a",
            ["--max-nesting", "2"],
            "too-deep",
        ),
    ];
    for (name, bytes, options, reason) in cases {
        let printed = outcome(bytes, name, &options);
        assert!(printed.contains(reason), "{options:?}: {printed}");
        let strict = outcome(bytes, name, &[&options[..], &["--strict"]].concat());
        assert!(strict.starts_with("status: 3"), "{options:?}: {strict}");
        let printed = outcome(bytes, name, &["--strict"]);
        assert!(printed.starts_with("status: 0"), "{printed}");
    }
}

#[test]
fn limits_are_stored_in_the_corpus() {
    let sandbox = Sandbox::new();
    sandbox
        .write("a.html", "<p>A garment stitched from patches.")
        .write("b.html", "<div><div><div><div>deep");
    let add = |options: &[&str]| {
        let mut arguments = vec!["index", "b.html", "-o", "a.cento", "--add"];
        arguments.extend_from_slice(options);
        sandbox.run(&arguments)
    };
    sandbox.succeed(&["index", "a.html", "-o", "a.cento", "--max-nesting", "3"]);
    let different = add(&["--max-nesting", "4"]);
    let expected = "a.cento was made with deepest nesting 3, not 4";
    assert!(different.contains(expected), "{different}");
    // Without options, the limits of the corpus apply.
    let printed = add(&[]);
    assert!(printed.contains("too-deep"), "{printed}");
    assert!(
        sandbox
            .run(&["info", "a.cento"])
            .contains("deepest nesting     3")
    );
}
