//! The local runner: one process, some threads, one budget.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::assemble::{Rows, write_table};
use crate::budget::{MemoryBudget, Shares};
use crate::chunk::{Contribution, TaskOutput};
use crate::error::{Error, Result};
use crate::flow::{Flow, Input, Stage, Step};
use crate::progress::Progress;
use crate::registry::Registry;
use crate::report::{RunReport, StageReport};
use crate::saved::{load_state, save_state};
use crate::sink::{Workshop, persist};
use crate::site::{Boundary, Position, Site};
use crate::spill::TaskFile;
use crate::state::States;
use crate::work::StageWork;

/// Runs flows on this machine.
///
/// `run(flow, threads, memory) ≡ run(flow, 1, anything)`: tables have the same bytes.
pub struct Runner<'r> {
    /// What the names in flows stand for.
    pub registry: &'r Registry,
    /// Threads that work.
    pub threads: usize,
    /// Bytes of memory that may be used; at least [`MemoryBudget::MINIMUM_PER_THREAD`] for each
    /// thread.
    pub memory: u64,
    /// Where temporary files go. A run that is broken off leaves there what it needs to go on.
    pub temp: PathBuf,
    /// Where tables go, as `NAME.parquet`.
    pub tables: PathBuf,
    /// What those who watch see, and how they stop the run.
    pub progress: Arc<Progress>,
    /// How much work may be lost when the run is broken off. Output that is in memory alone for
    /// longer than this is written to disk as well; with zero, every task's as soon as it is
    /// finished.
    pub checkpoint: Duration,
}

/// A checkpoint interval that costs nothing in short runs and little in long ones.
pub const CHECKPOINT: Duration = Duration::from_secs(60);

/// What a run holds between stages.
pub(crate) struct Holdings {
    /// What was put out and not read yet, by shuffle or table, in the order of stages and tasks.
    streams: BTreeMap<String, Vec<Contribution>>,
    states: States,
    position: Position,
    report: RunReport,
    last_boundary: Instant,
}

