//! A command that hands out its flows instead of running them.
//!
//! ```text
//!   Python                         thread of the command
//!   FlowServer(words)  ──────────▶ parse, open the corpus, …
//!   next_flow()        ◀────────── Workplace::run reaches a flow that is not cached
//!   run_map(…), …      ─ request ▶ Registry::run_map(…)      as often as needed
//!                      ◀─ answer ─
//!   finish(report)     ──────────▶ summary, run.json, the next flow …
//!   next_flow() = None ◀────────── the command has ended
//! ```
//!
//! Both sides of a cluster use it. The driver asks for each flow, has its tasks run elsewhere, and
//! finishes it with a report. A worker runs the same command up to the same flow, which is the
//! first that is not cached, and runs tasks of it. So no analysis has to know how its functions
//! reach another machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cento::{Captured, CommandError, Session, run_command};
use cento_find::FlowExecutor;
use cento_flow::{Buffers, Flow, MemoryBudget, RunReport, Runner, TableReport, TaskLimits};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::command::captured_dict;
use crate::errors;

/// How often a waiting call looks for signals.
const POLL: Duration = Duration::from_millis(50);

/// What a flow is asked to do.
enum FlowRequest {
    Map {
        stage: String,
        task: usize,
        states: BTreeMap<String, Vec<u8>>,
        memory: u64,
    },
    Reduce {
        stage: String,
        partition: usize,
        buffers: Vec<Vec<u8>>,
        states: BTreeMap<String, Vec<u8>>,
        memory: u64,
    },
    Merge {
        state: String,
        parts: Vec<Vec<u8>>,
    },
    Write {
        table: String,
        parts: Vec<Vec<u8>>,
        threads: usize,
    },
    Finish(Box<RunReport>),
}

/// What the thread of the command says.
enum FlowEvent {
    /// It has reached a flow.
    Flow(Box<FlowFacts>),
    Buffers(Result<Buffers, cento_flow::Error>),
    State(Result<Vec<u8>, cento_flow::Error>),
    Table(Result<TableReport, cento_flow::Error>),
    /// It has ended.
    End(Box<Result<(u8, Captured), CommandError>>),
}

/// What the driver has to know about a flow.
struct FlowFacts {
    flow: Flow,
    tables: PathBuf,
    threads: usize,
    memory: u64,
}

/// Answers requests about a flow until it is finished.
struct ServingExecutor {
    events: Sender<FlowEvent>,
    requests: Receiver<FlowRequest>,
}

impl FlowExecutor for ServingExecutor {
    fn execute(&self, runner: &Runner<'_>, flow: &Flow) -> cento_find::Result<RunReport> {
        let cancelled = |_| cento_find::Error::from(cento_flow::Error::Cancelled);
        let facts = FlowFacts {
            flow: flow.clone(),
            tables: runner.tables.clone(),
            threads: runner.threads,
            memory: runner.memory,
        };
        let sent = self.events.send(FlowEvent::Flow(Box::new(facts)));
        sent.map_err(|_| cento_flow::Error::Cancelled)?;
        loop {
            // The server was dropped: nobody waits for the command any more.
            let request = self.requests.recv().map_err(cancelled)?;
            let limits = |memory: u64| TaskLimits {
                memory: memory.max(MemoryBudget::MINIMUM_PER_THREAD),
                progress: Arc::clone(&runner.progress),
            };
            let registry = runner.registry;
            let event = match request {
                FlowRequest::Map {
                    stage,
                    task,
                    states,
                    memory,
                } => FlowEvent::Buffers(registry.run_map(
                    flow,
                    &stage,
                    task,
                    &states,
                    &limits(memory),
                )),
                FlowRequest::Reduce {
                    stage,
                    partition,
                    buffers,
                    states,
                    memory,
                } => {
                    let parts: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
                    let limits = limits(memory);
                    let done =
                        registry.run_reduce(flow, &stage, partition, &parts, &states, &limits);
                    FlowEvent::Buffers(done)
                }
                FlowRequest::Merge { state, parts } => {
                    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
                    FlowEvent::State(registry.merge_states(flow, &state, &parts))
                }
                FlowRequest::Write {
                    table,
                    parts,
                    threads,
                } => {
                    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
                    FlowEvent::Table(registry.write_table(&runner.tables, &table, &parts, threads))
                }
                FlowRequest::Finish(report) => return Ok(*report),
            };
            let sent = self.events.send(event);
            sent.map_err(|_| cento_flow::Error::Cancelled)?;
        }
    }
}

/// The ends of both channels on the side of Python, and the outcome of the command.
struct FlowConnection {
    events: Receiver<FlowEvent>,
    requests: Sender<FlowRequest>,
    ended: Option<Result<(u8, Captured), CommandError>>,
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
    fn wait(&self, py: Python<'_>) -> PyResult<FlowEvent> {
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

    fn ask(&self, py: Python<'_>, request: FlowRequest) -> PyResult<FlowEvent> {
        let sent = self.lock().requests.send(request);
        sent.map_err(|_| errors::usage(py, "the command has ended"))?;
        self.wait(py)
    }

    fn buffers<'py>(&self, py: Python<'py>, request: FlowRequest) -> PyResult<Bound<'py, PyDict>> {
        match self.ask(py, request)? {
            FlowEvent::Buffers(Ok(buffers)) => dict_of(py, &buffers),
            FlowEvent::Buffers(Err(error)) => Err(errors::of_flow(py, error)),
            other => Err(unexpected(py, other)),
        }
    }
}

