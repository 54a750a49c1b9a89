//! Printing: standard output and error, tables, and text from untrusted pages.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use cento_report::{ReportCell, ReportTable};
use unicode_width::UnicodeWidthStr;

pub(crate) use cento_report::format::{number, size};

use crate::meter::above_bar;
use crate::session::{captured_note, captured_output};
use crate::terminal::{StandardStream, fitted, is_quiet, without_middle, wrap_into};

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

/// Writes a text for people to standard output. On a terminal, no line is longer than it is wide.
pub(crate) fn print(text: &str) -> io::Result<()> {
    match StandardStream::Output.columns() {
        Some(columns) => print_data(&fitted(text, columns)),
        None => print_data(text),
    }
}

/// Writes a text for programs to standard output, as it is.
pub(crate) fn print_data(text: &str) -> io::Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes a text to standard output: for programs, if it is JSON, else for people.
pub(crate) fn print_as(is_json: bool, text: &str) -> io::Result<()> {
    match is_json {
        true => print_data(text),
        false => print(text),
    }
}

/// Writes a note to standard error, unless notes are not wanted. Errors are ignored: a closed
/// standard error must not end the command.
pub(crate) fn say(line: &str) {
    if captured_note(line) || is_quiet() {
        return;
    }
    write_error(line);
}

/// Writes lines to standard error that were asked for, or that say why the command failed.
pub(crate) fn say_always(lines: &str) {
    if !captured_note(lines) {
        write_error(lines);
    }
}

/// The words at the beginning of a line on standard error, and their colour.
const PREFIXES: [(&str, &str); 3] = [("error:", "1;31"), ("hint:", "1;36"), ("note:", "1")];

fn write_error(line: &str) {
    let mut line = line.to_owned();
    for (prefix, style) in PREFIXES {
        if let Some(rest) = line.strip_prefix(prefix) {
            line = format!("{}{rest}", StandardStream::Error.styled(style, prefix));
            break;
        }
    }
    if let Some(columns) = StandardStream::Error.columns() {
        line = fitted(&line, columns);
    }
    above_bar(|| {
        let _ = writeln!(io::stderr().lock(), "{line}");
    });
}

/// The first characters of an untrusted text, cleaned.
pub(crate) fn shortened(text: &str, longest: usize) -> String {
    cento_report::format::shortened(&clean(text), longest)
}

/// Shortens an untrusted name in the middle of its path: it begins with the site or folder, and
/// ends with what tells it from others.
pub(crate) fn shortened_end(name: &str, longest: usize) -> String {
    let name = clean(name);
    let length = name.chars().count();
    if length <= longest {
        return name.into_owned();
    }
    // The file name, if it fits, and as much as possible of the beginning.
    let most = longest.saturating_sub(1);
    let file = name.trim_end_matches('/').rfind('/').unwrap_or_default();
    let file = name[file..].chars().count();
    let end = match file <= most {
        true => file,
        false => most - most / 3,
    };
    let begin: String = name.chars().take(most - end).collect();
    let end: String = name.chars().skip(length - end).collect();
    format!("{begin}…{end}")
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
        self.render_in(StandardStream::Output.columns())
    }

    fn render_in(&self, columns: Option<usize>) -> String {
        let width = |cell: fn(&(String, String, String)) -> &String| {
            let widths = self.rows.iter().map(|row| cell(row).width());
            widths.max().unwrap_or(0)
        };
        let (names, values) = (width(|row| &row.0), width(|row| &row.1));
        let mut text = String::new();
        for (name, value, remark) in &self.rows {
            let name_end = " ".repeat(names - name.width());
            let value_begin = " ".repeat(values - value.width());
            let mut line = format!("  {name}{name_end}  {value_begin}{value}  ");
            let indent = names + values + 6;
            match columns {
                // A remark beside a narrow column of its own is harder to read than below.
                Some(columns) if columns >= indent + 20 && remark.width() > columns - indent => {
                    let mut remark_lines = String::new();
                    wrap_into(&mut remark_lines, remark, columns - indent, 0, 0);
                    let next_line = format!("\n{}", " ".repeat(indent));
                    line.push_str(&remark_lines.replace('\n', &next_line));
                }
                _ => line.push_str(remark),
            }
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
        |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || "–-<>".contains(c));
    aligned(&heading, rows, |column| {
        let mut cells = rows.iter().filter_map(|row| row.get(column));
        column > 0 && cells.all(is_number)
    })
}

