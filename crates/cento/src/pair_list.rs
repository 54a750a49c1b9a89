//! A list of pairs of URLs in a table that a user names.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use cento_file::Checksum;
use cento_find::{read_table, row_values};
use serde_json::{Map, Value};

use crate::command_error::CommandError;

/// The columns of a pair, in the order in which they are tried: those of the tables of passages, of
/// duplicates and overlaps, and of quilts.
const COLUMNS: [(&str, &str); 3] = [("a", "b"), ("page", "of"), ("page", "source")];

/// A digest of a list, and its pairs of URLs.
pub(crate) type PairList = (String, Vec<(String, String)>);

/// Reads the pairs of a table.
pub(crate) fn read(path: &Path) -> Result<PairList, CommandError> {
    let failed = |error: std::io::Error| CommandError::io(path, &error);
    let digest = Checksum::of(path).map_err(failed)?.blake3;
    let mut pairs = Vec::new();
    let mut add = |row: &Map<String, Value>| -> Result<(), CommandError> {
        let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
        let pair = COLUMNS.iter().find_map(|(a, b)| text(a).zip(text(b)));
        pairs.push(pair.ok_or_else(|| {
            CommandError::usage(
                format!("a row of {} has no pair of URLs", path.display()),
                "the columns are a and b, page and of, or page and source",
            )
        })?);
        Ok(())
    };
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("parquet") => {
            for batch in read_table(path)? {
                let batch = batch?;
                for row in 0..batch.num_rows() {
                    let values = row_values(&batch, row);
                    add(&values
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect())?;
                }
            }
        }
        Some("jsonl" | "ndjson") => {
            for line in BufReader::new(File::open(path).map_err(failed)?).lines() {
                let line = line.map_err(failed)?;
                if line.trim().is_empty() {
                    continue;
                }
                match serde_json::from_str(&line) {
                    Ok(Value::Object(row)) => add(&row)?,
                    _ => {
                        return Err(CommandError::usage(
                            format!("{} has a line that is not a JSON object", path.display()),
                            "write one JSON object per line",
                        ));
                    }
                }
            }
        }
        Some("csv") => {
            let text = std::fs::read_to_string(path).map_err(failed)?;
            let mut records = csv_records(&text).into_iter();
            let names = records.next().unwrap_or_default();
            for cells in records {
                let cells = cells.into_iter().map(Value::String);
                add(&names.iter().cloned().zip(cells).collect())?;
            }
        }
        _ => {
            return Err(CommandError::usage(
                format!("unknown table format: {}", path.display()),
                "use a file name that ends in .parquet, .jsonl or .csv",
            ));
        }
    }
    Ok((digest, pairs))
}

/// The records of a CSV file (RFC 4180).
fn csv_records(text: &str) -> Vec<Vec<String>> {
    let mut records = Vec::new();
    let (mut record, mut cell) = (Vec::new(), String::new());
    let (mut quoted, mut begun) = (false, false);
    let mut letters = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if cell.is_empty() => (quoted, begun) = (true, true),
            ',' if !quoted => {
                record.push(std::mem::take(&mut cell));
                begun = true;
            }
            '\r' if !quoted => {}
            '\n' if !quoted => {
                if begun || !cell.is_empty() {
                    record.push(std::mem::take(&mut cell));
                    records.push(std::mem::take(&mut record));
                }
                begun = false;
            }
            letter => cell.push(letter),
        }
    }
    if begun || !cell.is_empty() {
        record.push(cell);
        records.push(record);
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_with_quotes_and_line_breaks_is_read() {
        let text =
            "page,of\r\n\"http://a/?x=\"\"1\"\",2\",http://b/\r\n\r\nhttp://c/,\"two\nlines\"";
        assert_eq!(
            csv_records(text),
            [
                ["page", "of"],
                ["http://a/?x=\"1\",2", "http://b/"],
                ["http://c/", "two\nlines"],
            ]
        );
    }

    #[test]
    fn pairs_are_read_by_the_columns_of_any_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.jsonl");
        let lines =
            "{\"page\": \"x\", \"of\": \"y\"}\n{\"a\": \"p\", \"b\": \"q\", \"page\": \"r\"}\n";
        std::fs::write(&path, lines).unwrap();
        let (_, pairs) = read(&path).unwrap();
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(pairs, [pair("x", "y"), pair("p", "q")]);
        std::fs::write(&path, "{\"url\": \"x\"}\n").unwrap();
        assert!(read(&path).is_err());
    }
}
