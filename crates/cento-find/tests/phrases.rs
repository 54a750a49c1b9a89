//! Popular phrases against the definitions of the paper, in memory and slowly.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up should stop there"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use cento_find::copies::{CopiesScheme, MINIMA};
use cento_find::phrases::{ForeignBy, PhrasesParams, PhrasesSummary, SiteKind, figures, phrases};
use cento_find::words::WordHasher;
use cento_find::{Findings, Workplace};
use cento_fingerprint::{SketchParameters, Sketcher, grams};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{bytes, corpus_of, open, prose, rows, workplace};

/// A page of the naive version.
#[derive(Debug, Clone)]
struct Page {
    url: String,
    host: String,
    domain: String,
    ip: Option<String>,
    text: String,
}

impl Page {
    fn new(at: usize, host: usize, ip: Option<usize>, words: &[String]) -> Page {
        // Two hosts of each domain.
        let domain = format!("d{}.example", host / 2);
        let host = format!("h{host}.{domain}");
        Page {
            url: format!("http://{host}/{at}"),
            host,
            domain,
            ip: ip.map(|ip| format!("10.0.0.{ip}")),
            text: words.join(" "),
        }
    }

    fn json(&self) -> Value {
        match &self.ip {
            Some(ip) => json!({ "url": self.url, "text": self.text, "ip": ip }),
            None => json!({ "url": self.url, "text": self.text }),
        }
    }

    fn site(&self, kind: SiteKind) -> Option<String> {
        match kind {
            SiteKind::Host => Some(self.host.clone()),
            SiteKind::Domain => Some(self.domain.clone()),
            SiteKind::Ip => self.ip.clone(),
        }
    }

    /// Whether it is a preferred candidate for a cover, and whether it is foreign.
    fn foreign_to(&self, other: &Page, by: ForeignBy) -> (bool, bool) {
        let domain = self.domain != other.domain;
        let ip = self.ip.is_none() || self.ip != other.ip;
        match by {
            ForeignBy::Both => (domain && ip, domain && ip),
            ForeignBy::Ip => (domain && ip, ip),
            ForeignBy::Domain => (domain, domain),
        }
    }
}

fn run(
    pages: &[Page],
    params: &PhrasesParams,
    threads: usize,
    memory: u64,
) -> (Findings, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<Value> = pages.iter().map(Page::json).collect();
    let path = corpus_of(folder.path(), "pages", &lines);
    let place: Workplace = workplace(&folder.path().join("findings"), threads, memory);
    (phrases(&open(&[&path]), params, &place).unwrap(), folder)
}

/// The definitions of the paper, computed from the text of all pages.
struct Naive {
    /// The 84 shingles of each page.
    shingles: Vec<Vec<u64>>,
    /// The phrases of each page.
    sets: Vec<BTreeSet<u64>>,
    /// The pages of each phrase.
    pages: BTreeMap<u64, BTreeSet<usize>>,
    /// The pages that each phrase was sampled from.
    sampled: BTreeMap<u64, BTreeSet<usize>>,
}

impl Naive {
    fn new(pages: &[Page], params: &PhrasesParams) -> Naive {
        let k = params.k as usize;
        let mut sketcher = Sketcher::new(SketchParameters {
            k: params.k,
            minima: MINIMA,
        });
        let mut naive = Naive {
            shingles: Vec::new(),
            sets: Vec::new(),
            pages: BTreeMap::new(),
            sampled: BTreeMap::new(),
        };
        for (at, page) in pages.iter().enumerate() {
            let mut hasher = WordHasher::default();
            let mut all = Vec::new();
            grams(hasher.words(&page.text), k, |gram, _| all.push(gram));
            let shingles = sketcher.minima(&all).unwrap_or_default().to_vec();
            let set: BTreeSet<u64> = all.into_iter().collect();
            for &gram in &set {
                naive.pages.entry(gram).or_default().insert(at);
            }
            for &gram in &shingles {
                naive.sampled.entry(gram).or_default().insert(at);
            }
            naive.shingles.push(shingles);
            naive.sets.push(set);
        }
        naive
    }

