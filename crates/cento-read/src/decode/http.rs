//! Heads of HTTP responses.

use crate::warc::header::{self, HeaderFields, text};

/// The fields of a response head that are used.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HttpHead {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) chunked: bool,
    /// The content codings, in the order in which they were applied.
    pub(crate) codings: Vec<String>,
    /// The offset of the body.
    pub(crate) end: usize,
}

/// Parses the head at the beginning of `block`, if there is one.
pub(crate) fn parse(block: &[u8]) -> Option<HttpHead> {
    let line_ends = block
        .iter()
        .take_while(|byte| matches!(byte, b'\r' | b'\n'))
        .count();
    let block = &block[line_ends..];
    let status = parse_status(block)?;
    // A response may consist of the head only, without an empty line.
    let end = header::end(block).unwrap_or(block.len());
    let mut head = HttpHead {
        status,
        end: line_ends + end,
        ..HttpHead::default()
    };
    for (name, value) in HeaderFields::after_first_line(&block[..end]) {
        let is = |expected: &str| name.eq_ignore_ascii_case(expected.as_bytes());
        let tokens = || {
            text(&value)
                .split(',')
                .map(|token| token.trim().to_ascii_lowercase())
                .filter(|token| !token.is_empty() && token != "identity")
                .collect::<Vec<_>>()
        };
        match name.len() {
            // Browsers use the last one.
            12 if is("Content-Type") => head.content_type = Some(text(&value)),
            16 if is("Content-Language") => {
                head.language = text(&value)
                    .split(',')
                    .map(|token| token.trim().to_owned())
                    .find(|token| !token.is_empty());
            }
            16 if is("Content-Encoding") => head.codings.extend(tokens()),
            17 if is("Transfer-Encoding") => {
                for token in tokens() {
                    match token.as_str() {
                        "chunked" => head.chunked = true,
                        // Applied after the content codings, so removed before them.
                        _ => head.codings.push(token),
                    }
                }
            }
            _ => {}
        }
    }
    Some(head)
}

/// The status in `HTTP/1.1 200 OK`. Servers also omit the reason or the version.
fn parse_status(block: &[u8]) -> Option<u16> {
    let line = block.split(|&byte| byte == b'\n').next()?;
    if !line.get(..4)?.eq_ignore_ascii_case(b"HTTP") {
        return None;
    }
    let status = line
        .split(u8::is_ascii_whitespace)
        .skip(1)
        .find(|token| !token.is_empty())?;
    let status: u16 = str::from_utf8(status.get(..3)?).ok()?.parse().ok()?;
    (100..1000).contains(&status).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_status_lines_are_parsed() {
        for (line, status) in [
            ("HTTP/1.1 200 OK\r\n\r\n", Some(200)),
            ("HTTP/1.1 200\r\n\r\n", Some(200)),
            ("HTTP/1.0 302 \r\n\r\n", Some(302)),
            ("HTTP/2 404\n\n", Some(404)),
            ("http/1.1  500 Oh\n\n", Some(500)),
            ("\r\nHTTP/1.1 200 OK\r\n\r\n", Some(200)),
            ("HTTP 200 OK\r\n\r\n", Some(200)),
            ("HTTP/1.1 200", Some(200)),
            ("HTTP/1.1\r\n\r\n", None),
            ("HTTP/1.1 abc\r\n\r\n", None),
            ("HTTP/1.1 20\r\n\r\n", None),
            ("HTTP/1.1 000\r\n\r\n", None),
            ("<html>", None),
            ("", None),
        ] {
            let head = parse(line.as_bytes());
            assert_eq!(head.map(|head| head.status), status, "{line:?}");
        }
    }

    #[test]
    fn the_body_begins_after_the_empty_line() {
        for block in [
            "HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody",
            "HTTP/1.1 200 OK\nA: b\n\nbody",
            "HTTP/1.1 200 OK\r\nA: b\n\r\nbody",
            "HTTP/1.1 200 OK\r\n\r\nbody",
        ] {
            let head = parse(block.as_bytes()).unwrap();
            assert_eq!(&block[head.end..], "body");
        }
    }

    #[test]
    fn codings_are_listed_in_the_order_in_which_they_were_applied() {
        let head = parse(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: identity, deflate\r\ncontent-encoding: X-GZIP\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        )
        .unwrap();
        assert_eq!(head.codings, ["deflate", "x-gzip", "gzip"]);
        assert!(head.chunked);
    }
}
