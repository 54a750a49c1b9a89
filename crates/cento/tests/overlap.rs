//! `cento overlap`.

mod support;

use support::Sandbox;

use insta::assert_snapshot;

/// A manual in two versions, its mirror, a page that shares a few lines, and a page in Chinese.
fn corpus(more: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    let line = |number: usize| format!("Line {number} of the manual says something of its own.");
    let lines = |from: usize, to: usize| (from..to).map(line).collect::<Vec<_>>().join("\n");
    let page = |url: &str, text: &str| {
        let text = text.replace('\n', "\\n");
        format!("{{\"url\": \"{url}\", \"text\": \"{text}\"}}\n")
    };
    let pages = [
        page("http://manual.example/1.0", &lines(0, 60)),
        page("http://manual.example/2.0", &lines(0, 80)),
        page("http://mirror.example.org/1.0", &lines(0, 60)),
        page("http://mirror.example.org/2.0", &lines(0, 80)),
        page(
            "http://blog.example.net/quote",
            &format!("I read:\n{}", lines(10, 14)),
        ),
        page(
            "http://zh.example.com/",
            "第一行写着一句话。\n第二行写着另一句话。",
        ),
    ];
    sandbox.write("pages.jsonl", pages.concat());
    let mut arguments = vec!["index", "pages.jsonl", "-o", "x.cento"];
    arguments.extend(more);
    sandbox.succeed(&arguments);
    sandbox
}

/// Runs a command and replaces the name of the run, which is a hash of its parameters.
fn shown(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let transcript = sandbox.run(arguments);
    let lines = transcript.lines().map(|line| match line.rsplit_once('/') {
        Some((place, _)) if line.starts_with("  findings") => format!("{place}/[RUN]\n"),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn pairs_of_pages_are_shown_with_their_shares() {
    let sandbox = corpus(&[]);
    let lines = ["overlap", "x.cento", "--chunk", "lines:1"];
    assert_snapshot!(shown(
        &sandbox,
        &[&lines[..], &["--min-shared", "3"]].concat()
    ));
    // The cached results, as JSON Lines.
    assert_snapshot!(shown(
        &sandbox,
        &[&lines[..], &["--min-shared", "3", "--json"]].concat()
    ));
    assert_snapshot!(shown(
        &sandbox,
        &[&lines[..], &["--max-pages", "2", "--min-shared", "3"]].concat()
    ));
}

#[test]
fn mirrors_are_pairs_of_servers_with_shares_near_one() {
    let sandbox = corpus(&[]);
    let lines = [
        "overlap",
        "x.cento",
        "--chunk",
        "lines:1",
        "--min-shared",
        "3",
    ];
    assert_snapshot!(shown(&sandbox, &[&lines[..], &["--servers"]].concat()));
    assert_snapshot!(shown(
        &sandbox,
        &[&lines[..], &["--servers", "domain", "--top", "1"]].concat()
    ));
}

#[test]
fn an_empty_result_is_explained() {
    let sandbox = corpus(&[]);
    let mut said = shown(
        &sandbox,
        &[
            "overlap",
            "x.cento",
            "--chunk",
            "lines:1",
            "--min-shared",
            "61",
        ],
    );
    sandbox.write("one.txt", "One page.\n\nOf two paragraphs.");
    sandbox.succeed(&["index", "one.txt", "-o", "one.cento"]);
    said.push_str(&shown(&sandbox, &["overlap", "one.cento"]));
    // A local file has no host.
    said.push_str(&shown(&sandbox, &["overlap", "one.cento", "--servers"]));
    sandbox.write("two/a.txt", "A.").write("two/b.txt", "B.");
    sandbox.succeed(&["index", "two", "-o", "two.cento"]);
    said.push_str(&shown(&sandbox, &["overlap", "two.cento"]));
    sandbox.write("none/blank.txt", " \n");
    sandbox.run(&["index", "none", "-o", "none.cento"]);
    said.push_str(&shown(&sandbox, &["overlap", "none.cento"]));
    assert_snapshot!(said);
}

#[test]
fn errors_are_one_line_and_a_hint() {
    let sandbox = corpus(&["--no-text"]);
    let mut said = String::new();
    for arguments in [
        &["--chunk", "lines:2"][..],
        &["--chunk", "pages"],
        &["--min-shared", "0"],
        &["--max-pages", "1"],
        &["--servers", "page"],
        &["--out", "pairs.txt"],
    ] {
        said.push_str(&shown(
            &sandbox,
            &[&["overlap", "x.cento"][..], arguments].concat(),
        ));
    }
    said.push_str(&shown(&sandbox, &["overlap", "nothing.cento"]));
    assert_snapshot!(said);
}

#[test]
fn replication_is_reported_as_in_the_paper() {
    let sandbox = corpus(&[]);
    let replication = [
        "overlap",
        "x.cento",
        "--replication",
        "--figures",
        "figures",
    ];
    assert_snapshot!(shown(&sandbox, &replication));
    for name in ["replicas", "savings"] {
        let read =
            |ending| std::fs::read_to_string(sandbox.path(&format!("figures/{name}.{ending}")));
        assert!(read("svg").is_ok_and(|picture| picture.starts_with("<svg ")));
        assert!(
            read("csv").is_ok_and(|numbers| numbers.contains("two lines") || name == "savings")
        );
    }
}
