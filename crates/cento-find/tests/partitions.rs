//! A small corpus has few partitions, a large one many, and a cluster chooses: no table depends on
//! their number.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use cento_find::copies::{CopiesParams, copies};
use cento_find::detect::{DetectParams, LabelSet, detect};
use cento_find::discover::{DiscoverParams, How, discover, recipe_of, write_labels};
use cento_find::overlap::{self, OverlapParams};
use cento_find::passages::{self, PassagesParams};
use cento_find::phrases::{PhrasesParams, phrases};
use cento_find::quilts::{QuiltsParams, quilts};
use cento_find::reuse::{self, ReuseParams};
use cento_find::{CorpusPages, ExecutorRole, Findings, FlowExecutor, with_executor};
use cento_flow::{Flow, RunReport, Runner};
use cento_labels::{LabelKind, StopList};
use cento_text::chunk::ChunkKind;
use support::{Page, bytes, corpus, open, workplace};

/// Runs flows with this number of partitions.
struct Divided(u32);

impl FlowExecutor for Divided {
    fn execute(&self, runner: &Runner<'_>, flow: &Flow) -> cento_find::Result<RunReport> {
        let mut flow = flow.clone();
        for shuffle in flow.shuffles.values_mut().filter(|shuffle| !shuffle.fixed) {
            shuffle.partitions = self.0;
        }
        Ok(runner.run(&flow)?)
    }

    fn role(&self) -> ExecutorRole {
        ExecutorRole::Local
    }
}

/// Pages of three hosts, each of some of twenty paragraphs and a few words of its own.
fn pages() -> Vec<Page> {
    let paragraph = |number: usize| {
        let words =
            (0..30).map(|word| format!("w{}", (number * 37 + word * (number % 5 + 1)) % 211));
        words.collect::<Vec<_>>().join(" ")
    };
    let page = |number: usize| {
        let shared = (0..number % 4 + 1).map(|at| paragraph((number * 7 + at * 3) % 20));
        let mut parts: Vec<String> = shared.collect();
        if !number.is_multiple_of(3) {
            parts.push(format!(
                "only page {number} has these {} words",
                number * 11
            ));
        }
        let url = format!("http://h{}.example/{number}", number % 3);
        (url, parts.join("\n\n"))
    };
    (0..60).map(page).collect()
}

fn run_all(source: &Arc<CorpusPages>, folder: &Path) -> Vec<Findings> {
    let place = workplace(&folder.join("findings"), 2, 64 << 20);
    let quilting = QuiltsParams {
        k: 4,
        m: 2,
        c: 1,
        theta: 0.1,
        ..QuiltsParams::default()
    };
    let sharing = OverlapParams {
        threshold: 1,
        ..OverlapParams::new(ChunkKind::Paragraph)
    };
    let passing = PassagesParams {
        min_chars: 40,
        ..PassagesParams::default()
    };
    let recipe = recipe_of(source.corpora()[0].parameters(), LabelKind::Chunks);
    let params = DiscoverParams::new(How::Threshold(2), recipe, &StopList::default());
    let discovered = discover(source, &params, &place).unwrap();
    let labels = folder.join("found.labels");
    write_labels(&discovered, &params, &labels).unwrap();
    let labels = LabelSet::open(&labels).unwrap();
    vec![
        copies(source, &CopiesParams::default(), &place).unwrap(),
        quilts(source, &quilting, &place).unwrap(),
        overlap::run(source, &sharing, &place).unwrap(),
        reuse::run(source, &ReuseParams::default(), &place).unwrap(),
        passages::run(source, &passing, &[], &place).unwrap(),
        phrases(source, &PhrasesParams::default(), &place).unwrap(),
        detect(source, &labels, &DetectParams::default(), &place).unwrap(),
        discovered,
    ]
}

#[test]
fn the_number_of_partitions_changes_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = corpus(folder.path(), "pages", &pages());
    let source = open(&[&path]);
    let few = run_all(&source, folder.path());
    for partitions in [1, 7, 256] {
        let other = folder.path().join(partitions.to_string());
        std::fs::create_dir(&other).unwrap();
        let others = with_executor(Rc::new(Divided(partitions)), || run_all(&source, &other));
        assert_eq!(few.len(), others.len());
        for (one, other) in few.iter().zip(&others) {
            assert!(
                bytes(one) == bytes(other),
                "{} in {partitions} partitions",
                one.record.analysis
            );
        }
    }
    let rows: u64 = few
        .iter()
        .flat_map(|findings| &findings.record.report.tables)
        .map(|table| table.rows)
        .sum();
    assert!(rows > 100, "{rows} rows");
}
