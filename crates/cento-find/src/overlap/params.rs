//! The parameters of `overlap`.

use cento_text::chunk::ChunkKind;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Pages; pages with identical text count as one.
    #[default]
    Pages,
    /// Hosts: each is the union of its pages.
    Host,
    /// Registered domains: each is the union of its pages.
    Domain,
}

/// The parameters of an overlap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverlapParams {
    /// What is compared: pages or servers.
    pub unit: Unit,
    /// The kind of chunks.
    #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
    pub chunk: ChunkKind,
    /// The least number of chunks that a pair must share.
    pub threshold: u32,
    /// Chunks on more pages (or servers) than this are ignored; zero for no limit. The default is
    /// [`usual_max_pages`].
    pub max_pages: Option<u32>,
}

fn as_text<S: Serializer>(kind: &ChunkKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(kind)
}

fn from_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ChunkKind, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(de::Error::custom)
}

/// The default limit on the pages of a chunk in a large corpus.
///
/// A chunk on p pages makes p²/2 pairs, so the limit bounds the time. Chunks above it are
/// boilerplate: in 9,148 RFCs cut into chunks of two lines, 21 of 3.7 million chunks are on more
/// than 1,000 pages; they make 47 % of all pairs and distinguish no RFC from another.
pub const MAX_PAGES: u32 = 1_000;
/// The number of pairs up to which nothing is ignored.
const FEW_PAIRS: u64 = 10_000_000;

/// Returns the default limit on the pages of a chunk: [`MAX_PAGES`], or a higher one at which
/// `rows` chunks make at most ten million pairs. So nothing is ignored in a small corpus.
pub fn usual_max_pages(threshold: u32, rows: u64) -> u32 {
    let most = 2 * FEW_PAIRS * u64::from(threshold) / rows.max(1);
    MAX_PAGES.max(u32::try_from(most).unwrap_or(u32::MAX))
}

impl OverlapParams {
    /// Returns the default parameters for chunks of a kind.
    pub fn new(chunk: ChunkKind) -> OverlapParams {
        OverlapParams {
            unit: Unit::default(),
            chunk,
            threshold: usual_threshold(chunk),
            max_pages: None,
        }
    }
}

/// Returns the default threshold for chunks of a kind: 15 chunks of four lines and 25 of two lines,
/// as in the paper. Both are 50 to 60 lines or about five hundred words; the thresholds of other
/// kinds amount to about as much text.
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

/// Returns a low estimate of the average bytes of a chunk. It only affects the number of strips.
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
