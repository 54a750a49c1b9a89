//! What a page is, from what is said about it and from what it looks like.

use super::sniff::{Looks, looks};

/// What to do with content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Html,
    Text,
    /// Nothing to read.
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

/// Tells what content is. Gives its type as well: the declared one unless the content shows
/// otherwise.
pub(crate) fn classify(declared: Option<&str>, content: &[u8]) -> (Kind, String) {
    let looks = looks(content);
    let said = declared.map_or(Kind::Neither, kind_of);
    let vague = declared.is_none_or(is_vague);
    let keep = |fallback: &str| declared.unwrap_or(fallback).to_owned();
    match looks {
        // Whatever it is called, an image is no text. What is vaguely called is called by its
        // looks.
        Looks::Binary(kind) if vague || said != Kind::Neither => (Kind::Neither, kind.to_owned()),
        Looks::Binary(_) => (Kind::Neither, keep("application/octet-stream")),
        // Servers give error pages the type of what was asked for; a page that begins like one is
        // one.
        Looks::HtmlDocument if said == Kind::Html => (Kind::Html, keep("text/html")),
        Looks::HtmlDocument => (Kind::Html, "text/html".to_owned()),
        Looks::Html if vague => (Kind::Html, "text/html".to_owned()),
        Looks::Xml if vague => (Kind::Html, "application/xml".to_owned()),
        Looks::Text if vague => (Kind::Text, "text/plain".to_owned()),
        Looks::Html | Looks::Xml | Looks::Text => (said, keep("text/plain")),
    }
}

/// Types that say nothing.
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

fn kind_of(declared: &str) -> Kind {
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
        | "application/x-httpd-php" => Kind::Html,
        "image/svg+xml" => Kind::Neither,
        _ if declared.ends_with("+xml") => Kind::Html,
        // Programs, data and style, though they are text.
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
        | "text/x-cross-domain-policy" => Kind::Neither,
        "application/rtf" | "text/rtf" | "text/richtext" => Kind::Neither,
        "application/x-tex"
        | "application/x-latex"
        | "application/x-troff-man"
        | "message/rfc822" => Kind::Text,
        _ if declared.starts_with("text/") => Kind::Text,
        _ => Kind::Neither,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_as_declared_unless_the_content_shows_otherwise() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".as_slice();
        let zeros = [0; 100].as_slice();
        for (declared, content, kind, mime) in [
            (
                Some("text/html"),
                b"Hello".as_slice(),
                Kind::Html,
                "text/html",
            ),
            (
                Some("application/rss+xml"),
                b"<?xml version='1.0'?><rss>",
                Kind::Html,
                "application/rss+xml",
            ),
            (
                Some("image/svg+xml"),
                b"<?xml version='1.0'?><svg>",
                Kind::Neither,
                "image/svg+xml",
            ),
            (Some("text/plain"), b"Hello", Kind::Text, "text/plain"),
            (Some("text/plain"), b"<p>Hello", Kind::Text, "text/plain"),
            (
                Some("text/plain"),
                b"\n<!DOCTYPE HTML><p>Hello",
                Kind::Html,
                "text/html",
            ),
            (
                Some("text/markdown"),
                b"# Hello",
                Kind::Text,
                "text/markdown",
            ),
            (Some("text/css"), b"a { b: c }", Kind::Neither, "text/css"),
            (
                Some("application/json"),
                b"{}",
                Kind::Neither,
                "application/json",
            ),
            (
                Some("application/json"),
                b"<html><h1>404",
                Kind::Html,
                "text/html",
            ),
            (Some("image/png"), png, Kind::Neither, "image/png"),
            (
                Some("image/png"),
                b"<!doctype html>",
                Kind::Html,
                "text/html",
            ),
            (Some("text/html"), png, Kind::Neither, "image/png"),
            (
                Some("text/plain"),
                zeros,
                Kind::Neither,
                "application/octet-stream",
            ),
            (None, b"<p>Hello", Kind::Html, "text/html"),
            (None, b"<!-- a --><title>Hello", Kind::Html, "text/html"),
            (
                None,
                b"<?xml version='1.0'?><rss>",
                Kind::Html,
                "application/xml",
            ),
            (
                None,
                b"<?xml version='1.0'?>\n<!DOCTYPE html>",
                Kind::Html,
                "text/html",
            ),
            (None, b"Hello", Kind::Text, "text/plain"),
            (None, b"<3 you", Kind::Text, "text/plain"),
            (None, png, Kind::Neither, "image/png"),
            (
                Some("application/octet-stream"),
                b"Hello",
                Kind::Text,
                "text/plain",
            ),
            (Some("html"), b"<b>Hello", Kind::Html, "text/html"),
            (
                Some("application/pdf"),
                b"Hello",
                Kind::Neither,
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
    fn a_content_type_is_taken_apart() {
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
