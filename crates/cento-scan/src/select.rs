//! Selects rows of result tables: the first, the largest, a random sample. Only selected rows are
//! kept in memory.

use std::collections::BTreeMap;

use cento_find::{Error, Findings, Result, draw, read_table, row_values};
use cento_flow::{TableName, TableRow};
use serde_json::{Map, Value};

/// Returns the first rows.
pub fn first<T>(rows: impl Iterator<Item = Result<T>>, most: usize) -> Result<Vec<T>> {
    rows.take(most).collect()
}

/// Returns the first rows that satisfy a condition.
pub fn first_that<T>(
    rows: impl Iterator<Item = Result<T>>,
    most: usize,
    condition: impl Fn(&T) -> bool,
) -> Result<Vec<T>> {
    let selected = rows.filter(|row| row.as_ref().map_or(true, &condition));
    selected.take(most).collect()
}

/// Returns the rows with the largest keys, the largest first; rows with equal keys in their order
/// in the table.
pub fn largest_by<T, K: PartialOrd>(
    rows: impl Iterator<Item = Result<T>>,
    key: impl Fn(&T) -> K,
    most: usize,
) -> Result<Vec<T>> {
    let mut selected: Vec<(K, T)> = Vec::new();
    for row in rows {
        let row = row?;
        let key = key(&row);
        let at = selected.partition_point(|(other, _)| *other >= key);
        if at < most {
            selected.insert(at, (key, row));
            selected.truncate(most);
        }
    }
    Ok(selected.into_iter().map(|(_, row)| row).collect())
}

/// Returns a random sample of the rows of a table that satisfy a condition, as JSON objects.
///
/// The sample consists of the rows whose keys have the lowest hashes with the seed. The same seed
/// always selects the same rows, and whether a row is selected does not depend on their order.
pub fn sample<T: TableRow>(
    findings: &Findings,
    table: TableName<T>,
    key: impl Fn(&T) -> String,
    size: usize,
    seed: u64,
    condition: impl Fn(&T) -> bool,
) -> Result<Vec<Map<String, Value>>> {
    let path = findings.table(table.as_str());
    let mut drawn: BTreeMap<(u64, String), Map<String, Value>> = BTreeMap::new();
    for batch in read_table(&path)? {
        let batch = batch?;
        let rows = T::read(&batch).map_err(|error| Error::Corrupted {
            path: path.clone(),
            detail: error.to_string(),
        })?;
        for (at, row) in rows.iter().enumerate().filter(|(_, row)| condition(row)) {
            let key = key(row);
            let place = (draw(seed, &key), key);
            if drawn.len() >= size && drawn.last_key_value().is_none_or(|(last, _)| *last < place) {
                continue;
            }
            let values = row_values(&batch, at);
            let object = values.map(|(name, value)| (name.to_owned(), value));
            drawn.insert(place, object.collect());
            if drawn.len() > size {
                drawn.pop_last();
            }
        }
    }
    Ok(drawn.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<T: Clone>(rows: &[T]) -> impl Iterator<Item = Result<T>> {
        rows.iter().cloned().map(Ok)
    }

    fn failing() -> impl Iterator<Item = Result<u32>> {
        let error = || Error::Corrupted {
            path: "t.parquet".into(),
            detail: "column `n` is missing".to_owned(),
        };
        [Ok(7), Err(error())].into_iter()
    }

    #[test]
    fn the_largest_rows_come_first_and_equal_ones_keep_their_order() {
        let table = [("a", 1), ("b", 3), ("c", 2), ("d", 3), ("e", 0)];
        let largest = largest_by(rows(&table), |row| row.1, 3).unwrap();
        assert_eq!(largest, [("b", 3), ("d", 3), ("c", 2)]);
        let largest = largest_by(rows(&table), |row| (row.1 > 1, -row.1), 9).unwrap();
        assert_eq!(largest.first(), Some(&("c", 2)));
        assert_eq!(largest.len(), 5);
        assert!(largest_by(rows(&table), |row| row.1, 0).unwrap().is_empty());
    }

    #[test]
    fn the_first_rows_that_satisfy_a_condition_are_selected() {
        assert_eq!(first(rows(&[5, 6, 7]), 2).unwrap(), [5, 6]);
        let even = |row: &u32| row.is_multiple_of(2);
        assert_eq!(first_that(rows(&[1, 2, 3, 4, 6]), 2, even).unwrap(), [2, 4]);
    }

    #[test]
    fn an_error_in_a_table_is_an_error_and_not_an_empty_result() {
        assert!(first(failing(), 2).is_err());
        assert!(first_that(failing(), 2, |_| false).is_err());
        assert!(largest_by(failing(), |&row| row, 2).is_err());
    }
}
