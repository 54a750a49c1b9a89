//! What reports and summaries say: each test is a corpus on which a sentence, a number or a command
//! of a report was wrong.

mod support;

use serde_json::{Value, json};
use support::{Sandbox, lines, said, words};

/// The text of HTML, in one line.
fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut in_tag = false;
    for letter in html.chars() {
        match letter {
            '<' => in_tag = true,
            '>' => {
                in_tag = false;
                text.push(' ');
            }
            letter if !in_tag => text.push(letter),
            _ => {}
        }
    }
    let text = text.replace("&amp;", "&").replace("&#39;", "'");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of the report of a corpus, which is made again.
fn report(sandbox: &Sandbox, corpus: &str) -> String {
    sandbox.succeed(&["report", corpus, "--reproducible", "-o", "report.html"]);
    let html = std::fs::read_to_string(sandbox.path("report.html"));
    plain(&html.unwrap_or_default())
}

/// A site of originals, and a crawl in which others have its paragraphs.
fn originals_and_copies(sandbox: &Sandbox) {
    let paragraphs = [words("harbour", 40), words("ledger", 40)];
    let shared = paragraphs.join("\n\n");
    let pages: Vec<Value> = (0..8)
        .map(|at| {
            let own = words(&format!("own{at}x"), 40);
            json!({ "url": format!("http://copy{at}.example/"), "text": format!("{shared}\n\n{own}") })
        })
        .collect();
    sandbox.write("pages.jsonl", lines(&pages));
    let mine = json!({ "url": "http://mine.example/", "text": shared });
    sandbox.write("mine.jsonl", lines(&[mine]));
    sandbox.succeed(&["index", "pages.jsonl", "-o", "c.cento"]);
}

#[test]
fn trials_leave_the_report_as_it_is() {
    let sandbox = Sandbox::new();
    originals_and_copies(&sandbox);
    sandbox.succeed(&["scan", "c.cento"]);
    sandbox.succeed(&["detect", "c.cento", "--against", "mine.jsonl"]);
    let before = report(&sandbox, "c.cento");
    let inject = ["trial", "inject", "c.cento", "--inject", "mine.jsonl"];
    sandbox.succeed(&[&inject[..], &["--copies", "1,10"]].concat());
    assert_eq!(report(&sandbox, "c.cento"), before);
    sandbox.succeed(&["trial", "mutate", "c.cento", "--runs", "1"]);
    assert_eq!(report(&sandbox, "c.cento"), before);
    assert!(!before.contains("trial"), "{before}");
}

#[test]
fn a_report_has_no_results_of_a_trial_until_a_command_asks_for_them() {
    let sandbox = Sandbox::new();
    originals_and_copies(&sandbox);
    let refused = sandbox.run(&["report", "c.cento"]);
    assert!(
        refused.contains("no findings that a report shows"),
        "{refused}"
    );
    sandbox.succeed(&["trial", "mutate", "c.cento", "--runs", "1", "--blind", "6"]);
    let refused = sandbox.run(&["report", "c.cento"]);
    assert!(
        refused.contains("no findings that a report shows"),
        "{refused}"
    );
    let discover = ["discover", "c.cento", "--more-than", "6", "-o", "a.labels"];
    sandbox.succeed(&discover);
    let said = report(&sandbox, "c.cento");
    assert!(said.contains("occur more than 6 times"), "{said}");
    assert!(
        said.contains("Run by: cento discover c.cento --more-than 6"),
        "{said}"
    );
}

#[test]
fn a_step_of_an_analysis_does_not_replace_what_was_asked_for() {
    let sandbox = Sandbox::new();
    originals_and_copies(&sandbox);
    sandbox.succeed(&["copies", "c.cento", "--resemblance", "0.5"]);
    sandbox.succeed(&["quilts", "c.cento", "--collapse"]);
    let asked = "This section alone: cento copies c.cento --resemblance 0.5";
    let said = report(&sandbox, "c.cento");
    assert!(said.contains(asked), "{said}");
    // A scan computes the labels that it searches for.
    sandbox.succeed(&["discover", "c.cento", "--more-than", "1", "-o", "a.labels"]);
    sandbox.succeed(&["scan", "c.cento", "--only", "detect"]);
    let said = report(&sandbox, "c.cento");
    assert!(said.contains("occur more than 1 time."), "{said}");
    // What was only a step is shown once it is asked for.
    sandbox.succeed(&["copies", "c.cento"]);
    let said = report(&sandbox, "c.cento");
    assert!(
        said.contains("This section alone: cento copies c.cento ") && !said.contains(asked),
        "{said}"
    );
    // A cached result of a scan is what was asked for last.
    sandbox.succeed(&["copies", "c.cento", "--resemblance", "0.5"]);
    sandbox.succeed(&["scan", "c.cento", "--only", "copies"]);
    let said = report(&sandbox, "c.cento");
    assert!(!said.contains(asked), "{said}");
}

