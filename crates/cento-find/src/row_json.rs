//! Converts rows of any table to JSON values.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float64Type, Int64Type, TimestampMillisecondType, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use serde_json::Value;

/// Returns the names and values of one row, in the order of the columns.
pub fn row_values(batch: &RecordBatch, row: usize) -> impl Iterator<Item = (&str, Value)> {
    let schema = batch.schema_ref();
    schema
        .fields()
        .iter()
        .zip(batch.columns())
        .map(move |(field, column)| (field.name().as_str(), value(column.as_ref(), row)))
}

/// Converts a value. Times are in RFC 3339, bytes in hexadecimal.
fn value(column: &dyn Array, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::Boolean => column.as_boolean().value(row).into(),
        DataType::UInt16 => column.as_primitive::<UInt16Type>().value(row).into(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            let millis = column.as_primitive::<TimestampMillisecondType>().value(row);
            cento_text::date::render(millis).into()
        }
        DataType::FixedSizeBinary(_) => {
            let bytes = column.as_fixed_size_binary().value(row);
            bytes
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
                .into()
        }
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            (0..items.len())
                .map(|item| value(items.as_ref(), item))
                .collect()
        }
        other => Value::String(format!("({other})")),
    }
}

/// Returns a pseudo-random number for sampling by key. It depends on the seed and the key only, and
/// is cryptographic, so that whoever chooses keys cannot influence the sample.
pub fn draw(seed: u64, key: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.update(key.as_bytes());
    let hash = hasher.finalize();
    u64::from_le_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default())
}
