//! Finds the character set that a page declares in its markup, before the page is decoded.
//!
//! Follows "prescan a byte stream to determine its encoding" in the HTML standard, but scans more:
//! the standard stops after 1024 bytes so that a browser need not wait, and many pages declare it
//! later.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

const SCANNED: usize = 4 << 10;

/// The character set that the markup at the beginning of `content` declares.
pub(crate) fn prescan(content: &[u8]) -> Option<&'static Encoding> {
    let bytes = &content[..content.len().min(SCANNED)];
    let declared = xml_encoding(bytes);
    let mut scanner = Scanner { bytes, at: 0 };
    scanner.meta().or(declared).map(|encoding| {
        // The declaration itself is not in UTF-16.
        if encoding == UTF_16LE || encoding == UTF_16BE {
            UTF_8
        } else if encoding == X_USER_DEFINED {
            WINDOWS_1252
        } else {
            encoding
        }
    })
}

/// The encoding in `<?xml version="1.0" encoding="…"?>`.
fn xml_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let rest = bytes.trim_ascii_start().strip_prefix(b"<?xml")?;
    let declaration = &rest[..memchr::memchr(b'>', rest)?];
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let value = declaration[at + b"encoding".len()..].trim_ascii_start();
    let value = value.strip_prefix(b"=")?.trim_ascii_start();
    let (&quote, value) = value.split_first()?;
    if quote != b'"' && quote != b'\'' {
        return None;
    }
    let value = &value[..memchr::memchr(quote, value)?];
    Encoding::for_label_no_replacement(value)
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn starts_with(&self, lower: &[u8]) -> bool {
        let front = self.rest().get(..lower.len());
        front.is_some_and(|front| front.eq_ignore_ascii_case(lower))
    }

    /// Moves past `byte`, or to the end.
    fn pass(&mut self, byte: u8) {
        self.at += memchr::memchr(byte, self.rest()).map_or(self.rest().len(), |at| at + 1);
    }

    fn meta(&mut self) -> Option<&'static Encoding> {
        while let Some(at) = memchr::memchr(b'<', self.rest()) {
            self.at += at;
            if self.starts_with(b"<!--") {
                // The two hyphens that open a comment may also be those that close it.
                self.at += 2;
                let end = memchr::memmem::find(self.rest(), b"-->")?;
                self.at += end + 3;
            } else if self.starts_with(b"<meta")
                && matches!(
                    self.bytes.get(self.at + 5),
                    Some(b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' | b'/')
                )
            {
                self.at += 5;
                if let Some(encoding) = self.meta_encoding() {
                    return Some(encoding);
                }
            } else {
                let name = self.at + 1 + usize::from(self.bytes.get(self.at + 1) == Some(&b'/'));
                match self.bytes.get(name) {
                    Some(byte) if byte.is_ascii_alphabetic() => {
                        self.at = name;
                        while self
                            .peek()
                            .is_some_and(|byte| !byte.is_ascii_whitespace() && byte != b'>')
                        {
                            self.at += 1;
                        }
                        while self.attribute().is_some() {}
                    }
                    _ if matches!(self.bytes.get(self.at + 1), Some(b'!' | b'/' | b'?')) => {
                        self.pass(b'>');
                    }
                    _ => self.at += 1,
                }
            }
        }
        None
    }

    fn meta_encoding(&mut self) -> Option<&'static Encoding> {
        let mut seen: Vec<Vec<u8>> = Vec::new();
        let mut is_pragma = false;
        let mut needs_pragma = false;
        let mut encoding = None;
        let mut named = false;
        while let Some((name, value)) = self.attribute() {
            if seen.contains(&name) {
                continue;
            }
            match name.as_slice() {
                b"http-equiv" => is_pragma = value == b"content-type",
                b"content" if !named => {
                    if let Some(found) = charset_of_content(&value) {
                        (encoding, named, needs_pragma) = (Some(found), true, true);
                    }
                }
                b"charset" => {
                    encoding = Encoding::for_label_no_replacement(&value);
                    (named, needs_pragma) = (true, false);
                }
                _ => {}
            }
            seen.push(name);
        }
        if needs_pragma && !is_pragma {
            return None;
        }
        encoding
    }

    /// "Get an attribute": its name and value in lower case.
    fn attribute(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        while let Some(b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' | b'/') = self.peek() {
            self.at += 1;
        }
        let mut name = Vec::new();
        loop {
            match self.peek() {
                None => return None,
                Some(b'>') if name.is_empty() => return None,
                Some(b'/' | b'>') => return Some((name, Vec::new())),
                Some(b'=') if !name.is_empty() => break,
                Some(byte) if byte.is_ascii_whitespace() => {
                    self.skip_space();
                    if self.peek() != Some(b'=') {
                        return Some((name, Vec::new()));
                    }
                    break;
                }
                Some(byte) => name.push(byte.to_ascii_lowercase()),
            }
            self.at += 1;
        }
        self.at += 1;
        self.skip_space();
        let mut value = Vec::new();
        match self.peek()? {
            quote @ (b'"' | b'\'') => {
                self.at += 1;
                let end = memchr::memchr(quote, self.rest())?;
                value.extend(self.rest()[..end].to_ascii_lowercase());
                self.at += end + 1;
            }
            _ => {
                while let Some(byte) = self.peek() {
                    if byte.is_ascii_whitespace() || byte == b'>' {
                        break;
                    }
                    value.push(byte.to_ascii_lowercase());
                    self.at += 1;
                }
                // A value that is cut off at the end of the scanned bytes is ignored.
                self.peek()?;
            }
        }
        Some((name, value))
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }
}

