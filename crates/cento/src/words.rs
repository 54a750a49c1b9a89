//! The order of words: `cento detect --against mine/ crawl.cento` means what it says.
//!
//! An option that takes any number of values would take the corpus behind them too, and one whose
//! value may be left out would take it for its value. So words are put in order before they are
//! parsed: a value that can be none is left alone, and where the corpus is missing, it is the last
//! of the values.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::OnceLock;

use cento_store::MANIFEST;
use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, CommandFactory, FromArgMatches};

use crate::arguments::Arguments;
use crate::failure::Failure;

/// Values of an option that takes any number of them, by where they are.
struct Values {
    places: Vec<usize>,
    least: usize,
}

/// What was typed, in an order that can be parsed in one way only. `words` begin with the name of
/// the program.
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
        let taken: Vec<OsString> = moved.iter().map(|&place| typed[place].clone()).collect();
        let mut place = 0;
        typed.retain(|_| {
            place += 1;
            !moved.contains(&(place - 1))
        });
        words.extend(taken);
    }
    words.extend(typed);
    words
}

/// Walks over the words of a verb: the same words with optional values tied to their options, the
/// values of the last option that takes any number, and whether there are words that belong to no
/// option. None if there is an option that nobody knows, which the parser tells better.
fn read(words: &[OsString], verb: &Command) -> Option<(Vec<OsString>, Option<Values>, bool)> {
    let (mut typed, mut values, mut bare) = (Vec::new(), None, false);
    let words = with_mistakes_tied(words, verb)?;
    let about = verb.get_positionals().next();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let Some(text) = word.to_str() else {
            bare = true;
            typed.push(as_shown(word, about));
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
                Some(value) => typed.push(tied(&word, &value)),
                None => typed.push(word),
            }
        } else if numbers.max_values() > 1 {
            typed.push(word);
            let mut places = Vec::new();
            while let Some(value) = words.next_if(|next| !is_option(next)) {
                places.push(typed.len());
                typed.push(as_shown(value, Some(option)));
            }
            let least = numbers.min_values();
            values = Some(Values { places, least });
        } else {
            typed.push(word);
            typed.extend(words.next());
        }
    }
    Some((typed, values, bare))
}

/// A name that is not text, as inputs are shown: its bytes as `%FF`, by which `cento-read` finds
/// it. Where one path is wanted, it stays.
fn as_shown(word: OsString, about: Option<&Arg>) -> OsString {
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

/// Where the verb is about one thing and there are two words for it, one behind an option that may
/// do without a value, that word is a wrong value of the option, and the parser should say so.
fn with_mistakes_tied(words: &[OsString], verb: &Command) -> Option<Vec<OsString>> {
    let about_one = verb.get_positionals().count() == 1
        && verb.get_positionals().all(|about| {
            let numbers = about.get_num_args().unwrap_or_default();
            numbers.max_values() == 1
        });
    if !about_one {
        return Some(words.to_vec());
    }
    let (mut bare, mut behind) = (0, None);
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
                Some(next) if !is_option(next) => behind = Some(at - 1),
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
    if let (2.., Some(at)) = (bare, behind) {
        let value = words.remove(at + 1);
        words[at] = tied(&words[at], &value);
    }
    Some(words)
}

fn is_option(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.len() > 1 && bytes.starts_with(b"-")
}

/// The option of a word, and whether its value is in the same word. Of several short ones in one
/// word the last may take a value.
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
    for (place, letter) in letters.iter().enumerate() {
        let option = verb
            .get_arguments()
            .find(|option| option.get_short() == Some(*letter))?;
        let last = place + 1 == letters.len();
        if option.get_action().takes_values() || last {
            return Some((option, !last));
        }
    }
    None
}

/// Whether a word can be the value of an option that may do without: one of the values it knows, or
/// a number.
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

fn tied(option: &OsStr, value: &OsStr) -> OsString {
    let mut word = option.to_owned();
    word.push("=");
    word.push(value);
    word
}

/// The values that are what the verb is about: the corpus behind the others; or all, if an option
/// can do without values and the verb takes inputs of any kind.
fn moved(typed: &[OsString], values: &Values, positional: &Arg) -> Vec<usize> {
    let Some(&last) = values.places.last() else {
        return Vec::new();
    };
    if values.places.len() <= values.least {
        return Vec::new();
    }
    let several = positional
        .get_num_args()
        .is_some_and(|numbers| numbers.max_values() > 1);
    let corpus = typed.get(last).is_some_and(is_corpus);
    match (corpus, positional.is_required_set()) {
        (true, _) => vec![last],
        (false, true) if several => values.places.clone(),
        (false, true) => vec![last],
        (false, false) => Vec::new(),
    }
}

