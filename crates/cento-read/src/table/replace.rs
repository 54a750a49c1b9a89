//! Replaces the text of some rows of a table.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{LargeBinaryBuilder, LargeStringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::DataType;

use crate::{FieldMap, Role};

/// Returns a batch with other texts in some rows. A text goes into the column that the text of the
/// row was read from: the first one with a value among those with text, else among those with HTML,
/// for which `as_html` makes a page of it. Types of columns are kept.
pub(crate) fn replace_texts(
    batch: &RecordBatch,
    fields: &FieldMap,
    mut texts: HashMap<usize, String>,
    as_html: impl Fn(&str) -> String,
) -> Result<RecordBatch, String> {
    let mut table = StructArray::from(batch.clone());
    for role in [Role::Text, Role::Html] {
        for name in fields.names(role) {
            let Some(column) = leaf(&table, name) else {
                continue;
            };
            let has_value = |row: &usize, _: &mut String| !column.is_null(*row);
            let mut rows: HashMap<usize, String> = texts.extract_if(has_value).collect();
            if rows.is_empty() {
                continue;
            }
            if role == Role::Html {
                rows.values_mut().for_each(|text| *text = as_html(text));
            }
            table = with_leaf(&table, name, &rows)?;
        }
    }
    match texts.is_empty() {
        true => RecordBatch::try_new(batch.schema(), table.columns().to_vec())
            .map_err(|error| error.to_string()),
        false => Err("a row has no column with text, which could be replaced".to_owned()),
    }
}

/// Whether a column has strings or bytes.
fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, value) => is_text(value),
        kind => is_binary(kind) || kind.is_string(),
    }
}

fn is_binary(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, value) => is_binary(value),
        kind => matches!(
            kind,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView
        ),
    }
}

/// The column of texts with a name or path.
fn leaf(parent: &StructArray, path: &str) -> Option<ArrayRef> {
    if let Some(array) = parent.column_by_name(path) {
        return is_text(array.data_type()).then(|| array.clone());
    }
    let (first, rest) = path.split_once('.')?;
    leaf(parent.column_by_name(first)?.as_struct_opt()?, rest)
}

/// Replaces rows of the column with a name or path.
fn with_leaf(
    parent: &StructArray,
    path: &str,
    rows: &HashMap<usize, String>,
) -> Result<StructArray, String> {
    let (name, rest) = match parent.column_by_name(path) {
        Some(_) => (path, None),
        None => path
            .split_once('.')
            .map_or((path, None), |(name, rest)| (name, Some(rest))),
    };
    let mut columns = parent.columns().to_vec();
    for (field, column) in parent.fields().iter().zip(&mut columns) {
        if field.name() != name {
            continue;
        }
        *column = match (rest, column.as_struct_opt()) {
            (Some(rest), Some(inner)) => Arc::new(with_leaf(inner, rest, rows)?),
            _ => replaced(column, rows)?,
        };
        break;
    }
    let (fields, nulls) = (parent.fields().clone(), parent.nulls().cloned());
    StructArray::try_new(fields, columns, nulls).map_err(|error| error.to_string())
}

/// Replaces rows of a column of texts. Bytes that are not UTF-8 stay as they are.
fn replaced(column: &ArrayRef, rows: &HashMap<usize, String>) -> Result<ArrayRef, String> {
    let cast = |array: &ArrayRef, kind: &DataType| {
        arrow_cast::cast(array, kind).map_err(|error| error.to_string())
    };
    let kind = column.data_type();
    let result: ArrayRef = match is_binary(kind) {
        true => {
            let plain = cast(column, &DataType::LargeBinary)?;
            let values = plain.as_binary::<i64>().iter().enumerate();
            let mut builder = LargeBinaryBuilder::new();
            for (row, value) in values {
                builder.append_option(rows.get(&row).map(String::as_bytes).or(value));
            }
            Arc::new(builder.finish())
        }
        false => {
            let plain = cast(column, &DataType::LargeUtf8)?;
            let values = plain.as_string::<i64>().iter().enumerate();
            let mut builder = LargeStringBuilder::new();
            for (row, value) in values {
                builder.append_option(rows.get(&row).map(String::as_str).or(value));
            }
            Arc::new(builder.finish())
        }
    };
    cast(&result, kind)
}
