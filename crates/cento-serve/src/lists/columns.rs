//! The rows of a list as compact columns in memory.
//!
//! ```text
//!   rows of a table ─ push ─▶ texts: each distinct string once     values: 4 or 8 bytes each
//!                    finish ─▶ orders: row numbers sorted by each column, nulls last
//! ```
//!
//! A list is loaded once. Afterwards a page of it is found by position in one of its orders, at a
//! cost that does not depend on the number of rows.

use std::collections::HashMap;

/// The number of a text that is null.
const NO_TEXT: u32 = u32::MAX;
/// A whole number, date or flag that is null.
const NO_NUMBER: u64 = u64::MAX;

/// A value of a list, as it is loaded and read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ListValue<'a> {
    Text(&'a str),
    Whole(u64),
    Real(f64),
    /// Milliseconds since 1970.
    Date(i64),
    Null,
}

/// How the values of a column are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnStorage {
    Text,
    Whole,
    Real,
    Date,
}

/// Distinct strings, by number.
#[derive(Debug, Default)]
pub(crate) struct TextPool {
    bytes: String,
    ends: Vec<usize>,
}

impl TextPool {
    /// Returns a string.
    pub(crate) fn get(&self, number: u32) -> Option<&str> {
        let at = number as usize;
        let end = *self.ends.get(at)?;
        let begin = match at {
            0 => 0,
            _ => *self.ends.get(at - 1)?,
        };
        self.bytes.get(begin..end)
    }

    /// The number of strings.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    fn push(&mut self, text: &str) -> u32 {
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
        (self.ends.len() - 1) as u32
    }

    /// Returns all strings in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).map(|at| self.get(at as u32).unwrap_or_default())
    }

    fn memory(&self) -> u64 {
        (self.bytes.capacity() + self.ends.capacity() * size_of::<usize>()) as u64
    }
}

/// The values of one column.
#[derive(Debug)]
enum ColumnData {
    Text(Vec<u32>),
    Whole(Vec<u64>),
    Real(Vec<f64>),
    /// Shifted, so that unsigned numbers are in the order of dates.
    Date(Vec<u64>),
}

impl ColumnData {
    fn memory(&self) -> u64 {
        let bytes = match self {
            ColumnData::Text(values) => values.capacity() * 4,
            ColumnData::Whole(values) | ColumnData::Date(values) => values.capacity() * 8,
            ColumnData::Real(values) => values.capacity() * 8,
        };
        bytes as u64
    }
}

/// The order of the rows by one column: row numbers with a value, ascending, then those without.
#[derive(Debug, Default)]
pub(crate) struct RowOrder {
    rows: Vec<u32>,
    valued: usize,
}

impl RowOrder {
    /// Returns the row at a position. Rows without a value come last in both directions.
    pub(crate) fn at(&self, position: usize, descending: bool) -> Option<u32> {
        let from = match descending && position < self.valued {
            true => self.valued - 1 - position,
            false => position,
        };
        self.rows.get(from).copied()
    }
}

/// The list needs more memory than is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfMemory;

/// The columns while rows are added.
pub(crate) struct ColumnsBuilder {
    columns: Vec<ColumnData>,
    texts: TextPool,
    numbers: HashMap<String, u32>,
    text_bytes: u64,
    rows: usize,
    /// Memory that may be used, in bytes.
    budget: u64,
}

impl ColumnsBuilder {
    pub(crate) fn new(storage: &[ColumnStorage], budget: u64) -> ColumnsBuilder {
        let column = |storage: &ColumnStorage| match storage {
            ColumnStorage::Text => ColumnData::Text(Vec::new()),
            ColumnStorage::Whole => ColumnData::Whole(Vec::new()),
            ColumnStorage::Real => ColumnData::Real(Vec::new()),
            ColumnStorage::Date => ColumnData::Date(Vec::new()),
        };
        ColumnsBuilder {
            columns: storage.iter().map(column).collect(),
            texts: TextPool::default(),
            numbers: HashMap::new(),
            text_bytes: 0,
            rows: 0,
            budget,
        }
    }

