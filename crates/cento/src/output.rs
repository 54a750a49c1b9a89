//! Printing: standard output and error, tables, and text from untrusted pages.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use cento_report::{ReportCell, ReportTable};
use unicode_width::UnicodeWidthStr;

pub(crate) use cento_report::format::{number, size};

use crate::session::{captured_note, captured_output};

/// Writes to standard output. A closed pipe (`cento … | head`) is not an error.
pub(crate) fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    print_while_read(bytes).map(|_| ())
}

/// Writes to standard output. Returns false if nobody reads it any more.
pub(crate) fn print_while_read(bytes: &[u8]) -> io::Result<bool> {
    if captured_output(bytes) {
        return Ok(true);
    }
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        outcome => outcome.map(|()| true),
    }
}

/// Writes a text to standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes a line to standard error. Errors are ignored: a closed standard error must not end the
/// command.
pub(crate) fn say(line: &str) {
    if captured_note(line) {
        return;
    }
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// The first characters of an untrusted text, cleaned.
pub(crate) fn shortened(text: &str, longest: usize) -> String {
    cento_report::format::shortened(&clean(text), longest)
}

/// Replaces the characters of an untrusted text that control a terminal. Line breaks become spaces,
/// so that an item stays on one line.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().any(dangerous) {
        let spaced = |c: char| if c.is_whitespace() { ' ' } else { '\u{fffd}' };
        Cow::Owned(
            text.chars()
                .map(|c| if dangerous(c) { spaced(c) } else { c })
                .collect(),
        )
    } else {
        Cow::Borrowed(text)
    }
}

/// Like [`clean`], but keeps line breaks and tabs. Text is unchanged if standard output is not a
/// terminal.
pub(crate) fn clean_lines(text: &str) -> Cow<'_, str> {
    if !io::stdout().is_terminal() || !text.chars().any(|c| dangerous(c) && c != '\n' && c != '\t')
    {
        return Cow::Borrowed(text);
    }
    let keep = |c: char| c == '\n' || c == '\t' || !dangerous(c);
    Cow::Owned(
        text.chars()
            .map(|c| if keep(c) { c } else { '\u{fffd}' })
            .collect(),
    )
}

/// Returns whether a character is a control character, changes the direction of text, or is a line
/// separator to some terminals.
fn dangerous(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
        )
}

/// A list of names, values and remarks, aligned in columns.
#[derive(Default)]
pub(crate) struct Lines {
    rows: Vec<(String, String, String)>,
}

impl Lines {
    pub(crate) fn add(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.add_with(name, value, String::new());
    }

    pub(crate) fn add_with(
        &mut self,
        name: impl Into<String>,
        value: impl Into<String>,
        remark: impl Into<String>,
    ) {
        self.rows.push((name.into(), value.into(), remark.into()));
    }

    /// Renders the list: names left-aligned, values right-aligned, then the remarks.
    pub(crate) fn render(&self) -> String {
        let width = |cell: fn(&(String, String, String)) -> &String| {
            self.rows
                .iter()
                .map(|row| cell(row).chars().count())
                .max()
                .unwrap_or(0)
        };
        let (names, values) = (width(|row| &row.0), width(|row| &row.1));
        let mut text = String::new();
        for (name, value, remark) in &self.rows {
            let line = format!("  {name:<names$}  {value:>values$}  {remark}");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// A table with a heading: text left-aligned, numbers right-aligned.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = heading.iter().map(|&name| name.to_owned()).collect();
    let is_number =
        |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || "–-".contains(c));
    aligned(&heading, rows, |column| {
        let mut cells = rows.iter().filter_map(|row| row.get(column));
        column > 0 && cells.all(is_number)
    })
}

/// How the cells of a table of findings are shown.
#[derive(Default)]
pub(crate) struct CellStyle<'a> {
    /// Common beginning of all addresses, which is not repeated on every line.
    pub(crate) root: &'a str,
    /// Most characters of a text; longer ones lose their middle.
    pub(crate) longest: Option<usize>,
}

impl CellStyle<'_> {
    fn cell(&self, cell: &ReportCell) -> String {
        let text = match cell {
            ReportCell::Address(address) => address
                .strip_prefix(self.root)
                .unwrap_or(address)
                .to_owned(),
            other => other.text(),
        };
        let text = clean(&text).into_owned();
        match self.longest {
            Some(longest) if !cell.is_number() => without_middle(&text, longest),
            _ => text,
        }
    }
}

/// Shortens a text in its middle: the beginning and the end of an address are both informative.
fn without_middle(text: &str, longest: usize) -> String {
    let letters = text.chars().count();
    if letters <= longest {
        return text.to_owned();
    }
    let begin = longest / 3;
    let end = longest - begin - 1;
    let first: String = text.chars().take(begin).collect();
    let last: String = text.chars().skip(letters - end).collect();
    format!("{first}…{last}")
}

/// A table of findings under its title: text left-aligned, numbers right-aligned. Empty if the
/// table has no rows.
pub(crate) fn findings_table(table: &ReportTable, style: &CellStyle<'_>) -> String {
    let Some(model) = table.rows.first() else {
        return String::new();
    };
    let mut heading = table.columns.clone();
    if let Some(first) = heading.first_mut() {
        first.clone_from(&table.title);
    }
    let cells = |row: &Vec<ReportCell>| row.iter().map(|cell| style.cell(cell)).collect();
    let rows: Vec<Vec<String>> = table.rows.iter().map(cells).collect();
    let mut text = aligned(&heading, &rows, |column| {
        model.get(column).is_some_and(ReportCell::is_number)
    });
    if table.more > 0 {
        text.push_str(&format!("  and {} more\n", number(table.more)));
    }
    text
}

/// Rows under a heading, in columns as wide as their widest cell; `right` says which columns are
/// right-aligned. The heading begins two columns left of the rows.
fn aligned(heading: &[String], rows: &[Vec<String>], right: impl Fn(usize) -> bool) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| cell.width()).max().unwrap_or(0);
        let name = heading.get(column).map_or(0, |name| name.width());
        widest.max(if column == 0 {
            name.saturating_sub(2)
        } else {
            name
        })
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let mut text = String::new();
    let lines = std::iter::once(heading).chain(rows.iter().map(Vec::as_slice));
    for (index, row) in lines.enumerate() {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let first = (column, index) == (0, 0);
            line.push_str(if first { "" } else { "  " });
            let width = if first { width + 2 } else { width };
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            line.push_str(&match right(column) {
                true => format!("{padding}{cell}"),
                false => format!("{cell}{padding}"),
            });
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_text_cannot_control_a_terminal() {
        assert_eq!(clean("a\u{1b}[31mred\nb"), "a\u{fffd}[31mred b");
        assert_eq!(clean("x\u{202e}cod.exe"), "x\u{fffd}cod.exe");
        // Marks of direction and line separators.
        for mark in [
            '\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}', '\u{2067}',
        ] {
            let cleaned = clean(&format!("a{mark}b")).into_owned();
            assert!(cleaned == "a\u{fffd}b" || cleaned == "a b", "{cleaned:?}");
        }
        assert_eq!(clean("plain ünïcode 汉字"), "plain ünïcode 汉字");
    }
}
