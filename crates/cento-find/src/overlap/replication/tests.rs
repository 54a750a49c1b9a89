//! Compares replication with its definition, which compares all pairs of pages.

use std::collections::BTreeSet;

use cento_store::Parameters;
use proptest::prelude::*;

use super::*;
use crate::overlap::tests::{TestPage, chunk_set, corpus, dated, test_page, workplace};

/// Returns the replicas of each page, and the page that it is skipped for, by the definition.
fn naive(pages: &[TestPage], params: &OverlapParams) -> Vec<(u32, u32)> {
    let sets: Vec<BTreeSet<String>> = pages
        .iter()
        .map(|page| chunk_set(&page.text, params.chunk))
        .collect();
    let alike = |one: usize, other: usize| {
        pages[one].text == pages[other].text
            || sets[one].intersection(&sets[other]).count() >= params.threshold as usize
    };
    let mut order: Vec<usize> = (0..pages.len()).collect();
    order.sort_by_key(|&page| (pages[page].date.unwrap_or(i64::MAX), page));
    let mut skipped_for = vec![usize::MAX; pages.len()];
    let mut visited: Vec<usize> = Vec::new();
    for &page in &order {
        let of = visited.iter().copied().find(|&of| alike(page, of));
        skipped_for[page] = of.unwrap_or(page);
        if of.is_none() {
            visited.push(page);
        }
    }
    (0..pages.len())
        .map(|page| {
            let replicas = (0..pages.len()).filter(|&other| alike(page, other));
            (replicas.count() as u32, skipped_for[page] as u32)
        })
        .collect()
}

