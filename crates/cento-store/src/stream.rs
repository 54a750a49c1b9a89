//! Pages of a stream, in order, processed on several threads.
//!
//! ```text
//!   reader thread ─▶ jobs, in order ─▶ workers: decode, extract, cut, `work` ─▶ results ─▶ next()
//!        ▲                                                                          in order │
//!        └───────────── waits while too many records or bytes are in flight ◀───────────────┘
//! ```
//!
//! A record goes through as soon as it has been read: nothing waits for a batch to be full. If
//! records arrive faster than they are processed, workers take several at a time, so that the cost
//! of passing them between threads is small even for short ones. Memory is bounded by the records
//! in flight: at most [`IN_FLIGHT`] of them, with a total of at most [`BYTES_IN_FLIGHT`] bytes or
//! one record.
//!
//! ```
//! use std::sync::Arc;
//! use cento_read::{Settings, Start, resolve};
//! use cento_store::Parameters;
//! use cento_store::stream::{PageStream, StreamItem, StreamStep};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("pages.jsonl");
//! std::fs::write(&path, "{\"url\": \"http://a.example/\", \"text\": \"One.\\n\\nTwo.\"}\n")?;
//! let settings = Settings::default();
//! let resolved = resolve(&[path.display().to_string()], &settings)?;
//! let reader = resolved.inputs[0].open(&settings, Start::default())?;
//! let mut stream = PageStream::start(
//!     reader,
//!     &settings,
//!     &Parameters::default(),
//!     2,
//!     || (),
//!     || |(): &(), page: &cento_store::PageContent<'_>| page.chunk_hashes().len(),
//! );
//! assert!(matches!(stream.next()?, StreamStep::Item(StreamItem::Page(2))));
//! assert!(matches!(stream.next()?, StreamStep::End));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use cento_read::{Ignored, Item, Reader, Record, Settings, Skipped};

use crate::error::{Error, Result};
use crate::page_text::{PageContent, PageTexts};
use crate::parameters::Parameters;

/// The most records that have been read and not yet been returned.
pub const IN_FLIGHT: usize = 1 << 10;
/// The most bytes of records that have been read and not yet been returned, unless it is one
/// record.
pub const BYTES_IN_FLIGHT: usize = 32 << 20;
/// The most records, and bytes of records, that a worker takes at a time.
const TAKEN: usize = 64;
const BYTES_TAKEN: usize = 64 << 10;

/// What a stream consists of.
#[derive(Debug)]
pub enum StreamItem<T> {
    /// A page, as the worker processed it.
    Page(T),
    /// A damaged record.
    Skipped(Skipped),
    /// A sound record without a page.
    Ignored(Ignored),
}

/// The next step of a stream.
#[derive(Debug)]
pub enum StreamStep<T> {
    /// The next item.
    Item(StreamItem<T>),
    /// The stream has ended.
    End,
    /// A [`StopHandle`] stopped it.
    Stopped,
}

/// Pages of a stream that are processed on several threads and returned in order. Dropping it ends
/// its threads, except one that is waiting for input.
pub struct PageStream<T> {
    shared: Arc<Shared<T>>,
    next: u64,
}

/// Stops a stream from another thread, even if it is waiting for input.
pub struct StopHandle(Box<dyn Fn() + Send>);

impl StopHandle {
    /// Stops the stream.
    pub fn stop(&self) {
        (self.0)();
    }
}

/// A record with its position in the stream and what the reader attached to it.
struct StreamedRecord<C> {
    number: u64,
    record: Record,
    attached: C,
}

struct Shared<T> {
    state: Mutex<Flight<T>>,
    /// Something for the reader, the workers or the caller has changed.
    room: Condvar,
    results: Condvar,
}

/// What is in flight.
struct Flight<T> {
    /// Results by position, with the memory of their records.
    results: BTreeMap<u64, (usize, StreamItem<T>)>,
    records: usize,
    bytes: usize,
    /// The number of items of the whole stream, once it has ended.
    total: Option<u64>,
    failed: Option<Error>,
    stopped: bool,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Flight<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, error: Error) {
        let mut state = self.lock();
        state.failed.get_or_insert(error);
        state.stopped = true;
        drop(state);
        self.room.notify_all();
        self.results.notify_all();
    }

    fn add(&self, results: impl IntoIterator<Item = (u64, usize, StreamItem<T>)>) {
        let mut state = self.lock();
        for (number, bytes, result) in results {
            state.results.insert(number, (bytes, result));
        }
        drop(state);
        self.results.notify_all();
    }

    /// Waits until another record may be read. Returns false if the stream was stopped.
    fn admit(&self, bytes: usize) -> bool {
        let mut state = self.lock();
        while !state.stopped
            && state.records > 0
            && (state.records >= IN_FLIGHT || state.bytes + bytes > BYTES_IN_FLIGHT)
        {
            state = self
                .room
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.records += 1;
        state.bytes += bytes;
        !state.stopped
    }
}

/// The records that wait for a worker.
struct JobQueue<C> {
    jobs: Mutex<(VecDeque<StreamedRecord<C>>, bool)>,
    changed: Condvar,
}

