//! Revisit records: pages that had not changed when they were fetched again.
//!
//! ```text
//!  ┌ response ──────────────┐          ┌ revisit ────────────────────────────────┐
//!  │ http://a/   May        │    ←     │ http://a/   June                        │
//!  │ HTTP head │ payload    │          │ refers to http://a/ in May              │
//!  │             sha1:3I42… │          │ HTTP head │ sha1:3I42…, no payload      │
//!  └────────────────────────┘          └─────────────────────────────────────────┘
//! ```
//! Such a page is an exact copy of the page that it refers to and has the same digest. Only the
//! other page has the content.

use sha1::{Digest, Sha1};

use super::{http, mime, rejected};
use crate::{Decoded, Page, Reject};

/// Completes the page of a revisit record. `page` already has the declared digest and references.
///
/// The payload length is 0: the payload is not stored, and the archive does not contain its length.
pub(super) fn page(mut page: Page, block: &[u8], not_modified: bool) -> Decoded {
    if let Some(head) = http::parse(block) {
        page.status = Some(head.status);
        page.mime = head.content_type.as_deref().and_then(mime::essence);
        page.language = page.language.or(head.language);
    }
    // A "not modified" response has no body. Some crawlers write the digest of the empty body, with
    // which all such pages would be duplicates of one another.
    if not_modified && page.payload_sha1 == Some(Sha1::digest(b"").into()) {
        page.payload_sha1 = None;
    }
    let detail = detail(&page);
    rejected(page, Reject::Revisit, detail)
}

/// Describes the original page, as exactly as the archive allows.
fn detail(page: &Page) -> String {
    match (
        &page.revisit_of_url,
        &page.revisit_of_date,
        &page.payload_sha1,
    ) {
        (Some(url), Some(date), _) => format!("of {url} at {date}"),
        (Some(url), None, _) => format!("of {url}"),
        (None, Some(date), _) => format!("of the page at {date}"),
        (None, None, Some(sha1)) => {
            let digits: String = sha1.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("of sha1:{digits}")
        }
        (None, None, None) => "of an unknown page".into(),
    }
}

#[cfg(test)]
mod tests {
    use crate::archive::revisit;
    use crate::bytes::{ByteOrigin, ByteSource, Stream};
    use crate::reader::RecordReader;
    use crate::warc::WarcReader;
    use crate::{Content, Decoded, Item, Limits, Packing, Reject, Settings, Start, decode};

    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n";
    const DIGEST: &str = "WARC-Payload-Digest: sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A";
    const EMPTY: &str = "WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
    const SAME: &str =
        "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest";
    const UNMODIFIED: &str =
        "WARC-Profile: <http://netpreserve.org/warc/1.1/revisit/server-not-modified>";

    fn decoded_within(limits: Limits, fields: &[&str], block: &[u8]) -> Decoded {
        let bytes = std::io::Cursor::new(revisit("http://a/", fields, block));
        let stream = Stream::new(
            ByteSource::new(ByteOrigin::Stream(Box::new(bytes))),
            Packing::Plain,
        );
        let settings = Settings {
            limits: limits.clone(),
            ..Settings::default()
        };
        let mut reader = WarcReader::new(stream, "test".into(), limits, Start::default());
        let Some(Item::Record(record)) = reader.next().unwrap() else {
            panic!("no record")
        };
        assert!(reader.next().unwrap().is_none());
        decode(record, &settings).unwrap()
    }

    fn decoded(fields: &[&str], block: &[u8]) -> Decoded {
        let decoded = decoded_within(Limits::default(), fields, block);
        let rejected = decoded.reject.as_ref().unwrap();
        assert_eq!(rejected.reason, Reject::Revisit);
        assert_eq!(decoded.page.content, Content::None);
        assert_eq!(decoded.page.payload_bytes, 0);
        decoded
    }

    fn detail(fields: &[&str]) -> String {
        decoded(fields, b"").reject.unwrap().detail
    }

    #[test]
    fn a_revisit_is_a_page_with_the_digest_that_it_declares() {
        let whole = [
            SAME,
            DIGEST,
            "WARC-Refers-To-Target-URI: <http://b/>",
            "WARC-Refers-To-Date: 2024-05-01T00:00:00.25Z",
        ];
        let page = decoded(&whole, HEAD).page;
        assert_eq!(page.url, "http://a/");
        assert_eq!(page.ip.as_deref(), Some("192.0.2.1"));
        assert_eq!(page.fetched.as_deref(), Some("2024-05-03T12:00:00Z"));
        assert_eq!(page.status, Some(200));
        assert_eq!(page.mime.as_deref(), Some("text/html"));
        assert_eq!(page.payload_sha1.unwrap()[..4], [0x0e, 0x97, 0x3b, 0x59]);
        assert_eq!(page.revisit_of_url.as_deref(), Some("http://b/"));
        assert_eq!(
            page.revisit_of_date.as_deref(),
            Some("2024-05-01T00:00:00.25Z")
        );
        let page = decoded(
            &["WARC-Payload-Digest: sha1:0e973b59f476007fd10f87f347c3956065516fc0"],
            b"",
        )
        .page;
        assert_eq!(page.payload_sha1.unwrap()[..4], [0x0e, 0x97, 0x3b, 0x59]);
        assert_eq!((page.status, page.mime), (None, None));
    }

    #[test]
    fn the_original_is_described_as_exactly_as_the_archive_allows() {
        let url = "WARC-Refers-To-Target-URI: http://b/";
        let date = "WARC-Refers-To-Date: 2024-05-01T00:00:00Z";
        assert_eq!(
            detail(&[DIGEST, url, date]),
            "of http://b/ at 2024-05-01T00:00:00Z"
        );
        assert_eq!(detail(&[DIGEST, url]), "of http://b/");
        assert_eq!(detail(&[date]), "of the page at 2024-05-01T00:00:00Z");
        assert_eq!(
            detail(&[DIGEST]),
            "of sha1:0e973b59f476007fd10f87f347c3956065516fc0"
        );
        assert_eq!(
            detail(&["WARC-Refers-To-Target-URI:"]),
            "of an unknown page"
        );
    }

    #[test]
    fn the_digest_of_an_empty_response_is_ignored() {
        let head = b"HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n";
        let page = decoded(&[UNMODIFIED, EMPTY], head).page;
        assert_eq!((page.status, page.payload_sha1), (Some(304), None));
        assert!(
            decoded(&[UNMODIFIED, DIGEST], head)
                .page
                .payload_sha1
                .is_some()
        );
        assert!(decoded(&[SAME, EMPTY], HEAD).page.payload_sha1.is_some());
    }

    #[test]
    fn a_revisit_with_a_payload_is_still_a_revisit() {
        let block = [HEAD, &[b'x'; 5_000]].concat();
        let limits = Limits {
            max_page_bytes: 1_000,
            max_header_bytes: 400,
            ..Limits::default()
        };
        for limits in [Limits::default(), limits] {
            let decoded = decoded_within(limits, &[SAME, DIGEST], &block);
            assert_eq!(decoded.reject.unwrap().reason, Reject::Revisit);
            assert_eq!(decoded.page.status, Some(200));
            assert_eq!(decoded.page.payload_sha1.unwrap()[..2], [0x0e, 0x97]);
        }
    }
}
