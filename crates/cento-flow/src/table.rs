//! Result tables: rows of typed columns, from many tasks, in one Parquet file.

use std::rc::Rc;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, FixedSizeBinaryBuilder, ListBuilder, PrimitiveBuilder, StringBuilder,
};
use arrow_array::types::{
    Float32Type, Float64Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, ArrowPrimitiveType, RecordBatch};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::chunk::Chunk;
use crate::error::{Error, Result};
use crate::sink::TaskSink;

/// A row of a result table; [`table_row!`](crate::table_row) makes one of a struct.
pub trait TableRow: Sized + 'static {
    /// The columns while they grow.
    type Columns;

    /// Names and types of the columns.
    fn fields() -> Vec<Field>;
    /// Columns without rows.
    fn columns() -> Self::Columns;
    /// Adds this row to the columns, and says how many bytes it has.
    fn append(self, columns: &mut Self::Columns) -> usize;
    /// Takes what the columns hold.
    fn finish(columns: &mut Self::Columns) -> Vec<ArrayRef>;
}

/// A value that can stand in a column.
pub trait Cell: Sized {
    /// The column while it grows.
    type Builder;

    /// The type of the column.
    fn data_type() -> DataType;
    /// Whether the value may be missing.
    const NULLABLE: bool = false;
    /// A column without rows.
    fn builder() -> Self::Builder;
    /// Adds the value to a column, and says how many bytes it has.
    fn append(self, column: &mut Self::Builder) -> usize;
    /// Adds that there is no value.
    fn append_null(column: &mut Self::Builder);
    /// Takes what the column holds.
    fn finish(column: &mut Self::Builder) -> ArrayRef;
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
}

/// A hash of 128 bits, as the corpus stores them.
impl Cell for [u8; 16] {
    type Builder = FixedSizeBinaryBuilder;

    fn data_type() -> DataType {
        DataType::FixedSizeBinary(16)
    }

    fn builder() -> FixedSizeBinaryBuilder {
        FixedSizeBinaryBuilder::new(16)
    }

    fn append(self, column: &mut FixedSizeBinaryBuilder) -> usize {
        // It fails for values of another length, and there are none.
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
}

/// Numbers that belong to one row, such as places in a text.
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
}

/// Declares a struct that is a row of a result table: a column a field, of the field's name and
/// type.
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
        }
    };
}

/// The column of a type.
#[doc(hidden)]
pub fn field_of<C: Cell>(name: &str) -> Field {
    Field::new(name, C::data_type(), C::NULLABLE)
}

/// Takes the rows of a task for one table.
pub struct TableEmitter<T: TableRow> {
    name: String,
    schema: SchemaRef,
    columns: T::Columns,
    rows: u64,
    bytes: usize,
    capacity: usize,
    /// Whether the columns are known to whoever writes the table, be it without rows.
    told: bool,
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
            capacity: sink.workshop().shares.chunk / 2,
            told: false,
            sink,
        })
    }

    /// Puts a row into the table. Rows stay in the order of tasks, or of partitions, and within one
    /// in the order of pushing; so a reduce that pushes as it goes makes a table in the order of
    /// its keys.
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
        if self.rows == 0 && self.told {
            return Ok(());
        }
        self.told = true;
        let columns = T::finish(&mut self.columns);
        let encode = || -> std::result::Result<Vec<u8>, ArrowError> {
            let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
            let mut writer =
                StreamWriter::try_new(Vec::with_capacity(self.bytes + 1024), &self.schema)?;
            writer.write(&batch)?;
            writer.into_inner()
        };
        let blob = encode().map_err(|error| Error::table(self.name.as_ref(), &error))?;
        let (rows, bytes) = (self.rows, blob.len() as u64);
        (self.rows, self.bytes) = (0, 0);
        self.sink.add(&self.name, Chunk::blob(blob), rows, bytes)
    }
}

/// The batches that [`TableEmitter`]s have encoded one after the other.
pub(crate) fn decode(blob: &[u8]) -> std::result::Result<Vec<RecordBatch>, ArrowError> {
    let mut cursor = std::io::Cursor::new(blob);
    let mut batches = Vec::new();
    while (cursor.position() as usize) < blob.len() {
        let reader = arrow_ipc::reader::StreamReader::try_new(&mut cursor, None)?;
        for batch in reader {
            batches.push(batch?);
        }
    }
    Ok(batches)
}
