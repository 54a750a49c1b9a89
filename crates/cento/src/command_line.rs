//! Parsing the command line: reordering words so that `cento detect --against mine/ crawl.cento`
//! works, and refusing options that have no effect.
//!
//! An option with any number of values would also take the corpus that follows them, and an option
//! with an optional value would take the corpus as its value. Therefore words are reordered before
//! clap parses them: an optional value is attached to its option only if it can be one, and if the
//! corpus is missing, the last value of an option is used as the corpus.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use cento_find::RunRequest;
use cento_read::without_credentials;
use cento_report::format::quoted;
use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, CommandFactory, FromArgMatches};

use crate::aliases::{self, CONTAMINATION, DEDUP, expanded};
use crate::arguments::Arguments;
use crate::command_error::CommandError;
use crate::corpora::is_corpus;
use crate::output::{print_data, say_always};
use crate::overwriting;
use crate::terminal::StandardStream;

/// The values of an option that takes any number of them, by position among the words.
struct ManyValues {
    positions: Vec<usize>,
    least: usize,
}

/// Reorders the words so that they can be parsed in one way only. The first word is the name of the
/// program.
pub(crate) fn in_order(mut words: Vec<OsString>, command: &mut Command) -> Vec<OsString> {
    command.build();
    let mut verb = &*command;
    let mut begin = 1;
    while let Some(found) = words.get(begin).and_then(|word| verb.find_subcommand(word)) {
        verb = found;
        begin += 1;
    }
    if begin == 1 {
        return words;
    }
    let Some((mut typed, values, bare)) = read(&words[begin..], verb) else {
        return words;
    };
    words.truncate(begin);
    let positional = verb.get_positionals().next();
    if let (Some(positional), Some(values), false) = (positional, values, bare) {
        let moved = moved(&typed, &values, positional);
        let taken: Vec<OsString> = moved.iter().map(|&at| typed[at].clone()).collect();
        let mut position = 0;
        typed.retain(|_| {
            position += 1;
            !moved.contains(&(position - 1))
        });
        words.extend(taken);
    }
    words.extend(typed);
    words
}

/// Splits the words of a verb: returns the words with optional values attached to their options,
/// the values of the last option that takes any number of them, and whether there are positional
/// words. Returns `None` for an unknown option, which clap reports better.
fn read(words: &[OsString], verb: &Command) -> Option<(Vec<OsString>, Option<ManyValues>, bool)> {
    let (mut typed, mut values, mut bare) = (Vec::new(), None, false);
    let words = with_mistakes_attached(words, verb)?;
    let about = verb.get_positionals().next();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let Some(text) = word.to_str() else {
            bare = true;
            typed.push(displayed(word, about));
            continue;
        };
        if text == "--" {
            bare |= words.peek().is_some();
            typed.push(word);
            typed.extend(words);
            break;
        }
        if !is_option(&word) {
            bare = true;
            typed.push(word);
            continue;
        }
        let (option, attached) = option_of(text, verb)?;
        let numbers = option.get_num_args().unwrap_or_default();
        if attached || !option.get_action().takes_values() {
            typed.push(word);
        } else if numbers.min_values() == 0 && numbers.max_values() == 1 {
            match words.next_if(|next| is_value(option, next)) {
                Some(value) => typed.push(joined(&word, &value)),
                None => typed.push(word),
            }
        } else if numbers.max_values() > 1 {
            typed.push(word);
            let mut positions = Vec::new();
            while let Some(value) = words.next_if(|next| !is_option(next)) {
                positions.push(typed.len());
                typed.push(displayed(value, Some(option)));
            }
            let least = numbers.min_values();
            values = Some(ManyValues { positions, least });
        } else {
            typed.push(word);
            typed.extend(words.next());
        }
    }
    Some((typed, values, bare))
}

/// Returns the displayed form of an input name that is not UTF-8, with invalid bytes as `%FF`.
/// `cento-read` resolves such names. Values that are single paths are unchanged.
fn displayed(word: OsString, about: Option<&Arg>) -> OsString {
    let inputs = about
        .is_some_and(|about| about.get_value_parser().type_id() == ValueParser::string().type_id());
    if !inputs || word.to_str().is_some() {
        return word;
    }
    let mut shown = String::new();
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        shown.push_str(chunk.valid());
        for byte in chunk.invalid() {
            shown.push_str(&format!("%{byte:02X}"));
        }
    }
    shown.into()
}