    fn popular(&self, gram: u64, params: &PhrasesParams) -> bool {
        let counted = if params.exact {
            &self.pages
        } else {
            &self.sampled
        };
        counted.get(&gram).map_or(0, BTreeSet::len) >= params.min_pages as usize
    }

    /// Whether a page can cover a phrase: it has it, as a shingle if popularity is sampled.
    fn gives(&self, page: usize, gram: u64, params: &PhrasesParams) -> bool {
        let givers = if params.exact {
            &self.pages
        } else {
            &self.sampled
        };
        givers[&gram].contains(&page)
    }

    fn popular_shingles(&self, page: usize, params: &PhrasesParams) -> usize {
        let shingles = self.shingles[page].iter();
        shingles.filter(|&&gram| self.popular(gram, params)).count()
    }

    /// The greedy rule. Candidates are all other pages.
    fn cover(
        &self,
        page: usize,
        pages: &[Page],
        params: &PhrasesParams,
    ) -> Vec<(usize, usize, bool)> {
        let whole = &self.shingles[page];
        let mut uncovered: Vec<u64> = whole
            .iter()
            .copied()
            .filter(|&gram| self.popular(gram, params))
            .collect();
        let mut cover = Vec::new();
        while !uncovered.is_empty() {
            let of = |other: usize, shingles: &[u64]| {
                shingles
                    .iter()
                    .filter(|&&gram| self.gives(other, gram, params))
                    .count()
            };
            let best = (0..pages.len())
                .filter(|&other| other != page && of(other, &uncovered) > 0)
                .max_by_key(|&other| {
                    (
                        pages[other].foreign_to(&pages[page], params.foreign).0,
                        of(other, &uncovered),
                        of(other, whole),
                        std::cmp::Reverse(other),
                    )
                })
                .unwrap();
            cover.push((
                best,
                of(best, &uncovered),
                pages[best].foreign_to(&pages[page], params.foreign).1,
            ));
            uncovered.retain(|&gram| !self.gives(best, gram, params));
        }
        cover
    }
}