/// Like [`table`], with the number of rows that are not shown, of `all`.
pub(crate) fn table_of(heading: &[&str], rows: &[Vec<String>], all: u64) -> String {
    let more = all.saturating_sub(rows.len() as u64);
    match (more, rows.is_empty()) {
        (0, _) | (_, true) => table(heading, rows),
        _ => format!("{}  and {} more\n", table(heading, rows), number(more)),
    }
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
/// right-aligned. The heading begins two columns left of the rows. On a terminal, texts that would
/// make a line too long are shortened.
fn aligned(heading: &[String], rows: &[Vec<String>], right: impl Fn(usize) -> bool) -> String {
    aligned_in(heading, rows, right, StandardStream::Output.columns())
}

/// Columns of text are not made narrower than this.
const NARROWEST: usize = 12;

fn aligned_in(
    heading: &[String],
    rows: &[Vec<String>],
    right: impl Fn(usize) -> bool,
    columns: Option<usize>,
) -> String {
    let content = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.width()).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = heading
        .iter()
        .enumerate()
        .map(|(column, name)| match column {
            0 => content(0).max(name.width().saturating_sub(2)),
            column => content(column).max(name.width()),
        })
        .collect();
    let total = |widths: &[usize]| widths.iter().map(|width| width + 2).sum::<usize>();
    let mut text = String::new();
    let mut names: Vec<Vec<String>> = heading.iter().map(|name| vec![name.clone()]).collect();
    if let Some(columns) = columns.filter(|&columns| total(&widths) > columns) {
        // The title gets a line of its own, and names of columns are wrapped between words.
        if let Some(title) = heading.first() {
            text.push_str(&StandardStream::Output.bold(title));
            text.push('\n');
        }
        let least: Vec<usize> = heading
            .iter()
            .enumerate()
            .map(|(column, name)| match column {
                0 => 0,
                _ => name.split(' ').map(|word| word.width()).max().unwrap_or(0),
            })
            .collect();
        widths = (0..heading.len())
            .map(|column| content(column).max(least.get(column).copied().unwrap_or(0)))
            .collect();
        while total(&widths) > columns {
            let widest = (0..widths.len())
                .filter(|&column| !right(column))
                .filter(|&column| widths[column] > NARROWEST.max(least[column]))
                .max_by_key(|&column| widths[column]);
            let Some(widest) = widest else {
                break;
            };
            widths[widest] -= 1;
        }
        names = heading
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (name, &width))| {
                let mut lines = String::new();
                if column > 0 {
                    wrap_into(&mut lines, name, width.max(1), 0, 0);
                }
                lines.lines().map(str::to_owned).collect()
            })
            .collect();
    }
    let padded = |cell: &str, width: usize, is_right: bool| {
        let padding = " ".repeat(width.saturating_sub(cell.width()));
        match is_right {
            true => format!("{padding}{cell}"),
            false => format!("{cell}{padding}"),
        }
    };
    let height = names.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..height {
        let mut line = String::new();
        for (column, (lines, &width)) in names.iter().zip(&widths).enumerate() {
            // Names end on the same line.
            let cell = (at + lines.len())
                .checked_sub(height)
                .and_then(|at| lines.get(at))
                .map_or("", String::as_str);
            match column {
                0 => line.push_str(&padded(cell, width + 2, right(0))),
                _ => line.push_str(&format!("  {}", padded(cell, width, right(column)))),
            }
        }
        text.push_str(&StandardStream::Output.bold(line.trim_end()));
        text.push('\n');
    }
    for row in rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let cell = match right(column) {
                true => cell.clone(),
                false => without_middle(cell, width),
            };
            line.push_str(&format!("  {}", padded(&cell, width, right(column))));
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

    fn cells(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter()
            .map(|row| row.iter().map(|&cell| cell.to_owned()).collect())
            .collect()
    }

    #[test]
    fn tables_fit_the_terminal_and_are_complete_elsewhere() {
        let heading: Vec<String> = [
            "strongest passages: A, the later one",
            "B",
            "words",
            "A links to B",
        ]
        .map(str::to_owned)
        .to_vec();
        let long = "https://example.org/a/very/long/path/of/a/page/with/many/folders.html";
        let rows = cells(&[
            &[
                long,
                "汉字汉字汉字汉字汉字汉字汉字汉字汉字汉字",
                "1,556",
                "no",
            ],
            &["a", "b", "12", "yes"],
        ]);
        let right = |column| column == 2;
        let piped = aligned_in(&heading, &rows, right, None);
        assert!(piped.contains(long), "{piped}");
        for columns in [50, 80, 120, 200] {
            let shown = aligned_in(&heading, &rows, right, Some(columns));
            for line in shown.lines() {
                assert!(line.width() <= columns, "{columns}: {line}");
            }
            assert!(shown.contains("1,556"), "{shown}");
        }
        let shown = aligned_in(&heading, &rows, right, Some(80));
        assert!(
            shown.starts_with("strongest passages: A, the later one\n"),
            "{shown}"
        );
    }

    #[test]
    fn remarks_are_wrapped_beside_their_value() {
        let mut lines = Lines::default();
        lines.add_with(
            "pages",
            "12",
            "one two three four five six seven eight nine",
        );
        assert_eq!(
            lines.render_in(Some(40)),
            "  pages  12  one two three four five six\n             seven eight nine\n"
        );
        assert_eq!(lines.render_in(None).lines().count(), 1);
    }
}
