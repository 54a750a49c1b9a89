//! Replaces the text of some rows of a table.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, LargeBinaryArray,
    LargeStringArray, PrimitiveArray, RecordBatch, StringArray, StringViewArray, StructArray,
};
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

/// Replaces rows of a column of texts. The type of the column and the other rows stay as they are.
fn replaced(column: &ArrayRef, rows: &HashMap<usize, String>) -> Result<ArrayRef, String> {
    let plain = match column.as_any_dictionary_opt() {
        None => column.clone(),
        Some(dictionary) => arrow_select::take::take(dictionary.values(), dictionary.keys(), None)
            .map_err(|error| error.to_string())?,
    };
    let values: Vec<Option<&[u8]>> = (0..plain.len())
        .map(|row| match rows.get(&row) {
            Some(text) => Some(text.as_bytes()),
            None => bytes_at(&plain, row),
        })
        .collect();
    match column.data_type() {
        DataType::Dictionary(key, value) => dictionary(key, value, &values),
        kind => plain_column(kind, &values),
    }
}

/// The value in a row of a column of strings or bytes.
fn bytes_at(column: &dyn Array, row: usize) -> Option<&[u8]> {
    if column.is_null(row) {
        return None;
    }
    match column.data_type() {
        DataType::Utf8 => Some(column.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => Some(column.as_string::<i64>().value(row).as_bytes()),
        DataType::Utf8View => Some(column.as_string_view().value(row).as_bytes()),
        DataType::Binary => Some(column.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Some(column.as_binary::<i64>().value(row)),
        DataType::BinaryView => Some(column.as_binary_view().value(row)),
        _ => None,
    }
}

/// A column of strings or bytes.
fn plain_column(kind: &DataType, values: &[Option<&[u8]>]) -> Result<ArrayRef, String> {
    let bytes = values.iter().copied();
    if is_binary(kind) {
        return Ok(match kind {
            DataType::Binary => Arc::new(bytes.collect::<BinaryArray>()),
            DataType::LargeBinary => Arc::new(bytes.collect::<LargeBinaryArray>()),
            _ => Arc::new(bytes.collect::<BinaryViewArray>()),
        });
    }
    let strings: Vec<Option<&str>> = bytes
        .map(|value| value.map(str::from_utf8).transpose())
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    match kind {
        DataType::Utf8 => Ok(Arc::new(StringArray::from(strings))),
        DataType::LargeUtf8 => Ok(Arc::new(LargeStringArray::from(strings))),
        DataType::Utf8View => Ok(Arc::new(StringViewArray::from(strings))),
        other => Err(format!("a column of type {other} cannot have text")),
    }
}

/// A column that has each distinct value once.
fn dictionary(
    key: &DataType,
    value: &DataType,
    rows: &[Option<&[u8]>],
) -> Result<ArrayRef, String> {
    let mut places = HashMap::new();
    let mut distinct = Vec::new();
    let mut keys = Vec::with_capacity(rows.len());
    for row in rows {
        keys.push(row.map(|bytes| {
            *places.entry(bytes).or_insert_with(|| {
                distinct.push(Some(bytes));
                distinct.len() - 1
            })
        }));
    }
    let values = plain_column(value, &distinct)?;
    match key {
        DataType::Int8 => with_keys::<Int8Type>(&keys, values),
        DataType::Int16 => with_keys::<Int16Type>(&keys, values),
        DataType::Int32 => with_keys::<Int32Type>(&keys, values),
        DataType::Int64 => with_keys::<Int64Type>(&keys, values),
        DataType::UInt8 => with_keys::<UInt8Type>(&keys, values),
        DataType::UInt16 => with_keys::<UInt16Type>(&keys, values),
        DataType::UInt32 => with_keys::<UInt32Type>(&keys, values),
        DataType::UInt64 => with_keys::<UInt64Type>(&keys, values),
        other => Err(format!("{other} cannot be the type of dictionary keys")),
    }
}

fn with_keys<Key: ArrowDictionaryKeyType>(
    keys: &[Option<usize>],
    values: ArrayRef,
) -> Result<ArrayRef, String>
where
    Key::Native: TryFrom<usize>,
{
    let too_many = || {
        let kind = Key::DATA_TYPE;
        format!(
            "{} distinct texts do not fit a dictionary with keys of type {kind}",
            values.len()
        )
    };
    let keys: PrimitiveArray<Key> = keys
        .iter()
        .map(|key| {
            key.map(|key| Key::Native::try_from(key).map_err(|_| too_many()))
                .transpose()
        })
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .collect();
    let dictionary = DictionaryArray::try_new(keys, values).map_err(|error| error.to_string())?;
    Ok(Arc::new(dictionary))
}
