//! Inputs: archives, lines, tables, responses, HTML, text and addresses.

use std::io::Write;

use cento_read::{Content, Format, Item, Limits, Place, Settings, Start, decode, resolve};
use cento_text::chunk::{ChunkKind, chunks};
use cento_text::content::{Selection, apply, select};
use cento_text::html::{Extractor, Options};
use cento_text::normal::{Normalisation, normalise};
use cento_text::url::{LinkResolver, PageUrl, RecursionLimits};
use cento_text::words::{count_words, for_each_word};
use cento_text::{date, language, plain};

/// The bytes are a WARC file, compressed or not.
pub fn archive(bytes: &[u8]) {
    read(bytes, Format::Warc);
}

/// The bytes are an ARC file, compressed or not.
pub fn arc(bytes: &[u8]) {
    read(bytes, Format::Arc);
}

/// The bytes are a WACZ file.
pub fn wacz(bytes: &[u8]) {
    read(bytes, Format::Wacz);
}

/// The bytes are JSON Lines, compressed or not.
pub fn lines(bytes: &[u8]) {
    read(bytes, Format::JsonLines);
}

/// The bytes are a Parquet table.
pub fn table(bytes: &[u8]) {
    read(bytes, Format::Parquet);
}

/// The bytes are an HTTP response in a valid archive: content codings, types and character sets.
pub fn response(bytes: &[u8]) {
    let mut archive = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n",
        bytes.len()
    )
    .into_bytes();
    archive.extend_from_slice(bytes);
    archive.extend_from_slice(b"\r\n\r\n");
    let pages = read(&archive, Format::Warc);
    assert!(pages <= 1, "one record yielded {pages} pages");
}

/// Small limits, so that small inputs reach them.
pub(crate) fn small_settings(format: Format) -> Settings {
    Settings {
        format: Some(format),
        keep_status: true,
        limits: Limits {
            max_page_bytes: 64 << 10,
            max_header_bytes: 4 << 10,
            max_header_lines: 50,
            max_line_bytes: 16 << 10,
            max_nesting: 100,
            ..Limits::default()
        },
        ..Settings::default()
    }
}

/// Reads all records, asserts the reader's guarantees, and returns the number of pages.
fn read(bytes: &[u8], format: Format) -> usize {
    let settings = small_settings(format);
    let Ok(mut file) = tempfile::NamedTempFile::new() else {
        return 0;
    };
    if file.write_all(bytes).is_err() {
        return 0;
    }
    let name = file.path().display().to_string();
    let Ok(resolved) = resolve(&[name], &settings) else {
        return 0;
    };
    let mut pages = 0;
    for input in &resolved.inputs {
        let mut places = Vec::new();
        let Ok(mut reader) = input.open(&settings, Start::default()) else {
            continue;
        };
        while let Ok(Some(item)) = reader.next() {
            let place = *item.place();
            let expected = places
                .last()
                .map_or(0, |before: &Place| before.next.ordinal);
            assert_eq!(place.ordinal, expected, "ordinals are consecutive");
            // The rows of a corrupted part of a table are lost together.
            let alone = place.next.ordinal == expected + 1;
            assert!(
                alone || format == Format::Parquet,
                "every record has an ordinal"
            );
            places.push(place);
            let Item::Record(record) = item else { continue };
            let Ok(decoded) = decode(record, &settings) else {
                continue;
            };
            pages += 1;
            let rejected = decoded.reject.is_some();
            assert_eq!(
                rejected,
                decoded.page.content == Content::None,
                "rejected pages have no content"
            );
        }
        // A resumed reader returns the rest.
        let Some(middle) = places.get(places.len() / 2) else {
            continue;
        };
        let Ok(mut reader) = input.open(&settings, middle.next) else {
            continue;
        };
        let mut rest = Vec::new();
        while let Ok(Some(item)) = reader.next() {
            rest.push(*item.place());
        }
        assert_eq!(
            rest,
            places[places.len() / 2 + 1..],
            "a resumed reader returns the rest"
        );
    }
    pages
}

/// The bytes are HTML.
pub fn html(bytes: &[u8]) {
    let page = String::from_utf8_lossy(bytes);
    let mut extractor = Extractor::new();
    let bare = extractor
        .extract(&page, &Options { outline: false })
        .text
        .clone();
    let extract = extractor.extract(&page, &Options { outline: true });
    assert_eq!(extract.text, bare, "the outline does not change the text");
    assert!(
        bare.len() <= 2 * page.len() + 16,
        "the text is not longer than its page"
    );
    assert!(
        !bare.contains("\n\n\n") && bare.trim_matches([' ', '\n', '\t']) == bare,
        "{bare:?}"
    );
    let mut selected = String::new();
    for selection in Selection::EVERY {
        let ranges = select(extract, selection);
        assert!(
            ranges
                .iter()
                .all(|range| bare.get(range.clone()).is_some_and(|part| !part.is_empty()))
        );
        assert!(ranges.is_sorted_by_key(|range| range.start));
        apply(&bare, &ranges, &mut selected);
    }
    let mut links = LinkResolver::new("http://a.example/b/c", extract.base.as_deref(), false);
    for link in extract.links() {
        links.resolve(link);
    }
    extract.published.as_deref().map(date::parse);
    text(bare.as_bytes());
}

/// The bytes are text.
pub fn text(bytes: &[u8]) {
    let input = String::from_utf8_lossy(bytes);
    let plain = plain::plain_text(&input);
    let text: &str = &plain;
    let mut count = 0;
    let mut end = 0;
    for_each_word(text, |word| {
        assert!(word.range.start >= end && word.range.start < word.range.end);
        assert!(
            text.get(word.range.clone()).is_some(),
            "words are on character boundaries"
        );
        assert!(!word.normal.is_empty());
        end = word.range.end;
        count += 1;
    });
    assert_eq!(count, count_words(text));
    let kinds = [
        ChunkKind::Paragraph,
        ChunkKind::Lines(2),
        ChunkKind::Sentences(2),
        ChunkKind::Words(3),
        ChunkKind::Document,
    ];
    let mut once = String::new();
    let mut twice = String::new();
    for kind in kinds {
        let mut end = 0;
        chunks(text, kind, |range| {
            assert!(range.start >= end, "chunks are in order");
            let chunk = text.get(range.clone());
            assert!(chunk.is_some_and(|chunk| !chunk.is_empty()));
            end = range.end;
            normalise(
                chunk.unwrap_or_default(),
                Normalisation::SpaceCase,
                &mut once,
            );
            normalise(&once, Normalisation::SpaceCase, &mut twice);
            assert_eq!(once, twice, "normalisation is idempotent");
        });
    }
    language::detect(text);
    date::parse(text);
}

/// The bytes are an address, and after a line break a link on that page.
pub fn address(bytes: &[u8]) {
    let input = String::from_utf8_lossy(bytes);
    let (address, link) = input.split_once('\n').unwrap_or((&input, "../x"));
    let page = PageUrl::new(address);
    let again = PageUrl::new(page.canonical());
    assert_eq!(
        page.canonical(),
        again.canonical(),
        "canonicalisation is idempotent"
    );
    assert_eq!(page.host(), again.host());
    for private in [false, true] {
        let domain = page.domain(private);
        assert!(domain.is_none_or(|domain| page.host().is_some_and(|host| host.ends_with(domain))));
        LinkResolver::new(address, None, private).resolve(link);
        LinkResolver::new("http://a.example/b/", Some(address), private).resolve(link);
    }
    let count = page.prefixes().count();
    assert!(count <= page.components().count() + 1);
    page.recursion_error(&RecursionLimits::default());
}
