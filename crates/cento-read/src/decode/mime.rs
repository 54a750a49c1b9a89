//! Media types of pages, as declared and by content.

use super::sniff::{ContentLooks, looks};

/// How content is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediaKind {
    Html,
    Text,
    /// Content without text.
    Neither,
}

/// The type in a `Content-Type` header, in lower case and without parameters.
pub(crate) fn essence(header: &str) -> Option<String> {
    let essence = header.split([';', ',']).next().unwrap_or_default().trim();
    (!essence.is_empty()).then(|| essence.to_ascii_lowercase())
}

/// The character set in a `Content-Type` header.
pub(crate) fn charset(header: &str) -> Option<&str> {
    header.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(value)
    })
}

/// Classifies content. Also returns its media type: the declared one unless the content contradicts
/// it.
pub(crate) fn classify(declared: Option<&str>, content: &[u8]) -> (MediaKind, String) {
    let looks = looks(content);
    let declared_kind = declared.map_or(MediaKind::Neither, kind_of);
    let vague = declared.is_none_or(is_vague);
    let keep = |fallback: &str| declared.unwrap_or(fallback).to_owned();
    match looks {
        // An image is not text, whatever is declared. A vague type is replaced.
        ContentLooks::Binary(kind) if vague || declared_kind != MediaKind::Neither => {
            (MediaKind::Neither, kind.to_owned())
        }
        ContentLooks::Binary(_) => (MediaKind::Neither, keep("application/octet-stream")),
        // Servers send error pages with the type of the requested file. Content that begins like a
        // page is a page.
        ContentLooks::HtmlDocument if declared_kind == MediaKind::Html => {
            (MediaKind::Html, keep("text/html"))
        }
        ContentLooks::HtmlDocument => (MediaKind::Html, "text/html".to_owned()),
        ContentLooks::Html if vague => (MediaKind::Html, "text/html".to_owned()),
        ContentLooks::Xml if vague => (MediaKind::Html, "application/xml".to_owned()),
        ContentLooks::Text if vague => (MediaKind::Text, "text/plain".to_owned()),
        ContentLooks::Html | ContentLooks::Xml | ContentLooks::Text => {
            (declared_kind, keep("text/plain"))
        }
    }
}

/// Whether a declared type says nothing about the content.
fn is_vague(declared: &str) -> bool {
    matches!(
        declared,
        "application/octet-stream"
            | "binary/octet-stream"
            | "application/binary"
            | "application/unknown"
            | "unknown/unknown"
            | "unknown"
            | "*/*"
            | "application/x-unknown"
            | "application/force-download"
            | "application/x-download"
            | "application/download"
            | "httpd/unix-directory"
            | "content/unknown"
            | "no-type"
            | "text/unknown"
    ) || !declared.contains('/')
}

fn kind_of(declared: &str) -> MediaKind {
    match declared {
        "text/html"
        | "application/xhtml+xml"
        | "text/xml"
        | "application/xml"
        | "text/htm"
        | "application/html"
        | "text/xhtml"
        | "application/xhtml"
        | "text/x-server-parsed-html"
        | "application/x-httpd-php" => MediaKind::Html,
        "image/svg+xml" => MediaKind::Neither,
        _ if declared.ends_with("+xml") => MediaKind::Html,
        // Programs, data and style sheets.
        "text/css"
        | "text/javascript"
        | "text/ecmascript"
        | "text/jscript"
        | "text/x-javascript"
        | "text/json"
        | "text/x-json"
        | "text/vbscript"
        | "text/calendar"
        | "text/vcard"
        | "text/x-vcard"
        | "text/cache-manifest"
        | "text/vtt"
        | "text/dns"
        | "text/x-component"
        | "text/event-stream"
        | "text/css2"
        | "text/x-cross-domain-policy" => MediaKind::Neither,
        "application/rtf" | "text/rtf" | "text/richtext" => MediaKind::Neither,
        "application/x-tex"
        | "application/x-latex"
        | "application/x-troff-man"
        | "message/rfc822" => MediaKind::Text,
        _ if declared.starts_with("text/") => MediaKind::Text,
        _ => MediaKind::Neither,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_type_is_used_unless_the_content_contradicts_it() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".as_slice();
        let zeros = [0; 100].as_slice();
        for (declared, content, kind, mime) in [
            (
                Some("text/html"),
                b"Hello".as_slice(),
                MediaKind::Html,
                "text/html",
            ),
            (
                Some("application/rss+xml"),
                b"<?xml version='1.0'?><rss>",
                MediaKind::Html,
                "application/rss+xml",
            ),
            (
                Some("image/svg+xml"),
                b"<?xml version='1.0'?><svg>",
                MediaKind::Neither,
                "image/svg+xml",
            ),
            (Some("text/plain"), b"Hello", MediaKind::Text, "text/plain"),
            (
                Some("text/plain"),
                b"<p>Hello",
                MediaKind::Text,
                "text/plain",
            ),
            (
                Some("text/plain"),
                b"\n<!DOCTYPE HTML><p>Hello",
                MediaKind::Html,
                "text/html",
            ),
            (
                Some("text/markdown"),
                b"# Hello",
                MediaKind::Text,
                "text/markdown",
            ),
            (
                Some("text/css"),
                b"a { b: c }",
                MediaKind::Neither,
                "text/css",
            ),
            (
                Some("application/json"),
                b"{}",
                MediaKind::Neither,
                "application/json",
            ),
            (
                Some("application/json"),
                b"<html><h1>404",
                MediaKind::Html,
                "text/html",
            ),
            (Some("image/png"), png, MediaKind::Neither, "image/png"),
            (
                Some("image/png"),
                b"<!doctype html>",
                MediaKind::Html,
                "text/html",
            ),
            (Some("text/html"), png, MediaKind::Neither, "image/png"),
            (
                Some("text/plain"),
                zeros,
                MediaKind::Neither,
                "application/octet-stream",
            ),
            (None, b"<p>Hello", MediaKind::Html, "text/html"),
            (
                None,
                b"<!-- a --><title>Hello",
                MediaKind::Html,
                "text/html",
            ),
            (
                None,
                b"<?xml version='1.0'?><rss>",
                MediaKind::Html,
                "application/xml",
            ),
            (
                None,
                b"<?xml version='1.0'?>\n<!DOCTYPE html>",
                MediaKind::Html,
                "text/html",
            ),
            (None, b"Hello", MediaKind::Text, "text/plain"),
            (None, b"<3 you", MediaKind::Text, "text/plain"),
            (None, png, MediaKind::Neither, "image/png"),
            (
                Some("application/octet-stream"),
                b"Hello",
                MediaKind::Text,
                "text/plain",
            ),
            (Some("html"), b"<b>Hello", MediaKind::Html, "text/html"),
            (
                Some("application/pdf"),
                b"Hello",
                MediaKind::Neither,
                "application/pdf",
            ),
        ] {
            let shown = String::from_utf8_lossy(content);
            assert_eq!(
                classify(declared, content),
                (kind, mime.to_owned()),
                "{declared:?} {shown}"
            );
        }
    }

    #[test]
    fn a_content_type_header_is_parsed() {
        assert_eq!(
            essence("Text/HTML; charset=utf-8").as_deref(),
            Some("text/html")
        );
        assert_eq!(essence(" ; charset=utf-8"), None);
        assert_eq!(charset("text/html; Charset=\"UTF-8\""), Some("UTF-8"));
        assert_eq!(
            charset("text/html;version=1 ; charset='big5'"),
            Some("big5")
        );
        assert_eq!(charset("text/html; charset="), None);
        assert_eq!(charset("text/html"), None);
    }
}
