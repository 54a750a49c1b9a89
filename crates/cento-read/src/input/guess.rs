//! Detects the format of a file by its name or its first bytes.

use std::io::{self, Read};

use serde::de::IgnoredAny;

use crate::Format;
use crate::arc;
use crate::bytes::{FRONT, LONGEST_MAGIC, may_be_packed, packing_of, unpack_front, unpacked_name};
use crate::decode::sniff::{self, ContentLooks};
use crate::warc::header;

/// What a file seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guess {
    /// A supported format.
    Format(Format),
    /// `.json`: may be JSON Lines.
    MaybeJsonLines,
    /// A known format that is not supported.
    Unsupported(&'static str),
    /// A part of a page, such as an image.
    NotPage,
    /// Neither text nor a known format.
    Binary,
    /// The name does not show the format.
    Unknown,
}

/// The description of zip and similar files that do not contain WARC files.
pub(super) const ARCHIVE_OF_FILES: &str = "an archive of files";

/// Guesses the format by name. The extension of a compression format is ignored: compression is
/// detected by the first bytes.
pub(super) fn by_name(name: &str) -> Guess {
    let lower = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let Some((_, extension)) = unpacked_name(&lower).rsplit_once('.') else {
        return Guess::Unknown;
    };
    match extension {
        "warc" | "wet" | "wat" => Guess::Format(Format::Warc),
        "html" | "htm" | "xhtml" | "xht" | "shtml" | "xml" => Guess::Format(Format::Html),
        "txt" | "text" | "md" | "markdown" | "rst" => Guess::Format(Format::Text),
        "jsonl" | "ndjson" | "jsonlines" => Guess::Format(Format::JsonLines),
        "json" => Guess::MaybeJsonLines,
        "parquet" | "pq" => Guess::Format(Format::Parquet),
        "arc" => Guess::Format(Format::Arc),
        "wacz" => Guess::Format(Format::Wacz),
        "lzma" => Guess::Unsupported("LZMA"),
        "pdf" => Guess::Unsupported("PDF"),
        "zip" | "tar" | "tgz" | "7z" | "rar" => Guess::Unsupported(ARCHIVE_OF_FILES),
        "css" | "js" | "mjs" | "map" | "svg" | "png" | "jpg" | "jpeg" | "gif" | "ico" | "webp"
        | "avif" | "bmp" | "tif" | "tiff" | "woff" | "woff2" | "ttf" | "otf" | "eot" | "mp3"
        | "mp4" | "m4a" | "webm" | "ogg" | "wav" | "avi" | "mov" | "cdx" | "cdxj" => Guess::NotPage,
        _ => Guess::Unknown,
    }
}

/// Whether the guess by name is sufficient. The content of a file that was `named` by the user is
/// checked even if its name is that of a style sheet.
pub(super) fn is_conclusive(by_name: Guess, named: bool) -> bool {
    match by_name {
        Guess::Format(_) | Guess::Unsupported(_) => true,
        Guess::NotPage => !named,
        _ => false,
    }
}

/// Guesses the format by the first bytes of a file.
pub(super) fn by_content(mut file: impl Read) -> io::Result<Guess> {
    let mut front = Vec::new();
    let mut wanted = sniff::SNIFFED_BYTES;
    file.by_ref().take(wanted as u64).read_to_end(&mut front)?;
    if front.len() == wanted && packing_of(&front).is_some() {
        wanted = FRONT;
        let more = wanted.saturating_sub(front.len()) as u64;
        file.take(more).read_to_end(&mut front)?;
    }
    let whole = front.len() < wanted;
    Ok(by_front(&front, whole))
}

/// Guesses the format by the first bytes, or by all bytes if `whole`.
pub(super) fn by_front(front: &[u8], whole: bool) -> Guess {
    match packing_of(front).map(|packing| unpack_front(front, packing, sniff::SNIFFED_BYTES)) {
        Some(unpacked) => by_unpacked(&unpacked, whole && unpacked.len() < sniff::SNIFFED_BYTES),
        None => by_unpacked(front, whole),
    }
}

/// Returns the format of a stream of which only the beginning has arrived, if no further byte can
/// change it: archives by their first line, JSON Lines by a complete first line.
pub(super) fn by_begun_stream(front: &[u8]) -> Option<Format> {
    if may_be_packed(front) && front.len() < LONGEST_MAGIC {
        return None;
    }
    let unpacked;
    let front = match packing_of(front) {
        Some(packing) => {
            unpacked = unpack_front(front, packing, sniff::SNIFFED_BYTES);
            &unpacked
        }
        None => front,
    };
    let begin = front.trim_ascii_start();
    let decisive = header::begins(begin)
        || begin.starts_with(arc::BEGINNING)
        || (memchr::memchr(b'\n', begin).is_some() && is_json_lines(begin, false));
    match by_unpacked(front, false) {
        Guess::Format(format) if decisive => Some(format),
        _ => None,
    }
}

