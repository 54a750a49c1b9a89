//! Headers of WARC records.

use memchr::memchr;

/// The beginning of every record, in every version of the format.
pub(crate) const BEGINNING: &[u8] = b"WARC/";

/// Whether `bytes` begin like a record: with [`BEGINNING`], which some writers put in lower case.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    bytes
        .get(..BEGINNING.len())
        .is_some_and(|front| front.eq_ignore_ascii_case(BEGINNING))
}

/// The offsets in `bytes` at which a record [may begin](begins).
pub(crate) fn beginnings(bytes: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(b'/', bytes)
        .filter_map(|slash| slash.checked_sub(BEGINNING.len() - 1))
        .filter(|&at| begins(&bytes[at..]))
}

/// The fields of a record header that are used.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordHeader {
    pub(crate) kind: RecordKind,
    pub(crate) length: u64,
    pub(crate) url: Option<String>,
    pub(crate) date: Option<String>,
    pub(crate) ip: Option<String>,
    pub(crate) mime: Option<String>,
    pub(crate) payload_sha1: Option<[u8; 20]>,
    pub(crate) profile: Option<String>,
    pub(crate) refers_to_url: Option<String>,
    pub(crate) refers_to_date: Option<String>,
}

/// The type of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RecordKind {
    Response,
    Resource,
    Conversion,
    Request,
    Metadata,
    WarcInfo,
    Revisit,
    Continuation,
    #[default]
    Other,
}

/// The length of the header at the beginning of `bytes`, with its empty line. None if `bytes` do
/// not contain all of it.
pub(crate) fn end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let line = memchr(b'\n', &bytes[at..])?;
        // A file whose line ends were converted twice has several carriage returns.
        if bytes[at..at + line].iter().all(|&byte| byte == b'\r') {
            return Some(at + line + 1);
        }
        at += line + 1;
    }
}

/// Whether `bytes` begin with the first line of a record: `WARC/1.0` and a line end.
pub(crate) fn is_version_line(bytes: &[u8]) -> bool {
    if !begins(bytes) {
        return false;
    }
    let version = &bytes[BEGINNING.len()..];
    let digits = version
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    (3..=8).contains(&digits)
        && version[0].is_ascii_digit()
        && matches!(version.get(digits), Some(b'\r' | b'\n' | b' '))
}

/// Whether a field of a record follows the version line at the beginning of `bytes`.
pub(crate) fn has_field(bytes: &[u8]) -> bool {
    let first = memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
    bytes[first..]
        .get(..5)
        .is_some_and(|name| name.eq_ignore_ascii_case(b"WARC-"))
}

/// Parses a whole header, including its empty line.
pub(crate) fn parse(bytes: &[u8]) -> Result<RecordHeader, String> {
    if !is_version_line(bytes) {
        return Err(format!("{} is not a version line", first_line(bytes)));
    }
    let mut header = RecordHeader::default();
    let mut kind = None;
    let mut length = None;
    for (name, value) in HeaderFields::after_first_line(bytes) {
        let is = |expected: &str| name.eq_ignore_ascii_case(expected.as_bytes());
        // The length is compared first, because there are millions of fields.
        match name.len() {
            9 if is("WARC-Type") => kind = Some(parse_kind(&value)),
            9 if is("WARC-Date") => header.date = Some(text(&value)),
            12 if is("Content-Type") => header.mime = Some(text(&value)),
            14 if is("Content-Length") => {
                let digits = text(&value);
                let parsed = digits.parse::<u64>();
                length = Some(parsed.map_err(|_| format!("Content-Length is {digits:?}"))?);
            }
            15 if is("WARC-IP-Address") => header.ip = Some(text(&value)),
            12 if is("WARC-Profile") => header.profile = Some(address(&value)),
            15 if is("WARC-Target-URI") => header.url = Some(address(&value)),
            19 if is("WARC-Payload-Digest") => header.payload_sha1 = parse_sha1(&value),
            19 if is("WARC-Refers-To-Date") => header.refers_to_date = Some(text(&value)),
            25 if is("WARC-Refers-To-Target-URI") => header.refers_to_url = Some(address(&value)),
            _ => {}
        }
    }
    header.kind = kind.ok_or("WARC-Type is missing")?;
    header.length = length.ok_or("Content-Length is missing")?;
    let filled = |text: &String| !text.is_empty();
    header.url = header.url.filter(filled);
    header.refers_to_url = header.refers_to_url.filter(filled);
    header.refers_to_date = header.refers_to_date.filter(filled);
    Ok(header)
}

fn parse_kind(value: &[u8]) -> RecordKind {
    const KINDS: [(&str, RecordKind); 8] = [
        ("response", RecordKind::Response),
        ("resource", RecordKind::Resource),
        ("conversion", RecordKind::Conversion),
        ("request", RecordKind::Request),
        ("metadata", RecordKind::Metadata),
        ("warcinfo", RecordKind::WarcInfo),
        ("revisit", RecordKind::Revisit),
        ("continuation", RecordKind::Continuation),
    ];
    KINDS
        .into_iter()
        .find(|(name, _)| value.eq_ignore_ascii_case(name.as_bytes()))
        .map_or(RecordKind::Other, |(_, kind)| kind)
}

/// The fields of a record header or an HTTP head: names without the colon, values trimmed and
/// unfolded.
pub(crate) struct HeaderFields<'a> {
    rest: &'a [u8],
}

impl<'a> HeaderFields<'a> {
    pub(crate) fn after_first_line(bytes: &'a [u8]) -> Self {
        let first = memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
        HeaderFields {
            rest: &bytes[first..],
        }
    }

    fn line(&mut self) -> Option<&'a [u8]> {
        let end = match memchr(b'\n', self.rest) {
            Some(end) => end + 1,
            None if self.rest.is_empty() => return None,
            None => self.rest.len(),
        };
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(line.trim_ascii_end())
    }
}

