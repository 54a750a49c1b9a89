//! Splitting the inputs of a run into tasks, and the records of a task into batches.
//!
//! The boundaries of tasks, batches and parts depend on the inputs and the parameters alone, never
//! on the number of threads or on timing. That is why tables have the same bytes on any machine,
//! and why a resumed run ends like an uninterrupted one.

use std::ops::Range;

use cento_read::{Input, Item, Reader, Record, Settings, Start};

use crate::error::Result;
use crate::manifest::{Counts, Cursor, Tally};
use crate::parameters::Parameters;
use crate::progress::Progress;

/// Bytes of record bodies after which a batch is full. A batch is one row group and is in memory as
/// a whole: small enough that a dozen threads fit in a gigabyte, large enough for DuckDB to scan
/// efficiently. Parts end where batches end, so batches are smaller where parts are small.
const BATCH_BYTES: u64 = 16 << 20;
/// Records after which a batch is full, regardless of their size.
const BATCH_RECORDS: usize = 1 << 15;

/// The cause under which inputs are counted that cannot be opened or read to the end.
const UNREADABLE: &str = "unreadable";

/// The end of the name of an input on which a reader panics, in tests.
#[cfg(test)]
pub(crate) const PANICKING_INPUT: &str = "panicking.jsonl";

/// Whether an error ends the run: one about the settings or the network rather than about one
/// input. An input without text is counted and skipped, because folders contain all sorts of files.
/// But without a network, a run that continues would skip all remaining inputs and call the result
/// a corpus.
fn ends_run(error: &cento_read::Error) -> bool {
    use cento_read::Error;
    error.is_outage()
        || matches!(
            error,
            Error::NoSuchField { .. } | Error::WrongColumnType { .. } | Error::NeedsFile { .. }
        )
}

/// Splits the inputs of a run into tasks: ranges of positions in `inputs`.
///
/// Different tasks can be read by different threads. A large file is one task; small files share a
/// task until they reach `task_bytes`.
pub(crate) fn plan(inputs: &[Input], task_bytes: u64) -> Vec<Range<usize>> {
    let mut tasks = Vec::new();
    let mut begin = 0;
    let mut bytes = 0u64;
    for (position, input) in inputs.iter().enumerate() {
        // An input of unknown size may be large.
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

/// Records that are processed together, and counts of other records between them.
pub(crate) struct Batch {
    /// Its position among the batches of its task since the task was started or resumed.
    pub(crate) sequence: u64,
    /// The records, each with the position of its input in the run.
    pub(crate) records: Vec<(usize, Record)>,
    /// Counts of records, other records and damaged ones; the worker counts the rest.
    pub(crate) counts: Counts,
    /// The size of all record bodies.
    pub(crate) weight: u64,
    /// Where the next batch starts; `None` after the last record of the task.
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
    /// Positions of the inputs that are not open yet.
    remaining: Range<usize>,
    /// Where to start in the first of them.
    start: Start,
    current: Option<OpenInput>,
    sequence: u64,
}

/// An input that is being read.
struct OpenInput {
    /// Its position in the run.
    position: usize,
    reader: Reader,
    /// How much of `reader.bytes_read()` was reported.
    reported: u64,
}

impl<'run> TaskReader<'run> {
    /// A reader of `inputs[task]`, from the start or from `from`.
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
        // Finished inputs count as read, so that the progress bar starts where the last run
        // stopped.
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

    /// Reads the next batch; `None` at the end of the task.
    ///
    /// A batch ends after a page or at the end of the task, so that a reader can start where it
    /// ends.
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
                    batch
                        .counts
                        .add_damaged(&self.inputs[position].name, &skipped);
                }
                Ok(Some(Item::Ignored(_))) => {
                    batch.counts.records += 1;
                    batch.counts.other_records += 1;
                }
                Ok(None) => self.close(),
                Err(error) if ends_run(&error) => return Err(error.into()),
                Err(error) => {
                    Tally::add(&mut batch.counts.damaged, UNREADABLE, || error.to_string());
                    self.close();
                }
            }
        }
        self.sequence += 1;
        Ok(Some(batch))
    }

    /// Returns the current reader, or opens the next one. An input that cannot be opened is counted
    /// and skipped.
    fn open_next(&mut self, counts: &mut Counts) -> Result<Option<&mut OpenInput>> {
        while self.current.is_none() {
            let Some(position) = self.remaining.next() else {
                return Ok(None);
            };
            let start = std::mem::take(&mut self.start);
            #[cfg(test)]
            assert!(
                !self.inputs[position].name.ends_with(PANICKING_INPUT),
                "a test makes a reader panic"
            );
            match self.inputs[position].open(self.settings, start) {
                Ok(reader) => {
                    self.current = Some(OpenInput {
                        position,
                        reader,
                        reported: 0,
                    });
                }
                Err(error) if ends_run(&error) => return Err(error.into()),
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
            // A reader may leave a trailer unread; the progress bar should still reach its end.
            let bytes = self.inputs[open.position].bytes.unwrap_or(open.reported);
            self.progress.add_bytes(bytes.saturating_sub(open.reported));
        }
    }
}
