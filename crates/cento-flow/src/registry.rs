//! The functions and states that flows name.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;
use serde_json::Value;

use crate::bits::{Bitmap, Counters, SeenFilter};
use crate::budget::{Lease, MemoryBudget};
use crate::context::{Context, partitioner_of};
use crate::error::{Error, Result, StageError};
use crate::flow::{Flow, StageInput, StateSpec, Step};
use crate::group::Groups;
use crate::row::Row;
use crate::sink::RunResources;
use crate::state::{AnyState, LeasedState, State};
use crate::stream::{SortedStream, pieces_of};
use crate::task_output::Contribution;

/// Adds columns to a batch of a result table.
pub(crate) type ExtendTable =
    Box<dyn Fn(RecordBatch) -> std::result::Result<RecordBatch, StageError> + Send + Sync>;

type MapFunction = Box<dyn Fn(&Context<'_>) -> std::result::Result<(), StageError> + Send + Sync>;

/// Where the rows of a partition or a table come from.
#[derive(Clone, Copy)]
pub(crate) enum RowSource<'a> {
    /// Tasks of this process.
    Tasks(&'a [Contribution]),
    /// Buffers that a cluster has moved here.
    Buffers(&'a [&'a [u8]]),
}

/// A reduce function of any row type.
trait AnyReduce: Send + Sync {
    /// Runs the function over one partition, and returns the number of rows it has read.
    fn run(
        &self,
        context: &Context<'_>,
        flow: &Flow,
        shuffle: &str,
        source: RowSource<'_>,
        resources: &RunResources,
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
        source: RowSource<'_>,
        resources: &RunResources,
    ) -> std::result::Result<u64, StageError> {
        let mut groups = groups_of(context.task_number(), flow, shuffle, source, resources)?;
        (self.function)(context, &mut groups)?;
        groups.failure()?;
        Ok(groups.rows())
    }
}

type CreateState = fn(&Value) -> std::result::Result<Arc<dyn AnyState>, StageError>;

/// Opens the groups of a partition. It is compiled once for each type of rows, and not for each
/// function.
fn groups_of<'a, R: Row>(
    partition: usize,
    flow: &Flow,
    shuffle: &str,
    source: RowSource<'a>,
    resources: &'a RunResources,
) -> Result<Groups<'a, R>> {
    let pieces = pieces_of(source, shuffle, size_of::<R>(), partition)?;
    let range = partitioner_of::<R>(flow, shuffle)?.within(partition as u32, 1);
    Ok(Groups::new(SortedStream::new(resources, pieces, range)))
}

struct StateKind {
    create: CreateState,
    sparse: CreateState,
    view: fn(&Value, Bytes) -> Option<Arc<dyn AnyState>>,
    has_view: bool,
    weight: fn(&Value) -> u64,
}

/// Functions and types of states by name.
///
/// A registry is code and is made once, with all functions of an analysis. Flows are data and refer
/// to the functions by name.
pub struct Registry {
    maps: BTreeMap<String, MapFunction>,
    reduces: BTreeMap<String, Box<dyn AnyReduce>>,
    states: BTreeMap<String, StateKind>,
    pub(crate) extend_tables: Option<ExtendTable>,
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::new()
    }
}

impl Registry {
    /// Creates a registry with the states of this crate: `seen-filter`, `bitmap` and `counters`.
    pub fn new() -> Registry {
        let mut registry = Registry {
            maps: BTreeMap::new(),
            reduces: BTreeMap::new(),
            states: BTreeMap::new(),
            extend_tables: None,
        };
        registry.state::<SeenFilter>("seen-filter");
        registry.state::<Bitmap>("bitmap");
        registry.state::<Counters>("counters");
        registry
    }

    /// Registers a function that adds columns to the batches of all result tables as they are
    /// written. It must depend on the rows alone, not on how they are divided into batches.
    pub fn extend_tables<F>(&mut self, function: F) -> &mut Registry
    where
        F: Fn(RecordBatch) -> std::result::Result<RecordBatch, StageError> + Send + Sync + 'static,
    {
        self.extend_tables = Some(Box::new(function));
        self
    }

