use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

use super::{Score, ScoreLine, Scores};
use crate::settings::SynthSettings;

/// A truth with one of each kind of record that scores depend on.
fn truth() -> Vec<Value> {
    let page = |url: &str, kind: &str, template: &str| {
        json!({"type": "page", "url": url, "kind": kind, "file": "-", "fetched": "-", "published": null, "ip": "-",
               "language": "en", "declared": true, "template": template, "payload_sha1": "", "reject": null})
    };
    let copy = |copy: &str, of: &str, how: &str, resemblance: f64| {
        json!({"type": "copy", "copy": copy, "of": of, "how": how, "why": "copy", "resemblance": resemblance,
               "of_copy": 1.0, "of_source": 1.0, "shared_chunks": 4, "edit_rate": null})
    };
    let span = |begin: u64, end: u64| json!({"begin": begin, "end": end, "begin_char": begin, "end_char": end, "hash": ""});
    vec![
        json!({"type": "truth", "version": 1, "grams": 5, "settings": SynthSettings::new(1, 1000)}),
        json!({"type": "boilerplate", "language": "en", "text": "We use cookies."}),
        json!({"type": "a type of a later version", "of": "nothing"}),
        page("http://a/1", "article", "a"),
        page("http://a/2", "article", "a"),
        page("http://a/3", "article", "a"),
        page("http://b/1", "exact", "a"),
        page("http://b/2", "exact", "a"),
        page("http://c/1", "near", "c"),
        page("http://c/2", "near", "c"),
        page("http://n/1", "news", "n"),
        page("http://n/2", "news", "n"),
        page("http://q/1", "quilt", "q"),
        page("http://q/2", "aggregator", "q"),
        page("http://s1/1", "spam", "s1"),
        page("http://o/1", "original", "o"),
        page("http://t/library/1", "stolen", "t"),
        page("http://t/library/2", "stolen", "t"),
        page("http://t/about/1", "stolen", "t"),
        copy("http://b/1", "http://a/1", "bytes", 1.0),
        copy("http://b/2", "http://a/1", "text", 1.0),
        copy("http://c/1", "http://a/2", "near", 0.9),
        copy("http://c/2", "http://a/2", "near", 0.7),
        json!({"type": "passage", "page": "http://q/1", "source": "http://a/3", "crawled": true, "file": null, "how": "verbatim",
               "edit_rate": null, "at": span(100, 200), "source_at": span(1000, 1100), "segments": [[100, 200, 1000, 1100]]}),
        json!({"type": "quilt", "page": "http://q/1", "attributed": false, "patch_share": 0.9,
               "sources": [{"url": "http://a/3", "share": 0.5}, {"url": "http://a/1", "share": 0.4}]}),
        json!({"type": "quilt", "page": "http://q/2", "attributed": true, "patch_share": 0.9,
               "sources": [{"url": "http://a/2", "share": 0.5}]}),
        json!({"type": "copied", "page": "http://t/library/1", "original": "http://o/1", "file": null, "crawled": true,
               "extent": "whole", "of_page": 0.9, "of_original": 0.9, "shared_chunks": 5}),
        json!({"type": "copied", "page": "http://t/library/2", "original": "http://p/9",
               "file": "00000/original-00000009.html", "crawled": false,
               "extent": "partial", "of_page": 0.4, "of_original": 0.5, "shared_chunks": 5}),
        json!({"type": "bad-site", "kind": "spammer", "hosts": ["s1", "www.s2"], "ips": ["10.0.0.1"], "pages": 900,
               "prefix": null, "clean": null}),
        json!({"type": "bad-site", "kind": "link-farm", "hosts": ["f1"], "ips": ["10.0.0.2"], "pages": 4, "prefix": null,
               "clean": null}),
        json!({"type": "bad-site", "kind": "thief", "hosts": ["t"], "ips": ["10.0.0.3"], "pages": 25,
               "prefix": "http://t/library/", "clean": "http://t/about/"}),
        json!({"type": "template", "host": "n", "pages": 40}),
        json!({"type": "alias", "kind": "url", "alias": "http://a/1?x", "of": "http://a/1"}),
        copy("http://a/1?x", "http://a/1", "bytes", 1.0),
        json!({"type": "alias", "kind": "server", "alias": "www.a", "of": "a"}),
        json!({"type": "alias", "kind": "mirror", "alias": "m", "of": "a"}),
        json!({"type": "revisit", "url": "http://a/2", "fetched": "-", "of": "http://a/2", "of_fetched": "-"}),
    ]
}

