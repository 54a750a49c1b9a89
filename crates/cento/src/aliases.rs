//! Verbs that are other verbs with an option: the names that training-data engineers look for.
//!
//! | alias | stands for |
//! |---|---|
//! | `cento dedup INPUT… -o FOLDER` | `cento copies INPUT… --filter -o FOLDER` |
//! | `cento contamination CORPUS --against ITEMS` | `cento detect CORPUS --against ITEMS --grams 8` |
//!
//! The option is added to the words before they are parsed, unless it was typed. All other options,
//! their defaults and their errors are those of the verb that an alias stands for; `hidden` options
//! work too, if they can be combined.

use std::ffi::OsString;

use cento_scan::analyses::contamination::DEFAULT_K;
use clap::{Arg, Command};

/// The alias of `copies --filter`.
pub(crate) const DEDUP: &str = "dedup";
/// The alias of `detect --grams`.
pub(crate) const CONTAMINATION: &str = "contamination";

/// Adds the option that an alias stands for.
pub(crate) fn expanded(mut words: Vec<OsString>) -> Vec<OsString> {
    let is = |word: &OsString, name: &str| word.to_str() == Some(name);
    let Some(verb) = words.get(1).and_then(|word| word.to_str()) else {
        return words;
    };
    let end = words.iter().position(|word| is(word, "--"));
    let end = end.unwrap_or(words.len());
    let typed = |long: &str, short: Option<&str>| {
        words[..end]
            .iter()
            .filter_map(|word| word.to_str())
            .any(|word| {
                let name = word.split('=').next().unwrap_or(word);
                name == long || short.is_some_and(|short| word.starts_with(short))
            })
    };
    let added = if verb == DEDUP && !typed("--filter", None) {
        "--filter".to_owned()
    } else if verb == CONTAMINATION && !typed("--grams", Some("-k")) {
        format!("--grams={DEFAULT_K}")
    } else {
        return words;
    };
    words.insert(end, added.into());
    words
}

/// Replaces the help of an option.
fn described(option: Arg, text: impl Into<String>) -> Arg {
    let text = text.into();
    option.help(text.clone()).long_help(text)
}

/// Describes `dedup`. Options that say how duplicates are used otherwise are not listed.
pub(crate) fn dedup(command: Command) -> Command {
    command
        // Otherwise it names the option that an alias stands for, which `--output` requires.
        .override_usage("cento dedup [OPTIONS] --output <PATH> <CORPUS>...")
        .mut_arg("filter", |option| {
            let text = "Write only these of the inputs, if CORPUS is a corpus";
            described(option, text)
        })
        .mut_arg("output", |option| option.required(true))
        .mut_args(|option| {
            let hidden = ["emit", "skip_list", "sweep", "figures", "figure_format"];
            let hide = hidden.contains(&option.get_id().as_str());
            option.hide(hide)
        })
}

/// Describes `contamination`. Options that cannot be combined with runs of words are not listed.
pub(crate) fn contamination(command: Command) -> Command {
    command
        .mut_group("what", |group| group.required(false))
        .mut_arg("against", |option| {
            let text = "The items of the benchmark: a corpus, or anything that `cento index` reads";
            described(option, text).required(true)
        })
        .mut_arg("grams", |option| {
            let text = format!(
                "Compare overlapping runs of K words; shorter items are ignored \
                 [default: {DEFAULT_K}]"
            );
            described(option, text).short('k')
        })
        .mut_arg("min_share", |option| {
            let text = "An item is found on a page that has at least this share of its runs \
                        [default: 0.5]";
            described(option, text)
        })
        .mut_arg("filter", |option| {
            let text = "Write the inputs without the pages that were found to the folder of --output. \
                        Without INPUT, all inputs";
            let more = "Formats and files stay the same, and a table removed.csv lists the removed \
                        pages: those with at least --min-share of an item.";
            option.help(text).long_help(format!("{text}\n\n{more}"))
        })
        .mut_arg("overwrite", |option| {
            let text = "Replace existing files";
            option
                .help(text)
                .long_help(format!("{text}\n\nThose of --filter."))
        })
        .mut_args(|option| {
            let hidden = [
                "labels",
                "fuzzy",
                "min_length",
                "own",
                "threshold",
                "page_threshold",
                "mean_threshold",
                "ratio_threshold",
                "depth",
                "count_stops",
                "stop",
                "stop_proposed",
                "truth",
                "write_labels",
                "figures",
                "figure_format",
                "sample",
                "seed",
                "evidence",
                "reproducible",
            ];
            let hide = hidden.contains(&option.get_id().as_str());
            option.hide(hide)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_has_the_option_that_it_stands_for_once() {
        let expanded = |words: &str| {
            let words = words.split(' ').map(OsString::from).collect();
            let words: Vec<String> = expanded(words)
                .into_iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            words.join(" ")
        };
        for (typed, meant) in [
            (
                "cento dedup a.jsonl -o b",
                "cento dedup a.jsonl -o b --filter",
            ),
            (
                "cento dedup -o b -- -a.jsonl",
                "cento dedup -o b --filter -- -a.jsonl",
            ),
            (
                "cento dedup --filter a.jsonl -o b",
                "cento dedup --filter a.jsonl -o b",
            ),
            (
                "cento contamination a --against b",
                "cento contamination a --against b --grams=8",
            ),
            (
                "cento contamination a --against b -k 13",
                "cento contamination a --against b -k 13",
            ),
            (
                "cento contamination a --against b --grams=5",
                "cento contamination a --against b --grams=5",
            ),
            ("cento copies a", "cento copies a"),
            ("cento", "cento"),
        ] {
            assert_eq!(expanded(typed), meant);
        }
    }
}