fn found(
    folder: &std::path::Path,
    pages: &[TestPage],
    params: &OverlapParams,
    hot: u32,
) -> Vec<(u32, u32)> {
    let source = corpus(folder, pages, Parameters::default());
    let order = Arc::new(PageOrder::of(&source).unwrap());
    let place = workplace(folder, 2, 64 << 20);
    let notions = std::slice::from_ref(params);
    let budget = MemoryBudget::new(place.memory, place.threads).unwrap();
    let (summary, notion) = find(&source, notions, hot, &order, &budget, &place).unwrap();
    assert_eq!(budget.used(), 0);
    assert_eq!(summary.beyond, 0);
    (0..pages.len() as u32)
        .map(|page| {
            let rank = order.rank(page);
            (notion.replicas(rank), order.page(notion.visited(rank)))
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn replicas_are_those_of_the_definition_however_common_their_chunks(
        pages in prop::collection::vec(
            (prop::option::weighted(0.7, 0i64..6), prop::collection::vec("[a-h]|漢字|u", 1..9)),
            1..24,
        ),
        threshold in 1u32..5,
        hot in 1u32..6,
    ) {
        let pages: Vec<TestPage> = pages.iter().enumerate().map(|(number, (date, lines))| {
            // Some pages have a unique line, which connects nothing.
            let own = |line: &String| match line.as_str() {
                "u" => format!("own {number}"),
                line => line.to_owned(),
            };
            let text = lines.iter().map(own).collect::<Vec<_>>().join("\n");
            dated(test_page(number % 5, number, &text), *date)
        }).collect();
        let folder = tempfile::tempdir().unwrap();
        let params = OverlapParams { threshold, ..OverlapParams::new("lines:1".parse().unwrap()) };
        prop_assert_eq!(found(folder.path(), &pages, &params, hot), naive(&pages, &params));
    }
}

#[test]
fn twelve_hundred_pages_that_share_a_hundred_lines_are_replicas_of_the_first() {
    let template: Vec<String> = (0..100)
        .map(|line| format!("line {line} of the form"))
        .collect();
    let mut pages: Vec<TestPage> = (0..1_200)
        .map(|page| {
            test_page(
                page,
                page,
                &format!("{}\nfilled in by {page}", template.join("\n")),
            )
        })
        .collect();
    // Half of them share a further line with a tenth of these.
    for page in &mut pages[600..] {
        let family = page.url.len() % 10;
        page.text.push_str(&format!("\nfamily {family}"));
    }
    pages.extend((0..100).map(|page| test_page(page, 2_000 + page, &format!("page {page} alone"))));
    let folder = tempfile::tempdir().unwrap();
    let source = corpus(folder.path(), &pages, Parameters::default());
    let findings = replication(&source, &workplace(folder.path(), 2, 64 << 20)).unwrap();
    let summary: ReplicationSummary = findings.summary().unwrap();
    for saved in summary.savings.iter().skip(1) {
        assert_eq!(
            (saved.pages, saved.saved_pages),
            (1_300, 1_199),
            "{saved:?}"
        );
    }
    let most = summary.replicas.last().unwrap();
    assert_eq!((most.from, most.pages), (1_000, 1_200));
    assert_eq!(summary.beyond, 0);
}

#[test]
fn one_mirrored_manual_is_one_collection_in_any_order() {
    let text = |page: usize| -> String {
        (0..120)
            .map(|line| format!("line {line} of page {page}\n"))
            .collect()
    };
    let mut pages: Vec<TestPage> = Vec::new();
    for server in 0..4 {
        for page in 0..45 {
            // The last server has half of the manual.
            if server == 3 && page % 2 == 1 {
                continue;
            }
            pages.push(TestPage {
                url: format!(
                    "http://s{server}.example/pub/manual/part{}/{page}.html",
                    page / 5
                ),
                text: format!("{}server {server}", text(page)),
                date: None,
            });
        }
    }
    let mut rows = Vec::new();
    for turn in 0..3usize {
        let mut pages = pages.clone();
        match turn {
            1 => pages.reverse(),
            2 => pages.sort_by_key(|page| page.text.len() * 31 % 17 + page.url.len() * 7 % 11),
            _ => {}
        }
        let folder = tempfile::tempdir().unwrap();
        let source = corpus(folder.path(), &pages, Parameters::default());
        let findings = replication(&source, &workplace(folder.path(), 1, 64 << 20)).unwrap();
        let found = findings.rows(COLLECTIONS).unwrap();
        let found: Vec<CollectionRow> = found.map(Result::unwrap).collect();
        rows.push(found);
    }
    let expected = CollectionRow {
        servers: 4,
        pages: 45,
        replicas: 113,
        collection: "http://s0.example/pub/manual/".to_owned(),
        page: "http://s0.example/pub/manual/part0/0.html".to_owned(),
    };
    for found in rows {
        assert_eq!(found, std::slice::from_ref(&expected));
    }
}

#[test]
fn too_little_memory_is_reported_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let pages: Vec<TestPage> = (0..200)
        .map(|page| test_page(0, page, &format!("page {page}")))
        .collect();
    let source = corpus(folder.path(), &pages, Parameters::default());
    let refused = replication(&source, &workplace(folder.path(), 1, 6_000)).unwrap_err();
    let text = refused.to_string();
    assert!(
        text.contains("200 pages") && text.contains("32 bytes"),
        "{text}"
    );
}

#[test]
fn the_least_memory_that_is_accepted_suffices_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |family: usize| -> String {
        (0..70)
            .map(|line| format!("line {line} of family {family}\n"))
            .collect()
    };
    // Later pages have earlier dates, so that the order of pages takes memory.
    let pages: Vec<TestPage> = (0..3_000)
        .map(|page| {
            let text = format!("{}page {page}", lines(page % 400));
            dated(
                test_page(page % 9, page, &text),
                Some((3_000 - page as i64) % 28),
            )
        })
        .collect();
    let source = corpus(folder.path(), &pages, Parameters::default());
    let summary = |memory| -> ReplicationSummary {
        let findings = replication(&source, &workplace(folder.path(), 2, memory)).unwrap();
        findings.summary().unwrap()
    };
    let least = needed_memory(&source, 2);
    assert_eq!(summary(least), summary(1 << 30));
    assert!(replication(&source, &workplace(folder.path(), 2, least - 1)).is_err());
}

#[test]
fn hot_sets_that_exceed_the_budget_are_an_error_with_the_bytes_needed() {
    let folder = tempfile::tempdir().unwrap();
    let pages: Vec<TestPage> = (0..40)
        .map(|page| test_page(page, page, &format!("a\nb\nc\nd {}\nown {page}", page % 7)))
        .collect();
    let source = corpus(folder.path(), &pages, Parameters::default());
    let order = Arc::new(PageOrder::of(&source).unwrap());
    let place = workplace(folder.path(), 1, 64 << 20);
    let params = OverlapParams {
        threshold: 2,
        ..OverlapParams::new("lines:1".parse().unwrap())
    };
    let find = |left: u64| {
        let budget = MemoryBudget::new(1 << 20, 1).unwrap();
        let _others = budget.take((1 << 20) - left, "a test").unwrap();
        let params = std::slice::from_ref(&params);
        find(&source, params, 2, &order, &budget, &place).map(|(summary, _)| summary.beyond)
    };
    assert_eq!(find(1 << 19).unwrap(), 0);
    // Enough for the arrays of pages, and too little for the sets.
    let error = find(40 * (4 + resolve::BYTES_PER_PAGE)).unwrap_err();
    assert_eq!(error.fault(), cento_file::Fault::Unsuitable);
    let text = error.to_string();
    assert!(text.contains("very common chunks"), "{text}");
    assert!(text.contains("bytes are needed"), "{text}");
}
