//! Plain text pages, as if they had been written by one editor.

use std::borrow::Cow;

/// `text` with one kind of line break, without control characters, trailing spaces and runs of blank lines.
pub fn plain_text(text: &str) -> Cow<'_, str> {
    let text = text
        .replace("\r\n", "\n")
        .replace('\r', "\n")
        .replace('\u{c}', "\n\n");
    let mut out = String::with_capacity(text.len());
    let mut blank = 0;
    for line in text.split('\n') {
        let line: String = line
            .chars()
            .filter(|&character| {
                character == '\t' || (!character.is_control() && character != '\u{feff}')
            })
            .collect();
        let line = line.trim_end();
        if line.is_empty() {
            blank += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if blank > 0 { "\n\n" } else { "\n" });
        }
        blank = 0;
        out.push_str(line);
    }
    Cow::Owned(out)
}