impl<C> JobQueue<C> {
    fn lock(&self) -> MutexGuard<'_, (VecDeque<StreamedRecord<C>>, bool)> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: StreamedRecord<C>) {
        self.lock().0.push_back(job);
        self.changed.notify_one();
    }

    fn close(&self) {
        self.lock().1 = true;
        self.changed.notify_all();
    }

    /// Waits for records and takes some of them, in order. Returns false after the last.
    fn take(&self, taken: &mut Vec<StreamedRecord<C>>) -> bool {
        let mut jobs = self.lock();
        while jobs.0.is_empty() && !jobs.1 {
            jobs = self
                .changed
                .wait(jobs)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let mut bytes = 0;
        while taken.len() < TAKEN
            && bytes < BYTES_TAKEN
            && let Some(job) = jobs.0.pop_front()
        {
            bytes += job.record.memory();
            taken.push(job);
        }
        !taken.is_empty()
    }
}

/// Fails the stream if its thread panics.
struct PanicGuard<T>(Arc<Shared<T>>, &'static str);

impl<T> Drop for PanicGuard<T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(Error::Internal(format!("{} panicked", self.1)));
        }
    }
}

impl<T: Send + 'static> PageStream<T> {
    /// Starts to read. `attach` is called by the reading thread for every record, in order; its
    /// result is passed to the worker. `make_worker` is called once on each of `threads` threads.
    pub fn start<C, F>(
        reader: Reader,
        settings: &Settings,
        parameters: &Parameters,
        threads: usize,
        attach: impl FnMut() -> C + Send + 'static,
        make_worker: impl Fn() -> F + Send + Sync + 'static,
    ) -> PageStream<T>
    where
        C: Send + 'static,
        F: FnMut(&C, &PageContent<'_>) -> T + 'static,
    {
        let shared = Arc::new(Shared {
            state: Mutex::new(Flight {
                results: BTreeMap::new(),
                records: 0,
                bytes: 0,
                total: None,
                failed: None,
                stopped: false,
            }),
            room: Condvar::new(),
            results: Condvar::new(),
        });
        let queue = Arc::new(JobQueue {
            jobs: Mutex::new((VecDeque::new(), false)),
            changed: Condvar::new(),
        });
        let make_worker = Arc::new(make_worker);
        for _ in 0..threads.max(1) {
            let (shared, queue) = (Arc::clone(&shared), Arc::clone(&queue));
            let make_worker = Arc::clone(&make_worker);
            let (settings, parameters) = (settings.clone(), parameters.clone());
            std::thread::spawn(move || {
                let guard = PanicGuard(Arc::clone(&shared), "a thread that extracts text");
                work(&shared, &queue, &settings, &parameters, make_worker());
                drop(guard);
            });
        }
        let (reading, mut attach) = (Arc::clone(&shared), attach);
        std::thread::spawn(move || {
            let guard = PanicGuard(Arc::clone(&reading), "the thread that reads the stream");
            read(reader, &reading, &queue, &mut attach);
            queue.close();
            drop(guard);
        });
        PageStream { shared, next: 0 }
    }

    /// Returns a handle that stops the stream.
    pub fn stop_handle(&self) -> StopHandle {
        let shared = Arc::clone(&self.shared);
        StopHandle(Box::new(move || {
            shared.lock().stopped = true;
            shared.room.notify_all();
            shared.results.notify_all();
        }))
    }

    /// Waits for the next item, in the order of the stream.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator of results cannot stop at an error"
    )]
    pub fn next(&mut self) -> Result<StreamStep<T>> {
        let mut state = self.shared.lock();
        loop {
            if let Some((bytes, item)) = state.results.remove(&self.next) {
                self.next += 1;
                state.records -= 1;
                state.bytes -= bytes;
                drop(state);
                self.shared.room.notify_all();
                return Ok(StreamStep::Item(item));
            }
            let ended = state.total == Some(self.next);
            // An error of the input follows the pages before it.
            if (ended || state.stopped)
                && let Some(error) = state.failed.take()
            {
                return Err(error);
            }
            if ended {
                return Ok(StreamStep::End);
            }
            if state.stopped {
                return Ok(StreamStep::Stopped);
            }
            state = self
                .shared
                .results
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether the next item is ready, so that [`next`](PageStream::next) does not wait.
    pub fn is_ready(&self) -> bool {
        self.shared.lock().results.contains_key(&self.next)
    }
}

impl<T> Drop for PageStream<T> {
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.room.notify_all();
    }
}

fn read<T, C>(
    mut reader: Reader,
    shared: &Shared<T>,
    queue: &JobQueue<C>,
    attach: &mut impl FnMut() -> C,
) {
    let mut number = 0;
    let failed = loop {
        let item = match reader.next() {
            Ok(Some(item)) => item,
            Ok(None) => break None,
            Err(error) => break Some(error.into()),
        };
        let bytes = match &item {
            Item::Record(record) => record.memory(),
            Item::Skipped(_) | Item::Ignored(_) => size_of::<Item>(),
        };
        if !shared.admit(bytes) {
            return;
        }
        match item {
            Item::Record(record) => queue.push(StreamedRecord {
                number,
                record,
                attached: attach(),
            }),
            Item::Skipped(skipped) => shared.add([(number, bytes, StreamItem::Skipped(skipped))]),
            Item::Ignored(ignored) => shared.add([(number, bytes, StreamItem::Ignored(ignored))]),
        }
        number += 1;
    };
    let mut state = shared.lock();
    state.total = Some(number);
    state.failed = state.failed.take().or(failed);
    drop(state);
    shared.results.notify_all();
}

