//! The nesting depth of JSON lines.

use memchr::{memchr2, memchr2_iter};

/// Whether the nesting depth of `line` may exceed `limit`. A quick check that only counts brackets;
/// a negative result is certain.
pub(crate) fn may_exceed(line: &[u8], limit: u32) -> bool {
    memchr2_iter(b'{', b'[', line).nth(limit as usize).is_some()
}

/// The nesting depth of `line`, which need not be valid JSON. Not recursive, so any depth is safe.
pub(crate) fn nesting(line: &[u8]) -> u32 {
    let (mut depth, mut deepest) = (0_u32, 0);
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(line, at),
            b'{' | b'[' => {
                depth = depth.saturating_add(1);
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The offset after the closing quotation mark of the string whose first character is at `at`.
fn string_end(line: &[u8], mut at: usize) -> usize {
    while let Some(found) = line.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if line[at] == b'"' {
            return at + 1;
        }
        // An escaped character does not end the string.
        at += 2;
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count() {
        for (line, deepest) in [
            ("", 0),
            ("1", 0),
            ("{}", 1),
            (r#"{"a": [1, {"b": 2}], "c": {}}"#, 3),
            (r#"{"a": "[[[[", "b\\": "{"}"#, 1),
            (r#"{"a": "\"[[", "b": []}"#, 2),
            (r#"{"a": "never ends [["#, 1),
            (r#"{"a": "\"#, 1),
            ("]]]}}[", 1),
        ] {
            assert_eq!(nesting(line.as_bytes()), deepest, "{line}");
        }
        assert_eq!(nesting("[".repeat(1 << 20).as_bytes()), 1 << 20);
        for (line, limit, exceeds) in [
            ("[[]]", 2, false),
            ("[[[]]]", 2, true),
            ("", 0, false),
            ("{", 0, true),
        ] {
            assert_eq!(may_exceed(line.as_bytes(), limit), exceeds, "{line}");
        }
    }
}