impl<'a> Iterator for HeaderFields<'a> {
    type Item = (&'a [u8], std::borrow::Cow<'a, [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.line()?;
            // A line without a colon is not a field. It is no reason to ignore the others.
            let Some(colon) = memchr(b':', line) else {
                continue;
            };
            let name = line[..colon].trim_ascii();
            let mut value = std::borrow::Cow::Borrowed(line[colon + 1..].trim_ascii());
            while let Some(b' ' | b'\t') = self.rest.first() {
                let Some(more) = self.line() else { break };
                let value = value.to_mut();
                value.push(b' ');
                value.extend_from_slice(more.trim_ascii_start());
            }
            return Some((name, value));
        }
    }
}

/// Decodes a value as UTF-8, as the standard requires, or as Latin-1, which older tools write.
pub(crate) fn text(value: &[u8]) -> String {
    match str::from_utf8(value.trim_ascii()) {
        Ok(text) => text.to_owned(),
        Err(_) => value
            .trim_ascii()
            .iter()
            .map(|&byte| char::from(byte))
            .collect(),
    }
}

/// Decodes a URL. The grammar in the first version of the standard has angle brackets around it,
/// which some writers copy.
fn address(value: &[u8]) -> String {
    let url = value.strip_prefix(b"<").unwrap_or(value);
    text(url.strip_suffix(b">").unwrap_or(url))
}

/// Parses a digest such as `sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ`, in base 32 or hexadecimal.
fn parse_sha1(value: &[u8]) -> Option<[u8; 20]> {
    let (algorithm, digits) = value.split_at_checked(memchr(b':', value)?)?;
    let digits = digits[1..].trim_ascii();
    if !algorithm.eq_ignore_ascii_case(b"sha1") && !algorithm.eq_ignore_ascii_case(b"sha-1") {
        return None;
    }
    let bits = match digits.len() {
        32 => 5,
        40 => 4,
        _ => return None,
    };
    let mut digest = [0; 20];
    for (ordinal, &digit) in digits.iter().enumerate() {
        let digit = match (bits, digit.to_ascii_uppercase()) {
            (5, letter @ b'A'..=b'Z') => letter - b'A',
            (5, figure @ b'2'..=b'7') => figure - b'2' + 26,
            (4, letter @ b'A'..=b'F') => letter - b'A' + 10,
            (4, figure @ b'0'..=b'9') => figure - b'0',
            _ => return None,
        };
        for bit in 0..bits {
            if digit >> (bits - 1 - bit) & 1 == 1 {
                let at = ordinal * bits + bit;
                digest[at / 8] |= 0x80 >> (at % 8);
            }
        }
    }
    Some(digest)
}

/// The first line of `bytes`, shortened and escaped for messages.
pub(crate) fn first_line(bytes: &[u8]) -> String {
    let line = bytes
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default();
    let shown = &line[..line.len().min(40)];
    let dots = if shown.len() < line.len() { "…" } else { "" };
    format!("\"{}{dots}\"", shown.trim_ascii_end().escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> RecordHeader {
        parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn names_are_case_insensitive_and_folded_values_are_joined() {
        let header = parsed(
            "WARC/1.0\r\nwarc-TYPE: response\r\nCONTENT-length: 12\r\nWARC-Target-URI: http://a/\r\n b\r\n\tc\r\n\r\n",
        );
        assert_eq!(header.kind, RecordKind::Response);
        assert_eq!(header.length, 12);
        assert_eq!(header.url.as_deref(), Some("http://a/ b c"));
    }

    #[test]
    fn a_version_line_in_lower_case_is_accepted() {
        let header = parsed("warc/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(header.kind, RecordKind::Response);
        let text = b"http://a/warc/1 WARC/1.0 warc/0.9";
        assert_eq!(beginnings(text).collect::<Vec<_>>(), [9, 16, 25]);
    }

    #[test]
    fn bare_line_feeds_and_old_versions_are_accepted() {
        let header = parsed("WARC/0.18\nWARC-Type: warcinfo\nContent-Length:0\n\n");
        assert_eq!(header.kind, RecordKind::WarcInfo);
    }

    #[test]
    fn angle_brackets_around_a_url_are_removed() {
        let header = parsed(
            "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\nWARC-Target-URI: <http://a/>\r\n\r\n",
        );
        assert_eq!(header.url.as_deref(), Some("http://a/"));
    }

    #[test]
    fn a_value_that_is_not_utf8_is_decoded_as_latin_1() {
        let header = parse(
            b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\nWARC-Target-URI: http://a/\xe9\r\n\r\n",
        )
        .unwrap();
        assert_eq!(header.url.as_deref(), Some("http://a/é"));
    }

    #[test]
    fn a_digest_is_parsed_in_base_32_and_in_hexadecimal() {
        let empty = [
            0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d, 0x32, 0x55, 0xbf, 0xef, 0x95, 0x60,
            0x18, 0x90, 0xaf, 0xd8, 0x07, 0x09,
        ];
        assert_eq!(
            parse_sha1(b"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
            Some(empty)
        );
        assert_eq!(
            parse_sha1(b"SHA1:da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            Some(empty)
        );
        assert_eq!(parse_sha1(b"sha256:da39a3ee"), None);
        assert_eq!(parse_sha1(b"sha1:"), None);
    }

    #[test]
    fn a_header_without_a_mandatory_field_is_invalid() {
        for bad in [
            "",
            "WARC/",
            "WARC/1\r\n\r\n",
            "WARC/1.0\r\nContent-Length: 0\r\n\r\n",
            "WARC/1.0\r\nWARC-Type: response\r\n\r\n",
            "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
        ] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }
}
