//! Decodes records into pages.
//!
//! ```text
//!  HTTP head │ transfer coding │ content coding │ type │ character set
//!  ──────────┴─────────────────┴────────────────┴──────┴──────────────→  UTF-8
//!                 ↑ the payload, which is digested
//! ```

mod charset;
mod coding;
mod http;
mod inflate;
mod mime;
mod prescan;
mod revisit;
mod row;
pub(crate) mod sniff;
mod squeeze;
#[cfg(test)]
mod tests;

use charset::Clues;
use mime::MediaKind;
use sha1::{Digest, Sha1};

use crate::record::{RecordBody, RecordMetadata};
use crate::warc::header::first_line;
use crate::{Content, Decoded, Limits, Page, Record, Reject, Rejected, Settings, Skipped};

/// Decodes a record into a page: removes HTTP, transfer and content codings, detects the media
/// type, and converts the content to UTF-8. This is a pure function, so any thread can run it. The
/// error is a record whose damage is found only here: a line that is not a JSON object, an object
/// without text.
pub fn decode(record: Record, settings: &Settings) -> Result<Decoded, Skipped> {
    let Record {
        place,
        url,
        ip,
        fetched,
        input,
        metadata,
        body,
    } = record;
    let RecordMetadata {
        published,
        title,
        language,
        mime,
        sha1: declared_sha1,
        id,
        row,
    } = metadata;
    let page = Page {
        url: url.unwrap_or_else(|| format!("{input}#{}", place.ordinal)),
        ip,
        fetched,
        published,
        title,
        language,
        id,
        row,
        status: None,
        mime: None,
        payload_bytes: 0,
        payload_sha1: None,
        revisit_of_url: None,
        revisit_of_date: None,
        content: Content::None,
    };
    match body {
        RecordBody::Http(block) => Ok(http_response(page, block, declared_sha1, settings)),
        RecordBody::Bytes(bytes) => {
            let mut page = page;
            digest(&mut page, &bytes);
            Ok(finish(page, bytes, mime.as_deref()))
        }
        RecordBody::Html(text) => Ok(row::page(page, text, true, settings)),
        RecordBody::Text(text) => Ok(row::page(page, text, false, settings)),
        RecordBody::Json { line, plan } => row::json(page, &line, &plan, place, settings),
        RecordBody::TooLarge {
            head,
            http,
            bytes,
            sha1,
        } => {
            let head = if http { http::parse(&head) } else { None };
            let mime = head.as_ref().map_or(mime, |head| head.content_type.clone());
            let page = Page {
                status: head.map(|head| head.status),
                mime: mime.as_deref().and_then(mime::essence),
                payload_bytes: bytes,
                payload_sha1: Some(sha1),
                ..page
            };
            let limit = settings.limits.max_page_bytes;
            let detail = format!("{bytes} bytes, the limit is {limit}");
            Ok(rejected(page, Reject::TooLarge, detail))
        }
        RecordBody::Revisit {
            block,
            not_modified,
            url,
            date,
        } => {
            let page = Page {
                payload_sha1: declared_sha1,
                revisit_of_url: url,
                revisit_of_date: date,
                ..page
            };
            Ok(revisit::page(page, &block, not_modified))
        }
    }
}

/// Decodes the content of one file of text or HTML: detects the media type and the character set,
/// and converts the content to UTF-8, as for a file that a [`Reader`](crate::Reader) reads. `name`
/// is the name of the file. Compressed files and archives are rejected as not text.
///
/// ```
/// use cento_read::{Content, decode_file};
///
/// let decoded = decode_file("page.html", b"<meta charset=latin1><p>caf\xe9".to_vec());
/// assert!(matches!(decoded.page.content, Content::Html(html) if html.ends_with("caf\u{e9}")));
/// ```
pub fn decode_file(name: &str, content: Vec<u8>) -> Decoded {
    let page = Page {
        url: name.to_owned(),
        ip: None,
        fetched: None,
        published: None,
        title: None,
        language: None,
        id: None,
        row: None,
        status: None,
        mime: None,
        payload_bytes: content.len() as u64,
        payload_sha1: None,
        revisit_of_url: None,
        revisit_of_date: None,
        content: Content::None,
    };
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let markup = ["html", "htm", "xhtml", "xht", "shtml"].iter();
    let is_markup = extension.is_some_and(|extension| {
        markup
            .clone()
            .any(|one| one.eq_ignore_ascii_case(extension))
    });
    finish(page, content, is_markup.then_some("text/html"))
}

