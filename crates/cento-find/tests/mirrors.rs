//! Mirrors, aliases and skip lists: they do not depend on the order of pages and lose no content.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use cento_find::copies::{ALL_PAIRS, CopiesParams, CopiesSummary, Keep, copies, write_skip_list};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{corpus_of, open, prose, rows, workplace};

/// The tables of `copies` and the skip list.
struct Found {
    pairs: Vec<Value>,
    mirrors: Vec<Value>,
    prefixes: Vec<Value>,
    list: String,
    summary: CopiesSummary,
}

fn found(pages: &[Value], keep: Keep) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let path = corpus_of(folder.path(), "pages", pages);
    let source = open(&[&path]);
    let params = CopiesParams {
        keep,
        ..CopiesParams::default()
    };
    let place = workplace(&folder.path().join("findings"), 2, 64 << 20);
    let findings = copies(&source, &params, &place).unwrap();
    let mut list = Vec::new();
    write_skip_list(&findings, &source, &mut list).unwrap();
    Found {
        pairs: rows(&findings, "pairs"),
        mirrors: rows(&findings, "mirrors"),
        prefixes: rows(&findings, "prefixes"),
        list: String::from_utf8(list).unwrap(),
        summary: findings.summary().unwrap(),
    }
}

fn page(url: &str, text: u64, day: Option<u32>) -> Value {
    let date = day.map(|day| format!("2001-01-{:02}T00:00:00Z", day + 1));
    json!({ "url": url, "text": prose(text, 60).join(" "), "date": date })
}

fn word(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap().to_owned()
}

/// Returns the URLs that a crawl fetches if it follows a list.
fn crawl(list: &str, urls: &BTreeSet<String>) -> BTreeSet<String> {
    let lines: Vec<Vec<&str>> = list
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').collect())
        .collect();
    let of = |what: &str| -> BTreeSet<&str> {
        let lines = lines.iter().filter(|line| line[0] == what);
        lines.map(|line| line[1]).collect()
    };
    let (prefixes, keep, single) = (of("prefix"), of("keep"), of("url"));
    let fetched = urls.iter().filter(|url| {
        let address = url.split_once("://").unwrap().1;
        let skipped = prefixes.iter().any(|prefix| address.starts_with(prefix));
        !single.contains(url.as_str()) && (!skipped || keep.contains(url.as_str()))
    });
    fetched.cloned().collect()
}

/// Asserts that a crawl fetches a page of every class and every page without duplicates. Returns
/// the number of skipped URLs.
fn assert_nothing_is_lost(pages: &[Value], found: &Found) -> usize {
    let urls: BTreeSet<String> = pages.iter().map(|page| word(page, "url")).collect();
    let fetched = crawl(&found.list, &urls);
    let mut classes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for pair in &found.pairs {
        let of = format!("{} {}", pair["of_id"], word(pair, "of"));
        let class = classes.entry(of).or_default();
        class.insert(word(pair, "of"));
        class.insert(word(pair, "page"));
    }
    for class in classes.values() {
        assert!(
            class.intersection(&fetched).next().is_some(),
            "{class:?}\n{}",
            found.list
        );
    }
    let alike: BTreeSet<&String> = classes.values().flatten().collect();
    for url in urls.iter().filter(|url| !alike.contains(url)) {
        assert!(fetched.contains(url), "{url}\n{}", found.list);
    }
    // URLs in the last column are fetched.
    for line in found.list.lines().filter(|line| line.starts_with("url\t")) {
        let of = line.split('\t').nth(2).unwrap();
        assert!(fetched.contains(of), "{line}\n{}", found.list);
    }
    urls.len() - fetched.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_crawl_that_follows_a_skip_list_loses_no_content(
        pages in prop::collection::vec((0u32..4, 0u32..3, 0u32..9, 0u64..14, prop::option::weighted(0.7, 0u32..5)), 1..70),
        keep in prop::sample::select(vec![Keep::First, Keep::Earliest, Keep::Longest]),
    ) {
        let folders = ["", "pub/", "pub/mirror/"];
        let pages: Vec<Value> = pages.iter().map(|&(host, folder, at, text, day)| {
            // Most pages with the same path have the same text on all hosts.
            let text = if text < 10 { u64::from(at) } else { text };
            let folder = folders[folder as usize];
            page(&format!("http://h{host}.example/{folder}{at}.html"), text, day)
        }).collect();
        let found = found(&pages, keep);
        assert_nothing_is_lost(&pages, &found);
    }
}

#[test]
fn a_chain_of_mirrors_loses_no_content() {
    // b mirrors a and has more pages; c mirrors b and has one more page.
    let mut pages = Vec::new();
    for at in 0..20u64 {
        pages.push(page(&format!("http://a.example/{at}"), at, Some(0)));
    }
    for at in 10..40u64 {
        pages.push(page(&format!("http://b.example/m/{at}"), at, Some(1)));
    }
    for at in 12..40u64 {
        pages.push(page(&format!("http://c.example/x/m/{at}"), at, Some(2)));
    }
    pages.push(page("http://c.example/x/m/own", 100, Some(2)));
    let found = found(&pages, Keep::First);
    assert!(
        found.list.contains("prefix\tc.example/x/\tb.example/"),
        "{}",
        found.list
    );
    assert!(
        found.list.contains("keep\thttp://c.example/x/m/own\n"),
        "{}",
        found.list
    );
    assert_eq!(assert_nothing_is_lost(&pages, &found), 28 + 10);
}

