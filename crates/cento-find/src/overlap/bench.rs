//! The stages of an overlap over a Parquet file of (chunk, page) rows, without a corpus.
//!
//! Not part of the public API: the example `overlap_bench` measures it, and the stages are private.

use std::path::Path;
use std::sync::Arc;

use cento_flow::{CHECKPOINT, Flow, Registry, RunReport, Runner, Stage};

use super::params::Params;
use super::{PAIRS, counting, counting_stages, cut, numbers, opening, plan_for, stages};
use crate::error::Result;
use crate::run::Workplace;

/// Writes `pairs.parquet` to a folder. Page numbers are below `pages`; `rows` is the approximate
/// number of rows of the file.
pub fn run(
    file: &Path,
    output: &Path,
    [rows, pages]: [u64; 2],
    params: &Params,
    workplace: &Workplace,
) -> Result<RunReport> {
    let mut registry = Registry::new();
    stages::register_rows(&mut registry);
    stages::register_counting(&mut registry, output);
    numbers::register(&mut registry);
    let plan = plan_for(rows, pages as u32, params, workplace);
    let flow = counting(Flow::new("overlap of rows"), plan)
        .table(PAIRS)
        .stage(opening(Stage::map("rows", cut::row_tasks(file)?)).writes(stages::BY_CHUNK));
    let flow = numbers::with_sums(counting_stages(flow, plan), plan.threshold);
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
