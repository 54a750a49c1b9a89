//! A command that hands out its flows, and the tasks of indexing, instead of running them.
//!
//! ```text
//!   Python                         thread of the command
//!   FlowServer(words)  ──────────▶ parse, open the corpus, …
//!   next_step()        ◀────────── Workplace::run reaches a flow that is not cached,
//!                                  or Build::run a corpus that is not complete
//!   run_maps(…), …     ─ request ▶ Registry::run_maps(…)     as often as needed
//!                      ◀─ answer ─
//!   finish(report)     ──────────▶ summary, run.json, the next step …
//!   next_step() = None ◀────────── the command has ended
//! ```
//!
//! Both sides of a cluster use it. The driver asks for each step, has its tasks run elsewhere, and
//! finishes it with a report. A worker runs the same command up to the same step, which is the
//! first that is not done, and runs tasks of it. So no analysis has to know how its functions reach
//! another machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use cento::{Captured, CommandError, Session, run_command};
use cento_find::{ExecutorRole, FlowExecutor};
use cento_flow::{
    Flow, MAX_PARTITIONS, RunReport, Runner, SentState, StateUse, TableReport, TaskLimits, TaskRows,
};
use cento_store::{BuildExecutor, BuildTasks, FinishedTask};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::command::captured_dict;
use crate::errors;
use crate::object_bytes::{ObjectBytes, shared};
use crate::task_output::{TaskOutput, state_bytes};

/// How often a waiting call looks for signals.
const POLL: Duration = Duration::from_millis(50);

/// Bytes of memory: what a task may use, and what its output may occupy in the end.
type TaskMemory = (u64, u64);

/// What a step is asked to do.
enum StepRequest {
    Map {
        stage: String,
        tasks: Vec<usize>,
        states: BTreeMap<String, ObjectBytes>,
        memory: TaskMemory,
    },
    Reduce {
        stage: String,
        partition: usize,
        buffers: Vec<ObjectBytes>,
        states: BTreeMap<String, ObjectBytes>,
        memory: TaskMemory,
    },
    Merge {
        state: String,
        parts: Vec<ObjectBytes>,
        used_for: StateUse,
    },
    /// Write a table from the rows that arrive, until there are none. If the sender is dropped
    /// before, the table is not written.
    Write {
        table: String,
        rows: Receiver<Option<ObjectBytes>>,
    },
    /// Divide shuffles into this many partitions.
    Partition(u32),
    Finish(Box<RunReport>),
    /// Run a task of indexing.
    RunTask {
        task: u32,
        memory: u64,
    },
    /// Publish finished tasks of indexing.
    Commit(Vec<FinishedTask>),
    FinishIndex,
}

/// What the thread of the command says.
enum StepEvent {
    /// It has reached a flow.
    Flow(Box<FlowFacts>),
    /// It has reached the tasks of a corpus, and these are unfinished.
    Index(PathBuf, Vec<u32>),
    Finished(cento_store::Result<FinishedTask>),
    Committed(cento_store::Result<()>),
    Partitioned(Box<Flow>),
    Maps(Result<Vec<TaskRows>, cento_flow::Error>),
    Rows(Result<TaskRows, cento_flow::Error>),
    State(Result<SentState, cento_flow::Error>),
    Table(Result<TableReport, cento_flow::Error>),
    /// It has ended.
    End(Box<Result<(u8, Captured), CommandError>>),
}

/// What the driver has to know about a flow.
struct FlowFacts {
    flow: Flow,
    tables: PathBuf,
    /// The bytes of each of its states, and whether it has a view.
    states: BTreeMap<String, (u64, bool)>,
}

/// Answers requests about a step until it is finished.
struct ServingExecutor {
    events: Sender<StepEvent>,
    requests: Receiver<StepRequest>,
    is_worker: bool,
}