fn work<T, C>(
    shared: &Shared<T>,
    queue: &JobQueue<C>,
    settings: &Settings,
    parameters: &Parameters,
    mut process: impl FnMut(&C, &PageContent<'_>) -> T,
) {
    let mut texts = PageTexts::new(parameters);
    let mut jobs = Vec::new();
    let mut results = Vec::new();
    while queue.take(&mut jobs) {
        for job in jobs.drain(..) {
            let bytes = job.record.memory();
            let result = match cento_read::decode(job.record, settings) {
                Ok(decoded) => {
                    StreamItem::Page(texts.page(decoded, |page| process(&job.attached, page)))
                }
                Err(skipped) => StreamItem::Skipped(skipped),
            };
            results.push((job.number, bytes, result));
        }
        shared.add(results.drain(..));
        if shared.lock().stopped {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use cento_read::{Start, resolve};

    use super::*;
    use crate::{Build, Corpus, Projection, pages, projection};

    projection! {
        /// What is compared.
        struct Indexed of pages { url, chunks, reject }
    }

    fn stream(
        path: &std::path::Path,
        threads: usize,
    ) -> PageStream<(String, usize, Option<String>)> {
        let settings = Settings::default();
        let resolved = resolve(&[path.display().to_string()], &settings).unwrap();
        let reader = resolved.inputs[0]
            .open(&settings, Start::default())
            .unwrap();
        let parameters = Parameters::default();
        PageStream::start(
            reader,
            &settings,
            &parameters,
            threads,
            || (),
            || {
                |(): &(), page: &PageContent<'_>| {
                    let reject = page.reject.map(|(reason, _)| reason.to_owned());
                    (page.page.url.clone(), page.chunk_hashes().len(), reject)
                }
            },
        )
    }

    #[test]
    fn a_stream_has_the_pages_of_an_index_in_the_order_of_the_input() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pages.jsonl");
        let mut lines = String::new();
        for number in 0..3_000 {
            let text = "A paragraph.\n\n".repeat(number % 7);
            lines.push_str(&format!(
                "{{\"url\": \"http://a.example/{number}\", \"text\": {}}}\n",
                serde_json::to_string(&text).unwrap()
            ));
            if number % 100 == 0 {
                lines.push_str("garbage\n\n");
            }
        }
        std::fs::write(&path, lines).unwrap();
        let settings = Settings::default();
        let inputs = resolve(&[path.display().to_string()], &settings)
            .unwrap()
            .inputs;
        let corpus = folder.path().join("c.cento");
        Build::new(inputs, &corpus).run().unwrap();
        let mut expected = Vec::new();
        for batch in Corpus::open(&corpus).unwrap().scan::<Indexed>() {
            let batch = batch.unwrap();
            for row in 0..batch.rows() {
                expected.push((
                    batch.url.value(row).to_owned(),
                    batch.chunks.value(row) as usize,
                    batch.reject.value(row).map(str::to_owned),
                ));
            }
        }
        assert_eq!(expected.len(), 3_000);
        for threads in [1, 3] {
            let mut stream = stream(&path, threads);
            let (mut found, mut skipped) = (Vec::new(), 0);
            loop {
                match stream.next().unwrap() {
                    StreamStep::Item(StreamItem::Page(page)) => found.push(page),
                    StreamStep::Item(StreamItem::Skipped(_)) => skipped += 1,
                    StreamStep::Item(StreamItem::Ignored(_)) => {}
                    StreamStep::End => break,
                    StreamStep::Stopped => panic!("nobody stopped it"),
                }
            }
            assert_eq!(found, expected);
            assert_eq!(skipped, 30);
        }
    }

    #[test]
    fn a_stopped_stream_does_not_wait_and_a_panic_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pages.jsonl");
        std::fs::write(&path, "{\"text\": \"One.\"}\n".repeat(5_000)).unwrap();
        let mut stopped = stream(&path, 2);
        stopped.stop_handle().stop();
        let ended = (0..5_001).any(|_| matches!(stopped.next(), Ok(StreamStep::Stopped)));
        assert!(ended);

        let settings = Settings::default();
        let resolved = resolve(&[path.display().to_string()], &settings).unwrap();
        let reader = resolved.inputs[0]
            .open(&settings, Start::default())
            .unwrap();
        let parameters = Parameters::default();
        let mut failing: PageStream<()> = PageStream::start(
            reader,
            &settings,
            &parameters,
            2,
            || (),
            || |(): &(), _: &PageContent<'_>| panic!("a test makes a worker panic"),
        );
        assert!(matches!(failing.next(), Err(Error::Internal(_))));
    }
}
