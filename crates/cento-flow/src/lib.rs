//! Maps, shuffles and reduces over more rows than fit in memory.
//!
//! # Brief overview
//!
//! * A [`Flow`] says what is computed: stages, and the shuffles, tables and states between them. It
//!   holds names and parameters, no code, and so it is a JSON document.
//! * A [`Registry`] says what the names mean: maps and reduces, which are plain functions of a
//!   [`Context`].
//! * A [`Runner`] runs a flow on this machine, in a memory budget, on some threads, and goes on
//!   where an earlier run was broken off. On a cluster, [`Registry::run_map`] and
//!   [`Registry::run_reduce`] run the same functions, task by task.
//!
//! ```text
//!    tasks            map                 shuffle                     reduce              table
//!  ┌────────┐   ┌──────────────┐   chunks, by partition         sorted groups          ┌─────────┐
//!  │ part 0 │ → │ rows (k, v)  │ → ▒▒│▒▒▒│▒ … in memory,     → k₁: v₁ v₁ v₂ …  rows → │ Parquet │
//!  │ part 1 │ → │ by any thread│ → ▒│▒▒▒│▒▒   then on disk   → k₂: v₇ …              │ sorted  │
//!  │ …      │   └──────────────┘                                 └─ may feed the next   └─────────┘
//!  └────────┘     │ may feed several shuffles,                      shuffle
//!                 └ tables and broadcast states
//! ```
//!
//! What it promises, with `run(flow, threads, memory, partitions)` for the bytes of all tables:
//!
//! * `run(f, t, m, p) = run(f, 1, ∞, 1)`: no number of threads, no budget and no number of
//!   partitions changes a result. For this rows have a whole order ([`Row`]), and functions must
//!   depend on their input alone.
//! * `run(f) after kill = run(f)`: what is written is written aside and renamed; a task is done or
//!   not done.
//! * Anonymous memory stays below the budget plus a constant (128 MiB), whatever the input: a
//!   partition that does not fit is cut by further bits of its keys, and one key with more rows
//!   than fit is sorted on disk and streamed. The smallest budget is
//!   [`MemoryBudget::MINIMUM_PER_THREAD`] for each thread.
//!
//! # Example
//!
//! Which words are in at least two of these documents? A map cuts documents into words, a shuffle
//! brings equal words together, a reduce counts documents.
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
//!         words.push(WordPage { word: word.len() as u64, page })?; // a poor hash, to be sure of its values
//!     }
//!     Ok(())
//! });
//! registry.reduce::<WordPage, _>("count", |context, groups| {
//!     let least: u32 = context.parameters()?;
//!     let mut shared = context.table::<Shared>("shared")?;
//!     while let Some(group) = groups.next_group()? {
//!         let word = group.key();
//!         let mut pages: Vec<u32> = group.map(|row| row.page).collect(); // sorted already
//!         pages.dedup();
//!         if pages.len() as u32 >= least {
//!             shared.push(Shared { word, pages: pages.len() as u32 })?;
//!         }
//!     }
//!     Ok(())
//! });
//!
//! let flow = Flow::new("shared words")
//!     .shuffle("words")
//!     .table("shared")
//!     .stage(Stage::map("cut", vec![json!([0, "a garment of patches"]), json!([1, "patches and a poem"])]).writes("words"))
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
//! # What there is beside plain stages
//!
//! * **Broadcast state**: a [`State`] that one stage fills and later ones read. The engine has
//!   three: [`SeenFilter`], the exact prefilter for keys that occur once; [`Bitmap`]; and
//!   [`Counters`]. `examples/overlap.rs` counts pairs with them.
//! * **Several outputs**: a stage writes to all shuffles, tables and states that it names.
//! * **Iteration**: [`Flow::repeat`] runs stages until a counter is zero. `examples/components.rs`
//!   finds connected components.
//! * **Rows of any length**: [`Context::wide_shuffle`] and [`WideGroups`].
//! * **What happened**: a [`RunReport`], which prints itself as a table, and [`Progress`], which
//!   can be watched and cancelled.

mod assemble;
#[doc(hidden)]
pub mod bench;
mod bits;
mod budget;
mod chunk;
mod context;
mod error;
mod files;
mod flow;
mod group;
mod merge;
mod progress;
mod registry;
mod remote;
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
mod threads;
mod wide;
mod work;

pub use assemble::TableReport;
pub use bits::{Bitmap, Counters, SeenFilter};
pub use budget::{Lease, MemoryBudget};
pub use context::Context;
pub use error::{Error, Result, StageError};
pub use files::raise_file_limit;
pub use flow::{Flow, Input, MOST_PARTITIONS, PARTITIONS, Shuffle, Stage, StateSpec, Step};
pub use group::{Group, Groups};
pub use progress::Progress;
pub use registry::Registry;
pub use remote::{Buffers, Worker};
pub use report::{RunReport, StageReport};
pub use row::{Key, Row};
pub use run::{CHECKPOINT, Runner};
pub use sink::Emitter;
pub use state::State;
pub use table::{Cell, ColumnError, TableEmitter, TableName, TableRow};
#[doc(hidden)]
pub use table::{column_of, field_of};
pub use wide::{Fragment, Record, WideEmitter, WideGroup, WideGroups};

#[doc(hidden)]
pub use arrow_array::{ArrayRef, RecordBatch};
#[doc(hidden)]
pub use arrow_schema::Field;
