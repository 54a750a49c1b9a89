//! Queries give the pairs of the definition, and those of `cento reuse`.

#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_find::reuse::{
    self, Category, Containment, IDENTICAL, PAIRS, PageFingerprints, ReuseParams, Thresholds,
};
use cento_find::{CorpusPages, Workplace};
use cento_flow::Progress;
use cento_query::{Answer, QuerySettings};
use proptest::prelude::*;
use support::{corpus, extended, open, url};

/// A match as a test compares it: URL, category, shared, fingerprints of the query and of the page.
type Found = BTreeSet<(String, Category, u32, u32, u32)>;

fn found(answer: &Answer) -> Found {
    let matches = answer.matches.iter();
    matches
        .map(|page| {
            assert_eq!(
                page.query_containment,
                f64::from(page.shared) / f64::from(page.query_fingerprints.max(1))
            );
            (
                page.url.clone(),
                page.category,
                page.shared,
                page.query_fingerprints,
                page.page_fingerprints,
            )
        })
        .collect()
}

/// The definition, by comparing everything with everything. `own` is the query's number if it is a
/// page of the corpus.
fn naive(texts: &[String], query: &str, own: Option<usize>, settings: &QuerySettings) -> Found {
    let mut fingerprints = PageFingerprints::new(ReuseParams::default().scheme);
    let mut set_of =
        |text: &str| -> BTreeSet<u64> { fingerprints.set_of(text).iter().copied().collect() };
    let sets: Vec<BTreeSet<u64>> = texts.iter().map(|text| set_of(text)).collect();
    let own_set = set_of(query);
    // Pages with the same set are one; the query is another corpus, unless it is in this one.
    let mut distinct: BTreeSet<(bool, &BTreeSet<u64>)> =
        sets.iter().map(|set| (false, set)).collect();
    if own.is_none() {
        distinct.insert((true, &own_set));
    }
    let mut pages: BTreeMap<u64, u32> = BTreeMap::new();
    for (_, set) in &distinct {
        for &fingerprint in *set {
            *pages.entry(fingerprint).or_default() += 1;
        }
    }
    let limit = match settings.max_pages {
        None | Some(0) => u32::MAX,
        Some(limit) => limit,
    };
    let kept = |set: &BTreeSet<u64>| -> BTreeSet<u64> {
        let kept = set.iter().copied();
        kept.filter(|one| pages.get(one).copied().unwrap_or_default() <= limit)
            .collect()
    };
    let query_kept = kept(&own_set);
    let mut expected = Found::new();
    for (number, set) in sets.iter().enumerate() {
        if own == Some(number) || set.is_empty() {
            continue;
        }
        let all = set.len() as u32;
        if own.is_some() && *set == own_set {
            expected.insert((url(number), Category::C1, all, all, all));
            continue;
        }
        let page_kept = kept(set);
        let shared = query_kept.intersection(&page_kept).count() as u32;
        let containment = Containment {
            shared,
            page: query_kept.len() as u32,
            of: page_kept.len() as u32,
        };
        if shared < settings.min_shared {
            continue;
        }
        if let Some(category) = Category::of(containment, settings.thresholds) {
            expected.insert((
                url(number),
                category,
                shared,
                containment.page,
                containment.of,
            ));
        }
    }
    expected
}

/// The pairs that `cento reuse` finds.
struct ReusePairs {
    /// The copies of each page in the table of pairs, and the number of their fingerprints.
    copies: BTreeMap<String, (u32, Vec<String>)>,
    pairs: Vec<reuse::ReusePairRow>,
}

impl ReusePairs {
    fn run(folder: &Path, paths: &[&Path], settings: &QuerySettings) -> ReusePairs {
        let source = Arc::new(CorpusPages::open(paths).unwrap());
        let params = ReuseParams {
            thresholds: settings.thresholds,
            min_shared: settings.min_shared,
            max_pages: settings.max_pages,
            against: paths.len() == 2,
            ..ReuseParams::default()
        };
        let workplace = Workplace {
            threads: 1,
            memory: 64 << 20,
            temp: None,
            findings: folder.join("findings"),
            again: true,
            progress: Progress::new(),
            request: Default::default(),
        };
        let findings = reuse::run(&source, &params, &workplace).unwrap();
        let mut copies: BTreeMap<String, (u32, Vec<String>)> = BTreeMap::new();
        for row in findings.rows(IDENTICAL).unwrap() {
            let row = row.unwrap();
            let class = copies.entry(row.of).or_default();
            class.0 = row.fingerprints;
            class.1.push(row.page);
        }
        let pairs = findings.rows(PAIRS).unwrap();
        ReusePairs {
            copies,
            pairs: pairs.collect::<Result<_, _>>().unwrap(),
        }
    }

    /// The page and its copies.
    fn class(&self, url: &str) -> Vec<String> {
        let mut class = vec![url.to_owned()];
        class.extend(self.copies.get(url).into_iter().flat_map(|of| of.1.clone()));
        class
    }

