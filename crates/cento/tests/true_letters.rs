//! What letters of `detect --evidence`, skip lists and samples say, on inputs on which they were
//! false or silent.

mod support;

use serde_json::{Value, json};
use support::{Archive, Sandbox};

/// Returns `count` words that no other `seed` has.
fn prose(seed: u64, count: u64) -> String {
    let words: Vec<String> = (0..count).map(|at| format!("w{seed}x{at}")).collect();
    format!("{}.", words.join(" "))
}

fn lines(pages: &[Value]) -> String {
    pages.iter().map(|page| format!("{page}\n")).collect()
}

/// Returns the text of a file of evidence without markup, in one line.
fn letter(sandbox: &Sandbox, name: &str) -> String {
    let html = std::fs::read_to_string(sandbox.path(&format!("letters/{name}.html")));
    let mut text = String::new();
    let mut in_tag = false;
    for letter in html.unwrap_or_default().chars() {
        match letter {
            '<' => in_tag = true,
            '>' => in_tag = false,
            letter if !in_tag => text.push(letter),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn write_letters(sandbox: &Sandbox, pages: &str, originals: &str) -> String {
    sandbox.succeed(&[
        "detect",
        pages,
        "--against",
        originals,
        "--evidence",
        "letters",
    ])
}

#[test]
fn letters_count_the_words_that_both_have_and_not_those_between_them() {
    let sandbox = Sandbox::new();
    // Six words of the second paragraph are others: a passage with an edit.
    let (first, second) = (prose(1, 60), prose(2, 60));
    let edited: Vec<String> = (0..)
        .zip(second.split(' '))
        .map(|(at, word)| match at {
            30..36 => format!("other{at}"),
            _ => word.to_owned(),
        })
        .collect();
    let original = json!({ "url": "http://mine.example/", "text": format!("{first}\n\n{second}") });
    let page = format!("{first}\n\n{}", edited.join(" "));
    sandbox.write("mine.jsonl", lines(&[original]));
    sandbox.write(
        "pages.jsonl",
        lines(&[json!({ "url": "http://copy.example/", "text": page })]),
    );
    write_letters(&sandbox, "pages.jsonl", "mine.jsonl");
    let said = letter(&sandbox, "copy.example");
    assert!(said.contains("114 words of the reference text"), "{said}");
    assert!(said.contains("114 words in common"), "{said}");
    assert!(letter(&sandbox, "index").contains("114"));
}

#[test]
fn a_letter_about_one_original_counts_all_chunks_that_it_has() {
    let sandbox = Sandbox::new();
    let [shared, one, two] = [1, 2, 3].map(|seed| prose(seed, 30));
    sandbox.write(
        "mine.jsonl",
        lines(&[
            json!({ "url": "http://mine.example/a", "text": format!("{shared}\n\n{one}") }),
            json!({ "url": "http://mine.example/b", "text": format!("{shared}\n\n{two}") }),
        ]),
    );
    let page = format!("{shared}\n\n{one}\n\n{two}\n\n{}", prose(4, 30));
    sandbox.write(
        "pages.jsonl",
        lines(&[json!({ "url": "http://copy.example/", "text": page })]),
    );
    write_letters(&sandbox, "pages.jsonl", "mine.jsonl");
    let said = letter(&sandbox, "copy.example");
    // Half of the page is in each original, although one chunk is attributed to the first only.
    let each = "50.0 % of the chunks of the page, without stop chunks, are chunks of the reference \
                text that were searched for. 100.0 % of the chunks of the reference text";
    assert_eq!(said.matches(each).count(), 2, "{said}");
}

#[test]
fn pages_and_originals_that_share_text_are_counted_whether_attributed_or_not() {
    let sandbox = Sandbox::new();
    let common = prose(1, 30);
    let page = |site: &str, at: u64| {
        let url = format!("http://{site}{at}.example/");
        json!({ "url": url, "text": format!("{common}\n\n{}", prose(1000 + at, 20)) })
    };
    let originals: Vec<Value> = (0..300).map(|at| page("mine", at)).collect();
    let mut pages: Vec<Value> = (500..504).map(|at| page("copy", at)).collect();
    pages.push(page("both", 7));
    sandbox.write("mine.jsonl", lines(&originals));
    sandbox.write("pages.jsonl", lines(&pages));
    sandbox.succeed(&["index", "pages.jsonl", "-o", "c.cento"]);
    write_letters(&sandbox, "c.cento", "mine.jsonl");
    let index = letter(&sandbox, "index");
    assert!(
        index.contains("5 sites share text with the reference texts."),
        "{index}"
    );
    assert!(index.contains("4 of them are not listed"), "{index}");
    sandbox.succeed(&["report", "c.cento"]);
    let report = std::fs::read_to_string(sandbox.path("c.cento/report.html")).unwrap();
    let said = "5 of 5 pages, on 5 hosts, share text with 300 of your 300 originals.";
    assert!(report.contains(said), "{report}");
    assert!(report.contains("4 pages have only chunks of more than 256 originals"));
}

#[test]
fn canonical_addresses_quotations_frames_and_tracked_links_are_links() {
    let sandbox = Sandbox::new();
    let text = prose(1, 120);
    let mine = "https://mine.example/a";
    sandbox.write("mine.jsonl", lines(&[json!({ "url": mine, "text": text })]));
    let mut archive = Archive::gzip();
    for (site, head, tail) in [
        (
            "canonical",
            format!("<link rel=canonical href='{mine}'>"),
            String::new(),
        ),
        (
            "block",
            String::new(),
            format!("<blockquote cite='{mine}'>x</blockquote>"),
        ),
        ("quote", String::new(), format!("<q cite='{mine}'>x</q>")),
        (
            "frame",
            String::new(),
            format!("<iframe src='{mine}'></iframe>"),
        ),
        (
            "utm",
            String::new(),
            format!("<a href='{mine}?utm_source=rss'>x</a>"),
        ),
        (
            "click",
            String::new(),
            format!("<a href='{mine}?fbclid=1'>x</a>"),
        ),
        ("none", String::new(), "<p>x".to_owned()),
    ] {
        let html = format!(
            "<!doctype html><html><head><title>t</title>{head}</head><body><p>{text}</p>{tail}"
        );
        archive.page(&format!("http://{site}.example/"), &html);
    }
    sandbox.write("pages.warc.gz", &archive.bytes);
    write_letters(&sandbox, "pages.warc.gz", "mine.jsonl");
    for site in ["canonical", "block", "quote", "frame", "utm", "click"] {
        let said = letter(&sandbox, &format!("{site}.example"));
        assert!(
            said.contains("The page links to the reference text."),
            "{site}: {said}"
        );
    }
    let said = letter(&sandbox, "none.example");
    assert!(
        said.contains("The page has no link to the reference text"),
        "{said}"
    );
}

#[test]
fn a_skip_list_does_not_skip_a_url_for_another_spelling_of_it() {
    let sandbox = Sandbox::new();
    let mut pages = Vec::new();
    for (at, one, other) in [
        (1, "http://a.example/1#x", "http://a.example/1"),
        (2, "http://a.example:80/2", "http://a.example/2"),
        (3, "http://A.EXAMPLE/3", "http://a.example/3"),
    ] {
        for (day, url) in [(1, one), (2, other)] {
            let date = format!("2020-01-0{day}");
            pages.push(json!({ "url": url, "text": prose(at, 60), "date": date }));
        }
    }
    sandbox.write("pages.jsonl", lines(&pages));
    let said = sandbox.succeed(&["copies", "pages.jsonl", "--skip-list", "skip.tsv"]);
    let list = std::fs::read_to_string(sandbox.path("skip.tsv")).unwrap();
    assert_eq!(list.lines().count(), 1, "{list}");
    assert!(said.contains("recaptures      3"), "{said}");
}

#[test]
fn a_folder_of_duplicates_is_skipped_as_a_prefix_whatever_else_its_site_has() {
    let sandbox = Sandbox::new();
    let mut pages = Vec::new();
    for at in 0..6 {
        for (year, site) in [(2020, "first"), (2021, "second")] {
            let url = format!("https://{site}.example/art/{at}");
            pages.push(
                json!({ "url": url, "text": prose(at, 60), "date": format!("{year}-01-01") }),
            );
        }
        let url = format!("https://second.example/ads/{at}");
        pages.push(json!({ "url": url, "text": prose(100 + at, 60), "date": "2021-01-01" }));
    }
    sandbox.write("pages.jsonl", lines(&pages));
    sandbox.succeed(&["copies", "pages.jsonl", "--skip-list", "skip.tsv"]);
    let list = std::fs::read_to_string(sandbox.path("skip.tsv")).unwrap();
    let rules: Vec<&str> = list.lines().skip(1).collect();
    assert_eq!(
        rules,
        ["prefix\tsecond.example/art/\tfirst.example/art/"],
        "{list}"
    );
}

#[test]
fn a_share_that_ends_a_bin_counts_as_at_most_this_share() {
    let sandbox = Sandbox::new();
    let label = prose(1, 40);
    let mine = json!({ "url": "http://mine.example/", "text": label });
    let page = |at: u64| {
        let text = format!("{label}\n\n{}", prose(2 + at, 40));
        json!({ "url": format!("http://{at}.example/"), "text": text })
    };
    sandbox.write("mine.jsonl", lines(&[mine]));
    sandbox.write("pages.jsonl", lines(&[page(0), page(1)]));
    sandbox.succeed(&[
        "detect",
        "pages.jsonl",
        "--against",
        "mine.jsonl",
        "--figures",
        "figures",
    ]);
    let table = std::fs::read_to_string(sandbox.path("figures/badness-cumulative.csv")).unwrap();
    let half: Vec<&str> = table.lines().filter(|row| row.contains(",0.5,")).collect();
    assert!(
        half.len() == 2 && half.iter().all(|row| row.ends_with(",1")),
        "{table}"
    );
}

#[test]
fn an_empty_sample_says_why_it_is_empty() {
    let sandbox = Sandbox::new();
    let page = |at: u64| json!({ "url": format!("http://{at}.example/"), "text": prose(at, 60) });
    sandbox.write("pages.jsonl", lines(&[page(1), page(2)]));
    sandbox.write("mine.jsonl", lines(&[page(3)]));
    for (command, reason) in [
        (
            vec!["detect", "pages.jsonl", "--against", "mine.jsonl"],
            "note: no neighbourhood is flagged",
        ),
        (vec!["quilts", "pages.jsonl"], "note: there are no quilts"),
        (
            vec!["discover", "pages.jsonl", "-o", "x.labels"],
            "note: there are no labels",
        ),
    ] {
        let said = sandbox.run(&[&command[..], &["--sample", "3"]].concat());
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn the_most_frequent_labels_say_how_many_others_are_as_frequent() {
    let sandbox = Sandbox::new();
    let [one, two, three] = [1, 2, 3].map(|seed| prose(seed, 30));
    let page = |at: u64| {
        let text = format!("{one}\n\n{two}\n\n{three}\n\n{}", prose(10 + at, 30));
        json!({ "url": format!("http://{at}.example/"), "text": text })
    };
    sandbox.write("pages.jsonl", lines(&[page(0), page(1)]));
    let said = |most: &str| {
        let discover = [
            "discover",
            "pages.jsonl",
            "-o",
            "x.labels",
            "--most-frequent",
        ];
        sandbox.succeed(&[&discover[..], &[most]].concat())
    };
    let two = said("2");
    let ties = "the 2 most frequent; 1 other occurs as often as the last of these, 2 times";
    assert!(two.contains(ties), "{two}");
    let all = said("100");
    assert!(all.contains("all that occur more than once"), "{all}");
    assert!(said("3").contains("the 3 most frequent\n"), "{}", said("3"));
}

#[test]
fn detection_without_own_hints_at_pages_that_may_be_the_originals() {
    let sandbox = Sandbox::new();
    let page = json!({ "url": "http://mine.example/", "text": prose(1, 60) });
    sandbox.write("pages.jsonl", lines(&[page]));
    let said = sandbox.succeed(&["detect", "pages.jsonl", "--against", "pages.jsonl"]);
    let hint = "1 of these pairs is on one domain: --own DOMAIN ignores your own pages.";
    assert!(said.contains(hint), "{said}");
}

#[test]
fn a_date_that_cannot_be_right_is_not_called_absent() {
    let sandbox = Sandbox::new();
    let text = prose(1, 40);
    let page = json!({ "url": "http://a.example/1", "date": "2150-01-01", "text": text });
    sandbox.write("pages.jsonl", lines(&[page]));
    sandbox.write("mine.txt", text);
    write_letters(&sandbox, "pages.jsonl", "mine.txt");
    let said = letter(&sandbox, "a.example");
    let published = said.matches("according to the pagenone that cento could use");
    assert_eq!(published.count(), 2, "{said}");
    assert!(said.contains("no usable date"), "{said}");
}

#[test]
fn a_link_to_the_domain_of_an_original_names_the_page_that_is_not_linked() {
    let sandbox = Sandbox::new();
    let text = prose(1, 40);
    let html = format!("<p>{text}</p><a href=\"http://mine.example/other\">source</a>");
    let page = json!({ "url": "http://a.example/1", "html": html });
    sandbox.write("pages.jsonl", lines(&[page]));
    let mine = json!({ "url": "http://mine.example/essay", "text": text });
    sandbox.write("mine.jsonl", lines(&[mine]));
    write_letters(&sandbox, "pages.jsonl", "mine.jsonl");
    let said = letter(&sandbox, "a.example");
    assert!(
        said.contains(
            "The page links to the domain of the reference text, but not to the reference text \
             itself."
        ),
        "{said}"
    );
}
