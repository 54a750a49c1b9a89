//! Sentences and counts that were false of some corpus: each test is a corpus on which one of them
//! was.

mod support;

use serde_json::{Value, json};
use support::Sandbox;

/// Returns `count` words that no other `seed` has in this order, in sentences of ten.
fn prose(seed: u64, count: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (onsets, vowels) = (
        ["b", "d", "f", "l", "m", "r", "st", "tr"],
        ["a", "e", "i", "o"],
    );
    let mut words = Vec::new();
    for at in 0..count {
        let syllables = 2 + next(2);
        let mut word: String = (0..syllables)
            .map(|_| format!("{}{}", onsets[next(8)], vowels[next(4)]))
            .collect();
        if at % 10 == 9 || at + 1 == count {
            word.push('.');
        }
        words.push(word);
    }
    words.join(" ")
}

fn lines(pages: &[Value]) -> String {
    pages.iter().map(|page| format!("{page}\n")).collect()
}

/// Returns the text of a report without markup, in one line.
fn report(sandbox: &Sandbox, corpus: &str) -> String {
    let html = std::fs::read_to_string(sandbox.path(corpus).join("report.html"));
    let html = html.unwrap_or_default();
    let mut text = String::new();
    let mut in_tag = false;
    for letter in html.chars() {
        match letter {
            '<' => in_tag = true,
            '>' => in_tag = false,
            letter if !in_tag => text.push(letter),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A page with an HTTP response in a WARC file.
fn archived(url: &str, fetched: &str, published: &str, text: &str) -> String {
    let body = format!(
        "<html><head><meta property=\"article:published_time\" content=\"{published}\"></head>\
         <body><p>{}</p></body></html>",
        text.replace("\n\n", "</p><p>")
    );
    let http = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n\
         {body}",
        body.len()
    );
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {fetched}\r\n\
         WARC-Record-ID: <urn:uuid:{url}>\r\nContent-Type: application/http; msgtype=response\r\n\
         Content-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    )
}

#[test]
fn a_page_that_states_a_date_after_its_fetch_is_not_called_the_later_one() {
    let sandbox = Sandbox::new();
    let shared = prose(1, 120);
    let page = |seed: u64| format!("{shared}\n\n{}", prose(seed, 60));
    let records = [
        archived(
            "http://original.example/a",
            "2019-03-03T10:00:00Z",
            "2099-01-05T08:00:00Z",
            &page(2),
        ),
        archived(
            "http://copy.example/b",
            "2023-03-03T10:00:00Z",
            "2022-05-05T08:00:00Z",
            &page(3),
        ),
    ];
    sandbox.write("crawl.warc", records.concat());
    let said = sandbox.succeed(&["passages", "crawl.warc"]);
    assert!(
        said.contains(
            "The second page was fetched before the first was published (fetched 2019-03-03; the \
             first: published 2022-05-05)."
        ),
        "{said}"
    );
}

/// Returns what is said about the dates of two pages that share a passage.
fn said_of_dates(one: &str, other: &str) -> String {
    let sandbox = Sandbox::new();
    let shared = prose(1, 120);
    let page = |at: u64, date: &str| {
        let text = format!("{shared}\n\n{}", prose(2 + at, 60));
        json!({ "url": format!("http://{at}.example/"), "text": text, "date": date })
    };
    sandbox.write("pages.jsonl", lines(&[page(0, one), page(1, other)]));
    let said = sandbox.succeed(&["passages", "pages.jsonl"]);
    let line = said
        .lines()
        .find(|line| line.contains("date") && line.ends_with('.'));
    line.or_else(|| said.lines().find(|line| line.contains("published")))
        .unwrap_or_default()
        .trim()
        .to_owned()
}

#[test]
fn dates_are_named_as_precisely_as_they_decide() {
    for (one, other, expected) in [
        (
            "2024",
            "2024-06-15",
            "Their dates do not say which is earlier (published 2024-06-15; published 2024 or 2024-01-01).",
        ),
        (
            "2024-03-01",
            "2024-03-20",
            "Their dates do not say which is earlier (published 2024-03-20; published 2024-03 or 2024-03-01).",
        ),
        // Nobody knows whether both are the first of January.
        (
            "2024",
            "2024-01-01",
            "Their dates do not say which is earlier (published 2024 or 2024-01-01; published 2024 or 2024-01-01).",
        ),
        (
            "2024-03-05",
            "2024-03-05",
            "Both have the same date (published 2024-03-05; published 2024-03-05).",
        ),
        // A time without a zone is that of some place, and a day begins somewhere else before.
        (
            "2020-05-06T12:00:00Z",
            "2020-05-06T10:00:00",
            "Their dates do not say which is earlier (published 2020-05-06T12:00:00Z; published 2020-05-06).",
        ),
        (
            "2020-05-06",
            "2020-05-05T20:00:00Z",
            "Their dates do not say which is earlier (published 2020-05-06; published 2020-05-05T20:00:00Z).",
        ),
        (
            "2999-12-31",
            "2021-05-05",
            "Their dates do not say which is earlier (no date; published 2021-05-05).",
        ),
        // The times decide, so they are shown.
        (
            "2024-03-05T10:30:00Z",
            "2024-03-05T08:00:00Z",
            "The second page was published earlier than the first (published \
             2024-03-05T08:00:00Z; the first: published 2024-03-05T10:30:00Z).",
        ),
    ] {
        assert_eq!(said_of_dates(one, other), expected);
    }
}

#[test]
fn a_page_without_known_links_is_not_said_to_lack_one() {
    let sandbox = Sandbox::new();
    let shared = prose(1, 120);
    let url = |name: &str| format!("http://{name}.example/");
    sandbox.write(
        "mine.jsonl",
        lines(&[json!({ "url": url("mine"), "text": shared, "date": "2020-01-01" })]),
    );
    sandbox.write(
        "pages.jsonl",
        lines(&[
            json!({ "url": url("plain"), "text": format!("{shared}\n\nSee http://mine.example/") }),
            json!({ "url": url("linked"), "html": format!("<p>{shared}<p><a href='http://o.example/'>o</a>") }),
        ]),
    );
    let detect = ["detect", "pages.jsonl", "--against", "mine.jsonl"];
    sandbox.succeed(&[&detect[..], &["--evidence", "letters"]].concat());
    let said = |site: &str| {
        std::fs::read_to_string(sandbox.path(&format!("letters/{site}.html"))).unwrap()
    };
    let plain = "Only the text of the page was read, so its links are not known.";
    let linked = "The page has no link to the reference text or to another page of its domain.";
    assert!(said("plain.example").contains(plain));
    assert!(said("linked.example").contains(linked));
    // What the page states is quoted as far as it is known.
    assert!(said("plain.example").contains("2020 or 2020-01-01"));
    sandbox.succeed(&["passages", "pages.jsonl", "--out", "passages.csv"]);
    let rows = std::fs::read_to_string(sandbox.path("passages.csv")).unwrap();
    let mut rows = rows.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let columns = rows.next().unwrap();
    let value = |row: &[&str], name: &str| {
        row[columns.iter().position(|column| *column == name).unwrap()].to_owned()
    };
    for row in rows {
        let expected = if value(&row, "a").contains("plain") {
            ""
        } else {
            "false"
        };
        assert_eq!(value(&row, "attributed"), expected);
    }
}

#[test]
fn a_passage_without_dates_has_no_earliest_page() {
    let sandbox = Sandbox::new();
    let shared = prose(1, 90);
    let page = |at: u64| {
        let text = format!("{shared}\n\n{}", prose(2 + at, 60));
        json!({ "url": format!("http://{at}.example/"), "text": text })
    };
    let pages: Vec<Value> = (0..4).map(page).collect();
    sandbox.write("pages.jsonl", lines(&pages));
    let said = sandbox.succeed(&["passages", "pages.jsonl", "--clusters"]);
    let row = said.lines().find(|line| line.ends_with("unknown"));
    let row = row.unwrap_or_default();
    assert!(
        said.contains("page of that earliest date") && row.ends_with("unknown"),
        "{said}"
    );
    assert!(!row.contains("http://0.example/"), "{said}");
}

#[test]
fn domains_without_known_addresses_are_not_called_one_server() {
    let sandbox = Sandbox::new();
    let mut pages = Vec::new();
    for at in 0..6 {
        for host in ["press.example", "www.press.example", "stranger.test"] {
            let url = format!("http://{host}/{at}.html");
            pages.push(json!({ "url": url, "text": prose(at, 80) }));
        }
    }
    sandbox.write("pages.jsonl", lines(&pages));
    let said = sandbox.succeed(&["copies", "pages.jsonl"]);
    let line = |name: &str| {
        let found = said.lines().find(|line| line.trim().starts_with(name));
        found.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    assert_eq!(
        line("server aliases").as_deref(),
        Some("server aliases 6 hosts with the same paths, and one address or domain")
    );
    assert_eq!(line("replicas").as_deref(), Some("replicas 6 elsewhere"));
}

#[test]
fn a_quilt_may_share_most_of_its_text_with_its_own_site() {
    let sandbox = Sandbox::new();
    let own = prose(1, 300);
    let patches: Vec<String> = (0..4).map(|at| prose(10 + at, 40)).collect();
    let quilt = format!("{own}\n\n{}\n\n{}", patches.join("\n\n"), prose(2, 60));
    let mut pages = vec![
        json!({ "url": "http://a.example/quilt", "text": quilt }),
        json!({ "url": "http://a.example/other", "text": format!("{own}\n\n{}", prose(3, 400)) }),
    ];
    for (at, patch) in patches.iter().enumerate() {
        let text = format!("{patch}\n\n{}", prose(20 + at as u64, 200));
        pages.push(json!({ "url": format!("http://s{at}.example/"), "text": text }));
    }
    sandbox.write("pages.jsonl", lines(&pages));
    sandbox.succeed(&["scan", "pages.jsonl", "-o", "pages.cento"]);
    let said = report(&sandbox, "pages.cento");
    // 160 of 520 words: a quarter or so.
    assert!(
        said.contains(
            "1 of 6 pages (16.7 %, duplicates excluded) is a quilt: at least half of the distinct \
             5-grams of it are also on other pages, of its own domain or not, and four or more pages \
             of other domains have different ones."
        ),
        "{said}"
    );
    // The other sources share less than a tenth of the quilt, but they do share text.
    assert!(
        said.contains(
            "2 of 6 pages (33.3 %) share 10.0 % or more of their fingerprints with another \
             page, which shares as much of its own"
        ),
        "{said}"
    );
    assert!(!said.contains("a short page inside a long one"), "{said}");
    assert!(said.contains("5 pairs by style: 5 reuse."), "{said}");
}

#[test]
fn a_refrain_is_repeated_and_not_copied() {
    let sandbox = Sandbox::new();
    let refrain = "And so we sail across the wide and quiet sea, until the morning brings us home \
                   again to rest beside the fire.";
    let song: Vec<String> = (0..8)
        .map(|at| format!("{}\n\n{refrain}", prose(at, 30)))
        .collect();
    let mut pages = vec![json!({ "url": "http://song.example/", "text": song.join("\n\n") })];
    for at in 0..6 {
        let url = format!("http://{at}.example/");
        pages.push(json!({ "url": url, "text": prose(20 + at, 150) }));
    }
    sandbox.write("pages.jsonl", lines(&pages));
    let said = sandbox.succeed(&["scan", "pages.jsonl", "-o", "pages.cento"]);
    assert!(
        said.split_whitespace().collect::<Vec<_>>().join(" ").contains(
            "1 of 7 pages (14.3 %) has repeated chunks: 8 chunks in total, of the only frequent one \
             that does not look like boilerplate."
        ),
        "{said}"
    );
    let said = report(&sandbox, "pages.cento");
    assert!(!said.contains("copied chunk"), "{said}");
}

#[test]
fn pages_with_identical_text_count_once_on_both_sides_of_a_count() {
    let sandbox = Sandbox::new();
    let shared = prose(1, 80);
    let mut pages: Vec<Value> = (0..2)
        .map(|at| {
            let text = format!("{shared}\n\n{}", prose(2 + at, 90));
            json!({ "url": format!("http://{at}.example/"), "text": text })
        })
        .collect();
    for at in 0..6 {
        let url = format!("http://same.example/{at}");
        pages.push(json!({ "url": url, "text": prose(9, 90) }));
    }
    sandbox.write("pages.jsonl", lines(&pages));
    sandbox.succeed(&["scan", "pages.jsonl", "-o", "pages.cento"]);
    let said = report(&sandbox, "pages.cento");
    assert!(
        said.contains("2 of 3 pages (those with identical text counted once) share passages"),
        "{said}"
    );
    // A phrase on six identical pages is on one distinct page.
    assert!(
        said.contains("sampled from 5 or more pages (duplicates counted once), with 84 samples"),
        "{said}"
    );
    sandbox.write("same.jsonl", lines(&pages[2..]));
    let said = sandbox.succeed(&["scan", "same.jsonl", "-o", "same.cento"]);
    let none = "No passage of at least 160 characters was found on two pages with different texts.";
    assert!(said.contains(none), "{said}");
    // A page is not compared with itself, so it is not among the pages that could match.
    let said = sandbox.succeed(&["query", "pages.cento", "http://0.example/"]);
    assert!(said.contains("  1 of 7 other pages matches: "), "{said}");
}

#[test]
fn a_collection_of_pages_under_two_schemes_and_ports_has_a_name() {
    let sandbox = Sandbox::new();
    let mut pages = Vec::new();
    for at in 0..3 {
        for site in [
            "http://a.example",
            "https://a.example",
            "http://a.example:8080",
            "http://b.example",
        ] {
            pages.push(json!({ "url": format!("{site}/docs/{at}"), "text": prose(at, 80) }));
        }
    }
    sandbox.write("pages.jsonl", lines(&pages));
    let said = sandbox.succeed(&["overlap", "pages.jsonl", "--replication"]);
    let mut after = said
        .lines()
        .skip_while(|line| !line.starts_with("collections"));
    let heading = after.next().unwrap_or_default();
    assert!(
        heading.starts_with("collections on several hosts  hosts"),
        "{said}"
    );
    let row = after.next().unwrap_or_default();
    assert!(
        row.starts_with("  http://a.example/docs/ ")
            || row.starts_with("  https://a.example/docs/ "),
        "{said}"
    );
}

#[test]
fn evidence_counts_the_pages_that_were_compared() {
    let sandbox = Sandbox::new();
    let text = prose(1, 80);
    sandbox.write("mine/a.txt", &text);
    let pages = [
        json!({ "url": "http://mine.example/a", "text": text }),
        json!({ "url": "http://www.mine.example/a", "text": text }),
        json!({ "url": "http://copy.example/", "text": text, "date": "2023" }),
        json!({ "url": "http://other.example/", "text": prose(2, 80) }),
    ];
    sandbox.write("pages.jsonl", lines(&pages));
    let own = ["--own", "mine.example"];
    let against = [
        "detect",
        "pages.jsonl",
        "--against",
        "mine",
        "--evidence",
        "letters",
    ];
    sandbox.succeed(&[&against[..], &own[..]].concat());
    let letter = std::fs::read_to_string(sandbox.path("letters/copy.example.html"));
    let letter = letter.unwrap_or_default();
    assert!(
        letter.contains("2 pages from 1 input (pages.jsonl) were compared with 1 reference text"),
        "{letter}"
    );
    assert!(letter.contains(">2023 or 2023-01-01</dd>"), "{letter}");
}

#[test]
fn tables_that_are_cut_say_how_many_rows_are_missing() {
    let sandbox = Sandbox::new();
    let stock = format!("{}\n\n{}", prose(1, 40), prose(2, 40));
    let pages: Vec<Value> = (0..12)
        .map(|at| {
            let text = format!("{stock}\n\n{}", prose(10 + at, 60));
            json!({ "url": format!("http://{at}.example/"), "text": text })
        })
        .collect();
    sandbox.write("pages.jsonl", lines(&pages));
    sandbox.write("items.txt", &stock);
    sandbox.succeed(&["index", "pages.jsonl", "-o", "pages.cento"]);
    let more = |arguments: &[&str], rows: u64| {
        let said = sandbox.succeed(&[arguments, &["--top", "1"]].concat());
        assert!(said.contains(&format!("\n  and {rows} more\n")), "{said}");
    };
    more(&["discover", "pages.cento", "-o", "found.labels"], 1);
    more(&["detect", "pages.cento", "--labels", "found.labels"], 11);
    more(
        &["contamination", "pages.cento", "--against", "items.txt"],
        11,
    );
    // 76 phrases of 80 words.
    more(&["phrases", "pages.cento", "--exact"], 75);
}

#[test]
fn labels_that_became_stops_are_not_counted_as_labels() {
    let sandbox = Sandbox::new();
    let pages: Vec<Value> = (0..12)
        .map(|at| {
            let text = format!("{}\n\nRead on\n\n{}", prose(1, 40), prose(10 + at, 60));
            json!({ "url": format!("http://{at}.example/"), "text": text })
        })
        .collect();
    sandbox.write("pages.jsonl", lines(&pages));
    let said = sandbox.succeed(&[
        "discover",
        "pages.jsonl",
        "-o",
        "a.labels",
        "--stop-proposed",
    ]);
    assert!(
        said.starts_with("1 label of chunks in a.labels\n"),
        "{said}"
    );
    let said = sandbox.succeed(&["labels", "info", "a.labels"]);
    let labels = said.lines().nth(1).unwrap_or_default();
    assert_eq!(
        labels.split_whitespace().collect::<Vec<_>>(),
        ["labels", "1"]
    );
    // The advice names options that exist.
    let more = [
        "discover",
        "pages.jsonl",
        "-o",
        "b.labels",
        "--more-than",
        "500",
    ];
    let said = sandbox.succeed(&more);
    assert!(
        said.contains("try a lower --more-than, or --most-frequent 100"),
        "{said}"
    );
}

#[test]
fn equal_dates_do_not_count_as_dates_that_decide() {
    let sandbox = Sandbox::new();
    let patches: Vec<String> = (0..4).map(|at| prose(10 + at, 60)).collect();
    let day = "2024-03-05";
    let mut pages =
        vec![json!({ "url": "http://q.example/", "text": patches.join("\n\n"), "date": day })];
    for (at, patch) in patches.iter().enumerate() {
        let text = format!("{patch}\n\n{}", prose(20 + at as u64, 60));
        let date = if at == 0 { "2020-02-02" } else { day };
        let url = format!("http://s{at}.example/");
        pages.push(json!({ "url": url, "text": text, "date": date }));
    }
    sandbox.write("pages.jsonl", lines(&pages));
    let said = sandbox.succeed(&["quilts", "pages.jsonl"]);
    let line = said.lines().find(|line| line.contains("earlier sources"));
    let words: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
    assert_eq!(
        words.join(" "),
        "earlier sources 1 of 1 where dates decide, of 4 in all",
        "{said}"
    );
}

#[test]
fn a_page_without_a_host_is_no_url_alias() {
    let sandbox = Sandbox::new();
    let text = prose(1, 60);
    let pages = [
        json!({ "url": "http://a.example/x", "text": text }),
        json!({ "text": text }),
    ];
    sandbox.write("pages.jsonl", lines(&pages));
    let said = sandbox.succeed(&["copies", "pages.jsonl"]);
    assert!(said.contains("  url aliases     0"), "{said}");
    assert!(said.contains("  replicas        1"), "{said}");
}

#[test]
fn words_of_an_original_count_once_however_often_a_page_repeats_them() {
    let sandbox = Sandbox::new();
    let [one, two, three] = [1, 2, 3].map(|seed| prose(seed, 40));
    let own = |seed| prose(seed, 80);
    sandbox.write(
        "originals.jsonl",
        lines(&[
            json!({ "url": "http://o.example/0", "text": format!("{one}\n\n{two}") }),
            json!({ "url": "http://o.example/1", "text": three }),
        ]),
    );
    let refrain = [&three, &own(10), &three, &own(11), &three, &own(12)];
    let refrain = refrain.map(String::as_str).join("\n\n");
    sandbox.write(
        "pages.jsonl",
        lines(&[
            json!({ "url": "http://b.example/refrain", "text": refrain }),
            json!({ "url": "http://c.example/more", "text": format!("{one}\n\n{}\n\n{two}", own(13)) }),
        ]),
    );
    sandbox.succeed(&["index", "pages.jsonl", "-o", "p.cento"]);
    sandbox.succeed(&["detect", "p.cento", "--against", "originals.jsonl"]);
    sandbox.succeed(&["report", "p.cento"]);
    let told = report(&sandbox, "p.cento");
    let said = "No page has more words in common with one original than http://c.example/more";
    assert!(told.contains(said), "{told}");
}

#[test]
fn clusters_say_what_was_not_compared() {
    let sandbox = Sandbox::new();
    let shared = prose(1, 60);
    let page = |at: u64| {
        let text = format!("{shared}\n\n{}", prose(2 + at, 60));
        json!({ "url": format!("http://{at}.example/"), "text": text })
    };
    sandbox.write("pages.jsonl", lines(&[0, 1, 2, 3, 4].map(page)));
    let said = sandbox.succeed(&["passages", "pages.jsonl", "--clusters", "--max-pages", "4"]);
    let line = "on more than 4 pages: they made no pairs for this list";
    assert!(said.contains(line), "{said}");
    let other = "other passages          4  with the earliest page that has such fingerprints";
    assert!(said.contains(other), "{said}");
}

#[test]
fn two_pages_of_one_year_need_not_have_one_date() {
    let sandbox = Sandbox::new();
    let shared = prose(1, 120);
    let page = |at: u64| {
        let text = format!("{shared}\n\n{}", prose(2 + at, 60));
        json!({ "url": format!("http://{at}.example/"), "text": text, "date": "2020" })
    };
    sandbox.write("pages.jsonl", lines(&[page(0), page(1)]));
    let rows = sandbox.succeed(&["passages", "pages.jsonl", "--json"]);
    assert!(rows.contains("\"earlier\":\"unknown\""), "{rows}");
}
