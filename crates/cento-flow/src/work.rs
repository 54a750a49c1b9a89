//! The tasks of one stage on several threads.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::chunk::{Contribution, TaskOutput};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::flow::{Flow, Stage};
use crate::registry::{Registry, Source};
use crate::saved::save_state;
use crate::sink::{Keep, TaskSink, Workshop, persist_output};
use crate::site::Site;
use crate::spill::TaskFile;
use crate::state::States;
use crate::threads::on_threads;

/// A stage that is being run.
pub(crate) struct StageWork<'a> {
    pub(crate) flow: &'a Flow,
    pub(crate) stage: &'a Stage,
    pub(crate) registry: &'a Registry,
    pub(crate) site: &'a Site,
    pub(crate) workshop: &'a Workshop,
    pub(crate) ordinal: u64,
    pub(crate) states: &'a States,
    /// The shuffle that it reads.
    pub(crate) input: &'a [Contribution],
    pub(crate) checkpoint: Duration,
    /// Tasks whose marks are in the states that the stage fills.
    pub(crate) in_states: &'a BTreeSet<usize>,
    /// Whether outputs go to files only, so that functions have all of the free memory.
    pub(crate) spill: bool,
}

/// A stage that was run.
pub(crate) struct Done {
    /// In the order of tasks.
    pub(crate) outputs: Vec<TaskOutput>,
    pub(crate) resumed: u64,
    pub(crate) rows_in: u64,
}

/// What the threads share.
struct Shared {
    /// The outputs of finished tasks; `None` while a task is not finished, or its output is being
    /// written.
    outputs: Mutex<Vec<Option<TaskOutput>>>,
    next: AtomicUsize,
    rows_in: AtomicU64,
    last_checkpoint: Mutex<Instant>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StageWork<'_> {
    /// Runs all tasks that an earlier run has not finished.
    pub(crate) fn run(&self, tasks: usize, threads: usize) -> Result<Done> {
        let outputs = self.resume(tasks);
        let todo: Vec<usize> = (0..tasks)
            .filter(|&task| outputs.get(task).is_none_or(Option::is_none))
            .collect();
        let resumed = tasks - todo.len();
        let progress = &self.workshop.progress;
        progress.begin(&self.stage.name, tasks, resumed);
        progress.check()?;
        let shared = Shared {
            outputs: Mutex::new(outputs),
            next: AtomicUsize::new(0),
            rows_in: AtomicU64::new(0),
            last_checkpoint: Mutex::new(Instant::now()),
        };
        on_threads(
            threads.min(todo.len()),
            || progress.abort(),
            || self.work(&todo, &shared),
        )?;
        let outputs = std::mem::take(&mut *lock(&shared.outputs));
        let outputs: Option<Vec<TaskOutput>> = outputs.into_iter().collect();
        Ok(Done {
            outputs: outputs.ok_or_else(|| Error::Unsound("a task was lost".to_owned()))?,
            resumed: resumed as u64,
            rows_in: shared.rows_in.into_inner(),
        })
    }

    /// The outputs of tasks that an earlier run has finished.
    fn resume(&self, tasks: usize) -> Vec<Option<TaskOutput>> {
        let stateful = self.written_states().next().is_some();
        let open = |task: usize| {
            let path = self.site.task_file(self.ordinal, task);
            if !path.exists() || (stateful && !self.in_states.contains(&task)) {
                return None;
            }
            // A file that cannot be read is not there: its task is done again.
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

    fn work(&self, todo: &[usize], shared: &Shared) -> Result<()> {
        let keep = match (self.spill, self.checkpoint.is_zero()) {
            (true, _) => Keep::File,
            (false, true) => Keep::Always,
            (false, false) => Keep::IfRoom,
        };
        while let Some(&task) = todo.get(shared.next.fetch_add(1, Ordering::Relaxed)) {
            self.workshop.progress.check()?;
            let sink = TaskSink::new(self.workshop, Some(self.site.task_file(self.ordinal, task)));
            let context = Context::new(self.flow, self.stage, task, self.states, sink);
            let rows = self.registry.call(
                &context,
                self.flow,
                Source::Tasks(self.input),
                self.workshop,
            )?;
            let output = context.finish(keep)?;
            shared.rows_in.fetch_add(rows, Ordering::Relaxed);
            if let Some(slot) = lock(&shared.outputs).get_mut(task) {
                *slot = Some(output);
            }
            self.workshop.progress.finish_task();
            self.checkpoint_if_due(shared)?;
        }
        Ok(())
    }

    /// Writes down what is finished, if that was not done for too long. One thread does it while
    /// the others go on.
    fn checkpoint_if_due(&self, shared: &Shared) -> Result<()> {
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
        // First the states, then who is in them: a task that counts as finished has left its marks.
        let mut stateful = false;
        for name in self.written_states() {
            stateful = true;
            if let Some(held) = self.states.0.get(name) {
                save_state(
                    held.state.as_ref(),
                    &self.site.state_file(self.ordinal, name),
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
                let path = self.site.task_file(self.ordinal, task);
                persist_output(&mut output, &path, self.workshop)?;
                if let Some(slot) = lock(&shared.outputs).get_mut(task) {
                    *slot = Some(output);
                }
            }
        }
        if stateful {
            self.site.note_tasks_in_states(self.ordinal, &finished)?;
        }
        *last = Instant::now();
        Ok(())
    }
}
