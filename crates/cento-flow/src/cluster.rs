//! Running single tasks: the building blocks of a cluster runner.
//!
//! ```text
//!   run_map(flow, stage, 3) ──▶ one buffer per partition ─┐ moved by
//!   run_map(flow, stage, 4) ──▶ one buffer per partition ─┴─ the cluster ─▶ run_reduce(flow, …)
//! ```
//!
//! The functions and the tables are the same as in a local run; the cluster only moves buffers. The
//! output of a task is in memory, because it has to be moved. A partition that exceeds the budget
//! is sorted on disk.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::assemble::{TableReport, write_table};
use crate::budget::{MemoryBudget, Shares};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::flow::{Flow, StageInput};
use crate::progress::Progress;
use crate::registry::{Registry, RowSource};
use crate::sink::{Placement, RunResources, TaskSink};
use crate::state::States;
use crate::task_output::TaskOutput;

/// The output of a single task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Buffers {
    /// For each shuffle that the stage writes, one buffer for each partition, with rows in no
    /// particular order.
    pub shuffles: BTreeMap<String, Vec<Vec<u8>>>,
    /// For each table that the stage writes, the rows of the task. [`Registry::write_table`] writes
    /// those of all tasks as one table.
    pub tables: BTreeMap<String, Vec<u8>>,
    /// For each state that the stage writes, the state of this task. [`Registry::merge_states`]
    /// merges those of all tasks.
    pub states: BTreeMap<String, Vec<u8>>,
    /// The number of rows for each shuffle and table.
    pub rows: BTreeMap<String, u64>,
    /// The counters of the task. An iteration ends after a round in which the sum over all tasks is
    /// zero.
    pub counters: BTreeMap<String, u64>,
}

/// The memory of a single task, and the switch that cancels it.
#[derive(Debug, Clone)]
pub struct TaskLimits {
    /// Bytes of memory for sorting.
    pub memory: u64,
    /// Cancels the task.
    pub progress: Arc<Progress>,
}

impl TaskLimits {
    fn resources(&self) -> Result<RunResources> {
        let budget = MemoryBudget::new(self.memory, 1)?;
        Ok(RunResources {
            shares: Shares::new(&budget, 1),
            budget,
            progress: Arc::clone(&self.progress),
            folder: None,
        })
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
        states: &BTreeMap<String, Vec<u8>>,
        limits: &TaskLimits,
    ) -> Result<Buffers> {
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
        self.run_one(flow, stage, task, RowSource::Tasks(&[]), states, limits)
    }

    /// Runs a reduce over one partition. `buffers` are the buffers of this partition from all tasks
    /// that wrote to the shuffle, in any order.
    pub fn run_reduce(
        &self,
        flow: &Flow,
        stage: &str,
        partition: usize,
        buffers: &[&[u8]],
        states: &BTreeMap<String, Vec<u8>>,
        limits: &TaskLimits,
    ) -> Result<Buffers> {
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
        self.run_one(
            flow,
            stage,
            partition,
            RowSource::Buffers(buffers),
            states,
            limits,
        )
    }

    fn run_one(
        &self,
        flow: &Flow,
        stage: &str,
        task: usize,
        source: RowSource<'_>,
        saved: &BTreeMap<String, Vec<u8>>,
        limits: &TaskLimits,
    ) -> Result<Buffers> {
        self.check(flow)?;
        let stage = flow.find(stage)?;
        let resources = limits.resources()?;
        // States come on top of the memory for sorting: the flow determines their size.
        let unlimited = MemoryBudget::new(u64::MAX, 1)?;
        let mut states = States::default();
        for name in stage.reads.iter().chain(&stage.writes) {
            let Some(spec) = flow.states.get(name) else {
                continue;
            };
            let leased = self.create_state(name, spec, &unlimited)?;
            if stage.reads.contains(name) {
                let bytes = saved.get(name).ok_or_else(|| {
                    Error::InvalidFlow(format!(
                        "`{}` reads the state `{name}`, which is missing",
                        stage.name
                    ))
                })?;
                leased
                    .state
                    .absorb(&mut bytes.as_slice())
                    .map_err(|error| Error::from_stage(&stage.name, task, error))?;
            }
            states.0.insert(name.clone(), leased);
        }
        let sink = TaskSink::new(&resources, None);
        let context = Context::new(flow, stage, task, &states, sink);
        self.call(&context, flow, source, &resources)?;
        let output = context.finish(Placement::Memory)?;
        let mut buffers = gather(flow, output);
        for name in stage
            .writes
            .iter()
            .filter(|name| flow.states.contains_key(*name))
        {
            if let Some(leased) = states.0.get(name) {
                let mut bytes = Vec::new();
                leased
                    .state
                    .write(&mut bytes)
                    .map_err(|error| Error::io(name.as_ref(), error))?;
                buffers.states.insert(name.clone(), bytes);
            }
        }
        Ok(buffers)
    }

    /// Merges the states of all tasks of a stage.
    pub fn merge_states(&self, flow: &Flow, name: &str, parts: &[&[u8]]) -> Result<Vec<u8>> {
        let spec = flow
            .states
            .get(name)
            .ok_or_else(|| Error::InvalidFlow(format!("there is no state `{name}`")))?;
        let leased = self.create_state(name, spec, &MemoryBudget::new(u64::MAX, 1)?)?;
        for mut part in parts.iter().copied() {
            leased
                .state
                .absorb(&mut part)
                .map_err(|error| Error::InvalidFlow(format!("the state `{name}`: {error}")))?;
        }
        let mut bytes = Vec::new();
        leased
            .state
            .write(&mut bytes)
            .map_err(|error| Error::io(name.as_ref(), error))?;
        Ok(bytes)
    }

    /// Writes a table from the rows of all tasks, in the order of stages and tasks. The file has
    /// the same bytes as that of a local run.
    pub fn write_table(
        &self,
        folder: &Path,
        name: &str,
        parts: &[&[u8]],
        threads: usize,
    ) -> Result<TableReport> {
        write_table(
            folder,
            name,
            RowSource::Buffers(parts),
            self.extend_tables.as_ref(),
            threads.max(1),
            &Progress::default(),
        )
    }
}

/// Joins the chunks of a task by partition.
fn gather(flow: &Flow, output: TaskOutput) -> Buffers {
    let mut buffers = Buffers {
        counters: output.counters,
        ..Buffers::default()
    };
    for (name, port) in output.ports {
        buffers.rows.insert(name.clone(), port.rows);
        let join = |partition: usize| {
            let chunks = port.chunks.iter();
            let rows: Vec<&[u8]> = chunks.map(|chunk| chunk.partition(partition)).collect();
            rows.concat()
        };
        if flow.tables.contains(&name) {
            buffers.tables.insert(name, join(0));
        } else {
            let partitions = (0..port.partitions as usize).map(join).collect();
            buffers.shuffles.insert(name, partitions);
        }
    }
    buffers
}
