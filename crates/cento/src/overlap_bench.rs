//! `cento overlap-bench`: the counting of overlaps on rows that are ready, for `bench/`.

use std::path::PathBuf;
use std::process::ExitCode;

use cento_find::Workplace;
use cento_find::overlap::{OverlapParams, bench};
use cento_flow::Progress;
use cento_text::chunk::ChunkKind;
use clap::Args;

use crate::arguments::MachineArguments;
use crate::failure::Failure;
use crate::output::print;

/// Measure the counting of overlaps
///
/// Finds pairs of pages that share chunks in a Parquet file of (chunk u64, page u32) rows.
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct OverlapBenchArguments {
    /// The file of rows
    #[arg(value_name = "FILE.parquet")]
    file: PathBuf,
    /// The folder that the table of pairs goes to
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// How many chunks a pair must share at least
    #[arg(long, value_name = "T")]
    threshold: u32,
    /// Leave out chunks that are on more pages than this; 0 leaves out none
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_pages: u32,
    /// How many rows the file has, about
    #[arg(long, value_name = "N")]
    rows: u64,
    /// Page numbers are below this
    #[arg(long, value_name = "N")]
    pages: u32,
    #[command(flatten)]
    machine: MachineArguments,
}

pub(crate) fn run(arguments: &OverlapBenchArguments) -> Result<ExitCode, Failure> {
    let params = OverlapParams {
        threshold: arguments.threshold,
        max_pages: Some(arguments.max_pages),
        ..OverlapParams::new(ChunkKind::default())
    };
    let workplace = Workplace {
        threads: arguments.machine.threads(),
        memory: arguments.machine.memory(),
        temp: None,
        findings: arguments.output.clone(),
        again: true,
        progress: Progress::new(),
    };
    let sizes = [arguments.rows, u64::from(arguments.pages)];
    let report = bench::run(
        &arguments.file,
        &arguments.output,
        sizes,
        &params,
        &workplace,
    )?;
    print(&report.to_string())?;
    Ok(ExitCode::SUCCESS)
}
