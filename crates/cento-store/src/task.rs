//! Cutting the inputs of a run into tasks, and the records of a task into batches.
//!
//! Where tasks, batches and parts begin and end follows from the inputs and the parameters alone,
//! never from the number of threads or from time. That is why tables have the same bytes on any
//! machine, and why a resumed run ends like an unbroken one.

use std::ops::Range;

use cento_read::{Input, Item, Reader, Record, Settings, Start};

use crate::error::Result;
use crate::manifest::{Counts, Cursor, Tally};
use crate::parameters::Parameters;
use crate::progress::Progress;

/// Bytes of record bodies after which a batch is full. A batch is one row group, and is in memory
/// as a whole: small enough that a dozen threads fit in a gigabyte, large enough that DuckDB likes
/// to scan it. Parts end where batches end, so batches are smaller where parts are small.
const BATCH_BYTES: u64 = 16 << 20;
/// Records after which a batch is full, however small they are.
const BATCH_RECORDS: usize = 1 << 15;

/// The cause under which inputs are counted that could not be opened or read to their end.
const UNREADABLE: &str = "unreadable";

/// Whether an error is about what the user asked for, or about the network, rather than about one
/// input. An input that simply has no text in it is counted and passed over: folders hold all sorts
/// of things. But a run that goes on without a network passes over everything that is left, and
/// calls that a corpus.
fn stops(error: &cento_read::Error) -> bool {
    use cento_read::Error;
    error.is_outage()
        || matches!(
            error,
            Error::NoSuchField { .. } | Error::WrongColumnType { .. } | Error::NeedsFile { .. }
        )
}

/// A run's inputs in groups that are read one after the other: ranges of positions in `inputs`.
///
/// Groups are what several threads can read at the same time. A large file is a group of its own;
/// small files share one until they come to `task_bytes`.
pub(crate) fn plan(inputs: &[Input], task_bytes: u64) -> Vec<Range<usize>> {
    let mut tasks = Vec::new();
    let mut begin = 0;
    let mut bytes = 0u64;
    for (position, input) in inputs.iter().enumerate() {
        // What has no known size may be anything.
        bytes = bytes.saturating_add(input.bytes.unwrap_or(u64::MAX));
        if bytes >= task_bytes {
            tasks.push(begin..position + 1);
            begin = position + 1;
            bytes = 0;
        }
    }
    if begin < inputs.len() {
        tasks.push(begin..inputs.len());
    }
    tasks
}

/// Records to be processed together, and what was met between them.
pub(crate) struct Batch {
    /// Its place among the batches of its task since the task was begun or resumed.
    pub(crate) sequence: u64,
    /// Each with the position of its input in the run.
    pub(crate) records: Vec<(usize, Record)>,
    /// Records, other records and damage; the rest is for whoever processes the batch to count.
    pub(crate) counts: Counts,
    /// Bytes of bodies.
    pub(crate) weight: u64,
    /// Where reading goes on; none after the last record of the task.
    pub(crate) next: Option<Cursor>,
}

/// Reads the inputs of one task, record by record.
pub(crate) struct TaskReader<'run> {
    inputs: &'run [Input],
    settings: &'run Settings,
    progress: &'run Progress,
    batch_bytes: u64,
    /// The ordinal of the run's first input.
    first_input: u32,
    /// Positions of the task's inputs that are not begun yet.
    remaining: Range<usize>,
    /// Where in the first of them to begin.
    start: Start,
    current: Option<Open>,
    sequence: u64,
}

struct Open {
    position: usize,
    reader: Reader,
    /// What of `reader.bytes_read()` was reported.
    reported: u64,
}

