//! What a run has measured, from its tables: thresholds, and the numbers of the paper's figures 12,
//! 13 and 14.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Float64Array, StringArray, UInt64Array};

use super::moments::{HistogramRow, ThresholdRow};
use super::settle::LevelRow;
use crate::error::{Error, Result};
use crate::run::Findings;
use crate::tables::read_table;

fn missing(name: &str) -> Error {
    Error::Bug(format!("the findings lack the column {name}"))
}

fn text<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a StringArray> {
    let column = batch.column_by_name(name);
    let column = column.and_then(|column| column.as_string_opt::<i32>());
    column.ok_or_else(|| missing(name))
}

fn number<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a Float64Array> {
    let column = batch.column_by_name(name);
    let column = column.and_then(|column| column.as_primitive_opt::<Float64Type>());
    column.ok_or_else(|| missing(name))
}

fn count<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a UInt64Array> {
    let column = batch.column_by_name(name);
    let column = column.and_then(|column| column.as_primitive_opt::<UInt64Type>());
    column.ok_or_else(|| missing(name))
}

/// Mean, deviation and threshold of each score.
pub fn thresholds(findings: &Findings) -> Result<Vec<ThresholdRow>> {
    let mut rows = Vec::new();
    for batch in read_table(&findings.table("thresholds"))? {
        let batch = batch?;
        let (score, objects) = (text(&batch, "score")?, count(&batch, "objects")?);
        let [mean, deviation, threshold] =
            ["mean", "deviation", "threshold"].map(|name| number(&batch, name));
        let (mean, deviation, threshold) = (mean?, deviation?, threshold?);
        for row in 0..batch.num_rows() {
            rows.push(ThresholdRow {
                score: score.value(row).to_owned(),
                objects: objects.value(row),
                mean: mean.value(row),
                deviation: deviation.value(row),
                threshold: threshold.value(row),
            });
        }
    }
    Ok(rows)
}

/// How many pages and neighbourhoods have which score.
pub fn histograms(findings: &Findings) -> Result<Vec<HistogramRow>> {
    let mut rows = Vec::new();
    for batch in read_table(&findings.table("histogram"))? {
        let batch = batch?;
        let (score, objects) = (text(&batch, "score")?, count(&batch, "objects")?);
        let (begin, end) = (number(&batch, "begin")?, number(&batch, "end")?);
        for row in 0..batch.num_rows() {
            rows.push(HistogramRow {
                score: score.value(row).to_owned(),
                begin: begin.value(row),
                end: end.value(row),
                objects: objects.value(row),
            });
        }
    }
    Ok(rows)
}

/// How many neighbourhoods there are at each level.
pub fn levels(findings: &Findings) -> Result<Vec<LevelRow>> {
    let mut rows = Vec::new();
    for batch in read_table(&findings.table("levels"))? {
        let batch = batch?;
        let depth = batch.column_by_name("depth");
        let depth = depth.and_then(|column| column.as_primitive_opt::<UInt32Type>());
        let depth = depth.ok_or_else(|| missing("depth"))?;
        let neighbourhoods = count(&batch, "neighbourhoods")?;
        for row in 0..batch.num_rows() {
            rows.push(LevelRow {
                depth: depth.value(row),
                neighbourhoods: neighbourhoods.value(row),
            });
        }
    }
    Ok(rows)
}
