//! Result tables: structs as rows of typed columns.

use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, FixedSizeBinaryBuilder, ListBuilder, PrimitiveBuilder, StringBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeBinaryArray, ListArray,
    PrimitiveArray, RecordBatch, StringArray,
};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::error::{Error, Result};
use crate::sink::TaskSink;
use crate::task_output::RowChunk;

/// A row of a result table; [`table_row!`](crate::table_row) implements it for a struct.
pub trait TableRow: Sized + 'static {
    /// The builders of the columns.
    type Columns;

    /// Returns the names and types of the columns.
    fn fields() -> Vec<Field>;
    /// Returns builders without rows.
    fn columns() -> Self::Columns;
    /// Appends the row to the columns, and returns its size in bytes.
    fn append(self, columns: &mut Self::Columns) -> usize;
    /// Finishes the columns.
    fn finish(columns: &mut Self::Columns) -> Vec<ArrayRef>;
    /// Reads the rows of a batch. Columns are found by name; those that the row does not have are
    /// ignored.
    fn read(batch: &RecordBatch) -> std::result::Result<Vec<Self>, ColumnError>;
}

/// The name of a table together with the type of its rows, so that a table is read as what was
/// written.
///
/// ```
/// # cento_flow::table_row! { pub struct GramCount { pub gram: u64 } }
/// use cento_flow::TableName;
/// const GRAMS: TableName<GramCount> = TableName::new("grams");
/// assert_eq!(GRAMS.as_str(), "grams");
/// ```
pub struct TableName<T> {
    name: &'static str,
    rows: PhantomData<fn() -> T>,
}

impl<T> TableName<T> {
    /// A table of this name.
    pub const fn new(name: &'static str) -> TableName<T> {
        TableName {
            name,
            rows: PhantomData,
        }
    }

    /// The name.
    pub const fn as_str(self) -> &'static str {
        self.name
    }
}

impl<T> Clone for TableName<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TableName<T> {}

impl<T> fmt::Debug for TableName<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl<T> From<&'static str> for TableName<T> {
    fn from(name: &'static str) -> TableName<T> {
        TableName::new(name)
    }
}

impl<T> From<TableName<T>> for &'static str {
    fn from(table: TableName<T>) -> &'static str {
        table.name
    }
}

/// A column that is missing, has another type, or has nulls where a value is required.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column `{column}` {problem}")]
pub struct ColumnError {
    column: String,
    problem: &'static str,
}

/// A value of a column.
pub trait Cell: Sized {
    /// The builder of the column.
    type Builder;

    /// Returns the type of the column.
    fn data_type() -> DataType;
    /// Whether the value may be null.
    const NULLABLE: bool = false;
    /// Returns a builder without rows.
    fn builder() -> Self::Builder;
    /// Appends the value to a column, and returns its size in bytes.
    fn append(self, column: &mut Self::Builder) -> usize;
    /// Appends null to a column.
    fn append_null(column: &mut Self::Builder);
    /// Finishes the column.
    fn finish(column: &mut Self::Builder) -> ArrayRef;

    /// The column as it is read.
    type Column: Array + 'static;
    /// The value in a row. Where a value is required and the row has none, any value.
    fn value(column: &Self::Column, row: usize) -> Self;
}

macro_rules! number_cells {
    ($($type:ty => $arrow:ty),* $(,)?) => {$(
        impl Cell for $type {
            type Builder = PrimitiveBuilder<$arrow>;

            fn data_type() -> DataType {
                <$arrow>::DATA_TYPE
            }

            fn builder() -> Self::Builder {
                PrimitiveBuilder::new()
            }

            #[inline(always)]
            fn append(self, column: &mut Self::Builder) -> usize {
                column.append_value(self);
                size_of::<Self>()
            }

            fn append_null(column: &mut Self::Builder) {
                column.append_null();
            }

            fn finish(column: &mut Self::Builder) -> ArrayRef {
                Arc::new(column.finish())
            }

            type Column = PrimitiveArray<$arrow>;

            #[inline(always)]
            fn value(column: &Self::Column, row: usize) -> Self {
                column.value(row)
            }
        }
    )*};
}

number_cells! {
    u8 => UInt8Type, u16 => UInt16Type, u32 => UInt32Type, u64 => UInt64Type,
    i32 => Int32Type, i64 => Int64Type, f32 => Float32Type, f64 => Float64Type,
}

impl Cell for bool {
    type Builder = BooleanBuilder;

