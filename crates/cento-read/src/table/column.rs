//! Columns of tables.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, StringViewArray, StructArray};
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::date;
use crate::{Error, FieldMap, Role};

/// A column with a role.
#[derive(Clone, Debug)]
pub(super) struct InputColumn {
    pub(super) role: Role,
    /// The name. Nested names are separated by dots.
    pub(super) name: String,
}

/// The value of a cell.
pub(super) enum TableCell<'a> {
    Text(Cow<'a, str>),
    Bytes(&'a [u8]),
}

impl TableCell<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            TableCell::Text(text) => text.as_bytes(),
            TableCell::Bytes(bytes) => bytes,
        }
    }

    pub(super) fn into_text(self) -> String {
        match self {
            TableCell::Text(text) => text.into_owned(),
            TableCell::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

/// Replaces strings and bytes in a schema by views.
pub(super) fn with_views(schema: &Schema) -> Schema {
    Schema::new_with_metadata(
        fields_with_views(schema.fields()),
        schema.metadata().clone(),
    )
}

fn fields_with_views(fields: &Fields) -> Fields {
    let field_with_views = |field: &Arc<Field>| {
        let kind = match field.data_type() {
            DataType::Utf8 => DataType::Utf8View,
            DataType::Binary => DataType::BinaryView,
            DataType::Struct(inner) => DataType::Struct(fields_with_views(inner)),
            other => other.clone(),
        };
        Arc::new(field.as_ref().clone().with_data_type(kind))
    };
    fields.iter().map(field_with_views).collect()
}

/// Chooses the columns that the user named or that have usual names.
pub(super) fn choose(
    schema: &Schema,
    fields: &FieldMap,
    input: &str,
) -> Result<Vec<InputColumn>, Error> {
    let mut columns = Vec::new();
    for role in Role::ALL {
        for name in fields.names(role) {
            let assigned = fields.assigned(role).is_some();
            match find(schema.fields(), name) {
                Some(kind) if fits(kind, role) => columns.push(InputColumn {
                    role,
                    name: name.to_owned(),
                }),
                Some(kind) if assigned => {
                    return Err(Error::WrongColumnType {
                        name: input.to_owned(),
                        column: name.to_owned(),
                        kind: kind.to_string(),
                        role,
                    });
                }
                None if assigned => {
                    return Err(Error::NoSuchField {
                        name: input.to_owned(),
                        role,
                        field: name.to_owned(),
                        found: names(schema.fields()),
                    });
                }
                _ => {}
            }
        }
    }
    let is_text = |column: &InputColumn| matches!(column.role, Role::Text | Role::Html);
    if columns.iter().any(is_text) {
        Ok(columns)
    } else {
        Err(Error::NoTextField {
            name: input.to_owned(),
            found: names(schema.fields()),
        })
    }
}

/// The type of the column with this name or path.
fn find<'a>(fields: &'a Fields, path: &str) -> Option<&'a DataType> {
    if let Some((_, field)) = fields.find(path) {
        return Some(field.data_type());
    }
    let (first, rest) = path.split_once('.')?;
    match fields.find(first)?.1.data_type() {
        DataType::Struct(inner) => find(inner, rest),
        _ => None,
    }
}

/// The names of all columns. Nested names are separated by dots.
fn names(fields: &Fields) -> Vec<String> {
    let mut names = Vec::new();
    for field in fields {
        match field.data_type() {
            DataType::Struct(inner) => names.extend(
                self::names(inner)
                    .into_iter()
                    .map(|name| format!("{}.{name}", field.name())),
            ),
            _ => names.push(field.name().clone()),
        }
    }
    names
}

/// Whether values of this type can have this role.
fn fits(kind: &DataType, role: Role) -> bool {
    let is_text = matches!(kind, DataType::Utf8View | DataType::BinaryView);
    match role {
        Role::Text | Role::Html => is_text,
        Role::Date => {
            is_text
                || kind.is_integer()
                || matches!(
                    kind,
                    DataType::Date32
                        | DataType::Date64
                        | DataType::Timestamp(..)
                        | DataType::Float32
                        | DataType::Float64
                )
        }
        _ => is_text || kind.is_integer(),
    }
}

