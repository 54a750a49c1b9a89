//! Building a corpus: who reads what, who writes what, and what is on disk at any moment.
//!
//! ```text
//!   inputs ─ plan ─▶ task 0 ── TaskReader ─▶ batches ─▶ Worker (any thread) ─▶ TaskWriter ─▶ parts ─▶ manifest
//!                    task 1 ── …
//! ```
//!
//! Each thread has a task of its own as long as there are tasks, so large files are read side by
//! side and no thread waits for another. When they run out, a thread helps with a task of another:
//! it takes the next batch from that task's reader and hands the result to that task's writer,
//! which puts batches back in order. At most [`in_flight`] batches exist at once, and that bounds
//! memory.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cento_read::{Input, Settings};

use crate::error::{Error, Result};
use crate::manifest::{Counts, Manifest, Tally};
use crate::parameters::Parameters;
use crate::part::{EncodedBatch, Encoder, PartWriter};
use crate::progress::Progress;
use crate::rows::Worker;
use crate::site::{Begun, Site};
use crate::task::{Batch, TaskReader, plan};

/// What a batch of small pages needs at most while it is worked on: the bodies of its records,
/// their text, their rows, and the same encoded.
const BATCH_MEMORY: u64 = 64 << 20;
/// How many times its own size the largest page needs on top of that: as it was read, decoded, as
/// text, selected, and in a column that may have grown to twice what it holds.
const PAGE_COPIES: u64 = 6;

/// How many threads process what one thread inflates: about 125 and 900 MB/s, each on one core.
const FED_BY_ONE: usize = 7;
/// How often a thread that waits for its turn looks whether the run has ended.
const NEWS: Duration = Duration::from_millis(100);
/// How many inputs a thread takes at a time to see whether they have changed.
const IDENTIFIED_AT_ONCE: usize = 64;
/// What one more thread that inflates ahead keeps in memory: two blocks of members at their
/// largest.
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
    /// Whether inputs that are in the corpus already are added once more.
    pub again: bool,
    /// Whether the corpus goes when the command ends that makes it: texts are not compressed then,
    /// and nothing waits for the disk. Checksums are computed as ever: they are what findings are
    /// known by.
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
    /// Inputs that were in the corpus already and were not added again, with the first of them.
    pub already: Option<Tally>,
    /// Size of the corpus on disk.
    pub corpus_bytes: u64,
}

/// How many batches may exist at once.
fn in_flight(threads: usize, memory: u64, largest_page: u64) -> usize {
    let batch = BATCH_MEMORY.saturating_add(largest_page.saturating_mul(PAGE_COPIES));
    let affordable = usize::try_from(memory / batch).unwrap_or(usize::MAX);
    affordable.clamp(1, threads * 2)
}

/// How many threads should inflate ahead of each reader, so that none waits for it: none where
/// there are enough files to read side by side, some where many threads work on one.
fn helpers(threads: usize, tasks: usize, memory: u64) -> usize {
    let readers = tasks.clamp(1, threads.max(1));
    let wanted = threads.div_ceil(readers * FED_BY_ONE).saturating_sub(1);
    let affordable = memory / 8 / (HELPER_MEMORY * readers as u64);
    wanted.min(usize::try_from(affordable).unwrap_or(usize::MAX))
}