    fn data_type() -> DataType {
        DataType::Boolean
    }

    fn builder() -> BooleanBuilder {
        BooleanBuilder::new()
    }

    fn append(self, column: &mut BooleanBuilder) -> usize {
        column.append_value(self);
        1
    }

    fn append_null(column: &mut BooleanBuilder) {
        column.append_null();
    }

    fn finish(column: &mut BooleanBuilder) -> ArrayRef {
        Arc::new(column.finish())
    }

    type Column = BooleanArray;

    fn value(column: &BooleanArray, row: usize) -> bool {
        column.value(row)
    }
}

impl Cell for String {
    type Builder = StringBuilder;

    fn data_type() -> DataType {
        DataType::Utf8
    }

    fn builder() -> StringBuilder {
        StringBuilder::new()
    }

    fn append(self, column: &mut StringBuilder) -> usize {
        column.append_value(&self);
        self.len() + 4
    }

    fn append_null(column: &mut StringBuilder) {
        column.append_null();
    }

    fn finish(column: &mut StringBuilder) -> ArrayRef {
        Arc::new(column.finish())
    }

    type Column = StringArray;

    fn value(column: &StringArray, row: usize) -> String {
        column.value(row).to_owned()
    }
}

/// A 128-bit hash, as a corpus stores them.
impl Cell for [u8; 16] {
    type Builder = FixedSizeBinaryBuilder;

    fn data_type() -> DataType {
        DataType::FixedSizeBinary(16)
    }

    fn builder() -> FixedSizeBinaryBuilder {
        FixedSizeBinaryBuilder::new(16)
    }

    fn append(self, column: &mut FixedSizeBinaryBuilder) -> usize {
        // This fails only for values of another length.
        if column.append_value(self).is_err() {
            column.append_null();
        }
        16
    }

    fn append_null(column: &mut FixedSizeBinaryBuilder) {
        column.append_null();
    }

    fn finish(column: &mut FixedSizeBinaryBuilder) -> ArrayRef {
        Arc::new(column.finish())
    }

    type Column = FixedSizeBinaryArray;

    fn value(column: &FixedSizeBinaryArray, row: usize) -> [u8; 16] {
        column.value(row).try_into().unwrap_or_default()
    }
}

/// A list of numbers, such as positions in a text.
impl Cell for Vec<u32> {
    type Builder = ListBuilder<PrimitiveBuilder<UInt32Type>>;

    fn data_type() -> DataType {
        DataType::List(Arc::new(Field::new("item", DataType::UInt32, true)))
    }

    fn builder() -> Self::Builder {
        ListBuilder::new(PrimitiveBuilder::new())
    }

    fn append(self, column: &mut Self::Builder) -> usize {
        column.values().append_slice(&self);
        column.append(true);
        4 * self.len() + 4
    }

    fn append_null(column: &mut Self::Builder) {
        column.append_null();
    }

    fn finish(column: &mut Self::Builder) -> ArrayRef {
        Arc::new(column.finish())
    }

    type Column = ListArray;

    fn value(column: &ListArray, row: usize) -> Vec<u32> {
        let items = column.value(row);
        let items = items.as_primitive_opt::<UInt32Type>();
        items.map_or_else(Vec::new, |items| items.values().to_vec())
    }
}

impl<C: Cell> Cell for Option<C> {
    type Builder = C::Builder;
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        C::data_type()
    }

    fn builder() -> C::Builder {
        C::builder()
    }

    fn append(self, column: &mut C::Builder) -> usize {
        match self {
            Some(value) => value.append(column),
            None => {
                C::append_null(column);
                1
            }
        }
    }

    fn append_null(column: &mut C::Builder) {
        C::append_null(column);
    }

    fn finish(column: &mut C::Builder) -> ArrayRef {
        C::finish(column)
    }

    type Column = C::Column;

    fn value(column: &C::Column, row: usize) -> Option<C> {
        column.is_valid(row).then(|| C::value(column, row))
    }
}

