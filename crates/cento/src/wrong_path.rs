//! Errors about paths that are not what a command expects: what they are instead, and which command
//! is meant.

use std::fs;
use std::io;
use std::path::Path;

use cento_store::MANIFEST;

use crate::command_error::CommandError;
use crate::corpora::is_corpus;

/// How many names are suggested.
const SUGGESTED: usize = 3;

/// A path where a corpus is expected.
pub(crate) fn not_a_corpus(path: &Path) -> CommandError {
    let shown = path.display();
    if path == Path::new("-") {
        return CommandError::usage(
            "a corpus cannot be read from standard input".to_owned(),
            "make a corpus first: `cento index - -o NAME.cento`",
        );
    }
    let Ok(metadata) = path.metadata() else {
        let hint = match similar(path).as_slice() {
            [] => "check the path; `cento index INPUT… -o NAME.cento` makes a corpus".to_owned(),
            names => format!("did you mean {}?", names.join(" or ")),
        };
        return CommandError::usage(format!("{shown} does not exist"), &hint);
    };
    let quoted = quoted(path);
    if metadata.is_dir() && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()) {
        return CommandError::usage(
            format!("{shown} is an empty folder and not a corpus"),
            "`cento index INPUT… -o NAME.cento` makes a corpus",
        );
    }
    if path.extension().is_some_and(|ending| ending == "labels") {
        return CommandError::usage(
            format!("{shown} is a file of labels and not a corpus"),
            &format!("find the labels in a corpus with `cento detect CORPUS --labels {quoted}`"),
        );
    }
    let what = match metadata.is_dir() {
        true => "a folder",
        false => "a file",
    };
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    // Another name than the folder has.
    let suffix = match path.extension().is_some_and(|ending| ending == "cento") {
        true => "-corpus",
        false => "",
    };
    let corpus = quoted_text(&format!("{}{suffix}.cento", stem.display()));
    CommandError::usage(
        format!("{shown} is {what} and not a corpus"),
        &format!(
            "make a corpus of it first: `cento index {quoted} -o {corpus}`; `cento scan {quoted} \
             -o {corpus}` also runs all analyses"
        ),
    )
}

/// A path where a file of labels is expected.
pub(crate) fn not_labels(path: &Path) -> CommandError {
    let shown = path.display();
    let make = "make labels with `cento discover CORPUS -o NAME.labels`";
    if path == Path::new("-") {
        return CommandError::usage(
            "labels cannot be read from standard input".to_owned(),
            "name a file of labels",
        );
    }
    if path.metadata().is_err() {
        let hint = match similar(path).as_slice() {
            [] => make.to_owned(),
            names => format!("did you mean {}?", names.join(" or ")),
        };
        return CommandError::usage(format!("{shown} does not exist"), &hint);
    }
    let quoted = quoted(path);
    if is_corpus(path) {
        return CommandError::usage(
            format!("{shown} is a corpus and not a file of labels"),
            &format!("find its text with `cento detect CORPUS --against {quoted}`, or {make}"),
        );
    }
    let what = if path.is_dir() { "a folder" } else { "a file" };
    CommandError::usage(
        format!("{shown} is {what} without labels"),
        &format!("find its text with `cento detect CORPUS --against {quoted}`, or {make}"),
    )
}

/// A corpus where inputs are expected.
pub(crate) fn check_no_corpus(inputs: &[String]) -> Result<(), CommandError> {
    let is_made = |input: &&String| Path::new(input).join(MANIFEST).is_file();
    match inputs.iter().find(is_made) {
        Some(corpus) => Err(CommandError::usage(
            format!("{corpus} is a corpus, which is indexed already"),
            "name the files that it was made from, or use it as it is: `cento scan CORPUS`",
        )),
        None => Ok(()),
    }
}

/// An address where the folder of a corpus is expected: it would become a folder called `s3:`.
pub(crate) fn check_no_address(corpus: &Path) -> Result<(), CommandError> {
    let name = corpus.to_string_lossy();
    match name.split_once("://") {
        Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            Err(CommandError::usage(
                format!("{name} is an address, and a corpus is a folder"),
                "name a folder of this machine, or one that is mounted",
            ))
        }
        _ => Ok(()),
    }
}