fn by_unpacked(front: &[u8], whole: bool) -> Guess {
    let begin = front.trim_ascii_start();
    if header::begins(begin) {
        return Guess::Format(Format::Warc);
    }
    if begin.starts_with(b"PAR1") {
        return Guess::Format(Format::Parquet);
    }
    if begin.starts_with(arc::BEGINNING) {
        return Guess::Format(Format::Arc);
    }
    if is_json_lines(begin, whole) {
        return Guess::Format(Format::JsonLines);
    }
    match sniff::looks(front) {
        ContentLooks::HtmlDocument | ContentLooks::Html | ContentLooks::Xml => {
            Guess::Format(Format::Html)
        }
        ContentLooks::Text => Guess::Format(Format::Text),
        ContentLooks::Binary("application/zip") => Guess::Unsupported(ARCHIVE_OF_FILES),
        ContentLooks::Binary(_) => Guess::Binary,
    }
}

/// Whether the first line is an object, as far as it is visible.
fn is_json_lines(front: &[u8], whole: bool) -> bool {
    let front = front.strip_prefix(b"\xef\xbb\xbf").unwrap_or(front);
    if !front.starts_with(b"{") {
        return false;
    }
    match memchr::memchr(b'\n', front) {
        Some(end) => serde_json::from_slice::<IgnoredAny>(&front[..end]).is_ok(),
        None if whole => serde_json::from_slice::<IgnoredAny>(front).is_ok(),
        None => front[1..].trim_ascii_start().starts_with(b"\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_shows_the_format_compressed_or_not() {
        for (name, guess) in [
            ("a/b.warc.gz", Guess::Format(Format::Warc)),
            ("a/b.warc.wet.gz", Guess::Format(Format::Warc)),
            ("a/b.arc.gz", Guess::Format(Format::Arc)),
            ("INDEX.HTML", Guess::Format(Format::Html)),
            ("a.html.gz", Guess::Format(Format::Html)),
            ("notes.md", Guess::Format(Format::Text)),
            ("a.jsonl.gz", Guess::Format(Format::JsonLines)),
            ("a.json", Guess::MaybeJsonLines),
            ("a.parquet", Guess::Format(Format::Parquet)),
            ("a.wacz", Guess::Format(Format::Wacz)),
            ("a.warc.zst", Guess::Format(Format::Warc)),
            ("a.warc.lz4", Guess::Format(Format::Warc)),
            ("a.jsonl.bz2", Guess::Format(Format::JsonLines)),
            ("a.TXT.XZ", Guess::Format(Format::Text)),
            ("a.zst", Guess::Unknown),
            ("a.css", Guess::NotPage),
            ("a.gz", Guess::Unknown),
            ("html", Guess::Unknown),
            ("folder.html/file", Guess::Unknown),
        ] {
            assert_eq!(by_name(name), guess, "{name}");
        }
    }

    #[test]
    fn the_beginning_of_a_stream_decides_as_soon_as_it_can_and_as_the_whole_would() {
        let line = b"{\"text\": \"a\"}\n";
        for (front, format) in [
            (b"WARC/".as_slice(), Format::Warc),
            (b"\r\nwarc/", Format::Warc),
            (line, Format::JsonLines),
            (b"filedesc://", Format::Arc),
        ] {
            let decided = (0..=front.len()).find(|&end| by_begun_stream(&front[..end]).is_some());
            assert_eq!(decided, Some(front.len()), "{}", front.escape_ascii());
            assert_eq!(by_begun_stream(front), Some(format));
            assert_eq!(by_front(front, false), Guess::Format(format));
            let packed = packed(front);
            assert_eq!(by_begun_stream(&packed), Some(format));
            assert_eq!(by_begun_stream(&packed[..2]), None);
        }
        for undecided in [
            b"".as_slice(),
            b"<!DOCTYPE html>",
            b"Once upon",
            b"{\"text\": 1",
        ] {
            assert_eq!(by_begun_stream(undecided), None);
        }
    }

    fn packed(content: &[u8]) -> Vec<u8> {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_first_bytes_show_the_format() {
        for (front, guess) in [
            (b"WARC/1.0\r\n".as_slice(), Guess::Format(Format::Warc)),
            (b"warc/1.0\r\n", Guess::Format(Format::Warc)),
            (b"PAR1\x15\x04", Guess::Format(Format::Parquet)),
            (
                b"{\"text\": \"a\"}\n{\"text",
                Guess::Format(Format::JsonLines),
            ),
            (b"{\"text\": \"a\"}", Guess::Format(Format::JsonLines)),
            (b"{\n  \"text\": \"a\"\n}", Guess::Format(Format::Text)),
            (b" <!DOCTYPE html>", Guess::Format(Format::Html)),
            (b"Once upon a time", Guess::Format(Format::Text)),
            (b"", Guess::Format(Format::Text)),
            (b"filedesc://a 1.2.3.4", Guess::Format(Format::Arc)),
            (b"PK\x03\x04", Guess::Unsupported("an archive of files")),
            (&[0; 64], Guess::Binary),
        ] {
            assert_eq!(
                by_front(front, true),
                guess,
                "{:?}",
                front.escape_ascii().to_string()
            );
        }
    }
}
