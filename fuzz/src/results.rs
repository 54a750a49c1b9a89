//! The findings in a corpus from somebody else, its verdicts, and the tables beside labels.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use cento_find::copies::{CopiesParams, PAIRS, copies};
use cento_find::detect::{DetectParams, LabelSet, detect};
use cento_find::discover::{DiscoverParams, How, discover, recipe_of, write_labels};
use cento_find::overlap;
use cento_find::passages::{self, PassagesParams};
use cento_find::phrases::{PhrasesParams, phrases};
use cento_find::quilts::quilts;
use cento_find::reuse::{self, ReuseParams};
use cento_find::{FINDINGS, Findings, RUN, Result, known_findings, verify_findings};
use cento_labels::{LabelKind, StopList};
use cento_scan::{Profile, ReportOptions, build_report, known_results};
use cento_serve::{ServeSettings, SiteServer, Stopper};
use serde_json::Value;

use crate::fixture::{
    Fixture, named_content, no_bug, pages, small_overlap, small_quilts, workplace,
};
use crate::forge;

/// The labels of the corpus.
const LABELS: &str = "pages.labels";
/// The folders of a corpus that the target for its files changes.
const CORPUS: [&str; 4] = ["pages/", "text/", "chunks/", "inputs/"];
/// The analyses, and the pages of the site that show their findings.
const SHOWN: [(&str, &[&str]); 8] = [
    (
        "copies",
        &[
            "/lists/classes",
            "/lists/duplicates",
            "/classes/0",
            "/pair?page=3&of=0",
        ],
    ),
    ("detect", &["/lists/detected", "/neighbourhoods"]),
    ("discover", &["/lists/labels"]),
    ("overlap", &["/lists/overlap", "/lists/servers"]),
    (
        "passages",
        &["/lists/passages", "/lists/clusters", "/passages/0"],
    ),
    (
        "phrases",
        &["/lists/phrases", "/lists/popular", "/lists/sites"],
    ),
    ("quilts", &["/lists/quilts", "/quilts/0"]),
    ("reuse", &["/lists/reuse", "/api/lists/reuse/rows"]),
];

thread_local! {
    static FIXTURE: (Fixture, BTreeMap<String, Vec<u8>>) = {
        let fixture = Fixture::new();
        let made = run_analyses(&fixture.corpus, &fixture.corpus.join(FINDINGS));
        assert!(made.is_ok(), "{made:?}");
        let verdicts = fixture.corpus.join("verdicts/verdicts.jsonl");
        let _ = fs::create_dir_all(verdicts.parent().unwrap_or(Path::new("")));
        let _ = fs::write(verdicts, "");
        let files = fixture.files();
        (fixture, files)
    };
}

/// Runs the analyses whose results the site shows.
pub(crate) fn run_analyses(corpus: &Path, findings: &Path) -> Result<()> {
    let source = pages(corpus)?;
    let workplace = workplace(findings.to_owned(), 1);
    let passing = PassagesParams {
        min_chars: 40,
        ..PassagesParams::default()
    };
    copies(&source, &CopiesParams::default(), &workplace)?;
    overlap::run(&source, &small_overlap(), &workplace)?;
    reuse::run(&source, &ReuseParams::default(), &workplace)?;
    quilts(&source, &small_quilts(), &workplace)?;
    passages::run(&source, &passing, &[], &workplace)?;
    phrases(&source, &PhrasesParams::default(), &workplace)?;
    let labels = write_labels_of(corpus, corpus)?;
    let set = LabelSet::open(&labels)?;
    detect(&source, &set, &DetectParams::default(), &workplace)?;
    Ok(())
}

/// Writes the labels of a corpus to a folder.
pub(crate) fn write_labels_of(corpus: &Path, folder: &Path) -> Result<PathBuf> {
    let source = pages(corpus)?;
    let path = folder.join(LABELS);
    if let Some(first) = source.corpora().first() {
        let recipe = recipe_of(first.parameters(), LabelKind::Chunks);
        let params = DiscoverParams::new(How::Informed(10), recipe, &StopList::default());
        let workplace = workplace(corpus.join(FINDINGS), 1);
        let labelled = discover(&source, &params, &workplace)?;
        write_labels(&labelled, &params, &path)?;
    }
    Ok(path)
}

/// The bytes are the name of a file of findings, labels or verdicts, a line break, and its content.
/// Checksums of it are made to match.
pub fn findings(bytes: &[u8]) {
    let Some((name, content)) = named_content(bytes) else {
        return;
    };
    FIXTURE.with(|(fixture, files)| {
        // Runs are named by hashes, which change with the version of the analyses.
        let is_named = |known: &&String| short(known) == name && !known.ends_with(".lock");
        let Some(path) = files.keys().find(is_named) else {
            return;
        };
        fixture.restore(files);
        replace(fixture, files, path, content);
        // A choice that a fuzzer makes by the length of its input: one takes a third of all.
        match content.len() % 3 {
            0 => open(fixture, name),
            1 => serve(fixture, name),
            _ => report(fixture),
        }
    });
}

/// The name of a file without the hash of its run.
fn short(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [FINDINGS, analysis, _, file] => format!("{analysis}/{file}"),
        _ => path.to_owned(),
    }
}

