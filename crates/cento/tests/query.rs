//! `cento query`.

mod support;

use std::io::{BufRead, BufReader};

use support::{Sandbox, SmallDisk};

use insta::assert_snapshot;

fn words(topic: &str, count: usize) -> String {
    let words: Vec<String> = (0..count).map(|at| format!("{topic}{at}")).collect();
    words.join(" ")
}

fn page(url: &str, text: &str) -> String {
    format!("{{\"url\": \"{url}\", \"text\": \"{text}\"}}\n")
}

/// An article under two URLs, its copy with a comment, a page that quotes it, a digest that
/// contains it, and an unrelated page.
fn corpus() -> Sandbox {
    let sandbox = Sandbox::new();
    let article = words("article", 100);
    let comment = format!("{article} {}", words("comment", 15));
    let quote = format!("{} {}", words("article", 40), words("own", 100));
    let digest = format!("{article} {}", words("digest", 2000));
    let pages = [
        page("http://news.example/article", &article),
        page("http://www.news.example/article?print=1", &article),
        page("http://blog.example.org/copy", &comment),
        page("http://quote.example.net/", &quote),
        page("http://digest.example.com/", &digest),
        page("http://other.example.com/", &words("other", 80)),
    ];
    sandbox.write("pages.jsonl", pages.concat());
    sandbox.succeed(&["index", "pages.jsonl", "-o", "x.cento"]);
    sandbox
}

#[test]
fn the_first_query_builds_the_index_and_matches_are_shown_with_excerpts() {
    let sandbox = corpus();
    let html = format!("<title>Essay</title><p>{}</p>", words("article", 60));
    sandbox.write("essay.html", html);
    assert_snapshot!(sandbox.run(&["query", "x.cento", "essay.html"]));
    assert_snapshot!(sandbox.run(&["query", "x.cento", "essay.html", "--json", "--top", "1"]));
    assert_snapshot!(sandbox.run(&["query", "x.cento", "essay.html", "--max-pages", "2"]));
    assert_snapshot!(sandbox.run(&["info", "x.cento", "--verify"]));
}

#[test]
fn a_page_of_the_corpus_is_not_a_match_of_itself() {
    let sandbox = corpus();
    sandbox.succeed(&["query", "x.cento", "http://other.example.com/"]);
    assert_snapshot!(sandbox.run(&[
        "query",
        "x.cento",
        "http://news.example/article",
        "--top",
        "2"
    ]));
    assert_snapshot!(sandbox.run(&["query", "x.cento", "http://other.example.com/"]));
}

#[test]
fn text_is_read_from_standard_input_and_matches_are_written_to_a_file() {
    let sandbox = corpus();
    sandbox.succeed(&["query", "x.cento", "pages.jsonl"]);
    let text = format!("Somebody wrote: {}", words("article", 30));
    let arguments = ["query", "x.cento", "-", "--out", "matches.csv"];
    assert_snapshot!(sandbox.run_with_input(&arguments, text.as_bytes()));
    assert_snapshot!(std::fs::read_to_string(sandbox.path("matches.csv")).unwrap());
    // Too few words.
    assert_snapshot!(sandbox.run_with_input(&["query", "x.cento", "-"], b"two words"));
}

#[test]
fn an_index_follows_the_corpus() {
    let sandbox = corpus();
    sandbox.write("essay.txt", words("other", 40));
    sandbox.write(
        "more.jsonl",
        page("http://late.example/", &words("other", 70)),
    );
    let built = sandbox.succeed(&["index", "pages.jsonl", "-o", "y.cento", "--query"]);
    assert!(built.contains("query index"), "{built}");
    // Added pages are found: by `index --add`, or by the next query.
    let added = ["index", "more.jsonl", "-o", "y.cento", "--add"];
    assert!(sandbox.succeed(&added).contains("query index"));
    let found = sandbox.run(&["query", "y.cento", "essay.txt"]);
    assert!(found.contains("http://late.example/"), "{found}");
    assert!(!found.contains("note: "), "{found}");
    sandbox.succeed(&["query", "x.cento", "essay.txt"]);
    std::fs::rename(sandbox.path("x.cento/query"), sandbox.path("kept")).unwrap();
    sandbox.succeed(&["index", "more.jsonl", "-o", "x.cento", "--add"]);
    std::fs::rename(sandbox.path("kept"), sandbox.path("x.cento/query")).unwrap();
    let found = sandbox.run(&["query", "x.cento", "essay.txt"]);
    assert!(
        found.contains("extended the query index by 1 page"),
        "{found}"
    );
    assert!(found.contains("http://late.example/"), "{found}");
}

