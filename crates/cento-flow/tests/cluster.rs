//! Single tasks, run as a cluster would run them, write the same tables as a local run.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its files should stop there"
)]
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "the `main` of the example is not called here"
)]

#[path = "../examples/overlap.rs"]
mod overlap;
mod support;

use std::collections::BTreeMap;

use bytes::Bytes;
use cento_flow::{
    Flow, Progress, Registry, Shuffle, Stage, StageInput, StateUse, Step, TaskLimits, TaskRows,
};
use proptest::prelude::*;
use serde_json::json;
use support::{Machine, RandomRows, flow, numbers, read_table, registry, table_bytes};

/// Limits with little memory, so that rows are sorted on disk and output is written to disk.
fn limits(memory: u64, output: u64) -> TaskLimits {
    TaskLimits {
        memory,
        output,
        temp: std::env::temp_dir(),
        progress: Progress::new(),
    }
}

/// A minimal cluster runner: everything is moved as bytes.
fn run_by_task(flow: &Flow, registry: &Registry, folder: &std::path::Path) {
    // Other machines get the flow as JSON.
    let flow: Flow = serde_json::from_str(&serde_json::to_string(flow).unwrap()).unwrap();
    let limits = |position: usize| limits(2 << 20, [0, 64 << 10, u64::MAX][position % 3]);
    let mut shuffles: BTreeMap<String, Vec<Vec<Vec<u8>>>> = BTreeMap::new();
    let mut tables: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    let mut states: BTreeMap<String, Bytes> = BTreeMap::new();
    let stages: Vec<&Stage> = flow.steps.iter().flat_map(Step::stages).collect();
    for (position, stage) in stages.iter().enumerate() {
        let name = &stage.name;
        let outputs: Vec<TaskRows> = match &stage.input {
            StageInput::Tasks(tasks) => {
                let tasks: Vec<usize> = (0..tasks.len()).collect();
                let (single, several) = tasks.split_at(tasks.len() / 2);
                let single = single
                    .iter()
                    .map(|&task| registry.run_map(&flow, name, task, &states, &limits(task)));
                let mut outputs: Vec<TaskRows> = single.map(Result::unwrap).collect();
                // Tasks that share the states that they write to, and the memory of their output.
                for (position, group) in several.chunks(3).enumerate() {
                    let limits = limits(position % 2);
                    let done = registry.run_maps(&flow, name, group, &states, &limits);
                    let done = done.unwrap();
                    assert_eq!(done.len(), group.len());
                    assert!(done.iter().rev().skip(1).all(|one| one.states().is_empty()));
                    outputs.extend(done);
                }
                outputs
            }
            StageInput::Shuffle(shuffle) => {
                let mut input = shuffles.remove(shuffle).unwrap_or_default();
                // The order of buffers does not matter.
                input.reverse();
                (0..flow.shuffles[shuffle].partitions as usize)
                    .map(|partition| {
                        let mine: Vec<&[u8]> = input
                            .iter()
                            .map(|task| task[partition].as_slice())
                            .collect();
                        registry
                            .run_reduce(&flow, name, partition, &mine, &states, &limits(partition))
                            .unwrap()
                    })
                    .collect()
            }
        };
        let mut written: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
        for output in outputs {
            for name in output.rows().into_keys() {
                let shuffle = flow.shuffles.get(&name);
                let partitions = shuffle.map_or(1, |shuffle| shuffle.partitions as usize);
                let read = |partition| {
                    let mut bytes = vec![0; output.size(&name, partition).unwrap() as usize];
                    output.read(&name, partition, &mut bytes).unwrap();
                    bytes
                };
                let parts: Vec<Vec<u8>> = (0..partitions).map(read).collect();
                match flow.tables.contains(&name) {
                    true => tables.entry(name).or_default().extend(parts),
                    false => shuffles.entry(name).or_default().push(parts),
                }
            }
            for (name, bytes) in output.states() {
                let bytes = bytes.to_vec().unwrap();
                written.entry(name.clone()).or_default().push(bytes);
            }
        }
        let merge = |name: &str, parts: &[&[u8]], used_for| {
            let merged = registry.merge_states(&flow, name, parts, used_for);
            merged.unwrap().to_vec().unwrap()
        };
        for (name, parts) in written {
            let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            // By a tree; later stages also add to the states of earlier ones.
            let compact: Vec<Vec<u8>> = parts
                .chunks(2)
                .map(|some| merge(&name, some, StateUse::Merge))
                .collect();
            let parts = compact.iter().map(Vec::as_slice);
            let parts: Vec<&[u8]> = parts.chain(states.get(&name).map(AsRef::as_ref)).collect();
            let later = stages.get(position + 1..).unwrap_or_default();
            let used_for = match later.iter().any(|stage| stage.writes.contains(&name)) {
                true => StateUse::ReadAndMerge,
                false => StateUse::Read,
            };
            let merged = merge(&name, &parts, used_for);
            states.insert(name.clone(), Bytes::from(merged));
        }
    }
    std::fs::create_dir_all(folder.join("tables")).unwrap();
    for (name, parts) in tables {
        let mut parts = parts.into_iter();
        let mut next = || Ok(parts.next().map(Bytes::from));
        registry
            .write_table(
                &folder.join("tables"),
                &name,
                &mut next,
                &Progress::default(),
            )
            .unwrap();
    }
}

