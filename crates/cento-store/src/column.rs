//! Typed columns: how values of a Rust type are written to and read from a column of a table.
//!
//! A [`ColumnKind`] maps a Rust type to an Arrow type. The tables of a corpus are declared once, in
//! terms of kinds (see [`pages`](crate::pages), [`text`](crate::text), [`chunks`](crate::chunks));
//! schema, writer and reader are generated from that declaration. Readers declare the columns they
//! need with [`projection!`](crate::projection), so that a renamed column is a compile error.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{
    FixedSizeBinaryBuilder, ListBuilder, PrimitiveBuilder, StringBuilder,
    TimestampMillisecondBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMillisecondType;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, FixedSizeBinaryArray, ListArray, PrimitiveArray,
    RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field, TimeUnit};

use crate::schema::Table;

/// Bytes that are reserved per value of a column of short texts.
const SHORT_TEXT: usize = 16;

/// What a column contains, and how one value is written and read.
pub trait ColumnKind {
    /// A value, borrowed from the writer or from the column it is read from.
    type Value<'a>;
    /// The column while it is written.
    type Builder;
    /// The column once it is read.
    type Array: Array + Clone;
    /// Whether values may be missing.
    const NULLABLE: bool = false;

    /// Returns the Arrow type.
    fn data_type() -> DataType;
    /// Creates an empty column with capacity for this many values.
    fn builder(capacity: usize) -> Self::Builder;
    /// Appends a value.
    fn append(builder: &mut Self::Builder, value: Self::Value<'_>);
    /// Appends a missing value.
    fn append_null(builder: &mut Self::Builder);
    /// Finishes the column.
    fn finish(builder: &mut Self::Builder) -> ArrayRef;
    /// Casts a column to its type; `None` if it has another one.
    fn downcast(array: &dyn Array) -> Option<&Self::Array>;
    /// Reads a value.
    fn value(array: &Self::Array, row: usize) -> Self::Value<'_>;
}

/// Numbers.
#[derive(Debug)]
pub struct Number<T>(PhantomData<T>);

impl<T: ArrowPrimitiveType> ColumnKind for Number<T> {
    type Value<'a> = T::Native;
    type Builder = PrimitiveBuilder<T>;
    type Array = PrimitiveArray<T>;

    fn data_type() -> DataType {
        T::DATA_TYPE
    }

    fn builder(capacity: usize) -> Self::Builder {
        PrimitiveBuilder::with_capacity(capacity)
    }

    fn append(builder: &mut Self::Builder, value: T::Native) {
        builder.append_value(value);
    }

    fn append_null(builder: &mut Self::Builder) {
        builder.append_null();
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.finish())
    }

    fn downcast(array: &dyn Array) -> Option<&Self::Array> {
        array.as_primitive_opt::<T>()
    }

    fn value(array: &Self::Array, row: usize) -> T::Native {
        array.value(row)
    }
}

/// Points in time, in milliseconds since 1970 in UTC.
#[derive(Debug)]
pub struct Timestamp;

impl ColumnKind for Timestamp {
    type Value<'a> = i64;
    type Builder = TimestampMillisecondBuilder;
    type Array = TimestampMillisecondArray;

    fn data_type() -> DataType {
        DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()))
    }

    fn builder(capacity: usize) -> Self::Builder {
        TimestampMillisecondBuilder::with_capacity(capacity).with_timezone("UTC")
    }

    fn append(builder: &mut Self::Builder, value: i64) {
        builder.append_value(value);
    }

    fn append_null(builder: &mut Self::Builder) {
        builder.append_null();
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.finish())
    }

    fn downcast(array: &dyn Array) -> Option<&Self::Array> {
        array.as_primitive_opt::<TimestampMillisecondType>()
    }

    fn value(array: &Self::Array, row: usize) -> i64 {
        array.value(row)
    }
}

/// Strings.
#[derive(Debug)]
pub struct Text;

impl ColumnKind for Text {
    type Value<'a> = &'a str;
    type Builder = StringBuilder;
    type Array = StringArray;

    fn data_type() -> DataType {
        DataType::Utf8
    }

    fn builder(capacity: usize) -> Self::Builder {
        StringBuilder::with_capacity(capacity, capacity * SHORT_TEXT)
    }

    fn append(builder: &mut Self::Builder, value: &str) {
        builder.append_value(value);
    }

    fn append_null(builder: &mut Self::Builder) {
        builder.append_null();
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.finish())
    }

    fn downcast(array: &dyn Array) -> Option<&Self::Array> {
        array.as_string_opt::<i32>()
    }

    fn value(array: &Self::Array, row: usize) -> &str {
        array.value(row)
    }
}

/// Hashes of `N` bytes.
#[derive(Debug)]
pub struct Digest<const N: usize>;

impl<const N: usize> ColumnKind for Digest<N> {
    type Value<'a> = [u8; N];
    type Builder = FixedSizeBinaryBuilder;
    type Array = FixedSizeBinaryArray;

    fn data_type() -> DataType {
        DataType::FixedSizeBinary(N as i32)
    }