/// Attaches a wrong value to its option. If a verb takes one positional word and there are two, and
/// one of them follows an option with an optional value, then that word is meant as the value, and
/// clap should reject it as such.
fn with_mistakes_attached(words: &[OsString], verb: &Command) -> Option<Vec<OsString>> {
    let takes_one = verb.get_positionals().count() == 1
        && verb.get_positionals().all(|about| {
            let numbers = about.get_num_args().unwrap_or_default();
            numbers.max_values() == 1
        });
    if !takes_one {
        return Some(words.to_vec());
    }
    let (mut bare, mut following) = (0, None);
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if !is_option(word) {
            bare += 1;
            continue;
        }
        let Some(text) = word.to_str().filter(|text| *text != "--") else {
            return Some(words.to_vec());
        };
        let (option, attached) = option_of(text, verb)?;
        let numbers = option.get_num_args().unwrap_or_default();
        if attached || !option.get_action().takes_values() {
            continue;
        }
        match (numbers.min_values(), numbers.max_values()) {
            (0, 1) => match words.get(at) {
                Some(next) if is_value(option, next) => at += 1,
                Some(next) if !is_option(next) => following = Some(at - 1),
                _ => {}
            },
            (_, 1) => at += 1,
            _ => {
                while words.get(at).is_some_and(|next| !is_option(next)) {
                    at += 1;
                }
            }
        }
    }
    let mut words = words.to_vec();
    if let (2.., Some(at)) = (bare, following) {
        let value = words.remove(at + 1);
        words[at] = joined(&words[at], &value);
    }
    Some(words)
}

fn is_option(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.len() > 1 && bytes.starts_with(b"-")
}

/// Returns the option of a word, and whether its value is in the same word. Of several short
/// options in one word, the last may take a value.
fn option_of<'c>(word: &str, verb: &'c Command) -> Option<(&'c Arg, bool)> {
    if let Some(long) = word.strip_prefix("--") {
        let (name, attached) = match long.split_once('=') {
            Some((name, _)) => (name, true),
            None => (long, false),
        };
        let option = verb.get_arguments().find(|option| {
            option.get_long() == Some(name)
                || option
                    .get_all_aliases()
                    .is_some_and(|names| names.contains(&name))
        })?;
        return Some((option, attached));
    }
    let letters: Vec<char> = word.chars().skip(1).collect();
    for (position, letter) in letters.iter().enumerate() {
        let option = verb
            .get_arguments()
            .find(|option| option.get_short() == Some(*letter))?;
        let last = position + 1 == letters.len();
        if option.get_action().takes_values() || last {
            return Some((option, !last));
        }
    }
    None
}

/// Returns whether a word can be the optional value of an option: one of its possible values, or a
/// number.
fn is_value(option: &Arg, word: &OsStr) -> bool {
    let Some(word) = word.to_str() else {
        return false;
    };
    let known = option.get_possible_values();
    match known.is_empty() {
        true => word.parse::<f64>().is_ok(),
        false => known.iter().any(|value| value.matches(word, false)),
    }
}

fn joined(option: &OsStr, value: &OsStr) -> OsString {
    let mut word = option.to_owned();
    word.push("=");
    word.push(value);
    word
}

/// Returns the values of an option that are positional words: the corpus after the other values; or
/// all values, if they are optional and the verb takes any inputs.
fn moved(typed: &[OsString], values: &ManyValues, positional: &Arg) -> Vec<usize> {
    let Some(&last) = values.positions.last() else {
        return Vec::new();
    };
    if values.positions.len() <= values.least {
        return Vec::new();
    }
    let several = positional
        .get_num_args()
        .is_some_and(|numbers| numbers.max_values() > 1);
    let corpus = typed.get(last).is_some_and(is_corpus);
    match (corpus, positional.is_required_set()) {
        (true, _) => vec![last],
        (false, true) if several => values.positions.clone(),
        (false, true) => vec![last],
        (false, false) => Vec::new(),
    }
}

