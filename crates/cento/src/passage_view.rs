//! Passages on a terminal, as JSON, CSV and TEI.

use std::fmt::Write;

use cento_align::{Fold, differing_words};
use cento_figure::csv_cell;
use cento_find::precedence::precise_date;
use cento_report::ComparedPiece;
use cento_report::escape;
use cento_report::format::shared_words;
use cento_scan::analyses::passages::compared_pieces;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::output::clean;
use crate::terminal::StandardStream;

/// Bytes of each side of a passage that a terminal shows.
const LONGEST: usize = 1_200;

/// A passage with its text on both sides.
pub(crate) struct ShownPassage {
    pub(crate) a: String,
    pub(crate) b: String,
    /// Begin and end on both sides, in bytes.
    pub(crate) bytes: [usize; 4],
    /// Begin and end on both sides, in Unicode characters.
    pub(crate) chars: [usize; 4],
    /// The words of both sides.
    pub(crate) words: [usize; 2],
    pub(crate) identical: f64,
    /// The share of the words of each side that the other has.
    pub(crate) shares: [f64; 2],
    pub(crate) kind: String,
    pub(crate) texts: [String; 2],
    /// What is known about which side is earlier.
    pub(crate) remark: Option<String>,
    pub(crate) dates: [Option<String>; 2],
}

/// The columns of JSON and CSV, in order.
const COLUMNS: [&str; 16] = [
    "a",
    "b",
    "a_begin",
    "a_end",
    "b_begin",
    "b_end",
    "a_begin_char",
    "a_end_char",
    "b_begin_char",
    "b_end_char",
    "words",
    "b_words",
    "identical",
    "a_in_b",
    "b_in_a",
    "kind",
];

impl ShownPassage {
    fn values(&self) -> [Value; 16] {
        let [a_begin, a_end, b_begin, b_end] = self.bytes;
        let [a_begin_char, a_end_char, b_begin_char, b_end_char] = self.chars;
        [
            json!(self.a),
            json!(self.b),
            json!(a_begin),
            json!(a_end),
            json!(b_begin),
            json!(b_end),
            json!(a_begin_char),
            json!(a_end_char),
            json!(b_begin_char),
            json!(b_end_char),
            json!(self.words[0]),
            json!(self.words[1]),
            json!(self.identical),
            json!(self.shares[0]),
            json!(self.shares[1]),
            json!(self.kind),
        ]
    }

    /// Says how many words it has on both sides, and how many of them both have.
    fn shared_words(&self) -> String {
        shared_words(
            self.words.map(|words| words as u64),
            self.shares,
            ["A", "B"],
        )
    }

    /// Renders one JSON object.
    pub(crate) fn json(&self) -> String {
        let fields: serde_json::Map<String, Value> = COLUMNS
            .iter()
            .map(|&name| name.to_owned())
            .zip(self.values())
            .collect();
        format!("{}\n", Value::Object(fields))
    }

    /// Renders one line of CSV.
    pub(crate) fn csv(&self) -> String {
        let cells = self.values().map(|value| match value {
            Value::String(text) => csv_cell(&text),
            other => other.to_string(),
        });
        format!("{}\r\n", cells.join(","))
    }

    /// Renders the passage as a division of a TEI text: a quotation of each side, with a reference
    /// to its characters as in RFC 5147.
    pub(crate) fn tei(&self, number: usize, fold: Fold) -> String {
        let [only_a, only_b] = differing_words(&self.texts[0], &self.texts[1], fold);
        let mut text = format!(
            "<div type=\"passage\" subtype=\"{}\" n=\"{number}\">\n<note>{}</note>\n",
            escape(&self.kind),
            self.shared_words()
        );
        let sides = [
            (
                "a",
                "b",
                &self.a,
                &self.texts[0],
                only_a,
                &self.chars[..2],
                &self.dates[0],
            ),
            (
                "b",
                "a",
                &self.b,
                &self.texts[1],
                only_b,
                &self.chars[2..],
                &self.dates[1],
            ),
        ];
        for (side, other, address, words, differing, chars, date) in sides {
            let mut quote = String::new();
            for piece in compared_pieces(words, &differing, usize::MAX) {
                match piece {
                    ComparedPiece::Same(words) => quote.push_str(&xml(&words)),
                    ComparedPiece::Differing(words) => {
                        let _ = write!(quote, "<hi rend=\"differing\">{}</hi>", xml(&words));
                    }
                    ComparedPiece::Gap(_) => {}
                }
            }
            let date = date.as_deref().map_or(String::new(), |date| {
                format!("<date when=\"{}\"/>", escape(precise_date(date)))
            });
            let _ = writeln!(
                text,
                "<cit><quote xml:id=\"p{number}{side}\" corresp=\"#p{number}{other}\">{quote}</quote>\
                 <ref target=\"{}#char={},{}\">{}</ref>{date}</cit>",
                xml(address),
                chars[0],
                chars[1],
                xml(address)
            );
        }
        text.push_str("</div>\n");
        text
    }

