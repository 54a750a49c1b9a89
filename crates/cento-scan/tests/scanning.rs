//! Scans of small corpora: which errors skip an analysis, which ones end the scan, and how results
//! are read.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento_file::Fault;
use cento_find::copies::{CLASSES, COPIES};
use cento_find::provenance::TableOutput;
use cento_find::{CorpusPages, Error, FINDINGS, Findings, Result, Workplace};
use cento_flow::table_row;
use cento_report::{Drawing, Section};
use cento_scan::analyses::copies::Copies;
use cento_scan::{
    Analysis, FinishedAnalysis, Profile, ReportOptions, ScanPlan, ScanProgress, SectionInput,
    build_report,
};
use cento_store::Build;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Indexes pages of text, by URL.
fn corpus(folder: &Path, pages: impl Iterator<Item = (String, String)>) -> PathBuf {
    let input = folder.join("pages.jsonl");
    let lines: String = pages
        .map(|(url, text)| format!("{}\n", json!({ "url": url, "text": text })))
        .collect();
    std::fs::write(&input, lines).unwrap();
    let settings = cento_read::Settings::default();
    let resolved = cento_read::resolve(&[input.display().to_string()], &settings).unwrap();
    let corpus = folder.join("pages.cento");
    Build::new(resolved.inputs, &corpus)
        .settings(settings)
        .threads(2)
        .run()
        .unwrap();
    corpus
}

/// Pages of which every second one repeats the one before it.
fn repeated_pages(count: usize) -> impl Iterator<Item = (String, String)> {
    (0..count).map(|at| {
        let words: Vec<String> = (0..30).map(|word| format!("w{}x{word}", at / 2)).collect();
        (format!("http://h{}.example/{at}", at % 3), words.join(" "))
    })
}

struct Sandbox {
    folder: TempDir,
    corpus: PathBuf,
    source: Arc<CorpusPages>,
}

impl Sandbox {
    fn new(pages: usize) -> Sandbox {
        let folder = tempfile::tempdir().unwrap();
        let corpus = corpus(folder.path(), repeated_pages(pages));
        let source = Arc::new(CorpusPages::open(&[&corpus]).unwrap());
        Sandbox {
            folder,
            corpus,
            source,
        }
    }

    fn workplace(&self, threads: usize, memory: u64) -> Workplace {
        Workplace {
            threads,
            memory,
            temp: None,
            findings: self.folder.path().join(FINDINGS),
            again: false,
            progress: cento_flow::Progress::new(),
            request: Default::default(),
        }
    }

    fn plan(&self, only: &[&str]) -> ScanPlan {
        let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
        let profile = Profile::of(&self.source).unwrap();
        ScanPlan::new(&profile, &only).unwrap()
    }

    fn run(&self, plan: &mut ScanPlan, memory: u64) -> Result<Vec<FinishedAnalysis>> {
        let workplace = self.workplace(1, memory);
        plan.run(&self.source, &workplace, &ScanProgress::new())
    }
}

fn names(finished: &[FinishedAnalysis]) -> Vec<&'static str> {
    let names = finished.iter().map(|finished| finished.analysis.name());
    names.collect()
}

/// Issue 16.
#[test]
fn an_analysis_below_its_memory_minimum_is_skipped_with_the_reason() {
    // Duplicates need 56 bytes for each page, more than 1 MiB in total. Overlaps spill to disk.
    let sandbox = Sandbox::new(20_000);
    let mut plan = sandbox.plan(&["copies", "overlap-servers"]);
    let finished = sandbox.run(&mut plan, 1 << 20).unwrap();
    assert_eq!(names(&finished), ["overlap-servers"]);
    let [skipped] = &plan.skipped[..] else {
        panic!("{} analyses are skipped", plan.skipped.len());
    };
    assert_eq!(skipped.analysis.name(), "copies");
    assert!(
        skipped.reason.contains("a memory budget of 1M") && skipped.reason.contains("--memory"),
        "{}",
        skipped.reason
    );
    // The report has the same reason, and the results of the others.
    let profile = Profile::of(&sandbox.source).unwrap();
    let report = build_report(
        &sandbox.source,
        "pages.cento",
        &profile,
        &finished,
        &plan.skipped,
        &ReportOptions {
            top: 10,
            ..ReportOptions::default()
        },
    )
    .unwrap();
    assert_eq!(report.chapters.len(), 1);
    assert_eq!(report.skipped[0].reason, skipped.reason);
    // If no analysis has enough memory, the scan fails.
    let error = sandbox.run(&mut sandbox.plan(&["copies"]), 1 << 20);
    assert!(matches!(
        error,
        Err(Error::Flow(cento_flow::Error::TooLittleMemory { .. }))
    ));
}

