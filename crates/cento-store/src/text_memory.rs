//! The texts of a corpus that lives as long as one command.
//!
//! An analysis of plain inputs reads every text at least once more, right after it was extracted.
//! Writing them to a file and reading them back was a third of the processor time of `cento copies
//! FILE`. So they stay where they are, if the memory budget allows it: the arrays that workers
//! have filled become the row groups of the table.
//!
//! ```text
//!   workers ─ arrays ─┬─ fits ──────▶ TextMemory ─┬─▶ Corpus::open_temporary
//!                     └─ does not ──▶ text/ ──────┘
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, RecordBatch};
use arrow_schema::ArrowError;

/// The row groups of the text of each part, by task and sequence.
type PartTexts = BTreeMap<(u32, u32), Arc<[RecordBatch]>>;

/// Keeps texts in memory until it is full.
#[derive(Debug)]
pub struct TextMemory {
    limit: u64,
    used: AtomicU64,
    parts: Mutex<PartTexts>,
}

impl TextMemory {
    /// A memory for texts of this many bytes.
    pub fn new(limit: u64) -> TextMemory {
        TextMemory {
            limit,
            used: AtomicU64::new(0),
            parts: Mutex::default(),
        }
    }

    /// The bytes of the texts in memory.
    pub fn bytes(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Reserves memory for a batch, which must have been shrunk. Returns false if there is not
    /// enough left.
    pub(crate) fn reserve(&self, batch: &RecordBatch) -> bool {
        let bytes = bytes_of(batch);
        let added = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.limit);
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, added)
            .is_ok()
    }

    /// Releases the memory of a batch that was written to a file after all.
    pub(crate) fn release(&self, batch: &RecordBatch) {
        self.used.fetch_sub(bytes_of(batch), Ordering::Relaxed);
    }

    /// Stores the texts of a part.
    pub(crate) fn insert(&self, part: (u32, u32), groups: Vec<RecordBatch>) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.insert(part, groups.into());
    }

    /// The texts of a part; `None` if they are in a file.
    pub(crate) fn part(&self, part: (u32, u32)) -> Option<Arc<[RecordBatch]>> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.get(&part).cloned()
    }
}

/// Returns a batch whose columns have reserved little more than they contain. The texts of HTML
/// pages take a fraction of what was reserved for them.
pub(crate) fn shrunk(batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
    let (schema, columns, _) = batch.into_parts();
    let columns = columns.into_iter().map(|mut column| {
        let used = column.to_data().get_slice_memory_size().unwrap_or(0);
        if used < column.get_buffer_memory_size() / 2 {
            column.shrink_to_fit();
        }
        column
    });
    RecordBatch::try_new(schema, columns.collect())
}

/// The memory of a batch, including what its buffers have reserved.
fn bytes_of(batch: &RecordBatch) -> u64 {
    let columns = batch.columns().iter();
    columns
        .map(|column| column.get_buffer_memory_size() as u64)
        .sum()
}
