//! Watching and cancelling a running flow.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::error::{Error, Result};

/// Counters that workers increase and a display reads, and the switch that cancels the run.
#[derive(Debug, Default)]
pub struct Progress {
    stage: Mutex<String>,
    stages_done: AtomicU64,
    stages: AtomicU64,
    tasks: AtomicU64,
    finished: AtomicU64,
    rows: AtomicU64,
    spilled: AtomicU64,
    cancelled: AtomicBool,
    /// Whether a thread has failed, so that the others should stop.
    aborted: AtomicBool,
}

impl Progress {
    /// Returns the progress of a run that has not started.
    pub fn new() -> Arc<Progress> {
        Arc::default()
    }

    /// The name of the running stage.
    pub fn stage(&self) -> String {
        self.stage.lock().map_or_else(
            |poisoned| poisoned.into_inner().clone(),
            |name| name.clone(),
        )
    }

    /// The finished share of the flow, from 0 to 1. All steps of the flow count the same, and so do
    /// all tasks of a stage.
    pub fn share(&self) -> f64 {
        let stage = self.finished() as f64 / self.tasks().max(1) as f64;
        let done = self.stages_done.load(Ordering::Relaxed) as f64 + stage.min(1.0);
        let all = self.stages.load(Ordering::Relaxed).max(1) as f64;
        (done / all).min(1.0)
    }

    /// The number of tasks of the running stage.
    pub fn tasks(&self) -> u64 {
        self.tasks.load(Ordering::Relaxed)
    }

    /// The number of its finished tasks.
    pub fn finished(&self) -> u64 {
        self.finished.load(Ordering::Relaxed)
    }

    /// Rows written to shuffles and tables so far, by all stages.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Bytes written to temporary files so far, by all stages.
    pub fn spilled(&self) -> u64 {
        self.spilled.load(Ordering::Relaxed)
    }

    /// Cancels the run. It stops within about a second, because every loop over rows checks.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Whether threads should stop.
    pub fn is_stopped(&self) -> bool {
        self.is_cancelled() || self.aborted.load(Ordering::Relaxed)
    }

    pub(crate) fn abort(&self) {
        self.aborted.store(true, Ordering::Relaxed);
    }

    /// Allows the threads to run again after one has failed. A cancelled run stays cancelled.
    pub(crate) fn clear_abort(&self) {
        self.aborted.store(false, Ordering::Relaxed);
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.is_stopped() {
            return Err(Error::Cancelled);
        }
        Ok(())
    }

    pub(crate) fn begin(&self, stage: &str, tasks: usize, finished: usize) {
        if let Ok(mut name) = self.stage.lock() {
            stage.clone_into(&mut name);
        }
        self.clear_abort();
        self.tasks.store(tasks as u64, Ordering::Relaxed);
        self.finished.store(finished as u64, Ordering::Relaxed);
    }

    /// Sets the number of finished steps and of all steps of the flow.
    pub(crate) fn set_step(&self, done: usize, steps: usize) {
        self.finished.store(0, Ordering::Relaxed);
        self.stages_done.store(done as u64, Ordering::Relaxed);
        self.stages.store(steps as u64, Ordering::Relaxed);
    }

    pub(crate) fn finish_task(&self) {
        self.finished.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_rows(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn add_spilled(&self, bytes: u64) {
        self.spilled.fetch_add(bytes, Ordering::Relaxed);
    }
}
