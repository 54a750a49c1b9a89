//! One task at a time, called from outside: what a cluster runner is made of.
//!
//! ```text
//!   driver                         worker                                  worker
//!   ── run_map(flow, stage, 3) ──▶ one buffer for each partition ─┐
//!   ── run_map(flow, stage, 4) ──▶ one buffer for each partition ─┼─ moved ─▶ run_reduce(flow, stage, 17, buffers 17)
//!                                                                 ┘
//! ```
//!
//! The functions are the same, and so are the tables: a cluster only moves the buffers. Memory for
//! a task is what its output takes, for whoever moves buffers has to have them; a partition that is
//! too large for the budget is sorted on disk here too.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::assemble::{Rows, TableReport, write_table};
use crate::budget::{MemoryBudget, Shares};
use crate::chunk::TaskOutput;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::flow::{Flow, Input};
use crate::progress::Progress;
use crate::registry::{Registry, Source};
use crate::sink::{Keep, TaskSink, Workshop};
use crate::state::States;

/// What a task brings back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Buffers {
    /// For each shuffle that the stage fills, one buffer for each partition: rows one after the
    /// other, in no order.
    pub shuffles: BTreeMap<String, Vec<Vec<u8>>>,
    /// For each table that the stage fills, the task's rows. [`Registry::write_table`] makes a
    /// table of those of all tasks.
    pub tables: BTreeMap<String, Vec<u8>>,
    /// For each state that the stage fills, what this task noted. [`Registry::merge_states`] brings
    /// those of all tasks together.
    pub states: BTreeMap<String, Vec<u8>>,
    /// What the function counted; an iteration ends after a round in which the sum over all tasks
    /// is zero.
    pub counters: BTreeMap<String, u64>,
}

/// What a task may use on the machine where it runs.
#[derive(Debug, Clone)]
pub struct Worker {
    /// Bytes of memory to sort with.
    pub memory: u64,
    /// How the task is stopped.
    pub progress: Arc<Progress>,
}

impl Worker {
    fn workshop(&self) -> Result<Workshop> {
        let budget = MemoryBudget::new(self.memory, 1)?;
        Ok(Workshop {
            shares: Shares::new(&budget, 1),
            budget,
            progress: Arc::clone(&self.progress),
            folder: None,
        })
    }
}

impl Registry {
    /// Runs one task of a map. `states` are those that the stage reads, as
    /// [`Registry::merge_states`] gave them.
    pub fn run_map(
        &self,
        flow: &Flow,
        stage: &str,
        task: usize,
        states: &BTreeMap<String, Vec<u8>>,
        worker: &Worker,
    ) -> Result<Buffers> {
        match &flow.find(stage)?.input {
            Input::Tasks(tasks) if task < tasks.len() => {}
            Input::Tasks(tasks) => {
                return Err(Error::Unsound(format!(
                    "`{stage}` has {} tasks, and no number {task}",
                    tasks.len()
                )));
            }
            Input::Shuffle(_) => return Err(Error::Unsound(format!("`{stage}` is a reduce"))),
        }
        self.run_one(flow, stage, task, Source::Tasks(&[]), states, worker)
    }

    /// Runs a reduce over one partition: `buffers` are those of this partition from all tasks that
    /// filled the shuffle, in any order.
    pub fn run_reduce(
        &self,
        flow: &Flow,
        stage: &str,
        partition: usize,
        buffers: &[&[u8]],
        states: &BTreeMap<String, Vec<u8>>,
        worker: &Worker,
    ) -> Result<Buffers> {
        match &flow.find(stage)?.input {
            Input::Shuffle(name) => {
                let partitions = flow
                    .shuffles
                    .get(name)
                    .map_or(0, |shuffle| shuffle.partitions as usize);
                if partition >= partitions {
                    return Err(Error::Unsound(format!(
                        "`{name}` has {partitions} partitions, and no number {partition}"
                    )));
                }
            }
            Input::Tasks(_) => return Err(Error::Unsound(format!("`{stage}` is a map"))),
        }
        self.run_one(
            flow,
            stage,
            partition,
            Source::Buffers(buffers),
            states,
            worker,
        )
    }

    fn run_one(
        &self,
        flow: &Flow,
        stage: &str,
        task: usize,
        source: Source<'_>,
        given: &BTreeMap<String, Vec<u8>>,
        worker: &Worker,
    ) -> Result<Buffers> {
        self.check(flow)?;
        let stage = flow.find(stage)?;
        let workshop = worker.workshop()?;
        // States are given on top of the memory to sort with: how large they are is the flow's
        // choice.
        let unlimited = MemoryBudget::new(u64::MAX, 1)?;
        let mut states = States::default();
        for name in stage.reads.iter().chain(&stage.writes) {
            let Some(spec) = flow.states.get(name) else {
                continue;
            };
            let held = self.create_state(name, spec, &unlimited)?;
            if stage.reads.contains(name) {
                let bytes = given.get(name).ok_or_else(|| {
                    Error::Unsound(format!(
                        "`{}` reads the state `{name}`, which was not given",
                        stage.name
                    ))
                })?;
                held.state
                    .absorb(&mut bytes.as_slice())
                    .map_err(|error| Error::from_stage(&stage.name, task, error))?;
            }
            states.0.insert(name.clone(), held);
        }
        let sink = TaskSink::new(&workshop, None);
        let context = Context::new(flow, stage, task, &states, sink);
        self.call(&context, flow, source, &workshop)?;
        let output = context.finish(Keep::IfRoom)?;
        let mut buffers = gather(flow, output);
        for name in stage
            .writes
            .iter()
            .filter(|name| flow.states.contains_key(*name))
        {
            if let Some(held) = states.0.get(name) {
                let mut bytes = Vec::new();
                held.state
                    .write(&mut bytes)
                    .map_err(|error| Error::io(name.as_ref(), error))?;
                buffers.states.insert(name.clone(), bytes);
            }
        }
        Ok(buffers)
    }

    /// Brings together what the tasks of a stage noted in a state.
    pub fn merge_states(&self, flow: &Flow, name: &str, parts: &[&[u8]]) -> Result<Vec<u8>> {
        let spec = flow
            .states
            .get(name)
            .ok_or_else(|| Error::Unsound(format!("there is no state `{name}`")))?;
        let held = self.create_state(name, spec, &MemoryBudget::new(u64::MAX, 1)?)?;
        for mut part in parts.iter().copied() {
            held.state
                .absorb(&mut part)
                .map_err(|error| Error::Unsound(format!("the state `{name}`: {error}")))?;
        }
        let mut bytes = Vec::new();
        held.state
            .write(&mut bytes)
            .map_err(|error| Error::io(name.as_ref(), error))?;
        Ok(bytes)
    }

    /// Writes a table from the rows of all tasks, in the order of stages and tasks; the same bytes
    /// as a local run writes.
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
            Rows::Buffers(parts),
            threads.max(1),
            &Progress::default(),
        )
    }
}

/// The chunks of a task, joined by partition.
fn gather(flow: &Flow, output: TaskOutput) -> Buffers {
    let mut buffers = Buffers {
        counters: output.counters,
        ..Buffers::default()
    };
    for (name, port) in output.ports {
        let join = |partition: usize| {
            let pieces: Vec<&[u8]> = port
                .chunks
                .iter()
                .map(|chunk| chunk.piece(partition))
                .collect();
            pieces.concat()
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
