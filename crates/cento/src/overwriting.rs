//! Outputs that would overwrite an input: refused before any work, for all commands alike.
//!
//! The options of a command say which words are outputs and which are inputs. Belonging to the
//! inputs are also the tables beside a file of labels, the files that a corpus was made of, and the
//! files of a folder; belonging to the outputs are the tables beside a file of labels that is
//! written. Files are compared by inode, so that links are recognised. Folders that are written to
//! (`--filter`, `--evidence`, `--figures`) are checked by their commands.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cento_file::{inode, is_stream};
use cento_find::FINDINGS;
use cento_find::provenance::{LabelRow, OriginalRow, is_table_of, originals_of, table_of};
use cento_labels::Labels;
use cento_query::QUERY;
use cento_read::{Input, RemoteOutput, Settings};
use cento_store::{Corpus, MANIFEST};
use clap::{ArgMatches, Command};

use crate::command_error::CommandError;
use crate::corpora::is_corpus;

/// Options whose value is a file that is written, by id.
const OUTPUTS: [&str; 8] = [
    "output",
    "out",
    "write_labels",
    "list",
    "skip_list",
    "report",
    "log",
    "seen",
];
/// What the values of inputs are called in the help.
const INPUTS: [&str; 9] = [
    "CORPUS",
    "CORPUS2",
    "INPUT",
    "FILE",
    "LABELS",
    "OTHERS",
    "PAGE",
    "FINDINGS",
    "A B|CORPUS",
];
/// Files and folders of a corpus. Other files may be in its folder, such as its report.
const OF_CORPUS: [&str; 8] = [
    MANIFEST, ".lock", "inputs", "tmp", "pages", "text", "chunks", FINDINGS,
];

/// The files that were named on the command line.
#[derive(Debug, Clone, Default)]
struct NamedFiles {
    outputs: Vec<NamedOutput>,
    inputs: Vec<PathBuf>,
}

/// A file that is written, because of an option.
#[derive(Debug, Clone)]
struct NamedOutput {
    option: String,
    path: PathBuf,
}

thread_local! {
    static NAMED: RefCell<NamedFiles> = RefCell::default();
}

/// Remembers the files that were named on the command line, for [`check`].
pub(crate) fn remember(command: &Command, matches: &ArgMatches) {
    NAMED.set(NamedFiles::of(command, matches));
}

/// Fails if an output of the command would overwrite an input, another output, or a file of a
/// corpus.
pub(crate) fn check() -> Result<(), CommandError> {
    let named = NAMED.with_borrow(Clone::clone);
    for (at, output) in named.outputs.iter().enumerate() {
        check_no_file_of_corpus(&output.path)?;
        for other in named.outputs.get(..at).unwrap_or_default() {
            if other.path == output.path || same(&other.path, &output.path) {
                return Err(CommandError::usage(
                    format!(
                        "{} and {} would both write {}",
                        other.option,
                        output.option,
                        output.path.display()
                    ),
                    "name different files",
                ));
            }
        }
        for input in &named.inputs {
            if same(input, &output.path) {
                return Err(overwritten(&output.path, &input.display().to_string()));
            }
            // A corpus that cannot be opened is reported when it is used.
            let corpus = is_corpus(input).then(|| Corpus::open_partial(input));
            if let Some(Ok(corpus)) = corpus {
                check_not_source(&output.path, &corpus)?;
            }
        }
    }
    Ok(())
}

/// Fails if an output of the command is one of the files that inputs were resolved to.
pub(crate) fn check_inputs(inputs: &[Input]) -> Result<(), CommandError> {
    NAMED.with_borrow(|named| {
        for output in named.outputs.iter().filter(|output| exists(&output.path)) {
            let mut inputs = inputs.iter();
            if let Some(input) = inputs.find(|input| same(Path::new(&input.name), &output.path)) {
                return Err(overwritten(&output.path, &input.name));
            }
        }
        Ok(())
    })
}

