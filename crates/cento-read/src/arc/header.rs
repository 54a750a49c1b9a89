//! Headers of ARC records. A header is one line.
//!
//! ```text
//!  version 1   URL IP-address Archive-date Content-type Archive-length
//!  version 2   URL IP-address Archive-date Content-type Result-code Checksum Location
//!              Offset Filename Archive-length
//! ```
//! The first record of a file contains the version, but it is not read when reading resumes, and it
//! may be damaged. It is not needed: an IP address followed by a date of 14 digits marks the end of
//! the URL, which may contain spaces, and the number of fields after the date shows the version.

use super::SCHEMES;
use crate::warc::header::{RecordHeader, RecordKind, first_line, text};

/// The longest name of a URL scheme.
const LONGEST_SCHEME: usize = 32;

/// The fields of a header line.
struct LineFields<'a> {
    url: &'a [u8],
    ip: &'a [u8],
    date: &'a [u8],
    mime: &'a [u8],
    length: u64,
}

/// Whether a line is a header.
pub(super) fn is_header(line: &[u8]) -> bool {
    // Few lines of a page end with a digit, and fewer begin with a scheme.
    line.trim_ascii_end().last().is_some_and(u8::is_ascii_digit)
        && may_begin(line)
        && split(line).is_some()
}

/// Whether `bytes` may be the beginning of a header: whether they begin with the scheme of a URL.
pub(super) fn may_begin(bytes: &[u8]) -> bool {
    let scheme = bytes
        .iter()
        .take(LONGEST_SCHEME)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
        .count();
    let begins = bytes.first().is_none_or(u8::is_ascii_alphabetic);
    begins && matches!(bytes.get(scheme), None | Some(b':'))
}

/// Finds a header at the end of a line that begins with something else: the record before it was
/// cut off, so no line end separates the two. The URL of such a header is assumed to have no
/// spaces.
pub(super) fn within_line(line: &[u8]) -> Option<usize> {
    if !line.trim_ascii_end().last().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let url = split(line)?.url;
    let word = url
        .iter()
        .rposition(|byte| byte.is_ascii_whitespace() || b"<>\"'".contains(byte))
        .map_or(0, |before| before + 1);
    SCHEMES
        .iter()
        .filter_map(|scheme| memchr::memmem::find(&url[word..], scheme))
        .min()
        .map(|at| word + at)
}

/// The number of letters before the scheme of a header: those of a word that was cut off, which
/// would otherwise count as part of the scheme.
pub(super) fn before_scheme(line: &[u8]) -> usize {
    let scheme = memchr::memchr(b':', line).map_or(line, |colon| &line[..=colon]);
    if SCHEMES
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
    {
        return 0;
    }
    SCHEMES
        .iter()
        .filter_map(|known| scheme.strip_suffix(*known))
        .map(<[u8]>::len)
        .min()
        .unwrap_or(0)
}

/// Parses a header.
pub(super) fn parse(bytes: &[u8]) -> Result<RecordHeader, String> {
    let fields = if may_begin(bytes) { split(bytes) } else { None };
    let Some(fields) = fields else {
        return Err(format!("{} is not a record header", first_line(bytes)));
    };
    let is_description = fields
        .url
        .get(..9)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"filedesc:"));
    Ok(RecordHeader {
        kind: if is_description {
            RecordKind::WarcInfo
        } else {
            RecordKind::Response
        },
        length: fields.length,
        url: Some(text(fields.url)),
        date: Some(text(fields.date)),
        ip: (fields.ip != b"-" && fields.ip != b"0.0.0.0").then(|| text(fields.ip)),
        mime: (!fields.mime.is_empty()).then(|| text(fields.mime)),
        ..RecordHeader::default()
    })
}

/// Splits a header into its fields. None if the line is not a header.
fn split(line: &[u8]) -> Option<LineFields<'_>> {
    let line = line.trim_ascii_end();
    let space = line.iter().rposition(|&byte| byte == b' ')?;
    let length = number(&line[space + 1..])?;
    // From the right, because a URL may contain text that looks like the fields after it.
    let mut end = space;
    loop {
        let begin = line[..end].iter().rposition(|&byte| byte == b' ')?;
        let date = &line[begin + 1..end];
        if is_date(date) {
            let before = line[..begin].iter().rposition(|&byte| byte == b' ')?;
            let (url, ip) = (line[..before].trim_ascii_end(), &line[before + 1..begin]);
            if !url.is_empty() && is_address(ip) {
                let rest = line[end..space].trim_ascii();
                return Some(LineFields {
                    url,
                    ip,
                    date,
                    mime: mime(rest),
                    length,
                });
            }
        }
        end = begin;
    }
}

