//! Compares overlaps of whole corpora with the definition.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cento_flow::Progress;
use cento_store::{Build, Parameters};
use cento_text::normal::{Normalisation, normalise};
use proptest::prelude::*;

use super::*;

/// A page of a test corpus.
#[derive(Debug, Clone)]
pub(super) struct TestPage {
    pub(super) url: String,
    pub(super) text: String,
    /// When it was published, in days.
    pub(super) date: Option<i64>,
}

pub(super) fn dated(page: TestPage, date: Option<i64>) -> TestPage {
    TestPage { date, ..page }
}

pub(super) fn test_page(host: usize, number: usize, text: &str) -> TestPage {
    TestPage {
        url: format!("http://www.h{host}.example/{number}"),
        text: text.to_owned(),
        date: None,
    }
}

pub(super) fn corpus(
    folder: &Path,
    pages: &[TestPage],
    parameters: Parameters,
) -> Arc<CorpusPages> {
    let input = folder.join("pages.jsonl");
    let lines = pages.iter().map(|page| {
        let date = page.date.map(|day| format!("2001-01-{:02}", day + 1));
        let line = json!({ "url": page.url, "text": page.text, "date": date });
        format!("{line}\n")
    });
    std::fs::write(&input, lines.collect::<String>()).unwrap();
    let settings = cento_read::Settings::default();
    let resolved = cento_read::resolve(&[input.display().to_string()], &settings).unwrap();
    let path = folder.join("pages.cento");
    Build::new(resolved.inputs, &path)
        .settings(settings)
        .parameters(parameters)
        .threads(1)
        .run()
        .unwrap();
    Arc::new(CorpusPages::open(&[&path]).unwrap())
}