thread_local! {
    /// The options that were typed, by id, in the command of this thread.
    static TYPED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// The command of this thread, quoted for a shell.
    static COMMAND: RefCell<String> = const { RefCell::new(String::new()) };
    /// The options of the command of this thread which name other inputs, quoted for a shell.
    static INPUTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// The verb of the command of this thread.
    static VERB: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Returns the verb of the command of this thread.
pub(crate) fn typed_verb() -> Option<String> {
    VERB.with_borrow(Clone::clone)
}

/// Returns the definition of the command line.
pub(crate) fn definition() -> Command {
    Arguments::command()
        .mut_subcommand(DEDUP, aliases::dedup)
        .mut_subcommand(CONTAMINATION, aliases::contamination)
}

/// Returns the command of this thread as it was typed, quoted for a shell, without the credentials
/// of URLs: reports show it.
pub(crate) fn typed_command() -> String {
    COMMAND.with_borrow(String::clone)
}

/// Returns the command of this thread as findings record it.
pub(crate) fn typed_request() -> RunRequest {
    RunRequest {
        command: typed_command(),
        inputs: INPUTS.with_borrow(Clone::clone),
        internal: false,
    }
}

/// The ids of options that name inputs other than the corpus, or say what is used of them. The
/// parameters of an analysis identify such inputs by their content.
const INPUT_OPTIONS: [&str; 8] = [
    "labels",
    "against",
    "from",
    "pairs",
    "min_length",
    "stop",
    "no_stop",
    "stop_proposed",
];
/// The ids of options that say how originals are read.
const READING_OPTIONS: [&str; 4] = ["against_fields", "fields", "base_url", "format"];

/// Returns those of these options that were typed, with their values, quoted for a shell.
fn typed_inputs(command: &Command, matches: &ArgMatches) -> Vec<String> {
    let mut words = Vec::new();
    let Some((verb, matches)) = matches.subcommand() else {
        return words;
    };
    let of_verb = command.find_subcommand(verb).into_iter();
    let options: Vec<&Arg> = of_verb.flat_map(Command::get_arguments).collect();
    let typed = |id: &str| {
        let option = options.iter().find(|option| option.get_id() == id)?;
        let is_typed = matches.value_source(id) == Some(ValueSource::CommandLine);
        is_typed.then_some(option)
    };
    let reads = typed("against").or(typed("from")).is_some();
    let reading = READING_OPTIONS.iter().filter(|_| reads);
    for id in INPUT_OPTIONS.iter().chain(reading) {
        let Some((option, name)) = typed(id).and_then(|option| Some((option, option.get_long()?)))
        else {
            continue;
        };
        if !option.get_action().takes_values() {
            words.push(format!("--{name}"));
            continue;
        }
        for values in matches.get_raw_occurrences(id).into_iter().flatten() {
            words.push(format!("--{name}"));
            let shown = values.map(|value| without_credentials(&value.to_string_lossy()));
            words.extend(shown.map(|value| quoted(&value)));
        }
    }
    words
}

fn quoted_command(words: &[OsString]) -> String {
    let mut command = "cento".to_owned();
    for word in words.iter().skip(1) {
        let word = word.to_string_lossy();
        let shown = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => {
                format!("{option}={}", without_credentials(value))
            }
            _ => without_credentials(&word),
        };
        command.push(' ');
        command.push_str(&quoted(&shown));
    }
    command
}

/// Parses the words of a command, the first of which is the name of the program, and remembers
/// which options were typed.
pub(crate) fn parse(words: Vec<OsString>) -> Result<Arguments, clap::Error> {
    let mut command = definition();
    let typed_words = quoted_command(&words);
    let words = in_order(expanded(without_help_verb(words)), &mut command);
    let matches = command.try_get_matches_from_mut(words)?;
    let mut typed = Vec::new();
    let mut verb = Some(&matches);
    while let Some(matches) = verb {
        for id in matches.ids() {
            // Groups have ids too, which do no harm.
            if matches.value_source(id.as_str()) == Some(ValueSource::CommandLine) {
                typed.push(id.as_str().to_owned());
            }
        }
        verb = matches.subcommand().map(|(_, matches)| matches);
    }
    if let Some((option, needed)) = unmet(&command, &matches) {
        let message = format!("--{option} has no effect without --{needed}");
        return Err(command.error(ErrorKind::MissingRequiredArgument, message));
    }
    TYPED.set(typed);
    overwriting::remember(&command, &matches);
    COMMAND.set(typed_words);
    INPUTS.set(typed_inputs(&command, &matches));
    VERB.set(matches.subcommand_name().map(str::to_owned));
    Arguments::from_arg_matches(&matches)
}

/// Messages of the standard library, and what is said instead.
const PLAIN: [(&str, &str); 7] = [
    ("invalid digit found in string", "expected a whole number"),
    ("invalid float literal", "expected a number"),
    (
        "cannot parse integer from empty string",
        "expected a whole number",
    ),
    ("cannot parse float from empty string", "expected a number"),
    (
        "number too large to fit in target type",
        "the number is too large",
    ),
    (
        "number too small to fit in target type",
        "the number is too small",
    ),
    (
        "number would be zero for non-zero type",
        "expected a number from 1 on",
    ),
];

