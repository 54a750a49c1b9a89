//! A test of which options can be combined: all pairs of options of all commands.
//!
//! An option that is accepted has an effect, with any other option that is accepted beside it. The
//! snapshot in `src/snapshots` has a line per option: the options that it needs, and those that it
//! conflicts with. It has an effect together with all others. A new option changes the snapshot,
//! and its author checks that each changed line is true. Conflicts that depend on values
//! (`--scheme megashingle`) or on whether an input is a corpus are refused by
//! [`crate::command_line::refuse`] and tested in `tests/outputs.rs`.

use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::aliases::{CONTAMINATION, DEDUP};
use crate::arguments::Arguments;
use crate::command_line::unmet;

/// Returns a value that an option accepts.
fn value(option: &Arg) -> String {
    if let Some(known) = option.get_possible_values().first() {
        return known.get_name().to_owned();
    }
    let name = option
        .get_value_names()
        .and_then(|names| names.first())
        .map_or("", |name| name.as_str());
    let text = option.get_long_help().map(ToString::to_string);
    let of_copies = text.is_some_and(|text| text.contains("resemblance="));
    let value = match (option.get_id().as_str(), name) {
        ("sweep", _) if of_copies => "resemblance=0.5,1",
        ("sweep", _) => "k=2..3",
        ("format", _) => "jsonl",
        ("chunk", _) => "lines:2",
        ("content", _) => "slope",
        ("normalise", _) => "space",
        ("hash", _) => "sha1",
        ("unit", _) => "files",
        ("scheme", _) => "dct",
        ("rule", _) => "resemblance",
        ("style", _) => "reuse",
        ("keep", "WHICH") => "longest",
        ("foreign", _) => "ip",
        ("site", _) => "ip",
        ("edit_rates", _) => "0.5",
        ("cover_pages" | "copies", _) => "3",
        (_, "URL") => "http://a.example/",
        (_, "ROLE=NAME") => "text=body",
        (_, "SIZE") => "64M",
        (_, "SHARE" | "R" | "THETA" | "RESEMBLANCE" | "MEAN" | "DEVIATION") => "0.5",
        (_, "N" | "NUMBER" | "K" | "M" | "C" | "T" | "BYTES" | "SECONDS" | "MULTIPLE") => "3",
        _ => "word",
    };
    value.to_owned()
}

/// Returns the words of an option.
fn typed(option: &Arg) -> Vec<String> {
    let long = option.get_long().unwrap_or_default();
    match option.get_action() {
        ArgAction::Set | ArgAction::Append => vec![format!("--{long}={}", value(option))],
        _ => vec![format!("--{long}")],
    }
}

/// Returns whether a command accepts these options, with or without its positional words.
fn accepted(verb: &Command, options: &[&Arg]) -> bool {
    accepted_with(verb, options, false) || accepted_with(verb, options, true)
}

fn accepted_with(verb: &Command, options: &[&Arg], all: bool) -> bool {
    let mut words = vec!["verb".to_owned()];
    for positional in verb.get_positionals() {
        if all || positional.is_required_set() {
            words.push(positional.get_possible_values().first().map_or_else(
                || "corpus.cento".to_owned(),
                |value| value.get_name().to_owned(),
            ));
        }
    }
    for option in options {
        words.extend(typed(option));
    }
    let mut verb = verb.clone();
    let matches = verb.try_get_matches_from_mut(words);
    matches.is_ok_and(|matches| unmet(&verb, &matches).is_none())
}

/// Returns the sets of options that an option can be used with: the empty one if it needs no other.
/// Returns nothing if the option is always refused.
fn contexts<'v>(verb: &Command, option: &'v Arg, others: &[&'v Arg]) -> Vec<Vec<&'v Arg>> {
    let with = |more: &[&'v Arg]| {
        let mut all = vec![option];
        all.extend(more);
        accepted(verb, &all)
    };
    if with(&[]) {
        return vec![Vec::new()];
    }
    let one: Vec<Vec<&Arg>> = others
        .iter()
        .filter(|other| with(&[other]))
        .map(|&other| vec![other])
        .collect();
    if !one.is_empty() {
        return one;
    }
    let mut two = Vec::new();
    for (at, &first) in others.iter().enumerate() {
        for &second in &others[at + 1..] {
            if with(&[first, second]) {
                two.push(vec![first, second]);
            }
        }
    }
    if !two.is_empty() {
        return two;
    }
    let mut three = Vec::new();
    for (at, &first) in others.iter().enumerate() {
        for (next, &second) in others.iter().enumerate().skip(at + 1) {
            for &third in &others[next + 1..] {
                if with(&[first, second, third]) {
                    three.push(vec![first, second, third]);
                }
            }
        }
    }
    three
}

/// Appends a line per option of a verb: what it needs and what it conflicts with.
fn refused(name: &str, verb: &Command, lines: &mut String) {
    let options: Vec<&Arg> = verb
        .get_arguments()
        .filter(|option| option.get_long().is_some() && !option.is_global_set())
        .filter(|option| !matches!(option.get_id().as_str(), "help" | "version"))
        .collect();
    let contexts: Vec<Vec<Vec<&Arg>>> = options
        .iter()
        .map(|option| {
            let others = options
                .iter()
                .filter(|other| other.get_id() != option.get_id());
            contexts(verb, option, &others.copied().collect::<Vec<_>>())
        })
        .collect();
    for (first, option) in options.iter().enumerate() {
        assert!(
            !contexts[first].is_empty(),
            "cento {name} --{} is always refused: add a valid value to `value`",
            option.get_long().unwrap_or_default()
        );
        let mut against = Vec::new();
        for (second, other) in options.iter().enumerate() {
            if first == second {
                continue;
            }
            let together = contexts[first].iter().any(|before| {
                contexts[second].iter().any(|behind| {
                    let mut all = vec![*option, *other];
                    for more in before.iter().chain(behind) {
                        if all.iter().all(|known| known.get_id() != more.get_id()) {
                            all.push(more);
                        }
                    }
                    accepted(verb, &all)
                })
            });
            if !together {
                against.push(other.get_long().unwrap_or_default());
            }
        }
        let long = |option: &Arg| option.get_long().unwrap_or_default().to_owned();
        lines.push_str(&format!("cento {name} --{}", long(option)));
        let needs: Vec<String> = contexts[first]
            .iter()
            .filter(|context| !context.is_empty())
            .map(|context| {
                context
                    .iter()
                    .map(|&option| long(option))
                    .collect::<Vec<_>>()
            })
            .map(|names| names.join(" and "))
            .collect();
        if !needs.is_empty() {
            lines.push_str(&format!("  with {}", needs.join(", or ")));
        }
        if !against.is_empty() {
            lines.push_str(&format!("  not with {}", against.join(" ")));
        }
        lines.push('\n');
    }
}

#[test]
fn every_pair_of_options_is_known_to_combine_or_conflict() {
    let mut command = Arguments::command();
    command.build();
    let mut lines = String::new();
    // Aliases have the options of the verbs that they stand for.
    let shown =
        |verb: &&Command| !verb.is_hide_set() && ![DEDUP, CONTAMINATION].contains(&verb.get_name());
    for verb in command.get_subcommands().filter(shown) {
        match verb.has_subcommands() {
            true => {
                for below in verb.get_subcommands() {
                    let name = format!("{} {}", verb.get_name(), below.get_name());
                    refused(&name, below, &mut lines);
                }
            }
            false => refused(verb.get_name(), verb, &mut lines),
        }
    }
    insta::assert_snapshot!(lines);
}
