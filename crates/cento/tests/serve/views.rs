//! Lists and views.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use crate::harness::{links, server};

#[test]
fn every_link_of_the_site_leads_to_a_page_and_nothing_of_a_page_is_markup() {
    let server = server("crawl.verdicts");
    let mut open: VecDeque<String> = ["/", "/lists"].map(str::to_owned).into();
    let mut seen: BTreeSet<String> = open.iter().cloned().collect();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(path) = open.pop_front() {
        let kind = path.split(['?', '/']).nth(1).unwrap_or_default().to_owned();
        // Enough of each kind of page; all of them would take minutes.
        let of_kind = kinds.entry(kind).or_default();
        *of_kind += 1;
        if *of_kind > 40 {
            continue;
        }
        let reply = server.get(&path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        let kind = reply.header("content-type").unwrap_or_default().to_owned();
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        if kind.starts_with("text/html") {
            assert!(!reply.body.contains("<script>alert"), "{path}");
            assert!(!reply.body.contains("<img"), "{path}");
            assert!(!reply.body.contains('\u{202e}'), "{path}");
        }
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        let targets = match kind.starts_with("text/html") {
            true => links(&reply.body),
            false => Vec::new(),
        };
        for target in targets {
            let inside = target.starts_with('/');
            assert!(
                inside || target.starts_with('#') || target.starts_with("http"),
                "{path}: {target}"
            );
            if inside && seen.insert(target.clone()) {
                open.push_back(target);
            }
        }
    }
    for kind in [
        "lists",
        "quilts",
        "classes",
        "pair",
        "passages",
        "neighbourhoods",
        "pages",
        "judge",
        "assets",
        "api",
    ] {
        assert!(
            kinds.contains_key(kind),
            "{kind} is linked from nowhere: {kinds:?}"
        );
    }
}

#[test]
fn views_of_hostile_pages_show_their_text() {
    let server = server("hostile.verdicts");
    let quilts = server.get("/api/lists/quilts?host=quilt0.example").json();
    assert_eq!(quilts["matching"], 1, "{quilts}");
    let evidence = quilts["rows"][0]["evidence"].as_str().unwrap();
    let page = server.get(evidence);
    assert_eq!(page.status, 200);
    assert!(page.body.contains("&lt;script&gt;alert(&#39;xss&#39;)"));
    assert!(page.body.contains("<mark class=\"s1\" data-source=\"1\">"));
    assert!(page.body.contains("published 2020-01-0"), "{}", page.body);
    let long = server.get("/lists/popular?host=long.example");
    assert_eq!(long.status, 200);
    // The Chinese pages are duplicates of each other, and are compared.
    let pairs = server.get("/api/lists/duplicates?host=a.xn--fiqs8s").json();
    assert_eq!(pairs["matching"], 1, "{pairs}");
    let pair = server.get(pairs["rows"][0]["evidence"].as_str().unwrap());
    assert!(pair.body.contains("春眠不觉晓"), "{}", pair.body);
    assert!(
        pair.body
            .contains("Their dates do not say which is earlier")
    );
}

#[test]
fn a_list_is_sorted_filtered_and_paged_without_losing_a_row() {
    let server = server("lists.verdicts");
    let first = server.get("/api/lists/passages?size=7").json();
    let all = first["matching"].as_u64().unwrap();
    assert!(all > 20, "{first}");
    let streamed = server.get("/api/lists/passages/rows");
    let streamed: Vec<Value> = streamed
        .body
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(streamed.len() as u64, all);
    for query in [
        "",
        "&sort=words&order=descending",
        "&sort=a",
        "&sort=a_date&order=descending",
    ] {
        let mut paged = Vec::new();
        let mut next = Some(format!("/api/lists/passages?size=7{query}"));
        while let Some(path) = next {
            let page = server.get(&path).json();
            paged.extend(page["rows"].as_array().unwrap().clone());
            next = page["next"].as_str().map(str::to_owned);
        }
        let keys = |rows: &[Value]| -> BTreeSet<String> {
            rows.iter()
                .map(|row| row["key"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(paged.len() as u64, all, "{query}");
        assert_eq!(keys(&paged), keys(&streamed), "{query}");
    }
    let sorted = server
        .get("/api/lists/passages?sort=words&order=descending&size=500")
        .json();
    let words: Vec<u64> = sorted["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["words"].as_u64().unwrap())
        .collect();
    assert!(words.is_sorted_by(|one, other| one >= other));
    // Filters agree with a filter of the streamed rows.
    let verbatim = server
        .get("/api/lists/passages?category=verbatim&min=0.9")
        .json();
    let expected = streamed
        .iter()
        .filter(|row| row["kind"] == "verbatim" && row["a_in_b"].as_f64().unwrap() >= 0.9)
        .count();
    assert_eq!(verbatim["matching"], expected);
    let dated = server
        .get("/api/lists/passages?from=2022-02-02&to=2022-02-02")
        .json();
    let expected = streamed
        .iter()
        .filter(|row| {
            row["a_date"]
                .as_str()
                .is_some_and(|date| date.starts_with("2022-02-02"))
        })
        .count();
    assert_eq!(dated["matching"], expected);
    assert!(
        server
            .get("/lists/passages?category=verbatim")
            .body
            .contains(" pass the filters.")
    );
    for wrong in [
        "sort=x",
        "page=0",
        "min=a",
        "from=x",
        "unknown=1",
        "order=descending",
    ] {
        let reply = server.get(&format!("/api/lists/passages?{wrong}"));
        assert_eq!(reply.status, 400, "{wrong}");
        assert!(reply.json()["error"].is_string());
    }
    assert_eq!(server.get("/api/lists/passages?run=other").status, 409);
    assert_eq!(server.get("/api/lists/nothing").status, 404);
    let beyond = server.get("/lists/passages?page=99999");
    assert!(beyond.status == 200 && beyond.body.contains("There are only"));
}
