//! How deep the objects and lists of a line stand within each other.

use memchr::{memchr2, memchr2_iter};

/// Whether objects and lists of `line` may stand more than `limit` deep within each other. No means
/// no, and is found without looking at strings if there are not even so many brackets.
pub(crate) fn may_exceed(line: &[u8], limit: u32) -> bool {
    memchr2_iter(b'{', b'[', line).nth(limit as usize).is_some()
}

/// The deepest nesting of objects and lists in `line`, whether it is sound or not. Without a stack
/// of its own, so that no line is too deep for it.
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

/// Where the string ends whose first character is at `at`: behind its quotation mark.
fn string_end(line: &[u8], mut at: usize) -> usize {
    while let Some(found) = line.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if line[at] == b'"' {
            return at + 1;
        }
        // Whatever is escaped, it does not end the string.
        at += 2;
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_count_outside_strings_only() {
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
