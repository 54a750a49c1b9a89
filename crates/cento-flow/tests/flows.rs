//! Checking flows, and errors of stage functions.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its files should stop there"
)]

mod support;

use cento_flow::{Flow, Shuffle, Stage};
use serde_json::json;
use support::{Machine, RandomRows, flow, registry};

fn refused(flow: &Flow) -> String {
    registry().check(flow).unwrap_err().to_string()
}

fn valid() -> Flow {
    flow(
        &[RandomRows {
            seed: 1,
            rows: 10,
            keys: 5,
            hot: 0,
            small: false,
        }],
        Shuffle::default(),
    )
}

#[test]
fn a_flow_is_a_json_document() {
    let flow = valid().repeat(
        vec![
            Stage::reduce("summarise", "pairs")
                .named("again")
                .writes("summaries"),
        ],
        "left",
        3,
    );
    let json = serde_json::to_string_pretty(&flow).unwrap();
    assert_eq!(serde_json::from_str::<Flow>(&json).unwrap(), flow);
    assert!(json.contains("\"function\": \"summarise\""), "{json}");
}

#[test]
fn an_invalid_flow_is_refused_before_it_runs() {
    assert!(registry().check(&valid()).is_ok());
    let with = |stage: Stage| refused(&valid().stage(stage));
    let cases = [
        (
            with(Stage::map("unknown", vec![]).writes("pairs")),
            "no map `unknown` is registered",
        ),
        (
            with(Stage::map("summarise", vec![]).named("x")),
            "no map `summarise` is registered",
        ),
        (
            with(Stage::map("make", vec![])),
            "two stages have the name `make`",
        ),
        (
            with(Stage::map("make", vec![]).named("x").writes("y")),
            "`x` writes `y`, which is not declared",
        ),
        (
            with(Stage::reduce("summarise", "y").named("x")),
            "`x` reads the shuffle `y`, which is not declared",
        ),
        (
            with(Stage::map("make", vec![]).named("x").reads("seen")),
            "`x` reads the state `seen`",
        ),
        (
            with(
                Stage::reduce("summarise", "pairs")
                    .named("x")
                    .writes("pairs"),
            ),
            "`x` writes the shuffle `pairs` that it reads",
        ),
        (
            refused(&valid().shuffle("summaries")),
            "`summaries` is declared twice",
        ),
        (
            refused(&valid().shuffle("../pairs")),
            "`../pairs` is not a valid name",
        ),
        (
            refused(&valid().state("s", "abacus", json!({}))),
            "no state `abacus` is registered",
        ),
        (
            refused(&valid().repeat(vec![], "left", 3)),
            "an iteration has no stages",
        ),
        (
            refused(
                &Flow::new("early")
                    .shuffle("pairs")
                    .stage(Stage::reduce("summarise", "pairs")),
            ),
            "which no earlier stage writes",
        ),
        (
            refused(&flow(
                &[],
                Shuffle {
                    partitions: 0,
                    ..Shuffle::default()
                },
            )),
            "`pairs` has 0 partitions",
        ),
    ];
    for (error, expected) in cases {
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_function_that_fails_names_its_stage_and_task() {
    let folder = tempfile::tempdir().unwrap();
    let mut registry = registry();
    registry.map("make", |context| match context.task_number() {
        3 => Err("no input".into()),
        _ => Ok(()),
    });
    let making = RandomRows {
        seed: 1,
        rows: 0,
        keys: 1,
        hot: 0,
        small: false,
    };
    let error = Machine::large()
        .run(
            folder.path(),
            &registry,
            &flow(&[making; 5], Shuffle::default()),
        )
        .unwrap_err();
    assert_eq!(error.to_string(), "make, task 3: no input");
}

#[test]
fn rows_of_another_type_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut registry = registry();
    registry.reduce::<cento_flow::Fragment, _>("summarise", |_, groups| {
        groups.next_group()?;
        Ok(())
    });
    let error = Machine::large()
        .run(folder.path(), &registry, &valid())
        .unwrap_err();
    assert!(
        error.to_string().contains("`pairs` has rows of 12 bytes"),
        "{error}"
    );
}

#[test]
fn an_iteration_that_does_not_converge_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut registry = registry();
    registry.map("turn", |context| {
        context.count("left", 5);
        Ok(())
    });
    let flow = Flow::new("endless").repeat(vec![Stage::map("turn", vec![json!(1)])], "left", 3);
    let error = Machine::large()
        .run(folder.path(), &registry, &flow)
        .unwrap_err();
    assert_eq!(error.to_string(), "`left` is still 5 after 3 rounds");
}
