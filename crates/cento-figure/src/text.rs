//! Untrusted text: cleaned, measured, cut and wrapped.
//!
//! The font of a viewer is unknown. Widths are those of a wide font, so that text that fits here
//! fits everywhere.

use unicode_width::UnicodeWidthChar;

/// The maximum number of characters of a text that are read. A longer name is a mistake or an
/// attack.
const LONGEST: usize = 2_000;

/// Combining marks that are kept on one letter: enough for every living script. A tower of them
/// would cover other lines.
const MOST_MARKS: usize = 4;

/// Removes characters that act rather than being read: control characters, which XML does not
/// allow; direction overrides, which can make a text look like another; invisible tags. White space
/// of any kind and length becomes one space.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::new();
    let mut marks = 0;
    let mut space = false;
    for letter in text.chars().take(LONGEST) {
        if letter.is_whitespace() || letter.is_control() {
            space = !out.is_empty();
            continue;
        }
        let code = u32::from(letter);
        let acts = matches!(code,
            0x061C | 0x200B | 0x200E | 0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF
        );
        if acts || code & 0xFFFE == 0xFFFE || (0xFDD0..=0xFDEF).contains(&code) {
            continue;
        }
        marks = if letter.width() == Some(0) {
            marks + 1
        } else {
            0
        };
        if marks > MOST_MARKS {
            continue;
        }
        if std::mem::take(&mut space) {
            out.push(' ');
        }
        out.push(letter);
    }
    out
}

/// Escapes text for an XML element or attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(letter),
        }
    }
    out
}

/// The widths of the characters from space to tilde in DejaVu Sans, the widest common font, in
/// thousandths of the font size.
const WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318,
    337, // space to /
    636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, // 0 to ?
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787, // @ to O
    603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, // P to _
    500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, // ` to o
    635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838, // p to ~
];

/// Returns an upper bound of the width of a character, in thousandths of the font size.
fn letter_width(letter: char) -> u32 {
    let code = u32::from(letter);
    if let Some(width) = code
        .checked_sub(0x20)
        .and_then(|index| WIDTHS.get(index as usize))
    {
        return u32::from(*width);
    }
    match (letter.width().unwrap_or(0), code) {
        // Ligatures of whole sentences.
        (_, 0xFDFA..=0xFDFD) => 9_000,
        (0, _) => 0,
        (1, 0x00B2 | 0x00B3 | 0x00B9 | 0x2070..=0x209F) => 420,
        (1, 0x00A0..=0x05FF) => 720,
        (1, 0x0600..=0x06FF) => 850,
        (1, 0x2013) => 500,
        (1, 0x2009 | 0x202F) => 300,
        (2, 0x1F000..) => 1_400,
        (2, _) => 1_050,
        // Other scripts, some of which have broad letters.
        (_, 0x0900..=0x1FFF) => 1_100,
        _ => 1_000,
    }
}

/// Returns the estimated width of a text in a font of this size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let thousandths: u64 = text
        .chars()
        .map(|letter| u64::from(letter_width(letter)))
        .sum();
    thousandths as f64 * size / 1000.0
}

/// Returns the text, or as much of its beginning as fits, with an ellipsis.
pub(crate) fn cut(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let ellipsis = width("…", size);
    let mut used = 0.0;
    let mut end = 0;
    for (index, letter) in text.char_indices() {
        used += f64::from(letter_width(letter)) * size / 1000.0;
        if used + ellipsis > room {
            break;
        }
        end = index + letter.len_utf8();
    }
    let kept = text.get(..end).unwrap_or_default().trim_end();
    if kept.is_empty() && ellipsis > room {
        String::new()
    } else {
        format!("{kept}…")
    }
}

/// Wraps a text into lines. Words stay whole if they fit; scripts without spaces break anywhere.
/// Text beyond the maximum number of lines is replaced by an ellipsis.
pub(crate) fn wrap(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if lines.len() + 1 >= most {
            lines.push(cut(rest, size, room));
            break;
        }
        let (line, after) = rest.split_at(break_at(rest, size, room));
        lines.push(line.trim_end().to_owned());
        rest = after.trim_start();
    }
    lines
}

/// Returns where the first line of a text ends, in bytes; it has at least one character.
fn break_at(text: &str, size: f64, room: f64) -> usize {
    let mut used = 0.0;
    let mut good = None;
    let mut before: Option<char> = None;
    for (index, letter) in text.char_indices() {
        let wide = |letter: char| letter.width() == Some(2);
        match before {
            Some(_) if letter == ' ' => good = Some(index),
            Some(last) if wide(last) && letter.width() != Some(0) && !is_closing(letter) => {
                good = Some(index);
            }
            Some(last) if wide(letter) && last != ' ' && !is_closing(letter) => good = Some(index),
            _ => {}
        }
        used += f64::from(letter_width(letter)) * size / 1000.0;
        if used > room && before.is_some() && letter != ' ' && letter.width() != Some(0) {
            return good.unwrap_or(index);
        }
        before = Some(letter);
    }
    text.len()
}

/// Returns whether a character is punctuation that must not begin a line.
fn is_closing(letter: char) -> bool {
    "。、，．：；！？）］｝〕〉》」』】,.;:!?)]}".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_could_act_is_gone_and_what_is_read_stays() {
        assert_eq!(
            clean(" a\u{0}b\r\n\t c\u{202E}d\u{FFFE}\u{FEFF} "),
            "a b cd"
        );
        assert_eq!(clean("نیم\u{200C}فاصله"), "نیم\u{200C}فاصله");
        assert_eq!(
            clean(&format!("a{}b", "\u{301}".repeat(50))),
            format!("a{}b", "\u{301}".repeat(4))
        );
    }

    #[test]
    fn chinese_counts_double_and_breaks_anywhere_but_before_a_full_stop() {
        assert!(width("网页", 10.0) > 1.5 * width("ab", 10.0));
        assert_eq!(
            wrap("网页网页。网页", 10.0, 42.5, 9),
            ["网页网", "页。网页"]
        );
    }

    #[test]
    fn words_stay_whole_where_they_can() {
        assert_eq!(
            wrap("one two three", 10.0, width("one two", 10.0), 9),
            ["one two", "three"]
        );
        assert_eq!(
            wrap("one two three", 10.0, width("one two", 10.0), 1),
            ["one t…"]
        );
    }

    proptest! {
        #[test]
        fn lines_fit_and_nothing_is_lost(text in "\\PC{0,60}", room in 30.0f64..300.0) {
            let text = clean(&text);
            let lines = wrap(&text, 12.0, room, usize::MAX);
            let letters = |text: &str| text.chars().filter(|letter| *letter != ' ').collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
            for line in &lines {
                prop_assert!(width(line, 12.0) <= room || line.chars().filter(|letter| letter.width() != Some(0)).count() <= 1);
            }
            prop_assert!(width(&cut(&text, 12.0, room), 12.0) <= room);
        }
    }
}
