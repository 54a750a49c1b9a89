//! Maps, shuffles and reduces over more rows than fit in memory.

mod assemble;
#[doc(hidden)]
pub mod bench;
mod bits;
mod budget;
mod chunk;
mod context;
mod error;
mod flow;
mod group;
mod merge;
mod progress;
mod registry;
mod report;
mod row;
mod run;
mod saved;
mod sink;
mod site;
mod sort;
mod spill;
mod state;
mod stream;
mod table;
#[cfg(test)]
mod testing;
mod wide;
mod work;

pub use assemble::TableReport;
pub use bits::{Bitmap, Counters, SeenFilter};
pub use budget::{Lease, MemoryBudget};
pub use context::Context;
pub use error::{Error, Result, StageError};
pub use flow::{Flow, Input, MOST_PARTITIONS, PARTITIONS, Shuffle, Stage, StateSpec, Step};
pub use group::{Group, Groups};
pub use progress::Progress;
pub use registry::Registry;
pub use report::{RunReport, StageReport};
pub use row::{Key, Row};
pub use run::{CHECKPOINT, Runner};
pub use sink::Emitter;
pub use state::State;
#[doc(hidden)]
pub use table::field_of;
pub use table::{Cell, TableEmitter, TableRow};
pub use wide::{Fragment, Record, WideEmitter, WideGroup, WideGroups};

#[doc(hidden)]
pub use arrow_array::ArrayRef;
#[doc(hidden)]
pub use arrow_schema::Field;