/// An input that does not exist.
pub(crate) fn missing_input(name: &str) -> Option<CommandError> {
    let names = similar(Path::new(name));
    let hint = format!("did you mean {}?", names.join(" or "));
    (!names.is_empty())
        .then(|| CommandError::usage(format!("{name}: no such file or folder"), &hint))
}

/// A file that cannot be read or written, in plain words.
pub(crate) fn io_message(path: &Path, error: &io::Error) -> (String, Option<&'static str>) {
    let shown = path.display();
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    match (error.kind(), parent) {
        (io::ErrorKind::NotFound, Some(parent)) if !parent.exists() => (
            format!("the folder {} does not exist", parent.display()),
            Some("check the spelling; paths are relative to the current folder"),
        ),
        (io::ErrorKind::NotFound, _) if !path.exists() => (
            format!("{shown} does not exist"),
            Some("check the spelling; paths are relative to the current folder"),
        ),
        (io::ErrorKind::IsADirectory, _) => (
            format!("{shown} is a folder, and a file is expected"),
            Some("name a file"),
        ),
        (io::ErrorKind::PermissionDenied, _) => (
            format!("{shown}: permission denied"),
            Some("change its permissions, or run as a user who may use it"),
        ),
        _ => (format!("{shown}: {error}"), None),
    }
}

/// Returns the names of files beside a path that are spelt like it: with other or missing
/// extensions, or with few different letters.
fn similar(path: &Path) -> Vec<String> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(parent) else {
        return Vec::new();
    };
    let stem = |name: &str| name.split('.').next().unwrap_or(name).to_lowercase();
    let mut names: Vec<(usize, String)> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|other| !other.starts_with('.'))
        .filter_map(|other| {
            let distance = distance(&other.to_lowercase(), &name.to_lowercase());
            let most = (stem(name).chars().count() / 4).max(1);
            let near = distance <= most || stem(&other) == stem(name);
            near.then(|| {
                let beside = path.with_file_name(&other);
                (distance, beside.display().to_string())
            })
        })
        .collect();
    names.sort();
    // Names that are much less like it only distract.
    let best = names.first().map_or(0, |(distance, _)| *distance);
    names.retain(|(distance, _)| *distance <= best + 1);
    names.truncate(SUGGESTED);
    names.into_iter().map(|(_, name)| name).collect()
}

/// Returns the number of letters to insert, delete, replace or swap with the next one to make one
/// word of another.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    let mut previous = None;
    for (at, letter) in a.chars().enumerate() {
        let mut row = vec![at + 1];
        for (column, &other) in b.iter().enumerate() {
            let cell =
                |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX);
            let changed = cell(&last, column) + usize::from(letter != other);
            let mut least = changed
                .min(cell(&last, column + 1) + 1)
                .min(cell(&row, column) + 1);
            let swapped = column > 0
                && previous == Some(other)
                && b.get(column - 1).is_some_and(|&earlier| earlier == letter);
            if swapped {
                least = least.min(cell(&before, column - 1) + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
        previous = Some(letter);
    }
    last.last().copied().unwrap_or(0)
}

/// Quotes a path for a shell where it needs it.
fn quoted(path: &Path) -> String {
    quoted_text(&path.display().to_string())
}

fn quoted_text(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:@%,".contains(c);
    match text.chars().all(plain) && !text.is_empty() {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_words_is_counted_in_letters() {
        for (a, b, expected) in [
            ("", "", 0),
            ("crawl", "crawl", 0),
            ("crwl", "crawl", 1),
            ("kitten", "sitting", 3),
            ("trian", "train", 1),
            ("", "abc", 3),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn paths_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted_text("a/b-c.cento"), "a/b-c.cento");
        assert_eq!(quoted_text("my texts"), "'my texts'");
        assert_eq!(quoted_text("it's"), "'it'\\''s'");
    }
}
