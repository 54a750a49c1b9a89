//! Threads, memory and partitions do not change a table, compared with a naive implementation.

mod support;

use std::time::Duration;

use cento_flow::{Flow, Shuffle, Stage};
use proptest::prelude::*;
use serde_json::json;
use support::{Machine, RandomRows, flow, left, oracle, read_summaries, registry, table_bytes};

fn shuffle(partitions: u32, small: bool) -> Shuffle {
    Shuffle {
        key_bits: small.then_some(20),
        partitions,
        fixed: false,
    }
}

fn making() -> impl Strategy<Value = RandomRows> {
    (
        any::<u64>(),
        prop_oneof![Just(0u64), Just(1), 2u64..3000],
        1u64..4000,
        0u64..=10,
        any::<bool>(),
    )
        .prop_map(|(seed, rows, keys, hot, small)| RandomRows {
            seed,
            rows,
            keys,
            hot,
            small,
        })
}

fn cases(plain: u32) -> ProptestConfig {
    // `./check --full` sets PROPTEST_CASES to ten times the default, which is 256.
    let requested = ProptestConfig::default().cases;
    ProptestConfig::with_cases(plain * requested / 256)
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn any_machine_gives_the_result_of_the_oracle(
        tasks in prop::collection::vec(making(), 0..6),
        partitions in prop_oneof![Just(1u32), 2u32..40, Just(256u32)],
        small: bool,
        threads in prop_oneof![Just(1usize), Just(2), Just(7)],
        spare in 0u64..4 << 20,
        at_once: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut machine = Machine::smallest(threads);
        machine.memory += spare;
        if at_once {
            machine.checkpoint = Duration::ZERO;
        }
        machine.run(folder.path(), &registry(), &flow(&tasks, shuffle(partitions, small))).unwrap();
        prop_assert_eq!(read_summaries(folder.path()), oracle(&tasks));
        prop_assert!(left(folder.path()).is_empty());
    }
}

/// Tasks with three megabytes of rows, for which the smallest budget of one megabyte is too small.
fn large(hot: u64) -> Vec<RandomRows> {
    (0..5)
        .map(|seed| RandomRows {
            seed,
            rows: 50_000,
            keys: 60_000,
            hot,
            small: false,
        })
        .collect()
}

#[test]
fn tables_have_the_same_bytes_for_any_threads_memory_and_partitions() {
    for hot in [0, 5, 10] {
        let tasks = large(hot);
        let whole = tempfile::tempdir().unwrap();
        Machine::large()
            .run(whole.path(), &registry(), &flow(&tasks, Shuffle::default()))
            .unwrap();
        assert_eq!(read_summaries(whole.path()), oracle(&tasks));
        for (threads, memory, partitions) in [
            (1, 1, 1),
            (2, 2, 3),
            (7, 7, 256),
            (2, 100, 1),
            (1, 3, 1000),
            (7, 30, 16),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let machine = Machine {
                threads,
                memory: memory << 20,
                ..Machine::large()
            };
            let report = machine
                .run(
                    folder.path(),
                    &registry(),
                    &flow(&tasks, shuffle(partitions, false)),
                )
                .unwrap();
            assert!(
                table_bytes(whole.path(), "summaries") == table_bytes(folder.path(), "summaries"),
                "hot {hot}, {threads} threads, {memory} MiB, {partitions} partitions"
            );
            assert!(left(folder.path()).is_empty());
            if memory <= 3 {
                assert!(report.stages[0].spilled > 0, "{report}");
            }
        }
    }
}

#[test]
fn the_order_of_tasks_does_not_matter() {
    let mut tasks = large(3);
    let [first, second] = [false, true].map(|reversed| {
        if reversed {
            tasks.reverse();
        }
        let folder = tempfile::tempdir().unwrap();
        Machine::smallest(2)
            .run(
                folder.path(),
                &registry(),
                &flow(&tasks, Shuffle::default()),
            )
            .unwrap();
        table_bytes(folder.path(), "summaries")
    });
    assert!(first == second);
}

#[test]
fn without_tasks_or_rows_the_table_is_empty() {
    let nothing = RandomRows {
        seed: 1,
        rows: 0,
        keys: 1,
        hot: 0,
        small: false,
    };
    for tasks in [vec![], vec![nothing], vec![nothing; 9]] {
        let folder = tempfile::tempdir().unwrap();
        Machine::smallest(2)
            .run(
                folder.path(),
                &registry(),
                &flow(&tasks, Shuffle::default()),
            )
            .unwrap();
        assert_eq!(read_summaries(folder.path()), []);
    }
}

/// The flow with a prefilter of repeated keys.
fn filtered(tasks: &[RandomRows], bytes: u64) -> Flow {
    let tasks: Vec<_> = tasks.iter().map(|making| json!(making)).collect();
    Flow::new("filtered summaries")
        .shuffle("pairs")
        .state("seen", "seen-filter", json!({ "bytes": bytes }))
        .table("summaries")
        .stage(Stage::map("note", tasks.clone()).writes("seen"))
        .stage(Stage::map("make seen", tasks).reads("seen").writes("pairs"))
        .stage(
            Stage::reduce("summarise", "pairs")
                .with(json!(2))
                .writes("summaries"),
        )
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn a_prefilter_does_not_change_the_result(
        tasks in prop::collection::vec(making(), 0..5),
        bytes in prop_oneof![Just(1u64), 16u64..40_000],
        threads in prop_oneof![Just(1usize), Just(2), Just(7)],
        at_once: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut machine = Machine::smallest(threads);
        if at_once {
            machine.checkpoint = Duration::ZERO;
        }
        machine.run(folder.path(), &registry(), &filtered(&tasks, bytes)).unwrap();
        let mut expected = oracle(&tasks);
        expected.retain(|&(_, rows, _, _)| rows >= 2);
        prop_assert_eq!(read_summaries(folder.path()), expected);
    }
}

#[test]
fn a_prefilter_drops_most_keys_that_occur_once() {
    let unique = [RandomRows {
        seed: 5,
        rows: 100_000,
        keys: u64::MAX,
        hot: 1,
        small: false,
    }];
    let folder = tempfile::tempdir().unwrap();
    let report = Machine::large()
        .run(folder.path(), &registry(), &filtered(&unique, 1 << 20))
        .unwrap();
    let shuffled = report.stages[1].rows_out;
    assert!((9_000..12_000).contains(&shuffled), "{report}");
}

#[test]
fn a_group_can_be_larger_than_memory() {
    let tasks: Vec<RandomRows> = (0..40)
        .map(|seed| RandomRows {
            seed,
            rows: 50_000,
            keys: 1,
            hot: 10,
            small: false,
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let report = Machine::smallest(1)
        .run(
            folder.path(),
            &registry(),
            &flow(&tasks, Shuffle::default()),
        )
        .unwrap();
    // 24 MB of one key with a budget of 1 MB.
    assert_eq!(read_summaries(folder.path()), oracle(&tasks));
    assert!(report.stages[1].spilled > 20_000_000, "{report}");
}

#[test]
fn a_state_that_does_not_fit_the_budget_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = Machine::smallest(2)
        .run(folder.path(), &registry(), &filtered(&large(0), 1 << 30))
        .unwrap_err();
    assert!(error.to_string().contains("too small"), "{error}");
    assert!(error.hint().unwrap().contains("--memory"));
    assert!(left(folder.path()).is_empty());
}