#[test]
fn a_cluster_writes_the_same_tables() {
    let tasks: Vec<RandomRows> = (0..4)
        .map(|seed| RandomRows {
            seed,
            rows: 30_000,
            keys: 9000,
            hot: 4,
            small: false,
        })
        .collect();
    let flow = flow(
        &tasks,
        Shuffle {
            partitions: 7,
            ..Shuffle::default()
        },
    );
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    run_by_task(&flow, &registry(), folders[0].path());
    Machine::large()
        .run(folders[1].path(), &registry(), &flow)
        .unwrap();
    assert!(
        table_bytes(folders[0].path(), "summaries") == table_bytes(folders[1].path(), "summaries")
    );
}

#[test]
fn invalid_calls_are_refused() {
    let flow = flow(&[], Shuffle::default());
    let limits = limits(2 << 20, 0);
    let nothing = BTreeMap::new();
    let registry = registry();
    assert!(
        registry
            .run_map(&flow, "make", 0, &nothing, &limits)
            .is_err()
    );
    assert!(
        registry
            .run_map(&flow, "summarise", 0, &nothing, &limits)
            .is_err()
    );
    assert!(
        registry
            .run_map(&flow, "nothing", 0, &nothing, &limits)
            .is_err()
    );
    assert!(
        registry
            .run_reduce(&flow, "make", 0, &[], &nothing, &limits)
            .is_err()
    );
    assert!(
        registry
            .run_reduce(&flow, "summarise", 256, &[], &nothing, &limits)
            .is_err()
    );
    // Eleven bytes are not a row of twelve.
    assert!(
        registry
            .run_reduce(&flow, "summarise", 0, &[&[1; 11]], &nothing, &limits)
            .is_err()
    );
    // Rows need not be aligned.
    let bytes = [0; 25];
    let summary = registry.run_reduce(&flow, "summarise", 0, &[&bytes[1..]], &nothing, &limits);
    assert!(summary.is_ok());
}

#[test]
fn a_task_is_refused_if_its_states_do_not_fit_in_its_memory() {
    let counters = json!({ "bytes": 3 << 20 });
    let flow = Flow::new("counting")
        .state("counters", "counters", counters)
        .stage(Stage::map("count", vec![json!(1)]).writes("counters"))
        .stage(Stage::map("read", vec![json!(1)]).reads("counters"));
    let mut registry = Registry::new();
    registry.map("count", |_| Ok(()));
    registry.map("read", |_| Ok(()));
    let nothing = BTreeMap::new();
    let run =
        |stage: &str, memory: u64| registry.run_map(&flow, stage, 0, &nothing, &limits(memory, 0));
    let error = run("read", 2 << 20).map(|_| ()).unwrap_err();
    assert!(
        error.to_string().contains("3145728 bytes of states"),
        "{error}"
    );
    assert!(run("read", 6 << 20).is_ok());
    // What a task has not written to is not sent.
    assert!(run("count", 2 << 20).unwrap().states().is_empty());
}

/// Pages with some of thirty chunks each.
fn pages() -> impl Strategy<Value = Vec<Vec<u64>>> {
    prop::collection::vec(prop::collection::btree_set(0u64..30, 0..20), 0..25).prop_map(|pages| {
        pages
            .into_iter()
            .map(|page| page.into_iter().collect())
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn coarse_counting_is_exact_for_any_memory_and_on_a_cluster(pages in pages(), least in 1u64..6, counters in 1u64..500) {
        let tasks = pages.iter().enumerate().map(|(page, chunks)| json!([page, chunks])).collect();
        let mut flow = overlap::flow(tasks, least, counters);
        flow.shuffles.values_mut().for_each(|shuffle| shuffle.partitions = 5);
        let mut expected = Vec::new();
        for (left, one) in pages.iter().enumerate() {
            for (right, other) in pages.iter().enumerate().skip(left + 1) {
                let shared = one.iter().filter(|chunk| other.contains(chunk)).count() as u64;
                if shared >= least {
                    expected.push((left as u64, right as u64, shared));
                }
            }
        }
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        run_by_task(&flow, &overlap::registry(), folders[0].path());
        Machine::smallest(2).run(folders[1].path(), &overlap::registry(), &flow).unwrap();
        for folder in &folders {
            let table = read_table(folder.path(), "overlaps");
            let (lefts, rights) = (numbers(&table, "left"), numbers(&table, "right"));
            let found: Vec<_> = (0..lefts.len()).map(|at| (lefts[at], rights[at], numbers(&table, "chunks")[at])).collect();
            prop_assert_eq!(&found, &expected);
        }
    }
}
