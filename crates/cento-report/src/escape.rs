//! Escaping of untrusted text for HTML.

/// Combining marks that are kept on one letter: enough for every living script. A tower of them
/// would cover other lines.
const MAX_MARKS: usize = 6;

/// Escapes text for an element or a quoted attribute.
///
/// Markup becomes text. Characters that act rather than being read are removed: control characters,
/// overrides of the writing direction, invisible tags. Line breaks and tabs are kept.
///
/// ```
/// assert_eq!(cento_report::escape("a < b\u{202e}"), "a &lt; b");
/// ```
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut marks = 0;
    for letter in text.chars() {
        if is_active(letter) {
            continue;
        }
        marks = if is_mark(letter) { marks + 1 } else { 0 };
        if marks > MAX_MARKS {
            continue;
        }
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // An HTML parser turns CR LF into one line break.
            '\r' => {}
            _ => out.push(letter),
        }
    }
    out
}

fn is_active(letter: char) -> bool {
    let code = u32::from(letter);
    (letter.is_control() && !matches!(letter, '\n' | '\t' | '\r'))
        || matches!(code,
            0x061C | 0x200E | 0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF
        )
        || code & 0xFFFE == 0xFFFE
        || (0xFDD0..=0xFDEF).contains(&code)
}

/// Returns whether a character is in one of the blocks of general combining marks.
fn is_mark(letter: char) -> bool {
    matches!(u32::from(letter),
        0x0300..=0x036F | 0x0483..=0x0489 | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF | 0xFE20..=0xFE2F
    )
}

/// Returns an address as the target of a link, escaped, if it is an HTTP URL. Any other address,
/// such as `javascript:…`, is shown as text only.
pub fn link(address: &str) -> Option<String> {
    let lower = address.get(..8).unwrap_or(address).to_ascii_lowercase();
    let web = lower.starts_with("http://") || lower.starts_with("https://");
    let plain = !address.chars().any(|c| c.is_control() || c.is_whitespace());
    (web && plain).then(|| escape(address))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_http_urls_are_links() {
        assert_eq!(
            link("https://a.example/x?a=1&b=\"").as_deref(),
            Some("https://a.example/x?a=1&amp;b=&quot;")
        );
        assert!(link("HTTP://a.example/").is_some());
        for address in [
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            " https://a.example/",
            "https://a.example/\n",
            "data:text/html,<script>",
            "file:///etc/passwd",
            "//a.example/",
            "/home/me/x.html",
            "",
        ] {
            assert_eq!(link(address), None, "{address}");
        }
    }

    #[test]
    fn active_characters_are_removed_and_text_is_kept() {
        assert_eq!(
            escape("a<b>&'\"\u{202e}\u{0}\r\nc\t汉字 ü é"),
            "a&lt;b&gt;&amp;&#39;&quot;\nc\t汉字 ü é"
        );
        let tower = format!("a{}b", "\u{0301}".repeat(100));
        assert_eq!(escape(&tower).chars().count(), 2 + MAX_MARKS);
    }

    proptest! {
        #[test]
        fn no_text_becomes_markup(text in "\\PC*|[\\x00-\\x7f]*") {
            let escaped = escape(&text);
            prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
            prop_assert!(!escaped.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        }
    }
}