impl BuildExecutor for ServingExecutor {
    fn execute(&self, tasks: &BuildTasks<'_>) -> cento_store::Result<()> {
        use cento_store::Error;
        // No other process can read what only this one can.
        if tasks.has_streams() {
            return tasks.run_here();
        }
        let facts = StepEvent::Index(tasks.corpus().to_owned(), tasks.unfinished());
        self.events.send(facts).map_err(|_| Error::Cancelled)?;
        loop {
            let event = match self.requests.recv().map_err(|_| Error::Cancelled)? {
                StepRequest::RunTask { task, memory } => {
                    StepEvent::Finished(tasks.run_task(task, memory))
                }
                StepRequest::Commit(finished) => StepEvent::Committed(tasks.commit(&finished)),
                StepRequest::FinishIndex => return Ok(()),
                _ => {
                    let message = "a flow was asked of a command that indexes";
                    return Err(Error::Internal(message.to_owned()));
                }
            };
            self.events.send(event).map_err(|_| Error::Cancelled)?;
        }
    }

    fn is_worker(&self) -> bool {
        self.is_worker
    }
}

impl FlowExecutor for ServingExecutor {
    fn role(&self) -> ExecutorRole {
        match self.is_worker {
            true => ExecutorRole::Worker,
            false => ExecutorRole::Driver,
        }
    }

    fn execute(&self, runner: &Runner<'_>, flow: &Flow) -> cento_find::Result<RunReport> {
        use cento_flow::Error;
        let facts = FlowFacts {
            flow: flow.clone(),
            tables: runner.tables.clone(),
            states: runner.registry.state_sizes(flow),
        };
        let sent = self.events.send(StepEvent::Flow(Box::new(facts)));
        sent.map_err(|_| Error::Cancelled)?;
        let mut flow = flow.clone();
        loop {
            // The server was dropped: nobody waits for the command any more.
            let request = self.requests.recv().map_err(|_| Error::Cancelled)?;
            let event = match request {
                StepRequest::Finish(report) => return Ok(*report),
                StepRequest::Partition(partitions) => {
                    divide(&mut flow, partitions);
                    StepEvent::Partitioned(Box::new(flow.clone()))
                }
                request => answer(runner, &flow, request)?,
            };
            self.events.send(event).map_err(|_| Error::Cancelled)?;
        }
    }
}

/// Sets the number of partitions of all shuffles for which it is not fixed. Results do not depend on
/// it.
fn divide(flow: &mut Flow, partitions: u32) {
    for shuffle in flow.shuffles.values_mut() {
        if !shuffle.fixed {
            shuffle.partitions = partitions.clamp(1, MAX_PARTITIONS);
        }
    }
}

/// Does what a flow is asked to do.
fn answer(
    runner: &Runner<'_>,
    flow: &Flow,
    request: StepRequest,
) -> Result<StepEvent, cento_flow::Error> {
    let registry = runner.registry;
    let limits = |(memory, output): TaskMemory| TaskLimits {
        memory,
        output,
        temp: std::env::temp_dir(),
        progress: Arc::clone(&runner.progress),
    };
    Ok(match request {
        StepRequest::Map {
            stage,
            tasks,
            states,
            memory,
        } => {
            let states = shared(states);
            let limits = limits(memory);
            StepEvent::Maps(registry.run_maps(flow, &stage, &tasks, &states, &limits))
        }
        StepRequest::Reduce {
            stage,
            partition,
            buffers,
            states,
            memory,
        } => {
            let parts: Vec<&[u8]> = buffers.iter().map(AsRef::as_ref).collect();
            let states = shared(states);
            let limits = limits(memory);
            let done = registry.run_reduce(flow, &stage, partition, &parts, &states, &limits);
            StepEvent::Rows(done)
        }
        StepRequest::Merge {
            state,
            parts,
            used_for,
        } => {
            let parts: Vec<&[u8]> = parts.iter().map(AsRef::as_ref).collect();
            StepEvent::State(registry.merge_states(flow, &state, &parts, used_for))
        }
        StepRequest::Write { table, rows } => {
            let mut ended = false;
            let mut next = move || {
                if ended {
                    return Ok(None);
                }
                let rows = rows.recv().map_err(|_| cento_flow::Error::Cancelled)?;
                ended = rows.is_none();
                Ok(rows.map(Bytes::from_owner))
            };
            let folder = &runner.tables;
            let written = registry.write_table(folder, &table, &mut next, &runner.progress);
            StepEvent::Table(written)
        }
        _ => {
            let message = "indexing was asked of a command that runs a flow";
            return Err(cento_flow::Error::InvalidFlow(message.to_owned()));
        }
    })
}