/// Declares a struct that is a row of a result table, with a column for each field.
///
/// ```
/// cento_flow::table_row! {
///     /// How many pages a gram is on.
///     #[derive(Debug)]
///     pub struct GramCount {
///         /// The gram.
///         pub gram: u64,
///         /// How many pages have it.
///         pub pages: u32,
///         /// Its words, if they are known.
///         pub words: Option<String>,
///     }
/// }
/// use cento_flow::TableRow;
/// assert_eq!(GramCount::fields().len(), 3);
/// ```
#[macro_export]
macro_rules! table_row {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $($(#[$field_attribute:meta])* $field_visibility:vis $field:ident: $type:ty),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        $visibility struct $name {
            $($(#[$field_attribute])* $field_visibility $field: $type,)*
        }

        impl $crate::TableRow for $name {
            type Columns = ($(<$type as $crate::Cell>::Builder,)*);

            fn fields() -> ::std::vec::Vec<$crate::Field> {
                ::std::vec![$($crate::field_of::<$type>(::std::stringify!($field))),*]
            }

            fn columns() -> Self::Columns {
                ($(<$type as $crate::Cell>::builder(),)*)
            }

            #[inline(always)]
            fn append(self, columns: &mut Self::Columns) -> usize {
                let ($($field,)*) = columns;
                0 $(+ <$type as $crate::Cell>::append(self.$field, $field))*
            }

            fn finish(columns: &mut Self::Columns) -> ::std::vec::Vec<$crate::ArrayRef> {
                let ($($field,)*) = columns;
                ::std::vec![$(<$type as $crate::Cell>::finish($field)),*]
            }

            fn read(
                batch: &$crate::RecordBatch,
            ) -> ::std::result::Result<::std::vec::Vec<Self>, $crate::ColumnError> {
                $(let $field = $crate::column_of::<$type>(batch, ::std::stringify!($field))?;)*
                let rows = 0..batch.num_rows();
                ::std::result::Result::Ok(
                    rows.map(|row| $name {
                        $($field: <$type as $crate::Cell>::value($field, row),)*
                    })
                    .collect(),
                )
            }
        }
    };
}

/// Returns the declaration of a column.
#[doc(hidden)]
pub fn field_of<C: Cell>(name: &str) -> Field {
    Field::new(name, C::data_type(), C::NULLABLE)
}

/// Returns the column of this name and type.
#[doc(hidden)]
pub fn column_of<'a, C: Cell>(
    batch: &'a RecordBatch,
    name: &str,
) -> std::result::Result<&'a C::Column, ColumnError> {
    let problem = |problem| ColumnError {
        column: name.to_owned(),
        problem,
    };
    let column = batch
        .column_by_name(name)
        .ok_or_else(|| problem("is missing"))?;
    if column.data_type() != &C::data_type() {
        return Err(problem("has another type"));
    }
    if !C::NULLABLE && column.null_count() > 0 {
        return Err(problem("has rows without a value"));
    }
    let column = column.as_any().downcast_ref::<C::Column>();
    column.ok_or_else(|| problem("has another type"))
}

/// Writes rows of a task to one table.
pub struct TableEmitter<T: TableRow> {
    name: String,
    schema: SchemaRef,
    columns: T::Columns,
    rows: u64,
    bytes: usize,
    capacity: usize,
    /// Whether a batch was written. Even a task without rows writes one, for its schema.
    has_batch: bool,
    sink: Rc<TaskSink>,
}

impl<T: TableRow> TableEmitter<T> {
    pub(crate) fn new(name: &str, sink: Rc<TaskSink>) -> Result<TableEmitter<T>> {
        sink.open(name, 1, 1)?;
        Ok(TableEmitter {
            name: name.to_owned(),
            schema: Arc::new(Schema::new(T::fields())),
            columns: T::columns(),
            rows: 0,
            bytes: 0,
            capacity: sink.resources().shares.chunk / 2,
            has_batch: false,
            sink,
        })
    }

    /// Adds a row to the table. Rows are in the order of tasks or partitions, and within one of
    /// them in the order of pushing. So the table of a reduce is sorted by key.
    #[inline(always)]
    pub fn push(&mut self, row: T) -> Result<()> {
        self.bytes += row.append(&mut self.columns);
        self.rows += 1;
        if self.bytes >= self.capacity {
            return self.flush();
        }
        Ok(())
    }

    #[cold]
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.rows == 0 && self.has_batch {
            return Ok(());
        }
        self.has_batch = true;
        let columns = T::finish(&mut self.columns);
        let (rows, bytes) = (self.rows, self.bytes);
        (self.rows, self.bytes) = (0, 0);
        write_batch(&self.sink, &self.name, &self.schema, columns, rows, bytes)
    }
}

