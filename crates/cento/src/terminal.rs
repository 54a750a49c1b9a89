//! What is known about the terminal: its width, whether to use colour, and whether to be quiet.
//!
//! On a terminal, no line is longer than the terminal is wide: tables are made to fit by
//! [`crate::output`], and what is still too long is wrapped here. Elsewhere, lines of tables have
//! their full length, and sentences are wrapped at a fixed width.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use clap::ValueEnum;
use terminal_size::{Width, terminal_size_of};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::session::current;

/// Longest line of sentences: longer ones are hard to read.
const PROSE: usize = 100;
/// Narrower terminals are treated as this wide.
const NARROWEST: usize = 20;

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless the variable NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

static COLOUR: AtomicU8 = AtomicU8::new(Colour::Auto as u8);
static QUIET: AtomicBool = AtomicBool::new(false);

/// Sets when output of this process is coloured, and whether notes and progress are printed.
pub(crate) fn set(colour: Colour, quiet: bool) {
    COLOUR.store(colour as u8, Ordering::Relaxed);
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether notes and progress are left out.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// The standard streams that output goes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StandardStream {
    Output,
    Error,
}

impl StandardStream {
    fn is_terminal(self) -> bool {
        match self {
            StandardStream::Output => io::stdout().is_terminal(),
            StandardStream::Error => io::stderr().is_terminal(),
        }
    }

    /// Returns the width of the terminal, and nothing if the stream is not a terminal or is
    /// captured.
    pub(crate) fn columns(self) -> Option<usize> {
        if !self.is_terminal() || current().is_some_and(|session| session.captures()) {
            return None;
        }
        let typed = std::env::var("COLUMNS").ok();
        let typed = typed.and_then(|columns| columns.trim().parse().ok());
        let size = || match self {
            StandardStream::Output => terminal_size_of(io::stdout()),
            StandardStream::Error => terminal_size_of(io::stderr()),
        };
        let columns = typed.or_else(|| size().map(|(Width(width), _)| usize::from(width)));
        Some(
            columns
                .filter(|&columns| columns > 0)
                .unwrap_or(80)
                .max(NARROWEST),
        )
    }

    /// Whether the stream is coloured.
    pub(crate) fn is_coloured(self) -> bool {
        let colour = COLOUR.load(Ordering::Relaxed);
        if colour != Colour::Auto as u8 {
            return colour == Colour::Always as u8;
        }
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        self.columns().is_some() && !is_set("NO_COLOR") && !is_dumb
    }

    /// Returns a text in bold, if the stream is coloured.
    pub(crate) fn bold(self, text: &str) -> String {
        self.styled("1", text)
    }

