//! Building a corpus: who reads what, who writes what, and what is on disk at any moment.
//!
//! ```text
//!   inputs ─ plan ─▶ task 0 ── TaskReader ─▶ batches ─▶ Worker (any thread) ─▶ TaskWriter ─▶ parts ─▶ manifest
//!                    task 1 ── …
//! ```
//!
//! Each thread has a task of its own as long as there are tasks, so large files are read side by side
//! and no thread waits for another. When they run out, a thread helps with a task of another: it takes
//! the next batch from that task's reader and hands the result to that task's writer, which puts batches
//! back in order. At most [`in_flight`] batches exist at once, and that bounds memory.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cento_read::{Input, Settings};

use crate::error::{Error, Result};
use crate::manifest::{Counts, Manifest, Tally};
use crate::parameters::Parameters;
use crate::part::{EncodedBatch, Encoder, PartWriter};
use crate::progress::Progress;
use crate::rows::Worker;
use crate::site::{Begun, Site};
use crate::task::{Batch, TaskReader, plan};

/// What a batch of small pages needs at most while it is worked on: the bodies of its records, their text, their rows,
/// and the same encoded.
const BATCH_MEMORY: u64 = 64 << 20;
/// How many times its own size the largest page needs on top of that: as it was read, decoded, as text, selected, and in a
/// column that may have grown to twice what it holds.
const PAGE_COPIES: u64 = 6;

/// How many threads process what one thread inflates: about 125 and 900 MB/s, each on one core.
const FED_BY_ONE: usize = 7;
/// What one more thread that inflates ahead keeps in memory: two blocks of members at their largest.
const HELPER_MEMORY: u64 = 64 << 20;

/// What to build, and with what.
#[derive(Debug)]
pub struct Build<'a> {
    /// Where the corpus is, or is to be.
    pub corpus: PathBuf,
    /// What to read, in the order that [`cento_read::resolve`] gives.
    pub inputs: Vec<Input>,
    /// Files in the given folders that are not for reading, by cause.
    pub passed_over: BTreeMap<String, Tally>,
    /// How to read it. Its limits are those of the parameters, whatever it says.
    pub settings: Settings,
    /// How pages become text and chunks.
    pub parameters: Parameters,
    /// Whether the inputs are added to a corpus that is there.
    pub add: bool,
    /// Whether the corpus goes when the command ends that makes it: texts are not compressed then, and nothing waits for the disk.
    /// Checksums are computed as ever: they are what findings are known by.
    pub passing: bool,
    /// How many threads work.
    pub threads: usize,
    /// How much memory they may use together.
    pub memory: u64,
    /// Who watches.
    pub progress: &'a Progress,
}

/// What a build did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// What this run read and kept, the parts of a resumed run that were there before included.
    pub counts: Counts,
    /// Files in the given folders that are not for reading, by cause.
    pub passed_over: BTreeMap<String, Tally>,
    /// Pages that were there before because an earlier run was broken off.
    pub resumed_pages: u64,
    /// Size of the corpus on disk.
    pub corpus_bytes: u64,
}

/// How many batches may exist at once.
fn in_flight(threads: usize, memory: u64, largest_page: u64) -> usize {
    let batch = BATCH_MEMORY.saturating_add(largest_page.saturating_mul(PAGE_COPIES));
    let affordable = usize::try_from(memory / batch).unwrap_or(usize::MAX);
    affordable.clamp(1, threads * 2)
}

/// How many threads should inflate ahead of each reader, so that none waits for it: none where there are enough files to
/// read side by side, some where many threads work on one.
fn helpers(threads: usize, tasks: usize, memory: u64) -> usize {
    let readers = tasks.clamp(1, threads.max(1));
    let wanted = threads.div_ceil(readers * FED_BY_ONE).saturating_sub(1);
    let affordable = memory / 8 / (HELPER_MEMORY * readers as u64);
    wanted.min(usize::try_from(affordable).unwrap_or(usize::MAX))
}

