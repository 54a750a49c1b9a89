//! The numbers of the paper's figures 1, 2 and 11, from the tables of a run.

use super::{FREQUENCIES_TABLE, FrequencyRow};
use crate::error::Result;
use crate::run::Findings;

/// Reads how many objects occur how often.
pub fn frequencies(findings: &Findings) -> Result<Vec<FrequencyRow>> {
    findings.rows(FREQUENCIES_TABLE)?.collect()
}
