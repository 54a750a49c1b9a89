//! The local runner: one process, several threads, one memory budget.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::assemble::{TableSource, write_table};
use crate::budget::{MemoryBudget, Shares};
use crate::error::{Error, Result};
use crate::flow::{Flow, Stage, StageInput, Step};
use crate::progress::Progress;
use crate::registry::Registry;
use crate::report::{RunReport, StageReport};
use crate::run_folder::{Boundary, Position, RunFolder};
use crate::sink::{RunResources, write_contribution};
use crate::spill::TaskFile;
use crate::stage_work::StageWork;
use crate::state::States;
use crate::state_file::{load_state, save_state};
use crate::task_output::{Contribution, TaskOutput};

/// Runs flows on this machine.
///
/// `run(flow, threads, memory) ≡ run(flow, 1, ∞)`: tables have the same bytes.
pub struct Runner<'r> {
    /// The functions and states that flows name.
    pub registry: &'r Registry,
    /// Number of worker threads.
    pub threads: usize,
    /// Memory budget in bytes; at least [`MemoryBudget::MINIMUM_PER_THREAD`] for each thread.
    pub memory: u64,
    /// Folder for temporary files. An interrupted run leaves here what it needs to resume.
    pub temp: PathBuf,
    /// Folder for the tables, which are written as `NAME.parquet`.
    pub tables: PathBuf,
    /// Counters for a progress display, and the switch that cancels the run.
    pub progress: Arc<Progress>,
    /// How much work may be lost when the run is interrupted. Output that has been only in memory
    /// for longer than this is written to disk as well; with zero, the output of every task is
    /// written as soon as the task is finished.
    pub checkpoint: Duration,
}

/// The default checkpoint interval. It costs nothing in short runs and little in long ones.
pub const CHECKPOINT: Duration = Duration::from_secs(60);

/// The state of a run between two stages.
pub(crate) struct RunState {
    /// Output that no stage has read yet, by shuffle or table, in the order of stages and tasks.
    streams: BTreeMap<String, Vec<Contribution>>,
    states: States,
    position: Position,
    report: RunReport,
    last_boundary: Instant,
}