#[test]
fn a_url_with_another_capture_without_duplicates_is_fetched() {
    let pages = [
        page("http://a.example/x", 1, Some(0)),
        page("http://b.example/y", 1, Some(1)),
        page("http://b.example/y", 2, Some(2)),
    ];
    let found = found(&pages, Keep::First);
    assert_eq!(found.pairs.len(), 1);
    assert_eq!(assert_nothing_is_lost(&pages, &found), 0);
}

#[test]
fn aliases_and_rules_depend_neither_on_the_order_of_records_nor_on_the_kept_pages() {
    for day in [Some(1), None] {
        let mut pages = Vec::new();
        for at in 0..8u64 {
            // Without dates, and with equal dates.
            pages.push(page(
                &format!("http://one.same.example/docs/{at}.html"),
                at,
                day,
            ));
            pages.push(page(
                &format!("http://two.same.example/docs/{at}.html"),
                at,
                day,
            ));
            pages.push(page(
                &format!("http://six.example/m/docs/{at}.html"),
                at,
                day,
            ));
        }
        pages.push(page("http://one.same.example/own.html", 99, day));
        let mut alternating = pages.clone();
        for pair in alternating.chunks_mut(4) {
            pair.reverse();
        }
        let mut reversed = pages.clone();
        reversed.reverse();
        let first = found(&pages, Keep::First);
        assert_eq!(first.mirrors.len(), 3);
        let aliases = first.mirrors.iter().filter(|row| row["alias"] == true);
        assert_eq!(aliases.count(), 1);
        let causes = |found: &Found| {
            let mut causes: Vec<(String, String)> = found
                .pairs
                .iter()
                .map(|pair| {
                    let host = |name: &str| word(pair, name).split('/').nth(2).unwrap().to_owned();
                    let (one, other) = (host("page"), host("of"));
                    (
                        format!("{} {}", one.clone().min(other.clone()), one.max(other)),
                        word(pair, "cause"),
                    )
                })
                .collect();
            causes.sort();
            causes.dedup();
            causes
        };
        for (pages, keep) in [
            (&reversed, Keep::First),
            (&alternating, Keep::First),
            (&alternating, Keep::Longest),
            (&pages, Keep::Earliest),
        ] {
            let other = found(pages, keep);
            assert_eq!(other.mirrors, first.mirrors);
            assert_eq!(other.prefixes, first.prefixes);
            let of_two_names: Vec<String> = causes(&other)
                .into_iter()
                .filter(|(_, cause)| cause == "server-alias")
                .map(|(hosts, _)| hosts)
                .collect();
            assert!(
                of_two_names.is_empty() || of_two_names == ["one.same.example two.same.example"]
            );
            let prefixes = |found: &Found| -> Vec<String> {
                let lines = found.list.lines();
                lines
                    .filter(|line| line.starts_with("prefix"))
                    .map(str::to_owned)
                    .collect()
            };
            assert_eq!(prefixes(&other), prefixes(&first));
            assert_nothing_is_lost(pages, &other);
        }
    }
}

#[test]
fn editions_of_one_book_are_not_two_names_of_one_server() {
    // The chapters have the same paths and nearly the same text.
    let mut pages = Vec::new();
    for chapter in 0..12u64 {
        let words = prose(chapter, 300);
        let mut edition = words.clone();
        edition[150] = "otherwise".to_owned();
        for (host, words) in [("kjv", words), ("akjv", edition)] {
            let url = format!("http://{host}.bible.example/genesis/{chapter}");
            pages.push(json!({ "url": url, "text": words.join(" ") }));
        }
    }
    let found = found(&pages, Keep::First);
    assert_eq!(found.pairs.len(), 12);
    assert_eq!(found.mirrors[0]["pages"], 12);
    assert_eq!(found.mirrors[0]["alias"], false);
    assert!(found.pairs.iter().all(|pair| pair["cause"] == "replica"));
}

#[test]
fn the_earlier_host_is_named_as_the_source_and_not_skipped() {
    let mut pages = Vec::new();
    for at in 0..6u64 {
        pages.push(page(&format!("http://a.example/{at}"), at, Some(5)));
        pages.push(page(&format!("http://z.example/{at}"), at, Some(1)));
    }
    let found = found(&pages, Keep::First);
    let mirror = &found.mirrors[0];
    assert_eq!(
        (word(mirror, "host"), word(mirror, "of_host")),
        ("a.example".to_owned(), "z.example".to_owned())
    );
    assert_eq!(
        (&mirror["host_earlier"], &mirror["of_host_earlier"]),
        (&json!(0), &json!(6))
    );
    assert!(
        found.list.contains("prefix\ta.example/\tz.example/"),
        "{}",
        found.list
    );
    assert_nothing_is_lost(&pages, &found);
}

#[test]
fn classes_on_many_hosts_are_counted() {
    let pages = |hosts: usize| -> Vec<Value> {
        (0..hosts)
            .map(|host| page(&format!("http://h{host}.example/x"), 1, None))
            .collect()
    };
    let all = found(&pages(ALL_PAIRS), Keep::First);
    assert_eq!(all.summary.wide_classes, 0);
    assert_eq!(all.mirrors.len(), ALL_PAIRS * (ALL_PAIRS - 1) / 2);
    // Only pairs with the kept host and with one other are compared.
    let some = found(&pages(ALL_PAIRS + 1), Keep::First);
    assert_eq!(some.summary.wide_classes, 1);
    assert!(some.mirrors.len() < 2 * ALL_PAIRS);
}
