//! Output files that the user names: tables as Parquet, JSON Lines or CSV, and other files.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use cento_figure::csv_cell;
use cento_file::{Fault, Output, PrivateFolder, is_standard_output};
use cento_find::{read_table, row_values, table_columns};
use cento_read::{RemoteOutput, RemoteSettings};
use serde_json::{Map, Value};

use crate::command_error::CommandError;
use crate::output::print_data;

/// File formats of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TableFormat {
    Parquet,
    JsonLines,
    Csv,
}

impl TableFormat {
    /// Returns the format that the extension of a file name stands for.
    fn of(path: &Path) -> Result<TableFormat, CommandError> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("parquet") => Ok(TableFormat::Parquet),
            Some("jsonl") => Ok(TableFormat::JsonLines),
            Some("csv") => Ok(TableFormat::Csv),
            _ if is_standard_output(path) => Ok(TableFormat::JsonLines),
            _ => Err(CommandError::usage(
                format!("unknown table format: {}", path.display()),
                "use a file name that ends in .parquet, .jsonl or .csv",
            )),
        }
    }
}

/// Reads a text file that the user names; `-` is standard input.
pub(crate) fn read_text(path: &Path) -> std::io::Result<String> {
    match path == Path::new("-") {
        true => std::io::read_to_string(std::io::stdin()),
        false => std::fs::read_to_string(path),
    }
}

/// Fails if a table cannot be written to this file: before the analysis rather than after it.
pub(crate) fn check_table_file(path: &Path) -> Result<(), CommandError> {
    TableFormat::of(path)?;
    check_writable(path)
}

/// Fails if a file cannot be written: before the work rather than after it.
pub(crate) fn check_writable(path: &Path) -> Result<(), CommandError> {
    if RemoteOutput::is_remote(path) {
        return Ok(remote_output(path)?.check()?);
    }
    let output = Output::create(path);
    output.map(drop).map_err(|error| cannot_write(path, &error))
}

/// Copies a table to a file in the format of its extension, and prints it as JSON Lines.
pub(crate) fn export_table(
    table: &Path,
    out: Option<&Path>,
    json: bool,
) -> Result<(), CommandError> {
    if let Some(out) = out {
        let format = TableFormat::of(out)?;
        write_with(out, |file| {
            match format {
                TableFormat::Parquet => {
                    let mut table = File::open(table)?;
                    std::io::copy(&mut table, file).map_err(|error| cannot_write(out, &error))?;
                }
                format => write_rows(table, format, &mut |line| file.write_all(line.as_bytes()))?,
            }
            Ok(())
        })?;
    }
    if json {
        write_rows(table, TableFormat::JsonLines, &mut print_data)?;
    }
    Ok(())
}

fn remote_output(path: &Path) -> Result<RemoteOutput, cento_read::Error> {
    RemoteOutput::open(path, &RemoteSettings::default())
}

/// Writes a file through a buffer; it appears under its name when it is complete. An object of a
/// bucket is written to a temporary file first.
pub(crate) fn write_with<T>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<Output>) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    if !RemoteOutput::is_remote(path) {
        return write_local(path, write);
    }
    let temp = std::env::temp_dir();
    let folder = PrivateFolder::create(&temp).map_err(|error| cannot_write(&temp, &error))?;
    let file = folder.path().join("upload");
    let result = write_local(&file, write)?;
    remote_output(path)?.upload(&file)?;
    Ok(result)
}

fn write_local<T>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<Output>) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let failed = |error: std::io::Error| cannot_write(path, &error);
    let mut file = BufWriter::new(Output::create(path).map_err(failed)?);
    let result = write(&mut file)?;
    let file = file
        .into_inner()
        .map_err(|error| failed(error.into_error()))?;
    file.finish().map_err(failed)?;
    Ok(result)
}

/// Writes a file.
pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<(), CommandError> {
    write_with(path, |file| {
        file.write_all(content)
            .map_err(|error| cannot_write(path, &error))
    })
}

/// Returns the error for an output file that cannot be written.
pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> CommandError {
    if path.is_dir() {
        let message = format!("{} is a folder, and a file is expected", path.display());
        return CommandError::usage(message, "name a file in it, or another file");
    }
    let hint = match Fault::of_io(error) {
        Fault::OutOfSpace => "free some space, or choose another location",
        _ => "choose a folder that exists and is writable",
    };
    CommandError::io(path, error).with_hint(hint)
}

/// Writes the rows of a table as lines.
fn write_rows(
    table: &Path,
    format: TableFormat,
    write: &mut dyn FnMut(&str) -> std::io::Result<()>,
) -> Result<(), CommandError> {
    if format == TableFormat::Csv {
        // A table without rows has a header too.
        let names = table_columns(table)?;
        let names: Vec<String> = names.iter().map(|name| csv_cell(name)).collect();
        write(&format!("{}\r\n", names.join(",")))?;
    }
    for batch in read_table(table)? {
        let batch = batch?;
        let mut lines = String::new();
        for row in 0..batch.num_rows() {
            if format == TableFormat::Csv {
                let cells: Vec<String> = row_values(&batch, row)
                    .map(|(_, value)| match value {
                        Value::Null => String::new(),
                        Value::String(text) => csv_cell(&text),
                        // Numbers keep their sign: `-1` is not a formula.
                        Value::Number(number) => number.to_string(),
                        other => csv_cell(&other.to_string()),
                    })
                    .collect();
                lines.push_str(&format!("{}\r\n", cells.join(",")));
            } else {
                let object: Map<String, Value> = row_values(&batch, row)
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect();
                lines.push_str(&format!("{}\n", Value::Object(object)));
            }
        }
        write(&lines)?;
    }
    Ok(())
}