fn six(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Compares all tables with the naive version.
fn check(pages: &[Page], params: &PhrasesParams) -> Result<(), TestCaseError> {
    let (findings, _folder) = run(pages, params, 2, 64 << 20);
    let naive = Naive::new(pages, params);
    let site = |page: usize| pages[page].site(params.site);
    let sites_of = |holders: &BTreeSet<usize>| {
        let known: BTreeSet<String> = holders.iter().filter_map(|&page| site(page)).collect();
        known.len() + holders.iter().filter(|&&page| site(page).is_none()).count()
    };
    let named_sites = |holders: &BTreeSet<usize>| {
        let known: BTreeSet<String> = holders.iter().filter_map(|&page| site(page)).collect();
        known.len() as u64
    };
    // Phrases.
    let found: BTreeMap<u64, (u64, u64, u64, String)> = rows(&findings, "phrases")
        .iter()
        .map(|row| {
            (
                row["hash"].as_u64().unwrap(),
                (
                    row["pages"].as_u64().unwrap(),
                    row["sites"].as_u64().unwrap(),
                    row["sampled"].as_u64().unwrap(),
                    row["page"].as_str().unwrap().to_owned(),
                ),
            )
        })
        .collect();
    let expected: BTreeMap<u64, (u64, u64, u64, String)> = naive
        .pages
        .iter()
        .filter(|(gram, _)| naive.popular(**gram, params))
        .map(|(&gram, holders)| {
            (
                gram,
                (
                    holders.len() as u64,
                    named_sites(holders),
                    naive.sampled.get(&gram).map_or(0, BTreeSet::len) as u64,
                    pages[*holders.first().unwrap()].url.clone(),
                ),
            )
        })
        .collect();
    prop_assert_eq!(found, expected);
    // The words are those of the example page, and the rows are in order.
    let mut last = u64::MAX;
    for row in rows(&findings, "phrases") {
        let (phrase, url) = (
            row["phrase"].as_str().unwrap(),
            row["page"].as_str().unwrap(),
        );
        let page = pages.iter().find(|page| page.url == url).unwrap();
        prop_assert!(page.text.contains(phrase), "{} is not on {}", phrase, url);
        prop_assert!(row["pages"].as_u64().unwrap() <= last);
        last = row["pages"].as_u64().unwrap();
    }
    // Pages.
    let mut by_site: BTreeMap<String, Vec<(usize, usize, usize)>> = BTreeMap::new();
    let mut covers = Vec::new();
    for (at, row) in rows(&findings, "pages").iter().enumerate() {
        let popular = naive.popular_shingles(at, params);
        prop_assert_eq!(row["page"].as_str().unwrap(), &pages[at].url);
        prop_assert_eq!(row["popular"].as_u64().unwrap(), popular as u64);
        let phrases = &naive.sets[at];
        let own = phrases
            .iter()
            .filter(|gram| naive.pages[gram].len() == 1)
            .count();
        let originality = (!phrases.is_empty()).then(|| six(own as f64 / phrases.len() as f64));
        prop_assert_eq!(row["originality"].as_f64(), originality);
        prop_assert_eq!(row["phrases"].as_u64(), Some(phrases.len() as u64));
        if let Some(site) = site(at) {
            let abroad = phrases
                .iter()
                .filter(|gram| sites_of(&naive.pages[gram]) > 1)
                .count();
            by_site
                .entry(site)
                .or_default()
                .push((popular, phrases.len(), abroad));
        }
        if popular >= params.cover_from as usize && popular > 0 {
            let cover = naive.cover(at, pages, params);
            prop_assert_eq!(row["cover"].as_u64().unwrap(), cover.len() as u64);
            let foreign: usize = cover
                .iter()
                .filter(|(_, _, foreign)| *foreign)
                .map(|(_, given, _)| given)
                .sum();
            prop_assert_eq!(row["foreign"].as_u64().unwrap(), foreign as u64);
            covers.extend(cover.into_iter().map(|(source, given, foreign)| {
                json!([pages[at].url, pages[source].url, given, foreign])
            }));
        } else {
            prop_assert!(row["cover"].is_null());
        }
    }
    let found: Vec<Value> = rows(&findings, "covers")
        .iter()
        .map(|row| json!([row["page"], row["source"], row["shingles"], row["foreign"]]))
        .collect();
    prop_assert_eq!(found, covers);
    // Sites.
    let found = rows(&findings, "sites");
    prop_assert_eq!(found.len(), by_site.len());
    for row in &found {
        let accounts = &by_site[row["site"].as_str().unwrap()];
        let count = accounts.len() as f64;
        let mean = accounts
            .iter()
            .map(|(popular, ..)| *popular as f64)
            .sum::<f64>()
            / count;
        let variance = accounts
            .iter()
            .map(|(popular, ..)| (*popular as f64 - mean).powi(2))
            .sum::<f64>()
            / count;
        let (whole, abroad) = accounts
            .iter()
            .fold((0, 0), |(whole, abroad), (_, phrases, away)| {
                (whole + phrases, abroad + away)
            });
        let near = |name: &str, value: f64| (row[name].as_f64().unwrap() - value).abs() < 2e-6;
        prop_assert_eq!(row["pages"].as_u64().unwrap(), accounts.len() as u64);
        prop_assert!(
            near("mean", mean) && near("deviation", variance.sqrt()),
            "{} {} {}",
            row,
            mean,
            variance.sqrt()
        );
        match whole {
            0 => prop_assert!(row["originality"].is_null()),
            _ => prop_assert!(near("originality", 1.0 - abroad as f64 / whole as f64)),
        }
        let flagged = accounts.len() as u64 >= params.flag_pages
            && mean >= params.flag_mean
            && variance.sqrt() < params.flag_deviation;
        prop_assert_eq!(row["flagged"].as_bool().unwrap(), flagged);
    }
    Ok(())
}

/// Pages of sentences from a pool and some other words.
fn patchwork() -> impl Strategy<Value = Vec<Page>> {
    let sentences = prop::collection::vec(0u64..9, 0..5);
    let page = (
        sentences,
        0usize..30,
        0usize..5,
        prop::option::of(0usize..3),
    );
    prop::collection::vec(page, 1..30).prop_map(|pages| {
        let pages = pages.into_iter().enumerate();
        pages
            .map(|(at, (sentences, own, host, ip))| {
                let mut words: Vec<String> =
                    sentences.iter().flat_map(|&seed| prose(seed, 12)).collect();
                words.extend(prose(
                    100 + at as u64,
                    own.max(usize::from(words.is_empty())),
                ));
                Page::new(at, host, ip, &words)
            })
            .collect()
    })
}

fn params() -> impl Strategy<Value = PhrasesParams> {
    let site = prop::sample::select(vec![SiteKind::Host, SiteKind::Domain, SiteKind::Ip]);
    let foreign = prop::sample::select(vec![ForeignBy::Both, ForeignBy::Ip, ForeignBy::Domain]);
    (1u32..6, 2u32..6, any::<bool>(), site, foreign).prop_map(
        |(k, min_pages, exact, site, foreign)| PhrasesParams {
            k,
            min_pages,
            exact,
            collapse: None,
            site,
            flag_pages: 2,
            flag_mean: 20.0,
            flag_deviation: 30.0,
            cover_from: 10,
            cover_pages: None,
            foreign,
            ..PhrasesParams::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn all_tables_follow_the_definitions(pages in patchwork(), params in params()) {
        check(&pages, &params)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn findings_do_not_depend_on_threads_or_memory(pages in patchwork(), params in params(), collapsed: bool) {
        let params = PhrasesParams {
            collapse: collapsed.then_some(CopiesScheme::Resemblance),
            cover_pages: Some(2),
            candidates: 3,
            ..params
        };
        // Tables name the input, so there is one.
        let folder = tempfile::tempdir().unwrap();
        let lines: Vec<Value> = pages.iter().map(Page::json).collect();
        let path = corpus_of(folder.path(), "pages", &lines);
        let tables = |threads, memory| {
            let findings = folder.path().join(format!("{threads}"));
            bytes(&phrases(&open(&[&path]), &params, &workplace(&findings, threads, memory)).unwrap())
        };
        let one = tables(1, 1 << 30);
        prop_assert_eq!(one.len(), 4);
        prop_assert_eq!(&one, &tables(2, 8 << 20));
        prop_assert_eq!(&one, &tables(7, 16 << 20));
    }
}

/// Pages of sentences from one pool on several hosts of one address, among unrelated pages.
fn spammer(hosts: usize, each: usize) -> Vec<Page> {
    let mut pages = Vec::new();
    for at in 0..hosts * each {
        let sentences = (0..12)
            .map(|sentence| ((at * 7 + sentence * sentence * 5 + at * sentence) % 40) as u64);
        let words: Vec<String> = sentences.flat_map(|seed| prose(seed, 14)).collect();
        pages.push(Page::new(at, 20 + 2 * (at / each), Some(1), &words));
    }
    for at in 0..40 {
        pages.push(Page::new(
            1000 + at,
            at / 20,
            Some(2 + at / 20),
            &prose(500 + at as u64, 200),
        ));
    }
    pages
}

#[test]
fn a_spammer_with_nine_pages_per_host_is_flagged_by_address_only() {
    let pages = spammer(8, 9);
    let flagged = |site| {
        let params = PhrasesParams {
            site,
            ..PhrasesParams::default()
        };
        let (findings, _folder) = run(&pages, &params, 2, 64 << 20);
        let sites = rows(&findings, "sites");
        let flagged = sites.iter().filter(|row| row["flagged"] == true);
        flagged
            .map(|row| row["site"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(flagged(SiteKind::Host), [""; 0]);
    assert_eq!(flagged(SiteKind::Ip), ["10.0.0.1"]);
}

#[test]
fn near_duplicates_count_once_unless_they_are_kept() {
    // Six captures of one page, and another page.
    let mut pages: Vec<Page> = (0..6)
        .map(|at| {
            let mut words = prose(1, 900);
            words[130 * at] = format!("changed{at}");
            Page::new(at, at, None, &words)
        })
        .collect();
    pages.push(Page::new(6, 9, None, &prose(2, 200)));
    for (collapse, gone) in [
        (Some(CopiesScheme::Resemblance), 5),
        (Some(CopiesScheme::Megashingle), 5),
        (None, 0),
    ] {
        let params = PhrasesParams {
            collapse,
            ..PhrasesParams::default()
        };
        let (findings, _folder) = run(&pages, &params, 2, 64 << 20);
        let summary: PhrasesSummary = findings.summary().unwrap();
        assert_eq!(
            (summary.gone, summary.pages),
            (gone, 7 - gone),
            "{collapse:?}"
        );
        assert_eq!(summary.phrases > 0, gone == 0);
        assert_eq!(rows(&findings, "pages").len() as u64, 7 - gone);
    }
}

#[test]
fn a_phrase_on_all_pages_does_not_make_quadratic_work() {
    // Six hundred pages with a common long sentence, all of them covered.
    let common = prose(0, 60);
    let pages: Vec<Page> = (0..600)
        .map(|at| {
            Page::new(
                at,
                at % 50,
                None,
                &[common.clone(), prose(1 + at as u64, 30)].concat(),
            )
        })
        .collect();
    let params = PhrasesParams {
        cover_pages: None,
        candidates: 8,
        collapse: None,
        ..PhrasesParams::default()
    };
    let (findings, _folder) = run(&pages, &params, 2, 64 << 20);
    let summary: PhrasesSummary = findings.summary().unwrap();
    assert!(summary.covered > 500 && summary.crowded > 30, "{summary:?}");
    let offers = findings
        .record
        .report
        .stages
        .iter()
        .find(|stage| stage.name == "cover")
        .unwrap();
    assert!(offers.rows_in <= 600 * 84 * 8, "{}", offers.rows_in);
    // The covers are complete.
    let mut given: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows(&findings, "covers") {
        *given
            .entry(row["page"].as_str().unwrap().to_owned())
            .or_default() += row["shingles"].as_u64().unwrap();
    }
    for row in rows(&findings, "pages") {
        if row["popular"].as_u64().unwrap() >= 30 {
            assert_eq!(
                given[row["page"].as_str().unwrap()],
                row["popular"].as_u64().unwrap()
            );
        }
    }
    // The paper's sample: a fixed number of pages for each number of popular shingles.
    let sampled = PhrasesParams {
        cover_pages: Some(3),
        ..params
    };
    let (findings, _folder) = run(&pages, &sampled, 2, 64 << 20);
    let data = figures(&findings, &sampled).unwrap();
    let mut by_popular: BTreeMap<u32, u64> = BTreeMap::new();
    for ((popular, _), (pages, _)) in &data.covers {
        *by_popular.entry(*popular).or_default() += pages;
    }
    assert!(
        by_popular.values().all(|&pages| pages <= 3) && by_popular.len() > 3,
        "{by_popular:?}"
    );
    assert_eq!(data.pages.values().sum::<u64>(), 600);
    assert_eq!(data.popularity.values().sum::<u64>(), summary.phrases);
    assert_eq!(data.sites.len(), 50);
}

#[test]
fn empty_and_tiny_corpora_work() {
    for texts in [
        vec!["one"],
        vec!["one two three four five"; 6],
        vec!["one two"; 6],
        vec![
            "我喜欢读书，也喜欢写字和唱歌",
            "我喜欢读书，也喜欢写字和唱歌",
            "我喜欢读书，也喜欢写字和唱歌",
            "我喜欢读书，也喜欢写字和唱歌",
            "我喜欢读书，也喜欢写字和唱歌",
        ],
        vec!["x", "", "…"],
    ] {
        for exact in [false, true] {
            let lines: Vec<Value> = texts
                .iter()
                .enumerate()
                .map(|(at, text)| json!({ "url": format!("file{at}"), "text": text }))
                .collect();
            let folder = tempfile::tempdir().unwrap();
            let path = corpus_of(folder.path(), "pages", &lines);
            let params = PhrasesParams {
                exact,
                collapse: None,
                ..PhrasesParams::default()
            };
            let place = workplace(&folder.path().join("findings"), 2, 64 << 20);
            let findings = phrases(&open(&[&path]), &params, &place).unwrap();
            let summary: PhrasesSummary = findings.summary().unwrap();
            // Two words are not a phrase of five, and texts are not circular.
            let popular = texts.len() >= 5 && texts[0] != "one two";
            assert_eq!(summary.phrases > 0, popular, "{texts:?}");
            assert_eq!(rows(&findings, "phrases").len() as u64, summary.phrases);
        }
    }
    // A word as long as a page is stored in part.
    let long = "x".repeat(100_000);
    let pages: Vec<Page> = (0..5)
        .map(|at| Page::new(at, at, None, &vec![long.clone(); 5]))
        .collect();
    let params = PhrasesParams {
        collapse: None,
        ..PhrasesParams::default()
    };
    let (findings, _folder) = run(&pages, &params, 1, 64 << 20);
    let shown = &rows(&findings, "phrases")[0]["phrase"];
    assert_eq!(shown.as_str().unwrap().chars().count(), 301);
}

#[test]
fn originality_counts_all_phrases_and_not_only_sampled_ones() {
    // Every page consists of passages of a pool: only the seams are on a single page. The samples
    // hardly overlap.
    let pages: Vec<Page> = (0..60)
        .map(|at: usize| {
            let words: Vec<String> = (0..40)
                .flat_map(|part| prose(((at * 31 + part * 17 + part * part * at) % 60) as u64, 60))
                .collect();
            Page::new(at, at, None, &words)
        })
        .collect();
    let mean = |exact| {
        let params = PhrasesParams {
            exact,
            collapse: None,
            ..PhrasesParams::default()
        };
        let rows = rows(&run(&pages, &params, 2, 64 << 20).0, "pages");
        let sum: f64 = rows
            .iter()
            .map(|row| row["originality"].as_f64().unwrap())
            .sum();
        sum / rows.len() as f64
    };
    assert!(mean(true) < 0.1);
    assert_eq!(mean(true), mean(false));
}

#[test]
fn a_spammer_of_many_pages_does_not_crowd_out_the_donors() {
    // Ten donors of three hundred words each, on different domains, and a spammer with four hundred
    // pages of their passages.
    let donor = |seed: u64| prose(seed, 300);
    let mut pages: Vec<Page> = (0..400)
        .map(|at: usize| {
            let words: Vec<String> = (0..10)
                .flat_map(|seed: usize| {
                    let begin = (at * 7 + seed * 13) % 8 * 30;
                    donor(seed as u64)[begin..begin + 60].to_vec()
                })
                .collect();
            // Many domains, one address.
            Page::new(at, 100 + at, Some(1), &words)
        })
        .collect();
    pages.extend(
        (0..10).map(|seed| Page::new(1000 + seed, 2 * seed, Some(2 + seed), &donor(seed as u64))),
    );
    for candidates in [4, 1000] {
        let params = PhrasesParams {
            exact: true,
            collapse: None,
            candidates,
            cover_pages: Some(5),
            ..PhrasesParams::default()
        };
        let (findings, _folder) = run(&pages, &params, 2, 64 << 20);
        let rows = rows(&findings, "pages");
        let spam: Vec<&Value> = rows
            .iter()
            .take(400)
            .filter(|row| !row["cover"].is_null())
            .collect();
        assert!(!spam.is_empty());
        let sum = |name: &str| {
            spam.iter()
                .map(|row| row[name].as_u64().unwrap())
                .sum::<u64>()
        };
        // Everything but the seams is covered by donors, even with few candidates.
        let share = sum("foreign") as f64 / sum("popular") as f64;
        assert!(share > 0.8, "{candidates}: {share}");
        let summary: PhrasesSummary = findings.summary().unwrap();
        assert_eq!(summary.crowded > 0, candidates == 4);
        assert_eq!(summary.cut_covers > 0, candidates == 4);
    }
}
