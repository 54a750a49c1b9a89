//! Small flows for all tests, and naive implementations of them.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::unwrap_used,
    reason = "each test file is a crate and uses a part of this module"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use bytemuck::{Pod, Zeroable};
use cento_flow::{
    Flow, Progress, Registry, Result, Row, RunReport, Runner, SeenFilter, Shuffle, Stage, table_row,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C, packed(4))]
pub struct Pair {
    pub key: u64,
    pub value: u32,
}

impl Row for Pair {
    type Key = u64;
    type Rest = u32;
    fn key(&self) -> u64 {
        self.key
    }
    fn rest(&self) -> u32 {
        self.value
    }
}

table_row! {
    /// A summary of the rows of a key.
    pub struct Summary {
        pub key: u64,
        pub rows: u64,
        pub distinct: u32,
        /// Depends on the order of the rows.
        pub fold: u64,
    }
}

/// A hash that depends on the order of the rows.
pub fn fold(hash: u64, value: u32) -> u64 {
    (hash ^ u64::from(value))
        .wrapping_mul(0x0100_0000_01b3)
        .rotate_left(5)
}

pub fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The parameters of random rows.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct RandomRows {
    pub seed: u64,
    pub rows: u64,
    /// The approximate number of distinct keys.
    pub keys: u64,
    /// How many of ten rows have the most frequent key.
    pub hot: u64,
    /// Whether keys are small numbers instead of hashes.
    pub small: bool,
}

impl RandomRows {
    pub fn pairs(&self) -> impl Iterator<Item = Pair> + use<> {
        let making = *self;
        (0..making.rows).map(move |row| {
            let dice = mix(making.seed.wrapping_mul(0x9e37_79b9).wrapping_add(row));
            let number = dice % making.keys.max(1);
            let key = if making.small { number } else { mix(number) };
            let hot = (dice >> 40) % 10 < making.hot;
            Pair {
                key: if hot {
                    mix(1) >> if making.small { 50 } else { 0 }
                } else {
                    key
                },
                value: (dice >> 20) as u32 % 1000,
            }
        })
    }
}

pub fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.map("note", |context| {
        let seen = context.state::<SeenFilter>("seen")?;
        context
            .task::<RandomRows>()?
            .pairs()
            .for_each(|pair| seen.note(pair.key));
        Ok(())
    });
    registry.map("make", |context| {
        let mut pairs = context.shuffle::<Pair>("pairs")?;
        for pair in context.task::<RandomRows>()?.pairs() {
            context.count("made", 1);
            pairs.push(pair)?;
        }
        Ok(())
    });
    registry.map("make seen", |context| {
        let seen = context.state::<SeenFilter>("seen")?;
        let mut pairs = context.shuffle::<Pair>("pairs")?;
        for pair in context.task::<RandomRows>()?.pairs() {
            if seen.seen_again(pair.key) {
                pairs.push(pair)?;
            }
        }
        Ok(())
    });
    registry.reduce::<Pair, _>("summarise", |context, groups| {
        let least: Option<u64> = context.parameters()?;
        let mut summaries = context.table::<Summary>("summaries")?;
        while let Some(group) = groups.next_group()? {
            let mut summary = Summary {
                key: group.key(),
                rows: 0,
                distinct: 0,
                fold: 0,
            };
            let mut last = None;
            for pair in group {
                let value = pair.value;
                summary.rows += 1;
                summary.distinct += u32::from(last != Some(value));
                summary.fold = fold(summary.fold, value);
                last = Some(value);
            }
            if summary.rows >= least.unwrap_or(1) {
                summaries.push(summary)?;
            }
        }
        Ok(())
    });
    registry
}

/// Makes rows, shuffles and summarises them.
pub fn flow(tasks: &[RandomRows], shuffle: Shuffle) -> Flow {
    let tasks = tasks.iter().map(|making| json!(making)).collect();
    Flow::new("summaries")
        .shuffle_with("pairs", shuffle)
        .table("summaries")
        .stage(Stage::map("make", tasks).writes("pairs"))
        .stage(Stage::reduce("summarise", "pairs").writes("summaries"))
}

/// The expected summaries: (key, rows, distinct, fold).
pub fn oracle(tasks: &[RandomRows]) -> Vec<(u64, u64, u32, u64)> {
    let mut groups: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for pair in tasks.iter().flat_map(RandomRows::pairs) {
        groups.entry(pair.key).or_default().push(pair.value);
    }
    let summarise = |(key, mut values): (u64, Vec<u32>)| {
        values.sort_unstable();
        let distinct = values.iter().collect::<BTreeSet<_>>().len() as u32;
        (
            key,
            values.len() as u64,
            distinct,
            values.iter().fold(0, |hash, &value| fold(hash, value)),
        )
    };
    groups.into_iter().map(summarise).collect()
}

/// The threads, memory and checkpoint interval of a run.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    pub threads: usize,
    pub memory: u64,
    pub checkpoint: Duration,
}

impl Machine {
    pub fn large() -> Machine {
        Machine {
            threads: 2,
            memory: 1 << 30,
            checkpoint: Duration::from_secs(60),
        }
    }

    /// A machine with the smallest budget that is allowed.
    pub fn smallest(threads: usize) -> Machine {
        Machine {
            threads,
            memory: cento_flow::MemoryBudget::MINIMUM_PER_THREAD * threads as u64,
            ..Machine::large()
        }
    }

    pub fn run(&self, folder: &Path, registry: &Registry, flow: &Flow) -> Result<RunReport> {
        self.run_watched(folder, registry, flow, &Arc::default())
    }

    pub fn run_watched(
        &self,
        folder: &Path,
        registry: &Registry,
        flow: &Flow,
        progress: &Arc<Progress>,
    ) -> Result<RunReport> {
        Runner {
            registry,
            threads: self.threads,
            memory: self.memory,
            temp: folder.join("temp"),
            tables: folder.join("tables"),
            progress: Arc::clone(progress),
            checkpoint: self.checkpoint,
        }
        .run(flow)
    }
}

/// Returns the names of temporary files that are left.
pub fn left(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder.join("temp")) else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

pub fn table_bytes(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join("tables").join(format!("{name}.parquet"))).unwrap()
}

pub fn read_table(folder: &Path, name: &str) -> Vec<RecordBatch> {
    let file = File::open(folder.join("tables").join(format!("{name}.parquet"))).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    reader.map(|batch| batch.unwrap()).collect()
}

pub fn numbers(batches: &[RecordBatch], column: &str) -> Vec<u64> {
    let mut values = Vec::new();
    for batch in batches {
        let column = batch.column_by_name(column).unwrap();
        match column.as_primitive_opt::<UInt64Type>() {
            Some(column) => values.extend(column.values()),
            None => values.extend(
                column
                    .as_primitive::<UInt32Type>()
                    .values()
                    .iter()
                    .map(|&value| u64::from(value)),
            ),
        }
    }
    values
}

pub fn read_summaries(folder: &Path) -> Vec<(u64, u64, u32, u64)> {
    let table = read_table(folder, "summaries");
    let column = |name| numbers(&table, name);
    let (keys, rows, distinct, folds) = (
        column("key"),
        column("rows"),
        column("distinct"),
        column("fold"),
    );
    (0..keys.len())
        .map(|at| (keys[at], rows[at], distinct[at] as u32, folds[at]))
        .collect()
}
