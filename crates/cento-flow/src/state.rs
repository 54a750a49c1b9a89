//! Broadcast state: what one pass builds and the next one reads.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Arc;

use serde_json::Value;

use crate::budget::Lease;
use crate::error::{Error, Result, StageError};

/// Something that all tasks of a stage build together and that later stages read: a filter, a
/// bitmap, a table of counters.
///
/// One value is shared by all threads, so that a large one exists once; on a cluster each task has
/// its own, and they are brought together by [`State::absorb`]. For results that depend on the
/// input alone, two things must hold:
///
/// * `a.absorb(b)` is as good as `b.absorb(a)`: the order of tasks does not matter;
/// * noting something twice does no harm to *results*, for a task that was broken off is done
///   again. A filter that lets through a little more keeps to this; a sum that is reported does not
///   (use [`Context::count`](crate::Context::count)).
pub trait State: Any + Send + Sync + Sized {
    /// A state in which nothing is noted, from the parameters that the flow gives.
    fn create(parameters: &Value) -> std::result::Result<Self, StageError>;
    /// Bytes of memory that a state with these parameters will take.
    fn weight(parameters: &Value) -> u64;
    /// Adds what another state of the same parameters has noted.
    fn absorb(&self, other: &mut dyn Read) -> std::result::Result<(), StageError>;
    /// Writes down what is noted, for [`State::absorb`].
    fn write(&self, output: &mut dyn Write) -> std::io::Result<()>;
}

/// A [`State`] of any type.
pub(crate) trait AnyState: Any + Send + Sync {
    fn absorb(&self, other: &mut dyn Read) -> std::result::Result<(), StageError>;
    fn write(&self, output: &mut dyn Write) -> std::io::Result<()>;
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<S: State> AnyState for S {
    fn absorb(&self, other: &mut dyn Read) -> std::result::Result<(), StageError> {
        State::absorb(self, other)
    }

    fn write(&self, output: &mut dyn Write) -> std::io::Result<()> {
        State::write(self, output)
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// A state in use, with the memory that it takes.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) state: Arc<dyn AnyState>,
    pub(crate) _lease: Arc<Lease>,
}

/// The states that exist at some moment of a run, by name.
#[derive(Default, Clone)]
pub(crate) struct States(pub(crate) BTreeMap<String, Held>);

impl States {
    pub(crate) fn get<S: State>(&self, name: &str) -> Result<Arc<S>> {
        let held = self
            .0
            .get(name)
            .ok_or_else(|| Error::Unsound(format!("the state `{name}` is not there")))?;
        Arc::clone(&held.state)
            .as_any()
            .downcast()
            .map_err(|_| Error::Unlike {
                name: name.to_owned(),
                found: "another kind of state".to_owned(),
                wanted: std::any::type_name::<S>().to_owned(),
            })
    }
}
