//! The benchmark of counting: from a Parquet file of (chunk, page) rows to one of pairs, with the
//! stages of every overlap.
//!
//! Pages have numbers only: with many pairs, naming pages would take most of the time. Not part of
//! the public API: the example `overlap_bench` measures it, and the stages are private.

use std::path::Path;
use std::sync::Arc;

use cento_flow::{CHECKPOINT, Flow, Registry, RunReport, Runner, Stage, TableName, table_row};
use serde_json::json;

use super::overlap_rows::PairCount;
use super::params::OverlapParams;
use super::stage_names::{shuffle, stage};
use super::stages::for_each_sum;
use super::{counting, counting_stages, cut, opening, plan_for, stages};
use crate::error::Result;
use crate::run::Workplace;

/// The table of the benchmark.
pub const COUNTED_PAIRS: TableName<PairCountRow> = TableName::new("pairs");

table_row! {
    /// Two pages, by number, and the number of chunks that both have.
    pub struct PairCountRow {
        /// The higher number.
        pub page: u32,
        /// The lower number.
        pub of: u32,
        /// Distinct chunks that both have.
        pub chunks: u32,
    }
}

/// Counts the pairs of a file of about `rows` rows with page numbers below `pages`, and writes
/// `pairs.parquet` to a folder.
pub fn run(
    file: &Path,
    output: &Path,
    [rows, pages]: [u64; 2],
    params: &OverlapParams,
    workplace: &Workplace,
) -> Result<RunReport> {
    let mut registry = Registry::new();
    stages::register_rows(&mut registry);
    stages::register_counting(&mut registry, output);
    registry.reduce::<PairCount, _>(stage::SUM_NUMBERS, |context, groups| {
        let threshold: u32 = context.parameters()?;
        let mut table = context.table(COUNTED_PAIRS)?;
        for_each_sum(groups, |pair| {
            if pair.chunks < threshold {
                return Ok(());
            }
            Ok(table.push(PairCountRow {
                page: pair.right,
                of: pair.left,
                chunks: pair.chunks,
            })?)
        })
    });
    let reserve = workplace.memory / 4;
    let plan = plan_for(rows, pages as u32, params, workplace.threads, reserve);
    let read = Stage::map(stage::ROWS, cut::row_tasks(file)?).writes(shuffle::BY_CHUNK);
    let flow = counting(Flow::new("overlap of rows"), plan)
        .table(COUNTED_PAIRS)
        .stage(opening(read));
    let flow = counting_stages(flow, plan).stage(
        Stage::reduce(stage::SUM_NUMBERS, shuffle::PAIR_COUNTS)
            .with(json!(plan.threshold))
            .writes(COUNTED_PAIRS.as_str()),
    );
    let runner = Runner {
        registry: &registry,
        threads: workplace.threads,
        memory: workplace.memory,
        temp: output.to_owned(),
        tables: output.to_owned(),
        progress: Arc::clone(&workplace.progress),
        checkpoint: CHECKPOINT,
    };
    Ok(runner.run(&flow)?)
}
