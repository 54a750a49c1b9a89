//! Detects the type of content by its first bytes.

/// The type of content by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentLooks {
    /// Certainly HTML: begins with a document type or the root element.
    HtmlDocument,
    /// Probably HTML: begins with an HTML element.
    Html,
    /// XML: begins with an XML declaration.
    Xml,
    /// Other text.
    Text,
    /// Binary content of this type.
    Binary(&'static str),
}

/// The number of bytes to check.
pub(crate) const SNIFFED_BYTES: usize = 4 << 10;

/// Magic numbers of formats.
const MAGIC: [(&[u8], &str); 37] = [
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe", "application/postscript"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\0\0\x01\0", "image/x-icon"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"BZh91AY&SY", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\x04\x22\x4d\x18", "application/x-lz4"),
    (b"\x7fELF", "application/x-elf"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"\0asm", "application/wasm"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "application/x-ole-storage",
    ),
    (b"OggS\0", "application/ogg"),
    (b"ID3\x02", "audio/mpeg"),
    (b"ID3\x03", "audio/mpeg"),
    (b"ID3\x04", "audio/mpeg"),
    (b"fLaC\0", "audio/flac"),
    (b"\x1a\x45\xdf\xa3", "video/webm"),
    (b"\0\x01\0\0\0", "font/ttf"),
    (b"OTTO\0", "font/otf"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"FLV\x01", "video/x-flv"),
    (b"PAR1", "application/vnd.apache.parquet"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\0\0\0\x0cjP  ", "image/jp2"),
];

/// Elements that pages begin with, from the MIME sniffing standard.
const ELEMENTS: [&[u8]; 21] = [
    b"head",
    b"script",
    b"iframe",
    b"h1",
    b"div",
    b"font",
    b"table",
    b"a",
    b"style",
    b"title",
    b"b",
    b"body",
    b"br",
    b"p",
    b"meta",
    b"link",
    b"base",
    b"center",
    b"frameset",
    b"noscript",
    b"h2",
];

/// Detects the type of `content` by its first bytes.
pub(crate) fn looks(content: &[u8]) -> ContentLooks {
    if encoding_rs::Encoding::for_bom(content)
        .is_some_and(|(encoding, _)| encoding != encoding_rs::UTF_8)
    {
        return ContentLooks::Text;
    }
    if utf32_mark(content).is_some() {
        return ContentLooks::Text;
    }
    let front = &content[..content.len().min(SNIFFED_BYTES)];
    let front = front.strip_prefix(b"\xef\xbb\xbf").unwrap_or(front);
    if let Some(kind) = magic(front) {
        return ContentLooks::Binary(kind);
    }
    if is_binary(front) {
        return ContentLooks::Binary("application/octet-stream");
    }
    markup(front).unwrap_or(ContentLooks::Text)
}

fn magic(front: &[u8]) -> Option<&'static str> {
    let at = |offset: usize, bytes: &[u8]| {
        front
            .get(offset..)
            .is_some_and(|rest| rest.starts_with(bytes))
    };
    if at(4, b"ftyp") {
        return Some("video/mp4");
    }
    if at(0, b"RIFF") && at(8, b"WEBP") {
        return Some("image/webp");
    }
    if at(0, b"RIFF") && (at(8, b"WAVE") || at(8, b"AVI ")) {
        return Some("video/x-msvideo");
    }
    MAGIC
        .iter()
        .find(|(bytes, _)| front.starts_with(bytes))
        .map(|(_, kind)| *kind)
}

/// Whether there are more control characters than in any text.
fn is_binary(front: &[u8]) -> bool {
    if utf16_without_mark(front).is_some() {
        return false;
    }
    // In chunks whose counts fit into a byte, so that the compiler can vectorise.
    let controls: usize = front
        .chunks(128)
        .map(|chunk| {
            let count = |count: u8, &byte: &u8| {
                let control = byte < 0x20 && !matches!(byte, 9 | 10 | 12 | 13 | 0x1b);
                count + u8::from(control)
            };
            usize::from(chunk.iter().fold(0, count))
        })
        .sum();
    // By the standard, one is enough. Real pages sometimes contain a stray one; in programs and
    // images they are a tenth.
    controls * 50 > front.len()
}

/// The order of the bytes of UTF-32.
pub(crate) enum Utf32 {
    Little,
    Big,
}

/// Detects the byte order mark of UTF-32.
pub(crate) fn utf32_mark(front: &[u8]) -> Option<Utf32> {
    match front.first_chunk()? {
        [0xff, 0xfe, 0, 0] => Some(Utf32::Little),
        [0, 0, 0xfe, 0xff] => Some(Utf32::Big),
        _ => None,
    }
}

/// Detects UTF-16 without a byte order mark: in Latin text, every other byte is zero.
pub(crate) fn utf16_without_mark(front: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let front = &front[..front.len().min(512)];
    let (pairs, rest) = front.as_chunks::<2>();
    if pairs.len() < 4 || !rest.is_empty() && front.len() < 512 {
        return None;
    }
    let zeros = |side: usize| pairs.iter().filter(|pair| pair[side] == 0).count();
    let (first, second) = (zeros(0), zeros(1));
    if first == 0 && second * 10 > pairs.len() * 7 {
        Some(encoding_rs::UTF_16LE)
    } else if second == 0 && first * 10 > pairs.len() * 7 {
        Some(encoding_rs::UTF_16BE)
    } else {
        None
    }
}

fn markup(front: &[u8]) -> Option<ContentLooks> {
    let mut rest = front.trim_ascii_start();
    if starts_with(rest, b"<?xml") {
        // An HTML document may follow the declaration.
        let after = memchr::memmem::find(rest, b"?>").map(|end| rest[end + 2..].trim_ascii_start());
        return Some(match after {
            Some(after) if is_document(after) => ContentLooks::HtmlDocument,
            _ => ContentLooks::Xml,
        });
    }
    let commented = rest.starts_with(b"<!--");
    while rest.starts_with(b"<!--") {
        let Some(end) = memchr::memmem::find(rest, b"-->") else {
            return Some(ContentLooks::Html);
        };
        rest = rest[end + 3..].trim_ascii_start();
    }
    if is_document(rest) {
        return Some(ContentLooks::HtmlDocument);
    }
    let name = rest.strip_prefix(b"<").unwrap_or_default();
    let element = ELEMENTS.iter().any(|element| {
        starts_with(name, element)
            && name
                .get(element.len())
                .is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))
    });
    (commented || element).then_some(ContentLooks::Html)
}

fn is_document(rest: &[u8]) -> bool {
    starts_with(rest, b"<!doctype html") || starts_with(rest, b"<html")
}

fn starts_with(bytes: &[u8], lower: &[u8]) -> bool {
    bytes
        .get(..lower.len())
        .is_some_and(|front| front.eq_ignore_ascii_case(lower))
}
