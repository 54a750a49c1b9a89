//! What a label is the hash of.

use std::fmt::{self, Display};
use std::path::Path;
use std::str::FromStr;

use cento_fingerprint::ChunkHash;
use cento_text::chunk::{ChunkKind, chunks};
use cento_text::content::Selection;
use cento_text::normal::{Normalisation, normalise};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};

/// What is labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelKind {
    /// Chunks of text.
    #[default]
    Chunks,
    /// Whole files: the payloads of pages.
    Files,
}

impl LabelKind {
    /// All kinds, in the order in which help texts list them.
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
            .ok_or_else(|| format!("`{name}` cannot be labelled: there are chunks and files"))
    }
}

/// What a label is the hash of. Labels of one recipe are never compared with objects of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// What is labelled.
    #[serde(with = "as_text")]
    pub of: LabelKind,
    /// Which text of a page is kept.
    #[serde(with = "as_text")]
    pub content: Selection,
    /// What a chunk is.
    #[serde(with = "stored_chunk")]
    pub chunk: ChunkKind,
    /// What is evened out before a chunk is hashed.
    #[serde(with = "as_text")]
    pub normalisation: Normalisation,
    /// What it is hashed with. Files have the digest that web archives have: SHA-1, of which 128
    /// bits are kept.
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
    /// The recipe of whole files: there is one.
    pub fn files() -> Recipe {
        Recipe {
            of: LabelKind::Files,
            hash: ChunkHash::Sha1,
            ..Recipe::default()
        }
    }

    /// The hash of one chunk that was cut already.
    pub fn chunk_hash(&self, chunk: &str) -> [u8; 16] {
        let mut normalised = String::new();
        normalise(chunk, self.normalisation, &mut normalised);
        self.hash.hash128(normalised.as_bytes())
    }

    /// The hash of a file.
    pub fn file_hash(payload: &[u8]) -> [u8; 16] {
        ChunkHash::Sha1.hash128(payload)
    }

    /// Calls `each` with every chunk of a text, its range and its hash. `room` is memory that is
    /// used again.
    pub fn cut(
        &self,
        text: &str,
        room: &mut String,
        mut each: impl FnMut(std::ops::Range<usize>, [u8; 16]),
    ) {
        chunks(text, self.chunk, |range| {
            let chunk = text.get(range.clone()).unwrap_or_default();
            normalise(chunk, self.normalisation, room);
            if !room.is_empty() {
                each(range, self.hash.hash128(room.as_bytes()));
            }
        });
    }

    /// Names and values as people read them.
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

    /// Fails at the first difference to what labels are to be used with. `path` is whose recipe
    /// this is.
    pub fn check_like(&self, wanted: &Recipe, path: &Path) -> Result<()> {
        let unlike = self
            .list()
            .into_iter()
            .zip(wanted.list())
            .find(|(found, wanted)| found != wanted);
        match unlike {
            None => Ok(()),
            Some(((name, found), (_, wanted))) => Err(Error::Unlike {
                path: path.to_owned(),
                name,
                found,
                wanted,
            }),
        }
    }
}

/// Values that are written as the words the command line uses for them.
mod as_text {
    use super::*;

    pub(super) fn serialize<T: Display, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, T, D>(deserializer: D) -> std::result::Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A kind of chunk under its stored name: one that was cut in another way under the same name is
/// another kind.
mod stored_chunk {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        kind: &ChunkKind,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(&kind.stored_name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<ChunkKind, D::Error> {
        let name = String::deserialize(deserializer)?;
        ChunkKind::from_stored_name(&name).map_err(serde::de::Error::custom)
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
        // Of files, nobody asks how text is cut.
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