/// Writes a file, and corrects the checksum of what names it.
fn replace(fixture: &Fixture, files: &BTreeMap<String, Vec<u8>>, path: &str, content: &[u8]) {
    let target = fixture.corpus.join(path);
    if path.ends_with(RUN) {
        let _ = fs::write(target, forge::sealed(content));
        return;
    }
    let _ = fs::write(&target, content);
    let checksum = Value::from(blake3::hash(content).to_hex().to_string());
    let size = Value::from(content.len());
    let correct = |list: Option<&mut Value>, key: &str, name: &str| {
        let list = list.and_then(Value::as_array_mut).into_iter().flatten();
        for entry in list.filter(|entry| entry.get(key).is_some_and(|found| found == name)) {
            *entry.get_mut("bytes").unwrap_or(&mut Value::Null) = size.clone();
            *entry.get_mut("blake3").unwrap_or(&mut Value::Null) = checksum.clone();
        }
    };
    if let Some((folder, table)) = path.rsplit_once('/')
        && let Some(table) = table.strip_suffix(".parquet")
        && let Some(record) = files.get(&format!("{folder}/{RUN}"))
        && let Ok(mut json) = serde_json::from_slice::<Value>(&forge::unsealed(record))
    {
        correct(json.pointer_mut("/report/tables"), "name", table);
        let record = forge::sealed(format!("{json:#}").as_bytes());
        let _ = fs::write(fixture.corpus.join(folder).join(RUN), record);
    }
    if let Some(ending) = path.strip_prefix(LABELS)
        && let Some(labels) = files.get(LABELS)
        && let Some((header, sections)) = forge::label_parts(labels)
        && let Ok(mut json) = serde_json::from_slice::<Value>(header)
    {
        correct(json.get_mut("beside"), "ending", ending);
        let labels = forge::label_file(json.to_string().as_bytes(), sections);
        let _ = fs::write(fixture.corpus.join(LABELS), labels);
    }
}

/// Reads findings and labels as commands do; `changed` is the file that is not what it was.
fn open(fixture: &Fixture, changed: &str) {
    let folder = fixture.corpus.join(FINDINGS);
    let _ = no_bug(verify_findings(&folder));
    let Some(source) = no_bug(pages(&fixture.corpus)) else {
        return;
    };
    for (analysis, _) in SHOWN {
        let found = no_bug(known_findings(&folder, analysis, &source));
        for findings in found.into_iter().flatten() {
            let _ = findings.verify();
        }
    }
    let copied = no_bug(known_findings(&folder, "copies", &source));
    for findings in copied.into_iter().flatten() {
        if let Some(rows) = no_bug(findings.rows(PAIRS)) {
            rows.take_while(|row| row.is_ok()).count();
        }
    }
    if !changed.starts_with(LABELS) {
        return;
    }
    let labels = fixture.corpus.join(LABELS);
    if let Some(set) = no_bug(LabelSet::open(&labels)) {
        let _ = no_bug(set.read_originals());
        let workplace = workplace(fixture.corpus.join("again"), 1);
        let params = DetectParams {
            fuzzy: Some(0.4),
            ..DetectParams::default()
        };
        let _: Option<Findings> = no_bug(detect(&source, &set, &params, &workplace));
    }
}

/// Shows the findings of an analysis on the site.
fn serve(fixture: &Fixture, changed: &str) {
    let mut settings = ServeSettings::new(&fixture.corpus);
    settings.threads = 1;
    let server = match SiteServer::bind(&settings) {
        Ok(server) => server,
        Err(error) => {
            assert!(error.fault() != cento_file::Fault::Bug, "{error}");
            return;
        }
    };
    let address = server.address();
    let stopper = Stopper::new();
    let analysis = changed.split('/').next().unwrap_or(changed);
    let shown = SHOWN.iter().find(|(name, _)| *name == analysis);
    let paths = shown.map_or(&["/judge"][..], |(_, paths)| paths);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ = server.run(&stopper);
        });
        for path in paths.iter().chain(&["/", "/pages/0"]) {
            let Ok(mut stream) = TcpStream::connect(address) else {
                break;
            };
            let request =
                format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(request.as_bytes());
            let mut response = Vec::new();
            let _ = stream.read_to_end(&mut response);
            assert!(!response.starts_with(b"HTTP/1.1 500 I"), "{path}");
        }
        stopper.stop();
    });
}

/// Writes the report of all findings.
fn report(fixture: &Fixture) {
    let folder = fixture.corpus.join(FINDINGS);
    let Some(source) = no_bug(pages(&fixture.corpus)) else {
        return;
    };
    let Some(profile) = no_bug(Profile::of(&source)) else {
        return;
    };
    let known = no_bug(known_results(&source, &profile, &folder, "a.cento"));
    let Some((finished, skipped)) = known else {
        return;
    };
    let options = ReportOptions {
        top: 5,
        time: None,
        command: String::new(),
    };
    let report = build_report(&source, "a.cento", &profile, &finished, &skipped, &options);
    if let Some(report) = no_bug(report) {
        assert!(!report.html().is_empty());
    }
}

pub(crate) fn seeds() -> Vec<(String, Vec<u8>)> {
    FIXTURE.with(|(fixture, files)| {
        fixture.restore(files);
        let chosen = files.iter().filter(|(name, bytes)| {
            let short = short(name);
            let known = short.starts_with(LABELS) || short.contains('/');
            known
                && !short.ends_with(".lock")
                && !CORPUS.iter().any(|folder| short.starts_with(folder))
                && short != LABELS
                && bytes.len() < 12_000
        });
        let seed = |(name, bytes): (&String, &Vec<u8>)| {
            let content = match name.ends_with(RUN) {
                true => forge::unsealed(bytes),
                false => bytes.clone(),
            };
            let name = short(name);
            let file = name.replace('/', "-");
            (file, [name.as_bytes(), b"\n", &content].concat())
        };
        chosen.map(seed).collect()
    })
}