#[test]
fn an_analysis_of_corrupted_data_ends_the_scan_with_an_error() {
    let sandbox = Sandbox::new(40);
    let mut plan = sandbox.plan(&["copies", "discover"]);
    // The corpus is open: its tables are damaged while the scan runs.
    let mut damaged = 0;
    for entry in walk(&sandbox.corpus) {
        if entry.extension().is_some_and(|ending| ending == "parquet") {
            let mut bytes = std::fs::read(&entry).unwrap();
            let data = bytes.len().saturating_sub(1_000).min(2_000);
            bytes[4..data.max(4)].fill(0xa5);
            std::fs::write(&entry, bytes).unwrap();
            damaged += 1;
        }
    }
    assert!(damaged > 0);
    assert!(sandbox.run(&mut plan, 1 << 28).is_err());
    assert!(plan.skipped.is_empty());
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(walk(&path)),
            false => files.push(path),
        }
    }
    files
}

/// An analysis that always fails.
struct Failing(fn() -> Error);

impl Analysis for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn title(&self) -> &'static str {
        "Failing"
    }

    fn question(&self) -> &'static str {
        "Does it fail?"
    }

    fn plan(&self, _: &Profile) -> std::result::Result<Value, String> {
        Ok(Value::Null)
    }

    fn run(&self, _: &Arc<CorpusPages>, _: &Value, _: &Workplace) -> Result<Findings> {
        Err((self.0)())
    }

    fn command(&self, _: &str, _: &Value, _: &[String]) -> String {
        String::new()
    }

    fn figures(&self, _: &Findings) -> Result<Vec<Drawing>> {
        Ok(Vec::new())
    }

    fn summarise(&self, _: &SectionInput<'_>) -> Result<Section> {
        Ok(Section::default())
    }
}

#[test]
fn only_unsuitable_corpora_and_small_budgets_skip_an_analysis() {
    static UNSUITABLE: Failing = Failing(|| Error::Unsuitable("no links".to_owned()));
    static USAGE: Failing = Failing(|| Error::Usage("-k is too large".to_owned()));
    static BUG: Failing = Failing(|| Error::Bug("two rows for a page".to_owned()));
    static CORRUPTED: Failing = Failing(|| Error::Corrupted {
        path: "t.parquet".into(),
        detail: "column `pages` is missing".to_owned(),
    });
    static IO: Failing = Failing(|| Error::Io {
        path: "t.parquet".into(),
        source: std::io::ErrorKind::PermissionDenied.into(),
    });
    let sandbox = Sandbox::new(8);
    let scan = |failing: &'static dyn Analysis| {
        let mut plan = sandbox.plan(&["copies"]);
        plan.selected.insert(0, (failing, Value::Null));
        let finished = sandbox.run(&mut plan, 1 << 28)?;
        Ok((names(&finished), plan.skipped))
    };
    let (finished, skipped) = scan(&UNSUITABLE).unwrap();
    assert_eq!(finished, ["copies"]);
    assert_eq!(skipped[0].reason, "no links");
    for (failing, fault) in [
        (&USAGE, Fault::Usage),
        (&BUG, Fault::Bug),
        (&CORRUPTED, Fault::Corrupted),
        (&IO, Fault::Environment),
    ] {
        let outcome: Result<_> = scan(failing);
        let found = outcome.err().map(|error| error.fault());
        assert_eq!(found, Some(fault));
    }
}

table_row! {
    /// A table of classes whose counts are missing.
    struct KeptOnly {
        kept_id: u64,
        kept: String,
    }
}

#[test]
fn a_table_without_a_column_is_an_error_and_not_zeros() {
    let sandbox = Sandbox::new(8);
    let mut plan = sandbox.plan(&[COPIES]);
    let finished = sandbox.run(&mut plan, 1 << 28).unwrap();
    let findings = &finished[0].findings;
    let profile = Profile::of(&sandbox.source).unwrap();
    let input = SectionInput {
        source: &sandbox.source,
        corpus: "pages.cento",
        findings,
        profile: &profile,
        top: 10,
    };
    let section = Copies.summarise(&input).unwrap();
    let sentence = "4 of 8 pages with text (50.0 %) are duplicates";
    assert!(section.sentences[0].starts_with(sentence), "{section:?}");

    let path = findings.table(CLASSES.as_str());
    let mut table = TableOutput::<KeptOnly>::create(&path).unwrap();
    table
        .push(KeptOnly {
            kept_id: 0,
            kept: "http://h0.example/0".to_owned(),
        })
        .unwrap();
    table.finish().unwrap();
    let errors = [
        Copies.summarise(&input).map(|_| ()),
        Copies.figures(findings).map(|_| ()),
    ];
    for error in errors {
        let error = error.unwrap_err();
        assert_eq!(error.fault(), Fault::Corrupted);
        assert!(
            error.to_string().contains("column `pages` is missing"),
            "{error}"
        );
    }
}
