//! Prints `docs/OPTIONS.md`: which command has which option.
//!
//! ```sh
//! cargo run -p cento --example options > docs/OPTIONS.md
//! ```
//!
//! A test compares the file with the definition of the command line.

use std::collections::BTreeMap;
use std::io::Write;

use clap::{Arg, Command};

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(page().as_bytes())
}

/// A command, its options by name, and whether it is the program itself.
struct ListedCommand<'c> {
    name: String,
    options: BTreeMap<&'c str, &'c Arg>,
}

/// Renders the page.
pub(crate) fn page() -> String {
    let definition = cento::definition();
    let mut commands = Vec::new();
    for verb in definition.get_subcommands() {
        list("", verb, &mut commands);
    }
    let mut global = BTreeMap::new();
    let mut users: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (position, command) in commands.iter().enumerate() {
        for (&name, option) in &command.options {
            match option.is_global_set() {
                true => {
                    global.insert(name, *option);
                }
                false => users.entry(name).or_default().push(position),
            }
        }
    }
    let mut text = "\
# Options

Generated from the definition of the command line by `crates/cento/examples/options.rs`: do not edit.

An option means the same in every command that has it; only its default may differ. `cento help
COMMAND` has the details.

## Options of all commands

"
    .to_owned();
    text.push_str("| option | meaning |\n|---|---|\n");
    for option in global.values() {
        text.push_str(&meaning(option));
    }
    text.push_str("\n## Options of several commands\n\n| option | meaning |\n|---|---|\n");
    let find = |name: &str, position: usize| commands.get(position)?.options.get(name).copied();
    let shared: Vec<(&str, &Vec<usize>)> = users
        .iter()
        .filter(|(_, users)| users.len() > 1)
        .map(|(&name, users)| (name, users))
        .collect();
    for (name, users) in &shared {
        if let Some(option) = users.first().and_then(|&first| find(name, first)) {
            text.push_str(&meaning(option));
        }
    }
    text.push_str("\n## Which command has which of them\n\n");
    let columns: Vec<usize> = (0..commands.len())
        .filter(|position| shared.iter().any(|(_, users)| users.contains(position)))
        .collect();
    text.push_str("| |");
    for &column in &columns {
        let name = commands
            .get(column)
            .map_or("", |command| command.name.as_str());
        text.push_str(&format!(" {name} |"));
    }
    text.push_str(&format!("\n|---|{}\n", ":-:|".repeat(columns.len())));
    for (name, users) in &shared {
        text.push_str(&format!("| `--{name}` |"));
        for column in &columns {
            text.push_str(if users.contains(column) {
                " ● |"
            } else {
                " |"
            });
        }
        text.push('\n');
    }
    text.push_str("\n## Options of one command\n");
    for (position, command) in commands.iter().enumerate() {
        let mut own = users
            .iter()
            .filter(|(_, users)| ***users == [position])
            .filter_map(|(name, _)| find(name, position))
            .peekable();
        if own.peek().is_none() {
            continue;
        }
        text.push_str(&format!(
            "\n### cento {}\n\n| option | meaning |\n|---|---|\n",
            command.name
        ));
        for option in own {
            text.push_str(&meaning(option));
        }
    }
    text
}

fn list<'c>(above: &str, command: &'c Command, commands: &mut Vec<ListedCommand<'c>>) {
    if command.is_hide_set() {
        return;
    }
    let name = format!("{above}{}", command.get_name());
    if command.has_subcommands() {
        for below in command.get_subcommands() {
            list(&format!("{name} "), below, commands);
        }
        return;
    }
    let options = command
        .get_arguments()
        .filter(|option| !option.is_hide_set())
        .filter_map(|option| Some((option.get_long()?, option)))
        .filter(|(name, _)| !matches!(*name, "help" | "version"));
    commands.push(ListedCommand {
        name,
        options: options.collect(),
    });
}

/// A row of a table: the option with its value, and the first paragraph of its help without the
/// default.
fn meaning(option: &Arg) -> String {
    let mut name = option
        .get_short()
        .map(|letter| format!("-{letter}, "))
        .unwrap_or_default();
    name.push_str(&format!("--{}", option.get_long().unwrap_or_default()));
    if option.get_action().takes_values() {
        for value in option.get_value_names().unwrap_or_default() {
            name.push_str(&format!(" {value}"));
        }
    }
    let help = option.get_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let help = help.split(" [default: ").next().unwrap_or_default();
    let help = help.replace('|', "\\|").replace('\n', " ");
    format!("| `{name}` | {help} |\n")
}