/// The command failed instead of answering, for example because it was cancelled.
fn unexpected(py: Python<'_>, event: FlowEvent) -> PyErr {
    match event {
        FlowEvent::End(outcome) => match *outcome {
            Err(error) => errors::of_command(py, &error),
            Ok(_) => errors::usage(py, "the command has ended"),
        },
        _ => errors::usage(py, "a flow has to be requested with next_flow() first"),
    }
}

fn dict_of<'py>(py: Python<'py>, buffers: &Buffers) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let shuffles = PyDict::new(py);
    for (name, parts) in &buffers.shuffles {
        let parts: Vec<_> = parts.iter().map(|part| PyBytes::new(py, part)).collect();
        shuffles.set_item(name, parts)?;
    }
    result.set_item("shuffles", shuffles)?;
    for (kind, values) in [("tables", &buffers.tables), ("states", &buffers.states)] {
        let named = PyDict::new(py);
        for (name, bytes) in values {
            named.set_item(name, PyBytes::new(py, bytes))?;
        }
        result.set_item(kind, named)?;
    }
    result.set_item("counters", buffers.counters.clone())?;
    result.set_item("rows", buffers.rows.clone())?;
    Ok(result)
}

/// Copies bytes from Python, so that the thread of the command can use them without the GIL.
fn bytes_of(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    Ok(value.cast::<PyBytes>()?.as_bytes().to_vec())
}

fn all_bytes(values: &[Bound<'_, PyAny>]) -> PyResult<Vec<Vec<u8>>> {
    values.iter().map(bytes_of).collect()
}

fn named_bytes(values: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, Vec<u8>>> {
    let items = values.iter();
    items
        .map(|(name, value)| Ok((name.extract()?, bytes_of(&value)?)))
        .collect()
}

#[pymethods]
impl FlowServer {
    /// Starts a command. It runs until it needs a flow, and waits there.
    #[new]
    fn new(words: Vec<OsString>, quiet: bool) -> PyResult<FlowServer> {
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
                });
                let outcome = run_command(words, &of_thread, executor);
                let _ = event_sender.send(FlowEvent::End(Box::new(outcome)));
            })?;
        Ok(FlowServer {
            session,
            connection: Mutex::new(FlowConnection {
                events,
                requests,
                ended: None,
            }),
        })
    }

    /// Waits for the next flow, and returns it as JSON with the folder of its tables, the threads
    /// and the memory. None if the command has ended.
    fn next_flow(&self, py: Python<'_>) -> PyResult<Option<(String, PathBuf, usize, u64)>> {
        if self.lock().ended.is_some() {
            return Ok(None);
        }
        match self.wait(py)? {
            FlowEvent::Flow(facts) => {
                let flow = serde_json::json!(facts.flow).to_string();
                Ok(Some((flow, facts.tables, facts.threads, facts.memory)))
            }
            FlowEvent::End(outcome) => {
                self.lock().ended = Some(*outcome);
                Ok(None)
            }
            other => Err(unexpected(py, other)),
        }
    }

    /// Runs one task of a map.
    fn run_map<'py>(
        &self,
        py: Python<'py>,
        stage: String,
        task: usize,
        states: &Bound<'py, PyDict>,
        memory: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let states = named_bytes(states)?;
        let request = FlowRequest::Map {
            stage,
            task,
            states,
            memory,
        };
        self.buffers(py, request)
    }

    /// Runs a reduce over one partition.
    fn run_reduce<'py>(
        &self,
        py: Python<'py>,
        stage: String,
        partition: usize,
        buffers: Vec<Bound<'py, PyAny>>,
        states: &Bound<'py, PyDict>,
        memory: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let request = FlowRequest::Reduce {
            stage,
            partition,
            buffers: all_bytes(&buffers)?,
            states: named_bytes(states)?,
            memory,
        };
        self.buffers(py, request)
    }

    /// Merges the states of tasks.
    fn merge_states<'py>(
        &self,
        py: Python<'py>,
        state: String,
        parts: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let parts = all_bytes(&parts)?;
        match self.ask(py, FlowRequest::Merge { state, parts })? {
            FlowEvent::State(Ok(bytes)) => Ok(PyBytes::new(py, &bytes)),
            FlowEvent::State(Err(error)) => Err(errors::of_flow(py, error)),
            other => Err(unexpected(py, other)),
        }
    }

    /// Writes a table from the rows of all tasks, and returns its report as JSON.
    fn write_table(
        &self,
        py: Python<'_>,
        table: String,
        parts: Vec<Bound<'_, PyAny>>,
        threads: usize,
    ) -> PyResult<String> {
        let parts = all_bytes(&parts)?;
        let request = FlowRequest::Write {
            table,
            parts,
            threads,
        };
        match self.ask(py, request)? {
            FlowEvent::Table(Ok(report)) => Ok(serde_json::json!(report).to_string()),
            FlowEvent::Table(Err(error)) => Err(errors::of_flow(py, error)),
            other => Err(unexpected(py, other)),
        }
    }

    /// Finishes the flow with its report, as JSON. The command goes on to its next flow.
    fn finish(&self, py: Python<'_>, report: &str) -> PyResult<()> {
        let report: RunReport = serde_json::from_str(report)
            .map_err(|error| errors::usage(py, &format!("invalid report: {error}")))?;
        let sent = self
            .lock()
            .requests
            .send(FlowRequest::Finish(Box::new(report)));
        sent.map_err(|_| errors::usage(py, "the command has ended"))
    }

    /// Cancels the command.
    fn cancel(&self) {
        self.session.cancel();
    }

    /// Returns what the command printed and found, like `run`, after `next_flow` returned None.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ended = self.lock().ended.take();
        match ended {
            Some(Ok((status, captured))) => captured_dict(py, status, captured),
            Some(Err(error)) => Err(errors::of_command(py, &error)),
            None => Err(errors::usage(py, "the command has not ended")),
        }
    }
}