    /// Returns a text in a style, by the number of the escape sequence, if the stream is coloured.
    pub(crate) fn styled(self, style: &str, text: &str) -> String {
        match self.is_coloured() && !text.is_empty() {
            true => format!("\u{1b}[{style}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}

/// Returns the number of lines of the terminal that standard output is.
pub(crate) fn rows() -> Option<usize> {
    StandardStream::Output.columns()?;
    let (_, terminal_size::Height(rows)) = terminal_size_of(io::stdout())?;
    Some(usize::from(rows)).filter(|&rows| rows > 0)
}

/// Returns the width that sentences are wrapped at.
pub(crate) fn prose_width() -> usize {
    StandardStream::Output.columns().unwrap_or(PROSE).min(PROSE)
}

/// Returns the number of columns of a text, without escape sequences for colour.
pub(crate) fn shown_width(text: &str) -> usize {
    let mut rest = text;
    let mut width = 0;
    while let Some(begin) = rest.find('\u{1b}') {
        let (before, escape) = rest.split_at(begin);
        width += before.width();
        let end = escape.find('m').map_or(escape.len(), |end| end + 1);
        rest = escape.get(end..).unwrap_or_default();
    }
    width + rest.width()
}

/// Returns the longest beginning of a text that has at most this many columns, and the rest. An
/// escape sequence is not split.
fn split_at_width(text: &str, width: usize) -> (&str, &str) {
    let (mut used, mut end, mut in_escape) = (0, 0, false);
    for (at, letter) in text.char_indices() {
        if letter == '\u{1b}' {
            in_escape = true;
        }
        if in_escape {
            in_escape = letter != 'm';
        } else {
            used += letter.width().unwrap_or(0);
            if used > width && at > 0 {
                break;
            }
        }
        end = at + letter.len_utf8();
    }
    text.split_at(end)
}

/// Wraps the lines of a text that are longer than `width`, between words where possible.
/// Continuations have the indent of their line and two columns more.
pub(crate) fn fitted(text: &str, width: usize) -> String {
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        if shown_width(line) <= width {
            fitted.push_str(line);
        } else {
            let indent = line.len() - line.trim_start_matches(' ').len();
            wrap_into(&mut fitted, line, width, indent, indent + 2);
        }
        fitted.push_str(end);
    }
    fitted
}

/// Wraps a sentence at the width of sentences, with an indent of two. A number keeps its percent
/// sign.
pub(crate) fn wrapped(sentence: &str) -> String {
    let mut text = String::new();
    wrap_into(&mut text, sentence, prose_width(), 2, 2);
    text.push('\n');
    text
}

/// Wraps lines of sentences at the width of sentences.
pub(crate) fn sentences(text: &str) -> String {
    fitted(text, prose_width())
}

/// Appends the words of a line, in lines of at most `width` columns, without a line break at the
/// end.
pub(crate) fn wrap_into(text: &mut String, line: &str, width: usize, first: usize, next: usize) {
    let next = next.min(width / 2);
    let joined = line.replace(" %", "\u{a0}%");
    text.push_str(&" ".repeat(first.min(width / 2)));
    let mut used = first.min(width / 2);
    let mut is_first = true;
    for word in joined.split(' ').filter(|word| !word.is_empty()) {
        let word = word.replace("\u{a0}%", " %");
        let mut rest = word.as_str();
        let needed = shown_width(rest);
        if !is_first && used + 1 + needed > width {
            text.push('\n');
            text.push_str(&" ".repeat(next));
            used = next;
        } else if !is_first {
            text.push(' ');
            used += 1;
        }
        // A word that is longer than a line, such as a long URL, is cut.
        while used + shown_width(rest) > width {
            let (begin, end) = split_at_width(rest, width.saturating_sub(used).max(2));
            text.push_str(begin);
            text.push('\n');
            text.push_str(&" ".repeat(next));
            used = next;
            rest = end;
        }
        text.push_str(rest);
        used += shown_width(rest);
        is_first = false;
    }
}

/// Shortens a text in its middle to a number of columns: the beginning and the end of an address
/// are both informative.
pub(crate) fn without_middle(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let begin = width / 3;
    let (first, _) = split_at_width(text, begin.max(1));
    let room = width.saturating_sub(first.width() + 1);
    let mut last = text.len();
    let mut used = 0;
    for (at, letter) in text.char_indices().rev() {
        used += letter.width().unwrap_or(0);
        if used > room {
            break;
        }
        last = at;
    }
    format!("{first}…{}", text.get(last..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_wrapped_between_words_and_long_words_are_cut() {
        let text = "short\n  one two three four five\n\n  https://a.example/a/long/path end\n";
        assert_eq!(
            fitted(text, 20),
            "short\n  one two three four\n    five\n\n  https://a.example/\n    a/long/path end\n"
        );
        let wide = fitted(&"汉字".repeat(30), 20);
        assert!(wide.lines().all(|line| line.width() <= 20), "{wide}");
        assert_eq!(wide.replace(['\n', ' '], ""), "汉字".repeat(30));
    }

    #[test]
    fn colour_has_no_width() {
        let coloured = "\u{1b}[1mbold\u{1b}[0m 汉";
        assert_eq!(shown_width(coloured), 7);
        assert_eq!(fitted(coloured, 20), coloured);
    }

    #[test]
    fn the_middle_of_a_long_text_is_left_out_by_columns() {
        assert_eq!(without_middle("abcdefghij", 10), "abcdefghij");
        assert_eq!(without_middle("abcdefghijk", 10), "abc…fghijk");
        for width in 4..30 {
            let cut = without_middle(&"汉字ab".repeat(8), width);
            assert!(cut.width() <= width, "{width}: {cut}");
        }
    }

    #[test]
    fn a_percent_sign_stays_with_its_number() {
        let mut text = String::new();
        wrap_into(&mut text, "it has 12.5 % of", 10, 0, 0);
        assert_eq!(text, "it has\n12.5 % of");
    }
}