    /// The pairs of one page.
    fn of(&self, page: &str) -> Found {
        let mut expected = Found::new();
        for (first, &(all, _)) in &self.copies {
            let class = self.class(first);
            if class.iter().any(|url| url == page) {
                let others = class.into_iter().filter(|url| url != page);
                expected.extend(others.map(|other| (other, Category::C1, all, all, all)));
            }
        }
        for row in &self.pairs {
            let (one, other) = (self.class(&row.page), self.class(&row.of));
            let category: Category = row.category.parse().unwrap();
            let sizes = (row.page_fingerprints, row.of_fingerprints);
            let (others, sizes) = match one.iter().any(|url| url == page) {
                true => (other, sizes),
                false if other.iter().any(|url| url == page) => (one, (sizes.1, sizes.0)),
                false => continue,
            };
            let others = others.into_iter();
            expected.extend(others.map(|url| (url, category, row.shared, sizes.0, sizes.1)));
        }
        expected
    }
}

/// Texts of passages that they share, and of other words.
fn text() -> impl Strategy<Value = String> {
    let passage = (0usize..6).prop_map(|number| {
        let words = (0..14).map(|word| format!("p{number}w{word}"));
        words.collect::<Vec<_>>().join(" ")
    });
    let words = "([a-f]{1,3} ){0,12}";
    let part = prop_oneof![3 => passage, 1 => words];
    proptest::collection::vec(part, 0..5).prop_map(|parts| parts.join(" "))
}

fn settings() -> impl Strategy<Value = QuerySettings> {
    let limits = prop_oneof![
        Just(None),
        Just(Some(0)),
        (2u32..6).prop_map(Some),
        Just(Some(600)),
    ];
    let thresholds = prop_oneof![
        Just(Thresholds::default()),
        Just(Thresholds {
            partial: reuse::Threshold::from_millionths(1),
            ..Thresholds::default()
        }),
    ];
    (limits, thresholds, 1u32..4).prop_map(|(max_pages, thresholds, min_shared)| QuerySettings {
        thresholds,
        min_shared,
        max_pages,
        top: 0,
        passages: true,
    })
}

/// Indexes pages in several additions, and extends the index each time or only at the end.
fn added(folder: &Path, runs: &[Vec<String>], extend: bool) -> (PathBuf, Vec<String>) {
    let mut texts = Vec::new();
    let mut path = PathBuf::new();
    for run in runs {
        path = corpus(folder, "pages", texts.len(), run);
        texts.extend(run.iter().cloned());
        if extend {
            extended(&path);
        }
    }
    (path, texts)
}

fn runs() -> impl Strategy<Value = Vec<Vec<String>>> {
    let run = proptest::collection::vec(text(), 1..6);
    proptest::collection::vec(run, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn matches_are_those_of_the_definition(
        runs in runs(),
        extend: bool,
        query in text(),
        settings in settings(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (path, texts) = added(folder.path(), &runs, extend);
        let index = open(&path);
        prop_assert_eq!(u64::from(index.pages()), index.corpus().manifest().counts().kept);
        let answer = index.query(&query, &settings).unwrap();
        prop_assert_eq!(found(&answer), naive(&texts, &query, None, &settings));
        prop_assert_eq!(answer.pages as usize, answer.matches.len());
        for number in 0..texts.len() {
            let id = index.corpus().pages_at(&url(number)).unwrap()[0];
            if index.corpus().text(id).unwrap().is_none() {
                prop_assert!(index.query_page(id, &settings).is_err());
                continue;
            }
            let answer = index.query_page(id, &settings).unwrap();
            prop_assert_eq!(found(&answer), naive(&texts, &texts[number], Some(number), &settings));
        }

        // The best few are the first of all.
        let top = QuerySettings { top: 2, ..settings };
        let best = index.query(&query, &top).unwrap();
        prop_assert_eq!(best.pages, answer.pages);
        prop_assert_eq!(&best.matches[..], &answer.matches[..answer.matches.len().min(2)]);
        // Passages are the same words on both sides.
        for page in &answer.matches {
            let text = index.corpus().text(page.page_id).unwrap().unwrap();
            prop_assert!(!page.passages.is_empty());
            for passage in &page.passages {
                let words = |text: &str| -> Vec<String> {
                    cento_text::words::words(text).into_iter().map(|(_, word)| word).collect()
                };
                prop_assert_eq!(words(&query[passage.query.clone()]), words(&text[passage.page.clone()]));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn matches_are_those_of_reuse(runs in runs(), query in text(), settings in settings()) {
        let folder = tempfile::tempdir().unwrap();
        let (path, texts) = added(folder.path(), &runs, true);
        let index = open(&path);
        let pairs = ReusePairs::run(folder.path(), &[&path], &settings);
        for number in 0..texts.len() {
            let id = index.corpus().pages_at(&url(number)).unwrap()[0];
            if let Ok(answer) = index.query_page(id, &settings) {
                prop_assert_eq!(found(&answer), pairs.of(&url(number)));
            }
        }
        let other = corpus(folder.path(), "query", 0, std::slice::from_ref(&query));
        let all = found(&index.query(&query, &settings).unwrap());
        // The only page of the first corpus has the URL of page 0. With two corpora, the table of
        // pairs has one page of those with the same fingerprints, and none lists the others.
        let expected = ReusePairs::run(folder.path(), &[&other, &path], &settings).of(&url(0));
        prop_assert!(expected.is_subset(&all), "{expected:?} {all:?}");
        let counts = |found: &Found| -> BTreeSet<(Category, u32, u32, u32)> {
            found.iter().map(|&(_, category, shared, one, other)| (category, shared, one, other)).collect()
        };
        prop_assert_eq!(counts(&expected), counts(&all));
    }
}
