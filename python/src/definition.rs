//! The definition of the command line as data, from which the methods of the package are generated.

use std::path::PathBuf;

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Command, value_parser};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// The verbs of the command line with their options, as JSON.
#[pyfunction]
pub(crate) fn definition() -> String {
    let command = cento::definition();
    let verbs: Vec<Value> = command.get_subcommands().map(verb).collect();
    json!(verbs).to_string()
}

fn verb(command: &Command) -> Value {
    let about = command.get_about().map(ToString::to_string);
    let long = command.get_long_about().map(ToString::to_string);
    let known = ["help", "version"];
    let options = command
        .get_arguments()
        .filter(|option| !known.contains(&option.get_id().as_str()))
        // How the program prints does not concern the package.
        .filter(|option| !option.is_global_set());
    json!({
        "name": command.get_name(),
        "about": about,
        "long_about": long,
        "hidden": command.is_hide_set(),
        "options": options.map(option).collect::<Vec<Value>>(),
        "verbs": command.get_subcommands().map(verb).collect::<Vec<Value>>(),
    })
}

fn option(option: &Arg) -> Value {
    let numbers = option.get_num_args().unwrap_or_default();
    let takes_values = option.get_action().takes_values();
    let many = numbers.max_values() > 1;
    let repeated = matches!(option.get_action(), ArgAction::Append);
    let defaults: Vec<String> = option
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    let possible: Vec<String> = option
        .get_possible_values()
        .iter()
        .map(|value| value.get_name().to_owned())
        .collect();
    json!({
        "id": option.get_id().as_str(),
        "long": option.get_long(),
        "short": option.get_short(),
        "help": option.get_help().map(ToString::to_string),
        "heading": option.get_help_heading(),
        "positional": option.is_positional(),
        "hidden": option.is_hide_set(),
        "required": option.is_required_set(),
        "takes_values": takes_values,
        "min_values": if takes_values { numbers.min_values() } else { 0 },
        "many": takes_values && many,
        "repeated": takes_values && repeated,
        "kind": if takes_values { kind(option) } else { "flag" },
        "defaults": defaults,
        "possible": if takes_values { possible } else { Vec::new() },
    })
}

/// The kind of the values of an option: `int`, `float`, `path`, `text`, or `any` for a value with a
/// parser of its own, such as a size with a unit.
fn kind(option: &Arg) -> &'static str {
    let parser = option.get_value_parser().type_id();
    let is = |other: ValueParser| parser == other.type_id();
    let integers = [
        value_parser!(u32).into(),
        value_parser!(u64).into(),
        value_parser!(usize).into(),
        value_parser!(std::num::NonZeroUsize).into(),
    ];
    if integers.into_iter().any(is) {
        return "int";
    }
    if is(value_parser!(f64).into()) {
        return "float";
    }
    if is(value_parser!(PathBuf)) {
        return "path";
    }
    if is(ValueParser::string()) {
        return "text";
    }
    "any"
}
