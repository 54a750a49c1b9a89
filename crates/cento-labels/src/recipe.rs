//! Recipes: what a label is the hash of.

use std::fmt::{self, Display};
use std::path::Path;
use std::str::FromStr;

use cento_fingerprint::ChunkHash;
use cento_text::chunk::{ChunkKind, chunks};
use cento_text::content::Selection;
use cento_text::normal::{Normalisation, normalise};
use cento_text::stored::{as_text, chunk_kind};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The kind of objects that are labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelKind {
    /// Chunks of text.
    #[default]
    Chunks,
    /// Files, which are the payloads of pages.
    Files,
}

impl LabelKind {
    /// All kinds, in the order of help texts.
    pub const ALL: [LabelKind; 2] = [LabelKind::Chunks, LabelKind::Files];

    /// The name in options and headers.
    pub fn name(self) -> &'static str {
        match self {
            LabelKind::Chunks => "chunks",
            LabelKind::Files => "files",
        }
    }
}

impl Display for LabelKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for LabelKind {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<LabelKind, String> {
        let mut kinds = LabelKind::ALL.into_iter();
        kinds
            .find(|kind| kind.name() == name)
            .ok_or_else(|| format!("`{name}` is not a kind of label: use chunks or files"))
    }
}

/// Defines what a label is the hash of. Labels can only be compared with objects of the same
/// recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// The kind of objects.
    #[serde(with = "as_text")]
    pub of: LabelKind,
    /// The part of the text of a page that is used.
    #[serde(with = "as_text")]
    pub content: Selection,
    /// How text is cut into chunks.
    #[serde(with = "chunk_kind")]
    pub chunk: ChunkKind,
    /// How a chunk is normalised before it is hashed.
    #[serde(with = "as_text")]
    pub normalisation: Normalisation,
    /// The hash function. Files are hashed with SHA-1, truncated to 128 bits, because web archives
    /// have this digest.
    #[serde(with = "as_text")]
    pub hash: ChunkHash,
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            of: LabelKind::Chunks,
            content: Selection::All,
            chunk: ChunkKind::Paragraph,
            normalisation: Normalisation::SpaceCase,
            hash: ChunkHash::Blake3,
        }
    }
}

impl Recipe {
    /// Returns the recipe of files. There is only one.
    pub fn files() -> Recipe {
        Recipe {
            of: LabelKind::Files,
            hash: ChunkHash::Sha1,
            ..Recipe::default()
        }
    }

    /// Returns the hash of a chunk.
    pub fn chunk_hash(&self, chunk: &str) -> [u8; 16] {
        let mut normalised = String::new();
        normalise(chunk, self.normalisation, &mut normalised);
        self.hash.hash128(normalised.as_bytes())
    }

    /// Returns the hash of a file.
    pub fn file_hash(payload: &[u8]) -> [u8; 16] {
        ChunkHash::Sha1.hash128(payload)
    }

    /// Cuts a text into chunks, and calls `each` with the range and the hash of every chunk.
    /// `buffer` is reused memory.
    pub fn cut(
        &self,
        text: &str,
        buffer: &mut String,
        mut each: impl FnMut(std::ops::Range<usize>, [u8; 16]),
    ) {
        chunks(text, self.chunk, |range| {
            let chunk = text.get(range.clone()).unwrap_or_default();
            normalise(chunk, self.normalisation, buffer);
            if !buffer.is_empty() {
                each(range, self.hash.hash128(buffer.as_bytes()));
            }
        });
    }

    /// Returns the names and values of the parameters, for display.
    pub fn list(&self) -> Vec<(&'static str, String)> {
        let mut list = vec![("of", self.of.to_string())];
        if self.of == LabelKind::Chunks {
            list.extend([
                ("content", self.content.to_string()),
                ("chunk", self.chunk.to_string()),
                ("normalisation", self.normalisation.to_string()),
            ]);
        }
        list.push(("hash", self.hash.to_string()));
        list
    }

    /// Fails if the recipe differs from `expected`, with an error that names the first difference.
    /// `path` is the file that the recipe belongs to.
    pub fn check_like(&self, expected: &Recipe, path: &Path) -> Result<()> {
        let difference = self
            .list()
            .into_iter()
            .zip(expected.list())
            .find(|(found, expected)| found != expected);
        match difference {
            None => Ok(()),
            Some(((name, found), (_, expected))) => Err(Error::RecipeMismatch {
                path: path.to_owned(),
                name,
                found,
                expected,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_survive_json_and_differences_are_named() {
        let ours = Recipe {
            chunk: ChunkKind::Lines(2),
            ..Recipe::default()
        };
        let json = serde_json::to_string(&ours).unwrap();
        assert_eq!(serde_json::from_str::<Recipe>(&json).unwrap(), ours);
        let error = ours.check_like(&Recipe::default(), Path::new("a.labels"));
        assert_eq!(
            error.unwrap_err().to_string(),
            "a.labels was made with chunk lines:2, not paragraph"
        );
        // The kind of chunk does not matter for files.
        let files = Recipe {
            chunk: ChunkKind::Document,
            ..Recipe::files()
        };
        assert!(files.check_like(&Recipe::files(), Path::new("a")).is_ok());
        assert!(files.check_like(&ours, Path::new("a")).is_err());
    }

    #[test]
    fn cutting_hashes_what_an_index_hashes() {
        let recipe = Recipe::default();
        let mut found = Vec::new();
        recipe.cut("One.\n\n\n Two  TWO ", &mut String::new(), |range, hash| {
            found.push((range, hash));
        });
        let hash = |text: &str| ChunkHash::Blake3.hash128(text.as_bytes());
        assert_eq!(found, [(0..4, hash("one.")), (8..16, hash("two two"))]);
        assert_eq!(recipe.chunk_hash("two two"), hash("two two"));
        let empty = Recipe::file_hash(b"");
        assert_eq!(empty.first_chunk(), Some(&[0xda, 0x39, 0xa3, 0xee]));
    }
}
