//! Normalisation of percent-encoded text.

/// Appends `text` to `out`: unreserved characters are decoded, all other encodings use upper-case
/// digits, and stray percent signs are encoded. The result is stable under repetition.
pub(super) fn normalise(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(percent) = memchr::memchr(b'%', rest.as_bytes()) {
        out.push_str(&rest[..percent]);
        rest = &rest[percent..];
        match rest.as_bytes() {
            [_, high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let byte = digit(*high) << 4 | digit(*low);
                if is_unreserved(byte) {
                    out.push(char::from(byte));
                } else {
                    out.push('%');
                    out.push(char::from(high.to_ascii_uppercase()));
                    out.push(char::from(low.to_ascii_uppercase()));
                }
                rest = &rest[3..];
            }
            _ => {
                // A bare sign could form an encoding with the characters decoded after it.
                out.push_str("%25");
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
}

/// Whether `text` contains a percent-encoded dot, which the URL standard treats as a dot in `.` and
/// `..`.
pub(super) fn encodes_dot(text: &str) -> bool {
    memchr::memchr_iter(b'%', text.as_bytes()).any(|percent| {
        matches!(
            text.as_bytes().get(percent + 1..percent + 3),
            Some(b"2e" | b"2E")
        )
    })
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        _ => (byte | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(text: &str) -> String {
        let mut out = String::new();
        normalise(text, &mut out);
        out
    }

    #[test]
    fn unreserved_characters_are_decoded_and_other_encodings_are_in_upper_case() {
        assert_eq!(normalised("/%7euser/%61%2fb%c3%A9"), "/~user/a%2Fb%C3%A9");
    }

    #[test]
    fn a_stray_percent_sign_is_encoded() {
        assert_eq!(normalised("100%"), "100%25");
        assert_eq!(normalised("%4"), "%254");
        assert_eq!(normalised("%zz%%36%31"), "%25zz%2561");
    }

    #[test]
    fn decoding_happens_once() {
        assert_eq!(normalised("%2541"), "%2541");
    }
}