    /// Registers a map. The function is called once for each task, on any thread.
    pub fn map<F>(&mut self, name: &str, function: F) -> &mut Registry
    where
        F: Fn(&Context<'_>) -> std::result::Result<(), StageError> + Send + Sync + 'static,
    {
        self.add_map(name, Box::new(function))
    }

    /// Registers a reduce over rows of a type. The function is called once for each partition, on
    /// any thread.
    pub fn reduce<R, F>(&mut self, name: &str, function: F) -> &mut Registry
    where
        R: Row,
        F: Fn(&Context<'_>, &mut Groups<'_, R>) -> std::result::Result<(), StageError>
            + Send
            + Sync
            + 'static,
    {
        let row = PhantomData::<fn() -> R>;
        self.add_reduce(name, Box::new(TypedReduce { function, row }))
    }

    fn add_map(&mut self, name: &str, function: MapFunction) -> &mut Registry {
        self.maps.insert(name.to_owned(), function);
        self
    }

    fn add_reduce(&mut self, name: &str, function: Box<dyn AnyReduce>) -> &mut Registry {
        self.reduces.insert(name.to_owned(), function);
        self
    }

    /// Registers a type of state.
    pub fn state<S: State>(&mut self, kind: &str) -> &mut Registry {
        let kind_of = StateKind {
            create: |parameters| Ok(Arc::new(S::create(parameters)?)),
            sparse: |parameters| Ok(Arc::new(S::sparse(parameters)?)),
            view: |parameters, bytes| {
                let view = S::view(parameters, bytes)?;
                Some(Arc::new(view))
            },
            has_view: S::HAS_VIEW,
            weight: S::weight,
        };
        self.states.insert(kind.to_owned(), kind_of);
        self
    }

    /// Checks that the flow is consistent and that all of its functions and states are registered.
    pub fn check(&self, flow: &Flow) -> Result<()> {
        flow.check()?;
        for stage in flow.steps.iter().flat_map(Step::stages) {
            let known = match &stage.input {
                StageInput::Tasks(_) => self.maps.contains_key(&stage.function),
                StageInput::Shuffle(_) => self.reduces.contains_key(&stage.function),
            };
            if !known {
                let kind = if matches!(stage.input, StageInput::Tasks(_)) {
                    "map"
                } else {
                    "reduce"
                };
                return Err(Error::InvalidFlow(format!(
                    "no {kind} `{}` is registered",
                    stage.function
                )));
            }
        }
        for spec in flow.states.values() {
            if !self.states.contains_key(&spec.kind) {
                return Err(Error::InvalidFlow(format!(
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

    /// Whether tasks of a cluster can read a state where it is.
    pub(crate) fn has_view(&self, spec: &StateSpec) -> bool {
        let kind = self.states.get(&spec.kind);
        kind.is_some_and(|kind| kind.has_view)
    }

    fn state_kind(&self, spec: &StateSpec) -> Result<&StateKind> {
        self.states
            .get(&spec.kind)
            .ok_or_else(|| Error::InvalidFlow(format!("no state `{}` is registered", spec.kind)))
    }

    pub(crate) fn create_state(
        &self,
        name: &str,
        spec: &StateSpec,
        budget: &Arc<MemoryBudget>,
    ) -> Result<LeasedState> {
        let kind = self.state_kind(spec)?;
        // Before the state is created, so that memory never exceeds the budget.
        let bytes = (kind.weight)(&spec.parameters);
        let lease = budget.take(bytes, &format!("the {bytes} bytes of `{name}`"))?;
        leased(name, (kind.create)(&spec.parameters), lease)
    }

    /// Creates a state for a task of a cluster that writes to it.
    pub(crate) fn sparse_state(
        &self,
        name: &str,
        spec: &StateSpec,
        budget: &Arc<MemoryBudget>,
    ) -> Result<LeasedState> {
        let state = (self.state_kind(spec)?.sparse)(&spec.parameters);
        leased(name, state, budget.take(0, name)?)
    }

    /// Returns a state that reads serialised bytes where they are, if its kind can do so.
    pub(crate) fn view_state(
        &self,
        spec: &StateSpec,
        bytes: Bytes,
        budget: &Arc<MemoryBudget>,
    ) -> Result<Option<LeasedState>> {
        let Some(state) = (self.state_kind(spec)?.view)(&spec.parameters, bytes) else {
            return Ok(None);
        };
        let lease = Arc::new(budget.take(0, "a view")?);
        Ok(Some(LeasedState {
            state,
            _lease: lease,
        }))
    }

    /// Calls the function of the context's stage, and returns the number of rows it has read.
    pub(crate) fn call(
        &self,
        context: &Context<'_>,
        flow: &Flow,
        source: RowSource<'_>,
        resources: &RunResources,
    ) -> Result<u64> {
        let stage = context.stage();
        let missing =
            || Error::InvalidFlow(format!("no function `{}` is registered", stage.function));
        let outcome = match &stage.input {
            StageInput::Tasks(_) => {
                let map = self.maps.get(&stage.function).ok_or_else(missing)?;
                map(context).map(|()| 0)
            }
            StageInput::Shuffle(shuffle) => {
                let reduce = self.reduces.get(&stage.function).ok_or_else(missing)?;
                reduce.run(context, flow, shuffle, source, resources)
            }
        };
        outcome.map_err(|error| Error::from_stage(&stage.name, context.task_number(), error))
    }
}

fn leased(
    name: &str,
    state: std::result::Result<Arc<dyn AnyState>, StageError>,
    lease: Lease,
) -> Result<LeasedState> {
    let state =
        state.map_err(|error| Error::InvalidFlow(format!("the state `{name}`: {error}")))?;
    Ok(LeasedState {
        state,
        _lease: Arc::new(lease),
    })
}
