//! Passages of whole corpora.

use std::path::Path;

use cento_flow::Progress;
use cento_store::{Build, Parameters};

use super::*;

/// Sentences of invented words; the same seed makes the same text.
fn prose(seed: u64, sentences: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut text = String::new();
    for _ in 0..sentences {
        for at in 0..12 {
            let word = next(4000);
            text.push_str(&format!("{}w{word}", if at > 0 { " " } else { "" }));
        }
        text.push_str(". ");
    }
    text
}

struct TestPage {
    url: String,
    text: String,
    day: Option<u32>,
}

fn page(number: usize, text: String, day: Option<u32>) -> TestPage {
    TestPage {
        url: format!("http://site{number}.example/page"),
        text,
        day,
    }
}

fn corpus(folder: &Path, pages: &[TestPage]) -> Arc<CorpusPages> {
    let input = folder.join("pages.jsonl");
    let lines = pages.iter().map(|page| {
        let date = page.day.map(|day| format!("2001-01-{day:02}"));
        let line = json!({ "url": page.url, "text": page.text, "date": date });
        format!("{line}\n")
    });
    std::fs::write(&input, lines.collect::<String>()).unwrap();
    let settings = cento_read::Settings::default();
    let resolved = cento_read::resolve(&[input.display().to_string()], &settings).unwrap();
    let path = folder.join("pages.cento");
    Build::new(resolved.inputs, &path)
        .settings(settings)
        .parameters(Parameters::default())
        .threads(1)
        .run()
        .unwrap();
    Arc::new(CorpusPages::open(&[&path]).unwrap())
}

fn workplace(folder: &Path, threads: usize, memory: u64) -> Workplace {
    Workplace {
        threads,
        memory,
        temp: None,
        findings: folder.join(format!("findings-{threads}-{memory}")),
        again: true,
        progress: Progress::new(),
        request: Default::default(),
    }
}

fn rows(findings: &Findings) -> Vec<PassageRow> {
    let rows = findings.rows(PASSAGES_TABLE).unwrap();
    rows.collect::<Result<_>>().unwrap()
}

/// Five pages: the first has a passage that the others have too, one of them edited.
fn travelling() -> Vec<TestPage> {
    let passage = prose(7, 6);
    let edited = passage.replace(". w", ". and then w");
    vec![
        page(0, format!("{}{}", prose(100, 9), passage), Some(20)),
        page(
            1,
            format!("{}{}{}", prose(101, 3), passage, prose(102, 5)),
            Some(5),
        ),
        page(2, format!("{}{}", passage, prose(103, 8)), Some(9)),
        page(3, format!("{}{}", prose(104, 4), edited), None),
        page(4, prose(105, 10), Some(1)),
        page(5, format!("{}{}", passage, prose(103, 8)), Some(11)), // a copy of page 2
    ]
}

#[test]
fn every_pair_that_shares_a_passage_is_found_with_its_direction() {
    let folder = tempfile::tempdir().unwrap();
    let source = corpus(folder.path(), &travelling());
    let workplace = workplace(folder.path(), 2, 256 << 20);
    let findings = run(&source, &PassagesParams::default(), &[], &workplace).unwrap();
    let rows = rows(&findings);
    let mut pairs: Vec<(&str, &str, &str)> = rows
        .iter()
        .map(|row| (&row.a[7..12], &row.b[7..12], row.earlier.as_str()))
        .collect();
    pairs.sort_unstable();
    assert_eq!(
        pairs,
        [
            ("site0", "site1", "b"),
            ("site0", "site2", "b"),
            ("site2", "site1", "b"),
            ("site3", "site0", "unknown"),
            ("site3", "site1", "unknown"),
            ("site3", "site2", "unknown"),
        ]
    );
    for row in &rows {
        let text = |id| source.corpora()[0].text(id).unwrap().unwrap();
        let (a, b) = (text(row.a_id), text(row.b_id));
        let in_a = &a[row.a_begin as usize..row.a_end as usize];
        let in_b = &b[row.b_begin as usize..row.b_end as usize];
        // An edited passage ends where a sentence does, and these have no capitals to begin with.
        assert!(
            row.words >= 50 && in_b.contains("w743 w3565 w1533"),
            "{row:?}"
        );
        assert_eq!(
            in_a.chars().count() as u32,
            row.a_end_char - row.a_begin_char
        );
        // Plain text has no links.
        assert_eq!(row.attributed, None);
        if row.earlier == "b" {
            assert_eq!(in_b, prose(7, 6).trim_end());
            assert_eq!(in_a, in_b);
            assert_eq!((row.kind.as_str(), row.words), ("verbatim", 72));
            assert_eq!(row.b_dated_by.as_deref(), Some("published"));
        }
    }
    let summary: PassagesSummary = findings.summary().unwrap();
    assert_eq!((summary.pairs, summary.copies, summary.passages), (6, 1, 6));
}

