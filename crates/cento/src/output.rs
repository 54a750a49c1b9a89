//! Printing for people: numbers, sizes, tables, and text that came from strangers.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use cento_scan::{Cell, Table};
use unicode_width::UnicodeWidthStr;

pub(crate) use cento_scan::words::{number, size};

/// Writes to standard output. A reader that has heard enough (`cento … | head`) is no error.
pub(crate) fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

/// [`print_bytes`] for a text.
pub(crate) fn print(text: &str) -> io::Result<()> {
    print_bytes(text.as_bytes())
}

/// Says something to people, on standard error. Nobody listens where that is closed or full, and
/// the command goes on.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// The first letters of a stranger's words, made harmless.
pub(crate) fn shortened(text: &str, longest: usize) -> String {
    cento_scan::words::shortened(&clean(text), longest)
}

/// Text from a page, made harmless: a terminal obeys control characters, and a page may be hostile.
/// Line breaks become spaces, so that one item stays on one line.
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

/// The same for text of several lines. It is left alone where no terminal reads it.
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

/// Control characters, the marks that turn the direction of text around or after them, and the
/// separators that some terminals take for the end of a line.
fn dangerous(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
        )
}

/// Lines of a name, a number and a remark, the numbers under each other.
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

    /// Names in a column as wide as the widest, numbers right-aligned behind it.
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

/// A table with a heading: the first column to the left, the others to the right.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = heading.iter().map(|&name| name.to_owned()).collect();
    let width = |column: usize| {
        let cells = rows
            .iter()
            .chain([&heading])
            .filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let mut text = String::new();
    for (index, row) in [&heading].into_iter().chain(rows).enumerate() {
        let mut line = if index == 0 {
            String::new()
        } else {
            "  ".to_owned()
        };
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            // The heading stands out by two characters; its first column makes up for them.
            let first = width + if index == 0 { 2 } else { 0 };
            match column {
                0 => line.push_str(&format!("{cell:<first$}")),
                _ => line.push_str(&format!("  {cell:>width$}")),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// How much of addresses is shown.
#[derive(Default)]
pub(crate) struct Shown<'a> {
    /// What they all begin with, and nobody wants to read in every line.
    pub(crate) root: &'a str,
    /// Letters that words have at most; what is longer loses its middle.
    pub(crate) longest: Option<usize>,
}

impl Shown<'_> {
    fn cell(&self, cell: &Cell) -> String {
        let text = match cell {
            Cell::Address(address) => address
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

/// The begin and the end of a text: of an address both tell something.
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

/// The strongest findings, under their title: words to the left, numbers to the right. Nothing if
/// there are none.
pub(crate) fn strongest(table: &Table, shown: &Shown<'_>) -> String {
    let Some(model) = table.rows.first() else {
        return String::new();
    };
    let mut heading = table.columns.clone();
    if let Some(first) = heading.first_mut() {
        first.clone_from(&table.title);
    }
    let cells = |row: &Vec<Cell>| row.iter().map(|cell| shown.cell(cell)).collect();
    let rows: Vec<Vec<String>> = table.rows.iter().map(cells).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| cell.width()).max().unwrap_or(0);
        let name = heading.get(column).map_or(0, |name| name.width());
        // The first heading stands out by two characters.
        widest.max(if column == 0 {
            name.saturating_sub(2)
        } else {
            name
        })
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let mut text = String::new();
    for (index, row) in std::iter::once(&heading).chain(&rows).enumerate() {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let number = model.get(column).is_some_and(Cell::is_number);
            line.push_str(match (column, index) {
                (0, 0) => "",
                _ => "  ",
            });
            let width = if (column, index) == (0, 0) {
                width + 2
            } else {
                width
            };
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            line.push_str(&match number {
                true => format!("{padding}{cell}"),
                false => format!("{cell}{padding}"),
            });
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if table.more > 0 {
        text.push_str(&format!("  and {} more\n", number(table.more)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_says_cannot_command_a_terminal() {
        assert_eq!(clean("a\u{1b}[31mred\nb"), "a\u{fffd}[31mred b");
        assert_eq!(clean("x\u{202e}cod.exe"), "x\u{fffd}cod.exe");
        // Nor turn a line around, nor end it.
        for mark in [
            '\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}', '\u{2067}',
        ] {
            let cleaned = clean(&format!("a{mark}b")).into_owned();
            assert!(cleaned == "a\u{fffd}b" || cleaned == "a b", "{cleaned:?}");
        }
        assert_eq!(clean("plain ünïcode 汉字"), "plain ünïcode 汉字");
    }
}
