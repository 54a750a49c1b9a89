//! The whole path: bytes are indexed, and every analysis runs on the corpus.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use cento_file::Fault;
use cento_find::copies::{CopiesParams, copies};
use cento_find::detect::{DetectParams, LabelSet, detect};
use cento_find::discover::{DiscoverParams, How, discover, recipe_of, write_labels};
use cento_find::overlap;
use cento_find::passages::{self, PassagesParams};
use cento_find::phrases::{PhrasesParams, phrases};
use cento_find::quilts::quilts;
use cento_find::reuse::{self, ReuseParams};
use cento_find::{CorpusPages, FINDINGS, Findings, Result, Workplace};
use cento_labels::{LabelKind, StopList};
use cento_query::{QueryIndex, QuerySettings, update};

use crate::fixture::{
    build, collect, index_resources, no_bug, pages, small_overlap, small_quilts, workplace,
};

/// The longest input: the cost of one run grows with it.
const LONGEST: usize = 64 << 10;
/// What is between two pages.
const BREAK: &[u8] = b"\n--\n";

/// The first byte is how the rest is read: as texts or HTML pages with `--` in a line between them,
/// as JSON Lines, or as an archive; and which analyses run. Few of them cost little, so that a
/// fuzzer gets further.
pub fn analyses(bytes: &[u8]) {
    let Some((&form, rest)) = bytes.split_first() else {
        return;
    };
    let rest = rest.get(..LONGEST).unwrap_or(rest);
    let Ok(folder) = tempfile::tempdir() else {
        return;
    };
    let name = match form & 3 {
        0 | 1 => "pages.jsonl",
        2 => "lines.jsonl",
        _ => "crawl.warc",
    };
    let content = match form & 3 {
        0 => listed(rest, "text"),
        1 => listed(rest, "html"),
        _ => rest.to_vec(),
    };
    let input = folder.path().join(name);
    let corpus = folder.path().join("pages.cento");
    if fs::write(&input, content).is_err() {
        return;
    }
    match build(&input, &corpus) {
        Ok(_) => {}
        Err(error) => {
            assert!(error.fault() != Fault::Bug, "{error}");
            return;
        }
    }
    let Some(source) = no_bug(pages(&corpus)) else {
        return;
    };
    let chosen = Chosen::of(form);
    let place = workplace(corpus.join(FINDINGS), 1);
    let findings = run(&source, &place, folder.path(), chosen);
    if chosen.includes(Chosen::Query) {
        ask(&corpus);
    }
    // Sometimes again: neither the number of threads nor the memory change a byte.
    if form & 0x84 == 0x84 {
        let again = folder.path().join("again");
        let more = Workplace {
            memory: 256 << 20,
            ..workplace(again, 2)
        };
        let others = run(&source, &more, folder.path(), chosen);
        assert_eq!(findings.len(), others.len());
        for (one, other) in findings.iter().zip(&others) {
            assert!(tables(one) == tables(other), "{}", one.record.analysis);
        }
    }
}

/// Which analyses run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chosen {
    All,
    Copies,
    Quilts,
    Passages,
    /// `overlap` and `reuse`.
    Sharing,
    Phrases,
    /// `discover` and `detect`.
    Labels,
    Query,
}

impl Chosen {
    fn of(form: u8) -> Chosen {
        match form >> 3 & 7 {
            0 => Chosen::All,
            1 => Chosen::Copies,
            2 => Chosen::Quilts,
            3 => Chosen::Passages,
            4 => Chosen::Sharing,
            5 => Chosen::Phrases,
            6 => Chosen::Labels,
            _ => Chosen::Query,
        }
    }

    fn includes(self, group: Chosen) -> bool {
        self == Chosen::All || self == group
    }
}

/// JSON Lines with a page in each.
fn listed(bytes: &[u8], field: &str) -> Vec<u8> {
    let mut lines = Vec::new();
    let mut rest = bytes;
    for number in 0..100 {
        let end = rest.windows(BREAK.len()).position(|part| part == BREAK);
        let (page, after) = match end {
            Some(end) => (rest.get(..end), rest.get(end + BREAK.len()..)),
            None => (Some(rest), None),
        };
        let text = String::from_utf8_lossy(page.unwrap_or_default());
        let url = format!("http://h{}.example/{number}", number % 3);
        let line = serde_json::json!({ "url": url, field: text });
        lines.extend(format!("{line}\n").bytes());
        match after {
            Some(after) => rest = after,
            None => break,
        }
    }
    lines
}

/// Runs the chosen analyses with thresholds that small pages reach.
fn run(
    source: &Arc<CorpusPages>,
    workplace: &Workplace,
    folder: &Path,
    chosen: Chosen,
) -> Vec<Findings> {
    let mut found = Vec::new();
    let mut keep = |result: Result<Findings>| found.extend(no_bug(result));
    if chosen.includes(Chosen::Copies) {
        keep(copies(source, &CopiesParams::default(), workplace));
    }
    if chosen.includes(Chosen::Quilts) {
        keep(quilts(source, &small_quilts(), workplace));
    }
    if chosen.includes(Chosen::Passages) {
        let passing = PassagesParams {
            min_chars: 20,
            k: 3,
            w: 2,
            min_shared: 1,
            ..PassagesParams::default()
        };
        keep(passages::run(source, &passing, &[], workplace));
    }
    if chosen.includes(Chosen::Sharing) {
        keep(overlap::run(source, &small_overlap(), workplace));
        keep(reuse::run(source, &ReuseParams::default(), workplace));
    }
    if chosen.includes(Chosen::Phrases) {
        keep(phrases(source, &PhrasesParams::default(), workplace));
    }
    if chosen.includes(Chosen::Labels)
        && let Some(first) = source.corpora().first()
    {
        let recipe = recipe_of(first.parameters(), LabelKind::Chunks);
        let params = DiscoverParams::new(How::Threshold(1), recipe, &StopList::default());
        if let Some(labelled) = no_bug(discover(source, &params, workplace)) {
            let path = folder.join("pages.labels");
            if no_bug(write_labels(&labelled, &params, &path)).is_some()
                && let Some(labels) = no_bug(LabelSet::open(&path))
            {
                keep(detect(source, &labels, &DetectParams::default(), workplace));
            }
            found.push(labelled);
        }
    }
    found
}

/// Asks which pages share text with each page.
fn ask(corpus: &Path) {
    if let Err(error) = update(corpus, &index_resources()) {
        assert!(error.fault() != Fault::Bug, "{error}");
        return;
    }
    match QueryIndex::open(corpus) {
        Ok(index) => {
            for page in 0..4 {
                if let Err(error) = index.query_page(page, &QuerySettings::default()) {
                    assert!(error.fault() != Fault::Bug, "{error}");
                }
            }
        }
        Err(error) => assert!(error.fault() != Fault::Bug, "{error}"),
    }
}

/// The tables of a run, by name.
fn tables(findings: &Findings) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    collect(&findings.path, "", &mut files);
    files.retain(|name, _| name.ends_with(".parquet"));
    files
}