/// Converts the columns of a batch to strings or bytes. Dates and numbers are formatted.
pub(super) fn normalised(
    batch: &RecordBatch,
    columns: &[InputColumn],
) -> Result<RecordBatch, String> {
    let mut fields = Vec::with_capacity(columns.len());
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
    let parent = StructArray::from(batch.clone());
    for column in columns {
        let array = array_at(&parent, &column.name)
            .ok_or_else(|| format!("column {} is missing", column.name))?;
        let array = match array.data_type() {
            DataType::Utf8View | DataType::BinaryView => array,
            _ => formatted(&array)?,
        };
        // One column may have several roles.
        fields.push(Field::new(
            format!("{}:{}", column.role, column.name),
            array.data_type().clone(),
            true,
        ));
        arrays.push(array);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|error| error.to_string())
}

/// Formats whole numbers, dates and times of a column. A value beyond the range of dates is null.
fn formatted(column: &ArrayRef) -> Result<ArrayRef, String> {
    let texts: StringViewArray = match column.data_type() {
        DataType::Date32 => {
            of_values::<Date32Type>(column, |days| day(i64::from(days).checked_mul(86_400_000)?))
        }
        DataType::Date64 => of_values::<Date64Type>(column, day),
        DataType::Timestamp(TimeUnit::Second, _) => {
            of_values::<TimestampSecondType>(column, |time| instant(time, 1))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            of_values::<TimestampMillisecondType>(column, |time| instant(time, 1_000))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            of_values::<TimestampMicrosecondType>(column, |time| instant(time, 1_000_000))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            of_values::<TimestampNanosecondType>(column, |time| instant(time, 1_000_000_000))
        }
        DataType::Int8 => of_values::<Int8Type>(column, as_text),
        DataType::Int16 => of_values::<Int16Type>(column, as_text),
        DataType::Int32 => of_values::<Int32Type>(column, as_text),
        DataType::Int64 => of_values::<Int64Type>(column, as_text),
        DataType::UInt8 => of_values::<UInt8Type>(column, as_text),
        DataType::UInt16 => of_values::<UInt16Type>(column, as_text),
        DataType::UInt32 => of_values::<UInt32Type>(column, as_text),
        DataType::UInt64 => of_values::<UInt64Type>(column, as_text),
        DataType::Float32 => of_values::<Float32Type>(column, as_text),
        DataType::Float64 => of_values::<Float64Type>(column, as_text),
        other => return Err(format!("values of type {other} cannot be read as text")),
    };
    Ok(Arc::new(texts))
}

fn of_values<Kind: ArrowPrimitiveType>(
    column: &ArrayRef,
    text: impl Fn(Kind::Native) -> Option<String>,
) -> StringViewArray {
    let values = column.as_primitive::<Kind>().iter();
    values.map(|value| value.and_then(&text)).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "dates may have no text")]
fn as_text<Number: ToString + Copy>(value: Number) -> Option<String> {
    Some(value.to_string())
}

/// The day of a time in milliseconds since 1970, in UTC.
fn day(time: i64) -> Option<String> {
    let time = Timestamp::from_millisecond(time).ok()?;
    Some(time.to_zoned(TimeZone::UTC).date().to_string())
}

/// A time in fractions of a second since 1970, in UTC.
fn instant(time: i64, fractions: i64) -> Option<String> {
    let nanoseconds = i128::from(time) * i128::from(1_000_000_000 / fractions);
    Some(Timestamp::from_nanosecond(nanoseconds).ok()?.to_string())
}

fn array_at(parent: &StructArray, path: &str) -> Option<ArrayRef> {
    if let Some(array) = parent.column_by_name(path) {
        return Some(array.clone());
    }
    let (first, rest) = path.split_once('.')?;
    let inner = parent.column_by_name(first)?.as_struct_opt()?;
    array_at(inner, rest)
}

impl InputColumn {
    /// The value in `row` of this column, which is column `at` of a normalised batch. None if it is
    /// null.
    pub(super) fn cell<'a>(
        &self,
        batch: &'a RecordBatch,
        at: usize,
        row: usize,
    ) -> Option<TableCell<'a>> {
        let array = batch.columns().get(at)?;
        if array.is_null(row) {
            return None;
        }
        if let Some(bytes) = array.as_binary_view_opt() {
            return Some(TableCell::Bytes(bytes.value(row)));
        }
        let text = array.as_string_view_opt()?.value(row);
        Some(TableCell::Text(match self.role {
            Role::Date => date::from_text(text),
            _ => Cow::Borrowed(text),
        }))
    }
}