pub(super) fn workplace(folder: &Path, threads: usize, memory: u64) -> Workplace {
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

/// Returns the set of chunks of a text, by the definition.
pub(super) fn chunk_set(text: &str, kind: ChunkKind) -> BTreeSet<String> {
    let mut set = BTreeSet::new();
    cento_text::chunk::chunks(text, kind, |range| {
        let mut normalised = String::new();
        normalise(&text[range], Normalisation::SpaceCase, &mut normalised);
        set.insert(normalised);
    });
    set
}

/// Two pages or servers, the shared chunks, and the share of each.
type Found = (String, String, u32, f64, f64);

/// Returns the overlaps by comparing all pairs, and the ignored chunks.
fn naive(pages: &[TestPage], params: &OverlapParams) -> (Vec<Found>, BTreeSet<(u32, String)>) {
    let mut sets: Vec<(String, BTreeSet<String>)> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut servers: BTreeMap<String, usize> = BTreeMap::new();
    for page in pages {
        let chunks = chunk_set(&page.text, params.chunk);
        if page.text.trim().is_empty() {
            continue;
        }
        if params.unit == Unit::Pages {
            let mut text = String::new();
            normalise(&page.text, Normalisation::SpaceCase, &mut text);
            if seen.insert(text) {
                sets.push((page.url.clone(), chunks));
            }
            continue;
        }
        let host = page.url.split('/').nth(2).unwrap();
        let name = match params.unit {
            Unit::Domain => host.trim_start_matches("www."),
            _ => host,
        };
        let at = *servers.entry(name.to_owned()).or_insert_with(|| {
            sets.push((name.to_owned(), BTreeSet::new()));
            sets.len() - 1
        });
        sets[at].1.extend(chunks);
    }
    let mut counts: BTreeMap<&String, u32> = BTreeMap::new();
    for chunk in sets.iter().flat_map(|(_, chunks)| chunks) {
        *counts.entry(chunk).or_default() += 1;
    }
    let limit = params.max_pages.unwrap_or(u32::MAX);
    let common: BTreeSet<(u32, String)> = counts
        .iter()
        .filter(|&(_, &count)| limit > 0 && count > limit)
        .map(|(chunk, &count)| (count, (*chunk).clone()))
        .collect();
    let left_out: BTreeSet<&String> = common.iter().map(|(_, chunk)| chunk).collect();
    let kept = |chunks: &BTreeSet<String>| -> BTreeSet<String> {
        chunks
            .iter()
            .filter(|chunk| !left_out.contains(chunk))
            .cloned()
            .collect()
    };
    let mut found = Vec::new();
    for (at, (of, of_chunks)) in sets.iter().enumerate() {
        for (page, page_chunks) in &sets[at + 1..] {
            let (page_chunks, of_chunks) = (kept(page_chunks), kept(of_chunks));
            let shared = page_chunks.intersection(&of_chunks).count();
            if shared >= params.threshold as usize {
                let share = |set: &BTreeSet<String>| shared as f64 / set.len() as f64;
                let (one, other) = (share(&page_chunks), share(&of_chunks));
                let swapped = params.unit != Unit::Pages && one < other;
                found.push(if swapped {
                    (of.clone(), page.clone(), shared as u32, other, one)
                } else {
                    (page.clone(), of.clone(), shared as u32, one, other)
                });
            }
        }
    }
    found.sort_by(|a, b| a.partial_cmp(b).unwrap());
    (found, common)
}

fn found(findings: &Findings, params: &OverlapParams) -> Vec<Found> {
    let mut rows: Vec<Found> = match params.unit {
        Unit::Pages => findings
            .rows(PAIRS)
            .unwrap()
            .map(Result::unwrap)
            .map(|row| (row.page, row.of, row.chunks, row.page_share, row.of_share))
            .collect(),
        Unit::Host | Unit::Domain => findings
            .rows(SERVERS)
            .unwrap()
            .map(Result::unwrap)
            .map(|row| {
                (
                    row.server,
                    row.of,
                    row.chunks,
                    row.server_share,
                    row.of_share,
                )
            })
            .collect(),
    };
    let strength = |row: &Found| row.3.max(row.4);
    assert!(
        rows.is_sorted_by(|one, other| strength(other) <= strength(one) + 1e-8),
        "strongest first"
    );
    rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
    rows
}

fn common(findings: &Findings) -> BTreeSet<(u32, String)> {
    let rows = findings.rows(COMMON).unwrap().map(Result::unwrap);
    rows.map(|row| {
        let mut normalised = String::new();
        normalise(
            &row.text.unwrap_or_default(),
            Normalisation::SpaceCase,
            &mut normalised,
        );
        (row.pages, normalised)
    })
    .collect()
}

fn bytes_of(findings: &Findings, table: &str) -> Vec<u8> {
    std::fs::read(findings.table(table)).unwrap()
}

use cento_text::chunk::ChunkKind;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn pairs_are_those_of_the_definition(
        pages in prop::collection::vec(
            (0usize..4, prop::collection::vec("[a-d]{1,2}|漢字", 0..14).prop_map(|lines| lines.join("\n"))),
            1..14,
        ),
        kind in prop::sample::select(vec!["lines:1", "lines:2", "words:1", "paragraph", "sentences:1"]),
        stored in prop::sample::select(vec!["lines:1", "paragraph"]),
        unit in prop::sample::select(vec![Unit::Pages, Unit::Host, Unit::Domain]),
        threshold in 1u32..4,
        max_pages in prop::sample::select(vec![None, Some(0u32), Some(2), Some(4), Some(1000)]),
        threads in 1usize..4,
    ) {
        let pages: Vec<TestPage> = pages.iter().enumerate()
            .map(|(number, (host, text))| test_page(*host, number, text)).collect();
        let folder = tempfile::tempdir().unwrap();
        let parameters = Parameters { chunk: stored.parse().unwrap(), ..Parameters::default() };
        let source = corpus(folder.path(), &pages, parameters);
        let params = OverlapParams { unit, threshold, max_pages, ..OverlapParams::new(kind.parse().unwrap()) };
        let (expected, left_out) = naive(&pages, &params);
        let findings = run(&source, &params, &workplace(folder.path(), threads, 256 << 20)).unwrap();
        prop_assert_eq!(found(&findings, &params), expected);
        if unit == Unit::Pages {
            prop_assert_eq!(common(&findings), left_out);
        } else {
            let summary: OverlapSummary = findings.summary().unwrap();
            prop_assert_eq!(summary.common, left_out.len() as u64);
        }
    }
}

/// Returns pages that share runs of lines, more than fit in little memory. The last of every ten
/// repeats the one before. Their number is not a multiple of 64, the bits of a word.
fn many() -> Vec<TestPage> {
    let line = |number: usize| format!("line {number} of the manual\n");
    let text = |page: usize| -> String {
        (0..120)
            .map(|at| line((page / 3) * 40 + at + page % 3))
            .collect()
    };
    (0..401)
        .map(|page| test_page(page % 7, page, &text(page - usize::from(page % 10 == 9))))
        .collect()
}

