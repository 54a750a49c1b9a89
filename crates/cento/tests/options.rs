//! The documentation of the options agrees with the command line.

#[path = "../examples/options.rs"]
#[expect(dead_code, reason = "the test renders the page and does not print it")]
mod options;

#[test]
fn the_matrix_of_commands_and_options_is_up_to_date() {
    let written = include_str!("../../../docs/OPTIONS.md");
    assert!(
        written == options::page(),
        "run `cargo run -p cento --example options > docs/OPTIONS.md`"
    );
}
