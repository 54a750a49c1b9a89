//! Reuse in whole corpora against the definitions of the paper.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cento_flow::{Progress, TableRow};
use cento_store::{Build, Parameters};
use proptest::prelude::*;

use super::*;
use crate::tables::read_rows;

/// A page of a test corpus.
#[derive(Debug, Clone)]
struct TestPage {
    url: String,
    text: String,
    day: Option<u32>,
}

fn page(host: usize, number: usize, text: &str) -> TestPage {
    TestPage {
        url: format!("http://www.h{host}.example/{number}"),
        text: text.to_owned(),
        day: None,
    }
}

fn index(folder: &Path, name: &str, pages: &[TestPage]) -> PathBuf {
    let input = folder.join(format!("{name}.jsonl"));
    let lines = pages.iter().map(|page| {
        let date = page.day.map(|day| format!("2001-01-{:02}", day + 1));
        let line = json!({ "url": page.url, "text": page.text, "date": date });
        format!("{line}\n")
    });
    std::fs::write(&input, lines.collect::<String>()).unwrap();
    let settings = cento_read::Settings::default();
    let resolved = cento_read::resolve(&[input.display().to_string()], &settings).unwrap();
    let path = folder.join(format!("{name}.cento"));
    Build::new(resolved.inputs, &path)
        .settings(settings)
        .parameters(Parameters::default())
        .threads(1)
        .run()
        .unwrap();
    path
}

