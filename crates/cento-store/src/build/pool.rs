//! The threads of a build, and which batch each of them takes next.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::build_folder::BuildFolder;
use crate::error::{Error, Result};
use crate::manifest::{Manifest, Part};
use crate::page_writer::Worker;
use crate::part::Encoder;
use crate::task::Batch;

use super::permits::Permits;
use super::task_output::TaskSlot;
use super::threads::{catch, lock, on_threads};
use super::{Build, budget};

/// What a pool may use.
#[derive(Clone, Copy)]
pub(super) struct PoolLimits {
    pub(super) threads: usize,
    pub(super) memory: u64,
}

/// Runs tasks of a run, with their numbers. Returns the manifest with their parts.
pub(super) fn run_tasks(
    build: &Build<'_>,
    folder: &BuildFolder,
    manifest: Manifest,
    run: usize,
    tasks: Vec<(u32, Range<usize>)>,
    limits: PoolLimits,
) -> Result<Manifest> {
    let encoder = Encoder::new(build.temporary)?;
    let first_input = manifest.runs[run].first_input;
    let slots: Vec<TaskSlot<'_>> = tasks
        .into_iter()
        .map(|(number, inputs)| TaskSlot::new(build, &manifest, first_input, number, inputs))
        .collect();
    let pool = WorkerPool {
        build,
        folder,
        encoder: &encoder,
        first_input,
        waiting: Mutex::new(slots.iter().collect()),
        active: Mutex::new(Vec::new()),
        permits: Permits::new(budget::batches(
            limits.threads,
            limits.memory,
            build.settings.limits.max_page_bytes,
        )),
        failure: Mutex::new(None),
        manifest: Mutex::new(manifest),
    };
    on_threads(limits.threads, || {
        pool.work();
        Ok(())
    })?;
    if let Some(error) = lock(&pool.failure).take() {
        return Err(error);
    }
    if build.progress.is_cancelled() {
        return Err(Error::Cancelled);
    }
    let manifest = pool.manifest.into_inner();
    Ok(manifest.unwrap_or_else(PoisonError::into_inner))
}

/// What the threads of a build share.
pub(super) struct WorkerPool<'run> {
    pub(super) build: &'run Build<'run>,
    pub(super) folder: &'run BuildFolder,
    pub(super) encoder: &'run Encoder,
    first_input: u32,
    /// Tasks that no thread has begun.
    waiting: Mutex<VecDeque<&'run TaskSlot<'run>>>,
    /// Tasks that are being read.
    active: Mutex<Vec<&'run TaskSlot<'run>>>,
    pub(super) permits: Permits,
    failure: Mutex<Option<Error>>,
    manifest: Mutex<Manifest>,
}

impl<'run> WorkerPool<'run> {
    /// The work of one thread, from its first batch to the last batch of all tasks.
    fn work(&self) {
        // All batches after one that is lost to a panic would wait for it, so a panic ends the run
        // as any error does.
        if let Err(error) = catch(|| self.try_work()) {
            lock(&self.failure).get_or_insert(error);
            // Threads that wait for a permit must see the failure.
            self.permits.release();
        }
    }

    fn try_work(&self) -> Result<()> {
        let build = self.build;
        let mut worker = Worker::new(build, self.first_input, self.encoder);
        let mut own = None;
        loop {
            let permit = self.permits.acquire();
            if self.has_ended() {
                return Ok(());
            }
            let Some((task, batch)) = self.next_batch(&mut own)? else {
                return Ok(());
            };
            let sequence = batch.sequence;
            let pages = batch.records.len() as u64;
            let encoded =
                worker.process(batch, |piece| task.submit_piece(self, sequence, piece))?;
            build.progress.add_pages(pages);
            // The permit is released when the batch is on disk.
            task.submit(self, sequence, encoded, permit)?;
        }
    }

    /// Whether the run was cancelled or has failed.
    pub(super) fn has_ended(&self) -> bool {
        self.build.progress.is_cancelled() || lock(&self.failure).is_some()
    }

    /// The next batch of the thread's own task, of a task that no thread has begun, or of any other
    /// task.
    fn next_batch(
        &self,
        own: &mut Option<&'run TaskSlot<'run>>,
    ) -> Result<Option<(&'run TaskSlot<'run>, Batch)>> {
        if let Some(task) = *own {
            if let Some(batch) = self.read(task)? {
                return Ok(Some((task, batch)));
            }
            *own = None;
        }
        loop {
            let Some(task) = lock(&self.waiting).pop_front() else {
                break;
            };
            lock(&self.active).push(task);
            if let Some(batch) = self.read(task)? {
                *own = Some(task);
                return Ok(Some((task, batch)));
            }
        }
        loop {
            let Some(task) = lock(&self.active).first().copied() else {
                return Ok(None);
            };
            if let Some(batch) = self.read(task)? {
                return Ok(Some((task, batch)));
            }
        }
    }

    /// The next batch of a task; `None` at its end.
    fn read(&self, task: &'run TaskSlot<'run>) -> Result<Option<Batch>> {
        let batch = task.next_batch(self);
        if !matches!(batch, Ok(Some(_))) {
            lock(&self.active).retain(|other| !std::ptr::eq(*other, task));
        }
        batch
    }

    /// Adds a finished part to the manifest. That of a worker is not saved: its driver commits.
    pub(super) fn commit(&self, part: Part) -> Result<()> {
        if self.folder.suffix().is_some() {
            lock(&self.manifest).insert(part);
            return Ok(());
        }
        if !self.build.temporary {
            self.folder.sync_tables()?;
        }
        let mut manifest = lock(&self.manifest);
        manifest.insert(part);
        manifest.save(self.folder.path())
    }
}
