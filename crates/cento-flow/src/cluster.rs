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
//! ```

use std::collections::BTreeMap;
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
/// An empty state has at most this many bytes when it is compact.
const SMALL: usize = 64;

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
    states: BTreeMap<String, Vec<u8>>,
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
    pub fn states(&self) -> &BTreeMap<String, Vec<u8>> {
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
        rows.states = self.compact_written(flow, written)?;
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
            last.states = self.compact_written(flow, written)?;
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
        rows.states = self.compact_written(flow, written)?;
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

    /// Serialises the states that tasks have written to, and drops them. Most tasks write to few of
    /// the states of their stage; the others are left out.
    fn compact_written(&self, flow: &Flow, written: States) -> Result<BTreeMap<String, Vec<u8>>> {
        let unlimited = MemoryBudget::new(u64::MAX, 1)?;
        let mut sent = BTreeMap::new();
        for (name, leased) in written.0 {
            let Some(spec) = flow.states.get(&name) else {
                continue;
            };
            let bytes = compact(&name, leased.state.as_ref())?;
            drop(leased);
            let unchanged = bytes.len() <= SMALL && {
                let empty = self.sparse_state(&name, spec, &unlimited)?;
                bytes == compact(&name, empty.state.as_ref())?
            };
            if !unchanged {
                sent.insert(name, bytes);
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
        if !writes && saved.first() == Some(&DENSE) {
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

    /// Merges the states of tasks. The last merge must not compact large states, so that tasks can
    /// read them where they are.
    pub fn merge_states(
        &self,
        flow: &Flow,
        name: &str,
        parts: &[&[u8]],
        compacts: bool,
    ) -> Result<Vec<u8>> {
        let spec = flow
            .states
            .get(name)
            .ok_or_else(|| Error::InvalidFlow(format!("there is no state `{name}`")))?;
        let leased = self.create_state(name, spec, &MemoryBudget::new(u64::MAX, 1)?)?;
        for part in parts {
            absorb(leased.state.as_ref(), part)
                .map_err(|error| Error::InvalidFlow(format!("the state `{name}`: {error}")))?;
        }
        if compacts {
            return compact(name, leased.state.as_ref());
        }
        let mut bytes = Vec::with_capacity(1 + self.state_bytes(spec) as usize);
        bytes.push(DENSE);
        leased
            .state
            .write(&mut bytes)
            .map_err(|error| Error::io(name.as_ref(), error))?;
        Ok(bytes)
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

/// Serialises a state for the cluster.
fn compact(name: &str, state: &dyn AnyState) -> Result<Vec<u8>> {
    let write = || {
        let mut writer = CompactWriter::new(vec![COMPACT]);
        state.write(&mut writer)?;
        writer.finish()
    };
    write().map_err(|error| Error::io(name.as_ref(), error))
}

/// Merges a state that came from the cluster into another one.
fn absorb(state: &dyn AnyState, saved: &[u8]) -> std::result::Result<(), StageError> {
    match saved.split_first() {
        None => Ok(()),
        Some((&DENSE, mut bytes)) => state.absorb(&mut bytes),
        Some((&COMPACT, bytes)) => state.absorb(&mut CompactReader::new(bytes)),
        Some(_) => Err("a state of an unknown format".into()),
    }
}
