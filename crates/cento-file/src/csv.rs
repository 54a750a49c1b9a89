//! Reading CSV.

use std::io::{BufRead, Read};

/// The most bytes of a record: a quote that is never closed would read the whole file.
const LONGEST_RECORD: usize = 16 << 20;

/// The records of a CSV file (RFC 4180), one at a time; empty lines are skipped.
///
/// A quote before a formula, which cento writes to protect spreadsheets, is removed.
///
/// ```
/// let records = cento_file::CsvRecords::new("a,b\n\"x,y\",'=1\n".as_bytes());
/// let records: Vec<Vec<String>> = records.collect::<std::io::Result<_>>()?;
/// assert_eq!(records, [["a", "b"], ["x,y", "=1"]]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct CsvRecords<R> {
    input: R,
    is_first: bool,
}

impl<R: BufRead> CsvRecords<R> {
    /// Reads from the beginning of a file.
    pub fn new(input: R) -> CsvRecords<R> {
        CsvRecords {
            input,
            is_first: true,
        }
    }

    /// Reads lines until all quotes are closed. None at the end of the file.
    fn lines(&mut self) -> std::io::Result<Option<String>> {
        let (mut record, mut quotes) = (Vec::new(), 0);
        loop {
            let begin = record.len();
            let most = (LONGEST_RECORD + 1 - begin) as u64;
            let mut line = self.input.by_ref().take(most);
            let read = line.read_until(b'\n', &mut record)?;
            let line = record.iter().skip(begin);
            quotes += line.filter(|&&byte| byte == b'"').count();
            if record.len() > LONGEST_RECORD {
                return Err(std::io::Error::other("a record is longer than 16 MiB"));
            }
            if read == 0 || quotes.is_multiple_of(2) {
                break;
            }
        }
        let text = String::from_utf8(record);
        let text = text.map_err(|_| std::io::Error::other("the file is not UTF-8"))?;
        Ok((!text.is_empty()).then_some(text))
    }
}

impl<R: BufRead> Iterator for CsvRecords<R> {
    type Item = std::io::Result<Vec<String>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = match self.lines() {
                Ok(text) => text?,
                Err(error) => return Some(Err(error)),
            };
            let text = match std::mem::take(&mut self.is_first) {
                true => text.trim_start_matches('\u{feff}'),
                false => &text,
            };
            let cells = csv_cells(text.trim_end_matches(['\r', '\n']));
            if cells.len() > 1 || cells.first().is_some_and(|cell| !cell.is_empty()) {
                return Some(Ok(cells));
            }
        }
    }
}

/// The cells of a record.
fn csv_cells(record: &str) -> Vec<String> {
    let (mut cells, mut cell) = (Vec::new(), String::new());
    let mut is_quoted = false;
    let mut letters = record.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' if is_quoted => is_quoted = false,
            '"' if cell.is_empty() => is_quoted = true,
            ',' if !is_quoted => cells.push(std::mem::take(&mut cell)),
            letter => cell.push(letter),
        }
    }
    cells.push(cell);
    cells.iter_mut().for_each(remove_guard);
    cells
}

/// Removes the prefix that protects spreadsheets from formulas.
fn remove_guard(cell: &mut String) {
    let formula = [
        '=', '+', '-', '@', '\'', '\t', '\r', '＝', '＋', '－', '＠', '−',
    ];
    let guarded = cell.strip_prefix('\'');
    if guarded.is_some_and(|rest| rest.starts_with(formula)) {
        cell.remove(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_with_quotes_and_line_breaks_is_read() {
        let text =
            "page,of\r\n\"http://a/?x=\"\"1\"\",2\",http://b/\r\n\r\nhttp://c/,\"two\nlines\"";
        let records: std::io::Result<Vec<Vec<String>>> = CsvRecords::new(text.as_bytes()).collect();
        assert_eq!(
            records.unwrap(),
            [
                ["page", "of"],
                ["http://a/?x=\"1\",2", "http://b/"],
                ["http://c/", "two\nlines"],
            ]
        );
    }

    #[test]
    fn the_protection_against_formulas_is_removed() {
        let mut records = CsvRecords::new("'=1+1,'quoted',''s,-1\n".as_bytes());
        let record = records.next().unwrap().unwrap();
        assert_eq!(record, ["=1+1", "'quoted'", "'s", "-1"]);
    }
}
