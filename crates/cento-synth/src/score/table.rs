//! Reading results from Parquet, JSON Lines or CSV, row by row.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use cento_file::CsvRecords;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use xxhash_rust::xxh3::Xxh3Default;

use crate::error::{Error, Result};

/// One row of a table of results: names and values.
#[derive(Debug, Default)]
pub(crate) struct FindingRow {
    cells: Vec<(String, Value)>,
}

impl FindingRow {
    /// A hash of all names and values.
    fn identity(&self) -> u128 {
        let mut hasher = Xxh3Default::new();
        for (name, value) in &self.cells {
            // A separator that neither names nor JSON contain.
            hasher.update(name.as_bytes());
            hasher.update(b"\0");
            hasher.update(value.to_string().as_bytes());
            hasher.update(b"\0");
        }
        hasher.digest128()
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let (_, value) = self.cells.iter().find(|(known, _)| known == name)?;
        (!value.is_null()).then_some(value)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// An integer; in CSV, a string of digits.
    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        let value = self.get(name)?;
        value
            .as_u64()
            .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
    }

    pub(crate) fn real(&self, name: &str) -> Option<f64> {
        let value = self.get(name)?;
        value
            .as_f64()
            .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
    }

    pub(crate) fn truth(&self, name: &str) -> Option<bool> {
        let value = self.get(name)?;
        value
            .as_bool()
            .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
    }
}

/// Whether a file has the extension of a table.
pub(crate) fn is_table(path: &Path) -> bool {
    matches!(
        path.extension().and_then(|extension| extension.to_str()),
        Some("parquet" | "jsonl" | "ndjson" | "csv")
    )
}

/// Calls `visit` with every row of a table. Rows that are repeated are visited once.
pub(crate) fn for_each_row(
    path: &Path,
    mut visit: impl FnMut(&FindingRow) -> Result<()>,
) -> Result<()> {
    let mut visited = HashSet::new();
    let mut visit = |row: &FindingRow| match visited.insert(row.identity()) {
        true => visit(row),
        false => Ok(()),
    };
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("parquet") => {
            let reader = ParquetRecordBatchReaderBuilder::try_new(file)
                .and_then(ParquetRecordBatchReaderBuilder::build)
                .map_err(|error| bad(path, error.to_string()))?;
            for batch in reader {
                let batch = batch.map_err(|error| bad(path, error.to_string()))?;
                for row in 0..batch.num_rows() {
                    visit(&row_of(&batch, row))?;
                }
            }
            Ok(())
        }
        Some("csv") => {
            let mut records = CsvRecords::new(BufReader::new(file));
            let names = records.next().transpose();
            let names = names
                .map_err(|error| Error::io(path, error))?
                .unwrap_or_default();
            for cells in records {
                let cells = cells.map_err(|error| Error::io(path, error))?;
                let value = |cell: String| {
                    if cell.is_empty() {
                        Value::Null
                    } else {
                        Value::String(cell)
                    }
                };
                let cells = names
                    .iter()
                    .cloned()
                    .zip(cells.into_iter().map(value))
                    .collect();
                visit(&FindingRow { cells })?;
            }
            Ok(())
        }
        _ => {
            for (number, line) in BufReader::new(file).lines().enumerate() {
                let line = line.map_err(|error| Error::io(path, error))?;
                if line.trim().is_empty() {
                    continue;
                }
                match serde_json::from_str(&line) {
                    Ok(Value::Object(object)) => visit(&FindingRow {
                        cells: object.into_iter().collect(),
                    })?,
                    _ => {
                        return Err(bad(
                            path,
                            format!("line {} is not a JSON object", number + 1),
                        ));
                    }
                }
            }
            Ok(())
        }
    }
}

fn bad(path: &Path, detail: String) -> Error {
    Error::BadFindings {
        path: path.to_owned(),
        detail,
        hint: "tables are Parquet, JSON Lines or CSV; `cento score --help` lists their columns"
            .to_owned(),
    }
}

fn row_of(batch: &RecordBatch, row: usize) -> FindingRow {
    let schema = batch.schema_ref();
    let cells = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .map(|(field, column)| (field.name().clone(), value(column.as_ref(), row)))
        .collect();
    FindingRow { cells }
}

/// Converts strings, numbers, Booleans and hashes; scores need no other types.
fn value(column: &dyn Array, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).into(),
        DataType::Utf8View => column.as_string_view().value(row).into(),
        DataType::FixedSizeBinary(_) => {
            let bytes = column.as_fixed_size_binary().value(row).iter();
            let digits: Vec<String> = bytes.map(|byte| format!("{byte:02x}")).collect();
            digits.concat().into()
        }
        DataType::Boolean => column.as_boolean().value(row).into(),
        DataType::UInt8 => column.as_primitive::<UInt8Type>().value(row).into(),
        DataType::UInt16 => column.as_primitive::<UInt16Type>().value(row).into(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into(),
        DataType::Int8 => column.as_primitive::<Int8Type>().value(row).into(),
        DataType::Int16 => column.as_primitive::<Int16Type>().value(row).into(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::Float32 => f64::from(column.as_primitive::<Float32Type>().value(row)).into(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
        _ => Value::Null,
    }
}
