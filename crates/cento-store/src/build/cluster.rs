//! Who runs the tasks of a build: the threads of this process, or a cluster.
//!
//! ```text
//!   driver                                    worker, on any node
//!   BuildFolder::begin: lock, inputs, manifest
//!   BuildTasks::unfinished ── task 3 ───────▶ BuildTasks::run_task(3) ─▶ CORPUS/tmp/
//!   BuildTasks::commit     ◀─ FinishedTask ───┘
//!   CORPUS/pages, text, chunks; manifest
//! ```
//!
//! Only the driver publishes parts. A worker writes them to the folder for unfinished parts, under
//! a name of its own, so two attempts at the same task never write to the same file, and what a
//! lost worker has left is removed like any unfinished part.
//!
//! The executor belongs to the thread, like that of flows: a command makes its build deep inside
//! its code, and none of that code should know where tasks run.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::build_folder::BuildFolder;
use crate::error::{Error, Result};
use crate::manifest::{Counts, MANIFEST, Manifest, Part};
use crate::update;

use super::pool::{PoolLimits, run_tasks};
use super::{Build, Built, budget};

/// Runs the tasks of builds.
pub trait BuildExecutor {
    /// Runs all unfinished tasks of a build. On a worker, runs those that the driver asks for.
    fn execute(&self, tasks: &BuildTasks<'_>) -> Result<()> {
        tasks.run_here()
    }

    /// Whether this process runs single tasks of a build that a driver has started.
    fn is_worker(&self) -> bool {
        false
    }
}

/// Runs the tasks of builds on the threads of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalBuilds;

impl BuildExecutor for LocalBuilds {}

thread_local! {
    static EXECUTOR: RefCell<Rc<dyn BuildExecutor>> = RefCell::new(Rc::new(LocalBuilds));
}

/// Returns the executor of this thread.
pub(crate) fn executor() -> Rc<dyn BuildExecutor> {
    EXECUTOR.with_borrow(Rc::clone)
}

/// Runs all builds in `body` with this executor.
pub fn with_build_executor<T>(executor: Rc<dyn BuildExecutor>, body: impl FnOnce() -> T) -> T {
    /// Restores the previous executor, also after a panic.
    struct Previous(Rc<dyn BuildExecutor>);
    impl Drop for Previous {
        fn drop(&mut self) {
            EXECUTOR.replace(Rc::clone(&self.0));
        }
    }
    let _previous = Previous(EXECUTOR.replace(executor));
    body()
}

/// The tasks of a build that was started or resumed.
pub struct BuildTasks<'a> {
    build: &'a Build<'a>,
    folder: &'a BuildFolder,
    /// The position of the run in the manifest.
    run: usize,
    /// The positions of the inputs of each task.
    tasks: &'a [Range<usize>],
    manifest: RefCell<Manifest>,
    /// The tasks that were committed.
    committed: RefCell<BTreeSet<u32>>,
}

/// A task that a worker has finished: parts that are written and not published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishedTask {
    /// The number of the task.
    pub task: u32,
    /// What the names of its files in the folder for unfinished parts end with.
    pub suffix: String,
    /// Its parts, in order, without those that were committed before.
    pub parts: Vec<Part>,
}

