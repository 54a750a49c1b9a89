//! The thresholds of a run, and the numbers of the paper's figures 12, 13 and 14.

use super::detect_tables::{LEVELS_TABLE, LevelRow};
use super::moments::{HISTOGRAM_TABLE, HistogramRow, THRESHOLDS_TABLE, ThresholdRow};
use crate::error::Result;
use crate::run::Findings;

/// Reads the mean, deviation and threshold of each score.
pub fn thresholds(findings: &Findings) -> Result<Vec<ThresholdRow>> {
    findings.rows(THRESHOLDS_TABLE)?.collect()
}

/// Reads the histograms of the scores of pages and neighbourhoods.
pub fn histograms(findings: &Findings) -> Result<Vec<HistogramRow>> {
    findings.rows(HISTOGRAM_TABLE)?.collect()
}

/// Reads the number of neighbourhoods at each level.
pub fn levels(findings: &Findings) -> Result<Vec<LevelRow>> {
    findings.rows(LEVELS_TABLE)?.collect()
}