impl Runner<'_> {
    /// Runs a flow to its end; goes on where an earlier run of the same flow was broken off.
    ///
    /// The same flow is one of the same JSON, whose tables go to the same place. So a flow must say
    /// which data it is about: if files can change under their names, their checksums belong into
    /// the parameters or the tasks.
    pub fn run(&self, flow: &Flow) -> Result<RunReport> {
        let begun = Instant::now();
        self.registry.check(flow)?;
        let threads = self.threads.max(1);
        let budget = MemoryBudget::new(self.memory, threads)?;
        std::fs::create_dir_all(&self.tables).map_err(|error| Error::io(&self.tables, error))?;
        let site = Site::open(&self.temp, flow, &self.tables)?;
        let workshop = Workshop {
            shares: Shares::new(&budget, threads),
            budget,
            progress: Arc::clone(&self.progress),
            folder: Some(site.path().to_owned()),
        };
        match self.run_in(flow, &site, &workshop) {
            Ok(mut report) => {
                site.remove()?;
                report.seconds = begun.elapsed().as_secs_f64();
                Ok(report)
            }
            Err(error) => {
                site.leave();
                Err(error)
            }
        }
    }

    fn run_in(&self, flow: &Flow, site: &Site, workshop: &Workshop) -> Result<RunReport> {
        let mut holdings = self.begin(flow, site, workshop)?;
        while let Some(step) = flow.steps.get(holdings.position.step) {
            let Some(stage) = step.stages().get(holdings.position.stage) else {
                return Err(Error::Unsound("a round has no stages".to_owned()));
            };
            self.progress
                .place(holdings.position.step, flow.steps.len());
            let had_files = self.run_stage(flow, stage, site, workshop, &mut holdings)?;
            let position = &mut holdings.position;
            position.ordinal += 1;
            let last = holdings.report.stages.last_mut();
            if let (Step::Repeat { .. }, Some(last)) = (step, last) {
                last.round = Some(position.round + 1);
            }
            advance(position, step, holdings.report.stages.last())?;
            self.write_finished_tables(flow, stage, &mut holdings)?;
            let due =
                self.checkpoint.is_zero() || holdings.last_boundary.elapsed() > self.checkpoint;
            if holdings.position.step < flow.steps.len() && (had_files || due) {
                self.make_boundary(site, workshop, &mut holdings)?;
            }
        }
        Ok(holdings.report)
    }

    /// What an earlier run has left, or nothing.
    fn begin(&self, flow: &Flow, site: &Site, workshop: &Workshop) -> Result<Holdings> {
        let mut holdings = Holdings {
            streams: BTreeMap::new(),
            states: States::default(),
            position: Position::default(),
            report: RunReport {
                flow: flow.name.clone(),
                ..RunReport::default()
            },
            last_boundary: Instant::now(),
        };
        let boundary = site.boundary();
        if let Some(boundary) = &boundary {
            holdings.position = boundary.position;
            holdings.report.stages = boundary.stages.clone();
            holdings.report.tables = boundary.tables.clone();
            for (name, files) in &boundary.streams {
                for file in files {
                    let output = TaskOutput::from_file(TaskFile::open(site.path().join(file))?);
                    let mine = output.contributions().filter(|(port, _)| port == name);
                    holdings
                        .streams
                        .entry(name.clone())
                        .or_default()
                        .extend(mine.map(|(_, contribution)| contribution));
                }
            }
            for (name, file) in &boundary.states {
                let spec = flow
                    .states
                    .get(name)
                    .ok_or_else(|| Error::Unsound(format!("there is no state `{name}`")))?;
                let held = self.registry.create_state(name, spec, &workshop.budget)?;
                load_state(held.state.as_ref(), &site.path().join(file))?;
                holdings.states.0.insert(name.clone(), held);
            }
        }
        site.sweep(boundary.as_ref(), holdings.position.ordinal)?;
        Ok(holdings)
    }

    /// Runs all tasks of a stage that are not finished. True if there are files that a boundary
    /// would make superfluous or that one could go on from.
    fn run_stage(
        &self,
        flow: &Flow,
        stage: &Stage,
        site: &Site,
        workshop: &Workshop,
        holdings: &mut Holdings,
    ) -> Result<bool> {
        let begun = Instant::now();
        let spilled_before = self.progress.spilled();
        let threads = self.threads.max(1);
        let reserved = threads as u64 * (workshop.shares.task + workshop.shares.sort);
        let needed = reserved.saturating_add(self.new_state_bytes(flow, stage, holdings));
        self.release(stage, site, workshop, holdings, needed)?;
        let in_states = self.ready_states(flow, stage, site, workshop, holdings)?;
        let _reserve = workshop
            .budget
            .take(reserved, &format!("what {threads} threads work with"))?;
        let tasks = match &stage.input {
            Input::Tasks(tasks) => tasks.len(),
            Input::Shuffle(name) => {
                let shuffle = flow.shuffles.get(name);
                shuffle.map_or(0, |shuffle| shuffle.partitions as usize)
            }
        };
        let work = |holdings: &Holdings, spill: bool| {
            let input = match &stage.input {
                Input::Tasks(_) => None,
                Input::Shuffle(name) => holdings.streams.get(name),
            };
            StageWork {
                flow,
                stage,
                registry: self.registry,
                site,
                workshop,
                ordinal: holdings.position.ordinal,
                states: &holdings.states,
                input: input.map(Vec::as_slice).unwrap_or_default(),
                checkpoint: self.checkpoint,
                in_states: &in_states,
                spill,
            }
            .run(tasks, threads)
        };
        let done = match work(holdings, false) {
            // Stage functions take from the budget too. If outputs of finished tasks occupied what
            // one of them needed, the stage runs again with all of these on disk.
            Err(Error::TooLittleMemory { .. }) => {
                self.progress.clear_abort();
                self.release(stage, site, workshop, holdings, u64::MAX)?;
                work(holdings, true)?
            }
            done => done?,
        };
        let input = match &stage.input {
            Input::Tasks(_) => Vec::new(),
            Input::Shuffle(name) => holdings.streams.remove(name).unwrap_or_default(),
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
                *report.counters.entry(name.clone()).or_default() += count;
            }
            for (name, contribution) in output.contributions() {
                report.rows_out += contribution.port.rows;
                report.bytes_out += contribution.port.bytes;
                if contribution.port.bytes > 0 {
                    holdings.streams.entry(name).or_default().push(contribution);
                }
            }
        }
        report.seconds = begun.elapsed().as_secs_f64();
        holdings.report.stages.push(report);
        Ok(had_files)
    }

    /// Bytes of the states that a stage fills and that do not exist yet.
    fn new_state_bytes(&self, flow: &Flow, stage: &Stage, holdings: &Holdings) -> u64 {
        let missing = |name: &&String| !holdings.states.0.contains_key(*name);
        let names = stage.writes.iter().filter(missing);
        let specs = names.filter_map(|name| flow.states.get(name));
        specs.fold(0, |sum, spec| {
            sum.saturating_add(self.registry.state_bytes(spec))
        })
    }

    /// Frees memory until `needed` bytes of the budget are available: writes the outputs of finished
    /// tasks to disk and drops the copies in memory, those that this stage reads last. Frees all of
    /// them if that is not enough; taking from the budget then says what is missing.
    fn release(
        &self,
        stage: &Stage,
        site: &Site,
        workshop: &Workshop,
        holdings: &mut Holdings,
        needed: u64,
    ) -> Result<()> {
        let budget = &workshop.budget;
        let held = |holdings: &Holdings| {
            let mut contributions = holdings.streams.values().flatten();
            contributions.any(|contribution| contribution.held)
        };
        if budget.available() >= needed || !held(holdings) {
            return Ok(());
        }
        self.make_boundary(site, workshop, holdings)?;
        let input = match &stage.input {
            Input::Shuffle(name) => Some(name),
            Input::Tasks(_) => None,
        };
        let mut streams: Vec<_> = holdings.streams.iter_mut().collect();
        streams.sort_by_key(|(name, _)| Some(*name) == input);
        for contribution in streams.into_iter().flat_map(|(_, stream)| stream) {
            if budget.available() >= needed {
                break;
            }
            contribution.drop_memory();
        }
        Ok(())
    }

    /// Makes the states that a stage fills, or takes them as an earlier run has left them in the
    /// middle of this stage; then these tasks have left their marks in them.
    fn ready_states(
        &self,
        flow: &Flow,
        stage: &Stage,
        site: &Site,
        workshop: &Workshop,
        holdings: &mut Holdings,
    ) -> Result<BTreeSet<usize>> {
        let ordinal = holdings.position.ordinal;
        let specs = |name: &String| flow.states.get(name).map(|spec| (name.clone(), spec));
        let filled: Vec<_> = stage.writes.iter().filter_map(specs).collect();
        let mut in_states = site.tasks_in_states(ordinal);
        if !filled
            .iter()
            .all(|(name, _)| site.state_file(ordinal, name).is_file())
        {
            in_states.clear();
        }
        for (name, spec) in filled {
            let states = &mut holdings.states.0;
            if in_states.is_empty() {
                if let Entry::Vacant(place) = states.entry(name) {
                    let held = self
                        .registry
                        .create_state(place.key(), spec, &workshop.budget)?;
                    place.insert(held);
                }
                continue;
            }
            // In place of what was there before this stage, which it includes.
            states.remove(&name);
            let held = self.registry.create_state(&name, spec, &workshop.budget)?;
            load_state(held.state.as_ref(), &site.state_file(ordinal, &name))?;
            states.insert(name, held);
        }
        Ok(in_states)
    }

    /// Writes the tables that nothing after this stage adds to.
    fn write_finished_tables(
        &self,
        flow: &Flow,
        stage: &Stage,
        holdings: &mut Holdings,
    ) -> Result<()> {
        let later: BTreeSet<&String> = flow
            .steps
            .iter()
            .skip(holdings.position.step)
            .flat_map(Step::stages)
            .flat_map(|stage| &stage.writes)
            .collect();
        for name in stage
            .writes
            .iter()
            .filter(|name| flow.tables.contains(*name) && !later.contains(name))
        {
            let rows = holdings.streams.remove(name).unwrap_or_default();
            let table = write_table(
                &self.tables,
                name,
                Rows::Tasks(&rows),
                self.threads.max(1),
                &self.progress,
            )?;
            holdings.report.tables.push(table);
        }
        let remaining = || {
            let steps = flow.steps.iter().skip(holdings.position.step);
            steps.flat_map(Step::stages)
        };
        // What an iteration has left for a round that does not come is not needed either.
        holdings.streams.retain(|name, _| {
            let read =
                |stage: &Stage| matches!(&stage.input, Input::Shuffle(input) if input == name);
            flow.tables.contains(name) || remaining().any(read)
        });
        let states = &mut holdings.states.0;
        states.retain(|name, _| {
            remaining().any(|stage| stage.reads.contains(name) || stage.writes.contains(name))
        });
        Ok(())
    }

    /// Puts all that is needed from here on disk, and lets go of all that was needed before.
    fn make_boundary(
        &self,
        site: &Site,
        workshop: &Workshop,
        holdings: &mut Holdings,
    ) -> Result<()> {
        let mut boundary = Boundary {
            position: holdings.position,
            stages: holdings.report.stages.clone(),
            tables: holdings.report.tables.clone(),
            ..Boundary::default()
        };
        let before = holdings.position.ordinal.saturating_sub(1);
        let mut number = 0;
        for (name, contributions) in &mut holdings.streams {
            let mut files: Vec<String> = Vec::new();
            for contribution in contributions.iter_mut() {
                if contribution.file.is_none() {
                    // Numbers after those of all tasks, so that names do not clash.
                    let path = site
                        .path()
                        .join(format!("{before:04}-held-{number:06}.rows"));
                    number += 1;
                    persist(name, contribution, &path, workshop)?;
                }
                if let Some(file) = &contribution.file {
                    let file = file.path().file_name().unwrap_or_default();
                    files.push(file.to_string_lossy().into_owned());
                }
            }
            boundary.streams.insert(name.clone(), files);
        }
        for (name, held) in &holdings.states.0 {
            let path = site.state_file(before, name);
            save_state(held.state.as_ref(), &path)?;
            let file = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            boundary.states.insert(name.clone(), file);
        }
        site.note_boundary(&boundary)?;
        holdings.last_boundary = Instant::now();
        Ok(())
    }
}

/// The stage after this one.
fn advance(position: &mut Position, step: &Step, report: Option<&StageReport>) -> Result<()> {
    let Step::Repeat {
        stages,
        until_zero,
        most_rounds,
    } = step
    else {
        (position.step, position.stage) = (position.step + 1, 0);
        return Ok(());
    };
    let changes = report.and_then(|report| report.counters.get(until_zero));
    position.changes += changes.copied().unwrap_or_default();
    position.stage += 1;
    if position.stage < stages.len() {
        return Ok(());
    }
    let changes = std::mem::take(&mut position.changes);
    position.stage = 0;
    position.round += 1;
    if changes == 0 {
        (position.step, position.round) = (position.step + 1, 0);
    } else if position.round >= *most_rounds {
        return Err(Error::Restless {
            counter: until_zero.clone(),
            left: changes,
            rounds: position.round,
        });
    }
    Ok(())
}