fn corpus(folder: &Path, pages: &[TestPage]) -> Arc<CorpusPages> {
    let path = index(folder, "pages", pages);
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

fn rows<T: TableRow>(findings: &Findings, table: cento_flow::TableName<T>) -> Vec<T> {
    let rows = read_rows::<T>(&findings.table(table.as_str())).unwrap();
    rows.map(|row| row.unwrap()).collect()
}

/// A pair as a test compares it: URLs, category, style, counts of shared, of each page's and of
/// frame and frequent fingerprints, and copies.
type FoundPair = (String, String, Category, ReuseStyle, [u32; 7]);

/// The definitions, by comparing everything with everything.
struct Naive {
    pairs: BTreeSet<FoundPair>,
    identical: BTreeSet<(String, String)>,
    ignored: BTreeSet<(u64, u32)>,
    /// Pairs of all pages, copies included, by category: each with the two URLs.
    all_pairs: Vec<(String, String, Category)>,
}

fn naive(corpora: &[&[TestPage]], params: &ReuseParams) -> Naive {
    let mut fingerprints = PageFingerprints::new(params.scheme);
    // Classes of pages with the same set, in the order of pages.
    let mut classes: Vec<(usize, Vec<&TestPage>, BTreeSet<u64>)> = Vec::new();
    for (side, pages) in corpora.iter().enumerate() {
        for page in *pages {
            let set: BTreeSet<u64> = fingerprints.set_of(&page.text).iter().copied().collect();
            let like = classes
                .iter_mut()
                .find(|class| class.0 == side && class.2 == set);
            match like {
                _ if set.is_empty() => {}
                Some(class) => class.1.push(page),
                None => classes.push((side, vec![page], set)),
            }
        }
    }
    let mut on_pages: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (at, class) in classes.iter().enumerate() {
        for &fingerprint in &class.2 {
            on_pages.entry(fingerprint).or_default().push(at);
        }
    }
    let limit = match params.max_pages {
        Some(0) | None => usize::MAX,
        Some(limit) => limit as usize,
    };
    let ignored: BTreeSet<(u64, u32)> = on_pages
        .iter()
        .filter(|(_, pages)| pages.len() > limit)
        .map(|(&fingerprint, pages)| (fingerprint, pages.len() as u32))
        .collect();
    let ignores = |fingerprint: &u64| on_pages[fingerprint].len() > limit;
    let url = |class: usize| &classes[class].1[0].url;
    let host = |class: usize| classes[class].1[0].url.split('/').nth(2).unwrap();
    let pages_of_host = |name: &str| (0..classes.len()).filter(|&at| host(at) == name).count();
    let framed = |fingerprint: &u64, class: usize| {
        let name = host(class);
        let on = on_pages[fingerprint]
            .iter()
            .filter(|&&at| host(at) == name)
            .count();
        on >= 5 && 5 * on >= pages_of_host(name)
    };
    let mut pairs = BTreeSet::new();
    let mut all_pairs = Vec::new();
    for (left, one) in classes.iter().enumerate() {
        for (right, other) in classes.iter().enumerate().skip(left + 1) {
            if params.against && one.0 == other.0 {
                continue;
            }
            let kept = |class: usize| -> BTreeSet<u64> {
                let set = classes[class].2.iter().copied();
                set.filter(|f| !(ignores(f) || params.frame && framed(f, class)))
                    .collect()
            };
            let (a, b) = (kept(left), kept(right));
            let shared: Vec<u64> = a.intersection(&b).copied().collect();
            let containment = Containment {
                shared: shared.len() as u32,
                page: a.len() as u32,
                of: b.len() as u32,
            };
            if containment.shared < params.min_shared {
                continue;
            }
            let Some(category) = Category::of(containment, params.thresholds) else {
                continue;
            };
            let is_frame = |f: &u64| !params.frame && (framed(f, left) || framed(f, right));
            let frame = shared.iter().filter(|f| is_frame(f)).count() as u32;
            let is_frequent =
                |f: &u64| !is_frame(f) && on_pages[f].len() >= params.frequent as usize;
            let frequent = shared.iter().filter(|f| is_frequent(f)).count() as u32;
            let kinds = SharedKinds {
                shared: containment.shared,
                frame,
                frequent,
                slots: a.len() > shared.len() && b.len() > shared.len(),
                alias: url(left) == url(right)
                    || one.2 == other.2 && !one.2.iter().any(ignores) && host(left) == host(right),
            };
            let style = ReuseStyle::of(category, kinds);
            // The later page comes first; with `against`, the one of the first corpus.
            let ((page, of), containment) = if params.against {
                ((one, other), containment)
            } else {
                ((other, one), containment.swapped())
            };
            let counts = [
                containment.shared,
                containment.page,
                containment.of,
                frame,
                frequent,
                page.1.len() as u32,
                of.1.len() as u32,
            ];
            pairs.insert((
                page.1[0].url.clone(),
                of.1[0].url.clone(),
                category,
                style,
                counts,
            ));
            for page in &page.1 {
                for of in &of.1 {
                    all_pairs.push((page.url.clone(), of.url.clone(), category));
                }
            }
        }
    }
    let mut identical = BTreeSet::new();
    if !params.against {
        for (_, pages, _) in &classes {
            for (at, page) in pages.iter().enumerate().skip(1) {
                identical.insert((page.url.clone(), pages[0].url.clone()));
                for of in &pages[..at] {
                    all_pairs.push((page.url.clone(), of.url.clone(), Category::C1));
                }
            }
        }
    }
    Naive {
        pairs,
        identical,
        ignored,
        all_pairs,
    }
}

fn found_pairs(findings: &Findings) -> Vec<FoundPair> {
    let mut last = None;
    rows(findings, PAIRS)
        .into_iter()
        .map(|row| {
            let category: Category = row.category.parse().unwrap();
            let larger = row.page_containment.max(row.of_containment);
            let rank = (category, -larger);
            // Ranks have a resolution of 2⁻²⁶.
            assert!(
                last.is_none_or(|(c, s)| c < category || (c == category && s <= -larger + 1e-7))
            );
            last = Some(rank);
            let share = |whole: u32| f64::from(row.shared) / f64::from(whole);
            assert_eq!(row.page_containment, share(row.page_fingerprints));
            assert_eq!(row.of_containment, share(row.of_fingerprints));
            let counts = [
                row.shared,
                row.page_fingerprints,
                row.of_fingerprints,
                row.frame,
                row.frequent,
                row.page_copies,
                row.of_copies,
            ];
            (
                row.page,
                row.of,
                category,
                row.style.parse().unwrap(),
                counts,
            )
        })
        .collect()
}

/// Compares tables and summary with the definitions.
fn check(corpora: &[&[TestPage]], params: &ReuseParams, findings: &Findings) {
    let expected = naive(corpora, params);
    let found = found_pairs(findings);
    assert_eq!(
        found.iter().cloned().collect::<BTreeSet<_>>(),
        expected.pairs
    );
    assert_eq!(found.len(), expected.pairs.len());
    let identical = rows(findings, IDENTICAL)
        .into_iter()
        .map(|row| (row.page, row.of));
    assert_eq!(identical.collect::<BTreeSet<_>>(), expected.identical);
    let ignored = rows(findings, IGNORED).into_iter();
    let ignored: BTreeSet<(u64, u32)> = ignored
        .map(|row| {
            // The text of a fingerprint has that fingerprint.
            let mut fingerprints = PageFingerprints::new(params.scheme);
            let text = row.text.unwrap();
            let grams = matches!(params.scheme, Scheme::KGram { .. });
            assert!(
                !grams || fingerprints.set_of(&text) == [row.fingerprint],
                "{text}"
            );
            (row.fingerprint, row.pages)
        })
        .collect();
    assert_eq!(ignored, expected.ignored);
    let summary: ReuseSummary = findings.summary().unwrap();
    for counts in &summary.categories {
        let pairs = expected
            .all_pairs
            .iter()
            .filter(|pair| pair.2 == counts.category);
        assert_eq!(counts.pairs, pairs.clone().count() as u64, "{counts:?}");
        let counted = |pair: &(String, String, Category)| {
            let other = (!params.against).then(|| pair.1.clone());
            [Some(pair.0.clone()), other]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
        };
        let siblings: Vec<String> = pairs.flat_map(counted).collect();
        assert_eq!(counts.siblings, siblings.len() as u64, "{counts:?}");
        let pages: BTreeSet<String> = siblings.into_iter().collect();
        assert_eq!(counts.pages, pages.len() as u64, "{counts:?}");
        if let Some(with_frames) = counts.pairs_with_frames {
            let whole = naive(
                corpora,
                &ReuseParams {
                    frame: false,
                    ..params.clone()
                },
            );
            let whole = whole
                .all_pairs
                .iter()
                .filter(|pair| pair.2 == counts.category)
                .count();
            assert_eq!(with_frames, whole as u64, "{counts:?}");
        }
    }
    let related = |included: fn(Category) -> bool| -> u64 {
        let pairs = expected.all_pairs.iter().filter(|pair| included(pair.2));
        let pages: BTreeSet<&String> = pairs
            .flat_map(|pair| {
                if params.against {
                    vec![&pair.0]
                } else {
                    vec![&pair.0, &pair.1]
                }
            })
            .collect();
        pages.len() as u64
    };
    assert_eq!(
        summary.near_duplicate_pages,
        related(Category::is_near_duplicate)
    );
    assert_eq!(summary.local_reuse_pages, related(Category::is_local));
    assert_eq!(
        summary.related_pages,
        related(|category| category != Category::OneSided)
    );
}

fn schemes() -> impl Strategy<Value = Scheme> {
    prop::sample::select(vec![
        "kgram:k=1",
        "kgram",
        "kgram:k=2",
        "mod:k=1,p=2",
        "mod",
        "winnow:k=1,w=3",
        "winnow",
        "break:p=2",
        "break",
        "dct:p=2",
        "dct",
    ])
    .prop_map(|text| text.parse().unwrap())
}

fn texts() -> impl Strategy<Value = Vec<(usize, String)>> {
    let words = prop::collection::vec("[a-e]{1,2}|漢字", 0..25).prop_map(|words| words.join(" "));
    prop::collection::vec((0usize..3, words), 1..22)
}

fn pages_of(texts: &[(usize, String)], first: usize) -> Vec<TestPage> {
    let pages = texts.iter().enumerate();
    pages
        .map(|(number, (host, text))| page(*host, first + number, text))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn pairs_are_those_of_the_definition_for_every_scheme(
        texts in texts(),
        against in prop::option::of(texts()),
        scheme in schemes(),
        thresholds in prop::sample::select(vec![["0.8", "0.5", "0.1"], ["1", "1", "0.25"], ["0.5", "0.333333", "0.000001"]]),
        min_shared in 1u32..3,
        max_pages in prop::sample::select(vec![Some(0u32), Some(2), Some(4), Some(1000)]),
        frequent in 3u32..8,
        frame in any::<bool>(),
        threads in 1usize..4,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let pages = pages_of(&texts, 0);
        let [most, considerable, partial] = thresholds.map(|text| text.parse().unwrap());
        let params = ReuseParams {
            thresholds: Thresholds { most, considerable, partial },
            min_shared,
            max_pages,
            frequent,
            frame,
            against: against.is_some(),
            ..ReuseParams::new(scheme)
        };
        let others = pages_of(&against.clone().unwrap_or_default(), 100);
        let one = index(folder.path(), "one", &pages);
        let mut paths = vec![one.as_path()];
        let mut corpora = vec![pages.as_slice()];
        let other;
        if against.is_some() {
            other = index(folder.path(), "other", &others);
            paths.push(&other);
            corpora.push(&others);
        }
        let source = Arc::new(CorpusPages::open(&paths).unwrap());
        let findings = run(&source, &params, &workplace(folder.path(), threads, 256 << 20)).unwrap();
        check(&corpora, &params, &findings);
    }
}

/// Pages in families of three that share passages, copies of pages, and a notice on all of them.
fn many() -> Vec<TestPage> {
    let sentence =
        |number: usize| format!("sentence {number} is about topic {} here. ", number * 7);
    let text = |page: usize| -> String {
        let passage = (0..40).map(|at| sentence((page / 3) * 20 + at + 5 * (page % 3)));
        passage
            .chain(["All rights are reserved by the authors of this page.".to_owned()])
            .collect()
    };
    let pages = (0..301).map(|number| {
        page(
            number % 7,
            number,
            &text(number - usize::from(number % 10 == 9)),
        )
    });
    pages.collect()
}

#[test]
fn neither_threads_nor_memory_change_a_byte() {
    let pages = many();
    let folder = tempfile::tempdir().unwrap();
    let source = corpus(folder.path(), &pages);
    let params = ReuseParams {
        max_pages: Some(100),
        ..ReuseParams::new("kgram".parse().unwrap())
    };
    let run = |threads, memory| {
        run(&source, &params, &workplace(folder.path(), threads, memory)).unwrap()
    };
    let whole = run(1, 1 << 30);
    check(&[&pages], &params, &whole);
    for (threads, memory) in [(1, 2 << 20), (2, 4 << 20), (4, 512 << 20)] {
        let other = run(threads, memory);
        assert_eq!(
            other.record.summary, whole.record.summary,
            "{threads} {memory}"
        );
        for table in [PAIRS.as_str(), IDENTICAL.as_str(), IGNORED.as_str()] {
            let bytes = |findings: &Findings| std::fs::read(findings.table(table)).unwrap();
            assert!(bytes(&other) == bytes(&whole), "{table} {threads} {memory}");
        }
    }
}

#[test]
fn reuse_of_two_pages_by_a_third_is_not_transitive_as_in_figure_1() {
    let words = |topic: &str, count: usize| -> String {
        (0..count).map(|at| format!("{topic}{at} ")).collect()
    };
    let [t1, t2, t3, t4] = ["one", "two", "three", "four"].map(|topic| words(topic, 40));
    let pages = [
        page(0, 0, &format!("{t1}{t2}")),
        page(1, 1, &format!("{t1}{t3}")),
        page(2, 2, &format!("{t3}{t4}")),
    ];
    let folder = tempfile::tempdir().unwrap();
    let source = corpus(folder.path(), &pages);
    for scheme in Scheme::PAPER {
        let params = ReuseParams::new(scheme);
        let findings = run(&source, &params, &workplace(folder.path(), 2, 64 << 20)).unwrap();
        let mut found: Vec<(String, String)> = rows(&findings, PAIRS)
            .into_iter()
            .map(|row| (row.page, row.of))
            .collect();
        found.sort();
        let url = |number: usize| pages[number].url.clone();
        assert_eq!(found, [(url(1), url(0)), (url(2), url(1))], "{scheme}");
    }
}

#[test]
fn the_later_page_comes_first_and_the_earliest_of_identical_pages_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let text = "a text of a few words that is published several times";
    let mut pages = [
        page(0, 0, text),
        page(1, 1, &format!("{text} with an addition")),
        page(2, 2, text),
    ];
    for (page, day) in pages.iter_mut().zip([Some(5), Some(2), Some(1)]) {
        page.day = day;
    }
    let source = corpus(folder.path(), &pages);
    let params = ReuseParams::new("kgram".parse().unwrap());
    let findings = run(&source, &params, &workplace(folder.path(), 1, 64 << 20)).unwrap();
    let pairs = rows(&findings, PAIRS);
    assert_eq!(pairs.len(), 1);
    assert_eq!(
        (&pairs[0].page, &pairs[0].of),
        (&pages[1].url, &pages[2].url)
    );
    assert_eq!((pairs[0].page_copies, pairs[0].of_copies), (1, 2));
    let identical = rows(&findings, IDENTICAL);
    assert_eq!(
        (&identical[0].page, &identical[0].of),
        (&pages[0].url, &pages[2].url)
    );
}

