//! Replaces one string of a JSON object and leaves all other bytes as they are.

/// Returns the object with `new` as the value of the first of these fields that has a string. None
/// if none has one. Only fields of the object itself are considered, not nested ones.
pub(crate) fn replace_string<'n>(
    line: &[u8],
    names: impl Iterator<Item = &'n str>,
    new: &str,
) -> Option<Vec<u8>> {
    let strings = strings_of(line);
    for name in names {
        if let Some((_, range)) = strings.iter().find(|(key, _)| key == name) {
            let mut out = Vec::with_capacity(line.len());
            out.extend_from_slice(line.get(..range.start)?);
            out.extend_from_slice(&serde_json::to_vec(new).ok()?);
            out.extend_from_slice(line.get(range.end..)?);
            return Some(out);
        }
    }
    None
}

/// The fields of an object whose values are strings, with the ranges of these values, quotes
/// included.
fn strings_of(line: &[u8]) -> Vec<(String, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    let (mut at, mut depth) = (0, 0);
    let mut key: Option<String> = None;
    while let Some(&byte) = line.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b',' if depth == 1 => key = None,
            b'"' => {
                let end = string_end(line, at);
                let range = at..end;
                if depth == 1 {
                    match key.take() {
                        // After its colon, or the value is missing and the line is not JSON.
                        Some(name) => found.push((name, range)),
                        None => key = serde_json::from_slice(&line[range]).ok(),
                    }
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Where a string ends that begins at a quote.
fn string_end(line: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(&byte) = line.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(line: &str, names: &[&str], new: &str) -> Option<String> {
        let line = replace_string(line.as_bytes(), names.iter().copied(), new)?;
        Some(String::from_utf8(line).unwrap())
    }

    #[test]
    fn only_the_text_changes() {
        let line = r#"{"b": 1.50, "meta":{"text":"inner"},"list":["text","x"], "text" : "a \"b\" c\\", "z":null}"#;
        let expected = r#"{"b": 1.50, "meta":{"text":"inner"},"list":["text","x"], "text" : "x\ny", "z":null}"#;
        assert_eq!(replaced(line, &["text"], "x\ny").as_deref(), Some(expected));
        assert_eq!(
            replaced(line, &["content", "text"], "x\ny").as_deref(),
            Some(expected)
        );
        assert_eq!(replaced(line, &["z", "body"], ""), None);
        assert_eq!(
            replaced(r#"{"t\u0065xt":"a"}"#, &["text"], "b").as_deref(),
            Some(r#"{"t\u0065xt":"b"}"#)
        );
    }

    #[test]
    fn broken_objects_do_not_panic() {
        for line in [
            "",
            "{",
            "{\"text\":\"",
            "{\"text\":\"a\\",
            "}}}",
            "[\"text\",\"a\"]",
        ] {
            replaced(line, &["text"], "b");
        }
    }
}