impl Build<'_> {
    /// Builds, resumes or extends the corpus.
    ///
    /// `build(inputs, threads = 1) ≡ build(inputs, threads = n)`, byte for byte, and a build that was
    /// killed at any moment and run again ends with the same bytes as one that was not.
    pub fn run(mut self) -> Result<Built> {
        self.settings.limits = (&self.parameters.limits).into();
        let tasks = plan(&self.inputs, self.parameters.part_bytes / 2);
        self.settings.helpers = helpers(self.threads, tasks.len(), self.memory);
        let Begun {
            site,
            manifest,
            run,
        } = Site::begin(&self, tasks.len())?;
        let resumed_pages = counts_of(&manifest, run).pages;
        self.progress
            .set_total_bytes(self.inputs.iter().filter_map(|input| input.bytes).sum());

        let outcome = self.work(&site, manifest, run, tasks);
        site.clear_unfinished()?;
        let mut committed = Manifest::load(site.path())?;
        let counts = counts_of(&committed, run);
        // A run that came to nothing leaves nothing behind.
        if counts.pages == 0 {
            match run {
                0 => site.remove(),
                _ => site.forget_run(&mut committed, run)?,
            }
        }
        outcome?;
        if counts.pages == 0 {
            return Err(Error::NoPages(why_no_pages(&counts, self.inputs.len())));
        }
        let corpus_bytes = committed.bytes_on_disk();
        Ok(Built {
            counts,
            passed_over: self.passed_over,
            resumed_pages,
            corpus_bytes,
        })
    }

    /// Whether the corpus is there already, complete and made in this way from these inputs. It is an error if it is there and was
    /// made otherwise; one that is unfinished is for [`Build::run`] to judge.
    pub fn is_done(&self) -> Result<bool> {
        Site::is_done(self)
    }

    /// Runs all tasks and marks the run as complete.
    fn work(
        &self,
        site: &Site,
        manifest: Manifest,
        run: usize,
        tasks: Vec<Range<usize>>,
    ) -> Result<()> {
        let encoder = Encoder::new(self.passing)?;
        let first_input = manifest.runs[run].first_input;
        let first_task = manifest.runs[run].first_task;
        let shared = Shared {
            build: self,
            site,
            encoder: &encoder,
            first_input,
            waiting: Mutex::new(VecDeque::new()),
            active: Mutex::new(Vec::new()),
            permits: Permits::new(in_flight(
                self.threads,
                self.memory,
                self.settings.limits.max_page_bytes,
            )),
            failure: Mutex::new(None),
            manifest: Mutex::new(manifest),
        };
        let slots: Vec<TaskSlot<'_>> = {
            let manifest = lock(&shared.manifest);
            tasks
                .into_iter()
                .enumerate()
                .map(|(index, inputs)| {
                    TaskSlot::new(
                        self,
                        &manifest,
                        first_input,
                        first_task + index as u32,
                        inputs,
                    )
                })
                .collect()
        };
        lock(&shared.waiting).extend(&slots);
        std::thread::scope(|scope| {
            // Spawned threads are one fewer than asked for: this one works too.
            for _ in 1..self.threads.max(1) {
                scope.spawn(|| shared.work());
            }
            shared.work();
        });
        if let Some(error) = lock(&shared.failure).take() {
            return Err(error);
        }
        if self.progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let mut manifest = shared
            .manifest
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if counts_of(&manifest, run).pages > 0 {
            manifest.runs[run].complete = true;
            manifest.save(site.path())?;
        }
        Ok(())
    }
}

/// Sums over the parts of one run.
fn counts_of(manifest: &Manifest, run: usize) -> Counts {
    let run = &manifest.runs[run];
    let tasks = run.first_task..run.first_task + run.tasks;
    let mut counts = Counts::default();
    for part in manifest
        .parts
        .iter()
        .filter(|part| tasks.contains(&part.task))
    {
        counts.add(&part.counts);
    }
    counts
}