#[test]
fn the_passages_of_one_page_and_of_listed_pairs_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let source = corpus(folder.path(), &travelling());
    let workplace = workplace(folder.path(), 2, 256 << 20);
    let of = PassagesParams {
        pairs: PairChoice::Of("http://site5.example/page".into()),
        max_pages: 2,
        ..PassagesParams::default()
    };
    // Page 5 has the text of page 2, and is still compared with it.
    assert_eq!(rows(&run(&source, &of, &[], &workplace).unwrap()).len(), 4);
    // So is page 2 with page 5, although one of two pages with a text represents both.
    let of_first = PassagesParams {
        pairs: PairChoice::Of("http://site2.example/page".into()),
        ..of
    };
    let found = rows(&run(&source, &of_first, &[], &workplace).unwrap());
    let is_other = |row: &PassageRow| [&row.a, &row.b].iter().any(|url| url.contains("site5"));
    assert!(found.iter().any(is_other), "{found:?}");
    let missing = PassagesParams {
        pairs: PairChoice::Of("http://nowhere.example/".into()),
        ..PassagesParams::default()
    };
    assert!(run(&source, &missing, &[], &workplace).is_err());
    let listed = PassagesParams {
        pairs: PairChoice::Listed("digest".into()),
        ..PassagesParams::default()
    };
    let url = |number: usize| format!("http://site{number}.example/page");
    let pairs = [(1, 0), (4, 0), (1, 9)].map(|(a, b)| ListedPair::new(&url(a), &url(b)));
    let findings = run(&source, &listed, &pairs, &workplace).unwrap();
    let summary: PassagesSummary = findings.summary().unwrap();
    assert_eq!(
        (summary.passages, summary.candidates, summary.unknown),
        (1, 2, 1)
    );
    assert_eq!(rows(&findings)[0].a, url(0));
}

