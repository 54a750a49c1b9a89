//! Running single tasks: the building blocks of a cluster runner.
//!
//! ```text
//!   run_map(flow, stage, 3) ──▶ one buffer per partition ─┐ moved by
//!   run_map(flow, stage, 4) ──▶ one buffer per partition ─┴─ the cluster ─▶ run_reduce(flow, …)
//! ```
//!
//! The functions and the tables are the same as in a local run; the cluster only moves buffers. A
//! task keeps to the memory that it was given:
//!
//! ```text
//!   ├── states without a view ──┼── output ──┼── sorting ──┼── everything else ──┤
//!                                 a quarter     a quarter     a half of the rest
//! ```
//!
//! A partition that exceeds its share is sorted on disk, and so is output that exceeds its share,
//! from where [`TaskRows::read`] returns it one partition at a time. Input and the states that a
//! task reads are the caller's: on a cluster they are in memory that all processes of a machine
//! share.
//!
//! A state travels as one of these, and nothing at all is an empty state:
//!
//! ```text
//!   C runs …     compact: what a task has written
//!   D bytes …    as State::write has written it, so that State::view can read it where it is
//!   V bytes …    as State::write_view has written it: tasks can read it, but not merge it
//! ```

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;

use crate::assemble::{TableReport, TableSource, write_table};
use crate::budget::{Lease, MemoryBudget, Shares};
use crate::compact::{CompactReader, CompactWriter};
use crate::context::Context;
use crate::error::{Error, Result, StageError};
use crate::flow::{Flow, Stage, StageInput, StateSpec};
use crate::progress::Progress;
use crate::registry::{Registry, RowSource};
use crate::sink::{Placement, RunResources, TaskSink};
use crate::spill::TaskFile;
use crate::state::{AnyState, LeasedState, States};
use crate::task_output::TaskOutput;

/// The first byte of a state that was compacted.
const COMPACT: u8 = b'C';
/// The first byte of a state that was not.
const DENSE: u8 = b'D';
/// The first byte of a state that can only be read.
const VIEW: u8 = b'V';
/// An empty state has at most this many bytes when it is compact.
const SMALL: u64 = 64;

/// The memory of a single task, its folder, and the switch that cancels it.
#[derive(Debug, Clone)]
pub struct TaskLimits {
    /// Bytes of memory for everything that the task holds, including the states that it reads and
    /// that have no view, but not its input.
    pub memory: u64,
    /// How many of these bytes its output may occupy when it has ended. The rest is in a file.
    pub output: u64,
    /// The folder for temporary files.
    pub temp: PathBuf,
    /// Cancels the task.
    pub progress: Arc<Progress>,
}

/// What a running task uses, and the share of memory that its threads always have.
struct TaskResources {
    resources: RunResources,
    _shares: Lease,
}

impl TaskLimits {
    /// Divides what `fixed` bytes of states leave.
    fn resources(&self, fixed: u64) -> Result<TaskResources> {
        let least = MemoryBudget::MINIMUM_PER_THREAD;
        if self.memory < fixed.saturating_add(least) {
            return Err(Error::TooLittleMemory {
                limit: self.memory,
                needed: fixed.saturating_add(least),
                reason: format!(" for a task with {fixed} bytes of states"),
            });
        }
        let budget = MemoryBudget::new(self.memory - fixed, 1)?;
        let shares = Shares::new(&budget, 1);
        Ok(TaskResources {
            _shares: budget.take(shares.task + shares.sort, "the shares of the thread")?,
            resources: RunResources {
                shares,
                budget,
                progress: Arc::clone(&self.progress),
                folder: self.temp.clone(),
            },
        })
    }
}

/// The output of a single task: rows in memory or in a temporary file, states and counters.
pub struct TaskRows {
    output: TaskOutput,
    states: BTreeMap<String, SentState>,
}

