//! The sources of chunks: the text, the table of chunks, or a file of rows.

use std::path::Path;

use cento_fingerprint::ChunkHash;
use cento_flow::{TableRow, table_row};
use cento_text::chunk::{ChunkKind, chunks};
use cento_text::normal::{Normalisation, normalise};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::corpus_pages::{ChunkTask, CorpusPages, TextTask};
use crate::error::{Error, Result};
use crate::tables;

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

table_row! {
    /// A chunk of a page, in a file of rows.
    pub struct ChunkPageRow {
        /// The 64-bit hash of the chunk.
        pub chunk: u64,
        /// The number of the page.
        pub page: u32,
    }
}

/// The chunks that one task reads.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CutTask {
    Text(TextTask),
    Chunks(ChunkTask),
    Rows { file: String, row_group: usize },
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

/// Returns the tasks that read a file of rows.
pub(super) fn row_tasks(file: &Path) -> Result<Vec<Value>> {
    let groups = tables::open(file)?.metadata().num_row_groups();
    let task = |row_group| CutTask::Rows {
        file: file.display().to_string(),
        row_group,
    };
    Ok((0..groups).map(|group| json!(task(group))).collect())
}

/// Calls `each` with batches of rows of one row group.
pub(super) fn read_rows<E: From<Error>>(
    file: &Path,
    row_group: usize,
    mut each: impl FnMut(Vec<ChunkPageRow>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let reader = tables::open(file)?
        .with_row_groups(vec![row_group])
        .with_batch_size(1 << 14);
    for batch in tables::batches_of(file, reader)? {
        let rows = ChunkPageRow::read(&batch?);
        each(rows.map_err(|error| Error::corrupted(file, error.to_string()))?)?;
    }
    Ok(())
}