/// Why nothing came of the input, as the end of a sentence.
fn why_no_pages(counts: &Counts, inputs: usize) -> String {
    let (files, them) = if inputs == 1 {
        ("file", "it")
    } else {
        ("files", "them")
    };
    let mut why = format!(": {inputs} {files} read");
    match counts.damaged.iter().next() {
        Some((cause, tally)) => {
            why.push_str(&format!(", {} × {cause} ({})", tally.count, tally.example));
        }
        None if counts.other_records > 0 => {
            why.push_str(&format!(
                ", {} records, none of them a page",
                counts.other_records
            ));
        }
        None => why.push_str(&format!(", nothing in {them}")),
    }
    why
}

/// What the threads of a build share.
struct Shared<'run> {
    build: &'run Build<'run>,
    site: &'run Site,
    encoder: &'run Encoder,
    first_input: u32,
    waiting: Mutex<VecDeque<&'run TaskSlot<'run>>>,
    active: Mutex<Vec<&'run TaskSlot<'run>>>,
    permits: Permits,
    failure: Mutex<Option<Error>>,
    manifest: Mutex<Manifest>,
}

impl<'run> Shared<'run> {
    /// One thread's work, from its first batch to the last of all.
    fn work(&self) {
        if let Err(error) = self.try_work() {
            lock(&self.failure).get_or_insert(error);
            // Threads that wait for a permit must see the failure.
            self.permits.release();
        }
    }

    fn try_work(&self) -> Result<()> {
        let build = self.build;
        let mut worker = Worker::new(
            &build.parameters,
            &build.settings,
            &build.inputs,
            self.first_input,
            self.encoder,
        );
        let mut own = None;
        loop {
            let permit = self.permits.acquire();
            if build.progress.is_cancelled() || lock(&self.failure).is_some() {
                return Ok(());
            }
            let Some((task, batch)) = self.next_batch(&mut own)? else {
                return Ok(());
            };
            let sequence = batch.sequence;
            let pages = batch.records.len() as u64;
            let encoded = worker.process(batch)?;
            build.progress.add_pages(pages);
            // The permit goes with the batch: it is given back when the batch is on disk.
            task.submit(self, sequence, encoded, permit)?;
        }
    }

    /// The next batch of the thread's own task, of a task nobody has begun, or of anyone's.
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

    fn read(&self, task: &'run TaskSlot<'run>) -> Result<Option<Batch>> {
        let mut reader = lock(&task.reader);
        let Some(open) = reader.as_mut() else {
            self.retire(task);
            return Ok(None);
        };
        match open.next_batch()? {
            Some(batch) => {
                task.writer_note_batch();
                Ok(Some(batch))
            }
            None => {
                *reader = None;
                drop(reader);
                self.retire(task);
                task.end(self)?;
                Ok(None)
            }
        }
    }

    fn retire(&self, task: &'run TaskSlot<'run>) {
        lock(&self.active).retain(|other| !std::ptr::eq(*other, task));
    }
}

/// A task while it waits, runs and ends.
struct TaskSlot<'run> {
    number: u32,
    /// None once it has nothing more to give.
    reader: Mutex<Option<TaskReader<'run>>>,
    writer: Mutex<TaskWriter>,
}

/// Puts the batches of a task in order and into parts.
struct TaskWriter {
    /// The part that is open.
    part: Option<PartWriter>,
    next_part: u32,
    /// Batches that were given out, and batches that are written.
    given: u64,
    written: u64,
    /// Whether there are no more to come.
    ended: bool,
    /// Batches that came before their turn.
    early: BTreeMap<u64, EncodedBatch>,
}