/// An essay of 2001, reviews of 2010 to 2014 that quote a paragraph each, and other pages.
fn essay_and_reviews() -> Vec<Value> {
    let paragraph = |at: usize| words(&format!("essay{at}x"), 50);
    let essay: Vec<String> = (0..5).map(paragraph).collect();
    let mut pages = vec![json!({
        "url": "https://author.example/essay", "date": "2001-05-03", "text": essay.join("\n\n"),
    })];
    for at in 0..5 {
        let own = words(&format!("review{at}x"), 60);
        pages.push(json!({
            "url": format!("https://critic{at}.example/review"),
            "date": format!("201{at}-05-03"),
            "text": format!("{own}\n\n{}", paragraph(at)),
        }));
    }
    pages
}

/// Five sources of 2005, and a digest of 2019 that consists of their paragraphs.
fn sources_and_digest() -> Vec<Value> {
    let paragraph = |at: usize| words(&format!("source{at}x"), 50);
    let digest: Vec<String> = (0..5).map(paragraph).collect();
    let mut pages = vec![json!({
        "url": "https://digest.example/", "date": "2019-05-03", "text": digest.join("\n\n"),
    })];
    for at in 0..5 {
        let own = words(&format!("other{at}x"), 60);
        pages.push(json!({
            "url": format!("https://source{at}.example/"),
            "date": format!("200{at}-05-03"),
            "text": format!("{}\n\n{own}", paragraph(at)),
        }));
    }
    pages
}

#[test]
fn an_author_is_not_shown_as_a_quilt_of_those_who_quote_him() {
    let sandbox = Sandbox::new();
    sandbox.write("q.jsonl", lines(&essay_and_reviews()));
    let scan = said(
        &sandbox,
        &["scan", "q.jsonl", "-o", "q.cento", "--only", "quilts"],
    );
    let html = report(&sandbox, "q.cento");
    let had_it = "By the dates, others may have quoted the quilt: more than half of what it shares \
                  is otherwise only on later pages, or all of its sources are later.";
    for text in [&scan, &html] {
        assert!(text.contains(had_it), "{text}");
        assert!(!text.contains("For example"), "{text}");
    }
    assert!(html.contains("5 pages have different parts of it, the largest of which is on "));
    let all = "By their dates, all 5 sources are later than the page.";
    // Once in the opening finding, and once beside the excerpt.
    assert_eq!(html.matches(all).count(), 2, "{html}");
    assert_eq!(html.matches(had_it).count(), 2, "{html}");
}

#[test]
fn the_example_of_a_quilt_is_one_that_is_later_than_its_sources() {
    let sandbox = Sandbox::new();
    let mut pages = essay_and_reviews();
    pages.extend(sources_and_digest());
    sandbox.write("q.jsonl", lines(&pages));
    let scan = said(
        &sandbox,
        &["scan", "q.jsonl", "-o", "q.cento", "--only", "quilts"],
    );
    assert!(
        scan.contains("By the dates, others may have quoted 1 of the 2 quilts: "),
        "{scan}"
    );
    assert!(
        scan.contains("For example, of the distinct 5-grams of https://digest.example/"),
        "{scan}"
    );
    assert!(
        scan.contains("Dates of 5 sources: 5 earlier than the page, 0 later."),
        "{scan}"
    );
}

#[test]
fn links_of_plain_text_are_unknown_and_not_absent() {
    let sandbox = Sandbox::new();
    sandbox.write("t.jsonl", lines(&sources_and_digest()));
    let linking: Vec<Value> = sources_and_digest()
        .into_iter()
        .map(|page| {
            let text = page["text"].as_str().unwrap().replace("\n\n", "</p><p>");
            let html = format!("<p>{text}</p><a href=\"https://elsewhere.example/\">more</a>");
            json!({ "url": page["url"], "date": page["date"], "html": html })
        })
        .collect();
    sandbox.write("h.jsonl", lines(&linking));
    let unknown = "Whether quilts link to pages of other domains is unknown";
    let none = "No quilt links to pages of other domains";
    for (name, there, absent) in [("t", unknown, none), ("h", none, unknown)] {
        let corpus = format!("{name}.cento");
        sandbox.succeed(&["index", &format!("{name}.jsonl"), "-o", &corpus]);
        let quilts = said(&sandbox, &["quilts", &corpus]);
        let scan = said(&sandbox, &["scan", &corpus, "--only", "quilts"]);
        let html = report(&sandbox, &corpus);
        assert_eq!(
            quilts.contains("attributed unknown"),
            name == "t",
            "{quilts}"
        );
        assert!(scan.contains(there) && html.contains(there), "{html}");
        assert!(!scan.contains(absent) && !html.contains(absent), "{html}");
        assert_eq!(
            html.contains("of these it links to such a page"),
            name == "h",
            "{html}"
        );
    }
}