/// What a state is sent for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateUse {
    /// To be merged with others.
    Merge,
    /// To be read by tasks where it is, and merged with what later stages write.
    ReadAndMerge,
    /// To be read by tasks where it is. This is smaller.
    Read,
}

/// A state that is sent. It is serialised into a buffer of the caller, since a filter has hundreds
/// of megabytes.
pub struct SentState {
    leased: LeasedState,
    /// The first byte, which says how the state is serialised.
    form: u8,
    bytes: u64,
}

impl SentState {
    fn new(name: &str, leased: LeasedState, used_for: StateUse) -> Result<SentState> {
        let mut sent = SentState {
            leased,
            form: match used_for {
                StateUse::Merge | StateUse::ReadAndMerge => DENSE,
                StateUse::Read => VIEW,
            },
            bytes: 0,
        };
        sent.bytes = sent.measured(name)?;
        if used_for == StateUse::Merge {
            let dense = sent.bytes;
            sent.form = COMPACT;
            sent.bytes = sent.measured(name)?;
            // Compacting costs several times as much as copying.
            if sent.bytes > dense / 2 + SMALL {
                (sent.form, sent.bytes) = (DENSE, dense);
            }
        }
        Ok(sent)
    }

    fn measured(&self, name: &str) -> Result<u64> {
        let mut counted = CountedBytes(0);
        self.serialise(&mut counted)
            .map_err(|error| Error::io(name.as_ref(), error))?;
        Ok(counted.0)
    }

    fn serialise(&self, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(&[self.form])?;
        let state = self.leased.state.as_ref();
        match self.form {
            COMPACT => {
                let mut writer = CompactWriter::new(output);
                state.write(&mut writer)?;
                writer.finish().map(|_| ())
            }
            VIEW => state.write_view(output),
            _ => state.write(output),
        }
    }

    /// The size of the serialised state in bytes.
    pub fn size(&self) -> u64 {
        self.bytes
    }

    /// Serialises the state into a buffer of its [size](SentState::size).
    pub fn write(&self, mut buffer: &mut [u8]) -> Result<()> {
        self.serialise(&mut buffer)
            .map_err(|error| Error::InvalidFlow(format!("a state cannot be sent: {error}")))
    }

    /// Serialises the state.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.bytes as usize];
        self.write(&mut bytes)?;
        Ok(bytes)
    }
}

/// Counts the bytes that are written to it.
struct CountedBytes(u64);

impl Write for CountedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TaskRows {
    /// The number of rows for each shuffle and table that the task has written to.
    pub fn rows(&self) -> BTreeMap<String, u64> {
        let ports = self.output.ports.iter();
        ports
            .map(|(name, port)| (name.clone(), port.rows))
            .collect()
    }

    /// The counters of the task. An iteration ends after a round in which the sum over all tasks is
    /// zero.
    pub fn counters(&self) -> &BTreeMap<String, u64> {
        &self.output.counters
    }

    /// For each state that the stage writes, the state of this task. [`Registry::merge_states`]
    /// merges those of all tasks.
    pub fn states(&self) -> &BTreeMap<String, SentState> {
        &self.states
    }

    /// Bytes of memory that the rows occupy, as long as this exists.
    pub fn memory(&self) -> u64 {
        let leases = self
            .output
            .ports
            .values()
            .filter_map(|port| port.lease.as_ref());
        leases.map(Lease::bytes).sum()
    }

    /// The size of a partition of a shuffle in bytes. A table has one partition.
    pub fn size(&self, name: &str, partition: usize) -> Result<u64> {
        let Some(port) = self.output.ports.get(name) else {
            return Ok(0);
        };
        let Some(file) = self.file() else {
            let chunks = port.chunks.iter();
            let sizes = chunks.map(|chunk| chunk.partition(partition).len() as u64);
            return Ok(sizes.sum());
        };
        let ranges = file.ranges(name, partition)?;
        Ok(ranges.iter().map(|range| range.bytes).sum())
    }