#[test]
fn around_fingerprints_the_same_passages_are_found_as_in_whole_texts() {
    let folder = tempfile::tempdir().unwrap();
    // Long pages, of which some share a passage as it is and another one with every sixth word
    // replaced, in different orders.
    let replaced = |text: &str, by: usize| -> String {
        let words = text.split(' ').enumerate();
        let words = words.map(|(at, word)| match at % 6 {
            3 if !word.ends_with('.') => format!("x{by}y{at}"),
            _ => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let pages: Vec<TestPage> = (0..12u64)
        .map(|at| {
            let (copied, original) = (prose(at % 3, 6), prose(50 + at % 4, 9));
            let edited = replaced(&original, at as usize);
            let own = |part: u64| prose(1000 + 10 * at + part, 120);
            let text = match at % 2 {
                0 => format!("{}{copied}{}{edited}{}", own(0), own(1), own(2)),
                _ => format!("{}{edited}{}{copied}{}", own(0), own(1), own(2)),
            };
            page(at as usize, text, Some(1 + at as u32))
        })
        .collect();
    let source = corpus(folder.path(), &pages);
    let workplace = workplace(folder.path(), 2, 256 << 20);
    let around = run(&source, &PassagesParams::default(), &[], &workplace).unwrap();
    let url = |number: usize| format!("http://site{number}.example/page");
    let pairs: Vec<ListedPair> = (0..12)
        .flat_map(|a| (0..a).map(move |b| ListedPair::new(&url(a), &url(b))))
        .collect();
    let listed = PassagesParams {
        pairs: PairChoice::Listed("digest".into()),
        ..PassagesParams::default()
    };
    let whole = run(&source, &listed, &pairs, &workplace).unwrap();
    let shown = |findings: &Findings| -> Vec<String> {
        rows(findings)
            .iter()
            .map(|row| format!("{row:?}"))
            .collect()
    };
    let found = shown(&around);
    assert_eq!(found, shown(&whole));
    let edited = rows(&around)
        .iter()
        .filter(|row| row.kind == "edited")
        .count();
    assert_eq!((found.len(), edited), (18 + 12, 12));
}

#[test]
fn results_do_not_depend_on_threads_and_memory() {
    let folder = tempfile::tempdir().unwrap();
    let pages: Vec<TestPage> = (0..60)
        .map(|at| {
            let text = format!(
                "{}{}{}",
                prose(500 + at, 40),
                prose(at % 7, 5),
                prose(900 + at, 40)
            );
            page(at as usize, text, Some(1 + (at * 13 % 28) as u32))
        })
        .collect();
    let source = corpus(folder.path(), &pages);
    let params = PassagesParams::default();
    let mut tables = Vec::new();
    for (threads, memory) in [(1, 64 << 20), (2, 128 << 20), (3, 1 << 30)] {
        let workplace = workplace(folder.path(), threads, memory);
        let findings = run(&source, &params, &[], &workplace).unwrap();
        tables.push(std::fs::read(findings.table(PASSAGES_TABLE.as_str())).unwrap());
        let clusters = clusters(&source, &params, &findings, &workplace).unwrap();
        assert_eq!(clusters.summary::<ClustersSummary>().unwrap().clusters, 7);
    }
    assert!(tables.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_passage_on_many_pages_is_one_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let source = corpus(folder.path(), &travelling());
    let workplace = workplace(folder.path(), 2, 256 << 20);
    let params = PassagesParams::default();
    let passages = run(&source, &params, &[], &workplace).unwrap();
    let findings = clusters(&source, &params, &passages, &workplace).unwrap();
    let found: Vec<ClusterRow> = findings
        .rows(CLUSTERS_TABLE)
        .unwrap()
        .collect::<Result<_>>()
        .unwrap();
    assert_eq!(found.len(), 1);
    let cluster = &found[0];
    assert_eq!((cluster.pages, cluster.sites), (4, 4));
    // The edited appearance begins or ends a few words away.
    assert!((68..=80).contains(&cluster.words), "{cluster:?}");
    assert_eq!(cluster.first, "http://site1.example/page");
    assert!(
        cluster
            .first_date
            .as_ref()
            .unwrap()
            .starts_with("2001-01-05")
    );
    assert!(
        cluster
            .last_date
            .as_ref()
            .unwrap()
            .starts_with("2001-01-20")
    );
    assert!(cluster.text.contains("w607 w567 w1031"), "{cluster:?}");
    let appearances = findings.rows(APPEARANCES_TABLE).unwrap();
    let sites: Vec<String> = appearances.map(|row| row.unwrap().site.unwrap()).collect();
    assert_eq!(
        sites,
        [
            "site1.example",
            "site2.example",
            "site0.example",
            "site3.example"
        ]
    );
}

#[test]
fn a_passage_with_a_link_to_its_source_is_attributed() {
    let folder = tempfile::tempdir().unwrap();
    let passage = prose(3, 6);
    let html = |name: &str, body: String| {
        std::fs::write(
            folder.path().join(name),
            format!("<html><body>{body}</body></html>"),
        )
        .unwrap();
    };
    html("a.html", format!("<p>{passage}</p>"));
    html(
        "b.html",
        format!(
            "<p>{}</p><p>{passage}</p><a href='a.html'>source</a>",
            prose(50, 4)
        ),
    );
    let settings = cento_read::Settings {
        base_url: Some("http://www.example.org/".into()),
        ..cento_read::Settings::default()
    };
    let inputs = [folder.path().display().to_string()];
    let resolved = cento_read::resolve(&inputs, &settings).unwrap();
    let path = folder.path().join("pages.cento");
    Build::new(resolved.inputs, &path)
        .settings(settings)
        .threads(1)
        .run()
        .unwrap();
    let source = Arc::new(CorpusPages::open(&[&path]).unwrap());
    let workplace = workplace(folder.path(), 1, 128 << 20);
    let rows = rows(&run(&source, &PassagesParams::default(), &[], &workplace).unwrap());
    assert_eq!(rows.len(), 1);
    // On one domain nobody has to link to the source.
    assert_eq!(rows[0].attributed, None);
}

#[test]
fn a_passage_does_not_go_on_in_the_frame_that_many_pages_have() {
    let folder = tempfile::tempdir().unwrap();
    let (head, foot) = (prose(1, 2), format!("{}\n\n{}", prose(2, 3), prose(3, 1)));
    let passage = prose(4, 6);
    let url = |number: usize| format!("http://www.site.example/page{number}");
    let pages: Vec<TestPage> = (0..13)
        .map(|at| {
            let own = prose(100 + at as u64, 5);
            let text = match at {
                5 => format!("{head}\n\n{passage}\n\n{foot}"),
                9 => format!("Ä{head}\n\n{own}\n\n{passage}\n\n{foot}"),
                // The same words as a frame, but not at the end.
                11 => format!("{head}\n\n{own}\n\n{foot}\n\nThe end of it."),
                _ => format!("{head}\n\n{own}\n\n{foot}"),
            };
            TestPage {
                url: url(at),
                ..page(at, text, Some(1 + at as u32))
            }
        })
        .collect();
    let source = corpus(folder.path(), &pages);
    let workplace = workplace(folder.path(), 2, 256 << 20);
    let found = |pairs: PairChoice, max_pages| -> Vec<(String, String, String)> {
        let params = PassagesParams {
            pairs,
            max_pages,
            ..PassagesParams::default()
        };
        let listed = [ListedPair::new(&url(9), &url(5))];
        let findings = run(&source, &params, &listed, &workplace).unwrap();
        let text = |id| source.corpora()[0].text(id).unwrap().unwrap();
        let rows = rows(&findings);
        let rows = rows.iter().map(|row| {
            let (a, b) = (text(row.a_id), text(row.b_id));
            let in_a = a[row.a_begin as usize..row.a_end as usize].to_owned();
            let chars = a.chars().skip(row.a_begin_char as usize);
            let length = (row.a_end_char - row.a_begin_char) as usize;
            assert_eq!(chars.take(length).collect::<String>(), in_a);
            let in_b = b[row.b_begin as usize..row.b_end as usize].to_owned();
            (row.a.clone(), in_a, in_b)
        });
        rows.collect()
    };
    let exact = vec![(url(9), passage.trim().to_owned(), passage.trim().to_owned())];
    let listed = || PairChoice::Listed("digest".into());
    assert_eq!(found(PairChoice::All, 11), exact);
    assert_eq!(found(PairChoice::Of(url(5)), 11), exact);
    assert_eq!(found(listed(), 11), exact);
    // On no more pages than that, the footer is text like any other.
    let whole = found(listed(), 20);
    assert!(whole[0].1.ends_with(prose(3, 1).trim()), "{whole:?}");
}

/// Pages of as many sites that have a passage, half of them at their end, and its first page, which
/// has nothing else.
fn reprints(passage: &str, count: usize) -> Vec<TestPage> {
    let reprint = |at: usize| {
        let own = |part: u64| prose(1000 + 10 * at as u64 + part, 5);
        let text = match at % 2 {
            0 => format!("{}\n\n{passage}\n\n{}", own(0), own(1)),
            _ => format!("{}\n\n{passage}", own(0)),
        };
        page(at, text, Some(3 + (at * 7 % 25) as u32))
    };
    let mut pages: Vec<TestPage> = (1..=count).map(reprint).collect();
    pages.insert(count / 2, page(0, passage.to_owned(), Some(2)));
    pages
}

#[test]
fn a_text_on_more_pages_than_the_limit_is_one_cluster_of_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let source = corpus(folder.path(), &reprints(prose(7, 8).trim(), 30));
    let workplace = workplace(folder.path(), 2, 256 << 20);
    let params = PassagesParams {
        max_pages: 10,
        ..PassagesParams::default()
    };
    let passages = run(&source, &params, &[], &workplace).unwrap();
    let summary: PassagesSummary = passages.summary().unwrap();
    assert!(summary.common > 0, "{summary:?}");
    // All with the first page, and no other pairs.
    assert_eq!((summary.passages, summary.frequent), (0, 30));
    assert_eq!((summary.candidates, summary.frequent_candidates), (0, 30));
    let joined = clusters(&source, &params, &passages, &workplace).unwrap();
    let found: Vec<ClusterRow> = joined
        .rows(CLUSTERS_TABLE)
        .unwrap()
        .collect::<Result<_>>()
        .unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].pages, found[0].sites), (31, 31));
    assert_eq!(found[0].first, "http://site0.example/page");
    assert!(found[0].first_decided);
    assert_eq!(found[0].last_dated_by.as_deref(), Some("published"));
    // The page is compared with all others, whatever they have.
    let of = PassagesParams {
        pairs: PairChoice::Of("http://site0.example/page".into()),
        ..params
    };
    assert_eq!(rows(&run(&source, &of, &[], &workplace).unwrap()).len(), 30);
}

#[test]
fn a_phrase_on_many_pages_connects_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let phrase = "all rights are reserved by the owner of this page, and nobody may copy it";
    let pages = (0..30).map(|at| {
        let text = format!("{}{phrase} {}", prose(100 + at, 6), prose(500 + at, 6));
        page(at as usize, text, Some(1))
    });
    let source = corpus(folder.path(), &pages.collect::<Vec<_>>());
    let workplace = workplace(folder.path(), 2, 256 << 20);
    let params = PassagesParams {
        max_pages: 10,
        min_chars: 400,
        ..PassagesParams::default()
    };
    let findings = run(&source, &params, &[], &workplace).unwrap();
    let summary: PassagesSummary = findings.summary().unwrap();
    assert!(summary.common > 0, "{summary:?}");
    assert_eq!((summary.candidates, summary.frequent_candidates), (0, 0));
}
