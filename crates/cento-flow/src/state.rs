//! Broadcast states: data structures that one stage writes and later stages read.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::budget::Lease;
use crate::error::{Error, Result, StageError};

/// A data structure that all tasks of a stage write and that later stages read: a filter, a bitmap,
/// a table of counters.
///
/// All threads share one value, so that a large one exists once. On a cluster each task writes to
/// its own, which [`State::sparse`] keeps small, and [`State::absorb`] merges them. Tasks that read
/// it share one per machine, if it has a [`State::view`]. Results depend on the input alone only
/// if:
///
/// * `a.absorb(b)` is equivalent to `b.absorb(a)`: the order of tasks does not matter;
/// * applying a change twice does not change *results*, because an interrupted task is run again. A
///   filter that passes a few more keys satisfies this; a sum that is reported does not (use
///   [`Context::count`](crate::Context::count)).
pub trait State: Any + Send + Sync + Sized {
    /// Creates an empty state from the parameters in the flow.
    fn create(parameters: &Value) -> std::result::Result<Self, StageError>;
    /// Returns the size of a state with these parameters in bytes of memory.
    fn weight(parameters: &Value) -> u64;
    /// Merges another state of the same parameters, as [`State::write`] has written it. Nobody else
    /// writes to the state meanwhile.
    fn absorb(&self, other: &mut dyn Read) -> std::result::Result<(), StageError>;
    /// Serialises the state for [`State::absorb`].
    fn write(&self, output: &mut dyn Write) -> std::io::Result<()>;

    /// Creates an empty state for a task that writes to a small part of it. By default it is like
    /// any other.
    fn sparse(parameters: &Value) -> std::result::Result<Self, StageError> {
        Self::create(parameters)
    }

    /// Whether there is a [`State::view`].
    const HAS_VIEW: bool = false;

    /// Returns a state that reads the bytes that [`State::write`] or [`State::write_view`] has
    /// written, where they are. It cannot be written to. None if there is no view, or if the bytes
    /// are not those of a state of these parameters.
    fn view(_parameters: &Value, _bytes: Bytes) -> Option<Self> {
        None
    }

    /// Serialises what a [`State::view`] reads, which may be less than what [`State::absorb`]
    /// needs.
    fn write_view(&self, output: &mut dyn Write) -> std::io::Result<()> {
        self.write(output)
    }
}

/// A [`State`] of any type.
pub(crate) trait AnyState: Any + Send + Sync {
    fn absorb(&self, other: &mut dyn Read) -> std::result::Result<(), StageError>;
    fn write(&self, output: &mut dyn Write) -> std::io::Result<()>;
    fn write_view(&self, output: &mut dyn Write) -> std::io::Result<()>;
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<S: State> AnyState for S {
    fn absorb(&self, other: &mut dyn Read) -> std::result::Result<(), StageError> {
        State::absorb(self, other)
    }

    fn write(&self, output: &mut dyn Write) -> std::io::Result<()> {
        State::write(self, output)
    }

    fn write_view(&self, output: &mut dyn Write) -> std::io::Result<()> {
        State::write_view(self, output)
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// A state together with the lease of its memory.
#[derive(Clone)]
pub(crate) struct LeasedState {
    pub(crate) state: Arc<dyn AnyState>,
    pub(crate) _lease: Arc<Lease>,
}

/// The states of a run, by name.
#[derive(Default, Clone)]
pub(crate) struct States(pub(crate) BTreeMap<String, LeasedState>);

impl States {
    pub(crate) fn get<S: State>(&self, name: &str) -> Result<Arc<S>> {
        let leased = self
            .0
            .get(name)
            .ok_or_else(|| Error::InvalidFlow(format!("there is no state `{name}`")))?;
        Arc::clone(&leased.state)
            .as_any()
            .downcast()
            .map_err(|_| Error::TypeMismatch {
                name: name.to_owned(),
                found: "a state of another type".to_owned(),
                expected: std::any::type_name::<S>().to_owned(),
            })
    }
}
