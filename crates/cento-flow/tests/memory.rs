//! Small memory budgets, and workers that panic.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its files should stop there"
)]

mod support;

use cento_flow::{Error, Flow, Registry, Shuffle, Stage};
use serde_json::json;
use support::{Machine, RandomRows, flow, left, oracle, read_summaries, registry, table_bytes};

/// Two megabytes of rows, as much as stays in memory with a budget of four megabytes.
fn tasks() -> Vec<RandomRows> {
    (0..8)
        .map(|seed| RandomRows {
            seed,
            rows: 20_000,
            keys: 50_000,
            hot: 1,
            small: false,
        })
        .collect()
}

fn machine(threads: usize) -> Machine {
    Machine {
        threads,
        memory: 4 << 20,
        ..Machine::large()
    }
}

/// The usual flow with another stage between the map and the reduce.
fn flow_with(middle: Stage) -> Flow {
    let mut whole = flow(&tasks(), Shuffle::default());
    let reduce = whole.steps.pop().unwrap();
    whole = whole.stage(middle);
    whole.steps.push(reduce);
    whole
}

/// Checks that a flow writes the same bytes with four megabytes as with more memory than it needs.
fn check(registry: &Registry, flow: &Flow) {
    let reference = tempfile::tempdir().unwrap();
    let whole = Machine::large()
        .run(reference.path(), registry, flow)
        .unwrap();
    for threads in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let report = machine(threads).run(folder.path(), registry, flow).unwrap();
        assert_eq!(read_summaries(folder.path()), oracle(&tasks()));
        assert_eq!(
            table_bytes(folder.path(), "summaries"),
            table_bytes(reference.path(), "summaries")
        );
        assert_eq!(report.counted("made"), whole.counted("made"));
        let spilled: u64 = report.stages.iter().map(|stage| stage.spilled).sum();
        assert!(spilled > 0, "nothing was spilled");
        assert!(left(folder.path()).is_empty());
    }
}

/// Issue 15: `copies` of 4 million hosts with `--memory 256M` failed, because outputs that could be
/// spilled occupied what the states and threads of the next stage needed.
#[test]
fn outputs_in_memory_are_spilled_when_the_next_stage_needs_the_memory() {
    let tasks = tasks().iter().map(|making| json!(making)).collect();
    let flow = flow_with(Stage::map("note", tasks).writes("seen"));
    let flow = flow.state("seen", "seen-filter", json!({ "bytes": 3 << 19 }));
    check(&registry(), &flow);
}

#[test]
fn outputs_in_memory_are_spilled_when_a_stage_function_needs_the_memory() {
    let mut registry = registry();
    registry.map("need", |context| {
        let _lease = context.budget().take(3 << 19, "what the test needs")?;
        Ok(())
    });
    check(&registry, &flow_with(Stage::map("need", vec![json!(0)])));
}

#[test]
fn a_stage_that_needs_more_than_the_budget_fails() {
    let mut registry = registry();
    registry.map("need", |context| {
        let _lease = context.budget().take(1 << 30, "what the test needs")?;
        Ok(())
    });
    let folder = tempfile::tempdir().unwrap();
    let flow = flow_with(Stage::map("need", vec![json!(0)]));
    let error = machine(2).run(folder.path(), &registry, &flow).unwrap_err();
    assert!(matches!(error, Error::TooLittleMemory { .. }), "{error}");
}

#[test]
fn a_worker_that_panics_ends_the_run_with_an_error_and_the_run_can_be_resumed() {
    let flow = flow(&tasks(), Shuffle::default());
    for threads in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let mut broken = registry();
        broken.map("make", |context| {
            assert!(context.task_number() != 3, "a test panics");
            let mut pairs = context.shuffle::<support::Pair>("pairs")?;
            Ok(pairs.extend(context.task::<RandomRows>()?.pairs())?)
        });
        let careful = Machine {
            checkpoint: std::time::Duration::ZERO,
            ..machine(threads)
        };
        let error = careful.run(folder.path(), &broken, &flow).unwrap_err();
        assert_eq!(error.to_string(), "internal error: a test panics");
        assert!(error.hint().unwrap().contains("report"));
        let report = careful.run(folder.path(), &registry(), &flow).unwrap();
        assert!(report.stages[0].resumed > 0);
        assert_eq!(read_summaries(folder.path()), oracle(&tasks()));
        assert!(left(folder.path()).is_empty());
    }
}
