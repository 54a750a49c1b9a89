//! Which functions the names in a flow stand for.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::Value;

use crate::bits::{Bitmap, Counters, SeenFilter};
use crate::budget::MemoryBudget;
use crate::chunk::Contribution;
use crate::context::{Context, partitioner_of};
use crate::error::{Error, Result, StageError};
use crate::flow::{Flow, Input, StateSpec, Step};
use crate::group::Groups;
use crate::row::Row;
use crate::sink::Workshop;
use crate::state::{AnyState, Held, State};
use crate::stream::{Piece, SortedStream, pieces_of, rows_of};

type MapFunction = Box<dyn Fn(&Context<'_>) -> std::result::Result<(), StageError> + Send + Sync>;

/// Where the rows of a partition come from.
pub(crate) enum Source<'a> {
    /// From tasks of this process.
    Tasks(&'a [Contribution]),
    /// From buffers that someone brought.
    Buffers(&'a [&'a [u8]]),
}

/// A reduce function of any row type.
trait AnyReduce: Send + Sync {
    /// Runs it over one partition, and says how many rows that had.
    fn run(
        &self,
        context: &Context<'_>,
        flow: &Flow,
        shuffle: &str,
        source: Source<'_>,
        workshop: &Workshop,
    ) -> std::result::Result<u64, StageError>;
}

struct TypedReduce<R, F> {
    function: F,
    row: PhantomData<fn() -> R>,
}

impl<R, F> AnyReduce for TypedReduce<R, F>
where
    R: Row,
    F: Fn(&Context<'_>, &mut Groups<'_, R>) -> std::result::Result<(), StageError> + Send + Sync,
{
    fn run(
        &self,
        context: &Context<'_>,
        flow: &Flow,
        shuffle: &str,
        source: Source<'_>,
        workshop: &Workshop,
    ) -> std::result::Result<u64, StageError> {
        let partition = context.task_number();
        let pieces: Vec<Piece<'_, R>> = match source {
            Source::Tasks(tasks) => pieces_of(tasks, shuffle, partition)?,
            Source::Buffers(buffers) => buffers
                .iter()
                .map(|buffer| Ok(Piece::Memory(rows_of(shuffle, buffer)?)))
                .collect::<Result<_>>()?,
        };
        let range = partitioner_of::<R>(flow, shuffle)?.within(partition as u32, 1);
        let mut groups = Groups::new(SortedStream::new(workshop, pieces, range));
        (self.function)(context, &mut groups)?;
        groups.failure()?;
        Ok(groups.rows())
    }
}

struct StateKind {
    create: fn(&Value) -> std::result::Result<Arc<dyn AnyState>, StageError>,
    weight: fn(&Value) -> u64,
}

/// Functions and kinds of state by name.
///
/// A registry is made once by whoever writes analyses, and knows every function of them; flows are
/// many, and made of names.
pub struct Registry {
    maps: BTreeMap<String, MapFunction>,
    reduces: BTreeMap<String, Box<dyn AnyReduce>>,
    states: BTreeMap<String, StateKind>,
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::new()
    }
}

impl Registry {
    /// A registry of the engine's own kinds of state: `seen-filter`, `bitmap` and `counters`.
    pub fn new() -> Registry {
        let mut registry = Registry {
            maps: BTreeMap::new(),
            reduces: BTreeMap::new(),
            states: BTreeMap::new(),
        };
        registry.state::<SeenFilter>("seen-filter");
        registry.state::<Bitmap>("bitmap");
        registry.state::<Counters>("counters");
        registry
    }

    /// Registers a map. It is called once for each task, on any thread.
    pub fn map<F>(&mut self, name: &str, function: F) -> &mut Registry
    where
        F: Fn(&Context<'_>) -> std::result::Result<(), StageError> + Send + Sync + 'static,
    {
        self.maps.insert(name.to_owned(), Box::new(function));
        self
    }

    /// Registers a reduce over rows of a type. It is called once for each partition, on any thread.
    pub fn reduce<R, F>(&mut self, name: &str, function: F) -> &mut Registry
    where
        R: Row,
        F: Fn(&Context<'_>, &mut Groups<'_, R>) -> std::result::Result<(), StageError>
            + Send
            + Sync
            + 'static,
    {
        let row = PhantomData::<fn() -> R>;
        self.reduces
            .insert(name.to_owned(), Box::new(TypedReduce { function, row }));
        self
    }

    /// Registers a kind of state.
    pub fn state<S: State>(&mut self, kind: &str) -> &mut Registry {
        let kind_of = StateKind {
            create: |parameters| Ok(Arc::new(S::create(parameters)?)),
            weight: S::weight,
        };
        self.states.insert(kind.to_owned(), kind_of);
        self
    }

    /// Fails if the flow is not sound, or names what is not registered.
    pub fn check(&self, flow: &Flow) -> Result<()> {
        flow.check()?;
        for stage in flow.steps.iter().flat_map(Step::stages) {
            let known = match &stage.input {
                Input::Tasks(_) => self.maps.contains_key(&stage.function),
                Input::Shuffle(_) => self.reduces.contains_key(&stage.function),
            };
            if !known {
                let kind = if matches!(stage.input, Input::Tasks(_)) {
                    "map"
                } else {
                    "reduce"
                };
                return Err(Error::Unsound(format!(
                    "no {kind} `{}` is registered",
                    stage.function
                )));
            }
        }
        for spec in flow.states.values() {
            if !self.states.contains_key(&spec.kind) {
                return Err(Error::Unsound(format!(
                    "no state `{}` is registered",
                    spec.kind
                )));
            }
        }
        Ok(())
    }

    /// Bytes of memory that a state takes from the budget; 0 if its kind is not registered.
    pub(crate) fn state_bytes(&self, spec: &StateSpec) -> u64 {
        let kind = self.states.get(&spec.kind);
        kind.map_or(0, |kind| (kind.weight)(&spec.parameters))
    }

    pub(crate) fn create_state(
        &self,
        name: &str,
        spec: &StateSpec,
        budget: &Arc<MemoryBudget>,
    ) -> Result<Held> {
        let kind = self
            .states
            .get(&spec.kind)
            .ok_or_else(|| Error::Unsound(format!("no state `{}` is registered", spec.kind)))?;
        // Before it is made: a state that does not fit must not exist for a moment either.
        let weight = (kind.weight)(&spec.parameters);
        let lease = budget.take(weight, &format!("the {weight} bytes of `{name}`"))?;
        let state = (kind.create)(&spec.parameters)
            .map_err(|error| Error::Unsound(format!("the state `{name}`: {error}")))?;
        Ok(Held {
            state,
            _lease: Arc::new(lease),
        })
    }

    /// Calls the function of the context's stage, and says how many rows it has read.
    pub(crate) fn call(
        &self,
        context: &Context<'_>,
        flow: &Flow,
        source: Source<'_>,
        workshop: &Workshop,
    ) -> Result<u64> {
        let stage = context.stage();
        let missing = || Error::Unsound(format!("no function `{}` is registered", stage.function));
        let outcome = match &stage.input {
            Input::Tasks(_) => {
                let map = self.maps.get(&stage.function).ok_or_else(missing)?;
                map(context).map(|()| 0)
            }
            Input::Shuffle(shuffle) => {
                let reduce = self.reduces.get(&stage.function).ok_or_else(missing)?;
                reduce.run(context, flow, shuffle, source, workshop)
            }
        };
        outcome.map_err(|error| Error::from_stage(&stage.name, context.task_number(), error))
    }
}
