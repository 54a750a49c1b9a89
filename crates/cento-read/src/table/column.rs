//! Columns of tables.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, Fields, Schema};

use crate::date;
use crate::{Error, FieldMap, Role};

/// A column with a role.
#[derive(Clone, Debug)]
pub(super) struct TableColumn {
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
) -> Result<Vec<TableColumn>, Error> {
    let mut columns = Vec::new();
    for role in Role::ALL {
        for name in fields.names(role) {
            let assigned = fields.assigned(role).is_some();
            match find(schema.fields(), name) {
                Some(kind) if fits(kind, role) => columns.push(TableColumn {
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
    let is_text = |column: &TableColumn| matches!(column.role, Role::Text | Role::Html);
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
    columns: &[TableColumn],
) -> Result<RecordBatch, String> {
    let mut fields = Vec::with_capacity(columns.len());
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
    let parent = StructArray::from(batch.clone());
    for column in columns {
        let array = array_at(&parent, &column.name)
            .ok_or_else(|| format!("column {} is missing", column.name))?;
        let array = match array.data_type() {
            DataType::Utf8View | DataType::BinaryView => array,
            _ => {
                arrow_cast::cast(&array, &DataType::Utf8View).map_err(|error| error.to_string())?
            }
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

fn array_at(parent: &StructArray, path: &str) -> Option<ArrayRef> {
    if let Some(array) = parent.column_by_name(path) {
        return Some(array.clone());
    }
    let (first, rest) = path.split_once('.')?;
    let inner = parent.column_by_name(first)?.as_struct_opt()?;
    array_at(inner, rest)
}

impl TableColumn {
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
