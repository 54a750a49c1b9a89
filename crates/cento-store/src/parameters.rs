//! The parameters of a corpus. They are stored with the data, and data with different parameters
//! is never mixed.

use std::path::Path;
use std::time::Duration;

use cento_fingerprint::ChunkHash;
use cento_read::Limits;
use cento_text::chunk::ChunkKind;
use cento_text::content::Selection;
use cento_text::normal::Normalisation;
use cento_text::stored::{as_text, chunk_kind};
use cento_text::url::RecursionLimits;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How pages become text, words and chunks: everything that changes the contents of a corpus, and
/// nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// Which text of an HTML page is kept.
    #[serde(with = "as_text")]
    pub content: Selection,
    /// What a chunk is.
    #[serde(with = "chunk_kind")]
    pub chunk: ChunkKind,
    /// How a chunk is normalised before it is hashed.
    #[serde(with = "as_text")]
    pub normalisation: Normalisation,
    /// How a chunk is hashed.
    #[serde(with = "as_text")]
    pub hash: ChunkHash,
    /// Whether the text is stored.
    pub text: bool,
    /// Whether suffixes such as `github.io`, under which anyone may publish, count as public
    /// suffixes of domains.
    pub private_suffixes: bool,
    /// Whether pages with an HTTP status outside 200–299 are kept.
    pub any_status: bool,
    /// The most path components of a URL before it counts as a recursion error of the crawler.
    pub recursion_components: u32,
    /// How often a path component must occur in a URL to count as a recursion error.
    pub recursion_repeats: u32,
    /// How often a cycle of path components must occur in a URL to count as a recursion error.
    pub recursion_cycles: u32,
    /// Bytes of payload after which a part is closed.
    pub part_bytes: u64,
    /// What one page may cost. Older corpora do not store limits; they are assumed to have been
    /// made with the defaults.
    #[serde(flatten)]
    pub limits: PageLimits,
}

/// What one page may cost: [`Limits`] as they are stored. Pages and records that exceed a limit are
/// rejected or skipped, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageLimits {
    /// The largest page, in bytes.
    pub max_page_bytes: u64,
    /// The largest ratio of the size of a page to its compressed size.
    pub max_ratio: u64,
    /// The largest header of a record or a response, in bytes.
    pub max_header_bytes: u64,
    /// The most lines of a header.
    pub max_header_lines: u64,
    /// The longest line of JSON Lines, in bytes.
    pub max_line_bytes: u64,
    /// The deepest nesting of elements, or of JSON objects and lists.
    pub max_nesting: u32,
    /// The most processor time for one page, in milliseconds.
    pub max_milliseconds: u64,
    /// The most chunks of a page.
    pub max_chunks: u64,
    /// The longest URL of a page, in bytes.
    pub max_url_bytes: u64,
}

/// The default limit of chunks of a page: a book of a million paragraphs.
const MAX_CHUNKS: u64 = 1_000_000;
/// The default limit of the length of a URL: the longest path on most systems, and twice what
/// sitemaps allow.
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

    /// Names and values for display, in a fixed order.
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

    /// Fails if `requested` differs, and names the first difference.
    pub fn check_equal(&self, requested: &Parameters, corpus: &Path) -> Result<()> {
        for ((name, found), (_, requested)) in self.list().into_iter().zip(requested.list()) {
            if found != requested {
                return Err(Error::ParametersDiffer {
                    path: corpus.to_owned(),
                    name,
                    found,
                    requested,
                });
            }
        }
        Ok(())
    }
}

/// Formats a size in the largest unit without loss, as `--part-size` accepts it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_parameter_that_differs_is_named() {
        let corpus = Path::new("a.cento");
        let ours = Parameters::default();
        assert!(ours.check_equal(&ours, corpus).is_ok());
        let theirs = Parameters {
            hash: ChunkHash::Sha1,
            ..Parameters::default()
        };
        let error = ours.check_equal(&theirs, corpus).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.cento was made with hash blake3, not sha1"
        );
    }

    #[test]
    fn parameters_are_read_from_json_as_they_were_written() {
        let parameters = Parameters {
            chunk: ChunkKind::Lines(4),
            ..Parameters::default()
        };
        // Older corpora do not store limits; the defaults are assumed.
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
