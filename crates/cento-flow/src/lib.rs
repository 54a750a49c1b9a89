//! Maps, shuffles and reduces over more rows than fit in memory.
//!
//! # Brief overview
//!
//! * A [`Flow`] describes a computation: stages, and the shuffles, tables and states between them.
//!   It has names and parameters but no code, so that it is a JSON document.
//! * A [`Registry`] maps the names to functions: maps and reduces that take a [`Context`].
//! * A [`Runner`] runs a flow on this machine, within a memory budget and on several threads, and
//!   resumes it after an interruption. On a cluster, [`Registry::run_maps`] and
//!   [`Registry::run_reduce`] run the same functions task by task.
//!
//! ```text
//!   tasks            map              shuffle                  reduce              table
//! ┌────────┐   ┌─────────────┐   chunks by partition        sorted groups       ┌─────────┐
//! │ task 0 │ → │ rows (k, v) │ → ▒▒│▒▒▒│▒ … in memory,   →  k₁: v₁ v₁ v₂ …  →  │ Parquet │
//! │ task 1 │ → │ any thread  │ → ▒│▒▒▒│▒▒   then on disk →  k₂: v₇ …           │ sorted  │
//! │ …      │   └─────────────┘                              └ may write to the   └─────────┘
//! └────────┘     └ may write to several shuffles,             next shuffle
//!                  tables and broadcast states
//! ```
//!
//! The guarantees, where `run(flow, threads, memory, partitions)` is the bytes of all tables:
//!
//! * `run(f, t, m, p) = run(f, 1, ∞, 1)`: threads, memory and partitions do not change a result.
//!   For this, rows have a total order ([`Row`]), and functions must depend on their input alone.
//! * `run(f) after a kill = run(f)`: files are renamed when they are complete, so that a task is
//!   either finished or not.
//! * Anonymous memory stays below the budget plus 128 MiB for any input. A partition that does not
//!   fit is cut by further bits of its keys, and a single key with more rows than fit is sorted on
//!   disk and streamed. The smallest budget is [`MemoryBudget::MINIMUM_PER_THREAD`] per thread.
//!
//! # Example
//!
//! Find the words that occur in at least two documents: a map splits documents into words, a
//! shuffle groups equal words, and a reduce counts the documents of each word.
//!
//! ```
//! use bytemuck::{Pod, Zeroable};
//! use cento_flow::{CHECKPOINT, Flow, Progress, Registry, Row, Runner, Stage, table_row};
//! use serde_json::json;
//!
//! #[derive(Clone, Copy, Pod, Zeroable)]
//! #[repr(C, packed(4))]
//! struct WordPage {
//!     word: u64,
//!     page: u32,
//! }
//!
//! impl Row for WordPage {
//!     type Key = u64;
//!     type Rest = u32;
//!     fn key(&self) -> u64 {
//!         self.word
//!     }
//!     fn rest(&self) -> u32 {
//!         self.page
//!     }
//! }
//!
//! table_row! {
//!     struct Shared { word: u64, pages: u32 }
//! }
//!
//! let mut registry = Registry::new();
//! registry.map("cut", |context| {
//!     let (page, text): (u32, String) = context.task()?;
//!     let mut words = context.shuffle::<WordPage>("words")?;
//!     for word in text.split(' ') {
//!         let word = word.len() as u64; // a poor hash, for the sake of the example
//!         words.push(WordPage { word, page })?;
//!     }
//!     Ok(())
//! });
//! registry.reduce::<WordPage, _>("count", |context, groups| {
//!     let least: u32 = context.parameters()?;
//!     let mut shared = context.table::<Shared>("shared")?;
//!     while let Some(group) = groups.next_group()? {
//!         let word = group.key();
//!         let mut pages: Vec<u32> = group.map(|row| row.page).collect(); // sorted
//!         pages.dedup();
//!         if pages.len() as u32 >= least {
//!             shared.push(Shared { word, pages: pages.len() as u32 })?;
//!         }
//!     }
//!     Ok(())
//! });
//!
//! let documents = vec![json!([0, "a garment of patches"]), json!([1, "patches and a poem"])];
//! let flow = Flow::new("shared words")
//!     .shuffle("words")
//!     .table("shared")
//!     .stage(Stage::map("cut", documents).writes("words"))
//!     .stage(Stage::reduce("count", "words").with(json!(2)).writes("shared"));
//! let json = serde_json::to_string(&flow)?;
//! assert_eq!(serde_json::from_str::<Flow>(&json)?, flow);
//!
//! let folder = tempfile::tempdir()?;
//! let report = Runner {
//!     registry: &registry,
//!     threads: 2,
//!     memory: 64 << 20,
//!     temp: folder.path().join("temp"),
//!     tables: folder.path().join("tables"),
//!     progress: Progress::new(),
//!     checkpoint: CHECKPOINT,
//! }
//! .run(&flow)?;
//! assert_eq!(report.tables[0].rows, 2); // "a" and "patches"
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Further features
//!
//! * **Broadcast states**: a [`State`] that one stage writes and later stages read. There are
//!   three: [`SeenFilter`], the exact prefilter for keys that occur once; [`Bitmap`]; and
//!   [`Counters`]. `examples/overlap.rs` counts pairs with them.
//! * **Several outputs**: a stage can write to several shuffles, tables and states.
//! * **Iteration**: [`Flow::repeat`] runs stages until a counter is zero. `examples/components.rs`
//!   finds connected components.
//! * **Records of any length**: [`Context::wide_shuffle`] and [`WideGroups`].
//! * **Reports and progress**: a [`RunReport`], which is displayed as a table, and [`Progress`],
//!   which a display reads and which cancels a run.

mod assemble;
mod bits;
mod budget;
mod cluster;
mod compact;
mod context;
mod error;
mod file_limit;
mod flow;
mod group;
mod merge;
mod progress;
mod registry;
mod report;
mod row;
mod run;
mod run_folder;
mod sink;
mod sort;
mod spill;
mod stage_work;
mod state;
mod state_file;
mod stream;
mod table;
mod task_output;
#[cfg(test)]
mod testing;
mod threads;
mod wide;

pub use assemble::TableReport;
pub use bits::{Bitmap, Counters, SeenFilter};
pub use budget::{Lease, MemoryBudget};
pub use cluster::{SentState, StateUse, TaskLimits, TaskRows};
pub use context::Context;
pub use error::{Error, Result, StageError};
pub use file_limit::raise_file_limit;
pub use flow::{Flow, MAX_PARTITIONS, PARTITIONS, Shuffle, Stage, StageInput, StateSpec, Step};
pub use group::{Group, Groups};
pub use progress::Progress;
pub use registry::Registry;
pub use report::{RunReport, StageReport};
pub use row::{Key, Row};
pub use run::{CHECKPOINT, Runner};
pub use sink::Emitter;
pub use state::State;
pub use table::{Cell, ColumnError, TableEmitter, TableName, TableRow};
#[doc(hidden)]
pub use table::{column_of, field_of};
pub use wide::{Fragment, WideEmitter, WideGroup, WideGroups, WideRecord};

#[doc(hidden)]
pub use arrow_array::{ArrayRef, RecordBatch};
#[doc(hidden)]
pub use arrow_schema::Field;
