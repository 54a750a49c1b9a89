//! Observing and cancelling a build.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counters that workers raise and a display reads, and the switch that cancels the run.
#[derive(Debug, Default)]
pub struct Progress {
    bytes: AtomicU64,
    total_bytes: AtomicU64,
    pages: AtomicU64,
    cancelled: AtomicBool,
}

impl Progress {
    /// Counters at 0.
    pub const fn new() -> Progress {
        Progress {
            bytes: AtomicU64::new(0),
            total_bytes: AtomicU64::new(0),
            pages: AtomicU64::new(0),
            cancelled: AtomicBool::new(false),
        }
    }

    /// Bytes of input that were read, as stored on disk.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes of input in total, as far as known: standard input counts as 0.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes.load(Ordering::Relaxed)
    }

    /// Pages that were processed.
    pub fn pages(&self) -> u64 {
        self.pages.load(Ordering::Relaxed)
    }

    /// Stops the run as soon as every worker has finished its current batch.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Sets the number of bytes in total.
    pub fn set_total_bytes(&self, bytes: u64) {
        self.total_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Counts bytes that were read or written.
    pub fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts pages that were processed.
    pub fn add_pages(&self, pages: u64) {
        self.pages.fetch_add(pages, Ordering::Relaxed);
    }
}