fn http_response(
    mut page: Page,
    mut block: Vec<u8>,
    declared_sha1: Option<[u8; 20]>,
    settings: &Settings,
) -> Decoded {
    let Some(head) = http::parse(&block) else {
        digest(&mut page, &block);
        let detail = format!("the response begins with {}", first_line(&block));
        return rejected(page, Reject::BadHttp, detail);
    };
    let too_long = head_too_long(&block[..head.end], &settings.limits);
    page.status = Some(head.status);
    page.mime = head.content_type.as_deref().and_then(mime::essence);
    page.language = page.language.or(head.language);
    block.drain(..head.end);
    digest(&mut page, &block);
    if let Some(detail) = too_long {
        return rejected(page, Reject::HeaderTooLong, detail);
    }
    if head.chunked {
        // The standard does not say whether the payload is digested with its transfer coding.
        // Nearly all writers do so, some do not: the digest in the archive decides. Without one,
        // the coding is removed, because two copies should not differ by how a server cut them into
        // chunks.
        let as_stored = declared_sha1 == page.payload_sha1;
        if coding::dechunk(&mut block) && !as_stored {
            digest(&mut page, &block);
        }
    }
    if !settings.keep_status && !(200..300).contains(&head.status) {
        let detail = format!("status {}", head.status);
        return rejected(page, Reject::Status, detail);
    }
    match coding::undo(block, &head.codings, &settings.limits) {
        Ok(content) => finish(page, content, head.content_type.as_deref()),
        Err(reject) => Decoded {
            page,
            reject: Some(reject),
        },
    }
}

/// Describes the limit that the head of a response exceeds, if any.
fn head_too_long(head: &[u8], limits: &Limits) -> Option<String> {
    let limit = limits.max_header_bytes;
    if head.len() > limit {
        return Some(format!("{} bytes, the limit is {limit}", head.len()));
    }
    let lines = memchr::memchr_iter(b'\n', head).count();
    let limit = limits.max_header_lines;
    (lines > limit).then(|| format!("{lines} lines, the limit is {limit}"))
}

/// Converts content without codings to text.
fn finish(mut page: Page, content: Vec<u8>, content_type: Option<&str>) -> Decoded {
    let declared = content_type.and_then(mime::essence);
    if content.is_empty() {
        page.mime = declared;
        return rejected(page, Reject::Empty, "no content".into());
    }
    let (kind, mime) = mime::classify(declared.as_deref(), &content);
    let clues = Clues {
        label: content_type.and_then(mime::charset),
        markup: kind == MediaKind::Html,
        url: Some(&page.url),
    };
    let text = match kind {
        MediaKind::Neither => {
            let detail = mime.clone();
            page.mime = Some(mime);
            return rejected(page, Reject::NotText, detail);
        }
        MediaKind::Html | MediaKind::Text => charset::decode(content, clues),
    };
    page.mime = Some(mime);
    match text {
        Err(reject) => Decoded {
            page,
            reject: Some(reject),
        },
        Ok(text) => with_text(page, text, kind == MediaKind::Html),
    }
}

fn with_text(mut page: Page, text: String, markup: bool) -> Decoded {
    if text.trim_start().is_empty() {
        return rejected(page, Reject::Empty, "only white space".into());
    }
    page.content = if markup {
        Content::Html(text)
    } else {
        Content::Text(text)
    };
    Decoded { page, reject: None }
}

fn rejected(page: Page, reason: Reject, detail: String) -> Decoded {
    Decoded {
        page,
        reject: Some(Rejected { reason, detail }),
    }
}

fn digest(page: &mut Page, payload: &[u8]) {
    page.payload_bytes = payload.len() as u64;
    page.payload_sha1 = Some(Sha1::digest(payload).into());
}
