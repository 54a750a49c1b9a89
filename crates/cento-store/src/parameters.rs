//! The parameters of a corpus: they travel with the data, and unlike ones do not mix.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use cento_fingerprint::ChunkHash;
use cento_read::Limits;
use cento_text::chunk::ChunkKind;
use cento_text::content::Selection;
use cento_text::normal::Normalisation;
use cento_text::url::RecursionLimits;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};

/// How pages become text, words and chunks.
///
/// Everything that changes what a table of the corpus holds is here, and nothing else is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// Which text of an HTML page is kept.
    #[serde(with = "as_text")]
    pub content: Selection,
    /// What a chunk is.
    #[serde(with = "stored_chunk")]
    pub chunk: ChunkKind,
    /// What is evened out before a chunk is hashed.
    #[serde(with = "as_text")]
    pub normalisation: Normalisation,
    /// What a chunk is hashed with.
    #[serde(with = "as_text")]
    pub hash: ChunkHash,
    /// Whether the text itself is kept.
    pub text: bool,
    /// Whether suffixes such as `github.io`, under which anyone may publish, end a domain too.
    pub private_suffixes: bool,
    /// Whether pages with an HTTP status outside 200–299 are kept.
    pub any_status: bool,
    /// Most path components of a URL before it counts as a crawler's recursion error.
    pub recursion_components: u32,
    /// Times one path component must occur to count as one.
    pub recursion_repeats: u32,
    /// Times a cycle of path components must occur to count as one.
    pub recursion_cycles: u32,
    /// Bytes of payload after which a part is closed.
    pub part_bytes: u64,
    /// What one page may cost. A corpus from before these were written down was made with the
    /// defaults, as far as is known.
    #[serde(flatten)]
    pub limits: PageLimits,
}

/// What one page may cost, as [`Limits`] has it; what exceeds a limit is rejected, or skipped, with
/// the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageLimits {
    /// The largest page, in bytes.
    pub max_page_bytes: u64,
    /// How many times larger than its compressed form a page may be.
    pub max_ratio: u64,
    /// The largest header of a record or a response, in bytes.
    pub max_header_bytes: u64,
    /// The most lines of such a header.
    pub max_header_lines: u64,
    /// The longest line of JSON Lines, in bytes.
    pub max_line_bytes: u64,
    /// How deep elements, or JSON objects and lists, may stand within each other.
    pub max_nesting: u32,
    /// How long a processor may work on one page, in milliseconds.
    pub max_milliseconds: u64,
    /// The most chunks of a page.
    pub max_chunks: u64,
    /// The longest URL of a page, in bytes.
    pub max_url_bytes: u64,
}

/// The most chunks of a page, unless told: a book of a million paragraphs.
const MAX_CHUNKS: u64 = 1_000_000;
/// The longest URL, unless told: as long as a path may be on most systems, and twice what sitemaps
/// allow.
const MAX_URL_BYTES: u64 = 4_096;

impl Default for PageLimits {
    fn default() -> PageLimits {
        let limits = Limits::default();
        PageLimits {
            max_page_bytes: limits.max_page_bytes,
            max_ratio: limits.max_ratio,
            max_header_bytes: limits.max_header_bytes as u64,
            max_header_lines: limits.max_header_lines as u64,
            max_line_bytes: limits.max_line_bytes,
            max_nesting: limits.max_nesting,
            max_milliseconds: u64::try_from(limits.max_work.as_millis()).unwrap_or(u64::MAX),
            max_chunks: MAX_CHUNKS,
            max_url_bytes: MAX_URL_BYTES,
        }
    }
}

impl From<&PageLimits> for Limits {
    fn from(limits: &PageLimits) -> Limits {
        let narrow = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Limits {
            max_page_bytes: limits.max_page_bytes,
            max_ratio: limits.max_ratio,
            max_header_bytes: narrow(limits.max_header_bytes),
            max_header_lines: narrow(limits.max_header_lines),
            max_line_bytes: limits.max_line_bytes,
            max_nesting: limits.max_nesting,
            max_work: Duration::from_millis(limits.max_milliseconds),
        }
    }
}