#[test]
fn neither_threads_nor_memory_change_a_byte() {
    let pages = many();
    let folder = tempfile::tempdir().unwrap();
    let source = corpus(folder.path(), &pages, Parameters::default());
    for unit in [Unit::Pages, Unit::Host] {
        let params = OverlapParams {
            unit,
            threshold: 10,
            ..OverlapParams::new("lines:1".parse().unwrap())
        };
        let run = |threads, memory| {
            run(&source, &params, &workplace(folder.path(), threads, memory)).unwrap()
        };
        let whole = run(1, 1 << 30);
        assert_eq!(found(&whole, &params), naive(&pages, &params).0);
        let table = match unit {
            Unit::Pages => PAIRS.as_str(),
            Unit::Host | Unit::Domain => SERVERS.as_str(),
        };
        for (threads, memory) in [(1, 2 << 20), (2, 4 << 20), (4, 512 << 20)] {
            let other = run(threads, memory);
            assert_eq!(
                other.record.summary, whole.record.summary,
                "{threads} {memory}"
            );
            for table in [table, COMMON.as_str()] {
                assert!(
                    bytes_of(&other, table) == bytes_of(&whole, table),
                    "{table} {threads} {memory}"
                );
            }
        }
    }
}

#[test]
fn an_empty_result_reports_the_largest_pair() {
    let folder = tempfile::tempdir().unwrap();
    let pages = [
        test_page(0, 0, "a\nb\nc\nd"),
        test_page(1, 1, "a\nx\ny"),
        test_page(2, 2, "d\nc\nz"),
        test_page(3, 3, "c\nd\nw"),
    ];
    let source = corpus(folder.path(), &pages, Parameters::default());
    let params = OverlapParams {
        threshold: 3,
        ..OverlapParams::new("lines:1".parse().unwrap())
    };
    let findings = run(&source, &params, &workplace(folder.path(), 2, 64 << 20)).unwrap();
    let summary: OverlapSummary = findings.summary().unwrap();
    let largest = summary.largest.unwrap();
    assert_eq!((summary.pairs, largest.chunks), (0, 2));
    assert_eq!(
        [largest.page, largest.of],
        [pages[2].url.clone(), pages[0].url.clone()]
    );
}

#[test]
fn a_corpus_without_text_offers_the_chunks_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let pages = [test_page(0, 0, "a\nb\nc"), test_page(1, 1, "c\nb\nq")];
    let parameters = Parameters {
        text: false,
        chunk: "lines:1".parse().unwrap(),
        ..Parameters::default()
    };
    let source = corpus(folder.path(), &pages, parameters);
    let params = |kind: &str| OverlapParams {
        threshold: 2,
        ..OverlapParams::new(kind.parse().unwrap())
    };
    let place = workplace(folder.path(), 1, 64 << 20);
    let findings = run(&source, &params("lines:1"), &place).unwrap();
    assert_eq!(
        found(&findings, &params("lines:1")),
        naive(&pages, &params("lines:1")).0
    );
    let refused = run(&source, &params("lines:2"), &place)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("lines:1"), "{refused}");
}

#[test]
fn pages_with_identical_text_count_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let pages: Vec<TestPage> = (0..50)
        .map(|page| test_page(page, page, "the same\n\ntext"))
        .collect();
    let source = corpus(folder.path(), &pages, Parameters::default());
    let params = OverlapParams {
        threshold: 1,
        ..OverlapParams::new(ChunkKind::Paragraph)
    };
    let findings = run(&source, &params, &workplace(folder.path(), 2, 64 << 20)).unwrap();
    let summary: OverlapSummary = findings.summary().unwrap();
    assert_eq!((summary.pages, summary.copies, summary.pairs), (50, 49, 0));
}

#[test]
fn thresholds_and_limits_out_of_range_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = corpus(
        folder.path(),
        &[test_page(0, 0, "a")],
        Parameters::default(),
    );
    let place = workplace(folder.path(), 1, 64 << 20);
    for (threshold, max_pages) in [(0, Some(10)), (3, Some(1))] {
        let params = OverlapParams {
            threshold,
            max_pages,
            ..OverlapParams::new(ChunkKind::Paragraph)
        };
        assert!(matches!(
            run(&source, &params, &place),
            Err(Error::Usage(_))
        ));
    }
}