/// The character set in `text/html; charset=…`, the value of a `content` attribute.
fn charset_of_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        rest = &rest[memchr::memmem::find(rest, b"charset")? + b"charset".len()..];
        if let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") {
            let value = value.trim_ascii_start();
            let label = match value.split_first()? {
                (quote @ (b'"' | b'\''), quoted) => &quoted[..memchr::memchr(*quote, quoted)?],
                _ => value
                    .split(|byte| byte.is_ascii_whitespace() || *byte == b';')
                    .next()?,
            };
            return Encoding::for_label_no_replacement(label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(markup: &str) -> Option<&'static str> {
        prescan(markup.as_bytes()).map(Encoding::name)
    }

    #[test]
    fn a_charset_is_found_where_the_standard_requires() {
        for (markup, expected) in [
            ("<meta charset=big5>", Some("Big5")),
            ("<META CHARSET='Shift_JIS'/>", Some("Shift_JIS")),
            ("<meta name=a charset = \"koi8-r\" >", Some("KOI8-R")),
            (
                "<meta http-equiv=Content-Type content='text/html; charset=gb2312'>",
                Some("GBK"),
            ),
            (
                "<meta content='text/html; charset=euc-kr' http-equiv=content-type>",
                Some("EUC-KR"),
            ),
            (
                "<meta content='text/html; charset=\"euc-kr\"' http-equiv=content-type>",
                Some("EUC-KR"),
            ),
            // Without `http-equiv`, a content attribute is ignored.
            (
                "<meta name=keywords content='text/html; charset=gb2312'>",
                None,
            ),
            (
                "<!-- <meta charset=big5> --><meta charset=euc-jp>",
                Some("EUC-JP"),
            ),
            ("<!--><meta charset=big5>", Some("Big5")),
            (
                "<a title='<meta charset=big5>'><meta charset=euc-jp>",
                Some("EUC-JP"),
            ),
            (
                "</p x=1><?php a ?><!doctype html><meta charset=utf-8>",
                Some("UTF-8"),
            ),
            ("<metadata charset=big5>", None),
            ("<meta charset=utf-16>", Some("UTF-8")),
            ("<meta charset=x-user-defined>", Some("windows-1252")),
            ("<meta charset=klingon>", None),
            ("<meta charset=big5", None),
            ("<meta charset=", None),
            ("<meta", None),
            ("<", None),
            ("", None),
            (
                "<?xml version='1.0' encoding=\"iso-8859-2\"?><a/>",
                Some("ISO-8859-2"),
            ),
            ("<?xml encoding='utf-16'?>", Some("UTF-8")),
            ("<?xml encoding='koi8-r'?><meta charset=big5>", Some("Big5")),
            ("<?xml encoding=", None),
        ] {
            assert_eq!(named(markup), expected, "{markup}");
        }
    }

    #[test]
    fn only_the_first_bytes_are_scanned() {
        let far = format!("{}<meta charset=big5>", " ".repeat(SCANNED));
        assert_eq!(named(&far), None);
    }
}
