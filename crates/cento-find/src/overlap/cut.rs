//! The sources of chunks: the text, or the table of chunks.

use cento_fingerprint::ChunkHash;
use cento_text::chunk::{ChunkKind, chunks};
use cento_text::normal::{Normalisation, normalise};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::corpus_pages::{ChunkTask, CorpusPages, TextTask};
use crate::error::{Error, Result};

/// Cuts texts into chunks as `cento index` does.
pub(super) struct ChunkCutter {
    kind: ChunkKind,
    normalisation: Normalisation,
    hash: ChunkHash,
    normalised: String,
}

impl ChunkCutter {
    /// Returns a cutter for chunks of a kind, with the other parameters of the corpus.
    pub(super) fn new(source: &CorpusPages, kind: ChunkKind) -> ChunkCutter {
        let parameters = source.corpora().first().map(|corpus| corpus.parameters());
        ChunkCutter {
            kind,
            normalisation: parameters.map_or_else(Default::default, |found| found.normalisation),
            hash: parameters.map_or_else(Default::default, |found| found.hash),
            normalised: String::new(),
        }
    }

    /// Calls `each` with the hash and the text of every chunk.
    pub(super) fn cut(&mut self, text: &str, mut each: impl FnMut([u8; 16], &str)) {
        chunks(text, self.kind, |range| {
            let chunk = text.get(range).unwrap_or_default();
            normalise(chunk, self.normalisation, &mut self.normalised);
            if !self.normalised.is_empty() {
                each(self.hash.hash128(self.normalised.as_bytes()), chunk);
            }
        });
    }
}

/// The chunks that one task reads.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CutTask {
    Text(TextTask),
    Chunks(ChunkTask),
}

/// Returns the tasks that read all chunks of a kind: from the table of chunks, if it stores them.
pub(super) fn tasks(source: &CorpusPages, kind: ChunkKind) -> Result<Vec<Value>> {
    let stored = |corpus: &cento_store::Corpus| corpus.parameters().chunk == kind;
    if source.corpora().iter().all(stored) {
        let tasks = source.chunk_tasks()?.into_iter();
        return Ok(tasks.map(|task| json!(CutTask::Chunks(task))).collect());
    }
    if !source.has_text() {
        let kept = source
            .corpora()
            .first()
            .map(|corpus| corpus.parameters().chunk);
        return Err(Error::Unsuitable(format!(
            "the corpus has no text, so only its stored chunks can be compared: {}",
            kept.unwrap_or_default()
        )));
    }
    let tasks = source.text_tasks().into_iter();
    Ok(tasks.map(|task| json!({ "text": task })).collect())
}