/// An option that some commands do not have, these commands, and what to use there.
const TIPS: [(&str, &[&str], &str); 5] = [
    ("-o", TABLES, "--out FILE writes the main table"),
    ("--output", TABLES, "--out FILE writes the main table"),
    (
        "--threshold",
        &["overlap"],
        "--min-shared N is the minimum number of shared chunks",
    ),
    (
        "--threshold",
        &["discover", "trial inject"],
        "--more-than N labels what occurs more often than N times",
    ),
    ("-k", &["detect"], "--grams K matches runs of K words"),
];

/// The commands whose only result is a table.
const TABLES: &[&str] = &["overlap", "reuse", "query", "quilts", "phrases", "trial"];

/// Returns what to use instead of an option that the command does not have.
fn tip(message: &str) -> Option<&'static str> {
    let is_about =
        |option: &str| message.contains(&format!("unexpected argument '{option}' found"));
    let is_of_name = |command: &str| message.contains(&format!("Usage: cento {command} "));
    let found = TIPS.iter().find(|(option, commands, _)| {
        is_about(option) && commands.iter().any(|name| is_of_name(name))
    });
    found.map(|(_, _, tip)| *tip)
}

/// Renders an error of the command line in plain words.
pub(crate) fn plain(error: &clap::Error, colour: bool) -> String {
    let rendered = error.render();
    let mut text = match colour {
        true => rendered.ansi().to_string(),
        false => rendered.to_string(),
    };
    for (technical, plain) in PLAIN {
        text = text.replace(technical, plain);
    }
    if let Some(tip) = tip(&rendered.to_string()) {
        // In place of the tip of the parser, which only knows the letters.
        let mut paragraphs: Vec<&str> = text.split("\n\n").collect();
        paragraphs.retain(|paragraph| !paragraph.contains("tip:"));
        let tip = format!("  tip: {tip}");
        paragraphs.insert(1.min(paragraphs.len()), &tip);
        text = paragraphs.join("\n\n");
    }
    text
}

/// Prints help, or what is wrong with the command line, and returns the exit status.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        let text = plain(error, StandardStream::Error.is_coloured());
        say_always(text.trim_end());
        return ExitCode::from(2);
    }
    let text = plain(error, StandardStream::Output.is_coloured());
    // A closed pipe is not an error.
    let _ = print_data(&text);
    ExitCode::SUCCESS
}