impl Default for Parameters {
    fn default() -> Parameters {
        let recursion = RecursionLimits::default();
        Parameters {
            content: Selection::All,
            chunk: ChunkKind::Paragraph,
            normalisation: Normalisation::SpaceCase,
            hash: ChunkHash::Blake3,
            text: true,
            private_suffixes: false,
            any_status: false,
            recursion_components: recursion.components,
            recursion_repeats: recursion.repeats,
            recursion_cycles: recursion.cycles,
            part_bytes: 512 << 20,
            limits: PageLimits::default(),
        }
    }
}

impl Parameters {
    /// The limits beyond which a URL is a recursion error.
    pub fn recursion(&self) -> RecursionLimits {
        RecursionLimits {
            components: self.recursion_components,
            repeats: self.recursion_repeats,
            cycles: self.recursion_cycles,
        }
    }

    /// Names and values as people read them, in a fixed order.
    pub fn list(&self) -> Vec<(&'static str, String)> {
        vec![
            ("content", self.content.to_string()),
            ("chunk", self.chunk.to_string()),
            ("normalisation", self.normalisation.to_string()),
            ("hash", self.hash.to_string()),
            ("text", yes_no(self.text)),
            ("private suffixes", yes_no(self.private_suffixes)),
            ("any status", yes_no(self.any_status)),
            (
                "recursion limits",
                format!(
                    "{} components, {} repeats, {} cycles",
                    self.recursion_components, self.recursion_repeats, self.recursion_cycles
                ),
            ),
            ("part size", binary_size(self.part_bytes)),
            ("largest page", binary_size(self.limits.max_page_bytes)),
            ("largest ratio", self.limits.max_ratio.to_string()),
            ("largest header", binary_size(self.limits.max_header_bytes)),
            ("header lines", self.limits.max_header_lines.to_string()),
            ("longest line", binary_size(self.limits.max_line_bytes)),
            ("deepest nesting", self.limits.max_nesting.to_string()),
            (
                "longest work",
                format!("{} s", self.limits.max_milliseconds as f64 / 1e3),
            ),
            ("most chunks", self.limits.max_chunks.to_string()),
            ("longest URL", binary_size(self.limits.max_url_bytes)),
        ]
    }

    /// An error that names the first difference to `wanted`, if there is one.
    pub fn check_like(&self, wanted: &Parameters, corpus: &Path) -> Result<()> {
        for ((name, found), (_, wanted)) in self.list().into_iter().zip(wanted.list()) {
            if found != wanted {
                return Err(Error::Unlike {
                    path: corpus.to_owned(),
                    name,
                    found,
                    wanted,
                });
            }
        }
        Ok(())
    }
}

/// In the largest unit that loses nothing, as `--part-size` takes it.
fn binary_size(bytes: u64) -> String {
    match bytes {
        bytes if bytes.is_multiple_of(1 << 30) => format!("{}G", bytes >> 30),
        bytes if bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
        bytes if bytes.is_multiple_of(1 << 10) => format!("{}K", bytes >> 10),
        bytes => bytes.to_string(),
    }
}

fn yes_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
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
    fn unlike_parameters_are_named() {
        let corpus = Path::new("a.cento");
        let ours = Parameters::default();
        assert!(ours.check_like(&ours, corpus).is_ok());
        let theirs = Parameters {
            hash: ChunkHash::Sha1,
            ..Parameters::default()
        };
        let error = ours.check_like(&theirs, corpus).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.cento was made with hash blake3, not sha1"
        );
    }

    #[test]
    fn parameters_survive_json() {
        let parameters = Parameters {
            chunk: ChunkKind::Lines(4),
            ..Parameters::default()
        };
        // Of a corpus from before limits were written down, they are taken to be the default.
        let mut old = serde_json::to_value(&parameters).unwrap();
        let names = old.as_object_mut().unwrap();
        names.retain(|name, _| !name.starts_with("max_"));
        assert_eq!(names.len(), 11);
        assert_eq!(
            serde_json::from_value::<Parameters>(old).unwrap(),
            parameters
        );
        let json = serde_json::to_string(&parameters).unwrap();
        assert!(json.contains("\"lines:4@80\""));
        assert_eq!(
            serde_json::from_str::<Parameters>(&json).unwrap(),
            parameters
        );
    }
}