    /// Adds a row. Fails if the columns and their orders would exceed the budget.
    pub(crate) fn push(&mut self, row: &[ListValue<'_>]) -> Result<(), OutOfMemory> {
        debug_assert_eq!(row.len(), self.columns.len());
        for (at, value) in row.iter().enumerate() {
            let number = match value {
                ListValue::Text(text) => self.number(text),
                _ => NO_TEXT,
            };
            match self.columns.get_mut(at) {
                Some(ColumnData::Text(values)) => values.push(number),
                Some(ColumnData::Whole(values)) => values.push(match value {
                    ListValue::Whole(value) => (*value).min(NO_NUMBER - 1),
                    _ => NO_NUMBER,
                }),
                Some(ColumnData::Real(values)) => values.push(match value {
                    ListValue::Real(value) => *value,
                    _ => f64::NAN,
                }),
                Some(ColumnData::Date(values)) => values.push(match value {
                    ListValue::Date(millis) => shifted(*millis),
                    _ => NO_NUMBER,
                }),
                None => {}
            }
        }
        self.rows += 1;
        // Values of 8 bytes and orders of 4; distinct texts once in the pool and once in the map.
        let per_row = self.columns.len() as u64 * 12;
        let estimate = self.rows as u64 * per_row + 2 * self.text_bytes;
        match estimate > self.budget || self.rows >= u32::MAX as usize {
            true => Err(OutOfMemory),
            false => Ok(()),
        }
    }

    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.push(text);
        self.text_bytes += text.len() as u64 + 40;
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// Sorts the rows by every column.
    pub(crate) fn finish(mut self) -> ListColumns {
        drop(std::mem::take(&mut self.numbers));
        let ranks = ranks(&self.texts);
        let rows = self.rows as u32;
        let orders = self.columns.iter().map(|column| match column {
            ColumnData::Text(values) => order(rows, |row| {
                let number = *values.get(row as usize)?;
                ranks.get(number as usize).copied()
            }),
            ColumnData::Whole(values) | ColumnData::Date(values) => order(rows, |row| {
                values
                    .get(row as usize)
                    .copied()
                    .filter(|&value| value != NO_NUMBER)
            }),
            ColumnData::Real(values) => order(rows, |row| {
                let value = *values.get(row as usize)?;
                (!value.is_nan()).then(|| sortable(value))
            }),
        });
        let orders = orders.collect();
        for column in &mut self.columns {
            match column {
                ColumnData::Text(values) => values.shrink_to_fit(),
                ColumnData::Whole(values) | ColumnData::Date(values) => values.shrink_to_fit(),
                ColumnData::Real(values) => values.shrink_to_fit(),
            }
        }
        ListColumns {
            columns: self.columns,
            texts: self.texts,
            orders,
            rows: self.rows,
        }
    }
}

/// Shifts a date so that unsigned numbers are in its order.
fn shifted(millis: i64) -> u64 {
    (millis.cast_unsigned() ^ (1 << 63)).min(NO_NUMBER - 1)
}

/// Maps a number to an integer that is in the same order.
fn sortable(value: f64) -> u64 {
    let bits = value.to_bits();
    match bits >> 63 {
        0 => bits | 1 << 63,
        _ => !bits,
    }
}

/// Returns the rank of each string among all strings.
fn ranks(texts: &TextPool) -> Vec<u32> {
    let count = texts.ends.len();
    let mut sorted: Vec<u32> = (0..count as u32).collect();
    sorted.sort_unstable_by_key(|&number| texts.get(number));
    let mut ranks = vec![0; count];
    for (rank, number) in sorted.into_iter().enumerate() {
        if let Some(place) = ranks.get_mut(number as usize) {
            *place = rank as u32;
        }
    }
    ranks
}

fn order<K: Ord>(rows: u32, key: impl Fn(u32) -> Option<K>) -> RowOrder {
    let (mut sorted, nulls): (Vec<u32>, Vec<u32>) = (0..rows).partition(|&row| key(row).is_some());
    sorted.sort_unstable_by_key(|&row| (key(row), row));
    let valued = sorted.len();
    sorted.extend(nulls);
    RowOrder {
        rows: sorted,
        valued,
    }
}

/// The columns of a list, sorted by each of them.
#[derive(Debug)]
pub(crate) struct ListColumns {
    columns: Vec<ColumnData>,
    texts: TextPool,
    orders: Vec<RowOrder>,
    rows: usize,
}

impl ListColumns {
    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns a value.
    pub(crate) fn value(&self, row: u32, column: usize) -> ListValue<'_> {
        let row = row as usize;
        let found = match self.columns.get(column) {
            Some(ColumnData::Text(values)) => {
                let number = values.get(row).copied().unwrap_or(NO_TEXT);
                self.texts.get(number).map(ListValue::Text)
            }
            Some(ColumnData::Whole(values)) => {
                let value = values.get(row).copied().unwrap_or(NO_NUMBER);
                (value != NO_NUMBER).then_some(ListValue::Whole(value))
            }
            Some(ColumnData::Real(values)) => {
                let value = values.get(row).copied().unwrap_or(f64::NAN);
                (!value.is_nan()).then_some(ListValue::Real(value))
            }
            Some(ColumnData::Date(values)) => {
                let value = values.get(row).copied().unwrap_or(NO_NUMBER);
                let millis = (value ^ (1 << 63)).cast_signed();
                (value != NO_NUMBER).then_some(ListValue::Date(millis))
            }
            None => None,
        };
        found.unwrap_or(ListValue::Null)
    }

