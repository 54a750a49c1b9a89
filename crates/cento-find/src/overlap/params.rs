//! What can be asked.

use cento_text::chunk::ChunkKind;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// What is compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Pages; those with the same text as one.
    #[default]
    Pages,
    /// Hosts: each is the union of its pages.
    Host,
    /// Registered domains, likewise.
    Domain,
}

/// The parameters of an overlap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// What is compared.
    pub unit: Unit,
    /// What a chunk is.
    #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
    pub chunk: ChunkKind,
    /// How many chunks a pair must share at least.
    pub threshold: u32,
    /// Chunks on more pages (or servers) than this are ignored; zero ignores none. If not given, as
    /// many as [`usual_max_pages`] says.
    pub max_pages: Option<u32>,
}

fn as_text<S: Serializer>(kind: &ChunkKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(kind)
}

fn from_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ChunkKind, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(de::Error::custom)
}

/// Chunks on more pages than this are ignored in a large corpus, unless asked for otherwise.
///
/// A chunk on p pages makes p²/2 pairs, so this bounds the time: every chunk of a page is compared
/// with at most so many others. Such chunks are notices and navigation: in 9,148 RFCs cut into two
/// lines each, 21 of 3.7 million chunks are on more than 1,000 pages; they make 47 % of all pairs,
/// and tell no two RFCs from any others.
pub const MAX_PAGES: u32 = 1_000;
/// Pairs that a small corpus may have before anything is ignored.
const FEW_PAIRS: u64 = 10_000_000;

/// The number of pages beyond which a chunk is ignored, if none is asked for: [`MAX_PAGES`], or as
/// many as let pages with `rows` chunks in all make ten million pairs at most. So nothing is
/// ignored in a small corpus.
pub fn usual_max_pages(threshold: u32, rows: u64) -> u32 {
    let most = 2 * FEW_PAIRS * u64::from(threshold) / rows.max(1);
    MAX_PAGES.max(u32::try_from(most).unwrap_or(u32::MAX))
}

impl Params {
    /// The parameters for chunks of a kind, with what follows from it.
    pub fn new(chunk: ChunkKind) -> Params {
        Params {
            unit: Unit::default(),
            chunk,
            threshold: usual_threshold(chunk),
            max_pages: None,
        }
    }
}

/// How many chunks of a kind make an overlap, unless asked for otherwise: 15 of four lines and 25
/// of two, as in the paper. Either is 50 to 60 lines, some five hundred words; the numbers for
/// other kinds are what holds about as much.
pub fn usual_threshold(chunk: ChunkKind) -> u32 {
    let share = |whole: u32, size: u32| (whole / size.max(1)).max(1);
    match chunk {
        ChunkKind::Lines(lines @ ..=2) | ChunkKind::UnwrappedLines(lines @ ..=2) => {
            share(50, lines)
        }
        ChunkKind::Lines(lines) | ChunkKind::UnwrappedLines(lines) => share(60, lines),
        ChunkKind::Sentences(sentences) => share(25, sentences),
        ChunkKind::Words(words) => share(500, words),
        ChunkKind::Paragraph => 5,
        ChunkKind::Document => 1,
    }
}

/// Bytes of text that a chunk of a kind has at least, on the whole. It only tells into how many
/// strips to cut.
pub(super) fn usual_bytes(chunk: ChunkKind) -> u64 {
    match chunk {
        ChunkKind::Lines(lines) | ChunkKind::UnwrappedLines(lines) => 20 * u64::from(lines),
        ChunkKind::Sentences(sentences) => 40 * u64::from(sentences),
        ChunkKind::Words(words) => 5 * u64::from(words),
        ChunkKind::Paragraph => 60,
        ChunkKind::Document => 500,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_those_of_the_paper() {
        for (chunk, threshold) in [
            ("lines:4", 15),
            ("lines:2", 25),
            ("lines:1", 50),
            ("lines:100", 1),
            ("words:50", 10),
            ("paragraph", 5),
            ("document", 1),
        ] {
            assert_eq!(
                usual_threshold(chunk.parse().unwrap()),
                threshold,
                "{chunk}"
            );
        }
    }
}
