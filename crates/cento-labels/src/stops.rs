//! Stop chunks and stop files: boilerplate that is ignored on every page (Ardi & Heidemann 2014
//! §3.4.2).

use std::fmt;

use crate::recipe::{LabelKind, Recipe};

/// The built-in list.
const BUILT_IN: &str = include_str!("stops.txt");

/// A list of boilerplate chunks and files that are ignored, as text that users can edit.
///
/// ```text
/// version 1
/// # A comment.
/// [chunks]
/// Read more
/// [files]
/// User-agent: *\nDisallow: /\n
/// ```
///
/// Each line is a chunk, or a whole file with its line breaks written as `\n`. The other escapes
/// are `\t`, `\r`, `\\`, `\#`, `\[`, `\v` for a line that begins with `version`, and `\0` for
/// nothing: the empty file, or before and after white space at the ends of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StopList {
    /// The version of the list; 0 if it has none.
    pub version: u32,
    chunks: Vec<String>,
    files: Vec<String>,
}

/// An invalid line of a stop list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StopError {
    /// The line number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub detail: String,
}

impl fmt::Display for StopError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.detail)
    }
}

impl std::error::Error for StopError {}

impl StopList {
    /// The built-in list, as text.
    pub fn built_in_text() -> &'static str {
        BUILT_IN
    }

    /// The built-in list.
    pub fn built_in() -> StopList {
        // A test checks that the list is valid.
        StopList::parse(BUILT_IN).unwrap_or_default()
    }

    /// Parses a list.
    pub fn parse(text: &str) -> Result<StopList, StopError> {
        let mut list = StopList::default();
        let mut section = LabelKind::Chunks;
        for (number, line) in text.lines().enumerate() {
            let failed = |detail: String| StopError {
                line: number + 1,
                detail,
            };
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(version) = line.strip_prefix("version ")
                && list.is_empty()
            {
                let version = version.trim().parse();
                list.version =
                    version.map_err(|_| failed("the version must be a number".to_owned()))?;
                continue;
            }
            if let Some(name) = line
                .strip_prefix('[')
                .and_then(|line| line.strip_suffix(']'))
            {
                section = name.parse().map_err(failed)?;
                continue;
            }
            let text = unescaped(line).map_err(failed)?;
            match section {
                LabelKind::Chunks => list.chunks.push(text),
                LabelKind::Files => list.files.push(text),
            }
        }
        Ok(list)
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.files.is_empty()
    }

    /// The entries of a kind.
    pub fn texts(&self, kind: LabelKind) -> &[String] {
        match kind {
            LabelKind::Chunks => &self.chunks,
            LabelKind::Files => &self.files,
        }
    }

    /// Adds the entries of another list.
    pub fn extend(&mut self, other: StopList) {
        self.chunks.extend(other.chunks);
        self.files.extend(other.files);
    }

    /// Returns the sorted hashes of the entries for a recipe.
    pub fn hashes(&self, recipe: &Recipe) -> Vec<[u8; 16]> {
        let texts = self.texts(recipe.of).iter();
        let mut hashes: Vec<[u8; 16]> = match recipe.of {
            LabelKind::Chunks => texts.map(|text| recipe.chunk_hash(text)).collect(),
            LabelKind::Files => texts
                .map(|text| Recipe::file_hash(text.as_bytes()))
                .collect(),
        };
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    /// Formats a text as a line of a list.
    pub fn line(text: &str) -> String {
        let mut line = text
            .replace('\\', "\\\\")
            .replace('\n', "\\n")
            .replace('\r', "\\r")
            .replace('\t', "\\t");
        if line.starts_with(['#', '[']) || line.starts_with("version ") {
            line.insert(0, '\\');
        }
        // White space at the ends of a line is no part of it, and nothing is not a line.
        if line.is_empty() || line.starts_with(char::is_whitespace) {
            line.insert_str(0, "\\0");
        }
        if line.ends_with(char::is_whitespace) {
            line.push_str("\\0");
        }
        line
    }
}

fn unescaped(line: &str) -> Result<String, String> {
    let mut text = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            // The empty file, or an end of white space.
            Some('0') => {}
            Some(other @ ('\\' | '#' | '[' | 'v')) => text.push(other),
            Some(other) => return Err(format!("`\\{other}` is not an escape")),
            None => return Err("it ends with a single backslash".to_owned()),
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_built_in_list_is_valid_and_has_no_duplicates() {
        let list = StopList::parse(BUILT_IN).unwrap();
        assert_eq!(list.version, 1);
        // The list of the paper has 226.
        assert!(list.texts(LabelKind::Chunks).len() >= 226);
        for recipe in [Recipe::default(), Recipe::files()] {
            let mut seen = std::collections::BTreeMap::new();
            for text in list.texts(recipe.of) {
                let hash = match recipe.of {
                    LabelKind::Chunks => recipe.chunk_hash(text),
                    LabelKind::Files => Recipe::file_hash(text.as_bytes()),
                };
                if let Some(other) = seen.insert(hash, text) {
                    panic!("{text:?} is a duplicate of {other:?}");
                }
            }
        }
        let files = list.hashes(&Recipe::files());
        let reject_all = Recipe::file_hash(b"User-agent: *\nDisallow: /\n");
        for file in [Recipe::file_hash(b""), reject_all] {
            assert!(files.contains(&file));
        }
        let chunks = list.hashes(&Recipe::default());
        for chunk in ["read more", "Weiterlesen", "返回顶部"] {
            assert!(
                chunks.contains(&Recipe::default().chunk_hash(chunk)),
                "{chunk}"
            );
        }
    }

    #[test]
    fn an_invalid_line_is_an_error_with_its_number() {
        let error = StopList::parse("[chunks]\nfine\nbro\\ken").unwrap_err();
        assert_eq!(error.to_string(), "line 3: `\\k` is not an escape");
        let error = StopList::parse("version one").unwrap_err();
        assert_eq!(error.to_string(), "line 1: the version must be a number");
        let error = StopList::parse("[pages]").unwrap_err();
        assert_eq!(error.line, 1);
        assert!(StopList::parse("ends\\").is_err());
    }

    proptest! {
        #[test]
        fn parsing_any_text_does_not_panic(text: String) {
            if let Ok(list) = StopList::parse(&text) {
                list.hashes(&Recipe::default());
            }
        }

        #[test]
        fn a_formatted_line_is_parsed_back(text in "[#\\[v\\\\]?([a-z #\\\\\\[\\]\u{a0}]|\n|\t|version 1){0,12}") {
            let list = StopList::parse(&StopList::line(&text)).unwrap();
            prop_assert_eq!(list.texts(LabelKind::Chunks), &[text]);
        }
    }
}
