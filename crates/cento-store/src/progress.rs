//! What a running build tells those who watch it, and what they can tell it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counters that workers raise and a display reads; and the switch that stops the run.
#[derive(Debug, Default)]
pub struct Progress {
    bytes: AtomicU64,
    total_bytes: AtomicU64,
    pages: AtomicU64,
    cancelled: AtomicBool,
}

impl Progress {
    /// Bytes of input that were read, as they are on disk.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes of input there are, as far as known: standard input counts as nothing.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes.load(Ordering::Relaxed)
    }

    /// Pages that were processed.
    pub fn pages(&self) -> u64 {
        self.pages.load(Ordering::Relaxed)
    }

    /// Stops the run as soon as every worker has ended the batch it is at.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the run was told to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Says how many bytes there are.
    pub fn set_total_bytes(&self, bytes: u64) {
        self.total_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Counts bytes that were read, or written by those who make something.
    pub fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts pages that were processed.
    pub fn add_pages(&self, pages: u64) {
        self.pages.fetch_add(pages, Ordering::Relaxed);
    }
}
