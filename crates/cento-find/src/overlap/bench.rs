//! The counting that is measured: from a Parquet file of (chunk, page) rows to one of pairs, through the stages of every overlap.

use std::path::Path;
use std::sync::Arc;

use cento_flow::{CHECKPOINT, Flow, Registry, RunReport, Runner, Stage, table_row};
use serde_json::json;

use super::params::Params;
use super::rows::Pair;
use super::stages::{self, for_each_sum};
use super::{counting, counting_stages, cut, opening, plan_for};
use crate::error::Result;
use crate::run::Workplace;

table_row! {
    /// Two pages by number and the chunks that they share.
    pub struct NumberRow {
        /// The higher number.
        pub page: u32,
        /// The lower number.
        pub of: u32,
        /// Distinct chunks that both have.
        pub chunks: u32,
    }
}

/// Writes `pairs.parquet` into a folder. Pages have numbers below `pages`; the file is said to have so many rows.
pub fn run(
    file: &Path,
    output: &Path,
    [rows, pages]: [u64; 2],
    params: &Params,
    workplace: &Workplace,
) -> Result<RunReport> {
    let mut registry = Registry::new();
    stages::register_rows(&mut registry);
    stages::register_counting(&mut registry);
    registry.reduce::<Pair, _>("sum numbers", |context, groups| {
        let threshold: u32 = context.parameters()?;
        let mut table = context.table::<NumberRow>("pairs")?;
        for_each_sum(groups, |pair| {
            if pair.chunks < threshold {
                return Ok(());
            }
            Ok(table.push(NumberRow {
                page: pair.right,
                of: pair.left,
                chunks: pair.chunks,
            })?)
        })
    });
    let plan = plan_for(rows, pages as u32, params, workplace);
    let flow = counting(Flow::new("overlap of rows"), plan)
        .table("pairs")
        .stage(opening(Stage::map("rows", cut::row_tasks(file)?)).writes(stages::BY_CHUNK));
    let flow = counting_stages(flow, plan).stage(
        Stage::reduce("sum numbers", stages::PAIRS)
            .with(json!(plan.threshold))
            .writes("pairs"),
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
