//! `quilts` against the definition of the paper.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use cento_find::quilts::{Foreign, QuiltsParams, QuiltsSummary, Sweep, quilts, sample, sweep};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Page, bytes, corpus, corpus_of, open, prose, rows, workplace};

/// A passage: its text, its first word, and its number of words.
type Passage = (usize, usize, usize);

/// A quilt by the definition: page, grams, patch grams, and its sources with the grams that each
/// adds.
type Quilt = (usize, u64, u64, Vec<(usize, u64)>);

fn words(page: &Page) -> Vec<String> {
    let words = page.1.split_whitespace();
    words.map(str::to_lowercase).collect()
}

fn domain(page: &Page) -> &str {
    let host = page
        .0
        .split("://")
        .nth(1)
        .unwrap()
        .split('/')
        .next()
        .unwrap();
    let dot = host.rmatch_indices('.').nth(1);
    dot.map_or(host, |(at, _)| &host[at + 1..])
}

/// Figure 5 of the paper with `.Distinct()` on each page's grams, and the foreign variant of its
/// section 3.
fn by_definition(pages: &[Page], params: &QuiltsParams) -> Vec<Quilt> {
    let grams: Vec<BTreeSet<Vec<String>>> = pages
        .iter()
        .map(|page| {
            let words = words(page);
            words
                .windows(params.k as usize)
                .map(<[_]>::to_vec)
                .collect()
        })
        .collect();
    let mut docs: BTreeMap<&Vec<String>, Vec<usize>> = BTreeMap::new();
    for (page, set) in grams.iter().enumerate() {
        set.iter()
            .for_each(|gram| docs.entry(gram).or_default().push(page));
    }
    docs.retain(|_, pages| pages.len() > 1 && pages.len() <= params.m as usize);
    let mut quilts = Vec::new();
    for (page, set) in grams.iter().enumerate() {
        let patch = set.iter().filter(|gram| docs.contains_key(gram)).count();
        if set.is_empty() || (patch as f64) / (set.len() as f64) < params.theta {
            continue;
        }
        let mut candidates: Vec<(usize, &Vec<String>)> = Vec::new();
        for gram in set {
            for &other in docs.get(gram).into_iter().flatten() {
                let foreign = match params.foreign {
                    Foreign::None => true,
                    _ => domain(&pages[page]) != domain(&pages[other]),
                };
                if other != page && foreign {
                    candidates.push((other, gram));
                }
            }
        }
        let mut sources = Vec::new();
        while !candidates.is_empty() {
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            candidates
                .iter()
                .for_each(|(other, _)| *counts.entry(*other).or_default() += 1);
            let best = counts
                .iter()
                .max_by_key(|(page, count)| (**count, std::cmp::Reverse(**page)));
            let (&best, &count) = best.unwrap();
            if (count as f64 / patch as f64) < params.min_share {
                break;
            }
            sources.push((best, count as u64));
            let covered: BTreeSet<&Vec<String>> = candidates
                .iter()
                .filter(|(other, _)| *other == best)
                .map(|(_, gram)| *gram)
                .collect();
            candidates.retain(|(_, gram)| !covered.contains(gram));
        }
        if sources.len() >= params.c as usize {
            quilts.push((page, set.len() as u64, patch as u64, sources));
        }
    }
    quilts
}

/// The number at the end of an address.
fn number(value: &Value) -> usize {
    value
        .as_str()
        .unwrap()
        .rsplit('/')
        .next()
        .unwrap()
        .parse()
        .unwrap()
}

fn as_quilts(quilts: &[Value], patches: &[Value]) -> Vec<Quilt> {
    quilts
        .iter()
        .map(|quilt| {
            let of_page = patches
                .iter()
                .filter(|patch| patch["page_id"] == quilt["page_id"]);
            let sources: Vec<(usize, u64)> = of_page
                .map(|patch| (number(&patch["source"]), patch["grams"].as_u64().unwrap()))
                .collect();
            assert_eq!(quilt["sources"], sources.len());
            let count = |name: &str| quilt[name].as_u64().unwrap();
            (
                number(&quilt["page"]),
                count("grams"),
                count("patch_grams"),
                sources,
            )
        })
        .collect()
}

