//! The strongest rows of a table, however many it has.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use cento_find::{Findings, Result, read_table, row_values};
use serde_json::{Map, Value};

/// A row by the names of its columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row(Map<String, Value>);

impl Row {
    /// One row of a batch.
    pub fn of(batch: &RecordBatch, row: usize) -> Row {
        let values = row_values(batch, row);
        Row(values
            .map(|(name, value)| (name.to_owned(), value))
            .collect())
    }

    /// A whole number; 0 if there is none.
    pub fn count(&self, name: &str) -> u64 {
        self.0.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    /// A number; 0 if there is none.
    pub fn real(&self, name: &str) -> f64 {
        self.0.get(name).and_then(Value::as_f64).unwrap_or(0.0)
    }

    /// Words; empty if there are none.
    pub fn word(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or("")
    }

    /// Whether something holds.
    pub fn holds(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Whether there is a value.
    pub fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }

    /// A list of numbers.
    pub fn counts(&self, name: &str) -> Vec<u64> {
        let list = self.0.get(name).and_then(Value::as_array);
        let list = list.map_or(&[][..], Vec::as_slice);
        list.iter().filter_map(Value::as_u64).collect()
    }

    /// All of it, as a line of JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    /// All of it.
    pub fn into_object(self) -> Map<String, Value> {
        self.0
    }
}

/// A column of numbers, whichever kind they are; nothing counts as 0.
pub(crate) fn numbers<'a>(batch: &'a RecordBatch, name: &str) -> Box<dyn Fn(usize) -> f64 + 'a> {
    let Some(column) = batch.column_by_name(name) else {
        return Box::new(|_| 0.0);
    };
    if let Some(column) = column.as_primitive_opt::<UInt64Type>() {
        return Box::new(move |row| number(column, row, |row| column.value(row) as f64));
    }
    if let Some(column) = column.as_primitive_opt::<UInt32Type>() {
        return Box::new(move |row| number(column, row, |row| f64::from(column.value(row))));
    }
    if let Some(column) = column.as_primitive_opt::<Float64Type>() {
        return Box::new(move |row| number(column, row, |row| column.value(row)));
    }
    if let Some(column) = column.as_boolean_opt() {
        return Box::new(move |row| number(column, row, |row| f64::from(column.value(row))));
    }
    Box::new(|_| 0.0)
}

fn number(column: &dyn Array, row: usize, value: impl Fn(usize) -> f64) -> f64 {
    if column.is_valid(row) {
        value(row)
    } else {
        0.0
    }
}

/// The rows with the largest numbers in some columns, the first of them first compared; of equals
/// those that come first in the table.
pub fn largest(findings: &Findings, table: &str, by: &[&str], most: usize) -> Result<Vec<Row>> {
    largest_by(findings, table, by, <[f64]>::to_vec, most)
}

/// The same by what `key` makes of the columns. Only rows that may be among them are ever held.
pub(crate) fn largest_by(
    findings: &Findings,
    table: &str,
    columns: &[&str],
    key: impl Fn(&[f64]) -> Vec<f64>,
    most: usize,
) -> Result<Vec<Row>> {
    let mut found: Vec<(Vec<f64>, Row)> = Vec::new();
    for batch in read_table(&findings.table(table))? {
        let batch = batch?;
        let columns: Vec<_> = columns.iter().map(|name| numbers(&batch, name)).collect();
        for row in 0..batch.num_rows() {
            let values: Vec<f64> = columns.iter().map(|column| column(row)).collect();
            let key = key(&values);
            let place = found.partition_point(|(held, _)| !is_above(&key, held));
            if place < most {
                found.insert(place, (key, Row::of(&batch, row)));
                found.truncate(most);
            }
        }
    }
    Ok(found.into_iter().map(|(_, row)| row).collect())
}

/// Whether one key comes before another, the largest first.
fn is_above(one: &[f64], other: &[f64]) -> bool {
    let orders = one
        .iter()
        .zip(other)
        .map(|(one, other)| one.total_cmp(other));
    orders.into_iter().find(|order| order.is_ne()) == Some(std::cmp::Ordering::Greater)
}

/// The first rows of a table that is in the wanted order.
pub fn first(findings: &Findings, table: &str, most: usize) -> Result<Vec<Row>> {
    first_that(findings, table, most, |_| true)
}

/// The first rows of which something holds.
pub fn first_that(
    findings: &Findings,
    table: &str,
    most: usize,
    wanted: impl Fn(&Row) -> bool,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for batch in read_table(&findings.table(table))? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            if rows.len() >= most {
                return Ok(rows);
            }
            rows.extend(Some(Row::of(&batch, row)).filter(&wanted));
        }
    }
    Ok(rows)
}

/// Rows drawn at random of those of which something holds: those whose key has the lowest hashes
/// with a seed. So the same seed draws the same rows, and a row is drawn or not whatever else is in
/// the table.
pub fn sample(
    findings: &Findings,
    table: &str,
    key: &str,
    size: usize,
    seed: u64,
    wanted: impl Fn(&Row) -> bool,
) -> Result<Vec<Row>> {
    let mut drawn: std::collections::BTreeMap<(u64, String), Row> = Default::default();
    for batch in read_table(&findings.table(table))? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let row = Row::of(&batch, row);
            if wanted(&row) {
                let key = row.word(key).to_owned();
                let hash = cento_find::draw(seed, &key);
                drawn.insert((hash, key), row);
                if drawn.len() > size {
                    drawn.pop_last();
                }
            }
        }
    }
    Ok(drawn.into_values().collect())
}

/// Calls `each` with some numbers of every row.
pub(crate) fn for_each<const N: usize>(
    findings: &Findings,
    table: &str,
    names: [&str; N],
    mut each: impl FnMut([f64; N]),
) -> Result<()> {
    for batch in read_table(&findings.table(table))? {
        let batch = batch?;
        let columns = names.map(|name| numbers(&batch, name));
        for row in 0..batch.num_rows() {
            each(std::array::from_fn(|index| {
                columns.get(index).map_or(0.0, |column| column(row))
            }));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_compared_from_the_first_on() {
        assert!(is_above(&[2.0, 0.0], &[1.0, 9.0]));
        assert!(is_above(&[2.0, 1.0], &[2.0, 0.0]));
        assert!(!is_above(&[2.0, 1.0], &[2.0, 1.0]));
        assert!(!is_above(&[1.0, 9.0], &[2.0, 0.0]));
    }
}