/// Returns `cento VERB --help` for `cento help VERB`.
fn without_help_verb(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

/// Options that have no effect without another one, in every command that has both. `requires` is
/// not enough: clap ignores it if the required option conflicts with one that was typed.
const NEEDS: [(&str, &str); 6] = [
    ("figure_format", "figures"),
    ("figures", "replication"),
    ("figures", "sweep"),
    ("min_length", "from"),
    ("min_share", "grams"),
    ("seed", "sample"),
];

/// Returns an option that was typed without the option that it needs, by their long names.
pub(crate) fn unmet(command: &Command, matches: &ArgMatches) -> Option<(String, String)> {
    let (mut verb, mut matches) = (command, matches);
    while let Some((name, below)) = matches.subcommand() {
        verb = verb.find_subcommand(name)?;
        matches = below;
    }
    let option = |id: &str| verb.get_arguments().find(|option| option.get_id() == id);
    NEEDS.iter().find_map(|(id, needed)| {
        let (option, needed) = (option(id)?, option(needed)?);
        let typed = |option: &Arg| {
            let id = option.get_id().as_str();
            matches.value_source(id) == Some(ValueSource::CommandLine)
        };
        let long = |option: &Arg| option.get_long().unwrap_or_default().to_owned();
        (typed(option) && !typed(needed)).then(|| (long(option), long(needed)))
    })
}

/// Returns whether an option was typed, even with its default value. The id is the name of its
/// field.
fn is_typed(id: &str) -> bool {
    TYPED.with_borrow(|typed| typed.iter().any(|known| known == id))
}

/// Returns the first typed option of a group, as `--name`.
pub(crate) fn first_typed<A: Args>() -> Option<String> {
    let command = A::augment_args(Command::new("group"));
    let mut options = command.get_arguments();
    let option = options.find(|option| is_typed(option.get_id().as_str()))?;
    Some(format!("--{}", option.get_long().unwrap_or_default()))
}

/// Fails if one of these options was typed; `because` says why they have no effect.
pub(crate) fn refuse(options: &[&str], because: &str) -> Result<(), CommandError> {
    let Some(id) = options.iter().find(|id| is_typed(id)) else {
        return Ok(());
    };
    Err(no_effect(&format!("--{}", id.replace('_', "-")), because))
}

/// Fails if an option of a group was typed; `because` says why they have no effect.
pub(crate) fn refuse_all<A: Args>(because: &str) -> Result<(), CommandError> {
    match first_typed::<A>() {
        Some(option) => Err(no_effect(&option, because)),
        None => Ok(()),
    }
}

fn no_effect(option: &str, because: &str) -> CommandError {
    CommandError::usage(
        format!("{option} has no effect: {because}"),
        "omit it, or see --help",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(words: &str) -> String {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        let mut command = Arguments::command();
        let ordered: Vec<String> = in_order(words, &mut command)
            .into_iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        ordered.join(" ")
    }

    #[test]
    fn the_corpus_can_follow_an_option_that_could_take_it() {
        for (typed, meant) in [
            (
                "cento detect --against mine/ --fuzzy crawl.cento",
                "cento detect --against mine/ --fuzzy crawl.cento",
            ),
            (
                "cento detect --fuzzy 0.4 --against mine/ crawl.cento",
                "cento detect crawl.cento --fuzzy=0.4 --against mine/",
            ),
            (
                "cento detect crawl.cento --against a b",
                "cento detect crawl.cento --against a b",
            ),
            (
                "cento detect --against a b crawl.cento --threads 2",
                "cento detect crawl.cento --against a b --threads 2",
            ),
            (
                "cento overlap --servers crawl.cento",
                "cento overlap --servers crawl.cento",
            ),
            (
                "cento overlap --servers domain crawl.cento",
                "cento overlap --servers=domain crawl.cento",
            ),
            (
                "cento copies --filter crawl.cento -o unique",
                "cento copies crawl.cento --filter -o unique",
            ),
            (
                "cento copies --filter a.jsonl crawl.cento -o unique",
                "cento copies crawl.cento --filter a.jsonl -o unique",
            ),
            (
                "cento copies --filter a.jsonl b.jsonl -o unique",
                "cento copies a.jsonl b.jsonl --filter -o unique",
            ),
            (
                "cento discover --from mine/ crawl.cento -o mine.labels",
                "cento discover crawl.cento --from mine/ -o mine.labels",
            ),
            (
                "cento discover --from a.txt b.txt -o mine.labels",
                "cento discover --from a.txt b.txt -o mine.labels",
            ),
            (
                "cento discover --from mine.cento -o mine.labels",
                "cento discover --from mine.cento -o mine.labels",
            ),
            (
                "cento labels merge -o all.labels a.labels b.labels",
                "cento labels merge -o all.labels a.labels b.labels",
            ),
            ("cento copies --nonsense a b", "cento copies --nonsense a b"),
            ("cento", "cento"),
        ] {
            assert_eq!(ordered(typed), meant);
        }
    }

    #[test]
    fn options_without_effect_are_refused() {
        // clap ignores `requires` if the required option conflicts with one that was typed.
        for words in [
            "cento overlap c.cento --servers --figures f",
            "cento overlap c.cento --chunk lines:2 --figures f",
            "cento synth -o s --truth t.jsonl",
            "cento labels review a.labels --except abcd --list l.txt",
            "cento labels review a.labels --top 3 --accept all",
            "cento labels review a.labels -o b.labels --list l.txt",
        ] {
            let words = ordered(words);
            let parsed = Arguments::command().try_get_matches_from(words.split(' '));
            assert!(parsed.is_err(), "{words}");
        }
    }

    #[test]
    fn every_option_can_precede_the_corpus() {
        // For all verbs with a required positional word, and all of their options with values.
        let mut command = Arguments::command();
        command.build();
        for verb in command.get_subcommands() {
            let about = verb.get_positionals().next();
            let Some(_) = about.filter(|about| about.is_required_set()) else {
                continue;
            };
            for option in verb.get_opts() {
                let numbers = option.get_num_args().unwrap_or_default();
                let Some(long) = option.get_long() else {
                    continue;
                };
                if !option.get_action().takes_values()
                    || numbers.max_values() == 1 && numbers.min_values() == 1
                {
                    continue;
                }
                let optional = numbers.min_values() == 0 && numbers.max_values() == 1;
                assert!(
                    !optional || option.is_require_equals_set(),
                    "{long}: require_equals = true"
                );
                let value = if numbers.min_values() == 0 {
                    ""
                } else {
                    "value "
                };
                let words = format!("cento {} --{long} {value}crawl.cento", verb.get_name());
                let ordered = ordered(&words);
                let first = format!("cento {} crawl.cento", verb.get_name());
                let alone = numbers.max_values() == 1;
                assert!(ordered.starts_with(&first) || alone, "{words}: {ordered}");
            }
        }
    }
}
