//! The header of a WARC record.

use memchr::memchr;

/// How every record begins, in every version of the format.
pub(crate) const BEGINNING: &[u8] = b"WARC/";

/// Whether a record may begin with `bytes`: with [`BEGINNING`], which some writers put in small
/// letters.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    bytes
        .get(..BEGINNING.len())
        .is_some_and(|front| front.eq_ignore_ascii_case(BEGINNING))
}

/// The places in `bytes` at which a record [may begin](begins).
pub(crate) fn beginnings(bytes: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(b'/', bytes)
        .filter_map(|slash| slash.checked_sub(BEGINNING.len() - 1))
        .filter(|&at| begins(&bytes[at..]))
}

/// What of a record's header matters here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
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
pub(crate) enum Kind {
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

/// Where the header that `bytes` begin with ends: after its empty line. Nothing if that is not
/// there yet.
pub(crate) fn end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let line = memchr(b'\n', &bytes[at..])?;
        // A file that went through a translation of line ends once too often has several returns.
        if bytes[at..at + line].iter().all(|&byte| byte == b'\r') {
            return Some(at + line + 1);
        }
        at += line + 1;
    }
}

/// Whether a line that is the first of a record begins with `bytes`: `WARC/1.0` and an end of line.
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

/// Whether a version line, with which `bytes` begin, is followed by a field of a record.
pub(crate) fn has_field(bytes: &[u8]) -> bool {
    let first = memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
    bytes[first..]
        .get(..5)
        .is_some_and(|name| name.eq_ignore_ascii_case(b"WARC-"))
}

/// Reads a whole header, its empty line included.
pub(crate) fn parse(bytes: &[u8]) -> Result<Header, String> {
    if !is_version_line(bytes) {
        return Err(format!("{} is no version line", first_line(bytes)));
    }
    let mut header = Header::default();
    let mut kind = None;
    let mut length = None;
    for (name, value) in Fields::after_first_line(bytes) {
        let is = |expected: &str| name.eq_ignore_ascii_case(expected.as_bytes());
        // By length first: a header has a dozen fields, an archive a hundred thousand headers.
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
    header.kind = kind.ok_or("there is no WARC-Type")?;
    header.length = length.ok_or("there is no Content-Length")?;
    let filled = |text: &String| !text.is_empty();
    header.url = header.url.filter(filled);
    header.refers_to_url = header.refers_to_url.filter(filled);
    header.refers_to_date = header.refers_to_date.filter(filled);
    Ok(header)
}

fn parse_kind(value: &[u8]) -> Kind {
    const KINDS: [(&str, Kind); 8] = [
        ("response", Kind::Response),
        ("resource", Kind::Resource),
        ("conversion", Kind::Conversion),
        ("request", Kind::Request),
        ("metadata", Kind::Metadata),
        ("warcinfo", Kind::WarcInfo),
        ("revisit", Kind::Revisit),
        ("continuation", Kind::Continuation),
    ];
    KINDS
        .into_iter()
        .find(|(name, _)| value.eq_ignore_ascii_case(name.as_bytes()))
        .map_or(Kind::Other, |(_, kind)| kind)
}

/// The fields of a header, of an archive's or of HTTP: names without the colon, values trimmed and
/// unfolded.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn after_first_line(bytes: &'a [u8]) -> Self {
        let first = memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
        Fields {
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

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a [u8], std::borrow::Cow<'a, [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.line()?;
            // A line without a colon is no field; nothing is gained by giving up the rest for it.
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

/// A value as text: UTF-8 as the standard says, else Latin-1 as older tools write.
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

/// A URL, without the angle brackets in which the first version of the standard showed it: some
/// writers obey.
fn address(value: &[u8]) -> String {
    let url = value.strip_prefix(b"<").unwrap_or(value);
    text(url.strip_suffix(b">").unwrap_or(url))
}

/// A digest such as `sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ`, in base 32 or in hexadecimal digits.
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

/// The first line of `bytes`, short and fit to be shown.
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

    fn parsed(text: &str) -> Header {
        parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn names_are_read_in_any_case_and_folded_values_are_joined() {
        let header = parsed(
            "WARC/1.0\r\nwarc-TYPE: response\r\nCONTENT-length: 12\r\nWARC-Target-URI: http://a/\r\n b\r\n\tc\r\n\r\n",
        );
        assert_eq!(header.kind, Kind::Response);
        assert_eq!(header.length, 12);
        assert_eq!(header.url.as_deref(), Some("http://a/ b c"));
    }

    #[test]
    fn a_version_line_in_small_letters_will_do() {
        let header = parsed("warc/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(header.kind, Kind::Response);
        let text = b"http://a/warc/1 WARC/1.0 warc/0.9";
        assert_eq!(beginnings(text).collect::<Vec<_>>(), [9, 16, 25]);
    }

    #[test]
    fn bare_line_feeds_and_old_versions_will_do() {
        let header = parsed("WARC/0.18\nWARC-Type: warcinfo\nContent-Length:0\n\n");
        assert_eq!(header.kind, Kind::WarcInfo);
    }

    #[test]
    fn angle_brackets_around_an_address_are_dropped() {
        let header = parsed(
            "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\nWARC-Target-URI: <http://a/>\r\n\r\n",
        );
        assert_eq!(header.url.as_deref(), Some("http://a/"));
    }

    #[test]
    fn a_value_that_is_not_utf8_is_taken_for_latin_1() {
        let header = parse(
            b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\nWARC-Target-URI: http://a/\xe9\r\n\r\n",
        )
        .unwrap();
        assert_eq!(header.url.as_deref(), Some("http://a/é"));
    }

    #[test]
    fn a_digest_reads_the_same_in_base_32_and_in_hexadecimal() {
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
    fn a_header_lacking_what_it_must_have_is_refused() {
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
