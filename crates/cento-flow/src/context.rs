//! What a stage function sees of the run that it is part of.

use std::any::Any;
use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::budget::MemoryBudget;
use crate::chunk::TaskOutput;
use crate::error::{Error, Result};
use crate::flow::{Flow, Input, Stage};
use crate::row::{Key, Row};
use crate::sink::{Emitter, Keep, TaskSink};
use crate::sort::Partitioner;
use crate::state::{State, States};
use crate::table::{TableEmitter, TableName, TableRow};
use crate::wide::WideEmitter;

/// Anything that takes the output of a task.
pub(crate) trait Outlet: Any {
    fn flush(&mut self) -> Result<()>;
}

impl<R: Row> Outlet for Emitter<R> {
    fn flush(&mut self) -> Result<()> {
        Emitter::flush(self)
    }
}

impl<T: TableRow> Outlet for TableEmitter<T> {
    fn flush(&mut self) -> Result<()> {
        TableEmitter::flush(self)
    }
}

impl Outlet for WideEmitter {
    fn flush(&mut self) -> Result<()> {
        WideEmitter::flush(self)
    }
}

/// The surroundings of one task: its parameters, what it may read, and where its output goes.
pub struct Context<'a> {
    flow: &'a Flow,
    stage: &'a Stage,
    task: usize,
    states: &'a States,
    sink: Rc<TaskSink>,
    outlets: BTreeMap<&'a str, RefCell<Option<Box<dyn Outlet>>>>,
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
            outlets: stage
                .writes
                .iter()
                .map(|name| (name.as_str(), RefCell::new(None)))
                .collect(),
            counters: RefCell::default(),
        }
    }

    /// The stage.
    pub fn stage(&self) -> &Stage {
        self.stage
    }

    /// Which task it is, or which partition.
    pub fn task_number(&self) -> usize {
        self.task
    }

    /// What the task is, as the flow has it.
    pub fn task<T: DeserializeOwned>(&self) -> Result<T> {
        let Input::Tasks(tasks) = &self.stage.input else {
            return Err(Error::Unsound(format!(
                "`{}` is a reduce and has no tasks",
                self.stage.name
            )));
        };
        self.read(tasks.get(self.task).unwrap_or(&Value::Null), "task")
    }

    /// The parameters of the stage.
    pub fn parameters<T: DeserializeOwned>(&self) -> Result<T> {
        self.read(&self.stage.parameters, "parameters")
    }

    fn read<T: DeserializeOwned>(&self, value: &Value, what: &str) -> Result<T> {
        T::deserialize(value).map_err(|error| {
            Error::Unsound(format!("the {what} of `{}`: {error}", self.stage.name))
        })
    }

    /// A state: one that earlier stages have built, or one that this stage builds.
    pub fn state<S: State>(&self, name: &str) -> Result<Arc<S>> {
        let mut known = self.stage.reads.iter().chain(&self.stage.writes);
        if !known.any(|known| known == name) {
            return Err(Error::Unsound(format!(
                "`{}` names no state `{name}`",
                self.stage.name
            )));
        }
        self.states.get(name)
    }

    /// Where rows for a shuffle go. Several can be open at once, each of them once.
    pub fn shuffle<R: Row>(&self, name: &str) -> Result<RefMut<'_, Emitter<R>>> {
        self.outlet(name, |sink| {
            Emitter::new(name, sink, self.partitioner::<R>(name)?)
        })
    }

    /// Where rows of any length for a shuffle go.
    pub fn wide_shuffle(&self, name: &str) -> Result<RefMut<'_, WideEmitter>> {
        self.outlet(name, |sink| {
            let partitioner = self.partitioner::<crate::wide::Fragment>(name)?;
            Ok(WideEmitter::new(Emitter::new(name, sink, partitioner)?))
        })
    }

    /// Where rows for a table go.
    pub fn table<T: TableRow>(
        &self,
        table: impl Into<TableName<T>>,
    ) -> Result<RefMut<'_, TableEmitter<T>>> {
        let name = table.into().as_str();
        if !self.flow.tables.contains(name) {
            return Err(Error::Unsound(format!("`{name}` is no table")));
        }
        self.outlet(name, |sink| TableEmitter::new(name, sink))
    }

    /// Adds to a counter, which the report shows and which an iteration can wait for. Exact: a task
    /// that is done again counts once.
    pub fn count(&self, name: &str, amount: u64) {
        let mut counters = self.counters.borrow_mut();
        match counters.get_mut(name) {
            Some(count) => *count += amount,
            None => {
                counters.insert(name.to_owned(), amount);
            }
        }
    }

    /// Fails if the run was told to stop. Functions that work long without putting out a row should
    /// ask now and then.
    pub fn check(&self) -> Result<()> {
        self.sink.workshop().progress.check()
    }

    /// The memory budget, for functions that need much memory of their own.
    pub fn budget(&self) -> &Arc<MemoryBudget> {
        &self.sink.workshop().budget
    }

    fn partitioner<R: Row>(&self, name: &str) -> Result<Partitioner> {
        partitioner_of::<R>(self.flow, name)
    }

    fn outlet<O: Outlet>(
        &self,
        name: &str,
        open: impl FnOnce(Rc<TaskSink>) -> Result<O>,
    ) -> Result<RefMut<'_, O>> {
        let cell = self.outlets.get(name).ok_or_else(|| {
            Error::Unsound(format!("`{}` does not write `{name}`", self.stage.name))
        })?;
        let mut outlet = cell.try_borrow_mut().map_err(|_| {
            Error::Unsound(format!("`{name}` is open twice in `{}`", self.stage.name))
        })?;
        if outlet.is_none() {
            *outlet = Some(Box::new(open(Rc::clone(&self.sink))?));
        }
        let unlike = || Error::Unlike {
            name: name.to_owned(),
            found: "rows of another type".to_owned(),
            wanted: std::any::type_name::<O>().to_owned(),
        };
        RefMut::filter_map(outlet, |outlet| {
            let outlet: &mut dyn Any = outlet.as_deref_mut()?;
            outlet.downcast_mut()
        })
        .map_err(|_| unlike())
    }

    /// Ends the task.
    pub(crate) fn finish(self, keep: Keep) -> Result<TaskOutput> {
        for outlet in self.outlets.into_values() {
            if let Some(mut outlet) = outlet.into_inner() {
                outlet.flush()?;
            }
        }
        self.sink.finish(self.counters.into_inner(), keep)
    }
}

/// How a shuffle distributes rows of a type.
pub(crate) fn partitioner_of<R: Row>(flow: &Flow, name: &str) -> Result<Partitioner> {
    let shuffle = flow
        .shuffles
        .get(name)
        .ok_or_else(|| Error::Unsound(format!("`{name}` is no shuffle")))?;
    Ok(Partitioner::new(
        shuffle.key_bits.unwrap_or(R::Key::BITS),
        shuffle.partitions,
    ))
}