impl NamedFiles {
    fn of(command: &Command, matches: &ArgMatches) -> NamedFiles {
        let (mut verb, mut below) = (command, matches);
        let mut verbs = Vec::new();
        while let Some((name, next)) = below.subcommand() {
            let Some(found) = verb.find_subcommand(name) else {
                break;
            };
            verbs.push(name);
            (verb, below) = (found, next);
        }
        let values = |id: &str| -> Vec<PathBuf> {
            let values = below.try_get_raw(id).ok().flatten();
            values.into_iter().flatten().map(PathBuf::from).collect()
        };
        let writes_labels = |id: &str| match verbs.as_slice() {
            ["discover"] | ["labels", ..] => id == "output",
            _ => id == "write_labels",
        };
        let mut named = NamedFiles::default();
        for about in verb.get_arguments() {
            let id = about.get_id().as_str();
            let names = about.get_value_names().unwrap_or_default();
            if OUTPUTS.contains(&id) {
                for path in values(id) {
                    let paths = match writes_labels(id) {
                        true => with_tables(&path),
                        false => vec![path],
                    };
                    let option = format!("--{}", id.replace('_', "-"));
                    named
                        .outputs
                        .extend(paths.into_iter().map(|path| NamedOutput {
                            option: option.clone(),
                            path,
                        }));
                }
            } else if names.iter().any(|name| INPUTS.contains(&name.as_str())) {
                let is_labels = ["labels", "others"].contains(&id);
                for path in values(id) {
                    match is_labels {
                        true => named.inputs.extend(with_tables(&path)),
                        false => named.inputs.extend(with_list(path)),
                    }
                }
            }
        }
        named
            .outputs
            .retain(|output| !is_stream(&output.path) && !output.path.is_dir());
        // Labels are reviewed in place.
        if let ["labels", "review"] = verbs.as_slice() {
            let reviewed: Vec<PathBuf> = values("labels")
                .iter()
                .flat_map(|path| with_tables(path))
                .collect();
            named.outputs.retain(|output| {
                output.option != "--output" || !reviewed.iter().any(|path| same(path, &output.path))
            });
        }
        named
    }
}

/// Returns a file of labels and the tables beside it.
fn with_tables(labels: &Path) -> Vec<PathBuf> {
    match is_stream(labels) {
        true => vec![labels.to_owned()],
        false => vec![labels.to_owned(), table_of(labels), originals_of(labels)],
    }
}

/// Returns an input. The list of inputs that `@FILE` names is an input too.
fn with_list(input: PathBuf) -> Vec<PathBuf> {
    let list = input.to_str().and_then(|name| name.strip_prefix('@'));
    let list = list.map(PathBuf::from);
    std::iter::once(input).chain(list).collect()
}

fn exists(path: &Path) -> bool {
    RemoteOutput::is_remote(path) || path.exists()
}

/// Returns whether two names mean the same file or object.
fn same(one: &Path, other: &Path) -> bool {
    match RemoteOutput::is_remote(other) {
        true => one == other,
        false => inode(other).is_some_and(|number| inode(one) == Some(number)),
    }
}

fn overwritten(output: &Path, input: &str) -> CommandError {
    let message = match Path::new(input) == output {
        true => format!("the output would overwrite the input {input}"),
        false => format!(
            "the output {} would overwrite the input {input}",
            output.display()
        ),
    };
    CommandError::usage(message, "choose another output file")
}

/// Fails if an output is a file that a corpus was made of.
fn check_not_source(output: &Path, corpus: &Corpus) -> Result<(), CommandError> {
    if !exists(output) {
        return Ok(());
    }
    let mut version = None;
    for source in corpus.listed_inputs()? {
        let path = Path::new(&source.name);
        // A corpus records relative names as they were typed, perhaps in another folder.
        let mut is_moved = || {
            path.is_relative()
                && path.file_name() == output.file_name()
                && source.version.is_some()
                && *version.get_or_insert_with(|| version_of(output)) == source.version
        };
        if same(path, output) || is_moved() {
            return Err(overwritten(output, &source.name));
        }
    }
    Ok(())
}

/// Returns what identifies the content of a file in a corpus.
fn version_of(path: &Path) -> Option<String> {
    let name = path.display().to_string();
    let mut inputs = cento_read::resolve(&[name], &Settings::default())
        .ok()?
        .inputs;
    let input = inputs.first_mut()?;
    input.identify();
    input.version.clone()
}

/// Fails if an output is, or would become, one of the files that a corpus consists of.
fn check_no_file_of_corpus(output: &Path) -> Result<(), CommandError> {
    for folder in output.ancestors().skip(1) {
        let Ok(inside) = output.strip_prefix(folder) else {
            continue;
        };
        let first = inside.components().next();
        let first = first.map(|part| part.as_os_str().to_owned());
        let is_owned =
            |name: &OsString| OF_CORPUS.iter().chain([&QUERY]).any(|known| name == known);
        let folder = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        if first.as_ref().is_some_and(is_owned)
            && folder.join(MANIFEST).is_file()
            && Corpus::open_partial(folder).is_ok()
        {
            return Err(CommandError::usage(
                format!(
                    "{} {} among the files of the corpus {}",
                    output.display(),
                    match output.exists() {
                        true => "is",
                        false => "would be",
                    },
                    folder.display()
                ),
                "choose another output file",
            ));
        }
    }
    Ok(())
}