/// Encodes a batch of about `bytes` bytes, and adds it to a task's output. It is the same for all
/// tables.
fn write_batch(
    sink: &TaskSink,
    name: &str,
    schema: &SchemaRef,
    columns: Vec<ArrayRef>,
    rows: u64,
    bytes: usize,
) -> Result<()> {
    let encode = || -> std::result::Result<Vec<u8>, ArrowError> {
        let batch = RecordBatch::try_new(Arc::clone(schema), columns)?;
        let mut writer = StreamWriter::try_new(Vec::with_capacity(bytes + 1024), schema)?;
        writer.write(&batch)?;
        writer.into_inner()
    };
    let blob = encode().map_err(|error| Error::table(name.as_ref(), &error))?;
    let bytes = blob.len() as u64;
    sink.add(name, RowChunk::blob(blob), rows, bytes)
}

/// Decodes batches that a [`TableEmitter`] has encoded one after the other.
pub(crate) fn decode(blob: &[u8]) -> std::result::Result<Vec<RecordBatch>, ArrowError> {
    let mut batches = Vec::new();
    let mut rest = blob;
    while !rest.is_empty() {
        let (some, read) = decode_first(rest)?;
        batches.extend(some);
        rest = rest.get(read..).unwrap_or_default();
    }
    Ok(batches)
}

/// Decodes the batches that were encoded first. Returns them and how many bytes they had; none if
/// there are no bytes.
pub(crate) fn decode_first(
    blob: &[u8],
) -> std::result::Result<(Vec<RecordBatch>, usize), ArrowError> {
    if blob.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let mut cursor = std::io::Cursor::new(blob);
    let reader = arrow_ipc::reader::StreamReader::try_new(&mut cursor, None)?;
    let batches: std::result::Result<Vec<RecordBatch>, ArrowError> = reader.collect();
    let batches = batches?;
    Ok((batches, (cursor.position() as usize).min(blob.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    table_row! {
        #[derive(Debug, Clone, PartialEq)]
        struct Mixed {
            count: u64,
            share: Option<f64>,
            name: String,
            note: Option<String>,
            holds: bool,
            hash: [u8; 16],
            places: Vec<u32>,
        }
    }

    fn batch(rows: &[Mixed]) -> RecordBatch {
        let mut columns = Mixed::columns();
        for row in rows {
            row.clone().append(&mut columns);
        }
        let schema = Arc::new(Schema::new(Mixed::fields()));
        RecordBatch::try_new(schema, Mixed::finish(&mut columns)).unwrap()
    }

    fn rows() -> Vec<Mixed> {
        let row = |count: u64| Mixed {
            count,
            share: (count > 1).then_some(0.5),
            name: format!("page {count}"),
            note: (count == 1).then(|| "first".to_owned()),
            holds: count == 2,
            hash: [count as u8; 16],
            places: (0..count as u32).collect(),
        };
        (0..4).map(row).collect()
    }

    #[test]
    fn the_struct_that_writes_a_table_reads_it() {
        assert_eq!(Mixed::read(&batch(&rows())).unwrap(), rows());
        assert_eq!(Mixed::read(&batch(&[])).unwrap(), []);
    }

    #[test]
    fn batches_are_decoded_one_after_the_other() {
        let encoded = |rows: &[Mixed]| {
            let batch = batch(rows);
            let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
            writer.write(&batch).unwrap();
            writer.into_inner().unwrap()
        };
        let (first, second) = (encoded(&rows()), encoded(&rows()[1..2]));
        let blob = [first.as_slice(), second.as_slice()].concat();
        let (batches, read) = decode_first(&blob).unwrap();
        assert_eq!((batches.len(), read), (1, first.len()));
        let (batches, read) = decode_first(&blob[read..]).unwrap();
        assert_eq!((batches[0].num_rows(), read), (1, second.len()));
        assert_eq!(decode_first(&[]).unwrap().1, 0);
        assert_eq!(decode(&blob).unwrap().len(), 2);
    }

    #[test]
    fn columns_are_found_by_name_and_a_missing_one_is_an_error() {
        let whole = batch(&rows());
        let mut order: Vec<usize> = (0..whole.num_columns()).rev().collect();
        assert_eq!(
            Mixed::read(&whole.project(&order).unwrap()).unwrap(),
            rows()
        );
        order.pop();
        let error = Mixed::read(&whole.project(&order).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "column `count` is missing");
    }

    #[test]
    fn a_column_of_another_type_is_an_error() {
        table_row! {
            #[derive(Debug)]
            struct Other {
                count: u32,
            }
        }
        let error = Other::read(&batch(&rows())).unwrap_err();
        assert_eq!(error.to_string(), "column `count` has another type");
    }
}