/// The ends of both channels on the side of Python, and the outcome of the command.
struct FlowConnection {
    events: Receiver<StepEvent>,
    /// None after the command was cancelled.
    requests: Option<Sender<StepRequest>>,
    ended: Option<Result<(u8, Captured), CommandError>>,
    /// Where the rows of the table go that is being written.
    table: Option<SyncSender<Option<ObjectBytes>>>,
}

/// A command that hands out its flows.
#[pyclass(frozen, module = "cento._cento")]
pub(crate) struct FlowServer {
    session: Arc<Session>,
    connection: Mutex<FlowConnection>,
}

impl FlowServer {
    fn lock(&self) -> MutexGuard<'_, FlowConnection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next event, without the GIL, and looks for signals.
    fn wait(&self, py: Python<'_>) -> PyResult<StepEvent> {
        loop {
            let waited = py.detach(|| self.lock().events.recv_timeout(POLL));
            match waited {
                Ok(event) => return Ok(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(errors::usage(py, "the command has ended"));
                }
            }
            if let Err(error) = py.check_signals() {
                self.session.cancel();
                return Err(error);
            }
        }
    }

    fn ask(&self, py: Python<'_>, request: StepRequest) -> PyResult<StepEvent> {
        self.send(py, request)?;
        self.wait(py)
    }

    fn send(&self, py: Python<'_>, request: StepRequest) -> PyResult<()> {
        let requests = self.lock().requests.clone();
        let sent = requests.is_some_and(|requests| requests.send(request).is_ok());
        sent.then_some(())
            .ok_or_else(|| errors::usage(py, "the command has ended"))
    }

    fn rows(&self, py: Python<'_>, request: StepRequest) -> PyResult<TaskOutput> {
        match self.ask(py, request)? {
            StepEvent::Rows(Ok(rows)) => Ok(TaskOutput::new(rows)),
            StepEvent::Rows(Err(error)) => Err(errors::of_flow(py, error)),
            other => Err(unexpected(py, other)),
        }
    }
}

/// The command failed instead of answering, for example because it was cancelled.
fn unexpected(py: Python<'_>, event: StepEvent) -> PyErr {
    match event {
        StepEvent::End(outcome) => match *outcome {
            Err(error) => errors::of_command(py, &error),
            Ok(_) => errors::usage(py, "the command has ended"),
        },
        _ => errors::usage(py, "a step has to be requested with next_step() first"),
    }
}

#[pymethods]
impl FlowServer {
    /// Starts a command. It runs until it needs a step, and waits there. A worker joins the index
    /// that its driver has started.
    #[new]
    fn new(words: Vec<OsString>, quiet: bool, is_worker: bool) -> PyResult<FlowServer> {
        let session = Session::capturing(quiet);
        let (event_sender, events) = channel();
        let (requests, request_receiver) = channel();
        let of_thread = Arc::clone(&session);
        let words = std::iter::once("cento".into()).chain(words).collect();
        std::thread::Builder::new()
            .name("cento".to_owned())
            .spawn(move || {
                let executor = Rc::new(ServingExecutor {
                    events: event_sender.clone(),
                    requests: request_receiver,
                    is_worker,
                });
                let builds = Rc::clone(&executor);
                let outcome = run_command(words, &of_thread, executor, builds);
                let _ = event_sender.send(StepEvent::End(Box::new(outcome)));
            })?;
        Ok(FlowServer {
            session,
            connection: Mutex::new(FlowConnection {
                events,
                requests: Some(requests),
                ended: None,
                table: None,
            }),
        })
    }