impl<'run> TaskReader<'run> {
    /// A reader for `inputs[task]`, from `from` on or from the start.
    pub(crate) fn new(
        inputs: &'run [Input],
        task: Range<usize>,
        (settings, parameters): (&'run Settings, &Parameters),
        progress: &'run Progress,
        first_input: u32,
        from: Option<Cursor>,
    ) -> TaskReader<'run> {
        let (begin, start) = match from {
            None => (task.start, Start::default()),
            Some(cursor) => (
                (cursor.input.saturating_sub(first_input)) as usize,
                Start {
                    ordinal: cursor.record,
                    offset: cursor.offset,
                    skip: cursor.skip,
                },
            ),
        };
        // What is not read again counts as read, so that the bar begins where the last run stopped.
        let done: u64 = inputs[task.start..begin.clamp(task.start, task.end)]
            .iter()
            .filter_map(|input| input.bytes)
            .sum();
        progress.add_bytes(done);
        TaskReader {
            inputs,
            settings,
            progress,
            batch_bytes: BATCH_BYTES.min(parameters.part_bytes / 4),
            first_input,
            remaining: begin.clamp(task.start, task.end)..task.end,
            start,
            current: None,
            sequence: 0,
        }
    }

    /// The next batch; `None` at the end of the task.
    ///
    /// A batch ends behind a page or at the end of the task, so that the place where it ends is one
    /// at which a reader can start.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>> {
        let mut batch = Batch {
            sequence: self.sequence,
            records: Vec::new(),
            counts: Counts::default(),
            weight: 0,
            next: None,
        };
        loop {
            let Some(open) = self.open_next(&mut batch.counts)? else {
                if batch.counts.records == 0 && batch.counts.damaged.is_empty() {
                    return Ok(None);
                }
                break;
            };
            let position = open.position;
            match open.reader.next() {
                Ok(Some(Item::Record(record))) => {
                    batch.counts.records += 1;
                    batch.weight += record.bytes();
                    let next = record.place.next;
                    batch.records.push((position, record));
                    if batch.weight >= self.batch_bytes || batch.records.len() >= BATCH_RECORDS {
                        batch.next = Some(Cursor {
                            input: self.first_input + position as u32,
                            record: next.ordinal,
                            offset: next.offset,
                            skip: next.skip,
                        });
                        self.report();
                        break;
                    }
                }
                Ok(Some(Item::Skipped(skipped))) => {
                    batch.counts.records += 1;
                    batch.counts.damage(&self.inputs[position].name, &skipped);
                }
                Ok(Some(Item::Ignored(_))) => {
                    batch.counts.records += 1;
                    batch.counts.other_records += 1;
                }
                Ok(None) => self.close(),
                Err(error) if stops(&error) => return Err(error.into()),
                Err(error) => {
                    Tally::add(&mut batch.counts.damaged, UNREADABLE, || error.to_string());
                    self.close();
                }
            }
        }
        self.sequence += 1;
        Ok(Some(batch))
    }

    /// The reader that is open, or the next one; an input that cannot be opened is counted and
    /// passed.
    fn open_next(&mut self, counts: &mut Counts) -> Result<Option<&mut Open>> {
        while self.current.is_none() {
            let Some(position) = self.remaining.next() else {
                return Ok(None);
            };
            let start = std::mem::take(&mut self.start);
            match self.inputs[position].open(self.settings, start) {
                Ok(reader) => {
                    self.current = Some(Open {
                        position,
                        reader,
                        reported: 0,
                    });
                }
                Err(error) if stops(&error) => return Err(error.into()),
                Err(error) => {
                    Tally::add(&mut counts.damaged, UNREADABLE, || error.to_string());
                    self.progress
                        .add_bytes(self.inputs[position].bytes.unwrap_or(0));
                }
            }
        }
        Ok(self.current.as_mut())
    }

    fn report(&mut self) {
        if let Some(open) = &mut self.current {
            let read = open.reader.bytes_read();
            self.progress.add_bytes(read.saturating_sub(open.reported));
            open.reported = read.max(open.reported);
        }
    }

    fn close(&mut self) {
        self.report();
        if let Some(open) = self.current.take() {
            // A reader may leave a trailer unread; the bar should still come to its end.
            let bytes = self.inputs[open.position].bytes.unwrap_or(open.reported);
            self.progress.add_bytes(bytes.saturating_sub(open.reported));
        }
    }
}