impl Runner<'_> {
    /// Runs a flow, and resumes it if an earlier run of the same flow was interrupted.
    ///
    /// Two flows are the same if their JSON and the folder of their tables are the same. A flow
    /// must therefore identify its data: if the content of files can change, their checksums belong
    /// in the parameters or the tasks.
    pub fn run(&self, flow: &Flow) -> Result<RunReport> {
        let started = Instant::now();
        self.registry.check(flow)?;
        let threads = self.threads.max(1);
        let budget = MemoryBudget::new(self.memory, threads)?;
        std::fs::create_dir_all(&self.tables).map_err(|error| Error::io(&self.tables, error))?;
        let folder = RunFolder::open(&self.temp, flow, &self.tables)?;
        let resources = RunResources {
            shares: Shares::new(&budget, threads),
            budget,
            progress: Arc::clone(&self.progress),
            folder: folder.path().to_owned(),
        };
        match self.run_in(flow, &folder, &resources) {
            Ok(mut report) => {
                folder.remove()?;
                report.seconds = started.elapsed().as_secs_f64();
                Ok(report)
            }
            Err(error) => {
                folder.keep_finished();
                Err(error)
            }
        }
    }

    fn run_in(
        &self,
        flow: &Flow,
        folder: &RunFolder,
        resources: &RunResources,
    ) -> Result<RunReport> {
        let mut run = self.begin(flow, folder, resources)?;
        while let Some(step) = flow.steps.get(run.position.step) {
            let Some(stage) = step.stages().get(run.position.stage) else {
                return Err(Error::InvalidFlow("an iteration has no stages".to_owned()));
            };
            self.progress.set_step(run.position.step, flow.steps.len());
            let had_files = self.run_stage(flow, stage, folder, resources, &mut run)?;
            let position = &mut run.position;
            position.ordinal += 1;
            let last = run.report.stages.last_mut();
            if let (Step::Repeat { .. }, Some(last)) = (step, last) {
                last.round = Some(position.round + 1);
            }
            advance(position, step, run.report.stages.last())?;
            self.write_finished_tables(flow, stage, &mut run)?;
            let due = self.checkpoint.is_zero() || run.last_boundary.elapsed() > self.checkpoint;
            if run.position.step < flow.steps.len() && (had_files || due) {
                self.make_boundary(folder, resources, &mut run)?;
            }
        }
        Ok(run.report)
    }

    /// Restores the state that an interrupted run has left, or starts with an empty one.
    fn begin(&self, flow: &Flow, folder: &RunFolder, resources: &RunResources) -> Result<RunState> {
        let mut run = RunState {
            streams: BTreeMap::new(),
            states: States::default(),
            position: Position::default(),
            report: RunReport {
                flow: flow.name.clone(),
                ..RunReport::default()
            },
            last_boundary: Instant::now(),
        };
        let boundary = folder.boundary(flow);
        if let Some(boundary) = &boundary {
            run.position = boundary.position;
            run.report.stages = boundary.stages.clone();
            run.report.tables = boundary.tables.clone();
            for (name, files) in &boundary.streams {
                for file in files {
                    let output = TaskOutput::from_file(TaskFile::open(folder.path().join(file))?);
                    let mine = output.contributions().filter(|(port, _)| port == name);
                    run.streams
                        .entry(name.clone())
                        .or_default()
                        .extend(mine.map(|(_, contribution)| contribution));
                }
            }
            for (name, file) in &boundary.states {
                let spec = flow
                    .states
                    .get(name)
                    .ok_or_else(|| Error::InvalidFlow(format!("there is no state `{name}`")))?;
                let leased = self.registry.create_state(name, spec, &resources.budget)?;
                load_state(leased.state.as_ref(), &folder.path().join(file))?;
                run.states.0.insert(name.clone(), leased);
            }
        }
        folder.sweep(boundary.as_ref(), run.position.ordinal)?;
        Ok(run)
    }

    /// Runs the unfinished tasks of a stage. Returns whether some of its input or output is in
    /// files: then a boundary is worth writing, to resume from it and to delete the input files.
    fn run_stage(
        &self,
        flow: &Flow,
        stage: &Stage,
        folder: &RunFolder,
        resources: &RunResources,
        run: &mut RunState,
    ) -> Result<bool> {
        let started = Instant::now();
        let spilled_before = self.progress.spilled();
        let threads = self.threads.max(1);
        let reserved = threads as u64 * (resources.shares.task + resources.shares.sort);
        let needed = reserved.saturating_add(self.new_state_bytes(flow, stage, run));
        self.release(stage, folder, resources, run, needed)?;
        let in_states = self.prepare_states(flow, stage, folder, resources, run)?;
        let _reserve = resources.budget.take(
            reserved,
            &format!("the working memory of {threads} threads"),
        )?;
        let tasks = match &stage.input {
            StageInput::Tasks(tasks) => tasks.len(),
            StageInput::Shuffle(name) => {
                let shuffle = flow.shuffles.get(name);
                shuffle.map_or(0, |shuffle| shuffle.partitions as usize)
            }
        };
        let work = |run: &RunState, spill: bool| {
            let input = match &stage.input {
                StageInput::Tasks(_) => None,
                StageInput::Shuffle(name) => run.streams.get(name),
            };
            StageWork {
                flow,
                stage,
                registry: self.registry,
                folder,
                resources,
                ordinal: run.position.ordinal,
                states: &run.states,
                input: input.map(Vec::as_slice).unwrap_or_default(),
                checkpoint: self.checkpoint,
                in_states: &in_states,
                spill,
            }
            .run(tasks, threads)
        };
        let done = match work(run, false) {
            // Stage functions use the budget too. If the outputs of finished tasks left too little
            // for one of them, the stage runs again with all outputs on disk.
            Err(Error::TooLittleMemory { .. }) => {
                self.progress.clear_abort();
                self.release(stage, folder, resources, run, u64::MAX)?;
                work(run, true)?
            }
            done => done?,
        };
        let input = match &stage.input {
            StageInput::Tasks(_) => Vec::new(),
            StageInput::Shuffle(name) => run.streams.remove(name).unwrap_or_default(),
        };
        let mut report = StageReport {
            name: stage.name.clone(),
            tasks: tasks as u64,
            resumed: done.resumed,
            rows_in: done.rows_in,
            spilled: self.progress.spilled() - spilled_before,
            ..StageReport::default()
        };
        let mut had_files = input.iter().any(|contribution| contribution.file.is_some());
        for output in done.outputs {
            had_files |= output.file.is_some();
            for (name, count) in &output.counters {
                let total = report.counters.entry(name.clone()).or_default();
                *total = total.saturating_add(*count);
            }
            for (name, contribution) in output.contributions() {
                let port = &contribution.port;
                report.rows_out = report.rows_out.saturating_add(port.rows);
                report.bytes_out = report.bytes_out.saturating_add(port.bytes);
                if contribution.port.bytes > 0 {
                    run.streams.entry(name).or_default().push(contribution);
                }
            }
        }
        report.seconds = started.elapsed().as_secs_f64();
        run.report.stages.push(report);
        Ok(had_files)
    }

    /// Bytes of the states that a stage writes or reserves and that do not exist yet.
    fn new_state_bytes(&self, flow: &Flow, stage: &Stage, run: &RunState) -> u64 {
        let missing = |name: &&String| !run.states.0.contains_key(*name);
        let names = stage.writes.iter().chain(&stage.reserves).filter(missing);
        let specs = names.filter_map(|name| flow.states.get(name));
        specs.fold(0, |sum, spec| {
            sum.saturating_add(self.registry.state_bytes(spec))
        })
    }

    /// Frees memory until `needed` bytes of the budget are available, by moving outputs of finished
    /// tasks to disk. The input of the stage is moved last, because it is read next. If all of them
    /// are not enough, taking from the budget reports what is missing.
    fn release(
        &self,
        stage: &Stage,
        folder: &RunFolder,
        resources: &RunResources,
        run: &mut RunState,
        needed: u64,
    ) -> Result<()> {
        let budget = &resources.budget;
        let mut contributions = run.streams.values().flatten();
        let in_memory = contributions.any(|contribution| contribution.in_memory);
        if budget.available() >= needed || !in_memory {
            return Ok(());
        }
        self.make_boundary(folder, resources, run)?;
        let input = match &stage.input {
            StageInput::Shuffle(name) => Some(name),
            StageInput::Tasks(_) => None,
        };
        let mut streams: Vec<_> = run.streams.iter_mut().collect();
        streams.sort_by_key(|(name, _)| Some(*name) == input);
        for contribution in streams.into_iter().flat_map(|(_, stream)| stream) {
            if budget.available() >= needed {
                break;
            }
            contribution.drop_memory();
        }
        Ok(())
    }

    /// Creates the states that a stage writes or reserves, or loads them if an earlier run was
    /// interrupted in this stage. Returns the tasks whose changes are in the loaded states.
    fn prepare_states(
        &self,
        flow: &Flow,
        stage: &Stage,
        folder: &RunFolder,
        resources: &RunResources,
        run: &mut RunState,
    ) -> Result<BTreeSet<usize>> {
        let ordinal = run.position.ordinal;
        let specs = |name: &String| flow.states.get(name).map(|spec| (name.clone(), spec));
        let filled: Vec<_> = stage.writes.iter().filter_map(specs).collect();
        let mut in_states = folder.tasks_in_states(ordinal);
        if !filled
            .iter()
            .all(|(name, _)| folder.state_file(ordinal, name).is_file())
        {
            in_states.clear();
        }
        for (name, spec) in filled {
            let states = &mut run.states.0;
            if in_states.is_empty() {
                if let Entry::Vacant(entry) = states.entry(name) {
                    let leased =
                        self.registry
                            .create_state(entry.key(), spec, &resources.budget)?;
                    entry.insert(leased);
                }
                continue;
            }
            // The saved state includes what earlier stages have written.
            states.remove(&name);
            let leased = self.registry.create_state(&name, spec, &resources.budget)?;
            load_state(leased.state.as_ref(), &folder.state_file(ordinal, &name))?;
            states.insert(name, leased);
        }
        for (name, spec) in stage.reserves.iter().filter_map(specs) {
            if let Entry::Vacant(entry) = run.states.0.entry(name) {
                let leased = self
                    .registry
                    .create_state(entry.key(), spec, &resources.budget)?;
                entry.insert(leased);
            }
        }
        Ok(in_states)
    }

    /// Writes the tables that no later stage adds rows to, and drops streams and states that no
    /// later stage uses.
    fn write_finished_tables(&self, flow: &Flow, stage: &Stage, run: &mut RunState) -> Result<()> {
        let later: BTreeSet<&String> = flow
            .steps
            .iter()
            .skip(run.position.step)
            .flat_map(Step::stages)
            .flat_map(|stage| &stage.writes)
            .collect();
        for name in stage
            .writes
            .iter()
            .filter(|name| flow.tables.contains(*name) && !later.contains(name))
        {
            let rows = run.streams.remove(name).unwrap_or_default();
            let table = write_table(
                &self.tables,
                name,
                TableSource::Tasks(&rows),
                self.registry.extend_tables.as_ref(),
                self.threads.max(1),
                &self.progress,
            )?;
            run.report.tables.push(table);
        }
        let remaining = || {
            let steps = flow.steps.iter().skip(run.position.step);
            steps.flat_map(Step::stages)
        };
        // This includes what the last round of an iteration has written for the next one.
        run.streams.retain(|name, _| {
            let read =
                |stage: &Stage| matches!(&stage.input, StageInput::Shuffle(input) if input == name);
            flow.tables.contains(name) || remaining().any(read)
        });
        let states = &mut run.states.0;
        states.retain(|name, _| {
            remaining().any(|stage| stage.reads.contains(name) || stage.writes.contains(name))
        });
        Ok(())
    }

    /// Writes to disk everything that the remaining stages need, and deletes other files.
    fn make_boundary(
        &self,
        folder: &RunFolder,
        resources: &RunResources,
        run: &mut RunState,
    ) -> Result<()> {
        let mut boundary = Boundary {
            position: run.position,
            stages: run.report.stages.clone(),
            tables: run.report.tables.clone(),
            ..Boundary::default()
        };
        let before = run.position.ordinal.saturating_sub(1);
        let mut number = 0;
        for (name, contributions) in &mut run.streams {
            let mut files: Vec<String> = Vec::new();
            for contribution in contributions.iter_mut() {
                if contribution.file.is_none() {
                    let path = folder
                        .path()
                        .join(format!("{before:04}-kept-{number:06}.rows"));
                    number += 1;
                    write_contribution(name, contribution, &path, resources)?;
                }
                if let Some(file) = &contribution.file {
                    let file = file.path().file_name().unwrap_or_default();
                    files.push(file.to_string_lossy().into_owned());
                }
            }
            boundary.streams.insert(name.clone(), files);
        }
        for (name, leased) in &run.states.0 {
            let path = folder.state_file(before, name);
            save_state(leased.state.as_ref(), &path)?;
            let file = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            boundary.states.insert(name.clone(), file);
        }
        folder.write_boundary(&boundary)?;
        run.last_boundary = Instant::now();
        Ok(())
    }
}

/// Moves the position to the next stage.
fn advance(position: &mut Position, step: &Step, report: Option<&StageReport>) -> Result<()> {
    let Step::Repeat {
        stages,
        until_zero,
        max_rounds,
    } = step
    else {
        (position.step, position.stage) = (position.step + 1, 0);
        return Ok(());
    };
    let changes = report.and_then(|report| report.counters.get(until_zero));
    let changes = changes.copied().unwrap_or_default();
    position.changes = position.changes.saturating_add(changes);
    position.stage += 1;
    if position.stage < stages.len() {
        return Ok(());
    }
    let changes = std::mem::take(&mut position.changes);
    position.stage = 0;
    position.round += 1;
    if changes == 0 {
        (position.step, position.round) = (position.step + 1, 0);
    } else if position.round >= *max_rounds {
        return Err(Error::NotConverged {
            counter: until_zero.clone(),
            left: changes,
            rounds: position.round,
        });
    }
    Ok(())
}