/// The media type in the text between the date and the length: all of it, including spaces and
/// parameters, unless it consists of the six fields of version 2.
fn mime(rest: &[u8]) -> &[u8] {
    let fields: Vec<_> = rest.split(|&byte| byte == b' ').collect();
    match fields[..] {
        [mime, status, _, _, offset, _] if number(status).is_some() && number(offset).is_some() => {
            mime
        }
        _ => rest,
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    let all_digits = digits.iter().all(u8::is_ascii_digit);
    let digits = str::from_utf8(digits).ok().filter(|_| all_digits)?;
    digits.parse().ok()
}

/// Whether a field is a date, `YYYYMMDDhhmmss`. Some early crawlers omitted the seconds.
fn is_date(field: &[u8]) -> bool {
    matches!(field.len(), 12 | 14) && field.iter().all(u8::is_ascii_digit)
}

/// Whether a field is an IPv4 or IPv6 address, or `-` for an unknown address.
fn is_address(field: &[u8]) -> bool {
    field == b"-"
        || (2..=45).contains(&field.len())
            && field.iter().any(|byte| b".:".contains(byte))
            && field
                .iter()
                .all(|byte| byte.is_ascii_hexdigit() || b".:".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> RecordHeader {
        assert!(is_header(line.trim_end().as_bytes()), "{line}");
        parse(line.as_bytes()).unwrap()
    }

    #[test]
    fn both_versions_are_recognised_by_their_fields() {
        let expected = RecordHeader {
            kind: RecordKind::Response,
            length: 42,
            url: Some("http://a/b".into()),
            date: Some("20080430204825".into()),
            ip: Some("192.0.2.1".into()),
            mime: Some("text/html".into()),
            ..RecordHeader::default()
        };
        for line in [
            "http://a/b 192.0.2.1 20080430204825 text/html 42\n",
            "http://a/b 192.0.2.1 20080430204825 text/html 42\r\n",
            "http://a/b 192.0.2.1 20080430204825 text/html 200 fac06915 - 209 a.arc.gz 42\n",
        ] {
            assert_eq!(parsed(line), expected);
        }
    }

    #[test]
    fn a_url_may_contain_spaces_and_text_that_looks_like_other_fields() {
        for url in [
            "http://a/b?title=Examples From The Live Web&c",
            "http://a/ 192.0.2.1 20080430204825 text/html 42",
            "http://a/ 1 2 3",
        ] {
            let header = parsed(&format!("{url} 192.0.2.1 20080430204825 text/html 42\n"));
            assert_eq!(header.url.as_deref(), Some(url));
        }
    }

    #[test]
    fn a_type_may_have_parameters_or_be_missing() {
        for (between, mime) in [
            ("text/html; charset=utf-8", Some("text/html; charset=utf-8")),
            ("no-type", Some("no-type")),
            ("", None),
        ] {
            let header = parsed(&format!("http://a/ ::1 20080430204825 {between} 42\n"));
            assert_eq!(header.mime.as_deref(), mime);
            assert_eq!(header.ip.as_deref(), Some("::1"));
        }
        let header = parsed("dns:a 0.0.0.0 20080430204825 42\n");
        assert_eq!((header.mime, header.ip), (None, None));
    }

    #[test]
    fn a_header_is_found_at_the_end_of_a_line_that_was_cut_off() {
        for (line, at) in [
            (
                "<p>cut ofhttp://a/b 192.0.2.1 20080430204825 text/html 42",
                Some(9),
            ),
            (
                "x <a href=\"http://c/\">http://a/http://b/ 192.0.2.1 20080430204825 text/html 42",
                Some(22),
            ),
            ("<p>cut off 192.0.2.1 20080430204825 text/html 42", None),
            (
                "<p>cut ofhttp://a/b 192.0.2.1 20080430204825 text/html",
                None,
            ),
        ] {
            assert_eq!(within_line(line.as_bytes()), at, "{line}");
        }
        for (line, letters) in [
            ("centhttp://a/", 4),
            ("chttps://a/", 1),
            ("https://a/", 0),
            ("HTTP://a/", 0),
            ("gopher://a/http:", 0),
        ] {
            assert_eq!(before_scheme(line.as_bytes()), letters, "{line}");
        }
    }

    #[test]
    fn the_first_record_describes_the_file() {
        let header = parsed("filedesc://a.arc.gz 0.0.0.0 20080430204825 text/plain 76\n");
        assert_eq!(header.kind, RecordKind::WarcInfo);
    }

    #[test]
    fn a_line_with_a_missing_or_invalid_field_is_not_a_header() {
        for line in [
            "",
            "42",
            "http://a/ 192.0.2.1 20080430204825 text/html",
            "http://a/ 192.0.2.1 20080430204825 text/html -1",
            "http://a/ 192.0.2.1 20080430204825 text/html abc",
            "http://a/ 192.0.2.1 20080430204825 text/html 99999999999999999999999",
            "http://a/ 192.0.2.1 null text/html 42",
            "http://a/ 192.0.2.1 201404010000000000 text/html 42",
            "http://a/ example 20080430204825 text/html 42",
            "192.0.2.1 20080430204825 text/html 42",
            " http://a/ 192.0.2.1 20080430204825 text/html 42",
            "/a 192.0.2.1 20080430204825 text/html 42",
            "URL IP-address Archive-date Content-type Archive-length",
        ] {
            assert!(!is_header(line.as_bytes()), "{line}");
            assert!(parse(line.as_bytes()).is_err(), "{line}");
        }
    }
}
