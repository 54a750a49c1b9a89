//! Cleans up plain text.

use std::borrow::Cow;

/// Returns `text` in the common form of all texts: lines end with `\n` and have no trailing space,
/// there is at most one blank line in a row, no white space at either end, no control characters
/// other than tabs, and no byte order marks.
///
/// `\r\n`, `\r`, vertical tabs and U+0085 end a line; a form feed ends a paragraph, because it was
/// a page break. The other controls from U+0080 to U+009F, usually mislabelled Windows-1252
/// punctuation, and the separators U+001C to U+001F become spaces, so that they separate words. All
/// other controls are removed. Text that already has this form, as most does, is not copied.
///
/// ```
/// use cento_text::plain::plain_text;
///
/// let text = "\u{feff}One\0 \r\ntwo\r\n\r\n\r\nthree\u{c}four\n";
/// assert_eq!(plain_text(text), "One\ntwo\n\nthree\n\nfour");
/// ```
pub fn plain_text(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    if is_plain(trimmed) {
        Cow::Borrowed(trimmed)
    } else {
        Cow::Owned(rewrite(trimmed))
    }
}

/// Whether trimmed text needs no change.
fn is_plain(text: &str) -> bool {
    if has_suspect(text.as_bytes())
        && text
            .chars()
            .any(|character| character == '\u{feff}' || is_odd_control(character))
    {
        return false;
    }
    let bytes = text.as_bytes();
    let mut blank = false;
    let mut begin = 0;
    for end in memchr::memchr_iter(b'\n', bytes) {
        if begin == end {
            if blank {
                return false;
            }
            blank = true;
        } else {
            blank = false;
            let last = bytes[end - 1];
            let ends_in_space = if last.is_ascii() {
                matches!(last, b' ' | b'\t')
            } else {
                text[begin..end].ends_with(char::is_whitespace)
            };
            if ends_in_space {
                return false;
            }
        }
        begin = end + 1;
    }
    true
}

/// Whether a disallowed character is possible: some byte is a control, or could begin a non-ASCII
/// control or a byte order mark.
fn has_suspect(bytes: &[u8]) -> bool {
    // No early exit within a piece, so that the loop is vectorised.
    bytes.chunks(1024).any(|piece| {
        piece.iter().fold(false, |suspect, &byte| {
            let control = byte < b' ' && byte != b'\n' && byte != b'\t';
            suspect | control | (byte == 0x7f) | (byte == 0xc2) | (byte == 0xef)
        })
    })
}

/// Whether the character is a control other than tab and line feed.
fn is_odd_control(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\t')
}

/// Whether a control character, other than a line break, becomes a space because it separates
/// words. Those from U+0080 on were dashes, quotes and dots in Windows-1252 that was decoded as
/// Latin-1.
pub(crate) fn separates_words(character: char) -> bool {
    matches!(character, '\u{1c}'..='\u{1f}' | '\u{80}'..='\u{9f}')
}

/// The replacement of a character of a line, if it is kept.
fn kept(character: char) -> Option<char> {
    if separates_words(character) {
        Some(' ')
    } else if character == '\u{feff}' || is_odd_control(character) {
        None
    } else {
        Some(character)
    }
}

/// Whether the character is a line or page break other than `\n`.
fn breaks_oddly(character: char) -> bool {
    matches!(character, '\r' | '\u{b}' | '\u{c}' | '\u{85}')
}

fn rewrite(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    // Most lines need no change. A stretch of such lines is copied at once.
    let mut stretch = 0..0;
    let mut blank_before = false;
    let mut blank = false;
    let mut suspect = next_suspect(bytes, 0);
    let mut begin = 0;
    for end in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]) {
        let line = &text[begin..end];
        if suspect < end {
            add_lines(&mut out, &text[stretch], blank_before);
            stretch = 0..0;
            let ended = if end < bytes.len() {
                line.strip_suffix('\r')
            } else {
                None
            };
            add_odd_lines(&mut out, ended.unwrap_or(line), &mut blank);
            suspect = next_suspect(bytes, end);
        } else {
            let length = trimmed_length(line);
            if length == 0 {
                blank = true;
            } else {
                let follows =
                    !stretch.is_empty() && matches!(&bytes[stretch.end..begin], b"\n" | b"\n\n");
                if !follows {
                    add_lines(&mut out, &text[stretch], blank_before);
                    blank_before = blank;
                    stretch = begin..begin;
                }
                stretch.end = begin + length;
                blank = false;
            }
        }
        begin = end + 1;
    }
    add_lines(&mut out, &text[stretch], blank_before);
    // Removed characters may have preceded leading space.
    let indented = out.len() - out.trim_start().len();
    out.drain(..indented);
    out
}