    /// Copies the rows of one partition of a shuffle, in no particular order, or those of a table.
    /// The buffer has the [size](TaskRows::size) of the partition.
    pub fn read(&self, name: &str, partition: usize, buffer: &mut [u8]) -> Result<()> {
        let Some(port) = self.output.ports.get(name) else {
            return Ok(());
        };
        let mismatch = || Error::InvalidFlow(format!("a buffer for `{name}` is too small"));
        let mut rest = buffer;
        let Some(file) = self.file() else {
            for chunk in &port.chunks {
                let rows = chunk.partition(partition);
                let (now, later) = rest.split_at_mut_checked(rows.len()).ok_or_else(mismatch)?;
                now.copy_from_slice(rows);
                rest = later;
            }
            return Ok(());
        };
        for range in &file.ranges(name, partition)? {
            let bytes = range.bytes as usize;
            let (now, later) = rest.split_at_mut_checked(bytes).ok_or_else(mismatch)?;
            file.read(range, now)?;
            rest = later;
        }
        Ok(())
    }

    /// The file with the rows, unless they are in memory.
    fn file(&self) -> Option<&TaskFile> {
        match self.output.in_memory {
            true => None,
            false => self.output.file.as_deref(),
        }
    }
}

impl Registry {
    /// Runs one task of a map. `states` are the states that the stage reads, as returned by
    /// [`Registry::merge_states`].
    pub fn run_map(
        &self,
        flow: &Flow,
        stage: &str,
        task: usize,
        states: &BTreeMap<String, Bytes>,
        limits: &TaskLimits,
    ) -> Result<TaskRows> {
        self.check(flow)?;
        let mut written = States::default();
        let mut rows = self.run_map_task(flow, stage, task, states, limits, &mut written)?;
        rows.states = self.sent_states(flow, written)?;
        Ok(rows)
    }

    /// Runs several tasks of a map, one after the other. They write to the same states, as the
    /// threads of a local run do, so that a large filter is created and sent once for all of them:
    /// the last of the results has the states. `limits` are for all tasks together.
    pub fn run_maps(
        &self,
        flow: &Flow,
        stage: &str,
        tasks: &[usize],
        states: &BTreeMap<String, Bytes>,
        limits: &TaskLimits,
    ) -> Result<Vec<TaskRows>> {
        self.check(flow)?;
        let mut written = States::default();
        let mut done: Vec<TaskRows> = Vec::with_capacity(tasks.len());
        let mut held = 0;
        for &task in tasks {
            let limits = TaskLimits {
                memory: limits.memory.saturating_sub(held),
                output: limits.output.saturating_sub(held),
                ..limits.clone()
            };
            let rows = self.run_map_task(flow, stage, task, states, &limits, &mut written)?;
            held += rows.memory();
            done.push(rows);
        }
        if let Some(last) = done.last_mut() {
            last.states = self.sent_states(flow, written)?;
        }
        Ok(done)
    }

    fn run_map_task(
        &self,
        flow: &Flow,
        stage: &str,
        task: usize,
        states: &BTreeMap<String, Bytes>,
        limits: &TaskLimits,
        written: &mut States,
    ) -> Result<TaskRows> {
        match &flow.find(stage)?.input {
            StageInput::Tasks(tasks) if task < tasks.len() => {}
            StageInput::Tasks(tasks) => {
                return Err(Error::InvalidFlow(format!(
                    "`{stage}` has {} tasks, but task {task} was requested",
                    tasks.len()
                )));
            }
            StageInput::Shuffle(_) => {
                return Err(Error::InvalidFlow(format!(
                    "`{stage}` is a reduce, not a map"
                )));
            }
        }
        let source = RowSource::Tasks(&[]);
        self.run_one(flow, stage, task, source, states, limits, written)
    }