    fn builder(capacity: usize) -> Self::Builder {
        FixedSizeBinaryBuilder::with_capacity(capacity, N as i32)
    }

    fn append(builder: &mut Self::Builder, value: [u8; N]) {
        // Only a value of another width is an error, and the type rules that out.
        if builder.append_value(value).is_err() {
            builder.append_null();
        }
    }

    fn append_null(builder: &mut Self::Builder) {
        builder.append_null();
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.finish())
    }

    fn downcast(array: &dyn Array) -> Option<&Self::Array> {
        let array = array.as_fixed_size_binary_opt()?;
        (array.value_length() == N as i32).then_some(array)
    }

    fn value(array: &Self::Array, row: usize) -> [u8; N] {
        array.value(row).try_into().unwrap_or([0; N])
    }
}

/// Lists of numbers.
#[derive(Debug)]
pub struct NumberList<T>(PhantomData<T>);

impl<T: ArrowPrimitiveType> ColumnKind for NumberList<T> {
    type Value<'a> = &'a [T::Native];
    type Builder = ListBuilder<PrimitiveBuilder<T>>;
    type Array = ListArray;

    fn data_type() -> DataType {
        list_of(T::DATA_TYPE)
    }

    fn builder(_: usize) -> Self::Builder {
        ListBuilder::new(PrimitiveBuilder::new())
    }

    fn append(builder: &mut Self::Builder, value: &[T::Native]) {
        builder.values().append_slice(value);
        builder.append(true);
    }

    fn append_null(builder: &mut Self::Builder) {
        builder.append_null();
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.finish())
    }

    fn downcast(array: &dyn Array) -> Option<&Self::Array> {
        let array = array.as_list_opt::<i32>()?;
        array
            .values()
            .as_primitive_opt::<T>()
            .is_some()
            .then_some(array)
    }

    fn value(array: &Self::Array, row: usize) -> &[T::Native] {
        let numbers = array.values().as_primitive_opt::<T>();
        numbers
            .and_then(|numbers| numbers.values().get(items(array, row)))
            .unwrap_or_default()
    }
}

/// Lists of strings.
#[derive(Debug)]
pub struct TextList;

impl ColumnKind for TextList {
    type Value<'a> = Strings<'a>;
    type Builder = ListBuilder<StringBuilder>;
    type Array = ListArray;

    fn data_type() -> DataType {
        list_of(DataType::Utf8)
    }

    fn builder(_: usize) -> Self::Builder {
        ListBuilder::new(StringBuilder::new())
    }

    fn append(builder: &mut Self::Builder, value: Strings<'_>) {
        for text in value {
            builder.values().append_value(text);
        }
        builder.append(true);
    }

    fn append_null(builder: &mut Self::Builder) {
        builder.append_null();
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.finish())
    }

    fn downcast(array: &dyn Array) -> Option<&Self::Array> {
        let array = array.as_list_opt::<i32>()?;
        array
            .values()
            .as_string_opt::<i32>()
            .is_some()
            .then_some(array)
    }

    fn value(array: &Self::Array, row: usize) -> Strings<'_> {
        match array.values().as_string_opt::<i32>() {
            Some(texts) => Strings(StringsFrom::Column(texts, items(array, row))),
            None => Strings(StringsFrom::Slice([].iter())),
        }
    }
}

/// Values that may be missing.
#[derive(Debug)]
pub struct Nullable<K>(PhantomData<K>);

impl<K: ColumnKind> ColumnKind for Nullable<K> {
    type Value<'a> = Option<K::Value<'a>>;
    type Builder = K::Builder;
    type Array = K::Array;
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        K::data_type()
    }

    fn builder(capacity: usize) -> Self::Builder {
        K::builder(capacity)
    }

    fn append(builder: &mut Self::Builder, value: Self::Value<'_>) {
        match value {
            Some(value) => K::append(builder, value),
            None => K::append_null(builder),
        }
    }

    fn append_null(builder: &mut Self::Builder) {
        K::append_null(builder);
    }

    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        K::finish(builder)
    }

    fn downcast(array: &dyn Array) -> Option<&Self::Array> {
        K::downcast(array)
    }

    fn value(array: &Self::Array, row: usize) -> Self::Value<'_> {
        array.is_valid(row).then(|| K::value(array, row))
    }
}

/// The strings of one list, from a slice or from a column.
#[derive(Debug, Clone)]
pub struct Strings<'a>(StringsFrom<'a>);

#[derive(Debug, Clone)]
enum StringsFrom<'a> {
    Slice(std::slice::Iter<'a, String>),
    Column(&'a StringArray, Range<usize>),
}

impl<'a> From<&'a [String]> for Strings<'a> {
    fn from(strings: &'a [String]) -> Strings<'a> {
        Strings(StringsFrom::Slice(strings.iter()))
    }
}

impl<'a> Iterator for Strings<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        match &mut self.0 {
            StringsFrom::Slice(strings) => strings.next().map(String::as_str),
            StringsFrom::Column(texts, rows) => {
                let row = rows.by_ref().find(|&row| texts.is_valid(row))?;
                Some(texts.value(row))
            }
        }
    }
}

fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", item, true)))
}

/// The positions of the items of one list in the array of all items.
fn items(array: &ListArray, row: usize) -> Range<usize> {
    let offsets = array.value_offsets();
    offsets[row] as usize..offsets[row + 1] as usize
}

/// A column of a table, as a type: its name, its table and what it contains.
pub trait TableColumn {
    /// What it contains.
    type Kind: ColumnKind;
    /// The table it belongs to.
    const TABLE: Table;
    /// Its name.
    const NAME: &'static str;
}

/// One column of a batch of rows that was read. It shares the memory of the batch.
#[derive(Debug, Clone)]
pub struct Column<K: ColumnKind>(K::Array);

impl<K: ColumnKind> Column<K> {
    /// Takes the column `C` from a batch; `None` if it is missing or has another type.
    #[doc(hidden)]
    pub fn of<C: TableColumn<Kind = K>>(batch: &RecordBatch) -> Option<Column<K>> {
        match batch.column_by_name(C::NAME) {
            Some(array) => K::downcast(array).cloned().map(Column),
            // The table was written before the column existed.
            None if ADDED_COLUMNS.contains(&(C::TABLE, C::NAME)) => {
                let array = arrow_array::new_null_array(&K::data_type(), batch.num_rows());
                K::downcast(&array).cloned().map(Column)
            }
            None => None,
        }
    }

    /// The value in a row.
    #[inline]
    pub fn value(&self, row: usize) -> K::Value<'_> {
        K::value(&self.0, row)
    }

    /// The values of all rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = K::Value<'_>> {
        (0..self.0.len()).map(|row| self.value(row))
    }
}

impl<K: ColumnKind> Column<Nullable<K>> {
    /// Whether the value in a row is missing.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.0.is_null(row)
    }
}

impl<const N: usize> Column<Digest<N>> {
    /// The bytes in a row, borrowed.
    #[inline]
    pub fn bytes(&self, row: usize) -> &[u8] {
        self.0.value(row)
    }
}

impl<const N: usize> Column<Nullable<Digest<N>>> {
    /// The bytes in a row, borrowed.
    #[inline]
    pub fn bytes(&self, row: usize) -> Option<&[u8]> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

impl<T: ArrowPrimitiveType> Column<Number<T>> {
    /// The values of all rows.
    pub fn values(&self) -> &[T::Native] {
        self.0.values()
    }
}

/// Columns that tables of format 1 do not have. They can be null, and are null in such tables.
pub(crate) const ADDED_COLUMNS: &[(Table, &str)] = &[
    (Table::Pages, "page_type"),
    (Table::Pages, "id"),
    (Table::Pages, "row"),
];

/// A set of columns of one table that are read together;
/// [`projection!`](crate::projection) declares one.
pub trait Projection: Sized {
    /// The table.
    const TABLE: Table;
    /// The names of the columns.
    const COLUMNS: &'static [&'static str];

    /// Takes the columns from a batch; `None` if one is missing or has another type.
    fn from_batch(batch: &RecordBatch) -> Option<Self>;
    /// The number of rows.
    fn rows(&self) -> usize;
}

/// Declares a struct of columns that are read together: a field each, by the names that the table
/// has for them.
///
/// ```
/// use cento_store::{Corpus, Projection, pages, projection};
///
/// projection! {
///     /// Where pages are from.
///     struct Addresses of pages { url, host }
/// }
///
/// fn urls_without_host(corpus: &Corpus) -> cento_store::Result<Vec<String>> {
///     let mut urls = Vec::new();
///     for batch in corpus.scan::<Addresses>() {
///         let batch = batch?;
///         for row in (0..batch.rows()).filter(|&row| batch.host.is_null(row)) {
///             urls.push(batch.url.value(row).to_owned());
///         }
///     }
///     Ok(urls)
/// }
/// ```
///
/// A column that the table does not have is a compile error:
///
/// ```compile_fail
/// use cento_store::{pages, projection};
///
/// projection! {
///     struct Addresses of pages { url, hots }
/// }
/// ```
#[macro_export]
macro_rules! projection {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident of $table:ident { $($column:ident),+ $(,)? }
    ) => {
        $(#[$attribute])*
        $visibility struct $name {
            rows: usize,
            $(#[doc = concat!("The column `", stringify!($column), "`.")]
            $visibility $column: $crate::column::Column<
                <$table::$column as $crate::column::TableColumn>::Kind,
            >,)+
        }

        impl $crate::Projection for $name {
            const TABLE: $crate::Table = $table::TABLE;
            const COLUMNS: &'static [&'static str] =
                &[$(<$table::$column as $crate::column::TableColumn>::NAME),+];

            fn from_batch(batch: &$crate::RecordBatch) -> ::std::option::Option<Self> {
                ::std::option::Option::Some($name {
                    rows: batch.num_rows(),
                    $($column: $crate::column::Column::of::<$table::$column>(batch)?,)+
                })
            }

            fn rows(&self) -> usize {
                self.rows
            }
        }
    };
}
