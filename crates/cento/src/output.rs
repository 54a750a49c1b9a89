//! Printing for people: numbers, sizes, tables, and text that came from strangers.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

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

/// Text from a page, made harmless: a terminal obeys control characters, and a page may be hostile. Line
/// breaks become spaces, so that one item stays on one line.
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

/// Control characters, and the marks that turn the direction of all text after them.
fn dangerous(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `1234567` → `1,234,567`.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Bytes as people read them, in powers of 1,000.
pub(crate) fn size(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64;
    let mut unit = "B";
    for next in ["kB", "MB", "GB", "TB", "PB"] {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if value < 9.95 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_read_well() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1500), "1.5 kB");
        assert_eq!(size(999_999), "1.0 MB");
        assert_eq!(size(123_456_789_000), "123 GB");
    }

    #[test]
    fn what_a_page_says_cannot_command_a_terminal() {
        assert_eq!(clean("a\u{1b}[31mred\nb"), "a\u{fffd}[31mred b");
        assert_eq!(clean("x\u{202e}cod.exe"), "x\u{fffd}cod.exe");
        assert_eq!(clean("plain ünïcode 汉字"), "plain ünïcode 汉字");
    }
}