/// Counts the pairs that were joined for a template on `count` pages.
fn joined(count: usize, text: impl Fn(usize) -> String) -> (u64, ReuseSummary) {
    let folder = tempfile::tempdir().unwrap();
    let pages: Vec<TestPage> = (0..count).map(|at| page(at % 50, at, &text(at))).collect();
    let source = corpus(folder.path(), &pages);
    let params = ReuseParams {
        max_pages: Some(100),
        ..ReuseParams::default()
    };
    let findings = run(&source, &params, &workplace(folder.path(), 2, 256 << 20)).unwrap();
    let joined = findings.record.report.counted(counter::JOINED);
    (joined, findings.summary().unwrap())
}

#[test]
fn one_template_on_many_pages_does_not_make_quadratically_many_pairs() {
    let frame: String = (0..60).map(|at| format!("frame{at} ")).collect();
    let slots = |at: usize| format!("{frame} slot{at} value{at} price{at} item{at} {frame}");
    for count in [1000, 4000] {
        let (pairs, summary) = joined(count, slots);
        assert!(pairs <= 10 * count as u64, "{pairs}");
        // Winnowing may select no fingerprint of the slots; such pages have the same set.
        let pages = summary.pages_with_ignored + summary.identical;
        assert!(summary.ignored > 0 && pages == count as u64, "{summary:?}");
        let (pairs, summary) = joined(count, |_| frame.clone());
        assert_eq!((pairs, summary.identical), (0, count as u64 - 1));
        let c1 = summary.category(Category::C1).unwrap();
        assert_eq!(
            (c1.pages, c1.siblings),
            (count as u64, (count * (count - 1)) as u64)
        );
    }
}