/// Fails if labels would replace a file that is not a file of labels, or a table that is not beside
/// one. An empty file may be replaced.
pub(crate) fn check_labels_output(output: &Path) -> Result<(), CommandError> {
    let holds = |path: &Path| {
        let metadata = path.metadata();
        metadata.is_ok_and(|file| file.is_file() && file.len() > 0)
    };
    let refuse = |path: &Path, what: &str| {
        Err(CommandError::usage(
            format!("{} exists and is not {what}", path.display()),
            "remove it, or choose another name for the labels",
        ))
    };
    if is_stream(output) {
        return Ok(());
    }
    let mut known = Vec::new();
    if holds(output) {
        match Labels::open(output) {
            Ok(labels) => known.clone_from(&labels.header().sidecars),
            Err(cento_labels::Error::NotLabels(_)) => return refuse(output, "a file of labels"),
            // Damaged labels, and those of a newer version, are labels.
            Err(_) => {}
        }
    }
    let is_known = |path: &Path| {
        let name = path.as_os_str().as_encoded_bytes();
        let mut known = known.iter();
        known.any(|sidecar| name.ends_with(sidecar.ending.as_bytes()))
    };
    let table = table_of(output);
    if holds(&table) && !is_known(&table) && !is_table_of::<LabelRow>(&table) {
        return refuse(&table, "a table of labels");
    }
    let originals = originals_of(output);
    if holds(&originals) && !is_known(&originals) && !is_table_of::<OriginalRow>(&originals) {
        return refuse(&originals, "a table of the originals of labels");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

    /// Options whose value is a file that is read, by id.
    const READ: [&str; 6] = ["labels", "stop", "truth", "apply", "labelled", "pairs"];

    fn commands(command: &Command) -> Vec<&Command> {
        match command.has_subcommands() {
            true => command.get_subcommands().flat_map(commands).collect(),
            false => vec![command],
        }
    }

    #[test]
    fn every_option_that_names_a_file_is_known_to_be_read_or_written() {
        let command = Arguments::command();
        for verb in commands(&command) {
            for option in verb.get_arguments() {
                let id = option.get_id().as_str();
                let names = option.get_value_names().unwrap_or_default();
                let is_file = names
                    .iter()
                    .any(|name| ["FILE", "PATH"].contains(&name.as_str()));
                let (is_read, is_written) = (READ.contains(&id), OUTPUTS.contains(&id));
                assert!(
                    !is_file || is_read != is_written,
                    "cento {} --{id}: add it to OUTPUTS or to READ",
                    verb.get_name()
                );
            }
        }
    }

    fn named(words: &str) -> NamedFiles {
        let mut command = Arguments::command();
        let words = words.split(' ');
        let matches = command.try_get_matches_from_mut(words).unwrap();
        NamedFiles::of(&command, &matches)
    }

    #[test]
    fn tables_beside_labels_are_outputs_and_inputs() {
        let files = named("cento discover a.cento --from b.jsonl -o x --out t.csv --stop s.txt");
        let paths = |paths: &[&str]| -> Vec<PathBuf> { paths.iter().map(PathBuf::from).collect() };
        let mut outputs: Vec<PathBuf> = files
            .outputs
            .into_iter()
            .map(|output| output.path)
            .collect();
        outputs.sort();
        assert_eq!(
            outputs,
            paths(&["t.csv", "x", "x.originals.parquet", "x.parquet"])
        );
        let mut inputs = files.inputs;
        inputs.sort();
        assert_eq!(inputs, paths(&["a.cento", "b.jsonl", "s.txt"]));
        let files = named("cento detect @list --labels x -o f --filter");
        let expected = paths(&["@list", "list", "x", "x.originals.parquet", "x.parquet"]);
        let mut inputs = files.inputs;
        inputs.sort();
        assert_eq!(inputs, expected);
        // What is written to standard output replaces nothing.
        assert!(named("cento labels export x --out -").outputs.is_empty());
    }
}