    /// Returns the number of the text of a value, by which texts are compared without reading them.
    pub(crate) fn text_number(&self, row: u32, column: usize) -> Option<u32> {
        match self.columns.get(column) {
            Some(ColumnData::Text(values)) => values.get(row as usize).copied(),
            _ => None,
        }
    }

    /// The distinct texts of all columns.
    pub(crate) fn texts(&self) -> &TextPool {
        &self.texts
    }

    /// Returns the order by a column.
    pub(crate) fn order(&self, column: usize) -> Option<&RowOrder> {
        self.orders.get(column)
    }

    /// Returns the rows with this whole number in a column, by binary search.
    pub(crate) fn rows_with(&self, column: usize, wanted: u64) -> &[u32] {
        let (Some(order), Some(ColumnData::Whole(values))) =
            (self.orders.get(column), self.columns.get(column))
        else {
            return &[];
        };
        let sorted = order.rows.get(..order.valued).unwrap_or_default();
        let value = |row: &u32| values.get(*row as usize).copied().unwrap_or(NO_NUMBER);
        let begin = sorted.partition_point(|row| value(row) < wanted);
        let end = sorted.partition_point(|row| value(row) <= wanted);
        sorted.get(begin..end).unwrap_or_default()
    }

    /// Bytes of memory that the columns use.
    pub(crate) fn memory(&self) -> u64 {
        let columns: u64 = self.columns.iter().map(ColumnData::memory).sum();
        let orders: usize = self
            .orders
            .iter()
            .map(|order| order.rows.capacity() * 4)
            .sum();
        columns + orders as u64 + self.texts.memory()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STORAGE: [ColumnStorage; 4] = [
        ColumnStorage::Text,
        ColumnStorage::Whole,
        ColumnStorage::Real,
        ColumnStorage::Date,
    ];

    type Row = (Option<String>, Option<u64>, Option<f64>, Option<i64>);

    fn values(row: &Row) -> [ListValue<'_>; 4] {
        let (text, whole, real, date) = row;
        [
            text.as_deref().map_or(ListValue::Null, ListValue::Text),
            whole.map_or(ListValue::Null, ListValue::Whole),
            real.map_or(ListValue::Null, ListValue::Real),
            date.map_or(ListValue::Null, ListValue::Date),
        ]
    }

    fn columns_of(rows: &[Row]) -> ListColumns {
        let mut builder = ColumnsBuilder::new(&STORAGE, u64::MAX);
        for row in rows {
            builder.push(&values(row)).unwrap();
        }
        builder.finish()
    }

    proptest! {
        #[test]
        fn values_are_read_as_they_were_loaded_and_orders_are_sorted(
            rows in proptest::collection::vec(
                (proptest::option::of("[a-cü汉]{0,3}"), proptest::option::of(0u64..9),
                 proptest::option::of(-2.0f64..2.0), proptest::option::of(-9i64..9)),
                0..40,
            ),
        ) {
            let columns = columns_of(&rows);
            prop_assert_eq!(columns.rows(), rows.len());
            for (at, row) in rows.iter().enumerate() {
                for (column, value) in values(row).into_iter().enumerate() {
                    prop_assert_eq!(columns.value(at as u32, column), value);
                }
            }
            // The slow definition: sort row numbers by their values, nulls last.
            for descending in [false, true] {
                let mut naive: Vec<u32> = (0..rows.len() as u32).collect();
                naive.sort_by_key(|&row| (rows[row as usize].1.is_none(), rows[row as usize].1, row));
                if descending {
                    let valued = rows.iter().filter(|row| row.1.is_some()).count();
                    naive[..valued].reverse();
                }
                let order = columns.order(1).unwrap();
                let fast: Vec<u32> = (0..rows.len()).filter_map(|at| order.at(at, descending)).collect();
                prop_assert_eq!(fast, naive);
            }
            for column in 0..4 {
                let order = columns.order(column).unwrap();
                let mut seen: Vec<u32> = (0..rows.len()).filter_map(|at| order.at(at, true)).collect();
                seen.sort_unstable();
                prop_assert_eq!(seen, (0..rows.len() as u32).collect::<Vec<_>>());
            }
            for wanted in 0..9 {
                let naive: Vec<u32> = (0..rows.len() as u32).filter(|&row| rows[row as usize].1 == Some(wanted)).collect();
                prop_assert_eq!(columns.rows_with(1, wanted), naive);
            }
        }
    }

    #[test]
    fn a_list_that_exceeds_its_memory_is_refused_while_it_is_loaded() {
        let mut builder = ColumnsBuilder::new(&STORAGE, 1000);
        let row = (Some("text".to_owned()), Some(1), Some(1.0), Some(1));
        let outcomes: Vec<_> = (0..100).map(|_| builder.push(&values(&row))).collect();
        assert!(outcomes.first().is_some_and(Result::is_ok));
        assert!(outcomes.last().is_some_and(Result::is_err));
    }
}