#[test]
fn styles_tell_frames_templates_phrases_and_aliases_from_real_reuse() {
    let run_of = |topic: &str, count: usize| -> String {
        (0..count).map(|at| format!("{topic}{at} ")).collect()
    };
    let own = |at: usize, count: usize| run_of(&format!("own{at}x"), count);
    let mut pages = Vec::new();
    // A site whose pages share navigation.
    let navigation = run_of("navigation", 40);
    pages.extend((0..8).map(|at| page(0, at, &format!("{navigation}{}", own(at, 60)))));
    // Reports of one form on many hosts, with changed slots.
    let form = |slot: usize| {
        format!(
            "{} s{slot} {} t{slot} {}",
            run_of("fa", 30),
            run_of("fb", 30),
            run_of("fc", 30)
        )
    };
    pages.extend((10..24).map(|at| page(at, at, &form(at))));
    // A notice at the end of long pages on many hosts.
    let notice = run_of("notice", 25);
    pages.extend((30..44).map(|at| page(at, at, &format!("{}{notice}", own(at, 100)))));
    // A passage that one page has from another, and one page under two URLs.
    let passage = run_of("passage", 60);
    pages.push(page(50, 50, &format!("{passage}{}", own(50, 60))));
    pages.push(page(51, 51, &format!("{}{passage}", own(51, 60))));
    pages.push(page(52, 52, "one page under two addresses of one host"));
    pages.push(page(52, 53, "one page under two addresses of one host"));
    let folder = tempfile::tempdir().unwrap();
    let source = corpus(folder.path(), &pages);
    let params = ReuseParams::new("kgram".parse().unwrap());
    let findings = run(&source, &params, &workplace(folder.path(), 2, 64 << 20)).unwrap();
    check(&[&pages], &params, &findings);
    let mut styles: BTreeMap<ReuseStyle, u64> = BTreeMap::new();
    for row in rows(&findings, PAIRS) {
        *styles.entry(row.style.parse().unwrap()).or_default() += 1;
    }
    let expected = [
        (ReuseStyle::Reuse, 1),
        (ReuseStyle::Template, 14 * 13 / 2),
        (ReuseStyle::Phrase, 14 * 13 / 2),
        (ReuseStyle::Frame, 8 * 7 / 2),
    ];
    assert_eq!(styles, expected.into_iter().collect());
    assert_eq!(rows(&findings, IDENTICAL)[0].style, "alias");
    // Without frames, the pages of the site have nothing in common.
    let params = ReuseParams {
        frame: true,
        ..params
    };
    let findings = run(&source, &params, &workplace(folder.path(), 2, 64 << 20)).unwrap();
    check(&[&pages], &params, &findings);
    let styles: BTreeSet<String> = rows(&findings, PAIRS)
        .into_iter()
        .map(|row| row.style)
        .collect();
    assert_eq!(
        styles,
        ["phrase", "reuse", "template"].map(str::to_owned).into()
    );
}

#[test]
fn parameters_without_meaning_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = corpus(folder.path(), &[page(0, 0, "a b c d")]);
    let place = workplace(folder.path(), 1, 64 << 20);
    let usual = ReuseParams::default();
    let zero = Threshold::from_millionths(0);
    let rising = Thresholds {
        most: zero,
        ..Thresholds::default()
    };
    for params in [
        ReuseParams {
            min_shared: 0,
            ..usual.clone()
        },
        ReuseParams {
            max_pages: Some(1),
            ..usual.clone()
        },
        ReuseParams {
            frequent: 2,
            ..usual.clone()
        },
        ReuseParams {
            against: true,
            ..usual.clone()
        },
        ReuseParams {
            thresholds: rising,
            ..usual
        },
    ] {
        assert!(
            matches!(run(&source, &params, &place), Err(Error::Usage(_))),
            "{params:?}"
        );
    }
}
