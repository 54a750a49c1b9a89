//! Small archives, written by hand.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(
    clippy::allow_attributes,
    reason = "the unused parts differ from test to test"
)]

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// One WARC record, with the line ends after it.
pub(crate) fn record(kind: &str, url: &str, mime: &str, block: &[u8]) -> Vec<u8> {
    let mut bytes = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-05-03T12:00:00Z\r\n\
         WARC-IP-Address: 192.0.2.1\r\nContent-Type: {mime}\r\nContent-Length: {}\r\n\r\n",
        block.len()
    )
    .into_bytes();
    bytes.extend_from_slice(block);
    bytes.extend_from_slice(b"\r\n\r\n");
    bytes
}

/// An HTTP response as a WARC record. `head` is the status line and the headers, without their line
/// ends.
pub(crate) fn response(url: &str, head: &[&str], body: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    for line in head {
        block.extend_from_slice(line.as_bytes());
        block.extend_from_slice(b"\r\n");
    }
    block.extend_from_slice(b"\r\n");
    block.extend_from_slice(body);
    record(
        "response",
        url,
        "application/http; msgtype=response",
        &block,
    )
}

/// One ARC record, with the line end after it.
pub(crate) fn arc_record(url: &str, mime: &str, block: &[u8]) -> Vec<u8> {
    let length = block.len();
    let mut bytes = format!("{url} 192.0.2.1 20240503120000 {mime} {length}\n").into_bytes();
    bytes.extend_from_slice(block);
    bytes.push(b'\n');
    bytes
}

/// The first record of an ARC file.
pub(crate) fn arc_description() -> Vec<u8> {
    arc_record(
        "filedesc://test.arc",
        "text/plain",
        b"1 0 Nobody\nURL IP-address Archive-date Content-type Archive-length\n",
    )
}

/// A revisit as a WARC record, with additional header `fields`.
pub(crate) fn revisit(url: &str, fields: &[&str], block: &[u8]) -> Vec<u8> {
    let usual = record("revisit", url, "application/http; msgtype=response", block);
    let mut bytes = b"WARC/1.0\r\n".to_vec();
    for field in fields {
        bytes.extend_from_slice(field.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(&usual[b"WARC/1.0\r\n".len()..]);
    bytes
}

/// One gzip member.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
