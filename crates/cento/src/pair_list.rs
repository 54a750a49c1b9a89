//! A list of pairs of URLs in a table that a user names.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use cento_file::{Checksum, CsvRecords};
use cento_find::passages::ListedPair;
use cento_find::{read_table, row_values};
use serde_json::{Map, Value};

use crate::command_error::CommandError;
use crate::files::read_text;

/// The columns of a pair, in the order in which they are tried: those of the tables of passages, of
/// duplicates and overlaps, and of quilts.
const COLUMNS: [(&str, &str); 3] = [("a", "b"), ("page", "of"), ("page", "source")];

/// A digest of a list, and its pairs.
pub(crate) type PairList = (String, Vec<ListedPair>);

/// Reads the pairs of a table.
pub(crate) fn read(path: &Path) -> Result<PairList, CommandError> {
    let failed = |error: std::io::Error| CommandError::io(path, &error);
    if path == Path::new("-") {
        return read_lines(path, &read_text(path).map_err(failed)?);
    }
    if path.is_dir() {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    }
    let digest = Checksum::of(path).map_err(failed)?.blake3;
    let mut pairs = Vec::new();
    let mut add = |row: &Map<String, Value>| -> Result<(), CommandError> {
        let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
        let pair = COLUMNS.iter().find_map(|(a, b)| text(a).zip(text(b)));
        let (a, b) = pair.ok_or_else(|| {
            CommandError::usage(
                format!("a row of {} has no pair of URLs", path.display()),
                "the columns are a and b, page and of, or page and source",
            )
        })?;
        pairs.push(ListedPair::new(&a, &b));
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
            let mut records = CsvRecords::new(BufReader::new(File::open(path).map_err(failed)?));
            let names = records.next().transpose().map_err(failed)?;
            let names = names.unwrap_or_default();
            for cells in records {
                let cells = cells.map_err(failed)?.into_iter().map(Value::String);
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

/// Reads the pairs of JSON Lines.
fn read_lines(path: &Path, text: &str) -> Result<PairList, CommandError> {
    let digest = Checksum::read(text.as_bytes())
        .map_err(|error| CommandError::io(path, &error))?
        .blake3;
    let mut pairs = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let row: Map<String, Value> = serde_json::from_str(line).map_err(|_| {
            CommandError::usage(
                "standard input has a line that is not a JSON object".to_owned(),
                "write one JSON object per line",
            )
        })?;
        let text = |name: &str| row.get(name).and_then(Value::as_str);
        let pair = COLUMNS.iter().find_map(|(a, b)| text(a).zip(text(b)));
        let (a, b) = pair.ok_or_else(|| {
            CommandError::usage(
                "a row on standard input has no pair of URLs".to_owned(),
                "the columns are a and b, page and of, or page and source",
            )
        })?;
        pairs.push(ListedPair::new(a, b));
    }
    Ok((digest, pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_by_the_columns_of_any_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.jsonl");
        let lines =
            "{\"page\": \"x\", \"of\": \"y\"}\n{\"a\": \"p\", \"b\": \"q\", \"page\": \"r\"}\n";
        std::fs::write(&path, lines).unwrap();
        let (_, pairs) = read(&path).unwrap();
        assert_eq!(
            pairs,
            [ListedPair::new("x", "y"), ListedPair::new("p", "q")]
        );
        std::fs::write(&path, "{\"url\": \"x\"}\n").unwrap();
        assert!(read(&path).is_err());
    }
}
