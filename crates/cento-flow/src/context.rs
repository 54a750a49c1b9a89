//! The context of a stage function: its parameters, input and outputs.

use std::any::Any;
use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::budget::MemoryBudget;
use crate::error::{Error, Result};
use crate::flow::{Flow, Stage, StageInput};
use crate::row::{Key, Row};
use crate::sink::{Emitter, Placement, TaskSink};
use crate::sort::Partitioner;
use crate::state::{State, States};
use crate::table::{TableEmitter, TableName, TableRow};
use crate::task_output::TaskOutput;
use crate::wide::WideEmitter;

/// An emitter of rows of any type.
pub(crate) trait AnyEmitter: Any {
    fn flush(&mut self) -> Result<()>;
}

impl<R: Row> AnyEmitter for Emitter<R> {
    fn flush(&mut self) -> Result<()> {
        Emitter::flush(self)
    }
}

impl<T: TableRow> AnyEmitter for TableEmitter<T> {
    fn flush(&mut self) -> Result<()> {
        TableEmitter::flush(self)
    }
}

impl AnyEmitter for WideEmitter {
    fn flush(&mut self) -> Result<()> {
        WideEmitter::flush(self)
    }
}

/// What a stage function knows of its task: parameters, states, and emitters for its output.
pub struct Context<'a> {
    flow: &'a Flow,
    stage: &'a Stage,
    task: usize,
    states: &'a States,
    sink: Rc<TaskSink>,
    emitters: BTreeMap<&'a str, RefCell<Option<Box<dyn AnyEmitter>>>>,
    counters: RefCell<BTreeMap<String, u64>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        flow: &'a Flow,
        stage: &'a Stage,
        task: usize,
        states: &'a States,
        sink: Rc<TaskSink>,
    ) -> Context<'a> {
        Context {
            flow,
            stage,
            task,
            states,
            sink,
            emitters: stage
                .writes
                .iter()
                .map(|name| (name.as_str(), RefCell::new(None)))
                .collect(),
            counters: RefCell::default(),
        }
    }

    /// The stage that the task belongs to.
    pub fn stage(&self) -> &Stage {
        self.stage
    }

    /// The number of the task, or of the partition.
    pub fn task_number(&self) -> usize {
        self.task
    }

    /// Deserialises the task.
    pub fn task<T: DeserializeOwned>(&self) -> Result<T> {
        let StageInput::Tasks(tasks) = &self.stage.input else {
            return Err(Error::InvalidFlow(format!(
                "`{}` is a reduce and has no tasks",
                self.stage.name
            )));
        };
        self.read(tasks.get(self.task).unwrap_or(&Value::Null), "task")
    }

    /// Deserialises the parameters of the stage.
    pub fn parameters<T: DeserializeOwned>(&self) -> Result<T> {
        self.read(&self.stage.parameters, "parameters")
    }

    fn read<T: DeserializeOwned>(&self, value: &Value, what: &str) -> Result<T> {
        T::deserialize(value).map_err(|error| {
            Error::InvalidFlow(format!("the {what} of `{}`: {error}", self.stage.name))
        })
    }

    /// Returns a state that the stage reads or writes.
    pub fn state<S: State>(&self, name: &str) -> Result<Arc<S>> {
        let mut known = self.stage.reads.iter().chain(&self.stage.writes);
        if !known.any(|known| known == name) {
            return Err(Error::InvalidFlow(format!(
                "`{}` does not declare the state `{name}`",
                self.stage.name
            )));
        }
        self.states.get(name)
    }

    /// Returns the emitter for a shuffle. Several shuffles can be open at once, but each only once.
    pub fn shuffle<R: Row>(&self, name: &str) -> Result<RefMut<'_, Emitter<R>>> {
        self.emitter(name, |sink| {
            Emitter::new(name, sink, self.partitioner::<R>(name)?)
        })
    }

    /// Returns the emitter for a shuffle of records of any length.
    pub fn wide_shuffle(&self, name: &str) -> Result<RefMut<'_, WideEmitter>> {
        self.emitter(name, |sink| {
            let partitioner = self.partitioner::<crate::wide::Fragment>(name)?;
            Ok(WideEmitter::new(Emitter::new(name, sink, partitioner)?))
        })
    }

    /// Returns the emitter for a table.
    pub fn table<T: TableRow>(
        &self,
        table: impl Into<TableName<T>>,
    ) -> Result<RefMut<'_, TableEmitter<T>>> {
        let name = table.into().as_str();
        if !self.flow.tables.contains(name) {
            return Err(Error::InvalidFlow(format!("there is no table `{name}`")));
        }
        self.emitter(name, |sink| TableEmitter::new(name, sink))
    }

    /// Adds to a counter, which is in the report and can end an iteration. Counters are exact: a
    /// task that is run again counts once.
    pub fn count(&self, name: &str, amount: u64) {
        let mut counters = self.counters.borrow_mut();
        match counters.get_mut(name) {
            Some(count) => *count += amount,
            None => {
                counters.insert(name.to_owned(), amount);
            }
        }
    }

    /// Fails if the run was cancelled. Functions that work for long without emitting a row should
    /// call this now and then.
    pub fn check(&self) -> Result<()> {
        self.sink.resources().progress.check()
    }

    /// The memory budget, for functions that need a lot of memory.
    pub fn budget(&self) -> &Arc<MemoryBudget> {
        &self.sink.resources().budget
    }

    fn partitioner<R: Row>(&self, name: &str) -> Result<Partitioner> {
        partitioner_of::<R>(self.flow, name)
    }

    fn emitter<O: AnyEmitter>(
        &self,
        name: &str,
        open: impl FnOnce(Rc<TaskSink>) -> Result<O>,
    ) -> Result<RefMut<'_, O>> {
        let mut emitter = self.slot(name)?;
        if emitter.is_none() {
            *emitter = Some(Box::new(open(Rc::clone(&self.sink))?));
        }
        let opened = RefMut::filter_map(emitter, |emitter| {
            let emitter: &mut dyn Any = emitter.as_deref_mut()?;
            emitter.downcast_mut()
        });
        match opened {
            Ok(opened) => Ok(opened),
            Err(_) => Err(mismatch(name, std::any::type_name::<O>())),
        }
    }

    /// Returns the place of the emitter for an output.
    fn slot(&self, name: &str) -> Result<RefMut<'_, Option<Box<dyn AnyEmitter>>>> {
        let cell = self.emitters.get(name).ok_or_else(|| {
            Error::InvalidFlow(format!(
                "`{}` does not declare that it writes `{name}`",
                self.stage.name
            ))
        })?;
        cell.try_borrow_mut()
            .map_err(|_| Error::InvalidFlow(format!("`{}` opens `{name}` twice", self.stage.name)))
    }

    /// Flushes all emitters and finishes the task.
    pub(crate) fn finish(self, placement: Placement) -> Result<TaskOutput> {
        for emitter in self.emitters.into_values() {
            if let Some(mut emitter) = emitter.into_inner() {
                emitter.flush()?;
            }
        }
        self.sink.finish(self.counters.into_inner(), placement)
    }
}

fn mismatch(name: &str, expected: &str) -> Error {
    Error::TypeMismatch {
        name: name.to_owned(),
        found: "rows of another type".to_owned(),
        expected: expected.to_owned(),
    }
}

/// Returns the partitioner of a shuffle for rows of a type.
pub(crate) fn partitioner_of<R: Row>(flow: &Flow, name: &str) -> Result<Partitioner> {
    partitioner_for(R::Key::BITS, flow, name)
}

fn partitioner_for(bits: u32, flow: &Flow, name: &str) -> Result<Partitioner> {
    let shuffle = flow
        .shuffles
        .get(name)
        .ok_or_else(|| Error::InvalidFlow(format!("there is no shuffle `{name}`")))?;
    Ok(Partitioner::new(
        shuffle.key_bits.unwrap_or(bits),
        shuffle.partitions,
    ))
}