    /// Renders the passage side by side. Differing words are coloured, or in brackets without
    /// colour.
    pub(crate) fn side_by_side(&self, number: usize, fold: Fold, look: Look) -> String {
        let mut text = format!("{number}  {}, {}\n", self.kind, self.shared_words());
        if let Some(remark) = &self.remark {
            let _ = writeln!(text, "   {}", clean(remark));
        }
        let [only_a, only_b] = differing_words(&self.texts[0], &self.texts[1], fold);
        let width = (look.width.saturating_sub(7) / 2).max(16);
        let heading = |name: &str, at: &[usize]| {
            let place = format!(" {}–{}", at[0], at[1]);
            let most = width.saturating_sub(place.chars().count());
            format!("{}{place}", crate::output::shortened_end(name, most))
        };
        let column = |heading: String, text: &str, differing, colour| {
            let mut lines = vec![Styled::plain(heading)];
            let pieces = compared_pieces(text, differing, LONGEST);
            lines.extend(wrap(&pieces, width, look.colour.then_some(colour)));
            lines
        };
        let left = column(
            heading(&self.a, &self.chars[..2]),
            &self.texts[0],
            &only_a,
            RED,
        );
        let right = column(
            heading(&self.b, &self.chars[2..]),
            &self.texts[1],
            &only_b,
            GREEN,
        );
        let empty = Styled::plain(String::new());
        for at in 0..left.len().max(right.len()) {
            let (left, right) = (
                left.get(at).unwrap_or(&empty),
                right.get(at).unwrap_or(&empty),
            );
            let padding = " ".repeat(width.saturating_sub(left.width));
            let line = format!("   {}{padding} │ {}", left.text, right.text);
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// How passages are shown side by side.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub(crate) colour: bool,
    pub(crate) width: usize,
}

impl Look {
    /// Colour and the width of the terminal; without a terminal, no colour and 100 columns.
    pub(crate) fn of_output() -> Look {
        let columns = StandardStream::Output.columns();
        Look {
            colour: StandardStream::Output.is_coloured(),
            width: columns.map_or(100, |columns| columns.min(240)),
        }
    }
}

/// The line of columns of CSV.
pub(crate) fn csv_heading() -> String {
    format!("{}\r\n", COLUMNS.join(","))
}

/// The beginning of a TEI document.
pub(crate) fn tei_begin(title: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TEI xmlns=\"http://www.tei-c.org/ns/1.0\">\n\
         <teiHeader><fileDesc><titleStmt><title>{}</title></titleStmt>\
         <publicationStmt><p>Generated by cento {}.</p></publicationStmt>\
         <sourceDesc><p>References name characters of the texts, counted from 0; the second number \
         is exclusive. Words in hi elements differ from the other side.</p></sourceDesc></fileDesc>\
         </teiHeader>\n<text><body>\n",
        xml(title),
        env!("CARGO_PKG_VERSION")
    )
}

/// The end of a TEI document.
pub(crate) const TEI_END: &str = "</body></text>\n</TEI>\n";

/// Escapes text for XML and removes the characters that XML forbids.
fn xml(text: &str) -> String {
    let allowed = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let allowed = |c: &char| allowed(c) && !matches!(c, '\u{fffe}' | '\u{ffff}');
    escape(&text.chars().filter(allowed).collect::<String>())
}

const RED: &str = "\u{1b}[1;31m";
const GREEN: &str = "\u{1b}[1;32m";
const RESET: &str = "\u{1b}[0m";

/// A line with the width that it has on a terminal.
struct Styled {
    text: String,
    width: usize,
}

impl Styled {
    fn plain(text: String) -> Styled {
        Styled {
            width: text.width(),
            text,
        }
    }
}

/// Wraps text in lines of a width, between words where possible.
fn wrap(pieces: &[ComparedPiece], width: usize, colour: Option<&str>) -> Vec<Styled> {
    let mut lines: Vec<Styled> = Vec::new();
    let mut line = Styled::plain(String::new());
    // Whether white space precedes the next word.
    let mut spaced = false;
    for piece in pieces {
        let (words, differs) = match piece {
            ComparedPiece::Same(words) => (words.clone(), false),
            ComparedPiece::Differing(words) => (words.clone(), true),
            ComparedPiece::Gap(letters) => (format!(" [… {letters} characters …]"), false),
        };
        spaced |= words.starts_with(char::is_whitespace);
        let count = words.split_whitespace().count();
        for (at, word) in words.split_whitespace().enumerate() {
            let mut word = clean(word).into_owned();
            if differs && colour.is_none() {
                word = match (at == 0, at + 1 == count) {
                    (true, true) => format!("[{word}]"),
                    (true, false) => format!("[{word}"),
                    (false, true) => format!("{word}]"),
                    (false, false) => word,
                };
            }
            let mut needed = word.width();
            let gap = usize::from(spaced && line.width > 0);
            if line.width > 0 && line.width + gap + needed > width && (spaced || at > 0) {
                lines.push(std::mem::replace(&mut line, Styled::plain(String::new())));
            } else if gap > 0 {
                line.text.push(' ');
                line.width += 1;
            }
            // A word that is longer than a line, as in scripts without spaces, is cut.
            while line.width + needed > width && needed > 1 {
                let space = width.saturating_sub(line.width).max(2);
                let cut = prefix(&word, space);
                push_word(&mut line, &word[..cut], differs, colour);
                lines.push(std::mem::replace(&mut line, Styled::plain(String::new())));
                word = word[cut..].to_owned();
                needed = word.width();
            }
            push_word(&mut line, &word, differs, colour);
            spaced = true;
        }
        spaced = words.ends_with(char::is_whitespace);
    }
    lines.push(line);
    lines
}

fn push_word(line: &mut Styled, word: &str, differs: bool, colour: Option<&str>) {
    match colour.filter(|_| differs) {
        Some(colour) => {
            let _ = write!(line.text, "{colour}{word}{RESET}");
        }
        None => line.text.push_str(word),
    }
    line.width += word.width();
}

/// The length in bytes of the longest beginning of a word that is not wider than this; at least one
/// character.
fn prefix(word: &str, width: usize) -> usize {
    let mut end = 0;
    for (at, letter) in word.char_indices() {
        let next = at + letter.len_utf8();
        if end > 0 && word[..next].width() > width {
            break;
        }
        end = next;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[ComparedPiece], width: usize) -> Vec<String> {
        let lines = wrap(pieces, width, None);
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn text_is_wrapped_between_words_and_long_words_are_cut() {
        let same = |text: &str| ComparedPiece::Same(text.to_owned());
        let other = |text: &str| ComparedPiece::Differing(text.to_owned());
        assert_eq!(
            lines(
                &[
                    same("the "),
                    other("old stone"),
                    same(", bridge\nis closed")
                ],
                12
            ),
            ["the [old", "stone],", "bridge is", "closed"]
        );
        let wide = lines(&[same(&"汉".repeat(30))], 20);
        assert!(wide.iter().all(|line| line.width() <= 20));
        assert_eq!(wide.concat(), "汉".repeat(30));
    }

    #[test]
    fn control_characters_do_not_reach_a_terminal_or_xml() {
        let shown = ShownPassage {
            a: "a\u{1b}[31m<x>".to_owned(),
            b: "b".to_owned(),
            bytes: [0; 4],
            chars: [0; 4],
            words: [2, 2],
            identical: 0.5,
            shares: [0.5, 0.5],
            kind: "edited".to_owned(),
            texts: ["one \u{1b}two & three".to_owned(), "one four".to_owned()],
            remark: None,
            dates: [None, None],
        };
        let look = Look {
            colour: false,
            width: 80,
        };
        assert!(!shown.side_by_side(1, Fold::None, look).contains('\u{1b}'));
        let tei = shown.tei(1, Fold::None);
        assert!(!tei.contains('\u{1b}') && !tei.contains("<x>") && tei.contains("&amp;"));
    }
}