impl Build<'_> {
    /// Builds, resumes or extends the corpus.
    ///
    /// `build(inputs, threads = 1) ≡ build(inputs, threads = n)`, byte for byte, and a build that
    /// was killed at any moment and run again ends with the same bytes as one that was not.
    pub fn run(mut self) -> Result<Built> {
        self.settings.limits = (&self.parameters.limits).into();
        self.identify();
        let already = self.leave_out_known()?;
        if self.inputs.is_empty() && already.is_some() {
            return Ok(Built {
                counts: Counts::default(),
                passed_over: self.passed_over,
                resumed_pages: 0,
                already,
                corpus_bytes: Manifest::load(&self.corpus)?.bytes_on_disk(),
            });
        }
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
            let inputs = self.inputs.len();
            return Err(Error::NoPages(why_no_pages(
                &counts,
                inputs,
                &self.passed_over,
            )));
        }
        let corpus_bytes = committed.bytes_on_disk();
        Ok(Built {
            counts,
            passed_over: self.passed_over,
            resumed_pages,
            already,
            corpus_bytes,
        })
    }

    /// Whether the corpus is there already, complete and made in this way from these inputs. It is
    /// an error if it is there and was made otherwise; one that is unfinished is for [`Build::run`]
    /// to judge.
    pub fn is_done(&mut self) -> Result<bool> {
        if !Site::is_complete(&self.corpus)? {
            return Ok(false);
        }
        self.identify();
        Site::is_done(self)
    }

    /// Notes of each input what tells that it has changed. Small files are read for that, so all
    /// threads take part.
    fn identify(&mut self) {
        // A corpus for one command is neither resumed nor added to.
        if self.passing {
            return;
        }
        let threads = self
            .threads
            .clamp(1, self.inputs.len().div_ceil(IDENTIFIED_AT_ONCE).max(1));
        let shares = Mutex::new(self.inputs.chunks_mut(IDENTIFIED_AT_ONCE));
        let identify = || {
            loop {
                let Some(inputs) = lock(&shares).next() else {
                    return;
                };
                inputs.iter_mut().for_each(Input::identify);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                let thread = std::thread::Builder::new();
                if thread.spawn_scoped(scope, identify).is_err() {
                    break;
                }
            }
            identify();
        });
    }

    /// Leaves out inputs that an earlier run has added, and answers how many these are.
    fn leave_out_known(&mut self) -> Result<Option<Tally>> {
        if !self.add || self.again {
            return Ok(None);
        }
        let known = Site::known_inputs(&self.corpus)?;
        let mut already: Option<Tally> = None;
        self.inputs.retain(|input| {
            if !known.has(input) {
                return true;
            }
            let tally = already.get_or_insert_with(|| Tally {
                count: 0,
                example: input.name.clone(),
            });
            tally.count += 1;
            false
        });
        Ok(already)
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
            // Spawned threads are one fewer than asked for: this one works too. Where the system
            // starts no more of them, those that there are do all the work.
            for _ in 1..self.threads.max(1) {
                let thread = std::thread::Builder::new();
                if thread.spawn_scoped(scope, || shared.work()).is_err() {
                    break;
                }
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

/// Why nothing came of the input, as the end of a sentence: every cause, with how often it was met
/// and an example.
fn why_no_pages(counts: &Counts, inputs: usize, passed_over: &BTreeMap<String, Tally>) -> String {
    let (files, them) = if inputs == 1 {
        ("file", "it")
    } else {
        ("files", "them")
    };
    let listed = |tallies: &BTreeMap<String, Tally>| -> Vec<String> {
        let causes = tallies.iter();
        causes
            .map(|(cause, tally)| format!("{} × {cause} ({})", tally.count, tally.example))
            .collect()
    };
    let mut why = listed(&counts.damaged);
    if counts.other_records > 0 {
        let records = match counts.other_records {
            1 => "1 record that is no page".to_owned(),
            count => format!("{count} records that are no pages"),
        };
        why.push(records);
    }
    if why.is_empty() {
        why.push(format!("nothing in {them}"));
    }
    let mut text = format!(": {inputs} {files} read, {}", why.join(", "));
    if !passed_over.is_empty() {
        text.push_str(&format!(
            "; passed over: {}",
            listed(passed_over).join(", ")
        ));
    }
    text
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
        // A batch that is lost to a panic is one that all batches behind it would wait for: it ends
        // the run, as any error does. What was shared stays sound, because parts are committed
        // whole and the manifest names no other.
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| self.try_work()));
        let error = match outcome {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(panic) => Error::Panicked(message_of(panic.as_ref())),
        };
        lock(&self.failure).get_or_insert(error);
        // Threads that wait for a permit must see the failure.
        self.permits.release();
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
            let encoded =
                worker.process(batch, |piece| task.submit_piece(self, sequence, piece))?;
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
    /// Told when the turn of another batch has come.
    turn: Condvar,
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
            turn: Condvar::new(),
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
        self.turn.notify_all();
        self.close_if_ended(shared, &mut writer)
    }

    /// Writes a piece of a batch that is too large to be held, once its turn has come. The batch
    /// whose turn it is never waits, so that this ends, unless the run does.
    fn submit_piece(&self, shared: &Shared<'_>, sequence: u64, piece: EncodedBatch) -> Result<()> {
        let mut writer = lock(&self.writer);
        while writer.written != sequence {
            if shared.build.progress.is_cancelled() || lock(&shared.failure).is_some() {
                return Err(Error::Cancelled);
            }
            // Whoever fails does not tell this task.
            writer = self
                .turn
                .wait_timeout(writer, NEWS)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        let mut part = self.part(shared, &mut writer)?;
        part.append(piece)?;
        writer.part = Some(part);
        Ok(())
    }

    /// The part that is open, or the next one.
    fn part(&self, shared: &Shared<'_>, writer: &mut TaskWriter) -> Result<PartWriter> {
        let build = shared.build;
        match writer.part.take() {
            Some(part) => Ok(part),
            None => PartWriter::create(
                shared.site.path(),
                self.number,
                writer.next_part,
                build.parameters.text,
                build.passing,
            ),
        }
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
        let mut part = self.part(shared, writer)?;
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

/// What a panic says.
fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a message").to_owned()
}

/// A thread that panicked left nothing half-done behind these locks: the batch it was at is lost,
/// and the run ends with an error.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_panics_ends_the_run_with_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pages.jsonl");
        let corpus = folder.path().join("pages.cento");
        let lines: String = (0..400)
            .map(|number| {
                let url = match number {
                    150 => crate::rows::PANICKING.to_owned(),
                    _ => format!("http://a/{number}"),
                };
                let text =
                    format!("page {number} has its own words and some more of them ").repeat(20);
                format!("{{\"url\": \"{url}\", \"text\": \"{text}\"}}\n")
            })
            .collect();
        std::fs::write(&file, lines).unwrap();
        let settings = Settings::default();
        let specs = [file.to_str().unwrap().to_owned()];
        let resolved = cento_read::resolve(&specs, &settings).unwrap();
        let build = Build {
            corpus: corpus.clone(),
            inputs: resolved.inputs,
            passed_over: BTreeMap::new(),
            settings,
            parameters: Parameters {
                part_bytes: 16 << 10,
                ..Parameters::default()
            },
            add: false,
            again: false,
            passing: false,
            threads: 4,
            memory: 64 << 20,
            progress: &Progress::default(),
        };
        // All batches behind the one that is lost would wait for it, and the run would never end.
        let error = build.run().unwrap_err();
        assert!(matches!(error, Error::Panicked(_)), "{error}");
        // What was finished before is kept, and nothing that contradicts itself.
        if let Ok(manifest) = Manifest::load(&corpus) {
            assert!(!manifest.complete());
        }
    }

    #[test]
    fn every_cause_of_an_empty_corpus_is_named() {
        let tally = |count, example: &str| Tally {
            count,
            example: example.to_owned(),
        };
        let counts = Counts {
            damaged: BTreeMap::from([
                ("bad-header".to_owned(), tally(2, "a.warc")),
                ("truncated".to_owned(), tally(1, "b.warc")),
            ]),
            other_records: 3,
            ..Counts::default()
        };
        let passed_over = BTreeMap::from([("binary".to_owned(), tally(4, "c.bin"))]);
        assert_eq!(
            why_no_pages(&counts, 2, &passed_over),
            ": 2 files read, 2 × bad-header (a.warc), 1 × truncated (b.warc), 3 records that are no pages; \
             passed over: 4 × binary (c.bin)"
        );
        assert_eq!(
            why_no_pages(&Counts::default(), 1, &BTreeMap::new()),
            ": 1 file read, nothing in it"
        );
    }

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