/// Pages of passages from a common stock, on a few domains.
fn stitched() -> impl Strategy<Value = Vec<Page>> {
    let passage = (0usize..12, 0usize..8, 2usize..12);
    let page = (prop::collection::vec(passage, 0..6), 0usize..6);
    prop::collection::vec(page, 1..14).prop_map(|pages| {
        let page = |(number, (passages, domain)): (usize, (Vec<Passage>, usize))| {
            let words: Vec<String> = passages
                .iter()
                .flat_map(|&(stock, begin, length)| {
                    (begin..begin + length).map(move |word| format!("w{}", stock * 7 + word))
                })
                .collect();
            (
                format!("http://www.d{domain}.example/{number}"),
                words.join(" "),
            )
        };
        // A page without words would be rejected.
        pages
            .into_iter()
            .enumerate()
            .map(page)
            .map(|(url, text)| (url, format!("{text} end").trim_start().to_owned()))
            .collect()
    })
}

fn params() -> impl Strategy<Value = QuiltsParams> {
    let foreign = prop_oneof![Just(Foreign::None), Just(Foreign::Domain)];
    let share = prop_oneof![Just(0.0), Just(0.1), Just(0.3)];
    (1u32..4, 2u32..8, 1u32..4, 1u32..=10, foreign, share).prop_map(
        |(k, m, c, tenths, foreign, min_share)| QuiltsParams {
            k,
            m,
            c,
            theta: f64::from(tenths) / 10.0,
            foreign,
            min_share,
            collapse: false,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn quilts_are_those_of_the_papers_program(pages in stitched(), params in params(), small: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = corpus(folder.path(), "pages", &pages);
        let memory = if small { 2 << 20 } else { 256 << 20 };
        let place = workplace(&folder.path().join("findings"), 2, memory);
        let findings = quilts(&open(&[&path]), &params, &place).unwrap();
        let (quilts, patches) = (rows(&findings, "quilts"), rows(&findings, "patches"));
        prop_assert_eq!(as_quilts(&quilts, &patches), by_definition(&pages, &params));
        for patch in &patches {
            check_runs(&pages, &params, patch);
        }
        for quilt in &quilts {
            check_originality(&pages, &params, quilt);
        }
    }

    #[test]
    fn sweeps_count_what_single_runs_find(pages in stitched(), pivot in params()) {
        let folder = tempfile::tempdir().unwrap();
        let path = corpus(folder.path(), "pages", &pages);
        let place = workplace(&folder.path().join("findings"), 2, 64 << 20);
        let sweeps = [
            Sweep::K(vec![1, 2, 3]),
            Sweep::M(vec![2, 3, 5, 9]),
            Sweep::C(vec![1, 2, 3]),
            Sweep::Theta(vec![0.25, 0.5, 1.0]),
        ];
        let findings = sweep(&open(&[&path]), &pivot, &sweeps, &place).unwrap();
        let counted = rows(&findings, "sweep");
        prop_assert_eq!(counted.len(), 13);
        for row in &counted {
            let number = |name: &str| row[name].as_u64().unwrap() as u32;
            let theta = row["theta"].as_f64().unwrap();
            let params = QuiltsParams { k: number("k"), m: number("m"), c: number("c"), theta, ..pivot.clone() };
            let expected = by_definition(&pages, &params);
            prop_assert_eq!(row["quilts"].as_u64().unwrap(), expected.len() as u64, "{}", row);
            let sources: usize = expected.iter().map(|quilt| quilt.3.len()).sum();
            match expected.len() {
                0 => prop_assert!(row["sources"].is_null()),
                quilts => prop_assert_eq!(row["sources"].as_f64().unwrap(), sources as f64 / quilts as f64),
            }
        }
        // Theorems 1 and 2: no more quilts for a larger θ or c.
        for swept in ["theta", "c"] {
            let counts: Vec<u64> = counted
                .iter()
                .filter(|row| row["swept"] == swept)
                .map(|row| row["quilts"].as_u64().unwrap())
                .collect();
            prop_assert!(counts.is_sorted_by(|one, other| one >= other), "{}: {:?}", swept, counts);
        }
    }
}

/// The runs of a patch are the same words on both sides, and together they have all grams that the
/// source adds.
fn check_runs(pages: &[Page], params: &QuiltsParams, patch: &Value) {
    let list = |name: &str| -> Vec<usize> {
        let list = patch[name].as_array().unwrap().iter();
        list.map(|number| number.as_u64().unwrap() as usize)
            .collect()
    };
    let text = |name: &str| &pages[number(&patch[name])].1;
    let (page, source) = (text("page"), text("source"));
    let mut grams = BTreeSet::new();
    let (begins, ends) = (list("begins"), list("ends"));
    let (source_begins, source_ends) = (list("source_begins"), list("source_ends"));
    assert_eq!(begins.len(), source_ends.len());
    for at in 0..begins.len() {
        let run = &page[begins[at]..ends[at]];
        assert_eq!(run, &source[source_begins[at]..source_ends[at]]);
        let words: Vec<&str> = run.split_whitespace().collect();
        grams.extend(words.windows(params.k as usize).map(|gram| gram.join(" ")));
    }
    assert_eq!(patch["grams"], grams.len());
}

/// Without dates, grams are original if no other page has them.
fn check_originality(pages: &[Page], params: &QuiltsParams, quilt: &Value) {
    let sets: Vec<BTreeSet<Vec<String>>> = pages
        .iter()
        .map(|page| {
            words(page)
                .windows(params.k as usize)
                .map(<[_]>::to_vec)
                .collect()
        })
        .collect();
    let page = number(&quilt["page"]);
    let alone = sets[page]
        .iter()
        .filter(|gram| sets.iter().filter(|set| set.contains(*gram)).count() == 1);
    let originality = alone.count() as f64 / sets[page].len() as f64;
    assert!((quilt["originality"].as_f64().unwrap() - originality).abs() < 1e-12);
}

fn page(url: &str, words: &[String]) -> Value {
    json!({ "url": url, "text": words.join(" ") })
}

/// A quilt of four sources with some other words.
fn quilt_and_sources() -> Vec<Value> {
    let sources: Vec<Vec<String>> = (0..4).map(|seed| prose(seed, 60)).collect();
    let mut words = prose(99, 10);
    sources
        .iter()
        .for_each(|source| words.extend_from_slice(&source[10..40]));
    let mut pages: Vec<Value> = sources
        .iter()
        .enumerate()
        .map(|(number, source)| page(&format!("http://s{number}.example/{number}"), source))
        .collect();
    pages.push(page("http://quilt.example/4", &words));
    pages
}

fn found(pages: &[Value], params: &QuiltsParams) -> (Vec<Value>, Vec<Value>, QuiltsSummary) {
    let folder = tempfile::tempdir().unwrap();
    let path = corpus_of(folder.path(), "pages", pages);
    let place = workplace(&folder.path().join("findings"), 2, 64 << 20);
    let findings = quilts(&open(&[&path]), params, &place).unwrap();
    (
        rows(&findings, "quilts"),
        rows(&findings, "patches"),
        findings.summary().unwrap(),
    )
}

#[test]
fn a_quilt_has_its_sources_and_the_positions_of_its_patches() {
    let (quilts, patches, summary) = found(&quilt_and_sources(), &QuiltsParams::default());
    assert_eq!((quilts.len(), patches.len()), (1, 4));
    assert_eq!((summary.quilts, summary.patches, summary.patchy), (1, 4, 1));
    assert_eq!(quilts[0]["patch_grams"], 4 * 26);
    assert_eq!(quilts[0]["foreign_share"], 1.0);
    assert_eq!(patches[0]["begins"].as_array().unwrap().len(), 1);
    assert_eq!(patches[0]["earlier"], "unknown");
    // The quilt has four sources.
    let params = QuiltsParams {
        c: 5,
        ..QuiltsParams::default()
    };
    assert!(found(&quilt_and_sources(), &params).0.is_empty());
}

#[test]
fn pages_of_the_same_domain_are_sources_only_on_request() {
    let mut pages = quilt_and_sources();
    pages[0]["url"] = json!("http://blog.quilt.example/0");
    let none = QuiltsParams {
        foreign: Foreign::None,
        ..QuiltsParams::default()
    };
    let host = QuiltsParams {
        foreign: Foreign::Host,
        ..QuiltsParams::default()
    };
    let three = QuiltsParams {
        c: 3,
        ..QuiltsParams::default()
    };
    assert!(found(&pages, &QuiltsParams::default()).0.is_empty());
    assert_eq!(found(&pages, &none).0[0]["foreign_share"], Value::Null);
    assert_eq!(found(&pages, &host).0.len(), 1);
    // θ is of all patch grams; three quarters of them have a foreign source.
    let (quilts, patches, _) = found(&pages, &three);
    assert_eq!((quilts[0]["sources"].clone(), patches.len()), (json!(3), 3));
    assert_eq!(quilts[0]["foreign_share"], 0.75);
}

#[test]
fn grams_that_a_page_had_first_are_original() {
    let mut pages = quilt_and_sources();
    for (page, day) in pages.iter_mut().zip([1, 2, 3, 9, 5]) {
        page["date"] = json!(format!("2020-01-0{day}T12:00:00Z"));
    }
    let (quilts, patches, _) = found(&pages, &QuiltsParams::default());
    // Its ten other words begin ten grams, each seam has four; 26 grams are on a later page.
    let grams = quilts[0]["grams"].as_u64().unwrap();
    let alone = grams - 4 * 26;
    let originality = (alone + 26) as f64 / grams as f64;
    assert!((quilts[0]["originality"].as_f64().unwrap() - originality).abs() < 1e-12);
    let earlier: Vec<&str> = patches
        .iter()
        .map(|patch| patch["earlier"].as_str().unwrap())
        .collect();
    assert_eq!(earlier, ["source", "source", "source", "page"]);
}

/// A page whose patch grams are all on different sets of pages. Issue 17: its lists exceeded any
/// budget.
#[test]
fn a_page_with_many_different_patch_grams_stays_within_the_budget() {
    const WORDS: usize = 6_000;
    const SOURCES: usize = 200;
    let source_of = |word: usize, turn: usize| (word * (2 * turn + 7) + turn * word / 31) % SOURCES;
    let mut texts = vec![String::new(); SOURCES];
    for word in 0..WORDS {
        let holders: BTreeSet<usize> = (0..12).map(|turn| source_of(word, turn)).collect();
        holders
            .iter()
            .for_each(|&holder| texts[holder].push_str(&format!("w{word} ")));
    }
    let mut pages: Vec<Page> = texts
        .into_iter()
        .enumerate()
        .map(|(number, text)| (format!("http://s{number}.example/{number}"), text))
        .collect();
    let whole: String = (0..WORDS).map(|word| format!("w{word} ")).collect();
    pages.push((format!("http://quilt.example/{SOURCES}"), whole));
    let folder = tempfile::tempdir().unwrap();
    let path = corpus(folder.path(), "pages", &pages);
    let params = QuiltsParams {
        k: 1,
        theta: 1.0,
        c: 10,
        ..QuiltsParams::default()
    };
    let run = |memory: u64| {
        let name = format!("findings-{memory}");
        let place = workplace(&folder.path().join(name), 1, memory);
        let findings = quilts(&open(&[&path]), &params, &place).unwrap();
        let spilled = findings.record.report.counted("spilled pages");
        (bytes(&findings), spilled, rows(&findings, "quilts").len())
    };
    let (small, large) = (run(2 << 20), run(256 << 20));
    assert_eq!((small.1 > 0, large.1), (true, 0));
    assert!(large.2 > 0);
    assert!(small.0 == large.0, "the budget changes the result");
}

#[test]
fn duplicates_count_as_pages_unless_they_are_collapsed() {
    let mut pages = quilt_and_sources();
    let copied = pages[0].clone();
    for number in 5..8 {
        let mut copy = copied.clone();
        copy["url"] = json!(format!("http://m{number}.example/{number}"));
        pages.push(copy);
    }
    let params = QuiltsParams {
        m: 3,
        ..QuiltsParams::default()
    };
    // The copied passage is on five pages.
    assert!(found(&pages, &params).0.is_empty());
    let (quilts, _, summary) = found(
        &pages,
        &QuiltsParams {
            collapse: true,
            ..params
        },
    );
    assert_eq!((quilts.len(), summary.collapsed, summary.pages), (1, 3, 5));
}

#[test]
fn a_sample_is_drawn_by_its_seed() {
    let mut pages = quilt_and_sources();
    let quilt = pages[4].clone();
    for number in 5..25 {
        let mut other = quilt.clone();
        other["url"] = json!(format!("http://q{number}.example/{number}"));
        other["text"] = json!(format!("{} v{number}", other["text"].as_str().unwrap()));
        pages.push(other);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = corpus_of(folder.path(), "pages", &pages);
    let place = workplace(&folder.path().join("findings"), 2, 64 << 20);
    let params = QuiltsParams {
        c: 1,
        ..QuiltsParams::default()
    };
    let findings = quilts(&open(&[&path]), &params, &place).unwrap();
    let all = rows(&findings, "quilts").len();
    assert!(all >= 21);
    let drawn = sample(&findings, 5, 1).unwrap();
    assert_eq!(drawn.len(), 5);
    assert_eq!(sample(&findings, 5, 1).unwrap(), drawn);
    assert_ne!(sample(&findings, 5, 2).unwrap(), drawn);
    assert_eq!(sample(&findings, 1000, 1).unwrap().len(), all);
}

#[test]
fn tables_have_the_same_bytes_on_any_threads_and_in_any_memory() {
    // Enough words that they do not fit in the smallest memory, and long pages with many sources.
    let pages: Vec<Page> = (0..600)
        .map(|number: usize| {
            let mut words = Vec::new();
            for part in 0..12 {
                let stock = (number * 7 + part * 13) % 400;
                let begin = (number * 11 + part * 5) % 60;
                words.extend((begin..begin + 40).map(|word| format!("w{stock}x{word}")));
            }
            (
                format!("http://d{}.example/{number}", number % 90),
                words.join(" "),
            )
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = corpus(folder.path(), "pages", &pages);
    let mut first = None;
    for (run, (threads, memory)) in [
        (1, 1 << 30),
        (2, 8 << 20),
        (7, 8 << 20),
        (7, 1 << 30),
        (1, 8 << 20),
    ]
    .into_iter()
    .enumerate()
    {
        let place = workplace(
            &folder.path().join(format!("findings{run}")),
            threads,
            memory,
        );
        let source = open(&[&path]);
        let found = quilts(&source, &QuiltsParams::default(), &place).unwrap();
        let swept = sweep(
            &source,
            &QuiltsParams::default(),
            &[Sweep::M(vec![5, 50])],
            &place,
        )
        .unwrap();
        assert!(found.summary::<QuiltsSummary>().unwrap().quilts > 100);
        let tables = (bytes(&found), bytes(&swept));
        match &first {
            None => first = Some(tables),
            Some(first) => assert!(*first == tables, "{threads} threads, {memory} bytes"),
        }
    }
}

#[test]
fn a_page_shorter_than_a_gram_has_no_grams() {
    let (quilts, patches, summary) = found(
        &[page("http://a.example/0", &prose(1, 3))],
        &QuiltsParams::default(),
    );
    assert!(quilts.is_empty() && patches.is_empty());
    assert_eq!((summary.pages, summary.grams), (1, 0));
}

#[test]
fn a_digest_that_links_to_all_originals_is_attributed_whatever_the_cover_names() {
    // Replicas come first in the corpus, so the paper's cover names them; the digest links to the
    // originals.
    let mut pages = quilt_and_sources();
    let mut digest = pages.pop().unwrap();
    let originals = pages.clone();
    for (number, page) in pages.iter_mut().enumerate() {
        page["url"] = json!(format!("http://replica{number}.example/{number}"));
    }
    pages.extend(originals);
    let links: String = (0..4)
        .map(|number| format!("<a href=\"http://s{number}.example/{number}\">x</a> "))
        .collect();
    let text = digest["text"].as_str().unwrap().to_owned();
    digest.as_object_mut().unwrap().remove("text");
    digest["html"] = json!(format!(
        "<html><body><p>{text}</p><p>{links}</p></body></html>"
    ));
    pages.push(digest);
    for foreign in [Foreign::Domain, Foreign::Host, Foreign::None] {
        let params = QuiltsParams {
            foreign,
            theta: 0.4,
            ..QuiltsParams::default()
        };
        let (quilts, patches, summary) = found(&pages, &params);
        let quilt = |row: &&Value| row["page"] == "http://quilt.example/4";
        let row = quilts.iter().find(quilt).unwrap();
        assert_eq!(row["attributed_share"], 1.0);
        for patch in patches.iter().filter(quilt) {
            assert!(patch["source"].as_str().unwrap().contains("replica"));
            assert_eq!(patch["attributed"], true);
            assert_eq!(patch["attributed_grams"], patch["grams"]);
        }
        assert_eq!(summary.attributed_quilts, 1);
    }
}

#[test]
fn of_pages_with_the_same_patch_the_earliest_is_named_as_its_source() {
    // Old books: all years are before 1970, and the replica that comes first in the corpus is
    // younger.
    let mut pages = quilt_and_sources();
    let originals = pages.get(..4).unwrap().to_vec();
    for (number, page) in pages.iter_mut().enumerate() {
        page["date"] = json!("1921-05-01T00:00:00Z");
        if number < 4 {
            page["url"] = json!(format!("http://replica{number}.example/{number}"));
        }
    }
    pages.extend(originals.into_iter().map(|mut page| {
        page["date"] = json!("1811-01-01T00:00:00Z");
        page
    }));
    let (quilts, patches, summary) = found(&pages, &QuiltsParams::default());
    assert_eq!(quilts.len(), 1);
    assert_eq!(quilts[0]["sources"], 4);
    for patch in &patches {
        assert!(patch["source"].as_str().unwrap().starts_with("http://s"));
        assert_eq!(patch["earlier"], "source");
        assert_eq!(patch["source_dated_by"], patch["page_dated_by"]);
    }
    assert_eq!((summary.earlier_sources, summary.first_quilts), (4, 0));
    // Without dates the paper's order decides, and no page is reported as earlier.
    for page in &mut pages {
        page.as_object_mut().unwrap().remove("date");
    }
    let (_, patches, summary) = found(&pages, &QuiltsParams::default());
    for patch in &patches {
        assert!(patch["source"].as_str().unwrap().contains("replica"));
        assert_eq!(patch["earlier"], "unknown");
    }
    assert_eq!((summary.earlier_sources, summary.later_sources), (0, 0));
}

#[test]
fn an_original_that_others_took_from_is_known_to_have_been_first() {
    let mut pages = quilt_and_sources();
    for (page, year) in pages.iter_mut().zip([2001, 2002, 2003, 2004, 1950]) {
        page["date"] = json!(format!("{year}-01-01T00:00:00Z"));
    }
    let (quilts, patches, summary) = found(&pages, &QuiltsParams::default());
    assert_eq!(quilts[0]["first_grams"], quilts[0]["patch_grams"]);
    assert_eq!(quilts[0]["originality"], 1.0);
    assert!(patches.iter().all(|patch| patch["earlier"] == "page"));
    assert_eq!((summary.first_quilts, summary.later_sources), (1, 4));
}
