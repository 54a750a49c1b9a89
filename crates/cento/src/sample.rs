//! The options `--sample` and `--seed`: random results for review by hand.

use clap::Args;

use cento_find::Findings;
use cento_flow::{TableName, TableRow};
use cento_scan::select::sample;
use serde_json::Value;

use crate::command_error::CommandError;
use crate::output::{print_data, say};

/// A random sample of the results.
#[derive(Debug, Args)]
pub(crate) struct SampleArguments {
    // Each command adds what it samples.
    /// Print this many results, drawn at random
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) sample: Option<usize>,
    /// Seed of the random generator
    #[arg(long, value_name = "N", requires = "sample", help_heading = "Output")]
    pub(crate) seed: Option<u64>,
}

impl SampleArguments {
    /// Prints the sampled rows of a table as JSON Lines, if a sample was requested, and returns
    /// whether it was. The sample depends on the seed and the keys of the rows, not on their order.
    /// If there is nothing to draw from, `nothing` says why on standard error.
    pub(crate) fn print<T: TableRow>(
        &self,
        findings: &Findings,
        table: TableName<T>,
        key: impl Fn(&T) -> String,
        eligible: impl Fn(&T) -> bool,
        nothing: &str,
    ) -> Result<bool, CommandError> {
        let Some(size) = self.sample else {
            return Ok(false);
        };
        let seed = self.seed.unwrap_or(0);
        let rows = sample(findings, table, key, size, seed, eligible)?;
        if rows.is_empty() && size > 0 {
            say(&format!("note: {nothing}"));
        }
        for row in rows {
            print_data(&format!("{}\n", Value::Object(row)))?;
        }
        Ok(true)
    }
}