impl<'run> TaskSlot<'run> {
    fn new(
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
            writer: Mutex::new(TaskWriter {
                part: None,
                next_part: last.map_or(0, |part| part.sequence + 1),
                given: 0,
                written: 0,
                ended: done,
                early: BTreeMap::new(),
            }),
        }
    }

    fn writer_note_batch(&self) {
        lock(&self.writer).given += 1;
    }

    /// Takes a finished batch; writes it, and those that waited for it, when its turn has come.
    fn submit(
        &self,
        shared: &Shared<'_>,
        sequence: u64,
        batch: EncodedBatch,
        permit: Permit<'_>,
    ) -> Result<()> {
        permit.keep();
        let mut writer = lock(&self.writer);
        writer.early.insert(sequence, batch);
        loop {
            let turn = writer.written;
            let Some(batch) = writer.early.remove(&turn) else {
                break;
            };
            self.write(shared, &mut writer, batch)?;
            writer.written += 1;
            shared.permits.release();
        }
        self.close_if_ended(shared, &mut writer)
    }

    /// Notes that the reader has nothing more.
    fn end(&self, shared: &Shared<'_>) -> Result<()> {
        let mut writer = lock(&self.writer);
        writer.ended = true;
        self.close_if_ended(shared, &mut writer)
    }

    fn write(
        &self,
        shared: &Shared<'_>,
        writer: &mut TaskWriter,
        batch: EncodedBatch,
    ) -> Result<()> {
        let build = shared.build;
        let next = batch.next;
        let mut part = match writer.part.take() {
            Some(part) => part,
            None => {
                let keep_text = build.parameters.text;
                PartWriter::create(
                    shared.site.path(),
                    self.number,
                    writer.next_part,
                    keep_text,
                    build.passing,
                )?
            }
        };
        part.append(batch)?;
        // Behind a batch without `next` there is nothing: the part is the task's last.
        if part.weight() >= build.parameters.part_bytes || next.is_none() {
            shared.commit(part.finish(next)?)?;
            writer.next_part += 1;
        } else {
            writer.part = Some(part);
        }
        Ok(())
    }

    fn close_if_ended(&self, shared: &Shared<'_>, writer: &mut TaskWriter) -> Result<()> {
        if writer.ended
            && writer.written == writer.given
            && let Some(part) = writer.part.take()
        {
            shared.commit(part.finish(None)?)?;
            writer.next_part += 1;
        }
        Ok(())
    }
}

impl Shared<'_> {
    fn commit(&self, part: crate::manifest::Part) -> Result<()> {
        self.site.sync_tables()?;
        let mut manifest = lock(&self.manifest);
        manifest.insert(part);
        manifest.save(self.site.path())
    }
}

/// A count of batches that may exist; waiting for one is what keeps memory in bounds.
struct Permits {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Permits {
    fn new(free: usize) -> Permits {
        Permits {
            free: Mutex::new(free),
            freed: Condvar::new(),
        }
    }

    fn acquire(&self) -> Permit<'_> {
        let mut free = lock(&self.free);
        while *free == 0 {
            free = self
                .freed
                .wait(free)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Permit { permits: self }
    }

    fn release(&self) {
        *lock(&self.free) += 1;
        self.freed.notify_all();
    }
}

/// Goes back when dropped, unless it is [kept](Permit::keep) for a batch that waits for its turn.
struct Permit<'a> {
    permits: &'a Permits,
}

impl Permit<'_> {
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.permits.release();
    }
}

/// A thread that panicked left nothing half-done behind these locks: the batch it was at is lost, and the
/// scope that joins it passes the panic on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_given_where_many_threads_share_few_files() {
        let plenty = 64 << 30;
        assert_eq!(helpers(2, 1, plenty), 0);
        assert_eq!(helpers(7, 1, plenty), 0);
        assert_eq!(helpers(16, 1, plenty), 2);
        assert_eq!(helpers(64, 1, plenty), 9);
        assert_eq!(helpers(64, 4, plenty), 2);
        assert_eq!(helpers(64, 1000, plenty), 0);
        assert_eq!(helpers(64, 1, 512 << 20), 1);
        assert_eq!(helpers(64, 0, plenty), 9);
    }
}
