//! A task while it runs: its reader, and the output that puts its batches in order and into parts.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::part::{EncodedBatch, PartWriter};
use crate::task::{Batch, TaskReader};

use super::Build;
use super::permits::Permit;
use super::pool::WorkerPool;
use super::threads::lock;

/// How often a thread that waits for its turn checks whether the run has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A task that waits, runs or has ended.
pub(super) struct TaskSlot<'run> {
    number: u32,
    /// `None` at the end of the input, and after a panic.
    reader: Mutex<Option<TaskReader<'run>>>,
    output: Mutex<OrderedOutput<'run>>,
    /// Notified when it is the turn of another batch.
    turn: Condvar,
}

/// Puts the batches of a task in order and into parts.
struct OrderedOutput<'run> {
    /// The part that is being written.
    part: Option<PartWriter<'run>>,
    next_part: u32,
    /// The number of batches that were read, and of those that are written.
    batches_read: u64,
    batches_written: u64,
    /// Whether all batches were read.
    ended: bool,
    /// Batches that were submitted before their turn.
    early: BTreeMap<u64, EncodedBatch>,
}

impl<'run> TaskSlot<'run> {
    pub(super) fn new(
        build: &'run Build<'run>,
        manifest: &Manifest,
        first_input: u32,
        number: u32,
        inputs: Range<usize>,
    ) -> TaskSlot<'run> {
        let last = manifest.last_part_of(number);
        let done = last.is_some_and(|part| part.next.is_none());
        let from = last.and_then(|part| part.next);
        if done {
            let bytes = build.inputs[inputs.clone()]
                .iter()
                .filter_map(|input| input.bytes)
                .sum();
            build.progress.add_bytes(bytes);
        }
        let reader = (!done).then(|| {
            let how = (&build.settings, &build.parameters);
            TaskReader::new(
                &build.inputs,
                inputs,
                how,
                build.progress,
                first_input,
                from,
            )
        });
        TaskSlot {
            number,
            reader: Mutex::new(reader),
            output: Mutex::new(OrderedOutput {
                part: None,
                next_part: last.map_or(0, |part| part.sequence + 1),
                batches_read: 0,
                batches_written: 0,
                ended: done,
                early: BTreeMap::new(),
            }),
            turn: Condvar::new(),
        }
    }

    /// Reads the next batch; `None` at the end of the task.
    pub(super) fn next_batch(&self, pool: &WorkerPool<'run>) -> Result<Option<Batch>> {
        let mut slot = lock(&self.reader);
        // A reader that panics is not put back: what another thread would read from it then could
        // lack the records of the batch that was lost.
        let Some(mut reader) = slot.take() else {
            return Ok(None);
        };
        if let Some(batch) = reader.next_batch()? {
            *slot = Some(reader);
            lock(&self.output).batches_read += 1;
            return Ok(Some(batch));
        }
        drop(slot);
        let mut output = lock(&self.output);
        output.ended = true;
        self.finish_if_ended(pool, &mut output)?;
        Ok(None)
    }

    /// Submits a processed batch. If it is its turn, it is written, and so are those that waited
    /// for it.
    pub(super) fn submit(
        &self,
        pool: &WorkerPool<'run>,
        sequence: u64,
        batch: EncodedBatch,
        permit: Permit<'_>,
    ) -> Result<()> {
        permit.keep();
        let mut output = lock(&self.output);
        output.early.insert(sequence, batch);
        loop {
            let turn = output.batches_written;
            let Some(batch) = output.early.remove(&turn) else {
                break;
            };
            self.write(pool, &mut output, batch)?;
            output.batches_written += 1;
            pool.permits.release();
        }
        self.turn.notify_all();
        self.finish_if_ended(pool, &mut output)
    }

    /// Writes a piece of a batch that is too large to be kept in memory, once it is the turn of the
    /// batch. The batch whose turn it is never waits, so this ends, unless the run does.
    pub(super) fn submit_piece(
        &self,
        pool: &WorkerPool<'run>,
        sequence: u64,
        piece: EncodedBatch,
    ) -> Result<()> {
        let mut output = lock(&self.output);
        while output.batches_written != sequence {
            if pool.has_ended() {
                return Err(Error::Cancelled);
            }
            // A thread that fails does not notify the tasks.
            output = self
                .turn
                .wait_timeout(output, POLL_INTERVAL)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        let mut part = self.part(pool, &mut output)?;
        part.append(piece)?;
        output.part = Some(part);
        Ok(())
    }

    /// Takes the part that is being written, or begins the next one.
    fn part(
        &self,
        pool: &WorkerPool<'run>,
        output: &mut OrderedOutput<'run>,
    ) -> Result<PartWriter<'run>> {
        match output.part.take() {
            Some(part) => Ok(part),
            None => PartWriter::create(
                pool.build,
                pool.folder,
                pool.encoder,
                self.number,
                output.next_part,
            ),
        }
    }

    fn write(
        &self,
        pool: &WorkerPool<'run>,
        output: &mut OrderedOutput<'run>,
        batch: EncodedBatch,
    ) -> Result<()> {
        let next = batch.next;
        let mut part = self.part(pool, output)?;
        part.append(batch)?;
        // A batch without `next` is the last one, and so is its part.
        if part.weight() >= pool.build.parameters.part_bytes || next.is_none() {
            pool.commit(part.finish(next)?)?;
            output.next_part += 1;
        } else {
            output.part = Some(part);
        }
        Ok(())
    }

    fn finish_if_ended(
        &self,
        pool: &WorkerPool<'run>,
        output: &mut OrderedOutput<'run>,
    ) -> Result<()> {
        if output.ended
            && output.batches_written == output.batches_read
            && let Some(part) = output.part.take()
        {
            pool.commit(part.finish(None)?)?;
            output.next_part += 1;
        }
        Ok(())
    }
}