/// The position of the next byte at or after `from` that [`has_suspect`] looks for, or the end.
fn next_suspect(bytes: &[u8], from: usize) -> usize {
    const PIECE: usize = 512;
    let pieces = bytes.get(from..).unwrap_or_default().chunks(PIECE);
    for (piece, begin) in pieces.zip((from..).step_by(PIECE)) {
        if has_suspect(piece) {
            let within = piece.iter().position(|byte| has_suspect(&[*byte]));
            return begin + within.unwrap_or_default();
        }
    }
    bytes.len()
}

/// The length of a line without trailing space.
fn trimmed_length(line: &str) -> usize {
    match line.as_bytes().last() {
        Some(last) if last.is_ascii_graphic() => line.len(),
        _ => line.trim_end().len(),
    }
}

/// Adds the lines of a piece with unusual line breaks.
fn add_odd_lines(out: &mut String, text: &str, blank: &mut bool) {
    let mut rest = text;
    loop {
        let end = rest.find(breaks_oddly);
        let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
        let kept: String = line.chars().filter_map(kept).collect();
        add_line(out, &kept, blank);
        let mut following = after.chars();
        match following.next() {
            Some(character) => *blank |= character == '\u{c}',
            None => return,
        }
        rest = following.as_str();
    }
}

fn add_line(out: &mut String, line: &str, blank: &mut bool) {
    let line = line.trim_end();
    add_lines(out, line, *blank);
    *blank = line.is_empty();
}

/// Adds clean lines, after a blank line or not.
fn add_lines(out: &mut String, lines: &str, blank: bool) {
    if !lines.is_empty() {
        if !out.is_empty() {
            out.push_str(if blank { "\n\n" } else { "\n" });
        }
        out.push_str(lines);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, step by step.
    fn naive(text: &str) -> String {
        let text = text
            .replace("\r\n", "\n")
            .replace(['\r', '\u{b}', '\u{85}'], "\n")
            .replace('\u{c}', "\n\n")
            .replace('\u{feff}', "");
        let text: String = text
            .chars()
            .map(|character| {
                if separates_words(character) {
                    ' '
                } else {
                    character
                }
            })
            .filter(|&character| matches!(character, '\n' | '\t') || !character.is_control())
            .collect();
        let lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
        let mut text = lines.join("\n");
        while text.contains("\n\n\n") {
            text = text.replace("\n\n\n", "\n\n");
        }
        text.trim().to_owned()
    }

    proptest! {
        #[test]
        fn plain_text_agrees_with_the_definition(
            text in "([a-zé ]{0,3}\\n{0,2}[ \\t\\n\\r\\x0b\\x0c\\x00\\x1b\\x1e\\x7f\u{85}\u{97}\u{9f}\u{a0}\u{feff}\u{3000}]{0,3}){0,12}|\\PC{0,20}"
        ) {
            let plain = plain_text(&text).into_owned();
            prop_assert_eq!(&plain, &naive(&text));
            prop_assert!(matches!(plain_text(&plain), Cow::Borrowed(same) if same == plain));
        }
    }

    #[test]
    fn plain_text_is_not_copied() {
        let text = "One line.\n  An indented one: §§ 1–2, “quoted”, ｆｕｌｌ width.\n\nAnother\tparagraph.";
        assert!(matches!(plain_text(text), Cow::Borrowed(same) if same == text));
        // Trimming needs no copy either.
        assert!(matches!(plain_text("\n\n a \n"), Cow::Borrowed("a")));
        assert!(matches!(plain_text(""), Cow::Borrowed("")));
    }

    #[test]
    fn line_breaks_of_all_systems_become_line_feeds() {
        assert_eq!(plain_text("a\r\nb\rc\nd\u{85}e\u{b}f"), "a\nb\nc\nd\ne\nf");
        assert_eq!(plain_text("a\r\n\r\n\r\nb\r\rc"), "a\n\nb\n\nc");
    }

    #[test]
    fn stray_windows_1252_characters_separate_words() {
        assert_eq!(plain_text("one\u{97}two"), "one two");
        assert_eq!(plain_text("\u{93}one\u{94}\nit\u{92}s"), "one\nit s");
        assert_eq!(plain_text("a\u{1f}b\0c"), "a bc");
    }

    #[test]
    fn a_form_feed_ends_a_paragraph() {
        assert_eq!(
            plain_text("the end of a page\n\u{c}the next page"),
            "the end of a page\n\nthe next page"
        );
    }

    #[test]
    fn text_of_removed_characters_is_empty() {
        for text in ["\u{feff}", "\0\0\0", " \u{c}\r\n\t", "\u{feff} \n \u{feff}"] {
            assert_eq!(plain_text(text), "", "{text:?}");
        }
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        let begin = std::time::Instant::now();
        for text in [
            "\r".repeat(1 << 21),
            " \n".repeat(1 << 20),
            "a \0".repeat(1 << 20),
            "\u{feff} ".repeat(1 << 19),
        ] {
            plain_text(&text);
        }
        assert!(begin.elapsed().as_secs() < 60);
    }
}