    /// Runs a reduce over one partition. `buffers` are the buffers of this partition from all tasks
    /// that wrote to the shuffle, in any order.
    pub fn run_reduce(
        &self,
        flow: &Flow,
        stage: &str,
        partition: usize,
        buffers: &[&[u8]],
        states: &BTreeMap<String, Bytes>,
        limits: &TaskLimits,
    ) -> Result<TaskRows> {
        match &flow.find(stage)?.input {
            StageInput::Shuffle(name) => {
                let partitions = flow
                    .shuffles
                    .get(name)
                    .map_or(0, |shuffle| shuffle.partitions as usize);
                if partition >= partitions {
                    return Err(Error::InvalidFlow(format!(
                        "`{name}` has {partitions} partitions, but partition {partition} was requested"
                    )));
                }
            }
            StageInput::Tasks(_) => {
                return Err(Error::InvalidFlow(format!(
                    "`{stage}` is a map, not a reduce"
                )));
            }
        }
        self.check(flow)?;
        let source = RowSource::Buffers(buffers);
        let mut written = States::default();
        let mut rows =
            self.run_one(flow, stage, partition, source, states, limits, &mut written)?;
        rows.states = self.sent_states(flow, written)?;
        Ok(rows)
    }

    /// Runs a task. Its rows have no states: those that it has written to are in `written`, where
    /// it also finds those of earlier tasks.
    #[expect(
        clippy::too_many_arguments,
        reason = "the arguments of a task, and its states"
    )]
    fn run_one(
        &self,
        flow: &Flow,
        stage: &str,
        task: usize,
        source: RowSource<'_>,
        saved: &BTreeMap<String, Bytes>,
        limits: &TaskLimits,
        written: &mut States,
    ) -> Result<TaskRows> {
        let stage = flow.find(stage)?;
        let used = limits.resources(self.state_memory(flow, stage))?;
        let resources = &used.resources;
        // Their memory is subtracted already.
        let unlimited = MemoryBudget::new(u64::MAX, 1)?;
        let mut states = States::default();
        for name in stage.reads.iter().chain(&stage.writes) {
            let Some(spec) = flow.states.get(name) else {
                continue;
            };
            let writes = stage.writes.contains(name);
            let leased = match written.0.get(name) {
                Some(earlier) => earlier.clone(),
                None => {
                    let saved = match stage.reads.contains(name) {
                        true => saved.get(name).filter(|bytes| !bytes.is_empty()),
                        false => None,
                    };
                    self.task_state(name, spec, saved, writes, &unlimited)
                        .map_err(|error| Error::from_stage(&stage.name, task, error))?
                }
            };
            if writes {
                written.0.insert(name.clone(), leased.clone());
            }
            states.0.insert(name.clone(), leased);
        }
        let sink = TaskSink::new(resources, None);
        let context = Context::new(flow, stage, task, &states, Rc::clone(&sink));
        self.call(&context, flow, source, resources)?;
        let placement = match sink.bytes() <= limits.output {
            true => Placement::Memory,
            false => Placement::UnnamedFile,
        };
        let output = context.finish(placement)?;
        Ok(TaskRows {
            output,
            states: BTreeMap::new(),
        })
    }

    /// Returns the states that tasks have written to. Most tasks write to few of the states of
    /// their stage; the others are left out.
    fn sent_states(&self, flow: &Flow, written: States) -> Result<BTreeMap<String, SentState>> {
        let unlimited = MemoryBudget::new(u64::MAX, 1)?;
        let mut sent = BTreeMap::new();
        for (name, leased) in written.0 {
            let Some(spec) = flow.states.get(&name) else {
                continue;
            };
            let state = SentState::new(&name, leased, StateUse::Merge)?;
            let unchanged = state.size() <= SMALL && {
                let empty = self.sparse_state(&name, spec, &unlimited)?;
                let empty = SentState::new(&name, empty, StateUse::Merge)?;
                state.to_vec()? == empty.to_vec()?
            };
            if !unchanged {
                sent.insert(name, state);
            }
        }
        Ok(sent)
    }

    /// Returns the state of a task: one that it may write to, or a view of the saved one.
    fn task_state(
        &self,
        name: &str,
        spec: &StateSpec,
        saved: Option<&Bytes>,
        writes: bool,
        unlimited: &Arc<MemoryBudget>,
    ) -> std::result::Result<LeasedState, StageError> {
        let Some(saved) = saved else {
            return Ok(self.sparse_state(name, spec, unlimited)?);
        };
        if !writes && matches!(saved.first(), Some(&DENSE | &VIEW)) {
            let view = self.view_state(spec, saved.slice(1..), unlimited)?;
            if let Some(view) = view {
                return Ok(view);
            }
        }
        let leased = self.create_state(name, spec, unlimited)?;
        absorb(leased.state.as_ref(), saved)?;
        Ok(leased)
    }

    /// Returns the bytes of memory that the states need that a stage reads and that have no view.
    fn state_memory(&self, flow: &Flow, stage: &Stage) -> u64 {
        let states = stage.reads.iter().filter_map(|name| {
            let spec = flow.states.get(name)?;
            (stage.writes.contains(name) || !self.has_view(spec)).then_some(spec)
        });
        states.fold(0, |sum: u64, spec| {
            sum.saturating_add(self.state_bytes(spec))
        })
    }

    /// Returns the bytes of each state of a flow, and whether tasks can read it where it is if it
    /// was [merged](Registry::merge_states) without compacting it.
    pub fn state_sizes(&self, flow: &Flow) -> BTreeMap<String, (u64, bool)> {
        let states = flow.states.iter();
        states
            .map(|(name, spec)| {
                let facts = (self.state_bytes(spec), self.has_view(spec));
                (name.clone(), facts)
            })
            .collect()
    }

    /// Merges the states of tasks. A state that has no view is sent as one to be merged.
    pub fn merge_states(
        &self,
        flow: &Flow,
        name: &str,
        parts: &[&[u8]],
        used_for: StateUse,
    ) -> Result<SentState> {
        let spec = flow
            .states
            .get(name)
            .ok_or_else(|| Error::InvalidFlow(format!("there is no state `{name}`")))?;
        let leased = self.create_state(name, spec, &MemoryBudget::new(u64::MAX, 1)?)?;
        for part in parts {
            absorb(leased.state.as_ref(), part)
                .map_err(|error| Error::InvalidFlow(format!("the state `{name}`: {error}")))?;
        }
        let used_for = match self.has_view(spec) {
            true => used_for,
            false => StateUse::Merge,
        };
        SentState::new(name, leased, used_for)
    }

    /// Writes a table from the rows of all tasks, in the order of stages and tasks. The file has
    /// the same bytes as that of a local run. `next` returns the rows of the next task, and None
    /// after the last one. They are decoded piece by piece, and those of several tasks are never in
    /// memory together for longer than it takes to fill a row group.
    pub fn write_table(
        &self,
        folder: &Path,
        name: &str,
        next: &mut (dyn FnMut() -> Result<Option<Bytes>> + Send),
        progress: &Progress,
    ) -> Result<TableReport> {
        let rows = TableSource::Pulled(next, Bytes::new());
        let extend = self.extend_tables.as_ref();
        write_table(folder, name, rows, extend, 1, progress)
    }
}

/// Merges a state that came from the cluster into another one.
fn absorb(state: &dyn AnyState, saved: &[u8]) -> std::result::Result<(), StageError> {
    match saved.split_first() {
        None => Ok(()),
        Some((&DENSE, mut bytes)) => state.absorb(&mut bytes),
        Some((&COMPACT, bytes)) => state.absorb(&mut CompactReader::new(bytes)),
        Some((&VIEW, _)) => Err("a state that can only be read cannot be merged".into()),
        Some(_) => Err("a state of an unknown format".into()),
    }
}