struct FindingsFolder {
    folder: tempfile::TempDir,
}

impl FindingsFolder {
    fn new() -> FindingsFolder {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("truth.jsonl"), lines(&truth())).unwrap();
        FindingsFolder { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn score(&self, findings: &Path, analysis: Option<&str>) -> crate::Result<Scores> {
        Score {
            findings: &[findings.to_owned()],
            truth: &self.path("truth.jsonl"),
            corpus: None,
            analysis,
            resemblance: None,
        }
        .run()
    }

    /// The score of one table of JSON Lines.
    fn lines(&self, analysis: &str, rows: &[Value]) -> Vec<ScoreLine> {
        let path = self.path("rows.jsonl");
        fs::write(&path, lines(rows)).unwrap();
        self.score(&path, Some(analysis)).unwrap().lines
    }
}

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn pair(page: &str, of: &str) -> Value {
    json!({"page": page, "of": of})
}

fn assert_line(
    line: &ScoreLine,
    what: &str,
    right: u64,
    wrong: u64,
    known: u64,
    expected: u64,
    found: u64,
) {
    assert_eq!(
        (
            line.what,
            line.right,
            line.wrong,
            line.known,
            line.expected,
            line.found
        ),
        (what, right, wrong, known, expected, found)
    );
}

#[test]
fn perfect_copies_score_one() {
    let findings = FindingsFolder::new();
    let scored = findings.lines(
        "copies",
        &[
            pair("http://b/1", "http://a/1"),
            pair("http://b/2", "http://b/1"), // implied: both copy the same page
            pair("http://a/1?x", "http://a/1"),
            pair("http://c/1", "http://a/2"),
            pair("http://a/2", "http://a/2"), // a revisit
        ],
    );
    assert_line(&scored[0], "exact", 4, 0, 0, 3, 3);
    assert_line(&scored[1], "near", 1, 0, 0, 1, 1);
    for line in &scored {
        assert_eq!(
            (line.precision(), line.recall(), line.f1()),
            (Some(1.0), Some(1.0), Some(1.0))
        );
    }
}

#[test]
fn wrong_and_missing_copies_lower_the_score() {
    let findings = FindingsFolder::new();
    let scored = findings.lines(
        "copies",
        &[
            pair("http://b/1", "http://a/1"),
            pair("http://c/2", "http://a/2"), // below the threshold
            pair("http://n/1", "http://n/2"), // one template
            pair("http://n/2", "http://n/1"), // the same pair again
            pair("http://a/1", "http://a/3"), // of one template too
            pair("http://a/1", "http://q/1"),
        ],
    );
    assert_line(&scored[0], "exact", 1, 0, 0, 3, 1);
    assert_line(&scored[1], "near", 0, 4, 0, 1, 0);
    assert_eq!(scored[1].templates, 2);
    assert_eq!(scored[1].f1(), Some(0.0));
}

#[test]
fn run_json_names_analysis_and_parameters_and_tables_may_be_parquet() {
    let findings = FindingsFolder::new();
    let run = findings.path("findings/copies/run-1");
    fs::create_dir_all(&run).unwrap();
    fs::write(
        run.join("run.json"),
        r#"{"analysis": "copies", "parameters": {"resemblance": 0.6}, "seconds": 1}"#,
    )
    .unwrap();
    let text = |values: &[&str]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
    let batch = RecordBatch::try_from_iter([
        ("page", text(&["http://c/1", "http://c/2"])),
        ("of", text(&["http://a/2", "http://a/2"])),
        (
            "resemblance",
            Arc::new(Float64Array::from(vec![0.9, 0.7])) as ArrayRef,
        ),
    ])
    .unwrap();
    let file = fs::File::create(run.join("pairs.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let unknown = findings.path("findings/portents/run-1");
    fs::create_dir_all(&unknown).unwrap();
    fs::write(unknown.join("run.json"), r#"{"analysis": "portents"}"#).unwrap();
    let scored = findings.score(&findings.path("findings"), None).unwrap();
    assert_line(&scored.lines[1], "near", 2, 0, 0, 2, 2);
    assert!(
        scored.notes[0].contains("results of `portents` cannot be scored"),
        "{:?}",
        scored.notes
    );
}

#[test]
fn pairs_that_share_text_for_any_reason_are_right() {
    let findings = FindingsFolder::new();
    let rows = [
        pair("http://q/1", "http://a/3"), // a patch
        pair("http://c/1", "http://c/2"), // siblings
        pair("http://n/1", "http://n/2"), // a template: known
        pair("http://a/3", "http://o/1"), // nothing in common
    ];
    let scored = findings.lines("reuse", &rows);
    assert_line(&scored[0], "pairs", 2, 1, 1, 3, 1);
    let scored = findings.lines("overlap", &[pair("http://c/1", "http://a/2")]);
    assert_line(&scored[0], "pairs", 1, 0, 0, 2, 1);
}

#[test]
fn passages_are_scored_by_bytes() {
    let findings = FindingsFolder::new();
    let passage = |page: &str, source: &str, at: [u64; 4]| json!({"page": page, "source": source, "begin": at[0], "end": at[1], "source_begin": at[2], "source_end": at[3]});
    let whole = findings.lines(
        "passages",
        &[passage("http://q/1", "http://a/3", [100, 200, 1000, 1100])],
    );
    assert_line(&whole[0], "bytes", 100, 0, 0, 100, 100);
    let turned = findings.lines(
        "passages",
        &[passage("http://a/3", "http://q/1", [1000, 1100, 100, 200])],
    );
    assert_line(&turned[0], "bytes", 100, 0, 0, 100, 100);
    let mixed = findings.lines(
        "passages",
        &[
            passage("http://q/1", "http://a/3", [100, 150, 1000, 1050]),
            passage("http://q/1", "http://a/3", [140, 160, 1040, 1060]), // overlaps the one before
            passage("http://q/1", "http://a/3", [160, 180, 5000, 5020]), // from another place
            passage("http://q/1", "http://a/3", [300, 310, 1000, 1010]), // not where it is
            passage("http://b/1", "http://a/1", [0, 40, 0, 40]),         // a copy
            passage("http://n/1", "http://n/2", [0, 7, 0, 7]),           // a template
            passage("http://a/3", "http://o/1", [0, 5, 0, 5]),
        ],
    );
    assert_line(&mixed[0], "bytes", 60 + 40, 20 + 10 + 5, 7, 100, 60);
}

#[test]
fn directions_are_scored_by_what_is_claimed() {
    let findings = FindingsFolder::new();
    let row = |a: &str, b: &str, earlier: &str| {
        let (page, source) = ([100, 200], [1000, 1100]);
        let (in_a, in_b) = match a {
            "http://q/1" => (page, source),
            _ => (source, page),
        };
        json!({"a": a, "b": b, "a_begin": in_a[0], "a_end": in_a[1], "b_begin": in_b[0], "b_end": in_b[1],
               "earlier": earlier})
    };
    let (quilt, source) = ("http://q/1", "http://a/3");
    let scored = findings.lines(
        "passages",
        &[
            row(quilt, source, "b"),       // right
            row(source, quilt, "b"),       // wrong
            row(quilt, source, "unknown"), // claims nothing
            row(quilt, source, "same"),
            row("http://b/1", "http://a/1", "b"), // a copy, which has no planted direction
        ],
    );
    let names: Vec<&str> = scored.iter().map(|line| line.what).collect();
    // Without the corpus, ends are not known in words.
    assert_eq!(names, ["bytes", "directions"]);
    assert_line(&scored[1], "directions", 1, 1, 0, 4, 1);
}

#[test]
fn quilts_are_scored_by_pages_and_by_sources() {
    let findings = FindingsFolder::new();
    let patch = |page: &str, source: &str, share: f64, attributed: bool| json!({"page": page, "source": source, "share": share, "attributed": attributed});
    let scored = findings.lines(
        "quilts",
        &[
            patch("http://q/1", "http://a/3", 0.5, false),
            patch("http://q/1", "http://n/1", 0.1, false), // not a source
            patch("http://q/2", "http://a/2", 0.5, true),
            patch("http://s1/1", "http://a/3", 0.5, false), // spam: known
            patch("http://a/1", "http://a/3", 0.5, true),   // a control
        ],
    );
    assert_line(&scored[0], "pages", 2, 1, 1, 2, 2);
    assert_line(&scored[1], "sources", 2, 1, 0, 3, 2);
    assert_line(&scored[2], "attributed", 1, 0, 0, 1, 1);
}

#[test]
fn bad_sites_are_found_by_host_domain_address_or_folder() {
    let findings = FindingsFolder::new();
    let site = |site: &str| json!({"site": site});
    for name in ["s1", "s2", "www.s2", "10.0.0.1", "http://s1/"] {
        assert_line(
            &findings.lines("phrases", &[site(name)])[0],
            "sites",
            1,
            0,
            0,
            1,
            1,
        );
    }
    // The farm has too few pages to be expected, but is right; reports are known; so are sites of
    // stolen pages.
    let scored = findings.lines(
        "phrases",
        &[
            site("f1"),
            site("n"),
            site("t"),
            site("a"),
            json!({"site": "b", "flagged": false}),
        ],
    );
    assert_line(&scored[0], "sites", 1, 1, 2, 1, 0);
    let scored = findings.lines(
        "bad-sites",
        &[
            site("http://t/library/"),
            site("t/library/deep"),
            site("http://t/about/"),
        ],
    );
    assert_line(&scored[0], "sites", 2, 1, 0, 2, 1);
}

#[test]
fn copied_originals_are_found_by_address_or_by_file() {
    let findings = FindingsFolder::new();
    let row = |page: &str, original: &str| json!({"page": page, "original": original});
    let scored = findings.lines(
        "detect",
        &[
            row("http://t/library/1", "http://o/1"),
            row(
                "http://t/library/2",
                "/data/originals/00000/original-00000009.html",
            ),
            row("http://o/1", "http://o/1"),
            row("http://t/about/1", "http://o/1"),
        ],
    );
    assert_line(&scored[0], "pages", 2, 1, 1, 2, 2);
    assert_line(&scored[1], "originals", 2, 1, 1, 2, 2);
}

#[test]
fn labels_are_right_on_sources_and_copies() {
    let findings = FindingsFolder::new();
    let scored = findings.lines(
        "discover",
        &[
            json!({"page": "http://t/library/1"}),
            json!({"page": "http://a/3", "text": "We use cookies."}),
            json!({"page": "http://s1/1"}),
            json!({"page": "http://a/never-seen"}),
        ],
    );
    assert_line(&scored[0], "labels", 1, 1, 2, 2, 1);
}

#[test]
fn aliases_of_urls_and_of_servers_are_scored_separately() {
    let findings = FindingsFolder::new();
    let path = findings.path("aliases.csv");
    fs::write(
        &path,
        "alias,of\nhttp://a/1?x,http://a/1\nm,www.a\nwww.a,a\nz,a\n",
    )
    .unwrap();
    let scored = findings.score(&path, Some("aliases")).unwrap().lines;
    assert_line(&scored[0], "urls", 1, 0, 0, 1, 1);
    assert_line(&scored[1], "servers", 2, 1, 0, 2, 2);
}

#[test]
fn results_that_cannot_be_scored_are_refused_with_a_hint() {
    let findings = FindingsFolder::new();
    let refused = |name: &str, content: &str, analysis: Option<&str>| {
        let path = findings.path(name);
        fs::write(&path, content).unwrap();
        let error = findings.score(&path, analysis).unwrap_err();
        assert!(error.hint().is_some());
        error.to_string()
    };
    assert!(refused("x.jsonl", "{}", None).contains("no run.json that names its analysis"));
    assert!(refused("x.jsonl", "{}", Some("portents")).contains("cannot be scored"));
    assert!(refused("x.jsonl", "{}", Some("copies")).contains("neither page nor page_id"));
    assert!(
        refused("x.jsonl", r#"{"page_id": 1, "of_id": 2}"#, Some("copies")).contains("no corpus")
    );
    assert!(refused("x.parquet", "PAR1", Some("copies")).contains("cannot be scored"));
    assert!(refused("x.txt", "", Some("copies")).contains("not a table"));
    fs::write(
        findings.path("truth.jsonl"),
        r#"{"type": "truth", "version": 99}"#,
    )
    .unwrap();
    assert!(refused("x.jsonl", "", Some("copies")).contains("version 99"));
}

/// JSON values as in tables and truth files, with extreme numbers.
fn cell() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()].prop_map(Value::from),
        prop::sample::select(vec![
            "http://a/1",
            "http://q/1",
            "http://a/3",
            "a",
            "",
            "://",
            "/",
            "-1",
            "10.0.0.1"
        ])
        .prop_map(Value::from),
    ]
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    #[test]
    fn hostile_findings_and_truth_are_scored_or_refused(
        rows in proptest::collection::vec(proptest::collection::btree_map(
            proptest::sample::select(vec![
                "page", "of", "source", "begin", "end", "source_begin", "source_end", "share", "attributed", "site",
                "flagged", "original", "alias", "page_id", "resemblance", "text",
            ]),
            cell(),
            0..14,
        ), 0..6),
        broken in proptest::collection::vec((0usize..40, 0usize..400, proptest::prelude::any::<u8>()), 0..4),
    ) {
        let findings = FindingsFolder::new();
        let mut truth_lines: Vec<Vec<u8>> = truth().iter().map(|record| record.to_string().into_bytes()).collect();
        for (line, at, byte) in broken {
            if let Some(letter) = truth_lines.get_mut(line).and_then(|line| line.get_mut(at)) {
                *letter = byte;
            }
        }
        fs::write(findings.path("truth.jsonl"), truth_lines.join(&b'\n')).unwrap();
        let path = findings.path("rows.jsonl");
        fs::write(&path, rows.iter().map(|row| format!("{}\n", json!(row))).collect::<String>()).unwrap();
        for (analysis, _) in super::TABLES {
            if let Ok(scored) = findings.score(&path, Some(analysis)) {
                for line in scored.lines {
                    for ratio in [line.precision(), line.recall(), line.f1()].into_iter().flatten() {
                        proptest::prop_assert!((0.0..=1.0).contains(&ratio));
                    }
                }
            }
        }
    }
}

#[test]
fn repeated_rows_are_counted_once() {
    let findings = FindingsFolder::new();
    for (analysis, rows) in [
        (
            "copies",
            vec![
                pair("http://a/2", "http://a/2"),
                pair("http://b/1", "http://a/1"),
            ],
        ),
        ("reuse", vec![pair("http://b/1", "http://a/1")]),
        (
            "bad-sites",
            vec![json!({"site": "s1"}), json!({"site": "t"})],
        ),
        ("aliases", vec![json!({"alias": "www.a", "of": "a"})]),
        ("discover", vec![json!({"page": "http://a/3", "text": "x"})]),
    ] {
        let once = findings.lines(analysis, &rows);
        let twice = findings.lines(analysis, &[rows.clone(), rows].concat());
        assert_eq!(once, twice, "{analysis}");
    }
    // Several labels may be on one page.
    let labels = ["x", "y"].map(|text| json!({"page": "http://a/3", "text": text}));
    assert_eq!(findings.lines("discover", &labels)[0].right, 2);
}

#[test]
fn runs_of_detect_without_originals_are_not_said_to_miss_them() {
    let findings = FindingsFolder::new();
    let scored = |labels: u64, common: u64| {
        let run = findings.path("run");
        fs::create_dir_all(&run).unwrap();
        let record = json!({
            "analysis": "detect",
            "summary": { "labels": labels, "common_labels": common },
            "report": { "tables": [{ "name": "matches", "rows": 0 }] },
        });
        fs::write(run.join("run.json"), record.to_string()).unwrap();
        fs::write(run.join("matches.jsonl"), "").unwrap();
        fs::write(run.join("sites.jsonl"), lines(&[json!({"site": "t"})])).unwrap();
        let scores = findings.score(&run, None).unwrap();
        let counted: Vec<&str> = scores.lines.iter().map(|line| line.what).collect();
        (counted, scores.notes.len())
    };
    assert_eq!(scored(9, 2), (vec!["sites"], 1));
    // Nothing was found, or nothing that belongs to one original.
    let all = vec!["pages", "originals", "sites"];
    assert_eq!(scored(0, 0), (all.clone(), 0));
    assert_eq!(scored(2, 2), (all, 0));
}
