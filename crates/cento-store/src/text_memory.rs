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

/// Keeps texts in memory until it is full.
#[derive(Debug)]
pub struct TextMemory {
    limit: u64,
    used: AtomicU64,
    /// The row groups of the text of each part, by task and sequence.
    parts: Mutex<BTreeMap<(u32, u32), Arc<[RecordBatch]>>>,
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

    /// Reserves memory for a batch. Returns false if there is not enough left.
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

/// The memory of a batch, including what its buffers have reserved.
fn bytes_of(batch: &RecordBatch) -> u64 {
    let columns = batch.columns().iter();
    columns
        .map(|column| column.get_buffer_memory_size() as u64)
        .sum()
}