impl<'a> BuildTasks<'a> {
    pub(super) fn new(
        build: &'a Build<'a>,
        folder: &'a BuildFolder,
        manifest: Manifest,
        run: usize,
        tasks: &'a [Range<usize>],
    ) -> BuildTasks<'a> {
        BuildTasks {
            build,
            folder,
            run,
            tasks,
            manifest: RefCell::new(manifest),
            committed: RefCell::default(),
        }
    }

    /// The folder of the corpus.
    pub fn corpus(&self) -> &Path {
        self.folder.path()
    }

    /// The numbers of the tasks that have to be run, or resumed.
    pub fn unfinished(&self) -> Vec<u32> {
        let manifest = self.manifest.borrow();
        let is_finished = |number: u32| {
            let last = manifest.last_part_of(number);
            last.is_some_and(|part| part.next.is_none())
        };
        let committed = self.committed.borrow();
        self.numbered()
            .map(|(number, _)| number)
            .filter(|number| !is_finished(*number) && !committed.contains(number))
            .collect()
    }

    fn numbered(&self) -> impl Iterator<Item = (u32, Range<usize>)> {
        let first = self.manifest.borrow().runs[self.run].first_task;
        (first..).zip(self.tasks.iter().cloned())
    }

    /// Whether a task reads something that only the process of the command can read: standard input
    /// or a pipe.
    pub fn has_streams(&self) -> bool {
        self.build.inputs.iter().any(|input| input.bytes.is_none())
    }

    /// Runs all tasks on the threads of this process.
    pub fn run_here(&self) -> Result<()> {
        let limits = PoolLimits {
            threads: self.build.threads,
            memory: self.build.memory,
        };
        let manifest = self.manifest.borrow().clone();
        let tasks = self.numbered().collect();
        let manifest = run_tasks(self.build, self.folder, manifest, self.run, tasks, limits)?;
        let mut committed = self.committed.borrow_mut();
        committed.extend(self.numbered().map(|(number, _)| number));
        self.manifest.replace(manifest);
        Ok(())
    }

    /// Runs one task on this thread, from where the manifest says that it was interrupted. The
    /// parts are not published: the driver [commits](BuildTasks::commit) them.
    ///
    /// `memory` is what the task may use; the largest page that the parameters allow comes on top
    /// if it does not fit.
    pub fn run_task(&self, number: u32, memory: u64) -> Result<FinishedTask> {
        let Some(suffix) = self.folder.suffix() else {
            return Err(Error::Internal("a driver runs no single tasks".to_owned()));
        };
        // The driver may have committed parts since this worker was started.
        let manifest = Manifest::load(self.folder.path())?;
        let unknown = || Error::Internal(format!("the build has no task {number}"));
        let task = self.numbered().find(|(known, _)| *known == number);
        let first_part = manifest
            .last_part_of(number)
            .map_or(0, |part| part.sequence + 1);
        let limits = PoolLimits { threads: 1, memory };
        let tasks = vec![task.ok_or_else(unknown)?];
        let manifest = run_tasks(self.build, self.folder, manifest, self.run, tasks, limits)?;
        let is_new = |part: &Part| part.task == number && part.sequence >= first_part;
        Ok(FinishedTask {
            task: number,
            suffix: suffix.to_owned(),
            parts: manifest.parts.into_iter().filter(is_new).collect(),
        })
    }

    /// Publishes the parts of tasks that workers have finished. One call for many tasks writes the
    /// manifest once.
    pub fn commit(&self, finished: &[FinishedTask]) -> Result<()> {
        let mut manifest = self.manifest.borrow_mut();
        for task in finished {
            for part in &task.parts {
                self.folder.publish(part, &task.suffix)?;
                manifest.insert(part.clone());
                self.build.progress.add_pages(part.counts.pages);
            }
        }
        self.folder.sync_tables()?;
        manifest.save(self.folder.path())?;
        let mut committed = self.committed.borrow_mut();
        committed.extend(finished.iter().map(|task| task.task));
        Ok(())
    }

    /// Marks the run as complete, if it has pages.
    pub(super) fn complete(&self) -> Result<()> {
        if let Some(number) = self.unfinished().first() {
            return Err(Error::Internal(format!("task {number} was not run")));
        }
        let mut manifest = self.manifest.borrow_mut();
        if manifest.counts_of_run(self.run).pages > 0 {
            manifest.runs[self.run].complete = true;
            manifest.save(self.folder.path())?;
        }
        Ok(())
    }
}

/// Serves the tasks of a build that a driver has started, until the driver needs no more of them.
/// Then a worker has nothing more to do, so this returns an error, unless the corpus is complete
/// and the worker is here for what the command does afterwards.
pub(super) fn serve(mut build: Build<'_>, executor: &dyn BuildExecutor) -> Result<Built> {
    let is_complete = |path: &Path| -> Result<bool> {
        Ok(path.join(MANIFEST).exists() && Manifest::load(path)?.complete())
    };
    // A refresh makes the new corpus beside the old one.
    let refreshed = update::beside(&build.corpus, "refresh")?;
    if is_complete(&build.corpus)? {
        if !refreshed.join(MANIFEST).exists() {
            return Ok(Built {
                counts: Counts::default(),
                skipped_files: build.skipped_files,
                resumed_pages: 0,
                already_added: None,
                added: Default::default(),
                replaced: false,
                corpus_bytes: 0,
            });
        }
        build.corpus = refreshed;
    }
    let (folder, manifest) = BuildFolder::join(&mut build)?;
    let tasks = crate::task::plan(&build.inputs, build.parameters.part_bytes / 2);
    build.settings.helpers = budget::helpers(1, tasks.len(), build.memory);
    let run = manifest.runs.len().saturating_sub(1);
    let planned = manifest.runs.get(run).map_or(0, |run| run.tasks as usize);
    if planned != tasks.len() {
        return Err(Error::InputsDiffer {
            path: build.corpus.clone(),
            detail: format!("the driver has {planned} tasks, this node {}", tasks.len()),
        });
    }
    executor.execute(&BuildTasks::new(&build, &folder, manifest, run, &tasks))?;
    Err(Error::Cancelled)
}