#[test]
fn wrong_usage_is_one_line_and_a_hint() {
    let sandbox = corpus();
    sandbox.write("empty.txt", "");
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox.succeed(&["index", "pages.jsonl", "--no-text", "-o", "textless.cento"]);
    for arguments in [
        &["query", "x.cento"][..],
        &["query", "none.cento", "essay.txt"],
        &["query", "x.cento", "none.txt"],
        &["query", "x.cento", "http://nowhere.example/"],
        &["query", "x.cento", "empty.txt"],
        &["query", "x.cento", "folder"],
        &["query", "x.cento", "-", "-"],
        &["query", "x.cento", "pages.jsonl", "--most", "0.4"],
        &["query", "x.cento", "pages.jsonl", "--max-pages", "1"],
        &["query", "x.cento", "pages.jsonl", "--out", "matches.txt"],
        &["query", "textless.cento", "pages.jsonl"],
        &[
            "index",
            "pages.jsonl",
            "--no-text",
            "--query",
            "-o",
            "z.cento",
        ],
    ] {
        assert_snapshot!(sandbox.run(arguments));
    }
}

#[test]
fn a_full_disk_is_reported_and_the_next_query_builds_the_index() {
    let sandbox = corpus();
    let expected = sandbox.succeed(&["query", "x.cento", "http://news.example/article"]);
    std::fs::remove_dir_all(sandbox.path("x.cento/query")).unwrap();
    std::fs::create_dir(sandbox.path("x.cento/query")).unwrap();
    let Some(disk) = SmallDisk::mount(sandbox.path("x.cento/query"), "4k") else {
        return;
    };
    let failed = sandbox.run(&["query", "x.cento", "http://news.example/article"]);
    assert!(failed.starts_with("status: 5"), "{failed}");
    assert!(failed.contains("hint: "), "{failed}");
    disk.remount("size=40m");
    let arguments = ["query", "x.cento", "http://news.example/article"];
    assert_eq!(sandbox.succeed(&arguments), expected);
}

#[test]
fn a_corrupted_index_is_reported_by_verification() {
    let sandbox = corpus();
    sandbox.succeed(&["query", "x.cento", "pages.jsonl"]);
    let folder = sandbox.path("x.cento/query");
    let segment = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == "bin"))
        .unwrap();
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let verified = sandbox.run(&["info", "x.cento", "--verify"]);
    assert!(verified.starts_with("status: 4"), "{verified}");
    assert!(verified.contains("is corrupted"), "{verified}");
    let queried = sandbox.run(&["query", "x.cento", "http://news.example/article"]);
    assert!(queried.starts_with("status: 4"), "{queried}");
    // As the hint says.
    std::fs::remove_dir_all(sandbox.path("x.cento/query")).unwrap();
    sandbox.succeed(&["query", "x.cento", "http://news.example/article"]);
}

#[test]
fn help_is_what_the_reference_says() {
    assert_snapshot!(Sandbox::new().run(&["query", "--help"]));
}

#[test]
fn a_query_waits_for_the_process_that_writes_the_index() {
    let sandbox = Sandbox::new();
    let text = words("shared", 60);
    sandbox.write("pages.jsonl", page("http://a.example/", &text));
    sandbox.write("query.txt", &text);
    sandbox.succeed(&["index", "pages.jsonl", "-o", "c.cento"]);
    std::fs::create_dir_all(sandbox.path("c.cento/query")).unwrap();
    let lock = cento_file::lock(&sandbox.path("c.cento/query/.lock")).unwrap();
    assert!(lock.is_some());
    let mut waiting = sandbox
        .command(&["query", "c.cento", "query.txt"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut note = String::new();
    let mut messages = BufReader::new(waiting.stderr.take().unwrap());
    messages.read_line(&mut note).unwrap();
    assert_eq!(
        note,
        "note: another process is writing the index of c.cento; waiting for it\n"
    );
    assert!(waiting.try_wait().unwrap().is_none());
    drop(lock);
    let output = waiting.wait_with_output().unwrap();
    assert!(output.status.success());
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.contains("http://a.example/"), "{answer}");
}

#[test]
fn first_queries_at_the_same_time_have_the_same_answer() {
    let sandbox = Sandbox::new();
    sandbox.succeed(&["synth", "-o", "s", "--pages", "200", "--seed", "1"]);
    sandbox.succeed(&["index", "s/crawl", "-o", "c.cento"]);
    sandbox.write("query.txt", words("own", 60));
    let queries: Vec<_> = (0..3)
        .map(|_| {
            sandbox
                .command(&["query", "c.cento", "query.txt"])
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let answers: Vec<_> = queries
        .into_iter()
        .map(|query| query.wait_with_output().unwrap())
        .collect();
    for answer in &answers {
        let error = String::from_utf8_lossy(&answer.stderr);
        assert!(answer.status.success(), "{error}");
        assert_eq!(answer.stdout, answers[0].stdout);
    }
    let built = answers
        .iter()
        .filter(|answer| String::from_utf8_lossy(&answer.stderr).contains("built the query index"))
        .count();
    assert_eq!(built, 1);
}
