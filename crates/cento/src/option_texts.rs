//! A test that an option means the same in every command that has it.
//!
//! The first paragraph of its help, its short form and the name of its value are the same
//! everywhere. What is special about an option in one command is in the next paragraphs, which
//! `--help` shows and `-h` does not. Only the default may differ.

use std::collections::BTreeMap;

use clap::{Arg, Command, CommandFactory};

use crate::arguments::Arguments;

/// Removes the default, which is at the end.
fn without_default(text: &str) -> String {
    match text.find(" [default: ") {
        Some(end) => text[..end].to_owned(),
        None => text.to_owned(),
    }
}

/// Returns what must be the same everywhere.
fn meaning(option: &Arg) -> String {
    let help = option.get_help().map(ToString::to_string);
    let values: Vec<String> = option
        .get_value_names()
        .filter(|_| option.get_action().takes_values())
        .unwrap_or_default()
        .iter()
        .map(ToString::to_string)
        .collect();
    let short = option.get_short().map(|letter| format!("-{letter} "));
    format!(
        "{}{}: {}",
        short.unwrap_or_default(),
        values.join(" "),
        without_default(&help.unwrap_or_default())
    )
}

fn collect(
    name: &str,
    command: &Command,
    found: &mut BTreeMap<String, BTreeMap<String, Vec<String>>>,
    shorts: &mut BTreeMap<char, BTreeMap<String, Vec<String>>>,
) {
    for option in command.get_arguments() {
        let Some(long) = option.get_long() else {
            continue;
        };
        if matches!(long, "help" | "version") {
            continue;
        }
        let meanings = found.entry(long.to_owned()).or_default();
        let commands = meanings.entry(meaning(option)).or_default();
        commands.push(name.to_owned());
        if let Some(short) = option.get_short() {
            let longs = shorts.entry(short).or_default();
            longs
                .entry(long.to_owned())
                .or_default()
                .push(name.to_owned());
        }
    }
    for below in command.get_subcommands() {
        collect(
            &format!("{name} {}", below.get_name()),
            below,
            found,
            shorts,
        );
    }
}

fn check_width(name: &str, command: &Command) {
    let end = command.get_after_help().map(ToString::to_string);
    for line in end.unwrap_or_default().lines() {
        // Commands can be copied in one piece.
        let is_command = line.starts_with("  cento ") || line.contains(" | ");
        assert!(is_command || line.chars().count() <= 100, "{name}: {line}");
    }
    for command in command.get_subcommands() {
        check_width(command.get_name(), command);
    }
}

#[test]
fn no_line_at_the_end_of_a_help_page_is_wrapped_again() {
    check_width("cento", &Arguments::command());
}

#[test]
fn an_option_has_one_meaning_in_all_commands() {
    let mut command = Arguments::command();
    command.build();
    let (mut found, mut shorts) = (BTreeMap::new(), BTreeMap::new());
    collect("cento", &command, &mut found, &mut shorts);
    let several: Vec<_> = found.iter().filter(|(_, all)| all.len() > 1).collect();
    assert!(several.is_empty(), "{several:#?}");
    let several: Vec<_> = shorts.iter().filter(|(_, all)| all.len() > 1).collect();
    assert!(several.is_empty(), "{several:#?}");
}