    /// Waits for the next step. None if the command has ended. A flow is a dict with `flow` (as
    /// JSON), `tables` (their folder), `temporary` (whether it is removed when the command ends) and
    /// `states` (the bytes of each, and whether tasks can read it where it is). An index is a dict
    /// with `corpus` and `tasks` (the numbers of those that are unfinished).
    fn next_step<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if self.lock().ended.is_some() {
            return Ok(None);
        }
        let step = PyDict::new(py);
        match self.wait(py)? {
            StepEvent::Flow(facts) => {
                step.set_item("flow", serde_json::json!(facts.flow).to_string())?;
                let temporary = cento_file::is_in_private_folder(&facts.tables);
                step.set_item("temporary", temporary)?;
                step.set_item("tables", facts.tables)?;
                step.set_item("states", facts.states)?;
            }
            StepEvent::Index(corpus, tasks) => {
                step.set_item("corpus", corpus)?;
                step.set_item("tasks", tasks)?;
            }
            StepEvent::End(outcome) => {
                self.lock().ended = Some(*outcome);
                return Ok(None);
            }
            other => return Err(unexpected(py, other)),
        }
        Ok(Some(step))
    }

    /// Divides the shuffles of the flow into this many partitions, unless they have a number of
    /// their own, and returns the flow as JSON. Driver and workers have to ask for the same.
    fn set_partitions(&self, py: Python<'_>, partitions: u32) -> PyResult<String> {
        match self.ask(py, StepRequest::Partition(partitions))? {
            StepEvent::Partitioned(flow) => Ok(serde_json::json!(flow).to_string()),
            other => Err(unexpected(py, other)),
        }
    }

    /// Runs tasks of a map, one after the other. `memory` is what they may use, and what their
    /// output may occupy. The last one returns the states that all of them have written to.
    fn run_maps(
        &self,
        py: Python<'_>,
        stage: String,
        tasks: Vec<usize>,
        states: BTreeMap<String, ObjectBytes>,
        memory: TaskMemory,
    ) -> PyResult<Vec<TaskOutput>> {
        let request = StepRequest::Map {
            stage,
            tasks,
            states,
            memory,
        };
        match self.ask(py, request)? {
            StepEvent::Maps(Ok(rows)) => Ok(rows.into_iter().map(TaskOutput::new).collect()),
            StepEvent::Maps(Err(error)) => Err(errors::of_flow(py, error)),
            other => Err(unexpected(py, other)),
        }
    }

    /// Runs a reduce over one partition.
    fn run_reduce(
        &self,
        py: Python<'_>,
        stage: String,
        partition: usize,
        buffers: Vec<ObjectBytes>,
        states: BTreeMap<String, ObjectBytes>,
        memory: TaskMemory,
    ) -> PyResult<TaskOutput> {
        let request = StepRequest::Reduce {
            stage,
            partition,
            buffers,
            states,
            memory,
        };
        self.rows(py, request)
    }

    /// Merges the states of tasks, for what `used_for` says: "merge", "read" or both, "read and
    /// merge".
    fn merge_states<'py>(
        &self,
        py: Python<'py>,
        state: String,
        parts: Vec<ObjectBytes>,
        used_for: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let used_for = match used_for {
            "merge" => StateUse::Merge,
            "read" => StateUse::Read,
            "read and merge" => StateUse::ReadAndMerge,
            other => return Err(errors::usage(py, &format!("no state is sent to {other}"))),
        };
        let request = StepRequest::Merge {
            state,
            parts,
            used_for,
        };
        match self.ask(py, request)? {
            StepEvent::State(Ok(state)) => state_bytes(py, &state),
            StepEvent::State(Err(error)) => Err(errors::of_flow(py, error)),
            other => Err(unexpected(py, other)),
        }
    }

    /// Begins to write a table.
    fn begin_table(&self, py: Python<'_>, table: String) -> PyResult<()> {
        // At most one buffer waits while another is encoded.
        let (sender, rows) = sync_channel(1);
        self.lock().table = Some(sender);
        self.send(py, StepRequest::Write { table, rows })
    }

    /// Adds the rows of the next task to the table that is being written. Waits until those before
    /// are encoded.
    fn add_rows(&self, py: Python<'_>, rows: ObjectBytes) -> PyResult<()> {
        let table = self.lock().table.clone();
        let table = table.ok_or_else(|| errors::usage(py, "no table is being written"))?;
        // If the table cannot be written, `end_table` raises why.
        let _ = py.detach(|| table.send(Some(rows)));
        Ok(())
    }

    /// Does not write the table that was begun.
    fn abort_table(&self, py: Python<'_>) -> PyResult<()> {
        self.lock().table = None;
        self.wait(py).map(|_| ())
    }

    /// Ends the table, and returns its report as JSON.
    fn end_table(&self, py: Python<'_>) -> PyResult<String> {
        if let Some(table) = self.lock().table.take() {
            let _ = py.detach(|| table.send(None));
        }
        match self.wait(py)? {
            StepEvent::Table(Ok(report)) => Ok(serde_json::json!(report).to_string()),
            StepEvent::Table(Err(error)) => Err(errors::of_flow(py, error)),
            other => Err(unexpected(py, other)),
        }
    }

    /// Runs one task of an index on a worker, and returns what its driver has to commit, as JSON.
    fn run_task(&self, py: Python<'_>, task: u32, memory: u64) -> PyResult<String> {
        match self.ask(py, StepRequest::RunTask { task, memory })? {
            StepEvent::Finished(Ok(finished)) => Ok(serde_json::json!(finished).to_string()),
            StepEvent::Finished(Err(error)) => Err(errors::of_library(py, error)),
            other => Err(unexpected(py, other)),
        }
    }

    /// Publishes tasks of an index that workers have finished.
    fn commit_tasks(&self, py: Python<'_>, finished: Vec<String>) -> PyResult<()> {
        let parse = |json: &String| serde_json::from_str(json);
        let finished: Result<Vec<FinishedTask>, _> = finished.iter().map(parse).collect();
        let finished =
            finished.map_err(|error| errors::usage(py, &format!("invalid task: {error}")))?;
        match self.ask(py, StepRequest::Commit(finished))? {
            StepEvent::Committed(Ok(())) => Ok(()),
            StepEvent::Committed(Err(error)) => Err(errors::of_library(py, error)),
            other => Err(unexpected(py, other)),
        }
    }

    /// Finishes the index, all tasks of which are committed.
    fn finish_index(&self, py: Python<'_>) -> PyResult<()> {
        self.send(py, StepRequest::FinishIndex)
    }

    /// Finishes the flow with its report, as JSON. The command goes on to its next step.
    fn finish(&self, py: Python<'_>, report: &str) -> PyResult<()> {
        let report: RunReport = serde_json::from_str(report)
            .map_err(|error| errors::usage(py, &format!("invalid report: {error}")))?;
        self.send(py, StepRequest::Finish(Box::new(report)))
    }

    /// Cancels the command, and waits until it has ended: the same command may be started again at
    /// once, and needs its locks.
    fn cancel(&self, py: Python<'_>) {
        self.session.cancel();
        py.detach(|| {
            let mut connection = self.lock();
            connection.requests = None;
            connection.table = None;
            while connection.ended.is_none() {
                match connection.events.recv() {
                    Ok(StepEvent::End(outcome)) => connection.ended = Some(*outcome),
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
        });
    }

    /// Returns what the command printed and found, like `run`, after `next_step` returned None.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ended = self.lock().ended.take();
        match ended {
            Some(Ok((status, captured))) => captured_dict(py, status, captured),
            Some(Err(error)) => Err(errors::of_command(py, &error)),
            None => Err(errors::usage(py, "the command has not ended")),
        }
    }
}