#[test]
fn reuse_counts_pages_with_the_same_fingerprints_in_one_way() {
    let sandbox = Sandbox::new();
    let story = words("story", 200);
    let pages: Vec<Value> = (0..8)
        .map(|at| {
            // Four pages have the same text, and four have some of their own.
            let own = match at {
                0..4 => String::new(),
                _ => words(&format!("own{at}x"), 40),
            };
            json!({ "url": format!("https://paper{at}.example/"), "text": format!("{story} {own}") })
        })
        .collect();
    sandbox.write("n.jsonl", lines(&pages));
    let scan = said(
        &sandbox,
        &["scan", "n.jsonl", "-o", "n.cento", "--only", "reuse"],
    );
    assert!(
        scan.contains("8 pages have at least 50.0 % of their fingerprints in another page"),
        "{scan}"
    );
    assert!(
        scan.contains("8 are in a pair in which both pages share 50.0 % or more"),
        "{scan}"
    );
    assert!(scan.contains("28 pairs by style: 28 reuse."), "{scan}");
    let rows = sandbox
        .succeed(&["reuse", "n.cento", "--json"])
        .lines()
        .count();
    let sentence = format!(
        "The table of pairs has {rows} rows: pages with the same fingerprints are one page in it."
    );
    assert!(rows < 28 && scan.contains(&sentence), "{rows}: {scan}");
}

#[test]
fn files_without_a_host_are_on_no_site() {
    let sandbox = Sandbox::new();
    let notice = words("notice", 60);
    for at in 0..6 {
        let own = words(&format!("own{at}x"), 30);
        sandbox.write(&format!("d/{at}.txt"), format!("{notice}\n\n{own}\n"));
    }
    let said = said(&sandbox, &["phrases", "d", "--collapse=no"]);
    assert!(said.contains("sites 0 by host"), "{said}");
    let rows = said.split_once("for example").unwrap().1;
    assert!(rows.contains(" 6 0 d/0.txt"), "{said}");
    let clusters = sandbox.succeed(&["passages", "d", "--clusters"]);
    assert!(clusters.contains("sites"), "{clusters}");
}

#[test]
fn commands_of_a_report_have_the_options_of_the_run() {
    let sandbox = Sandbox::new();
    originals_and_copies(&sandbox);
    sandbox.succeed(&["discover", "c.cento", "--more-than", "1", "-o", "a.labels"]);
    let html = report(&sandbox, "c.cento");
    let next = "cento discover c.cento --more-than 1 -o found.labels && cento labels review";
    assert!(html.contains(next), "{html}");

    let mine = json!({ "question": words("harbour", 40) });
    sandbox.write("items.jsonl", lines(&[mine]));
    let contamination = [
        "contamination",
        "c.cento",
        "--against",
        "items.jsonl",
        "--against-field",
        "text=question",
    ];
    sandbox.succeed(&contamination);
    let html = report(&sandbox, "c.cento");
    let command = "cento contamination c.cento --against items.jsonl --against-field text=question";
    for after in [" --out items.csv", " --filter -o clean/", " Tables:"] {
        assert!(
            html.contains(&format!("{command}{after}")),
            "{after}: {html}"
        );
    }
    sandbox.succeed(&[&contamination[..], &["--out", "items.csv"]].concat());

    sandbox.succeed(&[
        "detect",
        "c.cento",
        "--against",
        "mine.jsonl",
        "--min-length",
        "50",
    ]);
    let html = report(&sandbox, "c.cento");
    let command = "This section alone: cento detect c.cento --against mine.jsonl --min-length 50 ";
    assert!(html.contains(command), "{html}");
    assert!(
        !html.contains("search for copies of your own pages"),
        "{html}"
    );
    assert!(!html.contains("LABELS"), "{html}");
}

#[test]
fn a_report_about_files_calls_them_files() {
    let sandbox = Sandbox::new();
    let page =
        |at: usize, text: &str| json!({ "url": format!("http://s{at}.example/"), "text": text });
    let same = words("same", 40);
    let mut pages: Vec<Value> = (0..3).map(|at| page(at, &same)).collect();
    pages.push(page(4, &words("other", 40)));
    sandbox.write("p.jsonl", lines(&pages));
    sandbox.succeed(&["index", "p.jsonl", "-o", "p.cento"]);
    let discover = [
        "discover",
        "p.cento",
        "--unit",
        "files",
        "--more-than",
        "1",
        "-o",
        "f.labels",
    ];
    sandbox.succeed(&discover);
    sandbox.succeed(&["detect", "p.cento", "--labels", "f.labels"]);
    let html = report(&sandbox, "p.cento");
    for sentence in [
        "Frequent files",
        "Pages and sites with repeated files",
        "3 of 4 pages (75.0 %) are repeated files.",
        "http://s0.example/ 3 3",
        "cento discover p.cento --unit files --more-than 1 -o found.labels && cento labels review",
        "cento detect p.cento --labels f.labels",
    ] {
        assert!(html.contains(sentence), "{sentence}: {html}");
    }
    for wrong in [
        "repeated chunks",
        "frequent chunks",
        "Frequent chunks",
        "of the chunks are",
    ] {
        assert!(!html.contains(wrong), "{wrong}: {html}");
    }
}

#[test]
fn the_index_of_a_short_text_is_not_a_share_of_it() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a.txt", words("one", 12));
    sandbox.succeed(&["index", "d", "-o", "d.cento"]);
    let said = sandbox.run(&["query", "d.cento", "d/a.txt"]);
    let note = said
        .lines()
        .find(|line| line.contains("built the query index"))
        .unwrap();
    assert!(!note.contains('%'), "{note}");
}