static GIVEN: OnceLock<Vec<String>> = OnceLock::new();

/// Parses what was typed, and remembers which options are in it.
pub(crate) fn parse() -> Arguments {
    let mut command = Arguments::command();
    let words = in_order(std::env::args_os().collect(), &mut command);
    let matches = command
        .try_get_matches_from_mut(words)
        .unwrap_or_else(|error| error.exit());
    let mut given = Vec::new();
    let mut verb = Some(&matches);
    while let Some(matches) = verb {
        for id in matches.ids() {
            // Groups have ids too; they are never asked for.
            if matches.value_source(id.as_str()) == Some(ValueSource::CommandLine) {
                given.push(id.as_str().to_owned());
            }
        }
        verb = matches.subcommand().map(|(_, matches)| matches);
    }
    if let Some((option, needed)) = unmet(&command, &matches) {
        let told = format!("--{option} has no effect without --{needed}");
        command
            .error(ErrorKind::MissingRequiredArgument, told)
            .exit();
    }
    let _ = GIVEN.set(given);
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Options that have no effect without another one, in every command that has both. `requires`
/// alone does not do: clap drops it where the other option conflicts with something that was typed.
const NEEDS: [(&str, &str); 6] = [
    ("figure_format", "figures"),
    ("figures", "replication"),
    ("figures", "sweep"),
    ("min_length", "from"),
    ("min_share", "grams"),
    ("seed", "sample"),
];

/// An option that was typed without the one that it needs, both as they are typed.
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

/// Whether an option was typed, even if with its usual value. It is named as in the struct that
/// holds it.
pub(crate) fn is_given(id: &str) -> bool {
    GIVEN
        .get()
        .is_some_and(|given| given.iter().any(|known| known == id))
}

/// The first option of a group that was typed, as it is typed.
pub(crate) fn first_given<A: Args>() -> Option<String> {
    let command = A::augment_args(Command::new("group"));
    let mut options = command.get_arguments();
    let option = options.find(|option| is_given(option.get_id().as_str()))?;
    Some(format!("--{}", option.get_long().unwrap_or_default()))
}

/// Fails if one of these options was typed, which have no effect `because`.
pub(crate) fn refuse(options: &[&str], because: &str) -> Result<(), Failure> {
    let Some(id) = options.iter().find(|id| is_given(id)) else {
        return Ok(());
    };
    Err(no_effect(&format!("--{}", id.replace('_', "-")), because))
}

/// Fails if an option of a group was typed, which have no effect `because`.
pub(crate) fn refuse_all<A: Args>(because: &str) -> Result<(), Failure> {
    match first_given::<A>() {
        Some(option) => Err(no_effect(&option, because)),
        None => Ok(()),
    }
}

fn no_effect(option: &str, because: &str) -> Failure {
    Failure::usage(
        format!("{option} has no effect: {because}"),
        "leave it out, or see --help for what it goes with",
    )
}

/// Whether a word names a corpus, or something that is called like one.
pub(crate) fn is_corpus(word: impl AsRef<OsStr>) -> bool {
    let path = Path::new(word.as_ref());
    path.join(MANIFEST).is_file() || path.extension().is_some_and(|ending| ending == "cento")
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
    fn the_corpus_may_stand_behind_an_option_that_could_take_it() {
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
            (
                "cento overlap crawl.cento --servers page",
                "cento overlap crawl.cento --servers=page",
            ),
            (
                "cento overlap --servers page crawl.cento",
                "cento overlap --servers=page crawl.cento",
            ),
            ("cento copies --nonsense a b", "cento copies --nonsense a b"),
            ("cento", "cento"),
        ] {
            assert_eq!(ordered(typed), meant);
        }
    }

    #[test]
    fn options_without_effect_beside_others_are_refused() {
        // Where an option that is required conflicts with one that was typed, clap does not require
        // it.
        for words in [
            "cento overlap c.cento --servers --figures f",
            "cento overlap c.cento --chunk lines:2 --figures f",
            "cento synth -o s --truth t.jsonl",
            "cento labels review a.labels --keep abcd --list l.txt",
            "cento labels review a.labels --top 3 --accept all",
            "cento labels review a.labels -o b.labels --list l.txt",
        ] {
            let words = ordered(words);
            let parsed = Arguments::command().try_get_matches_from(words.split(' '));
            assert!(parsed.is_err(), "{words}");
        }
    }

    #[test]
    fn every_option_may_stand_before_the_corpus() {
        // Of every verb that is about one thing, and of every option of it that takes values.
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
