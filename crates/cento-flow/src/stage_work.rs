//! Running the tasks of one stage on several threads.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::flow::{Flow, Stage};
use crate::registry::{Registry, RowSource};
use crate::run_folder::RunFolder;
use crate::sink::{Placement, RunResources, TaskSink, write_output};
use crate::spill::TaskFile;
use crate::state::States;
use crate::state_file::save_state;
use crate::task_output::{Contribution, TaskOutput};
use crate::threads::on_threads;

/// What the tasks of a running stage need.
pub(crate) struct StageWork<'a> {
    pub(crate) flow: &'a Flow,
    pub(crate) stage: &'a Stage,
    pub(crate) registry: &'a Registry,
    pub(crate) folder: &'a RunFolder,
    pub(crate) resources: &'a RunResources,
    pub(crate) ordinal: u64,
    pub(crate) states: &'a States,
    /// The rows of the shuffle that the stage reads; empty for a map.
    pub(crate) input: &'a [Contribution],
    pub(crate) checkpoint: Duration,
    /// Tasks of an interrupted run whose changes are in the states that the stage writes.
    pub(crate) in_states: &'a BTreeSet<usize>,
    /// Whether outputs go to files only, which leaves more memory for the stage function.
    pub(crate) spill: bool,
}

/// The result of a finished stage.
pub(crate) struct StageOutcome {
    /// The outputs, in the order of tasks.
    pub(crate) outputs: Vec<TaskOutput>,
    pub(crate) resumed: u64,
    pub(crate) rows_in: u64,
}

/// What the threads of a stage share.
struct StageTasks {
    /// The outputs of finished tasks; `None` if a task is not finished or its output is being
    /// written by a checkpoint.
    outputs: Mutex<Vec<Option<TaskOutput>>>,
    next: AtomicUsize,
    rows_in: AtomicU64,
    last_checkpoint: Mutex<Instant>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StageWork<'_> {
    /// Runs all tasks that an interrupted run has not finished.
    pub(crate) fn run(&self, tasks: usize, threads: usize) -> Result<StageOutcome> {
        let outputs = self.resume(tasks);
        let unfinished: Vec<usize> = (0..tasks)
            .filter(|&task| outputs.get(task).is_none_or(Option::is_none))
            .collect();
        let resumed = tasks - unfinished.len();
        let progress = &self.resources.progress;
        progress.begin(&self.stage.name, tasks, resumed);
        progress.check()?;
        let shared = StageTasks {
            outputs: Mutex::new(outputs),
            next: AtomicUsize::new(0),
            rows_in: AtomicU64::new(0),
            last_checkpoint: Mutex::new(Instant::now()),
        };
        on_threads(
            threads.min(unfinished.len()),
            || progress.abort(),
            || self.work(&unfinished, &shared),
        )?;
        let outputs = std::mem::take(&mut *lock(&shared.outputs));
        let outputs: Option<Vec<TaskOutput>> = outputs.into_iter().collect();
        Ok(StageOutcome {
            outputs: outputs
                .ok_or_else(|| Error::InvalidFlow("a task has no output".to_owned()))?,
            resumed: resumed as u64,
            rows_in: shared.rows_in.into_inner(),
        })
    }

    /// Opens the outputs of tasks that an interrupted run has finished.
    fn resume(&self, tasks: usize) -> Vec<Option<TaskOutput>> {
        let stateful = self.written_states().next().is_some();
        let open = |task: usize| {
            let path = self.folder.task_file(self.ordinal, task);
            if !path.exists() || (stateful && !self.in_states.contains(&task)) {
                return None;
            }
            // The task of an unreadable file is run again.
            TaskFile::open(path).ok().map(TaskOutput::from_file)
        };
        (0..tasks).map(open).collect()
    }

    fn written_states(&self) -> impl Iterator<Item = &String> {
        self.stage
            .writes
            .iter()
            .filter(|name| self.flow.states.contains_key(*name))
    }

    fn work(&self, unfinished: &[usize], shared: &StageTasks) -> Result<()> {
        let placement = match (self.spill, self.checkpoint.is_zero()) {
            (true, _) => Placement::File,
            (false, true) => Placement::MemoryAndFile,
            (false, false) => Placement::Memory,
        };
        while let Some(&task) = unfinished.get(shared.next.fetch_add(1, Ordering::Relaxed)) {
            self.resources.progress.check()?;
            let sink = TaskSink::new(
                self.resources,
                Some(self.folder.task_file(self.ordinal, task)),
            );
            let context = Context::new(self.flow, self.stage, task, self.states, sink);
            let rows = self.registry.call(
                &context,
                self.flow,
                RowSource::Tasks(self.input),
                self.resources,
            )?;
            let output = context.finish(placement)?;
            shared.rows_in.fetch_add(rows, Ordering::Relaxed);
            if let Some(slot) = lock(&shared.outputs).get_mut(task) {
                *slot = Some(output);
            }
            self.resources.progress.finish_task();
            self.checkpoint_if_due(shared)?;
        }
        Ok(())
    }

    /// Writes all finished output to disk if the last checkpoint is too long ago. One thread does
    /// this while the others continue.
    fn checkpoint_if_due(&self, shared: &StageTasks) -> Result<()> {
        let Ok(mut last) = shared.last_checkpoint.try_lock() else {
            return Ok(());
        };
        if last.elapsed() < self.checkpoint {
            return Ok(());
        }
        let finished: BTreeSet<usize> = {
            let outputs = lock(&shared.outputs);
            let numbered = outputs.iter().enumerate();
            numbered
                .filter(|(_, output)| output.is_some())
                .map(|(task, _)| task)
                .collect()
        };
        // The states are saved before the list of tasks, so that they contain the changes of every
        // task in the list.
        let mut stateful = false;
        for name in self.written_states() {
            stateful = true;
            if let Some(leased) = self.states.0.get(name) {
                save_state(
                    leased.state.as_ref(),
                    &self.folder.state_file(self.ordinal, name),
                )?;
            }
        }
        for &task in &finished {
            let taken = {
                let mut outputs = lock(&shared.outputs);
                outputs.get_mut(task).and_then(|slot| match slot {
                    Some(output) if output.file.is_none() => slot.take(),
                    _ => None,
                })
            };
            if let Some(mut output) = taken {
                let path = self.folder.task_file(self.ordinal, task);
                write_output(&mut output, &path, self.resources)?;
                if let Some(slot) = lock(&shared.outputs).get_mut(task) {
                    *slot = Some(output);
                }
            }
        }
        if stateful {
            self.folder.write_tasks_in_states(self.ordinal, &finished)?;
        }
        *last = Instant::now();
        Ok(())
    }
}
